/* A plan as statements: for each nest its outer loops around one kernel call. */
#include <string.h>

#include "emit.h"
#include "../plan/plan.h"

typedef struct {
    const Plan *p;
    Arena *arena;
    const Nest *n;
    bool bare;                     /* without comments */
    const char **name;             /* identifiers of the outer loops, after ... */
    int ntaken;                    /* ... those of what is no loop */
    int var[MAX_OUTER];            /* variables with those names */
    const Table *table;            /* the nest's */
    const char *at;                /* the array that has it; at a shape not the constant */
    const Ex **to;                 /* of the loops and lookups: variables with those names */
} Emitter;

/* The last iteration, as far as the residual of an address has to know. */
static i64
most(Emitter *t, const Loop *l)
{
    return l->residual ? ex_of_var(t->p->e, l->var)->f.max : INF;
}

/* The address where a call starts, in elements times `scale`: base and residual, as far as
 * a table has not got them, and the strides of the outer loops. */
static const Ex *
start_of(Emitter *t, bool source, i64 scale)
{
    const Nest *n = t->n;
    Exprs *e = t->p->e;
    const Ex *x = ex_subst(e, nest_outside(t->p, n, source), t->to);
    for (int i = 0; i < n->nouter; i++) {
        const Loop *l = &n->loop[n->outer[i].loop];
        x = ex_add(e, x, ex_times(e, ex_of_var(e, t->var[i]), source ? l->ex.ss : l->ex.ds));
    }
    return ex_scale(e, x, scale);
}

/* The address in bytes of an element that begins at a whole byte. */
static const Ex *
byte_start(Emitter *t, bool source)
{
    i64 bits = t->p->dst->dtype->bits;
    return bits >= 8 ? start_of(t, source, bits / 8)
                     : ex_div(t->p->e, start_of(t, source, 1), 8 / bits);
}

