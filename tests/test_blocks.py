"""Extents at and beside the borders of blocks, with each instruction set: permutations against NumPy's transpose, padded rows against an array
that is filled first."""
import math
import pathlib
import random
import re

import numpy as np
import pytest

import ravel

SETS = {"sse2": set(), "avx2": {"avx2"}, "avx512": {"avx512bw", "avx512vl"},
        "avx512vbmi": {"avx512bw", "avx512vl", "avx512vbmi", "gfni"},
        "avx512gather": {"avx512bw", "avx512vl", "avx512vbmi", "gfni"}}
WIDTHS = {"u8": "u1", "f16": "u2", "f32": "u4", "f64": "u8", "c128": "V16"}
BORDERS = [2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 24, 31, 33, 63, 64, 65, 129, 600]
MOST = 30000                   # elements of a case
DRAWS = 150
# What these extents must reach, each with elements of some size.
KERNELS = {"copy", "transpose", "interleave", "composite"}


@pytest.fixture(params=SETS)
def by(request, monkeypatch):
    if SETS[request.param] - set(pathlib.Path("/proc/cpuinfo").read_text().split()):
        pytest.skip("this processor has no %s" % request.param)
    monkeypatch.setenv("RAVEL_ISA", request.param)
    monkeypatch.setenv("RAVEL_CODE", "jit")
    with ravel.Context() as c:
        yield c


def permutation(rnd):
    """A shape, and the dims in the destination's order."""
    rank = rnd.randint(2, 5)
    shape = [rnd.choice(BORDERS) for _ in range(rank)]
    while math.prod(shape) > MOST:
        i = max(range(rank), key=shape.__getitem__)
        shape[i] = rnd.choice([b for b in BORDERS if b < shape[i]])
    order = list(range(rank))
    while order == sorted(order):
        rnd.shuffle(order)
    return shape, order


def test_permutations(by):
    rnd, used = random.Random("blocks"), set()
    for k in range(DRAWS):
        shape, order = permutation(rnd)
        dtype = rnd.choice(list(WIDTHS))
        dims = "abcde"[:len(shape)]
        a, b = ("(%s){%s}" % (",".join(dims), ",".join(d)) for d in (dims, [dims[i] for i in order]))
        with by.plan(a, b, shape, dtype) as plan:
            raw = np.random.default_rng(k).integers(0, 256, plan.src_bytes, np.uint8)
            want = np.ascontiguousarray(raw.view(WIDTHS[dtype]).reshape(shape).transpose(order)).view(np.uint8).ravel()
            assert np.array_equal(plan.run(raw, k), want), (shape, order, dtype)
            used |= set(re.findall(r"ravel_([a-z]+)\d*\(", plan.source))
    assert KERNELS <= used, KERNELS - used


def halves(raw, n):
    """n elements of four bits, a byte for each."""
    return np.stack([raw & 15, raw >> 4], 1).ravel()[:n]


def test_short_rows_and_columns(by):
    """Rows, or columns, of three to seven elements next to one another, up to the last ones of the array."""
    for few in [3, 5, 6, 7]:
        for many in [15, 16, 17, 31, 33, 47, 64, 101, 885]:
            for shape in [(2, few, many), (2, many, few), (1, few, 2*many)]:
                n = math.prod(shape)
                with by.plan("(a,b,c){a, b, c}", "(a,b,c){a, c, b}", shape, "u4") as plan:
                    raw = np.random.default_rng(n).integers(0, 256, plan.src_bytes, np.uint8)
                    want = halves(raw, n).reshape(shape).transpose(0, 2, 1).ravel()
                    assert np.array_equal(halves(plan.run(raw, 0), n), want), shape


