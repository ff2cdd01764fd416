/* ravel_gpu.h: relayouts on accelerators, beside ravel.h.
 *
 *   ravel_device *dev;  ravel_device_kernel *k;  ravel_error err;
 *   ravel_device_of_cuda(&dev, &err);            around the context that is current here
 *   ravel_device_compile(dev, &source, &k, &err);
 *   ravel_device_launch(k, stream, dst, src, &err);   as often, from as many threads
 *
 * The CUDA driver, NVRTC and the OpenCL loader are opened when they are first needed,
 * by their usual names or the one file that RAVEL_CUDA_LIBRARY, RAVEL_NVRTC_LIBRARY or
 * RAVEL_OPENCL_LIBRARY names; nothing is linked, and a machine without them is told of,
 * not missed.  They stay open.  What can go wrong has an answer of its own:
 *
 *   RAVEL_ERR_LIBRARY   the library is not there, or cannot be opened
 *   RAVEL_ERR_SYMBOL    it is, and has no function of that name
 *   RAVEL_ERR_DEVICE    the driver works, there is no device, or none of that number
 *   RAVEL_ERR_COMPILE   the text does not compile, or its code is not for the device;
 *                       err->text has the start of the compiler's log
 *   RAVEL_ERR_LAUNCH    the launch was refused
 *   RAVEL_ERR_DRIVER    any other call of the driver failed; with RAVEL_ERR_LAUNCH,
 *                       err->text has the call, and the code by name and number
 *   RAVEL_ERR_MEMORY    the host or the device has no memory left
 *
 * Everything here is thread-safe unless it says otherwise, and nothing of it is for the
 * child of a fork: drivers do not go along.  Valid C99 and C++.
 */
#ifndef RAVEL_GPU_H
#define RAVEL_GPU_H

#include "ravel.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum { RAVEL_CUDA = 0, RAVEL_OPENCL } ravel_device_kind;

typedef struct ravel_device ravel_device;               /* with the kernels it keeps */
typedef struct ravel_device_kernel ravel_device_kernel; /* one that can be launched */

typedef struct {
    ravel_device_kind kind;
    int ordinal;          /* -1: around a context of the caller's */
    char name[256];
    char version[128];    /* what it is compiled for: "sm_90", "OpenCL 1.2 ..." */
    char driver[128];
    int64_t memory;       /* bytes, all of it */
    int64_t shared;       /* bytes that a block may share: local memory */
    int64_t grid;         /* blocks in a launch, at most */
    int block;            /* threads in a block, at most */
    int processors;       /* multiprocessors, compute units */
} ravel_device_info;

/* A kernel's text, and how it is launched.  Strings are read during the call only. */
typedef struct {
    const char *source;   /* CUDA C++ or OpenCL C; a kernel of (dst, src) */
    const char *entry;    /* its name, extern "C" */
    int64_t grid;         /* blocks, in one dimension; 0: a launch does nothing */
    int block;            /* threads a block */
    int shared_bytes;     /* what the text declares for a block to share; it is only held
                           * against the device's limit */
    const char *options;  /* the compiler's, with blanks between; NULL: none */
} ravel_device_source;

/* The devices of a kind, in the order of their ordinals.  *n is how many there are, of
 * which out has the first `room`; `out` may be NULL where room is 0.  Makes no context.
 * RAVEL_ERR_DEVICE where there is none. */
RAVEL_API ravel_status ravel_device_list(ravel_device_kind kind, ravel_device_info *out,
                                         int room, int *n, ravel_error *err);

/* Open the device of that number: CUDA's primary context, which it shares with the CUDA
 * runtime, or a context and an in-order queue of its own in OpenCL. */
RAVEL_API ravel_status ravel_device_open(ravel_device_kind kind, int ordinal,
                                         ravel_device **out, ravel_error *err);
/* Around the CUDA context that is current on this thread.  It must outlive the device.
 * RAVEL_ERR_ARGUMENT where none is. */
RAVEL_API ravel_status ravel_device_of_cuda(ravel_device **out, ravel_error *err);
/* Around an OpenCL context, a cl_context, and a device of it, a cl_device_id.  The
 * context is retained. */
RAVEL_API ravel_status ravel_device_of_opencl(void *context, void *device,
                                              ravel_device **out, ravel_error *err);
/* Once no other call on it is running; its kernels stay until they are freed. */
RAVEL_API void ravel_device_free(ravel_device *dev);

/* What it is; false for NULL. */
RAVEL_API int ravel_device_about(const ravel_device *dev, ravel_device_info *out);
/* What it stands on, for the caller's own calls: CUcontext, CUdevice as a number and
 * NULL; or cl_context, cl_device_id and the cl_command_queue that was made for it, NULL
 * where the context is the caller's.  Owned by dev; pointers may be NULL. */
RAVEL_API void ravel_device_handles(const ravel_device *dev, void **context,
                                    void **device, void **queue);

/* Keep at most so many compiled texts, of so many bytes together (text and code), the
 * least recently used goes first.  Without this call 64 and 64 MiB; 0 keeps none.
 * RAVEL_ERR_ARGUMENT for a negative number. */
RAVEL_API ravel_status ravel_device_set_cache(ravel_device *dev, int kernels,
                                              int64_t bytes, ravel_error *err);

/* Compile a kernel: by NVRTC for the device's architecture, or to PTX of the newest one
 * that NVRTC knows where the device is newer; by the OpenCL driver.  A text with the
 * same options as before is not compiled again while the device keeps it, whatever
 * entry, grid and block are asked for.  RAVEL_ERR_ARGUMENT where the grid, the block or
 * what a block shares is more than the device has. */
RAVEL_API ravel_status ravel_device_compile(ravel_device *dev,
                                            const ravel_device_source *source,
                                            ravel_device_kernel **out, ravel_error *err);
/* Once its launches are done. */
RAVEL_API void ravel_device_kernel_free(ravel_device_kernel *kernel);

/* Enqueue one launch and return; what a kernel does wrong later is told by a later call
 * of the driver.  CUDA: `queue` is a CUstream of the context, NULL its default stream;
 * dst and src are device pointers; the context need not be current, and what is current
 * stays so.  OpenCL: `queue` is a cl_command_queue of the context, NULL the device's own
 * where it has one; dst and src are cl_mem; nothing is flushed.  The buffers must not overlap;
 * RAVEL_ERR_ARGUMENT where they are one. */
RAVEL_API ravel_status ravel_device_launch(ravel_device_kernel *kernel, void *queue,
                                           void *dst, const void *src, ravel_error *err);

#ifdef __cplusplus
}
#endif
#endif
