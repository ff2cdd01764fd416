/* ravel_dlpack.h: convert tensors of DLPack with libravel (ravel.h).  Valid C99 and C++.
 *
 *   DLTensor x, y;                                    of a framework; y has been allocated
 *   ravel_dlpack_convert(cx, &x, "NCHW", &y, "NC1HWC0", 0, NULL, &err);
 *
 * A tensor is the storage of a layout as an array: its shape is the layout's storage
 * extents, and its elements are contiguous in row-major order, in memory of the CPU.
 * Include DLPack's dlpack.h first; without it the structures are declared here.
 * ravel_dlpack_convert and ravel_dlpack_view are the interface; the other functions are parts
 * of them.  None has a state of its own, so all are thread-safe as long as no other thread
 * changes the tensors; what they call of ravel.h is thread-safe. */
#ifndef RAVEL_DLPACK_H
#define RAVEL_DLPACK_H

#include <stdio.h>
#include <string.h>

#include "ravel.h"

#if !defined(DLPACK_DLPACK_H_)
#define DLPACK_DLPACK_H_
enum { kDLCPU = 1, kDLCUDAHost = 3 };
enum { kDLInt = 0, kDLUInt = 1, kDLFloat = 2, kDLBfloat = 4, kDLComplex = 5, kDLBool = 6 };
typedef struct {
    int32_t device_type, device_id;
} DLDevice;
typedef struct {
    uint8_t code, bits;
    uint16_t lanes;
} DLDataType;
typedef struct {
    void *data;
    DLDevice device;
    int32_t ndim;
    DLDataType dtype;
    int64_t *shape, *strides;
    uint64_t byte_offset;
} DLTensor;
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    int code, bits;
    const char *name;
} ravel_dlpack_type;

static inline const ravel_dlpack_type *
ravel_dlpack_types(void)
{
    static const ravel_dlpack_type types[] = {
        {kDLFloat, 32, "f32"},  {kDLFloat, 16, "f16"},  {kDLBfloat, 16, "bf16"},
        {kDLFloat, 64, "f64"},  {kDLInt, 8, "i8"},      {kDLUInt, 8, "u8"},
        {kDLInt, 16, "i16"},    {kDLUInt, 16, "u16"},   {kDLInt, 32, "i32"},
        {kDLUInt, 32, "u32"},   {kDLInt, 64, "i64"},    {kDLUInt, 64, "u64"},
        {kDLComplex, 64, "c64"}, {kDLComplex, 128, "c128"}, {kDLBool, 8, "u8"}, {0, 0, NULL}};
    return types;
}

/* The dtype of ravel for a type of DLPack: a static string, NULL if there is none. */
static inline const char *
ravel_dlpack_dtype(DLDataType t)
{
    const ravel_dlpack_type *d = ravel_dlpack_types();
    while (d->name && (d->code != t.code || d->bits != t.bits || t.lanes != 1))
        d++;
    return d->name;
}

static inline ravel_status
ravel_dlpack_fail(ravel_error *err, const char *which, const char *why)
{
    if (err) {
        err->status = RAVEL_ERR_ARGUMENT;
        snprintf(err->text, sizeof err->text, "%s: %s", which, why);
    }
    return RAVEL_ERR_ARGUMENT;
}

/* The number of elements; -1 if they are not contiguous or the number does not fit. */
static inline int64_t
ravel_dlpack_elements(const DLTensor *t)
{
    int64_t n = 1;
    for (int d = 0; d < t->ndim; d++)
        if (t->shape[d] == 0)
            return 0;
    for (int d = t->ndim - 1; d >= 0; d--) {
        if (t->shape[d] < 0 || t->shape[d] > INT64_MAX / 16 / n)
            return -1;
        if (t->strides && t->shape[d] != 1 && t->strides[d] != n)
            return -1;
        n *= t->shape[d];
    }
    return n;
}

/* RAVEL_ERR_ARGUMENT, with `which` in the message, unless the tensor can be used here. */
static inline ravel_status
ravel_dlpack_check(const DLTensor *t, const char *which, ravel_error *err)
{
    if (!t || !t->data || (t->ndim && !t->shape) || t->ndim < 0)
        return ravel_dlpack_fail(err, which, "a NULL pointer or a negative rank");
    if (t->device.device_type != kDLCPU && t->device.device_type != kDLCUDAHost)
        return ravel_dlpack_fail(err, which, "the tensor is on a device: copy it to the CPU "
                                             "first, or use ravel_gpu.h");
    if (!ravel_dlpack_dtype(t->dtype))
        return ravel_dlpack_fail(err, which, "ravel has no dtype for its element type");
    if (ravel_dlpack_elements(t) < 0)
        return ravel_dlpack_fail(err, which, "its elements are not contiguous: copy it first");
    return RAVEL_OK;
}

