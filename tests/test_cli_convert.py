"""The command convert: files of every kind, there and back, and what is refused."""

import io
import itertools
import os
import stat

import numpy as np
import pytest

import formulas as F
import ravel
from command import bad, files, good, here, run  # noqa: F401 (here is a fixture)


def physical(a, layout):
    """The storage of a layout as an array, by the oracle's addresses."""
    bits = a.dtype.itemsize*8
    m = F.evaluate(layout, a.shape, bits)
    out = np.zeros(m.size, a.dtype)
    out[m.addr] = a
    return out.reshape(m.storage)


def same(got, want):
    assert got.shape == want.shape and got.tobytes() == want.tobytes()


VERSIONS = [(1, 0), (2, 0), (3, 0)]
X = np.random.default_rng(7).integers(0, 255, (2, 20, 5, 7)).astype("u1")


@pytest.mark.parametrize("endian, order", itertools.product("<>", "CF"))
@pytest.mark.parametrize("kind", ["f2", "f4", "f8", "i1", "u2", "i4", "u8", "c8", "c16"])
def test_convert_npy(endian, order, kind):
    a = np.array(X, dtype=endian + kind, order=order)
    want = physical(X.astype("<" + kind), "NC1HWC0")
    for version in VERSIONS:
        with open("in.npy", "wb") as f:
            np.lib.format.write_array(f, a, version)
        good("convert", "in.npy", "out.npy", "--from", "NCHW", "--to", "NC1HWC0", "--verify")
        got = np.load("out.npy")
        assert got.dtype == want.dtype
        same(got, want)
    good("convert", "out.npy", "back.npy", "--from", "NC1HWC0", "--to", "NCHW", "--shape", "2,20,5,7")
    same(np.load("back.npy"), X.astype("<" + kind))
    assert np.load("back.npy").dtype == np.dtype("<" + kind)


@pytest.mark.parametrize("a, b", [("NCHW", "NHWC"), ("NHWC", "HWCN"), ("CHWN", "NCHW8"), ("ROW_MAJOR", "FRACTAL_Z"), ("NCHW32", "NHWC"),
                                  ("CHWN4", "NHWCD4")])
def test_convert_between(a, b):
    x = X.astype("<f4")
    np.save("a.npy", physical(x, a))
    for threads in ((), ("--threads", "1"), ("-N", "3")):
        good("convert", "a.npy", "b.npy", "--from", a, "--to", b, "--shape", "2,20,5,7", "--verify", *threads)
        same(np.load("b.npy"), physical(x, b))
    bad("convert", "a.npy", "b.npy", "--from", a, "--to", b, "--shape", "2,20,5,7", "-N", "0", says=["--threads '0': a whole number from 1"])


@pytest.mark.parametrize("a", ["NCHW", "NHWC", "CHWN", "HWCN", "ROW_MAJOR", "COL_MAJOR"])
def test_shape_that_the_file_tells(a):
    np.save("a.npy", physical(X, a))
    good("convert", "a.npy", "b.npy", "--from", a, "--to", "NCHW")
    same(np.load("b.npy"), X)


def test_convert_raw():
    x = X.astype("<f2")
    x.tofile("x.bin")
    want = physical(x, "NC1HWC0")
    good("convert", "x.bin", "y.bin", "--from", "NCHW", "--to", "NC1HWC0", "--shape", "2,20,5,7", "--dtype", "f16", "--verify")
    assert open("y.bin", "rb").read() == want.tobytes()
    good("convert", "x.bin", "y.npy", "--from", "NCHW", "--to", "NC1HWC0", "--shape", "2,20,5,7", "--dtype", "f16")
    same(np.load("y.npy"), want)
    good("convert", "y.npy", "z.bin", "--from", "NC1HWC0", "--to", "NCHW", "--shape", "2,20,5,7")
    assert open("z.bin", "rb").read() == x.tobytes()


