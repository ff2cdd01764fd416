"""Sparse formats whose rows are ranked by their length, and those of so many entries of each few, by the codes of their places."""

import numpy as np
import pytest

import ravel
import sparse
from sparse_arrays import arrays, assert_same, cx, matrix, scipy_arrays, sp  # noqa: F401 (cx is a fixture)

RANKED = ["SELL{H=3, SIGMA=4}", "SELL{H=1, SIGMA=1}", "JDS"]


@pytest.mark.parametrize("code", ["jit", "interpreter"])
def test_ranked_rows(monkeypatch, code):
    """Rows in slices and in jagged diagonals; slices of rows that are not ranked."""
    monkeypatch.setenv("RAVEL_CODE", code)
    rng = np.random.default_rng(21)
    with ravel.Context() as cx:
        for other in ["CSR", "CSC", "COO", "BSR", "ROW_MAJOR", *RANKED]:
            for name in RANKED:
                for shape in [(1, 1), (6, 7), (13, 10)]:
                    for density in (0, 0.3, 1):
                        m = matrix(rng, shape, "f32", density)
                        e = sparse.entries_of(m)
                        e = [e[i] for i in rng.permutation(len(e))] if other == "COO" else e
                        got = sparse.Plan(cx, other, name, shape, index=(4, 8))(arrays(other, m, "f32", 4, e))
                        assert_same(got, arrays(name, m, "f32", 8))
                        assert_same(sparse.Plan(cx, name, other, shape, index=(8, 4))(got), arrays(other, m, "f32"), other != "COO")
        twice = [e[i] for i in rng.integers(0, len(e), 300)]
        m = np.zeros_like(m)
        for x, v in twice:
            m[x] += v
        assert_same(sparse.Plan(cx, "COO", "JDS", m.shape)(arrays("COO", m, "f32", 4, twice)), arrays("JDS", m, "f32"))
        cx.load('sparse "SLICES" { dims = { I, J, K }, levels = { dense(I), dense(J), sliced(4), singleton(K) } }')
        levels = [("dense", lambda x: x[0], 3, 0), ("dense", lambda x: x[1], 5, 0), ("sliced", None, 4, 0), ("singleton", lambda x: x[2], 6, 0)]
        m = matrix(rng, (3, 5, 6), "i32")
        want = sparse.store(levels, sparse.entries_of(m), "i32")
        for a, x in (("CSF3", arrays("CSF3", m, "i32")), ("COL_MAJOR", arrays("COL_MAJOR", m, "i32"))):
            assert_same(sparse.Plan(cx, a, "SLICES", m.shape, "i32")(x), want)
            assert_same(sparse.Plan(cx, "SLICES", a, m.shape, "i32")(want), x)


def test_long_rows_are_ranked(cx):
    """Lengths of more than a digit of the sort."""
    rng = np.random.default_rng(22)
    m = sp.csr_matrix(rng.random((40, 3000)) < rng.random((40, 1))**3, dtype="f4")
    got = sparse.Plan(cx, "CSR", "JDS", m.shape)(scipy_arrays(m))
    lengths = np.diff(m.indptr)
    assert lengths.max() > 256 and np.array_equal(got["crd1"], np.argsort(-lengths, kind="stable"))
    assert_same(sparse.Plan(cx, "JDS", "CSR", m.shape)(got), scipy_arrays(m))


def two_of_four(rng, shape, dtype="f32"):
    """At most two of each four elements of a row."""
    m = matrix(rng, shape, dtype, 0.6)
    for c in range(0, shape[1], 4):
        part = m[:, c:c + 4]
        part[np.cumsum(part != 0, 1) > 2] = 0
    return m


