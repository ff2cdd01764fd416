/* Comparisons of elements below a byte: 64 bits of one side at once. */
#include "reference_bits.h"

#include <string.h>

#include "element.h"

enum { WORD = 64 };

bool
bits_turn(const ReferencePatch *r, int bits)
{
    i64 starts = r->to | r->from | r->inner.from | r->outer.to;
    return bits < 8 && r->inner.to == 1 && r->outer.from == 1 && starts * bits % 8 == 0;
}

/* The n bits at p. */
static inline uint64_t
load(const unsigned char *p, int n)
{
    uint64_t v = 0;
    if (n == WORD) {
        memcpy(&v, p, sizeof v);
        return v;
    }
    memcpy(&v, p, (size_t)(n + 7) / 8);
    return v & (((uint64_t)1 << n) - 1);
}

/* Transpose a square of elements, a row a word: quarters are swapped, then quarters of these. */
__attribute__((always_inline))
static inline void
turn(uint64_t *row, int bits)
{
    const int all = WORD / bits;
    uint64_t low = UINT32_MAX;
    for (int half = all / 2; half; half /= 2) {
        int shift = half * bits;
        for (int k = 0; k < all; k = ((k | half) + 1) & ~half) {
            uint64_t swap = (row[k] >> shift ^ row[k | half]) & low;
            row[k | half] ^= swap;
            row[k] ^= swap << shift;
        }
        low ^= low << shift / 2;
    }
}

static i64
least(i64 a, i64 b)
{
    return a < b ? a : b;
}

/* The square of a patch from (k, i) of outer and inner on.  Inlined where `bits` is a constant,
 * as all that follows. */
__attribute__((always_inline))
static inline uint64_t
square_differs(const unsigned char *dst, const unsigned char *src, const ReferencePatch *r,
               i64 k, i64 i, int bits)
{
    const int all = WORD / bits;
    uint64_t row[WORD] = {0}, wrong = 0;
    int rows = (int)least(r->inner.n - i, all), columns = (int)least(r->outer.n - k, all);
    i64 from = r->from + i * r->inner.from + k, to = r->to + k * r->outer.to + i;
    for (int n = 0; n < rows; n++, from += r->inner.from)
        row[n] = load(src + from * bits / 8, columns * bits);
    turn(row, bits);
    for (int n = 0; n < columns; n++, to += r->outer.to)
        wrong |= row[n] ^ load(dst + to * bits / 8, rows * bits);
    return wrong;
}

__attribute__((always_inline))
static inline bool
turned_same(const unsigned char *dst, const unsigned char *src, const ReferencePatch *r, int bits)
{
    uint64_t wrong = 0;
    for (i64 i = 0; i < r->inner.n; i += WORD / bits)
        for (i64 k = 0; k < r->outer.n; k += WORD / bits)
            wrong |= square_differs(dst, src, r, k, i, bits);
    return !wrong;
}

bool
bits_turned_same(const unsigned char *dst, const unsigned char *src, const ReferencePatch *r,
                 int bits)
{
    return bits == 1   ? turned_same(dst, src, r, 1)
           : bits == 2 ? turned_same(dst, src, r, 2)
                       : turned_same(dst, src, r, 4);
}

/* Where the elements of a byte of the source lie in a word of the destination. */
typedef struct {
    i64 at[8];                     /* slots, from the lowest on */
    i64 first;                     /* that of the first of them from the lowest */
    uint64_t of[256], mask;        /* the word of each byte; the bits of its elements */
    bool whole;                    /* they are a byte there too */
} Spread;

/* Inner coordinates from i on: whether they are a byte of the source, and near each other. */
static bool
byte_at(const ReferenceGrid *r, int i, int bits, i64 *at, i64 *first)
{
    const int per = 8 / bits;
    i64 low = INF, high = 0;
    for (int k = 0; k < per; k++) {
        low = least(low, r->to_inner[i + k]);
        if (r->from_inner[i + k] != r->from_inner[i] + k)
            return false;
    }
    for (int k = 0; k < per; k++) {
        at[k] = r->to_inner[i + k] - low;
        high = at[k] > high ? at[k] : high;
    }
    *first = r->to_inner[i] - low;
    return high * bits + bits + 7 <= WORD && (r->from + r->from_inner[i]) * bits % 8 == 0;
}

