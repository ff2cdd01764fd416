/* CUDA devices, by the driver.  Prototypes, codes and attributes: "CUDA Driver API" of
 * NVIDIA's documentation, docs.nvidia.com/cuda/cuda-driver-api. */
#include <stdio.h>
#include <stdlib.h>

#include "device.h"
#include "device_library.h"
#include "device_files.h"
#include "device_nvrtc.h"

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

static const char *const symbols[] = {
#define F(name, suffix, params) #name #suffix,
    FUNCTIONS(F)
#undef F
    NULL,
};
_Static_assert(sizeof(Driver) == sizeof symbols - sizeof *symbols, "a symbol a function");

static const char *const files[] = {"libcuda.so.1", NULL};

static const DeviceLibrary library = {
    "the CUDA driver", "RAVEL_CUDA_LIBRARY", files, symbols,
};

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

static ravel_status
says(const Driver *v, const char *call, int code, ravel_status s, ravel_error *err)
{
    const char *name = NULL;
    if (v->cuGetErrorName(code, &name) || !name)
        name = "unknown to the driver";
    if (s == RAVEL_ERR_DRIVER && code == OUT_OF_MEMORY)
        s = RAVEL_ERR_MEMORY;
    if (s == RAVEL_ERR_DRIVER && code == NO_DEVICE)
        s = RAVEL_ERR_DEVICE;
    return error_set(err, s, "%s: %s (%d)", call, name, code);
}

