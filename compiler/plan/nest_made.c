/* The loops of a nest whose kernels are compared, by their variables. */
#include "nest_made.h"

void
made_begin(NestMade *m)
{
    m->tile.known = m->program.known = MADE_NOTHING;
}

void
made_places(const Nest *n, int var[MAX_LOOPS])
{
    for (int i = 0; i < n->nloops; i++)
        var[i] = n->loop[i].var;
}

bool
made_moved(const Nest *n, int var[MAX_LOOPS], int to[MAX_LOOPS])
{
    bool moved = false;
    for (int i = 0; i < n->nloops; i++) {
        for (to[i] = 0; n->loop[to[i]].var != var[i];)
            to[i]++;
        moved |= to[i] != i;
    }
    made_places(n, var);
    return moved;
}

int
made_place(const int to[MAX_LOOPS], int loop)
{
    return loop < 0 ? loop : to[loop];
}
