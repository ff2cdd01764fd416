"""Relayouts without generated code: a share of the same tests, in a process that asks for the interpreter; and the build without libtcc."""

import itertools
import os
import shutil
import subprocess
import sys

import pytest

import ravel

HERE = ravel.ROOT / "tests"
PYTEST = [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", "-p", "no:cacheprovider"]
SHARE = [("test_random.py", "(relayouts and 0) or test_cases"), ("test_pairs.py", "rank or larger or meet or edge or NC1HWC0")]


@pytest.mark.skipif("RAVEL_AGAIN" in os.environ, reason="asked for by another test")
@pytest.mark.parametrize("file, share", SHARE)
def test_by_the_interpreter(file, share):
    env = {**os.environ, "RAVEL_CODE": "interpreter", "RAVEL_AGAIN": "1"}
    r = subprocess.run([*PYTEST, HERE / file, "-k", share], env=env, cwd=ravel.ROOT, capture_output=True, text=True)
    print(r.stdout[-300:])
    assert r.returncode == 0, r.stdout[-6000:]


def test_the_way_is_told(monkeypatch):
    ways = [("jit", "machine code"), ("interpreter", "interpreter: RAVEL_CODE asks for it")]
    for (code, way), shape in itertools.product(ways, [(1, 2, 3, 4), (-1, 2, -1, 4)]):
        monkeypatch.setenv("RAVEL_CODE", code)
        names = ",".join(str(n) if n > 0 else "NCHW"[i] for i, n in enumerate(shape))
        r = subprocess.run([ravel.BUILD / "ravel", "explain", "--from", "NCHW", "--to", "NHWC", "--shape", names, "--dtype", "f32"],
                           capture_output=True, text=True)
        assert r.returncode == 0 and ("\ncode: %s\n" % way) in r.stdout
        with ravel.Context() as cx, cx.plan("NCHW", "NHWC", shape, "f32") as p:
            assert p.way == way and bool(p.source) == (code == "jit")


def with_same_objects(b):
    """A build folder with the objects that do not ask for libtcc, and the texts they were made of: what NO_TCC changes is left to make."""
    ours = [o for part in ("cli", "compiler", "runtime") for o in (ravel.BUILD / part).rglob("*.o")]
    texts = [*(ravel.BUILD / "templates").rglob("*.h"), ravel.BUILD / "runtime/kernels_text.h", *ravel.BUILD.glob("embed*.c")]
    for o in [*texts, *ours, *ravel.BUILD.glob("embed*.o")]:
        source = ravel.ROOT / o.relative_to(ravel.BUILD).with_suffix(".c")
        if o in texts or not source.exists() or "RAVEL_NO_TCC" not in source.read_text():
            (b / o.relative_to(ravel.BUILD)).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(o, b / o.relative_to(ravel.BUILD))


def test_without_libtcc(tmp_path):
    """make TCC=0 needs no libtcc: no symbol of it is left, and what the command proves goes by the interpreter."""
    b = tmp_path / "b"
    with_same_objects(b)
    make = ["make", "-j1", "TCC=0", "B=%s" % b, "CFLAGS=-O0", "LIBTCC=/nowhere/libtcc.a", str(b / "ravel"), str(b / "libravel.so")]
    r = subprocess.run(make, cwd=ravel.ROOT, capture_output=True, text=True)
    assert r.returncode == 0, r.stderr[-3000:]
    assert "tcc_" not in subprocess.check_output(["nm", b / "libravel.so"], text=True)
    env = {k: v for k, v in os.environ.items() if k != "RAVEL_CODE"}
    ask = [b / "ravel", "verify", "--from", "NCHW", "--to", "NC1HWC0", "--dtype", "f16", "--shape"]
    text = subprocess.run([*ask, "2,20,5,7"], env=env, capture_output=True, text=True).stdout
    assert text.count("yes: ") == 2 and text.count("interpreter: built without libtcc") == 2
    text = subprocess.run([*ask, "N,C,4,W"], env=env, capture_output=True, text=True).stdout
    assert text.count("yes: ") == 2
    ask[1] = "explain"
    assert "code: interpreter: built without libtcc" in subprocess.run([*ask, "N,C,4,W"], env=env, capture_output=True, text=True).stdout
