"""Closed formulas of swizzles, of elements below a byte, of scale factors, VNNI and Morton orders."""

import math

import numpy as np

from formulas_base import box, cd, coords, Map


# --- swizzles: cute/swizzle.hpp; source 003, 8.3 and 8.4

def cute_swizzle(x, B, M, S):
    """Swizzle<B,M,S>: its own inverse, as the bits it reads and those it writes are disjoint (|S| >= B)."""
    ones = (1 << B) - 1
    y = ones << (M + max(0, S))
    return x ^ ((x & y) >> S if S >= 0 else (x & y) << -S)


def seed83(a):
    """The document's swizzle_address, line by line."""
    bank = (a >> 5) & 0x1F
    swizzled = bank ^ ((a >> 2) & 0x1F)
    return (a & ~(0x1F << 5)) | (swizzled << 5)


def seed83_inverse(y):
    """Bits 5-7 were flipped by bits 2-4, which stand; then bits 8-9 by bits 5-6, known by now."""
    x = y ^ ((y >> 2 & 7) << 5)
    return x ^ (x >> 5 & 3) << 8


def seed84(a):
    return a ^ ((a >> 5) & 0x1F)


seed84_inverse = seed84


def swizzled(g):
    def fn(shape, bits, **params):
        R, C = shape
        r, c = coords(shape)
        return box(g(r*C + c, **params), R, C)
    return fn


def cute_default(a, B=3, M=4, S=3):
    return cute_swizzle(a, B, M, S)


def smem_atom(B):
    """K-major atom of mma_traits_sm90_gmma.hpp: Sw<B,4,3> on the byte address over (8,W):(W,1) bits, W = 128 << B.
    Written on the bit address, where the 4 of a byte address is 7; atoms side by side along K, then along M."""
    width = 128 << B

    def fn(shape, bits):
        M, K = shape
        m, k = coords(shape)
        per = width//bits
        atom = m//8*cd(K, per) + k//per
        bit = atom*8*width + (m % 8)*width + (k % per)*bits
        granule = 128//bits
        return box(cute_swizzle(bit, B, 7, 3)//bits, cd(M, 8), cd(K, per), 8, 1 << B, granule)
    return fn


# --- below a byte: source 003, 7.2 (byte i*stride + j/p, lane j%p); MegEngine lowbit_utils.cpp; bitsandbytes

def packed_low(width):
    per = 8//width

    def fn(shape, bits):
        R, C = shape
        r, c = coords(shape)
        stride = cd(C*width, 8)
        return Map((r*stride + c//per)*per + c % per, R*stride*per, None)
    return fn


def int4_high(shape, bits):
    R, C = shape
    r, c = coords(shape)
    byte = r*cd(C, 2) + c//2
    return box(np.where(c % 2 == 0, byte*2 + 1, byte*2), R, cd(C, 2), 2)


def marlin_perm():
    """get_weight_perm(4) of vLLM's marlin_utils_test.py: 1024 source places, in the order they are stored."""
    perm = []
    for i in range(32):
        one = []
        for block in (0, 1):
            for row in (2*(i % 4), 2*(i % 4) + 1, 2*(i % 4 + 4), 2*(i % 4 + 4) + 1):
                one.append(16*row + i//4 + 8*block)
        for j in range(4):
            perm += [p + 256*j for p in one]
    return np.array(perm).reshape(-1, 8)[:, [0, 2, 4, 6, 1, 3, 5, 7]].ravel()


def marlin(shape, bits):
    # 16 x 16 tiles row by row, four of them to a permutation: marlin_permute_weights; then 8 to a word, low nibble first
    K, N = shape
    k, n = coords(shape)
    to = np.empty(1024, np.int64)
    to[marlin_perm()] = np.arange(1024)
    flat = n//16*256 + k % 16*16 + n % 16
    addr = k//16*(cd(N, 64)*1024) + flat//1024*1024 + to[flat % 1024]
    return box(addr, cd(K, 16), cd(N, 64), *[2]*10)


AWQ_ORDER = [0, 2, 4, 6, 1, 3, 5, 7]      # gemm.py: nibble p of a word holds this column


def awq(shape, bits):
    K, N = shape
    k, n = coords(shape)
    nibble = np.argsort(AWQ_ORDER)[n % 8]
    return box((k*cd(N, 8) + n//8)*8 + nibble, K, cd(N, 8), 2, 2, 2)


# --- scale factors: (c) "block scales"; cuBLAS "1D Block Scaling Factors Layout"

def sf128x4(shape, bits):
    R, C = shape
    r, c = coords(shape)
    return box((r//128*cd(C, 4) + c//4)*512 + (r % 32)*16 + (r % 128//32)*4 + c % 4, cd(R, 128), cd(C, 4), 32, 4, 4)


# --- VNNI

def vnni(x):
    def fn(shape, bits):
        K, N = shape
        k, n = coords(shape)
        return box(k//x*(N*x) + n*x + k % x, cd(K, x), N, x)
    return fn


def onednn(outer, inner, shape, storage):
    """off_v of oneDNN memory_desc_wrapper.hpp: inner blocks from the last to the first, then strides of what is left.
    outer: dims, outermost first; inner: (dim, block), outer to inner."""
    block = [math.prod(b for d, b in inner if d == e) for e in range(len(shape))]
    stride, s = {}, math.prod(b for _, b in inner)
    for d in reversed(outer):
        stride[d] = s
        s *= cd(shape[d], block[d])
    pos, off, unit = list(coords(shape)), 0, 1
    for d, b in reversed(inner):
        off = off + pos[d] % b*unit
        pos[d] = pos[d]//b
        unit *= b
    return Map(off + sum(p*stride[d] for d, p in enumerate(pos)), s, storage)


def amx_b16(shape, bits):
    K, N = shape
    return onednn((1, 0), [(0, 16), (1, 64), (0, 2)], shape, (cd(N, 64), cd(K, 32), 16, 64, 2))


def amx_b8(shape, bits):
    K, N = shape
    return onednn((1, 0), [(0, 16), (1, 64), (0, 4)], shape, (cd(N, 64), cd(K, 64), 16, 64, 4))


# --- Morton: bits spread by the usual masks

def spread(x):
    for shift, mask in ((8, 0x00FF00FF), (4, 0x0F0F0F0F), (2, 0x33333333), (1, 0x55555555)):
        x = (x | x << shift) & mask
    return x


def morton(side):
    def fn(shape, bits):
        H, W = shape
        y, x = coords(shape)
        tile = y//side*cd(W, side) + x//side
        return box(tile*side*side + (spread(y % side) << 1 | spread(x % side)),
                   cd(H, side), cd(W, side), *[2]*(2*(side.bit_length() - 1)))
    return fn