@pytest.mark.parametrize("layout, dtype, bits", [("INT4_LOW", "u4", 4), ("INT4_HIGH", "i4", 4), ("UINT2_LOW", "u2", 2), ("BIT_LOW", "u1", 1),
                                                 ("MARLIN", "u4", 4)])
def test_convert_below_a_byte(layout, dtype, bits):
    shape = (16, 64) if layout == "MARLIN" else (5, 7)
    x = np.random.default_rng(3).integers(0, 1 << bits, np.prod(shape), np.uint8)
    m = F.evaluate(layout, shape, bits)
    ravel.pack(x, bits).tofile("x.bin")
    of = ["--shape", ",".join(map(str, shape)), "--dtype", dtype]
    good("convert", "x.bin", "y.bin", "--from", "ROW_MAJOR", "--to", layout, *of, "--verify")
    want = np.zeros(m.size, np.uint8)
    want[m.addr.reshape(-1)] = x
    assert open("y.bin", "rb").read() == ravel.pack(want, bits).tobytes()
    good("convert", "y.bin", "z.bin", "--from", layout, "--to", "ROW_MAJOR", *of)
    assert np.array_equal(ravel.unpack(np.fromfile("z.bin", np.uint8), bits)[:x.size], x)
    good("convert", "x.bin", "y.npy", "--from", "ROW_MAJOR", "--to", layout, *of)
    assert np.load("y.npy").tobytes() == ravel.pack(want, bits).tobytes()
    good("convert", "y.npy", "z.bin", "--from", layout, "--to", "ROW_MAJOR", *of)
    assert np.array_equal(ravel.unpack(np.fromfile("z.bin", np.uint8), bits)[:x.size], x)


def test_convert_bf16():
    """Two opaque bytes, as other programs save it."""
    x = X.astype("<u2").view("V2")
    np.save("x.npy", x)
    good("convert", "x.npy", "y.npy", "--from", "NCHW", "--to", "NHWC", "--dtype", "bf16")
    assert np.load("y.npy").tobytes() == X.astype("<u2").transpose(0, 2, 3, 1).tobytes()


def test_convert_in_place():
    np.save("x.npy", X)
    good("convert", "x.npy", "x.npy", "--from", "NCHW", "--to", "NHWC")
    same(np.load("x.npy"), X.transpose(0, 2, 3, 1).copy())
    assert files() == ["x.npy"]


def test_mode_of_a_new_file():
    """As a program that just opens a file would leave it."""
    save(X)
    old = os.umask(0o027)
    try:
        good("convert", "x.npy", "y.npy", "--from", "NCHW", "--to", "NHWC")
    finally:
        os.umask(old)
    assert stat.S_IMODE(os.stat("y.npy").st_mode) == 0o640


def test_convert_streams():
    f = io.BytesIO()
    np.save(f, X)
    r = run("convert", "-", "-", "--from", "NCHW", "--to", "NHWC", input=f.getvalue())
    if r.returncode:
        assert r.returncode == 2 and r.stderr and not r.stdout     # streams are not promised, silence is not allowed
    else:
        assert X.transpose(0, 2, 3, 1).tobytes() in r.stdout


def save(a, name="x.npy"):
    np.save(name, a)


def cut(n):
    save(X)
    os.truncate("x.npy", os.path.getsize("x.npy") - n)


