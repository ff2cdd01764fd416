/* Both sides of a request with a sparse format, of one shape. */
#include <string.h>

#include "sparse_parts.h"

/* shape[] is that of the request in the dims of the destination; map as by plan_match. */
static void
match(Arena *a, const Request *rq, const LayoutRef *from, const LayoutRef *to, int *map, i64 *shape)
{
    layout_check_rank(a, from->def, rq->rank);
    layout_check_rank(a, to->def, rq->rank);
    plan_match(a, from, to, rq->rank, map);
    for (int d = 0; d < rq->rank; d++)
        shape[d] = rq->shape[map[d]];
    for (int d = 0; d < rq->rank; d++)
        if (shape[d] == RUNTIME_EXTENT)
            diag_fatal(a->diag, DIAG_ARGUMENT, (Loc){0}, "beside a sparse format all extents are "
                       "numbers: none is left to run time");
}

SparsePlan *
sparse_convert(Exprs *e, const SparseRequest *sparse, const LayoutRef *from, const LayoutRef *to,
               const DType *t, const char *name)
{
    const Request *rq = &sparse->common;
    int map[MAX_RANK];
    i64 shape[MAX_RANK];
    match(ex_arena(e), rq, from, to, map, shape);
    SparseFormat *src = sparse_format(e, from, t, rq->rank, rq->shape, sparse->from_width,
                                      sparse->mask);
    SparseFormat *dst = sparse_format(e, to, t, rq->rank, shape, sparse->to_width, false);
    SparseRequest *own = arena_copy(ex_arena(e), sparse, sizeof *sparse);
    own->equal = !t && own->equal != EQUAL_ERROR ? EQUAL_LAST : own->equal;
    return sparse_plan(e, own, src, dst, map, name);
}
