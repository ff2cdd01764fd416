"""The cases of tests/runtime_cases.py as one file of C, in which each kernel stands once: a compiler takes a fourth of what it takes for
a file of each.  Every product is made by the first worker that asks for it."""

import os
import subprocess

from once import once
from runtime_cases import arguments, CASES, COMPILERS, RAVEL, WARN
from sanitize import SANITIZE

FEW = [("NCHW", "NHWC", "N,C,H,W", "u8"), ("NHWC", "NCHW", "N,H,W,C", "f16"), ("NCHW", "NHWC", "N,C,H,W", "f32"), ("NCHW", "NHWC", "2,C,H,W", "i64"),
       ("ROW_MAJOR", "COL_MAJOR", "M,K", "u8"), ("NCHW", "NC1HWC0", "N,C,H,W", "bf16")]
ALL = list(dict.fromkeys(CASES + FEW))
WAYS = {"gcc": COMPILERS["gcc"], "openmp": COMPILERS["openmp"], "clang": COMPILERS["clang"],
        "sanitized": ["gcc", *WARN, "-g1", *SANITIZE]}

# Of a case, argv[1]: either the source is read and the destination written, at the values that follow, or sizes are told and nothing
# is touched at all values that are read.
MAIN = """
#include <stdio.h>
#include <stdlib.h>
#include "all.c"
%s
typedef struct { int n, (*bytes)(const int64_t *, int64_t *, int64_t *), (*run)(void *, const void *, const int64_t *); } Case;
static const Case cases[] = {%s};
static int hostile(const Case *c)
{
    int64_t x[5] = {0};
    for (;;) {
        for (int i = 0; i < c->n; i++)
            if (scanf("%%ld", &x[i]) != 1) return 0;
        int64_t m = -9, n = -9;
        int no = c->bytes(x, &m, &n);
        if (no || n == 0)
            no = 2 * no + c->run(NULL, NULL, x);
        printf("%%d %%lld %%lld\\n", no, (long long)m, (long long)n);
    }
}
static int once(const Case *c, char **values)
{
    int64_t x[5] = {0}, m, n;
    for (int i = 0; values[i] && i < 5; i++)
        x[i] = atoll(values[i]);
    if (c->bytes(x, &m, &n)) return 1;
    unsigned char *src = malloc((size_t)m), *dst = malloc((size_t)n);
    if (!src || !dst || fread(src, 1, (size_t)m, stdin) != (size_t)m) return 2;
    memset(dst, 0xa5, (size_t)n);
    if (c->run(dst, src, x)) return 3;
    fwrite(dst, 1, (size_t)n, stdout);
    free(src);
    free(dst);
    return 0;
}
int main(int argc, char **argv)
{
    const Case *c = cases + atoi(argv[1]);
    return argc == 2 ? hostile(c) : once(c, argv + 2);
}
"""
CALLS = """
static int bytes_%(i)d(const int64_t *x, int64_t *m, int64_t *n) { return k%(i)d_bytes(%(x)s, m, n); }
static int run_%(i)d(void *dst, const void *src, const int64_t *x) { return k%(i)d(dst, src, %(x)s); }
"""


def name_of(case):
    return "k%d" % ALL.index(case)


def quoted(text):
    return ("'%s'" if '"' in text else '"%s"') % text


def text(path):
    """All cases, with a main that calls them."""
    lines = path.with_name("cases.txt")
    lines.write_text("".join("-F %s -T %s -s %s -d %s -n %s\n" % (quoted(c[0]), quoted(c[1]), c[2], c[3], name_of(c)) for c in ALL))
    subprocess.run([RAVEL, "emit", "--list", lines, "-o", path.with_name("all.c")], check=True, timeout=60)
    x = [", ".join("x[%d]" % i for i in range(len(arguments(c)))) for c in ALL]
    path.write_text(MAIN % ("".join(CALLS % {"i": i, "x": x[i]} for i in range(len(ALL))),
                            ", ".join("{%d, bytes_%d, run_%d}" % (len(arguments(c)), i, i) for i, c in enumerate(ALL))))


def built(tmp_path_factory, way):
    """A shared object by one of WAYS, without a warning; of "sanitized" the program."""
    main = once(tmp_path_factory, "main.c", text)
    source, kind = (main, []) if way == "sanitized" else (main.with_name("all.c"), ["-shared", "-fPIC"])

    def make(path):
        r = subprocess.run([*WAYS[way], *kind, "-o", path, source], capture_output=True, text=True)
        assert r.returncode == 0 and r.stderr == "", r.stderr
    return once(tmp_path_factory, way + (".so" if kind else ".run"), make)


def sanitized(tmp_path_factory, case):
    """What runs the case in a process of its own at some values, or without values as MAIN's hostile()."""
    program = built(tmp_path_factory, "sanitized")
    env = {k: v for k, v in os.environ.items() if k not in ("LD_PRELOAD", "ASAN_OPTIONS")}
    return lambda values, data: subprocess.run([program, str(ALL.index(case)), *map(str, values)], input=data, capture_output=True, env=env)
