"""Files of sparse arrays that a strict reader finds fault with: orders, signals, equal entries, blocks and zeros."""

import os
import shutil
import signal
import subprocess
import time

import numpy as np
import pytest

import ravel
from sparse_arrays import good, RAVEL, run, sp

MTX = "%%MatrixMarket matrix coordinate real general\n2 3 2\n1 1 0.5\n2 3 4\n"


def command(folder, *args):
    r = subprocess.run([str(ravel.BUILD / "ravel"), *args], cwd=folder, capture_output=True, text=True, timeout=60)
    assert r.returncode in (0, 1, 2), r
    return r


def test_dims_of_the_destination_in_another_order(tmp_path):
    (tmp_path / "a.mtx").write_text(MTX)
    assert command(tmp_path, "convert", "a.mtx", "d.npy", "--from", "COO", "--to", "(C,R){C, R}").returncode == 0
    assert np.array_equal(np.load(tmp_path / "d.npy"), [[.5, 0], [0, 0], [0, 4]])
    assert command(tmp_path, "convert", "a.mtx", "p.npy", "--from", "COO", "--to", "(C,R){C, R, pad = {C = 8}}").returncode == 0
    assert np.load(tmp_path / "p.npy").shape == (8, 2)
    assert command(tmp_path, "convert", "a.mtx", "c", "--from", "COO", "--to", "CSR(C,R)").returncode == 0
    assert np.load(tmp_path / "c/shape.npy").tolist() == [3, 2] and np.load(tmp_path / "c/pos2.npy").tolist() == [0, 1, 1, 2]


@pytest.mark.parametrize("levels, says", [
    ("levels = { dense(R), compressed(C) }, order = {%s}" % ", ".join(["R", "C"]*10), "both an order and levels"),
    ("order = {%s}, levels = { dense(R), compressed(C) }" % ", ".join(["R", "C"]*10), "both an order and levels"),
    ("levels = { dense(R), nth(), singleton(C - R) }", "0 or more")])
def test_levels_that_contradict(tmp_path, levels, says):
    (tmp_path / "t.lua").write_text('sparse "X" { dims = { R, C }, %s }\n' % levels)
    r = command(tmp_path, "check", "t.lua:X")
    assert r.returncode == 2 and says in r.stderr, r


def test_a_format_of_a_spec_is_not_scipys(tmp_path):
    """It has the name of one that is."""
    (tmp_path / "t.lua").write_text('sparse "COO" { dims = { R, C }, levels = { dense(R), compressed(C) } }\n')
    (tmp_path / "a.mtx").write_text(MTX)
    assert command(tmp_path, "convert", "a.mtx", "b.npz", "--from", "COO", "--to", "CSR").returncode == 0
    r = command(tmp_path, "convert", "b.npz", "c.mtx", "--from", "CSR", "--to", "t.lua:COO")
    assert r.returncode == 2 and "coordinate list" in r.stderr and not (tmp_path / "c.mtx").exists(), r
    assert command(tmp_path, "convert", "b.npz", "c.npz", "--from", "CSR", "--to", "t.lua:COO").returncode == 0
    assert set(np.load(tmp_path / "c.npz")) >= {"pos2", "crd2", "val"}
    assert command(tmp_path, "convert", "b.npz", ".mtx", "--from", "CSR", "--to", "COO").returncode == 0
    assert (tmp_path / ".mtx").read_text().split()[5:] == "2 3 2 1 1 0.5 2 3 4".split()


@pytest.mark.parametrize("text, says", [
    (MTX.replace("0.5", "0.5 7"), "line 3: the line has more"), (MTX.replace("2 3 2", "2 3 2 junk"), "line 2: the line has more"),
    (MTX.replace("general", "general more"), "line 1: the line has more"), (MTX.replace("general", "skew-symmetric").replace("2 3 2", "3 3 2"), "no diagonal")])
def test_more_than_a_line_has(tmp_path, text, says):
    (tmp_path / "a.mtx").write_text(text)
    r = command(tmp_path, "convert", "a.mtx", "b.npz", "--from", "COO", "--to", "CSR")
    assert r.returncode == 2 and says in r.stderr and not (tmp_path / "b.npz").exists(), r


