/* Planes, b < n of them, of rows of `width` elements, the last width - cols of them
 * `value`:  d[b*dn + p*dp + q*size] = s[b*sn + p*size + q*sq]  for p < rows, q < cols.
 * A row is at most RAVEL_WOVEN_BYTES long.  Rows that touch go past the caches if
 * `stream`: as they come where they are lines, or of 2, 4 or 8 bytes, nothing padded, in
 * planes of whole lines; through a buffer where they are of 3, 5 or other bytes.  A store
 * may run into the next row, which is written after it; where that is not ours the buffer
 * takes it. */
#ifndef RAVEL_PLAIN
enum { RAVEL_STAGE = 3968 };

/* The columns of a plane, and what they become. */
typedef struct {
    int64_t cols, sq, width, dp, stream, ahead;
    int64_t n, dn, sn;             /* so many planes at once */
    int64_t exact;                 /* no padding, rows that touch */
    int64_t lines;                 /* rows are whole lines, written past the caches */
    const unsigned char *value;    /* 16 bytes of it */
    ravel_1x1 by;                  /* pads between short rows taken out */
} ravel_Woven;

RAVEL_INLINE ravel_1x1
ravel_column(const unsigned char *s, int64_t q, ravel_Woven w)
{
    return ravel_load1(q < w.cols ? s + q * w.sq : w.value);
}

/* Rows of `of` bytes of which `kept` are kept. */
RAVEL_INLINE void
ravel_keep(unsigned char *d, ravel_1x1 v, int64_t of, int64_t kept, ravel_1x1 by)
{
    if (of == kept || of == 16) {
        ravel_store1(d, v, 0);
        return;
    }
#ifdef RAVEL_SHUFFLE
    ravel_store1(d, RAVEL_SHUFFLE(v, by), 0);
#else
    (void)by;
    for (int i = 0; i < 2; i++) {
        const uint64_t low = ((ravel_8x1)v)[i], high = low >> 32;
        memcpy(d + 8 * i / of * kept, &low, 8);
        if (of == 4)
            memcpy(d + (2 * i + 1) * kept, &high, 8);
    }
#endif
}

