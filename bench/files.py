"""Files larger than --mem: ravel convert beside NumPy, which copies tiles from one memmap to another, and beside h5repack; and
ravel convert --verify beside itself without.

The source is in memory, as far as that goes.  Candidates take turns, each in a process of its own, and the least time of each counts.
NumPy is timed twice: as it is, and with the result written to the disk (`flush`), as ravel's is.  A process of each that does nothing
is taken off: to start Python with NumPy takes longer than to start ravel."""

import argparse
import math
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

import numpy as np

BYTES = {"u8": 1, "f16": 2, "f32": 4, "f64": 8}
NUMPY = """
import sys, itertools, numpy as np
src, dst, dtype, flush = sys.argv[1:5]
shape, perm, tile = (tuple(map(int, a.split(","))) for a in sys.argv[5:8])
if not src: sys.exit()
x = np.memmap(src, dtype, "r", shape=shape).transpose(perm)
y = np.memmap(dst, dtype, "w+", shape=x.shape)
for at in itertools.product(*(range(0, n, t) for n, t in zip(x.shape, tile))):
    part = tuple(slice(a, a + t) for a, t in zip(at, tile))
    y[part] = x[part]
if flush == "1": y.flush()
"""


def tile_of(shape, perm, elements):
    """Extents, of the result's dims, of tiles of so many elements that are long along the last dim of both sides."""
    n = [shape[d] for d in perm]
    last = {len(n) - 1, list(perm).index(len(n) - 1)}
    for d in sorted(range(len(n)), key=lambda d: (d in last, d)):
        if d not in last:
            n[d] = max(1, n[d]//max(1, math.ceil(math.prod(n)/elements)))
    while math.prod(n) > elements:
        d = max(last, key=lambda d: n[d])
        n[d] = (n[d] + 1)//2
    return tuple(n)


def drawn(seed, cases, size):
    """Permutations of 2 to 4 dims of `size` bytes, and matrices into tiles and out of them, as reshaped permutations."""
    for k in range(cases):
        draw = random.Random("%d %d" % (seed, k))
        dtype = draw.choice(list(BYTES))
        n = size//BYTES[dtype]
        if k % 3 == 2:
            rows, columns = draw.choice((16, 32, 64)), draw.choice((16, 64, 256))
            m = 2**round(math.log2(n)/2 + draw.uniform(-2, 2))
            shape, perm = (m//rows, rows, n//m//columns, columns), (0, 2, 1, 3)
            if draw.random() < 0.3:
                shape, perm = (m//rows, n//m//columns, rows, columns), (0, 2, 1, 3)
        else:
            rank = draw.choice((2, 3, 4))
            cuts = sorted(draw.uniform(0.1, 0.9) for _ in range(rank - 1))
            shape = [max(3, round(n**(b - a))) for a, b in zip([0] + cuts, cuts)]
            shape = (*shape, max(3, n//math.prod(shape)))
            perm = list(range(rank))
            while perm == sorted(perm):
                draw.shuffle(perm)
        yield dtype, tuple(shape), tuple(perm)


def once(command, result=None):
    """The time of a command.  What others have left to be written is written before: a file system may write it with ours, and may
    let go of the space of a file that is replaced while the next command runs."""
    if result:
        result.unlink(missing_ok=True)
    os.sync()
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def least(commands, rounds, results=()):
    """The least times of commands that take turns; each round begins with another.  results: the files that they make."""
    n = len(commands)
    least_of = [math.inf]*n
    for r in range(rounds):
        for i in [(r + k) % n for k in range(n)]:
            least_of[i] = min(least_of[i], once(commands[i], results[i] if results else None))
    return least_of


def fill(path, size):
    block = np.random.default_rng(1).bytes(1 << 20)
    with open(path, "wb") as f:
        for _ in range(size >> 20):
            f.write(block)


def convert(args, src, dst, dtype, shape, source, result, *more):
    return [args.ravel, "convert", str(src), str(dst), "--from", source, "--to", result, "--dtype", dtype,
            "--shape", ",".join(map(str, shape)), *more]


def memmap(args, folder):
    src, ours, theirs = folder/"x.bin", folder/"y.bin", folder/"z.bin"
    fill(src, args.size)
    names = "ABCDEF"
    idle = min(once([sys.executable, "-c", NUMPY, "", "", "", "", "1", "0", "1"]) for _ in range(3))
    start = min(once([args.ravel, "--version"]) for _ in range(3))
    print("NumPy's time, as it is and with flush, as a multiple of ravel's; --mem %d MB, files of %d MB" %
          (args.mem >> 20, args.size >> 20))
    for dtype, shape, perm in drawn(args.seed, args.cases, args.size):
        dims = names[:len(shape)]
        result = "(%s){%s}" % (",".join(dims), ",".join(dims[p] for p in perm))
        a = convert(args, src, ours, dtype, shape, "(%s){%s}" % (",".join(dims), ",".join(dims)), result, "--mem", str(args.mem))
        b = [sys.executable, "-c", NUMPY, str(src), str(theirs), "u1 f2 f4 f8".split()[list(BYTES).index(dtype)]]
        text = [",".join(map(str, t)) for t in (shape, perm, tile_of(shape, perm, args.mem//2//BYTES[dtype]))]
        os.truncate(src, math.prod(shape)*BYTES[dtype])
        ravel, plain, flushed = least([a, b + ["0"] + text, b + ["1"] + text], args.rounds, [ours, theirs, theirs])
        assert ours.read_bytes() == theirs.read_bytes()
        print("%-4s %-22s -> %-10s tiles %-20s %6.0f ms %5.2f %5.2f" % (
            dtype, text[0], text[1], text[2], 1e3*ravel, (plain - idle)/(ravel - start), (flushed - idle)/(ravel - start)), flush=True)
        os.truncate(src, args.size)


def verify(args, folder):
    src, dst = folder/"x.bin", folder/"y.bin"
    fill(src, args.size)
    print("a conversion with --verify, as a multiple of one without; files of %d MB" % (args.size >> 20))
    for dtype, bits in (("u1", 1), ("i4", 4), ("u8", 8), ("f16", 16), ("f32", 32)):
        rest = (args.size*8//bits).bit_length() - 1
        matrix = (2**(rest//2), 2**(rest - rest//2))
        side = (rest - 6)//2
        image = (2**(rest - 6 - 2*side), 64, 2**side, 2**side)
        for shape, source, result in ((matrix, "(M,K){M, K}", "(M,K){K, M}"), (matrix, "(M,K){M, K}", "(M,K){M//64, K//64, M%64, K%64}"),
                                      (matrix, "(M,K){M, K}", "SW128"), (matrix, "(M,K){M, K}", "MORTON16"),
                                      (matrix, "(M,K){M, K}", "(M,K){M, K, swizzle = xor(3, 4, 3)}"),
                                      (matrix, "(M,K){M, K}", "(M,K){M, K, swizzle = xor(3, 4, 3), unit = 'bytes'}"),
                                      (image, "NCHW", "NHWC"), (image, "NCHW", "NC1HWC0")):
            command = convert(args, src, dst, dtype, shape, source, result)
            plain, verified = least([command, command + ["--verify"]], args.rounds)
            print("%-4s %-50s %6.0f ms %5.2f" % (dtype, result, 1e3*plain, verified/plain), flush=True)


def h5repack(args, folder):
    if not shutil.which("h5repack"):
        print("h5repack is not there: package hdf5-tools")
        return
    src, ours, theirs = folder/"x.bin", folder/"y.bin", folder/"z.h5"
    fill(src, 1 << 28)
    original = folder/"x.h5"
    config = folder/"config"
    config.write_text("PATH x\nINPUT-CLASS FP\nINPUT-SIZE 32\nINPUT-BYTE-ORDER LE\nRANK 2\nDIMENSION-SIZES 8192 8192\n"
                      "OUTPUT-CLASS FP\nOUTPUT-SIZE 32\nOUTPUT-ARCHITECTURE NATIVE\nCHUNKED-DIMENSION-SIZES 64 64\n")
    once(["h5import", str(src), "-c", str(config), "-o", str(original)])
    tiles = "(M,K){M//%d, K//%d, M%%%d, K%%%d}"
    ours_command = convert(args, src, ours, "f32", (8192, 8192), tiles % (64, 64, 64, 64), tiles % (16, 256, 16, 256))
    theirs_command = ["h5repack", "-l", "x:CHUNK=16x256", str(original), str(theirs)]
    a, b = least([ours_command, theirs_command], args.rounds)
    print("8192 x 8192 f32 in tiles of 64 x 64 into tiles of 16 x 256: ravel %.0f ms, h5repack %.0f ms, %.1f" % (1e3*a, 1e3*b, b/a))


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("part", nargs="*", choices=["memmap", "h5repack", "verify"], metavar="PART", default=["memmap", "h5repack", "verify"])
    p.add_argument("--build", default="build")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--cases", type=int, default=12)
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--size", type=lambda s: int(s) << 20, default=256 << 20, help="of a file, in MB")
    p.add_argument("--mem", type=lambda s: int(s) << 20, default=8 << 20, help="in MB")
    args = p.parse_args()
    args.ravel = str(pathlib.Path(args.build)/"ravel")
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR", "/var/tmp")) as folder:
        print("seed %d, %d threads, least of %d" % (args.seed, int(os.environ["OMP_NUM_THREADS"]), args.rounds))
        for part in args.part:
            {"memmap": memmap, "h5repack": h5repack, "verify": verify}[part](args, pathlib.Path(folder))


if __name__ == "__main__":
    main()
