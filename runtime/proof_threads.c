/* Runs of the code by several threads at once, each with its own buffers. */
#include "proof_lane.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "threads.h"

/* The key of a thread's source: of every slot the same, so that it is known wherever the
 * slot goes; of 1 bit there are two. */
static unsigned char
key_of_thread(const Proof *q, int t)
{
    static const unsigned char key[PROOF_THREADS] = {0, 0xff, 0x55, 0xaa};
    return q->bits > 1 ? key[t] : key[t % 2];
}

/* One thread of a round.  It waits for the others, so that all run at once. */
typedef struct {
    pthread_t thread;
    const Lane *lane;
    const Code *code;
    atomic_int *missing;
} Runner;

static void *
runner(void *arg)
{
    Runner *r = arg;
    atomic_fetch_sub(r->missing, 1);
    while (atomic_load(r->missing) > 0)
        sched_yield();
    r->code->run(r->code->self, r->lane->dst.p, r->lane->src.p);
    return NULL;
}

static ravel_status
prepare_all(Proof *q, int round, ravel_error *err)
{
    for (int t = 0; t < q->nlanes; t++) {
        Lane *l = &q->lane[t];
        unsigned char poison = t % 2 ? POISON : (unsigned char)~POISON;
        Shot s = {round % q->passes, key_of_thread(q, t), poison,
                  place_at_end(q, l->dst.n), place_at_end(q, l->src.n), true};
        if (lane_prepare(q, l, &s, err))
            return RAVEL_ERR_MEMORY;
    }
    return RAVEL_OK;
}

/* Returns false if not all threads could be created. */
static bool
run_all(const Proof *q, const Code *code)
{
    Runner r[PROOF_THREADS];
    atomic_int missing = q->nlanes;
    int n = 0;
    for (int t = 0; t < q->nlanes; t++)
        r[t] = (Runner){.lane = &q->lane[t], .code = code, .missing = &missing};
    while (n < q->nlanes && thread_start(&r[n].thread, runner, &r[n]))
        n++;
    if (n < q->nlanes)
        atomic_store(&missing, 0);
    for (int t = 0; t < n; t++)
        pthread_join(r[t].thread, NULL);
    return n == q->nlanes;
}

ravel_status
prove_round(Proof *q, const Code *code, int round, ravel_error *err)
{
    if (prepare_all(q, round, err))
        return RAVEL_ERR_MEMORY;
    if (!run_all(q, code))
        return error_set(err, RAVEL_ERR_MEMORY, "no thread can be started");
    ravel_status s = lane_check(q, &q->lane[0], err);
    for (int t = 1; s == RAVEL_OK && t < q->nlanes; t++)
        s = lane_check_by(q, &q->lane[t], &q->lane[0], err);
    return s;
}
