/* test_threads.c: the library from many threads at once.
 *
 * Every thread draws actions from one table and does them on what all share: a context
 * that is loaded into meanwhile, and one plan.  What an action cannot have for itself
 * is in Shared.  Under ThreadSanitizer this is a search for races; else for crashes
 * and wrong answers. */
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

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED true
#else
#define SANITIZED false
#endif

enum { THREADS = 8, COLD_STARTS = 12, BYTES = 1 << 16 };

static struct {
    ravel_context *cx;
    ravel_plan *plan;
    ravel_plan *any[2];            /* at any shape: by machine code, by the interpreter */
    unsigned char src[BYTES], want[BYTES];
    int64_t table[1400];
} shared;

static atomic_long names;          /* given to layouts so far */

/* What one thread has for itself. */
typedef struct {
    uint64_t seed;
    int left;                      /* actions to do */
    const char *failed;            /* the action that went wrong */
    char text[1024];
    unsigned char dst[BYTES];
    int64_t table[1400];
} Worker;

static const int64_t SHAPE[] = {2, 20, 5, 7};

static uint64_t
draw(Worker *w, uint64_t n)
{
    w->seed = w->seed * 6364136223846793005u + 1442695040888963407u;
    return (w->seed >> 33) % n;
}

static bool
compile(ravel_context *cx, const char *to, ravel_plan **out, ravel_error *err)
{
    ravel_request rq = {"NCHW", to, "f16", 4, SHAPE, 0, 0};
    return ravel_compile(cx, &rq, out, err) == RAVEL_OK;
}

static bool
run_shared(Worker *w, ravel_error *err)
{
    (void)err;
    size_t n = (size_t)ravel_plan_dst_bytes(shared.plan);
    return ravel_run(shared.plan, w->dst, shared.src) == RAVEL_OK &&
           memcmp(w->dst, shared.want, n) == 0;
}

/* Rows of three columns to columns of rows in fours, padded with 7. */
static bool
run_any(Worker *w, ravel_error *err)
{
    int64_t rows = (int64_t)draw(w, 200), shape[] = {rows, 3}, n, last = (rows + 3) / 4 * 4;
    const ravel_plan *p = shared.any[draw(w, 2)];
    if (ravel_plan_bytes_at(p, shape, NULL, &n, err) || n != 3 * last ||
        ravel_run_shape(p, w->dst, shared.src, shape, err))
        return false;
    for (int64_t r = 0; r < last; r++)
        for (int64_t c = 0; c < 3; c++)
            if (w->dst[r / 4 * 12 + c * 4 + r % 4] != (r < rows ? shared.src[r * 3 + c] : 7))
                return false;
    return true;
}

static bool
verify_any(Worker *w, ravel_error *err)
{
    return ravel_verify(shared.any[draw(w, 2)], err) == RAVEL_OK;
}

static bool
verify_shared(Worker *w, ravel_error *err)
{
    (void)w;
    return ravel_verify(shared.plan, err) == RAVEL_OK;
}

/* A plan of a thread's own, from a context that others load into. */
static bool
compile_and_free(Worker *w, ravel_error *err)
{
    static const char *const to[] = {"NC1HWC0", "NHWC", "NCHW8", "{N, C//6, H, W, C%6}",
                                     "THREADED", "NC1HWC0{C0=8}"};
    ravel_plan *p;
    if (!compile(shared.cx, to[draw(w, sizeof to / sizeof *to)], &p, err))
        return false;
    bool ok = ravel_run(p, w->dst, shared.src) == RAVEL_OK &&
              ravel_plan_way(p) && (draw(w, 4) || !ravel_verify(p, err));
    ravel_plan_free(p);
    return ok;
}

/* Plans go, those of others too; nobody may notice. */
static bool
bound_cache(Worker *w, ravel_error *err)
{
    return ravel_set_cache(shared.cx, (int)draw(w, 5), draw(w, 4) ? 64 << 20 : 1 << 20,
                           err) == RAVEL_OK;
}

static void
lend(void *host, ravel_task *task, void *arg, int parts)
{
    (void)host;
    for (int i = parts; i-- > 0;)
        task(arg, i, parts);
}

