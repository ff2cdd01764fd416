-- glsl.lua: the target GLSL: compute shaders for OpenGL 4.3, OpenGL ES 3.1 and Vulkan.  Every field is explained in README.md.
-- GLSL has no pointers.  Therefore a buffer is declared once for each width of access, at the same binding.  A kernel accesses a location in one width
-- only.  No extensions are used, so no access is narrower than a word.
local file = [[
#version 430

layout(local_size_x = ${threads}) in;

]]

-- the grid may have any shape with enough blocks; surplus blocks do nothing
local main = [[
void
main()
{
    uint group = gl_WorkGroupID.x + gl_NumWorkGroups.x*(gl_WorkGroupID.y + gl_NumWorkGroups.y*gl_WorkGroupID.z);
]]

-- Each word of `first` followed by each of `last`.
local function pairs_of(first, last)
  local s = ""
  for _, a in ipairs(first) do
    for _, b in ipairs(last) do
      s = s .. a .. b .. " "
    end
  end
  return s
end

-- The types among the keywords and reserved words of GLSL (4.60, 3.6) that are none of C or C++; `reserved` adds the others.
local types = pairs_of({ "", "b", "d", "f", "h", "i", "u" }, { "vec2", "vec3", "vec4" })
  .. pairs_of({ "mat2", "mat3", "mat4", "dmat2", "dmat3", "dmat4" }, { "", "x2", "x3", "x4" })
  .. pairs_of({ "image", "iimage", "uimage", "sampler", "isampler", "usampler", "texture", "itexture", "utexture" },
              { "1D*", "2D*", "3D*", "Cube*", "Buffer*", "Rect*" })
  .. pairs_of({ "", "i", "u" }, { "subpassInput*" }) .. "sampler samplerShadow samplerExternal* "

return {
  name = "glsl", model = "blocks",
  access_least = 4, index_bits = 32, shared_most = 16384, grid_side = 65535,
  entry = "main", argument = "storage buffer", binding_dst = 0, binding_src = 1,
  div = "/", mod = "%", xor = "^", ["and"] = "&", min = "min", max = "max", suffix = "u",
  comment_open = "/* ", comment_line = " * ", comment_close = " */",
  comment = "/* ${text} */",
  index = "uint", index_wide = "uint",
  type1 = "uint", type2 = "uint", type4 = "uint", type8 = "uvec2", type16 = "uvec4",
  file_open = file,
  prologue_text = "",
  buffer_dst = "layout(std430, binding = ${binding}) restrict buffer Dst${width} { ${type} dst${width}[]; };",
  buffer_src = "layout(std430, binding = ${binding}) restrict readonly buffer Src${width} { ${type} src${width}[]; };",
  shared = "", shared_in_file = "shared ${type} tile[${count}];",
  kernel_open = main,
  close = "}\n",
  -- extents left to run time: a buffer has the lower 32 bits of each value that the host computes from them
  binding_values = 2, values_are = "storage buffer",
  runtime_file = file,
  runtime_kernel = [[
layout(std430, binding = ${binding}) restrict readonly buffer Values { uint values[]; };

]] .. main,
  runtime_close = "}\n",
  value = "${type} ${name} = values[${index}];",
  divide = "ravel_divide(${value}, ${multiplier}, ${shift})",
  grid_block = "group", grid_block_rows = "group",
  box_only = "if (${block} < ${end}) {", box_first = "if (${block} < ${end}) {", box_open = "if (${block} >= ${first} && ${block} < ${end}) {", box_close = "}",
  block_first = "${type} b = ${block};", block = "${type} b = ${block} - ${first};",
  phase_open = "{ ${type} t = gl_LocalInvocationID.x;", phase_close = "}",
  barrier = "memoryBarrierShared(); barrier();",
  for_open = "for (${type} ${name} = 0u; ${name} < ${count}u; ${name}++) {", for_close = "}",
  when_open = "if (${text}) {", else_open = "else {", when_close = "}",
  constant = "${type} ${name} = ${value};", assign = "${name} = ${value};", array = "${type} ${name}[${count}];",
  variable = "${type} ${name} = ${value};", put = "${name} = (${name} & ~(${mask} << (${at}))) | ${value} << (${at});",
  load_dst = "dst${width}[${index}]",
  load = "src${width}[${index}]", load_shared = "tile[${index}]",
  load_shared_2 = "uvec2(tile[2u*(${index})], tile[2u*(${index}) + 1u])",
  load_shared_4 = "uvec4(tile[4u*(${index})], tile[4u*(${index}) + 1u], tile[4u*(${index}) + 2u], tile[4u*(${index}) + 3u])",
  store = "dst${width}[${index}] = ${value};", store_shared = "tile[${index}] = ${value};",
  store_shared_2 = "{ uint at = 2u*(${index}); uvec2 word = ${value}; tile[at] = word.x; tile[at + 1u] = word.y; }",
  store_shared_4 = "{ uint at = 4u*(${index}); uvec4 word = ${value}; tile[at] = word.x; tile[at + 1u] = word.y; tile[at + 2u] = word.z; tile[at + 3u] = word.w; }",
  vector2 = "uvec2(${x}, ${y})", vector4 = "uvec4(${x}, ${y}, ${z}, ${w})",
  permute = "ravel_permute(${x}, ${y}, ${pattern}u)",
  funnel = "${x} >> (${at}) | ${y} << 1 << (31u - (${at}))",
  nibbles_low = "(${x} & 0x0f0f0f0fu) | (${y} & 0x0f0f0f0fu) << 4", nibbles_high = "(${x} >> 4 & 0x0f0f0f0fu) | (${y} & 0xf0f0f0f0u)",
  helpers = { { "ravel_permute", "blocks/permute.glsl" }, { "ravel_divide", "blocks/divide.glsl" } },
  -- index functions: the address of an element, and the element at an address
  let = "int ${name} = ${value};", set = "index[${index}] = ${value};",
  check = "if (${value} < ${least} || ${value} > ${most}) return 0;", same = "if (${value} != ${other}) return 0;",
  unused = "/* ${name} is 0 */", ret = "return ${value};", param = "int ${name}", no_params = "void",
  offset_open = [[
int
${name}(${params})
{
]],
  inverse_open = [[
int
${name}(int a, ${leading}out int index[${rank}])
{
]],
  index_close = "}\n",
  reserved = types .. "gl_* active atomic_uint attribute buffer cast centroid coherent common devicecoherent discard external filter fixed flat half "
    .. "highp in inout input interface invariant layout lowp mediump noinline nonprivate noperspective output partition patch precise precision "
    .. "queuefamilycoherent readonly resource sample shadercallcoherent shared smooth subgroupcoherent subroutine superp uint uniform varying "
    .. "workgroupcoherent writeonly",
}
