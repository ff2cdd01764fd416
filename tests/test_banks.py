"""`ravel check --banks`, for random tiles, held against NumPy: addresses by tests/orders.py, banks counted here, and where it says
that no swizzle is free of conflicts, every linear map of a small tile tried.  RAVEL_SEED sets the seed."""
import collections
import itertools
import json
import os
import random
import subprocess

import numpy as np
import pytest

import orders as O
import ravel

SEED = int(os.environ.get("RAVEL_SEED", "20261121"))
EACH = 12 if "RAVEL_AGAIN" in os.environ else 60
BLOCKS = 4
BITS = [1, 2, 4, 8, 16, 32, 64, 128]


def check(layout, shape, dtype, banks, *args):
    """(exit code, JSON or what was complained)."""
    r = subprocess.run([str(ravel.BUILD / "ravel"), "check", layout, "--shape", ",".join(map(str, shape)), "--dtype", dtype,
                        "--banks", banks, "--json", *args], capture_output=True, text=True, timeout=120)
    if r.returncode == 2:
        assert r.stdout == "" and r.stderr.startswith("ravel: ")
        return 2, r.stderr
    assert r.stderr == "" and r.returncode in (0, 1)
    return r.returncode, json.loads(r.stdout)


# --- the oracle

def addresses(layout, shape, bits, swizzled=True):
    """Element addresses of the logical shape, and the elements of storage."""
    x = O.inline(layout)
    _, _, _, _, _, stride, size = x.box(tuple(shape), bits)
    entries = x.entries(list(np.indices(shape)), bits)
    a = sum((e*s for e, s in zip(entries, stride)), np.zeros(shape, np.int64)).reshape(-1)
    return (x.map(a, bits) if swizzled and x.swizzle else a).reshape(shape), size


def walk(addr, dim, count):
    """The elements of each lane, [vector, element of it], in the order of the lanes; and the coordinates where they begin."""
    other = [d for d in range(addr.ndim) if d != dim]
    v = np.moveaxis(addr, [*other, dim], range(addr.ndim)).reshape(-1, count)
    at = np.moveaxis(np.indices(addr.shape), [i + 1 for i in [*other, dim]], range(1, addr.ndim + 1)).reshape(addr.ndim, -1)
    return v, at[:, ::count]


def is_vector(v, nbytes, bits):
    """None when every lane takes its bytes at once."""
    if (v != v[:, :1] + np.arange(v.shape[1])).any():
        return "not side by side"
    return "does not begin" if v.shape[1] > 1 and (v[:, 0]*bits % (nbytes*8)).any() else None


