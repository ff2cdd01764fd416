/* Iterates over the warps of an access to a tile. */

#include "bank_tile.h"

enum { LANES = 32, WORD_BITS = 32 };

/* The current warp; each lane has a first element. */
typedef struct {
    Arena *arena;
    const BankTile *t;
    const TileAccess *access;
    int rank, order[MAX_RANK];     /* dims, the fastest first */
    i64 extent[MAX_RANK];          /* by order; the first one in vectors */
    i64 step[MAX_RANK];            /* by order; row-major strides in elements */
    i64 x[MAX_RANK], vector;       /* vector: elements for each lane */
    bool done;
    int n;                         /* number of lanes */
    i64 element[LANES], addr[LANES];   /* first element; its address in bytes */
} Walk;

static void
coordinates(const Layout *l, i64 element, i64 *x)
{
    for (int d = l->rank - 1; d >= 0; d--) {
        x[d] = element % l->dim[d].n;
        element /= l->dim[d].n;
    }
}

static const char *
point(const Walk *w, i64 element)
{
    i64 x[MAX_RANK];
    Buf b = buf_new(w->arena);
    coordinates(w->t->l, element, x);
    for (int d = 0; d < w->rank; d++)
        buf_printf(&b, "%s%lld", d ? "," : "(", (long long)x[d]);
    buf_add(&b, w->rank ? ")" : "()");
    return b.s;
}

_Noreturn static void
no_vector(const Walk *w, const char *why, i64 first, i64 other)
{
    diag_fatal(w->arena->diag, DIAG_ARGUMENT, (Loc){0}, "%s: %s: elements %s and %s are "
               "at addresses %lld and %lld", w->access->text, why, point(w, first),
               point(w, other), (long long)w->t->addr[first],
               (long long)w->t->addr[other]);
}

/* The address in bytes of the access that begins at an element. */
static i64
vector_address(const Walk *w, i64 element)
{
    i64 bits = w->t->l->dtype->bits, step = w->step[0], first = w->t->addr[element];
    i64 last = element + (w->vector - 1) * step;
    for (i64 i = 1; i < w->vector; i++)
        if (w->t->addr[element + i * step] != first + i)
            no_vector(w, "what a lane takes is not side by side", element,
                      element + i * step);
    if (w->vector > 1 && first * bits % (w->access->bytes * 8))
        no_vector(w, "what a lane takes does not begin at a multiple of its size",
                  element, last);
    return first * bits / 8;
}

static Walk
walk_start(Arena *a, const BankTile *t, const TileAccess *access)
{
    const Layout *l = t->l;
    Walk w = {.arena = a, .t = t, .access = access, .rank = l->rank};
    i64 step[MAX_RANK], below = 1, n = l->dim[access->dim].n;
    int k = 1;
    w.vector = access->elements;
    if (n % w.vector)
        diag_fatal(a->diag, DIAG_ARGUMENT, (Loc){0}, "%s: the extent of %s, %lld, is no "
                   "multiple of the %lld elements that a lane takes", access->text,
                   l->dim[access->dim].name, (long long)n, (long long)w.vector);
    for (int d = l->rank - 1; d >= 0; below *= l->dim[d--].n)
        step[d] = below;
    w.order[0] = access->dim;
    for (int d = l->rank - 1; d >= 0; d--)
        if (d != access->dim)
            w.order[k++] = d;
    for (int i = 0; i < l->rank; i++) {
        w.extent[i] = l->dim[w.order[i]].n;
        w.step[i] = step[w.order[i]];
    }
    w.extent[0] /= w.vector;
    return w;
}

static void
advance(Walk *w)
{
    for (int i = 0; i < w->rank; i++) {
        if (++w->x[i] < w->extent[i])
            return;
        w->x[i] = 0;
    }
    w->done = true;
}

