"""Kernels for blocks of threads with extents left to run time: as plain C under AddressSanitizer and UBSan, one kernel at many shapes, every byte expected.

Addresses come from tests/formulas.py and tests/orders.py at each shape; the compiler only ever sees names."""

import json
import os
import random
import re
import struct
import subprocess

import numpy as np
import pytest

import orders as O
import ravel
import test_pairs as P
import test_runtime as T
from test_runtime import arguments, expected, shape_at

RAVEL = str(ravel.BUILD / "ravel")
SEED = int(os.environ.get("RAVEL_SEED", "20240611"))
STRICT = ["-std=c11", "-Wall", "-Wextra", "-Wconversion", "-Wno-sign-conversion", "-Werror"]
SANITIZE = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
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


def run(folder, case, shapes):
    """The destination at each shape, and the blocks it took."""
    text = (folder / "f.c").read_text()
    n = len(arguments(case))
    (folder / "main.c").write_text(MAIN % {"n": n, "args": ", ".join("x[%d]" % i for i in range(n)), "values": int(re.search(r"int64_t out\[(\d+)\]", text)[1])})
    subprocess.run(["gcc", "-O1", "-g", *STRICT, *SANITIZE, "-o", "main", "main.c"], cwd=folder, check=True)
    want = []
    with open(folder / "in", "wb") as f:
        for values in shapes:
            raw, after = expected(case, shape_at(case, values), BITS[case[3]])
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
    ("SF128x4", "(R,C){R, C, fill = 255}", "R,C", "u8"), ("{N, C//48, H, W, C%48}", "{N, C//32, H, W, C%32}", "N,C,H,W", "i8")]


@pytest.mark.parametrize("case", WHOLE, ids=lambda c: "%s-%s-%s-%s" % c)
def test_in_plain_c(tmp_path, case):
    emit(tmp_path / "f.c", case, "blocks")
    values = T.values_of(case, 12000)
    assert_right(tmp_path, case, values[::max(1, len(values)//70)])
