"""The emitted C: clean under three compilers, the same bytes from all and from the JIT, index functions against the table."""

import ctypes as ct
import os
import re
import shutil
import signal
import subprocess
import time

import numpy as np
import pytest

import formulas as F
import orders as O
import ravel
from sanitize import SANITIZE

RAVEL = str(ravel.BUILD / "ravel")
WARN = "-std=c99 -Wall -Wextra -Wconversion -Wmissing-prototypes -Werror".split()
COMPILERS = {"gcc": ["gcc", *WARN, "-O2"], "clang": ["clang", *WARN, "-O2"], "tcc": ["tcc"]}
BITS = {**F.BITS, "c128": 128, "u16": 16}

# (from, to, shape, dtype)
CASES = [
    ("NCHW", "NC1HWC0", (2, 20, 5, 7), "f16"),
    ("NHWC", "NCHW", (3, 17, 9, 11), "u8"),
    ("NCHW8", "{N, C//16, H, W, C%16}", (2, 20, 6, 6), "f32"),
    ("{N, C//48, H, W, C%48}", "{N, C//32, H, W, C%32}", (2, 100, 3, 5), "i8"),
    ("(N,C){N//6, C, N%6}", "(N,C){C//4, N, C%4, fill = -2.5}", (37, 29), "f64"),
    ("ROW_MAJOR", "FRACTAL_NZ", (2, 3, 17, 37), "bf16"),
    ("FRACTAL_Z", "NCHW", (20, 35, 3, 3), "f16"),
    ("ROW_MAJOR", "SW128", (13, 70), "f16"),
    ("SEED83", "MORTON8", (32, 32), "f32"),
    ("ROW_MAJOR", "MARLIN", (17, 65), "u4"),
    ("INT4_HIGH", "INT4_LOW", (9, 13), "i4"),
    ("(A,B){A, B}", "(A,B){B, A//3, 2 - A%3, fill = 1}", (10, 7), "u1"),
    ("(A,B){A, B}", '(A,B){B//4, A, B%4, fill = "edge"}', (10, 7), "c128"),
    ("(A,B){A//7, B//5, A%7, B%5}", '(A,B){A//11, B//8, A%11, B%8, pitch = {[2] = 256}, fill = "none"}', (25, 31), "u2"),
    ("ROW_MAJOR", "COL_MAJOR", (), "c64"),
    ("SF128x4", "(R,C){R, C, fill = 255}", (200, 10), "u8"),
]
# planes narrower than a kernel's block, which gcc puts in its place and then warns of what is never reached
NARROW = [
    ("(A,B){B//2, A, B%2}", "(A,B){A//3, B, A%3}", (34, 188), "f32"),
    ("(A,B,C,D,E,F){B, E, D, C, A, F}", "(A,B,C,D,E,F){E, A, B, F, C, D}", (4, 4, 4, 4, 8, 7), "u8"),
    ("(A,B){A//32, B//8%3, A//4%8, B//24, A%4, B%8}", "(A,B){A//4, B, A%4}", (192, 158), "u8"),
]


def text(shape):
    return ",".join(map(str, shape))


def emit(path, *args, code=0):
    r = subprocess.run([RAVEL, "emit", *map(str, args), "-o", str(path)], capture_output=True, text=True, timeout=60)
    assert r.returncode == code and bool(r.stderr) == bool(code), r
    return r.stderr if code else path.read_text()


def relayout(path, case, *more):
    a, b, shape, dtype = case
    return emit(path, "--from", a, "--to", b, "--shape", text(shape), "--dtype", dtype, "--name", "kern", *more)


def compiled(c, compiler):
    """A shared object of the file c, made without a word."""
    so, o = c.with_suffix("." + compiler + ".so"), c.with_suffix("." + compiler + ".o")
    r = subprocess.run([*COMPILERS[compiler], "-c", "-fPIC", "-o", o, c], capture_output=True, text=True)
    assert r.returncode == 0 and r.stderr == "", r.stderr
    # tcc's own objects ask for an executable stack, which glibc from 2.41 on refuses to a library
    subprocess.run(["gcc", "-shared", "-z", "noexecstack", "-Wl,-Bsymbolic", "-o", so, o], check=True)
    return ct.CDLL(str(so))


def source_bytes(case, n):
    """Bytes of n of the source, all different from one another as far as bytes go."""
    return np.random.default_rng([n, BITS[case[3]]]).integers(0, 256, n, np.uint8)


