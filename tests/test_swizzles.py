"""Conversions from and to xor-swizzled layouts, against numpy: elements of 1 bit to 8 bytes, drawn shapes, padding."""

import os

import numpy as np
import pytest

import ravel

SEED = int(os.environ.get("RAVEL_SEED", "20261128"))
TYPES = {1: "u1", 2: "u2", 4: "u4", 8: "u8", 16: "u16", 32: "u32", 64: "u64"}
PLAIN = ["ROW_MAJOR", "COL_MAJOR"]


def packed(x, bits):
    """The bytes of elements in their order, the first in the lowest bits of a byte."""
    x = x.reshape(-1)
    if bits >= 8:
        return x.astype("<u%d" % (bits//8)).tobytes()
    per = 8//bits
    x = np.concatenate([x, np.zeros(-x.size % per, x.dtype)]).reshape(-1, per).astype(np.uint8)
    return (x << bits*np.arange(per, dtype=np.uint8)).sum(1, dtype=np.uint8).tobytes()


def swizzled(x, bits, log, fill):
    """Atoms of 8 rows of 2**log units of 16 bytes, which the row's number moves: SW32, SW64, SW128 by rows."""
    unit, units = 128//bits, 1 << log
    rows, cols = -(-x.shape[0]//8), -(-x.shape[1]//(unit*units))
    y = np.full((rows*8, cols*unit*units), fill, x.dtype)
    y[:x.shape[0], :x.shape[1]] = x
    y = y.reshape(rows, 8, cols, units, unit)
    for row in range(8):
        y[:, row] = y[:, row][:, :, np.arange(units) ^ row >> (3 - log)]
    return y.transpose(0, 2, 1, 3, 4)


def stored(x, layout, bits, fill=0):
    if layout in PLAIN:
        return packed(x if layout == "ROW_MAJOR" else x.T, bits)
    log = {"SW32": 1, "SW64": 2, "SW128": 3}[layout.split("_")[0]]
    return packed(swizzled(x.T if "_MN" in layout else x, bits, log, fill), bits)


def drawn(rng, bits, shape):
    return rng.integers(0, 1 << bits, shape, np.uint64, endpoint=False) if bits < 64 else rng.integers(0, 1 << 63, shape, np.uint64)*2 + 1


def assert_converts(cx, a, b, x, bits):
    """The bytes of the destination, between guards, and what is said of the plan."""
    src, want = np.frombuffer(stored(x, a, bits), np.uint8), stored(x, b, bits)
    room = np.full(len(want) + 128, 0x5A, np.uint8)
    with cx.plan(a, b, x.shape, TYPES[bits]) as p:
        at = -room.ctypes.data % 64 + 3
        assert ravel.lib.ravel_run(p.p, room.ctypes.data + at, np.ascontiguousarray(src).ctypes.data) == 0
    last = x.size*bits % 8 if b in PLAIN else 0
    got = room[at:at + len(want)].copy()
    if last:                                              # the last byte has bits of no element
        got[-1] &= (1 << last) - 1
    assert got.tobytes() == want, (a, b, x.shape, bits)
    assert (room[:at] == 0x5A).all() and (room[at + len(want):] == 0x5A).all(), (a, b, x.shape, bits)


def shapes(rng, bits):
    """Small ones, such as a tile, odd and even ones, and one of several tiles."""
    unit = 128//bits
    yield 8*rng.integers(1, 6), unit*rng.integers(1, 20)
    yield tuple(rng.integers(1, 150, 2))
    yield tuple(2*rng.integers(20, 120, 2))
    yield 64*rng.integers(1, 4) + rng.integers(0, 2), unit*rng.integers(4, 12) + 8*rng.integers(0, 2)


@pytest.mark.parametrize("isa", ["avx512vbmi", "avx2", "sse2"])
@pytest.mark.parametrize("bits", TYPES)
def test_drawn_shapes(monkeypatch, bits, isa):
    monkeypatch.setenv("RAVEL_ISA", isa)
    try:
        cx = ravel.Context()
    except ravel.Error:
        pytest.skip("this processor has no %s" % isa)
    rng = np.random.default_rng([SEED, bits])
    with cx:
        for name in "SW32", "SW64", "SW128", "SW32_MN", "SW64_MN", "SW128_MN":
            for shape in shapes(rng, bits):
                x = drawn(rng, bits, tuple(int(n) for n in shape))
                for plain in PLAIN:
                    assert_converts(cx, plain, name, x, bits)
                    assert_converts(cx, name, plain, x, bits)


@pytest.mark.parametrize("bits", [1, 4, 8, 32])
@pytest.mark.parametrize("code", ["jit", "interpreter"])
def test_from_swizzle_to_swizzle(monkeypatch, bits, code):
    monkeypatch.setenv("RAVEL_CODE", code)
    rng = np.random.default_rng([SEED, bits, 1])
    with ravel.Context() as cx:
        for a, b in ("SW32", "SW128"), ("SW64_MN", "SW128"), ("SW128", "SW32_MN"), ("SW128_MN", "SW64_MN"):
            for shape in shapes(rng, bits):
                assert_converts(cx, a, b, drawn(rng, bits, tuple(int(n) for n in shape)), bits)


@pytest.mark.parametrize("bits, fill", [(1, 1), (2, 3), (4, 9), (8, 200), (16, 4660), (64, 77)])
def test_padding_has_its_value(bits, fill):
    """Runs of padding whose offsets a table holds, short ones and long ones."""
    tiles = "(R,C){R//8, C//%d, R%%8, C//%d%%8 ~ R%%8, C%%%d, fill = %d}"
    with ravel.Context() as cx:
        for unit in 128//bits, 4096//bits:
            to = tiles % (8*unit, unit, unit, fill)
            for shape in (70, 3*unit), (3, 9*unit + 8), (13, unit//2 + 8):
                x = drawn(np.random.default_rng(SEED), bits, shape)
                y = np.full((-(-shape[0]//8)*8, -(-shape[1]//(8*unit))*8*unit), fill, np.uint64)
                y[:shape[0], :shape[1]] = x
                y = y.reshape(y.shape[0]//8, 8, -1, 8, unit)
                for row in range(8):
                    y[:, row] = y[:, row][:, :, np.arange(8) ^ row]
                with cx.plan("ROW_MAJOR", to, shape, TYPES[bits]) as p:
                    got = p.run(np.frombuffer(packed(x, bits), np.uint8)).tobytes()
                assert got == packed(y.transpose(0, 2, 1, 3, 4), bits), (to, shape)


def swizzled_rows(x, b, m, s, rows, order, fill):
    """Rows of `rows` or a multiple, one after the other; then CuTe's Swizzle<B,M,S> of addresses."""
    more = -x.shape[0] % rows
    y = np.concatenate([x, np.repeat(x[-1:], more, 0) if fill == "edge" else np.full((more,) + x.shape[1:], fill, x.dtype)])
    y = y.transpose(order).reshape(-1)
    at = np.arange(y.size)
    z = np.empty_like(y)
    z[at ^ (at >> s & ((1 << b) - 1) << m)] = y
    return z


LARGEST = 1 << 24                 # elements with padding: the arrays of their places take seconds


@pytest.mark.parametrize("seed", range(40))
def test_rows_that_are_no_blocks(seed):
    """Digits of the address are none of a dim: boxes are over both as one number."""
    rng = np.random.default_rng([SEED, seed])
    b, m, s = int(rng.integers(1, 4)), int(rng.integers(0, 5)), int(rng.integers(1, 4))
    s, whole = max(s, b), 1 << (b + m + max(s, b))
    bits, fill = (4, 8, 16, 32)[seed % 4], "edge" if seed % 7 == 3 else int(rng.integers(0, 16))
    shape = tuple(int(n) for n in rng.integers(1, 100 if seed % 2 else 20, 2 + seed % 3))
    while -(-shape[0]//whole)*whole*np.prod(shape[1:]) > LARGEST:
        shape = (shape[0], *((n + 1)//2 for n in shape[1:]))
    order = tuple(range(len(shape))) if seed % 5 else tuple(range(len(shape)))[::-1]
    x = drawn(rng, bits, shape)
    dims = "ABCD"[:len(shape)]
    text = "(%s){%s, pad = {A = %d}, fill = %s, swizzle = xor(%d, %d, %d)}" % (
        ",".join(dims), ",".join(dims[i] for i in order), whole, '"edge"' if fill == "edge" else fill, b, m, s)
    want, plain = packed(swizzled_rows(x, b, m, s, whole, order, fill), bits), packed(x, bits)
    with ravel.Context() as cx:
        with cx.plan("ROW_MAJOR", text, shape, TYPES[bits]) as p:
            assert p.run(np.frombuffer(plain, np.uint8)).tobytes() == want, text
        with cx.plan(text, "ROW_MAJOR", shape, TYPES[bits]) as p:
            got = p.run(np.frombuffer(want, np.uint8)).copy()
        if x.size*bits % 8:                               # the last byte has bits of no element
            got[-1] &= (1 << x.size*bits % 8) - 1
        assert got.tobytes() == plain, text
