/* ravel.h: the library face of ravel, the layout compiler.
 *
 *   ravel_context *cx;  ravel_plan *plan;  ravel_error err;
 *   int64_t shape[] = {2, 20, 5, 7};
 *   ravel_request rq = {.from = "NCHW", .to = "NC1HWC0", .dtype = "f16",
 *                       .rank = 4, .shape = shape};
 *   ravel_context_new(&cx, &err);
 *   ravel_compile(cx, &rq, &plan, &err);
 *   ravel_run(plan, dst, src);          as often, from as many threads, as wanted
 *
 * Every function that can fail returns a ravel_status and, when it does fail
 * and `err` is not NULL, fills it with a sentence.  Nothing here exits, prints or
 * keeps global state (libtcc's own is behind one lock); no limit of the process
 * (setrlimit) makes it raise a signal, while the caller's stack can be had.  Shapes count elements, sizes
 * bytes.  A layout is written as its name (NC1HWC0), its name with parameters
 * (NC1HWC0{C0=32}) or an inline table ({N, C//16, H, W, C%16}).
 * Valid C99 and C++.
 */
#ifndef RAVEL_H
#define RAVEL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RAVEL_VERSION "0.1.0"
#define RAVEL_MAX_RANK 16   /* dims of the logical tensor */
#define RAVEL_RUNTIME (-1)  /* an extent of a shape that ravel_run_shape is given */

#if defined(__GNUC__) && !defined(RAVEL_STATIC)
#define RAVEL_API __attribute__((visibility("default")))
#else
#define RAVEL_API
#endif

typedef enum {
    RAVEL_OK = 0,
    RAVEL_ERR_ARGUMENT,   /* a null pointer, a bad rank, an unknown dtype */
    RAVEL_ERR_SPEC,       /* a spec or layout text that is not right */
    RAVEL_ERR_LAYOUT,     /* a layout that does not suit the shape or dtype */
    RAVEL_ERR_MEMORY,     /* out of memory */
    RAVEL_ERR_JIT,        /* no machine code could be made, and it is insisted on */
    RAVEL_ERR_FILE,       /* reading or writing a file failed */
    RAVEL_ERR_VERIFY,     /* the result is not what the layouts say */
    /* ravel_gpu.h says more about these: */
    RAVEL_ERR_LIBRARY,    /* a driver's or a compiler's library is not there */
    RAVEL_ERR_SYMBOL,     /* it lacks a function */
    RAVEL_ERR_DEVICE,     /* there is no such device */
    RAVEL_ERR_COMPILE,    /* a kernel does not compile for the device */
    RAVEL_ERR_LAUNCH,     /* a launch was refused */
    RAVEL_ERR_DRIVER,     /* another call of the driver failed */

    RAVEL_ERR_LIMIT       /* it takes more work than ravel_set_limit allows */
} ravel_status;

/* One failure: the caller's own, so that threads do not share it. */
typedef struct {
    ravel_status status;
    char text[1024];      /* one or more lines, no newline at the end */
} ravel_error;

typedef struct ravel_context ravel_context;   /* loaded specs */
typedef struct ravel_plan ravel_plan;         /* one compiled relayout */

/* What to compile.  Strings and arrays are read during the call only. */
typedef struct {
    const char *from, *to;    /* layouts of the source and the destination */
    const char *dtype;        /* f32 f16 bf16 f64 i8 u8 ... i4 u4 u2 u1 c64 */
    int rank;                 /* number of logical dims, 0..RAVEL_MAX_RANK */
    const int64_t *shape;     /* rank extents, in the order of from's dims; or
                               * RAVEL_RUNTIME for some */
    int threads;              /* at most so many at work; 0: as many as the context has */
} ravel_request;

/* Threads that a host lends.  ravel_run has f(host, task, arg, parts) call
 * task(arg, i, parts) once for every 0 <= i < parts, in any order, on any threads, the
 * caller's alone if need be, and return when all are done.  No two parts write to the
 * same byte.  f is called by as many threads at once as call ravel_run. */
typedef void ravel_task(void *arg, int part, int parts);
typedef void ravel_parallel_for(void *host, ravel_task *task, void *arg, int parts);

/* A sentence for a status; never NULL, never freed. */
RAVEL_API const char *ravel_status_text(ravel_status s);

/* Make a context that holds the built-in specs.  Free it with ravel_context_free once no
 * other call on it is running; its plans stay as they are until they are freed.  What the
 * environment says (RAVEL_ISA, RAVEL_CODE, OMP_NUM_THREADS) and the processors there are,
 * it asks here, once.  Thread-safe. */
RAVEL_API ravel_status ravel_context_new(ravel_context **out, ravel_error *err);
RAVEL_API void ravel_context_free(ravel_context *cx);