@pytest.mark.parametrize("case", NARROW, ids=lambda c: "%s-%s" % c[:2])
@pytest.mark.parametrize("flags", ["-O2", "-O3", "-O3 -mavx2"])
def test_narrow_planes_compile_without_a_word(tmp_path, case, flags):
    relayout(tmp_path / "f.c", case)
    r = subprocess.run(["gcc", *WARN, *flags.split(), "-c", "-o", tmp_path / "f.o", tmp_path / "f.c"], capture_output=True, text=True)
    assert r.returncode == 0 and r.stderr == "", r.stderr


@pytest.mark.parametrize("case", CASES, ids=lambda c: "%s-%s" % c[:2])
def test_all_compilers_agree(cx, tmp_path, case):
    c = tmp_path / "f.c"
    body = relayout(c, case)
    assert "ravel.h" not in body
    assert set(re.findall(r"#include (.*)", body)) <= {"<%s.h>" % h for h in ("stdint", "string", "omp", "immintrin", "emmintrin", "arm_neon")}
    with cx.plan(*case) as plan:
        plan.verify()
        raw = source_bytes(case, plan.src_bytes)
        want = plan.run(raw)
        for compiler in COMPILERS:
            so = compiled(c, compiler)
            so.kern.restype, so.kern.argtypes = None, [ct.c_void_p, ct.c_void_p]
            src, dst = ravel.Guarded(raw.size, 3), ravel.Guarded(want.size, 5)
            src.body[:] = raw
            so.kern(dst.body.ctypes.data, src.body.ctypes.data)
            assert np.array_equal(dst.body, want), compiler
            assert src.intact() and dst.intact() and np.array_equal(src.body, raw), compiler


MAIN = """
#include <stdio.h>
#include <stdlib.h>
#include "f.c"
int main(void)
{
    unsigned char *src = malloc(%d), *dst = malloc(%d);
    if (!src || !dst || fread(src, 1, %d, stdin) != %d)
        return 1;
    memset(dst, 0xa5, %d);
    kern(dst, src);
    fwrite(dst, 1, %d, stdout);
    free(src);
    free(dst);
    return 0;
}
"""


@pytest.mark.parametrize("case", [CASES[0], CASES[4], CASES[9], CASES[13]], ids=lambda c: "%s-%s" % c[:2])
def test_sanitized(cx, tmp_path, case):
    relayout(tmp_path / "f.c", case)
    with cx.plan(*case) as plan:
        raw, n, m = source_bytes(case, plan.src_bytes), plan.src_bytes, plan.dst_bytes
        want = plan.run(raw)
    (tmp_path / "main.c").write_text(MAIN % (n, m, n, n, m, m))
    subprocess.run(["gcc", *WARN, "-g1", *SANITIZE, "-o", "main", "main.c"], cwd=tmp_path, check=True)
    env = {k: v for k, v in os.environ.items() if k not in ("LD_PRELOAD", "ASAN_OPTIONS")}
    r = subprocess.run(["./main"], cwd=tmp_path, input=raw.tobytes(), capture_output=True, env=env)
    assert r.returncode == 0 and r.stderr == b"" and r.stdout == want.tobytes()


# blocks on both sides of which none divides another: many nests, each with tables
UNEVEN = "(A,B,C){A//7, B//8, C//9, A%7, B%8, C%9}", "(A,B,C){A//11, B//13, C//15, A%11, B%13, C%15}"


def test_tables_are_bounded(cx, tmp_path):
    """As few of them at a large shape as is worth their text, and the same elements by them."""
    body = relayout(tmp_path / "f.c", (*UNEVEN, (1000, 1000, 1000), "u8"))
    assert len(body) < 300_000, len(body)
    case = (*UNEVEN, (190, 210, 230), "u8")
    assert len(relayout(tmp_path / "f.c", case)) < 300_000
    with cx.plan(*case) as plan:
        plan.verify()
        raw = source_bytes(case, plan.src_bytes)
        src, dst = ravel.Guarded(raw.size, 3), ravel.Guarded(plan.dst_bytes, 5)
        src.body[:] = raw
        so = compiled(tmp_path / "f.c", "gcc")
        so.kern.restype, so.kern.argtypes = None, [ct.c_void_p, ct.c_void_p]
        so.kern(dst.body.ctypes.data, src.body.ctypes.data)
        assert np.array_equal(dst.body, plan.run(raw)) and src.intact() and dst.intact()


