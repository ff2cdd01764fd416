/* A call of few tiles has more of them in its table: the rows of a group again at other
 * offsets.  So the constants of the group are read once for many rows. */
#include "shuffle.h"

/* Tiles side by side from which on a call has enough; bytes of a tile with its repeats, and
 * from its start. */
enum { TILES_ENOUGH = 32, REPEATED = REPEATS * LANE, FAR = 1 << 28 };

/* A pass before the last one writes at most 8 bytes for each byte of the tile, for bits that are
 * turned.  A call holds them for one tile at least. */
_Static_assert(8 * REPEATED <= RAVEL_TILES_BYTES, "a tile with its repeats fits the buffers");

static i64
tiles_of(const Nest *n, const ShuffleTile *t, int role)
{
    return t->loop[role] < 0 ? 1 : n->loop[t->loop[role]].n / t->chunk[role];
}

/* The elements of a tile, with its padding. */
static i64
elements_of(const Nest *n, const ShuffleTile *t)
{
    i64 elements = t->residual.n;
    for (int i = 0; i < n->nloops; i++)
        if (!n->loop[i].residual)
            elements *= shuffle_taken(n, t, i) +
                        (t->in[i] && n->loop[i].ds == 1 ? n->pad.n : 0);
    return elements;
}

/* Whether all of the loop's iterations can be in the table, `step` of them in a tile, if the
 * tile has so many bytes, with the repeats that it has. */
static bool
may_repeat(const Loop *l, i64 step, i64 bytes, const ShuffleTile *t, int bits)
{
    if (l->residual || !kernel_is_known(l))
        return false;
    const i64 most = 8 * (i64)FAR / bits / l->n;
    const i64 count = int_ceil_div(l->n, step);
    return l->n > step && count <= REPEATED / bytes / t->repeats && count <= REPEATS / t->repeats &&
           int_abs(l->ss) <= most && int_abs(l->ds) <= most;
}

static void
add_repeat(const Nest *n, ShuffleTile *t, int loop, i64 step)
{
    t->repeat[t->nrepeats].loop = loop;
    t->repeat[t->nrepeats++].step = step;
    t->repeats *= int_ceil_div(n->loop[loop].n, step);
    t->in[loop] = true;
}

/* The loop whose tiles are the rows or columns of a call goes into the table; an outer loop
 * takes its place.  false: none can. */
static bool
take_role(const Nest *n, int bits, i64 bytes, ShuffleTile *t)
{
    for (int i = TILE_ROW; i <= TILE_COL; i++) {
        const int loop = t->loop[i];
        if (loop < 0 || !may_repeat(&n->loop[loop], t->chunk[i], bytes, t, bits))
            continue;
        add_repeat(n, t, loop, t->chunk[i]);
        t->loop[i] = -1;
        t->chunk[i] = 1;
        shuffle_take_outside(n, t);
        return true;
    }
    return false;
}

void
shuffle_repeat(const Nest *n, int bits, ShuffleTile *t)
{
    const i64 bytes = elements_of(n, t) * bits / 8;
    if (t->strips[SRC].count > 1 || t->strips[DST].count > 1)
        return;
    while (tiles_of(n, t, TILE_ROW) < TILES_ENOUGH && tiles_of(n, t, TILE_COL) < TILES_ENOUGH &&
           take_role(n, bits, bytes, t))
        ;
}

/* The offsets of a repeat, in bytes. */
static void
start_of(const Nest *n, const ShuffleTile *t, int bits, i64 repeat, i64 at[2])
{
    at[SRC] = at[DST] = 0;
    for (int i = 0; i < t->nrepeats; i++) {
        const Loop *l = &n->loop[t->repeat[i].loop];
        const i64 step = t->repeat[i].step, count = int_ceil_div(l->n, step);
        const i64 first = repeat % count * step, last = l->n - step;
        const i64 k = first < last ? first : last;
        at[SRC] += k * l->ss * bits / 8;
        at[DST] += k * l->ds * bits / 8;
        repeat /= count;
    }
}

void
shuffle_starts(const Nest *n, const Program *p, int bits, int pass, TileStarts *s)
{
    const i64 made = pass ? p->bits[pass - 1].nlanes * LANE : 0;
    const i64 makes = pass + 1 < p->passes ? p->bits[pass].nlanes * LANE : 0;
    s->n = p->tile.repeats;
    for (i64 r = 0; r < s->n; r++) {
        i64 at[2];
        start_of(n, &p->tile, bits, r, at);
        s->at[SRC][r] = (int32_t)(made ? r * made : at[SRC]);
        s->at[DST][r] = (int32_t)(makes ? r * makes : at[DST]);
    }
}