SHAPE = ["--shape", "2,20,5,7"]
REFUSED = {
    "missing": (lambda: None, [], "x.npy"),
    "empty file": (lambda: open("x.npy", "w"), [], "x.npy"),
    "not npy": (lambda: open("x.npy", "w").write("hello, this is text" * 10), [], "x.npy"),
    "truncated": (lambda: cut(1), [], "missing"),
    "object": (lambda: np.save("x.npy", np.array([{}], object), allow_pickle=True), [], "objects"),
    "rank too small": (lambda: save(X[0]), [], "--shape"),
    "rank too large": (lambda: save(X[None]), [], "is stored with 4: name the layout that the array is in"),
    "no elements, of another shape": (lambda: save(X[:0]), ["--shape", "0,20,5,8"], "has no elements"),
    "shape is another": (lambda: save(X), ["--shape", "2,20,7,5"], "2,20,7,5"),
    "shape is malformed": (lambda: save(X), ["--shape", "2x20"], "--shape"),
    "dtype is another": (lambda: save(X), ["--dtype", "f32"], "f32"),
    "dtype unknown": (lambda: save(X), ["--dtype", "f31"], "f31"),
    "from unknown": (lambda: save(X), ["--from", "NCHV"], "NCHW"),
    "to unknown": (lambda: save(X), ["--to", "NHCW"], "NHCW"),
    "physical extents": (lambda: save(np.zeros((2, 2, 5, 7, 32), "u1")), ["--from", "NC1HWC0"] + SHAPE, "(2,1,5,7,32)"),
    "physical extents, moved": (lambda: save(np.zeros((1, 2, 5, 7, 32), "u1")), ["--from", "NC1HWC0"] + SHAPE, "(2,1,5,7,32)"),
    "shape not told": (lambda: save(np.zeros((2, 1, 5, 7, 32), "u1")), ["--from", "NC1HWC0"], "--shape"),
    "not injective": (lambda: save(X), ["--to", "{N, C, H//2, W}"], "one-to-one"),
    "fill too large": (lambda: save(X), ["--to", "{N, C//8, H, W, C%8, fill = 256}"], "fill"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_convert_refuses(what):
    """Nothing is written; what was there stays."""
    make, options, says = REFUSED[what]
    make()
    before = files()
    args = {"--from": "NCHW", "--to": "NHWC"}
    args.update(zip(options[::2], options[1::2]))
    flat = [x for kv in args.items() for x in kv]
    bad("convert", "x.npy", "y.npy", *flat, says=says)
    assert files() == before
    open("y.npy", "w").write("old")
    bad("convert", "x.npy", "y.npy", *flat, says=says)
    assert open("y.npy").read() == "old" and files() == sorted(before + ["y.npy"])


@pytest.mark.parametrize("size", [0, 1, 1399, 1401])
def test_raw_of_the_wrong_size(size):
    open("x.bin", "wb").write(b"x"*size)
    bad("convert", "x.bin", "y.bin", "--from", "NCHW", "--to", "NHWC", *SHAPE, "--dtype", "u8", says=["x.bin", "1400"])
    assert files() == ["x.bin"]


def test_raw_needs_shape_and_dtype():
    open("x.bin", "wb").write(b"x"*1400)
    bad("convert", "x.bin", "y.bin", "--from", "NCHW", "--to", "NHWC", *SHAPE, says="--dtype")
    bad("convert", "x.bin", "y.bin", "--from", "NCHW", "--to", "NHWC", "--dtype", "u8", says="--shape")


def test_output_folder_missing_or_a_folder():
    save(X)
    bad("convert", "x.npy", "no/y.npy", "--from", "NCHW", "--to", "NHWC", says="no/y.npy")
    os.mkdir("dir.npy")
    bad("convert", "x.npy", "dir.npy", "--from", "NCHW", "--to", "NHWC", says="dir.npy")
    assert files() == ["dir.npy", "x.npy"] and os.listdir("dir.npy") == []


def test_holes_come_out_the_same():
    """A hole has no value of its own; a file has one for it, always the same."""
    save(X)
    to = '{N, C//16, H, W, C%16, pitch = {H = 256}, fill = "none"}'
    outs = set()
    for _ in range(2):
        good("convert", "x.npy", "y.npy", "--from", "NCHW", "--to", to)
        outs.add(open("y.npy", "rb").read())
    assert len(outs) == 1


@pytest.mark.parametrize("shape", [(1 << 10, 1 << 10)])
def test_megabytes(shape):
    a = np.arange(np.prod(shape), dtype="<f4").reshape(shape)
    save(a)
    good("convert", "x.npy", "y.npy", "--from", "ROW_MAJOR", "--to", "FRACTAL_NZ")
    same(np.load("y.npy"), physical(a, "FRACTAL_NZ"))
