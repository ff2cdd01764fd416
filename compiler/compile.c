#include <ctype.h>
#include <string.h>

#include "compile.h"

static const DType *
need_dtype(Arena *a, const char *name)
{
    const DType *t = dtype_find(name ? name : "");
    if (t)
        return t;
    Buf b = buf_new(a);
    for (int i = 0; i < ndtypes; i++)
        buf_printf(&b, " %s", dtypes[i].name);
    diag_fatal(a->diag, DIAG_ARGUMENT, (Loc){0}, "unknown dtype '%.30s'; known:%s",
               name ? name : "", b.s);
}

Layout *
compile_layout(Arena *a, const LayoutDef *known, const char *text, const char *dtype,
               int rank, const i64 *shape)
{
    const LayoutRef *ref = spec_ref(a, text, known);
    return layout_make(ex_new(a), ref, need_dtype(a, dtype), rank, shape);
}

/* Both sides of a request, not decided yet, and which dim of src each of dst is. */
static void
make_sides(Exprs *e, const LayoutRef *from, const LayoutRef *to, const DType *t,
           const Request *rq, Layout **src, Layout **dst, int *map)
{
    i64 shape[MAX_RANK];
    *src = layout_make(e, from, t, rq->rank, rq->shape);
    layout_check_rank(ex_arena(e), to->def, rq->rank);
    plan_match(ex_arena(e), from, to, rq->rank, map);
    for (int d = 0; d < rq->rank; d++)
        shape[d] = rq->shape[map[d]];
    *dst = layout_make(e, to, t, rq->rank, shape);
}

Plan *
compile_plan(Arena *a, const LayoutDef *known, const Request *rq)
{
    int map[MAX_RANK];
    Layout *src, *dst;
    const DType *t = need_dtype(a, rq->dtype);
    const LayoutRef *from = spec_ref(a, rq->from, known);
    const LayoutRef *to = spec_ref(a, rq->to, known);
    if (compile_is_runtime(rq))
        return compile_runtime(a, from, to, t, rq);
    make_sides(ex_new(a), from, to, t, rq, &src, &dst, map);
    decide_readable_or_fail(src);
    decide_destination_or_fail(dst);
    return plan_make(src, dst, map);
}

static const char *
shape_text(Arena *a, const Request *rq)
{
    Buf b = buf_new(a);
    for (int i = 0; i < rq->rank; i++)
        if (rq->shape[i] == RUNTIME_EXTENT && rq->extent)
            buf_printf(&b, "%s%s", i ? "," : "", rq->extent[i]);
        else
            buf_printf(&b, "%s%lld", i ? "," : "", (long long)rq->shape[i]);
    return b.s;
}

static const char default_name[] = "ravel_relayout";

static void
check_name(Arena *a, const Target *t, const char *name)
{
    if (!emit_is_identifier(name) && strcmp(name, default_name))
        diag_fatal(a->diag, DIAG_ARGUMENT, (Loc){0}, "'%.100s' cannot name a C function",
                   name);
    if (target_reserves(t, name))
        diag_fatal(a->diag, DIAG_ARGUMENT, (Loc){0},
                   "'%.100s' cannot name a function of the target %.100s, where it means "
                   "something", name, target_name(t));
}

static const char *
name_by_default(Arena *a, const Target *t)
{
    if (target_reserves(t, default_name))
        diag_fatal(a->diag, DIAG_ARGUMENT, (Loc){0},
                   "the target %.100s keeps '%s', the function's name unless given: give "
                   "one with --name", target_name(t), default_name);
    return default_name;
}

