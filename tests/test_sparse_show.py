"""show of a file with a sparse matrix: levels, the matrix and the arrays, against SciPy."""

import os
import re

import numpy as np
import pytest

from sparse_arrays import good, run, sp

ARRAYS = {"csr": ("pos2", "crd2"), "csc": ("pos2", "crd2"), "bsr": ("pos2", "crd2"), "coo": ("crd1", "crd2"), "dia": ("crd1",)}


def told(text):
    """(first line, rows of cells, {array: [its number of elements, its first elements]}) of what show prints."""
    cells = [line.split() for line in text.split("\na dot: ")[1].split("\n\n")[0].splitlines()[1:]]
    arrays = {m[0]: [int(m[1]), m[2].split()] for m in re.findall(r"^  (\w+) +(\d+):(.*)$", text.split("\narrays\n")[1], re.M)}
    return text.splitlines()[0], cells, arrays


def cells_of(m):
    """The cells of a matrix, from SciPy's list of entries."""
    m, at = m.tocoo(), {}
    for r, c, x in zip(m.row, m.col, m.data):
        at.setdefault((r, c), []).append("%.6g" % x if not np.iscomplexobj(m.data) else "%.6g%+.6gi" % (x.real, x.imag))
    return [[(at[r, c][0] if len(at[r, c]) == 1 else "*") if (r, c) in at else "." for c in range(m.shape[1])] for r in range(m.shape[0])]


@pytest.mark.parametrize("f", ["csr", "csc", "bsr", "coo", "dia"])
@pytest.mark.parametrize("dtype", ["f8", "f4", "i1", "u2", "i8", "c16"])
def test_files_of_scipy(tmp_path, f, dtype):
    os.chdir(tmp_path)
    values = (np.arange(1, 15) * (7 - 3 * (dtype[0] == "u"))).astype(dtype) - (0 if dtype[0] == "u" else 20)
    m = sp.random(6, 8, 0.3, format="coo", random_state=1, dtype="f8").astype(dtype)
    m.data = values if dtype != "c16" else values * (1 - 2j)
    m = m.asformat(f)
    sp.save_npz("m.npz", m)
    name, cells, arrays = told(good("show", "m.npz"))
    words = {"f8": "f64", "f4": "f32", "i1": "i8", "u2": "u16", "i8": "i64", "c16": "c128"}
    assert name == "%s%s: %s of (6,8)" % (f.upper(), "{BC = %d, BR = %d}" % m.blocksize[::-1] if f == "bsr" else "", words[dtype])
    assert cells == cells_of(m)
    of = {"dia": ["offsets"], "coo": ["row", "col"]}.get(f, ["indptr", "indices"])
    for array, own in zip(ARRAYS[f], of):
        want = getattr(m, own).tolist()
        assert arrays[array] == [len(want), [str(x) for x in want[:20]] + ["..."] * (len(want) > 20)]
    assert arrays["val"][0] == m.data.size if f != "dia" else 8 * m.offsets.size


def test_other_format(tmp_path):
    """--to, in a file of Matrix Market, a folder, and one whose format --from gives."""
    import scipy.io
    os.chdir(tmp_path)
    m = sp.random(30, 20, 0.1, format="coo", random_state=2, dtype="f8", data_rvs=lambda n: np.arange(1.0, n + 1))
    scipy.io.mmwrite("a.mtx", m)
    name, cells, arrays = told(good("show", "a.mtx", "--to", "CSC"))
    csc = m.tocsc()
    assert name == "CSC: f64 of (30,20)" and arrays["pos2"] == [21, [str(x) for x in csc.indptr[:20]] + ["..."]] and arrays["crd2"][1][:-1] == [str(x) for x in csc.indices[:20]]
    assert cells == [row[:16] + ["..."] for row in cells_of(m)[:24]] + [["..."]]
    good("convert", "a.mtx", "folder", "--from", "COO", "--to", "DCSR")
    told_of = told(good("show", "folder", "--from", "DCSR", "--to", "CSC"))
    assert told_of == (name, cells, arrays)
    assert good("show", "folder/", "--from", "DCSR").startswith("DCSR: f64 of (30,20)\n")
    os.mkdir("CSR")
    assert good("show", "CSR", "--shape", "2,2").startswith("CSR\ncompressed rows")


def test_equal_entries_and_zeros(tmp_path):
    os.chdir(tmp_path)
    sp.save_npz("d.npz", sp.coo_matrix((np.array([1, 2, 0.0]), ([0, 0, 1], [1, 1, 2])), (3, 4)))
    name, cells, arrays = told(good("show", "d.npz"))
    assert cells == [list(".*.."), list("..0."), list("....")] and arrays["val"] == [3, ["1", "2", "0"]]
    assert told(good("show", "d.npz", "--to", "CSR"))[2] == {"pos2": [4, ["0", "1", "2", "2"]], "crd2": [2, ["1", "2"]], "val": [2, ["3", "0"]]}
    good("convert", "d.npz", "p/", "--from", "COO", "--to", "CSR")
    os.remove("p/val.npy")
    name, cells, arrays = told(good("show", "p", "--from", "CSR", "--dtype", "pattern"))
    assert cells == [list(".x.."), list("..x."), list("....")] and set(arrays) == {"pos2", "crd2"} and name == "CSR: pattern of (3,4)"


