/* plan_parts.h: declarations that the files of compiler/plan share.  No file of another
 * folder includes it. */
#ifndef RAVEL_PLAN_PARTS_H
#define RAVEL_PLAN_PARTS_H

#include "plan.h"

/* A plan is coarsened to about NESTS_MAX nests that copy and as many that write padding. */
enum { MAX_PIECES = 64, NESTS_MAX = 512 };
_Static_assert(MAX_PIECES >= 2 * MAX_LOOPS, "a chain of cuts leaves that many pieces");

/* A piece is a part of the range of one dim, given by loops, outermost first:
 * x = start + sum of step * i,  first <= i < first + n,  i <= most.
 * The piece is empty at shapes for which a loop has n = 0; start and first then have no
 * meaning.  If start, first and n are constants, first is 0 and n is at least 2. */
typedef struct {
    i64 step, most;
    const Ex *first, *n;
    int level;
} PieceLoop;

struct Piece {
    const Ex *start;
    bool pad;             /* the piece is beyond the extent of the dim */
    bool mixed;           /* only a part of the piece is beyond the extent */
    const Ex *at[2];      /* of SRC, DST, where these are shifted around (Rolled): the slot of start,
                           * before it is counted from the end; NULL: start */
    const Ex *from, *to;  /* the range it covers, for messages; to: NULL if it has gaps */
    int nloops;
    const PieceLoop *loop;
};

/* plan_list.c */
/* Memory for so many nests. */
void plan_room(Plan *p, i64 nests);
/* Adds a copy of a nest to the plan. */
void plan_add(Plan *p, const Nest *n);

/* plan_pieces.c */
/* Cuts [lo, hi) of a dim in pieces such that in each piece every digit between cuts is
 * either constant or takes its full range.  The cuts ascend from 1.  lo is 0, and unit is not
 * used, or, for padding, the extent of the dim; hi is then at most lo rounded up to a multiple
 * of unit (0: no multiple is known).  With `phase`, cut i is at all x with x % cuts[i] == phase[i];
 * then lo is 0, and cuts may be equal.  Returns the number of pieces, at most MAX_PIECES; -1
 * if there are more. */
int pieces_of(Scalars *s, const i64 *cuts, const i64 *phase, int ncuts, const Ex *lo,
              const Ex *hi, i64 unit, Piece *out);
/* Merges the digit boundaries of var in x into cuts, which has n; returns the new number. */
int pieces_cuts(const Ex *x, int var, i64 below, i64 *cuts, int n);
enum { MAX_CUTS = 128 };

/* plan_join.c */
/* Sets the dims of boxes to those of the destination. */
void plan_dims(Plan *p);
/* Joins some of them; for a plan without nests. */
void plan_join(Plan *p);
/* The coordinates of the destination, from those of a box. */
void plan_coordinates(const Plan *p, const i64 *x, i64 *out);

/* plan_cut.c */
/* The pieces of the range [from, to) of one dim. */
typedef struct {
    Piece *piece;
    int n;
    const Ex *from, *to;
    bool rolled;          /* each piece has slots of its own, so they stay several */
} Range;
typedef struct {
    Range valid[MAX_RANK];         /* the extent, cut by the digits of both layouts */
    Range valid_dst[MAX_RANK];     /* the extent, cut by the destination's */
    Range pad[MAX_RANK];           /* the padding */
    Range full[MAX_RANK];          /* both */
} Ranges;
void plan_cut(const Plan *p, Ranges *out);
/* plan_rolled.c: sets the ranges of dim d, whose coordinates the source or the destination shifts
 * around its slots; cuts[] are those of the other layout, if one does not shift them. */
void plan_cut_rolled(const Plan *p, int d, const i64 *cuts, int ncuts, Ranges *out);
/* plan_ended.c: the same where one of them counts it from the end of a tensor. */
void plan_cut_ended(const Plan *p, int d, const i64 *cuts, int ncuts, Ranges *out);
/* The slot of coordinate x of a dim, which is in the piece. */
const Ex *plan_slot(Exprs *e, const Rolled *r, const Piece *q, int side, const Ex *x);
/* As one piece, in which the digits stay expressions: slower but correct. */
Range plan_whole(const Plan *p, const Ex *from, const Ex *to);

/* plan_phase.c */
/* A digit of a coordinate that is shifted or reversed changes at x % cut == phase. */
typedef struct { i64 cut, phase; } Phase;
/* The value of `cut` for a digit that changes only once. */
#define CUT_ONCE ((i64)1 << 62)
/* Adds those of var in x to the n in out, which has room for MAX_CUTS. */
int phases_add(const Ex *x, int var, Phase *out, int n);
/* pieces_of [0, hi) for cuts with phases and others; `phase` has room for both. */
int pieces_phased(Scalars *s, const i64 *cuts, int ncuts, Phase *phase, int n, const Ex *hi,
                  Piece *out);

