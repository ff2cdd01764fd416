"""Extents at run time beside dims that are no digits: shifts, tables, swizzles and digits that do not nest, whose extents are numbers, against NumPy."""
import subprocess

import numpy as np
import pytest

import ravel
from test_arrays import data, run
from views import RAVEL


def shifted(n, by, of):
    return (np.arange(n) + by) % of


# A layout of (A, B, C), of which B has 12; the slots and the places of B in them, if A is the first and C the last entry.
MIDDLES = {
    "(B + 5)%12": (12, shifted(12, 5, 12)), "(B + 1)%14": (14, shifted(12, 1, 14)), "T[B//4], B%4, T = {2, 0, 1}": (12, np.array([2, 0, 1])[np.arange(12) // 4] * 4 + np.arange(12) % 4),
    "B//6, B%6//4, B%6%4": (16, np.arange(12) // 6 * 8 + np.arange(12) % 6 // 4 * 4 + np.arange(12) % 6 % 4), "extent(B) - 1 - B": (12, 11 - np.arange(12)),
    "(B + 9)%12//4, (B + 9)%12%4": (12, shifted(12, 9, 12)), "(B//4 + B%4)%4, B%4": (16, (np.arange(12) // 4 + np.arange(12) % 4) % 4 * 4 + np.arange(12) % 4)}
SHAPES = [(1, 12, 1), (2, 12, 5), (7, 12, 8), (5, 12, 33)]


@pytest.mark.parametrize("middle", MIDDLES)
@pytest.mark.parametrize("named", [(0,), (2,), (0, 2)])
def test_both_ways(cx, middle, named):
    entries, fields = (middle.split(", T =") + [""])[:2]
    layout = "(A,B,C){A, %s, C%s, fill = 7}" % (entries, ", T =" + fields if fields else "")
    if "B%4" in middle and "T" not in middle and "//4, (B" not in middle or "B%6" in middle:
        layout = layout.replace("7}", '"none"}')         # it has slots that no coordinate has
    slots, place = MIDDLES[middle]
    for shape in SHAPES:
        rq = [-1 if d in named else n for d, n in enumerate(shape)]
        x = data(shape, "u2")
        stored = np.full((shape[0], slots, shape[2]), ravel.POISON | ravel.POISON << 8 if "none" in layout else 7, "u2")
        stored[:, place] = x
        for src, dst, given, want in (("{A, B, C}", layout, x, stored), (layout, "{A, B, C}", stored, x)):
            with cx.plan(src, dst, rq, "u16") as p:
                assert np.array_equal(ravel.PlanAt(p, shape).run(given.reshape(-1).view("u1")).view("u2"), want.reshape(-1)), (src, dst, shape)
                if shape == SHAPES[1]:
                    p.verify()


@pytest.mark.parametrize("bits", [64, 32])
@pytest.mark.parametrize("layout,at", [
    ("(A,B){A, B, swizzle = xor(3, 0, 3)}(64,8)", lambda a, b: a * 8 + (b ^ a % 8)), ("(A,B){A//8, A%8, B ~ A%8}(64,8)", lambda a, b: a * 8 + (b ^ a % 8)),
    ("(A,B){(A + 3)%64, T[B], T = {7, 1, 6, 2, 0, 3, 5, 4}}(64,8)", lambda a, b: (a + 3) % 64 * 8 + np.array([7, 1, 6, 2, 0, 3, 5, 4])[b])])
def test_lengths_of_arrays(cx, layout, at, bits):
    """The tensor has numbers for extents, so that it can be any; how many rows an array selects is left to run time."""
    text = "%s[%sidx]" % (layout, "i32 " if bits == 32 else "")
    x = data((512,), "u4")
    with cx.plan(text, "{A, B}", (-1, 8), "u32") as gather, cx.plan("{A, B}", text, (-1, 8), "u32") as scatter:
        for n in (1, 3, 64, 40):
            idx = np.random.default_rng(n).permutation(64)[:n].astype("i%d" % (bits // 8))
            places = at(idx[:, None].astype("i8"), np.arange(8)[None])
            y, z = np.zeros((n, 8), "u4"), data((512,), "u4", seed=4)
            run(gather, y, x, [idx], (n, 8))
            assert np.array_equal(y, x[places])
            want = z.copy()
            want[places] = y
            run(scatter, z, y, [idx], (n, 8))
            assert np.array_equal(z, want)
        gather.verify()
        scatter.verify()


@pytest.mark.parametrize("layout,shape,why", [
    ("(A,B){A, (B + 1)%7}", (3, -1), "two coordinates share an address"), ("(A,B){A, (B*2)%12}", (-1, 12), "the digit B//6 is stored nowhere"),
    ("(A,B){A//2, A%3, (B + 1)%7}", (-1, 7), "not made of digits"), ("(A,B){A//2, A%3, B}", (-1, 7), "no structure was found"),
    ("(A,B){(A + B)%12, B}", (-1, 12), "two coordinates share an address"), ("(A,B){(B + 1)%7, swizzle = xor(2, 0, 2)}", (-1, 7), "two coordinates share an address"),
    ("(A,B){A, B, swizzle = xor(2, 0, 2)}", (-1, 8), "a swizzle fits storage that is whole blocks"), ("(A,B){A, T[B], T = {1, 0}}", (2, -1), "not made of digits")])
def test_refused(cx, layout, shape, why):
    for sides in ((layout, "{A, B}"), ("{A, B}", layout)):
        with pytest.raises(ravel.Error, match=why):
            cx.plan(*sides, shape, "u16")


def test_what_check_says():
    def said(*words):
        return subprocess.run([RAVEL, "check", *words], capture_output=True, text=True).stdout.splitlines()
    halo = "(N,C,H,W){N, C, (H + 1)%(extent(H) + 2), W}"
    assert said(halo, "--shape", "N,C,5,W") == ["yes: %s is one-to-one for every shape with H = 5" % halo, "  never dense: some values of its digits do not occur"]
    assert said("(A,B){A//4, A%4, (B + 5)%12}", "--shape", "A,12") == ["yes: (A,B){A//4, A%4, (B + 5)%12} is one-to-one for every shape with B = 12", "  dense exactly when A is a multiple of 4"]
