/* _ravel.Tensor: the memory of a DLPack capsule, from its lowest element to its highest: a
 * buffer of bytes, or an address on a device. */
#include "py_ravel.h"

typedef struct {
    void *data;
    struct { int32_t type, id; } device;
    int32_t ndim;
    struct { uint8_t code, bits; uint16_t lanes; } dtype;
    int64_t *shape, *strides;
    uint64_t byte_offset;
} DLTensor;

/* Of DLPack before 1.0, in the capsule "dltensor". */
typedef struct DLManaged {
    DLTensor t;
    void *manager;
    void (*deleter)(struct DLManaged *self);
} DLManaged;

/* Of DLPack 1, in the capsule "dltensor_versioned".  Other major versions have only the first
 * three in common. */
typedef struct DLVersioned {
    struct { uint32_t major, minor; } version;
    void *manager;
    void (*deleter)(struct DLVersioned *self);
    uint64_t flags;
    DLTensor t;
} DLVersioned;
enum { MAJOR = 1, READ_ONLY = 1, COPIED = 2 };

/* What a type of DLPack 1.3 has, to lend its objects without a call of Python: 0, or an exception
 * is set. */
typedef struct DLExchange {
    struct { uint32_t major, minor; } version;
    struct DLExchange *older;
    void (*make)(void);
    int (*lend)(void *object, DLVersioned **out);
} DLExchange;

/* DLPack's numbers of devices. */
enum { CPU = 1, CUDA = 2, CUDA_HOST = 3, ROCM_HOST = 11, CUDA_MANAGED = 13 };

/* DLPack's code and bits, and ravel's dtype, or bool. */
static const struct { int code, bits; const char *name; } dtypes[] = {
    {0, 8, "i8"}, {0, 16, "i16"}, {0, 32, "i32"}, {0, 64, "i64"},
    {1, 8, "u8"}, {1, 16, "u16"}, {1, 32, "u32"}, {1, 64, "u64"},
    {2, 16, "f16"}, {2, 32, "f32"}, {2, 64, "f64"}, {4, 16, "bf16"},
    {5, 64, "c64"}, {5, 128, "c128"}, {6, 8, "bool"}};

/* Eight kinds of float8 have codes from here on: their bytes are moved. */
enum { FLOAT8 = 7, FLOAT8_LAST = 14 };

typedef struct {
    PyObject_HEAD
    const DLTensor *t;
    DLManaged *owner;              /* either, to delete it */
    DLVersioned *versioned;
    uint64_t flags;
    int64_t stride[RAVEL_MAX_STORED];
    int64_t origin, bytes;         /* the first element, counted from the lowest one */
    const char *dtype;
} Tensor;

static const char *
dtype_of(const DLTensor *t)
{
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
        if (dtypes[i].code == t->dtype.code && dtypes[i].bits == t->dtype.bits &&
            t->dtype.lanes == 1)
            return dtypes[i].name;
    int float8 = t->dtype.code >= FLOAT8 && t->dtype.code <= FLOAT8_LAST;
    return float8 && t->dtype.bits == 8 && t->dtype.lanes == 1 ? "u8" : NULL;
}

/* Set the strides, and where the elements lie. */
static void
place(Tensor *self)
{
    const DLTensor *t = self->t;
    int64_t next = 1, low = 0, high = 0, size = 1;
    for (int d = t->ndim - 1; d >= 0; d--) {
        int64_t n = t->shape[d], stride = t->strides ? t->strides[d] : next;
        self->stride[d] = n > 1 ? stride : 0;
        *(stride < 0 ? &low : &high) += (n - 1) * self->stride[d];
        next *= n;
        size *= n;
    }
    self->origin = -low;
    self->bytes = size ? (high - low + 1) * t->dtype.bits / 8 : 0;
}

static int
on_host(const DLTensor *t)
{
    return t->device.type == CPU || t->device.type == CUDA_HOST ||
           t->device.type == ROCM_HOST;
}

static int
on_cuda(const DLTensor *t)
{
    return t->device.type == CUDA || t->device.type == CUDA_MANAGED;
}

/* Whether the tensor can be converted; else an exception is set. */
static int
readable(const DLTensor *t)
{
    if (!on_host(t) && !on_cuda(t))
        py_refuse("an array on a device of DLPack's type %d: copy it to the CPU first",
                  (int)t->device.type);
    else if (!dtype_of(t))
        py_refuse("DLPack's type %d of %d bits has no dtype here", t->dtype.code,
                  t->dtype.bits);
    else if (t->ndim > RAVEL_MAX_STORED)
        py_refuse("x has %d dims: at most %d", t->ndim, RAVEL_MAX_STORED);
    else
        return 1;
    return 0;
}

/* The structure in a capsule of DLPack 1; NULL: an exception is set. */
static DLVersioned *
versioned_in(PyObject *capsule)
{
    DLVersioned *v = PyCapsule_GetPointer(capsule, "dltensor_versioned");
    if (!v || v->version.major == MAJOR)
        return v;
    py_refuse("an array by version %d of DLPack, and here it is %d", (int)v->version.major,
              MAJOR);
    return NULL;
}

/* A tensor over either, which it does not own yet. */
static Tensor *
tensor_over(const DLManaged *m, const DLVersioned *v)
{
    const DLTensor *t = v ? &v->t : m ? &m->t : NULL;
    if (!t || !readable(t))
        return NULL;
    Tensor *self = (Tensor *)PyType_GenericAlloc((PyTypeObject *)ravel_module.tensor_type, 0);
    if (!self)
        return NULL;
    self->t = t;
    self->flags = v ? v->flags : 0;
    self->dtype = dtype_of(t);
    place(self);
    return self;
}

