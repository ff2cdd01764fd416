"""The C unit tests (cmocka), in both builds; and the tests above the library again on the sanitizer
build, where AddressSanitizer and UBSan end a process at the first finding."""
import os
import pathlib
import subprocess
import sys

import pytest

import ravel

HERE = pathlib.Path(__file__).parent
PLAIN, SANITIZED = ravel.BUILD, ravel.ROOT / os.environ.get("RAVEL_ASAN", "build-asan")
THREADED = ravel.ROOT / os.environ.get("RAVEL_TSAN", "build-tsan")   # with ThreadSanitizer
TOOLS = {"npy_cat", "dnnl_reorder", "expr_same", "memcheck", "device_memory", "grid_run", "plan_choices"}          # programs that other tests run
UNITS = sorted(p.stem for p in (HERE / "unit").glob("*.c") if p.stem not in TOOLS)
CLI = ["test_cli%s.py" % part for part in ("", "_layouts", "_tune", "_convert")]
COMMANDS = {*CLI, "test_golden.py", "test_banks.py", "test_banks_fragments.py"}   # only run the command: leaks count
# One case of a test in so many; those that draw draw less by themselves.
AGAIN = {"test_pairs.py": 1, "test_random.py": 1, **dict.fromkeys(CLI, 3), "test_golden.py": 1, "test_found.py": 1, "test_decisions.py": 1, "test_banks.py": 2, "test_banks_fragments.py": 2,
         "test_device.py": 1, "test_device_memory.py": 1, "test_device_opencl.py": 1, "test_device_plan.py": 1,
         "test_device_vendor.py": 1}

FEW = "RAVEL_AGAIN" in os.environ                               # make check
# What a unit is told of how much to do, on the plain build and where it is to do less (the slow one, make check): random cases,
# or one in so many.
SHARE = {"test_expr": ("ROUNDS", 100000, 10000), "test_decide": ("ROUNDS", 2000, 400), "test_choices": ("SAMPLE", 13, 51),
         "test_sandbox": ("SAMPLE", 15, 91), "test_faults": ("SAMPLE", 2, 11), "test_interpret": ("SAMPLE", 1, 13),
         "test_threads": ("THREAD_ROUNDS", 100, 60), "test_tuning": ("SAMPLE", 1, 3)}


def run(args, **env):
    r = subprocess.run([str(a) for a in args], cwd=ravel.ROOT, env={**os.environ, **env},
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    for line in r.stdout.splitlines():
        if line.startswith("#") or "SKIPPED" in line:
            print(line)
    assert r.returncode == 0, r.stdout[-6000:]


@pytest.mark.parametrize("build", [PLAIN, SANITIZED], ids=["plain", "sanitized"])
@pytest.mark.parametrize("unit", UNITS)
def test_unit(unit, build):
    if not (build / "ravel").exists():
        pytest.skip("%s is not built: make SAN=1 B=%s" % (build.name, build.name))
    name, plain, slow = SHARE.get(unit, ("SAMPLE", 1, 1))
    run([build / "tests" / unit], **{name: str(slow if FEW or build is SANITIZED else plain)})


# What each set of kernels wants of the processor.
SETS = {"scalar": set(), "portable": set(), "sse2": set(), "avx2": {"avx2"}, "avx512": {"avx512bw", "avx512vl"},
        "avx512vbmi": {"avx512bw", "avx512vl", "avx512vbmi", "gfni"},
        "avx512gather": {"avx512bw", "avx512vl", "avx512vbmi", "gfni"}}


@pytest.mark.parametrize("isa", SETS)
def test_instruction_sets(isa):
    """Every kernel of each set that runs here; the best one is what all other tests run, test_choices among them."""
    here = [i for i in SETS if SETS[i] <= set(pathlib.Path("/proc/cpuinfo").read_text().split())]
    if isa not in here:
        pytest.skip("this processor has no %s" % isa)
    if isa != here[-1]:
        run([PLAIN / "tests" / "test_choices"], RAVEL_ISA=isa, SAMPLE="41")
    run([PLAIN / "tests" / "test_narrow"], RAVEL_ISA=isa)


def test_unknown_instruction_set():
    r = subprocess.run([str(PLAIN / "ravel"), "list"], env={**os.environ, "RAVEL_ISA": "mmx"}, capture_output=True, text=True)
    assert r.returncode == 2 and "RAVEL_ISA is 'mmx'" in r.stderr
    r = subprocess.run([str(PLAIN / "ravel"), "list"], env={**os.environ, "RAVEL_PROCESSOR": "z80"}, capture_output=True, text=True)
    assert r.returncode == 2 and "RAVEL_PROCESSOR is 'z80': not one of default zen3" in r.stderr


def test_races():
    """ThreadSanitizer ends a process with 66 that has raced."""
    unit = THREADED / "tests" / "test_threads"
    if not unit.exists():
        pytest.skip("%s is not built: make SAN=thread B=%s" % (THREADED.name, THREADED.name))
    run(["setarch", "-R", unit], THREAD_ROUNDS="60")         # its shadow memory wants addresses that are not random


@pytest.mark.skipif("RAVEL_AGAIN" in os.environ, reason="already on the sanitizer build")
@pytest.mark.parametrize("file", AGAIN)
def test_sanitized(file):
    """Leaks are looked for where a process is all ours: in the command and the units, not in Python."""
    if not (SANITIZED / "libravel.so").exists():
        pytest.skip("%s is not built: make SAN=1 B=%s" % (SANITIZED.name, SANITIZED.name))
    asan = subprocess.check_output(["gcc", "-print-file-name=libasan.so"], text=True).strip()
    inside = {"LD_PRELOAD": asan, "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1"}
    if file in COMMANDS:
        inside = {"ASAN_OPTIONS": "allocator_may_return_null=1"}
    run([sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", HERE / file],
        RAVEL_BUILD=str(SANITIZED), RAVEL_AGAIN=str(AGAIN[file]), **inside)
