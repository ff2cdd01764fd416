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
    "show --html": ("show {M//2,K//4,M%2,K%4} --shape 6,8 --html out.html", "out.html"),
    "explain --html": ("explain --from NCHW --to NC1HWC0 --shape 2,20,5,7 --dtype f16 --html out.html", "out.html"),
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


def run(args, shim=None, at=None, do=None, log=None, named=None, **kw):
    env = {**os.environ}
    for key, value in (("LD_PRELOAD", shim), ("FAULT_AT", at), ("FAULT_DO", do), ("FAULT_LOG", log), ("FAULT_NAMED", named)):
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
SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"]


def counted(args, shim, code=0, named=None):
    """The calls of a run that nothing spoils."""
    r = run(args, shim, log="log", named=named)
    assert r.returncode == code, r.stderr
    lines = pathlib.Path("log").read_text().splitlines()
    pathlib.Path("log").unlink()
    return [line.split(" ", 1) for line in lines]


def litter(before, out):
    return [n for n in tree() if n not in before and n != out]


def check_killed(args, before, out, whole, what, may_leave):
    """A run that was killed while the file had its first name may leave it; the next one is not disturbed by it."""
    left = litter(before, out)
    assert len(left) <= may_leave and all(n.startswith(".ravel-") and n.endswith(".tmp") for n in left), what
    if out != "x.npy" or tree()[out] != whole:           # done in place, it cannot be done again
        again = run(args)
        assert again.returncode == 0 and tree()[out] == whole, (what, again.stderr)


def ours(path):
    """The JIT's memory, and standard output."""
    return path.startswith(("mem", "/memfd:", "pipe:"))


def names_file(r, path, out):
    name = pathlib.Path(path).name
    of_output = name.startswith((".ravel-", "#")) or path.startswith("/proc/self/fd/") or path.endswith(".") or name == pathlib.Path.cwd().name
    return (out if of_output else name) in r.stderr.decode()


def check_order(calls, named=None):
    """What a crash of the machine may find: the new file whole before it has the name, and the name on disk at the end."""
    names = [call for call, _ in calls]
    last = names.index("rename")
    steps = ["fsync", "close", "rename"] if named else ["fsync", "linkat", "close", "rename"]
    begin = last - names[last::-1].index("open")
    filled = last + 1 - len(steps)
    assert set(names[begin+1:filled]) - {"fchmod"} == {"write"} and names[filled:last+1] == steps, names
    assert names[last+1:] == ["open", "fsync", "close"]


@pytest.mark.parametrize("name, there", [(n, t) for n in WRITERS for t in (False, True)
                                         if not t or n in ("convert", "convert raw")])
def test_every_call_on_a_file(name, there, shims, here):
    args, out = WRITERS[name]
    if there:
        pathlib.Path(out).write_bytes(OLD)
    before = tree()
    calls = counted(args, shims/"io.so")
    whole, done = tree()[out], {}
    if name.startswith("convert"):
        check_order([c for c in calls if not ours(c[1])])
    named = range(*([c for c, _ in calls].index(c) for c in ("linkat", "rename")))
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
                check_killed(args, before, out, whole, what, at - (do == "before") in named)
            elif r.returncode == 0:
                assert after[out] == whole and not litter(before, out) and not r.stderr, what
            else:
                assert do not in AGAIN and r.returncode == 2 and said(r), what
                assert ours(path) or names_file(r, path, out), what
                assert not litter(before, out), what
    print("# faults: %s, %d calls, %s" % (name, len(calls), ", ".join("%d %s" % (n, d) for d, n in sorted(done.items()))))
    assert done["ENOSPC"] >= 4 and done["before"] == len(calls)


@pytest.mark.parametrize("named", [None, "1"], ids=["without a name", "named"])
def test_signals_leave_nothing(named, shims, here):
    """Ctrl-C and the like at every call, also where a file system has no files without names; then nothing but the output is there."""
    args, out = WRITERS["convert"]
    before = tree()
    calls = counted(args, shims/"io.so", named=named)
    check_order([c for c in calls if not ours(c[1])], named)
    whole = tree()[out]
    for at in range(len(calls)):
        for do in SIGNALS:
            reset(before)
            r = run(args, shims/"io.so", at, do, named=named, preexec_fn=heed_signals)
            what, after = "%s %d %s %s" % (do, at, *calls[at]), tree()
            assert r.returncode == -getattr(signal, do), what
            assert after.get(out) in (whole, None) and not litter(before, out), what
    reset(before)
    assert run(args).returncode == 0 and tree()[out] == whole


def heed_signals():
    """Also where the tests run in the background of a shell, which has them ignore Ctrl-C."""
    for do in SIGNALS:
        signal.signal(getattr(signal, do), signal.SIG_DFL)


