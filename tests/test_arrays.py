"""Index arrays that each run is given: gather and scatter along a dim, against NumPy's own indexing."""
import ctypes as ct
import subprocess

import numpy as np
import pytest

import ravel

RAVEL = str(ravel.BUILD / "ravel")
PTR = ct.c_void_p


class Array(ct.Structure):
    _fields_ = [("name", ct.c_char_p), ("bits", ct.c_int), ("flags", ct.c_int), ("n", ct.c_int64), ("bound", ct.c_int64), ("rank", ct.c_int), ("extent", ct.c_int64 * 16)]


def arrays_of(plan):
    out = (Array * 8)()
    f = ravel.lib.ravel_plan_arrays
    return [(a.name.decode(), a.bits, a.n, a.bound) for a in out[:f(plan.p, out)]]


def run(plan, dst, src, arrays, shape=None):
    ravel.call(ravel.lib.ravel_run_arrays, plan.p, dst.ctypes.data, src.ctypes.data, shape and ravel.extents(shape),
               (PTR * len(arrays))(*[a.ctypes.data for a in arrays]))


def check(plan, arrays, shape=None):
    ravel.call(ravel.lib.ravel_check_arrays, plan.p, shape and ravel.extents(shape), (PTR * len(arrays))(*[a.ctypes.data for a in arrays]))


def data(shape, dtype="f4", seed=19):
    return np.random.default_rng(seed).integers(0, 256, int(np.prod(shape)) * np.dtype(dtype).itemsize, np.uint8).view(dtype).reshape(shape)


@pytest.fixture(params=["jit", "interpreter"])
def cx(request, monkeypatch):
    monkeypatch.setenv("RAVEL_CODE", request.param)
    with ravel.Context() as c:
        yield c


NHWC = lambda x: np.ascontiguousarray(x.transpose(0, 2, 3, 1))
# Rows of many sizes: lengths for which the kernel has loops of their own, and others.
SIZES = [("u8", 1), ("u8", 3), ("u16", 1), ("u8", 7), ("u32", 1), ("u8", 13), ("f64", 1), ("c128", 1), ("u16", 13), ("u32", 8), ("u8", 47), ("u32", 16), ("u32", 17),
         ("u8", 200), ("u16", 300)]
