"""What the names in the text of a part are, by the arrays of a conversion: N of ROW_MAJOR(N,6)[1:3] by the array that holds the tensor, idx_len of [idx][1:3] by the
index array.  Against NumPy's own indexing, of the command and of the library."""
import ctypes as ct
import itertools
import os
import random
import re

import numpy as np
import pytest

import ravel
from test_arrays import Array, PTR, cx, data, ravel_command, same           # noqa: F401
from test_open_strides import names

SEED = int(os.environ.get("SEED", "19"))


def index_of(text, arrays):
    """What NumPy's [] takes for the text of an index."""
    return eval("np.s_[%s]" % text, {"np": np, **arrays})


def selected(x, indices, arrays):
    for text in indices:
        x = x[index_of(text, arrays)]
    return x


def extents_of(shape):
    class Extents(ct.Structure):
        _fields_ = [("rank", ct.c_int), ("extent", ct.c_int64 * 64)]
    return Extents(len(shape), (ct.c_int64 * 64)(*shape))


def given(plan, src, dst, arrays):
    """ravel_plan_given."""
    a = (Array * 8)(*[Array(name=n.encode(), rank=v.ndim, extent=(ct.c_int64 * 16)(*v.shape)) for n, v in arrays.items()])
    value = (ct.c_int64 * 16)()
    side = [None if s is None else ct.byref(extents_of(s)) for s in (src, dst)]
    ravel.call(ravel.lib.ravel_plan_given, plan.p, *side, len(arrays), a, value)
    return list(value)[:len(names(plan))]


# Indices one after the other; each with arrays selects of the part that the one before selects.
CHAINS = [["idx", "1:3"], ["idx", "-1"], ["idx", "-3:"], ["idx", "1:"], ["idx", "::2"], ["1:", "idx", "-2"], ["idx", ":, 1:4", "[2,0]"], ["idx", ":, jdx", "1:4, -2:"], ["::-1", "-4:-1"], ["idx", "::-1", "jdx", "1:2"],
          ["idx", "jdx"], [":, jdx", ":, -1"], ["idx", "[0,-1]"], ["idx", "-3:4"], ["2:", "1:", "0"]]


@pytest.mark.parametrize("chain", CHAINS, ids=["][".join(c) for c in CHAINS])
def test_convert(chain, tmp_path):
    """The command needs no shape and no number for the length of an array."""
    x, arrays = data((9, 7)), {"idx": np.array([5, 0, 6, 2, 1]), "jdx": np.array([3, 1, 0, 4])}
    used = {n: a for n, a in arrays.items() if any(n in i for i in chain)}
    want = selected(x, chain, arrays)
    np.save(tmp_path / "x", x)
    for n, a in used.items():
        np.save(tmp_path / n, a)
    tail = "".join("[%s]" % i for i in chain)
    for text in ("ROW_MAJOR" + tail, "ROW_MAJOR(N,M)" + tail, "ROW_MAJOR(9,7)" + tail):
        code, said = ravel_command("convert", "x.npy", "o.npy", "--from", text, "--to", "COL_MAJOR", *(["--index", ",".join("%s=%s.npy" % (n, n) for n in used)] if used else []),
                                   "--verify", cwd=tmp_path)
        assert code == 0 and "verified" in said, (text, said)
        assert same(np.load(tmp_path / "o.npy"), np.ascontiguousarray(want.T)), text


PROVEN = ["ROW_MAJOR(40,9)[idx][1:3]", "ROW_MAJOR(N,9)[idx][1:3]", "ROW_MAJOR(40,9)[idx][-1]", "ROW_MAJOR(N,9)[idx][-3:]", "ROW_MAJOR(40,9)[1:][idx][-2]", "ROW_MAJOR(N,9)[1:](m,9)[idx][-2]",
          "ROW_MAJOR(N,9)[idx][:, 1:4][[2,0]]", "ROW_MAJOR(40,M)[idx][:, jdx][1:4, -2:]"]


@pytest.mark.parametrize("text", PROVEN)
def test_verify(text):
    """An index of what an array selects is proven at lengths of the array that have the elements."""
    code, said = ravel_command("verify", "--from", text, "--to", "ROW_MAJOR", "--dtype", "f32")
    assert code == 0 and said.count("yes: ") == 2, said
    assert all(int(n) > 0 for n in re.findall(r"result   (\d+) element", said))


