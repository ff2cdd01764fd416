/* Every kernel that applies to a nest is right, not only the cheapest: each row of the
 * table of kernels takes every nest it can, and the code is proven; and so is every order
 * in which one can take it, whatever the size. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../compiler/plan/plan_parts.h"
#include "../../runtime/interpret_steps.h"
#include "../../runtime/kernels.h"
#include "../../runtime/proof.h"
#include "sample.h"

/* Planes with whole tiles and tails, both ways contiguous; runs; pads; ragged boxes. */
static const char *const pairs[][2] = {
    {"(A,B,C){A, B, C}", "(A,B,C){C, A, B}"},
    {"(A,B,C){A, B, C}", "(A,B,C){B, A, C}"},
    {"(A,B,C){A, B//8, C, B%8}", "(A,B,C){A, B//16, C, B%16, fill = 1}"},
    {"(A,B,C){C, B, A}", "(A,B,C){A//4, C//3, B, A%4, C%3}"},
    {"(A,B,C){A, B//2, C, B%2}", "(A,B,C){A, C//2, B, C%2, fill = \"edge\"}"},
    {"(A,B,C){A, B, C}", "(A,B,C){B, C, A}"},
    {"(A,B,C){B, C, A}", "(A,B,C){A, B, C}"},
    {"(A,B,C){A, B, C}", "(A,B,C){B, A//4, C, A%4, fill = 1}"},
    {"(A,B,C){B, A//4, C, A%4}", "(A,B,C){B, A, C}"},
    {"(A,B,C){A, B, C}", "(A,B,C){A, B, C, pad = {C = 12}, fill = 1}"},
    {"(A,B,C){A, B, C//8, 7 - C%8}", "(A,B,C){B, A, C}"},
    {"(A,B,C){A, C//4, B, 3 - C%4}", "(A,B,C){A, C//4, B, C%4}"},
    {"(A,B,C){A, B, C//2, 1 - C%2}", "(A,B,C){A, B, C//2, C%2}"},
    {"(A,B,C){A, B, C//4, 3 - C%4}", "(A,B,C){C//8, (B%8) ~ (C%8), B//8, A, C%8}"},
    {"(A,B,C){A, B, C}", "(A,B,C){C%8, C//8, B, A}"},
    {"(A,B,C){A, B, C}", "(A,B,C){C, B//9, A, 8 - B%9}"},
    {"(A,B,C){B, C//7, A, 6 - C%7}", "(A,B,C){C, A, B}"},
    {"(A,B,C){A, B//3, 2 - B%3, C}", "(A,B,C){B//3, A, 2 - B%3, C}"},
    {"(A,B,C){A, B, C}", "(A,B,C){C//3, B, A, C%3}"},
    {"(A,B,C){A, B, C}", "(A,B,C){C//4, B, A, C%4}"},
    {"(A,B,C){B, A, C}", "(A,B,C){C//2, A, B, C%2}"},
    {"(A,B,C){A, B, C}", "(A,B,C){A, B, C//8, 1 - C[1], C[0] ~ C[2], C[2] ~ C[1]}"},
    {"(A,B,C){A, B, C}", "(A,B,C){A, B//8, C//32, C//16%2, B%8, C%16}"},
    {"(A,B,C){A, B//16, C//64, C%8, B//2%4, C//16%4, B%2, C//8%2, B//8%2}", "(A,B,C){A, B, C}"},
};
static const i64 shapes[][3] = {{3, 37, 41}, {2, 16, 32}, {1, 5, 3}, {1, 150, 701},
                                {7, 3, 67}};
static const char *const types[] = {"u1", "u2", "u4", "u8", "bf16", "f32", "i64", "c128"};

typedef struct {
    Arena arena;
    const Target *target;
    const Kernel *kernel;
    Request rq;
    Plan *plan;
    JitText source;
    int stream;           /* of its nests */
    const Steps *steps;   /* the same without code */
    int used;             /* nests that the kernel took */
    int choice, most;     /* of the orders; how many a nest has */
    bool groups;          /* a call takes several */
} Choice;

/* Every nest to the kernel that can take it; the source of that plan. */
static void
choose(void *arg)
{
    Choice *c = arg;
    c->plan = compile_plan(&c->arena, NULL, &c->rq);
    for (int i = 0; i < c->plan->n; i++)
        if (kernel_use(c->plan->nest[i], c->kernel, c->plan->dst->dtype->bits,
                       c->plan->nest[i])) {
            nest_order(c->plan, c->plan->nest[i]);
            c->used++;
        }
    plan_split(c->plan);
    for (int i = 0; i < c->plan->n; i++)
        c->plan->nest[i]->stream = c->stream;
    c->source = compile_jit(c->target, c->plan, &c->rq);
    c->steps = interpret_make(&c->arena, c->plan, kernels_here());
}

/* All nests in that order of theirs; the source. */
static void
reorder(void *arg)
{
    static Nest way[MAX_CHOICES];
    Choice *c = arg;
    c->plan = compile_plan(&c->arena, NULL, &c->rq);
    for (int i = 0; i < c->plan->n; i++) {
        int m = nest_choices(c->plan, c->plan->nest[i], way);
        c->most = m > c->most ? m : c->most;
        nest_copy(c->plan->nest[i], &way[c->choice % m]);
        c->groups |= c->plan->nest[i]->role[GROUP] >= 0;
    }
    c->source = compile_jit(c->target, c->plan, &c->rq);
    c->steps = interpret_make(&c->arena, c->plan, kernels_here());
}

