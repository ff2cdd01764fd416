/* The tiles of a call: batches, columns and rows, in chunks; the last chunk may overlap the
 * one before.  The table has words of 4 bytes, offsets in bytes:
 *      rows, columns, batches of a tile; contiguous bytes; rows and columns of a block;
 *      number of blocks; number of runs of the destination, 0 without a buffer; bytes of
 *      one; distance of runs in the buffer; number of runs of the source; bytes of one; the
 *      end of the source;
 *      the offset of each row in the destination; of each column in the source; of each
 *      block in both; of each run of the destination; of each run of the source. */
enum { RAVEL_T_ROW, RAVEL_T_COL, RAVEL_T_BATCH, RAVEL_T_KEPT, RAVEL_T_ROWS, RAVEL_T_COLS,
       RAVEL_T_BLOCKS, RAVEL_T_RUNS, RAVEL_T_BYTES, RAVEL_T_PITCH, RAVEL_T_FROM,
       RAVEL_T_FROM_BYTES, RAVEL_T_END };

/* A loop of the call: how many iterations, of one tile; steps in bytes. */
typedef struct {
    int64_t n, chunk, dp, sp, at;
} ravel_tile_loop;
typedef struct {
    ravel_tile_loop loop[3];
    unsigned char *d;
    const unsigned char *s;
} ravel_tiles;

/* The next tile, rows first; whether there is one. */
static inline int
ravel_tiles_next(ravel_tiles *t)
{
    for (int i = 0; i < 3; i++) {
        ravel_tile_loop *const l = &t->loop[i];
        const int64_t was = l->at, last = l->n - l->chunk;
        l->at = was == last ? 0 : was + l->chunk < last ? was + l->chunk : last;
        t->d += (l->at - was) * l->dp;
        t->s += (l->at - was) * l->sp;
        if (l->at)
            return 1;
    }
    return 0;
}

/* Lines of the source of a tile, to be fetched. */
typedef struct {
    const unsigned char *s;
    const int32_t *run;
    int64_t runs, bytes, at;
} ravel_soon;

static inline void
ravel_soon_fetch(ravel_soon *a, int64_t lines)
{
    for (; lines > 0 && a->runs > 0; lines--) {
        RAVEL_PREFETCH(a->s + a->run[0] + a->at);
        a->at += 64;
        if (a->at >= a->bytes) {
            RAVEL_PREFETCH(a->s + a->run[0] + a->bytes - 1);
            a->at = 0;
            a->run++;
            a->runs--;
        }
    }
}

/* The lines to prefetch in each step, for half of all lines in `steps` steps. */
static inline int64_t
ravel_soon_share(const ravel_soon *a, int64_t steps)
{
    return (a->runs * (a->bytes / 64 + 1) / 2 + steps - 1) / steps;
}

/* A run from the buffer, past the caches where `stream` says so. */
static inline void
ravel_tile_run(unsigned char *d, const unsigned char *s, int64_t bytes, int64_t stream,
               ravel_soon *soon)
{
    int64_t head = (int64_t)(-(uintptr_t)d & 63);
    head = head < bytes ? head : bytes;
    if (!stream || bytes < 64) {
        ravel_move(d, s, bytes);
        ravel_soon_fetch(soon, (bytes + 127) / 128);
        return;
    }
    const int64_t end = head + (bytes - head) / 64 * 64;
    ravel_move(d, s, head);
    for (int64_t i = head; i < end; i += 64) {
        ravel_stream_line(d + i, s + i);
        if (i & 64)
            ravel_soon_fetch(soon, 1);
    }
    ravel_move(d + end, s + end, bytes - end);
}

static inline void
ravel_tile_flush(unsigned char *d, const unsigned char *buffer, const int32_t *t,
                 const int32_t *run, int64_t stream, ravel_soon *soon)
{
    for (int64_t i = 0; i < t[RAVEL_T_RUNS]; i++)
        ravel_tile_run(d + run[i], buffer + i * t[RAVEL_T_PITCH], t[RAVEL_T_BYTES],
                       stream, soon);
}

typedef void ravel_tile_function(unsigned char *d, const unsigned char *s,
                                 const int32_t *t, ravel_soon *soon);

/* With a buffer; meanwhile prefetches the source of the next tile. */
RAVEL_FRAME static void
ravel_tiles_staged(ravel_tiles *at, const int32_t *t, int64_t stream,
                   ravel_tile_function *tile)
{
    unsigned char room[RAVEL_TILE_BYTES + 128];
    unsigned char *const buffer = room + (-(uintptr_t)room & 63);
    const int32_t *const run = t + RAVEL_TILE_HEAD + t[RAVEL_T_ROWS] + t[RAVEL_T_COLS] +
                               2 * t[RAVEL_T_BLOCKS];
    const int32_t *const from = run + t[RAVEL_T_RUNS];
    for (int more = 1; more;) {
        unsigned char *const d = at->d;
        const unsigned char *const s = at->s;
        more = ravel_tiles_next(at);
        ravel_soon soon = {at->s, from, more ? t[RAVEL_T_FROM] : 0,
                           t[RAVEL_T_FROM_BYTES], 0};
        tile(buffer, s, t, &soon);
        ravel_tile_flush(d, buffer, t, run, stream, &soon);
    }
}

static void
ravel_tiles_run(unsigned char *d, const unsigned char *s, const int32_t *t, int64_t batches,
                int64_t rows, int64_t cols, int64_t dn, int64_t sn, int64_t dp, int64_t sp,
                int64_t dq, int64_t sq, int64_t stream, ravel_tile_function *tile)
{
    ravel_tiles at = {{{rows, t[RAVEL_T_ROW], dp, sp, 0}, {cols, t[RAVEL_T_COL], dq, sq, 0},
                       {batches, t[RAVEL_T_BATCH], dn, sn, 0}}, d, s};
    ravel_soon soon = {s, t, 0, 0, 0};
    if (rows < 1 || cols < 1 || batches < 1)
        return;
    if (t[RAVEL_T_RUNS]) {
        ravel_tiles_staged(&at, t, stream, tile);
        return;
    }
    do
        tile(at.d, at.s, t, &soon);
    while (ravel_tiles_next(&at));
}
