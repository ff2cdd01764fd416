"""Compute shaders: every case of tests/grids.py and random ones through the Khronos compiler and validator, for Vulkan, OpenGL and OpenGL ES, and run by
OpenGL (without a GPU: Mesa's llvmpipe), held against the element formulas."""

import collections
import functools
import json
import math
import os
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest

import grid_runs
import grids as G
import orders as O
import ravel
import test_emit

SEED = int(os.environ.get("RAVEL_SEED", "20240611"))
HERE = ravel.ROOT / "tests"

# Shared memory in two widths: of one word and four, of two and four, of one and two; words of elements at every end of a buffer; transposes by elements;
# indices that are below 0 on the way.
MORE = [("NHWC", "NCHW", (2, 3, 32, 32), 32), ("NCHW", "NHWC", (2, 3, 32, 32), 64), ("NHWC", "NCHW", (1, 6, 31, 17), 32), ("NCHW", "NHWC", (1, 6, 31, 17), 32),
        ("NHWC", "NCHW", (1, 31, 16, 32), 64), ("(A,B){A, B}", "(A,B){B, A}", (3, 7), 8), ("(A,B){A, B}", "(A,B){B, A}", (3, 7), 16),
        ("(A,B){A, B}", "(A,B){B, A, pad = {A = 4}, fill = 3}", (3, 5), 8), ("(A,B){A, B}", "(A,B){B, A}", (3, 7), 1), G.T(267, 261, 32), G.T(261, 530, 64), G.T(40, 37, 128), G.T(9, 70, 128),
        G.P(64, 64, 65, 300, 32), ("(A,B){A, B}", "(A,B){max(A - 10, 0), min(A, 10), B//6, B%6}", (37, 6), 32), ("(A){A}", "(A){max(5 - A, 0), A}", (37,), 32),
        ("(A,B){A, B}", "(A,B){max(min(A - 5, 3), B - 9) + 9, A, B}", (12, 11), 32)]
CASES = G.CASES + MORE


ROOM = 1 << 16                     # bytes behind a buffer, which must stay as they are; those of the source are others


def whole(data, least=4, room=0):
    """Buffers are of whole words; what is behind the last element is left alone."""
    return tuple(np.concatenate([raw, np.full(-raw.size % least + room, fill, np.uint8)]) for raw, fill in zip(data, (~ravel.POISON & 255, ravel.POISON)))


@functools.cache
def device():
    """Why nothing can be run; empty where it can."""
    r = subprocess.run([sys.executable, HERE / "gl_run.py"], input="", capture_output=True, text=True)
    print(r.stdout)
    return "" if r.returncode == 0 else r.stdout.strip() or r.stderr


def run(folder, jobs):
    """jobs: (text, grid, source bytes, destination bytes before).  The destinations after."""
    if device():
        pytest.skip(device())
    lines = ""
    for i, (text, grid, src, dst) in enumerate(jobs):
        src.tofile(folder / ("%d.src" % i))
        dst.tofile(folder / ("%d.dst" % i))
        lines += "%s %d %d %d %s %s\n" % (text, *grid, folder / ("%d.src" % i), folder / ("%d.dst" % i))
    r = subprocess.run([sys.executable, HERE / "gl_run.py"], input=lines, capture_output=True, text=True)
    assert r.returncode == 0 and r.stdout.startswith("%d jobs by " % len(jobs)), r
    return [np.fromfile(folder / ("%d.dst" % i), np.uint8) for i in range(len(jobs))]


def wrong(folder, ks, grids=None):
    """The cases whose bytes are not those of the formulas."""
    data = [whole(k.data(), room=ROOM) for k in ks]
    for k, sizes in zip(ks, data):
        assert [a["buffer_bytes"] for a in k.manifest["arguments"]] == [sizes[1].size - ROOM, sizes[0].size - ROOM], k.case
    got = run(folder, [(k.path, grid, src, np.full(want.size, ravel.POISON, np.uint8))
                       for k, (src, want), grid in zip(ks, data, grids or [k.manifest["grid"] for k in ks])])
    return [k.case for k, (_, want), out in zip(ks, data, got) if not np.array_equal(out, want)]


