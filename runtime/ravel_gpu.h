/* ravel_gpu.h: compile and launch relayouts on accelerators; an addition to ravel.h.
 *
 *   ravel_device *dev;  ravel_device_plan *plan;  ravel_error err;
 *   ravel_device_of_cuda(&dev, &err);            for the context that is current here
 *   ravel_device_plan_new(cx, dev, &request, 0, &plan, &err);
 *   ravel_device_run(plan, stream, dst, src, &err);   any number of times
 *
 * ravel_device_compile and ravel_device_launch do the same with the text of a kernel,
 * such as a file that `ravel emit --target cuda` wrote.
 *
 * The CUDA driver, NVRTC and the OpenCL loader are opened when they are first needed, and
 * stay open.  Their usual names are tried, or the file that RAVEL_CUDA_LIBRARY,
 * RAVEL_NVRTC_LIBRARY or RAVEL_OPENCL_LIBRARY names.  Nothing is linked with them;
 * if they are missing, calls return an error.  The causes of failure are distinguished:
 *
 *   RAVEL_ERR_LIBRARY   the library does not exist or cannot be opened
 *   RAVEL_ERR_SYMBOL    the library lacks a function
 *   RAVEL_ERR_DEVICE    the driver works, but there is no device of that number
 *   RAVEL_ERR_COMPILE   the source does not compile, or its code is not for the device;
 *                       err->text has the start of the compiler's log
 *   RAVEL_ERR_LAUNCH    the launch was refused
 *   RAVEL_ERR_DRIVER    any other call of the driver failed; with RAVEL_ERR_LAUNCH,
 *                       err->text has the call, and the code by name and number
 *   RAVEL_ERR_MEMORY    the host or the device has no memory left
 *
 * All functions are thread-safe unless stated otherwise.  None may be called in the child
 * of a fork, because drivers do not support that.  This header is valid C99 and C++.
 */
#ifndef RAVEL_GPU_H
#define RAVEL_GPU_H

#include "ravel.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum { RAVEL_CUDA = 0, RAVEL_OPENCL } ravel_device_kind;

typedef struct ravel_device ravel_device;               /* and its cached kernels */
typedef struct ravel_device_kernel ravel_device_kernel; /* one that can be launched */

typedef struct {
    ravel_device_kind kind;
    int ordinal;          /* -1: it uses a context of the caller */
    char name[256];
    char version[128];    /* target of compilation: "sm_90", "OpenCL 1.2 ..." */
    char driver[128];
    int64_t memory;       /* total memory in bytes */
    int64_t shared;       /* maximal bytes of shared (local) memory of a block */
    int64_t grid;         /* maximal number of blocks in a launch */
    int block;            /* maximal number of threads in a block */
    int processors;       /* multiprocessors, compute units */
} ravel_device_info;

/* A kernel's source, and how it is launched.  Strings are not used after the call. */
typedef struct {
    const char *source;   /* CUDA C++ or OpenCL C; the arguments are (dst, src) */
    const char *entry;    /* the kernel's name, extern "C" */
    int64_t grid;         /* blocks, in one dimension; 0: a launch does nothing */
    int block;            /* threads in a block */
    int shared_bytes;     /* shared memory that the source declares; used only to check
                           * the limit of the device */
    const char *options;  /* options of the compiler, separated by blanks, or NULL */
} ravel_device_source;

/* List the devices of a kind, in the order of their ordinals.  *n receives their number;
 * `out` receives the first `room` of them and may be NULL if room is 0.  No context is
 * created.  RAVEL_ERR_DEVICE if there is no device. */
RAVEL_API ravel_status ravel_device_list(ravel_device_kind kind, ravel_device_info *out,
                                         int room, int *n, ravel_error *err);

/* Open a device by its ordinal.  With CUDA it uses the primary context, which it shares
 * with the CUDA runtime.  With OpenCL it creates a context and an in-order queue. */
RAVEL_API ravel_status ravel_device_open(ravel_device_kind kind, int ordinal,
                                         ravel_device **out, ravel_error *err);
/* Use the CUDA context that is current on this thread.  The context must outlive the
 * device.  RAVEL_ERR_ARGUMENT if no context is current. */
RAVEL_API ravel_status ravel_device_of_cuda(ravel_device **out, ravel_error *err);
/* Use an OpenCL context (a cl_context) and one of its devices (a cl_device_id).  The
 * context is retained. */
RAVEL_API ravel_status ravel_device_of_opencl(void *context, void *device,
                                              ravel_device **out, ravel_error *err);
/* Free a device when no other call on it is running.  Its kernels remain valid until they
 * are freed. */
RAVEL_API void ravel_device_free(ravel_device *dev);

/* Describe a device.  Returns 0 if `dev` is NULL, else 1. */
RAVEL_API int ravel_device_about(const ravel_device *dev, ravel_device_info *out);
/* The driver's handles, for the caller's own calls.  CUDA: a CUcontext, a CUdevice as
 * a number, and NULL.  OpenCL: a cl_context, a cl_device_id and the cl_command_queue
 * of the device, NULL if the context is the caller's. `dev` owns them.  Pointers may
 * be NULL. */
