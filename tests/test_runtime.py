"""Extents left to run time: emitted functions at many shapes, every byte expected."""

import ctypes as ct
import itertools
import math
import os
import random
import re

import numpy as np
import pytest

import ravel
import runtime_unit
from runtime_cases import arguments, BITS, built, CASES, emitted, expected, Function, IDS, shape_at, values_of
from runtime_unit import FEW

SEED = int(os.environ.get("RAVEL_SEED", "20240611"))


@pytest.fixture(scope="module")
def unit(tmp_path_factory):
    """A case's function of the unit of all, as one of runtime_unit.WAYS made it."""
    return lambda way, case: Function(runtime_unit.built(tmp_path_factory, way), case, runtime_unit.name_of(case))


@pytest.mark.parametrize("way", runtime_unit.WAYS)
def test_all_cases_compile_as_one_file(tmp_path_factory, way):
    """Without a warning.  It starts early, and no other test waits for the compiler."""
    assert runtime_unit.built(tmp_path_factory, way).exists()


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_emitted(tmp_path, unit, case):
    """Every compiler, without a warning; the same bytes as the oracle's at every shape."""
    body = emitted(tmp_path / "f.c", case)
    assert set(re.findall(r"#include (.*)", body)) <= {"<stdint.h>", "<string.h>", "<omp.h>", "<emmintrin.h>", "<immintrin.h>", "<arm_neon.h>"}
    values = values_of(case)
    for compiler in ("gcc", "openmp", "clang", "tcc"):
        f = Function(built(tmp_path / "f.c", "tcc"), case) if compiler == "tcc" else unit(compiler, case)
        for v in values if compiler == "gcc" else values[::5]:
            f.assert_right(v, BITS[case[3]])


def written_by(part, src, n, values, k, parts):
    """The bytes of a destination of n that part k writes: those that do not depend on what was there."""
    out = [np.full(n, start, np.uint8) for start in (0, 255)]
    for dst in out:
        part(dst.ctypes.data, src.ctypes.data, *values, k, parts)
    return out[0] == out[1], out[0]


def assert_parts_share(f, values):
    m, n = ct.c_int64(), ct.c_int64()
    assert f.bytes(*values, m, n) == 0 and n.value
    src = np.random.default_rng(SEED).integers(1, 255, m.value, np.uint8)
    whole, want = written_by(f.part, src, n.value, values, 0, 1)
    for parts in (2, 5):
        times, got = np.zeros(n.value, int), np.zeros(n.value, np.uint8)
        for k in range(parts):
            here, out = written_by(f.part, src, n.value, values, k, parts)
            times += here
            got[here] = out[here]
        assert np.array_equal(times, whole.astype(int)) and np.array_equal(got[whole], want[whole]), parts


@pytest.mark.parametrize("case", CASES[::3], ids=IDS[::3])
def test_each_byte_is_written_by_one_part(unit, case):
    """Of a plan that threads share, and of one that is a single part."""
    assert_parts_share(unit("gcc", case), max(values_of(case, 5000), key=lambda v: (math.prod(v), v)))


def test_each_byte_is_written_by_one_part_at_strides(tmp_path):
    case = ("NCHW@o(sn,sc,sh,sw)", "NHWC", "2,20,3,5", "f32")
    emitted(tmp_path / "f.c", case)
    f = Function(built(tmp_path / "f.c", "gcc"), case)
    numbers = [ct.c_int64]*5
    f.bytes.argtypes, f.part.argtypes = numbers + [ct.POINTER(ct.c_int64)]*2, [ct.c_void_p]*2 + numbers + [ct.c_int64]*2
    assert_parts_share(f, (0, 300, 15, 5, 1))


def test_emitted_refuses_buffers_that_overlap(unit):
    f = unit("gcc", ("NCHW", "NC1HWC0", "N,C,H,W", "f32"))
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
    part = body[body.index("\nkern_part("):]
    loops = re.sub(r"/\*.*?\*/", "", part[part.index("if (s"):part.index("ravel_fence();")])
    loops = re.sub(r"for \(.*?\) {", "", loops)            # the share of a thread is a quotient
    loops = re.sub(r"part == \d+ % parts", "", loops)       # the thread of what threads do not share
    assert "/" not in loops and "%" not in loops


@pytest.mark.parametrize("case, kernel", [
    (("(B,S,H,D){B, S, H, D}", "(B,S,H,D){B, H, S, D}", "B,S,H,D", "f16"), "copy"), (("NCHW", "NHWC", "N,C,H,W", "f32"), "transpose4"),
    (("ROW_MAJOR", "COL_MAJOR", "M,K", "u4"), "bits_transpose")])
