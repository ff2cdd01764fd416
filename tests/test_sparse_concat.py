"""convert --concat: matrices one after the other, against SciPy and NumPy."""

import os

import numpy as np
import pytest

import sparse
from sparse_arrays import arrays, good, matrix, run, sp


def save(path, m):
    sp.save_npz(path, m)
    return m


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr"])
def test_rows_and_columns(tmp_path, form):
    os.chdir(tmp_path)
    rng = np.random.default_rng(1)
    a, b, c, d = (save("%s.npz" % name, sp.random(*shape, .3, form, random_state=rng)) for name, shape in zip("abcd", [(6, 4), (2, 4), (4, 4), (12, 6)]))
    for to in "CSR", "COO", "CSC":
        good("convert", "a.npz", "o.npz", "--from", form.upper(), "--to", to, "--concat", "R=b.npz,c.npz")
        o = sp.load_npz("o.npz")
        assert o.format == to.lower() and np.array_equal(o.toarray(), sp.vstack([a, b, c]).toarray())
    good("convert", "a.npz", "o.npz", "--from", form.upper(), "--to", "CSR", "--concat", "R=b.npz,c.npz,C=d.npz")
    want = sp.hstack([sp.vstack([a, b, c]), d]).tocsr()
    o = sp.load_npz("o.npz")
    assert o.shape == (12, 10) and (o != want).nnz == 0
    good("convert", "a.npz", "o.npy", "--from", form.upper(), "--to", "COL_MAJOR", "--concat", "R=b.npz", "--concat", "R=c.npz,R=b.npz")
    assert np.array_equal(np.load("o.npy").T, sp.vstack([a, b, c, b]).toarray())


def test_other_files(tmp_path):
    """Matrix Market with equal entries, rows that are not sorted beside sorted ones, 64-bit indices, arrays, 4 bits, no values."""
    os.chdir(tmp_path)
    (tmp_path/"a.mtx").write_text("%%MatrixMarket matrix coordinate real general\n2 3 3\n1 1 1\n1 1 2\n2 3 5\n")
    (tmp_path/"b.mtx").write_text("%%MatrixMarket matrix coordinate real general\n1 3 1\n1 2 4\n")
    good("convert", "a.mtx", "o.npz", "--from", "COO", "--to", "CSR", "--concat", "R=b.mtx")
    assert sp.load_npz("o.npz").toarray().tolist() == [[3, 0, 0], [0, 0, 5], [0, 4, 0]]
    good("convert", "a.mtx", "o.mtx", "--from", "COO", "--to", "COO", "--concat", "R=b.mtx")
    assert (tmp_path/"o.mtx").read_text().splitlines()[1:] == ["3 3 4", "1 1 1", "1 1 2", "2 3 5", "3 2 4"]
    r = run("convert", "a.mtx", "o.npz", "--from", "COO", "--to", "CSR", "--concat", "R=b.mtx", "--duplicates", "error")
    assert r.returncode == 2 and r.stderr == "ravel: ALL_FILES: entry 1 is equal to one before it\n"
    for none in "R=", "R=b.mtx,,":
        r = run("convert", "a.mtx", "o.npz", "--from", "COO", "--to", "CSR", "--concat", none)
        assert r.returncode == 2 and "--concat '%s' names no file" % none in r.stderr
    m = save("m.npz", sp.csr_matrix((np.array([1., 2, 3]), np.array([2, 0, 1]), np.array([0, 2, 3])), (2, 3)))
    w = save("w.npz", sp.csr_matrix((np.array([7.]), np.array([2], "i8"), np.array([0, 1], "i8")), (1, 3)))
    np.savez("w.npz", format=b"csr", shape=[1, 3], data=w.data, indices=w.indices.astype("i8"), indptr=w.indptr.astype("i8"))
    good("convert", "m.npz", "o.npz", "--from", "CSR", "--to", "CSR", "--concat", "R=w.npz,m.npz")
    o = sp.load_npz("o.npz")
    assert np.load("o.npz")["indices"].dtype == "i8" and np.array_equal(o.toarray(), sp.vstack([m, w, m]).toarray())
    np.save("x.npy", np.arange(6.).reshape(2, 3)), np.save("y.npy", np.ones((2, 1)))
    good("convert", "x.npy", "o.npz", "--from", "ROW_MAJOR", "--to", "CSR", "--concat", "C=y.npy", "--threshold", "1.5")
    assert sp.load_npz("o.npz").toarray().tolist() == [[0, 0, 2, 0], [3, 4, 5, 0]]
    good("convert", "m.npz", "p.npz", "--from", "CSR", "--to", "CSR", "--dtype", "pattern", "--concat", "R=m.npz")
    assert np.load("p.npz")["crd2"].tolist() == [0, 2, 1, 0, 2, 1] and "val" not in np.load("p.npz")
    rng = np.random.default_rng(3)
    x, y = (matrix(rng, (3, 7), "i4", d) for d in (.2, .9))
    for name, v in ("x4", x), ("y4", y):
        np.save(name + ".npy", sparse.pack(v.reshape(-1), 4))
        good("convert", name + ".npy", name + ".npz", "--from", "ROW_MAJOR", "--to", "CSR", "--dtype", "i4", "--shape", "3,7")
    good("convert", "x4.npz", "o.npz", "--from", "CSR", "--to", "CSR", "--dtype", "i4", "--concat", "R=y4.npz,x4.npz")
    o, want = np.load("o.npz"), arrays("CSR", np.vstack([x, y, x]), "i4")
    assert (x != 0).sum() % 2 == 1 and np.array_equal(o["crd2"], want["crd2"]) and np.array_equal(o["val"], sparse.pack(want["val"], 4))


