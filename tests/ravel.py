"""runtime/ravel.h for the tests: Context, Plan, and elements of 1 to 128 bits as NumPy arrays."""

import ctypes as ct
import functools
import os
import pathlib

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / os.environ.get("RAVEL_BUILD", "build")
STATUS = "OK ARGUMENT SPEC LAYOUT MEMORY JIT FILE VERIFY LIBRARY SYMBOL DEVICE COMPILE LAUNCH DRIVER LIMIT".split()
DTYPE = {1: "u1", 2: "u2", 4: "u4", 8: "u8", 16: "bf16", 32: "f32", 64: "i64", 128: "c128"}   # one a width
POISON = 0xA5


class Err(ct.Structure):
    _fields_ = [("status", ct.c_int), ("text", ct.c_char * 1024)]


class Request(ct.Structure):
    _fields_ = [("from_", ct.c_char_p), ("to", ct.c_char_p), ("dtype", ct.c_char_p),
                ("rank", ct.c_int), ("shape", ct.POINTER(ct.c_int64)), ("threads", ct.c_int), ("in_place", ct.c_int)]


class Certificate(ct.Structure):
    _fields_ = [(n, ct.c_int) for n in ("nests", "passes", "runs", "threads", "guard_pages", "parts")] + [
        (n, ct.c_int64) for n in ("stamped", "elements", "padding", "holes")] + [("kernels", ct.c_char * 256), ("not_run", ct.c_int)]


class Extents(ct.Structure):
    _fields_ = [("rank", ct.c_int), ("extent", ct.c_int64 * 64)]


class Verdict(ct.Structure):
    _fields_ = [(n, ct.c_int) for n in ("one_to_one", "onto", "source", "destination")] + [
        (n, ct.c_int64) for n in ("bytes", "slots", "elements", "padding", "holes")] + [
        ("collides", ct.c_int), ("x", ct.c_int64 * 16), ("y", ct.c_int64 * 16), ("address", ct.c_int64), ("why", ct.c_char * 512)]


class Equality(ct.Structure):
    _fields_ = [("equal", ct.c_int), ("rank", ct.c_int), ("shape", ct.c_int64 * 16), ("x", ct.c_int64 * 16), ("at_a", ct.c_int64),
                ("at_b", ct.c_int64)]


class Error(Exception):
    def __init__(self, status, text):
        super().__init__("%s: %s" % (status, text))
        self.status, self.text = status, text


FUNCTIONS = set()


