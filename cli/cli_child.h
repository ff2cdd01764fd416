/* cli_child.h: a proof in a child process, where code that leaves its buffers, or
 * ends the process, does no harm and is an answer. */
#ifndef RAVEL_CLI_CHILD_H
#define RAVEL_CLI_CHILD_H

#include "../runtime/proof.h"

/* void name(void *dst, const void *src) of a shared object; with run-time extents,
 * int name(void *dst, const void *src, const int64_t *x). */
typedef struct {
    const char *path, *name;
    int align;                     /* of its buffers; 0: any */
    const char *said;              /* what it is called in sentences */
    const i64 *x;                  /* run-time extents; NULL: none */
} ChildObject;

typedef struct {
    char why[1024];                /* empty: the proof went through */
    ravel_certificate certificate;
} Outcome;

/* Prove the plan's own code, or an object's; one of them is NULL.  The child has
 * `limit` seconds of processor time, 0: what is ample for the plan's size.  A status
 * other than RAVEL_OK says that there is no answer. */
ravel_status child_prove(const Plan *p, const ravel_plan *code,
                         const ChildObject *object, i64 limit, Outcome *out,
                         ravel_error *err);

#endif
