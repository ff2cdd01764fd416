/* Comparisons of grids of elements below a byte: a word of the destination at once, where words are
 * bytes of the source whose elements are permuted, else those of a byte of the source. */
#include "reference_bits.h"

#include <string.h>

enum { WORD = 64, BYTES = 8 };

/* Words of the destination, each of the elements of 8 bytes of the source: `bytes` of a row, of
 * `rows` rows. */
typedef struct {
    int rows, bytes, per;          /* per: elements of a byte */
    i64 low;                       /* the lowest slot of a word, from that of its first element */
    uint64_t of[BYTES][256];       /* what each byte puts into the word */
} Words;

/* Whether n coordinates lie, from the multiples of `every` on, as the first ones do. */
static bool
repeats(const i64 *at, int n, int every)
{
    i64 other = n % every;
    for (int i = every; i < n && !other; i += every)
        for (int k = 1; k < every; k++)
            other |= (at[i + k] - at[i]) ^ (at[k] - at[0]);
    return !other;
}

/* Whether the elements that `inner` has of the source are bytes. */
static bool
are_bytes(const ReferenceGrid *r, int bits)
{
    const int per = 8 / bits;
    i64 starts = r->from;
    for (int i = 0; i < r->n; i++)
        if (i % per && r->from_inner[i] != r->from_inner[i - 1] + 1)
            return false;
    for (int i = 0; i < r->n; i += per)
        starts |= r->from_inner[i];
    for (int k = 0; k < r->rows; k++)
        starts |= r->from_outer[k];
    return starts % per == 0;
}

/* Whether the words begin at bytes. */
static bool
begin_at_bytes(const ReferenceGrid *r, const Words *w)
{
    i64 starts = r->to + r->to_inner[0] + r->to_outer[0] + w->low;
    for (int i = 0; i < r->n; i += w->bytes * w->per)
        starts |= r->to_inner[i] - r->to_inner[0];
    for (int k = 0; k < r->rows; k += w->rows)
        starts |= r->to_outer[k] - r->to_outer[0];
    return starts % w->per == 0;
}

/* Set what each byte puts into a word.  False: they do not fill it. */
static bool
set_words(const ReferenceGrid *r, int bits, Words *w)
{
    const uint64_t mask = (1u << bits) - 1;
    uint64_t all = 0;
    w->low = 0;
    for (int j = 0; j < BYTES * w->per; j++) {
        i64 at = r->to_inner[j % (w->bytes * w->per)] - r->to_inner[0] +
                 r->to_outer[j / (w->bytes * w->per)] - r->to_outer[0];
        w->low = at < w->low ? at : w->low;
    }
    memset(w->of, 0, sizeof w->of);
    for (int j = 0; j < BYTES * w->per; j++) {
        i64 at = (r->to_inner[j % (w->bytes * w->per)] - r->to_inner[0] +
                  r->to_outer[j / (w->bytes * w->per)] - r->to_outer[0] - w->low) * bits;
        if (at >= WORD)
            return false;
        all |= mask << at;
        for (unsigned v = 0; v < 256; v++)
            w->of[j / w->per][v] |= (v >> j % w->per * bits & mask) << at;
    }
    return all == UINT64_MAX;
}

static bool
words_of(const ReferenceGrid *r, int bits, int rows, Words *w)
{
    *w = (Words){.rows = rows, .bytes = BYTES / rows, .per = 8 / bits};
    return repeats(r->to_inner, r->n, w->bytes * w->per) && repeats(r->to_outer, r->rows, rows) &&
           set_words(r, bits, w) && begin_at_bytes(r, w);
}

/* Inlined where `rows` is a constant. */
__attribute__((always_inline))
static inline bool
words_same(const unsigned char *dst, const unsigned char *src, const ReferenceGrid *r,
           const Words *w, int rows)
{
    const int bytes = BYTES / rows, shift = int_log2(w->per);
    uint64_t wrong = 0, have;
    for (int k = 0; k < r->rows; k += rows) {
        const unsigned char *row[BYTES], *to = dst;
        for (int j = 0; j < rows; j++)
            row[j] = src + ((r->from + r->from_outer[k + j]) >> shift);
        i64 first = r->to + r->to_outer[k] + w->low;
        for (int i = 0; i < r->n; i += bytes << shift) {
            uint64_t want = 0;
#pragma GCC unroll 8
            for (int j = 0; j < BYTES; j++)
                want |= w->of[j][row[j / bytes][r->from_inner[i + (j % bytes << shift)] >> shift]];
            memcpy(&have, to + ((first + r->to_inner[i]) >> shift), sizeof have);
            wrong |= want ^ have;
        }
    }
    return !wrong;
}

static i64
least(i64 a, i64 b)
{
    return a < b ? a : b;
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

static bool
spread_same(const unsigned char *dst, i64 bytes, const unsigned char *src,
               const ReferenceGrid *r, int bits)
{
    Spread s = {.mask = 0};
    if (highest(r) * bits / 8 + (i64)sizeof s.mask > bytes || !spread_for(r, bits, &s))
        return false;
    return bits == 1   ? grid_same(dst, src, r, &s, 1)
           : bits == 2 ? grid_same(dst, src, r, &s, 2)
                       : grid_same(dst, src, r, &s, 4);
}

bool
bits_grid_same(const unsigned char *dst, i64 bytes, const unsigned char *src,
               const ReferenceGrid *r, int bits)
{
    Words w;
    for (int rows = BYTES; rows && are_bytes(r, bits); rows /= 2)
        if (words_of(r, bits, rows, &w))
            return rows == 8   ? words_same(dst, src, r, &w, 8)
                   : rows == 4 ? words_same(dst, src, r, &w, 4)
                   : rows == 2 ? words_same(dst, src, r, &w, 2)
                               : words_same(dst, src, r, &w, 1);
    return spread_same(dst, bytes, src, r, bits);
}
