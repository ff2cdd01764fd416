/* Launches of plans for a device: the grid and the kernel's arguments at a shape. */
#include "gpu_plan.h"
#include "../templates/c/divisor.c"

/* What a launch needs. */
typedef struct {
    const ravel_device_plan *p;
    const int64_t *shape;
    Arena arena;
    i64 src, dst, grid;
    i64 *values;                   /* in arena; NULL: the kernel has two arguments */
    int nvalues;
    const char *why;               /* the shape is not valid */
} Place;

/* The arguments are scalars of the plan.  A divisor is followed by its multiplier and
 * shift. */
static void
find_values(Place *s, const i64 *val)
{
    const GridUnit *u = s->p->unit;
    s->nvalues = grid_room(u);
    s->values = arena_array(&s->arena, i64, s->nvalues);
    for (int i = 0, at = 0; i < u->nargs; i++) {
        ex_eval(u->arg[i].value, val, &s->values[at]);
        if (u->arg[i].upper)
            s->values[at] = (i64)((uint64_t)s->values[at] >> 32);
        if (i < u->ndivisors)
            ravel_divisor(&s->values[at], u->most.bits);
        at += i < u->ndivisors ? 3 : 1;
    }
}

static void
find_place(void *arg)
{
    Place *s = arg;
    const Plan *p = s->p->plan;
    i64 *extent = arena_array(&s->arena, i64, MAX_RANK);
    s->why = plan_extents(&s->arena, p, s->shape, extent);
    const i64 *val = s->why ? NULL : plan_values(&s->arena, p, extent);
    if (s->why)
        return;
    if (!val || !plan_bytes_at(p, val, &s->src, &s->dst) ||
        !ex_eval(s->p->unit->blocks, val, &s->grid))
        s->why = "the sizes at this shape do not fit 64 bits";
    else if (s->grid > s->p->device->info.grid || s->grid > BLOCKS_MAX)
        s->why = "the grid at this shape has more blocks than the device allows";
    else
        find_values(s, val);
}

/* On RAVEL_OK the caller frees s->arena. */
static ravel_status
place(Place *s, const ravel_device_plan *p, const int64_t *shape, ravel_error *err)
{
    Diag d;
    const GridUnit *u = p->unit;
    *s = (Place){.p = p, .shape = shape, .arena = context_arena(p->cx)};
    if (plan_is_fixed(p->plan)) {
        s->src = grid_buffer(u, p->plan->src);
        s->dst = grid_buffer(u, p->plan->dst);
        s->grid = u->across * u->down;
        return RAVEL_OK;
    }
    if (!shape)
        return error_set(err, RAVEL_ERR_ARGUMENT, "the plan has run-time extents: it needs "
                         "a shape");
    ravel_status status = RAVEL_OK;
    if (!arena_run(&s->arena, &d, find_place, s))
        status = error_of(err, &d);
    else if (s->why)
        status = error_set(err, RAVEL_ERR_ARGUMENT, "%s", s->why);
    if (status)
        arena_free(&s->arena);
    return status;
}

ravel_status
ravel_device_plan_at(const ravel_device_plan *p, const int64_t *shape, int64_t *src_bytes,
                     int64_t *dst_bytes, int64_t *grid, int64_t *values, ravel_error *err)
{
    Place s;
    if (!p)
        return error_set(err, RAVEL_ERR_ARGUMENT, "ravel_device_plan_at: no plan");
    ravel_status status = place(&s, p, shape, err);
    if (status)
        return status;
    int64_t *const out[] = {src_bytes, dst_bytes, grid};
    const i64 is[] = {s.src, s.dst, s.grid};
    for (int i = 0; i < LEN(out); i++)
        if (out[i])
            *out[i] = is[i];
    for (int i = 0; values && i < s.nvalues; i++)
        values[i] = s.values[i];
    arena_free(&s.arena);
    return RAVEL_OK;
}

/* A cl_mem is no address; the driver aligns it. */
static bool
is_aligned(const ravel_device_plan *p, uintptr_t at)
{
    return p->device->info.kind != RAVEL_CUDA || at % (uintptr_t)p->unit->align == 0;
}

