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
