/* Blocks with few rows or few columns, of elements of ${size} bytes: they are padded to n, a power of
 * two, and n registers hold all ${each} of the other kind. */
#ifndef RAVEL_PLAIN
/* Transposes at most n rows of ${each} columns, which are next to one another as `next` says. */
RAVEL_INLINE void
ravel_turn_low${size}(unsigned char *d, const unsigned char *s, const int32_t *row,
                      const int32_t *col, int64_t rows, int n, int next, ravel_1x1 picks)
{
    const int64_t step = next == RAVEL_PICKED ? ${each} / n * rows * ${size} : 16;
    ravel_${size}x1 v[${each}];
    RAVEL_UNROLL for (int i = 0; i < n; i++) {
        const ravel_1x1 x = next ? ravel_load1(s + col[0] + step * i)
                                 : ravel_load_pieces(s, col + i * (${each} / n), n * ${size});
        v[i] = (ravel_${size}x1)(next == RAVEL_PICKED ? ravel_picked(x, picks) : x);
    }
    ravel_zip${size}(v, n, RAVEL_ROUNDS${size});
    RAVEL_UNROLL for (int i = 0; i < n; i++)
        if (i < rows)
            ravel_store1(d + row[i], (ravel_1x1)v[i], 0);
}

/* All columns; the last block overlaps the one before.  Of columns that are picked the last register
 * must not read past those that follow. */
RAVEL_INLINE void
ravel_turn_all_low${size}(unsigned char *d, const unsigned char *s, const int32_t *row,
                          const int32_t *col, int64_t rows, int64_t cols, int next,
                          const ravel_end *end, int n)
{
    const ravel_1x1 picks = ravel_regroup(rows * ${size}, n * ${size});
    int64_t c = 0;
    if (next == RAVEL_EVEN) {
        for (; c < cols; c += ${each}) {
            c = c + ${each} > cols ? cols - ${each} : c;
            ravel_turn_low${size}(d + c * ${size}, s, row, col + c, rows, n, RAVEL_EVEN, picks);
        }
        return;
    }
    for (; next == RAVEL_PICKED && (cols - c - ${each}) * rows * ${size} >= 16; c += ${each})
        ravel_turn_low${size}(d + c * ${size}, s, row, col + c, rows, n, RAVEL_PICKED, picks);
    for (; c < cols; c += ${each}) {
        unsigned char part[16 * ${each}];
        c = c + ${each} > cols ? cols - ${each} : c;
        if (ravel_is_near(end, s, col + c, ${each})) {
            ravel_load_parts(part, s, col + c, rows * ${size}, ${each});
            ravel_turn_low${size}(d + c * ${size}, part, row, ravel_part_at, rows, n, RAVEL_ALONE, picks);
        } else
            ravel_turn_low${size}(d + c * ${size}, s, row, col + c, rows, n, RAVEL_ALONE, picks);
    }
}

/* Transposes at most ${each} rows of at most n columns.  The rows are next to one another as `next`
 * says. */
RAVEL_INLINE void
ravel_turn_thin${size}(unsigned char *d, const unsigned char *s, const int32_t *row,
                       const int32_t *col, int64_t rows, int64_t cols, int n, int next, ravel_1x1 picks)
{
    const int64_t step = ${each} / n * cols * ${size};
    ravel_${size}x1 v[${each}] = {{0}};
    int64_t to[${each}];
    RAVEL_UNROLL for (int i = 0; i < n; i++)
        if (i < cols)
            v[i] = (ravel_${size}x1)ravel_load1(s + col[i]);
    ravel_zip${size}(v, n, n > 4 ? 3 : n / 2);
    if (!next)
        RAVEL_UNROLL for (int i = 0; i < ${each}; i++)
            to[i] = row[i < rows ? i : 0];
    RAVEL_UNROLL for (int i = 0; i < n; i++)
        if (next == RAVEL_EVEN)
            ravel_store1(d + row[0] + 16 * i, (ravel_1x1)v[i], 0);
        else if (next == RAVEL_PICKED)
            ravel_store1(d + row[0] + step * i, ravel_picked((ravel_1x1)v[i], picks), 0);
        else
            ravel_store_pieces(d, to + i * (${each} / n), (ravel_1x1)v[i], n * ${size},
                               cols * ${size}, rows - i * (${each} / n));
}

