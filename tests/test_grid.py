"""Kernels for grids of blocks of threads, without a GPU: as plain C under AddressSanitizer and UBSan, as OpenCL by PoCL, as CUDA through nvcc to
machine code; what their accesses cost, counted from a recorded run and held against what the manifest says."""

import collections
import json
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import sys

import numpy as np
import pytest

import device_mocks
import draw
import grids as G
from grids import T
import orders as O
import ravel
import relayouts as R

SEED = int(os.environ.get("RAVEL_SEED", "20240611"))
ALIGNED = "-DOFFSET=0"
SANITIZE = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
STRICT = ["-std=c11", "-Wall", "-Wextra", "-Wconversion", "-Wno-sign-conversion", "-Werror"]

# main: kernel number argv[1] of source file argv[2] to destination file argv[3], all of its blocks; the buffers begin OFFSET bytes after a multiple of 16.
MAIN = """
#include <stdio.h>
#include <stdlib.h>
%s
static void (*const kernel[])(void *, const void *) = {%s};
static const long bytes[][2] = {%s};
int main(int argc, char **argv)
{
    for (int i = 1; i + 2 < argc; i += 3) {
        int k = atoi(argv[i]);
        unsigned char *room[] = {malloc((size_t)bytes[k][0] + OFFSET), malloc((size_t)bytes[k][1] + OFFSET)}, *src = room[0] + OFFSET, *dst = room[1] + OFFSET;
        FILE *in = fopen(argv[i + 1], "rb"), *out = fopen(argv[i + 2], "r+b");
        if (fread(src, 1, (size_t)bytes[k][0], in) + fread(dst, 1, (size_t)bytes[k][1], out) != (size_t)(bytes[k][0] + bytes[k][1])) return 1;
        kernel[k](dst, src);
        rewind(out);
        fwrite(dst, 1, (size_t)bytes[k][1], out);
        fclose(in); fclose(out); free(room[0]); free(room[1]);
    }
    return 0;
}
"""


def program(folder, ks, flags):
    """All kernels of ks in one program."""
    main = folder / "main.c"
    data = [k.data() for k in ks]
    main.write_text(MAIN % ("".join("void %s(void *, const void *);\n" % k.entry for k in ks), ", ".join(k.entry for k in ks),
                            ", ".join("{%d, %d}" % (a.size, b.size) for a, b in data)))
    out = folder / "run"
    subprocess.run(["gcc", "-g1", *flags, "-o", out, main, *(k.path for k in ks)], check=True)
    return out, data


def files(folder, ks, data):
    for k, (src, want) in zip(ks, data):
        src.tofile(folder / (k.entry + ".src"))
        np.full(want.size, ravel.POISON, np.uint8).tofile(folder / (k.entry + ".dst"))


def differences(folder, ks, data):
    out = []
    for k, (_, want) in zip(ks, data):
        got = np.fromfile(folder / (k.entry + ".dst"), np.uint8)
        if got.size != want.size or not np.array_equal(got, want):
            out.append((k.case, int(np.flatnonzero(got != want)[0])))
    return out


def run_blocks(folder, ks, flags=SANITIZE, offset=ALIGNED):
    exe, data = program(folder, ks, [*STRICT, *flags, offset])
    files(folder, ks, data)
    args = [x for i, k in enumerate(ks) for x in (i, folder / (k.entry + ".src"), folder / (k.entry + ".dst"))]
    r = subprocess.run(list(map(str, [exe, *args])), capture_output=True, text=True)
    return r, differences(folder, ks, data)


# a digit that is a factor of others: accesses of single bytes, which GLSL has not
FACTOR = ("(P,B){P, B}", "(P,B){(1 - B%2)*(206 + B//2*103 + P) + B%2*(2*P + B//2)}", (103, 4), 8)


def test_every_case_in_plain_c(tmp_path):
    cases = [*G.CASES, FACTOR]
    ks = G.kernels(tmp_path, "blocks", cases)
    assert len(ks) == len(cases), {k.refused for k in map(lambda c: G.Kernel(tmp_path, 0, c, "blocks"), cases)}
    r, wrong = run_blocks(tmp_path, ks)
    assert (r.returncode, r.stderr) == (0, "") and not wrong, (r.stderr[-3000:], wrong)
    rows = collections.Counter(box["by"] for k in ks for box in k.manifest["boxes"])
    assert set(rows) == {"words", "piece", "tile", "shift", "edge", "slab", "fuse", "gather", "inverse"} and min(rows.values()) > 3, rows


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
         (((5, 40, 40), "[:, 1:33, 4:36]"), ((5, 33, 32), "[:, :-1]"), (5, 32, 32)), (((6, 90), "[[5,0,1,2]]"), ((4, 100), "[::-1, 10:]"), (4, 90))]


def test_parts_of_tensors(tmp_path):
    """What a part leaves out stays as it is, bits beside it too."""
    cases = [(*part, bits) for part in PARTS for bits in (4, 8, 32)]
    ks = [OfViews(tmp_path, i, case, "blocks") for i, case in enumerate(cases)]
    assert sum(bool(k.refused) for k in ks) <= len(PARTS) and all("4" == str(k.case[3]) for k in ks if k.refused)
    r, wrong = run_blocks(tmp_path, [k for k in ks if not k.refused])
    assert (r.returncode, r.stderr) == (0, "") and not wrong, (r.stderr[-3000:], wrong)


