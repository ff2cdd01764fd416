/* Moves blocks through two buffers: while one is filled, the cache lines of the other are written
 * with non-temporal stores, and the source of the next block is prefetched. */
#ifndef RAVEL_PLAIN
/* The start of a buffer at `at`: after a cache line, at the same offset from one as `to`. */
#define RAVEL_ROOM(at, to) ((at) + RAVEL_LINE + ((uintptr_t)(to) - (uintptr_t)(at)) % RAVEL_LINE)

/* What remains to be prefetched: rows of the source, sq bytes apart, of `bytes` bytes; `at`
 * is the offset in the first. */
typedef struct {
    const unsigned char *s;
    int64_t sq, bytes, at, rows;
} ravel_ahead;
RAVEL_CALLED void
ravel_fetch(ravel_ahead *a, int64_t lines)
{
    for (; lines > 0 && a->rows > 0; lines--) {
        RAVEL_PREFETCH(a->s + a->at);
        a->at += RAVEL_LINE;
        if (a->at >= a->bytes) {
            a->at = 0;
            a->s += a->sq;
            a->rows--;
        }
    }
}

/* ravel_work: the planes of a call.  The columns of a plane are those of several sides one
 * after another, `each` of one side.  sn, so and sq are the strides of planes, sides and
 * columns in the source.  A block has at most `tall` rows and `wide` columns.  lines: rows
 * of a block begin and end at cache lines of the destination.
 *
 * ravel_part: a block of r rows and c columns, from row p and column q of plane b on.
 *
 * ravel_flow: the rows of a block that are still in a buffer; `left` of them are of the
 * current plane, and each plane has `plane` of them.  A row of the buffer has the same
 * offset from a cache line as its row of the destination.  If the last line of a row is
 * incomplete, its bytes are put in front of the next block's row in the other buffer. */
typedef struct {
    int64_t planes, rows, cols, each, tall, wide, sn, so, sq;
    int lines;
} ravel_work;
typedef struct {
    int64_t b, p, q, r, c;
} ravel_part;
typedef struct {
    unsigned char *d, *buffer, *other;
    int64_t rows, bytes, dp, pitch, left, plane, jump, at, to;
    int first, last;
} ravel_flow;

/* The distance of the rows of a buffer, each of so many bytes with room for a line before it. */
RAVEL_INLINE int64_t
ravel_staged_pitch(int64_t bytes, int64_t dp, int lines)
{
    const int64_t whole = bytes / RAVEL_LINE, across = lines ? (whole + 1) | 1 : whole + 2;
    return across * RAVEL_LINE + (dp & (RAVEL_LINE - 1));
}

/* How the part of the buffer is written.  `run`: its rows follow one another in the destination;
 * else each of `rows` of a plane is dp bytes after the one before, and `jump` bytes more between
 * planes. */
RAVEL_CALLED ravel_flow
ravel_staged_flow(unsigned char *to, unsigned char *buffer, unsigned char *other,
                  const ravel_work *w, const ravel_part *t, int64_t rows, int64_t dp,
                  int64_t jump, int64_t pitch, int run, int64_t size)
{
    const ravel_flow together = {to, buffer, other, 1, t->r * dp, 0, 0, 1, 1, 0, 0, 0,
                                 t->p == 0, t->p + t->r == w->rows};
    const ravel_flow several = {to, buffer, other, t->r, t->c * size, dp, pitch,
                                rows - t->p % rows, rows, jump, 0, 0,
                                w->lines || t->q == 0, w->lines || t->q + t->c == w->cols};
    return run ? together : several;
}

static inline void
ravel_flow_row(ravel_flow *f)
{
    const int64_t off = (int64_t)((uintptr_t)f->d & (RAVEL_LINE - 1));
    f->at = -off;
    f->to = f->bytes - (int64_t)((uintptr_t)(f->d + f->bytes) & (RAVEL_LINE - 1));
    if (f->first && off) {
        f->at = RAVEL_LINE - off < f->bytes ? RAVEL_LINE - off : f->bytes;
        f->to = f->to < f->at ? f->at : f->to;
        memcpy(f->d, f->buffer, (size_t)f->at);
    }
}

static inline void
ravel_flow_end(ravel_flow *f)
{
    if (f->last)
        memcpy(f->d + f->to, f->buffer + f->to, (size_t)(f->bytes - f->to));
    else if (f->to < f->bytes)
        memcpy(f->other - RAVEL_LINE, f->buffer + f->bytes - RAVEL_LINE, RAVEL_LINE);
    f->d += f->dp;
    if (--f->left == 0) {
        f->left = f->plane;
        f->d += f->jump;
    }
    f->buffer += f->pitch;
    f->other += f->pitch;
    if (--f->rows > 0)
        ravel_flow_row(f);
}

/* Writes at most `lines` cache lines of it. */
RAVEL_CALLED void
ravel_flow_lines(ravel_flow *f, int64_t lines)
{
    if (f->rows > 0 && lines < (f->to - f->at) / RAVEL_LINE) {
        for (int64_t i = 0; i < lines; i++)
            ravel_stream_line(f->d + f->at + RAVEL_LINE * i, f->buffer + f->at + RAVEL_LINE * i);
        f->at += RAVEL_LINE * lines;
        return;
    }
    for (; lines > 0 && f->rows > 0; lines--) {
        if (f->at < f->to) {
            ravel_stream_line(f->d + f->at, f->buffer + f->at);
            f->at += RAVEL_LINE;
        }
        if (f->at >= f->to)
            ravel_flow_end(f);
    }
}

/* The offset of a block in the source, for elements of n bytes. */
static inline int64_t
ravel_part_from(const ravel_work *w, const ravel_part *t, int64_t n)
{
    return t->b * w->sn + t->p * n + t->q / w->each * w->so + t->q % w->each * w->sq;
}

/* Sets the size of a block: at least m elements, which are 16 bytes, in both directions.
 * To avoid a rest of fewer columns a block may exceed `wide`, if there is one side. */
static inline void
ravel_part_size(const ravel_work *w, ravel_part *t, int64_t m)
{
    const int64_t r = w->rows - t->p, c = w->cols - t->q;
    t->r = r <= w->tall ? r : r < w->tall + m ? r - m : w->tall;
    t->c = c < w->wide + m ? c : w->wide;
}

/* Advances to the next block: along the rows of the source or, if rows of the destination
 * do not begin at cache lines, along these.  Returns 0 if there is none. */
RAVEL_CALLED int
ravel_part_next(const ravel_work *w, ravel_part *t, int64_t m)
{
    const int lines = w->lines;
    int64_t *inner = lines ? &t->p : &t->q, *outer = lines ? &t->q : &t->p;
    *inner += lines ? t->r : t->c;
    if (*inner >= (lines ? w->rows : w->cols)) {
        *inner = 0;
        *outer += lines ? t->c : t->r;
        if (*outer >= (lines ? w->cols : w->rows)) {
            *outer = 0;
            t->b++;
        }
    }
    ravel_part_size(w, t, m);
    return t->b < w->planes;
}
#endif
