"""Emitted conversions of sparse formats: compiled, run, in lists, in both languages."""

import ctypes as ct
import os
import re
import shlex
import subprocess

import numpy as np
import pytest

import ravel
from sparse_arrays import arrays, good, run, sp


MAIN = r"""
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
    int32_t pos[] = {0, 2, 2, 5}, crd[] = {1, 3, 0, 1, 2};
    float val[] = {1, 2, 3, 4, 5};
    const void *in[] = {pos, crd, val};
    int64_t n[] = {4, 5, 5}, m[8] = {0};
    if (f_work(0, in, n, 0, m)) return 1;
    void *work = malloc((size_t)m[0]), *out[8];
    if (f_sizes(work, in, n, 0, m)) return 2;
    int size[] = {4, 4, 4, 4, 4};
    for (int i = 0; i < ARRAYS; i++) out[i] = malloc((size_t)(m[i] * size[i]) + 1);
    if (f(work, in, n, out, m)) return 3;
    for (int i = 0; i < ARRAYS; i++) {
        for (int64_t k = 0; k < m[i]; k++)
            if (i == ARRAYS - 1) printf("%g ", ((float *)out[i])[k]); else printf("%d ", ((int32_t *)out[i])[k]);
        printf("\n");
        free(out[i]);
    }
    pos[1] = 9;
    if (!f_sizes(work, in, n, 0, m)) return 4;
    printf("%lld %lld\n", (long long)m[0], (long long)m[1]);
    free(work);
    return 0;
}
"""


@pytest.mark.parametrize("compiler", ["gcc -O3 -std=c99 -Wconversion -Wmissing-prototypes", "clang -O1 -std=c99", "gcc -O0 -g -fsanitize=address,undefined -fno-sanitize-recover=all"])
def test_emitted(tmp_path, compiler):
    """Stand-alone C of each way, with warnings as errors; its result is that of the evaluator."""
    m = np.array([[0, 1, 0, 2], [0, 0, 0, 0], [3, 4, 5, 0]], "f4")
    for b in ["BSR"] if "clang" in compiler else ["COO", "DIA", "JDS"] if "-O3" in compiler else ["CSC", "ELL", "ROW_MAJOR"]:
        text = good("emit", "--from", "CSR", "--to", b, "--shape", "3,4", "--dtype", "f32", "--name", "f", "-o", "-")
        want = arrays(b, m, "f32")
        (tmp_path/"a.c").write_text(text + "enum { ARRAYS = %d };\n" % len(want) + MAIN)
        subprocess.run(compiler.split() + ["-Wall", "-Wextra", "-Werror", "-o", tmp_path/"a", tmp_path/"a.c"], check=True)
        out = subprocess.run([tmp_path/"a"], capture_output=True, text=True)
        assert out.returncode == 0, out.stderr
        lines = [x.split() for x in out.stdout.splitlines()]
        assert [[float(v) for v in line] for line in lines[:-1]] == [v.tolist() for v in want.values()]
        assert lines[-1] == ["0", "2"]


def test_lists_of_conversions(tmp_path):
    """One unit, with a header, of sparse conversions and others; a name is there once."""
    (tmp_path/"k.txt").write_text("--from CSR --to CSC --shape 3,4 --dtype f32 --name turn\n-F NCHW -T NHWC -s 1,2,3,4 -d u8 -n nhwc\n--from COO --to CSR --shape 3,4 --dtype f32\n")
    os.chdir(tmp_path)
    good("emit", "--list", "k.txt", "-o", "all.c", "--header", "all.h")
    names = re.findall(r"^(?:int|void) (\w+)\(", (tmp_path/"all.h").read_text(), re.M)
    assert names == ["turn_work", "turn_sizes", "turn", "nhwc", "coo_to_csr_3x4_f32_work", "coo_to_csr_3x4_f32_sizes", "coo_to_csr_3x4_f32"]
    (tmp_path/"use.cc").write_text('#include "all.h"\nint main() { int64_t m[3], n[] = {4, 2, 2}; return turn_work(0, 0, n, 0, m) || m[0] < 1; }\n')
    for all_c in ("gcc -Werror -Wall -Wextra -Wmissing-prototypes -Wno-unused-function -c all.c -o all.o", "g++ -x c++ -std=c++17 -Wall -Wextra -Wpedantic -Werror -Wno-unused-function -c all.c -o all.o"):
        subprocess.run(all_c + " && g++ use.cc all.o -o use && ./use", shell=True, check=True)
    (tmp_path/"k.txt").write_text("--from CSR --to CSC --shape 3,4 --dtype f32 --name f\n-F NCHW -T NHWC -s 1,2,3,4 -d u8 -n f_sizes\n")
    r = run("emit", "--list", "k.txt")
    assert r.returncode == 2 and "k.txt:2: the name f_sizes is that of line 1" in r.stderr


