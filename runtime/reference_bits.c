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
