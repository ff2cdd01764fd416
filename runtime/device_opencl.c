/* OpenCL devices, by the ICD loader.  Prototypes, codes and constants: the OpenCL 1.2
 * specification (Khronos) and cl.h.  Calls of 1.2 only. */
#include <stdio.h>
#include <stdlib.h>

#include "device.h"
#include "device_code.h"
#include "device_library.h"

typedef void *Platform, *Device, *Context, *Queue, *Program, *Kernel, *Memory, *Event;
typedef uint64_t Flags;                /* cl_bitfield */
typedef void *Notify;

/* what it returns, name, parameters */
#define FUNCTIONS(F) \
    F(int, clGetPlatformIDs, (unsigned room, Platform *out, unsigned *n)) \
    F(int, clGetDeviceIDs, (Platform p, Flags type, unsigned room, Device *out, \
                            unsigned *n)) \
    F(int, clGetDeviceInfo, (Device d, unsigned what, size_t room, void *out, \
                             size_t *n)) \
    F(Context, clCreateContext, (const intptr_t *property, unsigned n, const Device *d, \
                                 Notify f, void *arg, int *code)) \
    F(int, clRetainContext, (Context c)) \
    F(int, clReleaseContext, (Context c)) \
    F(int, clGetContextInfo, (Context c, unsigned what, size_t room, void *out, \
                              size_t *n)) \
    F(Queue, clCreateCommandQueue, (Context c, Device d, Flags properties, int *code)) \
    F(int, clReleaseCommandQueue, (Queue q)) \
    F(int, clFinish, (Queue q)) \
    F(Program, clCreateProgramWithSource, (Context c, unsigned n, const char **text, \
                                           const size_t *len, int *code)) \
    F(int, clBuildProgram, (Program p, unsigned n, const Device *d, const char *options, \
                            Notify f, void *arg)) \
    F(int, clGetProgramBuildInfo, (Program p, Device d, unsigned what, size_t room, \
                                   void *out, size_t *n)) \
    F(int, clReleaseProgram, (Program p)) \
    F(Kernel, clCreateKernel, (Program p, const char *name, int *code)) \
    F(int, clReleaseKernel, (Kernel k)) \
    F(int, clSetKernelArg, (Kernel k, unsigned i, size_t n, const void *value)) \
    F(int, clEnqueueNDRangeKernel, (Queue q, Kernel k, unsigned dims, \
                                    const size_t *offset, const size_t *global, \
                                    const size_t *local, unsigned n, const Event *after, \
                                    Event *done)) \
    F(Memory, clCreateBuffer, (Context c, Flags flags, size_t n, void *host, int *code)) \
    F(int, clReleaseMemObject, (Memory m)) \
    F(int, clEnqueueWriteBuffer, (Queue q, Memory m, unsigned wait, size_t at, \
                                  size_t len, const void *from, unsigned n, \
                                  const Event *after, Event *done)) \
    F(int, clEnqueueReadBuffer, (Queue q, Memory m, unsigned wait, size_t at, \
                                 size_t len, void *to, unsigned n, \
                                 const Event *after, Event *done))

typedef struct {
#define F(type, name, params) type (*name) params;
    FUNCTIONS(F)
#undef F
} Loader;

static const char *const symbols[] = {
#define F(type, name, params) #name,
    FUNCTIONS(F)
#undef F
    NULL,
};
_Static_assert(sizeof(Loader) == sizeof symbols - sizeof *symbols, "a symbol a function");

static const char *const files[] = {"libOpenCL.so.1", "libOpenCL.so", NULL};

static const DeviceLibrary library = {
    "the OpenCL loader", "RAVEL_OPENCL_LIBRARY", files, symbols,
};

enum {
    DEVICE_NOT_FOUND = -1, MEM_OBJECT_ALLOCATION_FAILURE = -4, OUT_OF_RESOURCES = -5,
    OUT_OF_HOST_MEMORY = -6, INVALID_BUFFER_SIZE = -61, PLATFORM_NOT_FOUND = -1001,
    MAX_COMPUTE_UNITS = 0x1002, MAX_WORK_GROUP_SIZE = 0x1004, GLOBAL_MEM_SIZE = 0x101F,
    LOCAL_MEM_SIZE = 0x1023, DEVICE_NAME = 0x102B, DRIVER_VERSION = 0x102D,
    DEVICE_VERSION = 0x102F, CONTEXT_DEVICES = 0x1081, CONTEXT_PLATFORM = 0x1084,
    PROGRAM_BUILD_LOG = 0x1183,
    MEM_READ_WRITE = 1, MEM_READ_ONLY = 4, MEM_COPY_HOST_PTR = 32, TRUE = 1,
    PLATFORMS_MAX = 64, DEVICES_MAX = 256, LOG_MAX = 1 << 20,
};
#define TYPE_ALL 0xFFFFFFFFu

typedef struct {
    Loader v;
    Device device;
    Context context;
    Queue queue;                   /* NULL: the context is the caller's */
} Opencl;

