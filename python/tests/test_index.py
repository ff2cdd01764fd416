"""Index arrays given to convert() and to plans, against NumPy's own indexing."""
import re

import numpy as np
import pytest

import ravel

X = np.arange(120, dtype="f4").reshape(20, 6)
IDX = np.array([3, 19, 0, 3, 7])


@pytest.mark.parametrize("index", [IDX, IDX.astype("u1"), IDX.astype("i4"), IDX[::-1], IDX.tolist(), np.arange(20)[::3]])
def test_gather(index):
    for array in ("idx", "i32 idx"):
        assert np.array_equal(ravel.convert(X, "ROW_MAJOR(20,6)[%s]" % array, "ROW_MAJOR", index={"idx": index}), X[index])
        assert np.array_equal(ravel.convert(X, "ROW_MAJOR(20,6)[%s, 1:3]" % array, "COL_MAJOR", index={"idx": index}), X[index, 1:3].T)


def test_arrays_with_strides_and_out():
    big = np.zeros((20, 12), "f4")
    big[:, ::2] = X
    assert np.array_equal(ravel.convert(big[:, ::2], "ROW_MAJOR(20,6)[idx]", "ROW_MAJOR", index={"idx": IDX}), X[IDX])
    out = np.full((20, 6), 5, "f4")
    want = out.copy()
    want[[9, 2, 0]] = X[:3]
    assert ravel.convert(X[:3], "ROW_MAJOR", "ROW_MAJOR(20,6)[slots]", index={"slots": [9, 2, 0]}, out=out) is out and np.array_equal(out, want)


def test_both_sides_and_two_arrays():
    out = np.zeros((20, 6), "f4")
    ravel.convert(X, "ROW_MAJOR(20,6)[i]", "ROW_MAJOR(20,6)[j]", shape=(2, 6), index={"i": [5, 7], "j": [1, 0]}, out=out)
    assert np.array_equal(out[:2], X[[7, 5]]) and not out[2:].any()
    assert np.array_equal(ravel.convert(X, "ROW_MAJOR(20,6)[r][:, i32 c]", "ROW_MAJOR", shape=(2, 3), index={"r": [5, 7], "c": [1, 0, 5]}), X[[5, 7]][:, [1, 0, 5]])


def test_pairs_along_a_dim_and_skipped_rows():
    r, c, a = np.array([3, 19, 0]), np.array([5, 0, 2]), np.array([[5, 0, 1]] * 20)
    assert np.array_equal(ravel.convert(X, "ROW_MAJOR(20,6)[r, i32 c]", "ROW_MAJOR", index={"r": r, "c": c}), X[r, c])
    assert np.array_equal(ravel.convert(X, "ROW_MAJOR(20,6)[:, along a]", "ROW_MAJOR", index={"a": a}), np.take_along_axis(X, a, 1))
    assert np.array_equal(ravel.convert(X, "ROW_MAJOR(20,6)[:, along a]", "ROW_MAJOR", index={"a": np.asfortranarray(a)}), np.take_along_axis(X, a, 1))
    out = np.full((3, 6), 7, "f4")
    ravel.convert(X, "ROW_MAJOR(20,6)[skip r]", "ROW_MAJOR", index={"r": [4, -1, 0]}, out=out)
    assert np.array_equal(out, [X[4], [7] * 6, X[0]])
    for wrong, why in ((a[:, 0], "shape does not follow from the stored array and the shapes of the index arrays"), (a.T, r"'a' has shape \(3, 20\) and type int64: it must have shape \(20, 20\)")):
        with pytest.raises(ravel.Error, match=why):
            ravel.convert(X, "ROW_MAJOR(20,6)[:, along a]", "ROW_MAJOR", index={"a": wrong})


@pytest.mark.parametrize("wrong", [(2, 3), (6,), (6, 1), (3, 2, 1)])
def test_an_array_along_a_dim_has_the_shape_of_the_part(wrong):
    """With extents in numbers and at run time; as many numbers in another shape are refused."""
    x, k = X[:3, :4], np.array([[3, 0], [1, 2], [0, 0]])
    why = r"'k' has shape %s and type int64: it must have shape \(3, 2\), of integers" % re.escape(str(wrong))
    at_run_time = ravel.compile("ROW_MAJOR(M,4)[:, along k]", "ROW_MAJOR", (None, None), "f32")
    for call in (lambda k: ravel.convert(x, "ROW_MAJOR(3,4)[:, along k]", "ROW_MAJOR", shape=(3, 2), index={"k": k}),
                 lambda k: at_run_time(np.ascontiguousarray(x), shape=(3, 2), index={"k": k})):
        assert np.array_equal(call(k), np.take_along_axis(x, k, 1))
        with pytest.raises(ravel.Error, match=why):
            call(k.reshape(wrong))
        with pytest.raises(ravel.Error, match=r"has shape \(3, 2\) and type float64: it must have shape \(3, 2\), of integers"):
            call(k * 1.0)


