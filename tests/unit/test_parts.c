/* The work of a plan in parts: by threads of our own or the host's, in the child of a
 * fork, and what a proof says of parts that are wrong. */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "../../runtime/proof.h"

enum { ROWS = 37, COLS = 11, MANY = 1500 };

typedef unsigned char Byte;

/* Row r to row r, turned round, by the rows of a part. */
static void
rows(Byte *d, const Byte *s, i64 lo, i64 hi)
{
    for (i64 r = lo; r < hi; r++)
        for (i64 c = 0; c < COLS; c++)
            d[r * COLS + COLS - 1 - c] = s[r * COLS + c];
}

static void
right(Byte *d, const Byte *s, i64 part, i64 parts)
{
    rows(d, s, ROWS * part / parts, ROWS * (part + 1) / parts);
}

static void
overlapping(Byte *d, const Byte *s, i64 part, i64 parts)
{
    right(d, s, part, parts);
    if (part > 0)
        rows(d, s, ROWS * part / parts - 1, ROWS * part / parts);
}

/* What two threads make of a byte in two halves. */
static void
half_bytes(Byte *d, const Byte *s, i64 part, i64 parts)
{
    for (i64 i = 0; i < ROWS * COLS; i++) {
        i64 from = i / COLS * COLS + COLS - 1 - i % COLS;
        if (i * parts / (ROWS * COLS) == part)
            d[i] = (Byte)((d[i] & 0xf0) | (s[from] & 0x0f));
        if ((i + 1) % (ROWS * COLS) * parts / (ROWS * COLS) == part)
            d[i] = (Byte)((d[i] & 0x0f) | (s[from] & 0xf0));
    }
}

/* Slot 165 holds 0xa5, the first poison; its copy is nobody's alone. */
static void
one_by_all(Byte *d, const Byte *s, i64 part, i64 parts)
{
    right(d, s, part, parts);
    d[175] = s[165];
}

static void
forgets_the_last(Byte *d, const Byte *s, i64 part, i64 parts)
{
    rows(d, s, ROWS / parts * part, ROWS / parts * (part + 1));
}

static void
more_parts_than_rows(Byte *d, const Byte *s, i64 part, i64 parts)
{
    i64 each = ROWS / parts;
    if (parts <= ROWS)
        right(d, s, part, parts);
    else
        rows(d, s, each * part, each * (part + 1));
}

static void
in_order_only(Byte *d, const Byte *s, i64 part, i64 parts)
{
    static i64 last = -1;
    bool next = part == 0 || part == last + 1;
    right(d, s, part, parts);
    if (!next)
        d[ROWS * part / parts * COLS] ^= 1;
    last = part;
}

static const struct {
    const char *name;
    void (*f)(Byte *d, const Byte *s, i64 part, i64 parts);
    const char *says;
} planted[] = {
    {"right", right, ""},
    {"overlapping", overlapping, "byte 187 of the destination is written by part 0 and by "
                                 "part 1 of 2"},
    {"half_bytes", half_bytes, "is written by part"},
    {"one_by_all", one_by_all, "byte 175 of the destination is written by part 0 and by "
                               "part 1 of 2"},
    {"forgets_the_last", forgets_the_last, "as before the run"},
    {"more_parts_than_rows", more_parts_than_rows, "as before the run"},
    {"in_order_only", in_order_only, "it should hold"},
};

static void
run_planted(const void *self, void *dst, const void *src)
{
    (void)self;
    right(dst, src, 0, 1);
}

static void
part_planted(const void *self, void *dst, const void *src, i64 part, i64 parts)
{
    planted[*(const int *)self].f(dst, src, part, parts);
}

typedef struct {
    Arena arena;
    Plan *plan;
} Job;

static void
make(void *arg)
{
    static const i64 shape[] = {ROWS, COLS};
    Job *j = arg;
    Request rq = {.from = "(R,C){R, C}", .to = "(R,C){R, 10 - C}", .dtype = "u8",
                  .rank = 2, .shape = shape, .name = "f"};
    j->plan = compile_plan(&j->arena, NULL, &rq);
}

static void
planted_parts(void **state)
{
    (void)state;
    for (int i = 0; i < LEN(planted); i++) {
        Diag d;
        Job j = {0};
        Proof *q;
        ravel_error err = {0};
        ravel_certificate c;
        Code code = {.run = run_planted, .part = part_planted, .self = &i};
        assert_true(arena_run(&j.arena, &d, make, &j));
        assert_int_equal(proof_new(j.plan, false, &q, &err), RAVEL_OK);
        ravel_status s = proof_run(q, &code, &c, &err);
        bool wrong = planted[i].says[0] != 0;
        if (wrong != (s == RAVEL_ERR_VERIFY) || !strstr(err.text, planted[i].says))
            fail_msg("%s: status %d, '%s'", planted[i].name, s, err.text);
        assert_true(wrong || c.parts == 64);
        proof_free(q);
        arena_free(&j.arena);
    }
}

/* A host's loop: how it goes, and what it has seen. */
typedef struct {
    enum { FORWARDS, BACKWARDS, AT_ONCE } how;
    int calls, parts;
} Host;

typedef struct {
    ravel_task *task;
    void *arg;
    int part, parts;
} One;

static void *
one(void *arg)
{
    const One *o = arg;
    o->task(o->arg, o->part, o->parts);
    return NULL;
}

