"""The machine code of kernels for CUDA, without a GPU: gpu_code.py --build build [--arch sm_90 ...] [--random N] [--only REGEXP] [--seed N]

Cases are those of gpu.py and N random ones: permutations of 2 to 5 dims, some with blocks, of about 16 million elements.  Of the box with the most blocks,
without the code for tiles at an edge: instructions a stored byte, counted in the machine code; the narrowest access to memory; divisions.  Of the kernel: spills, and sectors
of all blocks as a multiple of the fewest, by ravel's count.  A line each, those that miss a bound marked, and a summary; the exit status is 1 if one spills or divides."""

import argparse
import collections
import json
import pathlib
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import gpu

# opcodes of SASS and bits of the width, as in Mesa's NAK, sm70_encode.rs
GLOBAL = {0x981, 0x381, 0x986, 0x386}
WIDTH = [1, 1, 2, 2, 4, 8, 16]
NOP, RECIPROCAL = 0x918, 0x308
SECTORS = 1.25
Code = collections.namedtuple("Code", "row per_byte narrowest sectors spills divisions")


def most_instructions(bits):
    """A byte."""
    return 6 if bits < 8 else 4 if bits == 8 else 2.5


def drawn(n, seed):
    """Random cases as (name, dtype, shape, from, to)."""
    rng = random.Random(seed)
    for i in range(n):
        rank, dims = rng.randint(2, 5), "ABCDE"
        shape = [rng.choice([3, 5, 7, 16, 24, 33, 48, 64, 100, 128, 255, 256]) for _ in range(rank)]
        k = rng.randrange(rank)
        rest = 1 << 24
        for d in range(rank):
            rest //= shape[d] if d != k else 1
        shape[k] = max(rest, 2) + rng.choice([0, 0, 1])
        names = list(dims[:rank])
        order = rng.sample(names, rank)
        if rng.random() < 0.3:
            d, b = rng.choice(names), rng.choice([4, 8, 16, 32])
            order = [x + "//%d" % b if x == d else x for x in order] + ["%s%%%d" % (d, b)]
        of = "(%s)" % ", ".join(names)
        yield "random %d" % i, rng.choice(["u1", "u4", "u8", "f16", "f32", "f32", "f64"]), shape, of + "{%s}" % ", ".join(names), of + "{%s}" % ", ".join(order)


def interior(text, box):
    """The kernel's text without the other boxes, and without what is for tiles at an edge."""
    def condition(m):
        return "if (%d && (" % (int(m[1] or 0) == box["first_block"]) + m[0][4:-3] + ")) {"
    text = re.sub(r"if \(blockIdx\.x (?:>= (\d+) && blockIdx\.x )?< \d+\) \{", condition, text)
    return text.replace("else {", "else if (0) {")


def instructions(cubin):
    """{kernel: pairs of the lower and the upper half of each instruction}"""
    out = {}
    at, = struct.unpack_from("<Q", cubin, 40)
    size, n, names = struct.unpack_from("<HHH", cubin, 58)
    heads = [struct.unpack_from("<IIQQQQ", cubin, at + i*size) for i in range(n)]
    for h in heads:
        name = cubin[heads[names][4] + h[0]:].split(b"\0", 1)[0]
        if name.startswith(b".text."):
            out[name.decode().removeprefix(".text.")] = list(struct.iter_unpack("<QQ", cubin[h[4]:h[4] + h[5]]))
    return out


def compiled(nvcc, path, arch):
    """The cubin, and the kernels whose registers are spilled."""
    out = path.with_suffix(".cubin")
    r = subprocess.run([nvcc, "-cubin", "-arch=" + arch, "-Xptxas", "-v", "-o", out, path], capture_output=True, text=True)
    if r.returncode:
        raise RuntimeError(r.stderr)
    told = re.findall(r"Function properties for (\w+)\n.*, (\d+) bytes spill stores, (\d+) bytes spill loads", r.stderr)
    return out.read_bytes(), {name: stores != "0" or loads != "0" for name, stores, loads in told}


def scan(nvcc, unit, kernels, arch):
    """The Code of each of (file, manifest), kernels of CUDA that the file `unit` includes; their files change."""
    _, spills = compiled(nvcc, unit, arch)
    for path, manifest in kernels:
        path.write_text(interior(path.read_text(), most_blocks(manifest)))
    found = instructions(compiled(nvcc, unit, arch)[0])
    return [code_of(manifest, found[path.stem], spills[path.stem]) for path, manifest in kernels]


def most_blocks(manifest):
    return max(manifest["boxes"], key=lambda b: b["blocks"])


def code_of(manifest, halves, spills):
    box = most_blocks(manifest)
    code = [(low & 0xfff, WIDTH[min(high >> 9 & 7, 6)]) for low, high in halves]
    stored = sum(a["requests"]*32*a["bytes"] for a in box["analysed"][0]["accesses"] if a["memory"] == "dst" and a["is"] == "store")
    e = manifest["estimate"]
    return Code(box["by"], 256*sum(op != NOP for op, _ in code)/stored, min((w for op, w in code if op in GLOBAL), default=0),
                e["sectors"]/e["least_sectors"], spills, sum(op == RECIPROCAL for op, _ in code))


def emitted(build, folder, case, name="k"):
    """The kernel's file, called as the kernel is, and manifest; None if there is no kernel."""
    _, dtype, shape, src, dst = case[:5]
    path = folder / (name + ".cu")
    r = subprocess.run([build / "ravel", "emit", "--from", src, "--to", dst, "--shape", ",".join(map(str, shape)), "--dtype", dtype, "--target", "cuda", "--name", name,
                        "-o", path, "--manifest", path.with_suffix(".json")], capture_output=True, text=True)
    return (path, json.loads(path.with_suffix(".json").read_text())) if r.returncode == 0 else None


def missed(code, bits):
    """The bounds that it misses."""
    out = ["instructions"] if code.per_byte > most_instructions(bits) else []
    out += ["sectors"] if code.sectors > SECTORS else []
    out += ["narrow"] if code.narrowest < 4 else []
    return out + ["spills"]*code.spills + ["divisions"]*(code.divisions > 0)


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--build", type=pathlib.Path, required=True)
    p.add_argument("--arch", nargs="+", default=["sm_80", "sm_90", "sm_100"])
    p.add_argument("--random", type=int, default=0)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--only", default="")
    a = p.parse_args()
    nvcc = shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin")
    if not nvcc:
        sys.exit("nvcc is not installed")
    counts = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        for case in [c for c in [*gpu.cases(), *drawn(a.random, a.seed)] if re.search(a.only, c[0])]:
            for arch in a.arch:
                kernel = emitted(a.build, pathlib.Path(folder), case)
                if not kernel:
                    counts["no kernel"] += 1
                    break
                [code] = scan(nvcc, kernel[0], [kernel], arch)
                misses = missed(code, int(re.search(r"\d+", case[1])[0]))
                counts.update(["kernels", *misses])
                print("%-24s %-4s %-7s %-6s %5.2f instructions a byte, accesses of %2d bytes or more, %.2f x sectors %s" %
                      (case[0], case[1], code.row, arch, code.per_byte, code.narrowest, code.sectors, " ".join(misses).upper()), flush=True)
                if case[0].startswith("random") and misses:
                    print("    %s: %s -> %s" % (",".join(map(str, case[2])), case[3], case[4]))
    print(dict(counts))
    sys.exit(bool(counts["spills"] or counts["divisions"]))


if __name__ == "__main__":
    main()
