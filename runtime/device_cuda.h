/* device_cuda.h: CUDA devices, by the driver.  Prototypes, codes and attributes: "CUDA
 * Driver API" of NVIDIA's documentation, docs.nvidia.com/cuda/cuda-driver-api. */
#ifndef RAVEL_DEVICE_CUDA_H
#define RAVEL_DEVICE_CUDA_H

#include "device.h"

typedef void *Context, *Module, *Function, *Stream;
typedef unsigned long long Pointer;    /* CUdeviceptr */

/* name, the symbol where that is another, parameters; all return 0 or a code. */
#define FUNCTIONS(F) \
    F(cuInit, , (unsigned flags)) \
    F(cuDriverGetVersion, , (int *version)) \
    F(cuGetErrorName, , (int code, const char **name)) \
    F(cuDeviceGetCount, , (int *n)) \
    F(cuDeviceGet, , (int *device, int ordinal)) \
    F(cuDeviceGetName, , (char *name, int room, int device)) \
    F(cuDeviceGetAttribute, , (int *value, int attribute, int device)) \
    F(cuDeviceTotalMem, _v2, (size_t *n, int device)) \
    F(cuDevicePrimaryCtxRetain, , (Context *c, int device)) \
    F(cuDevicePrimaryCtxRelease, _v2, (int device)) \
    F(cuCtxGetCurrent, , (Context *c)) \
    F(cuCtxGetDevice, , (int *device)) \
    F(cuCtxPushCurrent, _v2, (Context c)) \
    F(cuCtxPopCurrent, _v2, (Context *c)) \
    F(cuCtxSynchronize, , (void)) \
    F(cuModuleLoadDataEx, , (Module *m, const void *image, unsigned n, int *option, \
                             void **value)) \
    F(cuModuleUnload, , (Module m)) \
    F(cuModuleGetFunction, , (Function *f, Module m, const char *name)) \
    F(cuLaunchKernel, , (Function f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, \
                         unsigned by, unsigned bz, unsigned shared, Stream s, \
                         void **args, void **extra)) \
    F(cuMemAlloc, _v2, (Pointer *p, size_t n)) \
    F(cuMemFree, _v2, (Pointer p)) \
    F(cuMemcpyHtoD, _v2, (Pointer to, const void *from, size_t n)) \
    F(cuMemcpyDtoH, _v2, (void *to, Pointer from, size_t n))

typedef struct {
#define F(name, suffix, params) int (*name) params;
    FUNCTIONS(F)
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

/* Return from the enclosing function if the call fails. */
#define TRY(v, name, args) \
    do { \
        int code_ = (v)->name args; \
        if (code_) \
            return cuda_says(v, #name, code_, RAVEL_ERR_DRIVER, err); \
    } while (0)

/* device_cuda_list.c */
/* Report a failed call: its name, and the name and number of the code.  RAVEL_ERR_DRIVER
 * becomes what the code says where it says more. */
ravel_status cuda_says(const Driver *v, const char *call, int code, ravel_status s,
                       ravel_error *err);
/* Open the driver; *n receives the number of devices, at least 1. */
ravel_status cuda_start(Driver *v, int *n, ravel_error *err);
/* Describe a device; *arch receives its compute capability, as in 90. */
ravel_status cuda_describe(const Driver *v, int device, ravel_device_info *i, int *arch,
                           ravel_error *err);
ravel_status cuda_list(ravel_device_info *out, int room, int *n, ravel_error *err);

#endif
