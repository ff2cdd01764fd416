/* swizzles.h: what the tests of banks and swizzles share. */
#ifndef TEST_SWIZZLES_H
#define TEST_SWIZZLES_H

#include "../../compiler/gpu/swizzle.h"

static uint64_t seed = 20261;

static unsigned
draw(unsigned n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(seed >> 33) % n;
}

/* Arena and its errors: none is expected. */
static void
within_arena(void (*f)(Arena *))
{
    Diag d;
    Arena a = {.diag = &d};
    if (diag_catch(&d))
        fail_msg("%s", d.text);
    f(&a);
    arena_free(&a);
}

static int
bits_of(const Swizzle *w)
{
    int n = 0;
    for (int i = 0; i < BANK_BITS; i++)
        n += __builtin_popcount(w->mask[i]);
    return n;
}

/* Whether no access has a conflict at any aligned place of the lanes in a tile of 2^bits words,
 * as bank_shared counts. */
static inline bool
swizzle_is_free(const Swizzle *w, int bits, const LaneMap *m)
{
    i64 addr[LANES_MAX];
    WarpAccess access = {addr, UINT32_MAX, 4 << m->v};
    for (uint32_t base = 0; base < (uint32_t)1 << bits; base += (uint32_t)1 << m->v) {
        for (uint32_t l = 0; l < 32; l++) {
            uint32_t word = base;
            for (int j = 0; j < BANK_BITS; j++)
                word ^= l >> j & 1 ? m->lane[j] : 0;
            addr[l] = (i64)swizzle_word(w, word) * 4;
        }
        BankCount c;
        if (!bank_shared(&banks_usual, &access, &c) || c.conflicts)
            return false;
    }
    return true;
}

#endif
