/* Plans with extents left to run time as text. */
#include "plan_runtime.h"

/* x over the extents alone. */
static const Ex *
spelled(const Plan *p, const Ex *x)
{
    const Scalars *s = p->now->scalars;
    Exprs *e = p->e;
    const Ex **to = arena_array(ex_arena(e), const Ex *, ex_nvars(e));
    for (int i = s->nextents; i < s->n; i++) {
        const Scalar *f = &s->scalar[i];
        const Ex *v = f->def ? ex_subst(e, f->def, to) : ex_const(e, 1);
        for (int k = 0; k < f->nfactors; k++) {
            const Ex *y = ex_of_var(e, s->scalar[f->factor[k]].var);
            v = ex_mul(e, v, ex_subst(e, y, to));
        }
        to[f->var] = v;
    }
    return ex_subst(e, x, to);
}

/* C=0..8*(C//8), the end no part of it; C=4.. (4 of every 12) */
static void
print_piece(Buf *b, const Plan *p, int d, const RuntimePiece *q)
{
    Exprs *e = p->e;
    buf_printf(b, "%s=%s..", p->dst->dim[d].name, ex_text(e, spelled(p, q->from)));
    if (q->to)
        buf_add(b, ex_text(e, spelled(p, q->to)));
    else
        buf_printf(b, " (%s of every %lld)", q->nloops > 1 ? ex_text(e, q->loop[1].n) : "1",
                   (long long)q->loop[0].step);
}

void
runtime_box(Buf *b, const Plan *p, const Nest *n)
{
    for (int d = 0; d < p->dst->rank; d++) {
        buf_add(b, d ? " " : "");
        print_piece(b, p, d, n->now->piece[d]);
    }
}

static const char *
text(const Plan *p, const Ex *x)
{
    return ex_text(p->e, x);
}

/* As a step, with its sign. */
static const char *
step(const Plan *p, const Ex *x)
{
    const char *t = text(p, x);
    return *t == '-' ? t : arena_printf(ex_arena(p->e), "+%s", t);
}

/* What a scalar is: c//8, or a product of others. */
static void
print_scalar(Buf *b, const Plan *p, const Scalar *f)
{
    const Scalars *s = p->now->scalars;
    buf_printf(b, "  %s = %s", ex_var_name(p->e, f->var), f->def ? text(p, f->def) : "");
    for (int k = 0; k < f->nfactors; k++)
        buf_printf(b, "%s%s", k ? "*" : "",
                   ex_var_name(p->e, s->scalar[f->factor[k]].var));
    buf_add(b, "\n");
}

static void
print_nest(Buf *b, const Plan *p, const Nest *n, int number)
{
    buf_printf(b, "  %d. %s  ", number, n->kernel->name);
    runtime_box(b, p, n);
    for (int i = 0; i < n->now->nneeded && n->now->few; i++)
        buf_printf(b, "%s %s > 0", i ? "," : "\n    where", text(p, n->now->needed[i]));
    if (n->kind == NEST_COPY)
        buf_printf(b, "\n    src = %s", text(p, n->src));
    buf_printf(b, "\n    dst = %s\n", text(p, n->dst));
    for (int i = 0; i < n->nloops; i++) {
        const Loop *l = &n->loop[i];
        bool inner = i >= n->nloops - n->inner;
        buf_printf(b, "    %s %-8s n=%-6s", inner ? "kernel" : "for   ", l->name,
                   text(p, l->now.n));
        if (n->kind == NEST_COPY)
            buf_printf(b, " src%-9s", step(p, l->now.ss));
        buf_printf(b, " dst%s%s\n", step(p, l->now.ds),
                   l->rest ? "  (and in the rest)" : "");
    }
}

void
runtime_print(Buf *b, const Plan *p)
{
    const Scalars *s = p->now->scalars;
    buf_printf(b, "plan: %d nest%s for every shape, no guards in a loop\n", p->n,
               p->n == 1 ? "" : "s");
    for (int i = s->nextents; i < s->n; i++)
        print_scalar(b, p, &s->scalar[i]);
    for (int i = 0; i < p->n; i++)
        print_nest(b, p, &p->nest[i], i + 1);
}

void
runtime_layout_print(Buf *b, const Plan *p, const RuntimeLayout *r)
{
    const Layout *l = r->l;
    buf_printf(b, "  entry             slots     stride   as simplified\n");
    for (int i = 0; i < l->nentry; i++)
        buf_printf(b, "  %-16s %6s %10s   %s\n", ast_text(b->arena, l->entry[i].x),
                   text(p, r->slots[i]), text(p, r->stride[i]),
                   text(p, l->entry[i].written));
    buf_printf(b, "  storage   %s elements\n\n", text(p, r->size));
}