static bool
set_threads(Worker *w, ravel_error *err)
{
    return ravel_set_threads(shared.cx, (int)draw(w, 3), draw(w, 2) ? lend : NULL, NULL,
                             err) == RAVEL_OK;
}

/* By threads, as it is large; whose, depends. */
static bool
run_in_parts(Worker *w, ravel_error *err)
{
    enum { SIDE = 1100 };
    static const int64_t shape[] = {SIDE, SIDE};
    ravel_request rq = {"(A,B){A, B}", "(A,B){B, A}", "u8", 2, shape, 0, 0};
    ravel_plan *p;
    if (ravel_compile(shared.cx, &rq, &p, err))
        return false;
    unsigned char *s = malloc(SIDE * SIDE), *d = malloc(SIDE * SIDE);
    bool ok = s && d;
    for (int i = 0; ok && i < SIDE * SIDE; i++)
        s[i] = shared.src[(i + (int)(w->seed % BYTES)) % BYTES];
    ok = ok && ravel_run(p, d, s) == RAVEL_OK;
    for (int i = 0; ok && i < SIDE; i++)
        ok = d[i * SIDE + 3 * i % SIDE] == s[3 * i % SIDE * SIDE + i];
    ravel_plan_free(p);
    free(s);
    free(d);
    return ok;
}

/* What others compile is done differently from here on, and as right. */
static bool
tell_wisdom(Worker *w, ravel_error *err)
{
    static const char *const how[] = {"1:copy:in order of reads",
                                      "1:strided:in order of writes", "1:none:such"};
    char *text, *more;
    size_t n;
    if (ravel_wisdom_text(shared.cx, &text, &n, err))
        return false;
    /* the last line, with other picks */
    char *end = strrchr(text, '\t'), *from = end;
    while (from[-1] != '\n')
        from--;
    bool ok = (more = malloc(n + 100)) != NULL;
    if (ok) {
        snprintf(more, n + 100, "ravel wisdom 1\n%.*s\t%s\n", (int)(end - from), from,
                 how[draw(w, 3)]);
        ok = ravel_wisdom_load(shared.cx, more, strlen(more), err) == RAVEL_OK;
        free(more);
    }
    free(text);
    return ok;
}

static bool
wrong_wisdom(Worker *w, ravel_error *err)
{
    (void)w;
    return ravel_wisdom_load(shared.cx, "ravel wisdom 1\nx\n", 17, err) ==
           RAVEL_ERR_ARGUMENT && strstr(err->text, "line 2");
}

static bool
tune_shared(Worker *w, ravel_error *err)
{
    static const char *const to[] = {"NC1HWC0", "NHWC"};
    ravel_request rq = {.from = "NCHW", .to = to[draw(w, 2)], .dtype = "f16", .rank = 4,
                        .shape = SHAPE, .threads = 1};
    return ravel_tune(shared.cx, &rq, 0, NULL, err) == RAVEL_OK;
}

/* A layout that all use, and one under a new name, which must be there afterwards. */
static bool
load_shared(Worker *w, ravel_error *err)
{
    char text[400], own[40];
    int64_t n;
    snprintf(own, sizeof own, "OWN_%ld", atomic_fetch_add(&names, 1));
    snprintf(text, sizeof text, "local b = %d\nlayout 'THREADED' { dims = {N, C, H, W},\n"
             "  order = {N, C // b, H, W, C %% b}, fill = 0 }\n"
             "layout '%s' { dims = {N, C}, order = {C, N} }", 2 << (int)draw(w, 4), own);
    return ravel_load(shared.cx, text, strlen(text), "threaded.lua", err) == RAVEL_OK &&
           ravel_storage_bytes(shared.cx, own, "f16", 2, SHAPE, &n, err) == RAVEL_OK;
}

static bool
load_wrong(Worker *w, ravel_error *err)
{
    static const char text[] = "layout 'BAD' { dims = {N, C}, order = {N, C.x} }";
    (void)w;
    return ravel_load(shared.cx, text, sizeof text - 1, "bad.lua", err) ==
           RAVEL_ERR_SPEC && strstr(err->text, "bad.lua");
}

