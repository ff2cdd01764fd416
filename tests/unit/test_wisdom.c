/* Wisdom: its text, what it changes and what it cannot; and tuning, whose times no test
 * looks at. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../runtime/tune.h"

#define HEAD "ravel wisdom 1\n"
#define KEY "Some CPU\tavx2\t2\tf32\t(2,64)\t(A, B){A, B}\t(A, B){B, A}"

static ravel_context *cx;

static int
set_up(void **state)
{
    (void)state;
    return ravel_context_new(&cx, NULL);
}

static int
tear_down(void **state)
{
    (void)state;
    ravel_context_free(cx);
    return 0;
}

static void
load(ravel_context *to, const char *text)
{
    ravel_error err;
    if (ravel_wisdom_load(to, text, strlen(text), &err))
        fail_msg("%s", err.text);
}

/* Malloc'ed. */
static char *
text_of(ravel_context *from)
{
    char *text;
    size_t len;
    assert_int_equal(ravel_wisdom_text(from, &text, &len, NULL), RAVEL_OK);
    assert_int_equal(strlen(text), len);
    return text;
}

static void
says(ravel_context *c, const char *want)
{
    char *text = text_of(c);
    assert_string_equal(text, want);
    free(text);
}

/* What is read is written again, by key; the newest about the same stands. */
static void
round_trip(void **state)
{
    (void)state;
    says(cx, HEAD);
    load(cx, HEAD);
    says(cx, HEAD);
    load(cx, HEAD "B" KEY "\t1:copy:in order of reads, past the caches;7:nobody9:knows it\n"
                  "A\tx\t1\tu4\t()\tab\tc\t2:copy:tiles\n");
    says(cx, HEAD "A\tx\t1\tu4\t()\tab\tc\t2:copy:tiles\n"
             "B" KEY "\t1:copy:in order of reads, past the caches;7:nobody9:knows it\n");
    load(cx, HEAD "A\tx\t1\tu4\t()\tab\tc\t3:strided:buffer\n");
    load(cx, HEAD "A\tx\t1\tu4\t(a,7,b,a,c)\tab\tc\t3:strided:buffer\n");
    load(cx, HEAD KEY "\t1:copy:tiles\n");
    says(cx, HEAD "A\tx\t1\tu4\t()\tab\tc\t3:strided:buffer\n"
             "A\tx\t1\tu4\t(a,7,b,a,c)\tab\tc\t3:strided:buffer\n"
             "B" KEY "\t1:copy:in order of reads, past the caches;7:nobody9:knows it\n"
             KEY "\t1:copy:tiles\n");
}

