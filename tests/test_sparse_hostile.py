"""Sparse arrays that lie, specs that are wrong and emitted C that is given damage."""

import random
import subprocess

import numpy as np
import pytest

import ravel
import sparse
from sanitize import SANITIZE
from sparse_arrays import arrays, assert_same, cx, good, matrix  # noqa: F401 (cx is a fixture)

GOOD = {"pos2": [0, 2, 2, 5], "crd2": [1, 3, 0, 1, 2], "val": [1, 2, 3, 4, 5]}


@pytest.mark.parametrize("change, says", [
    ({"pos2": [0, 2, 2]}, "pos2 has another size: 4"),
    ({"pos2": [1, 2, 2, 5]}, r"pos2\[0\] is not 0"),
    ({"pos2": [0, 3, 2, 5]}, r"pos2\[2\] is less than the one before it: it is 2 \(SciPy's indptr\)"),
    ({"pos2": [0, -1, 2, 5]}, r"pos2\[1\] is less"),
    ({"pos2": [0, 2, 2, 6]}, r"pos2\[3\] is not the number"),
    ({"pos2": [0, 2, 2**31 - 1, 5]}, r"pos2\[3\] is less"),
    ({"crd2": [1, 4, 0, 1, 2]}, r"crd2\[1\] is outside the shape: it is 4, and \w+ has 4 \(SciPy's indices\)"),
    ({"crd2": [1, 3, -1, 1, 2]}, r"crd2\[2\] is outside the shape: it is -1, and"),
    ({"crd2": [3, 1, 0, 1, 2]}, r"crd2\[1\] is less"),
    ({"crd2": [1, 3, 0, 2, 2]}, r"crd2\[4\] is equal"),
    ({"val": [1, 2, 3, 4]}, "val has another size: 5"),
    ({"val": []}, "val has another size: 5"),
])
def test_hostile_csr(cx, change, says):
    a = {k: np.array(v, "f4" if k == "val" else "i4") for k, v in {**GOOD, **change}.items()}
    for b in ["CSC", "COO", "BSR", "ELL", "ROW_MAJOR", "CSR"]:
        with pytest.raises(ravel.Error, match=says):
            sparse.Plan(cx, "CSR", b, (3, 4))(a)


@pytest.mark.parametrize("name, says", [("CSR_ANY", r" \(SciPy's indices\)$"), ("BSR", r" \(SciPy's indices\)$"), ("ELL", "$")])
def test_names_of_scipy(cx, name, says):
    """What SciPy calls an array is said of formats that SciPy has."""
    a = arrays(name.removesuffix("_ANY"), matrix(np.random.default_rng(6), (9, 10), "f32", .9), "f32")
    a["crd3" if name == "ELL" else "crd2"][0] = 99
    with pytest.raises(ravel.Error, match="is outside the shape: it is 99, and C.* has [0-9]+" + says):
        sparse.Plan(cx, name, "CSC", (9, 10))(a)


@pytest.mark.parametrize("name", ["CSR", "DCSR", "COO", "BSR", "ELL", "DIA"])
def test_hostile_arrays(cx, name):
    """Numbers replaced at random: an error that names an array, or a result of the sizes that were told."""
    rng = random.Random(name)
    m = matrix(np.random.default_rng(5), (7, 9))
    good = arrays(name, m, "f32")
    plans = [sparse.Plan(cx, name, b, m.shape) for b in ["CSR", "CSC", "BSR", "ELL", "DIA", "COO", "ROW_MAJOR"]]
    refused = 0
    for _ in range(150):
        bad = {k: v.copy() for k, v in good.items()}
        for _ in range(rng.randint(1, 3)):
            k = rng.choice([k for k in bad if k != "val"])
            if rng.random() < 0.2:
                bad[k] = bad[k][:rng.randrange(len(bad[k]) + 1)]
            elif len(bad[k]):
                bad[k][rng.randrange(len(bad[k]))] = rng.choice([-1, 0, 1, 2, 6, 7, 9, 10, 100, 2**31 - 1, -2**31])
        try:
            rng.choice(plans)(bad)
        except ravel.Error as e:
            refused += 1
            assert name + ": " in e.text
    assert refused > 50


