"""Tables of targets: the list of fields in the README and that in C are one; what is wrong with a table of a user's is said with file, field and what
would be right; grids of rows; names that a language keeps for itself."""

import itertools
import os
import random
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest

import grid_runs
import grids as G
import ravel
from sanitize import SANITIZE

SEED = int(os.environ.get("RAVEL_SEED", "20240611"))
README = (ravel.ROOT / "templates/README.md").read_text()
MODELS = {"Functions": "FUNCTIONS", "Blocks": "BLOCKS", "Bursts": "BURSTS"}


def rows():
    """{model: {field: (must, kind, names)}} as target.def has them."""
    groups = {"ALL": ["FUNCTIONS", "BLOCKS", "BURSTS"], "WRITTEN": ["FUNCTIONS", "BLOCKS"]}
    out = {m: {} for m in groups["ALL"]}
    text = (ravel.ROOT / "compiler/emit/target.def").read_text()
    found = re.findall(r'^(?:D\((\w+), +(\w+), +(\w+), +(\w+), +"(.*)"\)|N\((\w+), +(\w+), +(\w+), .*\))$', text, re.M)
    assert len(found) == len(re.findall(r"^[DN]\(", text, re.M)) > 100
    for models, must, kind, name, names, m, n_must, n_name in found:
        for model in groups.get(models or m, [models or m]):
            out[model][name or n_name] = ((must or n_must) == "MUST", kind or "NUMBER", frozenset(names.split()))
    return out


FIELDS = rows()


def words(cell):
    return [w for part in re.findall(r"`([^`]*)`", cell) for w in part.split()]


def told():
    """{model: {field: names}} as the README has them."""
    head, *sections = re.split(r"^## ", README, flags=re.M)
    out = {m: {} for m in MODELS.values()}
    for section in [head, *sections]:
        title = section.split("\n")[0]
        for table in re.findall(r"^\| field.*(?:\n\|.*)+", section, re.M):
            columns = [c.strip() for c in table.split("\n")[0].strip("|").split("|")]
            for line in table.split("\n")[2:]:
                cells = [c.strip() for c in line.strip("|").split("|")]
                assert len(cells) == len(columns), line
                for field in words(cells[0]):
                    for model in [MODELS[title]] if title in MODELS else MODELS.values():
                        out[model].setdefault(field, set()).add(frozenset(words(cells[-1]) if columns[-1] == "names" else ()))
    return out


@pytest.mark.parametrize("model", MODELS.values())
def test_the_readme_has_every_field(model):
    """... and no other, each with the names that may stand in it."""
    said = told()[model]
    assert set(said) == set(FIELDS[model]), set(said) ^ set(FIELDS[model])
    for field, (_, _, names) in FIELDS[model].items():
        assert said[field] == {names}, (field, said[field], names)


# --- what is said of a table

def emit(folder, table, *more, a="NCHW", b="NHWC", shape="1,2,3,4", dtype="f32"):
    """The program's answer; the table is FOLDER/mine.lua."""
    (folder / "mine.lua").write_text(table)
    return subprocess.run([G.RAVEL, "emit", "--from", a, "--to", b, "--shape", shape, "--dtype", dtype, "--target", "mine.lua", "-o", folder / "o", *more],
                          capture_output=True, text=True, cwd=folder)


def says(r):
    """The one sentence it is refused with."""
    assert r.returncode == 2 and r.stderr.startswith("ravel: mine.lua: ") and r.stderr.count("\n") == 1, r
    return r.stderr.removeprefix("ravel: mine.lua: ").strip()


LIKE = {"BLOCKS": "cuda", "BURSTS": "bursts"}
ALL = [(m, f) for m in LIKE for f in FIELDS[m]]


def misspelt(rng, word):
    """One letter left out, doubled, another, or two exchanged."""
    i = rng.randrange(len(word) - 1)
    return rng.choice([word[:i] + word[i + 1:], word[:i] + 2*word[i] + word[i + 1:], word[:i] + "q" + word[i + 1:], word[:i] + word[i + 1] + word[i] + word[i + 2:]])


@pytest.mark.parametrize("model", LIKE)
def test_a_misspelt_field_is_told_the_right_one(tmp_path, model):
    """One that is as near as any: distances are counted here by trying all changes of one letter."""
    print("seed", SEED)
    rng, exact = random.Random(SEED), 0
    for field in FIELDS[model]:
        wrong = misspelt(rng, field)
        if wrong in FIELDS["BLOCKS"] or wrong in FIELDS["BURSTS"] or wrong in FIELDS["FUNCTIONS"] or not wrong:
            continue
        sentence = says(emit(tmp_path, 'return { like = "%s", ["%s"] = "" }' % (LIKE[model], wrong)))
        m = re.fullmatch(r"no field '(\w+)'; did you mean '(\w+)'\?", sentence)
        assert m and m[1] == wrong and m[2] in FIELDS[model], (field, sentence)
        assert m[2] == field or near(wrong, m[2]), (field, sentence)
        exact += m[2] == field
    assert exact > 0.8*len(FIELDS[model])


