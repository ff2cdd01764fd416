/* The arguments of kernel calls, independent of the target language.  emit_relayout.c
 * writes them as code; the interpreter of the library evaluates them. */
#include "kernel_family.h"

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

/* The kinds that vary between calls, and what else is not a number of the plan; which of two index
 * arrays it is; whether it counts the padding, too. */
static const struct {
    int is, lookup;
    bool pads;
} kind_of[] = {
    [ARG_DST] = {CALL_BUFFER, 0, 0}, [ARG_SRC] = {CALL_BUFFER, 0, 0},
    [ARG_DST_START] = {CALL_START, 0, 0}, [ARG_SRC_START] = {CALL_START, 0, 0},
    [ARG_COUNT] = {CALL_COUNT, 0, 0}, [ARG_RUN] = {CALL_COUNT, 0, 0},
    [ARG_WIDTH] = {CALL_COUNT, 0, true}, [ARG_TABLE] = {CALL_TABLE, 0, 0},
    [ARG_ENTRIES] = {CALL_NUMBER, 0, 0}, [ARG_SIZE] = {CALL_NUMBER, 0, 0},
    [ARG_DST_STEP] = {CALL_STEP, 0, 0}, [ARG_SRC_STEP] = {CALL_STEP, 0, 0},
    [ARG_FILL] = {CALL_PATTERN, 0, 0}, [ARG_STREAM] = {CALL_STREAM, 0, 0},
    [ARG_AHEAD] = {CALL_STREAM, 0, 0}, [ARG_DST_NUMBER] = {CALL_NUMBER, 0, 0},
    [ARG_SRC_NUMBER] = {CALL_NUMBER, 0, 0},
    [ARG_DST_ARRAY] = {CALL_ARRAY, 0, 0}, [ARG_DST_SECOND] = {CALL_ARRAY, 1, 0},
    [ARG_SRC_ARRAY] = {CALL_ARRAY, 0, 0}, [ARG_SRC_SECOND] = {CALL_ARRAY, 1, 0},
    [ARG_DST_PLACE] = {CALL_LOOKUP, 0, 0}, [ARG_DST_SECOND_PLACE] = {CALL_LOOKUP, 1, 0},
    [ARG_SRC_PLACE] = {CALL_LOOKUP, 0, 0}, [ARG_SRC_SECOND_PLACE] = {CALL_LOOKUP, 1, 0},
};

/* The number of an argument that is one of the plan. */
static i64
number_of(const Plan *p, const Nest *n, const KernelArg *k)
{
    const int bits = p->dst->dtype->bits;
    switch (k->what) {
    case ARG_ENTRIES:    return nest_entries(n);
    case ARG_SIZE:       return k->unit == IN_BYTES ? bits / 8 : bits;
    case ARG_STREAM:     return n->stream;
    case ARG_AHEAD:      return n->ahead;
    case ARG_DST_NUMBER: return numbers_of(p, n, DST);
    case ARG_SRC_NUMBER: return numbers_of(p, n, SRC);
    default:             return 0;
    }
}

CallArg
call_arg(const Plan *p, const Nest *n, char letter)
{
    const KernelArg *k = kernel_arg(letter);
    CallArg a = {.is = kind_of[k->what].is, .source = is_of_source(k->what), .role = k->role,
                 .lookup = kind_of[k->what].lookup, .number = number_of(p, n, k),
                 .pads = kind_of[k->what].pads && n->pad.n, .unit = k->unit};
    const bool of_array = a.is == CALL_ARRAY || a.is == CALL_LOOKUP;
    if (of_array && nest_lookup_by_rows(n, a.source ? SRC : DST, a.lookup) < 0)
        a.is = CALL_NUMBER;
    if (a.is == CALL_BUFFER && k->unit == IN_BYTES)
        a.is = CALL_PLACE;
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
