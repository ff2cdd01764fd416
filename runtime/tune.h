/* tune.h: the steps of ravel_tune.  Internal to the library. */
#ifndef RAVEL_TUNE_H
#define RAVEL_TUNE_H

#include "measure.h"
#include "proof.h"

enum { TUNE_TRIES = 6, TUNE_ROUNDS = 96 };

/* A candidate: the relayout with one pick of a kernel and loop order for one nest. */
typedef struct {
    ravel_plan *plan;
    Pick pick;            /* for that nest */
    bool model;           /* it is the choice of the cost model */
    bool refused;         /* its proof failed */
    double predicted;     /* nanoseconds of the nest, by the cost model */
    Spread ns, ratio;     /* of the relayout: time, ratio to memcpy in the same round */
    double gain;          /* median of the ratio of its time to that of t[0] */
} Try;

/* Progress callback.  part: the part of the work that is done, from 0 to 1; done: the number
 * of proofs and measurements. */
typedef struct {
    void (*f)(void *arg, double part, double done);    /* NULL: nobody */
    void *arg;
} TuneWatch;

typedef struct {
    Try t[TUNE_TRIES];
    int n;
    TuneWatch watch;
    double done, share;   /* parts of all work: before this race, and of the race */
    double counted;       /* proofs and measurements, of all races */
    const int64_t *shape; /* at which plans with run-time extents run; else NULL */
    char why[1024];       /* the message of the first refused candidate */
    void *dst, *src;
    size_t bytes;         /* size of each buffer */
    double memcpy_ns;
    int rounds;
} Race;

/* tune.c: ravel_tune; with a shape ravel_tune_at. */
ravel_status tune_watched(ravel_context *cx, const ravel_request *rq, const int64_t *shape,
                          double seconds, TuneWatch watch, ravel_tuning *out,
                          ravel_error *err);

/* Prove each candidate; set `refused` for those whose proof fails.  Other failures, such
 * as a lack of memory, are an error. */
ravel_status race_prove(Race *r, Proof *q, ravel_error *err);
/* Time the candidates that are not refused, in rounds, for about `seconds`. */
void race_time(Race *r, double seconds);
/* The fastest candidate if it is at least 3 % faster than the first; else the first. */
int race_winner(const Race *r);

#endif
