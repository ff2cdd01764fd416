-- Elements smaller than a byte. The address counts elements: in a byte, element 0 is the lowest bits.
-- Sources: MegEngine/MegEngine:dnn/src/naive/lowbit_utils.cpp (rows of whole bytes, low nibble first);
-- bitsandbytes-foundation/bitsandbytes:bitsandbytes/backends/default/ops.py (high nibble first);
-- vllm-project/vllm:csrc/quantization/gptq_marlin/gptq_marlin_repack.cu; casper-hansen/AutoAWQ:awq/modules/linear/gemm.py.

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
rows_of_bytes("BIT_LOW",   1, "1-bit rows of whole bytes, first column in bit 0")

layout "INT4_HIGH" {                       -- the pair is a digit, so rows come out as whole bytes by themselves
  doc   = "4-bit rows of whole bytes, even column in the high nibble",
  dims  = { R, C },
  bits  = 4,
  order = { R, C // 2, 1 - C % 2 },
}

layout "MARLIN" {
  doc   = "4-bit weights for Marlin and GPTQ-Marlin: 16 x 64 tiles in the order the tensor core reads them",
  dims  = { K, N },
  bits  = 4,
  order = { K // 16, N // 64, N[2], N[1], N[0], K[2], K[1], N[5], N[4], K[0], N[3], K[3] },
}

layout "AWQ" {
  doc   = "4-bit weights of AWQ gemm: 8 columns in a 32-bit word, as 0 2 4 6 1 3 5 7 from the low nibble",
  dims  = { K, N },
  bits  = 4,
  order = { K, N // 8, N[0], N[2], N[1] },
}
