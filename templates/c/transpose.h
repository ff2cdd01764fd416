/* Planes, b < planes of them:  d[b*dn + p*dp + q*size] = s[b*sn + p*size + q*sq]  for
 * p < rows, q < cols.  Four lanes of blocks make a line of 64 bytes, written whole.  The
 * walk is along the rows of the source, with prefetches `ahead` bytes on where that is not
 * 0.  Edges overlap what is done.  `stream`: 1, lines go past the caches, if they are
 * aligned; 2, they do by way of a buffer that gathers a piece of each row of the
 * destination: for rows that are not aligned, and rows whole pages apart, which share few
 * banks of the memory and few sets of the cache. */
enum { RAVEL_BUFFER = 32768 };
#ifndef RAVEL_PLAIN
/* Rows of the source that are read side by side on their way to a buffer: few enough for
 * the processor to follow. */
#define RAVEL_GROUP(n) ((n) == 1 ? 16 : 8)
/* A frame of its own, as small calls have no need of the buffers. */
#define RAVEL_FRAME __attribute__((noinline))
/* All rows of a line of columns, of w lanes at a time. */
#define RAVEL_LINES(n, m, w)                                                     \
RAVEL_INLINE void                                                                \
ravel_lines##n(unsigned char *d, const unsigned char *s, int64_t rows,           \
               int64_t dp, int64_t sq, int64_t stream, int64_t ahead)            \
{                                                                                \
    ravel_walk##n##x##w(d, s, rows, 4 / w, dp, sq, stream, ahead);               \
}                                                                                \
/* The columns from q on, strips of at most w lanes. */                          \
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
/* r rows of c columns into a buffer, the rows of the source fetched before use. */ \
RAVEL_INLINE void                                                                \
ravel_fill_buffer##n(unsigned char *buffer, const unsigned char *s, int64_t r,   \
                     int64_t c, int64_t pitch, int64_t sq)                       \
{                                                                                \
    enum { STEP = 8 > m ? 8 : m };                                               \
    for (int64_t k = 0; k < c; k += STEP) {                                      \
        const int64_t end = k + STEP < c ? k + STEP : c;                         \
        for (int64_t i = end; i < end + STEP && i < c; i++)                      \
            for (int64_t j = 0; j < r * n; j += 64)                              \
                RAVEL_PREFETCH(s + i * sq + j);                                  \
        ravel_strips##n(buffer, s, r, k, end, pitch, sq);                        \
    }                                                                            \
}                                                                                \
/* The planes' rows touch: the destination is one run. */                        \
RAVEL_FRAME static void                                                          \
ravel_staged_run##n(unsigned char *d, const unsigned char *s, int64_t rows,      \
                    int64_t cols, int64_t sq, const unsigned char *then)         \
{                                                                                \
    unsigned char buffer[RAVEL_BUFFER];                                          \
    const int64_t run = cols * n, most = RAVEL_BUFFER / run;                     \
    if (rows < m || cols < m)        /* never, which not every compiler sees */  \
        return;                                                                  \
    for (int64_t p = 0, r; p < rows; p += r) {                                   \
        r = rows - p < most ? rows - p : most;                                   \
        r = rows - p - r < m && rows - p > r ? r - m : r;                        \
        ravel_fill_buffer##n(buffer, s + p * n, r, cols, run, sq);               \
        ravel_ahead next = {s + (p + r) * n, sq, r * n, 0, cols};                \
        if (p + r == rows)                                                       \
            next.s = then;                                                       \
        for (int64_t i = 0; i < r * run; i += 512) {                             \
            const int64_t bytes = r * run - i < 512 ? r * run - i : 512;         \
            ravel_fetch(&next, 9);                                               \
            ravel_stream_run(d + p * run + i, buffer + i, bytes);                \
        }                                                                        \
    }                                                                            \
}                                                                                \
/* Rows of all planes, side by side in the destination: together they are one run of it. \
 * In the source the planes of the next call may follow, and are fetched. */     \
