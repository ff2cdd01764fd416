/* Tuning, whose times no test looks at; and every choice that it has. */
#include "sample.h"
#include "wisdom_context.h"

/* Of runs of 8 bytes, which several kernels move about as fast with any instruction set. */
static void
tuning(void **state)
{
    static const int64_t shape[] = {33, 70, 2};
    static const ravel_request runs = {"(A,B,C){A, B, C}", "(A,B,C){B, A, C}", "f32", 3, shape, 1,
                                       0};
    ravel_tuning r;
    ravel_error err;
    ravel_context *other;
    (void)state;
    if (ravel_tune(cx, &runs, 0, &r, &err))
        fail_msg("%s", err.text);
    int winners = 0, models = 0;
    for (int i = 0; i < r.trials; i++) {
        winners += r.trial[i].winner;
        models += r.trial[i].model;
        assert_true(r.trial[i].ns > 0 && r.trial[i].memcpy > 0 && !r.trial[i].refused);
    }
    assert_true(winners == 1 && models == 1 && r.trials > 1 && r.rounds >= 5);
    assert_true(r.bytes == 33 * 70 * 2 * 4 && r.threads == 1 && !r.refused[0]);
    char *text = text_of(cx);
    assert_non_null(strstr(text, "\t1\tf32\t(33,70,2)\t(A, B, C){A, B, C}\t(A, B, C){B, A, C}\t1:"));
    assert_int_equal(ravel_context_new(&other, NULL), RAVEL_OK);
    load(other, text);
    says(other, text);
    ravel_context_free(other);
    free(text);
    assert_int_equal(ravel_tune(cx, &runs, 0, NULL, NULL), RAVEL_OK);
}

/* The nests that run at the shape are tried, no others; the winner is what a context that
 * reads the text compiles, and right at all shapes. */
static void
tuning_at(void **state)
{
    static const int64_t at[][2] = {{1033, 1070}, {70, 3}};
    (void)state;
    for (int i = 0; i < LEN(at); i++) {
        ravel_tuning r;
        ravel_error err;
        ravel_context *other;
        ravel_plan *p;
        if (ravel_tune_at(cx, &LATER, at[i], 0, &r, &err))
            fail_msg("%s", err.text);
        char *text = text_of(cx);
        assert_non_null(strstr(text, "\t1\tf32\t(a,b)\t(A, B){A, B}\t(A, B){B, A}\t"));
        assert_int_equal(ravel_context_new(&other, NULL), RAVEL_OK);
        load(other, text);
        says(other, text);
        free(text);
        assert_int_equal(ravel_compile(other, &LATER, &p, &err), RAVEL_OK);
        assert_true(r.trials > 1 && r.threads == 1 && r.bytes == at[i][0] * at[i][1] * 4);
        Arena a;
        const Plan *whole = with_nests(p, &a);
        for (int k = 0; k < r.trials; k++) {
            const ravel_trial *t = &r.trial[k];
            const Nest *n = whole->nest[t->nest - 1];
            assert_true(t->ns > 0 && !t->refused && n->variant == (at[i][1] == 3));
            if (t->winner)
                assert_true(n->picked && !strcmp(n->kernel->name, t->kernel) &&
                            !strcmp(n->order, t->order));
        }
        arena_free(&a);
        if (ravel_verify(p, &err))
            fail_msg("%s", err.text);
        ravel_plan_free(p);
        ravel_context_free(other);
    }
}

