"""`ravel verify`: its answers and certificates, and that every planted bug is caught (tests/unit/planted.h; tests/unit/test_proof.c
asks the library about the same ones)."""

import ctypes as ct
import json
import os
import re
import resource
import subprocess
import time

import pytest

import ravel

RAVEL = str(ravel.BUILD / "ravel")
HEADER = ravel.ROOT / "tests/unit/planted.h"
TEXT = HEADER.read_text()
STRING = r'"((?:[^"\\]|\\.)*)"'
WORDS = re.findall(STRING, TEXT[TEXT.index("planted_pair"):TEXT.index("};")])
PAIRS = [WORDS[i:i+4] for i in range(0, len(WORDS), 4)]
PLANTED = re.findall(r"ROW\((\w+), (\d), %s, %s\)" % (STRING, STRING), re.sub(r'\s*\\\n\s*', " ", TEXT).replace('" "', ""))


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def verify(*args, timeout=60):
    r = subprocess.run([RAVEL, "verify", *map(str, args)], capture_output=True, text=True, timeout=timeout)
    assert r.returncode in (0, 1, 2), r
    assert bool(r.stderr) == (r.returncode == 2) and bool(r.stdout) == (r.returncode != 2), r
    return r.returncode, r.stdout + r.stderr


def of(a, b, dtype, shape):
    return ["--from", a, "--to", b, "--dtype", dtype, "--shape", shape]


# --- our own code

@pytest.mark.parametrize("dtype,b,shape", [
    ("f32", "(A,B,C,D){C,A,B,D}", "12,160,80,16"), ("u8", "(A,B,C,D){C,B,A,D}", "12,160,80,64"),
    ("f32", "(A,B,C,D){C,A,B,D}", "13,150,71,24"), ("f64", "(A,B,C,D){C,A,B,D}", "13,150,71,9")])
def test_runs_abreast(dtype, b, shape):
    """Runs that touch in the destination, past the caches: of whole lines, of parts of them, of neither."""
    pair = of("(A,B,C,D){A,B,C,D}", b, dtype, shape)
    shown = subprocess.run([RAVEL, "explain", *pair], capture_output=True, text=True).stdout
    assert "copy, runs abreast, past the caches" in shown
    assert verify(*pair)[0] == 0


@pytest.mark.parametrize("a, b, dtype, shape", [
    ("NCHW", "NC1HWC0", "f16", "2,20,5,7"), ("ROW_MAJOR", "MARLIN", "u4", "17,65"), ("ROW_MAJOR", "SW128", "f16", "13,70"),
    ("(A,B){A, B}", "(A,B){B//4, A, B%4, fill = 'edge'}", "c128", "10,7"), ("(A,B){A, B}", "(A,B){B, A//3, 2 - A%3, fill = 1}", "u1", "10,7"),
    ("(N,C){N, C}", "(C,N){C//4, N, C%4, fill = 'none'}", "f32", "3,9"), ("ROW_MAJOR", "COL_MAJOR", "u8", "65,67"), ("{A}", "{A}", "f32", "1")])
def test_own_code(a, b, dtype, shape):
    code, text = verify(*of(a, b, dtype, shape))
    assert code == 0 and text.count("yes: ") == 2, text
    for word in ("boxes", "disjoint", "source", " element", "padding", " hole", "inaccessible", "4 threads", "kernels"):
        assert text.count(word) >= 2, text
    assert ("source   1 slot," in text and "result   1 element," in text) == (shape == "1"), text


@pytest.mark.parametrize("view", ["(A,B){B, view = true}", "(A,B){A + B, view = true}", "(A,B){A//2, B, view = true}"])
def test_views_are_only_read(view):
    """Elements that share an address are told by it, not by their own numbers."""
    args = of(view, "(A,B){B//4, A, B%4}", "u8", "5,7")
    code, text = verify(*args)
    assert code == 0 and text.count("yes: ") == 1 and "the reverse direction is not proven: " in text and "view" in text
    j = json.loads(verify("--json", *args)[1])
    assert j["answer"] == "yes" and len(j["proofs"]) == 1 and "view" in j["one_way"] and j["proofs"][0]["elements"] == 35
    code, text = verify(*of("(A,B){B//4, A, B%4}", view, "u8", "5,7"))
    assert code == 2 and "view" in text


