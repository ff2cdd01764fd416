"""Views of a tensor by an index: every text of an index is evaluated by NumPy too, on an array of the tensor's addresses."""

import ctypes as ct
import os
import random
import re
import subprocess

import numpy as np
import pytest

import ravel
from views import numpys, plain, ran, random_bytes, RAVEL, TENSORS

SEED = int(os.environ.get("SEED", "19"))


def item(rnd, n, listed=None):
    """An index of a dim of extent n; at most one list, which is noted."""
    kind = rnd.random()
    if listed is not None and not listed and kind < 0.15:
        listed.append(n)
        some = [rnd.randint(-n, n - 1) for _ in range(rnd.randint(1, 7))]
        distinct = rnd.sample(range(n), rnd.randint(1, n))
        return str(rnd.choice([distinct, distinct, sorted(distinct), [rnd.random() < 0.6 for _ in range(n)], some]))
    if kind < 0.2:
        return str(rnd.randint(-n, n - 1))
    if kind < 0.4:
        return rnd.choice([":", "::-1", "%d:" % rnd.randint(0, n - 1), ":%d" % rnd.randint(1, n + 3)])
    bound = lambda: rnd.choice(["", str(rnd.randint(-n - 2, n + 2))])
    return "%s:%s%s" % (bound(), bound(), rnd.choice(["", ":", ":2", ":3", ":-1", ":-2", ":-7"]))


def index_of(rnd, shape):
    """The text of an index of a tensor of this shape."""
    listed = []
    items = [item(rnd, n, listed) for n in shape]
    if listed:                         # numbers beside a list move its dim to the front in NumPy
        items = [x if not re.fullmatch(r"-?\d+", x) else ":" for x in items]
    cut = sorted(rnd.sample(range(len(shape) + 1), 2)) if shape and rnd.random() < 0.4 else None
    if cut:
        items[cut[0]:cut[1]] = ["..."]
    for _ in range(rnd.choice([0, 0, 0, 1, 2])):
        items.insert(rnd.randint(0, len(items)), "None")
    return "[%s]" % ", ".join(items or ["..."])


def drawn(rnd):
    """(layout with extents and index, addresses of the tensor, of the view); some select nothing."""
    layout = rnd.choice(list(TENSORS))
    formula, rank = TENSORS[layout]
    rank = rank or rnd.randint(1, 4)
    shape = tuple(rnd.choice([1, 2, 3, 5, 7, 9, 20 if rank < 4 else 4]) for _ in range(rank))
    if layout.startswith("NC1"):
        shape = (rnd.randint(1, 2), rnd.choice([5, 16, 35]), rnd.randint(1, 4), rnd.randint(1, 4))
    at = formula(shape)
    text, index = layout + str(shape).replace(",)", ")"), index_of(rnd, shape)
    view = numpys(at, index)
    if view.size and rnd.random() < 0.2:
        index += index_of(rnd, view.shape)
        view = numpys(at, index)
    return text + index, at, np.asarray(view)


def holds(cx, text, view, dtype, seed):
    """Read and write the view; what it does not reach stays."""
    t = ravel.word({"u8": 8, "f16": 16, "f32": 32, "c128": 128}[dtype])
    with cx.plan(text, plain(view.ndim), view.shape, dtype) as p:
        raw = random_bytes(p.src_bytes, seed)
        assert np.array_equal(p.run(raw, seed).view(t), raw.view(t)[view.reshape(-1)]), text
    if len(np.unique(view)) < view.size:
        with pytest.raises(ravel.Error, match="occurs twice in a list|not one-to-one"):
            cx.plan(plain(view.ndim), text, view.shape, dtype)
        return
    with cx.plan(plain(view.ndim), text, view.shape, dtype) as p:
        raw = random_bytes(p.src_bytes, seed)
        want = np.full(p.dst_bytes, ravel.POISON, np.uint8).view(t)
        want[view.reshape(-1)] = raw.view(t)
        assert np.array_equal(p.run(raw, seed).view(t), want), text


