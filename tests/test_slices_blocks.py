"""Parts that are counted from the end of a dim that is stored in blocks, and lists with numbers from both ends, for an extent that each run is given: against NumPy's own indexing."""
import ctypes as ct
import os
import re
import subprocess

import numpy as np
import pytest

import ravel
from runtime_cases import built
from views import RAVEL

SEED = int(os.environ.get("SEED", "19"))
OPEN = -1
S = slice
# The text of the index, NumPy's, the extent of the view (None: none), and the least extent of the tensor.
INDICES = [("-3:", S(-3, None), 3, 3), ("-20:", S(-20, None), 20, 20), ("-90:", S(-90, None), 90, 90), ("-9:-1:3", S(-9, -1, 3), 3, 9), ("-2:-7:-1", S(-2, -7, -1), 5, 6), ("[-1,-4,-2]", [-1, -4, -2], 3, 4),
           ("[0,-1]", [0, -1], 2, 2), ("[-2,3,0,-1]", [-2, 3, 0, -1], 4, 6), ("-2", -2, None, 2), ("-40:-5", S(-40, -5), 35, 40), ("-40:-5:5", S(-40, -5, 5), 7, 40), ("-30:", S(-30, None), 30, 30), ("-3:-20:-1", S(-3, -20, -1), 17, 19)]


def c0(x, n):
    """NC1HWC0 of x, which is NCHW."""
    pad = -x.shape[1] % n
    x = np.concatenate([x, np.zeros((x.shape[0], pad, *x.shape[2:]), x.dtype)], 1)
    return np.ascontiguousarray(x.reshape(x.shape[0], -1, n, *x.shape[2:]).transpose(0, 1, 3, 4, 2))


# The text of the tensor N, C, H, W of u16 and how it is stored.
TENSORS = [("NC1HWC0(N,K,3,2)", lambda x: c0(x, 16)), ("NHWC(N,K,3,2)", lambda x: x.transpose(0, 2, 3, 1)), ("(N,C,H,W){N, C//8, H, C//2%4, W, C%2}(N,K,3,2)", lambda x: c0(x, 8).reshape(
    x.shape[0], -1, 3, 2, 4, 2).transpose(0, 1, 2, 4, 3, 5))]


def runs(plan, dst, src, shape):
    ravel.call(ravel.lib.ravel_run_shape, plan.p, dst.ctypes.data, src.ctypes.data, ravel.extents(shape))


@pytest.mark.parametrize("asked", [OPEN, 2])
@pytest.mark.parametrize("text, stored", TENSORS, ids=[t for t, _ in TENSORS])
@pytest.mark.parametrize("items, select, count, least", INDICES, ids=[i[0] for i in INDICES])
def test_gather_and_scatter(cx, text, stored, items, select, count, least, asked):
    view = [asked, *([] if count is None else [count]), 3, 2]
    whole = "%s[:, %s]" % (text.replace("(N,K", "(%s,K" % ("N" if asked == OPEN else asked)), items)
    dims = "(%s){%s}" % ((",".join("abcd"[:len(view)]),)*2)
    with cx.plan(whole, dims, view, "u16") as get, cx.plan(dims, whole, view, "u16") as put:
        for k in (1, 2, 3, 4, 6, 8, 9, 15, 16, 17, 19, 20, 24, 31, 32, 33, 40, 90, 97, 112):
            b = 2 if asked > 0 else 1 + k % 3
            x = np.random.default_rng(k).integers(1, 2**16, (b, k, 3, 2), np.uint16)
            src, shape = np.ascontiguousarray(stored(x)), [b, *view[1:]]
            y = np.full(shape, 7, "u2")
            if k < least:
                for p, d, s in (get, y, src), (put, src.copy(), y):
                    kept = d.copy()
                    with pytest.raises(ravel.Error, match="extent K is %d: the index selects elements of" % k):
                        runs(p, d, s, (*shape, k))
                    assert np.array_equal(kept, d)
                continue
            runs(get, y, src, (*shape, k))
            assert np.array_equal(y, x[:, select]), (items, k)
            new, z, out = np.random.default_rng(k + 500).integers(1, 2**16, shape, np.uint16), x.copy(), src.copy()
            z[:, select] = new
            runs(put, out, new, (*shape, k))
            assert np.array_equal(out, stored(z)), (items, k)


