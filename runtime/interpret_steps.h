/* interpret_steps.h: types that interpret*.c share: the precomputed kernel calls of a
 * plan. */
#ifndef RAVEL_INTERPRET_STEPS_H
#define RAVEL_INTERPRET_STEPS_H

#include "interpret.h"

enum { ARGS_MAX = 20, TABLES_BYTES = 256 << 10 };

/* Every kernel takes only pointers and 64-bit integers.  The calling conventions of
 * 64-bit machines pass both in the same way, and a callee ignores surplus arguments.  So
 * every kernel can be called as an AnyKernel. */
typedef uint64_t Word;
typedef void AnyKernel(Word, Word, Word, Word, Word, Word, Word, Word, Word, Word, Word,
                       Word, Word, Word, Word, Word, Word, Word, Word, Word);
_Static_assert(sizeof(void *) == sizeof(Word), "pointers are words");

/* A summand of a residual.  No outer loop occurs in two groups. */
typedef struct {
    const Ex *x;          /* its variables are the numbers of outer loops, then of scalars,
                           * then of lookups */
    const i64 *table;     /* its values, the last outer loop varying fastest; NULL: no table */
    int n;                /* the number of outer loops that occur in it */
    struct { int outer; i64 n; } at[MAX_OUTER];
} Group;

typedef struct {
    i64 base;
    int n;
    Group *group;
} Residual;

/* An outer loop in numbers: n iterations of its loop, `step` of them in one call; ds and ss are
 * the strides of an iteration in elements of the destination and of the source. */
typedef struct {
    i64 n, step, ds, ss;
} Pace;

/* An argument that differs between the calls of a nest. */
typedef struct {
    int at;               /* the position in the argument list */
    CallArg arg;
    int outer;             /* CALL_COUNT: the outer loop of its loop */
    int lookup;            /* CALL_ARRAY */
} Varying;

/* The data of a nest that do not depend on the run-time extents. */
typedef struct {
    const Nest *nest;
    const int32_t *table; /* at a shape: the first of 1 + nscalars parts of `words` words */
    i64 words;
    int nscalars;
    const Ex *scalar[TABLE_SCALARS];
    int nneeds;
    const Ex **needs;     /* the nest is executed only if all are above 0 */
    const Ex *dst, *src;  /* the part of the residuals without outer loops, over scalars */
    const Ex *each[2 * ROW_LOOKUPS];   /* nest_lookup_step of each side; NULL: the kernel reads no
                                    * index array */
} Sketch;

typedef struct {
    AnyKernel *kernel;
    const int32_t *table; /* the sketch's, or its sum at the shape */
    Word arg[ARGS_MAX];
    int nvarying;
    Varying varying[ARGS_MAX];
    Residual dst, src;
    i64 owner;            /* the part that executes a nest that is not split */
    int nouter, split, second;     /* second: as nest_second returns it */
    Pace *outer;
    int nscalars;         /* the number of scalars in the groups of the residuals */
    int *scalar;          /* their variables in the plan ... */
    const i64 *value;     /* ... and their values */
    int nlookups;         /* the variables after the scalars: number `at` of an array */
    struct { const Ex *at; int array, bits; bool skip; } lookup[2 * MAX_LOOKUPS];
    const Sketch *sketch;
} Step;

struct Steps {
    const Plan *plan;
    int n;
    int width;            /* the largest number of variables of a step */
    Step *step;
    const Ex *streams;    /* if above 0, stores may be non-temporal */
    void (*fence)(void);  /* NULL: there are no non-temporal stores */
};

/* Extents and strides of the loops of a nest, by the number of the loop. */
typedef struct {
    i64 n[MAX_LOOPS], ds[MAX_LOOPS], ss[MAX_LOOPS];
    i64 each[2 * ROW_LOOKUPS];         /* of Sketch */
    i64 pad;              /* elements of padding after a row */
    Word fill;            /* its bits */
    bool stream;          /* stores are non-temporal where that is allowed */
} Numbers;

/* interpret_call.c: fill in the outer loops and arguments of s; its kernel is set. */
void interpret_calls(Arena *a, const Plan *p, const Nest *n, const Numbers *m, Step *s);

#endif
