/* plan_model.h: from two layouts to the loop nests that convert one into the other.
 *
 * The planner cuts each logical dim at the digit boundaries of both layouts.  Full blocks
 * and remainders become disjoint boxes, so loops need no guards.  Inside a box both
 * addresses are  base + sum of stride * loop,  plus a residual for xors that are not linear.
 * The method is that of oneDNN's reorder nodes (src/cpu/x64/jit_uni_reorder_utils.cpp),
 * on digits instead of dims, with FFTW's (n, is, os) loops and its fusion of adjacent
 * loops (kernel/tensor7.c). */
#ifndef RAVEL_PLAN_MODEL_H
#define RAVEL_PLAN_MODEL_H

#include "../layout/layout.h"

enum { MAX_LOOPS = 32 };
enum { SRC, DST };
/* A part of the range of one dim.  A nest covers the product of one piece for each dim. */
typedef struct Piece Piece;

typedef struct {
    const char *name;
    int var;
    signed char dim, part;         /* the loop is piece[dim]->loop[part]; if fused, its inner loop */
    bool residual;        /* the variable also occurs in the residual of an address */
    i64 n, ss, ds;        /* iterations; strides in source and destination, in elements.
                           * Where `ex` is not constant: estimates, to choose by only */
    i64 most;             /* n is at most this for every shape */
    i64 fewest;           /* the nest runs only where n is at least this; 0: no such test */
    struct { const Ex *n, *ss, *ds; } ex;
} Loop;

typedef enum { NEST_COPY, NEST_FILL } NestKind;

struct Kernel;
typedef struct Family Family;

/* The roles of the loops that a kernel runs itself: groups of planes that are adjacent
 * in the destination (GROUP), planes, rows of a plane, columns of a row. */
enum { GROUP, BATCH, ROW, COL, ROLES };

/* An outer loop: a loop around the call of the kernel, over loop[loop].  `step` is its
 * tile: the iterations that one call covers.  It is 1 unless the kernel runs that loop
 * too. */
typedef struct {
    int loop, step;
} OuterLoop;
enum { MAX_OUTER = MAX_LOOPS + ROLES };

typedef struct {
    NestKind kind;
    Exprs *e;             /* of its expressions */
    int inner;            /* the number of loops that the kernel runs itself */
    int table;            /* the number of these, from the first on, in nest_table */
    i64 least[ROLES];     /* the fewest iterations that a call may take; 0: any number */
    const Ex *src, *dst;  /* addresses without the strides of the loops, in elements */
    /* The place of each lookup of source and destination, over the variables of the loops
     * and of the lookups before it, and NULL after the last.  Its loops are in the residual. */
    const Ex *const *at[2];
    const int *number[2];          /* the variables of these lookups */
    const struct Kernel *kernel;
    i64 elements;
    const Piece *const *piece;  /* the box: the product of piece[d], one for each of its dims */

    /* The schedule: plan_order.c */
    int role[ROLES];      /* the loop that has each role in the kernel; -1: none */
    int nouter;
    OuterLoop outer[MAX_OUTER];    /* outermost first: each loop that the kernel does not
                           * run, once; each other loop of which a call takes a part */
    int split;            /* the outer loop that threads share; -1: one thread runs all */
    struct { const Ex *ex; i64 n; } pad;      /* elements of fill that the kernel writes after
                           * each row of its columns (plan_merge.c); n is an estimate if ex is
                           * not constant, and 0 if there are none */
    int padding;          /* the nest of the plan whose box these elements are */
    int stream;           /* 0: plain stores; 1: past the caches; 2: so through a buffer */
    bool merged;          /* another nest does its work */
    bool spare;           /* only tuning may choose it, not the model */
    bool picked;          /* plan_pick has chosen it */
    bool permutes;        /* as in PlanMachine */
    bool near;            /* the nest runs only where the offsets of its table fit 32 bits */
    bool far;             /* it runs only where offsets of another nest's table do not fit */
    bool variant;         /* it is the nest for narrow counts */
    i64 ahead;            /* bytes from a read to its prefetch; 0: no prefetch */
    const char *order;    /* the name of this schedule */
    struct NestMade *made;         /* what kernels made of it already; NULL: nothing is kept */
    double cost;          /* nanoseconds, by the model */

    /* With run-time extents: the nest runs only if all of these are above 0. */
    const Ex **needed;
    int nneeded, nnarrow;          /* the last nnarrow of them test how long a loop is */
    i64 below;            /* it runs only where the destination has fewer bytes; 0: any number */
    i64 narrow;           /* the largest narrow count: one nest runs if a loop has at most
                           * so many iterations, another if it has more; 0: no such test */

    int nloops;
    Loop loop[MAX_LOOPS]; /* outermost first; the kernel's are the last.  A nest of a plan has
                           * memory for its own loops only: copy it with nest_copy. */
} Nest;

