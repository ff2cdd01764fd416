"""Tables of integers in an order, T[G]: addresses and conversions against NumPy, how they are written, and what is wrong with them."""
import numpy as np
import pytest

import ravel
from command import bad, good, here, run          # noqa: F401: the fixture `here`

RNG = np.random.default_rng(3)


def numbers(t):
    return "{%s}" % ", ".join(map(str, t))


def gates(t):
    """Gates of an LSTM in another order, their rows as they are: C is 4 * 6."""
    c, h = np.indices((24, 5))
    return "(C, H){T[C//6], C%%6, H, T = %s}" % numbers(t), (24, 5), (np.array(t)[c // 6] * 6 + c % 6) * 5 + h


def codebook(t):
    m, k = np.indices((3, 4 * len(t)))
    return "(M, K){M, K//%d, T[K%%%d], T = %s}" % (len(t), len(t), numbers(t)), m.shape, (m * 4 + k // len(t)) * len(t) + np.array(t)[k % len(t)]


def two(t):
    """The same table twice, one index with a parameter."""
    a, b = np.indices((2 * len(t), len(t)))
    layout = "(A, B){T[A//P], T[B], A%%P, P = 2, T = %s}" % numbers(t)
    return layout, a.shape, (np.array(t)[a // 2] * (max(t) + 1) + np.array(t)[b]) * 2 + a % 2


CASES = [gates(t) for t in ([1, 3, 0, 2], [2, 1, 0, 3], [0, 1, 2, 3])]
CASES += [f(RNG.permutation(n).tolist()) for f in (codebook, two) for n in (1, 2, 3, 8, 16)]
CASES += [two(t) for t in ([5, 0, 2], [7], [0, 10, 5, 15])]      # slots that no number has: holes


@pytest.fixture(scope="module")
def cx():
    with ravel.Context() as c:
        yield c


@pytest.mark.parametrize("layout, shape, want", CASES)
def test_addresses(cx, layout, shape, want):
    assert np.array_equal(cx.table(layout, shape, "f32"), want)


@pytest.mark.parametrize("dtype, bits", [("u4", 4), ("u8", 8), ("f32", 32)])
@pytest.mark.parametrize("layout, shape, want", CASES[1::3])
def test_conversions(cx, layout, shape, want, dtype, bits):
    """Elements are scattered and gathered; holes are not written."""
    plain = "(%s){%s}" % ((layout[1:layout.index(")")],) * 2)
    n = int(np.prod(shape))
    x = ravel.numbers(RNG.integers(0, 2 ** 31, n), bits)
    stored = ravel.scatter(x, want, cx.bytes(layout, shape, dtype) * 8 // bits, bits)
    with cx.plan(plain, layout, shape, dtype) as plan:
        assert np.array_equal(plan.run(ravel.pack(x, bits)), stored)
        plan.verify()
    with cx.plan(layout, plain, shape, dtype) as plan:
        assert np.array_equal(ravel.unpack(plan.run(stored), bits)[:n], x)


def test_how_it_is_written(here):               # noqa: F811
    """A table is a field; other names for dims; the printed declaration is one."""
    open("g.lua", "w").write('layout "GATES" { dims = { G, H }, t = { 1, 3, 0, 2 }, order = { t[G], H } }')
    say = good("check", "g.lua:GATES", "--shape", "4,5")
    assert say.startswith("yes: g.lua:GATES is one-to-one for shape 4,5 (its independent parts were examined: 4 values)\n  dense: 20 elements")
    text = "(G, H){t[G], H, t = {1, 3, 0, 2}}"
    assert text in good("explain", "--from", "{G, H}", "--to", "g.lua:GATES", "--shape", "4,5", "--dtype", "f32")
    assert good("check", "g.lua:GATES", "--equals", text, "--shape", "4,5").startswith("yes")
    assert good("check", "g.lua:GATES(X,Y)", "--equals", "(X,Y){t[X], Y, t = {1, 3, 0, 2}}", "--shape", "4,5").startswith("yes")
    assert good("index", text + "(4,5)[2, 1:]", "--at", "3") == "4\n"
    good("emit", "--from", "{G, H}", "--to", text, "--shape", "4,50", "--dtype", "f16", "-o", "f.c", "--check", "gcc -O1")
    body = open("f.c").read()
    assert "%" not in body[body.index("\nvoid "):]
    good("show", text, "--shape", "4,5", "--html", "p.html")
    bad("check", "g.lua:GATES{t = {0, 1, 2, 3}}", "--shape", "4,5", says="a table is part of the declaration")


@pytest.mark.parametrize("layout, shape, says", [
    ("(G,H){T[G], H, T = {1, 3, 0, 2}}", "5,5", "order[1], 'T[G]': the table has the numbers 0 to 3, and G can be 4"),
    ("(G,H){T[G//2 - 1], H, T = {1, 0}}", "4,5", "G//2 - 1 can be -1"),
    ("(G,H){G//4, T[G%4], H, T = {0, 1, 2}}", "2,5", "G%4 can be 3"),
    ("(G,H){T[G], H}", "4,5", "there is no table 'T'; write it beside the order, as in T = {2, 0, 1}"),
    ("(G,H){T[G], H, T = 3}", "4,5", "there is no table 'T'"),
    ("(G,H){T, G, H, T = {1, 0}}", "4,5", "a table is indexed, as in T[G]"),
    ("(G,H){G, H, T = {1, 0}}", "4,5", "'T' is not used anywhere"),
    ("(G,H){T[G], H, T = {1, -1}}", "2,5", "T[1], counted from 0, is no whole number from 0"),
    ("(G,H){T[G], H, T = {1, 0.5}}", "2,5", "T[1], counted from 0, is no whole number from 0"),
    ("(G,H){T[G], H, T = {}}", "2,5", "table 'T' has 0 numbers"),
    ("(G,H){T[G], H, T = %s}" % numbers(np.arange(500) ** 2 % 499), "500,5", "runs of evenly spaced numbers: at most 100"),
    ("(G,H){T[G], H, pad = {H = T[G]}, T = {1, 0}}", "2,5", "only in order"),
])
def test_what_is_wrong(layout, shape, says):
    bad("check", layout, "--shape", shape, says=says)


def test_a_number_that_is_there_twice():
    r = run("check", "(G,H){T[G], H, T = {1, 3, 1, 2}}", "--shape", "4,5")
    assert r.returncode == 1 and b"(0,0) and (2,0) are both at address 5" in r.stdout
    bad("explain", "--from", "{G, H}", "--to", "(G,H){T[G], H, T = {0, 1, 0}}", "--shape", "3,5", "--dtype", "u8", says="(0,0) and (2,0)")