def test_tables_of_other_strides_are_two(cx, tmp_path):
    """Rows and their padding, which repeats one: the same offsets in the destination."""
    case = ("(A,B){A, B}", "(A,B){A//8, B//8 ~ A%8, A%8, B%8, pad = {A = 16}, fill = 'edge'}", (8, 64), "u8")
    assert relayout(tmp_path / "f.c", case).count("static const int32_t") == 2
    with cx.plan(*case) as plan:
        plan.verify()


def test_padding_beside_more_rows_stays_a_nest(cx):
    """Two copies and the padding of the rows of both, which begins where the first copy's would."""
    with cx.plan("(A,B){A//64, B, A%64}", "(A,B){A, B, pad = {B = 4}}", (96, 3), "u8") as plan:
        plan.verify()


def kernels_of(body):
    """The kernels that are called from the function's part, in order, without the elements' size."""
    part = body[body.rindex("_part(void"):]
    return [re.sub(r"\d+$", "", k) for k in re.findall(r"^ +ravel_(\w+)\(dst", part, re.M)]


# The last copy is that of small data.
@pytest.mark.parametrize("args,kernels", [
    (("NCHW", "NC1HWC0", ("N", 20, "H", "W"), "f16"), ["transpose", "interleave", "deinterleave", "transpose"]),
    (("NCHW", "NC1HWC0", ("N", "C", "H", "W"), "f16"),
     ["transpose", "transpose", "fill", "interleave", "deinterleave", "deinterleave", "transpose"]),
    (("{M, K}", "(M,K){M, K, pad = {K = 16}}", ("M", "K"), "f32"), ["copy_fill", "copy_fill"]),
    (("{M, K}", "(M,K){M, K, pad = {K = 513}}", ("M", "K"), "f32"), ["copy_fill", "copy_fill"]),
    (("{M, K}", "(M,K){M, K, pad = {K = 514}}", ("M", "K"), "f32"), ["copy", "fill", "copy"]),
    (("(A,B){A, B}", "(A,B){A, B%8 ~ B//8%8, B//8}", ("A", 64), "u8"), ["shuffle"]),
    (("ROW_MAJOR", "SW128", ("M", 64), "f16"), ["gather", "copy", "fill"]),
], ids=["padding that is a number follows", "padding that is a name does not", "rows that are padded", "... by as much as the kernel can",
        "... by more", "tile", "swizzle"])
def test_extents_left_to_run_time_choose_as_numbers_do(tmp_path, args, kernels):
    assert kernels_of(relayout(tmp_path / "f.c", args)) == kernels


def test_deterministic(tmp_path):
    """Neither the folder nor the environment shows."""
    for i, case in enumerate(CASES):
        one = relayout(tmp_path / "a.c", case)
        sub = tmp_path / str(i)
        sub.mkdir()
        r = subprocess.run([RAVEL, "emit", "--from", case[0], "--to", case[1], "--shape", text(case[2]), "--dtype", case[3], "--name", "kern",
                            "-o", "b.c"], cwd=sub, env={"LC_ALL": "de_DE.UTF-8", "TZ": "Asia/Tokyo", "COLUMNS": "40"})
        assert r.returncode == 0 and (sub / "b.c").read_text() == one


def test_the_command_in_the_head_makes_the_file_again(tmp_path):
    for case in CASES:
        one = relayout(tmp_path / "a.c", case)
        command = re.match(r"/\* ravel (emit .*)", one)[1]
        r = subprocess.run("%s %s -o b.c" % (RAVEL, command), shell=True, cwd=tmp_path, capture_output=True, text=True)
        assert r.returncode == 0, (command, r.stderr)
        assert (tmp_path / "b.c").read_text() == one


# --- --check: what a compiler makes of it

# Compilers that are wrong: of a relayout of numbers, and of one of names.
BAD = """
for last; do :; done
sed -i 's/%s/' "$last"
exec gcc "$@"
"""


def checked(tmp_path, compiler, *args, code=0, output="f.c", env=None):
    """(stdout, stderr) of emit --check, which leaves nothing in the folder of temporary files."""
    room = tmp_path / "room"
    room.mkdir(exist_ok=True)
    r = subprocess.run([RAVEL, "emit", *args, "-o", output, "--check", compiler], cwd=tmp_path, capture_output=True, text=True,
                       env={**os.environ, "TMPDIR": str(room)}, timeout=120)
    assert r.returncode == code, r
    assert list(room.iterdir()) == []
    return r.stdout, r.stderr


