"""runtime/ravel_gpu.h: every answer it can give, by stand-ins for the CUDA driver and NVRTC (tests/mock) in which any call can be had to fail, by
the real OpenCL loader with PoCL behind it, and by the real NVRTC where there is one."""

import ctypes as ct
import json
import os
import subprocess
import threading

import numpy as np
import pytest

import ravel
from device_mocks import compiles, cuda, CUDA, current, Device, env, everything, FAILURES, image, lib, listed, Memory, mocks, OPENCL, refused, together  # noqa: F401 (fixtures too)
from gpu_api import Info, Source


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
