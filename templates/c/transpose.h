/* Transposes `planes` planes, each of `sides` matrices of rows x cols elements of `size`
 * bytes, whose columns follow one another in the destination:
 *     d[b*dn + p*dp + (o*cols + q)*size] = s[b*sn + o*so + p*size + q*sq]
 * for b < planes, o < sides, p < rows, q < cols; each of the four is at least 1.
 *
 * Blocks are transposed in registers; adjacent blocks form cache lines of 64 bytes, which
 * are written whole.  The order is along the rows of the source, with prefetches `ahead`
 * bytes further if that is not 0.  The last blocks overlap the ones before.  `stream`: 1:
 * aligned cache lines are written with non-temporal stores.  2: also through buffers that
 * collect a part of each row of the destination: for rows that are not aligned, and for
 * rows whole pages apart, which share few memory banks and few cache sets. */

#ifndef RAVEL_PLAIN
/* The number of source rows that are read at the same time: few enough for the hardware
 * prefetcher. */
#define RAVEL_GROUP(n) ((n) == 1 ? 16 : 8)
/* Transposes columns that form one cache line, w lanes at a time. */
#define RAVEL_LINES(n, m, w)                                                     \
RAVEL_INLINE void                                                                \
ravel_lines##n(unsigned char *d, const unsigned char *s, int64_t rows,           \
               int64_t dp, int64_t sq, int64_t stream, int64_t ahead)            \
{                                                                                \
    ravel_walk##n##x##w(d, s, rows, 4 / w, dp, sq, stream, ahead);               \
}                                                                                \
/* Transposes the columns from q on, in strips of w lanes or one lane. */        \
RAVEL_INLINE void                                                                \
ravel_strips##n(unsigned char *d, const unsigned char *s, int64_t rows,          \
                int64_t q, int64_t cols, int64_t dp, int64_t sq)                 \
{                                                                                \
    for (; q + w * m <= cols; q += w * m)                                        \
        ravel_strip##n##x##w(d + q * n, s + q * sq, rows, dp, sq);               \
    for (; q < cols; q += m) {                                                   \
        q = q + m > cols ? cols - m : q;                                         \
        ravel_strip##n##x1(d + q * n, s + q * sq, rows, dp, sq);                 \
    }                                                                            \
}                                                                                \
/* Transposes `of` bytes, 16 or 32, of each of GROUP source rows into a buffer. */ \
RAVEL_INLINE void                                                                \
ravel_fill_piece##n(unsigned char *to, const unsigned char *s, int64_t of,       \
                    int64_t pitch, int64_t sq)                                   \
{                                                                                \
    enum { GROUP = RAVEL_GROUP(n) };                                             \
    const int whole = w > 1 && GROUP % (m * w) == 0;                             \
    for (int64_t p = 0; p < of / n && whole; p += m)                             \
        ravel_patch##n##x##w(to + p * pitch, s + p * n, GROUP, pitch, sq);       \
    for (int64_t k = 0; k < GROUP && !whole && of == 32; k += m)                 \
        ravel_pair##n(to + k * n, s + k * sq, pitch, sq);                        \
    if (!whole && of == 16)                                                      \
        ravel_patch##n##x1(to, s, GROUP, pitch, sq);                             \
}                                                                                \
/* Transposes GROUP source rows into a buffer, a cache line of each at a time.   \
 * Meanwhile the next rows are prefetched, row by row, because the lines of a row \
 * are in one memory bank; and as many lines of the other buffer are written, so \
 * that reads and writes overlap. */                                             \
RAVEL_INLINE void                                                                \
ravel_fill_group##n(unsigned char *to, const unsigned char *s, int64_t r,        \
                    int64_t pitch, int64_t sq, ravel_ahead next, ravel_flow *out) \
{                                                                                \
    enum { GROUP = RAVEL_GROUP(n) };                                             \
    int64_t i = 0;                                                               \
    for (; i + 64 / n <= r; i += 64 / n) {                                       \
        ravel_fetch(&next, GROUP);                                               \
        ravel_fill_piece##n(to + i * pitch, s + i * n, 32, pitch, sq);           \
        ravel_flow_lines(out, GROUP / 2);                                        \
        ravel_fill_piece##n(to + (i + 2 * m) * pitch, s + i * n + 32, 32, pitch, sq); \
        ravel_flow_lines(out, GROUP / 2);                                        \
    }                                                                            \
    if (i < r)                                                                   \
        ravel_fetch(&next, GROUP);                                               \
    for (; i < r; i += m) {                                                      \
        i = i + m > r ? r - m : i;                                               \
        ravel_fill_piece##n(to + i * pitch, s + i * n, 16, pitch, sq);           \
        ravel_flow_lines(out, GROUP / 4);                                        \
    }                                                                            \
}                                                                                \
/* Transposes r rows of c columns of one side into a buffer while the previous   \
 * block is written; prefetches `ahead` rows from `next` on. */                  \
