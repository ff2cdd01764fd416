/* The spec language: attacks on the sandbox, what a spec may say, and the exact
 * answer to what it may not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "../../compiler/decide.h"
#include "../../compiler/embed.h"
#include "../../compiler/spec.h"

/* ---- attacks: each in a process of its own, so that a crash, a hang, a leak or a
 * hunger for memory is the fault of one ---- */

#ifdef __SANITIZE_ADDRESS__
enum { CPU_SECONDS = 5, MEMORY_MB = 1200 };      /* freed memory is kept a while */
#else
enum { CPU_SECONDS = 5, MEMORY_MB = 150 };
#endif

/* A 3.8 MB string, s; the longest that a few lines can make and compare. */
#define LONG(c) "local s = ('" c "'):rep(30000) for i = 1, 7 do s = s .. s end "
/* A layout with one more field, F. */
#define WITH(f) "layout 'X' { dims = { M }, order = { M }, " f " }"
#define SWIZZLE(body) WITH("swizzle = function(a) " body " end")
#define ORDER(order) "layout 'X' { dims = { M }, order = { " order " } }"

/* What a part of the message must be; "" for any message, NULL where the text is
 * harmless after all. */
typedef struct { const char *text, *part; } Attack;

static const Attack attacks[] = {
    /* library functions that loop where no hook counts */
    {"string.rep('', 1 << 62)", "string.rep beyond"},
    {"string.rep('x', -1 >> 1)", "string.rep beyond"},
    {"('x'):rep(1 << 40)", "string.rep beyond"},
    {"('x'):rep(30000, ('y'):rep(30000))", "string.rep beyond"},
    {"for i = 1, 1e9 do local s = ('x'):rep(30000) end", ""},
    {"string.find('x', '.-.-.-.-b')", "nil value"},
    {"string.match('x', ('a*'):rep(12))", "nil value"},
    {"string.gsub('x', '(.*)(.*)%1%2b', '')", "nil value"},
    {"string.gmatch('x', 'x')", "nil value"},
    {"('x'):find('.-.-.-.-b')", "nil value"},
    {"string.dump(function() end)", "nil value"},
    {"string.pack('s', 'x')", "nil value"},
    {"table.move({}, 1, 1 << 62, 2)", "nil value"},
    {"table.sort({3, 2, 1}, function() return true end)", "nil value"},
    {"table.unpack({}, 1, 1 << 62)", "too many results"},
    {"table.unpack({}, 1, 1e7)", "too many results"},
    {"table.concat({}, 'x', 1, 1 << 62)", "invalid value"},
    {"table.insert({}, 1 << 62, 1)", "position out of bounds"},
    {"local t = {} for i = 1, 400000 do t[i] = i end "
     "while true do table.insert(t, 1, 1) table.remove(t, 1) end", "seconds"},
    {"local t = {} for i = 1, 100000 do t[i] = 1e300 end "
     "while true do table.concat(t) end", ""},
    {"string.format('%99999d', 1)", "invalid conversion"},
    {"string.format('%s')", "no value"},
    {LONG("x") "while true do string.format('%s', s) end", "memory"},
    {LONG("x") "while true do local u = s:upper() end", "memory"},
    {LONG("x") "string.byte(s, 1, -1)", ""},
    {LONG("\\0") "local a, b = s .. 'a', s .. 'b' s = nil "
     "while true do local u = a < b end", "seconds"},
    {"string.char(-1)", "value out of range"},
    /* memory */
    {"local s = 'x' while true do s = s .. s end", "memory"},
    {"local t = {} for i = 1, 1e9 do t[i] = {} end", "memory"},
    {"local t = {} for i = 1, 1e9 do t['k' .. i] = i end", "memory"},
    {"local s = ('x'):rep(30000) while true do local t = s .. 'y' end", "memory"},
    {"while true do local e = N + 1 end", ""},
    {"while true do local e = UNKNOWN end", ""},
    {"for i = 1, 1e9 do local e = _ENV['v' .. i] end", ""},
    {"local e = N for i = 1, 10 do e = e + e end while true do local s = tostring(e) end",
     ""},
    {LONG("x") "for i = 1, 1e9 do layout('L' .. i) { dims = { N }, order = { N }, "
     "doc = s } end", ""},
    {"for i = 1, 1e9 do layout('L' .. i) { dims = { N }, order = { N } } end", ""},
    {"for i = 1, 1e9 do layout('L' .. i) { dims = { N }, order = { N }, "
     "swizzle = xor(1, 0, 1) } end", ""},
    /* loops and recursion */
    {"while true do end", "instructions"},
    {"repeat until false", "instructions"},
    {"::a:: goto a", "instructions"},
    {"for i = 1, math.maxinteger do end", "instructions"},
    {"for i = 1, 10, 0 do end", "step is zero"},
    {"local function f() return f() end f()", "instructions"},
    {"local function f() return 1 + f() end f()", ""},
    {"local function f() f() f() end f()", ""},
    {"for i = 1, 1e9 do for k in pairs { a = 1, b = 2 } do end end", ""},
    {"for _, v in ipairs(N) do end", "bits are 0 to 61"},
    /* what is not there */
    {"setmetatable({}, { __gc = function() while true do end end })", "not a function"},
    {"setmetatable({}, { __len = function() return 1 << 62 end })", "not a function"},
    {"local t = setmetatable({}, { __concat = function() return '' end }) .. 'x'",
     "not a function"},
    {"getmetatable('').__index = nil", "not a function"},
    {"getmetatable(N).__add = nil", "not a function"},
    {"rawset({}, 1, 2)", "not a function"},
    {"rawget(_ENV, 'layout')", "not a function"},
    {"rawequal(1, 1)", "not a function"},
    {"rawlen({})", "not a function"},
    {"load('return 1')", "not a function"},
    {"loadstring('return 1')", "not a function"},
    {"loadfile('x')", "not a function"},
    {"dofile('/etc/passwd')", "not a function"},
    {"require('os')", "not a function"},
    {"print('x')", "not a function"},
    {"next({})", "not a function"},
    {"collectgarbage()", "not a function"},
    {"pcall(error)", "not a function"},
    {"xpcall(error, error)", "not a function"},
    {"while true do pcall(function() while true do end end) end", "not a function"},
    {"coroutine.wrap(function() while true do end end)()", ""},
    {"debug.sethook()", ""},
    {"debug.getmetatable('').__index = 1", ""},
    {"os.exit(1)", ""},
    {"io.open('/etc/passwd')", ""},
    {"utf8.len('x')", ""},
    {"math.random()", "nil value"},
    {"package.loadlib('x', 'y')", ""},
    {"_G.layout = nil", ""},
    /* _ENV */
    {"_ENV = nil; x = 1", "nil value"},
    {"_ENV = N; layout 'X' {}", ""},
    {"_ENV = {}; layout 'X' {}", "nil value"},
    {"local _ENV = { layout = layout }; " ORDER("M"), NULL},
    {"_ENV[N] = 1 for k in pairs(_ENV) do end", "keys"},
    {"layout = nil; layout 'X' {}", "not a function"},
    {"string.rep = nil; ('x'):rep(3)", "nil value"},
    {"string = nil; local s = ('x'):rep(3)", NULL},
    /* error objects */
    {"error({})", "with a table"},
    {"error(nil)", "with a nil"},
    {"error()", "with a nil"},
    {"error(N)", "with a userdata"},
    {"error(...)", "with a userdata"},
    {"error(42)", "with a number"},
    {"error(true)", "with a boolean"},
    {"error(function() end)", "with a function"},
    {"error('%s%n%d%999999d')", "%s%n%d%999999d"},
    {"error(('x'):rep(30000))", "xxxxxxxx"},
    {"error('a\\0b')", ""},
    {"error('\\xff\\xfe')", ""},
    {"assert(false)", "assertion failed"},
    {"assert(nil, {})", "with a table"},
    {"assert(false, N)", "with a userdata"},
    {LONG("x") "error(s)", "xxxx"},
    {SWIZZLE("error({})"), "with a table"},
    /* functions that are traced */
    {SWIZZLE("while true do end"), "instructions"},
    {SWIZZLE("if type(a) == 'number' then while true do end end return a"),
     "instructions"},
    {SWIZZLE("local t = {} for i = 1, 1e9 do t[i] = {} end"), "memory"},
    {SWIZZLE("local function f() return 1 + f() end return f()"), ""},
    {SWIZZLE("for i = 1, 100 do a = a + a end return a"), "more than 4000 parts"},
    {SWIZZLE("return a .. a"), "concatenate"},
    {SWIZZLE("return layout"), "must return an expression"},
    {SWIZZLE("layout 'Y' { dims = { M }, order = { M } } return a"), "declared twice"},
    {"layout 'X' { dims = { M }, order = { M // P }, "
     "P = function() while true do end end }", "instructions"},
    {"layout 'X' { dims = { M }, order = { M // P }, P = function() local t = {} "
     "for i = 1, 1e9 do t[i] = {} end end }", "memory"},
    /* expressions that blow up, and chains that are only long */
    {"local e = N for i = 1, 100 do e = e + e end", "more than 4000 parts"},
    {"local e = N for i = 1, 1e6 do e = e + 1 end", "150 levels"},
    {"local e = N for i = 1, 1e6 do e = -e end", "150 levels"},
    {"local e = N for i = 1, 1e6 do e = e[1] end", "150 levels"},
    {"local e = N for i = 1, 1e6 do e = min(e, M) end", "150 levels"},
    {"local e = M for i = 1, 149 do e = e // 2 end " ORDER("e"), NULL},
    /* integers and floats at their ends */
    {ORDER("M + math.maxinteger"), NULL},
    {ORDER("M // (1 << 63)"), NULL},
    {ORDER("M // 9223372036854775808"), "whole numbers"},
    {ORDER("M // 1e308"), "whole numbers"},
    {ORDER("M // (0/0)"), "whole numbers"},
    {ORDER("M // (1/0)"), "whole numbers"},
    {ORDER("M[1 << 62]"), "bits are 0 to 61"},
    {ORDER("M[-1]"), "bits are 0 to 61"},
    {"local x = 1 // 0", "zero"},
    {"local x = 1 % 0", "perform"},
    {"local x = math.mininteger // -1", NULL},
    /* tables with holes */
    {"layout 'X' { dims = { M, nil, K }, order = { M, K } }", "dims[2] is nil"},
    {"layout 'X' { dims = { M, K }, order = { M, nil, K } }", "order[2] is a nil"},
    {"layout 'X' { dims = { M, K }, order = { [2] = M, [3] = K } }", "list"},
    {"layout 'X' { dims = { M, K }, order = { [1] = M, [1 << 62] = K } }", "list"},
    {"local t = { [1 << 62] = 1, [0.5] = 2, [-1] = 3 } for k in pairs(t) do end", NULL},
    {"local t = { [true] = 1, [false] = 2 } for k in pairs(t) do end", "keys"},
    {"local t = { a = 1, [N] = 2 } for k in pairs(t) do end", "keys"},
    {"local t = { [N] = 1, [M] = 2 } for k in pairs(t) do end", "keys"},
    {"pairs(nil)", "table expected"},
    {"pairs(N)", "table expected"},
    /* the values of the language, misused */
    {"layout(layout)", "name is a string"},
    {"layout()", "name is a string"},
    {"layout 'X' (3)", ""},
    {"local f = layout 'X' f { dims = { M }, order = { M } } f {}", "written"},
    {"layout 'X' layout 'Y' {}", "no table"},
    {"local x = ... + 1", "arithmetic"},
    {"local x = (...)()", "call"},
    {"local x = #(...)", "length"},
    {"(...).x = 1", "index"},
    {"reverse(1)", "reverse"},
    {"local x = N < M", "compared"},
    {"local x <close> = N", "non-closable"},
    {"for k in N do end", "not a function"},
    {"N.__index = 1", "assigned"},
    {"min(N)", ""},
    {"min()", ""},
    {SWIZZLE("return xor(a, a, a)"), ""},
    {WITH("swizzle = xor(1 << 40, 1 << 40, 1 << 41)"), ""},
};

