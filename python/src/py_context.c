/* _ravel.Context: loaded specs, and what can be asked about their layouts. */
#include "py_ravel.h"

#include <stdlib.h>

typedef struct {
    PyObject_HEAD
    ravel_context *cx;
} Context;

/* The arguments of most questions: layout, dtype, shape. */
typedef struct {
    const char *layout, *dtype;
    Shape shape;
} Question;

static ravel_context *
context_of(PyObject *o)
{
    return ((Context *)o)->cx;
}

static PyObject *
context_new(PyTypeObject *type, PyObject *args, PyObject *kw)
{
    ravel_error err;
    (void)args, (void)kw;
    Context *self = (Context *)PyType_GenericAlloc(type, 0);
    if (self && ravel_context_new(&self->cx, &err)) {
        self->cx = NULL;
        py_fail(&err);
        Py_CLEAR(self);
    }
    return (PyObject *)self;
}

static void
context_dealloc(PyObject *o)
{
    PyTypeObject *type = Py_TYPE(o);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    ravel_context_free(context_of(o));
    release(o);
    Py_DECREF(type);
}

static int
ask(PyObject *args, Question *q)
{
    return PyArg_ParseTuple(args, "ssO&", &q->layout, &q->dtype, py_to_shape, &q->shape);
}

static PyObject *
context_load(PyObject *o, PyObject *args)
{
    const char *text, *name;
    Py_ssize_t len;
    ravel_error err;
    if (!PyArg_ParseTuple(args, "s#s", &text, &len, &name))
        return NULL;
    if (ravel_load(context_of(o), text, (size_t)len, name, &err))
        return py_fail(&err);
    Py_RETURN_NONE;
}

static PyObject *
context_compile(PyObject *o, PyObject *args)
{
    Shape shape;
    ravel_request rq = {0};
    ravel_plan *plan;
    ravel_error err;
    ravel_status s;
    if (!PyArg_ParseTuple(args, "sssO&i|p", &rq.from, &rq.to, &rq.dtype, py_to_shape, &shape,
                          &rq.threads, &rq.in_place))
        return NULL;
    rq.rank = shape.rank;
    rq.shape = shape.extent;
    Py_BEGIN_ALLOW_THREADS
    s = ravel_compile(context_of(o), &rq, &plan, &err);
    Py_END_ALLOW_THREADS
    return s ? py_fail(&err) : plan_new(plan);
}

static PyObject *
context_device_plan(PyObject *o, PyObject *args)
{
    return device_plan(context_of(o), args);
}

static PyObject *
context_any_dtype(PyObject *o, PyObject *args)
{
    const char *layout, *dtype;
    ravel_error err;
    if (!PyArg_ParseTuple(args, "s", &layout))
        return NULL;
    if (ravel_any_dtype(context_of(o), layout, &dtype, &err))
        return py_fail(&err);
    return PyUnicode_FromString(dtype);
}

static PyObject *
context_logical_shape(PyObject *o, PyObject *args)
{
    Question q;
    int64_t shape[RAVEL_MAX_RANK];
    ravel_error err;
    if (!ask(args, &q))
        return NULL;
    if (ravel_logical_shape(context_of(o), q.layout, q.dtype, q.shape.rank,
                            q.shape.extent, shape, &err))
        return py_fail(&err);
    return py_tuple(shape, q.shape.rank);
}

static PyObject *
context_view_shape(PyObject *o, PyObject *args)
{
    const char *layout;
    int64_t shape[RAVEL_MAX_RANK];
    int rank;
    ravel_error err;
    if (!PyArg_ParseTuple(args, "s", &layout))
        return NULL;
    if (ravel_view_shape(context_of(o), layout, &rank, shape, &err))
        return py_fail(&err);
    return py_tuple(shape, rank);
}

/* part_of(layout, dtype, stored, ((name, shape), ...), numbers): the layout with the extents of its
 * tensor, with `numbers` in place of all names that follow; and the shape of the part; -1: an extent
 * that does not follow. */
static PyObject *
context_part_of(PyObject *o, PyObject *args)
{
    const char *layout, *dtype;
    PyObject *stored, *arrays;
    int numbers;
    ravel_extents in, shape;
    ravel_array a[RAVEL_MAX_ARRAYS];
    char *text;
    ravel_error err;
    if (!PyArg_ParseTuple(args, "ssOO!p", &layout, &dtype, &stored, &PyTuple_Type, &arrays,
                          &numbers) ||
        !py_extents(stored, &in) || !py_arrays(arrays, a))
        return NULL;
    if (ravel_view_in(context_of(o), layout, dtype, &in, (int)PyTuple_Size(arrays), a, numbers, &text,
                      &shape, &err))
        return py_fail(&err);
    PyObject *said = Py_BuildValue("sN", text, py_tuple(shape.extent, shape.rank));
    free(text);
    return said;
}

