-- bursts.lua: an example of a machine without threads: 192 KB of local memory and transfers of whole 32-byte bursts, like Ascend's vector cores.
-- The program is C that calls the machine's operations (functions burst_*).  README.md explains the plan and the fields.

local format, concat = string.format, table.concat

local prologue = [[
#include <stdint.h>

/* Local memory is addressed in bytes.  Transfers: `count` times `bytes`, which lie `stride` bytes apart in the buffer and `pitch` in local memory; all of
 * these are multiples of 32, and the buffers have room for whole bursts.  */
void burst_in(int64_t to, const void *from, int64_t count, int64_t bytes, int64_t stride, int64_t pitch);
void burst_out(void *to, int64_t from, int64_t count, int64_t bytes, int64_t stride, int64_t pitch);
/* Items of 1, 2, 4, 8 or 16 bytes, `outer` times `inner` of them: from local memory to local memory, or the same value everywhere. */
void burst_move(int64_t item, int64_t to, int64_t from, int64_t outer, int64_t outer_to, int64_t outer_from, int64_t inner, int64_t inner_to,
                int64_t inner_from);
void burst_fill(int64_t item, int64_t to, uint64_t low, uint64_t high, int64_t outer, int64_t outer_to, int64_t inner, int64_t inner_to);

#define burst_min(a, b) ((a) < (b) ? (a) : (b))
#define burst_max(a, b) ((a) > (b) ? (a) : (b))
]]

-- Lines of text, indented by the number of loops around them.
local function writer()
  local w = { lines = {}, depth = 0 }
  function w.line(...)
    w.lines[#w.lines + 1] = ("    "):rep(w.depth) .. format(...)
  end
  function w.open(...)
    w.line(...)
    w.depth = w.depth + 1
  end
  function w.close(n)
    for _ = 1, n or 1 do
      w.depth = w.depth - 1
      w.line("}")
    end
  end
  function w.loop(name, n)
    w.open("for (int64_t %s = 0; %s < %d; %s++) {", name, name, n, name)
  end
  return w
end

-- The last step is done by one instruction, the others are loops around it.
local function transfers(w, side, call)
  local loops, memory, place = math.max(#side.steps - 1, 0), { side.at }, { side.place }
  for i = 1, loops do
    local s, name = side.steps[i], "s_" .. i
    w.loop(name, s.n)
    memory[#memory + 1] = format("%d*%s", s.stride, name)
    place[#place + 1] = format("%d*%s", s.pitch, name)
  end
  local last = side.steps[#side.steps] or { n = 1, stride = 0, pitch = 0 }
  call(concat(memory, " + "), concat(place, " + "), format("%d, %s, %d, %d", last.n, side.bytes, last.stride, last.pitch))
  w.close(loops)
end

local function fetch(w, buffer, side)
  transfers(w, side, function(memory, place, rest)
    w.line("burst_in(%s, %s + %s, %s);", place, buffer, memory, rest)
  end)
end

-- The lower and the upper 8 bytes of an item of padding.  `fill` is the parameter of the function.
local function values(fill)
  if fill.low then return format("0x%xu, 0x%xu", fill.low, fill.high) end
  local text = format("((uint64_t)fill & 0x%xu)*0x%xu", fill.mask, fill.times)
  return text .. ", " .. text
end

-- The last two moves are done by one instruction.
local function permute(w, t, table_)
  local to, from, starts = { t.write.place, t.write.skip }, t.read and { t.read.place, t.read.skip }, #t.starts
  local function add(list, text)
    if list then list[#list + 1] = text end
  end
  if starts > 1 then
    w.loop("i_", starts)
    add(to, table_ .. "[i_][0]")
    add(from, table_ .. "[i_][1]")
  else
    add(to, t.starts[1].to)
    add(from, t.starts[1].from)
  end
  local loops = math.max(#t.moves - 2, 0)
  for i = 1, loops do
    local m, name = t.moves[i], "m_" .. i
    w.loop(name, m.n)
    add(to, format("%d*%s", m.to, name))
    add(from, format("%d*%s", m.from, name))
  end
  local none = { n = 1, to = 0, from = 0 }
  local outer, inner = #t.moves > 1 and t.moves[#t.moves - 1] or none, t.moves[#t.moves] or none
  if from then
    w.line("burst_move(%d, %s, %s, %d, %d, %d, %d, %d, %d);", t.item, concat(to, " + "), concat(from, " + "), outer.n, outer.to, outer.from,
           inner.n, inner.to, inner.from)
  else
    w.line("burst_fill(%d, %s, %s, %d, %d, %d, %d);", t.item, concat(to, " + "), values(t.fill), outer.n, outer.to, inner.n, inner.to)
  end
  w.close(loops + (starts > 1 and 1 or 0))
end

local function tile(w, t, table_)
  w.line("/* %s%s */", t.fill and "padding " or "", t.what)
  for _, l in ipairs(t.loops) do w.loop(l.name, l.n) end
  if t.read then fetch(w, "src", t.read) end
  if t.write.keep then fetch(w, "dst", t.write) end
  permute(w, t, table_)
  transfers(w, t.write, function(memory, place, rest)
    w.line("burst_out(dst + %s, %s, %s);", memory, place, rest)
  end)
  w.close(#t.loops)
end

-- The start offsets of the moves of a tile, if xors require several.
local function table_of(plan, number)
  return format("%s_start%d", plan.name, number)
end

local function tables(w, plan)
  for number, t in ipairs(plan.tiles) do
    if #t.starts > 1 then
      w.open("static const int32_t %s[%d][2] = {", table_of(plan, number), #t.starts)
      for i = 1, #t.starts, 8 do
        local row = {}
        for k = i, math.min(i + 7, #t.starts) do row[#row + 1] = format("{%d, %d},", t.starts[k].to, t.starts[k].from) end
        w.line("%s", concat(row, " "))
      end
      w.depth = w.depth - 1
      w.line("};")
    end
  end
end

return {
  name = "bursts", model = "bursts",
  comment_open = "/* ", comment_line = " * ", comment_close = " */",
  min = "burst_min", max = "burst_max", reserved = "burst_*",
  burst = 32, memory = 192 << 10, counts = 4095,
  emit_plan = function(plan)
    local w = writer()
    w.line("%s%s", plan.head, prologue)
    tables(w, plan)
    w.line("/* src: %d bytes, dst: %d bytes; they do not overlap */", plan.src_bytes, plan.dst_bytes)
    if plan.fill then w.line("/* fill: %s, the lowest bits of which are those of an element */", plan.fill) end
    w.line("void\n%s(void *dst_, const void *src_%s)\n{", plan.name, plan.fill and ", int64_t fill" or "")
    w.depth = 1
    w.line("unsigned char *dst = dst_;")
    w.line("const unsigned char *src = src_;")
    w.line("(void)src;")
    if plan.fill then w.line("(void)fill;") end
    for number, t in ipairs(plan.tiles) do tile(w, t, table_of(plan, number)) end
    w.depth = 0
    w.line("}\n")
    return concat(w.lines, "\n")
  end,
}
