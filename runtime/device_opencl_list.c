/* The OpenCL loader, and the devices that it has. */
#include "device_code.h"
#include "device_library.h"
#include "device_opencl.h"

static const char *const symbols[] = {
#define F(type, name, params) #name,
#include "device_opencl.def"
#undef F
    NULL,
};
_Static_assert(sizeof(OpenclCalls) == sizeof symbols - sizeof *symbols, "a symbol a function");

static const char *const files[] = {"libOpenCL.so.1", "libOpenCL.so", NULL};

static const DeviceLibrary library = {
    "the OpenCL loader", "RAVEL_OPENCL_LIBRARY", files, symbols,
};

ravel_status
opencl_says(const char *call, int code, ravel_status s, ravel_error *err)
{
    if (!code)
        return RAVEL_OK;
    if (s == RAVEL_ERR_DRIVER && code <= MEM_OBJECT_ALLOCATION_FAILURE &&
        code >= OUT_OF_HOST_MEMORY)
        s = RAVEL_ERR_MEMORY;
    return error_set(err, s, "%s: %s (%d)", call, opencl_code(code), code);
}

ravel_status
opencl_load(OpenclCalls *v, ravel_error *err)
{
    return device_library(&library, v, err);
}

ravel_status
opencl_devices(const OpenclCalls *v, Found out[DEVICES_MAX], int *n, ravel_error *err)
{
    Platform p[PLATFORMS_MAX];
    Device d[DEVICES_MAX];
    unsigned np = 0, nd;
    int broken = 0, code = v->clGetPlatformIDs(PLATFORMS_MAX, p, &np);
    *n = 0;
    if (code && code != PLATFORM_NOT_FOUND)
        return opencl_says("clGetPlatformIDs", code, RAVEL_ERR_DRIVER, err);
    for (unsigned i = 0; !code && i < np && i < PLATFORMS_MAX; i++) {
        nd = 0;
        int none = v->clGetDeviceIDs(p[i], TYPE_ALL, DEVICES_MAX, d, &nd);
        if (none && none != DEVICE_NOT_FOUND)
            broken = none;
        for (unsigned k = 0; !none && k < nd && k < DEVICES_MAX && *n < DEVICES_MAX; k++)
            out[(*n)++] = (Found){p[i], d[k]};
    }
    if (*n == 0 && broken)
        return opencl_says("clGetDeviceIDs", broken, RAVEL_ERR_DRIVER, err);
    if (*n == 0)
        return error_set(err, RAVEL_ERR_DEVICE, "the OpenCL loader has no %s",
                         np ? "device" : "platform");
    return RAVEL_OK;
}

/* A text property of the device; empty if it is longer than `room`. */
static ravel_status
text(const OpenclCalls *v, Device d, unsigned what, char *out, size_t room, ravel_error *err)
{
    size_t n = 0;
    *out = 0;
    ravel_status s = CALL(v, clGetDeviceInfo, (d, what, 0, NULL, &n));
    if (s || n > room)
        return s;
    s = CALL(v, clGetDeviceInfo, (d, what, n, out, NULL));
    out[room - 1] = 0;
    return s;
}

static int64_t
bounded(uint64_t n, int64_t most)
{
    return n < (uint64_t)most ? (int64_t)n : most;
}

ravel_status
opencl_describe(const OpenclCalls *v, Device d, ravel_device_info *i, ravel_error *err)
{
    uint64_t memory = 0, local = 0;
    size_t group = 0;
    uint32_t units = 0;
    ravel_status s = text(v, d, DEVICE_NAME, i->name, sizeof i->name, err);
    if (!s)
        s = text(v, d, DEVICE_VERSION, i->version, sizeof i->version, err);
    if (!s)
        s = text(v, d, DRIVER_VERSION, i->driver, sizeof i->driver, err);
    if (s ||
        (s = CALL(v, clGetDeviceInfo, (d, GLOBAL_MEM_SIZE, sizeof memory, &memory, NULL))) ||
        (s = CALL(v, clGetDeviceInfo, (d, LOCAL_MEM_SIZE, sizeof local, &local, NULL))) ||
        (s = CALL(v, clGetDeviceInfo, (d, MAX_WORK_GROUP_SIZE, sizeof group, &group, NULL))) ||
        (s = CALL(v, clGetDeviceInfo, (d, MAX_COMPUTE_UNITS, sizeof units, &units, NULL))))
        return s;
    i->kind = RAVEL_OPENCL;
    i->memory = bounded(memory, INT64_MAX);
    i->shared = bounded(local, INT64_MAX);
    i->block = (int)bounded(group, INT32_MAX);
    i->grid = (int64_t)(SIZE_MAX / 2 / (group ? group : 1));
    i->processors = (int)bounded(units, INT32_MAX);
    return RAVEL_OK;
}

ravel_status
opencl_list(ravel_device_info *out, int room, int *n, ravel_error *err)
{
    OpenclCalls v;
    Found all[DEVICES_MAX];
    int count = 0;
    ravel_status s = opencl_load(&v, err);
    if (!s)
        s = opencl_devices(&v, all, &count, err);
    for (int i = 0; i < count && i < room && !s; i++) {
        s = opencl_describe(&v, all[i].device, &out[i], err);
        out[i].ordinal = i;
    }
    if (!s)
        *n = count;
    return s;
}
