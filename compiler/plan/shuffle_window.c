/* The windows that a row of the program reads, for processors that permute the bytes of two
 * registers: of 64 bytes, one a register, or of 16, of which a register has four. */
#include <string.h>

#include "shuffle.h"

enum { LINE = QUAD * LANE };

/* The byte of the source for each byte of a row; FILL: none. */
static void
sources_of(const Bits *b, int row, int32_t from[LINE])
{
    for (int i = 0; i < LINE; i++)
        from[i] = FILL;
    for (int i = 0; i < QUAD; i++) {
        int lane = row * QUAD + i;
        int32_t start = 8 * b->lane[lane];
        for (int k = b->element[lane]; k < b->n && b->dst[k] < start + 8 * LANE; k++)
            for (int j = 0, to = (b->dst[k] - start) / 8; j < b->bits / 8; j++)
                if (b->src[k] != FILL && to + j >= 0 && to + j < LANE)
                    from[i * LANE + to + j] = b->src[k] / 8 + j;
    }
}

/* The same of the halves of bytes, in bits: lower ones, then upper ones. */
static void
halves_of(const Bits *b, int row, int32_t from[2 * LINE])
{
    for (int i = 0; i < 2 * LINE; i++)
        from[i] = FILL;
    for (int i = 0; i < QUAD; i++) {
        int lane = row * QUAD + i;
        int32_t start = 8 * b->lane[lane];
        for (int k = b->element[lane]; k < b->n && b->dst[k] < start + 8 * LANE; k++) {
            int to = (b->dst[k] - start) / 4;
            if (to >= 0)
                from[to % 2 * LINE + i * LANE + to / 2] = b->src[k];
        }
    }
}

static bool
is_in(int32_t from, int32_t window, int size)
{
    return from >= window && from < window + size;
}

enum { NONE = INT32_MAX };     /* no byte is left to find */

/* The window of the first byte that is left: one of those that follow each other from the start
 * of the strip where that holds as much, else from this byte on.  Windows are read whole,
 * except those of 64 bytes of a shorter strip.  false: none is left, or the strip is too short. */
static bool
next_window(const Bits *b, const int32_t *left, int all, int size, int32_t *window)
{
    int32_t least = NONE, most = INT32_MIN;
    for (int i = 0; i < all; i++)
        least = left[i] < least ? left[i] : least;
    if (least == NONE)
        return false;
    for (int i = 0; i < all; i++) {
        int32_t in = left[i] < least + size ? left[i] : INT32_MIN;
        most = in > most ? in : most;
    }
    const int strip = strip_of(b->strips, least);
    const int32_t first = b->strip[strip].first, end = b->strip[strip].end;
    const int32_t even = first + (least - first) / size * size;
    *window = most < even + size ? even : least;
    if ((size == LANE || end - first >= size) && *window > end - size)
        *window = end - size;
    return *window >= first;
}

/* Returns the number of windows of `many` bytes, 0 if there are more than `limit`, or some byte is in
 * none. */
static int
find_windows(const Bits *b, const int32_t *from, int many, int size, int limit,
             int32_t window[WINDOWS])
{
    int32_t left[2 * LINE];
    int n = 0, found = 0, all = 0;
    for (int i = 0; i < many; i++) {
        left[i] = from[i] == FILL ? NONE : from[i];
        all += left[i] != NONE;
    }
    for (int32_t next; next_window(b, left, many, size, &next); n++) {
        if (n == limit)
            return 0;
        window[n] = next;
        for (int i = 0; i < many; i++) {
            bool in = is_in(left[i], next, size);
            found += in;
            left[i] = in ? NONE : left[i];
        }
    }
    return found == all ? n : 0;
}

/* Whether the halves of each lane come from 16 bytes of the source: terms, which read these once, take
 * less than windows. */
static bool
is_close(const int32_t byte[2 * LINE])
{
    bool close = true;
    for (int lane = 0; lane < QUAD; lane++) {
        int32_t least = INT32_MAX, most = INT32_MIN;
        for (int i = 0; i < 2 * LANE; i++) {
            const int32_t at = byte[i / LANE * LINE + lane * LANE + i % LANE];
            least = at < least ? at : least;
            most = at > most ? at : most;
        }
        close &= most - least < LANE;
    }
    return close;
}

/* The windows of halves of bytes, which are read whole; 0: they have none. */
static int
find_halves(const Bits *b, int row, int32_t from[2 * LINE], int32_t window[WINDOWS])
{
    int32_t byte[2 * LINE];
    halves_of(b, row, from);
    for (int i = 0; i < 2 * LINE; i++) {
        if (from[i] == FILL)
            return 0;
        byte[i] = (int32_t)int_div(from[i], 8);
    }
    for (int i = 0; i < (b->strips < 2 ? 1 : b->strips); i++)
        if (b->strip[i].end - b->strip[i].first < LINE)
            return 0;
    return is_close(byte) ? 0 : find_windows(b, byte, 2 * LINE, LINE, WINDOWS, window);
}

/* Of halves one, two or four, as templates/c/shuffle_group.c has no loop for three. */
int
shuffle_pairs_of(const Row *r)
{
    const int pairs = (shuffle_registers(r) + 1) / 2;
    return r->masked && pairs == 3 ? 4 : pairs;
}

