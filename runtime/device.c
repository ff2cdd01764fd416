/* The functions of ravel_gpu.h without plans: they check the arguments and call the device's kind. */
#include "device.h"

#include <stdlib.h>
#include <string.h>

static const DeviceKind *const kinds[] = {
    [RAVEL_CUDA] = &device_cuda,
    [RAVEL_OPENCL] = &device_opencl,
};

static ravel_status
wrong(ravel_error *err, const char *what)
{
    return error_set(err, RAVEL_ERR_ARGUMENT, "%s", what);
}

static const DeviceKind *
kind_of(ravel_device_kind k)
{
    return (unsigned)k < sizeof kinds / sizeof *kinds ? kinds[k] : NULL;
}

ravel_status
ravel_device_list(ravel_device_kind kind, ravel_device_info *out, int room, int *n,
                  ravel_error *err)
{
    const DeviceKind *k = kind_of(kind);
    if (n)
        *n = 0;
    if (!k || !n || room < 0 || (room > 0 && !out))
        return wrong(err, "ravel_device_list: an unknown kind, no place for the number, "
                     "or none for the devices");
    return k->list(out, room, n, err);
}

static void
join(ravel_device *d)
{
    atomic_fetch_add(&d->users, 1);
}

void
device_leave(ravel_device *d)
{
    if (atomic_fetch_sub(&d->users, 1) != 1)
        return;
    if (d->native)
        d->kind->close(d);
    pthread_mutex_destroy(&d->lock);
    free(d->folder);
    free(d);
}

static ravel_device *
new_device(ravel_device_kind kind, int ordinal)
{
    ravel_device *d = calloc(1, sizeof *d);
    if (!d)
        return NULL;
    if (pthread_mutex_init(&d->lock, NULL)) {
        free(d);
        return NULL;
    }
    d->kind = kind_of(kind);
    d->info.kind = kind;
    d->info.ordinal = ordinal;
    d->users = 1;
    device_cache_init(d);
    return d;
}

/* Hand it out, or undo it. */
static ravel_status
opened(ravel_device *d, ravel_status s, ravel_device **out)
{
    if (s)
        device_leave(d);
    else
        *out = d;
    return s;
}

static ravel_status
no_memory(ravel_error *err)
{
    return error_set(err, RAVEL_ERR_MEMORY, "no memory for a device or its kernels");
}

ravel_status
ravel_device_open(ravel_device_kind kind, int ordinal, ravel_device **out,
                  ravel_error *err)
{
    if (out)
        *out = NULL;
    if (!kind_of(kind) || !out || ordinal < 0)
        return wrong(err, "ravel_device_open: an unknown kind, a negative number, or no "
                     "place for the device");
    ravel_device *d = new_device(kind, ordinal);
    if (!d)
        return no_memory(err);
    return opened(d, d->kind->open(d, ordinal, err), out);
}

static ravel_status
wrap(ravel_device_kind kind, void *context, void *device, ravel_device **out,
     ravel_error *err)
{
    ravel_device *d = new_device(kind, -1);
    if (!d)
        return no_memory(err);
    return opened(d, d->kind->wrap(d, context, device, err), out);
}

ravel_status
ravel_device_of_cuda(ravel_device **out, ravel_error *err)
{
    if (!out)
        return wrong(err, "ravel_device_of_cuda: no place for the device");
    *out = NULL;
    return wrap(RAVEL_CUDA, NULL, NULL, out, err);
}

ravel_status
ravel_device_of_opencl(void *context, void *device, ravel_device **out, ravel_error *err)
{
    if (out)
        *out = NULL;
    if (!out || !context || !device)
        return wrong(err, "ravel_device_of_opencl: no context, no device, or no place "
                     "for what is made of them");
    return wrap(RAVEL_OPENCL, context, device, out, err);
}

int
ravel_device_about(const ravel_device *dev, ravel_device_info *out)
{
    if (!dev || !out)
        return 0;
    *out = dev->info;
    return 1;
}

void
ravel_device_handles(const ravel_device *dev, void **context, void **device, void **queue)
{
    void *h[3] = {NULL, NULL, NULL}, **out[3] = {context, device, queue};
    if (dev)
        dev->kind->handles(dev, &h[0], &h[1], &h[2]);
    for (int i = 0; i < 3; i++)
        if (out[i])
            *out[i] = h[i];
}

ravel_status
ravel_device_set_folder(ravel_device *dev, const char *folder, ravel_error *err)
{
    if (!dev)
        return wrong(err, "ravel_device_set_folder: no device");
    char *copy = folder ? strdup(folder) : NULL;
    if (folder && !copy)
        return no_memory(err);
    pthread_mutex_lock(&dev->lock);
    char *was = dev->folder;
    dev->folder = copy;
    pthread_mutex_unlock(&dev->lock);
    free(was);
    return RAVEL_OK;
}

