"""The commands that tell of one layout: list, show, index, table, check; and texts of layouts that crash nothing."""

import json
import math
import os
import xml.dom.minidom

import numpy as np
import pytest

import formulas as F
import orders
import sparse
from command import bad, files, good, here, run  # noqa: F401 (here is a fixture)


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
    layout = "(A,B){A, B, swizzle = function(a) return a*7 % 15 end}"
    assert "no inverse in closed form" in good("check", layout, "--shape", "3,5")
    for a in range(3):
        for b in range(5):
            assert good("index", layout, "--shape", "3,5", "--inverse", "--at", (5*a + b)*7 % 15) == "%d,%d\n" % (a, b)
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


def test_a_layout_of_the_element_size_is_shown_for_an_example():
    first, *rest = good("show", "NC1HWC0").splitlines()
    assert first == "NC1HWC0  f16, as an example: the layout depends on the element size (--dtype)"
    same, *others = good("show", "NC1HWC0", "--dtype", "f16").splitlines()
    assert same == "NC1HWC0  f16" and others == rest and "C%16" in "".join(rest)
    assert "C%32" in good("show", "NC1HWC0", "--dtype", "i8")


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


@pytest.mark.parametrize("layout, says", [("{M, K, extent(M)}", "--shape, as in --shape 64,64"), ("{N, C, H, W, extent(C)}", "--shape, as in --shape 2,64,56,56"),
                                          ("NCHW[:, 1:3]", "the extents of the tensor, as in 'NCHW(2,64,56,56)[:, 1:3]'")])
def test_what_is_undecided_says_what_to_give(layout, says):
    """Pasted, it decides."""
    r = run("check", layout)
    assert (r.returncode, r.stdout.decode().splitlines()[1:]) == (1, ["  give " + says])
    given = [layout, *says.split()[-2:]] if says.startswith("--") else [says.split("'")[1]]
    assert run("check", *given).returncode == 0
