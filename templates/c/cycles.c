/* A permutation of items of which `size` bytes are moved, and which lie `item` bytes apart.  The
 * place of an item, as digits of these extents, outermost first, gives by their strides the place
 * where it was before.  `seen` has a bit for each place; `hold` has room for an item. */
typedef struct {
    unsigned char *at, *hold;
    uint64_t *seen;
    int64_t item, size;
    int digits;
    const int64_t *extent, *stride;
} ravel_permutation;

RAVEL_CONSTANT int64_t
ravel_cycle_before(const ravel_permutation *c, int64_t p)
{
    int64_t at = 0;
    for (int i = c->digits - 1; i > 0; i--) {
        const int64_t q = p / c->extent[i];
        at += (p - q * c->extent[i]) * c->stride[i];
        p = q;
    }
    return at + p * c->stride[0];
}

RAVEL_CONSTANT void
ravel_cycle_mark(uint64_t *seen, int64_t p)
{
    seen[p / 64] |= (uint64_t)1 << (p & 63);
}

/* The places of the next items are known before these are moved, so that they are fetched at
 * once. */
static void
ravel_cycle_far(const ravel_permutation *c, int64_t first)
{
    enum { AHEAD = 16 };
    int64_t place[AHEAD + 1] = {first}, n;
    memcpy(c->hold, c->at + first * c->item, (size_t)c->size);
    do {
        for (n = 0; n < AHEAD && (n == 0 || place[n] != first); n++) {
            ravel_cycle_mark(c->seen, place[n]);
            place[n + 1] = ravel_cycle_before(c, place[n]);
            RAVEL_PREFETCH(c->at + place[n + 1] * c->item);
        }
        for (int64_t i = 0; i < n; i++)
            memcpy(c->at + place[i] * c->item,
                   place[i + 1] == first ? c->hold : c->at + place[i + 1] * c->item,
                   (size_t)c->size);
        place[0] = place[n];
    } while (place[0] != first);
}

/* Of items of so many bytes, a constant, that lie as far apart. */
RAVEL_CONSTANT void
ravel_cycle_near(const ravel_permutation *c, int64_t first, int64_t size)
{
    unsigned char *at = c->at, hold[16];
    int64_t p = first;
    memcpy(hold, at + p * size, (size_t)size);
    for (int64_t q;; p = q) {
        ravel_cycle_mark(c->seen, p);
        q = ravel_cycle_before(c, p);
        if (q == first)
            break;
        memcpy(at + p * size, at + q * size, (size_t)size);
    }
    memcpy(at + p * size, hold, (size_t)size);
}

static void
ravel_cycle(const ravel_permutation *c, int64_t first)
{
    switch (c->item == c->size ? c->size : 0) {
    case 1: ravel_cycle_near(c, first, 1); break;
    case 2: ravel_cycle_near(c, first, 2); break;
    case 4: ravel_cycle_near(c, first, 4); break;
    case 8: ravel_cycle_near(c, first, 8); break;
    case 16: ravel_cycle_near(c, first, 16); break;
    default: ravel_cycle_far(c, first);
    }
}

/* Follows the cycles of the permutation.  `scratch`, which is aligned to 8 bytes, has room for an
 * item after a bit for each of them, in words of 8 bytes. */
static void
ravel_cycles(unsigned char *at, void *scratch, int64_t items, int64_t item, int64_t size,
             int digits, const int64_t *extent, const int64_t *stride)
{
    uint64_t *seen = (uint64_t *)scratch;
    const int64_t words = (items + 63) / 64;
    const ravel_permutation c = {at, (unsigned char *)(seen + words), seen, item, size, digits,
                                 extent, stride};
    memset(seen, 0, (size_t)words * 8);
    for (int64_t p = 0; p < items; p++)
        if (!(seen[p / 64] >> (p & 63) & 1))
            ravel_cycle(&c, p);
}
