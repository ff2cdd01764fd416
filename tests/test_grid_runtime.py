"""Kernels for blocks of threads with extents left to run time: as plain C under AddressSanitizer and UBSan, one kernel at many shapes, every byte expected.

Addresses come from tests/formulas.py and tests/orders.py at each shape; the compiler only ever sees names."""

import ctypes as ct
import json
import os
import random
import re
import shutil
import struct
import subprocess

import numpy as np
import pytest

import grid_runs
import machine_code
import orders as O
import ravel
import relayouts as R
import runtime_cases as T
import test_glsl
import test_hip
import test_oclgrind
import test_pairs as P
from machine_code import nvcc                   # a fixture
from runtime_cases import arguments, expected, shape_at
from sanitize import SANITIZE, UNDEFINED
from test_oclgrind import oclgrind              # another

RAVEL = str(ravel.BUILD / "ravel")
SEED = int(os.environ.get("RAVEL_SEED", "20240611"))
EACH = 3 if "RAVEL_AGAIN" in os.environ else 10       # random pairs a width
STRICT = ["-std=c11", "-Wall", "-Wextra", "-Wconversion", "-Wno-sign-conversion", "-Werror"]
BITS = T.BITS | {"f64": 64, "u16": 16, "u32": 32}

# Of each shape in argv[1]: extents and source; sizes, blocks and destination to stdout.
MAIN = """
#include <stdio.h>
#include <stdlib.h>
#include "f.c"
int main(int argc, char **argv)
{
    FILE *in = fopen(argv[argc - 1], "rb");
    int64_t x[%(n)d], out[%(values)d];
    while (fread(x, 8, %(n)d, in) == %(n)d) {
        int64_t size[3] = {-1, -1, -1};
        if (kern_arguments(%(args)s, &size[0], &size[1], &size[2], out)) return 1;
        unsigned char *src = malloc((size_t)size[0]), *dst = malloc((size_t)size[1]);
        if (fread(src, 1, (size_t)size[0], in) != (size_t)size[0]) return 2;
        if (size[1]) memset(dst, 0xa5, (size_t)size[1]);
        if (kern(dst, src, %(args)s)) return 3;
        fwrite(size, 8, 3, stdout);
        fwrite(dst, 1, (size_t)size[1], stdout);
        free(src);
        free(dst);
    }
    fclose(in);
    return 0;
}
"""


def emit(path, case, target, *more, code=0):
    a, b, shape, dtype = case
    r = subprocess.run([RAVEL, "emit", "--from", a, "--to", b, "--shape", shape, "--dtype", dtype, "--target", target, "--name", "kern", "-o", path, *more],
                       capture_output=True, text=True, timeout=60)
    assert r.returncode == code, r.stderr
    return r.stderr if code else path.read_text()


def names(case):
    """Those of extents; last, that of the fill."""
    return arguments(case) + ["zp"]*("= zp" in case[1])


def wanted(case, values):
    """(source, destination) at these numbers.  The reference knows neither extents by name nor a fill by name: padding is written here."""
    shape, bits = shape_at(case, values), BITS[case[3]]
    a, b = (re.sub(r"extent\((\w)\)", lambda m: str(shape["NCHW".index(m[1])]), x).replace("= zp", "= 0") for x in case[:2])
    raw, after = expected((a, b) + case[2:], shape, bits)
    if "= zp" in case[1]:
        slots = ravel.unpack(after, bits)
        slots[O.place(b, tuple(shape[k] for k in R.matched(a, b, len(shape))), bits).pad] = values[-1] & ((1 << bits) - 1)
        after = ravel.pack(slots, bits)
    return raw, after


def run(folder, case, shapes):
    """The destination at each shape, and the blocks it took."""
    text = (folder / "f.c").read_text()
    n = len(names(case))
    (folder / "main.c").write_text(MAIN % {"n": n, "args": ", ".join("x[%d]" % i for i in range(n)), "values": int(re.search(r"int64_t out\[(\d+)\]", text)[1])})
    subprocess.run(["gcc", "-g1", *STRICT, *SANITIZE, "-o", "main", "main.c"], cwd=folder, check=True)
    want = []
    with open(folder / "in", "wb") as f:
        for values in shapes:
            raw, after = wanted(case, values)
            f.write(struct.pack("%dq" % n, *values) + raw.tobytes())
            want.append((raw.size, after))
    env = {k: v for k, v in os.environ.items() if k not in ("LD_PRELOAD", "ASAN_OPTIONS")}
    r = subprocess.run(["./main", "in"], cwd=folder, capture_output=True, env=env)
    return r, want


