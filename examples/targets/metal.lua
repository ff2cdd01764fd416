-- metal.lua: kernels in the Metal Shading Language.  ravel emit ... --target examples/targets/metal.lua; templates/README.md explains every field.
-- Metal is like CUDA, but that each pointer has an address space.  Arguments without a number of a buffer have 0, 1, ... in their order.
local text = [[
#include <metal_stdlib>
using namespace metal;

#define ravel_min(a, b) ((a) < (b) ? (a) : (b))
#define ravel_max(a, b) ((a) > (b) ? (a) : (b))

/* Four bytes of x (numbers 0 to 3) and y (4 to 7): each hexadecimal digit of s selects one. */
static inline uint
ravel_permute(uint x, uint y, uint s)
{
    const ulong v = (ulong)y << 32 | x;
    return (uint)((v >> (s & 7) * 8 & 0xff) | (v >> (s >> 4 & 7) * 8 & 0xff) << 8 | (v >> (s >> 8 & 7) * 8 & 0xff) << 16 | (v >> (s >> 12 & 7) * 8 & 0xff) << 24);
}

/* x / d, for the divisor d that has this multiplier and shift. */
static inline long
ravel_divide(long x, long multiplier, long shift)
{
    return (long)((mulhi((ulong)x, (ulong)multiplier) + (ulong)x) >> (ulong)shift);
}

]]

local buffers = "device uchar *dst, device const uchar *src${arrays}"
local values = "struct ${name}_values { long v[${values}]; };\n\n"
local and_values = buffers .. ", constant ${name}_values *values"

-- The places of a thread are arguments, too.
local function kernel(arguments, first, suffix)
  return "kernel void\n${name}" .. (suffix or "") .. "(" .. arguments .. [=[,
    uint3 group [[threadgroup_position_in_grid]], uint3 groups [[threadgroups_per_grid]], uint lane [[thread_index_in_threadgroup]])
{
]=] .. first
end

local unused = "    (void)dst; (void)src;\n"

return {
  name = "metal", model = "blocks", shared_most = 32768,
  div = "/", mod = "%", xor = "^", ["and"] = "&", min = "ravel_min", max = "ravel_max",
  comment_open = "/* ", comment_line = " * ", comment_close = " */", comment = "/* ${text} */",
  index = "uint", index_wide = "long", index_more = "(long)(${index}) + ${more}", index_signed = "(int)(${index})",
  type1 = "uchar", type2 = "ushort", type4 = "uint", type8 = "uint2", type16 = "uint4",
  prologue_text = text,
  kernel_open = kernel(buffers, ""), close = "}\n",
  -- extents left to run time
  runtime_kernel = values .. kernel(and_values, ""), runtime_close = "}\n",
  value = "const ${type} ${name} = values->v[${index}];", divide = "ravel_divide(${value}, ${multiplier}, ${shift})", values_are = "buffer",
  argument = "buffer",
  -- index arrays, and the kernel that checks their numbers
  array_32 = ", device const int *${name}", array_64 = ", device const long *${name}", array_bad = ", device int *bad",
  array_stop = "if (*bad) return;", array_close = "}\n",
  lookup = "const ${type} ${name} = (${type})${array}[${index}];", moved_open = "if (${name} != (${type})-1) {",
  check_open = "\n" .. kernel(buffers, unused, "_check"), check_close = "}\n",
  runtime_check_open = "\n" .. kernel(and_values, unused, "_check"), runtime_check_close = "}\n",
  check_numbers = [[
for (long e = (group.y*(long)groups.x + group.x)*${threads} + lane; e < ${count}; e += (long)groups.x*groups.y*${threads})
        if (${array}[e] < ${least} || ${array}[e] > ${most}) *bad = ${number};]],
  shared = "threadgroup uint4 shared[${vectors}];",
  grid_block = "group.x", grid_block_rows = "(group.y*groups.x + group.x)",
  box_only = "{", box_first = "if (${block} < ${end}) {", box_open = "if (${block} >= ${first} && ${block} < ${end}) {", box_close = "}",
  block_first = "const ${type} b = ${block};", block = "const ${type} b = ${block} - ${first};",
  phase_open = "{ const ${type} t = lane;", phase_close = "}", barrier = "threadgroup_barrier(mem_flags::mem_threadgroup);",
  for_open = "_Pragma(\"unroll\") for (${type} ${name} = 0; ${name} < ${count}; ${name}++) {", for_close = "}",
  when_open = "if (${text}) {", else_open = "else {", when_close = "}",
  constant = "const ${type} ${name} = ${value};", variable = "${type} ${name} = ${value};", assign = "${name} = ${value};", array = "${type} ${name}[${count}];",
  put = "${name} = (${name} & ~(${mask} << (${at}))) | (${type})${value} << (${at});",
  load = "((device const ${type} *)src)[${index}]", load_dst = "((device const ${type} *)dst)[${index}]", load_shared = "((threadgroup const ${type} *)shared)[${index}]",
  store = "((device ${type} *)dst)[${index}] = ${value};", store_shared = "((threadgroup ${type} *)shared)[${index}] = ${value};",
  vector2 = "uint2(${x}, ${y})", vector4 = "uint4(${x}, ${y}, ${z}, ${w})",
  permute = "ravel_permute(${x}, ${y}, ${pattern})", funnel = "${x} >> (${at}) | ${y} << 1 << (31 - (${at}))",
  nibbles_low = "(${x} & 0x0f0f0f0fu) | (${y} & 0x0f0f0f0fu) << 4", nibbles_high = "(${x} >> 4 & 0x0f0f0f0fu) | (${y} & 0xf0f0f0f0u)",
  -- index functions
  let = "const long ${name} = ${value};", set = "out[${index}] = ${value};",
  check = "if (${value} < ${least} || ${value} > ${most}) return 0;", same = "if (${value} != ${other}) return 0;",
  unused = "(void)${name};", ret = "return ${value};", param = "long ${name}", no_params = "void",
  offset_open = "static inline long\n${name}(${params})\n{\n", inverse_open = "static inline int\n${name}(long a, thread long *out)\n{\n", index_close = "}\n",
  -- loads and stores of a fragment from and to a tile in threadgroup memory
  load_tile = "((threadgroup const ${type} *)src)[${index}]", store_tile = "((threadgroup ${type} *)dst)[${index}] = ${value};",
  tile_load_open = "static inline void\n${name}(thread uint *r, threadgroup const uchar *src, uint f, uint t)\n{\n",
  tile_store_open = "static inline void\n${name}(threadgroup uchar *dst, thread const uint *r, uint f, uint t)\n{\n",
  -- keywords, types and names of the text above that are none of C or C++
  reserved = [[kernel vertex fragment device constant threadgroup threadgroup_imageblock thread ray_data object_data metal half half2 half3 half4 bfloat
    uchar uchar2 uchar3 uchar4 ushort ushort2 ushort3 ushort4 uint uint2 uint3 uint4 ulong ulong2 ulong3 ulong4 sampler texture* depth* array visible mulhi mem_flags
    threadgroup_barrier group groups lane ravel_permute ravel_divide ravel_min ravel_max]],
}