RAVEL_INLINE void                                                                \
ravel_fill_side##n(unsigned char *to, const unsigned char *s, int64_t r, int64_t c, \
                   int64_t pitch, int64_t sq, const unsigned char *next,         \
                   int64_t ahead, ravel_flow *out)                               \
{                                                                                \
    enum { GROUP = RAVEL_GROUP(n) };                                             \
    if (c < GROUP)                                                               \
        ravel_strips##n(to, s, r, 0, c, pitch, sq);                              \
    for (int64_t k = 0; k < c && c >= GROUP; k += GROUP) {                       \
        k = k + GROUP > c ? c - GROUP : k;                                       \
        const int64_t left = c - k - GROUP, many = left > 0 ? left : ahead;      \
        const ravel_ahead soon = {left > 0 ? s + (k + GROUP) * sq : next, sq, r * n, 0, \
                                  many < GROUP ? many : GROUP};                  \
        ravel_fill_group##n(to + k * n, s + k * sq, r, pitch, sq, soon, out);    \
    }                                                                            \
}                                                                                \
/* Transposes block t into a buffer; `next` is the block after it. */            \
RAVEL_INLINE void                                                                \
ravel_fill_block##n(unsigned char *to, const unsigned char *s, const ravel_work *all, \
                    const ravel_part *t, int64_t pitch, const ravel_part *next,  \
                    ravel_flow *out)                                             \
{                                                                                \
    const int64_t each = all->each < t->c ? all->each : t->c;                    \
    for (int64_t q = 0; q < t->c; q += each) {                                   \
        const int more = q + each < t->c;                                        \
        const ravel_part at = {t->b, t->p, t->q + q, t->r, each};                \
        const ravel_part then = {t->b, t->p, t->q + q + each, t->r, each};       \
        ravel_fill_side##n(to + q * n, s + ravel_part_from(all, &at, n), t->r, each, \
                           pitch, all->sq,                                       \
                           s + ravel_part_from(all, more ? &then : next, n),     \
                           more ? each : next->c, out);                          \
    }                                                                            \
    ravel_flow_lines(out, INT64_MAX);                                            \
}                                                                                \
/* Transposes through two buffers: one is filled while the other is written.  If \
 * the planes are contiguous in the source, they are processed as one plane.  If \
 * the rows are contiguous in the destination, a block is written as one run.  A row \
 * of a buffer is preceded by space for an incomplete cache line.  With several  \
 * sides a block has at most C + C / 3 columns, and fewer rows. */               \
