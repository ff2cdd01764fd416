/* Slabs: data that is one run on one side, with `few` elements for each pixel, and planes
 * on the other side.  Threads move the run by vectors and the planes by words along their
 * pixels.  Shared memory holds the run unchanged.  This row is for few adjacent elements,
 * for example the channels of a picture: a block does some pixels.  It is also for small
 * planes: a block does several, which often are one run on the other side too.
 *
 * The number of few elements must be known, and the number of pixels if a block does whole
 * planes.  All other counts and strides may depend on the shape. */
#include "grid_tile.h"

enum { FEW_MOST = 255, SLAB_BYTES = 16 << 10, SLAB_ELEMENTS = 8192 };
enum { PIXELS_MOST = 4096, PIXELS_FEW = 1024 };
enum { ROW_BYTES = 64 };           /* the least part of a plane that a block does */

typedef struct {
    GridBox *b;
    const GridLoop *few, *pixel;
    const GridLoop *plane;         /* the loop over several planes, or NULL */
    bool in;              /* the source has the run, else the destination */
    i64 pixels, planes;   /* pixels and planes of a block */
    i64 each;             /* elements of a block */
    const Ex *all;        /* elements of the run */
    const Ex *slabs;      /* number of slabs of a run */
    int vector, word;     /* elements of an access: to the run; to the planes; */
    int end_vector, end_word;      /* and of a slab that has not all its elements */
    const Ex *slab;       /* the index of the block's slab */
    const Ex *src, *dst;  /* start addresses of the slab, in elements */
} Slab;

static i64
run_stride(const Slab *s, const GridLoop *l)
{
    return s->in ? l->ss : l->ds;
}

static i64
plane_stride(const Slab *s, const GridLoop *l)
{
    return s->in ? l->ds : l->ss;
}

/* The stride of a loop in the planes, for every shape. */
static const Ex *
apart(const Slab *s, const GridLoop *l)
{
    return s->in ? l->ex.ds : l->ex.ss;
}

/* The loop whose stride in the run is `stride` for every shape. */
static const GridLoop *
loop_of(const Slab *s, i64 stride)
{
    for (int i = 0; i < s->b->nloops; i++) {
        const GridLoop *l = &s->b->loop[i];
        if (ex_is(s->in ? l->ex.ss : l->ex.ds, stride) && !l->residual)
            return l;
    }
    return NULL;
}

/* Finds the loop over few elements and the loop over pixels.  Pixels have these elements in
 * the run and are adjacent in the planes. */
static bool
find_loops(Slab *s, bool in)
{
    s->in = in;
    s->few = loop_of(s, 1);
    s->pixel = s->few && ex_is_const(s->few->ex.n) ? loop_of(s, s->few->n) : NULL;
    return s->pixel && s->few->n <= FEW_MOST && ex_is(apart(s, s->pixel), 1);
}

/* The number of lanes along pixels that access the same bank. */
static i64
conflicts(const Slab *s)
{
    return int_gcd(s->few->n, s->b->bits == 64 ? 16 : 32);
}

/* Chooses as run the side with fewer bank conflicts.  False if no side can be the run, or
 * if there are many conflicts and not few elements for each pixel. */
static bool
choose_run(Slab *s)
{
    enum { FEW = 8, CONFLICTS_MOST = 2 };
    Slab other = *s;
    bool here = find_loops(s, true), there = find_loops(&other, false);
    if (there && (!here || conflicts(&other) < conflicts(s)))
        *s = other;
    return (here || there) && (s->few->n < FEW || conflicts(s) <= CONFLICTS_MOST);
}

/* True if there are fewer slabs than a large GPU needs to be busy. */
static bool
are_few(const Slab *s)
{
    return s->pixels > PIXELS_FEW && grid_is_known(s->b) &&
           s->b->elements / (s->pixels * s->few->n) < TILES_ENOUGH;
}

/* The size of a slab that is a part of a plane.  False if the part is too small. */
static bool
choose_part(Slab *s, i64 room)
{
    s->pixels = PIXELS_MOST;
    while (s->pixels > s->pixel->n || s->pixels * s->few->n > room || are_few(s))
        s->pixels /= 2;
    if (s->pixels * s->b->bits / 8 < ROW_BYTES)
        return false;
    s->each = s->pixels * s->few->n;
    s->all = ex_scale(s->b->e, s->pixel->ex.n, s->few->n);
    s->slabs = grid_ceil(s->b, s->pixel->ex.n, s->pixels);
    return true;
}

/* The size of a slab of as many whole planes of n elements as fit. */
static bool
choose_planes(Slab *s, i64 n, i64 room)
{
    s->pixels = s->pixel->n;
    s->plane = loop_of(s, n);
    while (s->plane && s->planes < s->plane->n && 2 * s->planes * n <= room)
        s->planes *= 2;
    const Ex *planes = s->plane ? s->plane->ex.n : ex_const(s->b->e, 1);
    s->each = s->planes * n;
    s->all = ex_scale(s->b->e, planes, n);
    s->slabs = grid_ceil(s->b, planes, s->planes);
    return s->each >= GRID_THREADS;
}

