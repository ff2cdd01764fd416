/* A pass over a tile: the terms of its lanes, and their words. */
#include <string.h>

#include "shuffle.h"

/* More terms, or words, take longer than other kernels. */
enum { TERMS_MAX = 40, WORDS_MAX = 8192, PIECES_MAX = 8 * LANE };

/* Bits of one byte of a lane: those of `mask`, from a byte of the source that is shifted to
 * the left by shift - 7. */
typedef struct {
    int32_t from;
    uint8_t to, shift, mask;
    bool whole, used;
} Part;

static int
add_part(Part *p, int n, Part one)
{
    for (int i = n; i-- > 0 && p[i].to == one.to;)
        if (p[i].from == one.from && p[i].shift == one.shift) {
            p[i].mask |= one.mask;
            return n;
        }
    p[n] = one;
    return n + 1;
}

/* The parts of a lane by rising byte. */
static int
parts_of(const Bits *b, int lane, Part *p)
{
    int n = 0, first = b->element[lane], bytes = b->bits / 8;
    int32_t start = 8 * b->lane[lane];
    for (int k = first; k < b->n && b->dst[k] < start + 8 * LANE; k++) {
        int32_t to = b->dst[k] - start, from = b->src[k];
        if (from == FILL)
            continue;
        if (bytes == 0) {
            int shift = to % 8 - (int)int_mod(from, 8);
            n = add_part(p, n, (Part){(int32_t)int_div(from, 8), (uint8_t)(to / 8),
                                      (uint8_t)(shift + 7), (uint8_t)
                                      (((1 << b->bits) - 1) << to % 8), false, false});
        }
        for (int i = 0; i < bytes; i++)
            if (to / 8 + i >= 0 && to / 8 + i < LANE)
                n = add_part(p, n, (Part){from / 8 + i, (uint8_t)(to / 8 + i), 7, 0xff,
                                          true, false});
    }
    for (int i = 0; i < n; i++)
        p[i].whole = p[i].mask == 0xff && p[i].shift == 7;
    return n;
}

/* Parts of one shift, with a mask or without. */
typedef struct {
    int shift;
    bool whole;
} Kind;

static bool
is_left(const Part *p, Kind k)
{
    return !p->used && p->shift == k.shift && p->whole == k.whole;
}

/* The 16 bytes that begin with the first part that is left; earlier, at a multiple of 16
 * bytes, where that holds as much, as lanes then read side by side; false where none is
 * left. */
static bool
find_window(const Bits *b, const Part *p, int n, Kind k, int32_t *window)
{
    int32_t least = INT32_MAX, most = INT32_MIN;
    for (int i = 0; i < n; i++)
        if (is_left(&p[i], k) && p[i].from < least)
            least = p[i].from;
    if (least == INT32_MAX)
        return false;
    for (int i = 0; i < n; i++)
        if (is_left(&p[i], k) && p[i].from < least + LANE && p[i].from > most)
            most = p[i].from;
    const int strip = strip_of(b->strips, least);
    const int32_t first = b->strip[strip].first, end = b->strip[strip].end;
    int32_t even = first + (least - first) / LANE * LANE;
    *window = most < even + LANE ? even : least;
    if (*window > end - LANE)
        *window = end - LANE;
    return true;
}

/* The parts of one kind that the next window has: they are used then.  False where none
 * is left. */
static bool
take_window(const Bits *b, Part *p, int n, Kind k, int32_t *window, uint8_t at[LANE],
            uint8_t mask[LANE])
{
    memset(at, 0x80, LANE);
    memset(mask, 0, LANE);
    if (!find_window(b, p, n, k, window))
        return false;
    for (int i = 0; i < n; i++) {
        if (!is_left(&p[i], k) || p[i].from >= *window + LANE || at[p[i].to] != 0x80)
            continue;
        p[i].used = true;
        at[p[i].to] = (uint8_t)(p[i].from - *window);
        mask[p[i].to] = p[i].mask;
    }
    return true;
}

/* Terms of one lane. */
typedef struct {
    int whole, shifted[SHIFTS];
} Count;

static Count
count_lane(const Bits *b, int lane)
{
    Part p[PIECES_MAX];
    Count c = {0};
    uint8_t at[LANE], mask[LANE];
    int32_t window;
    int n = parts_of(b, lane, p);
    while (take_window(b, p, n, (Kind){7, true}, &window, at, mask))
        c.whole++;
    for (int s = 0; s < SHIFTS && b->bits < 8; s++)
        while (take_window(b, p, n, (Kind){s, false}, &window, at, mask))
            c.shifted[s]++;
    return c;
}

/* The end of the strip of a bit. */
static int32_t
end_of(const Bits *b, int32_t bit)
{
    return b->strip[strip_of(b->strips, (int32_t)int_div(bit, 8))].end;
}

/* Lane i has the terms of lane k: all of its elements are as far behind those of k as the
 * first, by whole bytes, and no window of it has to begin earlier. */
static bool
is_like(const Bits *b, int i, int k)
{
    int first = b->element[i], of = b->element[k];
    if (b->fills)
        return false;
    int32_t from = b->src[first] - b->src[of], to = b->dst[first] - b->dst[of];
    if (to != 8 * (b->lane[i] - b->lane[k]) || int_mod(from, 8))
        return false;
    for (int e = 0; first + e < b->n && b->dst[first + e] < 8 * (b->lane[i] + LANE); e++)
        if (b->src[first + e] - b->src[of + e] != from ||
            b->dst[first + e] - b->dst[of + e] != to ||
            b->src[first + e] > 8 * (end_of(b, b->src[first + e]) - LANE))
            return false;
    return true;
}

