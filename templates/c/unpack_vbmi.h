/* Runs of elements of 1, 2 or 4 bits to a byte each, and back, by lines of 64 elements: processors
 * with VBMI, which permute bytes and take any 8 bits of a word.  The first element of a byte is in
 * its lowest bits.  `bits` is a constant. */
#ifdef RAVEL_UNPACK_VBMI
/* The bytes that have the elements of each word of a line. */
RAVEL_INLINE __m512i
ravel_unpack_bytes(int bits)
{
    ravel_1x4 at = {0};
    RAVEL_UNROLL for (int i = 0; i < 64; i++)
        at[i] = (uint8_t)(i / 8 * bits + (i % 8 <= bits ? i % 8 : 0));
    __asm__("" : "+v"(at));          /* else gcc makes it again for each line */
    return (__m512i)at;
}

/* 64 elements: to each word the bytes that have its elements, which then move to a byte each.
 * `begins`: where they do in a word; `read`: the bytes of s that are read. */
RAVEL_INLINE void
ravel_unpack_line(unsigned char *d, const unsigned char *s, __m512i bytes, uint64_t begins,
                  uint64_t read, int bits)
{
    __m512i v = _mm512_maskz_loadu_epi8((__mmask64)read, s);
    v = _mm512_permutexvar_epi8(bytes, v);
    v = _mm512_multishift_epi64_epi8(_mm512_set1_epi64((long long)begins), v);
    v = _mm512_and_si512(v, _mm512_set1_epi8((char)((1 << bits) - 1)));
    memcpy(d, &v, sizeof v);
}

/* Each run of n elements to `pitch` bytes after the one before, and up to 63 bytes after it.  Fetches
 * what is `ahead` bytes from them. */
RAVEL_CONSTANT void
ravel_unpack_runs(unsigned char *to, int64_t pitch, const unsigned char *src, int64_t s,
                  const int32_t *from, int64_t runs, int64_t n, int64_t ahead, int bits)
{
    const int64_t lines = (n - 1) / RAVEL_LINE, last = (n - lines * RAVEL_LINE) * bits;
    const __m512i bytes = ravel_unpack_bytes(bits);
    uint64_t begins[8], read[8];
    for (int by = 0; by < 8; by += bits) {
        begins[by] = 0x0706050403020100 * (uint64_t)bits + 0x0101010101010101 * (uint64_t)by;
        read[by] = (uint64_t)-1 >> (64 - ((by + last + 7) >> 3));
    }
    for (int64_t i = 0; i < runs; i++, to += pitch) {
        const int64_t at = (s + from[i]) * bits, by = at & 7;
        const unsigned char *of = src + (at >> 3);
        unsigned char *d = to;
        for (int64_t k = 0; k < lines; k++, d += RAVEL_LINE, of += 8 * bits) {
            RAVEL_PREFETCH(of + ahead);
            ravel_unpack_line(d, of, bytes, begins[by], ((uint64_t)2 << 8 * bits) - 1, bits);
        }
        RAVEL_PREFETCH(of + ahead);
        RAVEL_PREFETCH(of + ahead + last / 8);
        ravel_unpack_line(d, of, bytes, begins[by], read[by], bits);
    }
}

/* Of which bytes the first 8 * bits of a line become. */
RAVEL_INLINE __m512i
ravel_pack_at(int bits)
{
    ravel_1x4 at = {0};
    RAVEL_UNROLL for (int i = 0; i < 64; i++)
        at[i] = (uint8_t)(i * (8 / bits) % 64);
    __asm__("" : "+v"(at));
    return (__m512i)at;
}

/* 64 elements in the first 8 * bits bytes.  What is no element, after them, changes only bytes that
 * have some of it. */
RAVEL_INLINE __m256i
ravel_packed(const unsigned char *s, __m512i at, int bits)
{
    const __m512i v = _mm512_loadu_si512(s);
    const __m512i two = _mm512_maddubs_epi16(v, _mm512_set1_epi16((short)(1 | 256 << bits)));
    const __m512i four = _mm512_madd_epi16(two, _mm512_set1_epi32(1 | 65536 << 2 * bits));
    const uint64_t eight = _mm512_test_epi8_mask(v, _mm512_set1_epi8(1));
    if (bits == 1)                   /* of which clang 14 makes no broadcast: it reads s instead */
        return _mm256_castsi128_si256(_mm_cvtsi64_si128((long long)eight));
    return _mm512_castsi512_si256(_mm512_permutexvar_epi8(at, bits == 2 ? four : two));
}

RAVEL_INLINE void
ravel_pack_line(unsigned char *d, const unsigned char *s, __m512i at, int bits)
{
    const __m256i v = ravel_packed(s, at, bits);
    memcpy(d, &v, 8 * (size_t)bits);
}