# The text of the source, the shape of its tensor, what NumPy selects of it, and the shape of that.
GATHERS = [
    ("ROW_MAJOR(20,6)[idx]", (20, 6), lambda x, i: x[i], (9, 6)),
    ("ROW_MAJOR(20,6)[i32 idx]", (20, 6), lambda x, i: x[i], (31, 6)),
    ("ROW_MAJOR(6,20)[:, idx]", (6, 20), lambda x, i: x[:, i], (6, 9)),
    ("ROW_MAJOR(6,20)[::-2, idx][1:]", (6, 20), lambda x, i: x[::-2, i][1:], (2, 9)),
    ("ROW_MAJOR(4,5,6,7)[..., idx, 2:5]", (4, 5, 6, 7), lambda x, i: x[..., i, 2:5], (4, 5, 8, 3)),
    ("ROW_MAJOR(12)[idx]", (12,), lambda x, i: x[i], (40,)),
    ("COL_MAJOR(20,6)[idx, ::-1]", (6, 20), lambda x, i: x.T[i, ::-1], (9, 6)),
    ("(A,B){A//4, B, A%4}(12,3)[idx]", (3, 3, 4), lambda x, i: x.transpose(0, 2, 1).reshape(12, 3)[i], (7, 3)),
    ("(A,B){A, B, swizzle = xor(3, 0, 3)}(8,8)[idx]", (8, 8), lambda x, i: x.reshape(-1)[(np.arange(64) ^ np.arange(64) // 8)].reshape(8, 8)[i], (5, 8)),
]


def numbers(text, n, bound, seed=3):
    return np.random.default_rng(seed).integers(0, bound, n).astype("i4" if "i32" in text else "i8")


def same(a, b):
    """The same bits."""
    return a.tobytes() == np.ascontiguousarray(b).tobytes()


@pytest.mark.parametrize("text,tensor,select,view", GATHERS, ids=[g[0] for g in GATHERS])
def test_gather(cx, text, tensor, select, view):
    x = data(tensor)
    with cx.plan(text, "ROW_MAJOR", view, "f32") as p:
        (name, bits, n, bound), = arrays_of(p)
        assert name == "idx" and n in view and bits == (32 if "i32" in text else 64)
        i = numbers(text, n, bound)
        y = np.zeros(view, "f4")
        run(p, y, x, [i])
        assert same(y, select(x, i))
        p.verify()


@pytest.mark.parametrize("array", ["idx", "i32 idx"])
@pytest.mark.parametrize("dtype,width", SIZES)
def test_rows(cx, dtype, width, array):
    """Gathered, scattered, moved from places to places, and gathered along the second dim, with extents at run time too."""
    t = {"u8": "u1", "u16": "u2", "u32": "u4", "f64": "f8", "c128": "c16"}[dtype]
    x, i, j = data((50, width), t), numbers(array, 37, 50), np.random.default_rng(5).permutation(60)[:37].astype("i4" if "i32" in array else "i8")
    for view in [(37, width), (-1, width), (37, -1)]:
        shape = (37, width) if -1 in view else None
        with cx.plan("ROW_MAJOR(50,%s)[%s]" % ("W" if view[1] < 0 else width, array), "ROW_MAJOR", view, dtype) as p:
            y = np.zeros((37, width), t)
            run(p, y, x, [i], shape)
            assert same(y, x[i])
        with cx.plan("ROW_MAJOR", "ROW_MAJOR(60,%s)[%s]" % ("W" if view[1] < 0 else width, array), view, dtype) as p:
            y = data((60, width), t, seed=4)
            want = y.copy()
            want[j] = x[:37]
            run(p, y, x[:37].copy(), [j], shape)
            assert same(y, want)
    with cx.plan("ROW_MAJOR(50,%d)[%s]" % (width, array), "ROW_MAJOR(60,%d)[%s]" % (width, array.replace("idx", "jdx")), (37, width), dtype) as p:
        want[j] = x[i]
        run(p, y, x, [i, j])
        assert same(y, want)
    with cx.plan("ROW_MAJOR(%d,50)[:, %s]" % (width, array), "ROW_MAJOR", (width, 37), dtype) as p:
        y, turned = np.zeros((width, 37), t), np.ascontiguousarray(x.T)
        run(p, y, turned, [i])
        assert same(y, turned[:, i])


def test_many_rows_and_threads(cx):
    """Calls take a part of the rows each, and threads share them."""
    x, n = data((3000, 24), "u4"), 30000
    i = numbers("", n, 3000)
    for text, view, shape in [("ROW_MAJOR(3000,24)[idx]", (n, 24), None), ("ROW_MAJOR(3000,24)[idx]", (-1, 24), (n, 24))]:
        with cx.plan(text, "ROW_MAJOR", view, "u32") as p:
            y = np.zeros((n, 24), "u4")
            run(p, y, x, [i], shape)
            assert np.array_equal(y, x[i])
        with cx.plan(text, "COL_MAJOR", view, "u32") as p:
            y = np.zeros((24, n), "u4")
            run(p, y, x, [i], shape)
            assert np.array_equal(y, x[i].T)


def test_padding_and_threads(cx):
    """The destination has padding, which is filled, and is large enough for threads."""
    x = data((2, 40, 90, 90), "f2")
    i = numbers("", 35, 40)
    with cx.plan("NHWC(2,40,90,90)[:, idx]", "NC1HWC0{C0 = 16}", (2, 35, 90, 90), "f16") as p:
        want = np.zeros((2, 48, 90, 90), "u2")
        want[:, :35] = x.view("u2")[:, i]
        y = np.full(want.size, 0xA5A5, "u2")
        run(p, y, NHWC(x.view("u2")), [i])
        assert np.array_equal(y.reshape(2, 3, 90, 90, 16), want.reshape(2, 3, 16, 90, 90).transpose(0, 1, 3, 4, 2))


def test_scatter(cx):
    x, i = data((7, 6)), np.array([3, 19, 0, 7, 11, 4, 5])
    with cx.plan("ROW_MAJOR", "ROW_MAJOR(20,6)[idx]", (7, 6), "f32") as p:
        y = data((20, 6), seed=4)
        want = y.copy()
        want[i] = x
        run(p, y, x, [i])
        assert np.array_equal(y.view("u4"), want.view("u4"))
        p.verify()
        check(p, [i])
        with pytest.raises(ravel.Error, match="numbers 0 and 4 of the index array 'idx' are both 3"):
            check(p, [np.array([3, 19, 0, 7, 3, 4, 5])])


def test_scatter_of_bits_is_not_shared(cx):
    """Rows of 3 elements of 4 bits: neighbours have a byte in common, so one thread writes all."""
    n = 1 << 20
    with cx.plan("ROW_MAJOR", "ROW_MAJOR(%d,3)[idx]" % n, (n, 3), "u4") as p:
        x, i = data((3 * n // 2,), "u1"), np.random.default_rng(7).permutation(n)
        y = np.zeros(3 * n // 2, "u1")
        run(p, y, x, [i])
        split = lambda b: np.stack([b & 15, b >> 4], 1).reshape(n, 3)
        assert np.array_equal(split(y)[i], split(x))
        if p.source:
            assert "part == 0 % parts" in p.source


def test_both_sides(cx):
    """Rows of one pool to other rows of another, as a cache of pages moves them; one array on both sides."""
    x, y = data((30, 2, 8)), data((20, 2, 8), seed=5)
    i, j = np.array([29, 3, 3, 0, 7]), np.array([4, 19, 0, 1, 2])
    with cx.plan("(P,H,D){P,H,D}(30,2,8)[take]", "(P,H,D){P,H,D}(20,2,8)[put]", (5, 2, 8), "f32") as p:
        assert [a[0] for a in arrays_of(p)] == ["take", "put"]
        want = y.copy()
        want[j] = x[i]
        run(p, y, x, [i, j])
        assert np.array_equal(y.view("u4"), want.view("u4"))
    with cx.plan("ROW_MAJOR(30,6)[idx]", "ROW_MAJOR(20,6)[idx]", (5, 6), "f32") as p:
        assert arrays_of(p) == [("idx", 64, 5, 20)]


def test_two_arrays(cx):
    x, i, j = data((20, 30)), np.array([19, 2, 2]), np.array([0, 29, 5, 1], "i4")
    with cx.plan("ROW_MAJOR(20,30)[rows][:, i32 cols]", "COL_MAJOR", (3, 4), "f32") as p:
        given = {"rows": i, "cols": j}
        y = np.zeros((4, 3), "f4")
        run(p, y, x, [given[a[0]] for a in arrays_of(p)])
        assert np.array_equal(y.view("u4"), x.view("u4")[i][:, j].T)
        p.verify()


def test_lengths_at_run_time(cx):
    x = data((20, 6))
    with cx.plan("ROW_MAJOR(20,6)[idx]", "COL_MAJOR", (-1, 6), "f32") as p:
        assert arrays_of(p) == [("idx", 64, -1, 20)]
        for n in (1, 2, 33):
            i, y = numbers("", n, 20), np.zeros((6, n), "f4")
            run(p, y, x, [i], (n, 6))
            assert np.array_equal(y.view("u4"), x.view("u4")[i].T)
        p.verify()


def test_a_check_has_no_destination_that_an_array_could_overlap(cx):
    """A destination of 3 * 2**57 bytes would, from address 0, have all arrays in it."""
    with cx.plan("ROW_MAJOR(4,%d)[idx]" % 2**57, "ROW_MAJOR", (3, 2**57), "u8") as p:
        check(p, [np.array([2, 0, 3])])
        with pytest.raises(ravel.Error, match="number 1 of the index array 'idx' is 4"):
            check(p, [np.array([2, 4, 3])])


def test_lengths_at_a_shape(cx):
    with cx.plan("ROW_MAJOR(20,6)[rows][:, i32 cols]", "ROW_MAJOR", (-1, 4), "f32") as p:
        out, shape = (Array * 8)(), ravel.extents((7, 4))
        ravel.call(ravel.lib.ravel_plan_arrays_at, p.p, shape, out)
        assert [(a.name, a.bits, a.n, a.bound) for a in out[:2]] == [(b"cols", 32, 4, 6), (b"rows", 64, 7, 20)]
        assert [(a.rank, a.extent[0]) for a in out[:2]] == [(1, 4), (1, 7)]
        with pytest.raises(ravel.Error, match="the plan is for 4"):
            ravel.call(ravel.lib.ravel_plan_arrays_at, p.p, ravel.extents((7, 5)), out)


def test_the_shape_of_an_array_along_a_dim(cx):
    out = (Array * 8)()
    with cx.plan("ROW_MAJOR(M,20,5)[:, along k]", "ROW_MAJOR", (-1, 7, 5), "f32") as p:
        ravel.lib.ravel_plan_arrays(p.p, out)
        assert (out[0].rank, out[0].n, out[0].extent[:3]) == (3, -1, [-1, 7, 5])
        ravel.call(ravel.lib.ravel_plan_arrays_at, p.p, ravel.extents((4, 7, 5)), out)
        assert (out[0].rank, out[0].n, out[0].extent[:3]) == (3, 140, [4, 7, 5])


def test_pages(cx):
    """A paged cache of keys: `table` has the pages of a sequence, each of 16 tokens."""
    pool, table = data((50, 16, 4, 8), "f2"), np.array([7, 49, 0, 21], "i4")
    with cx.plan("(P,T,H,D){P,T,H,D}(50,16,4,8)[i32 table]", "(P,T,H,D){H,P,T,D}", (4, 16, 4, 8), "f16") as p:
        y = np.zeros((4, 64, 8), "f2")
        run(p, y, pool, [table])
        assert np.array_equal(y.view("u2"), pool.view("u2")[table].reshape(64, 4, 8).transpose(1, 0, 2))


@pytest.mark.parametrize("bad,place", [(20, 4), (-1, 0), (2**62, 3), (-2**63, 6)])
def test_numbers_are_checked_first(cx, bad, place):
    x, y, i = data((20, 6)), np.full((7, 6), 7, "f4"), numbers("", 7, 20)
    i[place] = bad
    with cx.plan("ROW_MAJOR(20,6)[idx]", "ROW_MAJOR", (7, 6), "f32") as p:
        with pytest.raises(ravel.Error, match="number %d of the index array 'idx' is %d, and must be 0 to 19" % (place, bad)):
            run(p, y, x, [i])
        assert (y == 7).all()
        assert ravel.lib.ravel_run(p.p, y.ctypes.data, x.ctypes.data) == 1


@pytest.mark.parametrize("src,dst,shape,why", [
    ("ROW_MAJOR[idx]", "ROW_MAJOR", (3, 4), "does not follow from the shape"),
    ("ROW_MAJOR", "ROW_MAJOR(3,4)[idx]", (5, 4), "5 numbers writes some of 3 coordinates twice"),
    ("ROW_MAJOR", "ROW_MAJOR(3,4)[idx][::-1]", (5, 4), "5 numbers writes some of 3 coordinates twice"),
    ("ROW_MAJOR(9,9)[idx][:, idx]", "ROW_MAJOR", (3, 4), "two index arrays of different length have the name 'idx'"),
    ("(A,B){A, B}(3,9)[:, along idx]", "(B,A){B, A}(2,9)[:, along idx]", (3, 2), "two index arrays of different shape have the name 'idx'"),
    ("ROW_MAJOR(9,9)[idx][:, i32 idx]", "ROW_MAJOR", (3, 3), "two index arrays of different type have the name 'idx'"),
    ("ROW_MAJOR(9,9)[True]", "ROW_MAJOR", (3,), "expected an index")])
def test_wrong_texts(src, dst, shape, why):
    with ravel.Context() as cx, pytest.raises(ravel.Error, match=why):
        cx.plan(src, dst, shape, "f32")


def ravel_command(*args, cwd=None):
    r = subprocess.run([RAVEL, *args], capture_output=True, text=True, cwd=cwd)
    return r.returncode, r.stdout + r.stderr


def test_convert(tmp_path):
    x, i, j = data((20, 6)), np.array([3, 19, 0, 3]), np.array([3, 19, 0, 7], "i4")
    for name, a in ("x", x), ("i", i), ("j", j), ("y", x[:4]):
        np.save(tmp_path / name, a)
    code, said = ravel_command("convert", "x.npy", "o.npy", "--from", "ROW_MAJOR[idx]", "--to", "COL_MAJOR", "--index", "idx=i.npy", "--verify", cwd=tmp_path)
    assert code == 0 and "verified" in said, said
    assert same(np.load(tmp_path / "o.npy"), x[i].T)
    to = "ROW_MAJOR(20,6)[i32 idx]"
    code, said = ravel_command("convert", "y.npy", "o.npy", "--from", "ROW_MAJOR", "--to", to, "--index", "idx=j.npy", "--verify", cwd=tmp_path)
    want = np.zeros((20, 6), "u4")
    want[j] = x[:4].view("u4")
    assert code == 0 and np.array_equal(np.load(tmp_path / "o.npy").view("u4"), want), said
    np.save(tmp_path / "e", i[:0])
    for index, why in [("idx=i.npy", "are both 3"), ("idx=x.npy", "is no index array"), ("jdx=j.npy", "'jdx' is no index array of the layouts"),
                       ("idx=j.npy,idx=j.npy", "--index has the array 'idx' twice"), ("idx=j.npy,x=j.npy", "'x' is no index array"), ("idx", "give its numbers"),
                       ("idx=e.npy", "the index array 'idx' is empty, and logical shape (4,6) has elements")]:
        code, said = ravel_command("convert", "y.npy", "p.npy", "--from", "ROW_MAJOR", "--to", to, "--index", index, cwd=tmp_path)
        assert code == 2 and why in said and not (tmp_path / "p.npy").exists(), said


def test_convert_masks(tmp_path):
    """A file of bools selects as a mask does, as the index of a source and of a destination; one of another length is refused."""
    x, m = data((20, 6)), np.arange(20) % 3 == 1
    for name, a in ("x", x), ("m", m), ("short", m[:19]), ("two", np.ones((20, 6), bool)), ("y", x[:7]):
        np.save(tmp_path / name, a)
    code, said = ravel_command("convert", "x.npy", "o.npy", "--from", "ROW_MAJOR[m]", "--to", "COL_MAJOR", "--index", "m=m.npy", "--verify", cwd=tmp_path)
    assert code == 0 and same(np.load(tmp_path / "o.npy"), x[m].T), said
    code, said = ravel_command("convert", "y.npy", "o.npy", "--from", "ROW_MAJOR", "--to", "ROW_MAJOR(20,6)[m]", "--index", "m=m.npy", cwd=tmp_path)
    want = np.zeros((20, 6), "u4")
    want[m] = x[:7].view("u4")
    assert code == 0 and np.array_equal(np.load(tmp_path / "o.npy").view("u4"), want), said
    for name, why in [("short", "the mask 'short.npy' has 19 numbers, and 'm' indexes an extent of 20"), ("two", "a mask of one dim")]:
        code, said = ravel_command("convert", "x.npy", "p.npy", "--from", "ROW_MAJOR[m]", "--to", "COL_MAJOR", "--index", "m=%s.npy" % name, cwd=tmp_path)
        assert code == 2 and why in said and not (tmp_path / "p.npy").exists(), said


def test_convert_other_inputs(tmp_path):
    """Numbers from standard input, a Fortran-order array, layouts of a file without extents, and arrays that nothing has."""
    x, i = data((20, 6)), np.array([3, 19, 0, 3])
    for name, a in (("x", x), ("f", np.asfortranarray(x)), ("i", i)):
        np.save(tmp_path / name, a)
    (tmp_path / "mine.lua").write_text("layout 'FOO' { dims = { M, K }, order = { M, K } }")
    for source, text, index, want in [
            ("x.npy", "ROW_MAJOR[idx]", "idx=-", x[i]), ("f.npy", "ROW_MAJOR[idx]", "idx=i.npy", x[i]), ("f.npy", "ROW_MAJOR(20,6)[:, 1:3][idx]", "idx=i.npy", x[:, 1:3][i]),
            ("x.npy", "mine.lua:FOO[idx]", "idx=i.npy", x[i]), ("x.npy", "mine.lua:FOO[:, 1:3]", None, x[:, 1:3]), ("x.npy", "mine.lua:FOO@(6,1)(20,6)[2:4]", None, x[2:4])]:
        r = subprocess.run([RAVEL, "convert", source, "o.npy", "--from", text, "--to", "ROW_MAJOR", *(["--index", index] if index else [])], cwd=tmp_path,
                           input=(tmp_path / "i.npy").read_bytes(), capture_output=True)
        assert r.returncode == 0 and same(np.load(tmp_path / "o.npy"), want), (text, r)
    for args, why in [(["x.npy", "--from", "ROW_MAJOR", "--to", "COL_MAJOR", "--index", "idx=i.npy"], "'idx' is no index array of the layouts"),
                      (["-", "--from", "ROW_MAJOR[idx]", "--to", "COL_MAJOR", "--index", "idx=-"], "standard input is the array to convert"),
                      (["x.npy", "--from", "ROW_MAJOR", "--to", "CSR", "--index", "idx=i.npy"], "a sparse format has none")]:
        r = subprocess.run([RAVEL, "convert", args[0], "p.npy", *args[1:]], cwd=tmp_path, input=(tmp_path / "x.npy").read_bytes(), capture_output=True)
        assert r.returncode == 2 and why in r.stderr.decode() and not (tmp_path / "p.npy").exists(), r


def test_the_log_has_a_command_that_runs(tmp_path):
    np.save(tmp_path / "x", data((20, 6)))
    np.save(tmp_path / "i", np.array([3, 19]))
    r = subprocess.run([RAVEL, "convert", "x.npy", "o.npy", "--from", "ROW_MAJOR[idx]", "--to", "ROW_MAJOR", "--index", "idx=i.npy"], cwd=tmp_path,
                       env={"RAVEL_VERBOSE": "1"}, capture_output=True, text=True)
    line, = [s for s in r.stderr.splitlines() if " run: indexed x1" in s]
    again = subprocess.run(line.replace("ravel", RAVEL, 1) + "\n", shell=True, capture_output=True, text=True)
    assert again.returncode == 0 and "numbers of index arrays are made up" in again.stdout, again


@pytest.mark.parametrize("src,dst,shape,dtype", [
    ("NHWC(8,40,5,5)[:, i32 idx]", "NC1HWC0", "8,C,5,5", "f16"), ("NHWC", "NCHW(2,40,5,5)[:, idx]", "2,7,5,5", "f32"),
    ("ROW_MAJOR(9,24)[idx]", "COL_MAJOR", "5,24", "i4"),
    ("(A,B){(B + 2)%4, A}(17,3)[:, idx]", "(P,Q){(P + 16)%19, Q//7%5, Q//35, Q%7}", "17,50", "u8")])    # two boxes with one number
def test_emitted_code(src, dst, shape, dtype, tmp_path):
    code, said = ravel_command("emit", "--from", src, "--to", dst, "--shape", shape, "--dtype", dtype, "-o", str(tmp_path / "f.c"), "--check", "gcc -O1")
    assert code == 0 and said.startswith("yes") and " 0 runs" not in said, said
    text = (tmp_path / "f.c").read_text()
    assert "const int%d_t *idx_" % (32 if "i32" in src else 64) in text
    for compiler in ("gcc -std=c99 -Wconversion", "g++ -std=c++17 -x c++", "clang -Wconversion"):
        subprocess.run([*compiler.split(), "-O1", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror", "-c", tmp_path / "f.c", "-o", tmp_path / "f.o"], check=True)


@pytest.mark.parametrize("bits", [32, 64])
def test_emitted_code_checks_first(bits, tmp_path):
    """A number out of range, and an array that overlaps the destination, are refused, and nothing is written."""
    n, room = 5000, np.zeros(20000, "u4")
    ravel_command("emit", "--from", "ROW_MAJOR(100)[%s idx]" % ("i32" if bits == 32 else ""), "--to", "ROW_MAJOR", "--shape", str(n), "--dtype", "u32",
                  "--name", "f", "-o", str(tmp_path / "f.c"))
    subprocess.run(["gcc", "-O2", "-shared", "-fPIC", tmp_path / "f.c", "-o", tmp_path / "f.so"], check=True)
    f, x, i = ct.CDLL(str(tmp_path / "f.so")).f, np.arange(7, 107, dtype="u4"), numbers("i32" if bits == 32 else "", n, 100)
    call = lambda y, i: f(PTR(y.ctypes.data), PTR(x.ctypes.data), PTR(i.ctypes.data))
    for place, bad in [(0, -1), (n - 1, 100), (2500, 2**31 - 1), (n - 2, -2**(bits - 1))]:
        wrong, y = i.copy(), np.zeros(n, "u4")
        wrong[place] = bad
        assert call(y, wrong) == 1 and not y.any()
    first = n * bits // 32                                      # a place in `room` after the array
    room[:first] = i.view("u4")
    for at in (0, 1, first - 1):
        assert call(room[at:at + n], room[:first].view(i.dtype)) == 1
    assert call(room[first:first + n], room[:first].view(i.dtype)) == 0 and np.array_equal(room[first:first + n], x[i])


def test_emitted_code_knows_the_length_of_an_array(tmp_path):
    """A sum of an extent and a number: no place of it may be in the destination."""
    ravel_command("emit", "--from", "ROW_MAJOR(100)[idx][2:]", "--to", "ROW_MAJOR", "--shape", "M", "--dtype", "u64", "--name", "f", "-o", str(tmp_path / "f.c"))
    subprocess.run(["gcc", "-O1", "-shared", "-fPIC", tmp_path / "f.c", "-o", tmp_path / "f.so"], check=True)
    f, x, n = ct.CDLL(str(tmp_path / "f.so")).f, np.arange(7, 107, dtype="u8"), 50
    room = np.zeros(200, "i8")
    call = lambda at: f(PTR(room[at:].ctypes.data), PTR(x.ctypes.data), ct.c_int64(n), PTR(room.ctypes.data))
    for at in range(n + 2):
        room[:n + 2] = i = numbers("", n + 2, 100)
        assert call(at) == 1 and np.array_equal(room[:n + 2], i)
    assert call(n + 2) == 0 and np.array_equal(room[n + 2:2*n + 2].view("u8"), x[i[2:]])


@pytest.mark.parametrize("command", ["show", "check", "check --equals ROW_MAJOR", "tune", "emit --target glsl", "emit --target bursts"])
def test_refused(command):
    word, *rest = command.split()
    sides = ["ROW_MAJOR(8,9)[idx]"] if word in ("show", "check") else ["--from", "ROW_MAJOR(8,9)[idx]", "--to", "ROW_MAJOR"]
    code, said = ravel_command(word, *sides, *rest, "--shape", "4,9", "--dtype", "f32")
    assert code == 2 and "index array" in said, said


def test_an_array_in_the_destination_is_refused(cx):
    plan, room = cx.plan("ROW_MAJOR(100)[i]", "ROW_MAJOR", (20,), "u64"), np.arange(60, dtype="i8")
    for at in (0, 19, 38):
        with pytest.raises(ravel.Error, match="'i' overlaps the destination"):
            run(plan, room[20:40], data(100, "u8"), [room[at + 1:at + 21]])
    run(plan, room[20:40], data(100, "i8"), [room[:20]])
    assert np.array_equal(room[20:40], data(100, "i8")[:20]) and np.array_equal(room[:20], np.arange(20))
