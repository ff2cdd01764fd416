-- Dense arrays of any rank, blocked and interleaved matrices.
-- Sources: NumPy "order='C' / 'F'"; NVIDIA/cutlass:include/cutlass/layout/matrix.h (RowMajorInterleaved, ColumnMajorInterleaved);
-- cuBLASLt CUBLASLT_ORDER_COL32.

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
