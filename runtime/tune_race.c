/* Candidates for one relayout: prove them, then time them in rounds. */
#include <stdio.h>
#include <string.h>

#include "tune.h"

static const double enough = 0.97;
enum { SAMPLE = 1000000, REST = 6000000, CACHE = 64 << 20, LEAST_ROUNDS = 5 };

/* Half of a race are the proofs.  n: that are done since the last call. */
static void
tell(Race *r, double half, double part, int n)
{
    r->counted += n;
    if (r->watch.f)
        r->watch.f(r->watch.arg, r->done + r->share * (half + part) / 2, r->counted);
}

ravel_status
race_prove(Race *r, Proof *q, ravel_error *err)
{
    for (int i = 0; i < r->n; i++) {
        ravel_certificate c;
        ravel_error own;
        const ravel_plan *p = r->t[i].plan;
        ravel_status s = r->shape ? verify_plan_at(p, r->shape, q, &c, &own)
                                  : verify_plan(p, q, &c, &own);
        if (s != RAVEL_OK && s != RAVEL_ERR_VERIFY)
            return error_set(err, s, "%s", own.text);
        r->t[i].refused = s != RAVEL_OK;
        tell(r, 0, (double)(i + 1) / r->n, 1);
        if (s != RAVEL_OK && !r->why[0])
            snprintf(r->why, sizeof r->why, "nest %d by %s, %s: %.900s",
                     r->t[i].pick.nest + 1, r->t[i].pick.kernel, r->t[i].pick.order,
                     own.text);
    }
    return RAVEL_OK;
}

typedef struct {
    const Race *r;
    const ravel_plan *plan;
} Runner;

static void
run_plan(void *runner)
{
    const Runner *u = runner;
    if (u->r->shape)
        ravel_run_shape(u->plan, u->r->dst, u->r->src, u->r->shape, NULL);
    else
        ravel_run(u->plan, u->r->dst, u->r->src);
}

static void
copy_part(void *race, int part, int parts)
{
    const Race *r = race;
    size_t from = r->bytes / (size_t)parts * (size_t)part;
    size_t to = part + 1 == parts ? r->bytes : from + r->bytes / (size_t)parts;
    memcpy((char *)r->dst + from, (const char *)r->src + from, to - from);
}

static void
run_copy(void *runner)
{
    const Runner *u = runner;
    Threads t = plan_threads_at(u->plan, u->r->shape);
    threads_share(&t, copy_part, (void *)u->r);
}

/* Rounds until the time is over; each round begins with a different candidate. */
static int
run_rounds(Race *r, Measured *m, int n, double (*ns)[TUNE_ROUNDS], double seconds,
           Ready ready)
{
    int64_t start = measure_now(), until = start + (int64_t)(seconds * 1e9);
    int rounds = 0;
    while (rounds + n <= TUNE_ROUNDS && (rounds < LEAST_ROUNDS || measure_now() < until)) {
        for (int i = 0; i < n; i++)
            m[i].ns = &ns[i][rounds];
        measure_rounds(m, n, n, ready);
        rounds += n;
        double part = (double)(measure_now() - start) * 1e-9 / seconds;
        tell(r, 1, part < 1 ? part : 1, n * n);
    }
    return rounds;
}

void
race_time(Race *r, double seconds)
{
    Measured m[TUNE_TRIES + 1];
    Runner u[TUNE_TRIES + 1];
    double ns[TUNE_TRIES + 1][TUNE_ROUNDS];
    int at[TUNE_TRIES] = {0}, n = 1;
    u[0] = (Runner){r, r->t[0].plan};
    m[0] = (Measured){.call = run_copy, .arg = &u[0], .every = 1};
    for (int i = 0; i < r->n; i++)
        if (!r->t[i].refused) {
            at[i] = n;
            u[n] = (Runner){r, r->t[i].plan};
            m[n] = (Measured){.call = run_plan, .arg = &u[n], .every = 1};
            n++;
        }
    for (int i = 0; i < n; i++)
        measure_calls(&m[i], SAMPLE, 0, 0);
    int threads = plan_threads_at(r->t[0].plan, r->shape).most;
    Ready ready = {threads > 1 ? REST : 0, 2 * r->bytes < CACHE};
    r->rounds = run_rounds(r, m, n, ns, seconds, ready);
    r->memcpy_ns = measure_spread(ns[0], r->rounds).median;
    for (int i = 0; i < r->n; i++)
        if (at[i]) {
            r->t[i].ns = measure_spread(ns[at[i]], r->rounds);
            r->t[i].ratio = measure_ratio(ns[at[i]], ns[0], r->rounds);
            r->t[i].gain = measure_ratio(ns[at[i]], ns[at[0]], r->rounds).median;
        }
}

int
race_winner(const Race *r)
{
    int best = 0;
    double least = enough;
    for (int i = 1; i < r->n; i++)
        if (!r->t[i].refused && r->t[i].gain > 0 && r->t[i].gain < least) {
            best = i;
            least = r->t[i].gain;
        }
    return best;
}
