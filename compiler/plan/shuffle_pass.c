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
} BytePart;

static int
add_part(BytePart *p, int n, BytePart one)
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
parts_of(const Bits *b, int lane, BytePart *p)
{
    int n = 0, first = b->element[lane], bytes = b->bits / 8;
    int32_t start = 8 * b->lane[lane];
    for (int k = first; k < b->n && b->dst[k] < start + 8 * LANE; k++) {
        int32_t to = b->dst[k] - start, from = b->src[k];
        if (from == FILL)
            continue;
        if (bytes == 0) {
            int shift = to % 8 - (int)int_mod(from, 8);
            n = add_part(p, n, (BytePart){(int32_t)int_div(from, 8), (uint8_t)(to / 8),
                                          (uint8_t)(shift + 7), (uint8_t)
                                          (((1 << b->bits) - 1) << to % 8), false, false});
        }
        for (int i = 0; i < bytes; i++)
            if (to / 8 + i >= 0 && to / 8 + i < LANE)
                n = add_part(p, n, (BytePart){from / 8 + i, (uint8_t)(to / 8 + i), 7, 0xff,
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
is_left(const BytePart *p, Kind k)
{
    return !p->used && p->shift == k.shift && p->whole == k.whole;
}

/* The 16 bytes that begin with the first part that is left; earlier, at a multiple of 16
 * bytes, where that holds as much, as lanes then read side by side; false where none is
 * left. */
static bool
find_window(const Bits *b, const BytePart *p, int n, Kind k, int32_t *window)
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
take_window(const Bits *b, BytePart *p, int n, Kind k, int32_t *window, uint8_t at[LANE],
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
    BytePart p[PIECES_MAX];
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
        shuffle_windows(b, i, &t->row[i]);
    return shuffle_words(b, t, 1) <= WORDS_MAX;
}

/* Words of the constants of a row's terms and pairs; of its offsets. */
static i64
constant_words(const Bits *b, const Row *r)
{
    return b->fills * QUAD * WORD + r->whole * RAVEL_WHOLE + r->masked * RAVEL_MASKED +
           shuffle_pairs_of(r) * shuffle_paired(r);
}

static i64
offset_words(const Row *r)
{
    return QUAD * (1 + r->whole + r->masked) + 2 * r->parts * shuffle_pairs_of(r);
}

i64
shuffle_words(const Bits *b, const Terms *t, i64 repeats)
{
    i64 words = RAVEL_PASS_HEAD;
    for (int i = 0; i < b->nlanes / QUAD; i++)
        words += RAVEL_GROUP_HEAD + constant_words(b, &t->row[i]) +
                 repeats * offset_words(&t->row[i]);
    return words;
}

/* A row on the way into a group: where its next term's constants and windows are written. */
typedef struct {
    int32_t *constant, *window;
} Put;

/* Writes a term of one lane: the window, the picks, the mask unless it is NULL, and whether
 * the windows of the lanes are contiguous. */
static void
put_term(Put at, int lane, int32_t window, const uint8_t picks[LANE], const uint8_t *mask)
{
    at.window[lane] = window;
    at.constant[0] = lane == 0 || (at.constant[0] && window == at.window[0] + lane * LANE);
    memcpy(at.constant + RAVEL_TERM_AT + lane * WORD, picks, LANE);
    if (mask)
        memcpy(at.constant + RAVEL_TERM_MASK + lane * WORD, mask, LANE);
}

/* The terms with a mask; those that this lane has not got, with a mask of none. */
static void
put_masked(const Bits *b, const Row *r, int lane, BytePart *p, int n, Put at)
{
    uint8_t picks[LANE], mask[LANE];
    for (int s = 0; s < SHIFTS; s++)
        for (int i = 0; i < r->shifted[s]; i++) {
            int32_t window = b->strip[0].first;
            take_window(b, p, n, (Kind){s, false}, &window, picks, mask);
            put_term(at, lane % QUAD, window, picks, mask);
            at.constant[RAVEL_TERM_SHIFT] = s - 7;
            at.constant += RAVEL_MASKED;
            at.window += QUAD;
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
put_lane(const Bits *b, const Row *r, int lane, Put at)
{
    BytePart p[PIECES_MAX];
    uint8_t picks[LANE], mask[LANE];
    int n = parts_of(b, lane, p), k = lane % QUAD;
    at.window[k] = b->lane[lane];
    at.window += QUAD;
    if (b->fills) {
        put_fill(b, lane, at.constant);
        at.constant += QUAD * WORD;
    }
    for (int i = 0; i < r->whole; i++) {
        int32_t window = b->strip[0].first;
        take_window(b, p, n, (Kind){7, true}, &window, picks, mask);
        put_term(at, k, window, picks, NULL);
        at.constant += RAVEL_WHOLE;
        at.window += QUAD;
    }
    put_masked(b, r, lane, p, n, at);
}

/* 1 if the windows of each term of a row are contiguous, plus 2 if all terms have the
 * same. */
static int
windows_of(const Bits *b, const Row *r, Put at)
{
    bool even = true, same = true;
    const int32_t *term = at.constant + b->fills * QUAD * WORD, *first = at.window + QUAD;
    for (int i = 0; i < r->whole + r->masked; i++) {
        even &= term[0] != 0;
        same &= memcmp(first + QUAD * i, first, QUAD * sizeof *first) == 0;
        term += i < r->whole ? RAVEL_WHOLE : RAVEL_MASKED;
    }
    return even + 2 * same;
}

/* Writes a group of one row; its words. */
static i64
put_group(const Bits *b, const Row *r, int row, int32_t *out)
{
    const int pairs = shuffle_pairs_of(r);
    const i64 constants = constant_words(b, r), offsets = offset_words(r);
    const Put at = {out + RAVEL_GROUP_HEAD, out + RAVEL_GROUP_HEAD + constants};
    for (int k = 0; k < QUAD; k++)
        put_lane(b, r, QUAD * row + k, at);
    shuffle_pairs(b, row, r, at.window - pairs * shuffle_paired(r),
                  at.window + offsets - 2 * r->parts * pairs);
    const int32_t head[RAVEL_GROUP_HEAD] = {r->whole, r->masked, windows_of(b, r, at), pairs,
                                            r->parts, 1};
    memcpy(out, head, sizeof head);
    return RAVEL_GROUP_HEAD + constants + offsets;
}

/* Whether a group of one row has the constants of another group. */
static bool
is_alike(const int32_t *one, const int32_t *group, i64 constants)
{
    const size_t head = RAVEL_GROUP_ROWS * sizeof *one;
    return !memcmp(one, group, head) &&
           !memcmp(one + RAVEL_GROUP_HEAD, group + RAVEL_GROUP_HEAD,
                   (size_t)constants * sizeof *one);
}

/* Adds a group's rows at the other starts; `end` is behind its rows.  Returns the new end. */
static int32_t *
repeat_rows(const TileStarts *s, i64 offsets, int32_t *group, int32_t *end)
{
    const i64 words = group ? group[RAVEL_GROUP_ROWS] * offsets : 0;
    const int32_t *const rows = end - words;
    if (!group)
        return end;
    for (i64 r = 1; r < s->n; r++)
        for (i64 i = 0; i < words; i++)
            *end++ = rows[i] + s->at[i % offsets < QUAD ? DST : SRC][r];
    group[RAVEL_GROUP_ROWS] *= (int32_t)s->n;
    return end;
}

i64
shuffle_pass(const Bits *b, const Terms *t, const TileStarts *s, int32_t *out)
{
    const int rows = b->nlanes / QUAD;
    const int32_t head[RAVEL_PASS_HEAD] = {(int32_t)(rows * s->n), b->lines, b->fills, 0,
                                           b->turns};
    int32_t *group = NULL, *end = out + RAVEL_PASS_HEAD;
    i64 offsets = 0;
    memcpy(out, head, sizeof head);
    for (int i = 0; i < rows; i++) {
        const Row *r = &t->row[i];
        i64 words = put_group(b, r, i, end);
        if (group && is_alike(end, group, constant_words(b, r))) {
            memmove(end, end + words - offsets, (size_t)offsets * sizeof *end);
            group[RAVEL_GROUP_ROWS]++;
            end += offsets;
            continue;
        }
        if (group && s->n > 1) {
            end = repeat_rows(s, offsets, group, end);
            words = put_group(b, r, i, end);
        }
        group = end;
        offsets = offset_words(r);
        end += words;
    }
    return repeat_rows(s, offsets, group, end) - out;
}
