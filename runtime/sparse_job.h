/* sparse_job.h: plans and jobs of conversions of sparse formats. */
#ifndef RAVEL_SPARSE_JOB_H
#define RAVEL_SPARSE_JOB_H

#include "sparse_steps.h"

struct ravel_sparse_plan {
    Arena arena;
    ravel_context *cx;
    const SparsePlan *plan;
    const char *source;            /* the text of the JIT; NULL: it is interpreted */
    Jit *jit;
    SparseFunction *work, *sizes, *fill;
    Threads threads;
    _Atomic(SparseWork *) spare;   /* of a job that ended, for the next one; or NULL */
};

struct ravel_sparse_job {
    ravel_sparse_plan *plan;
    const void *in[RAVEL_SPARSE_ARRAYS];
    int64_t n[RAVEL_SPARSE_ARRAYS], m[RAVEL_SPARSE_ARRAYS];
    SparseWork *work;
    int64_t ns;                    /* what sizes took, if it is logged */
};

#endif
