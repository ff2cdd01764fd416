/* compile.h: the passes in order.  Results live in the given arena; errors are
 * diag_fatal on its Diag. */
#ifndef RAVEL_COMPILE_H
#define RAVEL_COMPILE_H

#include "burst/burst.h"
#include "gpu/gpu.h"
#include "emit/emit.h"
#include "picture/picture.h"
#include "plan/plan.h"
#include "sides/sides.h"
#include "sparse/sparse.h"
#include "spec/spec.h"

/* The layout that `text` describes, for one shape and dtype.  It is not decided yet. */
Layout *compile_layout(Arena *a, const Known *known, const char *text,
                       const char *dtype, int rank, const i64 *shape);
/* spec -> layout -> decide -> plan, for both sides. */
Plan *compile_plan(Arena *a, const Known *known, const Request *rq);
/* Its two halves: the plan without nests, and the nests, which plan_scratch can forget. */
Plan *compile_begin(Arena *a, const Known *known, const Request *rq);
void compile_nests(Plan *p);
/* Compile the same plan again, in arena a, for use by another thread.  p need not have nests. */
Plan *compile_again(Arena *a, const Plan *p);
/* Two conversions as one.  The second reads what the first writes, or a part of it.  Extents
 * are numbers. */
Composed compile_compose(Arena *a, const Known *known, const Request *first,
                         const Request *second);
/* in_place.c: the C of the passes of sides_in_place. */
const char *compile_in_place_text(const Target *t, const Known *known, const Plan *p,
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
/* compile_index.c: the text of the offset, inverse or visiting function of rq->to, or of rq->from if
 * there is no rq->to.  They may have extents left to run time. */
const char *compile_index(Arena *a, const Target *t, const Known *known,
                          const Request *rq, EmitKind kind);
/* Its statements (docs/ir/stmt.md). */
const char *compile_index_statements(Arena *a, const Target *t, const Known *known,
                                     const Request *rq, EmitKind kind);
/* layouts -> registers -> accesses: the function that loads a lane's registers of the
 * fragment rq->to from the tile rq->from, or stores those of rq->from to rq->to, which
 * frag_render writes. */
const Frag *compile_frag(Arena *a, const Known *known, const Request *rq,
                         EmitKind kind);

/* compile_sparse.c: the plan of a conversion with a sparse format on a side. */
SparsePlan *compile_sparse(Arena *a, const Target *t, const Known *known,
                           const SparseRequest *rq);
/* Whether a layout text names a sparse format. */
bool compile_is_sparse(Arena *a, const Known *known, const char *text);
/* The SPARSE_FUNCTIONS functions of a plan, for render_file. */
void compile_sparse_units(const Target *t, const SparsePlan *p, const Unit **u);

#endif
