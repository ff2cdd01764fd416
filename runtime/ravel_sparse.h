/* ravel_sparse.h: conversions of sparse formats.
 *
 * Sparse formats: CSR, COO and others that a spec declares with sparse "NAME".  A format has
 * arrays in this order: the pos and crd of each level, if it has them, then val.
 * docs/ir/sparse.md describes them.  A layout on one side has one array, val: its storage.
 *
 *   ravel_sparse_compile(cx, &rq, &plan, &err);
 *   ravel_sparse_sizes(plan, in, n, m, &job, &err);    in[i] has n[i] elements
 *   ... allocate out[i] with m[i] elements ...
 *   ravel_sparse_fill(job, out, &err);
 *   ravel_sparse_end(job);
 */
#ifndef RAVEL_SPARSE_API_H
#define RAVEL_SPARSE_API_H

#include "ravel.h"

#ifdef __cplusplus
extern "C" {
#endif

#define RAVEL_SPARSE_ARRAYS 34    /* the most arrays of a format */

typedef struct ravel_sparse_plan ravel_sparse_plan;
typedef struct ravel_sparse_job ravel_sparse_job;

/* What to compile.  Strings and arrays are not used after the call. */
typedef struct {
    const char *from, *to;        /* a sparse format on one side or on both */
    const char *dtype;            /* of the values.  "pattern": there are values
                                   * only if a position may have no entry: u8, 1 for an entry */
    int rank;
    const int64_t *shape;         /* in the order of the dims of `from` */
    int from_index, to_index;     /* bytes of an index: 4, 8; 0: 4 */
    const char *equal;            /* how to combine entries with equal coordinates: sum, first,
                                   * last, error; NULL: sum */
    /* Which values of the source are entries, if not every position has one: */
    double threshold;             /* those whose magnitude is above it, rounded to dtype;
                                   * 0: those that are not the fill */
    int mask;                     /* not 0: those at which the array "mask" is not 0; it has u8
                                   * and is the first array of the source */
    int zero_threshold;           /* not 0: threshold = 0 is a threshold: -0.0 is no entry */
} ravel_sparse_request;

/* What an array has: where the coordinates below each parent begin; coordinates; codes of them in bytes;
 * values; of a source, which values are entries. */
typedef enum {
    RAVEL_SPARSE_POS, RAVEL_SPARSE_CRD, RAVEL_SPARSE_CODES, RAVEL_SPARSE_VAL, RAVEL_SPARSE_MASK
} ravel_sparse_role;

/* An array of a format. */
typedef struct {
    const char *name;             /* pos2, crd2, val; the plan owns it */
    const char *dtype;            /* i32, i64 or that of the values */
    int bytes;                    /* of an element; 0: below a byte */
    int bits;                     /* ... 1, 2, 4: n elements have (n*bits + 7)/8 bytes, the first
                                   * in the low bits */
    ravel_sparse_role role;
} ravel_sparse_array;

/* Compile a conversion, to machine code if possible.  The plan uses cx, which may be freed
 * before it.  Errors as for ravel_compile.  Free the plan with ravel_sparse_free when no call on it
 * or on a job of it is running; a NULL plan is ignored.  Thread-safe. */
RAVEL_API ravel_status ravel_sparse_compile(ravel_context *cx, const ravel_sparse_request *rq,
                                            ravel_sparse_plan **out, ravel_error *err);
RAVEL_API void ravel_sparse_free(ravel_sparse_plan *plan);
/* The arrays of the source or, with `destination`, of the destination; returns their
 * number, at most RAVEL_SPARSE_ARRAYS.  `out` may be NULL.  Thread-safe. */
RAVEL_API int ravel_sparse_arrays(const ravel_sparse_plan *plan, int destination,
                                  ravel_sparse_array *out);
/* The C source of the machine code, which the plan owns, or NULL if the plan is interpreted.
 * Thread-safe. */
RAVEL_API const char *ravel_sparse_source(const ravel_sparse_plan *plan);

/* Check the source and set m[i] to the number of elements of array i of the destination.
 * The arrays of the source must not change before ravel_sparse_fill.  If the source is not
 * valid (pos descends, a coordinate is out of range, not ascending or repeated),
 * RAVEL_ERR_ARGUMENT names the first such entry, and *job is NULL.  RAVEL_ERR_MEMORY if there is
 * no memory for the job: at most 32 bytes for each entry of the source whose value has up to 4
 * bytes, 53 if it has 16, and some numbers for each row; docs/ir/sparse.md has the size for each
 * kind of conversion.  The threads of the context share the work of a large source.
 * Thread-safe: a plan may have several jobs at once. */
RAVEL_API ravel_status ravel_sparse_sizes(const ravel_sparse_plan *plan,
                                          const void *const *in, const int64_t *n,
                                          int64_t *m, ravel_sparse_job **job,
                                          ravel_error *err);
/* Write the destination; call it once for a job.  RAVEL_ERR_ARGUMENT if equal coordinates are
 * an error and occur.  Values below a byte take a byte each of memory meanwhile; RAVEL_ERR_MEMORY
 * if there is none.  The threads of the context share the work of a large source.  Thread-safe
 * for different jobs, also of one plan. */
RAVEL_API ravel_status ravel_sparse_fill(ravel_sparse_job *job, void *const *out,
                                         ravel_error *err);
/* Free a job; do this before freeing its plan.  The plan keeps up to 64 MiB of its memory for
 * the next job.  `job` may be NULL.  Thread-safe for different jobs. */
RAVEL_API void ravel_sparse_end(ravel_sparse_job *job);

#ifdef __cplusplus
}
#endif
#endif
