/* A plane of elements of 1, 2 or 4 bits, the first in a byte lowest:
 * d + p*dp + q  <-  s + p + q*sq  for p < rows, q < cols, in elements from the start of
 * the buffers.  Blocks of 16 bytes either way: `per` columns of bytes are transposed
 * within their bytes, 16 of those as bytes.  Where rows do not start at whole bytes the
 * runs are shifted into and out of buffers. */
static void
ravel_bits_each(unsigned char *dst, int64_t d, const unsigned char *src, int64_t s,
                int64_t rows, int64_t cols, int64_t dp, int64_t sq, int64_t bits)
{
    const int64_t per = 8 / bits;
    const unsigned mask = (1u << bits) - 1;
    for (int64_t p = 0; p < rows; p++)
        for (int64_t q = 0; q < cols; q++) {
            const int64_t x = d + p * dp + q, y = s + p + q * sq;
            const int to = (int)(x % per * bits), from = (int)(y % per * bits);
            const unsigned v = (unsigned)src[y / per] >> from & mask;
            unsigned char *at = dst + x / per;
            *at = (unsigned char)((*at & ~(mask << to)) | v << to);
        }
}

#ifndef RAVEL_PLAIN
/* Within each byte of `per` vectors: bit-matrix transposes, by halves. */
#define RAVEL_BITS_BLOCK(bits, per)                                              \
RAVEL_INLINE void                                                                \
ravel_bits_mix##bits(ravel_2x1 *a)                                               \
{                                                                                \
    RAVEL_UNROLL for (int by = 4; by >= bits; by /= 2) {                         \
        const uint16_t low = (uint16_t)(by == 4 ? 0x0f0f : by == 2 ? 0x3333      \
                                               : 0x5555);                        \
        RAVEL_UNROLL for (int i = 0; i < per; i++) {                             \
            const int j = i + by / bits;                                         \
            if (i & by / bits)                                                   \
                continue;                                                        \
            const ravel_2x1 high = (a[i] >> (uint16_t)by & low) |                \
                                   (a[j] & (uint16_t)~low);                      \
            a[i] = (a[i] & low) | (a[j] & low) << (uint16_t)by;                  \
            a[j] = high;                                                         \
        }                                                                        \
    }                                                                            \
}                                                                                \
/* 16 * per elements either way; sq and dp in bytes. */                          \
static void                                                                      \
ravel_bits_block##bits(unsigned char *d, const unsigned char *s, int64_t dp,     \
                       int64_t sq)                                               \
{                                                                                \
    unsigned char mixed[per * 256];                                              \
    for (int j = 0; j < 16; j++) {                                               \
        ravel_2x1 a[per];                                                        \
        RAVEL_UNROLL for (int i = 0; i < per; i++)                               \
            a[i] = (ravel_2x1)ravel_load1(s + (j * per + i) * sq);               \
        ravel_bits_mix##bits(a);                                                 \
        RAVEL_UNROLL for (int i = 0; i < per; i++)                               \
            ravel_store1(mixed + i * 256 + j * 16, (ravel_1x1)a[i], 0);          \
    }                                                                            \
    for (int i = 0; i < per; i++) {                                              \
        ravel_1x1 v[16];                                                         \
        RAVEL_UNROLL for (int j = 0; j < 16; j++)                                \
            v[j] = ravel_load1(mixed + i * 256 + j * 16);                        \
        ravel_zip1x16r4(v);                                                      \
        RAVEL_UNROLL for (int j = 0; j < 16; j++)                                \
            ravel_store1(d + (j * per + i) * dp, v[j], 0);                       \
    }                                                                            \
}
RAVEL_BITS_BLOCK(4, 2)
RAVEL_BITS_BLOCK(2, 4)
RAVEL_BITS_BLOCK(1, 8)

static void
ravel_bits_block(unsigned char *d, const unsigned char *s, int64_t dp, int64_t sq,
                 int64_t bits)
{
    switch (bits) {
    case 4: ravel_bits_block4(d, s, dp, sq); break;
    case 2: ravel_bits_block2(d, s, dp, sq); break;
    default: ravel_bits_block1(d, s, dp, sq); break;
    }
}

/* A part of a block, or one at any bit, by way of buffers. */
static void
ravel_bits_edge(unsigned char *dst, int64_t d, const unsigned char *src, int64_t s,
                int64_t rows, int64_t cols, int64_t dp, int64_t sq, int64_t bits)
{
    unsigned char in[128 * 16] = {0}, out[128 * 16];
    const int64_t m = 128 / bits;
    ravel_bits_run(in, 0, src, s, cols, rows, m, sq, bits);
    ravel_bits_block(out, in, 16, 16, bits);
    ravel_bits_run(dst, d, out, 0, rows, cols, dp, m, bits);
}

/* Four blocks, as whole lines past the caches. */
static void
ravel_bits_lines(unsigned char *d, const unsigned char *s, int64_t dp, int64_t sq,
                 int64_t bits)
{
    unsigned char line[128 * 64] __attribute__((aligned(64)));
    const int64_t m = 128 / bits;
    for (int64_t i = 0; i < 4; i++)
        ravel_bits_block(line + 16 * i, s + i * m * sq, 64, sq, bits);
    for (int64_t p = 0; p < m; p++)
        RAVEL_UNROLL for (int i = 0; i < 64; i += 16)
            ravel_store1(d + p * dp + i, ravel_load1(line + p * 64 + i), 1);
}

