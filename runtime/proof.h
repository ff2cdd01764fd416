/* proof.h: run the code of a relayout on buffers in which the content of every slot is
 * known. */
#ifndef RAVEL_PROOF_H
#define RAVEL_PROOF_H

#include "library.h"

typedef struct Proof Proof;

/* The code to prove. */
typedef struct {
    void (*run)(const void *self, void *dst, const void *src);
    /* Executes one part of the work; NULL: the code has no such function. */
    void (*part)(const void *self, void *dst, const void *src, i64 part, i64 parts);
    const void *self;
    /* The alignment of the buffers in bytes, a power of two up to PROOF_ALIGN_MAX; 0
     * means 1. */
    int align;
} Code;
enum { PROOF_ALIGN_MAX = 4096 };

/* Allocate the buffers, and compute the kind of every slot from the layouts of p.  With
 * guard pages (`pages`), an access out of bounds or a write to the source faults.
 * Without them only writes are detected, after the run.  p must outlive the proof. */
ravel_status proof_new(const Plan *p, bool pages, Proof **out, ravel_error *err);
void proof_free(Proof *q);
/* Check that the limit of work suffices to evaluate the layouts of p, as written, at
 * every coordinate.  WORK_FREE steps for each coordinate are not counted. */
ravel_status proof_affords(const Plan *p, ravel_error *err);
/* The bytes that a proof allocates; INF: the number does not fit 64 bits. */
i64 proof_bytes(const Plan *p);
/* About how many slots all runs of a proof move; INF: the number does not fit 64 bits. */
i64 proof_slots(const Plan *p);
/* The runs of a proof; *begun is raised by one before each of them.  Call it before
 * proof_run. */
int proof_runs(const Plan *p);
void proof_watch(Proof *q, atomic_int *begun);
/* Run the code, as a whole and part by part, and compare the result with the layouts.
 * RAVEL_ERR_VERIFY and a message if it is wrong.  Sets the fields of *out about runs and
 * slots. */
ravel_status proof_run(Proof *q, const Code *code, ravel_certificate *out,
                       ravel_error *err);

/* verify_boxes.c: check that the layouts of a plan in numbers are those of the request. */
ravel_status verify_written(const Plan *p, ravel_error *err);
/* plan_check, with the flaw as an error.  Its work counts towards *work; NULL:
 * the check has the whole limit of the plan. */
ravel_status verify_boxes(const Plan *p, Budget *work, ravel_error *err);
/* verify_shapes.c: check that *work, shared by `shapes` shapes, suffices for a proof of
 * p, and that a part of it is left for decisions about the next shapes. */
ravel_status verify_affords(const Plan *p, int shapes, Budget *work, ravel_error *err);
/* Whether shape i of the list is left out where this is the status: it is for a nest that runs at none
 * of the boundaries, and large. */
bool verify_skips(const ShapeList *list, int i, ravel_status s);
/* verify_plan.c: plan_check, then proof_run of the code of p. */
ravel_status verify_plan(const ravel_plan *p, Proof *q, ravel_certificate *out,
                         ravel_error *err);
/* The same, with a Proof of its own. */
ravel_status verify_code(const ravel_plan *p, ravel_certificate *out, ravel_error *err);
/* Names the kernels in *out. */
void verify_set_kernels(const int *uses, ravel_certificate *out);
/* verify_shapes.c: verify_plan at a shape, for a plan with run-time extents. */
ravel_status verify_plan_at(const ravel_plan *p, const int64_t *shape, Proof *q,
                            ravel_certificate *out, ravel_error *err);

/* A fault of the code.  Either the buffer in or next to which the address lies; or, for
 * an alignment fault, the alignment of the buffers. */
typedef struct {
    bool known, source;
    i64 byte, bytes;      /* from the buffer's start; the buffer's size */
    bool unaligned;       /* it is an alignment fault */
    int dst_past, src_past;   /* bytes of the buffers' starts beyond a multiple of 64 */
} ProofPlace;
ProofPlace proof_locate(const Proof *q, const void *at, bool unaligned);
/* A sentence about the fault. */
void proof_place_text(const ProofPlace *at, char *text, size_t n);

#endif
