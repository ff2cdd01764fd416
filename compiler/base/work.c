/* The limit of work of a question, in units. */
#include "base.h"

i64
work_of_seconds(double seconds)
{
    const double most = (double)(INT64_MAX / 4 / WORK_A_SECOND);
    return (i64)((seconds < most ? seconds : most) * WORK_A_SECOND);
}

i64
work_most(const Budget *w)
{
    return w->most ? w->most : (i64)WORK_SECONDS * WORK_A_SECOND;
}

void
work_on(Arena *a, const char *doing, const char *with)
{
    a->work.doing = doing;
    a->work.with = with;
}

_Noreturn static void
exceeded(Arena *a)
{
    const Budget *w = &a->work;
    diag_fatal(a->diag, DIAG_LIMIT, (Loc){0}, "%s%s%.100s%s takes more work than the "
               "limit of %g s allows, which is counted in steps; a simpler layout takes "
               "less, and --limit (ravel_set_limit) allows more",
               w->doing ? w->doing : "the question", w->with ? " '" : "",
               w->with ? w->with : "", w->with ? "'" : "",
               (double)work_most(w) / WORK_A_SECOND);
}

bool
work_take(Budget *w, i64 units)
{
    if (units > work_most(w) - w->spent)
        return false;
    w->spent += units;
    return true;
}

void
work_spend(Arena *a, i64 units)
{
    if (!work_take(&a->work, units))
        exceeded(a);
}

void
work_spend_each(Arena *a, i64 n, i64 units)
{
    i64 all = 0;
    if (units > WORK_FREE && !int_mul(n, units - WORK_FREE, &all))
        exceeded(a);
    work_spend(a, all);
}

i64
work_most_tried(const Budget *w)
{
    return work_most(w) - work_most(w) / 4;
}

bool
work_try(Arena *a, i64 units)
{
    const Budget *w = &a->work;
    return units <= work_most_tried(w) - w->spent && work_take(&a->work, units);
}
