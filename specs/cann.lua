-- Huawei Ascend: layouts of the cube unit, which multiplies 16 x C0 by C0 x 16 with C0 elements in 32 bytes.
-- Sources: mindspore-ai/graphengine:ge/common/formats/format_transfers/*.cc; Ascend/metadef:third_party/transformer/src;
-- hiascend.com, Ascend C "Data layout formats".
-- The graph engine has C0 = 16 for 32-bit elements too: NC1HWC0_GE; others take {C0=16}, FRACTAL_NZ {W0=16}.

origin("Huawei CANN (Ascend)", "mindspore-ai/graphengine:ge/common/formats/format_transfers; hiascend.com, Ascend C data layout formats",
       "graphengine r1.9")

layout "NC1HWC0" {
  doc   = "feature map with channels in blocks of C0 (5HD)",
  dims  = { N, C, H, W },
  C0    = 32 // bytes,
  order = { N, C // C0, H, W, C % C0 },
}

layout "NC1HWC0_GE" {
  doc   = "NC1HWC0 as the graph engine has it: C0 = 16 for 32-bit elements (f32) too",
  dims  = { N, C, H, W },
  C0    = 32 // min(bytes, 2),
  order = { N, C // C0, H, W, C % C0 },
}

layout "NDC1HWC0" {
  doc   = "NC1HWC0 of volumes (6HD)",
  dims  = { N, C, D, H, W },
  C0    = 32 // bytes,
  order = { N, D, C // C0, H, W, C % C0 },
}

layout "FRACTAL_Z" {
  doc   = "convolution filter weights in tiles of 16 output x C0 input channels",
  dims  = { N, C, H, W },
  C0    = 32 // bytes,
  order = { C // C0, H, W, N // 16, N % 16, C % C0 },
}

layout "FRACTAL_Z_3D" {
  doc   = "FRACTAL_Z of a 3-D convolution filter, depth outermost",
  dims  = { N, C, D, H, W },
  C0    = 32 // bytes,
  order = { D, C // C0, H, W, N // 16, N % 16, C % C0 },
}

-- The graph engine exchanges N and C and then makes FRACTAL_Z_3D: the output channels are the ones in blocks of C0.
layout "FRACTAL_Z_3D_TRANSPOSE" {
  doc   = "filter of a transposed 3-D convolution: FRACTAL_Z_3D with output and input channels exchanged",
  dims  = { N, C, D, H, W },
  C0    = 32 // bytes,
  order = { D, N // C0, H, W, C // 16, C % 16, N % C0 },
}

-- Height, width and 4 channels are one number, cut into blocks of C0.  What the last block lacks of H*W*4 is holes, which the
-- vendor fills with 0: clear the buffer before a conversion.  metadef has tiles of 16 x C0, the graph engine of C0 x C0; they are
-- one where an element has 16 bits.
local pixel = (H * extent(W) + W) * 4 + C
layout "FRACTAL_Z_C04" {
  doc   = "convolution filter weights of at most 4 input channels in tiles of 16 x C0: the pixels of 4 channels in a row",
  dims  = { N, C, H, W },
  C0    = 32 // bytes,
  order = { pixel // C0, N // 16, N % 16, pixel % C0 },
  pad   = { C = 4 },
}

layout "FRACTAL_Z_C04_GE" {
  doc   = "FRACTAL_Z_C04 as the graph engine has it: tiles of C0 x C0, 32 x 32 for int8",
  dims  = { N, C, H, W },
  C0    = 32 // min(bytes, 2),
  order = { pixel // C0, N // C0, N % C0, pixel % C0 },
  pad   = { C = 4 },
}

-- A filter of G groups: E groups are merged into one filter, block-diagonal, so that it fills tiles.  N counts the output channels
-- of all groups, C the input channels of one.  What is off the diagonal is holes, which the vendor fills with 0: clear the buffer
-- before a conversion.  E = min(lcm(lcm(cin, C0)/cin, lcm(cout, 16)/cout), G); C0 and 16 are powers of two, so lcm(n, C0)/n is
-- C0 over the lowest set bit of n, and the lcm of both is the greater one.
local cin, cout = extent(C), extent(N) // G
local E = min(max(C0 // min(cin & -cin, C0), 16 // min(cout & -cout, 16)), G)
local inner, outer = (N // cout % E) * cin + C, N % (E * cout)
layout "FRACTAL_Z_GROUPED" {
  doc   = "filter of a convolution of G groups as FRACTAL_Z: groups merged block-diagonally",
  dims  = { N, C, H, W },
  C0    = 32 // bytes,
  G     = 1,
  order = { N // (E * cout), inner // C0, H, W, outer // 16, outer % 16, inner % C0 },
}

-- The vendor's C1HWNCoC0 has C0 x C0 for each C0 channels; the elements are on the diagonal.  The rest is holes, which the vendor
-- fills with 0: clear the buffer before a conversion.
layout "C1HWNCoC0" {
  doc   = "filter of a depthwise convolution: each C0 channels on the diagonal of a C0 x C0 tile",
  dims  = { N, C, H, W },
  C0    = 32 // bytes,
  order = { C // C0, H, W, N, (C0 + 1) * (C % C0) },
}

-- Two letters: order of the tiles, then order inside one. Z by row, N by column (for NZ the capital N is the outer one).
-- A tile is H0 x W0. In this family the vendor's own texts differ where an element is not 16 bits:
-- graph engine ZZ has H0 = W0 = C0 (FRACTAL_ZZ_GE), L0B wants C0 x 16 (FRACTAL_ZN{H0=32, W0=16} for int8).

layout "FRACTAL_NZ" {
  doc   = "matrix in tiles of 16 x C0, tiles by column, inside by row: L1 and L0C",
  dims  = { ..., H, W },
  H0    = 16,
  W0    = 32 // bytes,
  order = { ..., W // W0, H // H0, H % H0, W % W0 },
}

layout "FRACTAL_ZZ" {
  doc   = "matrix in tiles of 16 x C0, tiles by row, inside by row: left operand, L0A",
  dims  = { ..., H, W },
  H0    = 16,
  W0    = 32 // bytes,
  order = { ..., H // H0, W // W0, H % H0, W % W0 },
}

layout "FRACTAL_ZZ_GE" {
  doc   = "FRACTAL_ZZ as the graph engine has it: tiles of C0 x C0, 32 x 32 for int8",
  dims  = { ..., H, W },
  C0    = 32 // min(bytes, 2),
  order = { ..., H // C0, W // C0, H % C0, W % C0 },
}

layout "FRACTAL_ZN" {
  doc   = "matrix in tiles of 16 x C0, tiles by row, inside by column: right operand, L0B",
  dims  = { ..., H, W },
  H0    = 16,
  W0    = 32 // bytes,
  order = { ..., H // H0, W // W0, W % W0, H % H0 },
}
