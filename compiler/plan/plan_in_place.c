/* A conversion within one buffer, where both sides are the same digits in two orders.
 *
 *   source       [ outer        |  low, in scratch  ]     pass 1: blocks, so that the digits
 *                [ outer        | rest     | item   ]     that are low on both sides are an item
 *   destination  [ outer        | rest     | item   ]     pass 2: a permutation of items
 *                [ outer        |  low, in scratch  ]     pass 3: blocks
 *
 * Blocks are as large as the scratch allows, and so are the items that follow.  For a matrix
 * these are the passes of F. Gustavson and T. Swirszcz, "In-place transposition of rectangular
 * matrices" (2007): panels, tiles, panels.  The cycles of a permutation are followed with a bit
 * for each item (F. Fich, I. Munro, P. Poblete, "Permuting in place", 1995, need none, and more
 * time).  B. Catanzaro, A. Keller and M. Garland ("A decomposition for in-place matrix
 * transposition", 2014) treat extents without divisors, where items are small. */
#include <stdlib.h>

#include "plan.h"
#include "plan_parts.h"

typedef struct {
    i64 n, stride[2];              /* in source and destination, in elements */
    bool low[2];                   /* it is in a block of the side */
} Axis;

typedef struct {
    Arena *a;
    const Plan *p;
    int n;
    Axis axis[PASS_DIGITS];
} Axes;

typedef struct {
    int n;
    Axis axis[PASS_DIGITS];
} Order;

static int
compare_in(const Axis *x, const Axis *y, int side)
{
    return (x->stride[side] < y->stride[side]) - (x->stride[side] > y->stride[side]);
}

static int
by_source(const void *x, const void *y)
{
    return compare_in(x, y, SRC);
}

static int
by_destination(const void *x, const void *y)
{
    return compare_in(x, y, DST);
}

static void
sort(Axis *d, int n, int side)
{
    qsort(d, (size_t)n, sizeof *d, side == SRC ? by_source : by_destination);
}

/* Whether the digits, from the innermost on, fill the storage of a side. */
static bool
fill(Axes *c, int side, i64 size)
{
    i64 at = 1;
    sort(c->axis, c->n, side);
    for (int i = c->n - 1; i >= 0; i--) {
        if (c->axis[i].stride[side] != at || !int_mul(at, c->axis[i].n, &at))
            return false;
    }
    return at == size;
}

/* The loops of a plan that is one nest, as digits. */
static bool
read_digits(Axes *c)
{
    const Plan *p = c->p;
    const Nest *one = p->n == 1 ? p->nest[0] : NULL;
    const Ex *zero = ex_const(p->e, 0);
    if (!one || one->kind != NEST_COPY || one->src != zero || one->dst != zero)
        return false;
    for (int i = 0; i < one->nloops; i++) {
        const Loop *l = &one->loop[i];
        if (l->residual)
            return false;
        if (l->n > 1)
            c->axis[c->n++] = (Axis){l->n, {l->ss, l->ds}, {false}};
    }
    return fill(c, SRC, p->src->size) && fill(c, DST, p->dst->size);
}

static i64
largest_divisor(i64 n, i64 most)
{
    i64 f = n < most ? n : most;
    while (n % f)
        f--;
    return f;
}

/* Mark the digits of a block of a side, of at most so many elements; one of them may be a part
 * of a digit, which is then divided. */
static void
mark_low(Axes *c, int side, i64 most)
{
    sort(c->axis, c->n, side);
    for (int i = c->n - 1; i >= 0; i--) {
        Axis *d = &c->axis[i];
        i64 f = largest_divisor(d->n, most);
        if (f < d->n && f > 1) {
            Axis *outer = &c->axis[c->n++];
            *outer = *d;
            outer->n /= f;
            outer->stride[SRC] *= f;
            outer->stride[DST] *= f;
        }
        d->low[side] = f > 1;
        if (f < d->n) {
            d->n = f > 1 ? f : d->n;
            return;
        }
        most /= f;
    }
}

/* Add the digits of these kinds, in the order of a side; -1: of both kinds. */
static void
add(Order *o, const Axes *c, int side, int low_src, int low_dst)
{
    int first = o->n;
    for (int i = 0; i < c->n; i++) {
        const Axis *d = &c->axis[i];
        if ((low_src < 0 || d->low[SRC] == low_src) && (low_dst < 0 || d->low[DST] == low_dst))
            o->axis[o->n++] = *d;
    }
    sort(o->axis + first, o->n - first, side);
}

/* Let the strides of a side be those of storage in this order. */
static void
lay_out(Order *o, int side)
{
    i64 at = 1;
    for (int i = o->n - 1; i >= 0; i--) {
        o->axis[i].stride[side] = at;
        at *= o->axis[i].n;
    }
}

static i64
elements(const Order *o)
{
    i64 n = 1;
    for (int i = 0; i < o->n; i++)
        n *= o->axis[i].n;
    return n;
}

static bool
is_sorted(const Order *o, int side)
{
    for (int i = 1; i < o->n; i++)
        if (compare_in(&o->axis[i - 1], &o->axis[i], side) > 0)
            return false;
    return true;
}

static i64
bytes_of(const Axes *c, i64 n)
{
    return n * c->p->src->dtype->bits / 8;
}

