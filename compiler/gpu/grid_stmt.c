/* Builds the statements of kernels. */
#include "grid_parts.h"

GridStmt *
grid_add(GridBox *b, GridKind kind)
{
    GridStmt *s = arena_new(b->arena, GridStmt);
    s->kind = kind;
    *b->tail = s;
    b->tail = &s->next;
    return s;
}

GridStmt **
grid_open(GridBox *b, GridStmt *s)
{
    GridStmt **outer = b->tail;
    b->tail = &s->body;
    return outer;
}

void
grid_close(GridBox *b, GridStmt **outer)
{
    b->tail = outer ? outer : b->tail;
}

void
grid_phase(GridBox *b, GridStmt *(*when)(void *arg), void (*put)(void *arg, bool whole),
           void *arg)
{
    GridStmt **outer = grid_open(b, grid_add(b, G_PHASE)), *condition = when(arg);
    if (condition) {
        GridStmt **rest = grid_open(b, condition);
        put(arg, true);
        grid_close(b, rest);
        grid_open(b, grid_add(b, G_ELSE));
    }
    put(arg, false);
    grid_close(b, outer);
}

const Ex *
grid_let(GridBox *b, const char *name, const Ex *x)
{
    if (ex_is_const(x) || ex_as_var(x) >= 0 ||
        (b->unrolled && grid_is_unrolled(x, b->unrolled - 1)))
        return x;
    GridStmt *s = grid_add(b, G_LET);
    s->name = name;
    s->value[0] = x;
    s->var = s->guarded = ex_var(b->e, name, x->f.min, x->f.max);
    return ex_of_var(b->e, s->var);
}

/* The greatest number that is less than n for some shape. */
static i64
below(const Ex *n)
{
    return n->f.max < INF ? n->f.max - 1 : INF;
}

const Ex *
grid_within(GridBox *b, const char *name, const Ex *x, const Ex *n)
{
    GridStmt *let = grid_add(b, G_LET);
    let->name = name;
    let->value[0] = x;
    let->var = let->guarded = ex_var(b->e, name, 0, below(n));
    return ex_of_var(b->e, let->guarded);
}

const Ex *
grid_index(GridBox *b, const char *name, const Ex *x, const Ex *n, GridStmt ***outer)
{
    GridStmt *let = grid_add(b, G_LET);
    let->name = name;
    let->value[0] = x;
    let->var = ex_var(b->e, name, 0, x->f.max);
    let->guarded = ex_var(b->e, name, 0, below(n));
    x = ex_of_var(b->e, let->var);
    GridStmt *when = grid_when(b, &x, &n, 1);
    *outer = when ? grid_open(b, when) : NULL;
    return ex_of_var(b->e, let->guarded);
}

const Ex *
grid_for(GridBox *b, const char *name, i64 count, GridStmt ***outer)
{
    *outer = NULL;
    if (count == 1)
        return ex_const(b->e, 0);
    GridStmt *s = grid_add(b, G_FOR);
    s->name = name;
    s->count = count;
    s->var = ex_var(b->e, name, 0, count - 1);
    *outer = grid_open(b, s);
    return ex_of_var(b->e, s->var);
}

const Ex *
grid_item(GridBox *b, const Ex *k)
{
    return ex_add(b->e, ex_of_var(b->e, b->u->thread), ex_scale(b->e, k, GRID_THREADS));
}

void
grid_each_item(GridBox *b, i64 n, void (*put)(void *arg, const Ex *q), void *arg)
{
    i64 whole = n / GRID_THREADS;
    GridStmt **outer;
    if (whole) {
        const Ex *k = grid_for(b, "k", whole, &outer);
        put(arg, grid_item(b, k));
        grid_close(b, outer);
    }
    if (n % GRID_THREADS) {
        const Ex *last = grid_item(b, ex_const(b->e, whole));
        put(arg, grid_index(b, "q", last, ex_const(b->e, n), &outer));
        grid_close(b, outer);
    }
}

void
grid_array(GridBox *b, const char *name, int width, i64 count)
{
    GridStmt *s = grid_add(b, G_ARRAY);
    s->name = name;
    s->width = width;
    s->count = count;
}

void
grid_load(GridBox *b, const char *name, bool declares, Space space, int width,
        const Ex *at)
{
    GridStmt *s = grid_add(b, G_LOAD);
    s->name = name;
    s->declares = declares;
    s->space = space;
    s->width = width;
    s->value[0] = at;
    if (space != SPACE_SHARED && width > b->u->align)
        b->u->align = width;
}

void
grid_store(GridBox *b, Space space, int width, const Ex *at, const char *const *word,
         int nwords)
{
    GridStmt *s = grid_add(b, G_STORE);
    s->space = space;
    s->width = width;
    s->value[0] = at;
    s->nwords = nwords;
    for (int i = 0; i < nwords; i++)
        s->word[i] = word[i];
    if (space != SPACE_SHARED && width > b->u->align)
        b->u->align = width;
}

GridStmt *
grid_when(GridBox *b, const Ex *const *value, const Ex *const *bound, int n)
{
    GridStmt *s = NULL;
    for (int i = 0; i < n; i++) {
        if (value[i]->f.max < bound[i]->f.min)
            continue;
        if (!s)
            s = grid_add(b, G_WHEN);
        s->value[s->nvalues] = value[i];
        s->bound[s->nvalues++] = bound[i];
    }
    return s;
}

void
grid_vars(const GridStmt *s, bool *used)
{
    for (; s; s = s->next) {
        for (int i = 0; i < LEN(s->value); i++)
            if (s->value[i])
                ex_vars(s->value[i], used);
        for (int i = 0; i < LEN(s->bound); i++)
            if (s->bound[i])
                ex_vars(s->bound[i], used);
        for (int i = 0; s->same[0] && i < LEN(s->same); i++)
            ex_vars(s->same[i], used);
        grid_vars(s->body, used);
    }
}

static bool
drop(GridStmt **at, const bool *used)
{
    bool any = false;
    while (*at) {
        GridStmt *s = *at;
        bool defines = s->kind == G_LET || s->kind == G_DIVIDE || s->kind == G_LOOKUP;
        bool unused = defines && !used[s->var] && !used[s->guarded];
        any |= unused | drop(&s->body, used);
        if (unused)
            *at = s->next;
        else
            at = &s->next;
    }
    return any;
}

void
grid_drop_unused(Exprs *e, GridStmt **body)
{
    bool *used;
    do {
        used = arena_array(ex_arena(e), bool, ex_nvars(e));
        grid_vars(*body, used);
    } while (drop(body, used));
}
