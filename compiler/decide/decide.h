/* decide.h: decide properties of a layout by its structure, or by enumeration if the
 * structure does not decide them.  Every "no" has a witness. */
#ifndef RAVEL_DECIDE_H
#define RAVEL_DECIDE_H

#include "../layout/layout.h"

typedef enum { NO, YES, UNKNOWN } Answer;

/* The first flaw that was found in a layout. */
typedef enum {
    FLAW_NONE,
    FLAW_COLLISION,       /* two coordinates share an address: x and y */
    FLAW_REPEATED,        /* a digit is stored twice */
    FLAW_SIGMA,           /* the swizzle does not permute the storage: address[] */
    FLAW_UNDECIDED        /* too large to enumerate, no structure found */
} Flaw;

/* A digit of a dim, or an xor of digits, with its coefficient in an entry. */
typedef struct {
    int entry;
    i64 coef, size;       /* size: number of values; 0: open, there is no upper cut */
    bool flipped;         /* the coefficient in the entry is -coef */
    int ndigits;          /* 1: the digit itself; else the xor of all with mask */
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
    /* The method, if none of these: enumeration of all elements. */
    bool by_structure;
    bool by_order;        /* order_injective */
    bool by_inverse;      /* the inverse that the layout gives is right */
    bool by_factors;      /* enumeration of the values of its factors: */
    i64 examined;         /* their number */
    i64 x[MAX_RANK], y[MAX_RANK], at;     /* the collision */
    /* FLAW_SIGMA: the swizzle maps these to `at`; one alone: `at` is out of storage */
    i64 address[2];
    int naddresses;
    i64 elements, padding, holes;         /* slots; the sum is the size */
    i64 unreached;        /* holes that are not left by a pitch */
    /* the inverse: the coordinate of each dim, an expression over the variable
     * inverse_var, the address of an element; NULL if there is no closed form */
    const Ex **inverse;
    int inverse_var;
    bool inverse_proven;  /* inverse(address(x)) simplifies to x */
    i64 *scratch;         /* memory for verdict_element */
    /* storage_decide */
    Answer onto;          /* every address of the storage belongs to an element */
    Gap *gap;             /* the first runs without elements, ascending */
    int ngaps;
    bool more_gaps;       /* there may be more after these */
} Verdict;

/* decide.c */
/* Decide l.  If the elements are one-to-one but elements and padding together are not,
 * remove the padding from l (padded = n). */
Verdict *decide(Layout *l);
/* Whether l can be a source.  The only flaw of a view is a swizzle that maps an element
 * out of the storage; v then has this flaw. */
bool decide_is_readable(Layout *l, Verdict *v);
/* The coordinates x of the element at address a; false if there is none.  v must have an
 * inverse.  Not thread-safe. */
bool verdict_element(const Layout *l, const Verdict *v, i64 a, i64 *x);

/* Sets the inverse of a layout that is one-to-one and has none, if it is given or found.  Coordinates that
 * it gives for an address without an element are in no relation to padding. */
void decide_inverse(Layout *l, Verdict *v);

/* decide_refuse.c */
/* decide; diag_fatal if l cannot hold elements. */
Verdict *decide_or_fail(Layout *l);
/* decide; diag_fatal if l cannot be a source.  In a view elements may share addresses. */
Verdict *decide_readable_or_fail(Layout *l);
/* decide_or_fail, with a message for commands that need the inverse. */
Verdict *decide_inverse_or_fail(Layout *l);
/* decide; diag_fatal if l cannot be a destination: it must hold elements, and if it
 * declares a fill, all other slots must be padding. */
Verdict *decide_destination_or_fail(Layout *l);

/* decide_element.c */
/* The same, by enumeration if v has no inverse: YES and x, NO, or UNKNOWN if there are
 * more than ENUM_MAX elements. */
Answer decide_element(const Layout *l, const Verdict *v, i64 a, i64 *x);

/* decide_given.c */
/* diag_fatal unless the inverse that the spec gives is that of each element; then l is one-to-one.
 * Nothing if it gives none. */
void decide_given_inverse(Layout *l, Verdict *v);
/* Sets the inverse to the one that the spec gives, which decide has proven; false if there is
 * none. */
bool decide_take_given(Layout *l, Verdict *v);

/* decide_small.c: sets the extents to at most the largest power of two of which the shape has few
 * elements; false: it is the shape of l. */
bool small_shape(const Layout *l, i64 *shape);
/* Sets x and y to two elements with one address if the verdict of l at a smaller shape has such. */
bool small_overlap(const Layout *l, const Verdict *small, i64 *x, i64 *y);

