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

#include "../layout/layout_sizes.h"

/* A plan is coarsened to about NESTS_MAX nests of copies and as many of padding. */
enum { MAX_LOOPS = 32, MAX_PIECES = 64, NESTS_MAX = 512 };
enum { SRC, DST };
_Static_assert(MAX_PIECES >= 2 * MAX_LOOPS, "a chain of cuts leaves that many pieces");

/* x = start + sum of step * i, first <= i < first + n, i <= most: a piece of one dim's
 * range.  Loops outermost first; one with n = 0 for a shape leaves nothing of the piece
 * there, whatever start and first then are.  Where start, first and n are numbers, first
 * is 0 and n is 2 or more. */
typedef struct {
    i64 step, most;
    const Ex *first, *n;
    int level;
} PieceLoop;

typedef struct {
    const Ex *start;
    bool pad;             /* beyond the dim's extent */
    bool mixed;           /* some of it is, some is not */
    const Ex *from, *to;  /* the range it covers, for people; to: NULL where it has gaps */
    int nloops;
    const PieceLoop *loop;
} Piece;

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

/* The loops that a kernel runs itself: a group of planes that are adjacent in the
 * destination (SIDE), planes, rows of a plane, columns of a row. */
enum { SIDE, BATCH, ROW, COL, ROLES };

/* An outer loop: a loop around the kernel's call, over loop[loop].  `step` is its tile:
 * the iterations that one call covers, 1 unless the kernel runs that loop too. */
typedef struct {
    int loop;
    i64 step;
} Turn;
enum { MAX_TURNS = MAX_LOOPS + ROLES };

