/* interpret.h: execute plans without generated code, by calls of the same kernels. */
#ifndef RAVEL_INTERPRET_H
#define RAVEL_INTERPRET_H

#include "../compiler/compile.h"
#include "kernels.h"

/* A plan with precomputed arguments for its kernel calls.  Immutable once made. */
typedef struct Steps Steps;

/* Allocated in `a`; they need neither p nor its nests.  If all extents of p are numbers, the steps
 * are ready to run.  All offset tables together take at most 256 KB.  diag_fatal if memory
 * runs out. */
const Steps *interpret_make(Arena *a, const Plan *p, const KernelSet *set);

/* The steps of a plan with run-time extents, at one shape: the values of the plan's extent
 * scalars.  The sizes must fit 64 bits and the destination must not be empty.  Allocated in `a`;
 * valid as long as s.  diag_fatal if memory runs out.  Thread-safe. */
const Steps *interpret_at(Arena *a, const Steps *s, const int64_t *extent);

/* Execute part `part` of `parts` of the work.  s is of a plan in numbers, or at a shape;
 * `extent` is as for Compiled (library.h), NULL if the plan has no index arrays.  Allocates
 * nothing.  Thread-safe. */
void interpret_part(const Steps *s, void *dst, const void *src, const int64_t *extent,
                    i64 part, i64 parts);

#endif
