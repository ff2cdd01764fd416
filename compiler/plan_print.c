/* Plans as text. */
#include "plan_runtime.h"

static void
print_piece(Buf *b, const char *dim, const Piece *q)
{
    i64 last = q->start, span;
    for (int i = 0; i < q->nloops; i++)
        if (!int_mul(q->loop[i].step, q->loop[i].n - 1, &span) ||
            !int_add(last, span, &last))
            last = INF;            /* a wrong plan; it is only named here */
    buf_printf(b, "%s=%lld", dim, (long long)q->start);
    if (last > q->start)
        buf_printf(b, "..%lld", (long long)last);
    if (q->nloops && q->loop[q->nloops - 1].step > 1) {
        buf_printf(b, " step %lld", (long long)q->loop[q->nloops - 1].step);
    } else if (q->nloops > 1) {
        i64 run = q->loop[q->nloops - 1].n, every = q->loop[q->nloops - 2].step;
        if (every != run)
            buf_printf(b, " (%lld of every %lld)", (long long)run, (long long)every);
    }
}

const char *
plan_box(Arena *a, const Plan *p, const Nest *n)
{
    Buf b = buf_new(a);
    if (n->now)
        runtime_box(&b, p, n);
    for (int d = 0; d < p->dst->rank && !n->now; d++) {
        buf_add(&b, d ? " " : "");
        print_piece(&b, p->dst->dim[d].name, n->piece[d]);
    }
    return b.s;
}

static void
print_loops(Buf *b, const Nest *n)
{
    for (int i = 0; i < n->nloops; i++) {
        const Loop *l = &n->loop[i];
        bool inner = i >= n->nloops - n->inner;
        buf_printf(b, "    %s %-8s n=%-6lld", inner ? "kernel" : "for   ", l->name,
                   (long long)l->n);
        if (n->kind == NEST_COPY)
            buf_printf(b, " src%-+9lld", (long long)l->ss);
        buf_printf(b, " dst%+lld%s\n", (long long)l->ds,
                   l->rest ? "  (and in the rest)" : "");
    }
}

static void
print_nest(Buf *b, const Plan *p, const Nest *n, int number)
{
    buf_printf(b, "  %d. %s  %s  %lld elements%s\n", number, n->kernel->name,
               plan_box(b->arena, p, n), (long long)n->elements,
               n->merged ? ", written with those before them" : "");
    if (n->kind == NEST_COPY) {
        buf_add(b, "    src = ");
        ex_print(b, n->src, p->e, &spell_lua);
        buf_add(b, "\n");
    }
    buf_add(b, "    dst = ");
    ex_print(b, n->dst, p->e, &spell_lua);
    buf_add(b, "\n");
    print_loops(b, n);
}

void
plan_print(Buf *b, const Plan *p)
{
    if (p->now) {
        runtime_print(b, p);
        return;
    }
    buf_printf(b, "plan: %d nest%s, no guards\n", p->n, p->n == 1 ? "" : "s");
    for (int i = 0; i < p->n; i++)
        print_nest(b, p, &p->nest[i], i + 1);
}
