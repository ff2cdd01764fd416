/* Transposes a matrix of elements of 1, 2 or 4 bits:
 * dst[d + p*dp + q] = src[s + p + q*sq]  for p < rows, q < cols, in elements from the start
 * of the buffers.  The first element of a byte is in its lowest bits.
 *
 * A block has 16 bytes along p and 16 bytes along q.  The `per` elements of each byte are
 * transposed with those of `per` - 1 other vectors by masks and shifts, then 16 x 16 bytes
 * are transposed.  If rows do not begin at whole bytes, runs are shifted into a buffer
 * before the transposition and out of a buffer after it. */
#ifndef RAVEL_PLAIN
/* Transposes the elements within the bytes of 8 / bits vectors at each byte position, by
 * recursive halving. */
RAVEL_INLINE void
ravel_bits_mix(ravel_1x1 *v, int bits)
{
    RAVEL_UNROLL for (int turn = 0; turn < 3; turn++) {
        const int by = 4 >> turn;
        if (by < bits)
            continue;
        const uint16_t low = (uint16_t)(by == 4 ? 0x0f0f : by == 2 ? 0x3333 : 0x5555);
        RAVEL_UNROLL for (int i = 0; i < 8 / bits; i++) {
            const int j = i + by / bits;
            if (i & by / bits)
                continue;
            const ravel_2x1 a = (ravel_2x1)v[i], b = (ravel_2x1)v[j];
            v[i] = (ravel_1x1)((a & low) | (b & low) << (uint16_t)by);
            v[j] = (ravel_1x1)((a >> (uint16_t)by & low) | (b & (uint16_t)~low));
        }
    }
}

/* Transposes a block of 128 / bits by 128 / bits elements; y and sq in bits, dp in bytes.
 * If there are fewer columns, the last one takes the place of those that are missing. */
RAVEL_INLINE void
ravel_bits_square(unsigned char *d, const unsigned char *s, int64_t y, int64_t cols,
                  int64_t dp, int64_t sq, int bits)
{
    enum { SIDE = 16 };
    const int per = 8 / bits;
    unsigned char mixed[8 * SIDE * SIDE];
    for (int j = 0; j < SIDE; j++) {
        ravel_1x1 v[8];
        RAVEL_UNROLL for (int i = 0; i < per; i++, y += --cols > 0 ? sq : 0)
            v[i] = y & 7 ? ravel_bits_vector(s + (y >> 3), y & 7) : ravel_load1(s + (y >> 3));
        ravel_bits_mix(v, bits);
        RAVEL_UNROLL for (int i = 0; i < per; i++)
            ravel_store1(mixed + (i * SIDE + j) * SIDE, v[i], 0);
    }
    for (int i = 0; i < per; i++) {
        ravel_1x1 v[SIDE];
        RAVEL_UNROLL for (int j = 0; j < SIDE; j++)
            v[j] = ravel_load1(mixed + (i * SIDE + j) * SIDE);
        ravel_zip1(v, SIDE, 4);
        RAVEL_UNROLL for (int j = 0; j < SIDE; j++)
            ravel_store1(d + (j * per + i) * dp, v[j], 0);
    }
}

static void
ravel_bits_block1(unsigned char *d, const unsigned char *s, int64_t y, int64_t cols,
                  int64_t dp, int64_t sq)
{
    ravel_bits_square(d, s, y, cols, dp, sq, 1);
}

static void
ravel_bits_block2(unsigned char *d, const unsigned char *s, int64_t y, int64_t cols,
                  int64_t dp, int64_t sq)
{
    ravel_bits_square(d, s, y, cols, dp, sq, 2);
}

static void
ravel_bits_block4(unsigned char *d, const unsigned char *s, int64_t y, int64_t cols,
                  int64_t dp, int64_t sq)
{
    ravel_bits_square(d, s, y, cols, dp, sq, 4);
}

