"""Closed formulas of operands of matrix products: oneDNN's tags, CUTLASS, CuTe, cuBLASLt."""

from formulas_base import box, cd, coords, recipe, ru
from formulas_channels import holes


# --- oneDNN tags

def oihw_vnni(quad):
    return recipe((16, 16, 1, 1), (lambda b, O, I, H, W: O//16, 16, lambda b, O, I, H, W: I//16, 16//quad, quad,
                                   lambda b, O, I, H, W: H, lambda b, O, I, H, W: W), (0, 2, 5, 6, 3, 1, 4))


# --- CUTLASS include/cutlass/layout/: matrix.h, tensor.h, tensor_op_multiplicand_sm70.h, _sm75.h, _sm80.h

def col_block_linear(shape, bits, BM=8, BN=8):
    R, C = shape
    r, c = coords(shape)
    ld = ru(R, BM)*BN
    return box(r % BM + (c % BN)*BM + r//BM*BM*BN + c//BN*ld, cd(C, BN), cd(R, BM), BN, BM)


def pitched(shape, bits, LD=0):
    R, C = shape
    r, c = coords(shape)
    return holes(r*(LD or C) + c, R*(LD or C))


def cxrskx(shape, bits, I=32):
    K, C, R, S = shape
    k, c, r, s = coords(shape)
    s0, s1, s2 = I*K, I*K*S, I*K*S*R
    return box(c % I + I*k + s0*s + s1*r + s2*(c//I), cd(C, I), R, S, K, I)


def tensor_op(shape, bits, X=None):
    """TensorOpMultiplicand<bits, Crosswise>::operator(), the leading dimension rounded up to Crosswise."""
    S, C = shape
    s, c = coords(shape)
    per = 128//bits
    cross = X or 8*per
    factor = 8*per//cross
    stride = max(8//factor, 4)
    vec_c, vec_s = c//per, s//factor
    tile_c = vec_c//(8//factor)
    residual_c = vec_c % (8//factor) + (s % factor)*(8//factor)
    residual_s = vec_s % stride
    permuted_vec = residual_c % 4 ^ residual_s % 4 % 4
    permuted_part = residual_c//4 ^ residual_s//4 % 2
    element_c = (tile_c*8 + permuted_part*4 + permuted_vec)*per + c % per
    ld = ru(C, cross)
    return box(element_c + vec_s*ld*factor, cd(S, factor), cd(C, cross), 8, per)


def tensor_op_32(shape, bits):
    S, C = shape
    s, c = coords(shape)
    ld = ru(C, 32)
    v, t = c % 32//4, s % 4
    return box((v ^ 2*t)*4 + t*ld + c//32*32 + s//4*ld*4 + c % 4, S, cd(C, 32), 8, 4)


def tensor_op_64(shape, bits):
    S, C = shape
    ld = ru(C, 16)
    s, c = coords(shape)
    tc, ts, c, s = c//16, s//4, c % 16, s % 4
    bank = (((c & 1)*4 + (c & 6)//2) ^ (s & 1))*2 + c//8
    row = (c & 6)//2
    bank ^= (s & 2)*2
    return box(tc*16 + bank + (ts*4 + row)*ld, cd(S, 4), 4, cd(C, 16), 2, 4, 2)


def tensor_op_64_cross(shape, bits):
    S, C = shape
    ld = ru(S, 16)
    s, c = coords(shape)
    tc, ts, c, s = c//16, s//16, c % 16, s % 16
    group, access = c//4, s//2
    row = access % 4
    # C's precedence: a ^ b + c is a ^ (b + c)
    bank = (group & 2) << 2 ^ ((s % 2) << 3) + (c % 4)*2 + access//4 ^ (group & 1)
    return box((group*4 + row + tc*16)*ld + ts*16 + bank, cd(C, 16), 4, 4, cd(S, 16), 2, 4, 2)


def tensor_op_128(shape, bits):
    S, C = shape
    ld = ru(C, 8)
    s, c = coords(shape)
    tc, ts, c, s = c//8, s//4, c % 8, s % 4
    k = c//2
    return box(tc*8 + ((c & 1)*4 | (s ^ k)) + (ts*4 + k)*ld, cd(S, 4), 4, cd(C, 8), 2, 4)


def volta(left):
    def fn(shape, bits):
        S, C = shape
        per = 128//bits
        ld = ru(C, 8*per)
        s, c = coords(shape)
        v = c//per
        r, t = v % 8, s % 4
        if left:
            strided = r >> 1
            contiguous = t ^ strided | (r & 1) << 2
        else:
            strided = r & 3
            contiguous = t ^ strided | r & 4
        at = (v//8*8 + contiguous)*per + c % per + (s//4*4 + strided)*ld
        return box(at, cd(S, 4), 4, cd(C, 8*per), 2, 4, per)
    return fn


def volta_cross(shape, bits):
    S, C = shape
    per = 64//bits
    ld = ru(S, 16)
    s, c = coords(shape)
    v = c//per
    p = (s & ~0xF) + (s & 3)*4 + ((s >> 2 ^ (s & 0x10) >> 3) & 3)
    p ^= (v & 7) >> 1 & 3
    return box(p*per + c % per + v*(ld*per), cd(C, per), cd(S, 16), 4, 4, per)


# --- CuTe, include/cute/atom/mma_traits_sm90_gmma.hpp: atoms in bits, under Swizzle<B,M,S> of the byte address

def swizzle_bits(x, B, M, S):
    """On a bit address."""
    y = ((1 << B) - 1) << (M + S + 3)
    return x ^ (x & y) >> S


def atom(B, by_column=False, along_m=False, M=4, S=3, granule=16, rows=8):
    """8 x W bits row by row (K-major) or W bits x 8 (MN-major), W = 128 << B; whole atoms side by side."""
    width = granule*8 << B

    def fn(shape, bits):
        m, k = coords(shape)
        fast, slow = (m, k) if along_m else (k, m)
        per = width//bits
        extent = dict(fast=cd(shape[0 if along_m else 1], per), slow=cd(shape[1 if along_m else 0], rows))
        if by_column != along_m:      # K-major by column, or MN-major by row: tiles of the slow side are next to each other
            tile = fast//per*extent["slow"] + slow//rows
        else:
            tile = slow//rows*extent["fast"] + fast//per
        bit = tile*rows*width + slow % rows*width + fast % per*bits
        n = extent["fast"]*extent["slow"]
        return box(swizzle_bits(bit, B, M, S)//bits, n*rows*width//bits)
    return fn


# --- cuBLASLt, (c); hipBLASLt

def col4_4r2_8c(shape, bits):
    R, C = shape
    r, c = coords(shape)
    rows = ru(R, 8)
    return box(c//32*rows*32 + ((r >> 3 << 3) + ((r & 1) << 2) + ((c & 31) >> 3))*32 + ((c & 7)//4*4 + ((r & 7) >> 1))*4 + (c & 3),
               cd(C, 32), rows//8, 2, 8, 2, 2, 4)


def col32_2r_4r4(shape, bits):
    R, C = shape
    r, c = coords(shape)
    t = r % 32
    return box((c//32*cd(R, 32) + r//32)*1024 + ((t % 8//2*4 + t//8)*2 + t % 2)*32 + c % 32, cd(C, 32), cd(R, 32), 2, 2, 2, 2, 2, 32)


def col16(rows):
    def fn(shape, bits):
        R, C = shape
        r, c = coords(shape)
        tall = 4*rows
        tile = c//16*cd(R, tall) + r//tall
        return box(tile*tall*16 + r % rows + c % 16*rows + r % tall//rows*(rows*16), cd(C, 16), cd(R, tall), 4, 16, rows)
    return fn
