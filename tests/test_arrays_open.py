"""Index arrays for an extent that each run is given by a name, as C in NHWC(8,C,56,56)[:, idx]: against NumPy's own indexing."""
import ctypes as ct
import subprocess

import numpy as np
import pytest

import ravel
from runtime_cases import built
from test_arrays import PTR, RAVEL, Array, check, cx, data, run, same      # noqa: F401
from test_grid_arrays import call, library
from test_open_strides import names

OPEN = -1
STRICT = ["-std=c11", "-Wall", "-Wextra", "-Wconversion", "-Werror"]


def blocks(x, c0):
    """(C, H) in blocks of c0 channels: (C1, H, c0), padded with zeros."""
    c, h = x.shape
    out = np.zeros((-(-c // c0) * c0, h), x.dtype)
    out[:c] = x
    return out.reshape(-1, c0, h).transpose(0, 2, 1)


# The text, the shape of the request, how a tensor is stored, what the index selects, the tensor's shape for an extent n that a run is given.
CASES = [
    ("ROW_MAJOR(N,6)[idx]", (OPEN, 6), lambda x: x, lambda i: (i,), lambda n: (n, 6)),
    ("ROW_MAJOR(N,6)[idx]", (9, 6), lambda x: x, lambda i: (i,), lambda n: (n, 6)),
    ("ROW_MAJOR(N,W)[i32 idx]", (OPEN, OPEN), lambda x: x, lambda i: (i,), lambda n: (n, 6)),
    ("ROW_MAJOR(5,N)[::-1, idx]", (5, OPEN), lambda x: x, lambda i: (slice(None, None, -1), i), lambda n: (5, n)),
    ("COL_MAJOR(N,6)[idx]", (OPEN, 6), lambda x: x.T, lambda i: (i,), lambda n: (n, 6)),
    ("(C,H){C//4, H, C%4}(N,6)[idx]", (OPEN, 6), lambda x: blocks(x, 4), lambda i: (i,), lambda n: (n, 6)),
    ("(C,H){C//8, H, (C%8) ~ (H%8)}(N,8)[idx]", (OPEN, 8), lambda x: np.take_along_axis(blocks(x, 8), (np.arange(8)[:, None] ^ np.arange(8))[None], 2),
     lambda i: (i,), lambda n: (n, 8)),
]
IDS = ["%s of %s" % (c[0], ",".join(map(str, c[1]))) for c in CASES]
EXTENTS = 9, 16, 23, 64, 1000


def numbers(text, n, k, distinct=False, seed=3):
    r = np.random.default_rng(seed)
    return (r.permutation(n)[:k] if distinct else r.integers(0, n, k)).astype("i4" if "i32" in text else "i8")


def view_of(select, i, tensor):
    return np.empty(tensor)[select(i)].shape


@pytest.mark.parametrize("text, shape, stored, select, tensor", CASES, ids=IDS)
def test_gather_and_scatter(cx, text, shape, stored, select, tensor):       # noqa: F811
    with cx.plan(text, "ROW_MAJOR", shape, "u32") as get, cx.plan("ROW_MAJOR", text, shape, "u32") as put:
        assert names(get) == names(put) == ["N"]
        for n in EXTENTS:
            x = np.random.default_rng(n).integers(1, 2**32, tensor(n), np.uint32)
            for k in [9] if OPEN not in shape else [1, 2, 9, n]:
                i = numbers(text, n, k)
                view = view_of(select, i, x.shape)
                y = np.zeros(view, "u4")
                run(get, y, np.ascontiguousarray(stored(x)), [i], (*view, n))
                assert same(y, x[select(i)])
                i = numbers(text, n, k, distinct=True)
                new, z = data(view, "u4", seed=k), x.copy()
                z[select(i)] = new
                out = np.ascontiguousarray(stored(x))
                check(put, [i], (*view, n))
                run(put, out, new, [i], (*view, n))
                assert same(out, stored(z))


@pytest.mark.parametrize("text, shape, stored, select, tensor", CASES, ids=IDS)
def test_proofs(cx, text, shape, stored, select, tensor):                   # noqa: F811
    for a, b in [(text, "ROW_MAJOR"), ("ROW_MAJOR", text)]:
        with cx.plan(a, b, shape, "u32") as p:
            p.verify()


def test_several(cx):                                                       # noqa: F811
    """Single elements; arrays along a dim; an extent on both sides; -1 moves nothing."""
    x = data((30, 40), "u2")
    i, j = numbers("", 30, 55), numbers("", 40, 55, seed=4)
    with cx.plan("ROW_MAJOR(A,B)[i, j]", "{K}", (OPEN,), "u16") as p:
        assert names(p) == ["A", "B"]
        y = np.zeros(55, "u2")
        run(p, y, x, [i, j], (55, 30, 40))
        assert same(y, x[i, j])
    along = np.random.default_rng(8).integers(0, 40, (30, 7))
    with cx.plan("ROW_MAJOR(R,B)[:, along idx]", "ROW_MAJOR", (OPEN, 7), "u16") as p:
        y = np.zeros((30, 7), "u2")
        run(p, y, x, [along], (30, 7, 40))
        assert same(y, np.take_along_axis(x, along, 1))
    with cx.plan("ROW_MAJOR(N,40)[a]", "ROW_MAJOR(N,40)[skip b]", (OPEN, 40), "u16") as p:
        assert names(p) == ["N"]
        a, b, y = np.array([3, 29, 0, 3]), np.array([5, -1, 0, 7]), np.zeros((30, 40), "u2")
        run(p, y, x, [a, b], (4, 40, 30))
        want = np.zeros((30, 40), "u2")
        want[b[b >= 0]] = x[a[b >= 0]]
        assert same(y, want)


@pytest.mark.parametrize("n, idx, why", [(20, [0, 20, 3], "number 1 of the index array 'idx' is 20, and must be 0 to 19"), (3, [0, 1, 3], "must be 0 to 2"),
                                         (20, [0, -1, 3], "is -1, and must be 0 to 19"), (-1, [0, 1, 2], "extent N is -1"), (0, [0, 0, 0], "must be 0 to -1"),
                                         (1 << 61, [0, 1, 2], "do not fit 64 bits")])
def test_wrong(cx, n, idx, why):                                            # noqa: F811
    """Nothing is written."""
    i = np.array(idx)
    with cx.plan("ROW_MAJOR(N,6)[idx]", "ROW_MAJOR", (OPEN, 6), "u32") as p:
        y = np.full((3, 6), 7, "u4")
        with pytest.raises(ravel.Error, match=why):
            run(p, y, data((20, 6), "u4"), [i], (3, 6, n))
        assert (y == 7).all()


@pytest.mark.parametrize("a, b", [(20, 30), (30, 20)])
def test_one_array_for_two_dims(cx, a, b):                                  # noqa: F811
    """Its numbers are below both extents."""
    x, i = data((a, b), "u4"), np.array([3, 19, 0])
    for text, more in ("ROW_MAJOR(A,B)[i, i]", (a, b)), ("ROW_MAJOR(A,%d)[i, i]" % b, (a,)):
        with cx.plan(text, "{K}", (OPEN,), "u32") as p:
            y = np.zeros(3, "u4")
            run(p, y, x, [i], (3, *more))
            assert same(y, x[i, i])
            with pytest.raises(ravel.Error, match="must be 0 to 19"):
                run(p, y, x, [i + 1], (3, *more))


def test_no_room(cx):                                                       # noqa: F811
    """More numbers than coordinates: two elements would have one place."""
    x, y = data((4, 6), "u4"), np.full((4, 6), 7, "u4")
    with cx.plan("ROW_MAJOR", "ROW_MAJOR(N,6)[idx]", (OPEN, 6), "u32") as p:
        with pytest.raises(ravel.Error, match="'idx' has more numbers than there are coordinates"):
            run(p, y, x, [np.arange(4) % 3], (4, 6, 3))
        assert (y == 7).all()
        with pytest.raises(ravel.Error, match="numbers 0 and 3 of the index array 'idx' are both 1"):
            check(p, [np.array([1, 0, 2, 1])], (4, 6, 4))


def test_described(cx):                                                     # noqa: F811
    """The bound is not known before a run."""
    with cx.plan("ROW_MAJOR(N,6)[idx]", "ROW_MAJOR", (OPEN, 6), "u32") as p:
        out = (Array * 8)()
        assert ravel.lib.ravel_plan_arrays(p.p, out) == 1 and out[0].bound == OPEN
        ravel.call(ravel.lib.ravel_plan_arrays_at, p.p, ravel.extents((3, 6, 20)), out)
        assert (out[0].bound, out[0].n) == (20, 3)


def ravel_says(*args, code=0):
    r = subprocess.run([RAVEL, *map(str, args)], capture_output=True, text=True)
    assert r.returncode == code, r
    return r.stdout if code == 0 else r.stderr


def test_emitted(tmp_path):
    """The bounds are checked before anything is written."""
    f = tmp_path/"f.c"
    ravel_says("emit", "--from", "(C,H){C//4, H, C%4}(Ct,6)[idx]", "--to", "ROW_MAJOR(R,6)[i32 jdx]", "--shape", "K,6", "--dtype", "u32", "--name", "f", "-o", f, "--check", "gcc -O1")
    subprocess.run(["gcc", *STRICT, "-fsyntax-only", f], check=True)
    so, x = ct.CDLL(str(built(f, "gcc"))), np.random.default_rng(1).integers(1, 2**32, (21, 6), np.uint32)
    i, j = numbers("", 21, 5), numbers("i32", 12, 5, True)

    def run_at(k, ct_, r, i, j):
        y, src = np.zeros((12, 6), "u4"), np.ascontiguousarray(blocks(x, 4))
        return y, so.f(PTR(y.ctypes.data), PTR(src.ctypes.data), *map(ct.c_int64, (k, ct_, r)), PTR(i.ctypes.data), PTR(j.ctypes.data))
    y, bad = run_at(5, 21, 12, i, j)
    want = np.zeros((12, 6), "u4")
    want[j] = x[i]
    assert bad == 0 and same(y, want)
    for k, n, r, a, b in [(5, 21, 12, np.where(i == i[4], 21, i), j), (5, int(i.max()), 12, i, j), (5, 21, int(j.max()), i, j), (5, 21, 4, i, j % 4), (5, -1, 12, i, j),
                          (5, 21, 1 << 62, i, j)]:
        y, bad = run_at(k, n, r, a, b)
        assert bad == 1 and not y.any(), (k, n, r)


def test_for_devices(tmp_path):
    """In plain C, block after block."""
    x, i = data((23, 6), "u4"), numbers("", 23, 9)

    class Of:
        before, src = np.zeros((9, 6), "u4"), x
    ravel_says("emit", "--from", "ROW_MAJOR(N,6)[idx]", "--to", "ROW_MAJOR", "--shape", "K,6", "--dtype", "u32", "--target", "blocks", "--name", "k", "-o", tmp_path/"k.c")
    f = library(tmp_path, [tmp_path/"k.c"]).k
    y, bad = call(f, Of, [i], 9, 23)
    assert bad == 0 and same(y, x[i])
    y, bad = call(f, Of, [i], 9, int(i.max()))
    assert bad == 1 and not y.any()


@pytest.mark.parametrize("target", ["cuda", "opencl", "hip"])
def test_kernels_check_the_bound(target, tmp_path):
    """The check compares with a number that the host passes."""
    f = tmp_path/"k.txt"
    ravel_says("emit", "--from", "ROW_MAJOR(N,6)[idx]", "--to", "ROW_MAJOR", "--shape", "K,6", "--dtype", "u32", "--target", target, "--name", "k", "-o", f)
    line, = [s for s in f.read_text().splitlines() if "*bad =" in s]
    name = line.split("> ")[1].split(" - 1")[0]
    assert "%s = values" % name in f.read_text()


@pytest.mark.parametrize("args, why", [
    (["explain", "--from", "ROW_MAJOR(K,6)[idx]", "--to", "ROW_MAJOR", "--shape", "K,6", "--dtype", "u32"], "'K' is the name of an extent and of one of a tensor"),
    (["check", "ROW_MAJOR(N,6)[idx]", "--shape", "3,6"], "'N'"),
    (["explain", "--from", "(A,B){A,B, swizzle = xor(2, 0, 2)}(N,8)[idx]", "--to", "ROW_MAJOR", "--shape", "2,8", "--dtype", "u32"], "a swizzle fits storage that is whole blocks"),
])
def test_refused(args, why):
    assert why in ravel_says(*args, code=2)
