/* plan_runtime.h: plans with extents that are known only when the code runs.
 *
 * Such a plan has the boxes, loops and kernels of any other; the numbers that depend on
 * the extents are expressions over scalars (layout_runtime.h), in Loop.now and Nest.now,
 * and what Loop and Nest hold as numbers is nominal: for choosing and estimating. */
#ifndef RAVEL_PLAN_RUNTIME_H
#define RAVEL_PLAN_RUNTIME_H

#include "layout_runtime.h"
#include "plan.h"

/* x = start + sum of step * i, first <= i < first + n, i <= most: a piece of one dim's
 * range.  Loops outermost first; one with n = 0 for a shape leaves nothing of the piece
 * there, whatever start and first then are. */
typedef struct {
    const Ex *start;
    bool pad;             /* beyond the dim's extent */
    bool mixed;           /* some of it is, some is not */
    const Ex *from, *to;  /* the range it covers, for people; to: NULL where it has gaps */
    int nloops;
    struct { i64 step, most; const Ex *first, *n; int level; } loop[MAX_LOOPS];
} RuntimePiece;

/* Of a nest. */
struct NestNow {
    const RuntimePiece *const *piece;   /* one a dst dim */
    /* There is anything to do where all of these are above 0. */
    const Ex *needed[MAX_LOOPS + MAX_RANK + 4];
    int nneeded;
    i64 few;                            /* another nest does it where a loop has so many
                                         * turns at most, or where it has more; 0: none */
};

/* Of a plan. */
struct PlanNow {
    Scalars *scalars;
    RuntimeLayout *src, *dst;
    const char *const *name;            /* of the extents, as the user has them */
};

/* plan_runtime_pieces.c: [0, n), and [n, padded), of a dim cut so that digits at the
 * cuts are full or fixed in every piece.  The number of pieces; -1: too many. */
int runtime_pieces(Scalars *s, const i64 *cuts, int ncuts, const Ex *n,
                   RuntimePiece *out);
/* padded is at most n rounded up to a multiple of unit; 0: of nothing that is known. */
int runtime_padding(Scalars *s, const i64 *cuts, int ncuts, const Ex *n,
                    const Ex *padded, i64 unit, RuntimePiece *out);
/* A piece of constants. */
RuntimePiece runtime_piece(Exprs *e, const Piece *p);

/* plan_runtime.c: requires both layouts decided.  extent[d] of each dim of src, as of
 * layout_runtime, and the scalars of those extents. */
Plan *plan_make_runtime(Scalars *s, const char *const *name, const Layout *src,
                        const Layout *dst, const int *map, const int *extent);

/* plan_runtime_nest.c */
void nest_make_runtime(Plan *p, NestKind kind, const RuntimePiece *const *piece,
                       Nest *out);
/* x times a variable, term by term. */
const Ex *runtime_times(Exprs *e, const Ex *x, const Ex *stride);

/* plan_runtime_print.c: as plan_box and plan_print; ends are not part of the box. */
void runtime_box(Buf *b, const Plan *p, const Nest *n);
void runtime_print(Buf *b, const Plan *p);
/* Slots and strides of the entries of one of its layouts. */
void runtime_layout_print(Buf *b, const Plan *p, const RuntimeLayout *r);

/* plan_runtime_shapes.c: shapes of the dims of src, in a. */
typedef struct {
    i64 (*shape)[MAX_RANK];
    int n;
    bool all;             /* residues: none was left out */
} ShapeList;
/* At and beside all borders of digits: what code must be run on. */
ShapeList runtime_borders(Arena *a, const Plan *p);
/* Every residue of each extent, with up to three turns of its blocks: boxes that are
 * right for these are so for all, as their bounds are linear in the turns.  Of at most
 * 1023 values an extent. */
ShapeList runtime_residues(Arena *a, const Plan *p);

/* plan_runtime_few.c: nests again, for shapes at which they have few columns or rows. */
void runtime_variants(Plan *p);

/* plan_runtime_needs.c: expressions over scalars, made with the plan. */
/* Bytes of the storage of one of its layouts. */
const Ex *runtime_size(const Plan *p, const RuntimeLayout *r);
/* Whether stores go past the caches at this shape: 0 or 1. */
const Ex *runtime_streams(const Plan *p);
/* The counts that a nest needs above 0, and that can be 0 where there is anything to
 * convert; their number, at most MAX_NEEDS. */
enum { MAX_NEEDS = 2 * MAX_LOOPS + MAX_RANK + 4 };
int runtime_needs(const Plan *p, const Nest *n, const Ex **needs);
/* The turn inside the one that threads share which they do instead where that has fewer
 * turns than there are threads, as a batch of 1 has; -1: none. */
int runtime_second(const Nest *n);

/* plan_runtime_at.c */
/* The extents of src's dims as those of the scalars: NULL, or a sentence why the shape
 * is none of the plan's. */
const char *runtime_extents(Arena *a, const Plan *p, const i64 *shape, i64 *extent);
/* Values of all scalars, by their variables; NULL where one does not fit 64 bits.  Like
 * runtime_extents it leaves p alone. */
i64 *runtime_values(Arena *a, const Plan *p, const i64 *extent);
/* Bytes of both buffers; false where they do not fit 64 bits. */
bool runtime_bytes(const Plan *p, const i64 *val, i64 *src, i64 *dst);
/* The plan at a shape, all in numbers, in Exprs of its own; src and dst decided, for
 * that shape.  What it does there is what the code does. */
Plan *runtime_at(const Plan *p, Layout *src, Layout *dst, const i64 *extent);

#endif
