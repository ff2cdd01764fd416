/* The words of a tile: offsets in bytes of its rows, columns, blocks and runs. */
#include <string.h>

#include "../../templates/c/composite_size.h"
#include "composite.h"

/* The tile has its runs in a table; else it has loops in the residual, and no buffer. */
static bool
has_runs(const Composite *c)
{
    return !c->residual.n || c->from;
}

/* Of a part. */
static i64
part_words(const Composite *c)
{
    const i64 cols = composite_columns(c->side[DST].count, c);
    const i64 blocks = RAVEL_TILE_HEAD + c->side[SRC].count + cols + 2 * c->inner;
    if (!has_runs(c))
        return blocks;
    if (c->coupled)
        return blocks + composite_count(c, DST) + 2 * composite_count(c, SRC);
    return blocks + (c->pitch ? composite_count(c, DST) : 0) + composite_count(c, SRC);
}

i64
composite_words(const Composite *c)
{
    return c->parts * part_words(c);
}

/* A loop of a list: its iterations and variable; what it moves by in the source, the destination,
 * where the blocks come from and where they go, in bytes.  forward: it moves the source forward. */
typedef struct {
    i64 n, src, dst, from, to;
    int var;
    bool forward;
} TableWalk;

/* The loops of a part, or those that make the parts, by rising stride of the destination; runs of
 * a part lie in the buffer one after another. */
static int
walk_of(const Nest *n, const Composite *c, const Atom *scalar, bool apart, TableWalk *walk,
        int *loop)
{
    int m = 0;
    i64 to = scalar ? 0 : c->pitch, from = scalar ? 0 : c->from;
    for (int i = 0; i < n->nloops; i++)
        if (c->taken[i] > 1 && i != c->kept_loop && composite_apart(c, i) == apart) {
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
        walk[k] = (TableWalk){c->taken[loop[k]], src, dst, src, dst, l->var, forward};
        if (c->pitch && !composite_among(&c->side[DST], c->side[DST].n, loop[k])) {
            walk[k].to = to;
            to *= walk[k].n;
        }
        if (c->from && !composite_among(&c->side[SRC], c->side[SRC].n, loop[k])) {
            walk[k].from = from;
            walk[k].forward = true;
            from *= walk[k].n;
        }
    }
    return m;
}

/* The residual of a side, at the values that its loops have. */
typedef struct {
    const TileResidual *r;        /* NULL: there is none */
    int side;
    i64 unit, *val;
} Added;

static const Added nothing = {NULL, SRC, 0, NULL};

static i64
added_of(const Added *a)
{
    return a->r ? composite_added(a->r, a->side, a->val) * a->unit : 0;
}

/* Every sum of the loops' steps of a kind and of what is added, the first loop the innermost;
 * `each` words from one to the next. */
