/* Rows of single elements of 4 or 8 bytes, from places that are linear in the numbers of one array or
 * of two, to neighbours (gathers.h). */
#if defined(RAVEL_GATHER) && defined(RAVEL_SSE2)
#pragma GCC diagnostic push           /* of masks, where these are macros */
#pragma GCC diagnostic ignored "-Wsign-conversion"
static inline __m512i
ravel_row_numbers(const void *array, int64_t bits, int64_t r, __mmask8 in)
{
    if (bits == 64)
        return _mm512_maskz_loadu_epi64(in, (const int64_t *)array + r);
    return _mm512_cvtepi32_epi64(_mm256_maskz_loadu_epi32(in, (const int32_t *)array + r));
}

/* A multiple of the numbers.  A product of 64 bits takes as long as to gather, so a power of two is
 * a shift. */
RAVEL_CONSTANT __m512i
ravel_row_places(__m512i number, int64_t step)
{
    const int shifts = step > 0 && (step & (step - 1)) == 0;
    return shifts ? _mm512_sll_epi64(number, _mm_cvtsi64_si128(__builtin_ctzll((uint64_t)step)))
                  : _mm512_mullox_epi64(number, _mm512_set1_epi64(step));
}

RAVEL_CONSTANT void
ravel_gather_rows(unsigned char *d, const unsigned char *s, int64_t rows, int64_t k,
                  const ravel_places *p, int64_t bits, int two)
{
    const int64_t first = p->step[0], second = p->step[1];
    const __m512i lane = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0), none = _mm512_setzero_si512();
    __m512i own = ravel_row_places(lane, p->stride);
    for (int64_t r = 0; r < rows; r += 8) {
        const __mmask8 in = (__mmask8)(rows - r < 8 ? (1U << (rows - r)) - 1 : 0xffU);
        __m512i at = ravel_row_places(ravel_row_numbers(p->array[0], bits, r, in), first);
        if (two)
            at = _mm512_add_epi64(at, ravel_row_places(ravel_row_numbers(p->array[1], bits, r, in),
                                                       second));
        at = _mm512_add_epi64(at, own);
        if (k == 4)
            _mm256_mask_storeu_epi32(d + 4 * r, in, _mm512_mask_i64gather_epi32(
                                     _mm512_castsi512_si256(none), in, at, s, 1));
        else
            _mm512_mask_storeu_epi64(d + 8 * r, in, _mm512_mask_i64gather_epi64(none, in, at, s, 1));
        own = _mm512_add_epi64(own, _mm512_set1_epi64(8 * p->stride));
    }
}
#pragma GCC diagnostic pop

RAVEL_CONSTANT void
ravel_gather_sized(unsigned char *d, const unsigned char *s, int64_t rows, int64_t k,
                   const ravel_places *p)
{
    switch (p->bits) {
    case 64: ravel_gather_rows(d, s, rows, k, p, 64, 0); break;
    case 32: ravel_gather_rows(d, s, rows, k, p, 32, 0); break;
    case 64 << 8 | 64: ravel_gather_rows(d, s, rows, k, p, 64, 1); break;
    case 32 << 8 | 32: ravel_gather_rows(d, s, rows, k, p, 32, 1); break;
    }
}

/* Whether it moved them: elements of p.bytes, which are apart by `stride` in the destination. */
static int
ravel_indexed_gather(unsigned char *d, const unsigned char *s, ravel_runs p, int64_t rows,
                     int64_t stride, const ravel_places *f)
{
    if (stride != p.bytes || (p.bytes != 4 && p.bytes != 8))
        return 0;
    for (int64_t b = 0; b < p.n; b++, d += p.dn, s += p.sn)
        if (p.bytes == 4)
            ravel_gather_sized(d, s, rows, 4, f);
        else
            ravel_gather_sized(d, s, rows, 8, f);
    return 1;
}
#endif
