#include <string.h>

#include "compile.h"

Layout *
compile_layout(Arena *a, const Known *known, const char *text, const char *dtype,
               int rank, const i64 *shape)
{
    const LayoutRef *ref = spec_ref(a, text, known);
    Layout *l = layout_make(ex_new(a), ref, compile_dtype(a, dtype), rank, shape);
    layout_refuse_lookups(l, "a question about a layout");
    return l;
}

Plan *
compile_plan(Arena *a, const Known *known, const Request *rq)
{
    const DType *t = compile_dtype(a, rq->dtype);
    const LayoutRef *from = spec_ref(a, rq->from, known);
    const LayoutRef *to = spec_ref(a, rq->to, known);
    return compile_refs(a, from, to, t, rq);
}

Plan *
compile_refs(Arena *a, const LayoutRef *from, const LayoutRef *to, const DType *t,
             const Request *rq)
{
    Sides s;
    compile_sides(a, from, to, t, rq, &s);
    compile_decide(&s);
    Plan *p = plan_make(s.scalars, rq->machine, s.name, s.src, s.dst, s.map, s.extent);
    compile_check(p);
    return p;
}

const Unit *
compile_unit(const Target *t, const Plan *p, const Request *rq)
{
    Arena *a = ex_arena(p->e);
    const char *line = emit_command(a, rq, p->src->ref, p->dst->ref, NULL);
    return emit_relayout(p, emit_name(a, t, rq), line);
}

typedef struct {
    const Target *t;
    const Plan *p;
    const Request *rq;
    JitText made;
} JitJob;

/* Only the text and the tables are kept. */
static void
write_jit(void *arg)
{
    JitJob *j = arg;
    Arena *a = ex_arena(j->p->e);
    const Unit *u = compile_unit(j->t, j->p, j->rq);
    const char *text = render(j->t, u, false);
    int n = 0;
    for (const Table *k = u->table; k; k = k->next)
        n++;
    const int32_t **table = arena_array(a, const int32_t *, n);
    n = 0;
    for (const Table *k = u->table; k; k = k->next)
        table[n++] = arena_keep(a, k->value, (size_t)k->n * sizeof *k->value);
    j->made.text = arena_keep(a, text, strlen(text) + 1);
    j->made.tables = n ? arena_keep(a, table, (size_t)n * sizeof *table) : NULL;
}

JitText
compile_jit(const Target *t, const Plan *p, const Request *rq)
{
    JitJob j = {.t = t, .p = p, .rq = rq};
    scalars_scratch(p->scalars, write_jit, &j);
    return j.made;
}

const char *
compile_statements(const Target *t, const Plan *p, const Request *rq)
{
    return target_is(t, "blocks") ? grid_print(compile_grid(t, p, rq))
           : emit_print(emit_relayout(p, emit_name(ex_arena(p->e), t, rq), ""));
}

/* Only functions in C have index arrays. */
static void
refuse_lookups(const Layout *src, const Layout *dst, const char *what)
{
    layout_refuse_lookups(src, what);
    layout_refuse_lookups(dst, what);
}

const GridUnit *
compile_grid(const Target *t, const Plan *p, const Request *rq)
{
    Arena *a = ex_arena(p->e);
    refuse_lookups(p->src, p->dst, "a kernel of a GPU");
    const char *line = emit_command(a, rq, p->src->ref, p->dst->ref, NULL);
    line = arena_printf(a, "%s%s", line, emit_option(a, "--target", target_name(t)));
    if (rq->align)
        line = arena_printf(a, "%s --align %d", line, rq->align);
    const GridLimits most = {.access = (int)target_number(t, "access_least"),
                             .align = rq->align ? rq->align : GRID_VECTOR,
                             .bits = (int)target_number(t, "index_bits"),
                             .shared = target_number(t, "shared_most"),
                             .row = target_number(t, "grid_side"),
                             .rows = target_text(t, "grid_block_rows"),
                             .runtime = target_text(t, "runtime_kernel"),
                             .otherwise = target_text(t, "else_open"),
                             .funnel = target_text(t, "funnel")};
    return grid_make(p, most, emit_name(a, t, rq), line);
}

const char *
compile_bursts(const Target *t, const Plan *p, const Request *rq)
{
    Arena *a = ex_arena(p->e);
    const char *line = emit_command(a, rq, p->src->ref, p->dst->ref, NULL);
    refuse_lookups(p->src, p->dst, "a machine of bursts");
    BurstMachine m = burst_machine(t);
    line = arena_printf(a, "%s%s", line, emit_option(a, "--target", target_name(t)));
    return burst_emit(t, burst_make(p, &m), emit_name(a, t, rq), line);
}

const Frag *
compile_frag(Arena *a, const Known *known, const Request *rq, EmitKind kind)
{
    int back[MAX_RANK];
    Sides s;
    bool store = kind == EMIT_STORE;
    const DType *type = compile_dtype(a, rq->dtype);
    const LayoutRef *from = spec_ref(a, rq->from, known);
    compile_sides(a, from, spec_ref(a, rq->to, known), type, rq, &s);
    refuse_lookups(s.src, s.dst, "a fragment");
    for (int d = 0; d < rq->rank; d++)
        back[s.map[d]] = d;
    Verdict *v = store ? decide_or_fail(s.src) : decide_destination_or_fail(s.dst);
    if (store)
        decide_or_fail(s.dst);
    else
        decide_readable_or_fail(s.src);
    return frag_make(store ? s.src : s.dst, v, store ? s.dst : s.src,
                     store ? back : s.map, store);
}

const char *
compile_index(Arena *a, const Target *t, const Known *known, const Request *rq,
              EmitKind kind)
{
    bool inverse = kind == EMIT_INVERSE;
    const char *text = rq->to ? rq->to : rq->from;
    Layout *l = compile_layout(a, known, text, rq->dtype, rq->rank, rq->shape);
    Verdict *v = inverse ? decide_inverse_or_fail(l) : decide_readable_or_fail(l);
    const char *what = inverse ? "inverse" : "offset";
    const char *line = emit_command(a, rq, NULL, l->ref, what);
    if (target_is(t, "blocks"))
        line = arena_printf(a, "%s%s", line, emit_option(a, "--target", target_name(t)));
    const char *name = rq->name ? emit_name(a, t, rq)
                                : arena_printf(a, "ravel_%s", what);
    Unit *u = inverse ? emit_inverse(l, v, name, line) : emit_offset(l, name, line);
    if (target_number(t, "index_bits") < 64 && !emit_is_narrow(u->body))
        diag_fatal(a->diag, DIAG_LAYOUT, (Loc){0},
                   "this needs indices of 64 bits, and the target's have 32");
    return render(t, u, true);
}