def test_stores_past_the_caches(tmp_path, case, kernel):
    """Where the destination is large, which a scalar says: 1 from 8 MiB on.  Nests for less than 4 MiB never do."""
    body = emitted(tmp_path / "f.c", case)
    part = body[body.index("_part(void"):]
    large = max(re.findall(r"const int64_t (s\d+) = ravel_min\(.*/(\d+), 1\);", part), key=lambda m: int(m[1]))[0]
    calls = re.findall(r"if \((s\d+) < 1\) {(?:\s*(?:for|if) \([^{]*{)*\s*ravel_%s\((.*)\);|ravel_%s\((.*)\);" % (kernel, kernel), part)
    sizes = {s for s, _ in re.findall(r"const int64_t (s\d+) = ravel_min\(.*/(\d+), 1\);", part)} - {large}
    assert any(re.search(r"\b%s\b" % large, a + b) for _, a, b in calls)
    assert all(re.search(r"\b%s\b" % large, a + b) or s in sizes for s, a, b in calls)


def test_residuals_are_inside(tmp_path):
    """A swizzle in blocks is done block row by block row: not all of the tensor for each turn of the loops it is over."""
    body = emitted(tmp_path / "f.c", ("ROW_MAJOR", "SW128", "M,K", "f16"))
    first = body[body.index("/* M=0..8*(M//8) - 1 K=0..64*(K//64) - 1: copy */"):]
    assert re.findall(r"for \(int64_t (\w+) ", first)[:3] == ["m1", "m0", "k1"]


@pytest.mark.parametrize("case", FEW, ids=lambda c: "%s-%s" % (c[0], c[3]))
def test_few_columns_or_rows(tmp_path, unit, case):
    """The transpose and what stands in for it where it is narrow: at and beside the counts where they change."""
    kernels = set(re.findall(r"    (ravel_[a-z]+)\d+\(dst", emitted(tmp_path / "f.c", case)))
    assert {"ravel_transpose", "ravel_interleave"} <= kernels
    f, n = unit("gcc", case), len(arguments(case))
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


@pytest.mark.parametrize("case", [CASES[k] for k in (2, 5, 7, 10, 14, 15)], ids=lambda c: "%s-%s" % c[:2])
def test_sanitized(tmp_path_factory, case):
    """Buffers of exactly the bytes asked for, under AddressSanitizer and UBSan."""
    run, bits = runtime_unit.sanitized(tmp_path_factory, case), BITS[case[3]]
    for values in values_of(case, 4000)[::25]:
        raw, want = expected(case, shape_at(case, values), bits)
        r = run(values, raw.tobytes())
        assert r.returncode == 0 and r.stderr == b"" and r.stdout == want.tobytes(), (values, r.stderr[-500:])


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_hostile_extents(tmp_path_factory, case):
    """Whatever the extents, nothing overflows on the way to the answer that the sizes do not fit."""
    names = arguments(case)
    n = len(names)
    rnd = random.Random(repr((SEED, case)))
    some = [-2**63, -1, 0, 1, 2, 3, 17, 2**61 - 1] + [2**k + d for k in (29, 30, 31, 32, 33, 58, 59, 60, 61, 62) for d in (-1, 0, 1)]
    some += [2**63 - 1, 2**63 - 16]
    shapes = [(v,)*n for v in some] + [tuple(rnd.choice(some) for _ in names) for _ in range(2000)]
    r = runtime_unit.sanitized(tmp_path_factory, case)([], "\n".join(" ".join(map(str, s)) for s in shapes).encode())
    lines = r.stdout.splitlines()
    assert r.returncode == 0 and r.stderr == b"", (shapes[len(lines)], r.stderr[-500:])
    answers = [tuple(map(int, line.split())) for line in lines]
    assert len(answers) == len(shapes)
    for values, (no, src, dst) in zip(shapes, answers):
        assert no in (0, 3) and (src, dst) == (-9, -9) if no else src >= 0 and dst >= 0, values
        elements = math.prod(shape_at(case, values))
        if min(values) < 0 or elements*BITS[case[3]] >= 2**63:
            assert no == 3, values
        elif not no:
            assert src*8 >= elements*BITS[case[3]] <= dst*8, values


def test_threads(unit):
    """Large enough for threads: every split of the work gives the same bytes, each written by one part."""
    case = ("NCHW", "NC1HWC0", "N,C,H,W", "f32")
    part_of = unit("gcc", case).part
    unit("openmp", case).assert_right((3, 37, 80, 70), 32)
    for values in ((1, 37, 9, 7), (5, 8, 3, 3), (2, 1, 1, 1), (1, 9, 40, 40), (2, 8, 31, 41)):
        raw, want = expected(case, values, 32)
        for parts in (1, 2, 3, 5):
            dst = ravel.Guarded(want.size)
            times = np.zeros(want.size, int)
            for part in range(parts):
                for fill in (0x00, 0xFF):
                    alone = np.full(want.size, fill, np.uint8)
                    part_of(alone.ctypes.data, raw.ctypes.data, *values, part, parts)
                    times += alone != fill
                part_of(dst.body.ctypes.data, raw.ctypes.data, *values, part, parts)
            assert times.max() <= 2 and (times[(want != 0) & (want != 255)] == 2).all(), (values, parts)
            assert np.array_equal(dst.body, want), (values, parts)
