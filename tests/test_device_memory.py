"""The device's memory: tests/unit/device_memory.c, a process of its own, where leaks count in the sanitizer build."""

import pytest

import ravel
from device_mocks import BUILDS, compiled, COPY_CL, CUDA, cuda, env, FAILURES, HERE, lib, mocks, OPENCL, PLAIN, through_memory  # noqa: F401 (fixtures too)
from test_device_opencl import opencl, pocl_cache  # noqa: F401 (fixtures too)


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
