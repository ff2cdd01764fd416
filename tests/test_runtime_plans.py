"""Extents left to run time: plans of the library at many shapes, by machine code and by the interpreter, every byte expected."""

import ctypes as ct
import math
import os
import random

import numpy as np
import pytest

import orders as O
import ravel
import relayouts as R
import test_pairs as P
from runtime_cases import arguments, BITS, BORDERS, by, CASES, drawn, EACH, expected, IDS, shape_at, values_of  # noqa: F401 (by is a fixture)

SEED = int(os.environ.get("RAVEL_SEED", "20240611"))


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_library(by, case):
    """Compiled once, run at every shape."""
    a, b, shape, dtype = case
    with by.plan(a, b, [int(x) if x.isdigit() else -1 for x in shape.split(",")], dtype) as plan:
        assert (plan.src_bytes, plan.dst_bytes) == (-1, -1)
        for values in values_of(case):
            own = shape_at(case, values)
            raw, want = expected(case, own, BITS[dtype])
            at = ravel.PlanAt(plan, own)
            assert (at.src_bytes, at.dst_bytes) == (raw.size, want.size)
            assert np.array_equal(at.run(raw, 3), want), own
        plan.verify()


@pytest.mark.parametrize("bits", P.WIDTHS)
def test_random_pairs(by, bits):
    ran = 0
    for a, b, fixed, free, rnd in drawn(bits):
        dims_a, dims_b = P.dims_of(a, b, P.NAMES), P.dims_of(b, a, P.NAMES)
        try:
            plan = by.plan(a, b, [-1 if d in free else fixed[d] for d in dims_a], bits)
        except ravel.Error as e:
            assert "swizzle" in e.text or "share names in different places" in e.text, (a, b, e.text)
            continue
        axes = [dims_a.index(d) for d in dims_b]
        with plan:
            for _ in range(8):
                extent = {d: rnd.choice(BORDERS) if d in free else n for d, n in fixed.items()}
                while math.prod(extent.values()) > 40000:
                    extent = {d: max(1, n//2) if d in free else n for d, n in extent.items()}
                own = [extent[d] for d in dims_a]
                src, dst = O.place(a, tuple(own), bits), O.place(b, tuple(extent[d] for d in dims_b), bits)
                at = ravel.PlanAt(plan, own)
                assert (at.src_bytes, at.dst_bytes) == (-(-src.size*bits//8), -(-dst.size*bits//8))
                raw = np.random.default_rng(own).integers(0, 256, at.src_bytes, np.uint8)
                el = ravel.unpack(raw, bits)[src.addr].transpose(axes)
                assert np.array_equal(at.run(raw, 1), R.filled(dst, dst.addr, el, bits)), (a, b, own)
                ran += 1
    assert ran >= EACH*4


def test_many_boxes_are_coarsened(by):
    """More boxes than a plan may have, with padding that repeats the last element."""
    order = ", ".join("%s//4, %s//2%%2" % (d, d) for d in "ABCDE") + ", " + ", ".join("%s%%2" % d for d in "ABCDE")
    a, b = "(A,B,C,D,E){A, B, C, D, E}", '(A,B,C,D,E){%s, fill = "edge"}' % order
    with by.plan(a, b, [-1]*5, 8) as plan:
        for own in ((1, 2, 3, 4, 5), (5, 5, 5, 5, 5), (4, 3, 7, 1, 2)):
            src, dst = O.place(a, own, 8), O.place(b, own, 8)
            at = ravel.PlanAt(plan, own)
            raw = np.arange(at.src_bytes).astype(np.uint8)
            assert np.array_equal(at.run(raw), R.filled(dst, dst.addr, raw[src.addr], 8)), own


def test_library_refuses(by):
    null, err = None, ravel.Err()
    run, sizes = ravel.lib.ravel_run_shape, ravel.lib.ravel_plan_bytes_at
    with by.plan("NCHW", "NC1HWC0", (-1, 64, -1, -1), "f32") as plan, by.plan("NCHW", "NHWC", (2, 3, 4, 5), "f32") as numbers:
        def refused(p, shape, dst=1, src=1):
            s = ravel.extents(shape) if shape else None
            return ravel.STATUS[run(p.p, dst, src, s, ct.byref(err))] == "ARGUMENT" and err.text.decode()
        assert "extent of C is 65: the plan is for 64" in refused(plan, (2, 65, 3, 3))
        assert "extent of H is -1" in refused(plan, (2, 64, -1, 3))
        assert "64 bits" in refused(plan, (2**31, 64, 2**20, 2**20))
        assert "NULL" in refused(plan, (2, 64, 3, 3), null) and "NULL" in refused(plan, (2, 64, 3, 3), 1, null)
        assert "NULL" in refused(plan, None) and "ravel_run" in refused(numbers, (2, 3, 4, 5))
        assert run(plan.p, null, null, ravel.extents((0, 64, 3, 3)), ct.byref(err)) == 0
        assert ravel.lib.ravel_run(plan.p, 1, 1) != 0
        assert sizes(plan.p, ravel.extents((2, 64, 3, 3)), None, None, ct.byref(err)) == 0


@pytest.mark.parametrize("runtime", [False, True])
@pytest.mark.parametrize("a, b, shape, dtype", [("NCHW", "NHWC", (2, 3, 5, 7), "f32"), ("NCHW", "NC1HWC0", (1, 20, 3, 5), "u8"),
                                                ("NC1HWC0", "NCHW", (1, 20, 3, 5), "u8"), ("NCHW", "NHWC", (128, 8, 64, 64), "u8")])
def test_buffers_that_overlap_are_refused(by, a, b, shape, dtype, runtime):
    """Wherever one begins in the other, and nothing is written; one that ends where the other begins does not overlap."""
    with by.plan(a, b, [-1]*4 if runtime else shape, dtype) as plan:
        at = ravel.PlanAt(plan, shape) if runtime else plan
        m, n, err = at.src_bytes, at.dst_bytes, ravel.Err()
        room = np.zeros(2*(m + n), np.uint8)
        src = room.ctypes.data + n
        def status(dst):
            if runtime:
                return ravel.lib.ravel_run_shape(plan.p, dst, src, ravel.extents(shape), ct.byref(err))
            return ravel.lib.ravel_run(plan.p, dst, src)
        for dst in (src, src + 1, src + m - 1, src - 1, src - n + 1, src + m//2, src - n//2):
            room[:] = np.arange(room.size)
            assert ravel.STATUS[status(dst)] == "ARGUMENT" and (not runtime or b"overlap" in err.text), dst - src
            assert np.array_equal(room, np.arange(room.size).astype(np.uint8))
        assert status(src + m) == 0 and status(src - n) == 0


@pytest.mark.parametrize("order, pads", [("N, C, 8*(H//8) + H%8, W", {2: 8}), ("8*(N//8) + N%8, C, H, W", {0: 8}), ("N, C, H, 16*(W//16) + W%16", {3: 16})])
def test_padding_of_any_length(by, order, pads):
    """The shape decides how much padding follows a run: more than a kernel has room for is written apart."""
    shape = (4, 3, 30, 700)
    with by.plan("NCHW", "(N,C,H,W){%s}" % order, [4, 3, 30, -1], "f32") as plan:
        for w in (1, 15, 16, 255, 257, 700):
            x = np.random.default_rng(w).integers(1, 2**31, shape[:3] + (w,), np.uint32)
            full = tuple(-(-n//pads.get(d, 1))*pads.get(d, 1) for d, n in enumerate(x.shape))
            want = np.pad(x, [(0, f - n) for n, f in zip(x.shape, full)])
            got = ravel.PlanAt(plan, x.shape).run(x.view(np.uint8).reshape(-1), 1)
            assert np.array_equal(got.view(np.uint32), want.reshape(-1)), w


HOSTILE = [0, 1, 2, 3, 5, 64, 2**20, 2**31, 2**32 + 1, 2**40, 2**53, 2**61, 2**62, 2**62 + 1, 2**63 - 1, -1, -2**31, -2**63]


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_ways_answer_alike(monkeypatch, case):
    """Sizes, or the same sentence; a run that writes nothing is done, or refused by the same sentence."""
    a, b, shape, dtype = case
    given, rnd = shape.split(","), random.Random(repr((SEED, case)))
    plans, answers = [], 0
    for code in ("jit", "interpreter"):
        monkeypatch.setenv("RAVEL_CODE", code)
        with ravel.Context() as c:
            plans.append(c.plan(a, b, [int(x) if x.isdigit() else -1 for x in given], dtype))
    for _ in range(300):
        own = [int(x) if x.isdigit() and rnd.random() < .95 else rnd.choice(HOSTILE) for x in given]
        said = []
        for plan in plans:
            err, m, n = ravel.Err(), ct.c_int64(-9), ct.c_int64(-9)
            s = ravel.lib.ravel_plan_bytes_at(plan.p, ravel.extents(own), ct.byref(m), ct.byref(n), ct.byref(err))
            ran = ravel.Err()
            if s or n.value == 0:        # else it would touch what is not there
                assert ravel.lib.ravel_run_shape(plan.p, 1, 1, ravel.extents(own), ct.byref(ran)) == s, (own, ran.text)
            said.append((s, m.value, n.value, err.text, ran.text))
        assert said[0] == said[1] and said[0][3] == said[0][4], (own, said)
        answers |= 1 if said[0][0] else 2
    assert answers == 3
    for plan in plans:
        ravel.lib.ravel_plan_free(plan.p)


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_library_at_zero(by, case):
    """No element: no source is needed, and none of the destination's bytes, where there are any, stays as it was."""
    a, b, shape, dtype = case
    with by.plan(a, b, [int(x) if x.isdigit() else -1 for x in shape.split(",")], dtype) as plan:
        n = len(arguments(case))
        for i in range(n):
            at = ravel.PlanAt(plan, shape_at(case, [3]*i + [0] + [3]*(n - i - 1)))
            assert (at.src_bytes, at.dst_bytes) == (0, 0)
            at.run(np.zeros(0, np.uint8))
            ravel.call(ravel.lib.ravel_run_shape, plan.p, None, None, at.shape)


def test_padding_alone(by):
    """{N, C%8} at C = 0: all of it is fill."""
    with by.plan("ROW_MAJOR", "(N,C){N, C%8, fill = 7}", (-1, -1), "u8") as plan:
        at = ravel.PlanAt(plan, (3, 0))
        assert (at.src_bytes, at.dst_bytes) == (0, 24)
        assert (at.run(np.zeros(0, np.uint8)) == 7).all()


@pytest.mark.parametrize("a, b, shape, dtype, values", [
    ("NCHW", "NC1HWC0", "N,C,H,W", "f32", (3, 37, 80, 70)), ("NCHW", "NHWC", "N,C,H,W", "u8", (1, 40, 200, 210)),
    ("ROW_MAJOR", "COL_MAJOR", "M,K", "f16", (1031, 1999)), ("ROW_MAJOR", "MARLIN", "K,N", "u4", (2048, 2112)),
    ("ROW_MAJOR", "SW128", "M,K", "f16", (1000, 1001)), ("(A,B){A, B}", "(A,B){B//4, A, B%4, fill = 3}", "A,B", "f32", (1500, 3001)),
])
def test_shared_by_threads(monkeypatch, a, b, shape, dtype, values):
    """Above 8 MiB too, where stores go past the caches; three parts, whatever there is of processors."""
    case = (a, b, shape, dtype)
    raw, want = expected(case, shape_at(case, values), BITS[dtype])
    for code in ("jit", "interpreter"):
        monkeypatch.setenv("RAVEL_CODE", code)
        with ravel.Context() as c:
            parts = []

            @ct.CFUNCTYPE(None, ct.c_void_p, ct.c_void_p, ct.c_void_p, ct.c_int)
            def lend(host, task, arg, n):
                parts.append(n)
                for i in reversed(range(n)):
                    ct.CFUNCTYPE(None, ct.c_void_p, ct.c_int, ct.c_int)(task)(arg, i, n)
            ravel.call(ravel.lib.ravel_set_threads, c.p, 3, lend, None)
            with c.plan(a, b, [int(x) if x.isdigit() else -1 for x in shape.split(",")], dtype) as plan:
                assert np.array_equal(ravel.PlanAt(plan, shape_at(case, values)).run(raw), want)
            assert parts == [3]
