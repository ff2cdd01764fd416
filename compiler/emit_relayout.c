/* A plan as statements: for each nest its outer loops around one kernel call. */
#include <string.h>

#include "emit.h"

typedef struct {
    const Plan *p;
    Arena *arena;
    const Nest *n;
    const char *name[MAX_LOOPS];   /* identifiers of the nest's outer loops */
    int var[MAX_LOOPS];            /* variables with those names */
} Emitter;

static const Loop *
row_of(const Nest *n)
{
    return n->inner == 2 ? &n->loop[n->nloops - 2] : NULL;
}

static const Loop *
col_of(const Nest *n)
{
    return n->inner > 0 ? &n->loop[n->nloops - 1] : NULL;
}

/* The address at the start of the kernel's loops, in units of 1/per elements or
 * bytes: base and rest, plus the outer loops' strides. */
static const Ex *
start_of(Emitter *t, bool source, i64 scale)
{
    const Nest *n = t->n;
    Exprs *e = t->p->e;
    const Ex **to = arena_array(t->arena, const Ex *, ex_nvars(e));
    for (int i = 0; i < n->nloops - n->inner; i++)
        to[n->loop[i].var] = ex_of_var(e, t->var[i]);
    const Ex *x = ex_subst(e, source ? n->src : n->dst, to);
    for (int i = 0; i < n->nloops - n->inner; i++) {
        i64 k = source ? n->loop[i].ss : n->loop[i].ds;
        x = ex_add(e, x, ex_scale(e, ex_of_var(e, t->var[i]), k));
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

static i64
to_bytes(Emitter *t, i64 elements)
{
    i64 bits = t->p->dst->dtype->bits;
    return bits >= 8 ? elements * (bits / 8) : elements / (8 / bits);
}

static i64
count(const Loop *l)
{
    return l ? l->n : 1;
}

static i64
stride(const Loop *l, bool source)
{
    return !l ? 0 : source ? l->ss : l->ds;
}

static void
set_arg(Emitter *t, char code, Arg *a)
{
    const Loop *row = row_of(t->n), *col = col_of(t->n);
    Exprs *e = t->p->e;
    i64 v = 0, bits = t->p->dst->dtype->bits;
    switch (code) {
    case 'D': *a = (Arg){.buffer = "dst", .value = byte_start(t, false)}; return;
    case 'S': *a = (Arg){.buffer = "src", .value = byte_start(t, true)}; return;
    case 'd': *a = (Arg){.buffer = "dst", .value = ex_const(e, 0)}; return;
    case 's': *a = (Arg){.buffer = "src", .value = ex_const(e, 0)}; return;
    case 'x': a->value = start_of(t, false, 1); return;
    case 'y': a->value = start_of(t, true, 1); return;
    case 'v': a->pattern = t->p->dst->fill[0]; return;
    case 'r': v = count(row); break;
    case 'c': v = count(col); break;
    case 'R': v = bits >= 8 ? count(col) * (bits / 8) : count(col) / (8 / bits); break;
    case 'P': v = to_bytes(t, stride(row, false)); break;
    case 'p': v = to_bytes(t, stride(col, false)); break;
    case 'Q': v = to_bytes(t, stride(row, true)); break;
    case 'q': v = to_bytes(t, stride(col, true)); break;
    case 'i': v = stride(row, false); break;
    case 'j': v = stride(col, false); break;
    case 'k': v = stride(row, true); break;
    case 'l': v = stride(col, true); break;
    case 'B': v = bits / 8; break;
    case 'b': v = bits; break;
    default: break;
    }
    a->value = ex_const(e, v);
}

static void
add_call(Emitter *t, Stmt ***tail)
{
    const Kernel *k = t->n->kernel;
    Stmt *s = emit_add(t->arena, tail, ST_CALL);
    s->kernel = k;
    for (const char *c = k->args; *c; c++)
        set_arg(t, *c, &s->arg[s->nargs++]);
}

static void
add_nest(Emitter *t, Stmt ***tail)
{
    const Nest *n = t->n;
    int outer = n->nloops - n->inner;
    emit_add(t->arena, tail, ST_COMMENT)->text =
        arena_printf(t->arena, "%s%s: %s", n->kind == NEST_FILL ? "padding " : "",
                     plan_box(t->arena, t->p, n), n->kernel->name);
    Stmt **inner = NULL, ***at = tail;
    for (int i = 0; i < outer; i++) {
        t->name[i] = emit_identifier(t->arena, n->loop[i].name, t->name, i);
        t->var[i] = ex_loop_var(t->p->e, t->name[i], n->loop[i].n);
    }
    for (int i = 0; i < outer; i++) {
        Stmt *s = emit_add(t->arena, at, ST_FOR);
        s->text = t->name[i];
        s->count = n->loop[i].n;
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
    buf_printf(&b, "%s\n", command);
    emit_layout_head(&b, "src", p->src);
    emit_layout_head(&b, "dst", p->dst);
    *u = (Unit){.kind = EMIT_RELAYOUT, .name = name, .head = b.s, .e = p->e};
    u->note = arena_printf(a, "src: %lld bytes, dst: %lld bytes; they do not overlap",
                           (long long)layout_bytes(p->src),
                           (long long)layout_bytes(p->dst));
    for (int i = 0; i < p->n; i++) {
        Emitter t = {.p = p, .arena = a, .n = &p->nest[i]};
        add_nest(&t, at);
    }
    return u;
}
