"""A fill that each run is given, as zero points are: padding has the lowest bits of the number, and nothing else is written."""

import ctypes as ct
import os
import random
import re
import subprocess
import sys

import numpy as np
import pytest

import ravel
from runtime_cases import built
from test_open_strides import names
from views import RAVEL, random_bytes

SEED = int(os.environ.get("SEED", "20"))
BITS = {"i8": 8, "u8": 8, "f16": 16, "f32": 32, "i64": 64, "f64": 64}


def stored(x, block, fill):
    """NCHW in blocks of channels: padding is written by hand."""
    n, c, h, w = x.shape
    full = np.full((n, -(-c // block) * block, h, w), fill, x.dtype)
    full[:, :c] = x
    return full.reshape(n, -1, block, h, w).transpose(0, 1, 3, 4, 2)


@pytest.mark.parametrize("named", [(), (1,), (0, 1, 2, 3)])
@pytest.mark.parametrize("dtype", BITS)
def test_channels(cx, dtype, named):
    """Every way to write padding: after short runs, after long ones, whole blocks of it."""
    bits, rnd = BITS[dtype], random.Random(repr((SEED, dtype, named)))
    for block in (4, 16, 32):
        for fixed in ((2, 3, 5, 7), (1, 20, 3, 40)):
            rq = [-1 if d in named else n for d, n in enumerate(fixed)]
            with cx.plan("NCHW", "{N, C//%d, H, W, C%%%d, fill = zp}" % (block, block), rq, dtype) as p:
                assert names(p) == ["zp"]
                for fill in (0, 1, (1 << (bits - 1)) - 1, -(1 << (bits - 1)), -1, rnd.randrange(1 << (bits - 1))):
                    shape = [rnd.choice((1, 2, 9, 33)) if d in named else n for d, n in enumerate(fixed)]
                    one = ravel.PlanAt(p, [*shape, fill])
                    raw = random_bytes(one.src_bytes, 1).view("u%d" % (bits // 8))
                    want = stored(raw.reshape(shape), block, fill & ((1 << bits) - 1))
                    assert np.array_equal(one.run(raw.view("u1")).view(raw.dtype), want.reshape(-1)), (block, shape, fill)


@pytest.mark.parametrize("dtype, bits", [("u1", 1), ("u2", 2), ("i4", 4), ("u4", 4)])
def test_bits(cx, dtype, bits):
    """Elements of parts of bytes: rows of 16 whose last elements are padding."""
    with cx.plan("{M, K}", "{M, K//16, K%16, fill = zp}", (-1, 24), dtype) as p:
        for m, fill in ((1, 1), (5, -1), (8, 0), (3, (1 << bits) - 1)):
            one = ravel.PlanAt(p, (m, 24, fill))
            raw = random_bytes(one.src_bytes, 1)
            digits = (raw[:, None] >> np.arange(0, 8, bits) & ((1 << bits) - 1)).reshape(-1)[:m * 24].reshape(m, 24)
            want = np.full((m, 32), fill & ((1 << bits) - 1), np.uint8)
            want[:, :24] = digits
            out = one.run(raw)
            assert np.array_equal((out[:, None] >> np.arange(0, 8, bits) & ((1 << bits) - 1)).reshape(-1)[:m * 32], want.reshape(-1))


def test_with_strides(cx):
    """Last of all names; padding lies between the strides as elements do, and the rest is not written."""
    with cx.plan("NCHW", "NC1HWC0{fill=zp}@o(sn,sc,sh,16,1)", (-1, 20, 3, 5), "f16") as p:
        assert names(p) == ["o", "sn", "sc", "sh", "zp"]
        one = ravel.PlanAt(p, (2, 20, 3, 5, 7, 900, 400, 100, 0xfc00))
        raw = random_bytes(one.src_bytes, 1).view("u2")
        want = np.full(one.dst_bytes, ravel.POISON, np.uint8).view("u2")
        want[7 + sum(np.ix_(*(np.arange(n) * s for n, s in zip((2, 2, 3, 5, 16), (900, 400, 100, 16, 1)))))] = stored(raw.reshape(2, 20, 3, 5), 16, 0xfc00)
        assert np.array_equal(one.run(raw.view("u1")).view("u2"), want)


def test_source(cx):
    """Of a source nothing is filled: its name is no argument."""
    with cx.plan("NC1HWC0{fill=zp}", "NCHW", (2, 20, 5, 7), "u8") as p:
        assert names(p) == []


@pytest.mark.parametrize("dtype, fill, why", [("u8", 256, "fill zp is 256: -128 to 255"), ("i8", -129, "fill zp is -129"), ("u4", 16, "-8 to 15"),
                                              ("f16", 1 << 16, "-32768 to 65535"), ("f32", 1 << 32, "to 4294967295")])
def test_wrong_values(cx, dtype, fill, why):
    with cx.plan("{M, K}", "{M, K//16, K%16, fill = zp}", (4, 24), dtype) as p:
        with pytest.raises(ravel.Error, match=why):
            ravel.PlanAt(p, (4, 24, fill))
        room = np.full(4096, ravel.POISON, np.uint8)
        with pytest.raises(ravel.Error, match=why):
            ravel.call(ravel.lib.ravel_run_shape, p.p, room.ctypes.data, np.zeros(4096, np.uint8).ctypes.data, ravel.extents((4, 24, fill)))
        assert (room == ravel.POISON).all()


@pytest.mark.parametrize("src, dst, dtype, why", [
    ("NCHW", "NC1HWC0{fill=zp}", "c64", "'zp' is a name, and c64 is complex"), ("NCHW@(zp,1,1,1)", "NC1HWC0{fill=zp}", "u8", "'zp' is the name of an extent and of a fill"),
    ("NCHW", "NC1HWC0{fill=C0}", "u8", "is a number, a name"), ("NCHW", "NC1HWC0{fill=zp+1}", "u8", "is a number, a name"),
    ("NCHW", "{N, C//4, H, W, C%4, fill = N}", "u8", "unknown name 'N'"), ("NCHW", "NC1HWC0{fill=H}", "u8", "is a number, a name")])
def test_refused(cx, src, dst, dtype, why):
    with pytest.raises(ravel.Error, match=why):
        cx.plan(src, dst, (2, 20, 5, 7), dtype)


def test_declared(cx):
    """In a declaration a name that is no parameter is a mistake."""
    with pytest.raises(ravel.Error, match="unknown name 'zp'"):
        cx.load('layout "Z" { dims = {M, K}, order = {M, K//16, K%16}, fill = zp }')
    cx.load('layout "Z" { dims = {M, K}, order = {M, K//16, K%16}, Z = 3, fill = Z }')
    with cx.plan("{M, K}", "Z{fill=zp}", (4, 24), "u8") as p:
        assert names(p) == ["zp"]


@pytest.mark.parametrize("compiler", ["gcc", "clang", "tcc"])
def test_emitted(tmp_path, compiler):
    """The fill is the last argument; one that is out of range is answered by 1 before anything is written."""
    subprocess.run([RAVEL, "emit", "--from", "NCHW", "--to", "NC1HWC0{fill=zp}", "--shape", "N,C,3,5", "--dtype", "i8", "--name", "kern", "-o", tmp_path / "f.c"], check=True, timeout=60)
    lib = ct.CDLL(str(built(tmp_path / "f.c", compiler)))
    lib.kern.argtypes = [ct.c_void_p, ct.c_void_p] + [ct.c_int64]*3
    raw = random_bytes(2*20*15, 1).view("i1")
    out = np.full(2*32*15, 7, "i1")
    for zp in (-129, 256, 1 << 40):
        assert lib.kern(out.ctypes.data, raw.ctypes.data, 2, 20, zp) == 1 and (out == 7).all()
    for zp in (-128, 3, 255):
        assert lib.kern(out.ctypes.data, raw.ctypes.data, 2, 20, zp) == 0
        assert np.array_equal(out, stored(raw.reshape(2, 20, 3, 5), 32, np.array(zp).astype("i1")).reshape(-1))


@pytest.mark.parametrize("way", ["jit", "interpreter"])
@pytest.mark.parametrize("dst, shape, dtype", [("NC1HWC0{fill=zp}", "N,C,5,7", "i8"), ("{N, C//4, H//3, W, H%3, C%4, fill = zp}", "2,C,H,7", "f32"),
                                               ("{N, C, H, W//16, W%16, fill = zp}", "2,3,4,W", "u4")])
def test_proofs(tmp_path, dst, shape, dtype, way):
    r = subprocess.run([RAVEL, "verify", "--from", "NCHW", "--to", dst, "--shape", shape, "--dtype", dtype], capture_output=True, text=True, timeout=120,
                       env={**os.environ, "RAVEL_CODE": way})
    assert r.returncode == 0 and r.stdout.count("yes:") == 2 and re.search("[1-9][0-9]* padding", r.stdout), r.stdout + r.stderr
    r = subprocess.run([RAVEL, "emit", "--from", "NCHW", "--to", dst, "--shape", shape, "--dtype", dtype, "-o", tmp_path / "f.c", "--check",
                        "gcc -O1 -Wall -Wextra -Werror"], capture_output=True, text=True, timeout=120)
    assert r.returncode == 0 and r.stdout.startswith("yes:"), r.stdout + r.stderr


@pytest.mark.parametrize("words", [["convert", "x.npy", "y.npy"], ["bench", "--shape", "1,2,3,4", "--dtype", "f32"],
                                   ["tune", "--shape", "N,2,3,4", "--at", "2,2,3,4", "--dtype", "f32"]])
def test_commands_that_take_numbers(tmp_path, words):
    np.save(tmp_path / "x.npy", np.zeros((1, 2, 3, 4), "f4"))
    r = subprocess.run([RAVEL, *words, "--from", "NCHW", "--to", "NC1HWC0{fill=zp}"], capture_output=True, text=True, timeout=60, cwd=tmp_path)
    assert r.returncode == 2 and ("'zp'" in r.stderr or "fill at run time" in r.stderr), r.stderr
    assert not (tmp_path / "y.npy").exists()


@pytest.mark.parametrize("dtype, bits, text", [("i8", 0xfd, "fill = -3"), ("u8", 0xfd, "fill = 253"), ("f16", 0xfc00, "fill = -1/0"), ("f32", 0x3fc00000, "fill = 1.5"),
                                               ("bf16", 0xc000, "fill = -2"), ("f64", 0x3ff8 << 48, "fill = 1.5"), ("f16", 1, "fill = 5.9604644775390625e-08")])
def test_log(tmp_path, dtype, bits, text):
    """A run's command has the number of the run."""
    program = ("import sys; sys.path.insert(0, %r)\nimport ravel, numpy as np\ncx = ravel.Context()\np = cx.plan('{M,K}', '{M,K//16,K%%16,fill=zp}', (3, 20), %r)\n"
               "one = ravel.PlanAt(p, (3, 20, %d)); one.run(np.zeros(one.src_bytes, np.uint8))" % (os.path.dirname(__file__), dtype, bits))
    r = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env={**os.environ, "RAVEL_VERBOSE": "1"}, timeout=60)
    assert text in r.stderr, r.stderr
