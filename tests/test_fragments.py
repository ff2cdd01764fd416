"""Tile loads and stores: each lane's registers, of the plain C function under AddressSanitizer, held against the published formulas of fragment and tile;
what its accesses cost, counted from a recorded run; widths in machine code."""

import re
import shutil
import subprocess

import numpy as np
import pytest

import formulas as F
import grid_runs
import grids as G
import machine_code
import once
import orders as O
import ravel
from sanitize import SANITIZE

STRICT = ["-std=c11", "-Wall", "-Wextra", "-Wconversion", "-Wno-unused-function", "-Werror"]
FRAGMENTS = [name for name in F.LAYOUTS if name.startswith(("MMA_", "MMA8", "WGMMA", "SM70", "MFMA", "WMMA"))]
PITCH = '(R,C){R, C, pitch = {R = 16}}'
INSTEAD = {"MFMA32_A": (64, 32)}

# Tiles that take a lane's pairs of MMA_A apart, or put what is far apart side by side, in an order of its own.
WOVEN = "(M,K){M, K//16, K//2%4, K//8%2, K%2}"
BACK = "(M,K){M, K//16, K//2%4, 1 - K//8%2, K%2}"


def cases():
    """(fragment, tile, shape, bits)"""
    out = []
    for name in FRAGMENTS:
        bits_of = F.LAYOUTS[name].bits
        for bits in bits_of if isinstance(bits_of, tuple) else (bits_of,):
            few = name.startswith(("MMA8", "WGMMA", "SM70"))
            for tile in ["ROW_MAJOR"] if few else ["ROW_MAJOR", "COL_MAJOR", "SW128"]:
                out.append((name, tile, (64, 128), bits))
            out.append((name, "ROW_MAJOR", (13, 70), bits))
            out.append((name, PITCH, (40, 23), bits))
    for tile in (WOVEN, BACK, "MMA_A"):
        out.append(("MMA_A", tile, (32, 64), 16))
    # two registers that are no word of the fragment's are one of the tile's
    out += [("(A){A, lanes = 4, registers = 8}", "(A){A//8, A[2], A[0] ~ A[1], A[1]}", (64,), bits) for bits in (8, 16)]
    return out + [("MMA_A", '(M,K){M, K, fill = 0}', (3, 5), 8), ("(M,K){M//16, K//16, M%8, K//2%4, K//8%2, M//8%2, K%2, fill = 7, lanes = 32, registers = 8}",
                  "ROW_MAJOR", (17, 19), 16),
                  ("(M,K){M//16, K//16, M%8, K//2%4, K//8%2, M//8%2, K%2, fill = \"none\", lanes = 32, registers = 8}", "ROW_MAJOR", (17, 19), 16)]


CASES = cases()


def settings(name, bits):
    """(lanes, registers)"""
    if name[0] in "({":
        return tuple(int(re.search(word + r" = (\d+)", name)[1]) for word in ("lanes", "registers"))
    storage = F.evaluate(name, (1, 1), bits).storage
    return storage[-2:]


def copies(shape, bits):
    """(D,I,K){I, K, view = true}"""
    p = O.place("(I,K){I, K}", shape[1:], bits)
    p.addr = np.broadcast_to(p.addr, shape)
    return p