/* A text with its length, for what a C string cannot hold or a table cannot show. */
typedef struct { char *s; size_t len; } Text;

static Text
repeated(const char *head, const char *unit, int n, const char *tail)
{
    size_t u = strlen(unit), cap = strlen(head) + u * (size_t)n + strlen(tail);
    Text t = {malloc(cap + 1), 0};
    t.len = (size_t)sprintf(t.s, "%s", head);
    for (int i = 0; i < n; i++, t.len += u)
        memcpy(t.s + t.len, unit, u);
    t.len += (size_t)sprintf(t.s + t.len, "%s", tail);
    return t;
}

static const struct {
    const char *head, *unit;
    int n;
    const char *tail;
} big_texts[] = {
    {"local x = ", "(", 100000, "1"},
    {"local x = ", "{", 100000, ""},
    {"local x = ", "-", 100001, "1"},
    {"local x = ", "not ", 100000, "1"},
    {"local x = 1", "..1", 100000, ""},
    {"local x = 2", "^2", 100000, ""},
    {"", "do ", 100000, ""},
    {"", "function() ", 100000, ""},
    {"", "if x then ", 100000, ""},
    {"local x = ", "function() return ", 100000, ""},
    {"local t = {", "{},", 400000, "}"},
    {"local t = {", "1,", 4000000, "}"},
    {"local x = [", "=", 100000, "["},
    {"--[", "=", 1000000, "["},
    {"local x = '", "\\u{7FFFFFFF}", 300000, "' + 1"},
    {"local ", "a, ", 300, "b = 1"},
    {"local a = f", "(1)", 100000, ""},
    {"local a = N", "[1]", 100000, ""},
    {"layout 'X' { dims = { M }, order = { M", "//2", 100000, "} }"},
    {"layout 'X' { dims = { ", "M, ", 100000, "}, order = { M } }"},
    {"layout 'X' { dims = { M }, order = { ", "M, ", 100000, "} }"},
    {"layout '", "X", 100000, "' { dims = { M }, order = { M } }"},
    {"layout 'X' { dims = { ", "M", 100000, "}, order = { M } }"},
    {"\xff\xfe", "\xff", 1000, ""},
    {"local x = '", "\xc3", 1000, "' + 1"},
    {"", "\x1bLuaS", 1000, ""},
};

