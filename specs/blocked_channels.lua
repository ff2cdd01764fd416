-- Feature maps with the channels cut into short vectors; the last vector is padded with zeros.
-- Sources: MegEngine/MegEngine:dnn/src/common/named_tensor.cpp and relayout_format.cpp;
-- NVIDIA TensorRT TensorFormat (kCHW4, kCHW16, kCHW32); oneapi-src/oneDNN nChw8c, nChw16c.

origin("MegEngine, NVIDIA TensorRT, Intel oneDNN",
       "MegEngine/MegEngine:dnn/src/common/relayout_format.cpp; TensorRT TensorFormat; oneapi-src/oneDNN tags aBcd8b, aBcd16b",
       "MegEngine 47952c0, TensorRT 10, oneDNN 2.6.3")

local used_for = {
  [4]  = "one dp4a per vector: MegEngine, TensorRT kCHW4, MNN and ncnn NC4HW4",
  [8]  = "one AVX register of f32: oneDNN nChw8c",
  [16] = "one AVX-512 register of f32: oneDNN nChw16c, TensorRT kCHW16",
  [32] = "int8 tensor cores: TensorRT kCHW32, cuDNN NCHW_VECT_C x32",
  [64] = "int4 tensor cores: MegEngine",
}

-- NCHW4 NCHW8 NCHW16 NCHW32 NCHW64
for _, x in ipairs { 4, 8, 16, 32, 64 } do
  layout("NCHW" .. x) {
    doc   = "channels in vectors of " .. x .. ", " .. used_for[x],
    dims  = { N, C, H, W },
    order = { N, C // x, H, W, C % x },
  }
end

origin("MegEngine", "MegEngine/MegEngine:dnn/src/common/relayout_format.cpp, named_tensor.cpp", "47952c0")

layout "CHWN4" {
  doc   = "NCHW4 with the batch moved inside: MegEngine int8 on CUDA",
  dims  = { N, C, H, W },
  order = { C // 4, H, W, N, C % 4 },
}

layout "NHWCD4" {
  doc   = "rows of RGBA pixels for OpenCL images (NHCWc4): MegEngine, MACE",
  dims  = { N, C, H, W },
  order = { N, H, C // 4, W, C % 4 },
}