/* decide_skew.c: sets the inverse of a layout that is one-to-one, dim after dim; false: none is found. */
bool skew_inverse(Layout *l, Verdict *v);
/* decide_factor_inverse.c: the same, factor after factor. */
bool factor_inverse(Layout *l, Verdict *v);

/* decide_storage.c */
/* Set `onto` and `gap` of a verdict on l, flawed or not; at most max gaps. */
void storage_decide(Layout *l, Verdict *v, int max);

/* decide_equal.c */
typedef struct {
    Answer equal;         /* every element has the same address in both */
    bool by_structure;    /* else by enumeration */
    i64 x[MAX_RANK];      /* NO: an element, in the dims of a, at two addresses */
    i64 at_a, at_b;
    const char *why;      /* UNKNOWN: the reason */
} Equality;
/* Compare two layouts of one shape, in one Exprs; map as by plan_match. */
Equality decide_equal(Layout *a, Layout *b, const int *map);
/* Compare for every shape.  If NO, *shape is one at which x differs, in the dims of a. */
Equality decide_equal_every(Exprs *e, const LayoutRef *a, const LayoutRef *b,
                            const DType *t, int rank, const int *map, i64 *shape);

/* decide_strides.c */
/* The storage of a layout as an array that is a part of the storage of another one. */
typedef struct {
    Answer is_view;
    int axes;
    i64 extent[MAX_ENTRIES], stride[MAX_ENTRIES], origin;   /* strides in elements */
    const char *why;      /* unless it is YES: the reason */
} Strides;
/* Whether the elements of b, as an array of its storage, lie at fixed strides in the
 * storage of a.  Both are of one shape, in one Exprs; map as by plan_match. */
Strides decide_strides(Layout *a, Layout *b, const int *map);

/* decide_every.c: properties that hold for every shape. */
typedef struct {
    Answer injective;     /* UNKNOWN: it depends on the shape; `why` has the reason */
    const char *why;
    Layout *l;            /* at the shape of the witness, or one that fills all digits */
    Verdict *v;           /* of l; NO: with the flaw */
    i64 bound[MAX_RANK];  /* it holds for extents up to this; INF: for all */
    const i64 *fixed;     /* given extents, -1: any; NULL: none is given */
    Answer dense;         /* YES: for shapes whose extents are multiples of
                           * multiple[]; if bound is finite, for that extent only */
    i64 multiple[MAX_RANK];
    /* The inverse over the entries: the coordinate of each dim, an expression over the
     * values of the entries, entry_var[i] for entry i; NULL if there is no closed form.
     * It is proven by substitution. */
    const Ex **inverse;
    int entry_var[MAX_ENTRIES];
} EveryShape;
/* For all shapes with these extents; -1: any extent; NULL: any extents.  diag_fatal if the rank
 * is not that of the layout. */
EveryShape *decide_shapes(Exprs *e, const LayoutRef *ref, const DType *t, int rank,
                          const i64 *fixed);
/* The rank at which all ranks are decided: `...` stands for two dims, so that their order
 * matters. */
int decide_rank(const LayoutDef *d);

/* decide_back.c */
/* The coordinates at an address, by dims, over the values of the variables var[]. */
typedef struct {
    const Ex *const *x;
    int n;                /* the entries of the order, of which each is a digit of the address; */
    int var[MAX_ENTRIES]; /* 0: var[0] is the address */
} Back;
/* z: the sizes of l; v: its verdict at a shape of numbers, NULL: some are left to run time.  False if
 * there is no closed form. */
bool decide_back(Layout *l, const Sizes *z, const Verdict *v, Back *r);

/* decide_structure.c: whether the coordinates below padded have distinct addresses in
 * l->linear or, failing that, those below n; then padded = n.  Sets the parts, for
 * inverse_make. */
Answer structure_injective(Layout *l, Verdict *v, Part **part, int *nparts);

/* decide_why.c */
/* Why elements of l share an address, or NULL; for verdicts by enumeration. */
const char *why_collision(const Layout *l);
/* Why l has holes that its author may not intend, or NULL. */
const char *why_holes(const Layout *l);
/* Why the declared fill of l cannot be written, or NULL: there are slots to which no
 * coordinate maps, padding included.  The gaps of a pitch are not such slots. */
const char *why_unfilled(Layout *l, const Verdict *v);

/* decide_view.c: properties of a view that follow from those of its tensor, `of`. */
/* Whether the elements of a view have distinct addresses: YES if all of the tensor have,
 * NO with the flaw, UNKNOWN if only their addresses decide it. */
Answer view_decide(Layout *l, const Verdict *of, Verdict *v);
/* The inverse, from that of the tensor if it has one. */
void view_inverse(Layout *l, Verdict *v);
/* The same for decide_inverse, with places in lists, if that of the tensor was found. */
void view_find_inverse(Layout *l, const Verdict *of, Verdict *v);

