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

/* Adds the cost of access a by the lanes of the warp that begins at lane `first`. */
static void
add_cost(const Frag *g, FragAccess *a, const Banks *m, int first, i64 *val)
{
    i64 addr[LANES_MAX] = {0};
    WarpAccess w = {addr, 0, a->width};
    BankCount banks = {0};
    SectorCount sectors = {0};
    for (int t = 0; t < m->lanes; t++) {
        val[g->lane] = first + t;
        if (!takes_part(g, a, val))
            continue;
        addr[t] = value_of(g, a->at, val) * a->width;
        w.active |= UINT64_C(1) << t;
    }
    if (!bank_shared(m, &w, &banks) || !bank_global(m, &w, &sectors))
        return;
    a->wavefronts += banks.wavefronts;
    a->least_wavefronts += banks.ideal;
    a->sectors += sectors.sectors;
    a->least_sectors += sectors.ideal;
}

void
frag_cost(Frag *g)
{
    int lanes = g->lanes == FRAG_GROUP ? FRAG_GROUP / 4 : (int)g->lanes;
    Banks m = {lanes, banks_usual.banks, banks_usual.word};
    i64 *val = arena_array(ex_arena(g->e), i64, ex_nvars(g->e));
    for (int k = 0; k < g->naccesses; k++)
        for (int first = 0; first < g->lanes; first += lanes)
            add_cost(g, &g->access[k], &m, first, val);
}