static const struct { const char *s; size_t len; } raw_texts[] = {
#define RAW(s) {s, sizeof s - 1}
    RAW("\x1bLua\x54\x00\x19\x93\r\n\x1a\n"), RAW("layout 'X'\0 { dims = { M } }"),
    RAW("local x = '\0' N = \0"), RAW("\0"), RAW("\0\0\0"), RAW("layout \"X"),
    RAW("local x = \"\n\""), RAW("#!/bin/sh\nexit"), RAW("\xef\xbb\xbf M = = 1"),
    RAW("goto nowhere"), RAW("break"), RAW("return N, M,"), RAW("local x <foo> = 1"),
    RAW("local x <const> = 1; x = 2"), RAW("a.b:c = 1"), RAW("::a:: ::a::"),
    RAW("local x = 0x"), RAW("local x = 1e"), RAW("local x = '\\xZZ'"),
    RAW("local x = '\\400'"), RAW("local x = '\\u{110000000}'"),
#undef RAW
};

static const char good_spec[] = "layout 'GOOD' { dims = { N, C }, order = { C, N } }";

/* In the child: the attack ends in a message or not at all, and the arena and the
 * Diag serve the next text as if nothing had been. */
static int
attack_child(const char *text, size_t len, const char *part)
{
    static Diag d;
    static Arena a;
    int status = 0;
    a = (Arena){.diag = &d};
    d.text[0] = 0;
    if (!diag_catch(&d)) {
        spec_load(&a, "attack.lua", text, len);
        if (part && (fprintf(stderr, "accepted\n"), true))
            status = 1;
    } else if (!part || !strstr(d.text, part) || strlen(d.text) < 8) {
        fprintf(stderr, "message '%.200s', not '%s'\n", d.text, part ? part : "none");
        status = 1;
    }
    if (diag_catch(&d)) {
        fprintf(stderr, "a good spec after it: %s\n", d.text);
        status = 1;
    } else {
        const LayoutDef *l = spec_load(&a, "good.lua", good_spec, strlen(good_spec));
        if (strcmp(layout_text(&a, l), "(N, C){C, N}"))
            status = 1;
    }
    arena_free(&a);
    return status;
}

/* True when the child ended well, within its time and memory. */
static bool
survives(const char *text, size_t len, const char *part)
{
    struct rusage use;
    int status = 0;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        setrlimit(RLIMIT_CPU, &(struct rlimit){CPU_SECONDS, CPU_SECONDS + 1});
        setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        exit(attack_child(text, len, part));
    }
    assert_true(child > 0 && wait4(child, &status, 0, &use) == child);
    if (status == 0 && use.ru_maxrss >> 10 <= MEMORY_MB)
        return true;
    print_error("%.160s\n  %s %d, %ld MB\n", text,
                WIFSIGNALED(status) ? "ended by signal" : "exit",
                WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status),
                use.ru_maxrss >> 10);
    return false;
}

static void
sandbox_holds(void **state)
{
    int broken = 0;
    (void)state;
    for (int i = 0; i < LEN(attacks); i++)
        broken += !survives(attacks[i].text, strlen(attacks[i].text), attacks[i].part);
    for (int i = 0; i < LEN(raw_texts); i++)
        broken += !survives(raw_texts[i].s, raw_texts[i].len, "");
    for (int i = 0; i < LEN(big_texts); i++) {
        Text t = repeated(big_texts[i].head, big_texts[i].unit, big_texts[i].n,
                          big_texts[i].tail);
        broken += !survives(t.s, t.len, "");
        free(t.s);
    }
    printf("# %d attacks\n", LEN(attacks) + LEN(raw_texts) + LEN(big_texts));
    assert_int_equal(broken, 0);
}

/* ---- the language: spec texts and what they declare ---- */

typedef struct { const char *text, *layouts; } Meaning;

