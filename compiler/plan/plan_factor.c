/* Splits pieces so that each has one value of the digits that are factors of products.
 *
 * An address like (1 - B%2)*(n + P) + B%2*(2*P + B//2) is linear in no loop.  With B%2 = 0
 * it is n + P, with B%2 = 1 it is 2*P + B//2: a nest for each value has strides only.  A
 * factor is split if it takes few values and depends on nothing else. */
#include "plan_parts.h"

enum { FEW = 4 };

/* True if each digit in x takes few values. */
static bool
has_few(const Ex *x)
{
    for (int i = 0; i < x->n; i++) {
        i64 lo, hi;
        const Atom *a = x->t[i].atom;
        bool digit = ex_digit_of(a, &lo, &hi) >= 0;
        if (digit && a->f.min == 0 && a->f.max < FEW)
            continue;
        if (digit)
            return false;
        for (int j = 0; j < a->n; j++)
            if (!has_few(a->x[j]))
                return false;
    }
    return true;
}

/* Extends a factor to a digit. */
static void
extend(void *arg, const DigitUse *u)
{
    Factor *f = arg;
    i64 hi = u->hi ? u->hi : INF;
    f->lo = f->lo && f->lo < u->lo ? f->lo : u->lo;
    f->hi = f->hi > hi ? f->hi : hi;
}

void
factor_add(const Ex *x, int var, Factor *f)
{
    for (int i = 0; i < x->n; i++) {
        const Atom *a = x->t[i].atom;
        int few = 0;
        while (a->op == AT_MUL && few < a->n && !has_few(a->x[few]))
            few++;
        if (a->op == AT_MUL && few < a->n)
            ex_each_digit(a->x[few], var, extend, f);
        for (int j = 0; j < a->n; j++)
            factor_add(a->x[j], var, f);
    }
}

/* True if the loop runs over the factor, a number of times that is known. */
static bool
is_over(const PieceLoop *l, const Factor *f)
{
    return l->step >= f->lo && l->step < f->hi && ex_is_const(l->n) && ex_is(l->first, 0);
}

/* The number of parts of a piece; 1 if there are too many. */
static i64
parts(const Piece *p, const Factor *f)
{
    i64 n = 1;
    for (int i = 0; i < p->nloops && n <= FEW; i++)
        if (is_over(&p->loop[i], f) && !int_mul(n, p->loop[i].n->base, &n))
            return 1;
    return n <= FEW ? n : 1;
}

/* Part k of a piece: without the loops over the factor. */
static Piece
part(Exprs *e, const Piece *p, const Factor *f, i64 k)
{
    PieceLoop *loop = arena_array(ex_arena(e), PieceLoop, p->nloops);
    i64 at = 0;
    int n = 0;
    for (int i = 0; i < p->nloops; i++) {
        const PieceLoop *l = &p->loop[i];
        if (is_over(l, f)) {
            at += k % l->n->base * l->step;
            k /= l->n->base;
        } else {
            loop[n++] = *l;
        }
    }
    const Ex *by = ex_const(e, at);
    return (Piece){.start = ex_add(e, p->start, by), .pad = p->pad, .mixed = p->mixed,
                   .from = ex_add(e, p->from, by), .nloops = n, .loop = loop};
}

int
factor_split(Exprs *e, const Factor *f, Piece *piece, int n)
{
    Piece out[MAX_PIECES];
    int m = 0;
    for (int i = 0; i < n; i++) {
        i64 all = parts(&piece[i], f);
        if (m + all > MAX_PIECES)
            return n;
        for (i64 k = 0; k < all; k++)
            out[m++] = all == 1 ? piece[i] : part(e, &piece[i], f, k);
    }
    for (int i = 0; i < m; i++)
        piece[i] = out[i];
    return m;
}
