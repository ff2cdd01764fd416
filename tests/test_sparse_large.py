"""Sparse formats of many entries: against SciPy, by threads, in panels and tiles, in copies of the same levels."""

import ctypes as ct
import os
import subprocess
import sys

import numpy as np
import pytest

import ravel
import sparse
from sparse_arrays import arrays, assert_same, coo_arrays, cx, matrix, scipy_arrays, sp  # noqa: F401 (cx is a fixture)


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


@LEND
def in_turn(_, task, arg, parts):
    """More parts than there are processors, the last one first."""
    for part in reversed(range(parts)):
        task(arg, part, parts)


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


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("dtype, index", [("f64", (4, 4)), ("f32", (8, 4)), ("u8", (4, 8))])
def test_tiles_of_many_strips(threads, dtype, index):
    """Columns and rows to blocks of more memory than a cache has, of rows so full that they are not put together first, and of empty ones."""
    rng = np.random.default_rng(33)
    m = matrix(rng, (3001, 902), dtype, .08)
    m[500:510] = 3
    m[1000:1500] = 0
    m[:, 700:] = 0
    m[3000, 901] = 7
    bsr = sp.csr_matrix(np.pad(m, ((0, 4), (0, 1)))).tobsr((5, 3))
    bsr.sort_indices()
    want = {"pos2": bsr.indptr, "crd2": bsr.indices, "val": bsr.data.reshape(-1)}
    want = {k: v if k == "val" else v.astype(sparse.INDEX[index[1]]) for k, v in want.items()}
    with ravel.Context() as cx:
        ravel.call(ravel.lib.ravel_set_threads, cx.p, threads, None, None)
        cx.load('sparse "BY_COLS" { dims = { R, C }, fill = 7, levels = { dense(R // 5), compressed(C // 3), dense(C % 3), dense(R % 5) } }')
        for a, of in ("CSC", sp.csc_matrix(m)), ("CSR", sp.csr_matrix(m)):
            source = {k: v if k == "val" else v.astype(sparse.INDEX[index[0]]) for k, v in scipy_arrays(of).items()}
            assert_same(sparse.Plan(cx, a, "BSR{BR=5, BC=3}", m.shape, dtype, index)(source), want)
            got = sparse.Plan(cx, a, "BY_COLS", m.shape, dtype, index)(source)
            tiles = want["val"].reshape(-1, 5, 3).transpose(0, 2, 1)
            assert np.array_equal(got["val"].reshape(tiles.shape), np.where(tiles == 0, 7, tiles)) and np.array_equal(got["crd2"], want["crd2"])


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
@pytest.mark.parametrize("rows, cols, n, kinds", [(17_000, 20, 450_000, 1.0), (17_000, 5000, 200_000, .9), (17_000, 5000, 200_000, 6), (300, 3000, 700_000, 6), (300, 12_000, 700_000, 6), (40_000, 300, 90_000, .02)])
def test_equal_entries_of_many_rows(threads, rows, cols, n, kinds):
    """More entries than the destination has room for, also by a few, and in full rows: sums, the first and the last of equal ones, without values, of one place that half of them have."""
    rng = np.random.default_rng(61)
    at = rng.integers(0, rows * cols, int(n * kinds))[rng.integers(0, int(n * kinds), n)]
    at[rng.random(n) < .5 if kinds < .1 else slice(0)] = rows * cols // 3
    row, col = np.divmod(at, cols)
    first = np.unique(at, return_index=True)[1]
    last = n - 1 - np.unique(at[::-1], return_index=True)[1]
    with ravel.Context() as cx:
        ravel.call(ravel.lib.ravel_set_threads, cx.p, threads, in_turn if threads > 1 else None, None)
        for dtype, index in ("f64", 4), ("u8", 8), ("c128", 4), ("pattern", 4), ("f32", 8):
            val = rng.integers(1, 9, n).astype(sparse.VALUE.get(dtype, "u1"))
            source = {"pos1": np.array([0, n]), "crd1": row, "crd2": col}
            source = {**{k: v.astype(sparse.INDEX[index]) for k, v in source.items()}, **({} if dtype == "pattern" else {"val": val})}
            csr = sp.csr_matrix((np.ones(len(first)), (row[first], col[first])), (rows, cols))
            total = np.zeros(len(first), val.dtype)
            np.add.at(total, np.unique(at, return_inverse=True)[1], val)
            for equal, want in ("sum", total), ("first", val[first]), ("last", val[last]):
                got = sparse.Plan(cx, "COO", "CSR", (rows, cols), dtype, (index, index), equal)(source)
                assert np.array_equal(got["pos2"], csr.indptr) and np.array_equal(got["crd2"], csr.indices)
                assert dtype == "pattern" or np.array_equal(got["val"], want)


