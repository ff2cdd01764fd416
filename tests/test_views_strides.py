"""Views by strides and of array files; what is a view of another layout already, and what has no strides."""

import ctypes as ct
import json
import math
import os
import random
import subprocess

import numpy as np
import pytest

import ravel
from views import numpys, plain, ran, random_bytes, RAVEL, TENSORS

SEED = int(os.environ.get("SEED", "19"))


def with_strides(cx, layout, strides, origin):
    text = ct.c_void_p()
    ravel.call(ravel.lib.ravel_with_strides, cx.p, layout.encode(), len(strides), ravel.extents(strides), origin, ct.byref(text))
    said = ct.string_at(text).decode()
    ct.CDLL(None).free(text)
    return said


@pytest.mark.parametrize("layout, shape, stored", [("NCHW", (2, 3, 4, 5), (2, 3, 4, 5)), ("NC1HWC0{C0 = 16}", (2, 20, 3, 4), (2, 2, 3, 4, 16)),
                                                   ("(A,B){A//4, B//3, B%3, A%4}", (10, 8), (3, 3, 3, 4))])
def test_strides(cx, layout, shape, stored):
    """Of parts of a large array, as NumPy has them; padding is written, what lies between is not."""
    rnd, formula = random.Random(SEED), TENSORS.get(layout, TENSORS["ROW_MAJOR"])[0]
    for k in range(8):
        big = np.arange(math.prod(2*n + 1 for n in stored)).reshape([2*n + 1 for n in stored])
        part = big[tuple(rnd.choice([slice(1, n + 1), slice(n, 0, -1), slice(None, 2*n, 2), slice(2*n, 0, -2)]) for n in stored)]
        at = part.reshape(-1)[formula(shape)]
        text = with_strides(cx, layout, [s // 8 for s in part.strides], int(part.flat[0]))
        assert np.array_equal(cx.table(text, shape, "f32"), at)
        with cx.plan(text, plain(len(shape)), shape, "f32") as p, cx.plan(plain(len(shape)), text, shape, "f32") as q:
            raw = random_bytes(p.src_bytes, k)
            assert np.array_equal(p.run(raw).view("u4"), raw.view("u4")[at.reshape(-1)])
            raw = random_bytes(q.src_bytes, k)
            want = np.full(q.dst_bytes, ravel.POISON, np.uint8).view("u4")
            want[part.reshape(-1)] = 0
            want[at.reshape(-1)] = raw.view("u4")
            assert np.array_equal(q.run(raw).view("u4"), want)


def test_strides_of_a_view(cx):
    assert with_strides(cx, "NHWC(2,3,4,5)[0]", [90, 20, 5, -1], 4) == "NHWC@4(90,20,5,-1)(2,3,4,5)[0]"
    at = (np.arange(2)[:, None] * 90 + np.arange(5) * 5 + 4).reshape(2, 5)
    assert np.array_equal(cx.table("NHWC@4(90,20,5,-1)(2,1,1,5)[:, 0, 0, :]", (2, 5), "f32"), at)


@pytest.mark.parametrize("text, shape, why", [
    ("ROW_MAJOR@(5)", (3, 4), "has 1 strides, and the storage has 2 axes"), ("ROW_MAJOR@5(-5,1)", (3, 4), "reaches 5 elements before its storage.*at least 10"),
    ("ROW_MAJOR@(5,1", (3, 4), "expected , or"), ("ROW_MAJOR@-1(5,1)", (3, 4), "an origin is 0 or more"), ("ROW_MAJOR@", (3, 4), "expected the strides"),
    ("ROW_MAJOR@(9223372036854775807,1)", (3, 4), "do not fit 64 bits"), ("SWIZZLE@(64,1)", (64, 64), "swizzle"),
    ("ROW_MAJOR@(1,4)@(1,4)", (3, 4), "expected an index")])
def test_wrong_strides(cx, text, shape, why):
    with pytest.raises(ravel.Error, match=why):
        cx.table(text, shape, "f16")


def test_overlapping_strides(cx):
    """Windows can be read; they are no destination."""
    with cx.plan("ROW_MAJOR@(1,1)", "ROW_MAJOR", (3, 4), "f32") as p:
        p.verify()
        raw = random_bytes(p.src_bytes, 1)
        assert np.array_equal(p.run(raw).view("u4").reshape(3, 4), np.lib.stride_tricks.sliding_window_view(raw.view("u4"), 4))
    with pytest.raises(ravel.Error, match="not one-to-one"):
        cx.plan("ROW_MAJOR", "ROW_MAJOR@(1,1)", (3, 4), "f32")


# --- array files

@pytest.mark.parametrize("index", ["[:, 1:3, ..., ::-1]", "[-1]", "[:, None, 2:, 3]", "[::-1][1:, :2]"])
def test_convert(tmp_path, index):
    """The extents of the file are those of the tensor."""
    x = np.random.default_rng(3).integers(0, 99, (3, 4, 5, 6)).astype("f4")
    want = numpys(x, index)
    np.save(tmp_path / "x.npy", x)
    ran("convert", str(tmp_path / "x.npy"), str(tmp_path / "y.npy"), "--from", "NCHW" + index, "--to", plain(want.ndim), "--verify")
    assert np.array_equal(np.load(tmp_path / "y.npy"), want)
    (tmp_path / "x.raw").write_bytes(x.tobytes())
    ran("convert", str(tmp_path / "x.raw"), str(tmp_path / "y.raw"), "--from", "NCHW(3,4,5,6)" + index, "--to", plain(want.ndim), "--dtype", "f32")
    assert (tmp_path / "y.raw").read_bytes() == np.ascontiguousarray(want).tobytes()


def test_convert_to_a_region(tmp_path):
    x = np.random.default_rng(3).integers(0, 99, (3, 4)).astype("u2")
    np.save(tmp_path / "x.npy", x)
    ran("convert", str(tmp_path / "x.npy"), str(tmp_path / "y.npy"), "--from", "ROW_MAJOR", "--to", "ROW_MAJOR(5,7)[1:4, 5:1:-1]")
    want = np.zeros((5, 7), "u2")
    want[1:4, 5:1:-1] = x
    assert np.array_equal(np.load(tmp_path / "y.npy"), want)


# --- what is a view already

class ViewOf(ct.Structure):
    _fields_ = [("is_view", ct.c_int), ("axes", ct.c_int), ("extent", ct.c_int64 * 64), ("stride", ct.c_int64 * 64), ("origin", ct.c_int64),
                ("run", ct.c_int64), ("why", ct.c_char * 512)]


def view_of(cx, src, dst, shape, dtype="f32"):
    out = ViewOf()
    rq = ravel.Request(src.encode(), dst.encode(), dtype.encode(), len(shape), ravel.extents(shape))
    ravel.call(ravel.lib.ravel_view_of, cx.p, ct.byref(rq), ct.byref(out))
    return out


VIEWS = [("NCHW", "NHWC", (2, 3, 4, 5)), ("NCHW", "{N, C//4, H, W, C%4}", (2, 8, 3, 5)), ("{M, K}", "{M//4, K//4, M%4, K%4}", (8, 12)),
         ("NHWC(2,9,5,6)[:, 1:3, ..., ::-1]", "NCHW", (2, 2, 5, 6)), ("NCHW@99(-40,3,7,1)", "NHWC", (2, 3, 4, 5)), ("ROW_MAJOR(1,5)", "(S,T){T,S}", (3, 5)),
         ("{N, C//16, H, W, C%16}", "{N, C//16, C%16, W, H}", (2, 32, 3, 4)), ("NCHW", "NCHW", (1, 1, 3, 1)), ("ROW_MAJOR(3,4)[1, 2]", "ROW_MAJOR", ())]


@pytest.mark.parametrize("src, dst, shape", VIEWS)
def test_no_copy(cx, src, dst, shape):
    """What NumPy reads at the strides in the source is what a conversion writes."""
    v = view_of(cx, src, dst, shape)
    assert v.is_view == 1 and not v.why
    with cx.plan(src, dst, shape, "f32") as p:
        raw = random_bytes(p.src_bytes, 1)
        there = np.lib.stride_tricks.as_strided(raw.view("u4")[v.origin:], v.extent[:v.axes], [4*s for s in v.stride[:v.axes]])
        assert np.array_equal(p.run(raw).view("u4"), there.reshape(-1))


@pytest.mark.parametrize("src, dst, shape, why, run", [
    ("{M//4, K//4, M%4, K%4}", "{M, K}", (8, 8), "element (0,4) is at address 16 of the source", 4), ("NCHW", "NC1HWC0{C0 = 16}", (2, 20, 3, 4), "288 slots of NC1HWC0 are padding", 1),
    ("NCHW", "NCHW8", (2, 12, 3, 4), "96 slots of NCHW8 are padding", 1), ("{M, K}", "{M, K, pitch = {M = 64}}", (4, 5), "holes", 5), ("ROW_MAJOR", "SW128", (8, 32), "element", 4),
    ("(A){A}", "(A){A//2%2, A%2, A//4}", (8,), None, 1), ("{M, K}", "SWIZZLE", (64, 64), "swizzle", 0)])
def test_a_copy(cx, src, dst, shape, why, run):
    v = view_of(cx, src, dst, shape)
    assert (v.is_view == 1 if why is None else v.is_view == 0 and why in v.why.decode()) and run in (0, v.run)


def test_bits_are_no_view(cx):
    v = view_of(cx, "(A,B){A, B}", "(A,B){B, A}", (8, 8), "u4")
    assert v.is_view == 0 and b"smaller than a byte" in v.why
    assert view_of(cx, "(A,B,C){A, B, C}", "(A,B,C){B, A, C}", (4, 4, 8), "u4").is_view == 1


def test_compatible():
    said = ran("check", "NCHW", "--compatible", "NHWC", "--shape", "2,8,5,5")
    assert said.startswith("yes: NHWC is a view of NCHW for shape 2,8,5,5\n  array (2,5,5,8) with strides (200,5,1,25)") and "full permutation" in said
    r = subprocess.run([RAVEL, "check", "{M//4, K//4, M%4, K%4}", "--compatible", "{M, K}", "--shape", "8,8", "--dtype", "f16", "--json"], capture_output=True, text=True)
    assert r.returncode == 1 and '"view": "no"' in r.stdout and '"run": 4' in r.stdout
    assert "view: array (2,4,5,3) with strides (60,5,1,20)" in ran("explain", "--from", "NCHW", "--to", "NHWC", "--shape", "2,3,4,5", "--dtype", "f32")


def test_compatible_with_a_broadcast():
    """It can be the second one, too, of which nothing can be a copy."""
    said = ran("check", "ROW_MAJOR(1,8,1,1)", "--compatible", "NCHW", "--shape", "2,8,5,5")
    assert said.startswith("yes: NCHW is a view of ROW_MAJOR(1,8,1,1)") and said.endswith("both can be walked together in the order n, c, hw\n")
    r = subprocess.run([RAVEL, "check", "NCHW", "--compatible", "ROW_MAJOR(1,8,1,1)", "--shape", "2,8,5,5"], capture_output=True, text=True)
    assert r.returncode == 1 and r.stdout == ("no: ROW_MAJOR(1,8,1,1) is not a view of NCHW for shape 2,8,5,5\n  because its elements share addresses: it can only be a "
                                              "source\n  both can be walked together in the order n, c, hw\n")
    r = subprocess.run([RAVEL, "check", "NCHW", "--compatible", "ROW_MAJOR(1,8,1,1)", "--shape", "2,8,5,5", "--json"], capture_output=True, text=True)
    told = json.loads(r.stdout)
    assert r.returncode == 1 and told["view"] == "no" and told["order"] == "n, c, hw" and told["layout"] == "NCHW"
    r = subprocess.run([RAVEL, "check", "NCHW", "--compatible", "(N,C,H,W){N + C, H, W}", "--shape", "2,8,5,5"], capture_output=True, text=True)
    assert r.returncode == 2 and "not one-to-one" in r.stderr


@pytest.mark.parametrize("layout", ["NCHW@1(120,30,6,1)", "NCHW@1000(120,30,6,1)", "NCHW@100000000(120,30,6,1)", "NCHW@0(1200000,3000,60,1)"])
@pytest.mark.parametrize("name", ["a.npy", "a.npz"])
def test_strides_that_leave_the_file(tmp_path, layout, name):
    x = np.arange(240, dtype="f4").reshape(2, 4, 5, 6)
    np.save(tmp_path / "a.npy", x)
    np.savez(tmp_path / "a.npz", x)
    r = subprocess.run([str(ravel.BUILD / "ravel"), "convert", name, "b.npy", "--from", layout, "--to", "NCHW", "--shape", "2,4,5,6"], cwd=tmp_path, capture_output=True, text=True)
    assert r.returncode == 2 and "has shape (2,4,5,6)" in r.stderr and not (tmp_path / "b.npy").exists(), r


def test_strides_that_leave_gaps_have_no_shape(tmp_path):
    """The header of the file tells all of its elements, and the way back gives what was there."""
    x = np.arange(240, dtype="f4").reshape(2, 4, 5, 6)
    np.save(tmp_path / "a.npy", x)
    def run(*args):
        subprocess.run([str(ravel.BUILD / "ravel"), "convert", *args], cwd=tmp_path, check=True, capture_output=True)
    run("a.npy", "b.npy", "--from", "NCHW", "--to", "NCHW@7(1200,300,6,1)")
    b = np.load(tmp_path / "b.npy")
    assert b.ndim == 1 and b[7 + 1200 + 300*2 + 6*3 + 4] == x[1, 2, 3, 4]
    run("b.npy", "c.npy", "--from", "NCHW@7(1200,300,6,1)", "--to", "NCHW", "--shape", "2,4,5,6")
    assert np.array_equal(np.load(tmp_path / "c.npy"), x)
