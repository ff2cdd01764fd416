-- The right operand (K, N) of int8 and bf16 products on CPUs: neighbours along K share one 32-bit lane.
-- Sources: oneapi-src/oneDNN:src/common/memory_desc_wrapper.hpp, tags BA16a64b2a and BA16a64b4a;
-- libxsmm/libxsmm, VNNI formats; Intel SDM, TDPBSSD and TDPBF16PS.

origin("Intel oneDNN, libxsmm", "oneapi-src/oneDNN:src/common/memory_desc_wrapper.hpp, tags BA16a64b2a and the like; Intel SDM, TDPBSSD and TDPBF16PS",
       "oneDNN 2.6.3")

layout "VNNI2" {
  doc   = "pairs along K: bf16 and f16 dot products",
  dims  = { K, N },
  order = { K // 2, N, K % 2 },
}

layout "VNNI4" {
  doc   = "quads along K: int8 dot products",
  dims  = { K, N },
  order = { K // 4, N, K % 4 },
}

layout "AMX_B16" {
  doc   = "blocks of 32 x 64 in pairs along K, for AMX tiles: oneDNN BA16a64b2a",
  dims  = { K, N },
  order = { N // 64, K // 32, K // 2 % 16, N % 64, K % 2 },
}

layout "AMX_B8" {
  doc   = "blocks of 64 x 64 in quads along K, for AMX tiles: oneDNN BA16a64b4a",
  dims  = { K, N },
  order = { N // 64, K // 64, K // 4 % 16, N % 64, K % 4 },
}

layout "OIHW4I16O4I" {
  doc   = "int8 convolution filter weights for AVX-512 VNNI: oneDNN OIhw4i16o4i",
  dims  = { N, C, H, W },
  order = { N // 16, C // 16, H, W, C // 4 % 4, N % 16, C % 4 },
}

layout "OIHW8I16O2I" {
  doc   = "bf16 convolution filter weights for AVX-512: oneDNN OIhw8i16o2i",
  dims  = { N, C, H, W },
  order = { N // 16, C // 16, H, W, C // 2 % 8, N % 16, C % 2 },
}
