"""Lists whose entries are in the order of the destination already, with equal ones next to each other: against NumPy."""

import numpy as np
import pytest

import ravel
import sparse
from sparse_arrays import assert_same, coo_arrays, cx, run, sp  # noqa: F401 (cx is a fixture)
from test_sparse_large import in_turn

VALUES = {"sum": np.add.reduceat, "first": lambda v, k: v[k], "last": lambda v, k: v[np.append(k[1:], v.size) - 1]}
# Few rows and columns, more rows, and keys of more than 31 bits: three ways for lists that are not in order.
SHAPES = [(300, 211), (20000, 77), (1 << 20, 1 << 20)]


def ordered(rng, shape, n, dtype):
    """n entries in order, about half of them twice or more, as rows, columns and values."""
    at = np.sort(rng.integers(0, shape[0] * shape[1] // 2, n // 2))
    at = np.sort(np.concatenate([at, rng.choice(at, n - n // 2)])) + shape[1]        # the first row is empty
    return (at // shape[1]).astype("i4"), (at % shape[1]).astype("i4"), rng.integers(1, 9, n).astype(sparse.VALUE[dtype])


def joined(row, col, val, rows, how):
    new = np.flatnonzero(np.append(True, (np.diff(row) != 0) | (np.diff(col) != 0)))
    return {"pos2": np.searchsorted(row[new], np.arange(rows + 1)).astype("i4"), "crd2": col[new], "val": VALUES[how](val, new).astype(val.dtype)}


def listed(row, col, val):
    return {"pos1": np.array([0, row.size], "i4"), "crd1": row, "crd2": col, "val": val}


def typed(x, index):
    return {k: v if k == "val" else v.astype(sparse.INDEX[index]) for k, v in x.items()}


@pytest.mark.parametrize("threads", [1, 3, 7])
@pytest.mark.parametrize("shape", SHAPES)
def test_order_is_kept(threads, shape):
    rng = np.random.default_rng(41)
    with ravel.Context() as cx:
        ravel.call(ravel.lib.ravel_set_threads, cx.p, threads, in_turn, None)
        for dtype, index, how in [("f64", (4, 4), "sum"), ("f32", (4, 8), "first"), ("c128", (8, 4), "last"), ("i16", (8, 8), "sum")]:
            row, col, val = ordered(rng, shape, 70000, dtype)
            want = typed(joined(row, col, val, shape[0], how), index[1])
            assert_same(sparse.Plan(cx, "COO", "CSR", shape, dtype, index, how)(typed(listed(row, col, val), index[0])), want)
            want = {"pos2": want["pos2"], "crd2": want["crd2"], "val": want["val"]}
            assert_same(sparse.Plan(cx, "COO", "CSC", shape[::-1], dtype, index, how)(typed(listed(col, row, val), index[0])), want)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("shape", SHAPES)
def test_one_place_in_all_parts(threads, shape):
    """All entries are equal, and those of the first and of the last part are not."""
    n = 40000
    row, col, val = np.full(n, 7, "i4"), np.full(n, 5, "i4"), np.arange(n, dtype="f8")
    with ravel.Context() as cx:
        ravel.call(ravel.lib.ravel_set_threads, cx.p, threads, in_turn, None)
        plan = sparse.Plan(cx, "COO", "CSR", shape, "f64")
        assert_same(plan(listed(row, col, val)), joined(row, col, val, shape[0], "sum"))
        row[0], col[-1] = 6, 9
        assert_same(plan(listed(row, col, val)), joined(row, col, val, shape[0], "sum"))


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("shape", SHAPES)
def test_one_entry_out_of_order(threads, shape):
    """Anywhere, also where parts and batches meet: the list is not taken as one in order."""
    rng = np.random.default_rng(42)
    row, col, val = ordered(rng, shape, 36000, "f64")
    with ravel.Context() as cx:
        ravel.call(ravel.lib.ravel_set_threads, cx.p, threads, in_turn, None)
        plan = sparse.Plan(cx, "COO", "CSR", shape, "f64")
        for at in (1, 512, 513, 11999, 12000, 12001, 35999):
            k = np.arange(row.size)
            k[at], k[at - 1] = at - 1, at
            moved = row[k], col[k], val[k]
            whole = sp.coo_matrix((moved[2], moved[:2]), shape).tocsr()
            assert_same(plan(listed(*moved)), {"pos2": whole.indptr, "crd2": whole.indices, "val": whole.data})


def test_pattern_and_nothing(cx):
    row, col = np.array([0, 0, 0, 3, 3], "i4"), np.array([1, 1, 2, 0, 0], "i4")
    got = sparse.Plan(cx, "COO", "CSR", (5, 4), "pattern")({k: v for k, v in listed(row, col, row).items() if k != "val"})
    assert_same(got, {"pos2": np.array([0, 2, 2, 2, 3, 3], "i4"), "crd2": np.array([1, 2, 0], "i4")})
    got = sparse.Plan(cx, "COO", "CSR", (3, 4), "f64")(listed(row[:0], col[:0], np.zeros(0)))
    assert_same(got, {"pos2": np.zeros(4, "i4"), "crd2": col[:0], "val": np.zeros(0)})


@pytest.mark.parametrize("threads", [1, 3])
def test_rows_in_order(threads):
    """CSR_ANY whose rows are in order: the same arrays, of other indices and a format that stores less; one entry elsewhere, or twice, is noticed."""
    rng, shape, n = np.random.default_rng(43), (9000, 301), 40000
    at = np.sort(rng.choice(shape[0] * shape[1] // 2, n, replace=False) + 3 * shape[1])      # rows are empty at both ends
    pos, col = np.searchsorted(at // shape[1], np.arange(shape[0] + 1)), at % shape[1]
    with ravel.Context() as cx:
        ravel.call(ravel.lib.ravel_set_threads, cx.p, threads, in_turn, None)
        cx.load('sparse "SHIFTED_ANY" { dims = { R, C }, levels = { dense(R), compressed(C - 300, "unordered") } }\nsparse "SHIFTED" { dims = { R, C }, levels = { dense(R), compressed(C - 300) } }')
        for dtype, index in [("f64", (4, 4)), ("u1", (4, 8)), ("c128", (8, 4)), ("pattern", (8, 8)), ("i16", (4, 4))]:
            val = {} if dtype == "pattern" else {"val": rng.integers(0, 2, n).astype(sparse.VALUE[dtype])}
            def of(less, side, pos=pos, col=col, val=val):
                return {"pos2": pos.astype(sparse.INDEX[index[side]]), "crd2": (col - less).astype(sparse.INDEX[index[side]]), **val}
            for a, less in ("CSR_ANY", 0), ("SHIFTED_ANY", 300):
                for b, other in ("CSR", 0), ("SHIFTED", 300):
                    assert_same(sparse.Plan(cx, a, b, shape, dtype, index)(of(less, 0)), of(other, 1))
        plan = sparse.Plan(cx, "CSR_ANY", "CSR", shape, "f64")
        for row in (511, 512, 513, 2250, 4400):
            k = next(pos[q] for q in range(row, shape[0]) if pos[q + 1] > pos[q] + 1)
            moved, twice, val = col.copy(), col.copy(), rng.random(n)
            moved[[k, k + 1]], twice[k + 1] = moved[[k + 1, k]], twice[k]
            v = val.copy()
            v[[k, k + 1]] = v[[k + 1, k]]
            assert_same(plan({"pos2": pos.astype("i4"), "crd2": moved.astype("i4"), "val": v}), {"pos2": pos.astype("i4"), "crd2": col.astype("i4"), "val": val})
            want = sp.csr_matrix((val, twice, pos), shape, copy=True)
            want.sum_duplicates()
            assert_same(plan({"pos2": pos.astype("i4"), "crd2": twice.astype("i4"), "val": val}), {"pos2": want.indptr.astype("i4"), "crd2": want.indices.astype("i4"), "val": want.data})
    none = {"pos2": np.zeros(6, "i4"), "crd2": np.zeros(0, "i4"), "val": np.zeros(0)}
    with ravel.Context() as cx:
        assert_same(sparse.Plan(cx, "CSR_ANY", "CSR", (5, 4), "f64")(none), none)
