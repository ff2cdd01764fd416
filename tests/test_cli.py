"""The command line: what shows the job done, answers and exit codes, conversion of files, and errors that teach."""

import io
import itertools
import json
import math
import os
import re
import stat
import subprocess
import xml.dom.minidom

import numpy as np
import pytest

import formulas as F
import orders
import ravel
import sparse

RAVEL = str(ravel.BUILD / "ravel")
SEED = int(os.environ.get("RAVEL_SEED", "20240611"))
COMMANDS = "list show index table check emit convert verify explain bench tune devices completion".split()


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def run(*args, **kw):
    kw.setdefault("timeout", 60)
    return subprocess.run([RAVEL, *map(str, args)], capture_output=True, **kw)


def good(*args, **kw):
    """Standard output of a command that succeeds without a word of complaint."""
    r = run(*args, **kw)
    assert (r.returncode, r.stderr) == (0, b""), r
    return r.stdout.decode()


def bad(*args, says=(), code=2, **kw):
    """Standard error of one that is refused: nothing on standard output, every piece of `says` in what it says."""
    r = run(*args, **kw)
    assert (r.returncode, r.stdout) == (code, b""), r
    text = r.stderr.decode()
    assert text.endswith("\n") and text.strip()
    for s in [says] if isinstance(says, str) else says:
        assert s in text, text
    return text


def files():
    return sorted(os.listdir())


@pytest.mark.parametrize("args, says", [
    (["tune", "--seconds", "-1"], "--seconds '-1': a whole number from 1 to 3600"), (["tune", "--seconds", "1e3"], "--seconds '1e3': a whole number from 1 to 3600"),
    (["tune", "--seconds", "1,2"], "--seconds '1,2': a whole number from 1 to 3600"), (["bench", "--rounds", ""], "--rounds '': a whole number from 1 to "),
    (["bench", "--rounds", "99999999999999999999"], "--rounds '99999999999999999999': a whole number from 1 to "), (["bench", "--threads", " 1"], "--threads ' 1': a whole"),
    (["check", "--banks", "K:-4"], "--banks K:-4: a lane accesses 1, 2, 4, 8 or 16 bytes"), (["check", "--banks", "K:"], "--banks K:: a lane accesses 1, 2, 4, 8 or 16 bytes"),
    (["check", "--banks", "K:4x"], "--banks K:4x: a lane accesses 1, 2, 4, 8 or 16 bytes"), (["check", "--banks", "K:3"], "a lane accesses 1, 2, 4, 8 or 16 bytes")])
def test_what_a_number_may_be(args, says):
    sides = ["(M,K){M, K}"] if args[0] == "check" else ["--from", "(M,K){M, K}", "--to", "(M,K){K, M}"]
    r = run(*args, *sides, "--shape", "8,8", "--dtype", "f16")
    assert r.returncode == 2 and r.stdout == b"" and says in r.stderr.decode() and r.stderr.count(b"\n") == 1, r



# --- what shows it

def test_shows_table():
    good("table", "NC1HWC0", "--shape", "2,20,5,7", "--dtype", "f16", "-o", "t.npy")
    t = np.load("t.npy")
    assert t.dtype == np.int64 and t.shape == (2, 20, 5, 7) and t[1, 17, 4, 6] == 2225
    assert np.array_equal(t, F.evaluate("NC1HWC0", t.shape, 16).addr)


@pytest.mark.parametrize("layout, shape, dtype, at, answer", [
    ("FRACTAL_Z", "20,35,3,3", "f16", "18,33,2,1", 13089),
    ("{R//128, C//4, R%32, R//32%4, C%4}", "200,10", None, "197,9", 2649)])
def test_shows_index(layout, shape, dtype, at, answer):
    of = ["index", layout, "--shape", shape] + (["--dtype", dtype] if dtype else [])
    assert good(*of, "--at", at) == "%d\n" % answer
    assert good(*of, "--at", answer, "--inverse") == at + "\n"


