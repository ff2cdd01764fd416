/* Runs of the code by several threads at once, each with its own buffers. */
#include "proof_lane.h"

#include <pthread.h>

#include "threads.h"

/* The key of a thread's source: of every slot the same, so that it is known wherever the
 * slot goes; of 1 bit there are two. */
static unsigned char
key_of_thread(const Proof *q, int t)
{
    static const unsigned char key[PROOF_THREADS] = {0, 0xff, 0x55, 0xaa};
    return q->bits > 1 ? key[t] : key[t % 2];
}

/* The threads of all rounds, one for each lane.  In a round each runs the code once. */
typedef struct {
    const Proof *q;
    const Code *code;
    pthread_mutex_t lock;
    pthread_cond_t change;
    int round, running;            /* of round number `round` so many threads still run */
    bool ended;
    pthread_barrier_t start;       /* of a round: all run at once */
} Team;

typedef struct {
    pthread_t thread;
    Team *team;
    const Lane *lane;
} Runner;

/* Wait for the round after `last`; false: there is none. */
static bool
next_round(Team *t, int last)
{
    pthread_mutex_lock(&t->lock);
    while (t->round == last && !t->ended)
        pthread_cond_wait(&t->change, &t->lock);
    bool ended = t->ended;
    pthread_mutex_unlock(&t->lock);
    return !ended;
}

static void
end_round(Team *t)
{
    pthread_mutex_lock(&t->lock);
    if (--t->running == 0)
        pthread_cond_broadcast(&t->change);
    pthread_mutex_unlock(&t->lock);
}

static void *
runner(void *arg)
{
    Runner *r = arg;
    Team *t = r->team;
    for (int round = 0; next_round(t, round); round++) {
        pthread_barrier_wait(&t->start);
        t->code->run(t->code->self, r->lane->dst.p, r->lane->src.p);
        end_round(t);
    }
    return NULL;
}

/* All threads run the code; returns when all have returned. */
static void
run_all(Team *t)
{
    pthread_mutex_lock(&t->lock);
    t->running = t->q->nlanes;
    t->round++;
    pthread_cond_broadcast(&t->change);
    while (t->running > 0)
        pthread_cond_wait(&t->change, &t->lock);
    pthread_mutex_unlock(&t->lock);
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

static ravel_status
prove_round(Proof *q, Team *t, int round, ravel_error *err)
{
    if (prepare_all(q, round, err))
        return RAVEL_ERR_MEMORY;
    run_all(t);
    ravel_status s = lane_check(q, &q->lane[0], err);
    for (int i = 1; s == RAVEL_OK && i < q->nlanes; i++)
        s = lane_check_by(q, &q->lane[i], &q->lane[0], err);
    return s;
}

static void
end_all(Team *t, Runner *r, int n)
{
    pthread_mutex_lock(&t->lock);
    t->ended = true;
    pthread_cond_broadcast(&t->change);
    pthread_mutex_unlock(&t->lock);
    for (int i = 0; i < n; i++)
        pthread_join(r[i].thread, NULL);
    pthread_barrier_destroy(&t->start);
}

ravel_status
prove_rounds(Proof *q, const Code *code, ravel_error *err)
{
    Runner r[PROOF_THREADS];
    Team t = {.q = q, .code = code, .lock = PTHREAD_MUTEX_INITIALIZER,
              .change = PTHREAD_COND_INITIALIZER};
    int n = 0;
    if (pthread_barrier_init(&t.start, NULL, (unsigned)q->nlanes))
        return error_set(err, RAVEL_ERR_MEMORY, "no memory for threads");
    for (int i = 0; i < q->nlanes; i++)
        r[i] = (Runner){.team = &t, .lane = &q->lane[i]};
    while (n < q->nlanes && thread_start(&r[n].thread, runner, &r[n]))
        n++;
    ravel_status s = n == q->nlanes ? RAVEL_OK
                     : error_set(err, RAVEL_ERR_MEMORY, "no thread can be started");
    for (int i = 0; s == RAVEL_OK && i < q->rounds; i++)
        s = prove_round(q, &t, i, err);
    end_all(&t, r, n);
    return s;
}