/* A line of 64 bytes of the destination, along the rows of the source. */
static void
ravel_bits_line(unsigned char *dst, int64_t d, const unsigned char *src, int64_t s,
                int64_t rows, int64_t cols, int64_t dp, int64_t sq, int64_t stream,
                int64_t bits)
{
    const int64_t m = 128 / bits, per = 8 / bits;
    const int64_t whole = d % per == 0 && s % per == 0 && dp % per == 0 && sq % per == 0;
    for (int64_t p = 0; p < rows; p += m) {
        const int64_t k = rows - p < m ? rows - p : m;
        if (stream && whole && k == m && cols == 4 * m) {
            ravel_bits_lines(dst + (d + p * dp) / per, src + (s + p) / per, dp / per,
                             sq / per, bits);
            continue;
        }
        for (int64_t q = 0; q < cols; q += m)
            if (whole && k == m && cols - q >= m)
                ravel_bits_block(dst + (d + p * dp + q) / per,
                                 src + (s + p + q * sq) / per, dp / per, sq / per, bits);
            else
                ravel_bits_edge(dst, d + p * dp + q, src, s + p + q * sq, k,
                                cols - q < m ? cols - q : m, dp, sq, bits);
    }
}

/* As many columns (`weave`) or rows as a byte has elements, and all of them touch: 16
 * bytes of each at a time.  The elements of each that are done. */
#define RAVEL_BITS_FEW(bits, per, rounds)                                        \
static int64_t                                                                   \
ravel_bits_few##bits(unsigned char *d, const unsigned char *s, int64_t bytes,    \
                     int64_t apart, int64_t weave, int64_t stream)               \
{                                                                                \
    int64_t t = 0;                                                               \
    for (; t + 16 <= bytes; t += 16) {                                           \
        ravel_1x1 v[per];                                                        \
        ravel_2x1 a[per];                                                        \
        RAVEL_UNROLL for (int i = 0; i < per; i++)                               \
            v[i] = ravel_load1(weave ? s + i * apart + t : s + t * per + 16 * i); \
        if (!weave)                                                              \
            ravel_zip1x##per##r4(v);                                             \
        RAVEL_UNROLL for (int i = 0; i < per; i++)                               \
            a[i] = (ravel_2x1)v[i];                                              \
        ravel_bits_mix##bits(a);                                                 \
        RAVEL_UNROLL for (int i = 0; i < per; i++)                               \
            v[i] = (ravel_1x1)a[i];                                              \
        if (weave)                                                               \
            ravel_zip1x##per##r##rounds(v);                                      \
        RAVEL_UNROLL for (int i = 0; i < per; i++)                               \
            ravel_store1(weave ? d + t * per + 16 * i : d + i * apart + t, v[i], \
                         stream);                                                \
    }                                                                            \
    return t * per;                                                              \
}
RAVEL_BITS_FEW(4, 2, 1)
RAVEL_BITS_FEW(2, 4, 2)
RAVEL_BITS_FEW(1, 8, 3)

static int64_t
ravel_bits_few(unsigned char *d, const unsigned char *s, int64_t bytes, int64_t apart,
               int64_t weave, int64_t stream, int64_t bits)
{
    switch (bits) {
    case 4: return ravel_bits_few4(d, s, bytes, apart, weave, stream);
    case 2: return ravel_bits_few2(d, s, bytes, apart, weave, stream);
    default: return ravel_bits_few1(d, s, bytes, apart, weave, stream);
    }
}
#endif

static void
ravel_bits_transpose(unsigned char *dst, int64_t d, const unsigned char *src, int64_t s,
                     int64_t rows, int64_t cols, int64_t dp, int64_t sq, int64_t stream,
                     int64_t bits)
{
#ifndef RAVEL_PLAIN
    const int64_t line = 512 / bits, per = 8 / bits;
    if (d % per == 0 && s % per == 0 && cols == per && dp == per && sq % per == 0) {
        const int64_t lines = ((uintptr_t)dst + (uintptr_t)(d / per)) % 64 == 0;
        const int64_t done = ravel_bits_few(dst + d / per, src + s / per, rows / per,
                                            sq / per, 1, stream && lines, bits);
        ravel_bits_each(dst, d + done * dp, src, s + done, rows - done, cols, dp, sq, bits);
        return;
    }
    if (d % per == 0 && s % per == 0 && rows == per && sq == per && dp % per == 0) {
        const int64_t done = ravel_bits_few(dst + d / per, src + s / per, cols / per,
                                            dp / per, 0, 0, bits);
        ravel_bits_each(dst, d + done, src, s + done * sq, rows, cols - done, dp, sq, bits);
        return;
    }
    stream = stream && (uintptr_t)dst % 64 == 0 && d * bits % 512 == 0 &&
             dp * bits % 512 == 0;
    for (int64_t q = 0; q < cols && rows >= 4 && cols >= 4; q += line)
        ravel_bits_line(dst, d + q, src, s + q * sq, rows,
                        cols - q < line ? cols - q : line, dp, sq, stream, bits);
    if (rows >= 4 && cols >= 4)
        return;
#endif
    (void)stream;
    ravel_bits_each(dst, d, src, s, rows, cols, dp, sq, bits);
}
