"""Kernels for grids of blocks of threads, without a GPU: as plain C under AddressSanitizer and UBSan, as OpenCL by PoCL; what is refused."""

import collections
import os
import re
import signal
import subprocess

import numpy as np
import pytest

import grids as G
import ravel
from grid_runs import drawn, run_blocks, run_opencl
from sanitize import SANITIZE
from grids import T

SEED = int(os.environ.get("RAVEL_SEED", "20240611"))

# a digit that is a factor of others: accesses of single bytes, which GLSL has not
FACTOR = ("(P,B){P, B}", "(P,B){(1 - B%2)*(206 + B//2*103 + P) + B%2*(2*P + B//2)}", (103, 4), 8)


def test_every_case_in_plain_c(tmp_path):
    cases = [*G.CASES, FACTOR]
    ks = G.kernels(tmp_path, "blocks", cases)
    assert len(ks) == len(cases), {k.refused for k in map(lambda c: G.Kernel(tmp_path, 0, c, "blocks"), cases)}
    r, wrong = run_blocks(tmp_path, ks)
    assert (r.returncode, r.stderr) == (0, "") and not wrong, (r.stderr[-3000:], wrong)
    rows = collections.Counter(box["by"] for k in ks for box in k.manifest["boxes"])
    assert set(rows) == {"words", "piece", "tile", "shift", "edge", "slab", "fuse", "run", "gather", "period", "cells", "loops", "inverse"} and min(rows.values()) > 3, rows


# copies by accesses of 16 bytes
COPY = ("(B,S,H,D){B, S, H, D}", "(B,S,H,D){B, H, S, D}", (2, 16, 4, 64), 16)


