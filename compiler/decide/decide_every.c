/* Properties of a layout that hold for every shape.
 *
 * The order is decided at a shape that fills every digit.  A structural answer at that
 * shape also holds for every smaller shape, whose elements are a subset.  It holds for
 * every larger shape if the topmost digit of each dim is open: the address determines
 * the entries, whatever their extents, and the entries determine the digits.
 *
 * Where some extents are given, any answer at that shape holds for every shape if the digits of
 * the other dims are determined by the entries that have them: two elements at one address then
 * have these coordinates in common, and with 0 for all of them they share an address too. */
#include "decide.h"

typedef struct {
    EveryShape *every;
    Exprs *e;
    const LayoutRef *ref;
    const DType *t;
    int rank;
    Part *part;
    int nparts;
    bool whole;           /* they are those of all entries; else of those with extents not given */
    bool apart;           /* whatever the extents are that are not given, the digits of these dims
                           * are determined by their entries */
    const i64 *fixed;     /* the extents that are given, -1 for the others; or NULL */
    const LayoutRef *shifted;      /* the layout as it is, if `ref` is without its shifts */
    i64 full[MAX_RANK], small;
} Every;

static Layout *
at_shape(Every *y, const i64 *shape)
{
    return layout_make(y->e, y->ref, y->t, y->rank, shape);
}

static bool
is_fixed(const Every *y, int d)
{
    return y->fixed && y->fixed[d] >= 0;
}

/* Where the open digit p of a reversed entry ends: beyond, the entry turns negative when
 * its other digits take the most off. */
static i64
reversed_end(const Every *y, const Layout *l, const Part *p, i64 lo)
{
    i64 left = l->entry[p->entry].written->base, end, off;
    for (int i = 0; i < y->nparts; i++) {
        const Part *q = &y->part[i];
        if (q->entry != p->entry || q == p || q->coef < 0)
            continue;
        if (!int_mul(q->coef, q->size - 1, &off) || !int_add(left, -off, &left))
            return INF;
    }
    bool fits = int_mul(left < 0 ? 0 : left / p->coef + 1, lo, &end);
    return fits ? end : INF;
}

static bool
is_apart(const Every *y, const Part *part, int n)
{
    bool apart = true;
    for (int d = 0; d < y->rank; d++)
        apart &= is_fixed(y, d) || parts_follow(part, n, d);
    return apart;
}

/* The parts for every shape; false if there are none: neither are all entries a mixed radix of
 * digits, nor those with dims of which the extent is not given. */
static bool
find_parts(Every *y, const Layout *l)
{
    Part *open;
    int n;
    y->whole = parts_of(l, false, &y->part, &y->nparts);
    y->apart = y->fixed && parts_of_open(l, y->fixed, &open, &n) && is_apart(y, open, n);
    if (!y->whole && y->apart) {
        y->part = open;
        y->nparts = n;
    }
    if (!y->whole && !y->apart && y->fixed)
        y->whole = parts_of_fixed(l, y->fixed, &y->part, &y->nparts);
    return y->whole || y->apart;
}

/* Compute the shape that fills every digit, and the bound of each dim; false if the order has no
 * such parts.  A dim that is not stored gets extent 2, so that two elements collide. */
