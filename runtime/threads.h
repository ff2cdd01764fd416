/* threads.h: run the parts of a task on threads that the library creates itself. */
#ifndef RAVEL_THREADS_H
#define RAVEL_THREADS_H

#include <pthread.h>
#include <stdbool.h>

#include "ravel.h"

/* The largest number of threads that work at once. */
enum { TEAM_MAX = 256 };

/* The number of processors available to this process, at most TEAM_MAX; in a build with
 * OpenMP at most OMP_NUM_THREADS. */
int threads_here(void);

/* pthread_create with the stack size that kernels need, whatever RLIMIT_STACK is.
 * Returns false if no thread can be created. */
bool thread_start(pthread_t *t, void *(*f)(void *), void *arg);

/* Call task(arg, i, parts) for every 0 <= i < parts, on `parts` threads, or on fewer if
 * not all can be created.  Returns when all calls have returned.  Thread-safe, also in
 * the child of a fork. */
void threads_run(ravel_task *task, void *arg, int parts);

#endif
