/* Coordinates that are visited many at once: the tables of the dims show which of them lie at
 * equal steps, and for which of them entries of several dims give the same. */
#include <string.h>

#include "reference_walk.h"

bool
walk_is_padding(const ReferenceWalk *w)
{
    for (int d = 0; d < w->l->rank; d++)
        if (d != w->at.inner && w->at.x[d] >= w->l->dim[d].n)
            return true;
    return false;
}

void
walk_set_same(ReferenceWalk *w, int d)
{
    const i64 *to = w->to.sum[d], *from = w->from.sum[d];
    int n = (int)w->at.n[d], *same = w->same[d];
    bool joins[STRIP];
    memset(joins, true, sizeof joins);
    side_joins(&w->to, d, n, joins);
    side_joins(&w->from, d, n, joins);
    for (int i = n - 1; i >= 0; i--) {
        bool next = i < n - 1 && joins[i];
        bool on = next && i < n - 2 && joins[i + 1] &&
                  to[i + 1] - to[i] == to[i + 2] - to[i + 1] &&
                  from[i + 1] - from[i] == from[i + 2] - from[i + 1];
        same[i] = on ? same[i + 1] + 1 : next ? 2 : 1;
    }
    if (d != w->at.inner)
        return;
    w->runs = 0;
    for (int i = 0; i < n; i += same[i])
        w->runs++;
    w->patches = n >= w->runs * RUNS_SHORT;
}

ReferenceSteps
walk_steps(const ReferenceWalk *w, int d, i64 at, i64 end)
{
    const i64 *to = w->to.sum[d], *from = w->from.sum[d];
    i64 data = w->l->dim[d].n - w->at.base[d], n = w->same[d][at];
    end = at < data && data < end ? data : end;
    if (n == 1)
        return (ReferenceSteps){1, 0, 0};
    return (ReferenceSteps){n < end - at ? n : end - at, to[at + 1] - to[at],
                            from[at + 1] - from[at]};
}

void
walk_patches(ReferenceWalk *w, const ReferenceSteps *outer, i64 at, i64 all)
{
    const i64 *to = w->to.sum[w->at.inner], *from = w->from.sum[w->at.inner];
    i64 to_row = side_row(&w->to, &w->at), from_row = side_row(&w->from, &w->at);
    i64 data = w->l->dim[w->at.inner].n - w->at.base[w->at.inner];
    bool all_pad = walk_is_padding(w);
    for (i64 end = at + all; at < end;) {
        ReferencePatch r = {to_row + to[at], from_row + from[at],
                            walk_steps(w, w->at.inner, at, end), *outer};
        if (w->kind && (all_pad || at >= data)) {
            r.from = w->kind;
            r.inner.from = r.outer.from = 0;
        }
        w->visit.patch(w->arg, &r);
        at += r.inner.n;
    }
}

void
walk_patch_tiles(ReferenceWalk *w)
{
    i64 rows = w->at.n[w->across], all = w->at.n[w->at.inner], *x = &w->at.x[w->across];
    i64 wide = w->turned ? w->tile : all;
    for (i64 i = 0; i < rows; i += w->tile)
        for (i64 at = 0; at < all; at += wide)
            for (i64 k = i, end = rows - i < w->tile ? rows : i + w->tile; k < end;) {
                ReferenceSteps outer = walk_steps(w, w->across, k, end);
                *x = w->at.base[w->across] + k;
                walk_patches(w, &outer, at, all - at < wide ? all - at : wide);
                k += outer.n;
            }
}

bool
walk_grid(ReferenceWalk *w, i64 i, int rows, i64 at, int n)
{
    int in = w->at.inner, over = w->across;
    i64 x = w->at.base[over] + i, y = w->at.base[in] + at;
    bool padded = x + rows > w->l->dim[over].n || y + n > w->l->dim[in].n;
    w->at.x[over] = x;
    if (w->kind && (padded || walk_is_padding(w)))
        return false;
    ReferenceGrid r = {.n = n, .rows = rows, .to = side_row(&w->to, &w->at) - w->to.sum[over][i],
                       .from = side_row(&w->from, &w->at) - w->from.sum[over][i],
                       .to_inner = w->to.sum[in] + at, .from_inner = w->from.sum[in] + at,
                       .to_outer = w->to.sum[over] + i, .from_outer = w->from.sum[over] + i};
    w->visit.grid(w->arg, &r);
    return true;
}