/* Moves to the next warp; false after the last. */
static bool
walk_next(Walk *w)
{
    for (w->n = 0; w->n < LANES && !w->done; advance(w)) {
        i64 e = w->x[0] * w->vector * w->step[0];
        for (int i = 1; i < w->rank; i++)
            e += w->x[i] * w->step[i];
        w->element[w->n] = e;
        w->addr[w->n++] = vector_address(w, e);
    }
    return w->n > 0;
}

int
tile_word_shift(const Layout *l)
{
    return int_log2(WORD_BITS) - int_log2(l->dtype->bits);
}

BankTile *
tile_new(Arena *a, const Layout *l)
{
    BankTile *t = arena_new(a, BankTile);
    i64 x[MAX_RANK] = {0};
    *t = (BankTile){l, 1, NULL};
    for (int d = 0; d < l->rank; d++)
        if (!int_mul(t->elements, l->dim[d].n, &t->elements) ||
            t->elements > TILE_ELEMENTS_MAX)
            diag_fatal(a->diag, DIAG_ARGUMENT, (Loc){0}, "a tile of more than %d "
                       "elements is not examined", TILE_ELEMENTS_MAX);
    if (layout_bytes(l) > TILE_BYTES_MAX)
        diag_fatal(a->diag, DIAG_ARGUMENT, (Loc){0}, "%lld bytes are no tile of shared "
                   "memory: there are at most %d", (long long)layout_bytes(l),
                   TILE_BYTES_MAX);
    t->addr = arena_array(a, i64, t->elements);
    work_on(a, "to look at every element of the tile", l->ref->def->name);
    work_spend(a, t->elements * layout_work(l));
    for (i64 e = 0; e < t->elements; e++, layout_next(l, false, x))
        if (!layout_address(l, x, &t->addr[e]) || t->addr[e] < 0)
            diag_fatal(a->diag, DIAG_LAYOUT, l->ref->def->loc, "layout '%s': an address "
                       "does not fit 64 bits", l->ref->def->name);
    return t;
}

static void
note_witness(const Walk *w, const BankCount *b, i64 warp, TileCount *c)
{
    c->warp = warp;
    c->bank = b->bank;
    for (int i = 0; i < 2; i++) {
        c->lane[i] = b->lane[i];
        c->word[i] = b->word[i];
        coordinates(w->t->l, w->element[b->lane[i]], c->x[i]);
    }
}

TileCount
tile_count(Arena *a, const BankTile *t, const TileAccess *access)
{
    TileCount c = {0};
    Walk w = walk_start(a, t, access);
    for (; walk_next(&w); c.warps++) {
        BankCount b;
        WarpAccess one = {w.addr, ((uint64_t)1 << w.n) - 1, access->bytes};
        if (!bank_shared(&banks_usual, &one, &b))
            no_vector(&w, "no instruction takes this", w.element[0], w.element[0]);
        if (b.conflicts && c.wavefronts == c.ideal)
            note_witness(&w, &b, c.warps, &c);
        c.wavefronts += b.wavefronts;
        c.ideal += b.ideal;
    }
    return c;
}

Swizzler *
tile_swizzler(Arena *a, const BankTile *t)
{
    const Layout *l = t->l;
    int shift = tile_word_shift(l);
    i64 row = (i64)WORD_BITS * banks_usual.banks, bits = l->size * l->dtype->bits;
    if (bits % row)
        return NULL;
    i64 words = bits / WORD_BITS;
    return swizzler_new(a, int_log2(words - 1) + 1, shift < 0 ? -shift : 0);
}

void
tile_add_passes(Arena *a, const BankTile *t, const TileAccess *access, int number,
                Swizzler *s)
{
    Walk w = walk_start(a, t, access);
    int pass = bank_pass(&banks_usual, access->bytes);
    int v = access->bytes > 4 ? int_log2(access->bytes / 4) : 0;
    while (walk_next(&w))
        for (int first = 0; first < w.n; first += pass) {
            uint32_t word[LANES];
            int n = w.n - first < pass ? w.n - first : pass;
            for (int i = 0; i < n; i++)
                word[i] = (uint32_t)(w.addr[first + i] / 4) >> v << v;
            swizzler_add(s, number, v, word, n);
        }
}
