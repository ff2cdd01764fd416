"""Devices through OpenCL, for real: PoCL runs kernels on this processor."""

import ctypes as ct
import os
import subprocess

import numpy as np
import pytest

import ravel
from device_mocks import Buffers, BYTES, COPY_CL, Device, env, everything, lib, listed, mocks, OPENCL, refused, together, TRANSPOSE_CL  # noqa: F401 (fixtures too)


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
