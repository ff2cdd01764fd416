"""emit --kind visit: a function that calls another one for each element, in the order of storage."""

import ctypes as ct
import itertools
import subprocess

import pytest

from runtime_cases import built
from views import RAVEL

VISIT = ct.CFUNCTYPE(ct.c_int, ct.c_void_p, ct.c_int64, ct.POINTER(ct.c_int64))


def emitted(folder, layout, shape, dtype, *more):
    r = subprocess.run([RAVEL, "emit", "--kind", "visit", "--to", layout, "--shape", ",".join(map(str, shape)), "--dtype", dtype, "--name", "walk", "-o", folder / "f.c", *more],
                       capture_output=True, text=True, timeout=60)
    return r


def visitor(folder, layout, shape, dtype, compiler="gcc"):
    assert emitted(folder, layout, shape, dtype).returncode == 0
    text = (folder / "f.c").read_text().replace("static inline", "")
    (folder / "f.c").write_text(text)
    lib = ct.CDLL(str(built(folder / "f.c", compiler)))
    lib.walk.argtypes = [VISIT, ct.c_void_p]
    return lib.walk


def tile_4(shape):
    """{M//4, K//4, M%4, K%4} by hand; rows and columns beyond the matrix are padding."""
    kt = -(-shape[1] // 4)
    return {((m // 4 * kt + k // 4) * 4 + m % 4) * 4 + k % 4: (m, k) for m in range(shape[0]) for k in range(shape[1])}


def nchw32(s):
    n, c, h, w = s
    return {(((a * -(-c // 32) + b // 32) * h + y) * w + x) * 32 + b % 32: (a, b, y, x) for a, b, y, x in itertools.product(*map(range, s))}


def swizzled(shape):
    """xor(3, 1, 3) of a row of 128 elements."""
    return {(a := 64 * m + k) ^ (a >> 4 & 7) << 1: (m, k) for m in range(shape[0]) for k in range(shape[1])}


CASES = [("{M//4, K//4, M%4, K%4}", (6, 9), "f32", tile_4), ("NCHW32", (2, 40, 3, 2), "u8", nchw32), ("{M, K, swizzle = xor(3, 1, 3)}", (4, 64), "f16", swizzled),
         ("{M, K, pitch = {M = 16}}", (3, 5), "u8", lambda s: {16 * m + k: (m, k) for m in range(s[0]) for k in range(s[1])}),
         ("(C,H){T[C//8], C%8, H, T = {2, 0, 3, 1}}", (32, 5), "u8", lambda s: {([2, 0, 3, 1][c // 8] * 8 + c % 8) * 5 + h: (c, h) for c in range(32) for h in range(5)}),
         ("(G,H,X){T[H], T[G], U[X], T = {1, 2, 0, 3}, U = {6, 5, 4, 3, 2, 1, 0}}", (4, 4, 7), "f32",
          lambda s: {([1, 2, 0, 3][h] * 4 + [1, 2, 0, 3][g]) * 7 + 6 - x: (g, h, x) for g in range(4) for h in range(4) for x in range(7)}),
         ("(N,C){N//4, T[C], N%4, T = {3, 1, 0, 2}, fill = 0}", (6, 4), "u8", lambda s: {(n // 4 * 4 + [3, 1, 0, 2][c]) * 4 + n % 4: (n, c) for n in range(6) for c in range(4)}),
         ("{X, (X + Y)%7}", (5, 7), "u8", lambda s: {7 * x + (x + y) % 7: (x, y) for x in range(5) for y in range(7)}), ("{A}", (1,), "f32", lambda s: {0: (0,)}),
         # storage with gaps
         ("(G,X){T[G], X, T = {3, 0, 1}}", (3, 4), "f32", lambda s: {[3, 0, 1][g] * 4 + x: (g, x) for g in range(3) for x in range(4)}),
         ("(X,Y){X, T[Y], T = {2, 0, 1, 3, 4}, pitch = {X = 16}}", (3, 5), "u8", lambda s: {16 * x + [2, 0, 1, 3, 4][y]: (x, y) for x in range(3) for y in range(5)}),
         ("(X,Y,Z){Z, T[X], Y, T = {1, 2, 0}, stride = {Z = 20}}", (3, 5, 2), "f32",
          lambda s: {20 * z + [1, 2, 0][x] * 5 + y: (x, y, z) for x in range(3) for y in range(5) for z in range(2)})]


@pytest.mark.parametrize("compiler", ["gcc", "clang", "tcc"])
@pytest.mark.parametrize("layout, shape, dtype, formula", CASES)
def test_all(tmp_path, layout, shape, dtype, formula, compiler):
    """Each element once, in ascending order of addresses; padding and holes are left out."""
    seen = []
    walk = visitor(tmp_path, layout, shape, dtype, compiler)
    assert walk(VISIT(lambda _, a, x: seen.append((a, tuple(x[:len(shape)]))) or 0), None) == 0
    assert seen == sorted(formula(shape).items())


def test_stops(tmp_path):
    """At the first answer that is not 0, which is the result; the argument is passed on."""
    seen = []
    walk = visitor(tmp_path, "{M//4, K//4, M%4, K%4}", (6, 9), "f32")
    assert walk(VISIT(lambda arg, a, x: seen.append((arg, a)) or (7 if a == 20 else 0)), 5) == 7
    assert seen == [(5, a) for a in sorted(tile_4((6, 9))) if a <= 20]


@pytest.mark.parametrize("layout, names, dtype, formula, shapes", [
    ("{M//4, K//4, M%4, K%4}", "MK", "f32", tile_4, [(1, 1), (6, 9), (8, 4), (13, 2)]), ("NCHW32", "NCHW", "u8", nchw32, [(1, 1, 1, 1), (2, 40, 3, 2), (1, 64, 2, 5)]),
    ("{M, K, pitch = {M = 16}}", "MK", "u8", lambda s: {-(-s[1] // 16) * 16 * m + k: (m, k) for m in range(s[0]) for k in range(s[1])}, [(3, 5), (2, 17), (4, 16)]),
    ("(C,H){C, (H + 1) % (extent(H) + 2)}", "CH", "f32", lambda s: {c * (s[1] + 2) + h + 1: (c, h) for c in range(s[0]) for h in range(s[1])}, [(1, 1), (3, 4)])])
def test_open(tmp_path, layout, names, dtype, formula, shapes):
    """One function for all shapes: extents left to run time are its first arguments."""
    walk = visitor(tmp_path, layout, names, dtype)
    walk.argtypes = [ct.c_int64] * len(names) + walk.argtypes
    for shape in [*shapes, (0,) * len(names)]:
        seen = []
        assert walk(*shape, VISIT(lambda _, a, x, seen=seen: seen.append((a, tuple(x[:len(names)]))) or 0), None) == 0
        assert seen == sorted(formula(shape).items()), shape


@pytest.mark.parametrize("layout, shape, more, why", [
    ("NCHW[:, ::-1]", "NCHW", (), "no inverse in closed form for every shape"), ("{M//2, K}", (8, 8), (), "not one-to-one"), ("{M, K}", (2, 3), ("--target", "cuda"), "--kind visit writes C"),
    ("{M, K, swizzle = function(a) return a*7 % 15 end}", (3, 5), (), "no inverse in closed form")])
def test_refused(tmp_path, layout, shape, more, why):
    r = emitted(tmp_path, layout, shape, "f32", *more)
    assert r.returncode == 2 and why in r.stderr and not (tmp_path / "f.c").exists(), r.stderr


@pytest.mark.parametrize("shape", [(2, 40, 3, 2), "NCHW", ("N", 40, 1, "W")])
def test_warnings(tmp_path, shape):
    assert emitted(tmp_path, "NCHW32", shape, "u8").returncode == 0
    subprocess.run(["gcc", "-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Wsign-conversion", "-Werror", "-c", "-o", tmp_path / "f.o", tmp_path / "f.c"], check=True)
    subprocess.run(["g++", "-x", "c++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-c", "-o", tmp_path / "f.o", tmp_path / "f.c"], check=True)
