/* layout_model.h: the layout for one shape and element type (Layout), and what is asked of it. */
#ifndef RAVEL_LAYOUT_MODEL_H
#define RAVEL_LAYOUT_MODEL_H

#include "layout_def.h"

/* How far the digits of a dim reach; 0: there are none. */
typedef struct {
    i64 open;             /* the least lo of the digits without an upper end */
    bool apart;           /* of two of these lo neither divides the other; ... */
    i64 end;              /* ... the least round-up of the extent to one of these lo */
    i64 closed;           /* the greatest upper end */
} Reach;

typedef struct {
    const char *name;
    i64 n;                /* extent */
    i64 padded;           /* padded extent: coordinates below this have storage */
    i64 pad;              /* the multiple to which the spec rounds it up, or 1 */
    i64 most;             /* the largest extent that the spec allows; INF: any */
    int var;              /* its variable: 0 <= var < padded */
    int free;             /* a variable for the same dim without upper bound */
    Reach canonical, written;      /* of the entries in canonical form; as written */
    const i64 *cut;       /* where a list of coordinates begins another run of numbers that */
    int ncuts;            /* are evenly spaced */
} Dim;

typedef struct {
    const Ast *x;
    int order;            /* its index in def->order */
    i64 extent, stride;   /* number of slots; stride in elements */
    i64 pitch;            /* the stride is a multiple of this, in bytes; 0: no pitch */
    i64 exact;            /* the declared stride, in elements; 0: none */
    const Setting *given; /* what declares the pitch or the stride; NULL: nothing does */
    const Ex *ex;         /* over Dim.var */
    const Ex *written;    /* over Dim.free: valid for every shape */
} Entry;

/* What an index needs of an extent that does not follow from those of the view. */
typedef struct {
    i64 least;            /* it is so many or more; 0: nothing is known */
    i64 skips, by;        /* by > 0 instead: every `by`-th of all but `skips` elements are the view's */
} Need;

/* How the coordinates of a view become those of the tensor. */
typedef struct {
    struct Layout *of;             /* the layout of the tensor */
    struct {
        int dim;          /* the coordinate is start + step * coordinate dim of the view; */
        i64 start, step;  /* -1: it is start */
        bool from_end;    /* start is a number plus the extent */
        const i64 *mixed; /* the numbers as written, if some are below 0, counted from the end, and
                           * some are not; NULL: not so, or the extent is known */
        const i64 *list;  /* instead: it is list[coordinate dim of the view], */
        int n;            /* which has n numbers */
        int lookup;       /* instead: it is that of Layout.lookup; -1: none */
        int like;         /* the extent is that of dim `like` of the view, plus more; */
        i64 more;         /* -1: it is given */
        const char *given;         /* the extent is one that each run is given by this name, */
        Need need;        /* of which the index needs this */
    } at[MAX_RANK];
    bool shares;          /* elements share addresses: an extent that no address has */
    bool strided;         /* the strides are not those of the tensor, all else is */
} View;

/* A coordinate that is a number of an index array, array[place].  Each run takes the array. */
typedef struct {
    const char *array;
    int bits;             /* of its numbers: 32, 64 */
    bool skip;            /* an element whose number is -1 is not moved */
    i64 n, bound;         /* the places are below n, the numbers below bound; INF: below an extent
                           * that a run is given */
    int rank, own;        /* of the array; and the dim of it that the numbers are along */
    i64 extent[MAX_RANK]; /* its shape */
    /* Of the arrays before this one in its index: */
    i64 before;           /* the product of their bounds, if all are for one dim; */
    unsigned others;      /* else the dims that they are along */
    int var;              /* stands for the number in expressions; ... */
    const char *symbol;   /* ... this in expressions as written */
    const Ex *at;         /* the place, over Dim.var and the lookups before this one; */
    const Ast *place;     /* as written */
    const i64 *value;     /* the numbers, in a proof; NULL: all are bound - 1 */
} Lookup;

