/* Transposes blocks in registers.  Elements have n bytes, m = 16 / n; vectors have w lanes
 * of 16 bytes.  A block has m * w rows of m elements in the source, and m rows of m * w
 * elements in the destination.  Four rows share a base address. */
#ifndef RAVEL_PLAIN
/* Transposes m x m elements in each lane.  Each of log2(m) rounds interleaves the first
 * half of the vectors with the second. */
#define RAVEL_TURN(n, m, w)                                                      \
RAVEL_INLINE void                                                                \
ravel_turn##n##x##w(ravel_##n##x##w *v)                                          \
{                                                                                \
    ravel_##n##x##w t[m];                                                        \
    RAVEL_UNROLL for (int round = 1; round < m; round *= 2) {                    \
        RAVEL_UNROLL for (int i = 0; i < m / 2; i++) {                           \
            t[2 * i] = RAVEL_LOW(n, m, w, v[i], v[i + m / 2]);                   \
            t[2 * i + 1] = RAVEL_HIGH(n, m, w, v[i], v[i + m / 2]);              \
        }                                                                        \
        RAVEL_UNROLL for (int i = 0; i < m; i++)                                 \
            v[i] = t[i];                                                         \
    }                                                                            \
}
/* Loads m rows for each lane and transposes them: out[j] is column j. */
#define RAVEL_BLOCK(n, m, w)                                                     \
RAVEL_TURN(n, m, w)                                                              \
RAVEL_INLINE void                                                                \
ravel_block##n##x##w(const unsigned char *s, int64_t sq, ravel_1x##w *out)       \
{                                                                                \
    enum { FOUR = m < 4 ? m : 4 };                                               \
    ravel_##n##x##w v[m];                                                        \
    int64_t sq3 = 3 * sq;                                                        \
    RAVEL_KEEP(sq3);                                                             \
    RAVEL_UNROLL for (int i = 0; i < m; i += FOUR) {                             \
        const unsigned char *row[w];                                             \
        RAVEL_UNROLL for (int lane = 0; lane < w; lane++) {                      \
            row[lane] = s + (lane * m + i) * sq;                                 \
            RAVEL_KEEP(row[lane]);                                               \
        }                                                                        \
        RAVEL_UNROLL for (int k = 0; k < FOUR; k++)                              \
            v[i + k] = (ravel_##n##x##w)ravel_rows##w(row, k == 3 ? sq3 : k * sq); \
    }                                                                            \
    ravel_turn##n##x##w(v);                                                      \
    RAVEL_UNROLL for (int i = 0; i < m; i++)                                     \
        out[i] = (ravel_1x##w)v[i];                                              \
}                                                                                \
/* Stores the m columns of `side` adjacent blocks as m rows. */                  \
RAVEL_INLINE void                                                                \
ravel_put##n##x##w(unsigned char *d, ravel_1x##w (*v)[m], int side, int64_t dp,  \
                   int64_t stream)                                               \
{                                                                                \
    enum { FOUR = m < 4 ? m : 4 };                                               \
    int64_t dp3 = 3 * dp;                                                        \
    RAVEL_KEEP(dp3);                                                             \
    RAVEL_UNROLL for (int j = 0; j < m; j += FOUR) {                             \
        RAVEL_UNROLL for (int k = 0; k < FOUR; k++)                              \
            RAVEL_UNROLL for (int h = 0; h < side; h++)                          \
                ravel_store##w(d + (k == 3 ? dp3 : k * dp) + 16 * w * h,         \
                               v[h][j + k], stream);                             \
        d += FOUR * dp;                                                          \
        RAVEL_KEEP(d);                                                           \
    }                                                                            \
}                                                                                \
/* Transposes c source rows of m elements, a block at a time. */                 \
RAVEL_INLINE void                                                                \
ravel_patch##n##x##w(unsigned char *d, const unsigned char *s, int64_t c,        \
                     int64_t dp, int64_t sq)                                     \
{                                                                                \
    for (int64_t k = 0; k < c; k += m * w, s += m * w * sq, d += 16 * w) {       \
        ravel_1x##w v[1][m];                                                     \
        ravel_block##n##x##w(s, sq, v[0]);                                       \
        ravel_put##n##x##w(d, v, 1, dp, 0);                                      \
    }                                                                            \
}                                                                                \
/* Transposes `side` * m * w source rows of `rows` elements. */                  \
RAVEL_INLINE void                                                                \
ravel_walk##n##x##w(unsigned char *d, const unsigned char *s, int64_t rows, int side, \
                    int64_t dp, int64_t sq, int64_t stream, int64_t ahead)       \
{                                                                                \
    for (int64_t p = 0; p < rows; p += m, s += 16, d += m * dp) {                \
        ravel_1x##w v[4 / w][m];                                                 \
        const int64_t back = p + m > rows ? p + m - rows : 0;                    \
        p -= back;                                                               \
        s -= back * n;                                                           \
        d -= back * dp;                                                          \
        if (ahead && p * n % 64 == 0)                                            \
            for (int i = 0; i < side * m * w; i++)                               \
                RAVEL_PREFETCH(s + i * sq + ahead);                              \
        RAVEL_UNROLL for (int h = 0; h < side; h++)                              \
            ravel_block##n##x##w(s + h * w * m * sq, sq, v[h]);                  \
        ravel_put##n##x##w(d, v, side, dp, stream);                              \
    }                                                                            \
}                                                                                \
static void                                                                      \
ravel_strip##n##x##w(unsigned char *d, const unsigned char *s, int64_t rows,     \
                     int64_t dp, int64_t sq)                                     \
{                                                                                \
    ravel_walk##n##x##w(d, s, rows, 1, dp, sq, 0, 0);                            \
}

