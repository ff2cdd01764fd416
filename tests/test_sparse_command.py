"""The command with sparse formats: files of SciPy and of Matrix Market, refusals."""

import json
import os
import random

import numpy as np
import pytest

from sparse_arrays import good, run, sp


def test_command(tmp_path):
    """Matrix Market, SciPy's .npz of every format, folders and .npy, there and back."""
    import scipy.io
    m = sp.random(20, 30, 0.2, format="coo", random_state=1, dtype="f8", data_rvs=lambda n: np.arange(1.0, n + 1))
    os.chdir(tmp_path)
    scipy.io.mmwrite("a.mtx", m)
    good("convert", "a.mtx", "b.npz", "--from", "COO", "--to", "CSR")
    b = sp.load_npz("b.npz")
    assert b.format == "csr" and b.has_sorted_indices and (b != m.tocsr()).nnz == 0
    for f in ["csc", "bsr", "coo", "dia"]:
        good("convert", "b.npz", "c.npz", "--from", "CSR", "--to", "BSR{BR=4, BC=5}" if f == "bsr" else f.upper())
        c = sp.load_npz("c.npz")
        assert c.format == f and np.array_equal(c.toarray(), m.toarray())
        sp.save_npz("d.npz", m.asformat(f), compressed=f != "csc")
        good("convert", "d.npz", "e.npz", "--from", f.upper(), "--to", "CSR")
        assert (sp.load_npz("e.npz") != b).nnz == 0
    good("convert", "b.npz", "folder/", "--from", "CSR", "--to", "ELL")
    assert np.load("folder/crd3.npy").size == 20 * np.diff(b.indptr).max()
    good("convert", "folder", "f.mtx", "--from", "ELL", "--to", "COO")
    assert (scipy.io.mmread("f.mtx").tocsr() != b).nnz == 0
    good("convert", "folder", "g.npz", "--from", "ELL", "--to", "DCSR")
    assert set(np.load("g.npz")) == {"pos1", "crd1", "pos2", "crd2", "val", "shape"}
    good("convert", "g.npz", "h.npy", "--from", "DCSR", "--to", "ROW_MAJOR")
    assert np.array_equal(np.load("h.npy"), m.toarray())
    good("convert", "h.npy", "i.npz", "--from", "ROW_MAJOR", "--to", "CSC")
    assert (sp.load_npz("i.npz") != b).nnz == 0


@pytest.mark.parametrize("shape", [(0, 6), (6, 0)])
def test_extents_of_zero(tmp_path, shape):
    """Files of matrices without rows or columns, there and back, as SciPy and NumPy read them."""
    import scipy.io
    os.chdir(tmp_path)
    text = "%%%%MatrixMarket matrix coordinate real general\n%d %d 0\n" % shape
    (tmp_path/"a.mtx").write_text(text)
    good("convert", "a.mtx", "a.npz", "--from", "COO", "--to", "CSR")
    for to in "COO", "CSC", "BSR{BR=3, BC=2}", "DIA":
        good("convert", "a.npz", "b.npz", "--from", "CSR", "--to", to)
        b = sp.load_npz("b.npz")
        assert b.shape == shape and b.nnz == 0 and b.format.upper() == to[:3]
        good("convert", "b.npz", "c.npy", "--from", to, "--to", "ROW_MAJOR")
        assert np.load("c.npy").shape == shape
        good("convert", "c.npy", "d.mtx", "--from", "ROW_MAJOR", "--to", "COO")
        assert (tmp_path/"d.mtx").read_text() == text and scipy.io.mminfo("d.mtx")[:3] == (*shape, 0)
    good("convert", "a.npz", "t.npy", "--from", "CSR", "--to", "COL_MAJOR")
    assert np.load("t.npy").shape == shape[::-1]
    good("convert", "a.npz", "t.npy", "--from", "CSR", "--to", "(R, C){R // 4, C, R % 4}")
    assert np.load("t.npy").shape == ((0, 6, 4) if shape[1] else (2, 0, 4))
    digits = "(R, C){R % 4, C}" if shape[1] else "(R, C){R, C % 4}"          # each has places for every extent
    good("convert", "a.npz", "t.npy", "--from", "CSR", "--to", digits)
    assert np.load("t.npy").shape == (0,)
    good("convert", "t.npy", "d.mtx", "--from", digits, "--to", "COO", "--shape", "%d,%d" % shape)
    assert (tmp_path/"d.mtx").read_text() == text
    assert good("show", "CSR", "--shape", "%d,%d" % shape).splitlines()[-3:] == ["  pos2  %5d:%s" % (shape[0] + 1, " 0" * (shape[0] + 1)), "  crd2      0:", "  val       0:"]
    assert "below 0;" in good("check", "CSR", "--shape", "%d,%d" % shape)
    assert "an extent is 0" in good("explain", "--from", "COO", "--to", "BSR", "--dtype", "f32", "--shape", "%d,%d" % shape)