def kernels(folder, cases):
    ks = G.kernels(folder, "glsl", cases)
    for k in ks:
        assert (k.manifest["entry"], k.manifest["index_bits"], k.manifest["arguments"][0]["binding"], k.manifest["arguments"][1]["binding"]) == ("main", 32, 0, 1)
        assert all(a["bytes"] >= 4 for box in k.manifest["boxes"] for block in box["analysed"] for a in block["accesses"])
        assert k.manifest["shared_bytes"] <= 16384 and max(k.manifest["grid"]) <= 65535
    return ks


@pytest.fixture(scope="module")
def all_kernels(tmp_path_factory):
    return kernels(tmp_path_factory.mktemp("kernels"), CASES)


def test_every_case_by_opengl(tmp_path, all_kernels):
    ks = all_kernels
    assert len(ks) == len(CASES)
    rows = collections.Counter(box["by"] for k in ks for box in k.manifest["boxes"])
    assert set(rows) == {"words", "piece", "tile", "shift", "edge", "slab", "fuse", "run", "gather", "period", "cells", "loops", "inverse"} and min(rows.values()) > 2, rows
    texts = "".join(k.path.read_text() for k in ks)
    for declared in ("Src4", "Src8", "Src16", "Dst4", "Dst8", "Dst16", "shared uint ", "shared uvec2 ", "shared uvec4 ", "tile[2u*(", "tile[4u*(", "at = 2u*(", "at = 4u*("):
        assert declared in texts, declared
    assert wrong(tmp_path, ks) == []


# sums that are below 0 on the way to an index, which is right modulo 2^32
BELOW = [("(A,B){A, B}", "(A,B){130 - B, 255 - A}", (256, 131), 32), ("(A,B){A, B}", "(A,B){130 - B, 255 - A}", (256, 131), 16), ("(A,B,C){A, B, C}", "(A,B,C){4 - C, A, 66 - B}", (33, 67, 5), 32),
         ("(A,B){A, B}", "(A,B){(A - 10)*(B - 10) + 400, A, B}", (37, 6), 32)]


def test_indices_that_wrap_by_opengl(tmp_path):
    ks = kernels(tmp_path, BELOW)
    assert len(ks) == len(BELOW) and wrong(tmp_path, ks) == []


def test_random_cases_by_opengl(tmp_path):
    print("seed", SEED)
    ks = kernels(tmp_path, grid_runs.drawn(60, SEED + 1))
    assert len(ks) > 40
    assert wrong(tmp_path, ks) == []


# Version, flags, environment of spirv-val; one kernel in so many.
MODES = {"vulkan": ("#version 430", ["-V", "--target-env", "vulkan1.0"], "vulkan1.0", 2), "opengl": ("#version 430", ["-G"], "opengl4.5", 1),
         "es": ("#version 310 es", [], None, 3)}


@pytest.mark.parametrize("mode", MODES)
def test_every_case_is_valid(tmp_path, all_kernels, mode):
    for tool in ("glslangValidator", "spirv-val"):
        if not shutil.which(tool):
            pytest.skip("%s is not installed" % tool)
    version, flags, env, share = MODES[mode]
    files = [tmp_path / ("%d.comp" % i) for i in range(0, len(all_kernels), share)]
    for k, path in zip(all_kernels[::share], files):
        path.write_text(k.path.read_text().replace("#version 430", version))
    commands = [["glslangValidator", *flags, *files]]            # many at once, where no module is made of them
    if env:
        spv = tmp_path / "k.spv"
        commands = [c for path in files for c in (["glslangValidator", *flags, "-o", spv, path], ["spirv-val", "--target-env", env, spv])]
    for command in commands:
        r = subprocess.run(command, capture_output=True, text=True)
        assert r.returncode == 0 and "WARNING" not in r.stdout, r


# --- bugs are seen

BUGS = {"guard": (G.T(33, 35, 128), " && y < 33u", ""), "barrier": (G.T(64, 128, 32), "memoryBarrierShared(); barrier();", ""),
        "mask": (("NCHW", "NC1HWC0", (2, 20, 5, 7), 16), "& 65535u)", "& 32767u)"), "binding": (G.T(64, 128, 32), "binding = 1", "binding = 2"),
        "bytes": (G.T(128, 256, 8), "s >> 12", "s >> 8"), "words": (MORE[1], "tile[4u*(", "tile[(")}