RAVEL_FRAME static void                                                          \
ravel_staged_planes##n(unsigned char *d, const unsigned char *s, int64_t planes, \
                       int64_t rows, int64_t cols, int64_t sn, int64_t sq)       \
{                                                                                \
    unsigned char buffer[RAVEL_BUFFER];                                          \
    const int64_t run = planes * cols * n, bytes = rows * run;                   \
    ravel_ahead next = {s + planes * sn, sq, planes * sn, 0, sn == rows * n ? cols : 0}; \
    if (rows < m || cols < m)        /* never, which not every compiler sees */  \
        return;                                                                  \
    for (int64_t b = 0; b < planes; b++)                                         \
        ravel_strips##n(buffer + b * cols * n, s + b * sn, rows, 0, cols, run, sq); \
    for (int64_t i = 0; i < bytes; i += 512) {                                   \
        ravel_fetch(&next, 9);                                                   \
        ravel_stream_run(d + i, buffer + i, bytes - i < 512 ? bytes - i : 512);  \
    }                                                                            \
}                                                                                \
/* `of` bytes, 16 or 32, of each of GROUP rows into a buffer. */                 \
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
/* GROUP rows of the source into a buffer, a line of each at a time.  The rows that are \
 * next are fetched meanwhile, one after another, as lines of one row lie in one bank of \
 * the memory; and what the other buffer holds goes out, a line for a line: a processor \
 * then waits for reads and writes at once. */                                   \
RAVEL_INLINE void                                                                \
ravel_fill_group##n(unsigned char *to, const unsigned char *s, int64_t r,        \
                    int64_t pitch, int64_t sq, ravel_ahead next, ravel_flow *out)\
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
/* A block, while the one before goes out; `ahead` rows of the next are fetched. */ \
RAVEL_INLINE void                                                                \
ravel_fill_block##n(unsigned char *to, const unsigned char *s,                   \
                    const ravel_part *t, int64_t pitch, int64_t sq,              \
                    const unsigned char *next, int64_t ahead, ravel_flow *out)   \
{                                                                                \
    enum { GROUP = RAVEL_GROUP(n) };                                             \
    if (t->c < GROUP)                                                            \
        ravel_strips##n(to, s, t->r, 0, t->c, pitch, sq);                        \
    for (int64_t k = 0; k < t->c && t->c >= GROUP; k += GROUP) {                 \
        k = k + GROUP > t->c ? t->c - GROUP : k;                                 \
        const int64_t left = t->c - k - GROUP, many = left > 0 ? left : ahead;   \
        const ravel_ahead soon = {left > 0 ? s + (k + GROUP) * sq : next, sq,    \
                                  t->r * n, 0, many < GROUP ? many : GROUP};     \
        ravel_fill_group##n(to + k * n, s + k * sq, t->r, pitch, sq, soon, out); \
    }                                                                            \
    ravel_flow_lines(out, INT64_MAX);                                            \
}                                                                                \
/* Rows at any distance, through two buffers: one is filled while the other goes out. \
 * Planes one after another in the source are one plane, whose rows jump. */     \
