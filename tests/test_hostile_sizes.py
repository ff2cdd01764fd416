"""Sizes, ranks, extents and names at and beyond what fits."""

import ctypes as ct
import os
import re
import subprocess

import numpy as np
import pytest

import ravel
from hostile import bad, COMPILERS, good, here, run, snapshot, SPEC          # noqa: F401: fixtures too

HUGE = [("{M,K}", "4294967296,4294967296", "f64"), ("{M,K}", "9223372036854775807,2", "u8"), ("{M,K}", "4611686018427387904,2", "u1"),
        ("{M,K}", "1152921504606846976,8", "f64"), ("{M}", "9223372036854775807", "u1"), ("{M}", "9223372036854775807", "c128"),
        ("{M//P, M%P, P = 1 << 62}", "7", "u8"), ("{M//P, M%P, P = 1 << 61}", "7", "f64"), ("{M//P, M%P, P = math.maxinteger}", "7", "u8"),
        ("{M//P, M%P, P = Q*Q, Q = 1 << 40}", "7", "u8"), ("{M, K, pad = {M = 1 << 62}}", "7,7", "u8"),
        ("{M, K, pad = {M = 1 << 31, K = 1 << 32}}", "7,7", "u8"), ("{M, K, pitch = {M = 1 << 62}}", "7,7", "u8"),
        ("{M, K, pitch = {M = math.maxinteger}}", "7,7", "u8"), ("{M, K, pitch = {M = (1 << 60) + 8}}", "9,7", "f64"),
        ("{M*(1 << 62), K}", "7,7", "u8"), ("{M*math.maxinteger, K}", "2,7", "u8"), ("{M + math.maxinteger, K}", "2,7", "u8"),
        ("{M << 61, K}", "9,7", "u8"), ("{M, K, swizzle = function(a) return a * (1 << 60) end}", "7,7", "u8"),
        ("NC1HWC0{C0 = 4611686018427387904}", "7,7,7,7", "u8"), ("NC1HWC0{C0 = 1 << 62}", "7,7,7,7", "f64"),
        ("{%s}" % ",".join("A%d" % i for i in range(16)), ",".join(["65536"] * 16), "u8")]


@pytest.mark.parametrize("layout, shape, dtype", HUGE, ids=lambda x: x if len(x) < 50 else "sixteen")
def test_what_does_not_fit_64_bits(cx, layout, shape, dtype):
    of = ["--shape", shape, "--dtype", dtype]
    for args in (["check", layout], ["show", layout], ["index", layout, "--at", "0"], ["table", layout, "-o", "t.npy"],
                 ["emit", "--kind", "offset", "--to", layout, "-o", "f.c"], ["emit", "--from", "ROW_MAJOR", "--to", layout, "-o", "f.c"],
                 ["explain", "--from", layout, "--to", layout]):
        r = run(*args, *of)
        assert (r.returncode, r.stdout, snapshot()) == (2, b"", {}) or r.returncode == 1 and args[0] == "check", r
        assert r.returncode == 1 or re.search(b"64 bits|outside the .* of storage|does not fit|has no value", r.stderr), r
    with pytest.raises(ravel.Error):
        cx.bytes(layout, [int(n) for n in shape.split(",")], dtype)


