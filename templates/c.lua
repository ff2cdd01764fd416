-- c.lua: the target C99.  Every field is explained in README.md.

return {
  name = "c", model = "functions",

  -- arithmetic on int64_t; operands of / and % are made non-negative first
  div = "/", mod = "%", xor = "^", ["and"] = "&",
  min = "ravel_min", max = "ravel_max",

  comment_open = "/* ", comment_line = " * ", comment_close = " */",
  comment = "/* ${text} */",

  for_open = "for (int64_t ${name} = 0; ${name} < ${count}; ${name}++) {",
  for_step = "for (int64_t ${name} = 0; ${name} < ${count}; ${name} += ${step}) {",
  for_split = "for (int64_t ${name} = ${iterations}*part/parts; ${name} < ${iterations}*(part + 1)/parts; ${name}++) {",
  for_split_step = "for (int64_t ${name} = ${iterations}*part/parts*${step}; ${name} < ravel_min(${count}, ${iterations}*(part + 1)/parts*${step}); ${name} += ${step}) {",
  for_close = "}",
  alone_open = "if (part == ${count} % parts) {", alone_close = "}",
  fence = "ravel_fence();",
  call = "${symbol}(${args});",
  table_open = "static const int32_t ${name}[${count}] = {", table_close = "};",
  table = "int32_t ${name}[${count}];",
  buffer = "${buffer} + ${value}",
  pattern = "0x${hex}u", pattern_of = "(uint64_t)(${value})",
  let = "const int64_t ${name} = ${value};",
  set = "out[${index}] = ${value};", set_upper = "out[${index}] = (int64_t)((uint64_t)(${value}) >> 32);",
  check = "if (${value} < ${least} || ${value} > ${most}) return 0;",
  same = "if (${value} != ${other}) return 0;",
  unused = "(void)${name};",
  ret = "return ${value};",

  relayout_open = [[
void
${name}(void *dst_, const void *src_)
{
    unsigned char *RAVEL_RESTRICT dst = (unsigned char *)dst_;
    const unsigned char *RAVEL_RESTRICT src = (const unsigned char *)src_;
]],
  -- a function for part `part` of `parts` of the work, and one for all parts, by OpenMP threads if OpenMP is enabled
  part_open = [[
/* Part number `part` of `parts`, which threads may do at the same time.  Nothing is checked. */
void
${name}_part(void *dst_, const void *src_, ${leading}int64_t part, int64_t parts)
{
    unsigned char *RAVEL_RESTRICT dst = (unsigned char *)dst_;
    const unsigned char *RAVEL_RESTRICT src = (const unsigned char *)src_;
]],
  parts = [[
void
${name}(void *dst_, const void *src_)
{
#ifdef _OPENMP
#pragma omp parallel
    ${name}_part(dst_, src_, omp_get_thread_num(), omp_get_num_threads());
#else
    ${name}_part(dst_, src_, 0, 1);
#endif
}
]],
  -- the same if each thread does `turns` parts, one after another
  turns = [[
void
${name}(void *dst_, const void *src_)
{
#ifdef _OPENMP
#pragma omp parallel
    {
        const int64_t part = omp_get_thread_num(), parts = omp_get_num_threads();
        const int64_t turns = parts < ${turns} ? ${turns}/parts : 1;
        for (int64_t i = 0; i < turns; i++)
            ${name}_part(dst_, src_, part*turns + i, parts*turns);
    }
#else
    for (int64_t i = 0; i < ${turns}; i++)
        ${name}_part(dst_, src_, i, ${turns});
#endif
}
]],
  -- of a buffer within itself: the function, its passes
  in_place_open = [[

/* buffer: ${bytes} bytes; scratch, aligned to 8 bytes: ${name}_room bytes */
void
${name}(void *buffer, void *scratch)
{
    unsigned char *b = (unsigned char *)buffer, *s = (unsigned char *)scratch;
    (void)b, (void)s;
]],
  in_place_blocks = [[
    for (int64_t i = 0; i < ${count}; i++) {
        s[${bytes} - 1] = b[${bytes}*i + ${bytes} - 1];
        ${symbol}(s, b + ${bytes}*i);
        memcpy(b + ${bytes}*i, s, ${bytes});
    }
]],
  in_place_cycles = [[
    for (int64_t i = 0; i < ${count}; i++) {
        static const int64_t extent[] = {${extents}}, stride[] = {${strides}};
        ravel_cycles(b + ${bytes}*i, s, ${items}, ${item}, ${item}, ${digits}, extent, stride);
    }
]],
  in_place_matrix = [[
    for (int64_t i = 0; i < ${count}; i++)
        ravel_matrix(b + ${bytes}*i, s, ${room}, ${rows}, ${cols}, ${item});
]],
  prototype_in_place = "enum { ${name}_room = ${room} };\nvoid ${name}(void *buffer, void *scratch);",
  -- one of the functions of a sparse conversion
  sparse_open = [[
int
${name}(void *work, const void *const *in, const int64_t *n, void *const *out, int64_t *m)
{
    ravel_stream *s = (ravel_stream *)work;
    (void)s, (void)in, (void)n, (void)out, (void)m;
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
${name}(int64_t a, ${leading}int64_t out[${rank}])
{
]],
  visit_open = [[

/* calls visit(arg, a, x) for each element in the order of storage, with its storage index a and its logical index x;
 * stops if that returns another number than 0, and returns it */
#ifdef __GNUC__
__attribute__((unused))
#endif
static inline int
${visit}(${leading}int (*visit)(void *arg, int64_t a, const int64_t *x), void *arg)
{
]],
  visit_close = [[
    int64_t x[${rank}];
    int stop = 0;
    for (int64_t a = 0; a < ${slots} && !stop; a++)
        if (${name}(a, ${extents}x))
            stop = visit(arg, a, x);
    return stop;
}
]],
  -- with extents as arguments: their ranges, the sizes of the buffers, a part of the work, all parts
  -- threads share the outer loop if it has at least as many iterations as there are threads, else the inner one
  for_outer = "for (int64_t ${name} = ${outer} < parts ? 0 : ${iterations}*part/parts; ${name} < (${outer} < parts ? ${count} : ${iterations}*(part + 1)/parts); ${name}++) {",
  for_inner = "for (int64_t ${name} = ${outer} < parts ? ${iterations}*part/parts : 0; ${name} < (${outer} < parts ? ${iterations}*(part + 1)/parts : ${count}); ${name}++) {",
  for_inner_step = "for (int64_t ${name} = ${outer} < parts ? ${iterations}*part/parts*${step} : 0; ${name} < (${outer} < parts ? ravel_min(${count}, ${iterations}*(part + 1)/parts*${step}) : ${count}); ${name} += ${step}) {",
  when_open = "if (${condition}) {", when_close = "}",
  refuse = "if (${value} < ${least} || ${value} > ${most}) return 1;",
  size = "int64_t ${name} = ${value};",
  times = "${name} = ravel_times(${name}, ${value});",
  round = "${name} = ravel_round(${name}, ${index});",
  fits = "if (${name} < 0) return 1;",
  bytes = "*${name} = ${value};",
  -- index arrays: the parameter, a number, the check of all
  param_array = "const int${bits}_t *${name}",
  lookup = "const int64_t ${name} = ${array}[${value}];",
  numbers = "if (ravel_outside(${array}, ${count}, ${value}, ${least}, ${most}) || ravel_overlap(${array}, (${value})*(${count}/8), dst, dst_bytes)) return 1;",
  -- the host's part of a kernel for blocks of threads: sizes, blocks and the kernel's arguments
  divisor = "ravel_divisor(out + ${index}, ${most});",
  values_open = [[
/* bytes of both buffers, blocks of the grid and arguments of the kernel; 1 if an extent is not valid or a size does not fit */
#ifdef __GNUC__
__attribute__((unused))
#endif
static inline int
${name}_arguments(${params}, int64_t *src_bytes, int64_t *dst_bytes, int64_t *blocks, int64_t out[${values}])
{
    (void)out;
]],
  sizes_open = [[
/* bytes of both buffers; 1 if an extent is not valid or a size does not fit */
int
${name}_bytes(${params}, int64_t *src_bytes, int64_t *dst_bytes)
{
]],
  -- sizes and overlap are checked before the work is done
  runtime = [[
int
${name}(void *dst, const void *src, ${params})
{
]],
  sizes_check = [[
    int64_t src_bytes, dst_bytes;
    if (${name}_bytes(${extents}, &src_bytes, &dst_bytes)) return 1;
    if (dst_bytes == 0) return 0;
    if ((uintptr_t)dst - (uintptr_t)src < (uintptr_t)src_bytes) return 1;
    if (src_bytes > 0 && (uintptr_t)src - (uintptr_t)dst < (uintptr_t)dst_bytes) return 1;
]],
  runtime_run = [[
#ifdef _OPENMP
#pragma omp parallel if(dst_bytes >= ${split})
    ${name}_part(dst, src, ${extents}, omp_get_thread_num(), omp_get_num_threads());
#else
    ${name}_part(dst, src, ${extents}, 0, 1);
#endif
    return 0;
}
]],
  -- the JIT has one signature: a part of the work, and an array of extents
  jit_open = [[
int
${name}(void *dst_, const void *src_, const int64_t *extents, int64_t part, int64_t parts)
{
    unsigned char *restrict dst = dst_;
    const unsigned char *restrict src = src_;
]],
  -- what that has: an extent, an index array
  element = "const int64_t ${name} = extents[${index}];",
  element_array = "const int${bits}_t *${name} = (const int${bits}_t *)extents[${index}];",
  jit_close = "    return 0;\n}\n",
  -- and gets its tables before the first call
  place = "static const int32_t *${name};",
  places_open = "\nvoid\n${name}_tables(const int32_t *const *tables)\n{\n",
  place_set = "${name} = tables[${index}];",
  places_close = "}\n\n",
  -- declarations: in the file before the functions, and in its header
  prototype = "void ${name}(void *dst, const void *src);",
  prototype_part = "void ${name}_part(void *dst, const void *src, ${leading}int64_t part, int64_t parts);",
  prototype_runtime = [[
int ${name}_bytes(${params}, int64_t *src_bytes, int64_t *dst_bytes);
int ${name}(void *dst, const void *src, ${params});]],
  prototype_sparse = "int ${name}(void *work, const void *const *in, const int64_t *n, void *const *out, int64_t *m);",
  prototypes_open = "#ifdef __cplusplus\nextern \"C\" {\n#endif\n",
  prototypes_close = "#ifdef __cplusplus\n}\n#endif\n",
  header_open = "#ifndef ${guard}\n#define ${guard}\n#include <stdint.h>\n\n",
  header_close = "#endif\n",
  -- of buffers that a machine of 32 bits does not have
  address_space = [[
#if PTRDIFF_MAX < ${bytes}
#error "${name}: a buffer of ${bytes} bytes does not fit this machine's address space"
#endif
]],
  param = "int64_t ${name}", no_params = "void",
  close = "}\n", index_close = "}\n",

  -- the text in front of the function: in a file; in the JIT, which has no headers and finds the kernels by symbol
  prologue = "c/prologue.h",
  jit_prologue = "c/jit.h",
  -- the folder of the kernels' text, of which their records name the files
  kernels = "c/",
  -- other helpers, included if the function calls them, each file once
  helpers = {
    { "ravel_min", "c/min.c" }, { "ravel_max", "c/max.c" },
    { "ravel_times", "c/times.c" }, { "ravel_round", "c/times.c", "c/round.c" },
    { "ravel_divisor", "c/divisor.c" },
    { "ravel_outside", "c/outside.c" }, { "ravel_overlap", "c/overlap.c" },
    { "ravel_fence", "c/fence.c" }, { "ravel_table_add", "c/table_add.c" },
    { "ravel_cycles", "c/move.h", "c/prefetch.h", "c/cycles.c" }, { "ravel_matrix", "c/move.h", "c/matrix.c" },
    { "omp_get_thread_num", "c/openmp.h" },
    { "ravel_stream_open", "c/line_size.h", "c/sparse_size.h", "c/sparse.h", "c/sparse_check.c", "c/sparse_read.c", "c/sparse_value.c", "c/sparse_packed.c", "c/sparse_work.c", "c/sparse_write.c" },
    { "ravel_stream_mark", "c/sparse_mask.c" }, { "ravel_stream_spread", "c/fence.c", "c/sparse_copy.c", "c/sparse_spread.c" }, { "ravel_stream_transpose", "c/sparse_turn.c", "c/sparse_far.c", "c/sparse_transpose.c" }, { "ravel_stream_tiles", "c/fence.c", "c/sparse_copy.c", "c/sparse_set.c", "c/sparse_tile.c" },
    { "ravel_stream_find_strips", "c/sparse_bitmap.c", "c/sparse_strip.c" },
    { "ravel_stream_untile", "c/sparse_mask.c", "c/sparse_set.c", "c/sparse_untile.c" },
    { "ravel_stream_ordered", "c/sparse_ordered.c" }, { "ravel_stream_in_rows", "c/fence.c", "c/sparse_copy.c", "c/sparse_ordered_rows.c" }, { "ravel_stream_bucket", "c/sparse_bucket.c" }, { "ravel_stream_columns", "c/sparse_columns.c" },
    { "ravel_stream_sorted", "c/sparse_bucket.c", "c/sparse_digits.c", "c/sparse_digits_sort4.h", "c/sparse_digits_sort8.h", "c/sparse_hashed.c", "c/sparse_sorted.c", "c/sparse_grouped.c", "c/sparse_late.c", "c/sparse_placed.c" },
    { "ravel_stream_merge", "c/sparse_set.c", "c/sparse_bucket.c", "c/sparse_merge.c" },
    { "ravel_stream_untally", "c/sparse_rank.c" }, { "ravel_stream_check_ranked", "c/sparse_rank.c" }, { "ravel_stream_check_slices", "c/sparse_rank.c" },
    { "ravel_stream_lay", "c/sparse_rank.c", "c/sparse_lay.c" }, { "ravel_stream_choose", "c/sparse_chosen.c" }, { "ravel_stream_check_chosen", "c/sparse_chosen.c" },
    { "ravel_stream_copy", "c/fence.c", "c/sparse_copy.c" }, { "ravel_stream_unset", "c/sparse_bitmap.c" },
    { "ravel_stream_count", "c/sparse_sort.c" }, { "ravel_stream_record", "c/sparse_sort.c" },
  },
}
