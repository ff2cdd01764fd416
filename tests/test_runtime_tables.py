"""Tiles whose offsets depend on the shape: their tables are sums over scalars.  Beside the element formulas, at shapes with and without
the tile, by machine code, the interpreter and emitted C."""
import subprocess

import numpy as np
import pytest

import ravel
import runtime_cases
import test_runtime_random
from test_runtime_random import by                      # noqa: F401, a fixture

RAVEL = str(ravel.BUILD/"ravel")
# from, to, shape with -1 for extents at run time, bits, values of these
CASES = [
    ("(a,b,c,d){a,b,c,d}", "(a,b,c,d){b,c,d,a}", (3, 17, 6, -1), 4, [1, 4, 5, 6, 7, 29, 30, 200]),
    ("(a,b,c,d,e,f){a,b,c,d,e,f}", "(a,b,c,d,e,f){c,f,b,e,d,a}", (10, 3, 5, -1, 4, 3), 32, [1, 2, 63, 64, 65, 103, 135]),
    ("(a,b,c,d){a,b,c,d}", "(a,b,c,d){c,b,d,a}", (-1, 5, -1, 7), 16, [1, 63, 64, 65, 127, 128, 129, 200]),
    ("(a,b,c,d,e,f){a,b,c,d,e,f}", "(a,b,c,d,e,f){a,e,c,b,d,f}", (1, -1, 2, 3, -1, 7), 8, [1, 63, 64, 65, 150]),
    ("(a,b,c,d){a,b,c,d}", "(a,b,c,d){c,a,d,b}", (2, -1, 7, 3), 8, [1, 200, 255, 256, 257, 1000]),
    ("(a,b,c,d){a,b,c,d}", "(a,b,c,d){d,c,a,b}", (-1, 5, 3, 2), 1, [1, 300, 512, 513, 5000]),
    ("(a,b){a,b}", "MMA_A", (-1, -1), 8, [1, 31, 32, 33, 96, 257]),
    ("MMA_A", "(a,b){a,b}", (48, -1), 4, [1, 63, 64, 128, 193, 1000]),
    ("(a,b){a,b}", "(a,b){a//8, b//64, a%8, (b//8%8) ~ (a%8), b%8}", (-1, -1), 16, [1, 8, 63, 64, 65, 129, 250]),
    ("(a,b){a//8, b//64, a%8, (b//8%8) ~ (a%8), b%8}", "(a,b){a,b}", (-1, -1), 16, [1, 8, 63, 64, 65, 129, 250]),
    ("(a,b,c){a,b,c}", "(a,b,c){a//2, b//4, c//16, (c//2%4) ~ (b%4), b%4, a%2, c//8%2, c%2}", (-1, -1, -1), 8, [2, 7, 64, 67]),
    ("(a,b,c){a//2, b//4, c//16, (c//2%4) ~ (b%4), b%4, a%2, c//8%2, c%2}", "(a,b,c){a,b,c}", (-1, -1, -1), 8, [2, 4, 64, 67]),
    ("(a,b){a//4, b//2, 3-a%4, b%2}", "(a,b){a,b}", (-1, -1), 8, [1, 7, 8, 9, 40, 203]),
    ("(a,b,c,d){a,b,c,3-d}", "(a,b,c,d){c,a,d,b}", (-1, 5, 3, 4), 64, [1, 20, 64, 65, 200]),
]
# Runs of 8 bytes, which copies move in less time.
COPIED = [("(a,b){a//4, b//8, 3-a%4, b%8}", "(a,b){a,b}", (-1, -1), 8, [1, 7, 8, 9, 40, 203])]
IDS = ["%s-%d" % (c[1].replace(" ", ""), c[3]) for c in CASES + COPIED]
TILES = "composite", "unpacked", "shuffle", "gather"


def shapes(shape, values):
    """Each value for all open extents, and beside another one."""
    for v in values:
        for w in dict.fromkeys((v, values[-1] if v < values[-1] else values[0])):
            many = iter((v, w, v))
            own = tuple(next(many) if n < 0 else n for n in shape)
            if np.prod(own) < 3e6:
                yield own


def explained(a, b, shape, bits):
    names = ",".join(chr(ord("M") + i) if n < 0 else str(n) for i, n in enumerate(shape))
    out = subprocess.run([RAVEL, "explain", "--from", a, "--to", b, "--shape", names, "--dtype", ravel.DTYPE[bits]], capture_output=True, text=True, check=True)
    return out.stdout


@pytest.mark.parametrize("a, b, shape, bits, values", CASES, ids=IDS[:len(CASES)])
def test_the_tile_is_chosen(a, b, shape, bits, values):
    text = explained(a, b, shape, bits)
    assert any(t in text for t in TILES) and "where s" in text, text


@pytest.mark.parametrize("a, b, shape, bits, values", CASES + COPIED, ids=IDS)
def test_bytes(by, a, b, shape, bits, values):
    with by.plan(a, b, shape, bits) as plan:
        for i, own in enumerate(shapes(shape, values)):
            assert test_runtime_random.assert_right(plan, a, b, own, bits, i)


@pytest.mark.parametrize("k", [0, 2, 5, 6, 9])
def test_proven(by, k):
    """Each variant runs at one of the shapes of the proof."""
    a, b, shape, bits, _ = CASES[k]
    with by.plan(a, b, shape, bits) as plan:
        plan.verify()


@pytest.mark.parametrize("k", [1, 3, 7, 8, 10, 11, 13])
def test_emitted(tmp_path, k):
    a, b, shape, bits, values = CASES[k]
    names = iter("MNK")
    case = a, b, ",".join(next(names) if n < 0 else str(n) for n in shape), ravel.DTYPE[bits]
    text = runtime_cases.emitted(tmp_path/"f.c", case)
    assert "ravel_table_add" in text
    f = runtime_cases.Function(runtime_cases.built(tmp_path/"f.c", "gcc"), case)
    for own in shapes(shape, values):
        f.assert_right(tuple(x for x, n in zip(own, shape) if n < 0), bits)


@pytest.mark.parametrize("name", ["s", "d", "x"])
def test_a_function_has_any_name(tmp_path, name):
    """The function that calls it for --check has parameters of its own."""
    subprocess.run([RAVEL, "emit", "--from", "NCHW", "--to", "NHWC", "--shape", "N,3,H,5", "--dtype", "u8", "--name", name, "-o", tmp_path/"f.c",
                    "--check", "gcc -O0"], check=True)
