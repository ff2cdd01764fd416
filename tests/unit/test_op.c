/* What OpMeaning says of each operator, at all operands from -LIMIT to LIMIT, held
 * against its value; the values themselves against what C and the definition of floor say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "../../compiler/expr/expr.h"

enum { LIMIT = 9 };

typedef struct {
    Diag d;
    Arena arena;
    Op op;
    const OpMeaning *is;
    int nargs;
} Fixture;

typedef void Check(Fixture *f, i64 a, i64 b);

/* Every operator at every pair of operands that it has a value for. */
static void
everywhere(Check *check)
{
    i64 v;
    for (int op = 0; op < OP_COUNT; op++) {
        Fixture f = {.op = (Op)op, .is = op_info[op].is, .nargs = op_info[op].nargs};
        f.arena.diag = &f.d;
        if (diag_catch(&f.d))
            fail_msg("'%s': %s", op_info[op].lua, f.d.text);
        for (i64 a = -LIMIT; f.nargs && a <= LIMIT; a++)
            for (i64 b = f.nargs == 2 ? -LIMIT : 0; b <= (f.nargs == 2 ? LIMIT : 0); b++)
                if (op_value(f.is, a, b, &v))
                    check(&f, a, b);
        arena_free(&f.arena);
    }
}

static i64
value(const Fixture *f, i64 a, i64 b)
{
    i64 v;
    if (!op_value(f->is, a, b, &v))
        fail_msg("'%s' of %lld, %lld has no value", op_info[f->op].lua, (long long)a,
                 (long long)b);
    return v;
}

static const char *
at(Fixture *f, i64 a, i64 b)
{
    return arena_printf(&f->arena, "'%s' of %lld, %lld", op_info[f->op].lua, (long long)a,
                        (long long)b);
}

static void
equal(Fixture *f, i64 a, i64 b, i64 got, i64 want, const char *what)
{
    if (got != want)
        fail_msg("%s: %s: %lld, not %lld", at(f, a, b), what, (long long)got,
                 (long long)want);
}

static void
check_algebra(Fixture *f, i64 a, i64 b)
{
    i64 v = value(f, a, b), zero = f->is->sum[0] ? value(f, 0, 0) : 0;
    if (f->is->commutative)
        equal(f, a, b, value(f, b, a), v, "commutative");
    if (f->is->sum[0])
        equal(f, a, b, zero + f->is->sum[0] * a + f->is->sum[1] * b, v, "sum");
    if (f->is->product)
        equal(f, a, b, a * b, v, "product");
}

/* The right operand as a number: what times and digit say of the left one, and what they
 * say of the right one where the number is on the left. */
static void
check_numbers(Fixture *f, i64 a, i64 b)
{
    Loc none = {0};
    i64 k, lo, hi, v = value(f, a, b);
    for (int i = 0; i < f->nargs; i++) {
        const Ast *n = ast_num(&f->arena, i ? a : b, none);
        const Ast *s = ast_sym(&f->arena, "x", none);
        const Ast *x = f->nargs == 1 ? ast_op(&f->arena, f->op, s, NULL, none)
                     : ast_op(&f->arena, f->op, i ? n : s, i ? s : n, none);
        i64 of = i ? b : a;
        if (ast_times(x, i, &k))
            equal(f, a, b, k * of, v, "times");
        if (!ast_digit(x, i, &lo, &hi))
            continue;
        of = hi ? ((of % hi) + hi) % hi : of;
        equal(f, a, b, (of - ((of % lo) + lo) % lo) / lo, v, "digit");
    }
}

static void
check_period(Fixture *f, i64 a, i64 b)
{
    Loc none = {0};
    const Ast *s = ast_sym(&f->arena, "x", none);
    for (int i = 0; i < f->nargs; i++)
        for (i64 mod = 1; mod <= 16; mod++) {
            const Ast *n = ast_num(&f->arena, i ? a : b, none);
            const Ast *x = ast_op(&f->arena, f->op, i ? n : s,
                                  f->nargs == 1 ? NULL : i ? s : n, none);
            i64 p = ast_period(x, i, mod), w;
            if (!p || !op_value(f->is, a + (i ? 0 : p), b + (i ? p : 0), &w))
                continue;
            equal(f, a, b, ((w - value(f, a, b)) % mod), 0, "period");
        }
}

static void
check_unit(Fixture *f, i64 a, i64 b)
{
    i64 v = value(f, a, b);
    for (i64 k = 1; k <= 4; k++)
        switch (f->is->unit) {
        case UNIT_WHOLE:   break;
        case UNIT_SAME:    equal(f, a, b, value(f, k * a, k * b), k * v, "unit"); break;
        case UNIT_RATIO:   equal(f, a, b, value(f, k * a, k * b), v, "ratio"); break;
        case UNIT_PRODUCT: equal(f, a, b, value(f, k * a, 3 * b), 3 * k * v, "product");
        }
}