PyObject *
tensor_from_dlpack(PyObject *module, PyObject *capsule)
{
    (void)module;
    int new = PyCapsule_IsValid(capsule, "dltensor_versioned");
    DLVersioned *v = new ? versioned_in(capsule) : NULL;
    DLManaged *m = new ? NULL : PyCapsule_GetPointer(capsule, "dltensor");
    Tensor *self = tensor_over(m, v);
    if (!self ||
        PyCapsule_SetName(capsule, new ? "used_dltensor_versioned" : "used_dltensor")) {
        Py_XDECREF((PyObject *)self);
        return NULL;
    }
    self->owner = m;
    self->versioned = v;
    return (PyObject *)self;
}

/* The table of functions of DLPack 1.3 in a capsule, whose major version is ours; NULL: there is
 * none. */
static const DLExchange *
exchange_in(PyObject *capsule)
{
    static const char name[] = "dlpack_exchange_api";
    const DLExchange *e = PyCapsule_IsValid(capsule, name) ? PyCapsule_GetPointer(capsule, name) : NULL;
    while (e && e->version.major != MAJOR)
        e = e->older;
    return e;
}

/* Where an exception says why. */
static void
delete_refused(DLVersioned *v)
{
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    if (v->deleter)
        v->deleter(v);
    PyErr_Restore(type, value, traceback);
}

PyObject *
tensor_exchange(PyObject *module, PyObject *x)
{
    PyObject *capsule = PyObject_GetAttrString((PyObject *)Py_TYPE(x), "__dlpack_c_exchange_api__");
    const DLExchange *e = capsule ? exchange_in(capsule) : NULL;
    DLVersioned *v = NULL;
    (void)module;
    Py_XDECREF(capsule);           /* the table lives as long as the process */
    if (!capsule && !PyErr_ExceptionMatches(PyExc_AttributeError))
        return NULL;
    PyErr_Clear();
    if (!e)
        Py_RETURN_NONE;
    if (e->lend(x, &v))
        return NULL;
    if (!v) {
        PyErr_SetString(PyExc_BufferError, "the functions of DLPack of this type lend nothing");
        return NULL;
    }
    Tensor *self = tensor_over(NULL, v);
    if (self)
        self->versioned = v;
    else
        delete_refused(v);
    return (PyObject *)self;
}

static void
tensor_dealloc(PyObject *o)
{
    PyTypeObject *type = Py_TYPE(o);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    DLManaged *m = ((Tensor *)o)->owner;
    DLVersioned *v = ((Tensor *)o)->versioned;
    if (m && m->deleter)
        m->deleter(m);
    if (v && v->deleter)
        v->deleter(v);
    release(o);
    Py_DECREF(type);
}

/* Where the lowest element is. */
static char *
lowest(const Tensor *self)
{
    const DLTensor *t = self->t;
    return (char *)t->data + ((int64_t)t->byte_offset - self->origin * t->dtype.bits / 8);
}

static int
tensor_buffer(PyObject *o, Py_buffer *view, int flags)
{
    const Tensor *self = (const Tensor *)o;
    if (on_host(self->t))
        return PyBuffer_FillInfo(view, o, lowest(self), self->bytes,
                                 (self->flags & READ_ONLY) != 0, flags);
    py_refuse("an array on a device, where one on the CPU is needed: copy it to the CPU "
              "first");
    return -1;
}

static PyObject *
tensor_memory(PyObject *o, void *unused)
{
    const Tensor *self = (const Tensor *)o;
    (void)unused;
    return Py_BuildValue("NL", PyLong_FromVoidPtr(lowest(self)), (long long)self->bytes);
}

static PyObject *
tensor_shape(PyObject *o, void *unused)
{
    const DLTensor *t = ((Tensor *)o)->t;
    (void)unused;
    return py_tuple(t->shape, t->ndim);
}

static PyObject *
tensor_strides(PyObject *o, void *unused)
{
    (void)unused;
    return py_tuple(((Tensor *)o)->stride, ((Tensor *)o)->t->ndim);
}

static PyObject *
tensor_origin(PyObject *o, void *unused)
{
    (void)unused;
    return PyLong_FromLongLong(((Tensor *)o)->origin);
}

static PyObject *
tensor_dtype(PyObject *o, void *unused)
{
    (void)unused;
    return PyUnicode_FromString(((Tensor *)o)->dtype);
}

static PyObject *
tensor_read_only(PyObject *o, void *unused)
{
    (void)unused;
    return PyBool_FromLong((((Tensor *)o)->flags & READ_ONLY) != 0);
}

static PyObject *
tensor_copied(PyObject *o, void *unused)
{
    (void)unused;
    return PyBool_FromLong((((Tensor *)o)->flags & COPIED) != 0);
}

static PyGetSetDef attributes[] = {
    {"read_only", tensor_read_only, NULL, "whether its library says that it must not be "
     "written to, which DLPack 1 can", NULL},
    {"copied", tensor_copied, NULL, "whether its library has lent a copy, in the same way", NULL},
    {"shape", tensor_shape, NULL, "its extents", NULL},
    {"strides", tensor_strides, NULL, "the distances of neighbours, in elements", NULL},
    {"origin", tensor_origin, NULL, "the first element, counted from the lowest", NULL},
    {"memory", tensor_memory, NULL, "(address of the lowest element, bytes)", NULL},
    {"dtype", tensor_dtype, NULL, "the name of its element type", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot slots[] = {
    {Py_tp_dealloc, tensor_dealloc}, {Py_bf_getbuffer, tensor_buffer},
    {Py_tp_getset, attributes}, {0, NULL}};

PyType_Spec tensor_spec = {"ravel._ravel.Tensor", sizeof(Tensor), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
