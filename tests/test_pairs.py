"""Relayouts between any two layouts: element numbers as data, poisoned destinations between guards, every byte expected.

Addresses come from tests/formulas.py for the catalogue and from tests/orders.py for inline layouts."""

import functools
import os
import zlib

import numpy as np
import pytest

import orders as O
import ravel
import relayouts as R

SEED = int(os.environ.get("RAVEL_SEED", "20240611"))
AGAIN = "RAVEL_AGAIN" in os.environ                  # the slow build: one relayout of every seventh pair
EACH = 1 if AGAIN else 2                             # relayouts a pair
WIDTHS = [8, 16, 32, 64, 128, 4, 2, 1]

# dims (N, C, H, W), or named so
LAYOUTS = """
NCHW NHWC CHWN HWCN NCHW4 NCHW8 NCHW16 NCHW32 NCHW64 CHWN4 NHWCD4 NC1HWC0 NC1HWC0{C0=4} FRACTAL_Z FRACTAL_Z{C0=16}
ROW_MAJOR COL_MAJOR FRACTAL_NZ
""".split() + """
{N, C//48, H, W, C%48}
{N, C//32, H, W, C%32}
{N, C//6, H, W, C%6}
{N, C//4, H, W, C%4}
{N, C//3, H, W, C%3}
{N, C//5, H, W, C%5}
(N,C,H,W){C//16, H, W, N//16, N%16, C%16}
(N,C,H,W){N, C%8, H, W, C//8}
(N,C,H,W){C%3, N, W, H, C//3}
(N,C,H,W){N, C//8, H, W, (C%8) ~ (H%8)}
(N,C,H,W){N, H//4, W//4, C, (H%4) ~ (W%4), W%4, fill = 1}
(N,C,H,W){N, C//16, H, W, C[0], C[2], C[1], C[3]}
{N, C//2, H, W, 1 - C%2}
(N,C,H,W){N, C//8, H, W//4, 7 - C%8, 3 - W%4, fill = "edge"}
{N, C, H, W, pad = {C = 8, W = 4}}
{N, C, H, W, pitch = {H = 64}, fill = 1}
(N,C,H,W){W, H, C//4, N, C%4, pitch = {[2] = 32, [4] = 16}}
{N, C//16, H, W, C%16, fill = "edge"}
{N, C//12, H//2, W//3, H%2, W%3, C%12, fill = "none"}
(N,C,H,W){N, C//16, H//4, W//4, C%16, H%4, W%4, swizzle = xor(2, 0, 3)}
(N,C,H,W){N, C//8, H//4, W, H%4, C%8, swizzle = function(a) return a ~ (a >> 2 & 7) end}
(H,W,N,C){W//2, C//4%4, N, H, C%4, C//16, W%2}
""".strip().split("\n")
SHAPES = [(2, 20, 5, 7), (1, 1, 1, 1), (3, 37, 2, 5), (1, 96, 4, 8), (7, 5, 11, 3), (17, 2, 1, 13), (2, 48, 3, 1)]
NAMES = list("NCHW")

HWNC = LAYOUTS[-1]
ANY_RANK = {"ROW_MAJOR", "COL_MAJOR"}      # dims without names: they go by the other side's order
CLASH = {"FRACTAL_NZ"}                     # its H, W stand elsewhere than HWNC's

place = functools.lru_cache(None)(O.place)


def dims_of(layout, other, names):
    return O.dims(other if layout in ANY_RANK else layout, names)