/* Return from the enclosing function if the call fails. */
#define TRY(v, name, args) \
    do { \
        int code_ = (v)->name args; \
        if (code_) \
            return says(v, #name, code_, RAVEL_ERR_DRIVER, err); \
    } while (0)

static ravel_status
start(Driver *v, int *n, ravel_error *err)
{
    ravel_status s = device_library(&library, v, err);
    if (s)
        return s;
    TRY(v, cuInit, (0));
    TRY(v, cuDeviceGetCount, (n));
    if (*n < 1)
        return error_set(err, RAVEL_ERR_DEVICE, "the CUDA driver has no device");
    return RAVEL_OK;
}

static ravel_status
describe(const Driver *v, int device, ravel_device_info *i, int *arch, ravel_error *err)
{
    int major, minor, version, grid, shared;
    size_t memory;
    TRY(v, cuDeviceGetName, (i->name, sizeof i->name, device));
    TRY(v, cuDriverGetVersion, (&version));
    TRY(v, cuDeviceTotalMem, (&memory, device));
    TRY(v, cuDeviceGetAttribute, (&major, COMPUTE_CAPABILITY_MAJOR, device));
    TRY(v, cuDeviceGetAttribute, (&minor, COMPUTE_CAPABILITY_MINOR, device));
    TRY(v, cuDeviceGetAttribute, (&i->block, MAX_THREADS_PER_BLOCK, device));
    TRY(v, cuDeviceGetAttribute, (&grid, MAX_GRID_DIM_X, device));
    TRY(v, cuDeviceGetAttribute, (&shared, MAX_SHARED_MEMORY_PER_BLOCK, device));
    TRY(v, cuDeviceGetAttribute, (&i->processors, MULTIPROCESSOR_COUNT, device));
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

static ravel_status
list(ravel_device_info *out, int room, int *n, ravel_error *err)
{
    Driver v;
    int count, device, arch;
    ravel_status s = start(&v, &count, err);
    for (int i = 0; i < count && i < room && !s; i++) {
        TRY(&v, cuDeviceGet, (&device, i));
        s = describe(&v, device, &out[i], &arch, err);
        out[i].ordinal = i;
    }
    if (!s)
        *n = count;
    return s;
}

/* Allocate the data of the kind, and load the driver. */
static ravel_status
begin(ravel_device *d, int *n, Cuda **out, ravel_error *err)
{
    Cuda *c = calloc(1, sizeof *c);
    if (!c)
        return error_set(err, RAVEL_ERR_MEMORY, "no memory for a device");
    d->native = *out = c;
    return start(&c->v, n, err);
}

static ravel_status
cuda_open(ravel_device *d, int ordinal, ravel_error *err)
{
    Cuda *c = NULL;
    int n;
    ravel_status s = begin(d, &n, &c, err);
    if (s)
        return s;
    if (ordinal >= n)
        return error_set(err, RAVEL_ERR_DEVICE, "no CUDA device %d: there are %d, from 0 "
                         "on", ordinal, n);
    TRY(&c->v, cuDeviceGet, (&c->device, ordinal));
    s = describe(&c->v, c->device, &d->info, &c->arch, err);
    if (s)
        return s;
    TRY(&c->v, cuDevicePrimaryCtxRetain, (&c->context, c->device));
    c->primary = true;
    return RAVEL_OK;
}

static ravel_status
cuda_wrap(ravel_device *d, void *context, void *device, ravel_error *err)
{
    Cuda *c = NULL;
    int n;
    (void)context;
    (void)device;
    ravel_status s = begin(d, &n, &c, err);
    if (s)
        return s;
    TRY(&c->v, cuCtxGetCurrent, (&c->context));
    if (!c->context)
        return error_set(err, RAVEL_ERR_ARGUMENT, "no CUDA context is current on this "
                         "thread");
    TRY(&c->v, cuCtxGetDevice, (&c->device));
    return describe(&c->v, c->device, &d->info, &c->arch, err);
}

static void
cuda_close(ravel_device *d)
{
    Cuda *c = d->native;
    if (c->primary)
        c->v.cuDevicePrimaryCtxRelease(c->device);
    free(c);
}

static void
handles(const ravel_device *d, void **context, void **device, void **queue)
{
    const Cuda *c = d->native;
    *context = c->context;
    *device = (void *)(intptr_t)c->device;
    *queue = NULL;
}

/* Make the context current until `back`. */
static ravel_status
enter(const Cuda *c, ravel_error *err)
{
    TRY(&c->v, cuCtxPushCurrent, (c->context));
    return RAVEL_OK;
}

static void
back(const Cuda *c)
{
    Context was;
    c->v.cuCtxPopCurrent(&was);
}

/* Make a call with the context current; `code` receives 0 or the error code. */
#define INSIDE(c, code, call) \
    do { \
        ravel_status s_ = enter(c, err); \
        if (s_) \
            return s_; \
        code = (c)->v.call; \
        back(c); \
    } while (0)

static ravel_status
load(const Cuda *c, DeviceModule *m, const char *image, ravel_error *err)
{
    char log[4096] = "", what[128];
    int code, option[] = {JIT_ERROR_LOG_BUFFER, JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *value[] = {log, (void *)(uintptr_t)(sizeof log - 1)};
    ravel_error said;
    INSIDE(c, code, cuModuleLoadDataEx(&m->code, image, 2, option, value));
    if (!code)
        return RAVEL_OK;
    m->code = NULL;
    if (code == OUT_OF_MEMORY)
        return says(&c->v, "cuModuleLoadDataEx", code, RAVEL_ERR_MEMORY, err);
    says(&c->v, "cuModuleLoadDataEx", code, RAVEL_ERR_COMPILE, &said);
    snprintf(what, sizeof what, "%.120s", said.text);
    return device_log(err, what, log);
}

/* Load what the folder has for the key; false if that is nothing, or does not load. */
static bool
load_kept(const Cuda *c, DeviceModule *m, const char *folder, const DeviceFileKey *key)
{
    size_t len;
    char *image = device_file_find(folder, key, &len);
    bool good = image && !load(c, m, image, NULL);
    m->bytes += good ? (int64_t)len : 0;
    free(image);
    return good;
}

static ravel_status
compile(const Cuda *c, DeviceModule *m, const char *folder, const DeviceFileKey *key,
        ravel_error *err)
{
    char *image = NULL;
    size_t len;
    ravel_status s = nvrtc_build(m->source, m->options, c->arch, &image, &len, err);
    if (s)
        return s;
    m->bytes += (int64_t)len;
    s = load(c, m, image, err);
    if (!s && folder && key->compiler)
        device_file_keep(folder, key, image, len);
    free(image);
    return s;
}

static ravel_status
build(ravel_device *d, DeviceModule *m, ravel_error *err)
{
    const Cuda *c = d->native;
    NvrtcAbout about;
    char *folder = device_folder(d), version[64] = "";
    DeviceFileKey key = {m->source, m->options, d->info.version, NULL};
    if (folder && !nvrtc_about(&about, NULL)) {
        snprintf(version, sizeof version, "nvrtc %d.%d", about.major, about.minor);
        key.compiler = version;
    }
    ravel_status s = RAVEL_OK;
    if (!folder || !load_kept(c, m, folder, &key))
        s = compile(c, m, folder, &key, err);
    free(folder);
    return s;
}

static void
unload(ravel_device *d, DeviceModule *m)
{
    const Cuda *c = d->native;
    if (enter(c, NULL))
        return;
    c->v.cuModuleUnload(m->code);
    back(c);
}

static ravel_status
entry(ravel_device_kernel *k, const char *name, ravel_error *err)
{
    const Cuda *c = k->device->native;
    char what[192];
    int code;
    snprintf(what, sizeof what, "the kernel '%.100s': cuModuleGetFunction", name);
    INSIDE(c, code, cuModuleGetFunction(&k->code, k->module->code, name));
    if (!code)
        return RAVEL_OK;
    k->code = NULL;
    return says(&c->v, what, code, code == OUT_OF_MEMORY ? RAVEL_ERR_MEMORY
                : RAVEL_ERR_COMPILE, err);
}

/* The module owns its CUfunctions, so nothing is freed. */
static void
leave(ravel_device_kernel *k)
{
    (void)k;
}

static ravel_status
launch(ravel_device_kernel *k, void *queue, const DeviceLaunch *l, ravel_error *err)
{
    const Cuda *c = k->device->native;
    Pointer to = (uintptr_t)l->dst, from = (uintptr_t)l->src;
    void *args[] = {&to, &from, (void *)(uintptr_t)l->values};
    int code;
    INSIDE(c, code, cuLaunchKernel(k->code, (unsigned)l->grid, 1, 1, (unsigned)k->block,
                                   1, 1, 0, queue, args, NULL));
    return code ? says(&c->v, "cuLaunchKernel", code, RAVEL_ERR_LAUNCH, err) : RAVEL_OK;
}

static ravel_status
take(ravel_device *d, size_t n, void **out, ravel_error *err)
{
    const Cuda *c = d->native;
    Pointer p = 0;
    int code;
    INSIDE(c, code, cuMemAlloc(&p, n));
    if (code)
        return says(&c->v, "cuMemAlloc", code, RAVEL_ERR_DRIVER, err);
    *out = (void *)(uintptr_t)p;
    return RAVEL_OK;
}

static void
give(ravel_device *d, void *memory)
{
    const Cuda *c = d->native;
    if (enter(c, NULL))
        return;
    c->v.cuMemFree((uintptr_t)memory);
    back(c);
}

static ravel_status
write_to(ravel_device *d, void *to, const void *from, size_t n, ravel_error *err)
{
    const Cuda *c = d->native;
    int code;
    INSIDE(c, code, cuMemcpyHtoD((uintptr_t)to, from, n));
    return code ? says(&c->v, "cuMemcpyHtoD", code, RAVEL_ERR_DRIVER, err) : RAVEL_OK;
}

static ravel_status
read_from(ravel_device *d, void *to, const void *from, size_t n, ravel_error *err)
{
    const Cuda *c = d->native;
    int code;
    INSIDE(c, code, cuMemcpyDtoH(to, (uintptr_t)from, n));
    return code ? says(&c->v, "cuMemcpyDtoH", code, RAVEL_ERR_DRIVER, err) : RAVEL_OK;
}

static ravel_status
finish(ravel_device *d, ravel_error *err)
{
    const Cuda *c = d->native;
    int code;
    INSIDE(c, code, cuCtxSynchronize());
    return code ? says(&c->v, "cuCtxSynchronize", code, RAVEL_ERR_DRIVER, err) : RAVEL_OK;
}

const DeviceKind device_cuda = {
    "cuda", list, cuda_open, cuda_wrap, cuda_close, handles, build, unload, entry, leave,
    launch, take, give, write_to, read_from, finish,
};
