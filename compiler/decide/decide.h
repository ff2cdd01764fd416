/* decide.h: what is true of a layout, decided by its structure, and by
 * enumeration only where structure does not say.  Every "no" has a witness. */
#ifndef RAVEL_DECIDE_H
#define RAVEL_DECIDE_H

#include "../layout/layout.h"

typedef enum { NO, YES, UNKNOWN } Answer;

/* What is wrong with a layout, first found first. */
typedef enum {
    FLAW_NONE,
    FLAW_COLLISION,       /* two coordinates share an address: x and y */
    FLAW_REPEATED,        /* a digit is stored twice */
    FLAW_SIGMA,           /* the swizzle fits no storage of this size: address[] */
    FLAW_UNDECIDED        /* too large to enumerate, no structure found */
} Flaw;

/* A digit of a dim, or an xor of such, with its place in an entry. */
typedef struct {
    int entry;
    i64 coef, size;       /* size 0: open */
    bool flipped;         /* coef is that of the entry's negative */
    int ndigits;          /* 1: the digit itself; else their xor with mask */
    struct { int dim; i64 lo, hi; } digit[8];
    i64 mask;
} Part;

/* A run of addresses without an element, [from, to). */
typedef struct {
    i64 from, to;
    bool padding;         /* else a hole */
} Gap;

typedef struct {
    Answer injective;
    Flaw flaw;
    const char *why;      /* a sentence about the flaw */
    Loc loc;
    bool by_structure;    /* else by enumeration */
    i64 x[MAX_RANK], y[MAX_RANK], at;     /* the collision */
    /* FLAW_SIGMA: both go to `at`; with naddresses 1 it lies outside the storage */
    i64 address[2];
    int naddresses;
    i64 elements, padding, holes;         /* of storage; they sum up to size */
    i64 unreached;        /* of the holes: those that no pitch left */
    /* the inverse: the coordinate of each dim over the variable inverse_var, an
     * element address; NULL when there is no closed form */
    const Ex **inverse;
    int inverse_var;
    bool inverse_proven;  /* inverse(address(x)) simplifies to x */
    i64 *scratch;         /* of verdict_element */
    /* storage_decide */
    Answer onto;          /* every address of storage is an element's */
    Gap *gap;             /* the first runs of those that are not, ascending */
    int ngaps;
    bool more_gaps;       /* there may be others behind */
} Verdict;

/* decide.c */
/* Decides and, where padded coordinates would not be injective though the real
 * ones are, takes the padding out of l (padded = n). */
Verdict *decide(Layout *l);
/* The same, as a diag_fatal with its place when the layout cannot be used: to hold
 * elements, or only to be read from, which a view can though its elements share
 * addresses. */
Verdict *decide_or_fail(Layout *l);
Verdict *decide_readable_or_fail(Layout *l);
/* To be read back by an inverse: the same as decide_or_fail, in its own words. */
Verdict *decide_inverse_or_fail(Layout *l);
/* Whether it can be read from at least.  A view is flawed by nothing but a swizzle that
 * takes an element out of storage: that v says then. */
bool decide_is_readable(Layout *l, Verdict *v);
/* To be written to: holds elements, and a fill that it declares goes everywhere else. */
Verdict *decide_destination_or_fail(Layout *l);
/* The element at address a, by the inverse, which there must be; false when none is
 * there.  Not thread-safe. */
bool verdict_element(const Layout *l, const Verdict *v, i64 a, i64 *x);

/* decide_storage.c */
/* Fills onto and gap of a verdict on l, flawed or not: at most max runs. */
void storage_decide(Layout *l, Verdict *v, int max);

/* decide_equal.c */
typedef struct {
    Answer equal;         /* every element has the same address in both */
    bool by_structure;    /* else by looking at every element */
    i64 x[MAX_RANK];      /* NO: an element, in a's dims, at different addresses */
    i64 at_a, at_b;
    const char *why;      /* UNKNOWN: a sentence */
} Equality;
/* Two layouts for one shape in one Exprs; map as of plan_match. */
Equality decide_equal(Layout *a, Layout *b, const int *map);
/* The same for every shape; on NO *shape is one, in a's dims, where x differs. */
Equality decide_equal_every(Exprs *e, const LayoutRef *a, const LayoutRef *b,
                            const DType *t, int rank, const int *map, i64 *shape);

