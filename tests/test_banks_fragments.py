"""`ravel check --banks` of fragments and of ldmatrix, held against NumPy: the registers of each lane by the vendors' formulas (tests/formulas.py), their
accesses and banks counted here; the accesses are those of `emit --kind load`.  RAVEL_SEED sets the seed."""
import collections
import json
import os
import random
import re
import subprocess

import numpy as np
import pytest

import formulas as F
import orders as O
import ravel
from test_banks import SEED, bit_tile
from test_fragments import FRAGMENTS, settings

TILES = ["ROW_MAJOR", "COL_MAJOR", "SW128", "{M, K, pitch = {M = 16}}"]
EACH = 10 if "RAVEL_AGAIN" in os.environ else 40


def check(tile, shape, bits, banks, *more):
    r = subprocess.run([str(ravel.BUILD / "ravel"), "check", tile, "--shape", ",".join(map(str, shape)), "--dtype", ravel.DTYPE[bits], "--banks", banks,
                        *more], capture_output=True, text=True, timeout=120)
    assert r.returncode in (0, 1, 2)
    return r.returncode, r.stdout if r.returncode < 2 else r.stderr


def report(tile, shape, bits, banks):
    code, text = check(tile, shape, bits, banks, "--json")
    assert code < 2, text
    return code, json.loads(text)


def registers(frag, tile, shape, bits):
    """The addresses in the tile of [fragment, lane, register], -1 for padding; and whether they are a permutation of the tile's."""
    lanes, regs = settings(frag, bits)
    f, t = O.place(frag, shape, bits), O.place(tile, shape, bits)
    a = np.full(f.size, -1, np.int64)
    a[f.addr.reshape(-1)] = t.addr.reshape(-1)
    return a.reshape(-1, lanes, regs)


def loads(a, bits):
    """[(bytes, the first register)]: the widest vectors that all lanes of all fragments have."""
    column = a.reshape(-1, a.shape[2]).T
    left, out = [r for r in range(len(column)) if (column[r] >= 0).any()], []
    for nbytes in (16, 8, 4, 2, 1):
        n = nbytes*8//bits
        for r in list(left):
            if r not in left or not 1 <= n <= len(column) or (column[r][column[r] >= 0] % n).any():
                continue
            found = [next((k for k in left if (column[k] == np.where(column[r] >= 0, column[r] + i, -1)).all()), None) for i in range(n)]
            if None not in found:
                left = [k for k in left if k not in found]
                out.append((nbytes, r))
    return out + [(1, r) for r in left]


