/* The plan interpreter: the loops that emit_relayout.c writes down, walked.
 *
 * What strides do not make of an address, the rest, is a sum over few loops each: its
 * values are tables made with the plan, where there is room, else evaluated for each
 * call. */
#include "interpret.h"

#include <string.h>

enum { ARGS_MAX = 14, TABLES_BYTES = 256 << 10 };

/* Every kernel takes pointers and 64-bit integers alone, which the calling conventions of
 * 64-bit machines pass alike, and ignores what it is passed beyond them. */
typedef uint64_t Word;
typedef void AnyKernel(Word, Word, Word, Word, Word, Word, Word, Word, Word, Word, Word,
                       Word, Word, Word);
_Static_assert(sizeof(void *) == sizeof(Word), "pointers are words");

/* A part of a rest that shares no turn with the others. */
typedef struct {
    const Ex *x;          /* over variables that are turns by number */
    const i64 *table;     /* its values, the last turn's next to each other; NULL: none */
    int n;                /* the turns in it */
    struct { int turn; i64 n; } at[MAX_TURNS];
} Group;

typedef struct {
    i64 base;
    int n;
    Group *group;
} Rest;

/* An argument that is not the same for all calls. */
typedef struct {
    int at;               /* its number */
    CallArg arg;
    int turn;             /* CALL_COUNT: of its loop */
} Varying;

typedef struct {
    const Nest *nest;
    AnyKernel *kernel;
    Word arg[ARGS_MAX];
    int nvarying;
    Varying varying[ARGS_MAX];
    Rest dst, src;
    i64 owner;            /* of a nest that is not split */
} Step;

struct Steps {
    const Plan *plan;
    int n;
    Step *step;
    void (*fence)(void);  /* NULL: nothing is streamed */
};

typedef struct {
    Arena *a;
    const Plan *p;
    const KernelSet *set;
    i64 room;             /* bytes left for tables */
} Maker;

static void
(*function(const KernelSet *set, const char *name))(void)
{
    const JitSymbol *s = set->symbols;
    while (strcmp(s->name, name))
        s++;
    return s->fn;
}

/* The values of a group for all turns of its loops, where they fit. */
static void
make_table(Maker *m, const Nest *n, Group *g)
{
    i64 count = 1, i[MAX_TURNS] = {0}, at = 0;
    for (int k = 0; k < g->n; k++) {
        g->at[k].n = n->loop[n->turn[g->at[k].turn].loop].n;
        if (count <= m->room)
            count *= g->at[k].n;
    }
    if (count > m->room / (i64)sizeof *g->table)
        return;
    m->room -= count * (i64)sizeof *g->table;
    i64 *table = arena_array(m->a, i64, count);
    for (int k = 0; k >= 0; at++) {
        if (!ex_eval(g->x, i, &table[at]))
            return;
        for (k = g->n - 1; k >= 0 && ++i[g->at[k].turn] == g->at[k].n; k--)
            i[g->at[k].turn] = 0;
    }
    g->table = table;
}

static uint64_t
turns_in(Maker *m, Exprs *f, const Term *t)
{
    bool *used = arena_array(m->a, bool, ex_nvars(f));
    uint64_t set = 0;
    ex_vars(ex_sum(f, 0, t, 1), used);
    for (int k = 0; k < ex_nvars(f); k++)
        set |= (uint64_t)used[k] << k;
    return set;
}

/* The terms of x that have a turn in common, directly or by others, are one group. */
static void
make_groups(Maker *m, Exprs *f, const Nest *n, const Ex *x, Rest *r)
{
    uint64_t *in = arena_array(m->a, uint64_t, x->n);
    Term *t = arena_array(m->a, Term, x->n);
    r->group = arena_array(m->a, Group, x->n);
    r->base = x->base;
    for (int i = 0; i < x->n; i++)
        in[i] = turns_in(m, f, &x->t[i]);
    for (int i = 0; i < x->n; i++) {
        uint64_t set = in[i], before = 0;
        Group *g = &r->group[r->n];
        int terms = 0;
        while (set != before) {
            before = set;
            for (int k = 0; k < x->n; k++)
                set |= in[k] & set ? in[k] : 0;
        }
        for (int k = 0; k < x->n; k++)
            if (in[k] & set) {
                t[terms++] = x->t[k];
                in[k] = 0;
            }
        if (!terms)
            continue;
        g->x = ex_sum(f, 0, t, terms);
        for (int k = 0; k < n->nturns; k++)
            if (set >> k & 1)
                g->at[g->n++].turn = k;
        make_table(m, n, g);
        r->n++;
    }
}

/* An address over its turns, which are the variables of expressions of its own. */
static Rest
make_rest(Maker *m, const Nest *n, const Ex *x)
{
    Rest r = {.base = n->table ? 0 : x->base};
    if (n->table || ex_is_const(x))
        return r;
    Exprs *f = ex_new(m->a);
    const Ex **to = arena_array(m->a, const Ex *, ex_nvars(m->p->e));
    for (int k = 0; k < n->nturns; k++) {
        const Loop *l = &n->loop[n->turn[k].loop];
        to[l->var] = ex_of_var(f, ex_var(f, l->name, 0, l->n - 1));
    }
    make_groups(m, f, n, ex_subst(f, x, to), &r);
    return r;
}

/* What a call takes of a loop, in elements; the last of a turn's may take fewer. */
static bool
count_varies(const Nest *n, int role)
{
    return n->role[role] >= 0 && nest_turn(n, n->role[role]) >= 0 &&
           n->loop[n->role[role]].n % nest_tile(n, role) != 0;
}