def near(a, b):
    letters = "abcdefghijklmnopqrstuvwxyz_0123456789"
    changes = {a[:i] + a[i + 1:] for i in range(len(a))} | {a[:i] + c + a[i:] for i in range(len(a) + 1) for c in letters}
    changes |= {a[:i] + c + a[i + 1:] for i in range(len(a)) for c in letters} | {a[:i] + a[i + 1] + a[i] + a[i + 2:] for i in range(len(a) - 1)}
    return b in changes


@pytest.mark.parametrize("model", LIKE)
def test_a_wrong_name_is_told_the_right_ones(tmp_path, model):
    for field, (_, kind, names) in FIELDS[model].items():
        if kind != "TEXT" or field in ("like", "model"):
            continue
        parts = {n[1:] for n in names} | {n[:-1] for n in names} | {" ".join(sorted(names))}
        for part in sorted(parts - names - {""}):
            assert " has no ${%s}" % part in says(emit(tmp_path, 'return { like = "%s", ["%s"] = "${%s}" }' % (LIKE[model], field, part)))
        for text in ("${indx}", "${}", "${a b}", "x ${%s" % "name", "$ ${none} {"):
            sentence = says(emit(tmp_path, 'return { like = "%s", ["%s"] = "%s" }' % (LIKE[model], field, text)))
            assert sentence.startswith("field '%s'" % field), sentence
            if "}" in text:
                assert re.match(r"field '\w+' has no \$\{(indx|none|a b|)\}", sentence) and set(re.findall(r"\$\{(\w+)\}", sentence.split(";")[-1])) - {"indx", "none"} == names
        if names:
            assert emit(tmp_path, 'return { like = "%s", ["%s"] = "%s" }' % (LIKE[model], field, " ".join("${%s}" % n for n in names))).returncode == 0, field
    assert emit(tmp_path, 'return { like = "cuda", load = "$ {index} $$ $index ${index}" }').returncode == 0


@pytest.mark.parametrize("value, what", [("true", "boolean"), ("5", "number"), ("0.5", "number"), ("{}", "table"), ("function() end", "function"), ('"text"', "string")])
def test_a_wrong_type_is_told(tmp_path, value, what):
    right = {kind: ("string", "a string") for kind in ("TEXT", "RAW", "NAME", "WORDS", "FILE")}
    right |= {"NUMBER": ("number", "a whole number"), "HELPERS": ("table", "a list"), "PLAN": ("function", "a function of the plan")}
    for model, field in ALL:
        kind = FIELDS[model][field][1]
        if right[kind][0] == what and value != "0.5" or kind == "NUMBER" and what == "string":
            continue
        sentence = says(emit(tmp_path, 'return { like = "%s", ["%s"] = %s }' % (LIKE[model], field, value)))
        assert sentence == "field '%s' is a %s: %s is wanted" % (field, what, right[kind][1]), (field, sentence)


@pytest.mark.parametrize("model", ["BLOCKS", "BURSTS"])
def test_what_is_missing_is_named(tmp_path, model):
    """All that target.def says must be there, and nothing else, by leaving it out of a whole table."""
    whole = {f: '""' for f, (must, kind, _) in FIELDS[model].items() if must and kind == "TEXT"}
    whole |= {f: {"burst": "32", "memory": "4096"}[f] for f, (must, kind, _) in FIELDS[model].items() if must and kind == "NUMBER"}
    whole |= {f: '"x"' for f, (must, kind, _) in FIELDS[model].items() if must and kind == "NAME"}
    whole |= {"model": '"%s"' % model.lower()}
    whole |= {"prologue_text": '""'} if model == "BLOCKS" else {"emit_plan": "function() return '' end"}

    def table(fields):
        return "return { %s }" % ", ".join('["%s"] = %s' % x for x in fields.items())
    assert emit(tmp_path, table(whole)).returncode == 0
    for field in whole:
        less = {f: v for f, v in whole.items() if f != field}
        want = "prologue" if field == "prologue_text" else field
        assert says(emit(tmp_path, table(less))) == "the table lacks '%s'" % want
    five = dict(itertools.islice((x for x in whole.items() if x[0] != "model"), 5))
    six = says(emit(tmp_path, table({f: v for f, v in whole.items() if f not in five})))
    assert six == "the table lacks %s" % ", ".join("'%s'" % f for f in five)


