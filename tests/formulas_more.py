"""More of the oracle: formats of weights, accelerators, textures and shared memory.  Like formulas.py, nothing here comes from ravel.

A published chain of view() and permute() is a `recipe`; a published function of coordinates is that function, line by line, over
whole coordinate arrays; a published permutation of a tile is that table.  "formats" and (c) as in formulas.py."""

import math

import numpy as np

from formulas_base import Formula, Map, box, cd, coords, recipe, ru


def plain(*order):
    """A tensor whose dims are stored in this order."""
    def fn(shape, bits):
        at = np.arange(math.prod(shape)).reshape([shape[d] for d in order])
        return box(at.transpose(np.argsort(order)), *(shape[d] for d in order))
    return fn


def padded_last(multiple):
    """N, H, W, C with C rounded up: TensorRT's HWC8."""
    def fn(shape, bits):
        N, C, H, W = shape
        n, c, h, w = coords(shape)
        return box(((n*H + h)*W + w)*ru(C, multiple) + c, N, H, W, ru(C, multiple))
    return fn


def dla_linear(shape, bits):
    N, C, H, W = shape
    n, c, h, w = coords(shape)
    line = ru(W*bits//8, 64)*8//bits
    return Map(((n*C + c)*H + h)*line + w, N*C*H*line, None)


# --- CANN, (c): K = C0 elements

def block(bits):
    return 256//bits


def graph_block(bits):
    """C0 of the graph engine: 16 for 32-bit elements too."""
    return 256//min(bits, 16)


def nc1hwc0_ge(shape, bits):
    K = graph_block(bits)
    N, C, H, W = shape
    n, c, h, w = coords(shape)
    return box((((n*cd(C, K) + c//K)*H + h)*W + w)*K + c % K, N, cd(C, K), H, W, K)


def fractal_z_3d(shape, bits):
    K = block(bits)
    N, C, D, H, W = shape
    N1, C1 = cd(N, 16), cd(C, K)
    n, c, d, h, w = coords(shape)
    return box((((d*C1 + c//K)*H + h)*W + w)*N1*16*K + n//16*16*K + (n % 16)*K + c % K, D, C1, H, W, N1, 16, K)


def fractal_z_3d_transpose(shape, bits):
    K = block(bits)
    N, C, D, H, W = shape
    N1, C1 = cd(N, 16), cd(C, K)
    n, c, d, h, w = coords(shape)
    return box(((((d*N1 + n//16)*H + h)*W + w)*C1 + c//K)*16*K + (n % 16)*K + c % K, D, N1, H, W, C1, 16, K)


def fractal_z_c04(shape, bits):
    K = block(bits)
    N, C, H, W = shape

    def at(n, c, h, w):
        col = (h*W + w)*4 + c
        return (col//K*cd(N, 16) + n//16)*16*K + (n % 16)*K + col % K
    return Map(at(*coords(shape)), cd(4*H*W, K)*cd(N, 16)*16*K, None, at(*coords((ru(N, 16), 4, H, W))))


def holes(addr, size):
    """Storage with slots that no coordinate has."""
    return Map(addr, size, None)


def fractal_z_grouped(shape, bits, G=1):
    K = block(bits)
    N, cin, H, W = shape
    cout = N//G           # N is all groups' output channels
    E = min(math.lcm(math.lcm(cin, K)//cin, math.lcm(cout, 16)//cout), G)
    C1, No = cd(E*cin, K), ru(E*cout, 16)

    def at(n, c, h, w):
        g = n//cout
        ci, co = g % E*cin + c, g % E*cout + n % cout
        tile = ((g//E*C1 + ci//K)*H + h)*W + w
        return tile*No*K + co*K + ci % K
    beyond = coords((ru(N, E*cout), ru(cin, K) if E == 1 else cin, H, W))      # whole merged groups, whole blocks of one
    return Map(at(*coords(shape)), cd(G, E)*C1*H*W*No*K, None, at(*beyond))


def c1hwncoc0(shape, bits):
    K = block(bits)
    N, C, H, W = shape

    def at(n, c, h, w):
        return ((((c//K*H + h)*W + w)*N + n)*K + c % K)*K + c % K
    return Map(at(*coords(shape)), cd(C, K)*H*W*N*K*K, None, at(*coords((N, ru(C, K), H, W))))


def fractal_zz_ge(shape, bits):
    K = graph_block(bits)
    H, W = shape
    h, w = coords(shape)
    return box((h//K*cd(W, K) + w//K)*K*K + (h % K)*K + w % K, cd(H, K), cd(W, K), K, K)


# --- MegEngine, (c) "NCHW family"

def rows_of_bytes(*order):
    """Strides of all but the innermost dim are whole bytes, 4-bit elements."""
    def fn(shape, bits):
        ext = [shape[d] for d in order]
        strides, s = [], ru(ext[-1], 2)
        for n in reversed(ext[:-1]):
            strides.insert(0, s)
            s *= n
        i = coords(shape)
        return Map(sum(i[d]*k for d, k in zip(order, strides + [1])), s, None)
    return fn


def nchw4_group(shape, bits):
    """c -> (c//cpg)*ru(cpg, 4) + c%cpg, then NCHW4."""
    N, G, C, H, W = shape
    n, g, c, h, w = coords(shape)
    at, all_ = g*ru(C, 4) + c, G*ru(C, 4)
    return box((((n*(all_//4) + at//4)*H + h)*W + w)*4 + at % 4, N, G, cd(C, 4), H, W, 4)


def filters(fn):
    """The formula of a filter, and of G of them."""
    def grouped(shape, bits):
        one = fn(shape[1:], bits)
        g = coords(shape)[0]
        return box(g*one.size + one.addr[None], shape[0], *one.storage)
    return grouped


def nchw4_weight(shape, bits):
    O, I, H, W = shape
    o, i, h, w = coords(shape)
    return box((((o*cd(I, 4) + i//4)*H + h)*W + w)*4 + i % 4, ru(O, 4), cd(I, 4), H, W, 4)


def oihw_blocks(b, output_last):
    def fn(shape, bits):
        O, I, H, W = shape
        o, i, h, w = coords(shape)
        inner = (i % b)*b + o % b if output_last else (o % b)*b + i % b
        return box((((o//b*cd(I, b) + i//b)*H + h)*W + w)*b*b + inner, cd(O, b), cd(I, b), H, W, b, b)
    return fn


def inter_weight(shape, bits):
    O, I, H, W = shape
    o, i, h, w = coords(shape)
    return box((((o//4*H + h)*W + w)*ru(I, 4) + i)*4 + o % 4, cd(O, 4), H, W, ru(I, 4), 4)


def inter_dot(shape, bits):
    O, I, H, W = shape
    o, i, h, w = coords(shape)
    return box((((o//4*H + h)*W + w)*cd(I, 4) + i//4)*16 + (o % 4)*4 + i % 4, cd(O, 4), H, W, cd(I, 4), 4, 4)


def channels(b):
    """Depthwise: G/b, 1, 1, FH, FW, b."""
    def fn(shape, bits):
        G, O, I, H, W = shape
        g, o, i, h, w = coords(shape)
        return box(((((g//b*O + o)*I + i)*H + h)*W + w)*b + g % b, cd(G, b), O, I, H, W, b)
    return fn


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


# --- bits of displays

def bit_high(shape, bits):
    R, C = shape
    r, c = coords(shape)
    return box((r*cd(C, 8) + c//8)*8 + (7 - c % 8), R, cd(C, 8), 8)


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


def rknn_a(shape, bits):
    """int4 (K/32,M,32), int8 (K/16,M,16), float16 (K/8,M,8)"""
    per = {4: 32, 8: 16, 16: 8}[bits]
    M, K = shape
    m, k = coords(shape)
    return box((k//per*M + m)*per + k % per, cd(K, per), M, per)


def rknn_b(shape, bits):
    """int4 (N/64,K/32,64,32), int8 (N/32,K/32,32,32), float16 (N/16,K/32,16,32)"""
    per = {4: 64, 8: 32, 16: 16}[bits]
    N, K = shape
    n, k = coords(shape)
    return box(((n//per*cd(K, 32) + k//32)*per + n % per)*32 + k % 32, cd(N, per), cd(K, 32), per, 32)


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


MATRICES = [(32, 64), (1, 1), (18, 34), (13, 37), (131, 1), (70, 133)]
WEIGHTS = [(16, 64), (1, 1), (64, 128), (17, 65), (31, 61), (48, 200)]
MAPS = [(2, 64, 3, 3), (1, 1, 1, 1), (2, 20, 5, 7), (7, 5, 11, 13), (3, 17, 4, 4), (1, 33, 9, 17)]
FILTERS = [(32, 32, 2, 2), (1, 1, 1, 1), (20, 35, 3, 3), (7, 13, 5, 3), (33, 17, 7, 1), (48, 64, 3, 1)]
GROUPED = [(2, 8, 8, 3, 3), (1, 1, 1, 1, 1), (3, 5, 6, 2, 3), (5, 9, 17, 1, 2), (16, 1, 1, 3, 3), (7, 4, 12, 5, 1)]
VOLUMES = [(2, 32, 2, 4, 4), (1, 1, 1, 1, 1), (1, 17, 2, 2, 3), (18, 5, 7, 2, 3), (3, 5, 2, 3, 1), (33, 33, 1, 2, 3)]
FEW = [(18, 3, 2, 2), (1, 1, 1, 1), (16, 4, 3, 3), (33, 2, 5, 1), (7, 3, 7, 7), (20, 4, 1, 3)]
PAGES = [(2, 16, 4, 64), (1, 1, 1, 1), (3, 5, 2, 7), (2, 16, 8, 128), (5, 8, 1, 80), (1, 32, 3, 17)]
ROWS_64 = [(64, 4), (128, 8), (64, 2), (192, 6), (64, 32), (256, 10)]
ANY = [(40, 130), (1, 1), (3, 16, 32), (2, 5, 7), (2, 2, 33, 129), (100, 70)]
BYTES = [(32, 128), (1, 1), (33, 130), (70, 600), (8, 512), (100, 64)]

LAYOUTS = {
    "DHWCN": Formula(5, plain(2, 3, 4, 1, 0), (16, 32), VOLUMES),
    "HWC8": Formula(4, padded_last(8), (16,), MAPS),
    "HWC16": Formula(4, padded_last(16), (8, 16), MAPS),
    "DLA_LINEAR": Formula(4, dla_linear, (8, 16), MAPS),
    "NC1HWC0_GE": Formula(4, nc1hwc0_ge, (8, 16, 32), MAPS),
    "FRACTAL_Z_3D": Formula(5, fractal_z_3d, (8, 16), VOLUMES),
    "FRACTAL_Z_3D_TRANSPOSE": Formula(5, fractal_z_3d_transpose, (8, 16), VOLUMES),
    "FRACTAL_Z_C04": Formula(4, fractal_z_c04, (8, 16), FEW),
    "FRACTAL_Z_GROUPED": Formula(4, fractal_z_grouped, (8, 16), FILTERS, [
        ({"G": 2}, [(6, 3, 1, 1), (32, 16, 2, 2), (6, 5, 3, 1)]), ({"G": 20}, [(160, 5, 1, 1), (20, 1, 3, 3)]), ({"G": 3}, [(24, 8, 1, 2)])]),
    "C1HWNCoC0": Formula(4, c1hwncoc0, (8, 16), [(1, 18, 4, 4)] + FEW[1:] + [(2, 33, 3, 3)]),
    "FRACTAL_ZZ_GE": Formula(2, fractal_zz_ge, (8, 16, 32), MATRICES),
    "NCHW_INT4": Formula(4, rows_of_bytes(0, 1, 2, 3), 4, MAPS),
    "NHWC_INT4": Formula(4, rows_of_bytes(0, 2, 3, 1), 4, MAPS),
    "NCHW4_GROUP": Formula(5, nchw4_group, (8, 32), GROUPED),
    "NCHW4_WEIGHT": Formula(4, nchw4_weight, (8, 32), FILTERS),
    "NCHW4_WEIGHT_GROUP": Formula(5, filters(nchw4_weight), (8, 32), GROUPED),
    "NCHW44_WEIGHT": Formula(4, oihw_blocks(4, True), (8, 32), FILTERS),
    "NCHW44_DOT_WEIGHT": Formula(4, oihw_blocks(4, False), (8, 32), FILTERS),
    "NCHW88_WEIGHT": Formula(4, oihw_blocks(8, True), (32,), FILTERS),
    "NCHW88_WEIGHT_GROUP": Formula(5, filters(oihw_blocks(8, True)), (32,), GROUPED),
    "NCHW88_WEIGHT_CHAN": Formula(5, channels(8), (32,), [(16, 1, 1, 3, 3), (1, 1, 1, 1, 1), (7, 1, 1, 5, 5)] + GROUPED[:3]),
    "INTER_WEIGHT_DENSE": Formula(4, inter_weight, (8, 32), FILTERS),
    "INTER_WEIGHT_GROUP": Formula(5, filters(inter_weight), (8, 32), [(2, 8, 8, 3, 3), (1, 4, 4, 1, 1), (3, 4, 12, 2, 3), (5, 8, 4, 1, 2),
                                                                      (16, 12, 4, 1, 3), (7, 4, 8, 5, 1)]),
    "INTER_WEIGHT_CHAN": Formula(5, channels(4), (8, 32), [(16, 1, 1, 3, 3), (1, 1, 1, 1, 1), (7, 1, 1, 5, 5)] + GROUPED[:3]),
    "INTER_WEIGHT_DENSEI_DOT": Formula(4, inter_dot, (8,), FILTERS),
    "INTER_WEIGHT_GROUPI_DOT": Formula(5, filters(inter_dot), (8,), GROUPED),
    "OIHW4I16O4I": Formula(4, oihw_vnni(4), (8,), FILTERS),
    "OIHW8I16O2I": Formula(4, oihw_vnni(2), (16,), FILTERS),
    "COL_BLOCK_LINEAR": Formula(2, col_block_linear, (16, 32), MATRICES, [({"BM": 4, "BN": 2}, MATRICES)]),
    "PITCHED": Formula(2, pitched, (8, 32), MATRICES, [({"LD": 133}, MATRICES), ({"LD": 200}, MATRICES[2:5])]),
    "CXRSKX": Formula(4, cxrskx, (8,), FILTERS, [({"I": 64}, FILTERS[:3])]),
    "TENSOR_OP": Formula(2, tensor_op, (4, 8, 16, 32), MATRICES, [({"X": 32}, MATRICES)]),
    "TENSOR_OP_32": Formula(2, tensor_op_32, 32, MATRICES),
    "TENSOR_OP_64": Formula(2, tensor_op_64, 64, MATRICES),
    "TENSOR_OP_64_CROSS": Formula(2, tensor_op_64_cross, 64, MATRICES),
    "TENSOR_OP_128": Formula(2, tensor_op_128, 128, MATRICES),
    "VOLTA_A": Formula(2, volta(True), (16, 32), MATRICES),
    "VOLTA_B": Formula(2, volta(False), (16, 32), MATRICES),
    "VOLTA_CROSS": Formula(2, volta_cross, (16,), MATRICES + [(64, 96)]),
    "INTER": Formula(2, atom(0), (8, 16, 32), MATRICES),
    "SW32_COL": Formula(2, atom(1, by_column=True), (8, 16), MATRICES),
    "SW64_COL": Formula(2, atom(2, by_column=True), (8, 16), MATRICES),
    "SW128_COL": Formula(2, atom(3, by_column=True), (8, 16), MATRICES + [(33, 200)]),
    "INTER_MN": Formula(2, atom(0, by_column=True, along_m=True), (8, 16, 32), MATRICES),
    "SW32_MN": Formula(2, atom(1, by_column=True, along_m=True), (8, 16), MATRICES),
    "SW64_MN": Formula(2, atom(2, by_column=True, along_m=True), (8, 16), MATRICES),
    "SW128_MN": Formula(2, atom(3, by_column=True, along_m=True), (8, 16), MATRICES + [(200, 33)]),
    "SW128_32B_MN": Formula(2, atom(2, by_column=True, along_m=True, M=5, S=2, granule=32, rows=4), (16, 32), MATRICES),
    "COL4_4R2_8C": Formula(2, col4_4r2_8c, 8, MATRICES),
    "COL32_2R_4R4": Formula(2, col32_2r_4r4, 8, MATRICES),
    "COL16_4R16": Formula(2, col16(16), (8, 16), MATRICES),
    "COL16_4R8": Formula(2, col16(8), (8, 16), MATRICES),
    "BIT_HIGH": Formula(2, bit_high, 1, MATRICES),
    "MARLIN8": Formula(2, marlin(8, False), 8, WEIGHTS),
    "MARLIN_W4A8": Formula(2, marlin(4, True), 4, WEIGHTS),
    "MARLIN_W8A8": Formula(2, marlin(8, True), 8, WEIGHTS),
    "MARLIN_SCALES": Formula(2, scales_by(SCALE_PERM, 8, 8), (16,), WEIGHTS),
    "MARLIN_SCALES1": Formula(2, scales_by(SCALE_PERM_SINGLE, 4, 4, 2), (16,), WEIGHTS),
    "AWQ8": Formula(2, words([0, 2, 1, 3]), 8, WEIGHTS),
    "AWQ_GEMV_FAST": Formula(2, awq_gemv_fast, 4, WEIGHTS),
    "GPTQ2": Formula(2, gptq, 2, WEIGHTS),
    "GPTQ4": Formula(2, gptq, 4, WEIGHTS),
    "GPTQ8": Formula(2, gptq, 8, WEIGHTS),
    "EXLLAMA": Formula(2, exllama, 4, WEIGHTS),
    "TINYGEMM": Formula(2, tinygemm, 4, WEIGHTS + [(16, 256)]),
    "QSERVE": Formula(2, qserve, 4, WEIGHTS),
    "AITER_WEIGHT": Formula(2, aiter_weight, (4, 8, 16), WEIGHTS),
    "META24_16": Formula(2, reorder_meta(32), 16, ROWS_64),
    "META24_32": Formula(2, reorder_meta(16), 32, ROWS_64),
    "META24_MARLIN": Formula(2, meta_marlin, (16, 32), ROWS_64),
    "SF8x4": Formula(2, sf8x4, (8,), MATRICES),
    "HOPPER_MX_SCALES": Formula(2, hopper_scales, (8,), MATRICES, [({"W": 8}, MATRICES[:3])]),
    "AITER_SCALES": Formula(2, aiter_scales, 8, MATRICES),
    "NHCWB16": Formula(4, nhcwb16, (8, 16), MAPS),
    "CROUTON_16": Formula(4, crouton_16, 16, MAPS),
    "CROUTON_8": Formula(4, crouton_8, 8, MAPS),
    "IOHW16I32O2I": Formula(4, iohw_16i32o2i, (16,), FILTERS),
    "NHWC4H4W32C": Formula(4, lambda s, b: nhwc_chunks(s, b, False), (8, 16), MAPS),
    "NHWC4H2W32C2W": Formula(4, lambda s, b: nhwc_chunks(s, b, True), (16,), MAPS),
    "NHWC1024C": Formula(4, nhwc_1024c, (8, 16), MAPS, [({"CB": 2048}, MAPS[:3])]),
    "NHW32H16W": Formula(3, chunks_3d(32, 16), (8, 16), [(1, 1, 1), (2, 33, 17), (3, 5, 70), (1, 64, 32), (1, 31, 15), (2, 7, 48)]),
    "NCW32C64W": Formula(3, chunks_3d(32, 64), (8, 16), [(1, 1, 1), (2, 33, 65), (3, 5, 70), (1, 64, 128), (1, 31, 63), (2, 7, 48)]),
    "OHWI32O": Formula(4, ohwi32o, (8, 16), FILTERS),
    "NC1HWC2": Formula(4, nc1hwc2, (8, 16), MAPS),
    "RKNN_A": Formula(2, rknn_a, (4, 8, 16), MATRICES),
    "RKNN_B": Formula(2, rknn_b, (4, 8, 16), MATRICES),
    "RKNN_C": Formula(2, rknn_c, (16, 32), MATRICES, [({"V": 8}, MATRICES)]),
    "TPU_TILE": Formula(None, tpu_tile, (8, 16, 32), ANY),
    "TENSTORRENT": Formula(None, tenstorrent, (16, 32), ANY),
    "KV_NHD": Formula(4, plain(0, 1, 2, 3), (16,), PAGES),
    "KV_HND": Formula(4, plain(0, 2, 1, 3), (16,), PAGES),
    "VLLM_K": Formula(4, vllm_k, (8, 16), PAGES),
    "VLLM_V": Formula(4, plain(0, 2, 3, 1), (16,), PAGES),
    "INTEL_X": Formula(2, by_bits(INTEL_X, 8, 512, 8, 512), 8, BYTES),
    "INTEL_Y": Formula(2, by_bits(INTEL_Y, 32, 128, 8, 32, 16), 8, BYTES),
    "INTEL_W": Formula(2, by_bits(INTEL_W, 64, 64, 8, 16, 2, 2, 2, 2, 2), 8, BYTES),
    "INTEL_TILE4": Formula(2, by_bits(INTEL_TILE4, 32, 128, 4, 2, 2, 2, 2, 2, 2, 16), 8, BYTES),
    "MALI_TILE": Formula(2, by_bits(MALI, 16, 16, *[2]*8), (8, 32), MATRICES),
    "BLOCK_LINEAR": Formula(2, block_linear, 8, BYTES, [({"GOBS": 4}, BYTES), ({"GOBS": 16}, BYTES[:3])]),
    "MMA8_AB": Formula(2, mma8_ab, (1, 4, 8, 16, 32, 64), MATRICES),
    "MMA8_C": Formula(2, thread_value(8, 8, [(4, 16), (8, 1)], [(2, 8)]), (32, 64), MATRICES),
    "WGMMA_A": Formula(2, wgmma_a, (8, 16, 32), MATRICES),
    "WGMMA_D": Formula(2, wgmma_d, (16, 32), MATRICES, [({"W": 64}, MATRICES), ({"W": 256}, MATRICES[:2])]),
    "SM70_ROW": Formula(2, thread_value(8, 4, [(8, 1)], [(4, 8)]), 16, MATRICES),
    "SM70_COL": Formula(2, thread_value(8, 4, [(4, 8), (2, 4)], [(4, 1)]), 16, MATRICES),
    "SM70_C32": Formula(2, thread_value(8, 8, [(2, 1), (2, 16), (2, 4)], [(2, 8), (2, 2), (2, 32)]), 32, MATRICES),
}

# (layout, shape, dtype, index, address): as formulas.GOLDEN
GOLDEN = [
    # (c) "NCHW family": MegEngine's tests
    ("NCHW4_GROUP", (1, 2, 3, 1, 2), "u8", (0, 1, 1, 0, 1), 13),            # value 10 of 1..12
    ("NCHW4_WEIGHT", (6, 5, 2, 2), "u8", (5, 4, 1, 0), 184),
    ("NCHW88_WEIGHT", (16, 16, 3, 3), "f32", (9, 10, 1, 2), 2065),
    ("INTER_WEIGHT_DENSE", (8, 6, 2, 2), "f32", (5, 3, 1, 0), 205),
    ("INTER_WEIGHT_DENSEI_DOT", (8, 8, 2, 2), "i8", (5, 6, 1, 0), 214),
    # (c) "CANN"
    ("FRACTAL_Z_3D", (18, 17, 2, 2, 2), "f16", (17, 16, 1, 1, 0), 7440),
    ("FRACTAL_Z_3D_TRANSPOSE", (18, 17, 2, 2, 2), "f16", (3, 5, 1, 0, 1), 4661),
    ("FRACTAL_Z_C04", (18, 3, 2, 2), "f16", (17, 2, 1, 0), 282),
    ("FRACTAL_Z_GROUPED{G=2}", (6, 3, 1, 1), "f16", (4, 2, 0, 0), 69),
    ("C1HWNCoC0", (1, 18, 4, 4), "f16", (0, 17, 1, 2), 5649),
    ("FRACTAL_ZZ_GE", (18, 34), "f16", (17, 5), 789),
    # (c) "CUTLASS / cuBLASLt"
    ("TENSOR_OP", (16, 64), "f16", (3, 8), 208),
    ("VOLTA_A", (8, 64), "f16", (1, 8), 40),
    ("VOLTA_A", (8, 64), "f16", (0, 16), 72),
    ("VOLTA_CROSS", (128, 32), "f16", (5, 4), 532),
    ("COL4_4R2_8C", (8, 32), "i8", (3, 5), 149),
    ("COL4_4R2_8C", (64, 96), "i8", (45, 70), 5530),
    ("COL32_2R_4R4", (32, 32), "i8", (9, 3), 99),
    ("COL32_2R_4R4", (64, 96), "i8", (45, 70), 5734),
    # formats, section 9
    ("OIHW4I16O4I", (33, 35, 3, 2), "i8", (32, 34, 2, 1), 13570),
    ("NHCWB16", (1, 20, 5, 7), "u8", (0, 19, 4, 6), 1107),
    ("TPU_TILE", (20, 300), "bf16", (13, 257), 5635),
    ("CROUTON_16", (1, 40, 9, 7), "f16", (0, 39, 8, 6), 7246),
    ("TENSTORRENT", (100, 70), "bf16", (45, 69), 5333),
    ("NHWC4H2W32C2W", (1, 40, 9, 7), "f16", (0, 39, 8, 6), 5710),
    ("NHW32H16W", (2, 33, 17), "u8", (1, 32, 16), 3584),
    ("QSERVE", (64, 64), "u4", (45, 37), 3754),
    ("TINYGEMM", (16, 256), "u4", (11, 177), 433*8 + 6),
    ("AITER_WEIGHT", (32, 64), "bf16", (21, 45), 1709),
    ("AITER_SCALES", (64, 16), "u8", (37, 13), 854),
    ("INTEL_TILE4", (32, 128), "u8", (21, 100), 2964),
    ("INTEL_Y", (32, 128), "u8", (21, 100), 3412),
    ("MALI_TILE", (16, 16), "u8", (6, 13), 109),
    ("BLOCK_LINEAR", (8, 64), "u8", (6, 45), 461),
]
