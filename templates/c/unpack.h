/* Elements of 1, 2 or 4 bits to a byte each, and back, by words of eight elements: `bits`
 * bytes or 8.  The first element of a byte is in its lowest bits.  `bits` is a constant. */
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#ifndef RAVEL_PLAIN
#define RAVEL_UNPACK_LINES
#endif
RAVEL_CONSTANT uint64_t
ravel_word_load(const unsigned char *s, int bytes)
{
    uint64_t x = *s;
    uint32_t y;
    uint16_t z;
    if (bytes == 8) {
        memcpy(&x, s, 8);
    } else if (bytes == 4) {
        memcpy(&y, s, 4);
        x = y;
    } else if (bytes == 2) {
        memcpy(&z, s, 2);
        x = z;
    }
    return x;
}

RAVEL_CONSTANT void
ravel_word_store(unsigned char *d, uint64_t x, int bytes)
{
    const uint32_t y = (uint32_t)x;
    const uint16_t z = (uint16_t)x;
    if (bytes == 8)
        memcpy(d, &x, 8);
    else if (bytes == 4)
        memcpy(d, &y, 4);
    else if (bytes == 2)
        memcpy(d, &z, 2);
    else
        *d = (unsigned char)x;
}
#else
RAVEL_CONSTANT uint64_t
ravel_word_load(const unsigned char *s, int bytes)
{
    uint64_t x = 0;
    for (int i = 0; i < bytes; i++)
        x |= (uint64_t)s[i] << 8 * i;
    return x;
}

RAVEL_CONSTANT void
ravel_word_store(unsigned char *d, uint64_t x, int bytes)
{
    for (int i = 0; i < bytes; i++)
        d[i] = (unsigned char)(x >> 8 * i);
}
#endif

/* The bits of fields of `step` elements, of which one begins in each `step` bytes. */
RAVEL_CONSTANT uint64_t
ravel_fields(int step, int bits)
{
    return (uint64_t)-1 / (((uint64_t)2 << (8 * step - 1)) - 1) * (((uint64_t)1 << step * bits) - 1);
}

/* Moves the elements of a word to a byte each: halves, quarters, single elements. */
RAVEL_CONSTANT uint64_t
ravel_spread(uint64_t x, int bits)
{
    for (int step = 4; step > 0; step /= 2)
        x = (x | x << step * (8 - bits)) & ravel_fields(step, bits);
    return x;
}

/* The inverse of ravel_spread. */
RAVEL_CONSTANT uint64_t
ravel_unspread(uint64_t x, int bits)
{
    for (int step = 1; step < 8; step *= 2) {
        x &= ravel_fields(step, bits);
        x |= x >> step * (8 - bits);
    }
    return x;
}

/* A word from bit `at` of the source on.  Both words that an element may be in are read;
 * they have the same bits where they overlap. */
RAVEL_CONSTANT void
ravel_unpack_word(unsigned char *d, const unsigned char *s, int64_t at, int bits)
{
    uint64_t x = ravel_word_load(s + at / 8, bits);
    if (at & 7)
        x = (x >> (at & 7) | ravel_word_load(s + at / 8 + 1, bits) << (8 - (at & 7))) &
            (uint64_t)-1 >> (64 - 8 * bits);
    ravel_word_store(d, ravel_spread(x, bits), 8);
}

RAVEL_CONSTANT void
ravel_pack_word(unsigned char *d, const unsigned char *s, int bits)
{
    ravel_word_store(d, ravel_unspread(ravel_word_load(s, 8), bits), bits);
}

enum { RAVEL_LINE = 64 };
#ifdef RAVEL_UNPACK_LINES
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

#if RAVEL_LANES == 4 && defined(__AVX512VBMI__)
/* Where each element of 64 bits begins, a byte each. */
RAVEL_CONSTANT uint64_t
ravel_begins(int by, int bits)
{
    return 0x0706050403020100 * (uint64_t)bits + 0x0101010101010101 * (uint64_t)by;
}

/* 64 elements from bit `by`, below 8, of s on: to each word the bytes that have its elements,
 * which then move to a byte each. */
RAVEL_INLINE void
ravel_unpack_line(unsigned char *d, const unsigned char *s, int by, int bits)
{
    const __mmask64 read = (__mmask64)-1 >> (64 - 8 * bits - (by > 0));
    ravel_1x4 from = {0};
    RAVEL_UNROLL for (int i = 0; i < 64; i++)
        from[i] = (uint8_t)(i / 8 * bits + (i % 8 <= bits ? i % 8 : 0));
    __m512i v = _mm512_permutexvar_epi8((__m512i)from, _mm512_maskz_loadu_epi8(read, s));
    v = _mm512_multishift_epi64_epi8(_mm512_set1_epi64((long long)ravel_begins(by, bits)), v);
    v = _mm512_and_si512(v, _mm512_set1_epi8((char)((1 << bits) - 1)));
    memcpy(d, &v, sizeof v);
}
#else
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
#endif

#if RAVEL_LANES == 4 && defined(__AVX512VL__)
RAVEL_INLINE void
ravel_pack_line(unsigned char *d, const unsigned char *s, int bits)
{
    const __m512i v = _mm512_loadu_si512(s), one = _mm512_set1_epi8(1);
    const __m512i two = _mm512_maddubs_epi16(v, _mm512_set1_epi16((short)(1 | 256 << bits)));
    const __m512i four = _mm512_madd_epi16(two, _mm512_set1_epi32(1 | 65536 << 2 * bits));
    const uint64_t eight = _mm512_test_epi8_mask(v, one);
    if (bits == 1)
        memcpy(d, &eight, 8);
    else if (bits == 2)
        _mm_storeu_si128((__m128i *)d, _mm512_cvtepi32_epi8(four));
    else
        _mm256_storeu_si256((__m256i *)d, _mm512_cvtepi16_epi8(two));
}
#else
RAVEL_INLINE void
ravel_pack_line(unsigned char *d, const unsigned char *s, int bits)
{
    ravel_line1 x;
    memcpy(&x, s, sizeof x);
    RAVEL_UNROLL for (int step = 1; step < 8 / bits; step *= 2) {
        x &= ravel_fields(step, bits);
        x |= x >> (uint64_t)(step * (8 - bits));
    }
    ravel_narrow(d, &x, bits);
}
#endif

