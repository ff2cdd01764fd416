/* ravel.h: the public interface of libravel, the layout compiler.
 *
 *   ravel_context *cx;  ravel_plan *plan;  ravel_error err;
 *   int64_t shape[] = {2, 20, 5, 7};
 *   ravel_request rq = {.from = "NCHW", .to = "NC1HWC0", .dtype = "f16",
 *                       .rank = 4, .shape = shape};
 *   ravel_context_new(&cx, &err);
 *   ravel_compile(cx, &rq, &plan, &err);
 *   ravel_run(plan, dst, src);          any number of times, from any thread
 *
 * Every function that can fail returns a ravel_status.  On failure it writes a message
 * to `err`, unless `err` is NULL.  The library never exits, and it prints only the log
 * that RAVEL_VERBOSE=1 asks for (ravel_set_log).  It has no global state of its own; a
 * lock protects that of libtcc.  A resource limit (setrlimit) leads to an error status and
 * never to a signal, provided that the caller's stack can grow.  Shapes count elements,
 * sizes count bytes.  A layout is given as a name (NC1HWC0), a name with parameters
 * (NC1HWC0{C0=32}) or an inline table ({N, C//16, H, W, C%16}).  This header is valid C99
 * and C++.
 */
#ifndef RAVEL_H
#define RAVEL_H

#include "ravel_types.h"
#include "ravel_layout.h"