static const struct {
    const char *text, *says;
} wrong[] = {
    {"", "no wisdom"},
    {"ravel wisdom", "no wisdom"},
    {"ravel wisdom 2\n", "another version"},
    {"ravel wisdom 1", "another version"},
    {"ravel wisdom 1\r\n", "another version"},
    {HEAD "\n", "line 2: the processor"},
    {HEAD KEY "\t1:copy:tiles", "line 2 is cut off"},
    {HEAD KEY "\t1:copy:tiles\n" KEY "\t1:copy:tiles", "line 3 is cut off"},
    {HEAD KEY "\n", "line 2 ends after the destination"},
    {HEAD "cpu\tavx2\t2\n", "line 2 ends after the threads"},
    {HEAD " cpu\tavx2\t2\tf32\t(2)\ta\tb\t1:copy:tiles\n", "the processor, field 1"},
    {HEAD "c\x01u\tavx2\t2\tf32\t(2)\ta\tb\t1:copy:tiles\n", "the processor"},
    {HEAD "c\xffu\tavx2\t2\tf32\t(2)\ta\tb\t1:copy:tiles\n", "the processor"},
    {HEAD "cpu\tAVX\t2\tf32\t(2)\ta\tb\t1:copy:tiles\n", "the instruction set"},
    {HEAD "cpu\t\t2\tf32\t(2)\ta\tb\t1:copy:tiles\n", "the instruction set"},
    {HEAD "cpu\tavx2\t0\tf32\t(2)\ta\tb\t1:copy:tiles\n", "the threads"},
    {HEAD "cpu\tavx2\t02\tf32\t(2)\ta\tb\t1:copy:tiles\n", "the threads"},
    {HEAD "cpu\tavx2\t2147483648\tf32\t(2)\ta\tb\t1:copy:tiles\n", "the threads"},
    {HEAD "cpu\tavx2\t99999999999999999999\tf32\t(2)\ta\tb\t1:copy:tiles\n", "threads"},
    {HEAD "cpu\tavx2\t2\tf 32\t(2)\ta\tb\t1:copy:tiles\n", "the element type"},
    {HEAD "cpu\tavx2\t2\tf32\t2\ta\tb\t1:copy:tiles\n", "the shape"},
    {HEAD "cpu\tavx2\t2\tf32\t(2,)\ta\tb\t1:copy:tiles\n", "the shape"},
    {HEAD "cpu\tavx2\t2\tf32\t(2, 3)\ta\tb\t1:copy:tiles\n", "the shape"},
    {HEAD "cpu\tavx2\t2\tf32\t(-1)\ta\tb\t1:copy:tiles\n", "the shape"},
    {HEAD "cpu\tavx2\t2\tf32\t(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)\ta\tb\t1:copy:tiles\n",
     "the shape"},
    {HEAD "cpu\tavx2\t2\tf32\t(9223372036854775808)\ta\tb\t1:copy:tiles\n", "the shape"},
    {HEAD "cpu\tavx2\t2\tf32\t(N)\ta\tb\t1:copy:tiles\n", "the shape"},
    {HEAD "cpu\tavx2\t2\tf32\t(b)\ta\tb\t1:copy:tiles\n", "the shape"},
    {HEAD "cpu\tavx2\t2\tf32\t(a,c)\ta\tb\t1:copy:tiles\n", "the shape"},
    {HEAD "cpu\tavx2\t2\tf32\t(a,bb)\ta\tb\t1:copy:tiles\n", "the shape"},
    {HEAD "cpu\tavx2\t2\tf32\t(a1)\ta\tb\t1:copy:tiles\n", "the shape"},
    {HEAD "cpu\tavx2\t2\tf32\t(2)\t\tb\t1:copy:tiles\n", "the source"},
    {HEAD "cpu\tavx2\t2\tf32\t(2)\ta\tb \t1:copy:tiles\n", "the destination"},
    {HEAD KEY "\t\n", "pick 1"},
    {HEAD KEY "\t1:copy\n", "pick 1"},
    {HEAD KEY "\t1:copy:tiles:x\n", "pick 1"},
    {HEAD KEY "\t0:copy:tiles\n", "pick 1"},
    {HEAD KEY "\tx:copy:tiles\n", "pick 1"},
    {HEAD KEY "\t1:Copy:tiles\n", "pick 1"},
    {HEAD KEY "\t1:copy: tiles\n", "pick 1"},
    {HEAD KEY "\t1:copy:\n", "pick 1"},
    {HEAD KEY "\t1:copy:tiles;\n", "pick 2"},
    {HEAD KEY "\t1:copy:tiles\t\n", "pick 1"},
    {HEAD KEY "\t2:copy:tiles;1:copy:tiles\n", "rising"},
    {HEAD KEY "\t2:copy:tiles;2:copy:tiles\n", "rising"},
    {HEAD KEY "\t1:a:a;2:a:a;3:a:a;4:a:a;5:a:a;6:a:a;7:a:a;8:a:a;9:a:a;10:a:a;11:a:a;"
     "12:a:a;13:a:a;14:a:a;15:a:a;16:a:a;17:a:a\n", "more than 16"},
    {HEAD KEY "\t1:copy:tiles\n" "x" KEY "\t1:copy:tiles\n" KEY "\t2:copy:tiles\n",
     "line 4 is about the same as line 2"},
};