@functools.cache
def load():
    so = ct.CDLL(str(BUILD / "libravel.so"))
    ptr, err, size, s = ct.c_void_p, ct.POINTER(Err), ct.POINTER(ct.c_int64), ct.c_char_p
    for name, result, *args in [
            ("status_text", s, ct.c_int),
            ("context_new", ct.c_int, ct.POINTER(ptr), err), ("context_free", None, ptr),
            ("load", ct.c_int, ptr, s, ct.c_size_t, s, err), ("set_threads", ct.c_int, ptr, ct.c_int, ptr, ptr, err), ("set_log", ct.c_int, ptr, ptr, ptr, err),
            ("compile", ct.c_int, ptr, ct.POINTER(Request), ct.POINTER(ptr), err), ("plan_free", None, ptr),
            ("plan_src_bytes", ct.c_int64, ptr), ("plan_dst_bytes", ct.c_int64, ptr), ("plan_source", s, ptr), ("plan_way", s, ptr),
            ("run", ct.c_int, ptr, ptr, ptr), ("run_shape", ct.c_int, ptr, ptr, ptr, size, err),
            ("plan_bytes_at", ct.c_int, ptr, size, size, size, err),
            ("plan_arrays", ct.c_int, ptr, ptr), ("run_arrays", ct.c_int, ptr, ptr, ptr, size, ct.POINTER(ptr), err),
            ("check_arrays", ct.c_int, ptr, size, ct.POINTER(ptr), err),
            ("verify", ct.c_int, ptr, err),
            ("verify_report", ct.c_int, ptr, ct.POINTER(Certificate), err),
            ("table", ct.c_int, ptr, s, s, ct.c_int, size, size, err),
            ("storage_bytes", ct.c_int, ptr, s, s, ct.c_int, size, size, err),
            ("plan_shapes_at", ct.c_int, ptr, size, ct.POINTER(Extents), ct.POINTER(Extents), err),
            ("plan_shapes", ct.c_int, ptr, ct.POINTER(Extents), ct.POINTER(Extents), err),
            ("storage_shape", ct.c_int, ptr, s, s, ct.c_int, size, ct.POINTER(Extents), err),
            ("logical_shape", ct.c_int, ptr, s, s, ct.c_int, size, size, err), ("any_dtype", ct.c_int, ptr, s, ct.POINTER(s), err),
            ("index", ct.c_int, ptr, s, s, ct.c_int, size, size, size, err),
            ("element", ct.c_int, ptr, s, s, ct.c_int, size, ct.c_int64, size, ct.POINTER(ct.c_int), err),
            ("check", ct.c_int, ptr, s, s, ct.c_int, size, ct.POINTER(Verdict), err),
            ("equal", ct.c_int, ptr, s, s, s, ct.c_int, size, ct.POINTER(Equality), err),
            ("with_strides", ct.c_int, ptr, s, ct.c_int, size, ct.c_int64, ct.POINTER(ptr), err),
            ("view_of", ct.c_int, ptr, ct.POINTER(Request), ptr, err),
            ("view_shape", ct.c_int, ptr, s, ct.POINTER(ct.c_int), size, err),
            ("svg", ct.c_int, ptr, s, s, ct.c_int, size, ct.POINTER(ptr), err)]:
        f = getattr(so, "ravel_" + name)
        f.restype, f.argtypes = result, args
        FUNCTIONS.add("ravel_" + name)
    return so


class Library:
    """The shared library, loaded when it is first called: a process that only runs the command
    needs no sanitizer runtime for it."""
    def __getattr__(self, name):
        so = load()
        self.__dict__.update({n: getattr(so, n) for n in FUNCTIONS})
        return getattr(so, name)


lib = Library()


def call(f, *args):
    err = Err()
    status = f(*args, ct.byref(err))
    if status:
        raise Error(STATUS[status], err.text.decode())


def extents(shape):
    return (ct.c_int64 * max(1, len(shape)))(*shape)


def in_dtype(bits_or_name):
    return DTYPE.get(bits_or_name, bits_or_name).encode()


class Context:
    def __init__(self):
        self.p = ct.c_void_p()
        call(lib.ravel_context_new, ct.byref(self.p))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        lib.ravel_context_free(self.p)
        self.p = None

    def load(self, text, name="test.lua"):
        text = text.encode()
        call(lib.ravel_load, self.p, text, len(text), name.encode())

    def table(self, layout, shape, dtype):
        out = np.full(shape, -1, np.int64)
        call(lib.ravel_table, self.p, layout.encode(), in_dtype(dtype), len(shape), extents(shape),
             out.ctypes.data_as(ct.POINTER(ct.c_int64)))
        return out

    def bytes(self, layout, shape, dtype):
        n = ct.c_int64(-1)
        call(lib.ravel_storage_bytes, self.p, layout.encode(), in_dtype(dtype), len(shape), extents(shape), ct.byref(n))
        return n.value

    def plan(self, src, dst, shape, dtype, threads=0):
        return Plan(self, src, dst, shape, dtype, threads)


