/* The kernel calls of a nest for any shape: outer loops and arguments. */
#include <string.h>

#include "interpret_steps.h"

/* The stride of the loop with a role. */
static StepValue
stride(StepsMaker *m, const CallArg *c)
{
    const int loop = m->n->role[c->role];
    if (loop < 0)
        return interpret_value(m, ex_const(m->p->e, 0));
    return interpret_value(m, c->source ? m->n->loop[loop].ex.ss : m->n->loop[loop].ex.ds);
}

/* The iterations of the loop that one call executes; the last call of an outer loop may have
 * fewer. */
static StepValue
count(StepsMaker *m, const CallArg *c, int outer)
{
    const int loop = m->n->role[c->role];
    return interpret_value(m, outer < 0 && loop >= 0 ? m->n->loop[loop].ex.n
                              : ex_const(m->p->e, loop < 0 ? 1 : m->n->outer[outer].step));
}

static StepArg
argument(StepsMaker *m, char letter)
{
    const Nest *n = m->n;
    const CallArg c = call_arg(m->p, n, letter);
    const int side = c.source ? SRC : DST;
    StepArg a = {.is = (uint8_t)c.is, .unit = (uint8_t)c.unit, .source = c.source, .pads = c.pads,
                 .outer = -1, .lookup = -1, .value = NO_VALUE};
    if (c.is == CALL_NUMBER || c.is == CALL_STREAM)
        a.value = interpret_value(m, ex_const(m->p->e, c.number));
    else if (c.is == CALL_STEP)
        a.value = stride(m, &c);
    else if (c.is == CALL_LOOKUP)
        a.value = interpret_value(m, nest_lookup_step(n, side, c.lookup));
    else if (c.is == CALL_COUNT)
        a.value = count(m, &c, a.outer = (short)nest_outer(n, n->role[c.role]));
    else if (c.is == CALL_ARRAY)
        a.lookup = (short)(nest_lookup_by_rows(n, side, c.lookup) +
                                 (c.source ? 0 : m->p->src->nlookups));
    return a;
}

/* Many nests have the same: they differ in where they begin. */
static const StepArg *
keep_arguments(StepsMaker *m, const StepArg *arg, int n)
{
    for (const Sketch *s = m->first; s < m->s; s++)
        if (s->nargs == n && !memcmp(s->arg, arg, (size_t)n * sizeof *arg))
            return s->arg;
    return KEEP(m, arg, n);
}

void
interpret_calls(StepsMaker *m)
{
    const Nest *n = m->n;
    const char *letter = kernel_letters(n->kernel);
    Outer outer[MAX_OUTER];
    StepArg arg[ARGS_MAX];
    m->s->pad = n->pad.n ? interpret_value(m, n->pad.ex) : NO_VALUE;
    for (int k = 0; k < n->nouter; k++) {
        const Loop *l = &n->loop[n->outer[k].loop];
        outer[k] = (Outer){interpret_value(m, l->ex.n), interpret_value(m, l->ex.ds),
                           interpret_value(m, l->ex.ss), n->outer[k].step};
    }
    m->s->outer = KEEP(m, outer, n->nouter);
    for (; letter[m->s->nargs]; m->s->nargs++)
        arg[m->s->nargs] = argument(m, letter[m->s->nargs]);
    m->s->arg = keep_arguments(m, arg, m->s->nargs);
}
