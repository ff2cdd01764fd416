/* Blocks with few rows or few columns, of elements of ${size} bytes: they are padded to n, a power of
 * two, and n registers hold all ${each} of the other kind. */
#ifndef RAVEL_PLAIN
/* Transposes at most n rows of ${each} columns.  `next`: the columns follow one another, and `picks`
 * gives each the bytes of n rows. */
RAVEL_INLINE void
ravel_turn_low${size}(unsigned char *d, const unsigned char *s, const int32_t *row,
                      const int32_t *col, int64_t rows, int n, int next, ravel_1x1 picks)
{
    const int64_t step = ${each} / n * rows * ${size};
    ravel_${size}x1 v[${each}];
    RAVEL_UNROLL for (int i = 0; i < n; i++)
        v[i] = (ravel_${size}x1)(
            next ? ravel_regrouped(ravel_load1(s + col[0] + step * i), picks, rows, n)
                 : ravel_load_pieces(s, col + i * (${each} / n), n * ${size}));
    ravel_zip${size}(v, n, RAVEL_ROUNDS${size});
    RAVEL_UNROLL for (int i = 0; i < n; i++)
        if (i < rows)
            ravel_store1(d + row[i], (ravel_1x1)v[i], 0);
}

/* All columns; the last block overlaps the one before.  A register of columns that follow one another
 * may not read past the last of them. */
RAVEL_INLINE void
ravel_turn_all_low${size}(unsigned char *d, const unsigned char *s, const int32_t *row,
                          const int32_t *col, int64_t rows, int64_t cols, const ravel_way *w,
                          const ravel_end *end, int n)
{
    for (int64_t c = 0; c < cols; c += ${each}) {
        unsigned char part[16 * ${each}];
        c = c + ${each} > cols ? cols - ${each} : c;
        if (w->next && (n == rows || (cols - c - ${each}) * rows * ${size} >= 16))
            ravel_turn_low${size}(d + c * ${size}, s, row, col + c, rows, n, 1, w->picks);
        else if (ravel_is_near(end, s, col + c, ${each})) {
            ravel_load_parts(part, s, col + c, rows * ${size}, ${each});
            ravel_turn_low${size}(d + c * ${size}, part, row, ravel_part_at, rows, n, 0, w->picks);
        } else
            ravel_turn_low${size}(d + c * ${size}, s, row, col + c, rows, n, 0, w->picks);
    }
}

/* Transposes at most ${each} rows of at most n columns.  `next`: the rows follow one another, and `picks`
 * leaves each the bytes of its columns. */
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
        if (next)
            ravel_store1(d + row[0] + step * i, ravel_regrouped((ravel_1x1)v[i], picks, cols, n), 0);
        else
            ravel_store_pieces(d, to + i * (${each} / n), (ravel_1x1)v[i], n * ${size},
                               cols * ${size}, rows - i * (${each} / n));
}

/* All rows.  A register of rows that follow one another writes what rows after it replace. */
RAVEL_INLINE void
ravel_turn_all_thin${size}(unsigned char *d, const unsigned char *s, const int32_t *row,
                           const int32_t *col, int64_t rows, int64_t cols, const ravel_way *w,
                           const ravel_end *end, int n)
{
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
        if (w->next && some == ${each} && (n == cols || (rows - r - ${each}) * cols * ${size} >= 16))
            ravel_turn_thin${size}(d, from, row + r, at, some, cols, n, 1, w->picks);
        else
            ravel_turn_thin${size}(d, from, row + r, at, some, cols, n, 0, w->picks);
    }
}

/* Whether ravel_turn_slim takes such blocks. */
RAVEL_INLINE int
ravel_is_slim${size}(int64_t rows, int64_t cols)
{
    return ${each} > 2 && (cols * ${size} <= 8 || (rows * ${size} <= RAVEL_LOW_BYTES && cols >= ${each}));
}

/* Whether the columns of a register, or its rows, follow one another. */
RAVEL_INLINE int
ravel_next${size}(const int32_t *row, const int32_t *col, int64_t rows, int64_t cols)
{
    const int low = cols * ${size} > 8;
    const int64_t few = low ? rows : cols;
    return few > 1 && (RAVEL_PICKS || (few & (few - 1)) == 0) &&
           ravel_are_apart(low ? col : row, low ? cols : rows, (int32_t)few * ${size});
}

/* What moves the bytes of rows or columns that follow one another, n of them as in ravel_turn_slim; none
 * where they are as many. */
RAVEL_INLINE ravel_1x1
ravel_picks${size}(int64_t rows, int64_t cols)
{
    const int few = (int)(cols * ${size} > 8 ? rows : cols) * ${size};
    const int all = few <= 2 * ${size} ? 2 * ${size} : few <= 4 * ${size} ? 4 * ${size} : 8 * ${size};
    const ravel_1x1 none = {0};
    if (few == all)
        return none;
    return cols * ${size} > 8 ? ravel_regroup(few, all) : ravel_regroup(all, few);
}

static void
ravel_turn_slim${size}(unsigned char *d, const unsigned char *s, const int32_t *row,
                       const int32_t *col, int64_t rows, int64_t cols, const ravel_way *w,
                       const ravel_end *end)
{
    const int low = cols * ${size} > 8;
    const int64_t few = low ? rows : cols;
    if (low && few <= 2)
        ravel_turn_all_low${size}(d, s, row, col, rows, cols, w, end, 2);
    else if (low && ${each} >= 8 && few <= 4)
        ravel_turn_all_low${size}(d, s, row, col, rows, cols, w, end, 4);
    else if (low && ${each} >= 16)
        ravel_turn_all_low${size}(d, s, row, col, rows, cols, w, end, 8);
    else if (few <= 2)
        ravel_turn_all_thin${size}(d, s, row, col, rows, cols, w, end, 2);
    else if (${each} >= 8 && few <= 4)
        ravel_turn_all_thin${size}(d, s, row, col, rows, cols, w, end, 4);
    else if (${each} >= 16)
        ravel_turn_all_thin${size}(d, s, row, col, rows, cols, w, end, 8);
}
#endif
