/* Blocks of elements of ${size} bytes: rows are contiguous in the source, columns in
 * the destination. */
#ifndef RAVEL_PLAIN
/* ${each} columns of ${each} rows a lane. */
RAVEL_INLINE void
ravel_turn_wide${size}(unsigned char *d, const unsigned char *s, const int32_t *row,
                       const int32_t *col)
{
    RAVEL_ALL(${size}) v[${each}], w[${each}];
    RAVEL_UNROLL for (int i = 0; i < ${each}; i++)
        memcpy(&v[i], s + col[i], sizeof v[i]);
    RAVEL_UNROLL for (int round = 1; round < ${each}; round *= 2) {
        RAVEL_UNROLL for (int i = 0; i < ${each} / 2; i++) {
            w[2 * i] = RAVEL_ALL_LOW(${size}, ${each}, v[i], v[i + ${each} / 2]);
            w[2 * i + 1] = RAVEL_ALL_HIGH(${size}, ${each}, v[i], v[i + ${each} / 2]);
        }
        RAVEL_UNROLL for (int i = 0; i < ${each}; i++)
            v[i] = w[i];
    }
    RAVEL_UNROLL for (int i = 0; i < ${each}; i++)
        ravel_put_lanes(d, row + i, ${each}, (RAVEL_ALL(1))v[i]);
}

RAVEL_INLINE void
ravel_turn_narrow${size}(unsigned char *d, const unsigned char *s, const int32_t *row,
                         const int32_t *col)
{
    ravel_${size}x1 v[${each}];
    RAVEL_UNROLL for (int i = 0; i < ${each}; i++)
        v[i] = (ravel_${size}x1)ravel_load1(s + col[i]);
    ravel_zip${size}(v, ${each}, RAVEL_ROUNDS${size});
    RAVEL_UNROLL for (int i = 0; i < ${each}; i++)
        ravel_store1(d + row[i], (ravel_1x1)v[i], 0);
}

/* At most ${each} rows and columns, of which some may be fewer. */
RAVEL_INLINE void
ravel_turn_few${size}(unsigned char *d, const unsigned char *s, const int32_t *row,
                      const int32_t *col, int64_t rows, int64_t cols,
                      const unsigned char *end)
{
    ravel_${size}x1 v[${each}] = {{0}};
    RAVEL_UNROLL for (int i = 0; i < ${each}; i++)
        if (i < cols)
            v[i] = (ravel_${size}x1)ravel_load_part(s + col[i], rows * ${size}, end);
    ravel_zip${size}(v, ${each}, RAVEL_ROUNDS${size});
    RAVEL_UNROLL for (int i = 0; i < ${each}; i++) {
        if (i < rows && cols == ${each})
            ravel_store1(d + row[i], (ravel_1x1)v[i], 0);
        else if (i < rows)
            ravel_store_part(d + row[i], (ravel_1x1)v[i], cols * ${size});
    }
}

/* All rows of ${each} columns: the last block lies over others. */
RAVEL_INLINE void
ravel_turn_rows${size}(unsigned char *d, const unsigned char *s, const int32_t *row,
                       const int32_t *col, int64_t rows)
{
    enum { WIDE = ${each} * RAVEL_LANES };
    int64_t r = 0;
    for (; r + WIDE <= rows; r += WIDE)
        ravel_turn_wide${size}(d, s + r * ${size}, row + r, col);
    if (rows >= WIDE && r + ${each} < rows) {
        r = rows - WIDE;
        ravel_turn_wide${size}(d, s + r * ${size}, row + r, col);
        return;
    }
    for (; r < rows; r += ${each}) {
        r = r + ${each} > rows ? rows - ${each} : r;
        ravel_turn_narrow${size}(d, s + r * ${size}, row + r, col);
    }
}

/* A block with fewer rows or columns than a register has elements. */
static void
ravel_turn_short${size}(unsigned char *d, const unsigned char *s, const int32_t *row,
                        const int32_t *col, int64_t rows, int64_t cols,
                        const unsigned char *end)
{
    const int64_t m = rows < ${each} ? rows : ${each}, k = cols < ${each} ? cols : ${each};
    for (int64_t c = 0; c < cols; c += k) {
        c = c + k > cols ? cols - k : c;
        for (int64_t r = 0; r < rows; r += m) {
            r = r + m > rows ? rows - m : r;
            ravel_turn_few${size}(d + c * ${size}, s + r * ${size}, row + r, col + c, m, k,
                                  end);
        }
    }
}

static void
ravel_tile${size}(unsigned char *d, const unsigned char *s, const int32_t *t,
                  ravel_soon *soon)
{
    const int64_t rows = t[RAVEL_T_ROWS], cols = t[RAVEL_T_COLS], n = t[RAVEL_T_BLOCKS];
    const int32_t *const row = t + RAVEL_TILE_HEAD, *const col = row + rows;
    const int32_t *const block = col + cols;
    const int full = rows >= ${each} && cols >= ${each};
    const int64_t fetch = ravel_soon_share(soon, full ? n * ((cols - 1) / ${each} + 1) : n);
    for (int64_t i = 0; i < n; i++) {
        unsigned char *const to = d + block[2 * i];
        const unsigned char *const from = s + block[2 * i + 1];
        if (!full)
            ravel_turn_short${size}(to, from, row, col, rows, cols, s + t[RAVEL_T_END]);
        for (int64_t c = 0; full && c < cols; c += ${each}) {
            c = c + ${each} > cols ? cols - ${each} : c;
            ravel_turn_rows${size}(to + c * ${size}, from, row, col + c, rows);
            ravel_soon_fetch(soon, fetch);
        }
        if (!full)
            ravel_soon_fetch(soon, fetch);
    }
}
#else
static void
ravel_tile${size}(unsigned char *d, const unsigned char *s, const int32_t *t,
                  ravel_soon *soon)
{
    const int64_t rows = t[RAVEL_T_ROWS], cols = t[RAVEL_T_COLS];
    const int32_t *const row = t + RAVEL_TILE_HEAD, *const col = row + rows;
    const int32_t *const block = col + cols;
    (void)soon;
    for (int64_t i = 0; i < t[RAVEL_T_BLOCKS]; i++) {
        unsigned char *const to = d + block[2 * i];
        const unsigned char *const from = s + block[2 * i + 1];
        for (int64_t r = 0; r < rows; r++)
            for (int64_t c = 0; c < cols; c++)
                memcpy(to + row[r] + c * ${size}, from + col[c] + r * ${size}, ${size});
    }
}
#endif

static void
ravel_composite${size}(unsigned char *d, const unsigned char *s, const int32_t *t,
                       int64_t batches, int64_t rows, int64_t cols, int64_t dn, int64_t sn,
                       int64_t dp, int64_t sp, int64_t dq, int64_t sq, int64_t stream)
{
    ravel_tiles_run(d, s, t, batches, rows, cols, dn, sn, dp, sp, dq, sq, stream,
                    ravel_tile${size});
}
