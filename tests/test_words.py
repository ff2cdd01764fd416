"""Orders of the elements of a word, and of a few rows of words, that are declared by exclusive ors: by the kernel shuffle, against the oracle."""

import random
import re

import pytest

import ravel
import relayouts as R

WIDTHS = [1, 2, 4, 8, 16, 32, 64]


def order(rng, rows, cols):
    """The bits of a row's and a column's number in any order, each xored with some that come later, and some turned over."""
    bits = ["R[%d]" % i for i in range(rows)] + ["C[%d]" % i for i in range(cols)]
    rng.shuffle(bits)
    entries = [" ~ ".join([bits[i]] + [b for b in bits[i + 1:] if rng.random() < 0.3]) for i in range(len(bits))]
    return ["1 - (%s)" % e if rng.random() < 0.2 else e for e in entries]


def layout(rng, rows, cols):
    upper = ["R//%d" % 2**rows if rows else "R", "C//%d" % 2**cols]
    if rng.random() < 0.2:
        upper.reverse()
    return "(R,C){%s}" % ", ".join(upper + order(rng, rows, cols))


def case(rng, bits):
    rows, cols = rng.choice([(0, 2), (0, 3), (0, 4), (1, 3), (2, 2), (2, 4), (3, 3)])
    other = rng.choice(["(R,C){R, C}", "(R,C){C, R}", layout(rng, rows, cols)])
    a, b = rng.sample([layout(rng, rows, cols), other], 2)
    shape = [rng.choice([1, 3, 4, 5]) << rows, rng.choice([1, 4, 8, 9, 20]) << cols]
    if rng.random() < 0.2:
        shape[1] -= 1
    return {"from": a, "to": b, "shape": shape, "bits": bits, "shift": [rng.randrange(16), rng.randrange(16)]}


@pytest.mark.parametrize("bits", WIDTHS)
def test_orders_by_exclusive_ors(monkeypatch, bits):
    """With the default costs, by which they are shuffled on every processor."""
    monkeypatch.setenv("RAVEL_PROCESSOR", "default")
    rng, shuffled = random.Random(bits), 0
    with ravel.Context() as cx:
        for _ in range(60):
            c = case(rng, bits)
            out = R.judge(cx, c)
            assert not out.wrong, "%s: %s" % (c, out.wrong)
            shuffled += "ravel_shuffle(" in out.source
    assert shuffled > 20


def digits(dim, low, high):
    return ["%s[%d]" % (dim, i) for i in range(low, high)]


