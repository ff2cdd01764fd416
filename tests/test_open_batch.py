"""Layouts of any rank, with "...", that use an extent by name which is left to run time, against NumPy."""

import numpy as np
import pytest

import ravel


def rolled(x):
    return np.roll(x, 4, -2)


def bordered(x):
    """One slot on each side; "..." last first, and rows outside."""
    pads = [(0, 0)]*(x.ndim - 2) + [(1, 1), (1, 1)]
    y = np.pad(x, pads)
    return y.transpose(x.ndim - 2, *range(x.ndim - 3, -1, -1), x.ndim - 1)


def in_blocks(x):
    """Rows and columns as one number, in blocks of 16; the last one is filled up."""
    y = x.reshape(*x.shape[:-2], -1)
    return np.pad(y, [(0, 0)]*(y.ndim - 1) + [(0, -y.shape[-1] % 16)])


LAYOUTS = [("(...,H,W){..., (H + 4)%extent(H), W}", rolled), ("(...,H,W){(H + 1)%(extent(H) + 2), reverse(...), (W + 1)%(extent(W) + 2)}", bordered),
           ("(...,H,W){..., H, extent(W) - 1 - W}", lambda x: x[..., ::-1]), ("(...,H,W){..., W*extent(H) + H}", lambda x: np.swapaxes(x, -1, -2)),
           ("(...,H,W){..., (H*extent(W) + W)//16, (H*extent(W) + W)%16, fill = 0}", in_blocks)]


@pytest.mark.parametrize("rank", [2, 3, 4])
@pytest.mark.parametrize("layout, stored", LAYOUTS, ids=[l[0] for l in LAYOUTS])
def test_both_ways(cx, layout, stored, rank):
    with cx.plan("ROW_MAJOR", layout, (-1,)*rank, "u16") as to, cx.plan(layout, "ROW_MAJOR", (-1,)*rank, "u16") as back:
        to.verify()
        for shape in ((1, 1, 1, 1), (2, 3, 5, 7), (3, 1, 4, 9), (1, 2, 17, 2)):
            x = np.arange(1, 1 + np.prod(shape[-rank:]), dtype="u2").reshape(shape[-rank:])
            want = np.ascontiguousarray(stored(x)).reshape(-1)
            assert np.array_equal(ravel.PlanAt(to, x.shape).run(x.reshape(-1).view("u1")).view("u2"), want), shape
            assert np.array_equal(ravel.PlanAt(back, x.shape).run(want.view("u1")).view("u2"), x.reshape(-1)), shape


def test_a_layout_of_pixels_and_one_of_any_rank(cx):
    with cx.plan("ROW_MAJOR", "FRACTAL_Z_C04", (-1, 3, -1, -1), "f16") as p:
        p.verify()
