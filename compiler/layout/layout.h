/* layout.h: the layout model: what a spec declares, and what it becomes for one
 * shape and element type.  Pure data, validated, printable. */
#ifndef RAVEL_LAYOUT_H
#define RAVEL_LAYOUT_H

#include "../expr/ast.h"

enum { MAX_RANK = 16, MAX_ENTRIES = 64, MAX_NAME = 63 };

/* dtype.c: element types, one table. */
typedef struct {
    const char *name;     /* f32 */
    int bits;             /* 1 2 4 8 16 32 64 128 */
    char kind;            /* f float, b bfloat, i signed, u unsigned, c complex */
    const char *npy;      /* NumPy's name without byte order: f4; bytes if packed */
} DType;
extern const DType dtypes[];
extern const int ndtypes;
const DType *dtype_find(const char *name);
const DType *dtype_of_npy(const char *descr);
/* The bit pattern of a fill value; false when the type cannot hold it. */
bool dtype_encode(const DType *t, double v, uint64_t pattern[2]);

/* Integer parameters: an expression in bytes, bits and other parameters, or,
 * when it was a function, its value for each element width (1 << i bits). */
enum { WIDTHS = 8 };
typedef struct {
    const char *name;
    const Ast *value;
    bool has[WIDTHS];
    i64 at[WIDTHS];
    const char *why[WIDTHS];   /* it has none */
} Param;

typedef enum { FILL_VALUE, FILL_NONE, FILL_EDGE } FillKind;

typedef enum { ENTRY_EXPR, ENTRY_BATCH, ENTRY_BATCH_REVERSED } EntryKind;
typedef struct {
    EntryKind kind;
    const Ast *x;         /* ENTRY_EXPR */
    Loc loc;
} EntryDef;

/* pad = { dim = n }, pitch = { dim = bytes } or { [entry] = bytes } */
typedef struct {
    const char *dim;      /* NULL: by entry */
    int entry;            /* from 0 */
    const Ast *value;
} Setting;

/* A layout as declared: no shape, no element type.  Immutable once made. */
typedef struct LayoutDef {
    const char *name, *doc;        /* doc may be NULL */
    const char *file;              /* a spec file to load for it; NULL: none is needed */
    bool is_inline;
    Loc loc;
    bool batch;                    /* dims begin with ... */
    int ndims, norder, nparams, npads, npitches;
    const char **dims;
    EntryDef *order;
    Param *params;
    Setting *pads, *pitches;
    FillKind fill;
    double fill_value;
    bool fills;                    /* its author gave the value, or "edge" */
    const Ast *swizzle;            /* in the symbol a; NULL: none */
    bool swizzle_bytes;
    int bits;                      /* 0: any */
    bool view;                     /* elements may share addresses: only read from */
    struct LayoutDef *next;
} LayoutDef;

/* A parameter given anew at use; the others keep their definition. */
typedef struct {
    const LayoutDef *def;
    int n;
    Param *given;
} LayoutRef;

typedef struct {
    const char *name;
    i64 n;                /* logical extent */
    i64 padded;           /* coordinates below this have storage */
    i64 pad;              /* what the spec rounds it up to a multiple of, or 1 */
    int var;              /* in the Exprs: 0 <= var < padded */
    int free;             /* the same dim without a bound */
} Dim;

typedef struct {
    const Ast *x;
    int order;            /* its place in def->order */
    i64 extent, stride;   /* slots, and elements from one to the next */
    i64 pitch;            /* bytes that the stride is a multiple of, or 0 */
    const Ex *ex;         /* over the dims' var */
    const Ex *written;    /* over their free: what holds for every shape */
} Entry;

