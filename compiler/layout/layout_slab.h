/* layout_slab.h: boxes of a tensor, and their storage. */
#ifndef RAVEL_LAYOUT_SLAB_H
#define RAVEL_LAYOUT_SLAB_H

#include "layout_model.h"

/* Where a box may begin along a dim: at first + step * k, 0 <= k < n. */
typedef struct {
    i64 first, step, n;
} Starts;
/* Compares each box that begins at one of these starts, in the layout `whole`, with a tensor of
 * its shape in `part`.  True if both have the same slots, counted from the box's first slot in
 * each entry.  Both are the same declared layout, in one Exprs.  False also if that cannot be
 * shown. */
bool layout_is_slab(const Layout *whole, const Layout *part, const Starts *at);
/* Whether `part`, a layout of a tensor of the shape of the boxes, has the addresses of each of
 * these boxes less one number.  Both are in one Exprs.  False also if that is not seen. */
bool layout_is_shifted(const Layout *whole, const Layout *part, const Starts *at);
/* The slots of the box as runs of contiguous bytes: loops, outermost first, with strides in
 * bytes in the storage of both. */
typedef struct {
    int n;
    i64 count[MAX_ENTRIES], whole[MAX_ENTRIES], part[MAX_ENTRIES];
    i64 run;
} SlabRuns;
/* False if the runs are not whole bytes. */
bool layout_slab(const Layout *whole, const Layout *part, SlabRuns *s);
/* The byte of the storage of `whole` at which the slab of the box that begins at x does. */
i64 layout_slab_start(const Layout *whole, const Layout *part, const i64 *x);
/* Call f for each run, until it returns other than 0; returns that, or 0. */
typedef int SlabVisit(void *arg, i64 whole, i64 part, i64 bytes);
int slab_each(const SlabRuns *s, SlabVisit *f, void *arg);

#endif