@pytest.mark.parametrize("items, select, count, least", INDICES[:8], ids=[i[0] for i in INDICES[:8]])
def test_blocks_on_both_sides(cx, items, select, count, least):
    """The blocks of the destination are not those of the source; its padding is written."""
    with cx.plan("NC1HWC0(N,K,3,2)[:, %s]" % items, "NC1HWC0{C0=8}", (OPEN, count, 3, 2), "u16") as p:
        for k in range(least, least + 20):
            x = np.random.default_rng(k).integers(1, 2**16, (2, k, 3, 2), np.uint16)
            want = c0(x[:, select], 8)
            out = np.full(want.shape, 7, "u2")
            runs(p, out, c0(x, 16), (2, count, 3, 2, k))
            assert np.array_equal(out, want), k


@pytest.mark.parametrize("items, select", [("-3:", S(-3, None)), ("[0,-1]", [0, -1])])
def test_emitted(tmp_path, items, select):
    n = 3 if items == "-3:" else 2
    r = subprocess.run([RAVEL, "emit", "--from", "NC1HWC0(N,K,3,2)[:, %s]" % items, "--to", "NCHW", "--shape", "N,%d,3,2" % n, "--dtype", "u16", "--name", "kern", "-o", tmp_path / "f.c"],
                       capture_output=True, text=True)
    assert r.returncode == 0, r.stderr
    lib = ct.CDLL(str(built(tmp_path / "f.c", "gcc")))
    lib.kern.argtypes = [ct.c_void_p, ct.c_void_p, ct.c_int64, ct.c_int64]
    for k in (3, 5, 16, 17, 18, 19, 40):
        x = np.random.default_rng(k).integers(1, 2**16, (2, k, 3, 2), np.uint16)
        y, src = np.full((2, n, 3, 2), 7, "u2"), c0(x, 16)
        assert lib.kern(y.ctypes.data, src.ctypes.data, 2, k) == 0
        assert np.array_equal(y, x[:, select])
    y[:] = 7
    assert lib.kern(y.ctypes.data, src.ctypes.data, 2, 1) == 1 and (y == 7).all()


@pytest.mark.parametrize("a, b, shape", [("NC1HWC0(N,K,3,2)[:, -3:]", "NCHW", "N,3,3,2"), ("NCHW", "NC1HWC0(N,K,3,2)[:, [0,-1]]", "N,2,3,2"), ("NC1HWC0(N,K,3,2)[:, -30:]", "NHWC", "N,30,3,2"),
                                         ("NHWC(N,K,3,2)[:, [0,5,-1]]", "NC1HWC0", "N,3,3,2"), ("NCHW", "NC1HWC0(N,K,3,2)[:, -2:-7:-1]", "N,5,3,2")])
def test_proofs(a, b, shape):
    r = subprocess.run([RAVEL, "verify", "--from", a, "--to", b, "--shape", shape, "--dtype", "u16"], capture_output=True, text=True, timeout=120)
    assert r.returncode == 0 and "yes:" in r.stdout, r.stdout + r.stderr


@pytest.mark.parametrize("layout, shape, why", [
    ("NHWC(N,C,H,W)[:, -3:2]", "N,1,H,W", r"this slice of dim 1 \(C\) begins at one end and stops at the other, so it has fewer elements the larger the extent is: give a number and not the name 'C'"),
    ("NHWC(N,C,H,W)[:, [%s,-1]]" % ",".join(map(str, range(24))), "N,25,H,W", "a list of more than 24 numbers from both ends; give the extent of the tensor as a number"),
    ("NC1HWC0(N,C,H,W)[:, -3:-40:-1]", "N,37,H,W", "a step of more than 24 coordinates"),
    ("NC1HWC0(N,C,H,W)[:, -200:-1:3]", "N,67,H,W", "counted from the end, of a dim .* or by a list or a step of more than 24 coordinates")])
def test_refused(layout, shape, why):
    r = subprocess.run([RAVEL, "explain", "--from", layout, "--to", "NCHW", "--shape", shape, "--dtype", "f32"], capture_output=True, text=True)
    assert r.returncode == 2
    assert re.search(why, " ".join(r.stderr.split())), r.stderr