/* The range of operands between a and b + 3, of the right one alone and of both. */
static void
check_range(Fixture *f, i64 a, i64 b)
{
    Span p = {a, a + 4}, q = {b, f->nargs == 2 ? b + 3 : b}, r;
    i64 v;
    if (!op_range(f->is, p, q, &r))
        return;
    for (i64 x = p.min; x <= p.max; x++)
        for (i64 y = q.min; y <= q.max; y++)
            if (!op_value(f->is, x, y, &v) || v < r.min || v > r.max)
                fail_msg("%s: %lld is not within %lld, %lld", at(f, x, y), (long long)v,
                         (long long)r.min, (long long)r.max);
}

/* With the right operand the same for all, and with one that differs. */
static void
check_row(Fixture *f, i64 a, i64 b)
{
    for (int step = 0; step < f->nargs; step++) {
        i64 got[9], right[9], v;
        for (int i = 0; i < 9; i++) {
            got[i] = a + 3 * i;
            right[i] = b + i / 4 * step;
        }
        op_row(f->is, got, right, 9);
        for (int i = 0; i < 9; i++) {
            i64 want = op_value(f->is, a + 3 * i, right[i], &v) ? v : 0;
            equal(f, a + 3 * i, right[i], got[i], want, "row");
        }
    }
}

static const Ex *
find_var(void *env, const Ast *sym)
{
    return ((const Ex **)env)[sym->name[0] - 'x'];
}

/* The canonical form of symbols has the value. */
static void
check_lower(Fixture *f, i64 a, i64 b)
{
    Loc none = {0};
    Exprs *e = ex_new(&f->arena);
    const Ex *var[2];
    for (int i = 0; i < 2; i++)
        var[i] = ex_of_var(e, ex_var(e, i ? "y" : "x", -LIMIT, LIMIT));
    const Ast *y = f->is->right ? ast_num(&f->arena, b, none)
                                : ast_sym(&f->arena, "y", none);
    const Ast *x = ast_op(&f->arena, f->op, ast_sym(&f->arena, "x", none),
                          f->nargs == 2 ? y : NULL, none);
    i64 v;
    assert_true(ex_eval(ast_lower(e, x, find_var, var), (const i64[]){a, b}, &v));
    equal(f, a, b, v, value(f, a, b), "canonical form");
    assert_string_equal(ast_text(&f->arena, ast_parse(&f->arena, ast_text(&f->arena, x),
                                                      none)), ast_text(&f->arena, x));
}

static void algebra(void **state) { (void)state; everywhere(check_algebra); }
static void numbers(void **state) { (void)state; everywhere(check_numbers); }
static void periods(void **state) { (void)state; everywhere(check_period); }
static void units(void **state) { (void)state; everywhere(check_unit); }
static void ranges(void **state) { (void)state; everywhere(check_range); }
static void lowering(void **state) { (void)state; everywhere(check_lower); }
static void rows(void **state) { (void)state; everywhere(check_row); }

static bool
no_names(const void *env, const char *name, i64 *v)
{
    (void)env, (void)name, (void)v;
    return false;
}

/* By hand. */
static void
values(void **state)
{
    static const struct {
        const char *text;
        i64 value;
    } cases[] = {
        {"12 | 10", 14}, {"12 ~ 10", 6},   {"12 & 10", 8},  {"-1 & 10", 10}, {"3 << 4", 48},
        {"-5 >> 1", -3}, {"2 + 3", 5},     {"2 - 3", -1},   {"-2 * 3", -6},  {"-7 // 2", -4},
        {"7 // 2", 3},   {"-7 % 4", 1},    {"7 % 4", 3},    {"-(3)", -3},    {"~0", -1},
        {"min(2, -3)", -3}, {"max(2, -3)", 2},
    };
    bool seen[OP_COUNT] = {false};
    Diag d;
    Arena a = {.diag = &d};
    (void)state;
    if (diag_catch(&d))
        fail_msg("%s", d.text);
    for (int i = 0; i < LEN(cases); i++) {
        const Ast *x = ast_parse(&a, cases[i].text, (Loc){0});
        i64 v;
        assert_true(ast_eval(x, no_names, NULL, &v));
        assert_int_equal(v, cases[i].value);
        seen[x->op] = true;
    }
    for (int op = 0; op < OP_COUNT; op++)
        assert_true(seen[op] || !op_info[op].nargs);
    arena_free(&a);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values),  cmocka_unit_test(algebra), cmocka_unit_test(numbers),
        cmocka_unit_test(periods), cmocka_unit_test(units),   cmocka_unit_test(ranges),
        cmocka_unit_test(lowering), cmocka_unit_test(rows),
    };
    return cmocka_run_group_tests_name("op", tests, NULL, NULL);
}