/* Refused with a sentence, and nothing of it is remembered. */
static void
bad_lines(void **state)
{
    (void)state;
    load(cx, HEAD "A\tx\t1\tu4\t()\tab\tc\t2:copy:tiles\n");
    for (int i = 0; i < LEN(wrong); i++) {
        ravel_error err = {.text = ""};
        ravel_status s = ravel_wisdom_load(cx, wrong[i].text, strlen(wrong[i].text), &err);
        if (s != RAVEL_ERR_ARGUMENT || !strstr(err.text, wrong[i].says))
            fail_msg("%d, '%s': %s", i, wrong[i].text, err.text);
    }
    says(cx, HEAD "A\tx\t1\tu4\t()\tab\tc\t2:copy:tiles\n");
    assert_int_equal(ravel_wisdom_load(cx, HEAD "\0", sizeof HEAD, NULL),
                     RAVEL_ERR_ARGUMENT);
    assert_int_equal(ravel_wisdom_load(cx, NULL, 0, NULL), RAVEL_ERR_ARGUMENT);
    assert_int_equal(ravel_wisdom_load(NULL, HEAD, 15, NULL), RAVEL_ERR_ARGUMENT);
    assert_int_equal(ravel_wisdom_text(cx, NULL, NULL, NULL), RAVEL_ERR_ARGUMENT);
}

static const int64_t SIDES[] = {2048, 1500}, SMALL[] = {33, 70};
static const ravel_request LARGE = {"(A,B){A, B}", "(A,B){B, A}", "f32", 2, SIDES, 1, 0};
static const ravel_request LITTLE = {"(A,B){A, B}", "(A,B){B, A}", "f32", 2, SMALL, 1, 0};
static const int64_t ANY[] = {RAVEL_RUNTIME, RAVEL_RUNTIME}, PART[] = {RAVEL_RUNTIME, 70};
static const ravel_request LATER = {"(A,B){A, B}", "(A,B){B, A}", "f32", 2, ANY, 1, 0};

static ravel_plan *
compiled(const ravel_request *rq)
{
    ravel_plan *p;
    ravel_error err;
    if (ravel_compile(cx, rq, &p, &err))
        fail_msg("%s", err.text);
    return p;
}

/* A context hears of the first nest of a request's plan. */
static void
tell(ravel_context *to, const ravel_plan *p, const char *picks)
{
    Arena a = {0};
    Diag d = {.text = ""};
    char text[1000];
    a.diag = &d;
    snprintf(text, sizeof text, HEAD "%s\t%s\n",
             wisdom_key(&a, cx, p->plan, p->threads.most), picks);
    load(to, text);
    arena_free(&a);
}

static bool
is_done(const ravel_plan *p, const char *kernel, const char *order)
{
    const Nest *n = p->plan->nest[0];
    return !strcmp(n->kernel->name, kernel) && !strcmp(n->order, order);
}

/* The next plan is as was told, the ones before stay, and the cache gives out none of
 * them; what says the same again changes nothing. */
static void
wisdom_is_used(void **state)
{
    (void)state;
    ravel_plan *p = compiled(&LARGE), *q, *r;
    bool tiles = is_done(p, "transpose4", "tiles");
    const char *other = tiles ? "buffer" : "tiles";
    char pick[100];
    snprintf(pick, sizeof pick, "1:transpose4:%s", other);
    tell(cx, p, pick);
    q = compiled(&LARGE);
    assert_ptr_not_equal(p, q);
    assert_true(is_done(q, "transpose4", other));
    assert_false(is_done(p, "transpose4", other));
    if (p->source && q->source)
        assert_string_not_equal(p->source, q->source);
    assert_int_equal(ravel_verify(q, NULL), RAVEL_OK);
    tell(cx, p, pick);
    load(cx, HEAD KEY "\t1:copy:tiles\n");
    r = compiled(&LARGE);
    assert_ptr_equal(q, r);
    ravel_plan_free(r);
    tell(cx, p, "1:strided:in order of writes");
    r = compiled(&LARGE);
    assert_true(is_done(r, "strided", "in order of writes"));
    ravel_plan_free(r);
    ravel_plan_free(q);
    ravel_plan_free(p);
}

