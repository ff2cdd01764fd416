"""What emit writes, as compilers of other makes, flags and machines read it: each kernel at least once, with functions of run-time
extents and index functions.  On this processor `ravel verify --object` proves relayouts; what it does not take, and all that is
compiled for another machine, runs under a small program that holds every byte against tests/orders.py."""
import concurrent.futures
import os
import pathlib
import random
import re
import shutil
import subprocess

import numpy as np
import pytest

import draw
import orders as O
import precompiled
import ravel
import relayouts as R

RAVEL = str(ravel.BUILD / "ravel")
BITS = {"f32": 32, "f16": 16, "bf16": 16, "u8": 8, "i8": 8, "i64": 64, "u4": 4, "i4": 4, "u2": 2, "u1": 1, "c128": 128}

# name: from, to, shape, dtype
SAMPLE = {
    "nibbles": ("CHWN", "NCHW8", (2, 24, 6, 8), "u4"),
    "marlin": ("ROW_MAJOR", "MARLIN", (17, 65), "u4"),
    "swapped": ("INT4_HIGH", "INT4_LOW", (9, 13), "i4"),
    "bits": ("(A,B){A, B}", "(A,B){B, A//3, 2 - A%3, fill = 1}", (10, 7), "u1"),
    "bit_planes": ("ROW_MAJOR", "COL_MAJOR", (149, 270), "u1"),
    "pairs": ("(A,B){A//7, B//5, A%7, B%5}", '(A,B){A//11, B//8, A%11, B%8, pitch = {[2] = 256}, fill = "none"}', (25, 31), "u2"),
    "unpacked": ("(A,B,C,D){A, B, C, D}", "(A,B,C,D){D, B, C, A}", (8, 7, 9, 11), "u4"),
    "unpacked_to_halves": ("(A,B,C,D){A, B, C, D}", "(A,B,C,D){D, B, C, A}", (9, 7, 9, 12), "u4"),
    "unpacked_pairs": ("(A,B,C){A, B, C}", "(A,B,C){C//2, B, A, C%2}", (3, 130, 67), "u2"),
    "unpacked_threes": ("(A,B,C){A, B, C}", "(A,B,C){C//3, B, A, C%3}", (9, 130, 63), "u4"),
    "unpacked_fours": ("(A,B,C){A, B, C}", "(A,B,C){C//4, B, A, C%4}", (7, 66, 67), "u1"),
    "unpacked_eights": ("(A,B,C){A, B, C}", "(A,B,C){C//8, B, A, C%8}", (9, 130, 131), "u2"),
    "bit_fill": ("(A,B){A, B}", "(A,B){A//3, B//5, B%5, A%3, fill = 5}", (7, 12), "u4"),
    "blocks": ("NCHW", "NC1HWC0", (2, 20, 5, 7), "f16"),
    "planes": ("NHWC", "NCHW", (3, 17, 9, 11), "u8"),
    "planes_of_words": ("NCHW", "NHWC", (2, 37, 9, 11), "f32"),
    "segments": ("{N, C//48, H, W, C%48}", "{N, C//32, H, W, C%32}", (2, 100, 3, 5), "i8"),
    "padded": ("(N,C){N//6, C, N%6}", "(N,C){C//4, N, C%4, fill = -7}", (37, 29), "i64"),
    "fractal": ("FRACTAL_Z", "NCHW", (20, 35, 3, 3), "f16"),
    "swizzled": ("ROW_MAJOR", "SW128", (13, 70), "f16"),
    "edge": ("(A,B){A, B}", '(A,B){B//4, A, B%4, fill = "edge"}', (10, 7), "c128"),
    "wide": ("ROW_MAJOR", "COL_MAJOR", (13, 9), "c128"),
    "narrow": ("(A,B){B//2, A, B%2}", "(A,B){A//3, B, A%3}", (34, 188), "f32"),
    "rgb": ("NCHW", "NHWC", (1, 3, 20, 40), "u8"),
    "rgb_back": ("NHWC", "NCHW", (1, 3, 20, 40), "u8"),
    "floats": ("NHWC", "NCHW", (1, 3, 20, 40), "f32"),
    "halves_back": ("NHWC", "NCHW", (1, 3, 20, 40), "f16"),
    "floats_back": ("NHWC", "NCHW", (1, 2, 60, 50), "f32"),
    "rgba": ("NCHW", "(N,C,H,W){N, H, W, C//4, C%4, fill = -7}", (1, 3, 20, 40), "f32"),
    "short_loops": ("(A,B,C,D){A, B, C, D}", "(A,B,C,D){D, C, B, A}", (11, 7, 9, 13), "u8"),
    "halves_of_short_loops": ("(A,B,C,D){A, B, C, D}", "(A,B,C,D){B, A, D, C}", (7, 11, 7, 7), "f16"),
    "long_short_loops": ("(A,B,C,D){A, B, C, D}", "(A,B,C,D){D, C, B, A}", (7, 5, 9, 6), "i64"),
    "short_runs": ("(A,B,C,D){A, B, C, D}", "(A,B,C,D){B, C, A, D}", (11, 10, 6, 13), "u8"),
    "longs_by_tables": ("(A,B,C,D,E){A, B, C, D, E}", "(A,B,C,D,E){E, C, A, D, B}", (5, 3, 7, 4, 6), "i64"),
    "triples": ("NCHW", "(N,C,H,W){N, H, W, C//4, C%4, fill = -7}", (1, 3, 20, 40), "i64"),
    "tiles_of_nibbles": ("ROW_MAJOR", "MARLIN", (48, 448), "u4"),
    "tiles_of_nibbles_back": ("MARLIN", "ROW_MAJOR", (48, 320), "u4"),
}
# those by a kernel that is not the quickest on the default processor: each in a file of its own
PROCESSOR = {"tiles_of_nibbles": "zen4", "tiles_of_nibbles_back": "zen4"}
# rows of whole lines that go past the caches
LARGE = {"past_caches": ("NCHW", "NHWC", (1, 64, 256, 130), "f32"),
         "words_of_short_loops": ("(A,B,C){A, B, C}", "(A,B,C){C, B, A}", (203, 901, 13), "f32"),
         "longs_of_short_loops": ("(A,B,C,D){A, B, C, D}", "(A,B,C,D){D, C, B, A}", (5, 12, 13, 907), "i64")}