static bool
compile_wrong(Worker *w, ravel_error *err)
{
    static const struct {
        const char *to, *says;
        ravel_status s;
    } wrong[] = {
        {"NC1HWCO", "NC1HWC0", RAVEL_ERR_SPEC},
        {"{N, C//2, H, W}", "", RAVEL_ERR_LAYOUT},
        {"{N, C, H", "", RAVEL_ERR_SPEC},
    };
    size_t i = draw(w, sizeof wrong / sizeof *wrong);
    ravel_plan *p = NULL;
    return !compile(shared.cx, wrong[i].to, &p, err) && !p && err->status == wrong[i].s &&
           strstr(err->text, wrong[i].says);
}

static bool
table_shared(Worker *w, ravel_error *err)
{
    return ravel_table(shared.cx, "NC1HWC0", "f16", 4, SHAPE, w->table, err) ==
           RAVEL_OK && memcmp(w->table, shared.table, sizeof w->table) == 0;
}

static bool
bytes_shared(Worker *w, ravel_error *err)
{
    int64_t n;
    (void)w;
    return ravel_storage_bytes(shared.cx, "THREADED", "f16", 4, SHAPE, &n, err) ==
           RAVEL_OK && n >= 2 * 1400;
}

/* A context of its own beside the shared one. */
static bool
new_context(Worker *w, ravel_error *err)
{
    ravel_context *cx;
    ravel_plan *p;
    if (ravel_context_new(&cx, err))
        return false;
    bool ok = compile(cx, "NHWC", &p, err);
    ravel_context_free(cx);
    if (ok) {
        ok = ravel_run(p, w->dst, shared.src) == RAVEL_OK;
        ravel_plan_free(p);
    }
    return ok;
}

/* In the child of a fork, which has one thread and whatever locks the others held.  The
 * sanitizers' heaps have such locks themselves: there the child allocates nothing. */
static bool
child(Worker *w)
{
    ravel_plan *p;
    if (SANITIZED)
        return run_shared(w, NULL);
    return compile(shared.cx, "NHWC", &p, NULL) && !ravel_verify(p, NULL) &&
           load_shared(w, NULL);
}

static bool
fork_and_compile(Worker *w, ravel_error *err)
{
    int status;
    (void)err;
    pid_t pid = fork();
    if (pid == 0) {
        alarm(60);
        _exit(!child(w));
    }
    return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
}

/* An action is drawn as often as its weight says. */
static const struct {
    const char *name;
    bool (*act)(Worker *w, ravel_error *err);
    unsigned weight;
} ACTIONS[] = {
    {"run", run_shared, 12},
    {"verify", verify_shared, 4},
    {"run at a shape", run_any, 12},
    {"verify at shapes", verify_any, 1},
    {"compile", compile_and_free, 12},
    {"cache", bound_cache, 2},
    {"threads", set_threads, 1},
    {"run in parts", run_in_parts, 2},
    {"load", load_shared, 3},
    {"wisdom", tell_wisdom, 3},
    {"wisdom, wrong", wrong_wisdom, 1},
    {"tune", tune_shared, 1},
    {"load, wrong", load_wrong, 2},
    {"compile, wrong", compile_wrong, 3},
    {"table", table_shared, 4},
    {"storage_bytes", bytes_shared, 2},
    {"context", new_context, 1},
    {"fork", fork_and_compile, 1},
};
enum { NACTIONS = sizeof ACTIONS / sizeof *ACTIONS };

static atomic_long done[NACTIONS];

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
plan_for_any(const char *code)
{
    static const int64_t shape[] = {RAVEL_RUNTIME, 3};
    ravel_request rq = {"(R,C){R, C}", "(R,C){R//4, C, R%4, fill = 7}", "u8", 2, shape, 0, 0};
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
        !(shared.any[0] = plan_for_any("")) ||
        !(shared.any[1] = plan_for_any("interpreter")))
        return 1;
    return ravel_run(shared.plan, shared.want, shared.src);
}

static int
tear_down(void **state)
{
    (void)state;
    ravel_plan_free(shared.plan);
    ravel_plan_free(shared.any[0]);
    ravel_plan_free(shared.any[1]);
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
