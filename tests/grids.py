"""Kernels for grids of blocks of threads, as the tests make them and hold them against the oracle."""

import json
import subprocess

import numpy as np

import formulas as F
import orders as O
import ravel
import relayouts as R

RAVEL = str(ravel.BUILD / "ravel")


def T(rows, cols, bits):
    return ("(R,C){R, C}", "(R,C){C, R}", (rows, cols), bits)


def P(rows, cols, a, b, bits):
    """A transpose of (a, b) into padded rows and columns."""
    return ("(A,B){A, B}", "(A,B){B, A, pad = {A = %d, B = %d}, fill = 5}" % (rows, cols), (a, b), bits)


def Z(n, rows, cols, bits):
    return ("(B,R,C){B, R, C}", "(B,R,C){B, C, R}", (n, rows, cols), bits)


def M(shape, to, bits, more="", pitch=""):
    """A permutation: `to` is the order of A, B, ... in the destination; more is what that has besides."""
    names = ",".join("ABCDE"[:len(shape)])
    return ("(%s){%s%s}" % (names, names, pitch), "(%s){%s%s}" % (names, ",".join(to), more), shape, bits)


# Every row, width and kind of edge; rows of the issue: copies of runs, blocks, transposes, few channels, padding, anything else.
CASES = [T(64, 128, 32), T(128, 64, 16), T(128, 256, 8), T(256, 512, 4), T(64, 32, 64), T(68, 132, 32), T(136, 72, 16), T(132, 260, 8), T(264, 136, 4),
         T(33, 65, 32), T(65, 129, 16), T(67, 131, 8), T(35, 37, 64), T(16, 300, 32), T(300, 16, 16), T(9, 5, 128), T(1, 1, 8)] + [
    ("NCHW", "NC1HWC0", (2, 20, 5, 7), 16), ("NC1HWC0", "NCHW", (2, 32, 8, 8), 16), ("NCHW", "NHWC", (2, 64, 16, 16), 16), ("NHWC", "NCHW", (4, 3, 32, 32), 8),
    ("NCHW", "NHWC", (4, 3, 16, 16), 8), ("NCHW", "NCHW16", (2, 64, 14, 14), 32), ("NCHW16", "NCHW", (2, 40, 7, 7), 32), ("NCHW", "CHWN", (8, 4, 6, 10), 32),
    ("ROW_MAJOR", "FRACTAL_NZ", (2, 3, 17, 37), 16), ("NCHW8", "{N, C//16, H, W, C%16}", (2, 20, 6, 6), 32),
    ("(N,C){N//6, C, N%6}", "(N,C){C//4, N, C%4, fill = 2}", (37, 29), 64), ("ROW_MAJOR", "SW128", (13, 70), 16), ("SEED83", "MORTON8", (32, 32), 32),
    ("(A,B){A, B}", '(A,B){B//4, A, B%4, fill = "edge"}', (10, 7), 128), ("{N, C//48, H, W, C%48}", "{N, C//32, H, W, C%32}", (2, 100, 3, 5), 8),
    ("ROW_MAJOR", "COL_MAJOR", (), 64), ("SF128x4", "(R,C){R, C, fill = 255}", (200, 10), 8), ("(A,B){A, 7 - B}", "(A,B){B, 63 - A}", (64, 8), 32),
    ("(B,S,H,D){B, S, H, D}", "(B,S,H,D){B, H, S, D}", (2, 16, 4, 64), 16), ("(B,S,H,D){B, S, H, D}", "(B,S,H,D){B, H, D, S}", (2, 64, 3, 32), 16),
    ("NCHW", "NHWC", (2, 3, 40, 30), 8), ("NHWC", "NCHW", (2, 3, 40, 30), 8), ("NHWC", "NCHW", (2, 5, 31, 17), 32), ("NCHW", "NHWC", (2, 6, 32, 24), 16),
    ("ROW_MAJOR", "MARLIN", (17, 65), 4), ("INT4_HIGH", "INT4_LOW", (9, 13), 4), ("(A,B){A, B}", "(A,B){B, A//3, 2 - A%3, fill = 1}", (10, 7), 1),
    ("(A,B){A//7, B//5, A%7, B%5}", '(A,B){A//11, B//8, A%11, B%8, pitch = {[2] = 256}, fill = "none"}', (25, 31), 2), T(33, 65, 4), T(50, 30, 2), T(9, 7, 4), T(7, 31, 1), M((5, 3, 7), "CAB", 2),
    ("(A,B){A, B}", '(A,B){A//4, B//4, A%4, B%4, fill = "edge"}', (9, 10), 4),
    ("(A,B,C){A, B, C, pitch = {B = 80}}", "(A,B,C){C, A, B, pad = {B = 8}, fill = 7}", (3, 13, 18), 32),
    # padding in the tile, along either side or both, and where it is all but one
    ("NCHW", "NC1HWC0", (2, 23, 8, 8), 16), ("NCHW", "NC1HWC0", (2, 37, 8, 8), 8), ("NCHW", "NC1HWC0", (2, 17, 8, 8), 16), ("NC1HWC0", "NCHW", (2, 23, 8, 8), 16),
    P(16, 1, 11, 40, 32), P(16, 16, 11, 40, 16), P(16, 32, 9, 20, 8), P(16, 16, 11, 24, 4), P(4, 8, 3, 34, 64), P(16, 8, 13, 19, 16), P(16, 1, 1, 300, 8),
    ("(A,B){A, B}", "(A,B){A, B, pad = {B = 16}, fill = 7}", (19, 11), 16), ("(A,B){A, B}", "(A,B){A, B, pad = {B = 4}, fill = 7}", (9, 3), 128),
    ("(A,B){A, B}", "(A,B){A, B, pad = {B = 128}, fill = 7}", (600, 121), 8),
    ("(A,B,C){A, B, C}", "(A,B,C){C, A, B, pad = {A = 4, B = 8, C = 8}, fill = 7}", (3, 13, 20), 16),
    # pieces of blocks, of planes in words, halves and bytes, to and from
    ("NCHW", "NCHW8", (2, 20, 6, 6), 32), ("NCHW8", "NCHW", (2, 20, 6, 6), 32), ("NCHW", "{N, C//4, H, W, C%4}", (2, 7, 3, 3), 64), ("NCHW", "NC1HWC0", (2, 33, 7, 7), 16),
    ("NC1HWC0", "NCHW", (2, 33, 7, 7), 16), ("NCHW", "NC1HWC0", (3, 40, 7, 6), 8), ("NC1HWC0", "NCHW", (3, 40, 7, 6), 8), ("NCHW", "NC1HWC0", (1, 40, 9, 7), 8),
    ("NC1HWC0", "NCHW", (1, 40, 9, 7), 8), ("NC1HWC0", "NCHW", (1, 64, 8, 4), 8), ("NCHW", "{N, C//24, H, W, C%24}", (2, 50, 5, 8), 16),
    ("{N, C//48, H, W, C%48}", "NCHW", (2, 50, 5, 8), 8), ("{N, C//4, H, W, C%4}", "NCHW", (2, 7, 3, 3), 64),
    ("(N,C,H,W){N, C, H, W, pitch = {C = 64}}", "(N,C,H,W){N, C//16, H, W, C%16}", (2, 32, 7, 7), 16),
    ("(N,P,C){N, P, C, pitch = {N = 40}}", "(N,P,C){N, C, P}", (2, 2752, 3), 8),
    # a run that begins at no multiple of what its length and its strides are multiples of
    ("(A,B){A, B, pitch = {A = 16}}", '(A,B){B//10, A, B%10, pitch = {A = 16}, fill = "none"}', (6, 14), 8),
    # loops that are called as the kernel's own variables might be
    ("(A,B,C){A, B, C}", "(A,B,C){A//8, C, B, A%8}", (24, 64, 32), 32), ("(H,C,W){H//8, H%8, C, W}", "(H,C,W){W//4, H//8, C, W%4, H%8}", (24, 16, 36), 8),
    # by elements, and by words on the sides that are aligned; tiles as narrow as the box
    T(130, 267, 8), T(268, 131, 8), T(267, 132, 8), T(266, 134, 8), T(134, 268, 8), T(131, 132, 16), T(132, 131, 16), T(9, 1001, 8), T(1001, 10, 8), T(8, 301, 16), T(35, 70, 128), Z(3, 33, 64, 128),
    ("(A,B){A, B, pitch = {A = 384}}", "(A,B){B, A}", (267, 266), 8), ("(A,B){A, B, pitch = {A = 384}}", "(A,B){B, A}", (268, 265), 8), P(268, 3, 265, 270, 8),
    P(272, 4, 271, 263, 8), ("(A,B){A, B}", "(A,B){B, A, pitch = {B = 16}}", (267, 266), 8), ("(A,B){A, B}", "(A,B){B, 130 - A}", (131, 256), 8),
    # by words that begin anywhere: of every width, with and without ends of runs in one word, several planes, a pitch, extents in two loops
    T(301, 133, 4), T(160, 263, 2), T(200, 333, 1), T(256, 513, 1), T(268, 131, 16), Z(2, 261, 133, 8), M((3, 70, 133), "CAB", 4),
    ("(A,B){A, B, pitch = {A = 391}}", "(A,B){B, A}", (267, 266), 8),
    # long enough that tiles store whole sectors, of every width
    *(T(rows, cols, bits) for bits, rows, cols in [(1, 2053, 525), (2, 1033, 559), (4, 525, 325), (8, 331, 133), (16, 261, 259), (32, 133, 143), (16, 262, 136), (8, 324, 130)]),
    M((3, 133, 301), "ACB", 16), M((1300, 3, 70), "CBA", 4),
    # a digit that is xored and has an odd stride of its own
    ("(C,W){W, C}", "(C,W){(C%4) ~ (W%4), W%4, C//4, W//4}", (75, 4), 16), ("(C,W){W//8, (C%32) ~ (W%8), W%8, C//32}", "(C,W){C, W}", (77, 2), 8),
    ("(C,W){C//2, W//32, (W%32) ~ (C%2), C%2}", "(C,W){W, C}", (77, 16), 16),
    # several small planes a block
    Z(37, 16, 16, 32), Z(50, 8, 32, 8), Z(70, 8, 8, 16), Z(9, 16, 8, 4), Z(300, 2, 2, 64), Z(19, 12, 20, 32), ("(B,R,C){B, R, C}", "(B,R,C){C, B, R}", (40, 8, 8), 32),
    ("(B,R,C){B, R, C}", "(B,R,C){B, C, R, pad = {R = 16}, fill = 1}", (37, 11, 16), 32),
    # slabs: planes in one run on both sides, on one, in part; words across the ends of rows
    Z(37, 7, 9, 32), Z(50, 5, 13, 8), Z(23, 49, 6, 16), Z(41, 17, 19, 64), Z(300, 3, 3, 8), Z(100, 3, 5, 16), Z(7, 100, 33, 32), Z(2, 3, 2100, 8),
    ("NCHW", "NHWC", (2, 200, 7, 7), 32), ("NHWC", "NCHW", (2, 200, 7, 7), 16), ("NHWC", "NCHW", (3, 3, 31, 33), 8), ("NCHW", "NHWC", (3, 3, 31, 33), 8),
    ("NHWC", "NCHW", (2, 3, 64, 65), 8), ("NCHW", "NHWC", (2, 3, 90, 62), 8), ("(B,R,C){B, R, C, pitch = {R = 64}}", "(B,R,C){B, C, R}", (60, 10, 7), 32),
    ("(B,R,C){B, R, C}", "(B,R,C){B, C, R, pitch = {C = 64}}", (60, 10, 7), 32), ("(A,B,R,C){A, B, R, C}", "(A,B,R,C){B, A, C, R}", (5, 20, 9, 7), 32),
    # several short loops a side: no neighbours of one another, of both sides, a common run; rows of the source and of the destination in shared memory;
    # by words and not, words across loops, tails on both sides; several planes; gaps, padding along runs and across, backwards
    M((40, 5, 9, 3), "DBCA", 8), M((64, 8, 12, 3), "DBCA", 16), M((40, 5, 9, 3), "DBCA", 32), M((13, 5, 9, 6), "DBCA", 64), M((16, 5, 40, 9), "BDCA", 8),
    M((64, 16, 9), "BAC", 16), M((12, 33, 6), "BAC", 32), M((60, 13, 5, 4), "CADB", 8), M((65, 13, 33, 5), "CBDA", 8), M((6, 5, 40, 6, 7), "AECBD", 8),
    M((5, 6, 40, 16), "DBCA", 8), M((3, 70, 37), "CBA", 32), M((16, 8, 60, 9), "DACB", 16), M((63, 13, 5, 6), "BDCA", 16), M((7, 25, 6, 12), "BDCA", 32),
    M((60, 10, 7), "ACB", 32, ", pitch = {C = 64}"), M((300, 3, 5), "ACB", 64, ", pitch = {C = 64}"), M((33, 4, 7, 12), "BDAC", 8, ", pitch = {A = 24}", ", pitch = {B = 96}"),
    M((20, 5, 9, 3), "DBCA", 8, ", pad = {A = 32}, fill = 7"), M((24, 5, 7, 3), "ACBD", 16, ", pad = {D = 4}, fill = 7"), M((24, 5, 7, 3), "ACBD", 8, ", pad = {D = 4}, fill = 7", ", pitch = {C = 4}"),
    M((9, 5, 30, 6), "DBCA", 32, ", pad = {C = 32, D = 8}, fill = 7"),
    M((37, 6, 11, 5), "CADB", 8, ", pad = {B = 8, A = 40}, fill = 9"), M((16, 4, 9, 6), "DBCA", 8, ", pitch = {C = 64}", ", pitch = {C = 8}"),
    # tiles of loops that the xor of a swizzle moves, on either side or both, with ends and padding
    ("ROW_MAJOR", "(R,C){R, C, pad = {R = 32}, swizzle = xor(3, 4, 3)}", (45, 75), 16), ("COL_MAJOR", "SW128", (72, 130), 16), ("SW64", "COL_MAJOR", (40, 64), 8), ("COL_MAJOR", "SW32", (33, 40), 32), ("SW128", "COL_MAJOR", (64, 256), 16),
    ("(A,B,C){C, B, A}", "(A,B,C){A//8, B//2, A%8, (B%2*4 + C//8%4) ~ (A%8), C%8, C//32}", (40, 6, 64), 16), ("COL_MAJOR", "MORTON8", (64, 64), 16),
    # permutations inside of words: bytes, halves, nibbles and bits; one vector a thread and several words; backwards, with padding, from gaps; short rows
    ("NHWC", "(N,C,H,W){N, H, W, C, pad = {C = 4}, fill = 7}", (2, 3, 31, 36), 8), ("NHWC", "(N,C,H,W){N, H, W, C, pad = {C = 8}, fill = 7}", (2, 3, 31, 36), 16),
    ("NHWC", "(N,C,H,W){N, H, W, 2 - C}", (2, 3, 31, 36), 8), ("NHWC", "(N,C,H,W){N, H, W, 2 - C}", (40, 3, 4, 4), 8),
    ("(A,B){A, B}", "(A,B){A, B//4, 3 - B%4}", (67, 64), 8), ("(A,B){A, B}", "(A,B){A, B//2, 1 - B%2}", (9, 300), 16), ("ROW_MAJOR", "AWQ", (33, 128), 4), ("AWQ", "ROW_MAJOR", (33, 96), 4),
    ("INT4_HIGH", "INT4_LOW", (9, 64), 4), ("(A,B){A, B}", "(A,B){A, B//8, 7 - B%8}", (70, 128), 1), ("(A,B){A, B}", "(A,B){A, B//16, B%4, B//4%4}", (70, 64), 2),
    ("(A,B){A, B}", "(A,B){A, B//8, (B%8) ~ 5}", (33, 128), 8), ("(A,B){A, B//4, B%4, pitch = {[1] = 512}}", "(A,B){A, B//4, 3 - B%4}", (33, 256), 8),
    ("(A,B){A, B, pitch = {A = 5}}", "(A,B){A, 3 - B}", (64, 4), 8),
    # whole words, of any order and with gaps in the source: pixels to fewer channels, elements of every n-th
    ("NHWC", "(N,C,H,W){N, H, W, C, pad = {C = 4}, fill = 7}", (2, 3, 31, 35), 32), ("NHWC", "(N,C,H,W){N, H, W, 2 - C}", (2, 3, 31, 35), 32),
    *(("(N,C,H,W){N, H, W, C, pad = {C = %d}}" % n, "(N,C,H,W){N, H, W, %s}" % c, (2, 3, 31, 36), bits)
      for n, c, bits in [(4, "C", 8), (4, "2 - C", 8), (4, "C", 16), (8, "C", 16), (4, "C", 32), (5, "2 - C", 32)]),
    ("(A,B){A, B, pitch = {A = 24}}", "(A,B){A, 4 - B}", (70, 5), 32), ("(A,B){A, B}", "(A,B){A, 1 - B}", (70, 2), 32),
    # runs that are parts of a period, of several boxes
    *(("{N, C//%d, H, W, C%%%d}" % (a, a), "{N, C//%d, H, W, C%%%d}" % (b, b), (2, 96, 9, 37), bits) for a, b, bits in [(48, 32, 8), (32, 48, 8), (24, 16, 16), (12, 8, 8)]),
    ("(N,C,H,W){N, H, W, (C + 1)%4}", "NHWC", (2, 4, 9, 37), 8), ("{A//3, B, A%3}", "{A//2, B, A%2}", (6, 301), 128),
    # words that are not adjacent: of packed weights, to and from; loops that are cut where a word ends
    ("ROW_MAJOR", "MARLIN", (48, 192), 4), ("MARLIN", "ROW_MAJOR", (32, 128), 4), ("COL_MAJOR", "MARLIN", (80, 64), 4), ("MARLIN", "AWQ", (32, 64), 4),
    ("(A,B){A, B}", "(A,B){A//4, B//8, A%4, B%8}", (36, 96), 1), ("(A,B){A//4, B//4, A%4, B%4}", "(A,B){A, B}", (20, 80), 2), ("(A,B){A, B}", "(A,B){A//2, B//4, A%2, B%4}", (34, 72), 4),
    # copies of runs that begin anywhere: of every width, in one part and in several, with padding at their ends, from a pitch, in one run
    M((3, 5, 601), "BAC", 8), M((3, 7, 301), "BAC", 16), M((3, 5, 301), "BAC", 4), M((3, 4, 2001), "BAC", 1), M((5, 3, 1001), "BAC", 2), M((2, 3, 16001), "BAC", 8),
    M((2, 3, 13001), "BAC", 16), M((9, 4, 517), "BAC", 8), M((2, 2, 100003), "BAC", 1), M((40, 3, 129), "BAC", 4), M((5, 1037), "AB", 8, ", pad = {B = 16}, fill = 7"),
    M((5, 1001), "AB", 4, ", pad = {B = 16}, fill = 7"), M((3, 13003), "AB", 16, ", pad = {B = 8}, fill = 7"), M((7, 1001), "AB", 8), M((7, 1001), "AB", 1),
    M((3, 55003), "AB", 2), M((9, 267), "AB", 8, "", ", pitch = {A = 391}"), M((6, 2, 267), "BAC", 8, ", pad = {C = 8}, fill = 3", ", pitch = {B = 269}"),
    M((12, 20, 3, 17), "CDBA", 8), M((3, 12, 6, 31), "DACB", 8),
    ("(A,B,C,D){A, B, C, D}", "(A,B,C,D){D, B, 8 - C, A}", (40, 5, 9, 3), 8), ("(A,B,C,D){A, B, C, 2 - D}", "(A,B,C,D){D, B, C, 39 - A}", (40, 5, 9, 3), 32),
    # gathers of so many elements that a thread has several
    ("(A,B){A, B}", "(A,B){A//7, A%7, B//5, B%5, fill = 5}", (257, 259), 32), ("(A,B){A, B}", "(A,B){B%5, A//7, A%7, B//5, fill = 5}", (257, 259), 8),
]