def test_an_extent_in_writing(cx):                                          # noqa: F811
    """The length of an array may have a number or a name before the next index."""
    x, i = data((9, 7)), np.array([5, 0, 6, 2])
    for text, more in ("ROW_MAJOR(9,7)[idx](4,7)[-3:]", ()), ("ROW_MAJOR(9,7)[idx](n,7)[-3:]", (4,)), ("ROW_MAJOR(9,7)[idx][-3:]", (4,)):
        with cx.plan(text, "ROW_MAJOR", (3, 7), "f32") as p:
            y = np.zeros((3, 7), "f4")
            assert names(p) == (["n"] if "(n" in text else ["idx_len"] if more else [])
            ravel.call(ravel.lib.ravel_run_arrays, p.p, y.ctypes.data, x.ctypes.data, ravel.extents((3, 7, *more)) if more else None, (PTR * 1)(i.ctypes.data))
            assert same(y, x[i][-3:])
    for text, why in ("ROW_MAJOR(9,7)[idx](4)[-3:]", "dims"), ("ROW_MAJOR(9,7)[idx](4,7)", r"expected an index in \[ \]"), ("ROW_MAJOR(9,7)[1:4](4,7)[:3]", "has extent 3 at dim 0"):
        with pytest.raises(ravel.Error, match=why):
            cx.plan(text, "ROW_MAJOR", (3, 7), "f32")


def test_given(cx):                                                         # noqa: F811
    """Each name by the array that decides it; the others do not follow."""
    i, j = np.zeros(5, "i8"), np.zeros((3, 4), "i8")
    cases = [("ROW_MAJOR(A,B)[1:3, :2]", "ROW_MAJOR(C,D)[2:4, 1:3]", (2, 2), (9, 7), (6, 5), {}, {"A": 9, "B": 7, "C": 6, "D": 5}),
             ("ROW_MAJOR(A,B)[1:3, :2]", "ROW_MAJOR(C,D)[2:4, 1:3]", (2, 2), (9, 7), None, {}, {"A": 9, "B": 7, "C": -1, "D": -1}),
             ("ROW_MAJOR(A,B)[1:3, :2]", "ROW_MAJOR", (2, 2), (63,), (2, 2), {}, {"A": -1, "B": -1}),
             ("COL_MAJOR(A,B)[1:3, :2]", "ROW_MAJOR", (2, 2), (9, 7), (2, 2), {}, {"A": 7, "B": 9}),
             ("ROW_MAJOR(A,6)[idx][1:3]", "ROW_MAJOR", (2, 6), (9, 6), None, {"idx": i}, {"A": 9, "idx_len": 5}),
             ("ROW_MAJOR(A,6)[idx][1:3]", "ROW_MAJOR", (2, 6), (9, 6), None, {"id": i, "idx2": i}, {"A": 9, "idx_len": -1}),
             ("ROW_MAJOR(A,6)[1:](m,6)[idx](n,6)[1:3]", "ROW_MAJOR", (2, 6), (9, 6), None, {"idx": i}, {"m": 8, "n": 5}),
             ("ROW_MAJOR(A,6)[along k, along l][-2:, 1:3]", "ROW_MAJOR", (2, 2), (9, 6), None, {"k": j, "l": j}, {"A": 9, "k_len0": 3, "l_len1": 4}),
             ("ROW_MAJOR@(ld,1)(A,6)[1:3]", "ROW_MAJOR", (2, 6), (9, 6), None, {}, {"A": -1, "ld": -1})]
    for src, dst, shape, of_src, of_dst, arrays, want in cases:
        with cx.plan(src, dst, shape, "f32") as p:
            found = dict(zip(names(p), given(p, of_src, of_dst, arrays)))
            assert found == want, (src, found)


def test_the_number_in_a_name(cx):                                          # noqa: F811
    """k_len1 is the extent of k at dim 1; a number beyond the dims of all arrays names none."""
    k = (Array * 1)(Array(name=b"k", rank=2, extent=(ct.c_int64 * 16)(3, 4)))
    for name, extent in ("k_len0", 3), ("k_len1", 4), ("k_len2", -1), ("k_len4294967297", -1), ("k_len", -1), ("k_len1x", -1), ("k_lem1", -1), ("kk_len1", -1):
        text, shape = ct.c_void_p(), extents_of(())
        ravel.call(ravel.lib.ravel_view_in, cx.p, b"ROW_MAJOR(%s,6)[:, 1:3]" % name.encode(), b"f32", None, 1, k, 0, ct.byref(text), ct.byref(shape))
        ct.CDLL(None).free(text)
        assert list(shape.extent)[:shape.rank] == [extent, 2], name


def test_given_of_packed_elements(cx):                                      # noqa: F811
    """The extents of an array of bytes are not those of its elements; those of index arrays are."""
    i = np.zeros(5, "i8")
    with cx.plan("COL_MAJOR(A,10)[idx][1:3]", "COL_MAJOR(C,10)[1:3]", (2, 10), "u4") as p:
        assert dict(zip(names(p), given(p, (10, 4), (10, 4), {"idx": i}))) == {"A": -1, "C": -1, "idx_len": 5}
    for layout, dtype, want in [("ROW_MAJOR(N,8)[1:3]", "u8", ("ROW_MAJOR(10,8)[1:3]", [2, 8])), ("ROW_MAJOR(N,8)[1:3]", "u4", ("ROW_MAJOR(N,8)[1:3]", [2, 8])), ("ROW_MAJOR(N,8)[1:]", "u4", ("ROW_MAJOR(N,8)[1:]", [-1, 8])),
                                ("ROW_MAJOR[1:3]", "u8", ("ROW_MAJOR(10,8)[1:3]", [2, 8])), ("ROW_MAJOR[1:3]", "u4", None), ("ROW_MAJOR[1:3]", "u9", None)]:
        text, shape = ct.c_void_p(), extents_of(())
        ask = [cx.p, layout.encode(), dtype.encode(), ct.byref(extents_of((10, 8))), 0, None, 1, ct.byref(text), ct.byref(shape)]
        if want is None:
            with pytest.raises(ravel.Error, match="give the shape" if dtype == "u4" else "u9"):
                ravel.call(ravel.lib.ravel_view_in, *ask)
        else:
            ravel.call(ravel.lib.ravel_view_in, *ask)
            assert (ct.string_at(text).decode(), list(shape.extent)[:shape.rank]) == want
            ct.CDLL(None).free(text)


