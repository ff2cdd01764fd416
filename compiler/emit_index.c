/* A layout as functions: index to storage offset, and back. */
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

/* The address with the dims under their C names, coordinates in their extents. */
static const Ex *
address_of(const Layout *l, const Unit *u, int *var)
{
    const Ex **to = arena_array(ex_arena(l->e), const Ex *, ex_nvars(l->e));
    for (int d = 0; d < l->rank; d++) {
        var[d] = ex_var(l->e, u->param[d], 0, l->dim[d].n - 1);
        to[l->dim[d].var] = ex_of_var(l->e, var[d]);
    }
    return ex_subst(l->e, l->addr, to);
}

Unit *
emit_offset(const Layout *l, const char *name, const char *command)
{
    Arena *a = ex_arena(l->e);
    Unit *u = new_unit(l, EMIT_OFFSET, name, command);
    int var[MAX_RANK];
    Stmt **tail = &u->body, ***at = &tail;
    u->note = "the storage index, in elements, of one logical index";
    emit_add(a, at, ST_RETURN)->value = address_of(l, u, var);
    return u;
}

/* Coordinates from the address; then they must be inside, and lead back to it. */
Unit *
emit_inverse(const Layout *l, const Verdict *v, const char *name, const char *command)
{
    Exprs *e = l->e;
    Arena *a = ex_arena(e);
    int var[MAX_RANK];
    if (!v->inverse)
        diag_fatal(a->diag, DIAG_LAYOUT, l->ref->def->loc,
                   "layout '%s' has no inverse in closed form", l->ref->def->name);
    Unit *u = new_unit(l, EMIT_INVERSE, name, command);
    Stmt **tail = &u->body, ***at = &tail;
    u->note = "1 and the logical index of the element at storage index a, or 0 when "
              "there is none";
    Stmt *s = emit_add(a, at, ST_CHECK);
    s->value = ex_of_var(e, v->inverse_var);
    s->most = l->size - 1;
    const Ex *addr = address_of(l, u, var);
    for (int d = 0; d < l->rank; d++) {
        s = emit_add(a, at, ST_LET);
        s->text = u->param[d];
        s->value = v->inverse[d];
    }
    for (int d = 0; d < l->rank; d++) {
        s = emit_add(a, at, ST_CHECK);
        s->value = ex_of_var(e, var[d]);
        s->most = l->dim[d].n - 1;
    }
    s = emit_add(a, at, ST_SAME);
    s->value = addr;
    s->other = ex_of_var(e, v->inverse_var);
    for (int d = 0; d < l->rank; d++) {
        s = emit_add(a, at, ST_SET);
        s->count = d;
        s->value = ex_of_var(e, var[d]);
    }
    emit_add(a, at, ST_RETURN)->value = ex_const(e, 1);
    return u;
}