static PyObject *
context_storage_shape(PyObject *o, PyObject *args)
{
    Question q;
    ravel_extents e;
    ravel_error err;
    if (!ask(args, &q))
        return NULL;
    if (ravel_storage_shape(context_of(o), q.layout, q.dtype, q.shape.rank,
                            q.shape.extent, &e, &err))
        return py_fail(&err);
    return py_tuple(e.extent, e.rank);
}

/* The numbers of a tuple; returns how many, or -1 with an exception. */
static int
get_numbers(PyObject *t, int64_t *out, int most)
{
    Py_ssize_t n = PyTuple_Size(t);
    if (n > most)
        py_refuse("%zd strides: at most %d", n, most);
    for (Py_ssize_t i = 0; n <= most && i < n; i++)
        out[i] = PyLong_AsLongLong(PyTuple_GetItem(t, i));
    return PyErr_Occurred() ? -1 : (int)n;
}

/* strided(layout, strides, origin): the text of the layout in such an array */
static PyObject *
context_strided(PyObject *o, PyObject *args)
{
    const char *layout;
    PyObject *given;
    long long origin;
    int64_t stride[RAVEL_MAX_STORED];
    char *text;
    ravel_error err;
    if (!PyArg_ParseTuple(args, "sO!L", &layout, &PyTuple_Type, &given, &origin))
        return NULL;
    int n = get_numbers(given, stride, RAVEL_MAX_STORED);
    if (n < 0)
        return NULL;
    if (ravel_with_strides(context_of(o), layout, n, stride, origin, &text, &err))
        return py_fail(&err);
    PyObject *said = PyUnicode_FromString(text);
    free(text);
    return said;
}

static PyObject *
context_index(PyObject *o, PyObject *args)
{
    Question q;
    Shape x;
    int64_t address;
    ravel_error err;
    if (!PyArg_ParseTuple(args, "ssO&O&", &q.layout, &q.dtype, py_to_shape, &q.shape,
                          py_to_shape, &x))
        return NULL;
    if (x.rank != q.shape.rank)
        return py_refuse("an index of %d numbers in a shape of %d", x.rank, q.shape.rank);
    if (ravel_index(context_of(o), q.layout, q.dtype, q.shape.rank, q.shape.extent,
                    x.extent, &address, &err))
        return py_fail(&err);
    return PyLong_FromLongLong(address);
}

static PyObject *
context_element(PyObject *o, PyObject *args)
{
    Question q;
    long long address;
    int64_t x[RAVEL_MAX_RANK];
    int found;
    ravel_error err;
    if (!PyArg_ParseTuple(args, "ssO&L", &q.layout, &q.dtype, py_to_shape, &q.shape,
                          &address))
        return NULL;
    if (ravel_element(context_of(o), q.layout, q.dtype, q.shape.rank, q.shape.extent,
                      address, x, &found, &err))
        return py_fail(&err);
    if (found)
        return py_tuple(x, q.shape.rank);
    Py_RETURN_NONE;
}

/* table(layout, dtype, shape, out): out is a buffer of 64-bit integers. */
static PyObject *
context_table(PyObject *o, PyObject *args)
{
    Question q;
    Py_buffer out;
    ravel_error err;
    ravel_status s = RAVEL_OK;
    if (!PyArg_ParseTuple(args, "ssO&w*", &q.layout, &q.dtype, py_to_shape, &q.shape, &out))
        return NULL;
    int64_t left = out.len / 8;
    for (int d = 0; d < q.shape.rank && q.shape.extent[d] > 0; d++)
        left /= q.shape.extent[d];
    if (left < 1) {
        PyBuffer_Release(&out);
        return py_refuse("the table does not fit out");
    }
    Py_BEGIN_ALLOW_THREADS
    s = ravel_table(context_of(o), q.layout, q.dtype, q.shape.rank, q.shape.extent,
                    out.buf, &err);
    Py_END_ALLOW_THREADS
    PyBuffer_Release(&out);
    if (s)
        return py_fail(&err);
    Py_RETURN_NONE;
}

/* True, False or None. */
static PyObject *
truth(ravel_answer a)
{
    if (a == RAVEL_UNKNOWN)
        Py_RETURN_NONE;
    return PyBool_FromLong(a == RAVEL_YES);
}

static PyObject *
collision(const ravel_verdict *v, int rank)
{
    if (!v->collides)
        Py_RETURN_NONE;
    return Py_BuildValue("NNL", py_tuple(v->x, rank), py_tuple(v->y, rank),
                         (long long)v->address);
}