def test_numbers():
    code, text = verify("--json", *of(*PAIRS[0]))
    j = json.loads(text)
    there, back = j["proofs"]
    assert code == 0 and j["answer"] == "yes" and there["answer"] == back["answer"] == "yes"
    assert there["from"] == back["to"] == "(R, C){R, C, pitch = {R = 16}}" and there["to"] == back["from"]
    assert there["shape"] == back["shape"] == [5, 7] and there["dtype"] == back["dtype"] == "u8"
    assert (there["stamped"], there["elements"], there["padding"], there["holes"], there["passes"]) == (80, 35, 5, 24, 1)
    assert (back["stamped"], back["elements"], back["padding"], back["holes"], back["passes"]) == (64, 35, 0, 45, 1)
    assert there["guard_pages"] is True and there["threads"] == 4 and not there["object"]
    assert there["nests"] > 1 and "fill 1" in there["kernels"] and "fill" not in back["kernels"]


def test_passes_grow_with_the_slots():
    """Slots of 1 bit: as many passes as their numbers have bits."""
    for n, passes in (("8", 3), ("9", 4), ("1000", 10)):
        assert json.loads(verify("--json", *of("{A}", "{A}", "u1", n))[1])["proofs"][0]["passes"] == passes


def test_wrong_use():
    for args, says in [
            (of("NCHW", "NHWC", "f32", "1,2,3"), "dims"), (of("NCHW", "NHWC", "f33", "1,2,3,4"), "f33"), (of("NCHW", "NHWX", "f32", "1,2,3,4"), "NHWC"),
            (of("{A}", "{A//2}", "f32", "4"), "A"), ([*of("{A}", "{A}", "f32", "4"), "--object", "none.so"], "none.so"),
            ([*of("{A}", "{A}", "f32", "4"), "--name", "f"], "--object"), (of("{A}", "{A}", "f32", "4")[:-2], "--shape"),
            ([*of("{A}", "{A}", "f32", "4"), "--object", HEADER], "planted.h"),
            (of("{A}", "{A}", "f64", "1000000000000"), "does not fit this machine's memory"),
            (of("{A}", "{A}", "u8", "1152921504606846960"), "does not fit this machine's memory"),
            (of("{A}", "{A}", "u1", "9223372036854775800"), "does not fit this machine's memory")]:
        code, text = verify(*args)
        assert code == 2 and says in text, text


# --- objects

def shared(function, compiler="gcc"):
    """An object whose function f is that of planted.h."""
    with open("f.c", "w") as c:
        c.write('#include "%s"\nvoid f(void *d, const void *s);\nvoid f(void *d, const void *s) { %s(d, s); }\n' % (HEADER, function))
    flags = [] if compiler == "tcc" else ["-O2"]
    subprocess.run([compiler, *flags, "-w", "-shared", "-fPIC", "-o", "f.so", "f.c"], check=True)


def test_every_bug_has_a_row():
    functions = set(re.findall(r"^(\w+)\(Byte \*d, const Byte \*s\)$", TEXT, re.M))
    assert len(PLANTED) == len(functions) == TEXT.count("ROW(") - 1 > 20 and {p[0] for p in PLANTED} == functions


@pytest.mark.parametrize("function, pair, paged, marked", PLANTED, ids=[p[0] for p in PLANTED])
def test_planted(function, pair, paged, marked):
    shared(function)
    code, text = verify("--object", "f.so", "--name", "f", *of(*PAIRS[int(pair)]))
    assert (code == 1) == bool(paged) and paged in text, text
    assert text.startswith("no: " if paged else "yes: ")
    j = json.loads(verify("--json", "--object", "./f.so", "--name", "f", *of(*PAIRS[int(pair)]))[1])
    assert j["answer"] == ("no" if paged else "yes") and paged in j["proofs"][0].get("why", "")


