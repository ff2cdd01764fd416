/* A layout as a function from coordinates to an address and as one back, with extents left to run
 * time: they are parameters, and sizes are computed from them. */
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
    w->taken = arena_array(w->arena, const char *, w->o->rank + s->n + 4 * MAX_RANK + 2 * MAX_ENTRIES);
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
    for (int i = w->u->kind == EMIT_INVERSE ? w->o->rank : 0; i < w->u->nparams; i++) {
        const int var = i < w->o->rank ? ex_as_var(w->given[i]) : -1;
        if (i < w->o->rank ? var < 0 || !seen[var] : !used[i - w->o->rank])
            emit_add(w->arena, at, ST_UNUSED)->text = w->u->param[i];
    }
    **at = body;
    return first;
}

static Writing *
writing_new(const OpenIndex *o, EmitKind kind, const char *name, const char *command)
{
    Writing *w = arena_new(ex_arena(o->l->e), Writing);
    *w = (Writing){.o = o, .e = o->l->e, .arena = ex_arena(o->l->e)};
    Unit *u = w->u = arena_new(w->arena, Unit);
    *u = (Unit){.kind = kind, .name = name, .e = w->e};
    u->head = arena_printf(w->arena, "%s\nlayout %s: %s, %s\n", command, o->l->ref->def->name,
                           layout_text(w->arena, layout_written(o->l->ref)->def), o->l->dtype->name);
    w->z = layout_sizes(o->scalars, o->l, o->of);
    take_names(w);
    return w;
}

Unit *
emit_offset_open(const OpenIndex *o, const char *name, const char *command)
{
    Writing *w = writing_new(o, EMIT_OFFSET, name, command);
    Stmt *first = NULL, **tail = &first, ***at = &tail;
    const Ex *sum = address(w, at);
    w->u->note = "the storage index, in elements, of one logical index of a tensor of these extents";
    emit_add(w->arena, at, ST_RETURN)->value = sum;
    w->u->body = complete(w, first);
    return w->u;
}

/* A variable with the value x, or with the quotient of the variable x and a divisor. */
static const Ex *
let(Writing *w, Stmt ***at, const char *name, const Ex *x, const Ex *divisor)
{
    Stmt *s = emit_add(w->arena, at, ST_LET);
    const bool known = divisor && ex_is_const(divisor);
    s->text = name;
    s->value = known ? ex_div(w->e, x, divisor->base) : x;
    s->other = known ? NULL : divisor;
    return ex_of_var(w->e, ex_var(w->e, name, x->f.min < 0 ? -INF : 0, INF));
}

static const Ex *
quotient(Writing *w, Stmt ***at, const char *wish, const Ex *x, const Ex *divisor)
{
    return ex_is(divisor, 1) ? x : let(w, at, take(w, wish), x, divisor);
}

/* Return 0 if x is below 0. */
static void
check_least(Writing *w, Stmt ***at, const Ex *x)
{
    Stmt *s = emit_add(w->arena, at, ST_SAME);
    s->other = ex_const(w->e, 0);
    s->value = ex_min(w->e, x, s->other);
}

/* Return 0 unless x is 0 to `last`. */
static void
check(Writing *w, Stmt ***at, const Ex *x, const Ex *last)
{
    check_least(w, at, ex_min(w->e, x, ex_sub(w->e, last, x)));
}

/* The storage index `a`, which the function has checked: only where it is not below 0 can the slots after it
 * be counted in 64 bits. */
static const Ex *
checked_address(Writing *w, Stmt ***at)
{
    const Ex *any = ex_of_var(w->e, ex_var(w->e, "a", -INF, INF));
    const Ex *a = ex_of_var(w->e, ex_var(w->e, "a", 0, INF));
    check_least(w, at, any);
    check_least(w, at, ex_sub(w->e, ex_sub(w->e, w->z->size, ex_const(w->e, 1)), a));
    return a;
}

