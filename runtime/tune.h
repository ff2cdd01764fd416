/* tune.h: the steps of ravel_tune.  Internal to the library. */
#ifndef RAVEL_TUNE_H
#define RAVEL_TUNE_H

#include "measure.h"
#include "proof.h"

enum { TUNE_TRIES = 6, TUNE_ROUNDS = 96 };

/* One way to do the relayout, among those for one nest. */
typedef struct {
    ravel_plan *plan;
    Pick pick;            /* of that nest */
    bool model;           /* it is what the model chose */
    bool refused;         /* by its proof */
    double predicted;     /* of the nest */
    Spread ns, ratio;     /* of the relayout; to memcpy in the same round */
    double gain;          /* median of its time over the first one's */
} Try;

typedef struct {
    Try t[TUNE_TRIES];
    int n;
    char why[1024];       /* the first one that was refused */
    void *dst, *src;
    size_t bytes;         /* of each */
    double memcpy_ns;
    int rounds;
} Race;

/* Prove each; those that are not what the layouts say are refused.  An error is another
 * reason than that. */
ravel_status race_prove(Race *r, Proof *q, ravel_error *err);
/* Time those that are left, in turns, for so many seconds. */
void race_time(Race *r, double seconds);
/* The first unless another takes 3 % less at least; then the least. */
int race_winner(const Race *r);

#endif
