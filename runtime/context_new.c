/* Contexts: they are made as the environment says, set and freed. */
#include <stdlib.h>
#include <string.h>

#include "library.h"
#include "threads.h"

/* The way of execution that RAVEL_CODE requests. */
static ravel_status
read_way(CodeWay *way, ravel_error *err)
{
    static const char *const names[] = {[CODE_BEST] = "", [CODE_JIT] = "jit",
                                        [CODE_INTERPRETER] = "interpreter"};
    const char *wanted = getenv("RAVEL_CODE");
    for (int i = 0; i < LEN(names); i++)
        if (!strcmp(wanted ? wanted : "", names[i])) {
            *way = (CodeWay)i;
            return RAVEL_OK;
        }
    return error_set(err, RAVEL_ERR_ARGUMENT, "RAVEL_CODE is '%.40s': jit or interpreter",
                     wanted);
}

/* The kernels that RAVEL_ISA requests. */
static ravel_status
find_kernels(ravel_context *cx, ravel_error *err)
{
    cx->kernels = kernels_here();
    if (cx->kernels) {
        cx->outside = (Outside *)jit_symbol(cx->kernels->symbols, "ravel_outside")->fn;
        return RAVEL_OK;
    }
    return error_set(err, RAVEL_ERR_ARGUMENT,
                     "RAVEL_ISA is '%.40s': one of sse2, avx2, avx512, avx512vbmi, avx512gather that "
                     "this processor has; scalar or portable in the command, and where it is no "
                     "x86-64",
                     getenv("RAVEL_ISA"));
}

static ravel_status
find_processor(ravel_context *cx, ravel_error *err)
{
    cx->machine = machine_named(processor_here());
    cx->machine.permutes = cx->kernels->permutes;
    if (cx->machine.costs)
        return RAVEL_OK;
    return error_set(err, RAVEL_ERR_ARGUMENT, "RAVEL_PROCESSOR is '%.40s': not one of%s",
                     processor_here(), machine_names());
}

ravel_status
ravel_context_new(ravel_context **out, ravel_error *err)
{
    if (!out)
        return error_set(err, RAVEL_ERR_ARGUMENT, "ravel_context_new: out is NULL");
    ravel_context *cx = calloc(1, sizeof *cx);
    *out = NULL;
    if (!cx)
        return error_set(err, RAVEL_ERR_MEMORY, "out of memory");
    cx->users = 1;
    cx->specs.builtin = &cx->builtin;
    cx->known = &cx->specs;
    cx->processors = threads_here();
    processor_brand(cx->cpu);
    cache_init(&cx->cache);
    ravel_status s = read_way(&cx->way, err);
    if (s == RAVEL_OK)
        s = find_kernels(cx, err);
    if (s == RAVEL_OK)
        s = find_processor(cx, err);
    if (s == RAVEL_OK)
        s = log_begin(cx, err);
    if (s == RAVEL_OK)
        *out = cx;
    else
        ravel_context_free(cx);
    return s;
}

void
ravel_context_free(ravel_context *cx)
{
    if (!cx)
        return;
    cache_bound(&cx->cache, 0, 0);
    context_leave(cx);
}

ravel_status
ravel_set_cache(ravel_context *cx, int plans, int64_t bytes, ravel_error *err)
{
    if (!cx)
        return error_set(err, RAVEL_ERR_ARGUMENT, "ravel_set_cache: cx is NULL");
    if (plans < 0 || bytes < 0)
        return error_set(err, RAVEL_ERR_ARGUMENT, "a cache of %d plans, %lld bytes",
                         plans, (long long)bytes);
    cache_bound(&cx->cache, plans, bytes);
    return RAVEL_OK;
}

ravel_status
ravel_set_limit(ravel_context *cx, double units, ravel_error *err)
{
    if (!cx)
        return error_set(err, RAVEL_ERR_ARGUMENT, "ravel_set_limit: cx is NULL");
    if (!(units >= 0))
        return error_set(err, RAVEL_ERR_ARGUMENT, "a limit of %g units", units);
    cx->work = work_steps(units);
    return RAVEL_OK;
}

ravel_status
ravel_set_threads(ravel_context *cx, int threads, ravel_parallel_for *f, void *host,
                  ravel_error *err)
{
    if (!cx)
        return error_set(err, RAVEL_ERR_ARGUMENT, "ravel_set_threads: cx is NULL");
    if (threads < 0)
        return error_set(err, RAVEL_ERR_ARGUMENT, "%d threads: give 1 or more, or 0 for "
                         "one for each processor", threads);
    Threads *t = malloc(sizeof *t);
    if (!t)
        return error_set(err, RAVEL_ERR_MEMORY, "out of memory");
    *t = (Threads){threads, f, host, cx->threads};
    while (!atomic_compare_exchange_weak(&cx->threads, &t->next, t))
        ;
    return RAVEL_OK;
}
