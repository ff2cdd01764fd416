/* proof_lane.h: declarations that the files of the proof share.  A lane is the pair of
 * buffers of one thread of a proof. */
#ifndef RAVEL_PROOF_LANE_H
#define RAVEL_PROOF_LANE_H

#include "fence.h"
#include "proof.h"
#include "reference.h"

enum { PROOF_THREADS = 4 };

/* The contents of the buffers before a run. */
typedef struct {
    int pass;             /* which bits of the slot numbers the slots hold */
    unsigned char key;    /* is xored with every byte of the source */
    unsigned char poison;
    FencePlace dst, src;
    bool beside;          /* other threads run at once */
} Shot;

/* The buffers of one thread, and the run for which they are prepared. */
typedef struct {
    Fence src, dst;
    Shot shot;
} Lane;

struct Proof {
    const Plan *p;
    SlotKinds kinds;
    i64 slots;            /* of the source */
    int bits, passes, threads, rounds;
    int align;            /* of the buffers, required by the code; bytes */
    int nlanes;           /* lanes that are allocated */
    Lane lane[PROOF_THREADS];
    const Lane *now;      /* the lane that was prepared last */
    uint32_t *number;     /* by slot of the destination: what prove_passes gathers; or NULL */
    atomic_int *begun;    /* how many runs were prepared; NULL: nobody asks */
};

enum { POISON = 0xa5 };

typedef struct {
    uint64_t low, high;
} Value;

static inline bool
same_value(Value a, Value b)
{
    return a.low == b.low && a.high == b.high;
}

/* proof_lane.c */
/* The place of a buffer of this size that is nearest to the end of its room, with the
 * required alignment. */
FencePlace place_at_end(const Proof *q, size_t bytes);
/* Fill the lane's buffers for a run. */
ravel_status lane_prepare(Proof *q, Lane *l, const Shot *s, ravel_error *err);
ravel_status lane_lock(Lane *l, bool locked, ravel_error *err);
/* Check the lane's buffers after its run, by a walk over all coordinates. */
ravel_status lane_check(const Proof *q, Lane *l, ravel_error *err);
/* All but the elements and the padding. */
ravel_status lane_check_rest(const Proof *q, Lane *l, ravel_error *err);
/* There is no memory for a walk. */
ravel_status no_walk(const Proof *q, ravel_error *err);
/* Check them by comparison with another lane that was found right in the same pass. */
ravel_status lane_check_by(const Proof *q, Lane *l, const Lane *right, ravel_error *err);

/* proof_text.c: return RAVEL_ERR_VERIFY with a message. */
ravel_status wrong_slot(const Proof *q, const Lane *l, i64 slot, ravel_error *err);
ravel_status wrong_source(const Proof *q, const Lane *l, i64 slot, ravel_error *err);
ravel_status wrong_fence(const Lane *l, bool source, i64 byte, ravel_error *err);

/* proof_passes.c: a run a pass on lane 0, compared with the layouts. */
ravel_status prove_passes(Proof *q, const Code *code, ravel_error *err);
/* The number of numbers that prove_passes gathers for a destination of `slots` slots. */
i64 passes_gathered(int bits, int passes, i64 slots);

/* proof_parts.c: prove the parts that threads share, in several orders.  Lane 0 holds the
 * right result before the call, and not after it. */
ravel_status prove_parts(Proof *q, const Code *code, ravel_error *err);
int parts_runs(void);
int parts_most(void);
/* proof_threads.c: prove with all lanes at once, each with different stamps, q->rounds
 * times. */
ravel_status prove_rounds(Proof *q, const Code *code, ravel_error *err);

#endif