/* A layout for one shape and element type. */
typedef struct Layout {
    const LayoutRef *ref;
    const View *view;     /* NULL: the elements are all of the tensor */
    int nlookups;
    const struct Layout *written;  /* the same in the words of the request; NULL: in these */
    Lookup *lookup;       /* first those of the view's own index */
    const DType *dtype;
    int rank, nentry;
    Dim dim[MAX_RANK];
    Entry entry[MAX_ENTRIES];
    i64 param[MAX_ENTRIES];        /* values, in the order of def->params */
    i64 size;             /* of the storage, in elements */
    i64 origin;           /* the address if all entries are 0 */
    const Ex *linear;     /* address before the swizzle, in elements */
    const Ex *addr;       /* address, in elements */
    const Ex *sigma;      /* the swizzle, over the variable sigma_var; or NULL */
    int sigma_var;
    uint64_t fill[2];     /* bit pattern of the fill */
    Exprs *e;
} Layout;

/* layout_param.c: the values of all parameters for one element type. */
void layout_params(Arena *a, const LayoutRef *ref, const DType *t, i64 *value);
bool layout_needs_dtype(const LayoutRef *ref);
/* The fill, as a number. */
double layout_fill(Arena *a, const LayoutRef *ref, const DType *t);

/* layout_fill.c: a fill that each run is given, as the bits of an element. */
/* The name of the fill that a destination has; NULL: it is a number, or nothing is written. */
const char *layout_fill_name(const LayoutDef *d);

/* layout_extent.c: extent(W) is a symbol of the name that layout_extent_name returns. */
const char *layout_extent_name(Arena *a, const char *dim);
bool layout_extent_is(const char *name, const char *dim);
/* Why a layout that uses the extent of dim by name needs a number for it. */
const char *layout_extent_flaw(Arena *a, const LayoutDef *d, const char *dim);
/* Sets *v to the extent that a name stands for; false for other names. */
bool layout_extent(const Layout *l, const char *name, i64 *v);
/* True if the address of an element depends on the extent of dim by name: then nothing
 * that is found for one extent holds for another. */
bool layout_uses_extent(const LayoutDef *d, const char *dim);
/* The same in another way than in a pitch or a stride. */
bool layout_needs_extent(const LayoutDef *d, const char *dim);
/* Whether it depends on any extent that the shape leaves to run time. */
bool layout_uses_open_extent(const LayoutDef *d, int rank, const i64 *shape);
/* layout_batch.c: `ref` with a name for each dim of "..."; itself where it has none, or a pitch by its position. */
const LayoutRef *layout_unbatched(Arena *a, const LayoutRef *ref, int rank);

/* layout_flip.c: `ref`, or a part of a tensor with the same addresses that does without the extents
 * that `shape` leaves to run time: they count a dim from its end.  Its padding has no fill, so a
 * layout that is `written` must have none. */
const LayoutRef *layout_unflipped(Arena *a, const LayoutRef *ref, const i64 *shape, bool written);

/* Whether dim `dim` of a part of a tensor, NC1HWC0[:, ::-1], is all of one that is stored in blocks,
 * counted from its end. */
bool layout_turns_blocks(const LayoutRef *ref, int dim);
/* `ref` with a dim counted from its other end; NULL: there is none such, as a layout that is
 * `written` with padding. */
const LayoutRef *layout_turned(Arena *a, const LayoutRef *ref, int dim, bool written);

/* layout_rolled.c: `ref`, or the layout with LayoutDef.rolls for all dims that are shifted around
 * their extents, (H + 4) % extent(H), where `shape` leaves these to run time.  `digits`: also if slots that
 * are counted from the end, as in extent(H) - 1 - H, are cut into digits, which no planner does. */
const LayoutRef *layout_unrolled(Arena *a, const LayoutRef *ref, const DType *t, const i64 *shape, bool digits);
const Roll *layout_roll(const LayoutDef *d, const char *dim);      /* NULL: none */

/* layout_joined.c: for extents that `shape`, of the dims of `ref`, leaves to run time. */
/* `ref` with each entry that is a sum of whole digits, H*extent(W) + W, as these entries. */
const LayoutRef *layout_unfolded(Arena *a, const LayoutRef *ref, const DType *t, const i64 *shape);
/* The same addresses over one dim, `inner`, with the coordinates outer*extent(inner) + inner; the
 * extent of `outer` is 1.  NULL: the layout does not count both dims as one. */