static bool
choose_size(Slab *s)
{
    i64 size = s->b->bits / 8, most = s->b->u->most.shared;
    i64 room = (most < SLAB_BYTES ? most : SLAB_BYTES) / size, n;
    room = room < SLAB_ELEMENTS ? room : SLAB_ELEMENTS;
    s->planes = 1;
    bool whole = ex_is_const(s->pixel->ex.n) && int_mul(s->few->n, s->pixel->n, &n) &&
                 n <= room;
    return whole ? choose_planes(s, n, room) : choose_part(s, room);
}

/* True if a slab consists of whole planes. */
static bool
has_planes(const Slab *s)
{
    return ex_is(s->pixel->ex.n, s->pixels);
}

/* True if the base and the strides of all other loops on a side are multiples of f. */
static bool
is_aligned(const Slab *s, bool run, i64 f)
{
    const GridBox *b = s->b;
    for (int i = 0; i < b->nloops; i++) {
        const GridLoop *l = &b->loop[i];
        if (l != s->few && l != s->pixel && l != s->plane &&
            (run ? run_stride(s, l) : plane_stride(s, l)) % f)
            return false;
    }
    return grid_aligned(b, run == s->in ? b->src : b->dst) % f == 0;
}

/* True if the planes of a block are also one run. */
static bool
is_run_on_both(const Slab *s)
{
    return has_planes(s) && ex_is(apart(s, s->few), s->pixels) &&
           (!s->plane || ex_is(apart(s, s->plane), s->few->n * s->pixels));
}

/* True if a plane consists of short separate rows, so that sectors contain few of its
 * elements. */
static bool
has_short_rows(const Slab *s)
{
    i64 row = s->pixel->n, next = plane_stride(s, s->few), size = s->b->bits / 8;
    if (next >= row && next < 2 * row && row < ROW_BYTES)
        row += (s->few->n - 1) * next;
    return !is_run_on_both(s) && row < ROW_BYTES / size;
}

/* True if words of f elements are aligned in the planes.  whole: of slabs that have all their
 * elements. */
static bool
are_words(const Slab *s, i64 f, bool whole)
{
    i64 row = whole ? s->pixels : s->pixel->n;
    bool rows = row % f == 0 && plane_stride(s, s->few) % f == 0 &&
                (!s->plane || plane_stride(s, s->plane) % f == 0);
    return (rows || is_run_on_both(s)) && (whole || grid_divisor(s->all) % f == 0) &&
           s->each % f == 0 && is_aligned(s, false, f);
}

static int
vector_of(const Slab *s, bool whole)
{
    int v = 128 / s->b->bits;
    while (v > 1 && ((!whole && grid_divisor(s->all) % v) || s->each % v ||
                     !is_aligned(s, true, v)))
        v /= 2;
    return v;
}

static int
word_of(const Slab *s, bool whole)
{
    int n = s->b->bits < 32 ? 32 / s->b->bits : 1;
    while (n > 1 && !are_words(s, n, whole))
        n /= 2;
    return n;
}

/* A target that does not tell whole slabs apart has the widths of both. */
static void
choose_widths(Slab *s)
{
    bool apart = s->b->u->most.otherwise;
    s->vector = vector_of(s, apart);
    s->word = word_of(s, apart);
    s->end_vector = vector_of(s, false);
    s->end_word = word_of(s, false);
}

static void
find_place(Slab *s)
{
    GridBox *b = s->b;
    Exprs *e = b->e;
    const GridLoop *tile[] = {s->few, s->pixel, s->plane};
    const GridLoop *l = s->plane ? s->plane : s->pixel;
    const Ex *others = grid_others(b, tile, LEN(tile));
    grid_blocks(b, grid_times(b, others, s->slabs));
    GridDigits n = {ex_of_var(e, b->block), 1};
    s->slab = grid_let(b, "i", grid_digit(b, &n, "i", s->slabs, INF, ex_is(others, 1)));
    grid_batch(b, n, tile, LEN(tile), &s->src, &s->dst);
    const Ex *first = ex_scale(e, s->slab, s->plane ? s->planes : s->pixels);
    s->src = ex_add(e, s->src, ex_times(e, first, l->ex.ss));
    s->dst = ex_add(e, s->dst, ex_times(e, first, l->ex.ds));
}

/* Moves vectors between the run and shared memory. */
static void
move_run(Slab *s, const Ex *q)
{
    GridBox *b = s->b;
    Exprs *e = b->e;
    int width = s->vector * b->bits / 8;
    const Ex *run = ex_add(e, ex_div(e, s->in ? s->src : s->dst, s->vector), q);
    grid_load(b, "v", true, s->in ? SPACE_SRC : SPACE_SHARED, width, s->in ? run : q);
    grid_store(b, s->in ? SPACE_SHARED : SPACE_DST, width, s->in ? q : run,
               (const char *[]){"v"}, 1);
}

/* The address in the planes of element n of a block, counted plane after plane; *shared:
 * its place in shared memory. */
