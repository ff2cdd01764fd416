"""Values below a byte: packed on both sides, by every way, of odd numbers, joined, tested, shared by threads, in emitted C and in files."""

import itertools
import subprocess

import numpy as np
import pytest

import ravel
import sparse
from sparse_arrays import arrays, assert_same, coo_arrays, cx, good, is_layout, MATRICES, matrix, run, scipy_arrays, sp  # noqa: F401 (cx is a fixture)


@pytest.mark.parametrize("code", ["jit", "interpreter"])
@pytest.mark.parametrize("dtype", sparse.PACKED)
def test_pairs(monkeypatch, dtype, code):
    monkeypatch.setenv("RAVEL_CODE", code)
    rng = np.random.default_rng(21)
    names = [*MATRICES, "SELL{H=3, SIGMA=5}", "JDS", "CSR_ANY"]
    with ravel.Context() as cx:
        for a, b in itertools.product(names, names):
            if is_layout(a) and is_layout(b):
                continue
            for shape in [(6, 7), (13, 10)] if code == "jit" else [(5, 7)]:
                m = matrix(rng, shape, dtype)
                source, want = (arrays(x.replace("_ANY", ""), m, dtype) for x in (a, b))
                assert_same(sparse.Plan(cx, a, b, shape, dtype)(source), want, b != "COO")


