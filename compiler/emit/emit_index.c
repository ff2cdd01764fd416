/* A layout as functions: from coordinates to an address, and back.  Extents left to run time are
 * parameters; what depends on them is computed from these. */
#include <string.h>

#include "emit.h"

typedef struct {
    const IndexOf *o;
    const Sizes *z;
    Exprs *e;
    Arena *arena;
    Unit *u;
    const char **name;             /* of the scalars */
    const char **taken;            /* all names: parameters, then other scalars, then variables */
    int ntaken;
    const Ex *given[MAX_RANK];     /* the coordinates that are parameters; 0 where there is no other */
} Writing;

static const char *
take(Writing *w, const char *wish)
{
    const char *name = emit_identifier(w->arena, wish, w->taken, w->ntaken);
    return w->taken[w->ntaken++] = name;
}

/* The first free name of this letter and a number. */
static const char *
numbered(Writing *w, char letter)
{
    for (int i = 1;; i++) {
        const char *wish = arena_printf(w->arena, "%c%d", letter, i);
        if (!strcmp(wish, emit_identifier(w->arena, wish, w->taken, w->ntaken)))
            return take(w, wish);
    }
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
    w->u->nextents = s->nextents;
}

static Writing *
writing_new(const IndexOf *o, EmitKind kind, const char *name, const char *command)
{
    Writing *w = arena_new(ex_arena(o->l->e), Writing);
    *w = (Writing){.o = o, .e = o->l->e, .arena = ex_arena(o->l->e)};
    w->z = layout_sizes(o->scalars, o->l, o->of);
    Unit *u = w->u = arena_new(w->arena, Unit);
    Buf b = buf_new(w->arena);
    buf_printf(&b, "%s\n", command);
    emit_sizes_head(&b, "layout", w->z);
    *u = (Unit){.kind = kind, .name = name, .e = w->e, .head = b.s};
    take_names(w);
    return w;
}

/* x, which is `least` or more, as a variable unless it is one or a number. */
static const Ex *
named_from(Writing *w, Stmt ***at, const Ex *x, i64 least)
{
    if (ex_is_const(x) || ex_as_var(x) >= 0)
        return x;
    Stmt *s = emit_add(w->arena, at, ST_LET);
    s->text = numbered(w, 'x');
    s->value = x;
    return ex_of_var(w->e, ex_var(w->e, s->text, least, INF));
}

static const Ex *
named(Writing *w, Stmt ***at, const Ex *x)
{
    return named_from(w, at, x, x->f.min < 0 ? -INF : 0);
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
    if (r->end && r->end->step != 1)
        diag_fatal(w->arena->diag, DIAG_LAYOUT, (Loc){0}, "coordinates that are counted from the end of a "
                   "dim left to run time, by a list or a step, are no sum: give that extent as a number");
    if (r->end)
        return ex_add(w->e, x, r->by);
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
        to[z->var[d]] = z->roll[d].by ? named_from(w, at, x, 0) : named(w, at, x);
    }
    return sizes_address(z, to);
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
    for (int i = w->u->kind == EMIT_OFFSET ? 0 : w->o->rank; i < w->u->nparams; i++) {
        const int var = i < w->o->rank ? ex_as_var(w->given[i]) : -1;
        if (i < w->o->rank ? var < 0 || !seen[var] : !used[i - w->o->rank])
            emit_add(w->arena, at, ST_UNUSED)->text = w->u->param[i];
    }
    **at = body;
    return first;
}

/* What of a note is about extents left to run time. */
static const char *
of_these(const Writing *w)
{
    return w->u->nextents ? " of a tensor of these extents" : "";
}

Unit *
emit_offset(const IndexOf *o, const char *name, const char *command)
{
    Writing *w = writing_new(o, EMIT_OFFSET, name, command);
    Stmt *first = NULL, **tail = &first, ***at = &tail;
    const Ex *sum = address(w, at);
    w->u->note = arena_printf(w->arena, "the storage index, in elements, of one logical index%s",
                              of_these(w));
    emit_add(w->arena, at, ST_RETURN)->value = sum;
    w->u->body = complete(w, first);
    return w->u;
}

/* Return 0 unless 0 <= x < end. */
static void
add_check(Writing *w, Stmt ***at, const Ex *x, const Ex *end)
{
    Stmt *s = emit_add(w->arena, at, ST_CHECK);
    s->value = x;
    s->other = ex_sub(w->e, end, ex_const(w->e, 1));
}

/* A variable with the quotient of x and a divisor; rest: with the remainder. */
static const Ex *
divided(Writing *w, Stmt ***at, const Ex *x, const Ex *divisor, bool rest)
{
    Stmt *s = emit_add(w->arena, at, ST_LET);
    s->text = numbered(w, rest ? 'r' : 'q');
    s->value = x;
    s->other = divisor;
    s->rest = rest;
    return ex_of_var(w->e, ex_var(w->e, s->text, x->f.min < 0 ? -INF : 0, INF));
}

/* Sets to[] of the entries, from the one with the longest stride on, or of the address itself, a. */
static void
split(Writing *w, Stmt ***at, const Back *back, const Ex *a, const Ex **to)
{
    to[back->var[0]] = a;
    for (int i = 0; i < back->n; i++) {
        const Ex *by = w->z->stride[i];
        const bool known = ex_is_const(by);
        to[back->var[i]] = known ? ex_div(w->e, a, by->base) : divided(w, at, a, by, false);
        if (i + 1 < back->n)
            a = known ? ex_mod(w->e, a, by->base) : divided(w, at, a, by, true);
    }
}