/* e rows of at most k columns, tight. */
#define RAVEL_WEAVE(z, e, k, rounds)                                             \
RAVEL_INLINE void                                                                \
ravel_weave##z##x##k(unsigned char *d, const unsigned char *s,                   \
                     ravel_Woven w)                                              \
{                                                                                \
    const int64_t bytes = w.width * z;                                           \
    ravel_##z##x1 v[k];                                                          \
    RAVEL_UNROLL for (int i = 0; i < k; i++)                                     \
        v[i] = (ravel_##z##x1)ravel_column(s, i, w);                             \
    ravel_zip##z##x##k##r##rounds(v);                                            \
    RAVEL_UNROLL for (int i = 0; i < k; i++)                                     \
        ravel_keep(d + i * (e / k) * bytes, (ravel_1x1)v[i], k * z, bytes, w.by); \
}                                                                                \
RAVEL_WEAVE_ALL(ravel_weave##z##x##k, z, e)

/* k columns, no padding, rows that touch: e rows and then the next, of all planes. */
#define RAVEL_WEAVE_EXACT(z, e, k, rounds)                                       \
RAVEL_INLINE void                                                                \
ravel_exact_to##z##x##k(unsigned char *d, const unsigned char *s, int64_t rows,  \
                        ravel_Woven w, int64_t stream)                           \
{                                                                                \
    for (int64_t b = 0; b < w.n; b++, d += w.dn, s += w.sn)                      \
        for (int64_t p = 0; p < rows; p += e) {                                  \
            ravel_##z##x1 v[k];                                                  \
            p = p + e > rows ? rows - e : p;                                     \
            RAVEL_UNROLL for (int i = 0; i < k; i++)                             \
                v[i] = (ravel_##z##x1)ravel_load1(s + p * z + i * w.sq);         \
            ravel_zip##z##x##k##r##rounds(v);                                    \
            RAVEL_UNROLL for (int i = 0; i < k; i++)                             \
                ravel_store1(d + p * k * z + 16 * i, (ravel_1x1)v[i], stream);   \
        }                                                                        \
}                                                                                \
static void                                                                      \
ravel_exact##z##x##k(unsigned char *d, const unsigned char *s, int64_t rows,     \
                     const ravel_Woven *w)                                       \
{                                                                                \
    if (w->stream)                                                               \
        ravel_exact_to##z##x##k(d, s, rows, *w, 1);                              \
    else                                                                         \
        ravel_exact_to##z##x##k(d, s, rows, *w, 0);                              \
}

/* e rows of e columns or more, in groups of e; the last may overlap another.  Rows that
 * are lines are written one after the other. */
#define RAVEL_WEAVE_WIDE(z, e, rounds)                                           \
RAVEL_INLINE void                                                                \
ravel_group##z(ravel_##z##x1 *v, const unsigned char *s, int64_t q, ravel_Woven w) \
{                                                                                \
    RAVEL_UNROLL for (int i = 0; i < e; i++)                                     \
        v[i] = (ravel_##z##x1)ravel_column(s, q + i, w);                         \
    if (q < w.cols)                                                              \
        ravel_zip##z##x##e##r##rounds(v);                                        \
}                                                                                \
RAVEL_INLINE void                                                                \
ravel_wide##z(unsigned char *d, const unsigned char *s, ravel_Woven w)           \
{                                                                                \
    ravel_##z##x1 v[4][e];                                                       \
    if (w.lines) {                                                               \
        RAVEL_UNROLL for (int g = 0; g < 4; g++)                                 \
            ravel_group##z(v[g], s, g * e, w);                                   \
        RAVEL_UNROLL for (int i = 0; i < e; i++)                                 \
            RAVEL_UNROLL for (int g = 0; g < 4; g++)                             \
                ravel_store1(d + i * 64 + g * 16, (ravel_1x1)v[g][i], 1);        \
        return;                                                                  \
    }                                                                            \
    for (int64_t q = 0; q < w.width; q += e) {                                   \
        q = q + e > w.width ? w.width - e : q;                                   \
        ravel_group##z(v[0], s, q, w);                                           \
        RAVEL_UNROLL for (int i = 0; i < e; i++)                                 \
            ravel_store1(d + (i * w.width + q) * z, (ravel_1x1)v[0][i], 0);      \
    }                                                                            \
}                                                                                \
RAVEL_WEAVE_ALL(ravel_wide##z, z, e)

/* e rows or more; may write 15 bytes after them. */
#define RAVEL_WEAVE_ALL(weave, z, e)                                             \
static void                                                                      \
weave##_all(unsigned char *d, const unsigned char *s, int64_t rows,              \
            const ravel_Woven *of)                                               \
{                                                                                \
    const ravel_Woven w = *of;                                                   \
    for (int64_t b = 0; b < w.n; b++, d += w.dn, s += w.sn)                      \
        for (int64_t p = 0; p < rows; p += e) {                                  \
            p = p + e > rows ? rows - e : p;                                     \
            if (w.ahead && p * z % 64 == 0)                                      \
                for (int64_t q = 0; q < w.cols; q++)                             \
                    __builtin_prefetch(s + p * z + q * w.sq + w.ahead);          \
            weave(d + p * w.width * z, s + p * z, w);                            \
        }                                                                        \
}

/* e rows or more of one plane. */
#define RAVEL_WEAVE_PLANE(z, e)                                                  \
static void                                                                      \
ravel_gathered##z(unsigned char *d, const unsigned char *s, int64_t rows,        \
                const ravel_Woven *w)                                            \
{                                                                                \
    unsigned char stage[64 + RAVEL_STAGE + 16] __attribute__((aligned(64)));     \
    const int64_t bytes = w->width * z, step = RAVEL_STAGE / bytes / e * e;      \
    int64_t held = 0, take;                                                      \
    for (int64_t p = 0; p < rows; p += take) {                                   \
        take = rows - p;                                                         \
        take = take <= step ? take : take < step + e ? step - e : step;          \
        ravel_woven##z(stage + held, s + p * z, take, w);                        \
        held += take * bytes;                                                    \
        if (w->dp == bytes)                                                      \
            held = ravel_pour(&d, stage, held, w->stream, p + take == rows);     \
        else                                                                     \
            for (held = 0; held < take; held++)                                  \
                ravel_few_bytes(d + (p + held) * w->dp, stage + held * bytes, bytes); \
        held = w->dp == bytes ? held : 0;                                        \
    }                                                                            \
}                                                                                \
static void                                                                      \
ravel_plane_woven##z(unsigned char *d, const unsigned char *s, int64_t rows,     \
                     const ravel_Woven *w)                                       \
{                                                                                \
    const int64_t bytes = w->width * z;                                          \
    if (w->dp == bytes && !w->stream && rows >= 2 * e) {                         \
        ravel_woven##z(d, s, rows - e, w);                                       \
        d += (rows - e) * bytes;                                                 \
        s += (rows - e) * z;                                                     \
        rows = e;                                                                \
    }                                                                            \
    ravel_gathered##z(d, s, rows, w);                                            \
}
/* Rows that are as wide as what is stored need no care at the end of a plane. */
#define RAVEL_WOVEN(z, e)                                                        \
    const int64_t bytes = width * z;                                             \
    if (rows >= e && width > 1 && dp >= bytes && bytes <= RAVEL_WOVEN_BYTES) {   \
        ravel_Woven w = {                                                        \
            .cols = cols, .sq = sq, .width = width, .dp = dp, .stream = stream,  \
            .ahead = ahead, .n = 1, .value = v,                                  \
            .by = bytes < ravel_slot(bytes) ? ravel_apart(bytes, ravel_slot(bytes)) \
                                            : (ravel_1x1){0}};                   \
        w.stream = stream && dp == bytes && rows * bytes % 64 == 0 &&            \
                   ((uintptr_t)d | (n > 1 ? (uintptr_t)dn : 0)) % 64 == 0;       \
        w.lines = w.stream && bytes % 64 == 0;                                   \
        if (w.lines || (dp == bytes && bytes == ravel_slot(bytes))) {            \
            w.exact = !w.lines && cols == width;                                 \
            w.n = n;                                                             \
            w.dn = dn;                                                           \
            w.sn = sn;                                                           \
            ravel_woven##z(d, s, rows, &w);                                      \
        } else {                                                                 \
            w.stream = stream;                                                   \
            for (int64_t b = 0; b < n; b++, d += dn, s += sn)                    \
                ravel_plane_woven##z(d, s, rows, &w);                            \
        }                                                                        \
        return;                                                                  \
    }
