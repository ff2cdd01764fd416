"""Parameters of layouts: a formula's value against Python's fractions, for element sizes that are no whole bytes too."""
import operator
import os
import random
from fractions import Fraction

import numpy as np
import pytest

import ravel

SEED = int(os.environ.get("RAVEL_SEED", "20240611"))
ROUNDS = 400
BITS = [1, 2, 4, 8, 16, 32, 64, 128]
LARGEST = 1 << 20


class NoValue(Exception):
    pass


def whole(f):
    def g(*args):
        if any(a.denominator != 1 for a in args):
            raise NoValue
        return Fraction(f(*map(int, args)))
    return g


def shifted(f):
    def g(a, b):
        if not 0 <= b <= 62:
            raise NoValue
        return f(a, b)
    return g


def divided(f):
    def g(a, b):
        if b <= 0:
            raise NoValue
        return Fraction(f(a, b))
    return g


BINARY = {"+": operator.add, "-": operator.sub, "*": operator.mul, "//": divided(operator.floordiv), "%": divided(operator.mod),
          "|": whole(operator.or_), "~": whole(operator.xor), "&": whole(operator.and_),
          "<<": whole(shifted(operator.lshift)), ">>": whole(shifted(operator.rshift)), "min": min, "max": max}
LUA_OWN = ("//", "%", "<<", ">>")     # of two literals Lua's own answer, or its complaint, is what a layout sees
UNARY = {"-": operator.neg, "~": whole(operator.invert)}


def drawn(rng, depth, leaves):
    """A formula's text and its value, None where it has none."""
    kind = rng.random()
    if depth == 0 or kind < 0.15:
        name = rng.choice([*leaves, *map(str, (0, 1, 2, 3, 5, 8, 32))])
        return name, leaves.get(name, Fraction(name) if name.isdigit() else None)
    a, x = drawn(rng, depth - 1, leaves)
    if kind < 0.25:
        op = rng.choice(list(UNARY))
        return "(%s(%s))" % (op, a), value(UNARY[op], x)
    b, y = drawn(rng, depth - 1, leaves)
    op = rng.choice([o for o in BINARY if o not in LUA_OWN or "bytes" in a + b or "bits" in a + b])
    text = "%s(%s, %s)" % (op, a, b) if op in ("min", "max") else "(%s %s %s)" % (a, op, b)
    return text, value(BINARY[op], x, y)


def value(f, *args):
    if None in args:
        return None
    try:
        v = f(*args)
    except NoValue:
        return None
    return v if abs(v) < 1 << 50 else None


@pytest.mark.parametrize("bits", BITS)
def test_formulas(cx, bits):
    """A storage of one block tells the parameter's value; what is no whole number above 0 is refused."""
    rng = random.Random("%d %d" % (SEED, bits))
    print("seed", SEED)
    seen = {"value": 0, "refused": 0}
    while min(seen.values()) < ROUNDS // 4 or sum(seen.values()) < ROUNDS:
        text, v = drawn(rng, rng.randrange(1, 4), {"bytes": Fraction(bits, 8), "bits": Fraction(bits)})
        good = v is not None and v.denominator == 1 and 0 < v <= LARGEST
        if v is not None and v > LARGEST:
            continue
        layout = "(A){A//C0, A%%C0, C0 = %s}" % text
        print(layout, v)
        if good:
            assert cx.bytes(layout, (1,), ravel.DTYPE[bits]) == (int(v)*bits + 7)//8
        else:
            with pytest.raises(ravel.Error) as e:
                cx.bytes(layout, (1,), ravel.DTYPE[bits])
            assert "C0" in str(e.value) or "divisor" in str(e.value), e.value
        seen["value" if good else "refused"] += 1


