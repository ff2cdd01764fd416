"""Closed formulas of tensors in plain orders, in vectors and blocks of channels, and of matrices.  As in formulas.py, (c) and "formats" name the notes."""

import math

import numpy as np

from formulas_base import box, cd, coords


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
