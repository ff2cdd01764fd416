/* layout_parts.h: what the files of parts of tensors share.  Other folders use layout.h. */
#ifndef RAVEL_LAYOUT_PARTS_H
#define RAVEL_LAYOUT_PARTS_H

#include "layout.h"

/* layout_batch.c: the name of dim i of "...", which no other name is. */
const char *layout_batch_name(Arena *a, const LayoutDef *d, int i);
/* layout_walk.c */
/* A number, plus the extent of dim `of` of the tensor unless that is NUMBER; OPEN: what it is
 * does not follow. */
enum { NUMBER = -1, OPEN = -2 };
typedef struct {
    int of;
    i64 n;
} Size;

typedef struct {
    int dim;              /* of the view; -1: none */
    Size start;
    i64 step;
    const i64 *list;      /* the coordinates, instead */
    const IndexItem *item;
    Need need;            /* of an extent that is not known */
} DimSource;

/* The walk over the items of an index. */
typedef struct {
    Arena *arena;
    const Index *x;
    int rank, rank_of;    /* of the view so far, of the tensor */
    int joint;            /* the dim of the view that index arrays have; -1: none so far */
    Size of[MAX_RANK];    /* the extents of the tensor */
    DimSource from[MAX_RANK];      /* for each of its dims */
    Size extent[MAX_RANK];         /* of the view */
    int source[MAX_RANK]; /* for each dim of the view: that of the tensor; -1: new */
    bool one[MAX_RANK];   /* any extent is accepted: new, or 1 in the tensor */
    const char *name[MAX_RANK];    /* of the extents of an index that this one is of */
} LayoutWalk;
/* layout_open.c: items of dim d, whose extent is not known. */
void open_slice(const LayoutWalk *w, const IndexItem *t, int d, DimSource *s, Size *extent);
/* The coordinate `at` from the front or, below 0, from the end. */
void open_at(int d, i64 at, DimSource *s);
void open_list(int d, const IndexItem *t, DimSource *s);
/* The least extent that selects n coordinates; 0: it does not follow. */
i64 open_least(const Need *need, i64 n);

/* layout_walk.c */
/* Walk over the items; sets from, source, extent, one and rank.  diag_fatal, with the item,
 * if it does not fit the extents of the tensor. */
void walk_items(LayoutWalk *w);

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
/* Number list[x] of the list t, of which dim d has a list: one list of as many numbers, as the
 * ramps of one in those of the other would be their product. */
const Ast *list_of_list(Arena *a, const View *v, int d, const AstTable *t, const Ast *x);
/* Set the cuts of a dim of the view that has the list of dim d of the tensor: where its runs
 * begin, and where the numbers pass a cut of the tensor. */
void list_cuts(Arena *a, const ResolvedIndex *r, int d, Dim *dim);

/* layout_flip.c: whether x is extent(R) - 1 - R, or extent(R) - R - 1. */
bool layout_is_flip(const Ast *x, const char *dim);
/* Whether x is that name. */
bool layout_is_sym(const Ast *x, const char *name);
/* Whether d has a pad or a pitch of this dim. */
bool layout_pads(const LayoutDef *d, const char *dim);
/* layout_rolled.c: the slots of a dim of extent n that is shifted, and how; returns the slots. */
const Ex *layout_set_rolled(Scalars *s, const Roll *roll, const Ex *n, Rolled *out);

/* layout_lookup.c: the sizes of u, whose array has the coordinates var[] and the extents n[].  s
 * may be NULL if these are numbers. */
LookupSizes lookup_sizes(Scalars *s, const Layout *l, const Lookup *u, const int *var,
                         const Ex *const *n);

/* layout_view.c */
/* The layout of a part of a tensor, whose layout r->view->of has: the expressions of that over the
 * coordinates of the view.  Slots, strides and size are those of the tensor. */
Layout *layout_of_view(Exprs *e, const LayoutRef *ref, const ResolvedIndex *r, int rank,
                       const i64 *shape);
/* For each dim d of the tensor of l: sets to[from[d]] to its coordinate, over x[] for the dims of
 * l; more[d] is added to it (NULL: nothing). */
void view_coordinates(const Layout *l, const int *from, const Ex *const *x,
                      const Ex *const *more, const Ex **to);

/* layout_strides_open.c */
/* Whether the pitch or stride of an entry uses an extent that is left to run time; n[]: the extents. */
bool layout_uses_open(const Layout *l, const Entry *t, const Ex *const *n);
/* The stride of such an entry i; size: that of the entries after it.  Sets r->bound[i].  diag_fatal if
 * it has no room for these at some shapes. */
const Ex *layout_open_stride(Scalars *s, Sizes *r, int i, const Ex *size);

/* layout_end.c: if dim d of the tensor of a view, of the sizes `of`, is counted from an end left to run
 * time and its digits matter, sets r->roll and r->var of the dim of the view; `more` is what its
 * numbers have to be added. */
bool layout_from_end(Scalars *s, Sizes *r, const Sizes *of, int d, const Ex *more);

/* layout_slots.c: sets the expressions of the entries over Dim.var, their numbers of slots, and the
 * padded extents.  diag_fatal if an entry can be negative or has no bound. */
void layout_slots(Layout *l);

/* layout_padded.c: the same for numbers and for extents left to run time. */
/* The coordinates of a layout: those below padded[d] have storage. */
typedef struct {
    Scalars *s;           /* NULL: all extents are numbers */
    const Layout *l;
    const Ex *padded[MAX_RANK];
} Coordinates;
/* The padded extent of dim d if its extent is n, from the reaches of l.  It is at most n
 * rounded up to a multiple of *unit; 0: no multiple is known. */
const Ex *layout_padded(Scalars *s, const Layout *l, int d, const Ex *n, i64 *unit);
/* AstLookup: the largest coordinate of a dim, INF if that is left to run time.  Parameters
 * have been replaced by numbers. */
bool layout_largest(const void *coordinates, const char *name, i64 *v);
/* The greatest value of x as written; NULL if it may be negative, or is not known for every
 * shape. */
const Ex *layout_most(const Coordinates *m, const Ast *x);

/* layout_strided.c: the layout of the tensor `of` in an array with the strides that are written. */
Layout *layout_strided(Exprs *e, const LayoutRef *ref, Layout *of);

/* layout_fail.c */
/* Fail with the text of the index and a mark under the item. */
_Noreturn void walk_fail(const LayoutWalk *w, const IndexItem *t, const char *why);
/* The name of dim d of the tensor; "" if it is a batch dim. */
const char *walk_name(const LayoutWalk *w, int d);
/* "dim 1 (C)" */
const char *walk_dim(const LayoutWalk *w, int d);
_Noreturn void layout_no_fit(const Layout *l, Loc loc);
_Noreturn void layout_refuse_open(const Layout *l, Loc loc, const char *what,
                                  const char *instead);

#endif
