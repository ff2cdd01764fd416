"""What accesses of kernels for grids cost, counted from a recorded run and held against what the manifest says."""

import collections
import itertools
import os
import random
import re
import subprocess

import numpy as np
import pytest

import draw
import grids as G

SEED = int(os.environ.get("RAVEL_SEED", "20240611"))

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


@pytest.mark.parametrize("case", [G.T(132, 256, 8), G.T(33, 65, 32), G.T(1023, 517, 8), ("NCHW", "NHWC", (2, 200, 7, 7), 16)], ids=str)
def test_the_estimate_has_the_sectors_of_all_blocks(tmp_path, case):
    """Nearly: of a recorded run of every block.  A shape of a few tiles is a fifth less: its blocks at the edges touch sectors of their neighbours."""
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
    """Whole sectors, and enough loaded at once: as a copy.  Sectors at the edges of tiles that two blocks touch count twice; those at the ends of runs, which are
    written in parts, are few."""
    ks = G.kernels(tmp_path, "cuda", [G.T(4096, 4096, 32), G.T(4099, 4097, 8)])
    told = [k.manifest["estimate"] for k in ks]
    assert told[0]["of_a_copy"] == 1 and told[0]["sectors"] == told[0]["least_sectors"] and all(e["bytes_in_flight"] > 11 << 10 for e in told)
    assert told[1]["of_a_copy"] == pytest.approx(told[1]["least_sectors"]/told[1]["sectors"], rel=1e-3) and 0.7 < told[1]["of_a_copy"] < 0.9


@pytest.mark.parametrize("case", [c for c in G.CASES if c[0] in ("(R,C){R, C}", "(B,R,C){B, R, C}") or c[0].startswith("(A,B,C,D){A,B")], ids=str)
def test_no_transpose_has_bank_conflicts(tmp_path, case):
    """But slabs, whose lanes meet where a row ends, shifts of 2 bits, whose rows have 8 lanes and begin anywhere, and every second one by rows of an even number of words; and lanes along several loops fused, of both
    phases together."""
    [k] = G.kernels(tmp_path, "blocks", [case])
    for box in k.manifest["boxes"]:
        shared = [a for a in box["analysed"][0]["accesses"] if a["memory"] == "shared"]
        if box["by"] == "fuse":
            assert sum(a["wavefronts"] for a in shared) <= 1.8*sum(a["least_wavefronts"] for a in shared), (case, shared)
            continue
        for a in box["analysed"][0]["accesses"]:
            if a["memory"] == "shared":
                assert a["wavefronts"] <= a["least_wavefronts"]*(2.2 if box["by"] == "slab" else 2 if (box["by"], case[3]) == ("shift", 2) else 1), (case, a)
            elif box["by"] in ("piece", "tile") and all(n*case[3] % 256 == 0 for n in case[2]):      # rows of whole sectors
                assert a["distinct_sectors"] == a["least_distinct_sectors"], (case, a)


def moved(boxes, memory):
    """Sectors for each that the bytes fill, of requests and of a block: those of a box's first block, for all of its blocks."""
    a = [(box["blocks"], a) for box in boxes for a in box["analysed"][0]["accesses"] if a["memory"] == memory]
    return [sum(n*a[what] for n, a in a)/sum(n*a["least_" + what] for n, a in a) for what in ("sectors", "distinct_sectors")]


def test_no_permutation_is_gathered_by_sectors(tmp_path):
    """Random ones, of extents that are tiny, odd and round: a request takes no more than twice its sectors or so, and a block none that it does not use.
    Words at the ends of runs have blocks of their own, whose sectors count with those of the runs."""
    print("seed", SEED)
    rng, rows = random.Random(SEED), collections.Counter()

    def one(_):
        shape = tuple(rng.choice(rng.choice([[2, 3, 4, 5, 6, 7], [9, 13, 17, 33, 49, 65, 99, 127], [16, 32, 64, 128, 256, 1000]])) for _ in range(rng.randrange(2, 6)))
        if 1 << 16 <= np.prod(shape) <= 1 << 24:
            return G.M(shape, rng.sample("ABCDE"[:len(shape)], len(shape)), rng.choice([8, 16, 32]))
        return None

    for k in G.kernels(tmp_path, "cuda", draw.taken(60, one)):
        boxes = k.manifest["boxes"]
        seams = [box for box in boxes if box["of"].startswith("ends of runs")]
        for box in (box for box in boxes if box not in seams):
            rows[box["by"]] += 1
            for memory, of in itertools.product(("src", "dst"), ([box], boxes) if seams else ([box],)):
                requests, block = moved(of, memory)
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


@pytest.mark.parametrize("sides", [("ROW_MAJOR", "MARLIN"), ("MARLIN", "ROW_MAJOR")], ids=str)
def test_packed_weights_are_moved_by_words(tmp_path, sides):
    """A block reads and writes whole sectors, and no access is narrower than a word; adjacent words of rows are one."""
    [k] = G.kernels(tmp_path, "cuda", [(*sides, (1024, 4096), 4)])
    [box] = k.manifest["boxes"]
    told, accesses = k.manifest["estimate"], box["analysed"][0]["accesses"]
    stored = sum(a["requests"]*32*a["bytes"] for a in accesses if a["memory"] == "dst")
    assert box["by"] == "cells" and told["sectors"] == told["least_sectors"] and {a["bytes"] for a in accesses} == {4, 8}, (told, accesses)
    assert sum(a["sectors"] for a in accesses if a["memory"] == "dst") == stored//32 and box["instructions"]*256 < 6*stored


@pytest.mark.parametrize("a, b, bits", [(48, 32, 8), (32, 48, 8), (24, 16, 16)])
def test_a_block_has_whole_periods(tmp_path, a, b, bits):
    """Runs of several boxes share sectors: one block reads and writes all of them."""
    [k] = G.kernels(tmp_path, "cuda", [("{N, C//%d, H, W, C%%%d}" % (a, a), "{N, C//%d, H, W, C%%%d}" % (b, b), (8, 96, 64, 64), bits)])
    told = k.manifest["estimate"]
    assert [box["by"] for box in k.manifest["boxes"]] == ["period"] and told["sectors"] == told["least_sectors"] and told["of_a_copy"] > 0.6, told
    assert all(a["bytes"] == 16 for block in k.manifest["boxes"][0]["analysed"] for a in block["accesses"])


def test_a_bad_swizzle_is_seen(tmp_path):
    """It is right, and slow: only the count of banks sees it."""
    [k] = G.kernels(tmp_path, "blocks", [G.T(1024, 2176, 32)])
    text = k.path.read_text()
    bad = re.sub(r"\(\(t%8\) \^ (\([^()]*\))\)(.*make4)", r"\1\2", text)
    good = counted(tmp_path, k, 0)
    k.path.write_text(bad)
    worse = counted(tmp_path, k, 0)
    assert bad != text and worse["shared", "store", 16][1] > good["shared", "store", 16][1]
