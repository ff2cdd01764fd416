/* cli_child.h: proofs in a child process.  Code that accesses memory out of bounds or
 * ends the process is then reported as wrong and does no harm. */
#ifndef RAVEL_CLI_CHILD_H
#define RAVEL_CLI_CHILD_H

#include "../runtime/for_command.h"

/* void name(void *dst, const void *src) of a shared object; with run-time extents,
 * int name(void *dst, const void *src, const int64_t *x). */
typedef struct {
    const char *path, *name;
    int align;                     /* alignment of its buffers in bytes; 0: 1 */
    const char *said;              /* the name of the object in messages */
    const i64 *x;                  /* run-time extents; NULL: none */
} ChildObject;

typedef struct {
    char why[1024];                /* the flaw; empty: the code is right */
    ravel_certificate certificate;
} Outcome;

/* Prove the plan's own code, or an object's; one of them is NULL.  The child has
 * `limit` seconds of processor time; 0 means a default that is ample for the size of the
 * plan.  A status other than RAVEL_OK means that there is no answer. */
ravel_status child_prove(const Plan *p, const ravel_plan *code,
                         const ChildObject *object, i64 limit, Outcome *out,
                         ravel_error *err);

#endif
