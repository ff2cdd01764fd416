"""OpenCL kernels under oclgrind, which knows of every byte of memory who touched it last: races of threads and of blocks, two
owners of a word, accesses outside the buffers.  It ends with 0 whatever it finds: its log is read."""

import os
import pathlib
import re
import shutil

import pytest

import grid_runs
import grids as G

SEED = int(os.environ.get("RAVEL_SEED", "20240611"))


@pytest.fixture(scope="module")
def oclgrind():
    """The file that stands in for the OpenCL library."""
    path = shutil.which("oclgrind")
    lib = path and pathlib.Path(path).resolve().parent.parent / "lib/oclgrind/liboclgrind-rt.so"
    if not lib or not lib.exists():
        pytest.skip("oclgrind is not installed")
    return lib


UNOPTIMISED = "-cl-opt-disable"


def found(lib, folder, ks, options=""):
    """(what it names, by kind, in the order found; the wrong destinations).  Optimised kernels are run in half the time: accesses that
    they lack are those that the same thread repeats."""
    log = folder / "log"
    r, wrong = grid_runs.run_opencl(folder, ks, RAVEL_OPENCL_LIBRARY=str(lib), OCLGRIND_DATA_RACES="1", OCLGRIND_UNIFORM_WRITES="1",
                                    OCLGRIND_LOG=str(log), OCLGRIND_MAX_ERRORS="2000", OCLGRIND_BUILD_OPTIONS=options)
    assert (r.returncode, r.stderr, r.stdout) == (0, "", "%d jobs\n" % len(ks)), r
    text = log.read_text()
    kinds = re.findall(r"^(Invalid read|Invalid write|[A-Z][a-z]+-[a-z]+ data race)", text, re.M)
    assert bool(kinds) == bool(text.strip()), text[:3000]
    return kinds, wrong, text


def test_every_case(oclgrind, tmp_path):
    ks = G.kernels(tmp_path, "opencl", G.CASES)
    kinds, wrong, text = found(oclgrind, tmp_path, ks)
    assert not kinds and not wrong, (text[:3000], wrong)


def test_random_cases(oclgrind, tmp_path):
    print("seed", SEED)
    ks = G.kernels(tmp_path, "opencl", grid_runs.drawn(24, SEED + 1))
    assert len(ks) > 16
    kinds, wrong, text = found(oclgrind, tmp_path, ks, UNOPTIMISED)      # optimised ones ask for functions that oclgrind lacks
    print(len(ks), "kernels")
    assert not kinds and not wrong, (text[:3000], wrong)


# --- planted bugs

def planted(lib, folder, case, old, new):
    [k] = G.kernels(folder, "opencl", [case])
    text = k.path.read_text()
    assert old in text
    k.path.write_text(text.replace(old, new))
    return found(lib, folder, [k])


def test_a_missing_barrier_is_named(oclgrind, tmp_path):
    kinds, _, text = planted(oclgrind, tmp_path, G.T(64, 128, 32), "barrier(CLK_LOCAL_MEM_FENCE);", "")
    assert set(kinds) == {"Read-write data race"} and "__local" in text


@pytest.mark.parametrize("case, guard", [(G.T(33, 35, 128), "if (x < "), (G.T(33, 65, 32), "if (q < "), (G.M((37, 6, 9, 5), "DBCA", 32), "if (p < ")],
                         ids=["edge", "slab", "fuse"])
def test_a_missing_guard_is_named(oclgrind, tmp_path, case, guard):
    kinds, _, _ = planted(oclgrind, tmp_path, case, guard, guard.replace("(", "(1 || "))
    assert {"Invalid read", "Invalid write"} <= set(kinds), set(kinds)


def test_a_word_of_two_owners_is_named(oclgrind, tmp_path):
    """What comes out is right: both write the same."""
    [k] = G.kernels(tmp_path, "opencl", [G.T(64, 128, 32)])
    k.path.write_text(k.path.read_text().replace("(uint)get_group_id(0)", "(uint)get_group_id(0) %% %d" % k.manifest["grid"][0]))
    k.manifest["grid"][0] *= 2
    kinds, wrong, _ = found(oclgrind, tmp_path, [k])
    assert set(kinds) == {"Write-write data race"} and not wrong
