/* A plan as statements: for each nest its outer loops around one kernel call. */
#include <string.h>

#include "emit.h"

typedef struct {
    const Plan *p;
    Arena *arena;
    const Nest *n;
    const char *name[MAX_TURNS];   /* identifiers of the turns */
    int var[MAX_TURNS];            /* variables with those names */
} Emitter;

/* The address where a call starts, in elements times `scale`: base and rest, and the
 * strides of the turns. */
static const Ex *
start_of(Emitter *t, bool source, i64 scale)
{
    const Nest *n = t->n;
    Exprs *e = t->p->e;
    const Ex **to = arena_array(t->arena, const Ex *, ex_nvars(e));
    for (int i = 0; i < n->nturns; i++)
        to[n->loop[n->turn[i].loop].var] = ex_of_var(e, t->var[i]);
    const Ex *x = ex_subst(e, source ? n->src : n->dst, to);
    for (int i = 0; i < n->nturns; i++) {
        const Loop *l = &n->loop[n->turn[i].loop];
        x = ex_add(e, x, ex_scale(e, ex_of_var(e, t->var[i]), source ? l->ss : l->ds));
    }
    return ex_scale(e, x, scale);
}

/* Byte addresses of what starts at whole bytes. */
static const Ex *
byte_start(Emitter *t, bool source)
{
    i64 bits = t->p->dst->dtype->bits;
    return bits >= 8 ? start_of(t, source, bits / 8)
                     : ex_div(t->p->e, start_of(t, source, 1), 8 / bits);
}

/* What a call takes of the kernel's loop of that role. */
static const Ex *
count(Emitter *t, int role)
{
    const Nest *n = t->n;
    Exprs *e = t->p->e;
    i64 tile = nest_tile(n, role);
    int turn = n->role[role] < 0 ? -1 : nest_turn(n, n->role[role]);
    if (turn < 0 || n->loop[n->role[role]].n % tile == 0)
        return ex_const(e, tile);
    const Ex *left = ex_sub(e, ex_const(e, n->loop[n->role[role]].n),
                            ex_of_var(e, t->var[turn]));
    return ex_min(e, ex_const(e, tile), left);
}

/* Elements as bytes. */
static const Ex *
in_unit(Emitter *t, const Ex *x, ArgUnit unit)
{
    i64 bits = t->p->dst->dtype->bits;
    if (unit != IN_BYTES)
        return x;
    return bits >= 8 ? ex_scale(t->p->e, x, bits / 8) : ex_div(t->p->e, x, 8 / bits);
}

static Arg
argument(Emitter *t, char letter)
{
    CallArg a = call_arg(t->p, t->n, letter);
    const char *buffer = a.source ? "src" : "dst";
    switch (a.is) {
    case CALL_NUMBER:  break;
    case CALL_PATTERN: return (Arg){.pattern = t->p->dst->fill[0]};
    case CALL_BUFFER:  return (Arg){.buffer = buffer, .value = ex_const(t->p->e, 0)};
    case CALL_PLACE:   return (Arg){.buffer = buffer, .value = byte_start(t, a.source)};
    case CALL_START:   return (Arg){.value = start_of(t, a.source, 1)};
    case CALL_COUNT:   return (Arg){.value = in_unit(t, count(t, a.role), a.unit)};
    }
    return (Arg){.value = ex_const(t->p->e, a.number)};
}

static void
add_call(Emitter *t, Stmt ***tail)
{
    const Kernel *k = t->n->kernel;
    Stmt *s = emit_add(t->arena, tail, ST_CALL);
    s->kernel = k;
    for (const char *c = k->args; *c; c++)
        s->arg[s->nargs++] = argument(t, *c);
}

/* One nest; where it is not split, one thread does it. */
static void
add_nest(Emitter *t, Stmt ***tail)
{
    const Nest *n = t->n;
    emit_add(t->arena, tail, ST_COMMENT)->text =
        arena_printf(t->arena, "%s%s: %s", n->kind == NEST_FILL ? "padding " : "",
                     plan_box(t->arena, t->p, n), n->kernel->name);
    Stmt **inner = NULL, ***at = tail;
    if (t->p->split && n->split < 0) {
        Stmt *s = emit_add(t->arena, at, ST_ALONE);
        s->count = nest_owner(t->p, n);
        inner = &s->body;
        at = &inner;
    }
    for (int k = 0; k < n->nturns; k++) {
        const Loop *l = &n->loop[n->turn[k].loop];
        t->name[k] = emit_identifier(t->arena, l->name, t->name, k);
        t->var[k] = ex_loop_var(t->p->e, t->name[k], l->n);
    }
    for (int k = 0; k < n->nturns; k++) {
        Stmt *s = emit_add(t->arena, at, ST_FOR);
        s->text = t->name[k];
        s->count = n->loop[n->turn[k].loop].n;
        s->step = n->turn[k].step;
        s->split = k == n->split;
        inner = &s->body;
        at = &inner;
    }
    add_call(t, at);
}

Unit *
emit_relayout(const Plan *p, const char *name, const char *command)
{
    Arena *a = ex_arena(p->e);
    Unit *u = arena_new(a, Unit);
    Stmt **tail = &u->body, ***at = &tail;
    Buf b = buf_new(a);
    bool stream = false;
    buf_printf(&b, "%s\n", command);
    emit_layout_head(&b, "src", p->src);
    emit_layout_head(&b, "dst", p->dst);
    *u = (Unit){.kind = EMIT_RELAYOUT, .name = name, .head = b.s, .e = p->e,
                .split = p->split};
    u->note = arena_printf(a, "src: %lld bytes, dst: %lld bytes; they do not overlap",
                           (long long)layout_bytes(p->src),
                           (long long)layout_bytes(p->dst));
    for (int i = 0; i < p->n; i++) {
        Emitter t = {.p = p, .arena = a, .n = &p->nest[i]};
        add_nest(&t, at);
        stream |= p->nest[i].stream > 0;
    }
    if (stream)
        emit_add(a, at, ST_FENCE);
    return u;
}
