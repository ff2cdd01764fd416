-- opencl.lua: the target OpenCL C 1.2.  Every field is explained in README.md.
return {
  name = "opencl", model = "blocks",
  div = "/", mod = "%", xor = "^", ["and"] = "&", min = "ravel_min", max = "ravel_max",
  comment_open = "/* ", comment_line = " * ", comment_close = " */",
  comment = "/* ${text} */",
  index = "uint", index_wide = "long",
  type1 = "uchar", type2 = "ushort", type4 = "uint", type8 = "uint2", type16 = "uint4",
  prologue = "blocks/opencl.h",
  kernel_open = [[
__kernel __attribute__((reqd_work_group_size(${threads}, 1, 1))) void
${name}(__global void *restrict dst, __global const void *restrict src)
{
]],
  close = "}\n",
  shared = "__local uint4 shared[${vectors}];",
  grid_block = "get_group_id(0)", grid_block_rows = "(get_group_id(1)*get_num_groups(0) + get_group_id(0))",
  box_only = "{", box_first = "if (${block} < ${end}) {", box_open = "if (${block} >= ${first} && ${block} < ${end}) {", box_close = "}",
  block_first = "const ${type} b = (${type})${block};", block = "const ${type} b = (${type})${block} - ${first};",
  phase_open = "{ const ${type} t = (${type})get_local_id(0);", phase_close = "}",
  barrier = "barrier(CLK_LOCAL_MEM_FENCE);",
  for_open = "for (${type} ${name} = 0; ${name} < ${count}; ${name}++) {", for_close = "}",
  when_open = "if (${text}) {", when_close = "}",
  constant = "const ${type} ${name} = ${value};", assign = "${name} = ${value};", array = "${type} ${name}[${count}];",
  variable = "${type} ${name} = ${value};", put = "${name} = (${name} & ~(${mask} << (${at}))) | (${type})${value} << (${at});",
  load_dst = "((__global const ${type} *)dst)[${index}]",
  load = "((__global const ${type} *)src)[${index}]", load_shared = "((__local const ${type} *)shared)[${index}]",
  store = "((__global ${type} *)dst)[${index}] = ${value};", store_shared = "((__local ${type} *)shared)[${index}] = ${value};",
  vector2 = "(uint2)(${x}, ${y})", vector4 = "(uint4)(${x}, ${y}, ${z}, ${w})",
  permute = "ravel_permute(${x}, ${y}, ${pattern})",
  nibbles_low = "(${x} & 0x0f0f0f0fu) | (${y} & 0x0f0f0f0fu) << 4", nibbles_high = "(${x} >> 4 & 0x0f0f0f0fu) | (${y} & 0xf0f0f0f0u)",
  -- the address of an index, and back
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
  -- a lane's registers from a tile, and back; the tile is in local memory, unless RAVEL_TILE says __global
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
  reserved = "get_* convert_* as_* atomic_* atom_* vload* vstore* native_* half_* async_work_group_* read_image* write_image* work_group_* sub_group_* "
    .. "CL_* CLK_* cl_* clk_* DBL_* FLT_* HALF_* FP_* M_* CHAR_* SCHAR_* SHRT_* UCHAR_* USHRT_* LONG_* ULONG_* HUGE_VAL* INFINITY NAN MAXFLOAT "
    .. "constant generic pipe read_only write_only read_write uniform complex imaginary quad bool2 bool3 bool4 bool8 bool16 char2 char3 char4 "
    .. "char8 char16 uchar2 uchar3 uchar4 uchar8 uchar16 short2 short3 short4 short8 short16 ushort2 ushort3 ushort4 ushort8 ushort16 int2 int3 "
    .. "int4 int8 int16 uint2 uint3 uint4 uint8 uint16 long2 long3 long4 long8 long16 ulong2 ulong3 ulong4 ulong8 ulong16 float2 float3 float4 "
    .. "float8 float16 double2 double3 double4 double8 double16 half2 half3 half4 half8 half16 quad2 quad3 quad4 quad8 quad16 barrier mem_fence "
    .. "read_mem_fence write_mem_fence prefetch wait_group_events vec_step shuffle shuffle2 select bitselect any all dot cross distance length "
    .. "normalize fast_distance fast_length fast_normalize clamp degrees radians mix step smoothstep sign max min mad mad24 mul24 mad_hi mad_sat "
    .. "mul_hi add_sat sub_sat hadd rhadd abs_diff clz ctz popcount rotate upsample acospi asinpi atanpi atan2pi cospi sinpi tanpi exp10 fract "
    .. "maxmag minmag pown powr remquo rootn rsqrt sincos isequal isnotequal isgreater isgreaterequal isless islessequal islessgreater isfinite "
    .. "isinf isnan isnormal isordered isunordered signbit nextafter offsetof kernel_exec",
}
