/* The best layouts of two families, by trying their members: a wider pitch of an entry, and
 * the swizzles xor(B, M, S).  Every one is counted as a tile of its own. */
#include "cli_banks.h"

/* The most elements, of a tile and all its accesses, for which members are counted; the
 * most members of a family. */
enum { ELEMENTS_MAX = 1 << 18, MEMBERS_MAX = 48 };

static void
try(const Banked *b, const char *more, Banked *best)
{
    Banked now = banked_as(b, banked_text(b, more));
    bool smaller = layout_bytes(now.l) < layout_bytes(best->l);
    if (now.wavefronts < best->wavefronts ||
        (best->text && now.wavefronts == best->wavefronts && smaller))
        *best = now;
}

/* The tile itself, to be beaten. */
static Banked
unbeaten(const Banked *b)
{
    Banked best = *b;
    best.text = NULL;
    return best;
}

static bool
may_try(const Banked *b)
{
    return b->n * b->tile->elements <= ELEMENTS_MAX;
}

/* The bytes of the widest access. */
static int
widest(const Banked *b)
{
    int bytes = 4;
    for (int i = 0; i < b->n; i++)
        bytes = b->access[i].bytes > bytes ? b->access[i].bytes : bytes;
    return bytes;
}

Banked
banked_best_pitch(const Banked *b)
{
    enum { STEPS = 16 };
    const LayoutDef *d = b->l->ref->def;
    Banked best = unbeaten(b);
    int step = widest(b), members = 0;
    if (d->npitches || d->batch || b->l->sigma || !may_try(b))
        return best;
    for (int i = 0; i < b->l->nentry && members < MEMBERS_MAX; i++) {
        i64 bytes = b->l->entry[i].stride * b->l->dtype->bits / 8, all = layout_bytes(b->l);
        if (b->l->entry[i].extent < 2 || bytes < step || bytes % step)
            continue;
        for (i64 more = step; more <= STEPS * step; more *= 2, members++)
            if (all / bytes * (bytes + more) <= TILE_BYTES_MAX)
                try(b, arena_printf(b->c->arena, "pitch = {[%d] = %lld}", i + 1,
                                    (long long)(bytes + more)), &best);
    }
    return best;
}

/* A swizzle's address is called a, so a parameter cannot be. */
Banked
banked_best_xor(const Banked *b)
{
    enum { BITS = 5, SHIFT = 7 };
    Banked best = unbeaten(b);
    i64 size = b->l->size, elements = 8 / b->l->dtype->bits;
    int m = 0, members = 0;
    if (!may_try(b) || layout_find_param(b->l->ref->def, "a") >= 0)
        return best;
    for (int i = 0; i < b->n; i++)
        elements = b->access[i].elements > elements ? b->access[i].elements : elements;
    while ((i64)1 << m < elements)
        m++;
    for (int most = m + 1; m <= most; m++)
        for (int n = BITS; n > 0; n--)
            for (int s = n; s <= SHIFT && members < MEMBERS_MAX; s++, members++)
                if (size % ((i64)1 << (n + m + s)) == 0)
                    try(b, arena_printf(b->c->arena, "swizzle = xor(%d, %d, %d)", n, m, s),
                        &best);
    return best;
}