/* The lines of n elements; the last one may overlap the one before.  Returns the elements
 * that are done: n, or 0 if it is less than a line. */
RAVEL_CONSTANT int64_t
ravel_unpack_lines(unsigned char *d, const unsigned char *s, int64_t at, int64_t n, int bits)
{
    const unsigned char *of = s + at / 8;
    int64_t i = 0;
    for (; !(at & 7) && i + RAVEL_LINE <= n; i += RAVEL_LINE, of += 8 * bits)
        ravel_unpack_line(d + i, of, 0, bits);
    for (; i + RAVEL_LINE <= n; i += RAVEL_LINE, of += 8 * bits)
        ravel_unpack_line(d + i, of, (int)(at & 7), bits);
    if (i == n || n < RAVEL_LINE)
        return i;
    at += (n - RAVEL_LINE) * bits;
    if (at & 7)
        ravel_unpack_line(d + n - RAVEL_LINE, s + at / 8, (int)(at & 7), bits);
    else
        ravel_unpack_line(d + n - RAVEL_LINE, s + at / 8, 0, bits);
    return n;
}
#endif

/* n elements from bit `at` of s on.  The last word may overlap the one before. */
RAVEL_CONSTANT void
ravel_unpack_bits(unsigned char *d, const unsigned char *s, int64_t at, int64_t n, int bits)
{
    int64_t i = 0;
#ifdef RAVEL_UNPACK_LINES
    i = ravel_unpack_lines(d, s, at, n, bits);
#endif
    for (; n >= 8 && i < n; i += 8) {
        i = i + 8 > n ? n - 8 : i;
        ravel_unpack_word(d + i, s, at + i * bits, bits);
    }
    for (; i < n; i++)
        d[i] = (unsigned char)(s[(at + i * bits) / 8] >> (at + i * bits) % 8 &
                               ((1 << bits) - 1));
}

/* n elements, fewer than 8, from bit `at` of a byte on; other bits stay.  Reads 8 bytes. */
RAVEL_CONSTANT void
ravel_pack_few(unsigned char *d, int at, const unsigned char *s, int n, int bits)
{
    uint64_t x = ravel_unspread(ravel_word_load(s, 8), bits);
    for (n *= bits; n > 0; at = 0) {
        const int part = n < 8 - at ? n : 8 - at;
        ravel_bits_into(d++, at, (unsigned)x & ((1u << part) - 1), part);
        x >>= part;
        n -= part;
    }
}

/* n elements to whole bytes, the last of which may keep bits.  The last line or word of
 * whole bytes may overlap the one before. */
RAVEL_CONSTANT void
ravel_pack_bytes(unsigned char *d, const unsigned char *s, int64_t n, int bits)
{
    const int64_t whole = n - n % (8 / bits);
    int64_t i = 0;
#ifdef RAVEL_UNPACK_LINES
    for (; i + RAVEL_LINE <= whole; i += RAVEL_LINE)
        ravel_pack_line(d + i / 8 * bits, s + i, bits);
    if (i < whole && whole >= RAVEL_LINE) {
        i = whole - RAVEL_LINE;
        ravel_pack_line(d + i * bits / 8, s + i, bits);
        i = whole;
    }
#endif
    for (; whole >= 8 && i < whole; i += 8) {
        i = i + 8 > whole ? whole - 8 : i;
        ravel_pack_word(d + i * bits / 8, s + i, bits);
    }
    if (i < n)
        ravel_pack_few(d + i * bits / 8, 0, s + i, (int)(n - i), bits);
}

/* The same; lines of a cache by non-temporal stores. */
RAVEL_CONSTANT void
ravel_pack_past(unsigned char *d, const unsigned char *s, int64_t n, int bits)
{
    const int64_t each = 8 * RAVEL_LINE / bits;
    const int64_t head = (int64_t)(-(uintptr_t)d & (RAVEL_LINE - 1)) * 8 / bits;
    unsigned char line[RAVEL_LINE];
    int64_t i = head < n ? head : n;
    ravel_pack_bytes(d, s, i, bits);
    for (d += i * bits / 8; i + each <= n; i += each, d += RAVEL_LINE) {
        ravel_pack_bytes(line, s + i, each, bits);
        ravel_stream_line(d, line);
    }
    ravel_pack_bytes(d, s + i, n - i, bits);
}

/* n elements to bit `at` of d and what follows.  The elements before them in the first byte
 * stay: they take the place of those before s. */
RAVEL_CONSTANT void
ravel_pack_bits(unsigned char *d, int64_t at, unsigned char *s, int64_t n, int64_t stream,
                int bits)
{
    const int part = (int)(at & 7) / bits;
    d += at / 8;
    if (n < 8) {
        ravel_pack_few(d, (int)(at & 7), s, (int)n, bits);
        return;
    }
    for (int i = 0; i < part; i++)
        s[i - part] = (unsigned char)(*d >> i * bits & ((1 << bits) - 1));
    if (stream)
        ravel_pack_past(d, s - part, n + part, bits);
    else
        ravel_pack_bytes(d, s - part, n + part, bits);
}
