"""Closed formulas of accelerators' tensors, caches of keys and values, textures, and fragments of CuTe.  As in formulas.py, "formats" is a note."""

import numpy as np

from formulas_base import box, cd, coords, ru


# --- accelerators, "formats" section 6

def nhcwb16(shape, bits):
    """y*W*roundUp(C,16) + (c/16)*16*W + x*16 + c%16"""
    N, C, H, W = shape
    n, c, y, x = coords(shape)
    return box((n*H + y)*W*ru(C, 16) + c//16*16*W + x*16 + c % 16, N, H, cd(C, 16), W, 16)


def crouton_16(shape, bits):
    N, C, H, W = shape
    n, c, h, w = coords(shape)
    at = ((n*cd(H, 8) + h//8)*cd(W, 4) + w//4)*cd(C, 32) + c//32
    return box(at*1024 + h % 8*128 + w % 4//2*64 + c % 32*2 + w % 2, N, cd(H, 8), cd(W, 4), cd(C, 32), 8, 2, 32, 2)


def crouton_8(shape, bits):
    N, C, H, W = shape
    n, c, h, w = coords(shape)
    at = ((n*cd(H, 8) + h//8)*cd(W, 8) + w//8)*cd(C, 32) + c//32
    return box(at*2048 + h % 8*256 + w % 8*32 + c % 32, N, cd(H, 8), cd(W, 8), cd(C, 32), 8, 8, 32)


def iohw_16i32o2i(shape, bits):
    O, I, H, W = shape
    o, i, h, w = coords(shape)
    at = ((i//32*cd(O, 32) + o//32)*H + h)*W + w
    return box(at*1024 + i % 32//2*64 + o % 32*2 + i % 2, cd(I, 32), cd(O, 32), H, W, 16, 32, 2)


def nhwc_chunks(shape, bits, pairs):
    N, C, H, W = shape
    n, c, h, w = coords(shape)
    at = ((n*cd(H, 4) + h//4)*cd(W, 4) + w//4)*cd(C, 32) + c//32
    if pairs:
        return box(at*512 + h % 4*128 + w % 4//2*64 + c % 32*2 + w % 2, N, cd(H, 4), cd(W, 4), cd(C, 32), 4, 2, 32, 2)
    return box(at*512 + h % 4*128 + w % 4*32 + c % 32, N, cd(H, 4), cd(W, 4), cd(C, 32), 4, 4, 32)


def nhwc_1024c(shape, bits, CB=1024):
    N, C, H, W = shape
    n, c, h, w = coords(shape)
    return box(((n*H + h)*W + w)*cd(C, CB)*CB + c, N, H, W, cd(C, CB), CB)


def chunks_3d(a, b):
    """The last two of three dims in chunks of a x b."""
    def address(shape, bits):
        N, Y, X = shape
        n, y, x = coords(shape)
        return box(((n*cd(Y, a) + y//a)*cd(X, b) + x//b)*a*b + y % a*b + x % b, N, cd(Y, a), cd(X, b), a, b)
    return address


def ohwi32o(shape, bits):
    O, I, H, W = shape
    o, i, h, w = coords(shape)
    return box((((o//32*H + h)*W + w)*I + i)*32 + o % 32, cd(O, 32), H, W, I, 32)


def nc1hwc2(shape, bits):
    K = 128//bits
    N, C, H, W = shape
    n, c, h, w = coords(shape)
    return box((((n*cd(C, K) + c//K)*H + h)*W + w)*K + c % K, N, cd(C, K), H, W, K)


def rknn_a(shape, bits, V=None):
    """int4 (K/32,M,32), int8 (K/16,M,16), float16 (K/8,M,8)"""
    per = V or {4: 32, 8: 16, 16: 8}[bits]
    M, K = shape
    m, k = coords(shape)
    return box((k//per*M + m)*per + k % per, cd(K, per), M, per)


def rknn_b(shape, bits, V=None, U=32):
    """int4 (N/64,K/32,64,32), int8 (N/32,K/32,32,32), float16 (N/16,K/32,16,32)"""
    per = V or {4: 64, 8: 32, 16: 16}[bits]
    N, K = shape
    n, k = coords(shape)
    return box(((n//per*cd(K, U) + k//U)*per + n % per)*U + k % U, cd(N, per), cd(K, U), per, U)


def rknn_c(shape, bits, V=4):
    M, N = shape
    m, n = coords(shape)
    return box((n//V*M + m)*V + n % V, cd(N, V), M, V)


def leading(shape):
    at = np.zeros(shape, np.int64)
    for x, n in zip(coords(shape), shape[:-2]):
        at = at*n + x
    return at


def tpu_tile(shape, bits):
    """tiled_layout.md: the linear index in a tile of (8,128), then a tile of (P,1) in that tile."""
    P = max(1, 32//bits)
    R, C = shape[-2:]
    r, c = coords(shape)[-2:]
    tile = r//8*cd(C, 128) + c//128
    y, x = r % 8, c % 128
    inner = (y//P*128 + x)*P + y % P
    return box(leading(shape)*cd(R, 8)*cd(C, 128)*1024 + tile*1024 + inner, *shape[:-2], cd(R, 8), cd(C, 128), 8//P, 128, P)


def tenstorrent(shape, bits):
    R, C = shape[-2:]
    r, c = coords(shape)[-2:]
    face = r % 32//16*2 + c % 32//16
    at = (r//32*cd(C, 32) + c//32)*1024 + face*256 + r % 16*16 + c % 16
    return box(leading(shape)*cd(R, 32)*cd(C, 32)*1024 + at, *shape[:-2], cd(R, 32), cd(C, 32), 2, 2, 16, 16)


# --- KV caches

def vllm_k(shape, bits):
    P, S, H, D = shape
    p, s, h, d = coords(shape)
    x = 128//bits
    return box((((p*H + h)*cd(D, x) + d//x)*S + s)*x + d % x, P, H, cd(D, x), S, x)


# --- textures: bits of the address from the highest, "formats" section 8

def by_bits(names, tall, wide, *inside):
    """The bits of a tile by name; tiles row by row.  inside: the axes of the storage of a tile."""
    def fn(shape, bits):
        v, u = coords(shape)
        at = v//tall*cd(shape[1], wide) + u//wide
        for name in names.split():
            value = 0
            for one in name.split("^"):
                value = value ^ (u if one[0] in "ux" else v) >> int(one[1:]) & 1
            at = at*2 + value
        return box(at, cd(shape[0], tall), cd(shape[1], wide), *inside)
    return fn


INTEL_X = "v2 v1 v0 u8 u7 u6 u5 u4 u3 u2 u1 u0"
INTEL_Y = "u6 u5 u4 v4 v3 v2 v1 v0 u3 u2 u1 u0"
INTEL_W = "u5 u4 u3 v5 v4 v3 v2 u2 v1 u1 v0 u0"
INTEL_TILE4 = "v4 v3 u6 v2 u5 u4 v1 v0 u3 u2 u1 u0"
MALI = "v3 u3^v3 v2 u2^v2 v1 u1^v1 v0 u0^v0"
GOB = "u5 v2 v1 u4 v0 u3 u2 u1 u0"

# The rows of GFX10_SW_PATTERN_NIBBLE01, 2 and 3 that the modes name, bits of the address in bytes from the lowest; 0: of the element itself.
NIBBLE01 = {0: "X0 X1 X2 X3 Y0 Y1 Y2 Y3", 1: "0 X0 X1 X2 Y0 Y1 Y2 X3", 2: "0 0 X0 X1 Y0 Y1 Y2 X2", 3: "0 0 0 X0 Y0 Y1 X1 X2", 4: "0 0 0 0 Y0 Y1 X0 X1",
            6: "0 0 0 X0 Y0 X1 X2 Y1", 7: "0 0 0 0 X0 Y0 X1 Y1", 9: "0 X0 Y0 X1 Y1 X2 Y2 X3", 10: "0 0 X0 Y0 X1 Y1 X2 Y2", 11: "0 0 0 X0 Y0 X1 Y1 X2",
            12: "X0 Y0 X1 Y1 X2 Y2 X3 Y4", 28: "X0 X1 X2 Y1 Y0 Y2 X3 Y4"}
NIBBLE2 = {1: "Y4 X4 Y5 X5", 2: "Y3 X4 Y4 X5", 3: "Y3 X3 Y4 X4", 4: "Y2 X3 Y3 X4", 5: "Y2 X2 Y3 X3", 74: "X3^Y3 X4^Y4 Y5^X6 X5^Y6"}
NIBBLE3 = {0: "", 1: "Y6 X6 Y7 X7", 2: "Y5 X6 Y6 X7", 3: "Y5 X5 Y6 X6", 4: "Y4 X5 Y5 X6", 5: "Y4 X4 Y5 X5", 30: "Y4 X6 Y6 X7", 31: "Y3 X4 Y6 X6", 32: "Y2 X3 Y4 X6",
           33: "Y2 X2 Y3 X4"}
# Of each mode: the rows for elements of 1, 2, 4, 8 and 16 bytes.
GFX10 = {"GFX10_4K_S": [(0, 1, 0), (1, 2, 0), (2, 3, 0), (3, 4, 0), (4, 5, 0)], "GFX10_64K_S": [(0, 1, 1), (1, 2, 2), (2, 3, 3), (3, 4, 4), (4, 5, 5)],
         "GFX10_64K_R_X": [(28, 74, 1), (1, 74, 30), (2, 74, 31), (6, 74, 32), (7, 74, 33)],
         "GFX10_64K_Z_X": [(12, 74, 1), (9, 74, 30), (10, 74, 31), (11, 74, 32), (7, 74, 33)]}


def gfx10(mode, i):
    a, b, c = GFX10[mode][i]
    names = [x.lower() for x in (NIBBLE01[a] + " " + NIBBLE2[b] + " " + NIBBLE3[c]).split()][i:]
    wide = [256, 256, 128, 128, 64][i] // (4 if "_4K" in mode else 1)         # bits of farther tiles occur in an exclusive or
    tall = [256, 128, 128, 64, 64][i] // (4 if "_4K" in mode else 1)
    return by_bits(" ".join(reversed(names)), tall, wide, *[2]*len(names))


def block_linear(shape, bits, GOBS=1):
    v, u = coords(shape)
    gob = by_bits(GOB, 8, 64, 512)((8, 64), bits).addr[v % 8, u % 64]
    tall = 8*GOBS
    at = v//tall*cd(shape[1], 64) + u//64
    return box((at*GOBS + v//8 % GOBS)*512 + gob, cd(shape[0], tall), cd(shape[1], 64), GOBS, 2, 2, 2, 2, 2, 16)


# --- fragments: PTX ISA; CuTe's thread-value layouts as (shape, stride) over column-major coordinates

def thread_value(rows, cols, threads, values):
    """threads and values: modes (extent, stride), fastest first, to row + rows*col, each of one tile."""
    def many(modes):
        out = np.zeros(1, np.int64)
        for n, s in modes:
            out = (np.arange(n)[:, None]*s + out[None]).reshape(-1)
        return out

    def fn(shape, bits):
        t, v = (many(m(32//bits) if callable(m) else m) for m in (threads, values))
        r, c = (x(max(1, 32//bits)) if callable(x) else x for x in (rows, cols))
        at = np.full(r*c, -1)
        at[(t[:, None] + v[None]).reshape(-1)] = np.arange(t.size*v.size)
        assert (at >= 0).all() and t.size*v.size == r*c
        x, y = coords(shape)
        tiles = cd(shape[1], c)
        return box((x//r*tiles + y//c)*r*c + at[x % r + r*(y % c)], cd(shape[0], r), tiles, t.size, v.size)
    return fn


def mma8_ab(shape, bits):
    """PTX, mma.m8n8k*: row lane/4, column (lane%4)*P + i, P elements in 32 bits, or one."""
    P = max(1, 32//bits)
    r, c = coords(shape)
    tiles = cd(shape[1], 4*P)
    lane, i = r % 8*4 + c % (4*P)//P, c % P
    return box((r//8*tiles + c//(4*P))*32*P + lane*P + i, cd(shape[0], 8), tiles, 32, P)


def wgmma_a(shape, bits):
    """PTX, wgmma A in registers: rows of a warp as of mma.m16, warp w has rows 16 w and on."""
    P = max(1, 32//bits)
    r, c = coords(shape)
    tiles, K = cd(shape[1], 8*P), 8*P
    lane = r % 64//16*32 + r % 8*4 + c % (4*P)//P
    i = c % K//(4*P)*2*P + r % 16//8*P + c % P
    return box((r//64*tiles + c//K)*128*4*P + lane*4*P + i, cd(shape[0], 64), tiles, 128, 4*P)


def wgmma_d(shape, bits, W=8):
    return thread_value(64, W, [(4, 128), (8, 1), (4, 16)], [(2, 64), (2, 8), (W//8, 512)])(shape, bits)
