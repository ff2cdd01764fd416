/* Comparing two layouts as they are written. */
#include "sides.h"

/* The rank of a comparison without a shape: that of the side without `...`. */
static int
rank_of(Arena *arena, const LayoutDef *a, const LayoutDef *b)
{
    int n = decide_rank(a), m = decide_rank(b);
    bool fits = a->batch ? b->batch || a->ndims <= m : b->batch ? b->ndims <= n : n == m;
    if (!fits)
        diag_fatal(arena->diag, DIAG_ARGUMENT, (Loc){0},
                   "'%s' has %d dims and '%s' has %d: they are not comparable", a->name,
                   a->ndims, b->name, b->ndims);
    return !a->batch ? n : !b->batch ? m : n > m ? n : m;
}

Comparison
sides_equal(Arena *arena, const LayoutRef *a, const LayoutRef *b, const DType *t,
            int rank, const i64 *shape)
{
    int map[MAX_RANK];
    i64 of_b[MAX_RANK];
    Comparison c = {0};
    Exprs *e = ex_new(arena);
    c.rank = shape ? rank : rank_of(arena, a->def, b->def);
    plan_match(arena, a, b, c.rank, map);
    if (!shape) {
        c.q = decide_equal_every(e, a, b, t, c.rank, map, c.shape);
        return c;
    }
    for (int d = 0; d < rank; d++) {
        c.shape[d] = shape[d];
        of_b[d] = shape[map[d]];
    }
    Layout *la = layout_make(e, a, t, rank, shape), *lb = layout_make(e, b, t, rank, of_b);
    layout_check_limits(la);
    layout_check_limits(lb);
    layout_refuse_lookups(la, "a question about layouts");
    layout_refuse_lookups(lb, "a question about layouts");
    c.size_a = la->size;
    c.size_b = lb->size;
    c.q = decide_equal(la, lb, map);
    return c;
}
