/* The module ravel._ravel: errors, and numbers from Python and to it. */
#include "py_ravel.h"

#include <stdarg.h>
#include <string.h>

Module ravel_module;

static const char *const statuses[] = {
    [RAVEL_OK] = "OK", [RAVEL_ERR_ARGUMENT] = "ARGUMENT", [RAVEL_ERR_SPEC] = "SPEC",
    [RAVEL_ERR_LAYOUT] = "LAYOUT", [RAVEL_ERR_MEMORY] = "MEMORY",
    [RAVEL_ERR_JIT] = "JIT", [RAVEL_ERR_FILE] = "FILE", [RAVEL_ERR_VERIFY] = "VERIFY",
    [RAVEL_ERR_LIBRARY] = "LIBRARY", [RAVEL_ERR_SYMBOL] = "SYMBOL",
    [RAVEL_ERR_DEVICE] = "DEVICE", [RAVEL_ERR_COMPILE] = "COMPILE",
    [RAVEL_ERR_LAUNCH] = "LAUNCH", [RAVEL_ERR_DRIVER] = "DRIVER",
    [RAVEL_ERR_LIMIT] = "LIMIT"};

/* Raise ravel.Error(text) with the attribute `status`; steals text. */
static PyObject *
raise_error(PyObject *text, ravel_status s)
{
    PyObject *e = text ? PyObject_CallFunctionObjArgs(ravel_module.error, text, NULL)
                       : NULL;
    PyObject *status = PyUnicode_FromString(statuses[s]);
    if (e && status && !PyObject_SetAttrString(e, "status", status))
        PyErr_SetObject(ravel_module.error, e);
    Py_XDECREF(status);
    Py_XDECREF(e);
    Py_XDECREF(text);
    return NULL;
}

PyObject *
py_fail(const ravel_error *err)
{
    PyObject *text = PyUnicode_DecodeUTF8(err->text, (Py_ssize_t)strlen(err->text),
                                          "backslashreplace");
    return raise_error(text, err->status);
}

PyObject *
py_refuse(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    PyObject *text = PyUnicode_FromFormatV(fmt, ap);
    va_end(ap);
    return raise_error(text, RAVEL_ERR_ARGUMENT);
}

static int
extent(PyObject *o, int64_t *out)
{
    *out = o == Py_None ? RAVEL_RUNTIME : PyLong_AsLongLong(o);
    if (o != Py_None && *out < 0 && !PyErr_Occurred())
        py_refuse("%lld in a shape or index: numbers are 0 or more, and None is an "
                  "extent at run time", (long long)*out);
    return !PyErr_Occurred();
}

/* A text is a sequence too, and no shape. */
static PyObject *
sequence(PyObject *o)
{
    PyObject *name;
    PyObject *t = PyUnicode_Check(o) || PyBytes_Check(o) ? NULL : PySequence_Tuple(o);
    if (t || (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_TypeError)))
        return t;
    name = PyType_GetName(Py_TYPE(o));
    if (name)
        PyErr_Format(PyExc_TypeError, "a shape or an index is a sequence of integers, as in "
                     "(2, 64, 56, 56), and not %U", name);
    Py_XDECREF(name);
    return NULL;
}

int
py_shape(PyObject *o, Shape *out)
{
    PyObject *t = sequence(o);
    if (!t)
        return 0;
    Py_ssize_t n = PyTuple_Size(t);
    int ok = n <= RAVEL_MAX_RANK;
    if (!ok)
        py_refuse("%zd dims: a tensor has at most %d", n, RAVEL_MAX_RANK);
    out->rank = (int)n;
    for (Py_ssize_t i = 0; ok && i < n; i++)
        ok = extent(PyTuple_GetItem(t, i), &out->extent[i]);
    for (Py_ssize_t i = n; i < RAVEL_MAX_RANK; i++)
        out->extent[i] = -1;       /* no stride: what a plan may ask for beyond the extents */
    Py_DECREF(t);
    return ok;
}

