"""Index arrays of dims whose digits are in another order, cut, shifted or reversed: the kernel `placed`, against NumPy on addresses by formulas."""
import mmap
import os
import subprocess

import numpy as np
import pytest

import ravel
from test_arrays import data, run

TYPES = {1: "u8", 2: "u16", 4: "u32", 8: "f64", 16: "c128"}
UINTS = {1: "u1", 2: "u2", 4: "u4", 8: "u8", 16: "c16"}
GUARD = 256
# A layout of one dim, its extent, and the addresses of coordinates.
DIGITS = [
    ("{A//8%8, A//64, A%8}", 4096, lambda a: a // 8 % 8 * 512 + a // 64 * 8 + a % 8),
    ("{A//6%5, A//30, A%6}", 30 * 37, lambda a: a // 6 % 5 * 222 + a // 30 * 6 + a % 6),
    ("{A%7, A//7%11, A//77}", 77 * 13, lambda a: a % 7 * 143 + a // 7 % 11 * 13 + a // 77),
    ("{A//4%16, (A + 3)%4, A//64}", 64 * 9, lambda a: a // 4 % 16 * 36 + (a + 3) % 4 * 9 + a // 64),
    ("{A//1024, A%32, A//32%32}", 4096, lambda a: a // 1024 * 1024 + a % 32 * 32 + a // 32 % 32),
]
LENGTHS = [1, 3, 255, 256, 257, 1030]


@pytest.fixture(params=["sse2", "avx2", "avx512", "avx512vbmi", "avx512gather"])
def cx(request, monkeypatch):
    """Those of the library; the command has the others (test_proof_of_all_sets)."""
    monkeypatch.setenv("RAVEL_ISA", request.param)
    monkeypatch.setenv("RAVEL_CODE", "jit" if request.param in ("avx2", "avx512vbmi", "avx512gather") else "interpreter")
    try:
        with ravel.Context() as c:
            yield c
    except ravel.Error as e:
        assert "RAVEL_ISA" in str(e)
        pytest.skip(str(e))


def guarded(n, dtype, seed=7):
    """An array of n elements within bytes that must remain as they are."""
    all_of = data((n * np.dtype(dtype).itemsize + 2 * GUARD,), "u1", seed)
    inner = all_of[GUARD:-GUARD].view(dtype)
    return inner, lambda was=all_of.copy(): np.array_equal(all_of[:GUARD], was[:GUARD]) and np.array_equal(all_of[-GUARD:], was[-GUARD:])


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("text,extent,at", DIGITS, ids=[d[0] for d in DIGITS])
def test_digits_of_numbers(cx, text, extent, at, bits):
    """Gathered and scattered, by elements of all sizes; some are not moved."""
    rng = np.random.default_rng(extent + bits)
    for size, n in zip(list(TYPES) * 2, LENGTHS + LENGTHS):
        t, u = TYPES[size], UINTS[size]
        n = min(n, extent)
        idx = rng.permutation(extent)[:n].astype("i%d" % (bits // 8))
        name = "i32 idx" if bits == 32 else "idx"
        x = data((extent,), u)
        y, intact = guarded(n, u)
        with cx.plan("%s(%d)[%s]" % (text, extent, name), "{A}", (n,), t) as p:
            run(p, y, x, [idx])
            assert y.tobytes() == x[at(idx.astype("i8"))].tobytes() and intact()
        z, intact = guarded(extent, u)
        want = z.copy()
        keep = rng.integers(0, 3, n) > 0
        want[at(idx[keep].astype("i8"))] = x[:n][keep]
        with cx.plan("{A}", "%s(%d)[skip %s]" % (text, extent, name), (n,), t) as p:
            run(p, z, x[:n].copy(), [np.where(keep, idx, -1).astype(idx.dtype)])
            assert z.tobytes() == want.tobytes() and intact()


@pytest.mark.parametrize("text,extent,at", DIGITS[:3], ids=[d[0] for d in DIGITS[:3]])
def test_digits_of_rows(cx, text, extent, at):
    """The layout without an index has the digits, or its numbers are read backwards; the number of rows may be left to run time."""
    rng = np.random.default_rng(extent)
    for size, step in [(1, ""), (4, "[::-1]"), (8, ""), (16, "[::-1]"), (2, "")]:
        n, x = extent, data((5000,), UINTS[size])
        idx = rng.integers(0, 5000, n)
        read = idx[::-1] if step else idx
        want = np.zeros(n, UINTS[size])
        want[at(np.arange(n))] = x[read]
        for shape in [(n,)] + [(-1,)] * (not step):
            y, intact = guarded(n, UINTS[size])
            with cx.plan("{A}(5000)[idx]%s" % step, text, shape, TYPES[size]) as p:
                run(p, y, x, [idx], (n,) if -1 in shape else None)
                assert y.tobytes() == want.tobytes() and intact()


@pytest.mark.parametrize("extent", [(1 << 20) - 1, 1 << 20, (1 << 20) + 1, (1 << 21) + 5])
@pytest.mark.parametrize("low,mid", [(3, 7), (641, 1000), (5, 104857), (1 << 10, 3)])
def test_all_numbers(low, mid, extent):
    """Quotients of every number: small ones are divided by floats."""
    a = np.arange(extent)
    with ravel.Context() as cx, cx.plan("{A//%d%%%d, A//%d, A%%%d}(%d)[idx]" % (low, mid, low * mid, low, extent), "{A}", (extent,), "u32") as p:
        top = -(-extent // (low * mid))
        x, y = np.arange(mid * top * low, dtype="u4"), np.zeros(extent, "u4")
        run(p, y, x, [a])
        assert np.array_equal(y, (a // low % mid * top + a // (low * mid)) * low + a % low)


@pytest.mark.parametrize("width", [1, 3, 5, 8, 13, 24, 33, 100])
def test_runs_and_planes(cx, width):
    """Runs of whole rows, and planes beside the rows on either side."""
    rng = np.random.default_rng(width)
    x, idx = data((8, 16, 8, width), "u1"), rng.integers(0, 1024, 300)
    a = idx // 8 % 8, idx // 64, idx % 8
    with cx.plan("(A,B){A//8%%8, A//64, A%%8, B}(1024,%d)[idx]" % width, "{A,B}", (300, width), "u8") as p:
        y, intact = guarded(300 * width, "u1")
        run(p, y, x, [idx])
        assert np.array_equal(y.reshape(300, width), x[a]) and intact()
    with cx.plan("(A,B){A//8%%8, A//64, A%%8, B}(1024,%d)[idx]" % width, "{B,A}", (300, width), "u8") as p:
        y, intact = guarded(300 * width, "u1")
        run(p, y, x, [idx])
        assert np.array_equal(y.reshape(width, 300), x[a].T) and intact()
    z = np.ascontiguousarray(x.transpose(3, 0, 1, 2))
    with cx.plan("(A,B){B, A//8%%8, A//64, A%%8}(1024,%d)[idx]" % width, "{A,B}", (300, width), "u8") as p:
        y, intact = guarded(300 * width, "u1")
        run(p, y, z, [idx])
        assert np.array_equal(y.reshape(300, width), x[a]) and intact()


def test_two_arrays(cx):
    """Both coordinates are numbers of an array, each with digits; one of 32 and one of 64 bits."""
    rng = np.random.default_rng(2)
    i, j, x = rng.integers(0, 80, 700), rng.integers(0, 72, 700).astype("i4"), data((20, 18, 4, 4), "u4")
    with cx.plan("(M,K){M//4, K//4, M%4, K%4}(80,72)[i, i32 j]", "{A//16, A%16, fill = 0}", (700,), "u32") as p:
        y = np.zeros(704, "u4")
        run(p, y, x, [i, j])
        assert np.array_equal(y[:700], x[i // 4, j // 4, i % 4, j % 4]) and not y[700:].any()


def test_arrays_of_two_dims(cx):
    """Each dim has the numbers of an array of its own: the loops of both are alike.  The plan has the outer index first."""
    rng = np.random.default_rng(7)
    layout = "(A,B){A//8%8, A//64, A%8, B//4%4, B//16, B%4}(512,64)[idx][:, jdx]"
    idx, jdx, x = rng.permutation(512)[:300], rng.permutation(64)[:50], data((8, 8, 8, 4, 4, 4), "u4")
    a, b = idx[:, None], jdx[None]
    at = a // 8 % 8, a // 64, a % 8, b // 4 % 4, b // 16, b % 4
    for to, want in [("(A,B){A,B}", x[at]), ("(A,B){B,A}", x[at].T)]:
        y, intact = guarded(want.size, "u4")
        with cx.plan(layout, to, (300, 50), "u32") as p:
            run(p, y, x, [jdx, idx])
            assert np.array_equal(y.reshape(want.shape), want) and intact()
    for source in ("(A,B){A,B}", "(A,B){B,A}"):
        v, z = data((300, 50), "u4", seed=3), x.copy()
        want = x.copy()
        want[at] = v
        with cx.plan(source, layout, (300, 50), "u32") as p:
            run(p, z, np.ascontiguousarray(v if source.endswith("{A,B}") else v.T), [jdx, idx])
            assert np.array_equal(z, want)


def test_channels_of_blocks(cx):
    rng = np.random.default_rng(3)
    x, idx = data((2, 3, 9, 7, 16), "u2"), rng.integers(0, 40, 35)
    want = x.transpose(0, 1, 4, 2, 3).reshape(2, 48, 9, 7)[:, idx]
    for to, order in [("NCHW", (0, 1, 2, 3)), ("NHWC", (0, 2, 3, 1))]:
        with cx.plan("NC1HWC0(2,40,9,7)[:, idx]", to, (2, 35, 9, 7), "f16") as p:
            y, intact = guarded(want.size, "u2")
            run(p, y, x, [idx])
            assert np.array_equal(y.reshape(np.transpose(want, order).shape), np.transpose(want, order)) and intact()


@pytest.mark.parametrize("bad", [-1, 4096, -2**40, 2**40])
def test_bad_numbers_are_refused_before_anything_is_written(cx, bad):
    idx = np.arange(1000) * 4
    idx[999] = bad
    x, y = data((4096,), "u4"), data((1000,), "u4", seed=5)
    was = y.copy()
    with cx.plan("{A//8%8, A//64, A%8}(4096)[idx]", "{A}", (1000,), "u32") as p:
        with pytest.raises(ravel.Error, match="number 999 of the index array 'idx' is %d" % bad):
            run(p, y, x, [idx])
    assert np.array_equal(y, was)


def test_places_above_2_gb(cx):
    """Address space that nothing has written takes no memory."""
    extent = 8 * 8 * ((1 << 25) - 1)
    room = mmap.mmap(-1, 2 * extent, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0x4000))
    x = np.frombuffer(room, "u2")
    idx = np.concatenate([[0, extent - 1, extent - 9, extent // 2], np.random.default_rng(1).integers(0, extent, 60)])
    at = idx // 8 % 8 * (extent // 8) + idx // 64 * 8 + idx % 8
    x[at] = np.arange(len(idx)) + 1
    y, intact = guarded(len(idx), "u2")
    text = "{A//8%%8, A//64, A%%8}(%d)[idx]" % extent
    assert "  placed " in command("explain", "--from", text, "--to", "{A}", "--shape", str(len(idx)), "--dtype", "u16").split("kernels\n")[1]
    with cx.plan(text, "{A}", (len(idx),), "u16") as p:
        run(p, y, x, [idx])
    assert np.array_equal(y, x[at]) and intact()


def test_small_numbers_of_places_above_2_gb(cx):
    """Quotients by floats, of places that need 64 bits."""
    extent, width = 6 * 5 * 1000, 1 << 17
    room = mmap.mmap(-1, extent * width, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0x4000))
    x = np.frombuffer(room, "u1").reshape(extent, width)
    idx = np.concatenate([[0, extent - 1, extent - 7, extent // 2], np.random.default_rng(1).integers(0, extent, 60)])
    at = idx // 6 % 5 * (extent // 5) + idx // 30 * 6 + idx % 6
    x[at, 5] = np.arange(len(idx)) + 1
    y, intact = guarded(len(idx), "u1")
    with cx.plan("(A,B){A//6%%5, A//30, A%%6, B}(%d,%d)[idx, 5:6]" % (extent, width), "{A,B}", (len(idx), 1), "u8") as p:
        run(p, y, x, [idx])
    assert np.array_equal(y, x[at, 5]) and intact()


PLANS = [
    ("{A//8%8, A//64, A%8}(4096)[idx]", "{A}", "A", "u8"),
    ("{A//6%5, A//30, A%6}(1110)[skip i32 idx]", "{A//3%7, A//21, A%3}(2100)[skip jdx]", "1500", "u32"),
    ("{A}(500)[idx][::-1]", "{A//5%7, A//35, A%5}", "700", "f64"),
    ("(M,K){M//4, K//4, M%4, K%4}(80,72)[i, i32 j]", "(A){A//16, A%16}", "A", "c128"),
    ("NC1HWC0(2,40,9,7)[:, idx]", "NHWC", "2,C,9,7", "f16"),
    ("(A,B){A//4%4, B//3, A//16, A%4, B%3}(64,40)[:, along idx]", "{B,A}", "64,37", "u16")]


def command(*words, **env):
    r = subprocess.run([str(ravel.BUILD / "ravel"), *words], capture_output=True, text=True, env={**os.environ, **env})
    assert r.returncode == 0, r.stdout + r.stderr
    return r.stdout


def proven_by_all_sets(kernel, source, dest, shape, dtype):
    words = ["--from", source, "--to", dest, "--shape", shape, "--dtype", dtype]
    assert "  %s " % kernel in command("explain", *words).split("kernels\n")[1]
    for isa in ["scalar", "portable"]:
        for code in ["jit", "interpreter"]:
            assert command("verify", *words, RAVEL_ISA=isa, RAVEL_CODE=code).startswith("yes")


def proven_as_a_file(source, dest, shape, dtype):
    """The plan, compiled from what is emitted."""
    said = command("emit", "--from", source, "--to", dest, "--shape", shape, "--dtype", dtype, "-o", "/dev/null",
                   "--check", "gcc -O2 -Wall -Wextra -Wconversion -Werror -fsanitize=undefined -fno-sanitize-recover")
    assert said.startswith("yes") and " 0 runs" not in said


@pytest.mark.parametrize("plan", PLANS)
def test_proof_of_all_sets(plan):
    proven_by_all_sets("placed", *plan)


@pytest.mark.parametrize("plan", PLANS)
def test_emitted_code(plan):
    proven_as_a_file(*plan)


@pytest.mark.parametrize("size", [4, 8])
def test_gathers_that_skip(cx, size):
    """An element whose number is -1 stays as it was in the destination."""
    rng, (text, extent, at) = np.random.default_rng(size), DIGITS[0]
    x, idx = data((extent,), UINTS[size]), rng.integers(0, extent, 300)
    keep = rng.integers(0, 3, 300) > 0
    y, intact = guarded(300, UINTS[size])
    want = np.where(keep, x[at(idx)], y)
    with cx.plan("%s(%d)[skip idx]" % (text, extent), "{A}", (300,), TYPES[size]) as p:
        run(p, y, x, [np.where(keep, idx, -1)])
        assert y.tobytes() == want.tobytes() and intact()
