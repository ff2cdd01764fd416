"""(H + 4) % extent(H) and (H + 1) % (extent(H) + 2) with an extent at run time: shifts around a dim, and borders."""

import subprocess

import numpy as np
import pytest

import ravel
from views import RAVEL, random_bytes

SIDES = [1, 2, 3, 4, 5, 7, 8, 9, 16, 23]
POISON = ravel.POISON | ravel.POISON << 8


def slots(n, by, more, flip=False):
    """The slot of each coordinate, by the definition."""
    return [((n - 1 + more) - (x + by) % (n + more)) if flip else (x + by) % (n + more) for x in range(n)]


def both_ways(cx, text, shape, want, n, fill=0, asked=None, dtype="bf16"):
    """want: the place of each element, in elements; n: how many the storage has."""
    asked = asked or (-1,) * len(shape)
    plain = "(%s){%s}" % (",".join("AB"[:len(shape)]), ", ".join("AB"[:len(shape)]))
    x = np.arange(1, np.prod(shape) + 1, dtype="u2")
    at = np.full(n, fill, "u2")
    at[np.asarray(want).reshape(-1)] = x
    for src, dst, given, result in ((plain, text, x, at), (text, plain, at, x)):
        with cx.plan(src, dst, asked, dtype) as p:
            one = ravel.PlanAt(p, shape)
            assert np.array_equal(one.run(given.view("u1")).view("u2"), result), (src, dst, shape)


@pytest.mark.parametrize("by", [0, 1, 2, 3, 7, 8, 13, 100, 4097, 1 << 20, -1, -3, -20])
@pytest.mark.parametrize("more", [0, 1, 2, 9])
def test_shift(cx, by, more):
    for n in SIDES:
        at = np.asarray(slots(n, by, more))
        text = f"(A,B){{(A + {by}) % (extent(A) + {more}), B}}" if by >= 0 else f"(A,B){{(A - {-by}) % (extent(A) + {more}), B}}"
        both_ways(cx, text, (n, 3), at[:, None] * 3 + np.arange(3), (n + more) * 3)
        both_ways(cx, text, (n, 3), at[:, None] * 3 + np.arange(3), (n + more) * 3, asked=(-1, 3))


@pytest.mark.parametrize("by", [-1, 0, 2, 6, -9])
@pytest.mark.parametrize("more", [0, 3])
def test_from_the_end(cx, by, more):
    """(by - A) is the last slot less (A + last - by)."""
    for n in SIDES:
        at = np.asarray([(by - x) % (n + more) for x in range(n)])
        both_ways(cx, f"(A,B){{B, ({by} - A) % (extent(A) + {more})}}", (n, 3), np.arange(3) * (n + more) + at[:, None], (n + more) * 3)


