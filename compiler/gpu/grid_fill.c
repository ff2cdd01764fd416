/* The fill of padding as words: numbers, or arguments of the kernel where each run is given the
 * fill. */
#include "grid_parts.h"


/* The name of word w of the fill, of which the kernel gets an argument. */
static const char *
given(GridBox *b, int w)
{
    int bits = b->u->plan->dst->dtype->bits;
    w %= bits > WORD_BITS ? bits / WORD_BITS : 1;
    b->u->fills = w < b->u->fills ? b->u->fills : w + 1;
    return arena_printf(b->arena, "fill%d", w);
}

/* Word w of the fill that the layout gives. */
static const char *
constant(GridBox *b, int w, int width)
{
    const uint64_t *fill = b->u->plan->dst->fill;
    int bits = b->u->plan->dst->dtype->bits;
    uint64_t v = 0;
    for (int at = 0; at < WORD_BITS; at += bits < WORD_BITS ? bits : WORD_BITS) {
        int from = (WORD_BITS * w + at) % bits;
        uint64_t part = fill[from / 64] >> from % 64;
        v |= (bits < WORD_BITS ? part & ((UINT64_C(1) << bits) - 1) : part) << at;
    }
    v &= width < WORD_BITS ? (UINT64_C(1) << width) - 1 : UINT32_MAX;
    return arena_printf(b->arena, "0x%llxu", (unsigned long long)v);
}

int
grid_pattern(GridBox *b, int width, const char **word)
{
    int n = width <= WORD_BITS ? 1 : width / WORD_BITS;
    bool is_given = b->u->plan->scalars->fill >= 0;
    for (int w = 0; w < n; w++)
        word[w] = !is_given ? constant(b, w, width)
                  : width >= WORD_BITS ? given(b, w)
                  : arena_printf(b->arena, "(%s & 0x%xu)", given(b, w), (1u << width) - 1);
    return n;
}

/* A number with the fill in its lowest bits: elements below a word are repeated in a word. */
static const Ex *
number_of(const GridUnit *u)
{
    const Ex *fill = scalar_ex(u->plan->scalars, u->plan->scalars->fill);
    int bits = u->plan->dst->dtype->bits;
    i64 each = 0;
    if (bits >= WORD_BITS)
        return fill;
    for (int at = 0; at < WORD_BITS; at += bits)
        each |= (i64)1 << at;
    return ex_scale(u->e, ex_mod(u->e, fill, (i64)1 << bits), each);
}

void
grid_fill_arguments(GridUnit *u)
{
    for (int w = 0; w < u->fills; w++)
        u->arg[u->nargs++] = (GridArg){.name = arena_printf(ex_arena(u->e), "fill%d", w),
                                       .value = number_of(u), .upper = w, .plain = true,
                                       .bits = true};
}
