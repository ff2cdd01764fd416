"""emit --list: many conversions in one file of C or C++, with a header and a depfile; what the text says of itself; machines that it refuses."""
import ctypes as ct
import random
import re
import shlex
import subprocess

import numpy as np
import pytest

import draw
import generated as G
import ravel

RAVEL = str(ravel.BUILD / "ravel")
WARN = "-Wall -Wmissing-declarations -Werror".split()
COMPILERS = {"c": ["gcc", "-std=c99", "-Wextra", "-Wconversion", "-Wmissing-prototypes"], "c++": ["g++", "-x", "c++", "-std=c++17", "-Wextra", "-Wpedantic"]}


def emit(*args, code=0):
    r = subprocess.run([RAVEL, "emit", *map(str, args)], capture_output=True, text=True, timeout=120)
    assert r.returncode == code, r
    return r.stdout if code == 0 else r.stderr


def listed(folder, lines):
    path = folder / "kernels.txt"
    path.write_text("".join(line + "\n" for line in lines))
    return path


def nc1hwc0(x, c0):
    n, c, h, w = x.shape
    out = np.zeros((n, -(-c // c0) * c0, h, w), x.dtype)
    out[:, :c] = x
    return out.reshape(n, -1, c0, h, w).transpose(0, 1, 3, 4, 2)


LINES = ["# what the program needs",
         "--from NCHW --to NHWC --shape 2,3,5,7 --dtype f32",
         "",
         "  -F NCHW -T 'NC1HWC0{C0=32}' -s 2,40,5,7 -d f16   # in blocks of 32",
         "--from=NCHW --to=NC1HWC0 --shape=N,C,5,W --dtype=f16 --name \"blocked\"",
         "--from '(M,K){M, K}' --to \"(M,K){K, M}\" --shape 300,200 --dtype u8 --name turned"]


@pytest.mark.parametrize("language", COMPILERS)
def test_functions_of_a_list(tmp_path, language):
    """Compiled as C and as C++, without a warning and with the header, against numpy; helpers occur once."""
    c, so = tmp_path / "all.c", tmp_path / "all.so"
    emit("--list", listed(tmp_path, LINES), "-o", c, "--header", tmp_path / "all.h")
    text = c.read_text()
    assert len(re.findall(r"^ravel_store1\(", text, re.M)) == 1
    user = tmp_path / "user.c"
    user.write_text('#include "all.h"\n#include "all.h"\n' + text)
    subprocess.run([*COMPILERS[language], *WARN, "-O1", "-shared", "-fPIC", "-o", so, user], check=True)
    lib = ct.CDLL(str(so))

    def run(name, x, want, *extents):
        out = np.empty_like(want)
        f = getattr(lib, name)
        assert f(ct.c_void_p(out.ctypes.data), ct.c_void_p(x.ctypes.data), *map(ct.c_int64, extents)) == 0 or not extents
        assert np.array_equal(out, want), name

    rng = np.random.default_rng(1)
    x = rng.integers(0, 2**32, (2, 3, 5, 7), np.uint32)
    run("nchw_to_nhwc_2x3x5x7_f32", x, x.transpose(0, 2, 3, 1).copy())
    x = rng.integers(0, 2**16, (2, 40, 5, 7), np.uint16)
    run("nchw_to_nc1hwc0_c0_32_2x40x5x7_f16", x, nc1hwc0(x, 32).copy())
    run("blocked", x, nc1hwc0(x, 16).copy(), 2, 40, 7)
    x = rng.integers(0, 256, (300, 200), np.uint8)
    run("turned", x, x.T.copy())


def test_header_says_what_each_function_does(tmp_path):
    """Above its prototypes stands the command that makes it alone; it is no comment's end, whatever the layout's text."""
    lines = [*LINES, "--from '{M, K}' --to '{M, K//4, K%4, fill = -1}' --shape 2,3 --dtype i8 --name filled"]
    emit("--list", listed(tmp_path, lines), "-o", tmp_path / "all.c", "--header", tmp_path / "all.h")
    header = (tmp_path / "all.h").read_text()
    said = re.findall(r"^/\* ravel emit (.*) --name (\w+)\n \* .*\*/\n(?:void|int) (\w+)\(", header, re.M)
    assert [name for _, name, _ in said] == ["nchw_to_nhwc_2x3x5x7_f32", "nchw_to_nc1hwc0_c0_32_2x40x5x7_f16", "blocked", "turned", "filled"]
    for options, name, function in said:
        assert function.startswith(name)
        emit(*shlex.split(options), "--name", name, "-o", tmp_path / "one.c", "--header", tmp_path / "one.h")
        assert re.findall(r"^(?:void|int) %s\b.*" % name, (tmp_path / "one.h").read_text(), re.M) == re.findall(r"^(?:void|int) %s\b.*" % name, header, re.M)


def test_names_of_inline_layouts(tmp_path):
    """Dims, numbers and operators; what says too much, or the same as another, is given a name."""
    pair = "--from '%s' --to '%s' --shape 20,30 --dtype u8"
    lines = [pair % ("{M, K}", "{M//4, K, M%4}"), pair % ("(M,K){M, K}", "( M , K ){ K//8, M, K % 8 }"), pair % ("ROW_MAJOR", "{M, (K//2%4) ~ (M%4), K%2, K//8}")]
    names = ["m_k_to_m_div_4_k_m_mod_4_20x30_u8", "m_k_m_k_to_m_k_k_div_8_m_k_mod_8_20x30_u8",
             "row_major_to_m_k_div_2_mod_4_xor_m_mod_4_k_mod_2_k_div_8_20x30_u8"]
    assert re.findall(r"^void (\w+)\(void \*dst", emit("--list", listed(tmp_path, lines)), re.M) == names
    skews = [pair % ("{M, K}", "{M, (K %s M)%%30}" % op) for op in "+-"] + [pair % ("{M, K}", "{M, (K + 3*M)%30}"), pair % ("{M, K}[::-1]", "{M, K}")]
    assert re.findall(r"^void (\w+)\(void \*dst", emit("--list", listed(tmp_path, skews)), re.M) == [
        "m_k_to_m_k_plus_m_mod_30_20x30_u8", "m_k_to_m_k_minus_m_mod_30_20x30_u8", "m_k_to_m_k_plus_3_times_m_mod_30_20x30_u8",
        "m_k_minus_1_to_m_k_20x30_u8"]
    long = pair % ("{M, K}", "{" + ", ".join("%s//%d%%2" % (d, 2**b) for d in "MK" for b in range(4, -1, -1)) + "}")
    assert "kernels.txt:1: a function of these layouts has no name by itself: give one with --name" in emit("--list", listed(tmp_path, [long]), code=2)
    assert "kernels.txt:2: the name m_k_to_m_k_20x30_u8 is that of line 1" in emit("--list", listed(tmp_path, [pair % ("{M, K}", "{M, K}")] * 2), code=2)


def test_thirty_do_not_repeat_helpers(tmp_path):
    """All conversions of generated/ in one unit: less than half of their files' text.  Names come of themselves, and none clash."""
    lines = ["--from '%s' --to '%s' --shape %s --dtype %s%s" % (*r, " --name blocks" if r[0][0] == "(" else "") for r in G.RELAYOUTS.values()]
    text = emit("--list", listed(tmp_path, lines))
    assert len(text) < sum(p.stat().st_size for p in G.FOLDER.glob("*.c")) / 2
    names = re.findall(r"^void (\w+)\(void \*dst, const void \*src\);$", text, re.M)
    assert len(set(names)) == len(names) == len(lines) and "row_major_to_blocked_rr_bm_32_bn_32_1024x768_f32" in names
    subprocess.run(["g++", "-x", "c++", "-std=c++17", *WARN, "-Wpedantic", "-O0", "-mavx2", "-fsyntax-only", "-"], input=text, text=True, check=True)


def drawn(rng, count):
    """Pairs of layouts that emit takes: some large enough for tiles, some with an extent left to run time."""
    dtypes = {1: "u1", 2: "u2", 4: "u4", 8: "u8", 16: "f16", 32: "f32", 64: "f64", 128: "c128"}

    def one(i):
        case = draw.case(rng)
        shape = list(map(str, case["shape"]))
        if rng.random() < 0.3:
            shape[rng.randrange(len(shape))] = rng.choice(["N", "960", "1000"])
        options = ["--from", case["from"], "--to", case["to"], "--shape", ",".join(shape), "--dtype", dtypes[case["bits"]], "--name", "f%d" % i]
        taken = subprocess.run([RAVEL, "emit", *options, "-o", "/dev/null"], capture_output=True, timeout=60).returncode == 0
        return " ".join("'%s'" % o for o in options) if taken else None

    return draw.taken(count, one)


def test_draws_end():
    """The last draw counts too, and a generator of which nothing is taken is an error."""
    draws = iter([None]*9 + ["a"])
    assert draw.taken(1, lambda _: next(draws)) == ["a"]
    with pytest.raises(AssertionError, match="^1 of 20 draws are of use, not 2$"):
        draw.taken(2, lambda i: None if i else "a")


def test_any_thirty_are_one_unit(tmp_path):
    """Of pairs drawn at random: shared names do not clash, and no compiler warns, as C or as C++."""
    seed = 21
    print("seed", seed)
    path = tmp_path / "all.c"
    emit("--list", listed(tmp_path, drawn(random.Random(seed), 30)), "-o", path)
    for compiler in (["gcc", "-std=c99", "-mavx2"], ["g++", "-x", "c++", "-std=c++17", "-Wpedantic"],
                     ["clang", "-x", "c++", "-std=c++17", "-Wpedantic"]):
        more = [] if compiler[0] == "g++" else ["-Wmissing-prototypes"]
        subprocess.run([*compiler, *WARN, *more, "-Wextra", "-fsyntax-only", path], check=True)


INCLUDES = {"kernels": "kernels_isa.h", "steps of sparse conversions": "sparse_steps.c"}
VBMI = "-mavx512bw -mavx512vl -mavx512vbmi -mgfni"
OPTIONS = {"kernels": ["-DRAVEL_PLAIN", "-msse2", "-mavx2", "-mavx512bw -mavx512vl", VBMI, VBMI + " -DRAVEL_GATHER"], "steps of sparse conversions": [""]}
AS_CPP = "-std=c++17 -Wextra -fsyntax-only -O0"
AS_C = "-std=gnu11 -Wextra -Wconversion -Wsign-conversion -fsyntax-only -O0"


@pytest.mark.parametrize("compiler", ["g++ -Wpedantic " + AS_CPP, "clang++ -pedantic-errors " + AS_CPP, "gcc " + AS_C, "clang " + AS_C],
                         ids=["g++", "clang++", "gcc", "clang"])
@pytest.mark.parametrize("what", INCLUDES)
def test_all_text_alone(tmp_path, what, compiler):
    """All that emit writes around conversions, for each instruction set: as C++17 without an extension but those of vectors, and as C
    without a warning of conversions, where no compiler's optimisation decides what an intrinsic is."""
    templates = re.findall(r'(?m)^#include "(?:\.\./templates/.*|kernels_text\.h)"$', (ravel.ROOT / "runtime" / INCLUDES[what]).read_text())
    assert len(templates) > 5
    unit = tmp_path / ("all.cc" if "++" in compiler else "all.c")
    unit.write_text("\n".join(["#include <stdint.h>", "#include <stdlib.h>", "#include <string.h>", *templates]))
    for options in OPTIONS[what]:
        subprocess.run([*compiler.split(), *WARN, *options.split(), "-Wno-unused-function", "-I", ravel.BUILD / "runtime",
                        "-I", ravel.ROOT / "runtime", unit], check=True)


def test_same_functions_as_alone(tmp_path):
    """A function of a list is the text that emit writes for it alone."""
    options = "--from NCHW --to NHWC --shape N,64,H,W --dtype f32 --name f"
    both = emit("--list", listed(tmp_path, [options, "--from NHWC --to NCHW --shape 1,2,3,4 --dtype f32"]))
    alone = emit(*options.split())
    own = alone[alone.index("/* bytes of both buffers"):]
    assert own in both and alone.splitlines()[0] in both


def test_check_proves_each(tmp_path):
    path = listed(tmp_path, LINES[4:])
    said = emit("--list", path, "-o", tmp_path / "all.c", "--check", "gcc -O1")
    assert said.count("yes: ") == 2 and "N,C,5,W" in said
    broken = tmp_path / "cc"
    broken.write_text("#!/bin/sh\nfor f; do :; done\nsed -i 's/^\\( *\\)ravel_transpose1(dst/\\1if (0) &/' \"$f\"\nexec gcc -w \"$@\"\n")
    broken.chmod(0o755)
    r = subprocess.run([RAVEL, "emit", "--list", path, "-o", tmp_path / "bad.c", "--check", broken], capture_output=True, text=True)
    assert r.returncode == 1 and "no: " in r.stdout and not (tmp_path / "bad.c").exists()


def test_depfile_is_a_rule_of_make(tmp_path):
    """Names with spaces and $; all files that were read; a file that is gone does not stop Make."""
    folder = tmp_path / "a $x"
    folder.mkdir()
    for name in ("a.lua", "b.lua"):
        (folder / name).write_text("layout '%s' { dims = { M, K }, order = { K, M } }" % name[0].upper())
    path = listed(folder, ["--from '%s:A' --to B --shape 2,3 --dtype u8" % (folder / "a.lua"), "--from A --to A --shape 2,3 --dtype u8"])
    rule = folder / "all.d"
    emit("--list", path, "--spec", folder / "b.lua", "-o", folder / "all.c", "--header", folder / "all.h", "--depfile", rule)
    makefile = tmp_path / "Makefile"
    makefile.write_text("include %s\n%s:\n\t@echo made: $(words $^)\n" % (str(rule).replace(" ", "\\ ").replace("$", "$$"), str(folder / "all.c").replace(" ", "\\ ").replace("$", "$$")))

    def made():
        return subprocess.run(["make", "-s", "-f", makefile], capture_output=True, text=True, check=True, cwd=tmp_path).stdout

    assert "made" not in made()
    (folder / "b.lua").unlink()
    assert "made" in made()


OK = "--from NCHW --to NHWC --shape 2,3,5,7 --dtype f32"


@pytest.mark.parametrize("line, says", [
    ("--from NCHW", ":1: --from, --to, --shape and --dtype are needed"),
    ("--frm NCHW", "'--frm' is not an option of a conversion"),
    ("NCHW NHWC", "'NCHW' is not an option of a conversion"),
    (OK + " --kind offset", "'--kind' is not an option"),
    (OK + " --name", "--name lacks its value"),
    (OK + " --from NHWC", "--from is given twice"),
    ("--from 'NCHW", "a quote ' is not closed"),
    (OK.replace("f32", "f33"), ":1: unknown dtype 'f33'"),
    (OK + " --name int", "'int' cannot name a C function"),
    (OK + "\n# that again:\n" + OK, ":3: the name nchw_to_nhwc_2x3x5x7_f32 is that of line 1"),
    ("# nothing", "has no conversion: a line is as --from NCHW"),
    (OK + "\0", "a byte is 0"),
    ("--from NCHW --to '{N//2, C}' --shape 2,3,5,7 --dtype f32 --name f", ":1: "),
])
def test_lists_that_are_wrong(tmp_path, line, says):
    out = tmp_path / "f.c"
    said = emit("--list", listed(tmp_path, [line]), "-o", out, "--header", tmp_path / "f.h", code=2)
    assert says in said and not out.exists() and not (tmp_path / "f.h").exists()


@pytest.mark.parametrize("args, says", [
    (["--from", "NCHW"], "are in the lines of"),
    (["--target", "cuda"], "--list needs --target c"),
    (["--kind", "offset"], "all are conversions"),
    (["--header", "x", "-o", "x"], "cannot both be x"),
    (["--depfile", "x"], "--depfile needs the name of the output"),
    (["--depfile", "x:y", "-o", "z.c"], "Make cannot read the name 'x:y'"),
])
def test_options_beside_a_list(tmp_path, args, says, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if args[-1] == "z.c":
        args = ["--depfile", "d", "-o", "x:y"]
    assert says in emit("--list", listed(tmp_path, [OK]), *args, code=2)


def test_text_says_what_it_is(tmp_path):
    """The version, that ravel's licence does not cover it, the command and both layouts; for the targets of devices too."""
    for target in ("c", "cuda", "opencl", "hip", "glsl", "blocks", "bursts"):
        text = emit(*OK.split(), "--target", target)
        head = text[:text.index("*/")] if target != "glsl" else text
        assert "ravel emit --from NCHW --to NHWC" in head and "made by ravel 0.1.0, whose licence does not cover this file" in head, target
        assert "src NCHW: 105*N + 35*C + 7*H + W" in head and "dst NHWC: " in head


def preprocessed(tmp_path, shape, *flags):
    """The errors of a compiler for another machine, which has only the headers of the compiler."""
    (tmp_path / "string.h").write_text("")
    text = emit("--from", "NCHW", "--to", "NHWC", "--shape", shape, "--dtype", "f32")
    return subprocess.run(["clang", "-E", "-P", "-ffreestanding", "-nostdlibinc", "-I", tmp_path, *flags, "-o", "-", "-"], input=text, capture_output=True, text=True).stderr


def test_machines_that_are_refused(tmp_path):
    assert preprocessed(tmp_path, "64,64,1024,1024") == ""
    assert preprocessed(tmp_path, "2,3,5,7", "--target=i386-linux-gnu") == ""
    assert "nchw_to_nhwc: a buffer of 17179869184 bytes does not fit this machine's address space" in preprocessed(tmp_path, "64,64,1024,1024", "--target=i386-linux-gnu")
    assert "little-endian machines" in preprocessed(tmp_path, "2,3,5,7", "--target=powerpc64-linux-gnu")
    assert "bytes of 8 bits" in preprocessed(tmp_path, "2,3,5,7", "-Dstdint_h", "-U__UINT8_TYPE__", "-D__CLANG_STDINT_H", "-include", "stddef.h")
