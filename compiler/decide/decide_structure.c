/* Injective by structure.
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
    bool written = parts_of(d->l, true, &d->part, &d->nparts);
    bool fixed = false;
    /* Of joined dims the other digits in a sum have known extents. */
    if (!written && d->l->ref->written)
        fixed = parts_of_fixed(d->l, NULL, &d->part, &d->nparts);
    if (!(written || fixed) || !refine(d))
        return UNKNOWN;
    Answer plain = check_plain(d);
    if (fixed && d->v->flaw == FLAW_REPEATED) {     /* a digit that only these extents make one */
        d->v->flaw = FLAW_NONE;
        d->v->why = NULL;
        return UNKNOWN;
    }
    return plain == YES ? check_xors(d) : plain;
}

Answer
structure_injective(Layout *l, Verdict *v, Part **part, int *nparts)
{
    Decider d = {.l = l, .arena = ex_arena(l->e), .v = v};
    for (int i = 0; i < l->rank; i++)
        d.limit[i] = l->dim[i].padded;
    Answer answer = by_structure(&d);
    if (answer != YES) {
        for (int i = 0; i < l->rank; i++)
            d.limit[i] = l->dim[i].n;
        answer = by_structure(&d);
        for (int i = 0; answer == YES && i < l->rank; i++)
            l->dim[i].padded = l->dim[i].n;
    }
    *part = d.part;
    *nparts = d.nparts;
    return answer;
}