static void
add_lane(Row *r, const Count *c)
{
    r->whole = c->whole > r->whole ? c->whole : r->whole;
    r->masked = 0;
    for (int s = 0; s < SHIFTS; s++) {
        r->shifted[s] = (uint8_t)(c->shifted[s] > r->shifted[s] ? c->shifted[s] : r->shifted[s]);
        r->masked += r->shifted[s];
    }
}

bool
shuffle_terms(const Bits *b, Terms *t)
{
    Count first, last;
    *t = (Terms){0};
    for (int i = 0, k = 0; i < b->nlanes; i++) {
        if (i == 0)
            first = last = count_lane(b, i);
        else if (is_like(b, i, 0))
            last = first;
        else if (!is_like(b, i, k))
            last = count_lane(b, i);
        k = i;
        Row *r = &t->row[i / QUAD];
        add_lane(r, &last);
        if (r->whole + r->masked > TERMS_MAX)
            return false;
    }
    for (int i = 0; i < b->nlanes / QUAD; i++)
        t->row[i].windows = shuffle_windows(b, i, t->row[i].whole);
    return shuffle_words(b, t) <= WORDS_MAX;
}

static int
pairs_of(const Row *r)
{
    return (r->windows + 1) / 2;
}

i64
shuffle_row_words(const Bits *b, const Row *r)
{
    return RAVEL_ROW_HEAD + b->fills * QUAD * WORD + r->whole * RAVEL_WHOLE +
           r->masked * RAVEL_MASKED + pairs_of(r) * RAVEL_PAIRED;
}

i64
shuffle_words(const Bits *b, const Terms *t)
{
    i64 words = RAVEL_PASS_HEAD;
    for (int i = 0; i < b->nlanes / QUAD; i++)
        words += shuffle_row_words(b, &t->row[i]);
    return words;
}

/* Writes a term of one lane into the words of its row: the window, the picks, the mask
 * unless it is NULL, and whether the windows of the lanes are contiguous. */
static void
put_term(int32_t *quad, int lane, int32_t window, const uint8_t at[LANE],
         const uint8_t *mask)
{
    quad[lane] = window;
    quad[QUAD] = lane == 0 || (quad[QUAD] && window == quad[0] + lane * LANE);
    memcpy(quad + RAVEL_TERM_AT + lane * WORD, at, LANE);
    if (mask)
        memcpy(quad + RAVEL_TERM_MASK + lane * WORD, mask, LANE);
}

/* The terms with a mask; those that this lane has not got, with a mask of none. */
static void
put_masked(const Bits *b, const Row *r, int lane, Part *p, int n, int32_t *out)
{
    uint8_t at[LANE], mask[LANE];
    for (int s = 0; s < SHIFTS; s++)
        for (int i = 0; i < r->shifted[s]; i++, out += RAVEL_MASKED) {
            int32_t window = b->strip[0].first;
            take_window(b, p, n, (Kind){s, false}, &window, at, mask);
            put_term(out, lane % QUAD, window, at, mask);
            out[RAVEL_TERM_SHIFT] = s - 7;
        }
}

static void
put_fill(const Bits *b, int lane, int32_t *out)
{
    uint8_t mask[LANE] = {0};
    for (int i = b->element[lane]; i < b->n; i++)
        for (int j = 0, to = b->dst[i] / 8 - b->lane[lane]; j < b->bits / 8; j++)
            if (b->src[i] == FILL && to + j >= 0 && to + j < LANE)
                mask[to + j] = 0xff;
    memcpy(out + lane % QUAD * WORD, mask, LANE);
}

static void
put_lane(const Bits *b, const Row *r, int lane, int32_t *out)
{
    Part p[PIECES_MAX];
    uint8_t at[LANE], mask[LANE];
    int n = parts_of(b, lane, p), k = lane % QUAD;
    out[RAVEL_ROW_TO + k] = b->lane[lane];
    out += RAVEL_ROW_HEAD;
    if (b->fills) {
        put_fill(b, lane, out);
        out += QUAD * WORD;
    }
    for (int i = 0; i < r->whole; i++, out += RAVEL_WHOLE) {
        int32_t window = b->strip[0].first;
        take_window(b, p, n, (Kind){7, true}, &window, at, mask);
        put_term(out, k, window, at, NULL);
    }
    put_masked(b, r, lane, p, n, out);
}

/* 1 if the windows of each term of a row are contiguous, plus 2 if all terms have the
 * same. */
static int
windows_of(const Bits *b, const Row *r, const int32_t *out)
{
    bool even = true, same = true;
    const int32_t *first = out += RAVEL_ROW_HEAD + b->fills * QUAD * WORD;
    for (int i = 0; i < r->whole + r->masked; i++) {
        even &= out[QUAD] != 0;
        same &= memcmp(out, first, QUAD * sizeof *out) == 0;
        out += i < r->whole ? RAVEL_WHOLE : RAVEL_MASKED;
    }
    return even + 2 * same;
}

void
shuffle_pass(const Bits *b, const Terms *t, int32_t *out)
{
    const int32_t head[RAVEL_PASS_HEAD] = {b->nlanes / QUAD, b->lines, b->fills, 0, b->turns};
    memcpy(out, head, sizeof head);
    out += RAVEL_PASS_HEAD;
    for (int i = 0; i < b->nlanes / QUAD; i++) {
        const Row *r = &t->row[i];
        for (int k = 0; k < QUAD; k++)
            put_lane(b, r, QUAD * i + k, out);
        const int32_t terms[] = {r->whole, r->masked, windows_of(b, r, out)};
        memcpy(out, terms, sizeof terms);
        out[RAVEL_ROW_PAIRS] = pairs_of(r);
        out += shuffle_row_words(b, r);
        shuffle_pairs(b, i, r->windows, out - pairs_of(r) * RAVEL_PAIRED);
    }
}
