/* sandbox_attacks.h: the holes of a spec language in Lua, and the attacks that try each. */
#ifndef RAVEL_SANDBOX_ATTACKS_H
#define RAVEL_SANDBOX_ATTACKS_H

#include "spec_fields.h"

typedef enum {
#define H(name, what) name,
#include "sandbox_holes.def"
#undef H
    NHOLES
} Hole;

static const char *const hole_text[] = {
#define H(name, what) what,
#include "sandbox_holes.def"
#undef H
};

/* A 3.8 MB string, s; the longest that a few lines can make and compare. */
#define LONG(c) "local s = ('" c "'):rep(30000) for i = 1, 7 do s = s .. s end "

/* `part` is what the message must hold; "" for any message, NULL where the text is
 * harmless after all. */
typedef struct { Hole hole; const char *text, *part; } Attack;

static const Attack attacks[] = {
    /* library functions that loop where no hook counts */
    {REPEAT, "string.rep('', 1 << 62)", "string.rep beyond"},
    {REPEAT, "string.rep('x', -1 >> 1)", "string.rep beyond"},
    {REPEAT, "('x'):rep(1 << 40)", "string.rep beyond"},
    {REPEAT, "('x'):rep(30000, ('y'):rep(30000))", "string.rep beyond"},
    {PATTERNS, "string.find('x', '.-.-.-.-b')", "nil value"},
    {PATTERNS, "string.match('x', ('a*'):rep(12))", "nil value"},
    {PATTERNS, "string.gsub('x', '(.*)(.*)%1%2b', '')", "nil value"},
    {PATTERNS, "string.gmatch('x', 'x')", "nil value"},
    {PATTERNS, "('x'):find('.-.-.-.-b')", "nil value"},
    {LOADING, "string.dump(function() end)", "nil value"},
    {LIBRARIES, "string.pack('s', 'x')", "nil value"},
    {TABLES, "table.move({}, 1, 1 << 62, 2)", "nil value"},
    {TABLES, "table.sort({3, 2, 1}, function() return true end)", "nil value"},
    {TABLES, "table.unpack({}, 1, 1 << 62)", "too many results"},
    {TABLES, "table.unpack({}, 1, 1e7)", "too many results"},
    {TABLES, "table.concat({}, 'x', 1, 1 << 62)", "invalid value"},
    {TABLES, "table.insert({}, 1 << 62, 1)", "position out of bounds"},
    {FORMAT, "string.format('%99999d', 1)", "invalid conversion"},
    {FORMAT, "string.format('%s')", "no value"},
    {FORMAT, LONG("x") "while true do string.format('%s', s) end", "memory"},
    {FORMAT, "string.format('%.100f', 1)", "invalid conversion"},
    {FORMAT, "string.format(('%99.99f'):rep(8000), 1)", "no value"},
    {FORMAT, "local s = string.format('%99.99f', 1e308)", NULL},
    {FORMAT, "string.format('%n', 1)", "invalid conversion"},
    {FORMAT, "assert(string.format('%q', {}) == '\"table\"')", NULL},
    {STRINGS, LONG("x") "string.byte(s, 1, -1)", ""},
    {STRINGS, "string.char(-1)", "value out of range"},
    {LONG_CONCAT, LONG("x") "local u = s .. s .. s .. s .. s", "memory"},
    {LONG_CONCAT, LONG("x") "local t = {} for i = 1, 5000 do t[i] = s end "
     "table.concat(t)", "memory"},
    {LONG_CONCAT, "local t = {} for i = 1, 9000 do t[i] = '' end "
     "table.concat(t, ('x'):rep(60000))", "memory"},
    /* memory */
    {MEMORY, "local s = 'x' while true do s = s .. s end", "memory"},
    {MEMORY, "local t = {} for i = 1, 1e9 do t[i] = {} end", "memory"},
    {CHURN, "local s = ('x'):rep(30000) while true do local t = s .. 'y' end", "memory"},
    {ARENA, "for i = 1, 1e9 do layout('L' .. i) { dims = { N }, order = { N }, "
     "swizzle = xor(1, 0, 1) } end", ""},
    /* loops and recursion */
    {LOOPS, "while true do end", "instructions"},
    {LOOPS, "repeat until false", "instructions"},
    {LOOPS, "::a:: goto a", "instructions"},
    {LOOPS, "for i = 1, math.maxinteger do end", "instructions"},
    {LOOPS, "for i = 1, 10, 0 do end", "step is zero"},
    {RECURSION, "local function f() return f() end f()", "instructions"},
    {RECURSION, "local function f() return 1 + f() end f()", ""},
    {RECURSION, "local function f() f() f() end f()", ""},
    {RECURSION, "local n = 0 local function f() n = n + 1 layout('L' .. n) { "
     "dims = { M }, order = { M // P }, P = f } return 4 end f()", NULL},
    {RECURSION, "layout 'X' { dims = { M }, order = { M }, "
     "swizzle = function(a) local function f(n) return f(n + 1) end return f(1) end }",
     "instructions"},
    {RECURSION, "local n = 0 local function f(a) n = n + 1 layout('L' .. n) { dims = { "
     "M }, "
     "order = { M }, swizzle = f } return a end f(N)", "while another is read"},
    {LOOPS, "for i = 1.0, 1e308 do end", "instructions"},
    {LOOPS, "for i = 1, math.huge do end", "number expected"},
    {LOOPS, "for i = 1, 1e9 do for k in pairs { a = 1, b = 2 } do end end", ""},
    {ORDER_OF_PAIRS, "for _, v in ipairs(N) do end", "bits are 0 to 61"},
    /* what is not there */
    {FINALISERS, "setmetatable({}, { __gc = function() while true do end end })",
     "not a function"},
    {LENGTHS, "setmetatable({}, { __len = function() return 1 << 62 end })",
     "not a function"},
    {CONCAT, "local t = setmetatable({}, { __concat = function() return '' end }) .. 'x'",
     "not a function"},
    {CONCAT, "local x = N .. 'x'", "concatenate"},
    {CONCAT, "local x = 1 .. N .. (...)", "concatenate"},
    {WEAK, "setmetatable({}, { __mode = 'k' })", "not a function"},
    {METATABLES, "('').rep = nil", "index"},
    {METATABLES, "local x = ('').rep('x', 1 << 40)", "string.rep beyond"},
    {METATABLES, "N.x = 1", "assigned"},
    {METATABLES, "getmetatable('').__index = nil", "not a function"},
    {METATABLES, "getmetatable(N).__add = nil", "not a function"},
    {METATABLES, "rawset({}, 1, 2)", "not a function"},
    {METATABLES, "rawget(_ENV, 'layout')", "not a function"},
    {METATABLES, "rawequal(1, 1)", "not a function"},
    {METATABLES, "rawlen({})", "not a function"},
    {LOADING, "load('return 1')", "not a function"},
    {LOADING, "loadstring('return 1')", "not a function"},
    {LOADING, "loadfile('x')", "not a function"},
    {LOADING, "dofile('/etc/passwd')", "not a function"},
    {LOADING, "require('os')", "not a function"},
    {LIBRARIES, "print('x')", "not a function"},
    {METATABLES, "next({})", "not a function"},
    {LIBRARIES, "collectgarbage()", "not a function"},
    {LIBRARIES, "warn('@on')", "not a function"},
    {LIBRARIES, "local x = arg[0]", NULL},
    {CATCHING, "pcall(error)", "not a function"},
    {CATCHING, "xpcall(error, error)", "not a function"},
    {CATCHING, "while true do pcall(function() while true do end end) end",
     "not a function"},
    {COROUTINES, "coroutine.wrap(function() while true do end end)()", ""},
    {LIBRARIES, "debug.sethook()", ""},
    {METATABLES, "debug.getmetatable('').__index = 1", ""},
    {LIBRARIES, "os.exit(1)", ""},
    {LIBRARIES, "io.open('/etc/passwd')", ""},
    {UTF8, "utf8.len('x')", ""},
    {UTF8, "utf8.codepoint(('x'):rep(60000), 1, -1)", ""},
    {UTF8, "layout '\\u{202e}' { dims = { M }, order = { M } }", "name is a string"},
    {UTF8, "local x = _ENV['\\u{e9}']", "a name is at most"},
    {UTF8, "local x = '\\u{7FFFFFFF}\\xff\\0'", NULL},
    {UTF8, WITH("doc = '\\xff'"), "UTF-8"},
    {RANDOM, "math.random()", "nil value"},
    {LOADING, "package.loadlib('x', 'y')", ""},
    {ENVIRONMENT, "_G.layout = nil", ""},
    /* _ENV */
    {ENVIRONMENT, "_ENV = nil; x = 1", "nil value"},
    {ENVIRONMENT, "_ENV = N; layout 'X' {}", ""},
    {ENVIRONMENT, "_ENV = {}; layout 'X' {}", "nil value"},
    {ENVIRONMENT, "local _ENV = { layout = layout }; " ORDER("M"), NULL},
    {ORDER_OF_PAIRS, "_ENV[N] = 1 for k in pairs(_ENV) do end", "keys"},
    {ENVIRONMENT, "layout = nil; layout 'X' {}", "not a function"},
    {ENVIRONMENT, "string.rep = nil; ('x'):rep(3)", "nil value"},
    {ENVIRONMENT, "string = nil; local s = ('x'):rep(3)", NULL},
    /* error objects */
    {ERRORS, "error({})", "with a table"},
    {ERRORS, "error(nil)", "with a nil"},
    {ERRORS, "error()", "with a nil"},
    {ERRORS, "error(N)", "with a userdata"},
    {ERRORS, "error(...)", "with a userdata"},
    {ERRORS, "error(42)", "with a number"},
    {ERRORS, "error(true)", "with a boolean"},
    {ERRORS, "error(function() end)", "with a function"},
    {FORMAT, "error('%s%n%d%999999d')", "%s%n%d%999999d"},
    {ERRORS, "error(('x'):rep(30000))", "xxxxxxxx"},
    {ERRORS, "error('a\\0b')", ""},
    {ERRORS, "error('\\xff\\xfe')", ""},
    {ERRORS, "assert(false)", "assertion failed"},
    {ERRORS, "assert(nil, {})", "with a table"},
    {ERRORS, "assert(false, N)", "with a userdata"},
    {ERRORS, LONG("x") "error(s)", "xxxx"},
    {ERRORS, SWIZZLE("error({})"), "with a table"},
    {ERRORS, "error(error)", "with a function"},
    {ERRORS, WITH("P = function() error({}) end"), "not used"},
    /* functions that are traced */
    {TRACED, SWIZZLE("while true do end"), "instructions"},
    {TRACED, SWIZZLE("if type(a) == 'number' then while true do end end return a"),
     "instructions"},
    {TRACED, SWIZZLE("local t = {} for i = 1, 1e9 do t[i] = {} end"), "memory"},
    {TRACED, SWIZZLE("local function f() return 1 + f() end return f()"), ""},
    {TRACED, SWIZZLE("for i = 1, 100 do a = a + a end return a"), "more than 4000 parts"},
    {CONCAT, SWIZZLE("return a .. a"), "concatenate"},
    {TRACED, SWIZZLE("return layout"), "must return an expression"},
    {TRACED, SWIZZLE("layout 'Y' { dims = { M }, order = { M } } return a"),
     "while another is read"},
    {TRACED, SWIZZLE("local f = layout return f 'Y' and a"), "while another is read"},
    {TRACED, "layout 'X' { dims = { M }, order = { M // P }, "
     "P = function() while true do end end }", "instructions"},
    {TRACED, "layout 'X' { dims = { M }, order = { M // P }, P = function() local t = {} "
     "for i = 1, 1e9 do t[i] = {} end end }", "memory"},
    /* expressions that blow up, and chains that are only long */
    {EXPRESSIONS, "local e = N for i = 1, 100 do e = e + e end", "more than 4000 parts"},
    {EXPRESSIONS, "local e = N for i = 1, 1e6 do e = e + 1 end", "150 levels"},
    {EXPRESSIONS, "local e = N for i = 1, 1e6 do e = -e end", "150 levels"},
    {EXPRESSIONS, "local e = N for i = 1, 1e6 do e = e[1] end", "150 levels"},
    {EXPRESSIONS, "local e = N for i = 1, 1e6 do e = min(e, M) end", "150 levels"},
    {EXPRESSIONS, "local e = M for i = 1, 149 do e = e // 2 end " ORDER("e"), NULL},
    /* integers and floats at their ends */
    {NUMBERS, ORDER("M + math.maxinteger"), NULL},
    {NUMBERS, ORDER("M // (1 << 63)"), NULL},
    {NUMBERS, ORDER("M // 9223372036854775808"), "whole numbers"},
    {NUMBERS, ORDER("M // 1e308"), "whole numbers"},
    {NUMBERS, ORDER("M // (0/0)"), "whole numbers"},
    {NUMBERS, ORDER("M // (1/0)"), "whole numbers"},
    {NUMBERS, ORDER("M[1 << 62]"), "bits are 0 to 61"},
    {NUMBERS, ORDER("M[-1]"), "bits are 0 to 61"},
    {NUMBERS, "local x = 1 // 0", "zero"},
    {NUMBERS, "local x = 1 % 0", "perform"},
    {NUMBERS, "local x = math.mininteger // -1", NULL},
    {NUMBERS, "assert(math.maxinteger + 1 == math.mininteger)", NULL},
    {NUMBERS, ORDER("M // (1 << 32) ^ 2"), "whole numbers"},
    {NUMBERS, "local t = { [0/0] = 1 }", "NaN"},
    {NUMBERS, ORDER("M[0/0]"), "a bit of a dim"},
    {NUMBERS, WITH("pad = { M = 0/0 }"), "whole number"},
    {NUMBERS, WITH("pad = { M = 1e300 }"), "whole number"},
    {NUMBERS, WITH("pitch = { M = 1/0 }"), "whole number"},
    {NUMBERS, WITH("pitch = { [1/0] = 8 }"), "by entry number"},
    {NUMBERS, WITH("bits = 0/0"), "element width"},
    {NUMBERS, WITH("bits = math.mininteger"), "element width"},
    {NUMBERS, WITH("fill = math.maxinteger"), "2^53"},
    {NUMBERS, "layout 'X' { dims = { M }, order = { M // P }, P = 0/0 }", "whole number"},
    {NUMBERS, "layout 'X' { dims = { M }, order = { M // P }, P = 1e308 }", "whole "
     "number"},
    {LITERALS, ORDER("M // 1e99999"), "whole numbers"},
    {LITERALS, ORDER("M // 0x1p99999"), "whole numbers"},
    {LITERALS, ORDER("M // 0xffffffffffffffffffff00000001"), NULL},
    {COERCION, "assert('10' + 1 == 11 and '0x10' * 1 == 16)", NULL},
    {COERCION, "local x = '0x10' * M", "with a string"},
    {COERCION, "local x = M + '1'", "with a string"},
    {COERCION, ORDER("M['1']"), "a bit of a dim"},
    {COERCION, WITH("pad = { M = '8' }"), "whole number"},
    {COERCION, WITH("pitch = { M = '8' }"), "whole number"},
    {COERCION, WITH("fill = '0'"), "fill is a number"},
    {COERCION, WITH("bits = '8'"), "element width"},
    {COERCION, WITH("doc = 8"), "doc is a string"},
    {COERCION, "layout(8) { dims = { M }, order = { M } }", "name is a string"},
    {COERCION, WITH("swizzle = xor('3', '4', '3')"), "whole numbers"},
    {COERCION, WITH("fill = function() while true do end end"), "fill is a number"},
    /* tables with holes */
    {GAPS, "layout 'X' { dims = { M, nil, K }, order = { M, K } }", "dims[2] is nil"},
    {GAPS, "layout 'X' { dims = { M, K }, order = { M, nil, K } }", "order[2] is a nil"},
    {GAPS, "layout 'X' { dims = { M, K }, order = { [2] = M, [3] = K } }", "list"},
    {GAPS, "layout 'X' { dims = { M, K }, order = { [1] = M, [1 << 62] = K } }", "list"},
    {GAPS, "layout 'X' { dims = { nil, M }, order = { M } }", "dims[1] is nil"},
    {GAPS, "local t = { 1, nil, 3, nil } local n = #t", NULL},
    {ORDER_OF_PAIRS, "local t = { [1 << 62] = 1, [0.5] = 2, [-1] = 3 } for k in "
     "pairs(t) do end", NULL},
    {ORDER_OF_PAIRS, "local t = { [true] = 1, [false] = 2 } for k in pairs(t) do end",
     "keys"},
    {ORDER_OF_PAIRS, "local t = { a = 1, [N] = 2 } for k in pairs(t) do end", "keys"},
    {ORDER_OF_PAIRS, "local t = { [N] = 1, [M] = 2 } for k in pairs(t) do end", "keys"},
    {ORDER_OF_PAIRS, "pairs(nil)", "table expected"},
    {ORDER_OF_PAIRS, "pairs(N)", "table expected"},
    {ORDER_OF_PAIRS, "local s = '' for k in pairs { z = 1, a = 2, [7] = 3, [-1] = 4 } do "
     "s = s .. k end assert(s == '-17az')", NULL},
    {ADDRESSES, "assert(tostring({}) == 'table' and tostring(error) == 'function')",
     NULL},
    {ADDRESSES, "local b = ... assert(tostring(b) == 'userdata')", NULL},
    {ADDRESSES, "assert(string.format('%s %5s', {}, error) == 'table function')", NULL},
    {ADDRESSES, "assert(('%s'):format(N + 1) == 'N + 1')", NULL},
    {ADDRESSES, "string.format('%p', 'x')", "%p"},
    {ADDRESSES, "string.format('%%%-20p', {})", "%p"},
    {ADDRESSES, "string.format('\\0%p', 'a string of more than forty bytes, all told')",
     "%p"},
    {ADDRESSES, "table.concat({ {} })", "invalid value"},
    {ADDRESSES, "error(tostring(layout))", "function"},
    /* the values of the language, misused */
    {VALUES, "layout(layout)", "name is a string"},
    {VALUES, "layout()", "name is a string"},
    {VALUES, "layout 'X' (3)", ""},
    {VALUES, "local f = layout 'X' f { dims = { M }, order = { M } } f {}", "written"},
    {VALUES, "layout 'X' layout 'Y' {}", "no table"},
    {VALUES, "local x = ... + 1", "arithmetic"},
    {VALUES, "local x = (...)()", "call"},
    {VALUES, "local x = #(...)", "length"},
    {VALUES, "(...).x = 1", "index"},
    {VALUES, "reverse(1)", "reverse"},
    {VALUES, "local x = N < M", "compared"},
    {CLOSING, "local x <close> = N", "non-closable"},
    {CLOSING, "local x <close> = 42", "non-closable"},
    {CLOSING, "for k in function() return 1 end, 1, 2, N do break end", "non-closable"},
    {CLOSING, "goto a local b ::a:: b = 1", "jumps into the scope"},
    {CLOSING, "do goto c end do ::c:: end", "no visible label"},
    {MODULO, "local b, z = 5, 0\n\nlocal x = b % z", ":3: attempt to perform"},
    {MODULO, "local b = 5\n\nlocal x = b % 0", "attempt to perform"},
    {VALUES, "for k in N do end", "not a function"},
    {VALUES, "N.__index = 1", "assigned"},
    {VALUES, "min(N)", ""},
    {VALUES, "min()", ""},
    {VALUES, SWIZZLE("return xor(a, a, a)"), ""},
    {VALUES, WITH("swizzle = xor(1 << 40, 1 << 40, 1 << 41)"), ""},
};

