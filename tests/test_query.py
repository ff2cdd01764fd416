"""Questions about layouts by the library, held against the table of addresses: properties, elements at addresses, shapes of storage, equality."""
import ctypes as ct
import itertools

import numpy as np
import pytest

import ravel

NO, YES, UNKNOWN = range(3)
CASES = [("NCHW", (2, 3, 4, 5), "f32"), ("NHWC", (2, 3, 4, 5), "u8"), ("NC1HWC0", (2, 20, 3, 4), "f16"), ("{M//4, K//4, M%4, K%4}", (6, 8), "f32"),
         ("{M//2, K}", (4, 4), "u8"), ("INT4_LOW", (3, 5), "i4"), ("SW128", (16, 64), "f16"), ("(R,C){C, R}", (1, 7), "i8"), ("FRACTAL_NZ", (18, 34), "f16"),
         ("{M, (K//8%8) ~ (M%8), K%8}", (6, 64), "f32"), ("{M, 2*K}", (3, 4), "u8")]


def ask(cx, name, layout, shape, dtype, *more):
    ravel.call(getattr(ravel.lib, "ravel_" + name), cx.p, layout.encode(), dtype.encode(), len(shape), ravel.extents(shape), *more)


@pytest.mark.parametrize("layout, shape, dtype", CASES)
def test_check(cx, layout, shape, dtype):
    v = ravel.Verdict()
    ask(cx, "check", layout, shape, dtype, ct.byref(v))
    if v.collides:
        at = [np.ravel_multi_index(list(p[:len(shape)]), shape) for p in (v.x, v.y)]
        with pytest.raises(ravel.Error):
            cx.table(layout, shape, dtype)
        assert v.one_to_one == NO and not v.destination and not v.source and at[0] != at[1] and v.why
        return
    table = cx.table(layout, shape, dtype)
    assert v.one_to_one == YES and len(np.unique(table)) == table.size == v.elements
    assert v.source and v.slots == v.elements + v.padding + v.holes > table.max() and (v.onto == YES) == (v.slots == table.size)
    assert v.bytes == cx.bytes(layout, shape, dtype) and v.destination == (v.why == b"")


