/* layout_sizes.h: what a layout takes of storage, as numbers that may depend on extents
 * which are known only when the code runs.
 *
 * All such numbers are sums of constants times scalars: named values, each an extent, an
 * expression of scalars before it or a product of some.  So what is equal for every shape
 * is one pointer, as expressions are, and emitted code computes each scalar once. */
#ifndef RAVEL_LAYOUT_SIZES_H
#define RAVEL_LAYOUT_SIZES_H

#include "layout.h"

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
