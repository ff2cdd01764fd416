/* device.h: what the kinds of devices share.  Internal to the library. */
#ifndef RAVEL_DEVICE_H
#define RAVEL_DEVICE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "error.h"
#include "ravel_gpu.h"

/* A compiled text. */
typedef struct DeviceModule DeviceModule;
struct DeviceModule {
    void *code;                    /* CUmodule, cl_program */
    char *source, *options;        /* malloc'ed; what it is found by, with ... */
    uint64_t hash;
    int64_t bytes;                 /* that it takes */
    /* Under the device's lock: */
    int users;                     /* kernels, and the cache */
    DeviceModule *next;
};

/* The calls of one kind.  What they are given has been checked; what they make is in
 * `native` and `code`, and undone by the call beside it. */
typedef struct {
    const char *name;
    ravel_status (*list)(ravel_device_info *out, int room, int *n, ravel_error *err);
    ravel_status (*open)(ravel_device *d, int ordinal, ravel_error *err);
    ravel_status (*wrap)(ravel_device *d, void *context, void *device, ravel_error *err);
    void (*close)(ravel_device *d);
    void (*handles)(const ravel_device *d, void **context, void **device, void **queue);
    ravel_status (*build)(ravel_device *d, DeviceModule *m, ravel_error *err);
    void (*unload)(ravel_device *d, DeviceModule *m);
    ravel_status (*entry)(ravel_device_kernel *k, const char *name, ravel_error *err);
    void (*leave)(ravel_device_kernel *k);
    ravel_status (*launch)(ravel_device_kernel *k, void *queue, void *dst,
                           const void *src, ravel_error *err);
    ravel_status (*take)(ravel_device *d, size_t n, void **out, ravel_error *err);
    void (*give)(ravel_device *d, void *memory);
    ravel_status (*write)(ravel_device *d, void *to, const void *from, size_t n,
                          ravel_error *err);
    ravel_status (*read)(ravel_device *d, void *to, const void *from, size_t n,
                         ravel_error *err);
    ravel_status (*finish)(ravel_device *d, ravel_error *err);
} DeviceKind;

extern const DeviceKind device_cuda, device_opencl;

struct ravel_device {
    const DeviceKind *kind;
    ravel_device_info info;
    void *native;                  /* the kind's own */
    atomic_int users;              /* who opened it, and its kernels */
    pthread_mutex_t lock;
    /* Under the lock: */
    DeviceModule *newest;          /* kept, in the order of their last use */
    int64_t n, most, bytes, most_bytes;
};

struct ravel_device_kernel {
    ravel_device *device;
    DeviceModule *module;
    void *code;                    /* CUfunction, cl_kernel */
    int64_t grid;
    int block;
    pthread_mutex_t lock;          /* a cl_kernel holds its arguments */
};

/* device_cache.c */
void device_cache_init(ravel_device *d);
/* The text compiled before, with a user more; NULL: there is none. */
DeviceModule *device_cache_find(ravel_device *d, const char *source, const char *options);
/* Keep m, of one user.  What comes back stands for it, and has that user: m, or the same
 * that came in between. */
DeviceModule *device_cache_add(ravel_device *d, DeviceModule *m);
/* One user less. */
void device_cache_leave(ravel_device *d, DeviceModule *m);
void device_cache_bound(ravel_device *d, int64_t modules, int64_t bytes);

/* device.c: memory of the device, for the tests and the command.  It goes by the
 * device's own queue, RAVEL_ERR_ARGUMENT where it has none; write and read wait until
 * they are done. */
ravel_status device_take(ravel_device *d, int64_t n, void **out, ravel_error *err);
void device_give(ravel_device *d, void *memory);
ravel_status device_write(ravel_device *d, void *to, const void *from, int64_t n,
                          ravel_error *err);
ravel_status device_read(ravel_device *d, void *to, const void *from, int64_t n,
                         ravel_error *err);
/* Wait for all that is enqueued, and say what went wrong with it. */
ravel_status device_finish(ravel_device *d, ravel_error *err);

/* A failed compilation: the sentence so far, then as much of the log as fits. */
ravel_status device_log(ravel_error *err, const char *what, const char *log);

#endif