static void
ravel_bits_block(unsigned char *d, const unsigned char *s, int64_t y, int64_t cols,
                 int64_t dp, int64_t sq, int64_t bits)
{
    switch (bits) {
    case 4: ravel_bits_block4(d, s, y, cols, dp, sq); break;
    case 2: ravel_bits_block2(d, s, y, cols, dp, sq); break;
    default: ravel_bits_block1(d, s, y, cols, dp, sq); break;
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
            ravel_bits_block(d + p * dp + q / m * 16, s + q * sq + p / m * 16, 0, m, dp,
                             8 * sq, bits);
}

/* The largest part of the matrix that the buffer holds at a time: bytes along p, elements
 * along q. */
enum { RAVEL_BITS_ROW = 128, RAVEL_BITS_COLS = 512 };

/* Transposes r rows of one block's columns, or of the last c columns, into a buffer.  The
 * last block of rows overlaps the one before.  Rows that fill no block are copied first, so
 * that nothing beyond them is read. */
static void
ravel_bits_fill(unsigned char *to, const unsigned char *src, int64_t s, int64_t r,
                int64_t c, int64_t pitch, int64_t sq, int64_t bits)
{
    unsigned char in[128 * 16];
    const int64_t m = 128 / bits;
    if (r < m) {
        ravel_bits_run(in, 0, src, s, c, r, m, sq, bits);
        ravel_bits_block(to, in, 0, c, pitch, 128, bits);
        return;
    }
    for (int64_t i = 0; i < r; i += m) {
        i = i + m > r ? r - m : i;
        ravel_bits_block(to + i * pitch, src, (s + i) * bits, c, pitch, sq * bits, bits);
    }
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

/* Copies n bits to bit x of the destination; the other bits of its bytes stay. */
static inline void
ravel_bits_out(unsigned char *dst, int64_t x, const unsigned char *from, int64_t n)
{
    unsigned char *const d = dst + (x >> 3);
    const int64_t at = x & 7, head = n < 8 - at ? n : 8 - at;
    const int64_t bytes = at + n >= 8 ? (at + n - 8) >> 3 : 0, left = n - head - 8 * bytes;
    if (at == 0) {
        ravel_bits_moved(d, from, n >> 3);
        if (n & 7)
            ravel_bits_into(d + (n >> 3), 0, ravel_bits_at(from, n & ~7, n & 7), n & 7);
        return;
    }
    ravel_bits_into(d, at, from[0] & ((1u << head) - 1), head);
    ravel_bits_shifted(d + 1, from, bytes, head);
    if (left > 0)
        ravel_bits_into(d + 1 + bytes, 0, ravel_bits_at(from, head + 8 * bytes, left), left);
}

/* Writes r rows of c columns from a buffer to the destination.  `stream`: rows begin at
 * cache lines and are written with non-temporal stores; else the destination is
 * prefetched. */
static void
ravel_bits_rows(unsigned char *dst, int64_t d, const unsigned char *from, int64_t r,
                int64_t c, int64_t dp, int64_t pitch, int64_t stream, int64_t bits)
{
    enum { AHEAD = 8 };
    const int64_t n = c * bits, bytes = n / 8;
    for (int64_t i = 0; i < r; i++) {
        const int64_t x = (d + i * dp) * bits;
        for (int64_t j = 0; j <= bytes && !stream && i + AHEAD < r; j += 64)
            __builtin_prefetch(dst + (x + AHEAD * dp * bits) / 8 + j, 1);
        if (stream && n % 512 == 0)
            for (int64_t j = 0; j < bytes; j += 16)
                ravel_store1(dst + x / 8 + j, ravel_load1(from + i * pitch + j), 1);
        else
            ravel_bits_out(dst, x, from + i * pitch, n);
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
        const int64_t c = cols - q < COLS ? cols - q : (int64_t)COLS;
        for (int64_t p = 0; p < rows; p += most) {
            const int64_t r = rows - p < most ? rows - p : most;
            const int64_t then = p + r < rows ? s + p + r + q * sq : s + (q + c) * sq;
            for (int64_t k = 0; k < c; k += m) {
                const int64_t at = s + p + (q + k) * sq, left = c - k;
                ravel_bits_fetch(src, left > m ? at + m * sq : then, sq, bits);
                ravel_bits_fill(buffer + k / per, src, at, r, left < m ? left : m,
                                pitch, sq, bits);
            }
            ravel_bits_rows(dst, d + p * dp + q, buffer, r, c, dp, pitch, stream, bits);
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
    const int64_t wide = cols < RAVEL_BITS_COLS ? cols : (int64_t)RAVEL_BITS_COLS;
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
RAVEL_INLINE int64_t
ravel_bits_planes(unsigned char *d, const unsigned char *s, int64_t bytes, int64_t apart,
                  int64_t weave, int64_t stream, int bits)
{
    const int per = 8 / bits, rounds = bits == 4 ? 1 : bits == 2 ? 2 : 3;
    int64_t t = 0;
    for (; t + 16 <= bytes; t += 16) {
        ravel_1x1 v[16];
        RAVEL_UNROLL for (int i = 0; i < per; i++)
            v[i] = ravel_load1(weave ? s + i * apart + t : s + t * per + 16 * i);
        if (!weave)
            ravel_zip1(v, per, 4);
        ravel_bits_mix(v, bits);
        if (weave)
            ravel_zip1(v, per, rounds);
        RAVEL_UNROLL for (int i = 0; i < per; i++)
            ravel_store1(weave ? d + t * per + 16 * i : d + i * apart + t, v[i], stream);
    }
    return t * per;
}

static int64_t
ravel_bits_few(unsigned char *d, const unsigned char *s, int64_t bytes, int64_t apart,
               int64_t weave, int64_t stream, int64_t bits)
{
    switch (bits) {
    case 4: return ravel_bits_planes(d, s, bytes, apart, weave, stream, 4);
    case 2: return ravel_bits_planes(d, s, bytes, apart, weave, stream, 2);
    default: return ravel_bits_planes(d, s, bytes, apart, weave, stream, 1);
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