/* plan_factor.c */
/* The digits of a dim from lo to hi (INF: all) that are factors of products and take few
 * values; lo 0: none. */
typedef struct { i64 lo, hi; } Factor;
/* Adds the digits of var that are factors in x. */
void factor_add(const Ex *x, int var, Factor *f);
/* Replaces pieces by parts in which the factor is constant.  Returns the new number, at
 * most MAX_PIECES; n, and nothing changes, if there would be more. */
int factor_split(Exprs *e, const Factor *f, Piece *piece, int n);

/* plan_nest.c */
/* Makes the nest of the box with piece[d] for each dst dim.  For a padded coordinate a
 * copy reads the last element of the source that is not padding. */
void nest_make(Plan *p, NestKind kind, const Piece *const *piece, Nest *out);
/* Sorts the loops by descending stride. */
void nest_sort(Nest *n);

/* plan_lookup.c */
/* The lookups of a side while a nest is made. */
typedef struct {
    const Ex *at[MAX_LOOKUPS + 1];
    int number[MAX_LOOKUPS];
} NestLookups;
/* Gives them to the nest. */
void nest_set_lookups(Nest *n, int side, const NestLookups *u);

/* plan_comb.c: a piece in normal form: `count` runs of `run` adjacent coordinates, with
 * the distance `period`:  start + period * j + i,  0 <= i < run, 0 <= j < count.
 * No coordinate occurs twice. */
typedef struct {
    i64 start, run, period, count;
    i64 last, size;       /* the last coordinate; the number of coordinates, may be 0 */
} Comb;
/* The comb of a piece for these values of the scalars.  False if the piece does not have
 * that form or does not fit 64 bits. */
bool comb_of(const Piece *p, const i64 *val, Comb *c);
/* False if residues show that the combs have no coordinate in common, else true. */
bool comb_meets(const Comb *a, const Comb *b);

/* plan_table.c */
/* The number of entries of all distinct tables. */
i64 plan_entries(const Plan *p);

/* plan_needs.c: true if the destination has no storage when x is 0. */
bool plan_empties(const Plan *p, const Ex *x);

/* plan_long.c */
/* The nest writes an eighth of the destination, by the nominal shape, and is worth more text. */
bool nest_is_weighty(const Plan *p, const Nest *n);
/* Adds the condition x > 0, a test of how long a loop is (Nest.narrow), to the nest. */
void nest_need(Plan *p, Nest *n, const Ex *x, i64 narrow);
/* Makes n the nest of a kernel that is quicker where loops are long (all: or shorter), and each of
 * out[] one for the shapes at which those before it do not run.  Returns their number.  The first
 * kernel takes less than `less` times as long. */
enum { LENGTHS = 3 };
#define MUCH_LESS 0.6
int nest_lengthen(Plan *p, Nest *n, bool all, double less, Nest out[LENGTHS]);

/* plan_narrow.c: adds variants of nests for shapes with few columns or rows. */
void plan_narrow(Plan *p);

/* plan_sizes.c */
/* Adds variants of nests for shapes with long loops, and for small data.  It follows plan_merge, so
 * that a nest which also writes padding remains one nest. */
void plan_vary(Plan *p);

/* plan_merge.c: makes a copy write the padding that follows its rows. */
void plan_merge(Plan *p);

/* Sizes of the destination in bytes: from STREAM_BYTES on stores go past the caches; up
 * to CACHED_BYTES all data stays in the caches. */
enum { STREAM_BYTES = 8 << 20, CACHED_BYTES = 4 << 20 };

/* plan_order.c */
/* Gives the nest the kernel, the outer loops and the stores that are fastest by the model.
 * False, and nothing changes, if no kernel can run it. */
bool nest_schedule(const Plan *p, Nest *n);
/* The same among the orders of the kernel that the nest has. */
void nest_order(const Plan *p, Nest *n);
/* The outer loop of a nest of the plan that threads share; -1: none.  It may cut one of the
 * kernel's loops for it. */
int nest_share(const Plan *p, Nest *n);
void plan_split(Plan *p);          /* ... of each nest */
/* The nest in order number k of its kernel; false if k is past the last order. */
bool plan_candidate(const Plan *p, const Nest *n, int k, Nest *out);

/* plan_outer.c: true if no two steps of the outer loop write to the same byte; else threads
 * cannot share the loop. */
bool nest_outer_apart(const Nest *n, int outer, i64 bits);

/* plan_cost.c: the nanoseconds that a nest takes on one thread, by the model of
 * cost.def. */
double nest_cost(const Plan *p, const Nest *n);