#else
#define RAVEL_WOVEN(z, e)                                                        \
    (void)stream;                                                                \
    (void)ahead;
#define RAVEL_WEAVE(z, e, k, rounds)
#define RAVEL_WEAVE_EXACT(z, e, k, rounds)
#define RAVEL_WEAVE_WIDE(z, e, rounds)
#define RAVEL_WEAVE_PLANE(z, e)
#endif

/* The plane by elements. */
#define RAVEL_WOVEN_FEW(z)                                                       \
static void                                                                      \
ravel_woven_few##z(unsigned char *d, const unsigned char *s, int64_t rows,       \
                   int64_t cols, int64_t width, int64_t dp, int64_t sq,          \
                   const unsigned char *value)                                   \
{                                                                                \
    for (int64_t p = 0; p < rows; p++)                                           \
        for (int64_t q = 0; q < width; q++)                                      \
            memcpy(d + p * dp + q * z, q < cols ? s + p * z + q * sq : value, z); \
}

/* By vectors where there are rows for one. */
#define RAVEL_INTERLEAVE(z, e)                                                   \
static void                                                                      \
ravel_interleave##z(unsigned char *d, const unsigned char *s, int64_t n,         \
                    int64_t rows, int64_t cols, int64_t width, int64_t dn,       \
                    int64_t sn, int64_t dp, int64_t sq, int64_t stream,          \
                    int64_t ahead, uint64_t value)                               \
{                                                                                \
    unsigned char v[16];                                                         \
    for (int i = 0; i < 16; i += z)                                              \
        memcpy(v + i, &value, z);                                                \
    RAVEL_WOVEN(z, e)                                                            \
    for (int64_t b = 0; b < n; b++, d += dn, s += sn)                            \
        ravel_woven_few##z(d, s, rows, cols, width, dp, sq, v);                  \
}
