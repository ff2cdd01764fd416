-- cuda.lua: the target CUDA C++, for nvcc and NVRTC.  Every field is explained in README.md.
local buffers = "void *__restrict__ dst, const void *__restrict__ src${arrays}"

local values = [[
#if defined(__CUDACC_RTC__) || defined(__HIPCC_RTC__)
struct ${name}_values { long long v[${values}]; };
#else
#include <stdint.h>
struct ${name}_values { int64_t v[${values}]; };
#endif

]]

local pairs_of = "struct ${name}_pairs { void *dst[${pairs}]; const void *src[${pairs}]; };\n\n"

local pair = [[
    void *__restrict__ dst = pairs.dst[blockIdx.y];
    const void *__restrict__ src = pairs.src[blockIdx.y];
]]

local function kernel(types, arguments, first, suffix)
  return types .. [[
extern "C" __global__ void __launch_bounds__(${threads})
${name}]] .. (suffix or "") .. "(" .. arguments .. ")\n{\n" .. first
end

return {
  name = "cuda", model = "blocks",
  div = "/", mod = "%", xor = "^", ["and"] = "&", min = "ravel_min", max = "ravel_max",
  comment_open = "/* ", comment_line = " * ", comment_close = " */",
  comment = "/* ${text} */",
  index = "unsigned int", index_wide = "long long",
  index_more = "(long long)(${index}) + ${more}", index_signed = "(int)(${index})",
  type1 = "unsigned char", type2 = "unsigned short", type4 = "unsigned int", type8 = "uint2", type16 = "uint4",
  prologue = "blocks/cuda.h",
  kernel_open = kernel("", buffers, ""),
  close = "}\n",
  -- extents left to run time: the values that the host computes from them are an argument; NVRTC and hipRTC compile only the kernel
  runtime_kernel = kernel(values, buffers .. ", const struct ${name}_values values", ""),
  runtime_close = "}\n",
  -- pairs of buffers are an argument; a block's number along y is that of its pair
  batch_kernel = kernel(pairs_of, "const struct ${name}_pairs pairs", pair),
  batch_close = "}\n",
  batch_runtime_kernel = kernel(values .. pairs_of, "const struct ${name}_pairs pairs, const struct ${name}_values values", pair),
  batch_host_close = "#endif\n",
  -- index arrays are arguments; another kernel with the same arguments checks their numbers
  array_32 = ", const int *__restrict__ ${name}", array_64 = ", const long long *__restrict__ ${name}", array_bad = ", int *bad",
  array_stop = "if (*bad) return;", array_close = "}\n", array_host_close = "#endif\n",
  lookup = "const ${type} ${name} = (${type})${array}[${index}];", moved_open = "if (${name} != (${type})-1) {",
  check_open = "\n" .. kernel("", buffers, "    (void)dst; (void)src;\n", "_check"), check_close = "}\n",
  runtime_check_open = "\n" .. kernel("", buffers .. ", const struct ${name}_values values", "    (void)dst; (void)src;\n", "_check"), runtime_check_close = "}\n",
  check_numbers = [[
for (long long e = (blockIdx.y*(long long)gridDim.x + blockIdx.x)*${threads} + threadIdx.x; e < ${count}; e += (long long)gridDim.x*gridDim.y*${threads})
        if (${array}[e] < ${least} || ${array}[e] > ${most}) *bad = ${number};]],
  value = "const ${type} ${name} = values.v[${index}];",
  divide = "ravel_divide(${value}, ${multiplier}, ${shift})",
  helpers = { { "ravel_divide", "blocks/divide.cuda" } },
  host_open = "\n#if !defined(__CUDACC_RTC__) && !defined(__HIPCC_RTC__)\n#undef ravel_min\n#undef ravel_max\n",
  host_close = "#endif\n",
  shared = "__shared__ uint4 shared[${vectors}];",
  grid_block = "blockIdx.x", grid_block_rows = "(blockIdx.y*gridDim.x + blockIdx.x)",
  box_only = "{", box_first = "if (${block} < ${end}) {", box_open = "if (${block} >= ${first} && ${block} < ${end}) {", box_close = "}",
  block_first = "const ${type} b = ${block};", block = "const ${type} b = ${block} - ${first};",
  phase_open = "{ const ${type} t = threadIdx.x;", phase_close = "}",
  barrier = "__syncthreads();",
  for_open = "_Pragma(\"unroll\") for (${type} ${name} = 0; ${name} < ${count}; ${name}++) {", for_close = "}",
  when_open = "if (${text}) {", else_open = "else {", when_close = "}",
  constant = "const ${type} ${name} = ${value};", assign = "${name} = ${value};", array = "${type} ${name}[${count}];",
  variable = "${type} ${name} = ${value};", put = "${name} = (${name} & ~(${mask} << (${at}))) | (${type})${value} << (${at});",
  load_dst = "((const ${type} *)dst)[${index}]",
  load = "((const ${type} *)src)[${index}]", load_shared = "((const ${type} *)shared)[${index}]",
  store = "((${type} *)dst)[${index}] = ${value};", store_shared = "((${type} *)shared)[${index}] = ${value};",
  vector2 = "make_uint2(${x}, ${y})", vector4 = "make_uint4(${x}, ${y}, ${z}, ${w})",
  permute = "__byte_perm(${x}, ${y}, ${pattern})",
  funnel = "__funnelshift_r(${x}, ${y}, ${at})",
  nibbles_low = "(${x} & 0x0f0f0f0fu) | (${y} & 0x0f0f0f0fu) << 4", nibbles_high = "(${x} >> 4 & 0x0f0f0f0fu) | (${y} & 0xf0f0f0f0u)",
  -- index functions: the address of an element, and the element at an address
  let = "const long long ${name} = ${value};", set = "out[${index}] = ${value};",
  check = "if (${value} < ${least} || ${value} > ${most}) return 0;", same = "if (${value} != ${other}) return 0;",
  unused = "(void)${name};", ret = "return ${value};", param = "long long ${name}", no_params = "void",
  offset_open = [[
static __device__ __forceinline__ long long
${name}(${params})
{
]],
  inverse_open = [[
static __device__ __forceinline__ int
${name}(long long a, ${leading}long long *out)
{
]],
  index_close = "}\n",
  -- loads and stores of a fragment: the registers of a lane
  tile_load_open = [[
static __device__ __forceinline__ void
${name}(unsigned int *r, const void *src, unsigned int f, unsigned int t)
{
]],
  tile_store_open = [[
static __device__ __forceinline__ void
${name}(void *dst, const unsigned int *r, unsigned int f, unsigned int t)
{
]],
  -- keywords of C++20 that are none of C++17
  reserved = "char8_t concept requires consteval constinit co_await co_return co_yield",
}