# name: from, to, shape, dtype, values of the names
RUNTIME = {
    "any_blocks": ("NCHW", "NC1HWC0", ("N", "C", "H", "W"), "f16", [(1, 1, 1, 1), (2, 20, 5, 7), (1, 33, 9, 8)]),
    "any_wide": ("ROW_MAJOR", "COL_MAJOR", ("A", "B"), "c128", [(1, 1), (13, 9), (40, 33)]),
    "any_rgb": ("NCHW", "NHWC", (2, "C", "H", "W"), "u8", [(3, 20, 17), (16, 5, 7), (40, 9, 11)]),
    "any_tile": ("(A,B,C,D){A, B, C, D}", "(A,B,C,D){C, B, D, A}", ("A", 5, "C", 7), "f16", [(1, 1), (130, 70), (9, 200)]),
    "any_bits": ("(A,B){A, B}", "(A,B){B, A//3, 2 - A%3, fill = 1}", ("A", "B"), "u1", [(1, 1), (10, 7), (16, 33)]),
    "any_nibbles": ("(A,B){A, B}", "(A,B){B, A//3, 2 - A%3, fill = 1}", ("A", "B"), "u4", [(1, 1), (10, 7), (16, 33)]),
}
# name: layout, shape, dtype
INDEX = {"at_blocks": ("NC1HWC0", (2, 20, 5, 7), "f16"), "at_swizzled": ("SW128", (13, 70), "f16"), "at_marlin": ("MARLIN", (17, 65), "u4")}

