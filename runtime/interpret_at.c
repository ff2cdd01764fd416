/* The steps of a plan at one shape. */
#include "interpret_steps.h"

/* As emitted code adds them: a definition, which no other file shares. */
#include "../templates/c/table_add.c"

typedef struct {
    Arena *a;
    const Steps *steps;
    i64 *val;             /* of the steps' code */
    bool *flaw;           /* it does not fit 64 bits */
    bool stream;          /* stores are non-temporal where that is allowed */
    Word fill;
} StepsAt;

/* A value that emitted code computes without checks, because the sizes fit. */
static i64
number(const StepsAt *m, StepValue v)
{
    if (m->flaw[v])
        diag_fatal(m->a->diag, DIAG_ARGUMENT, (Loc){0},
                   "the sizes at this shape do not fit 64 bits");
    return m->val[v];
}

static bool
is_needed(const StepsAt *m, const Sketch *k)
{
    for (int i = 0; i < k->nneeds; i++)
        if (number(m, k->needs[i]) <= 0)
            return false;
    return true;
}

/* The sum of the parts of the table. */
static const int32_t *
table_at(const StepsAt *m, const Sketch *k)
{
    if (k->nparts == 0)
        return k->table;
    int32_t *sum = arena_array(m->a, int32_t, k->words);
    for (int i = 0; i < k->nparts; i++)
        ravel_table_add(sum, i ? sum : k->table, k->table + (i + 1) * k->words, k->words,
                        number(m, k->part[i]));
    return sum;
}

/* Of an argument that no call changes, or that it counts from. */
static Word
first_value(const StepsAt *m, const Step *s, const StepArg *a)
{
    const i64 v = a->value == NO_VALUE ? 0 : number(m, a->value);
    switch (a->is) {
    case CALL_NUMBER:  return (Word)v;
    case CALL_STREAM:  return m->stream ? (Word)v : 0;
    case CALL_STEP:
    case CALL_LOOKUP:  return (Word)call_unit(m->steps->bits, v, a->unit);
    case CALL_PATTERN: return m->fill;
    case CALL_TABLE:   return (Word)(uintptr_t)s->table;
    case CALL_COUNT:   return (Word)call_unit(m->steps->bits, v + (a->pads ? s->pad : 0), a->unit);
    default:           return 0;
    }
}

static bool
varies(const StepsAt *m, const Sketch *k, const StepArg *a)
{
    if (a->is == CALL_COUNT)
        return a->outer >= 0 && number(m, k->outer[a->outer].n) % k->outer[a->outer].step != 0;
    return a->is == CALL_BUFFER || a->is == CALL_PLACE || a->is == CALL_START ||
           a->is == CALL_ARRAY;
}

static void
make_arguments(const StepsAt *m, Step *s)
{
    const Sketch *k = s->sketch;
    Varying varying[ARGS_MAX];
    for (int i = 0; i < k->nargs; i++) {
        s->arg[i] = first_value(m, s, &k->arg[i]);
        if (varies(m, k, &k->arg[i]))
            varying[s->nvarying++] = (Varying){i, &k->arg[i]};
    }
    s->varying = arena_copy(m->a, varying, (size_t)s->nvarying * sizeof *varying);
}

static void
make_step(const StepsAt *m, const Sketch *k, Step *s)
{
    Pace *outer = arena_array(m->a, Pace, k->nouter);
    i64 *scalar = arena_array(m->a, i64, k->nscalars);
    for (int i = 0; i < k->nouter; i++) {
        const Outer *o = &k->outer[i];
        outer[i] = (Pace){number(m, o->n), o->step, number(m, o->ds), number(m, o->ss)};
    }
    for (int i = 0; i < k->nscalars; i++)
        scalar[i] = number(m, k->scalar[i]);
    *s = (Step){.sketch = k, .table = table_at(m, k), .dst = number(m, k->dst.base),
                .src = number(m, k->src.base), .pad = k->pad == NO_VALUE ? 0 : number(m, k->pad),
                .outer = outer, .scalar = scalar};
    make_arguments(m, s);
}

const Steps *
interpret_at(Arena *a, const Steps *s, const int64_t *extent)
{
    StepsAt m = {a, s, arena_array(a, i64, s->code.n), arena_array(a, bool, s->code.n), 0, 0};
    for (int i = 0; i < s->extents; i++)
        m.val[i] = extent[i];
    ex_code_run(&s->code, m.val, m.flaw);
    m.stream = number(&m, s->streams) > 0;
    m.fill = s->fill == NO_VALUE ? s->pattern : (Word)number(&m, s->fill);
    Steps *at = arena_copy(a, s, sizeof *s);
    Step *step = arena_array(a, Step, s->nsketches);
    at->n = 0;
    for (int i = 0; i < s->nsketches; i++)
        if (is_needed(&m, &s->sketch[i]))
            make_step(&m, &s->sketch[i], &step[at->n++]);
    at->step = step;
    arena_drop(a, m.flaw, (size_t)s->code.n * sizeof *m.flaw);
    arena_drop(a, m.val, (size_t)s->code.n * sizeof *m.val);
    return at;
}