@pytest.mark.parametrize("bug", BUGS)
def test_a_bug_is_seen(tmp_path, bug):
    case, find, put = BUGS[bug]
    [k] = kernels(tmp_path, [case])
    text = k.path.read_text()
    assert find in text, text
    k.path.write_text(text.replace(find, put))
    assert wrong(tmp_path, [k]) == [case]


# --- the grid

def narrow_grid(folder, side):
    (folder / "side.lua").write_text('return { like = "glsl", grid_side = "%d" }' % side)
    return folder / "side.lua"


@pytest.mark.parametrize("case, side", [(G.T(300, 700, 32), 17), (("NCHW", "NC1HWC0", (4, 36, 30, 20), 16), 13), (G.T(260, 132, 8), 5),
                                        (("NCHW", "NHWC", (3, 64, 16, 16), 32), 7)], ids=str)
def test_a_grid_of_rows(tmp_path, case, side):
    """More blocks than a side of the grid has room for; and any other grid with as many, or more."""
    k = G.Kernel(tmp_path, 0, case, str(narrow_grid(tmp_path, side)))
    blocks = sum(box["blocks"] for box in k.manifest["boxes"])
    x, y, z = k.manifest["grid"]
    assert z == 1 and side >= x >= y > 1 and x*y >= blocks > x*(y - 1), (blocks, x, y)
    for grid in ((x, y, 1), (blocks, 1, 1), (1, blocks + 9, 1), (3, 2, -(-blocks//6) + 1)):
        assert wrong(tmp_path, [k], [grid]) == [], grid
    assert wrong(tmp_path, [k], [(blocks - 1, 1, 1)]) == [case]


def emit(*args):
    return subprocess.run([G.RAVEL, *map(str, args)], capture_output=True, text=True)


def base(shape, *more):
    return ["--from", "(R,C){R, C}", "--to", "(R,C){C, R}", "--shape", shape, "--dtype", "f32", "--target", "glsl", *more]


def test_large_grids(tmp_path):
    """The first tensor whose tiles are more than 65535, and the first that is too large."""
    for rows, grid in ((16320, [65280, 1, 1]), (16384, [32768, 2, 1])):
        r = emit("explain", *base("%d,16384" % rows, "--json"))
        manifest = json.loads(r.stdout)
        assert manifest["grid"] == grid and math.prod(grid) == manifest["boxes"][0]["blocks"]
    assert "65536 blocks of 256 threads as 32768 by 2, 16384 bytes" in emit("explain", *base("16384,16384")).stdout
    r = emit("emit", *base("32768,16384", "-o", tmp_path / "k.comp"))
    assert r.returncode == 2 and "needs indices of 64 bits" in r.stderr and not list(tmp_path.iterdir()), r
    r = emit("emit", "--from", "(A,B){A, B}", "--to", "(A,B){A, B, A*B*1000003*79190 % 3}", "--shape", "37,6", "--dtype", "f32", "--target", "glsl", "-o", tmp_path / "k.comp")
    assert r.returncode == 2 and "needs signed indices of 64 bits" in r.stderr and "there is a number below 0" in r.stderr and "buffers of" not in r.stderr, r
    r = emit("emit", *base("300,700", "--target", narrow_grid(tmp_path, 3), "-o", tmp_path / "k.comp"))
    assert r.returncode == 2 and "at most 2^31 - 1, and 3 a side" in r.stderr, r


@pytest.mark.parametrize("field", ['access_least = "3"', 'access_least = "8"', 'index_bits = "48"', 'grid_side = "0"', 'shared_most = "1e3"', 'grid_side = ""',
                                   'grid_side = "99999999999999999999999"', 'grid_side = "-1"'])
def test_wrong_numbers(tmp_path, field):
    (tmp_path / "bad.lua").write_text('return { like = "glsl", %s }' % field)
    r = emit("emit", *base("3,4", "--target", tmp_path / "bad.lua", "-o", tmp_path / "o"))
    assert r.returncode == 2 and "bad.lua: %s: a number from " % field.replace('"', "") in r.stderr and not (tmp_path / "o").exists(), r


@pytest.mark.parametrize("least", [2, 4])
def test_least_accesses_in_plain_c(tmp_path, least):
    """Under AddressSanitizer: buffers of whole words are enough."""
    (tmp_path / "least.lua").write_text('return { like = "blocks", access_least = "%d" }' % least)
    narrow = [c for c in CASES if c[3] < 32]
    ks = [G.Kernel(tmp_path, i, case, str(tmp_path / "least.lua")) for i, case in enumerate(narrow[SEED % 3::3])]
    for k in ks:
        k.path = k.path.rename(k.path.with_suffix(".c"))
        k.data = functools.partial(whole, k.data(), least)
        assert not re.search(r"_LOAD\(uint8_t|_STORE\(uint8_t" + (r"|_LOAD\(uint16_t|_STORE\(uint16_t" if least > 2 else ""), k.path.read_text()), k.case
    r, bad = grid_runs.run_blocks(tmp_path, ks)
    assert (r.returncode, r.stderr) == (0, "") and not bad, (r.stderr[-3000:], bad)


# --- index functions

MAIN = """#version 430
layout(local_size_x = 64) in;
layout(std430, binding = 0) buffer D { int found[]; };
layout(std430, binding = 1) readonly buffer S { int asked[]; };
%s
%s
void main()
{
    int i = int(gl_GlobalInvocationID.x), at[%d];
    if (i < %d)
        found[i] = off(%s);
    if (i < %d) {
        found[%d + %d*i] = inv(asked[%d + i], at);
        for (int d = 0; d < %d; d++)
            found[%d + %d*i + 1 + d] = at[d];
    }
}
"""


@pytest.mark.parametrize("case", [c for c in test_emit.INDEX if c[1]], ids=lambda c: c[0])
def test_index_functions(tmp_path, case):
    layout, shape, dtype = case
    texts = []
    for kind, name in (("offset", "off"), ("inverse", "inv")):
        r = emit("emit", "--kind", kind, "--to", layout, "--shape", ",".join(map(str, shape)), "--dtype", dtype, "--name", name, "--target", "glsl", "-o", "-")
        assert r.returncode == 0, r
        texts.append(r.stdout)
    p, rank = O.place(layout, shape, test_emit.BITS[dtype]), len(shape)
    coords = np.ascontiguousarray(np.indices(shape).reshape(rank, -1).T)
    at = {int(a): tuple(x) for a, x in zip(p.addr.reshape(-1), coords.tolist())}
    asked = np.array([-1 << 31, -p.size, -2, -1, *range(p.size + 3), 2*p.size, (1 << 31) - 1])
    n, m = len(coords), len(asked)
    (tmp_path / "f.comp").write_text(MAIN % (*texts, rank, n, ", ".join("asked[%d*i + %d]" % (rank, d) for d in range(rank)), m, n, rank + 1, n*rank, rank, n, rank + 1))
    src = np.concatenate([coords.reshape(-1), asked]).astype(np.int32).view(np.uint8)
    [out] = run(tmp_path, [(tmp_path / "f.comp", (-(-max(n, m)//64), 1, 1), src, np.zeros(4*(n + m*(rank + 1)), np.uint8))])
    out = out.view(np.int32)
    assert np.array_equal(out[:n], p.addr.reshape(-1))
    for a, (found, *x) in zip(asked.tolist(), out[n:].reshape(m, -1).tolist()):
        assert (tuple(x) if found else None) == at.get(a), a


@pytest.mark.parametrize("args, says", [(["--kind", "offset", "--shape", "65536,40000"], "needs indices of 64 bits"), (["--kind", "inverse", "--shape", "65536,40000"], "64 bits"),
                                        (["--kind", "inverse", "--shape", "3,4", "--name", "vec2"], "cannot name a function of the target"),
                                        (["--kind", "offset", "--shape", "3,4", "--name", "gl_it"], "cannot name a function of the target"),
                                        (["--kind", "offset", "--shape", "3,4", "--name", "vec"], ""), (["--kind", "offset", "--shape", "46340,46340"], "")], ids=str)
def test_what_functions_are_refused(tmp_path, args, says):
    r = emit("emit", "--to", "(R,C){C, R}", "--dtype", "f32", "--target", "glsl", "-o", tmp_path / "o", *args)
    assert (r.returncode, (tmp_path / "o").exists()) == ((2, False) if says else (0, True)) and says in r.stderr, r


def test_names_that_glsl_keeps(tmp_path):
    """Dims may be called as they like."""
    case = ("(gl,shared,tile,group,at){gl, shared, tile, group, at}", "(gl,shared,tile,group,at){at, group, tile, shared, gl}", (3, 4, 5, 2, 7), 32)
    assert wrong(tmp_path, kernels(tmp_path, [case])) == []
