"""Inverses of layouts that are not made of digits: tables with gaps, digits that do not nest, swizzles over tables, lists of a part of a
tensor. Each address has the coordinates that NumPy finds, or none, in emitted code and in the iterator."""

import ctypes as ct
import itertools
import os
import subprocess

import numpy as np
import pytest

import ravel
from runtime_cases import built

RAVEL = str(ravel.BUILD / "ravel")
SEED = int(os.environ.get("RAVEL_SEED", "7"))


def run(*words, code=0):
    r = subprocess.run([RAVEL, *map(str, words)], capture_output=True, text=True, timeout=60)
    assert r.returncode == code, r.stdout + r.stderr
    return r.stdout + r.stderr


def numbers(list_):
    return "{%s}" % ", ".join(map(str, list_))


def table_with_gaps(rng):
    """T[C//q], C%q, H: some numbers have no gate."""
    n, q, h = rng.integers(2, 9), rng.integers(1, 5), rng.integers(1, 4)
    t = rng.permutation(n + rng.integers(0, 9))[:n]
    c, i = np.indices((n*q, h))
    return "(C,H){T[C//%d], C%%%d, H, T = %s}" % (q, q, numbers(t)), (n*q, h), (t[c//q]*q + c % q)*h + i


def table_of_two(rng):
    n, m = rng.integers(2, 6, 2)
    t = rng.permutation(n*m + rng.integers(0, 5))[:n*m]
    a, b, c = np.indices((n, 3, m))
    return "(A,B,C){B, T[A*%d + C], T = %s}" % (m, numbers(t)), (n, 3, m), b*(t.max() + 1) + t[a*m + c]


def not_nested(rng):
    """C//p, C%p//q, C%q, where q divides p no longer."""
    p, q = ((6, 4), (10, 4), (15, 9), (9, 6))[rng.integers(4)]
    n = p*rng.integers(1, 4)
    c, h = np.indices((n, 2))
    slots = -(-p//q)
    return "(C,H){C//%d, H, C%%%d//%d, C%%%d%%%d}" % (p, p, q, p, q), (n, 2), ((c//p*2 + h)*slots + c % p//q)*q + c % p % q


def remainders(rng):
    """Two numbers that have no common divisor tell a coordinate."""
    p, q = ((5, 3), (7, 4), (9, 4), (8, 5))[rng.integers(4)]
    x, y = np.indices((p, q))
    return "(X,Y){(X*%d + Y*%d)%%%d}" % (q, p, p*q), (p, q), (x*q + y*p) % (p*q)


def stepped(rng):
    """The numbers of a table are steps of an entry, between which there is another dim."""
    n, k = rng.integers(3, 7), rng.integers(2, 5)
    t = rng.permutation(n + 2)[:n]
    c, x = np.indices((n, k))
    return "(C,X){%d*T[C] + X, T = %s}" % (k + 1, numbers(t)), (n, k), (k + 1)*t[c] + x


def skewed(rng):
    """A dim that follows from another one and a remainder only within its extent."""
    x, y = np.indices((6, 10))
    by = rng.integers(2, 4)
    if rng.integers(2):
        return "(X,Y){X, (X + %d*Y)%%40}" % by, (6, 10), x*40 + (x + by*y) % 40
    s = (2*x - y + 1) % 17
    return "(X,Y){X, (2*X - Y + 1)%17//2, (2*X - Y + 1)%17%2}", (6, 10), (x*9 + s//2)*2 + s % 2


def swizzled_table(rng):
    t = rng.permutation(8)
    b, s = ((2, 3), (3, 4), (1, 5))[rng.integers(3)]
    m, k = np.indices((16, 8))
    a = ((m + 3) % 16)*8 + t[k]
    return "(M,K){(M + 3)%%16, T[K], T = %s, swizzle = xor(%d, 0, %d)}" % (numbers(t), b, s), (16, 8), a ^ (a >> s & (1 << b) - 1)


def listed(rng):
    """A list selects along one dim of a tensor in blocks, the others are cut and turned around."""
    n, k = rng.integers(5, 12), rng.integers(2, 5)
    at = rng.permutation(n)[:k]
    c, h = np.indices((n, 6))
    whole = (c//4*6 + h)*4 + c % 4
    return "(C,H){C//4, H, C%%4}(%d,6)[[%s], ::-2]" % (n, ",".join(map(str, at))), (k, 3), whole[at][:, ::-2]


def listed_table(rng):
    t, at = rng.permutation(9)[:6], rng.permutation(6)[:4]
    a, b = np.indices((6, 3))
    return "(A,B){B, T[A], T = %s}(6,3)[[%s]]" % (numbers(t), ",".join(map(str, at))), (4, 3), (b*(t.max() + 1) + t[a])[at]


KINDS = [table_with_gaps, table_of_two, not_nested, remainders, stepped, skewed, swizzled_table, listed, listed_table]
CALLS = """
int call(int i, int64_t a, int64_t *x);
int call(int i, int64_t a, int64_t *x)
{
    switch (i) {
%s
    default: return -1;
    }
}
"""


def shape_of(shape):
    return ",".join(map(str, shape))


def cases(count):
    rng = np.random.default_rng(SEED)
    return [kind(rng) for kind in KINDS for _ in range(count)]


def test_emitted(tmp_path):
    """All addresses and some that are none; the storage ends at an address that check says."""
    texts, of = "", cases(12)
    for i, (layout, shape, _) in enumerate(of):
        made = run("emit", "--kind", "inverse", "--to", layout, "--shape", shape_of(shape), "--dtype", "f32", "--name", "f%d" % i)
        texts += made[made.index("#include"):] if not i else made[made.index("/* 1 and the logical"):].replace("__attribute__((unused))", "")
    helpers = "".join("static int64_t ravel_%s(int64_t x, int64_t y) { return x %s y ? x : y; }\n" % w for w in (("min", "<"), ("max", ">")))
    head, first = texts.split("/* 1 and the logical", 1)
    head = head[:head.index("static")] if "static" in head else head
    (tmp_path / "f.c").write_text(head + helpers + "/* 1 and the logical" + first
                                  + CALLS % "\n".join("    case %d: return f%d(a, x);" % (i, i) for i in range(len(of))))
    call = ct.CDLL(str(built(tmp_path / "f.c", "gcc"))).call
    call.argtypes = [ct.c_int, ct.c_int64, ct.c_void_p]
    for i, (layout, shape, addr) in enumerate(of):
        at = {int(a): x for x, a in np.ndenumerate(addr)}
        assert len(at) == addr.size
        back = np.empty(max(1, len(shape)), np.int64)
        for a in [-1 << 63, -2, -1, *range(max(at) + 40), 1 << 40, (1 << 63) - 1]:
            found = call(i, a, back.ctypes.data)
            assert (tuple(back.tolist()) if found else None) == at.get(a), (layout, shape, a)


@pytest.mark.parametrize("kind", KINDS, ids=lambda k: k.__name__)
def test_asked(kind):
    """The command has an inverse for the layout, and finds elements by it."""
    layout, shape, addr = kind(np.random.default_rng(SEED + 1))
    assert "inverse, of address a" in run("check", layout, "--shape", shape_of(shape))
    for x, a in itertools.islice(np.ndenumerate(addr), 5):
        assert run("index", layout, "--shape", shape_of(shape), "--inverse", "--at", a) == shape_of(x) + "\n"


@pytest.mark.parametrize("n", [180, 600])
def test_many_runs(n):
    """The inverse of a table of few runs can have many runs; with more than 180 it is none in closed form, and elements are searched."""
    table = list(range(0, n, 2)) + list(range(1, n, 2))
    layout = "(C){T[C], T = %s}" % numbers(table)
    assert ("no inverse in closed form" in run("check", layout, "--shape", n)) == (n == 600)
    for c in (0, 1, n//2 - 1, n//2, n - 1):
        assert run("index", layout, "--shape", n, "--inverse", "--at", table[c]) == "%d\n" % c
