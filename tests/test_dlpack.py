"""runtime/ravel_dlpack.h against numpy: conversions of DLPack tensors, views of storages, and what is refused."""
import ctypes as ct
import subprocess

import numpy as np
import pytest

import ravel

SHIM = """#include "ravel_dlpack.h"
int convert(void *cx, void *src, const char *from, void *dst, const char *to, int rank, const int64_t *shape, ravel_error *err)
{ return ravel_dlpack_convert((ravel_context *)cx, (DLTensor *)src, from, (DLTensor *)dst, to, rank, shape, err); }
int view(void *cx, const char *l, const char *dtype, int rank, const int64_t *shape, void *data, ravel_extents *e, void *out, ravel_error *err)
{ return ravel_dlpack_view((ravel_context *)cx, l, dtype, rank, shape, data, e, (DLTensor *)out, err); }
"""
CODE = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}


class Tensor(ct.Structure):
    _fields_ = [("data", ct.c_void_p), ("device", ct.c_int32), ("device_id", ct.c_int32), ("ndim", ct.c_int32), ("code", ct.c_uint8), ("bits", ct.c_uint8),
                ("lanes", ct.c_uint16), ("shape", ct.POINTER(ct.c_int64)), ("strides", ct.POINTER(ct.c_int64)), ("byte_offset", ct.c_uint64)]


def tensor(x, **other):
    """x as DLPack has it; it keeps x alive."""
    t = Tensor(x.ctypes.data, 1, 0, x.ndim, CODE[x.dtype.kind], x.dtype.itemsize * 8, 1, ravel.extents(x.shape),
               ravel.extents([s // x.itemsize for s in x.strides]), 0)
    t.of = x
    for name, value in other.items():
        setattr(t, name, value)
    return t


@pytest.fixture(scope="module")
def shim(tmp_path_factory):
    """The header in a shared object, compiled as C and, for its warnings, as C++."""
    folder = tmp_path_factory.mktemp("dlpack")
    (folder / "shim.c").write_text(SHIM)
    warn = ["-Wall", "-Wextra", "-Wconversion", "-Wpedantic", "-Werror", "-I%s" % (ravel.ROOT / "runtime")]
    subprocess.run(["g++", "-x", "c++", "-std=c++11", *warn, "-fsyntax-only", folder / "shim.c"], check=True)
    subprocess.run(["gcc", "-std=c99", *warn, "-shared", "-fPIC", "-o", folder / "shim.so", folder / "shim.c", "-L%s" % ravel.BUILD, "-lravel"], check=True)
    ct.CDLL(str(ravel.BUILD / "libravel.so"), mode=ct.RTLD_GLOBAL)
    return ct.CDLL(str(folder / "shim.so"))


def convert(shim, cx, x, a, y, b, shape=None):
    err = ravel.Err()
    status = shim.convert(cx.p, ct.byref(x), a.encode(), ct.byref(y), b.encode(), len(shape or ()), ravel.extents(shape) if shape else None, ct.byref(err))
    return ravel.STATUS[status] if status else None, err.text.decode()


def blocked(x):
    n, c, h, w = x.shape
    out = np.zeros((n, -(-c // 16) * 16, h, w), x.dtype)
    out[:, :c] = x
    return out.reshape(n, -1, 16, h, w).transpose(0, 1, 3, 4, 2).copy()


@pytest.mark.parametrize("dtype", ["f4", "f2", "u1", "i8", "c16", "?"])
def test_there_and_back(cx, shim, dtype):
    """The logical shape follows from the source, or from the destination; an offset in bytes counts."""
    x = np.random.default_rng(3).integers(0, 2, (2, 20, 5, 7)).astype(dtype)
    y, back = np.ones((2, 2, 5, 7, 16), dtype), np.zeros(1401, dtype)
    assert convert(shim, cx, tensor(x), "NCHW", tensor(y), "{N, C//16, H, W, C%16}") == (None, "")
    assert np.array_equal(y, blocked(x))
    t = tensor(back[:1400].reshape(x.shape), byte_offset=x.itemsize)
    assert convert(shim, cx, tensor(y), "{N, C//16, H, W, C%16}", t, "NCHW") == (None, "")
    assert np.array_equal(back[1:].reshape(x.shape), x)


def test_view_is_the_storage(cx, shim):
    e, out, err, data = ravel.Extents(), Tensor(), ravel.Err(), np.zeros(2240, "f2")
    args = [cx.p, b"{N, C//16, H, W, C%16}", b"f16", 4, ravel.extents((2, 20, 5, 7)), ct.c_void_p(data.ctypes.data), ct.byref(e), ct.byref(out), ct.byref(err)]
    assert shim.view(*args) == 0
    assert out.shape[:out.ndim] == [2, 2, 5, 7, 16] and (out.code, out.bits, out.lanes, out.data, out.device) == (2, 16, 1, data.ctypes.data, 1)
    args[2] = b"u4"
    assert shim.view(*args) and "DLPack has no such element type" in err.text.decode()


def test_what_is_refused(cx, shim):
    x, y = np.zeros((2, 3, 5, 7), "f4"), np.full((2, 5, 7, 3), 9, "f4")
    good = tensor(x)
    for src, dst, says in [
            (tensor(x, device=2), tensor(y), "src: the tensor is on a device"),
            (good, tensor(y, device=2), "dst: the tensor is on a device"),
            (tensor(x.transpose(3, 2, 1, 0)), tensor(y), "src: its elements are not contiguous"),
            (good, tensor(y, lanes=4), "dst: ravel has no dtype"),
            (good, tensor(y.view("i4")), "dst: its element type is not that of src"),
            (good, tensor(y[:1]), "dst: the tensor has 420 bytes, and its layout needs 840"),
            (tensor(x, data=None), tensor(y), "src: a NULL pointer"),
            (tensor(x, ndim=-1), tensor(y), "src: a NULL pointer or a negative rank"),
            (good, good, "dst: it overlaps src")]:
        status, text = convert(shim, cx, src, "NCHW", dst, "NHWC")
        assert status == "ARGUMENT" and says in text
    assert convert(shim, cx, good, "NCHW", tensor(y), "NOPE")[0] == "SPEC"
    assert convert(shim, cx, good, "NCHW", tensor(y), "NHWC", (2, 3, 5, 8))[1] == "src: the tensor has 840 bytes, and its layout needs 960"
    assert (y == 9).all() and convert(shim, cx, good, "NCHW", tensor(y), "NHWC", (2, 3, 5, 7)) == (None, "")
