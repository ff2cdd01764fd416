/* Interns expressions, and tells constants and digits among them. */
#include <string.h>

#include "expr.h"

/* Limits against hostile specs: the nodes of one compilation, and of the tree of one
 * expression.  A tree with shared parts can be exponentially larger than its storage, and
 * walks visit a part each time it occurs. */
enum { MAX_NODES = 400000, MAX_TREE = 1 << 14 };

/* The nodes of one kind.  Their hashes are computed again when a table grows: there, they
 * would take as much memory as the table. */
typedef struct {
    uint64_t (*hash)(const void *);
    bool (*same)(const void *, const void *);
    const void **slot;
    size_t cap, n;
} NodeTable;

typedef struct {
    const char *name;
    i64 min, max;
    const Ex *ex;
    bool is_loop;
} Var;

struct Exprs {
    Arena *arena;
    NodeTable atoms, sums;
    Var *var;
    int nvars, varcap;
    int room;             /* of each of the next two: ex_flags, ex_map */
    bool *flag;
    const Ex **map;
    Loc loc;
};

static uint64_t
mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * 0x9e3779b97f4a7c15u;
    return h ^ (h >> 29);
}

static uint64_t
atom_hash(const void *p)
{
    const Atom *a = p;
    uint64_t h = mix(a->op, (uint64_t)a->var);
    h = mix(mix(h, (uint64_t)a->lo), (uint64_t)a->hi);
    for (int i = 0; i < a->n; i++)
        h = mix(h, (uintptr_t)a->x[i]);
    return h;
}

static bool
atom_same(const void *p, const void *q)
{
    const Atom *a = p, *b = q;
    return a->op == b->op && a->var == b->var && a->lo == b->lo &&
           a->hi == b->hi && a->n == b->n &&
           (a->n == 0 || !memcmp(a->x, b->x, (size_t)a->n * sizeof *a->x));
}

static uint64_t
sum_hash(const void *p)
{
    const Ex *x = p;
    uint64_t h = mix((uint64_t)x->base, (uint64_t)x->n);
    for (int i = 0; i < x->n; i++)
        h = mix(mix(h, (uint64_t)x->t[i].coef), (uintptr_t)x->t[i].atom);
    return h;
}

static bool
sum_same(const void *p, const void *q)
{
    const Ex *a = p, *b = q;
    if (a->base != b->base || a->n != b->n)
        return false;
    for (int i = 0; i < a->n; i++)
        if (a->t[i].coef != b->t[i].coef || a->t[i].atom != b->t[i].atom)
            return false;
    return true;
}

Exprs *
ex_new(Arena *a)
{
    Exprs *e = arena_new(a, Exprs);
    e->arena = a;
    e->atoms = (NodeTable){.hash = atom_hash, .same = atom_same};
    e->sums = (NodeTable){.hash = sum_hash, .same = sum_same};
    return e;
}

typedef struct {
    Exprs *e;
    void (*f)(void *);
    void *arg;
} Scratch;

/* New nodes go to copies of the tables. */
static void
on_copies(void *arg)
{
    const Scratch *s = arg;
    Exprs *e = s->e;
    NodeTable *t[] = {&e->atoms, &e->sums};
    for (int i = 0; i < 2; i++)
        t[i]->slot = arena_copy(e->arena, t[i]->slot, t[i]->cap * sizeof *t[i]->slot);
    e->var = arena_copy(e->arena, e->var, (size_t)e->varcap * sizeof *e->var);
    s->f(s->arg);
}

void
ex_scratch(Exprs *e, void (*f)(void *), void *arg)
{
    Exprs kept = *e;
    arena_scratch(e->arena, on_copies, &(Scratch){e, f, arg});
    *e = kept;
}

Arena *
ex_arena(Exprs *e)
{
    return e->arena;
}

int
ex_nvars(const Exprs *e)
{
    return e->nvars;
}

static void
make_room(Exprs *e)
{
    if (e->nvars < e->room)
        return;
    e->room = 2 * e->nvars + 16;
    e->flag = arena_array(e->arena, bool, e->room);
    e->map = arena_array(e->arena, const Ex *, e->room);
}

bool *
ex_flags(Exprs *e)
{
    make_room(e);
    memset(e->flag, 0, (size_t)e->nvars * sizeof *e->flag);
    return e->flag;
}

const Ex **
ex_map(Exprs *e)
{
    make_room(e);
    memset(e->map, 0, (size_t)e->nvars * sizeof *e->map);
    return e->map;
}

const char *
ex_var_name(const Exprs *e, int var)
{
    return e->var[var].name;
}

void
ex_locate(Exprs *e, Loc loc)
{
    e->loc = loc;
}

void
ex_fail(Exprs *e, const char *why)
{
    diag_fatal(e->arena->diag, DIAG_LAYOUT, e->loc, "%s", why);
}

void
ex_overflow(Exprs *e)
{
    ex_fail(e, "an index expression does not fit 64 bits");
}

_Noreturn static void
too_large(Exprs *e)
{
    ex_fail(e, "the index expressions of this layout grow too large");
}

