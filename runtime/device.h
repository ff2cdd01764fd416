/* device.h: types that CUDA and OpenCL devices share.  Internal to the library. */
#ifndef RAVEL_DEVICE_H
#define RAVEL_DEVICE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "error.h"
#include "ravel_gpu.h"

/* A compiled source. */
typedef struct DeviceModule DeviceModule;
struct DeviceModule {
    void *code;                    /* CUmodule, cl_program */
    char *source, *options;        /* malloc'ed; these two are the key in the cache ... */
    uint64_t hash;                 /* ... and this is the hash of the key */
    int64_t bytes;                 /* size of source and code */
    /* Under the device's lock: */
    int users;                     /* reference count: kernels, and the cache */
    DeviceModule *next;
};

/* The most arrays that a kernel takes: index arrays and, last, a number for what is wrong. */
enum { DEVICE_ARRAYS = 9 };

/* What a launch gives to a kernel. */
typedef struct {
    void *dst;                     /* device pointers, or cl_mem */
    const void *src;
    const void *array[DEVICE_ARRAYS];      /* after dst and src */
    int narrays;
    int64_t grid;                  /* blocks, at least 1 */
    const int64_t *values;         /* the last argument; NULL: there is none */
    int nvalues;
    const uint64_t *pairs;         /* the first argument instead of dst and src: CUDA's
                                    * pointers; NULL: there is none */
    int npairs;
} DeviceLaunch;

/* The functions of one kind of device.  The caller has checked their arguments.  The
 * objects that they create are in `native` and `code`: close undoes open and wrap, unload
 * undoes build, leave undoes entry, give undoes take. */
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
    ravel_status (*launch)(ravel_device_kernel *k, void *queue, const DeviceLaunch *l,
                           ravel_error *err);
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
    void *native;                  /* data of the kind */
    atomic_int users;              /* reference count: the owner, and the kernels */
    pthread_mutex_t lock;
    /* Under the lock: */
    DeviceModule *newest;          /* the cache, most recently used first */
    int64_t n, most, bytes, most_bytes;
    ravel_device_plan *plans;      /* most recently used first */
    char *folder;                  /* of compiled kernels; malloc'ed; NULL: none */
};

struct ravel_device_kernel {
    ravel_device *device;
    DeviceModule *module;
    void *code;                    /* CUfunction, cl_kernel */
    int64_t grid;
    int block;
    pthread_mutex_t lock;          /* a cl_kernel holds its arguments */
};

/* device_kind.c */
/* A copy of the folder's name, for the caller to free; NULL: there is none. */
char *device_folder(ravel_device *d);
/* Report a failed compilation: the sentence `what`, then as much of the log as fits. */
ravel_status device_log(ravel_error *err, const char *what, const char *log);

/* device_cache.c */
void device_cache_init(ravel_device *d);
uint64_t device_hash(const char *source, const char *options);
/* Find a module and count one more user; NULL if the cache has none. */
DeviceModule *device_cache_find(ravel_device *d, const char *source, const char *options);
/* Add m, which has one user, to the cache.  Returns the module to use instead of m: m, or
 * an equal module that another thread added meanwhile.  The result has that user. */
DeviceModule *device_cache_add(ravel_device *d, DeviceModule *m);
/* Release one user of m; the last one frees it. */
void device_cache_leave(ravel_device *d, DeviceModule *m);
void device_cache_bound(ravel_device *d, int64_t modules, int64_t bytes);

/* device.c: one less user; the last one closes the device. */
void device_leave(ravel_device *d);
/* Memory of the device, for the tests and the command.  The calls use the
 * device's own queue; RAVEL_ERR_ARGUMENT if it has none.  write and read return when the
 * transfer is complete. */
ravel_status device_take(ravel_device *d, int64_t n, void **out, ravel_error *err);
void device_give(ravel_device *d, void *memory);
ravel_status device_write(ravel_device *d, void *to, const void *from, int64_t n,
                          ravel_error *err);
ravel_status device_read(ravel_device *d, void *to, const void *from, int64_t n,
                         ravel_error *err);
/* Wait for all enqueued work; report its failure. */
ravel_status device_finish(ravel_device *d, ravel_error *err);

/* ravel_device_launch with these arguments; at most the device's blocks. */
ravel_status device_launch(ravel_device_kernel *k, void *queue, const DeviceLaunch *l,
                           ravel_error *err);


#endif
