/* The kernel interleave for elements of ${size} bytes. */
#ifndef RAVEL_PLAIN
/* Transposes at most k columns to ${each} contiguous rows. */
RAVEL_INLINE void
ravel_weave${size}(unsigned char *d, const unsigned char *s, ravel_Woven w, int k,
             int rounds)
{
    const int64_t bytes = w.width * ${size};
    ravel_${size}x1 v[${each}];
    RAVEL_UNROLL for (int i = 0; i < k; i++)
        v[i] = (ravel_${size}x1)ravel_column(s, i, w);
    ravel_zip${size}(v, k, rounds);
    RAVEL_UNROLL for (int i = 0; i < k; i++)
        ravel_keep(d + i * (${each} / k) * bytes, (ravel_1x1)v[i], k * ${size}, bytes,
                   w.by);
}

/* Transposes ${each} or more columns to ${each} rows, in groups of ${each} columns; the
 * last group may overlap the one before.  Rows that are cache lines are written one after
 * another. */
RAVEL_INLINE void
ravel_group${size}(ravel_${size}x1 *v, const unsigned char *s, int64_t q, ravel_Woven w,
             int rounds)
{
    RAVEL_UNROLL for (int i = 0; i < ${each}; i++)
        v[i] = (ravel_${size}x1)ravel_column(s, q + i, w);
    if (q < w.cols)
        ravel_zip${size}(v, ${each}, rounds);
}

RAVEL_INLINE void
ravel_wide${size}(unsigned char *d, const unsigned char *s, ravel_Woven w, int rounds)
{
    ravel_${size}x1 v[4][${each}];
    if (w.lines) {
        for (int g = 0; g < 4 && ${size} == 1; g++)
            ravel_group${size}(v[g], s, g * ${each}, w, rounds);
        RAVEL_UNROLL for (int g = 0; g < 4 && ${size} > 1; g++)
            ravel_group${size}(v[g], s, g * ${each}, w, rounds);
        RAVEL_UNROLL for (int i = 0; i < ${each}; i++)
            RAVEL_UNROLL for (int g = 0; g < 4; g++)
                ravel_store1(d + i * 64 + g * 16, (ravel_1x1)v[g][i], 1);
        return;
    }
    for (int64_t q = 0; q < w.width; q += ${each}) {
        q = q + ${each} > w.width ? w.width - ${each} : q;
        ravel_group${size}(v[0], s, q, w, rounds);
        RAVEL_UNROLL for (int i = 0; i < ${each}; i++)
            ravel_store1(d + (i * w.width + q) * ${size}, (ravel_1x1)v[0][i], 0);
    }
}

/* Transposes ${each} or more rows of at most k columns; k = 0: of ${each} or more columns.
 * May write up to 15 bytes after them. */
RAVEL_INLINE void
ravel_weave_all${size}(unsigned char *d, const unsigned char *s, int64_t rows,
                 const ravel_Woven *of, int k, int rounds)
{
    const ravel_Woven w = *of;
    for (int64_t b = 0; b < w.n; b++, d += w.dn, s += w.sn)
        for (int64_t p = 0; p < rows; p += ${each}) {
            p = p + ${each} > rows ? rows - ${each} : p;
            if (w.ahead && p * ${size} % RAVEL_LINE == 0)
                for (int64_t q = 0; q < w.cols; q++)
                    __builtin_prefetch(s + p * ${size} + q * w.sq + w.ahead);
            if (k)
                ravel_weave${size}(d + p * w.width * ${size}, s + p * ${size}, w, k,
                             rounds);
            else
                ravel_wide${size}(d + p * w.width * ${size}, s + p * ${size}, w, rounds);
        }
}

/* Transposes planes of k columns to contiguous rows without padding, ${each} rows at a
 * time. */
RAVEL_INLINE void
ravel_exact${size}(unsigned char *d, const unsigned char *s, int64_t rows,
             const ravel_Woven *of, int k, int rounds)
{
    const ravel_Woven w = *of;
    for (int64_t b = 0; b < w.n; b++, d += w.dn, s += w.sn)
        for (int64_t p = 0; p < rows; p += ${each}) {
            ravel_${size}x1 v[${each}];
            p = p + ${each} > rows ? rows - ${each} : p;
            RAVEL_UNROLL for (int i = 0; i < k; i++)
                v[i] = (ravel_${size}x1)ravel_load1(s + p * ${size} + i * w.sq);
            ravel_zip${size}(v, k, rounds);
            RAVEL_UNROLL for (int i = 0; i < k; i++)
                if (w.stream)
                    ravel_store1(d + p * k * ${size} + 16 * i, (ravel_1x1)v[i], 1);
                else
                    ravel_store1(d + p * k * ${size} + 16 * i, (ravel_1x1)v[i], 0);
        }
}

