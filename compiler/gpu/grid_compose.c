/* Words of a unit of the destination, composed of those of the source by permutations of bytes
 * or by shifts and masks. */
#include "grid_tile.h"
#include "grid_unit.h"

enum { TERMS_MAX = 10, FILL_WORD = -1 };

/* The word and the bit of the source that bit `bit` of the destination is: FILL_WORD and
 * the same bit for the fill. */
static int
origin(const Words *w, int bit, int *from)
{
    int k = w->from[bit / w->bits];
    *from = k < 0 ? bit % WORD_BITS : (k * w->bits + bit % w->bits) % WORD_BITS;
    return k < 0 ? FILL_WORD : k * w->bits / WORD_BITS;
}

/* The bits of destination word d that are bit + shift of a word. */
static uint32_t
mask_of(const Words *w, int d, int word, int shift)
{
    uint32_t mask = 0;
    for (int i = 0, from; i < WORD_BITS; i++)
        if (origin(w, WORD_BITS * d + i, &from) == word && from == i + shift)
            mask |= UINT32_C(1) << i;
    return mask;
}

/* Adds "| (A0 & mask) << shift"; the mask is for the bits in the destination. */
static void
add_term(Buf *b, const char *word, uint32_t mask, int shift)
{
    buf_add(b, b->len ? " | " : "");
    if (mask == UINT32_MAX)
        buf_add(b, word);
    else if (shift == 0)
        buf_printf(b, "(%s & 0x%xu)", word, mask);
    else if (shift < 0)
        buf_printf(b, "((%s & 0x%xu) << %d)", word, mask >> -shift, -shift);
    else
        buf_printf(b, "((%s >> %d) & 0x%xu)", word, shift, mask);
}

static const char *
word_named(const Words *w, int word)
{
    const char *fill[4];
    if (word != FILL_WORD)
        return w->word[word];
    grid_pattern(w->b, WORD_BITS, fill);
    return fill[0];
}

/* Destination word d by shifts and masks; NULL if that takes too many. */
static const char *
by_terms(const Words *w, int d)
{
    Buf b = buf_new(w->b->arena);
    int n = 0;
    for (int i = FILL_WORD; i < w->words[SPACE_SRC]; i++)
        for (int shift = 1 - WORD_BITS; shift < WORD_BITS; shift++) {
            uint32_t mask = mask_of(w, d, i, shift);
            if (mask)
                add_term(&b, word_named(w, i), mask, shift);
            n += mask != 0;
        }
    return n > TERMS_MAX ? NULL : b.s;
}

/* The byte of a word of the source that byte i of destination word d is; false if it is no
 * whole byte. */
static bool
byte_from(const Words *w, int d, int i, int *word, int *byte)
{
    int from, first;
    *word = origin(w, WORD_BITS * d + 8 * i, &first);
    *byte = first / 8;
    for (int k = 0; k < 8; k++)
        if (origin(w, WORD_BITS * d + 8 * i + k, &from) != *word || from != first + k)
            return false;
    return first % 8 == 0;
}

/* Destination word d by permutations of bytes, of two words at a time; NULL if bits leave
 * their bytes. */
static const char *
by_bytes(const Words *w, int d)
{
    int word[4], byte[4];
    const char *value = NULL;
    for (int i = 0; i < 4; i++)
        if (!byte_from(w, d, i, &word[i], &byte[i]))
            return NULL;
    for (int i = 0; i < 4; i++) {
        uint32_t pattern = 0;
        bool again = false, same = true;
        for (int k = 0; k < i; k++)
            again |= word[k] == word[i];
        if (again)
            continue;
        for (int k = 0; k < 4; k++) {
            int pick = word[k] == word[i] ? byte[k] + 4 * (value != NULL) : k;
            pattern |= (uint32_t)pick << 4 * k;
            same &= pick == k;
        }
        const char *next = word_named(w, word[i]);
        if (!value && same)
            value = next;
        else
            value = tile_permute(w->b, arena_printf(w->b->arena, "W%d_%d", d, i),
                                 value ? value : next, next, pattern);
    }
    return value;
}

bool
unit_has_few_terms(const Words *w)
{
    int word, byte;
    for (int d = 0; d < w->words[SPACE_DST]; d++) {
        bool bytes = true;
        for (int i = 0; i < 4; i++)
            bytes &= byte_from(w, d, i, &word, &byte);
        if (!bytes && !by_terms(w, d))
            return false;
    }
    return true;
}

const char *
unit_word(const Words *w, int d)
{
    const char *bytes = by_bytes(w, d);
    return bytes ? bytes : by_terms(w, d);
}