/* decide_every.c: what holds for every shape. */
typedef struct {
    Answer injective;     /* UNKNOWN: only a shape can tell, and `why` says so */
    const char *why;
    Layout *l;            /* at the shape of the witness, or where every digit is full */
    Verdict *v;           /* of l: the flaw */
    i64 bound[MAX_RANK];  /* the extents up to which it holds; INF: all */
    const i64 *fixed;     /* extents that are given, -1: any; NULL: none is */
    Answer dense;         /* YES: for the shapes whose extents multiple[] divides;
                             where bound is finite, for that extent only */
    i64 multiple[MAX_RANK];
    /* The inverse over the entries: the coordinate of each dim from the values of
     * the entries, entry_var[i] that of entry i; NULL when there is no closed form.
     * Proven by substitution. */
    const Ex **inverse;
    int entry_var[MAX_ENTRIES];
} EveryShape;
EveryShape *decide_every_shape(Exprs *e, const LayoutRef *ref, const DType *t);
/* The same for all shapes with the extents given; -1 where there is any.  Of
 * another rank than the layout's: an error. */
EveryShape *decide_shapes(Exprs *e, const LayoutRef *ref, const DType *t, int rank,
                          const i64 *fixed);
/* The rank that stands for all: of the dims that `...` is, two, so that their order
 * shows. */
int decide_rank(const LayoutDef *d);

/* decide_why.c */
/* Why elements of l meet, or NULL; for verdicts by enumeration. */
const char *why_collision(const Layout *l);
/* What about l leaves holes that its user may not have meant, or NULL. */
const char *why_holes(const Layout *l);
/* Why the fill that l declares cannot be kept, or NULL: slots that no coordinate, padding
 * included, goes to.  What a pitch leaves is meant to stay as it is. */
const char *why_unfilled(Layout *l, const Verdict *v);

/* decide_parts.c: entries taken apart; false when they hold anything else.  `shaped`:
 * for l's own extents, which end the open digits; else for every shape. */
bool parts_of(const Layout *l, bool shaped, Part **parts, int *n);
/* Every open digit is an entry of its own, C or C//16: its extent is the dim's over it,
 * rounded up, and no other entry's depends on the shape. */
bool parts_open_alone(const Layout *l, const Part *parts, int n);
/* Two elements that meet because one step of a term is some steps of smaller ones, as
 * where the strides of a view overlap; false when none are found. */
bool parts_overlap(const Layout *l, i64 *x, i64 *y);
/* The cuts of a dim, from 1 upwards, each dividing the next; -1 when they do not.
 * Digits inside an xor are cut at every bit. */
int parts_cuts(Arena *a, const Part *parts, int n, int dim, i64 **cuts);

/* decide_sigma.c */
/* Whether the swizzle takes the addresses of the coordinates, padding too, to different
 * ones in storage: where it permutes the storage, or by looking at each; only those of
 * the elements where padding would leave it, and then padded = n.  On YES *inverse is the
 * swizzle's inverse over sigma_var when it is linear over GF(2), else NULL.  On NO v has
 * why, address, at. */
Answer sigma_decide(Layout *l, const Ex **inverse, Verdict *v);
/* Whether it takes those of the elements to storage, all the same whether different. */
Answer sigma_stays(Layout *l, Verdict *v);

/* decide_inverse.c */
void inverse_make(Layout *l, Verdict *v, const Part *parts, int n,
                  const Ex *sigma_inverse);
/* The coordinates over the values of the entries, new variables entry_var[], for every
 * shape; NULL when there is no closed form, or the proof by substitution fails. */
const Ex **inverse_of_entries(Layout *l, const Part *parts, int n, int *entry_var);

/* decide_enum.c */
/* Points at most that enumeration looks at. */
enum { ENUM_MAX = 1 << 22 };
/* All coordinates, or padded ones too, have distinct addresses in l->linear. */
Answer enum_injective(const Layout *l, bool padded, Verdict *v);
/* The same after the swizzle, where `distinct`, and all in storage.  On NO v has the
 * addresses before it, and where they go. */
Answer enum_swizzled(const Layout *l, bool padded, bool distinct, Verdict *v);
/* Few enough points, and storage, to look at. */
bool enum_small(const Layout *l, bool padded);
/* The elements have distinct addresses, in storage or out of it. */
Answer enum_distinct(const Layout *l);

#endif
