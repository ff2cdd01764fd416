/* cli_runtime.h: commands on shapes with extents left to run time. */
#ifndef RAVEL_CLI_RUNTIME_H
#define RAVEL_CLI_RUNTIME_H

#include "cli.h"
#include "cli_child.h"

/* The extents of a layout's dims, RUNTIME_EXTENT where they are that. */
const i64 *cli_runtime_shape(Arena *a, const Sizes *r);
/* Prove a plan at shapes with every boundary value and its neighbours; print the result
 * as verify does, or add it to proofs; return whether the plan is right.  name: of src's
 * dims left to run time. */
bool cli_verify_shapes(Cli *c, const ravel_plan *plan, const char *const *name,
                       json_t *proofs);
/* The same of an object's function of the names' values, made of the plan p: o says why
 * not, where it did not go through. */
typedef struct {
    int shapes;                    /* at which it ran */
    const i64 *at;                 /* the one that is wrong */
} ShapeProof;
void cli_prove_shapes(Cli *c, const Request *rq, const Plan *p, const ChildObject *object,
                      ShapeProof *out, Outcome *o);

#endif
