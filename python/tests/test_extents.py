"""Extents of tensors that are names and do not follow from the shape, given to convert() and to plans, against NumPy's own indexing."""
import numpy as np
import pytest

import ravel

X = np.arange(120, dtype="f4").reshape(20, 6)
PARTS = [("1:3", np.s_[1:3]), ("-3:", np.s_[-3:]), ("::2", np.s_[::2]), ("::-3", np.s_[::-3]), ("[5,0,3]", [5, 0, 3]), ("-2", -2)]


@pytest.mark.parametrize("n", [7, 20, 19])
def test_index_arrays(n):
    """One plan for tables of any length."""
    plan, idx = ravel.compile("ROW_MAJOR(N,4)[idx]", "ROW_MAJOR", (None, 4), "f32"), [3, n - 1, 0]
    assert plan.values == ("N",) and plan.arrays == ("idx",) and plan.src_shape is None
    x = np.arange(4*n, dtype="f4").reshape(n, 4)
    assert np.array_equal(plan(x, shape=(3, 4), values={"N": n}, index={"idx": idx}), x[idx])
    assert np.array_equal(ravel.convert(x, "ROW_MAJOR(N,4)[idx]", "COL_MAJOR", values={"N": n}, index={"idx": idx}), x[idx].T)
    y = np.zeros((3, 4), "f4")
    assert plan(x, y, shape=(3, 4), values={"N": n}, index={"idx": idx}) is y and np.array_equal(y, x[idx])
    with pytest.raises(ravel.Error, match="number 1 of the index array 'idx' is %d, and must be 0 to %d" % (n, n - 1)):
        plan(x, y, shape=(3, 4), values={"N": n}, index={"idx": [1, n, 1]})
    assert np.array_equal(y, x[idx])


def test_scatter():
    plan, out = ravel.compile("ROW_MAJOR", "ROW_MAJOR(N,6)[slots]", (None, 6), "f32"), np.full((9, 6), 5, "f4")
    want = out.copy()
    want[[7, 0, 4]] = X[:3]
    assert plan(X[:3], out, shape=(3, 6), values={"N": 9}, index={"slots": [7, 0, 4]}) is out and np.array_equal(out, want)
    with pytest.raises(ravel.Error, match="the index array 'slots' has more numbers than there are coordinates"):
        plan(X[:3], out[:2], shape=(3, 6), values={"N": 2}, index={"slots": [1, 0, 1]})
    assert np.array_equal(out, want)


def test_both_sides():
    plan = ravel.compile("ROW_MAJOR(A,6)[i]", "ROW_MAJOR(B,6)[::2]", (3, 6), "f32")
    assert plan.values == ("A", "B")
    want = np.zeros((5, 6), "f4")
    want[::2] = X[[19, 2, 2]]
    assert np.array_equal(plan(X, values={"B": 5, "A": 20}, index={"i": [19, 2, 2]}), want)


@pytest.mark.parametrize("text, part", PARTS)
def test_slices(text, part):
    want = X[part]
    plan = ravel.compile("ROW_MAJOR(N,6)[%s]" % text, "{K, C}" if want.ndim == 2 else "{C}", want.shape, "f32")
    assert np.array_equal(plan(X, values={"N": 20}), want)
    assert np.array_equal(ravel.convert(X, "ROW_MAJOR(N,6)[%s]" % text, "{K, C}" if want.ndim == 2 else "{C}", shape=want.shape, values={"N": 20}), want)
    y = np.full(want.shape, 7, "f4")
    with pytest.raises(ravel.Error, match="extent N is 1: the index selects"):
        plan(X[:1], y, values={"N": 1})
    assert (y == 7).all()


@pytest.mark.parametrize("values, why", [
    ({"N": 20, "M": 1}, "'M' is no stride, extent or fill that is given to a run of the layouts: these are N"), ([20], "values is a list"),
    ({"N": 20.0}, "'N' is 20.0: it is a whole number"), ({"N": -1}, "'N' is -1: strides and extents are 0 or more"), ({"N": 1 << 63}, "'N' is 9223372036854775808: it does not fit 64 bits"), ({"N": 1 << 62}, "do not fit 64 bits"),
    ({"N": 19}, r"x has shape \(20, 6\), and ROW_MAJOR\(N,6\)\[idx\] of logical shape \(3, 6\) is stored as \(19, 6\)"), ({"N": 21}, r"is stored as \(21, 6\)"),
    ({"N": 0}, r"is stored as \(0, 6\)")])
def test_wrong_numbers(values, why):
    plan, y = ravel.compile("ROW_MAJOR(N,6)[idx]", "ROW_MAJOR", (None, 6), "f32"), np.full((3, 6), 7, "f4")
    with pytest.raises(ravel.Error, match=why):
        plan(X, y, shape=(3, 6), values=values, index={"idx": [0, 1, 2]})
    assert (y == 7).all()


def test_a_flat_array_has_so_many_elements():
    plan, y = ravel.compile("ROW_MAJOR(N,6)[idx]", "ROW_MAJOR", (None, 6), "f32"), np.full((2, 6), 7, "f4")
    assert np.array_equal(plan(X.reshape(-1), shape=(2, 6), values={"N": 20}, index={"idx": [19, 0]}), X[[19, 0]])
    with pytest.raises(ravel.Error, match="504"):
        plan(X.reshape(-1), y, shape=(2, 6), values={"N": 21}, index={"idx": [19, 0]})
    assert (y == 7).all()
