/* Two elements with one address, among those of a smaller shape: where entries are sums of which the
 * terms overlap, as 2*A + (B + 1)%3, the first such elements are near the origin. */
#include <string.h>

#include "decide.h"

typedef struct {
    const Layout *l;
    i64 shape[MAX_RANK];
    Verdict *v;
} Smaller;

/* Sets the extents to at most the largest power of two of which the shape has few elements; false: it
 * is the shape of l. */
static bool
shrink(Smaller *s)
{
    enum { FEW = 4096, SIDE = 64 };
    bool smaller = false;
    for (i64 most = SIDE, n = FEW + 1; n > FEW && most; most /= 2) {
        n = 1;
        for (int d = 0; d < s->l->rank; d++) {
            const i64 of = s->l->dim[d].n;
            s->shape[d] = of < most ? of : most;
            smaller |= of > most;
            n = n > FEW ? n : n * s->shape[d];
        }
    }
    return smaller;
}

static void
search(void *arg)
{
    Smaller *s = arg;
    const Layout *l = s->l;
    s->v = decide(layout_make(l->e, l->ref, l->dtype, l->rank, s->shape));
}

bool
small_overlap(const Layout *l, i64 *x, i64 *y)
{
    Smaller s = {.l = l};
    Diag d;
    i64 a, b;
    if (l->view || !shrink(&s) || !arena_run(ex_arena(l->e), &d, search, &s) ||
        s.v->flaw != FLAW_COLLISION || !layout_address(l, s.v->x, &a) ||
        !layout_address(l, s.v->y, &b) || a != b)
        return false;
    memcpy(x, s.v->x, sizeof s.v->x);
    memcpy(y, s.v->y, sizeof s.v->y);
    return true;
}
