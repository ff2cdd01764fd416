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

/* Of an argument that no call changes, or that it counts from. */
static Word
first_value(const Plan *p, const Nest *n, const Numbers *m, const Step *s, const CallArg *c)
{
    switch (c->is) {
    case CALL_NUMBER:
        return (Word)c->number;
    case CALL_STREAM:
        return m->stream ? (Word)c->number : 0;
    case CALL_STEP:
        return (Word)call_unit(p, stride(n, m, c->role, c->source), c->unit);
    case CALL_PATTERN:
        return m->fill;
    case CALL_TABLE:
        return (Word)(uintptr_t)s->table;
    case CALL_COUNT:
        return (Word)call_unit(p, taken(n, m, c->role) + c->number, c->unit);
    case CALL_LOOKUP:
        return (Word)call_unit(p, m->each[(c->source ? SRC : DST) * ROW_LOOKUPS + c->lookup],
                               c->unit);
    default:
        return 0;
    }
}

static void
make_argument(const Plan *p, const Nest *n, const Numbers *m, Step *s, int at)
{
    CallArg c = call_arg(p, n, kernel_letters(n->kernel)[at]);
    Varying v = {.at = at, .outer = -1, .lookup = -1};
    bool varies = c.is == CALL_BUFFER || c.is == CALL_PLACE || c.is == CALL_START ||
                  c.is == CALL_ARRAY;
    if (c.is == CALL_COUNT) {
        c.number = c.pads ? m->pad : 0;
        v.outer = nest_outer(n, n->role[c.role]);
        varies = count_varies(n, m, c.role);
    } else if (c.is == CALL_ARRAY) {
        v.outer = 0;
        v.lookup = nest_lookup_by_rows(n, c.source ? SRC : DST, c.lookup) +
                   (c.source ? 0 : p->src->nlookups);
    }
    s->arg[at] = first_value(p, n, m, s, &c);
    v.arg = c;
    if (varies)
        s->varying[s->nvarying++] = v;
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
