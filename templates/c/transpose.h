/* Planes, b < n of them:  d[b*dn + p*dp + q*size] = s[b*sn + p*size + q*sq]  for
 * p < rows, q < cols.  A block is 16 bytes wide in the source, 16 bytes a lane in the
 * destination; four lanes make a line of 64 bytes, written whole, past the caches if
 * `stream` and the rows are aligned.  The walk is along the rows of the source, with
 * prefetches `ahead` bytes on where that is not 0.  Edges overlap what is done. */
#ifndef RAVEL_PLAIN
/* m rows a lane: v[j] becomes column j.  Each of log2(m) rounds zips the first half
 * of the vectors with the second. */
#define RAVEL_BLOCK(n, m, w)                                                     \
RAVEL_INLINE void                                                                \
ravel_block##n##x##w(const unsigned char *s, int64_t sq, ravel_1x##w *out)       \
{                                                                                \
    ravel_##n##x##w v[m], t[m];                                                  \
    RAVEL_UNROLL for (int i = 0; i < m; i++)                                     \
        v[i] = (ravel_##n##x##w)ravel_load##w(s + i * sq, m * sq);               \
    RAVEL_UNROLL for (int round = 1; round < m; round *= 2) {                    \
        RAVEL_UNROLL for (int i = 0; i < m / 2; i++) {                           \
            t[2 * i] = RAVEL_LOW(n, m, w, v[i], v[i + m / 2]);                   \
            t[2 * i + 1] = RAVEL_HIGH(n, m, w, v[i], v[i + m / 2]);              \
        }                                                                        \
        RAVEL_UNROLL for (int i = 0; i < m; i++)                                 \
            v[i] = t[i];                                                         \
    }                                                                            \
    RAVEL_UNROLL for (int i = 0; i < m; i++)                                     \
        out[i] = (ravel_1x##w)v[i];                                              \
}                                                                                \
/* All rows of m * w columns. */                                                 \
static void                                                                      \
ravel_strip##n##x##w(unsigned char *d, const unsigned char *s, int64_t rows,     \
                     int64_t dp, int64_t sq)                                     \
{                                                                                \
    for (int64_t p = 0; p < rows; p += m) {                                      \
        ravel_1x##w v[m];                                                        \
        p = p + m > rows ? rows - m : p;                                         \
        ravel_block##n##x##w(s + p * n, sq, v);                                  \
        RAVEL_UNROLL for (int j = 0; j < m; j++)                                 \
            ravel_store##w(d + (p + j) * dp, v[j], 0);                           \
    }                                                                            \
}

/* All rows of a line of columns, of w lanes at a time. */
#define RAVEL_LINES(n, m, w)                                                     \
RAVEL_INLINE void                                                                \
ravel_lines##n(unsigned char *d, const unsigned char *s, int64_t rows,           \
               int64_t dp, int64_t sq, int64_t stream, int64_t ahead)            \
{                                                                                \
    for (int64_t p = 0; p < rows; p += m) {                                      \
        ravel_1x##w v[4 / w][m];                                                 \
        p = p + m > rows ? rows - m : p;                                         \
        if (ahead && p * n % 64 == 0)                                            \
            for (int i = 0; i < 4 * m; i++)                                      \
                RAVEL_PREFETCH(s + p * n + i * sq + ahead);                      \
        RAVEL_UNROLL for (int h = 0; h < 4 / w; h++)                             \
            ravel_block##n##x##w(s + p * n + h * w * m * sq, sq, v[h]);          \
        RAVEL_UNROLL for (int j = 0; j < m; j++)                                 \
            RAVEL_UNROLL for (int h = 0; h < 4 / w; h++)                         \
                ravel_store##w(d + (p + j) * dp + 16 * w * h, v[h][j], stream);  \
    }                                                                            \
}                                                                                \
static void                                                                      \
ravel_plane##n(unsigned char *d, const unsigned char *s, int64_t rows,           \
               int64_t cols, int64_t dp, int64_t sq, int64_t stream,             \
               int64_t ahead)                                                    \
{                                                                                \
    int64_t q = 0;                                                               \
    if (rows < m || cols < m) {                                                  \
        ravel_few##n(d, s, rows, cols, dp, sq);                                  \
        return;                                                                  \
    }                                                                            \
    for (; q + 4 * m <= cols; q += 4 * m)                                        \
        if (stream)                                                              \
            ravel_lines##n(d + q * n, s + q * sq, rows, dp, sq, 1, ahead);       \
        else                                                                     \
            ravel_lines##n(d + q * n, s + q * sq, rows, dp, sq, 0, ahead);       \
    for (; q + w * m <= cols; q += w * m)                                        \
        ravel_strip##n##x##w(d + q * n, s + q * sq, rows, dp, sq);               \
    for (; q < cols; q += m) {                                                   \
        q = q + m > cols ? cols - m : q;                                         \
        ravel_strip##n##x1(d + q * n, s + q * sq, rows, dp, sq);                 \
    }                                                                            \
}
#else
#define RAVEL_LINES(n, m, w)                                                     \
static void                                                                      \
ravel_plane##n(unsigned char *d, const unsigned char *s, int64_t rows,           \
               int64_t cols, int64_t dp, int64_t sq, int64_t stream,             \
               int64_t ahead)                                                    \
{                                                                                \
    (void)stream;                                                                \
    (void)ahead;                                                                 \
    for (int64_t p = 0; p < rows; p += 64 / n)                                   \
        for (int64_t q = 0; q < cols; q += 64 / n)                               \
            ravel_few##n(d + p * dp + q * n, s + p * n + q * sq,                 \
                         rows - p < 64 / n ? rows - p : 64 / n,                  \
                         cols - q < 64 / n ? cols - q : 64 / n, dp, sq);         \
}
#define RAVEL_BLOCK(n, m, w)
#endif