typedef struct {
    NestKind kind;
    int nloops;
    Loop loop[MAX_LOOPS]; /* outermost first; the kernel's are the last */
    int inner;            /* how many loops the kernel runs itself */
    int table;            /* the first so many of them by a table: nest_table */
    const Ex *src, *dst;  /* addresses without the loops' strides, elements */
    const struct Kernel *kernel;
    i64 elements;
    const Piece *const *piece;  /* what it covers: their product, one a dst dim */

    /* When, and how: plan_order.c */
    int role[ROLES];      /* the kernel's loops; -1: there is none */
    int nturns;
    Turn turn[MAX_TURNS]; /* outermost first: each loop but the kernel's, once; the
                           * kernel's where a call takes a part of them */
    int split;            /* the turn that threads share, -1: one thread does all */
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
    int nfew;             /* the last of them, which say whether a narrow count is ... */
    i64 few;              /* the largest narrow count: one nest runs if a loop has at most
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
/* Room for one nest more; what pointed to others points elsewhere then. */
Nest *plan_add(Plan *p);
/* Whether all extents are numbers. */
bool plan_is_fixed(const Plan *p);

/* plan_pieces.c */
/* [lo, hi) of a dim cut so that digits at the cuts are full or fixed in every piece; cuts
 * ascending from 1.  lo is 0 or, of padding, the dim's extent; hi is then at most lo
 * rounded up to a multiple of unit (0: of nothing that is known).  The number of pieces,
 * at most MAX_PIECES; -1: there are more. */
int pieces_of(Scalars *s, const i64 *cuts, int ncuts, const Ex *lo, const Ex *hi,
              i64 unit, Piece *out);
/* The digit borders of var in x, merged into cuts; the new count. */
int pieces_cuts(const Ex *x, int var, i64 below, i64 *cuts, int n);
enum { MAX_CUTS = 128 };

/* plan_nest.c */
/* The nest of one box: piece[d] of each dst dim.  A copy takes the last real element
 * of the source for a padded coordinate. */
void nest_make(Plan *p, NestKind kind, const Piece *const *piece, Nest *out);
/* A name for a loop over a dim: "c1" for level 1 of several, "c" for the only one, with
 * more where the nest has that already: dims may be alike but for case. */
const char *nest_loop_name(Arena *a, const Nest *n, const char *dim, int level,
                           bool several);
/* Loops by falling stride; and the kernel. */
void nest_sort(Nest *n);
void nest_finish(const Plan *p, Nest *n);
/* x times a variable, term by term. */
const Ex *nest_times(Exprs *e, const Ex *x, const Ex *stride);

/* plan_comb.c: a piece in normal form, `run` in a row every `period`, `count` times:
 * start + period * j + i,  0 <= i < run, 0 <= j < count;  no coordinate twice. */
typedef struct {
    i64 start, run, period, count;
    i64 last, size;       /* the last coordinate; how many there are, 0: none */
} Comb;
/* Of the piece where scalars have these values; false where it is not of that form, or
 * does not fit 64 bits. */
bool comb_of(const Piece *p, const i64 *val, Comb *c);
/* Whether two share a coordinate; true also where residues do not say. */
bool comb_meets(const Comb *a, const Comb *b);

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

/* plan_check_nest.c: the first flaw of one nest of a plan in numbers, or NULL: its loops
 * are those of its box and its addresses, at the box's corners, what the layouts say
 * there.  Between the corners it looks at none. */
const char *nest_flaw(Arena *a, const Plan *p, const Nest *n);
/* Of all nests, with its box. */
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
i64 nest_entries(const Nest *n);
const int32_t *nest_table(Arena *a, const Plan *p, const Nest *n);
/* The first nest with the table of this one, which may be itself: many differ in where
 * they start alone. */
int plan_table_of(const Plan *p, int nest);
/* Entries of all tables that differ. */
i64 plan_entries(const Plan *p);
/* What an address has besides the strides of loops: what varies with the loops of the
 * table, which is in it, and what does not; without a table all is outside. */
const Ex *nest_inside(const Plan *p, const Nest *n, bool source);
const Ex *nest_outside(const Plan *p, const Nest *n, bool source);

/* plan_few.c: nests again, for shapes at which they have few columns or rows. */
void plan_few(Plan *p);

/* plan_merge.c: padding that follows the rows of a copy is written with them. */
void plan_merge(Plan *p);

/* Destinations in bytes: those that threads share, those from which on stores go past
 * the caches, and those up to which all stays in the caches. */
enum { SPLIT_BYTES = 1 << 20, STREAM_BYTES = 8 << 20, CACHED_BYTES = 4 << 20 };

/* plan_order.c: the turns, the split over threads and the stores of all nests, which
 * have their kernels. */
void plan_order(Plan *p);
/* Whether each step of the turn writes other bytes than the one before: two threads must
 * not write one byte. */
bool nest_turn_apart(const Nest *n, int turn, i64 bits);
/* The nest in the order number k that its kernel knows; false past the last. */
bool plan_candidate(const Plan *p, const Nest *n, int k, Nest *out);

/* plan_turns.c */
/* Iterations of the kernel's loop of that role that one call takes; the last call may
 * take fewer.  1 where there is no loop. */
i64 nest_tile(const Nest *n, int role);
/* The turn of a loop, -1: none. */
int nest_turn(const Nest *n, int loop);

/* plan_choice.c */
enum { MAX_CHOICES = 24 };
/* The ways to do a nest, all kernels' and orders': first as it is, the others from the
 * quickest by the model on.  The number; out has room for MAX_CHOICES. */
int nest_choices(const Plan *p, const Nest *n, Nest *out);
/* A choice by its names. */
typedef struct {
    int nest;             /* of the plan's; from 0 on */
    const char *kernel, *order;
} Pick;
/* False, and nothing is changed, where the plan has no such choice. */
bool plan_pick(Plan *p, const Pick *pick);
/* The nests with an eighth of the elements or more, at most MAX_WEIGHTY, the largest
 * first; one at least, of a plan that has any.  The number. */
enum { MAX_WEIGHTY = 4 };
int plan_weighty(const Plan *p, int nest[MAX_WEIGHTY]);

/* plan_cost.c: nanoseconds of a nest on one thread, by the model of cost.def. */
double nest_cost(const Plan *p, const Nest *n);

/* Bytes that a nest reads, and writes, at a stretch; from one such write to the next; the
 * nanoseconds that its kernel's buffers cost besides. */
typedef struct {
    double read, written;
    i64 apart;
    double more;
} Runs;

/* The kernels of one family do the same for elements of different sizes.  Each family is
 * a record in a file kernel_*.c; functions that it does not have are NULL. */
typedef struct Family {
    NestKind kind;
    enum { OF_ANY, OF_BYTES, OF_BITS } elements; /* whole bytes; smaller than a byte */
    const char *args;     /* a letter each: kernel_args */
    const char *what;     /* a line for people */
    /* Whether it can run this nest of elements of `bits` bits; on true the roles are
     * the loops it takes over, or -1. */
    bool (*applies)(const Nest *n, int bits, int role[ROLES]);
    /* Nanoseconds an element, roughly: the least wins. */
    double (*cost)(const Nest *n, int bits, const int role[ROLES]);
    /* Adds to the nest the turns and stores of its order number k; false past the last. */
    bool (*orders)(const Plan *p, Nest *n, int k);
    /* For the model of the memory; NULL: the cost an element is all there is. */
    Runs (*runs)(const Nest *n, int bits);
    enum { AS_COPIES, AS_TRANSPOSES } speeds;    /* the rows of cost.def */
    bool keeps_up;        /* with the memory and the caches: its cost is that of its runs */
    bool pads;            /* writes Nest.pad, too */
    /* The loops that a table covers, when the kernel runs loop `run` itself; how many
     * entries that makes. */
    i64 (*table)(const Nest *n, int run, bool in[MAX_LOOPS]);
    /* With extents left to run time it takes nests of family `of` where the loop of this
     * role has at most so many iterations of elements of `size` bytes: plan_few.c. */
    struct {
        const struct Family *of;
        int role;
        i64 (*most)(i64 size);
    } few;
} Family;

/* kernel.c */
typedef struct Kernel {
    const char *name;     /* transpose4 */
    const char *symbol;   /* ravel_transpose4 */
    int size;             /* bytes of an element; 0: any that the family is for */
    const Family *family;
} Kernel;
extern const Kernel kernels[];
extern const int nkernels;
/* What the letters of args stand for. */
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
extern const KernelArg kernel_args[];
const KernelArg *kernel_arg(char letter);
/* Give the nest to k and move its loops to the end; false, and nothing done, where k
 * does not apply. */
bool kernel_use(Nest *n, const Kernel *k, int bits);
/* Give it to the cheapest; false, and nothing done, where none can run it. */
bool kernel_pick(Nest *n, int bits);

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
/* Whether the kernel writes to parts of bytes, the rest of which is another's. */
bool nest_shares_bytes(const Plan *p, const Nest *n);
/* The part, modulo their number, that does a nest that is not split: those that share
 * bytes are all one's. */
i64 nest_owner(const Plan *p, const Nest *n);

#endif
