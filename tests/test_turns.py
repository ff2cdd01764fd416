"""Conversions by several nests that one thread does in turns, part by part, against NumPy: padding, and planes of which two nests read the same lines."""

import ctypes as ct
import re
import subprocess

import numpy as np
import pytest

import command
import ravel


@pytest.fixture(params=["jit", "interpreter"])
def by(request, monkeypatch):
    monkeypatch.setenv("RAVEL_CODE", request.param)
    with ravel.Context() as c:
        yield c


def padded(x, block, fill=0):
    n, c, h, w = x.shape
    y = np.full((n, -(-c//block)*block, h, w), fill, x.dtype)
    y[:, :c] = x
    return y.reshape(n, -1, block, h, w).transpose(0, 1, 3, 4, 2)


@pytest.mark.parametrize("shape, block", [((1, 26, 330, 277), 32), ((7, 37, 131, 65), 16), ((2, 20, 300, 211), 32), ((33, 71, 31, 33), 64)])
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_padding(by, shape, block, threads):
    dtype = np.uint8 if block == 32 else np.uint16
    x = np.random.default_rng(block).integers(1, 250, shape).astype(dtype)
    with by.plan("NCHW", "(N,C,H,W){N, C//%d, H, W, C%%%d}" % (block, block), shape, {1: "u8", 2: "u16"}[x.itemsize], threads) as plan:
        got = plan.run(x.view(np.uint8).ravel(), 7)
    assert np.array_equal(got, np.ascontiguousarray(padded(x, block)).view(np.uint8).ravel())


def test_explain_says_turns():
    text = command.good("explain", "--from", "NCHW", "--to", "NCHW32", "--dtype", "u8", "--shape", "7,37,331,265", "--threads", "1")
    assert re.search(r"^turns: .* one of \d+ parts after another", text, re.M), text


@pytest.mark.parametrize("pairs", [300001, 1048576])
def test_planes_of_pairs(by, pairs):
    to = "(P,B){(1 - B%%2)*(%d + B//2*%d + P) + B%%2*(2*P + B//2)}" % (2*pairs, pairs)
    x = np.random.default_rng(3).integers(0, 256, (pairs, 4), np.uint8)
    with by.plan("{P,B}", to, (pairs, 4), "u8") as plan:
        got = plan.run(x.ravel(), 7)
    assert np.array_equal(got, np.concatenate([x[:, 1::2].ravel(), x[:, 0], x[:, 2]]))


def test_emitted_c_has_turns(tmp_path):
    shape = (3, 37, 131, 165)
    text = command.good("emit", "--from", "NCHW", "--to", "NCHW32", "--dtype", "u8", "--shape", ",".join(map(str, shape)), "--name", "padded")
    assert re.search(r"i < (\d+); i\+\+\)\n +padded_part\(dst_, src_, i, \1\)", text)
    (tmp_path/"padded.c").write_text(text)
    x = np.random.default_rng(5).integers(1, 250, shape).astype(np.uint8)
    want = np.ascontiguousarray(padded(x, 32)).ravel()
    for flags in [], ["-fopenmp"]:
        subprocess.run(["gcc", "-O1", "-shared", "-fPIC", *flags, "-o", str(tmp_path/("padded%d.so" % len(flags))), str(tmp_path/"padded.c")], check=True)
        got = np.empty_like(want)
        ct.CDLL(str(tmp_path/("padded%d.so" % len(flags)))).padded(ct.c_void_p(got.ctypes.data), ct.c_void_p(x.ctypes.data))
        assert np.array_equal(got, want), flags


# More than the caches hold: tiles write the padding of their rows from a buffer.
@pytest.mark.parametrize("isa", ["sse2", "avx2", "avx512vbmi"])
@pytest.mark.parametrize("src, shape, block, dtype", [("NCHW", (1, 19, 601, 477), 32, "u1"), ("{C,H,W,N}", (5, 12, 356, 357), 16, "u2"), ("{C,H,W,N}", (3, 15, 216, 217), 16, "u4"),
                                                    ("{H,C,W,N}", (5, 41, 113, 317), 64, "u1"), ("NCHW", (1, 26, 401, 477), 32, "u2")])
def test_padding_of_tiles(monkeypatch, isa, src, shape, block, dtype):
    monkeypatch.setenv("RAVEL_ISA", isa)
    x = np.random.default_rng(block).integers(1, 250, shape).astype(dtype)
    stored = x if src == "NCHW" else x.transpose(["NCHW".index(d) for d in src[1:-1].split(",")])
    dst = "(N,C,H,W){N, C//%d, H, W, C%%%d, fill = 7}" % (block, block)
    try:
        cx = ravel.Context()
    except ravel.Error:
        pytest.skip("this processor has no %s" % isa)
    with cx, cx.plan(src if src == "NCHW" else "(N,C,H,W)" + src, dst, shape, {"u1": "u8", "u2": "u16", "u4": "u32"}[dtype]) as plan:
        got = plan.run(np.ascontiguousarray(stored).view(np.uint8).ravel(), 7)
    assert np.array_equal(got.view(dtype), np.ascontiguousarray(padded(x, block, 7)).ravel())
