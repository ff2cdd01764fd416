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

#endif
