/* The loops of a tile that are in the residual of an address. */
#include <stdlib.h>

#include "shuffle.h"

/* What one value of the loops adds to both addresses, in the program. */
typedef struct {
    i64 at[2];
} ResidualPlace;

static bool
find_loops(const Nest *n, int bits, bool in[MAX_LOOPS], Strips strips[2], int *count)
{
    i64 all = 1;
    for (int i = 0; i < n->nloops; i++) {
        const Loop *l = &n->loop[i];
        in[i] = l->residual;
        if (!l->residual)
            continue;
        if (!shuffle_is_plain(n, l) || l->n > TILE_ELEMENTS / all ||
            l->n > 8 * RAVEL_SHUFFLE_BYTES / bits / all || int_abs(l->ss) > INT32_MAX ||
            int_abs(l->ds) > INT32_MAX || !shuffle_add_strips(n, i, l->n, strips))
            return false;
        all *= l->n;
    }
    *count = (int)all;
    return true;
}

const Ex *
shuffle_outside(const Nest *n, const bool in[MAX_LOOPS], bool source)
{
    return kernel_terms(n, in, source, false);
}

static bool
list_places(const Nest *n, int bits, const bool in[MAX_LOOPS], const Strips strips[2],
            const Ex *const x[2], i64 *val, int count, ResidualPlace *out)
{
    for (int k = 0; k < count; k++) {
        i64 left = k, sum[2] = {0, 0};
        for (int i = 0; i < n->nloops; i++) {
            const Loop *l = &n->loop[i];
            if (!in[i])
                continue;
            val[l->var] = left % l->n;
            for (int s = SRC; s <= DST; s++)
                sum[s] += val[l->var] * strips_stride(&strips[s], n, i, s, bits);
            left /= l->n;
        }
        for (int s = SRC; s <= DST; s++) {
            i64 v, *at = &out[k].at[s], most = strips[s].count > 1 ? STRIP_MOST / bits : INF;
            if (!ex_eval(x[s], val, &v) || !int_add(v, sum[s], at) || int_abs(v) > most ||
                int_abs(*at) > INT32_MAX / 32 / bits)
                return false;
        }
    }
    return true;
}

static int
in_destination(const void *p, const void *q)
{
    const ResidualPlace *a = p, *b = q;
    return (a->at[DST] > b->at[DST]) - (a->at[DST] < b->at[DST]);
}

static int
in_source(const void *p, const void *q)
{
    const ResidualPlace *a = p, *b = q;
    return (a->at[SRC] > b->at[SRC]) - (a->at[SRC] < b->at[SRC]);
}

static bool
are_sums(const ResidualPlace *p, int n, int side, const Sums *s)
{
    for (int i = 0; i < n; i++) {
        i64 sum = p[0].at[side], left = i;
        for (int k = 0; k < s->nsteps; k++) {
            sum += left % s->of[k].n * s->of[k].step;
            left /= s->of[k].n;
        }
        if (sum != p[i].at[side])
            return false;
    }
    return true;
}

/* The steps of places that rise: the first, as often as it goes on, then what is between
 * the places that are left.  False where they are no such sums. */
static bool
find_sums(const ResidualPlace *p, int n, int side, Sums *s)
{
    s->nsteps = 0;
    for (int every = 1, m; every < n; every *= m) {
        i64 step = p[every].at[side] - p[0].at[side];
        for (m = 1; m * every < n && p[m * every].at[side] - p[0].at[side] == m * step;)
            m++;
        if (step <= 0 || n % (m * every) || s->nsteps == MAX_LOOPS)
            return false;
        s->of[s->nsteps].n = m;
        s->of[s->nsteps++].step = step;
    }
    return are_sums(p, n, side, s);
}

/* The places by their sums, where they have such. */
static bool
list_sums(ResidualPlace *place, Residual *r)
{
    qsort(place, (size_t)r->n, sizeof *place, in_source);
    if (!find_sums(place, r->n, SRC, &r->side[SRC]))
        r->side[SRC].nsteps = 0;
    qsort(place, (size_t)r->n, sizeof *place, in_destination);
    for (int i = 0; i < r->n; i++)
        r->src[i] = (int32_t)place[i].at[SRC];
    r->to = place[0].at[DST];
    return find_sums(place, r->n, DST, &r->side[DST]);
}

bool
shuffle_residual(const Nest *n, int bits, bool in[MAX_LOOPS], Strips strips[2], Residual *r)
{
    if (!find_loops(n, bits, in, strips, &r->n))
        return false;
    if (r->n == 1) {
        r->to = r->src[0] = r->side[SRC].nsteps = r->side[DST].nsteps = 0;
        return true;
    }
    if (!kernel_apart(n, in))
        return false;
    const Ex *const x[] = {kernel_terms(n, in, true, true), kernel_terms(n, in, false, true)};
    Arena *a = ex_arena(n->e);
    i64 *val = arena_array(a, i64, ex_nvars(n->e));
    ResidualPlace *place = arena_array(a, ResidualPlace, r->n);
    bool listed = list_places(n, bits, in, strips, x, val, r->n, place) &&
                  list_sums(place, r);
    arena_drop(a, place, (size_t)r->n * sizeof *place);
    arena_drop(a, val, (size_t)ex_nvars(n->e) * sizeof *val);
    return listed;
}
