/* Cut boxes into tiles of transfers. */
#include "burst.h"

/* The limit for the starts of a tile; with more, the loops in residuals stay outside. */
enum { STARTS_MAX = 1024 };

BurstMachine
burst_machine(const Target *t)
{
    return (BurstMachine){target_number(t, "burst"), target_number(t, "memory"),
                          target_number(t, "counts")};
}

/* The product of the iterations of all loops in residuals; 0: there are none. */
static i64
iterations_of_residual(const GridBox *g)
{
    i64 n = 0;
    for (int i = 0; i < g->nloops; i++)
        if (g->loop[i].residual && n <= STARTS_MAX)
            n = (n ? n : 1) * g->loop[i].n;
    return n;
}

/* The offsets of start k. */
static BurstMove
start_of(const BurstBox *b, i64 k, i64 *val)
{
    i64 at[2] = {0, 0}, base[2];
    for (int i = b->box.nloops - 1; i >= 0; i--) {
        const GridLoop *l = &b->box.loop[i];
        if (!l->residual)
            continue;
        val[l->var] = k % l->n;
        at[SOURCE] += val[l->var] * burst_stride(b, i, SOURCE);
        at[DESTINATION] += val[l->var] * burst_stride(b, i, DESTINATION);
        k /= l->n;
    }
    if (!ex_eval(b->box.src, val, &base[SOURCE]) ||
        !ex_eval(b->box.dst, val, &base[DESTINATION]))
        ex_overflow(b->box.e);
    return (BurstMove){1, at[DESTINATION] + b->item * base[DESTINATION],
                       at[SOURCE] + b->item * base[SOURCE]};
}

/* Makes the starts.  Without a residual there is one, and `inside` is true. */
static void
make_starts(BurstBox *b)
{
    i64 n = iterations_of_residual(&b->box);
    b->nstarts = 1;
    b->inside = n > 0 && n <= STARTS_MAX;
    if (!b->inside)
        return;
    i64 *val = arena_array(b->box.arena, i64, ex_nvars(b->box.e));
    b->nstarts = n;
    b->start = arena_array(b->box.arena, BurstMove, n);
    for (i64 k = 0; k < n; k++) {
        BurstMove s = b->start[k] = start_of(b, k, val);
        i64 at[2] = {s.from, s.to};
        for (int side = SOURCE; side <= DESTINATION; side++) {
            if (k == 0 || at[side] < b->least[side])
                b->least[side] = at[side];
            if (k == 0 || at[side] > b->most[side])
                b->most[side] = at[side];
        }
    }
}

/* The lowest address of a side in the tile, in bytes, over the variables of the loops
 * outside. */
static const Ex *
lowest(const BurstBox *b, const BurstPart *part, int side, const Ex *const *tile)
{
    Exprs *e = b->box.e;
    const Ex **to = arena_array(b->box.arena, const Ex *, ex_nvars(e));
    const Ex *x = ex_const(e, b->inside ? b->least[side] : 0);
    for (int i = 0; i < b->box.nloops; i++) {
        i64 s = burst_stride(b, i, side);
        if (b->inside && b->box.loop[i].residual)
            continue;
        to[b->box.loop[i].var] = tile[i];
        i64 fixed = part[i].first * s + (s < 0 ? (part[i].n - 1) * s : 0);
        x = ex_add(e, x, ex_add(e, ex_const(e, fixed),
                                ex_scale(e, tile[i], part[i].step * s)));
    }
    if (b->inside)
        return x;
    const Ex *base = side == SOURCE ? b->box.src : b->box.dst;
    return ex_add(e, x, ex_scale(e, ex_subst(e, base, to), b->item));
}

/* Sets at, skip and bytes: the bursts that contain the transfer from the lowest address
 * x on. */
static void
place(const BurstBox *b, BurstSide *s, const Ex *x)
{
    Exprs *e = b->box.e;
    i64 burst = b->m->burst;
    s->skip = ex_mod(e, x, burst);
    s->at = ex_sub(e, x, s->skip);
    s->bytes = ex_add(e, s->skip, ex_const(e, s->hull + burst - 1));
    s->bytes = ex_scale(e, ex_div(e, s->bytes, burst), burst);
}

/* The offset at which the moves begin; for negative strides it is the far end. */
static i64
begin_of(const BurstBox *b, const BurstPart *part, const i64 *moves)
{
    i64 at = 0;
    for (int i = 0; i < b->box.nloops; i++)
        if (moves[i] < 0 && !(b->inside && b->box.loop[i].residual))
            at -= (part[i].n - 1) * moves[i];
    return at;
}

static void
add_starts(const BurstBox *b, BurstTile *t, const i64 begin[2])
{
    BurstMove *to = arena_array(b->box.arena, BurstMove, b->nstarts);
    to[0] = (BurstMove){1, begin[DESTINATION], begin[SOURCE]};
    for (i64 k = 0; b->inside && k < b->nstarts; k++)
        to[k] = (BurstMove){1, b->start[k].to - b->least[DESTINATION] +
                               begin[DESTINATION],
                            b->start[k].from - b->least[SOURCE] + begin[SOURCE]};
    t->nstarts = b->nstarts;
    t->start = to;
}

/* Adds the loops around the tile.  tile[i]: the variable of loop i, or the constant 0. */
static void
add_loops(const BurstBox *b, const BurstPart *part, BurstTile *t, const Ex **tile)
{
    Exprs *e = b->box.e;
    t->tiles = 1;
    for (int i = 0; i < b->box.nloops; i++) {
        const char *name = b->box.loop[i].name;
        tile[i] = ex_const(e, 0);
        if (part[i].tiles == 1)
            continue;
        tile[i] = ex_of_var(e, ex_var(e, name, 0, part[i].tiles - 1));
        t->loop[t->nloops].name = name;
        t->loop[t->nloops++].n = part[i].tiles;
        t->tiles *= part[i].tiles;
    }
}

