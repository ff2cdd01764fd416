"""The oracle: where every element lives, from the published closed formulas.

Nothing here comes from ravel or from specs/: each function writes down the formula of a vendor's page or source, over whole
coordinate arrays.  LAYOUTS has one entry a layout, `cases()` walks them, GOLDEN holds points found in print or by running the
vendor's code, ERRORS the mistakes of the source documents.  `python3 tests/formulas.py` checks all of it.

(c) is section (c) of the project's notes on notations, "formats" its catalogue of formats; both name the primary sources.
"""

import math

import numpy as np

import formulas_more
from formulas_base import Formula, Map, box, cd, coords, ru


# --- plain orders: (c) "NCHW family"; MegEngine dnn/src/common/named_tensor.cpp

def nchw(shape, bits):
    N, C, H, W = shape
    n, c, h, w = coords(shape)
    return box(((n*C + c)*H + h)*W + w, N, C, H, W)


def nhwc(shape, bits):
    N, C, H, W = shape
    n, c, h, w = coords(shape)
    return box(((n*H + h)*W + w)*C + c, N, H, W, C)


def chwn(shape, bits):
    N, C, H, W = shape
    n, c, h, w = coords(shape)
    return box(n + N*(w + W*(h + H*c)), C, H, W, N)


def hwcn(shape, bits):
    N, C, H, W = shape
    n, c, h, w = coords(shape)
    return box(n + N*(c + C*(w + W*h)), H, W, C, N)


def ncdhw(shape, bits):
    N, C, D, H, W = shape
    n, c, d, h, w = coords(shape)
    return box(w + W*(h + H*(d + D*(c + C*n))), N, C, D, H, W)


def ndhwc(shape, bits):
    N, C, D, H, W = shape
    n, c, d, h, w = coords(shape)
    return box(c + C*(w + W*(h + H*(d + D*n))), N, D, H, W, C)


# --- channels in vectors of x: (c) "NCHWx", "CHWN4", "NHWCD4"

