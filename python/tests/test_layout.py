"""Layouts against tables of addresses; spec files and texts."""
import itertools
import os

import numpy as np
import pytest

import ravel

CASES = [("NHWC", (2, 3, 4, 5), None), ("NC1HWC0", (2, 20, 3, 4), "f16"), ("{M//4, K//4, M%4, K%4}", (6, 8), None), ("SW128", (16, 64), "f16"),
         ("(R,C){C, R}", (1, 7), np.int8)]
SPEC = 'layout "%s" { dims = { M, K }, order = { %s } }'


@pytest.mark.parametrize("text, shape, dtype", CASES)
def test_questions(text, shape, dtype):
    l = ravel.layout(text)
    v, table = l.check(shape, dtype), l.table(shape, dtype)
    assert v and v.one_to_one and v.source and not v.collision and table.shape == shape and table.dtype == np.int64
    assert len(set(table.flat)) == table.size == v.elements and v.slots == v.elements + v.padding + v.holes == np.prod(l.storage(shape, dtype))
    assert v.onto == (v.slots == v.elements)
    elements = {table[x]: x for x in itertools.product(*map(range, shape))}
    for a in range(0, v.slots, 11):
        assert l.element(a, shape, dtype) == elements.get(a)
    for a in list(elements)[::17]:
        assert l.index(elements[a], shape, dtype) == a


def test_addresses_are_where_elements_go():
    """The conversion of the coordinates' numbers puts each at its address."""
    x = np.arange(2 * 20 * 3 * 4, dtype=np.uint16).reshape(2, 20, 3, 4)
    y = ravel.convert(x, "NCHW", "NC1HWC0")
    assert np.array_equal(y.reshape(-1)[ravel.layout("NC1HWC0").table(x.shape, "u16")], x)


def test_no():
    v = ravel.layout("{M//2, K}").check((8, 8))
    x, y, address = v.collision
    assert not v and v.one_to_one is False and x != y and address == x[0] // 2 * 8 + x[1] == y[0] // 2 * 8 + y[1]
    with pytest.raises(ravel.Error) as e:
        ravel.layout("{M//2, K}").table((8, 8))
    assert e.value.status == "LAYOUT"


def test_dtype():
    l = ravel.layout("NC1HWC0")
    for ask in (lambda: l.check((1, 1, 1, 1)), lambda: l.storage((1, 1, 1, 1)), lambda: l == "NCHW"):
        with pytest.raises(ravel.Error, match="element size"):
            ask()
    assert ravel.layout("NC1HWC0", "i8").storage((1, 1, 1, 1)) == (1, 1, 1, 1, 32) == ravel.layout("NC1HWC0").storage((1, 1, 1, 1), np.int8)
    assert ravel.layout("AWQ").check((16, 64)).bytes == 16 * 64 // 2
    assert ravel.layout("NC1HWC0", "int8").storage((1, 1, 1, 1)) == (1, 1, 1, 1, 32)
    with pytest.raises(ravel.Error, match="unknown dtype 'int7'"):
        ravel.layout("NC1HWC0", "int7")


def test_equality_of_layouts_that_depend_on_the_dtype():
    """Two dtypes give two layouts; none gives the ways to say one."""
    l, f16, f32 = ravel.layout("NC1HWC0"), ravel.layout("NC1HWC0", "f16"), ravel.layout("NC1HWC0", "f32")
    assert f16 == l == f16 and l.equals(f32) and f16 == "NC1HWC0{C0=16}" and f32 != "NC1HWC0{C0=16}" and f16.equals(f32, dtype="i8")
    assert ravel.layout("NHWC", "f16") == ravel.layout("NHWC", "f32")
    for ask in lambda: l == "NCHW", lambda: f16 == f32, lambda: ravel.layout("NHWC", "f32").equals(f16):
        with pytest.raises(ravel.Error, match=r"depends on the element size: give a dtype, as in layout\(..., 'f16'\) or a.equals\(b, dtype='f16'\)"):
            ask()


