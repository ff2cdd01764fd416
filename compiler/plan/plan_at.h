/* plan_at.h: a plan at a shape: what it requires of a shape, its values for a shape, and the shapes
 * at which it is checked. */
#ifndef RAVEL_PLAN_AT_H
#define RAVEL_PLAN_AT_H

#include "plan_model.h"

/* plan_shapes.c */
/* Values of each run-time extent: each boundary value of its digits with its neighbours
 * and, with `residues`, every residue with up to three blocks; at most 1024 for each. */
typedef struct {
    const i64 *value[MAX_RANK];
    int n[MAX_RANK];
    i64 base[2][MAX_RANK];         /* the values of the other extents while one is varied:
                                    * on a boundary; beside it */
    bool all;                      /* with `residues`: no residue was left out */
} ExtentValues;
ExtentValues plan_extent_values(Arena *a, const Plan *p, bool residues);
/* Shapes of src's dims at all boundaries, varied one extent at a time, and shapes at which the
 * other nests run: tests run code at these shapes.  The list is allocated in a. */
typedef struct {
    i64 (*shape)[MAX_RANK];        /* and, after the extents, the strides at run time */
    int n;
    int sure;             /* the shapes from here on are for other nests, ... */
    int idle;             /* ... and nests for which no shape was found, ... */
    int first;            /* ... of which this is the first */
} ShapeList;
ShapeList plan_boundaries(Arena *a, const Plan *p);
/* Of scalar i, the extent of a dim that several are joined to: one of the extents of these, which are
 * given.  While the others are 1, scalar i has its values.  Of any other scalar: i. */
int plan_given_factor(const Plan *p, int i);

/* plan_needs.c: expressions over scalars. */
/* Bytes of the storage of one of the plan's layouts. */
const Ex *plan_bytes(const Plan *p, const Sizes *z);
/* 1 at shapes at which nests with `stream` store past the caches, else 0.  The constant 1
 * if the size of the destination is a number. */
const Ex *plan_streams(const Plan *p);
/* The counts that must be above 0 for the nest to run.  Counts that are 0 only if there
 * is nothing to convert are left out.  Returns their number, at most MAX_NEEDS. */
enum { MAX_NEEDS = 2 * MAX_LOOPS + MAX_RANK + 4 };
int nest_needs(const Plan *p, const Nest *n, const Ex **needs);
/* The outer loop that threads share instead if nest->split has fewer steps than there
 * are threads, for example a batch of 1.  It is inside that loop.  -1: none. */
int nest_second(const Plan *p, const Nest *n);

/* plan_values.c */
/* Sets extent[] to the values of the extent scalars for a shape of src, after which the strides
 * at run time follow.  Returns the first dim whose extent the plan does not support; -1: none. */
int plan_fill_extents(const Plan *p, const i64 *shape, i64 *extent);
/* The shape of the dims of src and the strides, from those that a run is given. */
void plan_joined(const Plan *p, const i64 *shape, i64 *out);
/* The values of all scalars, indexed by their variables; NULL if one does not fit 64
 * bits.  Neither this nor plan_extents changes p. */
i64 *plan_values(Arena *a, const Plan *p, const i64 *extent);
/* The elements that the nest writes at the scalars val[]; 0: it does not run. */
i64 nest_elements_at(const Nest *n, const i64 *val);
/* Bytes of both buffers; false if they do not fit 64 bits. */
bool plan_bytes_at(const Plan *p, const i64 *val, i64 *src, i64 *dst);
/* plan_strides.c: strides at run time, which are the last of the extents. */
/* A size with given strides is checked with so many of its terms: more than there are. */
enum { STRIDED_TERMS = 2 * MAX_ENTRIES };
/* The smallest value of an extent of the scalars. */
i64 plan_least(const Plan *p, int extent);
/* The bits of the fill, if a run is given it; else NULL. */
const Ex *plan_fill(const Plan *p);
/* What entry i of a destination with given strides must have 0 or more of: its stride less the
 * slots up to the last one of the entries after it. */
const Ex *plan_stride_room(const Plan *p, int i);
/* Why the strides of the destination do not fit at these values of the scalars; NULL: they do. */
const char *plan_strides_flaw(Arena *a, const Plan *p, const i64 *val);
/* Adds to each stride in extent[] the least with which it fits, and changes extents until the tests
 * hold. */
void plan_fit_strides(Arena *a, const Plan *p, i64 *extent);
/* plan_test.c: tests of extents of tensors. */
void plan_set_tests(Plan *p);
/* Whether a run has tests, of these or of strides. */
bool plan_tests(const Plan *p);
/* Why one does not hold at these values of the scalars; NULL: all hold. */
const char *plan_tests_flaw(Arena *a, const Plan *p, const i64 *val);
/* Changes extents until they hold. */
void plan_fit_tests(Arena *a, const Plan *p, i64 *extent);
/* plan_at.c */
/* plan_fill_extents, with the strides tested; returns NULL, or a sentence that says why the plan
 * does not support the shape. */
const char *plan_extents(Arena *a, const Plan *p, const i64 *shape, i64 *extent);
/* The plan at a shape, with numbers only, in p's Exprs.  Requires src and dst for that
 * shape, with verdicts.  The code of p does the same at that shape. */
Plan *plan_at_shape(const Plan *p, Layout *src, Layout *dst, const i64 *extent);

#endif