def emitted(folder, source, *options):
    """The result of emitted C on the arrays of a source, as a list of bytes; and the text."""
    text = good("emit", "--name", "f", "-o", "-", *options)
    (folder/"f.c").write_text(text)
    subprocess.run(["gcc", "-O1", "-shared", "-fPIC", "-Wall", "-Werror", "-o", folder/"f.so", folder/"f.c"], check=True)
    lib, n, m = ct.CDLL(str(folder/"f.so")), (ct.c_int64 * 4)(*[x.size for x in source]), (ct.c_int64 * 4)()
    given = (ct.c_void_p * 4)(*[x.ctypes.data for x in source])
    assert lib.f_work(None, given, n, None, m) == 0
    work = np.zeros(m[0] // 16 + 1, "c16")
    assert lib.f_sizes(ct.c_void_p(work.ctypes.data), given, n, None, m) == 0
    out = [np.zeros(8 * k, "u1") for k in m[:3]]
    assert lib.f(ct.c_void_p(work.ctypes.data), given, n, (ct.c_void_p * 3)(*[x.ctypes.data for x in out]), m) == 0
    return [x.tobytes() for x in out], list(m[:3]), text


def test_options_of_emit(tmp_path):
    """Duplicates, thresholds, masks and wide indices of emitted C, beside SciPy; its comment has the command."""
    rng, shape = np.random.default_rng(21), (40, 30)
    dense, keep = rng.random(shape), rng.random(shape) < .4
    row, col, val = rng.integers(0, 40, 500), rng.integers(0, 30, 500), rng.random(500)
    first = np.unique(row * 30 + col, return_index=True)[1]
    last = 499 - np.unique((row * 30 + col)[::-1], return_index=True)[1]
    cases = [(["--duplicates", d], "COO", "i4", "i4", sp.csr_matrix((val[k], (row[k], col[k])), shape)) for d, k in (("sum", slice(None)), ("first", first), ("last", last))]
    cases += [(["--threshold", "0.7"], "ROW_MAJOR", "i4", "i4", sp.csr_matrix(np.where(dense > .7, dense, 0))),
              (["--mask"], "ROW_MAJOR", "i4", "i4", sp.csr_matrix(np.where(keep, dense, 0))),
              (["--index-type", "i64"], "COO", "i8", "i8", sp.csr_matrix((val, (row, col)), shape)),
              (["--index-type", "i32,i64"], "COO", "i4", "i8", sp.csr_matrix((val, (row, col)), shape))]
    for number, (options, a, i, o, want) in enumerate(cases):
        folder = tmp_path/str(number)
        folder.mkdir()
        want.sort_indices()
        source = [np.array([0, 500], i), row.astype(i), col.astype(i), val] if a == "COO" else [dense.reshape(-1)]
        source = [keep.reshape(-1).astype("u1")] * ("--mask" in options) + source
        out, m, text = emitted(folder, source, "--from", a, "--to", "CSR", "--shape", "40,30", "--dtype", "f64", *options)
        got = [np.frombuffer(x, t)[:k] for x, t, k in zip(out, (o, o, "f8"), m)]
        assert [x.tolist() for x in got[:2]] == [want.indptr.tolist(), want.indices.tolist()] and np.allclose(got[2], want.data, 1e-15, 0)
        command = shlex.split(re.match(r"/\* ravel (emit .*)\n", text)[1])
        assert good(*command, "-o", "-") == text and (options[1:] == ["sum"] or options[0] in command)
        (folder/"k.txt").write_text("--from %s --to CSR --shape 40,30 --dtype f64 --name f %s\n" % (a, " ".join(options)))
        listed = good("emit", "--list", folder/"k.txt", "-o", "-")
        assert text.split(" */")[0].split("\n", 1)[0][3:] in listed


@pytest.mark.parametrize("says, options", [
    ("none of i32, i64", ["--from", "CSR", "--to", "CSC", "--index-type", "i16"]), ("none of sum, first", ["--from", "COO", "--to", "CSR", "--duplicates", "max"]),
    ("each position", ["--from", "CSR", "--to", "CSC", "--threshold", "1"]), ("no number from 0 on", ["--from", "ROW_MAJOR", "--to", "CSR", "--threshold", "-1"]),
    ("are of sparse formats", ["--from", "ROW_MAJOR", "--to", "COL_MAJOR", "--mask"]), ("are in the lines", ["--list", "x.txt", "--mask"])])
def test_wrong_options_of_emit(says, options):
    r = run("emit", "-o", "-", *options, *([] if "--list" in options else ["--shape", "4,5", "--dtype", "f32"]))
    assert r.returncode == 2 and says in r.stderr


def test_no_extent_is_left_to_run_time():
    r = run("emit", "-o", "-", "--from", "CSR", "--to", "CSC", "--shape", "N,5", "--dtype", "f32")
    assert r.returncode == 2 and "beside a sparse format all extents are numbers: none is left to run time" in r.stderr


def test_work_of_a_list(tmp_path):
    """A list of few rows and columns takes half an index for each entry, or an index if its result is above 6 MiB; the scratch memory is in proportion."""
    (tmp_path/"f.c").write_text(good("emit", "--from", "COO", "--to", "CSR", "--shape", "4000,4000", "--dtype", "f64", "--name", "f", "-o", "-"))
    subprocess.run(["gcc", "-O0", "-shared", "-fPIC", "f.c", "-o", "f.so"], cwd=tmp_path, check=True)
    lib, m, most = ct.CDLL(str(tmp_path/"f.so")), (ct.c_int64 * 4)(), 6 * 2**20 // 12
    row = np.arange(10**7, dtype="i4") % 4000
    source = (ct.c_void_p * 4)(None, row.ctypes.data, None, None)
    for n, each in (most, 2), (most + 1, 4), (10**7, 4):
        assert lib.f_work(None, source, (ct.c_int64 * 4)(2, n, n, n), None, m) == 0 and each * n < m[0] < (each + .1) * n + 2**19
    lib.f_work(None, source, (ct.c_int64 * 4)(2, 1 << 62, 1 << 62, 1 << 62), None, m)
    assert m[0] == -1


@pytest.mark.parametrize("compiler", ["gcc -x c -std=c99 -Wall -Wextra -Wconversion -Werror", "g++ -x c++ -std=c++17 -Wall -Wextra -Wpedantic -Werror"])
@pytest.mark.parametrize("a, b", [("COO", "CSR"), ("CSR", "CSC"), ("COO", "DCSR"), ("ROW_MAJOR", "ELL"), ("JDS", "SEMI24_16"), ("SEMI24_32", "SELL")])
def test_emitted_is_both_languages(a, b, compiler):
    text = good("emit", "--from", a, "--to", b, "--shape", "50000,300", "--dtype", "f64", "-o", "-")
    subprocess.run([*compiler.split(), "-fsyntax-only", "-"], input=text, text=True, check=True)


@pytest.mark.parametrize("shape", [(0, 5), (5, 0)])
def test_extents_of_zero(tmp_path, shape):
    """Stand-alone C of matrices without rows or columns; an array may be NULL."""
    pos, none = np.zeros(shape[0] + 1, "i4"), np.zeros(0, "i4")
    for b in ["CSC", "BSR", "ROW_MAJOR", "JDS"]:
        folder = tmp_path/b
        folder.mkdir()
        want = arrays(b, np.zeros(shape, "f4"), "f32")
        got, m, _ = emitted(folder, [pos, none, none.view("f4")], "--from", "CSR", "--to", b, "--shape", "%d,%d" % shape, "--dtype", "f32")
        assert [x[:4 * k] for x, k in zip(got, m)][:len(want)] == [x.tobytes() for x in want.values()][:3]
        assert m[:len(want)] == [x.size for x in want.values()][:3]


@pytest.mark.parametrize("a, b, shape, sizes", [("CSR", "JDS", "0,5", [1, 0, 0]), ("CSR", "SEMI24", "5,0", [6, 0, 0]), ("COO", "CSR", "20000,9", [2, 0, 0, 0]), ("COO", "CSR", "50,9", [2, 0, 0, 0])])
def test_arrays_of_no_elements_may_be_null(tmp_path, a, b, shape, sizes):
    """No function of C gets them, not even for 0 bytes: that is undefined."""
    text = good("emit", "--from", a, "--to", b, "--shape", shape, "--dtype", "f32", "--name", "f", "-o", "-")
    (tmp_path/"f.c").write_text(text + """
#include <stdlib.h>
static void *zeros(int64_t n) { return n ? calloc((size_t)n, 8) : NULL; }
int main(void)
{
    int64_t n[] = {%s}, m[8] = {0};
    const void *in[4];
    void *out[8], *work;
    for (int i = 0; i < (int)(sizeof n / sizeof *n); i++) in[i] = zeros(n[i]);
    if (f_work(NULL, in, n, NULL, m)) return 1;
    work = malloc((size_t)m[0]);
    if (f_sizes(work, in, n, NULL, m)) return 2;
    for (int i = 0; i < 3; i++) out[i] = zeros(m[i]);
    return f(work, in, n, out, m) ? 3 : 0;
}
""" % ", ".join(map(str, sizes)))
    subprocess.run(["gcc", "-O1", "-fsanitize=undefined", "-fno-sanitize-recover=undefined", "-o", tmp_path/"f", tmp_path/"f.c"], check=True)
    r = subprocess.run([tmp_path/"f"], capture_output=True, text=True)
    assert r.returncode == 0, r.stderr


def test_more_entries_than_numbers_of_32_bits(tmp_path):
    """In rows next to each other: refused, with the limit at 1000, because one list of 2^32 is too large for a test."""
    text = good("emit", "--from", "COO", "--to", "CSR", "--shape", "20000,300", "--dtype", "f64", "--name", "f", "-o", "-")
    assert text.count("RAVEL_SORTED_MOST = UINT32_MAX;") == 1
    (tmp_path/"f.c").write_text(text.replace("RAVEL_SORTED_MOST = UINT32_MAX;", "RAVEL_SORTED_MOST = 1000;"))
    subprocess.run(["gcc", "-O1", "-shared", "-fPIC", "f.c", "-o", "f.so"], cwd=tmp_path, check=True)
    lib, rng = ct.CDLL(str(tmp_path/"f.so")), np.random.default_rng(3)
    for same, status in (990, 0), (991, 12):
        row = np.concatenate([np.full(same, 7, "i4"), np.arange(1000, 1010, dtype="i4") * 10])
        source = [np.array([0, row.size], "i4"), row, rng.integers(0, 300, row.size).astype("i4"), np.ones(row.size)]
        n, m = (ct.c_int64 * 4)(*[x.size for x in source]), (ct.c_int64 * 4)()
        given = (ct.c_void_p * 4)(*[x.ctypes.data for x in source])
        assert lib.f_work(None, given, n, None, m) == 0
        work = np.zeros(m[0] // 16 + 1, "c16")
        assert lib.f_sizes(ct.c_void_p(work.ctypes.data), given, n, None, m) == status, same


def test_formats_of_a_file(tmp_path):
    """FILE:NAME, alone and in a list."""
    os.chdir(tmp_path)
    (tmp_path/"m.lua").write_text('sparse "STRIPS" { dims = { R, C }, levels = { dense(R), compressed(C // 4), dense(C % 4) } }\n')
    text = good("emit", "--from", "m.lua:STRIPS", "--to", "CSR", "--shape", "9,9", "--dtype", "f32")
    assert "\nstrips_to_csr_sizes(" in text
    (tmp_path/"k.txt").write_text("--from CSR --to m.lua:STRIPS --shape 9,9 --dtype f32\n")
    assert "strips_9x9_f32_sizes(" in good("emit", "--list", "k.txt")
