/* Transposes a matrix of elements of 1, 2 or 4 bits:
 * dst[d + p*dp + q] = src[s + p + q*sq]  for p < rows, q < cols, in elements from the start
 * of the buffers.  The first element of a byte is in its lowest bits. */
#ifdef RAVEL_BITS_TILES
/* Transposes r rows, at most as many as a vector has elements, of c columns from bit y of s on
 * and sq bits apart. */
RAVEL_INLINE void
ravel_bits_tile(unsigned char *to, int64_t pitch, const unsigned char *s, int64_t y, int64_t r,
                int64_t c, int64_t sq, const unsigned char *end, int bits)
{
    enum { SIDE = RAVEL_BITS_SIDE };
    const int64_t per = 8 / bits;
    ravel_bits_columns at;
    at.end = end;
    at.step = sq / bits;
    at.whole = ((y | sq) & 7) == 0;
    for (int64_t q = 0; q < c; q += SIDE * per, y += SIDE * per * sq, to += SIDE) {
        at.cols = c - q;
        for (int64_t i = 0; i < per; i++) {
            const int64_t from = y + (i < at.cols ? i * sq : 0);
            at.s[i] = s + (from >> 3);
            at.by[i] = from & 7;
        }
        if (bits == 4)
            ravel_bits_block4(to, pitch, &at, r);
        else if (bits == 2)
            ravel_bits_block2(to, pitch, &at, r);
        else
            ravel_bits_block1(to, pitch, &at, r);
    }
}

/* Transposes r rows of c columns, from bit y of s on and sq bits apart, into the buffer.  Nothing
 * from `end` on is read. */
RAVEL_INLINE void
ravel_bits_turn(unsigned char *to, int64_t pitch, const unsigned char *s, int64_t y, int64_t r,
                int64_t c, int64_t sq, const unsigned char *end, int bits)
{
#ifdef RAVEL_BITS_NARROW
    if (sq > 0 && sq <= RAVEL_NEAR_BITS) {
        ravel_near_tile(to, pitch, s, y, r, c, sq, end, bits);
        return;
    }
#endif
    ravel_bits_tile(to, pitch, s, y, r, c, sq, end, bits);
}

/* The tiles of the same rows follow one another along the rows of the destination.  Rows of the
 * buffer are as long as it has room for. */
RAVEL_INLINE void
ravel_bits_tiles(unsigned char *dst, int64_t d, const unsigned char *src, int64_t s,
                 int64_t rows, int64_t cols, int64_t dp, int64_t sq, int64_t stream,
                 int bits)
{
    enum { LEFT = RAVEL_BITS_LEFT, WIDE = RAVEL_BITS_WIDE };
    unsigned char room[RAVEL_BITS_ROOM] __attribute__((aligned(64)));
    unsigned char *const row = room + LEFT;
    const int64_t along = bits * (RAVEL_BITS_ALONG + LEFT) - LEFT, most = along * 8 / bits;
    const int64_t tall = WIDE * 8 / bits, pitch = cols * bits <= 128 ? 32 : along + LEFT;
    for (int64_t p = 0; p < rows; p += tall) {
        const int64_t r = rows - p < tall ? rows - p : tall;
        for (int64_t q = 0; q < cols; q += most) {
            const int64_t c = cols - q < most ? cols - q : most;
            const int64_t x = (d + p * dp + q) * bits, y = (s + p + q * sq) * bits;
            const int64_t far = (c - 1) * (sq > 0 ? sq : 0) + rows - p;
            const int touch = dp == c && c * bits >= 8;
            ravel_bits_turn(row, pitch, src, y, r, c, sq * bits, src + ((y + far * bits + 7) >> 3),
                            bits);
            if (touch)
                ravel_bits_touch(dst, x, row, pitch, r, c * bits);
            for (int64_t i = 0; i < r && !touch; i++)
                ravel_bits_out(dst, x + i * dp * bits, row + i * pitch, c * bits, q == 0,
                               q + c == cols, stream);
        }
    }
}

/* Not inlined, so that other matrices do not allocate the buffers on the stack. */
__attribute__((noinline)) static void
ravel_bits_tiles1(unsigned char *dst, int64_t d, const unsigned char *src, int64_t s,
                  int64_t rows, int64_t cols, int64_t dp, int64_t sq, int64_t stream)
{
    ravel_bits_tiles(dst, d, src, s, rows, cols, dp, sq, stream, 1);
}

__attribute__((noinline)) static void
ravel_bits_tiles2(unsigned char *dst, int64_t d, const unsigned char *src, int64_t s,
                  int64_t rows, int64_t cols, int64_t dp, int64_t sq, int64_t stream)
{
    ravel_bits_tiles(dst, d, src, s, rows, cols, dp, sq, stream, 2);
}