/* plan_list.c */
void nest_copy(Nest *to, const Nest *from);
Nest *nest_keep(Arena *a, const Nest *n);

/* plan_cost.c: a processor of cost.def: how long things take. */
typedef struct Processor Processor;
/* The processor for which kernels and orders are chosen.  Its instructions are given apart
 * from its costs: a processor that is not in cost.def has the costs of another. */
typedef struct {
    const Processor *costs;        /* NULL: the default */
    bool permutes;        /* it permutes the bytes of two registers of 64 (AVX-512 VBMI) */
} PlanMachine;
PlanMachine machine_named(const char *name);     /* costs NULL: there is none */
const char *machine_names(void);                 /* each after a blank */
/* The name of the costs, and of the instructions if they are not those of that processor. */
const char *machine_name(PlanMachine m);

/* An extent of the shape that a run is given. */
typedef struct {
    int scalar;           /* its scalar; -1: it is the number n */
    i64 n;
    int joined;           /* the dim of src whose coordinates count it: its own, or another one,
                           * whose extent is then the product; the extent of its own is 1 */
} PlanExtent;

/* Where a coordinate of the destination is in those of a box: x[dim] / each, of which the rest by
 * `below` unless that is 0. */
typedef struct {
    int dim;
    i64 each, below;
} BoxPart;
/* The dims of boxes: those of dst, of which some may be joined to one (plan_join.c). */
typedef struct {
    int rank;
    const Sizes *from, *to;        /* of src and dst over these dims */
    int map[MAX_RANK];    /* dim of a box -> dim of `from` */
    BoxPart part[MAX_RANK];        /* of each dim of dst */
} BoxDims;

/* An index array that a run takes.  Arrays are in the order of the lookups of src, then of
 * dst. */
typedef struct {
    const char *name;
    int bits;             /* of a number: 32, 64 */
    i64 least;            /* least <= number < bound; least is 0 or -1 */
    const Ex *bound;      /* over scalars */
    const Ex *n;          /* its length, over scalars */
    const Lookup *of;     /* the first lookup that reads it */
    const Ex *const *extent;       /* its shape, over scalars */
} PlanArray;
enum { PLAN_ARRAYS = 2 * MAX_LOOKUPS };
/* What must hold where a run is given the extent of a tensor: least <= value <= most. */
typedef struct {
    const Ex *value;
    i64 least, most;
    const char *array;    /* value: the coordinates less the numbers of this index array; NULL: ... */
    int extent;           /* ... the index selects elements of this scalar's, ... */
    const Ex *n;          /* ... so many, if need.by > 0 */
    Need need;
} PlanTest;

typedef struct {
    Layout *src, *dst;
    PlanMachine machine;
    const Sizes *from, *to;        /* of src and dst */
    int map[MAX_RANK];    /* dim of dst -> dim of src */
    PlanExtent given[MAX_RANK];    /* for each dim of src */
    BoxDims box;
    Exprs *e;
    Scalars *scalars;     /* values that depend on extents left to run time */
    const char *const *name;       /* the user's names for those extents */
    Nest **nest;          /* none after plan_begin and plan_scratch */
    int n, room;          /* the number of nests; the capacity of the array */
    const PlanArray *array;
    const PlanTest *test;
    int narrays, ntests;
    bool split;           /* the destination is large enough for threads */
    bool at_shape;        /* plan_at_shape made it: one of many shapes of a plan */
} Plan;