def test_plans():
    plan = ravel.compile("ROW_MAJOR(20,6)[idx]", "ROW_MAJOR", (5, 6), "f32")
    assert plan.arrays == ("idx",) and np.array_equal(plan(X, index={"idx": IDX}), X[IDX])
    any_length = ravel.compile("ROW_MAJOR(20,6)[idx]", "ROW_MAJOR", (None, 6), "f32")
    for n in (1, 5):
        assert np.array_equal(any_length(X, shape=(n, 6), index={"idx": IDX[:n]}), X[IDX[:n]])
    with pytest.raises(ravel.Error, match=r"'idx' has shape \(2,\) and type int64: it must have shape \(3,\)"):
        any_length(X, shape=(3, 6), index={"idx": IDX[:2]})


@pytest.mark.parametrize("index,why", [
    ({"idx": [3, 20]}, "number 1 of the index array 'idx' is 20, and must be 0 to 19"), ({"idx": [-1]}, "is -1, and must be 0 to 19"),
    ({"idx": [[1, 2]]}, "shape does not follow from the stored array and the shapes of the index arrays"), ({"idx": [1.5]}, "of integers"), ({"idx": X[:, 0] > 3}, "is a mask: pass np.flatnonzero"),
    ({"jdx": [1]}, "has the index array 'idx': give its numbers"), ({"idx": [1], "jdx": [1]}, "'jdx' is no index array"),
    ([1], "index is a list: give numbers by the array's name"), ({"idx": np.array([2**63], "u8")}, "does not fit 64 bits")])
def test_what_is_refused(index, why):
    with pytest.raises(ravel.Error, match=why):
        ravel.convert(X, "ROW_MAJOR(20,6)[idx]", "ROW_MAJOR", index=index)


def test_more_that_is_refused():
    out = np.zeros((5, 6), "f4")
    with pytest.raises(ravel.Error, match=r"has shape \(1, 2\) and type int64: it must have shape \(2,\), of integers"):
        ravel.convert(X, "ROW_MAJOR(20,6)[idx]", "ROW_MAJOR", shape=(2, 6), index={"idx": [[1, 2]]})
    with pytest.raises(ravel.Error, match="is 99"):
        ravel.convert(X, "ROW_MAJOR(20,6)[idx]", "ROW_MAJOR", index={"idx": [0, 1, 2, 3, 99]}, out=out)
    assert not out.any()
    for call in (lambda: ravel.convert(X, "ROW_MAJOR(20,6)[idx]", "ROW_MAJOR", shape=(5, 6)),
                 lambda: ravel.compile("ROW_MAJOR(20,6)[idx]", "ROW_MAJOR", (5, 6), "f32")(X)):
        with pytest.raises(ravel.Error, match="has the index array 'idx': give its numbers"):
            call()
    with pytest.raises(ravel.Error, match="give the shape, or the numbers of an index array, as in index="):
        ravel.convert(X, "ROW_MAJOR(20,6)[idx]", "ROW_MAJOR")
    with pytest.raises(ravel.Error, match="'i' is no index array of the layouts"):
        ravel.convert(X, "ROW_MAJOR", "COL_MAJOR", index={"i": [1]})
    with pytest.raises(ravel.Error, match=r"'idx' has shape \(4,\) and type int64: it must have shape \(5,\)"):
        ravel.convert(X, "ROW_MAJOR(20,6)[idx]", "ROW_MAJOR", shape=(5, 6), index={"idx": IDX[:4]})
    room = np.zeros(60, "i8")
    with pytest.raises(ravel.Error, match="overlaps the destination"):
        ravel.convert(np.arange(100), "ROW_MAJOR(100)[idx]", "ROW_MAJOR", index={"idx": room[:20]}, out=room[10:30])
