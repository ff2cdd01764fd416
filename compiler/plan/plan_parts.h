/* plan_parts.h: what the files that make a plan share, and nobody else sees. */
#ifndef RAVEL_PLAN_PARTS_H
#define RAVEL_PLAN_PARTS_H

#include "plan.h"

/* A plan is coarsened to about NESTS_MAX nests of copies and as many of padding. */
enum { MAX_PIECES = 64, NESTS_MAX = 512 };
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

struct Piece {
    const Ex *start;
    bool pad;             /* beyond the dim's extent */
    bool mixed;           /* some of it is, some is not */
    const Ex *from, *to;  /* the range it covers, for people; to: NULL where it has gaps */
    int nloops;
    const PieceLoop *loop;
};

/* plan.c */
/* Room for one nest more; what pointed to others points elsewhere then. */
Nest *plan_add(Plan *p);

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
/* Loops by falling stride. */
void nest_sort(Nest *n);

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

/* plan_table.c */
/* Entries of all tables that differ. */
i64 plan_entries(const Plan *p);

/* plan_narrow.c: nests again, for shapes at which they have few columns or rows. */
void plan_narrow(Plan *p);

/* plan_merge.c: padding that follows the rows of a copy is written with them. */
void plan_merge(Plan *p);

/* Destinations in bytes: those from which on stores go past the caches, and those up to
 * which all stays in the caches. */
enum { STREAM_BYTES = 8 << 20, CACHED_BYTES = 4 << 20 };

/* plan_order.c: the outer loops, the split over threads and the stores of all nests, which
 * have their kernels. */
void plan_order(Plan *p);
/* Whether each step of the outer loop writes other bytes than the one before: two threads
 * must not write one byte. */
bool nest_outer_apart(const Nest *n, int outer, i64 bits);
/* The nest in the order number k that its kernel knows; false past the last. */
bool plan_candidate(const Plan *p, const Nest *n, int k, Nest *out);

/* plan_cost.c: nanoseconds of a nest on one thread, by the model of cost.def. */
double nest_cost(const Plan *p, const Nest *n);

/* Bytes that a nest reads, and writes, at a stretch; from one such write to the next; the
 * nanoseconds that its kernel's buffers cost besides. */
typedef struct {
    double read, written;
    i64 apart;
    double more;
} Runs;

/* The loops that a table covers; the fewest iterations that a call may take of others. */
typedef struct {
    bool in[MAX_LOOPS];
    i64 least[ROLES];
} TableLoops;

/* The kernels of one family do the same for elements of different sizes.  Each family is
 * a record in a file kernel_*.c; functions that it does not have are NULL. */
struct Family {
    NestKind kind;
    enum { OF_ANY, OF_BYTES, OF_BITS } elements; /* whole bytes; smaller than a byte */
    const char *args;     /* a letter each: kernel_arg */
    const char *what;     /* a line for people */
    /* Whether it can run this nest of elements of `bits` bits; on true the roles are
     * the loops it takes over, or -1. */
    bool (*applies)(const Nest *n, int bits, int role[ROLES]);
    /* Nanoseconds an element, roughly: the least wins. */
    double (*cost)(const Nest *n, int bits, const int role[ROLES]);
    double floor;         /* ns a byte: not asked where another kernel takes less */
    /* Adds to the nest the outer loops and stores of its order number k; false past the
     * last. */
    bool (*orders)(const Plan *p, Nest *n, int k);
    /* For the model of the memory; NULL: the cost an element is all there is. */
    Runs (*runs)(const Nest *n, int bits);
    enum { AS_COPIES, AS_TRANSPOSES } speeds;    /* the rows of cost.def */
    bool keeps_up;        /* with the memory and the caches: its cost is that of its runs */
    bool pads;            /* writes Nest.pad, too */
    /* The loops that a table covers, when the kernel runs those of `role` itself. */
    void (*table)(const Nest *n, int bits, const int role[ROLES], TableLoops *out);
    /* Its words, where they are no offsets, and their number. */
    const int32_t *(*program)(Arena *a, const Nest *n, int bits, i64 *words);
    /* With extents left to run time it takes nests of family `of` where the loop of this
     * role has at most so many iterations of elements of `size` bytes: plan_narrow.c. */
    struct {
        const struct Family *of;
        int role;
        i64 (*most)(i64 size);
    } narrow;
};

/* kernel.c */
/* Give the nest to k and move its loops to the end; false, and nothing done, where k
 * does not apply. */
bool kernel_use(Nest *n, const Kernel *k, int bits);
/* Give it to the cheapest; false, and nothing done, where none can run it. */
bool kernel_pick(Nest *n, int bits);

/* plan_call.c */
/* Whether the kernel writes to parts of bytes, the rest of which is another's. */
bool nest_shares_bytes(const Plan *p, const Nest *n);

#endif