/* These use up a budget of seconds. */
static const Attack slow_attacks[] = {
    {CHURN, "for i = 1, 1e9 do local s = ('x'):rep(30000) end", ""},
    {TABLES, "local t = {} for i = 1, 400000 do t[i] = i end "
     "while true do table.insert(t, 1, 1) table.remove(t, 1) end", "seconds"},
    {TABLES, "local t = {} for i = 1, 100000 do t[i] = 1e300 end "
     "while true do table.concat(t) end", ""},
    {STRINGS, LONG("x") "while true do local u = s:upper() end", "memory"},
    {STRINGS, LONG("\\0") "local a, b = s .. 'a', s .. 'b' s = nil "
     "while true do local u = a < b end", "seconds"},
    {MEMORY, "local t = {} for i = 1, 1e9 do t['k' .. i] = i end", "memory"},
    {ARENA, "while true do local e = N + 1 end", ""},
    {ARENA, "while true do local e = UNKNOWN end", ""},
    {ARENA, "for i = 1, 1e9 do local e = _ENV['v' .. i] end", ""},
    {ARENA, "local e = N for i = 1, 10 do e = e + e end "
     "while true do local s = tostring(e) end", ""},
    {ARENA, LONG("x") "for i = 1, 1e9 do layout('L' .. i) { dims = { N }, order = { N }, "
     "doc = s } end", ""},
    {ARENA, "for i = 1, 1e9 do layout('L' .. i) { dims = { N }, order = { N } } end",
     ""},
};