def assert_right(folder, case, shapes):
    r, want = run(folder, case, shapes)
    assert r.returncode == 0 and r.stderr == b"", (r.returncode, r.stderr[-1500:].decode())
    at = 0
    for values, (size, after) in zip(shapes, want):
        src, dst, blocks = struct.unpack_from("3q", r.stdout, at)
        assert (src, dst) == (size, after.size), values
        got = np.frombuffer(r.stdout, np.uint8, dst, at + 24)
        wrong = np.flatnonzero(got != after)
        assert not wrong.size, (case, shape_at(case, values), wrong[:5])
        assert blocks >= (dst > 0), values
        at += 24 + dst
    assert at == len(r.stdout)


# (from, to, shape, dtype): names are arguments
WHOLE = [c for c in T.CASES if BITS[c[3]] >= 8] + [
    ("NCHW", "NHWC", "N,C,H,W", "f32"), ("NCHW", "NHWC", "N,64,H,W", "f16"), ("NHWC", "NCHW", "N,H,W,64", "u8"), ("NCHW", "NHWC", "N,3,H,W", "u8"),
    ("NCHW", "NC1HWC0", "N,71,H,W", "f16"), ("NC1HWC0", "NCHW", "N,71,H,W", "f16"), ("NCHW", "NC1HWC0", "N,71,H,W", "i8"), ("NC1HWC0", "NCHW", "N,64,H,W", "i8"),
    ("NCHW", "NC1HWC0", "N,C,H,W", "f16"), ("NC1HWC0", "NCHW", "N,C,H,W", "f16"), ("NCHW", "NCHW8", "N,16,H,W", "f32"), ("NCHW8", "NCHW", "N,C,H,W", "f32"),
    ("(A,B){A, B, pitch = {A = 64}}", "(A,B){B, A, pitch = {B = 64}}", "A,B", "f32"), ("(A,B){A//64, B//64, A%64, B%64}", "(A,B){B//64, A//64, B%64, A%64}", "A,B", "f16"),
    ("(A,B){A//64, B//64, A%64, B%64}", "(A,B){B//64, A//64, B%64, A%64}", "A,B", "u8"), ("(B,R,C){B, R, C}", "(B,R,C){B, C, R}", "B,64,32", "f32"),
    ("(B,R,C){B, R, C}", "(B,R,C){B, C, R}", "B,8,8", "u16"), ("(A,B,C,D){A, B, C, D}", "(A,B,C,D){D, B, 8 - C, A}", "A,B,9,D", "u8"),
    ("(B,S,H,D){B, S, H, D}", "(B,S,H,D){B, H, S, D}", "B,S,H,64", "f16"), ("(B,S,H,D){B, S, H, D}", "(B,S,H,D){B, H, D, S}", "B,S,4,D", "f32"),
    ("SF128x4", "(R,C){R, C, fill = 255}", "R,C", "u8"), ("{N, C//48, H, W, C%48}", "{N, C//32, H, W, C%32}", "N,C,H,W", "i8"),
    # slabs of several planes and of parts of a plane; several short loops; padding along the run, across it, and of a number that depends on the shape
    ("NHWC", "NCHW", "N,7,7,C", "u8"), ("NHWC", "NCHW", "N,H,W,3", "f16"), ("(A,B,C,D){A, B, C, D}", "(A,B,C,D){D, B, 8 - C, A}", "A,5,9,3", "u8"),
    ("NCHW", "(N,C,H,W){N, H, W, C, pad = {C = 4}, fill = 7}", "N,3,H,W", "u8"), ("NCHW", "(N,C,H,W){N, C, H, W, pad = {C = 4}, fill = 7}", "N,3,H,W", "u8"),
    # dims with numbers that are no digits
    ("NCHW", "(N,C,H,W){N, (H + 1)%7, (W + 3)%6, C, fill = 7}", "N,C,5,6", "u8"), ("(N,C,H,W){N, C//5, C%5//3, C%5%3, (H + 4)%6//2, W, (H + 4)%6%2}", "NCHW", "N,9,6,W", "f16"),
    # dims that are shifted around their extents, by less or more than these, and borders
    ("NCHW", "(N,C,H,W){N, H, C, (W + 1)%(extent(W) + 2), fill = 7}", "N,3,H,W", "u8"), ("(N,C){(N + 5)%extent(N), C}", "(N,C){C, N}", "N,C", "f16"),
    # dims that are one number, whose product is no argument
    ("NCHW", '(N,C,H,W){N, (H*extent(W) + W)//8, C, (H*extent(W) + W)%8, fill = "none"}', "N,3,H,W", "u8"), ("(N,C,H,W){(H*extent(W) + W)//8, N, C, (H*extent(W) + W)%8}", "NHWC", "2,C,H,W", "f16")]

# transposes of elements that begin anywhere
SHIFTED = [("NCHW", "NHWC", "N,C,H,W", "u4"), ("ROW_MAJOR", "COL_MAJOR", "M,K", "u2"), ("(A,B){A, B, pitch = {A = 6}}", "(A,B){B, A}", "A,B", "u8"),
           ("(A,B){A, B}", "(A,B){B, A}", "37,B", "u4"), ("(A,B,C,D){A, B, C, D}", "(A,B,C,D){D, B, C, A}", "A,B,5,D", "f16"),
           ("NCHW", "NHWC", "N,3,H,W", "u4"), ("(A,B){A, B}", "(A,B){B, A}", "A,8", "u2")]
