/* log.h: the log of a context. */
#ifndef RAVEL_LOG_H
#define RAVEL_LOG_H

#include "../compiler/compile.h"
#include "ravel.h"

typedef struct Log Log;

/* log.c */
/* Read RAVEL_VERBOSE. */
ravel_status log_begin(ravel_context *cx, ravel_error *err);
void log_free(Log *l);
/* The time at which something began, in nanoseconds; 0 if nothing is logged. */
int64_t log_start(const ravel_context *cx);
/* Log a line that `put` writes. */
typedef void LogPut(Buf *b, const void *arg);
void log_line(const ravel_context *cx, LogPut *put, const void *arg);
/* plan_log.c */
/* Log a plan that was made, or a run that is complete; nothing if `start` is 0.  shape: of
 * a plan with run-time extents, else NULL. */
void log_plan(const ravel_plan *p, int64_t start);
void log_run(const ravel_plan *p, const int64_t *shape, int64_t start);
/* The same for a conversion of `whole` in blocks, of which most are by `p`.  rq: of the whole. */
void log_blocks(const ravel_plan *p, const Plan *whole, const ravel_request *rq, int64_t blocks,
                int threads, int64_t start);
/* Log a plan that was made to be written by `command`; nothing if `start` is 0. */
void log_written(const ravel_context *cx, const Plan *p, const char *command, int64_t start);
/* What lines of other files are made of.  The options of a command for a plan, at a shape
 * or, if that is NULL, that of the request. */
const char *log_options(Arena *a, const Plan *p, const ravel_request *q,
                        const int64_t *shape);
/* sparse_log.c: the same of a sparse conversion; `code` is what executes it.  From `from` values
 * to `to`. */
void log_sparse_plan(const ravel_context *cx, const SparsePlan *p, int64_t start,
                     const char *code);
void log_sparse_run(const ravel_context *cx, const SparsePlan *p, int64_t ns, int64_t from,
                    int64_t to);

#endif
