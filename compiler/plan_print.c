/* Plans as text. */
#include "plan.h"

static void
print_loops(Buf *b, const Nest *n)
{
    for (int i = 0; i < n->nloops; i++) {
        const Loop *l = &n->loop[i];
        bool inner = i >= n->nloops - n->inner;
        buf_printf(b, "    %s %-8s n=%-6lld", inner ? "kernel" : "for   ", l->name,
                   (long long)l->n);
        if (n->kind == NEST_COPY)
            buf_printf(b, " src+%-8lld", (long long)l->ss);
        buf_printf(b, " dst+%lld%s\n", (long long)l->ds,
                   l->rest ? "  (and in the rest)" : "");
    }
}

static void
print_nest(Buf *b, const Plan *p, const Nest *n, int number)
{
    buf_printf(b, "  %d. %s  %s  %lld elements\n", number, n->kernel->name, n->box,
               (long long)n->elements);
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
    buf_printf(b, "plan: %d nest%s, no guards\n", p->n, p->n == 1 ? "" : "s");
    for (int i = 0; i < p->n; i++)
        print_nest(b, p, &p->nest[i], i + 1);
}
