-- Scale factors of block-scaled matrix products (MXFP8, MXFP4, NVFP4).
-- Sources: NVIDIA cuBLAS, "1D Block Scaling Factors Layout"; NVIDIA/cutlass:include/cutlass/detail/sm100_blockscaled_layout.hpp;
-- pytorch/ao to_blocked.

layout "SF128x4" {
  doc   = "128 rows x 4 scales in 512 bytes, rows 32 apart side by side",
  dims  = { R, C },
  order = { R // 128, C // 4, R % 32, R // 32 % 4, C % 4 },
}