static PyObject *
context_check(PyObject *o, PyObject *args)
{
    Question q;
    ravel_verdict v;
    ravel_error err;
    ravel_status s;
    if (!ask(args, &q))
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    s = ravel_check(context_of(o), q.layout, q.dtype, q.shape.rank, q.shape.extent, &v,
                    &err);
    Py_END_ALLOW_THREADS
    if (s)
        return py_fail(&err);
    return Py_BuildValue("{s:N,s:N,s:N,s:N,s:L,s:L,s:L,s:L,s:L,s:N,s:s}", "one_to_one",
        truth(v.one_to_one), "onto", truth(v.onto), "source", PyBool_FromLong(v.source),
        "destination", PyBool_FromLong(v.destination), "bytes", (long long)v.bytes,
        "slots", (long long)v.slots, "elements", (long long)v.elements, "padding",
        (long long)v.padding, "holes", (long long)v.holes, "collision",
        collision(&v, q.shape.rank), "why", v.why);
}

/* equal(a, b, dtype, shape or None): (answer, witness or None) */
static PyObject *
context_equal(PyObject *o, PyObject *args)
{
    const char *a, *b, *dtype;
    PyObject *given;
    Shape shape = {0};
    ravel_equality e;
    ravel_error err;
    ravel_status s;
    if (!PyArg_ParseTuple(args, "sssO", &a, &b, &dtype, &given) ||
        (given != Py_None && !py_shape(given, &shape)))
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    s = ravel_equal(context_of(o), a, b, dtype, shape.rank,
                    given == Py_None ? NULL : shape.extent, &e, &err);
    Py_END_ALLOW_THREADS
    if (s)
        return py_fail(&err);
    if (e.equal != RAVEL_NO)
        return Py_BuildValue("NO", truth(e.equal), Py_None);
    return Py_BuildValue("N(NNLL)", truth(e.equal), py_tuple(e.shape, e.rank),
                         py_tuple(e.x, e.rank), (long long)e.at_a, (long long)e.at_b);
}

static PyObject *
context_svg(PyObject *o, PyObject *args)
{
    Question q;
    char *text;
    ravel_error err;
    if (!ask(args, &q))
        return NULL;
    if (ravel_svg(context_of(o), q.layout, q.dtype, q.shape.rank, q.shape.extent, &text,
                  &err))
        return py_fail(&err);
    PyObject *svg = PyUnicode_FromString(text);
    free(text);
    return svg;
}

static PyMethodDef methods[] = {
    {"load", context_load, METH_VARARGS, "load(text, name)"},
    {"compile", context_compile, METH_VARARGS,
     "compile(src, dst, dtype, shape, threads): a Plan"},
    {"device_plan", context_device_plan, METH_VARARGS,
     "device_plan(device, src, dst, dtype, shape, align): a DevicePlan"},
    {"any_dtype", context_any_dtype, METH_VARARGS, "any_dtype(layout)"},
    {"logical_shape", context_logical_shape, METH_VARARGS,
     "logical_shape(layout, dtype, stored)"},
    {"view_shape", context_view_shape, METH_VARARGS,
     "view_shape(layout): the extents of a part of a tensor; -1: the text leaves it open"},
    {"part_of", context_part_of, METH_VARARGS,
     "part_of(layout, dtype, stored, ((name, shape), ...), numbers): the layout with the extents of its "
     "tensor; the shape of the part, -1: an extent that does not follow"},
    {"storage_shape", context_storage_shape, METH_VARARGS,
     "storage_shape(layout, dtype, shape)"},
    {"strided", context_strided, METH_VARARGS, "strided(layout, strides, origin): a layout"},
    {"index", context_index, METH_VARARGS, "index(layout, dtype, shape, x)"},
    {"element", context_element, METH_VARARGS, "element(layout, dtype, shape, address)"},
    {"table", context_table, METH_VARARGS, "table(layout, dtype, shape, out)"},
    {"check", context_check, METH_VARARGS, "check(layout, dtype, shape): a dict"},
    {"equal", context_equal, METH_VARARGS, "equal(a, b, dtype, shape or None)"},
    {"svg", context_svg, METH_VARARGS, "svg(layout, dtype, shape)"},
    {NULL, NULL, 0, NULL}};

static PyType_Slot slots[] = {
    {Py_tp_new, context_new}, {Py_tp_dealloc, context_dealloc},
    {Py_tp_methods, methods}, {0, NULL}};

PyType_Spec context_spec = {"ravel._ravel.Context", sizeof(Context), 0,
                            Py_TPFLAGS_DEFAULT, slots};
