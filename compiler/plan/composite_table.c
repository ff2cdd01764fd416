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

/* A loop of a list: its iterations, what it moves by in the source, the destination and
 * where the blocks go, in bytes. */
typedef struct {
    i64 n, src, dst, to;
} Walk;

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
walk_of(const Nest *n, int size, const Composite *c, Walk *walk, int *loop)
{
    int m = 0;
    i64 apart = c->pitch;
    for (int i = 0; i < n->nloops; i++)
        if (c->taken[i] > 1 && i != c->kept_loop) {
            int k = m++;
            for (; k > 0 && n->loop[loop[k - 1]].ds > n->loop[i].ds; k--)
                loop[k] = loop[k - 1];
            loop[k] = i;
        }
    for (int k = 0; k < m; k++) {
        const Loop *l = &n->loop[loop[k]];
        walk[k] = (Walk){c->taken[loop[k]], l->ss * size, l->ds * size, l->ds * size};
        if (c->pitch && !is_in(&c->side[DST], c->side[DST].n, loop[k])) {
            walk[k].to = apart;
            apart *= walk[k].n;
        }
    }
    return m;
}

/* Every sum of the loops' steps, the first of them the innermost: of one or two kinds. */
static int32_t *
put_sums(int32_t *out, const Walk *w, int m, bool src, bool to, bool dst)
{
    i64 at[MAX_LOOPS] = {0};
    for (int k = 0; k < m;) {
        i64 s = 0, t = 0, d = 0;
        for (int i = 0; i < m; i++) {
            s += at[i] * w[i].src;
            t += at[i] * w[i].to;
            d += at[i] * w[i].dst;
        }
        if (to)
            *out++ = (int32_t)t;
        if (src)
            *out++ = (int32_t)s;
        if (dst)
            *out++ = (int32_t)d;
        for (k = 0; k < m && ++at[k] == w[k].n; k++)
            at[k] = 0;
    }
    if (m == 0)
        for (int i = 0; i < src + to + dst; i++)
            *out++ = 0;
    return out;
}

/* The loops, of these, that are in a side's first `used`, in that side's order; or that
 * are not. */
static int
choose(const Walk *w, const int *loop, int m, const TileSide *s, int used, Walk *out)
{
    for (int i = 0; i < used; i++)
        for (int k = 0; k < m; k++)
            if (loop[k] == s->loop[i])
                out[i] = w[k];
    return used;
}

static int
leave(const Walk *w, const int *loop, int m, const TileSide *s, int used, Walk *out,
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

/* The largest offset in the source that these loops give. */
static i64
last_of(const Walk *w, int m)
{
    i64 last = 0;
    for (int k = 0; k < m; k++)
        last += w[k].src > 0 ? (w[k].n - 1) * w[k].src : 0;
    return last;
}

void
composite_table(const Nest *n, int bits, const Composite *c, int32_t *out)
{
    Walk all[MAX_LOOPS], some[MAX_LOOPS], rest[MAX_LOOPS], cols[MAX_LOOPS];
    int loop[MAX_LOOPS], left[MAX_LOOPS], last[MAX_LOOPS];
    const TileSide *r = &c->side[SRC], *k = &c->side[DST];
    int size = bits / 8, m = walk_of(n, size, c, all, loop), others;
    choose(all, loop, m, k, k->used, cols);
    const i64 head[RAVEL_TILE_HEAD] = {
        c->role[ROW] < 0 ? 1 : c->taken[c->role[ROW]],
        c->role[COL] < 0 ? 1 : c->taken[c->role[COL]],
        c->role[BATCH] < 0 ? 1 : c->taken[c->role[BATCH]],
        c->kept, r->count, k->count, c->inner,
        c->pitch ? c->elements / k->run : 0, k->run * size, c->pitch,
        c->elements / r->run, r->run * size, last_of(all, m) + c->kept,
        last_of(cols, k->used)};
    for (int i = 0; i < RAVEL_TILE_HEAD; i++)
        *out++ = (int32_t)head[i];
    choose(all, loop, m, r, r->used, some);
    out = put_sums(out, some, r->used, false, true, false);
    out = put_sums(out, cols, k->used, true, false, false);
    others = leave(all, loop, m, r, r->used, rest, left);
    others = leave(rest, left, others, k, k->used, some, last);
    out = put_sums(out, some, others, true, true, false);
    others = leave(all, loop, m, k, k->n, rest, left);
    if (c->pitch)
        out = put_sums(out, rest, others, false, false, true);
    others = leave(all, loop, m, r, r->n, rest, left);
    put_sums(out, rest, others, true, false, false);
}
