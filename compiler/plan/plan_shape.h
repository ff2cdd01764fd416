/* plan_shape.h: a plan at a shape: what it asks of one, its numbers there, the shapes that
 * tell whether it is right. */
#ifndef RAVEL_PLAN_SHAPE_H
#define RAVEL_PLAN_SHAPE_H

#include "plan.h"

/* plan_shapes.c */
/* Values of each run-time extent: every boundary value of its digits and the neighbours,
 * and if so said every residue with up to three of its blocks, at most 1024 each. */
typedef struct {
    const i64 *value[MAX_RANK];
    int n[MAX_RANK];
    i64 base[2][MAX_RANK];         /* for the others meanwhile: on a border, beside it */
    bool all;                      /* residues: none was left out */
} ExtentValues;
ExtentValues plan_extent_values(Arena *a, const Plan *p, bool residues);
/* Shapes of the dims of src at all borders, one extent at a time: what code must be run
 * on.  In a. */
typedef struct {
    i64 (*shape)[MAX_RANK];
    int n;
} ShapeList;
ShapeList plan_borders(Arena *a, const Plan *p);

/* plan_needs.c: expressions over scalars, made with the plan. */
/* Bytes of the storage of one of its layouts. */
const Ex *plan_bytes(const Plan *p, const Sizes *z);
/* Whether stores go past the caches at this shape: 0 or 1. */
const Ex *plan_streams(const Plan *p);
/* The counts that a nest needs above 0, and that can be 0 where there is anything to
 * convert; their number, at most MAX_NEEDS. */
enum { MAX_NEEDS = 2 * MAX_LOOPS + MAX_RANK + 4 };
int nest_needs(const Plan *p, const Nest *n, const Ex **needs);
/* The outer loop inside the one that threads share which they do instead where that has
 * fewer steps than there are threads, as a batch of 1 has; -1: none. */
int nest_second(const Plan *p, const Nest *n);

/* plan_at.c */
/* The extents of src's dims as those of the scalars: NULL, or a sentence why the shape
 * is none of the plan's. */
const char *plan_extents(Arena *a, const Plan *p, const i64 *shape, i64 *extent);
/* Values of all scalars, by their variables; NULL where one does not fit 64 bits.  Like
 * plan_extents it leaves p alone. */
i64 *plan_values(Arena *a, const Plan *p, const i64 *extent);
/* Bytes of both buffers; false where they do not fit 64 bits. */
bool plan_bytes_at(const Plan *p, const i64 *val, i64 *src, i64 *dst);
/* The plan at a shape, all in numbers, in p's Exprs; src and dst decided, for that shape.
 * What it does there is what the code does. */
Plan *plan_at_shape(const Plan *p, Layout *src, Layout *dst, const i64 *extent);

#endif