static void
tuning_at_wrongly(void **state)
{
    static const int64_t sides[] = {33, 70}, others[] = {33, 71}, none[] = {0, 70},
                         below[] = {-1, 70}, huge[] = {1 << 24, 70LL << 24},
                         beyond[] = {INT64_MAX / 2, INT64_MAX / 2};
    static const struct {
        const int64_t *shape, *at;
        ravel_status status;
        const char *says;
    } rows[] = {
        {SMALL, sides, RAVEL_ERR_ARGUMENT, "all extents of this plan are numbers"},
        {PART, NULL, RAVEL_ERR_ARGUMENT, "NULL"},
        {PART, others, RAVEL_ERR_ARGUMENT, "extent of B is 71"},
        {PART, none, RAVEL_ERR_ARGUMENT, "extent of A is 0"},
        {ANY, below, RAVEL_ERR_ARGUMENT, "extent of A is -1"},
        {ANY, huge, RAVEL_ERR_MEMORY, "do not fit"},
        {ANY, beyond, RAVEL_ERR_LAYOUT, "64 bits"},
    };
    (void)state;
    for (int i = 0; i < LEN(rows); i++) {
        ravel_request rq = LATER;
        ravel_error err;
        rq.shape = rows[i].shape;
        ravel_status s = ravel_tune_at(cx, &rq, rows[i].at, 0, NULL, &err);
        if (s != rows[i].status || !strstr(err.text, rows[i].says))
            fail_msg("row %d: status %d: %s", i, s, err.text);
    }
    assert_int_equal(ravel_tune_at(NULL, &LATER, sides, 0, NULL, NULL), RAVEL_ERR_ARGUMENT);
    assert_int_equal(ravel_tune_at(cx, &LATER, sides, -1, NULL, NULL), RAVEL_ERR_ARGUMENT);
    says(cx, HEAD);
}

static void
tuning_wrongly(void **state)
{
    static const int64_t huge[] = {1 << 24, 1 << 24};
    ravel_request later = LITTLE, much = LITTLE, none = LITTLE;
    ravel_error err;
    (void)state;
    later.shape = PART;
    much.shape = huge;
    none.to = NULL;
    assert_int_equal(ravel_tune(cx, &later, 0, NULL, &err), RAVEL_ERR_ARGUMENT);
    assert_non_null(strstr(err.text, "run time"));
    assert_int_equal(ravel_tune(cx, &much, 0, NULL, &err), RAVEL_ERR_MEMORY);
    assert_non_null(strstr(err.text, "do not fit"));
    assert_int_equal(ravel_tune(cx, &none, 0, NULL, NULL), RAVEL_ERR_ARGUMENT);
    assert_int_equal(ravel_tune(NULL, &LITTLE, 0, NULL, NULL), RAVEL_ERR_ARGUMENT);
    assert_int_equal(ravel_tune(cx, &LITTLE, -1, NULL, NULL), RAVEL_ERR_ARGUMENT);
    assert_int_equal(ravel_tune(cx, &LITTLE, 1e9, NULL, NULL), RAVEL_ERR_ARGUMENT);
    says(cx, HEAD);
}

/* A transpose that leaves out the last row. */
static int
planted(void *dst, const void *src, const int64_t *extent, int64_t part, int64_t parts)
{
    (void)extent, (void)part, (void)parts;
    const uint32_t *s = src;
    uint32_t *d = dst;
    for (int i = 0; i < 33; i++)
        for (int k = 0; k < 69; k++)
            d[k * 33 + i] = s[i * 70 + k];
    return 0;
}

/* One of two is doctored: it is refused, is not timed, and cannot win. */
static void
refuse_a_wrong_one(const ravel_request *rq, const int64_t *shape)
{
    ravel_error err;
    Race *r = calloc(1, sizeof *r);
    ravel_plan *fixed = compiled(&LITTLE);
    Proof *q;
    *r = (Race){.n = 2, .shape = shape, .bytes = 33 * 70 * 4};
    for (int i = 0; i < 2; i++) {
        r->t[i].pick = (Pick){0, "transpose4", "tiles"};
        assert_int_equal(plan_picked(cx, rq, NULL, 0, &r->t[i].plan, &err), RAVEL_OK);
    }
    r->t[1].plan->steps = NULL;
    r->t[1].plan->code = planted;
    r->dst = calloc(1, r->bytes);
    r->src = calloc(1, r->bytes);
    assert_int_equal(proof_new(fixed->plan, false, &q, &err), RAVEL_OK);
    assert_int_equal(race_prove(r, q, &err), RAVEL_OK);
    assert_true(!r->t[0].refused && r->t[1].refused);
    assert_non_null(strstr(r->why, shape ? "nest 1 by transpose4, tiles: at shape 33,70: "
                                         : "nest 1 by transpose4, tiles: "));
    race_time(r, 0);
    assert_true(r->t[0].ns.n > 0 && r->t[1].ns.n == 0);
    r->t[1].gain = 0.5;
    assert_int_equal(race_winner(r), 0);
    proof_free(q);
    ravel_plan_free(fixed);
    ravel_plan_free(r->t[0].plan);
    ravel_plan_free(r->t[1].plan);
    free(r->dst);
    free(r->src);
    free(r);
}

