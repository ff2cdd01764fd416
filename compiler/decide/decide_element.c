/* The element at an address. */
#include <string.h>

#include "decide.h"

Answer
decide_element(const Layout *l, const Verdict *v, i64 a, i64 *x)
{
    i64 back, looked = 0;
    if (v->inverse)
        return verdict_element(l, v, a, x) ? YES : NO;
    memset(x, 0, MAX_RANK * sizeof *x);
    do {
        if (layout_address(l, x, &back) && back == a)
            return YES;
        work_spend(ex_arena(l->e), layout_work(l));
        if (++looked > ENUM_MAX)
            return UNKNOWN;
    } while (layout_next(l, false, x));
    return NO;
}
