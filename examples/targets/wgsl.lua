-- wgsl.lua: compute shaders for WebGPU.  ravel emit ... --target examples/targets/wgsl.lua; templates/README.md explains every field.
-- A binding has one type and there are no pointers to buffers.  Therefore buffers are words, and vectors are made of words by functions.
-- In WGSL an operand of a shift, of & and of | is in parentheses unless it is a name, a number or a call.
local words = [[
@group(0) @binding(0) var<storage, read_write> dst: array<u32>;
@group(0) @binding(1) var<storage, read> src: array<u32>;

fn load4(i: u32) -> u32 { return src[i]; }
fn load8(i: u32) -> vec2u { return vec2u(src[2u*i], src[2u*i + 1u]); }
fn load16(i: u32) -> vec4u { return vec4u(src[4u*i], src[4u*i + 1u], src[4u*i + 2u], src[4u*i + 3u]); }

fn store4(i: u32, v: u32) { dst[i] = v; }
fn store8(i: u32, v: vec2u) { dst[2u*i] = v.x; dst[2u*i + 1u] = v.y; }
fn store16(i: u32, v: vec4u) { dst[4u*i] = v.x; dst[4u*i + 1u] = v.y; dst[4u*i + 2u] = v.z; dst[4u*i + 3u] = v.w; }

/* Four bytes of x (numbers 0 to 3) and y (4 to 7): each hexadecimal digit of s selects one. */
fn byte(x: u32, y: u32, s: u32) -> u32 { return extractBits(select(x, y, extractBits(s, 2u, 1u) == 1u), 8u*extractBits(s, 0u, 2u), 8u); }
fn permute(x: u32, y: u32, s: u32) -> u32 {
    return byte(x, y, s) | (byte(x, y, s >> 4u) << 8u) | (byte(x, y, s >> 8u) << 16u) | (byte(x, y, s >> 12u) << 24u);
}

]]

local divide = [[
@group(0) @binding(2) var<storage, read> values: array<u32>;

/* The upper half of the product, then the quotient. */
fn high(x: u32, y: u32) -> u32 {
    let a = x >> 16u;
    let b = extractBits(x, 0u, 16u);
    let c = y >> 16u;
    let d = extractBits(y, 0u, 16u);
    let middle = a*d + ((b*d) >> 16u);
    return a*c + (middle >> 16u) + ((extractBits(middle, 0u, 16u) + b*c) >> 16u);
}
fn divide(x: u32, multiplier: u32, shift: u32) -> u32 { return (high(x, multiplier) + x) >> shift; }

]]

local main = [[
@compute @workgroup_size(${threads})
fn ${name}(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) all: vec3u, @builtin(local_invocation_index) lane: u32)
{
    let group: u32 = id.x + all.x*(id.y + all.y*id.z);
]]

return {
  name = "wgsl", model = "blocks",
  access_least = 4, index_bits = 32, shared_most = 16384, grid_side = 65535,
  argument = "storage buffer", binding_dst = 0, binding_src = 1,
  div = "/", mod = "%", xor = "^", ["and"] = "&", min = "min", max = "max", suffix = "u",
  comment_open = "/* ", comment_line = " * ", comment_close = " */", comment = "/* ${text} */",
  index = "u32", index_wide = "u32", type1 = "u32", type2 = "u32", type4 = "u32", type8 = "vec2u", type16 = "vec4u",
  prologue_text = words,
  shared = "", shared_in_file = "var<workgroup> tile: array<${type}, ${count}>;",
  kernel_open = main, close = "}\n",
  binding_values = 2, values_are = "storage buffer",
  runtime_file = divide, runtime_kernel = main, runtime_close = "}\n",
  value = "let ${name}: ${type} = values[${index}];", divide = "divide(${value}, ${multiplier}, ${shift})",
  grid_block = "group", grid_block_rows = "group",
  box_only = "if (${block} < ${end}) {", box_first = "if (${block} < ${end}) {", box_open = "if (${block} >= ${first} && ${block} < ${end}) {", box_close = "}",
  block_first = "let b: ${type} = ${block};", block = "let b: ${type} = ${block} - ${first};",
  phase_open = "{ let t: ${type} = lane;", phase_close = "}", barrier = "workgroupBarrier();",
  for_open = "for (var ${name}: ${type} = 0u; ${name} < ${count}u; ${name}++) {", for_close = "}",
  when_open = "if (${text}) {", else_open = "else {", when_close = "}",
  constant = "let ${name}: ${type} = ${value};", variable = "var ${name}: ${type} = ${value};", assign = "${name} = ${value};",
  array = "var ${name}: array<${type}, ${count}>;",
  put = "${name} = (${name} & ~(${mask} << (${at}))) | ((${value}) << (${at}));",
  load = "load${width}(${index})", load_dst = "dst[${index}]", store = "store${width}(${index}, ${value});",
  load_shared = "tile[${index}]", store_shared = "tile[${index}] = ${value};",
  load_shared_2 = "vec2u(tile[2u*(${index})], tile[2u*(${index}) + 1u])",
  load_shared_4 = "vec4u(tile[4u*(${index})], tile[4u*(${index}) + 1u], tile[4u*(${index}) + 2u], tile[4u*(${index}) + 3u])",
  store_shared_2 = "{ let at = 2u*(${index}); let word = ${value}; tile[at] = word.x; tile[at + 1u] = word.y; }",
  store_shared_4 = "{ let at = 4u*(${index}); let word = ${value}; tile[at] = word.x; tile[at + 1u] = word.y; tile[at + 2u] = word.z; tile[at + 3u] = word.w; }",
  vector2 = "vec2u(${x}, ${y})", vector4 = "vec4u(${x}, ${y}, ${z}, ${w})",
  permute = "permute(${x}, ${y}, ${pattern}u)",
  funnel = "((${x}) >> (${at})) | (((${y}) << 1u) << (31u - (${at})))",
  nibbles_low = "((${x}) & 0x0f0f0f0fu) | (((${y}) & 0x0f0f0f0fu) << 4u)", nibbles_high = "(((${x}) >> 4u) & 0x0f0f0f0fu) | ((${y}) & 0xf0f0f0f0u)",
  let = "let ${name}: i32 = ${value};", set = "(*index)[${index}] = ${value};",
  check = "if (${value} < ${least} || ${value} > ${most}) { return 0; }", same = "if (${value} != ${other}) { return 0; }",
  unused = "_ = ${name};", ret = "return ${value};", param = "${name}: i32", no_params = " ",
  offset_open = "fn ${name}(${params}) -> i32\n{\n", inverse_open = "fn ${name}(a: i32, index: ptr<function, array<i32, ${rank}>>) -> i32\n{\n", index_close = "}\n",
  -- keywords, reserved words and names that the text above declares; those of C and C++ are refused in any target
  reserved = [[
alias const_assert continue diagnostic discard enable f16 f32 fallthrough fn i32 let loop override requires u32 var
NULL Self abstract active as async atomic attribute await become cast coherent common crate debugger delete demote delegate filter final finally fixed from
fxgroup get global groupshared highp impl implements import in inout instanceof interface is item lowp macro match mediump meta mod module mut new nil
noinline nointerpolation non_coherent noncoherent noperspective null of out package partition pass patch pixelfragment precise precision premerge
pub readonly ref regardless resource restrict self set shared smooth snorm source subroutine super target tech texture trait type unless unorm
unsized use varying where with writeonly yield
dst src load4 load8 load16 store4 store8 store16 byte permute values high divide tile vec2u vec4u array select extractBits min max workgroupBarrier]],
}
