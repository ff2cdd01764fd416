/* _ravel.Plan: a compiled relayout, on buffers. */
#include "py_ravel.h"

typedef struct {
    PyObject_HEAD
    ravel_plan *plan;
} Plan;

PyObject *
plan_new(ravel_plan *p)
{
    Plan *self = (Plan *)PyType_GenericAlloc((PyTypeObject *)ravel_module.plan_type, 0);
    if (!self) {
        ravel_plan_free(p);
        return NULL;
    }
    self->plan = p;
    return (PyObject *)self;
}

static void
plan_dealloc(PyObject *o)
{
    PyTypeObject *type = Py_TYPE(o);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    ravel_plan_free(((Plan *)o)->plan);
    release(o);
    Py_DECREF(type);
}

/* The memory of an argument; its size must be `bytes`. */
static int
get_buffer(PyObject *o, const char *name, int flags, int64_t bytes, Py_buffer *view)
{
    if (PyObject_GetBuffer(o, view, flags)) {
        PyErr_Clear();
        py_refuse(flags == PyBUF_WRITABLE
                  ? "%s cannot be written to: it is read-only, or not C-contiguous"
                  : "%s is not a C-contiguous array: pass np.ascontiguousarray(%s)", name,
                  name);
        return 0;
    }
    if (view->len == bytes)
        return 1;
    py_refuse("%s has %lld bytes, and %lld are needed", name, (long long)view->len,
              (long long)bytes);
    PyBuffer_Release(view);
    return 0;
}

/* The shape of a run and what it is given by name, of which the fill alone can be negative. */
static int
shape_of(PyObject *plan, PyObject *o, Shape *out)
{
    if (!ravel_plan_fill(((Plan *)plan)->plan) || !PyTuple_Check(o) || !PyTuple_Size(o))
        return py_shape(o, out);
    Py_ssize_t n = PyTuple_Size(o) - 1;
    long long fill = PyLong_AsLongLong(PyTuple_GetItem(o, n));
    PyObject *t = PyErr_Occurred() ? NULL : PyTuple_GetSlice(o, 0, n);
    int ok = t && py_shape(t, out);
    if (ok && n < RAVEL_MAX_RANK)
        out->extent[n] = fill;
    Py_XDECREF(t);
    return ok;
}

typedef struct {
    int64_t src, dst;
} Sizes;

static int
sizes_at(const ravel_plan *p, const Shape *shape, Sizes *out)
{
    ravel_error err;
    *out = (Sizes){ravel_plan_src_bytes(p), ravel_plan_dst_bytes(p)};
    if (!shape)
        return out->src >= 0 || py_refuse("the plan has run-time extents: give the shape");
    if (!ravel_plan_bytes_at(p, shape->extent, &out->src, &out->dst, &err))
        return 1;
    py_fail(&err);
    return 0;
}

/* The index arrays of a run. */
typedef struct {
    int n;
    Py_buffer view[RAVEL_MAX_ARRAYS];
    const void *number[RAVEL_MAX_ARRAYS];
} Arrays;

static void
release(Arrays *a)
{
    while (a->n > 0)
        PyBuffer_Release(&a->view[--a->n]);
}

/* The memory of the index arrays in a tuple, which are in the order of the plan's. */
static int
get_arrays(const ravel_plan *p, PyObject *t, const Shape *shape, Arrays *out)
{
    ravel_array a[RAVEL_MAX_ARRAYS];
    ravel_error err;
    int n = ravel_plan_arrays(p, NULL);
    out->n = 0;
    if (ravel_plan_arrays_at(p, shape ? shape->extent : NULL, a, &err)) {
        py_fail(&err);
        return 0;
    }
    if (!PyTuple_Check(t) || PyTuple_Size(t) != n) {
        py_refuse("the plan has %d index arrays: run(x, out, shape, (array, ...))", n);
        return 0;
    }
    for (int i = 0; i < n; i++) {
        if (!get_buffer(PyTuple_GetItem(t, i), a[i].name, PyBUF_SIMPLE, a[i].n * (a[i].bits / 8),
                        &out->view[i])) {
            release(out);
            return 0;
        }
        out->number[out->n++] = out->view[i].buf;
    }
    return 1;
}

