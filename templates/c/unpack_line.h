/* A register of elements of 1, 2 or 4 bits to a byte each, and back.  The first element of a byte is
 * in its lowest bits.  `bits` is a constant. */
#if defined(RAVEL_UNPACK_LINES) && !defined(RAVEL_UNPACK_VBMI)
#if RAVEL_LANES > 1
enum { RAVEL_UNPACKED = 32 };
/* 32 elements, of 4 * bits bytes: each byte to a word of as many bytes as it has elements. */
RAVEL_INLINE __m256i
ravel_widen(const unsigned char *s, int bits)
{
    int32_t four;
    if (bits == 4)
        return _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)s));
    if (bits == 2)
        return _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)s));
    memcpy(&four, s, sizeof four);
    return _mm256_cvtepu8_epi64(_mm_cvtsi32_si128(four));
}

/* 32 elements from bit `by`, below 8, of s on. */
RAVEL_INLINE void
ravel_unpack_line(unsigned char *d, const unsigned char *s, int by, int bits)
{
    ravel_8x2 x = (ravel_8x2)ravel_widen(s, bits);
    if (by)
        x = (x | (ravel_8x2)ravel_widen(s + 1, bits) << 8) >> (uint64_t)by &
            ravel_fields(8 / bits, bits);
    RAVEL_UNROLL for (int step = 4 / bits; step > 0; step /= 2)
        x = (x | x << (uint64_t)(step * (8 - bits))) & ravel_fields(step, bits);
    memcpy(d, &x, sizeof x);
}

#define RAVEL_UNPACK_PAIRS
/* 32 bytes; the first 16 if few. */
RAVEL_INLINE __m256i
ravel_halves_of(const unsigned char *s, int few)
{
    if (few)
        return _mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)s));
    return _mm256_loadu_si256((const __m256i *)s);
}

/* 64 elements of four bits from element `at` of s on, or 32 if few. */
RAVEL_INLINE __m256i
ravel_halves_load(const unsigned char *s, int64_t at, int few)
{
    const __m256i v = ravel_halves_of(s + (at >> 1), few), low = _mm256_set1_epi8(15);
    if (!(at & 1))
        return v;
    const __m256i next = ravel_halves_of(s + (at >> 1) + 1, few);
    return _mm256_or_si256(_mm256_and_si256(low, _mm256_srli_epi16(v, 4)),
                           _mm256_andnot_si256(low, _mm256_slli_epi16(next, 4)));
}

/* 64 elements, or 32 if few, from element `at` on, each with that from element `on` on in the upper half
 * of its byte. */
RAVEL_INLINE void
ravel_unpack_both(unsigned char *d, const unsigned char *s, int64_t at, int64_t on, int few)
{
    const __m256i a = ravel_halves_load(s, at, few), b = ravel_halves_load(s, on, few);
    const __m256i low = _mm256_set1_epi8(15);
    const __m256i even = _mm256_or_si256(_mm256_and_si256(low, a),
                                         _mm256_andnot_si256(low, _mm256_slli_epi16(b, 4)));
    const __m256i odd = _mm256_or_si256(_mm256_and_si256(low, _mm256_srli_epi16(a, 4)),
                                        _mm256_andnot_si256(low, b));
    const __m256i x = _mm256_unpacklo_epi8(even, odd), y = _mm256_unpackhi_epi8(even, odd);
    _mm256_storeu_si256((__m256i *)d, _mm256_permute2x128_si256(x, y, 0x20));
    if (!few)
        _mm256_storeu_si256((__m256i *)(d + 32), _mm256_permute2x128_si256(x, y, 0x31));
}

