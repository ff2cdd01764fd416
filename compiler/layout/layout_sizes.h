/* layout_sizes.h: sizes of storage that may depend on extents left to run time.
 *
 * A size is a sum of constants times scalars.  A scalar is a named value: an extent, an
 * expression over earlier scalars, or a product of earlier scalars.  Therefore sizes that
 * are equal for every shape are the same pointer, like all expressions, and emitted code
 * computes each scalar once. */
#ifndef RAVEL_LAYOUT_SIZES_H
#define RAVEL_LAYOUT_SIZES_H

#include "layout_model.h"

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
    bool by_name;         /* text has its name where it has the definitions of others */
} Scalar;

typedef struct {
    Exprs *e;
    int n, cap, nextents; /* the first nextents scalars are extents, */
    int nstrides;         /* and the last nstrides of these are not of the shape: ngiven extents of */
    int ngiven;           /* tensors of which a part is taken, then strides, origins and the fill */
    int fill;             /* which of the extents is the fill; -1: none */
    i64 fill_least;       /* its smallest value */
    Scalar *scalar;
    i64 most[MAX_RANK];   /* for each extent: the largest supported value */
    i64 *nominal;         /* values at an example shape, by variable: for estimates */
    int vars;             /* capacity of nominal */
    const Ex **spelling;  /* for plan_print: each of `spelled` variables over extents */
    int spelled;
} Scalars;

/* Of an index array: the place that is read, over the variables of the dims; as in Lookup. */
typedef struct {
    const Ex *at, *n, *bound, *extent[MAX_RANK];
} LookupSizes;

/* A dim of a part of a tensor, of which the coordinate x is coordinate `more` + number x of the tensor.
 * The numbers are a list, or start + step*x. */
typedef struct {
    const Ex *more;
    i64 start, step;
    const i64 *list;
    const i64 *mixed;              /* the list, if only those of its numbers below 0 have `more` added */
} FromEnd;

/* A dim whose coordinate x is at slot (x + by) % slots of its entries or, with `flip`, at so many
 * before the last one.  0 <= by <= slots, unless there are no slots. */
typedef struct {
    const Ex *slots, *by;          /* NULL: x is the slot */
    i64 more;                      /* slots without coordinates */
    bool flip;
    const FromEnd *end;   /* instead: the slot is that coordinate of the tensor; by is not NULL */
} Rolled;

/* A number times some scalars, of which those that are 0 count as 1: a stride is no more. */
typedef struct {
    i64 times;
    int n;
    const Ex *by[MAX_RANK];
} StrideBound;

/* The sizes of a layout.  Without extents left to run time all are constants. */
typedef struct {
    const Layout *l;               /* made with 1 for the extents left to run time */
    int extent[MAX_RANK];          /* the scalar that is the dim's extent; -1: a number */
    const Ex *n[MAX_RANK], *padded[MAX_RANK];
    i64 unit[MAX_RANK];            /* padded is at most n rounded up to a multiple of it;
                                    * 0: no multiple is known */
    Rolled roll[MAX_RANK];
    const Ex *slots[MAX_ENTRIES], *stride[MAX_ENTRIES];
    const Ex *size;
    bool strided;         /* the strides are given: they need not be those of nested arrays */
    const Ex *origin;     /* then: the address if all entries are 0 */
    /* Overflow is checked in the product bits * slots[...] * ..., from the last entry to
     * the first; after entry i it is rounded up to pitch[i] elements unless that is 0, and it begins
     * anew with bits * bound[i] unless that is NULL. */
    i64 pitch[MAX_ENTRIES];
    const StrideBound *bound[MAX_ENTRIES];
    /* The address is addr + sum of x * stride over the terms.  var[d] is the variable of
     * dim d.  addr has the entries with constant strides, swizzled. */
    int var[MAX_RANK];
    const Ex *addr;
    int nterms;
    struct { const Ex *x, *stride; } term[MAX_ENTRIES];
    LookupSizes lookup[MAX_LOOKUPS];
} Sizes;

