/* cli_runtime.h: commands on shapes with extents left to run time. */
#ifndef RAVEL_CLI_RUNTIME_H
#define RAVEL_CLI_RUNTIME_H

#include "cli.h"
#include "cli_child.h"

/* The extents of the dims; RUNTIME_EXTENT for those left to run time. */
const i64 *cli_runtime_shape(Arena *a, const Plan *p);
/* Prove a plan at shapes with every boundary value and its neighbours; print the result
 * as verify does, or add it to proofs; return whether the plan is right.  name: the
 * names of the run-time extents of src. */
bool cli_verify_shapes(Cli *c, const ravel_plan *plan, const char *const *name,
                       json_t *proofs);
/* Prove a function of an object in the same way.  It takes the values of the names as
 * arguments.  If it is wrong, *o has the reason. */
typedef struct {
    int shapes;                    /* the number of shapes at which it ran */
    int idle;                      /* nests that ran at none of them */
    const i64 *at;                 /* the shape at which it is wrong */
} ShapeProof;
void cli_prove_shapes(Cli *c, const Request *rq, const Plan *p, const ChildObject *object,
                      ShapeProof *out, Outcome *o);

#endif