class Function:
    def __init__(self, number, case, kind, target="blocks", folder=None):
        frag, tile, shape, bits = self.case = case
        self.kind, self.name = kind, "%s%d" % (kind, number)
        ends = (tile, frag) if kind == "load" else (frag, tile)
        r = subprocess.run([G.RAVEL, "emit", "--kind", kind, "--from", ends[0], "--to", ends[1], "--shape", ",".join(map(str, shape)), "--dtype",
                            ravel.DTYPE[bits], "--target", target, "--name", self.name, "-o", "-"], capture_output=True, text=True)
        self.refused = r.stderr if r.returncode else ""
        assert r.returncode in (0, 2), r
        if self.refused:
            return
        at = r.stdout.index("\n/* %ss the " % kind) + 1
        self.prologue, self.text = r.stdout[:at], r.stdout[at:]
        self.widths = {int(b): int(n) for n, b in re.findall(r" (\d+) x (\d+) bytes", self.text)}
        self.costs = tuple(map(int, re.search(r"(\d+) wavefronts in shared memory, (\d+) at best, or (\d+) sectors in global, (\d+) at best", self.text).groups()))
        self.align = int(re.search(r"the tile aligned to (\d+)", self.text)[1])
        self.lanes, self.registers = settings(frag, bits)
        self.frag, self.tile = O.place(frag, shape, bits), O.place(tile, shape, bits) if "view" not in tile else copies(shape, bits)
        self.fragments = self.frag.size//self.lanes//self.registers
        self.bytes = {"tile": -(-self.tile.size*bits//8), "regs": self.frag.size*bits//8}

    def data(self, rng):
        """(what goes in, what must come out), bytes; a tile that is stored to is poisoned before."""
        bits = self.case[3]
        if self.kind == "load":
            raw = rng.integers(0, 256, self.bytes["tile"], np.uint8)
            el = ravel.unpack(raw, bits)
            want = np.zeros(self.frag.size, el.dtype)
            if self.frag.pad.size and self.frag.fill == "none":
                want = ravel.unpack(np.full(self.bytes["regs"], 0xa5, np.uint8), bits)
            elif self.frag.pad.size:
                want[self.frag.pad] = ravel.numbers(np.uint64(O.encode(self.frag.fill, bits)), bits)
            want[self.frag.addr] = el[self.tile.addr]
        else:
            raw = rng.integers(0, 256, self.bytes["regs"], np.uint8)
            el = ravel.unpack(raw, bits)
            want = ravel.poisoned(self.tile.size, bits)
            want[self.tile.addr] = el[self.frag.addr]
        return raw, ravel.pack(want, bits)


MAIN = """
#include <stdio.h>
#include <stdlib.h>
static int current;
static void at(const char *space, int line, unsigned t, long long byte, int width)
{
    (void)space;
    if (byte %% width) abort();
    if (current >= 0) printf("%%d %%d %%u %%lld %%d\\n", current, line, t, byte, width);
}
#define RAVEL_AT(space, line, thread, byte, width) at(space, line, thread, byte, (int)(width))
%s
typedef void Load(uint32_t *, const unsigned char *, uint32_t, uint32_t);
typedef void Store(unsigned char *, const uint32_t *, uint32_t, uint32_t);
static const struct { Load *load; Store *store; long in, out; unsigned lanes, words, fragments; } all[] = {
%s};
int main(int argc, char **argv)
{
    FILE *in = fopen(argv[1], "rb"), *out = fopen(argv[2], "wb");
    (void)argc;
    for (int k = 0; k < (int)(sizeof all / sizeof *all); k++) {
        unsigned char *a = malloc((size_t)all[k].in), *b = malloc((size_t)all[k].out);
        if (fread(a, 1, (size_t)all[k].in, in) != (size_t)all[k].in) return 1;
        memset(b, 0xa5, (size_t)all[k].out);
        for (unsigned f = 0; f < all[k].fragments; f++)
            for (unsigned t = 0; t < all[k].lanes; t++) {
                size_t reg = (f*all[k].lanes + t)*all[k].words;
                current = f ? -1 : k;
                if (all[k].load) all[k].load((uint32_t *)b + reg, a, f, t);
                else all[k].store(b, (uint32_t *)a + reg, f, t);
            }
        fwrite(b, 1, (size_t)all[k].out, out);
        free(a); free(b);
    }
    return 0;
}
"""


def run(folder, fs, seed=20240611):
    """(the functions whose result is wrong, {number: [(line, lane, byte, width)]} of fragment 0)"""
    print("seed", seed)
    rng = np.random.default_rng(seed)
    data = [f.data(rng) for f in fs]
    rows = "".join("    {%s, %d, %d, %d, %d, %d},\n" % ("%s, 0" % f.name if f.kind == "load" else "0, %s" % f.name, a.size, b.size, f.lanes,
                                                       f.registers*f.case[3]//32, f.fragments) for f, (a, b) in zip(fs, data))
    (folder / "main.c").write_text(MAIN % (fs[0].prologue + "\n".join(f.text for f in fs), rows))
    np.concatenate([a for a, _ in data]).tofile(folder / "in")
    subprocess.run(["gcc", *STRICT, *SANITIZE, "-o", folder / "run", folder / "main.c"], check=True)
    r = subprocess.run([folder / "run", folder / "in", folder / "out"], capture_output=True, text=True)
    assert (r.returncode, r.stderr) == (0, ""), r.stderr[-3000:]
    got, at, wrong = np.fromfile(folder / "out", np.uint8), 0, []
    for f, (_, want) in zip(fs, data):
        part = got[at:at + want.size]
        at += want.size
        if not np.array_equal(part, want):
            wrong.append((f.case, f.kind, int(np.flatnonzero(part != want)[0])))
    record = {}
    for line in r.stdout.splitlines():
        k, *rest = map(int, line.split())
        record.setdefault(k, []).append(tuple(rest))
    return wrong, record


def made(folder):
    """The functions that are made and those that are refused, and what became of the former."""
    all_ = [Function(i, case, kind) for i, (case, kind) in enumerate((c, k) for c in CASES for k in ("load", "store"))]
    functions = [f for f in all_ if not f.refused], [f for f in all_ if f.refused]
    return functions, run(folder, functions[0])


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    return once.value(tmp_path_factory, "fragments", lambda: made(tmp_path_factory.mktemp("frag")))


@pytest.fixture
def functions(shared):
    return shared[0]


@pytest.fixture
def outcome(shared):
    return shared[1]


def test_every_lane(functions, outcome):
    fs, refused = functions
    assert not outcome[0], outcome[0][:5]
    assert {f.case[0] for f in fs if f.kind == "load"} >= set(FRAGMENTS) and len(fs) > 200
    assert all(f.kind == "store" and f.case[3] < 8 and "parts of one byte" in f.refused for f in refused), [f.refused for f in refused]


def test_costs_are_those_of_a_recorded_run(functions, outcome):
    for k, f in enumerate(functions[0]):
        requests = {}
        for line, lane, byte, width in outcome[1].get(k, []):
            requests.setdefault((line, width), {})[lane] = byte
        total = [0, 0, 0, 0]
        for (_, width), lanes in requests.items():
            for half in range(0, 128, 32):
                for i, v in enumerate(G.wavefronts({t - half: a for t, a in lanes.items() if half <= t < half + 32}, width)):
                    total[i] += v
            wave = 32 if f.lanes == 128 else 64         # a group of warps is four of them
            for first in range(0, 128, wave):
                for i, v in enumerate(G.sectors([a for t, a in lanes.items() if first <= t < first + wave], width)):
                    total[2 + i] += v
        assert tuple(total) == f.costs, (f.case, f.kind)
        assert f.align == max(w for _, w in requests), f.case


@pytest.mark.parametrize("case, widths", [
    (("MMA_A", "ROW_MAJOR", (64, 128), 16), {4: 4}), (("MMA_A", "ROW_MAJOR", (64, 128), 8), {4: 4}), (("MMA_A", "ROW_MAJOR", (64, 128), 4), {4: 4}),
    (("MMA_A", "ROW_MAJOR", (64, 128), 32), {4: 4}), (("MMA_A", "SW128", (64, 128), 16), {4: 4}), (("MMA_A", "COL_MAJOR", (64, 128), 16), {2: 8}),
    (("MMA_B", "ROW_MAJOR", (64, 128), 16), {4: 2}), (("MMA_B", "COL_MAJOR", (64, 128), 16), {2: 4}), (("MMA_B", "SW128", (64, 128), 8), {4: 2}), (("MMA_C", "ROW_MAJOR", (64, 128), 32), {8: 2}), (("MFMA16_A", "ROW_MAJOR", (64, 128), 16), {8: 1}),
    (("MFMA16_A", "ROW_MAJOR", (64, 128), 8), {8: 1}), (("MFMA32_D", "COL_MAJOR", (64, 128), 32), {16: 4}), (("WMMA_RDNA4_A", "ROW_MAJOR", (64, 128), 16), {8: 2}),
    (("MMA_A", "MMA_A", (32, 64), 16), {16: 1}), (("MMA_A", WOVEN, (32, 64), 16), {8: 2}), (("MMA_A", BACK, (32, 64), 16), {8: 2}),
    (("MMA_A", "ROW_MAJOR", (64, 127), 16), {2: 8}), (("MMA_A", "ROW_MAJOR", (64, 126), 16), {4: 4})])
@pytest.mark.parametrize("kind", ["load", "store"])
def test_widths(case, kind, widths):
    assert Function(0, case, kind).widths == widths


def test_a_swizzled_tile_has_no_conflicts():
    f = Function(0, ("MMA_A", "SW128", (64, 128), 16), "load")
    assert f.costs[:2] == (4, 4) and Function(0, ("MMA_A", "ROW_MAJOR", (64, 128), 16), "load").costs[:2] == (32, 4)


def test_lanes_that_hold_the_same(tmp_path):
    """RDNA 3: lanes 16 to 31 hold copies, which is a dim that the tile does not look at."""
    frag, tile = "(D,I,K){D, I//16, K//16, I%16, K%16, lanes = 16, registers = 16}", "(D,I,K){I, K, view = true}"
    f = Function(0, (frag, tile, (2, 16, 16), 16), "load")
    assert f.widths == {16: 2} and run(tmp_path, [f])[0] == []


# --- the statements, executed by an interpreter of the text that docs/ir/gridstmt.md describes

STATEMENT = re.compile(r"""(?P<open>load|word)\.(?P<width>\d+)\ (?P<name>v\d+)\ =\ tile\[(?P<at>.*)\](?:\ bit\ (?P<bit>.*)\ mask\ (?P<mask>0x[0-9a-f]+))?
    | store\.(?P<swidth>\d+)\ tile\[(?P<sat>.*)\]\ =\ (?P<words>.*) | set\ (?P<reg>r\[\d+\])\ :=\ (?P<value>.*) | when\ (?P<when>.*)\ \{ | (?P<close>\})""", re.X)


def program(text):
    """A function of the statements: (tile, r, f, t) -> None, over bytes and words."""
    out, depth = ["def lane(tile, r, f, t):"], 1
    word = lambda s: re.sub(r"(v\d+)\.([xyzw])", lambda m: "%s[%d]" % (m[1], "xyzw".index(m[2])), re.sub(r"(0x[0-9a-f]+)u", r"\1", s))
    for line in text:
        m = STATEMENT.fullmatch(line.strip())
        assert m, line
        m = {k: v.replace("~", "^") if v else v for k, v in m.groupdict().items()}
        if m["close"]:
            depth -= 1
            continue
        if m["when"]:
            put = "if %s:" % m["when"].replace(", ", " and ")
        elif m["name"] and int(m["width"]) > 4:
            put = "%s = tile[%s*(%s):][:%s].view('<u4').tolist()" % (m["name"], m["width"], m["at"], m["width"])
        elif m["name"]:
            put = "%s = int.from_bytes(tile[%s*(%s):][:%s].tobytes(), 'little')" % (m["name"], m["width"], m["at"], m["width"])
            put += " >> (%s) & %s" % (m["bit"], m["mask"]) if m["bit"] else ""
        elif m["reg"]:
            put = "%s = %s" % (m["reg"], word(m["value"]))
        else:
            n = int(m["swidth"])
            put = "tile[%d*(%s):][:%d] = np.array([%s], '<u4').view('u1')[:%d]" % (n, m["sat"], n, ", ".join("(%s) & 0xffffffff" % w for w in word(m["words"]).split(", ")), n)
        out.append("    "*depth + put)
        depth += put.endswith(":")
    scope = {"np": np}
    exec("\n".join(out), scope)
    return scope["lane"]


def interpreted(f, raw, want):
    """What the statements make of the data, as bytes."""
    frag, tile, shape, bits = f.case
    ends = (tile, frag) if f.kind == "load" else (frag, tile)
    r = subprocess.run([G.RAVEL, "explain", "--kind", f.kind, "--from", ends[0], "--to", ends[1], "--shape", ",".join(map(str, shape)), "--dtype",
                        ravel.DTYPE[bits], "--target", "cuda", "--statements"], capture_output=True, text=True, check=True).stdout.splitlines()
    words = f.registers*bits//32
    assert r[:4] == ["fragment " + f.kind, "lanes %d of %d" % (f.lanes, f.fragments), "words %d" % words, "align %d" % f.align]
    lane, load = program(r[4:]), f.kind == "load"
    a, b = np.append(raw, np.zeros(16, np.uint8)), np.full(want.size, 0xa5, np.uint8)
    for k in range(f.fragments*f.lanes):
        at = slice(4*words*k, 4*words*(k + 1))
        reg = (b if load else a)[at].copy().view("<u4").tolist()
        lane(a if load else b, reg, k//f.lanes, k % f.lanes)
        if load:
            b[at] = np.array([w & 0xffffffff for w in reg], "<u4").view(np.uint8)
    return b


def test_statements(functions):
    rng, seen = np.random.default_rng(20240613), set()
    for f in [f for f in functions[0] if f.case[2] != (64, 128)]:
        raw, want = f.data(rng)
        seen.add((f.kind, f.case[3]))
        assert np.array_equal(interpreted(f, raw, want), want), (f.case, f.kind)
    assert seen >= {(kind, bits) for kind in ("load", "store") for bits in (8, 16, 32)} and ("load", 4) in seen


# --- other targets

def test_cuda_is_as_wide_as_told(tmp_path):
    nvcc = shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin")
    if not nvcc:
        pytest.skip("nvcc is not installed")
    f = Function(0, ("MMA_A", "SW128", (64, 64), 16), "load", "cuda")
    g = Function(1, ("MMA_C", "ROW_MAJOR", (64, 64), 32), "store", "cuda")
    (tmp_path / "k.cu").write_text(f.prologue + f.text + g.text + """
extern "C" __global__ void k(uint4 *out, const uint4 *in)
{
    __shared__ uint4 tile[512];
    for (int i = 0; i < 16; i++) tile[32*i + threadIdx.x] = in[32*i + threadIdx.x];
    __syncthreads();
    unsigned int r[4];
    %s(r, tile, blockIdx.x, threadIdx.x);
    %s(out, r, blockIdx.x, threadIdx.x);
}
""" % (f.name, g.name))
    r = subprocess.run([nvcc, "-cubin", "-arch=sm_90", "-Xptxas", "-v", "-Werror", "all-warnings", "-o", tmp_path / "k.cubin", tmp_path / "k.cu"], capture_output=True, text=True)
    assert r.returncode == 0 and "0 bytes spill stores" in r.stderr, r.stderr
    found = machine_code.instructions((tmp_path / "k.cubin").read_bytes())
    assert (found["LDS 4"], found["STG 8"]) == (4, 2) and not any(n.startswith(("LDL", "STL")) for n in found), found


def test_opencl_compiles(tmp_path):
    if not shutil.which("clang"):
        pytest.skip("clang is not installed")
    fs = [Function(0, CASES[0], "load", "opencl"), Function(1, CASES[0], "store", "opencl"), Function(2, ("MMA_A", "SW128", (30, 64), 16), "load", "opencl")]
    (tmp_path / "k.cl").write_text(fs[0].prologue + "".join(f.text for f in fs))
    subprocess.run(["clang", "-x", "cl", "-cl-std=CL1.2", "-Xclang", "-finclude-default-header", "-Wall", "-Werror", "-Wno-unused-function", "-fsyntax-only",
                    tmp_path / "k.cl"], check=True)


# --- what is refused

@pytest.mark.parametrize("args, says", [
    (["--from", "ROW_MAJOR", "--to", "COL_MAJOR"], "layout 'COL_MAJOR' is no fragment: it has no parameter 'lanes'"),
    (["--from", "ROW_MAJOR", "--to", "(M,K){M, K, lanes = 32}"], "it has no parameter 'registers'"),
    (["--from", "ROW_MAJOR", "--to", "(M,K){M, K, lanes = 65, registers = 4}"], "lanes = 65: a number from 1 to 64"),
    (["--from", "ROW_MAJOR", "--to", "(M,K){M, K, lanes = 24, registers = 4}"], "no whole number of fragments"),
    (["--from", "ROW_MAJOR", "--to", "(M,K){M, K, lanes = 32, registers = 1}"], "in words of 32 bits"),
    (["--from", "ROW_MAJOR", "--to", "(M,K){M, K, pitch = {M = 96}, lanes = 32, registers = 2}"], "registers that hold nothing"),
    (["--from", "ROW_MAJOR", "--to", "MMA_A", "--target", "c"], "needs --from, --to, --dtype"),
    (["--from", "ROW_MAJOR", "--to", "MMA_A", "--target", "bursts"], "needs --from, --to, --dtype"),
    (["--from", "ROW_MAJOR"], "needs --from, --to, --dtype"),
    (["--from", "ROW_MAJOR", "--to", "MMA_A", "--manifest", "m"], "--manifest needs --kind relayout"),
    (["--from", "ROW_MAJOR", "--to", "MMA_A", "--name", "int"], "cannot name a C function"),
    (["--from", "(M,K){M, K, view = true}", "--to", "(N,K){N, K}"], "is no fragment"),
    (["--from", "ROW_MAJOR", "--to", "(M,K){M, K//8, K%8, fill = \"edge\", lanes = 1, registers = 8}", "--shape", "3,5"], "a load does not repeat the last element"),
    (["--from", "ROW_MAJOR", "--to", "MMA_A", "--shape", "N,64"], "a shape of numbers"),
    (["--from", "ROW_MAJOR", "--to", "MMA_A", "--shape", "100000,100000"], "a tile has at most 256 MB")])
def test_what_is_refused(tmp_path, args, says):
    more = [] if "--target" in args else ["--target", "cuda"]
    more += [] if "--shape" in args else ["--shape", "64,64"]
    r = subprocess.run([G.RAVEL, "emit", "--kind", "load", "--dtype", "f16", "-o", "o", *args, *more], capture_output=True, text=True, cwd=tmp_path)
    assert r.returncode == 2 and says in r.stderr and not list(tmp_path.iterdir()), r


def test_a_target_without_words_for_it(tmp_path):
    table = grid_runs.own_table(tmp_path, ("tile_load_open = [[", "tile_store_open = [["))
    r = subprocess.run([G.RAVEL, "emit", "--kind", "load", "--dtype", "f16", "-o", "-", "--from", "ROW_MAJOR", "--to", "MMA_A", "--shape", "64,64", "--target", table],
                       capture_output=True, text=True)
    assert r.returncode == 2 and "has no tile loads: the table lacks 'tile_load_open'" in r.stderr, r
