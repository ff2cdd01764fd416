"""Slices, lists and numbers for an extent that each run is given by a name, as C in NHWC(8,C,56,56)[:, 1:3]: against NumPy's own indexing."""
import ctypes as ct
import os
import random
import subprocess

import numpy as np
import pytest

import ravel
from runtime_cases import built
from test_arrays import PTR, cx, data, same                                 # noqa: F401
from test_arrays_open import STRICT, blocks, ravel_says
from test_grid_arrays import library
from test_open_strides import names

SEED = int(os.environ.get("SEED", "19"))
OPEN = -1


def runs(plan, dst, src, shape):
    ravel.call(ravel.lib.ravel_run_shape, plan.p, dst.ctypes.data, src.ctypes.data, ravel.extents(shape))


def fits(index, n, count):
    """Whether NumPy selects `count` of n elements where it lets no end of a slice be the tensor's instead."""
    if not isinstance(index, slice):
        return all(-n <= x < n for x in np.atleast_1d(index))
    step = index.step or 1
    first, last = (0, n) if step > 0 else (n - 1, -1)
    start, stop = (unless if x is None else x + n*(x < 0) for x, unless in ((index.start, first), (index.stop, last)))
    return list(range(start, stop, step)) == list(range(n)[index]) and len(range(n)[index]) == count


S = slice
# The text of the index, NumPy's, and the extent of the view where it is a number.
INDICES = [("1:3", S(1, 3), 2), (":3", S(0, 3), 3), ("-3:", S(-3, None), 3), ("-5:-1:2", S(-5, -1, 2), 2), ("2:9:3", S(2, 9, 3), 3), ("5:1:-2", S(5, 1, -2), 2), ("4::-1", S(4, None, -1), 5),
           ("-2:-7:-3", S(-2, -7, -3), 2), ("::2", S(None, None, 2), OPEN), ("1:-3:2", S(1, -3, 2), OPEN), ("::-3", S(None, None, -3), OPEN), ("-2:3:-2", S(-2, 3, -2), OPEN),
           (":3:-1", S(None, 3, -1), OPEN), ("1:", S(1, None), OPEN), ("[0,2]", [0, 2], 2), ("[5,0,3]", [5, 0, 3], 3), ("[-1,-4,-2]", [-1, -4, -2], 3), ("4", 4, None), ("-2", -2, None)]
# The text of the tensor, how it is stored, and its shape; the dim of the extent is the second.
TENSORS = [("NHWC(2,K,3,4)", lambda x: x.transpose(0, 2, 3, 1), (2, 3, 4)), ("ROW_MAJOR(2,K,3)", lambda x: x, (2, 3)),
           ("(A,B,C){A, B//4, C, B%4}(2,K,3)", lambda x: np.stack([blocks(a, 4) for a in x]), (2, 3))]
CASES = [(t, i) for t in TENSORS for i in INDICES if not (t[0].startswith("(") and ("-" in i[0] or i[0] == "::-3"))]


def view_of(rest, count):
    return [rest[0], *([] if count is None else [count]), *rest[1:]]


@pytest.mark.parametrize("tensor, index", CASES, ids=["%s %s" % (t[0], i[0]) for t, i in CASES])
def test_gather_and_scatter(cx, tensor, index):                             # noqa: F811
    (text, stored, rest), (items, select, count) = tensor, index
    view = view_of(rest, count)
    whole = "%s[:, %s]" % (text, items)
    dims = "(%s){%s}" % ((",".join("abcd"[:len(view)]),)*2)
    given = 0 if items in ("1:", ":3:-1") else 1                # these follow from the shape
    with cx.plan(whole, dims, view, "u16") as get, cx.plan(dims, whole, view, "u16") as put:
        assert len(names(get)) == len(names(put)) == given
        for n in (1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 37):
            x = np.random.default_rng(n).integers(1, 2**16, (rest[0], n, *rest[1:]), np.uint16)
            if count == OPEN and not fits(select, n, len(range(n)[select])):
                continue
            good = fits(select, n, count if count != OPEN else len(range(n)[select]))
            shape = x[:, select].shape if count == OPEN else view
            more, y = [n]*given, np.full(shape, 7, "u2")
            if not good:
                for p in get, put:
                    with pytest.raises(ravel.Error, match="extent K is %d: the index selects elements of" % n):
                        runs(p, y, np.ascontiguousarray(stored(x)), (*shape, *more))
                assert (y == 7).all()
                continue
            runs(get, y, np.ascontiguousarray(stored(x)), (*shape, *more))
            assert same(y, x[:, select])
            new, z, out = data(shape, "u2", seed=n), x.copy(), np.ascontiguousarray(stored(x))
            z[:, select] = new
            runs(put, out, new, (*shape, *more))
            assert same(out, stored(z))


