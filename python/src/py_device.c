/* _ravel.Device and _ravel.DevicePlan: a CUDA device, and a relayout that runs on it. */
#include "py_ravel.h"

#include <ravel_gpu.h>

typedef struct {
    PyObject_HEAD
    ravel_device *device;
} Device;

typedef struct {
    PyObject_HEAD
    ravel_device_plan *plan;
} DevicePlan;

/* Device(ordinal), or Device(None) for the context that is current on this thread. */
static PyObject *
device_new(PyTypeObject *type, PyObject *args, PyObject *kw)
{
    PyObject *ordinal;
    ravel_error err;
    (void)kw;
    if (!PyArg_ParseTuple(args, "O", &ordinal))
        return NULL;
    long n = ordinal == Py_None ? 0 : PyLong_AsLong(ordinal);
    if (n == -1 && PyErr_Occurred())
        return NULL;
    Device *self = (Device *)PyType_GenericAlloc(type, 0);
    if (self && (ordinal == Py_None
                 ? ravel_device_of_cuda(&self->device, &err)
                 : ravel_device_open(RAVEL_CUDA, (int)n, &self->device, &err))) {
        self->device = NULL;
        py_fail(&err);
        Py_CLEAR(self);
    }
    return (PyObject *)self;
}

static void
device_dealloc(PyObject *o)
{
    PyTypeObject *type = Py_TYPE(o);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    ravel_device_free(((Device *)o)->device);
    release(o);
    Py_DECREF(type);
}

static PyObject *
device_context(PyObject *o, void *unused)
{
    void *context;
    (void)unused;
    ravel_device_handles(((Device *)o)->device, &context, NULL, NULL);
    return PyLong_FromVoidPtr(context);
}

/* plan(device, src, dst, dtype, shape, align) */
PyObject *
device_plan(ravel_context *cx, PyObject *args)
{
    PyObject *device;
    Shape shape;
    ravel_request rq = {0};
    int align;
    ravel_error err;
    ravel_status s;
    if (!PyArg_ParseTuple(args, "O!sssO&i", ravel_module.device_type, &device, &rq.from,
                          &rq.to, &rq.dtype, py_to_shape, &shape, &align))
        return NULL;
    rq.rank = shape.rank;
    rq.shape = shape.extent;
    DevicePlan *self = (DevicePlan *)PyType_GenericAlloc(
        (PyTypeObject *)ravel_module.device_plan_type, 0);
    if (!self)
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    s = ravel_device_plan_new(cx, ((Device *)device)->device, &rq, align, &self->plan,
                              &err);
    Py_END_ALLOW_THREADS
    if (!s)
        return (PyObject *)self;
    self->plan = NULL;
    Py_DECREF(self);
    return py_fail(&err);
}

static void
plan_dealloc(PyObject *o)
{
    PyTypeObject *type = Py_TYPE(o);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    ravel_device_plan_free(((DevicePlan *)o)->plan);
    release(o);
    Py_DECREF(type);
}

/* Device memory of an argument. */
typedef struct {
    unsigned long long address;
    long long bytes;
} Memory;

/* Whether the memory has the sizes that the plan needs; else an exception is set. */
static int
fits(const ravel_device_plan *p, const int64_t *shape, Memory dst, Memory src)
{
    int64_t from, to;
    ravel_error err;
    if (ravel_device_plan_at(p, shape, &from, &to, NULL, NULL, &err))
        py_fail(&err);
    else if (src.bytes != from)
        py_refuse("x has %lld bytes, and %lld are needed", src.bytes, (long long)from);
    else if (dst.bytes != to)
        py_refuse("out has %lld bytes, and %lld are needed", dst.bytes, (long long)to);
    else
        return 1;
    return 0;
}

/* The addresses of index arrays, and of the number that a check of them sets. */
typedef struct {
    int n;
    const void *at[RAVEL_MAX_ARRAYS];
    unsigned long long bad;
} Arrays;

static int
get_arrays(const ravel_device_plan *p, PyObject *t, Arrays *out)
{
    int n = ravel_device_plan_arrays(p, NULL);
    out->n = t ? (int)PyTuple_Size(t) : 0;
    if (out->n != n) {
        py_refuse("the plan has %d index arrays: run(..., shape, (address, ...), bad)", n);
        return 0;
    }
    for (int i = 0; i < n; i++) {
        unsigned long long v = PyLong_AsUnsignedLongLong(PyTuple_GetItem(t, i));
        if (PyErr_Occurred())
            return 0;
        out->at[i] = (const void *)(uintptr_t)v;
    }
    return 1;
}

static ravel_status
enqueue(ravel_device_plan *p, unsigned long long stream, Memory dst, Memory src,
        const int64_t *shape, const Arrays *a, ravel_error *err)
{
    void *queue = (void *)(uintptr_t)stream, *to = (void *)(uintptr_t)dst.address;
    const void *from = (const void *)(uintptr_t)src.address;
    if (a->n)
        return ravel_device_run_arrays(p, queue, to, from, shape, a->at,
                                       (void *)(uintptr_t)a->bad, err);
    return shape ? ravel_device_run_shape(p, queue, to, from, shape, err)
                 : ravel_device_run(p, queue, to, from, err);
}

/* run(stream, out, its bytes, x, its bytes, shape or None[, arrays, bad]) */
static PyObject *
plan_run(PyObject *o, PyObject *args)
{
    ravel_device_plan *p = ((DevicePlan *)o)->plan;
    unsigned long long stream;
    Memory dst, src;
    PyObject *given, *array = NULL;
    Shape at;
    Arrays a = {.bad = 0};
    ravel_error err;
    ravel_status s;
    if (!PyArg_ParseTuple(args, "KKLKLO|O!K", &stream, &dst.address, &dst.bytes, &src.address,
                          &src.bytes, &given, &PyTuple_Type, &array, &a.bad) ||
        (given != Py_None && !py_shape(given, &at)) || !get_arrays(p, array, &a))
        return NULL;
    const int64_t *shape = given == Py_None ? NULL : at.extent;
    if (!fits(p, shape, dst, src))
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    s = enqueue(p, stream, dst, src, shape, &a, &err);
    Py_END_ALLOW_THREADS
    if (s)
        return py_fail(&err);
    Py_RETURN_NONE;
}

static PyGetSetDef device_attributes[] = {
    {"context", device_context, NULL, "the driver's context, as a number", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot device_slots[] = {
    {Py_tp_new, device_new}, {Py_tp_dealloc, device_dealloc},
    {Py_tp_getset, device_attributes}, {0, NULL}};

PyType_Spec device_spec = {"ravel._ravel.Device", sizeof(Device), 0, Py_TPFLAGS_DEFAULT,
                           device_slots};

static PyMethodDef plan_methods[] = {
    {"run", plan_run, METH_VARARGS, "run(stream, out, its bytes, x, its bytes, shape or "
     "None[, addresses of index arrays, address of bad]): enqueue the conversion; addresses of "
     "the device"},
    {NULL, NULL, 0, NULL}};

static PyType_Slot plan_slots[] = {
    {Py_tp_dealloc, plan_dealloc}, {Py_tp_methods, plan_methods}, {0, NULL}};

PyType_Spec device_plan_spec = {"ravel._ravel.DevicePlan", sizeof(DevicePlan), 0,
                                Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                plan_slots};