static void
lend(void *host, ravel_task *task, void *arg, int parts)
{
    Host *h = host;
    pthread_t t[16];
    One o[16];
    assert_in_range(parts, 1, 16);
    h->calls++;
    h->parts = parts;
    for (int i = 0; i < parts; i++) {
        o[i] = (One){task, arg, h->how == BACKWARDS ? parts - 1 - i : i, parts};
        if (h->how != AT_ONCE)
            one(&o[i]);
        else if (pthread_create(&t[i], NULL, one, &o[i]))
            abort();
    }
    for (int i = 0; h->how == AT_ONCE && i < parts; i++)
        pthread_join(t[i], NULL);
}

static const int64_t LARGE[] = {MANY, MANY}, SMALL[] = {9, 9};

static ravel_plan *
compiled(ravel_context *cx, const int64_t *shape, int threads)
{
    ravel_request rq = {"(A,B){A, B}", "(A,B){B, A}", "u8", 2, shape, threads, 0};
    ravel_plan *p;
    ravel_error err;
    if (ravel_compile(cx, &rq, &p, &err))
        fail_msg("%s", err.text);
    return p;
}

/* Whether the plan, of LARGE, does what it should. */
static bool
turns(const ravel_plan *p)
{
    Byte *s = malloc(MANY * MANY), *d = calloc(MANY, MANY);
    for (int i = 0; i < MANY * MANY; i++)
        s[i] = (Byte)((unsigned)i * 2654435761u >> 19);
    bool ok = ravel_run(p, d, s) == RAVEL_OK;
    for (int i = 0; i < MANY * MANY; i++)
        ok &= d[i % MANY * MANY + i / MANY] == s[i];
    free(s);
    free(d);
    return ok;
}

static void
by_the_host(void **state)
{
    ravel_context *cx;
    Host h = {FORWARDS, 0, 0};
    (void)state;
    assert_int_equal(ravel_context_new(&cx, NULL), RAVEL_OK);
    assert_int_equal(ravel_set_threads(cx, 5, lend, &h, NULL), RAVEL_OK);
    ravel_plan *p = compiled(cx, LARGE, 0), *few = compiled(cx, LARGE, 3),
               *alone = compiled(cx, LARGE, 1), *small = compiled(cx, SMALL, 0);
    for (h.how = FORWARDS; h.how <= AT_ONCE; h.how++) {
        h.calls = 0;
        assert_true(turns(p));
        assert_int_equal(h.calls, 1);
        assert_int_equal(h.parts, 5);
    }
    h.how = BACKWARDS;
    assert_true(turns(few));
    assert_int_equal(h.parts, 3);
    h.calls = 0;
    assert_true(turns(alone));
    Byte a[81] = {0}, b[81];
    assert_int_equal(ravel_run(small, b, a), RAVEL_OK);
    assert_int_equal(h.calls, 0);
    assert_int_equal(ravel_plan_threads(p), 5);
    assert_int_equal(ravel_plan_threads(few), 3);
    assert_int_equal(ravel_plan_threads(alone), 1);
    assert_int_equal(ravel_plan_threads(small), 1);
    assert_int_equal(ravel_plan_threads(NULL), 0);
    ravel_plan_free(p);
    ravel_plan_free(few);
    ravel_plan_free(alone);
    ravel_plan_free(small);
    ravel_context_free(cx);
}

static void *
turns_too(void *p)
{
    return turns(p) ? NULL : p;
}

/* The child of a process whose threads have been at work, and its own child, a thread of
 * it and a proof. */
static int
child_of_a_team(const ravel_plan *p)
{
    int status;
    pthread_t t;
    void *bad = NULL;
    alarm(60);
    if (!turns(p) || ravel_verify(p, NULL) || pthread_create(&t, NULL, turns_too, (void *)p))
        return 1;
    pthread_join(t, &bad);
    pid_t pid = fork();
    if (pid == 0) {
        alarm(60);
        _exit(!turns(p));
    }
    return bad || waitpid(pid, &status, 0) != pid || status != 0;
}

static void
after_a_fork(void **state)
{
    ravel_context *cx;
    int status;
    (void)state;
    assert_int_equal(ravel_context_new(&cx, NULL), RAVEL_OK);
    ravel_plan *p = compiled(cx, LARGE, 0);
    for (int i = 0; i < 3; i++)
        assert_true(turns(p));
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0)
        _exit(child_of_a_team(p));
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_true(turns(p));
    ravel_plan_free(p);
    ravel_context_free(cx);
}

static void
wrong_arguments(void **state)
{
    ravel_context *cx;
    ravel_plan *p;
    ravel_error err;
    ravel_request rq = {"NCHW", "NHWC", "f32", 4, (int64_t[]){1, 2, 3, 4}, -1, 0};
    (void)state;
    assert_int_equal(ravel_context_new(&cx, NULL), RAVEL_OK);
    assert_int_equal(ravel_set_threads(NULL, 1, NULL, NULL, &err), RAVEL_ERR_ARGUMENT);
    assert_int_equal(ravel_set_threads(cx, -2, NULL, NULL, &err), RAVEL_ERR_ARGUMENT);
    assert_string_equal(err.text, "-2 threads: give 1 or more, or 0 for one for each processor");
    assert_int_equal(ravel_compile(cx, &rq, &p, &err), RAVEL_ERR_ARGUMENT);
    assert_string_equal(err.text, "-1 threads: give 1 or more, or 0 for one for each processor");
    ravel_context_free(cx);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planted_parts),
        cmocka_unit_test(by_the_host),
        cmocka_unit_test(after_a_fork),
        cmocka_unit_test(wrong_arguments),
    };
    return cmocka_run_group_tests_name("parts", tests, NULL, NULL);
}
