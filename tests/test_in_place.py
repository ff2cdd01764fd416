"""Conversions of a buffer within itself, against NumPy: blocks, items, rows and columns; what cannot be is refused with the reason."""
import ctypes as ct
import os
import re
import shutil
import subprocess

import numpy as np
import pytest

import ravel
from command import bad, good, here          # noqa: F401: the fixture `here`

SEED = 1907
TYPES = {"u8": "u1", "f16": "f2", "f32": "f4", "f64": "f8", "c128": "c16"}


class InPlace(ravel.Plan):
    def __init__(self, cx, src, dst, shape, dtype, threads=1):
        rq = ravel.Request(src.encode(), dst.encode(), dtype.encode(), len(shape), ravel.extents(shape), threads, 1)
        self.p = ct.c_void_p()
        ravel.call(ravel.lib.ravel_compile, cx.p, ct.byref(rq), ct.byref(self.p))
        self.way = ravel.lib.ravel_plan_way(self.p).decode()

    def run(self, raw, shift=0):
        """The bytes that were converted, between guards."""
        b = ravel.Guarded(raw.size, shift)
        b.body[:] = raw
        assert ravel.lib.ravel_run(self.p, b.body.ctypes.data, b.body.ctypes.data) == 0
        assert b.intact(), "a guard was written to"
        return b.body


@pytest.fixture(scope="module")
def cx():
    with ravel.Context() as c:
        yield c


def raw(x):
    return np.frombuffer(np.ascontiguousarray(x).tobytes(), "u1")


def numbers(shape, dtype):
    n = int(np.prod(shape)) * np.dtype(TYPES[dtype]).itemsize
    return np.random.default_rng(SEED).integers(0, 256, n, "u1").view(TYPES[dtype]).reshape(shape)


def order(axes):
    return "(%s){%s}" % (", ".join("ABCDE"[:len(axes)]), ", ".join("ABCDE"[i] for i in axes))


def is_transposed(cx, shape, dtype, axes, threads=1, shift=0):
    x = numbers(shape, dtype)
    with InPlace(cx, order(range(len(shape))), order(axes), shape, dtype, threads) as plan:
        assert plan.run(raw(x), shift).tobytes() == x.transpose(axes).tobytes(), (shape, dtype, axes, plan.way)
        return plan.way


MATRICES = [((700, 900), "f32", "5 blocks of 504000 bytes, cycles of 25 items of 100800 bytes, 5 blocks"), ((1009, 1013), "u8", "rows and columns"), ((607, 1000), "u8", "cycles"), ((1000, 607), "u8", "blocks"),
            ((331, 337), "c128", "rows and columns"), ((601, 601), "f16", "rows and columns"), ((2, 300007), "f16", "cycles"), ((300007, 2), "f16", "cycles"),
            ((3, 1 << 18), "u8", "cycles"), ((1 << 18, 3), "u8", "cycles"), ((101 * 3, 2003 * 5), "u8", "items of 15 bytes"), ((1009, 2 * 1009), "f32", "8 bytes")]


@pytest.mark.parametrize("shape, dtype, way", MATRICES, ids=["%dx%d-%s" % (*s, t) for s, t, _ in MATRICES])
def test_matrices(cx, shape, dtype, way):
    assert way in is_transposed(cx, shape, dtype, (1, 0)), shape


def test_permutations(cx):
    """Any order of dims of any extents, of buffers above and below what one block holds."""
    rng = np.random.default_rng(SEED)
    print("seed", SEED)
    for i in range(60):
        rank, dtype = int(rng.integers(2, 6)), str(rng.choice(list(TYPES)))
        items = (300_000 + 700_000 * rng.random()) / np.dtype(TYPES[dtype]).itemsize
        shape = [int(n) for n in rng.integers(1, 2 * items ** (1 / rank) + 1, rank)]
        is_transposed(cx, shape, dtype, [int(d) for d in rng.permutation(rank)], int(rng.integers(1, 4)), i)


@pytest.mark.parametrize("threads", [2, 3])
@pytest.mark.parametrize("shape", [(1200, 1400), (1021, 1031), (64, 120, 300), (5, 700, 601)], ids=str)
def test_threads(cx, shape, threads):
    is_transposed(cx, shape, "u8" if shape == (1021, 1031) else "f16", tuple(range(len(shape) - 2)) + (len(shape) - 1, len(shape) - 2), threads)


def test_blocked_channels(cx):
    x = numbers((6, 32, 60, 50), "f16")
    want = x.reshape(6, 2, 16, 60, 50).transpose(0, 1, 3, 4, 2)
    with InPlace(cx, "NCHW", "NC1HWC0", x.shape, "f16") as there, InPlace(cx, "NC1HWC0", "NCHW", x.shape, "f16") as back:
        assert there.run(raw(x)).tobytes() == want.tobytes() and back.run(raw(want)).tobytes() == x.tobytes()