/* The threads of plans that are compiled from now on: at most `threads` share a run, 0:
 * as many as processors may be used; by `f` and `host`, which must outlive those plans,
 * or, f being NULL, by threads of the library's own: OpenMP's, unless it was built
 * without (README.md).  Without this call a context has 0 and NULL.  A plan whose
 * destination is small runs on the thread that calls, whatever is set here.
 * RAVEL_ERR_ARGUMENT for a negative number.  Thread-safe. */
RAVEL_API ravel_status ravel_set_threads(ravel_context *cx, int threads,
                                         ravel_parallel_for *f, void *host,
                                         ravel_error *err);

/* Keep at most so many plans, of so many bytes together, to be given out again; the least
 * recently used goes first.  Without this call 256 and 64 MiB; 0 keeps none.
 * RAVEL_ERR_ARGUMENT for a negative number.  Thread-safe. */
RAVEL_API ravel_status ravel_set_cache(ravel_context *cx, int plans, int64_t bytes,
                                       ravel_error *err);

/* The work that each call on cx may take, counted in units of which a slow machine does
 * 100 million a second, so that the answer is the same on every machine: `seconds` of
 * it, 0: 2, which is what a context has without this call.  A text, layout, shape or
 * plan that takes more is RAVEL_ERR_LIMIT.  What is asked for by its size, as moving
 * elements, a table, a proof at one shape, is not counted where each element takes no
 * more than 64 units.  docs/trust.md says what counts.  RAVEL_ERR_ARGUMENT for a number
 * below 0 and for none.  Thread-safe. */
RAVEL_API ravel_status ravel_set_limit(ravel_context *cx, double seconds,
                                       ravel_error *err);

/* Add the layouts of a spec text to `cx`; a later definition of a name
 * replaces an earlier one for compilations that start afterwards.  `name` is what
 * messages call the text (a file name).  All or nothing.  Thread-safe. */
RAVEL_API ravel_status ravel_load(ravel_context *cx, const char *text,
                                  size_t len, const char *name,
                                  ravel_error *err);

/* Compile one relayout, to machine code where it can be.  The same request as before,
 * while its names stand for the same layouts and the context's threads are the same,
 * gives the same plan again, in less than a microsecond: the context keeps plans.
 * ravel_plan_free takes each back once for each time it was given out.  Thread-safe. */
RAVEL_API ravel_status ravel_compile(ravel_context *cx, const ravel_request *rq,
                                     ravel_plan **out, ravel_error *err);
RAVEL_API void ravel_plan_free(ravel_plan *plan);

/* Bytes that `src` and `dst` of ravel_run must have; 0 for NULL, -1 where extents are
 * left to run time.  Thread-safe. */
RAVEL_API int64_t ravel_plan_src_bytes(const ravel_plan *plan);
RAVEL_API int64_t ravel_plan_dst_bytes(const ravel_plan *plan);

/* How many parts ravel_run shares out at most: 1 where the work is small, or the request
 * or the context says so; 0 for NULL.  Thread-safe. */
RAVEL_API int ravel_plan_threads(const ravel_plan *plan);

/* How the plan is carried out: "machine code", or "interpreter: " and why.  The
 * interpreter walks the plan's loops and calls the same kernels, where no code can be made
 * or loaded.  RAVEL_CODE=interpreter in the environment asks for it, RAVEL_CODE=jit
 * insists on machine code.  Owned by the plan; NULL for NULL.  Thread-safe. */
RAVEL_API const char *ravel_plan_way(const ravel_plan *plan);

/* The C text that the machine code was made from, for reading and logs; owned
 * by the plan; NULL for NULL and where the interpreter is at work.  Thread-safe. */
RAVEL_API const char *ravel_plan_source(const ravel_plan *plan);

/* Convert.  Any alignment will do.  Padding is written with the destination's fill,
 * holes (the gaps of a pitch) are left alone.  Up to 240 KB of the thread's stack are
 * used.  RAVEL_ERR_ARGUMENT, and nothing is written, for NULL, where the buffers share a
 * byte (there is no conversion in place) and where extents are left to run time; else
 * RAVEL_OK.  Thread-safe; also in the child of
 * a fork, whose threads are made anew for each run. */
RAVEL_API ravel_status ravel_run(const ravel_plan *plan, void *dst,
                                 const void *src);

/* ravel_run at a shape, for a plan with extents left to run time; nothing is compiled.
 * `shape` has all extents, those that the plan has numbers for equal to them; 0 is an
 * extent too.  Buffers of no bytes may be NULL.  RAVEL_ERR_ARGUMENT, and nothing is
 * written, where an extent is none of the plan's, a size does not fit 64 bits or the
 * buffers share a byte.
 * Thread-safe. */
RAVEL_API ravel_status ravel_run_shape(const ravel_plan *plan, void *dst, const void *src,
                                       const int64_t *shape, ravel_error *err);
/* Bytes of both buffers at a shape; errors as above.  Either pointer may be NULL.
 * Thread-safe. */
RAVEL_API ravel_status ravel_plan_bytes_at(const ravel_plan *plan, const int64_t *shape,
                                           int64_t *src_bytes, int64_t *dst_bytes,
                                           ravel_error *err);

