/* grid_args.h: the arguments of kernels for extents that are left to run time. */
#ifndef RAVEL_GRID_ARGS_H
#define RAVEL_GRID_ARGS_H

#include "grid.h"

/* Values of 64 bits: 4 KB of arguments is what CUDA has room for on every device. */
enum { ARGUMENTS_MAX = 500 };

/* Finds u's arguments, and puts them in the place of scalars in its statements.
 * diag_fatal where there are too many. */
void grid_arguments(GridUnit *u);
/* How many values that makes; 1 where there are none, as C has no empty arrays; where in
 * their array an argument is, before its multiplier and its shift where it is a divisor. */
int grid_values(const GridUnit *u);
int grid_room(const GridUnit *u);
int grid_value_at(const GridUnit *u, int arg);
/* The blocks of a nest's box: 0 at shapes at which the nest has nothing to do. */
const Ex *grid_needed(const Plan *p, const Nest *n, const Ex *blocks);
/* Whether all statements are right in unsigned numbers of 32 bits, which wrap, as long as
 * both buffers have less than 2 GB. */
bool grid_wraps(const GridStmt *s);

#endif
