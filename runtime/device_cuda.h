/* device_cuda.h: CUDA devices, by the driver.  Prototypes, codes and attributes: "CUDA
 * Driver API" of NVIDIA's documentation, docs.nvidia.com/cuda/cuda-driver-api. */
#ifndef RAVEL_DEVICE_CUDA_H
#define RAVEL_DEVICE_CUDA_H

#include "device.h"

typedef void *Context, *Module, *Function, *Stream;
typedef unsigned long long Pointer;    /* CUdeviceptr */

typedef struct {
#define F(name, suffix, params) int (*name) params;
#include "device_cuda.def"
#undef F
} Driver;

enum {
    OUT_OF_MEMORY = 2, NO_DEVICE = 100,                       /* CUresult */
    MAX_THREADS_PER_BLOCK = 1, MAX_GRID_DIM_X = 5, MAX_SHARED_MEMORY_PER_BLOCK = 8,
    MULTIPROCESSOR_COUNT = 16,
    COMPUTE_CAPABILITY_MAJOR = 75, COMPUTE_CAPABILITY_MINOR = 76,
    JIT_ERROR_LOG_BUFFER = 5, JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6,
};

typedef struct {
    Driver v;
    int device, arch;
    Context context;
    bool primary;                  /* ours to release */
} Cuda;

/* Call a function of the driver: RAVEL_OK, or the failure, which err has too. */
#define CALL(v, name, args) cuda_says(v, #name, (v)->name args, RAVEL_ERR_DRIVER, err)

/* device_cuda_list.c */
/* Report a call that failed: its name, and the name and number of the code.  RAVEL_ERR_DRIVER
 * becomes what the code says where it says more.  RAVEL_OK if the code is 0. */
ravel_status cuda_says(const Driver *v, const char *call, int code, ravel_status s,
                       ravel_error *err);
/* Open the driver; *n receives the number of devices, at least 1. */
ravel_status cuda_start(Driver *v, int *n, ravel_error *err);
/* Describe a device; *arch receives its compute capability, as in 90. */
ravel_status cuda_describe(const Driver *v, int device, ravel_device_info *i, int *arch,
                           ravel_error *err);
ravel_status cuda_list(ravel_device_info *out, int room, int *n, ravel_error *err);

#endif