static const Meaning meanings[] = {
    {"layout 'X' { dims = { N, C }, C0 = 32 // bytes, order = { N, C // C0, C % C0 } }",
     "X (N, C){N, C//C0, C%C0, C0 = 32//bytes}"},
    {"layout 'X' { dims = { ... }, order = { ... } }", "X (...){...}"},
    {"layout 'X' { dims = { ..., H, W }, order = { W, reverse(...), H } }",
     "X (..., H, W){W, reverse(...), H}"},
    {ORDER("M[2], M[1], M // 8, M % 2"), "X (M){M//4%2, M//2%2, M//8, M%2}"},
    {ORDER("(M // 8 % 8) ~ (M % 8), M & 3, M | 4, M << 2, M >> 1, 1 - M % 2, -M + 9, ~M"),
     "X (M){M//8%8 ~ M%8, M & 3, M | 4, M << 2, M >> 1, 1 - M%2, -M + 9, ~M}"},
    {ORDER("min(M, 3), max(2, M), min(2, 3) + M, M * 2 - (M - 1) // 2 % 3"),
     "X (M){min(M, 3), max(2, M), 2 + M, M*2 - (M - 1)//2%3}"},
    {ORDER("-(-M), M - -3, (M // -2) * (M % (M - 1))"),
     "X (M){- -M, M - -3, M//(-2)*(M%(M - 1))}"},
    {ORDER("M // 2.0, M // (1 << 3), M // 0x10"), "X (M){M//2, M//8, M//16}"},
    {WITH("pad = { M = 8 }"), "X (M){M, pad = {M = 8}}"},
    {WITH("pad = { M = 2 * P }, P = 4"), "X (M){M, P = 4, pad = {M = 2*P}}"},
    {WITH("pitch = { M = 64 }"), "X (M){M, pitch = {M = 64}}"},
    {WITH("pitch = { [1] = 64 }"), "X (M){M, pitch = {[1] = 64}}"},
    {"layout 'X' { dims = { M, K }, order = { M, K }, pitch = { K = 2, [1] = 64 }, "
     "pad = { M = 3, K = 2 } }", "X (M, K){M, K, pad = {K = 2, M = 3}, "
     "pitch = {[1] = 64, K = 2}}"},
    {WITH("fill = 0"), "X (M){M}"},
    {WITH("fill = -1.5"), "X (M){M, fill = -1.5}"},
    {WITH("fill = 127"), "X (M){M, fill = 127}"},
    {WITH("fill = 0.1"), "X (M){M, fill = 0.10000000000000001}"},
    {WITH("fill = 1/0"), "X (M){M, fill = 1/0}"},
    {WITH("fill = -1/0"), "X (M){M, fill = -1/0}"},
    {WITH("fill = 0/0"), "X (M){M, fill = 0/0}"},
    {WITH("fill = 'none'"), "X (M){M, fill = \"none\"}"},
    {WITH("fill = 'edge'"), "X (M){M, fill = \"edge\"}"},
    {WITH("swizzle = xor(3, 4, 3)"),
     "X (M){M, swizzle = function(a) return a ~ (a & 896) >> 3 << 0 end}"},
    {WITH("swizzle = xor(3, 4, -3)"),
     "X (M){M, swizzle = function(a) return a ~ (a & 112) >> 0 << 3 end}"},
    {WITH("swizzle = xor(B, 4, 3), B = 3"),
     "X (M){M, B = 3, swizzle = function(a) return a ~ (a & (1 << B) - 1 << 7) >> 3 << 0 "
     "end}"},
    {SWIZZLE("local t = a for i = 1, 2 do t = t ~ a >> i end return t"),
     "X (M){M, swizzle = function(a) return a ~ a >> 1 ~ a >> 2 end}"},
    {WITH("swizzle = xor(2, 4, 3), unit = 'bytes'"),
     "X (M){M, swizzle = function(a) return a ~ (a & 384) >> 3 << 0 end, "
     "unit = \"bytes\"}"},
    {WITH("swizzle = xor(0, 0, 0), unit = 'elements'"),
     "X (M){M, swizzle = function(a) return a ~ (a & 0) >> 0 << 0 end}"},
    {WITH("bits = 4, doc = 'what it is'"), "X (M){M, bits = 4}"},
    {"layout 'X' { dims = { M }, order = { M // P, M % P }, "
     "P = function(bytes, bits) if bits < 8 then return 2 end return 16 // bytes end }",
     "X (M){M//P, M%P, P = function(_, bits) return ({[1] = 2, [2] = 2, [4] = 2, "
     "[8] = 16, [16] = 8, [32] = 4, [64] = 2, [128] = 1, })[bits] end}"},
    {"layout 'X' { dims = { M }, order = { M // P }, P = Q * Q, Q = 2 }",
     "X (M){M//P, P = Q*Q, Q = 2}"},
    {"layout('X', { dims = { M }, order = { M } })", "X (M){M}"},
    {"for _, x in ipairs { 4, 8 } do layout('B' .. x) { dims = { C }, "
     "order = { C // x, C % x } } end", "B4 (C){C//4, C%4}; B8 (C){C//8, C%8}"},
    {"for k, v in pairs { b = 2, a = 1, [2] = 4, [1] = 3 } do "
     "layout('P' .. k) { dims = { M }, order = { M // v } } end",
     "P1 (M){M//3}; P2 (M){M//4}; Pa (M){M//1}; Pb (M){M//2}"},
    {"local function two(n, d) layout(n) { dims = { d }, order = { d } } end "
     "two('X', M) two('Y', K)", "X (M){M}; Y (K){K}"},
    {"local t = { dims = { M }, order = { M } } layout 'X' (t) t.order = { M // 2 } "
     "layout 'Y' (t)", "X (M){M}; Y (M){M//2}"},
    {"assert(tostring(M // 2) == 'M//2' and #'x' == 1 and type(M) == 'userdata')", ""},
    {"local s = string.format('%d %s', 3, ('x'):upper()) assert(s == '3 X')", ""},
    {"", ""},
};

static const char *
all_texts(Arena *a, const LayoutDef *l)
{
    Buf b = buf_new(a);
    for (; l; l = l->next)
        buf_printf(&b, "%s %s%s", l->name, layout_text(a, l), l->next ? "; " : "");
    return b.s;
}

