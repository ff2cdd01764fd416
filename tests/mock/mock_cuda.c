/* mock_cuda.c, mock_cuda_module.c and mock_cuda_run.c stand in for libcuda.so.1: this one has the
 * devices and their contexts.
 *
 * Memory of the device is the host's.  A launch waits until something synchronises; then
 * void f(void *dst, const void *src, uint32_t block) of the library RAVEL_MOCK_KERNELS is
 * called for every block.  RAVEL_MOCK_DEVICES devices (1) of compute capability
 * RAVEL_MOCK_ARCH (90).  A kernel has RAVEL_MOCK_ARRAYS (0) pointers after dst and src, and
 * RAVEL_MOCK_VALUES numbers in its last argument.  Every call can fail: mock.h.  What is
 * refused is what CUDA's documentation says is. */
#define _GNU_SOURCE
#include "mock_cuda.h"

#include <stdio.h>

pthread_mutex_t mock_lock = PTHREAD_MUTEX_INITIALIZER;
bool mock_started;
_Thread_local Ctx *mock_stack[STACK];
_Thread_local int mock_depth;
struct MockCuda mock_cuda;
int mock_capturing;

static Ctx primary[16];
static int retained[16];

static int
devices(void)
{
    return mock_number("RAVEL_MOCK_DEVICES", 1);
}

int
cuInit(unsigned flags)
{
    FAIL("cuInit");
    if (flags)
        return INVALID_VALUE;
    if (devices() == 0)
        return NO_DEVICE;
    mock_started = true;
    return 0;
}

int
cuDriverGetVersion(int *version)
{
    FAIL("cuDriverGetVersion");
    *version = 13010;
    return 0;
}

int
cuGetErrorName(int code, const char **name)
{
    static const struct {
        int code;
        const char *name;
    } names[] = {
        {1, "CUDA_ERROR_INVALID_VALUE"}, {2, "CUDA_ERROR_OUT_OF_MEMORY"},
        {100, "CUDA_ERROR_NO_DEVICE"}, {201, "CUDA_ERROR_INVALID_CONTEXT"},
        {209, "CUDA_ERROR_NO_BINARY_FOR_GPU"}, {500, "CUDA_ERROR_NOT_FOUND"},
        {700, "CUDA_ERROR_ILLEGAL_ADDRESS"}, {719, "CUDA_ERROR_LAUNCH_FAILED"},
    };
    *name = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].code == code)
            *name = names[i].name;
    return *name ? 0 : INVALID_VALUE;
}

int
cuDeviceGetCount(int *n)
{
    ENTER("cuDeviceGetCount");
    *n = devices() < 0 ? 0 : devices();    /* -1: works, and has none */
    return 0;
}

int
cuDeviceGet(int *device, int ordinal)
{
    ENTER("cuDeviceGet");
    if (ordinal < 0 || ordinal >= devices())
        return INVALID_DEVICE;
    *device = ordinal;
    return 0;
}

int
cuDeviceGetName(char *name, int room, int device)
{
    ENTER("cuDeviceGetName");
    snprintf(name, (size_t)room, "Mock %d", device);
    return 0;
}

int
cuDeviceGetAttribute(int *value, int attribute, int device)
{
    ENTER("cuDeviceGetAttribute");
    int arch = mock_number("RAVEL_MOCK_ARCH", 90);
    (void)device;
    switch (attribute) {
    case 1: *value = MAX_THREADS; return 0;
    case 5: *value = INT32_MAX; return 0;
    case 8: *value = MAX_SHARED; return 0;
    case 16: *value = 132; return 0;
    case 75: *value = arch / 10; return 0;
    case 76: *value = arch % 10; return 0;
    default: return INVALID_VALUE;
    }
}

int
cuDeviceTotalMem_v2(size_t *n, int device)
{
    ENTER("cuDeviceTotalMem");
    (void)device;
    *n = MEMORY;
    return 0;
}

int
cuDevicePrimaryCtxRetain(void **c, int device)
{
    ENTER("cuDevicePrimaryCtxRetain");
    pthread_mutex_lock(&mock_lock);
    primary[device].device = device;
    retained[device]++;
    mock_cuda.retained++;
    pthread_mutex_unlock(&mock_lock);
    *c = &primary[device];
    return 0;
}

int
cuDevicePrimaryCtxRelease_v2(int device)
{
    ENTER("cuDevicePrimaryCtxRelease");
    pthread_mutex_lock(&mock_lock);
    int had = retained[device];
    retained[device] -= had > 0;
    mock_cuda.retained -= had > 0;
    pthread_mutex_unlock(&mock_lock);
    return had ? 0 : INVALID_CONTEXT;
}

int
cuCtxCreate_v2(void **c, unsigned flags, int device)
{
    ENTER("cuCtxCreate");
    Ctx *x = calloc(1, sizeof *x);
    (void)flags;
    if (!x)
        return OUT_OF_MEMORY;
    x->device = device;
    mock_stack[mock_depth++] = *c = x;
    return 0;
}

int
cuCtxGetCurrent(void **c)
{
    ENTER("cuCtxGetCurrent");
    *c = mock_depth ? mock_stack[mock_depth - 1] : NULL;
    return 0;
}

int
cuCtxGetDevice(int *device)
{
    ENTER_CONTEXT("cuCtxGetDevice");
    *device = mock_stack[mock_depth - 1]->device;
    return 0;
}

int
cuCtxPushCurrent_v2(void *c)
{
    ENTER("cuCtxPushCurrent");
    if (!c || mock_depth == STACK)
        return INVALID_CONTEXT;
    mock_stack[mock_depth++] = c;
    return 0;
}

int
cuCtxPopCurrent_v2(void **c)
{
    ENTER_CONTEXT("cuCtxPopCurrent");
    *c = mock_stack[--mock_depth];
    return 0;
}