static ravel_status
check_aligned(const ravel_device_plan *p, const char *what, const void *at, ravel_error *err)
{
    int align = p->unit->align, least = device_plan_least(p);
    uintptr_t a = (uintptr_t)at;
    if (is_aligned(p, a))
        return RAVEL_OK;
    if (a % (uintptr_t)least)
        return error_set(err, RAVEL_ERR_ARGUMENT, "%s is at a multiple of %d bytes, and "
                         "must be at one of %d, the size of an element", what, (int)(a & -a),
                         least);
    return error_set(err, RAVEL_ERR_ARGUMENT, "%s is at a multiple of %d bytes, and this "
                     "plan needs %d: request one with an align of %d", what,
                     (int)(a & -a), align, (int)(a & -a));
}

/* The first variant for which addresses with these bits are aligned; the narrowest if none is. */
static ravel_device_plan *
variant(ravel_device_plan *p, uintptr_t bits)
{
    while (p->narrow && !is_aligned(p, bits))
        p = p->narrow;
    return p;
}

const ravel_device_plan *
ravel_device_plan_variant(const ravel_device_plan *p, const void *dst, const void *src)
{
    uintptr_t bits = (uintptr_t)dst | (uintptr_t)src;
    const ravel_device_plan *v = p ? variant((ravel_device_plan *)(uintptr_t)p, bits)
                                   : NULL;
    return v && is_aligned(v, bits) ? v : NULL;
}

/* Enqueues l at the place, after the check of its index arrays. */
static ravel_status
enqueue(ravel_device_plan *p, void *queue, Place *at, DeviceLaunch l, ravel_error *err)
{
    l.grid = at->grid;
    l.values = at->values;
    l.nvalues = at->nvalues;
    const int64_t start = log_start(p->cx);
    ravel_status s = p->check ? device_launch(p->check, queue, &l, err) : RAVEL_OK;
    if (!s)
        s = device_launch(p->kernel, queue, &l, err);
    if (!s)
        log_launch(p, at->shape, &l, at->src, at->dst, start);
    return s;
}

/* l: the buffers and the arrays. */
static ravel_status
run(ravel_device_plan *p, void *queue, const DeviceLaunch *l, const int64_t *shape,
    ravel_error *err)
{
    Place at;
    if (p->form.batch)
        return error_set(err, RAVEL_ERR_ARGUMENT, "the plan takes a batch: "
                         "ravel_device_run_batch runs it");
    if (p->check && !l->narrays)
        return error_set(err, RAVEL_ERR_ARGUMENT, "the plan has index arrays: "
                         "ravel_device_run_arrays runs it");
    p = variant(p, (uintptr_t)l->dst | (uintptr_t)l->src);
    ravel_status s = check_aligned(p, "dst", l->dst, err);
    if (!s)
        s = check_aligned(p, "src", l->src, err);
    if (!s)
        s = place(&at, p, shape, err);
    if (s)
        return s;
    s = enqueue(p, queue, &at, *l, err);
    arena_free(&at.arena);
    return s;
}

ravel_status
ravel_device_run(ravel_device_plan *p, void *queue, void *dst, const void *src,
                 ravel_error *err)
{
    if (!p)
        return error_set(err, RAVEL_ERR_ARGUMENT, "ravel_device_run: no plan");
    if (!plan_is_fixed(p->plan))
        return error_set(err, RAVEL_ERR_ARGUMENT, "the plan has run-time extents: "
                         "ravel_device_run_shape runs it");
    return run(p, queue, &(DeviceLaunch){.dst = dst, .src = src}, NULL, err);
}

ravel_status
ravel_device_run_shape(ravel_device_plan *p, void *queue, void *dst, const void *src,
                       const int64_t *shape, ravel_error *err)
{
    if (!p || !shape)
        return error_set(err, RAVEL_ERR_ARGUMENT, "ravel_device_run_shape: a NULL argument");
    if (plan_is_fixed(p->plan))
        return error_set(err, RAVEL_ERR_ARGUMENT, "all extents of this plan are numbers: "
                         "ravel_device_run runs it");
    return run(p, queue, &(DeviceLaunch){.dst = dst, .src = src}, shape, err);
}

_Static_assert((int)PLAN_ARRAYS < (int)DEVICE_ARRAYS, "all index arrays and bad");