/* The iterations of the kernel's loop of this role in one call. */
static const Ex *
count(Emitter *t, int role)
{
    const Nest *n = t->n;
    Exprs *e = t->p->e;
    if (n->role[role] < 0)
        return ex_const(e, 1);
    const Ex *all = n->loop[n->role[role]].ex.n;
    int outer = nest_outer(n, n->role[role]);
    i64 tile = nest_tile(n, role);
    if (outer < 0)
        return all;
    if (tile == 1 || (ex_is_const(all) && all->base % tile == 0))
        return ex_const(e, tile);
    return ex_min(e, ex_const(e, tile), ex_sub(e, all, ex_of_var(e, t->var[outer])));
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

static const Ex *
step(Emitter *t, int role, bool source)
{
    int loop = t->n->role[role];
    return loop < 0 ? ex_const(t->p->e, 0)
           : source ? t->n->loop[loop].ex.ss : t->n->loop[loop].ex.ds;
}

/* v if stores are non-temporal; that may depend on the run-time extents. */
static const Ex *
streams(Emitter *t, i64 v)
{
    return v ? ex_scale(t->p->e, plan_streams(t->p), v) : ex_const(t->p->e, 0);
}

/* An index array, from the number of the call's first row on. */
static Arg
array(Emitter *t, int side, int which)
{
    PlanArray array[PLAN_ARRAYS];
    const Layout *l = side == SRC ? t->p->src : t->p->dst;
    int i = nest_lookup_by_rows(t->n, side, which);
    plan_arrays(t->p, array);
    const char *name = (t->name - t->ntaken)[t->p->scalars->n +
                                             plan_array_of(array, &l->lookup[i])];
    return (Arg){.buffer = name, .value = ex_subst(t->p->e, t->n->at[side][i], t->to)};
}

static Arg
argument(Emitter *t, char letter)
{
    CallArg a = call_arg(t->p, t->n, letter);
    const char *buffer = a.source ? "src" : "dst";
    const Ex *x = ex_const(t->p->e, a.number);
    const int side = a.source ? SRC : DST;
    switch (a.is) {
    case CALL_NUMBER:  break;
    case CALL_STREAM:  return (Arg){.value = streams(t, a.number)};
    case CALL_STEP:    x = in_unit(t, step(t, a.role, a.source), a.unit); break;
    case CALL_PATTERN: return (Arg){.pattern = t->p->dst->fill[0], .value = plan_fill(t->p),
                               .bits = true};
    case CALL_LOOKUP:  x = in_unit(t, nest_lookup_step(t->n, side, a.lookup), a.unit); break;
    case CALL_ARRAY:   return array(t, side, a.lookup);
    case CALL_BUFFER:  return (Arg){.buffer = buffer, .value = ex_const(t->p->e, 0)};
    case CALL_TABLE:   return (Arg){.buffer = t->at, .value = ex_const(t->p->e, 0)};
    case CALL_PLACE:   return (Arg){.buffer = buffer, .value = byte_start(t, a.source)};
    case CALL_START:   return (Arg){.value = start_of(t, a.source, 1)};
    case CALL_COUNT:   x = a.pads ? t->n->pad.ex : x;
                       x = in_unit(t, ex_add(t->p->e, count(t, a.role), x), a.unit);
                       break;
    }
    return (Arg){.value = x};
}

static void
add_call(Emitter *t, Stmt ***tail)
{
    const Kernel *k = t->n->kernel;
    Stmt *s = emit_add(t->arena, tail, ST_CALL);
    s->kernel = k;
    s->parts = nest_parts(t->p, t->n);
    for (const char *c = kernel_letters(k); *c; c++)
        s->arg[s->nargs++] = argument(t, *c);
}

static Arg
words(Emitter *t, const char *table, i64 first)
{
    return (Arg){.buffer = table, .value = ex_const(t->p->e, first)};
}

/* A table that depends on the shape: an array, to which each scalar's part is added. */
static void
add_shape_table(Emitter *t, Stmt ***tail)
{
    const Ex *scalar[TABLE_SCALARS];
    int n = t->table ? nest_scalars(t->p, t->n, scalar) : 0;
    if (n == 0)
        return;
    i64 each = t->table->n / (1 + n);
    const char *sum = t->table->name;
    t->at = arena_printf(t->arena, "%s_at", sum);
    Stmt *s = emit_add(t->arena, tail, ST_TABLE);
    s->text = t->at;
    s->count = each;
    for (int i = 0; i < n; i++, sum = t->at) {
        s = emit_add(t->arena, tail, ST_CALL);
        s->text = "ravel_table_add";
        s->arg[s->nargs++] = words(t, t->at, 0);
        s->arg[s->nargs++] = words(t, sum, 0);
        s->arg[s->nargs++] = words(t, t->table->name, (i + 1) * each);
        s->arg[s->nargs++] = (Arg){.value = ex_const(t->p->e, each)};
        s->arg[s->nargs++] = (Arg){.value = scalar[i]};
    }
}

/* Name the outer loops, and give each a variable. */
static void
name_loops(Emitter *t)
{
    const Nest *n = t->n;
    for (int k = 0; k < n->nouter; k++) {
        const Loop *l = &n->loop[n->outer[k].loop];
        t->name[k] = emit_identifier(t->arena, l->name, t->name - t->ntaken, t->ntaken + k);
        t->var[k] = ex_is_const(l->ex.n) ? ex_loop_var(t->p->e, t->name[k], l->n)
                                         : ex_var(t->p->e, t->name[k], 0, most(t, l));
    }
}

/* The place for statements in the body of s; *body has it. */
static Stmt ***
inside(Stmt *s, Stmt ***body)
{
    *body = &s->body;
    return body;
}

/* The outer loops, one inside the other; returns the place in the innermost. */
static Stmt ***
add_loops(Emitter *t, int second, Stmt ***at, Stmt ***body)
{
    const Nest *n = t->n;
    for (int k = 0; k < n->nouter; k++) {
        const Loop *l = &n->loop[n->outer[k].loop];
        Stmt *s = emit_add(t->arena, at, ST_FOR);
        s->text = t->name[k];
        s->count = l->n;
        s->bound = l->ex.n;
        s->step = n->outer[k].step;
        s->split = k == n->split || k == second;
        s->outer = second < 0 ? NULL : n->loop[n->outer[n->split].loop].ex.n;
        s->inner = k == second;
        at = inside(s, body);
    }
    return at;
}

/* Emit one nest; a nest that is not split is executed by one thread.  Returns how many names are
 * then taken in the scope of `tail`. */
static int
add_nest(Emitter *t, Stmt ***tail)
{
    const Nest *n = t->n;
    if (!t->bare)
        emit_add(t->arena, tail, ST_COMMENT)->text =
            arena_printf(t->arena, "%s%s: %s", n->kind == NEST_FILL ? "padding " : "",
                         plan_box(t->arena, t->p, n), n->kernel->name);
    const Ex *needs[MAX_NEEDS];
    Stmt **body = NULL, ***at = tail;
    if (t->p->split && n->split < 0) {
        Stmt *s = emit_add(t->arena, at, ST_ALONE);
        s->count = nest_owner(t->p, n);
        at = inside(s, &body);
    }
    name_loops(t);
    int second = nest_second(t->p, n), nneeds = nest_needs(t->p, n, needs);
    for (int k = 0; k < nneeds; k++) {
        Stmt *s = emit_add(t->arena, at, ST_WHEN);
        s->value = needs[k];
        at = inside(s, &body);
    }
    add_shape_table(t, at);
    at = add_loops(t, second, at, &body);
    t->to = arena_array(t->arena, const Ex *, ex_nvars(t->p->e));
    for (int i = 0; i < n->nouter; i++)
        t->to[n->loop[n->outer[i].loop].var] = ex_of_var(t->p->e, t->var[i]);
    nest_begin_numbers(n, t->to, ex_const(t->p->e, 0));
    int taken = t->ntaken + n->nouter;
    add_call(t, emit_lookups(t->p, n, t->to, t->name - t->ntaken, &taken, at));
    return at == tail ? taken : t->ntaken;
}

/* Memory for the names of the lookups of all nests and of a nest's outer loops, after the names
 * that are taken. */
static const char **
names(const Plan *p, int *ntaken)
{
    const char **taken = emit_names(p, ntaken);
    const char **all = arena_array(ex_arena(p->e), const char *,
                                   *ntaken + MAX_OUTER + p->n * PLAN_ARRAYS);
    if (*ntaken)
        memcpy(all, taken, (size_t)*ntaken * sizeof *all);
    return all;
}

/* The table of nest i, or NULL.  It is added to the tables of the unit, unless it is
 * among them. */
static const Table *
add_table(Arena *a, Unit *u, const Plan *p, int i)
{
    if (!nest_has_table(p->nest[i]))
        return NULL;
    const char *name = arena_printf(a, "%s_table%d", u->name, plan_table_of(p, i));
    for (const Table *t = u->table; t; t = t->next)
        if (!strcmp(t->name, name))
            return t;
    Table *t = arena_new(a, Table);
    *t = (Table){.name = name, .next = u->table};
    t->value = nest_table(a, p, p->nest[i], &t->n);
    return u->table = t;
}

/* Add the statements of all nests. */
static void
add_nests(const Plan *p, Unit *u)
{
    Arena *a = ex_arena(p->e);
    Stmt **tail = &u->body, ***at = &tail;
    bool stream = false;
    int ntaken = 0;
    const char **taken = names(p, &ntaken);
    for (int i = 0; i < p->n; i++) {
        Emitter t = {.p = p, .arena = a, .n = p->nest[i], .bare = !u->head, .ntaken = ntaken,
                     .name = taken + ntaken};
        if (p->nest[i]->merged)
            continue;
        t.table = add_table(a, u, p, i);
        t.at = t.table ? t.table->name : NULL;
        ntaken = add_nest(&t, at);
        stream |= p->nest[i]->stream > 0;
    }
    if (stream)
        emit_add(a, at, ST_FENCE);
}

static void
add_comments(const Plan *p, const char *command, Unit *u)
{
    Arena *a = ex_arena(p->e);
    Buf b = buf_new(a);
    buf_printf(&b, "%s\n", command);
    emit_plan_head(&b, p);
    u->head = b.s;
    u->note = arena_printf(a, "src: %lld bytes, dst: %lld bytes; they do not overlap",
                           (long long)layout_bytes(p->src),
                           (long long)layout_bytes(p->dst));
}

Unit *
emit_relayout(const Plan *p, const char *name, const char *command)
{
    Unit *u = arena_new(ex_arena(p->e), Unit);
    *u = (Unit){.kind = EMIT_RELAYOUT, .name = name, .e = p->e, .split = p->split,
                .turns = plan_turns(p)};
    if (command)
        add_comments(p, command, u);
    add_nests(p, u);
    if (plan_has_arguments(p))
        emit_extents(p, u);
    else
        u->bytes = layout_bytes(layout_bytes(p->src) > layout_bytes(p->dst) ? p->src : p->dst);
    return u;
}

const Unit *
emit_unit(const Target *t, const Plan *p, const Request *rq)
{
    Arena *a = ex_arena(p->e);
    const char *line = rq->bare ? NULL : emit_command(a, t, rq, p->src->ref, p->dst->ref, NULL);
    return emit_relayout(p, emit_name(a, t, rq), line);
}