def test_random_indices(cx):
    print("SEED=%d" % SEED)
    rnd, full, empty = random.Random(SEED), 0, 0
    while full < 250:
        text, at, view = drawn(rnd)
        if view.size == 0:
            empty += 1
            with pytest.raises(ravel.Error, match="has no elements|selects no elements"):
                cx.table(text, view.shape, "u8")
            continue
        assert np.array_equal(cx.table(text, view.shape, "f16"), view), text
        holds(cx, text, view, rnd.choice(["u8", "f16", "f32", "c128"]), full)
        full += 1
    assert empty > 20


def test_a_list_of_a_list(cx):
    """Of numbers without an order: it is as long as a list, not as the product of both."""
    rnd = random.Random(SEED)
    at, text = np.arange(48).reshape(48, 1), "(A,B){A//3, B, A%3}(48,1)"
    for n in (34, 23):
        pick = rnd.sample(range(len(at)), n)
        at, text = at[pick], text + "[%s]" % pick
        assert np.array_equal(cx.table(text, at.shape, "f16"), at), text
    holds(cx, text, at, "f16", 3)
    with cx.plan(text, plain(2), at.shape, "f16") as p:
        p.verify()


@pytest.mark.parametrize("block", range(8))
def test_many_random_indices(block, monkeypatch):
    """2,500 expressions in each block by the addresses of all elements; one of 12 is read and written, by the interpreter, which is quicker than to compile."""
    monkeypatch.setenv("RAVEL_CODE", "interpreter")
    print("SEED=%d" % SEED)
    rnd, seen = random.Random("%d %d" % (SEED, block)), set()
    with ravel.Context() as cx:
        while len(seen) < 2500:
            text, _, view = drawn(rnd)
            if view.size == 0 or text in seen:
                continue
            assert np.array_equal(cx.table(text, view.shape, "f16"), view), text
            if len(seen) % 12 == 0:
                holds(cx, text, view, rnd.choice(["u8", "f16", "f32", "c128"]), len(seen))
            seen.add(text)


def test_proofs(cx):
    rnd = random.Random(SEED + 1)
    for i in range(25):
        a, _, x = drawn(rnd)
        while x.size == 0:
            a, _, x = drawn(rnd)
        b = "(S,T,U,V){S, T//16, U, V, T%%16}(%s)[%s]" % (", ".join(str(n + 3) for n in x.shape), ", ".join("%d:%d" % (i % 3, i % 3 + n) for n in x.shape))
        with cx.plan(a, b if x.ndim == 4 else plain(x.ndim), x.shape, "f16") as p:
            p.verify()
            assert p.certificate()["elements"] == x.size


@pytest.mark.parametrize("dtype, bits", [("u1", 1), ("u2", 2), ("i4", 4)])
def test_elements_smaller_than_a_byte(cx, dtype, bits):
    """A region that begins and ends within bytes: their other elements stay."""
    for text, shape in [("ROW_MAJOR(7,13)[1:-1, 3:10]", (5, 7)), ("ROW_MAJOR(6,11)[::2, ::-1]", (3, 11)), ("ROW_MAJOR(40)[5:38:3]", (11,)),
                        ("(A,B){B//8, A, B%8}(5,19)[::-1, 2:17]", (5, 15))]:
        for a, b in [(text, plain(len(shape))), (plain(len(shape)), text)]:
            with cx.plan(a, b, shape, dtype) as p:
                p.verify()


# --- the examples of MegEngine's page about indices, with the answers that are printed there

M = np.arange(1, 10, dtype="i4").reshape(3, 3)


@pytest.mark.parametrize("index, want", [
    ("[1:2][0:1]", [[4, 5, 6]]), ("[1:2]", [[4, 5, 6]]), ("[1:3][0:2]", [[4, 5, 6], [7, 8, 9]]), ("[1:3, 0:2]", [[4, 5], [7, 8]]),
    ("[1, 2]", 6), ("[2]", [7, 8, 9]), ("[2,:]", [7, 8, 9]), ("[:,2]", [3, 6, 9]), ("[..., 2]", [3, 6, 9]), ("[2, ...]", [7, 8, 9])])
