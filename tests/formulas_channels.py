"""Closed formulas of CANN's and MegEngine's tensors, whose channels are in blocks.

A published chain of view() and permute() is a `recipe`; a published function of coordinates is that function, line by line, over
whole coordinate arrays; a published permutation of a tile is that table.  (c) and "formats" as in formulas.py."""

import math

import numpy as np

from formulas_base import box, cd, coords, Map, ru


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
    """TransFormatDhwncToFz3DTranspose: "exchange n c", then as fractal_z_3d."""
    N, C, D, H, W = shape
    m = fractal_z_3d((C, N, D, H, W), bits)
    m.addr = m.addr.swapaxes(0, 1)
    return m


def fractal_z_c04(shape, bits):
    return c04(shape, block(bits), 16)


def fractal_z_c04_ge(shape, bits):
    return c04(shape, graph_block(bits), graph_block(bits))


def c04(shape, K, tall):
    N, C, H, W = shape

    def at(n, c, h, w):
        col = (h*W + w)*4 + c
        return (col//K*cd(N, tall) + n//tall)*tall*K + (n % tall)*K + col % K
    return Map(at(*coords(shape)), cd(4*H*W, K)*cd(N, tall)*tall*K, None, at(*coords((ru(N, tall), 4, H, W))))


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
