/* Words of a source that begins and ends anywhere, for rows that shift words. */
#include "grid_parts.h"


bool
grid_has_words(const GridBox *b, const GridLoop *run, i64 per)
{
    i64 g = int_gcd(grid_divisor(b->dst), run->n);
    for (int i = 0; i < b->nloops; i++)
        if (&b->loop[i] != run)
            g = int_gcd(g, b->loop[i].ds);
    return g % per == 0;
}

bool
grid_is_forward(const GridBox *b)
{
    for (int i = 0; i < b->nloops; i++)
        if (b->loop[i].ss < 1 || b->loop[i].ex.ss->f.min < 0 || b->loop[i].ds < 1 ||
            b->loop[i].ex.ds->f.min < 0 || b->loop[i].residual ||
            b->loop[i].ex.real != b->loop[i].ex.n)
            return false;
    return b->nest->kind == NEST_COPY && b->src->f.min >= 0 && b->dst->f.min >= 0;
}

/* A buffer consists of whole accesses. */
GridSource
grid_source(GridBox *b)
{
    const Ex *size = b->u->plan->from->size;
    i64 least = b->u->most.access, per = 8 * least / b->bits;
    const Ex *bytes = per > 1 ? ex_scale(b->e, grid_ceil(b, size, per), least)
                              : ex_scale(b->e, size, b->bits / 8);
    return (GridSource){b, grid_floor(b, bytes, WORD_BYTES), bytes};
}

/* The most bytes of the source after its whole words. */
static i64
tail_of(const GridSource *s)
{
    return ex_is_const(s->bytes) ? s->bytes->base % WORD_BYTES
           : grid_divisor(s->bytes) % WORD_BYTES ? WORD_BYTES - 1 : 0;
}

/* Adds the bytes after the whole words to the word of that name. */
static void
put_tail(const GridSource *s, const char *name, const Ex *at)
{
    GridBox *b = s->b;
    Exprs *e = b->e;
    GridStmt **outer;
    const Ex *k = grid_for(b, "u", tail_of(s), &outer);
    const Ex *byte = ex_add(e, ex_scale(e, at, WORD_BYTES), k);
    GridStmt **inside = grid_open(b, grid_when(b, &byte, &s->bytes, 1));
    GridStmt *put = grid_add(b, G_PUT);
    put->name = name;
    put->space = SPACE_SRC;
    put->width = 1;
    put->pattern = 0xff;
    put->value[0] = ex_scale(e, k, 8);
    put->value[1] = byte;
    put->value[2] = ex_const(e, 0);
    grid_close(b, inside);
    grid_close(b, outer);
}

void
grid_source_word(const GridSource *s, const char *name, const Ex *at)
{
    GridBox *b = s->b;
    GridStmt *zero = grid_add(b, G_WORD);
    zero->name = name;
    zero->width = WORD_BYTES;
    GridStmt *when = grid_when(b, &at, &s->words, 1);
    GridStmt **then = when ? grid_open(b, when) : NULL;
    grid_load(b, name, false, SPACE_SRC, WORD_BYTES, at);
    grid_close(b, then);
    if (!when || tail_of(s) == 0)
        return;
    then = grid_open(b, grid_add(b, G_ELSE));
    put_tail(s, name, at);
    grid_close(b, then);
}