NIBBLES = ["-F", "CHWN", "-T", "NCHW8", "-s", "2,24,6,8", "-d", "u4"]
ANY = ["-F", "NCHW", "-T", "NC1HWC0", "-s", "N,C,2,W", "-d", "f16"]


@pytest.mark.parametrize("compiler", ["gcc", "CC=gcc -O3 -march=native", "CC=clang -O2 -mavx2", "tcc", "gcc -fopenmp"])
@pytest.mark.parametrize("args", [NIBBLES, ANY, ["-F", "(A,B){A, B}", "-T", "(A,B){B//4, A, B%4}", "-s", "n,n", "-d", "u8"]],
                         ids=["numbers", "names", "one"])
def test_checked(tmp_path, compiler, args):
    out, err = checked(tmp_path, compiler, *args)
    assert re.fullmatch(r"yes: .* -> .* of .*, u?[a-z]\d+, by %s: \d+ .*\d+ runs\n" % re.escape(compiler.removeprefix("CC=")), out), out
    assert err == "" and (tmp_path / "f.c").read_text() == emit(tmp_path / "g.c", *args)


def test_checked_to_standard_output(tmp_path):
    out, err = checked(tmp_path, "gcc -O1", *NIBBLES, output="-")
    assert err.startswith("yes: ") and err.count("\n") == 1 and out == emit(tmp_path / "g.c", *NIBBLES)


@pytest.mark.parametrize("args,wrong", [(NIBBLES, "s + at->s, -1/2 + s + at->s, -1"), (ANY, "dst + /dst + 1 + "), (ANY, "if (dst_bytes == 0) return 0;/return 1;")],
                         ids=["numbers", "names", "nothing"])
def test_checked_and_wrong(tmp_path, args, wrong):
    """Nothing is written, what was there stays."""
    (tmp_path / "cc.sh").write_text(BAD % wrong)
    out, err = checked(tmp_path, "sh cc.sh", *args, code=1)
    assert out.startswith("no: ") and "by sh cc.sh" in out and out.count("\n") == 2 and err == "", out
    assert not (tmp_path / "f.c").exists()
    (tmp_path / "f.c").write_text("mine")
    checked(tmp_path, "sh cc.sh", *args, code=1)
    assert (tmp_path / "f.c").read_text() == "mine"


@pytest.mark.parametrize("compiler,said", [
    ("gcc -Dfor=while", "exit code 1"), ("no-such-compiler -O2", "exit code 127"), ("true", "no shared object"), ("CC= ", "a compiler"),
    ("kill -9 $$;", "was ended: Killed"), ("gcc -fvisibility=hidden", "no function"), ("sh -c 'echo x >$3' sh", ""),
    ("aarch64-linux-gnu-gcc", "cannot be loaded here: it is for another machine")])
def test_checked_by_what_is_no_compiler(tmp_path, compiler, said):
    out, err = checked(tmp_path, compiler, *NIBBLES, code=2)
    assert out == "" and said in err and "ravel: " in err and not (tmp_path / "f.c").exists(), err


@pytest.mark.parametrize("args", [["-k", "offset", "-T", "SW128", "-s", "8,64", "-d", "f16"], [*NIBBLES, "-G", "cuda"], [*NIBBLES, "-G", "bursts"],
                                  [*NIBBLES, "-G", "blocks"]], ids=" ".join)
def test_checked_is_of_relayouts_in_c(tmp_path, args):
    assert "--check needs --kind relayout" in checked(tmp_path, "gcc", *args, code=2)[1]


def test_a_check_that_is_stopped_leaves_nothing(tmp_path):
    room = tmp_path / "room"
    room.mkdir()
    p = subprocess.Popen([RAVEL, "emit", *NIBBLES, "-o", "f.c", "--check", "touch started; sleep 1; gcc"], cwd=tmp_path,
                         env={**os.environ, "TMPDIR": str(room)})
    while not (tmp_path / "started").exists():
        time.sleep(0.01)
    assert list(room.iterdir()) != []
    p.send_signal(signal.SIGTERM)
    assert p.wait(60) == -signal.SIGTERM and list(room.iterdir()) == [] and not (tmp_path / "f.c").exists()


# --- index functions

