/* Copies runs of elements of 1 to 16 bits that begin anywhere, by whole words of the
 * destination: each is made of two words of the source by a funnel shift.
 *
 *    source        |..AAAAAA|AAAAAAAA|AA......|      words of memory
 *    destination      |....AAAA|AAAAAAAA|AA...|
 *                               ^^^^^^^^             words inside of the run
 *
 * The words that contain an end of a run are left to a second box.  If runs are whole words,
 * they may end with padding. */
#include "grid_tile.h"

/* A warp loads at least a sector of each of its runs.  The words at the ends of a run are three
 * sectors more, so only long runs may have them, unless there is no other row. */
enum { EACH_MOST = 12, LANES_LEAST = 8, RUN_BYTES = 64, SEAMS_BYTES = 512 };

typedef struct {
    GridBox *b;
    const GridLoop *run;
    GridSource from;
    int per;              /* elements of a word */
    i64 lanes, each;      /* threads along a run; words of a thread */
    bool whole;           /* the statements are for parts of runs with elements only */
    const Ex *part;       /* of the run, of lanes * each words */
    const Ex *first;      /* elements of the run before its first whole word */
    const Ex *src, *dst;  /* addresses of the run's beginning, in elements */
} RunPhase;

static const Ex *
run_parts(const RunPhase *r)
{
    return grid_ceil(r->b, r->run->ex.n, r->lanes * r->each * r->per);
}

static void
choose_threads(RunPhase *r)
{
    i64 words = int_ceil_div(r->run->n, r->per);
    i64 lanes = int_ceil_div(words, EACH_MOST);
    r->lanes = tile_power(lanes > LANES_LEAST ? lanes : LANES_LEAST, GRID_THREADS);
    i64 parts = int_ceil_div(words, r->lanes * EACH_MOST);
    r->each = int_ceil_div(words, r->lanes * parts);
}

/* Loads word number k of the run and stores it. */
static void
copy_word(const RunPhase *r, const Ex *k)
{
    GridBox *b = r->b;
    Exprs *e = b->e;
    const Ex *from = ex_add(e, r->src, r->first), *up = ex_const(e, r->per - 1);
    const Ex *bit = ex_scale(e, ex_mod(e, from, r->per), b->bits);
    static const char *const name[] = {"A", "B"};
    for (int i = 0; i < (ex_is(bit, 0) ? 1 : 2); i++) {
        const Ex *at = ex_add(e, ex_add(e, ex_div(e, from, r->per), k), ex_const(e, i));
        if (r->whole)
            grid_load(b, name[i], true, SPACE_SRC, WORD_BITS / 8, at);
        else
            grid_source_word(&r->from, name[i], at);
    }
    const char *v = tile_funnel(b, "F", name[0], name[1], bit);
    grid_store(b, SPACE_DST, WORD_BITS / 8,
               ex_add(e, ex_div(e, ex_add(e, r->dst, up), r->per), k), &v, 1);
}

/* Stores word number k of a run of whole words, element by element. */
static void
fill_word(const RunPhase *r, const Ex *k)
{
    GridBox *b = r->b;
    Exprs *e = b->e;
    GridWord w = grid_word(b, WORD_BITS / 8);
    const char *fill[4];
    GridStmt **outer;
    grid_pattern(b, b->bits, fill);
    grid_word_open(&w, NULL);
    const Ex *i = grid_for(b, "u", r->per, &outer);
    const Ex *at = ex_add(e, ex_scale(e, k, r->per), i);
    grid_word_put(&w, i)->word[0] = fill[0];
    GridStmt *real = grid_when(b, &at, &r->run->ex.real, 1);
    GridStmt **then = real ? grid_open(b, real) : NULL;
    grid_word_fetch(&w, i, ex_add(e, r->src, at));
    grid_close(b, then);
    grid_close(b, outer);
    grid_word_close(&w, ex_add(e, ex_div(e, r->dst, r->per), k));
}

/* The word of a thread if it is inside of the run. */
static void
put_guarded(const RunPhase *r, const Ex *k)
{
    GridBox *b = r->b;
    Exprs *e = b->e;
    const Ex *begin = ex_add(e, r->first, ex_scale(e, k, r->per));
    const Ex *last = ex_add(e, begin, ex_const(e, r->per - 1));
    GridStmt *inside = grid_when(b, &last, &r->run->ex.real, 1);
    GridStmt **outer = inside ? grid_open(b, inside) : NULL;
    copy_word(r, k);
    grid_close(b, outer);
    if (!inside || r->run->ex.real == r->run->ex.n)
        return;
    outer = grid_open(b, grid_add(b, G_ELSE));
    GridStmt *when = grid_when(b, &begin, &r->run->ex.n, 1);
    GridStmt **then = when ? grid_open(b, when) : NULL;
    fill_word(r, k);
    grid_close(b, then);
    grid_close(b, outer);
}