/* Well-formed, and of no use: the plan is the model's. */
static void
what_does_not_apply(void **state)
{
    static const char *const picks[] = {
        "1:transpose9:tiles", "1:transpose4:upside down", "1:transpose2:tiles",
        "2:transpose4:tiles", "1:fill:in order of writes", "1:copy:in order of reads",
        "999999:copy:tiles"};
    (void)state;
    for (int i = 0; i < LEN(picks); i++) {
        ravel_plan *p = compiled(&LARGE), *q;
        tell(cx, p, picks[i]);
        q = compiled(&LARGE);
        assert_string_equal(p->plan->nest[0]->order, q->plan->nest[0]->order);
        assert_ptr_equal(p->plan->nest[0]->kernel, q->plan->nest[0]->kernel);
        ravel_plan_free(p);
        ravel_plan_free(q);
    }
}

/* Another shape, dtype, number of threads or name is another key; another name of the
 * same layout is not. */
static void
keys(void **state)
{
    static const char mine[] = "layout 'MINE' { dims = {A, B}, order = {B, A} }";
    static const int64_t sides[] = {2048, 1501};
    ravel_request named = LARGE, other[3] = {LARGE, LARGE, LARGE};
    (void)state;
    named.to = "MINE";
    other[0].shape = sides;
    other[1].dtype = "i32";
    other[2].to = "(A,B){B, A, fill = 1}";
    assert_int_equal(ravel_load(cx, mine, sizeof mine - 1, "m.lua", NULL), RAVEL_OK);
    ravel_plan *p = compiled(&LARGE), *q;
    tell(cx, p, "1:strided:in order of writes");
    q = compiled(&named);
    assert_true(is_done(q, "strided", "in order of writes"));
    ravel_plan_free(q);
    for (int i = 0; i < LEN(other); i++) {
        q = compiled(&other[i]);
        assert_false(is_done(q, "strided", "in order of writes"));
        ravel_plan_free(q);
    }
    ravel_plan_free(p);
}

static void
tuning(void **state)
{
    ravel_tuning r;
    ravel_error err;
    ravel_context *other;
    (void)state;
    if (ravel_tune(cx, &LITTLE, 0, &r, &err))
        fail_msg("%s", err.text);
    int winners = 0, models = 0;
    for (int i = 0; i < r.trials; i++) {
        winners += r.trial[i].winner;
        models += r.trial[i].model;
        assert_true(r.trial[i].ns > 0 && r.trial[i].memcpy > 0 && !r.trial[i].refused);
    }
    assert_true(winners == 1 && models == 1 && r.trials > 1 && r.rounds >= 5);
    assert_true(r.bytes == 33 * 70 * 4 && r.threads == 1 && !r.refused[0]);
    char *text = text_of(cx);
    assert_non_null(strstr(text, "\t1\tf32\t(33,70)\t(A, B){A, B}\t(A, B){B, A}\t1:"));
    assert_int_equal(ravel_context_new(&other, NULL), RAVEL_OK);
    load(other, text);
    says(other, text);
    ravel_context_free(other);
    free(text);
    assert_int_equal(ravel_tune(cx, &LITTLE, 0, NULL, NULL), RAVEL_OK);
}

/* A plan with extents left to run time is another than those of numbers; the cache gives
 * out none of before. */