/* A text with its length, for what a C string cannot hold or a table cannot show. */
typedef struct { char *s; size_t len; } Text;

/* head, then unit n times, in which %d is how often it stood before, then tail */
static Text
repeated(const char *head, const char *unit, int n, const char *tail)
{
    size_t u = strlen(unit) + 8, cap = strlen(head) + u * (size_t)n + strlen(tail);
    Text t = {malloc(cap + 1), 0};
    t.len = (size_t)sprintf(t.s, "%s", head);
    for (int i = 0; i < n; i++)
        t.len += (size_t)sprintf(t.s + t.len, unit, i);
    t.len += (size_t)sprintf(t.s + t.len, "%s", tail);
    return t;
}

static const struct {
    Hole hole;
    const char *head, *unit;
    int n;
    const char *tail, *part;
} big_texts[] = {
    {NESTING, "local x = ", "(", 100000, "1", ""},
    {NESTING, "local x = ", "{", 100000, "", ""},
    {NESTING, "local x = ", "-", 100001, "1", ""},
    {NESTING, "local x = ", "not ", 100000, "1", ""},
    {NESTING, "local x = 1", "..1", 100000, "", ""},
    {NESTING, "local x = 2", "^2", 100000, "", ""},
    {NESTING, "", "do ", 100000, "", ""},
    {NESTING, "", "function() ", 100000, "", ""},
    {NESTING, "", "if x then ", 100000, "", ""},
    {NESTING, "local x = ", "function() return ", 100000, "", ""},
    {LONG_LINES, "local t = {", "{},", 400000, "}", ""},
    {LONG_LINES, "local t = {", "1,", 4000000, "}", ""},
    {NESTING, "local x = [", "=", 100000, "[", ""},
    {NESTING, "--[", "=", 1000000, "[", ""},
    {UTF8, "local x = '", "\\u{7FFFFFFF}", 300000, "' + 1", ""},
    {LONG_LINES, "local ", "a, ", 300, "b = 1", ""},
    {NESTING, "local a = f", "(1)", 100000, "", ""},
    {NESTING, "local a = N", "[1]", 100000, "", ""},
    {LONG_LINES, "layout 'X' { dims = { M }, order = { M", "//2", 100000, "} }", ""},
    {LONG_LINES, "layout 'X' { dims = { ", "M, ", 100000, "}, order = { M } }", ""},
    {LONG_LINES, "layout 'X' { dims = { M }, order = { ", "M, ", 100000, "} }", ""},
    {LONG_LINES, "layout '", "X", 100000, "' { dims = { M }, order = { M } }", ""},
    {LONG_LINES, "layout 'X' { dims = { ", "M", 100000, "}, order = { M } }", ""},
    {UTF8, "\xff\xfe", "\xff", 1000, "", ""},
    {UTF8, "local x = '", "\xc3", 1000, "' + 1", ""},
    {LOADING, "", "\x1bLuaS", 1000, "", ""},
    {NESTING, "local x = ", "{{", 50000, "", ""},
    {NESTING, "local x = N", "//(1", 100000, "", ""},
    {NESTING, "", "--[[", 200000, "", "unfinished"},
    {LONG_LINES, "--", "x", 4000000, "", NULL},
    {LONG_LINES, "local x = '", "x", 4000000, "'", NULL},
    {LONG_LINES, "", "\r\n", 1000000, "error('far')", "1000001: far"},
    {LITERALS, "local x = ", "9", 1000000, "", NULL},
    {LITERALS, "local x = 0x", "f", 1000000, "", NULL},
    {LITERALS, "local x = 0.", "0", 1000000, "1", NULL},
    {CONSTANTS, "local t = { ", "k%d = 1, ", 300, "} local x = 1 ~ (2 or 3)", ":1: Lua"},
    {CONSTANTS, "local t = { ", "k%d = 1, ", 300, "}\n--[[ ]=] ]] local x = (1 << 3) | "
     "((2 and 3))", ":2: Lua"},
    {CONSTANTS, "local t = { ", "k%d = 1, ", 300, "} local x = 1 ~ (2) -- | (2 or 3)\n"
     "x = '~ (2 or 3)' x = [=[| (2 or 3)]=] assert(x == 3 or true)", NULL},
    {CONSTANTS, "local s = 'a\\z\n b' local t = { ", "'s%d', ", 300,
     "}\nlocal x = 'q' return 7 ~ (2 or 3)", ":3: Lua"},
    {CONSTANTS, "local t = { ", "%d, ", 100, "} assert(1 ~ (2 or 3) == 3)", NULL},
};