#define RAVEL_FEW(n)                                                             \
static void                                                                      \
ravel_few##n(unsigned char *d, const unsigned char *s, int64_t rows,             \
             int64_t cols, int64_t dp, int64_t sq)                               \
{                                                                                \
    for (int64_t p = 0; p < rows; p++)                                           \
        for (int64_t q = 0; q < cols; q++)                                       \
            memcpy(d + p * dp + q * n, s + p * n + q * sq, n);                   \
}
#if RAVEL_LANES == 4
#define RAVEL_WIDE(n, m) RAVEL_BLOCK(n, m, 4) RAVEL_LINES(n, m, 4)
#elif RAVEL_LANES == 2
#define RAVEL_WIDE(n, m) RAVEL_BLOCK(n, m, 2) RAVEL_LINES(n, m, 2)
#else
#define RAVEL_WIDE(n, m) RAVEL_LINES(n, m, 1)
#endif
/* The kernel of elements of n bytes, m of them 16 bytes. */
#define RAVEL_TRANSPOSE(n, m)                                                    \
RAVEL_FEW(n)                                                                     \
RAVEL_BLOCK(n, m, 1)                                                             \
RAVEL_WIDE(n, m)                                                                 \
static void                                                                      \
ravel_transpose##n(unsigned char *d, const unsigned char *s, int64_t planes,     \
                   int64_t rows, int64_t cols, int64_t dn, int64_t sn,           \
                   int64_t dp, int64_t sq, int64_t stream, int64_t ahead)        \
{                                                                                \
    if (((uintptr_t)d | (uintptr_t)dp | (planes > 1 ? (uintptr_t)dn : 0)) % 64)  \
        stream = 0;                                                              \
    for (int64_t b = 0; b < planes; b++)                                         \
        ravel_plane##n(d + b * dn, s + b * sn, rows, cols, dp, sq, stream,       \
                       ahead);                                                   \
}
