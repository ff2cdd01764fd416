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

/* The window of the first byte that none before has: a line of the strip where that holds as
 * much, else from this byte on.  false: all are found. */
static bool
next_window(const Bits *b, const int32_t from[LINE], const bool found[LINE], int32_t *window)
{
    int32_t least = INT32_MAX, most = INT32_MIN;
    for (int i = 0; i < LINE; i++)
        if (!found[i] && from[i] != FILL && from[i] < least)
            least = from[i];
    if (least == INT32_MAX)
        return false;
    for (int i = 0; i < LINE; i++)
        if (!found[i] && is_in(from[i], least) && from[i] > most)
            most = from[i];
    const int32_t first = b->strip[strip_of(b->strips, least)].first;
    const int32_t line = first + (least - first) / LINE * LINE;
    *window = most < line + LINE ? line : least;
    return true;
}

/* Returns the number of windows, 0 if there are more than WINDOWS. */
static int
find_windows(const Bits *b, const int32_t from[LINE], int32_t window[WINDOWS])
{
    bool found[LINE] = {false};
    int n = 0;
    for (int32_t next; next_window(b, from, found, &next); n++) {
        if (n == WINDOWS)
            return 0;
        window[n] = next;
        for (int i = 0; i < LINE; i++)
            found[i] |= is_in(from[i], next);
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
    int n = find_windows(b, from, window);
    return n <= terms + 1 ? n : 0;
}

/* The index in two windows of each byte that the pairs before do not have. */
static void
put_pair(const Bits *b, const int32_t *window, int n, int32_t from[LINE], int32_t *out)
{
    uint8_t at[LINE];
    memset(at, 0x80, sizeof at);
    memset(out, 0, RAVEL_PAIRED * sizeof *out);
    for (int k = 0; k < n; k++) {
        int32_t left = b->strip[strip_of(b->strips, window[k])].end - window[k];
        out[2 * k] = window[k];
        out[2 * k + 1] = left < LINE ? left : LINE;
        for (int i = 0; i < LINE; i++)
            if (from[i] != FILL && is_in(from[i], window[k])) {
                at[i] = (uint8_t)(k * LINE + from[i] - window[k]);
                from[i] = FILL;
            }
    }
    memcpy(out + 4, at, sizeof at);
}

void
shuffle_pairs(const Bits *b, int row, int windows, int32_t *out)
{
    int32_t from[LINE], window[WINDOWS];
    sources_of(b, row, from);
    find_windows(b, from, window);
    for (int k = 0; k < windows; k += 2, out += RAVEL_PAIRED)
        put_pair(b, window + k, windows - k > 1 ? 2 : 1, from, out);
}