int
py_to_shape(PyObject *o, void *out)
{
    return py_shape(o, out);
}

int
py_extents(PyObject *o, ravel_extents *out)
{
    Py_ssize_t n = PyTuple_Check(o) ? PyTuple_Size(o) : -1;
    if (n < 0 || n > RAVEL_MAX_STORED) {
        py_refuse("the shape of an array is a tuple of at most %d extents", RAVEL_MAX_STORED);
        return 0;
    }
    int ok = 1;
    out->rank = (int)n;
    for (Py_ssize_t i = 0; ok && i < n; i++)
        ok = extent(PyTuple_GetItem(o, i), &out->extent[i]);
    return ok;
}

int
py_arrays(PyObject *t, ravel_array *out)
{
    Py_ssize_t n = PyTuple_Size(t);
    if (n > RAVEL_MAX_ARRAYS)
        py_refuse("%zd index arrays: at most %d", n, RAVEL_MAX_ARRAYS);
    for (Py_ssize_t i = 0; n <= RAVEL_MAX_ARRAYS && i < n; i++) {
        Shape shape;
        PyObject *one = PyTuple_GetItem(t, i), *of;
        if (!PyArg_ParseTuple(one, "sO", &out[i].name, &of) || !py_shape(of, &shape))
            return 0;
        out[i].rank = shape.rank;
        memcpy(out[i].extent, shape.extent, sizeof shape.extent);
    }
    return n <= RAVEL_MAX_ARRAYS;
}

PyObject *
py_tuple(const int64_t *v, int n)
{
    PyObject *t = PyTuple_New(n);
    for (int i = 0; t && i < n; i++) {
        PyObject *x = PyLong_FromLongLong(v[i]);
        if (!x || PyTuple_SetItem(t, i, x))
            Py_CLEAR(t);
    }
    return t;
}

PyObject *
py_type(PyObject *m, PyType_Spec *spec)
{
    PyObject *t = PyType_FromSpec(spec);
    if (t && PyModule_AddType(m, (PyTypeObject *)t))
        Py_CLEAR(t);
    return t;
}

static PyMethodDef functions[] = {
    {"from_dlpack", tensor_from_dlpack, METH_O,
     "from_dlpack(capsule): the tensor of a DLPack capsule, which it consumes"},
    {"exchange", tensor_exchange, METH_O,
     "exchange(x): the tensor x by the C functions of its type, or None where it has none"},
    {NULL, NULL, 0, NULL}};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, .m_name = "ravel._ravel", .m_size = -1, .m_methods = functions,
    .m_doc = "The functions of ravel.h as they are; use the package ravel."};

PyMODINIT_FUNC
PyInit__ravel(void)
{
    PyObject *m = PyModule_Create(&definition);
    if (!m)
        return NULL;
    ravel_module.error = PyErr_NewExceptionWithDoc("ravel.Error",
        "What the library refuses, in its words.  `status` is the name of the status, such "
        "as 'LAYOUT'.", NULL, NULL);
    ravel_module.plan_type = py_type(m, &plan_spec);
    ravel_module.tensor_type = py_type(m, &tensor_spec);
    ravel_module.device_type = py_type(m, &device_spec);
    ravel_module.device_plan_type = py_type(m, &device_plan_spec);
    PyObject *context = py_type(m, &context_spec);
    Py_XDECREF(context);
    if (!ravel_module.error || !ravel_module.plan_type || !ravel_module.tensor_type ||
        !ravel_module.device_type || !ravel_module.device_plan_type || !context || PyModule_AddObjectRef(m, "Error", ravel_module.error) ||
        PyModule_AddIntMacro(m, RAVEL_MAX_RANK) ||
        PyModule_AddStringConstant(m, "version", RAVEL_VERSION))
        Py_CLEAR(m);
    return m;
}
