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
/* grid_assume.c */
/* The box at shapes at which its strides, runs and bases are multiples of m elements: what
 * comes back is a scalar that is 0 there, and else 1; the number 0, and nothing done, where
 * there are no such shapes, or no others. */
const Ex *grid_assume(GridBox *b, i64 m);
/* Whether a's narrowest access to a buffer is wider than b's. */
bool grid_is_wider(const GridStmt *a, const GridStmt *b);
/* Whether all statements are right in unsigned numbers of 32 bits, which wrap, as long as
 * both buffers have less than 2 GB. */
bool grid_wraps(const GridStmt *s);

#endif
