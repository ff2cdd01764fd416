"""Pitches and strides that use extents left to run time: pitch = {A = 8*extent(B)}.  An array of NumPy with these strides is the oracle."""

import ctypes as ct
import math
import os
import random
import shutil
import subprocess

import numpy as np
import pytest

import ravel
from runtime_cases import built
from views import RAVEL, random_bytes

SEED = int(os.environ.get("SEED", "19"))


def up(n, k):
    return -(-n // k) * k


# layout of (A, B, C), its field, the strides of A and B in elements of 2 bytes
CASES = [
    ("{A, B, C}", "pitch = {A = 8*extent(B)*extent(C)}", lambda a, b, c: (4*b*c, c)),
    ("{A, B, C}", "pitch = {A = extent(B)*extent(C)}", lambda a, b, c: (b*c, c)),
    ("{A, B, C}", "pitch = {B = 3*extent(C) + extent(C)}", lambda a, b, c: (2*b*c, 2*c)),
    ("{A, B, C}", "pitch = {A = 6*extent(C)*extent(B)}", lambda a, b, c: (3*b*c, c)),
    ("{A, B, C}", "pitch = {B = 2*extent(C) + 16}", lambda a, b, c: (b*(c + 8), c + 8)),
    ("{A, B, C}", "pitch = {B = 2*extent(C) + 2*extent(C)//2*2}", lambda a, b, c: (2*b*c, 2*c)),
    ("{A, B, C}", "stride = {A = 2*extent(B)*extent(C)}", lambda a, b, c: (2*b*c, c)),
    ("{A, B, C}", "stride = {B = extent(C) + 5}", lambda a, b, c: (b*(c + 5), c + 5)),
    ("{A, B, C}", "stride = {A = extent(B)*extent(C)*3 + extent(C), B = 2*extent(C)}", lambda a, b, c: (3*b*c + c, 2*c)),
    ("{A, B, C}", "stride = {B = (extent(C) + 15)//16*16}", lambda a, b, c: (b*up(c, 16), up(c, 16))),
    ("{A, B, C}", "E = 3, stride = {B = E*extent(C) - 2}", lambda a, b, c: (b*(3*c - 2), 3*c - 2)),
]


def at(shape, strides):
    a, b, c = np.indices(shape)
    return a*strides[0] + b*strides[1] + c


@pytest.mark.parametrize("asked", [(-1, -1, -1), (-1, -1, 5), (3, -1, -1), (-1, 4, -1)])
@pytest.mark.parametrize("order, field, strides_of", CASES)
def test_both_ways(cx, order, field, strides_of, asked):
    rnd = random.Random(repr((SEED, field, asked)))
    text = f"(A,B,C){order[:-1]}, {field}}}"
    with cx.plan(text, "(A,B,C){A, B, C}", asked, "bf16") as read, cx.plan("(A,B,C){A, B, C}", text, asked, "bf16") as write, \
         cx.plan("(A,B,C){C, A, B}", text, asked, "bf16") as turned:
        for _ in range(12):
            shape = [n if n > 0 else rnd.choice((1, 2, 3, 7, 16, 17, 33)) for n in asked]
            strides = strides_of(*shape)
            size = shape[0]*strides[0]
            where = at(shape, strides)
            raw = random_bytes(2*size, 1)
            one = ravel.PlanAt(read, shape)
            assert one.src_bytes == 2*size
            assert np.array_equal(one.run(raw).view("u2").reshape(shape), raw.view("u2")[where])
            x = random_bytes(2*math.prod(shape), 2).view("u2").reshape(shape)
            for plan, given in ((write, x), (turned, np.ascontiguousarray(x.transpose(2, 0, 1)))):
                one = ravel.PlanAt(plan, shape)
                assert one.dst_bytes == 2*size
                out = one.run(given.view("u1").reshape(-1))
                want = np.full(2*size, ravel.POISON, "u1").view("u2")
                want[where] = x
                assert np.array_equal(out.view("u2"), want), (field, shape)


def test_empty(cx):
    with cx.plan("(A,B){A, B}", "(A,B){A, B, stride = {A = extent(B) + 3}}", (-1, -1), "i8") as p:
        for shape in ((0, 5), (5, 0), (0, 0)):
            ravel.PlanAt(p, shape).run(np.zeros(0, "u1"))


def test_too_large(cx):
    """Strides that do not fit 64 bits are found before a byte is written."""
    with cx.plan("(A,B){A, B}", "(A,B){A, B, stride = {A = 1000*extent(B)}}", (-1, -1), "f64") as p:
        for shape in ((1, 2**51), (2, 2**60), (2**40, 2**40), (2**62, 1)):
            with pytest.raises(ravel.Error, match="fit 64 bits"):
                ravel.PlanAt(p, shape)


@pytest.mark.parametrize("text, why", [
    ("(A,B){A, B, stride = {A = extent(A)}}", r"the stride extent\(A\) of 'A' has no room for the entries after it at some shapes; .*ROW_MAJOR@\(ld,1\)"),
    ("(A,B){A, B, stride = {A = extent(B)*extent(A) - extent(A)}}", "stride must be a number above 0"),
    ("(A,B){A, B, stride = {A = extent(B)*extent(A) - extent(B) + 1}}", "has no room for the entries after it"),
    ("(A,B){A, B, pitch = {A = 2*extent(A) + 2}}", r"the pitch 2\*extent\(A\) \+ 2 of 'A' fits into the entries after it another number of times at some shapes; .*ROW_MAJOR@\(ld,1\)"),
    ("(A,B){A, B, pitch = {A = extent(A)}}", r"the pitch extent\(A\) of 'A' fits into"),
    ("(A,B){A, B, pitch = {A = 2*extent(B)*extent(A) + extent(B)*2}}", None),
    ("(A,B){A, B, pitch = {A = extent(A)*extent(B) + 3*extent(B)}}", "is no whole number of elements"),
    ("(A,B){A, B, stride = {A = (extent(B) ~ 3) + 9}}", r"the stride .* of 'A' is no sum of products of extents"),
    ("(A,B){A, B, stride = {A = extent(B)*(extent(B)//4) + 2}}", "has no room for the entries after it"),
    ("(A,B){A, B, stride = {A = extent(B) + (9 - extent(B))//2}}", "divides what is below 0 at some shapes"),
    ("(A,B){A, B, stride = {A = extent(B) + 2 + extent(A)*((extent(B) - 3)//1000)}}", "divides what is below 0"),
    ("(A,B){A, B, pitch = {A = 2*extent(B) + 2 + 2*extent(A)*((extent(B) - 3)//1000)}}", "divides what is below 0"),
    ("(A,B){A, B, stride = {A = extent(B) + (extent(B) - 1)//2}}", None),
    ("(A,B){A, B, pad = {A = extent(B)}}", r"its pad uses extent\(B\)"),
])
def test_refused(cx, text, why):
    if why:
        with pytest.raises(ravel.Error, match=why):
            cx.plan(text, "(A,B){A, B}", (-1, -1), "bf16")
    else:
        with cx.plan(text, "(A,B){A, B}", (-1, -1), "bf16"):
            pass
    with cx.plan("ROW_MAJOR@(ld,1)", "(A,B){A, B}", (-1, -1), "bf16"):
        pass


def test_emitted(tmp_path):
    """The text that is emitted, compiled and called as C."""
    text = "(A,B){A, B, pitch = {A = 8*extent(B)}}"
    r = subprocess.run([RAVEL, "emit", "--from", text, "--to", "(A,B){A,B}", "--shape", "A,B", "--dtype", "bf16", "--name", "f", "-o", str(tmp_path/"f.c")],
                       capture_output=True, text=True)
    assert r.returncode == 0, r.stderr
    (tmp_path/"m.c").write_text('#include <stdio.h>\n#include "f.c"\nint main(void) { static unsigned short s[3*20], d[15];\n'
                                "for (int i = 0; i < 60; i++) s[i] = i;\nf(d, s, 3, 5);\nfor (int i = 0; i < 15; i++) printf(\"%d \", d[i]); }\n")
    subprocess.run([shutil.which("cc"), "-std=c11", "-Wall", "-Wextra", "-Werror", "-o", str(tmp_path/"m"), str(tmp_path/"m.c")], check=True)
    out = subprocess.run([str(tmp_path/"m")], capture_output=True, text=True, check=True).stdout
    assert [int(x) for x in out.split()] == [20*a + b for a in range(3) for b in range(5)]


def test_emitted_too_large(tmp_path):
    r = subprocess.run([RAVEL, "emit", "--from", "(A,B){A,B}", "--to", "(A,B){A, B, stride = {A = 1000*extent(B)}}", "--shape", "A,B", "--dtype", "i8", "--name", "f",
                        "-o", str(tmp_path/"f.c")], capture_output=True, text=True)
    assert r.returncode == 0, r.stderr
    lib = ct.CDLL(str(built(tmp_path/"f.c", "gcc")))
    lib.f_bytes.argtypes = [ct.c_int64, ct.c_int64, ct.c_void_p, ct.c_void_p]
    out = (ct.c_int64*2)(-9, -9)
    for a, b in ((2, 2**54), (2**50, 2**10), (0, 2**60)):
        assert lib.f_bytes(a, b, ct.addressof(out), ct.addressof(out) + 8) == 1, (a, b)
    assert list(out) == [-9, -9]
    assert lib.f_bytes(3, 5, ct.addressof(out), ct.addressof(out) + 8) == 0 and list(out) == [15, 15000]
