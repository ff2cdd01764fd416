/* The words of a tile: offsets in bytes of its rows, columns, blocks and runs. */
#include "../../templates/c/composite_size.h"
#include "composite.h"

i64
composite_words(const Composite *c)
{
    return RAVEL_TILE_HEAD + c->side[SRC].count + c->side[DST].count + 2 * c->inner +
           (c->pitch ? c->elements / c->side[DST].run : 0) +
           c->elements / c->side[SRC].run;
}

/* A loop of a list: its iterations; what it moves by in the source, the destination, where
 * the blocks come from and where they go, in bytes.  forward: it moves the source forward. */
typedef struct {
    i64 n, src, dst, from, to;
    bool forward;
} TableWalk;

static bool
is_in(const TileSide *s, int used, int loop)
{
    for (int i = 0; i < used; i++)
        if (s->loop[i] == loop)
            return true;
    return false;
}

/* The tile's loops by rising stride of the destination; runs lie in the buffer one after
 * another. */
static int
walk_of(const Nest *n, const Composite *c, const Atom *scalar, TableWalk *walk, int *loop)
{
    int m = 0;
    i64 to = scalar ? 0 : c->pitch, from = scalar ? 0 : c->from;
    for (int i = 0; i < n->nloops; i++)
        if (c->taken[i] > 1 && i != c->kept_loop) {
            int k = m++;
            for (; k > 0 && n->loop[loop[k - 1]].ds > n->loop[i].ds; k--)
                loop[k] = loop[k - 1];
            loop[k] = i;
        }
    for (int k = 0; k < m; k++) {
        const Loop *l = &n->loop[loop[k]];
        i64 src = table_share(l->ex.ss, scalar) * c->unit;
        i64 dst = table_share(l->ex.ds, scalar) * c->unit;
        bool forward = !ex_is_const(l->ex.ss) || l->ss > 0;
        walk[k] = (TableWalk){c->taken[loop[k]], src, dst, src, dst, forward};
        if (c->pitch && !is_in(&c->side[DST], c->side[DST].n, loop[k])) {
            walk[k].to = to;
            to *= walk[k].n;
        }
        if (c->from && !is_in(&c->side[SRC], c->side[SRC].n, loop[k])) {
            walk[k].from = from;
            walk[k].forward = true;
            from *= walk[k].n;
        }
    }
    return m;
}

/* Every sum of the loops' steps of a kind, the first loop the innermost; `each` words from
 * one to the next. */
enum { STEP_SRC, STEP_DST, STEP_FROM, STEP_TO };
static int32_t *
put_sums(int32_t *out, const TableWalk *w, int m, int kind, int each)
{
    i64 at[MAX_LOOPS] = {0};
    int k = 0;
    do {
        i64 sum = 0;
        for (int i = 0; i < m; i++)
            sum += at[i] * (kind == STEP_SRC ? w[i].src : kind == STEP_DST ? w[i].dst
                            : kind == STEP_FROM ? w[i].from : w[i].to);
        *out = (int32_t)sum;
        out += each;
        for (k = 0; k < m && ++at[k] == w[k].n; k++)
            at[k] = 0;
    } while (k < m);
    return out;
}

/* The loops, of these, that are in a side's first `used`, in that side's order; or that
 * are not. */
static int
choose(const TableWalk *w, const int *loop, int m, const TileSide *s, int used, TableWalk *out)
{
    for (int i = 0; i < used; i++)
        for (int k = 0; k < m; k++)
            if (loop[k] == s->loop[i])
                out[i] = w[k];
    return used;
}

static int
leave(const TableWalk *w, const int *loop, int m, const TileSide *s, int used, TableWalk *out,
      int *of)
{
    int rest = 0;
    for (int k = 0; k < m; k++)
        if (!is_in(s, used, loop[k])) {
            out[rest] = w[k];
            of[rest++] = loop[k];
        }
    return rest;
}

/* The largest offset of a block's source that these loops give. */
static i64
last_of(const TableWalk *w, int m)
{
    i64 last = 0;
    for (int k = 0; k < m; k++)
        last += w[k].forward ? (w[k].n - 1) * w[k].from : 0;
    return last;
}

/* The words before the offsets: numbers of the tile, then the end of the source and the
 * largest offset of a column. */
static int32_t *
put_head(int32_t *out, const Composite *c, const Atom *scalar, i64 end, i64 last)
{
    const TileSide *r = &c->side[SRC], *k = &c->side[DST];
    const i64 head[RAVEL_TILE_HEAD] = {
        c->role[ROW] < 0 ? 1 : c->taken[c->role[ROW]],
        c->role[COL] < 0 ? 1 : c->taken[c->role[COL]],
        c->role[BATCH] < 0 ? 1 : c->taken[c->role[BATCH]],
        c->kept, r->count, k->count, c->inner,
        c->pitch ? c->elements / k->run : 0, k->run * c->unit, c->pitch,
        c->elements / r->run, r->run * c->unit, c->from,
        c->from ? c->from * (c->elements / r->run) : end + c->kept, last};
    const i64 moved[] = {c->from ? 0 : end, last};
    for (int i = 0; i < RAVEL_TILE_HEAD - LEN(moved); i++)
        *out++ = scalar ? 0 : (int32_t)head[i];
    for (int i = 0; i < LEN(moved); i++)
        *out++ = (int32_t)(scalar ? moved[i] : head[RAVEL_TILE_HEAD - LEN(moved) + i]);
    return out;
}

void
composite_table(const Nest *n, const Composite *c, const Atom *scalar, int32_t *out)
{
    TableWalk all[MAX_LOOPS], some[MAX_LOOPS], rest[MAX_LOOPS], cols[MAX_LOOPS];
    int loop[MAX_LOOPS], left[MAX_LOOPS], last[MAX_LOOPS];
    const TileSide *r = &c->side[SRC], *k = &c->side[DST];
    int m = walk_of(n, c, scalar, all, loop), others;
    choose(all, loop, m, k, k->used, cols);
    out = put_head(out, c, scalar, last_of(all, m), last_of(cols, k->used));
    choose(all, loop, m, r, r->used, some);
    out = put_sums(out, some, r->used, STEP_TO, 1);
    out = put_sums(out, cols, k->used, STEP_FROM, 1);
    others = leave(all, loop, m, r, r->used, rest, left);
    others = leave(rest, left, others, k, k->used, some, last);
    put_sums(out, some, others, STEP_TO, 2);
    out = put_sums(out + 1, some, others, STEP_FROM, 2) - 1;
    others = leave(all, loop, m, k, k->n, rest, left);
    if (c->pitch)
        out = put_sums(out, rest, others, STEP_DST, 1);
    others = leave(all, loop, m, r, r->n, rest, left);
    put_sums(out, rest, others, STEP_SRC, 1);
}
