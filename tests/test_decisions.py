"""Every answer of `ravel check`, for random layouts and for known mistakes, held against addresses that tests/orders.py works out.

A no must come with a witness that this evaluator confirms; a yes is confirmed by looking at every element; an inverse is evaluated,
by Python, at every address.  RAVEL_SEED sets the seed, RAVEL_DECISIONS how many layouts a block has."""

import collections
import json
import math
import os
import random
import re
import subprocess

import numpy as np
import pytest

import draw as D
import orders as O
import ravel

SEED = int(os.environ.get("RAVEL_SEED", "20261121"))
EACH = int(os.environ.get("RAVEL_DECISIONS", "20" if "RAVEL_AGAIN" in os.environ else "250"))   # fewer on the slow build
BLOCKS = 8
REFUSALS = ["can be negative", "not known to be 0 or more", "whole number of", "64 bits", "moves parts of"]


def check(*args):
    """(exit code, JSON) of ravel check; None where the layout cannot be made at all."""
    r = subprocess.run([str(ravel.BUILD / "ravel"), "check", *args, "--json"], capture_output=True, text=True, timeout=60)
    if r.returncode == 2:
        assert r.stdout == "" and r.stderr.startswith("ravel: ")
        return 2, r.stderr
    assert r.stderr == "" and r.returncode in (0, 1)
    return r.returncode, json.loads(r.stdout)


def ask(layout, shape, bits, *args):
    return check(layout, "--shape", ",".join(map(str, shape)), "--dtype", ravel.DTYPE[bits], *args)


class Truth:
    """A layout of one shape, looked at element by element."""
    def __init__(self, layout, shape, bits):
        self.x, self.shape, self.bits = O.inline(layout), tuple(shape), bits
        self.dims, _, _, _, extent, stride, self.size = self.x.box(self.shape, bits)
        self.slots = math.prod(extent)                 # the rest of the storage is what a pitch leaves
        self.coords = np.indices(self.shape)
        entries = self.x.entries(list(self.coords), bits)
        linear = sum((e*s for e, s in zip(entries, stride)), np.zeros(self.shape, np.int64)).reshape(-1)
        self.one_to_one = np.unique(linear).size == linear.size
        self.linear, self.addr = linear, self.swizzled(linear)
        self.fits = O.tells_apart(self.addr, self.size)

    def swizzled(self, a):
        return self.x.map(a, self.bits) if self.x.swizzle else a

    def at(self, x):
        assert all(0 <= i < n for i, n in zip(x, self.shape)), "the witness is no element"
        return int(self.addr[np.ravel_multi_index(tuple(x), self.shape)])


def confirm_no(t, j):
    w = j["witness"]
    if "addresses" in w:                               # of the swizzle
        to = t.swizzled(np.array(w["addresses"])).tolist()
        assert np.isin(w["addresses"], t.linear).all() and set(to) == {w["to"]}
        assert len(set(w["addresses"])) == 2 or not 0 <= w["to"] < t.size
        assert not t.fits and not j["usable"]
        assert j["one_to_one"] == ("yes" if np.unique(t.addr).size == t.addr.size else "no")
        return "swizzle"
    assert w["x"] != w["y"] and t.at(w["x"]) == t.at(w["y"]) == w["address"]
    assert not t.one_to_one
    return "collision"


def confirm_pair(x, shape, bits, w):
    pair = [np.array(c) for c in zip(w["x"], w["y"])]
    at = sum(e*s for e, s in zip(x.entries(pair, bits), x.box(tuple(shape), bits)[5]))
    at = x.map(at, bits) if x.swizzle else at
    assert w["x"] != w["y"] and all(0 <= i < n for p in (w["x"], w["y"]) for i, n in zip(p, shape))
    assert at.tolist() == [w["address"]]*2
    return "collision"