@pytest.mark.parametrize("text, sentence", [
    ('return { like = "cudda" }', "like = 'cudda': a target is wanted, one of blocks, bursts, c, cuda, glsl, hip, opencl"),
    ('return { like = "cuda", model = "bursts" }', "like = 'cuda': its model is 'blocks', and this table's is 'bursts'"),
    ('return { like = "hip", model = "bursts" }', "like = 'cuda': its model is 'blocks', and this table's is 'bursts'"),
    ('return { like = "cuda", model = "grid" }', "like = 'cuda': its model is 'blocks', and this table's is 'grid'"),
    ('return { name = "x", model = "grid" }', "there is no model 'grid': there are 'functions', 'blocks' and 'bursts'"),
    ('return { like = "cuda", emit_plan = function() end }', "field 'emit_plan' is of the model 'bursts', and this table's is 'blocks'"),
    ('return { like = "bursts", let = "" }', "field 'let' is of the model 'functions' and 'blocks', and this table's is 'bursts'"),
    ('return { like = "cuda", prologue = "blocks/metal.h" }', "field 'prologue': there is no template 'blocks/metal.h'; a text of yours goes into prologue_text"),
    ('return { like = "cuda", helpers = { { "f", "f.h" } } }', "field 'helpers': there is no template 'f.h'"),
    ('return { like = "cuda", zzzzzzzz = 1 }', "no field 'zzzzzzzz': templates/README.md lists those of 'blocks'"),
    ('return { zzzzzzzz = 1 }', "no field 'zzzzzzzz': templates/README.md lists those of each model"),
    ('return { like = "cuda", ["load\\0"] = "" }', "the name of a field is no text in UTF-8"),
    ('return { like = "cuda", "load" }', "a field has no name, but a number"),
    ('return { model = "bursts", name = "x" }', "the table lacks 'emit_plan', 'comment_open', 'comment_line', 'comment_close', 'burst', 'memory'"),
    # of several the first by name, whatever the order in the table's memory
    ('return { like = "cuda", loadd = 1, array = 2, barier = 3 }', "field 'array' is a number: a string is wanted")])
def test_other_sentences(tmp_path, text, sentence):
    assert says(emit(tmp_path, text)) == sentence


@pytest.mark.parametrize("like", ["cuda", "hip", "opencl", "glsl", "blocks"])
def test_what_a_grid_of_rows_counts_by(tmp_path, like):
    """Where a grid may be folded, the block's number is ${block} in every field that asks for it: else part of the tensor would be left out."""
    for field in ("box_first", "box_open", "block", "block_first"):
        names = " ".join("${%s}" % n for n in FIELDS["BLOCKS"][field][2] - {"block"})
        assert says(emit(tmp_path, 'return { like = "%s", %s = "{ %s" }' % (like, field, names))) == "field '%s' has no ${block}, which 'grid_block_rows' stands in" % field
        assert emit(tmp_path, 'return { like = "%s", %s = "{ %s ${block}" }' % (like, field, names)).returncode == 0
    assert emit(tmp_path, 'return { like = "%s", box_only = "{" }' % like).returncode == 0
    text = (ravel.ROOT / "templates/cuda.lua").read_text()
    bare = re.sub(r', grid_block_rows = "[^"]*"', "", text.replace("${block}", "blockIdx.x"))
    assert emit(tmp_path, bare).returncode == 0


def test_texts_in_which_nothing_is_replaced(tmp_path):
    """What stands before a kernel may be of any language, ${} and all."""
    text = "// ${none} ${ ${} $(x)"
    assert emit(tmp_path, 'return { like = "cuda", prologue_text = "%s\\n", reserved = "kept" }' % text).returncode == 0
    assert text + "\n" in (tmp_path / "o").read_text()
    assert emit(tmp_path, 'return { like = "cuda", reserved = "kept" }', "--name", "kept").returncode == 2