/* Adds `count` turns of all threads, from turn `first` on. */
static void
put_turns(RunPhase *r, i64 first, i64 count, bool whole)
{
    GridBox *b = r->b;
    Exprs *e = b->e;
    GridStmt **outer;
    if (count == 0)
        return;
    const Ex *u = ex_add(e, grid_for(b, "k", count, &outer), ex_const(e, first));
    const Ex *lane = ex_mod(e, ex_of_var(e, b->u->thread), r->lanes);
    const Ex *k = ex_add(e, ex_scale(e, r->part, r->lanes * r->each),
                         ex_add(e, lane, ex_scale(e, u, r->lanes)));
    r->whole = whole;
    (whole ? copy_word : put_guarded)(r, k);
    grid_close(b, outer);
}

/* The turns of a run's only part, and the parts of a run, after which two words of it follow need
 * no conditions. */
static void
put_part(RunPhase *r)
{
    GridBox *b = r->b;
    const Ex *left = tile_followed(b, r->run->ex.real, 2 * r->per);
    const Ex *turns = grid_floor(b, left, r->lanes * r->per);
    const Ex *whole = grid_floor(b, left, r->lanes * r->each * r->per);
    if (ex_is(r->part, 0) && ex_is_const(turns) && turns->base < r->each) {
        put_turns(r, 0, turns->base, true);
        put_turns(r, turns->base, r->each - turns->base, false);
        return;
    }
    GridStmt *when = ex_is(whole, 0) ? NULL : grid_when(b, &r->part, &whole, 1);
    if (when) {
        GridStmt **outer = grid_open(b, when);
        put_turns(r, 0, r->each, true);
        grid_close(b, outer);
        outer = grid_open(b, grid_add(b, G_ELSE));
        put_turns(r, 0, r->each, false);
        grid_close(b, outer);
    } else {
        put_turns(r, 0, r->each, ex_is_const(whole) && !ex_is(whole, 0));
    }
}

/* A block has a part of each of several runs. */
static void
put_runs(RunPhase *r)
{
    GridBox *b = r->b;
    Exprs *e = b->e;
    i64 rows = GRID_THREADS / r->lanes;
    const Ex *runs = grid_others(b, &r->run, 1), *up = ex_const(e, r->per - 1);
    const Ex *groups = grid_ceil(b, runs, rows), *parts = run_parts(r);
    GridStmt **guard;
    grid_blocks(b, grid_times(b, groups, parts));
    GridDigits n = {ex_of_var(e, b->block), 1};
    r->part = grid_let(b, "i", grid_digit(b, &n, "i", parts, INF, ex_is(groups, 1)));
    const Ex *group = grid_let(b, "j", grid_digit(b, &n, "j", groups, INF, true));
    GridStmt **outer = grid_open(b, grid_add(b, G_PHASE));
    const Ex *row = ex_div(e, ex_of_var(e, b->u->thread), r->lanes);
    row = grid_index(b, "q", ex_add(e, ex_scale(e, group, rows), row), runs, &guard);
    grid_batch(b, (GridDigits){row, 1}, &r->run, 1, &r->src, &r->dst);
    r->first = ex_sub(e, up, ex_mod(e, ex_add(e, r->dst, up), r->per));
    put_part(r);
    grid_close(b, guard);
    grid_close(b, outer);
}

/* True if the row `gather` would access less than a word. */
static bool
is_narrow(const GridBox *b)
{
    GridBox w = *b;
    grid_widen(&w, WORD_BITS);
    return w.bits < WORD_BITS;
}

/* True if all is forward; the run may have padding at its end. */
static bool
is_forward(const GridBox *b, const GridLoop *run)
{
    GridBox w = *b;
    w.loop[run - b->loop].ex.real = run->ex.n;
    return grid_is_forward(&w);
}

/* The fewest bytes of a run. */
static i64
least_of(const RunPhase *r, bool words)
{
    return words || r->b->bits < 8 ? RUN_BYTES : SEAMS_BYTES;
}

bool
grid_run(GridBox *b)
{
    if (b->bits > 16 || !b->nloops || !b->u->most.otherwise || !b->u->most.funnel ||
        b->u->most.align < WORD_BITS / 8)
        return false;
    RunPhase r = {.b = b, .per = WORD_BITS / b->bits, .run = &b->loop[b->nloops - 1]};
    bool words = grid_has_words(b, r.run, r.per);
    if (!ex_is(r.run->ex.ss, 1) || !ex_is(r.run->ex.ds, 1) || !is_forward(b, r.run) ||
        r.run->real * b->bits < 8 * least_of(&r, words) || !is_narrow(b) ||
        !(words || grid_has_seams(b)))
        return false;
    r.from = grid_source(b);
    choose_threads(&r);
    put_runs(&r);
    if (!words)
        b->also = grid_seams(b, WORD_BITS / 8);
    return true;
}
