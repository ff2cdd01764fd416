/* A thread pool: workers take parts of the current loop, and so does its caller. */
#include "pool.h"

#include <pthread.h>
#include <stdlib.h>

enum { WORKERS_MAX = 64 };

struct Pool {
    pthread_mutex_t lock, one_loop;
    pthread_cond_t work, done;
    Task *task;
    void *arg;
    int parts, next, running, calls, ends, workers;
    pthread_t worker[WORKERS_MAX];
};

/* Take parts until none is left; the lock is held at the call and at the return. */
static void
take_parts(Pool *p)
{
    while (p->next < p->parts) {
        int part = p->next++;
        p->running++;
        pthread_mutex_unlock(&p->lock);
        p->task(p->arg, part, p->parts);
        pthread_mutex_lock(&p->lock);
        p->running--;
    }
    if (p->running == 0)
        pthread_cond_broadcast(&p->done);
}

static void *
work(void *arg)
{
    Pool *p = arg;
    pthread_mutex_lock(&p->lock);
    while (!p->ends) {
        take_parts(p);
        if (!p->ends)
            pthread_cond_wait(&p->work, &p->lock);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

Pool *
pool_new(int threads)
{
    Pool *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    pthread_mutex_init(&p->lock, NULL);
    pthread_mutex_init(&p->one_loop, NULL);
    pthread_cond_init(&p->work, NULL);
    pthread_cond_init(&p->done, NULL);
    while (p->workers < threads - 1 && p->workers < WORKERS_MAX &&
           !pthread_create(&p->worker[p->workers], NULL, work, p))
        p->workers++;
    return p;
}

void
pool_free(Pool *p)
{
    pthread_mutex_lock(&p->lock);
    p->ends = 1;
    pthread_cond_broadcast(&p->work);
    pthread_mutex_unlock(&p->lock);
    for (int i = 0; i < p->workers; i++)
        pthread_join(p->worker[i], NULL);
    free(p);
}

void
pool_for(void *pool, Task *task, void *arg, int parts)
{
    Pool *p = pool;
    pthread_mutex_lock(&p->one_loop);
    pthread_mutex_lock(&p->lock);
    p->task = task;
    p->arg = arg;
    p->parts = parts;
    p->next = 0;
    p->calls++;
    pthread_cond_broadcast(&p->work);
    take_parts(p);
    while (p->running > 0)
        pthread_cond_wait(&p->done, &p->lock);
    pthread_mutex_unlock(&p->lock);
    pthread_mutex_unlock(&p->one_loop);
}

int
pool_calls(const Pool *p)
{
    return p->calls;
}
