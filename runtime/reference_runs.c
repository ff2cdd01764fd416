/* Lines: the runs of a strip, for which entries of several dims give the same, are found once; a
 * visit computes the addresses where they begin.  A swizzle of addresses that keeps groups of
 * neighbours together cuts them where a group ends. */
#include "reference_walk.h"

#include <stdlib.h>
#include <string.h>

/* Shorter ones are no patches; one may be cut where padding begins. */
static i64
most_runs(i64 n)
{
    return n / RUNS_SHORT + 2;
}

i64
runs_bytes(i64 n)
{
    return most_runs(n) * (i64)(sizeof(int) + sizeof(ReferenceSteps));
}

bool
runs_new(ReferenceWalk *w, i64 n)
{
    w->run_at = malloc((size_t)most_runs(n) * sizeof *w->run_at);
    w->run = malloc((size_t)most_runs(n) * sizeof *w->run);
    return w->run_at && w->run;
}

void
walk_set_runs(ReferenceWalk *w)
{
    i64 end = w->at.n[w->at.inner], k = 0;
    w->each = 0;
    for (i64 at = 0; w->patches && at < end; at += w->run[k++].n) {
        ReferenceSteps s = walk_steps(w, w->at.inner, at, end);
        bool alike = s.to == 1 && s.from == 1 && (k == 0 || s.n == w->each);
        w->run_at[k] = (int)at;
        w->run[k] = s;
        w->each = alike ? s.n : 0;
    }
    w->runs = w->patches ? k : w->runs;
}

/* Pieces of runs, each in one group on both sides. */
typedef struct {
    int n;
    i64 to[REFERENCE_ROW], from[REFERENCE_ROW];
    ReferenceSteps run[REFERENCE_ROW];
} Pieces;

/* How many of n slots from `at` on are in its group. */
static i64
in_group(i64 group, i64 at, ReferenceSteps s, i64 step)
{
    i64 low = at & (group - 1);
    if (!group)
        return s.n;
    i64 n = step == 1 ? group - low : step == 0 ? s.n
          : step > 0 ? (group - 1 - low) / step + 1 : low / -step + 1;
    return n < s.n ? n : s.n;
}

static void
visit_pieces(const ReferenceWalk *w, Pieces *p)
{
    i64 kept[REFERENCE_ROW];
    if (w->kind)
        memcpy(kept, p->from, (size_t)p->n * sizeof *kept);
    side_swizzle(&w->to, p->n, p->to);
    side_swizzle(&w->from, p->n, p->from);
    for (int i = 0; i < p->n && w->kind; i++)
        p->from[i] = kept[i] < 0 ? kept[i] : p->from[i];
    w->visit.line(w->arg, &(ReferenceLine){p->n, p->to, p->from, p->run, 0});
    p->n = 0;
}

/* Visit what a run of n slots begins with, as groups of a block.  Returns how many slots; 0: groups
 * do not begin here, or are few. */
static i64
visit_groups(const ReferenceWalk *w, i64 to, i64 from, i64 n)
{
    enum { FEW = 2 };
    bool of_source = w->from.place != NULL;
    const Side *s = of_source ? &w->from : &w->to, *other = of_source ? &w->to : &w->from;
    ReferenceGroups r = {of_source ? from : to, of_source ? to : from, s->place, 0, s->group, of_source};
    if (!s->place || other->l->ref->def->swizzle || r.moved % r.n)
        return 0;
    i64 low = r.moved & (s->block - 1);
    r.groups = (n < s->block - low ? n : s->block - low) / r.n;
    if (r.groups < FEW)
        return 0;
    r.moved -= low;
    r.place += low / r.n;
    w->visit.groups(w->arg, &r);
    return r.groups * r.n;
}

/* Keep what of a run is in one group on both sides.  Returns how many slots. */
static i64
add_piece(const ReferenceWalk *w, Pieces *p, i64 to, i64 from, ReferenceSteps s)
{
    s.n = in_group(w->to.group, to, s, s.to);
    s.n = from < 0 ? s.n : in_group(w->from.group, from, s, s.from);
    p->to[p->n] = to;
    p->from[p->n] = from;
    p->run[p->n++] = s;
    if (p->n == REFERENCE_ROW)
        visit_pieces(w, p);
    return s.n;
}

static void
cut_run(const ReferenceWalk *w, Pieces *p, i64 to, i64 from, ReferenceSteps s)
{
    bool dense = from >= 0 && s.to == 1 && s.from == 1;
    s.from = from < 0 ? 0 : s.from;
    for (i64 n; s.n > 0; s.n -= n) {
        n = dense ? visit_groups(w, to, from, s.n) : 0;
        n = n ? n : add_piece(w, p, to, from, s);
        to += n * s.to;
        from += n * s.from;
    }
}

static void
visit_cut(const ReferenceWalk *w, const ReferenceLine *r)
{
    Pieces p = {.n = 0};
    for (int i = 0; i < r->n; i++)
        cut_run(w, &p, r->to[i], r->from[i], r->run[i]);
    if (p.n)
        visit_pieces(w, &p);
}

/* Visit n runs of the strip, from run k on. */
static void
walk_runs(ReferenceWalk *w, i64 k, i64 n)
{
    i64 to[REFERENCE_ROW], from[REFERENCE_ROW];
    i64 to_row = side_row(&w->to, &w->at), from_row = side_row(&w->from, &w->at);
    i64 data = w->l->dim[w->at.inner].n - w->at.base[w->at.inner];
    bool pad = walk_is_padding(w), cut = w->to.group || w->from.group;
    for (i64 end = k + n; k < end; k += n) {
        n = end - k < REFERENCE_ROW ? end - k : REFERENCE_ROW;
        side_addresses_at(&w->to, &w->at, to_row, w->run_at + k, (int)n, to);
        side_addresses_at(&w->from, &w->at, from_row, w->run_at + k, (int)n, from);
        for (i64 i = n; w->kind && i > 0 && (pad || w->run_at[k + i - 1] >= data); i--)
            from[i - 1] = w->kind;
        const ReferenceLine line = {(int)n, to, from, w->run + k, from[n - 1] < 0 ? 0 : w->each};
        if (cut)
            visit_cut(w, &line);
        else
            w->visit.line(w->arg, &line);
    }
}

/* How many runs are visited with several rows. */
static i64
width(const ReferenceWalk *w)
{
    enum { RUNS = 128 };
    i64 tile = w->tile * w->runs / w->at.n[w->at.inner];
    return !w->turned ? RUNS : tile ? tile : 1;
}

void
walk_lines(ReferenceWalk *w)
{
    i64 rows = w->across < 0 ? 1 : w->at.n[w->across], wide = width(w);
    for (i64 i = 0; i < rows; i += w->tile)
        for (i64 k = 0; k < w->runs; k += wide)
            for (i64 row = i; row < rows && row < i + w->tile; row++) {
                if (w->across >= 0)
                    w->at.x[w->across] = w->at.base[w->across] + row;
                walk_runs(w, k, w->runs - k < wide ? w->runs - k : wide);
            }
}
