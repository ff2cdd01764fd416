/* The items of an index for a dim whose extent is not known: what the view has then, and what it needs
 * of the extent. */
#include "layout_parts.h"

/* A coordinate: `at`, or the extent and `at`. */
typedef struct {
    bool end;
    i64 at;
} End;

/* A slice whose ends are both counted from the front, or both from the end: it has a fixed number of
 * coordinates. */
static void
fixed(const LayoutWalk *w, const IndexItem *t, int d, End from, i64 span, DimSource *s, Size *extent)
{
    const i64 by = int_abs(s->step);
    if (span <= 0)
        walk_fail(w, t, arena_printf(w->arena, "this slice of %s has no elements", walk_dim(w, d)));
    const i64 last = (span - 1) / by * by;
    s->need.least = s->step > 0 ? (from.end ? -from.at : from.at + last + 1)
                                : (from.end ? last - from.at : from.at + 1);
    s->step = last || by == 1 ? s->step : 1;
    *extent = (Size){NUMBER, 1 + last / by};
}

/* NumPy lets a slice end where the tensor ends.  Here it must be as long as it is written, or reach
 * from one end to the other. */
void
open_slice(const LayoutWalk *w, const IndexItem *t, int d, DimSource *s, Size *extent)
{
    const i64 step = t->step;
    End from = {step < 0, step < 0 ? -1 : 0}, to = {step > 0, step < 0 ? -1 : 0};
    i64 span;
    from = t->starts ? (End){t->start < 0, t->start} : from;
    to = t->stops ? (End){t->stop < 0, t->stop} : to;
    s->start = (Size){from.end ? d : NUMBER, from.at};
    s->step = step;
    *extent = (Size){OPEN, 0};
    if (!int_add(step < 0 ? from.at : to.at, step < 0 ? -to.at : -from.at, &span))
        return;
    if (from.end == to.end)
        fixed(w, t, d, from, span, s, extent);
    else if (from.end == (step < 0) && int_abs(step) == 1)
        *extent = (Size){d, span};
    else if (from.end == (step < 0))
        s->need = (Need){.skips = -span, .by = int_abs(step)};
}

void
open_at(int d, i64 at, DimSource *s)
{
    s->start = (Size){at < 0 ? d : NUMBER, at};
    s->need.least = at < 0 ? -at : at == INT64_MAX ? 0 : at + 1;
}

/* Numbers from both ends are of different elements where all of one end are before those of the other. */
void
open_list(int d, const IndexItem *t, DimSource *s)
{
    i64 low = t->list[0], high = low;
    for (int i = 1; i < t->n; i++) {
        low = t->list[i] < low ? t->list[i] : low;
        high = t->list[i] > high ? t->list[i] : high;
    }
    s->start.of = low < 0 ? d : NUMBER;
    if ((low < 0) == (high < 0))
        s->need.least = low < 0 ? -low : high == INT64_MAX ? 0 : high + 1;
    else if (!int_add(high, 1, &s->need.least) || !int_add(s->need.least, -low, &s->need.least))
        s->need.least = 0;
}

i64
open_least(const Need *need, i64 n)
{
    i64 least;
    if (need->by == 0)
        return need->least;
    return int_mul(need->by, n - 1, &least) && int_add(least, need->skips, &least) &&
           int_add(least, 1, &least) && least < INF ? least : 0;
}
