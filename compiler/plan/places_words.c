/* The words and the order of rows of kernels that read index arrays. */
#include <string.h>

#include "../../templates/c/places_size.h"
#include "places.h"

/* Sets out[] to a factor and a shift: x / div == (2 * x * factor >> 32) >> shift for every x below
 * 2^31, as factor is 2^(31 + shift) / div rounded up and div is at most 2^shift (T. Granlund and P.
 * L. Montgomery, "Division by Invariant Integers using Multiplication", 1994). */
static void
put_division(i64 div, int32_t out[2])
{
    int log = 0;
    while ((i64)1 << log < div)
        log++;
    const uint64_t one = (uint64_t)1 << (31 + log);
    out[0] = (int32_t)(uint32_t)((one + (uint64_t)div - 1) / (uint64_t)div);
    out[1] = log;
}

/* The same by a float, which takes a third of the instructions; for numbers that are small. */
static void
put_inverse(i64 div, int32_t out[2])
{
    const float inverse = 1.0F / (float)div;
    memcpy(out, &inverse, sizeof inverse);
    out[1] = RAVEL_FLOAT;
}

static bool
is_small(const PlacePart *p, int i)
{
    const i64 more = p->quotient[i].more;
    return p->most < 1 << 20 && more < 1 << 20 && !int_is_pow2(p->quotient[i].div);
}

i64
places_words(const PlacePart *p)
{
    return 2 + RAVEL_QUOTIENT * p->n;
}

int32_t *
places_put(const PlacePart *p, int32_t *out)
{
    *out++ = (int32_t)p->first;
    *out++ = p->n;
    for (int i = 0; i < p->n; i++, out += RAVEL_QUOTIENT) {
        out[0] = (int32_t)p->quotient[i].more;
        (is_small(p, i) ? put_inverse : put_division)(p->quotient[i].div, out + 1);
        out[3] = (int32_t)(uint32_t)p->quotient[i].weight;
        out[4] = (int32_t)(p->quotient[i].weight >> 32);
    }
    return out;
}

bool
places_orders(const Plan *p, Nest *n, int k)
{
    enum { STRETCH = 64 * 1024 };
    i64 run = kernel_count(n, n->role[COL]) * p->dst->dtype->bits / 8;
    i64 rows = STRETCH / (run < 64 ? 64 : run) / nest_entries(n);
    const Loop *l = &n->loop[n->role[ROW]];
    n->order = in_order_of_writes;
    outer_add_loops(n, BY_DST, false);
    if (l->n > rows || !ex_is_const(l->ex.n))
        n->outer[n->nouter++] = (OuterLoop){n->role[ROW], rows < 1 ? 1 : (int)rows};
    return k == 0;
}
