/* Planes of few rows of ${size} bytes by transposes of ${each} columns in registers. */
#ifndef RAVEL_PLAIN
/* Transposes ${each} columns of at most k rows. */
RAVEL_INLINE void
ravel_part${size}(unsigned char *d, const unsigned char *s, int64_t dp, ravel_Parted w,
                  int k, int rounds)
{
    ravel_${size}x1 v[${each}];
    RAVEL_UNROLL for (int i = 0; i < k; i++)
        v[i] = (ravel_${size}x1)ravel_apart_load(s + i * (${each} / k) * w.sq, k * ${size},
                                                 w.rows * ${size}, w.sq, w.by);
    ravel_zip${size}(v, k, rounds);
    RAVEL_UNROLL for (int i = 0; i < k; i++)
        if (i < w.rows)
            ravel_store1(d + i * dp, (ravel_1x1)v[i], 0);
}

/* Writes whole cache lines from column q on, as long as ${each} columns follow; returns the
 * next column. */
RAVEL_INLINE int64_t
ravel_part_lines${size}(unsigned char *d, const unsigned char *s, int64_t q, int64_t cols,
                        ravel_Parted w, int k, int rounds)
{
    unsigned char line[16 * RAVEL_LINE] __attribute__((aligned(RAVEL_LINE)));
    for (; q + 5 * ${each} <= cols; q += 4 * ${each}) {
        for (int i = 0; i < 4; i++)
            ravel_part${size}(line + 16 * i, s + (q + i * ${each}) * w.sq, RAVEL_LINE, w, k, rounds);
        for (int64_t p = 0; p < w.rows; p++)
            RAVEL_UNROLL for (int i = 0; i < RAVEL_LINE; i += 16)
                ravel_store1(d + p * w.dp + q * ${size} + i,
                             ravel_load1(line + p * RAVEL_LINE + i), 1);
    }
    return q;
}

/* Transposes a plane of ${each} or more columns: those before whole lines, the lines, those after
 * them; the last ones from a copy. */
RAVEL_INLINE void
ravel_part_all${size}(unsigned char *d, const unsigned char *s, int64_t cols, ravel_Parted w,
                      int k, int rounds)
{
    unsigned char last[2 * ${each} * 16 + 16];
    const int64_t bytes = w.rows * ${size}, head = (int64_t)(-(uintptr_t)d & 63) / ${size};
    int64_t q = 0;
    for (int i = !(w.stream && cols >= head + 8 * ${each}); i < 2; i++) {
        const int64_t end = i ? cols - 2 * ${each} + 1 : head;
        for (; q < end; q += ${each})
            ravel_part${size}(d + q * ${size}, s + q * w.sq, w.dp, w, k, rounds);
        q = i ? q : ravel_part_lines${size}(d, s, head, cols, w, k, rounds);
    }
    q = q + ${each} > cols ? cols - ${each} : q;
    ravel_apart_copy(last, s + q * w.sq, cols - q, w.sq, bytes);
    w.sq = bytes;
    const int64_t at[] = {q, cols - ${each}};
    for (int i = 0; i < 2; i++)
        ravel_part${size}(d + at[i] * ${size}, last + (at[i] - q) * bytes, w.dp, w, k, rounds);
}

/* Transposes planes of k short rows whose columns are contiguous in the source. */
RAVEL_INLINE void
ravel_split_rows${size}(unsigned char *d, const unsigned char *s, ravel_Split x, int k,
                        int rounds)
{
    for (int64_t b = 0; b < x.n; b++, d += x.dn, s += x.sn)
        for (int64_t q = 0; q < x.cols; q += ${each}) {
            ravel_${size}x1 v[${each}];
            q = q + ${each} > x.cols ? x.cols - ${each} : q;
            RAVEL_UNROLL for (int i = 0; i < k; i++)
                v[i] = (ravel_${size}x1)ravel_load1(s + q * k * ${size} + 16 * i);
            ravel_zip${size}(v, k, rounds);
            RAVEL_UNROLL for (int i = 0; i < k; i++)
                if (x.stream)
                    ravel_store1(d + i * x.dp + q * ${size}, (ravel_1x1)v[i], 1);
                else
                    ravel_store1(d + i * x.dp + q * ${size}, (ravel_1x1)v[i], 0);
        }
}
#endif
