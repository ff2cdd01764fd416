/* Words that are made of elements, and elements that are parts of words. */
#include "grid_tile.h"

const char *
tile_word(GridBox *b, const char *vector, int width, int word)
{
    return width <= 4 ? vector : arena_printf(b->arena, "%s.%c", vector, "xyzw"[word]);
}

const char *
tile_permute(GridBox *b, GridKind kind, const char *name, const char *x, const char *y,
             uint32_t pattern)
{
    GridStmt *s = grid_add(b, kind);
    s->name = name;
    s->word[0] = x;
    s->word[1] = y;
    s->pattern = pattern;
    return name;
}

const char *
tile_part(GridBox *b, const char *word, int size, int i)
{
    uint32_t pattern = size == 1 ? (uint32_t)i * 0x1111 : i ? 0x3232 : 0x1010;
    if (i == 0)
        return word;
    return tile_permute(b, G_PERMUTE, arena_printf(b->arena, "P%d", i), word, word,
                        pattern);
}

const char *
tile_joined(GridBox *b, const char *const *part, int size, int n)
{
    if (n == 1)
        return part[0];
    if (size == 2 || n == 2)
        return tile_permute(b, G_PERMUTE, "J", part[0], part[1],
                            size == 2 ? 0x5410 : 0x5140);
    return tile_permute(b, G_PERMUTE, "J",
                        tile_permute(b, G_PERMUTE, "J0", part[0], part[1], 0x5140),
                        tile_permute(b, G_PERMUTE, "J1", part[2], part[3], 0x5140),
                        0x5410);
}