/* A layout for one shape and element type. */
typedef struct {
    const LayoutRef *ref;
    const DType *dtype;
    int rank, nentry;
    Dim dim[MAX_RANK];
    Entry entry[MAX_ENTRIES];
    i64 param[MAX_ENTRIES];        /* values, in the order of def->params */
    i64 size;             /* elements of storage */
    const Ex *linear;     /* element address before the swizzle */
    const Ex *addr;       /* element address */
    const Ex *sigma;      /* the swizzle, over the variable sigma_var; or NULL */
    int sigma_var;
    uint64_t fill[2];     /* bit pattern of the fill */
    Exprs *e;
} Layout;

/* layout_param.c: the values of all parameters for one element type. */
void layout_params(Arena *a, const LayoutRef *ref, const DType *t, i64 *value);
bool layout_needs_dtype(const LayoutRef *ref);

/* layout.c: rank extents in shape -> everything above.  diag_fatal, with the
 * place in the spec, when it does not suit. */
Layout *layout_make(Exprs *e, const LayoutRef *ref, const DType *t, int rank,
                    const i64 *shape);
/* An error that names the dims, unless a shape of so many extents is one of d's. */
void layout_check_rank(Arena *a, const LayoutDef *d, int rank);

/* layout_reach.c */
/* Every digit of a dim in the entries, as written and in their canonical form; hi 0: it has
 * no upper end. */
typedef void LayoutSee(void *arg, bool written, int dim, i64 lo, i64 hi);
void layout_digits(const Layout *l, LayoutSee *see, void *arg);
/* Raise the padded extents to what the digits of the entries have slots for; false
 * when that does not fit 64 bits. */
bool layout_reach(Layout *l);
/* x, as written, is a digit of one dim: C, C//4, C%8, C>>2, C&7 and the like on such. */
bool layout_written_digit(const Layout *l, const Ast *x, int *dim, i64 *lo, i64 *hi);

/* layout_range.c */
/* As ast_range, but what is written twice is one number. */
bool layout_range(const Ast *x, AstLookup *top, const void *env, i64 *min, i64 *max);
/* The range of an entry over the padded coordinates by looking at all of them, and the
 * first where it is least; false, for the corners only, where these are too many. */
bool layout_least(const Layout *l, const Ex *ex, i64 *min, i64 *max, i64 *at);

/* layout_address.c */
int layout_find_param(const LayoutDef *d, const char *name);   /* -1: none */
int layout_find_dim(const Layout *l, const char *name);
/* A parameter, bytes or bits as a number; false for other names. */
bool layout_constant(const Layout *l, const char *name, i64 *v);
/* The address of one element by the plain evaluator, from the expressions as
 * written.  False when it does not fit 64 bits. */
bool layout_address(const Layout *l, const i64 *x, i64 *addr);
/* The units of work that it takes. */
i64 layout_work(const Layout *l);
/* How many coordinates there are, padded ones too; INF where they do not fit. */
i64 layout_points(const Layout *l, bool padded);
/* Its parts: entry i's contribution, and what the swizzle makes of the sum. */
bool layout_entry(const Layout *l, int i, const i64 *x, i64 *v);
bool layout_swizzle(const Layout *l, i64 a, i64 *out);
/* The storage as an array: its extents (at most MAX_ENTRIES), outermost first.
 * One extent, the size, where it is not a box. */
int layout_box(const Layout *l, i64 *extent);
i64 layout_bytes(const Layout *l);
/* A variable for addresses: a variable even where the only one is 0. */
int layout_address_var(const Layout *l);
/* The next coordinate in row-major order, within the extents or, if so said, the
 * padded ones; false, and back at the origin, after the last. */
bool layout_next(const Layout *l, bool padded, i64 *x);

/* layout_print.c */
/* (N, C, H, W){N, C//16, H, W, C%16}, which reads back. */
const char *layout_text(Arena *a, const LayoutDef *def);
/* What follows fill = . */
const char *layout_fill_text(Arena *a, const LayoutDef *d);
/* As a user names it: NC1HWC0{C0 = 32}, mine.lua:MINE, or the inline text. */
const char *layout_ref_text(Arena *a, const LayoutRef *ref);
/* All that it is, whatever its name: the definition, {C0 = 32}. */
const char *layout_whole_text(Arena *a, const LayoutRef *ref);

