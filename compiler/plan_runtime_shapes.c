/* Shapes that tell whether a plan with extents left to run time is right: extents at and
 * beside every border of its digits, one extent at a time, the others on a border and
 * off it. */
#include <string.h>

#include "plan_runtime.h"

enum { MAX_VALUES = 1024 };

typedef struct {
    const Plan *p;
    Arena *arena;
    i64 value[MAX_RANK][MAX_VALUES];   /* of each extent */
    int n[MAX_RANK];
    i64 top[MAX_RANK];                 /* the lcm of its cuts */
    ShapeList list;
    int cap;
} Lister;

static void
add_value(Lister *s, int i, i64 v)
{
    if (v < 1 || v > s->p->now->scalars->most[i])
        return;
    for (int k = 0; k < s->n[i]; k++)
        if (s->value[i][k] == v)
            return;
    if (s->n[i] < MAX_VALUES)
        s->value[i][s->n[i]++] = v;
}

static void
add_cuts(Lister *s, const RuntimeLayout *r)
{
    for (int d = 0; d < r->l->rank; d++) {
        i64 cuts[MAX_CUTS], top;
        int i = r->extent[d], n = 0;
        if (i < 0)
            continue;
        for (int k = 0; k < r->l->nentry; k++)
            n = pieces_cuts(r->l->entry[k].written, r->l->dim[d].free, INF, cuts, n);
        for (int k = 0; k < n; k++) {
            for (i64 v = cuts[k] - 1; v <= cuts[k] + 1; v++)
                add_value(s, i, v);
            if (int_lcm(s->top[i], cuts[k], &top))
                s->top[i] = top;
        }
    }
}

/* At and beside the counts at which one nest does another's work. */
static void
add_few(Lister *s)
{
    for (int k = 0; k < s->p->n; k++)
        for (int i = 0; i < s->p->now->scalars->nextents && s->p->nest[k].now->few; i++)
            for (i64 v = 0; v <= 2; v++)
                add_value(s, i, s->p->nest[k].now->few + v);
}

static void
add_shape(Lister *s, const i64 *extent)
{
    if (s->list.n == s->cap) {
        i64 (*old)[MAX_RANK] = s->list.shape;
        s->cap = s->cap ? 2 * s->cap : 64;
        s->list.shape = arena_alloc(s->arena, (size_t)s->cap * sizeof *old);
        if (s->list.n)
            memcpy(s->list.shape, old, (size_t)s->list.n * sizeof *old);
    }
    i64 *x = s->list.shape[s->list.n++];
    for (int d = 0; d < s->p->src->rank; d++) {
        int i = s->p->now->src->extent[d];
        x[d] = i < 0 ? s->p->src->dim[d].n : extent[i];
    }
}

/* Each extent in turn takes its values, the others stay: at blocks that are full, and
 * one beyond. */
static void
add_shapes(Lister *s)
{
    const Scalars *c = s->p->now->scalars;
    i64 extent[MAX_RANK];
    for (int off = 0; off < 2; off++)
        for (int i = 0; i < c->nextents; i++)
            for (int k = 0; k < s->n[i]; k++) {
                for (int j = 0; j < c->nextents; j++) {
                    i64 base = s->top[j] > 1 ? s->top[j] + off : 2 + off;
                    extent[j] = base < c->most[j] ? base : c->most[j];
                }
                extent[i] = s->value[i][k];
                add_shape(s, extent);
            }
}

static Lister
lister(Arena *a, const Plan *p)
{
    Lister s = {.p = p, .arena = a};
    for (int i = 0; i < MAX_RANK; i++)
        s.top[i] = 1;
    add_cuts(&s, p->now->src);
    add_cuts(&s, p->now->dst);
    add_few(&s);
    return s;
}

ShapeList
runtime_borders(Arena *a, const Plan *p)
{
    Lister *s = arena_new(a, Lister);
    *s = lister(a, p);
    for (int i = 0; i < p->now->scalars->nextents; i++)
        for (i64 v = 0; v <= 3; v++) {
            add_value(s, i, v * s->top[i] - 1);
            add_value(s, i, v * s->top[i]);
            add_value(s, i, v * s->top[i] + 1);
        }
    add_shapes(s);
    return s->list;
}

ShapeList
runtime_residues(Arena *a, const Plan *p)
{
    Lister *s = arena_new(a, Lister);
    *s = lister(a, p);
    for (int i = 0; i < p->now->scalars->nextents; i++)
        for (i64 v = 1; v <= 3 * s->top[i] && s->n[i] < MAX_VALUES; v++)
            add_value(s, i, v);
    s->list.all = true;
    for (int i = 0; i < p->now->scalars->nextents; i++)
        s->list.all &= s->n[i] < MAX_VALUES;
    add_shapes(s);
    return s->list;
}