static ravel_status
check_source(const ravel_device *d, const ravel_device_source *s, ravel_error *err)
{
    const ravel_device_info *i = &d->info;
    if (!s->source || !s->entry || !*s->entry)
        return wrong(err, "ravel_device_compile: no text, or no name of the kernel");
    if (s->grid < 0 || s->grid > i->grid)
        return error_set(err, RAVEL_ERR_ARGUMENT, "%s: a grid of %lld blocks; the device "
                         "has up to %lld", s->entry, (long long)s->grid,
                         (long long)i->grid);
    if (s->block < 1 || s->block > i->block)
        return error_set(err, RAVEL_ERR_ARGUMENT, "%s: blocks of %d threads; the device "
                         "has 1 to %d", s->entry, s->block, i->block);
    if (s->shared_bytes < 0 || s->shared_bytes > i->shared)
        return error_set(err, RAVEL_ERR_ARGUMENT, "%s: blocks share %d bytes; the device "
                         "has up to %lld", s->entry, s->shared_bytes,
                         (long long)i->shared);
    return RAVEL_OK;
}

/* Compile a source that is not in the cache; *out has one user. */
static ravel_status
build(ravel_device *d, const char *source, const char *options, DeviceModule **out,
      ravel_error *err)
{
    DeviceModule *m = calloc(1, sizeof *m);
    if (!m)
        return no_memory(err);
    m->users = 1;
    m->source = strdup(source);
    m->options = strdup(options);
    m->bytes = (int64_t)(sizeof *m + strlen(source) + strlen(options) + 2);
    ravel_status s = m->source && m->options ? d->kind->build(d, m, err) : no_memory(err);
    if (s)
        device_cache_leave(d, m);
    else
        *out = device_cache_add(d, m);
    return s;
}

static ravel_device_kernel *
new_kernel(ravel_device *d, const ravel_device_source *source)
{
    ravel_device_kernel *k = calloc(1, sizeof *k);
    if (!k)
        return NULL;
    if (pthread_mutex_init(&k->lock, NULL)) {
        free(k);
        return NULL;
    }
    join(d);
    k->device = d;
    k->grid = source->grid;
    k->block = source->block;
    return k;
}

ravel_status
ravel_device_compile(ravel_device *dev, const ravel_device_source *source,
                     ravel_device_kernel **out, ravel_error *err)
{
    if (out)
        *out = NULL;
    if (!dev || !source || !out)
        return wrong(err, "ravel_device_compile: no device, no kernel, or no place for "
                     "it");
    const char *options = source->options ? source->options : "";
    ravel_status s = check_source(dev, source, err);
    if (s)
        return s;
    ravel_device_kernel *k = new_kernel(dev, source);
    if (!k)
        return no_memory(err);
    k->module = device_cache_find(dev, source->source, options);
    if (!k->module)
        s = build(dev, source->source, options, &k->module, err);
    if (!s)
        s = dev->kind->entry(k, source->entry, err);
    if (s)
        ravel_device_kernel_free(k);
    else
        *out = k;
    return s;
}

void
ravel_device_kernel_free(ravel_device_kernel *kernel)
{
    if (!kernel)
        return;
    ravel_device *d = kernel->device;
    if (kernel->code)
        d->kind->leave(kernel);
    if (kernel->module)
        device_cache_leave(d, kernel->module);
    pthread_mutex_destroy(&kernel->lock);
    free(kernel);
    device_leave(d);
}

ravel_status
device_launch(ravel_device_kernel *k, void *queue, const DeviceLaunch *l, ravel_error *err)
{
    if (l->grid == 0)
        return RAVEL_OK;
    if (!l->pairs && (!l->dst || !l->src))
        return wrong(err, "a launch: no source or no destination");
    if (!l->pairs && l->dst == l->src)
        return wrong(err, "a launch: the source is the destination");
    return k->device->kind->launch(k, queue, l, err);
}

ravel_status
ravel_device_launch(ravel_device_kernel *kernel, void *queue, void *dst, const void *src,
                    ravel_error *err)
{
    if (!kernel)
        return wrong(err, "ravel_device_launch: no kernel");
    DeviceLaunch l = {.dst = dst, .src = src, .grid = kernel->grid};
    return device_launch(kernel, queue, &l, err);
}

static ravel_status
check_bytes(int64_t n, ravel_error *err)
{
    if (n < 0 || (uint64_t)n > SIZE_MAX / 2)
        return error_set(err, RAVEL_ERR_MEMORY, "%lld bytes of a device", (long long)n);
    return RAVEL_OK;
}

ravel_status
device_take(ravel_device *d, int64_t n, void **out, ravel_error *err)
{
    *out = NULL;
    ravel_status s = check_bytes(n, err);
    return s ? s : d->kind->take(d, n ? (size_t)n : 1, out, err);
}

void
device_give(ravel_device *d, void *memory)
{
    if (memory)
        d->kind->give(d, memory);
}

ravel_status
device_write(ravel_device *d, void *to, const void *from, int64_t n, ravel_error *err)
{
    ravel_status s = check_bytes(n, err);
    return s || !n ? s : d->kind->write(d, to, from, (size_t)n, err);
}

ravel_status
device_read(ravel_device *d, void *to, const void *from, int64_t n, ravel_error *err)
{
    ravel_status s = check_bytes(n, err);
    return s || !n ? s : d->kind->read(d, to, from, (size_t)n, err);
}

ravel_status
device_finish(ravel_device *d, ravel_error *err)
{
    return d->kind->finish(d, err);
}