@pytest.mark.parametrize("bits", [4, 8, 16, 32])
def test_bits_of_addresses_change_places(cx, bits):
    """Rows beside tiles whose address bits are those of rows and columns in any order, but for runs of 16 bytes or more on both sides: by the
    kernel butterfly where the processor permutes 128 bytes."""
    rng = random.Random(1000 + bits)
    for _ in range(12):
        run = (128//bits).bit_length() - 1                # columns that stay together, or rows
        rows, cols = rng.choice([2, 4, run]), run + rng.randrange(3)
        kept = digits("C", 0, min(run, cols)) if rng.random() < 0.5 else digits("R", 0, rows) + digits("C", 0, run - rows)
        others = [d for d in digits("R", 0, rows) + digits("C", 0, cols) if d not in kept]
        rng.shuffle(others)
        rng.shuffle(kept)
        tiled = "(R,C){R//%d, C//%d, %s}" % (2**rows, 2**cols, ", ".join(others + kept))
        shape = [rng.choice([1, 3, 4]) << rows, rng.choice([1, 3, 9]) << cols]
        a, b = rng.sample([tiled, "(R,C){R, C}"], 2)
        out = R.judge(cx, {"from": a, "to": b, "shape": shape, "bits": bits, "shift": [3, 2]}, back=True)
        assert not out.wrong and not out.refused, (a, b, shape, out.wrong)


def test_places_that_are_no_sums(cx):
    """Eight places at 0, 1, 4, 5, 8, 9, 12 and 30: seven of them are as far apart as those of two loops."""
    to = "(A,B){A//8, A%2 + 4*(A//2%4) + 17*(A%8//7) + 2*B}"
    out = R.judge(cx, {"from": "(A,B){A, B}", "to": to, "shape": [64, 2], "bits": 8, "shift": [0, 0]})
    assert not out.wrong and not out.refused


@pytest.mark.parametrize("bits, shape", [(4, (3, 1031)), (4, (1031, 3)), (4, (15, 700)), (4, (333, 18)), (2, (700, 6)), (2, (5, 1027)),
                                         (1, (4096, 3)), (1, (9, 2050)), (1, (2052, 12))])
def test_transposes_with_few_rows(cx, bits, shape):
    """Chunks of rows begin at whole bytes; the elements beyond the last whole byte are done apart."""
    out = R.judge(cx, {"from": "(R,C){R, C}", "to": "(R,C){C, R}", "shape": shape, "bits": bits, "shift": [3, 1]}, back=True)
    assert not out.wrong and not out.refused


@pytest.mark.parametrize("bits", [1, 2, 4])
def test_transposes_around_blocks(cx, bits):
    """Blocks of the kernel bits_transpose in part, and its buffers in part."""
    m = 128//bits
    for shape in [(m, m), (m + 1, m - 1), (m - 1, 2*m + 1), (2*m + 8, m + 3), (5, 8*m + 5), (8*m + 1, m + 24), (525, 3*m + 7)]:
        out = R.judge(cx, {"from": "(R,C){R, C}", "to": "(R,C){C, R}", "shape": shape, "bits": bits, "shift": [1, 3]}, back=True)
        assert not out.wrong and not out.refused, shape


@pytest.mark.parametrize("bits", [1, 2, 4])
def test_transposes_with_short_rows(cx, bits):
    """Rows that touch, of up to 64 and of up to 127 bits, of the source and, back, of the destination: eight are taken at a time.  Longer
    ones, up to 8 bits less than a vector, are written with what is after them."""
    for row in [9, 40, 63, 64, 65, 117, 121, 127, 130, 249, 255, 257, 505, 511, 513]:
        out = R.judge(cx, {"from": "(R,C){R, C}", "to": "(R,C){C, R}", "shape": (333, max(5, row//bits)), "bits": bits, "shift": [3, 2]}, back=True)
        assert not out.wrong and not out.refused, row


@pytest.mark.parametrize("bits", [1, 2, 4])
def test_transposes_in_several_tiles(cx, bits):
    """Tiles of the kernel bits_transpose that share bytes of the destination with those before them and with rows beside them."""
    m = 128//bits
    for names, shape, to in [("R,C", (8*m + 9, 261), "C, R"), ("R,C", (117, 523), "C, R"), ("R,C", (9*m, 256), "C, R"),
                             ("R,A,C", (8*m + 1, 2, 70), "C, A, R"), ("R,A,C", (5, 3, 259), "C, A, R")]:
        out = R.judge(cx, {"from": "(%s){%s}" % (names, names), "to": "(%s){%s}" % (names, to), "shape": shape, "bits": bits,
                           "shift": [5, 2]})
        assert not out.wrong and not out.refused, shape


def test_threads_own_whole_bytes(cx):
    """Rows of an odd number of elements of 2 bits: parts of so many rows that they end with a byte, as the proof sees."""
    with cx.plan("(R,C){R, C}", "(R,C){C, R}", (2049, 2305), 2) as plan:
        assert re.search(r"for \(int64_t c = \d+\*part/parts", plan.source), plan.source
        plan.verify()


def test_threads_of_planes_that_interleave(cx):
    """Planes A and B lie among each other, so a row of one can end in a byte in which a row of the other begins: a strided copy of a tensor."""
    to = "(A,B,C,D){3146240*A + 3543520*B + 12290*C + D}"
    with cx.plan("(A,B,C,D){A, B, C, D}", to, (2, 2, 256, 3999), 1) as plan:
        plan.verify()


@pytest.mark.parametrize("bits", [1, 2, 4])
def test_permutations_of_odd_extents(cx, bits):
    rng = random.Random(bits)
    for _ in range(60):
        order = rng.sample("ABC", 3)
        shape = [rng.choice([3, 5, 7, 9, 15, 21, 31, 33, 45, 61, 63]) for _ in order]
        c = {"from": "(A,B,C){A, B, C}", "to": "(A,B,C){%s}" % ", ".join(order), "shape": shape, "bits": bits, "shift": [0, 0]}
        out = R.judge(cx, c)
        assert not out.wrong, "%s: %s" % (c, out.wrong)