def nchwx(x):
    def fn(shape, bits):
        N, C, H, W = shape
        n, c, h, w = coords(shape)
        return box((((n*cd(C, x) + c//x)*H + h)*W + w)*x + c % x, N, cd(C, x), H, W, x)
    return fn


def chwn4(shape, bits):
    N, C, H, W = shape
    n, c, h, w = coords(shape)
    return box((((c//4*H + h)*W + w)*N + n)*4 + c % 4, cd(C, 4), H, W, N, 4)


def nhwcd4(shape, bits):
    N, C, H, W = shape
    n, c, h, w = coords(shape)
    return box((((n*H + h)*cd(C, 4) + c//4)*W + w)*4 + c % 4, N, H, cd(C, 4), W, 4)


# --- Ascend: (c) "CANN"; graphengine format_transfers/*.cc.  C0 elements fill 32 bytes.

def nc1hwc0(shape, bits, C0=None):
    K = C0 or 256//bits
    N, C, H, W = shape
    n, c, h, w = coords(shape)
    return box((((n*cd(C, K) + c//K)*H + h)*W + w)*K + c % K, N, cd(C, K), H, W, K)


def ndc1hwc0(shape, bits, C0=None):
    K = C0 or 256//bits
    N, C, D, H, W = shape
    n, c, d, h, w = coords(shape)
    return box(((((n*D + d)*cd(C, K) + c//K)*H + h)*W + w)*K + c % K, N, D, cd(C, K), H, W, K)


def fractal_z(shape, bits, C0=None):
    K = C0 or 256//bits
    N, C, H, W = shape
    N1 = cd(N, 16)
    n, c, h, w = coords(shape)
    return box((((c//K*H + h)*W + w)*N1 + n//16)*16*K + (n % 16)*K + c % K, cd(C, K), H, W, N1, 16, K)


def matrices(shape):
    """Leading dims as one running number, and the matrix of the last two."""
    lead, (H, W) = shape[:-2], shape[-2:]
    i = coords(shape)
    b = np.zeros(shape, np.int64)
    for x, n in zip(i, lead):
        b = b*n + x
    return lead, b, H, W, i[-2], i[-1]


def fractal_nz(shape, bits, H0=16, W0=None):
    W0 = W0 or 256//bits
    lead, b, H, W, h, w = matrices(shape)
    H1, W1 = cd(H, H0), cd(W, W0)
    return box(b*H1*W1*H0*W0 + ((w//W0*H1 + h//H0)*H0 + h % H0)*W0 + w % W0, *lead, W1, H1, H0, W0)


def fractal_zz(shape, bits, H0=16, W0=None):
    W0 = W0 or 256//bits
    lead, b, H, W, h, w = matrices(shape)
    H1, W1 = cd(H, H0), cd(W, W0)
    return box(b*H1*W1*H0*W0 + ((h//H0*W1 + w//W0)*H0 + h % H0)*W0 + w % W0, *lead, H1, W1, H0, W0)


def fractal_zn(shape, bits, H0=16, W0=None):        # formats, section 6
    W0 = W0 or 256//bits
    lead, b, H, W, h, w = matrices(shape)
    H1, W1 = cd(H, H0), cd(W, W0)
    return box(b*H1*W1*H0*W0 + (h//H0*W1 + w//W0)*(H0*W0) + (w % W0)*H0 + h % H0, *lead, H1, W1, W0, H0)


# --- matrices of any rank by their strides: source 003, 4.2

def row_major(shape, bits):
    s = [math.prod(shape[k+1:]) for k in range(len(shape))]
    return box(sum(i*n for i, n in zip(coords(shape), s)), *shape)


def col_major(shape, bits):
    s = [math.prod(shape[:k]) for k in range(len(shape))]
    return box(sum(i*n for i, n in zip(coords(shape), s)), *shape[::-1])


# --- blocked: source 003, 5.4 and (c) "2-D blocked"

def blocked_rr(shape, bits, BM=8, BN=8):
    M, N = shape
    i, j = coords(shape)
    return box((i//BM*cd(N, BN) + j//BN)*BM*BN + (i % BM)*BN + j % BN, cd(M, BM), cd(N, BN), BM, BN)


def blocked_cr(shape, bits, BM=8, BN=8):
    M, N = shape
    i, j = coords(shape)
    return box((j//BN*cd(M, BM) + i//BM)*BM*BN + (i % BM)*BN + j % BN, cd(N, BN), cd(M, BM), BM, BN)


# --- CUTLASS include/cutlass/layout/matrix.h, packed leading dimension

def row_interleaved(shape, bits, I=32):
    R, C = shape
    r, c = coords(shape)
    ld = C*I
    return box(r//I*ld + c*I + r % I, cd(R, I), C, I)


def col_interleaved(shape, bits, I=32):
    R, C = shape
    r, c = coords(shape)
    ld = R*I
    return box(c//I*ld + r*I + c % I, cd(C, I), R, I)


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


# --- the table.  Shapes: divisible, not, all ones, prime, tiny, larger.

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


MAPS = [(2, 64, 3, 3), (1, 1, 1, 1), (2, 20, 5, 7), (7, 5, 11, 13), (1, 3, 2, 1), (3, 17, 4, 4), (2, 96, 8, 16), (4, 33, 19, 17)]
FILTERS = [(32, 32, 2, 2), (1, 1, 1, 1), (20, 35, 3, 3), (7, 13, 5, 3), (3, 2, 1, 2), (33, 17, 7, 1), (48, 64, 3, 1), (64, 65, 3, 3)]
VOLUMES = [(2, 32, 2, 4, 4), (1, 1, 1, 1, 1), (1, 17, 2, 2, 3), (3, 5, 7, 2, 11), (1, 2, 1, 3, 1), (2, 64, 3, 2, 5), (2, 33, 5, 9, 8)]
MATRICES = [(32, 64), (1, 1), (18, 34), (13, 37), (2, 3), (1, 200), (131, 1), (96, 128), (130, 257)]
BATCHED = MATRICES + [(3, 16, 32), (2, 5, 7), (2, 3, 17, 19), (1, 1, 1, 1), (2, 1, 3, 4, 5), (2, 2, 1, 3, 33, 20)]
ANY_RANK = [(1,), (7,), (4096,), (5, 3), (1, 1), (2, 3, 4), (13, 1, 17), (2, 3, 5, 7), (4, 1, 3, 2, 9), (2, 3, 2, 5, 2, 3), (33, 65, 19)]
WHOLE_1024 = [(32, 32), (1, 1024), (1024, 1), (8, 128), (2, 512), (64, 48), (96, 32), (3, 2048), (11, 1024), (128, 256)]
WEIGHTS = [(16, 64), (1, 1), (64, 128), (17, 65), (3, 2), (31, 61), (48, 200), (128, 256)]

LAYOUTS = {
    "NCHW": Formula(4, nchw, None, MAPS),
    "NHWC": Formula(4, nhwc, None, MAPS),
    "CHWN": Formula(4, chwn, None, MAPS),
    "HWCN": Formula(4, hwcn, None, MAPS),
    "NCDHW": Formula(5, ncdhw, None, VOLUMES),
    "NDHWC": Formula(5, ndhwc, None, VOLUMES),
    "NCHW4": Formula(4, nchwx(4), None, MAPS),
    "NCHW8": Formula(4, nchwx(8), None, MAPS),
    "NCHW16": Formula(4, nchwx(16), None, MAPS),
    "NCHW32": Formula(4, nchwx(32), None, MAPS),
    "NCHW64": Formula(4, nchwx(64), None, MAPS),
    "CHWN4": Formula(4, chwn4, None, MAPS),
    "NHWCD4": Formula(4, nhwcd4, None, MAPS),
    "NC1HWC0": Formula(4, nc1hwc0, None, MAPS, [({"C0": 16}, MAPS), ({"C0": 4}, MAPS[:3])]),
    "NDC1HWC0": Formula(5, ndc1hwc0, None, VOLUMES, [({"C0": 16}, VOLUMES[:4])]),
    "FRACTAL_Z": Formula(4, fractal_z, None, FILTERS, [({"C0": 16}, FILTERS[:4])]),
    "FRACTAL_NZ": Formula(None, fractal_nz, None, BATCHED, [({"W0": 16}, BATCHED[:4]), ({"H0": 32, "W0": 32}, BATCHED[:4])]),
    "FRACTAL_ZZ": Formula(None, fractal_zz, None, BATCHED, [({"H0": 32}, BATCHED[:4])]),
    "FRACTAL_ZN": Formula(None, fractal_zn, None, BATCHED, [({"H0": 32, "W0": 16}, BATCHED[:4])]),
    "ROW_MAJOR": Formula(None, row_major, None, ANY_RANK),
    "COL_MAJOR": Formula(None, col_major, None, ANY_RANK),
    "BLOCKED_RR": Formula(2, blocked_rr, None, MATRICES, [({"BM": 2, "BN": 4}, MATRICES), ({"BM": 3, "BN": 5}, MATRICES)]),
    "BLOCKED_CR": Formula(2, blocked_cr, None, MATRICES, [({"BM": 2, "BN": 4}, MATRICES), ({"BM": 7, "BN": 6}, MATRICES)]),
    "ROW_INTERLEAVED": Formula(2, row_interleaved, None, MATRICES, [({"I": 4}, MATRICES[:5])]),
    "COL_INTERLEAVED": Formula(2, col_interleaved, None, MATRICES, [({"I": 64}, MATRICES[:5])]),
    # storage a multiple of 2^(M+B+|S|), so that no address leaves it
    "SWIZZLE": Formula(2, swizzled(cute_default), None, WHOLE_1024, [
        ({"B": 2, "M": 0, "S": 3}, [(8, 8), (4, 8), (5, 32), (32, 1), (7, 96), (13, 64)]),
        ({"B": 3, "M": 0, "S": -3}, [(8, 8), (1, 64), (64, 1), (3, 64), (11, 192)]),
        ({"B": 2, "M": 3, "S": -2}, [(16, 8), (5, 128), (96, 64)]),
        ({"B": 1, "M": 2, "S": 5}, [(16, 16), (7, 256)]),
        ({"B": 5, "M": 0, "S": 5}, [(32, 32), (3, 1024)])]),
    "SW32": Formula(2, smem_atom(1), None, MATRICES + [(8, 32), (6, 64)]),
    "SW64": Formula(2, smem_atom(2), None, MATRICES + [(8, 32), (6, 64)]),
    "SW128": Formula(2, smem_atom(3), None, MATRICES + [(8, 64), (6, 64)]),
    "SEED83": Formula(2, swizzled(seed83), None, WHOLE_1024),
    "SEED84": Formula(2, swizzled(seed84), None, WHOLE_1024),
    "INT4_LOW": Formula(2, packed_low(4), 4, MATRICES),
    "INT4_HIGH": Formula(2, int4_high, 4, MATRICES),
    "UINT2_LOW": Formula(2, packed_low(2), 2, MATRICES),
    "BIT_LOW": Formula(2, packed_low(1), 1, MATRICES),
    "MARLIN": Formula(2, marlin, 4, WEIGHTS),
    "AWQ": Formula(2, awq, 4, WEIGHTS),
    "SF128x4": Formula(2, sf128x4, None, MATRICES + [(128, 4), (200, 10), (256, 16)]),
    "VNNI2": Formula(2, vnni(2), None, MATRICES),
    "VNNI4": Formula(2, vnni(4), None, MATRICES),
    "AMX_B16": Formula(2, amx_b16, None, MATRICES + [(70, 133)]),
    "AMX_B8": Formula(2, amx_b8, None, MATRICES + [(70, 133)]),
    "MORTON8": Formula(2, morton(8), None, MATRICES + [(8, 8)]),
    "MORTON16": Formula(2, morton(16), None, MATRICES + [(16, 16)]),
    "MORTON32": Formula(2, morton(32), None, MATRICES + [(32, 32)]),
    "MMA_A": Formula(2, fragment(16, lambda P: 8*P, 32, lambda P: 4*P, mma_a), (4, 8, 16, 32), MATRICES),
    "MMA_B": Formula(2, fragment(8, lambda P: 8*P, 32, lambda P: 2*P, mma_b), (4, 8, 16, 32), MATRICES),
    "MMA_A_HALF": Formula(2, fragment(16, lambda P: 4*P, 32, lambda P: 2*P, mma_a), (4, 8, 16, 32), MATRICES),
    "MMA_B_HALF": Formula(2, fragment(8, lambda P: 4*P, 32, lambda P: P, mma_b), (4, 8, 16, 32), MATRICES),
    "MMA_C": Formula(2, fragment(16, 8, 32, 4, mma_c), (16, 32, 64), MATRICES),
    "MFMA16_A": Formula(2, fragment(16, lambda P: 4*mfma_v(P), 64, mfma_v, mfma_a(16)), (8, 16, 32), MATRICES),
    "MFMA16_B": Formula(2, fragment(16, lambda P: 4*mfma_v(P), 64, mfma_v, mfma_a(16)), (8, 16, 32), MATRICES),
    "MFMA16_D": Formula(2, fragment(16, 16, 64, 4, mfma_d(16)), (32, 64), MATRICES),
    "MFMA32_A": Formula(2, fragment(32, lambda P: 2*mfma_v(P), 64, mfma_v, mfma_a(32)), (8, 16, 32), MATRICES),
    "MFMA32_B": Formula(2, fragment(32, lambda P: 2*mfma_v(P), 64, mfma_v, mfma_a(32)), (8, 16, 32), MATRICES),
    "MFMA32_D": Formula(2, fragment(32, 32, 64, 16, mfma_d(32)), (32,), MATRICES),
    "WMMA_RDNA4_A": Formula(2, fragment(16, 16, 32, 8, rdna4_a), (8, 16), MATRICES),
    "WMMA_RDNA4_D": Formula(2, fragment(16, 16, 32, 8, lambda lane, i, P: (i + 8*(lane//16), lane % 16)), (16, 32), MATRICES),
    "WMMA_RDNA3_D": Formula(2, fragment(16, 16, 32, 8, lambda lane, i, P: (2*i + lane//16, lane % 16)), (32,), MATRICES),
    **formulas_more.LAYOUTS,
}

# True inverses, address in storage -> row-major element index.
INVERSES = {
    "SEED83": seed83_inverse,
    "SEED84": seed84_inverse,
    "SWIZZLE": cute_default,
}


def text(name, params):
    """The layout as the command line takes it: NAME or NAME{A=1, B=2}."""
    return name + ("{%s}" % ", ".join("%s=%d" % p for p in params.items()) if params else "")


def parse(layout):
    name, _, rest = layout.partition("{")
    pairs = (p.split("=") for p in rest.rstrip("}").split(",") if p)
    return name, {k.strip(): int(v) for k, v in pairs}


def evaluate(layout, shape, bits):
    """Map of a layout given as text, for names of LAYOUTS."""
    name, params = parse(layout)
    return LAYOUTS[name].fn(tuple(shape), bits, **params)


def cases(sizes=(8, 16, 32, 64, 4)):
    """Every (layout text, shape, element bits) of the table; a layout with its own width has only that."""
    for name, f in LAYOUTS.items():
        for params, shapes in [({}, f.shapes)] + f.variants:
            for bits in f.bits if isinstance(f.bits, tuple) else (f.bits,) if f.bits else sizes:
                for shape in shapes:
                    yield text(name, params), shape, bits


BITS = {"c128": 128, "f64": 64, "c64": 64, "i64": 64, "f32": 32, "i32": 32, "f16": 16, "bf16": 16, "i16": 16, "u8": 8, "i8": 8,
        "i4": 4, "u4": 4, "u2": 2, "u1": 1}

# (layout, shape, dtype, index, address)
GOLDEN = [
    # (c) "NCHW family": source 000 and MegEngine, N=2 C=64 H=W=3 at n1 c5 h2 w1
    ("NCHW", (2, 64, 3, 3), "f32", (1, 5, 2, 1), 628),
    ("NHWC", (2, 64, 3, 3), "f32", (1, 5, 2, 1), 1029),
    ("NCHW4", (2, 64, 3, 3), "u8", (1, 5, 2, 1), 641),
    ("NCHW64", (2, 64, 3, 3), "u4", (1, 5, 2, 1), 1029),
    ("NCHW32", (2, 64, 3, 3), "u8", (1, 33, 2, 1), 1089),
    ("CHWN4", (2, 64, 3, 3), "u8", (1, 5, 2, 1), 133),
    ("NHWCD4", (1, 6, 2, 3), "f16", (0, 5, 1, 2), 45),
    # (c) "CANN": graphengine unit-test data
    ("NC1HWC0", (1, 17, 4, 4), "f16", (0, 16, 1, 2), 352),
    ("NDC1HWC0", (1, 17, 2, 2, 3), "f16", (0, 16, 1, 1, 2), 368),
    ("FRACTAL_Z", (32, 32, 2, 2), "f16", (17, 20, 1, 0), 3348),
    ("FRACTAL_NZ", (18, 34), "f16", (17, 33), 1297),
    ("FRACTAL_NZ", (18, 34), "f16", (17, 5), 277),
    ("FRACTAL_ZZ", (18, 34), "f16", (17, 5), 789),
    # formats, section 9
    ("FRACTAL_NZ", (40, 20), "f16", (33, 17), 1297),
    ("FRACTAL_Z", (20, 35, 3, 3), "f16", (18, 33, 2, 1), 13089),
    ("NC1HWC0", (2, 20, 5, 7), "f16", (1, 17, 4, 6), 2225),
    ("AMX_B8", (70, 133), "i8", (69, 132), 20753),             # oneDNN reorder, BA16a64b4a
    ("SF128x4", (200, 10), "u8", (197, 9), 2649),
    ("MARLIN", (64, 128), "u4", (37, 91), 5582),
    ("SW128", (8, 128), "u8", (5, 100), 692),                  # row 5 byte 100
    ("SW128", (8, 64), "f16", (5, 50), 346),                   # the same byte
    # (c) "CUTLASS": block scales, interleaved, COL32
    ("SF128x4", (128, 8), "u8", (33, 2), 22),
    ("COL_INTERLEAVED", (5, 40), "i8", (3, 33), 257),
    ("ROW_INTERLEAVED", (40, 5), "i8", (33, 3), 257),
    # (c) first table: strided, blocked, packed
    ("ROW_MAJOR", (2, 3, 4), "f32", (1, 2, 3), 23),
    ("BLOCKED_RR{BM=2, BN=4}", (5, 7), "f32", (3, 5), 29),
    ("BLOCKED_CR{BM=2, BN=4}", (5, 7), "f32", (3, 5), 37),
    ("INT4_LOW", (2, 3), "u4", (1, 2), 6),                     # byte 3, low nibble
    # (b) CuTe: Sw<3,4,3>(128) = 144, (136) = 152; Sw<2,0,3> o 0 o (8,8):(8,1) at (5,6)
    ("SWIZZLE", (8, 128), "f16", (1, 0), 144),
    ("SWIZZLE", (8, 128), "f16", (1, 8), 152),
    ("SWIZZLE{B=2, M=0, S=3}", (8, 8), "f32", (5, 6), 47),
    # source 003, 8.3: the orbit of 4 is 4, 36, 260, 292
    ("SEED83", (32, 32), "f32", (0, 4), 36),
    ("SEED83", (32, 32), "f32", (1, 4), 260),
    # formats, section 9: lanes and registers
    ("MMA_A", (16, 16), "f16", (13, 11), 21*8 + 7),
    ("MMA_C", (16, 8), "f32", (13, 5), 22*4 + 3),
    ("MFMA32_A", (32, 8), "f16", (21, 6), 53*4 + 2),
    ("MFMA32_D", (32, 32), "f32", (21, 6), 38*16 + 9),
    *formulas_more.GOLDEN,
]

# The same for orders that have no name in the catalogue; formats, section 9, unless said.
GOLDEN_INLINE = [
    ("(N,H,W,C){N, H, C//16, W, C%16}", (1, 5, 7, 20), "u8", (0, 4, 6, 19), 1107),                       # NHCWB16
    ("{R//8, C//128, R//2%4, C%128, R%2}", (20, 300), "bf16", (13, 257), 5635),                          # XLA T(8,128)(2,1)
    ("{R//2, C//2, R%2, C%2}", (3, 5), "f32", (2, 3), 17),                                               # XLA T(2,2)
    ("(N,H,W,C){N, H//8, W//4, C//32, H%8, W//2%2, C%32, W%2}", (1, 9, 7, 40), "f16", (0, 8, 6, 39), 7246),   # crouton
    ("{R//32, C//32, R//16%2, C//16%2, R%16, C%16}", (100, 70), "bf16", (45, 69), 5333),                 # Tenstorrent
    ("(O,I,H,W){O//16, I//16, H, W, I//4%4, O%16, I%4}", (33, 35, 3, 2), "i8", (32, 34, 2, 1), 13570),    # OIhw4i16o4i
    ("(O,I,H,W){O//16, I//16, H, W, I//4%4, O%16, I%4}", (32, 33, 3, 3), "i8", (17, 21, 1, 2), 10565),    # (b) oneDNN
    ("{N//32, K//32, N[2], N[1], N[0], K[3], K[2], K[4], N[3], K[1], K[0], N[4]}", (64, 64), "u4", (45, 37), 3754),   # QServe
    ("{N//16, K//32, K//8%4, N%16, K%8}", (32, 64), "bf16", (21, 45), 1709),                             # AITER weights
    ("{R//32, C//8, C%4, R%16, C[2], R[4]}", (64, 16), "u8", (37, 13), 854),                             # AITER scales
    ("(R,C){C//32, R//32, R[2], R[1], R[4], R[3], R[0], C%32}", (64, 96), "i8", (45, 70), 5734),              # COL32_2R_4R4
    ("(R,C){C//32, R//8, R[0], C//4%8, R[2], R[1], C%4}", (64, 96), "i8", (45, 70), 5530),                    # COL4_4R2_8C
    ("(R,C){C//32, R//32, R[2], R[1], R[4], R[3], R[0], C%32}", (32, 32), "i8", (9, 3), 99),                  # (c)
    ("(R,C){C//32, R//8, R[0], C//4%8, R[2], R[1], C%4}", (8, 32), "i8", (3, 5), 149),                        # (c)
    ("(V,U){U//16, V, U%16}", (32, 128), "u8", (21, 100), 3412),                                         # Intel Y
    ("(V,U){V//8, U[6], V[2], U[5], U[4], V[1], V[0], U%16}", (32, 128), "u8", (21, 100), 2964),         # Intel Tile4
    ("(Y,X){X[5], Y[2], Y[1], X[4], Y[0], X%16}", (8, 64), "u8", (6, 45), 461),                          # NVIDIA GOB
    ("(Y,X){Y[3], X[3] ~ Y[3], Y[2], X[2] ~ Y[2], Y[1], X[1] ~ Y[1], Y[0], X[0] ~ Y[0]}", (16, 16), "u8", (6, 13), 109),   # Mali
    ("{R//128, C//4, R%32, R//32%4, C%4}", (200, 10), "u8", (197, 9), 2649),                             # SF128x4
    ("{K//16, N//64, N[2], N[1], N[0], K[2], K[1], N[5], N[4], K[0], N[3], K[3]}", (64, 128), "u4", (37, 91), 5582),   # Marlin
    ("(O,I,Y,X){O//4, Y, X, I//4, O%4, I%4}", (8, 8, 2, 2), "i8", (5, 6, 1, 0), 214),                    # (c) DENSEI_DOT
    ("(O,I,Y,X){O//8, I//8, Y, X, I%8, O%8}", (16, 16, 3, 3), "f32", (9, 10, 1, 2), 2065),               # (c) OIHW88
]
# Storage in elements: (layout, shape, dtype, size); (c).
GOLDEN_SIZE = [
    ("NHWCD4", (1, 6, 2, 3), "f16", 48),
    ("FRACTAL_NZ", (18, 34), "f16", 1536),
    ("BLOCKED_RR{BM=2, BN=4}", (5, 7), "f32", 48),
    ("FRACTAL_Z", (32, 32, 2, 2), "f16", 8*2*16*16),
]


# --- ERRORS: each returns (what the document claims, what holds), by running the document's own code against the truth.

def orbit(f, a):
    out = [a]
    while f(out[-1]) != a:
        out.append(f(out[-1]))
    return out


def bank_ways(f, unit):
    """Lanes of the worst bank when a warp reads column 0 of a 32 x 32 f32 matrix through the swizzle f.
    unit: bytes of what f is given; 32 banks of 4 bytes."""
    addr = {f(row*128//unit)*unit for row in range(32)}
    banks = [a//4 % 32 for a in addr]
    return max(banks.count(b) for b in banks)


def unswizzle_is_swizzle():
    """003 8.6: "the inverse of XOR is itself", unswizzle_address = swizzle_address; at 4."""
    return seed83(seed83(4)), seed83_inverse(seed83(4))


def swizzle83_order():
    """003 8.6: applied twice it is the identity."""
    return 2, math.lcm(*(len(orbit(seed83, a)) for a in range(1024)))


def swizzle83_banks():
    """003 8.3: spreads a warp over the banks (1 lane a bank)."""
    return 1, bank_ways(seed83, 1)


def swizzle83_banks_on_elements():
    return 1, bank_ways(seed83, 4)


def swizzle84_banks():
    """003 8.4 on `addr`: conflict-free only when addr counts 4-byte elements."""
    return 1, bank_ways(seed84, 1)


def greedy_inverse(offset, strides):
    """offset_to_indices of 003 4.3, also indices_from_offset of 4.5."""
    indices, rest = [], offset
    for s in strides:
        indices.append(rest//s)
        rest = rest % s
    return tuple(indices)


def searched_inverse(offset, strides, shape):
    return [i for i in np.ndindex(*shape) if sum(x*s for x, s in zip(i, strides)) == offset]


def strided_inverse_column_major():
    """003 4.3 on the column-major matrix of its own 4.4."""
    [true] = searched_inverse(3, (1, 2), (2, 3))
    return greedy_inverse(3, (1, 2)), true


def strided_inverse_broadcast():
    """003 4.3 on stride 0: divides by zero; the address has all the indices of its row."""
    try:
        claimed = greedy_inverse(1, (0, 1))
    except ZeroDivisionError:
        claimed = "division by zero"
    return claimed, searched_inverse(1, (0, 1), (3, 4))


def stored(layout, shape):
    """Row-major element numbers in the order of storage."""
    m = evaluate(layout, shape, 32)
    out = np.full(m.size, -1)
    out[m.addr.ravel()] = np.arange(m.addr.size)
    return out.tolist()


NHWC_FIGURE = [0, 9, 18, 1143, 1, 10]


def figure_nhwc():
    """000, NHWC of 2,64,3,3: first three values, then those around value 1."""
    s = stored("NHWC", (2, 64, 3, 3))
    p = s.index(1)
    return NHWC_FIGURE, s[:3] + s[p-1:p+2]


def figure_nhwc_is_hwnc():
    """What that figure does show."""
    s = np.arange(2*64*9).reshape(2, 64, 3, 3).transpose(2, 3, 0, 1).ravel().tolist()
    p = s.index(1)
    return NHWC_FIGURE, s[:3] + s[p-1:p+2]


def figure_nchw64():
    """000, NCHW64 of 2,64,3,3: 0000 0009 .. 0567 | 0001 0010 .. 0575 | 0002."""
    s = stored("NCHW64", (2, 64, 3, 3))
    return [0, 9, 567, 1, 10, 575, 2], s[:2] + s[63:66] + s[127:129]


def sparse_injective():
    """003 6.3: "not injective, so not invertible", on its CSR example: stored position -> coordinate."""
    row_ptr, col_ind = [0, 1, 2, 3], [1, 2, 0]
    at = [(r, col_ind[p]) for r in range(3) for p in range(row_ptr[r], row_ptr[r+1])]
    return False, len(set(at)) == len(at)


def c1_rounds_down():
    """hiascend.com English page on NC1HWC0: C1 = C / C0 rounded down; 17 channels."""
    return 17//16, evaluate("NC1HWC0", (1, 17, 4, 4), 16).storage[1]


def tensor_ncxhwx(n, c, h, w, C, H, W, x):
    """TensorNCxHWx<x>::operator() of CUTLASS tensor.h with its packed strides."""
    return c % x + x*w + x*W*h + x*W*H*(c//x) + H*W*C*n


def tensor_ncxhwx_collides():
    """CUTLASS: two elements of C48 2x2, x = 32; the true addresses have whole vectors for every n."""
    at = [(0, 32, 1, 0), (1, 0, 0, 0)]
    m = evaluate("NCHW32", (2, 48, 2, 2), 8).addr
    return tuple(tensor_ncxhwx(*i, 48, 2, 2, 32) for i in at), tuple(int(m[i]) for i in at)


ERRORS = {
    "003 8.6 unswizzle = swizzle": unswizzle_is_swizzle,
    "003 8.6 self-inverse": swizzle83_order,
    "003 8.3 bank conflicts, byte address": swizzle83_banks,
    "003 8.3 bank conflicts, element index": swizzle83_banks_on_elements,
    "003 8.4 bank conflicts, byte address": swizzle84_banks,
    "003 4.3 inverse of column-major": strided_inverse_column_major,
    "003 4.3 inverse with stride 0": strided_inverse_broadcast,
    "000 figure of NHWC": figure_nhwc,
    "000 figure of NCHW64": figure_nchw64,
    "003 6.3 sparse not injective": sparse_injective,
    "hiascend C1 rounds down": c1_rounds_down,
    "CUTLASS TensorNCxHWx with a short last vector": tensor_ncxhwx_collides,
}


def check():
    """Problems found in this file's own tables."""
    bad, count = [], 0
    for layout, shape, bits in cases():
        count += 1
        m = evaluate(layout, shape, bits)
        a = m.addr.ravel()
        where = "%s %s %d bits" % (layout, shape, bits)
        if m.addr.shape != tuple(shape) or m.addr.dtype != np.int64:
            bad.append(where + ": wrong array")
        if a.min() < 0 or a.max() >= m.size:
            bad.append(where + ": leaves its %d elements" % m.size)
        elif np.bincount(a).max() > 1:
            bad.append(where + ": collides")
        if a.size > 60000:
            bad.append(where + ": too large for a quick test")
        if m.storage and math.prod(m.storage) != m.size:
            bad.append(where + ": storage %s is not %d" % (m.storage, m.size))
        name, params = parse(layout)
        if name in INVERSES and not np.array_equal(INVERSES[name](a, **params), np.arange(a.size)):
            bad.append(where + ": inverse")
    for name, f in LAYOUTS.items():
        if len(f.shapes) < 6:
            bad.append(name + ": fewer than 6 shapes")
    for layout, shape, dtype, index, address in GOLDEN:
        got = int(evaluate(layout, shape, BITS[dtype]).addr[index])
        if got != address:
            bad.append("golden %s %s %s: %d, not %d" % (layout, shape, index, got, address))
    for layout, shape, dtype, size in GOLDEN_SIZE:
        got = evaluate(layout, shape, BITS[dtype]).size
        if got != size:
            bad.append("size of %s %s: %d, not %d" % (layout, shape, got, size))
    for name, f in ERRORS.items():
        claimed, true = f()
        if claimed == true:
            bad.append("%s: claim and truth agree" % name)
    return count, bad


if __name__ == "__main__":
    count, bad = check()
    for b in bad:
        print(b)
    for name, f in ERRORS.items():
        print("%-46s claimed %s, true %s" % ((name,) + f()))
    print("%d layouts, %d cases, %d golden points, %d problems" % (len(LAYOUTS), count, len(GOLDEN), len(bad)))
    raise SystemExit(bool(bad))