RAVEL_INLINE void
ravel_pack_line(unsigned char *d, const unsigned char *s, int up, int bits)
{
    __m256i v = _mm256_loadu_si256((const __m256i *)s);
    if (bits == 4 && up)
        v = _mm256_srli_epi16(v, 4);
    if (bits == 4)
        v = _mm256_and_si256(v, _mm256_set1_epi8(15));
    const int one = _mm256_movemask_epi8(_mm256_slli_epi16(v, 7));
    const __m256i two = _mm256_maddubs_epi16(v, _mm256_set1_epi16((short)(1 | 256 << bits)));
    const __m256i four = _mm256_madd_epi16(two, _mm256_set1_epi32(1 | 65536 << 2 * bits));
    const __m256i x = bits == 4 ? two : _mm256_packus_epi32(four, four);
    const __m256i bytes = _mm256_packus_epi16(x, x);
    const __m128i low = _mm256_castsi256_si128(bytes), high = _mm256_extracti128_si256(bytes, 1);
    if (bits == 1)
        memcpy(d, &one, 4);
    else if (bits == 2)
        _mm_storel_epi64((__m128i *)d, _mm_unpacklo_epi32(low, high));
    else
        _mm_storeu_si128((__m128i *)d, _mm_unpacklo_epi64(low, high));
}
#else
enum { RAVEL_UNPACKED = 64 };
/* 64 elements: 8, 16 or 32 packed bytes, and as many words. */
typedef uint8_t ravel_packed1 __attribute__((vector_size(8)));
typedef uint8_t ravel_packed2 __attribute__((vector_size(16)));
typedef uint8_t ravel_packed4 __attribute__((vector_size(32)));
typedef uint64_t ravel_line1 __attribute__((vector_size(RAVEL_LINE)));
typedef uint32_t ravel_line2 __attribute__((vector_size(RAVEL_LINE)));
typedef uint16_t ravel_line4 __attribute__((vector_size(RAVEL_LINE)));

/* Each byte to a word of as many bytes as it has elements. */
RAVEL_INLINE void
ravel_widen(ravel_line1 *x, const unsigned char *s, int bits)
{
    ravel_packed1 one;
    ravel_packed2 two;
    ravel_packed4 four;
    if (bits == 1) {
        memcpy(&one, s, sizeof one);
        *x = __builtin_convertvector(one, ravel_line1);
    } else if (bits == 2) {
        memcpy(&two, s, sizeof two);
        *x = (ravel_line1)__builtin_convertvector(two, ravel_line2);
    } else {
        memcpy(&four, s, sizeof four);
        *x = (ravel_line1)__builtin_convertvector(four, ravel_line4);
    }
}

/* The inverse of ravel_widen. */
RAVEL_INLINE void
ravel_narrow(unsigned char *d, const ravel_line1 *x, int bits)
{
    const ravel_packed1 one = __builtin_convertvector(*x, ravel_packed1);
    const ravel_packed2 two = __builtin_convertvector((ravel_line2)*x, ravel_packed2);
    const ravel_packed4 four = __builtin_convertvector((ravel_line4)*x, ravel_packed4);
    if (bits == 1)
        memcpy(d, &one, sizeof one);
    else if (bits == 2)
        memcpy(d, &two, sizeof two);
    else
        memcpy(d, &four, sizeof four);
}

/* 64 elements from bit `by`, below 8, of s on. */
RAVEL_INLINE void
ravel_unpack_line(unsigned char *d, const unsigned char *s, int by, int bits)
{
    ravel_line1 x, next;
    ravel_widen(&x, s, bits);
    if (by) {
        ravel_widen(&next, s + 1, bits);
        x = (x | next << 8) >> (uint64_t)by & ravel_fields(8 / bits, bits);
    }
    RAVEL_UNROLL for (int step = 4 / bits; step > 0; step /= 2)
        x = (x | x << (uint64_t)(step * (8 - bits))) & ravel_fields(step, bits);
    memcpy(d, &x, sizeof x);
}

RAVEL_INLINE void
ravel_pack_line(unsigned char *d, const unsigned char *s, int up, int bits)
{
    ravel_line1 x;
    memcpy(&x, s, sizeof x);
    x >>= (uint64_t)up;
    RAVEL_UNROLL for (int step = 1; step < 8 / bits; step *= 2) {
        x &= ravel_fields(step, bits);
        x |= x >> (uint64_t)(step * (8 - bits));
    }
    ravel_narrow(d, &x, bits);
}
#endif
#endif
