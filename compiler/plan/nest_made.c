/* The loops of a nest whose kernels are compared, by their variables. */
#include "nest_made.h"

_Static_assert(MADE_NOTHING == 0, "what the arena gives is zero");

NestMade *
made_begin(const Nest *n)
{
    return arena_new(ex_arena(n->e), NestMade);
}

void
made_end(const Nest *n, NestMade *m)
{
    arena_drop(ex_arena(n->e), m, sizeof *m);
}

ProgramMade *
made_room(const Nest *n)
{
    return n->made ? NULL : arena_new(ex_arena(n->e), ProgramMade);
}

void
made_leave(const Nest *n, ProgramMade *room)
{
    if (room)
        arena_drop(ex_arena(n->e), room, sizeof *room);
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