const LayoutRef *layout_joined(Arena *a, const LayoutRef *ref, const DType *t, const i64 *shape,
                               int outer, int inner);

/* layout.c: the layout for a shape of `rank` extents.  diag_fatal, with the location in
 * the spec, if the layout does not support that shape or type. */
Layout *layout_make(Exprs *e, const LayoutRef *ref, const DType *t, int rank,
                    const i64 *shape);
/* diag_fatal if an extent of l, or of the tensor of which it is a part, is above its limit. */
void layout_check_limits(const Layout *l);
/* diag_fatal, with the names of the dims, unless d supports shapes of `rank` extents. */
void layout_check_rank(Arena *a, const LayoutDef *d, int rank);

/* layout_lookup.c: index arrays that a run is given. */
/* Whether a part of a tensor is selected by index arrays. */
bool layout_has_arrays(const LayoutDef *d);
/* The lookup with this symbol; NULL: none. */
const Lookup *layout_lookup(const Layout *l, const char *symbol);
/* Sets *v to number `at` of its array; false: it has none there. */
bool lookup_number(const Lookup *u, i64 at, i64 *v);
/* layout_address.c: whether element x is not moved, by the numbers that lookups have. */
bool layout_skips(const Layout *l, const i64 *x);
bool layout_may_skip(const Layout *l);
/* A new variable with the range of the numbers that are coordinates.  It is no constant if a
 * number may be -1, because code tests for -1. */
int lookup_var(Exprs *e, const Lookup *u, const char *name);
/* diag_fatal if l needs an index array; the message says that `what` does not support one. */
void layout_refuse_lookups(const Layout *l, const char *what);

/* layout_index.c, layout_list.c, layout_strided.c */
/* The layout `of` in an array with one stride for each entry, in elements; its size is that
 * of `of`, and its addresses may lie beyond it. */
Layout *layout_with_strides(Exprs *e, Layout *of, const LayoutRef *ref, const i64 *stride,
                            i64 origin);
/* Adds the names of strides and origins of d that are not among the n in name[], which has room
 * for `room`; returns their new number, or -1: there is no room. */
int layout_stride_names(const LayoutDef *d, const char **name, int n, int room);
/* The same of the extents of tensors that do not follow from those of their parts. */
int layout_extent_names(const LayoutDef *d, const char **name, int n, int room);
/* diag_fatal if a stride or an origin of d is a name. */
void layout_need_strides(Arena *a, const LayoutDef *d);
/* `ref` with numbers for these names; NULL: each run is given them. */
const LayoutRef *layout_given_strides(Arena *a, const LayoutRef *ref, int n,
                                      const char *const *name, const i64 *value);
/* The same for the extents of the tensor of x alone, whose own tensor has been given numbers. */
void layout_give_extents(Arena *a, Index *x, int n, const char *const *name, const i64 *value);
/* Whether strides of l are given at run time. */
bool layout_has_open_strides(const Layout *l);
/* Whether extents of the tensor of which l is a part are given at run time. */
bool layout_has_given_extents(const Layout *l);
/* Make d the part x of the tensor that it declares: only its elements are written, unless x has
 * strides. */
void layout_set_index(Arena *a, LayoutDef *d, const Index *x);
/* The shape of the view.  shape[d] is 0 for an extent that the given extents do not decide.
 * name[d] is then its name as written, or idx_len for the length of an index array idx, or
 * NULL.  Returns the rank, or -1 if it is not known. */
int layout_view_shape(Arena *a, const LayoutRef *ref, i64 *shape, const char **name);
/* The name of an extent of an index array: idx_len1 is that of dim 1 of idx; idx_len that of its one
 * dim, *dim -1.  Returns the characters of the array's name; 0: it is another name. */
