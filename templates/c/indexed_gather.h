/* Single elements of 4 or 8 bytes from places that numbers are, by instructions that gather: as in
 * place_gather.h, on the same processors. */
#if defined(__AVX512FP16__) && !defined(RAVEL_GATHER)
#define RAVEL_GATHER
#endif
#if defined(RAVEL_GATHER) && defined(RAVEL_SSE2)
/* v * step: AVX-512 without DQ multiplies 32 bits. */
static inline __m512i
ravel_lanes_times(__m512i v, int64_t step)
{
    const __m512i low = _mm512_set1_epi64(step & 0xffffffff), high = _mm512_set1_epi64(step >> 32);
    const __m512i cross = _mm512_add_epi64(_mm512_mul_epu32(_mm512_srli_epi64(v, 32), low),
                                           _mm512_mul_epu32(v, high));
    return _mm512_add_epi64(_mm512_mul_epu32(v, low), _mm512_slli_epi64(cross, 32));
}

/* Eight numbers of an array from number r on. */
static inline __m512i
ravel_lanes_numbers(const void *array, int64_t bits, int64_t r)
{
    if (bits == 64)
        return _mm512_loadu_si512((const int64_t *)array + r);
    return _mm512_cvtepi32_epi64(_mm256_loadu_si256((const __m256i *)((const int32_t *)array + r)));
}

/* Returns how many rows it has moved, which a multiple of eight are. */
static inline int64_t
ravel_indexed_gather(unsigned char *d, const unsigned char *s, int64_t rows, size_t k,
                     const ravel_places *p, int64_t bits, int two)
{
    const __m512i eight = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
    __m512i own = ravel_lanes_times(eight, p->stride);
    const __m512i more = _mm512_set1_epi64(8 * p->stride);
    int64_t r = 0;
    for (; r + 8 <= rows; r += 8, own = _mm512_add_epi64(own, more)) {
        __m512i at = _mm512_add_epi64(own, ravel_lanes_times(
            ravel_lanes_numbers(p->array[0], bits, r), p->step[0]));
        if (two)
            at = _mm512_add_epi64(at, ravel_lanes_times(
                ravel_lanes_numbers(p->array[1], bits, r), p->step[1]));
        if (k == 4)
            _mm256_storeu_si256((__m256i *)(d + 4 * r), _mm512_i64gather_epi32(at, s, 1));
        else
            _mm512_storeu_si512(d + 8 * r, _mm512_i64gather_epi64(at, s, 1));
    }
    return r;
}
#endif
