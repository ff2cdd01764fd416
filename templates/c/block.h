/* Transposes blocks in registers.  A block is 16 bytes wide in the source and 16 bytes for
 * each lane in the destination.  Elements have ${size} bytes.  Four rows share a base
 * address. */
#ifndef RAVEL_PLAIN
/* Loads ${each} rows for each lane, `sq` bytes apart, and transposes them: out[j] is column j. */
RAVEL_INLINE void
ravel_block${size}(const unsigned char *s, int64_t sq, RAVEL_ALL(1) *out)
{
    enum { M = ${each}, FOUR = M < 4 ? M : 4 };
    RAVEL_ALL(${size}) v[M];
    int64_t sq3 = 3 * sq;
    RAVEL_KEEP(sq3);
    RAVEL_UNROLL for (int i = 0; i < M; i += FOUR) {
        const unsigned char *row[RAVEL_LANES];
        RAVEL_UNROLL for (int lane = 0; lane < RAVEL_LANES; lane++) {
            row[lane] = s + (lane * M + i) * sq;
            RAVEL_KEEP(row[lane]);
        }
        RAVEL_UNROLL for (int k = 0; k < FOUR; k++)
            v[i + k] = (RAVEL_ALL(${size}))RAVEL_ALL_ROWS(row, k == 3 ? sq3 : k * sq);
    }
    ravel_turn${size}(v);
    RAVEL_UNROLL for (int i = 0; i < M; i++)
        out[i] = (RAVEL_ALL(1))v[i];
}

/* Stores the columns of `side` adjacent blocks. */
RAVEL_INLINE void
ravel_put${size}(unsigned char *d, RAVEL_ALL(1) (*v)[${each}], int side, int64_t dp,
                 int64_t stream)
{
    enum { M = ${each}, FOUR = M < 4 ? M : 4 };
    int64_t dp3 = 3 * dp;
    RAVEL_KEEP(dp3);
    RAVEL_UNROLL for (int j = 0; j < M; j += FOUR) {
        RAVEL_UNROLL for (int k = 0; k < FOUR; k++)
            RAVEL_UNROLL for (int h = 0; h < side; h++)
                RAVEL_ALL_STORE(d + (k == 3 ? dp3 : k * dp) + 16 * RAVEL_LANES * h,
                                v[h][j + k], stream);
        d += FOUR * dp;
        RAVEL_KEEP(d);
    }
}

/* Transposes ${each} rows of c columns, a block at a time. */
RAVEL_INLINE void
ravel_patch${size}(unsigned char *d, const unsigned char *s, int64_t c, int64_t dp,
                   int64_t sq)
{
    enum { ALL = ${each} * RAVEL_LANES };
    for (int64_t k = 0; k < c; k += ALL, s += ALL * sq, d += 16 * RAVEL_LANES) {
        RAVEL_ALL(1) v[1][${each}];
        ravel_block${size}(s, sq, v[0]);
        ravel_put${size}(d, v, 1, dp, 0);
    }
}

/* Transposes all rows of `side` adjacent blocks; fetches the next lines of rows far apart. */
RAVEL_INLINE void
ravel_walk${size}(unsigned char *d, const unsigned char *s, int64_t rows, int side,
                  int64_t dp, int64_t sq, int64_t stream, int64_t ahead)
{
    enum { M = ${each}, ALL = M * RAVEL_LANES, FAR = 160 };
    for (int64_t p = 0; p < rows; p += M, s += 16, d += M * dp) {
        RAVEL_ALL(1) v[4 / RAVEL_LANES][M];
        const int64_t back = p + M > rows ? p + M - rows : 0;
        p -= back;
        s -= back * ${size};
        d -= back * dp;
        if (ahead && p * ${size} % 64 == 0)
            for (int i = 0; i < side * ALL; i++)
                RAVEL_PREFETCH(s + i * sq + ahead);
        for (int64_t i = 0; i < M && !stream && dp >= FAR; i++)
            RAVEL_PREFETCH(d + i * dp + 127);
        RAVEL_UNROLL for (int h = 0; h < side; h++)
            ravel_block${size}(s + h * ALL * sq, sq, v[h]);
        ravel_put${size}(d, v, side, dp, stream);
    }
}