def test_megengine(cx, index, want):
    want = np.array(want, "i4")
    with cx.plan("ROW_MAJOR(3,3)" + index, plain(want.ndim), want.shape, "i32") as p:
        assert np.array_equal(p.run(M.reshape(-1).view(np.uint8)).view("i4"), want.reshape(-1))


def test_megengine_too_many(cx):
    with pytest.raises(ravel.Error, match="too many indices: the tensor has 1 dims, and 3 are indexed"):
        cx.table("ROW_MAJOR(3)[0, 1, 2]", (), "f32")


def test_megengine_array(cx):
    with cx.plan("ROW_MAJOR(3)[[0, 2]]", "ROW_MAJOR", (2,), "f32") as p:
        assert p.run(np.array([1, 2, 3], "f4").view(np.uint8)).view("f4").tolist() == [1, 3]


# --- lists

def test_lists(cx):
    """Of runs and of numbers without order, along dims of blocks too; not too many runs."""
    rnd = random.Random(SEED)
    gates = [*range(0, 8), *range(24, 32), *range(8, 24)]
    for numbers in (gates, gates[::-1], rnd.sample(range(32), 32), [3], [5, 5, 7, 9, 11, 2, 1, 0], [*range(0, 32, 2), *range(1, 32, 2)]):
        for layout, shape in [("NC1HWC0{C0 = 16}", (2, 32, 3, 2)), ("NHWC", (2, 32, 2, 3))]:
            text = "%s(%s)[:, %s]" % (layout, ",".join(map(str, shape)), numbers)
            holds(cx, text, TENSORS[layout][0](shape)[:, numbers], "f16", len(numbers))
    with cx.plan("ROW_MAJOR(16,32)[::-1, %s]" % gates, "ROW_MAJOR", (16, 32), "f32") as p:
        p.verify()
        assert p.certificate()["nests"] == 3
    holds(cx, "ROW_MAJOR(32)[%s][[9,8,7,30,2,3]][1:]" % gates, np.array(gates)[[9, 8, 7, 30, 2, 3]][1:], "u8", 1)
    with pytest.raises(ravel.Error, match="a list of [0-9]+ runs of evenly spaced numbers: at most 100"):
        cx.table("ROW_MAJOR(999)[%s]" % rnd.sample(range(999), 300), (300,), "f32")


def test_lists_with_extents_at_run_time(cx):
    text, at = "NCHW(N,6,H,W)[:, [4,0,1,5]]", (3, 4, 5, 6)
    with cx.plan(text, "NHWC", (-1, 4, -1, -1), "f32") as p, cx.plan("NHWC", text, (-1, 4, -1, -1), "f32") as q:
        view = np.arange(3*6*5*6).reshape(3, 6, 5, 6)[:, [4, 0, 1, 5]]
        forth, back = ravel.PlanAt(p, at), ravel.PlanAt(q, at)
        raw = random_bytes(forth.src_bytes, 1)
        there = forth.run(raw)
        assert np.array_equal(there.view("u4").reshape(3, 5, 6, 4), raw.view("u4")[view].transpose(0, 2, 3, 1))
        assert np.array_equal(back.run(there).view("u4")[view], raw.view("u4")[view])
    with pytest.raises(ravel.Error, match="occurs twice"):
        cx.plan("NHWC", "NCHW(N,6,H,W)[:, [4,0,0,5]]", (-1, 4, -1, -1), "f32")
    with pytest.raises(ravel.Error, match="occurs twice"):
        cx.plan("NHWC", "NCHW(N,6,H,W)[:, [4,0,0,5]][:, ::-1]", (-1, 4, -1, -1), "f32")


# --- extents

def test_extents_that_follow(cx):
    at = np.arange(4 * 5 * 6).reshape(4, 5, 6)
    for index in ["[1:, ::-1, :-2]", "[...]", "[2:-1, 1:-1]", "[None, :, None, ::-1]"]:
        view = numpys(at, index)
        assert np.array_equal(cx.table("(A,B,C){A, B, C}" + index, view.shape, "f32"), view)


