-- blocks.lua: blocks of threads in plain C11, for tests and tools without a device.  A call executes one block, its threads one after another.
-- Every field is explained in README.md.
return {
  name = "blocks", model = "blocks",
  div = "/", mod = "%", xor = "^", ["and"] = "&", min = "ravel_min", max = "ravel_max",
  comment_open = "/* ", comment_line = " * ", comment_close = " */",
  comment = "/* ${text} */",
  index = "uint32_t", index_wide = "int64_t",
  type1 = "uint8_t", type2 = "uint16_t", type4 = "uint32_t", type8 = "ravel_u2", type16 = "ravel_u4",
  prologue = "blocks/blocks.h",
  kernel_open = [[
static void
${name}_block(unsigned char *restrict dst, const unsigned char *restrict src${arrays}, int64_t block)
{
    (void)block;
]],
  close = [[
}

/* A grid of ${blocks} blocks. */
void
${name}(void *dst, const void *src)
{
    for (int64_t block = 0; block < ${blocks}; block++)
        ${name}_block(dst, src, block);
}
]],
  -- pairs of buffers: a grid for each of the first n
  batch_kernel = [[
struct ${name}_pairs { void *dst[${pairs}]; const void *src[${pairs}]; };

static void
${name}_block(unsigned char *restrict dst, const unsigned char *restrict src, int64_t block)
{
    (void)block;
]],
  batch_close = [[
}

/* A grid of ${blocks} blocks for each of the first n pairs. */
void
${name}(const struct ${name}_pairs *pairs, int64_t n)
{
    for (int64_t i = 0; i < n * ${blocks}; i++)
        ${name}_block(pairs->dst[i / ${blocks}], pairs->src[i / ${blocks}], i % ${blocks});
}
]],
  batch_runtime_kernel = [[
struct ${name}_pairs { void *dst[${pairs}]; const void *src[${pairs}]; };

static void
${name}_block(unsigned char *restrict dst, const unsigned char *restrict src, const int64_t *values, int64_t block)
{
    (void)values;
    (void)block;
]],
  batch_host_close = [[

int
${name}(const struct ${name}_pairs *pairs, int64_t n, ${params})
{
    int64_t src_bytes, dst_bytes, blocks, values[${values}];
    if (${name}_arguments(${extents}, &src_bytes, &dst_bytes, &blocks, values)) return 1;
    for (int64_t i = 0; i < n; i++)
        for (int64_t block = 0; block < blocks; block++)
            ${name}_block(pairs->dst[i], pairs->src[i], values, block);
    return 0;
}
]],
  -- extents left to run time: the values that the host computes from them, and the host's function that launches the kernel
  runtime_kernel = [[
static void
${name}_block(unsigned char *restrict dst, const unsigned char *restrict src${arrays}, const int64_t *values, int64_t block)
{
    (void)values;
    (void)block;
]],
  values_are = "pointer",
  runtime_close = "}\n",
  -- index arrays: another kernel, whose grid is run first, checks their numbers
  array_32 = ", const int32_t *${name}", array_64 = ", const int64_t *${name}", array_bad = ", int *bad",
  array_stop = "if (*bad) return;", array_close = "}\n",
  lookup = "const ${type} ${name} = (${type})${array}[${index}];", moved_open = "if (${name} != (${type})-1) {",
  check_numbers = [[
for (int64_t t = 0; t < ${threads}; t++)
        for (int64_t e = block*${threads} + t; e < ${count}; e += blocks*${threads})
            if (${array}[e] < ${least} || ${array}[e] > ${most}) *bad = ${number};]],
  check_open = [[

static void
${name}_check(int64_t block${arrays})
{
    const int64_t blocks = ${blocks};
]],
  check_close = [[
}

/* A grid of ${blocks} blocks, after one that checks the numbers. */
void
${name}(void *dst, const void *src${arrays})
{
    for (int64_t block = 0; block < ${blocks}; block++)
        ${name}_check(block${names});
    for (int64_t block = 0; block < ${blocks}; block++)
        ${name}_block(dst, src${names}, block);
}
]],
  runtime_check_open = [[

static void
${name}_check(int64_t block, int64_t blocks, const int64_t *values${arrays})
{
    (void)values;
]],
  runtime_check_close = "}\n",
  array_host_close = [[

int
${name}(void *dst, const void *src${arrays}, ${params})
{
    int64_t src_bytes, dst_bytes, blocks, values[${values}];
    if (${name}_arguments(${extents}, &src_bytes, &dst_bytes, &blocks, values)) return 1;
    for (int64_t block = 0; block < blocks; block++)
        ${name}_check(block, blocks, values${names});
    for (int64_t block = 0; block < blocks; block++)
        ${name}_block(dst, src${names}, values, block);
    return 0;
}
]],
  value = "const ${type} ${name} = (${type})values[${index}];",
  divide = "ravel_divide(${value}, ${multiplier}, ${shift})",
  host_open = "\n#undef ravel_min\n#undef ravel_max\n",
  host_close = [[

int
${name}(void *dst, const void *src, ${params})
{
    int64_t src_bytes, dst_bytes, blocks, values[${values}];
    if (${name}_arguments(${extents}, &src_bytes, &dst_bytes, &blocks, values)) return 1;
    for (int64_t block = 0; block < blocks; block++)
        ${name}_block(dst, src, values, block);
    return 0;
}
]],
  helpers = { { "ravel_divide", "blocks/divide.h" } },
  shared = "_Alignas(128) unsigned char shared[16 * ${vectors}];",
  grid_block = "block", grid_block_rows = "block",
  box_only = "{", box_first = "if (${block} < ${end}) {", box_open = "if (${block} >= ${first} && ${block} < ${end}) {", box_close = "}",
  block_first = "const ${type} b = (${type})${block};", block = "const ${type} b = (${type})(${block} - ${first});",
  phase_open = "for (${type} t = 0; t < ${threads}; t++) {", phase_close = "}",
  barrier = "RAVEL_BARRIER();",
  for_open = "for (${type} ${name} = 0; ${name} < ${count}; ${name}++) {", for_close = "}",
  when_open = "if (${text}) {", else_open = "else {", when_close = "}",
  constant = "const ${type} ${name} = ${value};", assign = "${name} = ${value};", array = "${type} ${name}[${count}];",
  variable = "${type} ${name} = ${value};", put = "${name} = (${name} & ~(${mask} << (${at}))) | (${type})${value} << (${at});",
  load_dst = "RAVEL_LOAD(${type}, dst, ${index})",
  load = "RAVEL_LOAD(${type}, src, ${index})", load_shared = "RAVEL_LOAD(${type}, shared, ${index})",
  store = "RAVEL_STORE(${type}, dst, ${index}, ${value});", store_shared = "RAVEL_STORE(${type}, shared, ${index}, ${value});",
  vector2 = "ravel_make2(${x}, ${y})", vector4 = "ravel_make4(${x}, ${y}, ${z}, ${w})",
  permute = "ravel_permute(${x}, ${y}, ${pattern})",
  funnel = "${x} >> (${at}) | ${y} << 1 << (31 - (${at}))",
  nibbles_low = "(${x} & 0x0f0f0f0fu) | (${y} & 0x0f0f0f0fu) << 4", nibbles_high = "(${x} >> 4 & 0x0f0f0f0fu) | (${y} & 0xf0f0f0f0u)",
  -- index functions: the address of an element, and the element at an address
  let = "const int64_t ${name} = ${value};", set = "out[${index}] = ${value};",
  check = "if (${value} < ${least} || ${value} > ${most}) return 0;", same = "if (${value} != ${other}) return 0;",
  unused = "(void)${name};", ret = "return ${value};", param = "int64_t ${name}", no_params = "void",
  offset_open = [[
static inline int64_t
${name}(${params})
{
]],
  inverse_open = [[
static inline int
${name}(int64_t a, ${leading}int64_t *out)
{
]],
  index_close = "}\n",
  -- loads and stores of a fragment: the registers of a lane
  tile_load_open = [[
static inline void
${name}(uint32_t *r, const unsigned char *src, uint32_t f, uint32_t t)
{
]],
  tile_store_open = [[
static inline void
${name}(unsigned char *dst, const uint32_t *r, uint32_t f, uint32_t t)
{
]],
}
