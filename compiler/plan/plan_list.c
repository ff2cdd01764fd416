/* The list of a plan's nests, and what is known of a plan's size. */
#include <string.h>

#include "plan_parts.h"

bool
plan_is_fixed(const Plan *p)
{
    return p->scalars->nextents == 0;
}

void
plan_room(Plan *p, i64 n)
{
    Arena *a = ex_arena(p->e);
    p->nest = arena_resize(a, p->nest, (size_t)p->room * sizeof *p->nest,
                           int_bytes(a->diag, n, sizeof *p->nest));
    p->room = (int)n;
}

bool
plan_may_have(const Plan *p, i64 bytes)
{
    return !ex_is_const(p->to->size) || layout_bytes(p->dst) >= bytes;
}

bool
nest_may_have(const Plan *p, const Nest *n, i64 bytes)
{
    return n->below ? n->below > bytes : plan_may_have(p, bytes);
}

static size_t
nest_bytes(const Nest *n)
{
    return offsetof(Nest, loop) + (size_t)n->nloops * sizeof n->loop[0];
}

void
nest_copy(Nest *to, const Nest *from)
{
    memcpy(to, from, nest_bytes(from));
}

Nest *
nest_keep(Arena *a, const Nest *n)
{
    Nest *kept = arena_copy(a, n, nest_bytes(n));
    kept->made = NULL;
    return kept;
}

int
plan_index(const Plan *p, const Nest *n)
{
    int i = 0;
    while (p->nest[i] != n)
        i++;
    return i;
}

void
plan_add(Plan *p, const Nest *n)
{
    enum { MORE = 8 };
    if (p->n == p->room)
        plan_room(p, p->n + MORE);
    p->nest[p->n++] = nest_keep(ex_arena(p->e), n);
}
