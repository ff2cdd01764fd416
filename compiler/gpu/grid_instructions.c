/* Estimates the instructions of a thread in a block whose tile is whole, from the statements.
 * docs/gpu.md has the model; the tests hold it against nvcc's machine code. */
#include "grid_parts.h"

enum {
    FIXED = 14,           /* numbers of thread and block, arguments, the end */
    PHASE = 3,            /* begins a phase */
    POINTER = 2,          /* makes a pointer of 64 bits of an index */
    DIVIDE = 4            /* divides by a number of run time */
};

/* What has been counted is computed once: equal expressions are one pointer. */
typedef struct {
    const GridUnit *u;
    Arena *arena;
    const void **seen;
    int nseen, room;
    const Ex **same;      /* for a variable: an earlier one with its definition, or NULL */
    const GridStmt **defined;      /* definitions and loops that are no others' */
    int ndefined;
    int loop;             /* the variable of the innermost loop; -1: none */
    i64 times;            /* iterations of all loops around the statement */
    i64 sum;
} Count;

static bool
has_seen(const Count *c, const void *x)
{
    for (int i = 0; i < c->nseen; i++)
        if (c->seen[i] == x)
            return true;
    return false;
}

static bool
is_new(Count *c, const void *x)
{
    if (has_seen(c, x))
        return false;
    if (c->nseen == c->room) {
        const void **more = arena_array(c->arena, const void *, 2 * c->room + 64);
        for (int i = 0; i < c->nseen; i++)
            more[i] = c->seen[i];
        c->seen = more;
        c->room = 2 * c->room + 64;
    }
    c->seen[c->nseen++] = x;
    return true;
}

/* A division by a number that is no power of two is a multiplication and shifts. */
static i64
of_digit(const Atom *a)
{
    i64 n = 0;
    if (a->lo > 1)
        n += int_is_pow2(a->lo) ? 1 : 3;
    if (a->hi)
        n += int_is_pow2(a->hi / a->lo) ? 1 : 2;
    return n;
}

static i64 of_sum(Count *c, const Ex *x);

static i64
of_atom(Count *c, const Atom *a)
{
    i64 n = a->op == AT_DIG ? of_digit(a) : a->n - 1;
    if (a->op == AT_VAR || !is_new(c, a))
        return 0;
    for (int i = 0; i < a->n; i++)
        n += of_sum(c, a->x[i]);
    return n;
}

/* A product and a sum are one instruction. */
static i64
of_sum(Count *c, const Ex *x)
{
    if (!is_new(c, x))
        return 0;
    i64 n = x->n + (x->base != 0) - (x->n && x->t[0].coef == 1);
    for (int i = 0; i < x->n; i++)
        n += of_atom(c, x->t[i].atom);
    return n;
}

static bool
varies(const Count *c, const Ex *x)
{
    return c->loop >= 0 && ex_has(x, c->loop);
}

static const Ex *
of_first(const Count *c, const Ex *x)
{
    return x ? ex_subst(c->u->e, x, c->same) : NULL;
}

/* The variable of a loop is that of an earlier one with as many iterations, which is unrolled too;
 * that of a definition, of one with the same value. */
static void
find_same(Count *c, const GridStmt *s)
{
    for (int i = 0; i < c->ndefined; i++) {
        const GridStmt *t = c->defined[i];
        if (t->kind != s->kind || t->count != s->count ||
            of_first(c, t->value[0]) != of_first(c, s->value[0]))
            continue;
        c->same[s->var] = ex_of_var(c->u->e, t->var);
        if (s->kind == G_LET)
            c->same[s->guarded] = ex_of_var(c->u->e, t->guarded);
        return;
    }
    c->defined[c->ndefined++] = s;
}

/* Adds an expression; in each iteration if that changes it. */
static void
add_value(Count *c, const Ex *x)
{
    x = of_first(c, x);
    if (x && !ex_is_const(x))
        c->sum += of_sum(c, x) * (varies(c, x) ? c->times : 1);
}

/* Adds an access. */
static void
add_access(Count *c, const GridStmt *s, const Ex *at)
{
    GridIndex x = grid_index_apart(c->u->e, of_first(c, at), c->loop);
    i64 pointer = s->space == SPACE_SHARED || has_seen(c, x.rest) ? 0 : POINTER;
    c->sum += c->times * (ex_is(x.flips, 0) ? 1 : 2) + pointer * (varies(c, x.rest) ? c->times : 1);
    add_value(c, x.rest);
}

static i64
operators_of(const GridStmt *s)
{
    i64 n = 0;
    for (int i = 0; i < s->nwords; i++)
        for (const char *p = s->word[i]; *p; p++)
            n += *p == '&' || *p == '|';
    return n;
}

static i64
work_of(const GridStmt *s)
{
    switch (s->kind) {
    case G_DIVIDE: return DIVIDE;
    case G_PERMUTE: case G_FUNNEL: return 1;
    case G_HALVES: case G_PUT: case G_LOOKUP: return 2;
    case G_SET: return s->nwords;
    case G_STORE: return operators_of(s);
    default: return 0;
    }
}

static void add_body(Count *c, const GridStmt *s);

static void
add_loop(Count *c, const GridStmt *s)
{
    Count outer = *c;
    find_same(c, s);
    c->loop = c->same[s->var] ? ex_as_var(c->same[s->var]) : s->var;
    c->times *= s->count;
    add_body(c, s->body);
    c->loop = outer.loop;
    c->times = outer.times;
}

/* A condition: the comparisons and a branch.  Of two ways the first is for whole tiles. */
static void
add_condition(Count *c, const GridStmt *s)
{
    for (int i = 0; i < s->nvalues; i++)
        add_value(c, s->value[i]);
    c->sum += c->times * (s->nvalues + (s->same[0] != NULL) + 1);
    add_body(c, s->body);
}

static void
add_statement(Count *c, const GridStmt *s)
{
    c->sum += c->times * work_of(s);
    if (s->kind == G_FOR) {
        add_loop(c, s);
    } else if (s->kind == G_WHEN || s->kind == G_MOVED) {
        add_condition(c, s);
    } else if (s->kind == G_LOAD || s->kind == G_STORE || (s->kind == G_WORD && s->value[0])) {
        add_access(c, s, s->value[0]);
    } else if (s->kind == G_PUT && s->value[1]) {
        add_access(c, s, s->value[1]);
        add_value(c, s->value[2]);
    } else if (s->kind != G_ELSE) {
        c->sum += s->kind == G_PHASE ? PHASE : s->kind == G_BARRIER || s->kind == G_WORD;
        add_value(c, s->value[0]);
        if (s->kind == G_LET)
            find_same(c, s);
        add_body(c, s->body);
    }
}

static void
add_body(Count *c, const GridStmt *s)
{
    for (; s; s = s->next)
        add_statement(c, s);
}

static int
definitions(const GridStmt *s)
{
    int n = 0;
    for (; s; s = s->next)
        n += (s->kind == G_LET || s->kind == G_FOR) + definitions(s->body);
    return n;
}

i64
grid_instructions(const GridUnit *u, const GridStmt *box)
{
    Arena *a = ex_arena(u->e);
    Count c = {.u = u, .arena = a, .loop = -1, .times = 1, .sum = FIXED,
               .same = arena_array(a, const Ex *, ex_nvars(u->e)),
               .defined = arena_array(a, const GridStmt *, definitions(box->body) + 1)};
    add_body(&c, box->body);
    return c.sum;
}