@pytest.mark.parametrize("text,dtype,pad", [("NC1HWC0{fill=-3}", "i8", -3), ("NC1HWC0{C0=32, fill = 128}", "u8", 128), ("NC1HWC0{fill=-1/0}", "f16", float("-inf")),
                                           ("NC1HWC0(P,Q,R,S){fill=7}", "u8", 7), ("NC1HWC0{fill=-0.0}", "f32", -0.0), ("{N, C//8, H, W, C%8, fill = 3.4028234663852886e38}", "f32", 3.4028234663852886e38), ("NC1HWC0{fill=\"edge\"}", "u8", None)])
def test_the_fill_that_a_use_gives(text, dtype, pad):
    """As a zero point: what channels 20 to 31 hold."""
    shape, t = (2, 20, 3, 5), {"i8": "i1", "u8": "u1", "f16": "f2", "f32": "f4"}[dtype]
    x = np.random.default_rng(7).integers(-9 if dtype == "i8" else 0, 100, shape).astype(t)
    width = {"f16": 16, "f32": 8}.get(dtype, 32)
    want = np.pad(x, ((0, 0), (0, -20 % width), (0, 0), (0, 0)), mode="edge") if pad is None else np.pad(x, ((0, 0), (0, -20 % width), (0, 0), (0, 0)), constant_values=pad)
    want = np.ascontiguousarray(want.reshape(2, -1, width, 3, 5).transpose(0, 1, 3, 4, 2))
    with ravel.Context() as cx, cx.plan("(P,Q,R,S){P,Q,R,S}" if "P" in text else "NCHW", text, shape, dtype) as p:
        y = np.zeros_like(want)
        assert ravel.lib.ravel_run(p.p, y.ctypes.data, x.ctypes.data) == 0
        assert y.tobytes() == want.tobytes()
        p.verify()


@pytest.mark.parametrize("text,why", [("NC1HWC0{fill={}}", "fill is a number"), ("CSR{fill=1}", "the fill of sparse format 'CSR' is part of the declaration"),
                                      ("NC1HWC0{fill=1.5}", "1.5"), ("NC1HWC0{fill=300}", "300"), ("NC1HWC0{fill=bytes}", "is a number, a name for one that each run is given, \"none\" or \"edge\"")])
def test_a_fill_that_is_refused(text, why):
    with ravel.Context() as cx, pytest.raises(ravel.Error, match=why):
        cx.plan("NCHW" if "NC1" in text else "ROW_MAJOR", text, (2, 20, 3, 5) if "NC1" in text else (4, 4), "u8")


@pytest.mark.parametrize("value, dtype", [("1e99", "f32"), ("-1e99", "f32"), ("3.5e38", "f32"), ("65520", "f16"), ("3.4e38*2", "bf16"), ("2^31", "i32")])
def test_a_fill_beyond_its_type(value, dtype):
    """A finite number is not rounded to an infinity, in a layout nor in a use."""
    for src, dst, shape in (("NCHW", "NC1HWC0{fill=%s}" % value, (1, 3, 2, 2)), ("{A}", "{A//4, A%%4, fill = %s}" % value, (5,))):
        with ravel.Context() as cx, pytest.raises(ravel.Error, match="cannot be held by " + dtype):
            cx.plan(src, dst, shape, dtype)


def test_unspecified_padding():
    """As "none": it is left as it is, in a layout and in a use."""
    with ravel.Context() as cx:
        for word in ("none", "unspecified"):
            for text in ("NC1HWC0{C0=4, fill=\"%s\"}" % word, "{N, C//4, H, W, C%%4, fill = \"%s\"}" % word):
                with cx.plan("NCHW", text, (1, 3, 2, 2), "u8") as p:
                    y = np.full(16, 77, np.uint8)
                    x = np.arange(12, dtype=np.uint8)
                    assert ravel.lib.ravel_run(p.p, y.ctypes.data, x.ctypes.data) == 0
                    want = np.full((4, 4), 77, np.uint8)
                    want[:, :3] = x.reshape(3, 4).T
                    assert np.array_equal(y.reshape(4, 4), want)
