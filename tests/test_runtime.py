"""Extents left to run time: emitted functions and library plans at many shapes, every byte expected.

Addresses come from tests/formulas.py and tests/orders.py at each shape; the compiler only ever sees names."""

import ctypes as ct
import itertools
import json
import math
import os
import random
import re
import subprocess

import numpy as np
import pytest

import orders as O
import ravel
import relayouts as R
import test_pairs as P

RAVEL = str(ravel.BUILD / "ravel")
SEED = int(os.environ.get("RAVEL_SEED", "20240611"))
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
    def __init__(self, so, case):
        lib, self.case = ct.CDLL(str(so)), case
        n = len(arguments(case))
        self.f, self.bytes = lib.kern, lib.kern_bytes
        self.f.argtypes = [ct.c_void_p, ct.c_void_p] + [ct.c_int64]*n
        self.bytes.argtypes = [ct.c_int64]*n + [ct.POINTER(ct.c_int64)]*2

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


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_emitted(tmp_path, case):
    """Every compiler, without a warning; the same bytes as the oracle's at every shape. With threads, every fourth case is compiled at -O2."""
    body = emitted(tmp_path / "f.c", case)
    assert set(re.findall(r"#include (.*)", body)) <= {"<stdint.h>", "<string.h>", "<omp.h>", "<emmintrin.h>", "<immintrin.h>", "<arm_neon.h>"}
    for compiler in COMPILERS:
        more = ["-O2"] if compiler == "openmp" and CASES.index(case) % 4 == 0 else []
        f = Function(built(tmp_path / "f.c", compiler, *more), case)
        values = values_of(case)
        for v in values if compiler == "gcc" else values[::5]:
            f.assert_right(v, BITS[case[3]])


def test_emitted_refuses_buffers_that_overlap(tmp_path):
    case = ("NCHW", "NC1HWC0", "N,C,H,W", "f32")
    emitted(tmp_path / "f.c", case)
    f = Function(built(tmp_path / "f.c", "gcc"), case)
    m, n = f.sizes((2, 5, 3, 3))
    room = np.zeros(2*(m + n), np.uint8)
    src = room.ctypes.data + n
    for at in (0, 1, m - 1, -1, 1 - n):
        assert f.f(src + at, src, 2, 5, 3, 3) == 1 and not room.any(), at
    assert f.f(src + m, src, 2, 5, 3, 3) == 0 == f.f(src - n, src, 2, 5, 3, 3)
    assert f.f(src, src, 0, 5, 3, 3) == 0


def test_no_division_in_loops(tmp_path):
    """Strides and counts stand above the loops; inside there are products only."""
    body = emitted(tmp_path / "f.c", ("NCHW", "NC1HWC0", "N,C,H,W", "f32"))
    part = body[body.index("kern_part(unsigned"):]
    loops = re.sub(r"/\*.*?\*/", "", part[part.index("if (s"):part.index("ravel_fence();")])
    loops = re.sub(r"for \(.*?\) {", "", loops)            # the share of a thread is a quotient
    loops = re.sub(r"part == \d+ % parts", "", loops)       # the thread of what threads do not share
    assert "/" not in loops and "%" not in loops


@pytest.mark.parametrize("case, kernel", [
    (("(B,S,H,D){B, S, H, D}", "(B,S,H,D){B, H, S, D}", "B,S,H,D", "f16"), "copy"), (("NCHW", "NHWC", "N,C,H,W", "f32"), "transpose4"),
    (("ROW_MAJOR", "COL_MAJOR", "M,K", "u4"), "bits_transpose")])
def test_stores_past_the_caches(tmp_path, case, kernel):
    """Where the destination is large, which a scalar says: 1 from 8 MiB on."""
    body = emitted(tmp_path / "f.c", case)
    large = re.search(r"const int64_t (s\d+) = ravel_min\(.*, 1\);", body)[1]
    calls = re.findall(r"        ravel_%s\((.*)\);" % kernel, body)
    assert calls and all(re.search(r"\b%s\b" % large, c) for c in calls)