# elements of several boxes in a byte: padding of a known and of any number, blocks of both sides that share no divisor, the last element as padding, padding that stays as it is, a pitch
SHARED = [("NCHW", "(N,C,H,W){N, H, W, C, pad = {C = 3}}", "N,C,H,W", "u4"), ("NCHW", "{N, C//3, H, W, C%3, fill = 2}", "N,C,H,W", "u4"), ("NCHW", "{N, C//3, H, W, C%3, fill = 1}", "N,C,5,W", "u1"),
          ("(A,B,C){A//3, B//5, C//3, A%3, B%5, C%3}", "(A,B,C){A//7, B//11, C//7, B%11, A%7, C%7}", "A,B,C", "u8"), ("(A,B){A, B}", '(A,B){B//4, A//3, B%4, A%3, fill = "edge"}', "A,B", "u4"),
          ("(A,B){A, B}", '(A,B){B//4, A//3, B%4, A%3, fill = "none"}', "A,B", "u1"), ("(A,B){A, B}", "(A,B){B, A, pitch = {B = 6}}", "A,B", "u1"), ("(A,B){A, B}", "(A,B){B, A//16, 15 - A%16, fill = 3}", "A,B", "u4"),
          ("(A,B){A, B}", "(A,B){A//4, B//3, B%3, (A%4) ~ 1, fill = 5}", "A,B", "u4")]
# boxes that are cut where a byte ends, and joined
CUT = [("(A,B,C){A, B, C}", "(A,B,C){B, A, C}", "A,B,301", "u4"), ("(R,C){R, C}", "(R,C){C, R}", "R,133", "u4"), ("(A,B,C){A, B, C}", "(A,B,C){A, C, B}", "A,B,13", "u2")]
# pixels of other channels: in words if their number is a multiple of one's elements
PIXELS = [("NHWC", "(N,C,H,W){N, H, W, C, pad = {C = 4}, fill = 7}", "N,3,H,W", "u8"), ("NHWC", "(N,C,H,W){N, H, W, 2 - C}", "N,3,H,W", "u8"), ("NHWC", "(N,C,H,W){N, H, W, 2 - C}", "N,3,H,W", "f32"),
          ("(N,C,H,W){N, H, W, C, pad = {C = 4}}", "NHWC", "N,3,H,W", "u8"), ("(N,C,H,W){N, H, W, C, pad = {C = 4}}", "(N,C,H,W){N, H, W, 2 - C}", "N,3,H,W", "f32")]
WHOLE += SHIFTED + SHARED + CUT