static void
a_wrong_one_is_refused(void **state)
{
    (void)state;
    refuse_a_wrong_one(&LITTLE, NULL);
    refuse_a_wrong_one(&LATER, SMALL);
}

/* The first stays unless another is 3 % better; one that was not timed has no gain. */
static void
winners(void **state)
{
    static const struct {
        double gain[4];
        int best;
    } rows[] = {
        {{1, 1.2, 0.98, 0}, 0}, {{1, 0.96, 0.98, 1}, 1}, {{1, 0.96, 0.5, 0.7}, 2},
        {{1, -1, 0, 0.97}, 0}, {{1, -1, -1, 0.9699}, 3},
    };
    (void)state;
    for (int i = 0; i < LEN(rows); i++) {
        Race r = {.n = 4};
        for (int k = 0; k < 4; k++)
            r.t[k].gain = rows[i].gain[k];
        assert_int_equal(race_winner(&r), rows[i].best);
    }
}

typedef struct {
    Arena arena;
    const ravel_plan *p;
    Plan *again;
    ShapeList list;
} Listed;

static void
list_shapes(void *arg)
{
    Listed *l = arg;
    l->again = compile_again(&l->arena, l->p->plan);
    l->list = plan_boundaries(&l->arena, l->again);
}

static bool
runs_at(Listed *l, int k, const i64 *shape)
{
    i64 extent[MAX_RANK];
    const char *why = plan_extents(&l->arena, l->again, shape, extent);
    const i64 *val = why ? NULL : plan_values(&l->arena, l->again, extent);
    return val && nest_elements_at(l->again->nest[k], val) > 0;
}

static int large;                  /* proofs at shapes that are for one nest */

/* At all that tell of nest k.  Those at the end of the list are large, and for one nest each: where k
 * does not run, what runs is what runs without a choice, too. */
static ravel_status
verify_nest(const ravel_plan *p, int k, ravel_error *err)
{
    Diag d;
    Listed l = {.p = p};
    ravel_status s = verify_boxes(p->plan, NULL, err);
    if (!arena_run(&l.arena, &d, list_shapes, &l))
        fail_msg("%s", d.text);
    for (int i = 0; s == RAVEL_OK && i < l.list.n; i++) {
        ravel_plan *at = NULL;
        if (i >= l.list.sure && !runs_at(&l, k, l.list.shape[i]))
            continue;
        large += i >= l.list.sure;
        s = plan_at(p, l.again, l.list.shape[i], &at, err);
        s = s == RAVEL_OK ? ravel_verify(at, err) : s;
        ravel_plan_free(at);
    }
    arena_free(&l.arena);
    return s;
}

