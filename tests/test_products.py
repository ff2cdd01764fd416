"""Addresses in which a digit with few values is a factor of other digits: a nest for each value, against the oracle."""

import random

import pytest

import relayouts as R


def chosen(bits, addresses):
    """The address that the bits select, as products that are 0 unless the bits are those of its number."""
    if not bits:
        return addresses[0]
    zero, one = chosen(bits[1:], addresses[::2]), chosen(bits[1:], addresses[1::2])
    return "(1 - %s)*(%s) + %s*(%s)" % (bits[0], zero, bits[0], one)


def ordered(rng, start, digits):
    """The digits, each (text, extent), in any order from an address on."""
    rng.shuffle(digits)
    size, terms = 1, [str(start)]
    for text, n in digits:
        terms.append("%d*%s" % (size, text))
        size *= n
    return " + ".join(terms)


def case(rng, bits):
    """One or two bits of A, or A itself, select the order of the other digits."""
    values, low, high, p, q = 4, 3, 5, 16, 6
    while values*low*high*p*q > 1000:                # the slots of an entry are counted with as many combinations
        values, low, high, p, q = rng.choice([2, 2, 4]), rng.choice([1, 1, 2, 3]), rng.choice([1, 2, 5]), rng.randrange(1, 40), rng.randrange(1, 6)
    at = ["A//%d%%2" % (low << i) for i in range(values//2)]
    digits = [("(A%%%d)" % low, low), ("(A//%d)" % (low*values), high), ("P", p), ("Q", q)]
    starts = [low*high*p*q*k for k in rng.sample(range(values), values)]
    to = "(A,P,Q){%s}" % chosen(at, [ordered(rng, start, digits) for start in starts])
    a, b = rng.sample(["(A,P,Q){%s}" % ", ".join(rng.sample("APQ", 3)), to], 2)
    return {"from": a, "to": b, "shape": [low*values*high, p, q], "bits": bits, "shift": [rng.randrange(16), rng.randrange(16)]}


@pytest.mark.parametrize("bits", [1, 4, 8, 16, 32, 64])
def test_a_digit_selects_an_order(cx, bits):
    rng, done = random.Random(bits), 0
    for _ in range(30):
        c = case(rng, bits)
        out = R.judge(cx, c)
        assert not out.wrong, "%s: %s" % (c, out.wrong)
        done += not out.refused
    assert done > 25


def test_uyvy_to_planes(cx):
    n = 1031
    to = "(P,B){(1 - B%%2)*(%d + B//2*%d + P) + B%%2*(2*P + B//2)}" % (2*n, n)
    out = R.judge(cx, {"from": "(P,B){P, B}", "to": to, "shape": [n, 4], "bits": 8, "shift": [1, 0]}, back=True)
    assert not out.wrong and not out.refused
    assert out.source.count("ravel_shuffle(") > 1 and "%" not in out.source.split("ravel_shuffle(")[-1]


def test_more_values_than_nests(cx):
    """Dims of two values, all but one of which are factors: 2048 values of all."""
    dims = "ABCDEFGHIJKL"
    bits = ["%s + %s - 2*%s*%s" % (a, b, a, b) for a, b in zip(dims, dims[1:])]
    order = "(%s){%s}" % (",".join(dims), ", ".join(bits + [dims[-1]]))
    out = R.judge(cx, {"from": "(%s){%s}" % (",".join(dims), ", ".join(dims)), "to": order, "shape": [2]*len(dims), "bits": 8, "shift": [0, 0]})
    assert not out.wrong and not out.refused
