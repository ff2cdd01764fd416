/* The relayout as it is defined: walk every coordinate, move one element. */
#include <string.h>

#include "library.h"

uint64_t
element_get(const unsigned char *p, i64 i, int bits, uint64_t *high)
{
    uint64_t v[2] = {0, 0};
    if (bits < 8)
        return (uint64_t)p[i * bits / 8] >> (i * bits % 8) & ((1u << bits) - 1);
    memcpy(v, p + i * (bits / 8), (size_t)bits / 8);
    *high = v[1];
    return v[0];
}

void
element_set(unsigned char *p, i64 i, int bits, uint64_t v, uint64_t high)
{
    uint64_t word[2] = {v, high};
    if (bits >= 8) {
        memcpy(p + i * (bits / 8), word, (size_t)bits / 8);
        return;
    }
    unsigned mask = ((1u << bits) - 1) << (i * bits % 8);
    unsigned char *b = p + i * bits / 8;
    *b = (unsigned char)((*b & ~mask) | ((unsigned)v << (i * bits % 8) & mask));
}

/* One padded coordinate x of the destination. */
static void
move_one(const Plan *p, unsigned char *dst, const unsigned char *src, const i64 *x)
{
    const Layout *s = p->src, *d = p->dst;
    FillKind fill = d->ref->def->fill;
    i64 from[MAX_RANK], at = 0, to = 0;
    uint64_t v = d->fill[0], high = d->fill[1];
    bool pad = false;
    for (int i = 0; i < d->rank; i++) {
        pad |= x[i] >= d->dim[i].n;
        from[p->map[i]] = x[i] < d->dim[i].n ? x[i] : d->dim[i].n - 1;
    }
    if (pad && fill == FILL_NONE)
        return;
    layout_address(d, x, &to);
    if (!pad || fill == FILL_EDGE) {
        layout_address(s, from, &at);
        v = element_get(src, at, s->dtype->bits, &high);
    }
    element_set(dst, to, d->dtype->bits, v, high);
}

void
reference_run(const Plan *p, unsigned char *dst, const unsigned char *src)
{
    const Layout *l = p->dst;
    i64 x[MAX_RANK] = {0};
    for (;;) {
        int d = l->rank - 1;
        move_one(p, dst, src, x);
        while (d >= 0 && ++x[d] == l->dim[d].padded)
            x[d--] = 0;
        if (d < 0)
            return;
    }
}
