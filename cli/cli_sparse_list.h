/* cli_sparse_list.h: conversions of sparse formats in memory. */
#ifndef RAVEL_CLI_SPARSE_LIST_H
#define RAVEL_CLI_SPARSE_LIST_H

#include "cli_sparse.h"

/* The arrays of a side, in the arena. */
typedef struct {
    int n;
    ravel_sparse_array array[RAVEL_SPARSE_ARRAYS];
    void *data[RAVEL_SPARSE_ARRAYS];
    int64_t size[RAVEL_SPARSE_ARRAYS];
    const char *why;               /* the source is refused; NULL: it is not */
    bool large;                    /* the result has too many bytes, and is not there */
} SparseArrays;

/* Declare a list called `name` with the dims of a layout or format: pos1, crd1 to crdN, val.
 * Returns its name; NULL: its rank is below 2 or not that of d. */
const char *cli_list_of(Cli *c, const char *name, const LayoutDef *d, int rank);
/* Convert to at most `most` bytes; fails unless it is the source that is refused. */
void cli_sparse_run(Cli *c, const ravel_sparse_request *rq, const void *const *in,
                    const int64_t *n, i64 most, SparseArrays *to);

#endif
