/* Computes the cost of the accesses of all lanes in banks and sectors. */
#include "bank.h"
#include "frag.h"

static i64
value_of(const Frag *g, const Ex *x, const i64 *val)
{
    i64 v;
    if (!ex_eval(x, val, &v))
        ex_overflow(g->e);
    return v;
}

static bool
takes_part(const Frag *g, const FragAccess *a, const i64 *val)
{
    for (int i = 0; i < a->nvalues; i++)
        if (value_of(g, a->value[i], val) >= a->bound[i])
            return false;
    return true;
}

void
frag_cost(Frag *g)
{
    Banks m = {(int)g->lanes, banks_usual.banks, banks_usual.word};
    i64 *val = arena_array(ex_arena(g->e), i64, ex_nvars(g->e)), addr[LANES_MAX] = {0};
    for (int k = 0; k < g->naccesses; k++) {
        FragAccess *a = &g->access[k];
        WarpAccess w = {addr, 0, a->width};
        BankCount banks = {0};
        SectorCount sectors = {0};
        for (int t = 0; t < g->lanes; t++) {
            val[g->lane] = t;
            if (!takes_part(g, a, val))
                continue;
            addr[t] = value_of(g, a->at, val) * a->width;
            w.active |= UINT64_C(1) << t;
        }
        if (!bank_shared(&m, &w, &banks) || !bank_global(&m, &w, &sectors))
            continue;
        a->wavefronts = banks.wavefronts;
        a->least_wavefronts = banks.ideal;
        a->sectors = sectors.sectors;
        a->least_sectors = sectors.ideal;
    }
}
