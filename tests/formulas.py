"""The oracle: where every element lives, from the published closed formulas.

Nothing here comes from ravel or from specs/: each function writes down the formula of a vendor's page or source, over whole
coordinate arrays.  LAYOUTS has one entry a layout, `cases()` walks them, GOLDEN holds points found in print or by running the
vendor's code, ERRORS in formulas_errors.py the mistakes of the source documents.
`python3 tests/formulas_errors.py` checks all of it.

(c) is section (c) of the project's notes on notations, "formats" its catalogue of formats; both name the primary sources.
"""

import formulas_more
from formulas_base import Formula
from formulas_bits import (amx_b16, amx_b8, awq, cute_default, int4_high, marlin, morton, packed_low, seed83, seed83_inverse, seed84, seed84_inverse,
    sf128x4, smem_atom, swizzled, vnni)
from formulas_fragments import fragment, mfma_a, mfma_d, mfma_v, mma_a, mma_b, mma_c, rdna4_a
from formulas_plain import (blocked_cr, blocked_rr, chwn, chwn4, col_interleaved, col_major, fractal_nz, fractal_z, fractal_zn, fractal_zz, hwcn,
    nc1hwc0, ncdhw, nchw, nchwx, ndc1hwc0, ndhwc, nhwc, nhwcd4, row_interleaved, row_major)

# Shapes: divisible, not, all ones, prime, tiny, larger.
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
