/* Injective, dense, padding, holes: by structure first.
 *
 * The entries of an order and their strides are a mixed radix by construction.  So the
 * address determines the entries, and each entry determines its parts (parts_of).  The
 * open question is whether the parts determine the coordinates.  Each dim is cut into
 * digits fine enough for all parts.  A digit outside any xor must be a part exactly
 * once.  The bits inside xors are columns of a matrix over GF(2), whose rank decides. */
#include <string.h>

#include "decide.h"
#include "decide_gf2.h"

enum { MAX_COLUMNS = 64, MAX_ROWS = 512 };

/* One digit of the refined cut of a dim. */
typedef struct {
    int dim;
    i64 lo, hi;           /* hi 0: open */
    int plain;            /* parts that store it as it is */
    int first, second;    /* the entries of the first two */
    bool in_xor;
    int column;           /* of its bit, when in_xor */
} Digitlet;

typedef struct {
    Layout *l;
    Arena *arena;
    Verdict *v;
    Part *part;
    int nparts;
    Digitlet *digit;
    int ndigits;
    i64 limit[MAX_RANK];  /* coordinates below this are asked about */
} Decider;

static const char *
digit_text(Decider *d, const Digitlet *t)
{
    Buf b = buf_new(d->arena);
    buf_add(&b, d->l->dim[t->dim].name);
    if (t->lo > 1)
        buf_printf(&b, "//%lld", (long long)t->lo);
    if (t->hi)
        buf_printf(&b, "%%%lld", (long long)(t->hi / t->lo));
    return b.s;
}

static bool
covers(i64 lo, i64 hi, const Digitlet *t)
{
    return lo <= t->lo && (!hi || (t->hi && t->hi <= hi));
}

static void
count_digit(Decider *d, Digitlet *t)
{
    for (int i = 0; i < d->nparts; i++)
        for (int j = 0; j < d->part[i].ndigits; j++) {
            const Part *p = &d->part[i];
            if (p->digit[j].dim != t->dim ||
                !covers(p->digit[j].lo, p->digit[j].hi, t))
                continue;
            if (p->ndigits > 1 || p->mask) {
                t->in_xor = true;
                continue;
            }
            *(t->plain ? &t->second : &t->first) = p->entry;
            t->plain++;
        }
}

/* The digits of all dims; false when the cuts of a dim do not nest. */
static bool
refine(Decider *d)
{
    i64 *cut[MAX_RANK];
    int n[MAX_RANK], total = 0;
    for (int dim = 0; dim < d->l->rank; dim++) {
        n[dim] = parts_cuts(d->arena, d->part, d->nparts, dim, &cut[dim]);
        if (n[dim] < 0)
            return false;
        total += n[dim];
    }
    d->digit = arena_array(d->arena, Digitlet, total);
    for (int dim = 0; dim < d->l->rank; dim++)
        for (int i = 0; i < n[dim]; i++) {
            Digitlet *t = &d->digit[d->ndigits++];
            i64 hi = i + 1 < n[dim] ? cut[dim][i + 1] : 0;
            *t = (Digitlet){.dim = dim, .lo = cut[dim][i], .hi = hi};
            count_digit(d, t);
        }
    return true;
}

/* A digit matters only if some coordinate below the limit sets it. */
static bool
matters(const Decider *d, const Digitlet *t)
{
    return t->lo < d->limit[t->dim];
}

static Answer
collide(Decider *d, const char *why)
{
    Verdict *v = d->v;
    i64 a = 0, b = 0;
    bool fits = layout_address(d->l, v->x, &a) && layout_address(d->l, v->y, &b);
    if (!fits || a != b)
        return UNKNOWN;
    v->flaw = FLAW_COLLISION;
    v->why = why;
    v->at = a;
    return NO;
}

static Answer
missing_digit(Decider *d, const Digitlet *t)
{
    memset(d->v->x, 0, sizeof d->v->x);
    memset(d->v->y, 0, sizeof d->v->y);
    d->v->y[t->dim] = t->lo;
    return collide(d, arena_printf(d->arena, "the digit %s is stored nowhere",
                                   digit_text(d, t)));
}