static const Ex *
in_planes(const Slab *s, const Ex *n, const Ex **shared)
{
    Exprs *e = s->b->e;
    i64 plane = s->pixels * s->few->n;
    const Ex *p = ex_dig(e, n, 1, s->pixels), *x = ex_dig(e, n, s->pixels, plane);
    const Ex *z = ex_div(e, n, plane);
    *shared = ex_add(e, ex_scale(e, z, plane),
                     ex_add(e, ex_scale(e, p, s->few->n), x));
    if (s->plane)
        p = ex_add(e, p, ex_times(e, z, apart(s, s->plane)));
    return ex_add(e, p, ex_times(e, x, apart(s, s->few)));
}

/* Moves words between the planes and shared memory, pixel after pixel. */
static void
move_planes(Slab *s, const Ex *q)
{
    GridBox *b = s->b;
    Exprs *e = b->e;
    int size = b->bits / 8;
    const char *part[4];
    const Ex *n = ex_scale(e, q, s->word), *at = NULL, *shared[4];
    for (int i = s->word - 1; i >= 0; i--)
        at = in_planes(s, ex_add(e, n, ex_const(e, i)), &shared[i]);
    at = ex_div(e, ex_add(e, s->in ? s->dst : s->src, at), s->word);
    if (!s->in)
        grid_load(b, "v", true, SPACE_SRC, s->word * size, at);
    for (int i = 0; i < s->word; i++) {
        part[i] = arena_printf(b->arena, "A%d", i);
        if (s->in)
            grid_load(b, part[i], true, SPACE_SHARED, size, shared[i]);
        else
            grid_store(b, SPACE_SHARED, size, shared[i],
                       (const char *[]){tile_part(b, "v", size, i)}, 1);
    }
    if (s->in)
        grid_store(b, SPACE_DST, s->word * size, at,
                   (const char *[]){tile_joined(b, part, size, s->word)}, 1);
}

/* A phase of accesses to the run or to the planes. */
typedef struct {
    Slab *s;
    bool run, whole;      /* whole: of a slab that has all its elements */
} Turns;

static i64
elements_of(const Turns *t)
{
    const Slab *s = t->s;
    return t->run ? s->vector : s->word;
}

/* True if the slabs of a phase are limited by elements of the run, not by pixels. */
static bool
is_by_run(const Turns *t)
{
    return t->run || has_planes(t->s);
}

static void
put_turn(void *arg, const Ex *q)
{
    const Turns *t = arg;
    Slab *s = t->s;
    GridBox *b = s->b;
    Exprs *e = b->e;
    i64 n = elements_of(t), each = s->each / n, row = s->pixels / n;
    const Ex *at = is_by_run(t) ? ex_add(e, ex_scale(e, s->slab, each), q)
                                : ex_add(e, ex_scale(e, s->slab, row), ex_dig(e, q, 1, row));
    const Ex *end = ex_div(e, is_by_run(t) ? s->all : s->pixel->ex.n, n);
    GridStmt *when = t->whole ? NULL : grid_when(b, &at, &end, 1);
    GridStmt **outer = when ? grid_open(b, when) : NULL;
    (t->run ? move_run : move_planes)(s, q);
    grid_close(b, outer);
}

static void
add_turns(Slab *s, bool run, bool whole)
{
    Turns t = {s, run, whole};
    grid_each_item(s->b, s->each / elements_of(&t), put_turn, &t);
}

typedef struct {
    Slab *s;
    bool run;
    const Ex *whole;      /* how many slabs have all their elements */
} SlabPhase;

/* Adds a G_WHEN for whole slabs.  NULL: all are, or none, or the target has no else. */
static GridStmt *
when_whole(void *arg)
{
    const SlabPhase *p = arg;
    GridBox *b = p->s->b;
    if (p->whole == p->s->slabs || !b->u->most.otherwise || ex_is(p->whole, 0))
        return NULL;
    return grid_when(b, &p->s->slab, &p->whole, 1);
}

static void
put_phase(void *arg, bool whole)
{
    const SlabPhase *p = arg;
    Slab end = *p->s;
    end.vector = end.end_vector;
    end.word = end.end_word;
    whole |= p->whole == p->s->slabs;
    add_turns(whole ? p->s : &end, p->run, whole);
}

static void
add_phase(Slab *s, bool run)
{
    GridBox *b = s->b;
    SlabPhase p = {s, run, s->plane || has_planes(s) ? grid_floor(b, s->all, s->each)
                                                     : grid_floor(b, s->pixel->ex.n, s->pixels)};
    grid_phase(b, when_whole, put_phase, &p);
}

bool
grid_slab(GridBox *b)
{
    Slab s = {.b = b};
    grid_widen(b, 64);
    if (b->bits < 8 || b->bits > 64 || b->nest->kind != NEST_COPY ||
        grid_is_padded(b) || !choose_run(&s) || !choose_size(&s) || has_short_rows(&s))
        return false;
    choose_widths(&s);
    grid_shared(b, s.each * b->bits / 8);
    find_place(&s);
    add_phase(&s, s.in);
    grid_add(b, G_BARRIER);
    add_phase(&s, !s.in);
    return true;
}
