/* A mask: a bit for each position of a source, set where the value is not the fill.  The
 * values are looked at once; the other passes read the mask. */

#if defined(__SSE2__) && !defined(RAVEL_PLAIN) && !defined(RAVEL_PORTABLE)
#include <emmintrin.h>

/* 16 bytes at v, less the fill: words of 32 bits that are 0 become ones. */
RAVEL_PART __m128i
ravel_is_zero(__m128i x)
{
    return _mm_cmpeq_epi32(x, _mm_setzero_si128());
}

RAVEL_PART __m128i
ravel_less_fill(const unsigned char *v, __m128i fill)
{
    return _mm_xor_si128(_mm_loadu_si128((const __m128i *)(const void *)v), fill);
}

/* Four values of 4 or 8 bytes: ones where they are the fill.  Of 8 bytes the halves are joined
 * first. */
RAVEL_PART __m128i
ravel_four_fills(const unsigned char *v, int64_t es, __m128i fill)
{
    __m128i a = ravel_less_fill(v, fill);
    if (es == 4)
        return ravel_is_zero(a);
    __m128 low = _mm_castsi128_ps(a), high = _mm_castsi128_ps(ravel_less_fill(v + 16, fill));
    return ravel_is_zero(_mm_castps_si128(_mm_or_ps(_mm_shuffle_ps(low, high, 0x88),
                                                    _mm_shuffle_ps(low, high, 0xdd))));
}

/* A bit for each of 16 values of 4 or 8 bytes: it is not the fill. */
RAVEL_PART uint64_t
ravel_mask_some(const unsigned char *v, int64_t es, const uint64_t *two)
{
    __m128i fill = _mm_loadu_si128((const __m128i *)(const void *)two);
    __m128i a = _mm_packs_epi32(ravel_four_fills(v, es, fill),
                                ravel_four_fills(v + 4 * es, es, fill));
    __m128i b = _mm_packs_epi32(ravel_four_fills(v + 8 * es, es, fill),
                                ravel_four_fills(v + 12 * es, es, fill));
    return (uint64_t)(~_mm_movemask_epi8(_mm_packs_epi16(a, b)) & 0xffff);
}

enum { RAVEL_MASKED = 4 | 8 };         /* the sizes of values that it knows */
#else
RAVEL_PART uint64_t
ravel_mask_some(const unsigned char *v, int64_t es, const uint64_t *two)
{
    (void)v, (void)es, (void)two;
    return 0;
}

enum { RAVEL_MASKED = 0 };
#endif

/* The bits of n positions, at most 64.  two: 16 bytes of the fill. */
RAVEL_PART uint64_t
ravel_mask_word(const unsigned char *v, int64_t n, int64_t es, const uint64_t *two)
{
    enum { AT_ONCE = 16 };
    uint64_t m = 0;
    int64_t i = 0;
    for (; (es & RAVEL_MASKED) && i + AT_ONCE <= n; i += AT_ONCE)
        m |= ravel_mask_some(v + i * es, es, two) << i;
    for (; i < n && i < 64; i++)
        m |= (uint64_t)!!memcmp(v + i * es, two, (size_t)es) << i;
    return m;
}

/* 16 bytes of values of es bytes. */
RAVEL_PART void
ravel_repeat(uint64_t *two, int64_t es, uint64_t lo, uint64_t hi)
{
    two[0] = lo;
    two[1] = es == 16 ? hi : lo;
    if (es == 4)
        two[0] = two[1] = (lo & 0xffffffff) * 0x100000001;
}

typedef struct {
    uint64_t *mask;
    const unsigned char *val;
    int64_t n, es, how;
    uint64_t lo, hi;
} ravel_marks;

/* The same for values that are compared with a limit. */
RAVEL_PART uint64_t
ravel_above_word(const ravel_marks *k, const unsigned char *v, int64_t n, int64_t es)
{
    uint64_t m = 0;
    for (int64_t i = 0; i < n && i < 64; i++)
        m |= (uint64_t)ravel_is_entry(v + i * es, es, k->how, k->lo, k->hi) << i;
    return m;
}

/* The values that words of a mask will be made of soon are fetched: what a processor fetches by itself does
 * not use its whole memory. */
RAVEL_PART void
ravel_mark_fetch(const unsigned char *v, int64_t es)
{
    enum { AHEAD = 4096 };
    for (int64_t line = 0; line < es; line++)
        ravel_fetch_source(v, AHEAD + line * RAVEL_LINE);
}

RAVEL_PART void
ravel_mark_words(const ravel_marks *k, int64_t es, int64_t from, int64_t to)
{
    uint64_t two[2];
    ravel_repeat(two, es, k->lo, k->hi);
    for (int64_t i = from; i < to; i++) {
        int64_t left = k->n - i * 64;
        const unsigned char *v = k->val + i * 64 * es;
        left = left < 64 ? left : 64;
        ravel_mark_fetch(v, es);
        k->mask[i] = k->how == RAVEL_NOT_FILL ? ravel_mask_word(v, left, es, two)
                     : ravel_above_word(k, v, left, es);
    }
}