static void
ravel_strip${size}(unsigned char *d, const unsigned char *s, int64_t rows, int64_t dp,
                   int64_t sq)
{
    ravel_walk${size}(d, s, rows, 1, dp, sq, 0, 0);
}

/* Loads and transposes a block of one lane. */
RAVEL_INLINE void
ravel_lone${size}(unsigned char *d, const unsigned char *s, int64_t dp, int64_t sq)
{
    enum { M = ${each}, FOUR = M < 4 ? M : 4 };
    ravel_${size}x1 v[M];
    int64_t sq3 = 3 * sq, dp3 = 3 * dp;
    RAVEL_KEEP(sq3);
    RAVEL_KEEP(dp3);
    RAVEL_UNROLL for (int i = 0; i < M; i += FOUR, s += FOUR * sq) {
        RAVEL_KEEP(s);
        RAVEL_UNROLL for (int k = 0; k < FOUR; k++)
            v[i + k] = (ravel_${size}x1)ravel_load1(s + (k == 3 ? sq3 : k * sq));
    }
    ravel_zip${size}(v, M, RAVEL_ROUNDS${size});
    RAVEL_UNROLL for (int j = 0; j < M; j += FOUR, d += FOUR * dp) {
        RAVEL_KEEP(d);
        RAVEL_UNROLL for (int k = 0; k < FOUR; k++)
            ravel_store1(d + (k == 3 ? dp3 : k * dp), (ravel_1x1)v[j + k], 0);
    }
}

/* Transposes ${each} columns, with ${each} rows of each in each of two lanes. */
RAVEL_INLINE void
ravel_tall${size}(unsigned char *d, const unsigned char *s, int64_t dp, int64_t sq)
{
    enum { M = ${each}, FOUR = M < 4 ? M : 4 };
    RAVEL_TWO(${size}) v[M];
    int64_t sq3 = 3 * sq, dp3 = 3 * dp;
    RAVEL_KEEP(sq3);
    RAVEL_KEEP(dp3);
    RAVEL_UNROLL for (int i = 0; i < M; i += FOUR, s += FOUR * sq) {
        RAVEL_KEEP(s);
        RAVEL_UNROLL for (int k = 0; k < FOUR; k++)
            memcpy(&v[i + k], s + (k == 3 ? sq3 : k * sq), sizeof v[i]);
    }
    ravel_turn_two${size}(v);
    RAVEL_UNROLL for (int i = 0; i < RAVEL_PAIR; i++)
        RAVEL_UNROLL for (int j = 0; j < M; j += FOUR, d += FOUR * dp) {
            RAVEL_KEEP(d);
            RAVEL_UNROLL for (int k = 0; k < FOUR; k++)
                ravel_store1(d + (k == 3 ? dp3 : k * dp),
                             ravel_lane((RAVEL_TWO(1))v[j + k], i), 0);
        }
}

/* Transposes all rows of ${each} columns; the last block may overlap the one before. */
static void
ravel_column${size}(unsigned char *d, const unsigned char *s, int64_t rows, int64_t dp,
                    int64_t sq)
{
    enum { M = ${each}, TALL = M * RAVEL_PAIR };
    int64_t p = 0;
    for (; rows >= TALL && p + M < rows; p += TALL) {
        p = p + TALL > rows ? rows - TALL : p;
        ravel_tall${size}(d + p * dp, s + p * ${size}, dp, sq);
    }
    for (; p < rows; p += M) {
        p = p + M > rows ? rows - M : p;
        ravel_lone${size}(d + p * dp, s + p * ${size}, dp, sq);
    }
}

/* Transposes the columns from q on; the last ones may overlap those before. */
static void
ravel_strips${size}(unsigned char *d, const unsigned char *s, int64_t rows, int64_t q,
                    int64_t cols, int64_t dp, int64_t sq)
{
    enum { M = ${each}, ALL = M * RAVEL_LANES };
    for (; q + ALL <= cols || (q + ALL / 2 < cols && cols >= ALL); q += ALL) {
        q = q + ALL > cols ? cols - ALL : q;
        ravel_strip${size}(d + q * ${size}, s + q * sq, rows, dp, sq);
    }
    for (; q < cols; q += M) {
        q = q + M > cols ? cols - M : q;
        ravel_column${size}(d + q * ${size}, s + q * sq, rows, dp, sq);
    }
}
#endif