static Answer
check_plain(Decider *d)
{
    for (int i = 0; i < d->ndigits; i++) {
        Digitlet *t = &d->digit[i];
        if (matters(d, t) && !t->in_xor && t->plain == 0)
            return missing_digit(d, t);
        if (matters(d, t) && t->plain > 1 && !d->v->why) {
            const Entry *p = &d->l->entry[t->first], *q = &d->l->entry[t->second];
            d->v->flaw = FLAW_REPEATED;
            d->v->loc = q->x->loc;
            d->v->why = arena_printf(d->arena, "the digit %s is stored twice: in '%s' "
                                     "and in '%s'", digit_text(d, t),
                                     ast_text(d->arena, p->x),
                                     ast_text(d->arena, q->x));
        }
    }
    return YES;
}

static Digitlet *
find_digit(Decider *d, int dim, i64 lo)
{
    for (int i = 0; i < d->ndigits; i++)
        if (d->digit[i].dim == dim && d->digit[i].lo == lo)
            return &d->digit[i];
    return NULL;
}

/* One column for each bit in an xor that matters; false when there are too many
 * or such a digit is not one bit. */
static bool
number_columns(Decider *d, int *n)
{
    *n = 0;
    for (int i = 0; i < d->ndigits; i++) {
        Digitlet *t = &d->digit[i];
        t->column = -1;
        if (!t->in_xor || !matters(d, t))
            continue;
        if (t->hi != 2 * t->lo || *n == MAX_COLUMNS)
            return false;
        t->column = (*n)++;
    }
    return true;
}

/* The rows: every bit of every xor part, and the plain bits among the columns. */
static int
build_rows(Decider *d, uint64_t *row)
{
    int n = 0;
    for (int i = 0; i < d->nparts; i++) {
        const Part *p = &d->part[i];
        bool plain = p->ndigits == 1 && !p->mask;
        for (i64 bit = 1; !plain && bit < p->size && n < MAX_ROWS; bit *= 2) {
            row[n] = 0;
            for (int j = 0; j < p->ndigits; j++) {
                const Digitlet *t = find_digit(d, p->digit[j].dim,
                                               p->digit[j].lo * bit);
                bool inside = p->digit[j].lo * bit < p->digit[j].hi;
                if (t && inside && t->column >= 0)
                    row[n] ^= (uint64_t)1 << t->column;
            }
            n++;
        }
    }
    for (int i = 0; i < d->ndigits && n < MAX_ROWS; i++)
        if (d->digit[i].column >= 0 && d->digit[i].plain)
            row[n++] = (uint64_t)1 << d->digit[i].column;
    return n;
}

/* A coordinate whose bits make every row zero: with the origin, a collision. */
static Answer
kernel_collision(Decider *d, const uint64_t *row, const int *pivot, int columns)
{
    int loose = 0;
    while (pivot[loose] >= 0)
        loose++;
    uint64_t kernel = (uint64_t)1 << loose;
    for (int c = 0; c < columns; c++)
        if (pivot[c] >= 0 && row[pivot[c]] >> loose & 1)
            kernel |= (uint64_t)1 << c;
    memset(d->v->x, 0, sizeof d->v->x);
    memset(d->v->y, 0, sizeof d->v->y);
    for (int i = 0; i < d->ndigits; i++)
        if (d->digit[i].column >= 0 && kernel >> d->digit[i].column & 1)
            d->v->y[d->digit[i].dim] += d->digit[i].lo;
    for (int i = 0; i < d->l->rank; i++)
        if (d->v->y[i] >= d->limit[i])
            return UNKNOWN;
    return collide(d, "the xors do not tell these coordinates apart");
}

static Answer
check_xors(Decider *d)
{
    uint64_t row[MAX_ROWS];
    int pivot[MAX_COLUMNS], columns;
    if (!number_columns(d, &columns))
        return UNKNOWN;
    int rows = build_rows(d, row);
    if (rows >= MAX_ROWS)
        return UNKNOWN;
    int rank = gf2_eliminate(row, rows, columns, pivot, NULL, NULL);
    if (rank < columns)
        return kernel_collision(d, row, pivot, columns);
    return YES;
}