@pytest.mark.parametrize("spec, says", [
    ('sparse "X" { dims = { R, C } }', "has no levels"),
    ('sparse "X" { dims = { R, C }, order = { R, C } }', "has levels, not an order"),
    ('layout "X" { dims = { R, C }, levels = { R } }', r"levels\[1\] is a userdata"),
    ('sparse "X" { dims = { R, C }, levels = { R, C } }', r"levels\[1\]"),
    ('sparse "X" { dims = { R, C }, levels = { dense(R, "unique"), compressed(C) } }', "dense takes one expression"),
    ('sparse "X" { dims = { R, C }, levels = { dense(R), compressed(C, "sorted") } }', "nonunique"),
    ('sparse "X" { dims = { R, C }, levels = { dense(), compressed(C) } }', r"dense is written dense\(R\)"),
    ('sparse "X" { dims = { R, C }, levels = { dense(R), sliced(), singleton(C) } }', r"sliced is written sliced\(8\)"),
    ('sparse "X" { dims = { R, C }, levels = { dense(R), nofm(C) } }', r"nofm is written nofm\(R, 8"),
    ('sparse "X" { dims = { R, C }, levels = { dense(R), nofm(C, 2, { "x" }) } }', r"nofm is written nofm\(R, 8"),
    ('sparse "X" { dims = { R, C }, levels = { ranked(R, "a"), jagged(), singleton(C) } }', r"ranked is written ranked\(R\[, 8\]\)"),
    ('sparse "X" { dims = { R, C }, levels = { dense(R), sliced(C), singleton(C) } }', "unknown name 'C'"),
    ('sparse "X" { dims = { R, C }, pad = { R = 4 }, levels = { dense(R), compressed(C) } }', "pad, pitch"),
    ('sparse "X" { dims = { R, C }, levels = { dense(R), compressed(D) } }', "unknown name 'D'"),
])
def test_wrong_specs(cx, spec, says):
    with pytest.raises(ravel.Error, match=says):
        cx.load(spec)


@pytest.mark.parametrize("levels, says", [
    ("dense(R), singleton(C)", "follows compressed"),
    ('compressed(R, "nonunique"), compressed(C)', "only singletons"),
    ("nth(), singleton(C), dense(R)", "dense levels only"),
    ("ranked(R), compressed(C)", "jagged.. follows it"), ("dense(R), jagged(), singleton(C)", "jagged.. follows ranked"), ("ranked(R, 4), jagged(), singleton(C)", "without a number"),
    ("dense(R), sliced(0), singleton(C)", "number of level 2 is 0"), ("ranked(C - R), jagged(), singleton(C)", "0 or more"), ("nofm(C, 2), dense(R)", "the last level"),
    ("dense(R), dense(C // 4), nofm(C % 4, 5)", "at most all"), ("dense(R), dense(C // 32), nofm(C % 32, 2)", "of at most 16"), ("dense(R), dense(C // 4), nofm(C % 4, 2, { R })", "stored nowhere"),
    ("dense(R), compressed(R)", "stored nowhere"),
    ("dense(R)", "stored nowhere"),
    ("dense(C - R), dense(C)", "below 0"),
    ('dense(R), compressed(C, "nonunique")', "cannot be nonunique"),
])
def test_wrong_levels(cx, levels, says):
    cx.load('sparse "X" { dims = { R, C }, levels = { %s } }' % levels)
    with pytest.raises(ravel.Error, match=says):
        sparse.Plan(cx, "X", "ROW_MAJOR", (4, 5))


def test_refusals(cx):
    for args, says in [(("CSR", "NCHW", (3, 4)), "dims"), (("CSR", "CSC", (3, -2)), "extent 2 is -2: .*0 or more"),
                       (("CSR", "CSC", (3, -1)), "run time"), (("CSR", "CSC", (3, 2**31 + 5)), "32-bit"),
                       (("CSR", "CSC", (3, 4), "f32", (4, 2)), "4 or 8 bytes"), (("CSR", "CSC", (3, 4), "f32", (4, 4), "max"), "none of sum")]:
        with pytest.raises(ravel.Error, match=says):
            sparse.Plan(cx, *args)
    with pytest.raises(ravel.Error, match="sparse format"):
        cx.plan("CSR", "ROW_MAJOR", [3, 4], "f32")


