"""Conversions of arrays against NumPy's own transpositions; what is accepted as an array, and what is refused in which words."""
import array
import ctypes as ct
import gc
import os
import subprocess
import sys
import threading
import time
import types
import weakref

import numpy as np
import pytest

import by_hand
import ravel
from by_hand import ByHand, ByVersion

TYPES = [np.bool_, np.int8, np.uint8, np.int16, np.uint16, np.float16, np.int32, np.uint32, np.float32, np.int64, np.uint64, np.float64,
         np.complex64, np.complex128]
SHAPE = (2, 20, 5, 7)



def random(shape, t):
    return (np.random.default_rng(7).integers(0, 100, shape)).astype(t)


def blocked(x, c0):
    """NC1HWC0 by NumPy."""
    n, c, h, w = x.shape
    padded = np.zeros((n, -(-c // c0) * c0, h, w), x.dtype)
    padded[:, :c] = x
    return padded.reshape(n, -1, c0, h, w).transpose(0, 1, 3, 4, 2)


@pytest.mark.parametrize("t", TYPES)
def test_every_type(t):
    x = random(SHAPE, t)
    y = ravel.convert(x, "NCHW", "NHWC")
    assert y.dtype == x.dtype and y.flags.c_contiguous and np.array_equal(y, x.transpose(0, 2, 3, 1))
    z = ravel.convert(x, "NCHW", "NC1HWC0{C0=8}")
    assert np.array_equal(z, blocked(x, 8))
    assert np.array_equal(ravel.convert(z, "NC1HWC0{C0=8}", "NCHW", shape=SHAPE), x)
    assert np.array_equal(ravel.convert(y, "NHWC", "NCHW"), x)


def test_parameters_depend_on_the_type():
    assert ravel.convert(random(SHAPE, np.int8), "NCHW", "NC1HWC0").shape[-1] == 32
    assert ravel.convert(random(SHAPE, np.uint16), "NCHW", "NC1HWC0", dtype="bf16").shape[-1] == 16


def test_types_of_ml_dtypes():
    ml = pytest.importorskip("ml_dtypes")
    for t in (ml.bfloat16, ml.float8_e4m3fn, ml.float8_e5m2, ml.int4, ml.uint4):
        x = random(SHAPE, t)
        y = ravel.convert(x, "NCHW", "NHWC")
        assert y.dtype == x.dtype and np.array_equal(y, x.transpose(0, 2, 3, 1))
    x = random(SHAPE, ml.bfloat16)
    refused("the array holds bf16 elements, not f16", x, "NCHW", "NHWC", dtype="f16")
    assert np.array_equal(ravel.compile("NCHW", "NC1HWC0", SHAPE, "bf16")(x), blocked(x, 16))


@pytest.mark.parametrize("other", ["i4", ">f4", "u4"])
def test_out_has_the_type_of_x(other):
    x = np.zeros((6, 10), "f4")
    for f in lambda out: ravel.convert(x, "{M, K}", "(M,K){K, M}", out=out), lambda out: ravel.compile("{M, K}", "(M,K){K, M}", (6, 10), "f32")(x, out):
        with pytest.raises(ravel.Error, match="out has elements of type"):
            f(np.zeros((10, 6), other))


class Opaque:
    """A type as ml_dtypes has them: NumPy knows its size and its name."""
    isnative, kind, str, hasobject = True, "V", "V", False

    def __init__(self, name, itemsize):
        self.name, self.itemsize = name, itemsize


def test_types_by_name():
    """What ravel makes of the types of ml_dtypes, also where that is not installed."""
    names = {("bfloat16", 2): "bf16", ("float8_e4m3fn", 1): "u8", ("float8_e5m2", 1): "u8", ("int4", 1): "u8", ("uint2", 1): "u8"}
    assert {key: ravel._arrays.own_name(Opaque(*key)) for key in names} == names
    with pytest.raises(ravel.Error, match="float24 have no dtype here"):
        ravel._arrays.own_name(Opaque("float24", 3))


def test_a_type_that_numpy_does_not_know(monkeypatch):
    """bfloat16 of a module ml_dtypes, by a stand-in: an opaque type of two bytes."""
    monkeypatch.setitem(sys.modules, "ml_dtypes", types.SimpleNamespace(bfloat16=np.dtype("V2")))
    x = random(SHAPE, np.uint16).view("V2")
    y = ravel.compile("NCHW", "NC1HWC0", SHAPE, "bf16")(x)
    assert y.dtype == x.dtype and np.array_equal(y.view(np.uint16), blocked(x.view(np.uint16), 16))


class Torch:
    """A tensor of torch on the CPU: DLPack and no interface of NumPy, and exported for a consumer that names no stream."""
    def __init__(self, x, **kind):
        self.x, self.tensor = x, ByHand(x, strides=[s // x.itemsize for s in x.strides], **kind)

    def __dlpack_device__(self):
        return 1, 0

    def __dlpack__(self, stream=None):
        assert stream is None
        return self.tensor.__dlpack__()


def test_dlpack_1():
    """Read, and written to where that is allowed; freed once."""
    x, z = random((6, 10), np.uint16), np.zeros((10, 6), np.uint16)
    lent, out, fixed = ByVersion(x, flags=1), ByVersion(z), ByVersion(z, flags=1)
    assert ravel.convert(lent, "{M, K}", "(M,K){K, M}", dtype="bf16", out=out) is out
    assert np.array_equal(z, x.T) and lent.deleted == out.deleted == 1
    z[:] = 0
    for run in (lambda: ravel.convert(x, "{M, K}", "(M,K){K, M}", dtype="bf16", out=fixed),
                lambda: ravel.compile("{M, K}", "(M,K){K, M}", x.shape, "bf16")(x, fixed),
                lambda: ravel.convert(fixed, "{M, K}", "(M,K){K, M}", dtype="bf16", out=fixed)):
        with pytest.raises(ravel.Error, match="out cannot be written to: its library says that it is read-only; leave out= away"):
            run()
    assert not z.any() and fixed.deleted == 3


def test_a_copy_is_not_written_to():
    """What DLPack 1 lends may be a copy: read it, but out would stay as it was."""
    x, z = random((6, 10), np.uint16), np.zeros((10, 6), np.uint16)
    lent, copied = ByVersion(x, flags=2), ByVersion(z, flags=2)
    assert np.array_equal(ravel.convert(lent, "{M, K}", "(M,K){K, M}", dtype="bf16").view("u2"), x.T) and lent.deleted == 1
    for run in (lambda: ravel.convert(x, "{M, K}", "(M,K){K, M}", dtype="bf16", out=copied),
                lambda: ravel.compile("{M, K}", "(M,K){K, M}", x.shape, "bf16")(x, copied)):
        with pytest.raises(ravel.Error, match="out cannot be written to: its library lends a copy of it; leave out= away"):
            run()
    assert not z.any() and copied.deleted == 2


def test_a_dlpack_to_come():
    with pytest.raises(ravel.Error, match="an array by version 2 of DLPack, and here it is 1"):
        ravel.convert(ByVersion(random((6, 10), np.uint16), major=2), "{M, K}", "(M,K){K, M}")


@pytest.mark.parametrize("majors", [(1,), (3, 2, 1)])
def test_dlpack_by_functions_of_c(majors):
    """The table of the type is used, of the version that is known, and not __dlpack__."""
    def lend(x, out):
        out[0] = ct.addressof(x.v)
        return 0

    of = by_hand.of_table(by_hand.Lend(lend), *majors)
    x, z = random((6, 10), np.uint16), np.zeros((10, 6), np.uint16)
    given, out, fixed = of(x), of(z), of(z, flags=1)
    for t in (given, out, fixed):
        t.__dlpack__ = None
    assert ravel.convert(given, "{M, K}", "(M,K){K, M}", dtype="bf16", out=out) is out
    assert np.array_equal(z, x.T) and given.deleted == out.deleted == 1
    with pytest.raises(ravel.Error, match="out cannot be written to: its library says that it is read-only"):
        ravel.convert(x, "{M, K}", "(M,K){K, M}", dtype="bf16", out=fixed)
    assert fixed.deleted == 1
    with pytest.raises(ravel.Error, match="DLPack's type 17 of 4 bits has no dtype here"):
        ravel.convert(of(x, code=17, bits=4), "{M, K}", "(M,K){K, M}")


def test_functions_of_c_that_do_not_lend():
    """An error is the library's own.  Where the table is of another version, or the tensor is not its memory, __dlpack__ is called."""
    x = random((6, 10), np.uint16)
    fails = by_hand.Lend(ct.cast(ct.pythonapi.PyObject_GetBuffer, ct.c_void_p).value)
    with pytest.raises(TypeError, match="a bytes-like object is required"):
        ravel.convert(by_hand.of_table(fails, 1)(x), "{M, K}", "(M,K){K, M}")
    grad = by_hand.of_table(fails, 1)(x)
    grad.requires_grad = True
    other = type("Other", (ByVersion,), {"__dlpack_c_exchange_api__": 5})
    for t in (grad, by_hand.of_table(fails, 2)(x), other(x)):
        assert np.array_equal(np.asarray(ravel.convert(t, "{M, K}", "(M,K){K, M}")).view("u2"), x.T)


def test_errors_of_dlpack_1_are_the_library_s_own():
    """A TypeError from inside __dlpack__ is no sign of DLPack before 1, which cannot say that x is read-only; nor are classes kept alive."""
    class Broken(ByVersion):
        def __dlpack__(self, stream=None, max_version=None):
            if max_version:
                raise TypeError("the device is asleep")
            return super().__dlpack__()

    class PassesOn(ByHand):
        def __dlpack__(self, *args, **how):
            return super().__dlpack__(*args, **how)

    x = random((6, 10), np.uint16)
    for _ in range(2):
        with pytest.raises(TypeError, match="asleep"):
            ravel.convert(Broken(x), "{M, K}", "(M,K){K, M}")
        assert np.array_equal(np.asarray(ravel.convert(PassesOn(x), "{M, K}", "(M,K){K, M}")).view("u2"), x.T)
    gone = weakref.ref(PassesOn)
    del PassesOn
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize("base", [ByHand, ByVersion])
def test_arrays_of_jax_are_not_written_to(base, monkeypatch):
    """By the name of the package: before DLPack 1 the array cannot say it."""
    array = type("ArrayImpl", (base,), {"__module__": "jaxlib._jax"})
    monkeypatch.setitem(sys.modules, "jaxlib", types.ModuleType("jaxlib"))
    x, z = random((6, 10), np.uint16), np.zeros((10, 6), np.uint16)
    assert np.array_equal(ravel.convert(array(x), "{M, K}", "(M,K){K, M}", dtype="bf16").view("u2"), x.T)
    for run in (lambda: ravel.convert(x, "{M, K}", "(M,K){K, M}", dtype="bf16", out=array(z)), lambda: ravel.compile("{M, K}", "(M,K){K, M}", x.shape, "bf16")(x, array(z))):
        with pytest.raises(ravel.Error, match="out is an array of JAX, which never changes: leave out= away, and take the result"):
            run()
    same = array(x)
    with pytest.raises(ravel.Error, match="JAX"):
        ravel.convert(same, "{M, K}", "(M,K){K, M}", dtype="bf16", out=same)
    assert not z.any()


def test_out_like_a_tensor_of_torch_with_strides():
    """Also where x has none."""
    x, z = random((6, 10), np.int32), np.zeros((10, 12), np.int32)
    out = Torch(z[:, ::2], code=0, bits=32)
    assert ravel.convert(x, "{M, K}", "(M,K){K, M}", out=out) is out
    assert np.array_equal(z[:, ::2], x.T) and not z[:, 1::2].any()


@pytest.mark.parametrize("kind, t", [({"code": 2, "bits": 16}, np.float16), ({"code": 4, "bits": 16}, np.uint16), ({"code": 0, "bits": 8}, np.int8)])
def test_tensors_like_those_of_torch(kind, t):
    """In and out, also with strides."""
    x = random((33, 65), t)[::2, 1:]
    z = np.zeros(x.T.shape, t)
    out = Torch(z, **kind)
    assert ravel.convert(Torch(x, **kind), "{A, B}", "(A,B){B, A}", out=out) is out
    assert np.array_equal(z, x.T)


@pytest.mark.parametrize("code, t", [(6, np.bool_), *((code, np.uint8) for code in range(7, 15))])
def test_bytes_that_dlpack_names(code, t):
    """bool stays bool; of float8 the bytes are moved."""
    x = random((5, 6), np.uint8) & 1
    y = ravel.convert(ByHand(x, code=code, bits=8), "{A, B}", "(A,B){B, A}")
    assert y.dtype == t and np.array_equal(y.view(np.uint8), x.T)


def test_a_tensor_of_torch_that_negates_its_memory():
    t = Torch(random((5, 6), np.int8), code=0, bits=8)
    t.is_neg = lambda: True
    refused(r"pass x.resolve_neg\(\)", t, "{A, B}", "(A,B){B, A}")
    refused(r"pass x.resolve_neg\(\)", np.zeros((5, 6), np.int8), "{A, B}", "(A,B){B, A}", out=t)


class OfNamespace(Torch):
    """An array as the array API says: its namespace makes arrays of the library out of those of NumPy."""
    def __array_namespace__(self):
        return types.SimpleNamespace(asarray=OfNamespace)


def test_results_of_the_array_api():
    x = random(SHAPE, np.uint16)
    plan = ravel.compile("NCHW", "NHWC", SHAPE, "bf16")
    for y in ravel.convert(OfNamespace(x), "NCHW", "NHWC"), plan(OfNamespace(x)):
        assert type(y) is OfNamespace and np.array_equal(y.x.view(np.uint16), x.transpose(0, 2, 3, 1))
    out = OfNamespace(np.zeros((2, 5, 7, 20), np.uint16))
    assert ravel.convert(OfNamespace(x), "NCHW", "NHWC", out=out) is out and np.array_equal(out.x, x.transpose(0, 2, 3, 1))
    assert type(ravel.convert(Torch(x), "NCHW", "NHWC")) is np.ndarray


def test_results_of_a_library_of_the_array_api():
    strict = pytest.importorskip("array_api_strict", reason="array_api_strict is not installed")
    y = ravel.convert(strict.reshape(strict.arange(6), (2, 3)), "{M, K}", "(M,K){K, M}")
    assert type(y) is type(strict.arange(6)) and strict.all(y == strict.asarray([[0, 3], [1, 4], [2, 5]]))


def test_tensors_of_torch():
    """On the CPU, in and out, also with strides; NumPy has no bfloat16."""
    torch = pytest.importorskip("torch")
    x = torch.from_numpy(random(SHAPE, np.float16))
    y, z = ravel.convert(x, "NCHW", "NC1HWC0"), torch.empty_like(x)
    assert np.array_equal(y.numpy(), blocked(x.numpy(), 16))
    ravel.convert(y, "NC1HWC0", "NCHW", shape=SHAPE, out=z)
    assert torch.equal(x, z)
    for t in (torch.bfloat16, torch.int8):
        x = torch.arange(33*65).reshape(33, 65).to(t)[::2, 1:]
        z = torch.empty(x.T.shape, dtype=t)
        ravel.convert(x, "{A, B}", "(A,B){B, A}", out=z)
        assert torch.equal(z, x.T)


def test_tensors_of_torch_with_strides():
    """Each twice, as the second call takes what the first one found out; an element that several places share is refused as a destination."""
    torch = pytest.importorskip("torch")
    whole = torch.arange(33 * 66, dtype=torch.float32).reshape(33, 66)
    for x in (whole[::2, 1:], whole.T, whole[:, ::3], whole[:1].expand(5, 66)):
        for room in (torch.zeros(x.T.shape), torch.zeros(x.shape).T, torch.zeros(2 * x.shape[1], 3 * x.shape[0])[::2, ::3]):
            for _ in range(2):
                assert torch.equal(ravel.convert(x, "{A, B}", "(A,B){B, A}"), x.T.contiguous())
                assert ravel.convert(x, "{A, B}", "(A,B){B, A}", out=room.zero_()) is room and torch.equal(room, x.T)
    padded = ravel.convert(whole.T[:5, :3], "{A, B}", "(A,B){A, B, pad = {B = 4}}")
    assert padded.shape == (5, 4) and torch.equal(padded[:, :3], whole.T[:5, :3]) and not padded[:, 3].any()
    for _ in range(2):
        with pytest.raises(ravel.Error):
            ravel.convert(whole[:5].T, "{A, B}", "(A,B){B, A}", out=torch.zeros(1, 66).expand(5, 66))
        with pytest.raises(ravel.Error, match="shape"):
            ravel.convert(whole.T, "{A, B}", "(A,B){B, A}", out=torch.zeros(66, 33).T[:, 1:])


def test_packed():
    """Two elements in a byte, the first in the low half: rows of 6, converted to columns."""
    x = np.arange(24).reshape(4, 6) % 16
    low = (x[:, 0::2] | x[:, 1::2] << 4).astype(np.uint8)
    y = ravel.convert(low, "{A, B}", "(A,B){B, A}", shape=(4, 6), dtype="u4")
    assert np.array_equal(y, x.T[:, 0::2] | x.T[:, 1::2] << 4)


# --- what an array is

class Interface:
    def __init__(self, x):
        self.x, self.__array_interface__ = x, x.__array_interface__


class DLPack:
    def __init__(self, x):
        self.x = x

    def __dlpack__(self, stream=None):
        return self.x.__dlpack__()


X = random((6, 8), np.uint8)


@pytest.mark.parametrize("x", [X, Interface(X), DLPack(X), memoryview(X), X.view(np.recarray)], ids=lambda x: type(x).__name__)
def test_kinds_of_arrays(x):
    assert np.array_equal(ravel.convert(x, "{M, K}", "(M,K){K, M}"), X.T)


@pytest.mark.parametrize("make", [bytes, bytearray, lambda b: array.array("B", b), lambda b: (ct.c_uint8 * 48)(*b), lambda b: np.frombuffer(b, "u1")])
def test_flat_memory(make):
    """One extent of as many elements, for a logical shape that is given."""
    out = bytearray(48)
    assert ravel.convert(make(X.tobytes()), "{M, K}", "(M,K){K, M}", shape=(6, 8), out=out) is out
    assert bytes(out) == X.T.tobytes()


def test_out():
    x, out = random(SHAPE, np.float32), np.full((2, 5, 7, 20), -1, np.float32)
    for o in (out, out.reshape(-1), Interface(out), memoryview(out)):
        out[:] = -1
        assert ravel.convert(x, "NCHW", "NHWC", out=o) is o and np.array_equal(out, x.transpose(0, 2, 3, 1))


def test_holes_of_out_are_left():
    x = np.arange(6, dtype=np.uint8).reshape(2, 3)
    ravel.load("layout 'PITCHED' { dims = { H, W }, order = { H, W }, pitch = { H = 8 } }")
    new, old = ravel.convert(x, "{H, W}", "PITCHED"), np.full(16, 7, np.uint8)
    ravel.convert(x, "{H, W}", "PITCHED", out=old)
    assert new.reshape(-1).tolist() == [0, 1, 2, 0, 0, 0, 0, 0, 3, 4, 5, 0, 0, 0, 0, 0]
    assert old.tolist() == [0, 1, 2, 7, 7, 7, 7, 7, 3, 4, 5, 7, 7, 7, 7, 7]


# --- DLPack by hand

def test_dlpack_of_others():
    x = random((6, 8), np.uint16)
    turned = np.ascontiguousarray(x.T).T
    for t in (ByHand(x), ByHand(x, strides=(8, 1)), ByHand(x, offset=2), ByHand(turned, strides=(1, 6))):
        y = ravel.convert(t, "{M, K}", "{M//4, K//4, M%4, K%4}")
        assert np.array_equal(y.view(np.uint16).reshape(-1), ravel.convert(x, "{M, K}", "{M//4, K//4, M%4, K%4}").reshape(-1))
        gc.collect()
        assert t.deleted == 1
    assert ravel.convert(ByHand(random(SHAPE, np.uint16)), "NCHW", "NC1HWC0").shape[-1] == 16


@pytest.mark.parametrize("given, says", [({"device": 2}, "an array on a device, .*copy it to the CPU first"),
                                         ({"code": 9, "bits": 16}, "type 9 of 16 bits has no dtype")])
def test_dlpack_that_is_refused(given, says):
    t = ByHand(random((6, 8), np.uint16), **given)
    with pytest.raises(ravel.Error, match=says):
        ravel.convert(t, "{M, K}", "(M,K){K, M}")


# --- what is refused

def refused(says, *args, **kw):
    with pytest.raises(ravel.Error, match=says) as e:
        ravel.convert(*args, **kw)
    return e.value


STRIDED = [random((6, 16), np.uint8)[:, ::2], X.T.copy().T, X[::-1], np.broadcast_to(X[:1], (6, 8)), random((9, 40), np.float32)[1:7, 33:1:-4],
           random((6, 8, 3), np.complex128)[:, :, 1], np.broadcast_to(X[:, :1], (6, 8)), random((1, 6, 2, 8), np.int16)[0, ::-1, 1, ::-1]]


@pytest.mark.parametrize("x", STRIDED)
def test_strided(x):
    assert np.array_equal(ravel.convert(x, "{M, K}", "(M,K){K, M}"), x.T)
    want = ravel.convert(np.ascontiguousarray(x), "{M, K}", "{M//4, K//4, M%4, K%4}")
    assert np.array_equal(ravel.convert(x, "{M, K}", "{M//4, K//4, M%4, K%4}"), want)
    if hasattr(x, "__dlpack__"):
        assert np.array_equal(ravel.convert(DLPack(x.copy()[::-1]), "{M, K}", "(M,K){K, M}"), x[::-1].T)


CALLS = """
import numpy as np, ravel
x = np.arange(2 * 20 * 5 * 14, dtype="f4").reshape(2, 20, 5, 14)
for _ in range(3):
    ravel.convert(x[..., ::2], "NCHW", "NHWC")
    ravel.convert(x[..., :7].copy(), "NCHW", "NHWC", out=np.zeros((2, 5, 7, 40), "f4")[..., ::2])
"""


def test_a_strided_call_makes_one_plan():
    r = subprocess.run([sys.executable, "-c", CALLS], env={**os.environ, "RAVEL_VERBOSE": "1"}, capture_output=True, text=True, check=True)
    assert (r.stderr.count("  # plan: "), r.stderr.count("  # run: ")) == (2, 6), r.stderr


def test_strided_out():
    x, all_ = random(SHAPE, np.float16), random((2, 7, 9, 50), np.float16)
    for part in (np.s_[:, 1:6, ::-1, 3:43:2], np.s_[::-1, 5:0:-1, 2:, 49:9:-2], np.s_[:, :5, 1:8, 20:40]):
        out, want = all_.copy(), all_.copy()
        there = out[part][:, :, :7]
        want[part][:, :, :7] = x.transpose(0, 2, 3, 1)
        assert ravel.convert(x, "NCHW", "NHWC", out=there) is there
        assert np.array_equal(out, want)
    padded = np.full((2, 2, 5, 7, 40), 7, np.float16)
    ravel.convert(x[:, ::-1], "NCHW", "NC1HWC0", out=padded[..., 30:14:-1])
    assert np.array_equal(padded[..., 30:14:-1], blocked(x[:, ::-1], 16)) and (padded[..., :15] == 7).all() and (padded[..., 31:] == 7).all()


def test_strides_that_are_refused():
    x = random((6, 8), np.uint8)
    refused("no multiples of its elements.*np.ascontiguousarray", np.zeros(10, [("a", "u1"), ("b", "f4")])["b"], "{A}", "{A}")
    refused(r"not of shape \(6, 8\): pass np.ascontiguousarray\(x\)", x[:, ::2], "{M, K}", "{K, M}", shape=(6, 8))
    refused("not one-to-one", x, "{M, K}", "(M,K){K, M}", out=np.lib.stride_tricks.as_strided(np.zeros(99, "u1"), (8, 6), (0, 1)))
    refused("overlap", x[:, ::2], "{M, K}", "{M, K}", out=x[:, 1::2])
    fixed = np.zeros((8, 12), np.uint8)[:, ::2]
    fixed.flags.writeable = False
    refused("read-only", x, "{M, K}", "(M,K){K, M}", out=fixed)
    refused("out has elements of type int8, and x of uint8", x, "{M, K}", "(M,K){K, M}", out=np.zeros((8, 12), np.int8)[:, ::2])
    assert not fixed.any()
    refused(r"np.ascontiguousarray\(x\)", x[:, ::2], "{M, K}", "(M,K){K, M}", shape=(6, 8), dtype="u4")
    with pytest.raises(ravel.Error, match=r"np.ascontiguousarray\(x\)"):
        ravel.compile("{M, K}", "(M,K){K, M}", (6, 4), "u8")(x[:, ::2])


def test_refused():
    x = random(SHAPE, np.float16)
    assert refused("NC1HWC0", x, "NCHW", "NC1HWCO").status == "SPEC"
    assert refused("give the shape", ravel.convert(x, "NCHW", "NC1HWC0"), "NC1HWC0", "NCHW").status == "ARGUMENT"
    refused("needed", x.reshape(-1)[:-1], "NCHW", "NHWC", shape=SHAPE)
    refused("stored as", x.reshape(20, 2, 5, 7), "NCHW", "NHWC", shape=SHAPE)
    refused("dims", x, "NCHW", "{M, K}")
    refused("is no array", [1, 2], "NCHW", "NHWC")
    refused("other byte order.*newbyteorder", x.astype(">f2"), "NCHW", "NHWC")
    refused("float16 elements|f16 elements", x, "NCHW", "NHWC", dtype="i16")
    refused(r"has elements of 2 bytes \(float16\), and dtype f32 needs 4: pass x.view\('f4'\) if its bytes are f32", x, "NCHW", "NHWC", dtype="f32")
    refused(r"elements of 1 byte .*, and dtype bf16 needs 2: pass x.view\('u2'\)", x.view("u1"), "NCHW", "NHWC", dtype="bf16")
    refused("layout NCHW has 4 dims, and the array has 0", np.float32(3), "NCHW", "NHWC")
    refused("-1 threads: give 1 or more", x, "NCHW", "NHWC", threads=-1)
    refused(r"pass x.filled\(value\), or x.data", np.ma.masked_array(x, x > 0), "NCHW", "NHWC")
    refused(r"x is of type list, which is no array: .*: pass np.array\(x\)", x.tolist(), "NCHW", "NHWC")
    refused("^x is of type NoneType, which is no array: .* nor a buffer$", None, "NCHW", "NHWC")
    refused("x is of type str, which is no array: .*: the array comes first$", "NCHW", "NHWC", x)
    refused("out is of type list, which is no array: .* nor a buffer$", x, "NCHW", "NHWC", out=[])
    refused("unknown dtype 'half'; did you mean f16[?] Else the dtypes are f32", x, "NCHW", "NHWC", dtype="half")
    refused("unknown dtype 'half16': the dtypes are f32", x, "NCHW", "NHWC", dtype="half16")
    refused(r"no dtype here: pass x.view\('u4'\), and view the result as x.dtype", np.array(["a"]), "{M}", "{M}")
    refused(r"no dtype here: pass x.view\('u8'\)", np.zeros(3, "M8[s]"), "{M}", "{M}")
    refused(r"pass x.view\('u8'\)", np.zeros(3, [("a", "i4"), ("b", "f4")]), "{M}", "{M}")
    refused(r"pass x.view\('c16'\)", np.zeros(3, np.longdouble), "{M}", "{M}")
    refused("6 bytes: pass a view of numbers", np.zeros(3, "S6"), "{M}", "{M}")
    for kind in ({}, {"dtype": "u64"}, {"dtype": "u32"}):
        refused("arrays of objects are not taken", np.array([1, None]), "{M}", "{M}", **kind)
    refused(r"holds f16 elements, not i16: pass x.view\('u2'\) if they are i16", x, "NCHW", "NHWC", dtype="i16")
    refused("layout NCHW has 4 dims, and the array has 2", x[0, 0], "NCHW", "NHWC")
    for src, dst in ((None, "NHWC"), ("NCHW", None), ("NCHW", 3)):
        with pytest.raises(TypeError, match="a layout is a text such as 'NCHW'"):
            ravel.convert(x, src, dst)
        with pytest.raises(TypeError, match="a layout is a text such as 'NCHW'"):
            ravel.compile(src, dst, SHAPE, "f16")
    plan = ravel.compile("NCHW", "NCHW", SHAPE, "f16")
    with pytest.raises(ravel.Error, match="compile it with in_place=True"):
        plan(x, x)
    refused("17 dims|at most 16", x, "NCHW", "NHWC", shape=(1,) * 17)
    refused("-3 in a shape", x, "NCHW", "NHWC", shape=(1, -3, 1, 1))
    with pytest.raises(TypeError):
        ravel.convert(x, "NCHW", "NHWC", shape=("a", 1, 1, 1))
    with pytest.raises(OverflowError):
        ravel.convert(x, "NCHW", "NHWC", shape=(1 << 70, 1, 1, 1))


def test_refused_out():
    x, shape = random(SHAPE, np.float16), (2, 5, 7, 20)
    readonly = np.zeros(shape, np.float16)
    readonly.flags.writeable = False
    refused("out cannot be written to: it is read-only", x, "NCHW", "NHWC", out=readonly)
    refused("out cannot be written to: it is read-only", x.view(np.uint8), "NCHW", "NHWC", shape=(2, 20, 5, 14), out=bytes(2800))
    out = np.zeros(shape[::-1], np.float16).T
    assert ravel.convert(x, "NCHW", "NHWC", out=out) is out and np.array_equal(out, x.transpose(0, 2, 3, 1))
    refused("out is not a C-contiguous array, and not of shape", x, "NCHW", "NHWC", out=np.zeros((3, 5, 7, 20), np.float16)[::-1])
    refused("out has shape", x, "NCHW", "NHWC", out=np.zeros(SHAPE, np.float16))
    refused("out has elements of type >f2, in the other byte order: pass an array of float16", x, "NCHW", "NHWC", out=np.zeros(shape, ">f2"))
    refused("elements of 4 bytes", x, "NCHW", "NHWC", out=np.zeros(shape, np.float32))
    refused("1398 bytes, and 2800|2798 bytes, and 2800", x, "NCHW", "NHWC", out=np.zeros(1399, np.float16))
    both = np.zeros(2800 + 1400, np.uint8)
    refused("overlap", both[:2800].view(np.float16), "NCHW", "NHWC", shape=SHAPE, out=both[1400:].view(np.float16))


# --- plans

def test_plan():
    plan = ravel.compile("NCHW", "NC1HWC0", SHAPE, "f16")
    assert (plan.src_shape, plan.dst_shape, plan.way, plan.dtype) == (SHAPE, (2, 2, 5, 7, 16), "machine code", "f16")
    assert "ravel_relayout" in plan.source and plan.threads == 1 and "NC1HWC0" in repr(plan)
    v = plan.verify()
    assert (v["elements"], v["padding"], v["holes"]) == (1400, 840, 0)
    with pytest.raises(ravel.Error, match="omit shape"):
        plan(random(SHAPE, np.float16), shape=SHAPE)
    assert isinstance(ravel.compile("NCHW", ravel.layout("NHWC"), SHAPE, np.float32), ravel.Plan)
    assert ravel.compile("NCHW", "NHWC", SHAPE, "float16").dtype == "f16" and ravel.compile("NCHW", "NHWC", SHAPE, "bfloat16").dtype == "bf16"
    with pytest.raises(ravel.Error, match="unknown dtype 'float17'"):
        ravel.compile("NCHW", "NHWC", SHAPE, "float17")


def test_extents_at_run_time():
    plan = ravel.compile("NCHW", "NC1HWC0", (None, None, 5, 7), "f16")
    for n, c in ((1, 1), (3, 16), (2, 37)):
        x = random((n, c, 5, 7), np.float16)
        assert np.array_equal(plan(x), blocked(x, 16))
        assert np.array_equal(plan(x.reshape(-1), shape=x.shape), blocked(x, 16))
        out = np.empty(blocked(x, 16).shape, np.float16)
        assert plan(x, out) is out and np.array_equal(out, blocked(x, 16))
    with pytest.raises(ravel.Error, match="stored as"):
        plan(random((1, 2, 5, 7), np.float16), shape=(2, 1, 5, 7))
    with pytest.raises(ravel.Error, match="out has shape"):
        plan(random((1, 2, 5, 7), np.float16), np.empty((1, 2, 5, 7), np.float16))
    assert plan(np.empty((0, 3, 5, 7), np.float16), shape=(0, 3, 5, 7)).shape == (0, 1, 5, 7, 16)
    assert plan(np.empty((2, 0, 5, 7), np.float16)).shape == (2, 0, 5, 7, 16)
    with pytest.raises(ravel.Error):
        plan(random((1, 1, 5, 8), np.float16))
    with pytest.raises(ravel.Error, match="3 extents, and the plan has 4"):
        plan(random((1, 5, 7), np.float16), shape=(1, 5, 7))
    with pytest.raises(ravel.Error, match="needed"):
        plan(random((1, 1, 5, 7), np.float16), np.zeros(3, np.float16))


def test_the_shape_of_a_call_has_numbers():
    with pytest.raises(ravel.Error, match="^None in the shape of a call: "):
        ravel.compile("NCHW", "NHWC", (None, 2, 3, 4), "f32")(np.zeros((1, 2, 3, 4), "f4"), shape=(None, 2, 3, 4))


def test_empty_arrays():
    x = np.empty((0, 10), np.int32)
    assert ravel.convert(x, "{M, K}", "(M,K){K, M}").shape == (10, 0) and ravel.convert(x, "{M, K}", "(M,K){K, M}", out=x).shape == (10, 0)
    out = np.empty((10, 0), np.int32)
    assert ravel.convert(x, "{M, K}", "(M,K){K, M}", out=out, shape=(0, 10)) is out
    assert ravel.convert(x.reshape(-1), "(M,K){K, M}", "{M, K}", shape=(0, 10)).shape == (0, 10)
    assert ravel.convert(np.empty((3, 0, 4), "u1"), "{A, B, C}", "(A,B,C){C, B, A}").shape == (4, 0, 3)
    assert ravel.convert(np.empty((0, 6), "u1"), "{M, K}", "(M,K){M, K//4, K%4}").shape == (0, 2, 4)
    assert ravel.compile("{M, K}", "(M,K){K, M}", (None, 10), "i32")(x).shape == (10, 0)
    refused("stored as", x, "{M, K}", "(M,K){K, M}", shape=(2, 10))
    refused("out has shape", x, "{M, K}", "(M,K){K, M}", out=np.empty((2, 5), np.int32))


def test_other_threads_run_meanwhile():
    """The interpreter's lock is not taken from a thread here, so that the other one runs only where it is given."""
    plan, x = ravel.compile("{M, K}", "(M,K){K, M}", (4096, 4096), "u8", threads=1), random((4096, 4096), np.uint8)
    out, ran, stop = np.empty_like(x), [0], threading.Event()

    def other():
        while not stop.is_set():
            ran[0] += 1
            time.sleep(0)

    t, interval = threading.Thread(target=other), sys.getswitchinterval()
    try:
        t.start()
        while not ran[0]:
            time.sleep(0.001)
        sys.setswitchinterval(1000)
        before = ran[0]
        plan(x, out)
        after = ran[0]
    finally:
        stop.set()
        sys.setswitchinterval(interval)
        t.join()
    assert after > before and np.array_equal(out, x.T)


def test_one_plan_on_many_threads():
    x, plan = random(SHAPE, np.float32), ravel.compile("NCHW", "NHWC", SHAPE, "f32")
    right = []

    def work():
        for _ in range(200):
            right.append(np.array_equal(plan(x), x.transpose(0, 2, 3, 1)) and np.array_equal(ravel.convert(x, "NCHW", "CHWN"), x.transpose(1, 2, 3, 0)))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert right == [True] * 800


def test_nothing_is_kept():
    """The references of arguments are those before, also where a call fails."""
    x, out = random((6, 8), np.uint8), np.zeros((8, 6), np.uint8)
    before = sys.getrefcount(x), sys.getrefcount(out)
    for _ in range(50):
        ravel.convert(x, "{M, K}", "(M,K){K, M}", out=out)
        refused("out has shape", x, "{M, K}", "(M,K){K, M}", out=np.zeros((3, 4), np.uint8))
        refused("NOPE", x, "{M, K}", "NOPE")
        refused("overlap", x, "{M, K}", "(M,K){K, M}", out=x.reshape(-1))
    gc.collect()
    assert (sys.getrefcount(x), sys.getrefcount(out)) == before
    x.resize(7, 7, refcheck=False)                     # no buffer is exported any more


def test_in_place():
    for shape in ((3, 4, 5, 7), (2, 64, 50, 70)):
        x = np.random.default_rng(3).integers(0, 99, shape).astype(np.float32)
        want, y = x.transpose(0, 2, 3, 1), x.copy()
        z = ravel.convert(y, "NCHW", "NHWC", out=y)
        assert z.base is y and np.array_equal(z, want) and np.array_equal(y.reshape(-1), want.reshape(-1))
        plan = ravel.compile("NHWC", "NCHW", shape, "f32", in_place=True)
        assert np.array_equal(plan(z), x) and plan.in_place and plan.way.startswith("in place: ") and plan.verify()["elements"] == x.size
    refused("cannot be converted in place", x, "NCHW", "NC1HWC0", out=x, shape=(2, 60, 50, 70))
    y = x[:, ::-1]
    refused("not a C-contiguous", y, "NCHW", "NHWC", out=y)
    with pytest.raises(ravel.Error, match="out is x, or left out"):
        plan(z, np.zeros_like(z))
    z.flags.writeable = False
    with pytest.raises(ravel.Error, match="cannot be written to: it is read-only"):
        plan(z)


@pytest.mark.parametrize("dst", ["(M,K){K, M}", "(M,K){K, M//4, M%4}", "(M,K){K, M, pitch = {K = 64}, fill = 'none'}", "{K, M, pitch = {K = 80}, fill = 'none'}", "(M,K){K, 2*M, fill = 'none'}"])
def test_what_is_not_written_of_a_new_array_is_zero(dst):
    """Whatever was in its memory before."""
    x = random((3, 20), np.float32)
    want = np.zeros_like(ravel.convert(x, "{M, K}", dst))
    ravel.convert(x, "{M, K}", dst, out=want)
    for _ in range(20):
        np.full(want.size, 7.0, np.float32)                # NumPy keeps small blocks, and hands them out again
        assert np.array_equal(ravel.convert(x, "{M, K}", dst), want)