/* nchw_to_nc1hwc0; the default where a side has no name */
const char *
compile_name(Arena *a, const Target *t, const Request *rq)
{
    if (rq->name) {
        check_name(a, t, rq->name);
        return rq->name;
    }
    size_t n = strcspn(rq->from, "{(: "), m = strcspn(rq->to, "{(: ");
    if (!n || !m)
        return name_by_default(a, t);
    char *s = arena_printf(a, "%.*s_to_%.*s", (int)n, rq->from, (int)m, rq->to);
    for (char *c = s; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    bool good = emit_is_identifier(s) && !target_reserves(t, s);
    return good ? s : name_by_default(a, t);
}

/* Bytes that a comment in C cannot hold, each as its octal number. */
static void
add_encoded(Buf *b, const char *value)
{
    for (const char *s = value; *s; s++) {
        bool mark = s > value && ((s[-1] == '*' && *s == '/') ||
                                  (s[-1] == '/' && *s == '*') ||
                                  (s[-1] == '?' && *s == '?'));
        if (*s == '%')
            buf_add(b, "%%");
        else if (*s < ' ' || *s > '~' || *s == '\'' || *s == '\\' || mark ||
                 (*s == '-' && s == value))
            buf_printf(b, "\\%03o", (unsigned char)*s);
        else
            buf_addn(b, s, 1);
    }
}

/* The option as a POSIX shell reads it, in characters that a comment can hold: '...'
 * or, where that will not do, what printf makes of octal numbers. */
static const char *
option(Arena *a, const char *flag, const char *value)
{
    static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                               "0123456789_,";
    if (*value && value[strspn(value, safe)] == 0)
        return arena_printf(a, " %s %s", flag, value);
    Buf octal = buf_new(a), all = buf_new(a);
    add_encoded(&octal, value);
    buf_printf(&all, " %s ", flag);
    if (strchr(octal.s, '\\'))
        buf_printf(&all, "\"$(printf '%s')\"", octal.s);
    else
        buf_printf(&all, "'%s'", value);
    return all.s;
}

/* The command that makes this file again. */
static const char *
command(Arena *a, const Request *rq, const LayoutRef *from, const LayoutRef *to,
        const char *kind)
{
    Buf b = buf_new(a);
    buf_add(&b, "ravel emit");
    if (from)
        buf_add(&b, option(a, "--from", layout_ref_text(a, from)));
    buf_add(&b, option(a, "--to", layout_ref_text(a, to)));
    buf_add(&b, option(a, "--shape", shape_text(a, rq)));
    buf_add(&b, option(a, "--dtype", rq->dtype));
    if (kind)
        buf_add(&b, option(a, "--kind", kind));
    if (rq->name)
        buf_add(&b, option(a, "--name", rq->name));
    return b.s;
}

const char *
compile_text(const Target *t, const Plan *p, const Request *rq, bool stand_alone)
{
    Arena *a = ex_arena(p->e);
    const char *line = command(a, rq, p->src->ref, p->dst->ref, NULL);
    return render(t, emit_relayout(p, compile_name(a, t, rq), line), stand_alone);
}

const GridUnit *
compile_grid(const Target *t, const Plan *p, const Request *rq)
{
    Arena *a = ex_arena(p->e);
    const char *line = command(a, rq, p->src->ref, p->dst->ref, NULL);
    line = arena_printf(a, "%s%s", line, option(a, "--target", target_name(t)));
    const GridLimits most = {.access = (int)target_number(t, "access_least"),
                             .bits = (int)target_number(t, "index_bits"),
                             .shared = target_number(t, "shared_most"),
                             .side = target_number(t, "grid_side"),
                             .rows = target_text(t, "grid_block_rows")};
    return grid_make(p, most, compile_name(a, t, rq), line);
}

const char *
compile_bursts(const Target *t, const Plan *p, const Request *rq)
{
    Arena *a = ex_arena(p->e);
    const char *line = command(a, rq, p->src->ref, p->dst->ref, NULL);
    BurstMachine m = burst_machine(t);
    line = arena_printf(a, "%s%s", line, option(a, "--target", target_name(t)));
    return burst_emit(t, burst_make(p, &m), compile_name(a, t, rq), line);
}

const char *
compile_frag(Arena *a, const Target *t, const LayoutDef *known, const Request *rq,
             EmitKind kind)
{
    int map[MAX_RANK], back[MAX_RANK];
    Layout *src, *dst;
    bool store = kind == EMIT_STORE;
    const DType *type = need_dtype(a, rq->dtype);
    const LayoutRef *from = spec_ref(a, rq->from, known);
    const LayoutRef *to = spec_ref(a, rq->to, known);
    make_sides(ex_new(a), from, to, type, rq, &src, &dst, map);
    for (int d = 0; d < rq->rank; d++)
        back[map[d]] = d;
    Verdict *v = store ? decide_or_fail(src) : decide_destination_or_fail(dst);
    if (store)
        decide_or_fail(dst);
    else
        decide_readable_or_fail(src);
    Frag *g = frag_make(store ? src : dst, v, store ? dst : src, store ? back : map,
                        store);
    Buf head = buf_new(a);
    buf_printf(&head, "%s%s\n", command(a, rq, from, to, store ? "store" : "load"),
               option(a, "--target", target_name(t)));
    emit_layout_head(&head, "from", src);
    emit_layout_head(&head, "to", dst);
    g->head = head.s;
    g->name = rq->name ? compile_name(a, t, rq) : store ? "ravel_store" : "ravel_load";
    frag_cost(g);
    return frag_render(t, g);
}

const char *
compile_index(Arena *a, const Target *t, const LayoutDef *known, const Request *rq,
              EmitKind kind)
{
    bool inverse = kind == EMIT_INVERSE;
    const char *text = rq->to ? rq->to : rq->from;
    Layout *l = compile_layout(a, known, text, rq->dtype, rq->rank, rq->shape);
    Verdict *v = inverse ? decide_inverse_or_fail(l) : decide_readable_or_fail(l);
    const char *what = inverse ? "inverse" : "offset";
    const char *line = command(a, rq, NULL, l->ref, what);
    if (target_is(t, "blocks"))
        line = arena_printf(a, "%s%s", line, option(a, "--target", target_name(t)));
    const char *name = rq->name ? compile_name(a, t, rq)
                                : arena_printf(a, "ravel_%s", what);
    Unit *u = inverse ? emit_inverse(l, v, name, line) : emit_offset(l, name, line);
    if (target_number(t, "index_bits") < 64 && !emit_is_narrow(u->body))
        diag_fatal(a->diag, DIAG_LAYOUT, (Loc){0},
                   "this needs indices of 64 bits, and the target's have 32");
    return render(t, u, true);
}
