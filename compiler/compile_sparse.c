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
    const bool pattern = !strcmp(rq->dtype, sparse_pattern);
    const DType *t = pattern ? NULL : sides_dtype(a, rq->dtype);
    const LayoutRef *from = spec_ref(a, rq->from, known), *to = spec_ref(a, rq->to, known);
    return sparse_convert(ex_new(a), sparse, from, to, t, emit_name(a, target, rq));
}

void
compile_sparse_units(const Target *t, const SparsePlan *p, const Unit **u)
{
    Arena *a = ex_arena(p->e);
    const char *command = emit_command(a, t, &p->rq->common, p->src->ref, p->dst->ref, NULL);
    sparse_units(p, arena_printf(a, "%s%s", command, sparse_options(a, p)), u);
}