/* A pass of blocks: `o` is the order of the result, over strides of `side` before. */
static void
add_blocks(InPlace *out, const Axes *c, const Order *o, int side)
{
    if (is_sorted(o, side))
        return;
    InPlacePass *w = &out->pass[out->n++];
    i64 n = elements(o), *shape = arena_array(c->a, i64, 1);
    Buf to = buf_new(c->a);
    for (int i = 0; i < o->n; i++)
        buf_printf(&to, "%sX//%lld%%%lld", i ? ", " : "(X){",
                   (long long)o->axis[i].stride[side], (long long)o->axis[i].n);
    buf_add(&to, "}");
    *shape = n;
    *w = (InPlacePass){.n = c->p->src->size / n, .bytes = bytes_of(c, n), .from = "(X){X}",
                       .to = to.s, .rank = 1, .shape = shape};
}

/* Whether the permutation transposes a matrix of small items, of which rows and columns fit the
 * scratch. */
static bool
is_small_matrix(const InPlacePass *w)
{
    return w->digits == 2 && w->item <= 16 && int_is_pow2(w->item) && w->stride[0] == 1 &&
           w->extent[0] * w->item <= IN_PLACE_BYTES && w->extent[1] * w->item <= IN_PLACE_BYTES;
}

/* The permutation from one order of items to another: adjacent digits are one, and the first
 * one, if it stays where it is, counts parts of the buffer. */
static void
add_cycles(InPlace *out, const Axes *c, const Order *after, i64 item)
{
    i64 items = elements(after);
    InPlacePass w = {.n = 1, .kind = PASS_CYCLES, .item = bytes_of(c, item)};
    for (int i = 0; i < after->n; i++) {
        const Axis *d = &after->axis[i];
        int last = w.digits - 1;
        if (last >= 0 && w.stride[last] == d->stride[SRC] * d->n) {
            w.extent[last] *= d->n;
            w.stride[last] = d->stride[SRC];
            continue;
        }
        w.extent[w.digits] = d->n;
        w.stride[w.digits++] = d->stride[SRC];
    }
    if (w.digits > 1 && w.stride[0] == items / w.extent[0]) {
        w.n = w.extent[0];
        items /= w.n;
        w.digits--;
        for (int i = 0; i < w.digits; i++) {
            w.extent[i] = w.extent[i + 1];
            w.stride[i] = w.stride[i + 1];
        }
    }
    w.bytes = items * w.item;
    if (is_small_matrix(&w))
        w.kind = PASS_MATRIX;
    if (w.digits > 1)
        out->pass[out->n++] = w;
}

/* Give the digits of `to` the strides that they have in `from`, which has the same ones. */
static void
take_strides(Order *to, const Order *from)
{
    for (int i = 0; i < to->n; i++)
        for (int j = 0; j < from->n; j++)
            if (to->axis[i].stride[DST] == from->axis[j].stride[DST])
                to->axis[i].stride[SRC] = from->axis[j].stride[SRC];
}

static void
add_passes(InPlace *out, const Axes *c)
{
    Order first = {0}, before = {0}, after = {0}, item = {0}, last = {0}, result = {0};
    add(&item, c, DST, true, true);
    add(&first, c, SRC, true, false);
    add(&first, c, DST, true, true);
    add_blocks(out, c, &first, SRC);
    add(&before, c, SRC, false, -1);
    add(&before, c, SRC, true, false);
    lay_out(&before, SRC);
    add(&after, c, DST, -1, false);
    add(&after, c, DST, false, true);
    take_strides(&after, &before);
    add_cycles(out, c, &after, elements(&item));
    add(&last, c, DST, false, true);
    add(&last, c, DST, true, true);
    lay_out(&last, SRC);
    add(&result, c, DST, -1, true);
    take_strides(&result, &last);
    add_blocks(out, c, &result, SRC);
}

bool
plan_in_place(const Plan *p, InPlace *out)
{
    Axes c = {.a = ex_arena(p->e), .p = p};
    const int bits = p->src->dtype->bits;
    *out = (InPlace){0};
    if (!read_digits(&c))
        return false;
    mark_low(&c, SRC, (i64)IN_PLACE_BYTES * 8 / bits);
    mark_low(&c, DST, (i64)IN_PLACE_BYTES * 8 / bits);
    add_passes(out, &c);
    Order low[3] = {{0}};
    add(&low[0], &c, SRC, true, true);
    add(&low[1], &c, SRC, true, -1);
    add(&low[2], &c, DST, -1, true);
    for (int i = 0; i < LEN(low); i++)
        if (elements(&low[i]) * bits % 8)
            return false;
    return true;
}

static i64
pass_room(const InPlacePass *w)
{
    enum { WORD = 64 };
    return w->kind == PASS_BLOCKS ? w->bytes
           : w->kind == PASS_MATRIX ? IN_PLACE_BYTES
           : (w->bytes / w->item + WORD - 1) / WORD * (WORD / 8) + w->item;
}

i64
in_place_room(const InPlace *how)
{
    i64 room = 8;
    for (int i = 0; i < how->n; i++)
        room = pass_room(&how->pass[i]) > room ? pass_room(&how->pass[i]) : room;
    return room;
}

bool
plan_writes_all(const Plan *p)
{
    i64 n = 0;
    for (int i = 0; i < p->n; i++)
        if (!int_add(n, p->nest[i]->elements, &n))
            return false;
    return n == p->dst->size;
}
