"""Which element of a tile each register of each lane has, by the vendors' own words."""

import numpy as np

from formulas_base import box, cd, coords


# --- fragments: PTX ISA, "Matrix Fragments for mma.m16n8k16" and the like; the AMD matrix instruction calculator.  Each says which element, of the
# `rows` x `cols` that one instruction takes, register i of a lane is.

def fragment(rows, cols, lanes, registers, at):
    """rows, cols, registers may depend on P: elements in 32 bits; at(lane, i, P) is the element."""
    def fn(shape, bits):
        P = max(1, 32//bits)
        r, c, n = (v(P) if callable(v) else v for v in (rows, cols, registers))
        one = np.full((r, c), -1, np.int64)
        for lane in range(lanes):
            for i in range(n):
                one[at(lane, i, P)] = lane*n + i
        assert lanes*n == r*c and (one >= 0).all()
        x, y = coords(shape)
        many = cd(shape[1], c)
        return box((x//r*many + y//c)*lanes*n + one[x % r, y % c], cd(shape[0], r), many, lanes, n)
    return fn


def mma_a(lane, i, P):
    group, thread = lane//4, lane % 4
    return group + (8 if i//P % 2 else 0), thread*P + i % P + (4*P if i >= 2*P else 0)


def mma_b(lane, i, P):
    group, thread = lane//4, lane % 4
    return group, thread*P + i % P + (4*P if i >= P else 0)


def mma_c(lane, i, P):
    return lane//4 + (8 if i >= 2 else 0), lane % 4*2 + (i & 1)


def mfma_v(P):
    """k values in a lane: f32 1, f16 4, 8 bits 8."""
    return {1: 1, 2: 4, 4: 8}[P]


def mfma_a(size):
    """The right operand, (j, k), too."""
    return lambda lane, i, P: (lane % size, lane//size*mfma_v(P) + i)


def mfma_d(size):
    return lambda lane, i, P: (i//4*(4*64//size) + 4*(lane//size) + i % 4, lane % size)


def rdna4_a(lane, i, P):
    return lane % 16, {2: 8*(i//4) + 4*(lane//16) + i % 4, 4: 8*(lane//16) + i}[P]
