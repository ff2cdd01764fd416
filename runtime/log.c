/* The log of a context: where its lines go. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "library.h"
#include "log.h"
#include "measure.h"

struct Log {
    ravel_log *f;                  /* NULL: nothing is logged */
    void *host;
    Log *next;
};

static void
to_stderr(void *host, const char *line)
{
    (void)host;
    fprintf(stderr, "%s\n", line);
}

static ravel_status
push(ravel_context *cx, ravel_log *f, void *host, ravel_error *err)
{
    Log *l = malloc(sizeof *l);
    if (!l)
        return error_set(err, RAVEL_ERR_MEMORY, "out of memory");
    *l = (Log){f, host, cx->log};
    while (!atomic_compare_exchange_weak(&cx->log, &l->next, l))
        ;
    return RAVEL_OK;
}

ravel_status
log_begin(ravel_context *cx, ravel_error *err)
{
    const char *wanted = getenv("RAVEL_VERBOSE");
    if (!wanted || !*wanted || !strcmp(wanted, "0"))
        return RAVEL_OK;
    if (!strcmp(wanted, "1"))
        return push(cx, to_stderr, NULL, err);
    return error_set(err, RAVEL_ERR_ARGUMENT, "RAVEL_VERBOSE is '%.40s': 0 or 1", wanted);
}

ravel_status
ravel_set_log(ravel_context *cx, ravel_log *f, void *host, ravel_error *err)
{
    if (!cx)
        return error_set(err, RAVEL_ERR_ARGUMENT, "ravel_set_log: cx is NULL");
    return push(cx, f, host, err);
}

void
log_free(Log *l)
{
    for (Log *next; l; l = next) {
        next = l->next;
        free(l);
    }
}

int64_t
log_start(const ravel_context *cx)
{
    const Log *l = cx->log;
    return l && l->f ? measure_now() : 0;
}

/* A line that is being made. */
typedef struct {
    Arena arena;
    LogPut *put;
    const void *arg;
    Buf b;
} Line;

static void
make_line(void *arg)
{
    Line *l = arg;
    l->b = buf_new(&l->arena);
    l->put(&l->b, l->arg);
}

void
log_line(const ravel_context *cx, LogPut *put, const void *arg)
{
    Diag d;
    const Log *log = cx->log;
    if (!log || !log->f)
        return;
    Line l = {.put = put, .arg = arg};
    log->f(log->host, arena_run(&l.arena, &d, make_line, &l) ? l.b.s : d.text);
    arena_free(&l.arena);
}
