/* Computes the arguments of a kernel with extents left to run time: every scalar in its
 * statements and, for each divisor, a multiplier and a shift. */
#include "grid_parts.h"

typedef struct {
    GridUnit *u;
    const Scalars *s;
    Arena *arena;
    bool *used, *counts, *divides; /* index: variable */
    const Ex **to;
} Collector;

/* Replaces every expression x of the statements by f(x). */
static void
each_ex(Collector *c, GridStmt *s, const Ex *(*f)(Collector *, const Ex *))
{
    for (; s; s = s->next) {
        for (int i = 0; i < MAX_RANK; i++) {
            if (s->value[i] && !(s->kind == G_DIVIDE && i == 1))
                s->value[i] = f(c, s->value[i]);
            if (s->bound[i])
                s->bound[i] = f(c, s->bound[i]);
        }
        const Ex **x[] = {&s->same[0], &s->same[1], &s->first, &s->end};
        int n = c->u->body->next || c->u->rows ? LEN(x) : 2;  /* one box has all blocks */
        for (int i = 0; i < n; i++)
            if (*x[i])
                *x[i] = f(c, *x[i]);
        each_ex(c, s->body, f);
    }
}

static const Ex *
mark(Collector *c, const Ex *x)
{
    ex_vars(x, c->used);
    return x;
}

/* The lengths of index arrays, and the bounds of their numbers. */
static void
mark_counts(Collector *c)
{
    for (int i = 0; i < c->u->narrays; i++) {
        ex_vars(c->u->array[i].n, c->counts);
        ex_vars(c->u->array[i].bound, c->counts);
    }
}

static void
mark_divisors(Collector *c, const GridStmt *s)
{
    for (; s; s = s->next) {
        if (s->kind == G_DIVIDE)
            c->divides[ex_as_var(s->value[1])] = true;
        mark_divisors(c, s->body);
    }
}

static const Ex *
renamed(Collector *c, const Ex *x)
{
    return ex_subst(c->u->e, x, c->to);
}

static void
rename_divisors(Collector *c, GridStmt *s)
{
    for (; s; s = s->next) {
        if (s->kind == G_DIVIDE)
            s->value[1] = c->to[ex_as_var(s->value[1])];
        rename_divisors(c, s->body);
    }
}

static void
add(Collector *c, int scalar)
{
    GridUnit *u = c->u;
    const Ex *x = scalar_ex(c->s, scalar);
    int var = ex_as_var(x);
    const char *name = arena_printf(c->arena, "S%d", u->nargs);
    u->arg[u->nargs++] = (GridArg){.name = name, .value = x, .plain = c->used[var],
                                   .counts = c->counts[var]};
    u->ndivisors += c->divides[var];
    c->to[var] = ex_of_var(u->e, ex_var(u->e, name, x->f.min, x->f.max));
}

/* Adds the arguments that are divisors, or the others.  Divisors come first. */
static void
add_all(Collector *c, bool divisors)
{
    for (int i = 0; i < c->s->n; i++) {
        int var = c->s->scalar[i].var;
        if (c->divides[var] == divisors && (divisors || c->used[var] || c->counts[var]))
            add(c, i);
    }
}

int
grid_values(const GridUnit *u)
{
    return u->nargs + 2 * u->ndivisors;
}

int
grid_value_at(const GridUnit *u, int arg)
{
    return arg < u->ndivisors ? 3 * arg : arg + 2 * u->ndivisors;
}

void
grid_arguments(GridUnit *u)
{
    Arena *a = ex_arena(u->e);
    int nvars = ex_nvars(u->e);
    Collector c = {.u = u, .s = u->plan->scalars, .arena = a};
    c.used = arena_array(a, bool, nvars);
    c.counts = arena_array(a, bool, nvars);
    c.divides = arena_array(a, bool, nvars);
    c.to = arena_array(a, const Ex *, nvars + c.s->n);
    u->arg = arena_array(a, GridArg, c.s->n + u->fills);
    each_ex(&c, u->body, mark);
    mark_counts(&c);
    mark_divisors(&c, u->body);
    add_all(&c, true);
    add_all(&c, false);
    grid_fill_arguments(u);
    int most = u->most.batch ? ARGUMENTS_MAX / 2 : ARGUMENTS_MAX;
    if (grid_values(u) > most)
        diag_fatal(a->diag, DIAG_LAYOUT, (Loc){0},
                   "a kernel for this takes %d numbers that depend on the extents, more "
                   "than %d: give some as numbers", grid_values(u), most);
    each_ex(&c, u->body, renamed);
    rename_divisors(&c, u->body);
    for (int i = 0; i < u->narrays; i++) {
        u->array[i].n = renamed(&c, u->array[i].n);
        u->array[i].bound = renamed(&c, u->array[i].bound);
    }
}

const Ex *
grid_needed(const Plan *p, const Nest *n, const Ex *blocks)
{
    Exprs *e = p->e;
    const Ex *least = ex_const(e, 1);
    for (int i = 0; i < n->nneeded - n->nnarrow; i++)
        least = ex_min(e, least, n->needed[i]);
    return scalar_times(p->scalars, blocks,
                        scalar_of(p->scalars, ex_max(e, least, ex_const(e, 0)), 1));
}
