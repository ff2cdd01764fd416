"""What the library answers to NULL and to numbers out of range: RAVEL_ERR_ARGUMENT with a sentence, no size and no plan."""
import ctypes as ct
import re

import pytest

import ravel

NOWHERE = None
SHAPE = ravel.extents((2, 3))
SIZE = ct.c_int64(77)
OUT = ct.c_void_p(77)


def request(**fields):
    given = dict(from_=b"{A, B}", to=b"(A,B){B, A}", dtype=b"u8", rank=2, shape=SHAPE, threads=0)
    return ct.byref(ravel.Request(**{**given, **fields}))


def calls(h, plan):
    """Name, arguments without the error."""
    yield "context_new", [NOWHERE]
    yield "load", [NOWHERE, b"", 0, b"x"]
    yield "load", [h, NOWHERE, 5, b"x"]
    yield "set_threads", [NOWHERE, 1, None, None]
    yield "set_threads", [h, -1, None, None]
    for bad in ({"from_": None}, {"to": None}, {"dtype": None}, {"shape": None}, {"rank": -1}, {"rank": 17}, {"dtype": b"f33"}):
        yield "compile", [h, request(**bad), ct.byref(OUT)]
    yield "compile", [NOWHERE, request(), ct.byref(OUT)]
    yield "compile", [h, NOWHERE, ct.byref(OUT)]
    yield "compile", [h, request(), NOWHERE]
    for f in ("table", "storage_bytes"):
        good = [h, b"{A, B}", b"u8", 2, SHAPE, ct.byref(SIZE)]
        for i in (0, 1, 2, 4, 5):
            yield f, [*good[:i], NOWHERE, *good[i + 1:]]
        yield f, [*good[:3], 17, *good[4:]]
    for f, out in (("storage_shape", ravel.Extents()), ("check", ravel.Verdict()), ("svg", ct.c_void_p()), ("logical_shape", ct.c_int64())):
        good = [h, b"{A, B}", b"u8", 2, SHAPE, ct.byref(out)]
        for i in (0, 1, 2, 4, 5):
            yield f, [*good[:i], NOWHERE, *good[i + 1:]]
        yield f, [*good[:3], 17, *good[4:]]
    good = [h, b"{A, B}", b"{A, B}", b"u8", 2, SHAPE, ct.byref(ravel.Equality())]
    for i in (0, 1, 2, 3, 6):
        yield "equal", [*good[:i], NOWHERE, *good[i + 1:]]
    yield "equal", [*good[:4], -1, *good[5:]]
    for f, rest in (("index", (SHAPE, ct.byref(SIZE))), ("element", (0, SHAPE, ct.byref(ct.c_int())))):
        good = [h, b"{A, B}", b"u8", 2, SHAPE, *rest]
        for i in (0, 1, 2, 4, 6, 5 if f == "index" else 7):
            yield f, [*good[:i], NOWHERE, *good[i + 1:]]
    yield "index", [h, b"{A, B}", b"u8", 2, SHAPE, ravel.extents((2, 0)), ct.byref(SIZE)]
    yield "element", [h, b"{A, B}", b"u8", 2, SHAPE, 6, SHAPE, ct.byref(ct.c_int())]
    yield "any_dtype", [NOWHERE, b"{A, B}", ct.byref(ct.c_char_p())]
    yield "any_dtype", [h, NOWHERE, ct.byref(ct.c_char_p())]
    yield "any_dtype", [h, b"{A, B}", NOWHERE]
    yield "any_dtype", [h, b"NC1HWC0", ct.byref(ct.c_char_p())]
    good = [h, b"{A, B}", 2, SHAPE, 0, ct.byref(ct.c_void_p())]
    for i in (0, 1, 3, 5):
        yield "with_strides", [*good[:i], NOWHERE, *good[i + 1:]]
    yield "with_strides", [h, b"{A, B}", 65, SHAPE, 0, ct.byref(ct.c_void_p())]
    for args in ([NOWHERE, request(), ct.byref(OUT)], [h, NOWHERE, ct.byref(OUT)], [h, request(), NOWHERE], [h, request(from_=None), ct.byref(OUT)],
                 [h, request(rank=17), ct.byref(OUT)]):
        yield "view_of", args
    good = [h, b"NCHW(1,2,3,4)", ct.byref(ct.c_int()), SHAPE]
    for i in range(4):
        yield "view_shape", [*good[:i], NOWHERE, *good[i + 1:]]
    yield "view_shape", [h, b"NCHW", ct.byref(ct.c_int()), SHAPE]
    yield "verify", [NOWHERE]
    yield "verify_report", [NOWHERE, NOWHERE]
    yield "verify_report", [plan, NOWHERE]
    yield "run_shape", [NOWHERE, None, None, SHAPE]
    yield "run_shape", [plan, None, None, NOWHERE]
    yield "plan_shapes", [NOWHERE, ct.byref(ravel.Extents()), ct.byref(ravel.Extents())]
    yield "plan_shapes_at", [NOWHERE, SHAPE, ct.byref(ravel.Extents()), ct.byref(ravel.Extents())]
    yield "plan_shapes_at", [plan, SHAPE, ct.byref(ravel.Extents()), ct.byref(ravel.Extents())]
    yield "plan_shapes_at", [plan, SHAPE, ct.byref(ravel.Extents()), NOWHERE]
    yield "plan_shapes", [plan, NOWHERE, ct.byref(ravel.Extents())]
    yield "plan_shapes", [plan, ct.byref(ravel.Extents()), NOWHERE]
    yield "plan_bytes_at", [NOWHERE, SHAPE, ct.byref(SIZE), ct.byref(SIZE)]


@pytest.fixture
def handles(cx):
    with cx.plan("{A, B}", "(A,B){B, A}", (2, 3), "u8") as plan:
        yield cx.p, plan.p


def test_wrong_arguments(handles):
    n = 0
    for name, args in calls(*handles):
        f, err = getattr(ravel.lib, "ravel_" + name), ravel.Err()
        status = f(*args, ct.byref(err))
        assert ravel.STATUS[status] == "ARGUMENT" == ravel.STATUS[err.status] and err.text, (name, args, status, err.text)
        assert f(*args, None) == status, name                      # and without room for the sentence
        n += 1
    assert SIZE.value == 77 and OUT.value is None and n > 30       # no size, no plan


@pytest.mark.parametrize("shape", [(2, 20, 300, 301), (-1, 20, -1, -1)], ids=["numbers", "run time"])
def test_a_source_has_comments(shape):
    """The text that is compiled has none; this one is for people."""
    with ravel.Context() as cx, cx.plan("NCHW", "NC1HWC0", shape, 16) as plan:
        assert re.search(r"/\* (padding )?N=0\.\..*: \w+ \*/", plan.source), plan.source


def test_nothing_of_nothing():
    assert ravel.lib.ravel_plan_src_bytes(None) == ravel.lib.ravel_plan_dst_bytes(None) == 0
    assert ravel.lib.ravel_plan_source(None) is None and ravel.lib.ravel_plan_way(None) is None
    assert ravel.STATUS[ravel.lib.ravel_run(None, None, None)] == "ARGUMENT"
    ravel.lib.ravel_plan_free(None)
    ravel.lib.ravel_context_free(None)


def test_every_status_has_a_sentence():
    said = [ravel.lib.ravel_status_text(i) for i in range(len(ravel.STATUS))]
    assert all(said) and len(set(said)) == len(said)
    assert ravel.lib.ravel_status_text(-1) == ravel.lib.ravel_status_text(len(ravel.STATUS)) and b"unknown" in ravel.lib.ravel_status_text(99)