@pytest.mark.parametrize("value", [0, 3])
def test_padded_rows(by, value):
    """Runs that are followed by padding, of any lengths."""
    rnd = random.Random("padded")
    for k in range(40):
        rows, cols, unit = rnd.choice(BORDERS[:-2]), rnd.choice(BORDERS[:-2]), rnd.choice([8, 12, 24, 96])
        dtype = rnd.choice(["u8", "u16", "u32", "u64"])
        with by.plan("(A,B){A, B}", "(A,B){A, B, pad = {B = %d}, fill = %d}" % (unit, value), [rows, cols], dtype) as plan:
            raw = np.random.default_rng(k).integers(0, 256, plan.src_bytes, np.uint8)
            want = np.full((rows, -(-cols//unit)*unit), value, dtype.replace("u", "uint"))
            want[:, :cols] = raw.view(want.dtype).reshape(rows, cols)
            assert np.array_equal(plan.run(raw, k), want.view(np.uint8).ravel()), (rows, cols, unit, dtype)


# Columns at distances of pages, in a cache and past it; the last of the rows overlap.
PAGES = [("u8", 130, 1024), ("u8", 70, 5120), ("f16", 67, 2048), ("f32", 40, 4096), ("f64", 20, 8192), ("u8", 1088, 4096), ("f16", 544, 4096)]


@pytest.mark.parametrize("dtype, rows, cols", PAGES)
def test_columns_at_pages(by, dtype, rows, cols):
    for first in 0, 9:
        with by.plan("(A,B){A, B}(%d,%d)[:, %d:]" % (rows, cols, first), "(A,B){B, A}", [rows, cols - first], dtype) as plan:
            raw = np.random.default_rng(rows).integers(0, 256, plan.src_bytes, np.uint8)
            want = np.ascontiguousarray(raw.view(WIDTHS[dtype]).reshape(rows, cols)[:, first:].T)
            assert np.array_equal(plan.run(raw, 63), want.view(np.uint8).ravel()), first


# Rows of a few columns that do not begin at cache lines, of which the last ones and the last columns overlap; many rows and few.
@pytest.mark.parametrize("dtype", ["u8", "f16", "f32", "f64"])
def test_short_rows_one_after_another(by, dtype):
    rnd = random.Random("along " + dtype)
    for rows in 64, 67, 261, 300:
        for cols in 16, 21, 45, 64, 87, 96, rnd.randint(100, 130), 185, 256, 300:
            with by.plan("(A,B){A, B}", "(A,B){B, A}", [cols, rows], dtype) as plan:
                raw = np.random.default_rng(cols).integers(0, 256, plan.src_bytes, np.uint8)
                want = np.ascontiguousarray(raw.view(WIDTHS[dtype]).reshape(cols, rows).T)
                assert np.array_equal(plan.run(raw, cols % 5), want.view(np.uint8).ravel()), (rows, cols)


@pytest.mark.parametrize("dtype", ["u8", "f16", "f32", "f64"])
def test_short_rows_of_tiles(by, dtype):
    """The same by tiles: rows and columns of several loops."""
    rnd = random.Random("tiles " + dtype)
    for k in range(24):
        shape = [rnd.choice([2, 3, 5, 8]), rnd.choice([9, 16, 23, 30]), rnd.choice([2, 3, 4]), rnd.choice([17, 33, 70])]
        with by.plan("(A,B,C,D){A, B, C, D}", "(A,B,C,D){D, C, B, A}", shape, dtype) as plan:
            raw = np.random.default_rng(k).integers(0, 256, plan.src_bytes, np.uint8)
            want = np.ascontiguousarray(raw.view(WIDTHS[dtype]).reshape(shape).transpose(3, 2, 1, 0))
            assert np.array_equal(plan.run(raw, k), want.view(np.uint8).ravel()), shape


# A tile of many rows with columns of several registers but less than a line: more than the first cache holds.
@pytest.mark.parametrize("dtype, shape", [("u8", (2, 40, 11, 3, 14, 5)), ("u8", (11, 5, 10, 19, 8)), ("u8", (3, 17, 9, 211, 3)), ("f16", (5, 23, 7, 37, 3)),
                                          ("f16", (3, 27, 9, 14, 7)), ("f32", (3, 13, 7, 29, 3))])
def test_many_rows_of_parts_of_lines(by, dtype, shape):
    names = "abcdef"[:len(shape)]
    for order in (tuple(range(len(shape)))[::-1], (len(shape) - 1, 0, *range(len(shape) - 2, 1, -1), 1)):
        to = "(%s){%s}" % (",".join(names), ",".join(names[i] for i in order))
        with by.plan("{%s}" % ",".join(names), to, shape, dtype) as plan:
            raw = np.random.default_rng(len(shape)).integers(0, 256, plan.src_bytes, np.uint8)
            want = np.ascontiguousarray(raw.view(WIDTHS[dtype]).reshape(shape).transpose(order)).view(np.uint8).ravel()
            assert np.array_equal(plan.run(raw, 7), want), (shape, order)


# Blocks of few rows or few columns: one after another (x is 1) and apart, up to the end of the source.
@pytest.mark.parametrize("dtype", ["u8", "f16", "f32"])
def test_few_rows_and_few_columns(by, dtype):
    rnd, tiles = random.Random("few " + dtype), 0
    for few in range(2, 17):
        for many in range(2, 9), range(9, 18), range(33, 71):
            for rows, cols in (few, rnd.choice(many)), (rnd.choice(many), few):
                shape = [rnd.choice([2, 3, 5]), cols, rnd.choice([1, 2, 3]), rows]
                with by.plan("(B,C,X,R){B, C, X, R}", "(B,C,X,R){R, B, X, C}", shape, dtype) as plan:
                    raw = np.random.default_rng(rows*cols).integers(0, 256, plan.src_bytes, np.uint8)
                    want = np.ascontiguousarray(raw.view(WIDTHS[dtype]).reshape(shape).transpose(3, 0, 2, 1))
                    assert np.array_equal(plan.run(raw, rows), want.view(np.uint8).ravel()), shape
                    tiles += "ravel_composite" in plan.source
    assert tiles > 20, tiles


def packed(x, bits):
    """Elements as bytes, the first in the lowest bits."""
    each = np.arange(bits, dtype=np.uint8)
    return np.packbits((x.ravel()[:, None] >> each & 1).astype(np.uint8), bitorder="little")


# Rows of less than a byte, a vector, and more, on either side.
FEW = [3, 5, 7, 17, 22, 33, 63, 64, 101, 130, 259, 300]


@pytest.mark.parametrize("bits", [1, 2, 4])
def test_transposes_below_a_byte(by, bits):
    rnd = random.Random(bits)
    for k in range(60):
        rows, cols = rnd.choice(FEW), rnd.choice(FEW)
        x = np.random.default_rng(k).integers(0, 1 << bits, (rows, cols), np.uint8)
        with by.plan("(A,B){A, B}", "(A,B){B, A}", [rows, cols], "u%d" % bits) as plan:
            got, want = (np.unpackbits(y, count=x.size*bits, bitorder="little") for y in (plan.run(packed(x, bits), k), packed(x.T, bits)))
            assert np.array_equal(got, want), (rows, cols)


def test_planes_within_bytes(by):
    """Pairs of u4 whose planes begin within bytes: these the kernel for planes would take one element at a time."""
    with by.plan("(A,B,C,D){A, B, C, D}", "(A,B,C,D){D, A, B, C}", (1000, 5, 125, 2), "u4") as plan:
        assert "ravel_unpacked1(" in plan.source and "ravel_bits_transpose(" not in plan.source


@pytest.mark.parametrize("bits", [1, 2, 4])
def test_runs_within_bytes(by, bits):
    """Tiles of elements below a byte: runs of any length that begin and end within bytes, after a tile of bytes with all bits set."""
    rnd, tiles, dtype = random.Random("runs %d" % bits), 0, "u%d" % bits
    with by.plan("(A,B,C){A, B, C}", "(A,B,C){C, B, A}", (40, 3, 64), "u8") as ones:
        for k in range(80):
            shape = [rnd.choice(FEW[:9]) for _ in range(3)] + [rnd.choice([2, 3, 5])]
            order = rnd.choice([(3, 2, 1, 0), (3, 1, 2, 0), (2, 1, 0, 3), (1, 3, 0, 2), (2, 3, 1, 0)])
            while math.prod(shape) > MOST:
                shape[shape.index(max(shape))] //= 2
            x = np.random.default_rng(k).integers(0, 1 << bits, shape, np.uint8)
            with by.plan("(A,B,C,D){A, B, C, D}", "(A,B,C,D){%s}" % ",".join("ABCD"[i] for i in order), shape, dtype) as plan:
                ones.run(np.full(ones.src_bytes, 255, np.uint8))
                got, want = (np.unpackbits(y, count=x.size*bits, bitorder="little")
                             for y in (plan.run(packed(x, bits), k), packed(x.transpose(order), bits)))
                assert np.array_equal(got, want), (shape, order)
                tiles += "ravel_unpacked" in plan.source
    assert tiles > 20, tiles


@pytest.mark.parametrize("bits", [1, 2])
def test_few_long_rows_below_a_byte(by, bits):
    """Fewer rows than a byte has elements, of which a tile takes some: its last ones may not begin before the first."""
    tiles = 0
    for a in range(3, 8):
        for c, d in ((15, 16), (16, 15), (8, 24), (12, 10), (24, 16), (32, 16), (16, 32), (32, 8)):
            x = np.random.default_rng(a*c).integers(0, 1 << bits, (a, 2, c, d), np.uint8)
            with by.plan("(A,B,C,D){A, B, C, D}", "(A,B,C,D){B, A, D, C}", x.shape, "u%d" % bits) as plan:
                assert np.array_equal(plan.run(packed(x, bits), c), packed(x.transpose(1, 0, 3, 2), bits)), x.shape
                tiles += "ravel_shuffle" in plan.source
    assert tiles > 8, tiles
