/* Words that are made of elements, and elements that are parts of words. */
#include "grid_tile.h"

const char *
tile_word(GridBox *b, const char *vector, int width, int word)
{
    return width <= 4 ? vector : arena_printf(b->arena, "%s.%c", vector, "xyzw"[word]);
}

const char *
tile_permute(GridBox *b, const char *name, const char *x, const char *y, uint32_t pattern)
{
    GridStmt *s = grid_add(b, G_PERMUTE);
    s->name = name;
    s->word[0] = x;
    s->word[1] = y;
    s->pattern = pattern;
    return name;
}

const char *
tile_funnel(GridBox *b, const char *name, const char *x, const char *y, const Ex *at)
{
    if (ex_is(at, 0))
        return x;
    GridStmt *s = grid_add(b, G_FUNNEL);
    s->name = name;
    s->word[0] = x;
    s->word[1] = y;
    s->value[0] = at;
    return name;
}

/* The low or high halves of the groups of 2 * bits bits of two words. */
static const char *
halves(GridBox *b, int bits, bool high, const char *x, const char *y, const char *name)
{
    if (bits == 16)
        return tile_permute(b, name, x, y, high ? 0x7632 : 0x5410);
    if (bits == 8)
        return tile_permute(b, name, x, y, high ? 0x7351 : 0x6240);
    GridStmt *s = grid_add(b, G_HALVES);
    s->name = name;
    s->word[0] = x;
    s->word[1] = y;
    s->count = bits;
    s->pattern = high;
    return name;
}

/* Exchanges the upper right and the lower left quarter of the square, then the same in each
 * quarter (Hacker's Delight, 7-3). */
void
tile_transpose(GridBox *b, int bits, const char **word)
{
    for (int half = 16; half >= bits; half /= 2)
        for (int i = 0; i < 32 / bits; i++) {
            int k = i + half / bits;
            if (i & half / bits)
                continue;
            const char *x = word[i], *y = word[k];
            word[i] = halves(b, half, false, x, y, arena_printf(b->arena, "H%d_%d", half, i));
            word[k] = halves(b, half, true, x, y, arena_printf(b->arena, "H%d_%d", half, k));
        }
}

const char *
tile_part(GridBox *b, const char *word, int size, int i)
{
    uint32_t pattern = size == 1 ? (uint32_t)i * 0x1111 : i ? 0x3232 : 0x1010;
    if (i == 0)
        return word;
    return tile_permute(b, arena_printf(b->arena, "P%d", i), word, word,
                        pattern);
}

const char *
tile_joined(GridBox *b, const char *const *part, int size, int n)
{
    if (n == 1)
        return part[0];
    if (size == 2 || n == 2)
        return tile_permute(b, "J", part[0], part[1],
                            size == 2 ? 0x5410 : 0x5140);
    return tile_permute(b, "J",
                        tile_permute(b, "J0", part[0], part[1], 0x5140),
                        tile_permute(b, "J1", part[2], part[3], 0x5140),
                        0x5410);
}