def banks(first, nbytes):
    """(wavefronts, passes) of a warp's lanes by their first bytes."""
    lanes, total, ideal = min(32, 128//max(nbytes, 4)), 0, 0
    for p in range(0, len(first), lanes):
        words = {(x + b)//4 for x in first[p:p + lanes].tolist() if x >= 0 for b in range(nbytes)}
        fill = collections.Counter(w % 32 for w in words)
        total += max(fill.values(), default=0)
        ideal += bool(words)
    return total, ideal


def by_registers(frag, tile, shape, bits):
    """(loads, accesses of a warp, wavefronts, least)"""
    a = registers(frag, tile, shape, bits)
    found, total = loads(a, bits), np.zeros(2, int)
    for one in a:
        for nbytes, r in found:
            first = np.where(one[:, r] >= 0, one[:, r]*bits//8, -1)
            for w in range(0, len(first), 32):
                total += banks(first[w:w + 32], nbytes)
    return dict(collections.Counter(b for b, _ in found)), len(a)*len(found)*-(-a.shape[1]//32), *total.tolist()


def rows_of(a, bits, transposed):
    """The first byte of each row of [matrix, 8]; None if one is no 16 aligned bytes.  PTX: lane 4*i + j has elements 2j and 2j + 1 of row i;
    with .trans, of column i."""
    per = 32//bits
    m = a.reshape(-1, 32, a.shape[2]//per, per).transpose(0, 2, 1, 3)             # warp, word, lane, element
    m = m.reshape(-1, 8, 4*per)                                                  # matrix, i, what four lanes have
    if transposed:
        m = m.transpose(0, 2, 1)
    ok = (m[:, :, :1] >= 0).all() and (m == m[:, :, :1] + np.arange(m.shape[2])).all() and not (m[:, :, 0]*bits % 128).any()
    return m[:, :, 0]*bits//8 if ok else None


def by_matrices(frag, tile, shape, bits):
    """(transposed, wavefronts, matrices); None: no such instruction."""
    a = registers(frag, tile, shape, bits)
    if a.shape[1] % 32:
        return None
    for transposed in [False, True][:1 + (bits == 16)]:
        rows = rows_of(a, bits, transposed)
        if rows is not None:
            return transposed, sum(banks(r, 16)[0] for r in rows), len(rows)
    return None


def emitted(frag, tile, shape, bits):
    """{bytes: loads} as the function that is emitted tells them."""
    r = subprocess.run([str(ravel.BUILD / "ravel"), "emit", "--kind", "load", "--from", tile, "--to", frag, "--shape", ",".join(map(str, shape)), "--dtype",
                        ravel.DTYPE[bits], "--target", "blocks", "-o", "-"], capture_output=True, text=True)
    assert r.returncode == 0, r.stderr
    return {int(b): int(n) for n, b in re.findall(r" (\d+) x (\d+) bytes?", r.stdout[r.stdout.index("\n/* loads the "):])}


def assert_counts(frag, tile, shape, bits):
    code, j = report(tile, shape, bits, frag)
    got = j["accesses"][0]
    want = by_registers(frag, tile, shape, bits)
    assert ({x["bytes"]: x["count"] for x in got["loads"]}, got["warps"], got["wavefronts"], got["ideal"]) == want, (frag, tile, shape, bits)
    assert got["fragment"] == frag and (code == 0) == (want[2] == want[3])
    return j


def assert_witness(j, frag, tile, shape, bits):
    w = j["accesses"][0].get("witness")
    if not w:
        return
    assert w["words"][0] != w["words"][1] and all(x % 32 == w["bank"] for x in w["words"])
    addr = O.place(tile, shape, bits).addr
    nbytes = max(x["bytes"] for x in j["accesses"][0]["loads"])
    for x, word in zip((w["x"], w["y"]), w["words"]):
        at = int(addr[tuple(x)])*bits//8
        assert at//4 <= word <= (at + nbytes - 1)//4


@pytest.mark.parametrize("frag", FRAGMENTS)
def test_fragments(frag):
    """Each fragment of the catalogue, whole and partial."""
    of = F.LAYOUTS[frag].bits
    for bits in of if isinstance(of, tuple) else (of,):
        for tile in TILES:
            if "pitch" in tile and bits < 8:
                continue
            assert_witness(assert_counts(frag, tile, (64, 128), bits), frag, tile, (64, 128), bits)
        assert_counts(frag, "ROW_MAJOR", (13, 70), bits)
        if bits >= 8 or "C" not in frag:
            assert emitted(frag, "ROW_MAJOR", (64, 128), bits) == by_registers(frag, "ROW_MAJOR", (64, 128), bits)[0]


@pytest.mark.parametrize("frag", FRAGMENTS)
def test_ldmatrix(frag):
    of, seen = F.LAYOUTS[frag].bits, 0
    for bits in of if isinstance(of, tuple) else (of,):
        for tile in TILES:
            want = by_matrices(frag, tile, (64, 128), bits) if bits <= 32 and (bits >= 8 or "pitch" not in tile) else None
            if "pitch" in tile and bits < 8:
                continue
            code, text = check(tile, (64, 128), bits, frag + ":ldmatrix", "--json")
            assert (code == 2) == (want is None), (tile, bits, text)
            if want is None:
                assert "ldmatrix" in text
                continue
            got, seen = json.loads(text)["accesses"][0], seen + 1
            assert (got["transposed"], got["wavefronts"], got["ideal"], got["by"]) == (*want, "ldmatrix"), (tile, bits)
    assert seen or not frag.startswith(("MMA_", "MMA8_AB", "WGMMA"))


def test_random_tiles():
    """A tile of bits in any order, and what is told to be without conflicts or best counted again."""
    rng, seen = random.Random("bank fragments %d" % SEED), collections.Counter()
    print("seed", SEED)
    while sum(seen.values()) < EACH:
        bits = rng.choice([8, 16, 32])
        tile, shape = bit_tile(rng, bits)
        frag = rng.choice(["MMA_A", "MMA_B", "MMA_C", "MMA8_AB", "MFMA16_A", "WGMMA_A"])
        if len(shape) != 2 or bits not in F.LAYOUTS[frag].bits or min(shape) < 16:
            continue
        print(frag, tile, shape, bits)
        j = assert_counts(frag, tile, shape, bits)
        assert_witness(j, frag, tile, shape, bits)
        for other in {"swizzled"} & j.keys():
            assert by_registers(frag, j[other], shape, bits)[2:] == (j["accesses"][0]["ideal"],)*2
            assert report(j[other], shape, bits, frag)[0] == 0
        for other in {"best_pitch", "best_xor"} & j.keys():
            assert by_registers(frag, j[other]["layout"], shape, bits)[2:] == (j[other]["wavefronts"], j[other]["ideal"])
            assert j[other]["wavefronts"] < j["accesses"][0]["wavefronts"]
        seen["cured" if "swizzled" in j else "free" if j["conflict_free"] == "yes" else "none"] += 1
    print(dict(seen))
    assert seen["cured"] > EACH//8, seen


KNOWN = [
    # 128-byte rows: 8 rows of a matrix are in one bank group; the swizzle of the tensor map, and 16 bytes more a row, take them apart
    ("{M, K}", "64,64", "f16", "MMA_A:ldmatrix", 1, "xor(3, 3, 3)"),
    ("SW128", "64,64", "f16", "MMA_A:ldmatrix,MMA_B:ldmatrix", 0, "16 fragments, 16 loads by ldmatrix, 64 wavefronts, the minimum"),
    ("{M, K, pitch = {M = 144}}", "64,64", "f16", "MMA_A:ldmatrix,MMA_A,K:16", 0, "MMA_A: 16 fragments of 4 x 4 bytes a lane, 64 loads, 64 wavefronts, the minimum"),
    # a tile of 64 bytes a row needs the swizzle of 64 bytes
    ("{M, K}", "64,32", "f16", "K:ldmatrix", 1, "xor(2, 3, 3)"),
    ("SW64", "64,32", "f16", "ldmatrix", 0, "ldmatrix: 8 warps, 32 wavefronts, the minimum"),
    ("SW128", "64,64", "f16", "K:ldmatrix,K:16", 0, None),
    # what a result is stored by, then read by in rows
    ("{M, N}", "64,64", "f16", "MMA_C,N:16", 1, "xor(3, 3, 3)"),
    ("{M, N}", "64,64", "f16", "MMA_C:stmatrix", 1, "xor(3, 3, 3)"),
    # columns
    ("(M,K){K, M}", "64,64", "f16", "MMA_A:ldmatrix", 1, "loads by ldmatrix.trans"),
    ("(M,K){K, M}", "64,64", "f16", "ldmatrix", 1, "without conflicts"),
    ("{M, K}", "64,64", "f16", "MMA_A:ldmatrix,M:2", 1, "no xor swizzle of it is free"),
    # no 32 banks for a column of MMA_A and the rows at once but for pairs
    ("{M, K}", "64,64", "f16", "MMA_A,M:2", 1, "without conflicts"),
    # dims by name
    ("{K, N}", "64,8", "f16", "MMA_B", 0, "MMA_B: 4 fragments of 4 x 2 bytes a lane, 16 loads"),
    # a fragment as text
    ("{M, N}", "16,16", "f32", "{M%8, N//2%4, M//8, N//8, N%2, lanes = 32, registers = 8}", 1, "1 fragment of 4 x 8 bytes a lane, 4 loads"),
    ("{M, N}", "16,16", "f32", "{M%8, N//2%4, M//8, N//8, N%2, lanes = 32, registers = 8},N:16", 1, "N:16: 2 warps, 8 wavefronts, the minimum"),
]


@pytest.mark.parametrize("tile, shape, dtype, banks, code, says", KNOWN, ids=range(len(KNOWN)))
def test_known(tile, shape, dtype, banks, code, says):
    r = subprocess.run([str(ravel.BUILD / "ravel"), "check", tile, "--shape", shape, "--dtype", dtype, "--banks", banks], capture_output=True, text=True)
    assert (r.returncode, r.stderr) == (code, ""), r
    assert r.stdout.startswith("no: " if code else "yes: ") and (says is None or says in r.stdout), r.stdout


@pytest.mark.parametrize("tile, shape, dtype, banks, why", [
    ("{M, K}", "64,64", "f16", "NCHW", "NCHW"), ("{M, K}", "64,64", "f16", "SW128", "is no fragment: it has no parameter 'lanes'"),
    ("{M, K}", "64,64", "f16", "MMA_Q", "'MMA_Q' is not a dim of {M, K}, which has (M, K), and no known layout"),
    ("{M, K}", "64,64", "f64", "MMA_C:ldmatrix", "words of 32 bits of 32 lanes; the fragment has 32 lanes, with elements of 64 bits"),
    ("{M, K}", "64,64", "f16", "SM70_ROW:ldmatrix", "the fragment has 8 lanes"),
    ("{M, K}", "64,64", "f32", "(M,K){M//16, K//8, M%8, K%4, K//4%2, M//8%2, lanes = 32, registers = 5}", "registers"),
    ("{M, K}", "60,64", "f16", "MMA_A:ldmatrix", "the shape does not fill the fragments"),
    ("{M, K, pitch = {M = 132}}", "64,64", "f16", "MMA_A:ldmatrix", "does not begin at a multiple of 16 bytes"),
    ("{K, M}", "64,64", "f32", "MMA_A:ldmatrix", "elements (0,0) and (1,0)"),
    ("(M,K){K, M}", "64,64", "f32", "MMA_A:ldmatrix", "a row of ldmatrix is not side by side: elements (0,0) and (0,1)"),
    ("(M,K){M//2, K//2, M%2, K%2}", "64,64", "f16", "ldmatrix", "along no dim of (M,K){M//2, K//2, M%2, K%2} lie 16 bytes"),
    ("{M, K}", "64,64", "f16", "M:ldmatrix", "not side by side"), ("{M, K}", "64,64", "f16", "K:ldmatrix:2", "1, 2, 4, 8 or 16"),
    ("{M, K}", "64,64", "f16", "MMA_A:16", "not a dim"), ("{M, K}", "64,64", "f16", ":ldmatrix", "'' is not a dim"),
    ("{M, K}", "64,64", "f16", "{M, K", "is not closed"), ("{M, K}", "64,64", "f16", "ldmatrixx", "not a dim"),
    ("(M,K){M, K}", "64,64", "f16", "(M,K){M//2, K, M%1, lanes = 32, registers = 4}", "stored nowhere"),
])
def test_wrong_use(tile, shape, dtype, banks, why):
    r = subprocess.run([str(ravel.BUILD / "ravel"), "check", tile, "--shape", shape, "--dtype", dtype, "--banks", banks], capture_output=True, text=True)
    assert r.returncode == 2 and r.stdout == "" and why in r.stderr, r.stderr