@pytest.mark.parametrize("align", [1, 2, 4, 8])
def test_buffers_aligned_to_less(tmp_path, align):
    """--align: no access is wider, nor does the result differ; a wider one is seen."""
    (tmp_path / "narrow.h").write_text('#include <stdlib.h>\n#include <string.h>\n#define RAVEL_AT(space, line, thread, byte, width) '
                                       '((width) > OFFSET && strcmp(space, "shared") ? abort() : (void)0)\n')
    flags = [*SANITIZE, "-include", tmp_path / "narrow.h"]
    cases = [c for c in G.CASES if c[3]//8 <= align][::6]
    ks = [G.Kernel(tmp_path, i, c, "blocks", "--align", align) for i, c in enumerate(cases)]
    assert not [k.refused for k in ks if k.refused]
    assert all(a["aligned_to"] <= align for k in ks for a in k.manifest["arguments"])
    assert all(x["bytes"] <= align for k in ks for box in k.manifest["boxes"] for b in box["analysed"] for x in b["accesses"] if x["memory"] != "shared")
    r, wrong = run_blocks(tmp_path, ks, flags, "-DOFFSET=%d" % align)
    assert (r.returncode, r.stderr) == (0, "") and not wrong, (r.stderr[-3000:], wrong)
    r, _ = run_blocks(tmp_path, [G.Kernel(tmp_path, 0, COPY, "blocks")], flags, "-DOFFSET=%d" % align)
    assert r.returncode == -signal.SIGABRT


def test_alignment_is_checked(tmp_path):
    for case, target, align, says in [(T(8, 8, 32), "blocks", 2, "accesses 4 bytes at once"), (T(8, 8, 8), "glsl", 2, "accesses 4 bytes at once"),
                                      (T(8, 8, 8), "cuda", 3, "a power of two"), (T(8, 8, 8), "cuda", 32, "from 1 to 16"), (T(8, 8, 8), "c", 4, "--align needs")]:
        r = subprocess.run([G.RAVEL, "emit", "--from", case[0], "--to", case[1], "--shape", "8,8", "--dtype", ravel.DTYPE[case[3]], "--target", target,
                            "--align", str(align), "-o", tmp_path / "k"], capture_output=True, text=True)
        assert r.returncode == 2 and says in r.stderr and not (tmp_path / "k").exists(), r


class OfViews(G.Kernel):
    """A kernel between parts of row-major tensors: (extents, index) of both sides, shape, bits."""
    def __init__(self, folder, number, case, target):
        a, b, self.shape, bits = case
        self.at = [eval("np.arange(np.prod(e)).reshape(e)%s" % i, {"np": np, "e": e}) for e, i in (a, b)]
        self.size = [int(np.prod(e)) for e, _ in (a, b)]
        texts = ["ROW_MAJOR(%s)%s" % (",".join(map(str, e)), i) for e, i in (a, b)]
        super().__init__(folder, number, (*texts, self.shape, bits), target)

    def data(self):
        bits = self.case[3]
        el = ravel.numbers(np.random.default_rng(1).integers(0, 1 << 64, self.at[0].size, np.uint64), bits)
        dst = ravel.poisoned(self.size[1], bits)
        dst[np.broadcast_to(self.at[1], self.shape).reshape(-1)] = el[np.unique(self.at[0], return_inverse=True)[1].reshape(-1)]
        src = ravel.poisoned(self.size[0], bits)
        src[np.unique(self.at[0])] = el[:np.unique(self.at[0]).size]
        return ravel.pack(src, bits), ravel.pack(dst, bits)


PARTS = [(((60, 70), "[3:-2, ::-1]"), ((70, 80), "[5:60, 10:80]"), (55, 70)), (((40, 50), "[::2, 1::3]"), ((20, 17), "[...]"), (20, 17)),
         (((33, 64), "[:, ::-1]"), ((64, 99), "[:33, :64]"), (33, 64)), (((9, 8, 7), "[4]"), ((20, 30), "[6:14, 3:10]"), (8, 7)),
         (((5, 40, 40), "[:, 1:33, 4:36]"), ((5, 33, 32), "[:, :-1]"), (5, 32, 32)), (((6, 90), "[[5,0,1,2]]"), ((4, 100), "[::-1, 10:]"), (4, 90)),
         # words with gaps, and where the last of them would end outside the source
         (((40, 34, 4), "[:, :, 1:]"), ((40, 34, 3), "[...]"), (40, 34, 3)), (((9, 512), "[:, 1::2]"), ((9, 256), "[...]"), (9, 256)),
         (((255,), "[::4]"), ((64,), "[...]"), (64,)), (((3072,), "[::3]"), ((1024,), "[...]"), (1024,)), (((3071,), "[1::3]"), ((1024,), "[...]"), (1024,))]


def test_parts_of_tensors(tmp_path):
    """What a part leaves out stays as it is, bits beside it too."""
    cases = [(*part, bits) for part in PARTS for bits in (4, 8, 32)]
    ks = [OfViews(tmp_path, i, case, "blocks") for i, case in enumerate(cases)]
    assert sum(bool(k.refused) for k in ks) <= len(PARTS) and all("4" == str(k.case[3]) for k in ks if k.refused)
    r, wrong = run_blocks(tmp_path, [k for k in ks if not k.refused])
    assert (r.returncode, r.stderr) == (0, "") and not wrong, (r.stderr[-3000:], wrong)


def test_gaps_are_read_with_the_elements(tmp_path):
    """By whole words, but where the buffer ends before the last gap does."""
    ks = [OfViews(tmp_path, i, (*part, bits), "blocks") for i, (part, bits) in enumerate([(PARTS[-5], 8), (PARTS[-4], 16), (PARTS[-2], 8), (PARTS[-3], 8), (PARTS[-1], 8)])]
    rows = [box["by"] for k in ks for box in k.manifest["boxes"]]
    assert rows == ["words"]*3 + ["gather"]*2, rows


def test_random_cases_in_plain_c(tmp_path):
    print("seed", SEED)
    ks = G.kernels(tmp_path, "blocks", drawn(60, SEED))
    assert len(ks) > 40
    r, wrong = run_blocks(tmp_path, ks)
    assert (r.returncode, r.stderr) == (0, "") and not wrong, (r.stderr[-3000:], wrong)


def test_a_missing_guard_is_seen(tmp_path):
    [k] = G.kernels(tmp_path, "blocks", [G.T(135, 131, 128)])
    text = k.path.read_text()
    assert "if (x < " in text
    k.path.write_text(text.replace("if (x < ", "if (1 || x < "))
    r, _ = run_blocks(tmp_path, [k], SANITIZE + ["-Wno-error"])
    assert r.returncode and "heap-buffer-overflow" in r.stderr


def test_every_case_by_opencl(tmp_path):
    """PoCL 3.1 gives wrong bytes where its compiler keeps a loop (which it unrolls for some processors only) in a branch that some blocks take and others
    do not: it decides a condition after the loop by the first thread for all of them, and threads past the end store garbage.  Not if it does not optimise
    first, which takes several times as long: such kernels only."""
    ks = G.kernels(tmp_path, "opencl", G.CASES)
    branch = [bool(re.search(r"\n( +)if [^\n]*\{\n +for [^\0]*?\n\1\}\n\1else", k.path.read_text())) for k in ks]
    assert 3 < sum(branch) < len(ks)/2
    for some, options in (True, "-cl-opt-disable"), (False, ""):
        part = [k for k, b in zip(ks, branch) if b == some]
        r, wrong = run_opencl(tmp_path, part, POCL_EXTRA_BUILD_FLAGS=options)
        assert r.stdout == "%d jobs\n" % len(part) and not wrong, (r.stdout, wrong)


def test_a_missing_barrier_is_seen(tmp_path):
    [k] = G.kernels(tmp_path, "opencl", [G.T(64, 128, 32)])
    text = k.path.read_text()
    assert "barrier(CLK_LOCAL_MEM_FENCE);" in text
    k.path.write_text(text.replace("barrier(CLK_LOCAL_MEM_FENCE);", ""))
    _, wrong = run_opencl(tmp_path, [k])
    assert wrong


# --- what is refused

def test_what_targets_there_are(tmp_path):
    base = [G.RAVEL, "emit", "--from", "NCHW", "--to", "NHWC", "--dtype", "f32", "-o", str(tmp_path / "o")]
    for more, says in [(["--shape", "1,2,3,4", "--target", "metal"], "the targets are c, cuda, hip, opencl, glsl, blocks, bursts"),
                       (["--shape", "N,2,3,4", "--target", "bursts"], "a machine of bursts takes no extents or strides at run time"),
                       (["--shape", "1,2,3,4", "--target", "bursts", "--to", "NHWC@o(sn,sh,sw,1)"], "a machine of bursts takes no extents or strides at run time"),
                       (["--shape", "1,2,3,4", "--target", "cuda", "--manifest", str(tmp_path / "o")], "the output and the manifest cannot both be"),
                       (["--shape", "1,2,3,4", "--manifest", str(tmp_path / "m")], "--manifest needs --kind relayout")]:
        r = subprocess.run(base + more, capture_output=True, text=True)
        assert r.returncode == 2 and says in r.stderr and not list(tmp_path.iterdir()), r