static void
spread_of(Spread *s, int bits)
{
    const int per = 8 / bits;
    const uint64_t mask = (1u << bits) - 1;
    s->mask = 0;
    for (int k = 0; k < per; k++)
        s->mask |= mask << s->at[k] * bits;
    for (unsigned v = 0; v < 256; v++) {
        s->of[v] = 0;
        for (int k = 0; k < per; k++)
            s->of[v] |= (v >> k * bits & mask) << s->at[k] * bits;
    }
}

/* Whether the bytes of the source are bytes of the destination. */
static bool
are_whole(const ReferenceGrid *r, int bits, const Spread *s)
{
    const int per = 8 / bits;
    i64 starts = r->to;
    for (int k = 0; k < per; k++)
        if (s->at[k] != k)
            return false;
    for (int i = 0; i < r->n; i += per)
        starts |= r->to_inner[i];
    for (int k = 0; k < r->rows; k++)
        starts |= r->to_outer[k];
    return starts % per == 0;
}

/* Whether all bytes of a row of the grid lie in the same way; s has it then. */
static bool
spread_for(const ReferenceGrid *r, int bits, Spread *s)
{
    i64 at[8] = {0}, first;
    if (r->n % (8 / bits) || !byte_at(r, 0, bits, s->at, &s->first))
        return false;
    for (int i = 8 / bits; i < r->n; i += 8 / bits)
        if (!byte_at(r, i, bits, at, &first) ||
            memcmp(at, s->at, sizeof *at * (size_t)(8 / bits)))
            return false;
    for (int k = 0; k < r->rows; k++)
        if (r->from_outer[k] * bits % 8)
            return false;
    spread_of(s, bits);
    s->whole = are_whole(r, bits, s);
    return true;
}

/* A row of the grid at slots `to` and `from`, of which the inner ones count. */
__attribute__((always_inline))
static inline uint64_t
row_differs(const unsigned char *dst, const unsigned char *src, const ReferenceGrid *r,
            const Spread *s, i64 to, i64 from, int bits)
{
    uint64_t wrong = 0, word;
    to -= s->first;
    for (int i = 0; i < r->n && s->whole; i += 8 / bits)
        wrong |= dst[(to + r->to_inner[i]) * bits / 8] ^
                 src[(from + r->from_inner[i]) * bits / 8];
    for (int i = 0; i < r->n && !s->whole; i += 8 / bits) {
        i64 bit = (to + r->to_inner[i]) * bits;
        memcpy(&word, dst + bit / 8, sizeof word);
        wrong |= (word >> bit % 8 & s->mask) ^ s->of[src[(from + r->from_inner[i]) * bits / 8]];
    }
    return wrong;
}

__attribute__((always_inline))
static inline bool
grid_same(const unsigned char *dst, const unsigned char *src, const ReferenceGrid *r,
          const Spread *s, int bits)
{
    uint64_t wrong = 0;
    for (int k = 0; k < r->rows; k++)
        wrong |= row_differs(dst, src, r, s, r->to + r->to_outer[k], r->from + r->from_outer[k],
                             bits);
    return !wrong;
}

/* The highest slot of the destination that a grid has. */
static i64
highest(const ReferenceGrid *r)
{
    i64 inner = r->to_inner[0], outer = r->to_outer[0];
    for (int i = 1; i < r->n; i++)
        inner = r->to_inner[i] > inner ? r->to_inner[i] : inner;
    for (int k = 1; k < r->rows; k++)
        outer = r->to_outer[k] > outer ? r->to_outer[k] : outer;
    return r->to + inner + outer;
}

bool
bits_grid_same(const unsigned char *dst, i64 bytes, const unsigned char *src,
               const ReferenceGrid *r, int bits)
{
    Spread s = {.mask = 0};
    if (highest(r) * bits / 8 + (i64)sizeof s.mask > bytes || !spread_for(r, bits, &s))
        return false;
    return bits == 1   ? grid_same(dst, src, r, &s, 1)
           : bits == 2 ? grid_same(dst, src, r, &s, 2)
                       : grid_same(dst, src, r, &s, 4);
}