def confirm_gaps(t, j, bits, whole):
    """The runs are what is not an element's, and of these what is padding."""
    empty = np.ones(t.size, bool)
    empty[t.addr] = False
    assert j["onto"] == ("no" if empty.any() else "yes")
    assert ("gap" in j) == bool(empty.any()) and (not empty.any() or empty[j["gap"]])
    runs = j["gaps"]
    said = np.zeros(t.size, bool)
    for g in runs:
        said[g["from"]:g["to"] + 1] = True
    end = runs[-1]["to"] + 1 if j["more_gaps"] else t.size
    assert np.array_equal(said[:end], empty[:end])
    if not j["usable"]:
        return
    assert j["elements"] == t.addr.size and j["elements"] + j["padding"] + j["holes"] == t.size
    if not whole or t.x.fill == "none":                # how far A%7, A%9 is padded is a matter of definition
        return
    p = t.x.place(t.shape, bits)
    pads = np.zeros(t.size, bool)
    pads[p.pad] = True
    assert all(pads[g["from"]:g["to"] + 1].all() == pads[g["from"]:g["to"] + 1].any() == (g["is"] == "padding") for g in runs)
    assert j["padding"] == p.pad.size


def evaluated(text, env):
    """An expression as ravel prints it, by Python."""
    return eval(text.replace("~", "^"), {"__builtins__": {}, "min": np.minimum, "max": np.maximum}, env)


def confirm_inverse(t, j):
    for d, name in enumerate(t.dims):
        got = np.broadcast_to(evaluated(j["inverse"][name], {"a": t.addr}), t.addr.shape)
        assert np.array_equal(got, t.coords[d].reshape(-1)), name


def assert_decided(layout, shape, bits, whole):
    code, j = ask(layout, shape, bits)
    if code == 2:
        assert any(w in j for w in REFUSALS), (layout, j)
        return "refused"
    try:
        t = Truth(layout, shape, bits)
    except O.Refused:
        raise
    except ValueError:                                 # the evaluator has no interval for it
        return "no interval"
    assert j["size"] == t.size
    if j["one_to_one"] == "no" or "addresses" in j.get("witness", {}):
        assert code == 1
        kind = confirm_no(t, j)
        if t.addr.max() >= t.size or t.addr.min() < 0:   # by a swizzle that does not fit
            assert j["onto"] == "unknown"
        elif kind == "collision":
            confirm_gaps(t, j, bits, whole)
        return kind
    assert j["one_to_one"] == "yes" and t.one_to_one
    assert code == (0 if j["usable"] else 1)
    confirm_gaps(t, j, bits, whole)
    if not j["usable"]:
        assert "stored twice" in j["why"] and j["onto"] == "no"      # a digit too many leaves holes
        return "twice"
    assert t.fits
    assert ("unfilled" in j) == (t.x.fills and j["holes"] > t.size - t.slots)
    if "inverse" in j:
        confirm_inverse(t, j)
    return "yes, inverse" if "inverse" in j else "yes"


def taken_apart(text):
    front, entries, settings = O.dissect(text)
    return "(%s)" % ",".join(front) if front else "", entries, settings


def random_case(rng, digits=False):
    """(layout, its shape, bits, whether it is as it was drawn): one in three is spoiled somehow.  digits: no sums that turn."""
    while True:
        try:
            return drawn(rng, digits)
        except ValueError:                             # spoiled into what no evaluator reads
            continue


def snake(rng, names, shape, entries, whole):
    """An entry backwards in every other row, or block of rows, of a dim; in one of three ways to write it."""
    i, by = rng.randrange(len(entries)), rng.choice(names)
    m = re.fullmatch(r"([A-F])(?:(?://\d+)?%(\d+))?", entries[i])
    if not m:
        return entries, whole
    last, turn = int(m[2] or shape[names.index(m[1])]) - 1, "%s%s%%2" % (by, rng.choice(["", "//2", "//3"]))
    back = rng.choice(["(1 - {t})*({x}) + {t}*({k} - ({x}))", "({x}) + {t}*({k} - 2*({x}))", "({x})*(1 - 2*({t})) + {k}*({t})"])
    return entries[:i] + [back.format(t=turn, x=entries[i], k=last)] + entries[i+1:], False