INDEX = [
    ("NC1HWC0", (2, 20, 5, 7), "f16"), ("FRACTAL_Z", (20, 35, 3, 3), "f16"), ("FRACTAL_NZ", (2, 18, 34), "f32"), ("CHWN4", (3, 5, 2, 4), "u8"),
    ("SF128x4", (130, 10), "u8"), ("MARLIN", (17, 65), "u4"), ("AWQ", (3, 13), "u4"), ("INT4_LOW", (5, 7), "u4"), ("INT4_HIGH", (5, 7), "u4"),
    ("SW128", (13, 70), "f16"), ("SEED83", (32, 32), "f32"), ("SEED84", (32, 32), "f32"), ("SWIZZLE", (8, 128), "f16"),
    ("MORTON16", (18, 20), "f32"), ("AMX_B8", (70, 133), "i8"), ("COL_MAJOR", (3, 4, 5), "f32"), ("BLOCKED_CR{BM=7, BN=6}", (18, 34), "f32"),
    ("(A,B){B%3, A//4, B//3, 3 - A%4}", (10, 8), "f32"), ("(A,B){A, B, pitch = {A = 64}}", (5, 7), "f32"), ("ROW_MAJOR", (9,), "f64"),
    ("(int,double){int//4, double, int%4}", (6, 5), "f32"), ("(out,a,src,dst){out, src//2, a, dst, src%2}", (2, 3, 3, 2), "f32"),
    ("(N,n){n, N}", (3, 4), "f32"),
]

OFFSETS = """
#include "offset.c"
#include "inverse.c"
void offsets(const int64_t *x, int64_t n, int64_t *to);
void offsets(const int64_t *x, int64_t n, int64_t *to)
{
    for (int64_t i = 0; i < n; i++, x += %d)
        to[i] = off(%s);
}
int inverses(int64_t a, int64_t *to);
int inverses(int64_t a, int64_t *to)
{
    return inv(a, to);
}
"""


@pytest.mark.parametrize("case", INDEX, ids=lambda c: c[0])
def test_index_functions(tmp_path, case):
    layout, shape, dtype = case
    for kind, name in (("offset", "off"), ("inverse", "inv")):
        emit(tmp_path / (kind + ".c"), "--kind", kind, "--to", layout, "--shape", text(shape), "--dtype", dtype, "--name", name)
    p = O.place(layout, shape, BITS[dtype])
    (tmp_path / "f.c").write_text(OFFSETS % (len(shape), ", ".join("x[%d]" % i for i in range(len(shape)))))
    coords = np.ascontiguousarray(np.indices(shape).reshape(len(shape), -1).T)
    at = {int(a): tuple(x) for a, x in zip(p.addr.reshape(-1), coords.tolist())}
    for compiler in COMPILERS:
        so = compiled(tmp_path / "f.c", compiler)
        so.inverses.argtypes = [ct.c_int64, ct.c_void_p]
        so.offsets.argtypes = [ct.c_void_p, ct.c_int64, ct.c_void_p]
        got, back = np.empty(len(coords), np.int64), np.empty(len(shape), np.int64)
        so.offsets(coords.ctypes.data, len(coords), got.ctypes.data)
        assert np.array_equal(got, p.addr.reshape(-1)), compiler
        for a in [-1 << 63, -p.size, -2, -1, *range(p.size + 3), 2*p.size, (1 << 63) - 1]:
            found = so.inverses(a, back.ctypes.data)
            assert (tuple(back.tolist()) if found else None) == at.get(a), (compiler, a)


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("kind", ["offset", "inverse"])
def test_index_functions_alone_compile_clean(tmp_path, kind, compiler):
    emit(tmp_path / "f.c", "--kind", kind, "--to", "NC1HWC0", "--shape", "2,20,5,7", "--dtype", "f16")
    r = subprocess.run([compiler, *WARN, "-c", "-o", "/dev/null", "f.c"], cwd=tmp_path, capture_output=True, text=True)
    assert r.returncode == 0, r.stderr


# --- nobody writes C through us

def compiles_or_refused(path, *args):
    """True when a file came out, which compiles cleanly, without `marker` outside comments."""
    if path.exists():
        path.unlink()
    r = subprocess.run([RAVEL, "emit", *args, "-o", str(path)], capture_output=True, timeout=10)
    assert r.returncode in (0, 2), r
    if r.returncode == 2:
        assert r.stderr and not path.exists()
        return False
    c = path.read_text()
    assert re.sub(r"/\*.*?\*/", "", c, flags=re.S).count("HACK") == 0, c
    check = subprocess.run(["gcc", *WARN, "-fsyntax-only", path], capture_output=True, text=True)    # names and texts are read, not optimised
    name = args[args.index("--name") + 1] if "--name" in args else None
    if name in LIBRARY:                       # the compiler says that the name is taken
        assert check.returncode == 1 and name in check.stderr, check.stderr
        return False
    assert check.returncode == 0, check.stderr
    return True


