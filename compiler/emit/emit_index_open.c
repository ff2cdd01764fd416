/* A layout as a function from coordinates to an address, with extents left to run time: they are
 * parameters after the coordinates, and sizes are computed from them. */
#include "emit.h"

typedef struct {
    const OpenIndex *o;
    const Sizes *z;
    Exprs *e;
    Arena *arena;
    Unit *u;
    const char **name;             /* of the scalars */
    const char **taken;            /* all names: parameters, then other scalars, then slots */
    int ntaken;
    const Ex *given[MAX_RANK];     /* the coordinates that are parameters */
} Writing;

static const char *
take(Writing *w, const char *wish)
{
    const char *name = emit_identifier(w->arena, wish, w->taken, w->ntaken);
    return w->taken[w->ntaken++] = name;
}

static const Ex *
extent_of(const Writing *w, int d)
{
    const PlanExtent *x = &w->o->given[d];
    return x->scalar < 0 ? ex_const(w->e, x->n) : scalar_ex(w->o->scalars, x->scalar);
}

static void
take_names(Writing *w)
{
    const Scalars *s = w->o->scalars;
    w->taken = arena_array(w->arena, const char *, w->o->rank + s->n + MAX_RANK);
    w->name = arena_array(w->arena, const char *, s->n + 1);
    for (int d = 0; d < w->o->rank; d++) {
        const i64 last = w->o->given[d].scalar < 0 ? w->o->given[d].n - 1 : INF;
        w->given[d] = ex_of_var(w->e, ex_var(w->e, take(w, w->o->dim[d]), 0, last));
    }
    for (int i = 0; i < s->n; i++) {
        const char *wish = ex_var_name(w->e, s->scalar[i].var);
        bool extent = i < s->nextents - s->nstrides;
        w->name[i] = take(w, extent ? arena_printf(w->arena, "extent_%s", wish) : wish);
    }
    w->u->param = w->taken;
    w->u->nparams = w->o->rank + s->nextents;
}

/* The coordinate of dim d of the layout: that of a parameter, or of several that it counts as one. */
static const Ex *
coordinate(const Writing *w, int d)
{
    const Ex *x = ex_const(w->e, 0);
    for (int k = 0; k < w->o->rank; k++)
        if (w->o->given[k].joined == d)
            x = ex_add(w->e, ex_times(w->e, x, extent_of(w, k)), w->given[k]);
    return x;
}

/* The slot of coordinate x of a dim that is shifted around. */
static const Ex *
rolled(const Writing *w, const Rolled *r, const Ex *x)
{
    const Ex *one = ex_const(w->e, 1), *none = ex_const(w->e, 0);
    if (!r->slots)
        return x;
    x = ex_add(w->e, x, r->by);
    if (!ex_is_const(r->by) || r->by->base > r->more) {
        const Ex *beyond = ex_add(w->e, ex_sub(w->e, x, r->slots), one);
        beyond = ex_max(w->e, ex_min(w->e, beyond, one), none);
        x = ex_sub(w->e, x, ex_times(w->e, beyond, r->slots));
    }
    return r->flip ? ex_sub(w->e, ex_sub(w->e, r->slots, one), x) : x;
}

static const Ex *
address(Writing *w, Stmt ***at)
{
    const Sizes *z = w->z;
    const Ex **to = arena_array(w->arena, const Ex *, ex_nvars(w->e));
    for (int d = 0; d < z->l->rank; d++) {
        const Ex *x = rolled(w, &z->roll[d], coordinate(w, d));
        to[z->var[d]] = x;
        if (x->n < 2)
            continue;
        Stmt *s = emit_add(w->arena, at, ST_LET);
        s->text = take(w, "slot");
        s->value = x;
        to[z->var[d]] = ex_of_var(w->e, ex_var(w->e, s->text, 0, INF));
    }
    const Ex *sum = ex_subst(w->e, z->addr, to);
    for (int i = 0; i < z->nterms; i++)
        sum = ex_add(w->e, sum, ex_times(w->e, ex_subst(w->e, z->term[i].x, to), z->term[i].stride));
    return sum;
}

/* The definitions of the scalars that body uses, before it a mark for each unused parameter. */
static Stmt *
complete(Writing *w, Stmt *body)
{
    const Scalars *s = w->o->scalars;
    bool *used = arena_array(w->arena, bool, s->n + 1);
    Stmt *first = NULL, **tail = &first, ***at = &tail;
    body = emit_defined(s, w->name, body, used);
    const bool *seen = emit_variables(w->e, body);
    for (int i = 0; i < w->u->nparams; i++) {
        const int var = i < w->o->rank ? ex_as_var(w->given[i]) : -1;
        if (i < w->o->rank ? var < 0 || !seen[var] : !used[i - w->o->rank])
            emit_add(w->arena, at, ST_UNUSED)->text = w->u->param[i];
    }
    **at = body;
    return first;
}

Unit *
emit_offset_open(const OpenIndex *o, const char *name, const char *command)
{
    Writing *w = arena_new(ex_arena(o->l->e), Writing);
    *w = (Writing){.o = o, .e = o->l->e, .arena = ex_arena(o->l->e)};
    Unit *u = w->u = arena_new(w->arena, Unit);
    *u = (Unit){.kind = EMIT_OFFSET, .name = name, .e = w->e};
    u->head = arena_printf(w->arena, "%s\nlayout %s: %s, %s\n", command, o->l->ref->def->name,
                           layout_text(w->arena, layout_written(o->l->ref)->def), o->l->dtype->name);
    u->note = "the storage index, in elements, of one logical index of a tensor of these extents";
    w->z = layout_sizes(o->scalars, o->l, o->of);
    take_names(w);
    Stmt *first = NULL, **tail = &first, ***at = &tail;
    const Ex *sum = address(w, at);
    emit_add(w->arena, at, ST_RETURN)->value = sum;
    u->body = complete(w, first);
    return u;
}