def test_padding_of_both_sides(cx):
    """20 channels in blocks of 16: what pads the source is not read, what pads the destination is filled."""
    x = numbers((40, 20, 10, 30), "f16")
    padded = np.full((40, 32, 10, 30), 7, "f2")
    padded[:, :20] = x
    source = padded.reshape(40, 2, 16, 10, 30).transpose(0, 1, 3, 4, 2)
    padded[:, 20:] = 0
    want = padded.reshape(40, 2, 16, 10, 30).transpose(0, 3, 4, 1, 2)
    with InPlace(cx, "NC1HWC0", "{N, H, W, C//16, C%16}", x.shape, "f16") as plan:
        assert plan.run(raw(source)).tobytes() == want.tobytes() and "blocks" in plan.way


def test_swizzle(cx):
    """Blocks of 8 rows and 64 columns, in which the chunks of 8 of a row are exchanged: CUTLASS's 128-byte swizzle."""
    m, k = 256, 2048
    x = numbers((m, k), "f16")
    row, col = np.meshgrid(np.arange(m), np.arange(k), indexing="ij")
    at = ((row // 8 * (k // 64) + col // 64) * 8 + row % 8) * 64 + ((col // 8 % 8) ^ (row % 8)) * 8 + col % 8
    want = np.empty(m * k, "f2")
    want[at] = x
    with InPlace(cx, "ROW_MAJOR", "(M, K){M//8, K//64, M%8, (K//8%8) ~ (M%8), K%8}", (m, k), "f16") as plan:
        assert plan.run(raw(x)).tobytes() == want.tobytes()


def test_half_bytes(cx):
    x = np.random.default_rng(SEED).integers(0, 16, (1200, 1000), "u1")
    with InPlace(cx, "(A, B){A, B}", "(A, B){B, A}", x.shape, "u4") as plan:
        assert plan.run(ravel.pack(x.reshape(-1), 4)).tobytes() == ravel.pack(x.T.reshape(-1), 4).tobytes()


@pytest.mark.parametrize("after", [0, 1])
def test_bits_after_the_last_element_stay(cx, after):
    x = np.random.default_rng(SEED).integers(0, 2, (99, 101), "u1")
    with InPlace(cx, "(A, B){A, B}", "(A, B){B, A}", x.shape, "u1") as plan:
        packed, want = (np.packbits(np.append(v.reshape(-1), after), bitorder="little") for v in (x, x.T))
        assert plan.run(packed).tobytes() == want.tobytes()


def test_nothing_moves(cx):
    x = numbers((1000, 600), "f32")
    with InPlace(cx, "ROW_MAJOR", "{M, K}", x.shape, "f32") as plan:
        assert plan.way == "in place: nothing moves" and plan.run(raw(x)).tobytes() == x.tobytes()


def test_interpreted(monkeypatch):
    monkeypatch.setenv("RAVEL_CODE", "interpreter")
    with ravel.Context() as c:
        is_transposed(c, (30, 50, 400), "u8", (2, 0, 1))


@pytest.mark.parametrize("src, dst, shape, dtype", [("(A,B){A, B}", "(A,B){B, A}", (90, 70), "u8"), ("(A,B){A, B}", "(A,B){B, A}", (641, 900), "u8"),
                                                    ("NCHW", "NHWC", (3, 32, 70, 90), "u8"), ("(A,B){A, B}", "(A,B){B, A}", (727, 733), "u8")], ids=str)
def test_the_proof(cx, src, dst, shape, dtype):
    with InPlace(cx, src, dst, shape, dtype) as plan:
        assert plan.certificate()["elements"] == np.prod(shape)


REFUSED = [("NCHW", "NC1HWC0", (2, 20, 50, 70), "have 280000 and 448000 bytes"),
           ("{M, K}", "(M,K){K, M}[:, ::-1]", (3000, 700), "the same digits in two orders .*, but these are not such"),
           ("{M, K//32, K%32}", "(M,K){K//32, M, K%32}", (3000, 700), "fill the storage, .*, but these leave padding"),
           ("{M, K, pitch = {M = 64}}", "{M, K, pitch = {M = 64}}", (10, 20), "a destination without holes, but"),
           ("NCHW", "NHWC", (-1, 3, 5, 7), "all extents to be numbers, because"),
           ("{M, K}(9,5)[idx]", "{K, M}", (9, 5), "layouts without index arrays, but")]


@pytest.mark.parametrize("src, dst, shape, why", REFUSED, ids=[w for *_, w in REFUSED])
def test_refused(cx, src, dst, shape, why):
    with pytest.raises(ravel.Error, match="cannot be converted in place, which needs .*" + why):
        InPlace(cx, src, dst, shape, "f16")


def test_one_buffer_and_two(cx):
    """A plan in place has one buffer, any other has two that do not overlap; both are kept in the cache beside each other."""
    x = np.arange(24, dtype="u1")
    other = np.zeros(24, "u1")
    args = ("(A,B){A, B}", "(A,B){B, A}", (4, 6), "u8")
    with InPlace(cx, *args) as one, ravel.Plan(cx, *args) as two:
        run = ravel.lib.ravel_run
        assert ravel.STATUS[run(one.p, other.ctypes.data, x.ctypes.data)] == "ARGUMENT" and not other.any()
        assert ravel.STATUS[run(one.p, x.ctypes.data + 1, x.ctypes.data)] == "ARGUMENT"
        assert ravel.STATUS[run(two.p, x.ctypes.data, x.ctypes.data)] == "ARGUMENT" and x.tolist() == list(range(24))
        assert run(two.p, other.ctypes.data, x.ctypes.data) == 0 and run(one.p, x.ctypes.data, x.ctypes.data) == 0
        assert x.tolist() == other.tolist() == np.arange(24).reshape(4, 6).T.reshape(-1).tolist()


EMITTED = [((1009, 1013), "u8", "ravel_matrix("), ((1000, 1200), "c128", "ravel_cycles(")]


@pytest.mark.parametrize("compiler", ["gcc -O0", "clang -O0", "g++ -xc++ -std=c++17 -O0"])
def test_emitted(here, compiler):
    """The text is proven as the compilers translate it, without a warning."""
    if not shutil.which(compiler.split()[0]):
        pytest.skip("no " + compiler.split()[0])
    for shape, dtype, _ in EMITTED[:2 if compiler == "gcc -O0" else 1]:
        says = good("emit", "--in-place", "--from", "(M,K){M, K}", "--to", "(M,K){K, M}", "--shape", "%d,%d" % shape, "--dtype", dtype, "-o", "t.c",
                    "--name", "turn", "--check", compiler + " -Wall -Wextra -Wconversion -Werror")
        assert says.startswith("yes: ")


def test_emitted_runs(here):
    """As a user calls it: one buffer, and as much scratch memory as the file says."""
    for shape, dtype, has in EMITTED:
        good("emit", "--in-place", "--from", "(M,K){M, K}", "--to", "(M,K){K, M}", "--shape", "%d,%d" % shape, "--dtype", dtype, "-o", "t.c", "--name", "turn")
        text = open("t.c").read()
        assert has in text
        so = "./t%d.so" % shape[0]
        subprocess.run(["gcc", "-O0", "-shared", "-fPIC", "-o", so, "t.c"], check=True)
        x, room = numbers(shape, dtype), int(re.search(r"turn_room = (\d+)", text)[1])
        b, scratch = ravel.Guarded(x.nbytes), np.full(room // 8 + 9, 77, "u8")
        b.body[:] = raw(x)
        ct.CDLL(so).turn(ct.c_void_p(b.body.ctypes.data), ct.c_void_p(scratch.ctypes.data))
        assert b.body.tobytes() == x.T.tobytes() and b.intact() and (scratch[-8:] == 77).all()


def test_not_emitted(here):
    args = ("emit", "--in-place", "--from", "NCHW", "--to", "NHWC", "--shape", "2,3,4,5", "--dtype", "f32", "-o", "t.c")
    bad("--in-place needs --target c", *args, "--target", "cuda")
    bad("no --header", *args, "--header", "t.h")
    bad("--in-place is for layouts", "emit", "--in-place", "--from", "COO", "--to", "CSR", "--shape", "3,4", "--dtype", "f32", "-o", "t.c")
    bad("--in-place is for layouts", "convert", "x.mtx", "y.npz", "--in-place", "--from", "COO", "--to", "CSR")
    bad("--in-place is of one conversion", "emit", "--in-place", "--list", "x.txt", "-o", "t.c")


def test_command(here):
    x = numbers((4, 50, 60, 70), "f16")
    np.save("x.npy", x)
    args = ("x.npy", "y.npy", "--from", "NCHW", "--to", "NHWC", "--in-place")
    assert "verified" in good("convert", *args, "--verify")
    assert np.load("y.npy").tobytes() == x.transpose(0, 2, 3, 1).tobytes()
    bad("--mem: a conversion in place", "convert", *args, "--mem", "1M")
    assert "code: in place: " in good("explain", "--from", "NCHW", "--to", "NHWC", "--shape", "4,50,60,70", "--dtype", "f16", "--in-place")
    bad("cannot be converted in place", "convert", "x.npy", "z.npy", "--from", "NCHW", "--to", "NC1HWC0", "--in-place")
    assert not os.path.exists("z.npy")