/* The arrays of a launch: numbers where they are aligned, and last the number of a wrong one. */
static ravel_status
take_arrays(const ravel_device_plan *p, const void *const *array, void *bad, DeviceLaunch *l,
            ravel_error *err)
{
    const GridUnit *u = p->unit;
    l->narrays = u->narrays + 1;
    for (int i = 0; i < l->narrays; i++) {
        uintptr_t bytes = i < u->narrays ? (uintptr_t)u->array[i].bits / 8 : sizeof(int32_t);
        const char *name = i < u->narrays ? u->array[i].name : "bad";
        l->array[i] = i < u->narrays ? array[i] : bad;
        if (!l->array[i] || l->array[i] == l->dst)
            return error_set(err, RAVEL_ERR_ARGUMENT, "the array '%s' is %s", name,
                             l->array[i] ? "the destination" : "NULL");
        if (p->device->info.kind == RAVEL_CUDA && (uintptr_t)l->array[i] % bytes)
            return error_set(err, RAVEL_ERR_ARGUMENT, "the array '%s' is at no multiple of %d "
                             "bytes", name, (int)bytes);
    }
    return RAVEL_OK;
}

ravel_status
ravel_device_run_arrays(ravel_device_plan *p, void *queue, void *dst, const void *src,
                        const int64_t *shape, const void *const *array, void *bad,
                        ravel_error *err)
{
    DeviceLaunch l = {.dst = dst, .src = src};
    if (!p || !array)
        return error_set(err, RAVEL_ERR_ARGUMENT, "ravel_device_run_arrays: a NULL argument");
    if (!p->check)
        return error_set(err, RAVEL_ERR_ARGUMENT, "the plan has no index arrays: "
                         "ravel_device_run and ravel_device_run_shape run it");
    ravel_status s = take_arrays(p, array, bad, &l, err);
    return s ? s : run(p, queue, &l, shape, err);
}

/* Whether all pairs may be converted. */
static ravel_status
check_pairs(const ravel_device_plan *p, void *const *dst, const void *const *src, int64_t n,
            ravel_error *err)
{
    ravel_status s = RAVEL_OK;
    for (int64_t i = 0; i < n && !s; i++) {
        if (!dst[i] || !src[i] || dst[i] == src[i])
            return error_set(err, RAVEL_ERR_ARGUMENT, "pair %lld of a batch: %s",
                             (long long)i, dst[i] && src[i] ? "the source is the destination"
                             : "no source or no destination");
        s = check_aligned(p, "dst", dst[i], err);
        if (!s)
            s = check_aligned(p, "src", src[i], err);
    }
    return s;
}

static ravel_device_plan *
variant_of_pairs(ravel_device_plan *p, void *const *dst, const void *const *src, int64_t n)
{
    uintptr_t bits = 0;
    for (int64_t i = 0; i < n; i++)
        bits |= (uintptr_t)dst[i] | (uintptr_t)src[i];
    return variant(p, bits);
}

/* Launches for as many pairs as a kernel takes. */
static ravel_status
run_pairs(ravel_device_plan *p, void *queue, Place *at, void *const *dst,
          const void *const *src, int64_t n, ravel_error *err)
{
    uint64_t pairs[2 * GRID_PAIRS] = {0};
    for (int i = 0; i < n; i++) {
        pairs[i] = (uintptr_t)dst[i];
        pairs[GRID_PAIRS + i] = (uintptr_t)src[i];
    }
    return enqueue(p, queue, at, (DeviceLaunch){.pairs = pairs, .npairs = (int)n}, err);
}

ravel_status
ravel_device_run_batch(ravel_device_plan *p, void *queue, void *const *dst,
                       const void *const *src, int64_t n, const int64_t *shape,
                       ravel_error *err)
{
    Place at;
    if (!p || n < 0 || (n && (!dst || !src)))
        return error_set(err, RAVEL_ERR_ARGUMENT, "ravel_device_run_batch: %s",
                         n < 0 ? "a negative number of pairs" : "a NULL argument");
    if (!p->form.batch)
        return error_set(err, RAVEL_ERR_ARGUMENT, "the plan takes one pair: "
                         "ravel_device_batch_new makes one for a batch");
    p = variant_of_pairs(p, dst, src, n);
    ravel_status s = place(&at, p, shape, err);
    if (s)
        return s;
    s = at.grid ? check_pairs(p, dst, src, n, err) : RAVEL_OK;
    for (int64_t i = 0; i < n && !s; i += GRID_PAIRS)
        s = run_pairs(p, queue, &at, dst + i, src + i,
                      n - i < GRID_PAIRS ? n - i : GRID_PAIRS, err);
    arena_free(&at.arena);
    return s;
}
