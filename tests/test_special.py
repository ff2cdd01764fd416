"""Plans with run-time extents that are specialised for a shape: when they are, and that the bytes are the same."""
import ctypes as ct
import threading

import numpy as np
import pytest

import ravel

LOG = ct.CFUNCTYPE(None, ct.c_void_p, ct.c_char_p)
OPEN, SHAPE, BYTES = (-1, 3, -1, -1), (2, 3, 600, 700), 2*3*600*700
ENOUGH = (32 << 20)//BYTES + 1                # runs, after which the plan has converted 32 MB


@pytest.fixture
def logged():
    """A context, and the lines of its log."""
    lines = []
    with ravel.Context() as cx:
        f = LOG(lambda host, line: lines.append(line.decode()))
        ravel.call(ravel.lib.ravel_set_log, cx.p, ct.cast(f, ct.c_void_p), None)
        yield cx, lines
        ravel.call(ravel.lib.ravel_set_log, cx.p, None, None)


def run(plan, x, shape):
    """NCHW to NHWC by the plan, and by NumPy."""
    out = np.zeros(x.size, x.dtype)
    ravel.call(ravel.lib.ravel_run_shape, plan.p, ct.c_void_p(out.ctypes.data), ct.c_void_p(x.ctypes.data), ravel.extents(shape))
    assert np.array_equal(out.reshape([shape[i] for i in (0, 2, 3, 1)]), x.reshape(shape).transpose(0, 2, 3, 1))


def plans(lines):
    return [line for line in lines if "# plan:" in line]


def test_after_some_bytes(logged):
    cx, lines = logged
    x = np.random.default_rng(1).integers(0, 256, BYTES, np.uint8)
    with cx.plan("NCHW", "NHWC", OPEN, "u8") as plan:
        for i in range(2*ENOUGH):
            run(plan, x, SHAPE)
            assert len(plans(lines)) == 1 + (i + 1 >= ENOUGH), i
        other = (1, 3, 1200, 700)             # another shape of as many bytes
        run(plan, x, other)
    assert len(plans(lines)) == 2 and "--shape 2,3,600,700 " in plans(lines)[1]
    assert len(lines) == 2 + 2*ENOUGH + 1 and "--shape 1,3,1200,700 " in lines[-1]


def test_a_plan_in_the_cache_is_found(logged):
    """One that the user compiled, at the first run."""
    cx, lines = logged
    x = np.arange(BYTES).astype(np.uint8)
    with cx.plan("NCHW", "NHWC", OPEN, "u8") as plan, cx.plan("NCHW", "NHWC", SHAPE, "u8") as fixed:
        run(plan, x, SHAPE)
        fixed.run(x)
    one, two = lines[2:]
    assert "# run:" in one and one.split("ms")[0].split(":")[-1].split(",")[0] == two.split("ms")[0].split(":")[-1].split(",")[0]


def test_not_without_a_cache(logged):
    cx, lines = logged
    ravel.call(ravel.lib.ravel_set_cache, cx.p, 0, ct.c_int64(0))
    x = np.arange(BYTES).astype(np.uint8)
    with cx.plan("NCHW", "NHWC", OPEN, "u8") as plan:
        for _ in range(2*ENOUGH):
            run(plan, x, SHAPE)
    assert len(plans(lines)) == 1


