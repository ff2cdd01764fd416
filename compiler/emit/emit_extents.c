/* The parts of a function with extents as arguments that are not its loops: the scalars,
 * each computed once, the checks of the arguments, and the sizes. */
#include <string.h>

#include "emit.h"
#include "../plan/plan.h"

typedef struct {
    const Plan *p;
    Unit *u;
    Exprs *e;
    Arena *arena;
    const Scalars *s;
    const char **name;    /* of the scalars, extents first, then of the index arrays */
    const Ex **to;        /* of every variable: itself by the name it has here */
    bool *seen;           /* variables of the statements */
    bool *used;           /* scalars */
} Emitter;

/* Every expression of the statements, by f. */
static void
each_ex(Emitter *t, Stmt *s, const Ex *(*f)(Emitter *, const Ex *))
{
    for (; s; s = s->next) {
        const Ex **x[] = {&s->value, &s->other, &s->bound, &s->outer};
        for (int i = 0; i < LEN(x); i++)
            if (*x[i])
                *x[i] = f(t, *x[i]);
        for (int i = 0; i < s->nargs; i++)
            if (s->arg[i].value)
                s->arg[i].value = f(t, s->arg[i].value);
        each_ex(t, s->body, f);
    }
}

static const Ex *
mark(Emitter *t, const Ex *x)
{
    ex_vars(x, t->seen);
    return x;
}

static const Ex *
renamed(Emitter *t, const Ex *x)
{
    return ex_subst(t->e, x, t->to);
}

static void
mark_definitions(Emitter *t)
{
    for (int i = t->s->n - 1; i >= 0; i--) {
        const Scalar *x = &t->s->scalar[i];
        t->used[i] |= t->seen[x->var];
        if (t->used[i] && x->def)
            mark(t, x->def);
        for (int k = 0; t->used[i] && k < x->nfactors; k++)
            t->used[x->factor[k]] = true;
    }
}

/* Insert before body the definitions of the scalars that it uses and that are not yet
 * defined. */
static Stmt *
with_scalars(Emitter *t, Stmt *body, const bool *made)
{
    Stmt *first = NULL, **tail = &first, ***at = &tail;
    memset(t->used, 0, (size_t)t->s->n * sizeof *t->used);
    t->seen = arena_array(t->arena, bool, ex_nvars(t->e));
    each_ex(t, body, mark);
    mark_definitions(t);
    for (int i = t->s->nextents; i < t->s->n; i++) {
        const Scalar *x = &t->s->scalar[i];
        if (!t->used[i] || made[i])
            continue;
        Stmt *s = emit_add(t->arena, at, ST_LET);
        s->text = t->name[i];
        s->value = x->def;
        s->nfactors = x->nfactors;
        s->factor = arena_array(t->arena, const Ex *, x->nfactors);
        for (int k = 0; k < x->nfactors; k++)
            s->factor[k] = t->to[t->s->scalar[x->factor[k]].var];
    }
    **at = body;
    each_ex(t, first, renamed);
    return first;
}

/* Insert before body, after the definitions of scalars, a mark for each unused parameter. */
static Stmt *
with_unused(Emitter *t, Stmt *body)
{
    Stmt *first = NULL, **tail = &first, ***at = &tail;
    for (int i = 0; i < t->s->nextents; i++)
        if (!t->used[i])
            emit_add(t->arena, at, ST_UNUSED)->text = t->name[i];
    **at = body;
    return first;
}

/* What threads do not share is done by one of them, whatever part it is called for. */
static Stmt *
by_one(Emitter *t, Stmt *body)
{
    Stmt *first = NULL, **tail = &first, ***at = &tail;
    if (t->u->split)
        return body;
    emit_add(t->arena, at, ST_ALONE)->body = body;
    return first;
}

const char **
emit_names(const Plan *p, int *n)
{
    const Scalars *s = p->scalars;
    Arena *a = ex_arena(p->e);
    PlanArray array[PLAN_ARRAYS];
    plan_bytes(p, p->from);
    plan_streams(p);                /* the last scalars there are */
    int narrays = plan_arrays(p, array);
    const char **name = arena_array(a, const char *, s->n + narrays + 1);
    for (*n = 0; *n < s->n + narrays; ++*n) {
        const char *wish = *n < s->n ? ex_var_name(p->e, s->scalar[*n].var)
                                     : array[*n - s->n].name;
        name[*n] = emit_identifier(a, wish, name, *n);
    }
    return name;
}

