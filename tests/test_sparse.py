"""Sparse formats: every pair against a plain evaluator of levels, random formats, ranked rows, codes of places, other blocks, other kinds of values."""

import itertools
import random

import numpy as np
import pytest

import ravel
import sparse
from sparse_arrays import arrays, assert_same, cx, is_layout, MATRICES, matrix, PAIRS, SHAPES  # noqa: F401 (cx is a fixture)


@pytest.mark.parametrize("a", MATRICES)
def test_pairs(cx, a):
    """Every destination from this source, at several shapes and densities."""
    rng = np.random.default_rng(len(a))
    for b in [b for x, b in PAIRS if x == a]:
        for shape in SHAPES:
            for density in (0, 0.3, 1):
                m = matrix(rng, shape, "f32", density)
                entries = sparse.entries_of(m)
                if a == "COO":
                    entries = [entries[i] for i in rng.permutation(len(entries))]
                got = sparse.Plan(cx, a, b, shape)(arrays(a, m, "f32", 4, entries if a == "COO" else None))
                assert_same(got, arrays(b, m, "f32"), b != "COO")


def test_interpreter_agrees(monkeypatch):
    monkeypatch.setenv("RAVEL_CODE", "interpreter")
    with ravel.Context() as cx:
        rng = np.random.default_rng(7)
        for a, b in PAIRS:
            m = matrix(rng, (13, 10))
            plan = sparse.Plan(cx, a, b, m.shape)
            assert plan.source() is None
            assert_same(plan(arrays(a, m, "f32")), arrays(b, m, "f32"), b != "COO")


@pytest.mark.parametrize("dtype", sparse.VALUE)
def test_dtypes_and_indices(cx, dtype):
    rng = np.random.default_rng(3)
    for a, b, index in [("ROW_MAJOR", "CSR", (4, 8)), ("CSR", "CSC", (4, 8)), ("CSC", "BSR", (8, 4)), ("ELL", "DIA", (8, 8)), ("COO", "ROW_MAJOR", (8, 4)),
                        ("CSR", "BSR", (4, 8)), ("CSR", "BSR", (8, 4)), ("COO", "CSR", (8, 4)), ("COO", "CSC", (4, 8)), ("CSR", "CSC", (8, 8))]:
        m = matrix(rng, (11, 14), dtype)
        equal = "last" if dtype in ("f16", "bf16") else "sum"
        got = sparse.Plan(cx, a, b, m.shape, dtype, index, equal)(arrays(a, m, dtype, index[0]))
        assert_same(got, arrays(b, m, dtype, index[1]))


@pytest.mark.parametrize("rank", [3, 4, 5])
def test_ranks(cx, rank):
    rng = np.random.default_rng(rank)
    shape = tuple(int(n) for n in rng.integers(1, 5, rank))
    for density in (0.05, 0.5):
        m = matrix(rng, shape, "i32", density)
        for a, b in itertools.permutations(["COO%d" % rank, "CSF%d" % rank, "ROW_MAJOR", "COL_MAJOR"], 2):
            if is_layout(a) and is_layout(b):
                continue
            got = sparse.Plan(cx, a, b, shape, "i32")(arrays(a, m, "i32"))
            assert_same(got, arrays(b, m, "i32"), not b.startswith("COO"))


KINDS = ["dense", "compressed"]