@pytest.mark.parametrize("tensor, index", CASES[::2], ids=["%s %s" % (t[0], i[0]) for t, i in CASES[::2]])
def test_proofs(cx, tensor, index):                                         # noqa: F811
    (text, _, rest), (items, _, count) = tensor, index
    view = view_of(rest, count)
    dims = "(%s){%s}" % ((",".join("abcd"[:len(view)]),)*2)
    whole = "%s[:, %s]" % (text, items)
    for a, b in [(whole, dims), (dims, whole)]:
        with cx.plan(a, b, view, "u32") as p:
            p.verify()


def test_random_slices(cx):                                                 # noqa: F811
    """What NumPy selects, or a refusal: never other elements."""
    rnd, taken = random.Random(SEED), 0
    for _ in range(150):
        start, stop, step = (rnd.choice([None, *range(-6, 7)]) for _ in range(3))
        step = step or 1
        text = "ROW_MAJOR(K,3)[%s:%s:%d]" % ("" if start is None else start, "" if stop is None else stop, step)
        n = rnd.randrange(1, 13)
        x, s = data((n, 3), "u2", seed=n), slice(start, stop, step)
        want = x[s]
        if not len(want):
            continue
        y = np.zeros(want.shape, "u2")
        try:
            with cx.plan(text, "ROW_MAJOR", want.shape, "u16") as p:
                if names(p):
                    runs(p, y, x, (*want.shape, n))
                else:
                    ravel.call(ravel.lib.ravel_run, p.p, y.ctypes.data, x.ctypes.data)
        except ravel.Error as e:
            across = (start is not None and (start < 0) == (step > 0)) and (stop is not None and (stop < 0) == (step < 0))
            assert across or not fits(s, n, len(want)), (text, n, e)
        else:
            assert same(y, want), (text, n)
            taken += 1
    assert taken > 50