static Answer
by_structure(Decider *d)
{
    d->v->why = NULL;
    d->v->flaw = FLAW_NONE;
    d->ndigits = 0;
    if (!parts_of(d->l, true, &d->part, &d->nparts) || !refine(d))
        return UNKNOWN;
    Answer plain = check_plain(d);
    return plain == YES ? check_xors(d) : plain;
}

/* The answer for coordinates below padded, or, failing that, below n. */
static Answer
structure_or_shrink(Decider *d)
{
    Layout *l = d->l;
    for (int i = 0; i < l->rank; i++)
        d->limit[i] = l->dim[i].padded;
    Answer padded = by_structure(d);
    if (padded == YES)
        return YES;
    for (int i = 0; i < l->rank; i++)
        d->limit[i] = l->dim[i].n;
    Answer real = by_structure(d);
    for (int i = 0; real == YES && i < l->rank; i++)
        l->dim[i].padded = l->dim[i].n;
    return real;
}

static Answer
enumerate(Decider *d)
{
    Layout *l = d->l;
    bool same = true;
    d->v->by_structure = false;
    for (int i = 0; i < l->rank; i++)
        same &= l->dim[i].padded == l->dim[i].n;
    Answer all = enum_injective(l, true, d->v);
    if (all == YES || same)
        return all;
    Answer real = enum_injective(l, false, d->v);
    for (int i = 0; real == YES && i < l->rank; i++)
        l->dim[i].padded = l->dim[i].n;
    return real;
}

/* Decide by enumeration; if that is too much work, search two elements with
 * parts_overlap. */
static void
decide_by_search(Decider *d)
{
    Verdict *v = d->v;
    v->why = NULL;
    v->injective = enumerate(d);
    if (v->injective == UNKNOWN && parts_overlap(d->l, v->x, v->y))
        v->injective = NO;
    if (v->injective == NO) {
        v->flaw = FLAW_COLLISION;
        v->why = why_collision(d->l);
        if (!v->why)
            v->why = "two coordinates share an address";
        layout_address(d->l, v->x, &v->at);
    } else if (v->injective == UNKNOWN) {
        v->flaw = FLAW_UNDECIDED;
        if (!v->why)
            v->why = "no structure was found that decides it, and it is too large to "
                     "look at every element";
    }
}

static void
decide_injective(Decider *d)
{
    d->v->by_structure = true;
    d->v->injective = d->l->view ? view_decide(d->l, d->v) : structure_or_shrink(d);
    if (d->v->injective == UNKNOWN)
        decide_by_search(d);
}

static const char too_large[] = "the swizzle is not linear over GF(2), or the storage is not "
    "whole blocks of it, and it is too large to look at every address";

static void
decide_sigma(Decider *d, const Ex **inverse)
{
    const char *before = d->v->why;
    Answer a = sigma_decide(d->l, inverse, d->v);
    if (a == YES)
        return;
    d->v->loc = d->l->ref->def->swizzle->loc;
    d->v->flaw = a == NO ? FLAW_SIGMA : FLAW_UNDECIDED;
    d->v->injective = enum_distinct(d->l);     /* its elements may be all the same */
    if (a == UNKNOWN && d->v->why == before)
        d->v->why = too_large;
}

bool
verdict_element(const Layout *l, const Verdict *v, i64 a, i64 *x)
{
    i64 back;
    i64 *val = v->scratch;
    memset(x, 0, MAX_RANK * sizeof *x);
    val[v->inverse_var] = a;
    for (int d = 0; d < l->rank; d++)
        if (!ex_eval(v->inverse[d], val, &x[d]) || x[d] < 0 || x[d] >= l->dim[d].n)
            return false;
    return layout_address(l, x, &back) && back == a;
}

static void
count_storage(Decider *d)
{
    i64 padded = 1, slots = 1;
    d->v->elements = 1;
    for (int i = 0; i < d->l->rank; i++) {
        d->v->elements *= d->l->dim[i].n;
        padded *= d->l->dim[i].padded;
    }
    for (int i = 0; i < d->l->nentry; i++)
        slots *= d->l->entry[i].extent;
    d->v->padding = padded - d->v->elements;
    d->v->holes = d->l->size - padded;
    d->v->unreached = slots - padded;
}

