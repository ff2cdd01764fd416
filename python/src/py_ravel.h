/* py_ravel.h: what the files of the extension module share.  It holds no logic of its own:
 * it turns arguments into those of ravel.h, and statuses into exceptions. */
#ifndef PY_RAVEL_H
#define PY_RAVEL_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030b0000
#include <Python.h>

#include <ravel.h>

/* Objects that the types of the module need; they live as long as the process. */
typedef struct {
    PyObject *error;               /* ravel.Error */
    PyObject *plan_type, *tensor_type, *device_type, *device_plan_type;
} Module;
extern Module ravel_module;

/* A shape as an argument. */
typedef struct {
    int rank;
    int64_t extent[RAVEL_MAX_RANK];
} Shape;

/* py_module.c */
/* Raise ravel.Error, or MemoryError; returns NULL. */
PyObject *py_fail(const ravel_error *err);
PyObject *py_refuse(const char *fmt, ...);
/* Read a sequence of integers; None is a run-time extent.  False: an exception is set. */
int py_shape(PyObject *o, Shape *out);
/* py_shape for "O&". */
int py_to_shape(PyObject *o, void *out);
/* Read a tuple of the extents of an array. */
int py_extents(PyObject *o, ravel_extents *out);
/* Read a tuple of (name, shape) of at most RAVEL_MAX_ARRAYS index arrays, which owns the names. */
int py_arrays(PyObject *t, ravel_array *out);
PyObject *py_tuple(const int64_t *v, int n);
/* Add a type to the module; returns it, or NULL. */
PyObject *py_type(PyObject *m, PyType_Spec *spec);

/* py_context.c, py_plan.c, py_dlpack.c, py_device.c */
extern PyType_Spec context_spec, plan_spec, tensor_spec, device_spec, device_plan_spec;
/* A Plan that owns p. */
PyObject *plan_new(ravel_plan *p);
PyObject *tensor_from_dlpack(PyObject *module, PyObject *capsule);
PyObject *tensor_exchange(PyObject *module, PyObject *x);
/* The arguments are those of the method Context.device_plan. */
PyObject *device_plan(ravel_context *cx, PyObject *args);

#endif
