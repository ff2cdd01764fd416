#include "compile.h"

Layout *
compile_layout(Arena *a, const Known *known, const char *text, const char *dtype,
               int rank, const i64 *shape)
{
    const LayoutRef *ref = spec_ref(a, text, known);
    Layout *l = layout_make(ex_new(a), ref, sides_dtype(a, dtype), rank, shape);
    layout_check_limits(l);
    layout_refuse_lookups(l, "a question about a layout");
    return l;
}

static Plan *
begin(Arena *a, const LayoutRef *from, const LayoutRef *to, const DType *t, const Request *rq)
{
    Sides s;
    sides_set(a, from, to, t, rq, &s);
    sides_decide(&s);
    return plan_begin(s.scalars, rq->machine, s.name, s.src, s.dst, s.map, s.extent, s.given);
}

Plan *
compile_begin(Arena *a, const Known *known, const Request *rq)
{
    const DType *t = sides_dtype(a, rq->dtype);
    const LayoutRef *from = spec_ref(a, rq->from, known);
    const LayoutRef *to = spec_ref(a, rq->to, known);
    return begin(a, from, to, t, rq);
}

void
compile_nests(Plan *p)
{
    plan_nests(p);
    sides_check(p);
}

Plan *
compile_plan(Arena *a, const Known *known, const Request *rq)
{
    Plan *p = compile_begin(a, known, rq);
    compile_nests(p);
    return p;
}

Plan *
compile_again(Arena *a, const Plan *p)
{
    Request rq = sides_request(a, p);
    Plan *again = begin(a, layout_written(p->src->ref), layout_written(p->dst->ref),
                        p->src->dtype, &rq);
    compile_nests(again);
    return again;
}

Composed
compile_compose(Arena *a, const Known *known, const Request *first, const Request *second)
{
    return sides_composed(a, known, first, compile_plan(a, known, first), second,
                          compile_plan(a, known, second));
}

const Unit *
compile_unit(const Target *t, const Plan *p, const Request *rq)
{
    return emit_unit(t, p, rq);
}

JitText
compile_jit(const Target *t, const Plan *p, const Request *rq)
{
    return emit_jit(t, p, rq);
}

const char *
compile_statements(const Target *t, const Plan *p, const Request *rq)
{
    return target_is(t, "blocks") ? grid_print(compile_grid(t, p, rq))
           : emit_print(emit_relayout(p, emit_name(ex_arena(p->e), t, rq), ""));
}

const GridUnit *
compile_grid(const Target *t, const Plan *p, const Request *rq)
{
    Arena *a = ex_arena(p->e);
    const char *line = emit_command(a, t, rq, p->src->ref, p->dst->ref, NULL);
    return grid_make(p, grid_limits(t, p, rq), emit_name(a, t, rq), line);
}

const char *
compile_bursts(const Target *t, const Plan *p, const Request *rq)
{
    Arena *a = ex_arena(p->e);
    sides_refuse_lookups(p->src, p->dst, "a machine of bursts");
    const char *line = emit_command(a, t, rq, p->src->ref, p->dst->ref, NULL);
    BurstMachine m = burst_machine(t);
    return burst_emit(t, burst_make(p, &m), emit_name(a, t, rq), line);
}

const Frag *
compile_frag(Arena *a, const Known *known, const Request *rq, EmitKind kind)
{
    Sides s;
    const DType *t = sides_dtype(a, rq->dtype);
    const LayoutRef *from = spec_ref(a, rq->from, known);
    sides_set(a, from, spec_ref(a, rq->to, known), t, rq, &s);
    sides_refuse_lookups(s.src, s.dst, "a fragment");
    sides_refuse_strides(s.scalars, s.name, "a fragment");
    if (kind == EMIT_STORE) {
        Verdict *v = decide_or_fail(s.src);
        decide_or_fail(s.dst);
        return frag_make(s.src, v, s.dst, s.map, true);
    }
    Verdict *v = decide_destination_or_fail(s.dst);
    decide_readable_or_fail(s.src);
    return frag_make(s.dst, v, s.src, s.map, false);
}
