/* Transposes `planes` planes, each of `sides` matrices of rows x cols elements of ${size}
 * bytes, whose columns follow one another in the destination:
 *     d[b*dn + p*dp + (o*cols + q)*size] = s[b*sn + o*so + p*size + q*sq]
 * for b < planes, o < sides, p < rows, q < cols; each of the four is at least 1.  Columns of
 * four lanes fill a line, which is written whole; `ahead` bytes of a row of the source are
 * prefetched.  `stream`: 1, non-temporal stores of aligned lines; 2, the same through a buffer
 * of parts of rows of the destination that are not aligned or whole pages apart. */
static void
ravel_few${size}(unsigned char *d, const unsigned char *s, int64_t rows, int64_t cols,
                 int64_t dp, int64_t sq)
{
    for (int64_t p = 0; p < rows; p++)
        for (int64_t q = 0; q < cols; q++)
            memcpy(d + p * dp + q * ${size}, s + p * ${size} + q * sq, ${size});
}

#ifndef RAVEL_PLAIN
#ifndef RAVEL_WITHOUT_STREAM${size}
/* The rows of the source that are read in parallel into a buffer: as many streams as the
 * hardware prefetcher follows. */
enum { RAVEL_GROUP${size} = ${size} == 1 ? 16 : 8 };

/* Reads 16 or 64 bytes of each row of a group into a buffer. */
RAVEL_INLINE void
ravel_fill_piece${size}(unsigned char *to, const unsigned char *s, int64_t bytes,
                        int64_t pitch, int64_t sq)
{
    enum { M = ${each}, GROUP = RAVEL_GROUP${size}, TALL = 16 * RAVEL_PAIR };
    const int whole = RAVEL_LANES > 1 && GROUP % (M * RAVEL_LANES) == 0;
    for (int64_t p = 0; p < bytes / ${size} && whole; p += M)
        ravel_patch${size}(to + p * pitch, s + p * ${size}, GROUP, pitch, sq);
    for (int64_t k = 0; k < GROUP && !whole; k += M) {
        for (int64_t b = 0; b + TALL <= bytes; b += TALL)
            ravel_tall${size}(to + b / ${size} * pitch + k * ${size}, s + b + k * sq, pitch,
                              sq);
        if (bytes < TALL)
            ravel_lone${size}(to + k * ${size}, s + k * sq, pitch, sq);
    }
}

/* Reads the rows of a group into a buffer, a line of each at a time.  Meanwhile it
 * prefetches the next rows, one after another, because the lines of a row are in one bank of
 * the memory, and writes a line of the other buffer for each line that it reads: reads and
 * writes are then outstanding at the same time. */
RAVEL_INLINE void
ravel_fill_group${size}(unsigned char *to, const unsigned char *s, int64_t r, int64_t pitch,
                        int64_t sq, ravel_ahead next, ravel_flow *out)
{
    enum { M = ${each}, GROUP = RAVEL_GROUP${size}, LINE = RAVEL_LINE_OF(${size}) };
    int64_t i = 0;
    for (; i + LINE <= r; i += LINE) {
        ravel_fetch(&next, GROUP);
        ravel_fill_piece${size}(to + i * pitch, s + i * ${size}, RAVEL_LINE, pitch, sq);
        ravel_flow_lines(out, GROUP);
    }
    if (i < r)
        ravel_fetch(&next, GROUP);
    for (; i < r; i += M) {
        i = i + M > r ? r - M : i;
        ravel_fill_piece${size}(to + i * pitch, s + i * ${size}, 16, pitch, sq);
        ravel_flow_lines(out, GROUP / 4);
    }
}

/* Reads r rows of c columns of one matrix and writes the block before it; prefetches
 * `ahead` rows of the next one. */
RAVEL_INLINE void
ravel_fill_side${size}(unsigned char *to, const unsigned char *s, int64_t r, int64_t c,
                       int64_t pitch, int64_t sq, const unsigned char *next, int64_t ahead,
                       ravel_flow *out)
{
    enum { GROUP = RAVEL_GROUP${size} };
    if (c < GROUP)
        ravel_strips${size}(to, s, r, 0, c, pitch, sq);
    for (int64_t k = 0; k < c && c >= GROUP; k += GROUP) {
        k = k + GROUP > c ? c - GROUP : k;
        const int64_t left = c - k - GROUP, many = left > 0 ? left : ahead;
        const ravel_ahead soon = {left > 0 ? s + (k + GROUP) * sq : next, sq, r * ${size}, 0,
                                  many < GROUP ? many : (int64_t)GROUP};
        ravel_fill_group${size}(to + k * ${size}, s + k * sq, r, pitch, sq, soon, out);
    }
}

