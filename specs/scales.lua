-- Scale factors of block-scaled matrix products (MXFP8, MXFP4, NVFP4).
-- Sources: NVIDIA cuBLAS, "1D Block Scaling Factors Layout"; NVIDIA/cutlass:include/cutlass/detail/sm100_blockscaled_layout.hpp;
-- pytorch/ao to_blocked.

origin("NVIDIA cuBLAS", "cuBLAS, 1D Block Scaling Factors Layout; NVIDIA/cutlass:include/cutlass/detail/sm100_blockscaled_layout.hpp; torchao to_blocked",
       "CUTLASS 4.5.0")

layout "SF128x4" {
  doc   = "block scales of NVFP4, MXFP4, MXFP8: 128 rows x 4 scales in 512 bytes, rows 32 apart side by side",
  dims  = { R, C },
  order = { R // 128, C // 4, R % 32, R // 32 % 4, C % 4 },
}

origin("TensorRT-LLM, FlashInfer", "flashinfer-ai/flashinfer:csrc/nv_internal/tensorrt_llm/kernels/quantization_utils.cuh get_sf_out_offset_8x4; SfLayout layout_8x4", "FlashInfer 0.7.4")

layout "SF8x4" {
  doc   = "block scales of NVFP4, MXFP4, MXFP8: 8 rows x 4 scales in 32 bytes",
  dims  = { R, C },
  order = { R // 8, C // 4, R % 8, C % 4 },
}

origin("Triton", "triton-lang/triton:python/triton_kernels/triton_kernels/tensor_details/layout_details/hopper_scale.py", "14dd7a1")

layout "HOPPER_MX_SCALES" {
  doc   = "MX scales (MXFP4) for Triton on Hopper, W warps",
  dims  = { M, K },
  W     = 4,
  order = { M // (32 * W), M // 16 % W, K // 2, M // (16 * W) % 2, M % 8, K % 2, M // 8 % 2 },
}

origin("AMD AITER", "ROCm/aiter:aiter/ops/shuffle.py shuffle_scale", "0122c48")

layout "AITER_SCALES" {
  doc   = "e8m0 scales (MXFP4) for AITER: rows to a multiple of 256, columns of 8; Z: the value of padding, 127 is a factor of 1",
  dims  = { R, C },
  bits  = 8,
  Z     = 127,
  order = { R // 32, C // 8, C % 4, R % 16, C[2], R[4] },
  pad   = { R = 256, C = 8 },
  fill  = Z,
}
