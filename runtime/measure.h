/* measure.h: how conversions are timed, by ravel_tune, `ravel bench` and bench/.  Stands
 * on the C library alone.
 *
 * All that is compared takes turns within a round, and a round is the unit: ratios are
 * of times of one round, so that a machine that slows down slows all of them. */
#ifndef RAVEL_MEASURE_H
#define RAVEL_MEASURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One of the things compared. */
typedef struct {
    int64_t (*time)(void *arg, int64_t calls);   /* nanoseconds of so many calls */
    void *arg;
    int64_t calls;        /* in one sample; measure_calls sets it */
    int every;            /* takes part in each so-many-th round, from the first on */
    double *ns;           /* a call, of each round; negative: not in that round */
} Measured;

int64_t measure_now(void);            /* nanoseconds of a clock that never goes back */

/* Anonymous memory on pages of 2 MiB where the system gives them, 2 MiB aligned, all
 * of it touched; NULL when there is none.  Threads may each map their own. */
void *measure_map(size_t bytes);
void measure_unmap(void *p, size_t bytes);

/* Settle how many calls make a sample of m: as many as `sample` nanoseconds hold, one
 * at least.  What is `slow` times slower than `base` nanoseconds a call takes part in
 * each third round only, what is five times slower than that in the first alone; 0: all
 * take part in all.  Calls it a few times, which also warms it. */
void measure_calls(Measured *m, int64_t sample, double base, double slow);

/* How a sample is prepared: `rest` nanoseconds of sleep, in which threads that spin
 * after another one's sample go to sleep too, then `settle` calls that are not in the
 * sample: what lies in a cache is then this one's own doing. */
typedef struct {
    int64_t rest;
    int settle;
} Ready;
/* The rounds: each of the n things once a round, a different one first each time. */
void measure_rounds(Measured *m, int n, int rounds, Ready ready);

/* Where samples lie: the middle one, and the ones with a tenth of all outside. */
typedef struct {
    double median, low, high;
    int n;
} Spread;
Spread measure_spread(const double *v, int n);          /* of those that are >= 0 */
/* Of v[i] / base[i], for the rounds that have both. */
Spread measure_ratio(const double *v, const double *base, int n);

#endif