/* Reads block t; `next` is the block after it. */
RAVEL_INLINE void
ravel_fill_block${size}(unsigned char *to, const unsigned char *s, const ravel_work *all,
                        const ravel_part *t, int64_t pitch, const ravel_part *next,
                        ravel_flow *out)
{
    const int64_t each = all->each < t->c ? all->each : t->c;
    for (int64_t q = 0; q < t->c; q += each) {
        const int more = q + each < t->c;
        const ravel_part at = {t->b, t->p, t->q + q, t->r, each};
        const ravel_part then = {t->b, t->p, t->q + q + each, t->r, each};
        ravel_fill_side${size}(to + q * ${size}, s + ravel_part_from(all, &at, ${size}), t->r,
                               each, pitch, all->sq,
                               s + ravel_part_from(all, more ? &then : next, ${size}),
                               more ? each : next->c, out);
    }
    ravel_flow_lines(out, INT64_MAX);
}

/* The columns of a block. */
RAVEL_INLINE int64_t
ravel_staged_wide${size}(int64_t sides, int64_t cols)
{
    enum { N = ${size} };
    const int64_t most = sides == 1 ? (int64_t)RAVEL_WIDE(N) : RAVEL_TOGETHER(cols, N) * cols;
    return sides * cols < most ? sides * cols : most;
}

/* Transposes rows at any distance through two buffers: one is filled while the other is
 * written.  Planes that are contiguous in the source are one plane, whose rows have a gap.
 * Rows that are contiguous in the destination are one run.  A row of a buffer has room for
 * a line before it, which holds bytes that do not fill a line yet.  The columns of several
 * matrices are at most a third more than C, and such blocks have fewer rows. */
RAVEL_FRAME static void
ravel_staged${size}(unsigned char *d, const unsigned char *s, int64_t planes, int64_t sides,
                    int64_t rows, int64_t cols, int64_t dn, int64_t sn, int64_t so,
                    int64_t dp, int64_t sq)
{
    enum { N = ${size}, M = ${each}, C = RAVEL_WIDE(N), R = RAVEL_TALL(N),
           ROOM = R * (C * N + 3 * RAVEL_LINE) };
    unsigned char room[2][ROOM + 2 * RAVEL_LINE];
    const int64_t all = sides * cols, jump = dn - rows * dp;
    const int64_t wide = ravel_staged_wide${size}(sides, cols);
    const int lines = ((uintptr_t)d | (uintptr_t)dp | (uintptr_t)(planes > 1 ? dn : 0) |
                       (uintptr_t)(wide < all ? wide * N : 0)) % RAVEL_LINE == 0;
    const int one = sn == rows * N && jump % RAVEL_LINE == 0;
    const int run = dp == all * N && wide == all && !(one && jump) && !lines;
    const int64_t pitch = run ? dp : ravel_staged_pitch(wide * N, dp, lines);
    const int64_t tall = ROOM / pitch < R || run ? ROOM / pitch : (int64_t)R;
    const ravel_work work = {one ? 1 : planes, one ? planes * rows : rows, all, cols,
                             tall - tall % RAVEL_LINE_OF(N), wide, sn, so, sq, lines};
    ravel_part t = {0, 0, 0, 0, 0}, now;
    ravel_flow out;
    out.rows = 0;
    unsigned char *to = d, *buffer = RAVEL_ROOM(room[0], d);
    ravel_part_size(&work, &t, M);
    for (int k = 1, more = 1; more; k ^= 1) {
        now = t;
        more = ravel_part_next(&work, &t, M);
        t.c = more ? t.c : 0;
        unsigned char *then = d + t.b * dn + t.p * dp + t.p / rows * jump + t.q * N;
        unsigned char *other = RAVEL_ROOM(room[k], then);
        ravel_fill_block${size}(buffer, s, &work, &now, pitch, &t, &out);
        out = ravel_staged_flow(to, buffer, other, &work, &now, rows, dp, jump, pitch, run, N);
        ravel_flow_row(&out);
        to = then;
        buffer = other;
    }
    ravel_flow_lines(&out, INT64_MAX);
}
#endif

/* Past the caches lines are written whole, so all rows of a line of columns come first. */
static void
ravel_past${size}(unsigned char *d, const unsigned char *s, int64_t rows, int64_t cols,
                  int64_t dp, int64_t sq, int64_t ahead)
{
    enum { N = ${size}, M = ${each} };
    int64_t q = 0;
    for (; q + 4 * M <= cols; q += 4 * M)
        ravel_walk${size}(d + q * N, s + q * sq, rows, 4 / RAVEL_LANES, dp, sq, 1, ahead);
#ifndef RAVEL_WITHOUT_EDGES${size}
    ravel_strips${size}(d, s, rows, q, cols, dp, sq);
#endif
}

