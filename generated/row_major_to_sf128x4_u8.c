/* ravel emit --from ROW_MAJOR --to SF128x4 --shape 1000,90 --dtype u8 --name row_major_to_sf128x4_u8
 * src ROW_MAJOR: 90*b0 + b1
 *     u8, b0=1000 b1=90 in 90000 elements, 90000 bytes
 * dst SF128x4: 11776*(R//128) + 512*(C//4) + 16*(R%32) + 4*(R//32%4) + C%4
 *     u8, R=1000 C=90 in 94208 elements, 94208 bytes */
#include <stdint.h>
#include <string.h>

/* Bytes of padding after a run, at most. */
enum { RAVEL_PAD_BYTES = 2048 };

/* Values are taken to bytes, and words apart, the lowest byte first. */
#if defined(__BIG_ENDIAN__) || \
    (defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__)
#error "this relayout is for little-endian machines: the bytes of its values would be wrong"
#endif

/* Vectors of 1, 2 or 4 lanes of 16 bytes; only loads and stores cross lanes.
 * RAVEL_LANES: the widest that the compiler was told of (-mavx2, -march=native).
 * RAVEL_PLAIN: no vectors; RAVEL_PORTABLE: the compiler's own, no intrinsics. */
#if !defined(RAVEL_PLAIN) && !defined(__clang__) && \
    !(defined(__GNUC__) && __GNUC__ >= 12)
#define RAVEL_PLAIN
#endif
#if defined(__SSE2__) && !defined(RAVEL_PLAIN) && !defined(RAVEL_PORTABLE)
/* The large header takes a compiler longer than all of ours. */
#ifdef __SSSE3__
#include <immintrin.h>
#else
#include <emmintrin.h>
#endif
#define RAVEL_SSE2
#endif
#if defined(RAVEL_SSE2) && defined(__AVX512BW__)
#define RAVEL_LANES 4
#elif defined(RAVEL_SSE2) && defined(__AVX2__)
#define RAVEL_LANES 2
#else
#define RAVEL_LANES 1
#endif

#ifndef RAVEL_PLAIN
#define RAVEL_INLINE __attribute__((always_inline, unused)) static inline
/* clang would unroll a loop by 16 before the function that it is in, whose argument bounds
 * it, is inlined; in full it cannot before.  gcc warns of it where it does not optimise. */
#ifndef __OPTIMIZE__
#define RAVEL_UNROLL
#elif defined __clang__
#define RAVEL_UNROLL _Pragma("clang loop unroll(full)")
#else
#define RAVEL_UNROLL _Pragma("GCC unroll 16")
#endif

/* ravel_2x4: elements of 2 bytes, 4 lanes; ravel_anyx4: of bytes, at any address. */
#define RAVEL_TYPES(w)                                                           \
    typedef uint8_t ravel_1x##w __attribute__((vector_size(16 * w)));            \
    typedef uint16_t ravel_2x##w __attribute__((vector_size(16 * w)));           \
    typedef uint32_t ravel_4x##w __attribute__((vector_size(16 * w)));           \
    typedef uint64_t ravel_8x##w __attribute__((vector_size(16 * w)));           \
    typedef uint8_t ravel_anyx##w                                                \
        __attribute__((vector_size(16 * w), aligned(1), may_alias));

/* An element of a, one of b, and so on, from the low (high) half of every lane;
 * elements of n bytes, m of them a lane, w lanes. */
