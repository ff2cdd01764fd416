/* nth(): as many places below each parent as the fullest parent has entries.  The level has
 * no coordinate; the size of the arrays below it says how many places there are. */
#include "sparse_parts.h"

static const Ex *
positions(const SparseMaker *m, int k)
{
    return sparse_size(m, m->p->src->level[k + 1].crd);
}

/* There are `positions` places, as many below each parent. */
static void
parent(SparseMaker *m, int k)
{
    int to = sparse_column(m);
    sparse_step(m, STEP_read_nth, (i64)m->from, (i64)to, m->positions[k + 1], m->positions[k]);
    m->from = to;
}

static void
write(SparseMaker *m, int k)
{
    int from = m->to;
    m->to = sparse_column(m);
    sparse_step(m, STEP_write_nth, (i64)k + 1, (i64)m->to, (i64)from, (i64)m->p->joins);
}

static void
finish(SparseMaker *m, int k)
{
    sparse_step(m, STEP_widen, (i64)k + 1);
}

const LevelInfo level_nth = {
    .name = "nth", .access = "a search among the places of the parent", .positions = positions,
    .parent = parent, .write = write, .finish = finish};
