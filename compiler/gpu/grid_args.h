/* grid_args.h: the arguments of kernels for extents left to run time. */
#ifndef RAVEL_GRID_ARGS_H
#define RAVEL_GRID_ARGS_H

#include "grid.h"

/* The limit for 64-bit values: every CUDA device has space for 4 KB of arguments. */
enum { ARGUMENTS_MAX = 500 };

/* Finds the arguments of u and replaces scalars by them in its statements.  diag_fatal if
 * there are too many. */
void grid_arguments(GridUnit *u);
/* The number of 64-bit values of all arguments. */
int grid_values(const GridUnit *u);
/* The size of their array: at least 1, as C has no empty arrays. */
int grid_room(const GridUnit *u);
/* The index of an argument in the array; a divisor is followed by its multiplier and its
 * shift. */
int grid_value_at(const GridUnit *u, int arg);
/* The number of blocks of a nest's box: 0 at shapes at which the nest does not run. */
const Ex *grid_needed(const Plan *p, const Nest *n, const Ex *blocks);
/* grid_assume.c */
/* Changes the box to the one for shapes at which its strides, runs and bases are multiples
 * of m elements.  Returns a scalar that is 0 at those shapes, else 1.  Returns the number
 * 0, and nothing changes, if there are no such shapes, or no others. */
const Ex *grid_assume(GridBox *b, i64 m);
/* True if the narrowest access of a to a buffer is wider than that of b. */
bool grid_is_wider(const GridStmt *a, const GridStmt *b);
/* True if all statements are correct in unsigned 32-bit arithmetic, which wraps, provided
 * that both buffers have less than 2 GB. */
bool grid_wraps(const GridStmt *s);

#endif