def test_rows_of_padding_are_filled(tmp_path):
    os.chdir(tmp_path)
    sp.save_npz("a.npz", sp.csr_matrix(np.eye(5, 3)))
    good("convert", "a.npz", "b.npy", "--from", "CSR", "--to", "(R, C){R, C, pad = {R = 2}, fill = 7}")
    b = np.load("b.npy")
    assert b.size == 18 and np.array_equal(b.reshape(6, 3), np.where(np.eye(6, 3), [[1]] * 5 + [[7]], 7))


def test_offsets_at_the_end_of_their_type(tmp_path):
    os.chdir(tmp_path)
    np.savez("a.npz", format=np.array(b"csr"), shape=np.array([2, 3]), indptr=np.array([0, 2**63 - 1, 1]), indices=np.array([0]), data=np.array([1.0]))
    r = run("convert", "a.npz", "b.npz", "--from", "CSR", "--to", "CSC")
    assert r.returncode == 2 and "pos2" in r.stderr


def test_a_signal_leaves_a_whole_folder_or_none(tmp_path):
    os.chdir(tmp_path)
    rows, each = 1000, 2000
    np.savez("a.npz", format=np.array(b"csr"), shape=np.array([rows, 4000]), indptr=np.arange(rows + 1, dtype="i4") * each,
             indices=np.tile(np.arange(each, dtype="i4"), rows), data=np.ones(rows * each))
    for delay in (0.05, 0.08, 0.1, 0.12, 0.15, 0.18):
        p = subprocess.Popen([str(RAVEL), "convert", "a.npz", "b", "--from", "CSR", "--to", "COO"], stdout=subprocess.DEVNULL)
        time.sleep(delay)
        p.send_signal(signal.SIGINT)
        assert p.wait(10) in (0, -signal.SIGINT) and not os.path.exists("b.part")
        if os.path.exists("b"):
            assert len(os.listdir("b")) == 5 and np.load("b/val.npy").size == rows * each
            shutil.rmtree("b")


def test_a_shifted_singleton(tmp_path):
    """Its coordinates are not those of the source."""
    (tmp_path / "t.lua").write_text('sparse "X" { dims = { R, C }, levels = { compressed(R, "nonunique"), singleton(C - 3) } }\n')
    (tmp_path / "a.mtx").write_text(MTX)
    for args in (["a.mtx", "b.npz", "--from", "COO", "--to", "CSR"], ["b.npz", "x", "--from", "CSR", "--to", "t.lua:X"], ["x", "y.npy", "--from", "t.lua:X", "--to", "ROW_MAJOR"]):
        r = command(tmp_path, "convert", *args)
        assert r.returncode == 0, r
    assert np.array_equal(np.load(tmp_path / "y.npy"), [[.5, 0, 0], [0, 0, 4]])


def test_what_scipy_has_not_sorted(tmp_path):
    """Rows in any order, with equal entries; diagonals in any order and trimmed."""
    os.chdir(tmp_path)
    rng = np.random.default_rng(12)
    for kind in (sp.csr_matrix, sp.csc_matrix):
        m = kind((np.arange(1.0, 8), np.array([4, 0, 4, 2, 1, 3, 0]), np.array([0, 3, 3, 5, 7])), (4, 5) if kind is sp.csr_matrix else (5, 4))
        sp.save_npz("a.npz", m)
        assert not sp.load_npz("a.npz").has_sorted_indices
        for to in ("CSR", "CSC", "COO"):
            good("convert", "a.npz", "b.npz", "--from", m.format.upper(), "--to", to)
            assert (sp.load_npz("b.npz") != m).nnz == 0
    for offsets, shape in [([2, -1, 0], (5, 7)), ([-2], (6, 3)), ([0, 1], (3, 3))]:
        m = sp.dia_matrix((rng.integers(1, 9, (len(offsets), 3)).astype("f4"), offsets), shape)
        sp.save_npz("a.npz", m)
        good("convert", "a.npz", "b.npz", "--from", "DIA", "--to", "CSR")
        assert np.array_equal(sp.load_npz("b.npz").toarray(), m.toarray())
    bad = {"format": b"csr", "shape": np.array([2, 5]), "data": np.ones(3), "indices": np.array([3, 1, 0], "i4")}
    for indptr in ([0, -5, 3], [0, 9, 3], [0, 2**31 - 1, 3]):
        np.savez("a.npz", indptr=np.array(indptr, "i4"), **bad)
        r = run("convert", "a.npz", "c.npz", "--from", "CSR", "--to", "CSC")
        assert r.returncode == 2 and "pos2" in r.stderr and not os.path.exists("c.npz"), r.stderr