def passes(first, nbytes, bits):
    """For each pass of a warp, the words its lanes begin at, in multiples of what they take at once."""
    unit = max(nbytes, 4)*8
    lanes = min(32, 1024//unit)
    for w in range(0, len(first), 32):
        for p in range(w, min(w + 32, len(first)), lanes):
            yield w//32, first[p:min(p + lanes, w + 32)]*bits // unit


def wavefronts(first, nbytes, bits):
    """(wavefronts, passes)"""
    total, n, per = 0, 0, max(nbytes, 4)//4
    for _, units in passes(first, nbytes, bits):
        words = (np.unique(units)[:, None]*per + np.arange(per)).reshape(-1)
        total += np.bincount(words % 32).max()
        n += 1
    return int(total), n


def constraints(cases, bits, keep):
    """{(h, c)}: M(h) != c is what keeps two words apart; None: two that nothing could."""
    found = set()
    for first, nbytes in cases:
        v = max(nbytes, 4).bit_length() - 3
        for _, units in passes(first, nbytes, bits):
            words = np.unique(units) << v
            d = np.unique(words[:, None] ^ words[None, :])
            for x in d[d > 0].tolist():
                if x % (1 << keep) == 0:
                    found.add((x >> 5, x % 32 >> keep))
    return found


def some_map(found, high, rows):
    """Whether any linear map of `high` bits to `rows` ones keeps to the constraints: all are tried."""
    for columns in itertools.product(range(1 << rows), repeat=high):
        image = [0]
        for c in columns:
            image += [i ^ c for i in image]
        if all(image[h] != c for h, c in found):
            return True
    return False


# --- random tiles

def bit_tile(rng, bits):
    """Bits of two or three dims in some order, a few of them with others xored in."""
    width = rng.choice([7, 8, 9, 10, 11, 12, 13]) + max(0, 5 - bits.bit_length() + 1)
    dims = "MKN"[:rng.randrange(1, 4)]
    width = min(width, 18 if bits == 1 else 21 - bits.bit_length(), 16)
    cuts = sorted(rng.randrange(width + 1) for _ in dims[1:])
    sizes = [b - a for a, b in zip([0] + cuts, cuts + [width])]
    atoms = ["%s[%d]" % (d, i) for d, n in zip(dims, sizes) for i in reversed(range(n))]
    if rng.random() < 0.6:
        i, j = sorted(rng.sample(range(len(atoms) + 1), 2))
        atoms[i:j] = rng.sample(atoms[i:j], j - i)
    elif rng.random() < 0.5:
        i, j = sorted((rng.randrange(len(atoms)), rng.randrange(len(atoms))))
        atoms[i], atoms[j] = atoms[j], atoms[i]
    order = list(atoms)
    for i in range(1, len(order)):
        if rng.random() < 0.1:
            order[i] = "%s ~ %s" % (atoms[i], rng.choice(atoms[:i]))
    swizzle = ""
    if rng.random() < 0.3:
        b, m, s = rng.randrange(1, 4), rng.randrange(4), rng.randrange(3, 6)
        swizzle = ", swizzle = xor(%d, %d, %d)" % (b, m, s) if m + s + b <= width else ""
    shape = [1 << n for n in sizes]
    return "(%s){%s%s}" % (",".join(dims), ", ".join(order), swizzle), shape


def any_tile(rng, bits):
    """Dims of any extents, padded or not."""
    dims = "MKN"[:rng.randrange(1, 4)]
    most = {1: 200, 2: 60, 3: 16}[len(dims)]
    shape = [rng.choice([rng.randrange(1, most), rng.choice([1, 2, 4, 8, 16]), 8*rng.randrange(1, most//8 + 1)]) for _ in dims]
    order = rng.sample(dims, len(dims))
    if rng.random() < 0.3:
        i = rng.randrange(len(order))
        k = rng.choice([2, 4, 8, 16])
        order.insert(rng.randrange(i + 1), "%s//%d" % (order[i], k))
        order[order.index(order[i + 1])] = "%s%%%d" % (order[i + 1], k)
    pad = ", pad = {%s = %d}" % (dims[-1], rng.choice([4, 32, 64])) if rng.random() < 0.4 else ""
    return "(%s){%s%s}" % (",".join(dims), ", ".join(order), pad), shape


def draw_accesses(rng, layout, shape, bits):
    """[(text, dim, bytes, elements)]; mostly such as can be."""
    addr, _ = addresses(layout, shape, bits)
    dims, out = O.inline(layout).dims, []
    for _ in range(rng.randrange(1, 4)):
        d = rng.randrange(len(shape))
        good = [(None, max(1, bits//8), 1)]
        for b in (1, 2, 4, 8, 16):
            n = b*8//bits
            if n and shape[d] % n == 0 and is_vector(walk(addr, d, n)[0], b, bits) is None:
                good.append((b, b, n))
        b, nbytes, n = rng.choice(good[-2:])
        out.append((dims[d] if b is None else "%s:%d" % (dims[d], b), d, nbytes, n))
    return out


def assert_witness(w, addr, dim, nbytes, n, bits):
    first, at = walk(addr, dim, n)
    k = [w["warp"]*32 + lane for lane in w["lanes"]]
    assert [at[:, i].tolist() for i in k] == [w["x"], w["y"]]
    pass_ = 32//(max(nbytes, 4)//4)
    assert w["lanes"][0]//pass_ == w["lanes"][1]//pass_
    assert w["words"][0] != w["words"][1] and all(x % 32 == w["bank"] for x in w["words"])
    for i, word in zip(k, w["words"]):
        begin = int(first[i, 0])*bits//8
        assert begin//4 <= word <= (begin + nbytes - 1)//4


def assert_banks(layout, shape, bits, accesses):
    dtype = ravel.DTYPE[bits]
    text = ",".join(a[0] for a in accesses)
    addr, size = addresses(layout, shape, bits)
    code, j = check(layout, shape, dtype, text)
    assert code != 2, j
    clean = True
    for (_, dim, nbytes, n), got in zip(accesses, j["accesses"], strict=True):
        first = walk(addr, dim, n)[0][:, 0]
        count, ideal = wavefronts(first, nbytes, bits)
        assert (got["bytes"], got["warps"], got["wavefronts"], got["ideal"]) == (nbytes, -(-len(first)//32), count, ideal)
        assert got["conflict_free"] == ("yes" if count == ideal else "no") and ("witness" in got) == (count > ideal)
        if count > ideal:
            clean = False
            assert_witness(got["witness"], addr, dim, nbytes, n, bits)
    assert (code, j["conflict_free"]) == ((0, "yes") if clean else (1, "no"))
    for name in {"best_pitch", "best_xor"} & j.keys():
        assert_best(j[name], shape, bits, accesses, sum(a["wavefronts"] for a in j["accesses"]))
    assert not ({"best_pitch", "best_xor"} & j.keys()) or "why" in j
    return "free" if clean else assert_cure(layout, shape, bits, accesses, size, j)


def assert_best(best, shape, bits, accesses, total):
    """What is told of the layout holds, and it is better than the tile."""
    addr, size = addresses(best["layout"], shape, bits)
    assert np.unique(addr).size == addr.size and best["bytes"] == size*bits//8
    counts = [wavefronts(walk(addr, dim, n)[0][:, 0], nbytes, bits) for _, dim, nbytes, n in accesses]
    assert (best["wavefronts"], best["ideal"]) == tuple(map(sum, zip(*counts))) and best["wavefronts"] < total


def test_best_pitch():
    """Every pitch of rows is counted here: none is better than the one that is told."""
    for shape, bits, accesses in [((64, 64), 16, [("M:2", 0, 2, 1), ("K:16", 1, 16, 8)]), ((60, 60), 32, [("M:4", 0, 4, 1), ("K:8", 1, 8, 2)]), ((32, 32), 8, [("M:1", 0, 1, 1), ("K:4", 1, 4, 4)])]:
        _, j = check("(M,K){M, K}", shape, ravel.DTYPE[bits], ",".join(a[0] for a in accesses))
        step, row = max(4, *[a[2] for a in accesses]), shape[1]*bits//8
        total = {}
        for wide in (row + step*2**k for k in range(5)):
            addr, _ = addresses("(M,K){M, K, pitch = {[1] = %d}}" % wide, shape, bits)
            total[wide] = sum(wavefronts(walk(addr, dim, n)[0][:, 0], nbytes, bits)[0] for _, dim, nbytes, n in accesses)
        assert ("best_pitch" in j) == ("why" in j), j
        if "why" in j:
            assert j["best_pitch"]["wavefronts"] == min(total.values()) and j["best_pitch"]["layout"].endswith("[1] = %d}}" % min(w for w in total if total[w] == min(total.values())))


def assert_cure(layout, shape, bits, accesses, size, j):
    whole = size*bits % 1024 == 0
    assert ("why" in j) == (j["swizzle_exists"] != "yes")
    if not whole:
        assert j["swizzle_exists"] == "unknown" and "not a multiple of 128" in j["why"]
        return "not whole rows"
    bare, _ = addresses(layout, shape, bits, swizzled=False)
    cases = [(walk(bare, dim, n)[0][:, 0], nbytes) for _, dim, nbytes, n in accesses]
    keep = max([max(b, 4).bit_length() - 3 for _, b in cases] + [bits.bit_length() - 6])
    high = (size*bits//32 - 1).bit_length() - 5
    small = high*(5 - keep) <= 12
    if j["swizzle_exists"] == "yes":
        assert_swizzled(j["swizzled"], shape, bits, accesses, size)
        return "cured"
    if j["swizzle_exists"] == "unknown":
        assert j["why"].startswith("none was found within the limit of steps") and not small, j
        return "undecided"
    assert j["swizzle_exists"] == "no"
    if small:
        assert not some_map(constraints(cases, bits, keep), high, 5 - keep)
    return "none, by %s%s" % (j["proven_by"], ", all maps tried" if small else "")


def assert_swizzled(text, shape, bits, accesses, size):
    addr, again = addresses(text, shape, bits)
    assert again == size and np.unique(addr).size == addr.size and 0 <= addr.min() and addr.max() < size
    for _, dim, nbytes, n in accesses:
        v = walk(addr, dim, n)[0]
        assert is_vector(v, nbytes, bits) is None
        count, ideal = wavefronts(v[:, 0], nbytes, bits)
        assert count == ideal
    code, j = check(text, shape, ravel.DTYPE[bits], ",".join(a[0] for a in accesses))
    assert code == 0 and j["conflict_free"] == "yes"


@pytest.mark.parametrize("block", range(BLOCKS))
def test_random_tiles(block):
    rng = random.Random("banks %d %d" % (SEED, block))
    print("seed", SEED, "block", block)
    seen = collections.Counter()
    for _ in range(EACH):
        bits = rng.choice(BITS)
        layout, shape = (bit_tile if rng.random() < 0.7 else any_tile)(rng, bits)
        accesses = draw_accesses(rng, layout, shape, bits)
        print(layout, shape, bits, accesses)
        seen[assert_banks(layout, shape, bits, accesses)] += 1
    print(dict(seen))
    assert seen["undecided"] <= EACH//20, seen
    if EACH >= 60:
        assert seen["free"] > 5 and seen["cured"] > 5, seen


# --- cases known by hand

KNOWN = [
    ("{M, K}", "32,32", "f32", "K", 0, None),
    ("{M, K}", "32,32", "f32", "K,M", 1, "xor(5, 0, 5)"),
    ("{M, K}", "64,64", "f16", "K:4,M", 1, "xor(5, 1, 5)"),
    ("{M, K}", "64,64", "f16", "K:16,M:2", 1, "M:2 accesses 32 words"),
    ("{M, K}", "128,128", "i8", "K:4,M", 1, "xor(5, 2, 5)"),
    ("{M, K}", "32,32", "f64", "K,M", 1, "xor(4, 0, 5)"),
    ("{M, K}", "128,128", "u4", "K:4,M", 1, None),
    ("{M, C, V}", "64,8,8", "f16", "V:16,M:2", 1, "M:2 accesses 32 words"),
    ("{M, K//8, K%8}", "64,64", "f16", "K:16", 0, None),
    # 16-byte chunks of 128-byte rows: the swizzle of the tensor map
    ("(C,M,V){M, C, V}", "8,64,8", "f16", "V:16", 1, "xor(3, 3, 3)"),
    ("(C,M,V){M, C, V, swizzle = xor(3, 3, 3)}", "8,64,8", "f16", "V:16", 0, None),
    # a swizzle that is wrong is replaced, one that is not needed is left out
    ("{M, K, swizzle = xor(5, 0, 5)}", "64,64", "f32", "M", 1, "xor(5, 0, 6)"),
    ("{M, K, swizzle = xor(1, 0, 6)}", "64,32", "f32", "M,K", 1, "xor(5, 0, 5)"),
    ("{M, K, pitch = { M = 132 }}", "32,32", "f32", "M,K", 0, None),
    ("{M, K, pitch = { M = 160 }}", "32,32", "f32", "M,K", 1, "swizzle ="),
    ("NC1HWC0{C0 = 16}", "1,64,4,4", "f16", "C:16,W:2", 1, None),
    ("{M, K, a = 32, pad = { M = a }}", "32,32", "f32", "M", 1, "cannot have a parameter 'a'"),
    ("{M, K}", "9,40", "f32", "M", 1, "not a multiple of 128"),
    ("(M,K){K, view = true}", "64,64", "f32", "K,M", 0, None),
    ("(M,N,K){M, K, view = true}", "32,2,32", "f32", "M", 1, "view = true}"),
    ("(..., M, K){..., M, K}", "2,32,32", "f32", "M,K", 1, "(..., M, K){..., M, K, swizzle = xor(5, 0, 5)}"),
    ("SW128", "64,64", "f16", "K:16", 0, None),
    ("{M, K, swizzle = xor(1, 4, 3), unit = \"bytes\"}", "32,32", "f32", "K:4,M", 1, "xor(5, 0, 5)"),
    ("{A}", "1", "u1", "A", 0, None),
]


@pytest.mark.parametrize("layout, shape, dtype, banks, code, says", KNOWN, ids=range(len(KNOWN)))
def test_known(layout, shape, dtype, banks, code, says):
    args = [str(ravel.BUILD / "ravel"), "check", layout, "--shape", shape, "--dtype", dtype, "--banks", banks]
    r = subprocess.run(args, capture_output=True, text=True)
    assert (r.returncode, r.stderr) == (code, ""), r.stderr
    assert r.stdout.startswith("no: " if code else "yes: ") and (says is None or says in r.stdout), r.stdout
    assert code or "swizzle of" not in r.stdout


WRONG = [
    (["--shape", "64,64", "--banks", b], why) for b, why in [
        ("", "'' is not a dim of"), (",", "is not a dim of"), ("K,", "'' is not a dim of"), ("K:", "1, 2, 4, 8 or 16"), ("K:0", "1, 2, 4, 8 or 16"),
        ("K:3", "1, 2, 4, 8 or 16"), ("K:32", "1, 2, 4, 8 or 16"), ("K:-4", "1, 2, 4, 8 or 16"), ("K:1e1", "1, 2, 4, 8 or 16"),
        ("K:99999999999999999999", "1, 2, 4, 8 or 16"), ("K:4:4", "1, 2, 4, 8 or 16"), ("Q", "(M, K)"), ("%s%n", "'%s%n'"),
        ("K:2", "an element of f32 is larger"), ("M:8", "not side by side: elements (0,0) and (1,0) are at addresses 0 and 64"),
        (",".join("K"*17), "more than 16"), ("\x1b[31m", "\\u001b")]
] + [
    (["--banks", "K"], "needs the shape of the tile"), (["--shape", "M,64", "--banks", "K"], "are numbers"),
    (["--shape", "64", "--banks", "K"], "1 extent"), (["--shape", "64,0", "--banks", "K"], "1 or more"),
    (["--shape", "64,66", "--banks", "K:16"], "is no multiple of the 4"),
    (["--shape", "6,6", "--banks", "K:16"], "is no multiple"),
    (["--shape", "512,512", "--banks", "K"], "no tile of shared memory"),
    (["--shape", "65536,65536", "--banks", "K"], "not examined"),
    (["--shape", "3037000500,3037000500", "--banks", "K"], "64 bits"),
    (["--shape", "64,64", "--banks", "K", "--equals", "{M, K}"], "cannot be combined"),
]


@pytest.mark.parametrize("args, why", WRONG, ids=range(len(WRONG)))
def test_wrong_use(args, why):
    r = subprocess.run([str(ravel.BUILD / "ravel"), "check", "{M, K}", *args], capture_output=True, text=True)
    assert r.returncode == 2 and r.stdout == "" and why in r.stderr, r.stderr


@pytest.mark.parametrize("layout, shape, dtype, banks, why", [
    ("{M, K, pitch = { M = 136 }}", "32,32", "f32", "K:16", "does not begin at a multiple of its size"),
    ("{M//2, K}", "32,32", "f32", "K", "stored nowhere"),
    ("{M, K, swizzle = xor(3, 3, 3)}", "10,48", "f32", "K", "outside the 480 elements"),
    ("{M, K, swizzle = xor(1, 0, 5)}", "32,32", "f32", "K:16", "not side by side"),
    ("{M, K}", "4,4", "c128", "K:8", "an element of c128 is larger"),
    ("{M, K}", "4,5", "u4", "K:1", "is no multiple of the 2"),
])
def test_layouts_that_do_not_fit(layout, shape, dtype, banks, why):
    r = subprocess.run([str(ravel.BUILD / "ravel"), "check", layout, "--shape", shape, "--dtype", dtype, "--banks", banks],
                       capture_output=True, text=True)
    assert r.returncode == 2 and r.stdout == "" and why in r.stderr, r.stderr
