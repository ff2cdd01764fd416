/* The steps of a plan at one shape. */
#include "interpret_steps.h"

/* As emitted code adds them: a definition, which no other file shares. */
#include "../templates/c/table_add.c"

typedef struct {
    Arena *a;
    const i64 *val;       /* of the plan's scalars */
} NumbersMaker;

/* A value that emitted code computes without checks, because the sizes fit. */
static i64
number(const NumbersMaker *m, const Ex *x)
{
    i64 v;
    if (!ex_eval(x, m->val, &v))
        diag_fatal(m->a->diag, DIAG_ARGUMENT, (Loc){0},
                   "the sizes at this shape do not fit 64 bits");
    return v;
}

static bool
is_needed(const NumbersMaker *m, const Sketch *k)
{
    for (int i = 0; i < k->nneeds; i++)
        if (number(m, k->needs[i]) <= 0)
            return false;
    return true;
}

/* The sum of the parts of the table. */
static void
make_table(const NumbersMaker *m, Step *s)
{
    const Sketch *k = s->sketch;
    s->table = k->table;
    if (k->nscalars == 0)
        return;
    int32_t *sum = arena_array(m->a, int32_t, k->words);
    for (int i = 0; i < k->nscalars; i++)
        ravel_table_add(sum, i ? sum : k->table, k->table + (i + 1) * k->words, k->words,
                        number(m, k->scalar[i]));
    s->table = sum;
}

static void
make_calls(const NumbersMaker *m, const Plan *p, Numbers *numbers, Step *s)
{
    const Nest *n = s->sketch->nest;
    for (int i = 0; i < n->nloops; i++) {
        numbers->n[i] = number(m, n->loop[i].ex.n);
        numbers->ds[i] = number(m, n->loop[i].ex.ds);
        numbers->ss[i] = number(m, n->loop[i].ex.ss);
    }
    numbers->pad = n->pad.n ? number(m, n->pad.ex) : 0;
    numbers->fill = plan_fill(p) ? (Word)number(m, plan_fill(p)) : p->dst->fill[0];
    for (int i = 0; i < 2 * ROW_LOOKUPS; i++)
        numbers->each[i] = s->sketch->each[i] ? number(m, s->sketch->each[i]) : 0;
    interpret_calls(m->a, p, n, numbers, s);
}

static void
make_residuals(const NumbersMaker *m, Step *s)
{
    i64 *value = arena_array(m->a, i64, s->nscalars);
    for (int i = 0; i < s->nscalars; i++)
        value[i] = m->val[s->scalar[i]];
    s->value = value;
    s->dst.base = number(m, s->sketch->dst);
    s->src.base = number(m, s->sketch->src);
}

const Steps *
interpret_at(Arena *a, const Steps *s, const i64 *val)
{
    NumbersMaker m = {a, val};
    Steps *at = arena_copy(a, s, sizeof *s);
    Numbers *numbers = arena_new(a, Numbers);
    numbers->stream = number(&m, s->streams) > 0;
    at->step = arena_array(a, Step, s->n);
    at->n = 0;
    for (int i = 0; i < s->n; i++) {
        if (!is_needed(&m, s->step[i].sketch))
            continue;
        Step *one = &at->step[at->n++];
        *one = s->step[i];
        make_table(&m, one);
        make_calls(&m, s->plan, numbers, one);
        make_residuals(&m, one);
    }
    return at;
}