@pytest.mark.parametrize("text, shape", [("ROW_MAJOR(3,4)[None]", (5, 3, 4)), ("ROW_MAJOR(1,4)", (3, 4)), ("NHWC(2,1,3,4)[:, 0:1]", (2, 6, 3, 4))])
def test_broadcast(cx, text, shape):
    at = cx.table(text, shape, "f32")
    one = cx.table(text, [1 if n in (5, 6) or text == "ROW_MAJOR(1,4)" and n == 3 else n for n in shape], "f32")
    assert np.array_equal(at, np.broadcast_to(one, shape))
    with cx.plan(text, plain(len(shape)), shape, "f32") as p:
        p.verify()
    with pytest.raises(ravel.Error, match="cannot be written to.*an extent of 1 is repeated"):
        cx.plan(plain(len(shape)), text, shape, "f32")


RUNTIME = [("NCHW(N,9,H,W)[1:, 2:7:2, :-3, ::-1]", "NHWC", (None, 3, None, None), "at[1:, 2:7:2, :-3, ::-1]", (1, 0, 3, 0), (0, 9, 0, 0)),
           ("NC1HWC0{C0 = 16}(N,C,5,W)[::-1, 3:]", "NHWC", (None, None, 5, None), None, (0, 3, 0, 0), (0, 0, 5, 0))]


@pytest.mark.parametrize("text, to, shape", [(a, b, s) for a, b, s, *_ in RUNTIME])
def test_extents_at_run_time(cx, text, to, shape):
    layout, index = text.rsplit(")", 1)
    layout = layout[:layout.rindex("(")]
    formula = TENSORS[layout][0] if layout in TENSORS else TENSORS["ROW_MAJOR"][0]
    asked = [-1 if n is None else n for n in shape]
    with cx.plan(text, to, asked, "f32") as p, cx.plan(to, text, asked, "f32") as q:
        for n in [1, 2, 5, 16, 17]:
            at = tuple(n if e is None else e for e in shape)
            tensor = tuple(e + (3 if i == 1 and layout != "NCHW" else 0) for i, e in enumerate(at))
            if layout == "NCHW":
                tensor = (at[0] + 1, 9, at[2] + 3, at[3])
            view = numpys(formula(tensor), index)
            nhwc = TENSORS["NHWC"][0](at)
            forth, back = ravel.PlanAt(p, at), ravel.PlanAt(q, at)
            raw = random_bytes(forth.src_bytes, n)
            want = np.empty(view.size, "u4")
            want[nhwc] = raw.view("u4")[view]
            assert np.array_equal(forth.run(raw).view("u4"), want)
            raw = random_bytes(back.src_bytes, n)
            want = np.full(back.dst_bytes, ravel.POISON, np.uint8).view("u4")
            want[view] = raw.view("u4")[nhwc]
            assert np.array_equal(back.run(raw).view("u4"), want)


def test_bound_of_the_tensor(cx):
    """A digit that ends bounds the extent of the tensor, not that of the view."""
    with cx.plan("(A,B){A, B%8}(A,B)[:, 3:]", "(A,B){A, B}", (-1, -1), "f32") as p:
        ravel.PlanAt(p, (4, 5))
        with pytest.raises(ravel.Error, match="extent of B is 6: 0 to 5"):
            ravel.PlanAt(p, (4, 6))


# --- wrong texts: the answer points at the character

