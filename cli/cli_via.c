/* --via: a conversion by way of another layout, made as one. */
#include <string.h>

#include "cli.h"

/* The layout of --via without its index: what the first conversion writes. */
static const char *
written(Cli *c, const char *via)
{
    const LayoutRef *ref = spec_ref(c->arena, via, c->known);
    const LayoutRef *of = ref;
    while (of->def->index && of->def->index->nstrides < 0)
        of = of->def->index->of;
    return of == ref ? via : layout_whole_text(c->arena, of);
}

/* Set what the second conversion reads: its text and its shape. */
static void
set_read(Cli *c, const Request *rq, const char *via, const char *between, Request *second,
         i64 *shape)
{
    int map[MAX_RANK];
    i64 of[MAX_RANK];
    const char *name[MAX_RANK];
    const LayoutRef *from = spec_ref(c->arena, rq->from, c->known);
    plan_match(c->arena, from, spec_ref(c->arena, between, c->known), rq->rank, map);
    for (int d = 0; d < rq->rank; d++)
        of[d] = rq->shape[map[d]];
    memcpy(shape, of, sizeof of);
    second->shape = shape;
    second->from = spec_with_extents(c->arena, via, rq->rank, of);
    if (via == between)
        return;
    const LayoutRef *part = spec_ref(c->arena, second->from, c->known);
    int rank = second->rank = layout_view_shape(c->arena, part, shape, name);
    for (int d = 0; d < rank; d++)
        if (!shape[d])
            rank = -1;
    if (rank < 0)
        cli_fail(c, "--via %s: the shape of this part is not known; give it all extents, as in "
                 "'NHWC(8,56,56,64)[:, 1:3]'", c->o.via);
}

void
cli_via(Cli *c, Request *rq, i64 *shape)
{
    i64 part[MAX_RANK];
    if (!c->o.via)
        return;
    if (!rq->from || !rq->to || !rq->dtype || rq->extent)
        cli_fail(c, "--via needs --from, --to, --dtype, and a shape of numbers");
    const char *via = cli_layout_text(c, c->o.via), *between = written(c, via);
    Request first = *rq, second = *rq;
    first.to = between;
    set_read(c, rq, via, between, &second, part);
    Composed one = compile_compose(c->arena, c->known, &first, &second);
    if (one.why)
        cli_fail(c, "--via %s: the two conversions are not one: %s", c->o.via, one.why);
    memmove(shape, one.shape, (size_t)one.rank * sizeof *shape);
    rq->from = one.from;
    rq->rank = one.rank;
    rq->shape = shape;
}
