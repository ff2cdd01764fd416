/* plan.h: from two layouts to the loop nests that convert one into the other.
 *
 * The logical dims are cut into digits fine enough for both layouts; full parts and
 * tails become disjoint boxes, so no loop carries a guard; inside a box both
 * addresses are  base + sum of stride * loop  (+ a rest that xors leave).  The
 * method: oneDNN's reorder nodes (src/cpu/x64/jit_uni_reorder_utils.cpp) over digits
 * instead of dims, with FFTW's (n, is, os) loops and its fusing of adjacent ones
 * (kernel/tensor7.c). */
#ifndef RAVEL_PLAN_H
#define RAVEL_PLAN_H

#include "../layout/layout.h"

enum { MAX_LOOPS = 32 };
enum { SRC, DST };
/* Of one dim's range; a nest covers a product of them. */
typedef struct Piece Piece;

typedef struct {
    const char *name;
    int var;
    i64 n, ss, ds;        /* iterations; elements the source, the destination moves on by:
                           * nominal where `ex` is no number, for choosing only */
    i64 most;             /* n is no more than this for any shape */
    bool rest;            /* also occurs in the rest of an address */
    int dim, part;        /* piece[dim]->loop[part]; of fused loops, the inner one */
    struct { const Ex *n, *ss, *ds; } ex;
} Loop;

typedef enum { NEST_COPY, NEST_FILL } NestKind;

struct Kernel;
typedef struct Family Family;

/* The loops that a kernel runs itself: a group of planes that are adjacent in the
 * destination (GROUP), planes, rows of a plane, columns of a row. */
enum { GROUP, BATCH, ROW, COL, ROLES };

/* An outer loop: a loop around the kernel's call, over loop[loop].  `step` is its tile:
 * the iterations that one call covers, 1 unless the kernel runs that loop too. */
typedef struct {
    int loop;
    i64 step;
} OuterLoop;
enum { MAX_OUTER = MAX_LOOPS + ROLES };

typedef struct {
    NestKind kind;
    int nloops;
    Loop loop[MAX_LOOPS]; /* outermost first; the kernel's are the last */
    int inner;            /* how many loops the kernel runs itself */
    int table;            /* the first so many of them by a table: nest_table */
    i64 least[ROLES];     /* a call takes no fewer iterations; 0: any number */
    const Ex *src, *dst;  /* addresses without the loops' strides, elements */
    const struct Kernel *kernel;
    i64 elements;
    const Piece *const *piece;  /* what it covers: their product, one a dst dim */

    /* When, and how: plan_order.c */
    int role[ROLES];      /* the kernel's loops; -1: there is none */
    int nouter;
    OuterLoop outer[MAX_OUTER];    /* outermost first: each loop but the kernel's, once;
                           * the kernel's where a call takes a part of them */
    int split;            /* the outer loop that threads share, -1: one thread does all */
    i64 pad;              /* elements of fill after each row of the kernel's columns,
                           * written with them: plan_merge.c; that is what ... */
    int padding;          /* ... this nest of the plan covers */
    bool merged;          /* another nest does its work */
    int stream;           /* 0; 1: stores go past the caches; 2: by way of a buffer */
    i64 ahead;            /* bytes from a read to its prefetch; 0: none */
    const char *order;    /* the name of all this */
    bool spare;           /* the model passes it over; tuning may not */
    bool picked;          /* by plan_pick */
    double cost;          /* nanoseconds, by the model */

    /* With run-time extents: the nest runs only if all of these are above 0. */
    int nneeded;
    const Ex **needed;
    int nnarrow;             /* the last of them, which say whether a count is narrow */
    i64 narrow;           /* the largest narrow count: one nest runs if a loop has at most
                           * so many iterations, another if it has more; 0: always */
    bool variant;         /* it is the other one */
} Nest;

typedef struct {
    Layout *src, *dst;
    const Sizes *from, *to;        /* of src and dst */
    int map[MAX_RANK];    /* dim of dst -> dim of src */
    Exprs *e;
    Scalars *scalars;     /* what depends on extents that are left to run time */
    const char *const *name;       /* of those extents, as the user has them */
    Nest *nest;
    int n, room;          /* of nests: how many, and how many there is memory for */
    bool split;           /* large enough for threads */
} Plan;

/* plan.c */
/* dims of dst by name where both have the same names, else by position;
 * diag_fatal where neither makes sense. */
void plan_match(Arena *a, const LayoutRef *src, const LayoutRef *dst, int rank,
                int *map);