@pytest.mark.parametrize("text, by", [("(A + extent(A)//2) % extent(A)", lambda n: n // 2), ("(A + (extent(A) + 1)//2) % extent(A)", lambda n: (n + 1) // 2),
                                      ("(A + extent(A)//3 + 5) % extent(A)", lambda n: n // 3 + 5), ("(extent(A)//2 - 4 + A) % extent(A)", lambda n: n // 2 - 4),
                                      ("(A + extent(A) - 1) % extent(A)", lambda n: n - 1), ("(2 + A - extent(A)) % extent(A)", lambda n: 2)])
def test_by_extents(cx, text, by):
    """fftshift and its inverse, among others."""
    for n in SIDES:
        at = np.asarray(slots(n, by(n), 0))
        both_ways(cx, f"(A,B){{{text}, B}}", (n, 2), at[:, None] * 2 + np.arange(2), n * 2)
        if text == "(A + extent(A)//2) % extent(A)":
            assert np.array_equal(np.fft.fftshift(np.arange(n))[at], np.arange(n))


def test_both_dims(cx):
    text = "(A,B){(B + 3) % (extent(B) + 4), (A + 5) % extent(A)}"
    for n in SIDES:
        for m in (1, 2, 6, 11):
            a, b = np.asarray(slots(n, 5, 0)), np.asarray(slots(m, 3, 4))
            both_ways(cx, text, (n, m), b[None, :] * n + a[:, None], (m + 4) * n)


@pytest.mark.parametrize("by", [(0, 1), (3, 1), (2, 7), (9, -4)])
@pytest.mark.parametrize("more", [(0, 0), (2, 2), (0, 5)])
def test_both_sides(cx, by, more):
    """The borders of the two sides come in either order."""
    for n in SIDES:
        src, dst = (f"(A){{(A + {b}) % (extent(A) + {m})}}".replace("+ -", "- ") for b, m in zip(by, more))
        raw = random_bytes((n + more[0]) * 2, 3).view("u2")
        want = np.zeros(n + more[1], "u2")
        want[slots(n, by[1], more[1])] = raw[slots(n, by[0], more[0])]
        with cx.plan(src, dst, (-1,), "bf16") as p:
            assert np.array_equal(ravel.PlanAt(p, (n,)).run(raw.view("u1")).view("u2"), want)


def test_digits(cx):
    """Windows of a rolled image, and blocks behind a border: what no coordinate has is a hole."""
    for n in SIDES:
        at = np.asarray(slots(n, 53, 0))
        both_ways(cx, '(A,B){(A + 53)%extent(A)//7, B, (A + 53)%extent(A)%7, fill = "none"}', (n, 3),
                  at[:, None] // 7 * 21 + at[:, None] % 7 + np.arange(3) * 7, -(-n // 7) * 21, fill=POISON)
        at = np.asarray(slots(n, 1, 2))
        both_ways(cx, '(A,B){(A + 1)%(extent(A) + 2)//4, B, (A + 1)%(extent(A) + 2)%4, fill = "none"}', (n, 3),
                  at[:, None] // 4 * 12 + at[:, None] % 4 + np.arange(3) * 4, -(-(n + 2) // 4) * 12, fill=POISON)


def test_digits_of_the_other_side(cx):
    for n in SIDES:
        src, dst = '(A,B){A//4, B, A%4, fill = "none"}', "(A,B){(A + 3) % (extent(A) + 1), B}"
        raw = random_bytes(-(-n // 4) * 12 * 2, 5).view("u2")
        a = np.arange(n)
        want = np.zeros((n + 1, 3), "u2")
        want[slots(n, 3, 1)] = raw.reshape(-1, 3, 4)[a // 4, :, a % 4]
        with cx.plan(src, dst, (-1, 3), "bf16") as p:
            assert np.array_equal(ravel.PlanAt(p, (n, 3)).run(raw.view("u1")).view("u2"), want.reshape(-1))


def test_fills(cx):
    """A border has the fill: a number, nothing, the last element."""
    for n in SIDES:
        at = np.asarray(slots(n, 2, 3))
        where = at[:, None] * 3 + np.arange(3)
        both_ways(cx, "(A,B){(A + 2) % (extent(A) + 3), B, fill = 7}", (n, 3), where, (n + 3) * 3, fill=7, dtype="i16")
        both_ways(cx, '(A,B){(A + 2) % (extent(A) + 3), B, fill = "none"}', (n, 3), where, (n + 3) * 3, fill=POISON)
        with cx.plan("(A){A}", '(A){(A + 2) % (extent(A) + 3), fill = "edge"}', (-1,), "bf16") as p:
            got = ravel.PlanAt(p, (n,)).run(np.arange(n, dtype="u2").view("u1")).view("u2")
            assert np.array_equal(got, [n - 1] * 2 + list(range(n)) + [n - 1])


def test_padding_of_others(cx):
    """A dim that is counted from its end, beside blocks with padding to write."""
    for n, m in ((1, 1), (5, 6), (9, 12)):
        a, b = np.arange(n)[::-1, None], np.arange(m)
        both_ways(cx, "(A,B){B//4, extent(A) - 1 - A, B%4}", (n, m), b // 4 * n * 4 + a * 4 + b % 4, -(-m // 4) * n * 4)


def test_parameters_and_numbers(cx):
    """The shift and the border may be parameters, and extents that are numbers."""
    cx.load('layout "RING" { dims = {A, B}, S = 1, P = 8 // bytes, order = {(A + S) % (extent(A) + P), B} }')
    for n in SIDES:
        at = np.asarray(slots(n, 6, 4))
        both_ways(cx, "RING{S=6}", (n, 3), at[:, None] * 3 + np.arange(3), (n + 4) * 3)
        at = np.asarray(slots(n, 3, 0))
        both_ways(cx, "(A,B){(A + extent(B)) % extent(A), B}", (n, 3), at[:, None] * 3 + np.arange(3), n * 3, asked=(-1, 3))


def test_no_elements(cx):
    with cx.plan("(A,B){A, B}", "(A,B){(A + 4) % extent(A), B}", (-1, -1), "bf16") as p:
        assert ravel.PlanAt(p, (0, 3)).dst_bytes == 0
    with cx.plan("(A,B){A, B}", "(A,B){(A + 1) % (extent(A) + 2), B}", (-1, 3), "bf16") as p:
        one = ravel.PlanAt(p, (0, 3))
        assert np.array_equal(one.run(np.zeros(0, "u1")).view("u2"), np.zeros(6, "u2"))


@pytest.mark.parametrize("text", ["(A,B){(A + 1) % (extent(A) - 1), B}", "(A,B){(2*A) % extent(A), B}", "(A,B){(A + 1) % extent(B), B}", "(A,B){(A + 1) % extent(A), A, B, view = true}",
                                  "(A,B){(A + 1) % extent(A), B, pad = {A = 4}}", "(A,B){(1 - A) % extent(A) // 4, (1 - A) % extent(A) % 4, B}", "(A,B){(A + B) % extent(A), B}",
                                  "(A,B){(A + 1) % extent(A) // 4, (A + 2) % extent(A) % 4, B}", "(A,B){(A + 2000000) % extent(A), B}"])
def test_refused(cx, text):
    """What is no shift around an extent needs a number for it, and says so."""
    with pytest.raises(ravel.Error, match="its order uses an extent by name"):
        cx.plan(text, "(A,B){A, B}", (-1, -1), "bf16")


def test_edge_of_a_shifted_source(cx):
    """Padding that repeats the last element of a dim that the source shifts needs a number for its extent."""
    with pytest.raises(ravel.Error, match="give that extent as a number"):
        cx.plan("(H,W){W, (H + 1)%extent(H)}", '(H,W){H//8, W, H%8, fill = "edge"}', (-1, -1), "u8")


def test_many_digits_of_shifted_dims(cx):
    """Dims that are shifted, each of so many digits on the other side, in a drawn order, that a nest for each digit would have too many loops."""
    names, shape = "ABCDEFG", (3, 5, 4, 2, 7, 6, 3)
    digits = [digit % d for d in names for digit in ("%s%%2", "%s//2%%2", "%s//4%%2", "%s//8%%2", "%s//16")]
    np.random.default_rng(1).shuffle(digits)
    dims = ",".join(names)
    src, dst = "(%s){%s}" % (dims, ", ".join("(%s + 3)%%extent(%s)" % (d, d) for d in names)), "(%s){%s}" % (dims, ", ".join(digits))
    with cx.plan(src, dst, (-1,)*len(shape), "u8") as p, cx.plan("(%s){%s}" % (dims, dims), dst, shape, "u8") as q:
        x = np.random.default_rng(2).integers(1, 250, shape, np.uint8)
        rolled = np.roll(x, (3,)*len(shape), range(len(shape)))
        assert np.array_equal(ravel.PlanAt(p, shape).run(rolled.ravel()), q.run(x.ravel()))


def run(*args):
    return subprocess.run([RAVEL, *map(str, args)], capture_output=True, text=True, timeout=100)


@pytest.mark.parametrize("to, dtype", [("(N,C,H,W){N, C//4, (H + 1)%(extent(H) + 2), (W + 1)%(extent(W) + 2), C%4}", "f32"), ("(N,C,H,W){N, H, (W + 4)%extent(W), C}", "i8"),
                                       ("(N,C,H,W){N, C, H, (W + 3)%(extent(W) + 5)}", "i4"), ("(N,C,H,W){N, H, (W + extent(W)//2)%extent(W)//7, C, (W + extent(W)//2)%extent(W)%7}", "f16")])
def test_proven_and_emitted(tmp_path, to, dtype):
    r = run("verify", "--from", "NCHW", "--to", to, "--shape", "N,C,H,W", "--dtype", dtype)
    assert r.returncode == 0 and r.stdout.count("every bit is right") == 2, r.stdout + r.stderr
    r = run("emit", "--from", "NCHW", "--to", to, "--shape", "N,C,H,W", "--dtype", dtype, "--name", "f", "-o", tmp_path / "f.c", "--check", "gcc -O1 -Wall -Wextra -Werror")
    assert r.returncode == 0, r.stdout + r.stderr


def test_decided_for_every_shape():
    r = run("check", "(H,W){(H + 4)%extent(H), W}")
    assert r.returncode == 0 and "one-to-one for every shape" in r.stdout
    r = run("check", "(H,W){(H + 1)%(extent(H) + 2)//4, W}")
    assert r.returncode == 1 and "(0,0) and (1,0) are both at address 0" in r.stdout


def test_limits(cx):
    """The extent is bounded, so that no shift overflows."""
    with cx.plan("(A,B){A, B}", "(A,B){(A + 1000) % extent(A), B}", (-1, 1), "i8") as p:
        with pytest.raises(ravel.Error, match="0 to 1099511627776"):
            ravel.PlanAt(p, (2**41, 1))


def test_bounds_of_digits(cx):
    """A digit ends; the border is among the slots that it counts."""
    with cx.plan("(A,B){A, B}", '(A,B){(A + 1) % (extent(A) + 2) % 16, B, fill = "none"}', (-1, 1), "i8") as p:
        for n in (1, 13, 14):
            assert ravel.PlanAt(p, (n, 1)).dst_bytes == 16
        with pytest.raises(ravel.Error, match="0 to 14"):
            ravel.PlanAt(p, (15, 1))
    r = run("check", "(A,B){(A + 1) % (extent(A) + 2) % 16, B}")
    assert r.returncode == 0 and "one-to-one for every shape with A up to 14" in r.stdout


@pytest.mark.parametrize("text, by", [("(A + extent(A) - 1) % (extent(A) + 3)", -4), ("(A - extent(A) - extent(A)) % (extent(A) + 3)", 6)])
def test_by_extents_with_a_border(cx, text, by):
    for n in SIDES:
        at = np.asarray(slots(n, by, 3))
        both_ways(cx, f"(A,B){{{text}, B}}", (n, 2), at[:, None] * 2 + np.arange(2), (n + 3) * 2)


@pytest.mark.parametrize("layout, shape, given, dim, at", [
    ("(H,C){(3 - H)%extent(H)//8, C, (3 - H)%extent(H)%8}", (-1, -1), (32, -1), "H", "(3 - H)%extent(H)//8"),
    ("FRACTAL_Z_GROUPED", (-1, 16, -1, -1), (32, 16, -1, -1), "N", "N//("), ("FRACTAL_Z_GROUPED", (32, -1, 3, 3), (32, 16, 3, 3), "C", "N//(")])
def test_what_needs_a_number_is_named(cx, layout, shape, given, dim, at):
    """With that number the layout takes the other extents at run time."""
    rows = "(%s){%s}" % (",".join("abcd"[:len(shape)]), ", ".join("abcd"[:len(shape)]))
    with pytest.raises(ravel.Error) as e:
        cx.plan(layout, rows, shape, "bf16")
    assert "its order uses an extent by name, extent(%s) in '%s" % (dim, at) in str(e.value) and "give the extent of %s as a number" % dim in str(e.value)
    with cx.plan(layout, rows, given, "bf16"):
        pass
