"""emit --check of sparse conversions: right code, and code that a compiler breaks."""

import os
import re
import stat
import subprocess

import pytest

import ravel
from sparse_arrays import good, run


@pytest.mark.parametrize("args", [
    ("CSR", "CSC", "40,50", "f32"), ("COO", "CSR", "40,50", "i4"), ("CSR", "ELL", "3,4", "i8", "--index-type", "i64,i32"), ("COO", "BSR", "40,50", "f64", "--duplicates", "error"),
    ("ROW_MAJOR", "CSR", "40,50", "bf16", "--mask"), ("COO", "CSR", "10,20", "f16"), ("ROW_MAJOR", "DIA", "9,50", "f64", "--threshold", "2"), ("CSR", "SEMI24", "16,16", "f16"),
    ("COO3", "CSF3", "40,50,1000000", "c64"), ("CSR", "CSC", "1000000,1000000", "pattern"), ("JDS", "SELL", "50,20", "u16"), ("CSC", "BSR", "0,5", "u8"), ("CSR", "DIA", "1000000,1000000", "f32")])
def test_right(tmp_path, args):
    out = tmp_path/"f.c"
    says = good("emit", "--from", args[0], "--to", args[1], "--shape", args[2], "--dtype", args[3], *args[4:], "-o", out, "--check", "gcc -O1")
    assert says.startswith("yes: %s -> %s" % args[:2]) and "the library's results for" in says and out.exists()
    assert int(says.split(" entries")[0].split()[-1]) >= (args[2] != "0,5")


def test_list(tmp_path):
    """Sparse conversions among others, from one format and from formats of a spec with the same dims."""
    os.chdir(tmp_path)
    (tmp_path/"s.lua").write_text('sparse "ROWS" { dims = { I, J }, levels = { dense(I), compressed(J) } }\nsparse "ONE" { dims = { I }, levels = { compressed(I) } }\n')
    (tmp_path/"k.txt").write_text("--from CSR --to CSC --shape 3,4 --dtype f32\n-F NCHW -T NHWC -s 1,2,3,4 -d u8\n--from CSR --to BSR --shape 9,9 --dtype i8\n"
                                  "--from ROWS --to '(I, J){J, I}' --shape 5,6 --dtype u1 --name turned\n--from '(I){I}' --to ONE --shape 50 --dtype f32 --name one\n")
    says = good("emit", "--spec", "s.lua", "--list", "k.txt", "-o", "all.c", "--check", "gcc -w").splitlines()
    assert len(says) == 5 and all(s.startswith("yes") for s in says) and "elements" in says[1]


@pytest.mark.parametrize("find, put, says", [
    ("sum += here;", "sum += here + 1;", "pos2 differs from the library's result in byte 4 of 204"),
    ("s->flaw = flaw;", "s->flaw = flaw != RAVEL_FLAW_ORDER \\&\\& flaw != RAVEL_FLAW_TWICE ? flaw : 0;", "a source is accepted, and by the library refused: CSR: "),
    (r"s->at = at;", "s->at = at + 1;", "refused: CSR: .*and by the library refused: CSR: "),
    (r"m\[0\] = (int64_t)sizeof(ravel_stream)", "m[0] = (int64_t)sizeof(ravel_stream) - 9000", "the code was ended: Segmentation fault"),
    (r"ravel_index_set(pos, w, n, sum);", "ravel_index_set(pos, w, n, sum), ravel_index_set(pos, w, n + 1, sum);", "the code was ended: Segmentation fault"),
    ("(void)s, (void)in,", "((int32_t *)(uintptr_t)in[0])[0] = 0, (void)s,", "the code was ended: Segmentation fault"),
    ("^    memset(.*, 0, .*;$", ";", "differs from the library's result|refused"),
    ("f_sizes(", "g_sizes(", "the object has no f_sizes")])
def test_wrong(tmp_path, find, put, says):
    (tmp_path/"cc").write_text("#!/bin/sh\nfor last; do :; done\nsed -i 's/%s/%s/' $last\nexec gcc -w \"$@\"\n" % (find, put))
    (tmp_path/"cc").chmod(stat.S_IRWXU)
    r = run("emit", "--from", "CSR", "--to", "CSC", "--shape", "40,50", "--dtype", "f32", "--name", "f", "-o", tmp_path/"f.c", "--check", tmp_path/"cc")
    assert r.returncode == 1 and r.stdout.startswith("no: CSR -> CSC of (40,50), f32") and re.search(says, r.stdout), r.stdout + r.stderr
    assert not (tmp_path/"f.c").exists()


NO_MAP = """#define _GNU_SOURCE
#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
static int parent;
__attribute__((constructor)) static void begin(void) { parent = getpid(); }
void *mmap(void *at, size_t n, int may, int how, int fd, off_t from)
{
    if (getpid() == parent)
        return (void *)syscall(SYS_mmap, at, n, may, how, fd, from);
    errno = ENOMEM;
    return MAP_FAILED;
}
"""


def test_memory(tmp_path):
    """That a child has no memory for arrays is not said of the code."""
    (tmp_path/"m.c").write_text(NO_MAP)
    subprocess.run(["gcc", "-w", "-shared", "-fPIC", "-o", tmp_path/"m.so", tmp_path/"m.c"], check=True)
    r = subprocess.run([ravel.BUILD/"ravel", *"emit --from CSR --to CSC --shape 4,5 --dtype f32 -o".split(), tmp_path/"f.c", "--check", "gcc -w"],
                       env={**os.environ, "LD_PRELOAD": str(tmp_path/"m.so")}, capture_output=True, text=True)
    assert (r.returncode, r.stdout, r.stderr) == (2, "", "ravel: no memory for the arrays of a drawn source\n") and not (tmp_path/"f.c").exists()
