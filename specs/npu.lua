-- Formats of accelerators for neural networks.

origin("Arm Ethos-U", "Vela, ethosu/vela/register_command_stream_util.py get_strides and get_address", "5.2.0")

layout "NHCWB16" {
  doc   = "feature map in bricks of 16 channels, a row of bricks after the other",
  dims  = { N, C, H, W },
  order = { N, H, C // 16, W, C % 16 },
}

origin("Qualcomm Hexagon", "apache/tvm:python/tvm/topi/hexagon/utils.py; Hexagon SDK, crouton", "TVM 52c7aea")

layout "CROUTON_16" {
  doc   = "16-bit feature map in croutons of 8 x 4 x 32, two columns in a word: nhwc-8h2w32c2w",
  dims  = { N, C, H, W },
  bits  = 16,
  order = { N, H // 8, W // 4, C // 32, H % 8, W // 2 % 2, C % 32, W % 2 },
}

layout "CROUTON_8" {
  doc   = "8-bit feature map in croutons of 8 x 8 x 32: nhwc-8h8w32c",
  dims  = { N, C, H, W },
  bits  = 8,
  order = { N, H // 8, W // 8, C // 32, H % 8, W % 8, C % 32 },
}

layout "IOHW16I32O2I" {
  doc   = "16-bit convolution filter weights of Hexagon: iohw-16i32o2i",
  dims  = { N, C, H, W },
  order = { C // 32, N // 32, H, W, C // 2 % 16, N % 32, C % 2 },
}

layout "NHWC4H4W32C" {
  doc   = "feature map of Hexagon in chunks of 4 x 4 x 32: nhwc-4h4w32c",
  dims  = { N, C, H, W },
  order = { N, H // 4, W // 4, C // 32, H % 4, W % 4, C % 32 },
}

layout "NHWC4H2W32C2W" {
  doc   = "the same with two columns in a word: nhwc-4h2w32c2w",
  dims  = { N, C, H, W },
  order = { N, H // 4, W // 4, C // 32, H % 4, W // 2 % 2, C % 32, W % 2 },
}

layout "NHWC1024C" {
  doc   = "feature map of Hexagon in chunks of channels: nhwc-1024c; nhwc-2048c with {CB=2048}",
  dims  = { N, C, H, W },
  CB    = 1024,
  order = { N, H, W, C // CB, C % CB },
}

layout "NHW32H16W" {
  doc   = "one channel of Hexagon in chunks of 32 x 16: nhw-32h16w",
  dims  = { N, H, W },
  order = { N, H // 32, W // 16, H % 32, W % 16 },
}

layout "NCW32C64W" {
  doc   = "sequence of Hexagon in chunks of 32 channels x 64: ncw-32c64w",
  dims  = { N, C, W },
  order = { N, C // 32, W // 64, C % 32, W % 64 },
}

layout "OHWI32O" {
  doc   = "depthwise filter weights of Hexagon: ohwi32o",
  dims  = { N, C, H, W },
  order = { N // 32, H, W, C, N % 32 },
}

-- The sizes of blocks are those of RK3588 and RK3576.  Others are parameters: on RK3566 and RK3568 RKNN_A has V = 8 for int8 and 4 for
-- float16, and RKNN_B has V = 16, and V = 8, U = 16; on RK3562 RKNN_B has V = 8 for float16.
origin("Rockchip RKNN", "airockchip/rknn-toolkit2:rknpu2/runtime/Linux/librknn_api/include/rknn_matmul_api.h, the lists at rknn_matmul_set_io_mem", "RK3588, RK3576")

layout "NC1HWC2" {
  doc   = "feature map with channels in blocks of C2 (RK3588)",
  dims  = { N, C, H, W },
  C2    = 16 // bytes,
  order = { N, C // C2, H, W, C % C2 },
}

layout "RKNN_A" {
  doc   = "left operand of a product in the native layout of RK3588",
  dims  = { M, K },
  V     = 16 // bytes,
  order = { K // V, M, K % V },
}

layout "RKNN_B" {
  doc   = "weights (output, input) of a product in the native layout of RK3588, K up to 8192",
  dims  = { N, K },
  V     = 32 // bytes,
  U     = 32,
  order = { N // V, K // U, N % V, K % U },
}

layout "RKNN_C" {
  doc   = "result of a product in the native layout of RK3588, 32-bit elements; V = 8 for the 16-bit ones of int4 products",
  dims  = { M, N },
  V     = 4,
  order = { N // V, M, N % V },
}

origin("Google TPU", "openxla/xla:docs/tiled_layout.md", "28ac9d3")

layout "TPU_TILE" {
  doc   = "tiles T(8,128) of a TPU; of 16-bit elements T(8,128)(2,1), of 8-bit ones T(8,128)(4,1)",
  dims  = { ..., R, C },
  P     = max(1, 4 // bytes),
  order = { ..., R // 8, C // 128, R // P % (8 // P), C % 128, R % P },
}

origin("Tenstorrent", "tenstorrent/tt-metal:tt_metal/common/test_tiles.hpp convert_to_tile_layout", "c48e64b")

layout "TENSTORRENT" {
  doc   = "tiles of 32 x 32 in four faces of 16 x 16",
  dims  = { ..., R, C },
  order = { ..., R // 32, C // 32, R // 16 % 2, C // 16 % 2, R % 16, C % 16 },
}
