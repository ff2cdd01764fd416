/* mock_cuda.c: stands in for libcuda.so.1.
 *
 * Memory of the device is the host's.  A launch waits until something synchronises; then
 * void f(void *dst, const void *src, uint32_t block) of the library RAVEL_MOCK_KERNELS is
 * called for every block.  RAVEL_MOCK_DEVICES devices (1) of compute capability
 * RAVEL_MOCK_ARCH (90).  A kernel has RAVEL_MOCK_ARRAYS (0) pointers after dst and src, and
 * RAVEL_MOCK_VALUES numbers in its last argument.  Every call can fail: mock.h.  What is
 * refused is what CUDA's documentation says is. */
#define _GNU_SOURCE
#include "mock_cuda.h"

#include <dlfcn.h>
#include <elf.h>
#include <stdio.h>

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
    started = true;
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
    pthread_mutex_lock(&lock);
    primary[device].device = device;
    retained[device]++;
    mock_cuda.retained++;
    pthread_mutex_unlock(&lock);
    *c = &primary[device];
    return 0;
}

int
cuDevicePrimaryCtxRelease_v2(int device)
{
    ENTER("cuDevicePrimaryCtxRelease");
    pthread_mutex_lock(&lock);
    int had = retained[device];
    retained[device] -= had > 0;
    mock_cuda.retained -= had > 0;
    pthread_mutex_unlock(&lock);
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
    stack[depth++] = *c = x;
    return 0;
}

int
cuCtxGetCurrent(void **c)
{
    ENTER("cuCtxGetCurrent");
    *c = depth ? stack[depth - 1] : NULL;
    return 0;
}

int
cuCtxGetDevice(int *device)
{
    ENTER_CONTEXT("cuCtxGetDevice");
    *device = stack[depth - 1]->device;
    return 0;
}

int
cuCtxPushCurrent_v2(void *c)
{
    ENTER("cuCtxPushCurrent");
    if (!c || depth == STACK)
        return INVALID_CONTEXT;
    stack[depth++] = c;
    return 0;
}

int
cuCtxPopCurrent_v2(void **c)
{
    ENTER_CONTEXT("cuCtxPopCurrent");
    *c = stack[--depth];
    return 0;
}

/* Whether the image is for this device, or text that can still be compiled for it. */
static int
image_code(const char *image)
{
    const Elf64_Ehdr *e = (const void *)image;
    int arch = mock_number("RAVEL_MOCK_ARCH", 90), of;
    if (!memcmp(image, ELFMAG, SELFMAG)) {
        size_t a = e->e_shoff + (size_t)e->e_shnum * e->e_shentsize;
        size_t b = e->e_phoff + (size_t)e->e_phnum * e->e_phentsize;
        mock_image_bytes = a > b ? a : b;
        return e->e_machine == EM_OF_CUDA ? 0 : INVALID_IMAGE;
    }
    mock_image_bytes = strlen(image);
    if (sscanf(image, "mock sm_%d", &of) == 1)
        return of == arch ? 0 : NO_BINARY;
    if (sscanf(image, "mock compute_%d", &of) == 1)
        return of <= arch ? 0 : NO_BINARY;
    return strstr(image, ".version") ? 0 : INVALID_IMAGE;
}

int
cuModuleLoadDataEx(void **m, const void *image, unsigned n, int *option, void **value)
{
    pthread_mutex_lock(&lock);
    int wrong = image_code(image);
    if (mock_image_bytes > sizeof mock_image)
        mock_image_bytes = 0;
    memcpy(mock_image, image, mock_image_bytes);
    pthread_mutex_unlock(&lock);
    if (n != 2 || option[0] != 5 || option[1] != 6 || (uintptr_t)value[1] < 100)
        return INVALID_VALUE;
    if (mock_code("cuModuleLoadDataEx") || wrong)
        strcpy(value[0], "the mock says: not for this device");
    ENTER_CONTEXT("cuModuleLoadDataEx");
    if (wrong)
        return wrong;
    pthread_mutex_lock(&lock);
    Module *x = nmodules < MANY ? &module[nmodules++] : NULL;
    pthread_mutex_unlock(&lock);
    if (!x)
        return OUT_OF_MEMORY;
    x->alive = ALIVE;
    x->ctx = stack[depth - 1];
    *m = x;
    pthread_mutex_lock(&lock);
    mock_cuda.modules++;
    mock_cuda.loads++;
    pthread_mutex_unlock(&lock);
    return 0;
}

int
cuModuleUnload(void *m)
{
    Module *x = m;
    ENTER_CONTEXT("cuModuleUnload");
    if (x->alive != ALIVE || x->ctx != stack[depth - 1])
        return INVALID_HANDLE;
    x->alive = 0;
    pthread_mutex_lock(&lock);
    mock_cuda.modules--;
    pthread_mutex_unlock(&lock);
    return 0;
}

int
cuModuleGetFunction(void **f, void *m, const char *name)
{
    Module *x = m;
    ENTER_CONTEXT("cuModuleGetFunction");
    if (x->alive != ALIVE)
        return INVALID_HANDLE;
    const char *file = getenv("RAVEL_MOCK_KERNELS");
    void *lib = file ? dlopen(file, RTLD_NOW) : NULL, *k = lib ? dlsym(lib, name) : NULL;
    if (!k)
        return NOT_FOUND;
    pthread_mutex_lock(&lock);
    Function *out = nfunctions < MANY ? &function[nfunctions++] : NULL;
    pthread_mutex_unlock(&lock);
    if (!out)
        return OUT_OF_MEMORY;
    out->module = m;
    memcpy(&out->f, &k, sizeof k);
    *f = out;
    return 0;
}