/* Each choice of each nest of the request's plan, proven; their number. */
static int
prove_choices(const ravel_request *rq)
{
    ravel_error err;
    ravel_plan *p, *q;
    assert_int_equal(plan_picked(cx, rq, NULL, 0, &p, &err), RAVEL_OK);
    Nest *choice = calloc(MAX_CHOICES, sizeof *choice);
    const bool fixed = plan_is_fixed(p->plan);
    int count = 0;
    for (int k = 0; k < p->plan->n; k++) {
        int m = nest_choices(p->plan, p->plan->nest[k], choice);
        for (int c = 1; c < m; c += sample(), count++) {
            Pick pick = {k, choice[c].kernel->name, choice[c].order};
            assert_int_equal(plan_picked(cx, rq, &pick, 1, &q, &err), RAVEL_OK);
            assert_true(q->plan->nest[k]->picked);
            assert_string_equal(q->plan->nest[k]->order, pick.order);
            if (fixed ? ravel_verify(q, &err) : verify_nest(q, k, &err))
                fail_msg("%s -> %s %s, nest %d by %s, %s: %s", rq->from, rq->to, rq->dtype, k,
                         pick.kernel, pick.order, err.text);
            ravel_plan_free(q);
        }
    }
    if (!fixed && ravel_verify(p, &err))
        fail_msg("%s -> %s %s: %s", rq->from, rq->to, rq->dtype, err.text);
    free(choice);
    ravel_plan_free(p);
    return count;
}

/* Whatever is picked is right: each choice of each nest, proven; those for large tensors
 * too, which small ones have for tuning. */
static void
every_choice(void **state)
{
    static const char *const pairs[][2] = {
        {"(A,B,C){A, B, C}", "(A,B,C){C, A, B}"},
        {"(A,B,C){A, B, C}", "(A,B,C){B, A, C}"},
        {"(A,B,C){A, B//8, C, B%8}", "(A,B,C){A, B//16, C, B%16, fill = 1}"},
        {"(A,B,C){C, B, A}", "(A,B,C){A//4, C//3, B, A%4, C%3}"},
        {"(A,B,C){A, B//2, C, B%2}", "(A,B,C){A, C//2, B, C%2, fill = \"edge\"}"},
        {"(A,B,C){A, B, C//4, 3 - C%4}", "(A,B,C){C//8, (B%8) ~ (C%8), B//8, A, C%8}"},
    };
    static const char *const types[] = {"u2", "u8", "f16", "f32", "i64"};
    static const int64_t shape[] = {3, 40, 72};
    int count = 0;
    (void)state;
    for (int i = 0; i < LEN(pairs) * LEN(types); i++) {
        ravel_request rq = {pairs[i / LEN(types)][0], pairs[i / LEN(types)][1],
                            types[i % LEN(types)], 3, shape, 1, 0};
        count += prove_choices(&rq);
    }
    printf("# wisdom: %d choices proven\n", count);
    assert_true(count > 100 / sample());
}

/* So it is with extents left to run time, at all that tell: of few pairs, for there are
 * many. */
static void
every_choice_at_run_time(void **state)
{
    static const char *const pairs[][2] = {
        {"(A,B,C){A, B, C}", "(A,B,C){C, B, A}"},
        {"(A,B,C){A, B, C}", "(A,B,C){A, B//4, C, B%4, fill = 1}"},
        {"(A,B,C){A, B//2, C, B%2}", "(A,B,C){A, C, B}"},
    };
    static const int64_t shapes[][3] = {{RAVEL_RUNTIME, RAVEL_RUNTIME, RAVEL_RUNTIME},
                                        {3, RAVEL_RUNTIME, 8}};
    static const char *const types[] = {"u4", "f32"};
    int count = 0;
    (void)state;
    for (int i = 0; i < LEN(pairs) * LEN(shapes) * LEN(types); i++) {
        ravel_request rq = {pairs[i / 4][0], pairs[i / 4][1], types[i % 2], 3,
                            shapes[i / 2 % 2], 1, 0};
        count += prove_choices(&rq);
    }
    printf("# wisdom: %d choices proven with extents left to run time\n", count);
    assert_true(count > 30 / sample() && large > 0);
}

#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        T(tuning), T(tuning_wrongly), T(a_wrong_one_is_refused), T(winners),
        T(tuning_at), T(tuning_at_wrongly), T(every_choice), T(every_choice_at_run_time),
    };
    return cmocka_run_group_tests_name("tuning", tests, NULL, NULL);
}