static void
run_jit(const void *jit, void *dst, const void *src)
{
    void (*fn)(void) = jit_function(jit, "f");
    ((Compiled *)fn)(dst, src, NULL, 0, 1);
}

static void
part_of_jit(const void *jit, void *dst, const void *src, i64 part, i64 parts)
{
    void (*fn)(void) = jit_function(jit, "f");
    ((Compiled *)fn)(dst, src, NULL, part, parts);
}

static void
run_steps(const void *steps, void *dst, const void *src)
{
    interpret_part(steps, dst, src, NULL, 0, 1);
}

static void
part_of_steps(const void *steps, void *dst, const void *src, i64 part, i64 parts)
{
    interpret_part(steps, dst, src, NULL, part, parts);
}

static void
prove(const Choice *c, Proof *q, Code code, const char *way)
{
    ravel_error err;
    ravel_certificate k;
    code.part = c->plan->split ? code.part : NULL;
    if (proof_run(q, &code, &k, &err) != RAVEL_OK)
        fail_msg("%s -> %s %s by %s %d, %s: %s\n%s", c->rq.from, c->rq.to, c->rq.dtype,
                 c->kernel ? c->kernel->name : "order", c->choice, way, err.text,
                 c->source.text);
}

static void
check_choice(Choice *c)
{
    Jit *jit;
    Proof *q;
    ravel_error err;
    assert_int_equal(jit_compile(c->source.text, kernels_here()->symbols, &jit, &err), RAVEL_OK);
    void (*give)(void) = jit_function(jit, "f_tables");
    assert_true(!give == !c->source.tables);
    if (give)
        ((GiveTables *)give)(c->source.tables);
    assert_int_equal(proof_new(c->plan, false, &q, &err), RAVEL_OK);
    prove(c, q, (Code){run_jit, part_of_jit, jit, 0}, "machine code");
    prove(c, q, (Code){run_steps, part_of_steps, c->steps, 0}, "interpreter");
    proof_free(q);
    jit_free(jit);
}

static int
try_kernel(const Target *t, const Kernel *k, const char *const *pair, const i64 *shape,
           const char *type, int stream)
{
    Diag d;
    Choice c = {.target = t, .kernel = k, .stream = stream};
    c.rq = (Request){.from = pair[0], .to = pair[1], .dtype = type, .rank = 3,
                          .shape = shape, .name = "f"};
    if (!arena_run(&c.arena, &d, choose, &c))
        fail_msg("%s", d.text);
    if (c.used)
        check_choice(&c);
    arena_free(&c.arena);
    return c.used > 0;
}

/* Buffers want the large shape; the others take turns. */
static int
stream_of(int i)
{
    return i % LEN(shapes) == 3 ? 1 + i / LEN(shapes) % 2 : i % 3;
}

typedef struct {
    Arena arena;
    const Target *target;
} Language;

static void
load_target(void *arg)
{
    Language *l = arg;
    l->target = target_load(&l->arena, "c");
}

static void
every_kernel(void **state)
{
    (void)state;
    Language language = {.target = NULL};
    Diag d;
    int every = sample();
    assert_true(arena_run(&language.arena, &d, load_target, &language));
    for (int k = 0; k < nkernels; k++) {
        assert_true(strlen(kernel_letters(&kernels[k])) <= ARGS_MAX);
        if (kernels[k].family->indexed)    /* needs an array: tests/test_arrays.py */
            continue;
        int widths = 0, plans = 0;
        for (int t = 0; t < LEN(types); t++) {
            int before = plans;
            for (int i = k % every; i < LEN(pairs) * LEN(shapes); i += every)
                plans += try_kernel(language.target, &kernels[k], pairs[i / LEN(shapes)],
                                    shapes[i % LEN(shapes)], types[t], stream_of(i));
            widths += plans > before;
        }
        printf("# %s: %d plans of %d widths\n", kernels[k].name, plans, widths);
        assert_true(every > 1 || (plans > 5 && widths > 0));
    }
    arena_free(&language.arena);
}

/* The orders of one relayout; whether one has several groups. */
static bool
try_orders(const Target *t, const char *const *pair, const i64 *shape, const char *type)
{
    bool groups = false;
    for (int k = 0, most = 1; k < most; k++) {
        Diag d;
        Choice c = {.target = t, .choice = k};
        c.rq = (Request){.from = pair[0], .to = pair[1], .dtype = type, .rank = 3,
                          .shape = shape, .name = "f"};
        if (!arena_run(&c.arena, &d, reorder, &c))
            fail_msg("%s", d.text);
        check_choice(&c);
        most = c.most;
        groups |= c.groups;
        arena_free(&c.arena);
    }
    return groups;
}

static void
every_order(void **state)
{
    (void)state;
    Language language = {.target = NULL};
    Diag d;
    int every = sample(), groups = 0;
    assert_true(arena_run(&language.arena, &d, load_target, &language));
    for (int i = 0; i < LEN(pairs) * LEN(shapes) * LEN(types); i += every)
        groups += try_orders(language.target, pairs[i / LEN(shapes) % LEN(pairs)],
                            shapes[i % LEN(shapes)], types[i / LEN(shapes) / LEN(pairs)]);
    printf("# relayouts with orders of several groups: %d\n", groups);
    assert_true(every > 1 || groups > 0);
    arena_free(&language.arena);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kernel),
        cmocka_unit_test(every_order),
    };
    return cmocka_run_group_tests_name("choices", tests, NULL, NULL);
}
