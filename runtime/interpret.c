/* The plan interpreter: it walks the loops for which emit_relayout.c writes code. */
#include <string.h>

#include "interpret_steps.h"

/* The state of a walk. */
typedef struct {
    const Plan *plan;
    const Step *step;
    unsigned char *dst;
    const unsigned char *src;
    i64 part, parts;
    int split;            /* the outer loop that parts are made of; -1: none */
    const int64_t *array; /* the addresses of the index arrays */
    i64 *i;               /* of the outer loops, by number, the scalars, the lookups */
} Walk;

static i64
residual_at(const Residual *r, const i64 *i)
{
    i64 sum = r->base, v = 0;
    for (int g = 0; g < r->n; g++) {
        const Group *q = &r->group[g];
        i64 at = 0;
        for (int k = 0; k < q->n; k++)
            at = at * q->at[k].n + i[q->at[k].outer];
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

/* Where the number of a lookup is in its array. */
static const char *
place_of(const Walk *w, int lookup)
{
    const Step *p = w->step;
    const char *array = (const char *)(intptr_t)w->array[p->lookup[lookup].array];
    i64 at = 0;
    ex_eval(p->lookup[lookup].at, w->i, &at);
    return array + at * (p->lookup[lookup].bits / 8);
}

static Word
argument(const Walk *w, const Varying *v, i64 start)
{
    const Pace *t;
    i64 left;
    switch (v->arg.is) {
    case CALL_BUFFER: return place(w, v->arg.source, 0);
    case CALL_PLACE:  return place(w, v->arg.source, call_unit(w->plan, start, IN_BYTES));
    case CALL_START:  return (Word)start;
    case CALL_COUNT:
        t = &w->step->outer[v->outer];
        left = t->n - w->i[v->outer];
        return (Word)call_unit(w->plan, (left < t->step ? left : t->step) + v->arg.number,
                               v->arg.unit);
    case CALL_ARRAY:  return (Word)(uintptr_t)place_of(w, v->lookup);
    case CALL_NUMBER: case CALL_STREAM: case CALL_STEP: case CALL_PATTERN:
    case CALL_LOOKUP: case CALL_TABLE: break;
    }
    return 0;
}

/* False: the call is not made. */
static bool
look_up(const Walk *w)
{
    const Step *p = w->step;
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
call(const Walk *w, i64 d, i64 s)
{
    const Step *p = w->step;
    Word a[ARGS_MAX];
    memcpy(a, p->arg, sizeof a);
    if (!look_up(w))
        return;
    d += residual_at(&p->dst, w->i);
    s += residual_at(&p->src, w->i);
    for (int k = 0; k < p->nvarying; k++) {
        const Varying *v = &p->varying[k];
        a[v->at] = argument(w, v, v->arg.source ? s : d);
    }
    p->kernel(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11],
              a[12], a[13], a[14], a[15], a[16], a[17], a[18], a[19]);
}

/* Walk outer loop k and the outer loops inside it; d and s are the offsets so far, in elements. */
static void
walk(Walk *w, int k, i64 d, i64 s)
{
    if (k == w->step->nouter) {
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
do_step(Walk *w, const Step *s)
{
    bool split = s->split >= 0;
    if (!split && s->owner % w->parts != w->part)
        return;
    w->step = s;
    w->split = s->second >= 0 && s->outer[s->split].n < w->parts ? s->second : s->split;
    for (int k = 0; k < s->nscalars; k++)
        w->i[s->nouter + k] = s->value[k];
    walk(w, 0, 0, 0);
}

void
interpret_part(const Steps *s, void *dst, const void *src, const int64_t *extent, i64 part,
               i64 parts)
{
    i64 i[s->width];
    Walk w = {.plan = s->plan, .dst = dst, .src = src, .part = part, .parts = parts, .i = i};
    w.array = plan_looks_up(s->plan) ? extent + s->plan->scalars->nextents : NULL;
    for (int k = 0; k < s->n; k++)
        do_step(&w, &s->step[k]);
    if (s->fence)
        s->fence();
}
