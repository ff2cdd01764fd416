"""Random layouts with extents left to run time: one plan, many shapes, red zones on both sides of both buffers.

Addresses come from tests/orders.py at each shape.  RAVEL_SEED=n draws others.
"""

import collections
import math
import os
import random

import numpy as np
import pytest

import draw
import orders as O
import ravel
import relayouts as R
from runtime_cases import by  # noqa: F401 (a fixture)

SEED = int(os.environ.get("RAVEL_SEED", "20240611"))
AGAIN = "RAVEL_AGAIN" in os.environ                   # the slow build
CHUNKS, EACH = (1, 60) if AGAIN else (2, 150)         # plans
SHAPES = 10                                           # of each
EXTENTS = [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 48, 63, 64, 65, 96, 97]
MOST = 20000                                          # elements

# A digit of a run-time dim in an xor, beyond what the dim's outermost entry rounds to: the padding ends before its block does.
BEYOND = [
    ("{M, K}", "{M//2, (K%4) ~ (M//2%4), M%2}", (-1, 4), 8),
    ("{M, K}", "(M,K){M//2, K//32, M%2, (K//8%4) ~ (M//2%4), K%8}", (-1, -1), 8),
    ("{M, K}", "{M//2, (K%4) ~ (M//2%4), M%2, pad = {M = 6}, fill = 3}", (-1, 4), 16),
    ("{M, K}", "{M//6, (K%4) ~ (M//6%4), M%6, pad = {M = 100}, fill = 3}", (-1, 4), 8),
    ("{M, K}", '{M//2, (K%8) ~ (M//2%8), M%2, pad = {M = 5}, fill = "edge"}', (-1, 8), 4),
]


class RedZones(ravel.Guarded):
    ROOM = 1 << 14


def assert_right(plan, a, b, shape, bits, shift):
    """False where the oracle has no such layout: then the plan has no such shape.  ValueError where it has no answer."""
    axes = R.matched(a, b, len(shape))
    try:
        src, dst = O.place(a, shape, bits), O.place(b, tuple(shape[d] for d in axes), bits)
    except O.Refused:
        with pytest.raises(ravel.Error):
            ravel.PlanAt(plan, shape)
        return False
    at = ravel.PlanAt(plan, shape)
    assert (at.src_bytes, at.dst_bytes) == (-(-src.size*bits//8), -(-dst.size*bits//8)), (a, b, shape)
    x, y = RedZones(at.src_bytes, shift), RedZones(at.dst_bytes, shift + 1)
    x.body[:] = raw = np.random.default_rng([SEED, *shape]).integers(0, 256, at.src_bytes, np.uint8)
    ravel.call(ravel.lib.ravel_run_shape, plan.p, y.body.ctypes.data, x.body.ctypes.data, at.shape)
    assert x.intact() and y.intact(), ("a red zone was written to", a, b, shape)
    want = R.filled(dst, dst.addr, ravel.unpack(raw, bits)[src.addr].transpose(axes), bits)
    assert np.array_equal(x.body, raw) and np.array_equal(y.body, want), (a, b, shape)
    return True


@pytest.mark.parametrize("a, b, free, bits", BEYOND, ids=lambda x: str(x).replace(" ", ""))
def test_digits_beyond_the_rounding(by, a, b, free, bits):
    for x, y in ((a, b), (b, a)):
        with by.plan(x, y, free, bits) as plan:
            for n in range(1, 70):
                for k in (1, 5, 32, 160) if free[1] < 0 else free[1:]:
                    assert assert_right(plan, x, y, (n, k), bits, n)


@pytest.mark.parametrize("a, b, shape, bits", [
    ("{M, K}", "{M//2, (K%4) ~ (M//2%4), M%2}", (-1, 4), 8),
    ("ROW_MAJOR", "{M//8, K, (M%8) ~ (K%8)}", (-1, 64), 16),
    ("(N,H,W){N,H,W}", "{N, H, W%8 ~ H%8}", (-1, 8, 8), 16),
    ("(M,K){M, K}", "SW128", (-1, 64), 16),
    ("(N,H,W){N, W, H}", "(N,H,W){N, H, W}", (-1, 33, 35), 4),
], ids=str)
def test_proven(by, a, b, shape, bits):
    """Tables at run time, and threads that share what is finer than a byte: boxes, nests, parts and bytes."""
    for x, y in ((a, b), (b, a)):
        with by.plan(x, y, shape, bits) as plan:
            plan.verify()


def drawn(rng):
    case = draw.case(rng)
    free = [rng.random() < 0.6 for _ in case["shape"]]
    free[rng.randrange(len(free))] = True
    return case["from"], case["to"], case["shape"], case["bits"], free


def shape_of(rng, shape, free):
    """Of at most MOST elements."""
    out = [rng.choice(EXTENTS) if f else n for n, f in zip(shape, free)]
    while math.prod(out) > MOST:
        out = [max(1, n//2) if f else n for n, f in zip(out, free)]
    return tuple(out)


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_random_layouts(by, chunk):
    rng = random.Random("%d/%d" % (SEED, chunk))
    print("RAVEL_SEED=%d chunk %d" % (SEED, chunk))
    seen = collections.Counter()
    while seen["plans"] < EACH or seen["shapes"] <= 8*EACH:      # no shape fits some draws
        a, b, shape, bits, free = drawn(rng)
        try:
            plan = by.plan(a, b, [-1 if f else n for n, f in zip(shape, free)], bits)
        except ravel.Error as e:
            assert e.status == "LAYOUT", (a, b, shape, free, e)
            seen["refused"] += 1
            continue
        seen["plans"] += 1
        with plan:
            for _ in range(SHAPES):
                at = shape_of(rng, shape, free)
                try:
                    seen["shapes" if assert_right(plan, a, b, at, bits, rng.randrange(16)) else "no such shape"] += 1
                except ValueError:
                    seen["no answer"] += 1
    print(dict(seen))