@pytest.mark.parametrize("fields, sentence", [
    ('reserved = "${x} kept"', "field 'reserved': no name can be '${x}': a word or the beginning of words, as in gl_*, is wanted"),
    ('reserved = "kept *_t"', "field 'reserved': no name can be '*_t': a word or the beginning of words, as in gl_*, is wanted"),
    ('reserved = "a**"', "field 'reserved': no name can be 'a**': a word or the beginning of words, as in gl_*, is wanted"),
    ('reserved = "*"', "field 'reserved': no name can be '*': a word or the beginning of words, as in gl_*, is wanted"),
    ('reserved = "x 9x"', "field 'reserved': no name can be '9x': a word or the beginning of words, as in gl_*, is wanted"),
    ('name = ""', "field 'name' is empty: a name is wanted"),
    ('entry = ""', "field 'entry' is empty: a name is wanted"), ('index = ""', "field 'index' is empty: a name is wanted"),
    ('prologue = "blocks/cuda.h", prologue_text = "x"', "fields 'prologue' and 'prologue_text': a kernel has one of them before it"),
])
def test_values_that_mean_nothing(tmp_path, fields, sentence):
    assert says(emit(tmp_path, 'return { like = "cuda", %s }' % fields)) == sentence


@pytest.mark.parametrize("value, sentence", [
    ('{ { "f", "blocks/permute.glsl" }, nil, { "g", "blocks/permute.glsl" } }', "is a list: entries 1, 2, ..., none left out and none by name"),
    ('{ { "f", "blocks/permute.glsl" }, x = { "g", "blocks/permute.glsl" } }', "is a list: entries 1, 2, ..., none left out and none by name"),
    ('{ [0] = { "f", "blocks/permute.glsl" } }', "is a list: entries 1, 2, ..., none left out and none by name"),
    ('{ [1.5] = { "f", "blocks/permute.glsl" } }', "is a list: entries 1, 2, ..., none left out and none by name"),
    ('{ [2] = { "f", "blocks/permute.glsl" } }', "is a list: entries 1, 2, ..., none left out and none by name"),
    ('{ { "f", "blocks/permute.glsl", more = "x" } }', ": each is a list of a symbol and up to 20 files"),
    ('{ { "f", [3] = "blocks/permute.glsl" } }', ": each is a list of a symbol and up to 20 files"),
    ('{ { 5, "blocks/permute.glsl" } }', ": each is a list of strings, and one has a number"),
    ('{ { "f", 5 } }', ": each is a list of strings, and one has a number"),
    ('{ { "f", "blocks/permute.glsl" }, { "g", "blocks/permute.glsl" } }', None), ("{}", None)])
def test_helpers_are_a_list(tmp_path, value, sentence):
    r = emit(tmp_path, 'return { like = "cuda", helpers = %s }' % value)
    if sentence is None:
        assert r.returncode == 0, r
        return
    assert says(r).removeprefix("field 'helpers'").strip() == sentence


def test_like_a_target_that_is_like_another(tmp_path):
    assert emit(tmp_path, 'return { like = "hip" }').returncode == 0
    mine = (tmp_path / "o").read_text()
    r = subprocess.run([G.RAVEL, "emit", "--from", "NCHW", "--to", "NHWC", "--shape", "1,2,3,4", "--dtype", "f32", "--target", "hip", "-o", "-"], capture_output=True, text=True)
    assert mine == r.stdout.replace("--target hip", "--target 'mine.lua'") and "hip_runtime" in mine


