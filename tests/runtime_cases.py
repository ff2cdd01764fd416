"""What tests of extents left to run time share: the cases, the values that their names take, the bytes that are expected, and emitted functions, built.

Addresses come from tests/formulas.py and tests/orders.py at each shape; the compiler only ever sees names."""

import ctypes as ct
import math
import os
import random
import subprocess

import numpy as np
import pytest

import orders as O
import ravel
import relayouts as R
import test_pairs as P

SEED = int(os.environ.get("RAVEL_SEED", "20240611"))

RAVEL = str(ravel.BUILD / "ravel")
EACH = 4 if "RAVEL_AGAIN" in os.environ else 24       # random pairs a width
WARN = "-std=c99 -Wall -Wextra -Wconversion -Werror".split()
COMPILERS = {"gcc": ["gcc", *WARN, "-O2"], "openmp": ["gcc", *WARN, "-O1", "-fopenmp"], "clang": ["clang", *WARN, "-O2"],
             "tcc": ["tcc"]}
BITS = {"f32": 32, "f16": 16, "bf16": 16, "u8": 8, "i8": 8, "i64": 64, "u4": 4, "i4": 4, "u2": 2, "u1": 1, "c128": 128}
BORDERS = [1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33]

# (from, to, shape, dtype): names are arguments
CASES = [
    ("NCHW", "NHWC", "N,64,7,5", "f32"),
    ("NCHW", "NC1HWC0", "N,64,7,5", "f16"),
    ("NCHW", "NC1HWC0", "N,C,H,W", "f32"),
    ("NCHW", "NHWC", "2,C,H,W", "u8"),
    ("NCHW8", "NCHW16", "N,C,H,3", "bf16"),
    ("{N, C//48, H, W, C%48}", "{N, C//32, H, W, C%32}", "2,C,H,3", "i8"),
    ("(N,C){N//6, C, N%6}", "(N,C){C//4, N, C%4, fill = -2}", "N,C", "i64"),
    ("ROW_MAJOR", "FRACTAL_NZ", "2,H,W", "f16"),
    ("FRACTAL_Z", "NCHW", "N,C,3,3", "f16"),
    ("ROW_MAJOR", "SW128", "M,K", "f16"),
    ("ROW_MAJOR", "MARLIN", "K,N", "u4"),
    ("INT4_HIGH", "INT4_LOW", "H,W", "i4"),
    ("ROW_MAJOR", "COL_MAJOR", "n,n", "u8"),
    ("(A,B){A, B}", "(A,B){B, A//3, 2 - A%3, fill = 1}", "A,B", "u1"),
    ("(A,B){A, B}", "(A,B){A//16, B, 15 - A%16}", "A,B", "f32"),
    ("(A,B){A, B}", '(A,B){B//4, A, B%4, fill = "edge"}', "A,B", "c128"),
    ("(A,B){A//7, B//5, A%7, B%5}", '(A,B){A//11, B//8, A%11, B%8, pitch = {[2] = 256}, fill = "none"}', "A,B", "u2"),
    ("ROW_MAJOR", "(R,C){R, C, pad = {C = 32}, pitch = {R = 64}, fill = 3}", "R,C", "u8"),
    ("ROW_MAJOR", "(R,C){R, C, pitch = {R = 20}}", "R,5", "i64"),
    ("(A,B){A, B}", "(A,B){2*A + B%2, B//2}", "A,B", "f32"),
    ("(A,B){A, B}", "(A,B){(A << 1) + (1 & B), B >> 1}", "A,B", "u8"),
    ("ROW_MAJOR", "AWQ", "K,8", "u4"),
    ("VNNI4", "VNNI2", "K,N", "f16"),
]
IDS = ["%s-%s-%s" % c[:3] for c in CASES]


@pytest.fixture(scope="module", params=["jit", "interpreter"])
def by(request):
    """A context whose plans are machine code, one whose are walked."""
    with pytest.MonkeyPatch.context() as m:
        m.setenv("RAVEL_CODE", request.param)
        context = ravel.Context()             # reads it, once: tests of other files may run before this ends
    with context as c:
        yield c