/* The coordinate at a slot of a dim that is shifted around. */
static const Ex *
unrolled(const Writing *w, const Rolled *r, const Ex *slot)
{
    const Ex *one = ex_const(w->e, 1), *none = ex_const(w->e, 0);
    if (!r->slots)
        return slot;
    if (r->flip)
        slot = ex_sub(w->e, ex_sub(w->e, r->slots, one), slot);
    const Ex *x = ex_sub(w->e, slot, r->by);
    const Ex *below = ex_max(w->e, ex_min(w->e, ex_scale(w->e, x, -1), one), none);
    return ex_add(w->e, x, ex_times(w->e, below, r->slots));
}

static void
set_coordinate(Writing *w, Stmt ***at, int k, const Ex *x)
{
    check(w, at, x, ex_sub(w->e, extent_of(w, k), ex_const(w->e, 1)));
    if (ex_is_const(w->given[k]))
        return;
    Stmt *s = emit_add(w->arena, at, ST_LET);
    s->text = ex_var_name(w->e, ex_as_var(w->given[k]));
    s->value = x;
}

/* The parameters that dim d of the layout counts as one number x, from the last one on. */
static void
set_coordinates(Writing *w, Stmt ***at, int d, const Ex *x)
{
    int left = 0;
    for (int k = 0; k < w->o->rank; k++)
        left += w->o->given[k].joined == d;
    for (int k = w->o->rank - 1; k >= 0; k--) {
        if (w->o->given[k].joined != d)
            continue;
        if (--left) {
            const Ex *n = extent_of(w, k), *whole = let(w, at, take(w, "whole"), x, NULL);
            x = quotient(w, at, "above", whole, n);
            set_coordinate(w, at, k, ex_sub(w->e, whole, ex_times(w->e, x, n)));
        } else {
            set_coordinate(w, at, k, x);
        }
    }
}

/* The entries of an address, from the one with the longest stride on. */
static void
split(Writing *w, Stmt ***at, const Ex *a, const int *entry_var, const Ex **to)
{
    for (int i = 0; i < w->z->l->nentry; i++) {
        const Ex *stride = w->z->stride[i], *e = quotient(w, at, "entry", a, stride);
        to[entry_var[i]] = e;
        if (e != a && i + 1 < w->z->l->nentry) {
            const Ex *rest = ex_sub(w->e, a, ex_times(w->e, e, stride));
            const char *name = take(w, "rest");
            Stmt *s = emit_add(w->arena, at, ST_LET);
            s->text = name;
            s->value = rest;
            a = ex_of_var(w->e, ex_var(w->e, name, 0, INF));
        }
    }
}

Unit *
emit_inverse_open(const OpenIndex *o, const EveryShape *y, const char *name, const char *command)
{
    Writing *w = writing_new(o, EMIT_INVERSE, name, command);
    Stmt *first = NULL, **tail = &first, ***at = &tail;
    const Ex *a = checked_address(w, at);
    const Ex **to = arena_array(w->arena, const Ex *, ex_nvars(w->e) + 1);
    w->u->note = "1 and the logical index of the element at storage index a of a tensor of these extents, or 0 "
                 "when there is none";
    split(w, at, a, y->entry_var, to);
    for (int d = 0; d < o->l->rank; d++) {
        const Ex *slot = ex_subst(w->e, y->inverse[d], to);
        if (slot->n > 1)
            slot = let(w, at, take(w, "slot"), slot, NULL);
        set_coordinates(w, at, d, unrolled(w, &w->z->roll[d], slot));
    }
    const Ex *back = address(w, at);
    Stmt *same = emit_add(w->arena, at, ST_SAME);
    same->value = back;
    same->other = a;
    for (int k = 0; k < o->rank; k++) {
        Stmt *s = emit_add(w->arena, at, ST_SET);
        s->count = k;
        s->value = w->given[k];
    }
    emit_add(w->arena, at, ST_RETURN)->value = ex_const(w->e, 1);
    w->u->body = complete(w, first);
    w->u->nextents = o->scalars->nextents;
    return w->u;
}
