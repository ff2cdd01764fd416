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

#include "../../compiler/expr/expr.h"
#include "random.h"

enum { NVARS = 4, POINTS = 16 };
static const char *const var_names[NVARS] = {"a", "b", "c", "d"};

typedef struct {
    uint64_t state;
    Arena *arena;
} Rng;

static i64
pick(Rng *r, i64 n)
{
    return random_below(&r->state, n);
}

/* How many times more often than others an operator is taken. */
static const int more[OP_COUNT] = {
    [OP_ADD] = 3, [OP_SUB] = 1, [OP_MUL] = 2, [OP_DIV] = 3,
    [OP_MOD] = 3, [OP_XOR] = 2, [OP_AND] = 1,
};
static long ops_seen[OP_COUNT], atoms_seen[AT_MAX + 1];

static int
weight(int op)
{
    return op_info[op].nargs ? 1 + more[op] : 0;
}

static Op
random_op(Rng *r)
{
    int all = 0, op = 0;
    for (int i = 0; i < OP_COUNT; i++)
        all += weight(i);
    for (i64 left = pick(r, all); left >= weight(op); op++)
        left -= weight(op);
    return (Op)op;
}

/* Small ones, powers of two and masks, and now and then large ones; of either sign. */
static i64
random_number(Rng *r)
{
    i64 v = pick(r, 40);
    switch (pick(r, 8)) {
    case 0: v = (i64)1 << pick(r, 16); break;
    case 1: v = ((i64)1 << pick(r, 16)) - 1; break;
    case 2: v = pick(r, (i64)1 << pick(r, 56)); break;
    }
    return pick(r, 5) ? v : -v;
}

static const Ast *random_tree(Rng *r, int depth);

/* A divisor or a shift where the operator takes only such. */
static const Ast *
random_right(Rng *r, const OpMeaning *is, int depth)
{
    Loc none = {0};
    i64 k = random_number(r);
    if (is->right && is->right->most == INF)
        return ast_num(r->arena, 1 + (k < 0 ? -1 - k : k), none);
    if (is->right)
        return ast_num(r->arena, pick(r, 8) ? pick(r, 6) : pick(r, 24), none);
    if (is->product && pick(r, 4))
        return ast_num(r->arena, k, none);
    return random_tree(r, depth);
}

static const Ast *
random_tree(Rng *r, int depth)
{
    Loc none = {0};
    if (depth == 0 || pick(r, 6) == 0)
        return pick(r, 4) ? ast_sym(r->arena, var_names[pick(r, NVARS)], none)
                          : ast_num(r->arena, random_number(r), none);
    if (pick(r, 16) == 0) {                      /* x[k] */
        const Ast *x = ast_op(r->arena, OP_DIV, random_tree(r, depth - 1),
                              ast_num(r->arena, (i64)1 << pick(r, 12), none), none);
        return ast_op(r->arena, OP_MOD, x, ast_num(r->arena, 2, none), none);
    }
    Op op = random_op(r);
    const Ast *x = random_tree(r, depth - 1);
    const Ast *y = op_info[op].nargs == 2 ? random_right(r, op_info[op].is, depth - 1)
                                          : NULL;
    return ast_op(r->arena, op, x, y, none);
}

static void
count_ops(const Ast *x)
{
    ops_seen[x->op]++;
    for (int i = 0; i < op_info[x->op].nargs; i++)
        count_ops(x->x[i]);
}