/* What a layout prints reads back as the same. */
static bool
reads_back(Arena *a, const LayoutDef *l)
{
    const char *text = layout_text(a, l);
    const LayoutRef *r = spec_ref(a, text, NULL);
    const char *again = layout_text(a, r->def);
    if (strcmp(text, again))
        print_error("%s: %s\nreads back as %s\n", l->name, text, again);
    return !strcmp(text, again);
}

static bool
means(const Meaning *m)
{
    Diag d;
    Arena a = {.diag = &d};
    volatile bool ok = false;
    if (diag_catch(&d)) {
        print_error("%s\n  %s\n", m->text, d.text);
    } else {
        const LayoutDef *l = spec_load(&a, "x.lua", m->text, strlen(m->text));
        const char *got = all_texts(&a, l);
        ok = !strcmp(got, m->layouts);
        if (!ok)
            print_error("%s\n  is  %s\n  not %s\n", m->text, got, m->layouts);
        for (; l; l = l->next)
            ok &= reads_back(&a, l);
    }
    arena_free(&a);
    return ok;
}

static void
language(void **state)
{
    int wrong = 0;
    (void)state;
    for (int i = 0; i < LEN(meanings); i++)
        wrong += !means(&meanings[i]);
    assert_int_equal(wrong, 0);
}

static LayoutDef *
load_specs(Arena *a)
{
    LayoutDef *first = NULL, **last = &first;
    for (const Embedded *f = embed_specs; f->name; f++) {
        *last = spec_load(a, f->name, f->text, f->len);
        while (*last)
            last = &(*last)->next;
    }
    return first;
}

static const char *
addresses(Arena *a, const LayoutRef *ref, int rank, const i64 *shape)
{
    const DType *t = dtype_find(ref->def->bits == 1   ? "u1"
                                : ref->def->bits == 2 ? "u2"
                                : ref->def->bits == 4 ? "u4" : "f16");
    Layout *l = layout_make(ex_new(a), ref, t, rank, shape);
    return arena_printf(a, "%s of %lld", ex_text(l->e, l->addr), (long long)l->size);
}

/* Every layout of specs/, printed and read back, has the same text and addresses. */
static void
builtins(void **state)
{
    static const i64 shape[MAX_RANK] = {5, 37, 3, 9, 6};
    Diag d;
    Arena a = {.diag = &d};
    int n = 0;
    (void)state;
    if (diag_catch(&d))
        fail_msg("%s", d.text);
    for (const LayoutDef *l = load_specs(&a); l; l = l->next, n++) {
        int rank = l->ndims + 2 * l->batch;
        assert_true(reads_back(&a, l));
        const LayoutRef *again = spec_ref(&a, layout_text(&a, l), NULL);
        const LayoutRef *ref = &(LayoutRef){.def = l};
        assert_string_equal(addresses(&a, ref, rank, shape),
                            addresses(&a, again, rank, shape));
    }
    printf("# %d layouts of specs/\n", n);
    assert_true(n > 30);
    arena_free(&a);
}

/* ---- references: names, parameters given anew, inline forms ---- */

static const struct { const char *text, *dtype; i64 shape[5]; const char *address; }
references[] = {
    {"NCHW", "f32", {2, 3, 4, 5}, "60*N + 20*C + 5*H + W of 120"},
    {" NCHW ", "f32", {2, 3, 4, 5}, "60*N + 20*C + 5*H + W of 120"},
    {"NC1HWC0", "f16", {2, 20, 3, 3}, "288*N + 144*(C//16) + 48*H + 16*W + C%16 of 576"},
    {"NC1HWC0{C0=8}", "f16", {2, 20, 3, 3},
     "216*N + 72*(C//8) + 24*H + 8*W + C%8 of 432"},
    {"NC1HWC0 { C0 = bytes * 2 }", "f16", {2, 20, 3, 3},
     "180*N + 36*(C//4) + 12*H + 4*W + C%4 of 360"},
    {"NC1HWC0{C0 = function(bytes, bits) return bits // 4 end}", "f16", {2, 20, 3, 3},
     "180*N + 36*(C//4) + 12*H + 4*W + C%4 of 360"},
    {"BLOCKED_RR{BM=2, BN=4}", "f32", {5, 7},
     "16*(M//2) + 8*(N//4) + 4*(M%2) + N%4 of 48"},
    {"{C, R}", "f32", {3, 4}, "4*C + R of 12"},
    {"(R,C){C, R}", "f32", {3, 4}, "3*C + R of 12"},
    {" ( R , C ) { C, R } ", "f32", {3, 4}, "3*C + R of 12"},
    {"(..., R){R, ...}", "f32", {2, 3, 4}, "6*R + 3*b0 + b1 of 24"},
    {"(..., R){R, reverse(...)}", "f32", {2, 3, 4}, "6*R + 2*b1 + b0 of 24"},
    {"{N, C//B, C%B, B = 4}", "f32", {2, 9}, "12*N + C of 24"},
    {"{order = {K, M}, dims = {M, K}}", "f32", {3, 4}, "3*K + M of 12"},
    {"{}", "f32", {0}, "0 of 1"},
};

static void
reference_forms(void **state)
{
    int wrong = 0;
    (void)state;
    for (volatile int i = 0; i < LEN(references); i++) {
        Diag d;
        Arena a = {.diag = &d};
        int rank = 0;
        while (references[i].shape[rank])
            rank++;
        if (diag_catch(&d))
            fail_msg("%s: %s", references[i].text, d.text);
        const LayoutRef *r = spec_ref(&a, references[i].text, load_specs(&a));
        Layout *l = layout_make(ex_new(&a), r, dtype_find(references[i].dtype), rank,
                                references[i].shape);
        const char *got = arena_printf(&a, "%s of %lld", ex_text(l->e, l->addr),
                                       (long long)l->size);
        if (strcmp(got, references[i].address)) {
            print_error("%s: %s\n  not %s\n", references[i].text, got,
                        references[i].address);
            wrong++;
        }
        arena_free(&a);
    }
    assert_int_equal(wrong, 0);
}

/* ---- wrong specs, and exactly what is said about each ---- */