/* The byte of which s has the first element.  What is no element may have more bits than one. */
RAVEL_CONSTANT unsigned
ravel_pack_byte(const unsigned char *s, int bits)
{
    unsigned v = 0;
    RAVEL_UNROLL for (int i = 0; i < 8 / bits; i++)
        v |= (s[i] & ((1u << bits) - 1)) << i * bits;
    return v;
}

/* What runs of n elements have that begin at a bit of a byte: whole bytes, after the lines of which
 * some are written; elements in the byte after them. */
typedef struct {
    int64_t lines, bytes;
    __mmask32 first, last;
    unsigned begin, end;             /* the bits of the first and of the last byte that stay */
} ravel_pack_run;

RAVEL_INLINE ravel_pack_run
ravel_pack_run_at(int by, int64_t n, int bits)
{
    const int64_t all = n * bits + by, bytes = all >> 3, lines = bytes ? (bytes - 1) / (8 * bits) : 0;
    const unsigned begin = (1u << by) - 1, end = 255u & ~((1u << (all & 7)) - 1);
    const __mmask32 first = (__mmask32)((uint64_t)2 << (8 * bits - 1)) - 1 - (by > 0);
    const __mmask32 last = (__mmask32)(((uint64_t)1 << (bytes - lines * 8 * bits)) - 1);
    return (ravel_pack_run){lines, bytes, first, lines ? last : last & first,
                            bytes ? begin : begin | end, bytes ? end : 255};
}

/* Lines begin with the element that would be the first of a byte.  The bytes of which bits stay are
 * read and written first: what is next to a masked store waits for it. */
RAVEL_INLINE void
ravel_pack_bits(unsigned char *d, const unsigned char *s, const ravel_pack_run *r, __m512i at,
                int bits)
{
    if (r->begin)
        *d = (unsigned char)((*d & r->begin) | (ravel_pack_byte(s, bits) & ~r->begin));
    if (r->end != 255) {
        unsigned char *const end = d + r->bytes;
        const unsigned v = ravel_pack_byte(s + r->bytes * (8 / bits), bits);
        *end = (unsigned char)((*end & r->end) | (v & ~r->end));
    }
    if (r->lines) {
        _mm256_mask_storeu_epi8(d, r->first, ravel_packed(s, at, bits));
        for (int64_t k = 1; k < r->lines; k++)
            ravel_pack_line(d + k * 8 * bits, s + k * RAVEL_LINE, at, bits);
        d += r->lines * 8 * bits;
        s += r->lines * RAVEL_LINE;
    }
    _mm256_mask_storeu_epi8(d, r->last, ravel_packed(s, at, bits));
}

RAVEL_INLINE void
ravel_pack_part(unsigned char *d, int by, const unsigned char *s, int64_t n, __m512i at, int bits)
{
    const ravel_pack_run r = ravel_pack_run_at(by, n, bits);
    ravel_pack_bits(d, s - by / bits, &r, at, bits);
}

/* n elements to bit `by` of a byte and what follows; lines of a cache by non-temporal stores. */
RAVEL_INLINE void
ravel_pack_past(unsigned char *d, int by, const unsigned char *s, int64_t n, __m512i at, int bits)
{
    const int64_t each = 8 * RAVEL_LINE / bits;
    const int64_t before = (int64_t)(-(uintptr_t)d & (RAVEL_LINE - 1));
    const int64_t left = by && !before ? (int64_t)RAVEL_LINE : before;
    const int64_t most = (8 * left - by) / bits, head = most < n ? most : n;
    unsigned char line[RAVEL_LINE];
    ravel_pack_part(d, by, s, head, at, bits);
    for (d += left, s += head, n -= head; n >= each; n -= each, s += each, d += RAVEL_LINE) {
        RAVEL_UNROLL for (int k = 0; k < 8 / bits; k++)
            ravel_pack_line(line + k * 8 * bits, s + k * RAVEL_LINE, at, bits);
        ravel_stream_line(d, line);
    }
    if (n > 0)
        ravel_pack_part(d, 0, s, n, at, bits);
}

/* The inverse of ravel_unpack_runs.  Up to 63 bytes after a run, and 7 before it, are read. */
RAVEL_CONSTANT void
ravel_pack_runs(unsigned char *dst, int64_t d, const int32_t *to, int64_t runs,
                const unsigned char *from, int64_t pitch, int64_t n, int64_t stream, int bits)
{
    const __m512i packed = ravel_pack_at(bits);
    ravel_pack_run r[8];
    for (int by = 0; by < 8; by += bits)
        r[by] = ravel_pack_run_at(by, n, bits);
    for (int64_t i = 0; i < runs; i++, from += pitch) {
        const int64_t at = (d + to[i]) * bits;
        const int by = (int)(at & 7);
        if (stream)
            ravel_pack_past(dst + (at >> 3), by, from, n, packed, bits);
        else
            ravel_pack_bits(dst + (at >> 3), from - by / bits, &r[by], packed, bits);
    }
}
#endif
