/* The limit of work of a question, in steps. */
#include "base.h"

i64
work_steps(double units)
{
    const double most = (double)(INT64_MAX / 4 / WORK_A_UNIT);
    return (i64)((units < most ? units : most) * WORK_A_UNIT);
}

i64
work_most(const Budget *w)
{
    return w->most ? w->most : (i64)WORK_UNITS * WORK_A_UNIT;
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
               "limit allows, which is %g units of 100 million steps; a simpler layout takes "
               "less, and --limit (ravel_set_limit) allows more",
               w->doing ? w->doing : "the question", w->with ? " '" : "",
               w->with ? w->with : "", w->with ? "'" : "",
               (double)work_most(w) / WORK_A_UNIT);
}

bool
work_take(Budget *w, i64 steps)
{
    if (steps > work_most(w) - w->spent)
        return false;
    w->spent += steps;
    return true;
}

void
work_spend(Arena *a, i64 steps)
{
    if (!work_take(&a->work, steps))
        exceeded(a);
}

void
work_spend_each(Arena *a, i64 n, i64 steps)
{
    i64 all = 0;
    if (steps > WORK_FREE && !int_mul(n, steps - WORK_FREE, &all))
        exceeded(a);
    work_spend(a, all);
}

i64
work_most_tried(const Budget *w)
{
    return work_most(w) - work_most(w) / 4;
}

bool
work_try(Arena *a, i64 steps)
{
    const Budget *w = &a->work;
    return steps <= work_most_tried(w) - w->spent && work_take(&a->work, steps);
}
