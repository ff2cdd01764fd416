/* What a spec may not say, and the exact answer to it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../compiler/decide/decide.h"
#include "../../compiler/spec/spec.h"
#include "spec_fields.h"
#include "spec_texts.h"

static _Atomic(Builtin *) builtin;
static const Known specs = {NULL, &builtin};

static const struct { const char *text, *message; } wrong_specs[] = {
    /* names */
    {"layout 'X' {\n  dims  = { N, C },\n  C0    = 16,\n"
     "  order = { N, C // CO, C % C0 },\n}",
     "s.lua:4: unknown name 'CO': did you mean 'C0'?; known here: N, C, C0"},
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
     "s.lua:1: unknown name 'M'; known here: P"},
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
     "s.lua:1: dims[2] is a string: a dim is a plain name, as in dims = { N, C, H, W }"},
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
     "with | ~ & << >> + - * // % min max"},
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
     "s.lua:1: fill is a number, a parameter, \"none\" (leave the padding alone), \"unspecified\" (the "
     "same) or \"edge\" (repeat the last element)"},
    {WITH("swizzle = 'xor'"),
     "s.lua:1: swizzle is xor(B, M, S) or a function of the address, not a string"},
    {WITH("swizzle = xor(3, 0, 2)"), "s.lua:1: xor(B, M, S) needs S >= B or S <= -B"},
    {WITH("swizzle = xor(3)"), "s.lua:1: xor(B, M, S) takes three whole numbers, as in "
                              "xor(3, 4, 3)"},
    {WITH("swizzle = xor(-1, 0, 3)"), "s.lua:1: xor(B, M, S) needs B >= 0 and M >= 0"},
    {SWIZZLE("return a + M"), "s.lua:1: unknown name 'M'; known here: a"},
    {SWIZZLE("return 'x'"),
     "s.lua:1: the function must return an expression of its argument, not a string"},
    {SWIZZLE("if a == 5 then return 6 end return a"),
     "s.lua:1: the function does something else for 5 than for the symbol it was traced "
     "with: it must not branch on its argument"},
    {SWIZZLE("if a < 5 then return 6 end return a"),
     "s.lua:1: an index expression has no value yet: it cannot be compared; write it "
     "with | ~ & << >> + - * // % min max"},
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
     "s.lua:2: the spec runs for more than 5 million instructions; --limit "
     "(ravel_set_limit) allows more"},
    {"local s = 'x'\nwhile true do s = s .. s end",
     "s.lua: the spec needs more than 16 MB of memory"},
    {"local function f(x) return 1 + f(x) end\nf(1)",
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
     "specs/cann.lua:13: 'C//C0': the divisor must be a constant above 0"},
    {"NC1HWC0{C0=C0}", "f32", {2, 3, 4, 5},
     "NC1HWC0:1: parameter 'C0' of layout 'NC1HWC0' is defined by itself for 32-bit "
     "elements"},
    {"{N, C//16, C%16", "f32", {1}, "'{N, C//16, C%16' is not closed; did you "
     "mean '{N, C//16, C%16}'?"},
    {"{N, C//16, C%16} x", "f32", {1}, "(inline):1: <eof> expected near 'x'"},
    {"(N,C {C}", "f32", {1},
     "'(N,C {C}': dims in front are written (N,C){...}"},
    {"(N,1){N}", "f32", {1},
     "(inline):1: dims[2] is a number: a dim is a plain name, as in dims = { N, C, H, W }"},
    {"(N,C){N, D}", "f32", {2, 3},
     "(inline):1: unknown name 'D'; known here: N, C"},
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
     "nowhere; (0,0) and (1,0) are both at 0 (a layout that is only read from may say view "
     "= true)"},
    {"{N, C, C}", "f32", {2, 3},
     "(inline):1: layout 'inline': the digit C is stored twice: in 'C' and in 'C'"},
    {"{N, C//4, C%4, C//2%4}", "f32", {2, 9},
     "(inline):1: layout 'inline': the digit C//2%2 is stored twice: in 'C%4' and in "
     "'C//2%4'"},
    {"{M + K}", "f32", {4, 6},
     "(inline):1: layout 'inline': it is not one-to-one: in 'M + K' one step of "
     "'K' is 1, but the other terms reach 3: the strides overlap; (0,1) and (1,0) are "
     "both at 1 (a layout that is only read from may say "
     "view = true)"},
    {"{M//2, (K//8%8) ~ (M%8), K%8}", "f32", {6, 64},
     "(inline):1: layout 'inline': it is not one-to-one: the xors do not tell these "
     "coordinates apart; (0,0) and (1,8) are both at 0 (a layout that is only read from may "
     "say view = true)"},
    {"{M, (K*K)%1000003}", "f32", {4000000, 3000000},
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
     "(inline):1: order[1], 'M - 1', can be negative (-1 at M = 0)"},
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
    {"{M, K, fill = 1e99}", "f32", {6, 64},
     "(inline):1: fill = 1e+99 cannot be held by f32"},
    {"{M, K, fill = -65520}", "f16", {6, 64},
     "(inline):1: fill = -65520 cannot be held by f16"},
    {"{M, K, fill = 3.4e38}", "bf16", {6, 64},
     "(inline):1: fill = 3.4e+38 cannot be held by bf16"},
    /* swizzles that do not fit */
    {"{M, K, swizzle = xor(3, 4, 3)}", "f32", {6, 65},
     "(inline):1: layout 'inline': the swizzle takes address 384 to 432, outside the 390 "
     "elements of storage; pad the dims so that the storage is a whole number of its "
     "blocks of 512, as by pad = {M = 4, K = 64}"},
    {"SEED84", "f32", {5, 7},
     "specs/swizzle.lua:124: layout 'SEED84': the swizzle takes address 34 to 35, outside "
     "the 35 elements of storage; pad the dims so that the storage is a whole number of "
     "its blocks of 64, as by pad = {R = 4, C = 2}"},
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
            const LayoutRef *r = spec_ref(&a, text, &specs);
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
        cmocka_unit_test(spec_messages),
        cmocka_unit_test(layout_messages),
        cmocka_unit_test(extent_zero),
    };
    return cmocka_run_group_tests_name("spec_messages", tests, NULL, NULL);
}
