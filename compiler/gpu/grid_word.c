/* Words of the destination that one thread composes of elements. */
#include "grid_parts.h"

static const char *const name = "v";

int
grid_word_least(const GridUnit *u)
{
    int bytes = u->plan->dst->dtype->bits / 8;
    return bytes > u->most.access ? bytes : u->most.access;
}

GridWord
grid_word(GridBox *b, int unit)
{
    return (GridWord){.b = b, .unit = unit, .per = 8 * unit / b->bits,
                      .least = grid_word_least(b->u)};
}

int
grid_word_bytes(GridBox *b)
{
    int least = grid_word_least(b->u);
    const Ex *bytes = grid_ceil(b, ex_scale(b->e, b->u->plan->to->size, b->bits), 8);
    bool whole = grid_divisor(bytes) % WORD_BYTES == 0 && b->u->most.align >= WORD_BYTES;
    return least < WORD_BYTES && whole ? WORD_BYTES : least;
}

void
grid_word_open(const GridWord *w, const Ex *at)
{
    GridStmt *s = grid_add(w->b, G_WORD);
    s->name = name;
    s->space = SPACE_DST;
    s->width = w->unit;
    s->value[0] = at;
}

GridStmt *
grid_word_put(const GridWord *w, const Ex *k)
{
    GridStmt *s = grid_add(w->b, G_PUT);
    s->name = name;
    s->pattern = (uint32_t)(((uint64_t)1 << w->b->bits) - 1);
    s->value[0] = ex_scale(w->b->e, k, w->b->bits);
    return s;
}

/* True if x has no digit of a sum. */
static bool
is_apart(const Ex *x)
{
    for (int i = 0; i < x->n; i++) {
        const Atom *a = x->t[i].atom;
        if (a->op != AT_VAR && (a->n != 1 || a->x[0]->n > 1 || !is_apart(a->x[0])))
            return false;
    }
    return true;
}

void
grid_word_fetch(const GridWord *w, const Ex *k, const Ex *from)
{
    Exprs *e = w->b->e;
    int per = 8 * w->least / w->b->bits;
    if (w->per == 1) {
        grid_load(w->b, name, false, SPACE_SRC, w->unit, from);
        return;
    }
    if (from->f.min < 0 || !is_apart(ex_div(e, from, per)) || !is_apart(ex_mod(e, from, per)))
        from = grid_let(w->b, "y", from);    /* the digits of a variable have no sum below 0 */
    GridStmt *s = grid_word_put(w, k);
    s->space = SPACE_SRC;
    s->width = w->least;
    s->value[1] = ex_div(e, from, per);
    s->value[2] = ex_scale(e, ex_mod(e, from, per), w->b->bits);
}

void
grid_word_close(const GridWord *w, const Ex *at)
{
    grid_store(w->b, SPACE_DST, w->unit, at, &name, 1);
}

void
grid_word_unit(const GridWord *w, const Ex *at, bool keep,
               void (*put)(void *arg, const Ex *a, const Ex *k), void *arg)
{
    GridBox *b = w->b;
    const Ex *size = b->u->plan->to->size;
    bool whole = grid_divisor(size) % w->per == 0;
    GridStmt **outer, **then;
    grid_word_open(w, keep || !whole ? at : NULL);
    const Ex *k = grid_for(b, "k", w->per, &outer);
    const Ex *a = ex_add(b->e, ex_scale(b->e, at, w->per), k);
    bool known = whole && a->f.max < INF;        /* then digits of k are those of the address */
    int before = b->unrolled;
    if (known && outer)
        b->unrolled = ex_as_var(k) + 1;
    put(arg, known ? a : grid_index(b, "p", a, size, &then), k);
    b->unrolled = before;
    grid_close(b, known ? NULL : then);
    grid_close(b, outer);
    grid_word_close(w, at);
}

void
grid_each_thread(GridBox *b, const Ex *n, void (*make)(void *arg, const Ex *item), void *arg)
{
    grid_blocks(b, grid_ceil(b, n, GRID_THREADS));
    GridStmt **then, **outer = grid_open(b, grid_add(b, G_PHASE));
    const Ex *item = grid_item(b, ex_of_var(b->e, b->block));
    make(arg, grid_index(b, "e", item, n, &then));
    grid_close(b, then);
    grid_close(b, outer);
}
