/* layout_parts.h: what the files of parts of tensors share.  Other folders use layout.h. */
#ifndef RAVEL_LAYOUT_PARTS_H
#define RAVEL_LAYOUT_PARTS_H

#include "layout.h"

/* layout_index.c: an index of a tensor, for a shape of the view. */
typedef struct {
    const Index *index;
    View *view;           /* without `of` */
    int rank_of;
    i64 of[MAX_RANK];     /* the extents of the tensor */
    const char *name[MAX_RANK];         /* of the dims of the view */
    const IndexItem *item[MAX_RANK];    /* for each dim of the tensor */
} ResolvedIndex;
/* diag_fatal, with the item, if the index does not fit the shape. */
ResolvedIndex index_resolve(Arena *a, const Index *x, int rank, const i64 *shape);

/* layout_list.c */
/* list[x] as an expression, for the list of dim d of the tensor. */
const Ast *list_at(Arena *a, const View *v, int d, const Ast *x);
/* Set the cuts of a dim of the view that has the list of dim d of the tensor: where its runs
 * begin, and where the numbers pass a cut of the tensor. */
void list_cuts(Arena *a, const ResolvedIndex *r, int d, Dim *dim);

/* layout_strided.c: the layout of a tensor in an array with the strides that are written. */
Layout *layout_strided(Exprs *e, const LayoutRef *ref, const DType *t, int rank,
                       const i64 *shape);

#endif
