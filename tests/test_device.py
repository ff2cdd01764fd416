"""runtime/ravel_gpu.h: every answer it can give, by stand-ins for the CUDA driver and NVRTC (tests/mock) in which any call can be had to fail, by
the real OpenCL loader with PoCL behind it, and by the real NVRTC where there is one."""

import ctypes as ct
import glob
import json
import os
import re
import shutil
import subprocess
import threading

import numpy as np
import pytest

import gpu_api
import ravel
from gpu_api import Info, Source

HERE = ravel.ROOT / "tests"
CUDA, OPENCL = 0, 1
BYTES = 5000
PLAIN = pytest.mark.skipif("RAVEL_AGAIN" in os.environ, reason="with the plain build only")


class State(ct.Structure):
    """mock_cuda"""
    _fields_ = [(n, ct.c_int) for n in ("modules", "loads", "launches", "blocks", "retained")] + [
        ("stream", ct.c_void_p), ("block", ct.c_uint), ("shared", ct.c_uint)]


@pytest.fixture(scope="module")
def lib():
    return gpu_api.lib


def compiled(folder, name, source, *flags):
    out = folder / (name + ".so")
    subprocess.run(["gcc", "-shared", "-fPIC", "-O0", "-Wall", "-Wextra", "-Werror", *flags, "-o", out, source, "-ldl", "-lpthread"], check=True)
    return str(out)


# One call is one block.
KERNELS = """
#include <stdint.h>
void copy(unsigned char *dst, const unsigned char *src, uint32_t block)
{
    for (int t = 0; t < 64; t++)
        if (64*block + t < 5000)
            dst[64*block + t] = src[64*block + t];
}
void flip(unsigned char *dst, const unsigned char *src, uint32_t block)
{
    for (int t = 0; t < 64; t++)
        if (64*block + t < 5000)
            dst[64*block + t] = 255 - src[64*block + t];
}
"""


@pytest.fixture(scope="module")
def mocks(tmp_path_factory):
    """Paths: the stand-ins, and each without one function."""
    folder = tmp_path_factory.mktemp("mocks")
    (folder / "kernels.c").write_text(KERNELS)
    out = {name: compiled(folder, name, HERE / "mock" / ("mock_%s.c" % name)) for name in ("cuda", "nvrtc", "opencl")}
    out["kernels"] = compiled(folder, "kernels", folder / "kernels.c")
    out["cuda less"] = compiled(folder, "cuda_less", HERE / "mock/mock_cuda.c", "-DcuLaunchKernel=other")
    out["nvrtc less"] = compiled(folder, "nvrtc_less", HERE / "mock/mock_nvrtc.c", "-DnvrtcGetCUBIN=other")
    out["opencl less"] = compiled(folder, "opencl_less", HERE / "mock/mock_opencl.c", "-DclSetKernelArg=other")
    return out


@pytest.fixture
def env(mocks, monkeypatch):
    """An environment with the stand-ins in it."""
    def set_all(**kw):
        for key, value in kw.items():
            monkeypatch.setenv(key, str(value)) if value is not None else monkeypatch.delenv(key, raising=False)
    set_all(RAVEL_CUDA_LIBRARY=mocks["cuda"], RAVEL_NVRTC_LIBRARY=mocks["nvrtc"], RAVEL_MOCK_KERNELS=mocks["kernels"], RAVEL_MOCK_FAIL=None)
    return set_all


@pytest.fixture
def cuda(mocks, env):
    """The stand-in driver, called by the test as a program with CUDA calls it."""
    so = ct.CDLL(mocks["cuda"])
    so.cuMemFree_v2.argtypes, so.cuMemcpyDtoH_v2.argtypes = [ct.c_uint64], [ct.c_void_p, ct.c_uint64, ct.c_size_t]
    so.cuMemcpyHtoD_v2.argtypes, so.cuMemAlloc_v2.argtypes = [ct.c_uint64, ct.c_void_p, ct.c_size_t], [ct.c_void_p, ct.c_size_t]
    so.cuCtxPushCurrent_v2.argtypes = so.cuStreamSynchronize.argtypes = [ct.c_void_p]
    so.state = State.in_dll(so, "mock_cuda")
    assert so.cuInit(0) == 0
    so.mock_reset()
    yield so
    assert so.state.modules == so.state.retained == 0, "not all was given back"


@pytest.fixture
def compiles(mocks):
    so = ct.CDLL(mocks["nvrtc"])
    return lambda: ct.c_int.in_dll(so, "mock_nvrtc_compiles").value


