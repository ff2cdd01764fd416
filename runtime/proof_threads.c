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

/* The threads of all rounds: the caller, which takes the first lane, and one for each other.
 * Between two rounds all but the caller wait for the start of the next. */
typedef struct {
    const Code *code;
    pthread_mutex_t gate;          /* held until all threads exist, or one does not */
    pthread_barrier_t start, end;  /* of a round: all run at once */
    bool ended;                    /* no round follows */
} Team;

typedef struct {
    pthread_t thread;
    Team *team;
    const Lane *lane;
} Runner;

/* One lane's part of a round; false: there is none. */
static bool
run_round(Team *t, const Lane *l)
{
    pthread_barrier_wait(&t->start);
    if (t->ended)
        return false;
    t->code->run(t->code->self, l->dst.p, l->src.p);
    pthread_barrier_wait(&t->end);
    return true;
}

static void *
runner(void *arg)
{
    Runner *r = arg;
    pthread_mutex_lock(&r->team->gate);
    bool none = r->team->ended;
    pthread_mutex_unlock(&r->team->gate);
    while (!none && run_round(r->team, r->lane))
        ;
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

static ravel_status
prove_round(Proof *q, Team *t, int round, ravel_error *err)
{
    if (prepare_all(q, round, err))
        return RAVEL_ERR_MEMORY;
    run_round(t, &q->lane[0]);
    ravel_status s = lane_check(q, &q->lane[0], err);
    for (int i = 1; s == RAVEL_OK && i < q->nlanes; i++)
        s = lane_check_by(q, &q->lane[i], &q->lane[0], err);
    return s;
}

static ravel_status
prove_by(Proof *q, Team *t, ravel_error *err)
{
    Runner r[PROOF_THREADS];
    ravel_status s = RAVEL_OK;
    int n = 1;
    pthread_mutex_lock(&t->gate);
    for (int i = 1; i < q->nlanes; i++)
        r[i] = (Runner){.team = t, .lane = &q->lane[i]};
    while (n < q->nlanes && thread_start(&r[n].thread, runner, &r[n]))
        n++;
    t->ended = n < q->nlanes;
    pthread_mutex_unlock(&t->gate);
    if (t->ended)
        s = error_set(err, RAVEL_ERR_MEMORY, "no thread can be started: the system has no "
                      "memory for its stack, or allows no more threads (ulimit -u)");
    for (int i = 0; s == RAVEL_OK && i < q->rounds; i++)
        s = prove_round(q, t, i, err);
    if (!t->ended) {
        t->ended = true;
        run_round(t, NULL);
    }
    while (--n > 0)
        pthread_join(r[n].thread, NULL);
    return s;
}

ravel_status
prove_rounds(Proof *q, const Code *code, ravel_error *err)
{
    Team t = {.code = code, .gate = PTHREAD_MUTEX_INITIALIZER};
    ravel_status s = RAVEL_ERR_MEMORY;
    if (pthread_barrier_init(&t.start, NULL, (unsigned)q->nlanes))
        return error_set(err, s, "no memory for threads");
    if (pthread_barrier_init(&t.end, NULL, (unsigned)q->nlanes))
        error_set(err, s, "no memory for threads");
    else {
        s = prove_by(q, &t, err);
        pthread_barrier_destroy(&t.end);
    }
    pthread_barrier_destroy(&t.start);
    return s;
}