/* The memory access of a nest. */
typedef struct {
    double read, written; /* bytes of a contiguous read; of a contiguous write */
    double read_gaps;     /* bytes between the elements of these, for each byte of an */
    double written_gaps;  /* element: their cache lines are transferred as a whole */
    i64 apart;            /* bytes from one such write to the next */
    i64 rows;             /* this many runs of `along` bytes are read in turn, `read` bytes of */
    double along;         /* each; 0: one after the other */
    double blocks;        /* the number of blocks that go through the kernel's buffers */
    double brief;         /* ... and of reads of less than a cache line that end a row */
    double more;          /* additional nanoseconds */
} Runs;
/* Nanoseconds of the parts of cache lines at both ends of a run that is written past the
 * caches: these lines are read first. */
enum { ENDS_NS = 24 };
/* plan_runs.c: what a nest reads and writes contiguously, by its loops. */
Runs nest_runs(const Nest *n, int bits);
/* Whether a loop in the residual is outside of the call, and no tile of one of the kernel's:
 * each of its iterations then walks all that the call covers again. */
bool nest_walks_again(const Nest *n);

/* The loops that a table covers; the fewest iterations that a call may take of others. */
typedef struct {
    bool in[MAX_LOOPS];
    i64 least[ROLES];
} TableLoops;

/* How kernels are chosen and scheduled.  A function pointer may be NULL if it is not needed. */
typedef struct {
    /* Whether the kernel for runs of `size` bytes, which are contiguous on both sides, is the one
     * for this nest; 0: that for runs of sizes that no other kernel of the family has. */
    bool (*keeps)(const Nest *n, int bits, int size);
    /* True if the kernel can run this nest with elements of `bits` bits.  If true, sets
     * role[] to the loops that the kernel runs itself; -1: none with that role. */
    bool (*applies)(const Nest *n, int bits, int role[ROLES]);
    /* Estimated nanoseconds of all calls, with the data in the first cache. */
    double (*work)(const Nest *n, int bits);
    double floor;         /* a lower bound of the nanoseconds of a byte: if another kernel
                           * costs less, this one is not tried */
    /* Gives the nest the outer loops and stores of order number k; false if k is past the
     * last order. */
    bool (*orders)(const Plan *p, Nest *n, int k);
    /* Input of the memory model; NULL: nest_runs. */
    Runs (*runs)(const Nest *n, int bits);
    enum { AS_COPIES, AS_TRANSPOSES, AS_TILES, CLASSES } speeds;  /* the rows of cost.def */
    bool rows_inside;     /* it runs rows inside columns, and not these inside rows */
    /* The loops that a table covers if the kernel runs the loops in role[]. */
    void (*table)(const Nest *n, int bits, const int role[ROLES], TableLoops *out);
    /* The words of the table if they are not offsets; sets *words to their number. */
    const int32_t *(*program)(Arena *a, const Nest *n, int bits, i64 *words);
    /* The scalars of this table (nest_scalars); for nests that assume that offsets fit 32
     * bits, 1 at shapes at which those of this table do, else 0 or less. */
    int (*scalars)(const Nest *n, int bits, const Ex *out[TABLE_SCALARS]);
    const Ex *(*near)(const Nest *n, int bits);
} Method;

/* A family is a set of kernels that differ only in a number: the size of elements or, if it
 * `keeps` runs, of these.  Each family is a record in a file kernel_*.c. */
struct Family {
    NestKind kind;
    enum { OF_ANY, OF_BYTES, OF_BITS } elements; /* whole bytes; smaller than a byte */
    const char *args;     /* one letter for each argument: kernel_arg */
    const char *what;     /* a line of description */
    const Method *by;     /* families may have the same */
    /* What parts() numbers from bit 0 on, NULL at the end; and those that calls of this nest
     * can reach.  Lines of the text from #ifndef RAVEL_WITHOUT_<part><size> to #endif are
     * for a part.  NULL: there are none. */
    const char *const *part;
    unsigned (*parts)(const Nest *n, int bits);
    double pads;          /* it also writes Nest.pad, unless that takes so many times as long, by
                           * the model, as to copy and to fill one after the other; 0: it does not */
    bool single;          /* it moves one element at a time */
    bool indexed;         /* it reads index arrays itself, a number for each row */
    /* With extents left to run time: the kernel is used for nests of family `of` at shapes
     * for which the loop with this role has at most most(size) iterations; `size` is the
     * number of bytes of an element (plan_narrow.c). */
    struct {
        const struct Family *of;
        int role;
        i64 (*most)(i64 size);
    } narrow;
};

/* kernel.c */
/* Sets *out to the nest with kernel k, whose loops are moved to the end; out may be n.  False,
 * and nothing changes, if k does not apply. */
bool kernel_use(const Nest *n, const Kernel *k, int bits, Nest *out);

/* plan_call.c */
/* True if the kernel writes bytes of which another nest writes other bits. */
bool nest_shares_bytes(const Plan *p, const Nest *n);

#endif
