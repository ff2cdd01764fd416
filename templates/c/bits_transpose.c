/* Transposes a matrix of elements of 1, 2 or 4 bits:
 * dst[d + p*dp + q] = src[s + p + q*sq]  for p < rows, q < cols, in elements from the start
 * of the buffers.  The first element of a byte is in its lowest bits.
 *
 * A block has 16 bytes along p and 16 bytes along q.  The `per` elements of each byte are
 * transposed with those of `per` - 1 other vectors by masks and shifts, then 16 x 16 bytes
 * are transposed.  If rows do not begin at whole bytes, runs are shifted into a buffer
 * before the transposition and out of a buffer after it. */
#ifndef RAVEL_PLAIN
/* Transposes the elements within the bytes of `per` vectors: per x per elements at each
 * byte position, by recursive halving. */
#define RAVEL_BITS_BLOCK(bits, per)                                              \
RAVEL_INLINE void                                                                \
ravel_bits_mix##bits(ravel_2x1 *a)                                               \
{                                                                                \
    RAVEL_UNROLL for (int turn = 0; turn < 3; turn++) {                          \
        const int by = 4 >> turn;                                                \
        if (by < bits)                                                           \
            continue;                                                            \
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
/* Transposes a block of 16 * per by 16 * per elements; sq and dp in bytes. */   \
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
        ravel_zip1(v, 16, 4);                                                    \
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

/* Transposes whole blocks without a buffer; rows and cols are multiples of a block's, dp
 * and sq are in bytes. */
static void
ravel_bits_whole(unsigned char *d, const unsigned char *s, int64_t rows, int64_t cols,
                 int64_t dp, int64_t sq, int64_t bits)
{
    const int64_t m = 128 / bits;
    for (int64_t q = 0; q < cols; q += m)
        for (int64_t p = 0; p < rows; p += m)
            ravel_bits_block(d + p * dp + q / m * 16, s + q * sq + p / m * 16, dp, sq,
                             bits);
}

/* The largest part of the matrix that the buffer holds at a time: bytes along p, elements
 * along q. */
enum { RAVEL_BITS_ROW = 128, RAVEL_BITS_COLS = 512 };

/* Transposes r rows of one block's columns, or of the last c columns, into a buffer. */
static void
ravel_bits_fill(unsigned char *to, const unsigned char *src, int64_t s, int64_t r,
                int64_t c, int64_t pitch, int64_t sq, int64_t bits)
{
    unsigned char in[128 * RAVEL_BITS_ROW];
    const int64_t m = 128 / bits, per = 8 / bits;
    const int whole = s % per == 0 && sq % per == 0 && r % m == 0 && c == m;
    const unsigned char *from = whole ? src + s / per : in;
    if (!whole)
        ravel_bits_run(in, 0, src, s, c, r, 8 / bits * RAVEL_BITS_ROW, sq, bits);
    for (int64_t i = 0; i < r; i += m)
        ravel_bits_block(to + i * pitch, from + i / per, pitch,
                         whole ? sq / per : RAVEL_BITS_ROW, bits);
}

/* Prefetches the source of the next call of ravel_bits_fill. */
static void
ravel_bits_fetch(const unsigned char *src, int64_t s, int64_t sq, int64_t bits)
{
    for (int64_t k = 0; k < 128 / bits; k++) {
        const int64_t at = (s + k * sq) * bits / 8;
        for (int64_t x = at - at % 64; x < at + RAVEL_BITS_ROW; x += 64)
            __builtin_prefetch(src + x);
    }
}

/* Writes r rows of c columns from a buffer to the destination.  `stream`: rows begin at
 * cache lines and are written with non-temporal stores; else the destination is
 * prefetched. */
static void
ravel_bits_out(unsigned char *dst, int64_t d, const unsigned char *from, int64_t r,
               int64_t c, int64_t dp, int64_t pitch, int64_t stream, int64_t bits)
{
    enum { AHEAD = 8 };
    const int64_t per = 8 / bits, bytes = c / per;
    for (int64_t i = 0; i < r; i++) {
        for (int64_t j = 0; j <= bytes && !stream && i + AHEAD < r; j += 64)
            __builtin_prefetch(dst + (d + (i + AHEAD) * dp) / per + j, 1);
        if (stream && bytes % 64 == 0 && c % per == 0)
            for (int64_t j = 0; j < bytes; j += 16)
                ravel_store1(dst + (d + i * dp) / per + j,
                             ravel_load1(from + i * pitch + j), 1);
        else
            ravel_bits_run(dst, d + i * dp, from, i * pitch * per, 1, c, 0, 0, bits);
    }
}

/* Transposes the matrix part by part through a buffer. */
static void
ravel_bits_blocks(unsigned char *buffer, int64_t pitch, unsigned char *dst, int64_t d,
                  const unsigned char *src, int64_t s, int64_t rows, int64_t cols,
                  int64_t dp, int64_t sq, int64_t stream, int64_t bits)
{
    enum { COLS = RAVEL_BITS_COLS };
    const int64_t m = 128 / bits, per = 8 / bits, most = per * RAVEL_BITS_ROW;
    for (int64_t q = 0; q < cols; q += COLS) {
        const int64_t c = cols - q < COLS ? cols - q : COLS;
        for (int64_t p = 0; p < rows; p += most) {
            const int64_t r = rows - p < most ? rows - p : most;
            const int64_t then = p + r < rows ? s + p + r + q * sq : s + (q + c) * sq;
            for (int64_t k = 0; k < c; k += m) {
                const int64_t at = s + p + (q + k) * sq, left = c - k;
                ravel_bits_fetch(src, left > m ? at + m * sq : then, sq, bits);
                ravel_bits_fill(buffer + k / per, src, at, r, left < m ? left : m,
                                pitch, sq, bits);
            }
            ravel_bits_out(dst, d + p * dp + q, buffer, r, c, dp, pitch, stream, bits);
        }
    }
}

/* Not inlined, so that small matrices do not allocate the large buffer on the stack. */
#define RAVEL_BITS_STAGED(name, bytes)                                           \
__attribute__((noinline)) static void                                            \
ravel_bits_##name(int64_t pitch, unsigned char *dst, int64_t d,                  \
                  const unsigned char *src, int64_t s, int64_t rows,             \
                  int64_t cols, int64_t dp, int64_t sq, int64_t stream,          \
                  int64_t bits)                                                  \
{                                                                                \
    unsigned char buffer[bytes] __attribute__((aligned(64)));                    \
    ravel_bits_blocks(buffer, pitch, dst, d, src, s, rows, cols, dp, sq, stream, \
                      bits);                                                     \
}
RAVEL_BITS_STAGED(small, 16384)
RAVEL_BITS_STAGED(large, 131072)

static void
ravel_bits_staged(unsigned char *dst, int64_t d, const unsigned char *src, int64_t s,
                  int64_t rows, int64_t cols, int64_t dp, int64_t sq, int64_t stream,
                  int64_t bits)
{
    const int64_t m = 128 / bits, most = 8 / bits * RAVEL_BITS_ROW;
    const int64_t wide = cols < RAVEL_BITS_COLS ? cols : RAVEL_BITS_COLS;
    const int64_t tall = rows < most ? rows : most;
    const int64_t pitch = (wide + m - 1) / m * 16 + 64;
    if (rows == 0 || cols == 0)
        return;
    if ((tall + m - 1) / m * m * pitch <= 16384)
        ravel_bits_small(pitch, dst, d, src, s, rows, cols, dp, sq, stream, bits);
    else
        ravel_bits_large(pitch, dst, d, src, s, rows, cols, dp, sq, stream, bits);
}

/* Transposes contiguous matrices with as many columns (`weave`) or rows as a byte has
 * elements, 16 bytes of each at a time.  Returns the number of elements of each that are
 * done. */
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
            ravel_zip1(v, per, 4);                                               \
        RAVEL_UNROLL for (int i = 0; i < per; i++)                               \
            a[i] = (ravel_2x1)v[i];                                              \
        ravel_bits_mix##bits(a);                                                 \
        RAVEL_UNROLL for (int i = 0; i < per; i++)                               \
            v[i] = (ravel_1x1)a[i];                                              \
        if (weave)                                                               \
            ravel_zip1(v, per, rounds);                                          \
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
    const int64_t per = 8 / bits;
    if (d % per == 0 && s % per == 0 && cols == per && dp == per && sq % per == 0) {
        const int64_t lines = ((uintptr_t)dst + (uintptr_t)(d / per)) % 64 == 0;
        const int64_t done = ravel_bits_few(dst + d / per, src + s / per, rows / per,
                                            sq / per, 1, stream && lines, bits);
        ravel_bits(dst, d + done * dp, src, s + done, rows - done, cols, dp, 1, 1, sq,
                   bits);
        return;
    }
    if (d % per == 0 && s % per == 0 && rows == per && sq == per && dp % per == 0) {
        const int64_t done = ravel_bits_few(dst + d / per, src + s / per, cols / per,
                                            dp / per, 0, 0, bits);
        ravel_bits(dst, d + done, src, s + done * sq, rows, cols - done, dp, 1, 1, sq,
                   bits);
        return;
    }
    if (rows >= 4 && cols >= 4) {
        const int whole = d % per == 0 && s % per == 0 && dp % per == 0 && sq % per == 0;
        const int64_t m = 128 / bits, p = !stream && whole ? rows / m * m : 0;
        const int64_t q = p ? cols / m * m : 0;
        ravel_bits_whole(dst + d / per, src + s / per, p, q, dp / per, sq / per, bits);
        stream = stream && (uintptr_t)dst % 64 == 0 && d * bits % 512 == 0 &&
                 dp * bits % 512 == 0;
        ravel_bits_staged(dst, d + q, src, s + q * sq, p, cols - q, dp, sq, stream, bits);
        ravel_bits_staged(dst, d + p * dp, src, s + p, rows - p, cols, dp, sq, stream,
                          bits);
        return;
    }
#endif
    (void)stream;
    ravel_bits(dst, d, src, s, rows, cols, dp, 1, 1, sq, bits);
}