/* All rows.  Of those that are picked the last register writes what rows after it replace. */
RAVEL_INLINE void
ravel_turn_all_thin${size}(unsigned char *d, const unsigned char *s, const int32_t *row,
                           const int32_t *col, int64_t rows, int64_t cols, int next,
                           const ravel_end *end, int n)
{
    const ravel_1x1 picks = ravel_regroup(n * ${size}, cols * ${size});
    for (int64_t r = 0; r < rows; r += ${each}) {
        const unsigned char *from = s + r * ${size};
        const int32_t *at = col;
        const int64_t some = rows - r < ${each} ? rows - r : (int64_t)${each};
        unsigned char part[16 * ${each}];
        if (ravel_is_near(end, from, col, cols)) {
            ravel_load_parts(part, from, col, some * ${size}, cols);
            from = part;
            at = ravel_part_at;
        }
        if (next == RAVEL_EVEN && some == ${each})
            ravel_turn_thin${size}(d, from, row + r, at, some, cols, n, RAVEL_EVEN, picks);
        else if (next == RAVEL_PICKED && (rows - r - ${each}) * cols * ${size} >= 16)
            ravel_turn_thin${size}(d, from, row + r, at, some, cols, n, RAVEL_PICKED, picks);
        else
            ravel_turn_thin${size}(d, from, row + r, at, some, cols, n, RAVEL_ALONE, picks);
    }
}

/* Whether ravel_turn_slim takes such blocks. */
RAVEL_INLINE int
ravel_is_slim${size}(int64_t rows, int64_t cols)
{
    return ${each} > 2 && (cols * ${size} <= 8 || (rows * ${size} <= RAVEL_LOW_BYTES && cols >= ${each}));
}

/* How columns of a register, or rows, are next to one another. */
RAVEL_INLINE int
ravel_next${size}(const int32_t *row, const int32_t *col, int64_t rows, int64_t cols)
{
    const int low = cols * ${size} > 8;
    const int64_t few = low ? rows : cols;
    if (few < 2 || !ravel_are_apart(low ? col : row, low ? cols : rows, (int32_t)few * ${size}))
        return RAVEL_ALONE;
#ifdef RAVEL_PICKS
    return few & (few - 1) ? RAVEL_PICKED : RAVEL_EVEN;
#else
    return few & (few - 1) ? RAVEL_ALONE : RAVEL_EVEN;
#endif
}

static void
ravel_turn_slim${size}(unsigned char *d, const unsigned char *s, const int32_t *row,
                       const int32_t *col, int64_t rows, int64_t cols, int next,
                       const ravel_end *end)
{
    const int low = cols * ${size} > 8;
    const int64_t few = low ? rows : cols;
    if (low && few <= 2)
        ravel_turn_all_low${size}(d, s, row, col, rows, cols, next, end, 2);
    else if (low && ${each} >= 8 && few <= 4)
        ravel_turn_all_low${size}(d, s, row, col, rows, cols, next, end, 4);
    else if (low && ${each} >= 16)
        ravel_turn_all_low${size}(d, s, row, col, rows, cols, next, end, 8);
    else if (few <= 2)
        ravel_turn_all_thin${size}(d, s, row, col, rows, cols, next, end, 2);
    else if (${each} >= 8 && few <= 4)
        ravel_turn_all_thin${size}(d, s, row, col, rows, cols, next, end, 4);
    else if (${each} >= 16)
        ravel_turn_all_thin${size}(d, s, row, col, rows, cols, next, end, 8);
}
#endif
