/* Prints expressions: the largest coefficient first, digits as x//lo%n. */
#include <stdlib.h>
#include <string.h>

#include "expr.h"

const Spelling spell_lua = {
    .op = {
#define OP(name, nargs, level, lua, meta, is) lua,
#include "op.def"
#undef OP
    },
    .floor = true};

typedef struct {
    Buf *b;
    const Exprs *e;
    const Spelling *sp;
} Printer;

static void print_sum(Printer *p, const Ex *x);

static void
print_number(Printer *p, const char *before, i64 v, const char *after)
{
    buf_printf(p->b, "%s%lld%s%s", before, (long long)v,
               p->sp->suffix ? p->sp->suffix : "", after);
}

/* True if the atom needs parentheses as an operand. */
static bool
is_open(const Atom *a)
{
    static const bool open[AT_COUNT] = {
#define ATOM(name, op, facts, print, open) open,
#include "expr.def"
#undef ATOM
    };
    return open[a->op];
}

/* True if x needs no parentheses as an operand. */
static bool
is_plain(const Ex *x)
{
    if (x->n == 0)
        return x->base >= 0;
    return x->n == 1 && x->base == 0 && x->t[0].coef == 1 &&
           !is_open(x->t[0].atom);
}

static void
print_operand(Printer *p, const Ex *x)
{
    bool plain = is_plain(x);
    buf_add(p->b, plain ? "" : "(");
    print_sum(p, x);
    buf_add(p->b, plain ? "" : ")");
}

/* Prints the numerator of a digit.  If division truncates in the target's language and the
 * numerator may be negative, adds a multiple of the divisor (rules 5, 71, 72); returns what
 * it added, in units of lo.  A numerator without a lower bound cannot be printed for such
 * a language. */
static i64
print_numerator(Printer *p, const Atom *a)
{
    const Ex *x = a->x[0];
    i64 unit = a->hi ? a->hi : a->lo, lift = 0;
    if (p->sp->floor || x->f.min >= 0) {
        print_operand(p, x);
        return 0;
    }
    if (x->f.min == -INF || !int_round_up(-x->f.min, unit, &lift) ||
        x->f.max > INF - lift)
        diag_fatal(p->b->arena->diag, DIAG_LAYOUT, (Loc){0},
                   "an index expression does not fit 64 bits");
    buf_add(p->b, "(");
    print_sum(p, x);
    print_number(p, " + ", lift, ")");
    return a->hi ? 0 : lift / a->lo;
}

static void
print_var(Printer *p, const Atom *a)
{
    buf_add(p->b, ex_var_name(p->e, a->var));
}

static void
print_dig(Printer *p, const Atom *a)
{
    i64 lift = print_numerator(p, a);
    if (a->lo > 1)
        print_number(p, p->sp->op[OP_DIV], a->lo, "");
    if (a->hi)
        print_number(p, p->sp->op[OP_MOD], a->hi / a->lo, "");
    if (lift)
        print_number(p, " - ", lift, "");
}

static const char *
spelled(Printer *p, const Atom *a)
{
    return p->sp->op[ex_operator(a)];
}

static void
print_infix(Printer *p, const Atom *a)
{
    buf_add(p->b, "(");
    for (int i = 0; i < a->n; i++) {
        if (i)
            buf_printf(p->b, " %s ", spelled(p, a));
        print_operand(p, a->x[i]);
    }
    buf_add(p->b, ")");
}

static void
print_mul(Printer *p, const Atom *a)
{
    print_operand(p, a->x[0]);
    buf_add(p->b, spelled(p, a));
    print_operand(p, a->x[1]);
}

static void
print_call(Printer *p, const Atom *a)
{
    buf_printf(p->b, "%s(", spelled(p, a));
    print_sum(p, a->x[0]);
    buf_add(p->b, ", ");
    print_sum(p, a->x[1]);
    buf_add(p->b, ")");
}

static void
print_atom(Printer *p, const Atom *a)
{
    static void (*const printer[AT_COUNT])(Printer *, const Atom *) = {
#define ATOM(name, op, facts, print, open) print,
#include "expr.def"
#undef ATOM
    };
    printer[a->op](p, a);
}

static void
print_term(Printer *p, const Term *t, bool first)
{
    i64 k = t->coef;
    buf_add(p->b, k < 0 ? (first ? "-" : " - ") : (first ? "" : " + "));
    k = int_abs(k);
    bool wrap = (k > 1 || t->coef < 0) && is_open(t->atom);
    if (k > 1)
        print_number(p, "", k, "*");
    buf_add(p->b, wrap ? "(" : "");
    print_atom(p, t->atom);
    buf_add(p->b, wrap ? ")" : "");
}

static int
by_stride(const void *p, const void *q)
{
    const Term *a = p, *b = q;
    i64 x = int_abs(a->coef), y = int_abs(b->coef);
    if (x != y)
        return x < y ? 1 : -1;
    return ex_order_atoms(a->atom, b->atom);
}

/* Numbers with a suffix are unsigned, and some languages have no minus before these: then a
 * number that is not negative comes first. */
static void
print_sum(Printer *p, const Ex *x)
{
    Term *t = arena_copy(p->b->arena, x->t, (size_t)x->n * sizeof *t);
    if (x->n > 1)
        qsort(t, (size_t)x->n, sizeof *t, by_stride);
    bool number = x->n && t[0].coef < 0 && p->sp->suffix && *p->sp->suffix;
    bool base = number && x->base > 0;
    if (number)
        print_number(p, "", base ? x->base : 0, "");
    for (int i = 0; i < x->n; i++)
        print_term(p, &t[i], i == 0 && !number);
    if (x->n == 0)
        print_number(p, "", x->base, "");
    else if (x->base && !base)
        print_number(p, x->base < 0 ? " - " : " + ", int_abs(x->base), "");
}

void
ex_print(Buf *b, const Ex *x, const Exprs *e, const Spelling *sp)
{
    Printer p = {b, e, sp};
    print_sum(&p, x);
}

const char *
ex_spelled(Arena *a, const Ex *x, const Exprs *e, const Spelling *sp)
{
    Buf b = buf_new(a);
    ex_print(&b, x, e, sp);
    return b.s;
}

const char *
ex_above_spelled(Arena *a, const Ex *x, Exprs *e, const Spelling *sp)
{
    const Ex *more, *less;
    ex_above(e, x, &more, &less);
    const char *m = ex_spelled(a, more, e, sp), *l = ex_spelled(a, less, e, sp);
    return ex_is_const(more) ? arena_printf(a, "%s < %s", l, m) : arena_printf(a, "%s > %s", m, l);
}

const char *
ex_text(Exprs *e, const Ex *x)
{
    return ex_spelled(ex_arena(e), x, e, &spell_lua);
}
