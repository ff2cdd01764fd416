/* proof_lane.h: what the files of the proof share: lanes, and what they hold. */
#ifndef RAVEL_PROOF_LANE_H
#define RAVEL_PROOF_LANE_H

#include "fence.h"
#include "proof.h"
#include "reference.h"

enum { PROOF_THREADS = 4 };

/* What the buffers hold before a run. */
typedef struct {
    int pass;             /* which part of the numbers */
    unsigned char key;    /* bits of every byte of the source that are the other way */
    unsigned char poison;
    FencePlace dst, src;
    bool beside;          /* other threads run at once */
} Shot;

/* The buffers of one thread, and the run that they are made for. */
typedef struct {
    Fence src, dst;
    Shot shot;
} Lane;

struct Proof {
    const Plan *p;
    SlotKinds kinds;
    i64 slots;            /* of the source */
    int bits, passes, threads, rounds;
    int align;            /* of the code that is proved */
    int nlanes;           /* that are made */
    Lane lane[PROOF_THREADS];
    const Lane *now;      /* the last that was prepared */
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
/* The buffer is `shift` bytes and no more than the alignment wants from its end. */
FencePlace place_at_end(const Proof *q, size_t bytes);
/* Fill the lane's buffers for a run. */
ravel_status lane_prepare(Proof *q, Lane *l, const Shot *s, ravel_error *err);
ravel_status lane_lock(Lane *l, bool locked, ravel_error *err);
/* What slot of the source holds in the lane's run. */
Value lane_stamp(const Proof *q, const Shot *s, i64 slot);
Value lane_poison(const Proof *q, const Shot *s, i64 slot);
/* The lane's buffers after its run, by a walk over all coordinates. */
ravel_status lane_check(const Proof *q, Lane *l, ravel_error *err);
/* The same by another lane that was found right in the same pass. */
ravel_status lane_check_by(const Proof *q, Lane *l, const Lane *right, ravel_error *err);

/* proof_text.c: RAVEL_ERR_VERIFY and the sentence. */
ravel_status wrong_slot(const Proof *q, const Lane *l, i64 slot, ravel_error *err);
ravel_status wrong_source(const Proof *q, const Lane *l, i64 slot, ravel_error *err);
ravel_status wrong_fence(const Lane *l, bool source, i64 byte, ravel_error *err);

/* proof_parts.c: the parts that threads share, in their orders.  Lane 0 holds what is
 * right before, not after. */
ravel_status prove_parts(Proof *q, const Code *code, ravel_error *err);
int parts_runs(void);
int parts_most(void);
/* proof_threads.c: all lanes at once, each with stamps of its own. */
ravel_status prove_round(Proof *q, const Code *code, int round, ravel_error *err);

#endif