class Plan:
    def __init__(self, cx, src, dst, shape, dtype, threads=0):
        rq = Request(src.encode(), dst.encode(), in_dtype(dtype), len(shape), extents(shape), threads)
        self.p = ct.c_void_p()
        call(lib.ravel_compile, cx.p, ct.byref(rq), ct.byref(self.p))
        self.src_bytes, self.dst_bytes = lib.ravel_plan_src_bytes(self.p), lib.ravel_plan_dst_bytes(self.p)
        self.source = (lib.ravel_plan_source(self.p) or b"").decode()   # none if no code can be made of it
        self.way = lib.ravel_plan_way(self.p).decode()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        lib.ravel_plan_free(self.p)
        self.p = None

    def verify(self):
        call(lib.ravel_verify, self.p)

    def certificate(self):
        c = Certificate()
        call(lib.ravel_verify_report, self.p, ct.byref(c))
        return {n: getattr(c, n) for n, _ in c._fields_}

    def run(self, raw, shift=0):
        """Destination bytes, poisoned before, of the source bytes; both between guards, which must stand."""
        assert raw.size == self.src_bytes
        src, dst = Guarded(raw.size, shift), Guarded(self.dst_bytes, shift + 1)
        src.body[:] = raw
        assert lib.ravel_run(self.p, dst.body.ctypes.data, src.body.ctypes.data) == 0
        assert np.array_equal(src.body, raw), "the source was written to"
        assert src.intact() and dst.intact(), "a guard was written to"
        return dst.body


class PlanAt:
    """A plan of any shape at one: what Plan has of a compiled one."""
    def __init__(self, plan, shape):
        self.plan, self.shape = plan, extents(shape)
        a, b = ct.c_int64(-9), ct.c_int64(-9)
        call(lib.ravel_plan_bytes_at, plan.p, self.shape, ct.byref(a), ct.byref(b))
        self.src_bytes, self.dst_bytes = a.value, b.value
        self.source = plan.source

    def run(self, raw, shift=0):
        assert raw.size == self.src_bytes
        src, dst = Guarded(raw.size, shift), Guarded(self.dst_bytes, shift + 1)
        src.body[:] = raw
        call(lib.ravel_run_shape, self.plan.p, dst.body.ctypes.data, src.body.ctypes.data, self.shape)
        assert np.array_equal(src.body, raw), "the source was written to"
        assert src.intact() and dst.intact(), "a guard was written to"
        return dst.body


class Guarded:
    """n poisoned bytes between two guards, `shift` bytes off a round address."""
    ROOM, BYTE = 320, 0x5A

    def __init__(self, n, shift=0):
        self.all = np.full(n + 2*self.ROOM, self.BYTE, np.uint8)
        at = self.ROOM - 16 + shift % 16
        self.body = self.all[at:at+n]
        self.rest = self.all[:at], self.all[at+n:]
        self.body[:] = POISON

    def intact(self):
        return all((g == self.BYTE).all() for g in self.rest)


# --- elements

def word(bits):
    """What an element is in NumPy; below a byte, one a byte."""
    return np.dtype({128: "V16"}.get(bits, "u%d" % max(1, bits//8)))


def unpack(raw, bits):
    """Elements of bytes; the first in a byte is the lowest."""
    if bits >= 8:
        return raw.view(word(bits)) if raw.flags.aligned else raw.copy().view(word(bits))
    shifts = np.arange(0, 8, bits, dtype=np.uint8)
    return (raw[:, None] >> shifts & ((1 << bits) - 1)).reshape(-1).astype(np.uint8)


def pack(el, bits):
    """Bytes of elements; the last byte filled up with zeros."""
    if bits >= 8:
        return np.ascontiguousarray(el).view(np.uint8).reshape(-1)
    per = 8//bits
    full = np.zeros(-(-el.size//per)*per, np.uint8)
    full[:el.size] = el
    return np.bitwise_or.reduce(full.reshape(-1, per) << np.arange(0, 8, bits, dtype=np.uint8), axis=1).astype(np.uint8)


def numbers(v, bits):
    """Elements that hold the low bits of the numbers v; 128-bit ones hold v and its complement."""
    v = np.asarray(v).astype(np.uint64)
    if bits == 128:
        return np.stack([v, ~v], -1).view("V16").reshape(v.shape)
    return (v & np.uint64((1 << bits) - 1)).astype(word(bits))


def poisoned(n, bits):
    """The elements of n elements' storage before a run, the unused ones of the last byte too."""
    return unpack(np.full(-(-n*bits//8), POISON, np.uint8), bits).copy()


def scatter(values, addr, n, bits):
    """Storage bytes of n elements: values at addr, poison elsewhere."""
    el = poisoned(n, bits)
    el[addr.reshape(-1)] = values.reshape(-1)
    return pack(el, bits)