static void
add_moves(const BurstBox *b, const BurstPart *part, BurstTile *t, const i64 *to,
          const i64 *from)
{
    t->elements = b->nstarts;
    for (int i = 0; i < b->box.nloops; i++) {
        if (part[i].n == 1 || (b->inside && b->box.loop[i].residual))
            continue;
        t->move[t->nmoves++] = (BurstMove){part[i].n, to[i], from[i]};
        t->elements *= part[i].n;
    }
}

static BurstTile *
make_tile(const BurstBox *b, const BurstPart *part)
{
    BurstTile *t = arena_new(b->box.arena, BurstTile);
    const Ex *tile[MAX_LOOPS];
    i64 moves[2][MAX_LOOPS] = {{0}}, begin[2] = {0, 0}, room = 0;
    bool fill = b->box.nest->kind == NEST_FILL;
    t->nest = b->box.nest;
    t->item = b->item;
    add_loops(b, part, t, tile);
    for (int side = fill ? DESTINATION : SOURCE; side <= DESTINATION; side++) {
        BurstSide *s = &t->side[side];
        burst_side(b, part, side, s, moves[side]);
        place(b, s, lowest(b, part, side, tile));
        begin[side] = begin_of(b, part, moves[side]);
        s->local = room;
        room += s->room;
    }
    add_moves(b, part, t, moves[DESTINATION], moves[SOURCE]);
    add_starts(b, t, begin);
    return t;
}

/* Adds the tiles over loop i and the loops after it, with the tails. */
static void
add_tiles(const BurstBox *b, const i64 *extent, BurstPart *part, int i, BurstTile ***tail)
{
    if (i == b->box.nloops) {
        **tail = make_tile(b, part);
        *tail = &(**tail)->next;
        return;
    }
    for (int last = 0; last <= (b->box.loop[i].n % extent[i] != 0); last++) {
        part[i] = burst_part(b->box.loop[i].n, extent[i], last);
        add_tiles(b, extent, part, i + 1, tail);
    }
}

static void
add_box(GridUnit *u, const Nest *n, const BurstMachine *m, BurstTile ***tail)
{
    enum { ITEM_BITS = 128 };
    BurstBox b = {.m = m};
    BurstPart part[MAX_LOOPS];
    i64 extent[MAX_LOOPS];
    grid_box(u, n, &b.box);
    grid_widen(&b.box, ITEM_BITS);
    if (b.box.bits < 8)
        diag_fatal(b.box.arena->diag, DIAG_LAYOUT, (Loc){0},
                   "elements of %d bits do not lie in whole bytes on both sides, and a "
                   "machine of bursts moves bytes", u->plan->dst->dtype->bits);
    b.item = b.box.bits / 8;
    make_starts(&b);
    if (b.inside && !burst_choose(&b, extent)) {
        b.inside = false;
        b.nstarts = 1;
    }
    if (!burst_choose(&b, extent))
        diag_fatal(b.box.arena->diag, DIAG_LAYOUT, (Loc){0},
                   "a local memory of %lld bytes, in bursts of %lld, holds no tile",
                   (long long)m->memory, (long long)m->burst);
    add_tiles(&b, extent, part, 0, tail);
}

BurstPlan *
burst_make(const Plan *p, const BurstMachine *m)
{
    Arena *a = ex_arena(p->e);
    BurstPlan *q = arena_new(a, BurstPlan);
    BurstTile **tail = &q->tile;
    GridUnit u = {.e = p->e, .plan = p};
    if (p->scalars->nextents > (p->scalars->fill >= 0))
        diag_fatal(a->diag, DIAG_ARGUMENT, (Loc){0},
                   "a machine of bursts takes no extents or strides at run time, because "
                   "its tiles are cut for one shape: give numbers");
    q->plan = p;
    q->m = *m;
    for (int i = 0; i < p->n; i++)
        add_box(&u, p->nest[i], m, &tail);
    return q;
}

static void
explain_tile(Buf *b, const BurstPlan *p, const BurstTile *t)
{
    static const char *const sides[] = {"fetch", "write"};
    Arena *a = ex_arena(p->plan->e);
    bool fill = t->nest->kind == NEST_FILL;
    buf_printf(b, "  %s%s: %lld tiles of %lld elements of %lld bytes\n",
               fill ? "padding " : "", plan_box(a, p->plan, t->nest),
               (long long)t->tiles, (long long)t->elements, (long long)t->item);
    for (int side = fill ? DESTINATION : SOURCE; side <= DESTINATION; side++) {
        const BurstSide *s = &t->side[side];
        buf_printf(b, "    %s %lld transfers of up to %lld bytes for %lld%s\n",
                   sides[side], (long long)s->transfers, (long long)s->most,
                   (long long)(t->elements * t->item),
                   side == SOURCE || s->whole ? ""
                                              : ", fetched first: others are in them");
    }
}

void
burst_explain(Buf *b, const BurstPlan *p, const char *target)
{
    buf_printf(b, "%s: bursts of %lld bytes, a local memory of %lld\n", target,
               (long long)p->m.burst, (long long)p->m.memory);
    for (const BurstTile *t = p->tile; t; t = t->next)
        explain_tile(b, p, t);
}