/* A device, and its platform. */
typedef struct {
    Platform platform;
    Device device;
} Found;

static ravel_status
says(const char *call, int code, ravel_status s, ravel_error *err)
{
    if (s == RAVEL_ERR_DRIVER && code <= MEM_OBJECT_ALLOCATION_FAILURE &&
        code >= OUT_OF_HOST_MEMORY)
        s = RAVEL_ERR_MEMORY;
    return error_set(err, s, "%s: %s (%d)", call, opencl_code(code), code);
}

/* Return from the enclosing function if the call fails. */
#define TRY(v, name, args) \
    do { \
        int code_ = (v)->name args; \
        if (code_) \
            return says(#name, code_, RAVEL_ERR_DRIVER, err); \
    } while (0)

/* The devices of all platforms, as many as there is room for; *n is their number.  A
 * platform that fails is skipped. */
static ravel_status
find_all(const Loader *v, Found out[DEVICES_MAX], int *n, ravel_error *err)
{
    Platform p[PLATFORMS_MAX];
    Device d[DEVICES_MAX];
    unsigned np = 0, nd;
    int broken = 0, code = v->clGetPlatformIDs(PLATFORMS_MAX, p, &np);
    *n = 0;
    if (code && code != PLATFORM_NOT_FOUND)
        return says("clGetPlatformIDs", code, RAVEL_ERR_DRIVER, err);
    for (unsigned i = 0; !code && i < np && i < PLATFORMS_MAX; i++) {
        nd = 0;
        int none = v->clGetDeviceIDs(p[i], TYPE_ALL, DEVICES_MAX, d, &nd);
        if (none && none != DEVICE_NOT_FOUND)
            broken = none;
        for (unsigned k = 0; !none && k < nd && k < DEVICES_MAX && *n < DEVICES_MAX; k++)
            out[(*n)++] = (Found){p[i], d[k]};
    }
    if (*n == 0 && broken)
        return says("clGetDeviceIDs", broken, RAVEL_ERR_DRIVER, err);
    if (*n == 0)
        return error_set(err, RAVEL_ERR_DEVICE, "the OpenCL loader has no %s",
                         np ? "device" : "platform");
    return RAVEL_OK;
}

/* A text property of the device; empty if it is longer than `room`. */
static ravel_status
text(const Loader *v, Device d, unsigned what, char *out, size_t room, ravel_error *err)
{
    size_t n = 0;
    *out = 0;
    TRY(v, clGetDeviceInfo, (d, what, 0, NULL, &n));
    if (n > room)
        return RAVEL_OK;
    TRY(v, clGetDeviceInfo, (d, what, n, out, NULL));
    out[room - 1] = 0;
    return RAVEL_OK;
}

static int64_t
bounded(uint64_t n, int64_t most)
{
    return n < (uint64_t)most ? (int64_t)n : most;
}

static ravel_status
describe(const Loader *v, Device d, ravel_device_info *i, ravel_error *err)
{
    uint64_t memory = 0, local = 0;
    size_t group = 0;
    uint32_t units = 0;
    ravel_status s = text(v, d, DEVICE_NAME, i->name, sizeof i->name, err);
    if (!s)
        s = text(v, d, DEVICE_VERSION, i->version, sizeof i->version, err);
    if (!s)
        s = text(v, d, DRIVER_VERSION, i->driver, sizeof i->driver, err);
    if (s)
        return s;
    TRY(v, clGetDeviceInfo, (d, GLOBAL_MEM_SIZE, sizeof memory, &memory, NULL));
    TRY(v, clGetDeviceInfo, (d, LOCAL_MEM_SIZE, sizeof local, &local, NULL));
    TRY(v, clGetDeviceInfo, (d, MAX_WORK_GROUP_SIZE, sizeof group, &group, NULL));
    TRY(v, clGetDeviceInfo, (d, MAX_COMPUTE_UNITS, sizeof units, &units, NULL));
    i->kind = RAVEL_OPENCL;
    i->memory = bounded(memory, INT64_MAX);
    i->shared = bounded(local, INT64_MAX);
    i->block = (int)bounded(group, INT32_MAX);
    i->grid = (int64_t)(SIZE_MAX / 2 / (group ? group : 1));
    i->processors = (int)bounded(units, INT32_MAX);
    return RAVEL_OK;
}

static ravel_status
list(ravel_device_info *out, int room, int *n, ravel_error *err)
{
    Loader v;
    Found all[DEVICES_MAX];
    int count = 0;
    ravel_status s = device_library(&library, &v, err);
    if (!s)
        s = find_all(&v, all, &count, err);
    for (int i = 0; i < count && i < room && !s; i++) {
        s = describe(&v, all[i].device, &out[i], err);
        out[i].ordinal = i;
    }
    if (!s)
        *n = count;
    return s;
}

static ravel_status
begin(ravel_device *d, Opencl **out, ravel_error *err)
{
    Opencl *c = calloc(1, sizeof *c);
    if (!c)
        return error_set(err, RAVEL_ERR_MEMORY, "no memory for a device");
    d->native = *out = c;
    return device_library(&library, &c->v, err);
}

static ravel_status
opencl_open(ravel_device *d, int ordinal, ravel_error *err)
{
    Opencl *c = NULL;
    Found all[DEVICES_MAX];
    int n, code;
    ravel_status s = begin(d, &c, err);
    if (!s)
        s = find_all(&c->v, all, &n, err);
    if (s)
        return s;
    if (ordinal >= n)
        return error_set(err, RAVEL_ERR_DEVICE, "no OpenCL device %d: there are %d, from "
                         "0 on", ordinal, n);
    c->device = all[ordinal].device;
    s = describe(&c->v, c->device, &d->info, err);
    if (s)
        return s;
    intptr_t property[] = {CONTEXT_PLATFORM, (intptr_t)all[ordinal].platform, 0};
    c->context = c->v.clCreateContext(property, 1, &c->device, NULL, NULL, &code);
    if (!c->context)
        return says("clCreateContext", code, RAVEL_ERR_DRIVER, err);
    c->queue = c->v.clCreateCommandQueue(c->context, c->device, 0, &code);
    return c->queue ? RAVEL_OK
           : says("clCreateCommandQueue", code, RAVEL_ERR_DRIVER, err);
}

static ravel_status
check_in_context(const Loader *v, Context context, Device device, ravel_error *err)
{
    Device has[DEVICES_MAX];
    size_t n = 0;
    TRY(v, clGetContextInfo, (context, CONTEXT_DEVICES, sizeof has, has, &n));
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
    TRY(&c->v, clRetainContext, (context));
    c->context = context;
    return describe(&c->v, device, &d->info, err);
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

static ravel_status
build(ravel_device *d, DeviceModule *m, ravel_error *err)
{
    const Opencl *c = d->native;
    const char *source = m->source;
    char what[128];
    int code;
    m->code = c->v.clCreateProgramWithSource(c->context, 1, &source, NULL, &code);
    if (!m->code)
        return says("clCreateProgramWithSource", code, RAVEL_ERR_DRIVER, err);
    code = c->v.clBuildProgram(m->code, 1, &c->device, m->options, NULL, NULL);
    if (!code)
        return RAVEL_OK;
    if (code == OUT_OF_HOST_MEMORY)
        return says("clBuildProgram", code, RAVEL_ERR_DRIVER, err);
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
    return k->code ? RAVEL_OK : says(what, code, RAVEL_ERR_COMPILE, err);
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
    return code ? says(call, code, RAVEL_ERR_LAUNCH, err) : RAVEL_OK;
}

/* The values are in a buffer of their own, which lives until the launch has finished. */
static ravel_status
launch(ravel_device_kernel *k, void *queue, const DeviceLaunch *l, ravel_error *err)
{
    const Opencl *c = k->device->native;
    Memory arg[] = {l->dst, (void *)(uintptr_t)l->src, NULL};
    int code;
    if (!queue && !c->queue)
        return error_set(err, RAVEL_ERR_ARGUMENT, "a launch in an OpenCL context of the "
                         "caller's needs a queue");
    queue = queue ? queue : c->queue;
    if (!l->values)
        return enqueue(k, queue, l->grid, arg, 2, err);
    arg[2] = c->v.clCreateBuffer(c->context, MEM_READ_ONLY | MEM_COPY_HOST_PTR,
                                 (size_t)l->nvalues * sizeof *l->values,
                                 (void *)(uintptr_t)l->values, &code);
    if (!arg[2])
        return says("clCreateBuffer", code, RAVEL_ERR_DRIVER, err);
    ravel_status s = enqueue(k, queue, l->grid, arg, 3, err);
    c->v.clReleaseMemObject(arg[2]);
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
           : says("clCreateBuffer", code, code == INVALID_BUFFER_SIZE ? RAVEL_ERR_MEMORY
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
    TRY(&c->v, clEnqueueWriteBuffer, (c->queue, to, TRUE, 0, n, from, 0, NULL, NULL));
    return RAVEL_OK;
}

static ravel_status
read_from(ravel_device *d, void *to, const void *from, size_t n, ravel_error *err)
{
    const Opencl *c = d->native;
    ravel_status s = check_queue(c, err);
    if (s)
        return s;
    TRY(&c->v, clEnqueueReadBuffer, (c->queue, (void *)(uintptr_t)from, TRUE, 0, n, to, 0,
                                     NULL, NULL));
    return RAVEL_OK;
}

static ravel_status
finish(ravel_device *d, ravel_error *err)
{
    const Opencl *c = d->native;
    ravel_status s = check_queue(c, err);
    if (s)
        return s;
    TRY(&c->v, clFinish, (c->queue));
    return RAVEL_OK;
}

const DeviceKind device_opencl = {
    "opencl", list, opencl_open, opencl_wrap, opencl_close, handles, build, unload, entry,
    leave, launch, take, give, write_to, read_from, finish,
};