def test_every_name_is_replaced(tmp_path):
    """A table that uses all names that its fields have: none is left over, in kernels of every row and in functions of each kind."""
    text = (ravel.ROOT / "templates/blocks.lua").read_text().replace("return {", "local t = {", 1)
    marks = {f: " ".join("${%s}" % n for n in sorted(names)) for f, (_, kind, names) in FIELDS["BLOCKS"].items() if kind == "TEXT" and names}
    text += "".join('\nt["%s"] = (t["%s"] or "") .. " @%s %s@ "' % (f, f, f, m) for f, m in marks.items())
    apart = {"load_shared_2", "load_shared_4", "store_shared_2", "store_shared_4"}      # instead of load_shared and store_shared, for vectors
    text += '\nreturn t\n'
    seen = set()
    for i, more in enumerate([["--from", a, "--to", b, "--shape", ",".join(map(str, shape)), "--dtype", ravel.DTYPE[bits]] for a, b, shape, bits in G.CASES] + [
            ["--from", "NCHW", "--to", "NC1HWC0", "--shape", "N,71,H,W", "--dtype", "f16"],
            *[["--from", "ROW_MAJOR(20,6)[skip take]", "--to", "ROW_MAJOR(30,6)[i32 put]", "--shape", shape, "--dtype", "f32"] for shape in ("9,6", "N,6")],
            ["--from", "{A, B}", "--to", "(A,B){B, A}", "--shape", "A,B", "--dtype", "f32", "--batch"], ["--from", "{A, B}", "--to", "(A,B){B, A}", "--shape", "8,8", "--dtype", "f32", "--batch"],
            ["--kind", "offset", "--to", "NC1HWC0", "--shape", "2,20,5,7", "--dtype", "f16"], ["--kind", "inverse", "--to", "NC1HWC0", "--shape", "2,20,5,7", "--dtype", "f16"],
            ["--kind", "inverse", "--to", "SW128", "--shape", "8,64", "--dtype", "f16"], ["--kind", "offset", "--to", "{A, B}", "--shape", "1,1", "--dtype", "f16"],
            ["--kind", "load", "--from", "ROW_MAJOR", "--to", "MMA_A", "--shape", "20,64", "--dtype", "f16"],
            ["--kind", "store", "--from", "MMA_C", "--to", "ROW_MAJOR", "--shape", "64,20", "--dtype", "f32"]]):
        none = ["shared_in_file"]*(i % 2) + sorted(apart)*(i//2 % 2)
        (tmp_path / "mine.lua").write_text(text.replace("return t\n", "".join("t.%s = nil\n" % f for f in none) + "return t\n"))
        r = subprocess.run([G.RAVEL, "emit", *more, "--target", tmp_path / "mine.lua", "-o", tmp_path / "o"], capture_output=True, text=True)
        assert r.returncode == 0, r
        out = (tmp_path / "o").read_text()
        assert "${" not in out, re.findall(r".*\$\{.*", out)[:3]
        seen |= set(re.findall(r"@(\w+) [^@]", out))
    assert set(marks) == seen, set(marks) - seen


# --- grids of rows

ROWS = [("(A,B){A, B}", "(A,B){max(A - 10, 0), min(A, 10), B//6, B%6}", (411, 6), 32), ("(A,B,C){A, B, C}", "(A,B,C){B//3, A, B%3, C, fill = 5}", (11, 10, 23), 32),
        ("(A,B){A, B}", "(A,B){max(A - 10, 0), min(A, 10), B}", (1280, 4), 32)]      # whole blocks, and a row that is not full
MIRROR = ("(A,B){A, B}", "(A,B){A, 130 - B}", (256, 131), 8)


def narrow(folder, like, side):
    (folder / (like + "_rows.lua")).write_text('return { like = "%s", grid_side = %d }' % (like, side))
    return str(folder / (like + "_rows.lua"))


def test_rows_in_plain_c(tmp_path):
    cases = [c for c in G.CASES if np.prod(c[2]) > 8000] + ROWS + [MIRROR]
    ks = G.kernels(tmp_path, narrow(tmp_path, "blocks", 24), cases)
    assert len(ks) > 20 and sum(k.manifest["grid"][1] > 1 for k in ks) > 3
    for k in ks:
        k.path = k.path.rename(k.path.with_suffix(".c"))
    r, bad = grid_runs.run_blocks(tmp_path, ks)
    assert r.returncode == 0 and not bad, (r, bad)


# What such kernels are made of, for kernels without barriers: each thread one after another, over a grid of any sides.
SHIM = {"cuda": """
struct Sides { unsigned x, y, z; } static blockIdx, threadIdx, gridDim;
struct uint2 { unsigned x, y; };
struct uint4 { unsigned x, y, z, w; };
#define __global__
#define __launch_bounds__(n)
""", "opencl": """
#include <stddef.h>
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
struct Sides { unsigned x, y, z; } static blockIdx, threadIdx, gridDim;
struct uint2 { unsigned x, y; };
struct uint4 { unsigned x, y, z, w; };
static size_t get_group_id(int i) { return i ? blockIdx.y : blockIdx.x; }
static size_t get_num_groups(int i) { return i ? gridDim.y : gridDim.x; }
static size_t get_local_id(int) { return threadIdx.x; }
#define __kernel extern "C"
#define __global
#define restrict __restrict
#define reqd_work_group_size(x, y, z) unused
"""}
MAIN = """
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    FILE *in = fopen(argv[1], "rb"), *out = fopen(argv[2], "r+b");
    fseek(in, 0, SEEK_END), fseek(out, 0, SEEK_END);
    size_t m = ftell(in), n = ftell(out);
    unsigned char *src = (unsigned char *)malloc(m), *dst = (unsigned char *)malloc(n);
    rewind(in), rewind(out);
    if (fread(src, 1, m, in) != m || fread(dst, 1, n, out) != n)
        return 1;
    gridDim.x = atoi(argv[3]), gridDim.y = atoi(argv[4]);
    for (blockIdx.y = 0; blockIdx.y < gridDim.y; blockIdx.y++)
        for (blockIdx.x = 0; blockIdx.x < gridDim.x; blockIdx.x++)
            for (threadIdx.x = 0; threadIdx.x < 256; threadIdx.x++)
                KERNEL(dst, src);
    rewind(out);
    return argc != 5 || fwrite(dst, 1, n, out) != n || fclose(out);
}
"""


def differs(folder, k, shim, grid, old="", new=""):
    src, want = k.data()
    grid_runs.files(folder, [k], [(src, want)])
    text = k.path.read_text()
    assert "__syncthreads" not in text and "barrier(" not in text and old in text
    (folder / "k.cpp").write_text(SHIM[shim] + text.replace(old, new) + MAIN.replace("KERNEL", k.entry))
    subprocess.run(["g++", "-w", "-O1", *SANITIZE, "-o", folder / "k", folder / "k.cpp"], check=True)
    r = subprocess.run([folder / "k", folder / (k.entry + ".src"), folder / (k.entry + ".dst"), str(grid[0]), str(grid[1])], env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0"})
    return r.returncode or grid_runs.differences(folder, [k], [(src, want)])


@pytest.mark.parametrize("target", SHIM)
@pytest.mark.parametrize("case", ROWS, ids=["max", "blocks", "whole"])
def test_rows_of_cuda_and_opencl(tmp_path, target, case):
    """The grid of the manifest, and any other that is as wide and not less high."""
    k = G.Kernel(tmp_path, 0, case, narrow(tmp_path, target, 4))
    blocks, (x, y, _) = sum(b["blocks"] for b in k.manifest["boxes"]), k.manifest["grid"]
    assert y > 1 and x <= 4 and x*y >= blocks, k.manifest
    assert not differs(tmp_path, k, target, (x, y)) and not differs(tmp_path, k, target, (x, y + 1)) and not differs(tmp_path, k, target, (blocks, 1))
    assert differs(tmp_path, k, target, (x, y - 1))
    row = {"cuda": ("blockIdx.y*gridDim.x + ", ""), "opencl": ("get_group_id(1)*get_num_groups(0) + ", "")}[target]
    assert differs(tmp_path, k, target, (x, y), *row)


def test_a_table_without_rows(tmp_path):
    """The grid is not folded where the kernel would not see it."""
    text = (ravel.ROOT / "templates/cuda.lua").read_text()
    assert text.count("grid_block_rows") == 1
    text = re.sub(r', grid_block_rows = "[^"]*"', ", grid_side = 2", text)
    r = emit(tmp_path, text, shape="8,64,56,56")
    assert r.returncode == 2 and re.search(r"a grid of \d+ blocks is more than 2 in a row, and the target has no 'grid_block_rows' for several", r.stderr), r
    assert emit(tmp_path, text).returncode == 0


# --- names that a language keeps for itself

RELAYOUT = ["--from", "NCHW", "--to", "NHWC", "--shape", "1,2,3,4", "--dtype", "f32"]
KINDS = {"relayout": RELAYOUT, "offset": ["--kind", "offset", "--to", "SW128", "--shape", "8,64", "--dtype", "f16"],
         "inverse": ["--kind", "inverse", "--to", "SW128", "--shape", "8,64", "--dtype", "f16"],
         "load": ["--kind", "load", "--from", "ROW_MAJOR", "--to", "MMA_A", "--shape", "16,16", "--dtype", "f16"]}
OF = {"c": ["relayout", "offset", "inverse"], "bursts": ["relayout"], "glsl": ["relayout", "offset", "inverse"]}
FREE = "good_name X9 floats4 kernel2 cuda_transpose hipster get_tile packed_to_x half_swap CUSTOM".split()
C = FREE + "int float double for while restrict inline main global kernel memcpy strlen malloc sin sinf powl int64_t INT64_MAX dst src".split()
WORDS = {
    "c": C + "omp_get_thread_num random select setenv stpcpy htole16 isnan omp".split(),
    "blocks": C, "bursts": C + "burst_in burst_move burst_fill burst_min bursts".split(),
    "cuda": C + "float4 uint2 ulonglong4 blockIdx threadIdx blockDim gridDim warpSize dim3 make_uint4 __syncthreads atomicAdd tex2D cudaMalloc min max rsqrt umin "
                "norm3d clock64 std concept requires random blockIdy warp minimum".split(),
    "hip": C + "float4 blockIdx warpSize make_uint2 hipMalloc hipThreadIdx_x atomicAdd min concept hi_there".split(),
    "opencl": C + "float4 uchar16 half8 bool2 get_global_id barrier mem_fence image2d_t sampler_t event_t read_only constant generic convert_int as_uint vload4 atomic_add "
                  "mad24 clamp dot select shuffle native_sin async_work_group_copy CLK_LOCAL_MEM_FENCE FLT_MAX M_PI uniform dots localid".split(),
    "glsl": C + "vec4 ivec2 mat3 mat2x3 sampler2D layout buffer shared uniform in out inout discard gl_it mix dot texture atomicAdd imageLoad barrier noise1 "
                "subroutine common active vectors subgroupcoherent nonprivate packed packing noise texel subgroup_sum image_2d".split()}
KEPT = {"bursts": "burst_in burst_min", "hip": "concept co_await", "cuda": "concept co_await",
        "opencl": "float4 uchar16 bool2 half8 uint half global kernel local constant read_only uniform",
        "glsl": "vec4 mat3 mat4x2 sampler2D gl_it main shared image2D buffer subroutine uint half"}
ALLOWED = {"c": "unix linux kernel half uint global", "cuda": "threadIdx linux half kernel", "glsl": "unix kernel local uchar"}


def named(folder, target, kind, name):
    """The text, or None where the name is refused."""
    path = folder / ("%s_%s.txt" % (kind, name))
    r = subprocess.run([G.RAVEL, "emit", *KINDS[kind], "--target", target, "--name", name, "-o", path], capture_output=True, text=True)
    assert r.returncode == 0 or (r.returncode == 2 and "'%s' cannot name a" % name in r.stderr), r
    return path if r.returncode == 0 else None


@pytest.mark.parametrize("target", WORDS)
def test_kept_names_are_refused(tmp_path, target):
    for kind in OF.get(target, KINDS):
        for name in KEPT.get(target, "").split() + ["int", "while", "typename", "main", "dst", "ravel_min", "_x"]:
            assert not named(tmp_path, target, kind, name), (kind, name)
        for name in FREE + ALLOWED.get(target, "").split():
            assert named(tmp_path, target, kind, name), (kind, name)


def test_a_table_of_ones_own_keeps_names(tmp_path):
    """Instead of those of the target that it is like; a star is for all that begin so."""
    (tmp_path / "mine.lua").write_text('return { like = "cuda", reserved = "tile my_*\\n x" }')
    got = [n for n in "tile my_ my_own myown tiles x xy float4".split() if named(tmp_path, str(tmp_path / "mine.lua"), "relayout", n)]
    assert got == ["myown", "tiles", "xy", "float4"]


@pytest.mark.parametrize("kept", ["ravel_relayout nchw_to_nhwc", "r* n*"])
def test_a_name_that_nobody_gave_is_no_kept_one(tmp_path, kept):
    text = 'return { like = "cuda", reserved = "%s" }' % kept
    r = emit(tmp_path, text)
    assert (r.returncode, r.stderr) == (2, "ravel: the target mine.lua keeps 'ravel_relayout', the function's name unless given: give one with --name\n")
    assert emit(tmp_path, text, "--name", "good").returncode == 0


def test_a_name_from_layouts_is_no_kept_one(tmp_path):
    (tmp_path / "s.lua").write_text('layout "CONVERT_INT" { dims = { A, B }, order = { A, B } } layout "SA" { dims = { A, B }, order = { B, A } }')
    base = [G.RAVEL, "emit", "--from", "%s:CONVERT_INT" % (tmp_path / "s.lua"), "--to", "SA", "--spec", tmp_path / "s.lua", "--shape", "3,4", "--dtype", "f32", "-o", "-", "--target"]
    (tmp_path / "mine.lua").write_text('return { like = "opencl", reserved = "convert_*" }')
    for target, name in (("opencl", "convert_int_to_sa("), (tmp_path / "mine.lua", "ravel_relayout(")):
        r = subprocess.run([*base, target], capture_output=True, text=True)
        assert r.returncode == 0 and "\n" + name in r.stdout, r


def tool(name, *args, near=""):
    path = shutil.which(name) or shutil.which(name, path=near)
    if not path:
        pytest.skip("%s is not installed" % name)
    return [path, *args]


COMPILE = {
    "c": lambda: tool("gcc", "-fopenmp", "-Wall", "-Wextra", "-Werror", "-x", "c", "-fsyntax-only"),
    "blocks": lambda: tool("gcc", "-Wall", "-Wextra", "-Werror", "-x", "c", "-fsyntax-only", "-Wno-unused-function"),
    "bursts": lambda: tool("gcc", "-Wall", "-Wextra", "-Werror", "-x", "c", "-fsyntax-only"),
    "cuda": lambda: tool("nvcc", "-arch=sm_80", "-ptx", "-o", os.devnull, "-x", "cu", near="/usr/local/cuda/bin"),
    "hip": lambda: tool("clang", "-nogpuinc", "-nogpulib", "-I", ravel.ROOT / "tests/mock", "--cuda-device-only", "-fsyntax-only", "-x", "hip"),
    "opencl": lambda: tool("clang", "-x", "cl", "-cl-std=CL1.2", "-Xclang", "-finclude-default-header", "-fsyntax-only", "-Werror"),
    "glsl": lambda: tool("glslangValidator", "-S", "comp")}


def mentions(name, r):
    return name not in FREE and re.search(r"\b%s\b|overloaded functions" % name, r.stdout + r.stderr)


def together(folder, command, texts):
    """Those of [(name, file)] that C++ compiles as one file, each in a namespace; without any that it complains of."""
    def compiled(some):
        lines = [path.read_text().splitlines() for _, path in some]
        heads = dict.fromkeys(line for text in lines for line in text if line.startswith("#include"))
        bodies = ("namespace n%d {\n%s\n}" % (i, "\n".join(line for line in text if line not in heads)) for i, text in enumerate(lines))
        (folder / "together").write_text("\n".join([*heads, *bodies]))
        return subprocess.run([*command, folder / "together"], capture_output=True, text=True)
    r = compiled(texts)
    good = [(name, path) for name, path in texts if r.returncode == 0 or not mentions(name, r)]
    return good if compiled(good).returncode == 0 else []


@pytest.mark.parametrize("target", WORDS)
def test_a_name_is_refused_or_compiles(tmp_path, target):
    """Or the compiler says that it is one of its own functions, or of a library."""
    command, left = COMPILE[target](), []
    for i, name in enumerate(WORDS[target]):
        kinds = list(OF.get(target, KINDS))
        texts = [named(tmp_path, target, kind, name) for kind in (kinds[i % len(kinds):][:1] if target == "cuda" else kinds)]    # nvcc is slow
        left += [(name, path) for path in texts if path]
    good = together(tmp_path, command, [x for x in left if x[0] not in FREE]) if target == "cuda" else []
    made = len(good)
    for name, path in left:
        if (name, path) in good:
            continue
        text = path.read_text()
        if target == "glsl" and "main()" not in text:
            path.write_text("#version 430\n" + text + "void main() {}\n")
        r = subprocess.run([*command, path], capture_output=True, text=True)
        assert r.returncode == 0 or mentions(name, r), (name, r.stdout + r.stderr)
        made += r.returncode == 0
    print("compiled together:", *(name for name, _ in good))
    assert made >= len(FREE)


# --- the conformance list

def conform(*args):
    return subprocess.run([sys.executable, ravel.ROOT / "tests/conform.py", *map(str, args)], capture_output=True, text=True)


SYNTAX = "gcc -std=c11 -Wall -Wextra -Werror -x c -fsyntax-only {}"


BURST_FLAWS = {("burst_out(dst + %s, %s, %s);", "burst_put(dst + %s, %s, %s);"): "burst_put", ("0x%xu, 0x%xu", "%xu, %xu"): "invalid suffix",
               ('  min = "burst_min", max = "burst_max",', ""): "implicit declaration of function .min."}


@pytest.mark.parametrize("flaws", [{}, BURST_FLAWS], ids=["right", "wrong"])
def test_conformance_of_a_machine_of_bursts(tmp_path, flaws):
    text = (ravel.ROOT / "templates/bursts.lua").read_text()
    for old, new in flaws:
        assert old in text
        text = text.replace(old, new)
    (tmp_path / "mine.lua").write_text(text)
    r = conform(tmp_path / "mine.lua", "--check", SYNTAX)
    assert r.returncode == bool(flaws) and not r.stderr and all(re.search(says, r.stdout) for says in flaws.values()), r
    assert flaws or "0 failed" in r.stdout


def test_conformance_of_functions(tmp_path):
    """A flaw of index functions, another one of fragments."""
    table = grid_runs.own_table(tmp_path, ('ret = "return ${value};"', 'ret = "return ${value}"'), ("uint32_t *r, const unsigned char *src", "uint8_t *r, unsigned *src"))
    r = conform(table, "--check", SYNTAX)
    assert r.returncode == 1 and "8 index functions, 8 failed" in r.stdout and "fragments, 4 failed" in r.stdout and " cases, 0 failed" in r.stdout, r.stdout[-2000:]


def test_conformance_without_fragments(tmp_path):
    (tmp_path / "mine.lua").write_text('return { like = "glsl" }')
    r = conform(tmp_path / "mine.lua")
    assert r.returncode == 0 and "no fragments: the table has no tile loads" in r.stdout, r


def test_conformance_of_nothing(tmp_path):
    (tmp_path / "mine.lua").write_text('return { like = "cuda", laod = "" }')
    r = conform(tmp_path / "mine.lua")
    assert r.returncode == 1 and "did you mean 'load'?" in r.stderr, r
