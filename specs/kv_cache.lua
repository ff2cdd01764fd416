-- Caches of keys and values of attention, in pages: page P, slot S in it, head H, component D.
-- Which page holds which tokens is a table of the run time, outside of a layout.

origin("FlashInfer", "docs.flashinfer.ai, kv_layout; flashinfer-ai/flashinfer:include/flashinfer/page.cuh paged_kv_t", "0.7.4")

layout "KV_NHD" {
  doc   = "pages of a KV cache, slots outside of heads: FlashInfer NHD, FlashAttention",
  dims  = { P, S, H, D },
  order = { P, S, H, D },
}

layout "KV_HND" {
  doc   = "pages of a KV cache, heads outside of slots: FlashInfer HND, TensorRT-LLM",
  dims  = { P, S, H, D },
  order = { P, H, S, D },
}

origin("vLLM", "vllm-project/vllm:csrc/cache_kernels.cu reshape_and_cache_kernel", "693083a; paged attention v1 and v2")

layout "VLLM_K" {
  doc   = "keys of vLLM's paged attention, x-packed: X = 16 bytes of a head together",
  dims  = { P, S, H, D },
  X     = 16 // bytes,
  order = { P, H, D // X, S, D % X },
}

layout "VLLM_V" {
  doc   = "values of vLLM's paged attention",
  dims  = { P, S, H, D },
  order = { P, H, D, S },
}
