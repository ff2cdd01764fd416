/* compile.h: the passes in order.  Everything lives in the arena given; errors
 * are diag_fatal on its Diag. */
#ifndef RAVEL_COMPILE_H
#define RAVEL_COMPILE_H

#include "render.h"
#include "spec.h"

typedef struct {
    const char *from, *to;         /* layout texts */
    const char *dtype;
    int rank;
    const i64 *shape;
    const char *name;              /* of the function; NULL: one is made */
} Request;

/* A layout by its text, for one shape and dtype.  Not decided yet. */
Layout *compile_layout(Arena *a, const LayoutDef *known, const char *text,
                       const char *dtype, int rank, const i64 *shape);
/* spec -> layout -> decide -> plan, for both sides. */
Plan *compile_plan(Arena *a, const LayoutDef *known, const Request *rq);
/* plan -> emit -> render */
const char *compile_text(const Target *t, const Plan *p, const Request *rq,
                         bool stand_alone);
/* The offset or inverse function of rq->to (or from) as a file. */
const char *compile_index(Arena *a, const Target *t, const LayoutDef *known,
                          const Request *rq, EmitKind kind);
/* The name that the function of a plan gets. */
const char *compile_name(Arena *a, const Request *rq);

#endif