@pytest.mark.parametrize("dtype, bits", [("u1", 1), ("u4", 4), ("u8", 8), ("f32", 32), ("c128", 128)])
def test_the_largest_that_fits(dtype, bits):
    """Up to some power of two everything holds at the far end, and beyond it everything is refused: nothing lies between."""
    answers = []
    for k in range(48, 64):
        n = min(1 << k, (1 << 63) - 1)
        r = run("index", "{M}", "--shape", str(n), "--dtype", dtype, "--at", str(n - 1))
        answers.append(r.returncode == 0)
        assert r.stdout == b"%d\n" % (n - 1) if r.returncode == 0 else b"64 bits" in r.stderr, r
        if r.returncode == 0:
            assert good("index", "{M}", "--shape", str(n), "--dtype", dtype, "--at", str(n - 1), "--inverse") == b"%d\n" % (n - 1)
            assert b" %d bytes" % (n * bits // 8) in good("check", "{M}", "--shape", str(n), "--dtype", dtype)
    assert answers == sorted(answers, reverse=True) and answers[0] and not answers[-1]


S = 1 << 17
FAR = [("(M,K){K, M}", (S, S), lambda m, k: k*S + m),
       ("(M,K){M//48, K, M%48}", (S, S), lambda m, k: (m//48*S + k)*48 + m % 48),
       ("(M,K){K, M, swizzle = xor(3, 4, 3)}", (S, S), lambda m, k: (k*S + m) ^ ((k*S + m) >> 3 & 0x70)),
       ("(M,K){K//8, M//8, M%8, K%8}", (S, 3*S), lambda m, k: ((k//8*(S//8) + m//8)*8 + m % 8)*8 + k % 8),
       ("(M,K){M, K, pitch = {M = 1 << 33}}", (5, 8), lambda m, k: (m << 33) + k)]
CALL = """
#include "offset.c"
#include "inverse.c"
int64_t offset(const int64_t *x);
int64_t offset(const int64_t *x) { return off(x[0], x[1]); }
int inverse(int64_t a, int64_t *x);
int inverse(int64_t a, int64_t *x) { return inv(a, x); }
"""


@pytest.mark.parametrize("layout, shape, address", FAR, ids=lambda x: x if isinstance(x, str) else "")
def test_index_functions_beyond_32_bits(layout, shape, address):
    """Of 2^33 elements and more, as emitted and as the command has it, at both ends and between."""
    of = ["--to", layout, "--shape", "%d,%d" % shape, "--dtype", "u8"]
    for kind in ("offset", "inverse"):
        good("emit", "--kind", kind, *of, "--name", kind[:3], "-o", kind + ".c")
    open("f.c", "w").write(CALL)
    rng = np.random.default_rng(5)
    points = [(0, 0), (shape[0] - 1, shape[1] - 1), (shape[0] - 1, 0), (0, shape[1] - 1)] + [tuple(int(rng.integers(n)) for n in shape) for _ in range(300)]
    assert max(address(*x) for x in points) > 1 << 32
    for compiler in COMPILERS.values():
        subprocess.run(compiler.split() + "-shared -fPIC -o f.so f.c".split(), check=True)
        so = ct.CDLL(os.path.abspath("f.so"))
        so.offset.restype = ct.c_int64
        so.inverse.argtypes = [ct.c_int64, ct.c_void_p]
        x, back = np.zeros(2, np.int64), np.zeros(2, np.int64)
        for p in points:
            x[:] = p
            a = so.offset(x.ctypes.data_as(ct.c_void_p))
            assert a == address(*p) and so.inverse(a, back.ctypes.data) and tuple(back) == p, (compiler, p)
        os.remove("f.so")
    for p in points[:8]:
        a = b"%d" % address(*p)
        at = ["--shape", "%d,%d" % shape, "--dtype", "u8", "--at"]
        assert good("index", layout, *at, "%d,%d" % p) == a + b"\n"
        assert good("index", layout, *at, a, "--inverse") == b"%d,%d\n" % p


# Few elements, far apart: the kernels' own 64-bit arithmetic, for the price of the pages that are touched.
SPARSE = [("(M,K){M, K, pitch = {M = 1 << 33}}", "u8"), ("(M,K){K, M, pitch = {K = 1 << 33}}", "u8"), ("(M,K){K, M, pitch = {K = 1 << 33}}", "u4"),
          ("(M,K){M, K, pitch = {M = 1 << 33}}", "u1"), ("(M,K){M//2, K, M%2, pitch = {[1] = 1 << 33}}", "f64"),
          ("(M,K){K//3, M, K%3, pitch = {[1] = 1 << 34}, fill = 1}", "f32")]


@pytest.mark.parametrize("layout, dtype", SPARSE)
def test_kernels_beyond_32_bits(cx, layout, dtype):
    import mmap
    shape = (5, 8)
    with cx.plan("ROW_MAJOR", layout, shape, dtype) as there, cx.plan(layout, "ROW_MAJOR", shape, dtype) as back:
        assert there.dst_bytes > 1 << 33
        far = mmap.mmap(-1, there.dst_bytes, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000)       # MAP_NORESERVE
        bits = {"u1": 1, "u4": 4, "f32": 32}.get(dtype, 64 if dtype == "f64" else 8)
        raw = np.random.default_rng(3).integers(0, 256, there.src_bytes, np.uint8)
        out = np.zeros(there.src_bytes, np.uint8)
        view = np.frombuffer(far, np.uint8)
        p = view.ctypes.data
        assert ravel.lib.ravel_run(there.p, p, raw.ctypes.data) == 0
        elements = ravel.unpack(raw, bits)
        table = cx.table(layout, shape, dtype).reshape(-1)
        assert table.max() * bits // 8 > 1 << 33
        for e, a in zip(elements, table.tolist()):
            byte = view[a*bits//8:(a*bits + bits + 7)//8]
            assert (byte[0] >> a*bits % 8 & ((1 << bits) - 1) if bits < 8 else byte.copy().view(elements.dtype)[0]) == e
        assert ravel.lib.ravel_run(back.p, out.ctypes.data, p) == 0 and np.array_equal(out, raw)
        del view, byte


# --- ranks and extents

def test_ranks(cx):
    dims = ["A%d" % i for i in range(65)]
    for n, says in ((16, None), (17, "16"), (65, "16")):
        layout, shape = "(%s){%s}" % ((",".join(dims[:n]),) * 2), ",".join(["2"] * min(n, 16) + ["1"] * (n - 16))
        for name in (layout, "ROW_MAJOR"):
            args = [["check", name], ["show", name], ["index", name, "--at", ",".join("0" * n)], ["table", name, "-o", "t.npy"],
                    ["emit", "--from", name, "--to", name, "-o", "f.c"], ["explain", "--from", name, "--to", name]]
            for a in args:
                a += ["--shape", shape, "--dtype", "u8"]
                if says:
                    bad(*a, says=says)
                else:
                    good(*a)
            if not says:
                os.remove("t.npy"), os.remove("f.c")
    for n in (17, 65):
        bad("check", "(%s){%s}" % ((",".join(dims[:n]),) * 2), says="more than 1")


@pytest.mark.parametrize("rank", [-1, 17, 65, 2**31 - 1, -2**31])
def test_ranks_of_the_api(cx, rank):
    shape = (ct.c_int64 * 65)(*[1] * 65)
    err, p, n = ravel.Err(), ct.c_void_p(1), ct.c_int64(-7)
    rq = ravel.Request(b"ROW_MAJOR", b"COL_MAJOR", b"f32", rank, shape)
    says = b"a rank of %d: 0 to 16" % rank
    assert ravel.lib.ravel_compile(cx.p, ct.byref(rq), ct.byref(p), ct.byref(err)) == 1 and not p.value and err.text == says
    assert ravel.lib.ravel_storage_bytes(cx.p, b"ROW_MAJOR", b"f32", rank, shape, ct.byref(n), ct.byref(err)) == 1 and n.value == -7
    assert ravel.lib.ravel_table(cx.p, b"ROW_MAJOR", b"f32", rank, shape, ct.byref(n), ct.byref(err)) == 1 and n.value == -7


@pytest.mark.parametrize("extent", ["0", "-1", "-9223372036854775808"])
def test_extents_below_one_are_refused_everywhere(cx, extent):
    """No layout of nothing: a sentence that says so, from every command, from convert of raw data, and from the library."""
    zero = extent == "0"
    says = "extents are 1 or more"
    for shape in (extent + ",3", "3," + extent):
        at = ["--shape", shape, "--dtype", "f32"]
        for args in (["check", "{M,K}"], ["show", "{M,K}"], ["index", "{M,K}", "--at", "0,0"], ["table", "{M,K}", "-o", "t.npy"],
                     ["emit", "--from", "(M,K){M,K}", "--to", "(M,K){K,M}", "-o", "f.c"], ["emit", "--kind", "inverse", "--to", "{M,K}", "-o", "f.c"],
                     ["explain", "--from", "(M,K){M,K}", "--to", "(M,K){K,M}"]):
            bad(*args, *at, says=says)
        numbers = [int(n) for n in shape.split(",")]
        asks = [lambda: cx.bytes("{M,K}", numbers, 32)]
        if extent != "-1":                           # RAVEL_RUNTIME: any extent, in a plan
            asks.append(lambda: cx.plan("(M,K){M,K}", "(M,K){K,M}", numbers, 32))
        for ask in asks:
            with pytest.raises(ravel.Error, match="extents are 1 or more"):
                ask()
    if zero:
        open("e.bin", "wb")
        for shape in ((0, 3), (3, 0), (0,), (2, 0, 3)):
            text = ",".join(map(str, shape))
            bad("convert", "e.bin", "o.bin", "--from", "ROW_MAJOR", "--to", "COL_MAJOR", "--shape", text, "--dtype", "f32", says=says)


# --- names

def test_names_with_every_byte(cx):
    """Of dims, layouts and parameters: a word or nothing; one that ends in a zero byte is none."""
    word = re.compile(rb"[A-Za-z0-9_]")
    for c in range(256):
        name, ok = b'"Q' + b"\\x%02x" % c + b'"', bool(word.match(bytes([c])))
        for spec in (b"layout(%s) { dims = { M }, order = { M } }" % name, b"local d = _ENV[%s] layout 'A' { dims = { d }, order = { d } }" % name,
                     b"layout 'A' { dims = { M }, order = { M // _ENV[%s], M %% 2 }, [%s] = 2 }" % (name, name),
                     b"layout 'A' { dims = { M }, order = { M }, pad = { [%s] = 2 } }" % name.replace(b"Q", b"M" if c else b"Q")):
            err = ravel.Err()
            status = ravel.lib.ravel_load(cx.p, spec, len(spec), b"t.lua", ct.byref(err))
            assert (status == 0) == (ok and b"pad" not in spec), (c, spec, err.text)
            assert status == 0 or len(err.text) > 15


def test_a_dim_with_a_zero_byte_is_no_dim(cx):
    with pytest.raises(ravel.Error):
        cx.load("layout 'A' { dims = { M }, order = { M }, pad = { ['M\\0x'] = 2 } }")


LONG = "N" * 65536


@pytest.mark.parametrize("args", [["check", LONG], ["check", "{%s}" % LONG], ["check", "(%s){N}" % LONG], ["check", "NCHW{%s=3}" % LONG], [LONG],
                                  ["check", "NCHW", LONG], ["check", "NCHW", "--" + LONG], ["check", "NCHW", "--dtype", LONG],
                                  ["check", "NCHW", "--shape", LONG], ["check", "NCHW", "--shape", "1," * 40000 + "1"],
                                  ["check", "NCHW", "--shape", "1" * 65536], ["list", "--spec", LONG], ["check", LONG + ".lua:A"],
                                  ["check", "t.lua:" + LONG], ["index", "NCHW", "--shape", "1,1,1,1", "--at", "0" * 65536],
                                  ["table", "{M}", "--shape", "3", "-o", LONG], ["show", "{M}", "--shape", "3", "--svg", LONG],
                                  ["emit", "--from", "{M}", "--to", "{M}", "--shape", "3", "--dtype", "f32", "-o", "-", "--name", LONG],
                                  ["convert", LONG, "o.npy", "--from", "{M}", "--to", "{M}"], ["convert", "x.npy", LONG, "--from", "{M}", "--to", "{M}"],
                                  ["convert", LONG + ".npy", "o.npy", "--from", "{M}", "--to", "{M}"]],
                         ids=lambda a: " ".join(x[:12] for x in a))
def test_names_of_64_kilobytes(args):
    """The message keeps room for what is wrong."""
    open("t.lua", "w").write(SPEC)
    np.save("x.npy", np.zeros(3, "f4"))
    text = bad(*args)
    if LONG not in text:
        assert len(text) < 2000
        assert re.search("unknown|at most|is not|has no|has more|whole numbers|too long|cannot name|no command|number|one argument too many", text), text
