-- MegEngine's filters.  The modes 8, 10 and 12, INTER_WEIGHT_DENSEI, GROUPI and CHANI, have the orders of 7, 9 and 11 with rows at the
-- pitch of an OpenCL image.  N is the output channel, C the input channel, G the group; N and C count within a group.
-- Source: MegEngine/MegEngine:dnn/src/common/relayout_format.cpp (the number of the mode in brackets), named_tensor.cpp.

origin("MegEngine", "MegEngine/MegEngine:dnn/src/common/relayout_format.cpp, named_tensor.cpp", "47952c0")

layout "NCHW4_GROUP" {
  doc   = "feature map of a grouped convolution: the channels of each group in vectors of 4",
  dims  = { N, G, C, H, W },
  order = { N, G, C // 4, H, W, C % 4 },
}

layout "NCHW4_WEIGHT" {
  doc   = "filter weights for NCHW4 (26): input channels in vectors of 4, output channels to a multiple of 4",
  dims  = { N, C, H, W },
  order = { N, C // 4, H, W, C % 4 },
  pad   = { N = 4 },
}

layout "NCHW4_WEIGHT_GROUP" {
  doc   = "grouped filter weights for NCHW4 (26)",
  dims  = { G, N, C, H, W },
  order = { G, N, C // 4, H, W, C % 4 },
  pad   = { N = 4 },
}

layout "NCHW44_WEIGHT" {
  doc   = "filter weights in 4 x 4 blocks, output channel innermost",
  dims  = { N, C, H, W },
  order = { N // 4, C // 4, H, W, C % 4, N % 4 },
}

layout "NCHW44_DOT_WEIGHT" {
  doc   = "filter weights in 4 x 4 blocks, input channel innermost, for int8 dot products",
  dims  = { N, C, H, W },
  order = { N // 4, C // 4, H, W, N % 4, C % 4 },
}

layout "NCHW88_WEIGHT" {
  doc   = "filter weights in 8 x 8 blocks for AVX (17): OIHW88",
  dims  = { N, C, H, W },
  order = { N // 8, C // 8, H, W, C % 8, N % 8 },
}

layout "NCHW88_WEIGHT_GROUP" {
  doc   = "grouped filter weights in 8 x 8 blocks for AVX (19)",
  dims  = { G, N, C, H, W },
  order = { G, N // 8, C // 8, H, W, C % 8, N % 8 },
}

layout "NCHW88_WEIGHT_CHAN" {
  doc   = "depthwise filter weights for NCHW88 (18): 8 channels together",
  dims  = { G, N, C, H, W },
  order = { G // 8, N, C, H, W, G % 8 },
}

layout "INTER_WEIGHT_DENSE" {
  doc   = "filter weights for OpenCL images (7): 4 output channels innermost",
  dims  = { N, C, H, W },
  order = { N // 4, H, W, C, N % 4 },
  pad   = { C = 4 },
}

layout "INTER_WEIGHT_GROUP" {
  doc   = "grouped filter weights for OpenCL images (9)",
  dims  = { G, N, C, H, W },
  order = { G, N // 4, H, W, C, N % 4 },
}

layout "INTER_WEIGHT_CHAN" {
  doc   = "depthwise filter weights for OpenCL images (11): 4 channels together",
  dims  = { G, N, C, H, W },
  order = { G // 4, N, C, H, W, G % 4 },
}

layout "INTER_WEIGHT_DENSEI_DOT" {
  doc   = "filter weights for OpenCL images and int8 dot products (13): 4 x 4 blocks innermost",
  dims  = { N, C, H, W },
  order = { N // 4, H, W, C // 4, N % 4, C % 4 },
}

layout "INTER_WEIGHT_GROUPI_DOT" {
  doc   = "grouped filter weights for OpenCL images and int8 dot products (14)",
  dims  = { G, N, C, H, W },
  order = { G, N // 4, H, W, C // 4, N % 4, C % 4 },
}
