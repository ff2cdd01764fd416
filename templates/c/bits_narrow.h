/* Tiles whose columns are short and near each other in the source: a vector holds 64 bits of
 * each of eight columns, wherever these begin.
 *
 *     128 bytes --permute, shift--> eight columns --permute, mix--> as many bytes of each
 *     row as an element has bits --zip--> 16 bytes of each row */
#if defined(RAVEL_BITS_TILES) && RAVEL_LANES == 4 && defined(__AVX512VBMI__) && \
    defined(__GFNI__)
#define RAVEL_BITS_NARROW

/* Where each column begins: the bytes of its word, bits before it in the first, and how far
 * up those of the byte after the word belong. */
typedef struct {
    __m512i at, by, up;
} ravel_near_columns;

/* Columns that are `step` bits apart, the first from bit y of a byte on. */
RAVEL_INLINE ravel_near_columns
ravel_near(int64_t y, int64_t step)
{
    const __m512i column = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
    const __m512i seven = _mm512_set1_epi64(7), eight = _mm512_set1_epi64(8);
    const __m512i bit = _mm512_add_epi64(_mm512_mul_epu32(column, _mm512_set1_epi64(step)),
                                         _mm512_set1_epi64(y));
    const __m512i first = _mm512_shuffle_epi8(_mm512_srli_epi64(bit, 3),
                                              _mm512_set4_epi32(0x08080808, 0x08080808, 0, 0));
    ravel_near_columns c;
    c.at = _mm512_add_epi8(first, _mm512_set1_epi64(0x0706050403020100));
    c.by = _mm512_and_si512(bit, seven);
    c.up = _mm512_sub_epi64(eight, c.by);
    return c;
}

/* The words of eight columns; reads at most 128 bytes, none from `end` on. */
RAVEL_INLINE __m512i
ravel_near_words(const unsigned char *s, const unsigned char *end,
                 const ravel_near_columns *c)
{
    const __mmask64 all = ~(__mmask64)0, last = 0x8080808080808080;
    const int64_t left = end - s;
    const __mmask64 low = left < 64 ? ((__mmask64)1 << left) - 1 : all;
    const __mmask64 high = left < 65 ? 0 : left < 128 ? ((__mmask64)1 << (left - 64)) - 1 : all;
    const __m512i a = _mm512_maskz_loadu_epi8(low, s);
    const __m512i b = _mm512_maskz_loadu_epi8(high, s + 64);
    const __m512i word = _mm512_permutex2var_epi8(a, c->at, b);
    const __m512i after = _mm512_maskz_permutex2var_epi8(
        last, a, _mm512_add_epi8(c->at, _mm512_set1_epi8(1)), b);
    return _mm512_or_si512(_mm512_srlv_epi64(word, c->by), _mm512_sllv_epi64(after, c->up));
}

/* Which element of a column is row `slot` of what ravel_near_mix returns. */
RAVEL_INLINE int64_t
ravel_near_row(int64_t slot, int bits)
{
    return bits == 1 ? slot : slot % 8 * (8 / bits) + slot / 8;
}

/* Eight words of single bits to rows of eight: the bytes of the same rows, of which each eight
 * are transposed (ravel_turn_bits). */
RAVEL_INLINE __m512i
ravel_near_turn(__m512i words)
{
    const __m512i units = _mm512_set1_epi64((int64_t)0x8040201008040201);
    ravel_1x4 from = {0};
    RAVEL_UNROLL for (int j = 0; j < 64; j++)
        from[j] = (uint8_t)((7 - j % 8) * 8 + j / 8);
    return _mm512_gf2p8affine_epi64_epi8(units, _mm512_permutexvar_epi8((__m512i)from, words), 0);
}

/* Eight words to rows of eight elements: the rows of the elements that have the same place
 * in a byte follow one another.  A byte is the sum of elements of 8 / bits columns, each moved
 * to its place by a matrix. */
