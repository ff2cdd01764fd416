/* CUDA devices: contexts, compiled kernels, launches, memory. */
#include <stdio.h>
#include <stdlib.h>

#include "device_cuda.h"
#include "device_files.h"
#include "device_nvrtc.h"

/* Allocate the data of the kind, and load the driver. */
static ravel_status
begin(ravel_device *d, int *n, Cuda **out, ravel_error *err)
{
    Cuda *c = calloc(1, sizeof *c);
    if (!c)
        return error_set(err, RAVEL_ERR_MEMORY, "no memory for a device");
    d->native = *out = c;
    return cuda_start(&c->v, n, err);
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
    if ((s = CALL(&c->v, cuDeviceGet, (&c->device, ordinal))) ||
        (s = cuda_describe(&c->v, c->device, &d->info, &c->arch, err)) ||
        (s = CALL(&c->v, cuDevicePrimaryCtxRetain, (&c->context, c->device))))
        return s;
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
    if (s || (s = CALL(&c->v, cuCtxGetCurrent, (&c->context))))
        return s;
    if (!c->context)
        return error_set(err, RAVEL_ERR_ARGUMENT, "no CUDA context is current on this "
                         "thread");
    if ((s = CALL(&c->v, cuCtxGetDevice, (&c->device))))
        return s;
    return cuda_describe(&c->v, c->device, &d->info, &c->arch, err);
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
    return CALL(&c->v, cuCtxPushCurrent, (c->context));
}

static void
back(const Cuda *c)
{
    Context was;
    c->v.cuCtxPopCurrent(&was);
}

/* What a call between `enter` and this returned. */
static int
left(const Cuda *c, int code)
{
    back(c);
    return code;
}

static ravel_status
load(const Cuda *c, DeviceModule *m, const char *image, ravel_error *err)
{
    char log[4096] = "", what[128];
    int code, option[] = {JIT_ERROR_LOG_BUFFER, JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *value[] = {log, (void *)(uintptr_t)(sizeof log - 1)};
    ravel_error said;
    ravel_status s = enter(c, err);
    if (s)
        return s;
    code = left(c, c->v.cuModuleLoadDataEx(&m->code, image, 2, option, value));
    if (!code)
        return RAVEL_OK;
    m->code = NULL;
    if (code == OUT_OF_MEMORY)
        return cuda_says(&c->v, "cuModuleLoadDataEx", code, RAVEL_ERR_MEMORY, err);
    cuda_says(&c->v, "cuModuleLoadDataEx", code, RAVEL_ERR_COMPILE, &said);
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
    ravel_status s = enter(c, err);
    if (s)
        return s;
    code = left(c, c->v.cuModuleGetFunction(&k->code, k->module->code, name));
    if (!code)
        return RAVEL_OK;
    k->code = NULL;
    return cuda_says(&c->v, what, code, code == OUT_OF_MEMORY ? RAVEL_ERR_MEMORY
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
    Pointer to = (uintptr_t)l->dst, from = (uintptr_t)l->src, array[DEVICE_ARRAYS];
    void *values = (void *)(uintptr_t)l->values, *pairs = (void *)(uintptr_t)l->pairs;
    void *args[3 + DEVICE_ARRAYS] = {pairs ? pairs : &to, pairs ? values : &from, values};
    for (int i = 0; i < l->narrays; i++) {
        array[i] = (uintptr_t)l->array[i];
        args[2 + i] = &array[i];
    }
    args[2 + l->narrays] = values;
    unsigned down = pairs ? (unsigned)l->npairs : 1;
    ravel_status s = enter(c, err);
    if (s)
        return s;
    int code = left(c, c->v.cuLaunchKernel(k->code, (unsigned)l->grid, down, 1,
                                           (unsigned)k->block, 1, 1, 0, queue, args, NULL));
    return cuda_says(&c->v, "cuLaunchKernel", code, RAVEL_ERR_LAUNCH, err);
}

static ravel_status
take(ravel_device *d, size_t n, void **out, ravel_error *err)
{
    const Cuda *c = d->native;
    Pointer p = 0;
    ravel_status s = enter(c, err);
    if (!s)
        s = cuda_says(&c->v, "cuMemAlloc", left(c, c->v.cuMemAlloc(&p, n)), RAVEL_ERR_DRIVER, err);
    if (s)
        return s;
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
    ravel_status s = enter(c, err);
    return s ? s : cuda_says(&c->v, "cuMemcpyHtoD",
                             left(c, c->v.cuMemcpyHtoD((uintptr_t)to, from, n)),
                             RAVEL_ERR_DRIVER, err);
}

static ravel_status
read_from(ravel_device *d, void *to, const void *from, size_t n, ravel_error *err)
{
    const Cuda *c = d->native;
    ravel_status s = enter(c, err);
    return s ? s : cuda_says(&c->v, "cuMemcpyDtoH",
                             left(c, c->v.cuMemcpyDtoH(to, (uintptr_t)from, n)),
                             RAVEL_ERR_DRIVER, err);
}

static ravel_status
finish(ravel_device *d, ravel_error *err)
{
    const Cuda *c = d->native;
    ravel_status s = enter(c, err);
    return s ? s : cuda_says(&c->v, "cuCtxSynchronize", left(c, c->v.cuCtxSynchronize()),
                             RAVEL_ERR_DRIVER, err);
}

const DeviceKind device_cuda = {
    "cuda", cuda_list, cuda_open, cuda_wrap, cuda_close, handles, build, unload, entry,
    leave, launch, take, give, write_to, read_from, finish,
};