/* layout_scalar.c */
Scalars *scalars_new(Exprs *e);
/* Call f(arg), then forget all scalars that it added, as ex_scratch forgets expressions. */
void scalars_scratch(Scalars *s, void (*f)(void *), void *arg);
/* Adds an extent and returns its index; diag_fatal if there are MAX_RANK already. */
int scalar_extent(Scalars *s, const char *name);
/* The same for an extent of a tensor of which a part is taken; after those of the shape. */
int scalar_given(Scalars *s, const char *name);
/* The same for a stride of a tensor, in elements; after all extents. */
int scalar_stride(Scalars *s, const char *name);
/* The same for the fill of the destination: the bits of an element of type t. */
int scalar_fill(Scalars *s, const char *name, const DType *t);
/* The first scalar that is a stride, an origin or the fill, or that is no extent. */
int scalar_first_stride(const Scalars *s);
/* The index of the stride, or of the given extent, of this name; -1: none. */
int scalar_find_stride(const Scalars *s, const char *name);
/* Sets the value that estimates have for a stride. */
void scalar_estimate(Scalars *s, int i, i64 v);
const Ex *scalar_ex(const Scalars *s, int i);
bool scalar_is(const Scalars *s, const Atom *a);
/* The scalar with the value x, 0 <= x <= max; the same scalar for the same x.  If x is a
 * sum of scalars already, x itself. */
const Ex *scalar_of(Scalars *s, const Ex *x, i64 max);
/* Like scalar_of, but makes a scalar for a sum too, and does not check the range: the
 * caller must use it only where 0 <= x <= max. */
const Ex *scalar_named(Scalars *s, const Ex *x, i64 max);
/* The same, and text has its name: its definition is long. */
const Ex *scalar_by_name(Scalars *s, const Ex *x, i64 max);
/* The index of the scalar with the value x, 0 <= x, which is made if there is none. */
int scalar_index(Scalars *s, const Ex *x);
/* a + b, where differences may end: C and the scalar 16*s1 - C are 16*s1. */
const Ex *scalar_plus(Scalars *s, const Ex *a, const Ex *b);
/* a * b; both are sums of scalars. */
const Ex *scalar_times(Scalars *s, const Ex *a, const Ex *b);
/* x divided by k, rounded up. */
const Ex *scalar_ceil(Scalars *s, const Ex *x, i64 k);
/* The definition of a scalar that is no extent, as text; a line for each. */
const char *scalar_text(const Scalars *s, int i);
void scalars_print(Buf *b, const Scalars *s);
/* Computes the values of all scalars, val[var], from the extents; false if one does not
 * fit 64 bits.  val has room for all variables of the Exprs. */
bool scalars_eval(const Scalars *s, const i64 *extent, i64 *val);
/* What is estimated is at most about this, so that its bytes fit 64 bits. */
#define ESTIMATE_MOST ((i64)1 << 54)
/* x at the example shape.  It is 1 only if x is 1 for every shape; a power of two divides
 * it only if it divides x for every shape. */
i64 scalar_nominal(const Scalars *s, const Ex *x);
/* The same where the variables have these values. */
i64 scalar_about(const Ex *x, const i64 *val);

/* layout_strides.c: the strides of all entries from their slots, and the size of the storage, which is
 * returned.  A stride is that declared, or the size of the entries after it, rounded up to its pitch.
 * diag_fatal if one does not fit 64 bits. */
/* All slots are numbers. */
const Ex *layout_strides(const Layout *l, const Ex *const *slots, const Ex **stride);
/* Sets stride, pitch and bound from slots, n and padded. */
const Ex *layout_open_strides(Scalars *s, const Layout *l, Sizes *r);

/* layout_end.c: the coordinate of the tensor of coordinate i of such a dim. */
const Ex *from_end_at(Scalars *s, const FromEnd *f, i64 i);
/* The most coordinates of such a dim that do not follow each other. */
enum { MOST_FROM_END = 24 };

/* layout_fill.c */
/* `ref` with the values that a run gives to strides, origins and the fill of s; name[] has the
 * names of the extents of s. */
const LayoutRef *layout_given(Arena *a, const LayoutRef *ref, const DType *t, const Scalars *s,
                              const char *const *name, const i64 *value);

/* layout_sizes.c */
/* The sizes of l; extent[d] is the scalar of the extent of dim d, or -1 if it is a number.
 * l is made with extent 1 for the dims with a scalar.  diag_fatal, with a suggestion, if
 * such dims occur in entries that are not digits. */
const Sizes *layout_sizes(Scalars *s, const Layout *l, const int *extent);
/* Whether none depends on an extent left to run time. */
bool sizes_are_known(const Sizes *z);
/* The address where to[] has the coordinates, by z->var. */
const Ex *sizes_address(const Sizes *z, const Ex *const *to);

#endif