@pytest.mark.parametrize("field, symmetry", [("real", "general"), ("integer", "symmetric"), ("complex", "hermitian"), ("real", "skew-symmetric"),
                                             ("pattern", "symmetric"), ("pattern", "general")])
def test_matrix_market(tmp_path, field, symmetry):
    import scipy.io
    values = {"real": ["1.5", "-2e3", "4"], "integer": ["7", "-8", "9"], "complex": ["1 2", "3 -4", "5 0"], "pattern": ["", "", ""]}[field]
    at = [(2, 1), (3, 1), (3, 2)]
    text = "%%%%MatrixMarket matrix coordinate %s %s\n%% a comment\n\n4 4 3\n" % (field, symmetry)
    (tmp_path/"a.mtx").write_text(text + "".join("%d %d %s\n" % (r, c, v) for (r, c), v in zip(at, values)))
    good("convert", tmp_path/"a.mtx", tmp_path/"b.npz", "--from", "COO", "--to", "CSR")
    want = scipy.io.mmread(str(tmp_path/"a.mtx")).toarray()
    assert np.array_equal(sp.load_npz(tmp_path/"b.npz").toarray(), want)


def test_unsigned_matrix_market(tmp_path):
    """What is written is read back, up to 2^64 - 1."""
    m = sp.csr_matrix(np.array([[0, 2**64 - 1], [2**63, 7]], "u8"))
    sp.save_npz(tmp_path/"a.npz", m)
    good("convert", tmp_path/"a.npz", tmp_path/"a.mtx", "--from", "CSR", "--to", "COO")
    assert (tmp_path/"a.mtx").read_text().split("\n")[2:5] == ["1 2 18446744073709551615", "2 1 9223372036854775808", "2 2 7"]
    good("convert", tmp_path/"a.mtx", tmp_path/"b.npz", "--from", "COO", "--to", "CSR")
    b = sp.load_npz(tmp_path/"b.npz")
    assert b.dtype == "u8" and np.array_equal(b.toarray(), m.toarray())


@pytest.mark.parametrize("text, says", [
    ("", "line 1: the file does not begin"), ("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 5\n\0 2", "is no text: it has a NUL byte at 58"),
    ("%%MatrixMarket matrix array real general\n2 2\n", "only 'coordinate'"),
    ("%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 5\n", "line 3: the row"), ("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 0 5\n", "line 3: the column"),
    ("%%MatrixMarket matrix coordinate real general\n2 2 9999\n1 1 5\n", "fewer entries"), ("%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 5\n", "line 4: the file ends after 1 of 2 entries"),
    ("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 5\n1 2 5\n", "more entries"), ("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 x\n", "no number"),
    ("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1\n", "missing"), ("%%MatrixMarket matrix coordinate real general\n-2 2 1\n", "rows"),
    ("%%MatrixMarket matrix coordinate real symmetric\n2 3 1\n1 1 1\n", "as many rows"), ("%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 1 99999999999999999999\n", "64 bits"),
    ("%%MatrixMarket matrix coordinate integer general\n2 2 2\n1 1 -1\n1 2 9223372036854775808\n", "both its values below 0"),
    ("%%MatrixMarket matrix coordinate integer skew-symmetric\n2 2 1\n2 1 9223372036854775808\n", "64 bits"),
])
def test_damaged_matrix_market(tmp_path, text, says):
    (tmp_path/"a.mtx").write_text(text)
    r = run("convert", tmp_path/"a.mtx", tmp_path/"b.npz", "--from", "COO", "--to", "CSR")
    assert r.returncode == 2 and says in r.stderr and not (tmp_path/"b.npz").exists()