Verdict *
decide(Layout *l)
{
    Decider d = {.l = l, .arena = ex_arena(l->e)};
    const Ex *sigma_inverse = NULL;
    d.v = arena_new(d.arena, Verdict);
    d.v->loc = l->ref->def->loc;
    work_on(d.arena, "to decide about layout", l->ref->def->name);
    decide_injective(&d);
    if (d.v->injective == YES && l->sigma && !l->view)
        decide_sigma(&d, &sigma_inverse);
    if (d.v->injective != YES)
        return d.v;
    count_storage(&d);
    if (l->view)
        view_inverse(l, d.v);
    else if (d.v->by_structure && d.v->flaw == FLAW_NONE && (!l->sigma || sigma_inverse))
        inverse_make(l, d.v, d.part, d.nparts, sigma_inverse);
    d.v->scratch = arena_array(d.arena, i64, ex_nvars(l->e));
    return d.v;
}

static void
coordinates(Buf *b, const Layout *l, const i64 *x)
{
    buf_add(b, "(");
    for (int i = 0; i < l->rank; i++)
        buf_printf(b, "%s%lld", i ? "," : "", (long long)x[i]);
    buf_add(b, ")");
}

_Noreturn static void
refuse(const Layout *l, const Verdict *v, const char *lack)
{
    Arena *a = ex_arena(l->e);
    Buf b = buf_new(a);
    bool view = l->ref->def->view && (v->flaw != FLAW_SIGMA || v->naddresses == 2);
    buf_printf(&b, "layout '%s'%s: %s%s", l->ref->def->name,
               view ? lack : "",
               v->flaw == FLAW_UNDECIDED ? "cannot decide whether it is one-to-one: "
               : v->flaw == FLAW_COLLISION ? "it is not one-to-one: " : "", v->why);
    if (v->flaw == FLAW_COLLISION) {
        buf_add(&b, "; ");
        coordinates(&b, l, v->x);
        buf_add(&b, " and ");
        coordinates(&b, l, v->y);
        buf_printf(&b, " are both at %lld", (long long)v->at);
        if (!view)
            buf_add(&b, " (a layout that is only read from may say view = true)");
    }
    diag_fatal(a->diag, DIAG_LAYOUT, v->loc, "%s", b.s);
}

/* The flaw of a view, if it has one. */
static const char unwritten[] = " is a view that cannot be written to";
static const char no_inverse[] = " is a view that has no inverse";

Verdict *
decide_inverse_or_fail(Layout *l)
{
    Verdict *v = decide(l);
    if (v->flaw)
        refuse(l, v, no_inverse);
    return v;
}

Verdict *
decide_or_fail(Layout *l)
{
    Verdict *v = decide(l);
    if (v->flaw)
        refuse(l, v, unwritten);
    return v;
}

Verdict *
decide_destination_or_fail(Layout *l)
{
    Verdict *v = decide_or_fail(l);
    const char *why = why_unfilled(l, v);
    if (why)
        diag_fatal(ex_arena(l->e)->diag, DIAG_LAYOUT, v->loc, "layout '%s' cannot be "
                   "written to: %s", l->ref->def->name, why);
    return v;
}

bool
decide_is_readable(Layout *l, Verdict *v)
{
    Verdict sigma = {0};
    if (!v->flaw || !l->ref->def->view || !l->sigma)
        return !v->flaw || l->ref->def->view;
    Answer stays = sigma_stays(l, &sigma);
    if (stays == YES)
        return true;
    v->flaw = stays == NO ? FLAW_SIGMA : FLAW_UNDECIDED;
    v->loc = l->ref->def->swizzle->loc;
    v->why = stays == NO ? sigma.why : too_large;
    v->naddresses = sigma.naddresses;
    v->address[0] = sigma.address[0];
    v->at = sigma.at;
    return false;
}

Verdict *
decide_readable_or_fail(Layout *l)
{
    Verdict *v = decide(l);
    if (!decide_is_readable(l, v))
        refuse(l, v, unwritten);
    return v;
}
