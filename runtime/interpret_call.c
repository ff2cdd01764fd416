/* The kernel calls of a nest whose loops are numbers: iterations and arguments. */
#include "interpret_steps.h"

/* The iterations of a loop that one call executes; the last call of an outer loop may have
 * fewer. */
static i64
taken(const Nest *n, const Numbers *m, int role)
{
    int loop = n->role[role];
    int outer = loop < 0 ? -1 : nest_outer(n, loop);
    return loop < 0 ? 1 : outer < 0 ? m->n[loop] : n->outer[outer].step;
}

static bool
count_varies(const Nest *n, const Numbers *m, int role)
{
    return n->role[role] >= 0 && nest_outer(n, n->role[role]) >= 0 &&
           m->n[n->role[role]] % taken(n, m, role) != 0;
}

static i64
stride(const Nest *n, const Numbers *m, int role, bool source)
{
    int loop = n->role[role];
    return loop < 0 ? 0 : source ? m->ss[loop] : m->ds[loop];
}

static void
make_argument(const Plan *p, const Nest *n, const Numbers *m, Step *s, int at)
{
    CallArg c = call_arg(p, n, kernel_letters(n->kernel)[at]);
    const int side = c.source ? SRC : DST;
    switch (c.is) {
    case CALL_NUMBER:
        s->arg[at] = (Word)c.number;
        return;
    case CALL_STREAM:
        s->arg[at] = m->stream ? (Word)c.number : 0;
        return;
    case CALL_STEP:
        s->arg[at] = (Word)call_unit(p, stride(n, m, c.role, c.source), c.unit);
        return;
    case CALL_PATTERN:
        s->arg[at] = m->fill;
        return;
    case CALL_TABLE:
        s->arg[at] = (Word)(uintptr_t)s->table;
        return;
    case CALL_COUNT:
        c.number = c.pads ? m->pad : 0;
        s->arg[at] = (Word)call_unit(p, taken(n, m, c.role) + c.number, c.unit);
        if (count_varies(n, m, c.role))
            s->varying[s->nvarying++] = (Varying){at, c, nest_outer(n, n->role[c.role]), -1};
        return;
    case CALL_LOOKUP:
        s->arg[at] = (Word)call_unit(p, m->each[side * ROW_LOOKUPS + c.lookup], c.unit);
        return;
    case CALL_ARRAY:
        s->varying[s->nvarying++] = (Varying){.at = at, .arg = c,
            .lookup = nest_lookup_by_rows(n, side, c.lookup) + (c.source ? 0 : p->src->nlookups)};
        return;
    case CALL_BUFFER: case CALL_PLACE: case CALL_START:
        s->varying[s->nvarying++] = (Varying){at, c, -1, -1};
        return;
    }
}

void
interpret_calls(Arena *a, const Plan *p, const Nest *n, const Numbers *m, Step *s)
{
    s->nouter = n->nouter;
    s->split = n->split;
    s->outer = arena_array(a, Pace, n->nouter);
    for (int k = 0; k < n->nouter; k++) {
        int loop = n->outer[k].loop;
        s->outer[k] = (Pace){m->n[loop], n->outer[k].step, m->ds[loop], m->ss[loop]};
    }
    s->nvarying = 0;
    for (int i = 0; kernel_letters(n->kernel)[i]; i++)
        make_argument(p, n, m, s, i);
}
