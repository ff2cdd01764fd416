"""Entries that meet: equal ones of a list are added in order, places of blocks and diagonals are found by bits, tables and trees."""

import ctypes as ct
import itertools
import subprocess

import numpy as np
import pytest

import ravel
import sparse
from sparse_arrays import arrays, assert_same, coo_arrays, cx, good, scipy_arrays, sp  # noqa: F401 (cx is a fixture)


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
    ("COO", "BSR{BR=3, BC=2}", "150,301", "f64", "by a bitmap"), ("CSC", "BSR{BR=3, BC=2}", "150,301", "f64", "by strips"),
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
