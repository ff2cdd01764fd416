/* sparse_steps.h: the steps of sparse conversions: their addresses, and an interpreter of
 * the statements that call them. */
#ifndef RAVEL_SPARSE_STEPS_H
#define RAVEL_SPARSE_STEPS_H

#include "../compiler/compile.h"
#include "jit.h"
#include "library.h"
#include "ravel_sparse.h"

/* What is in front of the work memory, at a multiple of 64 bytes: the threads that share a
 * step.  The functions of a conversion get the address after it. */
typedef struct {
    _Alignas(64) Threads threads;
    size_t bytes;                  /* of the work memory */
} SparseWork;

/* sparse_run.c: the bytes of work memory of a conversion of these arrays; 0: they are not valid. */
int64_t sparse_work_bytes(const ravel_sparse_plan *p, const void *const *in, const int64_t *n);

/* ... the values that the source has, by the sizes of its other arrays; -1: these are not valid. */
int64_t sparse_values(const ravel_sparse_plan *p, const int64_t *n);
/* It has indices. */
bool sparse_is_index(const ravel_sparse_array *a);
/* The bytes of n elements of an array. */
int64_t sparse_array_bytes(const ravel_sparse_array *a, int64_t n);

/* The steps by symbol, for the JIT; ends with a null name. */
extern const JitSymbol sparse_symbols[];

/* The functions of a conversion have one signature, in C and here. */
typedef int SparseFunction(void *work, const void *const *in, const int64_t *n,
                           void *const *out, int64_t *m);

/* A number of elements that the sizes n of the source's arrays give. */
int64_t sparse_number(const SparsePlan *p, const int64_t *n, const Ex *x);
/* Run the statements of a function of p: p->work, p->sizes or p->fill.  Returns what they
 * return.  Allocates nothing.  Thread-safe. */
int sparse_interpret(const SparsePlan *p, const Stmt *body, void *work,
                     const void *const *in, const int64_t *n, void *const *out, int64_t *m);

#endif