static void
wisdom_for_run_time(void **state)
{
    ravel_request part = LATER;
    (void)state;
    part.shape = PART;
    ravel_plan *p = compiled(&LATER), *q;
    bool strided = is_done(p, "strided", "in order of writes");
    const char *pick = strided ? "1:transpose4:tiles" : "1:strided:in order of writes";
    const char *kernel = strided ? "transpose4" : "strided";
    tell(cx, p, pick);
    q = compiled(&LATER);
    assert_ptr_not_equal(p, q);
    assert_string_equal(q->plan->nest[0]->kernel->name, kernel);
    assert_int_equal(ravel_verify(q, NULL), RAVEL_OK);
    ravel_plan_free(p);
    p = compiled(&LATER);
    assert_ptr_equal(p, q);
    ravel_plan_free(q);
    ravel_plan_free(p);
    q = compiled(&part);
    assert_false(q->plan->nest[0]->picked);
    ravel_plan_free(q);
    q = compiled(&LARGE);
    assert_false(q->plan->nest[0]->picked);
    ravel_plan_free(q);
}

/* The nests that run at the shape are tried, no others; the winner is what a context that
 * reads the text compiles, and right at all shapes. */
static void
tuning_at(void **state)
{
    static const int64_t at[][2] = {{33, 70}, {70, 3}};
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
        for (int k = 0; k < r.trials; k++) {
            const ravel_trial *t = &r.trial[k];
            const Nest *n = p->plan->nest[t->nest - 1];
            assert_true(t->ns > 0 && !t->refused && n->variant == (at[i][1] == 3));
            if (t->winner)
                assert_true(n->picked && !strcmp(n->kernel->name, t->kernel) &&
                            !strcmp(n->order, t->order));
        }
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
        ravel_error err;
        ravel_plan *p = compiled(&rq), *q;
        Nest *choice = calloc(MAX_CHOICES, sizeof *choice);
        for (int k = 0; k < p->plan->n; k++) {
            int m = nest_choices(p->plan, p->plan->nest[k], choice);
            for (int c = 1; c < m; c++, count++) {
                Pick pick = {k, choice[c].kernel->name, choice[c].order};
                assert_int_equal(plan_picked(cx, &rq, &pick, 1, &q, &err), RAVEL_OK);
                assert_true(q->plan->nest[k]->picked);
                assert_string_equal(q->plan->nest[k]->order, pick.order);
                if (ravel_verify(q, &err))
                    fail_msg("%s -> %s %s, nest %d by %s, %s: %s", rq.from, rq.to, rq.dtype,
                             k, pick.kernel, pick.order, err.text);
                ravel_plan_free(q);
            }
        }
        free(choice);
        ravel_plan_free(p);
    }
    printf("# wisdom: %d choices proven\n", count);
    assert_true(count > 100);
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
        ravel_error err;
        ravel_plan *p = compiled(&rq), *q;
        Nest *choice = calloc(MAX_CHOICES, sizeof *choice);
        for (int k = 0; k < p->plan->n; k++) {
            int m = nest_choices(p->plan, p->plan->nest[k], choice);
            for (int c = 1; c < m; c++, count++) {
                Pick pick = {k, choice[c].kernel->name, choice[c].order};
                assert_int_equal(plan_picked(cx, &rq, &pick, 1, &q, &err), RAVEL_OK);
                assert_true(q->plan->nest[k]->picked);
                if (ravel_verify(q, &err))
                    fail_msg("%s -> %s %s, nest %d by %s, %s: %s", rq.from, rq.to, rq.dtype,
                             k, pick.kernel, pick.order, err.text);
                ravel_plan_free(q);
            }
        }
        free(choice);
        ravel_plan_free(p);
    }
    printf("# wisdom: %d choices proven with extents left to run time\n", count);
    assert_true(count > 30);
}

#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        T(round_trip), T(bad_lines), T(wisdom_is_used), T(what_does_not_apply), T(keys),
        T(tuning), T(tuning_wrongly), T(a_wrong_one_is_refused), T(winners),
        T(wisdom_for_run_time), T(tuning_at), T(tuning_at_wrongly), T(every_choice),
        T(every_choice_at_run_time),
    };
    return cmocka_run_group_tests_name("wisdom", tests, NULL, NULL);
}
