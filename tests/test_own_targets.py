"""Tables for languages that ravel does not come with, by the guide in templates/README.md (examples/targets): WGSL, held against its grammar, and checked and
run by wgpu where that is installed (python3 -m pip install wgpu); Metal, by clang, whose C++ for OpenCL has the same address spaces."""

import functools
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest

import conform
import grids as G
import ravel
from test_glsl import BELOW, MORE, whole

HERE = ravel.ROOT / "tests"
WGSL, METAL = (ravel.ROOT / "examples/targets" / name for name in ("wgsl.lua", "metal.lua"))
RUNTIME = [("NCHW", "NHWC", "N,67,H,W", 16), ("NCHW", "NC1HWC0", "N,71,H,W", 16), ("NHWC", "NCHW", "N,C,H,W", 32), ("NCHW", "NHWC", "N,C,H,W", 8), ("ROW_MAJOR", "COL_MAJOR", "M,K", 4)]
ARRAYS = [("ROW_MAJOR(9,40)[idx]", "ROW_MAJOR", "6,40", 32), ("ROW_MAJOR(9,N)[idx]", "ROW_MAJOR", "6,N", 8)]
CASES = G.CASES[::3] + MORE + BELOW


def emit(path, target, *args):
    r = subprocess.run([G.RAVEL, "emit", *args, "--target", target, "--name", path.stem, "-o", path], capture_output=True, text=True)
    assert r.returncode == 0, r.stderr
    return path


def relayout(folder, target, i, case):
    a, b, shape, bits = case
    return emit(folder / ("open%d.txt" % i), target, "--from", a, "--to", b, "--shape", shape, "--dtype", ravel.DTYPE[bits])


def index(folder, target):
    """The functions of conform.py."""
    out = []
    for i, (kind, _, layout, shape, bits) in enumerate(conform.INDEX):
        out.append(emit(folder / ("index%d.txt" % i), target, "--kind", kind, "--to", layout, "--shape", ",".join(map(str, shape)), "--dtype", ravel.DTYPE[bits]))
    return out


@pytest.fixture(scope="module")
def wgsl(tmp_path_factory):
    """(kernels, files of all)"""
    folder = tmp_path_factory.mktemp("wgsl")
    ks = G.kernels(folder, WGSL, CASES)
    files = [relayout(folder, WGSL, i, case) for i, case in enumerate(RUNTIME)]
    return ks, [k.path for k in ks] + files + index(folder, WGSL)


# --- WGSL's grammar: which operators may stand side by side without parentheses

RELATIONS = {"<", ">", "<=", ">=", "==", "!="}
SIGNS = re.compile(r"&&|\|\||<<|>>|<=|>=|==|!=|[-+*/%&|^<>~!]|\w+|[()\[\],]")


def mixed(operators):
    """Why these, of one level of parentheses in order, are no expression."""
    seen = set(operators)
    for kind in ({"&"}, {"|"}, {"^"}):
        if seen & kind and seen != kind:
            return "%s with others" % kind
    if seen & {"<<", ">>"} and len(operators) > 1:
        return "a shift with others"
    if {"&&", "||"} <= seen:
        return "&& and ||"
    for part in re.split(r"&&|\|\|", " ".join(operators)):
        if len([x for x in part.split() if x in RELATIONS]) > 1:
            return "two relations"
    return ""


def wrong_levels(expression):
    """Each level of brackets whose operators WGSL does not allow together, and negative unsigned numbers."""
    levels, out, last = [[]], [], None
    for sign in SIGNS.findall(expression):
        operand = last is not None and (last in ")]" or re.match(r"\w", last))
        if sign in "([":
            levels.append([])
        elif sign in ")]" or sign == ",":
            out.append(mixed(levels.pop()))
            levels += [[]] if sign == "," else []
        elif not re.match(r"\w", sign):
            if operand:
                levels[-1].append(sign)
            elif sign == "-" and re.search(r"\du", expression):
                out.append("a minus before an unsigned number")
        last = sign
    return [x for x in out + [mixed(level) for level in levels] if x]