def drawn(rng, digits):
    bits, shape = rng.choice(D.WIDTHS), D.shape_of(rng, rng.choice([1, 2, 2, 3, 3, 4, 5, 6]))
    names = "ABCDEF"[:len(shape)]
    layout, whole = D.Layout(rng, names, shape, bits).draw(), True
    while rng.random() < 0.2:
        layout, whole = D.spoiled(rng, layout), False
    front, entries, settings = taken_apart(layout)
    if rng.random() < 0.1:                             # a digit too many
        entries, whole = [rng.choice(entries)] + entries, False
    i = rng.randrange(len(entries))                    # an xor with bits of another dim, stored elsewhere or not
    m = re.fullmatch(r"[A-F](?://\d+)?%(2|4|8|16|32)", entries[i])
    if m and rng.random() < 0.5:
        other = "%s//%d%%%s" % (rng.choice(names), rng.choice([1, 1, 2, 4]), m[1])
        entries[i], whole = "(%s) ~ (%s)" % (entries[i], other), False
    if rng.random() < 0.1 and "pitch" not in settings: # whether it fits the storage or not, a permutation or not
        low, up = rng.randrange(3), rng.randrange(3)
        settings["swizzle"] = "function(a) return a ~ (a >> %d & 3) << %d end" % (low + up, low)
        settings.pop("unit", None)
    if rng.random() < 0.2:                             # whether all of the storage can be filled or not
        whole &= settings.get("fill") != '"none"'
        settings["fill"] = rng.choice(["0", "1", '"edge"'])
    m = re.fullmatch(r"([A-F])%(\d+)", rng.choice(entries))
    if m and not digits and rng.random() < 0.3:        # rows that are rotated by another dim, which is stored elsewhere
        entries[entries.index(m[0])] = "(%s + %s)%%%s" % (m[1], rng.choice(names), m[2])
        whole = False
    if not digits and rng.random() < 0.1:
        entries, whole = snake(rng, names, shape, entries, whole)
    layout = D.written(front, entries, settings)
    return layout, D.extents_of(layout, names, shape), bits, whole


@pytest.mark.parametrize("block", range(BLOCKS))
def test_random_layouts(block):
    rng = random.Random("%d %d" % (SEED, block))
    print("seed", SEED, "block", block)
    seen = collections.Counter()
    for _ in range(EACH):
        layout, shape, bits, whole = random_case(rng)
        print(layout, shape, bits)
        seen[assert_decided(layout, shape, bits, whole)] += 1
    print(dict(seen))
    if EACH >= 200:
        assert min(seen[k] for k in ("yes, inverse", "collision", "twice", "swizzle")) > 2, seen
        assert seen["refused"] + seen["no interval"] < EACH // 5, seen


# --- every shape

def dense_as_said(j, dims, shape):
    return all(n == w["is"] if w["bounded"] else n % w["multiple_of"] == 0 for n, w in ((n, j["dense_when"][d]) for d, n in zip(dims, shape)))


def random_shape(rng, j, dims):
    """Extents for which the answer is said to hold; half of them such that it is dense, if there are."""
    bound = dict(re.findall(r"(\w+) up to (\d+)", j["for"]))
    if j.get("dense") == "yes" and rng.random() < 0.5:
        return [w["is"] if w["bounded"] else w["multiple_of"]*rng.randrange(1, 3) for w in (j["dense_when"][d] for d in dims)]
    most = max(2, int(3000**(1/len(dims))))
    return [rng.randrange(1, 1 + min(most, int(bound.get(d, most)))) for d in dims]


def assert_every(rng, layout, bits):
    code, j = check(layout, "--dtype", ravel.DTYPE[bits])
    if code == 2:
        assert any(w in j for w in REFUSALS), (layout, j)
        return "refused"
    if j["one_to_one"] == "unknown":
        assert code == 1
        return "unknown"
    if j["one_to_one"] == "no":
        shape = tuple(map(int, re.fullmatch(r"shape \((.*)\)", j["for"])[1].strip(",").split(",")))
        if math.prod(shape) > 1 << 20:                 # the two elements alone
            return confirm_pair(O.inline(layout), shape, bits, j["witness"])
        return confirm_no(Truth(layout, shape, bits), j)
    dims = O.inline(layout).dims
    for _ in range(6):
        shape = random_shape(rng, j, dims)
        if math.prod(shape) > 50000:
            continue
        try:
            t = Truth(layout, shape, bits)
        except ValueError:                             # no interval, or a pitch that is no whole number of elements
            continue
        assert t.one_to_one
        if j.get("dense") in ("yes", "no"):
            assert (t.size == t.addr.size) == (j["dense"] == "yes" and dense_as_said(j, dims, shape)), shape
        if "inverse_of_entries" in j:
            env = dict(zip(j["entries"], t.x.entries(list(t.coords), bits)))
            for d, name in enumerate(dims):
                assert np.array_equal(np.broadcast_to(evaluated(j["inverse_of_entries"][name], env), t.coords[d].shape), t.coords[d])
    return "yes, inverse" if "inverse_of_entries" in j else "yes"