def test_both_sides(cx):                                                    # noqa: F811
    """Every second row of one tensor to every third of another, of which the run has three extents."""
    with cx.plan("ROW_MAJOR(A,5)[::2]", "ROW_MAJOR(B,5)[1::3]", (OPEN, 5), "u8") as p:
        assert names(p) == ["A", "B"]
        p.verify()
        for a, b in [(9, 16), (10, 14), (1, 2), (2, 4)]:
            x, y = data((a, 5), "u1"), np.zeros((b, 5), "u1")
            want = y.copy()
            want[1::3] = x[::2]
            runs(p, y, x, (-(-a // 2), 5, a, b))
            assert same(y, want)
        for k, a, b in [(4, 9, 16), (5, 8, 16), (5, 11, 16), (5, 9, 13), (5, 9, 17)]:
            y = np.zeros((b, 5), "u1")
            with pytest.raises(ravel.Error, match="selects another number of elements of it than the %d of the shape" % k):
                runs(p, y, data((a, 5), "u1"), (k, 5, a, b))
            assert not y.any()


def test_mask(cx):                                                          # noqa: F811
    """It has the extent."""
    x, y = data((3, 5), "u2"), np.zeros((2, 5), "u2")
    with cx.plan("ROW_MAJOR(K,5)[[True,False,True]]", "ROW_MAJOR", (2, 5), "u16") as p:
        assert names(p) == []
        ravel.call(ravel.lib.ravel_run, p.p, y.ctypes.data, x.ctypes.data)
        assert same(y, x[[True, False, True]])


def test_beside_index_arrays(cx):                                           # noqa: F811
    x, i = data((9, 7), "u2"), np.array([6, 0, 3])
    with cx.plan("ROW_MAJOR(A,B)[2:6:2, idx]", "ROW_MAJOR", (2, 3), "u16") as p:
        assert names(p) == ["A", "B"]
        y = np.zeros((2, 3), "u2")
        arrays = (PTR*1)(i.ctypes.data)
        ravel.call(ravel.lib.ravel_run_arrays, p.p, y.ctypes.data, x.ctypes.data, ravel.extents((2, 3, 9, 7)), arrays)
        assert same(y, x[2:6:2][:, i])
        y[:] = 7
        with pytest.raises(ravel.Error, match="extent A is 4: the index selects elements of 5 or more"):
            ravel.call(ravel.lib.ravel_run_arrays, p.p, y.ctypes.data, x.ctypes.data, ravel.extents((2, 3, 4, 7)), arrays)
        assert (y == 7).all()


# An index of an indexed tensor, of which both extents are names: the arrays and the index in NumPy.
NESTED = [("[idx][:, jdx]", lambda x, i, j: x[i][:, j]), ("[1:4][:, jdx]", lambda x, i, j: x[1:4][:, j]), ("[:, 1:4][idx]", lambda x, i, j: x[:, 1:4][i]),
          ("[:, 1:4][2:5]", lambda x, i, j: x[:, 1:4][2:5]), ("[::-1][2:5, 1:4]", lambda x, i, j: x[::-1][2:5, 1:4]), ("[:, ::-1][idx][:, -3:]", lambda x, i, j: x[:, ::-1][i][:, -3:]),
          ("[::-1, ::-1][[0,3,5]][:, [2,5,3]]", lambda x, i, j: x[::-1, ::-1][[0, 3, 5]][:, [2, 5, 3]])]


@pytest.mark.parametrize("index, select", NESTED, ids=[i for i, _ in NESTED])
def test_nested(cx, index, select):                                         # noqa: F811
    text, i, j = "ROW_MAJOR(A,B)" + index, np.array([5, 0, 3]), np.array([2, 5, 1])
    arrays = [{"idx": i, "jdx": j}[a] for a in sorted(("idx", "jdx"), key=index.find, reverse=True) if a in index]
    with cx.plan(text, "ROW_MAJOR", (3, 3), "u16") as get, cx.plan("ROW_MAJOR", text, (3, 3), "u16") as put:
        order = names(get)
        assert sorted(order) == ["A", "B"] and names(put) == order
        for a, b in [(6, 6), (7, 9), (30, 6), (6, 41)]:
            x, y, new = data((a, b), "u2", seed=b), np.zeros((3, 3), "u2"), data((3, 3), "u2", seed=a)
            shape = (3, 3, *({"A": a, "B": b}[s] for s in order))
            pointers = (PTR*2)(*[z.ctypes.data for z in arrays])
            ravel.call(ravel.lib.ravel_run_arrays, get.p, y.ctypes.data, x.ctypes.data, ravel.extents(shape), pointers)
            assert same(y, select(x, i, j))
            places = select(np.arange(a*b).reshape(a, b), i, j)
            want = x.copy().reshape(-1)
            want[places] = new
            ravel.call(ravel.lib.ravel_run_arrays, put.p, x.ctypes.data, new.ctypes.data, ravel.extents(shape), pointers)
            assert same(x, want)
        for a, b in [(2, 6), (6, 2)]:
            y = np.full((3, 3), 7, "u2")
            with pytest.raises(ravel.Error, match="the index selects elements of|must be 0 to"):
                ravel.call(ravel.lib.ravel_run_arrays, get.p, y.ctypes.data, x.ctypes.data, ravel.extents((3, 3, *({"A": a, "B": b}[s] for s in order))), pointers)
            assert (y == 7).all()
        get.verify()
        put.verify()


def test_emitted(tmp_path):
    """The extents are checked before anything is written."""
    f = tmp_path/"f.c"
    ravel_says("emit", "--from", "(C,H){C//4, H, C%4}(Ct,6)[1::3]", "--to", "ROW_MAJOR(R,6)[-7:-2]", "--shape", "5,6", "--dtype", "u32", "--name", "f", "-o", f, "--check", "gcc -O1")
    subprocess.run(["gcc", *STRICT, "-fsyntax-only", f], check=True)
    so = ct.CDLL(str(built(f, "gcc")))
    for c, r in [(14, 9), (15, 7), (16, 30), (13, 9), (17, 9), (14, 6), (-1, 9), (14, -1), (14, 1 << 62), (1 << 62, 9)]:
        x, y = np.random.default_rng(1).integers(1, 2**32, (min(max(c, 1), 99), 6), np.uint32), np.zeros((min(max(r, 1), 99), 6), "u4")
        src = np.ascontiguousarray(blocks(x, 4))
        bad = so.f(PTR(y.ctypes.data), PTR(src.ctypes.data), ct.c_int64(c), ct.c_int64(r))
        want = np.zeros_like(y)
        if c in (14, 15, 16) and 7 <= r < 99:
            want[-7:-2] = x[1::3]
        assert bad == (not want.any()) and same(y, want), (c, r)


def test_for_devices(tmp_path):
    """In plain C, block after block."""
    x, y = data((23, 6), "u4"), np.zeros((3, 6), "u4")
    ravel_says("emit", "--from", "ROW_MAJOR(N,6)[[-1,-5,-2]]", "--to", "ROW_MAJOR", "--shape", "3,6", "--dtype", "u32", "--target", "blocks", "--name", "k", "-o", tmp_path/"k.c")
    f = library(tmp_path, [tmp_path/"k.c"]).k
    assert f(PTR(y.ctypes.data), PTR(x.ctypes.data), ct.c_int64(23)) == 0 and same(y, x[[-1, -5, -2]])
    y[:] = 0
    assert f(PTR(y.ctypes.data), PTR(x.ctypes.data), ct.c_int64(4)) == 1 and not y.any()


@pytest.mark.parametrize("items, select", [("1:3", S(1, 3)), ("::2", S(None, None, 2)), ("[-1,0]", [-1, 0]), ("[5,2]", [5, 2]), ("-1", -1)])
def test_converted(items, select, tmp_path):
    """The file has the extent."""
    x = data((4, 9), "u2")
    np.save(tmp_path/"x.npy", x)
    ravel_says("convert", tmp_path/"x.npy", tmp_path/"y.npy", "--from", "ROW_MAJOR(4,N)[:, %s]" % items, "--to", "ROW_MAJOR" if items != "-1" else "{A}", "--verify")
    assert same(np.load(tmp_path/"y.npy"), x[:, select])


def test_numbers_stay(tmp_path):
    """A number in the text is not the file's."""
    np.save(tmp_path/"x.npy", data((4, 9), "u2"))
    assert "has shape (4,9), but ROW_MAJOR(5,9)[:, 1:3] of logical shape (5,2) is stored as (5,9)" in ravel_says(
        "convert", tmp_path/"x.npy", tmp_path/"y.npy", "--from", "ROW_MAJOR(5, N)[:, 1:3]", "--to", "ROW_MAJOR", code=2)


@pytest.mark.parametrize("args, why", [
    (["explain", "--from", "ROW_MAJOR(N,6)[-3:2]", "--to", "ROW_MAJOR", "--shape", "2,6", "--dtype", "u32"], "begins at one end and stops at the other"),
    (["explain", "--from", "ROW_MAJOR(N,6)[-3:2]", "--to", "ROW_MAJOR", "--shape", "2,6", "--dtype", "u32"], "give a number and not the name 'N'"),
    (["explain", "--from", "ROW_MAJOR(N,6)[3:2]", "--to", "ROW_MAJOR", "--shape", "2,6", "--dtype", "u32"], "this slice of dim 0 has no elements"),
    (["explain", "--from", "ROW_MAJOR(N,6)[1:3]", "--to", "ROW_MAJOR", "--shape", "3,6", "--dtype", "u32"], "has extent 2 at dim 0 (b0), and the shape 3: write 2 in the shape, or an index that selects 3"),
    (["explain", "--from", "ROW_MAJOR[1:3]", "--to", "ROW_MAJOR", "--shape", "2,6", "--dtype", "u32"], "write the extents of the tensor before the index"),
    (["explain", "--from", "ROW_MAJOR(N,N)[1:3]", "--to", "ROW_MAJOR", "--shape", "2,6", "--dtype", "u32"], "the name 'N' is that of an extent that follows from the shape, too"),
    (["check", "ROW_MAJOR(N,6)[1:3]", "--shape", "2,6"], "'N'"),
])
def test_refused(args, why):
    assert why in ravel_says(*args, code=2)


ONE = [("ROW_MAJOR(6)[4:5]", "{a}", "B"), ("ROW_MAJOR(N)[4:5]", "{a}", "B"), ("ROW_MAJOR(N)[[4]]", "{a}", "B"), ("ROW_MAJOR(N)[0:1]", "{a}", "B"), ("ROW_MAJOR(N)[5::-7]", "{a}", "B"),
       ("ROW_MAJOR(9,6)[1:3][:, 2:3]", "{a,b}", "2,B"), ("{a}", "ROW_MAJOR(6)[4:5]", "B"), ("{a}", "ROW_MAJOR(N)[-1:]", "B"), ("{a,b}", "ROW_MAJOR(1,6)[:,:]", "B,6"), ("{a}", "ROW_MAJOR(1)", "B")]


@pytest.mark.parametrize("a, b, shape", ONE)
def test_one_element_of_several_is_no_extent_at_run_time(a, b, shape):
    """Any number of elements would be read or written at and after its address."""
    why = ravel_says("explain", "--from", a, "--to", b, "--shape", shape, "--dtype", "u16", code=2)
    assert "has extent 1 at dim" in why and "leaves to run time: write 1 in the shape" in why


def test_the_only_element_is_repeated(cx):                                   # noqa: F811
    x = np.arange(6, dtype="u2")
    with cx.plan("ROW_MAJOR(1,6)[:,:]", "{a,b}", (OPEN, 6), "u16") as p:
        for n in 1, 2, 1000:
            got = np.zeros((n, 6), "u2")
            runs(p, got, x, (n, 6))
            assert (got == x).all()


@pytest.mark.parametrize("a, b", [("ROW_MAJOR(N,N)[::2,::3]", "{a,b}"), ("ROW_MAJOR(N,M)[::2,::3]", "ROW_MAJOR(N,M)[::3,::2]")])
def test_an_extent_of_two_parts_is_proven_where_both_fit(a, b):
    r = subprocess.run([ravel.BUILD / "ravel", "verify", "--from", a, "--to", b, "--shape", "B,2", "--dtype", "u16"], capture_output=True, text=True)
    assert r.returncode == 0 and r.stdout.count("yes:") == 2, r.stdout + r.stderr


@pytest.mark.parametrize("a, b", [("ROW_MAJOR(N,8)[1:]", "ROW_MAJOR(N,8)[::2]"), ("ROW_MAJOR(N,8)[::2]", "ROW_MAJOR(N,8)[1:]")])
def test_a_name_is_of_one_kind_on_both_sides(a, b):
    assert "the name 'N' of an extent of" in ravel_says("explain", "--from", a, "--to", b, "--shape", "B,8", "--dtype", "u16", code=2)
