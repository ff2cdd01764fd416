/* reference.h: the relayout by its definition, from the expressions as written, over the
 * extents and strides of the layouts; it shares nothing else with the simplifier and the
 * planner. */
#ifndef RAVEL_REFERENCE_H
#define RAVEL_REFERENCE_H

#include "library.h"

/* Where an element or padding of the destination comes from: a slot of the source, or: */
enum { FROM_FILL = -1, FROM_HOLE = -2 };   /* the fill; it is left alone */
/* A row of padded coordinates of the destination: the first is x, the others follow it
 * along dim `inner`; -1: it is alone. */
enum { REFERENCE_ROW = 512 };
typedef struct {
    int n;
    i64 to[REFERENCE_ROW], from[REFERENCE_ROW];   /* slots */
    bool pad[REFERENCE_ROW];       /* beyond the extents */
    const i64 *x;
    int inner;
} ReferenceRow;
/* False ends the walk. */
typedef bool ReferenceVisit(void *arg, const ReferenceRow *r);
/* Every padded coordinate once, nearly in the order of storage.  False: out of memory. */
bool reference_walk(const Plan *p, ReferenceVisit *visit, void *arg);
/* What a walk allocates. */
i64 reference_bytes(const Plan *p);
/* The units of work that an address of a layout takes in a walk; *made: the tables for
 * it, INF: more than fit. */
i64 reference_work(const Layout *l, i64 *made);
/* The coordinate at a slot of a layout's storage; false when none is. */
bool reference_find(const Layout *l, i64 slot, i64 *x);

/* What the slots of the destination are, in two sets: those that are written, and of
 * these the ones that hold a copy and no fill.  The slots beyond the layout's size
 * fill up the last byte. */
typedef struct {
    uint64_t *written, *copied;
    i64 n, elements, padding;
} SlotKinds;
/* False: out of memory.  *why is what is wrong with the layouts themselves.  kinds_free
 * in any case. */
bool kinds_new(SlotKinds *k, const Plan *p, const char **why);
void kinds_free(SlotKinds *k);

static inline bool
slot_in(const uint64_t *set, i64 slot)
{
    return set[slot / 64] >> (slot & 63) & 1;
}

/* The lowest slot of the destination that is not what a relayout of src into zeros
 * leaves there; -1: all are right.  False: out of memory. */
bool reference_differs(const Plan *p, const unsigned char *dst, const unsigned char *src,
                       i64 *slot);

#endif
