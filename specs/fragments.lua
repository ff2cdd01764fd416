-- What each lane of a warp holds of the operands of a matrix instruction.  The storage is so many `lanes` of so many `registers`, elements each;
-- further out whole fragments are counted.  `ravel emit --kind load` and `store` make the functions that move them from and to a tile.
-- Sources: PTX ISA, matrix fragments of mma.m16n8k*; NVIDIA/cutlass:include/cute/atom/mma_traits_sm80.hpp; ROCm/amd_matrix_instruction_calculator.

origin("NVIDIA PTX", "PTX ISA, matrix fragments of mma.m16n8k*, m8n8k*, wgmma; NVIDIA/cutlass:include/cute/atom/mma_traits_sm75.hpp, _sm80.hpp, _sm90_gmma.hpp",
       "CUTLASS 4.5.0")

-- mma.m16n8k8 of tf32, k16 of f16 and bf16, k32 of 8 bits, k64 of 4, k256 of 1: P elements in a 32-bit register.
-- Right operands are (N, K), as their columns lie side by side in most tiles (CUTLASS and the instruction's .col have it so).

layout "MMA_A" {
  doc       = "left operand of mma.m16n8k16 (f16, bf16), k8 (tf32), k32 (8 bits), k64 (4 bits)",
  dims      = { M, K },
  P         = max(1, 4 // bytes),
  order     = { M // 16, K // (8 * P), M % 8, K // P % 4, K // (4 * P) % 2, M // 8 % 2, K % P },
  lanes     = 32,
  registers = 4 * P,
}

layout "MMA_B" {
  doc       = "right operand of mma.m16n8k16 (f16, bf16), k8 (tf32), k32 (8 bits), k64 (4 bits)",
  dims      = { N, K },
  P         = max(1, 4 // bytes),
  order     = { N // 8, K // (8 * P), N % 8, K // P % 4, K // (4 * P) % 2, K % P },
  lanes     = 32,
  registers = 2 * P,
}

layout "MMA_A_HALF" {
  doc       = "left operand of mma.m16n8k8 (f16, bf16), k4 (tf32), k16 (8 bits), k32 (4 bits)",
  dims      = { M, K },
  P         = max(1, 4 // bytes),
  order     = { M // 16, K // (4 * P), M % 8, K // P % 4, M // 8 % 2, K % P },
  lanes     = 32,
  registers = 2 * P,
}

layout "MMA_B_HALF" {
  doc       = "right operand of mma.m16n8k8 (f16, bf16), k4 (tf32), k16 (8 bits), k32 (4 bits)",
  dims      = { N, K },
  P         = max(1, 4 // bytes),
  order     = { N // 8, K // (4 * P), N % 8, K // P % 4, K % P },
  lanes     = 32,
  registers = P,
}

layout "MMA_C" {
  doc       = "accumulator of all mma.m16n8",
  dims      = { M, N },
  order     = { M // 16, N // 8, M % 8, N // 2 % 4, M // 8 % 2, N % 2 },
  lanes     = 32,
  registers = 4,
}

layout "MMA8_AB" {
  doc       = "operands of mma.m8n8: k4 (f64), k16 (8 bits), k32 (4 bits), k128 (1 bit); ldmatrix 8 x 8 (16 bits)",
  dims      = { M, K },
  P         = max(1, 4 // bytes),
  order     = { M // 8, K // (4 * P), M % 8, K // P % 4, K % P },
  lanes     = 32,
  registers = P,
}

layout "MMA8_C" {
  doc       = "accumulator of all mma.m8n8 but Volta's",
  dims      = { M, N },
  order     = { M // 8, N // 8, M % 8, N // 2 % 4, N % 2 },
  lanes     = 32,
  registers = 2,
}

-- wgmma: the four warps of a group have 16 rows each.

layout "WGMMA_A" {
  doc       = "left operand of wgmma.m64 in registers: k16 (f16, bf16), k8 (tf32), k32 (8 bits)",
  dims      = { M, K },
  P         = max(1, 4 // bytes),
  order     = { M // 64, K // (8 * P), M // 16 % 4, M % 8, K // P % 4, K // (4 * P) % 2, M // 8 % 2, K % P },
  lanes     = 128,
  registers = 4 * P,
}

layout "WGMMA_D" {
  doc       = "accumulator of wgmma.m64nW",
  dims      = { M, N },
  W         = 8,
  order     = { M // 64, N // W, M // 16 % 4, M % 8, N // 2 % 4, N // 8 % (W // 8), M // 8 % 2, N % 2 },
  lanes     = 128,
  registers = W // 2,
}

-- Volta, mma.m8n8k4: the lanes are the eight threads of a quadpair, 0-3 and 16-19 of a warp in the first.
origin("NVIDIA PTX (Volta)", "PTX ISA, mma.m8n8k4; NVIDIA/cutlass:include/cute/atom/mma_traits_sm70.hpp", "CUTLASS 4.5.0")

layout "SM70_ROW" {
  doc       = "operand of Volta's mma.m8n8k4, rows along K, in the threads of a quadpair",
  dims      = { M, K },
  bits      = 16,
  order     = { M // 8, K // 4, M % 8, K % 4 },
  lanes     = 8,
  registers = 4,
}

layout "SM70_COL" {
  doc       = "operand of Volta's mma.m8n8k4, columns along M, in the threads of a quadpair",
  dims      = { M, K },
  bits      = 16,
  order     = { M // 8, K // 4, M // 4 % 2, K % 4, M % 4 },
  lanes     = 8,
  registers = 4,
}

layout "SM70_C32" {
  doc       = "f32 accumulator of Volta's mma.m8n8k4, in the threads of a quadpair",
  dims      = { M, N },
  bits      = 32,
  order     = { M // 8, N // 8, M[2], N[1], M[0], N[2], M[1], N[0] },
  lanes     = 8,
  registers = 8,
}

-- AMD, CDNA: V elements along K in a lane: 1 of 32 bits, 4 of 16, 8 of 8.

origin("AMD", "ROCm/amd_matrix_instruction_calculator; AMD lab notes, Matrix Cores", "CDNA 1 to 3: gfx908, gfx90a, gfx942")

layout "MFMA16_A" {
  doc       = "left operand of v_mfma 16x16x16 (f16), x4 (f32), x32 (8 bits)",
  dims      = { I, K },
  V         = min(8, (4 // bytes) * (4 // bytes)),
  order     = { I // 16, K // (4 * V), K // V % 4, I % 16, K % V },
  lanes     = 64,
  registers = V,
}

layout "MFMA16_B" {
  doc       = "right operand of v_mfma 16x16x16 (f16), x4 (f32), x32 (8 bits)",
  dims      = { J, K },
  V         = min(8, (4 // bytes) * (4 // bytes)),
  order     = { J // 16, K // (4 * V), K // V % 4, J % 16, K % V },
  lanes     = 64,
  registers = V,
}

layout "MFMA16_D" {
  doc       = "accumulator of v_mfma 16x16",
  dims      = { I, J },
  order     = { I // 16, J // 16, I // 4 % 4, J % 16, I % 4 },
  lanes     = 64,
  registers = 4,
}

layout "MFMA32_A" {
  doc       = "left operand of v_mfma 32x32x8 (f16), x2 (f32), x16 (8 bits)",
  dims      = { I, K },
  V         = min(8, (4 // bytes) * (4 // bytes)),
  order     = { I // 32, K // (2 * V), K // V % 2, I % 32, K % V },
  lanes     = 64,
  registers = V,
}

layout "MFMA32_B" {
  doc       = "right operand of v_mfma 32x32x8 (f16), x2 (f32), x16 (8 bits)",
  dims      = { J, K },
  V         = min(8, (4 // bytes) * (4 // bytes)),
  order     = { J // 32, K // (2 * V), K // V % 2, J % 32, K % V },
  lanes     = 64,
  registers = V,
}

layout "MFMA32_D" {
  doc       = "accumulator of v_mfma 32x32",
  dims      = { I, J },
  order     = { I // 32, J // 32, I // 4 % 2, J % 32, I // 8 % 4, I % 4 },
  lanes     = 64,
  registers = 16,
}

-- AMD, RDNA: waves of 32.  On RDNA 3 two lanes hold each element of A, which is no layout: there is D alone.

origin("AMD", "ROCm/amd_matrix_instruction_calculator; GPUOpen, How to accelerate AI applications on RDNA 3 using WMMA", "RDNA 3: gfx11, RDNA 4: gfx12")

layout "WMMA_RDNA4_A" {
  doc       = "left operand of v_wmma 16x16x16 of RDNA 4 (f16, bf16, 8 bits)",
  dims      = { I, K },
  V         = 8 // bytes,
  order     = { I // 16, K // 16, K // V % 2, I % 16, K // (2 * V) % (8 // V), K % V },
  lanes     = 32,
  registers = 8,
}

layout "WMMA_RDNA4_D" {
  doc       = "accumulator of v_wmma 16x16 of RDNA 4",
  dims      = { I, J },
  order     = { I // 16, J // 16, I // 8 % 2, J % 16, I % 8 },
  lanes     = 32,
  registers = 8,
}

layout "WMMA_RDNA3_D" {
  doc       = "accumulator of v_wmma 16x16 of RDNA 3, 32 bits",
  dims      = { I, J },
  order     = { I // 16, J // 16, I % 2, J % 16, I // 2 % 8 },
  lanes     = 32,
  registers = 8,
}