def test_residuals_are_inside(tmp_path):
    """A swizzle in blocks is done block row by block row: not all of the tensor for each turn of the loops it is over."""
    body = emitted(tmp_path / "f.c", ("ROW_MAJOR", "SW128", "M,K", "f16"))
    first = body[body.index("/* M=0..8*(M//8) - 1 K=0..64*(K//64) - 1: copy */"):]
    assert re.findall(r"for \(int64_t (\w+) ", first)[:3] == ["m1", "m0", "k1"]


FEW = [("NCHW", "NHWC", "N,C,H,W", "u8"), ("NHWC", "NCHW", "N,H,W,C", "f16"), ("NCHW", "NHWC", "N,C,H,W", "f32"), ("NCHW", "NHWC", "2,C,H,W", "i64"),
       ("ROW_MAJOR", "COL_MAJOR", "M,K", "u8"), ("NCHW", "NC1HWC0", "N,C,H,W", "bf16")]


@pytest.mark.parametrize("case", FEW, ids=lambda c: "%s-%s" % (c[0], c[3]))
def test_few_columns_or_rows(tmp_path, case):
    """The transpose and what stands in for it where it is narrow: at and beside the counts where they change."""
    kernels = set(re.findall(r"    (ravel_[a-z]+)\d+\(dst", emitted(tmp_path / "f.c", case)))
    assert {"ravel_transpose", "ravel_interleave"} <= kernels
    f, n = Function(built(tmp_path / "f.c", "gcc"), case), len(arguments(case))
    rnd = random.Random(repr((SEED, case)))
    counts = [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31]
    for values in {tuple(rnd.choice(counts) for _ in range(n)) for _ in range(120)}:
        if math.prod(shape_at(case, values)) <= 40000:
            f.assert_right(values, BITS[case[3]])


@pytest.mark.parametrize("case", [CASES[2], CASES[8], CASES[14]], ids=["NC1HWC0", "FRACTAL_Z", "edge"])
def test_arguments_are_checked(tmp_path, case):
    emitted(tmp_path / "f.c", case)
    f = Function(built(tmp_path / "f.c", "tcc"), case)
    n = len(arguments(case))
    for i in range(n):
        for bad in (-1, -2**63, 2**63 - 1, 2**62 + 1):
            v = [1]*n
            v[i] = bad
            assert f.f(1, 1, *v) != 0 and f.sizes(v) is None       # addresses that cannot be touched
    for v in itertools.product((2**31, 2**40, 0, 3), repeat=n):
        elements = math.prod(max(x, 1) for x in shape_at(case, v))
        if elements*BITS[case[3]] >= 2**63:
            assert f.f(1, 1, *v) != 0 and f.sizes(v) is None, v


@pytest.mark.parametrize("a, b, shape, dtype, good, bad", [
    ("FRACTAL_Z", "NCHW", "N,C,3,3", "f16", (1, 2**51), (1, 2**54)),                         # 16 of N in the source
    ("NCHW", "FRACTAL_Z", "N,C,3,3", "f16", (1, 2**51), (1, 2**54)),
    ("ROW_MAJOR", "(R,C){R, C, pitch = {R = 64}}", "R,C", "u8", (2**53, 1), (2**57, 1)),     # 64 bytes a row
])
def test_sizes_of_either_side(tmp_path, a, b, shape, dtype, good, bad):
    """What overflows is the storage, blocks and pitch included."""
    case = (a, b, shape, dtype)
    emitted(tmp_path / "f.c", case)
    f = Function(built(tmp_path / "f.c", "tcc"), case)
    assert f.sizes(good) is not None and f.sizes(bad) is None and f.f(1, 1, *bad) != 0


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_extents_of_zero(tmp_path, case):
    """No element: nothing is written where nothing is stored, and no source is read."""
    emitted(tmp_path / "f.c", case)
    f = Function(built(tmp_path / "f.c", "tcc"), case)
    n = len(arguments(case))
    for i in range(n):
        v = [3]*n
        v[i] = 0
        src, dst = f.sizes(v)
        assert src == 0
        buffer = ravel.Guarded(dst, 1)
        assert f.f(buffer.body.ctypes.data if dst else None, None, *v) == 0 and buffer.intact()
        assert dst == 0, v


