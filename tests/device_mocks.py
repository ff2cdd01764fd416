"""Stand-ins for the drivers and compilers of devices, and what tests on them share."""

import ctypes as ct
import os
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


def mock(name):
    """The sources of a stand-in."""
    return sorted((HERE / "mock").glob("mock_%s*.c" % name))


def compiled(folder, name, *args):
    """A shared object; args: sources and flags."""
    out = folder / (name + ".so")
    subprocess.run(["gcc", "-shared", "-fPIC", "-O0", "-Wall", "-Wextra", "-Werror", *args, "-o", out, "-ldl", "-lpthread"], check=True)
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
    out = {name: compiled(folder, name, *mock(name)) for name in ("cuda", "nvrtc", "opencl")}
    out["kernels"] = compiled(folder, "kernels", folder / "kernels.c")
    out["cuda less"] = compiled(folder, "cuda_less", *mock("cuda"), "-DcuLaunchKernel=other")
    out["nvrtc less"] = compiled(folder, "nvrtc_less", *mock("nvrtc"), "-DnvrtcGetCUBIN=other")
    out["opencl less"] = compiled(folder, "opencl_less", *mock("opencl"), "-DclSetKernelArg=other")
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


DRIVER = "cuInit cuDeviceGetCount cuDeviceGet cuDeviceGetName cuDriverGetVersion cuDeviceTotalMem cuDeviceGetAttribute " \
         "cuDevicePrimaryCtxRetain cuCtxPushCurrent nvrtcGetNumSupportedArchs nvrtcGetSupportedArchs nvrtcCreateProgram " \
         "nvrtcGetCUBINSize nvrtcGetCUBIN"
FAILURES = {**dict.fromkeys(DRIVER.split(), "DRIVER"), "cuModuleLoadDataEx": "COMPILE", "cuModuleGetFunction": "COMPILE",
            "nvrtcCompileProgram": "COMPILE", "cuLaunchKernel": "LAUNCH"}


def image(cuda):
    n = ct.c_size_t.in_dll(cuda, "mock_image_bytes").value
    return bytes((ct.c_char * n).in_dll(cuda, "mock_image"))


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


BUILDS = [ravel.BUILD, ravel.ROOT / os.environ.get("RAVEL_ASAN", "build-asan")]


def through_memory(build, kind, source, entry="copy", **kw):
    program = build / "tests/device_memory"
    if not program.exists():
        pytest.skip("%s is not built: make unit" % program)
    return subprocess.run([program, str(kind), source, entry], env={**os.environ, **kw}, capture_output=True, text=True, timeout=60)


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