/* Sets what scalars are in statements, by their names. */
static void
set_names(Emitter *t)
{
    const Scalars *s = t->s;
    t->used = arena_array(t->arena, bool, s->n + 1);
    t->to = arena_array(t->arena, const Ex *, ex_nvars(t->e));
    for (int i = 0; i < s->n; i++) {
        Facts f = scalar_ex(s, i)->f;
        t->to[s->scalar[i].var] = ex_of_var(t->e, ex_var(t->e, t->name[i], f.min, f.max));
    }
}

static void
name_scalars(Emitter *t)
{
    int n;
    t->name = emit_names(t->p, &n);
    set_names(t);
}

Stmt *
emit_defined(const Scalars *s, const char **name, Stmt *body, bool *used)
{
    Emitter t = {.e = s->e, .arena = ex_arena(s->e), .s = s, .name = name};
    set_names(&t);
    body = with_scalars(&t, body, arena_array(t.arena, bool, s->n + 1));
    memcpy(used, t.used, (size_t)s->n * sizeof *used);
    return body;
}

const bool *
emit_variables(Exprs *e, Stmt *body)
{
    Emitter t = {.e = e, .arena = ex_arena(e), .seen = arena_array(ex_arena(e), bool, ex_nvars(e))};
    each_ex(&t, body, mark);
    return t.seen;
}

static void
add_bytes(Emitter *t, Stmt ***at, const char *name, const Ex *x)
{
    Stmt *s = emit_add(t->arena, at, ST_BYTES);
    s->text = name;
    s->value = x;
}

static void
add_divisor(Emitter *t, Stmt ***at, i64 out, int bits)
{
    Stmt *s = emit_add(t->arena, at, ST_DIVISOR);
    s->count = out;
    s->most = bits;
}

/* The bytes of a buffer, which consists of whole accesses of the kernel. */
static const Ex *
buffer_of(Emitter *t, const EmitValues *v, const Sizes *z)
{
    const Ex *x = plan_bytes(t->p, z);
    if (!v || v->access <= 1 || t->p->dst->dtype->bits >= 8 * v->access)
        return x;
    return ex_scale(t->p->e, scalar_ceil(t->p->scalars, x, v->access), v->access);
}

/* Refused where it is more than the kernel's numbers can tell. */
static void
add_limit(Emitter *t, Stmt ***at, const Ex *x, i64 most)
{
    Stmt *s = emit_add(t->arena, at, ST_REFUSE);
    s->value = x;
    s->most = most;
}

static void
add_values(Emitter *t, Stmt ***at, const EmitValues *v)
{
    add_limit(t, at, v->blocks, v->most);
    if (v->bits == 32) {
        bool small = t->p->dst->dtype->bits < 8;
        add_limit(t, at, small ? t->p->from->size : plan_bytes(t->p, t->p->from), INT32_MAX);
        add_limit(t, at, small ? t->p->to->size : plan_bytes(t->p, t->p->to), INT32_MAX);
    }
    add_bytes(t, at, "blocks", v->blocks);
    for (int i = 0; i < v->n; i++) {
        Stmt *s = emit_add(t->arena, at, v->upper[i] ? ST_SET_UPPER : ST_SET);
        s->value = v->value[i];
        s->count = i < v->ndivisors ? 3 * i : i + 2 * v->ndivisors;
        if (i < v->ndivisors)
            add_divisor(t, at, s->count, v->bits);
    }
}

static void
need(Emitter *t, Stmt ***at, const Ex *value, i64 least, i64 most)
{
    if (ex_is_const(value))
        return;
    Stmt *s = emit_add(t->arena, at, ST_REFUSE);
    s->value = value;
    s->least = least;
    s->most = most;
}

/* Each stride that is given has room for the entries after it, and the plan's tests hold. */
static void
add_tests(Emitter *t, Stmt ***at)
{
    for (int i = t->p->to->l->nentry - 1; i >= 0 && t->p->to->strided; i--)
        need(t, at, plan_stride_room(t->p, i), 0, INF);
    for (int i = 0; i < t->p->ntests; i++)
        need(t, at, t->p->test[i].value, t->p->test[i].least, t->p->test[i].most);
}

static Stmt *
bytes(Emitter *t, const EmitValues *v)
{
    Stmt *first = NULL, **tail = &first, ***at = &tail;
    add_tests(t, at);
    add_bytes(t, at, "src_bytes", buffer_of(t, v, t->p->from));
    add_bytes(t, at, "dst_bytes", buffer_of(t, v, t->p->to));
    if (v)
        add_values(t, at, v);
    emit_add(t->arena, at, ST_RETURN)->value = ex_const(t->p->e, 0);
    return first;
}

