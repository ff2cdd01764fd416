/* compile.h: the passes in order.  Results live in the given arena; errors are
 * diag_fatal on its Diag. */
#ifndef RAVEL_COMPILE_H
#define RAVEL_COMPILE_H

#include "burst/burst.h"
#include "gpu/grid.h"
#include "emit/emit.h"
#include "picture/picture.h"
#include "plan/plan.h"
#include "sparse/sparse.h"
#include "spec/spec.h"

/* sides.c */
/* Both layouts of a request, computed with 1 for each run-time extent.  Dim d of dst is
 * dim map[d] of src.  extent[d] is the scalar of the extent of dim d of src; -1: it is a
 * number. */
typedef struct {
    const Request *rq;
    Layout *src, *dst;
    int map[MAX_RANK], extent[MAX_RANK];
    Scalars *scalars;
    const char **name;             /* names of the run-time extents */
} Sides;
const DType *compile_dtype(Arena *a, const char *name);
/* A dtype for a layout that does not depend on it; NULL if it does. */
const DType *compile_any_dtype(const LayoutRef *ref);
void compile_sides(Arena *a, const LayoutRef *from, const LayoutRef *to, const DType *t,
                   const Request *rq, Sides *s);
/* diag_fatal unless, for all shapes of the request, dst can be a destination and src is
 * one-to-one or a view.  The largest extents for which this holds become the bounds of
 * the scalars. */
void compile_decide(const Sides *s);
/* diag_fatal if plan_check finds a flaw. */
void compile_check(Plan *p);
/* The plan at a shape, with numbers for all extents; its layouts are computed and
 * decided for this shape.  *why is NULL, or the reason why the shape is not valid for
 * the plan. */
Plan *compile_at(Arena *a, const Plan *p, const i64 *shape, const char **why);
/* Compile the same plan again, in arena a, for use by another thread. */
Plan *compile_again(Arena *a, const Plan *p);

/* view_of.c: for a plan without run-time extents. */
/* Whether the destination, as an array, is a part of the storage of the source: then its
 * elements need not be copied. */
Strides compile_view_of(const Plan *p);
/* How source and destination are walked together, in the largest box. */
typedef struct {
    i64 run;              /* elements that are adjacent on both sides */
    i64 elements;         /* of the box */
    const char *order;    /* its loops, outermost first */
} Together;
Together compile_walk(const Plan *p);

/* in_place.c */
/* The passes that convert a buffer within itself; diag_fatal if there are none. */
const InPlace *compile_in_place(const Plan *p, const Request *rq);
/* The C of these. */
const char *compile_in_place_text(const Target *t, const Known *known, const Plan *p,
                                  const Request *rq);

/* compose.c */
/* Two conversions, one after the other, as one from `from` with this shape to the
 * destination of the second. */
typedef struct {
    const char *why;               /* what is lost between them; NULL: nothing */
    const char *from;
    int rank;
    const i64 *shape;
} Composed;
/* The second reads what the first writes, or a part of it.  Extents are numbers. */
Composed compile_compose(Arena *a, const Known *known, const Request *first,
                         const Request *second);

/* equal.c */
typedef struct {
    Equality q;
    int rank;
    i64 shape[MAX_RANK];           /* of q.x, in the dims of a */
    i64 size_a, size_b;            /* of the storage, in elements; 0 without a shape */
} Comparison;
/* Compare two layouts for a shape, in the dims of a, or for every shape if it is NULL. */
Comparison compile_equal(Arena *arena, const LayoutRef *a, const LayoutRef *b,
                         const DType *t, int rank, const i64 *shape);

/* sparse_sides.c: the plan of a conversion with a sparse format on a side. */
SparsePlan *compile_sparse(Arena *a, const Target *t, const Known *known,
                           const SparseRequest *rq);
/* Whether a layout text names a sparse format. */
bool compile_is_sparse(Arena *a, const Known *known, const char *text);
/* The C of a plan: stand-alone, or for the JIT. */
const char *compile_sparse_text(const Target *t, const SparsePlan *p, bool stand_alone);

/* stored.c */
/* The extents of the storage as an array, at most MAX_ENTRIES; returns their number.  They
 * count elements; the last one counts bytes if elements are smaller than a byte. */
int compile_stored(const Layout *l, i64 *extent);
/* The logical shape, of the same rank, of a tensor that is stored as an array of these
 * extents.  False if it does not follow from them: if the order has more than dims, or
 * dims are padded. */
bool compile_logical(const LayoutRef *ref, int rank, const i64 *stored, i64 *shape);

/* compile.c */
/* The layout that `text` describes, for one shape and dtype.  It is not decided yet. */
Layout *compile_layout(Arena *a, const Known *known, const char *text,
                       const char *dtype, int rank, const i64 *shape);
/* spec -> layout -> decide -> plan, for both sides. */
Plan *compile_plan(Arena *a, const Known *known, const Request *rq);
Plan *compile_refs(Arena *a, const LayoutRef *from, const LayoutRef *to, const DType *t,
                   const Request *rq);
/* plan -> emit; then render. */
const Unit *compile_unit(const Target *t, const Plan *p, const Request *rq);
/* plan -> emit -> render, for the JIT. */
JitText compile_jit(const Target *t, const Plan *p, const Request *rq);
/* The statement tree as text (docs/ir), for a target with the model "functions" or
 * "blocks". */
const char *compile_statements(const Target *t, const Plan *p, const Request *rq);
/* plan -> grid: a kernel for blocks of threads, which grid_render writes. */
const GridUnit *compile_grid(const Target *t, const Plan *p, const Request *rq);
/* plan -> tiles -> the text that the emit_plan of a machine of bursts returns. */
const char *compile_bursts(const Target *t, const Plan *p, const Request *rq);
/* The text of the offset or inverse function of rq->to, or of rq->from if there is no
 * rq->to. */
const char *compile_index(Arena *a, const Target *t, const Known *known,
                          const Request *rq, EmitKind kind);
/* layouts -> registers -> accesses: the function that loads a lane's registers of the
 * fragment rq->to from the tile rq->from, or stores those of rq->from to rq->to, which
 * frag_render writes. */
const Frag *compile_frag(Arena *a, const Known *known, const Request *rq,
                         EmitKind kind);

#endif