class Device:
    def __init__(self, lib, how, *args):
        self.lib, self.p = lib, ct.c_void_p()
        ravel.call(getattr(lib, "ravel_device_" + how), *args, ct.byref(self.p))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.lib.ravel_device_free(self.p)

    def compile(self, source="text", entry="copy", grid=-(-BYTES//64), block=64, shared=0, options=None):
        k = ct.c_void_p()
        s = Source(source.encode(), entry.encode(), grid, block, shared, None if options is None else options.encode())
        ravel.call(self.lib.ravel_device_compile, self.p, ct.byref(s), ct.byref(k))
        return k

    def free(self, *kernels):
        for k in kernels:
            self.lib.ravel_device_kernel_free(k)

    def launch(self, k, dst, src, queue=None):
        ravel.call(self.lib.ravel_device_launch, k, queue, dst, src)

    def about(self):
        i = Info()
        assert self.lib.ravel_device_about(self.p, ct.byref(i))
        return i

    def handles(self):
        h = [ct.c_void_p() for _ in range(3)]
        self.lib.ravel_device_handles(self.p, *[ct.byref(x) for x in h])
        return [x.value for x in h]


def listed(lib, kind, room=8):
    out, n = (Info * max(1, room))(), ct.c_int(-1)
    ravel.call(lib.ravel_device_list, kind, out, room, ct.byref(n))
    return n.value, out[:min(n.value, room)]


def refused(f, *args, **kw):
    with pytest.raises(ravel.Error) as e:
        f(*args, **kw)
    return e.value.status, e.value.text


def everything(lib, kind):
    """All there is between a list of devices and a launch, whatever fails given back."""
    listed(lib, kind)
    with Device(lib, "open", kind, 0) as d:
        k = d.compile(*([COPY_CL] if kind == OPENCL else []))
        try:
            if kind == CUDA:
                d.launch(k, 32, 16)              # never looked at
            else:
                m = Buffers(d, 2)
                d.launch(k, m.mem[0], m.mem[1])
                m.free()
        finally:
            d.free(k)


# --- CUDA

class Memory:
    """Two blocks of the device's memory: dst is zero, src random."""
    def __init__(self, cuda, seed=1):
        self.cuda = cuda
        self.data = np.random.default_rng(seed).integers(0, 256, BYTES, np.uint8)
        self.dst, self.src = self.take(np.zeros(BYTES, np.uint8)), self.take(self.data)

    def take(self, data):
        p = ct.c_uint64()
        assert self.cuda.cuMemAlloc_v2(ct.byref(p), data.size) == 0
        assert self.cuda.cuMemcpyHtoD_v2(p.value, data.ctypes.data, data.size) == 0
        return p.value

    def peek(self):
        """What is there now; nothing is waited for: the stand-in's memory is the host's."""
        return np.ctypeslib.as_array((ct.c_uint8 * BYTES).from_address(self.dst)).copy()

    def free(self):
        assert self.cuda.cuMemFree_v2(self.dst) == self.cuda.cuMemFree_v2(self.src) == 0


@pytest.fixture
def current(cuda):
    """A context of the caller's, current on this thread."""
    c = ct.c_void_p()
    assert cuda.cuCtxCreate_v2(ct.byref(c), 0, 0) == 0
    yield c.value
    now = ct.c_void_p()
    assert cuda.cuCtxPopCurrent_v2(ct.byref(now)) == 0 and now.value == c.value


def test_list(lib, env):
    env(RAVEL_MOCK_DEVICES=3, RAVEL_MOCK_ARCH=86)
    n, infos = listed(lib, CUDA)
    assert n == 3 and [(i.ordinal, i.name, i.version, i.driver) for i in infos] == [
        (k, b"Mock %d" % k, b"sm_86", b"CUDA 13.1") for k in range(3)]
    assert (infos[0].kind, infos[0].block, infos[0].shared, infos[0].grid, infos[0].processors) == (CUDA, 1024, 48 << 10, 2**31 - 1, 132)
    assert listed(lib, CUDA, 1)[0] == 3 and listed(lib, CUDA, 0)[0] == 3


def test_launch_on_the_callers_context(lib, cuda, current):
    m, stream = Memory(cuda), 0x5000
    with Device(lib, "of_cuda") as d:
        assert d.about().ordinal == -1 and d.handles() == [current, None, None]
        k = d.compile()
        d.launch(k, m.dst, m.src, stream)
        assert cuda.state.stream == stream and cuda.state.block == 64 and cuda.state.shared == 0
        assert not m.peek().any(), "the launch waited"
        assert cuda.cuStreamSynchronize(stream) == 0
        assert np.array_equal(m.peek(), m.data)
        d.free(k)
    m.free()
    assert cuda.state.modules == 0


def test_launch_from_a_thread_with_another_context(lib, cuda, current):
    """The context is made current for the call alone."""
    m, other, seen = Memory(cuda), ct.c_void_p(), []
    with Device(lib, "of_cuda") as d:
        k = d.compile(entry="flip")

        def work():
            now = ct.c_void_p(1)
            assert cuda.cuCtxGetCurrent(ct.byref(now)) == 0
            seen.append(now.value)
            assert cuda.cuCtxCreate_v2(ct.byref(other), 0, 0) == 0
            d.launch(k, m.dst, m.src)
            assert cuda.cuCtxGetCurrent(ct.byref(now)) == 0
            seen.append(now.value)
        t = threading.Thread(target=work)
        t.start()
        t.join()
        assert seen == [None, other.value]
        assert cuda.cuCtxSynchronize() == 0 and np.array_equal(m.peek(), 255 - m.data)
        d.free(k)
    m.free()


def test_no_current_context(lib, cuda):
    status, text = refused(Device, lib, "of_cuda")
    assert status == "ARGUMENT" and "current" in text


def test_primary_context(lib, cuda):
    before = cuda.state.retained
    d = Device(lib, "open", CUDA, 0)
    assert cuda.state.retained == before + 1
    k = d.compile()
    d.__exit__()
    assert cuda.state.retained == before + 1, "its kernel is left"
    assert cuda.state.modules == 1
    d.free(k)
    assert cuda.state.retained == before and cuda.state.modules == 0


# --- what can be missing

def test_absent_library(lib, env, tmp_path):
    nothing = tmp_path / "none.so"
    for kind, variable in ((CUDA, "RAVEL_CUDA_LIBRARY"), (OPENCL, "RAVEL_OPENCL_LIBRARY")):
        env(**{variable: nothing})
        for answer in (refused(listed, lib, kind), refused(Device, lib, "open", kind, 0)):
            assert answer[0] == "LIBRARY" and str(nothing) in answer[1], answer
    assert refused(Device, lib, "of_opencl", 16, 16)[0] == "LIBRARY"
    assert refused(Device, lib, "of_cuda")[0] == "LIBRARY"


def test_no_library_at_all(lib, env):
    """The usual names, where nothing has them."""
    env(RAVEL_CUDA_LIBRARY=None)
    if any("libcuda.so.1" in line for line in subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True).stdout.splitlines()):
        pytest.skip("there is a CUDA driver")
    status, text = refused(listed, lib, CUDA)
    assert status == "LIBRARY" and "libcuda.so.1" in text


@pytest.mark.parametrize("which, variable, kind, function", [
    ("cuda less", "RAVEL_CUDA_LIBRARY", CUDA, "cuLaunchKernel"), ("opencl less", "RAVEL_OPENCL_LIBRARY", OPENCL, "clSetKernelArg")])
def test_missing_symbol(lib, env, mocks, which, variable, kind, function):
    env(**{variable: mocks[which]})
    for status, text in (refused(listed, lib, kind), refused(Device, lib, "open", kind, 0)):
        assert status == "SYMBOL" and text.endswith(function) and mocks[which] in text


def test_missing_compiler(lib, env, mocks, cuda):
    """NVRTC is asked for when there is something to compile; devices are there without it."""
    with Device(lib, "open", CUDA, 0) as d:
        env(RAVEL_NVRTC_LIBRARY="/nothing.so")
        status, text = refused(d.compile)
        assert status == "LIBRARY" and "NVRTC" in text and "/nothing.so" in text
        env(RAVEL_NVRTC_LIBRARY=mocks["nvrtc less"])
        status, text = refused(d.compile)
        assert status == "SYMBOL" and text.endswith("nvrtcGetCUBIN")
        env(RAVEL_NVRTC_LIBRARY=mocks["nvrtc"])
        d.free(d.compile())


def test_no_device(lib, env, cuda):
    env(RAVEL_MOCK_DEVICES=0)
    for answer in (refused(listed, lib, CUDA), refused(Device, lib, "open", CUDA, 0)):
        assert answer == ("DEVICE", "cuInit: CUDA_ERROR_NO_DEVICE (100)")
    env(RAVEL_MOCK_DEVICES=-1)
    assert refused(listed, lib, CUDA)[0] == "DEVICE"
    env(RAVEL_MOCK_DEVICES=2)
    status, text = refused(Device, lib, "open", CUDA, 2)
    assert status == "DEVICE" and "there are 2" in text


# --- failures, one call at a time

DRIVER = "cuInit cuDeviceGetCount cuDeviceGet cuDeviceGetName cuDriverGetVersion cuDeviceTotalMem cuDeviceGetAttribute " \
         "cuDevicePrimaryCtxRetain cuCtxPushCurrent nvrtcGetNumSupportedArchs nvrtcGetSupportedArchs nvrtcCreateProgram " \
         "nvrtcGetCUBINSize nvrtcGetCUBIN"
FAILURES = {**dict.fromkeys(DRIVER.split(), "DRIVER"), "cuModuleLoadDataEx": "COMPILE", "cuModuleGetFunction": "COMPILE",
            "nvrtcCompileProgram": "COMPILE", "cuLaunchKernel": "LAUNCH"}


@pytest.mark.parametrize("call", FAILURES)
def test_every_call_fails(lib, env, mocks, cuda, call):
    nvrtc = ct.CDLL(mocks["nvrtc"])
    before = cuda.state.modules, cuda.state.retained, ct.c_int.in_dll(nvrtc, "mock_nvrtc_programs").value
    env(RAVEL_MOCK_FAIL=call + ":719")
    status, text = refused(everything, lib, CUDA)
    assert status == FAILURES[call] and "(719)" in text, text
    assert call in text or call == "nvrtcCompileProgram"
    if call[:2] == "cu":
        assert "CUDA_ERROR_LAUNCH_FAILED" in text
    env(RAVEL_MOCK_FAIL=None)
    assert (cuda.state.modules, cuda.state.retained, ct.c_int.in_dll(nvrtc, "mock_nvrtc_programs").value) == before
    everything(lib, CUDA)


@pytest.mark.parametrize("fail", ["nvrtcCompileProgram:1", "nvrtcCreateProgram:1", "cuModuleLoadDataEx:2", "cuDevicePrimaryCtxRetain:2"])
def test_out_of_memory(lib, env, fail):
    env(RAVEL_MOCK_FAIL=fail)
    assert refused(everything, lib, CUDA)[0] == "MEMORY"


def test_a_code_without_a_name(lib, env):
    env(RAVEL_MOCK_FAIL="cuInit:12345")
    assert refused(listed, lib, CUDA) == ("DRIVER", "cuInit: unknown to the driver (12345)")


def test_a_release_that_fails(lib, env, cuda):
    """There is nobody to tell; nothing is lost but what the driver keeps."""
    before = cuda.state.retained
    d = Device(lib, "open", CUDA, 0)
    k = d.compile()
    env(RAVEL_MOCK_FAIL="cuModuleUnload:719,cuCtxPushCurrent:719")
    d.free(k)
    d.__exit__()
    assert cuda.state.retained == before
    cuda.mock_reset()


def test_a_kernel_that_goes_wrong_later(lib, cuda, current):
    """The launch is taken; the next call of the driver tells."""
    m = Memory(cuda)
    with Device(lib, "of_cuda") as d:
        k = d.compile()
        d.launch(k, m.dst, 8)
        assert cuda.cuCtxSynchronize() == 700
        status, text = refused(d.launch, k, m.dst, m.src)
        assert status == "LAUNCH" and "CUDA_ERROR_ILLEGAL_ADDRESS" in text
        d.free(k)
    cuda.mock_reset()
    m.free()


# --- compiling

def test_compile_failure(lib, cuda):
    with Device(lib, "open", CUDA, 0) as d:
        status, text = refused(d.compile, "\n#error\n")
        assert status == "COMPILE"
        assert text.startswith("NVRTC does not compile the kernel: NVRTC_ERROR_COMPILATION (6):\nravel.cu(0): error: the mock saw #error\n")
        assert len(text) == 1023 and text.endswith(" ...")
        status, text = refused(d.compile, entry="none")
        assert status == "COMPILE" and "'none'" in text and "CUDA_ERROR_NOT_FOUND" in text


@pytest.mark.parametrize("call", ["nvrtcGetProgramLogSize", "nvrtcGetProgramLog"])
def test_compile_failure_without_a_log(lib, env, call):
    env(RAVEL_MOCK_FAIL=call + ":11")
    with Device(lib, "open", CUDA, 0) as d:
        assert refused(d.compile, "#error") == ("COMPILE", "NVRTC does not compile the kernel: NVRTC_ERROR_COMPILATION (6)")


def image(cuda):
    n = ct.c_size_t.in_dll(cuda, "mock_image_bytes").value
    return bytes((ct.c_char * n).in_dll(cuda, "mock_image"))


@pytest.mark.parametrize("arch, knows, target", [
    (90, "75,80,90", "sm_90"), (80, "90,80,75", "sm_80"), (103, "75,80,90", "compute_90"), (86, "75,80,90", "compute_80"), (120, "75", "compute_75")])
def test_target(lib, env, cuda, arch, knows, target):
    """Code for the device; PTX of the newest that NVRTC knows where the device is newer."""
    env(RAVEL_MOCK_ARCH=arch, RAVEL_MOCK_ARCHS=knows)
    with Device(lib, "open", CUDA, 0) as d:
        d.free(d.compile("TEXT", options="  -DA=1 --use_fast_math\t-lineinfo "))
    assert image(cuda) == b"mock %s\n-DA=1\n--use_fast_math\n-lineinfo\nTEXT" % target.encode()


def test_a_device_that_is_too_old(lib, env):
    env(RAVEL_MOCK_ARCH=61)
    with Device(lib, "open", CUDA, 0) as d:
        assert refused(d.compile) == ("COMPILE", "NVRTC compiles for sm_75 and newer; the device is sm_61")


def test_many_options(lib, cuda):
    with Device(lib, "open", CUDA, 0) as d:
        d.free(d.compile(options=" ".join("-DA%d" % i for i in range(63))))
        assert refused(d.compile, options=" ".join("-DA%d" % i for i in range(64)))[0] == "COMPILE"


LIMITS = [({"grid": -1}, "grid"), ({"grid": 2**31}, "grid"), ({"grid": 2**63 - 1}, "grid"), ({"block": 0}, "threads"), ({"block": 1025}, "threads"),
          ({"block": -2**31}, "threads"), ({"shared": -1}, "share"), ({"shared": (48 << 10) + 1}, "share"), ({"entry": ""}, "name")]


@pytest.mark.parametrize("what, says", LIMITS)
def test_limits(lib, cuda, what, says):
    with Device(lib, "open", CUDA, 0) as d:
        status, text = refused(d.compile, **what)
        assert status == "ARGUMENT" and says in text
        d.free(d.compile(block=1024, shared=48 << 10, grid=2**31 - 1))


def test_arguments(lib, cuda, env):
    n, k = ct.c_int(), ct.c_void_p()
    assert refused(ravel.call, lib.ravel_device_list, 2, None, 0, ct.byref(n))[0] == "ARGUMENT"
    assert refused(ravel.call, lib.ravel_device_list, CUDA, None, 1, ct.byref(n))[0] == "ARGUMENT"
    assert refused(ravel.call, lib.ravel_device_list, CUDA, None, 0, None)[0] == "ARGUMENT"
    for args in ((7, 0), (-1, 0), (CUDA, -1)):
        assert refused(Device, lib, "open", *args)[0] == "ARGUMENT"
    assert refused(Device, lib, "of_opencl", None, 16)[0] == "ARGUMENT"
    assert refused(ravel.call, lib.ravel_device_open, CUDA, 0, None)[0] == "ARGUMENT"
    assert refused(ravel.call, lib.ravel_device_launch, None, None, 16, 16)[0] == "ARGUMENT"
    assert refused(ravel.call, lib.ravel_device_set_cache, None, 1, 1)[0] == "ARGUMENT"
    assert not lib.ravel_device_about(None, ct.byref(Info()))
    lib.ravel_device_free(None)
    lib.ravel_device_kernel_free(None)
    with Device(lib, "open", CUDA, 0) as d:
        assert refused(ravel.call, lib.ravel_device_set_cache, d.p, -1, 1)[0] == "ARGUMENT"
        assert refused(ravel.call, lib.ravel_device_compile, d.p, None, ct.byref(k))[0] == "ARGUMENT"
        assert refused(ravel.call, lib.ravel_device_compile, d.p, ct.byref(Source(None, b"copy", 1, 1, 0, None)), ct.byref(k))[0] == "ARGUMENT"
        good, empty = d.compile(), d.compile(grid=0)
        assert refused(d.launch, good, None, 16)[0] == refused(d.launch, good, 16, None)[0] == "ARGUMENT"
        assert refused(d.launch, good, 16, 16)[0] == "ARGUMENT"
        before = cuda.state.launches
        d.launch(empty, None, None)
        assert cuda.state.launches == before
        d.free(good, empty)


# --- what a device keeps

def test_kept_texts(lib, cuda, compiles):
    """What it takes to compile is what the text is found by; entry and grid are not."""
    with Device(lib, "open", CUDA, 0) as d:
        n, kernels = compiles(), []
        for times, what in [(1, {}), (1, {}), (1, {"entry": "flip"}), (1, {"grid": 1, "block": 7}), (2, {"options": "-DA"}), (2, {"options": "-DA"}),
                            (2, {"options": ""}), (3, {"source": "Text"}), (3, {"source": "Text"}), (4, {"source": "Tex", "options": "t"})]:
            kernels.append(d.compile(**what))
            assert compiles() == n + times, what
        assert cuda.state.modules == 4
        d.free(*kernels)
        assert cuda.state.modules == 4
        d.free(d.compile())
        assert compiles() == n + 4
    assert cuda.state.modules == 0
    with Device(lib, "open", CUDA, 0) as d:
        d.free(d.compile())
        assert compiles() == n + 5, "another device keeps its own"


def test_least_recently_used_goes(lib, cuda, compiles):
    with Device(lib, "open", CUDA, 0) as d:
        ravel.call(lib.ravel_device_set_cache, d.p, 2, 1 << 20)
        for source, is_new in [("a", 1), ("b", 1), ("a", 0), ("c", 1), ("a", 0), ("b", 1), ("c", 1), ("b", 0), ("a", 1)]:
            n = compiles()
            d.free(d.compile(source))
            assert (source, compiles() - n) == (source, is_new)
            assert cuda.state.modules <= 2
        ravel.call(lib.ravel_device_set_cache, d.p, 1, 1 << 20)
        assert cuda.state.modules == 1
        ravel.call(lib.ravel_device_set_cache, d.p, 9, 10000)
        for i in range(9):
            d.free(d.compile("x" * 2000 + str(i)))       # text and code: twice that
        assert cuda.state.modules == 2
        d.free(d.compile("y" * 20000))
        assert cuda.state.modules == 2, "too large to be kept"
        ravel.call(lib.ravel_device_set_cache, d.p, 0, 1 << 20)
        assert cuda.state.modules == 0


def test_a_text_in_use_outlives_the_cache(lib, cuda, current):
    m = Memory(cuda)
    with Device(lib, "of_cuda") as d:
        k = d.compile("a")
        ravel.call(lib.ravel_device_set_cache, d.p, 0, 0)
        assert cuda.state.modules == 1
        d.launch(k, m.dst, m.src)
        assert cuda.cuCtxSynchronize() == 0 and np.array_equal(m.peek(), m.data)
        d.free(k)
        assert cuda.state.modules == 0
    m.free()


def together(n, work):
    """work(i) on n threads at once; the first exception of theirs."""
    wrong, gate = [], threading.Barrier(n)

    def run(i):
        gate.wait()
        try:
            work(i)
        except BaseException as e:
            wrong.append(e)
    threads = [threading.Thread(target=run, args=(i,)) for i in range(n)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    if wrong:
        raise wrong[0]


def test_threads(lib, cuda, current):
    """Eight threads compile the same and other texts while the cache is too small for them, and launch."""
    ms = [Memory(cuda, i) for i in range(8)]
    with Device(lib, "of_cuda") as d:
        ravel.call(lib.ravel_device_set_cache, d.p, 3, 1 << 20)
        shared = d.compile("shared")

        def work(i):
            for r in range(60):
                k = d.compile("text %d" % ((i + r) % 6), entry="flip" if r % 2 else "copy")
                d.launch(k, ms[i].dst, ms[i].src, 16 + i)
                assert cuda.cuCtxPushCurrent_v2(current) == 0
                assert cuda.cuStreamSynchronize(16 + i) == 0
                assert cuda.cuCtxPopCurrent_v2(ct.byref(ct.c_void_p())) == 0
                assert np.array_equal(ms[i].peek(), 255 - ms[i].data if r % 2 else ms[i].data)
                d.launch(shared, ms[i].dst, ms[i].src)
                d.free(k)
        together(8, work)
        assert cuda.cuCtxSynchronize() == 0 and all(np.array_equal(m.peek(), m.data) for m in ms)
        d.free(shared)
    assert cuda.state.modules == 0
    for m in ms:
        m.free()


# --- our prototypes against the vendors' headers, where they are installed

def functions(path):
    """(what it returns, name, suffix of the symbol, parameters) of the table of functions that a file includes."""
    text = (ravel.ROOT / "runtime" / path).read_text()
    columns = re.search(r"#define F\((.*)\)", text)[1].split(", ")
    table = (ravel.ROOT / "runtime" / re.search(r'#include "(device_\w+\.def)"', text)[1]).read_text()
    rows = (" " + table.replace("\n", " ")).split(" F(")[2:]           # the first is in the comment
    out = []
    for row in rows:
        front, params = row.split("(", 1)
        got = dict(zip(columns, [c.strip() for c in front.split(",")]))
        out.append((got.get("type", "int"), got["name"], got.get("suffix", ""), "(" + params.rstrip()[:-1]))
    assert len(out) > 10
    return out


SAME = """
#include <stddef.h>
#include <stdint.h>
#include <%s>
#include <type_traits>
namespace ours { %s }
template <class A, class B> constexpr bool alike = sizeof(A) == sizeof(B) && std::is_pointer<A>::value == std::is_pointer<B>::value;
template <class A, class B> struct same : std::false_type {};
template <class R, class S> struct same<R(), S()> : std::integral_constant<bool, alike<R, S>> {};
template <class R, class S, class A, class... B, class C, class... D> struct same<R(A, B...), S(C, D...)>
    : std::integral_constant<bool, alike<A, C> && same<R(B...), S(D...)>::value> {};
%s
"""


PREFIXES = ["CUDA_ERROR_", "CU_DEVICE_ATTRIBUTE_", "CU_", "NVRTC_", "CL_", "CL_DEVICE_"]


def check_numbers(folder, flags, header, file, path):
    """Our names for the vendor's numbers are the vendor's, less a prefix."""
    vendor, text = open(file).read(), (ravel.ROOT / "runtime" / path).read_text()
    ours = re.findall(r"\b([A-Z][A-Z_]+[A-Z]) = (-?\w+)\b", text)
    ours = [(n, v) for n, v in ours if not n.endswith("_MAX") and n != "PLATFORM_NOT_FOUND"]    # the last is an extension's
    found = [(p + n, v) for n, v in ours for p in PREFIXES if re.search(r"\b%s\b" % (p + n), vendor)]
    assert [n for n, _ in ours if not any(f.endswith(n) for f, _ in found)] == []
    if header.startswith("CL"):
        codes = re.findall(r'\[(\d+)\] = "(\w+)"', (ravel.ROOT / "runtime/device_code.c").read_text())
        found += [(name, "-" + code) for code, name in codes if code != "1001"]
    (folder / "numbers.cc").write_text("#include <%s>\n" % header + "".join("static_assert(%s == %s, \"\");\n" % f for f in found))
    subprocess.run(["g++", *flags, "-fsyntax-only", folder / "numbers.cc"], check=True)


@PLAIN
@pytest.mark.parametrize("header, path, types", [
    ("cuda.h", "device_cuda.h", "typedef void *Context, *Module, *Function, *Stream; typedef unsigned long long Pointer;"),
    ("nvrtc.h", "device_nvrtc.c", "typedef void *Program;"),
    ("CL/cl.h", "device_opencl.h", "typedef void *Platform, *Device, *Context, *Queue, *Program, *Kernel, *Memory, *Event, *Notify; typedef uint64_t Flags;")],
    ids=["cuda", "nvrtc", "opencl"])
def test_prototypes(header, path, types, tmp_path):
    """As many parameters, of the same sizes, pointers where they have pointers; the symbol that the header's name stands for."""
    where = [p for p in ["/usr/local/cuda/include", "/usr/include"] if os.path.exists(os.path.join(p, header))]
    if not where:
        pytest.skip("no " + header)
    rows = functions(path)
    typedefs = types + "".join("typedef %s %s%s;" % (kind, name + "_", params) for kind, name, _, params in rows)
    checks = "".join('static_assert(same<ours::%s_, decltype(%s)>::value, "%s");\n' % (name, name, name) for _, name, _, _ in rows)
    (tmp_path / "same.cc").write_text(SAME % (header, typedefs, checks))
    flags = ["-std=c++17", "-I", where[0], "-DCL_TARGET_OPENCL_VERSION=120", "-w"]
    subprocess.run(["g++", *flags, "-fsyntax-only", tmp_path / "same.cc"], check=True)
    check_numbers(tmp_path, flags, header, os.path.join(where[0], header), path)
    if header == "cuda.h":
        (tmp_path / "names.cc").write_text("#include <cuda.h>\n" + "".join("@%s\n" % name for _, name, _, _ in rows))
        said = subprocess.run(["g++", *flags, "-E", "-P", tmp_path / "names.cc"], check=True, capture_output=True, text=True).stdout
        assert re.findall(r"^@ ?(\w+)", said, re.M) == [name + suffix for _, name, suffix, _ in rows]


# --- the device's memory: tests/unit/device_memory.c, a process of its own, where leaks count in the sanitizer build

BUILDS = [ravel.BUILD, ravel.ROOT / os.environ.get("RAVEL_ASAN", "build-asan")]


def through_memory(build, kind, source, entry="copy", **kw):
    program = build / "tests/device_memory"
    if not program.exists():
        pytest.skip("%s is not built: make unit" % program)
    return subprocess.run([program, str(kind), source, entry], env={**os.environ, **kw}, capture_output=True, text=True, timeout=60)


@PLAIN
@pytest.mark.parametrize("build", BUILDS, ids=["plain", "sanitized"])
def test_memory(cuda, build):
    r = through_memory(build, CUDA, "text")
    assert (r.returncode, r.stdout, r.stderr) == (0, "ok\n", "")
    for call in ("cuMemAlloc", "cuMemcpyHtoD", "cuMemcpyDtoH", "cuCtxSynchronize", *FAILURES):
        for code, status in ((719, FAILURES.get(call, "DRIVER")), (2, "MEMORY")):
            r = through_memory(build, CUDA, "text", RAVEL_MOCK_FAIL="%s:%d" % (call, code))
            want = FAILURES.get(call) if call[:5] == "nvrtc" or call == "cuLaunchKernel" else status
            assert r.returncode == 0 and r.stdout.startswith("%d " % ravel.STATUS.index(want)) and not r.stderr, (call, code, r)


def test_memory_of_opencl(opencl, mocks):
    r = through_memory(BUILDS[0], OPENCL, COPY_CL)
    assert (r.returncode, r.stdout) == (0, "ok\n"), r
    for call in ("clCreateBuffer", "clEnqueueWriteBuffer", "clFinish"):
        r = through_memory(BUILDS[0], OPENCL, COPY_CL, RAVEL_OPENCL_LIBRARY=mocks["opencl"], RAVEL_MOCK_FAIL=call + ":-36")
        assert r.stdout == "%d %s: CL_INVALID_COMMAND_QUEUE (-36)\n" % (ravel.STATUS.index("DRIVER"), call), r


@PLAIN
def test_every_allocation_fails(cuda, tmp_path):
    """The host's memory, one allocation at a time and from one on; dlopen's too, which calls that an absent library."""
    shim, log, statuses = compiled(tmp_path, "alloc", HERE / "fault_alloc.c"), tmp_path / "log", {}
    assert through_memory(BUILDS[0], CUDA, "text", LD_PRELOAD=shim, FAULT_LOG=str(log)).stdout == "ok\n"
    n = log.stat().st_size // 8
    for at in range(n):
        for do in ("one", "rest"):
            r = through_memory(BUILDS[0], CUDA, "text", LD_PRELOAD=shim, FAULT_AT=str(at), FAULT_DO=do)
            status = "OK" if r.stdout == "ok\n" else ravel.STATUS[int((r.stdout or "-1 ").split()[0])] if r.stdout else "OK"
            assert r.returncode == 0 and status in ("OK", "MEMORY", "LIBRARY", "COMPILE"), (at, do, r)
            statuses[status] = statuses.get(status, 0) + 1
    print("# faults: %d allocations, %s" % (n, statuses))
    assert statuses["MEMORY"] > 5


# --- a real device, where there is one

def test_real_device(lib, monkeypatch):
    for name in ("CUDA", "NVRTC"):
        monkeypatch.delenv("RAVEL_%s_LIBRARY" % name, raising=False)
    try:
        listed(lib, CUDA)
    except ravel.Error as e:
        pytest.skip("no CUDA device: " + e.text)
    for source in (COPY_CUDA, COPY_CUDA.replace("i < 5000", "i < 5000 && i != 4999")):
        r = through_memory(BUILDS[0], CUDA, source)
        assert (r.returncode, r.stdout) == ((0, "ok\n") if source == COPY_CUDA else (1, "wrong\n")), r
    r = through_memory(BUILDS[0], CUDA, "nonsense")
    assert r.stdout.startswith("%d NVRTC does not compile the kernel" % ravel.STATUS.index("COMPILE")), r


# --- ravel devices

def devices(*args):
    r = subprocess.run([ravel.BUILD / "ravel", "devices", *args], capture_output=True, text=True, env=os.environ)
    assert (r.returncode, r.stderr) == (0, "")
    return r.stdout


def test_command(env, mocks):
    env(RAVEL_MOCK_DEVICES=2, RAVEL_OPENCL_LIBRARY="/nothing.so")
    assert devices() == "".join("cuda    %d  Mock %d, sm_90, driver CUDA 13.1, 64 MiB, 132 processors\n" % (i, i) for i in range(2)) + \
        "opencl  -  the OpenCL loader is not there: /nothing.so: cannot open shared object file: No such file or directory\n" \
        "nvrtc      12.9, sm_75 to sm_90\n"
    said = json.loads(devices("--json"))
    assert [d["ordinal"] for d in said["devices"]] == [0, 1] and said["nvrtc"] == {"version": "12.9", "oldest": "sm_75", "newest": "sm_90"}
    assert said["devices"][1] == {"kind": "cuda", "ordinal": 1, "name": "Mock 1", "version": "sm_90", "driver": "CUDA 13.1", "memory": 64 << 20,
                                  "shared": 48 << 10, "block": 1024, "processors": 132}
    assert [(a["kind"], a["lacks"]) for a in said["absent"]] == [("opencl", "library")]


@pytest.mark.parametrize("what, lacks", [({"RAVEL_CUDA_LIBRARY": "cuda less"}, "symbol"), ({"RAVEL_MOCK_DEVICES": 0}, "device"),
                                         ({"RAVEL_MOCK_FAIL": "cuInit:719"}, "driver"), ({"RAVEL_CUDA_LIBRARY": "/nothing.so"}, "library")])
def test_command_without(env, mocks, what, lacks):
    env(RAVEL_OPENCL_LIBRARY="/nothing.so", RAVEL_NVRTC_LIBRARY="/nothing.so", **{k: mocks.get(v, v) for k, v in what.items()})
    said = json.loads(devices("--json"))
    assert said["devices"] == [] and "nvrtc" not in said
    assert [(a["kind"], a["lacks"]) for a in said["absent"]] == [("cuda", lacks), ("opencl", "library"), ("nvrtc", "library")]
    assert all(a["why"] for a in said["absent"]) and devices().count("  -  ") == 3


# --- OpenCL, for real: PoCL runs it on this processor

COPY_CL = """
__kernel void copy(__global uchar *dst, __global const uchar *src)
{
    size_t i = get_global_id(0);
    if (i < 5000)
        dst[i] = src[i];
}
"""

# 48 by 80 floats in tiles of 16 by 16
TRANSPOSE_CL = """
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void transpose(__global float *dst, __global const float *src)
{
    __local float tile[16][17];
    int b = get_group_id(0), t = get_local_id(0), r = t / 16, c = t % 16, y = 16 * (b / 5), x = 16 * (b % 5);
    tile[r][c] = src[80 * (y + r) + x + c];
    barrier(CLK_LOCAL_MEM_FENCE);
    dst[48 * (x + r) + y + c] = tile[c][r];
}
"""


class Buffers:
    """n buffers of the device's context, by calls of the test's own."""
    def __init__(self, d, n, size=BYTES):
        self.cl, self.size = ct.CDLL("libOpenCL.so.1"), size
        self.context, self.device, self.queue = d.handles()
        p = ct.c_void_p
        self.cl.clCreateBuffer.restype, self.cl.clCreateBuffer.argtypes = p, [p, ct.c_uint64, ct.c_size_t, p, p]
        copies = [p, p, ct.c_uint, ct.c_size_t, ct.c_size_t, p, ct.c_uint, p, p]
        self.cl.clEnqueueWriteBuffer.argtypes = self.cl.clEnqueueReadBuffer.argtypes = copies
        self.cl.clReleaseMemObject.argtypes = self.cl.clFinish.argtypes = [p]
        self.mem = [self.cl.clCreateBuffer(self.context, 1, size, None, None) for _ in range(n)]
        assert all(self.mem)

    def put(self, i, data, queue=None):
        assert self.cl.clEnqueueWriteBuffer(queue or self.queue, self.mem[i], 1, 0, data.nbytes, data.ctypes.data, 0, None, None) == 0

    def get(self, i, queue=None):
        out = np.empty(self.size, np.uint8)
        assert self.cl.clEnqueueReadBuffer(queue or self.queue, self.mem[i], 1, 0, self.size, out.ctypes.data, 0, None, None) == 0
        return out

    def free(self):
        for m in self.mem:
            assert self.cl.clReleaseMemObject(m) == 0


@pytest.fixture(scope="module")
def pocl_cache(tmp_path_factory):
    return tmp_path_factory.mktemp("pocl")


@pytest.fixture
def opencl(lib, env, pocl_cache):
    if "RAVEL_AGAIN" in os.environ:
        pytest.skip("PoCL on the plain build only")
    env(RAVEL_OPENCL_LIBRARY=None, POCL_CACHE_DIR=pocl_cache)
    try:
        listed(lib, OPENCL)
    except ravel.Error as e:
        pytest.skip("no OpenCL device (pocl-opencl-icd, ocl-icd-libopencl1): " + e.text)


@pytest.fixture
def device(lib, opencl):
    with Device(lib, "open", OPENCL, 0) as d:
        yield d


def test_opencl_list(lib, opencl):
    n, infos = listed(lib, OPENCL)
    i = infos[0]
    assert n >= 1 and i.kind == OPENCL and i.name and i.version.startswith(b"OpenCL ") and i.driver
    assert i.memory > 1 << 20 and i.shared >= 1 << 14 and i.block >= 256 and i.grid >= 1 << 31 and i.processors >= 1


def test_opencl_copy(device):
    m, data = Buffers(device, 2), np.random.default_rng(3).integers(0, 256, BYTES, np.uint8)
    m.put(0, np.zeros(BYTES, np.uint8))
    m.put(1, data)
    k = device.compile(COPY_CL)
    device.launch(k, m.mem[0], m.mem[1])
    assert np.array_equal(m.get(0), data)
    device.free(k)
    m.free()


def test_opencl_transpose_in_the_callers_context(lib, device):
    """The context of one device for another one's caller, with a queue of its own."""
    cl, (context, dev, _) = ct.CDLL("libOpenCL.so.1"), device.handles()
    cl.clCreateCommandQueue.restype = ct.c_void_p
    cl.clCreateCommandQueue.argtypes = [ct.c_void_p, ct.c_void_p, ct.c_uint64, ct.c_void_p]
    cl.clReleaseCommandQueue.argtypes = [ct.c_void_p]
    queue = cl.clCreateCommandQueue(context, dev, 0, None)
    with Device(lib, "of_opencl", context, dev) as d:
        assert d.about().ordinal == -1 and d.handles() == [context, dev, None]
        k = d.compile(TRANSPOSE_CL, "transpose", 15, 256, 16*17*4, "-cl-std=CL1.2")
        m, data = Buffers(device, 2, 48*80*4), np.arange(48*80, dtype=np.float32).reshape(48, 80)
        m.put(1, data, queue)
        status, text = refused(d.launch, k, m.mem[0], m.mem[1])
        assert status == "ARGUMENT" and "queue" in text
        d.launch(k, m.mem[0], m.mem[1], queue)
        assert np.array_equal(m.get(0, queue).view(np.float32).reshape(80, 48), data.T)
        d.free(k)
    m.free()
    cl.clReleaseCommandQueue(queue)


def test_opencl_threads(device):
    """One kernel, eight threads: no launch has another one's buffers."""
    m, k = [Buffers(device, 2) for _ in range(8)], device.compile(COPY_CL)

    def work(i):
        for r in range(40):
            data = np.full(BYTES, 8*r + i & 255, np.uint8)
            m[i].put(1, data)
            device.launch(k, m[i].mem[0], m[i].mem[1])
            assert np.array_equal(m[i].get(0), data)
    together(8, work)
    device.free(k)
    for b in m:
        b.free()


def test_opencl_compile_failure(device, capfd):
    status, text = refused(device.compile, "__kernel void copy(__global int *dst) { dst[0] = nonsense; }")
    assert status == "COMPILE" and text.startswith("OpenCL does not compile the kernel: CL_BUILD_PROGRAM_FAILURE (-11)")
    status, text = refused(device.compile, COPY_CL, "none")
    assert status == "COMPILE" and "'none'" in text and "CL_INVALID_KERNEL_NAME (-46)" in text
    status, text = refused(device.compile, COPY_CL, options="-no-such-option")
    assert status == "COMPILE" and "CL_INVALID_BUILD_OPTIONS (-43)" in text or "-11" in text
    assert refused(device.compile, COPY_CL, block=1 << 30)[0] == "ARGUMENT"
    assert refused(device.compile, COPY_CL, grid=2**63 - 1)[0] == "ARGUMENT"
    capfd.readouterr()                       # PoCL speaks on standard error


def test_opencl_launch_failure(device):
    """The text wants blocks of 256."""
    k = device.compile(TRANSPOSE_CL, "transpose", 15, 64, options="-cl-std=CL1.2")
    m = Buffers(device, 2)
    status, text = refused(device.launch, k, m.mem[0], m.mem[1])
    assert status == "LAUNCH" and text == "clEnqueueNDRangeKernel: CL_INVALID_WORK_GROUP_SIZE (-54)"
    device.free(k)
    m.free()


def test_opencl_no_platform(lib, opencl, env, tmp_path):
    """The loader reads the list of drivers once, so this is a process of its own."""
    code = "import ctypes as c; so=c.CDLL(%r); e=c.create_string_buffer(1028); n=c.c_int(); print(so.ravel_device_list(1,None,0,c.byref(n),e), " \
           "e.raw[4:].split(b'\\0')[0].decode())" % str(ravel.BUILD / "libravel.so")
    r = subprocess.run(["/usr/bin/python3", "-c", code], env={**os.environ, "OCL_ICD_VENDORS": str(tmp_path)}, capture_output=True, text=True)
    assert r.stdout == "%d the OpenCL loader has no platform\n" % ravel.STATUS.index("DEVICE"), r.stderr


def test_opencl_no_such_device(lib, opencl):
    status, text = refused(Device, lib, "open", OPENCL, 1000)
    assert status == "DEVICE" and "1000" in text


def test_opencl_device_of_another_context(lib, device):
    assert refused(Device, lib, "of_opencl", device.handles()[0], 16) == ("ARGUMENT", "the OpenCL device is none of the context's")


CL = {**dict.fromkeys("clGetPlatformIDs clGetDeviceIDs clGetDeviceInfo clCreateContext clCreateCommandQueue clCreateProgramWithSource".split(), "DRIVER"),
      "clBuildProgram": "COMPILE", "clCreateKernel": "COMPILE", "clSetKernelArg": "LAUNCH", "clEnqueueNDRangeKernel": "LAUNCH"}


@pytest.mark.parametrize("call", CL)
@pytest.mark.parametrize("code", [-30, -6])
def test_every_opencl_call_fails(lib, opencl, env, mocks, call, code):
    env(RAVEL_OPENCL_LIBRARY=mocks["opencl"], RAVEL_MOCK_FAIL="%s:%d" % (call, code))
    status, text = refused(everything, lib, OPENCL)
    assert status == ("MEMORY" if code == -6 and (CL[call] == "DRIVER" or call == "clBuildProgram") else CL[call]), text
    assert "%s (%d)" % ({-30: "CL_INVALID_VALUE", -6: "CL_OUT_OF_HOST_MEMORY"}[code], code) in text
    assert call in text or (call, code) == ("clBuildProgram", -30)
    env(RAVEL_MOCK_FAIL=None)
    everything(lib, OPENCL)


def test_opencl_failures_with_a_context(lib, device, env, mocks):
    context, dev, _ = device.handles()
    for call in ("clGetContextInfo", "clRetainContext"):
        env(RAVEL_OPENCL_LIBRARY=mocks["opencl"], RAVEL_MOCK_FAIL=call + ":-34")
        assert refused(Device, lib, "of_opencl", context, dev) == ("DRIVER", call + ": CL_INVALID_CONTEXT (-34)")


def test_opencl_platform_without_devices(lib, opencl, env, mocks):
    env(RAVEL_OPENCL_LIBRARY=mocks["opencl"], RAVEL_MOCK_FAIL="clGetDeviceIDs:-1")
    assert refused(listed, lib, OPENCL) == ("DEVICE", "the OpenCL loader has no device")


# --- the real NVRTC, for a device that only the stand-in has

COPY_CUDA = """
extern "C" __global__ void __launch_bounds__(64) copy(unsigned char *dst, const unsigned char *src)
{
    unsigned i = blockIdx.x * 64 + threadIdx.x;
    if (i < 5000)
        dst[i] = src[i];
}
"""


@pytest.fixture
def nvrtc(env):
    for name in ("libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", *glob.glob("/usr/local/cuda*/lib*/libnvrtc.so.1[1-3]*")):
        try:
            ct.CDLL(name)
        except OSError:
            continue
        env(RAVEL_NVRTC_LIBRARY=name)
        return name
    pytest.skip("no NVRTC")


def test_real_code(lib, nvrtc, env, cuda, tmp_path):
    """An ELF file for the device's architecture with the kernel in it."""
    env(RAVEL_MOCK_ARCH=90)
    with Device(lib, "open", CUDA, 0) as d:
        d.free(d.compile(COPY_CUDA, options="-DUNUSED=1"))
    (tmp_path / "k.cubin").write_bytes(image(cuda))
    assert image(cuda)[:4] == b"\x7fELF"
    names = subprocess.run(["readelf", "-sW", tmp_path / "k.cubin"], capture_output=True, text=True).stdout
    assert re.search(r"FUNC .* copy$", names, re.M), names
    if shutil.which("cuobjdump"):
        out = subprocess.run(["cuobjdump", "-elf", tmp_path / "k.cubin"], capture_output=True, text=True).stdout
        assert "sm_90" in out


def test_real_ptx(lib, nvrtc, env, cuda):
    """A device newer than the compiler."""
    env(RAVEL_MOCK_ARCH=999)
    with Device(lib, "open", CUDA, 0) as d:
        d.free(d.compile(COPY_CUDA))
    ptx = image(cuda).decode()
    assert re.search(r"^\.version \d+\.\d+$", ptx, re.M) and re.search(r"^\.target sm_\d+$", ptx, re.M) and ".entry copy(" in ptx


def test_real_compile_failure(lib, nvrtc, env, cuda):
    env(RAVEL_MOCK_ARCH=90)
    with Device(lib, "open", CUDA, 0) as d:
        status, text = refused(d.compile, 'extern "C" __global__ void copy(int *p) { *p = nonsense; }')
        assert status == "COMPILE" and 'identifier "nonsense" is undefined' in text
        assert refused(d.compile, COPY_CUDA, options="--no-such-option")[0] == "COMPILE"