/* Transposes ${each} or more rows by the functions above: interleave${size}.c. */
static void ravel_woven${size}(unsigned char *d, const unsigned char *s, int64_t rows,
                         const ravel_Woven *w);

/* Transposes ${each} or more rows of one plane through a buffer. */
static void
ravel_gathered${size}(unsigned char *d, const unsigned char *s, int64_t rows,
                const ravel_Woven *w)
{
    unsigned char stage[RAVEL_LINE + RAVEL_STAGE + 16] __attribute__((aligned(RAVEL_LINE)));
    const int64_t bytes = w->width * ${size};
    const int64_t step = RAVEL_STAGE / bytes / ${each} * ${each};
    int64_t held = 0, take;
    for (int64_t p = 0; p < rows; p += take) {
        take = rows - p;
        take = take <= step ? take : take < step + ${each} ? step - ${each} : step;
        ravel_woven${size}(stage + held, s + p * ${size}, take, w);
        held += take * bytes;
        if (w->dp == bytes)
            held = ravel_pour(&d, stage, held, w->stream, p + take == rows);
        else
            for (held = 0; held < take; held++)
                ravel_few_bytes(d + (p + held) * w->dp, stage + held * bytes, bytes);
        held = w->dp == bytes ? held : 0;
    }
}

static void
ravel_plane_woven${size}(unsigned char *d, const unsigned char *s, int64_t rows,
                   const ravel_Woven *w)
{
    const int64_t bytes = w->width * ${size};
    if (w->dp == bytes && !w->stream && rows >= 2 * ${each}) {
        ravel_woven${size}(d, s, rows - ${each}, w);
        d += (rows - ${each}) * bytes;
        s += (rows - ${each}) * ${size};
        rows = ${each};
    }
    ravel_gathered${size}(d, s, rows, w);
}

/* Transposes n planes of ${each} or more rows.  Rows that are as wide as a store need no
 * buffer at the end of a plane. */
RAVEL_INLINE void
ravel_planes_woven${size}(unsigned char *d, const unsigned char *s, int64_t n,
                    int64_t rows, int64_t dn, int64_t sn, ravel_Woven w)
{
    const int64_t bytes = w.width * ${size}, stream = w.stream;
    if (bytes < ravel_slot(bytes))
        w.by = ravel_apart(bytes, ravel_slot(bytes));
    w.stream = stream && w.dp == bytes && rows * bytes % RAVEL_LINE == 0 &&
               ((uintptr_t)d | (n > 1 ? (uintptr_t)dn : 0)) % RAVEL_LINE == 0;
    w.lines = w.stream && bytes % RAVEL_LINE == 0;
    if (w.lines || (w.dp == bytes && bytes == ravel_slot(bytes))) {
        w.exact = !w.lines && w.cols == w.width;
        w.n = n;
        w.dn = dn;
        w.sn = sn;
        ravel_woven${size}(d, s, rows, &w);
    } else {
        w.stream = stream;
        for (int64_t b = 0; b < n; b++, d += dn, s += sn)
            ravel_plane_woven${size}(d, s, rows, &w);
    }
}
#endif

/* The kernel: uses vectors if there are enough rows for one. */
static void
ravel_interleave${size}(unsigned char *d, const unsigned char *s, int64_t n, int64_t rows,
                  int64_t cols, int64_t width, int64_t dn, int64_t sn, int64_t dp,
                  int64_t sq, int64_t stream, int64_t ahead, uint64_t value)
{
    unsigned char v[16];
    for (int i = 0; i < 16; i += ${size})
        memcpy(v + i, &value, ${size});
#ifndef RAVEL_PLAIN
    if (rows >= ${each} && width > 1 && dp >= width * ${size} &&
        width * ${size} <= RAVEL_WOVEN_BYTES) {
        const ravel_Woven w = {cols, sq, width, dp, stream, ahead, 1, 0, 0, 0, 0, v, {0}};
        ravel_planes_woven${size}(d, s, n, rows, dn, sn, w);
        return;
    }
#endif
    (void)stream;
    (void)ahead;
    for (int64_t b = 0; b < n; b++, d += dn, s += sn)
        for (int64_t p = 0; p < rows; p++)
            for (int64_t q = 0; q < width; q++)
                memcpy(d + p * dp + q * ${size}, q < cols ? s + p * ${size} + q * sq : v,
                       ${size});
}