@pytest.mark.parametrize("case", WHOLE, ids=lambda c: "%s-%s-%s-%s" % c)
def test_in_plain_c(tmp_path, case):
    emit(tmp_path / "f.c", case, "blocks")
    values = T.values_of(case, 12000)
    assert_right(tmp_path, case, values[::max(1, len(values)//70)])


# (case, the rows that write padding): a fill that each run is given, in words of elements, of parts and of several elements
FILLED = [(("NCHW", "{N, C//32, H, W, C%32, fill = zp}", "N,20,5,7", "i8"), "piece"), (("NCHW", "(N,C,H,W){N, H, W, C, pad = {C = 4}, fill = zp}", "N,3,H,W", "u8"), "fuse"),
          (("NCHW", "{N, C//4, H, W, C%4, fill = zp}", "N,C,H,W", "f32"), "fuse"), (("NCHW", "{N, C//4, H, W, C%4, fill = zp}", "2,7,H,W", "i64"), "piece"),
          (("NCHW", "{N, C//3, H, W, C%3, fill = zp}", "N,C,H,W", "u4"), "inverse"), (("NCHW", "{N, C//3, H, W, C%3, fill = zp}", "N,C,5,W", "u1"), "inverse"),
          (("(A,B){A, B}", "(A,B){A, B, pad = {A = 64, B = 128}, fill = zp}", "A,B", "u16"), "gather"), (("(A,B){A, B}", "(A,B){B, A, pad = {B = 32, A = 32}, fill = zp}", "A,B", "u16"), "tile"),
          (("(A,B){A, B}", "(A,B){A, B, pad = {B = 16}, fill = zp}", "13,11", "u16"), "fuse"), (("NCHW", "(N,C,H,W){N, C, H, W, pad = {C = 4}, fill = zp}", "N,3,H,W", "u8"), "run")]


@pytest.mark.parametrize("case, row", FILLED, ids=lambda c: "%s-%s-%s-%s" % c if isinstance(c, tuple) else c)
def test_a_fill_that_each_run_is_given(tmp_path, case, row):
    assert row in " ".join(rows_of(tmp_path, case))
    emit(tmp_path / "f.c", case, "blocks")
    bits, rnd = BITS[case[3]], random.Random(repr((SEED, case)))
    fills = [0, -1, 1, (1 << (bits - 1)) - 1, -(1 << (bits - 1)), *(rnd.randrange(1 << (bits - 1)) for _ in range(3))]
    values = T.values_of(case, 12000)
    assert_right(tmp_path, case, [(*v, fills[i % len(fills)]) for i, v in enumerate(values[::max(1, len(values)//40)] if arguments(case) else [()]*len(fills))])


def test_no_variable_has_the_name_of_a_fill(tmp_path):
    """Words that are put together from two have variables in the kernel that writes the padding, too."""
    case = ("(A,B,C){A, B, C}", "(A,B,C){C, A, B, pad = {A = 1003}, fill = zp}", "A,200,C", "u4")
    assert "shift" in " ".join(rows_of(tmp_path, case))
    emit(tmp_path / "f.c", case, "blocks")
    subprocess.run(["gcc", "-fsyntax-only", "-Werror=shadow", tmp_path / "f.c"], check=True)


@pytest.mark.parametrize("case", [c for c in WHOLE if c[2] in ("N,71,H,W", "A,B")][:3], ids=lambda c: "%s-%s-%s-%s" % c)
def test_a_missing_guard_is_seen(tmp_path, case):
    text = emit(tmp_path / "f.c", case, "blocks")
    assert "if (e < " in text or "if (x < " in text
    (tmp_path / "f.c").write_text(re.sub(r"if \((e|x) < ", r"if (0*\1 < 1 + ", text))
    r, _ = run(tmp_path, case, [(1,)*len(arguments(case))])
    assert r.returncode and b"heap-buffer-overflow" in r.stderr


ALIGNED = [("NCHW", "NHWC", "N,C,H,W", "f32"), ("NCHW", "NHWC", "N,C,H,W", "f16"), ("NHWC", "NCHW", "N,H,W,C", "u8"), ("NCHW", "NHWC", "N,C,H,W", "i64"),
           ("NCHW", "NC1HWC0", "N,71,H,W", "f16"), ("NC1HWC0", "NCHW", "N,C,H,W", "i8"), ("ROW_MAJOR", "COL_MAJOR", "M,K", "u8"),
           ("(B,S,H,D){B, S, H, D}", "(B,S,H,D){B, H, S, D}", "B,S,H,D", "f16"), ("(A,B){A, B}", "(A,B){A, B, pitch = {A = 6}}", "A,B", "u8"),
           ("(B,S,H,D){B, S, H, D}", "(B,S,H,D){B, H, S, D}", "B,S,H,D", "u8"), ("(A,B){A, B}", "(A,B){A, B}", "A,B", "u4"),
           ("(A,B,C){A, B, C}", "(A,B,C){B, A, C}", "A,B,C", "u1"), *PIXELS]


@pytest.mark.parametrize("case", ALIGNED, ids=lambda c: "%s-%s-%s-%s" % c)
def test_at_and_beside_aligned_shapes(tmp_path, case):
    """Where all strides and runs are multiples of a vector's elements, another box does the work."""
    emit(tmp_path / "f.c", case, "blocks")
    n, rnd = len(arguments(case)), random.Random(repr((SEED, case)))
    counts = [1, 2, 3, 4, 5, 8, 12, 16, 31, 32, 33, 36] + ([64, 65, 100, 128, 132] if n < 4 else [])
    values = {tuple(rnd.choice(counts) for _ in range(n)) for _ in range(160)} | {(c,)*n for c in counts}
    assert_right(tmp_path, case, sorted(v for v in values if np.prod(shape_at(case, v)) <= 60000))


# rows whose ends are padding: the length of a padded row is a multiple of 16, whatever that of a row is
PADDED = [("(A,B){A, B}", "(A,B){A, B, pad = {B = 16}}", "A,B", "u8"), ("(A,B){A, B}", "(A,B){A, B, pad = {B = 32}}", "A,B", "u16")]


@pytest.mark.parametrize("case", PADDED, ids=lambda c: "%s-%s-%s-%s" % c)
def test_padded_rows(tmp_path, case):
    emit(tmp_path / "f.c", case, "blocks")
    long = [15, 16, 17, 31, 33, 127, 128, 511, 513, 1151, 1152, 1153, 2303, 4097]
    assert_right(tmp_path, case, [(a, b) for a in (1, 2, 7, 9) for b in [1, 2, 3, 5, *long]])


def rows_of(folder, case, target="blocks"):
    emit(folder / "f", case, target, "--manifest", folder / "m.json")
    return [box["by"] for box in json.loads((folder / "m.json").read_text())["boxes"]]


@pytest.mark.parametrize("case, row", [
    (("NCHW", "NHWC", "N,C,H,W", "f32"), ["tile", "shift"]), (("NCHW", "NHWC", "N,C,H,W", "u8"), ["tile", "shift", "shift"]), (("NCHW", "NHWC", "N,3,H,W", "u4"), ["loops"]), (("NCHW", "NHWC", "N,64,7,7", "f32"), ["slab"]), (CUT[0], ["run", "run"]), (CUT[1], ["shift", "shift"]),
    (("NCHW", "NHWC", "N,3,H,W", "u8"), ["slab", "slab"]), (("FRACTAL_Z", "NCHW", "N,C,3,3", "f16"), ["fuse", "fuse"]),
    (("NCHW", "(N,C,H,W){N, H, W, C, pad = {C = 4}, fill = 7}", "N,3,H,W", "u8"), ["tile", "fuse"]),
    (PIXELS[0], ["words", "fuse"]), (PIXELS[1], ["words", "fuse"]), (PIXELS[2], ["words", "words"]), (PIXELS[3], ["words", "fuse"]), (PIXELS[4], ["words"]),
    (("NCHW", "NC1HWC0", "N,64,H,W", "f16"), ["piece", "piece"]), (("NC1HWC0", "NCHW", "N,64,H,W", "f16"), ["piece", "piece"]),
    (("(A,B){A//64, B//64, A%64, B%64}", "(A,B){B//64, A//64, B%64, A%64}", "A,B", "f16"), ["tile"]),
    (PADDED[0], ["run"]), (PADDED[1], ["gather", "run"]),
    (("(B,S,H,D){B, S, H, D}", "(B,S,H,D){B, H, S, D}", "B,S,H,64", "f16"), ["gather"])], ids=lambda c: "-".join(c) if isinstance(c, tuple) else c)
def test_rows(tmp_path, case, row):
    """Of aligned shapes first, where they have accesses of their own."""
    assert rows_of(tmp_path, case)[:len(row)] == row


@pytest.mark.parametrize("case, why", [
    (("(A,B,C){A//3, B//5, C//3, A%3, B%5, C%3}", "(A,B,C){A//7, B//11, C//7, B%11, A%7, C%7, pitch = {[3] = 16}}", "A,B,C", "u8"), "the plan has more than 64 boxes (331)"),
    (("(A,B,C){A, B, C}", "(A,B,C){B, A, C, pitch = {B = 5}}", "A,B,C", "u4"), "the box A=0..A - 1 B=0..B - 1 C=0..C - 1 needs accesses of less than 1 byte")], ids=["boxes", "bits"])
def test_what_declines_says_why(tmp_path, case, why):
    text = emit(tmp_path / "f.c", case, "blocks", code=2)
    assert why in text and "has no inverse in closed form for every shape: give numbers" in text and not (tmp_path / "f.c").exists()


@pytest.mark.parametrize("bits", [1, 4, 8, 16, 32, 64, 128])
def test_random_pairs(tmp_path, bits):
    """Any two layouts, each dim a number or a name."""
    ran = 0
    for k, (a, b, fixed, free, rnd) in zip(range(EACH), T.drawn(bits)):
        if P.HWNC in (a, b) and {a[0], b[0]} - set("({"):   # the reference knows the dims of no named layout
            continue
        dims = P.dims_of(a, b, P.NAMES)
        case = (a, b, ",".join(d if d in free else str(fixed[d]) for d in dims), ravel.DTYPE[bits])
        folder = tmp_path / str(k)
        folder.mkdir()
        r = subprocess.run([RAVEL, "emit", "--from", a, "--to", b, "--shape", case[2], "--dtype", case[3], "--target", "blocks", "--name", "kern",
                            "-o", folder / "f.c"], capture_output=True, text=True)
        if r.returncode:
            assert "swizzle" in r.stderr or "share names" in r.stderr or "no inverse in closed form" in r.stderr, (case, r.stderr)
            continue
        values = [tuple(rnd.choice(T.BORDERS) for _ in arguments(case)) for _ in range(40)]
        assert_right(folder, case, [v for v in values if np.prod(shape_at(case, v)) <= 20000])
        ran += 1
    assert ran > EACH//2


@pytest.mark.parametrize("shape", ["13,70", "A,B"])
def test_batches(tmp_path, shape):
    """A kernel of pairs of buffers, under UBSan: those of the batch are transposed, and no others."""
    emit(tmp_path / "f.c", ("(A,B){A, B}", "(A,B){B, A}", shape, "u16"), "blocks", "--batch", "--manifest", tmp_path / "m.json")
    assert json.loads((tmp_path / "m.json").read_text())["pairs"] == 128
    subprocess.run(["gcc", *STRICT, *UNDEFINED, "-shared", "-fPIC", "-o", tmp_path / "f.so", tmp_path / "f.c"], check=True)
    src, dst = np.random.default_rng(SEED).integers(0, 1 << 16, (3, 13, 70), np.uint16), np.full((3, 70, 13), 7, np.uint16)
    pairs = (ct.c_void_p*256)(*[0]*256)
    for i in range(3):
        pairs[i], pairs[128 + i] = dst[i].ctypes.data, src[i].ctypes.data
    ct.CDLL(str(tmp_path / "f.so")).kern(pairs, ct.c_int64(2), *([ct.c_int64(13), ct.c_int64(70)] if shape == "A,B" else []))
    assert np.array_equal(dst[:2], src[:2].transpose(0, 2, 1)) and (dst[2] == 7).all()


def test_batches_are_refused_where_buffers_have_no_addresses(tmp_path):
    for target in "opencl", "glsl":
        assert "take one source and one destination" in emit(tmp_path / "k", ("(A,B){A, B}", "(A,B){B, A}", "8,8", "f32"), target, "--batch", code=2)


HOSTILE = """
#include <stdio.h>
#include <stdlib.h>
#include "f.c"
int main(void)
{
    int64_t x[%(n)d], out[%(values)d];
    while (%(read)s) {
        int64_t size[3] = {-9, -9, -9};
        int no = kern_arguments(%(args)s, &size[0], &size[1], &size[2], out);
        if (!no && !size[2])
            no = 2*kern(NULL, NULL, %(args)s);
        printf("%%d %%lld %%lld %%lld\\n", no, (long long)size[0], (long long)size[1], (long long)size[2]);
    }
    return 0;
}
"""


@pytest.mark.parametrize("case", WHOLE[::2], ids=lambda c: "%s-%s-%s-%s" % c)
def test_hostile_extents(tmp_path, case):
    """Whatever the extents, nothing overflows, and a grid is told or none; where nothing is stored it is of no blocks."""
    text = emit(tmp_path / "f.c", case, "blocks")
    n = len(arguments(case))
    (tmp_path / "main.c").write_text(HOSTILE % {
        "n": n, "args": ", ".join("x[%d]" % i for i in range(n)), "values": int(re.search(r"int64_t out\[(\d+)\]", text)[1]),
        "read": " && ".join("scanf(\"%%ld\", &x[%d]) == 1" % i for i in range(n))})
    subprocess.run(["gcc", "-std=c11", "-g1", *UNDEFINED, "-o", "main", "main.c"], cwd=tmp_path, check=True)
    rnd = random.Random(repr((SEED, case)))
    some = [-2**63, -1, 0, 1, 2, 3, 17, 2**20, 2**61 - 1, 2**63 - 1] + [2**k + d for k in (29, 31, 32, 40, 58, 60, 62) for d in (-1, 0, 1)]
    shapes = [(v,)*n for v in some] + [tuple(rnd.choice(some) for _ in range(n)) for _ in range(2000)]
    r = subprocess.run(["./main"], cwd=tmp_path, input="\n".join(" ".join(map(str, s)) for s in shapes), capture_output=True, text=True)
    assert r.returncode == 0 and r.stderr == "", (shapes[len(r.stdout.splitlines())], r.stderr[-500:])
    answers = [tuple(map(int, line.split())) for line in r.stdout.splitlines()]
    assert len(answers) == len(shapes) and {no for no, *_ in answers} == {0, 1}
    for values, (no, src, dst, blocks) in zip(shapes, answers):
        if no:
            assert blocks == -9, values
        else:
            assert min(values) >= 0 and 0 <= blocks < 2**31 and (dst > 0 or blocks == 0), values


DIVIDE = """
#include <stdio.h>
#include "f.c"
int main(void)
{
    long d, x;
    while (scanf("%ld %ld", &d, &x) == 2) {
        int64_t v[3] = {d};
        ravel_divisor(v, 64);
        printf("%ld\\n", (long)ravel_divide(x, v[1], v[2]));
    }
    return 0;
}
"""


def test_quotients(tmp_path):
    """By multiplier and shift: at both ends, beside multiples, and drawn."""
    emit(tmp_path / "f.c", ("NCHW", "NHWC", "N,C,H,W", "f32"), "blocks")
    (tmp_path / "main.c").write_text(DIVIDE)
    subprocess.run(["gcc", "-std=c11", "-O1", *UNDEFINED, "-o", "main", "main.c"], cwd=tmp_path, check=True)
    rnd = random.Random(SEED)
    divisors = [*range(1, 70), *(2**k + d for k in range(7, 62) for d in (-1, 0, 1)), *(rnd.randrange(1, 1 << rnd.randrange(2, 62)) for _ in range(400))]
    pairs = [(d, x) for d in divisors for q in (0, 1, 2**62//d, rnd.randrange(2**63//d)) for x in (q*d - 1, q*d, q*d + d//2, 2**63 - 1) if 0 <= x < 2**63]
    r = subprocess.run(["./main"], cwd=tmp_path, input="\n".join("%d %d" % p for p in pairs), capture_output=True, text=True)
    assert r.returncode == 0 and [int(q) for q in r.stdout.split()] == [x//d for d, x in pairs]


# --- the same under OpenCL

def host(folder, path, n):
    """The host's function, of n numbers, of a file that C may include, too."""
    (folder / "host.c").write_text('#include "%s"\nint host(const int64_t *x, int64_t *size, int64_t *out);\nint host(const int64_t *x, int64_t *size, int64_t *out)\n'
                                   "{\n    return kern_arguments(%s, &size[0], &size[1], &size[2], out);\n}\n" % (path, ", ".join("x[%d]" % i for i in range(n))))
    so = folder / "host.so"
    subprocess.run(["gcc", "-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-shared", "-fPIC", "-o", so, folder / "host.c"], check=True)
    f = ct.CDLL(str(so)).host
    def call(values):
        size, out = (ct.c_int64*3)(), (ct.c_int64*512)()
        assert f((ct.c_int64*n)(*values), size, out) == 0
        return tuple(size), list(out)
    return call


class AtShape:
    """A kernel at a shape, its values as constants of the file: grid_runs.run_opencl gives kernels two arguments."""
    def __init__(self, folder, number, text, case, values, call):
        (src, dst, blocks), out = call(values)
        self.case, self.entry, self.path = (case, values), "kern", folder / ("k%d.cl" % number)
        kernel = text.replace(", __constant long *values)", ")")
        assert kernel != text
        self.path.write_text("__constant long values[512] = {%s};\n%s" % (", ".join(map(str, out)), kernel))
        self.manifest = {"grid": [blocks], "block": [256], "shared_bytes": 16384}
        self.folder, self.number = folder, number
        self.raw, self.want = expected(case, shape_at(case, values), BITS[case[3]])
        assert (src, dst) == (self.raw.size, self.want.size)

    def data(self):
        return self.raw, self.want


def at_shapes(folder, case, each):
    path = folder / "f.cl"
    text = emit(path, case, "opencl")
    call = host(folder, path, len(arguments(case)))
    values = [v for v in T.values_of(case, 12000) if min(shape_at(case, v)) > 0]
    ks = [AtShape(folder, i, text, case, v, call) for i, v in enumerate(values[::max(1, len(values)//each)])]
    for i, k in enumerate(ks):
        k.path.write_text(k.path.read_text().replace("\nkern(", "\nkern%d(" % i))
        k.entry = "kern%d" % i
    return ks


DEVICE = [c for c in WHOLE if c[:3] in {("NCHW", "NHWC", "N,C,H,W"), ("NCHW", "NC1HWC0", "N,71,H,W"), ("NC1HWC0", "NCHW", "N,71,H,W"), ("ROW_MAJOR", "SW128", "M,K"),
                                        ("NCHW", "NHWC", "N,3,H,W"), ("FRACTAL_Z", "NCHW", "N,C,3,3"), ("(A,B){A//64, B//64, A%64, B%64}", "(A,B){B//64, A//64, B%64, A%64}", "A,B")}]


@pytest.mark.parametrize("case", DEVICE, ids=lambda c: "%s-%s-%s-%s" % c)
def test_by_opencl(tmp_path, case):
    ks = at_shapes(tmp_path, case, 6)
    r, wrong = grid_runs.run_opencl(tmp_path, ks)
    assert r.stdout == "%d jobs\n" % len(ks) and not wrong, (r.stdout, wrong)


@pytest.mark.parametrize("case", DEVICE, ids=lambda c: "%s-%s-%s-%s" % c)
def test_no_races(oclgrind, tmp_path, case):
    ks = at_shapes(tmp_path, case, 4)
    kinds, wrong, text = test_oclgrind.found(oclgrind, tmp_path, ks)
    assert not kinds and not wrong, (text[:3000], wrong)


# --- and as shaders

SHADERS = [("NCHW", "NHWC", "N,C,H,W", "f32"), ("NCHW", "NCHW8", "N,C,H,W", "f32"), ("NCHW8", "NCHW", "N,C,H,W", "f32"), ("NCHW", "NHWC", "N,3,H,W", "i64"),
           ("(A,B){A//64, B//64, A%64, B%64}", "(A,B){B//64, A//64, B%64, A%64}", "A,B", "f32"), ("(A,B){A, B}", "(A,B){A//16, B, 15 - A%16}", "A,B", "f32"),
           ("NCHW", "NHWC", "N,3,H,W", "c128"), ("NCHW", "NHWC", "N,C,H,W", "f16"), ("ROW_MAJOR", "COL_MAJOR", "M,K", "u8"), ("(B,R,C){B, R, C}", "(B,R,C){B, C, R}", "B,R,C", "u4"), ("NCHW", "NHWC", "N,3,H,W", "i4"),
           ("NCHW", "NC1HWC0", "N,71,H,W", "f16"), ("NCHW", "{N, C//3, H, W, C%3, fill = 2}", "N,C,H,W", "u4")]


def shader(folder, case):
    """Its text, and the host's function of the manifest."""
    text = emit(folder / "k.comp", case, "glsl", "--manifest", folder / "m.json")
    manifest = json.loads((folder / "m.json").read_text())
    assert [a["binding"] for a in manifest["arguments"]] == [0, 1, 2] and manifest["arguments"][2]["bits"] == 32
    (folder / "host.h").write_text("#include <stdint.h>\n" + manifest["host"]["source"])
    return text, host(folder, folder / "host.h", len(arguments(case)))


@pytest.mark.parametrize("case", SHADERS, ids=lambda c: "%s-%s-%s-%s" % c)
def test_by_opengl(tmp_path, case):
    """The values stand behind the source, in its buffer: what runs shaders here binds two."""
    text, call = shader(tmp_path, case)
    jobs, wants = [], []
    values = [v for v in T.values_of(case, 12000) if min(shape_at(case, v)) > 0]
    for i, v in enumerate(values[::max(1, len(values)//8)]):
        (src, dst, blocks), out = call(v)
        raw, want = expected(case, shape_at(case, v), BITS[case[3]])
        assert (src, dst) == (-(-raw.size//4)*4, -(-want.size//4)*4)
        raw = np.append(raw, np.zeros(src - raw.size, np.uint8))
        own = text.replace("binding = 2) restrict readonly buffer Values { ", "binding = 1) restrict readonly buffer Values { uint skipped[%d]; " % (raw.size//4))
        assert own != text
        (tmp_path / ("k%d.comp" % i)).write_text(own)
        src = np.concatenate([raw, np.array([x & 0xffffffff for x in out], np.uint32).view(np.uint8)])
        jobs.append((tmp_path / ("k%d.comp" % i), (blocks + i % 2, 1, 1), src, np.full(dst, ravel.POISON, np.uint8)))
        wants.append(want)
    for (path, *_), got, want in zip(jobs, test_glsl.run(tmp_path, jobs), wants):
        assert np.array_equal(got[:want.size], want) and (got[want.size:] == ravel.POISON).all(), path


def test_shaders_are_valid(tmp_path):
    if not shutil.which("glslangValidator"):
        pytest.skip("glslangValidator is not installed")
    for case in SHADERS:
        shader(tmp_path, case)
        subprocess.run(["glslangValidator", "-V", "-S", "comp", "-o", tmp_path / "k.spv", tmp_path / "k.comp"], check=True, capture_output=True)
    assert "accesses of less than 4 bytes" in emit(tmp_path / "k", ("(A,B,C){A, B, C}", "(A,B,C){B, A, C, pitch = {B = 6}}", "A,B,C", "f16"), "glsl", code=2)


def test_a_shader_has_buffers_of_less_than_2_gb(tmp_path):
    _, call = shader(tmp_path, SHADERS[0])
    assert call((1, 1, 1, 2**29 - 1))[0][1] == 2**31 - 4
    with pytest.raises(AssertionError):
        call((1, 1, 1, 2**29))


# --- machine code

def test_cuda_compiles(nvcc, tmp_path):
    """With its host's function; no spills, and accesses as wide as the layouts allow for every shape."""
    files = [tmp_path / ("kern%d.cu" % i) for i in range(len(DEVICE))]
    for path, case in zip(files, DEVICE):
        emit(path, case, "cuda", "--name", path.stem)
    r = subprocess.run([nvcc, "-c", "-arch=sm_90", *machine_code.STRICT, "-o", tmp_path / "k.o", machine_code.unit(tmp_path / "k.cu", files)], capture_output=True, text=True)
    assert r.returncode == 0 and r.stderr.count(machine_code.NO_SPILLS) == r.stderr.count("bytes spill stores") == len(DEVICE), r.stderr
    emit(tmp_path / "k.cu", ("ROW_MAJOR", "COL_MAJOR", "M,K", "f32"), "cuda", "--batch")
    r = subprocess.run([nvcc, "-cubin", "-arch=sm_80", "-Xptxas", "-v", "-Werror", "all-warnings", "-o", tmp_path / "k.o", tmp_path / "k.cu"], capture_output=True, text=True)
    assert r.returncode == 0 and "0 bytes stack frame" in r.stderr, r.stderr
    emit(tmp_path / "k.cu", ("NCHW", "NC1HWC0", "N,64,H,W", "f16"), "cuda")
    subprocess.run([nvcc, "-cubin", "-arch=sm_90", "-o", tmp_path / "k.cubin", tmp_path / "k.cu"], check=True)
    assert machine_code.instructions((tmp_path / "k.cubin").read_bytes()) == {"LDG 4": 8, "LDG 2": 8, "STG 16": 3}


def test_hip_compiles(tmp_path):
    if not shutil.which("clang"):
        pytest.skip("clang is not installed")
    for case, *more in [*((c,) for c in DEVICE), (("ROW_MAJOR", "COL_MAJOR", "M,K", "f32"), "--batch")]:
        emit(tmp_path / "k.hip", case, "hip", *more)
        subprocess.run(["clang", *test_hip.FLAGS, *test_hip.COMPILERS["clang"], "--offload-arch=gfx90a", "-o", tmp_path / "k.s", tmp_path / "k.hip"], check=True)