def test_codes(cx):
    """2 of 4 with weights of 4 bits; and blocks swizzled in a layout of them."""
    rng = np.random.default_rng(22)
    m = matrix(rng, (5, 16), "i4")
    for r, c in itertools.product(range(5), range(0, 16, 4)):
        m[r, c + np.flatnonzero(m[r, c:c + 4])[2:]] = 0
    for a in ("CSR", "COO", "ROW_MAJOR"):
        assert_same(sparse.Plan(cx, a, "SEMI24", m.shape, "i4")(arrays(a, m, "i4")), arrays("SEMI24", m, "i4"))
        assert_same(sparse.Plan(cx, "SEMI24", a, m.shape, "i4")(arrays("SEMI24", m, "i4")), arrays(a, m, "i4"))
    cx.load('sparse "SW4" { dims = { R, C }, levels = { dense(R // 8), compressed(C // 8), dense(R % 8), dense(C % 8 ~ R % 8) } }')
    levels = [("dense", lambda x: x[0]//8, 1, 0), ("compressed", lambda x: x[1]//8, 2, 0), ("dense", lambda x: x[0] % 8, 8, 0), ("dense", lambda x: x[1] % 8 ^ x[0] % 8, 8, 0)]
    assert_same(sparse.Plan(cx, "CSR", "SW4", m.shape, "i4")(arrays("CSR", m, "i4")), sparse.store(levels, sparse.entries_of(m), "i4"))


@pytest.mark.parametrize("dtype", sparse.PACKED)
def test_equal_entries(cx, dtype):
    """A sum keeps the low bits, as that of i8 does."""
    rng, shape, low = np.random.default_rng(23), (9, 11), 2**sparse.PACKED[dtype] - 1
    at = [(int(r), int(c)) for r, c in zip(rng.integers(0, 9, 201), rng.integers(0, 11, 201))]
    entries = [(x, int(v)) for x, v in zip(at, rng.integers(0, low + 1, 201))]
    source = sparse.store(sparse.levels_of("COO", shape), entries, dtype)
    for equal, join in (("sum", lambda v: sum(v) & low), ("first", lambda v: v[0]), ("last", lambda v: v[-1])):
        e = [(x, join([v for y, v in entries if y == x])) for x in sorted(set(at))]
        dense = np.zeros(shape, "u1")
        dense[tuple(np.array([x for x, _ in e]).T)] = [v for _, v in e]
        for b in ("CSR", "CSC", "DCSR", "BSR", "ELL", "DIA", "ROW_MAJOR"):
            want = {"val": dense.reshape(-1)} if b == "ROW_MAJOR" else sparse.store(sparse.levels_of(b, shape), e, dtype)
            assert_same(sparse.Plan(cx, "COO", b, shape, dtype, (4, 4), equal)(source), want)
    with pytest.raises(ravel.Error, match="entry [0-9]+ is equal"):
        sparse.Plan(cx, "COO", "CSR", shape, dtype, (4, 4), "error")(source)


def test_which_values_are_entries(cx):
    """The fill, a threshold and a mask; by sorting, the entries are counted before."""
    cx.load('layout "MINUS" { dims = { R, C }, fill = -1, order = { R, C } }')
    v = np.arange(63, dtype="u1") % 16
    v[5] = 15
    signed = v.astype("i8") - 16 * (v >= 8)
    mask = (np.arange(63) % 3 == 1).astype("u1")
    for b in ("CSR", "CSF2", "DIA"):
        if b == "CSF2":
            cx.load('sparse "CSF2" { dims = { R, C }, levels = { compressed(C), compressed(R % 2), compressed(R // 2) } }')
        back = sparse.Plan(cx, b, "ROW_MAJOR", (9, 7), "i4")
        for args, kept, fill in [(("MINUS",), signed != -1, 15), (("ROW_MAJOR",), v != 0, 0), (("ROW_MAJOR", 3.5), abs(signed) > 3, 0)]:
            plan = sparse.Plan(cx, args[0], b, (9, 7), "i4", threshold=args[1] if len(args) > 1 else 0)
            got = plan({"val": v})
            if b != "DIA":
                assert got["val"].size == kept.sum()
            assert np.array_equal(back(got)["val"], np.where(kept, v, 0))
        got = sparse.Plan(cx, "ROW_MAJOR", b, (9, 7), "i4", mask=True)({"mask": mask, "val": v})
        assert np.array_equal(back(got)["val"], v * mask)


@pytest.mark.parametrize("dtype", sparse.PACKED)
def test_threads(dtype):
    """A matrix that threads share, against SciPy and one thread."""
    bits, shape, n = sparse.PACKED[dtype], (3001, 2999), 400_001
    rng = np.random.default_rng(24)
    at = rng.permutation(shape[0] * shape[1])[:n]
    val = rng.integers(1, 2**bits, n).astype("u1")
    coo = sp.coo_matrix((val, (at // shape[1], at % shape[1])), shape)
    dense = coo.toarray().reshape(-1)
    source, csr, csc = coo_arrays(coo), scipy_arrays(coo.tocsr()), scipy_arrays(coo.tocsc())
    for threads in (1, 3):
        with ravel.Context() as cx:
            ravel.call(ravel.lib.ravel_set_threads, cx.p, threads, None, None)
            def got(a, b, x):
                return sparse.Plan(cx, a, b, shape, dtype)(x)
            assert_same(got("COO", "CSR", source), csr)
            assert_same(got("CSR", "CSC", csr), csc)
            assert_same(got("CSC", "CSR", csc), csr)
            assert_same(got("CSR", "ROW_MAJOR", csr), {"val": dense})
            assert_same(got("ROW_MAJOR", "CSR", {"val": dense}), csr)
            bsr = got("CSR", "BSR", csr)
            assert_same(got("COO", "BSR", source), bsr)
            assert_same(got("BSR", "CSR", bsr), csr)
            assert_same(got("CSC", "BSR", csc), bsr)
            assert_same(got("ELL", "CSR", got("CSR", "ELL", csr)), csr)


def test_sizes(cx):
    """One value more or less is refused, as of whole bytes; extents of 0 have no bytes."""
    plan = sparse.Plan(cx, "CSR", "CSC", (2, 3), "u2")
    assert [x[1:] for x in plan.names(0)] == [("i32", 4), ("i32", 4), ("u2", 0)]
    good_one = {"pos2": np.array([0, 1, 3], "i4"), "crd2": np.array([1, 0, 2], "i4"), "val": np.array([1, 2, 3], "u1")}
    assert plan(good_one)["val"].tolist() == [2, 1, 3]
    for n in (2, 4):
        with pytest.raises(ravel.Error, match="val has another size: 3"):
            plan({**good_one, "val": np.ones(n, "u1")})
    assert sparse.Plan(cx, "ROW_MAJOR", "BSR", (0, 5), "u1")({"val": np.zeros(0, "u1")})["val"].size == 0


MAIN = r"""
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
    int32_t pos[] = {0, 2, 2, 5}, crd[] = {1, 3, 0, 1, 2};
    unsigned char val[] = {0x21, 0xf3, 0xf5};
    const void *in[] = {pos, crd, val};
    int64_t n[] = {4, 5, 5}, m[8] = {0};
    if (f_work(0, in, n, 0, m)) return 1;
    void *work = malloc((size_t)m[0]), *out[4];
    if (f_sizes(work, in, n, 0, m)) return 2;
    int64_t size[] = {4 * m[0], 4 * m[1], (m[2] + 1) / 2, m[3]};
    for (int i = 0; i < 4; i++) out[i] = malloc((size_t)size[i] + (size_t)!size[i]);
    if (f(work, in, n, out, m)) return 3;
    for (int64_t k = 0; k < size[2]; k++) printf("%02x ", ((unsigned char *)out[2])[k]);
    for (int i = 0; i < 4; i++) free(out[i]);
    free(work);
    return 0;
}
"""


@pytest.mark.parametrize("compiler", ["gcc -O3 -std=c99 -Wconversion -Wmissing-prototypes", "gcc -O0 -g -fsanitize=address,undefined -fno-sanitize-recover=all"])
def test_emitted(tmp_path, compiler):
    text = good("emit", "--from", "CSR", "--to", "CSC", "--shape", "3,4", "--dtype", "i4", "--name", "f", "-o", "-")
    assert "out[3] is scratch memory of m[3] bytes" in text and "packed, the first in the low bits" in text
    (tmp_path/"a.c").write_text(text + MAIN)
    subprocess.run(compiler.split() + ["-Wall", "-Wextra", "-Werror", "-o", tmp_path/"a", tmp_path/"a.c"], check=True)
    assert subprocess.run([tmp_path/"a"], capture_output=True, text=True, check=True).stdout == "13 5f 02 "


def test_command(tmp_path):
    """A file has the packed bytes of the values, and our names of the arrays: SciPy has no such values."""
    m = matrix(np.random.default_rng(26), (5, 7), "i4")
    np.save(tmp_path/"a.npy", sparse.pack(m.reshape(-1), 4))
    want = arrays("CSR", m, "i4")
    assert want["val"].size % 2 == 1
    at = {k: tmp_path/k for k in ("a.npy", "b.npz", "c", "d.npy", "x.mtx", "x.npz")}
    assert "i4 of (5,7) as CSR" in good("convert", at["a.npy"], at["b.npz"], "--from", "ROW_MAJOR", "--to", "CSR", "--dtype", "i4", "--shape", "5,7")
    b = np.load(at["b.npz"])
    assert set(b) == {"pos2", "crd2", "val", "shape"} and np.array_equal(b["crd2"], want["crd2"]) and np.array_equal(b["val"], sparse.pack(want["val"], 4))
    good("convert", at["b.npz"], at["c"], "--from", "CSR", "--to", "BSR", "--dtype", "i4")
    good("convert", at["c"], at["d.npy"], "--from", "BSR", "--to", "ROW_MAJOR", "--dtype", "i4")
    assert np.array_equal(np.load(at["d.npy"]), np.load(at["a.npy"]))
    for x, to, says in [(at["x.mtx"], "COO", "holds values of whole bytes"), (at["x.npz"], "CSC", "val has 8 bytes, and 9 values of i4 have 5")]:
        if to == "CSC":
            np.savez(at["b.npz"], pos2=np.array([0, 9, 9, 9, 9, 9]), crd2=np.arange(9) % 7, val=np.zeros(8, "u1"), shape=[5, 7])
        r = run("convert", at["b.npz"], x, "--from", "CSR", "--to", to, "--dtype", "i4")
        assert r.returncode == 2 and says in r.stderr and not x.exists(), r.stderr


SORTED = r"""
#include <stdlib.h>
int main(void)
{
    enum { R = 64, C = 64, N = R * C };
    unsigned char *mask = calloc(N, 1), *val = calloc(N / 2, 1);
    for (int i = N / 2; i < N; i++) mask[i] = 1, val[i / 2] |= (unsigned char)(1 << i % 2 * 4);
    const void *in[] = {MASK val};
    int64_t n[] = {N, N}, m[8];
    if (f_work(0, in, n, 0, m)) return 1;
    void *work = malloc((size_t)m[0]);
    if (f_sizes(work, in, n, 0, m) || m[2] != N / 2) return 2;
    free(work), free(mask), free(val);
    return 0;
}
"""


@pytest.mark.parametrize("mask", [False, True])
def test_records(tmp_path, mask):
    """The memory of a sort has a place for each entry: the values that are one, or the mask, are counted; sanitizers see if there are more."""
    (tmp_path/"s.lua").write_text('sparse "TURNED" { dims = { R, C }, levels = { compressed(C % 8), compressed(C // 8 * 64 + R) } }')
    text = good("emit", "--spec", tmp_path/"s.lua", "--from", "ROW_MAJOR", "--to", "TURNED", "--shape", "64,64", "--dtype", "i4", "--name", "f", *["--mask"] * mask, "-o", "-")
    assert "ravel_stream_sort(s" in text
    (tmp_path/"a.c").write_text(text + SORTED.replace("MASK", "mask," * mask).replace("m[2]", "m[3]"))
    subprocess.run(["gcc", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-o", tmp_path/"a", tmp_path/"a.c"], check=True)
    subprocess.run([tmp_path/"a"], check=True)
