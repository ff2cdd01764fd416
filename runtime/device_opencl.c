/* OpenCL devices: contexts, kernels and memory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device_code.h"
#include "device_opencl.h"

static ravel_status
begin(ravel_device *d, Opencl **out, ravel_error *err)
{
    Opencl *c = calloc(1, sizeof *c);
    if (!c)
        return error_set(err, RAVEL_ERR_MEMORY, "no memory for a device");
    d->native = *out = c;
    return opencl_load(&c->v, err);
}

static ravel_status
opencl_open(ravel_device *d, int ordinal, ravel_error *err)
{
    Opencl *c = NULL;
    Found all[DEVICES_MAX];
    int n, code;
    ravel_status s = begin(d, &c, err);
    if (!s)
        s = opencl_devices(&c->v, all, &n, err);
    if (s)
        return s;
    if (ordinal >= n)
        return error_set(err, RAVEL_ERR_DEVICE, "no OpenCL device %d: there are %d, from "
                         "0 on", ordinal, n);
    c->device = all[ordinal].device;
    s = opencl_describe(&c->v, c->device, &d->info, err);
    if (s)
        return s;
    intptr_t property[] = {CONTEXT_PLATFORM, (intptr_t)all[ordinal].platform, 0};
    c->context = c->v.clCreateContext(property, 1, &c->device, NULL, NULL, &code);
    if (!c->context)
        return opencl_says("clCreateContext", code, RAVEL_ERR_DRIVER, err);
    c->queue = c->v.clCreateCommandQueue(c->context, c->device, 0, &code);
    return c->queue ? RAVEL_OK
           : opencl_says("clCreateCommandQueue", code, RAVEL_ERR_DRIVER, err);
}

static ravel_status
check_in_context(const OpenclCalls *v, Context context, Device device, ravel_error *err)
{
    Device has[DEVICES_MAX];
    size_t n = 0;
    ravel_status s = CALL(v, clGetContextInfo, (context, CONTEXT_DEVICES, sizeof has, has, &n));
    if (s)
        return s;
    for (size_t i = 0; i < n / sizeof *has; i++)
        if (has[i] == device)
            return RAVEL_OK;
    return error_set(err, RAVEL_ERR_ARGUMENT, "the OpenCL device is none of the "
                     "context's");
}

static ravel_status
opencl_wrap(ravel_device *d, void *context, void *device, ravel_error *err)
{
    Opencl *c = NULL;
    ravel_status s = begin(d, &c, err);
    if (!s)
        s = check_in_context(&c->v, context, device, err);
    if (s)
        return s;
    c->device = device;
    if ((s = CALL(&c->v, clRetainContext, (context))))
        return s;
    c->context = context;
    return opencl_describe(&c->v, device, &d->info, err);
}

static void
opencl_close(ravel_device *d)
{
    Opencl *c = d->native;
    if (c->queue)
        c->v.clReleaseCommandQueue(c->queue);
    if (c->context)
        c->v.clReleaseContext(c->context);
    free(c);
}

static void
handles(const ravel_device *d, void **context, void **device, void **queue)
{
    const Opencl *c = d->native;
    *context = c->context;
    *device = c->device;
    *queue = c->queue;
}

/* The log of the compiler, malloc'ed; NULL if it is not available. */
static char *
log_of(const Opencl *c, Program p)
{
    size_t n = 0;
    if (c->v.clGetProgramBuildInfo(p, c->device, PROGRAM_BUILD_LOG, 0, NULL, &n) ||
        n == 0 || n > LOG_MAX)
        return NULL;
    char *log = calloc(1, n + 1);
    int code = !log ? 0 : c->v.clGetProgramBuildInfo(p, c->device, PROGRAM_BUILD_LOG, n,
                                                     log, NULL);
    if (code) {
        free(log);
        return NULL;
    }
    return log;
}

/* The options for this device, malloc'ed; NULL if there is no memory.  PoCL 3.1 decides a condition
 * behind a loop in a branch by the first thread for all of a group, and then stores what the
 * condition excludes.  It does not without optimisation. */
static char *
options_of(const ravel_device *d, const DeviceModule *m)
{
    static const char PLAIN[] = " -cl-opt-disable";
    const size_t room = strlen(m->options) + sizeof PLAIN;
    char *options = malloc(room);
    if (options)
        snprintf(options, room, "%s%s", m->options, strstr(d->info.version, "PoCL") ? PLAIN : "");
    return options;
}

static ravel_status
build(ravel_device *d, DeviceModule *m, ravel_error *err)
{
    const Opencl *c = d->native;
    const char *source = m->source;
    char what[128], *options = options_of(d, m);
    int code;
    if (!options)
        return error_set(err, RAVEL_ERR_MEMORY, "no memory for a kernel");
    m->code = c->v.clCreateProgramWithSource(c->context, 1, &source, NULL, &code);
    if (!m->code) {
        free(options);
        return opencl_says("clCreateProgramWithSource", code, RAVEL_ERR_DRIVER, err);
    }
    code = c->v.clBuildProgram(m->code, 1, &c->device, options, NULL, NULL);
    free(options);
    if (!code)
        return RAVEL_OK;
    if (code == OUT_OF_HOST_MEMORY)
        return opencl_says("clBuildProgram", code, RAVEL_ERR_DRIVER, err);
    char *log = log_of(c, m->code);
    snprintf(what, sizeof what, "OpenCL does not compile the kernel: %s (%d)",
             opencl_code(code), code);
    ravel_status s = device_log(err, what, log ? log : "");
    free(log);
    return s;
}

