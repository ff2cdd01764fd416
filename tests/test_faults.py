"""The command when memory or the disk fails: every allocation and every call on a file fails once, in a process of
its own with tests/fault_*.c preloaded.  What is written is whole or not there, the source is as it was, the answer is
exit code 2 and a sentence.  FAULTS=all takes every allocation; the default takes one of each call stack and some between."""

import os
import pathlib
import resource
import shutil
import signal
import struct
import subprocess

import numpy as np
import pytest

import ravel

HERE = pathlib.Path(__file__).parent
RAVEL = ravel.BUILD / "ravel"
X = np.arange(2*20*5*7, dtype=np.float32).reshape(2, 20, 5, 7)
OLD = b"what was there before"

CONVERT = "convert x.npy out.npy --from NCHW --to NC1HWC0 --verify"
# Name: (arguments, the file that it writes)
WRITERS = {
    "convert": (CONVERT, "out.npy"),
    "convert raw": ("convert x.raw out.raw --from NCHW --to NHWC --shape 2,20,5,7 --dtype f32", "out.raw"),
    "convert in place": ("convert x.npy x.npy --from NCHW --to NC1HWC0", "x.npy"),
    "convert with a spec": ("convert x.npy out.npy --from NCHW --to mine.lua:MINE", "out.npy"),
    "emit": ("emit --from NCHW --to NC1HWC0 --shape 2,20,5,7 --dtype f16 -o out.c", "out.c"),
    "table": ("table NC1HWC0 --shape 2,20,5,7 --dtype f16 -o out.npy", "out.npy"),
    "show --svg": ("show {M//2,K//4,M%2,K%4} --shape 6,8 --svg out.svg", "out.svg"),
}
READERS = {
    "check": "check NC1HWC0 --shape 2,20,5,7 --dtype f16",
    "check --json": "check NC1HWC0 --shape 2,20,5,7 --dtype f16 --json",
    "check, no": "check {M//2,K} --shape 8,8 --json",
    "show": "show NC1HWC0 --shape 2,20,5,7 --dtype f16",
    "list": "list",
    "list --json": "list --json",
    "index": "index NC1HWC0 --shape 2,20,5,7 --dtype f16 --at 2225 --inverse",
    "explain": "explain --from NCHW8 --to NCHW16 --shape 16,20,56,56 --dtype f32",
    "wrong use": "check NC1HWC0 --shape",
}


@pytest.fixture(scope="session")
def shims(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shims")
    for name in ("io", "alloc"):
        subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror", "-o", folder/(name + ".so"),
                        HERE/("fault_%s.c" % name)], check=True)
    return folder


def source_files(folder):
    np.save(folder/"x.npy", X)
    (folder/"x.raw").write_bytes(X.tobytes())
    (folder/"mine.lua").write_text('layout "MINE" { dims = {N, C, H, W}, order = {N, H, W, C}, pitch = {H = 64} }\n')


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    source_files(tmp_path)
    return tmp_path


def run(args, shim=None, at=None, do=None, log=None, **kw):
    env = {**os.environ}
    for key, value in (("LD_PRELOAD", shim), ("FAULT_AT", at), ("FAULT_DO", do), ("FAULT_LOG", log)):
        if value is not None:
            env[key] = str(value)
    return subprocess.run([RAVEL] + args.split(), stdin=subprocess.DEVNULL, capture_output=True, env=env, timeout=60, **kw)


def tree():
    return {p.name: p.read_bytes() for p in pathlib.Path(".").iterdir()}


def reset(before):
    for p in pathlib.Path(".").iterdir():
        if p.name not in before:
            p.unlink()
    for name, data in before.items():
        if not pathlib.Path(name).exists() or pathlib.Path(name).read_bytes() != data:
            pathlib.Path(name).write_bytes(data)


def said(r):
    return r.stderr.decode().startswith("ravel") and len(r.stderr) > 15


# --- calls on files

READ = ["EIO"]
WRITE = ["EIO", "ENOSPC", "EDQUOT"]
MAKE = ["EIO", "ENOSPC", "EDQUOT", "EROFS"]
FAULTS = {
    "open": MAKE + ["EINTR", "EACCES", "EMFILE"], "read": READ + ["EINTR", "short"], "write": WRITE + ["EINTR", "short"],
    "fsync": WRITE + ["EINTR"], "close": WRITE + ["EINTR"], "rename": MAKE, "renameat": MAKE, "link": MAKE, "linkat": MAKE,
    "ftruncate": WRITE + ["EINTR"], "fallocate": WRITE + ["EINTR"], "pwrite": WRITE + ["EINTR", "short"],
    "pread": READ + ["EINTR", "short"], "fdatasync": WRITE + ["EINTR"], "fchmod": ["EIO", "EROFS"], "unlink": ["EIO", "EROFS"],
    "mmap": ["ENOMEM"], "memfd_create": ["EMFILE", "ENOMEM"], "stat": ["EIO", "EACCES"], "lstat": ["EIO"], "fstat": ["EIO"],
    "access": ["EIO", "EROFS"], "readlink": ["EIO", "EACCES"],
}
AGAIN = {"EINTR", "short"}                 # no failures: the work goes on
KILLS = ["before", "after"]


def counted(args, shim, code=0):
    """The calls of a run that nothing spoils."""
    r = run(args, shim, log="log")
    assert r.returncode == code, r.stderr
    lines = pathlib.Path("log").read_text().splitlines()
    pathlib.Path("log").unlink()
    return [line.split(" ", 1) for line in lines]


def litter(before, out):
    return [n for n in tree() if n not in before and n != out]


def check_killed(args, before, out, whole, what):
    """A run that was killed may leave one file of a known name; the next one is not disturbed by it."""
    left = litter(before, out)
    assert len(left) <= 1 and all(n.startswith(".ravel-") and n.endswith(".tmp") for n in left), what
    if out != "x.npy" or tree()[out] != whole:           # done in place, it cannot be done again
        again = run(args)
        assert again.returncode == 0 and tree()[out] == whole, (what, again.stderr)


@pytest.mark.parametrize("name, there", [(n, t) for n in WRITERS for t in (False, True) if not (t and "in place" in n)])
def test_every_call_on_a_file(name, there, shims, here):
    args, out = WRITERS[name]
    if there:
        pathlib.Path(out).write_bytes(OLD)
    before = tree()
    calls = counted(args, shims/"io.so")
    whole, done = tree()[out], {}
    for at, (call, path) in enumerate(calls):
        for do in FAULTS[call] + KILLS:
            reset(before)
            r = run(args, shims/"io.so", at, do)
            what, after = "%s %d %s: %s %s" % (do, at, call, path, r.stderr.decode()), tree()
            assert after.get(out) in (whole, before.get(out)), what
            assert all(after[n] == before[n] for n in before if n != out), what
            done[do] = done.get(do, 0) + 1
            if do in KILLS:
                assert r.returncode == -signal.SIGKILL, what
                check_killed(args, before, out, whole, what)
            elif r.returncode == 0:
                assert after[out] == whole and not litter(before, out) and not r.stderr, what
            else:
                assert do not in AGAIN and r.returncode == 2 and said(r), what
                assert "mem" in path or pathlib.Path(path).name in what or out in what.split(":", 2)[2], what
                assert not litter(before, out), what
    print("# faults: %s, %d calls, %s" % (name, len(calls), ", ".join("%d %s" % (n, d) for d, n in sorted(done.items()))))
    assert done["ENOSPC"] >= 4 and done["before"] == len(calls)