@pytest.mark.parametrize("layout, shape, dtype", [c for c in CASES if c[0] != "{M//2, K}"])
def test_addresses_both_ways(cx, layout, shape, dtype):
    table, v = cx.table(layout, shape, dtype), ravel.Verdict()
    ask(cx, "check", layout, shape, dtype, ct.byref(v))
    elements = {table[x]: x for x in itertools.product(*map(range, shape))}
    a, found, x = ct.c_int64(), ct.c_int(), ravel.extents(shape)
    for address in sorted(elements)[::max(1, len(elements) // 60)]:
        ask(cx, "index", layout, shape, dtype, ravel.extents(elements[address]), ct.byref(a))
        assert a.value == address
    for address in range(0, v.slots, 7):
        ask(cx, "element", layout, shape, dtype, address, x, ct.byref(found))
        assert (tuple(x) if found.value else None) == elements.get(address)


@pytest.mark.parametrize("layout, shape, dtype, want", [
    ("NCHW", (2, 3, 4, 5), "f32", (2, 3, 4, 5)), ("NHWC", (2, 3, 4, 5), "f32", (2, 4, 5, 3)), ("NC1HWC0", (2, 20, 3, 4), "f16", (2, 2, 3, 4, 16)),
    ("INT4_LOW", (3, 6), "i4", (3, 3)), ("{M//4, K//4, M%4, K%4}", (6, 8), "f32", (2, 2, 4, 4)), ("SW128", (16, 64), "f16", None)])
def test_shape_of_storage(cx, layout, shape, dtype, want):
    e = ravel.Extents()
    ask(cx, "storage_shape", layout, shape, dtype, ct.byref(e))
    got = tuple(e.extent[:e.rank])
    assert got == want or want is None and np.prod(got) == 16 * 64
    back = ravel.extents(got)
    if want and sorted(want) == sorted(shape) and dtype != "i4":
        ask(cx, "logical_shape", layout, got, dtype, back)
        assert tuple(back) == shape
    else:
        with pytest.raises(ravel.Error, match="give the shape"):
            ask(cx, "logical_shape", layout, got, dtype, back)


def test_shapes_of_a_plan(cx):
    src, dst = ravel.Extents(), ravel.Extents()
    with cx.plan("NHWC", "NC1HWC0", (2, 20, 3, 4), "f16") as plan:
        ravel.call(ravel.lib.ravel_plan_shapes, plan.p, ct.byref(src), ct.byref(dst))
    assert tuple(src.extent[:src.rank]) == (2, 3, 4, 20) and tuple(dst.extent[:dst.rank]) == (2, 2, 3, 4, 16)
    with cx.plan("NHWC", "NCHW", (2, -1, 3, 4), "f16") as plan, pytest.raises(ravel.Error, match="run-time extents"):
        ravel.call(ravel.lib.ravel_plan_shapes, plan.p, ct.byref(src), ct.byref(dst))


@pytest.mark.parametrize("a, b, dtype, free", [
    ("NHWC", "NC1HWC0", "f16", (0, 1, 2, 3)), ("NCHW", "FRACTAL_NZ", "f16", (0, 1, 2, 3)), ("NCHW", "(N,C,H,W){W, H, C//3, N, C%3}", "u8", (1,)),
    ("NCHW", "CHWN", "u4", (0, 3)), ("NCHW16", "(W,H,C,N){N, C, H, W}", "f32", (1, 3))])
def test_shapes_at_run_time(cx, a, b, dtype, free):
    """They are those of the plan for that shape alone."""
    def shapes(plan, *at):
        e = ravel.Extents(), ravel.Extents()
        ravel.call(getattr(ravel.lib, "ravel_plan_shapes" + ("_at" if at else "")), plan.p, *at, *map(ct.byref, e))
        return [tuple(x.extent[:x.rank]) for x in e]

    with cx.plan(a, b, [-1 if d in free else n for d, n in enumerate((2, 20, 6, 8))], dtype) as any_shape:
        for shape in ((2, 20, 6, 8), (1, 1, 6, 8), (3, 37, 16, 32)):
            shape = [n if d in free else (2, 20, 6, 8)[d] for d, n in enumerate(shape)]
            with cx.plan(a, b, shape, dtype) as one:
                assert shapes(any_shape, ravel.extents(shape)) == shapes(one)
        for d in free:
            empty = shapes(any_shape, ravel.extents([0 if i == d else n for i, n in enumerate((2, 20, 6, 8))]))
            with cx.plan(a, b, (2, 20, 6, 8), dtype) as one:
                for at, whole in zip(empty, shapes(one)):
                    assert 0 in at and len(at) == len(whole) and all(n in (0, m) for n, m in zip(at, whole))
        with pytest.raises(ravel.Error):
            shapes(any_shape, ravel.extents([-1] * 4))


@pytest.mark.parametrize("a, b, shape, want", [
    ("NHWC", "(N,C,H,W){N, H, W, C}", None, YES), ("NHWC", "NCHW", None, NO), ("NCHW", "NCHW16", None, NO), ("NHWC", "NCHW", (2, 1, 3, 4), YES),
    ("NHWC", "(N,C,H,W){N, H, W, C//4, C%4}", (2, 8, 5, 5), YES), ("NHWC", "NCHW", (2, 2, 3, 4), NO)])
def test_equal(cx, a, b, shape, want):
    q = ravel.Equality()
    ravel.call(ravel.lib.ravel_equal, cx.p, a.encode(), b.encode(), b"u8", len(shape or ()), ravel.extents(shape) if shape else None, ct.byref(q))
    assert q.equal == want
    if want == YES and shape:
        assert (cx.table(a, shape, "u8") == cx.table(b, shape, "u8")).all()
    if want == NO:
        shape, x = tuple(q.shape[:q.rank]), tuple(q.x[:q.rank])
        assert (q.at_a, q.at_b) == (cx.table(a, shape, "u8")[x], cx.table(b, shape, "u8")[x]) and q.at_a != q.at_b


def test_any_dtype(cx):
    t = ct.c_char_p()
    for layout, want in ((b"NCHW", b"f32"), (b"AWQ", b"i4")):
        ravel.call(ravel.lib.ravel_any_dtype, cx.p, layout, ct.byref(t))
        assert t.value == want
    with pytest.raises(ravel.Error, match="element size"):
        ravel.call(ravel.lib.ravel_any_dtype, cx.p, b"NC1HWC0", ct.byref(t))


def test_picture(cx):
    """What the command draws (docs/tiles.svg)."""
    text, free = ct.c_void_p(), ct.CDLL(None).free
    free.argtypes = [ct.c_void_p]
    ask(cx, "svg", "{M//4, K//4, M%4, K%4}", (6, 8), "f32", ct.byref(text))
    assert ct.string_at(text.value) == (ravel.ROOT / "docs/tiles.svg").read_bytes()
    free(text)


def test_equal_with_dims_in_another_order(cx):
    """The shape is in the order of the first one's dims; a no has its element in that order too."""
    for b, want in (("(W,H){H, W}", YES), ("(W,H){W, H}", NO)):
        q = ravel.Equality()
        ravel.call(ravel.lib.ravel_equal, cx.p, b"(H,W){H, W}", b.encode(), b"u8", 2, ravel.extents((2, 3)), ct.byref(q))
        assert q.equal == want
    x = tuple(q.x[:2])
    assert (q.at_a, q.at_b) == (cx.table("(H,W){H, W}", (2, 3), "u8")[x], cx.table("(W,H){W, H}", (3, 2), "u8").T[x])
