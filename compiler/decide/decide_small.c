/* Two elements with one address, among those of a smaller shape: where entries are sums of which the
 * terms overlap, as 2*A + (B + 1)%3, the first such elements are near the origin. */
#include <string.h>

#include "decide.h"

bool
small_shape(const Layout *l, i64 *shape)
{
    enum { FEW = 4096, SIDE = 64 };
    bool smaller = false;
    for (i64 most = SIDE, n = FEW + 1; n > FEW && most; most /= 2) {
        n = 1;
        for (int d = 0; d < l->rank; d++) {
            const i64 of = l->dim[d].n;
            shape[d] = of < most ? of : most;
            smaller |= of > most;
            n = n > FEW ? n : n * shape[d];
        }
    }
    return smaller;
}

bool
small_overlap(const Layout *l, const Verdict *small, i64 *x, i64 *y)
{
    i64 a, b;
    if (small->flaw != FLAW_COLLISION || !layout_address(l, small->x, &a) ||
        !layout_address(l, small->y, &b) || a != b)
        return false;
    memcpy(x, small->x, sizeof small->x);
    memcpy(y, small->y, sizeof small->y);
    return true;
}