ALIGNED = [p for p in PLANTED if p[0].startswith(("aligned", "line", "word"))]


@pytest.mark.parametrize("function, pair, paged, marked", ALIGNED, ids=[p[0] for p in ALIGNED])
def test_an_object_may_ask_for_alignment(function, pair, paged, marked):
    """Right where all of the address is that it counts on; an element's alignment is not enough for vectors."""
    shared(function)
    enough, less = {"aligned": (16, 8), "line": (64, 16), "word": (16, 4)}[function.split("_")[0]]
    args = ["--object", "f.so", "--name", "f", *of(*PAIRS[int(pair)])]
    assert verify("--align", enough, *args)[0] == 0 == verify("--align", 4096, *args)[0]
    code, text = verify("--align", less, *args)
    assert code == 1 and "past a multiple of 64" in text


def test_alignment_where_sizes_are_odd():
    """The end of a buffer is then short of the page, and still nothing may be touched there."""
    args = ["--object", "f.so", "--name", "f", "--align", "64", *of(*PAIRS[0])]
    for function, says in (("right", "yes: "), ("write_after", "byte 1 after its destination"), ("write_after_source", "byte 1 after its source")):
        shared(function)
        assert says in verify(*args)[1]
    for align in ("0", "3", "8192", "x", "-16", "16,16"):
        code, text = verify("--align", align, *args[:4], *args[6:])
        assert code == 2 and "--align" in text
    code, text = verify("--align", "16", *of(*PAIRS[0]))
    assert code == 2 and "--object" in text


def test_object_that_prints_and_object_without_the_function():
    with open("f.c", "w") as c:
        c.write('#include <stdio.h>\nvoid f(char *d, const char *s) { puts("{"); fflush(stdout); d[0] = s[0]; }\n')
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", "f.so", "f.c"], check=True)
    r = subprocess.run([RAVEL, "verify", "--json", "--object", "f.so", "--name", "f", *of("{A}", "{A}", "u8", "1")], capture_output=True, text=True)
    assert r.returncode == 0 and json.loads(r.stdout)["answer"] == "yes"
    code, text = verify("--object", "f.so", *of("{A}", "{A}", "u8", "1"))
    assert code == 2 and "ravel_relayout" in text


@pytest.mark.parametrize("name", ["omp_relayout", "random", "strided", "_Z1fPvPKv", "system"])
def test_a_name_is_only_looked_up(name):
    """Words that a target keeps, or C, may be those of an object; but not the program's own functions of that name."""
    with open("f.c", "w") as c:
        c.write("void %s(char *d, const char *s) { d[0] = s[0]; }\n" % name)
    for flags, want in ([], 0), (["-D%s=f" % name], 2):
        subprocess.run(["gcc", "-w", *flags, "-shared", "-fPIC", "-o", "f.so", "f.c"], check=True)
        code, text = verify("--object", "./f.so", "--name", name, *of("{A}", "{A}", "u8", "1"))
        assert code == want and (not want or "has no function '%s'" % name in text), text


def build(body):
    with open("f.c", "w") as c:
        c.write("#define _GNU_SOURCE\n#include <signal.h>\n#include <unistd.h>\nvoid f(volatile char *d, const char *s) { %s }\n" % body)
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", "f.so", "f.c"], check=True)
    return ["--object", "./f.so", "--name", "f", *of("{A}", "{A}", "u8", "1")]


def test_killed_is_no_answer():
    """As the kernel does when memory runs out."""
    code, text = verify(*build("kill(getpid(), SIGKILL);"))
    assert code == 2 and "the proof was killed, most likely for memory" in text


