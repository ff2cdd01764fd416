"""Arguments of wrong types: each public function says what it wants, as a TypeError or, where a value has the type and is wrong, as an Error."""
import numpy as np
import pytest

import ravel

X = np.zeros((2, 3, 5, 7), np.float16)
SHAPE = X.shape
NHWC = ravel.layout("NHWC")
PLAN = ravel.compile("NCHW", "NHWC", SHAPE, "f16")
ANY = ravel.compile("NCHW", "NHWC", (None, 3, 5, 7), "f16")

A_LAYOUT, A_SHAPE, A_DTYPE = "a layout is a text such as 'NCHW'", "a shape( or an index)? is a sequence of integers", "a dtype is a text"
AN_INTEGER, AN_ARRAY = "cannot be interpreted as an integer", "is no array|elements"
# The call with a value, what is said of a wrong one, and whether None is a value.
ARGUMENTS = {
    "layout, text": (ravel.layout, A_LAYOUT, False),
    "layout, dtype": (lambda v: ravel.layout("NHWC", v), A_DTYPE, True),
    "load, text": (ravel.load, "a spec is a text", False),
    "load, name": (lambda v: ravel.load("", v), "the name of a spec is a text", False),
    "convert, x": (lambda v: ravel.convert(v, "NCHW", "NHWC"), AN_ARRAY, False),
    "convert, src": (lambda v: ravel.convert(X, v, "NHWC"), A_LAYOUT, False),
    "convert, dst": (lambda v: ravel.convert(X, "NCHW", v), A_LAYOUT, False),
    "convert, shape": (lambda v: ravel.convert(X, "NCHW", "NHWC", shape=v), A_SHAPE, True),
    "convert, dtype": (lambda v: ravel.convert(X, "NCHW", "NHWC", dtype=v), A_DTYPE, True),
    "convert, out": (lambda v: ravel.convert(X, "NCHW", "NHWC", out=v), AN_ARRAY, True),
    "convert, threads": (lambda v: ravel.convert(X, "NCHW", "NHWC", threads=v), AN_INTEGER, False),
    "convert, index": (lambda v: ravel.convert(X, "NCHW", "NHWC", index=v), "give numbers by the array's name", True),
    "compile, src": (lambda v: ravel.compile(v, "NHWC", SHAPE, "f16"), A_LAYOUT, False),
    "compile, dst": (lambda v: ravel.compile("NCHW", v, SHAPE, "f16"), A_LAYOUT, False),
    "compile, shape": (lambda v: ravel.compile("NCHW", "NHWC", v, "f16"), A_SHAPE, False),
    "compile, dtype": (lambda v: ravel.compile("NCHW", "NHWC", SHAPE, v), A_DTYPE, False),
    "compile, threads": (lambda v: ravel.compile("NCHW", "NHWC", SHAPE, "f16", threads=v), AN_INTEGER, False),
    "plan, x": (PLAN, AN_ARRAY, False),
    "plan, out": (lambda v: PLAN(X, v), AN_ARRAY, True),
    "plan, shape": (lambda v: ANY(X, shape=v), A_SHAPE, True),
    "plan, index": (lambda v: PLAN(X, index=v), "give numbers by the array's name", True),
    "check, shape": (NHWC.check, A_SHAPE, False),
    "check, dtype": (lambda v: NHWC.check(SHAPE, v), A_DTYPE, True),
    "index, at": (lambda v: NHWC.index(v, SHAPE), A_SHAPE, False),
    "index, shape": (lambda v: NHWC.index((0, 0, 0, 0), v), A_SHAPE, False),
    "element, address": (lambda v: NHWC.element(v, SHAPE), AN_INTEGER, False),
    "element, shape": (lambda v: NHWC.element(0, v), A_SHAPE, False),
    "table, shape": (NHWC.table, A_SHAPE, False),
    "storage, shape": (NHWC.storage, A_SHAPE, False),
    "show, shape": (NHWC.show, A_SHAPE, False),
    "equals, other": (NHWC.equals, A_LAYOUT, False),
    "equals, shape": (lambda v: NHWC.equals("NCHW", v), A_SHAPE, True),
    "equals, dtype": (lambda v: NHWC.equals("NCHW", None, v), A_DTYPE, True),
}


@pytest.mark.parametrize("name", ARGUMENTS)
def test_wrong_types(name):
    call, says, optional = ARGUMENTS[name]
    for value in [2.5, object()] + [None] * (not optional):
        with pytest.raises((TypeError, ravel.Error), match=says):
            call(value)
    if optional:
        call(None)


@pytest.mark.parametrize("name", ARGUMENTS)
def test_lists_and_tables(name):
    """No list of texts is anything here, and what is said is no accident of a cache."""
    for value in (["a"], {"a": "b"}):
        with pytest.raises((TypeError, ravel.Error)) as e:
            ARGUMENTS[name][0](value)
        assert "unhashable" not in str(e.value)


def test_other_classes_are_not_equal():
    assert all((NHWC == other) is False for other in (None, 3, ["a"], object()))
