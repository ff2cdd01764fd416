/* measure.h: timing for ravel_tune, `ravel bench` and bench/.  Needs only the C library.
 *
 * A round times each candidate once.  Ratios are between times of the same round: if the
 * machine slows down, it slows down both. */
#ifndef RAVEL_MEASURE_H
#define RAVEL_MEASURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A candidate. */
typedef struct {
    int64_t (*time)(void *arg, int64_t calls);   /* nanoseconds of `calls` calls; NULL: of */
    void (*call)(void *arg);                     /* this */
    void *arg;
    int64_t calls;        /* calls in one sample; measure_calls sets it */
    int every;            /* it is timed in the rounds 0, every, 2*every, ... */
    double *ns;           /* time of a call in each round; negative: not timed */
} Measured;

int64_t measure_now(void);            /* nanoseconds of a monotonic clock */

/* Anonymous memory on pages of 2 MiB if the system provides them, aligned to 2 MiB, with
 * all pages touched; NULL if there is not enough memory.  Thread-safe. */
void *measure_map(size_t bytes);
void measure_unmap(void *p, size_t bytes);

/* Set m->calls so that a sample takes about `sample` nanoseconds, at least one call.  If
 * a call takes more than `slow` times `base` nanoseconds, m is timed in each third
 * round; if more than five times that, in the first round only.  slow = 0: in all
 * rounds.  The function calls m a few times, which also warms the caches. */
void measure_calls(Measured *m, int64_t sample, double base, double slow);

/* The preparation of a sample: a sleep of `rest` nanoseconds, during which spinning
 * threads of the previous candidate go to sleep; then `settle` untimed calls, so that
 * the caches hold data of this candidate. */
typedef struct {
    int64_t rest;
    int settle;
} Ready;
/* Round r: time n candidates, each once; each round begins with a different one. */
void measure_round(Measured *m, int n, int r, Ready ready);
/* The rounds from 0 on. */
void measure_rounds(Measured *m, int n, int rounds, Ready ready);

/* The median, the 10th and the 90th percentile of n samples. */
typedef struct {
    double median, low, high;
    int n;
} Spread;
Spread measure_spread(const double *v, int n);          /* ignores values below 0 */
/* The spread of v[i] / base[i] over the rounds in which both were timed. */
Spread measure_ratio(const double *v, const double *base, int n);

#endif