def test_tensors(tmp_path):
    """Any rank, and a format of a spec."""
    os.chdir(tmp_path)
    rng = np.random.default_rng(4)
    a, b = matrix(rng, (2, 3, 4)), matrix(rng, (2, 5, 4))
    np.save("a.npy", a), np.save("b.npy", b)
    good("convert", "a.npy", "o", "--from", "(I, J, K){I, J, K}", "--to", "CSF3", "--concat", "J=b.npy")
    for name, want in arrays("CSF3", np.concatenate([a, b], 1), "f32").items():
        assert np.array_equal(np.load("o/%s.npy" % name), want)


def test_wrong(tmp_path):
    os.chdir(tmp_path)
    save("a.npz", sp.identity(4, format="csr")), save("b.npz", sp.identity(3, format="csr")), save("c.npz", sp.identity(4, "f4", format="csr"))
    np.save("v.npy", np.ones(4)), np.save("m.npy", np.ones((2, 2)))
    for args, says in [(("a.npz", "--from", "CSR", "--to", "CSC", "--concat", "R=b.npz"), "'b.npz' has the shape (3,3): it does not continue (4,4)"),
                       (("a.npz", "--from", "CSR", "--to", "CSC", "--concat", "R=c.npz"), "'c.npz' holds f32 values, and 'a.npz' f64"),
                       (("a.npz", "--from", "CSR", "--to", "CSC", "--concat", "b.npz"), "a dim of CSR is in front"),
                       (("a.npz", "--from", "CSR", "--to", "CSC", "--concat", ""), "--concat has no file"),
                       (("a.npz", "--from", "CSR", "--to", "CSC", "--concat", "X=b.npz"), "a dim of CSR is in front"),
                       (("a.npz", "--from", "CSR", "--to", "CSC", "--concat", "R=none.npz"), "none.npz"),
                       (("a.npz", "--from", "CSR", "--to", "CSC", "--concat", "R=a.npz", "--mask", "m.npy"), "--mask is of one file"),
                       (("m.npy", "--from", "ROW_MAJOR", "--to", "COL_MAJOR", "--concat", "R=m.npy"), "beside a sparse format")]:
        r = run("convert", args[0], "x.npz", *args[1:])
        assert r.returncode == 2 and says in r.stderr and not os.path.exists("x.npz"), r.stderr


@pytest.mark.parametrize("first, second", [("?", "u1"), ("u1", "?")])
def test_bools_and_numbers(tmp_path, first, second):
    """Two bools have no sum, so neither order of the files is taken."""
    os.chdir(tmp_path)
    for name, dtype in ("a", first), ("b", second):
        sp.save_npz(name + ".npz", sp.coo_matrix((np.ones(2, dtype), ([0, 1], [1, 0])), (2, 2)))
    r = run("convert", "a.npz", "o.npz", "--from", "COO", "--to", "CSR", "--concat", "R=b.npz")
    assert r.returncode != 0 and "holds" in r.stderr and not os.path.exists("o.npz"), r