/* The coordinate at a slot of a dim that is shifted around. */
static const Ex *
unrolled(Writing *w, Stmt ***at, const Rolled *r, const Ex *slot)
{
    const Ex *one = ex_const(w->e, 1), *none = ex_const(w->e, 0);
    if (!r->slots)
        return slot;
    slot = named(w, at, slot);
    if (r->flip)
        slot = ex_sub(w->e, ex_sub(w->e, r->slots, one), slot);
    const Ex *x = ex_sub(w->e, slot, r->by);
    const Ex *below = ex_max(w->e, ex_min(w->e, ex_scale(w->e, x, -1), one), none);
    return ex_add(w->e, x, ex_times(w->e, below, r->slots));
}

/* Coordinate k is x, or its remainder by `rest` if that is no NULL; its dim may have no other than 0. */
static void
set_coordinate(Writing *w, Stmt ***at, int k, const Ex *x, const Ex *rest)
{
    if (!ex_is_const(w->given[k])) {
        Stmt *s = emit_add(w->arena, at, ST_LET);
        s->text = w->u->param[k];
        s->value = x;
        s->other = rest;
        s->rest = rest;
        x = w->given[k];
    }
    if (!ex_is_const(x))
        add_check(w, at, x, extent_of(w, k));
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
        const Ex *n = extent_of(w, k), *whole = --left ? named(w, at, x) : x;
        if (!left) {
            set_coordinate(w, at, k, x, NULL);
        } else if (ex_is_const(n)) {
            set_coordinate(w, at, k, ex_mod(w->e, whole, n->base), NULL);
            x = ex_div(w->e, whole, n->base);
        } else {
            set_coordinate(w, at, k, whole, n);
            x = divided(w, at, whole, n, false);
        }
    }
}

/* The coordinates at the address a, checked to be in range and to have this address. */
static void
add_coordinates(Writing *w, Stmt ***at, const Back *back, const Ex *a)
{
    const IndexOf *o = w->o;
    const Ex **to = arena_array(w->arena, const Ex *, ex_nvars(w->e) + 1);
    split(w, at, back, a, to);
    for (int d = 0; d < o->l->rank; d++)
        set_coordinates(w, at, d, unrolled(w, at, &w->z->roll[d], ex_subst(w->e, back->x[d], to)));
    const Ex *same = address(w, at);
    Stmt *s = emit_add(w->arena, at, ST_SAME);
    s->value = same;
    s->other = a;
    for (int k = 0; k < o->rank; k++) {
        s = emit_add(w->arena, at, ST_SET);
        s->count = k;
        s->value = w->given[k];
    }
    emit_add(w->arena, at, ST_RETURN)->value = ex_const(w->e, 1);
}

static Writing *
inverse(const IndexOf *o, EmitKind kind, const char *name, const char *command)
{
    Back back;
    Writing *w = writing_new(o, kind, name, command);
    Stmt *first = NULL, **tail = &first, ***at = &tail;
    if (o->scalars->nstrides || !decide_back(o->l, w->z, o->v, &back))
        diag_fatal(w->arena->diag, DIAG_LAYOUT, o->l->ref->def->loc,
                   "layout '%s' has no inverse in closed form%s", o->l->ref->def->name,
                   w->u->nextents ? " for every shape: give all extents as numbers" : "");
    const Ex *a = ex_of_var(w->e, back.n ? ex_var(w->e, "a", 0, INF) : back.var[0]);
    w->u->note = arena_printf(w->arena, "1 and the logical index of the element at storage index a%s, or 0 "
                              "when there is none", of_these(w));
    add_check(w, at, a, w->z->size);
    add_coordinates(w, at, &back, a);
    w->u->body = complete(w, first);
    return w;
}

Unit *
emit_inverse(const IndexOf *o, const char *name, const char *command)
{
    return inverse(o, EMIT_INVERSE, name, command)->u;
}

Unit *
emit_visit(const IndexOf *o, const char *name, const char *command)
{
    Writing *w = inverse(o, EMIT_VISIT, name, command);
    bool *used = arena_array(w->arena, bool, o->scalars->n + 1);
    Stmt *end = NULL, **tail = &end, ***at = &tail;
    emit_add(w->arena, at, ST_RETURN)->value = w->z->size;
    Stmt **all = &w->u->before;
    for (*all = emit_defined(o->scalars, w->name, end, used); *all != end; all = &(*all)->next)
        continue;
    *all = NULL;                   /* the target's text has it as a bound */
    w->u->slots = end->value;
    return w->u;
}

/* Whether signed numbers of 32 bits suffice for the statements. */
static bool
is_narrow(const Stmt *s)
{
    for (; s; s = s->next)
        if ((s->value && !ex_is_narrow(s->value, true)) ||
            (s->other && !ex_is_narrow(s->other, true)))
            return false;
    return true;
}

void
emit_check_width(const Target *t, const Unit *u)
{
    if (target_number(t, "index_bits") < 64 && !is_narrow(u->body))
        diag_fatal(ex_arena(u->e)->diag, DIAG_LAYOUT, (Loc){0},
                   "this needs indices of 64 bits, and the target's have 32");
}
