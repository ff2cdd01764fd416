-- opencl.lua: the target OpenCL C 1.2.  Every field is explained in README.md.
-- The name of each number type and of its vector types, between two texts.
local function numbers(before, after)
  local s = ""
  for _, base in ipairs { "char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "float", "double", "half" } do
    for _, n in ipairs { "", "2", "3", "4", "8", "16" } do
      s = s .. before .. base .. n .. after .. " "
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
  index_more = "(long)(${index}) + ${more}",
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
${name}(long a, long *out)
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
  -- keywords, types, macros and functions of OpenCL C (1.2, 6.1, 6.9 and 6.12, and what 2.0 adds)
  reserved = numbers("", "") .. numbers("as_", "") .. numbers("convert_", "") .. numbers("convert_", "_*")
    .. "get_work_dim get_global_* get_local_* get_num_groups get_group_id get_enqueued_* get_image_* get_pipe_* get_default_queue get_kernel_* "
    .. "get_sub_group_* get_max_sub_group_size get_num_sub_groups get_fence atomic_add atomic_sub atomic_xchg atomic_inc atomic_dec atomic_cmpxchg "
    .. "atomic_min atomic_max atomic_and atomic_or atomic_xor atomic_init atomic_load atomic_load_explicit atomic_store atomic_store_explicit "
    .. "atomic_exchange atomic_exchange_explicit atomic_compare_exchange_* atomic_fetch_* atomic_flag* atomic_work_item_fence atomic_int "
    .. "atomic_uint atomic_long atomic_ulong atomic_float atomic_double atomic_half atom_add atom_sub atom_xchg atom_inc atom_dec atom_cmpxchg "
    .. "atom_min atom_max atom_and atom_or atom_xor vload2 vload3 vload4 vload8 vload16 vstore2 vstore3 vstore4 vstore8 vstore16 vload_half* "
    .. "vloada_half* vstore_half* vstorea_half* native_cos native_divide native_exp native_exp2 native_exp10 native_log native_log2 native_log10 "
    .. "native_powr native_recip native_rsqrt native_sin native_sqrt native_tan half_cos half_divide half_exp half_exp2 half_exp10 half_log "
    .. "half_log2 half_log10 half_powr half_recip half_rsqrt half_sin half_sqrt half_tan async_work_group_copy async_work_group_strided_copy "
    .. "read_imagef read_imageh read_imagei read_imageui write_imagef write_imageh write_imagei write_imageui work_group_all work_group_any "
    .. "work_group_barrier work_group_broadcast work_group_reduce_* work_group_scan_* work_group_reserve_* work_group_commit_* CL_* "
    .. "cl_khr_* cl_ext_* cl_amd_* cl_arm_* cl_intel_* cl_nv_* cl_qcom_* cl_img_* cl_channel_* cl_mem_fence_flags M_E M_E_* M_LOG* M_LN* M_PI* "
    .. "M_1_PI* M_2_PI* M_2_SQRTPI* M_SQRT* FP_CONTRACT FP_FAST_* FP_ILOGB* CHAR_BIT CHAR_MAX CHAR_MIN SCHAR_MAX SCHAR_MIN SHRT_MAX SHRT_MIN "
    .. "UCHAR_MAX USHRT_MAX LONG_MAX LONG_MIN ULONG_MAX HUGE_VAL HUGE_VALF sub_group_* CLK_* clk_* DBL_* FLT_* HALF_* INFINITY NAN MAXFLOAT "
    .. "constant generic pipe read_only write_only read_write uniform complex imaginary quad bool2 bool3 bool4 bool8 bool16 quad2 quad3 quad4 "
    .. "quad8 quad16 barrier mem_fence read_mem_fence write_mem_fence prefetch wait_group_events vec_step shuffle shuffle2 select bitselect any "
    .. "all dot cross distance length normalize fast_distance fast_length fast_normalize clamp degrees radians mix step smoothstep sign max min "
    .. "mad mad24 mul24 mad_hi mad_sat mul_hi add_sat sub_sat hadd rhadd abs_diff clz ctz popcount rotate upsample acospi asinpi atanpi atan2pi "
    .. "cospi sinpi tanpi exp10 fract maxmag minmag pown powr remquo rootn rsqrt sincos isequal isnotequal isgreater isgreaterequal isless "
    .. "islessequal islessgreater isfinite isinf isnan isnormal isordered isunordered signbit nextafter offsetof kernel_exec",
}