@pytest.mark.parametrize("factors, some", [([2654435769], 90_000), ([2654435769, 2246822519], 1 << 24)])
@pytest.mark.parametrize("threads", [1, 3])
def test_keys_that_meet(threads, factors, some):
    """Keys that have few places in a table, and in that of keys put aside: their products with the factors of both are small; some are there twice."""
    rows, cols = 1 << 15, 1 << 16
    key = np.arange(some, dtype="u8") * pow(factors[0], -1, 1 << 32) % (1 << 32)
    for factor in factors[1:]:
        key = key[key * np.uint64(factor) % (1 << 32) < some]
    key = key[key < rows * cols].astype("i8")
    assert 20_000 < key.size < 60_000
    rng = np.random.default_rng(67)
    key = rng.permutation(np.append(key, key[::3]))
    m = sp.coo_matrix((rng.integers(1, 9, key.size).astype("f8"), np.divmod(key, cols)), (rows, cols))
    with ravel.Context() as cx:
        ravel.call(ravel.lib.ravel_set_threads, cx.p, threads, in_turn, None)
        assert_same(sparse.Plan(cx, "COO", "CSR", m.shape, "f64", (4, 4))({k: v if k == "val" else v.astype("i4") for k, v in coo_arrays(m).items()}), scipy_arrays(m.tocsr()))


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("kind", ["a place", "a row", "two rows", "rows"])
def test_buckets_too_large(threads, kind):
    """More entries in rows next to each other than scratch memory is for, than a round has room for, and at one place; the last rows are empty."""
    rows, cols, n = 20_000, 3000, 60_000
    rng = np.random.default_rng(71)
    row = {"a place": np.where(np.arange(n) < 40_000, 7, rng.integers(0, 900, n)), "a row": np.where(np.arange(n) < 50_000, 9_999, rng.integers(0, rows - 99, n)),
           "two rows": np.where(np.arange(n) < 15_000, 3, np.where(np.arange(n) < 30_000, 12_345, rng.integers(0, rows - 99, n))),
           "rows": rng.integers(0, 6, n) * 1000}[kind].astype("i4")
    col = np.where((np.arange(n) < 40_000) & (kind == "a place"), 2_999, rng.integers(0, cols, n)).astype("i4")
    at = rng.permutation(n)
    source = {"pos1": np.array([0, n], "i4"), "crd1": row[at], "crd2": col[at], "val": rng.integers(1, 99, n).astype("f8")}
    key, first, where = np.unique(source["crd1"] * cols + source["crd2"], return_index=True, return_inverse=True)
    last = np.zeros(key.size, "i8")
    last[where] = np.arange(n)                       # numpy writes in order
    want = {"sum": np.bincount(where, source["val"]), "first": source["val"][first], "last": source["val"][last]}
    with ravel.Context() as cx:
        ravel.call(ravel.lib.ravel_set_threads, cx.p, threads, in_turn, None)
        for index, equal in (4, "sum"), (8, "first"), (4, "last"):
            got = sparse.Plan(cx, "COO", "CSR", (rows, cols), "f64", (index, index), equal=equal)({k: v if k == "val" else v.astype(sparse.INDEX[index]) for k, v in source.items()})
            assert_same(got, {"pos2": np.searchsorted(key, np.arange(rows + 1) * cols).astype(sparse.INDEX[index]), "crd2": (key % cols).astype(sparse.INDEX[index]), "val": want[equal]})
            pattern = sparse.Plan(cx, "COO", "CSR", (rows, cols), "pattern", (index, index))({k: v.astype(sparse.INDEX[index]) for k, v in source.items() if k != "val"})
            assert np.array_equal(pattern["crd2"], key % cols)


