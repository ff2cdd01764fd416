/* Whether a swizzle keeps aligned groups of neighbouring addresses together, and aligned blocks of
 * them, by what its operators do to the bits of an address. */
#include "reference_side.h"

/* What is known of a value at the addresses of a group. */
typedef struct {
    uint64_t vary;                 /* bits that may differ between two of them */
    uint64_t zero;                 /* bits that are 0 at all */
    bool keeps;                    /* the bits within the group are the address's, others are the
                                    * same at all */
} Bits;

static const Bits unknown = {UINT64_MAX, 0, false};

/* All bits from the lowest of `set` on: how far a carry goes. */
static uint64_t
upward(uint64_t set)
{
    return set ? -(set & -set) : 0;
}

/* The bits below the lowest that may be 1 in either. */
static uint64_t
below(const Bits *x, const Bits *y)
{
    return ~upward(~(x->zero & y->zero));
}

static Bits
shifted(const Bits *x, i64 k, bool left)
{
    if (k < 0 || k > 62)
        return unknown;
    if (!left)                     /* the bit of the sign fills up */
        return (Bits){(uint64_t)((i64)x->vary >> k), (uint64_t)((i64)x->zero >> k), false};
    return (Bits){x->vary << k, x->zero << k | (((uint64_t)1 << k) - 1), false};
}

/* x and a number. */
static Bits
masked(const Bits *x, uint64_t mask, uint64_t low)
{
    return (Bits){x->vary & mask, x->zero | ~mask, x->keeps && (mask & low) == low};
}

/* Sums, differences, and what is bit by bit: with a multiple of the group, a group stays one. */
static Bits
joined(Op op, const Bits *x, const Bits *y, uint64_t low)
{
    bool carries = op == OP_ADD || op == OP_SUB, keeps = x->keeps && !y->vary && (y->zero & low) == low;
    Bits r = {x->vary | y->vary, carries ? below(x, y) : x->zero & y->zero, keeps};
    if (!keeps && carries)
        r.vary = upward(r.vary);
    return r;
}

/* x and the number v > 0, by op. */
static Bits
by_number(Op op, const Bits *x, i64 v, uint64_t low)
{
    bool power = int_is_pow2(v), whole = x->keeps && ((uint64_t)v & low) == 0;
    if (op == OP_MUL && power)
        return shifted(x, int_log2(v), true);
    if (op == OP_DIV && power)
        return shifted(x, int_log2(v), false);
    if (op == OP_MOD && power)
        return masked(x, (uint64_t)v - 1, low);
    if (whole && op == OP_MOD)
        return (Bits){low, 0, true};
    return (Bits){x->vary == 0 || (whole && op == OP_DIV) ? 0 : UINT64_MAX, 0, false};
}

typedef struct {
    const Layout *l;
    uint64_t low;                  /* the bits within a group; of a block, those above it */
    bool block;                    /* a carry or a quotient would change what is above it */
} AddressGroup;

static bool
constant(const void *env, const char *name, i64 *v)
{
    const AddressGroup *g = env;
    return layout_constant(g->l, name, v);
}

static Bits
bits_of(const AddressGroup *g, const Ast *x)
{
    i64 v = 0, w = 0;
    if (!ast_names(x, "a"))
        return ast_eval(x, constant, g, &v) ? (Bits){0, ~(uint64_t)v, false} : unknown;
    if (x->op == OP_SYM)
        return (Bits){g->low, 0, true};
    Bits p = bits_of(g, x->x[0]), q = x->x[1] ? bits_of(g, x->x[1]) : (Bits){0, UINT64_MAX, false};
    bool right = x->x[1] && !ast_names(x->x[1], "a") && ast_eval(x->x[1], constant, g, &w);
    bool first = !ast_names(x->x[0], "a") && ast_eval(x->x[0], constant, g, &v);
    bool carries = x->op == OP_ADD || x->op == OP_SUB || x->op == OP_DIV || x->op == OP_MOD;
    if (g->block && carries)
        p.keeps = q.keeps = false;
    switch (x->op) {
    case OP_OR: case OP_XOR: case OP_ADD:
        return p.keeps ? joined(x->op, &p, &q, g->low) : joined(x->op, &q, &p, g->low);
    case OP_SUB:
        return joined(x->op, &p, &q, g->low);
    case OP_AND:
        return right ? masked(&p, (uint64_t)w, g->low) : first ? masked(&q, (uint64_t)v, g->low)
                     : (Bits){p.vary | q.vary, p.zero | q.zero, false};
    case OP_SHL: case OP_SHR:
        return right ? shifted(&p, w, x->op == OP_SHL) : unknown;
    case OP_MUL: case OP_DIV: case OP_MOD:
        if (right && w > 0)
            return by_number(x->op, &p, w, g->low);
        return first && v > 0 && x->op == OP_MUL ? by_number(x->op, &q, v, g->low) : unknown;
    default:
        return p.vary | q.vary ? unknown : (Bits){0, 0, false};
    }
}

/* In elements, of a group of `n` of what the swizzle counts. */
static i64
elements(const Layout *l, i64 n)
{
    return l->ref->def->swizzle_bytes ? n * 8 / l->dtype->bits : n;
}

i64
swizzle_group(const Layout *l)
{
    enum { LARGEST = 12 };
    const Ast *swizzle = l->ref->def->swizzle;
    for (int k = LARGEST; swizzle && k > 0; k--) {
        AddressGroup g = {l, ((uint64_t)1 << k) - 1, false};
        i64 n = elements(l, (i64)1 << k);
        if (n > 1 && int_is_pow2(l->dtype->bits) && bits_of(&g, swizzle).keeps)
            return n;
    }
    return 0;
}

i64
swizzle_block(const Layout *l)
{
    enum { LARGEST = 14 };
    const Ast *swizzle = l->ref->def->swizzle;
    for (int k = 1; swizzle && k <= LARGEST; k++) {
        AddressGroup g = {l, ~(((uint64_t)1 << k) - 1), true};
        if (int_is_pow2(l->dtype->bits) && bits_of(&g, swizzle).keeps)
            return elements(l, (i64)1 << k);
    }
    return 0;
}
