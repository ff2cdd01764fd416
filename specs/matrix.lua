-- Dense arrays of any rank, blocked and interleaved matrices.
-- Sources: NumPy "order='C' / 'F'"; NVIDIA/cutlass:include/cutlass/layout/matrix.h (RowMajorInterleaved, ColumnMajorInterleaved);
-- cuBLASLt CUBLASLT_ORDER_COL32.

origin("NumPy", "NumPy, order='C' and order='F'", "1.24")

layout "ROW_MAJOR" {
  doc   = "last dim fastest, any rank: C order",
  dims  = { ... },
  order = { ... },
}

layout "COL_MAJOR" {
  doc   = "first dim fastest, any rank: Fortran order",
  dims  = { ... },
  order = { reverse(...) },
}

origin("textbooks", "two-level blocking; BLOCKED_RR is RowMajorBlockLinear of NVIDIA/cutlass:include/cutlass/layout/matrix.h", "CUTLASS 4.5.0")

layout "BLOCKED_RR" {
  doc   = "blocks of BM x BN, blocks by row, row-major inside",
  dims  = { M, N },
  BM    = 8,
  BN    = 8,
  order = { M // BM, N // BN, M % BM, N % BN },
}

layout "BLOCKED_CR" {
  doc   = "blocks of BM x BN, blocks by column, row-major inside",
  dims  = { M, N },
  BM    = 8,
  BN    = 8,
  order = { N // BN, M // BM, M % BM, N % BN },
}

origin("NVIDIA CUTLASS", "NVIDIA/cutlass:include/cutlass/layout/matrix.h, pitch_linear.h, tensor.h", "4.5.0")

layout "COL_BLOCK_LINEAR" {
  doc   = "blocks of BM x BN by column, column-major inside: CUTLASS ColumnMajorBlockLinear, without the slack of its packed()",
  dims  = { R, C },
  BM    = 8,
  BN    = 8,
  order = { C // BN, R // BM, C % BN, R % BM },
}

layout "PITCHED" {
  doc    = "rows LD elements apart (0: side by side): CUTLASS PitchLinear and RowMajor(ldm), cuBLAS ld",
  dims   = { R, C },
  LD     = 0,
  order  = { R, C },
  stride = { R = max(LD, (1 - min(LD, 1)) * extent(C)) },
}

layout "CXRSKX" {
  doc   = "filter with I input channels innermost, output channels next: CUTLASS TensorCxRSKx<I>",
  dims  = { N, C, H, W },
  I     = 32,
  order = { C // I, H, W, N, C % I },
}

layout "ROW_INTERLEAVED" {
  doc   = "I rows side by side, element by element: CUTLASS RowMajorInterleaved<I>",
  dims  = { R, C },
  I     = 32,
  order = { R // I, C, R % I },
}

layout "COL_INTERLEAVED" {
  doc   = "I columns side by side: CUTLASS ColumnMajorInterleaved<I>, cuBLASLt COL32",
  dims  = { R, C },
  I     = 32,
  order = { C // I, R, C % I },
}

origin("NVIDIA cuBLASLt", "cuBLAS, cublasLtOrder_t: CUBLASLT_ORDER_COL4_4R2_8C, COL32_2R_4R4; apache/tvm:tests/python/contrib/test_cublas.py", "CUDA 11 and 12")

layout "COL4_4R2_8C" {
  doc   = "int8 matrix of cuBLASLt on Turing: 8 x 32 tiles, 4 columns of every other row together",
  dims  = { R, C },
  bits  = 8,
  order = { C // 32, R // 8, R[0], C // 4 % 8, R[2], R[1], C % 4 },
}

layout "COL32_2R_4R4" {
  doc   = "int8 matrix of cuBLASLt on Ampere: 32 x 32 tiles, rows of 32",
  dims  = { R, C },
  bits  = 8,
  order = { C // 32, R // 32, R[2], R[1], R[4], R[3], R[0], C % 32 },
}

origin("AMD hipBLASLt", "hipBLASLt, hipblasLtOrder_t: HIPBLASLT_ORDER_COL16_4R16, COL16_4R8", "1.0.0")

layout "COL16_4R16" {
  doc   = "tiles of 64 rows x 16 columns by column, each four blocks of 16 rows",
  dims  = { R, C },
  order = { C // 16, R // 64, R // 16 % 4, C % 16, R % 16 },
}

layout "COL16_4R8" {
  doc   = "tiles of 32 rows x 16 columns by column, each four blocks of 8 rows",
  dims  = { R, C },
  order = { C // 16, R // 32, R // 8 % 4, C % 16, R % 8 },
}