def test_scipys_files_are_formats_of_any_order(tmp_path):
    os.chdir(tmp_path)
    m = sp.random(8, 12, 0.3, format="csr", random_state=3)
    for kind, name in (("csr", "CSR_ANY"), ("csc", "CSC_ANY"), ("bsr", "BSR_ANY")):
        sp.save_npz("a.npz", sp.bsr_matrix(m, blocksize=(4, 4)) if kind == "bsr" else m.asformat(kind))
        good("convert", "a.npz", "b.npz", "--from", name, "--to", "COO")
        good("convert", "b.npz", "c.npz", "--from", "COO", "--to", name)
        for file in ("b.npz", "c.npz"):
            assert (sp.load_npz(file) != m).nnz == 0
        assert sp.load_npz("c.npz").format == kind


def test_blocks_that_scipy_has_not_sorted(tmp_path):
    os.chdir(tmp_path)
    m = sp.bsr_matrix((np.arange(1.0, 19).reshape(3, 2, 3), np.array([1, 0, 1]), np.array([0, 3])), (2, 6))
    sp.save_npz("a.npz", m)
    for to in ("CSR", "BSR{BR=2, BC=3}"):
        good("convert", "a.npz", "b.npz", "--from", "BSR", "--to", to)
        assert np.array_equal(sp.load_npz("b.npz").toarray(), m.toarray())
    good("convert", "a.npz", "b.npz", "--from", "BSR{BR=2, BC=3}", "--to", "CSR", "--duplicates", "last")
    assert sp.load_npz("b.npz").toarray()[:, 3:].tolist() == [[13, 14, 15], [16, 17, 18]]
    for to, words, says in (("CSR", ["--duplicates", "error"], "entry 12 is equal"), ("CSR", ["--duplicates", "max"], "none of sum"),
                            ("BSR", [], "give --to 'BSR{BR=2, BC=3}' or a folder")):
        r = run("convert", "a.npz", "c.npz", "--from", "BSR", "--to", to, *words)
        assert r.returncode == 2 and says in r.stderr and not os.path.exists("c.npz"), r.stderr
    good("convert", "a.npz", "d", "--from", "BSR", "--to", "BSR")
    good("convert", "d", "e.npz", "--from", "BSR", "--to", "CSR")
    assert np.array_equal(sp.load_npz("e.npz").toarray(), m.toarray())


def test_small_refusals_and_zeros_of_files(tmp_path):
    os.chdir(tmp_path)
    a = np.array([[0, -0.0, 3], [5, 0, 0]], "f4")
    np.save("a.npy", a)
    for words, kept in (([], 3), (["--threshold", "0"], 2), (["--threshold", "-0.0"], 2)):
        good("convert", "a.npy", "b.npz", "--from", "ROW_MAJOR", "--to", "CSR", *words)
        assert sp.load_npz("b.npz").nnz == kept
    np.save("m.npy", np.ones((3, 2), bool))
    m = sp.csr_matrix((np.array([True, True]), np.array([1, 1]), np.array([0, 2])), (1, 2))
    sp.save_npz("t.npz", m)
    np.savez("p.npz", pos2=np.array([0, 1], "i4"), crd2=np.array([0], "i4"), shape=np.array([1, 1]))
    h = {"format": b"csr", "shape": np.array([1, 2]), "indptr": np.array([0, 2], "i4"), "indices": np.array([1, 1], "i4"), "data": np.ones(2, "f2")}
    np.savez("h.npz", **h)
    for args, says in ((["a.npy", "--from", "ROW_MAJOR", "--mask", "m.npy"], "has the shape (3,2), and the values beside it (2,3)"),
                       (["t.npz", "--from", "CSR"], "is equal to one before it"), (["h.npz", "--from", "CSR"], "equal to one before it, and values of f16 are not added: choose first or last (--duplicates)"),
                       (["p.npz", "--from", "CSR"], "give --dtype pattern if it holds places only")):
        r = run("convert", args[0], "x.npz", *args[1:], "--to", "CSC")
        assert r.returncode == 2 and says in r.stderr and not os.path.exists("x.npz"), r.stderr
    good("convert", "t.npz", "x.npz", "--from", "CSR", "--to", "CSC", "--duplicates", "last")
    r = run("convert", "a.npy", "y.npz", "--from", "ROW_MAJOR", "--to", "ROW_MAJOR", "--duplicates", "sum")
    assert r.returncode == 2 and "sparse format" in r.stderr