static const struct {
    Hole hole;
    const char *s;
    size_t len;
    const char *part;
} raw_texts[] = {
#define RAW(hole, s, part) {hole, s, sizeof s - 1, part}
    RAW(LOADING, "\x1bLua\x54\x00\x19\x93\r\n\x1a\n", "binary chunk"),
    RAW(BYTES, "layout 'X'\0 { dims = { M } }", ""),
    RAW(BYTES, "local x = '\0' N = \0", ""), RAW(BYTES, "\0", ""),
    RAW(BYTES, "\0\0\0", ""), RAW(BYTES, "layout 'X\0Y' {}", "name is a string"),
    RAW(BYTES, "layout \"X", ""), RAW(BYTES, "local x = \"\n\"", ""),
    RAW(BYTES, "#!/bin/sh\nexit", ""), RAW(BYTES, "local x = '\x7f\x80\xff\x01'", NULL),
    RAW(BYTES, "\xef\xbb\xbf M = = 1", ":1: unexpected symbol near '='"),
    RAW(BYTES, "\xef\xbb\xbf" "layout 'X' { dims = { M }, order = { M } }", NULL),
    RAW(BYTES, "\xef\xbb", ""), RAW(BYTES, "\xef\xbb\xbf\x1bLua", "binary chunk"),
    RAW(BYTES, "\xff\xfel\0a\0", ""), RAW(BYTES, "\r\nlocal x\r\n= \r\n= 1", ":4:"),
    RAW(BYTES, "layout 'X' {\r\n dims = { M },\r\n order = { M } }\r\n", NULL),
    RAW(BYTES, "\r\r\rerror('x')", ":4: x"),
    RAW(CLOSING, "goto nowhere", "no visible label"), RAW(CLOSING, "break", "break"),
    RAW(CLOSING, "local x <foo> = 1", "unknown attribute"),
    RAW(CLOSING, "local x <const> = 1; x = 2", "const"),
    RAW(CLOSING, "::a:: ::a::", "already defined"),
    RAW(BYTES, "return N, M,", ""), RAW(BYTES, "a.b:c = 1", ""),
    RAW(LITERALS, "local x = 0x", "malformed"),
    RAW(LITERALS, "local x = 1e", "malformed"),
    RAW(LITERALS, "local x = '\\xZZ'", "hexadecimal"),
    RAW(LITERALS, "local x = '\\400'", "too large"),
    RAW(UTF8, "local x = '\\u{110000000}'", "too large"),
#undef RAW
};

/* The same attacks from inside the functions that layouts hold, and from inline
 * layouts: %s is the attack.  `use`: the layout that calls for it, NULL: the spec. */
static const struct { const char *name, *spec, *use; int rank; } places[] = {
    {"swizzle", "layout 'X' { dims = { M }, order = { M }, "
     "swizzle = function(a) do %s end return a end }", NULL, 0},
    {"parameter", "layout 'X' { dims = { M }, order = { M // P, M %% P }, "
     "P = function(bytes, bits) do %s end return 4 end }", "X", 1},
    {"inline", NULL, "(M){M, x = (function() do %s end end)()}", 1},
    {"inline swizzle", NULL, "(M){M, swizzle = function(a) do %s end return a end}", 1},
    {"given parameter", NULL,
     "NC1HWC0{C0 = function(bytes, bits) do %s end return 2 end}", 4},
};

#endif
