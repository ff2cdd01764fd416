/* interpret_steps.h: what interpret*.c share: a plan's calls, worked out. */
#ifndef RAVEL_INTERPRET_STEPS_H
#define RAVEL_INTERPRET_STEPS_H

#include "interpret.h"

enum { ARGS_MAX = 14, TABLES_BYTES = 256 << 10 };

/* Every kernel takes pointers and 64-bit integers alone, which the calling conventions of
 * 64-bit machines pass alike, and ignores what it is passed beyond them. */
typedef uint64_t Word;
typedef void AnyKernel(Word, Word, Word, Word, Word, Word, Word, Word, Word, Word, Word,
                       Word, Word, Word);
_Static_assert(sizeof(void *) == sizeof(Word), "pointers are words");

/* A part of a rest that shares no outer loop with the others. */
typedef struct {
    const Ex *x;          /* over variables that are outer loops by number, then scalars */
    const i64 *table;     /* its values, the last loop's next to each other; NULL: none */
    int n;                /* the outer loops in it */
    struct { int outer; i64 n; } at[MAX_OUTER];
} Group;

typedef struct {
    i64 base;
    int n;
    Group *group;
} Rest;

/* An outer loop in numbers: its iterations, how many of them a step takes, elements that
 * an iteration moves on by. */
typedef struct {
    i64 n, step, ds, ss;
} Pace;

/* An argument that is not the same for all calls. */
typedef struct {
    int at;               /* its number */
    CallArg arg;
    int outer;            /* CALL_COUNT: of its loop */
} Varying;

/* What a nest has before there is a shape. */
typedef struct {
    const Nest *nest;
    const int32_t *table;
    int nneeds;
    const Ex **needs;     /* nothing is done unless all are above 0 */
    const Ex *dst, *src;  /* what outer loops leave of the rests, over the plan's scalars */
} Sketch;

typedef struct {
    AnyKernel *kernel;
    Word arg[ARGS_MAX];
    int nvarying;
    Varying varying[ARGS_MAX];
    Rest dst, src;
    i64 owner;            /* of a nest that is not split */
    int nouter, split, second;     /* second: of nest_second */
    Pace *outer;
    int nscalars;         /* that the rests' groups have */
    int *scalar;          /* their variables in the plan, then ... */
    const i64 *value;     /* ... what they are */
    const Sketch *sketch;
} Step;

struct Steps {
    const Plan *plan;
    int n;
    int width;            /* outer loops and scalars of a step, at most */
    Step *step;
    const Ex *streams;    /* above 0: stores may go past the caches */
    void (*fence)(void);  /* NULL: nothing is streamed */
};

/* Loops of a nest, by number, in numbers. */
typedef struct {
    i64 n[MAX_LOOPS], ds[MAX_LOOPS], ss[MAX_LOOPS];
    bool stream;          /* stores that may go past the caches do */
} Numbers;

/* interpret_call.c: the outer loops and arguments of a step, which has its kernel. */
void interpret_calls(Arena *a, const Plan *p, const Nest *n, const Numbers *m, Step *s);

#endif