@pytest.mark.parametrize("text, shape, why, mark", [
    ("NHWC(2,5,4,6)[:, 1:3:0]", "2,2,4,6", "step of a slice cannot be 0", "0]"),
    ("NHWC(2,5,4,6)[:, 9]", "2,4,6", "9 is outside dim 1 (C), whose extent is 5", "9]"),
    ("NHWC(2,5,4,6)[-3]", "5,4,6", "-3 is outside dim 0 (N), whose extent is 2", "-3]"),
    ("NHWC(2,5,4,6)[0,0,0,0,7]", "1", "too many indices: the tensor has 4 dims, and 5 are indexed", "7]"),
    ("NHWC(2,5,4,6)[..., ...]", "1", "'...' can occur only once", "...]"),
    ("NHWC(2,5,4,6)[:, $]", "1", "expected an index", "$]"),
    ("NHWC(2,5,4,6)[:, 1.5]", "1", "an index is a whole number", "1.5]"),
    ("NHWC(2,5,4,6)[:, [0,5]]", "2,2,4,6", "5 is outside dim 1 (C), whose extent is 5", "[0,5]]"),
    ("NHWC(2,5,4,6)[[True]]", "1", "a mask of 1 for dim 0 (N), whose extent is 2", "[True]]"),
    ("NHWC(2,5,4,6)[[True, 1]]", "1", "True and False alone", "1]]"),
    ("NHWC(2,5,4,6)[[1, True]]", "1", "a list has numbers, or True and False", "]]"),
    ("NHWC(2,5,4,6)[[False, False]]", "1", "selects no elements", "]"),
    ("NHWC(2,5,4,6)[[]]", "1", "expected a number of a list", "]]"),
    ("NHWC(2,5,4,6)[[[0]]]", "1", "a list of lists", "[0]]]"),
    ("NHWC(2,5,4,6)[[0], [1]]", "1", "a second list", "[1]]"),
    ("NHWC(2,5,4,6)[0, :, [1]]", "1", "not adjacent", "[1]]"),
    ("NHWC(2,5,4,6)" + "[:]" * 20, "2,5,4,6", "more than 16 indices", "[:]" * 4),
    ("NHWC[[9223372036854775807, -9223372036854775807]]", "2,5,4,6", "the extent of dim 0", "[9223372036854775807, -9223372036854775807]]"),
    ("NHWC[[0, 3, 1]]", "3,5,4,6", "the extent of dim 0 (N) of the tensor does not follow", "[0, 3, 1]]"),
    ("NHWC(2,5,4,6)[1:3", "1", "expected , or ]", ""),
    ("NHWC(2,5,4,6)[0] x", "1", "expected an index in [ ], or the end", "x"),
    ("NHWC(2,0,4,6)[0]", "1", "expected an extent", "0,4,6)[0]"),
    ("NHWC(2,5,4,6)[:, 99999999999999999999]", "1", "does not fit 64 bits", "99999999999999999999]"),
    ("NHWC(2,5,4,6)[:, 3:3]", "1", "this slice of dim 1 (C), whose extent is 5, has no elements", "3:3]"),
    ("NHWC(N,5,4,6)[[0, 3, 1]]", "3,5,4,6", "give a number and not the name 'N' before the index", "[0, 3, 1]]"),
    ("NHWC[:, 1:3]", "2,2,4,6", "the extent of dim 1 (C) of the tensor does not follow", "1:3]"),
    ("NHWC[:, 3]", "2,4,6", "the extent of dim 1 (C) of the tensor does not follow", "3]"),
])
def test_wrong_indices(tmp_path, text, shape, why, mark):
    out = tmp_path / "out"
    r = subprocess.run([RAVEL, "table", text, "--shape", shape, "--dtype", "f32", "-o", out], capture_output=True, text=True)
    message, line, point = r.stderr.split("\n")[:3]
    assert r.returncode == 2 and why in message and not out.exists()
    assert line.strip() == text and line[point.index("^"):] == mark


@pytest.mark.parametrize("text, shape, why", [
    ("NHWC(2,5,4,6)", "2,5,4,7", "has extent 6 at dim 3 (W), and the shape 7"), ("NHWC(2,5,4)[0]", "1", "has dims (N, C, H, W)"),
    ("ROW_MAJOR[0]", "", "does not follow"), ("NHWC(2,5,4,6)[:, 1:3]", "2,2,4", "has dims (N, C, H, W)")])
def test_wrong_shapes(text, shape, why):
    r = subprocess.run([RAVEL, "show", text, "--shape", shape, "--dtype", "f32"], capture_output=True, text=True)
    assert r.returncode == 2 and why in r.stderr