#ifdef __cplusplus
extern "C" {
#endif

#define RAVEL_VERSION "0.1.0"

typedef struct ravel_plan ravel_plan;         /* one compiled relayout */

/* What to compile.  Clear it before you set fields: a field that is 0 has its default.  Strings
 * and arrays are not used after the call. */
typedef struct {
    const char *from, *to;    /* layouts of the source and the destination */
    const char *dtype;        /* f32 f16 bf16 f64 i8 u8 ... i4 u4 u2 u1 c64 */
    int rank;                 /* number of logical dims, 0..RAVEL_MAX_RANK */
    const int64_t *shape;     /* rank extents, in the order of the dims of `from`; any of
                               * them may be RAVEL_RUNTIME */
    int threads;              /* maximal number of threads; 0: that of the context */
    int in_place;             /* not 0: ravel_run(plan, b, b) converts the buffer b within itself */
} ravel_request;

/* A parallel loop provided by the host.  ravel_run calls f(host, task, arg, parts).  f
 * must call task(arg, i, parts) once for each 0 <= i < parts, in any order and on any
 * threads, and return when all calls have returned.  No two parts write to the same
 * byte.  If several threads call ravel_run, several threads call f at once. */
typedef void ravel_task(void *arg, int part, int parts);
typedef void ravel_parallel_for(void *host, ravel_task *task, void *arg, int parts);

/* A description of a status: a static string, never NULL. */
RAVEL_API const char *ravel_status_text(ravel_status s);

/* Create a context that holds the built-in specs.  Free it with ravel_context_free when
 * no other call on it is running.  Its plans remain valid until they are freed.  The
 * environment (RAVEL_ISA, RAVEL_CODE, RAVEL_PROCESSOR, RAVEL_VERBOSE, OMP_NUM_THREADS) and
 * the number of processors are read here, once.  Thread-safe. */
RAVEL_API ravel_status ravel_context_new(ravel_context **out, ravel_error *err);
RAVEL_API void ravel_context_free(ravel_context *cx);

/* Set the threads of plans that are compiled after this call.  At most `threads` threads
 * share a run; 0 means one for each available processor.  `f` runs the parts; `f` and
 * `host` must outlive those plans.  If f is NULL, the library's own threads run them:
 * OpenMP's, unless it was built without OpenMP (docs/building.md).  The defaults are 0
 * and NULL.  A plan with a small destination always runs on the calling thread.
 * RAVEL_ERR_ARGUMENT if `threads` is negative.  Thread-safe. */
RAVEL_API ravel_status ravel_set_threads(ravel_context *cx, int threads,
                                         ravel_parallel_for *f, void *host,
                                         ravel_error *err);

/* A log: f(host, line) is called for each plan that is made and for each run or launch, on the
 * thread that asked for it; several threads may call f at once.  A line has no newline.  It is
 * a command of ravel that ends in a comment with kernels, time and bytes:
 *   ravel explain --from NCHW --to NHWC --shape 2,3,5,7 --dtype f32 --processor here  # plan:
 *   interleave4 x1, 1.2 ms, 840 -> 840 bytes, machine code
 *   ravel bench --from ... --threads 1  # run: interleave4 x1, 0.0004 ms, 840 -> 840 bytes,
 *   4.2 GB/s (bytes read and written)
 *   ravel explain --from ... --target opencl  # device launch, NAME: 12 blocks of 256, 840 ->
 *   840 bytes, enqueued in 0.02 ms
 * For a sparse conversion both lines have the command explain.  A run has its way and the
 * numbers of values:
 *   ravel explain --from COO --to CSR ...  # run: by rows, 1.2 ms, 3 -> 2 values
 * f = NULL ends the log.  A run without a log costs one comparison.  With the environment
 * RAVEL_VERBOSE=1 a new context has a log to standard error.  `f` and `host` must outlive
 * the context and its plans.  Thread-safe. */
typedef void ravel_log(void *host, const char *line);
RAVEL_API ravel_status ravel_set_log(ravel_context *cx, ravel_log *f, void *host,
                                     ravel_error *err);

/* Set the limits of the plan cache: the number of plans and their total size.  The least
 * recently used plan is evicted first.  The defaults are 256 plans and 64 MiB; 0 disables
 * the cache.  RAVEL_ERR_ARGUMENT if a number is negative.  Thread-safe. */
RAVEL_API ravel_status ravel_set_cache(ravel_context *cx, int plans, int64_t bytes,
                                       ravel_error *err);

/* Set the limit of work for each call on cx, in units of 100 million steps, each of which
 * takes about a second.  Work is counted and not timed, so the result is the same on every
 * machine.  The default is 2; 0 restores it.  A call that exceeds the
 * limit returns RAVEL_ERR_LIMIT.  Moving elements, making a table and a proof for one
 * shape are not counted, unless an element costs more than 64 steps.  docs/trust.md lists
 * what is counted.  RAVEL_ERR_ARGUMENT if `units` is negative or NaN.  Thread-safe. */
RAVEL_API ravel_status ravel_set_limit(ravel_context *cx, double units,
                                       ravel_error *err);

/* Add the layouts of a spec text to `cx`.  A later definition of a name replaces an
 * earlier one for compilations that start afterwards.  `name` is the name of the text in
 * messages, such as a file name.  RAVEL_ERR_SPEC with the line if the text is wrong,
 * RAVEL_ERR_LIMIT if it does more work than ravel_set_limit allows, RAVEL_ERR_MEMORY,
 * RAVEL_ERR_ARGUMENT if a pointer is NULL.  On failure cx is unchanged.  Thread-safe. */
RAVEL_API ravel_status ravel_load(ravel_context *cx, const char *text,
                                  size_t len, const char *name,
                                  ravel_error *err);

/* Compile one relayout, to machine code if possible.  The context caches plans: a
 * repeated request returns the same plan in less than a microsecond, as long as its
 * names denote the same layouts and the threads of the context have not changed.  Call
 * ravel_plan_free once for each successful ravel_compile; a NULL plan is ignored.
 * RAVEL_ERR_SPEC if the text of a layout is wrong or its name is not known, RAVEL_ERR_LAYOUT
 * if a layout is not valid for the shape or element type or the destination cannot be written,
 * RAVEL_ERR_ARGUMENT if another field of the request is wrong, RAVEL_ERR_LIMIT,
 * RAVEL_ERR_MEMORY, RAVEL_ERR_JIT with RAVEL_CODE=jit.  On failure *out is NULL.  Thread-safe. */
RAVEL_API ravel_status ravel_compile(ravel_context *cx, const ravel_request *rq,
                                     ravel_plan **out, ravel_error *err);
RAVEL_API void ravel_plan_free(ravel_plan *plan);

/* The sizes in bytes of `src` and `dst` of ravel_run; 0 if the plan is NULL, -1 if it has
 * run-time extents.  Thread-safe. */
RAVEL_API int64_t ravel_plan_src_bytes(const ravel_plan *plan);
RAVEL_API int64_t ravel_plan_dst_bytes(const ravel_plan *plan);

/* The extents of both storages of a plan.  RAVEL_ERR_ARGUMENT if it has run-time extents.
 * Thread-safe. */
RAVEL_API ravel_status ravel_plan_shapes(const ravel_plan *plan, ravel_extents *src,
                                         ravel_extents *dst, ravel_error *err);

/* The maximal number of parts of a ravel_run: 1 if the work is small, or if the
 * request or the context asks for one thread; 0 if the plan is NULL.  Thread-safe. */
RAVEL_API int ravel_plan_threads(const ravel_plan *plan);

/* How the plan is executed: "machine code", "interpreter: " and the reason, or "in place: " and
 * its passes.  The interpreter walks the plan's loops and calls the same kernels: if code cannot be
 * made or loaded, if machine code would save less than 1 % of a run by the cost model, or with
 * RAVEL_CODE=interpreter in the environment.  With RAVEL_CODE=jit a plan that is not in place is
 * machine code, or ravel_compile fails.  The plan owns it; NULL: no plan.  Thread-safe. */
RAVEL_API const char *ravel_plan_way(const ravel_plan *plan);

/* The C source of the plan as machine code, for reading and logs.  Tables of constants are not in
 * it: the code takes their addresses.  The first call generates the text, which takes as long as
 * compiling the plan.  The plan owns the string; NULL if the plan is NULL, cannot be machine
 * code or is in place, or if there is no memory.  Thread-safe. */
RAVEL_API const char *ravel_plan_source(const ravel_plan *plan);

/* Convert `src` to `dst`.  The buffers need no alignment.  Padding receives the fill
 * of the destination; holes (the gaps that a pitch leaves) are not written.  The call
 * uses up to 240 KB of stack.  RAVEL_ERR_ARGUMENT, and nothing is written, if an
 * argument is NULL, if the buffers overlap or if the plan has run-time extents; else
 * RAVEL_OK.  Thread-safe, also in the child of a fork, where threads are created for each
 * call.
 *
 * A plan of a request with in_place converts one buffer: RAVEL_ERR_ARGUMENT unless dst is src.
 * It allocates up to 512 KB and a bit for each item that it moves, for each thread;
 * RAVEL_ERR_MEMORY, and nothing is written, if there is no memory.  ravel_compile refuses
 * such a request with RAVEL_ERR_LAYOUT if the layouts do not permit it (docs/reference.md). */
RAVEL_API ravel_status ravel_run(const ravel_plan *plan, void *dst, const void *src);

/* ravel_run at a given shape, for a plan with run-time extents.  When the plan has converted
 * 32 MB at a shape, a plan for that shape alone is compiled and put in the cache of the
 * context; runs at the shape use it as long as it is there.  This is not done for plans with
 * index arrays, for tuned plans, or if ravel_set_cache allows no plans.
 * `shape` has all extents; those that were fixed in the request must have the same
 * values; the numbers of ravel_plan_strides follow.  An extent of 0 is allowed.  A buffer of 0
 * bytes may be NULL.
 * RAVEL_ERR_ARGUMENT, and nothing is written, if an extent is not valid for the plan,
 * if a size does not fit 64 bits or if the buffers overlap.  Thread-safe. */
RAVEL_API ravel_status ravel_run_shape(const ravel_plan *plan, void *dst, const void *src,
                                       const int64_t *shape, ravel_error *err);

/* The numbers that each run is given after the extents of its shape, because the layouts of the
 * plan have names for them.  In this order:
 * - extents of tensors that do not follow from the shape, as N in ROW_MAJOR(N,64)[idx] and in
 *   ROW_MAJOR(N,64)[1:3]: those of the source, from the last index of its text to the first (B, A
 *   for ROW_MAJOR(A,B)[idx][:, jdx]), then those of the destination;
 * - origins and strides, in elements, as ld in ROW_MAJOR@(ld,1): those of the source, its origin
 *   first, then those of the destination;
 * - the fill of the destination, as zp in NC1HWC0{fill=zp}: a number with the bits of an element,
 *   -2^(b-1) to 2^b - 1 for b bits.
 * Returns how many there are.  `name` has room for RAVEL_MAX_RANK, and the plan owns the names; or
 * it is NULL.  A plan with such numbers has run-time extents, even if the request has numbers for
 * all extents.
 * RAVEL_ERR_ARGUMENT of a run, and nothing is written, if such an extent or a stride is below 0, if
 * an index does not select as many elements of the extent as the shape has, if a stride of the
 * destination has no room for the entries after it, or if the fill has more bits.  Thread-safe. */
RAVEL_API int ravel_plan_strides(const ravel_plan *plan, const char **name);

/* The name of that fill, which the plan owns; NULL: there is none.  Thread-safe. */
RAVEL_API const char *ravel_plan_fill(const ravel_plan *plan);

/* The sizes in bytes of both buffers at a given shape.  Errors as for ravel_run_shape.
 * Either pointer may be NULL.  Thread-safe. */
RAVEL_API ravel_status ravel_plan_bytes_at(const ravel_plan *plan, const int64_t *shape,
                                           int64_t *src_bytes, int64_t *dst_bytes,
                                           ravel_error *err);

/* ravel_plan_shapes at a given shape; an extent of a storage without elements is 0.
 * Errors as for ravel_run_shape.  Thread-safe. */
RAVEL_API ravel_status ravel_plan_shapes_at(const ravel_plan *plan, const int64_t *shape,
                                            ravel_extents *src, ravel_extents *dst,
                                            ravel_error *err);

/* An index array, such as `idx` in the layout NHWC(8,56,56,64)[:, idx].  Each run takes it as
 * an argument: the coordinates of the elements to read or to write. */
#define RAVEL_MAX_ARRAYS 8
typedef struct {
    const char *name;              /* idx; the plan owns it */
    int bits;                      /* of a number: 64, or 32 for `i32 idx` */
    int flags;                     /* RAVEL_ARRAY_... */
    int64_t n;                     /* its length; RAVEL_RUNTIME: a run-time extent */
    int64_t bound;                 /* each number is below it, and 0 or more; -1 only with SKIPS.
                                   * RAVEL_RUNTIME: an extent of ravel_plan_strides */
    int rank;                      /* the shape of the array: (n), or with ALONG that of the */
    int64_t extent[RAVEL_MAX_RANK];          /* part; each extent is as n */
} ravel_array;
#define RAVEL_ARRAY_SKIPS 1   /* [skip idx]: an element whose number is -1 is not moved */
#define RAVEL_ARRAY_ALONG 2   /* [:, along idx]: a number for each element of several dims, in
                               * row-major order */

/* The index arrays of a plan: those of the source, from the last index of its text to the
 * first, then those of the destination.  An array with several uses is listed once.  Returns
 * their number; `out` may be NULL.  Thread-safe. */
RAVEL_API int ravel_plan_arrays(const ravel_plan *plan, ravel_array *out);
/* The same at a given shape, or NULL if all extents are numbers: n and extent are numbers.
 * Errors as for ravel_run_shape; a plan without index arrays takes any shape.  Thread-safe. */
RAVEL_API ravel_status ravel_plan_arrays_at(const ravel_plan *plan, const int64_t *shape,
                                            ravel_array *out, ravel_error *err);

/* ravel_run, or with `shape` ravel_run_shape, of a plan with index arrays: array[i] has the
 * numbers of array i of ravel_plan_arrays.  `shape` may be NULL if all extents are numbers.
 * If the arrays write two elements to one address, it is undefined which one remains
 * (ravel_check_arrays finds this).  RAVEL_ERR_ARGUMENT, and nothing is written, as for
 * ravel_run_shape, and if an array overlaps dst or has a number out of range; the message has
 * the first such number.  Thread-safe. */
RAVEL_API ravel_status ravel_run_arrays(const ravel_plan *plan, void *dst, const void *src,
                                        const int64_t *shape, const void *const *array,
                                        ravel_error *err);
/* The checks of ravel_run_arrays, and whether the arrays write two elements to one address;
 * then the message has two equal numbers.  The call needs a bit of memory for each coordinate.
 * Thread-safe. */
RAVEL_API ravel_status ravel_check_arrays(const ravel_plan *plan, const int64_t *shape,
                                          const void *const *array, ravel_error *err);

/* The numbers of the names of ravel_plan_strides that follow from the arrays of a run: N of
 * ROW_MAJOR(N,64)[1:3] from the extents of the array that stores the tensor (src, dst: NULL if it has
 * others), and the name of an extent of an indexed part, as in ROW_MAJOR(100,64)[idx](n,64)[1:3],
 * from `arrays` index arrays, of which name, rank and extent are used.  value[i] becomes the number of
 * name i, or RAVEL_RUNTIME if it does not follow, as a stride, or as N with elements of less than
 * 8 bits, of which an extent counts bytes.  Thread-safe. */
RAVEL_API ravel_status ravel_plan_given(const ravel_plan *plan, const ravel_extents *src,
                                        const ravel_extents *dst, int arrays,
                                        const ravel_array *array, int64_t *value,
                                        ravel_error *err);
/* The shape of a part of a tensor, for a request, by the array that stores the tensor and by index
 * arrays, as above; RAVEL_RUNTIME for an extent that does not follow.  *text is the layout; if it has
 * no extents, with those of the tensor, as ROW_MAJOR(10,6)[1:3] for ROW_MAJOR[1:3] in an array of
 * (10,6); with `numbers`, all names that follow are numbers.  It is allocated by malloc, and the caller
 * frees it.  RAVEL_ERR_ARGUMENT if the rank does not follow.  Thread-safe. */
RAVEL_API ravel_status ravel_view_in(ravel_context *cx, const char *layout, const char *dtype,
                                     const ravel_extents *stored, int arrays,
                                     const ravel_array *array, int numbers, char **text,
                                     ravel_extents *shape, ravel_error *err);

/* Prove the compiled code for the shape of the plan.  First the boxes of the plan are
 * shown to be disjoint and to cover the destination.  Then the code runs on new
 * buffers in which every slot of the source holds its own number.  Every slot of the
 * destination is compared with the layouts as they are written: elements, padding and
 * holes.  The source and the bytes before and after both buffers must be unchanged.
 * The code runs at several alignments, from several threads at once, and part by part,
 * in several numbers of parts and several orders; no byte may be written by two
 * parts.  RAVEL_ERR_VERIFY with the first difference if the code is wrong.  With run-time
 * extents all this is done at every boundary value of the extents and its neighbours;
 * RAVEL_ERR_LIMIT if that takes more work than ravel_set_limit allows.  The call
 * needs memory for both buffers for each thread (4 threads; 2 if both buffers exceed
 * 256 MB), 2 bits for each slot of the destination and some megabytes.  Thread-safe. */
RAVEL_API ravel_status ravel_verify(const ravel_plan *plan, ravel_error *err);

/* What a proof examined. */
typedef struct {
    int nests;            /* boxes, disjoint and covering */
    int passes;           /* runs needed to distinguish all slot numbers */
    int runs, threads;    /* all runs; threads that ran at once */
    int guard_pages;      /* 1: inaccessible pages lay before and after the buffers */
    int parts;            /* the largest number of parts; 0: threads do not share it */
    int64_t stamped;      /* slots of the source */
    int64_t elements, padding, holes;   /* slots of the destination */
    char kernels[256];    /* copy 2, fill 1 */
    int not_run;          /* extents left to run time: nests that the runs did not reach, as no
                           * shape of 64 MB or less was found at which they run, or the limit
                           * does not allow it */
} ravel_certificate;

/* ravel_verify, which also writes to *out what it examined, if the code is right.  With
 * run-time extents *out has the sums over all shapes, and the most passes, threads and
 * parts.  Errors as for ravel_verify; RAVEL_ERR_MEMORY if there is no memory for the proof,
 * RAVEL_ERR_ARGUMENT if a pointer is NULL.  Thread-safe. */
RAVEL_API ravel_status ravel_verify_report(const ravel_plan *plan,
                                           ravel_certificate *out,
                                           ravel_error *err);

/* A candidate: a kernel and loop order for one nest, and the time of the relayout with
 * it. */
typedef struct {
    int nest;                      /* its number in `ravel explain`, from 1 */
    char kernel[24], order[48];
    double predicted;              /* nanoseconds of the nest, one thread, by the model */
    double ns;                     /* median nanoseconds of the relayout; -1: not timed */
    double memcpy, low, high;      /* time divided by that of memcpy of as many bytes: the
                                    * median, the 10th and the 90th percentile */
    int model;                     /* 1: the choice of the cost model */
    int winner;                    /* 1: the fastest, which cx remembers */
    int refused;                   /* 1: its proof failed, which is a bug; not timed */
} ravel_trial;

#define RAVEL_TRIALS_MAX 24
typedef struct {
    int trials;
    ravel_trial trial[RAVEL_TRIALS_MAX];
    int threads, rounds;           /* threads of a run; rounds of measurement */
    int64_t bytes;                 /* size of the larger tensor; memcpy copied as much */
    double memcpy_ns;
    char refused[1024];            /* the first refused candidate and the reason, or "" */
} ravel_tuning;

/* Measure the best candidates for a relayout on this machine, and let cx remember the
 * fastest.  Later calls of ravel_compile for the same relayout and number of threads
 * use it, whatever names the layouts have.  Each candidate is first proven as by
 * ravel_verify.  The choice of the cost model is one of them; another replaces it only
 * if its median is 3 % lower.  Measuring takes about `seconds` (0 to 3600; 0: the
 * minimum) in addition to compiling and proving.  The call needs the memory of a proof
 * and of two buffers; RAVEL_ERR_MEMORY if there is less.  RAVEL_ERR_ARGUMENT if the
 * request has run-time extents. `out` may be NULL.  Thread-safe; other work at the
 * same time disturbs the measurement. */
RAVEL_API ravel_status ravel_tune(ravel_context *cx, const ravel_request *rq,
                                  double seconds, ravel_tuning *out, ravel_error *err);
/* ravel_tune for a request with run-time extents, proven and measured at a given shape.
 * `shape` is as for ravel_run_shape, without extents of 0.  The plan is the same at every
 * shape, so later plans for the request use the result at all of them, and the last
 * result replaces the one before.  RAVEL_ERR_ARGUMENT if an extent is not valid for the
 * plan, or if the request has no run-time extents.  Thread-safe. */
RAVEL_API ravel_status ravel_tune_at(ravel_context *cx, const ravel_request *rq,
                                     const int64_t *shape, double seconds,
                                     ravel_tuning *out, ravel_error *err);

/* The results of ravel_tune that cx remembers, as text with one line for each
 * relayout, for ravel_wisdom_load in this or another process.  An entry is used only
 * with the same model of processor, instruction set and number of threads. *text is
 * allocated by malloc, the caller frees it, and it ends with a NUL that *len does not count.
 * `len` may be NULL.  Thread-safe. */
RAVEL_API ravel_status ravel_wisdom_text(ravel_context *cx, char **text, size_t *len,
                                         ravel_error *err);
/* Add the entries of a text made by ravel_wisdom_text.  They replace entries for the same
 * relayout.  Wisdom selects kernels and loop orders only; the result of a relayout does
 * not depend on it.  Entries that do not apply are ignored.  If the text is malformed the
 * call returns RAVEL_ERR_ARGUMENT with the line, and cx is unchanged.  Thread-safe. */
RAVEL_API ravel_status ravel_wisdom_load(ravel_context *cx, const char *text, size_t len,
                                         ravel_error *err);

/* Whether a conversion is a view or a copy. */
typedef struct {
    ravel_answer is_view;          /* RAVEL_YES: only shape and strides change */
    /* RAVEL_YES: the storage of `to` as an array in that of `from`: extents, strides and
     * the place of its first element, all in elements */
    int axes;
    int64_t extent[RAVEL_MAX_STORED], stride[RAVEL_MAX_STORED], origin;
    int64_t run;                   /* else a copy moves runs of this many elements */
    char why[512];                 /* why it is no view, or "" */
} ravel_view;

/* Whether a conversion needs a copy.  If not, an array with these strides, whose first
 * element is at `origin` of the source, is the result.  Extents are numbers.
 * Thread-safe. */
RAVEL_API ravel_status ravel_view_of(ravel_context *cx, const ravel_request *rq,
                                     ravel_view *out, ravel_error *err);

/* Join two conversions: compile one that reads the source of the first and writes the
 * destination of the second.  The storage between them is never allocated.  The second reads
 * what the first writes, or a part of it (`NHWC[:, 1:3]`).  Dims, element types and extents
 * must agree, and extents are numbers.  RAVEL_ERR_LAYOUT if the second reads another layout, or
 * elements that the first does not write; the message says what would be lost.  The threads
 * are those of the second.  Thread-safe. */
RAVEL_API ravel_status ravel_compose(ravel_context *cx, const ravel_request *first,
                                     const ravel_request *second, ravel_plan **out,
                                     ravel_error *err);

#ifdef __cplusplus
}
#endif

#endif