def expressions(text):
    """What stands in statements, without comments, types and the heads of functions."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.S)
    for line in text.splitlines():
        if re.match(r"\s*(fn|var<|@)", line) and "{ return" not in line:
            continue
        line = re.sub(r"^.*\{ return|: (u32|i32|vec\du|array<[^>]*>)|->.*?\{", " ", line)
        for part in re.split(r"[;{}]|(?<![<>=!])=(?!=)", line):
            yield re.sub(r"^\s*(let|var|if|else|for|return)\b", "", part)


def test_the_grammar_of_wgsl(wgsl):
    for path in wgsl[1]:
        for x in expressions(path.read_text()):
            assert not wrong_levels(x), (x, wrong_levels(x), path.read_text()[:300])


@pytest.mark.parametrize("expression, why", [("a >> b & 3u", "with others"), ("a << 1u + b", "shift"), ("a | b << 2u", "with others"), ("a & b | c", "with others"),
                                             ("f(a ^ b*2u)", "with others"), ("-16u*a + 1u", "minus"), ("a < b && c || d", "&& and"), ("a << 1u << b", "shift")])
def test_what_the_grammar_forbids(expression, why):
    assert why in " ".join(wrong_levels(expression))
    assert not wrong_levels("((a >> b) & 3u) + f((c | d), a*b - 1u)/2u")


# --- by wgpu

@functools.cache
def no_wgpu():
    r = subprocess.run([sys.executable, HERE / "wgpu_run.py"], input="", capture_output=True, text=True)
    print(r.stdout)
    return "" if r.returncode == 0 else r.stdout.strip() or r.stderr


def run(lines):
    if no_wgpu():
        pytest.skip(no_wgpu())
    r = subprocess.run([sys.executable, HERE / "wgpu_run.py"], input="".join(line + "\n" for line in lines), capture_output=True, text=True, timeout=600)
    assert r.returncode == 0 and "wrong" not in r.stdout, r


def test_every_text_is_wgsl(wgsl):
    run("%s %s 1 1 1 - -" % (path, path.stem) for path in wgsl[1])


def test_every_case_by_wgpu(tmp_path, wgsl):
    lines, want = [], {}
    for k in wgsl[0]:
        src, after = whole(k.data(), room=256)
        src.tofile(tmp_path / (k.entry + ".src"))
        np.full(after.size, ravel.POISON, np.uint8).tofile(tmp_path / (k.entry + ".dst"))
        want[k] = after
        lines.append("%s %s %d %d %d %s %s" % (k.path, k.entry, *k.manifest["grid"], tmp_path / (k.entry + ".src"), tmp_path / (k.entry + ".dst")))
    run(lines)
    assert [k.case for k in want if not np.array_equal(np.fromfile(tmp_path / (k.entry + ".dst"), np.uint8), want[k])] == []


def test_rows_of_wgsl(wgsl):
    """Buffers are of words only, and each row has a case."""
    rows = {box["by"] for k in wgsl[0] for box in k.manifest["boxes"]}
    assert rows >= {"words", "piece", "tile", "shift", "slab", "fuse", "run", "gather", "loops", "inverse"}
    texts = "".join(k.path.read_text() for k in wgsl[0])
    for part in ("load8(", "load16(", "store16(", "var<workgroup> tile: array<vec4u, ", "permute(", "workgroupBarrier();"):
        assert part in texts
    assert all(k.manifest["arguments"][i]["binding"] == i for k in wgsl[0] for i in (0, 1))


# --- Metal

CLANG = ["clang", "-x", "cl", "-cl-std=clc++", "-Xclang", "-finclude-default-header", "-I", HERE / "metal", "-fsyntax-only", "-Wall", "-Werror",
         "-Wno-unknown-attributes", "-Wno-unused-function", "-Wno-unused-variable"]


def metal(files):
    if not shutil.which("clang"):
        pytest.skip("clang is not installed")
    r = subprocess.run([*CLANG, *files], capture_output=True, text=True)
    assert r.returncode == 0, r.stderr[:3000]


def test_every_text_is_metal(tmp_path):
    files = [k.path for k in G.kernels(tmp_path, METAL, G.CASES[1::4] + MORE)] + index(tmp_path, METAL)
    files += [relayout(tmp_path, METAL, i, case) for i, case in enumerate(RUNTIME + ARRAYS)]
    for i, (kind, a, b, shape, bits) in enumerate(conform.FRAGMENTS):
        files.append(emit(tmp_path / ("part%d.txt" % i), METAL, "--kind", kind, "--from", a, "--to", b, "--shape", ",".join(map(str, shape)), "--dtype", ravel.DTYPE[bits]))
    assert len(files) > 70
    metal(files)


def test_clang_sees_address_spaces(tmp_path):
    path = relayout(tmp_path, METAL, 0, ("ROW_MAJOR", "COL_MAJOR", "64,64", 32))
    if not shutil.which("clang"):
        pytest.skip("clang is not installed")
    text = path.read_text()
    for old, new in (("device const uint2 *)src", "threadgroup const uint2 *)src"), ("threadgroup_barrier(", "barier(")):
        assert old in text
        path.write_text(text.replace(old, new))
        assert subprocess.run([*CLANG, path], capture_output=True).returncode


@pytest.mark.parametrize("target, words", [(WGSL, "fn let loop dst tile workgroupBarrier"), (METAL, "kernel device uchar texture2d half metal")])
def test_kept_names(tmp_path, target, words):
    for word in words.split():
        r = subprocess.run([G.RAVEL, "emit", "--from", "NCHW", "--to", "NHWC", "--shape", "2,3,4,5", "--dtype", "f32", "--target", target, "--name", word, "-o", tmp_path / "o"],
                           capture_output=True, text=True)
        assert r.returncode == 2 and word in r.stderr, word