def test_empty_index_arrays(tmp_path):
    """They select nothing, as NumPy's do, and are no reason to refuse: a file of numbers, a mask without true elements, a destination."""
    x, none = data((9, 7)), np.zeros(0, "i8")
    for n, a in {"x": x, "x0": x[:0], "none": none, "mask": np.zeros(9, bool), "i": np.array([1])}.items():
        np.save(tmp_path / n, a)
    for text, index, want in [("ROW_MAJOR[idx]", "idx=none.npy", x[none]), ("ROW_MAJOR(9,7)[i32 idx]", "idx=mask.npy", x[none]), ("ROW_MAJOR[idx][:, 2:]", "idx=none.npy", x[none][:, 2:]),
                              ("ROW_MAJOR[:, idx]", "idx=none.npy", x[:, none]), ("ROW_MAJOR[i, j]", "i=none.npy,j=none.npy", x[none, none])]:
        code, said = ravel_command("convert", "x.npy", "o.npy", "--from", text, "--to", "ROW_MAJOR", "--index", index, cwd=tmp_path)
        assert code == 0, said
        y = np.load(tmp_path / "o.npy")
        assert y.shape == want.shape and y.dtype == want.dtype
    code, said = ravel_command("convert", "x0.npy", "o.npy", "--from", "ROW_MAJOR", "--to", "ROW_MAJOR(5,7)[idx]", "--index", "idx=none.npy", cwd=tmp_path)
    assert code == 0 and same(np.load(tmp_path / "o.npy"), np.zeros((5, 7), "f4")), said
    for arguments, why in [(["x.npy", "--from", "ROW_MAJOR[idx][1:3]", "--to", "ROW_MAJOR", "--index", "idx=none.npy"], "'idx_len' of 'ROW_MAJOR(9,7)[idx][1:3]' is 0"),
                           (["x.npy", "--from", "ROW_MAJOR", "--to", "ROW_MAJOR(5,7)[idx]", "--index", "idx=none.npy"], "the index array 'idx' is empty, and logical shape (9,7) has elements"),
                           (["x.npy", "--from", "ROW_MAJOR[i, j]", "--to", "ROW_MAJOR", "--index", "i=none.npy,j=i.npy"], "has the shape (0), and 'i.npy' (1)")]:
        code, said = ravel_command("convert", arguments[0], "p.npy", *arguments[1:], cwd=tmp_path)
        assert code == 2 and why in said and not (tmp_path / "p.npy").exists(), said


def test_random_chains(tmp_path):
    """Two or three random indices: what NumPy selects, or a refusal where NumPy's slice is shorter than it is written or empty."""
    rnd, taken = random.Random(SEED), 0
    x, arrays = data((9, 7)), {"idx": np.array([5, 0, 6, 2, 1, 3])}
    np.save(tmp_path / "x", x)
    np.save(tmp_path / "idx", arrays["idx"])
    items = ["idx", "1:3", "-2:", "2:", ":-1", "::-1", "::2", "[1,0]", "[-1,-2]", "3", "-1", "-3:4", "[0,-1]"]
    for first, *rest in itertools.islice(iter(lambda: [rnd.choice(items) for _ in range(rnd.randrange(2, 4))], None), 40):
        chain = [first, *rest]
        if chain.count("idx") > 1:
            continue
        try:
            want = selected(x, chain, arrays)
        except IndexError:
            want = None
        text = "ROW_MAJOR" + "".join("[%s]" % i for i in chain)
        index = ["--index", "idx=idx.npy"] if "idx" in chain else []
        code, said = ravel_command("convert", "x.npy", "o.npy", "--from", text, "--to", "ROW_MAJOR", *index, cwd=tmp_path)
        if want is None or want.size == 0:
            assert code == 2, (text, said)
        elif code == 0:
            y = np.load(tmp_path / "o.npy")
            assert same(y, np.ascontiguousarray(want).reshape(y.shape)) and y.size == want.size, text
            taken += 1
        else:
            assert want.ndim == 0 or "idx" in chain and "must be" in said, (text, said)
    assert taken > 8