RAVEL_API void ravel_device_handles(const ravel_device *dev, void **context,
                                    void **device, void **queue);

/* Set the limits of the cache of compiled sources: their number and their total size in
 * bytes, source and code.  The least recently used is evicted first.  The defaults are 64
 * and 64 MiB; 0 disables the cache.  The number is also the limit of cached plans.
 * RAVEL_ERR_ARGUMENT if a number is negative. */
RAVEL_API ravel_status ravel_device_set_cache(ravel_device *dev, int kernels,
                                              int64_t bytes, ravel_error *err);

/* CUDA: keep the code of kernels in files of this folder, and take it from there instead of
 * compiling, if text, options, architecture and NVRTC's version are the same.  Without NVRTC
 * the code of any version is taken, so a folder that was filled on another machine serves
 * one that has only a driver.  The folder must exist; NULL, the default, means none.  Its
 * files are run on the device: nobody else may write there.  A file that cannot be read,
 * written or loaded is no error: the kernel is compiled.  OpenCL drivers have caches of their
 * own, so the call has no effect there. */
RAVEL_API ravel_status ravel_device_set_folder(ravel_device *dev, const char *folder,
                                               ravel_error *err);

/* Compile a kernel.  CUDA: NVRTC compiles for the architecture of the device, or to
 * PTX of the newest architecture that it knows if the device is newer.  OpenCL: the
 * driver compiles.  A source is compiled once for the same options while it is in the
 * cache; entry, grid and block may differ.  RAVEL_ERR_ARGUMENT if the grid, the block
 * or the shared memory exceeds a limit of the device. */
RAVEL_API ravel_status ravel_device_compile(ravel_device *dev,
                                            const ravel_device_source *source,
                                            ravel_device_kernel **out, ravel_error *err);
/* Free a kernel when its launches have finished. */
RAVEL_API void ravel_device_kernel_free(ravel_device_kernel *kernel);

/* Enqueue one launch and return.  An error while the kernel runs is reported by a
 * later call of the driver.  CUDA: `queue` is a CUstream of the context, or NULL for
 * its default stream; `dst` and `src` are device pointers.  The context need not be
 * current; the current context does not change.  OpenCL: `queue` is a cl_command_queue
 * of the context, or NULL for the queue of the device if it has one; `dst` and `src`
 * are cl_mem.  The queue is not flushed.  The buffers must not overlap;
 * RAVEL_ERR_ARGUMENT if they are equal. */
RAVEL_API ravel_status ravel_device_launch(ravel_device_kernel *kernel, void *queue,
                                           void *dst, const void *src, ravel_error *err);

/* A relayout with its kernel, compiled and loaded. */
typedef struct ravel_device_plan ravel_device_plan;

enum { RAVEL_ALIGN_ANY = -1 };       /* an `align` below: any of the buffers' elements */

/* Generate the kernel of a relayout for `dev`, compile it and load it.  `align` is the
 * number of bytes to which the caller aligns both buffers: a power of two up to 16, and at
 * least the size of an element; 0 means 16.  With less the kernel makes narrower accesses.
 * RAVEL_ALIGN_ANY: with CUDA the plan has up to three kernels, for buffers aligned to 16 bytes,
 * to words, and to elements, and each launch takes the first for which its pointers are
 * aligned; a batch takes one for all of its pairs.  There is no plan if one of them fails.  It
 * is one plan of the cache; the log has its widest kernel.
 * The threads of the request have no meaning here.  The device caches plans: a repeated
 * request returns the same plan and compiles nothing, as long as no spec was loaded since.
 * A plan keeps what it needs of `cx` and `dev`.  Call ravel_device_plan_free once for each
 * plan, when its launches have finished.  Errors: those of ravel_compile and
 * ravel_device_compile; RAVEL_ERR_LAYOUT also if no kernel for blocks of threads does this
 * relayout. */
RAVEL_API ravel_status ravel_device_plan_new(ravel_context *cx, ravel_device *dev,
                                             const ravel_request *rq, int align,
                                             ravel_device_plan **out, ravel_error *err);
RAVEL_API void ravel_device_plan_free(ravel_device_plan *plan);

typedef struct {
    int64_t src_bytes, dst_bytes; /* sizes of the buffers; -1: the shape decides */
    int align;            /* both buffers begin at multiples of so many bytes */
    int block;            /* threads in a block */
    int64_t grid;         /* blocks, in one dimension; -1: the shape decides */
    int64_t shared_bytes; /* shared memory that the kernel declares */
    int values;           /* 64-bit numbers in the kernel's last argument; 0: it has none.  The
                           * arguments are dst, src, each index array, bad, the numbers */
    void *function;       /* CUfunction, cl_kernel: for graphs and launch attributes */
    const char *entry;    /* name of the kernel */
    const char *source;   /* its text */
    void *check;          /* with index arrays: the function that runs before, with the same
                           * arguments and grid; else NULL */
} ravel_device_plan_info;

