"""What the tests of sparse formats share: random matrices, what a format stores of them by the evaluator or by NumPy, and the command."""

import subprocess

import numpy as np
import pytest

import ravel
import sparse

sp = pytest.importorskip("scipy.sparse")
RAVEL = ravel.BUILD/"ravel"
MATRICES = ["CSR", "CSC", "DCSR", "DCSC", "COO", "BSR", "ELL", "DIA", "ROW_MAJOR", "COL_MAJOR", "BLOCKED_RR{BM=3, BN=2}"]
SHAPES = [(1, 1), (1, 9), (9, 1), (6, 7), (13, 10), (8, 8)]


def matrix(rng, shape, dtype="f32", density=0.3):
    t = sparse.VALUE[dtype]
    a = np.zeros(shape, t)
    kept = rng.random(shape) < density
    if t[0] == "c":
        a[kept] = rng.integers(1, 9, kept.sum()) + 1j * rng.integers(1, 9, kept.sum())
    else:
        v = rng.integers(1, 100, kept.sum())
        a[kept] = v % (2**sparse.PACKED[dtype] - 1) + 1 if dtype in sparse.PACKED else v
    return a


def blocked(a, br, bc):
    r, c = -(-a.shape[0]//br), -(-a.shape[1]//bc)
    full = np.zeros((r*br, c*bc), a.dtype)
    full[:a.shape[0], :a.shape[1]] = a
    return full.reshape(r, br, c, bc).transpose(0, 2, 1, 3)


def arrays(name, a, dtype, index=4, entries=None):
    """What a format stores of the array a, by the evaluator or, of a layout, by NumPy."""
    if name == "ROW_MAJOR":
        return {"val": a.reshape(-1)}
    if name == "COL_MAJOR":
        return {"val": np.ascontiguousarray(a.T).reshape(-1)}
    p = {k: int(v) for k, v in (x.split("=") for x in name.partition("{")[2][:-1].split(", ") if x)}
    if name.startswith("BLOCKED"):
        return {"val": np.ascontiguousarray(blocked(a, 3, 2)).reshape(-1)}
    return sparse.store(sparse.levels_of(name.partition("{")[0], a.shape, **p), sparse.entries_of(a) if entries is None else entries, dtype, index)


def assert_same(got, want, ordered=True):
    assert set(got) == set(want)
    if not ordered:                  # a list: the same entries, in any order
        crd = [k for k in want if k.startswith("crd")]
        def by(x):
            k = np.lexsort([x[c] for c in reversed(crd)])
            return {n: v[k] if not n.startswith("pos") else v for n, v in x.items()}
        got, want = by(got), by(want)
    for name in want:
        assert np.array_equal(got[name].view("u1"), want[name].view("u1")), (name, got[name], want[name])


@pytest.fixture(scope="module")
def cx():
    with ravel.Context() as c:
        yield c


def is_layout(name):
    return name.startswith(("ROW", "COL", "BLOCKED"))


PAIRS = [(a, b) for a in MATRICES for b in MATRICES if not (is_layout(a) and is_layout(b))]


def scipy_arrays(s):
    return {"pos2": s.indptr, "crd2": s.indices, "val": s.data}


def coo_arrays(s):
    return {"pos1": np.array([0, s.nnz], "i4"), "crd1": s.row, "crd2": s.col, "val": s.data}


def run(*args, **kw):
    return subprocess.run([str(RAVEL), *map(str, args)], capture_output=True, text=True, **kw)


def good(*args, **kw):
    r = run(*args, **kw)
    assert r.returncode == 0, r.stderr
    return r.stdout
