/* layout.h: the layout model: the declaration in a spec (LayoutDef), and the layout for
 * one shape and element type (Layout). */
#ifndef RAVEL_LAYOUT_H
#define RAVEL_LAYOUT_H

#include "../expr/expr.h"

enum { MAX_RANK = 16, MAX_ENTRIES = 64, MAX_NAME = 63, MAX_LEVELS = 16 };

/* dtype.c: the table of element types. */
typedef struct {
    const char *name;     /* f32 */
    int bits;             /* 1 2 4 8 16 32 64 128 */
    char kind;            /* f float, b bfloat, i signed, u unsigned, c complex */
    const char *npy;      /* NumPy's name without byte order: f4; packed types: u1 */
} DType;
extern const DType dtypes[];
extern const int ndtypes;
const DType *dtype_find(const char *name);
const DType *dtype_of_npy(const char *descr);
/* Sets `pattern` to the bits of a fill value; false if the type cannot represent it. */
bool dtype_encode(const DType *t, double v, uint64_t pattern[2]);

/* An integer parameter: an expression over bytes, bits and other parameters.  If the spec
 * gives a function instead: its value for each element width (1 << i bits). */
enum { WIDTHS = 8 };
typedef struct {
    const char *name;
    const Ast *value;
    bool has[WIDTHS];
    i64 at[WIDTHS];
    const char *why[WIDTHS];   /* if !has[i]: the reason */
} Param;

typedef enum { FILL_VALUE, FILL_NONE, FILL_EDGE } FillKind;

typedef enum { ENTRY_EXPR, ENTRY_BATCH, ENTRY_BATCH_REVERSED } EntryKind;
typedef struct {
    EntryKind kind;
    const Ast *x;         /* ENTRY_EXPR */
    Loc loc;
} EntryDef;

/* level.def: the kinds of levels of a sparse format. */
typedef enum {
#define LEVEL(name, text, expression) LEVEL_##name,
#include "level.def"
#undef LEVEL
    LEVEL_KINDS
} LevelKind;
/* A level: how the coordinates of one entry of `order` are stored. */
typedef struct {
    LevelKind kind;
    bool repeats;         /* "nonunique": equal coordinates may follow each other */
    bool unordered;       /* coordinates need not ascend */
} LevelDef;

/* pad = { dim = n }, pitch = { dim = bytes } or { [entry] = bytes }, stride likewise */
typedef struct {
    const char *dim;      /* NULL: by entry */
    int entry;            /* from 0 */
    bool exact;           /* a stride, in elements */
    const Ast *value;
} Setting;

/* A layout as declared, without shape and element type.  It is immutable. */
typedef struct LayoutDef {
    const char *name, *doc;        /* doc may be NULL */
    const char *owner, *source;    /* who defines the format, and where; NULL: not said */
    const char *file;              /* the spec file that declares it; NULL: not needed */
    bool is_inline;
    Loc loc;
    bool batch;                    /* the list of dims begins with "..." */
    int ndims, norder, nparams, npads, npitches;
    const char **dims;
    EntryDef *order;
    LevelDef *level;               /* a sparse format: of each entry of order; else NULL */
    Param *params;
    Setting *pads, *pitches;       /* pitches: strides too */
    FillKind fill;
    double fill_value;
    const Ast *fill_of;            /* the fill as an expression of parameters; or NULL */
    bool fills;                    /* the spec gives the fill */
    const Ast *swizzle;            /* over the symbol a; NULL: none */
    bool swizzle_bytes;
    int bits;                      /* required bits of an element; 0: any */
    bool view;                     /* elements may share addresses; cannot be written */
    struct LayoutDef *next;
} LayoutDef;

/* A use of a layout with new values for some parameters; the others keep their
 * definition. */
typedef struct {
    const LayoutDef *def;
    int n;
    Param *given;
} LayoutRef;

/* How far the digits of a dim reach; 0: there are none. */
typedef struct {
    i64 open;             /* the least lo of the digits without an upper end */
    i64 end;              /* the least round-up of the extent to the lo of one of these */
    bool apart;           /* of two of these lo neither divides the other */
    i64 closed;           /* the greatest upper end */
} Reach;

typedef struct {
    const char *name;
    i64 n;                /* extent */
    i64 padded;           /* padded extent: coordinates below this have storage */
    i64 pad;              /* the multiple to which the spec rounds it up, or 1 */
    int var;              /* its variable: 0 <= var < padded */
    int free;             /* a variable for the same dim without upper bound */
    Reach canonical, written;      /* of the entries in canonical form; as written */
} Dim;

typedef struct {
    const Ast *x;
    int order;            /* its index in def->order */
    i64 extent, stride;   /* number of slots; stride in elements */
    i64 pitch;            /* the stride is a multiple of this, in bytes; 0: no pitch */
    i64 exact;            /* the declared stride, in elements; 0: none */
    const Ex *ex;         /* over Dim.var */
    const Ex *written;    /* over Dim.free: valid for every shape */
} Entry;