static void
table_grow(Exprs *e, NodeTable *t)
{
    NodeTable old = *t;
    if (old.n > MAX_NODES)
        too_large(e);
    t->cap = old.cap ? old.cap * 2 : 64;
    t->slot = arena_array(e->arena, const void *, (i64)t->cap);
    for (size_t i = 0; i < old.cap; i++) {
        if (!old.slot[i])
            continue;
        size_t j = t->hash(old.slot[i]) & (t->cap - 1);
        while (t->slot[j])
            j = (j + 1) & (t->cap - 1);
        t->slot[j] = old.slot[i];
    }
    arena_drop(e->arena, old.slot, old.cap * sizeof *old.slot);
}

/* The slot of the node that is equal to `proto`, or the free slot for it. */
static const void **
find(Exprs *e, NodeTable *t, const void *proto)
{
    if (t->n * 4 >= t->cap * 3)
        table_grow(e, t);
    size_t i = t->hash(proto) & (t->cap - 1);
    while (t->slot[i] && !t->same(t->slot[i], proto))
        i = (i + 1) & (t->cap - 1);
    return &t->slot[i];
}

static int
tree_size(Exprs *e, int a, int b)
{
    if (a + b > MAX_TREE)
        too_large(e);
    return a + b;
}

const Atom *
ex_atom(Exprs *e, const Atom *proto)
{
    const void **slot = find(e, &e->atoms, proto);
    if (!*slot) {
        Atom *a = arena_copy(e->arena, proto, sizeof *proto);
        e->atoms.n++;
        a->x = arena_copy(e->arena, proto->x, (size_t)a->n * sizeof *a->x);
        a->size = 1;
        for (int i = 0; i < a->n; i++)
            a->size = tree_size(e, a->size, a->x[i]->size);
        const Var *v = a->op == AT_VAR ? &e->var[a->var] : NULL;
        a->f = facts_of_atom(a, v ? v->min : 0, v ? v->max : 0);
        *slot = a;
    }
    return *slot;
}

/* Refuses x if |base| + sum |coef| * |atom| exceeds 64 bits.  Then no order of adding the
 * terms overflows, in emitted code too.  Unbounded variables are accepted: they occur only
 * while a layout is analysed as written. */
static void
check_fits(Exprs *e, const Ex *x)
{
    i64 total = x->base;
    if (total == INT64_MIN)
        ex_overflow(e);
    total = int_abs(total);
    for (int i = 0; i < x->n; i++) {
        Facts f = x->t[i].atom->f;
        i64 size, k = x->t[i].coef;
        if (k == INT64_MIN)
            ex_overflow(e);
        if (f.min == -INF || f.max == INF)
            continue;
        size = f.max > -f.min ? f.max : -f.min;
        if (!int_mul(size, int_abs(k), &size) || !int_add(total, size, &total))
            ex_overflow(e);
    }
}

const Ex *
ex_intern(Exprs *e, i64 base, const Term *t, int n)
{
    Ex proto = {.base = base, .n = n, .t = t};
    const void **slot = find(e, &e->sums, &proto);
    if (!*slot) {
        check_fits(e, &proto);
        Ex *x = arena_copy(e->arena, &proto, sizeof proto);
        e->sums.n++;
        x->t = arena_copy(e->arena, t, (size_t)n * sizeof *t);
        x->f = facts_const(base);
        for (int i = 0; i < n; i++) {
            x->size = tree_size(e, x->size, t[i].atom->size);
            x->f = facts_add(x->f, facts_scale(t[i].atom->f, t[i].coef));
        }
        *slot = x;
    }
    return *slot;
}

const Ex *
ex_const(Exprs *e, i64 v)
{
    return ex_intern(e, v, NULL, 0);
}

const Ex *
ex_of_atom(Exprs *e, const Atom *a)
{
    Term t = {1, a};
    if (a->f.min == a->f.max)
        return ex_const(e, a->f.min);
    return ex_intern(e, 0, &t, 1);
}

int
ex_var(Exprs *e, const char *name, i64 min, i64 max)
{
    if (e->nvars == e->varcap) {
        size_t old = (size_t)e->varcap * sizeof *e->var;
        e->varcap = e->varcap ? e->varcap * 2 : 16;
        e->var = arena_resize(e->arena, e->var, old, (size_t)e->varcap * sizeof *e->var);
    }
    Var *v = &e->var[e->nvars];
    *v = (Var){.name = arena_string(e->arena, name), .min = min, .max = max};
    return e->nvars++;
}

int
ex_loop_var(Exprs *e, const char *name, i64 n)
{
    for (int i = e->nvars - 1; i >= 0 && i >= e->nvars - 256; i--)
        if (e->var[i].is_loop && e->var[i].max == n - 1 && !strcmp(e->var[i].name, name))
            return i;
    int v = ex_var(e, name, 0, n - 1);
    e->var[v].is_loop = true;
    return v;
}

const Ex *
ex_of_var(Exprs *e, int var)
{
    if (!e->var[var].ex) {
        Atom a = {.op = AT_VAR, .var = var};
        const Ex *x = ex_of_atom(e, ex_atom(e, &a));
        e->var[var].ex = x;
    }
    return e->var[var].ex;
}

Digit
ex_digit(Exprs *e, const Atom *a)
{
    if (a->op == AT_DIG)
        return (Digit){a->x[0], a->lo, a->hi};
    return (Digit){ex_of_atom(e, a), 1, 0};
}

bool
ex_is_const(const Ex *x)
{
    return x->n == 0;
}

bool
ex_is(const Ex *x, i64 v)
{
    return ex_is_const(x) && x->base == v;
}
