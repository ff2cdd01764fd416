-- XNNPACK's weights of matrix products, as its kernels MRxNRcKRsSR read them.  In front of each panel of NR outputs is room for NR
-- biases, B elements each: holes.  In a panel K is cut into blocks of KR; SR of these are rotated by the number of the output.
-- A conversion fills the rows beyond the last output with 0; XNNPACK leaves them as they are.

origin("Google XNNPACK", "google/XNNPACK:src/reference/packing.cc xnn_pack_f32_gemm_goi_w, xnn_pack_qs8_gemm_goi_w, without extra_bytes", "d2b04d9")

local block = K // KR
local place = block // SR * SR + (block % SR + (SR - 1) * (N % NR)) % SR
layout "XNNPACK_GEMM" {
  doc   = "weights (output, input) of XNNPACK's matrix products: panels of NR outputs, c KR, s SR",
  dims  = { N, K },
  NR    = 8,
  KR    = 1,
  SR    = 1,
  B     = max(1, 4 // (bytes * bytes)),
  order = { N // NR, NR * B + (place * NR + N % NR) * KR + K % KR },
  pad   = { K = KR * SR },
}
