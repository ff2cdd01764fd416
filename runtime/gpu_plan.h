/* gpu_plan.h: a relayout with its kernel on a device.  Internal to the library. */
#ifndef RAVEL_GPU_PLAN_H
#define RAVEL_GPU_PLAN_H

#include "device.h"
#include "library.h"

/* What the caller wants of a kernel besides the request. */
typedef struct {
    int align;                     /* 0: GRID_VECTOR */
    bool batch;
    bool any;                      /* with variants for pointers that are aligned to less */
} Form;

struct ravel_device_plan {
    Arena arena;
    ravel_context *cx;             /* owns the specs of the plan */
    const Known *known;        /* the plan is current for these layouts */
    ravel_device *device;          /* alive while the kernel is */
    Key key;                       /* in arena */
    Form form;                     /* as requested */
    const Plan *plan;              /* in arena; read only */
    const GridUnit *unit;
    const char *source;
    ravel_device_kernel *kernel;
    ravel_device_kernel *check;    /* of index arrays; NULL: there are none */
    /* The variant that needs less alignment, which this plan owns; NULL: there is none. */
    ravel_device_plan *narrow;

    /* Under the device's lock: */
    int users;                     /* reference count: callers, and the cache */
    ravel_device_plan *next;
};
/* gpu_plan.c: the bytes of an element, to which buffers are aligned at least. */
int device_plan_least(const ravel_device_plan *p);
/* gpu_log.c: as log_plan and log_run; src and dst are the bytes of the buffers. */
void log_device_plan(const ravel_device_plan *p, int64_t start);
void log_launch(const ravel_device_plan *p, const int64_t *shape, const DeviceLaunch *launch,
                int64_t src, int64_t dst, int64_t start);

#endif
