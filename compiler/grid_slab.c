/* Few elements side by side, as the three channels of a picture: a slab of one side is
 * one run, of pixels of `few` elements; the other side has a plane for each of the few.
 * The run is moved by vectors, the planes by elements; shared memory holds the run. */
#include "grid.h"

enum { FEW_MOST = 31, PIXELS = 1024 };

typedef struct {
    GridBox *b;
    const GridLoop *few, *pixel;
    bool in;              /* the source is the run, else the destination */
    i64 pixels;           /* of a block */
    i64 slabs;
    int vector;           /* elements of a vector of the run */
    const Ex *slab;       /* which */
    const Ex *src, *dst;  /* the slab's start, elements */
} Slab;

static i64
run_stride(const Slab *s, const GridLoop *l)
{
    return s->in ? l->ss : l->ds;
}

/* A loop of few elements, and one over pixels of so many, which the other side has in a
 * row. */
static bool
find_loops(Slab *s, bool in)
{
    s->in = in;
    s->few = s->pixel = NULL;
    for (int i = 0; i < s->b->nloops; i++) {
        const GridLoop *l = &s->b->loop[i];
        if (run_stride(s, l) == 1 && l->n <= FEW_MOST && !l->rest)
            s->few = l;
    }
    for (int i = 0; s->few && i < s->b->nloops; i++) {
        const GridLoop *l = &s->b->loop[i];
        if (run_stride(s, l) == s->few->n && (in ? l->ds : l->ss) == 1 && !l->rest)
            s->pixel = l;
    }
    return s->pixel != NULL;
}

/* The widest that the run's length, its slabs' and all that it starts at allow. */
static int
vector_of(const Slab *s)
{
    GridBox *b = s->b;
    int f = 128 / b->bits;
    for (; f > 1; f /= 2) {
        bool fits = s->pixel->n * s->few->n % f == 0 && s->pixels * s->few->n % f == 0 &&
                    grid_divisor(s->in ? b->src : b->dst) % f == 0;
        for (int i = 0; i < b->nloops; i++)
            if (&b->loop[i] != s->few && &b->loop[i] != s->pixel)
                fits &= run_stride(s, &b->loop[i]) % f == 0;
        if (fits)
            break;
    }
    return f;
}

static void
find_place(Slab *s)
{
    GridBox *b = s->b;
    Exprs *e = b->e;
    const Ex *n = ex_of_var(e, b->block);
    i64 inner = s->slabs;
    s->slab = grid_let(b, "i", ex_dig(e, n, 1, inner));
    grid_batch(b, n, inner, s->few, s->pixel, NULL, &s->src, &s->dst);
    s->src = ex_add(e, s->src, ex_scale(e, s->slab, s->pixels * s->pixel->ss));
    s->dst = ex_add(e, s->dst, ex_scale(e, s->slab, s->pixels * s->pixel->ds));
}

/* Vectors of the run, to or from shared memory. */
static void
move_run(Slab *s)
{
    GridBox *b = s->b;
    Exprs *e = b->e;
    GridStmt **outer;
    int width = s->vector * b->bits / 8;
    i64 each = s->pixels * s->few->n / s->vector;
    i64 all = s->pixel->n * s->few->n / s->vector;
    const Ex *k = grid_for(b, "k", int_ceil_div(each, GRID_THREADS), &outer);
    const Ex *q = grid_let(b, "q", grid_turn(b, k));
    const Ex *at = ex_add(e, ex_scale(e, s->slab, each), q);
    GridStmt *when = grid_when(b, (const Ex *[]){q, at}, (i64[]){each, all}, 2);
    GridStmt **guard = when ? grid_open(b, when) : NULL;
    const Ex *run = ex_add(e, ex_div(e, s->in ? s->src : s->dst, s->vector), q);
    grid_load(b, "v", true, s->in ? SPACE_SRC : SPACE_SHARED, width, s->in ? run : q);
    grid_store(b, s->in ? SPACE_SHARED : SPACE_DST, width, s->in ? q : run,
               (const char *[]){"v"}, 1);
    grid_close(b, guard);
    grid_close(b, outer);
}

/* Elements of each plane, pixel after pixel. */
static void
move_planes(Slab *s)
{
    GridBox *b = s->b;
    Exprs *e = b->e;
    GridStmt **outer;
    int width = b->bits / 8;
    const Ex *k = grid_for(b, "k", s->pixels * s->few->n / GRID_THREADS, &outer);
    const Ex *q = grid_turn(b, k);
    const Ex *p = grid_let(b, "p", ex_dig(e, q, 1, s->pixels));
    const Ex *x = grid_let(b, "x", ex_div(e, q, s->pixels));
    const Ex *at = ex_add(e, ex_scale(e, s->slab, s->pixels), p);
    GridStmt *when = grid_when(b, &at, &s->pixel->n, 1);
    GridStmt **guard = when ? grid_open(b, when) : NULL;
    const Ex *shared = ex_add(e, ex_scale(e, p, s->few->n), x);
    i64 apart = s->in ? s->few->ds : s->few->ss;
    const Ex *plane = ex_add(e, s->in ? s->dst : s->src,
                             ex_add(e, ex_scale(e, x, apart), p));
    grid_load(b, "v", true, s->in ? SPACE_SHARED : SPACE_SRC, width,
              s->in ? shared : plane);
    grid_store(b, s->in ? SPACE_DST : SPACE_SHARED, width, s->in ? plane : shared,
               (const char *[]){"v"}, 1);
    grid_close(b, guard);
    grid_close(b, outer);
}

static void
phase(Slab *s, bool run)
{
    GridStmt **outer = grid_open(s->b, grid_add(s->b, G_PHASE));
    if (run)
        move_run(s);
    else
        move_planes(s);
    grid_close(s->b, outer);
}

i64
grid_slab(GridBox *b)
{
    Slab s = {.b = b};
    grid_widen(b, 64);
    if (b->bits < 8 || b->bits > 64 || b->nest->kind != NEST_COPY || grid_is_padded(b) ||
        (!find_loops(&s, true) && !find_loops(&s, false)) || s.pixel->n < GRID_THREADS)
        return 0;
    s.pixels = PIXELS;
    i64 each = s.few->n * b->bits / 8;
    while (s.pixels > GRID_THREADS &&
           (s.pixels > s.pixel->n || s.pixels * each > b->u->most.shared / 2))
        s.pixels /= 2;
    i64 bytes = s.pixels * each;
    if (bytes > b->u->most.shared)
        return 0;
    s.slabs = int_ceil_div(s.pixel->n, s.pixels);
    s.vector = vector_of(&s);
    b->u->shared = bytes > b->u->shared ? bytes : b->u->shared;
    grid_blocks(b, s.slabs * (b->elements / (s.pixel->n * s.few->n)));
    find_place(&s);
    phase(&s, s.in);
    grid_add(b, G_BARRIER);
    phase(&s, !s.in);
    return s.slabs * (b->elements / (s.pixel->n * s.few->n));
}
