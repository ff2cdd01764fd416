/* The offsets of a nest's table, from its loops and the rest of its addresses. */
#include "plan.h"

i64
nest_entries(const Nest *n)
{
    i64 entries = 1;
    for (int i = 0; i < n->table; i++)
        entries *= n->loop[n->nloops - n->inner + i].n;
    return entries;
}

const int32_t *
nest_table(Arena *a, const Plan *p, const Nest *n)
{
    const Loop *first = &n->loop[n->nloops - n->inner];
    i64 *at = arena_array(a, i64, MAX_LOOPS), *val = arena_array(a, i64, ex_nvars(p->e));
    i64 size = p->dst->dtype->bits / 8;
    i64 entries = nest_entries(n);
    int32_t *out = arena_array(a, int32_t, 2 * entries);
    for (i64 k = 0; k < entries; k++) {
        i64 d, s;
        for (int i = 0; i < n->table; i++)
            val[first[i].var] = at[i];
        ex_eval(n->dst, val, &d);
        ex_eval(n->src, val, &s);
        for (int i = 0; i < n->table; i++) {
            d += at[i] * first[i].ds;
            s += at[i] * first[i].ss;
        }
        out[2 * k] = (int32_t)(d * size);
        out[2 * k + 1] = (int32_t)(s * size);
        for (int i = n->table - 1; i >= 0 && ++at[i] == first[i].n; i--)
            at[i] = 0;
    }
    return out;
}