/* A layout for one shape and element type. */
typedef struct {
    const LayoutRef *ref;
    const DType *dtype;
    int rank, nentry;
    Dim dim[MAX_RANK];
    Entry entry[MAX_ENTRIES];
    i64 param[MAX_ENTRIES];        /* values, in the order of def->params */
    i64 size;             /* of the storage, in elements */
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

/* layout_extent.c: extent(W) is a symbol of the name that layout_extent_name returns. */
const char *layout_extent_name(Arena *a, const char *dim);
bool layout_extent_is(const char *name, const char *dim);
/* Sets *v to the extent that a name stands for; false for other names. */
bool layout_extent(const Layout *l, const char *name, i64 *v);
/* True if the address of an element depends on the extent of dim by name: then nothing
 * that is found for one extent holds for another. */
bool layout_uses_extent(const LayoutDef *d, const char *dim);

/* layout.c: the layout for a shape of `rank` extents.  diag_fatal, with the location in
 * the spec, if the layout does not support that shape or type. */
Layout *layout_make(Exprs *e, const LayoutRef *ref, const DType *t, int rank,
                    const i64 *shape);
/* diag_fatal, with the names of the dims, unless d supports shapes of `rank` extents. */
void layout_check_rank(Arena *a, const LayoutDef *d, int rank);

/* layout_reach.c */
/* Sets the reach of each dim, and raises the padded extents to all coordinates for which
 * the digits of the entries have slots.  False if one does not fit 64 bits. */
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
/* The work of one layout_address, in units of work (base.h). */
i64 layout_work(const Layout *l);
/* The number of coordinates, with `padded` including padding; INF if it exceeds 64
 * bits. */
i64 layout_points(const Layout *l, bool padded);
/* The parts of layout_address: the contribution of entry i; the swizzle of an address. */
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
/* The complete layout without its name: the declaration followed by {C0 = 32}. */
const char *layout_whole_text(Arena *a, const LayoutRef *ref);

/* Sizes of storage that may depend on extents left to run time.
 *
 * A size is a sum of constants times scalars.  A scalar is a named value: an extent, an
 * expression over earlier scalars, or a product of earlier scalars.  Therefore sizes that
 * are equal for every shape are the same pointer, like all expressions, and emitted code
 * computes each scalar once. */

/* In a shape: an extent left to run time; RAVEL_RUNTIME of ravel.h. */
enum { RUNTIME_EXTENT = -1 };
/* The largest extent at run time.  With it no sum in emitted code overflows before sizes
 * are checked. */
#define EXTENT_MOST ((i64)1 << 62)

typedef struct {
    int var;              /* its variable */
    const Ex *def;        /* over earlier scalars; NULL: an extent or a product */
    int nfactors;
    const int *factor;    /* the scalars in a product, ascending, none itself a product */
} Scalar;

typedef struct {
    Exprs *e;
    int n, cap, nextents; /* the first nextents scalars are extents */
    Scalar *scalar;
    i64 most[MAX_RANK];   /* for each extent: the largest supported value */
    i64 *nominal;         /* values at an example shape, by variable: for estimates */
    int vars;             /* capacity of nominal */
} Scalars;

/* The sizes of a layout.  Without extents left to run time all are constants. */
typedef struct {
    const Layout *l;               /* made with 1 for the extents left to run time */
    int extent[MAX_RANK];          /* the scalar that is the dim's extent; -1: a number */
    const Ex *n[MAX_RANK], *padded[MAX_RANK];
    i64 unit[MAX_RANK];            /* padded is at most n rounded up to a multiple of it;
                                    * 0: no multiple is known */
    const Ex *slots[MAX_ENTRIES], *stride[MAX_ENTRIES];
    const Ex *size;
    /* Overflow is checked in the product bits * slots[...] * ..., from the last entry to
     * the first; after entry i it is rounded up to pitch[i] elements unless that is 0. */
    i64 pitch[MAX_ENTRIES];
    /* The address is addr + sum of x * stride over the terms.  var[d] is the variable of
     * dim d.  addr has the entries with constant strides, swizzled. */
    int var[MAX_RANK];
    const Ex *addr;
    int nterms;
    struct { const Ex *x, *stride; } term[MAX_ENTRIES];
} Sizes;

/* layout_scalar.c */
Scalars *scalars_new(Exprs *e);
/* Adds an extent and returns its index; diag_fatal if there are MAX_RANK already. */
int scalar_extent(Scalars *s, const char *name);
const Ex *scalar_ex(const Scalars *s, int i);
bool scalar_is(const Scalars *s, const Atom *a);
/* The scalar with the value x, 0 <= x <= max; the same scalar for the same x.  If x is a
 * sum of scalars already, x itself. */
const Ex *scalar_of(Scalars *s, const Ex *x, i64 max);
/* Like scalar_of, but makes a scalar for a sum too, and does not check the range: the
 * caller must use it only where 0 <= x <= max. */
const Ex *scalar_named(Scalars *s, const Ex *x, i64 max);
/* a * b; both are sums of scalars. */
const Ex *scalar_times(Scalars *s, const Ex *a, const Ex *b);
/* x divided by k, rounded up. */
const Ex *scalar_ceil(Scalars *s, const Ex *x, i64 k);
/* Computes the values of all scalars, val[var], from the extents; false if one does not
 * fit 64 bits.  val has room for all variables of the Exprs. */
bool scalars_eval(const Scalars *s, const i64 *extent, i64 *val);
/* x at the example shape.  It is 1 only if x is 1 for every shape; a power of two divides
 * it only if it divides x for every shape. */
i64 scalar_nominal(const Scalars *s, const Ex *x);

/* layout_sizes.c */
/* The sizes of l; extent[d] is the scalar of the extent of dim d, or -1 if it is a number.
 * l is made with extent 1 for the dims with a scalar.  diag_fatal, with a suggestion, if
 * such dims occur in entries that are not digits. */
const Sizes *layout_sizes(Scalars *s, const Layout *l, const int *extent);

#endif