def drawn(n, seed):
    """Random cases, of any two layouts, that can be converted."""
    rng, out = random.Random(seed), []
    while len(out) < n:
        case = draw.case(rng)
        try:
            R.expected(case)
        except O.Refused:
            continue
        out.append((case["from"], case["to"], tuple(case["shape"]), case["bits"]))
    return out


def test_random_cases_in_plain_c(tmp_path):
    print("seed", SEED)
    ks = G.kernels(tmp_path, "blocks", drawn(60, SEED))
    assert len(ks) > 40
    r, wrong = run_blocks(tmp_path, ks)
    assert (r.returncode, r.stderr) == (0, "") and not wrong, (r.stderr[-3000:], wrong)


def test_a_missing_guard_is_seen(tmp_path):
    [k] = G.kernels(tmp_path, "blocks", [G.T(267, 261, 32)])
    text = k.path.read_text()
    assert "if (x < " in text
    k.path.write_text(text.replace("if (x < ", "if (1 || x < "))
    r, _ = run_blocks(tmp_path, [k], SANITIZE + ["-Wno-error"])
    assert r.returncode and "heap-buffer-overflow" in r.stderr


# --- OpenCL

def run_opencl(folder, ks, **env):
    data = [k.data() for k in ks]
    files(folder, ks, data)
    jobs = "".join("%s %s %d %d %d %s %s\n" % (k.path, k.entry, k.manifest["grid"][0], k.manifest["block"][0], k.manifest["shared_bytes"],
                                               folder / (k.entry + ".src"), folder / (k.entry + ".dst")) for k in ks)
    r = subprocess.run([ravel.BUILD / "tests/grid_run", "1"], input=jobs, capture_output=True, text=True, env={**os.environ, **env})
    if "open: " in r.stdout:
        pytest.skip(r.stdout.strip())
    return r, differences(folder, ks, data)


def test_every_case_by_opencl(tmp_path):
    ks = G.kernels(tmp_path, "opencl", G.CASES)
    r, wrong = run_opencl(tmp_path, ks)
    assert r.stdout == "%d jobs\n" % len(ks) and not wrong, (r.stdout, wrong)


def test_a_missing_barrier_is_seen(tmp_path):
    [k] = G.kernels(tmp_path, "opencl", [G.T(64, 128, 32)])
    text = k.path.read_text()
    assert "barrier(CLK_LOCAL_MEM_FENCE);" in text
    k.path.write_text(text.replace("barrier(CLK_LOCAL_MEM_FENCE);", ""))
    _, wrong = run_opencl(tmp_path, [k])
    assert wrong


# --- what accesses cost

RECORD = """
#include <stdio.h>
#define RAVEL_AT(space, line, thread, byte, width) printf("%s %d %d %lld %d\\n", space, line, (int)(thread), (long long)(byte), (int)(width))
"""


