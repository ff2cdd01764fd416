"""Emitted inverses of skews: for every address the element, or that there is none, against addresses by NumPy."""

import ctypes as ct
import json
import subprocess

import numpy as np
import pytest

import ravel
from sanitize import UNDEFINED

RAVEL = str(ravel.BUILD / "ravel")
# Entries, extents; the dims are X, Y, Z.
SKEWS = [(["X", "(X + Y)%30"], (21, 20)), (["X", "X + Y"], (21, 20)), (["(X + Y)//2", "(X + Y)%2", "X"], (21, 20)), (["(X + 2*Y)%41", "Y"], (21, 20)),
         (["X", "(3*Y + X)%80"], (21, 20)), (["X", "(Y + 21 - X)%20"], (21, 20)), (["X//8", "X%8", "((X%8 + Y)%20)//4", "((X%8 + Y)%20)%4"], (21, 20)),
         (["Z", "(X + Z)%9", "Y"], (9, 5, 4)), (["Z", "X", "(X + 2*Y + Z)%31"], (9, 5, 4)), (["(H + 4)%12", "A"], (7, 12)), (["Y", "2*X + 3*Y"], (6, 5)), (["X", "20 - Y + X"], (9, 20)), (["Y", "(X + Y)%7", "Z"], (7, 1, 3)),
         (["X", "(X - Y)%35"], (3, 4)), (["X", "(Y - 2*X)%12"], (6, 10)), (["X", "(X - 2*Y)%41", "Z"], (5, 9, 2)), (["(-3*Y - X)%12", "Y"], (7, 5)),
         (["X + Y", "X - Y + 9"], (9, 10)), (["X + 2*Y", "3*X + Y"], (6, 5)), (["X + Y", "Y + Z", "X + Z"], (5, 4, 3)), (["Z", "X + Y + Z", "2*X - 3*Y + 20"], (5, 4, 3))]


def text(case):
    order, shape = case
    dims = "AH" if "A" in order else "XYZ"[:len(shape)]
    return dims, "(%s){%s}" % (",".join(dims), ", ".join(order))


def entries(case):
    """The entries of each element."""
    order, shape = case
    dims, _ = text(case)
    at = dict(zip(dims, np.ix_(*map(np.arange, shape))))
    return [np.broadcast_to(eval(e, at), shape) for e in order]


@pytest.fixture(scope="module")
def inverses(tmp_path_factory):
    """A function of each case, by gcc with UBSan."""
    folder = tmp_path_factory.mktemp("skews")
    for i, case in enumerate(SKEWS):
        r = subprocess.run([RAVEL, "emit", "--kind", "inverse", "--to", text(case)[1], "--shape", ",".join(map(str, case[1])), "--dtype", "u8", "--name", "f%d" % i, "-o", folder / ("f%d.c" % i)],
                           capture_output=True, text=True)
        assert r.returncode == 0, (case, r.stderr)
    (folder / "all.c").write_text("".join('#include "f%d.c"\nint g%d(int64_t a, int64_t *x) { return f%d(a, x); }\n' % (i, i, i) for i in range(len(SKEWS))))
    subprocess.run(["gcc", "-O1", "-w", *UNDEFINED, "-shared", "-fPIC", "-o", folder / "f.so", folder / "all.c"], check=True)
    return ct.CDLL(str(folder / "f.so"))


@pytest.mark.parametrize("i", range(len(SKEWS)), ids=lambda i: text(SKEWS[i])[1])
def test_inverse(inverses, i, tmp_path):
    """For every address. The order of the elements in storage is that of their entries."""
    order, shape = SKEWS[i]
    subprocess.run([RAVEL, "table", text(SKEWS[i])[1], "--shape", ",".join(map(str, shape)), "--dtype", "u8", "-o", tmp_path / "t.npy"], check=True)
    table = np.load(tmp_path / "t.npy")
    rank = np.lexsort([e.ravel() for e in reversed(entries(SKEWS[i]))])
    assert np.array_equal(rank, np.argsort(table.ravel()))
    f, x = inverses["g%d" % i], (ct.c_int64 * len(shape))()
    f.argtypes = [ct.c_int64, ct.POINTER(ct.c_int64)]
    where = {int(a): at for at, a in np.ndenumerate(table)}
    for a in range(-2, int(table.max()) + 3):
        assert f(a, x) == (a in where) and (a not in where or tuple(x) == where[a]), a


@pytest.mark.parametrize("order, shape", [("(X,Y){(X*3 + Y)~(Y), X}", "6,10"), ("(X,Y){X + Y, 2*X + 2*Y}", "2100,2000"), ("(X,Y,Z){X + Y, Y + Z, X + 2*Y + Z}", "2100,2000,1500")])
def test_what_is_none_is_refused(order, shape):
    r = subprocess.run([RAVEL, "emit", "--kind", "inverse", "--to", order, "--shape", shape, "--dtype", "u8", "-o", "/dev/null"], capture_output=True, text=True)
    assert r.returncode == 2 and "is not one-to-one" in r.stderr


@pytest.mark.parametrize("case", SKEWS)
def test_command_and_library(cx, case):
    """check prints the inverse, and index and the library find elements by it; addresses without an element are told apart."""
    dims, layout = text(case)
    at = cx.table(layout, case[1], "u8")
    r = subprocess.run([RAVEL, "check", layout, "--shape", ",".join(map(str, case[1])), "--json"], capture_output=True, text=True)
    inverse = json.loads(r.stdout)["inverse"]
    a = at.reshape(-1)
    for d, x in zip(dims, np.indices(case[1]).reshape(len(dims), -1)):
        assert np.array_equal(eval(inverse[d], {"a": a}) + 0*a, x), (d, inverse[d])
    back = {int(v): x for x, v in np.ndenumerate(at)}
    x, found = (ct.c_int64 * len(dims))(), ct.c_int()
    for v in list(range(0, int(a.max()) + 1, 7)) + [int(a.max())]:
        ravel.call(ravel.lib.ravel_element, cx.p, layout.encode(), b"u8", len(dims), ravel.extents(case[1]), v, x, ct.byref(found))
        assert (tuple(x) if found.value else None) == back.get(v)


def test_beyond_looking_at_each():
    """9 million elements, more than are looked at one by one."""
    words = ["index", "{X, (X+Y)%3000}", "--shape", "3000,3000", "--inverse", "--at"]
    assert subprocess.run([RAVEL, *words, str(3000*2999 + 5)], capture_output=True, text=True).stdout == "2999,6\n"