enum { STEP_SRC, STEP_DST, STEP_FROM, STEP_TO };
static int32_t *
put_sums(int32_t *out, const TableWalk *w, int m, int kind, int each, const Added *a)
{
    i64 at[MAX_LOOPS] = {0};
    int k = 0;
    do {
        i64 sum = 0;
        for (int i = 0; i < m; i++) {
            sum += at[i] * (kind == STEP_SRC ? w[i].src : kind == STEP_DST ? w[i].dst
                            : kind == STEP_FROM ? w[i].from : w[i].to);
            if (a->r)
                a->val[w[i].var] = at[i];
        }
        *out = (int32_t)(sum + added_of(a));
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
        if (!composite_among(s, used, loop[k])) {
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

/* The words before the offsets: numbers of the tile and of the part, then the end of the source
 * and the largest offset of a column. */
static int32_t *
put_head(int32_t *out, const Composite *c, const Atom *scalar, i64 next, i64 end, i64 last)
{
    const TileSide *r = &c->side[SRC], *k = &c->side[DST];
    const i64 from = has_runs(c) ? composite_count(c, SRC) : 0;
    const i64 head[RAVEL_TILE_HEAD] = {
        composite_chunk(c, ROW), composite_chunk(c, COL), composite_chunk(c, BATCH),
        c->kept, r->count, composite_columns(k->count, c), c->inner,
        c->pitch ? composite_count(c, DST) : 0, c->coupled ? k->count : k->run * c->unit, c->pitch,
        from, composite_read(c) * c->unit, c->from, next,
        c->from ? c->from * from : end + c->kept, last};
    const i64 moved[] = {c->from ? 0 : end, last};
    for (int i = 0; i < RAVEL_TILE_HEAD - LEN(moved); i++)
        *out++ = scalar ? 0 : (int32_t)head[i];
    for (int i = 0; i < LEN(moved); i++)
        *out++ = (int32_t)(scalar ? moved[i] : head[RAVEL_TILE_HEAD - LEN(moved) + i]);
    return out;
}

/* The loops of a part, and those of them that are columns, rows, and neither of these. */
typedef struct {
    TableWalk all[MAX_LOOPS], cols[MAX_LOOPS], rows[MAX_LOOPS], inner[MAX_LOOPS];
    int loop[MAX_LOOPS], m, others;
} TileLoops;

static TileLoops
loops_of(const Nest *n, const Composite *c, const Atom *scalar)
{
    const TileSide *r = &c->side[SRC], *k = &c->side[DST];
    TileLoops t;
    TableWalk rest[MAX_LOOPS];
    int left[MAX_LOOPS], last[MAX_LOOPS];
    t.m = walk_of(n, c, scalar, false, t.all, t.loop);
    choose(t.all, t.loop, t.m, k, k->used, t.cols);
    choose(t.all, t.loop, t.m, r, r->used, t.rows);
    t.others = leave(t.all, t.loop, t.m, r, r->used, rest, left);
    t.others = leave(rest, left, t.others, k, k->used, t.inner, last);
    return t;
}

/* The loops that make the parts: those of a part begin at `from` and `to` in the part that val[]
 * selects. */
typedef struct {
    TileLoops t;
    int n;
    TableWalk apart[MAX_LOOPS];
    i64 *val, from, to;
} TilePart;

/* The part with this number. */
static void
select_part(TilePart *p, i64 part)
{
    p->from = p->to = 0;
    for (int i = 0; i < p->n; i++) {
        i64 at = part % p->apart[i].n;
        part /= p->apart[i].n;
        p->val[p->apart[i].var] = at;
        p->from += at * p->apart[i].src;
        p->to += at * p->apart[i].dst;
    }
}

static void
move_all(int32_t *at, i64 n, int each, i64 by)
{
    for (i64 i = 0; i < n; i++)
        at[i * each] = (int32_t)(at[i * each] + by);
}

static i64
most_of(const int32_t *at, i64 n)
{
    i64 most = at[0];
    for (i64 i = 1; i < n; i++)
        most = at[i] > most ? at[i] : most;
    return most;
}

/* The part's runs in the destination, if they are in a buffer, and in the source, with what the
 * residual adds. */
static void
put_runs(const Composite *c, const Atom *scalar, TilePart *p, int32_t *out)
{
    const TileResidual *added = scalar || !c->residual.n ? NULL : &c->residual;
    const Added to = {added, DST, c->unit, p->val}, from = {added, SRC, c->unit, p->val};
    const TileLoops *t = &p->t;
    TableWalk rest[MAX_LOOPS];
    int left[MAX_LOOPS], others;
    int32_t *const first = out;
    others = leave(t->all, t->loop, t->m, &c->side[DST], c->side[DST].n, rest, left);
    if (c->pitch)
        out = put_sums(out, rest, others, STEP_DST, 1, &to);
    move_all(first, out - first, 1, p->to);
    int32_t *const last = out;
    others = leave(t->all, t->loop, t->m, &c->side[SRC], c->side[SRC].n, rest, left);
    out = put_sums(out, rest, others, STEP_SRC, 1, &from);
    move_all(last, out - last, 1, p->from);
}

/* A part with runs. */
static void
put_whole(const Composite *c, const Atom *scalar, TilePart *p, i64 next, int32_t *out)
{
    const TileLoops *t = &p->t;
    const TileSide *r = &c->side[SRC], *k = &c->side[DST];
    out = put_head(out, c, scalar, next, last_of(t->all, t->m), last_of(t->cols, k->used));
    out = put_sums(out, t->rows, r->used, STEP_TO, 1, &nothing);
    out = put_sums(out, t->cols, k->used, STEP_FROM, 1, &nothing);
    put_sums(out, t->inner, t->others, STEP_TO, 2, &nothing);
    out = put_sums(out + 1, t->inner, t->others, STEP_FROM, 2, &nothing) - 1;
    put_runs(c, scalar, p, out);
}

/* So many offsets, each `step` bytes after the one before and `each` words on. */
static int32_t *
put_steps(int32_t *out, i64 n, int each, i64 step)
{
    for (i64 i = 0; i < n; i++)
        out[i * each] = (int32_t)(i * step);
    return out + n * each;
}

/* Of each block of coupled columns: where two and two of them are in the source; the last one alone with
 * itself. */
static void
put_couples(Arena *a, const Composite *c, const TileLoops *t, int32_t *out)
{
    const i64 cols = c->side[DST].count;
    int32_t *const block = arena_array(a, int32_t, c->inner);
    put_sums(block, t->inner, t->others, STEP_SRC, 1, &nothing);
    for (i64 i = 0; i < c->inner; i++) {
        int32_t *const first = out;
        out = put_sums(out, t->cols, c->side[DST].used, STEP_SRC, 1, &nothing);
        if (cols % 2) {
            *out = out[-1];
            out++;
        }
        move_all(first, out - first, 1, block[i]);
    }
    arena_drop(a, block, (size_t)c->inner * sizeof *block);
}

/* A part of coupled columns: in the buffers each row and each two columns are a run. */
static void
put_coupled(Arena *a, const Composite *c, const TileLoops *t, int32_t *out)
{
    const i64 rows = c->side[SRC].count, cols = composite_columns(c->side[DST].count, c);
    const int used = c->side[SRC].used;
    TableWalk to[MAX_LOOPS];
    memcpy(to, t->rows, sizeof to);
    for (int i = 0; i < t->others; i++)
        to[used + i] = t->inner[i];
    out = put_head(out, c, NULL, 0, 0, (cols - 1) * c->from);
    out = put_steps(out, rows, 1, c->pitch);
    out = put_steps(out, cols, 1, c->from);
    put_steps(out, c->inner, 2, rows * c->pitch);
    out = put_steps(out + 1, c->inner, 2, cols * c->from) - 1;
    out = put_sums(out, to, used + t->others, STEP_DST, 1, &nothing);
    put_couples(a, c, t, out);
}

/* A part without: what the residual adds is in the offsets of rows and columns. */
static void
put_part(const Composite *c, const Atom *scalar, TilePart *p, i64 next, int32_t *out)
{
    const Added to = {scalar ? NULL : &c->residual, DST, c->unit, p->val};
    const Added from = {scalar ? NULL : &c->residual, SRC, c->unit, p->val};
    const TileSide *r = &c->side[SRC], *k = &c->side[DST];
    int32_t *const row = out + RAVEL_TILE_HEAD, *const col = row + r->count;
    int32_t *const block = col + k->count;
    put_sums(row, p->t.rows, r->used, STEP_TO, 1, &to);
    put_sums(col, p->t.cols, k->used, STEP_FROM, 1, &from);
    put_sums(block, p->t.inner, p->t.others, STEP_TO, 2, &nothing);
    put_sums(block + 1, p->t.inner, p->t.others, STEP_FROM, 2, &nothing);
    move_all(block, c->inner, 2, p->to);
    move_all(block + 1, c->inner, 2, p->from);
    const i64 last = scalar ? last_of(p->t.cols, k->used) : most_of(col, k->count);
    const i64 end = last + p->from + last_of(p->t.rows, r->used) + last_of(p->t.inner, p->t.others);
    put_head(out, c, scalar, next, end, last);
}

void
composite_table(const Nest *n, const Composite *c, const Atom *scalar, int32_t *out)
{
    Arena *a = ex_arena(n->e);
    int loop[MAX_LOOPS];
    TilePart p = {.t = loops_of(n, c, scalar), .val = arena_array(a, i64, ex_nvars(n->e))};
    const i64 words = part_words(c);
    p.n = walk_of(n, c, scalar, true, p.apart, loop);
    for (i64 i = 0; i < c->parts; i++, out += words) {
        const i64 next = i + 1 < c->parts && !scalar ? words : 0;
        select_part(&p, i);
        if (c->coupled)
            put_coupled(a, c, &p.t, out);
        else if (has_runs(c))
            put_whole(c, scalar, &p, next, out);
        else
            put_part(c, scalar, &p, next, out);
    }
    arena_drop(a, p.val, (size_t)ex_nvars(n->e) * sizeof *p.val);
}
