"""What the names in the text of a part mean, by the shapes of the arrays of a call: nobody has to give them."""
import numpy as np
import pytest

import ravel

X, IDX = np.arange(63, dtype="f4").reshape(9, 7), [5, 0, 6, 2]
PARTS = [("[1:3]", lambda x: x[1:3]), ("[-3:]", lambda x: x[-3:]), ("[::2, 1:]", lambda x: x[::2, 1:]), ("[[3,0]]", lambda x: x[[3, 0]]), ("[4]", lambda x: x[4]), ("[-2:, -3]", lambda x: x[-2:, -3]),
         ("[1:][2:4]", lambda x: x[1:][2:4])]
GATHERS = [("[idx]", lambda x, i: x[i]), ("[idx][1:3]", lambda x, i: x[i][1:3]), ("[idx][-1]", lambda x, i: x[i][-1]), ("[idx][1:, 2:]", lambda x, i: x[i][1:, 2:]), ("[1:, idx]", lambda x, i: x[1:, i]),
           ("[idx, idx]", lambda x, i: x[i, i]), ("[:, 1:][idx][[0,-1]]", lambda x, i: x[:, 1:][i][[0, -1]])]


@pytest.mark.parametrize("tensor", ["ROW_MAJOR", "ROW_MAJOR(N,M)", "ROW_MAJOR(N,7)", "ROW_MAJOR(9,7)"])
@pytest.mark.parametrize("part, select", PARTS, ids=[p for p, _ in PARTS])
def test_parts(tensor, part, select):
    want = select(X)
    assert np.array_equal(ravel.convert(X, tensor + part, "ROW_MAJOR"), want)
    assert np.array_equal(ravel.convert(np.ascontiguousarray(X.T).T, tensor + part, "ROW_MAJOR"), want)      # with strides
    for more in 2, 5:
        x = np.concatenate([X, X[:more] + 100])
        if "9" not in tensor:
            assert np.array_equal(ravel.convert(x, tensor + part, "ROW_MAJOR"), select(x))
    out = np.full_like(X, 7)
    new, places = -want, select(np.arange(63).reshape(9, 7))
    assert ravel.convert(new, "ROW_MAJOR", tensor + part, out=out, shape=want.shape) is out
    expected = np.full(63, 7, "f4")
    expected[places] = new
    assert np.array_equal(out.reshape(-1), expected)


@pytest.mark.parametrize("tensor", ["ROW_MAJOR", "ROW_MAJOR(N,M)", "ROW_MAJOR(9,7)"])
@pytest.mark.parametrize("part, select", GATHERS, ids=[p for p, _ in GATHERS])
def test_gathers(tensor, part, select):
    for i in IDX, IDX[:3] + IDX:
        assert np.array_equal(ravel.convert(X, tensor + part, "ROW_MAJOR", index={"idx": i}), select(X, np.array(i)))
    assert np.array_equal(ravel.convert(X.T, tensor + part, "ROW_MAJOR", index={"idx": IDX}), select(X.T, np.array(IDX))) if tensor == "ROW_MAJOR" else True


def test_a_plan_takes_them_of_each_call():
    plan = ravel.compile("ROW_MAJOR(N,7)[idx][1:3]", "COL_MAJOR(K,7)[:2]", (2, 7), "f32")
    assert set(plan.values) == {"N", "idx_len", "K"}
    for n, k in (9, 4), (12, 2), (7, 5):
        x, out = np.resize(X, (n, 7)), np.zeros((7, k), "f4")
        assert plan(x, out, index={"idx": IDX}) is out
        assert np.array_equal(out.T[:2], x[IDX][1:3]) and not out.T[2:].any()
    with pytest.raises(ravel.Error, match="the layout has the name 'K': give its value"):
        plan(X, index={"idx": IDX})
    assert np.array_equal(plan(X, index={"idx": IDX}, values={"K": 3}).T[:2], X[IDX][1:3])
    with pytest.raises(ravel.Error, match="the layout has the name 'N': give its value"):
        plan(X.reshape(-1), np.zeros((7, 4), "f4"), index={"idx": IDX})
    with pytest.raises(ravel.Error, match="extent idx_len is 2: the index selects elements of 3 or more"):
        plan(X, np.zeros((7, 4), "f4"), index={"idx": IDX[:2]})
    rows = ravel.compile("ROW_MAJOR(N,7)[1:]", "ROW_MAJOR", (None, 7), "f32")
    assert np.array_equal(rows(X), X[1:]) and np.array_equal(rows(X[:4]), X[1:4])


@pytest.mark.parametrize("tensor", ["ROW_MAJOR", "ROW_MAJOR(N,7)", "ROW_MAJOR(9,7)"])
def test_empty_index_arrays(tensor):
    for none in [], np.zeros(0, "i4"), np.zeros(0, "i8"):
        assert ravel.convert(X, tensor + "[idx]", "ROW_MAJOR", index={"idx": none}).shape == (0, 7)
        out = X.copy()
        assert ravel.convert(X[:0], "ROW_MAJOR", tensor + "[idx]", index={"idx": none}, out=out) is out and np.array_equal(out, X)


def test_values_come_first():
    """A number that is given is taken, and has to fit the array."""
    assert np.array_equal(ravel.convert(X, "ROW_MAJOR(N,7)[1:3]", "ROW_MAJOR", values={"N": 9}), X[1:3])
    with pytest.raises(ravel.Error):
        ravel.convert(X, "ROW_MAJOR(N,7)[1:3]", "ROW_MAJOR", values={"N": 8})


@pytest.mark.parametrize("src", ["NCHW8[1:3]", "NCHW8(N,C,H,W)[1:3]", "{A//4, A%4}[::2]"])
def test_what_does_not_follow(src):
    """Of blocks the extents are not known."""
    with pytest.raises(ravel.Error, match="the logical shape does not follow from the stored array"):
        ravel.convert(np.zeros((4, 2, 3, 3, 8), "f4") if src[0] == "N" else np.zeros((3, 4), "f4"), src, "ROW_MAJOR")