/* Prove the compiled code for its shape.  The plan's boxes are shown to be
 * disjoint and to cover what they must; the code runs on fresh buffers in which
 * every slot of the source holds its own number, and every slot of the destination
 * is held against the layouts as they are written: elements, padding and holes, the
 * source and the bytes beside both buffers, from several threads at once.  What threads
 * share is also run part by part, in several numbers of parts and in several orders; no
 * byte may be written by two of them.
 * RAVEL_ERR_VERIFY with the first difference when it is wrong.  Buffers begin at several
 * alignments.  Takes the memory of both buffers for each thread (four; two where both are
 * more than 256 MB), 2 bits a slot of the destination and some megabytes.  Thread-safe. */
RAVEL_API ravel_status ravel_verify(const ravel_plan *plan, ravel_error *err);

/* What a proof looked at. */
typedef struct {
    int nests;            /* boxes, disjoint and covering */
    int passes;           /* so many runs to tell all slot numbers apart */
    int runs, threads;    /* runs in all; how many threads ran at once */
    int guard_pages;      /* 1: beside the buffers memory cannot be touched */
    int parts;            /* the most that it ran in; 0: threads do not share it */
    int64_t stamped;      /* slots of the source */
    int64_t elements, padding, holes;   /* slots of the destination */
    char kernels[256];    /* copy 2, fill 1 */
} ravel_certificate;

/* ravel_verify, and what it looked at: *out is filled when it is right. */
RAVEL_API ravel_status ravel_verify_report(const ravel_plan *plan,
                                           ravel_certificate *out,
                                           ravel_error *err);

/* One way to do one nest of a relayout, and how long the relayout took with it. */
typedef struct {
    int nest;                      /* as `ravel explain` numbers them, from 1 on */
    char kernel[24], order[48];
    double predicted;              /* nanoseconds of the nest on one thread, by the model */
    double ns;                     /* nanoseconds of the relayout, the median; -1: none */
    double memcpy, low, high;      /* over memcpy's of as many bytes: the median, and the
                                    * span without the outermost tenths */
    int model;                     /* 1: the model's own choice */
    int winner;                    /* 1: what is remembered */
    int refused;                   /* 1: its proof failed, which is a bug; not timed */
} ravel_trial;

#define RAVEL_TRIALS_MAX 24
typedef struct {
    int trials;
    ravel_trial trial[RAVEL_TRIALS_MAX];
    int threads, rounds;           /* that took part; in all */
    int64_t bytes;                 /* of the larger tensor, which is what memcpy copied */
    double memcpy_ns;
    char refused[1024];            /* the first that was, and why; "": none */
} ravel_tuning;

/* Time the few best ways to do a relayout on this machine, for about so many seconds
 * besides compiling and proving (0 to 3600; 0: as short as tells anything), and have cx
 * remember the best: ravel_compile of the same relayout, under any names of the same
 * layouts, with as many threads, uses it from then on.  The model's choice is one of them, and stays
 * unless another takes 3 % less in the median; each is proven as by ravel_verify first.
 * Takes the memory of a proof and of two buffers, RAVEL_ERR_MEMORY where there is less.
 * RAVEL_ERR_ARGUMENT where extents are left to run time.  `out` may be NULL.
 * Thread-safe; others at work at the same time disturb what is measured. */
RAVEL_API ravel_status ravel_tune(ravel_context *cx, const ravel_request *rq,
                                  double seconds, ravel_tuning *out, ravel_error *err);

/* What cx remembers, as text, a line a relayout: for ravel_wisdom_load here and in other
 * processes.  It counts for the same model of processor, instruction set and number of
 * threads alone.  *text is malloc'ed and ends with a NUL that *len, which may be NULL,
 * does not count.  Thread-safe. */
RAVEL_API ravel_status ravel_wisdom_text(ravel_context *cx, char **text, size_t *len,
                                         ravel_error *err);
/* Remember what the text says, before what was remembered about the same; all or nothing.
 * It says how, never what: a plan is right whatever it was told, and what does not apply
 * is passed over.  RAVEL_ERR_ARGUMENT, with the line, where the text is not right.
 * Thread-safe. */
RAVEL_API ravel_status ravel_wisdom_load(ravel_context *cx, const char *text, size_t len,
                                         ravel_error *err);

/* The storage index, in elements of `dtype`, of every logical element in
 * row-major order.  `out` has room for the product of shape.  Thread-safe. */
RAVEL_API ravel_status ravel_table(ravel_context *cx, const char *layout,
                                   const char *dtype, int rank,
                                   const int64_t *shape, int64_t *out,
                                   ravel_error *err);

/* Bytes of storage of a layout.  Thread-safe. */
RAVEL_API ravel_status ravel_storage_bytes(ravel_context *cx, const char *layout,
                                           const char *dtype, int rank,
                                           const int64_t *shape, int64_t *out,
                                           ravel_error *err);

#ifdef __cplusplus
}
#endif
#endif