RAVEL_FRAME static void                                                          \
ravel_staged##n(unsigned char *d, const unsigned char *s, int64_t planes,        \
                int64_t sides, int64_t rows, int64_t cols, int64_t dn, int64_t sn, \
                int64_t so, int64_t dp, int64_t sq)                              \
{                                                                                \
    enum { C = RAVEL_WIDE(n), R = RAVEL_TALL(n), ROOM = R * (C * n + 192) };     \
    unsigned char room[2][ROOM + 128];                                           \
    const int64_t all = sides * cols, jump = dn - rows * dp;                     \
    const int64_t most = sides == 1 ? C : (C + cols / 2) / cols * cols;          \
    const int64_t wide = all < most ? all : most;                                \
    const int lines = ((uintptr_t)d | (uintptr_t)dp | (uintptr_t)(planes > 1 ? dn : 0) | \
                       (uintptr_t)(wide < all ? wide * n : 0)) % 64 == 0;        \
    const int one = sn == rows * n && jump % 64 == 0;                            \
    const int run = dp == all * n && wide == all && !(one && jump) && !lines;    \
    const int64_t across = lines ? (wide * n + 64) / 64 | 1 : (wide * n + 128) / 64; \
    const int64_t pitch = run ? dp : across * 64 + (dp & 63);                    \
    const int64_t tall = ROOM / pitch < R || run ? ROOM / pitch : R;             \
    const ravel_work work = {one ? 1 : planes, one ? planes * rows : rows, all, cols, \
                             tall - tall % (64 / n), wide, sn, so, sq, lines};   \
    ravel_part t = {0, 0, 0, 0, 0}, now;                                         \
    ravel_flow out = {.rows = 0};                                                \
    unsigned char *to = d, *buffer = RAVEL_ROOM(room[0], d);                     \
    ravel_part_size(&work, &t, m);                                               \
    for (int k = 1, more = 1; more; k ^= 1) {                                    \
        now = t;                                                                 \
        more = ravel_part_next(&work, &t, m);                                    \
        t.c = more ? t.c : 0;                                                    \
        unsigned char *then = d + t.b * dn + t.p * dp + t.p / rows * jump + t.q * n; \
        unsigned char *other = RAVEL_ROOM(room[k], then);                        \
        ravel_fill_block##n(buffer, s, &work, &now, pitch, &t, &out);            \
        if (run)                                                                 \
            out = (ravel_flow){to, buffer, other, 1, now.r * dp, 0, 0, 1, 1, 0, 0, 0, \
                               now.p == 0, now.p + now.r == work.rows};          \
        else                                                                     \
            out = (ravel_flow){to, buffer, other, now.r, now.c * n, dp, pitch,   \
                               rows - now.p % rows, rows, jump, 0, 0,            \
                               lines || now.q == 0, lines || now.q + now.c == all}; \
        ravel_flow_row(&out);                                                    \
        to = then;                                                               \
        buffer = other;                                                          \
    }                                                                            \
    ravel_flow_lines(&out, INT64_MAX);                                           \
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
    ravel_strips##n(d, s, rows, q, cols, dp, sq);                                \
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
}                                                                                \
static void                                                                      \
ravel_staged##n(unsigned char *d, const unsigned char *s, int64_t planes,        \
                int64_t sides, int64_t rows, int64_t cols, int64_t dn, int64_t sn, \
                int64_t so, int64_t dp, int64_t sq)                              \
{                                                                                \
    for (int64_t b = 0; b < planes; b++)                                         \
        for (int64_t o = 0; o < sides; o++)                                      \
            ravel_plane##n(d + b * dn + o * cols * n, s + b * sn + o * so, rows, \
                           cols, dp, sq, 0, 0);                                  \
}
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
/* The kernel for elements of n bytes; m = 16 / n. */
#define RAVEL_TRANSPOSE(n, m)                                                    \
RAVEL_FEW(n)                                                                     \
RAVEL_BLOCKS(n, m)                                                               \
static void                                                                      \
ravel_transpose##n(unsigned char *d, const unsigned char *s, int64_t planes,     \
                   int64_t sides, int64_t rows, int64_t cols, int64_t dn,        \
                   int64_t sn, int64_t so, int64_t dp, int64_t sq,               \
                   int64_t stream, int64_t ahead)                                \
{                                                                                \
    if (sides == 1 && planes > 1 && dn == cols * n) {                            \
        sides = planes;                                                          \
        so = sn;                                                                 \
        planes = 1;                                                              \
        dn = sn = 0;                                                             \
    }                                                                            \
    if (stream && ((sides > 1 && dp == sides * cols * n) ||                      \
                   ((uintptr_t)d | (uintptr_t)dp | (planes > 1 ? (uintptr_t)dn : 0) | \
                    (sides > 1 ? (uintptr_t)(cols * n) : 0)) % 64))              \
        stream = 2;                                                              \
    const int buffers = stream == 2 && rows >= m && cols >= m;                   \
    if (buffers && (sides == 1 || cols <= RAVEL_WIDE(n))) {                      \
        ravel_staged##n(d, s, planes, sides, rows, cols, dn, sn, so, dp, sq);    \
        return;                                                                  \
    }                                                                            \
    for (int64_t o = 0; o < sides; o++)                                          \
        if (buffers)                                                             \
            ravel_staged##n(d + o * cols * n, s + o * so, planes, 1, rows, cols, dn, \
                            sn, so, dp, sq);                                     \
        else                                                                     \
            for (int64_t b = 0; b < planes; b++)                                 \
                ravel_plane##n(d + o * cols * n + b * dn, s + o * so + b * sn, rows, \
                               cols, dp, sq, stream, ahead);                     \
}