static int
convert(const ravel_plan *p, void *dst, const void *src, const Shape *shape, const Arrays *a)
{
    ravel_error err;
    ravel_status s;
    Py_BEGIN_ALLOW_THREADS
    s = a->n ? ravel_run_arrays(p, dst, src, shape ? shape->extent : NULL, a->number, &err)
        : shape ? ravel_run_shape(p, dst, src, shape->extent, &err)
              : ravel_run(p, dst, src);
    Py_END_ALLOW_THREADS
    if (s && (shape || a->n))
        py_fail(&err);
    else if (s == RAVEL_ERR_MEMORY)
        py_refuse("no memory for the passes of a conversion in place");
    else if (s)
        py_refuse("out and x overlap, and out is not x");
    return !s;
}

/* run(x, out[, shape[, arrays]]) */
static PyObject *
plan_run(PyObject *o, PyObject *const *arg, Py_ssize_t n)
{
    const ravel_plan *p = ((Plan *)o)->plan;
    Py_buffer src, dst;
    Shape at, *shape = n >= 3 && arg[2] != Py_None ? &at : NULL;
    Sizes size;
    Arrays arrays = {.n = 0};
    if (n < 2 || n > 4)
        return py_refuse("run(x, out, shape, arrays) has %zd arguments", n);
    if ((shape && !shape_of(o, arg[2], shape)) || !sizes_at(p, shape, &size) ||
        (n == 4 && !get_arrays(p, arg[3], shape, &arrays)))
        return NULL;
    int ok = get_buffer(arg[0], "x", PyBUF_SIMPLE, size.src, &src);
    if (ok) {
        ok = get_buffer(arg[1], "out", PyBUF_WRITABLE, size.dst, &dst);
        if (ok) {
            ok = convert(p, dst.buf, src.buf, shape, &arrays);
            PyBuffer_Release(&dst);
        }
        PyBuffer_Release(&src);
    }
    release(&arrays);
    if (!ok)
        return NULL;
    Py_RETURN_NONE;
}

