/* Rows of a buffer that touch in the destination, eight at a time.
 *
 *     words of eight rows --shift to their place in a byte--> vectors --permute, or--> as
 *     many bytes as a row has bits, and the first bits of the next byte */
#ifdef RAVEL_BITS_NARROW
/* What a row has from a bit on, at most 64 bits of it: those bits; how far they move up, and
 * down those that go to a ninth byte; for each byte of the destination which of the bytes
 * it has, of one row and of the next. */
typedef struct {
    __m512i mask, up, down, at[2], next[2];
} ravel_joined;

/* Byte 65 of the two vectors is 0: a ninth byte is the first of its word. */
RAVEL_INLINE void
ravel_joined_at(ravel_joined *p, int64_t first, int64_t n)
{
    enum { NONE = 65 };
    unsigned char at[144], next[144];
    memset(at, NONE, sizeof at);
    memset(next, NONE, sizeof next);
    for (int k = 0; k < 8; k++, first += n) {
        const uint64_t bytes = 0x0706050403020100 + 0x0808080808080808 * (uint64_t)k;
        const int64_t i = first >> 3;
        const unsigned char before = at[i];
        memcpy(at + i, &bytes, sizeof bytes);
        at[i + 8] = (unsigned char)(64 + 8 * k);
        if (k && (first & 7)) {
            at[i] = before;
            next[i] = (unsigned char)(8 * k);
        }
    }
    for (int i = 0; i < 2; i++) {
        p->at[i] = _mm512_loadu_si512(at + 64 * i);
        p->next[i] = _mm512_loadu_si512(next + 64 * i);
    }
}

/* Of rows of n bits, the first from bit y of a byte on, the `bits` from bit `from` on. */
RAVEL_INLINE ravel_joined
ravel_joined_rows(int64_t y, int64_t from, int64_t n, int64_t bits)
{
    const __m512i row = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
    const __m512i bit = _mm512_add_epi64(_mm512_mul_epu32(row, _mm512_set1_epi64(n)),
                                         _mm512_set1_epi64(y));
    ravel_joined p;
    p.mask = _mm512_set1_epi64((int64_t)(~(uint64_t)0 >> (64 - bits)));
    p.up = _mm512_and_si512(bit, _mm512_set1_epi64(7));
    p.down = _mm512_sub_epi64(_mm512_set1_epi64(64), p.up);
    ravel_joined_at(&p, y + from, n);
    return p;
}

/* Adds the bits of eight words to vectors of the destination. */
RAVEL_INLINE void
ravel_join(__m512i *to, int vectors, const ravel_joined *p, __m512i words)
{
    const __m512i x = _mm512_and_si512(words, p->mask);
    const __m512i up = _mm512_sllv_epi64(x, p->up), down = _mm512_srlv_epi64(x, p->down);
    RAVEL_UNROLL for (int i = 0; i < vectors; i++) {
        const __m512i one = _mm512_permutex2var_epi8(up, p->at[i], down);
        const __m512i next = _mm512_permutex2var_epi8(up, p->next[i], down);
        to[i] = _mm512_ternarylogic_epi64(to[i], one, next, 0xfe);
    }
}

/* Words `word` of eight rows of the buffer. */
RAVEL_INLINE __m512i
ravel_joined_words(const unsigned char *row, int64_t pitch, int word)
{
    const unsigned char *const from[] = {row, row + pitch, row + 2 * pitch, row + 3 * pitch};
    const __m512i which = _mm512_add_epi64(_mm512_set_epi64(14, 12, 10, 8, 6, 4, 2, 0),
                                           _mm512_set1_epi64(word));
    return _mm512_permutex2var_epi64((__m512i)ravel_rows4(from, 0), which,
                                     (__m512i)ravel_rows4(from, 4 * pitch));
}

/* Copies rows of n bits, 8 or more, to bit x of the destination, as long as the vectors of
 * eight rows do not reach its byte `end`.  Eight rows have `words` words and `vectors`
 * vectors in the destination.  Returns the number of rows. */
RAVEL_INLINE int64_t
ravel_joined_run(unsigned char *dst, int64_t x, const unsigned char *row, int64_t pitch,
                 int64_t r, int64_t n, int64_t end, int words, int vectors)
{
    const int64_t y = x & 7;
    const ravel_joined low = ravel_joined_rows(y, 0, n, words > 1 ? 64 : n);
    const ravel_joined high = words > 1 ? ravel_joined_rows(y, 64, n, n - 64) : low;
    const __m512i after = _mm512_set1_epi8((char)n);
    unsigned char *d = dst + (x >> 3);
    __m512i to[2] = {_mm512_setzero_si512(), _mm512_setzero_si512()};
    to[0] = _mm512_maskz_set1_epi8(1, (char)(*d & ((1 << y) - 1)));
    int64_t i = 0;
    for (; i + 8 <= r && d + 64 * vectors <= dst + end; i += 8, d += n) {
        ravel_join(to, vectors, &low, ravel_joined_words(row + i * pitch, pitch, 0));
        if (words > 1)
            ravel_join(to, vectors, &high, ravel_joined_words(row + i * pitch, pitch, 1));
        RAVEL_UNROLL for (int k = 0; k < vectors; k++)
            _mm512_storeu_si512(d + 64 * k, to[k]);
        to[0] = _mm512_maskz_permutex2var_epi8(1, to[0], after, to[1]);
        to[1] = _mm512_setzero_si512();
    }
    return i;
}

static int64_t
ravel_joined_any(unsigned char *dst, int64_t x, const unsigned char *row, int64_t pitch,
                 int64_t r, int64_t n, int64_t end)
{
    if (n < 64)
        return ravel_joined_run(dst, x, row, pitch, r, n, end, 1, 1);
    if (n == 64)
        return ravel_joined_run(dst, x, row, pitch, r, n, end, 1, 2);
    return ravel_joined_run(dst, x, row, pitch, r, n, end, 2, 2);
}
#endif
