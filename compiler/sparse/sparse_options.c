/* The options of the command that makes a plan again. */
#include <stdlib.h>
#include <string.h>

#include "sparse.h"

/* The number in as few digits as give it again. */
static const char *
number_text(Arena *a, double x)
{
    const char *text = NULL;
    for (int digits = 1; digits <= 17 && (!text || strtod(text, NULL) != x); digits++)
        text = arena_printf(a, "%.*g", digits, x);
    return text;
}

const char *
sparse_options(Arena *a, const SparsePlan *p)
{
    const SparseRequest *rq = p->rq;
    Buf b = buf_new(a);
    bool pattern = !strcmp(rq->common.dtype, sparse_pattern);
    if (rq->equal != EQUAL_SUM && !p->unadded && !(pattern && rq->equal == EQUAL_LAST))
        buf_printf(&b, " --duplicates %s", sparse_equals[rq->equal]);
    if (rq->threshold > 0 || rq->zero_threshold)
        buf_printf(&b, " --threshold %s", number_text(a, rq->threshold));
    if (rq->mask)
        buf_add(&b, " --mask");
    if (rq->from_width == 8 || rq->to_width == 8)
        buf_printf(&b, " --index-type %s,%s", rq->from_width == 8 ? "i64" : "i32",
                   rq->to_width == 8 ? "i64" : "i32");
    return b.s;
}
