/* A layout as functions: from coordinates to an address, and back. */
#include "emit.h"

static Unit *
new_unit(const Layout *l, EmitKind kind, const char *name, const char *command)
{
    Arena *a = ex_arena(l->e);
    Unit *u = arena_new(a, Unit);
    Buf b = buf_new(a);
    buf_printf(&b, "%s\n", command);
    emit_layout_head(&b, "layout", l);
    *u = (Unit){.kind = kind, .name = name, .head = b.s, .e = l->e};
    u->param = arena_array(a, const char *, l->rank + 1);
    u->nparams = l->rank;
    for (int d = 0; d < l->rank; d++)
        u->param[d] = emit_identifier(a, l->dim[d].name, u->param, d);
    return u;
}

/* The coordinate of each dim under its C name; 0 where there is no other. */
static void
name_coordinates(const Layout *l, const Unit *u, const Ex **x)
{
    for (int d = 0; d < l->rank; d++)
        x[d] = ex_of_var(l->e, ex_var(l->e, u->param[d], 0, l->dim[d].n - 1));
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

static const Ex *
address_of(const Layout *l, const Ex *const *x)
{
    const Ex **to = arena_array(ex_arena(l->e), const Ex *, ex_nvars(l->e));
    for (int d = 0; d < l->rank; d++)
        to[l->dim[d].var] = x[d];
    return ex_subst(l->e, l->addr, to);
}

Unit *
emit_offset(const Layout *l, const char *name, const char *command)
{
    Arena *a = ex_arena(l->e);
    Unit *u = new_unit(l, EMIT_OFFSET, name, command);
    const Ex *x[MAX_RANK];
    Stmt **tail = &u->body, ***at = &tail;
    u->note = "the storage index, in elements, of one logical index";
    name_coordinates(l, u, x);
    for (int d = 0; d < l->rank; d++)
        if (ex_is_const(x[d]))
            emit_add(a, at, ST_UNUSED)->text = u->param[d];
    emit_add(a, at, ST_RETURN)->value = address_of(l, x);
    return u;
}

static void
add_check(Arena *a, Stmt ***at, const Ex *x, i64 most)
{
    Stmt *s = emit_add(a, at, ST_CHECK);
    s->value = x;
    s->most = most;
}

/* Compute coordinate d, whose name is x, from the address, and check that it is in range. */
static void
add_coordinate(Arena *a, Stmt ***at, const Layout *l, const Verdict *v, int d, const char *name,
               const Ex *x)
{
    if (ex_is_const(x)) {                  /* then what comes out must be 0 */
        if (!ex_is_const(v->inverse[d]))
            add_check(a, at, v->inverse[d], 0);
        return;
    }
    Stmt *s = emit_add(a, at, ST_LET);
    s->text = name;
    s->value = v->inverse[d];
    add_check(a, at, x, l->dim[d].n - 1);
}

/* Compute the coordinates from the address, then check that they are in range and have
 * this address. */
Unit *
emit_inverse(const Layout *l, const Verdict *v, const char *name, const char *command)
{
    Exprs *e = l->e;
    Arena *a = ex_arena(e);
    const Ex *x[MAX_RANK];
    if (!v->inverse)
        diag_fatal(a->diag, DIAG_LAYOUT, l->ref->def->loc,
                   "layout '%s' has no inverse in closed form", l->ref->def->name);
    Unit *u = new_unit(l, EMIT_INVERSE, name, command);
    Stmt **tail = &u->body, ***at = &tail;
    u->note = "1 and the logical index of the element at storage index a, or 0 when "
              "there is none";
    add_check(a, at, ex_of_var(e, v->inverse_var), l->size - 1);
    name_coordinates(l, u, x);
    for (int d = 0; d < l->rank; d++)
        add_coordinate(a, at, l, v, d, u->param[d], x[d]);
    Stmt *same = emit_add(a, at, ST_SAME);
    same->value = address_of(l, x);
    same->other = ex_of_var(e, v->inverse_var);
    for (int d = 0; d < l->rank; d++) {
        Stmt *s = emit_add(a, at, ST_SET);
        s->count = d;
        s->value = x[d];
    }
    emit_add(a, at, ST_RETURN)->value = ex_const(e, 1);
    return u;
}

/* An inverse, which the target calls at each address. */
Unit *
emit_visit(const Layout *l, const Verdict *v, const char *name, const char *command)
{
    Unit *u = emit_inverse(l, v, name, command);
    u->kind = EMIT_VISIT;
    u->slots = l->size;
    return u;
}

void
emit_check_width(const Target *t, const Unit *u)
{
    if (target_number(t, "index_bits") < 64 && !is_narrow(u->body))
        diag_fatal(ex_arena(u->e)->diag, DIAG_LAYOUT, (Loc){0},
                   "this needs indices of 64 bits, and the target's have 32");
}
