-- c.lua: the target C99.  Every field is explained in README.md.
return {
  name = "c",

  -- arithmetic on int64_t; operands of / and % are made non-negative first
  div = "/", mod = "%", xor = "^", ["and"] = "&",
  min = "ravel_min", max = "ravel_max",

  comment_open = "/* ", comment_line = " * ", comment_close = " */",
  comment = "/* ${text} */",

  for_open = "for (int64_t ${name} = 0; ${name} < ${count}; ${name}++) {",
  for_close = "}",
  call = "${symbol}(${args});",
  buffer = "${buffer} + ${value}",
  pattern = "0x${hex}u",
  let = "const int64_t ${name} = ${value};",
  set = "out[${index}] = ${value};",
  check = "if (${value} < ${least} || ${value} > ${most}) return 0;",
  same = "if (${value} != ${other}) return 0;",
  unused = "(void)${name};",
  ret = "return ${value};",

  relayout_open = [[
void
${name}(void *dst_, const void *src_)
{
    unsigned char *restrict dst = dst_;
    const unsigned char *restrict src = src_;
]],
  offset_open = [[
#ifdef __GNUC__
__attribute__((unused))
#endif
static inline int64_t
${name}(${params})
{
]],
  inverse_open = [[
#ifdef __GNUC__
__attribute__((unused))
#endif
static inline int
${name}(int64_t a, int64_t out[${rank}])
{
]],
  param = "int64_t ${name}", no_params = "void",
  close = "}\n",

  -- what stands before the function: in a file of its own; in the JIT, which
  -- has no headers and finds the kernels by symbol
  prologue = "c/prologue.h",
  jit_prologue = "c/jit.h",
  jit_kernels = "c/kernels.h",
  -- pasted where the function mentions them
  helpers = {
    { "ravel_min", "c/min.c" }, { "ravel_max", "c/max.c" },
    { "ravel_copy", "c/copy.c" },
    { "ravel_transpose", "c/transpose.c" },
    { "ravel_strided", "c/strided.c" },
    { "ravel_bits", "c/bits.c" },
    { "ravel_fill", "c/fill.c" },
    { "ravel_fill_bits", "c/fill_bits.c" },
  },
}