/* Ordinary stores go to a few rows at a time: the first cache holds lines written in part. */
static void
ravel_plane${size}(unsigned char *d, const unsigned char *s, int64_t rows, int64_t cols,
                   int64_t dp, int64_t sq, int64_t stream, int64_t ahead)
{
    enum { N = ${size}, M = ${each}, SIDE = 4 / RAVEL_LANES, NEAR = RAVEL_NEAR_ROWS(N) };
    (void)stream;
    if (rows < M || cols < M) {
        ravel_few${size}(d, s, rows, cols, dp, sq);
        return;
    }
#ifndef RAVEL_WITHOUT_PAGES${size}
    if (sq % (RAVEL_PAGE * N) == 0 && rows >= RAVEL_LINE_OF(N)) {
        ravel_by_pages${size}(d, s, rows, cols, dp, sq, stream, ahead);
        return;
    }
#endif
#ifndef RAVEL_WITHOUT_STREAM${size}
    if (stream) {
        ravel_past${size}(d, s, rows, cols, dp, sq, ahead);
        return;
    }
#endif
    for (int64_t p = 0, r, q; p < rows; p += r, d += r * dp, s += r * N) {
        r = rows - p < NEAR + M ? rows - p : (int64_t)NEAR;
        for (q = 0; q + 4 * M <= cols; q += 4 * M)
            ravel_walk${size}(d + q * N, s + q * sq, r, SIDE, dp, sq, 0, ahead);
#ifndef RAVEL_WITHOUT_EDGES${size}
        ravel_strips${size}(d, s, r, q, cols, dp, sq);
#endif
    }
}
#else
static void
ravel_plane${size}(unsigned char *d, const unsigned char *s, int64_t rows, int64_t cols,
                   int64_t dp, int64_t sq, int64_t stream, int64_t ahead)
{
    const int64_t n = ${size}, line = RAVEL_LINE_OF(${size});
    (void)stream, (void)ahead;
    for (int64_t p = 0; p < rows; p += line)
        for (int64_t q = 0; q < cols; q += line)
            ravel_few${size}(d + p * dp + q * n, s + p * n + q * sq,
                             rows - p < line ? rows - p : line,
                             cols - q < line ? cols - q : line, dp, sq);
}

#ifndef RAVEL_WITHOUT_STREAM${size}
static void
ravel_staged${size}(unsigned char *d, const unsigned char *s, int64_t planes, int64_t sides,
                    int64_t rows, int64_t cols, int64_t dn, int64_t sn, int64_t so,
                    int64_t dp, int64_t sq)
{
    for (int64_t b = 0; b < planes; b++)
        for (int64_t o = 0; o < sides; o++)
            ravel_plane${size}(d + b * dn + o * cols * ${size}, s + b * sn + o * so, rows,
                               cols, dp, sq, 0, 0);
}
#endif
#endif

static void
ravel_transpose${size}(unsigned char *d, const unsigned char *s, int64_t planes,
                       int64_t sides, int64_t rows, int64_t cols, int64_t dn, int64_t sn,
                       int64_t so, int64_t dp, int64_t sq, int64_t stream, int64_t ahead)
{
    enum { N = ${size}, M = ${each} };
    if (sides == 1 && planes > 1 && dn == cols * N) {
        sides = planes;
        so = sn;
        planes = 1;
        dn = sn = 0;
    }
#ifndef RAVEL_WITHOUT_STREAM${size}
    if (stream && ((sides > 1 && dp == sides * cols * N) ||
                   ((uintptr_t)d | (uintptr_t)dp | (planes > 1 ? (uintptr_t)dn : 0) |
                    (sides > 1 ? (uintptr_t)(cols * N) : 0)) % RAVEL_LINE))
        stream = 2;
    const int buffers = stream == 2 && rows >= M && cols >= M;
    if (buffers && (sides == 1 || cols <= RAVEL_WIDE(N))) {
        ravel_staged${size}(d, s, planes, sides, rows, cols, dn, sn, so, dp, sq);
        return;
    }
    for (int64_t o = 0; o < sides && buffers; o++)
        ravel_staged${size}(d + o * cols * N, s + o * so, planes, 1, rows, cols, dn, sn, so,
                            dp, sq);
    if (buffers)
        return;
#endif
    for (int64_t o = 0; o < sides; o++)
        for (int64_t b = 0; b < planes; b++)
            ravel_plane${size}(d + o * cols * N + b * dn, s + o * so + b * sn, rows, cols, dp,
                               sq, stream, ahead);
}