static void
make_argument(Maker *m, Step *s, int at, char letter)
{
    const Nest *n = s->nest;
    CallArg a = call_arg(m->p, n, letter);
    bool varies = a.is == CALL_COUNT ? count_varies(n, a.role)
                                     : a.is > CALL_TABLE;
    if (varies) {
        int turn = a.is == CALL_COUNT ? nest_turn(n, n->role[a.role]) : -1;
        s->varying[s->nvarying++] = (Varying){at, a, turn};
    } else if (a.is == CALL_COUNT) {
        s->arg[at] = (Word)call_unit(m->p, nest_tile(n, a.role) + a.number, a.unit);
    } else if (a.is == CALL_TABLE) {
        s->arg[at] = (Word)(uintptr_t)nest_table(m->a, m->p, n);
    } else {
        s->arg[at] = a.is == CALL_PATTERN ? m->p->dst->fill[0] : (Word)a.number;
    }
}

static void
make_step(Maker *m, const Nest *n, Step *s)
{
    s->nest = n;
    s->kernel = (AnyKernel *)function(m->set, n->kernel->symbol);
    s->owner = nest_owner(m->p, n);
    s->dst = make_rest(m, n, n->dst);
    s->src = make_rest(m, n, n->src);
    for (int i = 0; n->kernel->args[i]; i++)
        make_argument(m, s, i, n->kernel->args[i]);
}

const Steps *
interpret_make(Arena *a, const Plan *p, const KernelSet *set)
{
    Maker m = {a, p, set, TABLES_BYTES};
    Steps *s = arena_new(a, Steps);
    s->plan = p;
    s->step = arena_array(a, Step, p->n);
    for (int i = 0; i < p->n; i++) {
        if (p->nest[i].merged)
            continue;
        make_step(&m, &p->nest[i], &s->step[s->n++]);
        if (p->nest[i].stream)
            s->fence = function(set, "ravel_fence");
    }
    return s;
}

/* Where a walk is. */
typedef struct {
    const Plan *plan;
    const Step *step;
    unsigned char *dst;
    const unsigned char *src;
    i64 part, parts;
    i64 i[MAX_TURNS];     /* of the turns, by number */
} Walk;

static i64
rest_at(const Rest *r, const i64 *i)
{
    i64 sum = r->base, v = 0;
    for (int g = 0; g < r->n; g++) {
        const Group *q = &r->group[g];
        i64 at = 0;
        for (int k = 0; k < q->n; k++)
            at = at * q->at[k].n + i[q->at[k].turn];
        if (q->table)
            v = q->table[at];
        else
            ex_eval(q->x, i, &v);   /* fits: the planner's addresses do */
        sum += v;
    }
    return sum;
}

static Word
place(const Walk *w, bool source, i64 bytes)
{
    return source ? (Word)(uintptr_t)(w->src + bytes) : (Word)(uintptr_t)(w->dst + bytes);
}

static Word
argument(const Walk *w, const Varying *v, i64 start)
{
    const Nest *n = w->step->nest;
    i64 left, tile;
    switch (v->arg.is) {
    case CALL_BUFFER: return place(w, v->arg.source, 0);
    case CALL_PLACE:  return place(w, v->arg.source, call_unit(w->plan, start, IN_BYTES));
    case CALL_START:  return (Word)start;
    case CALL_COUNT:
        tile = n->turn[v->turn].step;
        left = n->loop[n->turn[v->turn].loop].n - w->i[v->turn];
        return (Word)call_unit(w->plan, (left < tile ? left : tile) + v->arg.number,
                               v->arg.unit);
    case CALL_NUMBER: case CALL_PATTERN: case CALL_TABLE: break;
    }
    return 0;
}

static void
call(const Walk *w, i64 d, i64 s)
{
    const Step *p = w->step;
    Word a[ARGS_MAX];
    memcpy(a, p->arg, sizeof a);
    d += rest_at(&p->dst, w->i);
    s += rest_at(&p->src, w->i);
    for (int k = 0; k < p->nvarying; k++) {
        const Varying *v = &p->varying[k];
        a[v->at] = argument(w, v, v->arg.source ? s : d);
    }
    p->kernel(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11],
              a[12], a[13]);
}

/* Turn k and those in it; d and s are what strides have made so far, in elements. */
static void
walk(Walk *w, int k, i64 d, i64 s)
{
    const Nest *n = w->step->nest;
    if (k == n->nturns) {
        call(w, d, s);
        return;
    }
    const Loop *l = &n->loop[n->turn[k].loop];
    i64 step = n->turn[k].step, first = 0, end = l->n;
    if (k == n->split) {
        i64 turns = int_ceil_div(l->n, step);
        first = turns * w->part / w->parts * step;
        end = turns * (w->part + 1) / w->parts * step;
    }
    for (i64 i = first; i < end; i += step) {
        w->i[k] = i;
        walk(w, k + 1, d + i * l->ds, s + i * l->ss);
    }
}

void
interpret_part(const Steps *s, void *dst, const void *src, i64 part, i64 parts)
{
    Walk w = {.plan = s->plan, .dst = dst, .src = src, .part = part, .parts = parts};
    for (int i = 0; i < s->n; i++) {
        w.step = &s->step[i];
        bool split = w.step->nest->split >= 0;
        if (split || w.step->owner % parts == part)
            walk(&w, 0, 0, 0);
    }
    if (s->fence)
        s->fence();
}