def test_commands(tmp_path):
    view = "NHWC(2,5,4,6)[:, 1:3, ..., ::-1]"
    at = TENSORS["NHWC"][0]((2, 5, 4, 6))[:, 1:3, ..., ::-1]
    assert int(ran("index", view, "--at", "1,1,2,3")) == at[1, 1, 2, 3]
    assert ran("index", view, "--at", str(at[1, 0, 3, 5]), "--inverse").strip() == "1,0,3,5"
    assert ran("check", view).startswith("yes: %s is one-to-one for shape 2,2,4,6\n  not dense: 96 elements in 240" % view)
    assert "C + 1" in ran("show", view) and "0..3 step" not in ran("explain", "--from", view, "--to", "NCHW", "--dtype", "f32")
    assert ran("verify", "--from", view, "--to", "NCHW", "--dtype", "f32").count("yes:") == 2
    ran("emit", "--from", view, "--to", "NC1HWC0", "--dtype", "f16", "-o", str(tmp_path / "f.c"), "--check", "gcc -O1")
    text = (tmp_path / "f.c").read_text()
    assert "ravel emit --from '%s' --to NC1HWC0 --shape 2,2,4,6" % view in text and "nhwc_to_nc1hwc0" in text
    assert ran("check", "NHWC[::-1]", "--equals", "NHWC(2,3,4,5)[::-1]", "--shape", "2,3,4,5").startswith("yes")
    r = subprocess.run([RAVEL, "check", "NHWC[::-1]"], capture_output=True, text=True)
    assert r.returncode == 1 and "depends on the shape" in r.stdout


def test_view_shape(cx):
    rank, shape = ct.c_int(), (ct.c_int64 * 16)()
    ravel.call(ravel.lib.ravel_view_shape, cx.p, b"NHWC(N,9,8,7)[:, 0, ::3, None]", ct.byref(rank), shape)
    assert shape[:rank.value] == [-1, 3, 1, 7]
    with pytest.raises(ravel.Error, match="has no extents"):
        ravel.call(ravel.lib.ravel_view_shape, cx.p, b"NHWC", ct.byref(rank), shape)


@pytest.mark.parametrize("src, to", [("NC1HWC0(2,64,4,4)[:, 3:35]", "NCHW"), ("NC1HWC0(2,64,4,4)[:, 50:2:-1]", "NCHW"), ("NCHW(2,64,4,4)[:, 3:35]", "NC1HWC0"),
                                     ("NC1HWC0(2,64,4,4)[:, 3:35]", "NC1HWC0(2,64,4,4)[:, 40:8:-1]"), ("NCHW(2,9,4,4)[:, [0,1,2,7,8,5]]", "NHWC")])
def test_pieces_are_linear(src, to):
    """Blocks are cut where those of the shifted coordinate begin: no digit is left in a loop."""
    assert "residual" not in ran("explain", "--from", src, "--to", to, "--dtype", "f16")


@pytest.mark.parametrize("text, whole, index", [("VNNI2(K,N)(8,6)[1:, ::2]", "VNNI2(K,N)", "[1:, ::2]"),
                                                ("(A,B){A*extent(B)*2 + B}(4,6)[::-1, 1:4]", "(A,B){A*extent(B)*2 + B}", "[::-1, 1:4]")])
def test_names_and_extents(cx, text, whole, index):
    """Names of dims before the extents; an extent by name is the tensor's."""
    at = cx.table(whole, (8, 6) if "VNNI" in whole else (4, 6), "bf16")
    assert np.array_equal(cx.table(text, numpys(at, index).shape, "bf16"), numpys(at, index))


def test_page():
    """What the page about the language shows is what is printed."""
    section = (ravel.ROOT / "specs/reference.md").read_text().split("## Part of a tensor")[1].split("\n## ")[0]
    commands = re.findall(r"^\$ (ravel .*)\n((?:(?!\$ |```).*\n)*)", section, re.M)
    assert len(commands) == section.count("\n$ ") == 4
    for command, printed in commands:
        r = subprocess.run(command, shell=True, env={**os.environ, "PATH": "%s:%s" % (ravel.BUILD, os.environ["PATH"])}, capture_output=True, text=True)
        assert all(line in r.stdout for line in printed.splitlines() if line != "..."), (command, r.stdout)