def test_two_of_four(cx):
    rng = np.random.default_rng(23)
    for shape in [(1, 4), (7, 12), (5, 10), (33, 64)]:
        m = two_of_four(rng, shape)
        e = sparse.entries_of(m)
        for a in ["CSR", "CSC", "COO", "ROW_MAJOR", "BSR"]:
            got = sparse.Plan(cx, a, "SEMI24", shape)(arrays(a, m, "f32", 4, [e[i] for i in rng.permutation(len(e))] if a == "COO" else e))
            assert_same(got, arrays("SEMI24", m, "f32"))
            assert_same(sparse.Plan(cx, "SEMI24", a, shape)(got), arrays(a, m, "f32"), a != "COO")
        for name in ("SEMI24_16", "SEMI24_32"):
            there = sparse.Plan(cx, "SEMI24", name, shape)(got)
            assert np.array_equal(there["val"], got["val"]) and (name == "SEMI24_32" or len(there["crd3"]) % 64 == 0)
            assert_same(sparse.Plan(cx, name, "SEMI24", shape)(there), got)
    cx.load('sparse "N5OF16" { dims = { R, C }, levels = { dense(C), dense(R // 16), nofm(R % 16, 5) } }')
    m = np.zeros((30, 3), "f4")
    m[[0, 4, 7, 15, 17, 18, 29], [0, 0, 0, 0, 2, 2, 2]] = np.arange(1, 8)
    levels = [("dense", lambda x: x[1], 3, 0), ("dense", lambda x: x[0] // 16, 2, 0), ("nofm", lambda x: x[0] % 16, 16, 5)]
    want = sparse.store(levels, sparse.entries_of(m), "f32")
    assert_same(sparse.Plan(cx, "CSR", "N5OF16", m.shape)(arrays("CSR", m, "f32")), want)
    assert_same(sparse.Plan(cx, "N5OF16", "CSR", m.shape)(want), arrays("CSR", m, "f32"))
    with pytest.raises(ravel.Error, match="crd3 has no place for one more entry below parent 1"):
        sparse.Plan(cx, "ROW_MAJOR", "SEMI24", (1, 8))({"val": np.array([1, 0, 0, 0, 1, 1, 1, 0], "f4")})


def pytorch_codes(m):
    """The codes of PyTorch's _semi_structured_conversions.py, four to a word."""
    m0, m1, _, m3 = (m.reshape(len(m), -1, 4) != 0).transpose(2, 0, 1)
    e0, e1, e2 = m0 & m1, ~m0 & m1, ~m0 & ~m1
    nibble = e1 | e2 << 1 | (e0 | e2 | m3).astype("u2") << 2 | (e1 | ~m1).astype("u2") << 3
    n = nibble.astype("u2").reshape(len(m), -1, 4)
    return n[..., 0] | n[..., 1] << 4 | n[..., 2] << 8 | n[..., 3] << 12


def cutlass_order(words, group, interweave):
    """reorder_meta of CUTLASS's host_reorder.h, to ColumnMajorInterleaved<2>."""
    out = np.zeros(words.size, words.dtype)
    for row in range(words.shape[0]):
        for col in range(words.shape[1]):
            r, c = row // group * group + row % 8 * interweave + row % group // 8, col
            if r % 2 == 0 and c % 2 == 1:
                r, c = r + 1, c - 1
            elif r % 2 == 1 and c % 2 == 0:
                r, c = r - 1, c + 1
            out[c // 2 * 2 * words.shape[0] + r * 2 + c % 2] = words[row, col]
    return out


def test_codes_of_cutlass(cx):
    m = two_of_four(np.random.default_rng(24), (64, 256), "i16")
    row = {"val": m.reshape(-1)}
    words = pytorch_codes(m)
    assert np.array_equal(sparse.Plan(cx, "ROW_MAJOR", "SEMI24", m.shape, "i16")(row)["crd3"], words.reshape(-1).view("u1"))
    for name, w, group, interweave in (("SEMI24_16", "u2", 32, 4), ("SEMI24_32", "u4", 16, 2)):
        got = sparse.Plan(cx, "ROW_MAJOR", name, m.shape, "i16")(row)
        assert np.array_equal(got["crd3"].view(w), cutlass_order(words.view(w), group, interweave))
        assert_same(sparse.Plan(cx, name, "ROW_MAJOR", m.shape, "i16")(got), row)


@pytest.mark.parametrize("name, change, says", [
    ("SELL{H=2, SIGMA=3}", {"crd1": [1, 0, 0]}, r"crd1\[2\] is equal"), ("SELL{H=2, SIGMA=3}", {"crd1": [1, 0, 3]}, r"crd1\[2\] is outside"),
    ("SELL{H=2, SIGMA=2}", {"crd1": [2, 0, 1]}, r"crd1\[0\] is outside"), ("SELL{H=2, SIGMA=3}", {"pos2": [0, 5, 6]}, r"pos2\[1\] ends a slice"),
    ("SELL{H=2, SIGMA=3}", {"pos2": [0, 6, 4]}, r"pos2\[2\] is less"), ("SELL{H=2, SIGMA=3}", {"crd3": [0, 1, 1, 1, 2, -1]}, r"crd3\[3\] is equal"),
    ("SELL{H=2, SIGMA=2}", {"pos2": [0, 4, 6], "crd3": [0, 1, 2, -1, -1, 0]}, r"crd3\[5\] is outside"), ("SELL{H=2, SIGMA=3}", {"crd3": [0, 1, 1, -2, 2, -1]}, r"crd3\[3\] is outside"),
    ("JDS", {"pos2": [0, 1, 6]}, r"pos2\[2\] ends a diagonal"), ("JDS", {"pos2": [0, 4, 6]}, r"pos2\[1\] ends a diagonal"), ("JDS", {"pos2": []}, "pos2 has another size"),
    ("JDS", {"pos2": [0, 3, 6, 6]}, r"pos2\[3\] ends a diagonal that has no entry"),
    ("JDS", {"crd3": [1, 0, 0, 1, 2, 2]}, r"crd3\[3\] is equal"), ("JDS", {"pos2": [0, 3, 5]}, r"pos2\[2\] is not the number"),
    ("SEMI24", {"crd3": [0x44, 0x41]}, r"crd3\[1\] is less"), ("SEMI24", {"crd3": [0x44, 0x05]}, r"crd3\[1\] is less|crd3\[1\] is equal"), ("SEMI24", {"crd3": [0x44]}, "another size: 2")])
def test_hostile_ranks_and_codes(cx, name, change, says):
    a = {"SELL": {"crd1": [1, 0, 2], "pos2": [0, 4, 6], "crd3": [0, 1, 1, -1, 2, -1], "val": [1] * 6},
         "JDS": {"crd1": [1, 0, 2], "pos2": [0, 3, 6], "crd3": [0, 1, 0, 1, 2, 2], "val": [1] * 6},
         "SEMI24": {"crd3": [0x44, 0x04], "val": [1] * 6}}[name.partition("{")[0]]
    a = {k: np.array(v, "f4" if k == "val" else "u1" if name == "SEMI24" else "i4") for k, v in {**a, **change}.items()}
    for b in ("CSR", "ROW_MAJOR"):
        with pytest.raises(ravel.Error, match=says):
            sparse.Plan(cx, name, b, (3, 4))(a)


@pytest.mark.parametrize("t", ["f32", "f64", "c64"])
def test_both_ways_of_a_list(t):
    """The last entries of one result are ranked, and one more is put into columns; the rest of the bytes are the same."""
    dtype, rng = {"f32": "f4", "f64": "f8", "c64": "c8"}[t], np.random.default_rng(17)
    n, shape = 6 * 2**20 // (4 + np.dtype(dtype).itemsize), (900, 1100)
    row, col = rng.integers(0, 900, n + 1, "i4"), rng.integers(0, 1099, n + 1, "i4")
    row[n], col[n] = 899, 1099
    val = (rng.standard_normal(n + 1) * 10.0**rng.integers(0, 7, n + 1)).astype(dtype)
    sums, there = np.zeros(shape, dtype), np.zeros(shape, bool)
    np.add.at(sums, (row, col), val)
    there[row, col] = True
    for threads, b in (1, "CSR"), (3, "CSR"), (3, "CSC"):
        with ravel.Context() as cx:
            ravel.call(ravel.lib.ravel_set_threads, cx.p, threads, None, None)
            ranked, put = [sparse.Plan(cx, "COO", b, shape, t)({"pos1": np.array([0, k], "i4"), "crd1": row[:k], "crd2": col[:k], "val": val[:k]}) for k in (n, n + 1)]
            want, at = (sums, there) if b == "CSR" else (sums.T, there.T)
            assert put["val"].tobytes() == want[at].tobytes() and put["crd2"].tolist() == np.nonzero(at)[1].tolist()
            assert put["pos2"].tolist() == [0, *np.cumsum(at.sum(axis=1))]
            assert ranked["val"].tobytes() == put["val"][:-1].tobytes() and ranked["crd2"].tobytes() == put["crd2"][:-1].tobytes()
