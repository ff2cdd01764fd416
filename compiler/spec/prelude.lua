-- prelude.lua: the part of the spec language that is itself Lua.  Runs once before a spec
-- whose text may use it (spec_environment.c); `raw` holds what specs do not get to see.
local raw, env = ...
local next, sort, type, error = raw.next, raw.sort, raw.type, raw.error
local max, ipairs, math_type = env.max, env.ipairs, env.math.type

local function by_key(a, b)
  local x, y = type(a), type(b)
  if x ~= y then return x == "number" end
  return a < b
end

-- pairs in one order everywhere: numbers, then strings
function env.pairs(t)
  local keys, n = {}, 0
  if type(t) ~= "table" then error("pairs(t): a table expected, not a " .. type(t), 2) end
  for k in next, t do
    if type(k) ~= "number" and type(k) ~= "string" then
      error("pairs(t): keys must be numbers or strings", 2)
    end
    n = n + 1
    keys[n] = k
  end
  sort(keys, by_key)
  local i = 0
  return function()
    i = i + 1
    local k = keys[i]
    if k ~= nil then return k, t[k] end
  end
end

-- CuTe's Swizzle<B,M,S> (cutlass, include/cute/swizzle.hpp): bits
-- [M+S, M+S+B) are xored into bits [M, M+B); S < 0 goes the other way.
function env.xor(B, M, S)
  for _, v in ipairs { B or false, M or false, S or false } do
    if type(v) ~= "userdata" and math_type(v) ~= "integer" then
      error("xor(B, M, S) takes three whole numbers, as in xor(3, 4, 3)", 2)
    end
  end
  if type(B) == "number" and B < 0 or type(M) == "number" and M < 0 then
    error("xor(B, M, S) needs B >= 0 and M >= 0", 2)
  end
  for _, v in ipairs { B, M, S, -S } do
    if type(v) == "number" and v > 61 then
      error("xor(B, M, S) needs bits below 62", 2)
    end
  end
  if type(B) == "number" and type(S) == "number" and S < B and -S < B then
    error("xor(B, M, S) needs S >= B or S <= -B", 2)
  end
  return function(a)
    local mask = ((1 << B) - 1) << (M + max(S, 0))
    return a ~ ((a & mask) >> max(S, 0) << max(-S, 0))
  end
end