/* plan_names.c */
/* Matches the dims of dst with those of src: by name if both have the same names, else
 * by position.  diag_fatal if neither is possible. */
void plan_match(Arena *a, const LayoutRef *src, const LayoutRef *dst, int rank,
                int *map);
/* If dims that have the same names are in other places: "dims by name: (A,B) to (B,A)"; NULL: they
 * are not. */
const char *plan_moved(Arena *a, const Plan *p);
/* If dims are joined: "joined: H and W are one dim, HW"; NULL: none are.  Layouts that are
 * joined before they are made have it in their expressions by the name of one of the dims, which the
 * text says. */
const char *plan_joins(Arena *a, const Plan *p);

/* plan.c */
/* A plan without nests.  Requires a verdict on both layouts.  extent[d] is the scalar of the
 * extent of dim d of src, as for layout_sizes; -1: the extent is a number.  given[] is for each of
 * these dims what a run is given.  name[] names those scalars. */
Plan *plan_begin(Scalars *s, PlanMachine machine, const char *const *name, Layout *src,
                 Layout *dst, const int *map, const int *extent, const PlanExtent *given);
/* Makes its nests. */
void plan_nests(Plan *p);
/* Call f(arg), then forget the nests, scalars and expressions that it made, with all other memory
 * that it allocated in the arena (arena_scratch). */
void plan_scratch(Plan *p, void (*f)(void *), void *arg);

/* plan_list.c */
/* Of a nest of the plan. */
int plan_index(const Plan *p, const Nest *n);
/* True if no extent is left to run time. */
bool plan_is_fixed(const Plan *p);
/* True if the destination has at least that many bytes, or may have at run time. */
bool plan_may_have(const Plan *p, i64 bytes);
/* The same at shapes at which the nest runs. */
bool nest_may_have(const Plan *p, const Nest *n, i64 bytes);

/* plan_lookup.c */
/* Finds them.  diag_fatal if one name has two shapes or two types. */
void plan_set_arrays(Plan *p);
/* Returns their number. */
int plan_arrays(const Plan *p, PlanArray out[PLAN_ARRAYS]);
/* Whether an address of the nest has a lookup. */
bool nest_looks_up(const Nest *n);
/* The lookups of a side whose index array the kernel itself reads, one number for each of its
 * rows.  Returns the first (which: 0) or the second (1); -1: there is none. */
enum { ROW_LOOKUPS = 2 };
int nest_lookup_by_rows(const Nest *n, int side, int which);
/* Sets to[] to `zero` for the loops of these rows that one call of the kernel does as a whole. */
void nest_begin_numbers(const Nest *n, const Ex **to, const Ex *zero);
/* The address increases by this many elements if the number of the lookup increases by 1, apart
 * from what quotients of the number add (places.h). */
const Ex *nest_lookup_step(const Nest *n, int side, int which);
/* The terms of an address that contain the number of a lookup; NULL: the address is not linear
 * in it. */
const Ex *nest_lookup_terms(const Nest *n, int side, int lookup);
/* Whether an atom is the number times what is the same in all iterations. */
bool nest_is_multiple(const Nest *n, const Atom *a, int number);
/* The number of the array that a lookup reads. */
int plan_array_of(const PlanArray *array, const Lookup *u);
bool plan_looks_up(const Plan *p);
/* Whether a run needs more than the buffers: extents or index arrays. */
bool plan_has_arguments(const Plan *p);

/* plan_cost.c: true if all extents are numbers and the calls of kernels are so few and long, by
 * the model, that the interpreter takes at most a hundredth longer than machine code. */
bool plan_is_coarse(const Plan *p);

/* plan_nest.c */
/* True if out == way * n * in for every shape: a loop of stride `out` continues the inner loop of
 * stride `in` and n iterations, in its direction (1) or the opposite one (-1), so that both can be
 * one loop. */
bool stride_goes_on(Scalars *s, const Ex *in, const Ex *n, const Ex *out, int way);