def test_closed_dims_bound_the_extent(tmp_path):
    """{N, C%8} has room for 8 of C: 9 is refused, 0 leaves padding only."""
    case = ("ROW_MAJOR", "(N,C){N, C%8, fill = 7}", "N,C", "u8")
    emitted(tmp_path / "f.c", case)
    f = Function(built(tmp_path / "f.c", "gcc"), case)
    for c in range(1, 9):
        f.assert_right((3, c), 8)
    assert f.f(1, 1, 3, 9) != 0
    assert f.sizes((3, 0)) == (0, 24)
    dst = ravel.Guarded(24, 1)
    assert f.f(dst.body.ctypes.data, None, 3, 0) == 0
    assert dst.intact() and (dst.body == 7).all()


MAIN = """
#include <stdio.h>
#include <stdlib.h>
#include "f.c"
int main(int argc, char **argv)
{
    int64_t x[4] = {0}, m, n;
    for (int i = 1; i < argc && i < 5; i++)
        x[i - 1] = atoll(argv[i]);
    if (kern_bytes(%(args)s, &m, &n))
        return 1;
    unsigned char *src = malloc((size_t)m), *dst = malloc((size_t)n);
    if (!src || !dst || fread(src, 1, (size_t)m, stdin) != (size_t)m)
        return 2;
    memset(dst, 0xa5, (size_t)n);
    if (kern(dst, src, %(args)s))
        return 3;
    fwrite(dst, 1, (size_t)n, stdout);
    free(src);
    free(dst);
    return 0;
}
"""


@pytest.mark.parametrize("case", [CASES[k] for k in (2, 5, 7, 10, 14, 15)], ids=lambda c: "%s-%s" % c[:2])
def test_sanitized(tmp_path, case):
    """Buffers of exactly the bytes asked for, under AddressSanitizer and UBSan."""
    emitted(tmp_path / "f.c", case)
    n, bits = len(arguments(case)), BITS[case[3]]
    (tmp_path / "main.c").write_text(MAIN % {"args": ", ".join("x[%d]" % i for i in range(n))})
    subprocess.run(["gcc", *WARN, "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-o", "main", "main.c"],
                   cwd=tmp_path, check=True)
    env = {k: v for k, v in os.environ.items() if k not in ("LD_PRELOAD", "ASAN_OPTIONS")}
    for values in values_of(case, 4000)[::25]:
        raw, want = expected(case, shape_at(case, values), bits)
        r = subprocess.run(["./main", *map(str, values)], cwd=tmp_path, input=raw.tobytes(), capture_output=True, env=env)
        assert r.returncode == 0 and r.stderr == b"" and r.stdout == want.tobytes(), (values, r.stderr[-500:])


MAIN_HOSTILE = """
#include <stdio.h>
#include <stdlib.h>
#include "f.c"
int main(void)
{
    int64_t x[4] = {0}, m, n;
    while (%(read)s) {
        m = n = -9;
        int no = kern_bytes(%(args)s, &m, &n);
        if (no || n == 0)
            no = 2 * no + kern(NULL, NULL, %(args)s);
        printf("%%d %%lld %%lld\\n", no, (long long)m, (long long)n);
    }
    return 0;
}
"""


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_hostile_extents(tmp_path, case):
    """Whatever the extents, nothing overflows on the way to the answer that the sizes do not fit."""
    emitted(tmp_path / "f.c", case)
    names = arguments(case)
    n = len(names)
    (tmp_path / "main.c").write_text(MAIN_HOSTILE % {
        "args": ", ".join("x[%d]" % i for i in range(n)),
        "read": " && ".join("scanf(\"%%ld\", &x[%d]) == 1" % i for i in range(n))})
    subprocess.run(["gcc", "-std=c99", "-g", "-fsanitize=undefined", "-fno-sanitize-recover", "-o", "main", "main.c"],
                   cwd=tmp_path, check=True)
    rnd = random.Random(repr((SEED, case)))
    some = [-2**63, -1, 0, 1, 2, 3, 17, 2**61 - 1] + [2**k + d for k in (29, 30, 31, 32, 33, 58, 59, 60, 61, 62) for d in (-1, 0, 1)]
    some += [2**63 - 1, 2**63 - 16]
    shapes = [(v,)*n for v in some] + [tuple(rnd.choice(some) for _ in names) for _ in range(2000)]
    r = subprocess.run(["./main"], cwd=tmp_path, input="\n".join(" ".join(map(str, s)) for s in shapes), capture_output=True, text=True)
    assert r.returncode == 0 and r.stderr == "", (shapes[len(r.stdout.splitlines())], r.stderr[-500:])
    answers = [tuple(map(int, line.split())) for line in r.stdout.splitlines()]
    assert len(answers) == len(shapes)
    for values, (no, src, dst) in zip(shapes, answers):
        assert no in (0, 3) and (src, dst) == (-9, -9) if no else src >= 0 and dst >= 0, values
        elements = math.prod(shape_at(case, values))
        if min(values) < 0 or elements*BITS[case[3]] >= 2**63:
            assert no == 3, values
        elif not no:
            assert src*8 >= elements*BITS[case[3]] <= dst*8, values