int
shuffle_paired(const Row *r)
{
    return r->masked ? RAVEL_HALVED : RAVEL_PAIRED;
}

int
shuffle_registers(const Row *r)
{
    return (int)int_ceil_div(r->windows, r->parts);
}

/* A register of four windows takes as long as two or three windows of 64 bytes, most of which
 * lie in two cache lines (266 cases in the caches, Emerald Rapids). */
double
shuffle_windows_cost(const Row *r)
{
    static const double START = 0.5, ONE = 0.5, FOUR = 1.2, HALVES[] = {0, 0.9, 2.2, 6, 6};
    if (r->masked)
        return START + HALVES[shuffle_pairs_of(r)];
    return START + (r->parts == 1 ? ONE : FOUR) * shuffle_registers(r);
}

/* A term, which reads 16 bytes for each lane, takes as long as one or two windows. */
void
shuffle_windows(const Bits *b, int row, Row *r)
{
    int32_t from[LINE], window[WINDOWS];
    r->windows = 0;
    r->parts = 1;
    if (b->bits == 4 && r->masked) {
        int32_t half[2 * LINE];
        r->windows = find_halves(b, row, half, window);
    }
    if (b->bits < 8)
        return;
    sources_of(b, row, from);
    const int limit = r->whole + 1 < WINDOWS ? r->whole + 1 : WINDOWS;
    r->windows = find_windows(b, from, LINE, LINE, limit, window);
    Row small = *r;
    if (r->windows == 1 || r->windows == 2)    /* as fast as four small ones */
        return;
    small.parts = QUAD;
    small.windows = find_windows(b, from, LINE, LANE, WINDOWS, window);
    if (small.windows &&
        (!r->windows || shuffle_windows_cost(&small) < shuffle_windows_cost(r)))
        *r = small;
}

/* The bytes in the windows of two registers, and the index in them of each byte that the pairs
 * before do not have.  Registers of small windows are read whole. */
static void
put_pair(const Bits *b, const int32_t *window, int n, int parts, int32_t from[LINE],
         int32_t *out)
{
    const int size = LINE / parts;
    uint8_t at[LINE];
    memset(at, 0x80, sizeof at);
    for (int k = 0; k < n; k++) {
        int32_t left = b->strip[strip_of(b->strips, window[k])].end - window[k];
        out[k / parts] = parts > 1 || left > LINE ? LINE : left;
        for (int i = 0; i < LINE; i++)
            if (from[i] != FILL && is_in(from[i], window[k], size)) {
                at[i] = (uint8_t)(k * size + from[i] - window[k]);
                from[i] = FILL;
            }
    }
    memcpy(out + RAVEL_PAIR_AT, at, sizeof at);
}

/* A pair of windows: the indices of the halves that it has, which pairs before it do not have, and the
 * upper ones of these. */
static void
put_halves(const int32_t *window, int32_t from[2 * LINE], int32_t *out)
{
    uint8_t at[2 * LINE], upper[2 * LINE];
    memset(at, 0x80, sizeof at);
    for (int i = 0; i < 2 * LINE; i++) {
        const int32_t byte = from[i] == FILL ? FILL : (int32_t)int_div(from[i], 8);
        upper[i] = from[i] != FILL && int_mod(from[i], 8) ? 0xff : 0;
        for (int k = 0; k < 2 && at[i] == 0x80 && byte != FILL; k++)
            if (is_in(byte, window[k], LINE))
                at[i] = (uint8_t)(k * LINE + byte - window[k]);
        from[i] = at[i] == 0x80 ? from[i] : FILL;
    }
    out[0] = out[1] = LINE;
    memcpy(out + RAVEL_PAIR_AT, at, sizeof at);
    memcpy(out + RAVEL_PAIR_UPPER, upper, sizeof upper);
}

/* All pairs; what is left of the windows is the last one again. */
static void
halves_put(const Bits *b, int row, const Row *r, int32_t *out, int32_t *offset)
{
    const int all = 2 * shuffle_pairs_of(r);
    int32_t from[2 * LINE], window[WINDOWS];
    find_halves(b, row, from, window);
    for (int k = r->windows; k < all; k++)
        window[k] = window[r->windows - 1];
    for (int k = 0; k < all; k += 2, out += RAVEL_HALVED) {
        memcpy(offset + k, window + k, 2 * sizeof *offset);
        put_halves(window + k, from, out);
    }
}

void
shuffle_pairs(const Bits *b, int row, const Row *r, int32_t *out, int32_t *offset)
{
    int32_t from[LINE], window[WINDOWS];
    const int each = 2 * r->parts, pairs = shuffle_pairs_of(r);
    if (!r->windows)
        return;
    if (r->masked) {
        halves_put(b, row, r, out, offset);
        return;
    }
    sources_of(b, row, from);
    find_windows(b, from, LINE, LINE / r->parts, WINDOWS, window);
    memset(out, 0, (size_t)pairs * RAVEL_PAIRED * sizeof *out);
    for (int i = 0; i < pairs * each; i++)
        offset[i] = i < r->windows ? window[i] : r->parts > 1 ? window[0] : 0;
    for (int k = 0; k < r->windows; k += each, out += RAVEL_PAIRED)
        put_pair(b, window + k, r->windows - k > each ? each : r->windows - k, r->parts, from,
                 out);
}