#define RAVEL_LOW(n, m, w, a, b)                                                 \
    __builtin_shufflevector(a, b, RAVEL_EACH##w(RAVEL_ZIP##n, 0, m))
#define RAVEL_HIGH(n, m, w, a, b)                                                \
    __builtin_shufflevector(a, b, RAVEL_EACH##w(RAVEL_ZIP##n, (m) / 2, m))
#define RAVEL_EACH1(zip, i, m) zip(i, m)
#define RAVEL_EACH2(zip, i, m) zip(i, 2 * (m)), zip((i) + (m), 2 * (m))
#define RAVEL_EACH4(zip, i, m) zip(i, 4 * (m)), zip((i) + (m), 4 * (m)), \
    zip((i) + 2 * (m), 4 * (m)), zip((i) + 3 * (m), 4 * (m))
#define RAVEL_ZIP8(i, b) (i), (i) + (b)
#define RAVEL_ZIP4(i, b) RAVEL_ZIP8(i, b), RAVEL_ZIP8((i) + 1, b)
#define RAVEL_ZIP2(i, b) RAVEL_ZIP4(i, b), RAVEL_ZIP4((i) + 2, b)
#define RAVEL_ZIP1(i, b) RAVEL_ZIP2(i, b), RAVEL_ZIP2((i) + 4, b)

/* Keeps an address in a register: compilers would take one for each row of a block, more
 * than there are. */
#define RAVEL_KEEP(x) __asm__("" : "+r"(x))

/* 16 bytes from each of w rows; and 16 * w bytes back, past the caches where `stream`
 * says so and the address is aligned. */
RAVEL_TYPES(1)
RAVEL_INLINE ravel_1x1
ravel_load1(const unsigned char *s)
{
    return (ravel_1x1)*(const ravel_anyx1 *)s;
}

RAVEL_INLINE ravel_1x1
ravel_rows1(const unsigned char *const *s, int64_t at)
{
    return ravel_load1(s[0] + at);
}

RAVEL_INLINE void
ravel_store1(unsigned char *d, ravel_1x1 v, int64_t stream)
{
#ifdef RAVEL_SSE2
    if (stream)
        _mm_stream_si128((__m128i *)(void *)d, (__m128i)v);
    else
#endif
        *(ravel_anyx1 *)d = v;
    (void)stream;
}

#if RAVEL_LANES > 1
/* Intrinsics: gcc 12 does not find the instruction that loads an upper lane. */
RAVEL_TYPES(2)
RAVEL_INLINE ravel_1x2
ravel_rows2(const unsigned char *const *s, int64_t at)
{
    const __m128i a = _mm_loadu_si128((const __m128i *)(const void *)(s[0] + at));
    const __m128i b = _mm_loadu_si128((const __m128i *)(const void *)(s[1] + at));
    return (ravel_1x2)_mm256_inserti128_si256(_mm256_castsi128_si256(a), b, 1);
}

RAVEL_INLINE ravel_1x2
ravel_load2(const unsigned char *s)
{
    return (ravel_1x2)*(const ravel_anyx2 *)s;
}

RAVEL_INLINE void
ravel_lanes2(unsigned char *low, unsigned char *high, ravel_1x2 v)
{
    _mm_storeu_si128((__m128i *)(void *)low, _mm256_castsi256_si128((__m256i)v));
    _mm_storeu_si128((__m128i *)(void *)high, _mm256_extracti128_si256((__m256i)v, 1));
}

RAVEL_INLINE void
ravel_store2(unsigned char *d, ravel_1x2 v, int64_t stream)
{
    if (stream)
        _mm256_stream_si256((__m256i *)(void *)d, (__m256i)v);
    else
        *(ravel_anyx2 *)d = v;
}
#endif

#if RAVEL_LANES > 2
RAVEL_TYPES(4)
RAVEL_INLINE ravel_1x4
ravel_rows4(const unsigned char *const *s, int64_t at)
{
    const __m256i a = (__m256i)ravel_rows2(s, at);
    const __m256i b = (__m256i)ravel_rows2(s + 2, at);
    return (ravel_1x4)_mm512_inserti64x4(_mm512_castsi256_si512(a), b, 1);
}

RAVEL_INLINE void
ravel_store4(unsigned char *d, ravel_1x4 v, int64_t stream)
{
    if (stream)
        _mm512_stream_si512((__m512i *)(void *)d, (__m512i)v);
    else
        *(ravel_anyx4 *)d = v;
}
#endif
#endif

/* Short rows and columns: set apart and put together, in vectors and in a buffer. */
#ifndef RAVEL_PLAIN
#if defined(RAVEL_SSE2) && defined(__SSSE3__)
#define RAVEL_SHUFFLE(v, by) ((ravel_1x1)_mm_shuffle_epi8((__m128i)(v), (__m128i)(by)))
#elif defined(__aarch64__) && !defined(__clang__)
#define RAVEL_SHUFFLE(v, by) __builtin_shuffle(v, by)
#endif

/* Byte i is to come from place i / in * out + i % in: pieces of `in` bytes that lay `out`
 * apart, of which the part that `in` and `out` share is kept. */
RAVEL_INLINE ravel_1x1
ravel_apart(int64_t in, int64_t out)
{
    ravel_1x1 by = {0};
    for (int i = 0; i < 16; i++)
        by[i] = (uint8_t)((i / in * out + i % in) & 15);
    return by;
}

/* The power of two that a row of so many bytes, at most 16, is padded to. */
RAVEL_INLINE int64_t
ravel_slot(int64_t bytes)
{
    return bytes <= 2 ? 2 : bytes <= 4 ? 4 : bytes <= 8 ? 8 : 16;
}

/* A few bytes. */
RAVEL_INLINE void
ravel_few_bytes(unsigned char *d, const unsigned char *s, int64_t bytes)
{
    int64_t i = 0;
    for (; i + 16 <= bytes; i += 16)
        memcpy(d + i, s + i, 16);
    for (; i + 4 <= bytes; i += 4)
        memcpy(d + i, s + i, 4);
    for (; i < bytes; i++)
        d[i] = s[i];
}

/* What is in the buffer to *d, which moves on: whole lines past the caches if `stream`,
 * and all of it at the `last`; returns how much is left at its start. */
RAVEL_INLINE int64_t
ravel_pour(unsigned char **d, unsigned char *stage, int64_t held, int64_t stream,
            int64_t last)
{
    int64_t i = stream ? (int64_t)(-(uintptr_t)*d & 63) : held;
    i = i < held ? i : held;
    memcpy(*d, stage, (size_t)i);
    for (; i + 64 <= held; i += 64)
        RAVEL_UNROLL for (int j = 0; j < 64; j += 16)
            ravel_store1(*d + i + j, ravel_load1(stage + i + j), 1);
    if (last)
        memcpy(*d + i, stage + i, (size_t)(held - i));
    else
        memmove(stage, stage + i, (size_t)(held - i));
    *d += i;
    return held - i;
}
#endif

/* rows runs of `bytes` bytes in each of n planes, each followed by elements of `size`
 * bytes that are `value`, to `width` bytes; dp and sp bytes from one run to the next, dn
 * and sn from one plane to the next.  Short rows that touch go through a buffer, as whole
 * lines past the caches if `stream`. */
#ifndef RAVEL_PLAIN
/* Rows of at most 16 bytes from row r on, a vector each, while what is read of the source
 * is ours and there is room; held and the row that is next. */
RAVEL_INLINE int64_t
ravel_short_rows(unsigned char *stage, int64_t *held, const unsigned char *s, int64_t r,
                 int64_t most, int64_t bytes, int64_t width, int64_t sp,
                 const unsigned char *pad)
{
    unsigned char keep[16], rest[16];
    for (int64_t i = 0; i < 16; i++) {
        keep[i] = i < bytes ? 255 : 0;
        rest[i] = (unsigned char)(i < bytes || i >= width ? 0 : pad[i - bytes]);
    }
    const ravel_1x1 mask = ravel_load1(keep), fill = ravel_load1(rest);
    int64_t at = *held;
    for (; r < most && at + width <= 4096; r++, at += width)
        ravel_store1(stage + at, (ravel_load1(s + r * sp) & mask) | fill, 0);
    *held = at;
    return r;
}
#endif

static void
ravel_copy_fill_plane(unsigned char *d, const unsigned char *s, int64_t rows,
                      int64_t bytes, int64_t width, int64_t dp, int64_t sp,
                      int64_t stream, const unsigned char *pad)
{
#ifndef RAVEL_PLAIN
    unsigned char stage[64 + 4096] __attribute__((aligned(64)));
    int64_t held = 0;
    if (stream && dp == width && width <= 2048) {
        /* rows after which the source goes on for 16 bytes */
        const int64_t most = width <= 16 && sp > 0 ? rows - 1 - (15 + sp - bytes) / sp : 0;
        for (int64_t r = 0; r < rows; r++) {
            r = ravel_short_rows(stage, &held, s, r, most, bytes, width, sp, pad);
            if (held + width > 4096)
                held = ravel_pour(&d, stage, held, 1, 0);
            ravel_few_bytes(stage + held, s + r * sp, bytes);
            ravel_few_bytes(stage + held + bytes, pad, width - bytes);
            held += width;
            if (held + width > 4096 || r + 1 == rows)
                held = ravel_pour(&d, stage, held, 1, r + 1 == rows);
        }
        return;
    }
#endif
    (void)stream;
    for (int64_t r = 0; r < rows; r++) {
        memcpy(d + r * dp, s + r * sp, (size_t)bytes);
        memcpy(d + r * dp + bytes, pad, (size_t)(width - bytes));
    }
}

static void
ravel_copy_fill(unsigned char *d, const unsigned char *s, int64_t n, int64_t rows,
                int64_t bytes, int64_t width, int64_t dn, int64_t sn, int64_t dp,
                int64_t sp, int64_t stream, uint64_t value, int64_t size)
{
    unsigned char pad[RAVEL_PAD_BYTES];
    for (int64_t i = 0; i < width - bytes; i++)
        pad[i] = (unsigned char)(i % size < 8 ? value >> i % size * 8 & 255 : 0);
    for (int64_t b = 0; b < n; b++, d += dn, s += sn)
        ravel_copy_fill_plane(d, s, rows, bytes, width, dp, sp, stream, pad);
}

/* rows times the runs of a table, of `bytes` bytes each: run i is from s + table[2*i + 1]
 * to d + table[2*i]; dp and sp bytes from one row to the next. */
static void
ravel_gather(unsigned char *d, const unsigned char *s, const int32_t *table,
             int64_t entries, int64_t rows, int64_t bytes, int64_t dp, int64_t sp)
{
#define RAVEL_ENTRIES(n)                                                         \
    for (int64_t r = 0; r < rows; r++, d += dp, s += sp)                         \
        for (int64_t i = 0; i < entries; i++)                                    \
            memcpy(d + table[2 * i], s + table[2 * i + 1], n)
    switch (bytes) {
    case 1: RAVEL_ENTRIES(1); break;
    case 2: RAVEL_ENTRIES(2); break;
    case 4: RAVEL_ENTRIES(4); break;
    case 8: RAVEL_ENTRIES(8); break;
    case 16: RAVEL_ENTRIES(16); break;
    case 32: RAVEL_ENTRIES(32); break;
    case 64: RAVEL_ENTRIES(64); break;
    case 128: RAVEL_ENTRIES(128); break;
    default: RAVEL_ENTRIES((size_t)bytes); break;
    }
#undef RAVEL_ENTRIES
}

/* `value` into rows x cols elements of `size` bytes; dr, dc bytes from one row,
 * column to the next. */
static void
ravel_fill(unsigned char *d, int64_t rows, int64_t cols, int64_t dr, int64_t dc,
           uint64_t value, int64_t size)
{
    unsigned char v[16] = {0};
    for (int i = 0; i < 8; i++)
        v[i] = (unsigned char)(value >> 8 * i & 255);
    for (int64_t r = 0; r < rows; r++) {
        if (value == 0 && dc == size) {
            memset(d + r * dr, 0, (size_t)(cols * size));
            continue;
        }
        for (int64_t c = 0; c < cols; c++)
            memcpy(d + r * dr + c * dc, v, (size_t)size);
    }
}

static const int32_t row_major_to_sf128x4_u8_table4[352] = {
    0, 0, 16, 90, 32, 180, 48, 270, 64, 360, 80, 450, 96, 540, 112, 630,
    512, 4, 528, 94, 544, 184, 560, 274, 576, 364, 592, 454, 608, 544, 624, 634,
    1024, 8, 1040, 98, 1056, 188, 1072, 278, 1088, 368, 1104, 458, 1120, 548, 1136, 638,
    1536, 12, 1552, 102, 1568, 192, 1584, 282, 1600, 372, 1616, 462, 1632, 552, 1648, 642,
    2048, 16, 2064, 106, 2080, 196, 2096, 286, 2112, 376, 2128, 466, 2144, 556, 2160, 646,
    2560, 20, 2576, 110, 2592, 200, 2608, 290, 2624, 380, 2640, 470, 2656, 560, 2672, 650,
    3072, 24, 3088, 114, 3104, 204, 3120, 294, 3136, 384, 3152, 474, 3168, 564, 3184, 654,
    3584, 28, 3600, 118, 3616, 208, 3632, 298, 3648, 388, 3664, 478, 3680, 568, 3696, 658,
    4096, 32, 4112, 122, 4128, 212, 4144, 302, 4160, 392, 4176, 482, 4192, 572, 4208, 662,
    4608, 36, 4624, 126, 4640, 216, 4656, 306, 4672, 396, 4688, 486, 4704, 576, 4720, 666,
    5120, 40, 5136, 130, 5152, 220, 5168, 310, 5184, 400, 5200, 490, 5216, 580, 5232, 670,
    5632, 44, 5648, 134, 5664, 224, 5680, 314, 5696, 404, 5712, 494, 5728, 584, 5744, 674,
    6144, 48, 6160, 138, 6176, 228, 6192, 318, 6208, 408, 6224, 498, 6240, 588, 6256, 678,
    6656, 52, 6672, 142, 6688, 232, 6704, 322, 6720, 412, 6736, 502, 6752, 592, 6768, 682,
    7168, 56, 7184, 146, 7200, 236, 7216, 326, 7232, 416, 7248, 506, 7264, 596, 7280, 686,
    7680, 60, 7696, 150, 7712, 240, 7728, 330, 7744, 420, 7760, 510, 7776, 600, 7792, 690,
    8192, 64, 8208, 154, 8224, 244, 8240, 334, 8256, 424, 8272, 514, 8288, 604, 8304, 694,
    8704, 68, 8720, 158, 8736, 248, 8752, 338, 8768, 428, 8784, 518, 8800, 608, 8816, 698,
    9216, 72, 9232, 162, 9248, 252, 9264, 342, 9280, 432, 9296, 522, 9312, 612, 9328, 702,
    9728, 76, 9744, 166, 9760, 256, 9776, 346, 9792, 436, 9808, 526, 9824, 616, 9840, 706,
    10240, 80, 10256, 170, 10272, 260, 10288, 350, 10304, 440, 10320, 530, 10336, 620, 10352, 710,
    10752, 84, 10768, 174, 10784, 264, 10800, 354, 10816, 444, 10832, 534, 10848, 624, 10864, 714
};
static const int32_t row_major_to_sf128x4_u8_table2[192] = {
    0, 0, 4, 2880, 8, 5760, 16, 90, 20, 2970, 24, 5850, 32, 180, 36, 3060,
    40, 5940, 48, 270, 52, 3150, 56, 6030, 64, 360, 68, 3240, 72, 6120, 80, 450,
    84, 3330, 88, 6210, 96, 540, 100, 3420, 104, 6300, 112, 630, 116, 3510, 120, 6390,
    128, 720, 132, 3600, 136, 6480, 144, 810, 148, 3690, 152, 6570, 160, 900, 164, 3780,
    168, 6660, 176, 990, 180, 3870, 184, 6750, 192, 1080, 196, 3960, 200, 6840, 208, 1170,
    212, 4050, 216, 6930, 224, 1260, 228, 4140, 232, 7020, 240, 1350, 244, 4230, 248, 7110,
    256, 1440, 260, 4320, 264, 7200, 272, 1530, 276, 4410, 280, 7290, 288, 1620, 292, 4500,
    296, 7380, 304, 1710, 308, 4590, 312, 7470, 320, 1800, 324, 4680, 328, 7560, 336, 1890,
    340, 4770, 344, 7650, 352, 1980, 356, 4860, 360, 7740, 368, 2070, 372, 4950, 376, 7830,
    384, 2160, 388, 5040, 392, 7920, 400, 2250, 404, 5130, 408, 8010, 416, 2340, 420, 5220,
    424, 8100, 432, 2430, 436, 5310, 440, 8190, 448, 2520, 452, 5400, 456, 8280, 464, 2610,
    468, 5490, 472, 8370, 480, 2700, 484, 5580, 488, 8460, 496, 2790, 500, 5670, 504, 8550
};
static const int32_t row_major_to_sf128x4_u8_table0[256] = {
    0, 0, 4, 2880, 8, 5760, 12, 8640, 16, 90, 20, 2970, 24, 5850, 28, 8730,
    32, 180, 36, 3060, 40, 5940, 44, 8820, 48, 270, 52, 3150, 56, 6030, 60, 8910,
    64, 360, 68, 3240, 72, 6120, 76, 9000, 80, 450, 84, 3330, 88, 6210, 92, 9090,
    96, 540, 100, 3420, 104, 6300, 108, 9180, 112, 630, 116, 3510, 120, 6390, 124, 9270,
    128, 720, 132, 3600, 136, 6480, 140, 9360, 144, 810, 148, 3690, 152, 6570, 156, 9450,
    160, 900, 164, 3780, 168, 6660, 172, 9540, 176, 990, 180, 3870, 184, 6750, 188, 9630,
    192, 1080, 196, 3960, 200, 6840, 204, 9720, 208, 1170, 212, 4050, 216, 6930, 220, 9810,
    224, 1260, 228, 4140, 232, 7020, 236, 9900, 240, 1350, 244, 4230, 248, 7110, 252, 9990,
    256, 1440, 260, 4320, 264, 7200, 268, 10080, 272, 1530, 276, 4410, 280, 7290, 284, 10170,
    288, 1620, 292, 4500, 296, 7380, 300, 10260, 304, 1710, 308, 4590, 312, 7470, 316, 10350,
    320, 1800, 324, 4680, 328, 7560, 332, 10440, 336, 1890, 340, 4770, 344, 7650, 348, 10530,
    352, 1980, 356, 4860, 360, 7740, 364, 10620, 368, 2070, 372, 4950, 376, 7830, 380, 10710,
    384, 2160, 388, 5040, 392, 7920, 396, 10800, 400, 2250, 404, 5130, 408, 8010, 412, 10890,
    416, 2340, 420, 5220, 424, 8100, 428, 10980, 432, 2430, 436, 5310, 440, 8190, 444, 11070,
    448, 2520, 452, 5400, 456, 8280, 460, 11160, 464, 2610, 468, 5490, 472, 8370, 476, 11250,
    480, 2700, 484, 5580, 488, 8460, 492, 11340, 496, 2790, 500, 5670, 504, 8550, 508, 11430
};
/* src: 90000 bytes, dst: 94208 bytes; they do not overlap */
void
row_major_to_sf128x4_u8(void *dst_, const void *src_)
{
    unsigned char *restrict dst = dst_;
    const unsigned char *restrict src = src_;
    /* R=0..895 C=0..87: gather */
    for (int64_t r2 = 0; r2 < 7; r2++) {
        ravel_gather(dst + 11776*r2, src + 11520*r2, row_major_to_sf128x4_u8_table0, 128, 22, 4, 512, 4);
    }
    /* R=0..895 C=88..89: copy_fill */
    for (int64_t r0 = 0; r0 < 32; r0++) {
        ravel_copy_fill(dst + 16*r0 + 11264, src + 90*r0 + 88, 4, 7, 2, 4, 4, 2880, 11776, 11520, 0, 0x0u, 1);
    }
    /* R=896..991 C=0..87: gather */
    ravel_gather(dst + 82432, src + 80640, row_major_to_sf128x4_u8_table2, 96, 22, 4, 512, 4);
    /* R=896..991 C=88..89: copy_fill */
    ravel_copy_fill(dst + 93696, src + 80728, 32, 3, 2, 4, 16, 90, 4, 2880, 0, 0x0u, 1);
    /* R=992..999 C=0..87: gather */
    ravel_gather(dst + 82444, src + 89280, row_major_to_sf128x4_u8_table4, 176, 1, 4, 0, 0);
    /* R=992..999 C=88..89: copy_fill */
    ravel_copy_fill(dst + 93708, src + 89368, 1, 8, 2, 4, 0, 0, 16, 90, 0, 0x0u, 1);
    /* padding R=1000..1023 C=0..91: fill */
    for (int64_t c1 = 0; c1 < 23; c1++) {
        ravel_fill(dst + 512*c1 + 82572, 24, 4, 16, 1, 0x0u, 1);
    }
}