def test_threads(tmp_path):
    """Large enough for threads: every split of the work gives the same bytes, each written by one part."""
    case = ("NCHW", "NC1HWC0", "N,C,H,W", "f32")
    c = tmp_path / "f.c"
    emitted(c, case)
    c.write_text(c.read_text().replace("static void\nkern_part", "void\nkern_part"))
    lib = ct.CDLL(str(built(c, "gcc")))
    lib.kern_part.argtypes = [ct.c_void_p]*2 + [ct.c_int64]*6
    Function(built(c, "openmp"), case).assert_right((3, 37, 80, 70), 32)
    for values in ((1, 37, 9, 7), (5, 8, 3, 3), (2, 1, 1, 1), (1, 9, 40, 40), (2, 8, 31, 41)):
        raw, want = expected(case, values, 32)
        for parts in (1, 2, 3, 5):
            dst = ravel.Guarded(want.size)
            times = np.zeros(want.size, int)
            for part in range(parts):
                for fill in (0x00, 0xFF):
                    alone = np.full(want.size, fill, np.uint8)
                    lib.kern_part(alone.ctypes.data, raw.ctypes.data, *values, part, parts)
                    times += alone != fill
                lib.kern_part(dst.body.ctypes.data, raw.ctypes.data, *values, part, parts)
            assert times.max() <= 2 and (times[(want != 0) & (want != 255)] == 2).all(), (values, parts)
            assert np.array_equal(dst.body, want), (values, parts)


# --- the library

@pytest.fixture(scope="module", params=["jit", "interpreter"])
def by(request):
    """A context whose plans are machine code, one whose are walked."""
    with pytest.MonkeyPatch.context() as m:
        m.setenv("RAVEL_CODE", request.param)
        context = ravel.Context()             # reads it, once: tests of other files may run before this ends
    with context as c:
        yield c


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_library(by, case):
    """Compiled once, run at every shape."""
    a, b, shape, dtype = case
    with by.plan(a, b, [int(x) if x.isdigit() else -1 for x in shape.split(",")], dtype) as plan:
        assert (plan.src_bytes, plan.dst_bytes) == (-1, -1)
        for values in values_of(case):
            own = shape_at(case, values)
            raw, want = expected(case, own, BITS[dtype])
            at = ravel.PlanAt(plan, own)
            assert (at.src_bytes, at.dst_bytes) == (raw.size, want.size)
            assert np.array_equal(at.run(raw, 3), want), own
        plan.verify()


def drawn(bits):
    """Pairs of test_pairs' layouts, each dim a number or left to run time."""
    rnd = random.Random(repr((SEED, bits)))
    for _ in range(EACH):
        a, b, names = rnd.choice(P.LAYOUTS), rnd.choice(P.LAYOUTS), P.NAMES
        fixed = dict(zip(names, rnd.choice(P.SHAPES)))
        free = {d for d in names if rnd.random() < .7} or {"N"}
        yield a, b, fixed, free, rnd


