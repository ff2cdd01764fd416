/* The CUDA driver, and the list of its devices. */
#include <stdio.h>

#include "device_cuda.h"
#include "device_library.h"

static const char *const symbols[] = {
#define F(name, suffix, params) #name #suffix,
#include "device_cuda.def"
#undef F
    NULL,
};
_Static_assert(sizeof(Driver) == sizeof symbols - sizeof *symbols, "a symbol a function");

static const char *const files[] = {"libcuda.so.1", NULL};

static const DeviceLibrary library = {
    "the CUDA driver", "RAVEL_CUDA_LIBRARY", files, symbols,
};

ravel_status
cuda_says(const Driver *v, const char *call, int code, ravel_status s, ravel_error *err)
{
    const char *name = NULL;
    if (!code)
        return RAVEL_OK;
    if (v->cuGetErrorName(code, &name) || !name)
        name = "unknown to the driver";
    if (s == RAVEL_ERR_DRIVER && code == OUT_OF_MEMORY)
        s = RAVEL_ERR_MEMORY;
    if (s == RAVEL_ERR_DRIVER && code == NO_DEVICE)
        s = RAVEL_ERR_DEVICE;
    return error_set(err, s, "%s: %s (%d)", call, name, code);
}

ravel_status
cuda_start(Driver *v, int *n, ravel_error *err)
{
    ravel_status s = device_library(&library, v, err);
    if (s || (s = CALL(v, cuInit, (0))) || (s = CALL(v, cuDeviceGetCount, (n))))
        return s;
    if (*n < 1)
        return error_set(err, RAVEL_ERR_DEVICE, "the CUDA driver has no device");
    return RAVEL_OK;
}

ravel_status
cuda_describe(const Driver *v, int device, ravel_device_info *i, int *arch,
              ravel_error *err)
{
    int major, minor, version, grid, shared;
    size_t memory;
    ravel_status s;
    const struct { int *to, of; } wanted[] = {
        {&major, COMPUTE_CAPABILITY_MAJOR},
        {&minor, COMPUTE_CAPABILITY_MINOR},
        {&i->block, MAX_THREADS_PER_BLOCK},
        {&grid, MAX_GRID_DIM_X},
        {&shared, MAX_SHARED_MEMORY_PER_BLOCK},
        {&i->processors, MULTIPROCESSOR_COUNT},
    };
    if ((s = CALL(v, cuDeviceGetName, (i->name, sizeof i->name, device))) ||
        (s = CALL(v, cuDriverGetVersion, (&version))) ||
        (s = CALL(v, cuDeviceTotalMem, (&memory, device))))
        return s;
    for (size_t k = 0; k < sizeof wanted / sizeof *wanted; k++)
        if ((s = CALL(v, cuDeviceGetAttribute, (wanted[k].to, wanted[k].of, device))))
            return s;
    i->kind = RAVEL_CUDA;
    i->name[sizeof i->name - 1] = 0;
    i->memory = (int64_t)memory;
    i->grid = grid;
    i->shared = shared;
    *arch = 10 * major + minor;
    snprintf(i->version, sizeof i->version, "sm_%d", *arch);
    snprintf(i->driver, sizeof i->driver, "CUDA %d.%d", version / 1000,
             version % 1000 / 10);
    return RAVEL_OK;
}

ravel_status
cuda_list(ravel_device_info *out, int room, int *n, ravel_error *err)
{
    Driver v;
    int count, device, arch;
    ravel_status s = cuda_start(&v, &count, err);
    for (int i = 0; i < count && i < room && !s; i++) {
        s = CALL(&v, cuDeviceGet, (&device, i));
        if (!s)
            s = cuda_describe(&v, device, &out[i], &arch, err);
        out[i].ordinal = i;
    }
    if (!s)
        *n = count;
    return s;
}