def recorded(folder, k, first, blocks=1):
    """The requests of blocks: (memory, width, line) -> one {lane: byte} for each time that a warp is there."""
    (folder / "record.h").write_text(RECORD)
    (folder / "one.c").write_text('#include "%s"\nint main(void)\n{\n    static unsigned char src[%d], dst[%d];\n    for (int i = 0; i < %d; i++)\n'
                                  '        %s_block(dst, src, %d + i);\n}\n' % (
        k.path.name, k.manifest["arguments"][1]["bytes"], k.manifest["arguments"][0]["bytes"], blocks, k.entry, first))
    subprocess.run(["gcc", "-O0", "-include", "record.h", "-o", "one", "one.c"], cwd=folder, check=True)
    times, requests = collections.Counter(), collections.defaultdict(dict)
    for line in subprocess.check_output(folder / "one", text=True).splitlines():
        space, at, thread, byte, width = line.split()
        thread = int(thread)
        turn = times[at, thread]
        times[at, thread] += 1
        requests[space, int(width), at, thread//32, turn][thread % 32] = int(byte)
    return requests


def counted(folder, k, block):
    """By memory and width: requests, what they cost, and at best."""
    stores = {i + 1: "RAVEL_STORE" in line for i, line in enumerate(k.path.read_text().splitlines())}
    out = collections.defaultdict(lambda: [0, 0, 0])
    seen = collections.defaultdict(set)
    for (space, width, at, _, _), lanes in recorded(folder, k, block).items():
        what = space, "store" if stores[int(at)] else "load", width
        cost, ideal = G.wavefronts(lanes, width) if space == "shared" else G.sectors(lanes.values(), width)
        for i, v in enumerate((1, cost, ideal)):
            out[what][i] += v
        if space != "shared":
            seen[what] |= {b//32 for a in lanes.values() for b in range(a, a + width)}
    return {what: (*v, len(seen[what])) for what, v in out.items()}


def told(block):
    return {(a["memory"], a["is"], a["bytes"]): (a["requests"], a.get("sectors", a.get("wavefronts")), a.get("least_sectors", a.get("least_wavefronts")),
                                                 a.get("distinct_sectors", 0)) for a in block["accesses"]}


ANALYSED = [G.T(64, 128, 32), G.T(68, 132, 32), G.T(128, 64, 16), G.T(132, 260, 8), G.T(264, 136, 4), G.T(64, 32, 64), G.T(33, 65, 32), G.T(67, 131, 8),
            G.T(65, 129, 16), G.T(35, 37, 64), ("NCHW", "NC1HWC0", (2, 20, 5, 7), 16), ("NHWC", "NCHW", (4, 3, 32, 32), 8), ("NCHW", "NHWC", (2, 6, 32, 24), 16),
            ("NCHW", "NC1HWC0", (2, 71, 8, 8), 16), ("NCHW", "NC1HWC0", (2, 37, 8, 8), 8), ("NC1HWC0", "NCHW", (2, 23, 8, 8), 16), G.P(16, 1, 11, 24, 4), G.P(80, 1, 71, 40, 32),
            G.Z(37, 16, 8, 8), G.Z(9, 16, 8, 4), ("NCHW", "NHWC", (2, 64, 7, 7), 32), G.T(130, 267, 8), G.T(268, 131, 8), G.T(266, 134, 8), G.T(132, 131, 16),
            G.Z(50, 5, 13, 8), G.Z(23, 49, 6, 16), ("NHWC", "NCHW", (3, 3, 31, 33), 8), G.T(301, 133, 4), G.T(200, 333, 1),
            ("NHWC", "NCHW", (1, 3, 96, 64), 8), ("NCHW", "NHWC", (2, 200, 7, 7), 16), ("ROW_MAJOR", "SW128", (13, 70), 16), ("ROW_MAJOR", "MARLIN", (17, 65), 4),
            *(c for c in G.CASES if c[0].startswith("(A,B,C,D){A,B,C,D") or c[0].startswith("(A,B,C){A,B,C")),
            ("(A,B){A, B}", '(A,B){A//4, B//8, A%4, B%8, fill = "none"}', (25, 31), 4)]


@pytest.mark.parametrize("case", ANALYSED, ids=str)
def test_costs_are_those_of_a_recorded_run(tmp_path, case):
    [k] = G.kernels(tmp_path, "blocks", [case])
    for box in k.manifest["boxes"]:
        for block in box["analysed"]:
            assert counted(tmp_path, k, block["block"]) == told(block), box["of"]
            assert all(a["distinct_sectors"] >= a["least_distinct_sectors"] for a in block["accesses"] if a["memory"] != "shared"), block


def used_bytes(case, more=0):
    """Of source and destination; more: elements of padding."""
    elements = int(np.prod(case[2]))
    return [-(-n*case[3]//8) for n in (elements, elements + more)]


ESTIMATED = [(G.T(132, 256, 8), 0), (G.T(256, 256, 32), 0), (G.T(301, 133, 4), 0), (G.T(1, 1, 8), 0), (G.T(33, 65, 32), 0), (G.P(16, 16, 11, 24, 4), 512 - 264),
             (("NCHW", "NC1HWC0", (2, 71, 8, 8), 16), 2*9*64), (("ROW_MAJOR(40,90)[:, ::3]", "COL_MAJOR", (40, 30), 32), 0),
             (("{N, C//48, H, W, C%48}", "{N, C//32, H, W, C%32}", (8, 96, 64, 64), 8), 0)]


@pytest.mark.parametrize("case, padding", ESTIMATED, ids=str)
def test_the_estimate_counts_the_tensors_bytes(tmp_path, case, padding):
    """Whatever the first and the last block have."""
    [k] = G.kernels(tmp_path, "cuda", [case])
    told, used = k.manifest["estimate"], used_bytes(case, padding)
    assert told["bytes_of_a_block"]*k.manifest["grid"][0] == pytest.approx(sum(used))
    assert told["least_sectors"] == sum(-(-n//32) for n in used) <= told["sectors"]


@pytest.mark.parametrize("case", [G.T(132, 256, 8), G.T(33, 65, 32), G.T(300, 133, 8), ("NCHW", "NHWC", (2, 200, 7, 7), 16)], ids=str)
def test_the_estimate_has_the_sectors_of_all_blocks(tmp_path, case):
    """Nearly: of a recorded run of every block."""
    [k] = G.kernels(tmp_path, "blocks", [case])
    all_blocks = [counted(tmp_path, k, block) for block in range(k.manifest["grid"][0])]
    sectors = sum(v[3] for block in all_blocks for v in block.values())
    assert k.manifest["estimate"]["sectors"] == pytest.approx(sectors, rel=0.125)


def test_the_estimate_knows_idle_multiprocessors(tmp_path):
    """Planes of one tile each: as many blocks, whose number alone differs; 132 is all of them."""
    ks = G.kernels(tmp_path, "cuda", [G.Z(n, 32, 32, 32) for n in (1, 4, 66, 132)])
    assert [k.manifest["grid"][0] for k in ks] == [1, 4, 66, 132]
    of_copy = [k.manifest["estimate"]["of_a_copy"] for k in ks]
    assert 0 < of_copy[3] <= 1 and of_copy == pytest.approx([of_copy[3]*n/132 for n in (1, 4, 66, 132)])


def test_the_estimate_of_large_kernels(tmp_path):
    """Whole sectors, and enough loaded at once: as a copy.  Sectors at the edges of tiles that two blocks touch count twice."""
    ks = G.kernels(tmp_path, "cuda", [G.T(4096, 4096, 32), G.T(4099, 4097, 8)])
    told = [k.manifest["estimate"] for k in ks]
    assert told[0]["of_a_copy"] == 1 and told[0]["sectors"] == told[0]["least_sectors"] and all(e["bytes_in_flight"] > 11 << 10 for e in told)
    assert told[1]["of_a_copy"] == pytest.approx(told[1]["least_sectors"]/told[1]["sectors"]) and 0.7 < told[1]["of_a_copy"] < 0.9


@pytest.mark.parametrize("case", [c for c in G.CASES if c[0] in ("(R,C){R, C}", "(B,R,C){B, R, C}") or c[0].startswith("(A,B,C,D){A,B")], ids=str)
def test_no_transpose_has_bank_conflicts(tmp_path, case):
    """But slabs, whose lanes meet where a row ends, and every second one by rows of an even number of words; and lanes along several loops fused, of both
    phases together."""
    [k] = G.kernels(tmp_path, "blocks", [case])
    for box in k.manifest["boxes"]:
        shared = [a for a in box["analysed"][0]["accesses"] if a["memory"] == "shared"]
        if box["by"] == "fuse":
            assert sum(a["wavefronts"] for a in shared) <= 1.8*sum(a["least_wavefronts"] for a in shared), (case, shared)
            continue
        for a in box["analysed"][0]["accesses"]:
            if a["memory"] == "shared":
                assert a["wavefronts"] <= a["least_wavefronts"]*(2.2 if box["by"] == "slab" else 1), (case, a)
            elif box["by"] in ("piece", "tile") and all(n*case[3] % 256 == 0 for n in case[2]):      # rows of whole sectors
                assert a["distinct_sectors"] == a["least_distinct_sectors"], (case, a)


def moved(box, memory):
    """Sectors of a box's first block for each that its bytes fill."""
    a = [a for a in box["analysed"][0]["accesses"] if a["memory"] == memory]
    return sum(a["sectors"] for a in a)/sum(a["least_sectors"] for a in a), sum(a["distinct_sectors"] for a in a)/sum(a["least_distinct_sectors"] for a in a)


def test_no_permutation_is_gathered_by_sectors(tmp_path):
    """Random ones, of extents that are tiny, odd and round: a request takes no more than twice its sectors or so, and a block none that it does not use."""
    print("seed", SEED)
    rng, cases, rows = random.Random(SEED), [], collections.Counter()
    while len(cases) < 60:
        shape = tuple(rng.choice(rng.choice([[2, 3, 4, 5, 6, 7], [9, 13, 17, 33, 49, 65, 99, 127], [16, 32, 64, 128, 256, 1000]])) for _ in range(rng.randrange(2, 6)))
        if 1 << 16 <= np.prod(shape) <= 1 << 24:
            cases.append(G.M(shape, rng.sample("ABCDE"[:len(shape)], len(shape)), rng.choice([8, 16, 32])))
    for k in G.kernels(tmp_path, "cuda", cases):
        for box in k.manifest["boxes"]:
            rows[box["by"]] += 1
            for memory in ("src", "dst"):
                requests, block = moved(box, memory)
                assert block < 2.2 and requests < (5 if box["by"] in ("tile", "piece") else 2.6), (k.case, box["by"], memory, requests, block)
    assert rows["fuse"] > 12, rows


OWNED = [("NCHW", "NC1HWC0", (2, 71, 16, 16), 16), ("NCHW", "NC1HWC0", (2, 71, 16, 16), 8), ("NCHW", "(N,C,H,W){N, H, W, C, pad = {C = 80}, fill = 0}", (2, 71, 16, 16), 32),
         ("NCHW", "(N,C,H,W){N, H, W, C, pad = {C = 80}, fill = 0}", (2, 71, 8, 8), 16), G.P(64, 8, 33, 8, 32)]


@pytest.mark.parametrize("case", OWNED, ids=str)
def test_a_sector_with_padding_is_written_once(tmp_path, case):
    """By one block, in one request."""
    [k] = G.kernels(tmp_path, "blocks", [case])
    writes = collections.Counter()
    for (space, width, *_), lanes in recorded(tmp_path, k, 0, k.manifest["grid"][0]).items():
        if space == "dst":
            writes.update({b//32 for a in lanes.values() for b in range(a, a + width)})
    assert set(writes.values()) == {1} and len(writes) == -(-k.manifest["arguments"][0]["bytes"]//32)


@pytest.mark.parametrize("name, bits, back", [("SW128", 16, False), ("SW64", 16, False), ("SW32", 16, True), ("SW128", 8, True)])
def test_pieces_of_a_swizzle_are_whole(tmp_path, name, bits, back):
    """The xor moves pieces of 16 bytes: no access is narrower."""
    sides = (name, "ROW_MAJOR") if back else ("ROW_MAJOR", name)
    k = G.Kernel(tmp_path, 0, (*sides, (256, 512), bits), "cuda")
    accesses = [a for box in k.manifest["boxes"] for block in box["analysed"] for a in block["accesses"]]
    assert accesses and all(a["bytes"] == 16 and a["sectors"] == a["least_sectors"] for a in accesses), accesses


def test_a_bad_swizzle_is_seen(tmp_path):
    """It is right, and slow: only the count of banks sees it."""
    [k] = G.kernels(tmp_path, "blocks", [G.T(1024, 2176, 32)])
    text = k.path.read_text()
    bad = re.sub(r"\(\(t%8\) \^ (\([^()]*\))\)(.*make4)", r"\1\2", text)
    good = counted(tmp_path, k, 0)
    k.path.write_text(bad)
    worse = counted(tmp_path, k, 0)
    assert bad != text and worse["shared", "store", 16][1] > good["shared", "store", 16][1]


# --- CUDA

ARCHS = ["sm_80", "sm_90", "sm_100", "sm_120"]
MEMORY = {0x981: "LDG", 0x381: "LDG", 0x986: "STG", 0x386: "STG", 0x984: "LDS", 0x988: "STS", 0x388: "STS", 0x983: "LDL", 0x987: "STL", 0x387: "STL"}
WIDTH = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 8, 6: 16}


def sections(elf):
    """(name, bytes) of a 64-bit ELF file's sections."""
    at, = struct.unpack_from("<Q", elf, 40)
    size, n, names = struct.unpack_from("<HHH", elf, 58)
    heads = [struct.unpack_from("<IIQQQQ", elf, at + i*size) for i in range(n)]
    strings = heads[names][4]
    for h in heads:
        end = elf.index(b"\0", strings + h[0])
        yield elf[strings + h[0]:end].decode(), elf[h[4]:h[4] + h[5]]


def instructions(cubin):
    """Memory instructions of a kernel by name and width.  Fields: Mesa's NAK, sm70_encode.rs."""
    out = collections.Counter()
    for name, code in sections(cubin):
        if name.startswith(".text."):
            for i in range(0, len(code), 16):
                low, high = struct.unpack_from("<QQ", code, i)
                what = MEMORY.get(low & 0xfff)
                if what:
                    out["%s %d" % (what, WIDTH[high >> 9 & 7])] += 1
    return out


@pytest.fixture(scope="module")
def nvcc():
    path = shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin")
    if not path:
        pytest.skip("nvcc is not installed")
    return path


def cubin(nvcc, k, arch):
    out = k.path.with_suffix("." + arch)
    r = subprocess.run([nvcc, "-cubin", "-arch=" + arch, "-Xptxas", "-v,-warn-spills", "-Werror", "all-warnings", "-o", out, k.path], capture_output=True, text=True)
    assert r.returncode == 0, r.stderr
    assert "0 bytes spill stores, 0 bytes spill loads" in r.stderr, r.stderr
    return out.read_bytes()


WIDE = [(G.T(4096, 4096, 32), {"LDG 16": 4, "STG 16": 4, "LDS 16": 4, "STS 16": 4}), (G.T(4096, 4096, 64), {"LDG 16": 2, "STG 16": 2, "LDS 16": 2, "STS 16": 2}),
        (G.T(4096, 4096, 16), {"LDG 8": 4, "STG 8": 4, "LDS 8": 4, "STS 8": 4}), (G.T(4096, 4096, 8), {"LDG 4": 16, "STG 4": 16, "LDS 4": 16, "STS 4": 16}),
        (G.T(8192, 8192, 4), {"LDG 4": 32, "STG 4": 32, "LDS 4": 32, "STS 4": 32}),
        (("(A,B){A, B}", "(A,B){A, B, pitch = {A = 2048}}", (1024, 1024), 8), {"LDG 16": 4, "STG 16": 4}),
        (("NCHW", "NC1HWC0", (8, 64, 56, 56), 16), {"LDG 4": 8, "STG 16": 2}), (("NC1HWC0", "NCHW", (8, 64, 56, 56), 16), {"LDG 16": 2, "STG 4": 8}),
        (("NCHW", "NC1HWC0", (8, 64, 56, 56), 8), {"LDG 4": 16, "STG 16": 4}), (("NC1HWC0", "NCHW", (8, 64, 56, 56), 8), {"LDG 16": 4, "STG 4": 16}),
        (("NCHW", "NCHW8", (8, 64, 56, 56), 32), {"LDG 4": 4, "STG 16": 1}), (("NCHW", "{N, C//4, H, W, C%4}", (8, 64, 56, 56), 64), {"LDG 8": 2, "STG 16": 1}),
        # twice: for whole tiles and for those at an edge
        (G.T(4096, 4159, 32), {"LDG 4": 32, "STG 4": 32, "LDS 4": 32, "STS 4": 32}),
        (("NHWC", "NCHW", (8, 3, 128, 128), 8), {"LDG 16": 1, "STG 4": 3, "LDS 1": 12, "STS 16": 1}),
        (("NCHW", "NHWC", (8, 512, 7, 7), 32), {"LDG 16": 4, "STG 4": 13, "LDS 4": 13, "STS 16": 4}),
        (("NHWC", "NCHW", (8, 512, 7, 7), 16), {"LDG 4": 13, "STG 16": 4, "LDS 16": 4, "STS 2": 26}),
        (("NCHW", "NC1HWC0", (8, 7, 56, 56), 16), {"LDG 4": 7, "STG 16": 2}), (G.Z(100000, 16, 16, 16), {"LDG 4": 8, "STG 16": 2}),
        (G.M((64, 32, 32, 3), "DBCA", 32), {"LDG 4": 16, "STG 4": 15, "LDS 4": 15, "STS 4": 16})]


@pytest.mark.parametrize("case, want", WIDE, ids=lambda x: str(x) if isinstance(x, tuple) else "")
def test_cuda_is_as_wide_as_planned(nvcc, tmp_path, case, want):
    """No spills, no local memory, and of each access as many as the tile has."""
    [k] = G.kernels(tmp_path, "cuda", [case])
    for arch in ARCHS if case[3] == 32 else ["sm_90"]:
        assert instructions(cubin(nvcc, k, arch)) == want, arch


@pytest.mark.parametrize("bits, most", [(1, 6), (2, 5), (4, 4.5), (8, 4), (16, 3.2), (32, 4)])
def test_whole_tiles_have_no_guards(nvcc, tmp_path, bits, most):
    """Without the code for tiles at an edge and for the ends of runs: so many instructions a byte, and no access to memory below a word."""
    [k] = G.kernels(tmp_path, "cuda", [G.T(4099, 4097, bits)])
    text = k.path.read_text()
    k.path.write_text(text.replace("else {", "else if (0) {").replace("if (blockIdx.x >= ", "if (0 && blockIdx.x >= "))
    code = cubin(nvcc, k, "sm_90")
    [size] = [len(code)//16 for name, code in sections(code) if name.startswith(".text.")]
    stored = sum(a["requests"]*32*a["bytes"] for a in k.manifest["boxes"][0]["analysed"][0]["accesses"] if a["memory"] == "dst")
    assert size <= most*stored/256, (size, stored)
    assert not {"LDG 1", "LDG 2", "STG 1", "STG 2"} & set(instructions(code)), instructions(code)


@pytest.mark.skipif("RAVEL_AGAIN" in os.environ, reason="on the plain build only")
@pytest.mark.parametrize("name", ["2D u8", "NC1HWC0 f16 padded", "random"])
def test_machine_code(nvcc, tmp_path, name):
    """The scan of bench/gpu_code.py: a case of the benchmark is within all bounds; no random one spills or divides."""
    sys.path.insert(0, str(ravel.ROOT / "bench"))
    import gpu
    import gpu_code
    print("seed", SEED)
    [case] = gpu_code.drawn(1, SEED) if name == "random" else [c for c in gpu.cases() if c.name == name]
    code = gpu_code.scan(nvcc, *gpu_code.emitted(ravel.BUILD, tmp_path, case), "sm_90")
    assert code.per_byte > 0.5 and code.narrowest > 0, code
    assert not {"spills", "divisions"} & set(missed := gpu_code.missed(code, int(re.search(r"\d+", case[1])[0]))), code
    assert name == "random" or not missed, code


def test_scan_sees_local_memory(nvcc, tmp_path):
    """An array that is indexed at run time is in local memory, and the scan says so."""
    (tmp_path / "kern.cu").write_text('extern "C" __global__ void k(int *p) { int v[64]; for (int i = 0; i < 64; i++) v[p[i] & 63] = i; p[0] = v[p[65] & 63]; }')
    subprocess.run([nvcc, "-cubin", "-arch=sm_90", "-o", tmp_path / "k.cubin", tmp_path / "kern.cu"], check=True)
    found = instructions((tmp_path / "k.cubin").read_bytes())
    assert any(n.startswith("STL") for n in found) and any(n.startswith("LDL") for n in found), found


def test_every_case_compiles_for_cuda(nvcc, tmp_path):
    for k in G.kernels(tmp_path, "cuda", G.CASES[17:23]):
        cubin(nvcc, k, "sm_90")


# --- the script for a GPU, with stand-ins for driver and compiler: the launches are the plain C kernel's

def gpu_script(env, *args):
    return subprocess.run([sys.executable, ravel.ROOT / "bench/gpu.py", "--build", ravel.BUILD, *args], env={**os.environ, **env}, capture_output=True, text=True)


def stand_ins(folder, case, shape, change=lambda text: text):
    """What makes the script's kernel the plain C one, changed."""
    folder.mkdir(exist_ok=True)
    subprocess.run([G.RAVEL, "emit", "--from", case.src, "--to", case.dst, "--shape", ",".join(map(str, shape)), "--dtype", case.dtype, "--target", "blocks",
                    "--name", "kern", "-o", folder / "k.c"], check=True)
    (folder / "k.c").write_text(change((folder / "k.c").read_text()))
    (folder / "kernels.c").write_text('#define kern all\n#include "k.c"\n#undef kern\n'
                                      'void kern(unsigned char *d, const unsigned char *s, uint32_t b);\n'
                                      'void kern(unsigned char *d, const unsigned char *s, uint32_t b)\n{\n    kern_block(d, s, b);\n}\n')
    out = {"RAVEL_MOCK_KERNELS": device_mocks.compiled(folder, "kernels", folder / "kernels.c")}
    for name, path in (("CUDA", "mock_cuda"), ("NVRTC", "mock_nvrtc")):
        out["RAVEL_%s_LIBRARY" % name] = device_mocks.compiled(folder, path, ravel.ROOT / "tests/mock" / (path + ".c"))
    return out


def spoilt(text):
    return text.replace("RAVEL_STORE(uint32_t, dst, ", "RAVEL_STORE(uint32_t, dst, 0 * ", 1)


def crashing(text):
    return re.sub(r"(kern_block\([^;{]*\)\s*\{)", r"\1 __builtin_trap();", text)


def sanitizer(folder, text):
    """An environment in which compute-sanitizer is a shell script."""
    (folder / "bin").mkdir()
    (folder / "bin/compute-sanitizer").write_text("#!/bin/sh\ncat > /dev/null\necho $2 >> %s/calls\n%s\n" % (folder, text))
    (folder / "bin/compute-sanitizer").chmod(0o755)
    return {"PATH": "%s:%s" % (folder / "bin", os.environ["PATH"])}


class Script:
    """Runs the script with stand-ins for one case, some parts at a time, and has its JSON file's cases."""
    def __init__(self, folder):
        sys.path.insert(0, str(ravel.ROOT / "bench"))
        import gpu
        self.folder, self.case = folder, next(c for c in gpu.cases() if c.name == "2D u8")
        self.shape = gpu.scaled(self.case.shape, 20000)

    def env(self, change=lambda text: text):
        return stand_ins(self.folder / change.__name__.strip("<>"), self.case, self.shape, change)

    def run(self, env, *args, only="^2D u8$"):
        r = gpu_script(env, "--scale", "20000", "--only", only, "--json", self.folder / "gpu.json", *args)
        self.cases = json.loads((self.folder / "gpu.json").read_text())["cases"]
        return r


CHECK, TIME, TOOLS = ("--part", "check"), ("--part", "time"), ("--part", "tools")


def test_gpu_script_by_stand_ins(tmp_path):
    s = Script(tmp_path)
    r = s.run(s.env(), *CHECK, *TIME)
    case = s.cases["2D u8"]
    assert (r.returncode, case["right"], case["parts"], case["errors"], case["rows"]) == (0, True, ["check", "time"], {}, ["tile"]), r
    assert re.search(r"^2D u8 +right; [0-9.]+ of a copy, asked 0.90$", r.stdout, re.M), r.stdout
    assert re.search(r"^\| 2D u8 \| tile \| [0-9.]+ \| 0.90 \| [0-9]+ \|  \|$", gpu_script({}, "--table", tmp_path / "gpu.json").stdout, re.M)


def test_gpu_script_sees_wrong_bytes(tmp_path):
    """The stand-in's kernel is that of u8, and spoilt: each case fails alone."""
    s = Script(tmp_path)
    r = s.run(s.env(spoilt), *CHECK, *TIME, only="^2D u(8|16)$")
    assert list(s.cases) == ["2D u16", "2D u8"] and r.returncode == 1 and not s.cases["2D u8"]["right"], r
    assert "| 2D u8 | tile | WRONG | 0.90 |  |  |" in r.stdout, r.stdout


def test_gpu_script_goes_on_after_a_crash(tmp_path):
    """A part that fails is not done and loses nothing; --more does only what is not done."""
    s, tools = Script(tmp_path), sanitizer(tmp_path, "exit 0")
    r = s.run({**s.env(crashing), **tools}, *CHECK, *TIME, *TOOLS)
    case = s.cases["2D u8"]
    assert (r.returncode, case["parts"], list(case["errors"])) == (1, ["tools"], ["check", "time"]), r
    assert case["errors"]["check"].startswith("ended with -") and "check: ended with" in r.stdout.split("| case")[0]
    r = s.run({**s.env(), **tools}, *CHECK, *TOOLS, "--more")
    case = s.cases["2D u8"]
    assert (r.returncode, case["right"], case["parts"], list(case["errors"])) == (1, True, ["check", "tools"], ["time"]), r
    assert case["tools"]["compute_sanitizer"] == "nothing found" and len((tmp_path / "calls").read_text().splitlines()) == 2
    r = s.run(s.env(crashing), *CHECK, *TIME, "--more")
    case = s.cases["2D u8"]
    assert (r.returncode, case["right"], case["parts"], list(case["errors"])) == (1, True, ["check", "tools"], ["time"]), r
    r = s.run(s.env(), *CHECK, *TIME, "--more")
    case = s.cases["2D u8"]
    assert (r.returncode, case["parts"], case["errors"]) == (0, ["check", "time", "tools"], {}), r


def is_running(pid):
    try:
        with open("/proc/%d/stat" % pid) as f:
            return f.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_gpu_script_ends_a_case_with_its_tools(tmp_path):
    """What the case has found until then stays."""
    s, tools = Script(tmp_path), sanitizer(tmp_path, "sleep 300 & echo $! > $0.pid; wait")
    r = s.run({**s.env(), **tools}, *CHECK, *TOOLS, "--case-seconds", "12")
    case = s.cases["2D u8"]
    assert (r.returncode, case["right"], case["parts"]) == (1, True, ["check"]), r
    assert case["errors"] == {"tools": "not done when the case had taken 12 s"}
    assert not is_running(int((tmp_path / "bin/compute-sanitizer.pid").read_text()))


def test_gpu_script_says_what_a_tool_finds(tmp_path):
    s, says = Script(tmp_path), "========= RACECHECK SUMMARY: 2 hazards displayed"
    r = s.run({**s.env(), **sanitizer(tmp_path, '[ $2 != racecheck ] || { echo "%s"; exit 9; }' % says)}, *CHECK, *TOOLS)
    assert r.returncode == 1 and s.cases["2D u8"]["parts"] == ["check", "tools"], r
    assert [line.count("racecheck: RACECHECK SUMMARY: 2 hazards displayed") for line in r.stdout.splitlines() if "2D u8" in line] == [1, 1], r.stdout


def test_gpu_script_in_steps(tmp_path):
    s = Script(tmp_path)
    env = {**s.env(), **sanitizer(tmp_path, "sleep 0.6")}
    step = (*TOOLS, "--seconds", "1", "--more")
    r = s.run(env, *step, only="^2D u(8|16)$")
    assert r.returncode == 0 and list(s.cases) == ["2D u16"] and "not begun after 1 s: 2D u8 and what follows" in r.stdout, r
    r = s.run(env, *step, only="^2D u(8|16)$")
    assert r.returncode == 0 and list(s.cases) == ["2D u16", "2D u8"] and "not begun" not in r.stdout, r
    assert len((tmp_path / "calls").read_text().splitlines()) == 4


def test_gpu_script_says_that_there_is_none():
    r = gpu_script({"RAVEL_CUDA_LIBRARY": "/nowhere/libcuda.so"})
    assert r.returncode == 77 and r.stdout.startswith("no GPU: "), r


# --- a target of somebody else's

def conform(*args):
    return subprocess.run([sys.executable, ravel.ROOT / "tests/conform.py", *args], capture_output=True, text=True)


def own_table(folder, *changes):
    """The target blocks, as a user's table."""
    text = (ravel.ROOT / "templates/blocks.lua").read_text()
    prologue = (ravel.ROOT / "templates/blocks/blocks.h").read_text()
    for old, new in [('  prologue = "blocks/blocks.h",\n', "  prologue_text = [==[%s]==],\n" % prologue), *changes]:
        assert old in text
        text = text.replace(old, new)
    (folder / "mine.lua").write_text(text)
    return folder / "mine.lua"


def test_conformance_of_a_table(tmp_path):
    check = "gcc -std=c11 -Wall -Wextra -Werror -x c -fsyntax-only {}"
    r = conform(own_table(tmp_path), "--check", check)
    assert r.returncode == 0 and "0 failed; rows: edge, fuse, gather, inverse, piece, shift, slab, tile" in r.stdout, r
    r = conform(own_table(tmp_path, ('vector2 = "ravel_make2(${x}, ${y})"', 'vector2 = "make(${x}, ${y})"')), "--check", check)
    assert r.returncode == 1 and "make" in r.stdout, r


@pytest.mark.parametrize("text, says", [
    ("return {}", "bad.lua: the table lacks 'name', 'model'"), ("return 1", "bad.lua: no table"), ("x = ", "bad.lua"), ("while true do end", "the table runs for more than 5 million instructions"), ("local s = 'x' while true do s = s .. s end", "the table needs more than 16 MB"), ("return io", "no table"),
    ('return { model = "blocks", name = true }', "field 'name' is a boolean: a string"), ('local t = {} for i = 1, 200 do t["f" .. i] = "" end return t', "more than 128 fields"),
    ("return { helpers = { 'abcdef' } }", "field 'helpers': each is a list of a symbol"), ("return { helpers = { {} } }", "field 'helpers': each is a list of a symbol"),
    ("return { helpers = { { 'f', 'x' } , { 'g', {} } } }", "each is a list of strings, and one has a table"), ("return { entry = '\\255' }", "field 'entry' is no text in UTF-8"),
    ("return { entry = 'a\\0' }", "field 'entry' is no text in UTF-8"),
    ("local s = ('x'):rep(60000) return { like = 'cuda', constant = s .. s }", "a line becomes longer than 65536 bytes"),
    ("return { like = 'cuda', load = ('${index}'):rep(2000), constant = ('${value}'):rep(2000) }", "a line becomes longer than 65536 bytes"),
    ("return { more = {} }", "bad.lua: no field 'more'"),
    ("local h = {} for i = 1, 80 do h[i] = { 'f', 'blocks/permute.glsl' } end return { like = 'glsl', helpers = h }", "bad.lua: field 'helpers': more than 80"),
    ("\27Lua", "bad.lua"), ("return " + "{"*300 + "}"*300, "bad.lua")])
def test_wrong_tables(tmp_path, text, says):
    (tmp_path / "bad.lua").write_text(text)
    r = subprocess.run([G.RAVEL, "emit", "--from", "NCHW", "--to", "NHWC", "--shape", "1,2,3,4", "--dtype", "f32", "--target", "bad.lua", "-o", tmp_path / "o"],
                       capture_output=True, text=True, cwd=tmp_path)
    assert r.returncode == 2 and says in r.stderr and not (tmp_path / "o").exists(), r


def test_a_path_that_json_cannot_tell(tmp_path):
    path = os.fsencode(tmp_path) + b"/\xff.lua"
    with open(path, "w") as f:
        f.write('return { like = "cuda" }')
    r = subprocess.run([G.RAVEL, "emit", "--from", "NCHW", "--to", "NHWC", "--shape", "1,2,3,4", "--dtype", "f32", "--target", path, "-o", tmp_path / "o",
                        "--manifest", tmp_path / "m"], capture_output=True)
    assert r.returncode == 2 and b"cannot be written as JSON" in r.stderr and not (tmp_path / "o").exists(), r


# --- what is refused

def test_what_targets_there_are(tmp_path):
    base = [G.RAVEL, "emit", "--from", "NCHW", "--to", "NHWC", "--dtype", "f32", "-o", str(tmp_path / "o")]
    for more, says in [(["--shape", "1,2,3,4", "--target", "metal"], "the targets are c, cuda, hip, opencl, glsl, blocks, bursts"),
                       (["--shape", "N,2,3,4", "--target", "bursts"], "a machine of bursts takes no extents at run time"),
                       (["--shape", "1,2,3,4", "--target", "cuda", "--manifest", str(tmp_path / "o")], "the output and the manifest cannot both be"),
                       (["--shape", "1,2,3,4", "--manifest", str(tmp_path / "m")], "--manifest needs --kind relayout")]:
        r = subprocess.run(base + more, capture_output=True, text=True)
        assert r.returncode == 2 and says in r.stderr and not list(tmp_path.iterdir()), r
