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
    static const bool is[] = {
        [ARG_SRC] = true, [ARG_SRC_START] = true, [ARG_SRC_STEP] = true, [ARG_SRC_ARRAY] = true,
        [ARG_SRC_NUMBER] = true, [ARG_SRC_PLACE] = true, [ARG_SRC_SECOND] = true,
        [ARG_SRC_SECOND_PLACE] = true,
    };
    return is[what];
}

/* What index arrays a side has, as templates/c/indexed.c says. */
static i64
numbers_of(const Plan *p, const Nest *n, int side)
{
    enum { SKIPS = 128 };
    const Layout *l = side == SRC ? p->src : p->dst;
    i64 bits = 0;
    for (int k = 0; k < ROW_LOOKUPS; k++) {
        int i = nest_lookup_by_rows(n, side, k);
        if (i >= 0)
            bits |= (i64)(l->lookup[i].bits | (l->lookup[i].skip ? SKIPS : 0)) << 8 * k;
    }
    return bits;
}

CallArg
call_arg(const Plan *p, const Nest *n, char letter)
{
    const KernelArg *k = kernel_arg(letter);
    int bits = p->dst->dtype->bits;
    CallArg a = {.is = CALL_NUMBER, .unit = k->unit, .role = k->role};
    a.source = is_of_source(k->what);
    const int side = a.source ? SRC : DST;
    a.lookup = k->what == ARG_DST_SECOND || k->what == ARG_SRC_SECOND ||
               k->what == ARG_DST_SECOND_PLACE || k->what == ARG_SRC_SECOND_PLACE;
    switch (k->what) {
    case ARG_DST:
    case ARG_SRC:       a.is = k->unit == IN_BYTES ? CALL_PLACE : CALL_BUFFER; break;
    case ARG_DST_START:
    case ARG_SRC_START: a.is = CALL_START; break;
    case ARG_COUNT:
    case ARG_RUN:       a.is = CALL_COUNT; break;
    case ARG_WIDTH:     a.is = CALL_COUNT; a.pads = n->pad.n; break;
    case ARG_TABLE:     a.is = CALL_TABLE; break;
    case ARG_ENTRIES:   a.number = nest_entries(n); break;
    case ARG_DST_STEP:
    case ARG_SRC_STEP:  a.is = CALL_STEP; break;
    case ARG_FILL:      a.is = CALL_PATTERN; break;
    case ARG_SIZE:      a.number = k->unit == IN_BYTES ? bits / 8 : bits; break;
    case ARG_STREAM:    a.is = CALL_STREAM; a.number = n->stream; break;
    case ARG_AHEAD:     a.is = CALL_STREAM; a.number = n->ahead; break;
    case ARG_DST_NUMBER:
    case ARG_SRC_NUMBER: a.number = numbers_of(p, n, side); break;
    case ARG_DST_ARRAY: case ARG_DST_SECOND:
    case ARG_SRC_ARRAY: case ARG_SRC_SECOND:
        a.is = nest_lookup_by_rows(n, side, a.lookup) < 0 ? CALL_NUMBER : CALL_ARRAY;
        break;
    case ARG_DST_PLACE: case ARG_DST_SECOND_PLACE:
    case ARG_SRC_PLACE: case ARG_SRC_SECOND_PLACE:
        a.is = nest_lookup_by_rows(n, side, a.lookup) < 0 ? CALL_NUMBER : CALL_LOOKUP;
        break;
    }
    return a;
}

/* True if the nest writes whole bytes only: some of its loops fill bytes, the strides of
 * the others are whole bytes.  Loops in the residual fill none: the parts of a byte may belong
 * to different iterations of another loop. */
static bool
whole_bytes(const Nest *n, int bits)
{
    i64 per = bits < 8 ? 8 / bits : 1;
    bool used[MAX_LOOPS] = {false};
    i64 run = 1;
    for (int i = 0; i < n->nloops && run % per; i++)
        if (!used[i] && n->loop[i].ds == run && ex_is_const(n->loop[i].ex.n) &&
            ex_is_const(n->loop[i].ex.ds) && !ex_has(n->dst, n->loop[i].var)) {
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
