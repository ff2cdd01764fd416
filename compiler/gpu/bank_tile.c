/* Counts the accesses of warps to a tile, and gives them to the search for a swizzle. */

#include "bank_walk.h"


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
note_witness(const WarpWalk *w, const BankCount *b, i64 warp, TileCount *c)
{
    c->warp = warp;
    c->bank = b->bank;
    c->fragment = w->fragment;
    for (int i = 0; i < 2; i++) {
        c->lane[i] = b->lane[i];
        c->word[i] = b->word[i];
        walk_point(w->t, w->element[b->lane[i]], c->x[i]);
    }
}

static void
note_loads(const WarpWalk *w, TileCount *c)
{
    c->fragments = fragment_count(w->access->fragment);
    c->transposed = w->loads->transposed;
    for (int i = 0; i < w->loads->n; i++)
        c->loads[int_log2(w->loads->load[i].bytes)]++;
}

TileCount
tile_count(Arena *a, const BankTile *t, const TileAccess *access)
{
    TileCount c = {0};
    WarpWalk w = walk_start(a, t, access);
    for (; walk_next(&w); c.warps++) {
        BankCount b;
        WarpAccess one = {w.addr, w.active, w.bytes};
        if (!bank_shared(&banks_usual, &one, &b))
            walk_no_vector(&w, "no instruction takes this", w.element[0], w.element[0]);
        if (b.conflicts && c.wavefronts == c.ideal)
            note_witness(&w, &b, c.warps, &c);
        c.wavefronts += b.wavefronts;
        c.ideal += b.ideal;
    }
    if (access->fragment)
        note_loads(&w, &c);
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
    WarpWalk w = walk_start(a, t, access);
    while (walk_next(&w)) {
        int pass = bank_pass(&banks_usual, w.bytes);
        int v = w.bytes > 4 ? int_log2(w.bytes / 4) : 0;
        for (int first = 0; first < w.n; first += pass) {
            uint32_t word[WARP];
            int n = 0;
            for (int l = first; l < w.n && l < first + pass; l++)
                if (w.active >> l & 1)
                    word[n++] = (uint32_t)(w.addr[l] / 4) >> v << v;
            if (n)
                swizzler_add(s, number, v, word, n);
        }
    }
}
