/* device_opencl.h: OpenCL by the ICD loader.  Prototypes, codes and constants: the OpenCL
 * 1.2 specification (Khronos) and cl.h.  Calls of 1.2 only. */
#ifndef RAVEL_DEVICE_OPENCL_H
#define RAVEL_DEVICE_OPENCL_H

#include "device.h"

typedef void *Platform, *Device, *Context, *Queue, *Program, *Kernel, *Memory, *Event;
typedef uint64_t Flags;                /* cl_bitfield */
typedef void *Notify;

typedef struct {
#define F(type, name, params) type (*name) params;
#include "device_opencl.def"
#undef F
} OpenclCalls;

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
    OpenclCalls v;
    Device device;
    Context context;
    Queue queue;                   /* NULL: the context is the caller's */
} Opencl;

/* A device, and its platform. */
typedef struct {
    Platform platform;
    Device device;
} Found;

/* Call a function of the loader: RAVEL_OK, or the failure, which err has too. */
#define CALL(v, name, args) opencl_says(#name, (v)->name args, RAVEL_ERR_DRIVER, err)

/* device_opencl_list.c */
/* Sets the status and the text of a call that failed with that code; RAVEL_OK if it is 0. */
ravel_status opencl_says(const char *call, int code, ravel_status s, ravel_error *err);
/* Opens the loader's library. */
ravel_status opencl_load(OpenclCalls *v, ravel_error *err);
/* The devices of all platforms, as many as there is room for; *n is their number.  A
 * platform that fails is skipped. */
ravel_status opencl_devices(const OpenclCalls *v, Found out[DEVICES_MAX], int *n,
                            ravel_error *err);
ravel_status opencl_describe(const OpenclCalls *v, Device d, ravel_device_info *i,
                             ravel_error *err);
ravel_status opencl_list(ravel_device_info *out, int room, int *n, ravel_error *err);

#endif