@pytest.mark.parametrize("bits", P.WIDTHS)
def test_random_pairs(by, bits):
    ran = 0
    for a, b, fixed, free, rnd in drawn(bits):
        dims_a, dims_b = P.dims_of(a, b, P.NAMES), P.dims_of(b, a, P.NAMES)
        try:
            plan = by.plan(a, b, [-1 if d in free else fixed[d] for d in dims_a], bits)
        except ravel.Error as e:
            assert "swizzle" in e.text or "share names in different places" in e.text, (a, b, e.text)
            continue
        axes = [dims_a.index(d) for d in dims_b]
        with plan:
            for _ in range(8):
                extent = {d: rnd.choice(BORDERS) if d in free else n for d, n in fixed.items()}
                while math.prod(extent.values()) > 40000:
                    extent = {d: max(1, n//2) if d in free else n for d, n in extent.items()}
                own = [extent[d] for d in dims_a]
                src, dst = O.place(a, tuple(own), bits), O.place(b, tuple(extent[d] for d in dims_b), bits)
                at = ravel.PlanAt(plan, own)
                assert (at.src_bytes, at.dst_bytes) == (-(-src.size*bits//8), -(-dst.size*bits//8))
                raw = np.random.default_rng(own).integers(0, 256, at.src_bytes, np.uint8)
                el = ravel.unpack(raw, bits)[src.addr].transpose(axes)
                assert np.array_equal(at.run(raw, 1), R.filled(dst, dst.addr, el, bits)), (a, b, own)
                ran += 1
    assert ran >= EACH*4


def test_many_boxes_are_coarsened(by):
    """More boxes than a plan may have, with padding that repeats the last element."""
    order = ", ".join("%s//4, %s//2%%2" % (d, d) for d in "ABCDE") + ", " + ", ".join("%s%%2" % d for d in "ABCDE")
    a, b = "(A,B,C,D,E){A, B, C, D, E}", '(A,B,C,D,E){%s, fill = "edge"}' % order
    with by.plan(a, b, [-1]*5, 8) as plan:
        for own in ((1, 2, 3, 4, 5), (5, 5, 5, 5, 5), (4, 3, 7, 1, 2)):
            src, dst = O.place(a, own, 8), O.place(b, own, 8)
            at = ravel.PlanAt(plan, own)
            raw = np.arange(at.src_bytes).astype(np.uint8)
            assert np.array_equal(at.run(raw), R.filled(dst, dst.addr, raw[src.addr], 8)), own


def test_library_refuses(by):
    null, err = None, ravel.Err()
    run, sizes = ravel.lib.ravel_run_shape, ravel.lib.ravel_plan_bytes_at
    with by.plan("NCHW", "NC1HWC0", (-1, 64, -1, -1), "f32") as plan, by.plan("NCHW", "NHWC", (2, 3, 4, 5), "f32") as numbers:
        def refused(p, shape, dst=1, src=1):
            s = ravel.extents(shape) if shape else None
            return ravel.STATUS[run(p.p, dst, src, s, ct.byref(err))] == "ARGUMENT" and err.text.decode()
        assert "extent of C is 65: the plan is for 64" in refused(plan, (2, 65, 3, 3))
        assert "extent of H is -1" in refused(plan, (2, 64, -1, 3))
        assert "64 bits" in refused(plan, (2**31, 64, 2**20, 2**20))
        assert "NULL" in refused(plan, (2, 64, 3, 3), null) and "NULL" in refused(plan, (2, 64, 3, 3), 1, null)
        assert "NULL" in refused(plan, None) and "ravel_run" in refused(numbers, (2, 3, 4, 5))
        assert run(plan.p, null, null, ravel.extents((0, 64, 3, 3)), ct.byref(err)) == 0
        assert ravel.lib.ravel_run(plan.p, 1, 1) != 0
        assert sizes(plan.p, ravel.extents((2, 64, 3, 3)), None, None, ct.byref(err)) == 0


@pytest.mark.parametrize("runtime", [False, True])
@pytest.mark.parametrize("a, b, shape, dtype", [("NCHW", "NHWC", (2, 3, 5, 7), "f32"), ("NCHW", "NC1HWC0", (1, 20, 3, 5), "u8"),
                                                ("NC1HWC0", "NCHW", (1, 20, 3, 5), "u8"), ("NCHW", "NHWC", (128, 8, 64, 64), "u8")])
def test_buffers_that_overlap_are_refused(by, a, b, shape, dtype, runtime):
    """Wherever one begins in the other, and nothing is written; one that ends where the other begins does not overlap."""
    with by.plan(a, b, [-1]*4 if runtime else shape, dtype) as plan:
        at = ravel.PlanAt(plan, shape) if runtime else plan
        m, n, err = at.src_bytes, at.dst_bytes, ravel.Err()
        room = np.zeros(2*(m + n), np.uint8)
        src = room.ctypes.data + n
        def status(dst):
            if runtime:
                return ravel.lib.ravel_run_shape(plan.p, dst, src, ravel.extents(shape), ct.byref(err))
            return ravel.lib.ravel_run(plan.p, dst, src)
        for dst in (src, src + 1, src + m - 1, src - 1, src - n + 1, src + m//2, src - n//2):
            room[:] = np.arange(room.size)
            assert ravel.STATUS[status(dst)] == "ARGUMENT" and (not runtime or b"overlap" in err.text), dst - src
            assert np.array_equal(room, np.arange(room.size).astype(np.uint8))
        assert status(src + m) == 0 and status(src - n) == 0


HOSTILE = [0, 1, 2, 3, 5, 64, 2**20, 2**31, 2**32 + 1, 2**40, 2**53, 2**61, 2**62, 2**62 + 1, 2**63 - 1, -1, -2**31, -2**63]


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_ways_answer_alike(monkeypatch, case):
    """Sizes, or the same sentence; a run that writes nothing is done, or refused by the same sentence."""
    a, b, shape, dtype = case
    given, rnd = shape.split(","), random.Random(repr((SEED, case)))
    plans, answers = [], 0
    for code in ("jit", "interpreter"):
        monkeypatch.setenv("RAVEL_CODE", code)
        with ravel.Context() as c:
            plans.append(c.plan(a, b, [int(x) if x.isdigit() else -1 for x in given], dtype))
    for _ in range(300):
        own = [int(x) if x.isdigit() and rnd.random() < .95 else rnd.choice(HOSTILE) for x in given]
        said = []
        for plan in plans:
            err, m, n = ravel.Err(), ct.c_int64(-9), ct.c_int64(-9)
            s = ravel.lib.ravel_plan_bytes_at(plan.p, ravel.extents(own), ct.byref(m), ct.byref(n), ct.byref(err))
            ran = ravel.Err()
            if s or n.value == 0:        # else it would touch what is not there
                assert ravel.lib.ravel_run_shape(plan.p, 1, 1, ravel.extents(own), ct.byref(ran)) == s, (own, ran.text)
            said.append((s, m.value, n.value, err.text, ran.text))
        assert said[0] == said[1] and said[0][3] == said[0][4], (own, said)
        answers |= 1 if said[0][0] else 2
    assert answers == 3
    for plan in plans:
        ravel.lib.ravel_plan_free(plan.p)


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_library_at_zero(by, case):
    """No element: no source is needed, and none of the destination's bytes, where there are any, stays as it was."""
    a, b, shape, dtype = case
    with by.plan(a, b, [int(x) if x.isdigit() else -1 for x in shape.split(",")], dtype) as plan:
        n = len(arguments(case))
        for i in range(n):
            at = ravel.PlanAt(plan, shape_at(case, [3]*i + [0] + [3]*(n - i - 1)))
            assert (at.src_bytes, at.dst_bytes) == (0, 0)
            at.run(np.zeros(0, np.uint8))
            ravel.call(ravel.lib.ravel_run_shape, plan.p, None, None, at.shape)


def test_padding_alone(by):
    """{N, C%8} at C = 0: all of it is fill."""
    with by.plan("ROW_MAJOR", "(N,C){N, C%8, fill = 7}", (-1, -1), "u8") as plan:
        at = ravel.PlanAt(plan, (3, 0))
        assert (at.src_bytes, at.dst_bytes) == (0, 24)
        assert (at.run(np.zeros(0, np.uint8)) == 7).all()


@pytest.mark.parametrize("a, b, shape, dtype, values", [
    ("NCHW", "NC1HWC0", "N,C,H,W", "f32", (3, 37, 80, 70)), ("NCHW", "NHWC", "N,C,H,W", "u8", (1, 40, 200, 210)),
    ("ROW_MAJOR", "COL_MAJOR", "M,K", "f16", (1031, 1999)), ("ROW_MAJOR", "MARLIN", "K,N", "u4", (2048, 2112)),
    ("ROW_MAJOR", "SW128", "M,K", "f16", (1000, 1001)), ("(A,B){A, B}", "(A,B){B//4, A, B%4, fill = 3}", "A,B", "f32", (1500, 3001)),
])
def test_shared_by_threads(monkeypatch, a, b, shape, dtype, values):
    """Above 8 MiB too, where stores go past the caches; three parts, whatever there is of processors."""
    case = (a, b, shape, dtype)
    raw, want = expected(case, shape_at(case, values), BITS[dtype])
    for code in ("jit", "interpreter"):
        monkeypatch.setenv("RAVEL_CODE", code)
        with ravel.Context() as c:
            parts = []

            @ct.CFUNCTYPE(None, ct.c_void_p, ct.c_void_p, ct.c_void_p, ct.c_int)
            def lend(host, task, arg, n):
                parts.append(n)
                for i in reversed(range(n)):
                    ct.CFUNCTYPE(None, ct.c_void_p, ct.c_int, ct.c_int)(task)(arg, i, n)
            ravel.call(ravel.lib.ravel_set_threads, c.p, 3, lend, None)
            with c.plan(a, b, [int(x) if x.isdigit() else -1 for x in shape.split(",")], dtype) as plan:
                assert np.array_equal(ravel.PlanAt(plan, shape_at(case, values)).run(raw), want)
            assert parts == [3]


def command(*args, code=0):
    r = subprocess.run([RAVEL, *args], capture_output=True, text=True, timeout=120)
    assert r.returncode == code, r
    return r.stdout if code < 2 else r.stderr


REFUSED = [
    ("ROW_MAJOR", "(R,C){R, C, swizzle = xor(1, 0, 2)}", "R,64", "a swizzle fits storage"),
    ("ROW_MAJOR", "(A,B){A//2, B}", "A,B", "A%2 is stored nowhere"),
    ("ROW_MAJOR", "(A,B){A, B//4, B%3}", "A,B", "B is cut at 3 and at 4"),
    ("ROW_MAJOR", "(A,B){A*B%7, B}", "A,B", "digits|give"),
]


@pytest.mark.parametrize("a, b, shape, why", REFUSED)
def test_what_is_refused(tmp_path, a, b, shape, why):
    text = command("explain", "--from", a, "--to", b, "--shape", shape, "--dtype", "u8", code=2)
    assert re.search(why, text) and len(text) > 40, text


def test_tuned(tmp_path, monkeypatch):
    """Measured at one shape by one process, whatever was tried there is right at others, emitted by another under other names."""
    case = ("NCHW", "NC1HWC0", "n,c,h,w", "f16")
    monkeypatch.setenv("RAVEL_WISDOM", str(tmp_path / "w.txt"))
    trials = json.loads(command("tune", "--from", "NCHW", "--to", "NC1HWC0", "--shape", "N,C,H,W", "--at", "2,37,9,7", "--dtype", "f16",
                                "--seconds", "1", "--json"))["trials"]
    text = (tmp_path / "w.txt").read_text()
    assert len(trials) > 1 and text.count("\n") == 2 and "\tf16\t(a,b,c,d)\t" in text
    made = set()
    for t in trials:
        pick = "%(nest)d:%(kernel)s:%(order)s" % t
        (tmp_path / "w.txt").write_text(text[:text.rindex("\t") + 1] + pick + "\n")
        told = command("explain", "--from", case[0], "--to", case[1], "--shape", case[2], "--dtype", case[3])
        assert "nest %(nest)d by %(kernel)s, %(order)s, as tuned\n" % t in told
        made.add(emitted(tmp_path / "f.c", case))
        f = Function(built(tmp_path / "f.c", "gcc"), case)
        (tmp_path / "f.gcc.so").unlink()                 # the next is another file, which is not loaded already
        for v in values_of(case)[::3]:
            f.assert_right(v, 16)
    assert len(made) > 1


def test_names_are_for_some_commands(tmp_path):
    for args in (("show", "NCHW"), ("index", "NCHW", "--at", "0"), ("table", "NCHW", "-o", str(tmp_path / "t.npy"))):
        assert "is for the --shape of emit, explain, verify, tune, and check" in command(*args, "--shape", "N,3,4,5", "--dtype", "u8", code=2)
    assert "needs numbers" in command("emit", "--kind", "offset", "--to", "NCHW", "--shape", "N,3,4,5", "-o", "-", code=2)
    for bad in ("N,,3", "N-1,3,4,5", "N,3,4,", "é,1,1,1"):
        command("explain", "--from", "NCHW", "--to", "NHWC", "--shape", bad, "--dtype", "u8", code=2)


@pytest.mark.parametrize("shape, why", [("N ,C,H,W", "a name is a letter"), ("_,C,H,W", "a name is a letter"), ("1N,C,H,W", "numbers and names"),
                                        ("N,,3,4", "numbers and names"), ("N,3,4,", "numbers and names"), ("N,-3,4,5", "numbers and names")])
def test_shapes_that_are_no_list(shape, why):
    said = command("explain", "--from", "NCHW", "--to", "NHWC", "--shape", shape, "--dtype", "u8", code=2)
    assert "--shape '%s'" % shape in said and why in said


def test_verify_and_check():
    proofs = json.loads(command("verify", "--from", "NCHW", "--to", "NC1HWC0", "--shape", "N,C,4,W", "--dtype", "f16", "--json"))
    assert proofs["answer"] == "yes" and [p["shape"] for p in proofs["proofs"]] == ["(N,C,4,W)"]*2
    assert all(p["every_residue"] and p["shapes"] > 20 and p["elements"] > 0 for p in proofs["proofs"])
    assert "for every shape with C = 20" in command("check", "NC1HWC0", "--shape", "N,20,H,W", "--dtype", "f16")
    assert "never dense" in command("check", "NC1HWC0", "--shape", "N,20,H,W", "--dtype", "f16")
    assert "dense exactly when C is a multiple of 16" in command("check", "NC1HWC0", "--shape", "N,C,H,7", "--dtype", "f16")
    command("check", "{A//2, B}", "--shape", "A,7", code=1)


@pytest.mark.parametrize("a,b,shape,dtype", [
    ("ROW_MAJOR", "SW128", "M,64", "f16"),                             # a gather: its table at every shape
    ("(A){A}", "(A){A//8, A%8 ~ A//8%8, fill = 1}", "A", "u8"),        # padding ends within a block of a higher digit
    ("(A,B){A//8, B, A%8}", "(A,B){A, B, pad = {B = 8}}", "A,6", "u8"),
    ("(A,B){A, B}", "(A,B){A, B%8 ~ B//8%8, B//8}", "A,64", "u8"),
], ids=["gather", "higher digit", "padding follows", "gather of bytes"])
def test_plans_that_choose_as_numbers_do_are_proven(a, b, shape, dtype):
    assert command("verify", "--from", a, "--to", b, "--shape", shape, "--dtype", dtype).count("yes: ") == 2


@pytest.mark.parametrize("a,b,shape,dtype,kernel", [
    ("ROW_MAJOR", "AWQ", "K,256", "i4", "shuffle"),
    ("ROW_MAJOR", "AWQ", "K,24", "i4", "shuffle bits"),                     # a chunk is 4 blocks, and one row has 3
    ("ROW_MAJOR", "AWQ", "K,8", "i4", "shuffle bits"),
    ("(A,B){A, B}", "(A,B){A, B//4, 1 - B%2, B//2%2}", "A,32", "u8", "shuffle"),
    ("(A,B){A, B}", "(A,B){A, B//16, B%4, B//4%4}", "A,160", "u2", "shuffle"),
], ids=["AWQ", "few blocks", "one block", "bytes", "2 bits"])
def test_tiles_in_a_fused_loop(a, b, shape, dtype, kernel):
    """The loop over the blocks of a row is fused with the loop over rows: its count depends on the shape and is a multiple of the blocks in a row.  Where that
    is less than a chunk, a second nest does the shapes with fewer iterations than a chunk."""
    args = ["--from", a, "--to", b, "--shape", shape, "--dtype", dtype]
    assert " ".join(re.findall(r"^  \d\. (\w+) ", command("explain", *args), re.M)) == kernel
    assert command("verify", *args).count("yes: ") == 2


def test_one_name_for_two_extents(tmp_path):
    body = emitted(tmp_path / "f.c", ("ROW_MAJOR", "COL_MAJOR", "n,n", "f32"))
    assert "kern(void *dst, const void *src, int64_t n)" in body
    body = emitted(tmp_path / "g.c", ("(S,N){S, N}", "(S,N){N, S//4, S%4}", "S1,part", "f32"))
    assert "int64_t s1, int64_t part_" in body
    built(tmp_path / "g.c", "gcc")