@pytest.mark.parametrize("b", ["CSR", "DCSR", "BSR", "ROW_MAJOR"])
def test_values_that_are_not_added(cx, b):
    """Lists of f16 are converted if no entries are equal."""
    a = {"pos1": np.array([0, 3], "i4"), "crd1": np.array([2, 0, 1], "i4"), "crd2": np.array([1, 1, 3], "i4"), "val": np.array([5, 6, 7], "f2")}
    m = np.zeros((3, 4), "f2")
    m[a["crd1"], a["crd2"]] = a["val"]
    plan = sparse.Plan(cx, "COO", b, m.shape, "f16")
    assert_same(plan(a), arrays(b, m, "f16"))
    a["crd1"][2], a["crd2"][2] = 0, 1
    with pytest.raises(ravel.Error, match="entry 2 is equal to one before it, and values of f16 are not added"):
        plan(a)


HOSTILE = r"""
#include <stdio.h>
#include <stdlib.h>
static uint64_t state = 1;
static uint64_t drawn(uint64_t n) { state = state * 6364136223846793005u + 1442695040888963407u; return (state >> 33) % n; }
int main(void)
{
    static const int32_t odd[] = {-1, 0, 1, 2, 6, 7, 9, 10, 100, INT32_MAX, INT32_MIN};
    int flaws = 0;
    for (int round = 0; round < 4000; round++) {
        void *in[SOURCES], *out[33];
        const void *arrays[SOURCES];
        int64_t n[SOURCES], m[33];
        for (int i = 0; i < SOURCES; i++) {            /* of exactly their sizes, so that a step outside is seen */
            n[i] = drawn(20) ? count[i] : (int64_t)drawn((uint64_t)count[i] + 1);
            in[i] = malloc((size_t)n[i] * 4 + !n[i]);
            memcpy(in[i], source[i], (size_t)n[i] * 4);
            for (uint64_t k = drawn(3); n[i] && i < SOURCES - 1 && k-- > 0;)
                ((int32_t *)in[i])[drawn((uint64_t)n[i])] = odd[drawn(sizeof odd / sizeof *odd)];
            arrays[i] = in[i];
        }
        if (f_work(0, arrays, n, 0, m)) return 1;
        void *work = malloc((size_t)m[0]);
        if (f_sizes(work, arrays, n, 0, m)) {
            flaws++;
        } else {
            for (int i = 0; i < ARRAYS; i++) out[i] = malloc((size_t)m[i] * 4 + !m[i]);
            if (f(work, arrays, n, out, m)) return 3;
            for (int i = 0; i < ARRAYS; i++) free(out[i]);
        }
        free(work);
        for (int i = 0; i < SOURCES; i++) free(in[i]);
    }
    return flaws < 1000 || flaws == 4000;
}
"""


@pytest.mark.parametrize("pair", ["CSR CSC", "COO DCSR", "ELL DIA", "DIA BSR", "COO CSR", "CSR BSR", "SELL JDS"])
def test_hostile_under_sanitizers(tmp_path, pair):
    """Damaged arrays, each in memory of its size: emitted C finds the flaw or converts, and never steps outside."""
    a, b = pair.split()
    m = matrix(np.random.default_rng(6), (7, 9))
    src, dst = arrays(a, m, "f32"), arrays(b, m, "f32")
    data = "".join("static const uint32_t source%d[] = {%s};\n" % (i, ", ".join("%du" % v for v in x.view("u4"))) for i, x in enumerate(src.values()))
    data += "static const void *source[] = {%s};\n" % ", ".join("source%d" % i for i in range(len(src)))
    data += "static const int64_t count[] = {%s};\n" % ", ".join(str(x.size) for x in src.values())
    text = good("emit", "--from", a, "--to", b, "--shape", "7,9", "--dtype", "f32", "--name", "f", "-o", "-")
    (tmp_path/"a.c").write_text(text + data + "enum { SOURCES = %d, ARRAYS = %d };\n" % (len(src), len(dst)) + HOSTILE)
    subprocess.run(["gcc", "-O0", "-g1", *SANITIZE, "-o", tmp_path/"a", tmp_path/"a.c"], check=True)
    r = subprocess.run([tmp_path/"a"], capture_output=True, text=True)
    assert r.returncode == 0, r.stderr
