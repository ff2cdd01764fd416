/* The library's own threads: OpenMP's, which wait between two calls.
 *
 * libgomp keeps a team for every thread that has led one.  In the child of a fork that
 * team does not exist, but libgomp would wait for it forever.  So a child creates threads
 * for each call, as do builds without OpenMP.  libgomp aborts if it cannot create them;
 * so the first call of each thread probes with its own threads whether enough of them can
 * be created. */
#define _GNU_SOURCE
#include "threads.h"

#include <sched.h>
#include <stdatomic.h>
#ifdef _OPENMP
#include <omp.h>
#endif

static int
processors(void)
{
    cpu_set_t set;
    int n = sched_getaffinity(0, sizeof set, &set) ? TEAM_MAX : CPU_COUNT(&set);
    return n < 1 ? 1 : n > TEAM_MAX ? TEAM_MAX : n;
}

int
threads_here(void)
{
    int n = processors();
#ifdef _OPENMP
    int wanted = omp_get_max_threads();
    n = wanted < n ? wanted : n;
#endif
    return n;
}

/* More stack than any kernel and its callers need. */
static const size_t STACK = (size_t)1 << 20;

/* The default size of a thread's stack: RLIMIT_STACK at the start of the process. */
static size_t
usual_stack(pthread_attr_t *a)
{
    size_t n = 0;
    pthread_attr_getstacksize(a, &n);
    return n;
}

bool
thread_start(pthread_t *t, void *(*f)(void *), void *arg)
{
    pthread_attr_t a;
    if (pthread_attr_init(&a))
        return false;
    bool ok = (usual_stack(&a) >= STACK || !pthread_attr_setstacksize(&a, STACK)) &&
              !pthread_create(t, &a, f, arg);
    pthread_attr_destroy(&a);
    return ok;
}

/* The state that the threads of a run share.  Each thread takes the next part. */
typedef struct {
    ravel_task *task;
    void *arg;
    int parts;
    atomic_int next;
} Team;

static void *
member(void *arg)
{
    Team *t = arg;
    for (int i; (i = atomic_fetch_add(&t->next, 1)) < t->parts;)
        t->task(t->arg, i, t->parts);
    return NULL;
}

/* Run with threads created for this call.  The caller runs the parts for which no thread
 * could be created.  Returns whether there was a thread for each part. */
static bool
run_created(ravel_task *task, void *arg, int parts)
{
    Team t = {.task = task, .arg = arg, .parts = parts};
    pthread_t thread[TEAM_MAX];
    int n = 0;
    while (n < parts - 1 && n < TEAM_MAX &&
           thread_start(&thread[n], member, &t))
        n++;
    member(&t);
    for (int i = 0; i < n; i++)
        pthread_join(thread[i], NULL);
    return n == parts - 1;
}

#ifdef _OPENMP
static atomic_bool forked;
static _Thread_local int led;      /* the largest team that this thread has probed */

static void
in_child(void)
{
    atomic_store(&forked, true);
}

/* OpenMP's threads have the default stack. */
static bool
small_stacks(void)
{
    pthread_attr_t a;
    bool small = pthread_attr_init(&a) || usual_stack(&a) < STACK;
    pthread_attr_destroy(&a);
    return small;
}

/* Runs before any fork that matters.  If it is out of memory, a child uses libgomp. */
__attribute__((constructor)) static void
watch_forks(void)
{
    pthread_atfork(NULL, NULL, in_child);
}

void
threads_run(ravel_task *task, void *arg, int parts)
{
    if (atomic_load(&forked) || parts > led) {
        if (run_created(task, arg, parts) && !small_stacks())
            led = parts;
        return;
    }
#pragma omp parallel for schedule(static, 1) num_threads(parts)
    for (int i = 0; i < parts; i++)
        task(arg, i, parts);
}
#else
void
threads_run(ravel_task *task, void *arg, int parts)
{
    run_created(task, arg, parts);
}
#endif
