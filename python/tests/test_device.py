"""Arrays on a CUDA device, by stand-ins for the driver and NVRTC (tests/mock), whose memory is the host's and whose launches wait for their stream,
and by stand-ins for torch, CuPy and numba.  tests/test_python.py gives the paths of the former in the environment."""
import contextlib
import ctypes as ct
import gc
import os
import subprocess
import sys
import types

import numpy as np
import pytest

import ravel
from by_hand import ByHand

pytestmark = pytest.mark.skipif("RAVEL_MOCK_FOLDER" not in os.environ, reason="tests/test_python.py runs these")
CODES = {"i": 0, "u": 1, "f": 2}
STREAM = 0x5000


@pytest.fixture(scope="module")
def driver():
    """The stand-in, with the primary context current as the CUDA runtime leaves it."""
    so = ct.CDLL(os.environ["RAVEL_CUDA_LIBRARY"])
    so.cuMemAlloc_v2.argtypes, so.cuStreamSynchronize.argtypes = [ct.c_void_p, ct.c_size_t], [ct.c_void_p]
    so.cuCtxPushCurrent_v2.argtypes = [ct.c_void_p]
    context = ct.c_void_p()
    assert so.cuInit(0) == so.cuDevicePrimaryCtxRetain(ct.byref(context), 0) == so.cuCtxPushCurrent_v2(context) == 0
    return so


@pytest.fixture(autouse=True)
def fresh(driver):
    driver.mock_reset()
    yield
    driver.mock_reset()