RAVEL_INLINE __m512i
ravel_near_mix(__m512i words, int bits)
{
    const int per = 8 / bits;
    __m512i v = _mm512_setzero_si512();
    RAVEL_UNROLL for (int i = 0; i < per; i++) {
        ravel_1x4 from = {0}, matrix = {0};
        RAVEL_UNROLL for (int j = 0; j < 64; j++) {
            const int bit = 7 - j % 8 - bits * i, place = j / 8 / bits;
            from[j] = (uint8_t)((j % bits * per + i) * 8 + j / bits % 8);
            matrix[j] = (uint8_t)(bit >= 0 && bit < bits ? 1 << (bit + bits * place) : 0);
        }
        const __m512i x = _mm512_permutexvar_epi8((__m512i)from, words);
        v = _mm512_or_si512(v, _mm512_gf2p8affine_epi64_epi8(x, (__m512i)matrix, 0));
    }
    return v;
}

/* Vectors of rows of `bits` bytes to rows of 16 bytes. */
RAVEL_INLINE void
ravel_near_zip(ravel_1x4 *v, int bits)
{
    const int k = 16 / bits;
    RAVEL_UNROLL for (int round = k; round > 1; round /= 2) {
        ravel_1x4 t[16];
        RAVEL_UNROLL for (int i = 0; i < k / 2; i++) {
            const __m512i a = (__m512i)v[i], b = (__m512i)v[i + k / 2];
            t[2 * i] = (ravel_1x4)(bits == 1 ? _mm512_unpacklo_epi8(a, b) :
                                   bits == 2 ? _mm512_unpacklo_epi16(a, b)
                                             : _mm512_unpacklo_epi32(a, b));
            t[2 * i + 1] = (ravel_1x4)(bits == 1 ? _mm512_unpackhi_epi8(a, b) :
                                       bits == 2 ? _mm512_unpackhi_epi16(a, b)
                                                 : _mm512_unpackhi_epi32(a, b));
        }
        RAVEL_UNROLL for (int i = 0; i < k; i++)
            v[i] = t[i];
    }
}

/* 16 bytes of each of at most 64 / bits rows, of 128 / bits columns, of which c are there. */
RAVEL_INLINE void
ravel_near_strip(unsigned char *to, int64_t pitch, const unsigned char *s, int64_t r, int64_t c,
                 int64_t step, const ravel_near_columns *near, const unsigned char *end, int bits)
{
    const int k = 16 / bits;
    ravel_1x4 v[16];
    RAVEL_UNROLL for (int i = 0; i < k; i++) {
        __m512i words;
        v[i] = (ravel_1x4)_mm512_setzero_si512();
        if (8 * i < c) {
            words = ravel_near_words(s + i * step, end, near);
            v[i] = (ravel_1x4)(bits == 1 ? ravel_near_turn(words) : ravel_near_mix(words, bits));
        }
    }
    ravel_near_zip(v, bits);
    RAVEL_UNROLL for (int lane = 0; lane < 4; lane++)
        RAVEL_UNROLL for (int i = 0; i < k; i++) {
            const int64_t row = ravel_near_row(lane * k + i, bits);
            if (row < r)
                memcpy(to + row * pitch, (const unsigned char *)&v[i] + 16 * lane, 16);
        }
}

/* As ravel_bits_tile, r rows of columns at most RAVEL_NEAR_BITS apart. */
RAVEL_INLINE void
ravel_near_tile(unsigned char *to, int64_t pitch, const unsigned char *s, int64_t y, int64_t r,
                int64_t c, int64_t step, const unsigned char *end, int bits)
{
    const int64_t wide = RAVEL_STRIP_BITS / bits, tall = RAVEL_NEAR_TALL / bits;
    const ravel_near_columns near = ravel_near(y & 7, step);
    for (int64_t i = 0; i < r; i += tall) {
        const unsigned char *from = s + (y >> 3) + i * bits / 8;
        for (int64_t k = 0; k < c; k += wide, from += 16 / bits * step)
            ravel_near_strip(to + i * pitch + k * bits / 8, pitch, from, r - i, c - k, step,
                             &near, end, bits);
    }
}
#endif
