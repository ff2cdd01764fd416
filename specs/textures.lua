-- Tiled textures.  V and Y count rows, U bytes of a row, X pixels.

origin("Intel", "mesa:docs/isl/tiling.rst, the table of bits", "Mesa 22.3.6, without swizzling of bit 6")

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

origin("Arm Mali", "mesa:src/panfrost/shared/pan_tiling.c, u-interleaved", "Mesa 22.3.6")

layout "MALI_TILE" {
  doc   = "u-interleaved tiles of 16 x 16 pixels",
  dims  = { Y, X },
  order = { Y // 16, X // 16, Y[3], X[3] ~ Y[3], Y[2], X[2] ~ Y[2], Y[1], X[1] ~ Y[1], Y[0], X[0] ~ Y[0] },
}

origin("NVIDIA", "Tegra X1 Technical Reference Manual, block linear; mesa:src/nouveau/nil/copy.rs", "Tegra X1: GOBs of 64 bytes x 8 rows")

layout "BLOCK_LINEAR" {
  doc   = "blocks of GOBS groups of 64 bytes x 8 rows, one above the other",
  dims  = { V, U },
  bits  = 8,
  GOBS  = 1,
  order = { V // (8 * GOBS), U // 64, V // 8 % GOBS, U[5], V[2], V[1], U[4], V[0], U % 16 },
}

-- Each bit of an address within a tile is an exclusive or of bits of the coordinates.  The tables are in
-- nibbles of the address in bytes, lowest first, by the bytes of an element; what is absent is its own bytes.
origin("AMD", "mesa:src/amd/addrlib/src/gfx10/gfx10SwizzlePattern.h; sizes of tiles: core/addrlib2.cpp, ComputeThinBlockDimension",
       "Mesa 22.3.6; R_X and Z_X: Navi 1x, 16 pipes")

local sizes = { 1, 2, 4, 8, 16 }

local standard = {
  [1]  = { X[0], X[1], X[2], X[3], Y[0], Y[1], Y[2], Y[3], Y[4], X[4], Y[5], X[5], Y[6], X[6], Y[7], X[7] },
  [2]  = { X[0], X[1], X[2], Y[0], Y[1], Y[2], X[3], Y[3], X[4], Y[4], X[5], Y[5], X[6], Y[6], X[7] },
  [4]  = { X[0], X[1], Y[0], Y[1], Y[2], X[2], Y[3], X[3], Y[4], X[4], Y[5], X[5], Y[6], X[6] },
  [8]  = { X[0], Y[0], Y[1], X[1], X[2], Y[2], X[3], Y[3], X[4], Y[4], X[5], Y[5], X[6] },
  [16] = { Y[0], Y[1], X[0], X[1], Y[2], X[2], Y[3], X[3], Y[4], X[4], Y[5], X[5] },
}

local render = {
  [1]  = { X[0], X[1], X[2], Y[1], Y[0], Y[2], X[3], Y[4] },
  [2]  = { X[0], X[1], X[2], Y[0], Y[1], Y[2], X[3] },
  [4]  = { X[0], X[1], Y[0], Y[1], Y[2], X[2] },
  [8]  = { X[0], Y[0], X[1], X[2], Y[1] },
  [16] = { X[0], Y[0], X[1], Y[1] },
}

local depth = {
  [1]  = { X[0], Y[0], X[1], Y[1], X[2], Y[2], X[3], Y[4] },
  [2]  = { X[0], Y[0], X[1], Y[1], X[2], Y[2], X[3] },
  [4]  = { X[0], Y[0], X[1], Y[1], X[2], Y[2] },
  [8]  = { X[0], Y[0], X[1], Y[1], X[2] },
  [16] = { X[0], Y[0], X[1], Y[1] },
}

-- With 16 pipes, of which bits 8 to 11 choose one.
local pipes = { X[3] ~ Y[3], X[4] ~ Y[4], Y[5] ~ X[6], X[5] ~ Y[6] }
local above = {
  [1]  = { Y[6], X[6], Y[7], X[7] },
  [2]  = { Y[4], X[6], Y[6], X[7] },
  [4]  = { Y[3], X[4], Y[6], X[6] },
  [8]  = { Y[2], X[3], Y[4], X[6] },
  [16] = { Y[2], X[2], Y[3], X[4] },
}

local function tile(name, doc, size, n, ...)
  local low = {}
  for _, list in ipairs { ... } do
    for _, x in ipairs(list) do
      if #low < n then low[#low + 1] = x end
    end
  end
  local order = { Y // (1 << n // 2), X // (1 << (n + 1) // 2) }
  for i = n, 1, -1 do order[#order + 1] = low[i] end
  layout(name .. "_" .. 8 * size) {
    doc   = doc .. ", elements of " .. 8 * size .. " bits",
    dims  = { Y, X },
    bits  = 8 * size,
    order = order,
  }
end

-- GFX10_4K_S_8 GFX10_4K_S_16 GFX10_4K_S_32 GFX10_4K_S_64 GFX10_4K_S_128
-- GFX10_64K_S_8 GFX10_64K_S_16 GFX10_64K_S_32 GFX10_64K_S_64 GFX10_64K_S_128
-- GFX10_64K_R_X_8 GFX10_64K_R_X_16 GFX10_64K_R_X_32 GFX10_64K_R_X_64 GFX10_64K_R_X_128
-- GFX10_64K_Z_X_8 GFX10_64K_Z_X_16 GFX10_64K_Z_X_32 GFX10_64K_Z_X_64 GFX10_64K_Z_X_128
for i, size in ipairs(sizes) do
  tile("GFX10_4K_S", "SW_4K_S: standard tiles of 4 KB", size, 13 - i, standard[size])
  tile("GFX10_64K_S", "SW_64K_S: standard tiles of 64 KB", size, 17 - i, standard[size])
  tile("GFX10_64K_R_X", "SW_64K_R_X: render targets, tiles of 64 KB, 16 pipes, slice 0", size, 17 - i, render[size], pipes, above[size])
  tile("GFX10_64K_Z_X", "SW_64K_Z_X: depth, tiles of 64 KB, 16 pipes, slice 0, 1 sample", size, 17 - i, depth[size], pipes, above[size])
end