/* Requires both layouts decided.  extent[d] of each dim of src, as of layout_sizes, and
 * the scalars of those extents, which have these names; they may be none. */
Plan *plan_make(Scalars *s, const char *const *name, Layout *src, Layout *dst,
                const int *map, const int *extent);
/* Whether all extents are numbers. */
bool plan_is_fixed(const Plan *p);

/* plan_nest.c */
/* x times a variable, term by term. */
const Ex *nest_times(Exprs *e, const Ex *x, const Ex *stride);

/* plan_check.c: whether the boxes can be shown to be disjoint and cover what they must.
 * Boxes are products of pieces of dims, each of which depends on one extent: an extent
 * that is left to run time is given the values that tell, at and beside every border of
 * its digits or, if so said, all residues of its blocks over three of them; bounds are
 * linear in the blocks. */
typedef struct {
    const char *flaw;     /* the first, a sentence; NULL: there is none */
    int shapes;           /* looked at */
    bool all;             /* residues: none was left out */
} PlanCheck;
/* The flaw lives in a, as all it needs meanwhile. */
PlanCheck plan_check(Arena *a, const Plan *p, bool residues);

/* plan_check_nest.c: the first flaw of the nests of a plan in numbers, with its box, or
 * NULL: their loops are those of their boxes and their addresses, at the boxes' corners,
 * what the layouts say there.  Between the corners it looks at none. */
const char *nests_flaw(Arena *a, const Plan *p);

/* plan_print.c */
/* The coordinates of a nest, for people: N=0..1 C=16..19 */
const char *plan_box(Arena *a, const Plan *p, const Nest *n);
void plan_print(Buf *b, const Plan *p);
/* What the scalars are, a line each. */
void plan_scalars_print(Buf *b, const Plan *p);
/* Slots and strides of the entries of one of its layouts. */
void plan_sizes_print(Buf *b, const Plan *p, const Sizes *z);

/* plan_table.c: offsets in bytes, the destination's and the source's of each entry, base
 * and rest of the addresses in them. */
bool nest_has_table(const Nest *n);
i64 nest_entries(const Nest *n);
/* The words, two an entry, or those of the kernel's program; their number. */
const int32_t *nest_table(Arena *a, const Plan *p, const Nest *n, i64 *words);
/* The first nest with the table of this one, which may be itself: many differ in where
 * they start alone. */
int plan_table_of(const Plan *p, int nest);
/* What an address has besides the strides of loops and what a table holds. */
const Ex *nest_outside(const Plan *p, const Nest *n, bool source);

/* Destinations with so many bytes or more are shared by threads. */
enum { SPLIT_BYTES = 1 << 20 };

/* plan_outer.c */
/* Iterations of the kernel's loop of that role that one call takes; the last call may
 * take fewer.  1 where there is no loop. */
i64 nest_tile(const Nest *n, int role);
/* The number of the outer loop over it, -1: none. */
int nest_outer(const Nest *n, int loop);

/* plan_choice.c */
enum { MAX_CHOICES = 24 };
/* The ways to do a nest, all kernels' and orders': first as it is, the others from the
 * quickest by the model on.  The number; out has room for MAX_CHOICES. */
int nest_choices(const Plan *p, const Nest *n, Nest *out);
/* The same by the cost at a shape, where all scalars are val and `at` is p in numbers. */
int nest_choices_at(const Plan *p, const Nest *n, const Plan *at, const i64 *val,
                    Nest *out);
/* A choice by its names. */
typedef struct {
    int nest;             /* of the plan's; from 0 on */
    const char *kernel, *order;
} Pick;
/* False, and nothing is changed, where the plan has no such choice. */
bool plan_pick(Plan *p, const Pick *pick);
/* The nests with an eighth of the elements or more, at most MAX_WEIGHTY, the largest
 * first; one at least, of a plan that has any.  The number.  The elements are those where
 * all scalars are val; NULL: those that the planner counts with. */
enum { MAX_WEIGHTY = 4 };
int plan_weighty(const Plan *p, const i64 *val, int nest[MAX_WEIGHTY]);