FLAGS = ["-O2", "-O3 -march=native", "-O2 -mavx2", "-O2 -mavx512bw"]
# More of them by RAVEL_COMPILERS, between semicolons.
HERE = ["%s %s" % (c, f) for c in ("gcc", "clang") for f in FLAGS] + ["clang-15 " + f for f in FLAGS[2:]]
HERE += [c for c in os.environ.get("RAVEL_COMPILERS", "").split(";") if c]
# This one compiles a file for each function, as a machine of the other byte order refuses some; the others one file, in which each kernel
# is compiled once.  Single files are compiled and run in test_emit.py and test_generated.py.
APART = {"s390x-linux-gnu-gcc -O2 -static"}
# compiler: what runs it, the order of bytes
ELSEWHERE = {"aarch64-linux-gnu-gcc -O2 -static": ("qemu-aarch64", "<"), "aarch64-linux-gnu-gcc -O3 -static": ("qemu-aarch64", "<"),
             "s390x-linux-gnu-gcc -O2 -static": ("qemu-s390x", ">")}
NEEDED = ["gcc", "clang", "aarch64-linux-gnu-gcc", "qemu-aarch64"]
REFUSAL = "for little-endian machines"
# Kernels that take values or words apart; all others move bytes, and go by their places.
ORDERED = re.compile(r"\bravel_(fill|copy_fill|shuffle|butterfly|interleave\d)\(dst")
BIG = ["-U__BYTE_ORDER__", "-D__BYTE_ORDER__=__ORDER_BIG_ENDIAN__"]