static const struct { const char *text, *message; } wrong_specs[] = {
    /* names */
    {"layout 'X' {\n  dims  = { N, C },\n  C0    = 16,\n"
     "  order = { N, C // CO, C % C0 },\n}",
     "s.lua:4: unknown name 'CO': did you mean 'C'?; known here: N, C, C0"},
    {"layout 'X' { dims = { M, K }, order = { M, Z9 } }",
     "s.lua:1: unknown name 'Z9'; known here: M, K"},
    {"layot 'X' { dims = { M }, order = { M } }",
     "s.lua:1: 'layot' is not a function here; did you mean 'layout'?"},
    {"layout 'X' { dims = { M }, ordr = { M } }",
     "s.lua:1: unknown field 'ordr'; did you mean 'order'?"},
    {WITH("fil = 3"),
     "s.lua:1: parameter 'fil' is not used anywhere; did you mean the field 'fill'?"},
    {WITH("C0 = 3"), "s.lua:1: parameter 'C0' is not used anywhere"},
    {"layout 'X' { dims = { M }, order = { M // P }, P = M }",
     "s.lua:1: unknown name 'M': did you mean 'P'?; known here: P"},
    {"layout 'X' { dims = { M }, order = { M // M }, M = 3 }",
     "s.lua:1: 'M' is both a dim and a parameter"},
    {"layout 'a b' { dims = { M }, order = { M } }",
     "s.lua:1: a layout's name is a string of at most 63 letters, digits and _, as in "
     "layout \"NC1HWC0\" { ... }"},
    {"layout { dims = { M } }",
     "s.lua:1: a layout's name is a string of at most 63 letters, digits and _, as in "
     "layout \"NC1HWC0\" { ... }"},
    {ORDER("M") "\n\nlayout 'X' { dims = { K }, order = { K } }",
     "s.lua:3: layout 'X' is declared twice (first in line 1)"},
    {"\nlayout 'X'", "s.lua:2: layout 'X' has no table"},
    /* dims */
    {"layout 'X' { order = { M } }",
     "s.lua:1: layout 'X' has no dims; write dims = { N, C, H, W }"},
    {"layout 'X' { dims = { M, M }, order = { M } }", "s.lua:1: dim 'M' is named twice"},
    {"layout 'X' { dims = { M // 2 }, order = { M } }",
     "s.lua:1: dims[1] is M//2: a dim is a plain name, as in dims = { N, C, H, W }"},
    {"layout 'X' { dims = { M, 'K' }, order = { M } }",
     "s.lua:1: dims[2] is string: a dim is a plain name, as in dims = { N, C, H, W }"},
    {"layout 'X' { dims = { M, ... }, order = { ..., M } }",
     "s.lua:1: '...' stands for the leading dims: it comes first in dims, once"},
    {"layout 'X' { dims = { bytes }, order = { bytes } }",
     "s.lua:1: 'bytes' is the element size and cannot name a dim"},
    /* order */
    {"layout 'X' { dims = { M } }",
     "s.lua:1: layout 'X' has no order; write order = { N, C // 16, ... }"},
    {"layout 'X' { dims = { M, K }, { M, K } }",
     "s.lua:1: layout 'X' has a part without a name; write order = { ... } for "
     "entries and NAME{C0 = 32} for parameters"},
    {"layout 'X' { dims = { M, K }, order = { [2] = M, [3] = K } }",
     "s.lua:1: order is a list: its parts have no names and no gaps"},
    {"layout 'X' { dims = { M, K }, order = { M, k = K } }",
     "s.lua:1: order is a list: its parts have no names and no gaps"},
    {ORDER("..., M"), "s.lua:1: order has '...' but dims do not"},
    {"layout 'X' { dims = { ..., M }, order = { reverse(M), M } }",
     "s.lua:1: reverse(...) takes the batch dims, '...'"},
    {ORDER("M, {}"), "s.lua:1: order[2] is a table: expected an expression of the dims"},
    {ORDER("M ~= 3"),
     "s.lua:1: order[1] is a boolean: expected an expression of the dims"},
    {"layout 'X' {\n dims = { M },\n order = {\n M / 2 } }",
     "s.lua:4: '/' is not for indices; write '//' for division rounded down"},
    {ORDER("M // 2.5"), "s.lua:1: '//' with 2.5: index expressions are whole numbers"},
    {ORDER("M // '2'"),
     "s.lua:1: '//' with a string: expected a dim, a parameter or a number"},
    {ORDER("M[64]"), "s.lua:1: M[64]: bits are 0 to 61"},
    {ORDER("M.x"), "s.lua:1: there is no 'M' here with parts to name; a bit of a dim "
     "is written N[2]"},
    {ORDER("M < 3"),
     "s.lua:1: an index expression has no value yet: it cannot be compared; write it "
     "with // % ~ & | min max"},
    {ORDER("min(M, 3, 4)"),
     "s.lua:1: min takes two arguments: min(a, min(b, c)) for more"},
    /* parameters */
    {"layout 'X' { dims = { M }, order = { M // P }, P = 2.5 }",
     "s.lua:1: 'P' is 2.5: a parameter is a whole number"},
    {"layout 'X' { dims = { M }, order = { M // P }, P = '2' }",
     "s.lua:1: 'P' is a string: a parameter is a whole number, an expression of bytes "
     "and bits, or a function of them"},
    /* the other fields */
    {WITH("pad = { K = 2 }"), "s.lua:1: pad: there is no dim 'K'"},
    {WITH("pad = 2"),
     "s.lua:1: 'pad' must be a table, as in pad = { ... }, not a number"},
    {WITH("pad = { M = 2.5 }"),
     "s.lua:1: pad.M must be a whole number or an expression of the parameters, not a "
     "number"},
    {WITH("pad = { 2 }"), "s.lua:1: 'pad' is written by dim, as in pad = { H = 64 }"},
    {WITH("pitch = { K = 2 }"), "s.lua:1: pitch: there is no dim 'K'"},
    {WITH("pitch = { [2] = 2 }"), "s.lua:1: pitch: there is no entry '2'"},
    {WITH("fill = 'zero'"),
     "s.lua:1: fill is a number, \"none\" (leave the padding alone) or \"edge\" (repeat "
     "the last element)"},
    {WITH("swizzle = 'xor'"),
     "s.lua:1: swizzle is xor(B, M, S) or a function of the address, not a string"},
    {WITH("swizzle = xor(3, 0, 2)"), "s.lua:1: xor(B, M, S) needs S >= B or S <= -B"},
    {WITH("swizzle = xor(3)"), "s.lua:1: xor(B, M, S) takes three whole numbers"},
    {WITH("swizzle = xor(-1, 0, 3)"), "s.lua:1: xor(B, M, S) needs B >= 0 and M >= 0"},
    {SWIZZLE("return a + M"), "s.lua:1: unknown name 'M'; known here: bytes, bits"},
    {SWIZZLE("return 'x'"),
     "s.lua:1: the function must return an expression of its argument, not a string"},
    {SWIZZLE("if a == 5 then return 6 end return a"),
     "s.lua:1: the function does something else for 5 than for the symbol it was traced "
     "with: it must not branch on its argument"},
    {SWIZZLE("if a < 5 then return 6 end return a"),
     "s.lua:1: an index expression has no value yet: it cannot be compared; write it "
     "with // % ~ & | min max"},
    {SWIZZLE("if math.type(a) then return a ~ 1 end return a"),
     "s.lua:1: the function does something else for 0 than for the symbol it was traced "
     "with: it must not branch on its argument"},
    {WITH("unit = 'byte'"),
     "s.lua:1: unit is \"bytes\" or \"elements\": what the swizzle counts"},
    {WITH("bits = 5"),
     "s.lua:1: bits is the element width: 1, 2, 4, 8, 16, 32, 64 or 128"},
    {WITH("doc = 3"), "s.lua:1: doc is a string"},
    /* Lua's own */
    {"layout 'X' {\n dims = { M }", "s.lua:2: '}' expected (to close '{' at line 1) near "
     "<eof>"},
    {"\n\nlocal t = {}\nt.x.y = 1", "s.lua:4: attempt to index a nil value (field 'x')"},
    {"\nwhile true do end",
     "s.lua:2: the spec runs for more than 5 million instructions"},
    {"local s = 'x'\nwhile true do s = s .. s end",
     "s.lua: the spec needs more than 16 MB of memory"},
    {"error('my words', 0)", "s.lua: my words"},
    {"\nerror('my words')", "s.lua:2: my words"},
};

