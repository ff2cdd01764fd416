/* The arguments of kernel calls, independent of the target language.  emit_relayout.c
 * writes them as code; the interpreter of the library evaluates them. */
#include "kernel_family.h"

i64
call_unit(const Plan *p, i64 elements, ArgUnit unit)
{
    int bits = p->dst->dtype->bits;
    if (unit != IN_BYTES)
        return elements;
    return bits >= 8 ? elements * (bits / 8) : int_div(elements, 8 / bits);
}

static bool
is_of_source(int what)
{
    return what == ARG_SRC || what == ARG_SRC_START || what == ARG_SRC_STEP ||
           what == ARG_SRC_ARRAY || what == ARG_SRC_NUMBER || what == ARG_SRC_PLACE;
}

CallArg
call_arg(const Plan *p, const Nest *n, char letter)
{
    const KernelArg *k = kernel_arg(letter);
    int bits = p->dst->dtype->bits;
    CallArg a = {.is = CALL_NUMBER, .unit = k->unit, .role = k->role};
    a.source = is_of_source(k->what);
    const int lookup = nest_lookup_by_rows(n, a.source ? SRC : DST);
    switch (k->what) {
    case ARG_DST:
    case ARG_SRC:       a.is = k->unit == IN_BYTES ? CALL_PLACE : CALL_BUFFER; break;
    case ARG_DST_START:
    case ARG_SRC_START: a.is = CALL_START; break;
    case ARG_COUNT:
    case ARG_RUN:       a.is = CALL_COUNT; break;
    case ARG_WIDTH:     a.is = CALL_COUNT; a.number = n->pad; break;
    case ARG_TABLE:     a.is = CALL_TABLE; break;
    case ARG_ENTRIES:   a.number = nest_entries(n); break;
    case ARG_DST_STEP:
    case ARG_SRC_STEP:  a.is = CALL_STEP; break;
    case ARG_FILL:      a.is = CALL_PATTERN; break;
    case ARG_SIZE:      a.number = k->unit == IN_BYTES ? bits / 8 : bits; break;
    case ARG_STREAM:    a.is = CALL_STREAM; a.number = n->stream; break;
    case ARG_AHEAD:     a.is = CALL_STREAM; a.number = n->ahead; break;
    case ARG_DST_ARRAY:
    case ARG_SRC_ARRAY: a.is = lookup < 0 ? CALL_NUMBER : CALL_ARRAY; break;
    case ARG_DST_NUMBER: a.number = lookup < 0 ? 0 : p->dst->lookup[lookup].bits; break;
    case ARG_SRC_NUMBER: a.number = lookup < 0 ? 0 : p->src->lookup[lookup].bits; break;
    case ARG_DST_PLACE:
    case ARG_SRC_PLACE: a.is = lookup < 0 ? CALL_STEP : CALL_LOOKUP; break;
    }
    return a;
}

/* True if the nest writes whole bytes only: some of its loops fill bytes, the strides of
 * the others are whole bytes. */
static bool
whole_bytes(const Nest *n, int bits)
{
    i64 per = bits < 8 ? 8 / bits : 1;
    bool used[MAX_LOOPS] = {false};
    i64 run = 1;
    for (int i = 0; i < n->nloops && run % per; i++)
        if (!used[i] && n->loop[i].ds == run && ex_is_const(n->loop[i].ex.n) &&
            ex_is_const(n->loop[i].ex.ds)) {
            used[i] = true;
            run *= n->loop[i].n;
            i = -1;
        }
    for (int i = 0; i < n->nloops; i++)
        if (!used[i] && n->loop[i].ds % per)
            return false;
    return run % per == 0 && kernel_multiple(n->dst, per);
}

bool
nest_shares_bytes(const Plan *p, const Nest *n)
{
    return n->kernel->family->elements == OF_BITS && !whole_bytes(n, p->dst->dtype->bits);
}

i64
nest_owner(const Plan *p, const Nest *n)
{
    return nest_shares_bytes(p, n) ? 0 : plan_index(p, n);
}