int layout_length_name(const char *name, int *dim);
/* Whether `name` is that of an extent of an index array, of dim *dim of it if it is `along` dims. */
bool layout_is_length(const char *name, const char *array, bool along, int *dim);
/* layout_fail.c: fail with the text of the index and a mark under character `place`. */
_Noreturn void layout_index_fail(Arena *a, const char *whole, int place, const char *why);
/* Two places i and j of a list of dim d that have the same number; false: there are none. */
bool layout_view_repeats(Arena *a, const View *v, int d, i64 *i, i64 *j);
/* The layout that an index is of, or d. */
const LayoutDef *layout_declared(const LayoutDef *d);

/* layout_reach.c */
/* Sets the reach of each dim, and raises the padded extents to all coordinates for which
 * the digits of the entries have slots (layout_padded).  False if one does not fit 64 bits. */
bool layout_reach(Layout *l);
/* True if x, as written, is a digit of one dim: C, C//4, C%8, C>>2, C&7, or one of these
 * operators applied to a digit.  Sets *dim, *lo and *hi to the digit. */
bool layout_written_digit(const Layout *l, const Ast *x, int *dim, i64 *lo, i64 *hi);

/* layout_range.c */
/* Like ast_range, but all occurrences of an equal subexpression have the same value, so
 * the range is narrower. */
bool layout_range(const Ast *x, AstLookup *top, const void *env, i64 *min, i64 *max);
/* The range of an entry, evaluated at all padded coordinates; `at` is the first coordinate
 * with the least value.  If there are too many coordinates, evaluates only the corners and
 * returns false. */
bool layout_least(const Layout *l, const Ex *ex, i64 *min, i64 *max, i64 *at);

/* layout_address.c */
int layout_find_param(const LayoutDef *d, const char *name);   /* -1: none */
int layout_find_dim(const Layout *l, const char *name);
/* Sets *v to the value of a parameter, bytes, bits or an extent; false for other names. */
bool layout_constant(const Layout *l, const char *name, i64 *v);
/* The address of the element at x, computed by the plain evaluator from the expressions as
 * written.  False if it does not fit 64 bits. */
bool layout_address(const Layout *l, const i64 *x, i64 *addr);
/* The work of one layout_address, in steps (base.h). */
i64 layout_work(const Layout *l);
/* The number of coordinates, with `padded` including padding; INF if it exceeds 64
 * bits. */
i64 layout_points(const Layout *l, bool padded);
/* The parts of layout_address: a part of an entry; the contribution of entry i; the swizzle of
 * an address. */
bool layout_part(const Layout *l, const Ast *part, const i64 *x, i64 *v);
bool layout_entry(const Layout *l, int i, const i64 *x, i64 *v);
bool layout_swizzle(const Layout *l, i64 a, i64 *out);
/* The extents of the storage array, outermost first; returns their number, at most
 * MAX_ENTRIES.  If the storage is not an array, one extent: the size. */
int layout_box(const Layout *l, i64 *extent);
i64 layout_bytes(const Layout *l);
/* A new variable with the range of addresses.  It is not a constant even if the only
 * address is 0. */
int layout_address_var(const Layout *l);
/* Moves x to the next coordinate in row-major order, within the extents or, with `padded`,
 * the padded extents.  After the last coordinate: false, and x is the origin. */
bool layout_next(const Layout *l, bool padded, i64 *x);

/* layout_print.c */
/* A declaration that can be parsed again: (N, C, H, W){N, C//16, H, W, C%16}. */
const char *layout_text(Arena *a, const LayoutDef *def);
/* The value of the setting `fill`. */
const char *layout_fill_text(Arena *a, const LayoutDef *d);
/* The layout as a user writes it: NC1HWC0{C0 = 32}, mine.lua:MINE, or the inline text. */
const char *layout_ref_text(Arena *a, const LayoutRef *ref);
/* The complete layout without its name: the declaration with the values that the use gives. */
const char *layout_whole_text(Arena *a, const LayoutRef *ref);
/* The layout as the user wrote it. */
const LayoutRef *layout_written(const LayoutRef *ref);
/* The same of a shape of numbers: `written`, or l itself. */
const Layout *layout_as_written(const Layout *l);

#endif
