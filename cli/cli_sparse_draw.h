/* cli_sparse_draw.h: sources of a sparse conversion, with the library's result. */
#ifndef RAVEL_CLI_SPARSE_DRAW_H
#define RAVEL_CLI_SPARSE_DRAW_H

#include "cli_sparse_list.h"

typedef struct {
    SparseArrays from, to;         /* to.why: the library refuses the source */
    i64 entries;
} SparseCase;

/* Set up to `most` cases; returns how many: matrices without entries and with more and more, and each
 * with one index changed. */
int sparse_draw(Cli *c, const SparsePlan *p, SparseCase *x, int most);

#endif