@pytest.mark.parametrize("threads", [1, 3])
def test_a_late_bucket_before_lent_values(threads):
    """The values of the last rows wait in the room of coordinates until the keys of a bucket with too many entries for its round are read."""
    rows, cols, rng = 20_000, 3000, np.random.default_rng(1)
    def some(first, end, n):
        return rng.choice((end - first)*cols, n, replace=False) + first*cols
    early = some(0, 8000, 32_000)
    key = rng.permutation(np.concatenate([early, rng.choice(early, 8000), some(12_000, 12_004, 10_000), some(15_000, 19_900, 8000)]))
    source = {"pos1": np.array([0, key.size], "i4"), "crd1": (key // cols).astype("i4"), "crd2": (key % cols).astype("i4"), "val": rng.integers(1, 99, key.size).astype("f8")}
    places, where = np.unique(key, return_inverse=True)
    with ravel.Context() as cx:
        ravel.call(ravel.lib.ravel_set_threads, cx.p, threads, in_turn, None)
        got = sparse.Plan(cx, "COO", "CSR", (rows, cols), "f64", (4, 4))(source)
        assert_same(got, {"pos2": np.searchsorted(places, np.arange(rows + 1)*cols).astype("i4"), "crd2": (places % cols).astype("i4"), "val": np.bincount(where, source["val"])})


@pytest.mark.parametrize("kind", ["a row", "rows"])
def test_memory_of_many_threads(kind):
    """Scratch memory of threads is for the entries that there are, even if one bucket has them all."""
    rows, n = 20_000, 1_000_000
    code = """
import numpy as np
import ravel, sparse
from test_sparse_large import in_turn
rows, n = %d, %d
row = np.full(n, 77, "i4") if %r == "a row" else np.arange(n, dtype="i4") %% rows
source = {"pos1": np.array([0, n], "i4"), "crd1": row, "crd2": np.arange(n, dtype="i4")[::-1] // 7, "val": np.arange(n, dtype="f8")}
def conversion(entries):
    with ravel.Context() as cx:
        ravel.call(ravel.lib.ravel_set_threads, cx.p, 32, in_turn, None)
        return sparse.Plan(cx, "COO", "CSR", (rows, n // 7 + 1), "f64")({k: v[:entries] if k != "pos1" else np.array([0, entries], "i4") for k, v in source.items()})
def peak():
    return int(open("/proc/self/status").read().split("VmPeak:")[1].split()[0])
conversion(40_000)
before = peak()
got = conversion(n)
assert got["pos2"][-1] == len(got["val"]) and got["val"].sum() == n * (n - 1) // 2
print(peak() - before)
""" % (rows, n, kind)
    r = subprocess.run([sys.executable, "-c", code], cwd=os.path.dirname(__file__), capture_output=True, text=True, check=True)
    assert int(r.stdout) < 200_000, r.stdout


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


def test_columns_beside_rows():
    """Columns of a block are in the low bits of a row: of all 32 bits of an index, and of one more, which has a list."""
    rng = np.random.default_rng(59)
    with ravel.Context() as cx:
        for rows, cols in (1 << 21, 1 << 22), ((1 << 21) + 1, 1 << 22):
            n = 700_000
            row, col = rng.integers(0, rows, n), rng.integers(0, cols, n)
            row[:9], col[:9] = rows - 1 - np.arange(9), cols - 1 - np.arange(9)
            m = sp.csr_matrix((np.ones(n), (row, col)), (rows, cols))
            m.data[:] = rng.integers(1, 99, m.nnz)
            for dtype in "f64", "i8":
                a, b = [{k: v.astype(sparse.VALUE[dtype] if k == "val" else "i4") for k, v in scipy_arrays(x).items()} for x in (m, m.tocsc())]
                assert_same(sparse.Plan(cx, "CSR", "CSC", m.shape, dtype, (4, 4))(a), b)


def test_extents_beyond_memory(cx):
    """Formats whose arrays are small, of a matrix with 4e18 elements; one of more elements than 64 bits count."""
    n = 2_000_000_000
    coo = {"pos1": [0, 4], "crd1": [n - 1, 3, 0, n - 1], "crd2": [1, n - 1, 0, 1], "val": np.array([-1, 7, 1.5, 2])}
    coo = {k: v if k == "val" else np.array(v, "i4") for k, v in coo.items()}
    dcsr = {"pos1": [0, 3], "crd1": [0, 3, n - 1], "pos2": [0, 1, 2, 3], "crd2": [0, n - 1, 1], "val": np.array([1.5, 7, 1])}
    dcsr = {k: v if k == "val" else np.array(v, "i4") for k, v in dcsr.items()}
    assert_same(sparse.Plan(cx, "COO", "DCSR", (n, n), "f64")(coo), dcsr)
    bsr = "{ dims = { R, C }, levels = { compressed(R // 4), compressed(C // 4), dense(R % 4), dense(C % 4) } }"
    cx.load('sparse "SOME_BLOCKS" ' + bsr)
    got = sparse.Plan(cx, "DCSR", "SOME_BLOCKS", (n, n), "f64")(dcsr)
    assert got["crd1"].tolist() == [0, n // 4 - 1] and got["val"].size == 48 and got["val"].sum() == 9.5
    assert_same(sparse.Plan(cx, "SOME_BLOCKS", "DCSR", (n, n), "f64")(got), dcsr)
    with pytest.raises(ravel.Error, match="does not fit 64 bits"):
        sparse.Plan(cx, "COO", "DCSR", (1 << 32, 1 << 32), "f64", (8, 8))