def test_object_that_never_returns():
    args = build("for (;;) d[0] = s[0];")
    code, text = verify("--limit", "1", *args)
    assert code == 1 and "it did not return within 1 s of processor time" in text
    j = json.loads(verify("--limit=1", "--json", *args)[1])
    assert j["answer"] == "no" and "within 1 s" in j["proofs"][0]["why"]
    for limit in ("0", "1,2", "x", "-1"):
        code, text = verify("--limit", limit, *args)
        assert code == 2 and "--limit" in text


def test_the_caller_has_a_limit_of_its_own():
    args = build("for (;;) d[0] = s[0];")
    r = subprocess.run(["sh", "-c", 'ulimit -S -t 1; exec "$@"', "sh", RAVEL, "verify", *args], capture_output=True, text=True, timeout=60)
    assert r.returncode == 1 and "within 1 s" in r.stdout


def test_nothing_is_left_of_a_killed_proof():
    p = subprocess.Popen([RAVEL, "verify", *build("for (;;) d[0] = s[0];")])
    child = ""
    while not child:
        with open("/proc/%d/task/%d/children" % (p.pid, p.pid)) as f:
            child = f.read().strip()
    while "./f.so"[1:] not in open("/proc/%s/maps" % child).read():
        time.sleep(0.01)
    p.kill()
    p.wait()
    for _ in range(1000):
        if not os.path.exists("/proc/" + child) or " Z " in open("/proc/%s/stat" % child).read():
            return
        time.sleep(0.01)
    os.kill(int(child), 9)
    raise AssertionError("the child lives on")


def test_the_name_that_emit_gives():
    args = of("NCHW", "NC1HWC0", "f16", "2,20,5,7")
    subprocess.run([RAVEL, "emit", *args, "-o", "f.c"], check=True)
    subprocess.run(["gcc", "-O3", "-march=native", "-shared", "-fPIC", "-o", "f.so", "f.c"], check=True)
    assert verify("--object", "f.so", *args)[0] == 0
    code, text = verify("--object", os.path.abspath("f.so"), "--name", "nchw_to_nc1hwc0", *of("NCHW", "NC1HWC0", "f16", "2,20,5,8"))
    assert code == 1 and "no: NCHW -> NC1HWC0 of (2,20,5,8), f16" in text


@pytest.mark.parametrize("late, answer", [(2, 1), (1 << 20, 0)])
def test_state(late, answer):
    """An object that counts its calls and is wrong from some call on: the proof sees its own runs and no later one, as docs/trust.md says."""
    with open("f.c", "w") as f:
        f.write("static int calls;\nvoid f(unsigned char *dst, const unsigned char *src) {\n    for (int i = 0; i < 64; i++) dst[i] = src[i];\n"
                "    if (__atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED) > %d) dst[63] = src[0];\n}\n" % late)
    subprocess.run(["gcc", "-O1", "-shared", "-fPIC", "-o", "f.so", "f.c"], check=True)
    assert verify("--object", "f.so", "--name", "f", *of("{A}", "{A}", "u8", "64"))[0] == answer


# --- the library

def test_certificate(cx):
    with cx.plan("NCHW", "NC1HWC0", (2, 20, 5, 7), "f16") as plan:
        c = plan.certificate()
    assert (c["stamped"], c["elements"], c["padding"], c["holes"]) == (1400, 1400, 840, 0)
    assert c["threads"] == 4 and c["runs"] >= 7 and c["guard_pages"] == 0 and c["nests"] >= 2 and b"fill 1" in c["kernels"]


@pytest.mark.parametrize("pair, limit, idle, least", [
    (("NCHW", "NHWC", (-1, 3, 5, 7), "u8"), 0, 0, 4 << 20), (("NCHW", "NHWC", (-1, 3, 5, 7), "u8"), 0.01, 1, 2000),
    (("(A,B,C){A, B, C}", "(A,B,C){A, B//4, C, B%4, fill = 1}", (3, -1, 8), "u4"), 0, 1, 3600)])
