"""The C part for Python: libravel, libbench, oneDNN's reorders, and memory on large pages."""

import ctypes as ct

import numpy as np

I64, PTR = ct.c_int64, ct.c_void_p
TIME = ct.CFUNCTYPE(I64, PTR, I64)          # the `time` of a Measured


class Request(ct.Structure):
    _fields_ = [("from_", ct.c_char_p), ("to", ct.c_char_p), ("dtype", ct.c_char_p), ("rank", ct.c_int),
                ("threads", ct.c_int), ("shape", ct.POINTER(I64))]


class Subject(ct.Structure):
    _fields_ = [("plan", PTR), ("function", PTR), ("dst", PTR), ("src", PTR)]


class Measured(ct.Structure):
    _fields_ = [("time", PTR), ("call", PTR), ("arg", PTR), ("calls", I64), ("every", ct.c_int), ("ns", ct.POINTER(ct.c_double))]


class Ready(ct.Structure):
    _fields_ = [("rest", I64), ("settle", ct.c_int)]


class Spread(ct.Structure):
    _fields_ = [("median", ct.c_double), ("low", ct.c_double), ("high", ct.c_double), ("n", ct.c_int)]


class Side(ct.Structure):
    _fields_ = [("tag", ct.c_char_p), ("strides", ct.POINTER(I64)), ("data", PTR), ("bytes", I64)]


class Err(ct.Structure):
    _fields_ = [("status", ct.c_int), ("text", ct.c_char*1024)]


class Wrong(Exception):
    """A case that cannot be measured at all: a sentence."""


S, SIZE, P64, D = ct.c_char_p, ct.c_size_t, ct.POINTER(I64), ct.POINTER(ct.c_double)
RAVEL = {"ravel_context_new": (ct.c_int, PTR, PTR), "ravel_context_free": (None, PTR), "ravel_plan_free": (None, PTR),
         "ravel_plan_src_bytes": (I64, PTR), "ravel_plan_dst_bytes": (I64, PTR), "ravel_verify": (ct.c_int, PTR, PTR),
         "ravel_table": (ct.c_int, PTR, S, S, ct.c_int, P64, PTR, PTR)}
BENCH = {"measure_map": (PTR, SIZE), "measure_unmap": (None, PTR, SIZE),
         "measure_calls": (None, ct.POINTER(Measured), I64, ct.c_double, ct.c_double),
         "measure_rounds": (None, ct.POINTER(Measured), ct.c_int, ct.c_int, Ready),
         "measure_spread": (Spread, D, ct.c_int), "measure_ratio": (Spread, D, D, ct.c_int),
         "copy_absent": (S, ct.c_int), "copier_new": (PTR, ct.c_int, PTR, PTR, SIZE, ct.c_int), "copier_free": (None, PTR),
         "bench_plan": (PTR, PTR, ct.POINTER(Request), S, SIZE),
         "bench_compile": (I64, PTR, ct.POINTER(Request), PTR), "bench_fill": (None, PTR, SIZE, ct.c_int),
         "bench_expect": (None, PTR, PTR, PTR, PTR, ct.c_int, P64, ct.c_int), "bench_differ": (I64, PTR, PTR, SIZE)}
ONEDNN = {"onednn_version": (S,), "onednn_threads": (None, ct.c_int), "onednn_free": (None, PTR), "onednn_created": (I64, PTR),
          "onednn_new": (PTR, S, ct.c_int, P64, ct.POINTER(Side), ct.POINTER(S))}


def load(path, functions, mode=ct.DEFAULT_MODE):
    so = ct.CDLL(str(path), mode)
    for name, (result, *args) in functions.items():
        f = getattr(so, name)
        f.restype, f.argtypes = result, args
    return so


def address(f):
    return ct.cast(f, PTR).value


def extents(v):
    return (I64*max(1, len(v)))(*v)


class Libraries:
    """All of a build folder; onednn is None, and no_onednn says why, where it is not there."""

    def __init__(self, build):
        self.build = build
        self.ravel = load(build/"libravel.so", RAVEL, ct.RTLD_GLOBAL)
        self.bench = load(build/"bench"/"libbench.so", BENCH)
        self.onednn, self.no_onednn = None, "not built: oneDNN 2.x is not here: apt-get install libdnnl-dev"
        if (build/"bench"/"onednn.so").exists():
            self.onednn = load(build/"bench"/"onednn.so", ONEDNN)
            self.onednn_version = self.onednn.onednn_version().decode()
        self.cx = self.context()

    def call(self, f, *args):
        err = Err()
        if f(*args, ct.byref(err)):
            raise Wrong(err.text.decode())

    def context(self):
        cx = PTR()
        self.call(self.ravel.ravel_context_new, ct.byref(cx))
        return cx

    def request(self, case, threads):
        return Request(case.src.encode(), case.dst.encode(), case.dtype.encode(), len(case.shape), threads, extents(case.shape))

    def plan(self, case, threads):
        text = ct.create_string_buffer(1024)
        p = self.bench.bench_plan(self.cx, ct.byref(self.request(case, threads)), text, len(text))
        if not p:
            raise Wrong(text.value.decode())
        return p

    def table(self, case, layout):
        """The slot of every logical element in row-major order."""
        out = np.empty(case.elements, np.int64)
        self.call(self.ravel.ravel_table, self.cx, layout.encode(), case.dtype.encode(), len(case.shape), extents(case.shape),
                  out.ctypes.data)
        return out


class Pages:
    """Bytes on large pages, as an address and as an array."""

    def __init__(self, libs, n):
        self.libs, self.n = libs, n
        self.at = libs.bench.measure_map(n)
        if not self.at:
            raise Wrong("no memory for %d bytes" % n)
        self.bytes = np.ctypeslib.as_array((ct.c_uint8*n).from_address(self.at))

    def free(self):
        self.bytes = None
        self.libs.bench.measure_unmap(self.at, self.n)
