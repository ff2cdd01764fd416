"""The work memory of sparse conversions, which the caller of emitted C counts; and what the arrays of a format have."""

import ctypes as ct
import itertools
import subprocess

import pytest

import sparse
from sparse_arrays import cx, good  # noqa: F401 (cx is a fixture)

FEW = ("COO", "CSR", "CSC", "BSR", "ROW_MAJOR")
SORTED = {("COO", "BSR"), ("CSC", "BSR")}      # of so many blocks


def sizes(name, rows, entries, blocks, longest):
    """The elements of the arrays of a matrix, and of the longest one of indices; of a layout and of diagonals, which have no index for a value, their elements."""
    of = {"COO": [2, entries, entries, entries], "BSR": [rows//4 + 1, blocks, 16*blocks], "ROW_MAJOR": [rows*rows],
          "ELL": [longest*rows, longest*rows], "DIA": [longest, longest*rows]}.get(name, [rows + 1, entries, entries])
    return of, of[-1] if name in ("DIA", "ROW_MAJOR") else max(of[:-1])


@pytest.mark.parametrize("index", ["i32", "i64"])
@pytest.mark.parametrize("names, rows, entries, blocks, longest", [
    (FEW, 4000, 1_600_000, 815_000, 0), (FEW, 4000, 160_000, 149_000, 0), (("CSR", "ELL", "DIA"), 4000, 1_600_000, 0, 470),
    (FEW[:4], 1_000_000, 10_000_000, 9_990_000, 0)])
def test_work_memory(tmp_path, names, rows, entries, blocks, longest, index):
    """At most an index for each entry of the larger side; from a list to rows with 32-bit indices, a tenth more, and from diagonals in an order of their own, eight."""
    pairs = [p for p in itertools.product(names, names) if p not in ({("ROW_MAJOR",) * 2, ("DIA", "ELL")} | (SORTED if rows > 4000 else set()))]
    (tmp_path/"k.txt").write_text("".join("--from %s --to %s --shape %d,%d --dtype f64 --index-type %s --name f%d\n" % (a, b, rows, rows, index, i) for i, (a, b) in enumerate(pairs)))
    good("emit", "--list", tmp_path/"k.txt", "-o", tmp_path/"f.c")
    subprocess.run(["gcc", "-O0", "-w", "-shared", "-fPIC", "f.c", "-o", "f.so"], cwd=tmp_path, check=True)
    lib, m = ct.CDLL(str(tmp_path/"f.so")), (ct.c_int64 * 8)()
    for i, (a, b) in enumerate(pairs):
        n, most = sizes(a, rows, entries, blocks, longest)
        most = max(most, sizes(b, rows, entries, blocks, longest)[1])
        assert lib["f%d_work" % i](None, (ct.c_void_p * 4)(), (ct.c_int64 * 4)(*n), None, m) == 0
        list_to_rows = a == "COO" and b in ("CSR", "CSC") and index == "i32"
        assert 0 < m[0] <= most * int(index[1:]) // 8 * (1.1 if list_to_rows else 1), (a, b)


def test_roles(cx):
    """Coordinates of 2:4 weights are codes in bytes."""
    for a, b, want in ("COO", "CSR", [0, 1, 1, 3]), ("SEMI24", "CSR", [2, 3]), ("ROW_MAJOR", "CSR", [3]):
        plan, out = sparse.Plan(cx, a, b, (8, 8), "f32"), (sparse.Array * sparse.ARRAYS)()
        assert [x.role for x in out[:plan.so.ravel_sparse_arrays(plan.at, 0, out)]] == want
    plan = sparse.Plan(cx, "ROW_MAJOR", "CSR", (8, 8), "f32", mask=True)
    assert [x.role for x in out[:plan.so.ravel_sparse_arrays(plan.at, 0, out)]] == [4, 3]
