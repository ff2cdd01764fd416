/* reference.h: a relayout by its definition: it evaluates the expressions as written.
 * Of the simplifier and the planner it uses only the extents and strides of the layouts. */
#ifndef RAVEL_REFERENCE_H
#define RAVEL_REFERENCE_H

#include "library.h"

/* The origin of an element or padding of the destination: a slot of the source, or the
 * fill value, or none: the slot is not written. */
enum { FROM_FILL = -1, FROM_HOLE = -2 };
/* A row of padded coordinates of the destination: the first is x, the others follow along
 * dim `inner`; inner = -1: the row has only x. */
enum { REFERENCE_ROW = 512 };
typedef struct {
    int n;
    i64 to[REFERENCE_ROW], from[REFERENCE_ROW];   /* slots */
    bool pad[REFERENCE_ROW];       /* the coordinate is padding */
    const i64 *x;
    int inner;
} ReferenceRow;
/* False ends the walk. */
typedef bool ReferenceVisit(void *arg, const ReferenceRow *r);
/* Every padded coordinate once, nearly in the order of storage.  False: out of memory. */
bool reference_walk(const Plan *p, ReferenceVisit *visit, void *arg);
/* Coordinates along one dim or two whose slots lie at equal steps on both sides.  from < 0:
 * they have no slots of the source, and its steps are 0. */
typedef struct {
    i64 n, to, from;               /* coordinates; the steps */
} ReferenceSteps;
typedef struct {
    i64 to, from;                  /* of the first */
    ReferenceSteps inner, outer;   /* outer.n is 1 where there is one dim */
} ReferencePatch;
/* Runs of a line, at most REFERENCE_ROW: the slots of the first coordinate of each, and its steps.
 * Where from < 0 the steps of the source mean nothing. */
typedef struct {
    int n;
    const i64 *to, *from;
    const ReferenceSteps *run;
    i64 each;                      /* coordinates of each run, if all are neighbours on both sides and
                                    * no run is padding; else 0 */
} ReferenceLine;
/* Coordinates along two dims whose slots are sums of what each of both gives, all of elements. */
typedef struct {
    i64 to, from;                  /* what the other dims give */
    int n, rows;                   /* coordinates of the inner dim, of the outer */
    const i64 *to_inner, *from_inner, *to_outer, *from_outer;
} ReferenceGrid;
/* Groups of n neighbouring slots each, which follow one another on one side, and which a swizzle has
 * moved on the other: there group i is at moved + place[i]. */
typedef struct {
    i64 moved, plain;              /* slots */
    const i64 *place;
    i64 groups, n;
    bool of_source;                /* the swizzle is the source's */
} ReferenceGroups;
/* The most coordinates of the outer dim, and of both where the source is contiguous along it; of
 * elements below a byte those of as many bytes. */
enum { REFERENCE_TILE = 64 };
/* What a walk visits: rows; patches, where they are large, or lines of runs and groups, where these
 * are long; else grids, where there are any.  NULL: what would be one is rows. */
typedef struct {
    ReferenceVisit *row;
    void (*patch)(void *arg, const ReferencePatch *r);
    void (*line)(void *arg, const ReferenceLine *r);
    void (*groups)(void *arg, const ReferenceGroups *r);
    void (*grid)(void *arg, const ReferenceGrid *r);
} ReferenceVisitor;
bool reference_walk_by(const Plan *p, const i64 *lo, const i64 *hi, const ReferenceVisitor *v,
                       void *arg);
/* The bytes that a walk of one thread allocates, at most. */
i64 reference_bytes(const Plan *p);
/* The steps of work of one address of a layout in a walk.  *made: the steps for the
 * tables that a walk prepares; INF: the number does not fit 64 bits. */
i64 reference_work(const Layout *l, i64 *made);
/* Find the coordinate that is at a slot of a layout's storage; false if there is none. */
bool reference_find(const Layout *l, i64 slot, i64 *x);

/* The kinds of the slots of the destination, as two bit sets: slots that are written, and
 * those of them that receive an element and not the fill.  n includes the slots that fill
 * up the last byte. */
typedef struct {
    uint64_t *written, *copied;
    i64 n, elements, padding;
} SlotKinds;
/* Returns false if memory runs out.  *why: a flaw of the layouts themselves, or NULL.
 * Call kinds_free in any case. */
bool kinds_new(SlotKinds *k, const Plan *p, const char **why);
void kinds_free(SlotKinds *k);

static inline bool
slot_in(const uint64_t *set, i64 slot)
{
    return set[slot / 64] >> (slot & 63) & 1;
}

/* reference_compare.c */
/* Compare dst with the result of a relayout of src into a zeroed buffer, by the threads t.
 * *slot is the lowest slot that differs, or -1.  Returns false if memory runs out. */
bool reference_differs(const Plan *p, const Threads *t, const unsigned char *dst,
                       const unsigned char *src, i64 *slot);
/* Compare the elements and the padding of a box.  Holes are not examined. */
bool reference_differs_in(const Plan *p, const Threads *t, const i64 *lo, const i64 *hi,
                          const unsigned char *dst, const unsigned char *src, i64 *slot);

#endif