def test_shows_check():
    yes = good("check", "{M, (K//8%8) ~ (M%8), K%8}", "--shape", "6,64")
    assert yes.startswith("yes")
    no = run("check", "{M//2, K}", "--shape", "8,8")
    assert no.returncode == 1 and no.stderr == b"" and no.stdout.startswith(b"no")
    x, y = re.findall(r"\((\d+),(\d+)\)", no.stdout.decode())[:2]
    assert x != y and [int(x[0])//2, x[1]] == [int(y[0])//2, y[1]]


def test_shows_emit():
    good("emit", "--from", "NCHW", "--to", "NC1HWC0", "--shape", "2,20,5,7", "--dtype", "f16", "-o", "f.c")
    subprocess.run("cc -std=c99 -Wall -Wextra -Wconversion -Werror -c f.c", shell=True, check=True)


def test_shows_convert():
    x = np.random.default_rng(1).random((2, 3, 40, 50), np.float32)
    np.save("x.npy", x)
    assert "verified" in good("convert", "x.npy", "y.npy", "--from", "NCHW", "--to", "FRACTAL_NZ", "--verify")
    assert np.load("y.npy").shape == (2, 3, 7, 3, 16, 8)
    good("convert", "y.npy", "z.npy", "--from", "FRACTAL_NZ", "--to", "NCHW", "--shape", "2,3,40,50")
    assert open("x.npy", "rb").read() == open("z.npy", "rb").read()


def test_processors():
    """Kernels are chosen for a processor that is named; what is emitted does not depend on the one that it is emitted on."""
    at = ["--from", "NCHW", "--to", "NHWC", "--shape", "8,64,56,56", "--dtype", "f32"]
    default = good("explain", *at)
    assert "by the cost model for the processor default" in default
    assert "processor zen3 " in good("explain", *at, "--processor", "zen3")
    costs = {re.search(r"cost: about (\S+) ms", good("explain", *at, "--processor", p)).group(1) for p in ("default", "zen3", "zen4", "emerald-rapids")}
    assert len(costs) == 4
    zen3 = {**os.environ, "RAVEL_PROCESSOR": "zen3"}
    assert good("explain", *at, env=zen3) == default
    assert "processor zen3 " in good("explain", *at, "--processor", "here", env=zen3)
    assert good("emit", *at, "-o", "-", env=zen3) == good("emit", *at, "-o", "-")
    assert "one of default zen3" in bad("explain", *at, "--processor", "z80")


def test_what_a_processor_can():
    """It comes from the instruction set in use, not from the costs."""
    at = ["--from", "(P,C){P, C}", "--to", "(P,C){P, 2 - C}", "--shape", "1000,3", "--dtype", "u8", "--processor"]
    said = lambda *a, **env: re.search(r"for the processor (.*?) \(", good("explain", *at, *a, env={**os.environ, **env})).group(1)
    assert said("default", RAVEL_PROCESSOR="zen4") == "default" and said("zen4") == "zen4" and said("zen3") == "zen3"
    has = set(open("/proc/cpuinfo").read().split())
    for isa, flags, zen3, zen4 in (("avx2", {"avx2"}, "zen3", "zen4 without VBMI"),
                                   ("avx512vbmi", {"avx512bw", "avx512vl", "avx512vbmi", "gfni"}, "zen3 with VBMI", "zen4")):
        if flags <= has:
            assert said("here", RAVEL_PROCESSOR="zen3", RAVEL_ISA=isa) == zen3
            assert said("here", RAVEL_PROCESSOR="zen4", RAVEL_ISA=isa) == zen4


def test_shows_explain():
    text = good("explain", "--from", "NCHW8", "--to", "{N, C//16, H, W, C%16}", "--shape", "16,20,56,56", "--dtype", "f32")
    assert len(re.findall(r"^ +\d+\. (copy|composite|copy_fill|fill) ", text, re.M)) == 3 and "no guards" in text
    assert "n=3136" in text                         # h and w are one loop
    for box in ("C=0..15", "C=16..19", "C=20..31"):
        assert box in text


def test_statements_are_those_of_the_code():
    """As many calls of each kernel, and of a device as many barriers."""
    for shape in ("2,20,5,7", "N,20,H,W", "N,C,H,W"):
        at = ["--from", "NCHW", "--to", "NC1HWC0", "--shape", shape, "--dtype", "f16"]
        calls = [k for k in re.findall(r"^ *call (\w+)\(", good("explain", *at, "--statements"), re.M) if k != "ravel_table_add"]
        code = good("emit", *at, "--name", "f", "-o", "-")
        code = code[code.rindex("\nf"):] if shape[0] == "2" else code[code.rindex("\nf_part("):]
        assert calls and calls == re.findall(r"^ *ravel_(\w+)\(dst", code, re.M)
    at = ["--from", "NCHW", "--to", "NHWC", "--shape", "8,64,56,56", "--dtype", "f16", "--target"]
    assert good("explain", *at, "cuda", "--statements").count("barrier") == good("emit", *at, "cuda", "-o", "-").count("__syncthreads") == 1


# --- list, show, index, table, check

def test_list():
    names = [line.split()[0] for line in good("list").splitlines()]
    assert set(names) == set(F.LAYOUTS) | sparse.NAMES and len(names) == len(set(names))
    entries = json.loads(good("list", "--json"))
    assert {e["name"] for e in entries} == set(F.LAYOUTS) | sparse.NAMES and all(e["doc"] for e in entries)


def test_list_with_a_spec():
    open("mine.lua", "w").write('layout "MINE" { doc = "my own", dims = { M, K }, order = { K, M } }\n')
    assert "MINE" in good("list", "--spec", "mine.lua")
    assert "MINE" in [e["name"] for e in json.loads(good("list", "--spec", "mine.lua", "--json"))]
    assert good("index", "MINE", "--spec", "mine.lua", "--shape", "3,5", "--at", "2,1") == "5\n"
    assert good("index", "mine.lua:MINE", "--shape", "3,5", "--at", "2,1") == "5\n"


def test_a_spec_replaces_the_catalogue():
    open("mine.lua", "w").write('layout "NCHW" { dims = { N, C, H, W }, order = { W, H, C, N } }\n')
    assert good("index", "NCHW", "--spec", "mine.lua", "--shape", "2,3,4,5", "--at", "1,0,0,0") == "1\n"
    assert [e["name"] for e in json.loads(good("list", "--spec", "mine.lua", "--json"))].count("NCHW") == 1


@pytest.mark.parametrize("layout", sorted(F.LAYOUTS)[::4 if "RAVEL_AGAIN" in os.environ else 1])   # fewer on the slow build
def test_every_layout_is_shown_and_checked(layout):
    f = F.LAYOUTS[layout]
    shape = ",".join(map(str, f.shapes[2]))
    widths = f.bits if isinstance(f.bits, tuple) else (f.bits or 16,)
    dtype = {1: "u1", 2: "u2", 4: "u4", 8: "u8", 16: "f16", 32: "f32", 64: "f64", 128: "c128"}[16 if 16 in widths else widths[0]]
    of = [layout, "--shape", shape, "--dtype", dtype]
    assert layout in good("show", *of)
    good("show", *of, "--svg", "p.svg")
    assert xml.dom.minidom.parse("p.svg").documentElement.tagName == "svg"
    assert good("check", *of).startswith("yes")
    j = json.loads(good("check", *of, "--json"))
    m = F.evaluate(layout, f.shapes[2], F.BITS[dtype])
    assert j["one_to_one"] == "yes" and j["size"] == m.size and j["elements"] == m.addr.size
    assert j["elements"] + j["padding"] + j["holes"] == j["size"] and j["dense"] == (m.size == m.addr.size)
    if m.storage:
        fragment = isinstance(f.bits, tuple) or layout.startswith("SM70")      # the oracle's lanes and registers are several digits each
        assert j["holes"] == 0 and (math.prod(j["storage"]) == m.size if fragment else j["storage"] == list(m.storage))
    if not j["dense"]:
        assert j["gap"] not in m.addr
    assert "inverse" in j or j["proven_by"] == "factors"


def test_index_inverse_of_every_address():
    m = F.evaluate("NC1HWC0{C0=4}", (1, 3, 2, 1), 16)
    at = {int(a): ",".join(map(str, i)) for i, a in np.ndenumerate(m.addr)}
    for a in range(m.size):
        r = run("index", "NC1HWC0{C0=4}", "--shape", "1,3,2,1", "--at", a, "--inverse", "--dtype", "f16")
        if a in at:
            assert (r.returncode, r.stdout.decode()) == (0, at[a] + "\n")
        else:
            assert r.returncode == 1 and b"padding" in r.stdout and r.stderr == b""


@pytest.mark.parametrize("at", ["", "1", "1,2,3,4,5", "2,0,0,0", "0,20,0,0", "-1,0,0,0", "a,b,c,d", "0,0,0,0,", "0,,0,0", "1.5,0,0,0",
                                "99999999999999999999,0,0,0"])
def test_wrong_index(at):
    bad("index", "NCHW", "--shape", "2,20,5,7", "--at", at, says="--at")


def test_index_inverse_by_looking():
    """A layout that has no inverse in closed form: each element is found again."""
    layout = "(A,B){A, (A*2 + B)%5}"
    assert "no inverse in closed form" in good("check", layout, "--shape", "3,5")
    for a in range(3):
        for b in range(5):
            assert good("index", layout, "--shape", "3,5", "--inverse", "--at", 5*a + (2*a + b) % 5) == "%d,%d\n" % (a, b)
    bad("index", layout, "--shape", "3,5", "--inverse", "--at", "1,2", says="--at")


def test_equal_beyond_counting():
    """Too many elements to look at each: a difference is found by samples, and none found is no yes."""
    n = 1 << 22
    of = ["--shape", "%d,8" % n, "--dtype", "u8", "--json"]
    for other, address in (("(A,B){B, A ~ (B%8*3)}", lambda a, b: n*b + (a ^ b*3)),
                           ("(A,B){B, A ~ (A//1048576*4096)}", lambda a, b: n*b + (a ^ (a >> 20 << 12)))):
        r = run("check", "(A,B){B, A}", "--equals", other, *of)
        j = json.loads(r.stdout)
        w = j["witness"]
        a, b = w["x"]
        assert r.returncode == 1 and j["equal"] == "no" and n*b + a == w["address"] != w["other"] == address(a, b)
    r = run("check", "(A,B){B, A}", "--equals", "(A,B){B, max(A, A - B)}", *of)
    assert r.returncode == 1 and json.loads(r.stdout)["equal"] == "unknown"


def test_verify_of_every_shape_in_words():
    args = ["verify", "--from", "NCHW", "--to", "NC1HWC0", "--shape", "N,20,H,7", "--dtype", "f16"]
    text, told = good(*args), json.loads(good(*args, "--json"))
    assert text.count("yes: ") == 2 == len(told["proofs"])
    for j in told["proofs"]:
        for figure in ("%d elements, %d padding, %d holes not written" % (j["elements"], j["padding"], j["holes"]), "%d runs" % j["runs"]):
            assert figure in text, (figure, text)


def test_inverse_outside():
    bad("index", "NCHW", "--shape", "1,1,2,2", "--at", "4", "--inverse", says="outside")


@pytest.mark.parametrize("shape", ["", "2,20", "2,20,5,7,9", "0,20,5,7", "2,-1,5,7", "2;20;5;7", "2,20,5,-x", "2,20,5,7,", ",", "2 20 5 7",
                                   "9223372036854775807,9223372036854775807,2,2", "18446744073709551616,1,1,1", "1,"*40 + "1"])
@pytest.mark.parametrize("command", [["table", "NCHW", "-o", "t.npy"], ["show", "NCHW"], ["check", "NCHW"],
                                     ["index", "NCHW", "--at", "0,0,0,0"],
                                     ["emit", "--from", "NCHW", "--to", "NHWC", "--dtype", "f32", "-o", "f.c"]],
                         ids=lambda c: c[0])
def test_wrong_shape(command, shape):
    bad(*command, "--shape", shape)
    assert files() == []


def test_table_that_is_too_large():
    bad("table", "NCHW", "--shape", "100000,100000,1000,1000", "-o", "t.npy")
    assert files() == []


def test_large_shapes_cost_nothing():
    shape = (100000, 100000, 1000, 1000)
    of = ["--shape", ",".join(map(str, shape)), "--dtype", "u8"]
    last = ",".join(str(n - 1) for n in shape)
    assert good("index", "NHWC", *of, "--at", last) == "%d\n" % (np.prod(shape) - 1)
    assert good("index", "NHWC", *of, "--at", np.prod(shape) - 1, "--inverse") == last + "\n"
    assert good("check", "NC1HWC0", *of).startswith("yes")
    bad("check", "NC1HWC0", "--dtype", "u8", "--shape", "4000000000,4000000000,2,2", says="64 bits")


def test_check_every_shape():
    assert good("check", "NC1HWC0", "--dtype", "f16").startswith("yes")
    assert run("check", "{M//2, K}").returncode == 1
    assert json.loads(run("check", "{M//2, K}", "--json").stdout)["one_to_one"] == "no"


def assert_check(layout, shape):
    """Yes and no as counting has it; a no with two coordinates that do collide; a yes with the storage counted."""
    x = orders.Inline(layout)
    i = np.indices(shape)
    at = np.stack(x.entries(list(i))).reshape(len(x.order), -1).T
    one_to_one = len(np.unique(at, axis=0)) == len(at)
    r = run("check", layout, "--shape", ",".join(map(str, shape)), "--dtype", "f32", "--json", timeout=20)
    if b"can be negative" in r.stderr:
        assert r.returncode == 2 and " - " in layout
        return "refused"
    assert r.stderr == b"", r
    j = json.loads(r.stdout)
    if "stored twice" in j.get("why", ""):
        assert r.returncode == 1                # a digit too many is refused though nothing collides
        return "twice"
    assert (r.returncode, j["one_to_one"]) == ((0, "yes") if one_to_one else (1, "no")), (layout, shape, j)
    if not one_to_one:
        a, b = tuple(j["witness"]["x"]), tuple(j["witness"]["y"])
        assert a != b and np.array_equal(at[np.ravel_multi_index(a, shape)], at[np.ravel_multi_index(b, shape)])
        return "no"
    try:
        p = x.place(shape, 32)
    except ValueError:
        return "yes"
    assert (j["elements"], j["size"]) == (p.addr.size, p.size), (layout, shape)
    assert j["elements"] + j["padding"] + j["holes"] == j["size"]
    assert j.get("gap", -1) not in p.addr
    return "yes"


@pytest.mark.parametrize("layout, shape", [
    ("{M//2, K}", (8, 8)), ("{M, K%4}", (3, 9)), ("{M, M, K//2}", (5, 7)), ("{M*2 + K}", (4, 4)), ("{(M%4) ~ (K%4), M//4, K//4}", (5, 8)),
    ("{M & K, M}", (4, 4)), ("{M + K, K}", (3, 4)), ("{M//3, K, M%2}", (9, 2)), ("{M*K, M}", (4, 4)), ("{M | K, K}", (4, 4)),
    ("{(M*3 + K*5) % 16, M}", (13, 15)), ("{M << 2, K}", (3, 4)), ("{M >> 1, M & 1, K}", (5, 4))])
def test_check_against_a_count(layout, shape):
    assert_check(layout, shape)


@pytest.mark.parametrize("layout, shape", [("{M + K, K}", "3,4"), ("{(A) ~ (B), B}", "6,9"), ("{C//2, C%2, 14 - B%15}", "5,6"),
                                           ("{N//4, N%4}", "5"), ("{N, C, pitch = {N = 64}}", "2,3")])
def test_not_dense_has_a_witness(layout, shape):
    """Every no comes with one: an address that nothing reaches."""
    j = json.loads(good("check", layout, "--shape", shape, "--dtype", "f32", "--json"))
    x = orders.Inline(layout).place(tuple(map(int, shape.split(","))), 32)
    assert not j["dense"] and 0 <= j["gap"] < x.size and j["gap"] not in x.addr


# --- tune, whose times no test looks at

PAIR = ("--from", "NCHW", "--to", "NHWC", "--shape", "2,16,9,7", "--dtype", "f32")
HEAD = "ravel wisdom 1\n"


def tune(*args):
    return json.loads(good("tune", *PAIR, "--threads", "1", "--seconds", "1", "--json", *args))


def test_tune():
    j = tune("--wisdom", "w.txt")
    assert [t["nest"] for t in j["trials"]] == [1]*len(j["trials"]) and len(j["trials"]) > 1 and j["threads"] == 1
    assert sum(t["winner"] for t in j["trials"]) == sum(t["model"] for t in j["trials"]) == 1
    assert not any(t["refused"] for t in j["trials"]) and all(t["ns"] > 0 and t["memcpy"]["median"] > 0 for t in j["trials"])
    assert j["wisdom"] == "w.txt" and j["bytes"] == 2*16*9*7*4 and files() == ["w.txt"]
    head, line, end = open("w.txt").read().split("\n")
    won = next(t for t in j["trials"] if t["winner"])
    assert (head + "\n", end) == (HEAD, "")
    assert line.split("\t")[2:] == ["1", "f32", "(2,16,9,7)", "(N, C, H, W){N, C, H, W}", "(N, C, H, W){N, H, W, C}",
                                    "1:%(kernel)s:%(order)s" % won]
    text = good("tune", *PAIR, "--threads", "1", "--seconds", "1")
    assert "not remembered" in text and "chosen by the model" in text and files() == ["w.txt"]


def test_wisdom_of_others_stays(monkeypatch):
    """Beside what is there; in the file that RAVEL_WISDOM names, which need not be there; all others take it from there."""
    other = "Some CPU\tavx2\t2\tf32\t(2,64)\t(A, B){A, B}\t(A, B){B, A}\t1:copy:unheard of\n"
    open("w.txt", "w").write(HEAD + other)
    tune("--wisdom", "w.txt")
    both = open("w.txt").read()
    assert other in both and both.count("\n") == 3
    monkeypatch.setenv("RAVEL_WISDOM", "v.txt")
    plain = good("explain", *PAIR)
    assert "as tuned" not in plain
    tune()
    assert open("v.txt").read().count("\n") == 2
    assert ", as tuned: about " in good("explain", *PAIR, "--threads", "1")
    monkeypatch.delenv("RAVEL_WISDOM")
    assert "as tuned" not in good("explain", *PAIR, "--threads", "1")
    good("explain", *PAIR, "--wisdom", "w.txt")


@pytest.mark.parametrize("command", [("explain",), ("emit", "-o", "f.c"), ("verify",), ("bench",), ("tune",)])
def test_wrong_wisdom(command):
    """Told by all that take it, and nothing is made or changed."""
    open("w.txt", "w").write(HEAD + "x\n")
    bad(*command, *PAIR, "--wisdom", "w.txt", says=["w.txt", "line 2"])
    bad(*command, *PAIR, "--wisdom", ".", says=["."])
    if command != ("tune",):
        bad(*command, *PAIR, "--wisdom", "none.txt", says="none.txt")
    assert files() == ["w.txt"] and open("w.txt").read() == HEAD + "x\n"


def test_wisdom_changes_the_code():
    """A choice that is not the model's, and gives the same."""
    tune("--wisdom", "w.txt")
    text = open("w.txt").read()
    made = {}
    for pick in ("strided:in order of writes", "transpose4:in order of writes", "nobody:knows it"):
        open("w.txt", "w").write(text[:text.rindex("\t")] + "\t1:" + pick + "\n")
        assert ("1 by " + pick.replace(":", ", ") + ", as tuned" in good("explain", *PAIR, "--threads", "1", "--wisdom", "w.txt")) == \
            ("nobody" not in pick)
        good("emit", *PAIR, "--threads", "1", "--wisdom", "w.txt", "-o", "f.c")
        made[pick] = open("f.c").read()
    good("emit", *PAIR, "-o", "f.c")
    assert open("f.c").read() == made["nobody:knows it"]
    assert len(set(made.values())) == 2


LATER = ("--from", "NCHW", "--to", "NHWC", "--dtype", "f32")


def test_tune_at():
    """With extents left to run time: one entry whatever their names are, for no shape of numbers."""
    j = json.loads(good("tune", *LATER, "--shape", "N,16,H,W", "--at", "2,16,9,7", "--threads", "1", "--seconds", "1", "--json", "--wisdom", "w.txt"))
    assert j["at"] == [2, 16, 9, 7] and j["bytes"] == 2*16*9*7*4 and j["threads"] == 1 and len(j["trials"]) > 1
    head, line, end = open("w.txt").read().split("\n")
    won = next(t for t in j["trials"] if t["winner"])
    assert line.split("\t")[2:] == ["1", "f32", "(a,16,b,c)", "(N, C, H, W){N, C, H, W}", "(N, C, H, W){N, H, W, C}",
                                    "%(nest)d:%(kernel)s:%(order)s" % won]
    wise = ("--threads", "1", "--wisdom", "w.txt")
    for shape, tuned in (("N,16,H,W", True), ("x,16,y,z", True), ("N,17,H,W", False), ("N,C,H,W", False), ("2,16,9,7", False), ("2,16,H,W", False)):
        assert (", as tuned" in good("explain", *LATER, "--shape", shape, *wise)) == tuned, shape
    good("verify", *LATER, "--shape", "N,16,H,W", *wise[2:])
    text = good("tune", *LATER, "--shape", "N,16,h,w", "--at", "3,16,9,7", "--seconds", "1", *wise)
    assert text.startswith("at (3,16,9,7): 12096 bytes, 1 thread;") and open("w.txt").read().count("\n") == 2


@pytest.mark.parametrize("args, says", [
    (["N,16,H,W"], "has names: --at gives the extents to measure at"), (["2,16,9,7", "--at", "2,16,9,7"], "--at is for a --shape with names"),
    (["N,16,H,W", "--at", "2,16,9"], "--at '2,16,9' has 3 extents, --shape 'N,16,H,W' has 4"), (["N,16,N,W", "--at", "2,16,2,9"], "N occurs twice"),
    (["N,16,H,W", "--at", "2,15,9,7"], "extent of C is 15: the plan is for 16"), (["N,16,H,W", "--at", "0,16,9,7"], "extent of N is 0"),
    (["N,16,H,W", "--at", "N,16,9,7"], "--at 'N,16,9,7': numbers are needed here"),
    (["N,16,H,W", "--at", "9223372036854775807,16,9,7"], "extent of N is 9223372036854775807: 0 to "),
    (["N,16,H,W", "--at", "9999999,16,9999,7"], "do not fit this machine's memory"), (["N,16,H,W", "--at", "4611686018427387904,16,9,7"], "64 bits")])
def test_tune_at_what(args, says):
    bad("tune", *LATER, "--wisdom", "w.txt", "--shape", *args, says=says)
    assert files() == []


def test_a_file_with_a_known_name():
    """FILE:NAME beside NAME of another spec: both names are looked up where the file's is the newest."""
    open("mine.lua", "w").write('layout "NCHW" { dims = {N, C, H, W}, order = {N, H, W, C} }')
    more = ["--shape", "2,3,4,5", "--dtype", "u8"]
    for a, b in (("NCHW", "mine.lua:NCHW"), ("mine.lua:NCHW", "NCHW"), ("NCHW(2,3,4,5)", "mine.lua:NCHW")):
        bad("verify", "--from", a, "--to", b, *more, says=["'NCHW' is a layout of the given file and of another spec"])
    good("verify", "--from", "mine.lua:NCHW", "--to", "mine.lua:NCHW", *more)


def test_two_files_with_one_name():
    """The second file's layout does not stand in for that of the first."""
    for name, order in (("a", "K, M"), ("b", "M, K")):
        open(name + ".lua", "w").write('layout "SAME" { dims = { M, K }, order = { %s } }\nlayout "%s" { dims = { M, K }, order = { %s } }' % (order, name.upper(), order))
    for args in (["check", "a.lua:SAME", "--equals", "b.lua:SAME"], ["check", "a.lua:SAME", "--equals", "b.lua:B"],
                 ["emit", "--from", "a.lua:SAME", "--to", "b.lua:SAME", "--shape", "2,3", "--dtype", "u8", "-o", "o.c"]):
        bad(*args, says=["a.lua and b.lua", "'SAME'", "another name"])
    assert run("check", "a.lua:A", "--equals", "b.lua:SAME").returncode == 1
    good("check", "a.lua:A", "--equals", "a.lua:SAME"), good("check", "b.lua:B", "--equals", "b.lua:SAME")


# --- help and errors

@pytest.mark.parametrize("command", COMMANDS)
def test_help_teaches(command):
    text = good(command, "--help")
    assert "Usage: ravel " + command in text and re.search(r"^  ravel " + command, text, re.M)


def test_lines_of_the_help_fit():
    """The C library breaks longer ones again."""
    lines = re.findall(r'^ {5,}"(.*?)(?:\\n)+"', (ravel.ROOT/"cli/main.c").read_text(), re.M)
    assert len(lines) > 100 and [x for x in lines if len(x.replace('\\"', '"')) > 78] == []


MEASURE = {"bench", "tune"}             # for seconds on a slow build, which other tests of them have


@pytest.mark.parametrize("command", [c for c in COMMANDS if c not in MEASURE or "RAVEL_AGAIN" not in os.environ])
def test_examples_of_the_help_work(command):
    """In the order they stand there, the arrays they start from given."""
    np.save("x.npy", np.arange(2*20*5*7, dtype="f2").reshape(2, 20, 5, 7))
    open("mine.lua", "w").write('layout "MINE" { dims = { M, K }, order = { K, M } }\n')
    open("kernels.txt", "w").write("--from NCHW --to NHWC --shape 2,3,5,7 --dtype f32\n")
    open("a.mtx", "w").write("%%MatrixMarket matrix coordinate real general\n2 3 2\n1 1 0.5\n2 3 4\n")
    lines = re.findall(r"^  ((?:ravel|gcc) .*)$", good(command, "--help"), re.M)
    env = dict(os.environ, PATH=str(ravel.BUILD) + ":" + os.environ["PATH"])
    for line in lines:
        r = subprocess.run(line, shell=True, env=env, capture_output=True, timeout=60)
        no = "{M//2, K}' --shape 8,8" in line or "--banks" in line
        assert r.returncode == (1 if no else 0) and r.stderr == b"", (line, r)


def test_help_of_all():
    for ask in (["--help"], ["-h"], ["help"]):
        text = good(*ask)
        assert all(re.search(r"^  %s\b" % c, text, re.M) for c in COMMANDS)
    assert good("--version").startswith("ravel ")
    bad(says="Usage")


@pytest.mark.parametrize("args, says", [
    (["tabel"], ["tabel", "table"]),
    (["index", "NC1HWCO", "--shape", "1,1,1,1", "--at", "0,0,0,0"], ["NC1HWCO", "NC1HWC0"]),
    (["index", "NCHW", "--shape", "1,1,1,1", "--at", "0,0,0,0", "--dtype", "float32"], ["float32", "f32", "bf16"]),
    (["index", "NCHW", "--shape", "1,1,1,1", "--at", "0,0,0,0", "--shap", "1"], []),
    (["index", "NCHW", "--shape", "1,1,1,1", "--at", "0,0,0,0", "--colour"], ["--colour", "--help"]),
    (["index", "NCHW", "--at", "0,0,0,0"], ["--shape"]),
    (["index", "NCHW", "--shape", "1,1,1,1"], ["--at"]),
    (["index", "--shape", "1,1,1,1", "--at", "0"], ["LAYOUT"]),
    (["index", "NCHW", "NHWC", "--shape", "1,1,1,1", "--at", "0"], ["NHWC"]),
    (["index", "NC1HWC0", "--shape", "1,1,1,1", "--at", "0,0,0,0"], ["--dtype"]),
    (["index", "NC1HWC0{C9=4}", "--shape", "1,1,1,1", "--at", "0,0,0,0", "--dtype", "f16"], ["C9", "C0"]),
    (["index", "NC1HWC0{C0=0}", "--shape", "1,1,1,1", "--at", "0,0,0,0", "--dtype", "f16"], []),
    (["index", "MARLIN", "--shape", "16,64", "--at", "0,0", "--dtype", "f16"], ["MARLIN", "4-bit"]),
    (["table", "NCHW", "--shape", "1,1,1,1"], ["--output"]),
    (["emit", "--from", "NCHW", "--to", "NHWC", "--shape", "1,2,3,4", "-o", "f.c"], ["--dtype"]),
    (["emit", "--to", "NHWC", "--shape", "1,2,3,4", "--dtype", "f32", "-o", "f.c"], ["--from"]),
    (["emit", "--from", "NCHW", "--to", "NHWC", "--shape", "1,2,3,4", "--dtype", "f32", "-o", "f.c", "--target", "fortran"],
     ["fortran", "c"]),
    (["emit", "--from", "NCHW", "--to", "NHWC", "--shape", "1,2,3,4", "--dtype", "f32", "-o", "f.c", "--kind", "x"], ["relayout", "inverse"]),
    (["emit", "--from", "NCHW", "--to", "ROW_MAJORX", "--shape", "1,2,3,4", "--dtype", "f32", "-o", "f.c"], ["ROW_MAJOR"]),
    (["emit", "--from", "NCHW", "--to", "{N, C}", "--shape", "1,2,3,4", "--dtype", "f32", "-o", "f.c"], ["dims"]),
    (["explain", "--from", "NCHW", "--to", "NHWC", "--shape", "1,2,3,4"], ["--dtype"]),
    (["explain", "--from", "NCHW", "--to", "NHWC", "--shape", "1,2,3,4", "--dtype", "u8", "--statements", "--target", "bursts"], ["--statements"]),
    (["explain", "--from", "NCHW", "--to", "NHWC", "--shape", "1,2,3,4", "--dtype", "u8", "--statements", "--json"], ["--statements"]),
    (["explain", "--kind", "load", "--from", "ROW_MAJOR", "--to", "MMA_A", "--shape", "64,64", "--dtype", "f16", "--target", "cuda"], ["--kind load", "--statements"]),
    (["explain", "--kind", "offset", "--from", "ROW_MAJOR", "--to", "MMA_A", "--shape", "64,64", "--dtype", "f16", "--statements"], ["--kind offset"]),
    (["check", "{N, C"], []), (["check", "{N,, C}"], []), (["check", ""], []), (["check", "()"], []),
    (["check", "onednn:nChw16c", "--shape", "1,2,3,4"], ["onednn"]),
    (["check", "{N//0, N%4}", "--shape", "9"], []), (["check", "{N//-2, N%2}", "--shape", "9"], []),
    (["check", "{M, K, fil = 3}", "--shape", "2,2"], ["fil"]),
    (["check", "{M, K, pad = {X = 3}}", "--shape", "2,2"], ["X"]),
    (["check", "{M, K, pitch = {M = 3}}", "--shape", "2,2", "--dtype", "f32"], ["pitch", "3"]),
    (["list", "--spec", "none.lua"], ["none.lua"]),
    (["devices", "extra"], ["extra"]),
    (["list", *["w"] * 17], ["'w'"]),
])
def test_wrong_use(args, says):
    bad(*args, says=says)
    assert files() == []


def test_output_that_cannot_be_written():
    bad("table", "NCHW", "--shape", "1,2,3,4", "-o", "no/such/t.npy", says="no/such")
    bad("emit", "--from", "NCHW", "--to", "NHWC", "--shape", "1,2,3,4", "--dtype", "f32", "-o", ".", says=".")
    with open("/dev/full", "w") as full:
        r = subprocess.run([RAVEL, "list"], stdout=full, stderr=subprocess.PIPE)
    assert r.returncode == 2 and r.stderr


# --- convert

def physical(a, layout):
    """The storage of a layout as an array, by the oracle's addresses."""
    bits = a.dtype.itemsize*8
    m = F.evaluate(layout, a.shape, bits)
    out = np.zeros(m.size, a.dtype)
    out[m.addr] = a
    return out.reshape(m.storage)


def same(got, want):
    assert got.shape == want.shape and got.tobytes() == want.tobytes()


VERSIONS = [(1, 0), (2, 0), (3, 0)]
X = np.random.default_rng(7).integers(0, 255, (2, 20, 5, 7)).astype("u1")


@pytest.mark.parametrize("endian, order", itertools.product("<>", "CF"))
@pytest.mark.parametrize("kind", ["f2", "f4", "f8", "i1", "u2", "i4", "u8", "c8", "c16"])
def test_convert_npy(endian, order, kind):
    a = np.array(X, dtype=endian + kind, order=order)
    want = physical(X.astype("<" + kind), "NC1HWC0")
    for version in VERSIONS:
        with open("in.npy", "wb") as f:
            np.lib.format.write_array(f, a, version)
        good("convert", "in.npy", "out.npy", "--from", "NCHW", "--to", "NC1HWC0", "--verify")
        got = np.load("out.npy")
        assert got.dtype == want.dtype
        same(got, want)
    good("convert", "out.npy", "back.npy", "--from", "NC1HWC0", "--to", "NCHW", "--shape", "2,20,5,7")
    same(np.load("back.npy"), X.astype("<" + kind))
    assert np.load("back.npy").dtype == np.dtype("<" + kind)


@pytest.mark.parametrize("a, b", [("NCHW", "NHWC"), ("NHWC", "HWCN"), ("CHWN", "NCHW8"), ("ROW_MAJOR", "FRACTAL_Z"), ("NCHW32", "NHWC"),
                                  ("CHWN4", "NHWCD4")])
def test_convert_between(a, b):
    x = X.astype("<f4")
    np.save("a.npy", physical(x, a))
    for threads in ((), ("--threads", "1"), ("-N", "3")):
        good("convert", "a.npy", "b.npy", "--from", a, "--to", b, "--shape", "2,20,5,7", "--verify", *threads)
        same(np.load("b.npy"), physical(x, b))
    bad("convert", "a.npy", "b.npy", "--from", a, "--to", b, "--shape", "2,20,5,7", "-N", "0", says=["--threads '0': a whole number from 1"])


@pytest.mark.parametrize("a", ["NCHW", "NHWC", "CHWN", "HWCN", "ROW_MAJOR", "COL_MAJOR"])
def test_shape_that_the_file_tells(a):
    np.save("a.npy", physical(X, a))
    good("convert", "a.npy", "b.npy", "--from", a, "--to", "NCHW")
    same(np.load("b.npy"), X)


def test_convert_raw():
    x = X.astype("<f2")
    x.tofile("x.bin")
    want = physical(x, "NC1HWC0")
    good("convert", "x.bin", "y.bin", "--from", "NCHW", "--to", "NC1HWC0", "--shape", "2,20,5,7", "--dtype", "f16", "--verify")
    assert open("y.bin", "rb").read() == want.tobytes()
    good("convert", "x.bin", "y.npy", "--from", "NCHW", "--to", "NC1HWC0", "--shape", "2,20,5,7", "--dtype", "f16")
    same(np.load("y.npy"), want)
    good("convert", "y.npy", "z.bin", "--from", "NC1HWC0", "--to", "NCHW", "--shape", "2,20,5,7")
    assert open("z.bin", "rb").read() == x.tobytes()


@pytest.mark.parametrize("layout, dtype, bits", [("INT4_LOW", "u4", 4), ("INT4_HIGH", "i4", 4), ("UINT2_LOW", "u2", 2), ("BIT_LOW", "u1", 1),
                                                 ("MARLIN", "u4", 4)])
def test_convert_below_a_byte(layout, dtype, bits):
    shape = (16, 64) if layout == "MARLIN" else (5, 7)
    x = np.random.default_rng(3).integers(0, 1 << bits, np.prod(shape), np.uint8)
    m = F.evaluate(layout, shape, bits)
    ravel.pack(x, bits).tofile("x.bin")
    of = ["--shape", ",".join(map(str, shape)), "--dtype", dtype]
    good("convert", "x.bin", "y.bin", "--from", "ROW_MAJOR", "--to", layout, *of, "--verify")
    want = np.zeros(m.size, np.uint8)
    want[m.addr.reshape(-1)] = x
    assert open("y.bin", "rb").read() == ravel.pack(want, bits).tobytes()
    good("convert", "y.bin", "z.bin", "--from", layout, "--to", "ROW_MAJOR", *of)
    assert np.array_equal(ravel.unpack(np.fromfile("z.bin", np.uint8), bits)[:x.size], x)
    good("convert", "x.bin", "y.npy", "--from", "ROW_MAJOR", "--to", layout, *of)
    assert np.load("y.npy").tobytes() == ravel.pack(want, bits).tobytes()
    good("convert", "y.npy", "z.bin", "--from", layout, "--to", "ROW_MAJOR", *of)
    assert np.array_equal(ravel.unpack(np.fromfile("z.bin", np.uint8), bits)[:x.size], x)


def test_convert_bf16():
    """Two opaque bytes, as other programs save it."""
    x = X.astype("<u2").view("V2")
    np.save("x.npy", x)
    good("convert", "x.npy", "y.npy", "--from", "NCHW", "--to", "NHWC", "--dtype", "bf16")
    assert np.load("y.npy").tobytes() == X.astype("<u2").transpose(0, 2, 3, 1).tobytes()


def test_convert_in_place():
    np.save("x.npy", X)
    good("convert", "x.npy", "x.npy", "--from", "NCHW", "--to", "NHWC")
    same(np.load("x.npy"), X.transpose(0, 2, 3, 1).copy())
    assert files() == ["x.npy"]


def test_mode_of_a_new_file():
    """As a program that just opens a file would leave it."""
    save(X)
    old = os.umask(0o027)
    try:
        good("convert", "x.npy", "y.npy", "--from", "NCHW", "--to", "NHWC")
    finally:
        os.umask(old)
    assert stat.S_IMODE(os.stat("y.npy").st_mode) == 0o640


def test_convert_streams():
    f = io.BytesIO()
    np.save(f, X)
    r = run("convert", "-", "-", "--from", "NCHW", "--to", "NHWC", input=f.getvalue())
    if r.returncode:
        assert r.returncode == 2 and r.stderr and not r.stdout     # streams are not promised, silence is not allowed
    else:
        assert X.transpose(0, 2, 3, 1).tobytes() in r.stdout


def save(a, name="x.npy"):
    np.save(name, a)


def cut(n):
    save(X)
    os.truncate("x.npy", os.path.getsize("x.npy") - n)


SHAPE = ["--shape", "2,20,5,7"]
REFUSED = {
    "missing": (lambda: None, [], "x.npy"),
    "empty file": (lambda: open("x.npy", "w"), [], "x.npy"),
    "not npy": (lambda: open("x.npy", "w").write("hello, this is text" * 10), [], "x.npy"),
    "truncated": (lambda: cut(1), [], "missing"),
    "object": (lambda: np.save("x.npy", np.array([{}], object), allow_pickle=True), [], "objects"),
    "rank too small": (lambda: save(X[0]), [], "--shape"),
    "rank too large": (lambda: save(X[None]), [], "--shape"),
    "no elements, of another shape": (lambda: save(X[:0]), ["--shape", "0,20,5,8"], "has no elements"),
    "shape is another": (lambda: save(X), ["--shape", "2,20,7,5"], "2,20,7,5"),
    "shape is malformed": (lambda: save(X), ["--shape", "2x20"], "--shape"),
    "dtype is another": (lambda: save(X), ["--dtype", "f32"], "f32"),
    "dtype unknown": (lambda: save(X), ["--dtype", "f31"], "f31"),
    "from unknown": (lambda: save(X), ["--from", "NCHV"], "NCHW"),
    "to unknown": (lambda: save(X), ["--to", "NHCW"], "NHCW"),
    "physical extents": (lambda: save(np.zeros((2, 2, 5, 7, 32), "u1")), ["--from", "NC1HWC0"] + SHAPE, "(2,1,5,7,32)"),
    "physical extents, moved": (lambda: save(np.zeros((1, 2, 5, 7, 32), "u1")), ["--from", "NC1HWC0"] + SHAPE, "(2,1,5,7,32)"),
    "shape not told": (lambda: save(np.zeros((2, 1, 5, 7, 32), "u1")), ["--from", "NC1HWC0"], "--shape"),
    "not injective": (lambda: save(X), ["--to", "{N, C, H//2, W}"], "one-to-one"),
    "fill too large": (lambda: save(X), ["--to", "{N, C//8, H, W, C%8, fill = 256}"], "fill"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_convert_refuses(what):
    """Nothing is written; what was there stays."""
    make, options, says = REFUSED[what]
    make()
    before = files()
    args = {"--from": "NCHW", "--to": "NHWC"}
    args.update(zip(options[::2], options[1::2]))
    flat = [x for kv in args.items() for x in kv]
    bad("convert", "x.npy", "y.npy", *flat, says=says)
    assert files() == before
    open("y.npy", "w").write("old")
    bad("convert", "x.npy", "y.npy", *flat, says=says)
    assert open("y.npy").read() == "old" and files() == sorted(before + ["y.npy"])


@pytest.mark.parametrize("size", [0, 1, 1399, 1401])
def test_raw_of_the_wrong_size(size):
    open("x.bin", "wb").write(b"x"*size)
    bad("convert", "x.bin", "y.bin", "--from", "NCHW", "--to", "NHWC", *SHAPE, "--dtype", "u8", says=["x.bin", "1400"])
    assert files() == ["x.bin"]


def test_raw_needs_shape_and_dtype():
    open("x.bin", "wb").write(b"x"*1400)
    bad("convert", "x.bin", "y.bin", "--from", "NCHW", "--to", "NHWC", *SHAPE, says="--dtype")
    bad("convert", "x.bin", "y.bin", "--from", "NCHW", "--to", "NHWC", "--dtype", "u8", says="--shape")


def test_output_folder_missing_or_a_folder():
    save(X)
    bad("convert", "x.npy", "no/y.npy", "--from", "NCHW", "--to", "NHWC", says="no/y.npy")
    os.mkdir("dir.npy")
    bad("convert", "x.npy", "dir.npy", "--from", "NCHW", "--to", "NHWC", says="dir.npy")
    assert files() == ["dir.npy", "x.npy"] and os.listdir("dir.npy") == []


def test_holes_come_out_the_same():
    """A hole has no value of its own; a file has one for it, always the same."""
    save(X)
    to = '{N, C//16, H, W, C%16, pitch = {H = 256}, fill = "none"}'
    outs = set()
    for _ in range(2):
        good("convert", "x.npy", "y.npy", "--from", "NCHW", "--to", to)
        outs.add(open("y.npy", "rb").read())
    assert len(outs) == 1


@pytest.mark.parametrize("shape", [(1 << 10, 1 << 10)])
def test_megabytes(shape):
    a = np.arange(np.prod(shape), dtype="<f4").reshape(shape)
    save(a)
    good("convert", "x.npy", "y.npy", "--from", "ROW_MAJOR", "--to", "FRACTAL_NZ")
    same(np.load("y.npy"), physical(a, "FRACTAL_NZ"))


# --- nothing crashes it

HOSTILE = ["{" * 500, "{N" + "//2" * 5000 + "}", "{" + "N+" * 3000 + "N}", "(" * 1000, "{N, C}" * 100, "NCHW{" + "A=1," * 2000 + "}", "\x01\x02",
           "{N[99]}", "{N[-1]}", "{N << 70}", "{N % 9223372036854775807}", "{N * 9223372036854775807}", "{9223372036854775807 + N}",
           "(N){N, swizzle = function(a) while true do end end}", "(N){N, swizzle = function(a) return a() end}",
           "{N, (function() while true do end end)()}", "(N){N, x = string.rep('a', 1 << 40)}", "{N, fill = 0/0}", "{N, fill = 1/0}",
           "(N,N){N}", "(N){M}", "(N){}", "{nil}", "{1}", "{{N}}", "{N, setmetatable({}, {})}", "{N, dims = 3}", "{N, order = {N}}", "{é}",
           "{N, os.exit(7)}", "{N, io.write('x')}", "(...){...}{", "{...}", "(..., N){N, ...}", "{N ~ N}", "{N - N}", "{0*N}", "{-N}", "{5 - N}"]


@pytest.mark.parametrize("text", HOSTILE, ids=lambda t: repr(t[:30]))
def test_hostile_layouts(text):
    r = run("check", text, "--shape", "6", timeout=20)
    assert r.returncode in (0, 1, 2), r
    assert (r.returncode == 2) == bool(r.stderr), r
    if r.returncode < 2:
        with np.errstate(all="ignore"):
            try:
                x = orders.Inline(text)
            except Exception:
                return
            if len(x.dims) == 1:
                at = np.stack(x.entries([np.arange(6)]) or [np.zeros(6, int)])
                assert (len(np.unique(at, axis=1).T) == 6) == (r.returncode == 0), (text, r)
