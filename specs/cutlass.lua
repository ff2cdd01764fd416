-- Shared-memory layouts of CUTLASS 2: S strided, C contiguous, in vectors of E elements, as packed tensors (the leading dimension is
-- the extent of C or S).
-- Source: NVIDIA/cutlass:include/cutlass/layout/tensor_op_multiplicand_sm70.h, _sm75.h, _sm80.h.

origin("NVIDIA CUTLASS", "NVIDIA/cutlass:include/cutlass/layout/tensor_op_multiplicand_sm75.h", "4.5.0")

-- T rows of X elements fill the 128 bytes in which the vectors are exchanged, or a part of a row does.
local T = 8 * E // X
layout "TENSOR_OP" {
  doc   = "TensorOpMultiplicand<bits, X>: crosswise X elements; X = 128 bytes is congruous",
  dims  = { S, C },
  E     = 16 // bytes,
  X     = 128 // bytes,
  order = { S // T, C // X, (S % T * (8 // T) + C // E % (8 // T)) ~ (S // T % max(8 // T, 4)), C % E },
}

layout "TENSOR_OP_32" {
  doc   = "TensorOpMultiplicandCongruous<32>: tf32, congruous",
  dims  = { S, C },
  bits  = 32,
  order = { S, C // 32, (C // 4 % 8) ~ (2 * (S % 4)), C % 4 },
}

origin("NVIDIA CUTLASS", "NVIDIA/cutlass:include/cutlass/layout/tensor_op_multiplicand_sm80.h", "4.5.0")

layout "TENSOR_OP_64" {
  doc   = "TensorOpMultiplicandCongruous64b: f64, congruous",
  dims  = { S, C },
  bits  = 64,
  order = { S // 4, C // 2 % 4, C // 16, C % 2, (C // 2 % 4) ~ (S % 4), C // 8 % 2 },
}

layout "TENSOR_OP_64_CROSS" {
  doc   = "TensorOpMultiplicand64bCrosswise: f64, crosswise",
  dims  = { S, C },
  bits  = 64,
  order = { C // 16, C // 4 % 4, S // 2 % 4, S // 16, (S % 2) ~ (C // 8 % 2), C % 4, (S // 8 % 2) ~ (C // 4 % 2) },
}

layout "TENSOR_OP_128" {
  doc   = "TensorOpMultiplicandCongruous128b: complex f64, congruous",
  dims  = { S, C },
  bits  = 128,
  order = { S // 4, C // 2 % 4, C // 8, C % 2, (S % 4) ~ (C // 2 % 4) },
}

origin("NVIDIA CUTLASS", "NVIDIA/cutlass:include/cutlass/layout/tensor_op_multiplicand_sm70.h", "4.5.0")

layout "VOLTA_A" {
  doc   = "VoltaTensorOpMultiplicandCongruous: left operand on Volta",
  dims  = { S, C },
  E     = 16 // bytes,
  order = { S // 4, C // (2 * E) % 4, C // (8 * E), C // E % 2, (S % 4) ~ (C // (2 * E) % 4), C % E },
}

layout "VOLTA_B" {
  doc   = "VoltaTensorOpMultiplicandBCongruous: right operand on Volta",
  dims  = { S, C },
  E     = 16 // bytes,
  order = { S // 4, C // E % 4, C // (8 * E), C // (4 * E) % 2, (S % 4) ~ (C // E % 4), C % E },
}

layout "VOLTA_CROSS" {
  doc   = "VoltaTensorOpMultiplicandCrosswise: either operand on Volta, crosswise; vectors of 8 bytes",
  dims  = { S, C },
  E     = 8 // bytes,
  order = { C // E, S // 16, S % 4, (S // 4 % 4) ~ (2 * (S // 16 % 2)) ~ (C // (2 * E) % 4), C % E },
}
