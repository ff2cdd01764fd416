/* The numbers of index arrays in the addresses of a box: each is loaded where the loops that its
 * place depends on are known. */
#include "grid_parts.h"

/* The sides of a box that have addresses. */
static int
first_side(const GridBox *b)
{
    return b->nest->kind == NEST_FILL ? DST : SRC;
}

static const Ex *
load(GridBox *b, const Lookup *u, int number, const Ex *place)
{
    GridStmt *s = grid_add(b, G_LOOKUP);
    s->name = arena_printf(b->arena, "X%d", number);
    s->array = plan_array_of(b->u->array, u);
    s->space = SPACE_INDEX;
    s->width = u->bits / 8;
    s->value[0] = place;
    s->var = s->guarded = lookup_var(b->e, u, s->name);
    return ex_of_var(b->e, s->var);
}

static GridStmt **
open_moved(GridBox *b, const Ex *number)
{
    GridStmt *s = grid_add(b, G_MOVED);
    s->name = ex_var_name(b->e, ex_as_var(number));
    s->value[0] = number;
    return grid_open(b, s);
}

GridStmt **
grid_lookups(GridBox *b, const Ex **to)
{
    const Nest *n = b->nest;
    const Layout *l[] = {b->u->plan->src, b->u->plan->dst};
    GridStmt **outer = NULL;
    int count = 0;
    for (int s = first_side(b); s <= DST; s++)
        for (int i = 0; i < MAX_LOOKUPS && n->at[s][i]; i++) {
            const Lookup *u = &l[s]->lookup[i];
            const Ex *x = load(b, u, count++, ex_subst(b->e, n->at[s][i], to));
            to[n->number[s][i]] = x;
            if (!u->skip)
                continue;
            GridStmt **was = open_moved(b, x);
            outer = outer ? outer : was;
        }
    return outer;
}