def test_not_for_small_shapes(logged):
    cx, lines = logged
    x = np.arange(8190).astype(np.uint8)
    with cx.plan("NCHW", "NHWC", OPEN, "u8") as plan:
        for _ in range((34 << 20)//8190):
            run(plan, x, (1, 3, 105, 26))
    assert len(plans(lines)) == 1


def test_the_layout_is_the_one_of_the_plan(logged):
    """A name that denotes another layout by now is not taken for the one that the plan has."""
    cx, lines = logged
    x = np.arange(BYTES).astype(np.uint8)
    cx.load("layout 'MINE' { dims = { N, C, H, W }, order = { N, H, W, C } }")
    with cx.plan("NCHW", "MINE", OPEN, "u8") as plan:
        cx.load("layout 'MINE' { dims = { N, C, H, W }, order = { W, H, N, C } }")
        with cx.plan("NCHW", "MINE", SHAPE, "u8"):
            for _ in range(2*ENOUGH):
                run(plan, x, SHAPE)
    assert len(plans(lines)) >= 3


def test_a_library_layout_is_not_taken_for_a_loaded_one(logged):
    """The text that is loaded later has a layout of the library's name."""
    cx, lines = logged
    x = np.arange(BYTES).astype(np.uint8)
    with cx.plan("NCHW", "NHWC", OPEN, "u8") as plan:
        cx.load("layout 'NHWC' { dims = { N, C, H, W }, order = { W, H, C, N } }")
        with cx.plan("NCHW", "NHWC", SHAPE, "u8"):
            for _ in range(2*ENOUGH):
                run(plan, x, SHAPE)


def test_many_shapes_in_turn(logged):
    """Shapes that share a place of the count do not keep each other from being specialised."""
    cx, lines = logged
    shapes = [(1, 3, 500, 600 + k) for k in range(24)]
    x = np.arange(3*500*624).astype(np.uint8)
    with cx.plan("NCHW", "NHWC", OPEN, "u8") as plan:
        out = np.zeros_like(x)
        for _ in range(80):
            for s in shapes:
                ravel.call(ravel.lib.ravel_run_shape, plan.p, ct.c_void_p(out.ctypes.data), ct.c_void_p(x.ctypes.data), ravel.extents(s))
        for s in shapes:
            run(plan, x[:3*500*s[3]], s)
    assert len(plans(lines)) == 1 + len(shapes)


def test_plans_that_the_cache_does_not_keep(logged):
    """The next attempt comes after twice as many bytes."""
    cx, lines = logged
    ravel.call(ravel.lib.ravel_set_cache, cx.p, 256, ct.c_int64(4096))
    x = np.arange(BYTES).astype(np.uint8)
    with cx.plan("NCHW", "NHWC", OPEN, "u8") as plan:
        for _ in range(8*ENOUGH):
            run(plan, x, SHAPE)
    assert len(plans(lines)) == 1 + 3         # after 32, 96 and 224 MB


def test_wrong_arguments_are_still_refused():
    x, err = np.zeros(BYTES + 1, np.uint8), ravel.Err()
    with ravel.Context() as cx, cx.plan("NCHW", "NHWC", OPEN, "u8") as plan:
        for _ in range(2*ENOUGH):
            run(plan, x[:BYTES], SHAPE)
        at = x.ctypes.data
        assert ravel.lib.ravel_run_shape(plan.p, at + 1, at, ravel.extents(SHAPE), ct.byref(err)) and b"overlap" in err.text
        assert ravel.lib.ravel_run_shape(plan.p, at, at, ravel.extents((2, 4, 600, 700)), ct.byref(err)) and b"extent of C" in err.text


def test_several_threads(logged):
    """Threads make plans of three shapes, and the cache, which holds one plan, drops them while others run."""
    cx, lines = logged
    ravel.call(ravel.lib.ravel_set_cache, cx.p, 1, ct.c_int64(64 << 20))
    x = np.random.default_rng(2).integers(0, 256, BYTES, np.uint8)
    failed, start = [], threading.Barrier(3)
    with cx.plan("NCHW", "NHWC", OPEN, "u8") as plan:
        def work(k):
            try:
                start.wait()
                for i in range(6*ENOUGH):
                    run(plan, x, [SHAPE, (2, 3, 700, 600), (2, 3, 300, 1400)][(i + k) % 3])
            except BaseException as e:
                failed.append(e)
        all_ = [threading.Thread(target=work, args=(k,)) for k in range(3)]
        for t in all_:
            t.start()
        for t in all_:
            t.join()
    assert not failed and len(plans(lines)) >= 4      # each shape, and one again
