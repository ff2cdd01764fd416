"""Which elements are entries: masks, thresholds, and patterns without values."""

import os

import numpy as np
import pytest

import ravel
import sparse
from sparse_arrays import arrays, assert_same, cx, good, matrix, PAIRS, run, sp  # noqa: F401 (cx is a fixture)


def test_masks(cx):
    """Words of the mask that begin and end in rows, of sizes of values that have code of their own and others, and of a fill that is not 0."""
    rng = np.random.default_rng(8)
    cx.load('layout "NINE" { dims = { R, C }, fill = 9, order = { R, C } }')
    for shape in [(1, 64), (64, 1), (3, 64), (2, 65), (5, 200), (200, 5), (16, 12), (1, 63)]:
        for dtype in ("f64", "f32", "i16", "u8", "c128"):
            for layout, fill in (("ROW_MAJOR", 0), ("NINE", 9)):
                if dtype == "c128" and fill:
                    continue
                m = matrix(rng, shape, dtype, 0.4)
                m[m == 0] = fill
                keep = m != fill
                got = sparse.Plan(cx, layout, "CSR", shape, dtype)({"val": m.reshape(-1)})
                pos = np.concatenate([[0], np.cumsum(keep.sum(1))])
                assert_same(got, {"pos2": pos.astype("i4"), "crd2": np.nonzero(keep)[1].astype("i4"), "val": m[keep]})


@pytest.mark.parametrize("dtype", ["f16", "f32", "f64", "i8", "u16", "i32", "u64", "i64"])
def test_thresholds(cx, dtype):
    """Values whose magnitude is above it, as NumPy compares them; NaN is above any."""
    rng, t = np.random.default_rng(14), sparse.VALUE[dtype]
    shape = (9, 70)
    if t[0] == "f":
        m = rng.standard_normal(shape).astype(t)
        m.reshape(-1)[:5] = [np.nan, -np.inf, np.inf, 0.7, -0.7]
    else:
        m = rng.integers(np.iinfo(t).min, np.iinfo(t).max, shape, t, endpoint=True) >> np.array(np.iinfo(t).bits - 4, t)
        m.reshape(-1)[:3] = [np.iinfo(t).min, np.iinfo(t).max, 3]
    for limit in (0.7, 3.0, 5.9):
        big = m.astype("O") if t[0] != "f" else m
        keep = np.array(~(abs(big) <= (int(limit) if t[0] != "f" else np.array(limit, t))), bool)
        entries = sparse.entries_of(m, lambda v: True)
        e = [x for x in entries if keep[x[0]]]
        for a, b in (("ROW_MAJOR", "CSR"), ("COL_MAJOR", "CSR"), ("ROW_MAJOR", "BSR"), ("BSR", "CSR"), ("BSR", "DCSC")):
            source = arrays(a, m, dtype, 4, entries if a == "BSR" else None)
            assert_same(sparse.Plan(cx, a, b, shape, dtype, equal="last", threshold=limit)(source), arrays(b, m, dtype, 4, e))


def test_masks_of_a_source(cx):
    rng = np.random.default_rng(15)
    m, keep = rng.random((7, 130)), rng.random((7, 130)) < .4
    e = [x for x in sparse.entries_of(m) if keep[x[0]]]
    for a, b in (("ROW_MAJOR", "CSR"), ("COL_MAJOR", "CSC"), ("COL_MAJOR", "CSR"), ("ROW_MAJOR", "DIA")):
        source = {"mask": arrays(a, keep.astype("u1"), "u8")["val"], **arrays(a, m, "f64")}
        plan = sparse.Plan(cx, a, b, m.shape, "f64", mask=True)
        assert [n[0] for n in plan.names(0)] == ["mask", "val"]
        assert_same(plan(source), arrays(b, m, "f64", 4, e))
    with pytest.raises(ravel.Error, match="mask has another size: 910"):
        plan({**source, "mask": source["mask"][1:]})
    for says, a, more in [("each position of the source is an entry", "CSR", {"threshold": 1}), ("0 or more", "ROW_MAJOR", {"threshold": -1}), ("each position", "COO", {"mask": True}),
                          ("there is no threshold", "ROW_MAJOR", {"mask": True, "threshold": 1}), ("0 or more", "ROW_MAJOR", {"threshold": float("nan")})]:
        with pytest.raises(ravel.Error, match=says):
            sparse.Plan(cx, a, "CSC", (4, 4), "f32", **more)
    for says, dtype, limit in (("complex values", "c64", 1), ("no value of this type", "u8", 256), ("no value of this type", "f16", 70000)):
        with pytest.raises(ravel.Error, match=says):
            sparse.Plan(cx, "ROW_MAJOR", "CSR", (4, 4), dtype, threshold=limit)


