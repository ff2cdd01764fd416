/* test_threads.c: the library from many threads at once.
 *
 * Every thread draws actions from one table (thread_actions.h) and does them on what all
 * share: a context that is loaded into meanwhile, and one plan.  Under ThreadSanitizer this
 * is a search for races; else for crashes and wrong answers. */
#define _GNU_SOURCE
#include "../../runtime/ravel.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "thread_actions.h"

static size_t
choose(Worker *w)
{
    unsigned total = 0;
    size_t i = 0;
    for (size_t k = 0; k < NACTIONS; k++)
        total += ACTIONS[k].weight;
    for (uint64_t at = draw(w, total); at >= ACTIONS[i].weight; i++)
        at -= ACTIONS[i].weight;
    return i;
}

static void *
work(void *arg)
{
    Worker *w = arg;
    ravel_error err = {0};
    for (; w->left > 0; w->left--) {
        size_t i = choose(w);
        if (!ACTIONS[i].act(w, &err)) {
            w->failed = ACTIONS[i].name;
            memcpy(w->text, err.text, sizeof w->text);
            return w;
        }
        atomic_fetch_add(&done[i], 1);
    }
    return NULL;
}

static long
number(const char *name, long otherwise)
{
    const char *s = getenv(name);
    return s ? atol(s) : otherwise;
}

static void
test_everything_at_once(void **state)
{
    (void)state;
    pthread_t t[THREADS];
    Worker *w = calloc(THREADS, sizeof *w);
    long seed = number("SEED", 20240607), n = number("THREAD_ROUNDS", 150);
    assert_non_null(w);
    print_message("# threads: %d threads, %ld actions each, SEED=%ld\n", THREADS, n,
                  seed);
    for (int i = 0; i < THREADS; i++) {
        w[i].seed = (uint64_t)(seed + i);
        w[i].left = (int)n;
        assert_int_equal(pthread_create(&t[i], NULL, work, &w[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
    for (int i = 0; i < THREADS; i++)
        if (w[i].failed)
            fail_msg("%s: %s", w[i].failed, w[i].text);
    for (size_t i = 0; i < NACTIONS; i++) {
        print_message("# threads: %6ld x %s\n", (long)done[i], ACTIONS[i].name);
        assert_true(done[i] > 0 || n < 100);
    }
    free(w);
}

static pthread_barrier_t gate;

static void *
first_compile(void *cx)
{
    ravel_plan *p;
    pthread_barrier_wait(&gate);
    if (!compile(cx, "NC1HWC0", &p, NULL))
        return cx;
    bool ok = ravel_verify(p, NULL) == RAVEL_OK;
    ravel_plan_free(p);
    return ok ? NULL : cx;
}

/* In a process that has not compiled yet, its first compilations at once. */
static int
start_cold(void)
{
    ravel_context *cx;
    pthread_t t[THREADS];
    void *bad, *any = NULL;
    if (ravel_context_new(&cx, NULL) || pthread_barrier_init(&gate, NULL, THREADS))
        return 2;
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&t[i], NULL, first_compile, cx))
            abort();
    for (int i = 0; i < THREADS; i++) {
        pthread_join(t[i], &bad);
        any = bad ? bad : any;
    }
    pthread_barrier_destroy(&gate);
    ravel_context_free(cx);
    return any != NULL;
}

/* First of all tests: the process they fork from has not compiled either. */
static void
test_cold_start(void **state)
{
    (void)state;
    for (int i = 0; i < COLD_STARTS; i++) {
        int status;
        fflush(NULL);
        pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
            alarm(60);
            exit(start_cold());
        }
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
}

static ravel_plan *
plan_for_any(const char *code, const char *dtype)
{
    static const int64_t shape[] = {RAVEL_RUNTIME, 3};
    ravel_request rq = {"(R,C){R, C}", "(R,C){R//4, C, R%4, fill = 7}", dtype, 2, shape, 0, 0};
    ravel_context *cx;
    ravel_plan *p = NULL;
    setenv("RAVEL_CODE", code, 1);
    if (ravel_context_new(&cx, NULL) == RAVEL_OK)
        ravel_compile(cx, &rq, &p, NULL);
    ravel_context_free(cx);
    setenv("RAVEL_CODE", "", 1);
    return p;
}

static int
set_up(void **state)
{
    Worker w = {.seed = 1};
    (void)state;
    for (size_t i = 0; i < BYTES; i++)
        shared.src[i] = (unsigned char)(i * 2654435761u >> 13);
    if (ravel_context_new(&shared.cx, NULL) || !load_shared(&w, NULL) ||
        !tune_shared(&w, NULL) ||
        !compile(shared.cx, "NC1HWC0", &shared.plan, NULL) ||
        ravel_table(shared.cx, "NC1HWC0", "f16", 4, SHAPE, shared.table, NULL) ||
        !(shared.any[0] = plan_for_any("", "u8")) || !(shared.wide[0] = plan_for_any("", "c128")) ||
        !(shared.any[1] = plan_for_any("interpreter", "u8")) ||
        !(shared.wide[1] = plan_for_any("interpreter", "c128")))
        return 1;
    return ravel_run(shared.plan, shared.want, shared.src);
}

static int
tear_down(void **state)
{
    (void)state;
    ravel_plan_free(shared.plan);
    for (int i = 0; i < 2; i++) {
        ravel_plan_free(shared.any[i]);
        ravel_plan_free(shared.wide[i]);
    }
    ravel_context_free(shared.cx);
    return 0;
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cold_start),   /* first: see there */
        cmocka_unit_test_setup_teardown(test_everything_at_once, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