/* What a layout takes of storage, as numbers that may depend on extents which are known
 * only when the code runs.
 *
 * All such numbers are sums of constants times scalars: named values, each an extent, an
 * expression of scalars before it or a product of some.  So what is equal for every shape
 * is one pointer, as expressions are, and emitted code computes each scalar once. */

/* An extent of a shape that is left to run time; RAVEL_RUNTIME of ravel.h. */
enum { RUNTIME_EXTENT = -1 };
/* The largest one may be: none of the sums in emitted code overflows before sizes are
 * checked. */
#define EXTENT_MOST ((i64)1 << 62)

typedef struct {
    int var;              /* its variable */
    const Ex *def;        /* over those before it; NULL: an extent or a product */
    int nfactors;
    const int *factor;    /* of a product: scalars, ascending, none a product */
} Scalar;

typedef struct {
    Exprs *e;
    int n, cap, nextents; /* the extents are the first */
    Scalar *scalar;
    i64 most[MAX_RANK];   /* of each extent: the largest that is right */
    i64 *nominal;         /* of each, by its variable, at a made-up shape: for estimates */
    int vars;             /* there is room for */
} Scalars;

/* What has slots and strides; where no extent is left to run time all are numbers. */
typedef struct {
    const Layout *l;               /* made with 1 for the extents left to run time */
    int extent[MAX_RANK];          /* the scalar that a dim's extent is, -1: a number */
    const Ex *n[MAX_RANK], *padded[MAX_RANK];
    i64 unit[MAX_RANK];            /* padded is at most n rounded up to a multiple of it;
                                    * 0: of nothing that is known */
    const Ex *slots[MAX_ENTRIES], *stride[MAX_ENTRIES];
    const Ex *size;
    /* Overflow is looked for in bits * slots[...] * ..., rounded up to pitch[i] elements
     * where that is not 0, from the last entry to the first. */
    i64 pitch[MAX_ENTRIES];
    /* The address is addr + sum of x * stride over the terms, in these variables, a dim
     * each: addr has the entries with strides that are numbers, swizzled. */
    int var[MAX_RANK];
    const Ex *addr;
    int nterms;
    struct { const Ex *x, *stride; } term[MAX_ENTRIES];
} Sizes;

/* layout_scalar.c */
Scalars *scalars_new(Exprs *e);
/* A new extent; diag_fatal when there are MAX_RANK. */
int scalar_extent(Scalars *s, const char *name);
const Ex *scalar_ex(const Scalars *s, int i);
bool scalar_is(const Scalars *s, const Atom *a);
/* A scalar with that value, 0 <= value <= max, the same one for the same x; x itself
 * where it is a sum of scalars already. */
const Ex *scalar_of(Scalars *s, const Ex *x, i64 max);
/* The same, also of a sum; it is taken to be in the range, whatever is known of x: whoever
 * uses it does so only where it is. */
const Ex *scalar_named(Scalars *s, const Ex *x, i64 max);
/* a * b, both sums of scalars. */
const Ex *scalar_times(Scalars *s, const Ex *a, const Ex *b);
/* x rounded up to a multiple of k, divided by it. */
const Ex *scalar_ceil(Scalars *s, const Ex *x, i64 k);
/* The values of all scalars, val[var], from the extents'; false where one does not fit
 * 64 bits.  val has room for all variables of the Exprs. */
bool scalars_eval(const Scalars *s, const i64 *extent, i64 *val);
/* x at the made-up shape: 1 only where it is 1 for every shape, and divided by no power
 * of two that it is not for every shape. */
i64 scalar_nominal(const Scalars *s, const Ex *x);

/* layout_sizes.c */
/* l made with 1 for the dims with extent[d] >= 0.  diag_fatal, with what would do, for
 * a layout with such dims that is not a matter of digits. */
const Sizes *layout_sizes(Scalars *s, const Layout *l, const int *extent);

#endif
