/* interpret.h: plans carried out without generated code, by the same kernels. */
#ifndef RAVEL_INTERPRET_H
#define RAVEL_INTERPRET_H

#include "../compiler/plan/plan.h"
#include "kernels.h"

/* A plan whose calls are worked out as far as they can be.  Read only once made. */
typedef struct Steps Steps;

/* In `a`, for as long as p; those of a plan in numbers are ready to run.  Offset tables
 * take at most 256 KB, for all nests.  diag_fatal where memory runs out. */
const Steps *interpret_make(Arena *a, const Plan *p, const KernelSet *set);

/* Of a plan with extents left to run time: at the shape of which these are the scalars'
 * values, where the sizes fit and the destination has any bytes.  In `a`, for as long as
 * s.  diag_fatal where memory runs out.  Thread-safe. */
const Steps *interpret_at(Arena *a, const Steps *s, const i64 *val);

/* Part `part` of `parts` of the work of a plan in numbers, or at a shape.  Allocates
 * nothing.  Thread-safe. */
void interpret_part(const Steps *s, void *dst, const void *src, i64 part, i64 parts);

#endif
