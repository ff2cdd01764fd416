/* Conversions with a sparse format on a side: request -> formats -> plan -> units. */
#include <string.h>

#include "compile.h"

bool
compile_is_sparse(Arena *a, const Known *known, const char *text)
{
    return spec_ref(a, text, known)->def->level != NULL;
}

/* For emit_command and emit_name, which know what requests have in common. */
static Request
common(const SparseRequest *rq)
{
    return (Request){.from = rq->from, .to = rq->to, .dtype = rq->dtype, .rank = rq->rank,
                     .shape = rq->shape, .name = rq->name};
}

SparsePlan *
compile_sparse(Arena *a, const Target *target, const Known *known,
               const SparseRequest *rq)
{
    int map[MAX_RANK];
    i64 shape[MAX_RANK];
    Exprs *e = ex_new(a);
    bool pattern = !strcmp(rq->dtype, sparse_pattern);
    const DType *t = pattern ? NULL : compile_dtype(a, rq->dtype);
    const LayoutRef *from = spec_ref(a, rq->from, known), *to = spec_ref(a, rq->to, known);
    layout_check_rank(a, from->def, rq->rank);
    layout_check_rank(a, to->def, rq->rank);
    plan_match(a, from, to, rq->rank, map);
    for (int d = 0; d < rq->rank; d++)
        shape[d] = rq->shape[map[d]];
    for (int d = 0; d < rq->rank; d++)
        if (rq->shape[d] == RUNTIME_EXTENT)
            diag_fatal(a->diag, DIAG_ARGUMENT, (Loc){0}, "beside a sparse format all extents are "
                       "numbers: none is left to run time");
    SparseFormat *src = sparse_format(e, from, t, rq->rank, rq->shape, rq->from_width,
                                      rq->mask);
    SparseFormat *dst = sparse_format(e, to, t, rq->rank, shape, rq->to_width, false);
    SparseRequest *own = arena_copy(a, rq, sizeof *rq);
    own->equal = pattern && rq->equal != EQUAL_ERROR ? EQUAL_LAST : rq->equal;
    Request r = common(rq);
    return sparse_plan(e, own, src, dst, map, emit_name(a, target, &r));
}

void
compile_sparse_units(const Target *t, const SparsePlan *p, const Unit **u)
{
    Request r = common(p->rq);
    Arena *a = ex_arena(p->e);
    const char *command = emit_command(a, t, &r, p->src->ref, p->dst->ref, NULL);
    sparse_units(p, arena_printf(a, "%s%s", command, sparse_options(a, p)), u);
}
