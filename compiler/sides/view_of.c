/* What a conversion costs at least: nothing where it is a view, else a copy in runs. */
#include <string.h>

#include "sides.h"

Strides
sides_view_of(const Plan *p)
{
    sides_refuse_strides(p->scalars, p->name, "a view of a layout");
    return decide_strides(p->src, p->dst, p->map);
}

/* The nest that copies the most elements; NULL if there is none. */
static const Nest *
largest(const Plan *p)
{
    const Nest *most = NULL;
    for (int i = 0; i < p->n; i++)
        if (p->nest[i]->kind == NEST_COPY && (!most || p->nest[i]->elements > most->elements))
            most = p->nest[i];
    return most;
}

/* The loop of n that continues a run of so many elements on both sides; -1: none. */
static int
continues(const Nest *n, i64 run)
{
    for (int i = 0; i < n->nloops; i++)
        if (n->loop[i].ss == run && n->loop[i].ds == run && !n->loop[i].residual)
            return i;
    return -1;
}

Together
sides_walk(const Plan *p)
{
    Together w = {.run = 1, .order = ""};
    const Nest *n = largest(p);
    Buf b = buf_new(ex_arena(p->e));
    for (int i; n && (i = continues(n, w.run)) >= 0;)
        w.run *= n->loop[i].n;
    for (int i = 0; n && i < n->nloops; i++)
        buf_printf(&b, "%s%s", i ? ", " : "", n->loop[i].name);
    w.order = b.s;
    w.elements = n ? n->elements : 0;
    return w;
}
