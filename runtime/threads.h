/* threads.h: the parts of a task on threads of our own. */
#ifndef RAVEL_THREADS_H
#define RAVEL_THREADS_H

#include <pthread.h>
#include <stdbool.h>

#include "ravel.h"

/* More than these are never at work at once. */
enum { TEAM_MAX = 256 };

/* The processors that this process may run on, at most TEAM_MAX; where OpenMP is built
 * in, no more than OMP_NUM_THREADS says. */
int threads_here(void);

/* pthread_create with the stack that kernels need, whatever RLIMIT_STACK was. */
bool thread_start(pthread_t *t, void *(*f)(void *), void *arg);

/* task(arg, i, parts) for every i < parts, by as many threads if they can be had, and
 * by fewer if not; returns when all are done.  Thread-safe, and safe in the child of a
 * fork. */
void threads_run(ravel_task *task, void *arg, int parts);

#endif