def test_nests_that_are_not_run_are_counted(pair, limit, idle, least):
    """A nest for large data, whose shape a small limit leaves out; one that no small shape needs.  The error is written where there is one."""
    with ravel.Context() as cx:
        ravel.call(ravel.lib.ravel_set_limit, cx.p, ct.c_double(limit))
        with cx.plan(*pair) as plan:
            c, err = ravel.Certificate(), ravel.Err(77, b"as before")
            assert ravel.lib.ravel_verify_report(plan.p, ct.byref(c), ct.byref(err)) == 0
    assert (c.not_run, err.status, err.text) == (idle, 77, b"as before") and c.elements >= least


def test_a_nest_that_is_not_run_is_named():
    """As explain numbers it; and nests whose shapes the limit does not allow."""
    def said(command, *args):
        return subprocess.run([RAVEL, command, *args], capture_output=True, text=True, check=True).stdout

    pair = ["--from", "(A,B,C){A, B, C}", "--to", "(A,B,C){A, B//4, C, B%4, fill = 1}", "--shape", "3,B,8", "--dtype", "u4"]
    [first] = re.findall(r"not run  1 of 4 nests \(the first is (\d\. \w+)\): no shape of 64 MB or less", said("verify", *pair))
    assert "\n  %s " % first in said("explain", *pair)
    small = said("verify", "--from", "NHWC", "--to", "NCHW", "--shape", "N,5,7,3", "--dtype", "u8", "--limit", "1")
    assert "not run  1 of 2 nests: --limit does not allow the shapes at which they run" in small


@pytest.mark.skipif(os.geteuid() != 0, reason="another user is needed, who has no threads")
@pytest.mark.parametrize("most", [1, 2])
def test_the_limit_of_threads_is_named(most):
    def nobody():
        resource.setrlimit(resource.RLIMIT_NPROC, (most, most))
        os.setgroups([])
        os.setgid(65531)
        os.setuid(65531)
    try:
        r = subprocess.run([RAVEL, "verify", "--from", "NCHW", "--to", "NHWC", "--shape", "1,64,20,20", "--dtype", "f32"], preexec_fn=nobody, cwd="/", capture_output=True,
                           text=True)
    except OSError as e:
        pytest.skip("another user may not run it: %s" % e)
    assert r.returncode == 2 and r.stderr.endswith("(ulimit -u)\n"), r


@pytest.mark.skipif(os.geteuid() != 0, reason="another user is needed, who has no threads")
def test_code_that_gets_no_threads_is_not_wrong(tmp_path):
    """As libgomp does, it ends the process; what it moves is as it should be, where it gets them."""
    (tmp_path / "f.c").write_text("""
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static void *wait_for_ever(void *x) { for (;;) pause(); return x; }
int nobody_s(void *d, const void *s);
int nobody_s(void *d, const void *s) { pthread_t t; while (!pthread_create(&t, NULL, wait_for_ever, NULL)) continue; exit(1); return d == s; }
""")
    (tmp_path / "cc").write_text('while [ "$1" != -o ]; do shift; done; exec gcc -shared -fPIC -pthread -o "$2" %s/f.c\n' % tmp_path)
    for folder in (tmp_path, *tmp_path.parents):
        if os.stat(folder).st_uid == os.geteuid() and str(folder) not in ("/", "/tmp", "/dev/shm"):
            folder.chmod(0o755)

    def nobody():
        resource.setrlimit(resource.RLIMIT_NPROC, (30, 30))
        os.setgroups([])
        os.setgid(65531)
        os.setuid(65531)
    args = ["--from", "NCHW", "--to", "NHWC", "--shape", "1,2,3,4", "--dtype", "f32", "--name", "nobody_s", "-o", "-", "--check", "sh %s/cc" % tmp_path]
    try:
        r = subprocess.run([RAVEL, "emit", *args], preexec_fn=nobody, cwd="/", capture_output=True, text=True, timeout=100, env={**os.environ, "TMPDIR": "/tmp"})
    except OSError as e:
        pytest.skip("another user may not run it: %s" % e)
    assert r.returncode == 2 and r.stdout == "" and "the code cannot start its threads" in r.stderr and r.stderr.endswith("(ulimit -u)\n"), r