__attribute__((noinline)) static void
ravel_bits_tiles4(unsigned char *dst, int64_t d, const unsigned char *src, int64_t s,
                  int64_t rows, int64_t cols, int64_t dp, int64_t sq, int64_t stream)
{
    ravel_bits_tiles(dst, d, src, s, rows, cols, dp, sq, stream, 4);
}

static void
ravel_bits_by_tiles(unsigned char *dst, int64_t d, const unsigned char *src, int64_t s,
                    int64_t rows, int64_t cols, int64_t dp, int64_t sq, int64_t stream,
                    int64_t bits)
{
    const int64_t lines = stream && (uintptr_t)dst % 64 == 0 && d * bits % 512 == 0 &&
                          dp * bits % 512 == 0;
    switch (bits) {
    case 4: ravel_bits_tiles4(dst, d, src, s, rows, cols, dp, sq, lines); break;
    case 2: ravel_bits_tiles2(dst, d, src, s, rows, cols, dp, sq, lines); break;
    default: ravel_bits_tiles1(dst, d, src, s, rows, cols, dp, sq, lines); break;
    }
}
#endif

#ifndef RAVEL_PLAIN
/* Transposes contiguous matrices with as many columns (`weave`) or rows as a byte has
 * elements, a vector of each at a time; the last one may overlap the one before.  Returns the number
 * of elements of each that are done: all, or none of less than a vector. */
RAVEL_INLINE int64_t
ravel_bits_planes(unsigned char *d, const unsigned char *s, int64_t bytes, int64_t apart,
                  int64_t weave, int64_t stream, int bits)
{
    enum { WIDE = RAVEL_BITS_WIDE };
    const int per = 8 / bits, rounds = bits == 4 ? 1 : bits == 2 ? 2 : 3;
    for (int64_t t = 0; t < bytes && bytes >= WIDE; t += WIDE) {
        const int64_t past = stream && t + WIDE <= bytes;
        t = t + WIDE > bytes ? bytes - WIDE : t;
        const unsigned char *const from[] = {s + t * per, s + (t + 16) * per, s + (t + 32) * per,
                                             s + (t + 48) * per};
        RAVEL_ALL(1) v[16];
        RAVEL_UNROLL for (int i = 0; i < per; i++)
            v[i] = weave ? ravel_bits_load(s + i * apart + t) : RAVEL_ALL_ROWS(from, 16 * i);
        if (!weave)
            ravel_bits_zip(v, per, 4);
        ravel_bits_mix(v, bits);
        if (weave)
            ravel_bits_zip(v, per, rounds);
        if (!weave)
            RAVEL_UNROLL for (int i = 0; i < per; i++)
                RAVEL_ALL_STORE(d + i * apart + t, v[i], 0);
        for (int lane = 0; lane < RAVEL_LANES && weave; lane++)
            RAVEL_UNROLL for (int i = 0; i < per; i++)
                ravel_store1(d + (t + 16 * lane) * per + 16 * i,
                             ravel_load1((const unsigned char *)&v[i] + 16 * lane), past);
    }
    return bytes < WIDE ? 0 : bytes * per;
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

/* Transposes such matrices, if both sides begin with a byte; else returns 0. */
static int
ravel_bits_narrow(unsigned char *dst, int64_t d, const unsigned char *src, int64_t s,
                  int64_t rows, int64_t cols, int64_t dp, int64_t sq, int64_t stream,
                  int64_t bits)
{
    const int64_t per = 8 / bits, lines = ((uintptr_t)dst + (uintptr_t)(d / per)) % 64 == 0;
    if (d % per || s % per)
        return 0;
    if (cols == per && dp == per && sq % per == 0) {
        const int64_t done = ravel_bits_few(dst + d / per, src + s / per, rows / per,
                                            sq / per, 1, stream && lines, bits);
        ravel_bits(dst, d + done * dp, src, s + done, rows - done, cols, dp, 1, 1, sq,
                   bits);
        return 1;
    }
    if (rows == per && sq == per && dp % per == 0) {
        const int64_t done = ravel_bits_few(dst + d / per, src + s / per, cols / per,
                                            dp / per, 0, 0, bits);
        ravel_bits(dst, d + done, src, s + done * sq, rows, cols - done, dp, 1, 1, sq,
                   bits);
        return 1;
    }
    return 0;
}
#endif

static void
ravel_bits_transpose(unsigned char *dst, int64_t d, const unsigned char *src, int64_t s,
                     int64_t rows, int64_t cols, int64_t dp, int64_t sq, int64_t stream,
                     int64_t bits)
{
#ifndef RAVEL_PLAIN
    if (ravel_bits_narrow(dst, d, src, s, rows, cols, dp, sq, stream, bits))
        return;
#endif
#ifdef RAVEL_BITS_TILES
    if (rows >= 4 && cols >= 4) {
        ravel_bits_by_tiles(dst, d, src, s, rows, cols, dp, sq, stream, bits);
        return;
    }
#endif
    (void)stream;
    ravel_bits(dst, d, src, s, rows, cols, dp, 1, 1, sq, bits);
}