def test_thresholds_and_masks_of_files(tmp_path):
    os.chdir(tmp_path)
    a = np.array([[.5, -2, 0], [0, 1, 3.]])
    np.save("a.npy", a)
    np.save("m.npy", np.array([[True, False, True], [False, True, False]]))
    good("convert", "a.npy", "b.npz", "--from", "ROW_MAJOR", "--to", "CSR", "--threshold", "1")
    assert np.array_equal(sp.load_npz("b.npz").toarray(), np.where(abs(a) > 1, a, 0))
    good("convert", "a.npy", "c.npz", "--from", "ROW_MAJOR", "--to", "CSC", "--mask", "m.npy")
    c = sp.load_npz("c.npz")
    assert c.nnz == 3 and np.array_equal(c.toarray(), np.where(np.load("m.npy"), a, 0))
    good("convert", "a.npy", "d.npz", "--from", "(R, C){R, C, fill = 3}", "--to", "COO")
    assert np.load("d.npz")["data"].tolist() == [.5, -2, 0, 0, 1]
    for args, says in ((["--threshold", "x"], "no number"), (["--mask", "a.npy"], "a mask has u1 or b1"), (["--mask", "none.npy"], "none.npy")):
        r = run("convert", "a.npy", "e.npz", "--from", "ROW_MAJOR", "--to", "CSR", *args)
        assert r.returncode == 2 and says in r.stderr and not os.path.exists("e.npz"), r.stderr
    r = run("convert", "a.npy", "e.npy", "--from", "ROW_MAJOR", "--to", "COL_MAJOR", "--threshold", "1")
    assert r.returncode == 2 and "sparse format" in r.stderr and not os.path.exists("e.npy")


UNPADDED = {"CSR", "CSC", "DCSR", "DCSC", "COO"}


def pattern(name, a, entries=None):
    """The arrays of a pattern: values are 1, and only formats that have places without an entry have any."""
    x = arrays(name, (a != 0).astype("u1"), "u8", entries=entries)
    return {k: v for k, v in x.items() if k != "val" or name not in UNPADDED}


@pytest.mark.parametrize("code", ["jit", "interpreter"])
def test_patterns(monkeypatch, code):
    monkeypatch.setenv("RAVEL_CODE", code)
    rng = np.random.default_rng(13)
    with ravel.Context() as cx:
        for a, b in PAIRS:
            for shape, density in [((13, 10), .3), ((5, 70), .9), ((4, 4), 0)]:
                m = matrix(rng, shape, "u8", density)
                e = sparse.entries_of((m != 0).astype("u1"))
                if a == "COO" and b != "COO":        # some entries twice
                    e = [e[i] for i in rng.integers(0, max(len(e), 1), 2*len(e))]
                    m = np.zeros(shape, "u1")
                    for x, _ in e:
                        m[x] = 1
                plan = sparse.Plan(cx, a, b, shape, "pattern")
                assert {n for n, _, _ in plan.names(0)} == set(pattern(a, m))
                assert_same(plan(pattern(a, m, e if a == "COO" else None)), pattern(b, m), b != "COO")
        source = pattern("COO", np.ones((2, 2)), [((0, 1), 1), ((1, 1), 1), ((0, 1), 1)])
        for b in ("CSR", "DCSR", "BSR", "ROW_MAJOR"):
            with pytest.raises(ravel.Error, match="entry 2 is equal to one before it"):
                sparse.Plan(cx, "COO", b, (2, 2), "pattern", equal="error")(source)
        with pytest.raises(ravel.Error, match="the fill is another"):
            sparse.Plan(cx, "CSR", "(R, C){R, C, fill = 1}", (2, 2), "pattern")


def test_pattern_of_a_file(tmp_path):
    os.chdir(tmp_path)
    (tmp_path / "a.mtx").write_text("%%MatrixMarket matrix coordinate pattern general\n2 3 3\n2 3\n1 1\n2 3\n")
    good("convert", "a.mtx", "b.npz", "--from", "COO", "--to", "CSR", "--dtype", "pattern")
    b = np.load("b.npz")
    assert set(b) == {"pos2", "crd2", "shape"} and b["pos2"].tolist() == [0, 1, 2] and b["crd2"].tolist() == [0, 2]
    good("convert", "b.npz", "c.mtx", "--from", "CSR", "--to", "COO", "--dtype", "pattern")
    assert (tmp_path / "c.mtx").read_text().split("\n")[0].endswith("pattern general")
    good("convert", "c.mtx", "d.npy", "--from", "COO", "--to", "ROW_MAJOR", "--dtype", "pattern")
    assert np.load("d.npy").tolist() == [[1, 0, 0], [0, 0, 1]]
    good("convert", "d.npy", "e", "--from", "ROW_MAJOR", "--to", "COO", "--dtype", "pattern")
    assert sorted(os.listdir("e")) == ["crd1.npy", "crd2.npy", "pos1.npy", "shape.npy"]
    np.save("f.npy", np.eye(3))
    r = run("convert", "f.npy", "g.npz", "--from", "ROW_MAJOR", "--to", "CSR", "--dtype", "pattern")
    assert r.returncode == 2 and "x != 0" in r.stderr
