/* at_shape.h: a plan with run-time extents at a shape. */
#ifndef RAVEL_AT_SHAPE_H
#define RAVEL_AT_SHAPE_H

#include "library.h"

typedef struct {
    const ravel_plan *p;
    const int64_t *shape;
    bool run;                      /* it is to be run there */
    const void *to;                /* the destination of the run; NULL: none yet */
    const void *const *array;      /* the index arrays of the run, ... */
    bool distinct;                 /* ... whose numbers must differ in a destination */
    ravel_extents *stored;         /* of src and of dst; NULL: not asked */
    ravel_array *arrays;           /* of the plan; NULL: not asked */
    Arena arena;
    int64_t extent[MAX_RANK + PLAN_ARRAYS], src, dst;
    const Steps *steps;            /* in arena: the interpreter's; NULL: none */
    const char *why;
} AtShape;

/* Compute the sizes and scalars at a shape, and check all arguments.  On RAVEL_OK the
 * caller frees s->arena. */
ravel_status at_shape(AtShape *s, ravel_error *err);
/* The shape of a plan in numbers; NULL if it has run-time extents. */
const int64_t *plan_own_shape(const ravel_plan *p, int64_t *shape);

#endif
