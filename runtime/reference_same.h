/* reference_same.h: comparisons of many slots at once. */
#ifndef RAVEL_REFERENCE_SAME_H
#define RAVEL_REFERENCE_SAME_H

#include "reference.h"

typedef struct {
    const Plan *p;
    const unsigned char *dst, *src;
    unsigned char fill[64];        /* of the destination, over and over */
} Compared;

/* Whether all slots of a patch have the right contents. */
bool same_patch(const Compared *c, const ReferencePatch *r);
/* Whether those of others have.  False where nothing is known, too. */
bool same_line(const Compared *c, const ReferenceLine *r);
bool same_groups(const Compared *c, const ReferenceGroups *r);
bool same_grid(const Compared *c, const ReferenceGrid *r);
/* Run i of a line. */
ReferencePatch same_run(const ReferenceLine *r, int i);

#endif