class OnDevice:
    """An array whose memory is the stand-in's.  `host` is the same memory, for the test to look at."""
    def __init__(self, host, ordinal=0):
        self.host, self.dtype, self.ordinal, self.asked, self.exported = host, host.dtype, ordinal, [], []

    def __dlpack_device__(self):
        return 2, self.ordinal

    def __dlpack__(self, stream=None):
        self.asked.append(stream)
        h = self.host
        self.exported.append(ByHand(h, strides=[s // h.itemsize for s in h.strides], device=2, code=CODES[h.dtype.kind], bits=8*h.itemsize))
        return self.exported[-1].__dlpack__()


    def item(self):
        return self.host.item()


class Interface:
    """As numba has it: version 3 of the interface and nothing else."""
    def __init__(self, host, stream=STREAM, **more):
        self.host = host
        self.__cuda_array_interface__ = {"shape": host.shape, "typestr": host.dtype.str, "data": (host.ctypes.data, False), "version": 3,
                                         "strides": None if host.flags.c_contiguous else host.strides, "stream": stream, **more}


def torch_tensor(host, ordinal=0):
    class Tensor(OnDevice):
        device = property(lambda self: "cuda:%d" % self.ordinal)
    Tensor.__module__ = "torch"
    return Tensor(host, ordinal)


def cupy_array(host):
    class ndarray(OnDevice):
        device = contextlib.nullcontext()
    ndarray.__module__ = "cupy"
    return ndarray(host)


@pytest.fixture
def memory(driver):
    def take(x):
        """A copy of x on the device."""
        p = ct.c_uint64()
        assert driver.cuMemAlloc_v2(ct.byref(p), max(1, x.nbytes)) == 0
        a = np.frombuffer((ct.c_uint8 * x.nbytes).from_address(p.value), x.dtype).reshape(x.shape)
        a[...] = x
        return a
    return take


@pytest.fixture
def libraries(memory, monkeypatch):
    """Modules torch and cupy; `made` says how their arrays were made."""
    made = []

    def torch_new(how, value):
        def new(shape, dtype, device):
            made.append((how, device))
            return torch_tensor(memory(np.full(shape, value, dtype)))
        return new

    def cupy_new(how, value):
        def new(shape, dtype):
            made.append((how, None))
            return cupy_array(memory(np.full(shape, value, dtype)))
        return new

    def torch_zeros(shape, dtype, device):
        return torch_new("zeros", 0)((shape,) if isinstance(shape, int) else shape, dtype, device)

    def cupy_zeros(shape, dtype):
        return cupy_new("zeros", 0)((shape,) if isinstance(shape, int) else shape, dtype)

    current = types.SimpleNamespace(cuda_stream=STREAM, ptr=STREAM)
    for name, new in (("torch", torch_new), ("cupy", cupy_new)):
        m = types.ModuleType(name)
        m.empty, m.zeros, m.int32 = new("empty", 77), torch_zeros if name == "torch" else cupy_zeros, np.int32
        m.cuda = types.SimpleNamespace(current_stream=lambda device: current, get_current_stream=lambda: current)
        monkeypatch.setitem(sys.modules, name, m)
    return types.SimpleNamespace(made=made, current=current)


@pytest.fixture
def kernel(tmp_path, monkeypatch):
    def use(*arguments):
        """The relayout in C, as the stand-in driver calls kernels."""
        made = [os.path.join(os.environ["RAVEL_BUILD"], "ravel"), "emit", "--target", "blocks", "--name", "ravel_relayout", "-o", "k.c"]
        for flag, value in zip(("--from", "--to", "--shape", "--dtype", "--align"), arguments):
            made += [flag, value]
        subprocess.run(made, check=True, cwd=tmp_path)
        file = tmp_path / ("k%d.so" % len(list(tmp_path.iterdir())))
        subprocess.run(["gcc", "-shared", "-fPIC", "-O0", "-o", file, "k.c"], check=True, cwd=tmp_path)
        monkeypatch.setenv("RAVEL_MOCK_KERNELS", str(file))
    return use


def wait(driver, stream=STREAM):
    assert driver.cuStreamSynchronize(stream) == 0


TURN = ("{M, K}", "(M,K){K, M}")


@pytest.mark.parametrize("make", [torch_tensor, cupy_array])
def test_a_library_of_arrays(driver, memory, libraries, kernel, make):
    """On the stream that the library works on, to an array of the library; the capsules are given back."""
    kernel(*TURN, "50,25", "f32")
    host = np.random.default_rng(3).random((50, 25), np.float32)
    x = make(memory(host))
    y = ravel.convert(x, *TURN)
    assert type(y).__name__ == type(x).__name__ and y.host.shape == (25, 50)
    assert libraries.made == [("empty", "cuda:0" if make is torch_tensor else None)]
    assert (y.host == 77).all(), "the launch waited for its stream"
    wait(driver)
    assert np.array_equal(y.host, host.T)
    gc.collect()
    assert x.asked == y.asked == [STREAM] and [t.deleted for t in x.exported + y.exported] == [1, 1]


def test_default_stream(driver, memory, libraries, kernel):
    """The driver's 0 is 1 in DLPack."""
    libraries.current.cuda_stream = 0
    kernel(*TURN, "4,6", "u8")
    x = torch_tensor(memory(np.arange(24, dtype=np.uint8).reshape(4, 6)))
    y = ravel.convert(x, *TURN)
    wait(driver, 1)
    assert x.asked == [1] and np.array_equal(y.host, x.host.T)


def test_interface(driver, memory, kernel):
    kernel(*TURN, "50,25", "f32")
    x, y = memory(np.random.default_rng(4).random((50, 25), np.float32)), memory(np.zeros((25, 50), np.float32))
    out = Interface(y)
    assert ravel.convert(Interface(x), *TURN, out=out) is out
    assert not y.any()
    wait(driver)
    assert np.array_equal(y, x.T)
    with pytest.raises(ravel.Error, match="out is used on stream 0x6000, and x on 0x5000"):
        ravel.convert(Interface(x), *TURN, out=Interface(y, stream=0x6000))
    with pytest.raises(ravel.Error, match="not an array that can be written to"):
        ravel.convert(Interface(x), *TURN, out=Interface(y, data=(y.ctypes.data, True)))
    with pytest.raises(ravel.Error, match="no arrays that are allocated here: give out="):
        ravel.convert(Interface(x), *TURN)
    with pytest.raises(ravel.Error, match="mask"):
        ravel.convert(Interface(x, mask=1), *TURN)


def test_strides(driver, memory, libraries, kernel):
    """Of x and of out; what the strides of out leave out stays."""
    host, image = memory(np.arange(60, dtype=np.uint8).reshape(6, 10)), memory(np.full((9, 12), 9, np.uint8))
    x, out = host[::-1, 1:9:2], image[2:6, 3:9]
    want = image.copy()
    want[2:6, 3:9] = x.T
    low = host[0, 1:].ctypes.data | out.ctypes.data | 16           # where their lowest elements are
    context = ravel._specs.context(())
    kernel(context.strided(TURN[0], (-10, 2), 50), context.strided(TURN[1], (12, 1), 0), "6,4", "u8", str(low & -low))
    t = torch_tensor(out)
    assert ravel.convert(torch_tensor(x), *TURN, out=t) is t
    wait(driver)
    assert np.array_equal(image, want)
    with pytest.raises(ravel.Error, match="x is not a C-contiguous array, and not of shape"):
        ravel.convert(torch_tensor(host.reshape(-1)[::2]), *TURN, shape=(6, 5))
    with pytest.raises(ravel.Error, match="x is not a C-contiguous array$"):
        ravel.convert(torch_tensor(x), *TURN, shape=(6, 8), dtype="u4")


def test_holes_of_a_new_array_are_zero(driver, memory, libraries, kernel):
    ravel.load("layout 'FAR' { dims = { H, W }, order = { H, W }, pitch = { H = 8 } }")
    x = torch_tensor(memory(np.arange(1, 7, dtype=np.uint8).reshape(2, 3)))
    kernel("{H, W}", "{H, W}", "2,3", "u8")            # any one: it does not run
    y = ravel.convert(x, "{H, W}", "FAR")
    assert libraries.made == [("zeros", "cuda:0")] and y.host.size == 16
    ravel.load("layout 'TURNED' { dims = { W, H }, order = { W, H }, pitch = { W = 3 } }")      # dims in another order: none if 2 were the extent of W
    y = ravel.convert(x, "{H, W}", "TURNED")
    assert libraries.made[1:] == [("zeros", "cuda:0")] and y.host.size == 9


def test_plans(driver, memory, libraries, kernel, monkeypatch):
    """A plan takes both kinds of arrays; one with extents at run time compiles once."""
    kernel(*TURN, "6,8", "f32")
    host = np.random.default_rng(5).random((6, 8), np.float32)
    plan = ravel.compile(*TURN, (6, 8), "f32")
    assert np.array_equal(plan(host), host.T)
    out = torch_tensor(memory(np.zeros(48, np.float32)))
    assert plan(torch_tensor(memory(host)), out) is out
    wait(driver)
    assert np.array_equal(out.host.reshape(8, 6), host.T)
    nvrtc = ct.CDLL(os.environ["RAVEL_NVRTC_LIBRARY"])
    compiles = ct.c_int.in_dll(nvrtc, "mock_nvrtc_compiles")
    any_rows = ravel.compile(*TURN, (None, 8), "f32")
    before = compiles.value
    monkeypatch.setenv("RAVEL_MOCK_VALUES", "1")
    for rows in (6, 6, 5):
        y = any_rows(torch_tensor(memory(host[:rows])))
        assert y.host.shape == (8, rows)
    assert compiles.value == before + 1


def test_a_fill_by_name(driver, memory, libraries, kernel, monkeypatch):
    """The kernel gets the bits of the value; that one is for the fill of a number."""
    kernel("(M,K){M, K}", "(M,K){M, K//16, K%16, fill = 1.5}", "6,8", "f32")
    monkeypatch.setenv("RAVEL_MOCK_VALUES", "1")
    host = np.arange(48, dtype=np.float32).reshape(6, 8)
    y = ravel.convert(torch_tensor(memory(host)), "(M,K){M, K}", "(M,K){M, K//16, K%16, fill = zp}", values={"zp": 1.5})
    wait(driver)
    want = np.full((6, 16), 1.5, np.float32)
    want[:, :8] = host
    assert np.array_equal(y.host.reshape(6, 16), want)
    assert ct.c_longlong.in_dll(driver, "mock_values").value == 0x3fc00000
    with pytest.raises(ravel.Error, match="give its value"):
        ravel.convert(torch_tensor(memory(host)), "(M,K){M, K}", "(M,K){M, K//16, K%16, fill = zp}")


def test_refused(driver, memory, libraries, kernel, monkeypatch):
    kernel(*TURN, "6,8", "f32")
    host = np.zeros((6, 8), np.float32)
    x, y = memory(host), memory(host.T)

    def refused(says, a, *more, **kw):
        with pytest.raises(ravel.Error, match=says) as e:
            ravel.convert(a, *(more or TURN), **kw)
        return getattr(e.value, "status", None)

    refused("x is on a device, and out is not", torch_tensor(x), out=host.T.copy())
    refused("an array on a device, where one on the CPU is needed", host, out=torch_tensor(y))
    refused("out has shape", torch_tensor(x), out=torch_tensor(memory(host)))
    refused("out has elements of 2 bytes, and x of 4", torch_tensor(x), out=torch_tensor(y.view(np.float16)))
    refused("overlap", torch_tensor(x), out=torch_tensor(x.reshape(-1)))
    refused("188 bytes, and 192 are needed", torch_tensor(x.reshape(-1)[:47]), shape=(6, 8), out=torch_tensor(y))
    refused("188 bytes, and 192 are needed", torch_tensor(x), out=torch_tensor(y.reshape(-1)[:47]))
    refused("the index array 'i' is not on the device of x", torch_tensor(x), "{M, K}(6,8)[i]", "{M, K}", index={"i": [1, 2]})
    refused("NOPE", torch_tensor(x), "{M, K}", "NOPE")
    refused("give the shape", torch_tensor(memory(np.zeros((1, 2, 1, 1, 8), np.float32))), "NC1HWC0", "NCHW")
    rocm = torch_tensor(x)
    monkeypatch.setattr(type(rocm), "__dlpack_device__", lambda self: (10, 0))
    refused("device of DLPack's type 10", rocm)
    monkeypatch.setenv("RAVEL_MOCK_DEVICES", "2")
    refused("two devices", torch_tensor(x), out=torch_tensor(y, 1))
    assert refused("7", torch_tensor(x, 7)) == "DEVICE"
    for call, status in (("cuLaunchKernel:719", "LAUNCH"), ("nvrtcCompileProgram:6", "COMPILE"), ("cuModuleLoadDataEx:209", "COMPILE")):
        monkeypatch.setenv("RAVEL_MOCK_FAIL", call)
        ravel.load("layout 'OTHER%d' { dims = { M, K }, order = { K, M } }" % len(call))
        assert refused("", torch_tensor(x), "{M, K}", "(M,K){K, M}" if call[:3] == "cuL" else "OTHER%d" % len(call), out=torch_tensor(y)) == status
    monkeypatch.delenv("RAVEL_MOCK_FAIL")


def test_no_elements(driver, memory, libraries, kernel):
    kernel(*TURN, "6,8", "f32")
    plan = ravel.compile(*TURN, (None, 8), "f32")
    y = plan(torch_tensor(memory(np.zeros((0, 8), np.float32))), shape=(0, 8))
    assert y.host.size == 0


RELAYOUT = """#include <stdint.h>
#include <stdlib.h>
void ravel_relayout(void *d, const void *s, uint32_t b) { if (!getenv("BAD")) for (int i = 0; !b && i < 32; i++) ((char *)d)[i] = ((const char *)s)[i]; }
void ravel_relayout_check(void *d, const void *s, uint32_t b) { char *at = getenv("BAD"); if (at) *(int *)(uintptr_t)strtoull(at, NULL, 10) = 2; (void)d; (void)s; (void)b; }
"""


@pytest.mark.parametrize("make", [torch_tensor, cupy_array])
def test_index_arrays(driver, memory, libraries, monkeypatch, tmp_path, make):
    """Both kernels get the addresses of the arrays and of a number that is 0; what the first finds there is raised."""
    (tmp_path / "k.c").write_text(RELAYOUT)
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", tmp_path / "k.so", tmp_path / "k.c"], check=True)
    monkeypatch.setenv("RAVEL_MOCK_KERNELS", str(tmp_path / "k.so"))
    monkeypatch.setenv("RAVEL_MOCK_ARRAYS", "3")
    given = (ct.c_uint64 * 3).in_dll(driver, "mock_arrays")
    host = np.random.default_rng(6).random((6, 8), np.float32)
    x, rows, cols = make(memory(host)), make(memory(np.array([1, 0]))), make(memory(np.array([1, 2, 3, 0], np.int32)))
    text, flags = "{M, K}(6,8)[rows][:, i32 cols]", []
    original = type(x).item

    def item(self):
        flags.append(self.host)
        wait(driver)
        return original(self)

    monkeypatch.setattr(OnDevice, "item", item)
    plan = ravel.compile(text, "{M, K}", (2, 4), "f32")
    y = plan(x, index={"rows": rows, "cols": cols})
    assert plan.arrays == ("cols", "rows") and list(given) == [cols.host.ctypes.data, rows.host.ctypes.data, flags[0].ctypes.data]
    assert flags[0].dtype == np.int32 and np.array_equal(y.host.reshape(-1), host.reshape(-1)[:8])
    out = make(memory(np.zeros((2, 4), np.float32)))
    assert ravel.convert(x, text, "{M, K}", shape=(2, 4), index={"rows": rows, "cols": cols}, out=out) is out and out.host.any()
    with pytest.raises(ravel.Error, match=r"'cols' has shape \(4,\) and type int64: it must have shape \(4,\), of int32"):
        plan(x, index={"rows": rows, "cols": make(memory(np.arange(4)))})
    with pytest.raises(ravel.Error, match=r"'rows' has shape \(3,\) and type int64: it must have shape \(2,\)"):
        plan(x, index={"rows": make(memory(np.arange(3))), "cols": cols})
    with pytest.raises(ravel.Error, match="index array 'rows': give its numbers"):
        plan(x, index={"cols": cols})
    with pytest.raises(ravel.Error, match="beside arrays of torch and CuPy"):
        plan(Interface(x.host), Interface(out.host), index={"rows": Interface(rows.host), "cols": Interface(cols.host)})

    def item_bad(self):
        monkeypatch.setenv("BAD", str(self.host.ctypes.data))
        return item(self)

    monkeypatch.setattr(OnDevice, "item", item_bad)
    before = out.host.copy()
    with pytest.raises(ravel.Error, match="a number of the index array 'rows' is out of range: nothing was written"):
        plan(x, out, index={"rows": rows, "cols": cols})
    assert np.array_equal(out.host, before)


def test_strides_by_name(driver, memory, libraries, kernel, monkeypatch):
    """The values follow the extents, as launches on the CPU have them."""
    kernel(*TURN, "6,8", "f32")
    monkeypatch.setenv("RAVEL_MOCK_VALUES", "1")
    x = torch_tensor(memory(np.zeros(5*12 + 8, np.float32)))
    y = ravel.convert(x, "{M, K}@(ld,1)", "(M,K){K, M}", shape=(6, 8), values={"ld": 12})
    assert y.host.shape == (8, 6) and 12 in list((ct.c_int64 * 64).in_dll(driver, "mock_values"))