def test_damaged_archives(tmp_path):
    """Bytes of an .npz changed or cut off: an error and no file, or a result."""
    rng = random.Random(4)
    m = sp.random(9, 9, 0.3, format="csr", random_state=2)
    sp.save_npz(tmp_path/"a.npz", m)
    whole = (tmp_path/"a.npz").read_bytes()
    for i in range(40):
        b = bytearray(whole)
        for _ in range(rng.randint(1, 4)):
            b[rng.randrange(len(b))] = rng.randrange(256)
        (tmp_path/"b.npz").write_bytes(b[:rng.randrange(len(b))] if i % 4 == 0 else b)
        r = run("convert", tmp_path/"b.npz", tmp_path/"c.npz", "--from", "CSR", "--to", "CSC")
        assert r.returncode in (0, 2), r.stderr
        assert (r.returncode == 0) == (tmp_path/"c.npz").exists()
        if r.returncode == 0:
            (tmp_path/"c.npz").unlink()


def test_command_errors(tmp_path):
    os.chdir(tmp_path)
    sp.save_npz("a.npz", sp.identity(4, format="csc"))
    np.savez("b.npz", pos2=np.zeros(5, "i4"), crd2=np.zeros(0, "i4"), val=np.zeros(0, "f4"), shape=np.array([4, 4]))
    np.savez("c.npz", pos2=np.zeros(5, "i4"), shape=np.array([4, 4]))
    np.save("d.npy", np.ones((2, 3), "f4"))
    np.savez("e.npz", format=np.array(b"dia"), shape=np.array([5, -1]), offsets=np.zeros(1, "i4"), data=np.zeros((1, 5), "u1"))
    for args, says in [(("a.npz", "x.npz", "--from", "CSR", "--to", "COO"), "holds CSC: give --from CSC"),
                       (("b.npz", "x.mtx", "--from", "CSR", "--to", "CSC"), "give --to COO"),
                       (("c.npz", "x.npz", "--from", "CSR", "--to", "CSC"), "no array val"),
                       (("b.npz", "x.npz", "--from", "CSR", "--to", "CSC", "--verify"), "--verify"),
                       (("none.npz", "x.npz", "--from", "CSR", "--to", "CSC"), "none.npz"),
                       (("b.npz", "x.npz", "--from", "CSR", "--to", "ROW_MAJOR"), "as .npy"), (("b.npz", "x.npy", "--from", "CSR", "--to", "CSC"), "several arrays"),
                       (("d.npy", "x.npz", "--from", "ROW_MAJOR", "--to", "CSR", "--shape", "3,2"), "omit --shape"),
                       (("d.npy", "x.npz", "--from", "ROW_MAJOR", "--to", "CSR", "--dtype", "i32"), "omit --dtype"),
                       (("e.npz", "x.npz", "--from", "DIA", "--to", "CSR"), "the extent -1")]:
        r = run("convert", *args)
        assert r.returncode == 2 and says in r.stderr and not os.path.exists("x.npz"), r.stderr


def test_show_check_explain():
    assert "pos2      5:" in good("show", "CSR", "--shape", "4,6")
    assert "stored less 3" in good("show", "DIA", "--shape", "4,6")
    assert "yes: BSR" in good("check", "BSR", "--shape", "9,9")
    assert "more than once" in good("check", "COO")
    assert "by counting" in good("explain", "--from", "CSR", "--to", "CSC", "--shape", "9,9", "--dtype", "f32")
    assert "by rows" in good("explain", "--from", "COO", "--to", "CSR", "--shape", "9,9", "--dtype", "f32")
    assert "call transpose" in good("explain", "--from", "CSR", "--to", "CSC", "--shape", "9,9", "--dtype", "f32", "--statements")
    names = [e["name"] for e in json.loads(good("list", "--json"))]
    assert {"COO", "CSR", "CSC", "BSR", "DCSR", "ELL", "DIA", "CSF3", "COO6"} <= set(names)


def test_a_result_beyond_memory(tmp_path):
    """A value for each place of many diagonals: the message has the bytes, how many values become how many, and what takes less."""
    n = 400_000
    rng = np.random.default_rng(1)
    m = sp.csr_matrix((np.ones(n), (rng.integers(0, n, n), rng.integers(0, n, n))), (n, n))
    m.sum_duplicates()
    sp.save_npz(tmp_path/"a.npz", m)
    r = run("convert", tmp_path/"a.npz", tmp_path/"b.npz", "--from", "CSR", "--to", "DIA")
    diagonals = np.unique(m.indices - np.repeat(np.arange(n), np.diff(m.indptr))).size
    assert r.returncode == 2 and "a result as DIA, %d values of %d, of %d bytes does not fit" % (diagonals * n, m.nnz, diagonals * (8 * n + 4) + 8) in r.stderr
    assert "one with fewer places for the fill takes less, as CSR" in r.stderr and not (tmp_path/"b.npz").exists()