/* RAVEL_ERR_ARGUMENT unless the tensor has `bytes` bytes. */
static inline ravel_status
ravel_dlpack_fits(const DLTensor *t, int64_t bytes, const char *which, ravel_error *err)
{
    char why[128];
    const int64_t own = ravel_dlpack_elements(t) * (t->dtype.bits / 8);
    if (own == bytes)
        return RAVEL_OK;
    snprintf(why, sizeof why, "the tensor has %lld bytes, and its layout needs %lld",
             (long long)own, (long long)bytes);
    return ravel_dlpack_fail(err, which, why);
}

/* The logical shape of src, a storage of `from`, or else of dst, a storage of `to`, and its rank. */
static inline ravel_status
ravel_dlpack_shape(ravel_context *cx, const DLTensor *src, const char *from,
                   const DLTensor *dst, const char *to, int *rank, int64_t *shape,
                   ravel_error *err)
{
    const char *dtype = ravel_dlpack_dtype(src->dtype);
    *rank = src->ndim;
    if (ravel_logical_shape(cx, from, dtype, src->ndim, src->shape, shape, NULL) == RAVEL_OK)
        return RAVEL_OK;
    *rank = dst->ndim;
    return ravel_logical_shape(cx, to, dtype, dst->ndim, dst->shape, shape, err);
}

/* Run the plan on two tensors that were checked. */
static inline ravel_status
ravel_dlpack_run(ravel_plan *plan, const DLTensor *src, const DLTensor *dst, ravel_error *err)
{
    ravel_status s = ravel_dlpack_fits(src, ravel_plan_src_bytes(plan), "src", err);
    if (s == RAVEL_OK)
        s = ravel_dlpack_fits(dst, ravel_plan_dst_bytes(plan), "dst", err);
    if (s != RAVEL_OK)
        return s;
    s = ravel_run(plan, (char *)dst->data + dst->byte_offset,
                  (const char *)src->data + src->byte_offset);
    if (s != RAVEL_OK)
        ravel_dlpack_fail(err, "dst", "it overlaps src: there is no conversion in place");
    return s;
}

/* Convert src, a storage of the layout `from`, to dst, a storage of `to`.  The logical shape
 * has `rank` extents; if `shape` is NULL, it follows from the shape of src, or else from that
 * of dst.  The plan is compiled once for each context and shape.  RAVEL_ERR_ARGUMENT, and
 * nothing is written, if a tensor cannot be used, if the element types differ or if a size is
 * not that of the layout; else errors as for ravel_compile and ravel_run.  Thread-safe. */
static inline ravel_status
ravel_dlpack_convert(ravel_context *cx, const DLTensor *src, const char *from,
                     const DLTensor *dst, const char *to, int rank, const int64_t *shape,
                     ravel_error *err)
{
    int64_t logical[RAVEL_MAX_RANK];
    ravel_plan *plan = NULL;
    ravel_status s = ravel_dlpack_check(src, "src", err);
    if (s == RAVEL_OK)
        s = ravel_dlpack_check(dst, "dst", err);
    if (s != RAVEL_OK)
        return s;
    const char *dtype = ravel_dlpack_dtype(src->dtype);
    if (strcmp(dtype, ravel_dlpack_dtype(dst->dtype)))
        return ravel_dlpack_fail(err, "dst", "its element type is not that of src");
    if (!shape) {
        s = ravel_dlpack_shape(cx, src, from, dst, to, &rank, logical, err);
        if (s != RAVEL_OK)
            return s;
        shape = logical;
    }
    ravel_request rq;
    memset(&rq, 0, sizeof rq);
    rq.from = from;
    rq.to = to;
    rq.dtype = dtype;
    rq.rank = rank;
    rq.shape = shape;
    s = ravel_compile(cx, &rq, &plan, err);
    if (s == RAVEL_OK)
        s = ravel_dlpack_run(plan, src, dst, err);
    ravel_plan_free(plan);
    return s;
}

/* Make *out a view of `data`, the storage of a layout in memory of the CPU, as an array.
 * extent is the memory of its shape.  Nothing is allocated.  Errors as for
 * ravel_storage_shape; RAVEL_ERR_ARGUMENT if DLPack has no such element type.  Thread-safe. */
static inline ravel_status
ravel_dlpack_view(ravel_context *cx, const char *layout, const char *dtype, int rank,
                  const int64_t *shape, void *data, ravel_extents *extent, DLTensor *out,
                  ravel_error *err)
{
    const ravel_dlpack_type *d = ravel_dlpack_types();
    ravel_status s = ravel_storage_shape(cx, layout, dtype, rank, shape, extent, err);
    DLTensor t;
    if (s != RAVEL_OK)
        return s;
    memset(&t, 0, sizeof t);
    while (d->name && strcmp(d->name, dtype))
        d++;
    if (!d->name)
        return ravel_dlpack_fail(err, "dtype", "DLPack has no such element type");
    t.data = data;
    t.device.device_type = kDLCPU;
    t.ndim = extent->rank;
    t.dtype.code = (uint8_t)d->code;
    t.dtype.bits = (uint8_t)d->bits;
    t.dtype.lanes = 1;
    t.shape = extent->extent;
    *out = t;
    return RAVEL_OK;
}

#ifdef __cplusplus
}
#endif
#endif
