/* The boxes of a plan, by residues and counts: disjoint and inside, so that their
 * sizes adding up to what must be covered means that it is. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "plan.h"

/* The different pieces of a dim, and who meets whom, as sets of nests. */
typedef struct {
    const Piece **piece;
    Comb *comb;
    int n;
    int *of;              /* of each nest */
    uint64_t **meets;     /* of each piece: the nests whose piece it meets */
} Axis;

typedef struct {
    const Plan *p;
    Arena *arena;
    PlanCheck out;
    int words;            /* of a set of nests */
    Axis axis[MAX_RANK];
} Check;

static bool
flaw(Check *c, const char *fmt, ...)
{
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    c->out.flaw = arena_string(c->arena, text);
    return false;
}

static const char *
box(const Check *c, int nest)
{
    const Nest *n = &c->p->nest[nest];
    return arena_printf(c->arena, "nest %d (%s%.120s)", nest + 1,
                        n->kind == NEST_FILL ? "padding " : "",
                        plan_box(c->arena, c->p, n));
}

/* How far a nest may reach along dim d. */
static i64
limit(const Check *c, const Nest *n, int d)
{
    const Layout *l = c->p->dst;
    bool all = n->kind == NEST_FILL || l->ref->def->fill == FILL_EDGE;
    return all ? l->dim[d].padded : l->dim[d].n;
}

static int
find_piece(Axis *x, const Piece *p)
{
    for (int i = x->n - 1; i >= 0; i--)
        if (x->piece[i] == p)
            return i;
    x->piece[x->n] = p;
    return -1;
}

static bool
add_pieces(Check *c, int d)
{
    const Plan *p = c->p;
    Axis *x = &c->axis[d];
    x->piece = arena_array(c->arena, const Piece *, p->n);
    x->comb = arena_array(c->arena, Comb, p->n);
    x->of = arena_array(c->arena, int, p->n);
    for (int i = 0; i < p->n; i++) {
        const Nest *n = &p->nest[i];
        int k = find_piece(x, n->piece[d]);
        work_spend(c->arena, 1 + x->n / 8);
        if (k < 0) {
            k = x->n++;
            if (!comb_of(n->piece[d], &x->comb[k]))
                return flaw(c, "%s has a piece of %s that is no run repeated evenly",
                            box(c, i), p->dst->dim[d].name);
        }
        x->of[i] = k;
        if (x->comb[k].start < 0 || x->comb[k].last >= limit(c, n, d))
            return flaw(c, "%s leaves the coordinates that are its to cover: %s is "
                        "below %lld", box(c, i), p->dst->dim[d].name,
                        (long long)limit(c, n, d));
    }
    return true;
}

static void
add_meets(Check *c, Axis *x)
{
    x->meets = arena_array(c->arena, uint64_t *, x->n);
    for (int k = 0; k < x->n; k++) {
        bool *with = arena_array(c->arena, bool, x->n);
        work_spend(c->arena, x->n + c->p->n);
        x->meets[k] = arena_array(c->arena, uint64_t, c->words);
        for (int j = 0; j < x->n; j++)
            with[j] = comb_meets(&x->comb[k], &x->comb[j]);
        for (int i = 0; i < c->p->n; i++)
            if (with[x->of[i]])
                x->meets[k][i / 64] |= (uint64_t)1 << i % 64;
    }
}

/* Whether two pieces of every dim, which meet, are known to: residues of two that are
 * both repeated only say that they may. */
static bool
surely_meet(const Check *c, int i, int j)
{
    for (int d = 0; d < c->p->dst->rank; d++) {
        const Axis *x = &c->axis[d];
        int a = x->of[i], b = x->of[j];
        if (a != b && x->comb[a].count > 1 && x->comb[b].count > 1)
            return false;
    }
    return true;
}

/* Two boxes are disjoint when their pieces of some dim are. */
static bool
disjoint(Check *c)
{
    for (int d = 0; d < c->p->dst->rank; d++)
        add_meets(c, &c->axis[d]);
    for (int i = 0; i < c->p->n; i++, work_spend(c->arena, c->words))
        for (int w = i / 64; w < c->words; w++) {
            uint64_t set = w > i / 64 ? UINT64_MAX : UINT64_MAX << i % 64 << 1;
            for (int d = 0; d < c->p->dst->rank; d++)
                set &= c->axis[d].meets[c->axis[d].of[i]][w];
            int j = set ? w * 64 + __builtin_ctzll(set) : c->p->n;
            if (j < c->p->n)
                return flaw(c, "%s and %s %s", box(c, i), box(c, j),
                            surely_meet(c, i, j) ? "are not disjoint"
                                                 : "cannot be shown to be disjoint");
        }
    return true;
}

/* Coordinates of each kind of nest, summed up. */
static bool
sizes(Check *c, i64 sum[2])
{
    for (int i = 0; i < c->p->n; i++) {
        const Nest *n = &c->p->nest[i];
        i64 size = 1;
        for (int d = 0; d < c->p->dst->rank; d++)
            if (!int_mul(size, c->axis[d].comb[c->axis[d].of[i]].size, &size))
                return flaw(c, "%s is too large", box(c, i));
        if (n->elements != size)
            return flaw(c, "%s has %lld coordinates, its loops make %lld", box(c, i),
                        (long long)size, (long long)n->elements);
        if (!int_add(sum[n->kind], size, &sum[n->kind]))
            return flaw(c, "the nests are too large");
    }
    return true;
}

static bool
covering(Check *c)
{
    const Layout *l = c->p->dst;
    i64 sum[2] = {0, 0}, real = 1, all = 1;
    FillKind fill = l->ref->def->fill;
    for (int d = 0; d < l->rank; d++)
        if (!int_mul(real, l->dim[d].n, &real) || !int_mul(all, l->dim[d].padded, &all))
            return flaw(c, "there are too many coordinates to count");
    if (!sizes(c, sum))
        return false;
    i64 copies = fill == FILL_EDGE ? all : real;
    i64 fills = fill == FILL_VALUE ? all - real : 0;
    if (sum[NEST_COPY] != copies)
        return flaw(c, "the nests copy %lld of %lld coordinates",
                    (long long)sum[NEST_COPY], (long long)copies);
    if (sum[NEST_FILL] != fills)
        return flaw(c, "the nests fill %lld of %lld coordinates of padding",
                    (long long)sum[NEST_FILL], (long long)fills);
    return true;
}

static bool
nests(Check *c)
{
    for (int i = 0; i < c->p->n; i++) {
        const Nest *n = &c->p->nest[i];
        const char *why = nest_flaw(c->arena, c->p, n);
        if (why)
            return flaw(c, "%s: %s", box(c, i), why);
        c->out.copies += n->kind == NEST_COPY;
        c->out.fills += n->kind == NEST_FILL;
    }
    return true;
}

PlanCheck
plan_check(Arena *a, const Plan *p)
{
    Check *c = arena_new(a, Check);
    c->p = p;
    c->arena = a;
    c->words = (p->n + 63) / 64;
    bool ok = true;
    for (int d = 0; ok && d < p->dst->rank; d++)
        ok = add_pieces(c, d);
    if (ok && disjoint(c) && covering(c))
        nests(c);
    return c->out;
}
