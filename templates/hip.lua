-- hip.lua: the target HIP, for hipcc and hipRTC: like CUDA, with another prologue.
return { name = "hip", like = "cuda", prologue = "blocks/hip.h", funnel = "${x} >> (${at}) | ${y} << 1 << (31 - (${at}))" }
