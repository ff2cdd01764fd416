/* Expressions as code: numbers that need no Exprs and take a small part of its memory.  Each
 * instruction makes one value of those before it:
 *
 *   SUM       n, base, n times: value, factor
 *   DIGIT     value, lo, hi
 *   operator  value, value
 *
 * A number has 16 bits; one that does not fit is WIDE and has 64 bits after it. */
#include <string.h>

#include "expr.h"

enum { SUM = OP_COUNT, DIGIT, WIDE = INT16_MIN };

typedef struct {
    const void *of;       /* an expression or an atom; NULL: none */
    int value;
} KnownValue;

struct ExCoder {
    Exprs *e;
    Buf code;
    int inputs, n;
    KnownValue *known;    /* a hash table */
    int nknown, room;     /* room: a power of two */
};

ExCoder *
ex_coder(Exprs *e, int inputs)
{
    enum { ROOM = 64 };
    Arena *a = ex_arena(e);
    ExCoder *c = arena_new(a, ExCoder);
    *c = (ExCoder){.e = e, .code = buf_new(a), .inputs = inputs, .n = inputs,
                   .known = arena_array(a, KnownValue, ROOM), .room = ROOM};
    return c;
}

/* The entry of p, or the free one where it goes. */
static KnownValue *
find(const ExCoder *c, const void *p)
{
    uint64_t h = (uint64_t)(uintptr_t)p * 0x9E3779B97F4A7C15u >> 32;
    while (c->known[h & (uint64_t)(c->room - 1)].of &&
           c->known[h & (uint64_t)(c->room - 1)].of != p)
        h++;
    return &c->known[h & (uint64_t)(c->room - 1)];
}

static int
set(ExCoder *c, const void *p, int value)
{
    if (2 * ++c->nknown > c->room) {
        KnownValue *old = c->known;
        c->room *= 2;
        c->known = arena_array(ex_arena(c->e), KnownValue, c->room);
        for (int i = 0; i < c->room / 2; i++)
            if (old[i].of)
                *find(c, old[i].of) = old[i];
    }
    *find(c, p) = (KnownValue){p, value};
    return value;
}

static void
put(ExCoder *c, i64 v)
{
    const int16_t wide = WIDE, few = (int16_t)v;
    if (few == v && few != WIDE) {
        buf_addn(&c->code, (const char *)&few, sizeof few);
        return;
    }
    buf_addn(&c->code, (const char *)&wide, sizeof wide);
    buf_addn(&c->code, (const char *)&v, sizeof v);
}

static int
operation(ExCoder *c, int op, int x, i64 y)
{
    put(c, op);
    put(c, x);
    put(c, y);
    return c->n++;
}

static int
of_atom(ExCoder *c, const Atom *a)
{
    const KnownValue *k = find(c, a);
    if (k->of)
        return k->value;
    int v = ex_coder_value(c, a->x[0]);
    if (a->op == AT_DIG) {
        v = operation(c, DIGIT, v, a->lo);
        put(c, a->hi);
    }
    for (int i = 1; i < a->n; i++)
        v = operation(c, ex_operator(a), v, ex_coder_value(c, a->x[i]));
    return set(c, a, v);
}

int
ex_coder_value(ExCoder *c, const Ex *x)
{
    const KnownValue *k = find(c, x);
    if (k->of)
        return k->value;
    if (x->n == 1 && x->base == 0 && x->t[0].coef == 1)
        return set(c, x, of_atom(c, x->t[0].atom));
    int *value = arena_array(ex_arena(c->e), int, x->n);
    for (int i = 0; i < x->n; i++)
        value[i] = of_atom(c, x->t[i].atom);
    put(c, SUM);
    put(c, x->n);
    put(c, x->base);
    for (int i = 0; i < x->n; i++) {
        put(c, value[i]);
        put(c, x->t[i].coef);
    }
    return set(c, x, c->n++);
}

int
ex_coder_times(ExCoder *c, int x, int y)
{
    return operation(c, OP_MUL, x, y);
}

void
ex_coder_is(ExCoder *c, int var, int value)
{
    const Ex *x = ex_of_var(c->e, var);
    if (!ex_is_const(x))           /* it may be: a variable with one value */
        set(c, x, set(c, x->t[0].atom, value));
}

ExCode
ex_coder_end(const ExCoder *c)
{
    return (ExCode){(const int16_t *)(const void *)c->code.s, c->code.len / sizeof(int16_t), c->inputs,
                    c->n};
}

/* The state of a run. */
typedef struct {
    const int16_t *at;
    const i64 *val;
    const bool *flaw;     /* NULL: no value has one */
    bool fits;            /* so far, in the instruction */
} CodeRun;

static const int16_t *
wide(const int16_t *at, i64 *v)
{
    memcpy(v, at, sizeof *v);
    return at + sizeof *v / sizeof *at;
}

/* Most of a run's time is here and in the next two. */
__attribute__((always_inline))
static inline i64
next(CodeRun *r)
{
    i64 v = *r->at++;
    if (v == WIDE)
        r->at = wide(r->at, &v);
    return v;
}

__attribute__((always_inline))
static inline i64
value(CodeRun *r, i64 i)
{
    if (r->flaw)
        r->fits &= !r->flaw[i];
    return r->val[i];
}

__attribute__((always_inline))
static inline i64
sum(CodeRun *r, i64 n, i64 all)
{
    i64 v;
    for (; n > 0; n--) {
        v = value(r, next(r));
        if (!int_mul(v, next(r), &v) || !int_add(all, v, &all))
            r->fits = false;
    }
    return all;
}

static i64
digit(i64 x, i64 lo, i64 hi)
{
    return int_div(hi ? int_mod(x, hi) : x, lo);
}

void
ex_code_run(const ExCode *c, i64 *val, bool *flaw)
{
    CodeRun r = {.at = c->code, .val = val};
    for (int i = c->inputs; i < c->n; i++) {
        const i64 op = next(&r), x = next(&r), y = next(&r);
        r.fits = true;
        if (op == SUM)
            val[i] = sum(&r, x, y);
        else if (op == DIGIT)
            val[i] = digit(value(&r, x), y, next(&r));
        else
            r.fits = op_info[op].is->value(value(&r, x), value(&r, y), &val[i]) && r.fits;
        if (flaw && !r.fits) {
            flaw[i] = true;
            r.flaw = flaw;
        }
    }
}
