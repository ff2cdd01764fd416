/* decide.h: what is true of a layout, decided by its structure, and by
 * enumeration only where structure does not say.  Every "no" has a witness. */
#ifndef RAVEL_DECIDE_H
#define RAVEL_DECIDE_H

#include "layout.h"

typedef enum { NO, YES, UNKNOWN } Answer;

/* What is wrong with a layout, first found first. */
typedef enum {
    FLAW_NONE,
    FLAW_COLLISION,       /* two coordinates share an address: x and y */
    FLAW_REPEATED,        /* a digit is stored twice */
    FLAW_SIGMA,           /* the swizzle is no permutation of the storage */
    FLAW_UNDECIDED        /* too large to enumerate, no structure found */
} Flaw;

/* A digit of a dim, or an xor of such, with its place in an entry. */
typedef struct {
    int entry;
    i64 coef, size;       /* size 0: open */
    int ndigits;          /* 1: the digit itself; else their xor with mask */
    struct { int dim; i64 lo, hi; } digit[8];
    i64 mask;
} Part;

typedef struct {
    Answer injective;
    Flaw flaw;
    const char *why;      /* a sentence about the flaw */
    Loc loc;
    bool by_structure;    /* else by enumeration */
    i64 x[MAX_RANK], y[MAX_RANK], at;     /* the collision */
    i64 elements, padding, holes;         /* of storage; they sum up to size */
    bool has_gap;
    i64 gap;              /* an address that no element reaches */
    const char *gap_kind; /* "padding" or "hole" */
    /* the inverse: the coordinate of each dim over the variable inverse_var, an
     * element address; NULL when there is no closed form */
    const Ex **inverse;
    int inverse_var;
    bool inverse_proven;  /* inverse(address(x)) simplifies to x */
    i64 *scratch;         /* of verdict_element */
} Verdict;

/* decide.c */
/* Decides and, where padded coordinates would not be injective though the real
 * ones are, takes the padding out of l (padded = n). */
Verdict *decide(Layout *l);
/* The same, as a diag_fatal with its place when the layout cannot be used. */
Verdict *decide_or_fail(Layout *l);
/* The element at address a, by the inverse, which there must be; false when none is
 * there.  Not thread-safe. */
bool verdict_element(const Layout *l, const Verdict *v, i64 a, i64 *x);
/* Extents at which every digit of `ref` is full, for judging all shapes at once, and
 * the extents up to which its digits reach (INF: any); returns the rank, or -1 when
 * the layout has no such structure. */
int decide_full_shape(Exprs *e, const LayoutRef *ref, const DType *t, i64 *shape,
                      i64 *bound);

/* decide_parts.c: entries taken apart; false when they hold anything else. */
bool parts_of(const Layout *l, Part **parts, int *n);
/* The cuts of a dim, from 1 upwards, each dividing the next; -1 when they do not.
 * Digits inside an xor are cut at every bit. */
int parts_cuts(Arena *a, const Part *parts, int n, int dim, i64 **cuts);

/* decide_sigma.c */
/* Whether the swizzle permutes [0, size); on YES *inverse is its inverse over
 * sigma_var when it is linear over GF(2), else NULL.  On NO `why` says how. */
Answer sigma_decide(Layout *l, const Ex **inverse, const char **why);

/* decide_inverse.c */
void inverse_make(Layout *l, Verdict *v, const Part *parts, int n,
                  const Ex *sigma_inverse);

/* decide_enum.c */
/* Points at most that enumeration looks at. */
enum { ENUM_MAX = 1 << 22 };
/* All coordinates below extent[] have distinct addresses in l->linear. */
Answer enum_injective(const Layout *l, const i64 *extent, Verdict *v);
/* The first address that no element has, where there are few enough to look at. */
void enum_gap(const Layout *l, Verdict *v);

#endif
