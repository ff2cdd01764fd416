-- Tiled textures.  V and Y count rows, U bytes of a row, X pixels.

origin("Intel", "mesa:docs/isl/tiling.rst, the table of bits")

layout "INTEL_X" {
  doc   = "tiles of 512 bytes x 8 rows",
  dims  = { V, U },
  bits  = 8,
  order = { V // 8, U // 512, V % 8, U % 512 },
}

layout "INTEL_Y" {
  doc   = "tiles of 128 bytes x 32 rows, columns of 16 bytes",
  dims  = { V, U },
  bits  = 8,
  order = { V // 32, U // 128, U // 16 % 8, V % 32, U % 16 },
}

layout "INTEL_W" {
  doc   = "tiles of 64 bytes x 64 rows for stencils",
  dims  = { V, U },
  bits  = 8,
  order = { V // 64, U // 64, U // 8 % 8, V // 4 % 16, U[2], V[1], U[1], V[0], U[0] },
}

layout "INTEL_TILE4" {
  doc   = "Tile4: tiles of 128 bytes x 32 rows",
  dims  = { V, U },
  bits  = 8,
  order = { V // 32, U // 128, V // 8 % 4, U[6], V[2], U[5], U[4], V[1], V[0], U % 16 },
}

origin("Arm Mali", "mesa:src/panfrost/shared/pan_tiling.c, u-interleaved")

layout "MALI_TILE" {
  doc   = "u-interleaved tiles of 16 x 16 pixels",
  dims  = { Y, X },
  order = { Y // 16, X // 16, Y[3], X[3] ~ Y[3], Y[2], X[2] ~ Y[2], Y[1], X[1] ~ Y[1], Y[0], X[0] ~ Y[0] },
}

origin("NVIDIA", "mesa:src/nouveau/nil/copy.rs; fincs/tegra_swizzle")

layout "BLOCK_LINEAR" {
  doc   = "blocks of GOBS groups of 64 bytes x 8 rows, one above the other",
  dims  = { V, U },
  bits  = 8,
  GOBS  = 1,
  order = { V // (8 * GOBS), U // 64, V // 8 % GOBS, U[5], V[2], V[1], U[4], V[0], U % 16 },
}
