/* Conversions with a sparse format on a side: request -> formats -> plan -> units. */
#include <string.h>

#include "compile.h"

bool
compile_is_sparse(Arena *a, const Known *known, const char *text)
{
    return spec_ref(a, text, known)->def->level != NULL;
}

SparsePlan *
compile_sparse(Arena *a, const Target *target, const Known *known,
               const SparseRequest *sparse)
{
    const Request *rq = &sparse->common;
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
    SparseFormat *src = sparse_format(e, from, t, rq->rank, rq->shape, sparse->from_width,
                                      sparse->mask);
    SparseFormat *dst = sparse_format(e, to, t, rq->rank, shape, sparse->to_width, false);
    SparseRequest *own = arena_copy(a, sparse, sizeof *sparse);
    own->equal = pattern && own->equal != EQUAL_ERROR ? EQUAL_LAST : own->equal;
    return sparse_plan(e, own, src, dst, map, emit_name(a, target, rq));
}

void
compile_sparse_units(const Target *t, const SparsePlan *p, const Unit **u)
{
    Arena *a = ex_arena(p->e);
    const char *command = emit_command(a, t, &p->rq->common, p->src->ref, p->dst->ref, NULL);
    sparse_units(p, arena_printf(a, "%s%s", command, sparse_options(a, p)), u);
}
