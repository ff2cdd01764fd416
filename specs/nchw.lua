-- Plain orders of feature maps and filters.
-- Sources: MegEngine/MegEngine:dnn/src/common/named_tensor.cpp; oneAPI oneDNN, "Understanding Memory Formats" (nchw, nhwc, chwn, hwio).

origin("MegEngine, oneDNN, PyTorch, TensorFlow", "MegEngine/MegEngine:dnn/src/common/named_tensor.cpp; oneDNN, Understanding Memory Formats",
       "MegEngine 47952c0, oneDNN 2.6.3")

layout "NCHW" {
  doc   = "channels outermost, pixels together: PyTorch, ONNX, cuDNN default",
  dims  = { N, C, H, W },
  order = { N, C, H, W },
}

layout "NHWC" {
  doc   = "channels innermost: TensorFlow default, tensor cores, most CPUs' best",
  dims  = { N, C, H, W },
  order = { N, H, W, C },
}

layout "CHWN" {
  doc   = "batch innermost: cuda-convnet, Neon",
  dims  = { N, C, H, W },
  order = { C, H, W, N },
}

layout "HWCN" {
  doc   = "filters of TensorFlow (HWIO), with N the output channel",
  dims  = { N, C, H, W },
  order = { H, W, C, N },
}

layout "NCDHW" {
  doc   = "volumes, channels outermost: PyTorch Conv3d",
  dims  = { N, C, D, H, W },
  order = { N, C, D, H, W },
}

layout "NDHWC" {
  doc   = "volumes, channels innermost: TensorFlow conv3d",
  dims  = { N, C, D, H, W },
  order = { N, D, H, W, C },
}

layout "DHWCN" {
  doc   = "filters of TensorFlow's conv3d (DHWIO), with N the output channel: CANN DHWCN",
  dims  = { N, C, D, H, W },
  order = { D, H, W, C, N },
}

origin("NVIDIA TensorRT", "TensorRT TensorFormat: kHWC8, kHWC16, kDLA_LINEAR", "10.7, the last one with DLA")

layout "HWC8" {
  doc   = "channels innermost, padded to a multiple of 8: TensorRT HWC8",
  dims  = { N, C, H, W },
  order = { N, H, W, C },
  pad   = { C = 8 },
}

layout "HWC16" {
  doc   = "channels innermost, padded to a multiple of 16: TensorRT HWC16",
  dims  = { N, C, H, W },
  order = { N, H, W, C },
  pad   = { C = 16 },
}

layout "DLA_LINEAR" {
  doc   = "rows at multiples of 64 bytes: TensorRT up to 10.7 for DLA",
  dims  = { N, C, H, W },
  order = { N, C, H, W },
  pitch = { H = 64 },
}