@pytest.mark.parametrize("seed", range(40))
def test_random_formats(cx, seed):
    """Formats with levels in any order, of digits of dims, declared as a spec, against the evaluator."""
    rng = random.Random(seed)
    rank = rng.randint(1, 4)
    names, shape = "IJKL"[:rank], tuple(rng.randint(1, 7) for _ in range(rank))

    def random_format(name):
        parts = []
        for d in range(rank):
            b = rng.choice([0, 0, 2, 3])
            if b:
                parts.append(("%s//%d" % (names[d], b), lambda x, d=d, b=b: x[d]//b, -(-shape[d]//b)))
                parts.append(("%s%%%d" % (names[d], b), lambda x, d=d, b=b: x[d] % b, b))
            else:
                parts.append((names[d], lambda x, d=d: x[d], shape[d]))
        rng.shuffle(parts)
        kinds = [rng.choice(KINDS) for _ in parts]
        text = 'sparse "%s" { dims = { %s }, levels = { %s } }' % (
            name, ", ".join(names), ", ".join("%s(%s)" % (k, p[0]) for k, p in zip(kinds, parts)))
        return text, [(k, p[1], p[2], 0) for k, p in zip(kinds, parts)]

    (ta, la), (tb, lb) = random_format("A%d" % seed), random_format("B%d" % seed)
    cx.load("%s\n%s\n" % (ta, tb))
    nrng = np.random.default_rng(seed)
    for density in (0.1, 0.6):
        m = matrix(nrng, shape, "i16", density)
        e = sparse.entries_of(m)
        got = sparse.Plan(cx, "A%d" % seed, "B%d" % seed, shape, "i16")(sparse.store(la, e, "i16"))
        assert_same(got, sparse.store(lb, e, "i16"))


def test_blocks_of_other_orders(cx):
    """Blocks by columns, of one extent only, shifted coordinates, and rows in any order."""
    cx.load('sparse "TURNED" { dims = { R, C }, levels = { dense(R // 2), compressed(C // 3), dense(C % 3), dense(R % 2) } }\n'
            'sparse "STRIPS" { dims = { R, C }, levels = { dense(R), compressed(C // 4), dense(C % 4) } }\n'
            'sparse "TALL" { dims = { R, C }, fill = 7, levels = { dense(C // 5), compressed(R), dense(C % 5) } }\n'
            'sparse "LOOSE" { dims = { R, C }, levels = { dense(R), compressed(C, "unordered") } }')
    rng = np.random.default_rng(11)
    turned = [("dense", lambda x: x[0]//2, 5, 0), ("compressed", lambda x: x[1]//3, 5, 0), ("dense", lambda x: x[1] % 3, 3, 0), ("dense", lambda x: x[0] % 2, 2, 0)]
    strips = [("dense", lambda x: x[0], 9, 0), ("compressed", lambda x: x[1]//4, 4, 0), ("dense", lambda x: x[1] % 4, 4, 0)]
    tall = [("dense", lambda x: x[1]//5, 3, 0), ("compressed", lambda x: x[0], 9, 0), ("dense", lambda x: x[1] % 5, 5, 0)]
    for density in (0, 0.1, 0.6):
        m = matrix(rng, (9, 13), "f32", density)
        e = sparse.entries_of(m)
        for name, levels, fill in (("TURNED", turned, 0), ("STRIPS", strips, 0), ("TALL", tall, 7)):
            for a in ("CSR", "CSC", "COO"):
                assert_same(sparse.Plan(cx, a, name, m.shape)(arrays(a, m, "f32")), sparse.store(levels, e, "f32", fill=fill))
        csr = arrays("CSR", m, "f32")
        turn = np.concatenate([[], *[rng.permutation(np.arange(a, b)) for a, b in zip(csr["pos2"], csr["pos2"][1:])]]).astype(int)
        loose = {"pos2": csr["pos2"], "crd2": csr["crd2"][turn], "val": csr["val"][turn]}
        for b in ("CSR", "CSC", "BSR", "ROW_MAJOR"):
            assert_same(sparse.Plan(cx, "LOOSE", b, m.shape)(loose), arrays(b, m, "f32"))


def test_swizzles(cx):
    """Swizzled blocks, and swizzled layouts beside a format."""
    cx.load('sparse "SWIZZLED" { dims = { R, C }, levels = { dense(R // 8), compressed(C // 8), dense(R % 8), dense(C % 8 ~ R % 8) } }')
    levels = [("dense", lambda x: x[0]//8, 3, 0), ("compressed", lambda x: x[1]//8, 4, 0), ("dense", lambda x: x[0] % 8, 8, 0), ("dense", lambda x: x[1] % 8 ^ x[0] % 8, 8, 0)]
    layout = "(R, C){R//4, C//8, R%4, C%8, swizzle = xor(2, 1, 3)}"
    rng = np.random.default_rng(12)
    for density in (0, 0.1, 0.6):
        m = matrix(rng, (20, 26), "f32", density)
        stored, dense = sparse.store(levels, sparse.entries_of(m), "f32"), np.zeros(20 * 32, "f4")
        r, c = np.indices(m.shape)
        at = (r//4 * 4 + c//8) * 32 + r % 4 * 8 + c % 8
        dense[at ^ (at >> 4 & 3) << 1] = m
        for a in ("CSR", "CSC", "COO", "BSR", "ROW_MAJOR"):
            of = {"val": m.reshape(-1)} if a == "ROW_MAJOR" else arrays(a, m, "f32")
            assert_same(sparse.Plan(cx, a, "SWIZZLED", m.shape)(of), stored)
            if a != "COO":
                assert_same(sparse.Plan(cx, "SWIZZLED", a, m.shape)(stored), of)
            if a != "ROW_MAJOR":
                assert_same(sparse.Plan(cx, a, layout, m.shape)(of), {"val": dense})
        assert_same(sparse.Plan(cx, layout, "SWIZZLED", m.shape)({"val": dense}), stored)


def test_explicit_fill_is_kept(cx):
    """A stored 0 stays an entry where places hold only entries; a fill that is not 0 marks the others."""
    csr = {"pos2": np.array([0, 2, 2], "i4"), "crd2": np.array([0, 2], "i4"), "val": np.array([0, 5], "f4")}
    got = sparse.Plan(cx, "CSR", "CSC", (2, 3))(csr)
    assert got["val"].tolist() == [0, 5] and got["pos2"].tolist() == [0, 1, 1, 2]
    cx.load('sparse "FILLED" { dims = { R, C }, fill = 7, levels = { dense(R), compressed(C // 2), dense(C % 2) } }\n'
            'layout "SEVEN" { dims = { R, C }, fill = 7, order = { R, C } }')
    got = sparse.Plan(cx, "CSR", "FILLED", (2, 3))(csr)
    assert got["val"].tolist() == [0, 7, 5, 7]
    assert sparse.Plan(cx, "FILLED", "SEVEN", (2, 3))(got)["val"].tolist() == [0, 7, 5, 7, 7, 7]
    back = sparse.Plan(cx, "SEVEN", "CSR", (2, 3))({"val": np.array([7, 1, 7, 0, 7, 7], "f4")})
    assert back["crd2"].tolist() == [1, 0] and back["val"].tolist() == [1, 0]


def test_digits_of_differences(cx):
    """Of DIA with one column the row is minus the diagonal, and its digits are those of a number below zero before the others are dropped."""
    rng = np.random.default_rng(31)
    for rows in (7, 8, 9):
        a = matrix(rng, (rows, 1), density=1)
        for to in ("BSR{BR=3, BC=1}", "(R,C){R%3, R//3, C}"):
            got = sparse.Plan(cx, "DIA", to, a.shape, "f32")(arrays("DIA", a, "f32"))
            if to.startswith("BSR"):
                assert_same(got, arrays(to, a, "f32"))
            else:
                assert np.array_equal(got["val"], np.concatenate([np.pad(a[k::3, 0], (0, -(-rows//3) - len(a[k::3]))) for k in range(3)]))


@pytest.mark.parametrize("shape", [(0, 5), (5, 0), (0, 0), (33_000, 0), (0, 33_000)])
def test_extents_of_zero(cx, shape):
    """Each pair, also of formats whose places are counted; an array that has an entry is refused."""
    names, m = [*MATRICES, "SELL", "JDS", "SEMI24", "CSR_ANY"], np.zeros(shape, "f4")
    stored = {a: arrays("CSR" if a == "CSR_ANY" else a, m, "f32") for a in names}
    for a, b in itertools.product(names, names):
        if not (is_layout(a) and is_layout(b)):
            assert_same(sparse.Plan(cx, a, b, shape)(stored[a]), stored[b])
    for a in names:
        for name, x in [(k, x) for k, x in stored[a].items() if (a, k) != ("JDS", "pos2")]:        # a diagonal may be empty
            bad = {**stored[a], name: np.append(x, x[:1] if x.size else np.zeros(1, x.dtype))}
            with pytest.raises(ravel.Error, match=r"(pos|crd|val)\d?(\[\d+\])? (is|has) (not|another|outside|[\d,]+ elements)"):
                sparse.Plan(cx, a, "COO" if a != "COO" else "CSR", shape)(bad)
    with pytest.raises(ravel.Error, match="crd3 has another size|crd3.0. is outside"):
        sparse.Plan(cx, "ELL", "CSR", shape)({"crd3": np.zeros(max(shape[0], 1), "i4"), "val": np.ones(max(shape[0], 1), "f4")})
    if max(shape) == 5:
        assert sparse.Plan(cx, "COO3", "CSF3", (2, *shape))({"pos1": np.zeros(2, "i4"), **{k: np.zeros(0, "i4") for k in ("crd1", "crd2", "crd3")},
                                                             "val": np.zeros(0, "f4")})["pos1"].tolist() == [0, 0]
        with pytest.raises(ravel.Error, match="extents are 0 or more"):
            sparse.Plan(cx, "CSR", "CSC", (shape[0], -7))


@pytest.mark.parametrize("shape", [(20_000, 17_000), (3, 70_000)])
def test_no_entries(cx, shape):
    """Of matrices so large that the ways of large ones are taken."""
    names = ["COO", "CSR", "CSC", "DCSR", "BSR", "ELL", "DIA", "SELL", "JDS", "CSR_ANY"]
    none = {"pos1": np.zeros(2, "i4"), "crd1": np.zeros(0, "i4"), "crd2": np.zeros(0, "i4"), "val": np.zeros(0, "f4")}
    stored = {a: sparse.Plan(cx, "COO", a, shape)(none) for a in names}
    for a, x in stored.items():
        assert not x["val"].size and all(not v.any() for k, v in x.items() if k[:3] == "pos" or a not in ("SELL", "JDS"))
    for a, b in itertools.product(names, names):
        assert_same(sparse.Plan(cx, a, b, shape)(stored[a]), stored[b])
