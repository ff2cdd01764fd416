/* The windows of 64 bytes that a row of the program reads, for processors that permute the
 * bytes of two registers. */
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

static bool
is_in(int32_t from, int32_t window)
{
    return from >= window && from < window + LINE;
}

enum { NONE = INT32_MAX };     /* no byte is left to find */

/* The window of the first byte that is left: a line of the strip where that holds as much, else
 * from this byte on.  false: none is left. */
static bool
next_window(const Bits *b, const int32_t left[LINE], int32_t *window)
{
    int32_t least = NONE, most = INT32_MIN;
    for (int i = 0; i < LINE; i++)
        least = left[i] < least ? left[i] : least;
    if (least == NONE)
        return false;
    for (int i = 0; i < LINE; i++) {
        int32_t in = left[i] < least + LINE ? left[i] : INT32_MIN;
        most = in > most ? in : most;
    }
    const int32_t first = b->strip[strip_of(b->strips, least)].first;
    const int32_t line = first + (least - first) / LINE * LINE;
    *window = most < line + LINE ? line : least;
    return true;
}

/* Returns the number of windows, 0 if there are more than `limit`. */
static int
find_windows(const Bits *b, const int32_t from[LINE], int limit, int32_t window[WINDOWS])
{
    int32_t left[LINE];
    int n = 0;
    for (int i = 0; i < LINE; i++)
        left[i] = from[i] == FILL ? NONE : from[i];
    for (int32_t next; next_window(b, left, &next); n++) {
        if (n == limit)
            return 0;
        window[n] = next;
        for (int i = 0; i < LINE; i++)
            left[i] = is_in(left[i], next) ? NONE : left[i];
    }
    return n;
}

/* A term, which reads 16 bytes for each lane, takes as long as one or two windows. */
int
shuffle_windows(const Bits *b, int row, int terms)
{
    int32_t from[LINE], window[WINDOWS];
    if (b->bits < 8)
        return 0;
    sources_of(b, row, from);
    return find_windows(b, from, terms + 1 < WINDOWS ? terms + 1 : WINDOWS, window);
}

/* The bytes in two windows, and the index in them of each byte that the pairs before do not
 * have. */
static void
put_pair(const Bits *b, const int32_t *window, int n, int32_t from[LINE], int32_t *out)
{
    uint8_t at[LINE];
    memset(at, 0x80, sizeof at);
    for (int k = 0; k < n; k++) {
        int32_t left = b->strip[strip_of(b->strips, window[k])].end - window[k];
        out[k] = left < LINE ? left : LINE;
        for (int i = 0; i < LINE; i++)
            if (from[i] != FILL && is_in(from[i], window[k])) {
                at[i] = (uint8_t)(k * LINE + from[i] - window[k]);
                from[i] = FILL;
            }
    }
    memcpy(out + RAVEL_PAIR_AT, at, sizeof at);
}

void
shuffle_pairs(const Bits *b, int row, int windows, int32_t *out, int32_t *offset)
{
    int32_t from[LINE], window[WINDOWS];
    const int pairs = (windows + 1) / 2;
    sources_of(b, row, from);
    find_windows(b, from, WINDOWS, window);
    memset(out, 0, (size_t)pairs * RAVEL_PAIRED * sizeof *out);
    memset(offset, 0, (size_t)pairs * 2 * sizeof *offset);
    memcpy(offset, window, (size_t)windows * sizeof *offset);
    for (int k = 0; k < windows; k += 2, out += RAVEL_PAIRED)
        put_pair(b, window + k, windows - k > 1 ? 2 : 1, from, out);
}
