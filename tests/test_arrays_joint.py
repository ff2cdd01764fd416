"""Index arrays beside each other, x[i, j]; along a dim, as take_along_axis and put_along_axis have them; numbers of -1: against NumPy."""
import re
import subprocess

import numpy as np
import pytest

import ravel
from test_arrays import SIZES, arrays_of, check, cx, data, ravel_command, run, same

# Index arrays beside each other, and along a dim: the text, the shape of its tensor and of the view, the shapes of the arrays by name with their bounds, and NumPy's answer.
JOINT = [
    ("ROW_MAJOR(20,30)[i, j]", (20, 30), (9,), {"i": ((9,), 20), "j": ((9,), 30)}, lambda x, i, j: x[i, j]),
    ("ROW_MAJOR(20,30)[i32 i, j]", (20, 30), (200,), {"i": ((200,), 20), "j": ((200,), 30)}, lambda x, i, j: x[i, j]),
    ("ROW_MAJOR({6},20,30,{5})[:, i, i32 j, 1:]", (6, 20, 30, 5), (6, 9, 4), {"i": ((9,), 20), "j": ((9,), 30)}, lambda x, i, j: x[:, i, j, 1:]),
    ("ROW_MAJOR(20,7,30)[i, 3, j]", (20, 7, 30), (9,), {"i": ((9,), 20), "j": ((9,), 30)}, lambda x, i, j: x[i, 3, j]),
    ("ROW_MAJOR(4,5,6,{7})[i, j, k][1:, ::-1]", (4, 5, 6, 7), (8, 7), {"i": ((9,), 4), "j": ((9,), 5), "k": ((9,), 6)}, lambda x, i, j, k: x[i, j, k][1:, ::-1]),
    ("ROW_MAJOR(20,30)[i, i]", (20, 30), (9,), {"i": ((9,), 20)}, lambda x, i: x[i, i]),
    ("ROW_MAJOR(30,20)[skip i, i]", (30, 20), (9,), {"i": ((9,), 20)}, lambda x, i: x[i, i]),
    ("(M,K){M//4, K//8, M%4, K%8}(20,32)[i, j]", (5, 4, 4, 8), (9,), {"i": ((9,), 20), "j": ((9,), 32)}, lambda x, i, j: x.transpose(0, 2, 1, 3).reshape(20, 32)[i, j]),
    ("ROW_MAJOR({6},20)[:, along idx]", (6, 20), (6, 9), {"idx": ((6, 9), 20)}, lambda x, i: np.take_along_axis(x, i, 1)),
    ("ROW_MAJOR(20,{6})[along i32 idx]", (20, 6), (9, 6), {"idx": ((9, 6), 20)}, lambda x, i: np.take_along_axis(x, i, 0)),
    ("ROW_MAJOR({4},20,{6})[:, i32 along idx]", (4, 20, 6), (4, 9, 6), {"idx": ((4, 9, 6), 20)}, lambda x, i: np.take_along_axis(x, i, 1)),
    ("ROW_MAJOR({4},20,{6})[:, along idx, ::-1][1:, 2:]", (4, 20, 6), (3, 7, 6), {"idx": ((4, 9, 6), 20)}, lambda x, i: np.take_along_axis(x[..., ::-1], i, 1)[1:, 2:]),
    ("COL_MAJOR({20},6)[:, along idx]", (6, 20), (20, 4), {"idx": ((20, 4), 6)}, lambda x, i: np.take_along_axis(x.T, i, 1)),
    ("ROW_MAJOR(20)[None, along idx]", (20,), (3, 5), {"idx": ((3, 5), 20)}, lambda x, i: x[i]),
    ("ROW_MAJOR(20,30)[along i, along j]", (20, 30), (5, 7), {"i": ((5, 7), 20), "j": ((5, 7), 30)}, lambda x, i, j: x[i, j]),
    ("(A,B){A, B, swizzle = xor(3, 0, 3)}(8,8)[:, along idx]", (8, 8), (8, 5), {"idx": ((8, 5), 8)},
     lambda x, i: np.take_along_axis(x.reshape(-1)[(np.arange(64) ^ np.arange(64) // 8)].reshape(8, 8), i, 1)),
]


def given(plan, arrays, seed=3):
    """Numbers of the arrays, in the plan's order and by name."""
    rng = np.random.default_rng(seed)
    by_name = {n: rng.integers(0, bound, shape) for n, (shape, bound) in arrays.items()}
    return [np.ascontiguousarray(by_name[a[0]].astype("i4" if a[1] == 32 else "i8")) for a in arrays_of(plan)], by_name


def texts(text):
    """The text with numbers for the extents in { }, and with names for them."""
    return text.replace("{", "").replace("}", "") if "{M" not in text and "{A" not in text else text, re.sub(r"\{(\d+)\}", r"E\1", text)


@pytest.mark.parametrize("dtype", ["u4", "u1"])
@pytest.mark.parametrize("case", JOINT, ids=[g[0] for g in JOINT])
def test_joint_and_along(cx, case, dtype):
    text, tensor, view, arrays, select = case
    x, (fixed, named) = data(tensor, dtype), texts(text)
    for text, shape in [(fixed, None)] + [(named, view)] * ("None" not in text and "swizzle" not in text):
        with cx.plan(text, "ROW_MAJOR", [-1] * len(view) if shape else view, {"u4": "u32", "u1": "u8"}[dtype]) as p:
            numbers_, by_name = given(p, arrays)
            y = np.zeros(view, dtype)
            run(p, y, x, numbers_, shape)
            assert same(y, select(x, *by_name.values()))
            p.verify()


def distinct(rng, shape, bounds, along):
    """Numbers for elements of this shape, so that no two elements have one place."""
    if along is None:
        return [a.astype("i8") for a in np.unravel_index(rng.permutation(int(np.prod(bounds)))[:shape[0]], bounds)]
    return [rng.permuted(np.broadcast_to(np.expand_dims(np.arange(bounds[0]), [d for d in range(len(shape)) if d != along]),
                                         [bounds[0] if d == along else n for d, n in enumerate(shape)]), axis=along).take(range(shape[along]), along).astype("i8")]


SCATTERS = [
    ("ROW_MAJOR(20,30)[i, j]", (20, 30), (90,), (20, 30), None, lambda y, v, i, j: y.__setitem__((i, j), v)),
    ("ROW_MAJOR(6,20,30,{5})[:, i, j]", (6, 20, 30, 5), (6, 90, 5), (20, 30), None, lambda y, v, i, j: y.__setitem__((slice(None), i, j), v)),
    ("ROW_MAJOR({6},20)[:, along i]", (6, 20), (6, 9), (20,), 1, lambda y, v, i: np.put_along_axis(y, i, v, 1)),
    ("ROW_MAJOR(20,{6})[along i]", (20, 6), (9, 6), (20,), 0, lambda y, v, i: np.put_along_axis(y, i, v, 0)),
    ("ROW_MAJOR({4},20,{6})[:, along i]", (4, 20, 6), (4, 20, 6), (20,), 1, lambda y, v, i: np.put_along_axis(y, i, v, 1)),
]


@pytest.mark.parametrize("case", SCATTERS, ids=[g[0] for g in SCATTERS])
def test_joint_and_along_as_destination(cx, case):
    text, tensor, view, bounds, along, put = case
    rng, x, (fixed, named) = np.random.default_rng(11), data(view), texts(text)
    rows = {None: [i for i, n in enumerate(view) if n == 90]}.get(along, [])
    places = [np.ascontiguousarray(a) for a in distinct(rng, (90,) if rows else view, bounds, along)]
    for text, shape in [(fixed, None)] + [(named, view)] * (rows != [1]):
        with cx.plan("ROW_MAJOR", text, [-1] * len(view) if shape else view, "f32") as p:
            y = data(tensor, seed=4)
            want = y.copy()
            put(want.view("u4"), x.view("u4"), *places)
            run(p, y, x, places, shape)
            assert same(y, want)
            p.verify()
            check(p, places, shape)
            twice = [a.copy() for a in places]
            for a in twice:
                a[(0,) * (a.ndim - 1) + (1,) if along != 0 else (1,) + (0,) * (a.ndim - 1)] = a.flat[0]
            if along == 1 and len(view) == 3:
                twice[0][0, 1, 0] = twice[0][0, 0, 0]
            with pytest.raises(ravel.Error, match="so two elements have one place"):
                check(p, twice, shape)


def test_which_elements_have_one_place(cx):
    """The witness names the numbers of all arrays; equal numbers in different rows are different places."""
    with cx.plan("ROW_MAJOR", "ROW_MAJOR(20,30)[i, j]", (4,), "f32") as p:
        check(p, [np.array([1, 1, 2, 2]), np.array([5, 6, 5, 6])])
        with pytest.raises(ravel.Error, match=r"numbers 1 and 3 of the index arrays 'i' and 'j' are both \(1,6\), so two elements"):
            check(p, [np.array([1, 1, 2, 1]), np.array([5, 6, 5, 6])])
    with cx.plan("ROW_MAJOR", "ROW_MAJOR(2,30)[:, along i]", (2, 3), "f32") as p:
        check(p, [np.array([[1, 7, 2], [2, 1, 7]])])
        with pytest.raises(ravel.Error, match="numbers 3 and 5 of the index array 'i' are both 2, so two elements"):
            check(p, [np.array([[1, 7, 3], [2, 1, 2]])])


@pytest.mark.parametrize("text,shape,why", [
    ("ROW_MAJOR(9,9,9)[i, :, j]", (3, 9), "lists and numbers that are not adjacent"),
    ("ROW_MAJOR(9,9)[i, [0, 2]]", (3,), r"an index array beside a list of numbers: index in two steps, as in \[rows\]\[:, \[1, 3\]\]"),
    ("ROW_MAJOR(9,9)[i, along j]", (3, 4), "a list beside an index array along a dim"),
    ("ROW_MAJOR(9,9,9,9,9)[a, b, c, d, e]", (3,), "more than 4 index arrays"),
    ("ROW_MAJOR(9,9)[i32 i, i]", (3,), "two index arrays of different type have the name 'i'"),
    ("ROW_MAJOR[i, j]", (3,), "does not follow from the shape"),
    ("ROW_MAJOR(9,9)[along]", (3, 9), "expected an index")])
def test_wrong_joint_texts(text, shape, why):
    with ravel.Context() as cx, pytest.raises(ravel.Error, match=why):
        cx.plan(text, "ROW_MAJOR", shape, "f32")


@pytest.mark.parametrize("text,shape,why", [
    ("ROW_MAJOR(3,4)[i, j]", (13,), "13 numbers writes some of 12 coordinates twice"),
    ("ROW_MAJOR(9,9)[i, i]", (10,), "10 numbers writes some of 9 coordinates twice"),
    ("ROW_MAJOR(3,4)[:, along i]", (3, 5), "5 numbers writes some of 4 coordinates twice")])
def test_joint_destinations_without_room(text, shape, why):
    with ravel.Context() as cx, pytest.raises(ravel.Error, match=why):
        cx.plan("ROW_MAJOR", text, shape, "f32")


def with_gaps(a, rng):
    """The numbers with -1 at a third of the places."""
    return np.where(rng.random(a.shape) < 0.35, -1, a).astype(a.dtype)


@pytest.mark.parametrize("dtype,width", SIZES + [("u4", 1), ("u4", 4)])
def test_rows_that_are_skipped(cx, dtype, width):
    """Rows whose number is -1 are not moved, by the kernel and by loops: slots of a cache, and pages of a table."""
    rng, packed = np.random.default_rng(23), dtype == "u4"
    t = {"u8": "u1", "u16": "u2", "u32": "u4", "f64": "f8", "c128": "c16", "u4": "u1"}[dtype]
    x, y = data((60, width), t), data((60, width), t, seed=4)
    i, j = with_gaps(rng.integers(0, 50, 37), rng), with_gaps(rng.permutation(60)[:37], rng).astype("i4")
    if packed:
        x, y = x & 15, y & 15
    store = lambda a: np.ascontiguousarray(a.reshape(-1)[::2] | a.reshape(-1)[1::2] << 4) if packed else a
    load = lambda a, like: np.stack([a & 15, a >> 4], 1).reshape(like.shape) if packed else a
    for src, dst, n, arrays in [("ROW_MAJOR(60,%d)[skip i]", "ROW_MAJOR(60,%d)[:37]", 37, [i]), ("ROW_MAJOR(60,%d)[:37]", "ROW_MAJOR(60,%d)[i32 skip j]", 37, [j]),
                                ("ROW_MAJOR(60,%d)[skip i]", "ROW_MAJOR(60,%d)[skip i32 j]", 37, [i, j])]:
        rows_of = i if "i]" in src else np.arange(37)
        rows_to = j if "j]" in dst else np.arange(37)
        moved = (rows_of >= 0) & (rows_to >= 0)
        want = y.copy()
        want[rows_to[moved]] = x[rows_of[moved]]
        with cx.plan(src % width, dst % width, (37, width), dtype) as p:
            got = store(y).copy()
            run(p, got, store(x), arrays)
            assert same(load(got, y), want)
            p.verify()
            check(p, arrays)
            with pytest.raises(ravel.Error, match="is -2, and must be -1 to"):
                run(p, got, store(x), [np.where(a < 0, -2, a).astype(a.dtype) for a in arrays])


@pytest.mark.parametrize("src,dst,view,arrays,move", [
    ("ROW_MAJOR", "ROW_MAJOR(20,30)[i, skip j]", (9,), {"i": ((9,), 20), "j": ((9,), 30)}, lambda x, y, i, j: y.__setitem__((i[j >= 0], j[j >= 0]), x[j >= 0])),
    ("ROW_MAJOR(6,20)[:, along skip i]", "COL_MAJOR", (6, 9), {"i": ((6, 9), 20)}, lambda x, y, i: np.copyto(y, np.take_along_axis(x, i, 1).T, where=i.T >= 0)),
    ("(A,B){A, B, swizzle = xor(3, 0, 3)}(8,8)[:, skip along i]", "ROW_MAJOR", (8, 5), {"i": ((8, 5), 8)},
     lambda x, y, i: np.copyto(y, np.take_along_axis(x.reshape(-1)[(np.arange(64) ^ np.arange(64) // 8)].reshape(8, 8), i, 1), where=i >= 0)),
    ("ROW_MAJOR(20,6)[skip a][:, along b]", "ROW_MAJOR", (9, 4), {"a": ((9,), 20), "b": ((9, 4), 6)},
     lambda x, y, a, b: np.copyto(y, np.take_along_axis(x[a], b, 1), where=a[:, None] >= 0)),
    ("(P,T,D){P,T,D}(20,4,8)[i32 skip table]", "(P,T,D){P//2, T, P%2, D}", (7, 4, 8), {"table": ((7,), 20)}, None)])
def test_joint_elements_that_are_skipped(cx, src, dst, view, arrays, move):
    """Where several numbers, or a number of a number, lead to an element, and where the destination has padding."""
    tensor = lambda text: tuple(int(n) for n in re.findall(r"\d+", re.search(r"\}?\((\d[\d,]*)\)\[", text)[1])) if "[" in text else view
    rng, x = np.random.default_rng(29), data(tensor(src), "u4")
    y = data(tensor(dst) if "[" in dst else (view[::-1] if dst == "COL_MAJOR" else view), "u4", seed=4)
    with cx.plan(src, dst, view, "u32") as p:
        numbers_, by_name = given(p, arrays)
        for a, n in zip(arrays_of(p), range(9)):
            if a[0] in ("j", "i", "a", "table") and not ("[i, skip j]" in dst and a[0] == "i"):
                numbers_[n] = with_gaps(numbers_[n], rng)
            by_name[a[0]] = numbers_[n]
        if move:
            want = y.copy()
            move(x, want, *by_name.values())
        else:
            i = by_name["table"]
            rows = np.concatenate([np.arange(7), [-1]])
            y = np.full((8, 4, 8), 77, "u4")
            want = y.copy()
            want[7] = 0
            want[:7][i >= 0] = x[i[i >= 0]]
            y, want = [np.ascontiguousarray(a.reshape(4, 2, 4, 8).transpose(0, 2, 1, 3)) for a in (y, want)]
        run(p, y, x, numbers_)
        assert same(y, want)
        p.verify()


@pytest.mark.parametrize("dtype", ["u32", "u4"])
@pytest.mark.parametrize("side", ["from", "to"])
@pytest.mark.parametrize("text,n,numbers,shape", [
    ("ROW_MAJOR(1,12)[skip i]", 12, [-1], (1, 12)), ("ROW_MAJOR(1,12)[skip i]", 12, [0], (1, 12)), ("ROW_MAJOR(16,1)[:, skip i]", 16, [0, -1], (16, 2)),
    ("ROW_MAJOR(16,1)[:, skip i]", 16, [-1, -1], (16, 2)), ("ROW_MAJOR(1,6)[skip along i]", 6, [[0, -1, 0, -1, -1, 0], [-1, 0, -1, -1, 0, -1]], (2, 6)),
    ("(A,B){A//4, B, A%4}(3,4)[skip i]", 16, [-1, 2, -1, 0, -1, 1], (6, 4)), ("(A,B){(A + 2)%3, B}(1,6)[skip i]", 18, [0, -1], (2, 6)), ("NC1HWC0{C0 = 16}(2,4,1,3)[:, skip i]", 96, [3, -1, -1, 0], (2, 4, 1, 3))])
def test_skipped_where_a_dim_has_one_block(cx, text, n, numbers, shape, side, dtype):
    """No address depends on the number then, or a digit of it does not; -1 is no coordinate."""
    i, view = np.array(numbers), np.arange(np.prod(shape)).reshape(shape) % 13 + 1
    at = i if i.ndim > 1 else i.reshape([-1 if d == (1 if ":" in text.split("[")[1] else 0) else 1 for d in range(len(shape))])
    x = [np.broadcast_to(at, shape) if d == (1 if ":" in text.split("[")[1] else 0) else k for d, k in enumerate(np.indices(shape))]
    where = {"ROW_MAJOR(1,12": lambda a, b: a * 12 + b, "ROW_MAJOR(16,1": lambda a, b: a + b, "ROW_MAJOR(1,6)": lambda a, b: a * 6 + b,
             "(A,B){A//4, B,": lambda a, b: b * 4 + a, "(A,B){(A + 2)%": lambda a, b: (a + 2) % 3 * 6 + b, "NC1HWC0{C0 = 1": lambda a, b, c, d: (a * 3 + d) * 16 + b}[text[:14]](*x)
    moved = np.broadcast_to(at >= 0, shape)
    store = lambda a: np.ascontiguousarray(a.reshape(-1)[::2] | a.reshape(-1)[1::2] << 4).astype("u1") if dtype == "u4" else a.astype("u4").reshape(-1)
    tensor, old = np.arange(n) % 11 + 2, np.full(n if side == "to" else view.size, 15)
    want = old.copy() if side == "to" else old.reshape(shape).copy()
    if side == "to":
        want[where[moved]] = view[moved]
    else:
        want[moved] = tensor[where[moved]]
    with cx.plan(*(("ROW_MAJOR", text) if side == "to" else (text, "ROW_MAJOR")), shape, dtype) as p:
        got = store(old)
        if side == "to" and "[:" in text and (i >= 0).sum() > 1:
            return
        run(p, got, store(view if side == "to" else tensor), [i])
        assert same(got, store(want))
        p.verify()


@pytest.mark.parametrize("src,dst,shape,dtype", [
    ("ROW_MAJOR(M,20,K)[:, along i]", "ROW_MAJOR", "M,L,K", "u16"), ("ROW_MAJOR", "ROW_MAJOR(9,20)[:, skip along i32 i]", "9,5", "f32"),
    ("ROW_MAJOR(9,9,9)[i, skip j, k]", "ROW_MAJOR", "N", "u8")])
def test_emitted_code(src, dst, shape, dtype, tmp_path):
    code, said = ravel_command("emit", "--from", src, "--to", dst, "--shape", shape, "--dtype", dtype, "-o", str(tmp_path / "f.c"), "--check", "gcc -O0")
    assert code == 0 and said.startswith("yes") and " 0 runs" not in said, said
    subprocess.run("g++ -std=c++17 -x c++ -O0 -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -c f.c -o f.o".split(), cwd=tmp_path, check=True)


def test_convert(tmp_path):
    """The shape follows from the arrays' files; what is not moved is 0 in a new file."""
    x, rng = data((20, 6), "u4"), np.random.default_rng(41)
    i, j, a = rng.integers(0, 20, 9), rng.integers(0, 6, 9).astype("i4"), rng.integers(0, 6, (20, 4))
    for name, array in (("x", x), ("v", x[:, :4].copy()), ("i", i), ("j", j), ("a", a), ("f", np.asfortranarray(a)), ("gaps", with_gaps(i, rng)), ("put", np.argsort(rng.random((20, 6)), 1)[:, :4].copy())):
        np.save(tmp_path / name, array)
    gaps, put, put_into = np.load(tmp_path / "gaps.npy"), np.load(tmp_path / "put.npy"), np.zeros((20, 6), "u4")
    np.put_along_axis(put_into, put, x[:, :4], 1)
    for source, src, dst, index, want in [
            ("x", "ROW_MAJOR[i, i32 j]", "ROW_MAJOR", "i=i.npy,j=j.npy", x[i, j]), ("x", "ROW_MAJOR[:, along a]", "COL_MAJOR", "a=a.npy", np.take_along_axis(x, a, 1).T),
            ("x", "ROW_MAJOR[:, along a]", "ROW_MAJOR", "a=f.npy", np.take_along_axis(x, a, 1)), ("v", "ROW_MAJOR", "ROW_MAJOR(20,6)[:, along a]", "a=put.npy", put_into),
            ("x", "ROW_MAJOR[skip gaps]", "ROW_MAJOR", "gaps=gaps.npy", np.where(gaps[:, None] < 0, 0, x[gaps]))]:
        code, said = ravel_command("convert", source + ".npy", "o.npy", "--from", src, "--to", dst, "--index", index, "--verify", cwd=tmp_path)
        assert code == 0 and "verified" in said, said
        assert same(np.load(tmp_path / "o.npy"), want.astype("u4")), (src, dst)
    for src, index, why in [("ROW_MAJOR[i]", "i=a.npy", "the index array 'i' has one dim, and 'a.npy' the shape (20,4)"), ("ROW_MAJOR[:, along a]", "a=i.npy", "has a number for each element, and 'i.npy' has 1 dims"),
                            ("ROW_MAJOR[i, i32 j]", "i=i.npy,j=put.npy", "the index array 'j' has the shape (9), and 'put.npy' (20,4)"), ("ROW_MAJOR[gaps]", "gaps=gaps.npy", "is -1, and must be 0 to 19")]:
        code, said = ravel_command("convert", "x.npy", "p.npy", "--from", src, "--to", "ROW_MAJOR", "--index", index, cwd=tmp_path)
        assert code == 2 and why in said and not (tmp_path / "p.npy").exists(), said


def test_convert_takes_the_shape_of_the_part(tmp_path):
    """An array along a dim with as many numbers in another shape is refused, and so is what has no integers; all integers are taken."""
    x, k = data((3, 4), "u4"), np.array([[3, 0], [1, 2], [0, 0]])
    np.save(tmp_path / "x", x)

    def convert(numbers, index="k"):
        np.save(tmp_path / "k", numbers)
        (tmp_path / "y.npy").unlink(missing_ok=True)
        return ravel_command("convert", "x.npy", "y.npy", "--from", "ROW_MAJOR(3,4)[:, along %s]" % index, "--to", "ROW_MAJOR", "--shape", "3,2",
                             "--index", index.split()[-1] + "=k.npy", cwd=tmp_path)
    for wrong, why in [(k.reshape(2, 3), "the index array 'k' has the shape (3,2), and 'k.npy' (2,3)"), (k.ravel(), "has the shape (3,2), and 'k.npy' (6)"),
                       (k.reshape(6, 1), "has the shape (3,2), and 'k.npy' (6,1)"),
                       (k * 1.0, "'k.npy' is no index array: it has 2 dims, of type f8, and must have integers, in one dim or, for 'along k', in the shape of the part; or be a mask of one dim"),
                       (k > 0, "of type b1, and must have integers"), (k.astype("u8") + 2**63, "number 0 of the index array 'k' does not fit 64 bits"),
                       (k.astype("i1") - 1, "number 1 of the index array 'k' is -1, and must be 0 to 3")]:
        code, said = convert(wrong)
        assert code == 2 and why in said and not (tmp_path / "y.npy").exists(), said
    for integers in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", ">i2", ">u8"):
        for index in ("k", "i32 k"):
            code, said = convert(k.astype(integers), index)
            assert code == 0 and same(np.load(tmp_path / "y.npy"), np.take_along_axis(x, k, 1)), said


def draw(rng):
    """The shape of a tensor, the items of an index, the shape of the view, the arrays: slices around index arrays beside each other, or along dims."""
    rank, name = int(rng.integers(1, 5)), iter("abcd")
    tensor, items, view, arrays = [int(n) for n in rng.integers(2, 8, rank)], [], [], {}
    first, n, many = int(rng.integers(0, rank)), int(rng.integers(1, 9)), int(rng.integers(1, 4))
    along = rng.random() < 0.5
    for d, extent in enumerate(tensor):
        if first <= d < first + many:
            key, wide = next(name), "i32 " * (rng.random() < 0.5)
            arrays[key] = [extent, d]
            items.append("%s%s%s" % (wide, "along " * along, key))
            view += [int(rng.integers(1, 6))] if along else [n] * (d == first)
        else:
            start, step = int(rng.integers(0, extent)), int(rng.choice([1, 1, 2, -1]))
            items.append("%d::%d" % (start, step))
            view.append(len(range(extent)[start::step]))
    return tensor, items, view, arrays, along


def selected(x, items, view, arrays, along, given_):
    """By NumPy: the plain slices first; along dims one coordinate of the view after another."""
    if not along:
        return eval("x[%s]" % ", ".join(i.split()[-1] for i in items), {"x": x, **given_})
    sliced = eval("x[%s]" % ", ".join(":" if i.split()[-1] in given_ else i for i in items), {"x": x})
    at = list(np.indices(view))
    for key, (_, d) in arrays.items():
        at[d] = given_[key]
    return sliced[tuple(at)]


@pytest.mark.parametrize("block", range(4))
def test_random_indices(cx, block):
    rng = np.random.default_rng(1900 + block)
    for _ in range(25):
        tensor, items, view, arrays, along = draw(rng)
        text = "ROW_MAJOR(%s)[%s]" % (",".join(map(str, tensor)), ", ".join(items))
        x, t = data(tensor, "u2", seed=int(rng.integers(99))), int(rng.integers(3))
        with cx.plan(text, "COL_MAJOR" if len(view) == 2 and t else "ROW_MAJOR", view, "u16") as p:
            numbers_, by_name = given(p, {k: (view if along else [next(n for i, n in zip(items, view) if i.split()[-1] in arrays)], e) for k, (e, _) in arrays.items()}, seed=int(rng.integers(99)))
            y = np.zeros(view[::-1] if len(view) == 2 and t else view, "u2")
            run(p, y, x, numbers_)
            want = selected(x, items, view, arrays, along, by_name)
            assert same(y.T if len(view) == 2 and t else y, want), text
            p.verify()


@pytest.mark.parametrize("bits", [(64, 64), (32, 32), (64, 32)], ids=str)
@pytest.mark.parametrize("size", [1, 2, 4, 8, 16])
def test_single_elements_of_pairs(cx, size, bits):
    """Gathered and scattered by two arrays, also planes beside each other; a loop moves four elements at a time, so lengths leave 0 to 3."""
    rng, (dtype, u) = np.random.default_rng(size), {1: ("u8", "u1"), 2: ("u16", "u2"), 4: ("u32", "u4"), 8: ("f64", "u8"), 16: ("c128", "c16")}[size]
    names = ["i32 %s" % a if b == 32 else a for a, b in zip("ij", bits)]
    for n in [1, 2, 3, 4, 5, 7, 300]:
        places = rng.permutation(20 * 31)[:n]
        numbers = [np.ascontiguousarray(a.astype("i%d" % (b // 8))) for a, b in zip(np.divmod(places, 31), bits)]
        x, v = data((3, 20, 31), u), data((3, n), u, seed=4)
        for text, of in [("ROW_MAJOR(20,31)[%s, %s]", 0), ("ROW_MAJOR(3,20,31)[:, %s, %s]", slice(None))]:
            with cx.plan(text % tuple(names), "ROW_MAJOR", v[of].shape, dtype) as p:
                y = np.zeros(v[of].shape, u)
                run(p, y, x, numbers)
                assert y.tobytes() == x[of][..., places // 31, places % 31].tobytes()
            with cx.plan("ROW_MAJOR", text % tuple(names), v[of].shape, dtype) as p:
                z, want = x.copy(), x.copy()
                want[of][..., places // 31, places % 31] = v[of]
                run(p, z, np.ascontiguousarray(v[of]), numbers)
                assert z.tobytes() == want.tobytes()