/* decide_parts.c: split the entries into parts; false if an entry is not a sum of parts.
 * `shaped`: for the extents of l, which bound the open digits; else for every shape. */
bool parts_of(const Layout *l, bool shaped, Part **parts, int *n);
/* The same for every shape with these extents, -1: any, of the entries that have a dim of which
 * the extent is not given. */
bool parts_of_open(const Layout *l, const i64 *fixed, Part **parts, int *n);
/* The same of all entries, simplified for coordinates below these extents; NULL: those of l. */
bool parts_of_fixed(const Layout *l, const i64 *fixed, Part **parts, int *n);
/* Whether the digits of a dim follow each other from 1 on, each by itself: they determine the
 * coordinate at every extent up to the last upper end. */
bool parts_follow(const Part *parts, int n, int dim);
/* Whether each open digit is an entry by itself, such as C or C//16.  Its slots are then
 * the extent of the dim divided by 16, rounded up, and no other entry depends on the
 * shape. */
bool parts_open_alone(const Layout *l, const Part *parts, int n);
/* Find two elements at one address, because a step of one term equals some steps of
 * smaller terms, as with overlapping strides of a view; false if none are found. */
bool parts_overlap(const Layout *l, i64 *x, i64 *y);
/* Calls visit for each digit of a dim; hi: 0 if it is open. */
typedef void PartDigit(void *arg, const Part *p, i64 lo, i64 hi);
void parts_each_digit(const Part *parts, int n, int dim, PartDigit *visit, void *arg);
/* The boundaries of the digits of a dim, ascending from 1; returns their number, or -1
 * if one does not divide the next.  Digits inside an xor are cut at every bit. */
int parts_cuts(Arena *a, const Part *parts, int n, int dim, i64 **cuts);

/* decide_sigma.c */
/* Whether the swizzle maps the addresses of all coordinates, padding included, to
 * different addresses in the storage: because it permutes the storage, or by
 * enumeration.  If it maps padding out of the storage, only elements are considered, and
 * padded = n.  On YES *inverse is the swizzle's inverse over sigma_var if it is linear
 * over GF(2), else NULL.  On NO v has why, address and at. */
Answer sigma_decide(Layout *l, const Ex **inverse, Verdict *v);
/* Whether the swizzle maps the addresses of all elements into the storage; they may share
 * addresses. */
Answer sigma_stays(Layout *l, Verdict *v);
/* decide_pad.c: ", as by pad = {K = 64}": the powers of two, of one dim or of two, with the
 * smallest storage of whole blocks, of the first 4096 that are tried; "" if there are none. */
const char *sigma_pad(const Layout *l, i64 block);

/* decide_inverse.c */
void inverse_make(Layout *l, Verdict *v, const Part *parts, int n,
                  const Ex *sigma_inverse);
/* The coordinates as expressions over the values of the entries, which are new variables
 * entry_var[], for every shape; NULL if there is no closed form or the proof by
 * substitution fails. */
const Ex **inverse_of_entries(Layout *l, const Part *parts, int n, int *entry_var);

/* decide_factor.c */
/* Whether all coordinates below the limits have distinct addresses in l->linear, from its
 * independent factors.  On NO v has x and y.  v->examined is the number of values that were
 * examined. */
Answer factor_injective(Layout *l, const i64 *limit, Verdict *v);

/* decide_case.c */
/* A variable with the values 0 to size - 1. */
typedef struct {
    int var;
    i64 size;
} DecideValue;
/* Whether x has distinct values for all values of n variables, which may be multiplied by
 * few others: YES or UNKNOWN.  x has no other variables.  Adds how many values of those few
 * were examined. */
Answer case_injective(Exprs *e, const Ex *x, const DecideValue *value, int n,
                      i64 *examined);

/* decide_order.c */
/* YES: each dim follows from the entries and from dims that follow already, so the layout is
 * one-to-one, with its padding.  On NO v has x and y. */
Answer order_injective(Layout *l, Verdict *v);

/* decide_enum.c */
/* The largest number of points that enumeration examines. */
enum { ENUM_MAX = 1 << 22 };
/* Whether all elements (`padded`: and padding) have distinct addresses in l->linear. */
Answer enum_injective(const Layout *l, bool padded, Verdict *v);
/* Whether their addresses after the swizzle are in the storage and, if `distinct`,
 * distinct. On NO v has the addresses before and after the swizzle. */
Answer enum_swizzled(const Layout *l, bool padded, bool distinct, Verdict *v);
/* Whether the points and the storage are small enough to enumerate. */
bool enum_small(const Layout *l, bool padded);
/* Whether the elements have distinct addresses, in the storage or out of it. */
Answer enum_distinct(const Layout *l);

#endif
