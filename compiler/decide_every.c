/* What holds of a layout for every shape at once.
 *
 * Its order is judged at a shape where every digit is full.  What structure says there
 * holds for every smaller shape, since that is a part of it, and for every larger one
 * where the topmost digit of a dim is open: the address tells the entries, whatever
 * their extents, and the entries their digits. */
#include "decide.h"

typedef struct {
    EveryShape *every;
    Exprs *e;
    const LayoutRef *ref;
    const DType *t;
    int rank;
    Part *part;
    int nparts;
    i64 full[MAX_RANK];
} Every;

static Layout *
at_shape(Every *y, const i64 *shape)
{
    return layout_make(y->e, y->ref, y->t, y->rank, shape);
}

/* Where the open digit of a reversed entry ends: below it the entry turns negative. */
static i64
reversed_end(const Layout *l, const Part *p, i64 lo)
{
    i64 end;
    bool fits = int_mul(l->entry[p->entry].written->base / p->coef + 1, lo, &end);
    return fits ? end : INF;
}

/* The full shape, and how far each dim reaches; false where the order is no mixed
 * radix of digits.  A dim that is stored nowhere gets two elements, to collide. */
static bool
fill_digits(Every *y)
{
    i64 ones[MAX_RANK], *bound = y->every->bound;
    for (int d = 0; d < y->rank; d++) {
        ones[d] = 1;
        y->full[d] = bound[d] = 0;
    }
    Layout *l = at_shape(y, ones);
    if (!parts_of(l, &y->part, &y->nparts))
        return false;
    for (int i = 0; i < y->nparts; i++)
        for (int j = 0; j < y->part[i].ndigits; j++) {
            const Part *p = &y->part[i];
            i64 lo = p->digit[j].lo, hi = p->digit[j].hi;
            int d = p->digit[j].dim;
            i64 end = hi ? hi : p->flipped ? reversed_end(l, p, lo) : INF;
            i64 two = hi ? hi : lo < INF / 2 ? 2 * lo : lo;
            two = two < end ? two : end;
            y->full[d] = two > y->full[d] ? two : y->full[d];
            bound[d] = end > bound[d] ? end : bound[d];
        }
    for (int d = 0; d < y->rank; d++)
        if (!y->full[d]) {
            y->full[d] = 2;
            bound[d] = INF;
        }
    return true;
}

/* The smallest shape that holds the witness. */
static void
shrink_witness(Every *y)
{
    const Verdict *v = y->every->v;
    i64 shape[MAX_RANK];
    for (int d = 0; d < y->rank; d++)
        shape[d] = 1 + (v->x[d] > v->y[d] ? v->x[d] : v->y[d]);
    Layout *l = at_shape(y, shape);
    Verdict *small = decide(l);
    if (small->flaw == FLAW_COLLISION) {
        y->every->l = l;
        y->every->v = small;
    }
}

/* Every open digit is an entry of its own, C or C//16: its extent is the dim's over it,
 * rounded up, and no other entry's depends on the shape. */
static bool
open_alone(const Every *y, const Layout *l)
{
    for (int i = 0; i < y->nparts; i++) {
        const Ast *x = l->entry[y->part[i].entry].x;
        bool is_digit = x->op == OP_SYM || (x->op == OP_DIV && x->x[0]->op == OP_SYM);
        if (y->part[i].size == 0 && !is_digit)
            return false;
    }
    return true;
}

/* The extents up to the open digits fill their slots exactly: so does every shape that
 * they divide, and no other, since storage is the product of the closed digits' slots
 * and of the open ones' rounded up. */
static void
find_multiples(Every *y)
{
    const LayoutDef *d = y->ref->def;
    i64 once[MAX_RANK];
    y->every->dense = UNKNOWN;
    if (d->npads || d->npitches || !open_alone(y, y->every->l))
        return;
    for (int i = 0; i < y->rank; i++)
        once[i] = 1;
    for (int i = 0; i < y->nparts; i++)
        for (int j = 0; j < y->part[i].ndigits; j++) {
            i64 lo = y->part[i].digit[j].lo, hi = y->part[i].digit[j].hi;
            i64 *m = &once[y->part[i].digit[j].dim], top = hi ? hi : lo;
            *m = top > *m ? top : *m;
        }
    for (int i = 0; i < y->rank; i++) {
        if (y->every->bound[i] < INF)
            once[i] = y->every->bound[i];
        y->every->multiple[i] = once[i];
    }
    Layout *l = at_shape(y, once);
    y->every->dense = decide(l)->elements == l->size ? YES : NO;
}

static void
unknown(Every *y, const char *why)
{
    y->every->injective = UNKNOWN;
    y->every->why = why;
}

static void
judge(void *arg)
{
    Every *y = arg;
    EveryShape *s = y->every;
    if (!fill_digits(y)) {
        unknown(y, "its order is no mixed radix of digits");
        return;
    }
    s->l = at_shape(y, y->full);
    s->v = decide(s->l);
    s->injective = s->v->injective;
    if (s->v->flaw == FLAW_COLLISION)
        shrink_witness(y);
    else if (y->ref->def->swizzle)
        unknown(y, "a swizzle fits storage that is whole blocks of it");
    else if (!s->v->by_structure || s->v->flaw == FLAW_UNDECIDED)
        unknown(y, "no structure was found that decides it");
    if (s->injective != YES || s->v->flaw)
        return;
    s->inverse = inverse_of_entries(s->l, y->part, y->nparts, s->entry_var);
    find_multiples(y);
}

EveryShape *
decide_every_shape(Exprs *e, const LayoutRef *ref, const DType *t)
{
    Arena *a = ex_arena(e);
    EveryShape *s = arena_new(a, EveryShape);
    Every y = {.every = s, .e = e, .ref = ref, .t = t};
    Diag d;
    y.rank = ref->def->ndims + (ref->def->batch && ref->def->ndims < MAX_RANK);
    if (!arena_run(a, &d, judge, &y)) {
        if (d.kind != DIAG_LAYOUT)
            diag_fatal(a->diag, d.kind, (Loc){0}, "%s", d.text);
        unknown(&y, arena_string(a, d.text));
    }
    return s;
}
