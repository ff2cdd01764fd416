"""extent(R) - 1 - R with an extent at run time: a flip, without an extent that the plan is for."""

import subprocess

import numpy as np
import pytest

import ravel
from views import RAVEL, random_bytes

SHAPES = [(1, 1, 1), (2, 3, 5), (7, 9, 4), (16, 33, 2)]
# layout, what it stores of a tensor
CASES = [("(A,B,C){extent(A) - 1 - A, B, C}", lambda x: x[::-1]), ("(A,B,C){A, extent(B) - B - 1, C}", lambda x: x[:, ::-1]),
         ("(A,B,C){C, extent(B) - 1 - B, extent(A) - 1 - A}", lambda x: x[::-1, ::-1].transpose(2, 1, 0))]


@pytest.mark.parametrize("named", [(0, 1, 2), (1,), (0, 2)])
@pytest.mark.parametrize("layout, stored", CASES)
def test_both_ways(cx, layout, stored, named):
    for shape in SHAPES:
        rq = [-1 if d in named else n for d, n in enumerate(shape)]
        x = np.arange(np.prod(shape), dtype="u2").reshape(shape)
        at = np.ascontiguousarray(stored(x))
        for src, dst, given, want in (("{A, B, C}", layout, x, at), (layout, "{A, B, C}", at, x)):
            with cx.plan(src, dst, rq, "bf16") as p:
                one = ravel.PlanAt(p, shape)
                assert np.array_equal(one.run(given.reshape(-1).view("u1")).view("u2"), want.reshape(-1)), (src, dst, shape)


def test_blocks_of_others(cx):
    """Padding of other dims, in a source and in a destination that writes it or does not."""
    text = "(A,B){extent(A) - 1 - A, B//4, B%4}"
    with cx.plan(text, "{A, B}", (-1, -1), "bf16") as p:
        one = ravel.PlanAt(p, (5, 6))
        raw = random_bytes(one.src_bytes, 1)
        want = raw.view("u2").reshape(5, 8)[::-1, :6]
        assert np.array_equal(one.run(raw).view("u2").reshape(5, 6), want)
    with cx.plan("{A, B}", text, (-1, -1), "bf16") as p:
        one = ravel.PlanAt(p, (5, 6))
        raw = random_bytes(one.src_bytes, 1)
        want = np.zeros((5, 8), "u2")
        want[::-1, :6] = raw.view("u2").reshape(5, 6)
        assert np.array_equal(one.run(raw).view("u2"), want.reshape(-1))
    with cx.plan("{A, B}", text.replace("B%4}", 'B%4, fill = "none"}'), (-1, -1), "bf16") as p:
        one = ravel.PlanAt(p, (5, 6))
        raw = random_bytes(one.src_bytes, 1)
        want = np.full((5, 8), ravel.POISON | ravel.POISON << 8, "u2")
        want[::-1, :6] = raw.view("u2").reshape(5, 6)
        assert np.array_equal(one.run(raw).view("u2"), want.reshape(-1))


@pytest.mark.parametrize("layout", ["(A,B){extent(A) - 1 - A, A, B, view = true}", "(A,B){(extent(A) - 1 - A)//4, (extent(A) - 1 - A)%4, extent(A) - B}", "(A,B){extent(A) - 2 - A, B}",
                                    "(A,B){extent(A) - 1 - A, B, pad = {A = 4}}", "(A,B){extent(A) - 1 - A + extent(A), B}", "(A,B){extent(B) - 1 - A, B}"])
def test_refused(cx, layout):
    """What is no flip needs a number."""
    with pytest.raises(ravel.Error):
        cx.plan(layout, "{A, B}", (-1, 4), "bf16")


def test_declared_with_parameters(cx):
    cx.load('layout "FL" { dims = {A, B}, P = 2, order = {extent(A) - 1 - A, B//P, B%P} }')
    with cx.plan("FL{P=4}", "{A, B}", (-1, 8), "bf16") as p:
        one = ravel.PlanAt(p, (3, 8))
        raw = random_bytes(one.src_bytes, 1)
        assert np.array_equal(one.run(raw).view("u2").reshape(3, 8), raw.view("u2").reshape(3, 8)[::-1])


@pytest.mark.parametrize("shape", ["A,3", "A,B", "4,B"])
def test_proofs(tmp_path, shape):
    layout = "(A,B){B, extent(A) - 1 - A}"
    r = subprocess.run([RAVEL, "verify", "--from", "{A, B}", "--to", layout, "--shape", shape, "--dtype", "f32"], capture_output=True, text=True, timeout=120)
    assert r.returncode == 0 and r.stdout.count("yes:") == 2, r.stdout + r.stderr
    r = subprocess.run([RAVEL, "emit", "--from", "{A, B}", "--to", layout, "--shape", shape, "--dtype", "f32", "-o", tmp_path / "f.c", "--check", "gcc -O1 -Wall -Wextra -Werror"],
                       capture_output=True, text=True, timeout=120)
    assert r.returncode == 0 and r.stdout.startswith("yes:"), r.stdout + r.stderr


