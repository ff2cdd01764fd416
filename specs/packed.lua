-- Elements smaller than a byte. The address counts elements: in a byte, element 0 is the lowest bits.
-- Sources: MegEngine/MegEngine:dnn/src/naive/lowbit_utils.cpp (rows of whole bytes, low nibble first);
-- bitsandbytes-foundation/bitsandbytes:bitsandbytes/backends/default/ops.py (high nibble first);
-- vllm-project/vllm:csrc/quantization/gptq_marlin/gptq_marlin_repack.cu; casper-hansen/AutoAWQ:awq/modules/linear/gemm.py.

origin("MegEngine", "MegEngine/MegEngine:dnn/src/naive/lowbit_utils.cpp; LowbitsAlignedToBytesTensorFormat", "47952c0")

local function rows_of_bytes(name, width, doc)
  layout(name) {
    doc   = doc,
    dims  = { R, C },
    bits  = width,
    order = { R, C },
    pitch = { R = 1 },
  }
end

rows_of_bytes("INT4_LOW",  4, "4-bit rows of whole bytes, even column in the low nibble")
rows_of_bytes("UINT2_LOW", 2, "2-bit rows of whole bytes, first column in the lowest bits")
rows_of_bytes("BIT_LOW",   1, "1-bit rows of whole bytes, first column in bit 0: displays and XBM, least significant bit (LSB) first")

layout "NCHW_INT4" {
  doc   = "4-bit feature map, rows of whole bytes, even column in the low nibble",
  dims  = { N, C, H, W },
  bits  = 4,
  order = { N, C, H, W },
  pitch = { H = 1 },
}

layout "NHWC_INT4" {
  doc   = "4-bit feature map, channels innermost, a pixel in whole bytes, even channel in the low nibble",
  dims  = { N, C, H, W },
  bits  = 4,
  order = { N, H, W, C },
  pitch = { W = 1 },
}

origin("bitsandbytes", "bitsandbytes-foundation/bitsandbytes:bitsandbytes/backends/default/ops.py quantize_4bit", "0.50.2")

