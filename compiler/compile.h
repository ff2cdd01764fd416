/* compile.h: the passes in order.  Everything lives in the arena given; errors
 * are diag_fatal on its Diag. */
#ifndef RAVEL_COMPILE_H
#define RAVEL_COMPILE_H

#include "burst/burst.h"
#include "gpu/frag.h"
#include "gpu/grid_access.h"
#include "gpu/grid_render.h"
#include "plan/plan.h"
#include "emit/emit.h"
#include "spec/spec.h"

/* sides.c */
/* Both layouts of a request, made with 1 for the extents left to run time; which dim of
 * src each of dst is, and the scalar that each extent of src is, -1: a number. */
typedef struct {
    const Request *rq;
    Layout *src, *dst;
    int map[MAX_RANK], extent[MAX_RANK];
    Scalars *scalars;
    const char **name;             /* of the scalars' extents */
} Sides;
const DType *compile_dtype(Arena *a, const char *name);
void compile_sides(Arena *a, const LayoutRef *from, const LayoutRef *to, const DType *t,
                   const Request *rq, Sides *s);
/* Both sides are one-to-one, for all shapes of the request, up to the largest extents
 * that the scalars are given; diag_fatal where not. */
void compile_decide(const Sides *s);
/* diag_fatal where plan_check finds a flaw. */
void compile_check(Plan *p);
/* The plan at a shape: all in numbers, from layouts made and decided for it.  *why is
 * NULL, or why the shape is none of the plan's. */
Plan *compile_at(Arena *a, const Plan *p, const i64 *shape, const char **why);
/* A plan again, in a: for a thread of its own. */
Plan *compile_again(Arena *a, const Plan *p);

/* compile.c */
/* A layout by its text, for one shape and dtype.  Not decided yet. */
Layout *compile_layout(Arena *a, const LayoutDef *known, const char *text,
                       const char *dtype, int rank, const i64 *shape);
/* spec -> layout -> decide -> plan, for both sides. */
Plan *compile_plan(Arena *a, const LayoutDef *known, const Request *rq);
Plan *compile_refs(Arena *a, const LayoutRef *from, const LayoutRef *to, const DType *t,
                   const Request *rq);
/* plan -> emit -> render */
const char *compile_text(const Target *t, const Plan *p, const Request *rq,
                         bool stand_alone);
/* The statements that the text is of, as text of their own, for a target with the model
 * "functions" or "blocks". */
const char *compile_statements(const Target *t, const Plan *p, const Request *rq);
/* plan -> grid: a kernel for blocks of threads, which grid_render writes. */
const GridUnit *compile_grid(const Target *t, const Plan *p, const Request *rq);
/* plan -> tiles -> what the emit_plan of a machine of bursts writes. */
const char *compile_bursts(const Target *t, const Plan *p, const Request *rq);
/* The offset or inverse function of rq->to (or from) as a file. */
const char *compile_index(Arena *a, const Target *t, const LayoutDef *known,
                          const Request *rq, EmitKind kind);
/* layouts -> registers -> accesses: the function that loads a lane's registers of the
 * fragment rq->to from the tile rq->from, or stores those of rq->from to rq->to. */
const char *compile_frag(Arena *a, const Target *t, const LayoutDef *known,
                         const Request *rq, EmitKind kind);

#endif
