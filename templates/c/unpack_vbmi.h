/* Runs of elements of 1, 2 or 4 bits to a byte each, and back, by lines of 64 elements: processors
 * with VBMI, which permute bytes and take any 8 bits of a word.  The first element of a byte is in
 * its lowest bits.  `bits` is a constant. */
#ifdef RAVEL_UNPACK_VBMI
/* Each byte of a line of 64 elements to a word of as many bytes as it has elements. */
RAVEL_INLINE ravel_8x4
ravel_widen(const unsigned char *s, int bits)
{
    if (bits == 4)
        return (ravel_8x4)_mm512_cvtepu8_epi16(_mm256_loadu_si256((const __m256i *)s));
    if (bits == 2)
        return (ravel_8x4)_mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)s));
    return (ravel_8x4)_mm512_cvtepu8_epi64(_mm_loadl_epi64((const __m128i *)s));
}

/* 64 elements from bit `by`, below 8, of s on.  begins: where those of widened bytes do in a word of
 * eight elements. */
RAVEL_INLINE void
ravel_unpack_line(unsigned char *d, const unsigned char *s, int by, const __m512i *begins, int bits)
{
    const ravel_8x4 x = ravel_widen(s, bits), next = by ? ravel_widen(s + 1, bits) << 8 : x << 4;
    ravel_8x4 v = bits < 4 && !by ? x : x | next;
    if (bits < 4)
        v = (ravel_8x4)_mm512_multishift_epi64_epi8(begins[by], (__m512i)v);
    else if (by)
        v = x >> 4 | next;
    v &= ravel_fields(1, bits);
    memcpy(d, &v, sizeof v);
}

/* So many whole lines, and the last `rest` elements, if any, by a line that overlaps the one before. */
RAVEL_INLINE void
ravel_unpack_lines(unsigned char *d, const unsigned char *s, int64_t at, int64_t lines, int64_t rest,
                   int64_t ahead, const __m512i *begins, int bits)
{
    const unsigned char *of = s + (at >> 3), *const end = of + lines * 8 * bits;
    if (at & 7)
        for (; of != end; of += 8 * bits, d += RAVEL_LINE) {
            RAVEL_PREFETCH(of + ahead);
            ravel_unpack_line(d, of, bits == 4 ? 4 : (int)(at & 7), begins, bits);
        }
    else
        for (; of != end; of += 8 * bits, d += RAVEL_LINE) {
            RAVEL_PREFETCH(of + ahead);
            ravel_unpack_line(d, of, 0, begins, bits);
        }
    if (!rest)
        return;
    const int64_t last = (at & 7) + (rest - RAVEL_LINE) * bits;
    d += rest - RAVEL_LINE;
    of = end + (last >> 3);
    RAVEL_PREFETCH(of + ahead + 8 * bits);
    if (last & 7)
        ravel_unpack_line(d, of, bits == 4 ? 4 : (int)(last & 7), begins, bits);
    else
        ravel_unpack_line(d, of, 0, begins, bits);
}

/* The bytes that have the elements of each word of a line. */
RAVEL_INLINE __m512i
ravel_unpack_bytes(int bits)
{
    ravel_1x4 at = {0};
    RAVEL_UNROLL for (int i = 0; i < 64; i++)
        at[i] = (uint8_t)(i / 8 * bits + (i % 8 <= bits ? i % 8 : 0));
    __asm__("" : "+v"(at));          /* else gcc makes it again for each run */
    return (__m512i)at;
}

/* At most 64 elements, in the bytes `read` of s: to each word the bytes that have its elements, which
 * begin in it at begins[]. */
RAVEL_INLINE void
ravel_unpack_some(unsigned char *d, const unsigned char *s, __m512i bytes, __m512i begins,
                  uint64_t read, int bits)
{
    __m512i v = _mm512_maskz_loadu_epi8((__mmask64)read, s);
    v = _mm512_permutexvar_epi8(bytes, v);
    v = _mm512_multishift_epi64_epi8(begins, v);
    v = _mm512_and_si512(v, _mm512_set1_epi8((char)((1 << bits) - 1)));
    memcpy(d, &v, sizeof v);
}