def test_equal():
    nhwc = ravel.layout("NHWC")
    assert nhwc == ravel.layout("(N,C,H,W){N, H, W, C}") and nhwc != "NCHW" and nhwc.equals("NCHW", (3, 1, 4, 5)) and not nhwc.equals("NCHW", (3, 2, 4, 5))
    assert nhwc != 3 and (nhwc == None) is False     # noqa: E711
    assert ravel.layout("NC1HWC0", "f16") == "NC1HWC0{C0=16}"
    with pytest.raises(ravel.Error):
        nhwc == "{M, K}"
    with pytest.raises(TypeError):
        hash(nhwc)


def test_picture():
    p = ravel.layout("NHWC").show((1, 2, 3, 4))
    assert p.startswith("<svg") and p._repr_svg_() == p and p.endswith("</svg>\n")


def test_a_picture_is_short_where_it_is_not_shown(tmp_path):
    p = ravel.layout("NHWC").show((1, 2, 2, 2))
    assert repr(p) == "<ravel.Picture: save('picture.svg') writes it>" and str(p).startswith("<svg")
    p.save(str(tmp_path / "p.svg"))
    assert (tmp_path / "p.svg").read_text() == p


def test_no_such_layout():
    for text, says in (("NC1HWCO", "NC1HWC0"), ("{M", "not closed"), ("", ""), ("a\0b", "")):
        with pytest.raises((ravel.Error, ValueError), match=says):
            ravel.layout(text)
    with pytest.raises(ravel.Error, match="none.lua: No such file"):
        ravel.layout("none.lua:A")


def test_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.lua").write_text(SPEC % ("MINE", "K, M"))
    x = np.arange(6, dtype=np.uint8).reshape(2, 3)
    mine = ravel.layout("mine.lua:MINE")
    assert np.array_equal(ravel.convert(x, "{M, K}", "mine.lua:MINE"), x.T) and mine.index((0, 1), (2, 3)) == 2
    assert np.array_equal(ravel.convert(x.T.copy(), mine, "{M, K}"), x)
    (tmp_path / "mine.lua").write_text(SPEC % ("MINE", "M, K") + " ")           # the file says something else now
    assert np.array_equal(ravel.convert(x, "{M, K}", "mine.lua:MINE"), x) and mine.index((0, 1), (2, 3)) == 1
    with pytest.raises(ravel.Error, match="NOPE"):
        ravel.layout("mine.lua:NOPE")
    with pytest.raises(ravel.Error):
        ravel.layout("MINE")                                                    # it is known in that file only
    (tmp_path / "bad.lua").write_text("layout 'A' {\n  dims = \n")
    with pytest.raises(ravel.Error, match="bad.lua:[23]"):
        ravel.layout("bad.lua:A")


def test_two_files(tmp_path):
    a, b = tmp_path / "a.lua", tmp_path / "b.lua"
    a.write_text(SPEC % ("A", "K, M") + SPEC % ("SAME", "K, M"))
    b.write_text(SPEC % ("B", "M, K") + SPEC % ("SAME", "M, K"))
    x = np.arange(6, dtype=np.uint8).reshape(3, 2)
    assert np.array_equal(ravel.convert(x, "%s:A" % a, "%s:B" % b, shape=(2, 3)), x.T)
    with pytest.raises(ravel.Error, match="both have a SAME"):
        ravel.convert(x, "%s:SAME" % a, "%s:SAME" % b)
    assert ravel.layout("%s:SAME" % a) != "%s:B" % b and ravel.layout("%s:SAME" % b) != "%s:A" % a and ravel.layout("%s:SAME" % b) == "%s:B" % b


def test_load():
    x = np.arange(6, dtype=np.uint8).reshape(2, 3)
    ravel.load(SPEC % ("LOADED", "K, M"), "first")
    assert np.array_equal(ravel.convert(x, "{M, K}", "LOADED"), x.T)
    with pytest.raises(ravel.Error, match="second:1"):
        ravel.load("layout 'LOADED' {", "second")
    assert np.array_equal(ravel.convert(x, "{M, K}", "LOADED"), x.T)
    ravel.load(SPEC % ("LOADED", "M, K"), "third")
    assert np.array_equal(ravel.convert(x, "{M, K}", "LOADED"), x)


def test_package():
    assert os.path.exists(os.path.join(os.path.dirname(ravel.__file__), "py.typed")) and ravel.__version__.count(".") == 2
    for name in ravel.__all__:
        assert getattr(ravel, name).__doc__, name
