"""Closed formulas of packed weights and their scales, and of the bits of displays."""

import numpy as np

from formulas_base import box, cd, coords, Map, recipe, ru


# --- weights: Marlin's get_weight_perm and get_scale_perms

def weight_perm(num_bits, a8):
    perm = []
    for i in range(32):
        one = []
        for blk in (0, 1):
            if a8:
                rows = [4*(i % 4) + j for j in range(4)] + [4*(i % 4 + 4) + j for j in range(4)]
            else:
                rows = [2*(i % 4), 2*(i % 4) + 1, 2*(i % 4 + 4), 2*(i % 4 + 4) + 1]
            one += [16*row + i//4 + 8*blk for row in rows]
        for j in range(2 if a8 else 4):
            perm += [p + (512 if a8 else 256)*j for p in one]
    interleave = {(4, False): [0, 2, 4, 6, 1, 3, 5, 7], (8, False): [0, 2, 1, 3],
                  (4, True): [0, 4, 1, 5, 2, 6, 3, 7], (8, True): [0, 1, 2, 3]}[num_bits, a8]
    return np.array(perm).reshape(-1, len(interleave))[:, interleave].ravel()


def stored_at(perm):
    """Where each number of a list that is gathered by perm comes to lie."""
    at = np.empty(len(perm), np.int64)
    at[np.asarray(perm)] = np.arange(len(perm))
    return at


def marlin(num_bits, a8):
    """marlin_permute_weights: tiles of 16 columns and 16 or 32 rows, then 1024 at a time by the permutation."""
    tall, wide = (32, 32) if a8 else (16, 64)

    def fn(shape, bits):
        K, N = shape
        k, n = coords(shape)
        at = stored_at(weight_perm(num_bits, a8))
        flat = n//16*(tall*16) + k % tall*16 + n % 16
        return box(k//tall*(cd(N, wide)*1024) + flat//1024*1024 + at[flat % 1024], cd(K, tall), cd(N, wide), *[2]*10)
    return fn


SCALE_PERM = [i + 8*j for i in range(8) for j in range(8)]
SCALE_PERM_SINGLE = [2*i + j for i in range(4) for j in (0, 1, 8, 9, 16, 17, 24, 25)]


def scales_by(perm, *storage):
    def fn(shape, bits):
        G, N = shape
        g, n = coords(shape)
        w = len(perm)
        return box(g*ru(N, w) + n//w*w + stored_at(perm)[n % w], G, cd(N, w), *storage)
    return fn


def words(order):
    """Columns in words; the word's place p holds column order[p]."""
    n = len(order)

    def fn(shape, bits):
        K, N = shape
        k, c = coords(shape)
        return box((k*cd(N, n) + c//n)*n + stored_at(order)[c % n], K, cd(N, n), *[2]*(n.bit_length() - 1))
    return fn


def gptq(shape, bits):
    """qweight[k*bits//32][n], at bit k*bits%32."""
    K, N = shape
    k, n = coords(shape)
    per = 32//bits
    return box((k//per*N + n)*per + k % per, cd(K, per), N, per)


def exllama(shape, bits):
    """Even rows of a word in its low half, in order; odd ones in its high half."""
    K, N = shape
    k, n = coords(shape)
    return box((k//8*N + n)*8 + np.where(k % 2 == 0, k % 8//2, 4 + k % 8//2), cd(K, 8), N, 2, 2, 2)


def awq_gemv_fast(shape, bits):
    """pack_intweight(interleave=4, kstride=64), on the numbers of the padded elements."""
    N, K = (ru(n, m) for n, m in zip(shape, (4, 64)))
    x = np.arange(N*K).reshape(N, K//32, 4, 4, 2).transpose(0, 1, 3, 2, 4).reshape(N, K//32, 32)
    x = x.reshape(N, K//32, 4, 4, 2).transpose(0, 1, 2, 4, 3).reshape(N, K)
    x = x.reshape(N//4, 4, K//64, 64).transpose(0, 2, 1, 3).reshape(N//4, K//64, 64, 4)
    return box(stored_at(x.reshape(-1)).reshape(N, K)[:shape[0], :shape[1]], N//4, K//64, *[2]*8)


def tinygemm(shape, bits):
    """int32 [N/8][K/128][lane][4]: lane and nibble of the m16n8k16 fragment, innerKTiles = 8."""
    N, K = shape
    n, k = coords(shape)
    lane, word, nibble = n % 8*4 + k % 8//2, k % 128//32, k % 2*4 + k % 32//8
    return box(((n//8*cd(K, 128) + k//128)*128 + lane*4 + word)*8 + nibble, cd(N, 8), cd(K, 128), *[2]*10)


def qserve(shape, bits):
    N, K = (ru(n, 32) for n in shape)
    x = np.arange(N*K).reshape(N//32, 2, 2, 8, K//32, 2, 4, 4)       # n: 32, pairs, 2, 8; k: 32, 2, 4, 4
    at = x.transpose(0, 4, 3, 6, 5, 2, 7, 1).reshape(-1)             # the last one is the nibble, low first
    return box(stored_at(at).reshape(N, K)[:shape[0], :shape[1]], N//32, K//32, *[2]*10)


def aiter_weight(shape, bits):
    """view(N/16, 16, K/32, 32/V, V).permute(0, 2, 3, 1, 4), V elements in 16 bytes."""
    V = 128//bits
    return recipe((16, 32), (lambda b, N, K: N//16, 16, lambda b, N, K: K//32, 32//V, V), (0, 2, 3, 1, 4))(shape, bits)


def aiter_scales(shape, bits, Z=127):        # what is beyond the extents has the value Z
    """view(M/32, 2, 16, N/8, 2, 4).permute(0, 3, 5, 2, 4, 1)"""
    m = recipe((256, 8), (lambda b, M, N: M//32, 2, 16, lambda b, M, N: N//8, 2, 4), (0, 3, 5, 2, 4, 1))(shape, bits)
    m.fill = Z
    return m


def hopper_scales(shape, bits, W=4):
    return recipe((32*W, 2), (lambda b, M, K: M//(32*W), 2, W, 2, 8, lambda b, M, K: K//2, 2), (0, 2, 5, 1, 4, 6, 3))(shape, bits)


def sf8x4(shape, bits):
    R, C = shape
    r, c = coords(shape)
    return box((r//8*cd(C, 4) + c//4)*32 + r % 8*4 + c % 4, cd(R, 8), cd(C, 4), 8, 4)


def reorder_meta(group):
    """reorder_meta of CUTLASS's host_reorder.h into ColumnMajorInterleaved<2>, rows a multiple of group."""
    def fn(shape, bits):
        rows = ru(shape[0], group)
        r, c = (np.indices((rows, ru(shape[1], 2))))
        to = r//group*group + r % 8*(group//8) + r % group//8
        up, down = (to % 2 == 0) & (c % 2 == 1), (to % 2 == 1) & (c % 2 == 0)
        to, col = to + up - down.astype(int), c - up + down.astype(int)
        at = col//2*rows*2 + to*2 + col % 2
        return box(at[:shape[0], :shape[1]].astype(np.int64), cd(shape[1], 2), rows//group, *[2]*{32: 6, 16: 5}[group])
    return fn


def meta_marlin(shape, bits):
    """_calculate_meta_reordering_scatter_offsets with group_x = 64."""
    m = ru(shape[0], 64)
    row, col = np.indices((m, ru(shape[1], 2)))
    to = row//64*64 + row % 2*2 + row % 8//4 + row % 4//2*32 + row % 64//8*4
    up, down = (to % 2 == 0) & (col % 2 == 1), (to % 2 == 1) & (col % 2 == 0)
    to, col = to + up - down.astype(int), col - up + down.astype(int)
    at = col//2*m*2 + to*2 + col % 2
    return box(at[:shape[0], :shape[1]].astype(np.int64), cd(shape[1], 2), m//64, *[2]*7)


def xnnpack_gemm(shape, bits, NR=8, KR=1, SR=1, B=None):
    """Block b of row n of a panel is that of k from b/sr*sr + (b + n) % sr on, times kr; biases of B elements in front of the panel."""
    N, K = ru(shape[0], NR), ru(shape[1], KR*SR)
    room = NR*(B or {32: 1, 16: 1, 8: 4}[bits])
    panel = room + NR*K
    n, b, i = np.indices((N, K//KR, KR))
    slot = n//NR*panel + room + (b*NR + n % NR)*KR + i
    at = np.empty((N, K), np.int64)
    at[n, (b//SR*SR + (b + n % NR) % SR)*KR + i] = slot
    return Map(at[:shape[0], :shape[1]], N//NR*panel, None, at)


# --- bits of displays

def bit_high(shape, bits):
    R, C = shape
    r, c = coords(shape)
    return box((r*cd(C, 8) + c//8)*8 + (7 - c % 8), R, cd(C, 8), 8)


def bit_pages(shape, bits):
    """buffer[x + (y/8)*WIDTH] |= 1 << (y & 7)"""
    H, W = shape
    y, x = coords(shape)
    return box((x + y//8*W)*8 + (y & 7), cd(H, 8), W, 8)
