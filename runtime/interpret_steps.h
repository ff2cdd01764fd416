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

/* A number that the shape decides: that of a value of Steps.code. */
typedef int StepValue;
enum { NO_VALUE = -1 };

/* An expression over the numbers of outer loops, then of scalars, then of lookups. */
typedef struct {
    ExCode code;
    int value;            /* which of its values it is */
} Formula;

/* A summand of a residual.  No outer loop occurs in two groups. */
typedef struct { int outer; i64 n; } GroupLoop;
typedef struct {
    Formula x;
    const i64 *table;     /* its values, the last outer loop varying fastest; NULL: no table */
    int n;                /* the number of outer loops that occur in it */
    const GroupLoop *at;
} Group;

/* The part of an address that is not linear in the outer loops. */
typedef struct {
    StepValue base;       /* its part without outer loops and lookups */
    int n;
    const Group *group;
} StepResidual;

/* An outer loop: n iterations of its loop, `step` of them in one call; ds and ss are the strides
 * of an iteration in elements of the destination and of the source. */
typedef struct {
    StepValue n, ds, ss;
    int step;
} Outer;

/* An argument of the calls: a CallArg in numbers. */
typedef struct {
    uint8_t is, unit;
    bool source, pads;
    short outer;          /* CALL_COUNT: the outer loop of its loop; -1: none */
    short lookup;         /* CALL_ARRAY: its lookup */
    StepValue value;      /* what it is or, with an outer loop, the most that it is */
} StepArg;

/* A variable that is number `at` of an index array. */
typedef struct {
    Formula at;
    int array, bits;
    bool skip;
} StepLookup;

/* What is known of the calls of a nest before the shape is. */
typedef struct {
    AnyKernel *kernel;
    const int32_t *table; /* the first of 1 + nparts parts, each of `words` words */
    i64 words;
    int nparts;
    StepValue part[TABLE_SCALARS];
    int nneeds, nargs, nouter, nscalars, nlookups;
    const StepValue *needs; /* the nest is executed only if all are above 0 */
    const StepArg *arg;
    const Outer *outer;
    const StepValue *scalar;  /* of the residuals */
    const StepLookup *lookup;
    StepResidual dst, src;
    StepValue pad;        /* elements of padding after a row; NO_VALUE: none */
    int owner;            /* the part that executes a nest that is not split */
    int split, second;    /* second: as nest_second returns it */
} Sketch;

/* The same at a shape. */
typedef struct {
    i64 n, step, ds, ss;
} Pace;
/* An argument that differs between the calls of a nest. */
typedef struct {
    int at;               /* the position in the argument list */
    const StepArg *arg;
} Varying;
typedef struct {
    const Sketch *sketch;
    const int32_t *table; /* the sketch's, or its sum at the shape */
    i64 dst, src;         /* the bases of the residuals */
    i64 pad;
    const Pace *outer;
    const i64 *scalar;    /* the values of the sketch's */
    int nvarying;
    const Varying *varying;
    Word arg[ARGS_MAX];
} Step;

struct Steps {
    int bits;             /* of an element */
    int arrays;           /* where index arrays begin in the arguments of a run; -1: there are none */
    int extents;
    ExCode code;          /* its inputs are the extents */
    StepValue streams;    /* if above 0, stores may be non-temporal */
    StepValue fill;       /* NO_VALUE: its bits are `pattern` */
    Word pattern;
    void (*fence)(void);  /* NULL: there are no non-temporal stores */
    int width;            /* the largest number of numbers of a step */
    int nsketches, n;
    const Sketch *sketch;
    const Step *step;     /* at a shape; NULL: at none yet */
};

/* The state while steps are made. */
typedef struct {
    Arena *a;             /* of what is kept */
    const Plan *p;
    const KernelSet *set;
    Steps *steps;
    ExCoder *coder;       /* of their code */
    int coded;            /* the scalars of the plan that have a value in it */
    i64 room;             /* bytes left for tables of residuals */
    const int32_t **table;         /* of each nest */
    const Nest *n;        /* the one that is at work */
    Sketch *s, *first;    /* its sketch; the plan's first */
    int *scalar;          /* the variables of the sketch's scalars */
    const bool *outer;    /* which variables are of its outer loops and lookups */
} StepsMaker;
/* interpret_value.c */
StepValue interpret_value(StepsMaker *m, const Ex *x);
/* A copy of n objects that is part of the steps. */
void *interpret_keep(StepsMaker *m, const void *p, i64 n, size_t each);
#define KEEP(m, p, n) interpret_keep((m), (p), (n), sizeof *(p))
/* The lookup of the plan that is number i of the sketch. */
const Lookup *interpret_lookup(const StepsMaker *m, int i);

/* interpret_residual.c: set the scalars, the lookups and the residuals of the sketch.  dst and src are
 * the addresses without the strides of the loops. */
void interpret_residuals(StepsMaker *m, const Ex *dst, const Ex *src);

/* interpret_call.c: set the outer loops and the arguments of the sketch. */
void interpret_calls(StepsMaker *m);

#endif