static bool
fill_digits(Every *y)
{
    i64 ones[MAX_RANK], *bound = y->every->bound;
    for (int d = 0; d < y->rank; d++) {
        ones[d] = is_fixed(y, d) ? y->fixed[d] : 1;
        y->full[d] = bound[d] = 0;
    }
    Layout *l = at_shape(y, ones);
    if (!find_parts(y, l))
        return false;
    for (int i = 0; i < y->nparts; i++)
        for (int j = 0; j < y->part[i].ndigits; j++) {
            const Part *p = &y->part[i];
            i64 lo = p->digit[j].lo, hi = p->digit[j].hi;
            int d = p->digit[j].dim;
            i64 end = hi ? hi : p->flipped ? reversed_end(y, l, p, lo) : INF;
            i64 two = hi ? hi : lo < INF / 2 ? 2 * lo : lo;
            two = two < end ? two : end;
            y->full[d] = two > y->full[d] ? two : y->full[d];
            bound[d] = end > bound[d] ? end : bound[d];
        }
    for (int d = 0; d < y->rank; d++)
        if (is_fixed(y, d)) {
            y->full[d] = bound[d] = y->fixed[d];
        } else if (!y->full[d]) {
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
        shape[d] = is_fixed(y, d) ? y->fixed[d]
                                 : 1 + (v->x[d] > v->y[d] ? v->x[d] : v->y[d]);
    Layout *l = at_shape(y, shape);
    Verdict *small = decide(l);
    if (small->flaw == FLAW_COLLISION) {
        y->every->l = l;
        y->every->v = small;
    }
}

/* The size of the storage is the product of the slots of the closed digits and of the
 * extents of the open digits; such an extent is that of the dim divided by the digit's
 * `lo`, rounded up.  If the storage is dense for one block of each open digit, it is
 * dense exactly for the shapes whose extents are multiples of these blocks. */
static void
find_multiples(Every *y)
{
    const LayoutDef *d = y->ref->def;
    i64 *once = y->every->multiple;
    y->every->dense = UNKNOWN;
    if (d->npads || d->npitches || !parts_open_alone(y->every->l, y->part, y->nparts))
        return;
    for (int i = 0; i < y->rank; i++)
        once[i] = y->every->bound[i];
    for (int i = 0; i < y->nparts; i++)
        if (y->part[i].size == 0 && !is_fixed(y, y->part[i].digit[0].dim))
            once[y->part[i].digit[0].dim] = y->part[i].digit[0].lo;
    Layout *l = at_shape(y, once);
    y->every->dense = decide(l)->elements == l->size ? YES : NO;
}

static void
unknown(Every *y, const char *why)
{
    y->every->injective = UNKNOWN;
    y->every->why = why;
}

/* Without structure, try small shapes with equal extents in all dims. */
static void
try_small(void *arg)
{
    Every *y = arg;
    i64 shape[MAX_RANK];
    for (int d = 0; d < y->rank; d++)
        shape[d] = is_fixed(y, d) ? y->fixed[d] : y->small;
    Layout *l = at_shape(y, shape);
    Verdict *v = decide(l);
    if (v->flaw != FLAW_COLLISION)
        return;
    y->every->injective = NO;
    y->every->l = l;
    y->every->v = v;
    shrink_witness(y);
}

static void
judge_small(Every *y)
{
    static const i64 extents[] = {2, 3, 4, 8, 16, 33};
    Diag d;
    for (int i = 0; i < LEN(extents) && y->every->injective == UNKNOWN; i++) {
        y->small = extents[i];
        if (!arena_run(ex_arena(y->e), &d, try_small, y) && diag_is_final(&d))
            diag_fatal(ex_arena(y->e)->diag, d.kind, (Loc){0}, "%s", d.text);
    }
}

/* Takes the layout without shifts around extents that are not given: it is one-to-one if the other
 * is, as a shift is. */
static void
take_unrolled(Every *y)
{
    i64 shape[MAX_RANK];
    for (int d = 0; d < y->rank; d++)
        shape[d] = is_fixed(y, d) ? y->fixed[d] : RUNTIME_EXTENT;
    y->shifted = y->ref;
    y->ref = layout_unbatched(ex_arena(y->e), y->ref, y->rank);
    y->ref = layout_unrolled(ex_arena(y->e), y->ref, y->t, shape, true);
}

/* The answer for the layout with shifts, from that without. */
static void
judge_shifted(Every *y)
{
    EveryShape *s = y->every;
    y->ref = y->shifted;
    s->dense = UNKNOWN;
    if (s->injective == NO)
        unknown(y, "its digits are not one-to-one without its shifts");
    else
        for (int d = 0; d < y->rank; d++) {
            const Roll *r = layout_roll(s->l->ref->def, s->l->dim[d].name);
            s->bound[d] -= r && s->bound[d] < INF ? r->more : 0;
        }
}

/* The inverse of a layout whose shifts only count dims from their ends, extent(A) - 1 - A: from the slots
 * that the one without shifts has for the entries. */
static void
set_flipped_inverse(Every *y)
{
    EveryShape *s = y->every;
    Layout *l = s->l;
    const LayoutDef *written = y->shifted->def, *d = l->ref->def;
    bool flips = y->whole && s->v->by_structure && !written->batch && written->norder == l->nentry;
    for (int i = 0; i < d->nrolls; i++)
        flips &= d->rolls[i].flip && !d->rolls[i].by && !d->rolls[i].more && !d->rolls[i].q;
    s->inverse = flips ? inverse_of_entries(l, y->part, y->nparts, s->entry_var) : NULL;
    for (int i = 0; i < l->rank && s->inverse; i++) {
        if (!layout_roll(d, l->dim[i].name))
            continue;
        const char *name = layout_extent_name(ex_arena(y->e), l->dim[i].name);
        const Ex *last = ex_add(y->e, ex_of_var(y->e, ex_var(y->e, name, 1, INF)), ex_const(y->e, -1));
        s->inverse[i] = ex_sub(y->e, last, s->inverse[i]);
    }
    for (int i = 0; i < l->nentry && s->inverse; i++)
        l->entry[i].x = written->order[i].x;
}

/* A dim whose extent is not given and is used by name; NULL: there is none. */
static const char *
needed_extent(const Every *y)
{
    const LayoutDef *d = y->ref->def;
    int batch = y->rank - d->ndims;
    for (int i = 0; i < d->ndims; i++)
        if (!is_fixed(y, batch + i) && layout_needs_extent(d, d->dims[i]))
            return d->dims[i];
    return NULL;
}

static bool
all_fixed(const Every *y)
{
    bool all = true;
    for (int d = 0; d < y->rank; d++)
        all &= is_fixed(y, d);
    return all;
}

/* Whether the elements have addresses of their own, from the shape whose digits are all full. */
static void
judge_full(Every *y)
{
    EveryShape *s = y->every;
    s->l = at_shape(y, y->full);
    s->v = decide(s->l);
    s->injective = s->v->injective;
    if (s->v->flaw == FLAW_COLLISION)
        shrink_witness(y);
    else if (y->ref->def->swizzle && !all_fixed(y))
        unknown(y, "a swizzle fits storage that is whole blocks of it");
    else if (!(s->v->by_structure || y->apart) || s->v->flaw == FLAW_UNDECIDED)
        unknown(y, "no structure was found that decides it");
}

static void
judge(void *arg)
{
    Every *y = arg;
    EveryShape *s = y->every;
    if (y->ref->def->index) {
        unknown(y, "which elements an index selects depends on the shape");
        return;
    }
    if (needed_extent(y))
        take_unrolled(y);
    if (needed_extent(y)) {
        unknown(y, layout_extent_flaw(ex_arena(y->e), y->ref->def, needed_extent(y)));
        return;
    }
    if (!fill_digits(y)) {
        unknown(y, "its order is not made of digits, as C//16 and C%16");
        return;
    }
    judge_full(y);
    if (y->shifted)
        judge_shifted(y);
    if (y->shifted && s->injective == YES && !s->v->flaw)
        set_flipped_inverse(y);
    if (s->injective != YES || s->v->flaw || y->shifted)
        return;
    if (y->whole && s->v->by_structure)
        s->inverse = inverse_of_entries(s->l, y->part, y->nparts, s->entry_var);
    find_multiples(y);
}

int
decide_rank(const LayoutDef *d)
{
    int rank = d->ndims + (d->batch ? 2 : 0);
    return rank < MAX_RANK ? rank : MAX_RANK;
}

EveryShape *
decide_shapes(Exprs *e, const LayoutRef *ref, const DType *t, int rank, const i64 *fixed)
{
    Arena *a = ex_arena(e);
    EveryShape *s = arena_new(a, EveryShape);
    s->fixed = fixed;
    layout_check_rank(a, ref->def, rank);
    Every y = {.every = s, .e = e, .ref = ref, .t = t, .rank = rank, .fixed = fixed};
    Diag d;
    if (!arena_run(a, &d, judge, &y)) {
        if (d.kind != DIAG_LAYOUT)
            diag_fatal(a->diag, d.kind, (Loc){0}, "%s", d.text);
        unknown(&y, arena_string(a, d.text));
    }
    if (s->injective == UNKNOWN)
        judge_small(&y);
    return s;
}