static const struct { const char *text, *dtype; i64 shape[5]; const char *message; }
wrong_layouts[] = {
    /* references */
    {"NC1HWCO", "f32", {1}, "unknown layout 'NC1HWCO'; did you mean NC1HWC0? ('ravel "
     "list' shows all; an inline one is written '{N, C//16, H, W, C%16}')"},
    {"NC1HWC0{C1=3}", "f32", {1},
     "NC1HWC0:1: layout 'NC1HWC0' has no parameter 'C1'; it has C0"},
    {"NC1HWC0{C0='x'}", "f32", {1},
     "NC1HWC0:1: 'C0' is a string: a parameter is a whole number, an expression of bytes "
     "and bits, or a function of them"},
    {"NC1HWC0{C0=3} x", "f32", {1}, "NC1HWC0:1: <eof> expected near 'x'"},
    {"NC1HWC0{C0=0}", "f32", {2, 3, 4, 5},
     "specs/cann.lua:10: 'C//C0': the divisor must be a constant above 0"},
    {"NC1HWC0{C0=C0}", "f32", {2, 3, 4, 5},
     "NC1HWC0:1: parameter 'C0' of layout 'NC1HWC0' is defined by itself for 32-bit "
     "elements"},
    {"{N, C//16, C%16", "f32", {1}, "(inline):1: '}' expected near <eof>"},
    {"{N, C//16, C%16} x", "f32", {1}, "(inline):1: <eof> expected near 'x'"},
    {"(N,C {C}", "f32", {1},
     "'(N,C {C}': dims in front are written (N,C){...}"},
    {"(N,1){N}", "f32", {1},
     "(inline):1: dims[2] is number: a dim is a plain name, as in dims = { N, C, H, W }"},
    {"(N,C){N, D}", "f32", {2, 3},
     "(inline):1: unknown name 'D': did you mean 'N'?; known here: N, C"},
    /* shapes */
    {"(N,C){N, C}", "f32", {2, 3, 4},
     "(inline):1: layout 'inline' has dims (N, C), the shape has 3 extents"},
    {"(N,C){N, C}", "f32", {2, -5}, "extent of C is -5: extents are 1 or more"},
    {"{M, K}", "f32", {4000000000, 4000000000},
     "(inline):1: layout 'inline': its storage does not fit 64 bits"},
    {"(..., b0){..., b0}", "f32", {2, 3},
     "(inline):1: the name 'b0' is taken by a batch dim"},
    /* one-to-one */
    {"{M//2, K}", "f32", {8, 8},
     "(inline):1: layout 'inline': it is not one-to-one: the digit M%2 is stored "
     "nowhere; (0,0) and (1,0) are both at 0"},
    {"{N, C, C}", "f32", {2, 3},
     "(inline):1: layout 'inline': the digit C is stored twice: in 'C' and in 'C'"},
    {"{N, C//4, C%4, C//2%4}", "f32", {2, 9},
     "(inline):1: layout 'inline': the digit C//2%2 is stored twice: in 'C%4' and in "
     "'C//2%4'"},
    {"{M + K}", "f32", {4, 6},
     "(inline):1: layout 'inline': it is not one-to-one: two coordinates share an "
     "address; (0,1) and (1,0) are both at 1"},
    {"{M//2, (K//8%8) ~ (M%8), K%8}", "f32", {6, 64},
     "(inline):1: layout 'inline': it is not one-to-one: the xors do not tell these "
     "coordinates apart; (0,0) and (1,8) are both at 0"},
    {"{M*K}", "f32", {4000000000, 4},
     "(inline):1: layout 'inline': cannot decide whether it is one-to-one: no structure "
     "was found that decides it, and it is too large to look at every element"},
    /* values */
    {"{M // 0, K}", "f32", {6, 64},
     "(inline):1: 'M//0': the divisor must be a constant above 0"},
    {"{M % -2, K}", "f32", {6, 64},
     "(inline):1: 'M%(-2)': the divisor must be a constant above 0"},
    {"{M // K, K}", "f32", {6, 64},
     "(inline):1: 'M//K': the divisor must be a constant above 0"},
    {"{M << 70, K}", "f32", {6, 64},
     "(inline):1: 'M << 70': the shift must be a constant from 0 to 61"},
    {"{M - 1, K}", "f32", {6, 64},
     "(inline):1: order[1], 'M - 1', can be negative (down to -1)"},
    {"{M, K//P, K%P, P = bytes // 8}", "f32", {6, 64},
     "(inline):1: 'K//P': the divisor must be a constant above 0"},
    {"{M, K//P, K%P, P = bytes}", "u4", {6, 64},
     "(inline):1: parameter 'P' of layout 'inline' is not a whole number for 4-bit "
     "elements"},
    {"{M, K//P, K%P, P = Q, Q = P}", "f32", {6, 64},
     "(inline):1: parameter 'P' of layout 'inline' is defined by itself for 32-bit "
     "elements"},
    {"{M, K//P, K%P, P = bytes // 0}", "f32", {6, 64},
     "(inline):1: parameter 'P' of layout 'inline' has no value for 32-bit elements"},
    {"{M, K//P, K%P, P = -Q, Q = math.mininteger}", "f32", {6, 64},
     "(inline):1: parameter 'P' of layout 'inline' has no value for 32-bit elements"},
    {"{M, K, bits = 4}", "f32", {6, 64},
     "(inline):1: layout 'inline' is for 4-bit elements, not f32"},
    {"{M, K, pad = {M = 0}}", "f32", {6, 64},
     "(inline):1: pad must be a number above 0, not '0'"},
    {"{M//2, M%2, K, pitch = {M = 512}}", "f32", {6, 64},
     "(inline):1: pitch: no entry of order is just 'M'; name the entry by its number, as "
     "in pitch = { [2] = 64 }"},
    {"{M, K, pitch = {M = 3}}", "f32", {6, 64},
     "(inline):1: a pitch of 3 bytes is not a whole number of f32 elements"},
    {"{M, K, fill = 300}", "i8", {6, 64},
     "(inline):1: fill = 300 cannot be held by i8"},
    /* swizzles that do not fit */
    {"{M, K, swizzle = xor(3, 4, 3)}", "f32", {6, 65},
     "(inline):1: layout 'inline': the swizzle takes address 384 to 432, outside the 390 "
     "elements of storage; pad the dims so that the storage is a whole number of its "
     "blocks"},
    {"SEED84", "f32", {5, 7},
     "specs/swizzle.lua:51: layout 'SEED84': the swizzle takes address 34 to 35, outside "
     "the 35 elements of storage; pad the dims so that the storage is a whole number of "
     "its blocks"},
    {"{M, K, swizzle = function(a) return a // 2 end}", "f32", {6, 64},
     "(inline):1: layout 'inline': the swizzle is not one-to-one: addresses 0 and 1 both "
     "go to 0"},
    {"{M, K, swizzle = function(a) return a ~ 1 end, unit = 'bytes'}", "f32", {6, 64},
     "(inline):1: the swizzle 'a ~ 1' moves parts of 4-byte elements"},
};

