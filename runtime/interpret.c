/* The plan interpreter: it walks the loops for which emit_relayout.c writes code. */
#include <string.h>

#include "interpret_steps.h"

/* The state of a walk. */
typedef struct {
    const Steps *steps;
    const Step *step;
    const Sketch *sketch; /* the step's */
    unsigned char *dst;
    const unsigned char *src;
    i64 part, parts;
    int split;            /* the outer loop that parts are made of; -1: none */
    const int64_t *array; /* the addresses of the index arrays */
    i64 *i;               /* of the outer loops, by number, the scalars, the lookups; then of formulas */
} NestWalk;

/* It fits: the planner's addresses do. */
static i64
formula_at(const Formula *f, i64 *i)
{
    ex_code_run(&f->code, i, NULL);
    return i[f->value];
}

static i64
residual_at(const StepResidual *r, i64 *i)
{
    i64 sum = 0;
    for (int g = 0; g < r->n; g++) {
        const Group *q = &r->group[g];
        i64 at = 0;
        for (int k = 0; q->table && k < q->n; k++)
            at = at * q->at[k].n + i[q->at[k].outer];
        sum += q->table ? q->table[at] : formula_at(&q->x, i);
    }
    return sum;
}

static Word
place(const NestWalk *w, bool source, i64 bytes)
{
    return source ? (Word)(uintptr_t)(w->src + bytes) : (Word)(uintptr_t)(w->dst + bytes);
}

/* Where the number of a lookup is in its array. */
static const char *
place_of(const NestWalk *w, int lookup)
{
    const StepLookup *u = &w->sketch->lookup[lookup];
    return (const char *)(intptr_t)w->array[u->array] + formula_at(&u->at, w->i) * (u->bits / 8);
}

static Word
argument(const NestWalk *w, const StepArg *a, i64 start)
{
    const int bits = w->steps->bits;
    const Pace *t;
    i64 left;
    switch (a->is) {
    case CALL_BUFFER: return place(w, a->source, 0);
    case CALL_PLACE:  return place(w, a->source, call_unit(bits, start, IN_BYTES));
    case CALL_START:  return (Word)start;
    case CALL_COUNT:
        t = &w->step->outer[a->outer];
        left = t->n - w->i[a->outer];
        return (Word)call_unit(bits, (left < t->step ? left : t->step) +
                               (a->pads ? w->step->pad : 0), a->unit);
    case CALL_ARRAY:  return (Word)(uintptr_t)place_of(w, a->lookup);
    default:          return 0;
    }
}

/* False: the call is not made. */
static bool
look_up(const NestWalk *w)
{
    const Sketch *p = w->sketch;
    for (int k = 0; k < p->nlookups; k++) {
        const void *at = place_of(w, k);
        const i64 v = p->lookup[k].bits == 32 ? *(const int32_t *)at : *(const int64_t *)at;
        if (p->lookup[k].skip && v < 0)
            return false;
        w->i[p->nouter + p->nscalars + k] = v;
    }
    return true;
}

static void
call(const NestWalk *w, i64 d, i64 s)
{
    const Step *p = w->step;
    Word a[ARGS_MAX];
    memcpy(a, p->arg, sizeof a);
    if (!look_up(w))
        return;
    d += p->dst + residual_at(&w->sketch->dst, w->i);
    s += p->src + residual_at(&w->sketch->src, w->i);
    for (int k = 0; k < p->nvarying; k++) {
        const Varying *v = &p->varying[k];
        a[v->at] = argument(w, v->arg, v->arg->source ? s : d);
    }
    w->sketch->kernel(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11],
                      a[12], a[13], a[14], a[15], a[16], a[17], a[18], a[19]);
}

/* Walk outer loop k and the outer loops inside it; d and s are the offsets so far, in elements. */
static void
walk(NestWalk *w, int k, i64 d, i64 s)
{
    if (k == w->sketch->nouter) {
        call(w, d, s);
        return;
    }
    const Pace *t = &w->step->outer[k];
    i64 first = 0, end = t->n;
    if (k == w->split) {
        i64 steps = int_ceil_div(t->n, t->step);
        first = steps * w->part / w->parts * t->step;
        end = steps * (w->part + 1) / w->parts * t->step;
    }
    for (i64 i = first; i < end; i += t->step) {
        w->i[k] = i;
        walk(w, k + 1, d + i * t->ds, s + i * t->ss);
    }
}

static void
do_step(NestWalk *w, const Step *s)
{
    const Sketch *k = s->sketch;
    if (k->split < 0 && k->owner % w->parts != w->part)
        return;
    w->step = s;
    w->sketch = k;
    w->split = k->second >= 0 && s->outer[k->split].n < w->parts ? k->second : k->split;
    for (int i = 0; i < k->nscalars; i++)
        w->i[k->nouter + i] = s->scalar[i];
    walk(w, 0, 0, 0);
}

void
interpret_part(const Steps *s, void *dst, const void *src, const int64_t *extent, i64 part,
               i64 parts)
{
    i64 i[s->width];
    NestWalk w = {.steps = s, .dst = dst, .src = src, .part = part, .parts = parts, .i = i,
                  .array = s->arrays < 0 ? NULL : extent + s->arrays};
    for (int k = 0; k < s->n; k++)
        do_step(&w, &s->step[k]);
    if (s->fence)
        s->fence();
}
