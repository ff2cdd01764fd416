/* thread_actions.h: what threads do to the library at once, as a table of actions that are drawn,
 * and what they share. */
#ifndef TEST_THREAD_ACTIONS_H
#define TEST_THREAD_ACTIONS_H

#include "../../runtime/ravel.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

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
    ravel_plan *wide[2];           /* the same of elements of 16 bytes: what is large has few */
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
    return ravel_verify((draw(w, 16) ? shared.wide : shared.any)[draw(w, 2)], err) == RAVEL_OK;
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

/* n bytes of the shared source from that one on, over and over. */
static void
turned(unsigned char *s, size_t n, size_t from)
{
    for (size_t i = 0, m; i < n; i += m, from = 0) {
        m = BYTES - from < n - i ? BYTES - from : n - i;
        memcpy(s + i, shared.src + from, m);
    }
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
    if (ok)
        turned(s, SIDE * SIDE, (size_t)(w->seed % BYTES));
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

#endif
