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


BYTES = np.random.default_rng(6).integers(0, 256, (10, 4), "u1")


def halves(x):
    """The elements of u4 in bytes, the low half of each first."""
    return np.stack([x & 15, x >> 4], -1).reshape(*x.shape[:-1], -1)


def packed(x):
    x = np.ascontiguousarray(x).reshape(-1, 2)
    return x[:, 0] | x[:, 1] << 4


def test_packed_elements():
    """Bytes hold several elements: their number says nothing of the extents of the tensor."""
    x, turned = BYTES, halves(BYTES.reshape(-1)).reshape(10, 8)
    one = np.array([0x80], "u1")
    with pytest.raises(ravel.Error, match="the logical shape does not follow from the stored array in layout .*: give the shape"):
        ravel.convert(one, "ROW_MAJOR[::-1]", "ROW_MAJOR", dtype="u1")
    assert ravel.convert(one, "ROW_MAJOR[::-1]", "ROW_MAJOR", dtype="u1", shape=(8,)).tolist() == [1]
    assert ravel.convert(one, "ROW_MAJOR(8)[::-1]", "ROW_MAJOR", dtype="u1").tolist() == [1]
    for rows, turns in ((None, None), ((2, 8), (2, 10))):
        y = ravel.convert(x, "ROW_MAJOR(N,8)[1:3]", "ROW_MAJOR", dtype="u4", shape=rows, values={"N": 10})
        assert np.array_equal(y.reshape(-1), packed(turned[1:3]))
        with pytest.raises(ravel.Error, match="the layout has the name 'N': give its value"):
            ravel.convert(x, "COL_MAJOR(N,10)[1:3]", "ROW_MAJOR", dtype="u4", shape=turns)
    with pytest.raises(ravel.Error, match="does not follow from the shape of the view") as error:
        ravel.convert(x, "ROW_MAJOR[1:3]", "ROW_MAJOR", shape=(2, 8), dtype="u4")
    assert "ROW_MAJOR(" not in str(error.value)
    y = ravel.convert(x, "ROW_MAJOR(10,8)[idx][1:3]", "ROW_MAJOR", dtype="u4", index={"idx": [3, 9, 7]})
    assert np.array_equal(y.reshape(-1), packed(turned[[9, 7]]))
    y = ravel.convert(x, "ROW_MAJOR(10,8)[idx][-1]", "ROW_MAJOR", dtype="u4", shape=(8,), index={"idx": [3, 9]})
    assert np.array_equal(y, packed(turned[9]))


def test_packed_destinations():
    new, out = np.arange(10, dtype="u1").reshape(2, 5), np.zeros((10, 4), "u1")
    plan = ravel.compile("ROW_MAJOR", "COL_MAJOR(N,10)[1:3]", (2, 10), "u4")
    with pytest.raises(ravel.Error, match="the layout has the name 'N': give its value"):
        plan(new, out)
    plan(new, out, values={"N": 8})
    want = np.zeros((8, 10), "u1")
    want[1:3] = halves(new)
    assert np.array_equal(out.reshape(-1), packed(want.T))
    out[:] = 0
    assert ravel.convert(new, "ROW_MAJOR", "COL_MAJOR(N,10)[1:3]", dtype="u4", shape=(2, 10), out=out, values={"N": 8}) is out
    assert np.array_equal(out.reshape(-1), packed(want.T))
    back = np.zeros(1, "u1")
    assert ravel.convert(np.array([1], "u1"), "ROW_MAJOR", "ROW_MAJOR[::-1]", dtype="u1", shape=(8,), out=back).tolist() == [0x80]