static void
ravel_mark_part(void *arg, int part, int parts)
{
    const ravel_marks *k = (const ravel_marks *)arg;
    int64_t words = (k->n + 63) / 64, from = ravel_part_of(words, part, parts);
    int64_t to = ravel_part_of(words, part + 1, parts);
    switch (k->es) {
    case 1: ravel_mark_words(k, 1, from, to); break;
    case 2: ravel_mark_words(k, 2, from, to); break;
    case 4: ravel_mark_words(k, 4, from, to); break;
    case 8: ravel_mark_words(k, 8, from, to); break;
    default: ravel_mark_words(k, 16, from, to);
    }
}

RAVEL_PART int64_t
ravel_mask_ones(const uint64_t *mask, int64_t words)
{
    int64_t sum = 0;
    for (int64_t i = 0; i < words; i++)
        sum += ravel_ones(mask[i]);
    return sum;
}

/* Make the mask of n values: of those that are entries (ravel_is_entry). */
RAVEL_STEP
ravel_stream_mark(ravel_stream *s, const void *val, int64_t n, int64_t es, int64_t how,
                  uint64_t lo, uint64_t hi)
{
    uint64_t *mask = (uint64_t *)(void *)s->area[RAVEL_MASK];
    ravel_marks k = {mask, (const unsigned char *)val, n, es, how, lo, hi};
    if (s->flaw)
        return;
    RAVEL_SHARE(s, ravel_mark_part, &k);
    s->kept = ravel_mask_ones(mask, (n + 63) / 64);
}

/* A level has a position for each of them. */
RAVEL_STEP
ravel_stream_kept(ravel_stream *s, int64_t level)
{
    s->size[level] = s->kept;
}

/* The next positions that the mask has, as many as fit a batch. */
RAVEL_STEP
ravel_stream_keep(ravel_stream *s, int64_t total)
{
    const uint64_t *mask = (const uint64_t *)(const void *)s->area[RAVEL_MASK];
    int64_t k = 0, i = s->cursor, words = s->flaw ? 0 : (total + 63) / 64;
    for (; i < words && k <= RAVEL_BATCH - 64; i++)
        for (uint64_t m = mask[i]; m; m &= m - 1)
            s->x[0][k++] = i * 64 + ravel_lowest(m);
    s->cursor = i;
    s->n = k;
}

typedef struct {
    const uint64_t *mask;
    void *pos, *crd;
    unsigned char *out;
    const unsigned char *in;
    int64_t parents, n, es, w;     /* n: coordinates below each parent */
} ravel_extract;

/* Copy the entries of some bits of a word; the first is entry k. */
RAVEL_PART int64_t
ravel_extract_bits(const ravel_extract *x, uint64_t bits, int64_t base, int64_t start,
                   int64_t k, int64_t es, int64_t w)
{
    for (; bits; bits &= bits - 1, k++) {
        int64_t p = base + ravel_lowest(bits);
        ravel_index_set(x->crd, w, k, p - start);
        ravel_move_value(x->out, k, x->in, p, es);
    }
    return k;
}

/* The words from..to - 1; k entries are before them.  A word is cut where a parent ends. */
RAVEL_PART void
ravel_extract_words(const ravel_extract *x, int64_t from, int64_t to, int64_t k, int64_t es,
                    int64_t w)
{
    int64_t total = x->parents * x->n, q = (from * 64 + x->n - 1) / x->n;
    int64_t next = q * x->n, start = next - x->n;
    for (int64_t i = from; i < to; i++) {
        uint64_t bits = x->mask[i];
        for (; next < (i + 1) * 64 && next < total; next += x->n) {
            uint64_t above = ~(uint64_t)0 << (next - i * 64);
            k = ravel_extract_bits(x, bits & ~above, i * 64, start, k, es, w);
            bits &= above;
            ravel_index_set(x->pos, w, q++, k);
            start = next;
        }
        k = ravel_extract_bits(x, bits, i * 64, start, k, es, w);
    }
    if (to * 64 >= total)
        ravel_index_set(x->pos, w, x->parents, k);
}

static void
ravel_extract_part(void *arg, int part, int parts)
{
    const ravel_extract *x = (const ravel_extract *)arg;
    int64_t words = (x->parents * x->n + 63) / 64, from = ravel_part_of(words, part, parts);
    int64_t to = ravel_part_of(words, part + 1, parts), k = ravel_mask_ones(x->mask, from);
    if (x->w == 4 && x->es == 4)
        ravel_extract_words(x, from, to, k, 4, 4);
    else if (x->w == 4 && x->es == 8)
        ravel_extract_words(x, from, to, k, 8, 4);
    else
        ravel_extract_words(x, from, to, k, x->es, x->w);
}

/* The entries of a source whose positions are those of a dense level above a compressed
 * one: parent * n + coordinate. */
RAVEL_STEP
ravel_stream_extract(ravel_stream *s, void *pos, void *crd, void *out, const void *in,
                     int64_t parents, int64_t n, int64_t es, int64_t w)
{
    ravel_extract x = {(const uint64_t *)(const void *)s->area[RAVEL_MASK], pos, crd,
                       (unsigned char *)out, (const unsigned char *)in, parents, n, es, w};
    if (!s->flaw)
        RAVEL_SHARE(s, ravel_extract_part, &x);
}