def test_ignored_signals_stay_ignored(shims, here):
    """As under nohup."""
    args, out = WRITERS["convert"]
    at = [call for call, _ in counted(args, shims/"io.so")].index("fsync")
    r = run(args, shims/"io.so", at, "SIGHUP", preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    assert r.returncode == 0 and out in tree()


# --- memory

KNOWN = set()                              # call stacks that a command before has shown


def to_inject(args, shim, code):
    """The numbers of the allocations of a run to fail, one of each call stack not met yet and some between."""
    r = run(args, shim, log="log")
    assert r.returncode == code, r.stderr
    data = pathlib.Path("log").read_bytes()
    pathlib.Path("log").unlink()
    stacks = struct.unpack("%dQ" % (len(data)//8), data)
    step = 1 if os.environ.get("FAULTS") == "all" else len(stacks)//20 + 1
    picked = [i for i, s in enumerate(stacks) if i % step == 0 or not (s in KNOWN or KNOWN.add(s))]
    return r, len(stacks), picked


def check_starved(args, shim, out, code):
    before = tree()
    good, total, picked = to_inject(args, shim, code)
    whole = tree().get(out)
    codes = {}
    for at in picked:
        for mode in ("one", "rest"):
            reset(before)
            r = run(args, shim, at, mode)
            what, after = "%s %s: %s" % (mode, at, r.stderr.decode()), tree()
            codes[r.returncode] = codes.get(r.returncode, 0) + 1
            assert after.get(out) in (whole, before.get(out)), what
            assert all(after[n] == before[n] for n in before if n != out) and not litter(before, out), what
            if r.returncode == code != 2:
                assert (r.stdout, r.stderr, after.get(out)) == (good.stdout, good.stderr, whole), what
            else:
                assert r.returncode == 2 and said(r), (r.returncode, what)
    print("# faults: ravel %s: %d allocations, %d failed in two ways, exit codes %s" % (args, total, len(picked), codes))
    assert picked and codes[2] > 0
    reset(before)


def test_every_allocation_of_the_commands(shims, here):
    """Those of a context and of a layout as text are in tests/unit/test_faults.c too, so these two only make them known."""
    to_inject("list", shims/"alloc.so", 0)
    to_inject("check {M//2,K} --shape 8,8 --json", shims/"alloc.so", 1)
    for args in READERS.values():
        check_starved(args, shims/"alloc.so", None, run(args).returncode)
    for args, out in WRITERS.values():
        check_starved(args, shims/"alloc.so", out, 0)


# --- real failures

def test_a_file_size_limit(here):
    """What RLIMIT_FSIZE allows of the output is taken back."""
    before = tree()
    for size in (0, 1, 128, 4096, 6847):
        r = run(CONVERT, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)))
        assert r.returncode == 2 and said(r) and b"too large" in r.stderr, r.stderr
        assert tree() == before


def test_a_full_device(here):
    r = run("convert x.raw /dev/full --from NCHW --to NHWC --shape 2,20,5,7 --dtype f32")
    assert r.returncode == 2 and b"/dev/full" in r.stderr and b"No space" in r.stderr
    with open("/dev/full", "wb") as full:
        r = subprocess.run([RAVEL, "list"], stdout=full, stderr=subprocess.PIPE)
    assert r.returncode == 2 and said(r)


def mounted(folder, script):
    """Run a shell script in a mount namespace of its own; skip where that is not allowed."""
    if not shutil.which("unshare"):
        pytest.skip("no unshare")
    probe = subprocess.run(["unshare", "-rm", "sh", "-c", "mount -t tmpfs -o size=16k none " + str(folder)], capture_output=True, text=True)
    if probe.returncode:
        pytest.skip("no mounts here: " + probe.stderr.strip())
    return subprocess.run(["unshare", "-rm", "sh", "-c", script], capture_output=True, text=True)


def test_a_full_disk(here):
    """A tmpfs of four pages, an old output in one of them."""
    pathlib.Path("disk").mkdir()
    r = mounted("disk", """
        mount -t tmpfs -o size=16k none disk && cp x.npy disk/x.npy && printf old >disk/out.npy
        %s convert disk/x.npy disk/out.npy --from NCHW --to NC1HWC0; echo "code $?"
        ls -A disk; cat disk/out.npy; cmp x.npy disk/x.npy && echo same""" % RAVEL)
    assert "No space left" in r.stderr and "disk/out.npy" in r.stderr, r.stderr
    assert r.stdout.split() == ["code", "2", "out.npy", "x.npy", "old" + "same"], r.stdout


def test_a_read_only_folder(here):
    pathlib.Path("disk").mkdir()
    r = mounted("disk", """
        mount -t tmpfs none disk && cp x.npy disk/x.npy && printf old >disk/out.npy && mount -o remount,ro disk
        %s convert disk/x.npy disk/out.npy --from NCHW --to NC1HWC0; echo "code $?"
        %s convert disk/x.npy disk/new.npy --from NCHW --to NC1HWC0; echo "code $?"
        ls -A disk; cat disk/out.npy; cmp x.npy disk/x.npy && echo same""" % (RAVEL, RAVEL))
    assert r.stderr.count("Read-only file system") == 2 and "disk/out.npy" in r.stderr and "disk/new.npy" in r.stderr, r.stderr
    assert r.stdout.split() == ["code", "2", "code", "2", "out.npy", "x.npy", "old" + "same"], r.stdout