/* Products of extents are computed after the check that the sizes fit. */
static Stmt *
sizes(Emitter *t, Stmt *fits, Stmt *bytes)
{
    bool *made = arena_array(t->arena, bool, t->s->n + 1);
    Stmt *first = NULL, **tail = &first;
    Stmt *const part[] = {emit_products(t->p), fits, bytes};
    for (int i = 0; i < LEN(part); i++) {
        *tail = with_scalars(t, part[i], made);
        for (int k = 0; k < t->s->n; k++)
            made[k] |= t->used[k];
        while (*tail)
            tail = &(*tail)->next;
    }
    return first;
}

/* The extents are valid; the index arrays are not read here. */
static Stmt *
checks(Emitter *t, Stmt *then)
{
    Stmt *first = NULL, **tail = &first, ***at = &tail;
    for (int i = 0; i < t->s->nextents; i++) {
        if (plan_least(t->p, i) == INT64_MIN)
            continue;
        Stmt *s = emit_add(t->arena, at, ST_REFUSE);
        s->value = renamed(t, scalar_ex(t->s, i));
        s->least = plan_least(t->p, i);
        s->most = t->s->most[i];
    }
    for (int i = 0; i < t->u->narrays; i++)
        emit_add(t->arena, at, ST_UNUSED)->text = t->u->param[t->s->nextents + i];
    **at = then;
    return first;
}

/* The extents and the index arrays. */
static void
set_params(Emitter *t)
{
    Unit *u = t->u;
    int extents = t->s->nextents, first = t->s->n;
    u->narrays = plan_arrays(t->p, u->array);
    u->nparams = extents + u->narrays;
    u->param = arena_array(t->arena, const char *, u->nparams);
    for (int i = 0; i < u->nparams; i++)
        u->param[i] = t->name[i < extents ? i : first + i - extents];
}

/* What the function answers, and what its index arrays have. */
static const char *
note(Emitter *t)
{
    const Unit *u = t->u;
    Buf b = buf_new(t->arena);
    buf_printf(&b, "0, or 1 and nothing done if an extent is not valid, a size does not fit%s",
               !u->narrays ? " or src and dst overlap" : ", a number of an index array is out of "
               "range, or dst overlaps src or such an array");
    for (int i = 0; i < u->narrays; i++)
        buf_printf(&b, "; %s: %s numbers from %lld to %s", u->param[t->s->nextents + i],
                   ex_text(t->p->e, renamed(t, u->array[i].n)), (long long)u->array[i].least,
                   ex_text(t->p->e, renamed(t, ex_sub(t->p->e, u->array[i].bound,
                                                      ex_const(t->p->e, 1)))));
    return b.s;
}

/* Statements that return 1 if an index array is not valid. */
static Stmt *
array_checks(const Plan *p)
{
    PlanArray array[PLAN_ARRAYS];
    Stmt *first = NULL, **tail = &first, ***at = &tail;
    int taken, n = plan_arrays(p, array);
    const char **name = emit_names(p, &taken);
    for (int i = 0; i < n; i++) {
        Stmt *s = emit_add(ex_arena(p->e), at, ST_NUMBERS);
        s->array = name[p->scalars->n + i];
        s->count = array[i].bits;
        s->value = array[i].n;
        s->least = array[i].least;
        s->other = ex_sub(p->e, array[i].bound, ex_const(p->e, 1));
    }
    return first;
}

void
emit_extents(const Plan *p, Unit *u)
{
    Emitter t = {.p = p, .u = u, .e = p->e, .arena = ex_arena(p->e), .s = p->scalars};
    Stmt *fit = emit_fits(p), *size = bytes(&t, NULL);
    name_scalars(&t);
    bool *none = arena_array(t.arena, bool, t.s->n + 1);
    set_params(&t);
    u->note = u->head ? note(&t) : NULL;
    u->sizes = checks(&t, sizes(&t, fit, size));
    u->checks = with_scalars(&t, array_checks(p), none);
    u->body = with_unused(&t, by_one(&t, with_scalars(&t, u->body, none)));
}

Unit *
emit_values(const Plan *p, const EmitValues *v, const char *name)
{
    Unit *u = arena_new(ex_arena(p->e), Unit);
    Emitter t = {.p = p, .u = u, .e = p->e, .arena = ex_arena(p->e), .s = p->scalars};
    Stmt *fit = emit_fits(p), *size = bytes(&t, v);
    name_scalars(&t);
    *u = (Unit){.name = name, .e = p->e, .param = t.name, .nparams = t.s->nextents};
    u->body = checks(&t, sizes(&t, fit, size));
    return u;
}