/* Where the eight elements of a word begin, of widened bytes (`wide`) and of those that have them. */
RAVEL_INLINE __m512i
ravel_unpack_begins(int by, int wide, int bits)
{
    uint64_t x = 0;
    for (int i = 0; i < 8; i++)
        x |= (uint64_t)(by + i * bits + (wide ? i * bits / 8 * (64 / bits - 8) : 0)) << 8 * i;
    return _mm512_set1_epi64((long long)x);
}

/* Each run of n elements to `pitch` bytes after the one before, and up to 63 bytes after it.  Fetches
 * what is `ahead` bytes from them. */
RAVEL_CONSTANT void
ravel_unpack_runs(unsigned char *to, int64_t pitch, const unsigned char *src, int64_t s,
                  const int32_t *from, int64_t runs, int64_t n, int64_t ahead, int bits)
{
    const int whole = n >= RAVEL_LINE;
    const __m512i bytes = ravel_unpack_bytes(bits);
    __m512i begins[8];
    uint64_t read[8] = {0};
    for (int by = 0; by < 8; by += bits) {
        begins[by] = ravel_unpack_begins(by, whole, bits);
        if (!whole)
            read[by] = (uint64_t)-1 >> (64 - ((by + n * bits + 7) >> 3));
    }
    for (int64_t i = 0; i < runs && whole; i++, to += pitch)
        ravel_unpack_lines(to, src, (s + from[i]) * bits, n / RAVEL_LINE, n % RAVEL_LINE, ahead, begins,
                           bits);
    for (int64_t i = 0; i < runs && !whole; i++, to += pitch) {
        const int64_t at = (s + from[i]) * bits, by = at & 7;
        const unsigned char *const of = src + (at >> 3);
        RAVEL_PREFETCH(of + ahead);
        RAVEL_PREFETCH(of + ahead + n * bits / 8);
        ravel_unpack_some(to, of, bytes, begins[by], read[by], bits);
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
 * have some of it.  Those of four bits begin at bit `up` of their bytes. */
RAVEL_INLINE __m256i
ravel_packed(const unsigned char *s, __m512i at, int up, int bits)
{
    __m512i v = _mm512_loadu_si512(s);
    if (bits == 4 && up)
        v = _mm512_srli_epi16(v, 4);
    if (bits == 4)
        v = _mm512_and_si512(v, _mm512_set1_epi8(15));
    const __m512i two = _mm512_maddubs_epi16(v, _mm512_set1_epi16((short)(1 | 256 << bits)));
    const __m512i four = _mm512_madd_epi16(two, _mm512_set1_epi32(1 | 65536 << 2 * bits));
    const uint64_t eight = _mm512_test_epi8_mask(v, _mm512_set1_epi8(1));
    if (bits == 1)                   /* of which clang 14 makes no broadcast: it reads s instead */
        return _mm256_castsi128_si256(_mm_cvtsi64_si128((long long)eight));
    return _mm512_castsi512_si256(_mm512_permutexvar_epi8(at, bits == 2 ? four : two));
}

RAVEL_INLINE void
ravel_pack_line(unsigned char *d, const unsigned char *s, __m512i at, int up, int bits)
{
    const __m256i v = ravel_packed(s, at, up, bits);
    memcpy(d, &v, 8 * (size_t)bits);
}

/* The byte of which s has the first element.  What is no element may have more bits than one. */
RAVEL_CONSTANT unsigned
ravel_pack_byte(const unsigned char *s, int up, int bits)
{
    const uint64_t two = bits == 4 ? ravel_word_load(s, 2) >> up & 0x0f0f : 0;
    unsigned v = 0;
    if (bits == 4)
        return (unsigned)(two | two >> 4) & 255;
    RAVEL_UNROLL for (int i = 0; i < 8 / bits; i++)
        v |= (s[i] >> up & ((1u << bits) - 1)) << i * bits;
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
    const ravel_pack_run run = {lines, bytes, first, lines ? last : last & first,
                                bytes ? begin : begin | end, bytes ? end : 255};
    return run;
}

/* Lines begin with the element that would be the first of a byte.  The bytes of which bits stay are
 * read and written first: what is next to a masked store waits for it. */
RAVEL_INLINE void
ravel_pack_bits(unsigned char *d, const unsigned char *s, const ravel_pack_run *r, __m512i at,
                int up, int bits)
{
    if (r->begin)
        *d = (unsigned char)((*d & r->begin) | (ravel_pack_byte(s, up, bits) & ~r->begin));
    if (r->end != 255) {
        unsigned char *const end = d + r->bytes;
        const unsigned v = ravel_pack_byte(s + r->bytes * (8 / bits), up, bits);
        *end = (unsigned char)((*end & r->end) | (v & ~r->end));
    }
    if (r->lines) {
        _mm256_mask_storeu_epi8(d, r->first, ravel_packed(s, at, up, bits));
        for (int64_t k = 1; k < r->lines; k++)
            ravel_pack_line(d + k * 8 * bits, s + k * RAVEL_LINE, at, up, bits);
        d += r->lines * 8 * bits;
        s += r->lines * RAVEL_LINE;
    }
    _mm256_mask_storeu_epi8(d, r->last, ravel_packed(s, at, up, bits));
}

RAVEL_INLINE void
ravel_pack_part(unsigned char *d, int by, const unsigned char *s, int64_t n, __m512i at, int up, int bits)
{
    const ravel_pack_run r = ravel_pack_run_at(by, n, bits);
    ravel_pack_bits(d, s - by / bits, &r, at, up, bits);
}

/* n elements to bit `by` of a byte and what follows; lines of a cache by non-temporal stores. */
RAVEL_INLINE void
ravel_pack_past(unsigned char *d, int by, const unsigned char *s, int64_t n, __m512i at, int up, int bits)
{
    const int64_t each = 8 * RAVEL_LINE / bits;
    const int64_t before = (int64_t)(-(uintptr_t)d & (RAVEL_LINE - 1));
    const int64_t left = by && !before ? (int64_t)RAVEL_LINE : before;
    const int64_t most = (8 * left - by) / bits, head = most < n ? most : n;
    unsigned char line[RAVEL_LINE];
    ravel_pack_part(d, by, s, head, at, up, bits);
    for (d += left, s += head, n -= head; n >= each; n -= each, s += each, d += RAVEL_LINE) {
        RAVEL_UNROLL for (int k = 0; k < 8 / bits; k++)
            ravel_pack_line(line + k * 8 * bits, s + k * RAVEL_LINE, at, up, bits);
        ravel_stream_line(d, line);
    }
    if (n > 0)
        ravel_pack_part(d, 0, s, n, at, up, bits);
}

/* The bytes of which elements of four bits are read, in two loads: the second is a byte further on, where
 * the first element is the upper half of a byte. */
typedef struct {
    __mmask64 at, next;
} ravel_halves;

/* Of n elements, at most 128. */
RAVEL_INLINE ravel_halves
ravel_halves_of(int64_t n)
{
    const ravel_halves h = {~(__mmask64)0 >> (64 - (n + 1) / 2),
                            n > 1 ? ~(__mmask64)0 >> (64 - n / 2) : 0};
    return h;
}

RAVEL_INLINE __m512i
ravel_halves_load(const unsigned char *s, int by, const ravel_halves *h)
{
    const __m512i v = _mm512_maskz_loadu_epi8(h->at, s);
    if (!by)
        return v;
    const __m512i next = _mm512_maskz_loadu_epi8(h->next, s + 1);
    return _mm512_ternarylogic_epi32(_mm512_set1_epi8(15), _mm512_srli_epi16(v, 4),
                                     _mm512_slli_epi16(next, 4), 0xca);
}

/* n elements of four bits, at most 128, from bit `by` of s on, each with one from bit `on` of `pair` on
 * in the upper half of its byte. */
RAVEL_INLINE void
ravel_unpack_both(unsigned char *d, const unsigned char *s, int by, const unsigned char *pair, int on,
                  const ravel_halves *h, const __m512i *zip, int64_t n)
{
    const __m512i a = ravel_halves_load(s, by, h), b = ravel_halves_load(pair, on, h);
    const __m512i low = _mm512_set1_epi8(15);
    const __m512i even = _mm512_ternarylogic_epi32(low, a, _mm512_slli_epi16(b, 4), 0xca);
    const __m512i odd = _mm512_ternarylogic_epi32(low, _mm512_srli_epi16(a, 4), b, 0xca);
    _mm512_storeu_si512(d, _mm512_permutex2var_epi8(even, zip[0], odd));
    if (n > RAVEL_LINE)
        _mm512_storeu_si512(d + RAVEL_LINE, _mm512_permutex2var_epi8(even, zip[1], odd));
}

/* Of a run: two lines at a time, the last of which may be a part. */
RAVEL_INLINE void
ravel_unpack_pair(unsigned char *d, const unsigned char *s, int by, const unsigned char *pair, int on,
                  int64_t n, int64_t ahead, const ravel_halves *last, const __m512i *zip)
{
    enum { SOME = 2 * RAVEL_LINE };
    const ravel_halves all = {~(__mmask64)0, ~(__mmask64)0};
    for (; n > SOME; n -= SOME, d += SOME, s += SOME / 2, pair += SOME / 2) {
        RAVEL_PREFETCH(s + ahead);
        RAVEL_PREFETCH(pair + ahead);
        ravel_unpack_both(d, s, by, pair, on, &all, zip, SOME);
    }
    RAVEL_PREFETCH(s + ahead);
    RAVEL_PREFETCH(pair + ahead);
    ravel_unpack_both(d, s, by, pair, on, last, zip, n);
}

/* As ravel_unpack_runs, of elements of four bits, each with the one that is `pair` elements on;
 * RAVEL_PAIR_TABLE: from[] has both offsets of each. */
static void
ravel_unpack_pairs(unsigned char *to, int64_t pitch, const unsigned char *src, int64_t s,
                   const int32_t *from, int64_t runs, int64_t n, int64_t pair, int64_t ahead)
{
    const int two = pair == RAVEL_PAIR_TABLE;
    const int64_t rest = (n - 1) % (2 * RAVEL_LINE) + 1;
    const ravel_halves last = ravel_halves_of(rest);
    ravel_1x4 low = {0}, high;
    RAVEL_UNROLL for (int i = 0; i < 64; i++)
        low[i] = (uint8_t)(i / 2 + i % 2 * 64);
    high = low + 32;
    const __m512i zip[2] = {(__m512i)low, (__m512i)high};
    for (int64_t i = 0; i < runs; i++, to += pitch) {
        const int64_t at = s + from[two ? 2 * i : i], on = two ? s + from[2 * i + 1] : at + pair;
        const unsigned char *const a = src + (at >> 1), *const b = src + (on >> 1);
        if (at & on & 1)
            ravel_unpack_pair(to, a, 4, b, 4, n, ahead, &last, zip);
        else if (at & 1)
            ravel_unpack_pair(to, a, 4, b, 0, n, ahead, &last, zip);
        else if (on & 1)
            ravel_unpack_pair(to, a, 0, b, 4, n, ahead, &last, zip);
        else
            ravel_unpack_pair(to, a, 0, b, 0, n, ahead, &last, zip);
    }
}

/* The inverse of ravel_unpack_runs; elements begin at bit `up` of their bytes.  Up to 63 bytes after a
 * run, and 7 before it, are read. */
RAVEL_CONSTANT void
ravel_pack_runs(unsigned char *dst, int64_t d, const int32_t *to, int64_t runs,
                const unsigned char *from, int64_t pitch, int64_t n, int64_t stream, int up,
                int bits)
{
    const __m512i packed = ravel_pack_at(bits);
    ravel_pack_run r[8];
    for (int by = 0; by < 8; by += bits)
        r[by] = ravel_pack_run_at(by, n, bits);
    for (int64_t i = 0; i < runs; i++, from += pitch) {
        const int64_t at = (d + to[i]) * bits;
        const int by = (int)(at & 7);
        if (stream)
            ravel_pack_past(dst + (at >> 3), by, from, n, packed, up, bits);
        else
            ravel_pack_bits(dst + (at >> 3), from - by / bits, &r[by], packed, up, bits);
    }
}
#endif