def emitted(path, case, name="kern", code=0):
    a, b, shape, dtype = case
    r = subprocess.run([RAVEL, "emit", "--from", a, "--to", b, "--shape", shape, "--dtype", dtype, "--name", name, "-o", path],
                       capture_output=True, text=True, timeout=60)
    assert r.returncode == code, r.stderr
    return r.stderr if code else path.read_text()


def arguments(case):
    """The names in the shape, each once."""
    return list(dict.fromkeys(x for x in case[2].split(",") if not x.isdigit()))


def shape_at(case, values):
    extent = dict(zip(arguments(case), values))
    return tuple(extent[x] if x in extent else int(x) for x in case[2].split(","))


def values_of(case, most=30000):
    """Values of the arguments: at and beside borders, one argument at a time, and some drawn."""
    n = len(arguments(case))
    rnd = random.Random(repr((SEED, case)))
    out = {(base,)*i + (v,) + (base,)*(n - i - 1) for i in range(n) for v in BORDERS + [47, 48, 49, 95, 96, 97] for base in (2, 9)}
    out |= {tuple(rnd.choice(BORDERS) for _ in range(n)) for _ in range(20)}
    return sorted(v for v in out if math.prod(shape_at(case, v)) <= most)


def expected(case, shape, bits):
    """(source bytes, destination bytes after, in the storage of both)"""
    a, b = case[:2]
    axes = R.matched(a, b, len(shape))
    src, dst = O.place(a, shape, bits), O.place(b, tuple(shape[k] for k in axes), bits)
    raw = np.random.default_rng([SEED, *shape]).integers(0, 256, -(-src.size*bits//8), np.uint8)
    el = ravel.unpack(raw, bits)[src.addr]
    return raw, R.filled(dst, dst.addr, el.transpose(axes), bits)


class Function:
    """An emitted function of a shared object."""
    def __init__(self, so, case, name="kern"):
        lib, self.case = ct.CDLL(str(so)), case
        n = len(arguments(case))
        self.f, self.bytes, self.part = lib[name], lib[name + "_bytes"], lib[name + "_part"]
        self.f.argtypes = [ct.c_void_p, ct.c_void_p] + [ct.c_int64]*n
        self.bytes.argtypes = [ct.c_int64]*n + [ct.POINTER(ct.c_int64)]*2
        self.part.argtypes = self.f.argtypes + [ct.c_int64]*2

    def sizes(self, values):
        a, b = ct.c_int64(-9), ct.c_int64(-9)
        code = self.bytes(*values, ct.byref(a), ct.byref(b))
        return None if code else (a.value, b.value)

    def assert_right(self, values, bits):
        shape = shape_at(self.case, values)
        raw, want = expected(self.case, shape, bits)
        assert self.sizes(values) == (raw.size, want.size), shape
        src, dst = ravel.Guarded(raw.size, 3), ravel.Guarded(want.size, 5)
        src.body[:] = raw
        assert self.f(dst.body.ctypes.data, src.body.ctypes.data, *values) == 0
        wrong = np.flatnonzero(dst.body != want)
        assert not wrong.size, (shape, wrong[:5])
        assert src.intact() and dst.intact() and np.array_equal(src.body, raw), shape


def built(c, compiler, *more):
    so = c.with_suffix(".%s.so" % compiler.replace("+", "x"))
    r = subprocess.run([*COMPILERS[compiler], *more, "-shared", "-fPIC", "-o", so, c], capture_output=True, text=True)
    assert r.returncode == 0 and r.stderr == "", r.stderr
    return so


def drawn(bits):
    """Pairs of test_pairs' layouts, each dim a number or left to run time."""
    rnd = random.Random(repr((SEED, bits)))
    for _ in range(EACH):
        a, b, names = rnd.choice(P.LAYOUTS), rnd.choice(P.LAYOUTS), P.NAMES
        fixed = dict(zip(names, rnd.choice(P.SHAPES)))
        free = {d for d in names if rnd.random() < .7} or {"N"}
        yield a, b, fixed, free, rnd
