"""Strides and fills that are names, given to convert() and to plans, against NumPy."""
import numpy as np
import pytest

import ravel

X = np.arange(2*20*3*5, dtype="i1").reshape(2, 20, 3, 5)


def padded(x, block, fill):
    full = np.full((x.shape[0], -(-x.shape[1] // block)*block, *x.shape[2:]), fill, x.dtype)
    full[:, :x.shape[1]] = x
    return full.reshape(x.shape[0], -1, block, *x.shape[2:]).transpose(0, 1, 3, 4, 2)


@pytest.mark.parametrize("dtype, fills", [("i1", (-128, 0, 127)), ("u1", (0, 255)), ("i8", (-1, 1 << 62, -(1 << 63))), ("u8", (0, (1 << 64) - 1)), ("f2", (0.1, -np.inf, np.nan, 3)),
                                          ("f4", (0.1, -1e38, np.inf)), ("f8", (0.1, -0.0, 5))])
def test_fills(dtype, fills):
    x = X.astype(dtype)
    for fill in fills:
        y = ravel.convert(x, "NCHW", "NC1HWC0{C0=16, fill=zp}", values={"zp": fill})
        assert y.tobytes() == padded(x, 16, np.asarray(fill).astype(dtype) if dtype[0] == "f" else fill).tobytes()


def test_fill_of_bf16():
    x = np.arange(6, dtype="u2").reshape(2, 3)
    for fill, word in ((1.0, 0x3f80), (-np.inf, 0xff80), (np.pi, 0x4049), (1 + 2**-8, 0x3f80), (1 + 3*2**-8, 0x3f82)):
        y = ravel.convert(x, "{M, K}", "{M, K//4, K%4, fill = zp}", dtype="bf16", values={"zp": fill})
        assert y.view("u2")[:, 0, 3].tolist() == [word, word]


def test_packed_fill():
    x = np.array([[0x21], [0x43]], "u1")
    y = ravel.convert(x, "{M, K}", "{M, K//4, K%4, fill = zp}", shape=(2, 2), dtype="i4", values={"zp": -1})
    assert y.reshape(-1).tolist() == [0x21, 0xff, 0x43, 0xff]


@pytest.mark.parametrize("dtype, fill, why", [("i1", 128, "i8 holds -128 to 127"), ("u1", -1, "u8 holds 0 to 255"), ("u8", 1 << 64, "u64 holds"), ("f2", 1e5, "which f16 does not hold"),
                                              ("i1", 0.5, "whole number"), ("f4", [1, 2], "does not hold")])
def test_fills_that_do_not_fit(dtype, fill, why):
    with pytest.raises(ravel.Error, match=why):
        ravel.convert(X.astype(dtype), "NCHW", "NC1HWC0{C0=16, fill=zp}", values={"zp": fill})


def test_strides():
    """One plan for any pitch; what the strides leave out is not written."""
    big = np.arange(60, dtype="f4")
    for ld in (5, 6, 12):
        want = np.lib.stride_tricks.as_strided(big, (5, 5), (4*ld, 4))
        assert np.array_equal(ravel.convert(big[:4*ld + 5], "ROW_MAJOR@(ld,1)", "COL_MAJOR", shape=(5, 5), values={"ld": ld}), want.T)
    out = np.full(2 + 4*7 + 5, 9, "f4")
    want = out.copy()
    np.lib.stride_tricks.as_strided(want[2:], (5, 5), (28, 4))[...] = big[:25].reshape(5, 5).T
    assert ravel.convert(big[:25].reshape(5, 5), "(M,K){M, K}", "(M,K){K, M}@o(p,1)", out=out, values={"o": 2, "p": 7}) is out
    assert np.array_equal(out, want)


def test_plans():
    plan = ravel.compile("NCHW@(sn,sc,sh,1)", "NC1HWC0{C0=16, fill=zp}", (None, 20, 3, 5), "i8")
    assert plan.values == ("sn", "sc", "sh", "zp") and plan.src_shape is None
    for n in (1, 2):
        y = plan(X[:n].reshape(-1), shape=(n, 20, 3, 5), values={"zp": -3, "sn": 300, "sc": 15, "sh": 5})
        assert np.array_equal(y.reshape(n, 2, 3, 5, 16), padded(X[:n], 16, -3))
    fixed = ravel.compile("NCHW", "NC1HWC0{C0=16, fill=zp}", X.shape, "i8")
    assert np.array_equal(fixed(X, values={"zp": 7}), padded(X, 16, 7))
    assert ravel.compile("NCHW", "NHWC", X.shape, "i8").values == ()


def test_arrays_with_strides():
    x, out = np.zeros((2, 20, 3, 10), "i1")[..., ::2], np.full((2, 2, 3, 5, 32), 9, "i1")[..., ::2]
    x[...] = X
    want = out.copy()
    want[...] = padded(X, 16, 4)
    assert np.array_equal(ravel.convert(x, "NCHW", "NC1HWC0{C0=16, fill=zp}", values={"zp": 4}), want)
    assert ravel.convert(x, "NCHW", "NC1HWC0{C0=16, fill=zp}", out=out, values={"zp": 4}) is out and np.array_equal(out, want)


def test_no_elements():
    y = ravel.convert(X[:0], "NCHW", "NC1HWC0{C0=16, fill=zp}", values={"zp": 4})
    assert y.size == 0


@pytest.mark.parametrize("values, why", [(None, "has the name 'zp': give its value"), ({}, "has the name 'zp'"), ({"zp": 1, "ld": 2}, "'ld' is no stride, extent or fill that is given to a run of the layouts: these are zp"),
                                         ([1], "values is a list")])
def test_wrong_names(values, why):
    plan = ravel.compile("NCHW", "NC1HWC0{fill=zp}", X.shape, "i8")
    for call in (lambda: plan(X, values=values), lambda: ravel.convert(X, "NCHW", "NC1HWC0{fill=zp}", values=values)):
        with pytest.raises(ravel.Error, match=why):
            call()
    for call in (lambda: ravel.convert(X, "NCHW", "NHWC", values={"q": 1}), lambda: ravel.compile("NCHW", "NHWC", X.shape, "i8")(X, values={"q": 1})):
        with pytest.raises(ravel.Error, match="'q' is no stride, extent or fill that is given to a run of the layouts$"):
            call()
    with pytest.raises(ravel.Error, match="'ld' is 1.5: it is a whole number"):
        ravel.convert(np.zeros((2, 3), "f4"), "ROW_MAJOR@(ld,1)", "COL_MAJOR", shape=(2, 3), values={"ld": 1.5})
    with pytest.raises(ravel.Error, match="'ld' is -1: strides and extents are 0 or more"):
        ravel.convert(np.zeros((2, 3), "f4"), "ROW_MAJOR@(ld,1)", "COL_MAJOR", shape=(2, 3), values={"ld": -1})