def test_values_below_a_byte(tmp_path):
    os.chdir(tmp_path)
    os.mkdir("p")
    for name, x in [("pos2", np.array([0, 2, 3], "i4")), ("crd2", np.array([0, 2, 1], "i4")), ("val", np.array([0x7f, 0x08], "u1")), ("shape", np.array([2, 3]))]:
        np.save("p/%s.npy" % name, x)
    assert told(good("show", "p", "--from", "CSR", "--dtype", "i4")) == ("CSR: i4 of (2,3)", [["-1", ".", "7"], [".", "-8", "."]], {"pos2": [3, ["0", "2", "3"]], "crd2": [3, ["0", "2", "1"]], "val": [3, ["-1", "7", "-8"]]})
    assert told(good("show", "p", "--from", "CSR", "--dtype", "u4"))[2]["val"] == [3, ["15", "7", "8"]]


def test_more_dims(tmp_path):
    """Rows are those of all dims but the last one; a matrix of many entries is not drawn."""
    os.chdir(tmp_path)
    x = np.zeros((2, 3, 4), "f4")
    x[1, 2, 3], x[0, 1, 0] = 5, 7
    np.save("x.npy", x)
    good("convert", "x.npy", "t", "--from", "ROW_MAJOR", "--to", "CSF3")
    _, cells, arrays = told(good("show", "t", "--from", "CSF3"))
    assert cells == [["%g" % v if v else "." for v in row] for row in x.reshape(6, 4).tolist()] and arrays["crd3"] == [2, ["0", "3"]]
    sp.save_npz("l.npz", sp.csr_matrix(np.ones((1100, 1000), "f4")))
    text = good("show", "l.npz")
    assert "\nnot drawn: more than 1048576 entries\n" in text and "\n  val   1100000: 1 1" in text


@pytest.mark.parametrize("args, says", [
    (["no.mtx"], "ravel: no.mtx: cannot open: No such file or directory\n"),
    (["plain.npz"], "ravel: 'plain.npz' does not say its format: give --from, as in --from CSR\n"),
    (["a.npz", "--from", "CSC"], "ravel: 'a.npz' holds CSR: give --from CSR, not CSC\n"),
    (["a.npz", "--to", "ROW_MAJOR"], "ravel: --from and --to of show are sparse formats (ravel list sparse)\n"),
    (["a.npz", "--by", "bank"], "ravel: --by is for layouts, not for sparse formats\n"),
    (["CSR", "--to", "CSC"], "ravel: --from and --to are for a matrix in a file, as in show a.mtx --to CSR\n"),
    (["wrong.npz"], "ravel: 'wrong.npz': CSR: crd2[1] is outside the shape: it is 9, and C has 4 (SciPy's indices)\n")])
def test_refused(tmp_path, args, says):
    os.chdir(tmp_path)
    m = sp.csr_matrix(np.eye(3, 4))
    sp.save_npz("a.npz", m)
    np.savez("plain.npz", x=np.zeros(3))
    m.indices[1] = 9
    sp.save_npz("wrong.npz", m)
    r = run("show", *args)
    assert (r.returncode, r.stdout, r.stderr) == (2, "", says)


def test_list_of_a_matrix(tmp_path):
    """A file that list does not read is no word of a layout."""
    (tmp_path/"a.mtx").write_text("%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 1\n1 1 2\n2 1 5\n")
    r = run("list", "a.mtx", cwd=tmp_path)
    assert r.returncode == 2 and "'a.mtx' is a file" in r.stderr and "`ravel show a.mtx' draws" in r.stderr
    (tmp_path/"a.npy").write_bytes(b"")
    r = run("list", "a.npy", cwd=tmp_path)
    assert r.returncode == 2 and "'a.npy' is a file: list has the arrays of" in r.stderr and "ravel show" not in r.stderr
    (tmp_path/"qqzz").mkdir()
    for word in "b.mtx", "qqzz":
        r = run("list", word, cwd=tmp_path)
        assert (r.returncode, r.stderr) == (1, "") and "no layout has all these words" in r.stdout
    said = good("show", "a.mtx", "--to", "CSR", cwd=tmp_path)
    assert "\nthe entries as the file has them, before they become CSR\n" in said and "\n  * .\n  5 .\n" in said
    assert "before they become" not in good("show", "a.mtx", cwd=tmp_path)
