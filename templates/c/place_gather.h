/* Elements of 4 or 8 bytes from places of 32 bits to neighbours, by instructions that gather.  They
 * take less time than a load for each element on Intel's processors with AVX512_FP16 (Sapphire
 * Rapids) and later ones; microcode of 2023 makes them slow on those before. */
#if defined(__AVX512FP16__) && !defined(RAVEL_GATHER)
#define RAVEL_GATHER
#endif
#if defined(RAVEL_GATHER) && defined(RAVEL_SSE2)
#pragma GCC diagnostic push           /* of masks, where these are macros */
#pragma GCC diagnostic ignored "-Wsign-conversion"
static inline void
ravel_gather4(unsigned char *d, const unsigned char *s, const uint32_t *place, int64_t n)
{
    for (int64_t r = 0; r < n; r += 16) {
        const __mmask16 in = (__mmask16)(n - r < 16 ? (1U << (n - r)) - 1 : 0xffffU);
        const __m512i at = _mm512_maskz_loadu_epi32(in, place + r), zero = _mm512_setzero_si512();
        _mm512_mask_storeu_epi32(d + 4 * r, in, _mm512_mask_i32gather_epi32(zero, in, at, s, 1));
    }
}

static inline void
ravel_gather8(unsigned char *d, const unsigned char *s, const uint32_t *place, int64_t n)
{
    for (int64_t r = 0; r < n; r += 8) {
        const __mmask8 in = (__mmask8)(n - r < 8 ? (1U << (n - r)) - 1 : 0xffU);
        const __m256i at = _mm256_maskz_loadu_epi32(in, place + r);
        const __m512i zero = _mm512_setzero_si512();
        _mm512_mask_storeu_epi64(d + 8 * r, in, _mm512_mask_i32gather_epi64(zero, in, at, s, 1));
    }
}
#pragma GCC diagnostic pop

/* Whether ravel_gather_places moves the rows. */
static inline int
ravel_gathers(ravel_runs p, const ravel_places *t, const ravel_places *f)
{
    const int beside = !ravel_has_places(t) && t->stride + t->by[0][0] == p.bytes;
    const int64_t skips = f->bits & (RAVEL_SKIPS | RAVEL_SKIPS << 8);
    return beside && f->near && !skips && (p.bytes == 4 || p.bytes == 8) &&
           (p.n == 1 || p.dn != p.bytes);
}

static inline void
ravel_gather_places(unsigned char *d, const unsigned char *s, ravel_runs p, int64_t rows,
                    const ravel_places *f)
{
    uint32_t place[RAVEL_CHUNK];
    for (int64_t i = 0; i < rows; i += RAVEL_CHUNK, d += RAVEL_CHUNK * p.bytes) {
        const int64_t m = rows - i < RAVEL_CHUNK ? rows - i : (int64_t)RAVEL_CHUNK;
        ravel_near_sums(f, i, m, place);
        for (int64_t b = 0; b < p.n; b++)
            if (p.bytes == 4)
                ravel_gather4(d + b * p.dn, s + b * p.sn, place, m);
            else
                ravel_gather8(d + b * p.dn, s + b * p.sn, place, m);
    }
}
#endif
