/* proof.h: a relayout's code run on buffers whose contents are known slot by slot. */
#ifndef RAVEL_PROOF_H
#define RAVEL_PROOF_H

#include "library.h"

typedef struct Proof Proof;

/* What is proved. */
typedef struct {
    void (*run)(const void *self, void *dst, const void *src);
    /* One part of the work; NULL: it has none. */
    void (*part)(const void *self, void *dst, const void *src, i64 part, i64 parts);
    const void *self;
    /* Its buffers begin at multiples of so many bytes, a power of two up to
     * PROOF_ALIGN_MAX; 0, as 1: anywhere. */
    int align;
} Code;
enum { PROOF_ALIGN_MAX = 4096 };

/* The buffers, and what the layouts of p say of every slot.  With guard pages, code
 * that leaves its buffers or writes to its source faults, else it is only told that
 * it wrote.  p must outlive the proof. */
ravel_status proof_new(const Plan *p, bool pages, Proof **out, ravel_error *err);
void proof_free(Proof *q);
/* The limit allows to evaluate the layouts of p as written at every coordinate, each of
 * which has WORK_FREE units for nothing. */
ravel_status proof_affords(const Plan *p, ravel_error *err);
/* What a proof allocates; INF: more than fits. */
i64 proof_bytes(const Plan *p);
/* Slots that all the runs of a proof move, roughly; INF: more than fit. */
i64 proof_slots(const Plan *p);
/* RAVEL_ERR_VERIFY and a sentence when the code does not do what the layouts say, all
 * of it at once or part by part.  Fills in what of *out is about runs and slots. */
ravel_status proof_run(Proof *q, const Code *code, ravel_certificate *out,
                       ravel_error *err);

/* verify.c: plan_check, with a sentence as an error.  Its work counts towards *work;
 * NULL: it has the plan's limit to itself. */
ravel_status verify_boxes(const Plan *p, Budget *work, ravel_error *err);
/* verify_shapes.c: *work, which so many shapes share, allows a proof of p as well. */
ravel_status verify_affords(const Plan *p, int shapes, Budget *work, ravel_error *err);
/* plan_check, then proof_run of the plan's own code. */
ravel_status verify_plan(const ravel_plan *p, Proof *q, ravel_certificate *out,
                         ravel_error *err);

/* The buffer that an address lies in or beside, for code that faults; or where the
 * buffers began, for code that wants them elsewhere. */
typedef struct {
    bool known, source;
    i64 byte, bytes;      /* from the buffer's start; the buffer's size */
    bool unaligned;       /* the fault was an address that is not aligned */
    int dst_past, src_past;   /* bytes of the buffers' starts beyond a multiple of 64 */
} ProofPlace;
ProofPlace proof_locate(const Proof *q, const void *at, bool unaligned);
/* The sentence about it. */
void proof_place_text(const ProofPlace *at, char *text, size_t n);

#endif