layout "INT4_HIGH" {                       -- the pair is a digit, so rows come out as whole bytes by themselves
  doc   = "4-bit rows of whole bytes, even column in the high nibble",
  dims  = { R, C },
  bits  = 4,
  order = { R, C // 2, 1 - C % 2 },
}

origin("Netpbm", "netpbm, pbm(5): packed, most significant bit first", "P4")

layout "BIT_HIGH" {
  doc   = "1-bit rows of whole bytes, first column in bit 7: PBM and monochrome displays, most significant bit (MSB) first",
  dims  = { R, C },
  bits  = 1,
  order = { R, C // 8, 7 - C % 8 },
}

origin("Solomon Systech", "SSD1306 data sheet, GDDRAM; adafruit/Adafruit_SSD1306:Adafruit_SSD1306.cpp drawPixel", "d4edaa0")

layout "BIT_PAGES" {
  doc   = "1-bit image in pages of 8 rows, a byte for each column, topmost row in bit 0 (LSB): SSD1306 and other OLED displays",
  dims  = { Y, X },
  bits  = 1,
  order = { Y // 8, X, Y % 8 },
}

origin("Marlin, vLLM", "vllm-project/vllm:csrc/quantization/gptq_marlin, marlin_utils_test.py get_weight_perm, marlin_utils.py get_scale_perms", "04aa528")

layout "MARLIN8" {
  doc   = "8-bit weights for Marlin and GPTQ-Marlin: 16 x 64 tiles",
  dims  = { K, N },
  bits  = 8,
  order = { K // 16, N // 64, N[2], N[1], N[0], K[2], K[1], N[5], N[4], N[3], K[0], K[3] },
}

layout "MARLIN_W4A8" {
  doc   = "4-bit weights for Marlin with 8-bit activations: 32 x 32 tiles",
  dims  = { K, N },
  bits  = 4,
  order = { K // 32, N // 32, N[2], N[1], N[0], K[3], K[2], N[4], N[3], K[1], K[0], K[4] },
}

layout "MARLIN_W8A8" {
  doc   = "8-bit weights for Marlin with 8-bit activations: 32 x 32 tiles",
  dims  = { K, N },
  bits  = 8,
  order = { K // 32, N // 32, N[2], N[1], N[0], K[3], K[2], N[4], N[3], K[4], K[1], K[0] },
}

layout "MARLIN_SCALES" {
  doc   = "scales (group, column) of Marlin weights in groups: 64 columns transposed as 8 x 8",
  dims  = { G, N },
  order = { G, N // 64, N % 8, N // 8 % 8 },
}

layout "MARLIN_SCALES1" {
  doc   = "scales of Marlin weights with one group a column, and biases: 32 columns in pairs",
  dims  = { G, N },
  order = { G, N // 32, N // 2 % 4, N // 8 % 4, N % 2 },
}

layout "MARLIN" {
  doc   = "4-bit weights for Marlin and GPTQ-Marlin: 16 x 64 tiles in the order the tensor core reads them",
  dims  = { K, N },
  bits  = 4,
  order = { K // 16, N // 64, N[2], N[1], N[0], K[2], K[1], N[5], N[4], K[0], N[3], K[3] },
}

origin("AutoAWQ", "casper-hansen/AutoAWQ:awq/modules/linear/gemm.py, gemv_fast.py; vLLM quant_utils.py awq_pack", "AutoAWQ 0.2.9, vLLM 04aa528")

layout "AWQ" {
  doc   = "4-bit weights of AWQ gemm: 8 columns in a 32-bit word, as 0 2 4 6 1 3 5 7 from the low nibble",
  dims  = { K, N },
  bits  = 4,
  order = { K, N // 8, N[0], N[2], N[1] },
}

layout "AWQ8" {
  doc   = "8-bit weights packed as AWQ: 4 columns in a 32-bit word, as 0 2 1 3 from the low byte",
  dims  = { K, N },
  bits  = 8,
  order = { K, N // 4, N[0], N[1] },
}

layout "AWQ_GEMV_FAST" {
  doc   = "4-bit weights (output, input) of AWQ gemv_fast: 4 rows x 64",
  dims  = { N, K },
  bits  = 4,
  order = { N // 4, K // 64, N[1], N[0], K[5], K[2], K[1], K[0], K[4], K[3] },
}

origin("GPTQ", "AutoGPTQ/AutoGPTQ:auto_gptq/nn_modules/qlinear/qlinear_cuda_old.py QuantLinear.pack", "AutoGPTQ 179776b; the weights of v1 and v2 are the same")

-- GPTQ2 GPTQ4 GPTQ8
for _, width in ipairs { 2, 4, 8 } do
  local word = 32 // width
  layout("GPTQ" .. width) {
    doc   = width .. "-bit weights of GPTQ: " .. word .. " rows in a 32-bit word, first in the lowest bits",
    dims  = { K, N },
    bits  = width,
    order = { K // word, N, K % word },
  }
end

origin("ExLlama", "turboderp/exllamav2:exllamav2/exllamav2_ext/cuda/quant/qdq_4.cuh shuffle_4bit_8", "2a2cc16, QMODE_4BIT = 1")

layout "EXLLAMA" {
  doc   = "4-bit weights of ExLlama: GPTQ4 with the even rows of a word in its low half",
  dims  = { K, N },
  bits  = 4,
  order = { K // 8, N, K[0], K[2], K[1] },
}

origin("PyTorch", "pytorch/pytorch:aten/src/ATen/native/cuda/int4mm.cu matrix_to_m16n8k16_Bint4_layout, _convert_weight_to_int4pack",
       "2.5, on CUDA, innerKTiles = 8")

layout "TINYGEMM" {
  doc   = "4-bit weights (output, input) of PyTorch's int4 product: innerKTiles = 8",
  dims  = { N, K },
  bits  = 4,
  order = { N // 8, K // 128, N[2], N[1], N[0], K[2], K[1], K[6], K[5], K[0], K[4], K[3] },
}

origin("QServe", "mit-han-lab/qserve:qserve/modeling/layers/quantized_linear/w4a8_linear.py from_linear", "64ee627")

layout "QSERVE" {
  doc   = "4-bit weights (output, input) of QServe (QoQ): 32 x 32 tiles",
  dims  = { N, K },
  bits  = 4,
  order = { N // 32, K // 32, N[2], N[1], N[0], K[3], K[2], K[4], N[3], K[1], K[0], N[4] },
}

origin("AMD AITER", "ROCm/aiter:aiter/ops/shuffle.py shuffle_weight (16,16)", "0122c48, for MI300")

layout "AITER_WEIGHT" {
  doc   = "weights (output, input) shuffled for AITER on MI300: 16 rows x 32 columns, 16 bytes of a row together",
  dims  = { N, K },
  V     = 16 // bytes,
  order = { N // 16, K // 32, K // V % (32 // V), N % 16, K % V },
}

-- The codes of 2:4 sparsity, 4 or 8 in a word, for the rows of the tensor core.  One name, three layouts.
origin("NVIDIA CUTLASS", "NVIDIA/cutlass:tools/util/include/cutlass/util/host_reorder.h reorder_meta; pytorch:torch/sparse/_semi_structured_conversions.py", "CUTLASS 4.5.0")

layout "META24_16" {
  doc   = "2:4 sparsity metadata, 16-bit words: CUTLASS reorder_meta, PyTorch",
  dims  = { R, C },
  bits  = 16,
  order = { C // 2, R // 32, R[2], R[1], R[0], R[4], C % 2, R[3] },
}

layout "META24_32" {
  doc   = "2:4 sparsity metadata, 32-bit words: CUTLASS reorder_meta, PyTorch",
  dims  = { R, C },
  bits  = 32,
  order = { C // 2, R // 16, R[2], R[1], R[0], C % 2, R[3] },
}

origin("Sparse-Marlin, vLLM", "vllm-project/vllm:marlin_utils_test_24.py _calculate_meta_reordering_scatter_offsets", "03b11b2, with group_x = 64")

layout "META24_MARLIN" {
  doc   = "2:4 sparsity metadata of Sparse-Marlin, not CUTLASS's order",
  dims  = { R, C },
  order = { C // 2, R // 64, R[1], R[5], R[4], R[3], R[0], C % 2, R[2] },
}