static void
count_atoms(const Ex *x)
{
    for (int i = 0; i < x->n; i++) {
        const Atom *a = x->t[i].atom;
        atoms_seen[a->op]++;
        for (int j = 0; j < a->n; j++)
            count_atoms(a->x[j]);
    }
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

/* Bounds of variables: those of dims, of signed values, and none, as symbols have. */
static const i64 spans[][2] = {
    {0, 255}, {0, 30},  {-20, 20},   {0, 7},     {0, 1000},
    {0, INF}, {3, 3},   {-INF, INF}, {-1000, 5},
};

typedef struct {
    Env env;
    i64 span[NVARS][2];
} Vars;

/* All of one span, or each of its own. */
static void
open_vars(Vars *v, Rng *r)
{
    bool mixed = pick(r, 3) == 0;
    i64 k = pick(r, LEN(spans));
    v->env.e = ex_new(r->arena);
    for (int i = 0; i < NVARS; i++) {
        memcpy(v->span[i], spans[mixed ? pick(r, LEN(spans)) : k], sizeof v->span[i]);
        v->env.var[i] = ex_var(v->env.e, var_names[i], v->span[i][0], v->span[i][1]);
    }
}

/* Its ends, what lies between, and of a symbol now and then a large one. */
static i64
random_value(Rng *r, const i64 *span, int point)
{
    i64 wide = pick(r, 8) ? 3000 : (i64)1 << 33;
    i64 lo = span[0] < -wide ? -wide : span[0], hi = span[1] > wide ? wide : span[1];
    return point == 0 ? lo : point == 1 ? hi : lo + pick(r, hi - lo + 1);
}

/* Text reads back as the same node, and so do the tree's own text, and the node
 * rebuilt from its parts. */
static void
check_canonical(Rng *r, Env *env, const Ast *t, const Ex *x)
{
    const char *text[2] = {ex_text(env->e, x), ast_text(r->arena, t)};
    const Ex *nothing[NVARS] = {NULL}, *again = ex_subst(env->e, x, nothing);
    if (again != x)
        fail_msg("'%s' rebuilt is '%s'\n  from %s", text[0],
                 ex_text(env->e, again), text[1]);
    for (int i = 0; i < 2; i++) {
        again = ast_lower(env->e, ast_parse(r->arena, text[i], (Loc){0}), find_var, env);
        if (again != x)
            fail_msg("'%s' reads back as '%s'\n  from %s", text[i],
                     ex_text(env->e, again), text[1]);
    }
}

/* The form does not depend on what was made before: after other expressions, and with the
 * right operand before the left one, the text is the same. */
static void
check_order(Rng *r, const Ast *t)
{
    Vars v;
    const char *text[2];
    Rng same = *r;
    for (int i = 0; i < 2; i++) {
        *r = same;
        open_vars(&v, r);
        for (int k = op_info[t->op].nargs; i == 1 && k-- > 0;)
            ast_lower(v.env.e, random_tree(r, 3), find_var, &v.env);
        for (int k = op_info[t->op].nargs; i == 1 && k-- > 0;)
            ast_lower(v.env.e, t->x[k], find_var, &v.env);
        text[i] = ex_text(v.env.e, ast_lower(v.env.e, t, find_var, &v.env));
    }
    if (strcmp(text[0], text[1]))
        fail_msg("'%s' is '%s' where others came first\n  from %s", text[0], text[1],
                 ast_text(r->arena, t));
}

static void
check_facts(Facts f, i64 v)
{
    assert_true(f.min <= v && v <= f.max);
    assert_true(f.mod == 0 ? v == f.rem : int_mod(v, f.mod) == f.rem);
    assert_true(f.min < 0 || ((uint64_t)v & ~f.ones) == 0);
}

/* The sides of x > 0 compare as x does with 0. */
static void
check_above(const Ex *high, const Ex *low, const i64 *val, i64 x)
{
    i64 m, l;
    assert_true(ex_eval(high, val, &m) && ex_eval(low, val, &l));
    assert_int_equal(m > l, x > 0);
}

/* Code has the values of expressions, and says which do not fit. */
static void
check_code(const ExCode *c, const Ex *const *x, const int *value, int n, const i64 *in)
{
    i64 *val = calloc((size_t)c->n, sizeof *val), want;
    bool *flaw = calloc((size_t)c->n, sizeof *flaw);
    memcpy(val, in, NVARS * sizeof *val);
    ex_code_run(c, val, flaw);
    for (int i = 0; i < n; i++) {
        assert_int_equal(!flaw[value[i]], ex_eval(x[i], in, &want));
        assert_true(flaw[value[i]] || val[value[i]] == want);
    }
    ex_code_run(c, val, NULL);
    for (int i = 0; i < n; i++)
        assert_true(flaw[value[i]] || !ex_eval(x[i], in, &want) || val[value[i]] == want);
    free(val);
    free(flaw);
}

static ExCode
code_of(Vars *v, const Ex *const *x, int *value, int n)
{
    ExCoder *c = ex_coder(v->env.e, NVARS);
    for (int i = 0; i < NVARS; i++)
        ex_coder_is(c, i, i);
    for (int i = 0; i < n; i++)
        value[i] = ex_coder_value(c, x[i]);
    for (int i = 0; i < n; i++)
        assert_int_equal(ex_coder_value(c, x[i]), value[i]);
    return ex_coder_end(c);
}

static void
check_tree(Rng *r, const Ast *t)
{
    enum { CODED = 3 };
    Vars v;
    int value[CODED];
    open_vars(&v, r);
    const Ex *x = ast_lower(v.env.e, t, find_var, &v.env), *high, *low;
    check_canonical(r, &v.env, t, x);
    ex_above(v.env.e, x, &high, &low);
    const Ex *coded[] = {low, x, high};
    const ExCode code = code_of(&v, coded, value, CODED);
    count_ops(t);
    count_atoms(x);
    for (int p = 0; p < POINTS; p++) {
        i64 val[NVARS], got, want;
        for (int i = 0; i < NVARS; i++)
            val[i] = random_value(r, v.span[i], p);
        check_code(&code, coded, value, CODED, val);
        if (!ast_eval(t, lookup, val, &want) || !ex_eval(x, val, &got))
            continue;
        if (got != want)
            fail_msg("%s\n  became %s\n  at %lld %lld %lld %lld: %lld, not %lld",
                     ast_text(r->arena, t), ex_text(v.env.e, x), (long long)val[0],
                     (long long)val[1], (long long)val[2], (long long)val[3],
                     (long long)got, (long long)want);
        check_facts(x->f, got);
        check_above(high, low, val, got);
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
    for (volatile long i = 0; i < n; i++) {
        Diag d;
        Arena a = {.diag = &d};
        Rng r = {seed * 6364136223846793005u, &a};
        r.state += (uint64_t)i * 1442695040888963407u + 1;
        if (diag_catch(&d))
            refused++;
        else
            check_tree(&r, random_tree(&r, 1 + (int)(i % 5)));
        arena_free(&a);
    }
    printf("# refused (too large): %ld\n", refused);
    assert_true(refused < n / 20);
    for (int i = 0; n >= 1000 && i < OP_COUNT; i++)
        assert_true(ops_seen[i] > 0);
    for (int i = 0; n >= 1000 && i < LEN(atoms_seen); i++)
        assert_true(atoms_seen[i] > 0);
}

static void
any_order(void **state)
{
    volatile long refused = 0;
    long n = 10000;
    (void)state;
    for (volatile long i = 0; i < n; i++) {
        Diag d;
        Arena a = {.diag = &d};
        Rng r = {(uint64_t)i * 1442695040888963407u + 20260101, &a};
        if (diag_catch(&d))
            refused++;
        else
            check_order(&r, random_tree(&r, 1 + (int)(i % 5)));
        arena_free(&a);
    }
    assert_true(refused < n / 20);
}

typedef struct {
    Diag d;
    Arena arena;
    Env env;
} Fixture;

static void
open_fixture(Fixture *f, i64 min, const i64 *max)
{
    *f = (Fixture){.arena = {.diag = &f->d}};
    f->env.e = ex_new(&f->arena);
    for (int i = 0; i < NVARS; i++)
        f->env.var[i] = ex_var(f->env.e, var_names[i], min, max[i]);
}

static const char *
simplified(Fixture *f, const char *text)
{
    const Ast *t = ast_parse(&f->arena, text, (Loc){0});
    return ex_text(f->env.e, ast_lower(f->env.e, t, find_var, &f->env));
}

/* Each text of a case has the other as its canonical form. */
static void
check_simplified(const char *const cases[][2], int n, i64 min, const i64 *max)
{
    Fixture f;
    open_fixture(&f, min, max);
    if (diag_catch(&f.d))
        fail_msg("%s", f.d.text);
    for (int i = 0; i < n; i++)
        assert_string_equal(simplified(&f, cases[i][0]), cases[i][1]);
    arena_free(&f.arena);
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
    (void)state;
    check_simplified(cases, LEN(cases), 0, (const i64[]){255, 255, 100, 3});
}

/* Xors where a sign takes part are as canonical as others: what cancels leaves no
 * form that building it anew would not give. */
static void
canonical_signed(void **state)
{
    static const char *const cases[][2] = {
        {"a ~ -1", "-a - 1"},
        {"a ~ ~31 ~ -31", "2*(a//2) - (a%2) + 1"},
        {"c%8 ~ ~max(b%8, 4)", "4*(c//4%2) + ((c%4) ~ (-max(b%8, 4) + 7)) - 8"},
    };
    (void)state;
    check_simplified(cases, LEN(cases), -INF, (const i64[]){INF, INF, INF, INF});
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
        open_fixture(&f, 0, (const i64[]){255, 255, 100, 3});
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
        cmocka_unit_test(canonical_signed),
        cmocka_unit_test(refusals),
        cmocka_unit_test(random_trees),
        cmocka_unit_test(any_order),
    };
    return cmocka_run_group_tests_name("expr", tests, NULL, NULL);
}