RAVEL_FRAME static void                                                          \
ravel_staged##n(unsigned char *d, const unsigned char *s, int64_t planes,        \
                int64_t rows, int64_t cols, int64_t dn, int64_t sn, int64_t dp,  \
                int64_t sq)                                                      \
{                                                                                \
    enum { R = n == 1 ? 256 : n == 2 ? 128 : 512 / n,                            \
           C = n == 1 ? 256 : 512 / n };                                         \
    unsigned char room[2][R * (C * n + 192) + 128], *base[2];                    \
    const int lines = ((uintptr_t)d | (uintptr_t)dp |                            \
                       (uintptr_t)(planes > 1 ? dn : 0)) % 64 == 0;              \
    const int64_t pitch = C * n + (lines ? 64 : 128) + (dp & 63);                \
    const int64_t jump = dn - rows * dp;                                         \
    const int one = sn == rows * n && jump % 64 == 0;                            \
    const ravel_work work = {one ? 1 : planes, one ? planes * rows : rows,       \
                             cols, lines};                                       \
    ravel_part t = {0, 0, 0, 0, 0}, now;                                         \
    ravel_flow out = {.rows = 0};                                                \
    int more = 1;                                                                \
    ravel_part_size(&work, &t, R, C, m);                                         \
    for (int k = 0; more; k ^= 1) {                                              \
        now = t;                                                                 \
        unsigned char *to = d + t.b * dn + t.p * dp + t.p / rows * jump + t.q * n; \
        const unsigned char *from = s + t.b * sn + t.p * n + t.q * sq;           \
        for (int i = 0; i < 2; i++)                                              \
            base[i] = room[i] + 64 + (((uintptr_t)to - (uintptr_t)room[i]) & 63);\
        more = ravel_part_next(&work, &t, R, C, m);                              \
        ravel_fill_block##n(base[k], from, &now, pitch, sq,                      \
                            s + t.b * sn + t.p * n + t.q * sq, more ? t.c : 0, &out); \
        out = (ravel_flow){to, base[k], base[!k], now.r, now.c * n, dp, pitch,   \
                           rows - now.p % rows, rows, jump, 0, 0,                \
                           lines || now.q == 0, lines || now.q + now.c == cols}; \
        ravel_flow_row(&out);                                                    \
    }                                                                            \
    ravel_flow_lines(&out, INT64_MAX);                                           \
}                                                                                \
static void                                                                      \
ravel_plane##n(unsigned char *d, const unsigned char *s, int64_t rows,           \
               int64_t cols, int64_t dp, int64_t sq, int64_t stream,             \
               int64_t ahead, const unsigned char *then)                         \
{                                                                                \
    int64_t q = 0;                                                               \
    if (rows < m || cols < m) {                                                  \
        ravel_few##n(d, s, rows, cols, dp, sq);                                  \
        return;                                                                  \
    }                                                                            \
    if (stream == 2 && dp == cols * n && dp <= 512) {                            \
        ravel_staged_run##n(d, s, rows, cols, sq, then);                         \
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
               int64_t ahead, const unsigned char *then)                         \
{                                                                                \
    (void)then;                                                                  \
    (void)stream;                                                                \
    (void)ahead;                                                                 \
    for (int64_t p = 0; p < rows; p += 64 / n)                                   \
        for (int64_t q = 0; q < cols; q += 64 / n)                               \
            ravel_few##n(d + p * dp + q * n, s + p * n + q * sq,                 \
                         rows - p < 64 / n ? rows - p : 64 / n,                  \
                         cols - q < 64 / n ? cols - q : 64 / n, dp, sq);         \
}                                                                                \
static void                                                                      \
ravel_staged_planes##n(unsigned char *d, const unsigned char *s, int64_t planes, \
                       int64_t rows, int64_t cols, int64_t sn, int64_t sq)       \
{                                                                                \
    for (int64_t b = 0; b < planes; b++)                                         \
        ravel_few##n(d + b * cols * n, s + b * sn, rows, cols, planes * cols * n, sq); \
}                                                                                \
static void                                                                      \
ravel_staged##n(unsigned char *d, const unsigned char *s, int64_t planes,        \
                int64_t rows, int64_t cols, int64_t dn, int64_t sn, int64_t dp,  \
                int64_t sq)                                                      \
{                                                                                \
    for (int64_t b = 0; b < planes; b++)                                         \
        ravel_plane##n(d + b * dn, s + b * sn, rows, cols, dp, sq, 0, 0, s);     \
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
/* The kernel of elements of n bytes, m of them 16 bytes. */
#define RAVEL_TRANSPOSE(n, m)                                                    \
RAVEL_FEW(n)                                                                     \
RAVEL_BLOCKS(n, m)                                                               \
static void                                                                      \
ravel_transpose##n(unsigned char *d, const unsigned char *s, int64_t planes,     \
                   int64_t rows, int64_t cols, int64_t dn, int64_t sn,           \
                   int64_t dp, int64_t sq, int64_t stream, int64_t ahead)        \
{                                                                                \
    if (stream && planes > 1 && dn == cols * n && dp == planes * dn &&           \
        rows * dp <= RAVEL_BUFFER && rows >= m && cols >= m) {                   \
        ravel_staged_planes##n(d, s, planes, rows, cols, sn, sq);                \
        return;                                                                  \
    }                                                                            \
    if (stream == 1 &&                                                           \
        ((uintptr_t)d | (uintptr_t)dp | (planes > 1 ? (uintptr_t)dn : 0)) % 64)  \
        stream = 2;                                                              \
    if (stream == 2 && rows >= m && cols >= m && (dp != cols * n || dp > 512)) { \
        ravel_staged##n(d, s, planes, rows, cols, dn, sn, dp, sq);               \
        return;                                                                  \
    }                                                                            \
    for (int64_t b = 0; b < planes; b++)                                         \
        ravel_plane##n(d + b * dn, s + b * sn, rows, cols, dp, sq, stream,       \
                       ahead, s + (b + 1 < planes ? b + 1 : b) * sn);            \
}