static void
unload(ravel_device *d, DeviceModule *m)
{
    const Opencl *c = d->native;
    c->v.clReleaseProgram(m->code);
}

static ravel_status
entry(ravel_device_kernel *k, const char *name, ravel_error *err)
{
    const Opencl *c = k->device->native;
    char what[192];
    int code;
    snprintf(what, sizeof what, "the kernel '%.100s': clCreateKernel", name);
    k->code = c->v.clCreateKernel(k->module->code, name, &code);
    return k->code ? RAVEL_OK : opencl_says(what, code, RAVEL_ERR_COMPILE, err);
}

static void
leave(ravel_device_kernel *k)
{
    const Opencl *c = k->device->native;
    c->v.clReleaseKernel(k->code);
}

/* A kernel's arguments are its own state, so threads take turns. */
static ravel_status
enqueue(ravel_device_kernel *k, Queue queue, int64_t grid, const Memory *arg, int nargs,
        ravel_error *err)
{
    const Opencl *c = k->device->native;
    size_t local = (size_t)k->block, global = (size_t)grid * local;
    const char *call = "clSetKernelArg";
    int code = 0;
    pthread_mutex_lock(&k->lock);
    for (int i = 0; i < nargs && !code; i++)
        code = c->v.clSetKernelArg(k->code, (unsigned)i, sizeof arg[i], &arg[i]);
    if (!code) {
        call = "clEnqueueNDRangeKernel";
        code = c->v.clEnqueueNDRangeKernel(queue, k->code, 1, NULL, &global, &local, 0,
                                           NULL, NULL);
    }
    pthread_mutex_unlock(&k->lock);
    return code ? opencl_says(call, code, RAVEL_ERR_LAUNCH, err) : RAVEL_OK;
}

/* The values are in a buffer of their own, which lives until the launch has finished. */
static ravel_status
launch(ravel_device_kernel *k, void *queue, const DeviceLaunch *l, ravel_error *err)
{
    const Opencl *c = k->device->native;
    Memory arg[3 + DEVICE_ARRAYS] = {l->dst, (void *)(uintptr_t)l->src};
    int code, nargs = 2 + l->narrays;
    for (int i = 0; i < l->narrays; i++)
        arg[2 + i] = (void *)(uintptr_t)l->array[i];
    if (!queue && !c->queue)
        return error_set(err, RAVEL_ERR_ARGUMENT, "a launch in an OpenCL context of the "
                         "caller's needs a queue");
    queue = queue ? queue : c->queue;
    if (!l->values)
        return enqueue(k, queue, l->grid, arg, nargs, err);
    arg[nargs] = c->v.clCreateBuffer(c->context, MEM_READ_ONLY | MEM_COPY_HOST_PTR,
                                 (size_t)l->nvalues * sizeof *l->values,
                                 (void *)(uintptr_t)l->values, &code);
    if (!arg[nargs])
        return opencl_says("clCreateBuffer", code, RAVEL_ERR_DRIVER, err);
    ravel_status s = enqueue(k, queue, l->grid, arg, nargs + 1, err);
    c->v.clReleaseMemObject(arg[nargs]);
    return s;
}

static ravel_status
check_queue(const Opencl *c, ravel_error *err)
{
    if (c->queue)
        return RAVEL_OK;
    return error_set(err, RAVEL_ERR_ARGUMENT, "the OpenCL context is the caller's: there is "
                     "no queue");
}

static ravel_status
take(ravel_device *d, size_t n, void **out, ravel_error *err)
{
    const Opencl *c = d->native;
    int code;
    *out = c->v.clCreateBuffer(c->context, MEM_READ_WRITE, n, NULL, &code);
    return *out ? RAVEL_OK
           : opencl_says("clCreateBuffer", code, code == INVALID_BUFFER_SIZE ? RAVEL_ERR_MEMORY
                  : RAVEL_ERR_DRIVER, err);
}

static void
give(ravel_device *d, void *memory)
{
    const Opencl *c = d->native;
    c->v.clReleaseMemObject(memory);
}

static ravel_status
write_to(ravel_device *d, void *to, const void *from, size_t n, ravel_error *err)
{
    const Opencl *c = d->native;
    ravel_status s = check_queue(c, err);
    if (s)
        return s;
    return CALL(&c->v, clEnqueueWriteBuffer, (c->queue, to, TRUE, 0, n, from, 0, NULL, NULL));
}

static ravel_status
read_from(ravel_device *d, void *to, const void *from, size_t n, ravel_error *err)
{
    const Opencl *c = d->native;
    ravel_status s = check_queue(c, err);
    void *at = (void *)(uintptr_t)from;
    if (s)
        return s;
    return CALL(&c->v, clEnqueueReadBuffer, (c->queue, at, TRUE, 0, n, to, 0, NULL, NULL));
}

static ravel_status
finish(ravel_device *d, ravel_error *err)
{
    const Opencl *c = d->native;
    ravel_status s = check_queue(c, err);
    return s ? s : CALL(&c->v, clFinish, (c->queue));
}

const DeviceKind device_opencl = {
    "opencl", opencl_list, opencl_open, opencl_wrap, opencl_close, handles, build, unload, entry,
    leave, launch, take, give, write_to, read_from, finish,
};
