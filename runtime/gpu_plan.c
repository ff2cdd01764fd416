/* Plans for a device: from a request to a kernel that is compiled and loaded; their
 * cache, which ends with the device. */
#include <stdlib.h>

#include "gpu_plan.h"

typedef struct {
    ravel_device_plan *p;
    const Key *key;
} DeviceCompile;

/* The passes, inside an error boundary. */
static void
make(void *arg)
{
    const DeviceCompile *j = arg;
    ravel_device_plan *p = j->p;
    Request q = request_of(&j->key->rq);
    q.align = p->form.align;
    q.batch = p->form.batch;
    const Target *t = target_load(&p->arena, p->device->kind->name);
    p->key = key_keep(&p->arena, j->key);
    p->plan = compile_plan(&p->arena, p->known, &q);
    p->unit = compile_grid(t, p->plan, &q);
    work_on(&p->arena, "to write code for the plan", NULL);
    p->source = grid_render(t, p->unit);
}

static ravel_status
load(ravel_device_plan *p, const char *entry, ravel_device_kernel **out, ravel_error *err)
{
    const GridUnit *u = p->unit;
    ravel_device_source s = {.source = p->source, .entry = entry,
                             .grid = u->across * u->down, .block = GRID_THREADS,
                             .shared_bytes = (int)u->shared};
    return ravel_device_compile(p->device, &s, out, err);
}

/* The kernel and, for index arrays, the one that checks their numbers. */
static ravel_status
load_all(ravel_device_plan *p, ravel_error *err)
{
    const GridUnit *u = p->unit;
    ravel_status s = load(p, u->name, &p->kernel, err);
    if (!s && u->narrays)
        s = load(p, grid_check_name(u), &p->check, err);
    return s;
}

static void
free_plan(ravel_device_plan *p)
{
    if (p->narrow)
        free_plan(p->narrow);
    ravel_device_kernel_free(p->kernel);
    ravel_device_kernel_free(p->check);
    arena_free(&p->arena);
    context_leave(p->cx);
    free(p);
}

int
device_plan_least(const ravel_device_plan *p)
{
    int bits = p->plan->src->dtype->bits;
    return bits < 8 ? 1 : bits / 8;
}

static ravel_status new_plan(ravel_context *cx, ravel_device *dev, const Known *known,
                             const Key *key, Form form, ravel_device_plan **out,
                             ravel_error *err);

/* Words are the next narrower accesses, then elements.  OpenCL's buffers have no addresses. */
static ravel_status
add_narrow(ravel_device_plan *p, ravel_error *err)
{
    Form form = p->form;
    int least = device_plan_least(p), need = p->unit->align;
    form.align = need > WORD_BYTES && least < WORD_BYTES ? WORD_BYTES : least;
    if (!form.any || p->device->info.kind != RAVEL_CUDA || form.align >= need)
        return RAVEL_OK;
    return new_plan(p->cx, p->device, p->known, &p->key, form, &p->narrow, err);
}

static ravel_status
new_plan(ravel_context *cx, ravel_device *dev, const Known *known, const Key *key, Form form,
         ravel_device_plan **out, ravel_error *err)
{
    Diag d;
    ravel_device_plan *p = calloc(1, sizeof *p);
    if (!p)
        return error_set(err, RAVEL_ERR_MEMORY, "out of memory");
    context_join(cx);
    *p = (ravel_device_plan){.arena = context_arena(cx), .cx = cx, .device = dev,
                             .known = known, .form = form, .users = 1};
    DeviceCompile j = {p, key};
    ravel_status s = arena_run(&p->arena, &d, make, &j) ? load_all(p, err) : error_of(err, &d);
    if (!s)
        s = add_narrow(p, err);
    if (s)
        free_plan(p);
    else
        *out = p;
    return s;
}

static ravel_device_plan **
find(ravel_device *d, const ravel_context *cx, const Key *key, Form form)
{
    ravel_device_plan **at = &d->plans;
    while (*at && ((*at)->cx != cx || (*at)->form.align != form.align ||
                   (*at)->form.any != form.any || (*at)->form.batch != form.batch ||
                   !key_same(&(*at)->key, key)))
        at = &(*at)->next;
    return at;
}

/* The current plan of the cache, with one more user; NULL if there is none. */
static ravel_device_plan *
cached(ravel_context *cx, ravel_device *d, const Key *key, Form form)
{
    pthread_mutex_lock(&d->lock);
    ravel_device_plan **at = find(d, cx, key, form), *p = *at;
    if (p && p->known != context_known(cx))
        p = NULL;
    if (p) {
        *at = p->next;
        p->next = d->plans;
        d->plans = p;
        p->users++;
    }
    pthread_mutex_unlock(&d->lock);
    return p;
}

/* Takes a plan out of the cache, and adds it to `gone` if it has no other user. */
static void
drop(ravel_device_plan **at, ravel_device_plan **gone)
{
    ravel_device_plan *p = *at;
    *at = p->next;
    if (--p->users == 0) {
        p->next = *gone;
        *gone = p;
    }
}

