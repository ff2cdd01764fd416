/* layout_runtime.h: layouts with extents that are known only when the code runs.
 *
 * All numbers that depend on such extents are sums of constants times scalars: named
 * values, each an extent, an expression of scalars before it or a product of some.  So
 * what is equal for every shape is one pointer, as expressions are, and emitted code
 * computes each scalar once. */
#ifndef RAVEL_LAYOUT_RUNTIME_H
#define RAVEL_LAYOUT_RUNTIME_H

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
    i64 nominal;          /* at a made-up shape: for estimates only */
} Scalar;

typedef struct {
    Exprs *e;
    int n, cap, nextents; /* the extents are the first */
    Scalar *scalar;
    i64 most[MAX_RANK];   /* of each extent: the largest that is right */
} Scalars;

/* A layout, the numbers of which that depend on the shape are here.  Its own are those
 * of a shape with 1 for the extents left to run time. */
typedef struct {
    const Layout *l;
    int extent[MAX_RANK];          /* the scalar that a dim's extent is, -1: constant */
    const Ex *n[MAX_RANK], *padded[MAX_RANK];
    i64 unit[MAX_RANK];            /* padded is at most n rounded up to a multiple of it;
                                    * 0: of nothing that is known */
    const Ex *slots[MAX_ENTRIES], *stride[MAX_ENTRIES];
    const Ex *size;
    /* Overflow is looked for in bits * slots[...] * ..., rounded up to pitch[i] elements
     * where that is not 0, from the last entry to the first. */
    i64 pitch[MAX_ENTRIES];
} RuntimeLayout;

/* layout_scalar.c */
Scalars *scalars_new(Exprs *e);
/* A new extent; diag_fatal when there are MAX_RANK. */
int scalar_extent(Scalars *s, const char *name);
const Ex *scalar_ex(const Scalars *s, int i);
/* A scalar with that value, 0 <= value <= max, the same one for the same x; x itself
 * where it is a sum of scalars already. */
const Ex *scalar_of(Scalars *s, const Ex *x, i64 max);
/* The same, also of a sum; it is taken to be in the range, whatever is known of x. */
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

/* layout_runtime.c */
/* l made with 1 for the dims with extent[d] >= 0.  diag_fatal, with what would do, for
 * a layout that is not a matter of digits. */
RuntimeLayout *layout_runtime(Scalars *s, const Layout *l, const int *extent);

#endif