@pytest.mark.parametrize("block", range(4))
def test_random_layouts_of_every_shape(block):
    rng = random.Random("every %d %d" % (SEED, block))
    print("seed", SEED, "block", block)
    seen = collections.Counter()
    for _ in range(EACH // 4):
        layout, _, bits, _ = random_case(rng, digits=True)
        print(layout, bits)
        seen[assert_every(rng, layout, bits)] += 1
    print(dict(seen))
    if EACH >= 200:
        assert min(seen[k] for k in ("unknown", "yes, inverse", "collision")) > 2, seen
        assert seen["unknown"] + seen["refused"] < EACH//4 * 0.35, seen


@pytest.mark.parametrize("layout", [
    "{A, 8*(B//4) + 3 - B%4}", "(A,B,C){((A) ~ (B)) ~ (B), C, B}", "{M, (K//8%8) ~ (M%8), K%8}", "{M//4, (M%4) ~ (K%4), K}",
    "{A//2, (A%2) ~ (A//4%2), B}", "{A, 6*(B//6) + B%6}", "{A >> 3, B, A & 7}", "(A,B){A//4//2, B, A%8}",
    "{M//8, K//64, M%8, (K//8%8) ~ (M%8), K%8}"])
def test_dense_exactly_when_it_is_said(layout):
    rng = random.Random(layout)
    for _ in range(12):
        assert assert_every(rng, layout, 8).startswith("yes") or "((A)" in layout


@pytest.mark.parametrize("layout, dim", [("{5 - B}", "B"), ("{61 - 4*(C//4) - K%4, C%4}", "C"), ("{A, 20 - 3*B}", "B"), ("{B%4, 3 - B//4}", "B")])
def test_reversed_dims_end_where_they_turn_negative(layout, dim):
    code, j = check(layout, "--dtype", "u8")
    bound = {d: int(n) for d, n in re.findall(r"(\w+) up to (\d+)", j["for"])}
    shape = [bound.get(d, 3) for d in O.inline(layout).dims]
    assert code == 0 and ask(layout, shape, 8)[0] == 0 and "inverse_of_entries" in j
    shape[O.inline(layout).dims.index(dim)] += 1
    assert ask(layout, shape, 8)[0] == 2


# --- equality

def rewritten(rng, layout):
    """The same function in other words, or nearly: a digit cut in two that stay neighbours; a dim as a sum of its digits."""
    front, entries, settings = taken_apart(layout)
    for _ in range(rng.randrange(1, 4)):
        i = rng.randrange(len(entries))
        m = re.fullmatch(r"([A-F])(?://(\d+))?%(\d+)", entries[i])
        if m and int(m[3]) % 2 == 0 and int(m[3]) > 2 and not any("[" in k for k in settings.get("pitch", "")):
            low, k = int(m[2] or 1), int(m[3])
            entries[i:i+1] = ["%s//%d%%%d" % (m[1], 2*low, k//2), "%s//%d%%2" % (m[1], low)]
        elif re.fullmatch("[A-F]", entries[i]) and rng.random() < 0.3:     # the same digits, but more slots
            k = rng.choice([2, 3, 4])
            entries[i] = "%d*(%s//%d) + %s%%%d" % (k, entries[i], k, entries[i], k)
    return D.written(front, entries, settings)


def assert_equal_decided(a, b, shape, bits):
    """shape: of a's dims, which b has too, in the same order."""
    code, j = ask(a, shape, bits, "--equals", b)
    if code == 2:
        return "refused"
    try:
        ta, tb = Truth(a, shape, bits), Truth(b, shape, bits)
    except ValueError:
        return "no interval"
    same = np.array_equal(ta.addr, tb.addr)
    assert j["equal"] == ("yes" if same else "no") and code == (0 if same else 1)
    assert j["sizes"] == [ta.size, tb.size]
    if not same:
        w = j["witness"]
        assert w["shape"] == list(shape) and ta.at(w["x"]) == w["address"] != w["other"] == tb.at(w["x"])
    return "yes, " + j["proven_by"] if same else "no"


def assert_equal_every(a, b, bits, rng):
    code, j = check(a, "--equals", b, "--dtype", ravel.DTYPE[bits])
    if code == 2 or j["equal"] == "unknown":
        return "unknown"
    if j["equal"] == "no":
        w = j["witness"]
        try:
            ta, tb = Truth(a, w["shape"], bits), Truth(b, w["shape"], bits)
        except ValueError:
            return "no interval"
        assert ta.at(w["x"]) == w["address"] != w["other"] == tb.at(w["x"])
        return "no"
    for _ in range(5):
        shape = [rng.randrange(1, rng.choice([4, 9, 20])) for _ in O.inline(a).dims]
        if math.prod(shape) > 20000 or check(a, "--shape", ",".join(map(str, shape)), "--dtype", ravel.DTYPE[bits])[0] == 2:
            continue
        try:
            same = np.array_equal(Truth(a, shape, bits).addr, Truth(b, shape, bits).addr)
        except ValueError:
            continue
        assert same, shape
    return "yes"


@pytest.mark.parametrize("block", range(4))
def test_equality(block):
    rng = random.Random("equal %d %d" % (SEED, block))
    print("seed", SEED, "block", block)
    seen, every = collections.Counter(), collections.Counter()
    for _ in range(EACH // 4):
        a, shape, bits, _ = random_case(rng)
        b = rewritten(rng, a) if rng.random() < 0.6 else D.spoiled(rng, a)
        try:
            if O.inline(b).dims != O.inline(a).dims:
                continue
        except ValueError:
            continue
        print(a, b, shape, bits)
        seen[assert_equal_decided(a, b, shape, bits)] += 1
        every[assert_equal_every(a, b, bits, rng)] += 1
    print(dict(seen), dict(every))
    if EACH >= 200:
        assert min(seen[k] for k in ("yes, structure", "no")) > 5 and min(every[k] for k in ("yes", "no")) > 5, (seen, every)


# --- known mistakes, each with a sentence

SAYS = [
    # CUTLASS TensorNCxHWx<32> with its packed strides, C = 48: n's stride is no whole vector's
    (("(N,C,H,W){192*N + 128*(C//32) + 64*H + 32*W + C%32}", "--shape", "2,48,2,2"), 1,
     "(0,32,1,0) and (1,0,0,0) are both at address 192", "one step of 'N' is 192, but the other terms reach 255: the strides overlap"),
    (("{N*80*56*56 + C//32*56*56*32 + H*56*32 + W*32 + C%32}", "--shape", "64,80,56,56"), 1, "are both at address 250880", "overlap"),
    (("(OH,OW,KH,KW,C){OH*2 + KH, OW*2 + KW, C}", "--shape", "112,112,7,7,64"), 1, "(1,0,0,0,0) and (0,0,2,0,0)", "overlap"),
    # an xor over 6 chunks
    (("{M, ((K//8) ~ (M%8)) % 6, K%8}", "--shape", "8,48"), 1, "divides an xor by 6, which is no power of two"),
    (("{M, (K//8%6) ~ (M%8), K%8}", "--shape", "8,48"), 0, "an xor of the 6 values of 'K//8%6': 6 is no power of two", "(hole)"),
    (("{M, K, swizzle = xor(3, 3, 3)}", "--shape", "10,48"), 1, "outside the 480 elements", "whole number of its blocks"),
    (("(A,B){A, (A%5) ~ (B%5)}", "--shape", "9,5"), 0, "45 elements in 72", "an xor of the 5 values of 'A%5'"),
    # 003 8.3: its claimed inverse is itself; 8.4's is
    (("SEED83", "--equals", "{Y, X}", "--shape", "32,32"), 1, "is at address"),
    (("{A, swizzle = function(a) return a ~ (a >> 2 & 7) << 5 end}", "--shape", "1024"), 0, "inverse, of address a"),
    # 003 4.3, 4.5: strides ascending, stride 0
    (("(A,B){B, A}", "--shape", "2,3"), 0, "A = a%2", "B = a//2"),
    (("(A,B){B}", "--shape", "2,3"), 1, "(0,0) and (1,0) are both at address 0: the digit A is stored nowhere"),
    (("(A,B){B, view = true}", "--shape", "2,3"), 1, "it is a view: usable as --from, not as --to"),
    # 000: the figure of NHWC is HWNC
    (("NHWC", "--equals", "HWCN", "--shape", "2,3,3,3"), 1, "is at address"),
    # 000: the figure of NCHW64 has element 575 at 568's place; 63 lies before 64
    (("NCHW64", "--equals", "(N,C,H,W){N, C//64, H, W, C//8%8, C%8}", "--shape", "2,64,3,3"), 0, "equal"),
    # hiascend: C1 rounded down loses what does not fill a block
    (("(N,C,H,W){N, C//16%1, H, W, C%16}", "--shape", "1,20,2,2"), 1, "C//16 is stored nowhere"),
    # one element, and that one elsewhere
    (("{A//2, 1 - A%2}", "--equals", "{A//2, A%2}", "--shape", "1"), 1, "element (0) is at address 1"),
    # slots of a block as written are padding, though the simplifier sees C
    (("{6*(C//6) + C%6}", "--shape", "10"), 0, "2 padding, 0 holes", "no element at 10..11 (padding)"),
    # a boustrophedon, and one that turns too early
    (("(Y,X,C){Y, (1 - Y%2)*X + Y%2*(14 - X), C}", "--shape", "4,15,3"), 0, "dense: 180 elements"),
    (("(Y,X,C){Y, X + Y%2*(14 - 2*X), C}", "--shape", "4,15,3"), 0, "dense: 180 elements"),
    (("(Y,X,C){Y, X + Y%2*(5999 - 2*X), C}", "--shape", "4,6000,3"), 0, "dense: 72000 elements"),
    (("(Y,X){Y//4, (1 - Y//4%2)*(X%16) + Y//4%2*(15 - X%16), X//16, Y%4}", "--shape", "13,37"), 0, "287 padding, 0 holes"),
    (("(Y,X){2*Y - Y%3, X}", "--shape", "4,5"), 0, "20 elements in 35"),
    (("(Y,X){Y, X, min(X, 3) + (5 - min(X, 3))}", "--shape", "8,30"), 0, "240 elements in 1440"),
    (("(Y,X){Y, X, (X << 1) + (3 - 2*X)}", "--shape", "8,30"), 0, "240 elements in 960"),
    # overlapping windows
    (("(A,B){A + B}", "--shape", "4,3"), 1, "the strides overlap"),
]


@pytest.mark.parametrize("args, code, says", [(a, c, s) for a, c, *s in SAYS], ids=range(len(SAYS)))
def test_known_mistakes(args, code, says):
    r = subprocess.run([str(ravel.BUILD / "ravel"), "check", *args], capture_output=True, text=True)
    assert (r.returncode, r.stderr) == (code, "")
    assert all(s in r.stdout for s in says), r.stdout


@pytest.mark.parametrize("view", ["(A,B){B, view = true}", "(A,B){A + B, view = true}", "(A,B){A//2, B, view = true}",
                                  "(A,B){A%3, B, A%3, view = true}", "(A,B){B//2, A, swizzle = xor(1, 0, 1), view = true}"])
def test_views_are_read_but_not_written(cx, view):
    shape = (4, 3) if "swizzle" not in view else (4, 8)
    t = Truth(view.replace(", view = true", ""), shape, 16)
    data = np.arange(t.size, dtype=np.uint16)
    with cx.plan(view, "(A,B){B, A}", shape, 16) as plan:
        plan.verify()
        got = plan.run(data.view(np.uint8)).view(np.uint16)
    assert np.array_equal(got, data[t.addr].reshape(shape).T.reshape(-1))
    assert np.array_equal(cx.table(view, shape, 16).reshape(-1), t.addr)
    with pytest.raises(ravel.Error, match="a view that cannot be written to"):
        cx.plan("(A,B){B, A}", view, shape, 16)
    with pytest.raises(ravel.Error, match="may say view = true"):
        cx.plan(view.replace(", view = true", ""), "(A,B){B, A}", shape, 16) if "A%3" not in view else \
            cx.plan("(A,B){B, view = false}", "(A,B){B, A}", shape, 16)


def test_a_view_is_proven_one_way():
    args = [str(ravel.BUILD / "ravel"), "verify", "--from", "(A,B){B, view = true}", "--to", "{A, B}", "--shape", "3,4", "--dtype", "u8"]
    r = subprocess.run(args, capture_output=True, text=True)
    assert (r.returncode, r.stderr) == (0, "") and "the reverse direction is not proven: " in r.stdout and "is a view" in r.stdout
    r = subprocess.run(args + ["--json"], capture_output=True, text=True)
    assert r.returncode == 0 and len(json.loads(r.stdout)["proofs"]) == 1


@pytest.mark.parametrize("args, why", [
    (("SWIZZLE",), "whole blocks"), (("{A*33 + B*34, A*B}",), "not made of digits"),
    (("{A, B, swizzle = function(a) return a*5 % 4096 end}", "--shape", "100000,100000"), "too large")])
def test_what_cannot_be_decided_says_so(args, why):
    code, j = check(*args)
    assert code == 1 and j["one_to_one"] == "unknown" and why in j["why"]


# Skews of 2100 x 2000 elements, which are too many to be examined.
SKEWS = ["{X, (X + Y)%2000}", "{(X + Y)//2, (X + Y)%2, X}", "{X, X + Y}", "{(X + 2*Y)%2101, Y}", "{X, (3*Y + X)%6000}", "{X, (Y + 2100 - X)%2000}", "{X//8, X%8, ((X%8 + Y)%2000)//8, ((X%8 + Y)%2000)%8}",
         "{X, (X + Y)%1999}", "{X, (2*Y + X)%2000}", "{Y, (X + 3*Y)%2099}"]


@pytest.mark.parametrize("order", SKEWS)
def test_skews(order):
    """Against the addresses of all elements by NumPy."""
    X, Y = np.ogrid[:2100, :2000]
    entries = [np.broadcast_to(e, (2100, 2000)) for e in eval("[%s]" % order[1:-1])]
    address = np.zeros((2100, 2000), "i4")
    for e in entries:
        address = address*(int(e.max()) + 1) + e
    distinct = np.bincount(address.ravel()).max() == 1
    code, j = check("(X,Y)" + order, "--shape", "2100,2000")
    assert j["one_to_one"] == ("yes" if distinct else "no") and code == (not distinct) and (j.get("proven_by") in ("order", "factors"))
    if not distinct:
        a, b = tuple(j["witness"]["x"]), tuple(j["witness"]["y"])
        assert a != b and address[a] == address[b]


def test_a_case_that_does_not_fit_decides_nothing():
    """Case by case a sum of this layout leaves 64 bits; element by element none does."""
    far = 2400000000000000
    text = "(A,B){(1 - B%%2)*(%d - A*%d) + (1 - B//2%%2)*(%d - A*%d) + A*4 + B}" % (1000*far + 552, far, 1000*far + 552, far)
    r = subprocess.run([str(ravel.BUILD / "ravel"), "check", text, "--shape", "1000,4", "--dtype", "u1"], capture_output=True, text=True)
    assert r.returncode == 0 and r.stdout.startswith("yes: ") and not r.stderr


@pytest.mark.parametrize("text, shape, at", [("{2*A+(B+1)%3}", "4000000,3", lambda a, b: 2*a + (b + 1) % 3), ("{2*A+(B*B)%3, A%7}", "4000000,3000", lambda a, b: (2*a + b*b % 3)*7 + a % 7)])
def test_overlaps_near_the_origin(text, shape, at):
    """Too large to look at every element, and two of the first ones share an address."""
    r = subprocess.run([str(ravel.BUILD / "ravel"), "check", text, "--shape", shape], capture_output=True, text=True, timeout=60)
    assert r.returncode == 1, r.stdout
    x, y, where = re.search(r"\((\d+,\d+)\) and \((\d+,\d+)\) are both at address (\d+)", r.stdout).groups()
    x, y = (tuple(map(int, v.split(","))) for v in (x, y))
    assert x != y and at(*x) == at(*y) == int(where)
