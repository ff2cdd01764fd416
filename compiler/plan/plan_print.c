/* Prints plans as text: docs/ir/plan.md. */
#include "plan_parts.h"

/* Of each variable: the scalar over extents.  Made again where variables were added. */
static const Ex **
spellings(Scalars *s)
{
    Exprs *e = s->e;
    int nvars = ex_nvars(e);
    if (s->spelled == nvars)
        return s->spelling;
    const Ex **to = s->spelling = arena_array(ex_arena(e), const Ex *, nvars);
    s->spelled = nvars;
    for (int i = s->nextents; i < s->n; i++) {
        const Scalar *f = &s->scalar[i];
        const Ex *v = f->by_name ? ex_of_var(e, f->var) : f->def ? ex_subst(e, f->def, to) : ex_const(e, 1);
        for (int k = 0; k < f->nfactors; k++) {
            const Ex *y = ex_of_var(e, s->scalar[f->factor[k]].var);
            v = ex_mul(e, v, ex_subst(e, y, to));
        }
        to[f->var] = v;
    }
    return to;
}

/* x with every scalar replaced by its definition over extents. */
static const Ex *
spelled(const Plan *p, const Ex *x)
{
    return ex_is_const(x) ? x : ex_subst(p->e, x, spellings(p->scalars));
}

static const char *
text(const Plan *p, const Ex *x)
{
    return ex_text(p->e, x);
}

/* Examples: C=16..19 (both ends included); C=0..8*(C//8) - 1; C=4..33 (4 of every 12) */
static void
print_piece(Buf *b, const Plan *p, int d, const Piece *q)
{
    Exprs *e = p->e;
    const Ex *one = ex_const(e, 1), *last = q->to ? ex_sub(e, q->to, one) : q->from;
    for (int i = 0; i < q->nloops && !q->to; i++)
        last = ex_add(e, last, ex_scale(e, ex_sub(e, q->loop[i].n, one),
                                        q->loop[i].step));
    buf_printf(b, "%s=%s", p->box.to->l->dim[d].name, text(p, spelled(p, q->from)));
    if (spelled(p, last) != spelled(p, q->from))
        buf_printf(b, "..%s", text(p, spelled(p, last)));
    if (!q->to && q->nloops > 1)
        buf_printf(b, " (%s of every %lld)", text(p, q->loop[q->nloops - 1].n),
                   (long long)q->loop[q->nloops - 2].step);
    else if (!q->to && q->nloops)
        buf_printf(b, " step %lld", (long long)q->loop[0].step);
}

const char *
plan_box(Arena *a, const Plan *p, const Nest *n)
{
    Buf b = buf_new(a);
    for (int d = 0; d < p->box.rank; d++) {
        buf_add(&b, d ? " " : "");
        print_piece(&b, p, d, n->piece[d]);
    }
    return b.s;
}

/* The text of a stride, with its sign. */
static const char *
step(const Plan *p, const Ex *x)
{
    const char *t = text(p, x);
    return *t == '-' ? t : arena_printf(ex_arena(p->e), "+%s", t);
}

static void
print_loops(Buf *b, const Plan *p, const Nest *n)
{
    for (int i = 0; i < n->nloops; i++) {
        const Loop *l = &n->loop[i];
        bool inner = i >= n->nloops - n->inner;
        buf_printf(b, "    %s %-8s n=%-6s", inner ? "kernel" : "for   ", l->name,
                   text(p, l->ex.n));
        if (n->kind == NEST_COPY)
            buf_printf(b, " src%-9s", step(p, l->ex.ss));
        buf_printf(b, " dst%s%s\n", step(p, l->ex.ds),
                   l->residual ? "  (and in the residual)" : "");
    }
}

static void
print_lookups(Buf *b, const Plan *p, const Layout *l, const Ex *const at[MAX_LOOKUPS])
{
    for (int i = 0; i < l->nlookups && at[i]; i++)
        buf_printf(b, "    %s = number %s of %s\n", l->lookup[i].symbol, text(p, at[i]),
                   l->lookup[i].array);
}

static void
print_nest(Buf *b, const Plan *p, const Nest *n, int number)
{
    bool known = true;
    for (int i = 0; i < n->nloops; i++)
        known &= ex_is_const(n->loop[i].ex.n);
    buf_printf(b, "  %d. %s  %s", number, n->kernel->name, plan_box(b->arena, p, n));
    if (known)
        buf_printf(b, "  %lld elements", (long long)n->elements);
    buf_printf(b, "%s\n", n->merged ? ", written with those before them" : "");
    for (int i = 0; i < n->nneeded; i++)
        buf_printf(b, "%s %s%s", i ? "," : "    where", ex_above_spelled(ex_arena(p->e), n->needed[i], p->e, &spell_lua),
                   i + 1 < n->nneeded ? "" : "\n");
    print_lookups(b, p, p->src, n->at[SRC]);
    print_lookups(b, p, p->dst, n->at[DST]);
    if (n->kind == NEST_COPY)
        buf_printf(b, "    src = %s\n", text(p, n->src));
    buf_printf(b, "    dst = %s\n", text(p, n->dst));
    print_loops(b, p, n);
}

void
plan_print(Buf *b, const Plan *p)
{
    const Scalars *s = p->scalars;
    buf_printf(b, "plan: %d nest%s%s, no guards%s\n", p->n, p->n == 1 ? "" : "s",
               s->nextents ? " for every shape" : "", s->nextents ? " in a loop" : "");
    scalars_print(b, p->scalars);
    for (int i = 0; i < p->n; i++)
        print_nest(b, p, p->nest[i], i + 1);
}
