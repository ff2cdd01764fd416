-- Huawei Ascend: layouts of the cube unit, which multiplies 16 x C0 by C0 x 16 with C0 elements in 32 bytes.
-- Sources: mindspore-ai/graphengine:ge/common/formats/format_transfers/*.cc; Ascend/metadef:third_party/transformer/src;
-- hiascend.com, Ascend C "Data layout formats".
-- The graph engine has C0 = 16 for 32-bit elements too: NC1HWC0{C0=16}.

layout "NC1HWC0" {
  doc   = "feature map with channels in blocks of C0 (5HD)",
  dims  = { N, C, H, W },
  C0    = 32 // bytes,
  order = { N, C // C0, H, W, C % C0 },
}

layout "NDC1HWC0" {
  doc   = "NC1HWC0 of volumes (6HD)",
  dims  = { N, C, D, H, W },
  C0    = 32 // bytes,
  order = { N, D, C // C0, H, W, C % C0 },
}

layout "FRACTAL_Z" {
  doc   = "convolution filter in tiles of 16 output x C0 input channels",
  dims  = { N, C, H, W },
  C0    = 32 // bytes,
  order = { C // C0, H, W, N // 16, N % 16, C % C0 },
}

-- Two letters: order of the tiles, then order inside one. Z by row, N by column (for NZ the capital N is the outer one).
-- A tile is H0 x W0. In this family the vendor's own texts differ where an element is not 16 bits:
-- graph engine ZZ has H0 = W0 = C0 (FRACTAL_ZZ{H0=32} for int8), L0B wants C0 x 16 (FRACTAL_ZN{H0=32, W0=16} for int8).

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

layout "FRACTAL_ZN" {
  doc   = "matrix in tiles of 16 x C0, tiles by row, inside by column: right operand, L0B",
  dims  = { ..., H, W },
  H0    = 16,
  W0    = 32 // bytes,
  order = { ..., H // H0, W // W0, W % W0, H % H0 },
}
