-- opencl.lua: the target OpenCL C 1.2.  Every field is explained in README.md.
-- The number types and their vectors.
local function number_types()
  local s = ""
  for _, base in ipairs { "char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "float", "double", "half" } do
    for _, n in ipairs { "", "2", "3", "4", "8", "16" } do
      s = s .. base .. n .. " "
    end
  end
  return s
end

return {
  name = "opencl", model = "blocks",
  div = "/", mod = "%", xor = "^", ["and"] = "&", min = "ravel_min", max = "ravel_max",
  comment_open = "/* ", comment_line = " * ", comment_close = " */",
  comment = "/* ${text} */",
  index = "uint", index_wide = "long",
  index_more = "(long)(${index}) + ${more}", index_signed = "(int)(${index})",
  type1 = "uchar", type2 = "ushort", type4 = "uint", type8 = "uint2", type16 = "uint4",
  prologue = "blocks/opencl.h",
  kernel_open = [[
__kernel __attribute__((reqd_work_group_size(${threads}, 1, 1))) void
${name}(__global void *restrict dst, __global const void *restrict src${arrays})
{
]],
  close = "}\n",
  -- extents left to run time: the values that the host computes from them are in a buffer; a C file that includes this file gets the host's function
  runtime_file = "#ifdef __OPENCL_VERSION__\n",
  runtime_kernel = [[
__kernel __attribute__((reqd_work_group_size(${threads}, 1, 1))) void
${name}(__global void *restrict dst, __global const void *restrict src${arrays}, __constant long *values)
{
]],
  values_are = "constant buffer",
  runtime_close = "}\n",
  -- index arrays are arguments; another kernel with the same arguments checks their numbers
  array_32 = ", __global const int *restrict ${name}", array_64 = ", __global const long *restrict ${name}", array_bad = ", __global int *bad",
  array_stop = "if (*bad) return;", array_close = "}\n", array_host_close = "#endif\n",
  lookup = "const ${type} ${name} = (${type})${array}[${index}];", moved_open = "if (${name} != (${type})-1) {",
  check_open = [[

__kernel __attribute__((reqd_work_group_size(${threads}, 1, 1))) void
${name}_check(__global void *restrict dst, __global const void *restrict src${arrays})
{
    (void)dst; (void)src;
]],
  runtime_check_open = [[

__kernel __attribute__((reqd_work_group_size(${threads}, 1, 1))) void
${name}_check(__global void *restrict dst, __global const void *restrict src${arrays}, __constant long *values)
{
    (void)dst; (void)src;
]],
  check_close = "}\n", runtime_check_close = "}\n",
  check_numbers = [[
for (long e = (long)(get_group_id(1)*get_num_groups(0) + get_group_id(0))*${threads} + (long)get_local_id(0); e < ${count}; e += (long)(get_num_groups(0)*get_num_groups(1))*${threads})
        if (${array}[e] < ${least} || ${array}[e] > ${most}) *bad = ${number};]],
  value = "const ${type} ${name} = values[${index}];",
  divide = "ravel_divide(${value}, ${multiplier}, ${shift})",
  helpers = { { "ravel_divide", "blocks/divide.cl" } },
  host_open = "\n#else\n#include <stdint.h>\n",
  host_close = "#endif\n",
  shared = "__local uint4 shared[${vectors}];",
  grid_block = "get_group_id(0)", grid_block_rows = "(get_group_id(1)*get_num_groups(0) + get_group_id(0))",
  box_only = "{", box_first = "if (${block} < ${end}) {", box_open = "if (${block} >= ${first} && ${block} < ${end}) {", box_close = "}",
  block_first = "const ${type} b = (${type})${block};", block = "const ${type} b = (${type})${block} - ${first};",
  phase_open = "{ const ${type} t = (${type})get_local_id(0);", phase_close = "}",
  barrier = "barrier(CLK_LOCAL_MEM_FENCE);",
  for_open = "for (${type} ${name} = 0; ${name} < ${count}; ${name}++) {", for_close = "}",
  when_open = "if (${text}) {", else_open = "else {", when_close = "}",
  constant = "const ${type} ${name} = ${value};", assign = "${name} = ${value};", array = "${type} ${name}[${count}];",
  variable = "${type} ${name} = ${value};", put = "${name} = (${name} & ~(${mask} << (${at}))) | (${type})${value} << (${at});",
  load_dst = "((__global const ${type} *)dst)[${index}]",
  load = "((__global const ${type} *)src)[${index}]", load_shared = "((__local const ${type} *)shared)[${index}]",
  store = "((__global ${type} *)dst)[${index}] = ${value};", store_shared = "((__local ${type} *)shared)[${index}] = ${value};",
  vector2 = "(uint2)(${x}, ${y})", vector4 = "(uint4)(${x}, ${y}, ${z}, ${w})",
  permute = "ravel_permute(${x}, ${y}, ${pattern})",
  funnel = "(uint)(upsample(${y}, ${x}) >> (${at}))",
  nibbles_low = "(${x} & 0x0f0f0f0fu) | (${y} & 0x0f0f0f0fu) << 4", nibbles_high = "(${x} >> 4 & 0x0f0f0f0fu) | (${y} & 0xf0f0f0f0u)",
  -- index functions: the address of an element, and the element at an address
  let = "const long ${name} = ${value};", set = "out[${index}] = ${value};",
  check = "if (${value} < ${least} || ${value} > ${most}) return 0;", same = "if (${value} != ${other}) return 0;",
  unused = "(void)${name};", ret = "return ${value};", param = "long ${name}", no_params = "void",
  offset_open = [[
static inline long
${name}(${params})
{
]],
  inverse_open = [[
static inline int
${name}(long a, ${leading}long *out)
{
]],
  index_close = "}\n",
  -- loads and stores of a fragment: the registers of a lane; the tile is in local memory unless RAVEL_TILE is defined as __global
  load_tile = "((RAVEL_TILE const ${type} *)src)[${index}]", store_tile = "((RAVEL_TILE ${type} *)dst)[${index}] = ${value};",
  tile_load_open = [[
#ifndef RAVEL_TILE
#define RAVEL_TILE __local
#endif
static inline void
${name}(uint *r, RAVEL_TILE const void *src, uint f, uint t)
{
]],
  tile_store_open = [[
#ifndef RAVEL_TILE
#define RAVEL_TILE __local
#endif
static inline void
${name}(RAVEL_TILE void *dst, const uint *r, uint f, uint t)
{
]],
  -- keywords of OpenCL C that are none of C or C++ (3.0, 6.1.9), among which are its types
  reserved = number_types() .. "bool2 bool3 bool4 bool8 bool16 quad quad2 quad3 quad4 quad8 quad16 complex imaginary "
    .. "global local constant generic kernel read_only write_only read_write uniform pipe",
}
