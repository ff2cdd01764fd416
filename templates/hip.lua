-- hip.lua: the target HIP, for hipcc and hipRTC: CUDA but for what stands before the kernel.
return { name = "hip", like = "cuda", prologue = "blocks/hip.h" }
