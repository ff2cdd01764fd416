/* A layout as functions. */
#include "compile.h"

static const char *const kinds[] = {
    [EMIT_OFFSET] = "offset", [EMIT_INVERSE] = "inverse", [EMIT_VISIT] = "visit"};

/* Any other side, for the offset with extents left to run time: its dims, by the names that the layout
 * has, are side by side, so that the layout may count some as one number. */
static const LayoutRef *
by_rows(Arena *a, const Known *known, const LayoutDef *d)
{
    Buf b = buf_new(a);
    for (int i = 0; i < d->ndims; i++)
        buf_printf(&b, "%s%s", i ? "," : "", d->dims[i]);
    bool named = !d->batch && !d->index && d->ndims;
    return spec_ref(a, named ? arena_printf(a, "(%s){%s}", b.s, b.s) : "ROW_MAJOR", known);
}

static const char *const *
dim_names(Arena *a, const LayoutDef *def, const Layout *l, int rank)
{
    const char **name = arena_array(a, const char *, rank + 1);
    for (int d = 0; d < rank; d++)
        name[d] = def->batch || def->ndims != rank ? l->dim[d].name : def->dims[d];
    return name;
}

/* The inverse for all shapes of the request; diag_fatal if there is none. */
static const EveryShape *
inverse_of(const Sides *s)
{
    const Layout *l = s->src;
    EveryShape *y = l->view ? NULL : decide_shapes(l->e, l->ref, l->dtype, l->rank, s->shape);
    if (!y || !y->inverse || s->scalars->nstrides)
        diag_fatal(ex_arena(l->e)->diag, DIAG_LAYOUT, l->ref->def->loc, "layout '%s' has no inverse in "
                   "closed form for every shape: give all extents as numbers", l->ref->def->name);
    return y;
}

/* The offset or the inverse with extents left to run time.  It needs no other side; a matrix by rows
 * as one is what dims are paired with that the layout counts as one number. */
static const char *
open_index(Arena *a, const Target *t, const Known *known, const Request *rq, EmitKind kind)
{
    Sides s;
    const LayoutRef *ref = spec_ref(a, rq->to ? rq->to : rq->from, known);
    compile_sides(a, ref, by_rows(a, known, ref->def), compile_dtype(a, rq->dtype), rq, &s);
    compile_refuse_lookups(s.src, s.dst, "an index function");
    compile_decide(&s);
    const OpenIndex o = {.l = s.src, .scalars = s.scalars, .of = s.extent, .rank = rq->rank,
                         .given = s.given, .dim = dim_names(a, ref->def, s.src, rq->rank),
                         .extent = s.name};
    const char *name = emit_kind_name(a, t, rq, kinds[kind]);
    const char *line = emit_command(a, t, rq, NULL, ref, kinds[kind]);
    Unit *u = kind == EMIT_OFFSET ? emit_offset_open(&o, name, line)
                                  : emit_inverse_open(&o, inverse_of(&s), name, line);
    emit_check_width(t, u);
    return render(t, u, true);
}

const char *
compile_index(Arena *a, const Target *t, const Known *known, const Request *rq,
              EmitKind kind)
{
    bool inverse = kind != EMIT_OFFSET;
    const char *text = rq->to ? rq->to : rq->from;
    if (kind != EMIT_VISIT && rq->extent)
        return open_index(a, t, known, rq, kind);
    Layout *l = compile_layout(a, known, text, rq->dtype, rq->rank, rq->shape);
    Verdict *v = inverse ? decide_inverse_or_fail(l) : decide_readable_or_fail(l);
    const char *line = emit_command(a, t, rq, NULL, l->ref, kinds[kind]);
    const char *name = emit_kind_name(a, t, rq, kinds[kind]);
    Unit *u = kind == EMIT_VISIT ? emit_visit(l, v, name, line)
              : inverse ? emit_inverse(l, v, name, line) : emit_offset(l, name, line);
    emit_check_width(t, u);
    return render(t, u, true);
}