/* run_at(x, out): their addresses */
static PyObject *
plan_run_at(PyObject *o, PyObject *const *arg, Py_ssize_t n)
{
    const Arrays none = {.n = 0};
    if (n != 2)
        return py_refuse("run_at(x, out) has %zd arguments", n);
    const void *src = PyLong_AsVoidPtr(arg[0]);
    void *dst = PyErr_Occurred() ? NULL : PyLong_AsVoidPtr(arg[1]);
    if (PyErr_Occurred() || !convert(((Plan *)o)->plan, dst, src, NULL, &none))
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *
plan_shapes(PyObject *o, PyObject *arg)
{
    const ravel_plan *p = ((Plan *)o)->plan;
    ravel_extents src, dst;
    ravel_error err;
    Shape at;
    if (arg != Py_None && !shape_of(o, arg, &at))
        return NULL;
    if (arg == Py_None ? ravel_plan_shapes(p, &src, &dst, &err)
                       : ravel_plan_shapes_at(p, at.extent, &src, &dst, &err))
        return py_fail(&err);
    return Py_BuildValue("NN", py_tuple(src.extent, src.rank),
                         py_tuple(dst.extent, dst.rank));
}

static PyObject *
plan_arrays(PyObject *o, PyObject *arg)
{
    const ravel_plan *p = ((Plan *)o)->plan;
    ravel_array a[RAVEL_MAX_ARRAYS];
    ravel_error err;
    Shape at;
    int n = ravel_plan_arrays(p, a);
    if (arg != Py_None && !shape_of(o, arg, &at))
        return NULL;
    if (arg != Py_None && ravel_plan_arrays_at(p, at.extent, a, &err))
        return py_fail(&err);
    PyObject *t = PyTuple_New(n);
    for (int i = 0; t && i < n; i++) {
        PyObject *x = Py_BuildValue("siN", a[i].name, a[i].bits,
                                    py_tuple(a[i].extent, a[i].rank));
        if (!x || PyTuple_SetItem(t, i, x))
            Py_CLEAR(t);
    }
    return t;
}

static PyObject *
plan_values(PyObject *o, PyObject *unused)
{
    const ravel_plan *p = ((Plan *)o)->plan;
    const char *name[RAVEL_MAX_RANK];
    int n = ravel_plan_strides(p, name);
    (void)unused;
    PyObject *t = PyTuple_New(n);
    for (int i = 0; t && i < n; i++) {
        PyObject *s = PyUnicode_FromString(name[i]);
        if (!s || PyTuple_SetItem(t, i, s))
            Py_CLEAR(t);
    }
    return t ? Py_BuildValue("Nz", t, ravel_plan_fill(p)) : NULL;
}

/* given(x, out or None, ((name, shape), ...)): the numbers of values() that follow from the shapes of
 * x and of out and from those of index arrays; -1: it does not. */
static PyObject *
plan_given(PyObject *o, PyObject *args)
{
    const ravel_plan *p = ((Plan *)o)->plan;
    PyObject *x, *out, *arrays;
    ravel_extents src, dst;
    ravel_array a[RAVEL_MAX_ARRAYS];
    int64_t value[RAVEL_MAX_RANK];
    ravel_error err;
    if (!PyArg_ParseTuple(args, "OOO!", &x, &out, &PyTuple_Type, &arrays) || !py_extents(x, &src) ||
        (out != Py_None && !py_extents(out, &dst)) || !py_arrays(arrays, a))
        return NULL;
    if (ravel_plan_given(p, &src, out == Py_None ? NULL : &dst, (int)PyTuple_Size(arrays), a, value,
                         &err))
        return py_fail(&err);
    return py_tuple(value, ravel_plan_strides(p, NULL));
}

static PyObject *
plan_bytes(PyObject *o, PyObject *arg)
{
    Shape shape;
    Sizes size;
    if ((arg != Py_None && !shape_of(o, arg, &shape)) ||
        !sizes_at(((Plan *)o)->plan, arg == Py_None ? NULL : &shape, &size))
        return NULL;
    return Py_BuildValue("LL", (long long)size.src, (long long)size.dst);
}

static PyObject *
plan_verify(PyObject *o, PyObject *unused)
{
    ravel_certificate c;
    ravel_error err;
    ravel_status s;
    (void)unused;
    Py_BEGIN_ALLOW_THREADS
    s = ravel_verify_report(((Plan *)o)->plan, &c, &err);
    Py_END_ALLOW_THREADS
    if (s)
        return py_fail(&err);
    return Py_BuildValue("{s:L,s:L,s:L,s:i,s:i,s:s}", "elements", (long long)c.elements,
                         "padding", (long long)c.padding, "holes", (long long)c.holes,
                         "runs", c.runs, "threads", c.threads, "kernels", c.kernels);
}

static PyObject *
text_or_none(const char *s)
{
    return Py_BuildValue("z", s);
}

static PyObject *
plan_way(PyObject *o, void *unused)
{
    (void)unused;
    return text_or_none(ravel_plan_way(((Plan *)o)->plan));
}

static PyObject *
plan_source(PyObject *o, void *unused)
{
    (void)unused;
    return text_or_none(ravel_plan_source(((Plan *)o)->plan));
}

static PyObject *
plan_threads(PyObject *o, void *unused)
{
    (void)unused;
    return PyLong_FromLong(ravel_plan_threads(((Plan *)o)->plan));
}

static PyMethodDef methods[] = {
    {"run", (PyCFunction)(void (*)(void))plan_run, METH_FASTCALL,
     "run(x, out[, shape[, arrays]]): convert the buffer x to the buffer out"},
    {"run_at", (PyCFunction)(void (*)(void))plan_run_at, METH_FASTCALL,
     "run_at(x, out): convert between two addresses, whose memory is not checked"},
    {"arrays", plan_arrays, METH_O, "arrays(shape or None): (name, bits, extents) of each index "
     "array; -1: an extent at run time"},
    {"values", plan_values, METH_NOARGS, "values(): the names of strides and of the fill that each "
     "run is given after its shape; which of them is the fill, or None"},
    {"given", plan_given, METH_VARARGS, "given(x, out or None, ((name, shape), ...)): the numbers of "
     "values() that follow from the shapes of x, of out and of index arrays; -1: it does not"},
    {"shapes", plan_shapes, METH_O, "shapes(shape or None): the extents of x and of out"},
    {"bytes", plan_bytes, METH_O, "bytes(shape or None): the sizes of x and of out"},
    {"verify", plan_verify, METH_NOARGS, "verify(): prove the code"},
    {NULL, NULL, 0, NULL}};

static PyGetSetDef attributes[] = {
    {"way", plan_way, NULL, "how it is executed", NULL},
    {"source", plan_source, NULL, "its C source, or None", NULL},
    {"threads", plan_threads, NULL, "the most threads of a call", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot slots[] = {
    {Py_tp_dealloc, plan_dealloc}, {Py_tp_methods, methods},
    {Py_tp_getset, attributes}, {0, NULL}};

PyType_Spec plan_spec = {"ravel._ravel.Plan", sizeof(Plan), 0,
                         Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
