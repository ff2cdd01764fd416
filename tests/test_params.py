"""Parameters of layouts: a formula's value against Python's fractions, for element sizes that are no whole bytes too."""
import operator
import os
import random
from fractions import Fraction

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
