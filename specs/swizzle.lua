-- XOR swizzles: the same storage, with some address bits flipped by others, so that a column spreads over the banks.
-- Sources: NVIDIA/cutlass:include/cute/swizzle.hpp (Swizzle<B,M,S>), include/cute/atom/mma_traits_sm90_gmma.hpp (K-major atoms);
-- SEED83, SEED84: the article on tensor layouts this project started from, sections 8.3 and 8.4.

origin("NVIDIA CuTe", "NVIDIA/cutlass:include/cute/swizzle.hpp", "CUTLASS 4.5.0")

layout "SWIZZLE" {
  doc     = "row-major under CuTe's Swizzle<B,M,S> on the element index; S < 0 shifts the other way",
  dims    = { R, C },
  B       = 3,
  M       = 4,
  S       = 3,
  order   = { R, C },
  swizzle = xor(B, M, S),
}

-- Shared-memory atoms of wgmma and TMA: 8 rows of 32, 64 or 128 bytes, 16-byte granules exchanged, atoms tiled by row.
-- CuTe writes them as Swizzle<1|2|3,4,3> on the *byte* address. Byte bits 4.. are digits of K // E, bits 7.. are the high
-- bits of the row in its atom, so the same map stands here as digits, exact for every element size up to 16 bytes.

origin("NVIDIA CuTe", "NVIDIA/cutlass:include/cute/atom/mma_traits_sm90_gmma.hpp, mma_traits_sm100.hpp", "CUTLASS 4.5.0")

layout "INTER" {
  doc   = "shared-memory atom of 8 rows x 16 bytes without a swizzle, atoms by row",
  dims  = { M, K },
  E     = 16 // bytes,
  order = { M // 8, K // E, M % 8, K % E },
}

layout "SW32" {
  doc   = "shared-memory atom of 8 rows x 32 bytes, Swizzle<1,4,3> on bytes",
  dims  = { M, K },
  E     = 16 // bytes,
  order = { M // 8, K // (2 * E), M % 8, (K // E % 2) ~ (M // 4 % 2), K % E },
}

layout "SW64" {
  doc   = "shared-memory atom of 8 rows x 64 bytes, Swizzle<2,4,3> on bytes",
  dims  = { M, K },
  E     = 16 // bytes,
  order = { M // 8, K // (4 * E), M % 8, (K // E % 4) ~ (M // 2 % 4), K % E },
}

layout "SW128" {
  doc   = "shared-memory atom of 8 rows x 128 bytes, Swizzle<3,4,3> on bytes",
  dims  = { M, K },
  E     = 16 // bytes,
  order = { M // 8, K // (8 * E), M % 8, (K // E % 8) ~ (M % 8), K % E },
}

-- The same atoms by column: tile_to_shape as it does by default.

layout "SW32_COL" {
  doc   = "SW32 with the atoms by column: CuTe's tile_to_shape",
  dims  = { M, K },
  E     = 16 // bytes,
  order = { K // (2 * E), M // 8, M % 8, (K // E % 2) ~ (M // 4 % 2), K % E },
}

layout "SW64_COL" {
  doc   = "SW64 with the atoms by column: CuTe's tile_to_shape",
  dims  = { M, K },
  E     = 16 // bytes,
  order = { K // (4 * E), M // 8, M % 8, (K // E % 4) ~ (M // 2 % 4), K % E },
}

layout "SW128_COL" {
  doc   = "SW128 with the atoms by column: CuTe's tile_to_shape",
  dims  = { M, K },
  E     = 16 // bytes,
  order = { K // (8 * E), M // 8, M % 8, (K // E % 8) ~ (M % 8), K % E },
}

-- MN-major atoms: M is contiguous, 8 columns of K; atoms by column.

layout "INTER_MN" {
  doc   = "MN-major shared-memory atom of 16 bytes x 8 without a swizzle",
  dims  = { M, K },
  E     = 16 // bytes,
  order = { K // 8, M // E, K % 8, M % E },
}

layout "SW32_MN" {
  doc   = "MN-major shared-memory atom of 32 bytes x 8, Swizzle<1,4,3> on bytes",
  dims  = { M, K },
  E     = 16 // bytes,
  order = { K // 8, M // (2 * E), K % 8, (M // E % 2) ~ (K // 4 % 2), M % E },
}

layout "SW64_MN" {
  doc   = "MN-major shared-memory atom of 64 bytes x 8, Swizzle<2,4,3> on bytes",
  dims  = { M, K },
  E     = 16 // bytes,
  order = { K // 8, M // (4 * E), K % 8, (M // E % 4) ~ (K // 2 % 4), M % E },
}

layout "SW128_MN" {
  doc   = "MN-major shared-memory atom of 128 bytes x 8, Swizzle<3,4,3> on bytes",
  dims  = { M, K },
  E     = 16 // bytes,
  order = { K // 8, M // (8 * E), K % 8, (M // E % 8) ~ (K % 8), M % E },
}

layout "SW128_32B_MN" {
  doc   = "MN-major shared-memory atom of 128 bytes x 4 in granules of 32 bytes (tf32 on Blackwell), Swizzle<2,5,2> on bytes",
  dims  = { M, K },
  E     = 32 // bytes,
  order = { K // 4, M // (4 * E), K % 4, (M // E % 4) ~ (K % 4), M % E },
}

origin("the article on tensor layouts this project started from", "sections 8.3 and 8.4", "as in its code, which its text contradicts")

layout "SEED83" {
  doc     = "bits 2-6 onto bits 5-9: a bijection of order 4, not its own inverse as the article says",
  dims    = { R, C },
  order   = { R, C },
  swizzle = function(a) return a ~ (a >> 2 & 31) << 5 end,
}

layout "SEED84" {
  doc     = "bits 5-9 onto bits 0-4, Swizzle<5,0,5>: its own inverse",
  dims    = { R, C },
  order   = { R, C },
  swizzle = function(a) return a ~ (a >> 5 & 31) end,
}