/* Describe a plan, which owns all pointers.  Returns 0 if `plan` is NULL, else 1. */
RAVEL_API int ravel_device_plan_about(const ravel_device_plan *plan,
                                      ravel_device_plan_info *out);

/* The variant of a plan for RAVEL_ALIGN_ANY that a launch with these device pointers takes, which
 * the plan owns: for ravel_device_plan_about and ravel_device_plan_at, which describe the widest
 * one of the plan itself.  Of other plans it is the plan.  NULL if the pointers are not aligned
 * to what it needs, or `plan` is NULL. */
RAVEL_API const ravel_device_plan *ravel_device_plan_variant(const ravel_device_plan *plan,
                                                             const void *dst, const void *src);

/* Enqueue the relayout and return, as ravel_device_launch does.  It allocates nothing on
 * the device and waits for nothing, so with CUDA it may be called while a stream is being
 * captured.  Create the plan before the capture.  RAVEL_ERR_ARGUMENT, and nothing is enqueued, if a
 * device pointer is not aligned to what the plan needs, or if the plan has run-time
 * extents. */
RAVEL_API ravel_status ravel_device_run(ravel_device_plan *plan, void *queue, void *dst,
                                        const void *src, ravel_error *err);

/* ravel_device_run at a given shape, for a plan with run-time extents; the errors are also
 * those of ravel_run_shape.  Nothing is compiled.  With OpenCL it creates a buffer for the
 * kernel's third argument, which is freed when the launch has finished. */
RAVEL_API ravel_status ravel_device_run_shape(ravel_device_plan *plan, void *queue,
                                              void *dst, const void *src,
                                              const int64_t *shape, ravel_error *err);

/* Describe the index arrays of a plan, as ravel_plan_arrays does. */
RAVEL_API int ravel_device_plan_arrays(const ravel_device_plan *plan, ravel_array *out);

/* ravel_device_run of a plan with index arrays; `shape` is as in ravel_device_run_shape if it
 * has run-time extents, else it is not used.  array[i], in the order of
 * ravel_device_plan_arrays, and `bad` are device pointers, or cl_mem; `bad` has an int32_t,
 * which the caller has set to 0.  Two kernels are enqueued.  The first checks all numbers; it
 * sets *bad to i + 1 if array i has a number out of range.  The second writes nothing if *bad is
 * not 0, so an OpenCL queue must be in order.  Several runs can share *bad, which the caller
 * reads when they have finished.  No array may overlap the destination.  It is not checked
 * whether two elements are written to one address. */
RAVEL_API ravel_status ravel_device_run_arrays(ravel_device_plan *plan, void *queue, void *dst,
                                               const void *src, const int64_t *shape,
                                               const void *const *array, void *bad,
                                               ravel_error *err);

/* A batch: many tensors of one shape in a launch, such as the pages of a cache or the weights
 * of experts.  CUDA only.  The plan is like that of ravel_device_plan_new and is cached like
 * it.  Its kernel takes 128 pairs of pointers as its first argument; the number of a block
 * along y is the number of its pair. */
RAVEL_API ravel_status ravel_device_batch_new(ravel_context *cx, ravel_device *dev,
                                              const ravel_request *rq, int align,
                                              ravel_device_plan **out, ravel_error *err);
/* Enqueue dst[i] = relayout of src[i] for all i < n, by one launch for each 128 pairs.  The
 * arrays are in host memory and are not used after the call.  `shape` is that of all tensors if the
 * plan has run-time extents, else it is not used.  RAVEL_ERR_ARGUMENT, and nothing is
 * enqueued, if a pointer is NULL or not aligned to what the plan needs; else as
 * ravel_device_run. */
RAVEL_API ravel_status ravel_device_run_batch(ravel_device_plan *plan, void *queue,
                                              void *const *dst, const void *const *src,
                                              int64_t n, const int64_t *shape,
                                              ravel_error *err);

/* What a launch at a shape needs: for the caller's own launches, nodes of graphs and
 * buffers.  `shape` is not used if the plan has no run-time extents.  `values` receives the
 * numbers of the kernel's third argument, a struct of int64_t with CUDA and a buffer of
 * them with OpenCL; it has room for as many as ravel_device_plan_about says.  Pointers may
 * be NULL.  RAVEL_ERR_ARGUMENT if the shape is not valid for the plan, or has more blocks
 * than the device allows. */
RAVEL_API ravel_status ravel_device_plan_at(const ravel_device_plan *plan,
                                            const int64_t *shape, int64_t *src_bytes,
                                            int64_t *dst_bytes, int64_t *grid,
                                            int64_t *values, ravel_error *err);

#ifdef __cplusplus
}
#endif
#endif