class Kernel:
    """A case's kernel for one target: its file, entry and manifest."""
    def __init__(self, folder, number, case, target, *options):
        a, b, shape, bits = case
        self.case, self.entry = case, "kern%d" % number
        self.path = folder / ("%s.%s" % (self.entry, {"blocks": "c", "opencl": "cl", "cuda": "cu", "glsl": "comp"}.get(target, "txt")))
        manifest = folder / (self.entry + ".json")
        r = subprocess.run([RAVEL, "emit", "--from", a, "--to", b, "--shape", ",".join(map(str, shape)), "--dtype", ravel.DTYPE[bits], "--target", target,
                            "--name", self.entry, "-o", self.path, "--manifest", manifest, *map(str, options)], capture_output=True, text=True)
        assert r.returncode in (0, 2), r
        self.refused = r.stderr if r.returncode else ""
        self.manifest = json.loads(manifest.read_text()) if not r.returncode else None

    def data(self):
        """Storage bytes of the source, and of the destination after; the elements are random."""
        a, b, shape, bits = self.case
        axes, (pa, pb) = R.expected({"from": a, "to": b, "shape": list(shape), "bits": bits})
        at = np.asarray(pa.addr).transpose(axes).reshape(-1), np.asarray(pb.addr).reshape(-1)
        el = ravel.numbers(np.random.default_rng(at[0].size).integers(0, 1 << 64, at[0].size, np.uint64), bits)
        return ravel.scatter(el, at[0], pa.size, bits), R.filled(pb, at[1], el, bits)


def kernels(folder, target, cases):
    all_ = [Kernel(folder, i, case, target) for i, case in enumerate(cases)]
    return [k for k in all_ if not k.refused]


# --- what an access costs, by the rules of the hardware's documents; shares nothing with compiler/gpu/bank.c

def sectors(addresses, width):
    touched = {byte//32 for a in addresses for byte in range(a, a + width)}
    return len(touched), -(-len(addresses)*width//32)


def wavefronts(lanes, width):
    """lanes: {lane: address}."""
    per = 32 if width <= 4 else 128//width
    cost = ideal = 0
    for first in range(0, 32, per):
        words = {w for lane, a in lanes.items() if first <= lane < first + per for w in range(a//4, (a + width + 3)//4)}
        if words:
            ideal += 1
            cost += max(np.bincount([w % 32 for w in words]))
    return cost, ideal