def assert_relayout(cx, a, b, names, shape, bits, shift=0):
    """Compile a -> b, prove it, run it, compare all of the destination.  shape: extents of names."""
    extent = dict(zip(names, shape))
    dims_a, dims_b = dims_of(a, b, names), dims_of(b, a, names)
    own_a, own_b = tuple(extent[d] for d in dims_a), tuple(extent[d] for d in dims_b)
    case = {"from": a, "to": b, "shape": own_a, "bits": bits, "shift": [shift, shift + 1]}
    for layout, own in ((a, own_a), (b, own_b)):
        assert cx.bytes(layout, own, bits) == -(-place(layout, own, bits).size*bits//8)
    with cx.plan(a, b, own_a, bits) as plan:
        axes = [dims_a.index(d) for d in dims_b]
        assert not R.compare(cx, plan, case, (place(a, own_a, bits), place(b, own_b, bits)), axes, back=False)


def chosen(*key):
    """A seeded choice that does not depend on what ran before."""
    return zlib.crc32(repr((SEED,) + key).encode())


@pytest.mark.parametrize("a", LAYOUTS)
def test_pairs(cx, a):
    print("seed", SEED)
    for b in LAYOUTS:
        h = chosen(a, b)
        for k in range(EACH):
            shape = SHAPES[(h + k*(1 + h//7 % 3)) % len(SHAPES)]
            bits = WIDTHS[(h//64 + 3*k) % len(WIDTHS)]
            if HWNC in (a, b) and CLASH & {a, b} or AGAIN and h//3 % 7:
                continue
            print(a, "->", b, "of", shape, bits, "bits")
            assert_relayout(cx, a, b, NAMES, shape, bits, h % 16)


def test_pairs_cover_every_width_and_shape():
    seen = {(SHAPES[(h + k*(1 + h//7 % 3)) % len(SHAPES)], WIDTHS[(h//64 + 3*k) % len(WIDTHS)])
            for a in LAYOUTS for b in LAYOUTS for h in [chosen(a, b)] for k in range(2)}
    assert len(seen) == len(SHAPES)*len(WIDTHS)


@pytest.mark.parametrize("a, b", [(HWNC, "FRACTAL_NZ"), ("FRACTAL_NZ", HWNC), ("NCHW", "{N, C, H}"), ("NCHW", "NDC1HWC0")])
def test_dims_that_do_not_match(cx, a, b):
    with pytest.raises(ravel.Error, match="dims"):
        cx.plan(a, b, (2, 3, 4, 5), "f32")


# --- the address space's odd corners

def test_rank_0(cx):
    with cx.plan("ROW_MAJOR", "COL_MAJOR", (), "f32") as p:
        p.verify()
        assert p.run(np.array([1, 2, 3, 4], np.uint8)).tolist() == [1, 2, 3, 4]


def test_rank_16(cx):
    shape = (2, 1, 2, 1, 3, 1, 1, 2, 1, 1, 2, 1, 1, 2, 1, 3)
    with cx.plan("ROW_MAJOR", "COL_MAJOR", shape, "u8") as p:
        p.verify()
        a = np.arange(np.prod(shape), dtype=np.uint8)
        assert np.array_equal(p.run(a), a.reshape(shape).T.reshape(-1))


@pytest.mark.parametrize("dtype, fill, byte", [
    ("i8", -3, [0xFD]), ("u8", 255, [0xFF]), ("f16", -2.5, [0, 0xC1]), ("bf16", 1, [0x80, 0x3F]),
    ("f32", 0.5, [0, 0, 0, 0x3F]), ("f64", 1, [0]*6 + [0xF0, 0x3F]), ("i16", -2, [0xFE, 0xFF]),
    ("c64", 1, [0, 0, 0x80, 0x3F, 0, 0, 0, 0]), ("c128", 1, [0]*6 + [0xF0, 0x3F] + [0]*8), ("i4", -1, None), ("u2", 2, None)])
def test_fill(cx, dtype, fill, byte):
    to = "{A//4, A%%4, fill = %s}" % fill
    bits = {"i4": 4, "u2": 2}.get(dtype) or len(byte)*8
    with cx.plan("{A}", to, (5,), dtype) as p:
        p.verify()
        out = ravel.unpack(p.run(np.zeros(p.src_bytes, np.uint8)), bits)
    want = np.full(3, fill & ((1 << bits) - 1), np.uint8) if byte is None else np.array(byte*3, np.uint8)
    assert np.array_equal(out[5:] if byte is None else ravel.pack(out[5:], bits), want)


@pytest.mark.parametrize("dtype, fill", [("u8", 256), ("u8", -1), ("i8", 128), ("u1", 2), ("i4", 8), ("u8", 0.5)])
def test_fill_that_does_not_fit(cx, dtype, fill):
    with pytest.raises(ravel.Error, match="fill"):
        cx.plan("{A}", "{A//4, A%%4, fill = %s}" % fill, (5,), dtype)


def test_swizzle_in_bytes(cx):
    """Swizzle<3,4,3> on byte addresses of f32 is Swizzle<3,2,3> on elements."""
    shape = (8, 128)
    assert np.array_equal(cx.table('{R, C, swizzle = xor(3, 4, 3), unit = "bytes"}', shape, "f32"),
                          cx.table("{R, C, swizzle = xor(3, 2, 3)}", shape, "f32"))


@pytest.mark.parametrize("bits", WIDTHS)
def test_larger(cx, bits):
    """Enough for whole tiles, unrolled runs and their ends."""
    for a, b in [("(N,C){N, C}", "(N,C){C, N}"), ("(N,C){N//16, C//16, N%16, C%16}", "(N,C){C//5, N, C%5}")]:
        assert_relayout(cx, a, b, ["N", "C"], (131, 259), bits)


@pytest.mark.parametrize("a, b, shape", [
    ("(A,B){A//7, B//5, A%7, B%5}", "(A,B){A//11, B//8, A%11, B%8}", (150, 140)),
    ("(A,B,C){A//3, B//5, C//7, A%3, B%5, C%7}", "(A,B,C){A//4, B//6, C//9, A%4, B%6, C%9}", (31, 33, 35)),
    ("(A){A//1009, A%1009}", "(A){A%1013, A//1013}", (100000,)),
    ("(A){A//127, A%127}", "(A){A//128, A%128}", (70000,))])
def test_blocks_that_never_meet(cx, a, b, shape):
    """Coprime blocks: the period is their product, the boxes are many."""
    assert_relayout(cx, a, b, O.dims(a, None), shape, 16)