def c16(x):
    n, c, h, w = x.shape
    p = np.zeros((n, -(-c // 16) * 16, h, w), "u2")
    p[:, :c] = x
    return np.ascontiguousarray(p.reshape(n, -1, 16, h, w).transpose(0, 1, 3, 4, 2))


# a part of NC1HWC0, a plain layout, what the part has of the tensor, what the plain layout has of that
BLOCKS = [("NC1HWC0[:, ::-1]", "NHWC", lambda x: x[:, ::-1], lambda x: x.transpose(0, 2, 3, 1)), ("NC1HWC0[:, ::-1]", "NCHW", lambda x: x[:, ::-1], lambda x: x),
          ("NC1HWC0[:, ::-1, :, ::-1]", "NCHW", lambda x: x[:, ::-1, :, ::-1], lambda x: x), ("NC1HWC0[..., ::-1, :, :]", "NHWC", lambda x: x[:, ::-1], lambda x: x.transpose(0, 2, 3, 1)),
          ("NC1HWC0[0, ::-1]", "(C,H,W){H, C, W}", lambda x: x[0, ::-1], lambda x: x.transpose(1, 0, 2)), ("NC1HWC0[:, ::-1]", "NHWC[:, ::-1]", lambda x: x[:, ::-1], lambda x: x[:, ::-1].transpose(0, 2, 3, 1))]


@pytest.mark.parametrize("named", ["all", "C"])
@pytest.mark.parametrize("part, plain, has, stored", BLOCKS)
def test_blocks_from_the_end(cx, part, plain, has, stored, named):
    """A dim in blocks, counted from its end, with its extent left to run time."""
    for n, c, h, w in ((1, 1, 2, 3), (1, 16, 2, 2), (1, 35, 3, 2), (1, 47, 1, 1), (1, 33, 2, 5)):
        x = np.random.default_rng(c).integers(1, 1 << 16, (n, c, h, w)).astype("u2")
        shape = has(x).shape
        rq = [-1 if named == "all" or k == len(shape) - 3 else e for k, e in enumerate(shape)]
        raw, at = c16(x).reshape(-1), np.ascontiguousarray(stored(has(x))).reshape(-1)
        if "0, ::-1" in part:
            part = part.replace("NC1HWC0[", "NC1HWC0(1,C,H,W)[")
        with cx.plan(part, plain, rq, "f16") as p:
            assert np.array_equal(ravel.PlanAt(p, shape).run(raw.view("u1")).view("u2"), at), shape
        with cx.plan(plain, part, rq, "f16") as p:
            want = np.where(c16(np.ones_like(x)) > 0, c16(x), ravel.POISON | ravel.POISON << 8).reshape(-1)
            assert np.array_equal(ravel.PlanAt(p, shape).run(at.view("u1")).view("u2"), want), shape


def test_blocks_from_both_ends(cx):
    """Blocks on both sides that begin at different ends, and padding that is written, need the number."""
    with cx.plan("NC1HWC0[:, ::-1]", "NC1HWC0[:, ::-1]", (-1, -1, -1, -1), "f16"):
        pass
    for to in ("NC1HWC0", 'NC1HWC0{C0=8, fill="none"}'):
        with pytest.raises(ravel.Error, match="stored in blocks on both sides"):
            cx.plan("NC1HWC0[:, ::-1]", to, (-1, -1, -1, -1), "f16")


@pytest.mark.parametrize("text", ["(A,B){extent(A) - 1 - A, B}", "(A,B){B, extent(A) - A - 1}", "(A,B){(extent(A) - 1 - A)//4, B, (extent(A) - 1 - A)%4}",
                                  "(A,B){extent(B) - 1 - B, A//8, A%8}"])
def test_inverse_for_every_shape(text):
    """Of the entries as Python evaluates them."""
    r = subprocess.run([RAVEL, "check", text], capture_output=True, text=True, timeout=60)
    assert r.returncode == 0 and "one-to-one for every shape" in r.stdout, r.stdout + r.stderr
    entries, *back = r.stdout.split("inverse, of the entries of its order: ")[1].strip().split("\n")
    parts = [e.split(" = ", 1) for e in entries.split(", ")]
    assert [e for e, _ in parts] == ["e%d" % (i + 1) for i in range(len(parts))] and len(back) == 2
    for n in (1, 2, 7, 8, 13):
        numbers = [x.replace("extent(A)", str(n)).replace("extent(B)", "3") for _, x in parts]
        for a, b in np.ndindex(n, 3):
            of = {e: eval(x, {}, {"A": a, "B": b}) for (e, _), x in zip(parts, numbers)}
            assert [eval(x.split(" = ", 1)[1].replace("extent(A)", str(n)).replace("extent(B)", "3"), {}, of) for x in back] == [a, b]