/* plan_check.c: verifies that the boxes are disjoint and cover all coordinates that must
 * be written.  A box is a product of pieces of dims; a piece depends on one extent.  The
 * check gives an extent left to run time the values at and beside each boundary of its
 * digits or, with `residues`, all residues of its blocks over three blocks.  That is
 * enough because bounds are linear in the number of blocks. */
typedef struct {
    const char *flaw;     /* the first flaw, a sentence; NULL: none */
    int shapes;           /* the number of shapes checked */
    bool all;             /* with `residues`: no residue was left out */
} PlanCheck;
/* The flaw and all temporary data are allocated in a. */
PlanCheck plan_check(Arena *a, const Plan *p, bool residues);

/* plan_check_nest.c: verifies the nests of a plan without run-time extents.  The loops of
 * a nest must cover its box, and its addresses must agree with the layouts at the corners
 * of the box; other coordinates are not checked.  Returns the first flaw, or NULL. */
const char *nests_flaw(Arena *a, const Plan *p);

/* plan_print.c */
/* The coordinates of the box of a nest as readable text: N=0..1 C=16..19 */
const char *plan_box(Arena *a, const Plan *p, const Nest *n);
void plan_print(Buf *b, const Plan *p);

/* plan_table.c: a table has two offsets in bytes for each entry, one in the destination
 * and one in the source.  The offsets include the base and the residual of the addresses. */
bool nest_has_table(const Nest *n);
i64 nest_entries(const Nest *n);
/* The words of the table, two for each entry, or those of the kernel's program; sets
 * *words to their number. */
const int32_t *nest_table(Arena *a, const Plan *p, const Nest *n, i64 *words);
/* A table that depends on the shape is a sum of tables, each of which is a part of those
 * words: the first, and after it one for each scalar, times this scalar.  Returns the number
 * of scalars. */
enum { TABLE_SCALARS = 3 };
int nest_scalars(const Plan *p, const Nest *n, const Ex *out[TABLE_SCALARS]);
/* The first nest with the same table as this nest; it may be the nest itself.  Many nests
 * share a table because they differ only in their start addresses. */
int plan_table_of(const Plan *p, int nest);
/* The part of an address that neither the strides of loops nor a table contain. */
const Ex *nest_outside(const Plan *p, const Nest *n, bool source);

/* Threads share the work if the destination has at least this many bytes. */
enum { SPLIT_BYTES = 1 << 20 };
/* plan_order.c: into how many parts one thread divides the work, one after the other: where several
 * nests read or write the same lines a cache then holds them for the next nest.  1: it does not. */
i64 plan_turns(const Plan *p);

/* plan_outer.c */
/* The iterations of the kernel's loop with that role that one call takes; the last call
 * may take fewer.  1 if there is no such loop. */
i64 nest_tile(const Nest *n, int role);
/* The index in outer[] of the outer loop over loop[loop]; -1: none. */
int nest_outer(const Nest *n, int loop);

/* plan_choice.c */
enum { MAX_CHOICES = 24 };
/* All schedules of a nest, over kernels and orders: first the nest as it is, then the
 * others, the quickest by the model first.  Returns their number; out has room for
 * MAX_CHOICES. */
int nest_choices(const Plan *p, const Nest *n, Nest *out);
/* The same by the cost at a shape: val[] has all scalars, and `at` is p in numbers. */
int nest_choices_at(const Plan *p, const Nest *n, const Plan *at, const i64 *val,
                    Nest *out);
/* A schedule, identified by the names of its kernel and its order. */
typedef struct {
    int nest;             /* index of the nest in the plan */
    const char *kernel, *order;
} Pick;
/* Gives the nest that schedule.  False, and nothing changes, if there is none. */
bool plan_pick(Plan *p, const Pick *pick);
/* The nests with at least an eighth of the elements, at most MAX_WEIGHTY, the largest
 * first.  The result is empty only if the plan has no nest.  Returns their number.
 * The elements are those at the scalars val[]; NULL: the nominal ones. */
enum { MAX_WEIGHTY = 4 };
int plan_weighty(const Plan *p, const i64 *val, int nest[MAX_WEIGHTY]);

#endif