MAIN = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef void Relayout(void *, const void *);
%s
static const struct { const char *name; Relayout *f; } cases[] = {%s};
/* The room of n bytes, which start `off` bytes after the guard. */
static unsigned char *room(long n, long off)
{
    unsigned char *p = malloc((size_t)n + 192);
    if (!p) exit(9);
    memset(p, 0xa5, (size_t)n + 192);
    return p + 64 - (size_t)p %% 64 + off;
}
static int differs(const unsigned char *a, const unsigned char *b, long n, const char *what, const char *name)
{
    for (long i = 0; i < n; i++)
        if (a[i] != b[i])
            return printf("%%s: %%s %%ld is 0x%%02x, not 0x%%02x\n", name, what, i, a[i], b[i]);
    return 0;
}
/* Of each run the case, sizes, how far off a line the buffers are, the source and the expected bytes. */
int main(void)
{
    long k, n, m, off, runs = 0, wrong = 0;
    unsigned char guard[16];
    memset(guard, 0xa5, 16);
    while (scanf("%%ld %%ld %%ld %%ld", &k, &n, &m, &off) == 4 && getchar() == '\n') {
        unsigned char *src = room(n, off), *dst = room(m, off + off / 2), *want = malloc((size_t)m + 1), *was = malloc((size_t)n + 1);
        if (!want || !was || fread(src, 1, (size_t)n, stdin) != (size_t)n || fread(want, 1, (size_t)m, stdin) != (size_t)m) return 9;
        memcpy(was, src, (size_t)n);
        cases[k].f(dst, src);
        wrong += differs(dst, want, m, "byte", cases[k].name) || differs(dst + m, guard, 16, "after", cases[k].name) ||
                 (off && differs(dst - 3, guard, 3, "before", cases[k].name)) || differs(src, was, n, "source", cases[k].name);
        runs++;
    }
    printf("%%ld runs, %%ld wrong\n", runs, wrong);
    return wrong > 0;
}
"""

AT = """
void %(name)s_%(i)d(void *d, const void *s);
void %(name)s_%(i)d(void *d, const void *s) { if (%(name)s(d, s, %(values)s)) memset(d, 0, 1); }
"""

TABLE = """
#include "%(name)s_off.c"
#include "%(name)s_inv.c"
void %(name)s_o(void *d, const void *s);
void %(name)s_o(void *d, const void *s)
{
    const int64_t *x = s;
    for (int64_t i = 0, *to = d; i < %(points)d; i++, x += %(rank)d)
        to[i] = %(name)s_off(%(at)s);
}
void %(name)s_i(void *d, const void *s);
void %(name)s_i(void *d, const void *s)
{
    int64_t *to = d;
    for (const int64_t *a = s, *end = a + %(places)d; a < end; a++, to += %(rank)d + 1) {
        memset(to, 0, sizeof *to * (%(rank)d + 1));
        to[0] = %(name)s_inv(*a, to + 1);
        if (!to[0])
            memset(to, 0, sizeof *to * (%(rank)d + 1));
    }
}
"""


def text(shape):
    return ",".join(map(str, shape))


def emit(path, *args):
    subprocess.run([RAVEL, "emit", *args, "-o", path], check=True, timeout=60)


def emit_relayout(folder, name, case):
    a, b, shape, dtype = case[:4]
    emit(folder / (name + ".c"), "-F", a, "-T", b, "-s", text(shape), "-d", dtype, "-n", name, "-N", "1",
         "--processor", PROCESSOR.get(name, "default"))


def stamped(a, b, shape, dtype):
    """(source, destination after) bytes: every element holds its number, a part of it in each."""
    axes, (src, dst) = R.expected({"from": a, "to": b, "shape": shape, "bits": BITS[dtype]})
    at = src.addr.transpose(axes).reshape(-1)
    for part in O.passes(at.size, BITS[dtype]):
        el = ravel.numbers(part, BITS[dtype])
        yield ravel.scatter(el, at, src.size, BITS[dtype]), R.filled(dst, dst.addr.reshape(-1), el, BITS[dtype])


def tables(layout, shape, dtype, order):
    """The same of an offset function and an inverse; all addresses and some that are none."""
    p, rank = O.place(layout, shape, BITS[dtype]), len(shape)
    at = np.indices(shape).reshape(rank, -1).T
    a = np.arange(-2, p.size + 3)
    found = np.zeros((a.size, rank + 1), np.int64)
    found[p.addr.reshape(-1) + 2] = np.hstack([np.ones((len(at), 1), np.int64), at])
    raw = lambda x: np.ascontiguousarray(x).astype(order + "i8").reshape(-1).view(np.uint8)
    return (raw(at), raw(p.addr)), (raw(a), raw(found))


def quoted(text):
    """A word of a line of a list; none has both kinds of quotes."""
    return ("'%s'" if '"' in text else '"%s"') % text


def emit_all(folder, cases):
    """One unit of all of them that are for the default processor."""
    lines = ["-F %s -T %s -s %s -d %s -n %s\n" % (quoted(c[0]), quoted(c[1]), text(c[2]), c[3], name) for name, c in cases.items()
             if name not in PROCESSOR]
    (folder / "all.txt").write_text("".join(lines))
    emit(folder / "all.c", "--list", folder / "all.txt", "-N", "1")


# test_arrays.py compiles and runs the other one
KERNELS = set(re.findall(r"^K\((\w+),", (ravel.ROOT / "compiler/plan/kernel.def").read_text(), re.M)) - {"indexed", "placed", "mixed"}


def called(folder, name):
    """The kernels that a function calls."""
    body = (folder / (name + ".c")).read_text()
    return set(re.findall(r"ravel_(\w+)\(", body[re.search(r"\n%s(_part)?\(" % name, body).start():])) & KERNELS


def drawn(folder, lacking):
    """Conversions, from many draws, that call the kernels that the sample lacks."""
    rng, found, names = random.Random(0), {}, {bits: name for name, bits in BITS.items()}
    for i in range(3000 if lacking else 0):
        case, name = draw.case(rng), "drawn_%d" % i
        case = case["from"], case["to"], tuple(case["shape"]), names[case["bits"]]
        try:
            emit_relayout(folder, name, case)
        except subprocess.CalledProcessError:
            continue
        if called(folder, name) & lacking:
            found[name] = case
            lacking = lacking - called(folder, name)
        if not lacking:
            break
    return found


class Sources:
    """All of the sample in a folder, the functions in it, and their runs."""
    def __init__(self, folder):
        self.folder, self.function, self.runs = folder, [], {}
        for name, case in (SAMPLE | LARGE | RUNTIME).items():
            emit_relayout(folder, name, case)
        self.called = set().union(*(called(folder, name) for name in SAMPLE | LARGE | RUNTIME))
        self.sample = SAMPLE | drawn(folder, KERNELS - self.called)
        self.called |= set().union(*(called(folder, name) for name in self.sample))
        emit_all(folder, self.sample | LARGE | RUNTIME)
        for name, case in self.sample.items():
            self.add(name, name, lambda order, case=case: stamped(*case), 3)
        for name, case in RUNTIME.items():
            self.runtime(name, case)
        for name, case in INDEX.items():
            self.index(name, *case)

    def add(self, name, unit, runs, off):
        self.function.append((name, unit, runs, off))

    def runtime(self, name, case):
        a, b, shape, dtype, values = case
        wrapper = ""
        for i, v in enumerate(values):
            left = list(v)
            at = tuple(left.pop(0) if isinstance(n, str) else n for n in shape)
            wrapper += AT % {"name": name, "i": i, "values": text(v)}
            self.add("%s_%d" % (name, i), "w_" + name, lambda order, at=at: stamped(a, b, at, dtype), 3)
        (self.folder / ("w_%s.c" % name)).write_text('#include "%s.c"\n' % name + wrapper)
        with open(self.folder / "all.c", "a") as f:
            f.write(wrapper)

    def index(self, name, layout, shape, dtype):
        for kind in ("offset", "inverse"):
            emit(self.folder / ("%s_%s.c" % (name, kind[:3])), "-k", kind, "-T", layout, "-s", text(shape), "-d", dtype, "-n", name + "_" + kind[:3])
        p = O.place(layout, shape, BITS[dtype])
        (self.folder / ("w_%s.c" % name)).write_text(TABLE % {
            "name": name, "rank": len(shape), "points": p.addr.size, "places": p.size + 5, "at": ", ".join("x[%d]" % d for d in range(len(shape)))})
        for i, end in enumerate("oi"):
            self.add("%s_%s" % (name, end), "w_" + name, lambda order, i=i: [tables(layout, shape, dtype, order)[i]], 0)

    def units(self, compiler, functions):
        """The files that such a compiler compiles for them."""
        own = {n for f in functions for n in [f[1]] if compiler in APART or n.removeprefix("w_") in INDEX or n in PROCESSOR}
        return sorted(own) + ["all"]*(len(own) < len({f[1] for f in functions}))

    def program(self, functions):
        """The text of a main that runs them."""
        names = [f[0] for f in functions]
        return MAIN % ("\n".join("extern Relayout %s;" % n for n in names), ", ".join('{"%s", %s}' % (n, n) for n in names))

    def input(self, functions, order):
        out = []
        for k, (_, _, runs, off) in enumerate(functions):
            for raw, want in runs(order):
                out += [b"%d %d %d %d\n" % (k, raw.size, want.size, off), raw.tobytes(), want.tobytes()]
        return b"".join(out), len(out) // 3


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    return Sources(tmp_path_factory.mktemp("emitted"))


def objects(command, folder, to, units):
    """Each unit compiled, two at once."""
    command = [*command, "-fPIC"]
    vectors = precompiled.header(command, to)

    def one(unit):
        source = folder / (unit + ".c")
        subprocess.run([*command, *vectors(source), "-c", "-o", to / (unit + ".o"), source], check=True)
        return to / (unit + ".o")
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return list(pool.map(one, units))


def run(sources, command, to, functions, machine=(), order="<"):
    """All runs of the functions by one program, right."""
    (to / "main.c").write_text(sources.program(functions))
    units = sources.units(" ".join(command), functions)
    made = [to / (u + ".o") for u in units]
    made = [o for o in made if o.exists()] + objects(command, sources.folder, to, [u for u, o in zip(units, made) if not o.exists()])
    subprocess.run([*command, "-o", to / "main", to / "main.c", *made], check=True)
    data, n = sources.input(functions, order)
    r = subprocess.run([*machine, to / "main"], input=data, capture_output=True, timeout=300)
    assert (r.returncode, r.stdout.decode(), r.stderr.decode()) == (0, "%d runs, 0 wrong\n" % n, "")


def needs(tool):
    if not shutil.which(tool):
        pytest.skip("%s is not installed" % tool)


def processor_has(flags):
    features = re.search(r"^flags\s*:(.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.M)
    return flags <= set(features[1].split()) if features else False


def test_compilers_are_there():
    assert [c for c in NEEDED if not shutil.which(c)] == []


def test_every_kernel_is_in_the_sample(sources):
    assert len(KERNELS) > 20 and KERNELS <= sources.called, KERNELS - sources.called


# What clang reads without compiling it may not have functions without use; gcc warns of more where it compiles.
@pytest.mark.parametrize("compiler", ["gcc -O2 -c", "clang -fsyntax-only"])
def test_a_file_has_what_its_function_needs(sources, tmp_path, compiler):
    """And no more: each of them on its own."""
    units = [sources.folder / (u + ".c") for u in dict.fromkeys(f[1] for f in sources.function)]
    for unit in units:
        r = subprocess.run([*compiler.split(), "-std=c99", "-Wall", "-Wextra", "-Werror", "-o", tmp_path / "one.o", unit], capture_output=True, text=True)
        assert r.returncode == 0 and r.stderr == "", r.stderr
    assert len(units) > 40


@pytest.mark.parametrize("compiler", HERE)
def test_on_this_processor(sources, tmp_path, compiler):
    command = compiler.split()
    needs(command[0])
    for flag in {"avx2", "avx512bw"} & {c.removeprefix("-m") for c in command}:
        if not processor_has({flag}):
            pytest.skip("the processor has no " + flag)
    cases = sources.sample | LARGE
    so = tmp_path / "all.so"
    subprocess.run([*command, "-shared", "-o", so, *objects(command, sources.folder, tmp_path, ["all", *PROCESSOR])], check=True)
    for name, (a, b, shape, dtype) in cases.items():
        r = subprocess.run([RAVEL, "verify", "-F", a, "-T", b, "-s", text(shape), "-d", dtype, "--object", so, "-n", name],
                           capture_output=True, text=True)
        assert r.returncode == 0 and r.stdout.startswith("yes: "), (name, r.stdout + r.stderr)
    run(sources, command, tmp_path, [f for f in sources.function if f[1] not in sources.sample])


@pytest.mark.parametrize("compiler", ELSEWHERE)
def test_on_another_machine(sources, tmp_path, compiler):
    command, (machine, order) = compiler.split(), ELSEWHERE[compiler]
    needs(command[0])
    needs(machine)
    functions = sources.function
    if order == ">":
        functions = [f for f in functions if not refused(command, sources.folder / (f[1] + ".c"))]
        assert len(functions) > 10
    run(sources, command, tmp_path, functions, [machine], order)


def refused(command, path):
    """Whether the unit is for little-endian machines only and says so; else it compiles."""
    r = subprocess.run([*command, "-fsyntax-only", path], capture_output=True, text=True)
    assert (REFUSAL in r.stderr) == (r.returncode != 0), r.stderr
    return r.returncode != 0


def test_a_big_endian_machine_is_refused_by_what_would_be_wrong_there(sources):
    """Those and no others; index functions and what only moves bytes are for every machine."""
    units = list(dict.fromkeys(f[1] for f in sources.function))
    said = {u: refused(["gcc", *BIG], sources.folder / (u + ".c")) for u in units}
    def text_of(unit):
        return (sources.folder / (unit.removeprefix("w_") + ".c")).read_text() if unit.removeprefix("w_") not in INDEX else ""
    assert said == {u: bool(ORDERED.search(text_of(u))) for u in units}
    assert {True, False} == set(said.values())


def test_a_gpu_kernel_in_plain_c_is_refused_there(tmp_path):
    for dtype in ("u8", "u4"):
        emit(tmp_path / "f.c", "-F", "NCHW", "-T", "NHWC", "-s", "2,8,6,8", "-d", dtype, "-G", "blocks")
        assert refused(["gcc", *BIG], tmp_path / "f.c") and not refused(["gcc"], tmp_path / "f.c")