LIBRARY = "memcpy memset int64_t uint64_t uint8_t NULL size_t INT64_MAX".split()
NAMES = ["", " ", "a b", "1a", "a;b", "a*/b", "/*", "main()", "é", "a\nb", "a\"b", "a\\", "??/", "x"*1000, "x"*100, "int", "for", "restrict",
         "inline", "_Bool", "while", "typedef", "asm", "memcpy", "memset", "int64_t", "uint64_t", "uint8_t", "NULL", "size_t", "ravel_copy",
         "ravel_fill", "ravel_transpose", "ravel_min", "dst", "src", "dst_", "src_", "out", "a", "n", "RAVEL_TILES", "INT64_MAX", "main",
         "__FILE__", "defined", "linux", "unix", "good_name", "_x", "X9"]


@pytest.mark.parametrize("name", NAMES, ids=repr)
def test_names(tmp_path, name):
    made = [compiles_or_refused(tmp_path / "f.c", "--from", "NCHW", "--to", "NC1HWC0", "--shape", "2,20,5,7", "--dtype", "f16", "--name", name),
            compiles_or_refused(tmp_path / "f.c", "--kind", "inverse", "--to", "SW128", "--shape", "8,64", "--dtype", "f16", "--name", name),
            compiles_or_refused(tmp_path / "f.c", "--kind", "offset", "--to", "SW128", "--shape", "8,64", "--dtype", "f16", "--name", name)]
    if name in ("good_name", "X9"):
        assert all(made)


TEXTS = ['{N, C, doc = "*/ int HACK; /*"}', "{N, C, doc = '*/\\nint HACK;\\n/*'}", "{N, C} -- */ int HACK; /*", "{N, C --[[*/ int HACK; /*]]}",
         "{N,\nC}", "{N, C, [ [[*/ HACK]] ] = 3}", "(N,C){N, C, fill = '*/ HACK'}", "(N,C--[[*/HACK]]){N, C}", "(é,C){é, C}", "{N, C, é = 3}",
         "(int,long){int, long}", "(main,HACK_){main, HACK_}", "(memcpy,memset){memset, memcpy}", "(int64_t,NULL){int64_t, NULL}",
         "(dst,src){dst, src//2, src%2}", "(dst_,src_){dst_, src_//2, src_%2}", "(out,a){a, out}", "(ravel_copy,ravel_max){ravel_max, ravel_copy}",
         "(x,X){X, x}", "(n,N){n//2, N, n%2}", "(_,__){_, __}", "(INT64_MAX,size_t){size_t, INT64_MAX}", "(stdin,errno){errno, stdin}",
         "(unix,linux){linux, unix}", "(RAVEL_TILES,kern){kern, RAVEL_TILES}", "(d,s,r){d, r}", "(N,C){N//2 * 2 + N%2, C}",
         "(N,C){N, C, swizzle = function(a) return a ~ (a >> 3 & 1) end}", "(N,C){N, C, unit = '*/ HACK'}",
         "(%s,C){%s, C}" % ("A"*3000, "A"*3000), "(N,C){N, C, P = '*/ HACK'}", "(N,C){N, C, P = 0x2A2F}"]


@pytest.mark.parametrize("layout", TEXTS, ids=repr)
def test_texts(tmp_path, layout):
    c = tmp_path / "f.c"
    for args in (["--from", "ROW_MAJOR", "--to", layout], ["--from", layout, "--to", "COL_MAJOR"], ["--kind", "offset", "--to", layout],
                 ["--kind", "inverse", "--to", layout]):
        compiles_or_refused(c, *args, "--shape", "6,8", "--dtype", "f32")


def test_the_plain_ones_are_not_refused(tmp_path):
    for layout in ("(int,long){int, long}", "(main,HACK_){main, HACK_}", "(x,X){X, x}", "(dst,src){dst, src//2, src%2}", "(out,a){a, out}"):
        if "HACK" not in layout:
            assert compiles_or_refused(tmp_path / "f.c", "--from", "ROW_MAJOR", "--to", layout, "--shape", "6,8", "--dtype", "f32")


