"""Sparse formats: every pair against a plain evaluator of levels and against SciPy; hostile arrays; the command; emitted C."""

import ctypes as ct
import itertools
import json
import os
import random
import re
import shlex
import shutil
import signal
import subprocess
import time

import numpy as np
import pytest

import ravel
import sparse

sp = pytest.importorskip("scipy.sparse")
RAVEL = ravel.BUILD/"ravel"
MATRICES = ["CSR", "CSC", "DCSR", "DCSC", "COO", "BSR", "ELL", "DIA", "ROW_MAJOR", "COL_MAJOR", "BLOCKED_RR{BM=3, BN=2}"]
SHAPES = [(1, 1), (1, 9), (9, 1), (6, 7), (13, 10), (8, 8)]


def matrix(rng, shape, dtype="f32", density=0.3):
    t = sparse.VALUE[dtype]
    a = np.zeros(shape, t)
    kept = rng.random(shape) < density
    if t[0] == "c":
        a[kept] = rng.integers(1, 9, kept.sum()) + 1j * rng.integers(1, 9, kept.sum())
    else:
        a[kept] = rng.integers(1, 100, kept.sum())
    return a


def blocked(a, br, bc):
    r, c = -(-a.shape[0]//br), -(-a.shape[1]//bc)
    full = np.zeros((r*br, c*bc), a.dtype)
    full[:a.shape[0], :a.shape[1]] = a
    return full.reshape(r, br, c, bc).transpose(0, 2, 1, 3)


def arrays(name, a, dtype, index=4, entries=None):
    """What a format stores of the array a, by the evaluator or, of a layout, by NumPy."""
    if name == "ROW_MAJOR":
        return {"val": a.reshape(-1)}
    if name == "COL_MAJOR":
        return {"val": np.ascontiguousarray(a.T).reshape(-1)}
    p = {k: int(v) for k, v in (x.split("=") for x in name.partition("{")[2][:-1].split(", ") if x)}
    if name.startswith("BLOCKED"):
        return {"val": np.ascontiguousarray(blocked(a, 3, 2)).reshape(-1)}
    return sparse.store(sparse.levels_of(name.partition("{")[0], a.shape, **p), sparse.entries_of(a) if entries is None else entries, dtype, index)


def assert_same(got, want, ordered=True):
    assert set(got) == set(want)
    if not ordered:                  # a list: the same entries, in any order
        crd = [k for k in want if k.startswith("crd")]
        def by(x):
            k = np.lexsort([x[c] for c in reversed(crd)])
            return {n: v[k] if not n.startswith("pos") else v for n, v in x.items()}
        got, want = by(got), by(want)
    for name in want:
        assert np.array_equal(got[name].view("u1"), want[name].view("u1")), (name, got[name], want[name])


@pytest.fixture(scope="module")
def cx():
    with ravel.Context() as c:
        yield c


def is_layout(name):
    return name.startswith(("ROW", "COL", "BLOCKED"))


PAIRS = [(a, b) for a in MATRICES for b in MATRICES if not (is_layout(a) and is_layout(b))]


@pytest.mark.parametrize("a", MATRICES)
def test_pairs(cx, a):
    """Every destination from this source, at several shapes and densities."""
    rng = np.random.default_rng(len(a))
    for b in [b for x, b in PAIRS if x == a]:
        for shape in SHAPES:
            for density in (0, 0.3, 1):
                m = matrix(rng, shape, "f32", density)
                entries = sparse.entries_of(m)
                if a == "COO":
                    entries = [entries[i] for i in rng.permutation(len(entries))]
                got = sparse.Plan(cx, a, b, shape)(arrays(a, m, "f32", 4, entries if a == "COO" else None))
                assert_same(got, arrays(b, m, "f32"), b != "COO")


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


def test_interpreter_agrees(monkeypatch):
    monkeypatch.setenv("RAVEL_CODE", "interpreter")
    with ravel.Context() as cx:
        rng = np.random.default_rng(7)
        for a, b in PAIRS:
            m = matrix(rng, (13, 10))
            plan = sparse.Plan(cx, a, b, m.shape)
            assert plan.source() is None
            assert_same(plan(arrays(a, m, "f32")), arrays(b, m, "f32"), b != "COO")


@pytest.mark.parametrize("dtype", sparse.VALUE)
def test_dtypes_and_indices(cx, dtype):
    rng = np.random.default_rng(3)
    for a, b, index in [("ROW_MAJOR", "CSR", (4, 8)), ("CSR", "CSC", (4, 8)), ("CSC", "BSR", (8, 4)), ("ELL", "DIA", (8, 8)), ("COO", "ROW_MAJOR", (8, 4)),
                        ("CSR", "BSR", (4, 8)), ("CSR", "BSR", (8, 4)), ("COO", "CSR", (8, 4)), ("COO", "CSC", (4, 8)), ("CSR", "CSC", (8, 8))]:
        m = matrix(rng, (11, 14), dtype)
        equal = "last" if dtype in ("f16", "bf16") else "sum"
        got = sparse.Plan(cx, a, b, m.shape, dtype, index, equal)(arrays(a, m, dtype, index[0]))
        assert_same(got, arrays(b, m, dtype, index[1]))


@pytest.mark.parametrize("rank", [3, 4, 5])
def test_ranks(cx, rank):
    rng = np.random.default_rng(rank)
    shape = tuple(int(n) for n in rng.integers(1, 5, rank))
    for density in (0.05, 0.5):
        m = matrix(rng, shape, "i32", density)
        for a, b in itertools.permutations(["COO%d" % rank, "CSF%d" % rank, "ROW_MAJOR", "COL_MAJOR"], 2):
            if is_layout(a) and is_layout(b):
                continue
            got = sparse.Plan(cx, a, b, shape, "i32")(arrays(a, m, "i32"))
            assert_same(got, arrays(b, m, "i32"), not b.startswith("COO"))


KINDS = ["dense", "compressed"]


@pytest.mark.parametrize("seed", range(40))
def test_random_formats(cx, seed):
    """Formats with levels in any order, of digits of dims, declared as a spec, against the evaluator."""
    rng = random.Random(seed)
    rank = rng.randint(1, 4)
    names, shape = "IJKL"[:rank], tuple(rng.randint(1, 7) for _ in range(rank))

    def random_format(name):
        parts = []
        for d in range(rank):
            b = rng.choice([0, 0, 2, 3])
            if b:
                parts.append(("%s//%d" % (names[d], b), lambda x, d=d, b=b: x[d]//b, -(-shape[d]//b)))
                parts.append(("%s%%%d" % (names[d], b), lambda x, d=d, b=b: x[d] % b, b))
            else:
                parts.append((names[d], lambda x, d=d: x[d], shape[d]))
        rng.shuffle(parts)
        kinds = [rng.choice(KINDS) for _ in parts]
        text = 'sparse "%s" { dims = { %s }, levels = { %s } }' % (
            name, ", ".join(names), ", ".join("%s(%s)" % (k, p[0]) for k, p in zip(kinds, parts)))
        return text, [(k, p[1], p[2], 0) for k, p in zip(kinds, parts)]

    (ta, la), (tb, lb) = random_format("A%d" % seed), random_format("B%d" % seed)
    cx.load("%s\n%s\n" % (ta, tb))
    nrng = np.random.default_rng(seed)
    for density in (0.1, 0.6):
        m = matrix(nrng, shape, "i16", density)
        e = sparse.entries_of(m)
        got = sparse.Plan(cx, "A%d" % seed, "B%d" % seed, shape, "i16")(sparse.store(la, e, "i16"))
        assert_same(got, sparse.store(lb, e, "i16"))


def scipy_arrays(s):
    return {"pos2": s.indptr, "crd2": s.indices, "val": s.data}


def coo_arrays(s):
    return {"pos1": np.array([0, s.nnz], "i4"), "crd1": s.row, "crd2": s.col, "val": s.data}


def test_scipy(cx):
    """Larger matrices: coordinate lists with duplicates, in any order."""
    rng = np.random.default_rng(0)
    for rows, cols, nnz in [(100, 80, 1500), (1000, 3, 2000), (3, 2000, 900), (257, 129, 0)]:
        row, col = rng.integers(0, rows, nnz, "i4"), rng.integers(0, cols, nnz, "i4")
        coo = sp.coo_matrix((rng.integers(1, 9, nnz).astype("f8"), (row, col)), (rows, cols))
        got = sparse.Plan(cx, "COO", "CSR", (rows, cols), "f64")(coo_arrays(coo))
        want = coo.tocsr()
        want.sum_duplicates()
        assert_same(got, scipy_arrays(want))
        csc = want.tocsc()
        assert_same(sparse.Plan(cx, "CSR", "CSC", (rows, cols), "f64")(scipy_arrays(want)), scipy_arrays(csc))
        assert_same(sparse.Plan(cx, "COO", "CSC", (rows, cols), "f64")(coo_arrays(coo)), scipy_arrays(csc))
        dense = sparse.Plan(cx, "COO", "ROW_MAJOR", (rows, cols), "f64")(coo_arrays(coo))
        assert np.array_equal(dense["val"].reshape(rows, cols), coo.toarray())
        if nnz:
            got = sparse.Plan(cx, "CSR", "BSR{BR=5, BC=3}", (rows, cols), "f64")(scipy_arrays(want))
            r, c = -(-rows//5)*5, -(-cols//3)*3
            padded = sp.csr_matrix((want.data, want.indices, np.append(want.indptr, [want.nnz]*(r - rows))), (r, c))
            bsr = padded.tobsr((5, 3))
            bsr.sort_indices()
            assert_same(got, {"pos2": bsr.indptr, "crd2": bsr.indices, "val": bsr.data.reshape(-1)})
            dia = want.todia()
            got = sparse.Plan(cx, "CSR", "DIA", (rows, cols), "f64")(scipy_arrays(want))
            assert np.array_equal(got["crd1"], dia.offsets)
            whole = sp.dia_matrix((got["val"].reshape(-1, cols), got["crd1"]), (rows, cols))
            assert abs(whole.tocsr() - want).nnz == 0


TASK = ct.CFUNCTYPE(None, ct.c_void_p, ct.c_int, ct.c_int)
LEND = ct.CFUNCTYPE(None, ct.c_void_p, TASK, ct.c_void_p, ct.c_int)


@pytest.mark.parametrize("index", [4, 8])
def test_threads(index):
    """Parts of the work, in another order: the bytes are those of one thread, and those of SciPy."""
    parts_seen = set()

    def lend(_, task, arg, parts):
        parts_seen.add(parts)
        for part in reversed(range(parts)):
            task(arg, part, parts)

    lent, rng = LEND(lend), np.random.default_rng(4)
    m = matrix(rng, (210, 333), "f64", 0.5)
    m[20:90] = 0                                     # rows without entries, where parts meet
    csr = sp.csr_matrix(m)
    k = np.concatenate([rng.permutation(csr.nnz), rng.integers(0, csr.nnz, 5000)])
    coo = sp.coo_matrix((csr.tocoo().data[k], (csr.tocoo().row[k], csr.tocoo().col[k])), m.shape)
    whole = coo.tocsr()
    csc = csr.tocsc()
    bsr = sp.csr_matrix(np.pad(m, ((0, 0), (0, 3)))).tobsr((5, 4))
    bsr.sort_indices()
    cases = [("ROW_MAJOR", "CSR", {"val": m.reshape(-1)}, scipy_arrays(csr)), ("COO", "CSR", coo_arrays(coo), scipy_arrays(whole)),
             ("CSR", "CSC", scipy_arrays(csr), scipy_arrays(csc)), ("CSR", "ROW_MAJOR", scipy_arrays(csr), {"val": m.reshape(-1)}),
             ("CSR", "COO", scipy_arrays(csr), coo_arrays(csr.tocoo())), ("CSR", "BSR{BR=5, BC=4}", scipy_arrays(csr), {"pos2": bsr.indptr, "crd2": bsr.indices, "val": bsr.data.reshape(-1)})]
    rows = np.flatnonzero(np.diff(whole.indptr))
    cases.append(("COO", "DCSR", coo_arrays(coo), {"pos1": np.array([0, rows.size]), "crd1": rows, "pos2": np.append(whole.indptr[rows], whole.nnz),
                                                   "crd2": whole.indices, "val": whole.data}))
    if index == 4:
        cases += [("CSR", name, scipy_arrays(csr), arrays(name, m, "f64")) for name in ("ELL", "SELL{H=32, SIGMA=100}", "JDS")]
    for threads in (1, 3, 7):
        with ravel.Context() as cx:
            ravel.call(ravel.lib.ravel_set_threads, cx.p, threads, lent, None)
            for a, b, source, want in cases:
                source, want = [{n: v if n == "val" else v.astype(sparse.INDEX[index]) for n, v in x.items()} for x in (source, want)]
                assert_same(sparse.Plan(cx, a, b, m.shape, "f64", (index, index))(source), want)
    assert parts_seen == {3, 7}


@pytest.mark.parametrize("threads", [1, 3])
def test_tiles_become_rows(threads):
    """Blocks stored by rows and by columns, of more values than a word has bits, that lead out of the shape, and with a fill that is not 0."""
    rng = np.random.default_rng(25)
    with ravel.Context() as cx:
        ravel.call(ravel.lib.ravel_set_threads, cx.p, threads, None, None)
        cx.load('sparse "BY_COLS" { dims = { R, C }, fill = 7, levels = { dense(R // 3), compressed(C // 4), dense(C % 4), dense(R % 3) } }')
        for shape, density in [((211, 333), .5), ((30, 41), .05), ((1, 1), 0)]:
            for dtype, index in (("f64", (4, 4)), ("f32", (4, 8)), ("i16", (8, 4)), ("c128", (4, 4))):
                m = matrix(rng, shape, dtype, density)
                m[m == 7] = 8
                want = {k: v if k == "val" else v.astype(sparse.INDEX[index[1]]) for k, v in scipy_arrays(sp.csr_matrix(m)).items()} if dtype != "i16" else None
                for name in ("BSR{BR=5, BC=3}", "BSR{BR=9, BC=10}") + (("BY_COLS",) if dtype[0] != "c" else ()):
                    tiles = sparse.Plan(cx, "ROW_MAJOR", name, shape, dtype, (4, index[0]))({"val": m.reshape(-1)})
                    got = sparse.Plan(cx, name, "CSR", shape, dtype, index)(tiles)
                    if want:
                        assert_same(got, want)
                    assert np.array_equal(sparse.Plan(cx, "CSR", "ROW_MAJOR", shape, dtype, (index[1], 4))(got)["val"], m.reshape(-1))


def test_values_outside_of_the_shape_are_no_entries(cx):
    a = {"pos2": np.array([0, 1], "i4"), "crd2": np.array([0], "i4"), "val": np.arange(1, 17, dtype="f4")}
    got = sparse.Plan(cx, "BSR", "CSR", (3, 2))(a)
    assert got["pos2"].tolist() == [0, 2, 4, 6] and got["val"].tolist() == [1, 2, 5, 6, 9, 10]


def test_the_same_levels_are_copied(cx):
    """Also with zeros among the entries; a threshold takes them away."""
    a = {"pos2": np.array([0, 1, 1], "i4"), "crd2": np.array([0], "i4"), "val": np.zeros(16, "f4")}
    assert_same(sparse.Plan(cx, "BSR", "BSR", (7, 5))(a), a)
    assert sparse.Plan(cx, "BSR", "BSR", (7, 5), threshold=1)(a)["pos2"].tolist() == [0, 0, 0]
    bad = {**a, "crd2": np.array([2], "i4")}
    with pytest.raises(ravel.Error, match="crd2.0. is outside"):
        sparse.Plan(cx, "BSR", "BSR", (7, 5))(bad)
    ell = {"crd3": np.array([1, -1, 0, 2], "i4"), "val": np.array([5, 9, 6, 7], "f4")}
    assert_same(sparse.Plan(cx, "ELL", "ELL", (2, 3))(ell), {**ell, "val": np.array([5, 0, 6, 7], "f4")})
    m = matrix(np.random.default_rng(26), (13, 9))
    for name in ("SELL{H=3, SIGMA=4}", "JDS", "ELL", "DIA", "DCSR", "CSC"):
        assert_same(sparse.Plan(cx, name, name, m.shape)(arrays(name, m, "f32")), arrays(name, m, "f32"))


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("name, levels", [("ELL", "dense(R), nth(), singleton(C)"), ("SELL", "ranked(R, 256), sliced(32), singleton(C)")])
def test_copies_have_the_fill(name, levels, threads):
    """Where there is no entry, whatever the source has there: of a fill that is 0 and of one that is not."""
    rng = np.random.default_rng(32)
    with ravel.Context() as cx:
        ravel.call(ravel.lib.ravel_set_threads, cx.p, threads, None, None)
        cx.load('sparse "NINES" { dims = { R, C }, fill = 9, levels = { %s } }' % levels)
        for dtype, index in (("u8", 4), ("f32", 4), ("f64", 8), ("c128", 4)):
            m = matrix(rng, (421 if dtype == "f64" else 91, 97), dtype)
            for to, fill in ((name, 0), ("NINES", 9)):
                if dtype == "c128" and fill:
                    continue
                want = sparse.store(sparse.levels_of(name, m.shape), sparse.entries_of(m), dtype, index, fill)
                val = np.where(want["crd3"] < 0, rng.integers(1, 99, want["val"].size).astype(m.dtype), want["val"])
                assert_same(sparse.Plan(cx, to, to, m.shape, dtype, (index, index))({**want, "val": val}), want)


@pytest.mark.parametrize("threads", [1, 3])
def test_large_arrays_are_copied(threads):
    """Past the caches: arrays that neither begin nor end where a line does."""
    rng = np.random.default_rng(27)
    n, rows = 600_001, 1000
    a = {"pos2": np.append(np.arange(rows, dtype="i4") * (n // rows), n).astype("i4"), "val": rng.random(n)}
    a["crd2"] = (np.arange(n) - np.repeat(a["pos2"][:-1], np.diff(a["pos2"]))).astype("i4")
    with ravel.Context() as cx:
        ravel.call(ravel.lib.ravel_set_threads, cx.p, threads, None, None)
        assert_same(sparse.Plan(cx, "CSR", "CSR", (rows, n), "f64")(a), a)


def test_all_parts_of_a_copy_are_lent():
    """Nothing is written but by the part that runs: neither what is copied nor the fill."""
    a = {"crd3": np.full(60_000, -1, "i4"), "val": np.ones(60_000)}
    lent = LEND(lambda _, task, arg, parts: task(arg, 0, parts))
    with ravel.Context() as cx:
        ravel.call(ravel.lib.ravel_set_threads, cx.p, 3, lent, None)
        got = sparse.Plan(cx, "ELL", "ELL", (600, 200), "f64")(a)
    assert not got["val"][:20_000].any()
    assert all(set(v[20_000:].tobytes()) == {0x5a} for v in got.values())


def words(text):
    return [w.strip().split(" ")[0] for w in text.replace("\n", " ").split(",")]


def test_numbers_that_steps_and_plans_share():
    """The steps are C that includes nothing of ravel, so some of its numbers are written twice."""
    steps = "".join((ravel.ROOT/"templates/c"/f).read_text() for f in ("sparse.h", "sparse_value.c"))
    plan = {f: (ravel.ROOT/"compiler/sparse"/f).read_text() for f in ("sparse_area.c", "sparse_batch.c", "sparse_pass.c", "sparse_text.c")}
    def listed(text, begin, end):
        return words(text.split(begin)[1].split(end)[0])
    area = listed(plan["sparse_area.c"], "typedef enum {", "}")
    assert ["RAVEL_" + w for w in area] == ["RAVEL_MASK", *listed(steps, "enum { RAVEL_MASK,", "}")]
    assert ["RAVEL_" + w for w in listed(plan["sparse_pass.c"], "enum { LAST", "}")[1:]] == listed(steps, "enum { RAVEL_LAST,", "}")
    assert "COLUMNS = 96" in plan["sparse_batch.c"] and "RAVEL_COLUMNS = 96" in steps and "AT_ONCE = 512" in plan["sparse_pass.c"] and "RAVEL_BATCH = 512" in steps
    far = (ravel.ROOT/"templates/c/sparse_far.c").read_text()
    for number in ("NEAR = 1 << 15", "BLOCK_BYTES = 1 << 20"):
        assert number in plan["sparse_area.c"] and number in far
    flaws = listed(steps, "enum { RAVEL_FLAW_SIZE = 1,", "}")
    assert len(flaws) + 2 == plan["sparse_text.c"].split("flaws[] = {")[1].split("};")[0].count('",\n')


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


def test_panels(cx):
    """Rows with many entries are transposed in panels of columns, some rows at once."""
    m = sp.csr_matrix(matrix(np.random.default_rng(9), (1700, 1100), "f32", 0.3))
    assert_same(sparse.Plan(cx, "CSR", "CSC", m.shape)(scipy_arrays(m)), scipy_arrays(m.tocsc()))


def test_wide_rows(cx):
    """Sets of more coordinates than one word of words holds."""
    rng = np.random.default_rng(10)
    for cols, n in [(4097, 300), (300_000, 900)]:
        coo = sp.coo_matrix((rng.integers(1, 9, n).astype("f8"), (rng.integers(0, 9, n, "i4"), rng.integers(0, cols, n, "i4"))), (9, cols))
        want = coo.tocsr()
        assert_same(sparse.Plan(cx, "COO", "CSR", (9, cols), "f64")(coo_arrays(coo)), scipy_arrays(want))
        got = sparse.Plan(cx, "CSR", "BSR{BR=2, BC=3}", (9, cols), "f64")(scipy_arrays(want))
        back = sparse.Plan(cx, "BSR{BR=2, BC=3}", "CSR", (9, cols), "f64")(got)
        assert_same(back, scipy_arrays(want))


@pytest.mark.parametrize("threads", [1, 3])
def test_many_rows(threads):
    """Lists go to buckets of rows first: few rows with most entries, rows without any, both widths of indices."""
    rng = np.random.default_rng(12)
    with ravel.Context() as cx:
        ravel.call(ravel.lib.ravel_set_threads, cx.p, threads, None, None)
        for rows, cols, n in [(16385, 7, 30_000), (50_000, 300_000, 30_000), (200_003, 40, 40_000)]:
            row = np.where(rng.random(n) < .3, rows - 1 - rng.integers(0, 3, n), (rows * rng.random(n)**3).astype("i8"))
            coo = sp.coo_matrix((rng.integers(1, 9, n).astype("f8"), (row, rng.integers(0, cols, n))), (rows, cols))
            want = scipy_arrays(coo.tocsr())
            for index, dtype in ((4, "f64"), (8, "f32"), (4, "c128"), (4, "i16")):
                a, b = [{k: v.astype(sparse.VALUE[dtype] if k == "val" else sparse.INDEX[index]) for k, v in x.items()} for x in (coo_arrays(coo), want)]
                assert_same(sparse.Plan(cx, "COO", "CSR", (rows, cols), dtype, (index, index))(a), b)
        a["crd1"][n // 2] = rows
        with pytest.raises(ravel.Error, match="crd1.%d. is outside the shape" % (n // 2)):
            sparse.Plan(cx, "COO", "CSR", (rows, cols), "i16")(a)


@pytest.mark.parametrize("threads", [1, 3])
def test_columns_far_apart(threads):
    """Rows to many columns: by blocks of columns; not if one column has most entries, or if rows are near the diagonal."""
    rng = np.random.default_rng(53)
    with ravel.Context() as cx:
        ravel.call(ravel.lib.ravel_set_threads, cx.p, threads, None, None)
        for rows, cols, n, kind in (300, 40_000, 20_000, ""), (50_000, 32_769, 60_000, ""), (100_000, 40_000, 3000, "full"), (20_000, 40_000, 20_000, "left"), (40_000, 40_000, 50_000, "near"):
            row = rng.integers(0, rows, n)
            col = np.minimum(row + rng.integers(0, 9, n), cols - 1) if kind == "near" else rng.integers(0, cols, n)
            if kind == "full":
                row, col = np.append(row, np.arange(rows)), np.append(col, np.full(rows, 7))
            if kind == "left":                       # their blocks are narrower
                row, col = np.append(row, rng.integers(0, rows, 300_000)), np.append(col, rng.integers(0, 600, 300_000))
            m = sp.csr_matrix((np.ones(row.size), (row, col)), (rows, cols))
            m.data[:] = rng.integers(1, 99, m.nnz)
            for index, dtype in ((4, "f64"), (8, "f32"), (4, "c128"), (4, "i8"), (8, "pattern")):
                a, b = [{k: v.astype(sparse.VALUE[dtype] if k == "val" else sparse.INDEX[index]) for k, v in scipy_arrays(x).items() if k != "val" or dtype != "pattern"}
                        for x in (m, m.tocsc())]
                assert_same(sparse.Plan(cx, "CSR", "CSC", m.shape, dtype, (index, index))(a), b)


def test_blocks_of_other_orders(cx):
    """Blocks by columns, of one extent only, shifted coordinates, and rows in any order."""
    cx.load('sparse "TURNED" { dims = { R, C }, levels = { dense(R // 2), compressed(C // 3), dense(C % 3), dense(R % 2) } }\n'
            'sparse "STRIPS" { dims = { R, C }, levels = { dense(R), compressed(C // 4), dense(C % 4) } }\n'
            'sparse "TALL" { dims = { R, C }, fill = 7, levels = { dense(C // 5), compressed(R), dense(C % 5) } }\n'
            'sparse "LOOSE" { dims = { R, C }, levels = { dense(R), compressed(C, "unordered") } }')
    rng = np.random.default_rng(11)
    turned = [("dense", lambda x: x[0]//2, 5, 0), ("compressed", lambda x: x[1]//3, 5, 0), ("dense", lambda x: x[1] % 3, 3, 0), ("dense", lambda x: x[0] % 2, 2, 0)]
    strips = [("dense", lambda x: x[0], 9, 0), ("compressed", lambda x: x[1]//4, 4, 0), ("dense", lambda x: x[1] % 4, 4, 0)]
    tall = [("dense", lambda x: x[1]//5, 3, 0), ("compressed", lambda x: x[0], 9, 0), ("dense", lambda x: x[1] % 5, 5, 0)]
    for density in (0, 0.1, 0.6):
        m = matrix(rng, (9, 13), "f32", density)
        e = sparse.entries_of(m)
        for name, levels, fill in (("TURNED", turned, 0), ("STRIPS", strips, 0), ("TALL", tall, 7)):
            for a in ("CSR", "CSC", "COO"):
                assert_same(sparse.Plan(cx, a, name, m.shape)(arrays(a, m, "f32")), sparse.store(levels, e, "f32", fill=fill))
        csr = arrays("CSR", m, "f32")
        turn = np.concatenate([[], *[rng.permutation(np.arange(a, b)) for a, b in zip(csr["pos2"], csr["pos2"][1:])]]).astype(int)
        loose = {"pos2": csr["pos2"], "crd2": csr["crd2"][turn], "val": csr["val"][turn]}
        for b in ("CSR", "CSC", "BSR", "ROW_MAJOR"):
            assert_same(sparse.Plan(cx, "LOOSE", b, m.shape)(loose), arrays(b, m, "f32"))


def test_swizzles(cx):
    """Swizzled blocks, and swizzled layouts beside a format."""
    cx.load('sparse "SWIZZLED" { dims = { R, C }, levels = { dense(R // 8), compressed(C // 8), dense(R % 8), dense(C % 8 ~ R % 8) } }')
    levels = [("dense", lambda x: x[0]//8, 3, 0), ("compressed", lambda x: x[1]//8, 4, 0), ("dense", lambda x: x[0] % 8, 8, 0), ("dense", lambda x: x[1] % 8 ^ x[0] % 8, 8, 0)]
    layout = "(R, C){R//4, C//8, R%4, C%8, swizzle = xor(2, 1, 3)}"
    rng = np.random.default_rng(12)
    for density in (0, 0.1, 0.6):
        m = matrix(rng, (20, 26), "f32", density)
        stored, dense = sparse.store(levels, sparse.entries_of(m), "f32"), np.zeros(20 * 32, "f4")
        r, c = np.indices(m.shape)
        at = (r//4 * 4 + c//8) * 32 + r % 4 * 8 + c % 8
        dense[at ^ (at >> 4 & 3) << 1] = m
        for a in ("CSR", "CSC", "COO", "BSR", "ROW_MAJOR"):
            of = {"val": m.reshape(-1)} if a == "ROW_MAJOR" else arrays(a, m, "f32")
            assert_same(sparse.Plan(cx, a, "SWIZZLED", m.shape)(of), stored)
            if a != "COO":
                assert_same(sparse.Plan(cx, "SWIZZLED", a, m.shape)(stored), of)
            if a != "ROW_MAJOR":
                assert_same(sparse.Plan(cx, a, layout, m.shape)(of), {"val": dense})
        assert_same(sparse.Plan(cx, layout, "SWIZZLED", m.shape)({"val": dense}), stored)


@pytest.mark.parametrize("dtype", ["f32", "f64", "i8", "u16", "i32", "u64", "c64", "c128"])
def test_equal_entries(cx, dtype):
    """Entries of one place: their sum, the first, the last; or an error with the entry."""
    rng = np.random.default_rng(1)
    n, shape = 200, (9, 11)
    x = [(int(r), int(c)) for r, c in zip(rng.integers(0, 9, n), rng.integers(0, 11, n))]
    v = rng.integers(1, 9, n).astype(sparse.VALUE[dtype])
    entries = list(zip(x, v))
    source = sparse.store(sparse.levels_of("COO", shape), entries, dtype)
    for equal in ("sum", "first", "last"):
        want = np.zeros(shape, v.dtype)
        seen = set()
        for p, value in entries:
            if equal == "sum":
                want[p] += value
            elif equal == "last" or p not in seen:
                want[p] = value
            seen.add(p)
        e = [(p, want[p]) for p in itertools.product(range(9), range(11)) if p in seen]
        for b in ["CSR", "CSC", "DCSR", "BSR", "ELL", "DIA", "ROW_MAJOR"]:
            got = sparse.Plan(cx, "COO", b, shape, dtype, (4, 4), equal)(source)
            assert_same(got, {"val": want.reshape(-1)} if b == "ROW_MAJOR" else sparse.store(sparse.levels_of(b, shape), e, dtype))
    for b in ["CSR", "BSR", "ROW_MAJOR"]:
        with pytest.raises(ravel.Error, match="entry [0-9]+ is equal"):
            sparse.Plan(cx, "COO", b, shape, dtype, (4, 4), "error")(source)
        once = sparse.store(sparse.levels_of("COO", shape), [(p, 1) for p in sorted(set(x))], dtype)
        sparse.Plan(cx, "COO", b, shape, dtype, (4, 4), "error")(once)


@pytest.mark.parametrize("threads", [1, 3])
def test_places_have_bits(threads):
    """Blocks and diagonals of lists with equal entries: by a bitmap; sorted, if rows of blocks are compressed or a matrix is too large for bits."""
    rng = np.random.default_rng(13)
    with ravel.Context() as cx:
        ravel.call(ravel.lib.ravel_set_threads, cx.p, threads, None, None)
        cx.load('sparse "DBSR" { dims = { R, C }, levels = { compressed(R // 2), compressed(C // 3), dense(R % 2), dense(C % 3) } }')
        shape, n = (150, 301), 12_000
        coo = sp.coo_matrix((rng.integers(-4, 5, n).astype("f8"), (rng.integers(0, shape[0], n), rng.integers(0, shape[1], n))), shape)
        want = {}
        for name, (tall, wide) in {"BSR{BR=3, BC=2}": (3, 2), "DBSR": (2, 3)}.items():
            kept = np.unique((coo.row // tall).astype("i8") << 32 | coo.col // wide)
            val = np.zeros((kept.size, tall, wide))
            np.add.at(val, (np.searchsorted(kept, (coo.row // tall).astype("i8") << 32 | coo.col // wide), coo.row % tall, coo.col % wide), coo.data)
            want = {"val": val.reshape(-1), "crd2": (kept & 0xffffffff).astype("i4")}
            rows, counts = np.unique(kept >> 32, return_counts=True)
            if name == "DBSR":
                want.update(pos1=np.array([0, rows.size], "i4"), crd1=rows.astype("i4"), pos2=np.concatenate([[0], np.cumsum(counts)]).astype("i4"))
            else:
                want["pos2"] = np.searchsorted(kept >> 32, np.arange(51)).astype("i4")
            assert_same(sparse.Plan(cx, "COO", name, shape, "f64")(coo_arrays(coo)), want)
            if name != "DBSR":
                large = sparse.Plan(cx, "COO", name, (150, 10**6), "f64")(coo_arrays(coo))
                assert_same(large, want)
                csc = {"pos2": coo.tocsc().indptr, "crd2": coo.tocsc().indices, "val": coo.tocsc().data}
                assert_same(sparse.Plan(cx, "CSC", name, shape, "f64")(csc), want)
        dia = coo.todia()
        full = np.zeros((dia.offsets.size, shape[1]))
        full[:, :dia.data.shape[1]] = dia.data
        got = sparse.Plan(cx, "COO", "DIA", shape, "f64")(coo_arrays(coo))
        assert_same(got, {"pos1": np.array([0, dia.offsets.size], "i4"), "crd1": dia.offsets.astype("i4"), "val": full.reshape(-1)})


OFF = "(R,C){R, C}", "OFF"


@pytest.mark.parametrize("a, b, shape, dtype, way", [
    ("COO", "BSR{BR=3, BC=2}", "150,301", "f64", "by a bitmap"), ("CSC", "BSR{BR=3, BC=2}", "150,301", "f64", "by a bitmap"),
    ("COO", "BSR{BR=3, BC=2}", "150,1000000", "f64", "by sorting"), ("COO", "DIA", "150,301", "f64", "by a bitmap"),
    ("COO", "BSR{BR=16, BC=16}", "65536,65536", "f32", "by a bitmap"), ("COO", "BSR{BR=16, BC=17}", "65536,65536", "f32", "by sorting"),
    ("COO", "DIA", "2896,2896", "f32", "by a bitmap"), ("COO", "DIA", "2897,2897", "f32", "by sorting"),
    ("CSR", "DIA", "40000,40000", "f32", "by a bitmap"), ("COO", "DIA", "32769,32769", "f32", "by sorting"),
    ("CSR_ANY", "DIA", "40000,40000", "f32", "by sorting"), ("COO", "BSR{BR=512, BC=512}", "100000,100000", "f32", "by sorting"),
    ("COO", "BSR{BR=256, BC=256}", "1000000,1000000", "f32", "by sorting"),
    ("ROW_MAJOR", "BSR", "32000,32004", "u8", "by a bitmap"), ("COL_MAJOR", "BSR", "32000,32004", "u8", "by a bitmap"),
    (*OFF, "46000,1", "u8", "by sorting"), (*OFF, "4096,1", "u8", "by a bitmap"), (*OFF, "4097,1", "u8", "by sorting")])
def test_ways_to_places(tmp_path, a, b, shape, dtype, way):
    """A bitmap takes no more memory than the source, if that is a layout, or than sorting: 256 bits for an entry."""
    (tmp_path/"off.lua").write_text('sparse "OFF" { dims = { R, C }, levels = { dense(R), compressed(C - R) } }')
    assert "way: %s:" % way in good("explain", "--spec", tmp_path/"off.lua", "--from", a, "--to", b, "--shape", shape, "--dtype", dtype)


def joined(coo, place, values):
    """Of a list the places, `values` each, that hold its entries, and their values; place: of each entry, and which of the values."""
    kept, at = np.unique(place[0], return_inverse=True)
    return kept, np.bincount(at * values + place[1], coo.data, kept.size * values)


@pytest.mark.parametrize("a", ["COO", "CSR_ANY"])
@pytest.mark.parametrize("side", [2000, 40_000])
def test_large_blocks_of_lists(cx, a, side):
    """Diagonals and blocks of so many values that a bit for each may be more than an entry takes, with equal entries: by a bitmap, and sorted."""
    rng, n = np.random.default_rng(31), 6000
    row = np.sort(rng.integers(0, 700, n))
    m = sp.coo_matrix((rng.integers(-4, 5, n).astype("f8"), (row, row + rng.choice([0, 3, 9, 100], n))), (side, side))
    source = coo_arrays(m) if a == "COO" else {"pos2": np.searchsorted(m.row, np.arange(side + 1)).astype("i4"), "crd2": m.col, "val": m.data}
    kept, val = joined(m, (m.col - m.row, m.col), side)
    assert_same(sparse.Plan(cx, a, "DIA", m.shape, "f64")(source), {"pos1": np.array([0, kept.size], "i4"), "crd1": kept.astype("i4"), "val": val})
    down = -(-side//512)
    kept, val = joined(m, (m.row//512*down + m.col//512, m.row % 512*512 + m.col % 512), 512*512)
    assert_same(sparse.Plan(cx, a, "BSR{BR=512, BC=512}", m.shape, "f64")(source),
                {"pos2": np.searchsorted(kept//down, np.arange(down + 1)).astype("i4"), "crd2": (kept % down).astype("i4"), "val": val})


def test_a_source_of_large_blocks(cx):
    """Blocks and diagonals of more than 2^15 values."""
    rng, n = np.random.default_rng(51), 4000
    m = sp.csr_matrix((rng.integers(1, 9, n).astype("f4"), (rng.integers(0, 1000, n), rng.integers(0, 700, n))), (1000, 700))
    bsr = sparse.Plan(cx, "CSR", "BSR{BR=256, BC=300}", m.shape)(scipy_arrays(m))
    for b, want in ("CSR", m), ("CSC", m.tocsc()), ("COO", None):
        got = sparse.Plan(cx, "BSR{BR=256, BC=300}", b, m.shape)(bsr)
        if want is None:
            assert (sp.coo_matrix((got["val"], (got["crd1"], got["crd2"])), m.shape) != m).nnz == 0
        else:
            assert_same(got, scipy_arrays(want))
    side = 33_000
    at = rng.permutation(side)[:n]
    m = sp.csr_matrix((np.ones(n, "f4"), (np.minimum(at + 5*(at % 2), side - 1), at)), (side, side))
    dia = sparse.Plan(cx, "CSR", "DIA", m.shape)(scipy_arrays(m))
    for b, want in ("CSR", m), ("CSC", m.tocsc()):
        assert_same(sparse.Plan(cx, "DIA", b, m.shape)(dia), scipy_arrays(want))


@pytest.mark.parametrize("threads", [1, 3])
def test_rows_of_a_large_layout(threads):
    """Rows that are more than 4 MB, in pieces: short, long and odd ones, with a fill, and coordinates that do not begin a line."""
    rng = np.random.default_rng(52)
    with ravel.Context() as cx:
        ravel.call(ravel.lib.ravel_set_threads, cx.p, threads, None, None)
        for shape, dtype, fill in ((1001, 1111), "f32", 3), ((3, 700_001), "i16", 0), ((300_000, 3), "f64", 0), ((29, 9999), "c128", 0):
            m = sp.random(*shape, .01, format="csr", random_state=rng, data_rvs=lambda n: rng.integers(4, 99, n)).astype(sparse.VALUE[dtype])
            want = np.full(shape, fill, sparse.VALUE[dtype])
            want[np.repeat(np.arange(shape[0]), np.diff(m.indptr)), m.indices] = m.data
            assert_same(sparse.Plan(cx, "CSR", "(R, C){R, C, fill = %d}" % fill, shape, dtype)(scipy_arrays(m)), {"val": want.reshape(-1)})


def test_explicit_fill_is_kept(cx):
    """A stored 0 stays an entry where places hold only entries; a fill that is not 0 marks the others."""
    csr = {"pos2": np.array([0, 2, 2], "i4"), "crd2": np.array([0, 2], "i4"), "val": np.array([0, 5], "f4")}
    got = sparse.Plan(cx, "CSR", "CSC", (2, 3))(csr)
    assert got["val"].tolist() == [0, 5] and got["pos2"].tolist() == [0, 1, 1, 2]
    cx.load('sparse "FILLED" { dims = { R, C }, fill = 7, levels = { dense(R), compressed(C // 2), dense(C % 2) } }\n'
            'layout "SEVEN" { dims = { R, C }, fill = 7, order = { R, C } }')
    got = sparse.Plan(cx, "CSR", "FILLED", (2, 3))(csr)
    assert got["val"].tolist() == [0, 7, 5, 7]
    assert sparse.Plan(cx, "FILLED", "SEVEN", (2, 3))(got)["val"].tolist() == [0, 7, 5, 7, 7, 7]
    back = sparse.Plan(cx, "SEVEN", "CSR", (2, 3))({"val": np.array([7, 1, 7, 0, 7, 7], "f4")})
    assert back["crd2"].tolist() == [1, 0] and back["val"].tolist() == [1, 0]


GOOD = {"pos2": [0, 2, 2, 5], "crd2": [1, 3, 0, 1, 2], "val": [1, 2, 3, 4, 5]}


@pytest.mark.parametrize("change, says", [
    ({"pos2": [0, 2, 2]}, "pos2 has another size: 4"),
    ({"pos2": [1, 2, 2, 5]}, r"pos2\[0\] is not 0"),
    ({"pos2": [0, 3, 2, 5]}, r"pos2\[2\] is less than the one before it: it is 2 \(SciPy's indptr\)"),
    ({"pos2": [0, -1, 2, 5]}, r"pos2\[1\] is less"),
    ({"pos2": [0, 2, 2, 6]}, r"pos2\[3\] is not the number"),
    ({"pos2": [0, 2, 2**31 - 1, 5]}, r"pos2\[3\] is less"),
    ({"crd2": [1, 4, 0, 1, 2]}, r"crd2\[1\] is outside the shape: it is 4, and \w+ has 4 \(SciPy's indices\)"),
    ({"crd2": [1, 3, -1, 1, 2]}, r"crd2\[2\] is outside the shape: it is -1, and"),
    ({"crd2": [3, 1, 0, 1, 2]}, r"crd2\[1\] is less"),
    ({"crd2": [1, 3, 0, 2, 2]}, r"crd2\[4\] is equal"),
    ({"val": [1, 2, 3, 4]}, "val has another size: 5"),
    ({"val": []}, "val has another size: 5"),
])
def test_hostile_csr(cx, change, says):
    a = {k: np.array(v, "f4" if k == "val" else "i4") for k, v in {**GOOD, **change}.items()}
    for b in ["CSC", "COO", "BSR", "ELL", "ROW_MAJOR", "CSR"]:
        with pytest.raises(ravel.Error, match=says):
            sparse.Plan(cx, "CSR", b, (3, 4))(a)


@pytest.mark.parametrize("name", ["CSR", "DCSR", "COO", "BSR", "ELL", "DIA"])
def test_hostile_arrays(cx, name):
    """Numbers replaced at random: an error that names an array, or a result of the sizes that were told."""
    rng = random.Random(name)
    m = matrix(np.random.default_rng(5), (7, 9))
    good = arrays(name, m, "f32")
    plans = [sparse.Plan(cx, name, b, m.shape) for b in ["CSR", "CSC", "BSR", "ELL", "DIA", "COO", "ROW_MAJOR"]]
    refused = 0
    for _ in range(150):
        bad = {k: v.copy() for k, v in good.items()}
        for _ in range(rng.randint(1, 3)):
            k = rng.choice([k for k in bad if k != "val"])
            if rng.random() < 0.2:
                bad[k] = bad[k][:rng.randrange(len(bad[k]) + 1)]
            elif len(bad[k]):
                bad[k][rng.randrange(len(bad[k]))] = rng.choice([-1, 0, 1, 2, 6, 7, 9, 10, 100, 2**31 - 1, -2**31])
        try:
            rng.choice(plans)(bad)
        except ravel.Error as e:
            refused += 1
            assert name + ": " in e.text
    assert refused > 50


@pytest.mark.parametrize("spec, says", [
    ('sparse "X" { dims = { R, C } }', "has no levels"),
    ('sparse "X" { dims = { R, C }, order = { R, C } }', "has levels, not an order"),
    ('layout "X" { dims = { R, C }, levels = { R } }', r"levels\[1\] is a userdata"),
    ('sparse "X" { dims = { R, C }, levels = { R, C } }', r"levels\[1\]"),
    ('sparse "X" { dims = { R, C }, levels = { dense(R, "unique"), compressed(C) } }', "dense takes one expression"),
    ('sparse "X" { dims = { R, C }, levels = { dense(R), compressed(C, "sorted") } }', "nonunique"),
    ('sparse "X" { dims = { R, C }, levels = { dense(), compressed(C) } }', r"dense is written dense\(R\)"),
    ('sparse "X" { dims = { R, C }, levels = { dense(R), sliced(), singleton(C) } }', r"sliced is written sliced\(8\)"),
    ('sparse "X" { dims = { R, C }, levels = { dense(R), nofm(C) } }', r"nofm is written nofm\(R, 8"),
    ('sparse "X" { dims = { R, C }, levels = { dense(R), nofm(C, 2, { "x" }) } }', r"nofm is written nofm\(R, 8"),
    ('sparse "X" { dims = { R, C }, levels = { ranked(R, "a"), jagged(), singleton(C) } }', r"ranked is written ranked\(R\[, 8\]\)"),
    ('sparse "X" { dims = { R, C }, levels = { dense(R), sliced(C), singleton(C) } }', "unknown name 'C'"),
    ('sparse "X" { dims = { R, C }, pad = { R = 4 }, levels = { dense(R), compressed(C) } }', "pad, pitch"),
    ('sparse "X" { dims = { R, C }, levels = { dense(R), compressed(D) } }', "unknown name 'D'"),
])
def test_wrong_specs(cx, spec, says):
    with pytest.raises(ravel.Error, match=says):
        cx.load(spec)


@pytest.mark.parametrize("levels, says", [
    ("dense(R), singleton(C)", "follows compressed"),
    ('compressed(R, "nonunique"), compressed(C)', "only singletons"),
    ("nth(), singleton(C), dense(R)", "dense levels only"),
    ("ranked(R), compressed(C)", "jagged.. follows it"), ("dense(R), jagged(), singleton(C)", "jagged.. follows ranked"), ("ranked(R, 4), jagged(), singleton(C)", "without a number"),
    ("dense(R), sliced(0), singleton(C)", "number of level 2 is 0"), ("ranked(C - R), jagged(), singleton(C)", "0 or more"), ("nofm(C, 2), dense(R)", "the last level"),
    ("dense(R), dense(C // 4), nofm(C % 4, 5)", "at most all"), ("dense(R), dense(C // 32), nofm(C % 32, 2)", "of at most 16"), ("dense(R), dense(C // 4), nofm(C % 4, 2, { R })", "stored nowhere"),
    ("dense(R), compressed(R)", "stored nowhere"),
    ("dense(R)", "stored nowhere"),
    ("dense(C - R), dense(C)", "below 0"),
    ('dense(R), compressed(C, "nonunique")', "cannot be nonunique"),
])
def test_wrong_levels(cx, levels, says):
    cx.load('sparse "X" { dims = { R, C }, levels = { %s } }' % levels)
    with pytest.raises(ravel.Error, match=says):
        sparse.Plan(cx, "X", "ROW_MAJOR", (4, 5))


def test_refusals(cx):
    for args, says in [(("CSR", "CSC", (3, 4), "i4"), "whole bytes"), (("CSR", "NCHW", (3, 4)), "dims"), (("CSR", "CSC", (3, 0)), "1 or more"),
                       (("CSR", "CSC", (3, -1)), "1 or more|run time"), (("CSR", "CSC", (3, 2**31 + 5)), "32-bit"),
                       (("CSR", "CSC", (3, 4), "f32", (4, 2)), "4 or 8 bytes"), (("CSR", "CSC", (3, 4), "f32", (4, 4), "max"), "none of sum")]:
        with pytest.raises(ravel.Error, match=says):
            sparse.Plan(cx, *args)
    with pytest.raises(ravel.Error, match="sparse format"):
        cx.plan("CSR", "ROW_MAJOR", [3, 4], "f32")


@pytest.mark.parametrize("b", ["CSR", "DCSR", "BSR", "ROW_MAJOR"])
def test_values_that_are_not_added(cx, b):
    """Lists of f16 are converted if no entries are equal."""
    a = {"pos1": np.array([0, 3], "i4"), "crd1": np.array([2, 0, 1], "i4"), "crd2": np.array([1, 1, 3], "i4"), "val": np.array([5, 6, 7], "f2")}
    m = np.zeros((3, 4), "f2")
    m[a["crd1"], a["crd2"]] = a["val"]
    plan = sparse.Plan(cx, "COO", b, m.shape, "f16")
    assert_same(plan(a), arrays(b, m, "f16"))
    a["crd1"][2], a["crd2"][2] = 0, 1
    with pytest.raises(ravel.Error, match="entry 2 is equal to one before it, and values of f16 are not added"):
        plan(a)


def run(*args, **kw):
    return subprocess.run([str(RAVEL), *map(str, args)], capture_output=True, text=True, **kw)


def good(*args, **kw):
    r = run(*args, **kw)
    assert r.returncode == 0, r.stderr
    return r.stdout


def test_command(tmp_path):
    """Matrix Market, SciPy's .npz of every format, folders and .npy, there and back."""
    import scipy.io
    m = sp.random(20, 30, 0.2, format="coo", random_state=1, dtype="f8", data_rvs=lambda n: np.arange(1.0, n + 1))
    os.chdir(tmp_path)
    scipy.io.mmwrite("a.mtx", m)
    good("convert", "a.mtx", "b.npz", "--from", "COO", "--to", "CSR")
    b = sp.load_npz("b.npz")
    assert b.format == "csr" and b.has_sorted_indices and (b != m.tocsr()).nnz == 0
    for f in ["csc", "bsr", "coo", "dia"]:
        good("convert", "b.npz", "c.npz", "--from", "CSR", "--to", "BSR{BR=4, BC=5}" if f == "bsr" else f.upper())
        c = sp.load_npz("c.npz")
        assert c.format == f and np.array_equal(c.toarray(), m.toarray())
        sp.save_npz("d.npz", m.asformat(f), compressed=f != "csc")
        good("convert", "d.npz", "e.npz", "--from", f.upper(), "--to", "CSR")
        assert (sp.load_npz("e.npz") != b).nnz == 0
    good("convert", "b.npz", "folder/", "--from", "CSR", "--to", "ELL")
    assert np.load("folder/crd3.npy").size == 20 * np.diff(b.indptr).max()
    good("convert", "folder", "f.mtx", "--from", "ELL", "--to", "COO")
    assert (scipy.io.mmread("f.mtx").tocsr() != b).nnz == 0
    good("convert", "folder", "g.npz", "--from", "ELL", "--to", "DCSR")
    assert set(np.load("g.npz")) == {"pos1", "crd1", "pos2", "crd2", "val", "shape"}
    good("convert", "g.npz", "h.npy", "--from", "DCSR", "--to", "ROW_MAJOR")
    assert np.array_equal(np.load("h.npy"), m.toarray())
    good("convert", "h.npy", "i.npz", "--from", "ROW_MAJOR", "--to", "CSC")
    assert (sp.load_npz("i.npz") != b).nnz == 0


@pytest.mark.parametrize("field, symmetry", [("real", "general"), ("integer", "symmetric"), ("complex", "hermitian"), ("real", "skew-symmetric"),
                                             ("pattern", "symmetric"), ("pattern", "general")])
def test_matrix_market(tmp_path, field, symmetry):
    import scipy.io
    values = {"real": ["1.5", "-2e3", "4"], "integer": ["7", "-8", "9"], "complex": ["1 2", "3 -4", "5 0"], "pattern": ["", "", ""]}[field]
    at = [(2, 1), (3, 1), (3, 2)]
    text = "%%%%MatrixMarket matrix coordinate %s %s\n%% a comment\n\n4 4 3\n" % (field, symmetry)
    (tmp_path/"a.mtx").write_text(text + "".join("%d %d %s\n" % (r, c, v) for (r, c), v in zip(at, values)))
    good("convert", tmp_path/"a.mtx", tmp_path/"b.npz", "--from", "COO", "--to", "CSR")
    want = scipy.io.mmread(str(tmp_path/"a.mtx")).toarray()
    assert np.array_equal(sp.load_npz(tmp_path/"b.npz").toarray(), want)


def test_unsigned_matrix_market(tmp_path):
    """What is written is read back, up to 2^64 - 1."""
    m = sp.csr_matrix(np.array([[0, 2**64 - 1], [2**63, 7]], "u8"))
    sp.save_npz(tmp_path/"a.npz", m)
    good("convert", tmp_path/"a.npz", tmp_path/"a.mtx", "--from", "CSR", "--to", "COO")
    assert (tmp_path/"a.mtx").read_text().split("\n")[2:5] == ["1 2 18446744073709551615", "2 1 9223372036854775808", "2 2 7"]
    good("convert", tmp_path/"a.mtx", tmp_path/"b.npz", "--from", "COO", "--to", "CSR")
    b = sp.load_npz(tmp_path/"b.npz")
    assert b.dtype == "u8" and np.array_equal(b.toarray(), m.toarray())


@pytest.mark.parametrize("text, says", [
    ("", "line 1: the file does not begin"), ("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 5\n\0 2", "is no text: it has a NUL byte at 58"),
    ("%%MatrixMarket matrix array real general\n2 2\n", "only 'coordinate'"),
    ("%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 5\n", "line 3: the row"), ("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 0 5\n", "line 3: the column"),
    ("%%MatrixMarket matrix coordinate real general\n2 2 9999\n1 1 5\n", "fewer entries"), ("%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 5\n", "line 4: the file ends after 1 of 2 entries"),
    ("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 5\n1 2 5\n", "more entries"), ("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 x\n", "no number"),
    ("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1\n", "missing"), ("%%MatrixMarket matrix coordinate real general\n-2 2 1\n", "rows"),
    ("%%MatrixMarket matrix coordinate real symmetric\n2 3 1\n1 1 1\n", "as many rows"), ("%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 1 99999999999999999999\n", "64 bits"),
    ("%%MatrixMarket matrix coordinate integer general\n2 2 2\n1 1 -1\n1 2 9223372036854775808\n", "both its values below 0"),
    ("%%MatrixMarket matrix coordinate integer skew-symmetric\n2 2 1\n2 1 9223372036854775808\n", "64 bits"),
])
def test_damaged_matrix_market(tmp_path, text, says):
    (tmp_path/"a.mtx").write_text(text)
    r = run("convert", tmp_path/"a.mtx", tmp_path/"b.npz", "--from", "COO", "--to", "CSR")
    assert r.returncode == 2 and says in r.stderr and not (tmp_path/"b.npz").exists()


def test_damaged_archives(tmp_path):
    """Bytes of an .npz changed or cut off: an error and no file, or a result."""
    rng = random.Random(4)
    m = sp.random(9, 9, 0.3, format="csr", random_state=2)
    sp.save_npz(tmp_path/"a.npz", m)
    whole = (tmp_path/"a.npz").read_bytes()
    for i in range(40):
        b = bytearray(whole)
        for _ in range(rng.randint(1, 4)):
            b[rng.randrange(len(b))] = rng.randrange(256)
        (tmp_path/"b.npz").write_bytes(b[:rng.randrange(len(b))] if i % 4 == 0 else b)
        r = run("convert", tmp_path/"b.npz", tmp_path/"c.npz", "--from", "CSR", "--to", "CSC")
        assert r.returncode in (0, 2), r.stderr
        assert (r.returncode == 0) == (tmp_path/"c.npz").exists()
        if r.returncode == 0:
            (tmp_path/"c.npz").unlink()


def test_command_errors(tmp_path):
    os.chdir(tmp_path)
    sp.save_npz("a.npz", sp.identity(4, format="csc"))
    np.savez("b.npz", pos2=np.zeros(5, "i4"), crd2=np.zeros(0, "i4"), val=np.zeros(0, "f4"), shape=np.array([4, 4]))
    np.savez("c.npz", pos2=np.zeros(5, "i4"), shape=np.array([4, 4]))
    np.save("d.npy", np.ones((2, 3), "f4"))
    np.savez("e.npz", format=np.array(b"dia"), shape=np.array([5, -1]), offsets=np.zeros(1, "i4"), data=np.zeros((1, 5), "u1"))
    for args, says in [(("a.npz", "x.npz", "--from", "CSR", "--to", "COO"), "holds CSC: give --from CSC"),
                       (("b.npz", "x.mtx", "--from", "CSR", "--to", "CSC"), "give --to COO"),
                       (("c.npz", "x.npz", "--from", "CSR", "--to", "CSC"), "no array val"),
                       (("b.npz", "x.npz", "--from", "CSR", "--to", "CSC", "--verify"), "--verify"),
                       (("none.npz", "x.npz", "--from", "CSR", "--to", "CSC"), "none.npz"),
                       (("b.npz", "x.npz", "--from", "CSR", "--to", "ROW_MAJOR"), "as .npy"), (("b.npz", "x.npy", "--from", "CSR", "--to", "CSC"), "several arrays"),
                       (("d.npy", "x.npz", "--from", "ROW_MAJOR", "--to", "CSR", "--shape", "3,2"), "omit --shape"),
                       (("d.npy", "x.npz", "--from", "ROW_MAJOR", "--to", "CSR", "--dtype", "i32"), "omit --dtype"),
                       (("e.npz", "x.npz", "--from", "DIA", "--to", "CSR"), "the extent -1")]:
        r = run("convert", *args)
        assert r.returncode == 2 and says in r.stderr and not os.path.exists("x.npz"), r.stderr


def test_show_check_explain():
    assert "pos2      5:" in good("show", "CSR", "--shape", "4,6")
    assert "stored less 3" in good("show", "DIA", "--shape", "4,6")
    assert "yes: BSR" in good("check", "BSR", "--shape", "9,9")
    assert "more than once" in good("check", "COO")
    assert "by counting" in good("explain", "--from", "CSR", "--to", "CSC", "--shape", "9,9", "--dtype", "f32")
    assert "by rows" in good("explain", "--from", "COO", "--to", "CSR", "--shape", "9,9", "--dtype", "f32")
    assert "call transpose" in good("explain", "--from", "CSR", "--to", "CSC", "--shape", "9,9", "--dtype", "f32", "--statements")
    names = [e["name"] for e in json.loads(good("list", "--json"))]
    assert {"COO", "CSR", "CSC", "BSR", "DCSR", "ELL", "DIA", "CSF3", "COO6"} <= set(names)


MAIN = r"""
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
    int32_t pos[] = {0, 2, 2, 5}, crd[] = {1, 3, 0, 1, 2};
    float val[] = {1, 2, 3, 4, 5};
    const void *in[] = {pos, crd, val};
    int64_t n[] = {4, 5, 5}, m[8];
    if (f_work(0, in, n, 0, m)) return 1;
    void *work = malloc((size_t)m[0]), *out[8];
    if (f_sizes(work, in, n, 0, m)) return 2;
    int size[] = {4, 4, 4, 4, 4};
    for (int i = 0; i < ARRAYS; i++) out[i] = malloc((size_t)(m[i] * size[i]) + 1);
    if (f(work, in, n, out, m)) return 3;
    for (int i = 0; i < ARRAYS; i++) {
        for (int64_t k = 0; k < m[i]; k++)
            if (i == ARRAYS - 1) printf("%g ", ((float *)out[i])[k]); else printf("%d ", ((int32_t *)out[i])[k]);
        printf("\n");
        free(out[i]);
    }
    pos[1] = 9;
    if (!f_sizes(work, in, n, 0, m)) return 4;
    printf("%lld %lld\n", (long long)m[0], (long long)m[1]);
    free(work);
    return 0;
}
"""


@pytest.mark.parametrize("compiler", ["gcc -O3 -std=c99 -Wconversion -Wmissing-prototypes", "clang -O1 -std=c99", "gcc -O0 -g -fsanitize=address,undefined -fno-sanitize-recover=all"])
def test_emitted(tmp_path, compiler):
    """Stand-alone C of each way, with warnings as errors; its result is that of the evaluator."""
    m = np.array([[0, 1, 0, 2], [0, 0, 0, 0], [3, 4, 5, 0]], "f4")
    for b in ["BSR"] if "clang" in compiler else ["COO", "DIA", "JDS"] if "-O3" in compiler else ["CSC", "ELL", "ROW_MAJOR"]:
        text = good("emit", "--from", "CSR", "--to", b, "--shape", "3,4", "--dtype", "f32", "--name", "f", "-o", "-")
        want = arrays(b, m, "f32")
        (tmp_path/"a.c").write_text(text + "enum { ARRAYS = %d };\n" % len(want) + MAIN)
        subprocess.run(compiler.split() + ["-Wall", "-Wextra", "-Werror", "-o", tmp_path/"a", tmp_path/"a.c"], check=True)
        out = subprocess.run([tmp_path/"a"], capture_output=True, text=True)
        assert out.returncode == 0, out.stderr
        lines = [x.split() for x in out.stdout.splitlines()]
        assert [[float(v) for v in line] for line in lines[:-1]] == [v.tolist() for v in want.values()]
        assert lines[-1] == ["0", "2"]


def emitted(folder, source, *options):
    """The result of emitted C on the arrays of a source, as a list of bytes; and the text."""
    text = good("emit", "--name", "f", "-o", "-", *options)
    (folder/"f.c").write_text(text)
    subprocess.run(["gcc", "-O1", "-shared", "-fPIC", "-Wall", "-Werror", "-o", folder/"f.so", folder/"f.c"], check=True)
    lib, n, m = ct.CDLL(str(folder/"f.so")), (ct.c_int64 * 4)(*[x.size for x in source]), (ct.c_int64 * 4)()
    given = (ct.c_void_p * 4)(*[x.ctypes.data for x in source])
    assert lib.f_work(None, given, n, None, m) == 0
    work = np.zeros(m[0] // 16 + 1, "c16")
    assert lib.f_sizes(ct.c_void_p(work.ctypes.data), given, n, None, m) == 0
    out = [np.zeros(8 * k, "u1") for k in m[:3]]
    assert lib.f(ct.c_void_p(work.ctypes.data), given, n, (ct.c_void_p * 3)(*[x.ctypes.data for x in out]), m) == 0
    return [x.tobytes() for x in out], list(m[:3]), text


def test_options_of_emit(tmp_path):
    """Duplicates, thresholds, masks and wide indices of emitted C, beside SciPy; its comment has the command."""
    rng, shape = np.random.default_rng(21), (40, 30)
    dense, keep = rng.random(shape), rng.random(shape) < .4
    row, col, val = rng.integers(0, 40, 500), rng.integers(0, 30, 500), rng.random(500)
    first = np.unique(row * 30 + col, return_index=True)[1]
    last = 499 - np.unique((row * 30 + col)[::-1], return_index=True)[1]
    cases = [(["--duplicates", d], "COO", "i4", "i4", sp.csr_matrix((val[k], (row[k], col[k])), shape)) for d, k in (("sum", slice(None)), ("first", first), ("last", last))]
    cases += [(["--threshold", "0.7"], "ROW_MAJOR", "i4", "i4", sp.csr_matrix(np.where(dense > .7, dense, 0))),
              (["--mask"], "ROW_MAJOR", "i4", "i4", sp.csr_matrix(np.where(keep, dense, 0))),
              (["--index-type", "i64"], "COO", "i8", "i8", sp.csr_matrix((val, (row, col)), shape)),
              (["--index-type", "i32,i64"], "COO", "i4", "i8", sp.csr_matrix((val, (row, col)), shape))]
    for number, (options, a, i, o, want) in enumerate(cases):
        folder = tmp_path/str(number)
        folder.mkdir()
        want.sort_indices()
        source = [np.array([0, 500], i), row.astype(i), col.astype(i), val] if a == "COO" else [dense.reshape(-1)]
        source = [keep.reshape(-1).astype("u1")] * ("--mask" in options) + source
        out, m, text = emitted(folder, source, "--from", a, "--to", "CSR", "--shape", "40,30", "--dtype", "f64", *options)
        got = [np.frombuffer(x, t)[:k] for x, t, k in zip(out, (o, o, "f8"), m)]
        assert [x.tolist() for x in got[:2]] == [want.indptr.tolist(), want.indices.tolist()] and np.allclose(got[2], want.data, 1e-15, 0)
        command = shlex.split(re.match(r"/\* ravel (emit .*)\n", text)[1])
        assert good(*command, "-o", "-") == text and (options[1:] == ["sum"] or options[0] in command)
        (folder/"k.txt").write_text("--from %s --to CSR --shape 40,30 --dtype f64 --name f %s\n" % (a, " ".join(options)))
        listed = good("emit", "--list", folder/"k.txt", "-o", "-")
        assert text.split(" */")[0].split("\n", 1)[0][3:] in listed


@pytest.mark.parametrize("says, options", [
    ("none of i32, i64", ["--from", "CSR", "--to", "CSC", "--index-type", "i16"]), ("none of sum, first", ["--from", "COO", "--to", "CSR", "--duplicates", "max"]),
    ("each position", ["--from", "CSR", "--to", "CSC", "--threshold", "1"]), ("no number from 0 on", ["--from", "ROW_MAJOR", "--to", "CSR", "--threshold", "-1"]),
    ("are of sparse formats", ["--from", "ROW_MAJOR", "--to", "COL_MAJOR", "--mask"]), ("are in the lines", ["--list", "x.txt", "--mask"])])
def test_wrong_options_of_emit(says, options):
    r = run("emit", "-o", "-", *options, *([] if "--list" in options else ["--shape", "4,5", "--dtype", "f32"]))
    assert r.returncode == 2 and says in r.stderr


def test_no_extent_is_left_to_run_time():
    r = run("emit", "-o", "-", "--from", "CSR", "--to", "CSC", "--shape", "N,5", "--dtype", "f32")
    assert r.returncode == 2 and "beside a sparse format all extents are numbers: none is left to run time" in r.stderr


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


def test_work_for_equal_entries(tmp_path):
    """A bit for each value that there may be, not for a diagonal of each of a million entries; what the memory held does not matter: 0 + -0.0 would be 0."""
    rows, n = 1000, 10**6
    (tmp_path/"f.c").write_text(good("emit", "--from", "COO", "--to", "DIA", "--shape", "%d,%d" % (rows, rows), "--dtype", "f32", "--name", "f", "-o", "-"))
    subprocess.run(["gcc", "-O0", "-shared", "-fPIC", "f.c", "-o", "f.so"], cwd=tmp_path, check=True)
    lib, size, m = ct.CDLL(str(tmp_path/"f.so")), (ct.c_int64 * 4)(2, n, n, n), (ct.c_int64 * 4)()
    assert lib.f_work(None, None, size, None, m) == 0
    assert (2*rows - 1) * rows // 8 < m[0] < 2**20
    work, at = np.full(m[0]//8 + 2, -1), np.array([0, 7, 7, 999], "i4")
    source = [np.array([0, 4], "i4"), at, at, np.array([1, 2, 3, -0.0], "f4")]
    out = [np.zeros(2, "i4"), np.zeros(1, "i4"), np.zeros(rows, "f4")]
    given, room = (ct.c_void_p * 4)(*[x.ctypes.data for x in source]), (ct.c_void_p * 3)(*[x.ctypes.data for x in out])
    assert lib.f_sizes(ct.c_void_p(work.ctypes.data + 15 & -16), given, (ct.c_int64 * 4)(2, 4, 4, 4), None, m) == 0 and list(m)[:3] == [2, 1, rows]
    assert lib.f(ct.c_void_p(work.ctypes.data + 15 & -16), given, (ct.c_int64 * 4)(2, 4, 4, 4), room, m) == 0
    assert out[0].tolist() == [0, 1] and out[1].tolist() == [0] and out[2][at].tolist() == [1, 5, 5, 0] and np.signbit(out[2][999])


def test_lists_of_conversions(tmp_path):
    """One unit, with a header, of sparse conversions and others; a name is there once."""
    (tmp_path/"k.txt").write_text("--from CSR --to CSC --shape 3,4 --dtype f32 --name turn\n-F NCHW -T NHWC -s 1,2,3,4 -d u8 -n nhwc\n--from COO --to CSR --shape 3,4 --dtype f32\n")
    os.chdir(tmp_path)
    good("emit", "--list", "k.txt", "-o", "all.c", "--header", "all.h")
    names = re.findall(r"^(?:int|void) (\w+)\(", (tmp_path/"all.h").read_text(), re.M)
    assert names == ["turn_work", "turn_sizes", "turn", "nhwc", "coo_to_csr_3x4_f32_work", "coo_to_csr_3x4_f32_sizes", "coo_to_csr_3x4_f32"]
    (tmp_path/"use.cc").write_text('#include "all.h"\nint main() { int64_t m[3], n[] = {4, 2, 2}; return turn_work(0, 0, n, 0, m) || m[0] < 1; }\n')
    for all_c in ("gcc -Werror -Wall -Wextra -Wmissing-prototypes -Wno-unused-function -c all.c -o all.o", "g++ -x c++ -c all.c -o all.o"):
        subprocess.run(all_c + " && g++ use.cc all.o -o use && ./use", shell=True, check=True)
    (tmp_path/"k.txt").write_text("--from CSR --to CSC --shape 3,4 --dtype f32 --name f\n-F NCHW -T NHWC -s 1,2,3,4 -d u8 -n f_sizes\n")
    r = run("emit", "--list", "k.txt")
    assert r.returncode == 2 and "k.txt:2: the name f_sizes is that of line 1" in r.stderr


def test_work_of_a_list(tmp_path):
    """A list of few rows and columns takes half an index for each entry, or the entry itself if its result is above 6 MiB."""
    (tmp_path/"f.c").write_text(good("emit", "--from", "COO", "--to", "CSR", "--shape", "4000,4000", "--dtype", "f64", "--name", "f", "-o", "-"))
    subprocess.run(["gcc", "-O0", "-shared", "-fPIC", "f.c", "-o", "f.so"], cwd=tmp_path, check=True)
    lib, m, most = ct.CDLL(str(tmp_path/"f.so")), (ct.c_int64 * 4)(), 6 * 2**20 // 12
    for n, each in (most, 2), (most + 1, 16), (10**7, 16):
        assert lib.f_work(None, None, (ct.c_int64 * 4)(2, n, n, n), None, m) == 0 and each * n < m[0] < each * n + 2**20
    lib.f_work(None, None, (ct.c_int64 * 4)(2, 1 << 62, 1 << 62, 1 << 62), None, m)
    assert m[0] == -1


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


@pytest.mark.parametrize("dtype", ["f32", "f64", "c64", "c128"])
def test_negative_zeros_of_lists(cx, dtype):
    """-0.0, alone or twice, stays; with 0.0, or what adds up to it, it is 0.0."""
    part = np.dtype(sparse.VALUE[dtype]).type(0).real.dtype
    row, val = np.array([0, 1, 1, 2, 2, 3, 3, 3, 4], "i4"), np.array([-0.0, -0.0, -0.0, -0.0, 0.0, 1, -1, -0.0, 5], part)
    if dtype.startswith("c"):
        val = np.stack([val, -val], axis=1).view(sparse.VALUE[dtype]).reshape(-1)
    source = {"pos1": np.array([0, 9], "i4"), "crd1": row, "crd2": row, "val": val}
    for b in ("ROW_MAJOR", "COL_MAJOR", "CSR"):
        got = sparse.Plan(cx, "COO", b, (6, 6), dtype)(source)["val"].view(part).reshape(-1, val.itemsize // part.itemsize)
        if b != "CSR":
            got = got.reshape(6, 6, -1)[np.arange(5), np.arange(5)]
        want = [(-0.0, 0.0), (-0.0, 0.0), (0.0, 0.0), (0.0, 0.0), (5.0, -5.0)]
        assert [[str(x) for x in p] for p in got.tolist()] == [[str(x) for x in w[:len(p)]] for w, p in zip(want, got.tolist())]


def test_sums_are_in_order():
    """Floats are added in the order of the list, by any number of threads."""
    rng, n, shape = np.random.default_rng(9), 30000, (40, 50)
    row, col, val = rng.integers(0, 40, n, "i4"), rng.integers(0, 50, n, "i4"), (rng.standard_normal(n) * 10.0**rng.integers(0, 7, n)).astype("f4")
    want = np.zeros(shape, "f4")
    np.add.at(want, (row, col), val)
    for threads in (1, 3):
        with ravel.Context() as cx:
            ravel.call(ravel.lib.ravel_set_threads, cx.p, threads, None, None)
            got = sparse.Plan(cx, "COO", "CSR", shape)({"pos1": np.array([0, n], "i4"), "crd1": row, "crd2": col, "val": val})
            assert_same(got, arrays("CSR", want, "f32"))


@pytest.mark.parametrize("compiler", ["gcc -x c -std=c99 -Wall -Wextra -Wconversion -Werror", "g++ -x c++ -std=c++17"])
@pytest.mark.parametrize("a, b", [("COO", "CSR"), ("CSR", "CSC"), ("COO", "DCSR"), ("ROW_MAJOR", "ELL"), ("JDS", "SEMI24_16"), ("SEMI24_32", "SELL")])
def test_emitted_is_both_languages(a, b, compiler):
    text = good("emit", "--from", a, "--to", b, "--shape", "50000,300", "--dtype", "f64", "-o", "-")
    subprocess.run([*compiler.split(), "-fsyntax-only", "-"], input=text, text=True, check=True)


HOSTILE = r"""
#include <stdio.h>
#include <stdlib.h>
static uint64_t state = 1;
static uint64_t drawn(uint64_t n) { state = state * 6364136223846793005u + 1442695040888963407u; return (state >> 33) % n; }
int main(void)
{
    static const int32_t odd[] = {-1, 0, 1, 2, 6, 7, 9, 10, 100, INT32_MAX, INT32_MIN};
    int flaws = 0;
    for (int round = 0; round < 4000; round++) {
        void *in[SOURCES], *out[33];
        const void *arrays[SOURCES];
        int64_t n[SOURCES], m[33];
        for (int i = 0; i < SOURCES; i++) {            /* of exactly their sizes, so that a step outside is seen */
            n[i] = drawn(20) ? count[i] : (int64_t)drawn((uint64_t)count[i] + 1);
            in[i] = malloc((size_t)n[i] * 4 + !n[i]);
            memcpy(in[i], source[i], (size_t)n[i] * 4);
            for (uint64_t k = drawn(3); n[i] && i < SOURCES - 1 && k-- > 0;)
                ((int32_t *)in[i])[drawn((uint64_t)n[i])] = odd[drawn(sizeof odd / sizeof *odd)];
            arrays[i] = in[i];
        }
        if (f_work(0, arrays, n, 0, m)) return 1;
        void *work = malloc((size_t)m[0]);
        if (f_sizes(work, arrays, n, 0, m)) {
            flaws++;
        } else {
            for (int i = 0; i < ARRAYS; i++) out[i] = malloc((size_t)m[i] * 4 + !m[i]);
            if (f(work, arrays, n, out, m)) return 3;
            for (int i = 0; i < ARRAYS; i++) free(out[i]);
        }
        free(work);
        for (int i = 0; i < SOURCES; i++) free(in[i]);
    }
    return flaws < 1000 || flaws == 4000;
}
"""


@pytest.mark.parametrize("pair", ["CSR CSC", "COO DCSR", "ELL DIA", "DIA BSR", "COO CSR", "CSR BSR", "SELL JDS"])
def test_hostile_under_sanitizers(tmp_path, pair):
    """Damaged arrays, each in memory of its size: emitted C finds the flaw or converts, and never steps outside."""
    a, b = pair.split()
    m = matrix(np.random.default_rng(6), (7, 9))
    src, dst = arrays(a, m, "f32"), arrays(b, m, "f32")
    data = "".join("static const uint32_t source%d[] = {%s};\n" % (i, ", ".join("%du" % v for v in x.view("u4"))) for i, x in enumerate(src.values()))
    data += "static const void *source[] = {%s};\n" % ", ".join("source%d" % i for i in range(len(src)))
    data += "static const int64_t count[] = {%s};\n" % ", ".join(str(x.size) for x in src.values())
    text = good("emit", "--from", a, "--to", b, "--shape", "7,9", "--dtype", "f32", "--name", "f", "-o", "-")
    (tmp_path/"a.c").write_text(text + data + "enum { SOURCES = %d, ARRAYS = %d };\n" % (len(src), len(dst)) + HOSTILE)
    subprocess.run(["gcc", "-O0", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-o", tmp_path/"a", tmp_path/"a.c"], check=True)
    r = subprocess.run([tmp_path/"a"], capture_output=True, text=True)
    assert r.returncode == 0, r.stderr


# --- what a strict reader found

MTX = "%%MatrixMarket matrix coordinate real general\n2 3 2\n1 1 0.5\n2 3 4\n"


def command(folder, *args):
    r = subprocess.run([str(ravel.BUILD / "ravel"), *args], cwd=folder, capture_output=True, text=True, timeout=60)
    assert r.returncode in (0, 1, 2), r
    return r


def test_dims_of_the_destination_in_another_order(tmp_path):
    (tmp_path / "a.mtx").write_text(MTX)
    assert command(tmp_path, "convert", "a.mtx", "d.npy", "--from", "COO", "--to", "(C,R){C, R}").returncode == 0
    assert np.array_equal(np.load(tmp_path / "d.npy"), [[.5, 0], [0, 0], [0, 4]])
    assert command(tmp_path, "convert", "a.mtx", "p.npy", "--from", "COO", "--to", "(C,R){C, R, pad = {C = 8}}").returncode == 0
    assert np.load(tmp_path / "p.npy").shape == (8, 2)
    assert command(tmp_path, "convert", "a.mtx", "c", "--from", "COO", "--to", "CSR(C,R)").returncode == 0
    assert np.load(tmp_path / "c/shape.npy").tolist() == [3, 2] and np.load(tmp_path / "c/pos2.npy").tolist() == [0, 1, 1, 2]


@pytest.mark.parametrize("levels, says", [
    ("levels = { dense(R), compressed(C) }, order = {%s}" % ", ".join(["R", "C"]*10), "both an order and levels"),
    ("order = {%s}, levels = { dense(R), compressed(C) }" % ", ".join(["R", "C"]*10), "both an order and levels"),
    ("levels = { dense(R), nth(), singleton(C - R) }", "0 or more")])
def test_levels_that_contradict(tmp_path, levels, says):
    (tmp_path / "t.lua").write_text('sparse "X" { dims = { R, C }, %s }\n' % levels)
    r = command(tmp_path, "check", "t.lua:X")
    assert r.returncode == 2 and says in r.stderr, r


def test_a_format_of_a_spec_is_not_scipys(tmp_path):
    """It has the name of one that is."""
    (tmp_path / "t.lua").write_text('sparse "COO" { dims = { R, C }, levels = { dense(R), compressed(C) } }\n')
    (tmp_path / "a.mtx").write_text(MTX)
    assert command(tmp_path, "convert", "a.mtx", "b.npz", "--from", "COO", "--to", "CSR").returncode == 0
    r = command(tmp_path, "convert", "b.npz", "c.mtx", "--from", "CSR", "--to", "t.lua:COO")
    assert r.returncode == 2 and "coordinate list" in r.stderr and not (tmp_path / "c.mtx").exists(), r
    assert command(tmp_path, "convert", "b.npz", "c.npz", "--from", "CSR", "--to", "t.lua:COO").returncode == 0
    assert set(np.load(tmp_path / "c.npz")) >= {"pos2", "crd2", "val"}
    assert command(tmp_path, "convert", "b.npz", ".mtx", "--from", "CSR", "--to", "COO").returncode == 0
    assert (tmp_path / ".mtx").read_text().split()[5:] == "2 3 2 1 1 0.5 2 3 4".split()


@pytest.mark.parametrize("text, says", [
    (MTX.replace("0.5", "0.5 7"), "line 3: the line has more"), (MTX.replace("2 3 2", "2 3 2 junk"), "line 2: the line has more"),
    (MTX.replace("general", "general more"), "line 1: the line has more"), (MTX.replace("general", "skew-symmetric").replace("2 3 2", "3 3 2"), "no diagonal")])
def test_more_than_a_line_has(tmp_path, text, says):
    (tmp_path / "a.mtx").write_text(text)
    r = command(tmp_path, "convert", "a.mtx", "b.npz", "--from", "COO", "--to", "CSR")
    assert r.returncode == 2 and says in r.stderr and not (tmp_path / "b.npz").exists(), r


def test_rows_of_padding_are_filled(tmp_path):
    os.chdir(tmp_path)
    sp.save_npz("a.npz", sp.csr_matrix(np.eye(5, 3)))
    good("convert", "a.npz", "b.npy", "--from", "CSR", "--to", "(R, C){R, C, pad = {R = 2}, fill = 7}")
    b = np.load("b.npy")
    assert b.size == 18 and np.array_equal(b.reshape(6, 3), np.where(np.eye(6, 3), [[1]] * 5 + [[7]], 7))


def test_offsets_at_the_end_of_their_type(tmp_path):
    os.chdir(tmp_path)
    np.savez("a.npz", format=np.array(b"csr"), shape=np.array([2, 3]), indptr=np.array([0, 2**63 - 1, 1]), indices=np.array([0]), data=np.array([1.0]))
    r = run("convert", "a.npz", "b.npz", "--from", "CSR", "--to", "CSC")
    assert r.returncode == 2 and "pos2" in r.stderr


def test_a_signal_leaves_a_whole_folder_or_none(tmp_path):
    os.chdir(tmp_path)
    rows, each = 1000, 2000
    np.savez("a.npz", format=np.array(b"csr"), shape=np.array([rows, 4000]), indptr=np.arange(rows + 1, dtype="i4") * each,
             indices=np.tile(np.arange(each, dtype="i4"), rows), data=np.ones(rows * each))
    for delay in (0.05, 0.08, 0.1, 0.12, 0.15, 0.18):
        p = subprocess.Popen([str(RAVEL), "convert", "a.npz", "b", "--from", "CSR", "--to", "COO"], stdout=subprocess.DEVNULL)
        time.sleep(delay)
        p.send_signal(signal.SIGINT)
        assert p.wait(10) in (0, -signal.SIGINT) and not os.path.exists("b.part")
        if os.path.exists("b"):
            assert len(os.listdir("b")) == 5 and np.load("b/val.npy").size == rows * each
            shutil.rmtree("b")


def test_a_shifted_singleton(tmp_path):
    """Its coordinates are not those of the source."""
    (tmp_path / "t.lua").write_text('sparse "X" { dims = { R, C }, levels = { compressed(R, "nonunique"), singleton(C - 3) } }\n')
    (tmp_path / "a.mtx").write_text(MTX)
    for args in (["a.mtx", "b.npz", "--from", "COO", "--to", "CSR"], ["b.npz", "x", "--from", "CSR", "--to", "t.lua:X"], ["x", "y.npy", "--from", "t.lua:X", "--to", "ROW_MAJOR"]):
        r = command(tmp_path, "convert", *args)
        assert r.returncode == 0, r
    assert np.array_equal(np.load(tmp_path / "y.npy"), [[.5, 0, 0], [0, 0, 4]])


def test_what_scipy_has_not_sorted(tmp_path):
    """Rows in any order, with equal entries; diagonals in any order and trimmed."""
    os.chdir(tmp_path)
    rng = np.random.default_rng(12)
    for kind in (sp.csr_matrix, sp.csc_matrix):
        m = kind((np.arange(1.0, 8), np.array([4, 0, 4, 2, 1, 3, 0]), np.array([0, 3, 3, 5, 7])), (4, 5) if kind is sp.csr_matrix else (5, 4))
        sp.save_npz("a.npz", m)
        assert not sp.load_npz("a.npz").has_sorted_indices
        for to in ("CSR", "CSC", "COO"):
            good("convert", "a.npz", "b.npz", "--from", m.format.upper(), "--to", to)
            assert (sp.load_npz("b.npz") != m).nnz == 0
    for offsets, shape in [([2, -1, 0], (5, 7)), ([-2], (6, 3)), ([0, 1], (3, 3))]:
        m = sp.dia_matrix((rng.integers(1, 9, (len(offsets), 3)).astype("f4"), offsets), shape)
        sp.save_npz("a.npz", m)
        good("convert", "a.npz", "b.npz", "--from", "DIA", "--to", "CSR")
        assert np.array_equal(sp.load_npz("b.npz").toarray(), m.toarray())
    bad = {"format": b"csr", "shape": np.array([2, 5]), "data": np.ones(3), "indices": np.array([3, 1, 0], "i4")}
    for indptr in ([0, -5, 3], [0, 9, 3], [0, 2**31 - 1, 3]):
        np.savez("a.npz", indptr=np.array(indptr, "i4"), **bad)
        r = run("convert", "a.npz", "c.npz", "--from", "CSR", "--to", "CSC")
        assert r.returncode == 2 and "pos2" in r.stderr and not os.path.exists("c.npz"), r.stderr


def test_scipys_files_are_formats_of_any_order(tmp_path):
    os.chdir(tmp_path)
    m = sp.random(8, 12, 0.3, format="csr", random_state=3)
    for kind, name in (("csr", "CSR_ANY"), ("csc", "CSC_ANY"), ("bsr", "BSR_ANY")):
        sp.save_npz("a.npz", sp.bsr_matrix(m, blocksize=(4, 4)) if kind == "bsr" else m.asformat(kind))
        good("convert", "a.npz", "b.npz", "--from", name, "--to", "COO")
        good("convert", "b.npz", "c.npz", "--from", "COO", "--to", name)
        for file in ("b.npz", "c.npz"):
            assert (sp.load_npz(file) != m).nnz == 0
        assert sp.load_npz("c.npz").format == kind


def test_blocks_that_scipy_has_not_sorted(tmp_path):
    os.chdir(tmp_path)
    m = sp.bsr_matrix((np.arange(1.0, 19).reshape(3, 2, 3), np.array([1, 0, 1]), np.array([0, 3])), (2, 6))
    sp.save_npz("a.npz", m)
    for to in ("CSR", "BSR{BR=2, BC=3}"):
        good("convert", "a.npz", "b.npz", "--from", "BSR", "--to", to)
        assert np.array_equal(sp.load_npz("b.npz").toarray(), m.toarray())
    good("convert", "a.npz", "b.npz", "--from", "BSR{BR=2, BC=3}", "--to", "CSR", "--duplicates", "last")
    assert sp.load_npz("b.npz").toarray()[:, 3:].tolist() == [[13, 14, 15], [16, 17, 18]]
    for to, words, says in (("CSR", ["--duplicates", "error"], "entry 12 is equal"), ("CSR", ["--duplicates", "max"], "none of sum"),
                            ("BSR", [], "give --to 'BSR{BR=2, BC=3}' or a folder")):
        r = run("convert", "a.npz", "c.npz", "--from", "BSR", "--to", to, *words)
        assert r.returncode == 2 and says in r.stderr and not os.path.exists("c.npz"), r.stderr
    good("convert", "a.npz", "d", "--from", "BSR", "--to", "BSR")
    good("convert", "d", "e.npz", "--from", "BSR", "--to", "CSR")
    assert np.array_equal(sp.load_npz("e.npz").toarray(), m.toarray())


def test_small_refusals_and_zeros_of_files(tmp_path):
    os.chdir(tmp_path)
    a = np.array([[0, -0.0, 3], [5, 0, 0]], "f4")
    np.save("a.npy", a)
    for words, kept in (([], 3), (["--threshold", "0"], 2), (["--threshold", "-0.0"], 2)):
        good("convert", "a.npy", "b.npz", "--from", "ROW_MAJOR", "--to", "CSR", *words)
        assert sp.load_npz("b.npz").nnz == kept
    np.save("m.npy", np.ones((3, 2), bool))
    m = sp.csr_matrix((np.array([True, True]), np.array([1, 1]), np.array([0, 2])), (1, 2))
    sp.save_npz("t.npz", m)
    np.savez("p.npz", pos2=np.array([0, 1], "i4"), crd2=np.array([0], "i4"), shape=np.array([1, 1]))
    h = {"format": b"csr", "shape": np.array([1, 2]), "indptr": np.array([0, 2], "i4"), "indices": np.array([1, 1], "i4"), "data": np.ones(2, "f2")}
    np.savez("h.npz", **h)
    for args, says in ((["a.npy", "--from", "ROW_MAJOR", "--mask", "m.npy"], "has the shape (3,2), and the values beside it (2,3)"),
                       (["t.npz", "--from", "CSR"], "is equal to one before it"), (["h.npz", "--from", "CSR"], "equal to one before it, and values of f16 are not added: choose first or last (--duplicates)"),
                       (["p.npz", "--from", "CSR"], "give --dtype pattern if it holds places only")):
        r = run("convert", args[0], "x.npz", *args[1:], "--to", "CSC")
        assert r.returncode == 2 and says in r.stderr and not os.path.exists("x.npz"), r.stderr
    good("convert", "t.npz", "x.npz", "--from", "CSR", "--to", "CSC", "--duplicates", "last")
    r = run("convert", "a.npy", "y.npz", "--from", "ROW_MAJOR", "--to", "ROW_MAJOR", "--duplicates", "sum")
    assert r.returncode == 2 and "sparse format" in r.stderr


def test_digits_of_differences(cx):
    """Of DIA with one column the row is minus the diagonal, and its digits are those of a number below zero before the others are dropped."""
    rng = np.random.default_rng(31)
    for rows in (7, 8, 9):
        a = matrix(rng, (rows, 1), density=1)
        for to in ("BSR{BR=3, BC=1}", "(R,C){R%3, R//3, C}"):
            got = sparse.Plan(cx, "DIA", to, a.shape, "f32")(arrays("DIA", a, "f32"))
            if to.startswith("BSR"):
                assert_same(got, arrays(to, a, "f32"))
            else:
                assert np.array_equal(got["val"], np.concatenate([np.pad(a[k::3, 0], (0, -(-rows//3) - len(a[k::3]))) for k in range(3)]))