/* kernel.c */
typedef struct Kernel {
    const char *name;     /* transpose4 */
    const char *symbol;   /* ravel_transpose4 */
    int size;             /* bytes of an element; 0: any that the family is for */
    const Family *family;
} Kernel;
extern const Kernel kernels[];
extern const int nkernels;
/* Its arguments, a letter each: kernel_arg; a line for people. */
const char *kernel_letters(const Kernel *k);
const char *kernel_what(const Kernel *k);
/* What a letter stands for. */
typedef enum { IN_NOTHING, IN_BYTES, IN_ELEMENTS } ArgUnit;
typedef struct {
    char letter;
    enum { ARG_DST, ARG_SRC, ARG_DST_START, ARG_SRC_START, ARG_COUNT, ARG_DST_STEP,
           ARG_SRC_STEP, ARG_RUN, ARG_WIDTH, ARG_TABLE, ARG_ENTRIES, ARG_FILL, ARG_SIZE,
           ARG_STREAM, ARG_AHEAD } what;
    int role;             /* of counts and steps */
    ArgUnit unit;
    const char *type;     /* in C */
} KernelArg;
const KernelArg *kernel_arg(char letter);
/* plan_call.c: an argument of a nest's kernel. */
typedef struct {
    enum {
        CALL_NUMBER,      /* `number` */
        CALL_STREAM,      /* `number` where stores go past the caches, else 0 */
        CALL_STEP,        /* the stride of the loop of `role`, in `unit` */
        CALL_PATTERN,     /* the fill */
        CALL_TABLE,       /* nest_table; from here on what changes with the call */
        CALL_BUFFER,      /* the buffer's start ... */
        CALL_PLACE,       /* ... and the address in it where the call starts, in bytes */
        CALL_START,       /* that address alone, in elements */
        CALL_COUNT        /* what the call takes of the loop of `role` and `number` more,
                           * in `unit` */
    } is;
    bool source;          /* else the destination's */
    int role;
    ArgUnit unit;
    i64 number;
} CallArg;
CallArg call_arg(const Plan *p, const Nest *n, char letter);
/* Elements in bytes, unless the unit is another. */
i64 call_unit(const Plan *p, i64 elements, ArgUnit unit);
/* The part, modulo their number, that does a nest that is not split: those that share
 * bytes are all one's. */
i64 nest_owner(const Plan *p, const Nest *n);

/* A plan at a shape: what it asks of one, its numbers there, the shapes that tell whether
 * it is right. */

/* plan_shapes.c */
/* Values of each run-time extent: every boundary value of its digits and the neighbours,
 * and if so said every residue with up to three of its blocks, at most 1024 each. */
typedef struct {
    const i64 *value[MAX_RANK];
    int n[MAX_RANK];
    i64 base[2][MAX_RANK];         /* for the others meanwhile: on a border, beside it */
    bool all;                      /* residues: none was left out */
} ExtentValues;
ExtentValues plan_extent_values(Arena *a, const Plan *p, bool residues);
/* Shapes of the dims of src at all borders, one extent at a time: what code must be run
 * on.  In a. */
typedef struct {
    i64 (*shape)[MAX_RANK];
    int n;
} ShapeList;
ShapeList plan_borders(Arena *a, const Plan *p);

/* plan_needs.c: expressions over scalars, made with the plan. */
/* Bytes of the storage of one of its layouts. */
const Ex *plan_bytes(const Plan *p, const Sizes *z);
/* Whether stores go past the caches at this shape: 0 or 1. */
const Ex *plan_streams(const Plan *p);
/* The counts that a nest needs above 0, and that can be 0 where there is anything to
 * convert; their number, at most MAX_NEEDS. */
enum { MAX_NEEDS = 2 * MAX_LOOPS + MAX_RANK + 4 };
int nest_needs(const Plan *p, const Nest *n, const Ex **needs);
/* The outer loop inside the one that threads share which they do instead where that has
 * fewer steps than there are threads, as a batch of 1 has; -1: none. */
int nest_second(const Plan *p, const Nest *n);

/* plan_at.c */
/* The extents of src's dims as those of the scalars: NULL, or a sentence why the shape
 * is none of the plan's. */
const char *plan_extents(Arena *a, const Plan *p, const i64 *shape, i64 *extent);
/* Values of all scalars, by their variables; NULL where one does not fit 64 bits.  Like
 * plan_extents it leaves p alone. */
i64 *plan_values(Arena *a, const Plan *p, const i64 *extent);
/* The elements that the nest writes where all scalars are val; 0: it does not run. */
i64 nest_elements_at(const Nest *n, const i64 *val);
/* Bytes of both buffers; false where they do not fit 64 bits. */
bool plan_bytes_at(const Plan *p, const i64 *val, i64 *src, i64 *dst);
/* The plan at a shape, all in numbers, in p's Exprs; src and dst decided, for that shape.
 * What it does there is what the code does. */
Plan *plan_at_shape(const Plan *p, Layout *src, Layout *dst, const i64 *extent);

#endif