SPECS = ['layout "A*/B" { doc = "*/ int HACK; /*", dims = { M, K }, order = { K, M } }',
         'layout "A" { doc = "*/ int HACK; /*", dims = { M, K }, order = { K, M } }',
         'layout "A\\nB" { dims = { M, K }, order = { K, M } }', 'layout "" { dims = { M, K }, order = { K, M } }',
         'layout "A" { doc = "\\\\", dims = { M, K }, order = { K, M }, fill = "*/HACK" }',
         'layout("A" .. string.char(42, 47) .. "HACK") { dims = { M, K }, order = { K, M } }',
         'layout "A" { dims = { _ENV["*/ HACK"], K }, order = { K, _ENV["*/ HACK"] } }',
         'local x = _ENV["*/HACK"] layout "A" { dims = { x, K }, order = { K, x } }']


@pytest.mark.parametrize("spec", SPECS, ids=range(len(SPECS)))
@pytest.mark.parametrize("path", ["s.lua", "s*.lua", "s ä.lua"])
def test_specs(tmp_path, spec, path):
    (tmp_path / path).write_text(spec + "\n")
    for name in ("A", "A*/B", "A\nB", "A*/HACK"):
        for side in ("%s:%s" % (tmp_path / path, name), name):
            compiles_or_refused(tmp_path / "f.c", "--spec", str(tmp_path / path), "--from", "ROW_MAJOR", "--to", side, "--shape", "6,8",
                                "--dtype", "f32")


def test_compilers_are_there():
    """All three, or the comparison above compares nothing."""
    assert [c for c in COMPILERS if not shutil.which(c)] == []


SMALL_STACK = """
#include <pthread.h>
#include "f.c"
static unsigned char dst[400], src[400];
static void *work(void *p) { return f(dst, src, 20, 20) ? p : dst; }
int main(void)
{
    pthread_attr_t a;
    pthread_t t;
    void *done = 0;
    pthread_attr_init(&a);
    return pthread_attr_setstacksize(&a, 128 << 10) || pthread_create(&t, &a, work, 0) || pthread_join(t, &done) || done != dst;
}
"""


@pytest.mark.parametrize("options", ["gcc -O3", "gcc -O3 -march=native", "clang -O2", "clang -O3 -mavx2"])
def test_a_small_call_needs_little_stack(tmp_path, options):
    """The buffers of large transposes are no part of it: a thread has 128 KB where the C library is musl."""
    emit(tmp_path/"f.c", "--from", "ROW_MAJOR", "--to", "COL_MAJOR", "--shape", "M,K", "--dtype", "u8", "--name", "f", "--threads", "1")
    (tmp_path/"t.c").write_text(SMALL_STACK)
    subprocess.run([*options.split(), "-o", tmp_path/"t", tmp_path/"t.c", "-lpthread"], check=True)
    assert subprocess.run([tmp_path/"t"]).returncode == 0


@pytest.mark.parametrize("compiler", ["gcc -std=c99", "g++ -xc++ -std=c++17"])
def test_dims_named_as_parameters_are(tmp_path, compiler):
    """Extents that are left to run time are parameters beside those of the buffers and of the part."""
    relayout(tmp_path / "f.c", ("(dst,src,part,parts){dst, src, part, parts}", "(dst,src,part,parts){parts, part, src, dst}", ("dst", "src", "part", "parts"), "f32"))
    subprocess.run([*compiler.split(), "-Wall", "-Wextra", "-Werror", "-fsyntax-only", tmp_path / "f.c"], check=True)


@pytest.mark.parametrize("names", ["dst src part parts", "x extents dst_bytes src_bytes"])
def test_the_jit_takes_any_names(names):
    with ravel.Context() as cx, cx.plan("(%s){%s}" % (names.replace(" ", ","), names.replace(" ", ", ")),
                                        "(%s){%s}" % (names.replace(" ", ","), ", ".join(names.split()[::-1])), (-1, -1, -1, -1), "f32") as plan:
        x = np.arange(2*3*4*5, dtype="f4").reshape(2, 3, 4, 5)
        got = ravel.PlanAt(plan, x.shape).run(x.view(np.uint8).reshape(-1))
        assert np.array_equal(got.view("f4"), x.transpose(3, 2, 1, 0).reshape(-1))
