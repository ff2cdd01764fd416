/* A permutation by following its cycles, with a bit for each item that has its place. */
#include "in_place.h"

#include <string.h>

IN_PLACE_INLINE int64_t
before(const Cycles *c, int64_t p)
{
    int64_t at = 0;
    for (int i = c->digits - 1; i > 0; i--) {
        const int64_t q = p / c->extent[i];
        at += (p - q * c->extent[i]) * c->stride[i];
        p = q;
    }
    return at + p * c->stride[0];
}

IN_PLACE_INLINE void
mark(uint64_t *seen, int64_t p)
{
    seen[p / 64] |= (uint64_t)1 << (p & 63);
}

/* The places of the next items are known before these are moved, so that they are fetched at
 * once. */
static void
cycle_of_lines(const Cycles *c, int64_t first)
{
    enum { AHEAD = 16 };
    int64_t place[AHEAD + 1] = {first}, n;
    memcpy(c->hold, c->at + first * c->item, (size_t)c->size);
    do {
        for (n = 0; n < AHEAD && (n == 0 || place[n] != first); n++) {
            mark(c->seen, place[n]);
            place[n + 1] = before(c, place[n]);
            __builtin_prefetch(c->at + place[n + 1] * c->item);
        }
        for (int64_t i = 0; i < n; i++)
            memcpy(c->at + place[i] * c->item,
                   place[i + 1] == first ? c->hold : c->at + place[i + 1] * c->item,
                   (size_t)c->size);
        place[0] = place[n];
    } while (place[0] != first);
}

/* Of items of so many bytes, a constant, that lie as far apart. */
IN_PLACE_INLINE void
cycle_of(const Cycles *c, int64_t first, int64_t size)
{
    unsigned char *at = c->at, hold[16];
    int64_t p = first;
    memcpy(hold, at + p * size, (size_t)size);
    for (int64_t q;; p = q) {
        mark(c->seen, p);
        q = before(c, p);
        if (q == first)
            break;
        memcpy(at + p * size, at + q * size, (size_t)size);
    }
    memcpy(at + p * size, hold, (size_t)size);
}

static void
cycle(const Cycles *c, int64_t first)
{
    switch (c->item == c->size ? c->size : 0) {
    case 1: cycle_of(c, first, 1); break;
    case 2: cycle_of(c, first, 2); break;
    case 4: cycle_of(c, first, 4); break;
    case 8: cycle_of(c, first, 8); break;
    case 16: cycle_of(c, first, 16); break;
    default: cycle_of_lines(c, first);
    }
}

void
cycles_run(const Cycles *c)
{
    for (int64_t p = 0; p < c->items; p++)
        if (!(c->seen[p / 64] >> (p & 63) & 1))
            cycle(c, p);
}
