/* Expressions: random trees against the naive evaluator, canonical form, text in
 * and out, facts, overflow. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../compiler/ast.h"

enum { NVARS = 4, POINTS = 24 };
static const char *const var_names[NVARS] = {"a", "b", "c", "d"};

typedef struct {
    uint64_t state;
    Arena *arena;
} Rng;

static i64
pick(Rng *r, i64 n)
{
    r->state ^= r->state << 13;
    r->state ^= r->state >> 7;
    r->state ^= r->state << 17;
    return (i64)(r->state % (uint64_t)n);
}

static const Ast *
random_tree(Rng *r, int depth)
{
    static const Op ops[] = {OP_ADD, OP_ADD, OP_SUB, OP_MUL, OP_DIV, OP_DIV,
                             OP_MOD, OP_MOD, OP_XOR, OP_AND, OP_OR, OP_SHL,
                             OP_SHR, OP_NEG, OP_NOT, OP_MIN, OP_MAX};
    Loc none = {0};
    if (depth == 0 || pick(r, 6) == 0)
        return pick(r, 4) ? ast_sym(r->arena, var_names[pick(r, NVARS)], none)
                          : ast_num(r->arena, pick(r, 40), none);
    Op op = ops[pick(r, LEN(ops))];
    const Ast *x = random_tree(r, depth - 1), *y = NULL;
    if (op == OP_DIV || op == OP_MOD)
        y = ast_num(r->arena, pick(r, 3) ? 1 + pick(r, 24) : (i64)1 << pick(r, 6), none);
    else if (op == OP_SHL || op == OP_SHR)
        y = ast_num(r->arena, pick(r, 6), none);
    else if (op_info[op].nargs == 2)
        y = op == OP_MUL && pick(r, 4) ? ast_num(r->arena, pick(r, 25), none)
                                       : random_tree(r, depth - 1);
    return ast_op(r->arena, op, x, y, none);
}

typedef struct {
    Exprs *e;
    int var[NVARS];
} Env;

static const Ex *
find_var(void *env, const Ast *sym)
{
    Env *v = env;
    for (int i = 0; i < NVARS; i++)
        if (!strcmp(sym->name, var_names[i]))
            return ex_of_var(v->e, v->var[i]);
    return NULL;
}

static bool
lookup(const void *env, const char *name, i64 *v)
{
    const i64 *val = env;
    for (int i = 0; i < NVARS; i++)
        if (!strcmp(name, var_names[i])) {
            *v = val[i];
            return true;
        }
    return false;
}

static void
check_tree(Rng *r, const Ast *t, i64 lo, i64 hi)
{
    Env env = {.e = ex_new(r->arena)};
    for (int i = 0; i < NVARS; i++)
        env.var[i] = ex_var(env.e, var_names[i], lo, hi);
    const Ex *x = ast_lower(env.e, t, find_var, &env);
    const char *text = ex_text(env.e, x);
    const Ex *again = ast_lower(env.e, ast_parse(r->arena, text, (Loc){0}),
                                find_var, &env);
    if (again != x)
        fail_msg("'%s' reads back as '%s'\n  from %s", text,
                 ex_text(env.e, again), ast_text(r->arena, t));
    for (int p = 0; p < POINTS; p++) {
        i64 val[NVARS], got, want;
        for (int i = 0; i < NVARS; i++)
            val[i] = p == 0 ? lo : p == 1 ? hi : lo + pick(r, hi - lo + 1);
        if (!ast_eval(t, lookup, val, &want))
            continue;
        assert_true(ex_eval(x, val, &got));
        if (got != want)
            fail_msg("%s\n  became %s\n  at %lld %lld %lld %lld: %lld, not %lld",
                     ast_text(r->arena, t), text, (long long)val[0],
                     (long long)val[1], (long long)val[2], (long long)val[3],
                     (long long)got, (long long)want);
        Facts f = x->f;
        assert_true(f.min <= got && got <= f.max);
        assert_true(f.mod == 0 ? got == f.rem : int_mod(got - f.rem, f.mod) == 0);
        assert_true(f.min < 0 || ((uint64_t)got & ~f.ones) == 0);
    }
}

static void
random_trees(void **state)
{
    (void)state;
    const char *env = getenv("SEED"), *rounds = getenv("ROUNDS");
    uint64_t seed = env ? strtoull(env, NULL, 0) : 20260101;
    volatile long refused = 0;
    long n = rounds ? atol(rounds) : 100000;
    printf("# seed %llu, %ld expressions\n", (unsigned long long)seed, n);
    static const i64 spans[][2] = {{0, 255}, {0, 30}, {-20, 20}, {0, 7}, {0, 1000}};
    for (long i = 0; i < n; i++) {
        Diag d;
        Arena a = {.diag = &d};
        Rng r = {seed * 6364136223846793005u + (uint64_t)i * 1442695040888963407u + 1, &a};
        if (diag_catch(&d)) {
            refused++;
        } else {
            const i64 *s = spans[i % LEN(spans)];
            check_tree(&r, random_tree(&r, 1 + (int)(i % 5)), s[0], s[1]);
        }
        arena_free(&a);
    }
    printf("# refused (too large): %ld\n", refused);
    assert_true(refused < n / 50);
}

typedef struct {
    Diag d;
    Arena arena;
    Env env;
} Fixture;

static void
open_fixture(Fixture *f, const i64 *max)
{
    *f = (Fixture){.arena = {.diag = &f->d}};
    f->env.e = ex_new(&f->arena);
    for (int i = 0; i < NVARS; i++)
        f->env.var[i] = ex_var(f->env.e, var_names[i], 0, max[i]);
}

static const char *
simplified(Fixture *f, const char *text)
{
    const Ast *t = ast_parse(&f->arena, text, (Loc){0});
    return ex_text(f->env.e, ast_lower(f->env.e, t, find_var, &f->env));
}

static void
canonical(void **state)
{
    static const char *const cases[][2] = {
        {"(a*16 + b%16)//16", "a"},
        {"a//4//2", "a//8"},
        {"a//4%2", "a//4%2"},
        {"a%8//4", "a//4%2"},
        {"a%32%8", "a%8"},
        {"a//4*4 + a%4", "a"},
        {"a//16*16 + a//4%4*4 + a%4", "a"},
        {"a - a//8*8", "a%8"},
        {"a - a%8", "8*(a//8)"},
        {"(a ~ b) ~ b", "a"},
        {"(a%8 + 8*b) ~ 5", "8*b - 4*(a//4%2) + 2*(a//2%2) - (a%2) + 5"},
        {"a & 12", "4*(a//4%4)"},
        {"a & ~3", "4*(a//4)"},
        {"a%4 ~ 3", "-(a%4) + 3"},
        {"(c*4 + d) // 4", "c"},
        {"(c*4 + d) % 4", "d"},
        {"(c*4 + d) ~ 3", "4*c - d + 3"},
        {"a[2]", "a//4%2"},
        {"min(d, 9)", "d"},
        {"max(a, d)", "max(a, d)"},
        {"a | a", "a"},
        {"~~a", "a"},
    };
    Fixture f;
    (void)state;
    open_fixture(&f, (const i64[]){255, 255, 100, 3});
    if (diag_catch(&f.d))
        fail_msg("%s", f.d.text);
    for (int i = 0; i < LEN(cases); i++)
        assert_string_equal(simplified(&f, cases[i][0]), cases[i][1]);
    arena_free(&f.arena);
}

static void
refusals(void **state)
{
    static const char *const bad[] = {
        "a//0", "a%0", "a//b", "a<<b", "a<<62", "9223372036854775807 + 1 + a",
        "a*4611686018427387904", "x", "a +", "(a", "a)", "1.5", "a[99]", "sin(a)",
        "99999999999999999999", "", "a // -2",
    };
    (void)state;
    for (volatile int i = 0; i < LEN(bad); i++) {
        Fixture f;
        open_fixture(&f, (const i64[]){255, 255, 100, 3});
        if (!diag_catch(&f.d))
            fail_msg("'%s' became %s", bad[i], simplified(&f, bad[i]));
        assert_true(strlen(f.d.text) > 5);
        arena_free(&f.arena);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(canonical),
        cmocka_unit_test(refusals),
        cmocka_unit_test(random_trees),
    };
    return cmocka_run_group_tests_name("expr", tests, NULL, NULL);
}