#if RAVEL_LANES > 1
/* Transposes m source rows of 32 bytes; columns j and m + j are the lanes of one vector. */
#define RAVEL_PAIR(n, m)                                                         \
RAVEL_INLINE void                                                                \
ravel_pair##n(unsigned char *d, const unsigned char *s, int64_t dp, int64_t sq)  \
{                                                                                \
    enum { FOUR = m < 4 ? m : 4 };                                               \
    ravel_##n##x2 v[m];                                                          \
    int64_t sq3 = 3 * sq, dp3 = 3 * dp;                                          \
    unsigned char *e = d + m * dp;                                               \
    RAVEL_KEEP(sq3);                                                             \
    RAVEL_KEEP(dp3);                                                             \
    RAVEL_UNROLL for (int i = 0; i < m; i += FOUR, s += FOUR * sq) {             \
        RAVEL_KEEP(s);                                                           \
        RAVEL_UNROLL for (int k = 0; k < FOUR; k++)                              \
            v[i + k] = (ravel_##n##x2)ravel_load2(s + (k == 3 ? sq3 : k * sq));  \
    }                                                                            \
    ravel_turn##n##x2(v);                                                        \
    RAVEL_UNROLL for (int j = 0; j < m; j += FOUR, d += FOUR * dp, e += FOUR * dp) { \
        RAVEL_KEEP(d);                                                           \
        RAVEL_KEEP(e);                                                           \
        RAVEL_UNROLL for (int k = 0; k < FOUR; k++)                              \
            ravel_lanes2(d + (k == 3 ? dp3 : k * dp), e + (k == 3 ? dp3 : k * dp), \
                         (ravel_1x2)v[j + k]);                                   \
    }                                                                            \
}
#else
#define RAVEL_PAIR(n, m)                                                         \
RAVEL_INLINE void                                                                \
ravel_pair##n(unsigned char *d, const unsigned char *s, int64_t dp, int64_t sq)  \
{                                                                                \
    ravel_patch##n##x1(d, s, m, dp, sq);                                         \
    ravel_patch##n##x1(d + m * dp, s + 16, m, dp, sq);                           \
}
#endif

#if RAVEL_LANES == 4
#define RAVEL_BLOCKS(n, m) RAVEL_BLOCK(n, m, 1) RAVEL_BLOCK(n, m, 4) RAVEL_TURN(n, m, 2) \
                           RAVEL_PAIR(n, m) RAVEL_LINES(n, m, 4)
#elif RAVEL_LANES == 2
#define RAVEL_BLOCKS(n, m) RAVEL_BLOCK(n, m, 1) RAVEL_BLOCK(n, m, 2) RAVEL_PAIR(n, m) \
                           RAVEL_LINES(n, m, 2)
#else
#define RAVEL_BLOCKS(n, m) RAVEL_BLOCK(n, m, 1) RAVEL_PAIR(n, m) RAVEL_LINES(n, m, 1)
#endif
#else
#define RAVEL_BLOCKS(n, m) RAVEL_LINES(n, m, 1)
#endif
