/* Wisdom: its text, what it changes and what it cannot. */
#include "wisdom_context.h"

#define KEY "Some CPU\tavx2\t2\tf32\t(2,64)\t(A, B){A, B}\t(A, B){B, A}"

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
    if (p->jit && q->jit)
        assert_string_not_equal(ravel_plan_source(p), ravel_plan_source(q));
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

/* The nests that a kernel runs in the code of a plan. */
static int
uses_of(const ravel_plan *p, const char *kernel)
{
    int k = 0;
    while (strcmp(kernels[k].name, kernel))
        k++;
    return p->uses[k];
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
    const char *order = strided ? "tiles" : "in order of writes";
    tell(cx, p, pick);
    q = compiled(&LATER);
    assert_ptr_not_equal(p, q);
    assert_true(is_done(q, kernel, order));
    assert_int_equal(uses_of(q, kernel), uses_of(p, kernel) + 1);
    assert_int_equal(ravel_verify(q, NULL), RAVEL_OK);
    ravel_plan_free(p);
    p = compiled(&LATER);
    assert_ptr_equal(p, q);
    ravel_plan_free(q);
    ravel_plan_free(p);
    q = compiled(&part);
    assert_false(is_done(q, kernel, order));
    ravel_plan_free(q);
    q = compiled(&LARGE);
    assert_false(q->plan->nest[0]->picked);
    ravel_plan_free(q);
}

#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        T(round_trip), T(bad_lines), T(wisdom_is_used), T(what_does_not_apply),
        T(keys), T(wisdom_for_run_time),
    };
    return cmocka_run_group_tests_name("wisdom", tests, NULL, NULL);
}