/* Outside of the lock: the last plan may free the device. */
static void
free_plans(ravel_device_plan *gone)
{
    for (ravel_device_plan *next; gone; gone = next) {
        next = gone->next;
        free_plan(gone);
    }
}

/* Under the lock. */
static void
shrink(ravel_device *d, int64_t most, ravel_device_plan **gone)
{
    ravel_device_plan **at = &d->plans;
    for (int64_t i = 0; *at && i < most; i++)
        at = &(*at)->next;
    while (*at)
        drop(at, gone);
}

/* Frees the cached plans, except the `most` that were used last. */
static void
drop_plans(ravel_device *d, int64_t most)
{
    ravel_device_plan *gone = NULL;
    pthread_mutex_lock(&d->lock);
    shrink(d, most, &gone);
    pthread_mutex_unlock(&d->lock);
    free_plans(gone);
}

/* In place of one with the same key. */
static void
add_to_cache(ravel_device *d, ravel_device_plan *p)
{
    ravel_device_plan *gone = NULL;
    pthread_mutex_lock(&d->lock);
    ravel_device_plan **at = find(d, p->cx, &p->key, p->form);
    if (*at)
        drop(at, &gone);
    if (d->most > 0) {
        p->next = d->plans;
        d->plans = p;
        p->users++;
        shrink(d, d->most, &gone);
    }
    pthread_mutex_unlock(&d->lock);
    free_plans(gone);
}

void
ravel_device_free(ravel_device *dev)
{
    if (!dev)
        return;
    drop_plans(dev, 0);
    device_cache_bound(dev, 0, 0);
    device_leave(dev);
}

ravel_status
ravel_device_set_cache(ravel_device *dev, int most, int64_t bytes, ravel_error *err)
{
    if (!dev || most < 0 || bytes < 0)
        return error_set(err, RAVEL_ERR_ARGUMENT, "ravel_device_set_cache: no device, or a negative "
                         "number");
    device_cache_bound(dev, most, bytes);
    drop_plans(dev, most);
    return RAVEL_OK;
}

static ravel_status
plan_of(ravel_context *cx, ravel_device *dev, const ravel_request *rq, Form form,
        ravel_device_plan **out, ravel_error *err)
{
    int align = form.align;
    if (align == RAVEL_ALIGN_ANY)
        form = (Form){.batch = form.batch, .any = true};
    if (out)
        *out = NULL;
    if (!cx || !dev || !rq || !out || !rq->from || !rq->to || !rq->dtype)
        return error_set(err, RAVEL_ERR_ARGUMENT, "a plan for a device: a NULL argument");
    if (!form.any && (align < 0 || align > GRID_VECTOR || align & (align - 1)))
        return error_set(err, RAVEL_ERR_ARGUMENT, "an alignment of %d bytes: a power of "
                         "two up to %d, or RAVEL_ALIGN_ANY", align, GRID_VECTOR);
    ravel_status s = request_check(rq, err);
    if (s)
        return s;
    if (rq->in_place)
        return error_set(err, RAVEL_ERR_ARGUMENT, "a device does not convert in place");
    Key key = key_of(cx, rq);
    *out = cached(cx, dev, &key, form);
    if (*out)
        return RAVEL_OK;
    const int64_t start = log_start(cx);
    s = new_plan(cx, dev, context_known(cx), &key, form, out, err);
    if (s)
        return s;
    log_device_plan(*out, start);
    add_to_cache(dev, *out);
    return s;
}

ravel_status
ravel_device_plan_new(ravel_context *cx, ravel_device *dev, const ravel_request *rq,
                      int align, ravel_device_plan **out, ravel_error *err)
{
    return plan_of(cx, dev, rq, (Form){.align = align}, out, err);
}

ravel_status
ravel_device_batch_new(ravel_context *cx, ravel_device *dev, const ravel_request *rq,
                       int align, ravel_device_plan **out, ravel_error *err)
{
    return plan_of(cx, dev, rq, (Form){.align = align, .batch = true}, out, err);
}

void
ravel_device_plan_free(ravel_device_plan *p)
{
    if (!p)
        return;
    ravel_device *d = p->device;
    pthread_mutex_lock(&d->lock);
    bool last = --p->users == 0;
    pthread_mutex_unlock(&d->lock);
    if (last)
        free_plan(p);
}

int
ravel_device_plan_about(const ravel_device_plan *p, ravel_device_plan_info *out)
{
    if (!p || !out)
        return 0;
    const GridUnit *u = p->unit;
    bool fixed = plan_is_fixed(p->plan);
    *out = (ravel_device_plan_info){
        .src_bytes = fixed ? grid_buffer(u, p->plan->src) : -1,
        .dst_bytes = fixed ? grid_buffer(u, p->plan->dst) : -1,
        .align = u->align, .block = GRID_THREADS,
        .grid = fixed ? u->across * u->down : -1, .shared_bytes = u->shared,
        .values = fixed ? 0 : grid_room(u), .function = p->kernel->code, .entry = u->name,
        .source = p->source, .check = p->check ? p->check->code : NULL};
    return 1;
}

int
ravel_device_plan_arrays(const ravel_device_plan *p, ravel_array *out)
{
    return p ? arrays_list(p->plan, out) : 0;
}
