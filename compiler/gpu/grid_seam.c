/* Makes code for words of a destination that is one box: for all of them, or for its seams,
 * the words or sectors that contain an end of a run and more elements.
 *
 *    destination     |aaaaaaaa|aaabbbbb|bbbbbbbb|bcccc...     runs a, b, c
 *                              ^^^^^^^^          ^^^^^^^^      seams
 *
 * The strides of the loops are a chain, so the digits of an address are the iterations. */
#include "grid_parts.h"

typedef struct {
    GridBox *b;           /* a box of its own, with the loops of the other one */
    GridWord word;
    const Ex *size;       /* elements of the destination */
    const GridLoop *run;
    i64 bytes;            /* of a seam */
} Seam;

bool
grid_has_seams(GridBox *b)
{
    for (int i = 0; i < b->nloops; i++) {
        const GridLoop *l = &b->loop[i];
        const Ex *next = i ? b->loop[i - 1].ex.ds : b->u->plan->to->size;
        if (l->residual || l->ex.real != l->ex.n ||
            !stride_goes_on(b->u->plan->scalars, l->ex.ds, l->ex.n, next, 1))
            return false;
    }
    return b->nloops && ex_is(b->dst, 0) && ex_is(b->loop[b->nloops - 1].ex.ds, 1);
}

/* The source's address of the element at address `at` of the destination. */
static const Ex *
source_of(const Seam *s, const Ex *at)
{
    const Ex *src, *dst;
    grid_batch(s->b, (GridDigits){at, 1}, NULL, 0, &src, &dst);
    return src;
}

static void
put_element(void *arg, const Ex *a, const Ex *k)
{
    const Seam *s = arg;
    grid_word_fetch(&s->word, k, source_of(s, a));
}

/* Stores unit number `at` of the destination. */
static void
put_unit(void *arg, const Ex *at)
{
    const Seam *s = arg;
    grid_word_unit(&s->word, at, false, put_element, arg);
}

/* Part number `item` of the seams: an end inside of one, and the first one there. */
static void
put_seam(void *arg, const Ex *item)
{
    Seam *s = arg;
    GridBox *b = s->b;
    Exprs *e = b->e;
    i64 parts = s->bytes / s->word.unit, per = 8 * s->bytes / b->bits;
    const Ex *number = ex_add(e, ex_div(e, item, parts), ex_const(e, 1));
    const Ex *end = grid_let(b, "z", ex_times(e, number, s->run->ex.n));
    const Ex *up = ex_const(e, per - 1), *inside = ex_mod(e, ex_add(e, end, up), per);
    GridStmt *when = grid_when(b, (const Ex *[]){inside, inside},
                               (const Ex *[]){up, s->run->ex.n}, 2);
    GridStmt **then, **outer = when ? grid_open(b, when) : NULL;
    const Ex *at = ex_add(e, ex_scale(e, ex_div(e, end, per), parts),
                          ex_mod(e, item, parts));
    put_unit(s, grid_index(b, "q", at, grid_ceil(b, s->size, s->word.per), &then));
    grid_close(b, then);
    grid_close(b, outer);
}

/* Prepares code for units of so many bytes. */
static Seam
begin(GridBox *b, int unit)
{
    return (Seam){.b = b, .word = grid_word(b, unit), .size = b->u->plan->to->size,
                  .run = &b->loop[b->nloops - 1]};
}

bool
grid_loops(GridBox *b)
{
    if (!b->nest || b->nest->kind != NEST_COPY || !grid_has_seams(b))
        return false;
    Seam all = begin(b, grid_word_bytes(b));
    grid_each_thread(b, grid_ceil(b, all.size, all.word.per), put_unit, &all);
    return true;
}

GridStmt *
grid_seams(const GridBox *box, i64 bytes)
{
    GridBox b = *box;
    GridStmt *s = arena_new(b.arena, GridStmt);
    b.tail = &s->body;
    b.quotients = 0;
    Seam seam = begin(&b, grid_word_least(b.u));
    seam.bytes = bytes;
    const Ex *runs = grid_others(&b, &seam.run, 1), *one = ex_const(b.e, 1);
    const Ex *any = scalar_of(b.u->plan->scalars, ex_min(b.e, seam.run->ex.n, one), 1);
    grid_each_thread(&b, ex_scale(b.e, runs, bytes / seam.word.unit), put_seam, &seam);
    s->var = b.block;
    s->blocks = grid_needed(b.u->plan, box->nest, grid_times(&b, b.blocks, any));
    s->name = "ends of runs: seams";
    return s;
}