static bool
on_device(const void *p)
{
    for (int i = 0; i < nblocks; i++)
        if ((const char *)p >= block[i].p && (const char *)p < block[i].p + block[i].n)
            return true;
    return false;
}

/* Of one stream; of all where it is NULL. */
static int
run_pending(void *stream)
{
    pthread_mutex_lock(&lock);
    int left = 0;
    for (int i = 0; i < npending; i++) {
        Launch *l = &pending[i];
        if (stream && l->stream != stream) {
            pending[left++] = *l;
            continue;
        }
        if (l->f->module->alive != ALIVE || !on_device(l->dst) || !on_device(l->src)) {
            deferred = ILLEGAL_ADDRESS;
            continue;
        }
        for (unsigned b = 0; b < l->grid; b++)
            l->f->f(l->dst, l->src, b);
        mock_cuda.blocks += (int)l->grid;
    }
    npending = left;
    int code = deferred;
    pthread_mutex_unlock(&lock);
    return code;
}

int
cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
               unsigned bz, unsigned shared, void *stream, void **args, void **extra)
{
    Function *x = f;
    ENTER_CONTEXT("cuLaunchKernel");
    if (deferred)
        return deferred;
    if (x->module->ctx != stack[depth - 1])
        return INVALID_HANDLE;
    bool batch = mock_number("RAVEL_MOCK_BATCH", 0);
    if (!gx || gx > INT32_MAX || !gy || gy > (batch ? PAIRS : 1) || gz != 1 || !bx ||
        by != 1 || bz != 1 || bx > MAX_THREADS || shared > MAX_SHARED || extra)
        return INVALID_VALUE;
    unsigned long long dst[PAIRS], src[PAIRS];     /* read now: the caller's are gone later */
    memcpy(dst, args[0], batch ? sizeof dst : sizeof *dst);
    memcpy(src, batch ? (char *)args[0] + sizeof dst : args[1], batch ? sizeof src : sizeof *src);
    int values = mock_number("RAVEL_MOCK_VALUES", 0), arrays = mock_number("RAVEL_MOCK_ARRAYS", 0);
    int last = batch ? 1 : 2 + arrays;
    for (int i = 0; i < arrays && i < ARRAYS; i++)
        memcpy(&mock_arrays[i], args[2 + i], sizeof *mock_arrays);
    if (values > VALUES || (values > 0) != (args[last] != NULL))
        return INVALID_VALUE;
    if (values)
        memcpy(mock_values, args[last], (size_t)values * sizeof *mock_values);
    pthread_mutex_lock(&lock);
    bool room = npending + gy <= MANY;
    for (unsigned i = 0; room && i < gy; i++)
        pending[npending++] = (Launch){x, gx, (void *)(uintptr_t)dst[i], stream,
                                       (const void *)(uintptr_t)src[i]};
    mock_cuda.launches += room;
    mock_function = f;
    mock_cuda.stream = stream;
    mock_cuda.block = bx;
    mock_cuda.shared = shared;
    pthread_mutex_unlock(&lock);
    return room ? 0 : OUT_OF_MEMORY;
}

int
cuCtxSynchronize(void)
{
    ENTER_CONTEXT("cuCtxSynchronize");
    return run_pending(NULL);
}

int
cuStreamSynchronize(void *stream)
{
    ENTER_CONTEXT("cuStreamSynchronize");
    return run_pending(stream);
}

int
cuMemAlloc_v2(unsigned long long *p, size_t n)
{
    ENTER_CONTEXT("cuMemAlloc");
    pthread_mutex_lock(&lock);
    bool room = n && nblocks < MANY && n <= MEMORY - used;
    char *x = room ? malloc(n) : NULL;
    if (x) {
        block[nblocks++] = (Block){x, n};
        used += n;
    }
    pthread_mutex_unlock(&lock);
    *p = (uintptr_t)x;
    return x ? 0 : n ? OUT_OF_MEMORY : INVALID_VALUE;
}

int
cuMemFree_v2(unsigned long long p)
{
    ENTER_CONTEXT("cuMemFree");
    run_pending(NULL);
    pthread_mutex_lock(&lock);
    int i = 0;
    while (i < nblocks && (uintptr_t)block[i].p != p)
        i++;
    bool found = i < nblocks;
    if (found) {
        free(block[i].p);
        used -= block[i].n;
        block[i] = block[--nblocks];
    }
    pthread_mutex_unlock(&lock);
    return found ? 0 : INVALID_VALUE;
}

/* Forget what was launched, what went wrong with it, and what could not be unloaded. */
void
mock_reset(void)
{
    npending = deferred = mock_cuda.modules = 0;
}

int
cuMemcpyHtoD_v2(unsigned long long to, const void *from, size_t n)
{
    ENTER_CONTEXT("cuMemcpyHtoD");
    int code = run_pending(NULL);
    if (!code)
        memcpy((void *)(uintptr_t)to, from, n);
    return code;
}

int
cuMemcpyDtoH_v2(void *to, unsigned long long from, size_t n)
{
    ENTER_CONTEXT("cuMemcpyDtoH");
    int code = run_pending(NULL);
    if (!code)
        memcpy(to, (void *)(uintptr_t)from, n);
    return code;
}