static bool
same_message(const char *text, const char *got, const char *want)
{
    if (strcmp(got, want))
        print_error("%s\n  says  %s\n  not   %s\n", text, got, want);
    return !strcmp(got, want);
}

static void
spec_messages(void **state)
{
    volatile int wrong = 0;
    (void)state;
    for (volatile int i = 0; i < LEN(wrong_specs); i++) {
        Diag d;
        Arena a = {.diag = &d};
        const char *text = wrong_specs[i].text;
        if (diag_catch(&d)) {
            wrong += !same_message(text, d.text, wrong_specs[i].message);
        } else {
            const LayoutDef *l = spec_load(&a, "s.lua", text, strlen(text));
            wrong += !same_message(text, all_texts(&a, l), wrong_specs[i].message);
        }
        arena_free(&a);
    }
    printf("# %d wrong specs\n", LEN(wrong_specs));
    assert_int_equal(wrong, 0);
}

static void
layout_messages(void **state)
{
    volatile int wrong = 0;
    (void)state;
    for (volatile int i = 0; i < LEN(wrong_layouts); i++) {
        Diag d;
        Arena a = {.diag = &d};
        const i64 *shape = wrong_layouts[i].shape;
        const char *text = wrong_layouts[i].text;
        int rank = 0;
        while (shape[rank])
            rank++;
        if (diag_catch(&d)) {
            wrong += !same_message(text, d.text, wrong_layouts[i].message);
        } else {
            const LayoutRef *r = spec_ref(&a, text, load_specs(&a));
            decide_or_fail(layout_make(ex_new(&a), r, dtype_find(wrong_layouts[i].dtype),
                                       rank, shape));
            wrong += !same_message(text, "accepted", wrong_layouts[i].message);
        }
        arena_free(&a);
    }
    printf("# %d wrong layouts\n", LEN(wrong_layouts));
    assert_int_equal(wrong, 0);
}

/* An extent of zero cannot stand in a table that ends with it. */
static void
extent_zero(void **state)
{
    Diag d;
    Arena a = {.diag = &d};
    (void)state;
    if (!diag_catch(&d)) {
        layout_make(ex_new(&a), spec_ref(&a, "{M, K}", NULL), dtype_find("f32"), 2,
                    (i64[]){6, 0});
        fail_msg("accepted");
    }
    assert_string_equal(d.text, "extent of K is 0: extents are 1 or more");
    arena_free(&a);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(language),        cmocka_unit_test(builtins),
        cmocka_unit_test(reference_forms), cmocka_unit_test(spec_messages),
        cmocka_unit_test(layout_messages), cmocka_unit_test(extent_zero),
        cmocka_unit_test(sandbox_holds),
    };
    return cmocka_run_group_tests_name("spec", tests, NULL, NULL);
}
