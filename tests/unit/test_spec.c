/* The spec language: what a spec may say. */
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
    {WITH("fill = 0"), "X (M){M, fill = 0}"},
    {WITH("fill = -1.5"), "X (M){M, fill = -1.5}"},
    {WITH("fill = 127"), "X (M){M, fill = 127}"},
    {WITH("fill = 0.1"), "X (M){M, fill = 0.10000000000000001}"},
    {WITH("fill = 1/0"), "X (M){M, fill = 1/0}"},
    {WITH("fill = -1/0"), "X (M){M, fill = -1/0}"},
    {WITH("fill = 0/0"), "X (M){M, fill = 0/0}"},
    {WITH("fill = 'none'"), "X (M){M, fill = \"none\"}"},
    {WITH("fill = 'edge'"), "X (M){M, fill = \"edge\"}"},
    {WITH("swizzle = xor(3, 4, 3)"),
     "X (M){M, swizzle = xor(3, 4, 3)}"},
    {WITH("swizzle = xor(3, 4, -3)"),
     "X (M){M, swizzle = xor(3, 4, -3)}"},
    {WITH("swizzle = xor(B, 4, 3), B = 3"),
     "X (M){M, B = 3, swizzle = function(a) return a ~ (a & (1 << B) - 1 << 7) >> 3 << 0 "
     "end}"},
    {SWIZZLE("local t = a for i = 1, 2 do t = t ~ a >> i end return t"),
     "X (M){M, swizzle = function(a) return a ~ a >> 1 ~ a >> 2 end}"},
    {WITH("swizzle = xor(2, 4, 3), unit = 'bytes'"),
     "X (M){M, swizzle = xor(2, 4, 3), unit = \"bytes\"}"},
    {WITH("swizzle = function(a) return a ~ ((a & 0x30) >> 2 << 0) end"),
     "X (M){M, swizzle = xor(2, 2, 2)}"},
    {WITH("swizzle = function(a) return a ~ ((a & 0x70) >> 2 << 0) end"),    /* overlapping */
     "X (M){M, swizzle = function(a) return a ~ (a & 112) >> 2 << 0 end}"},
    {WITH("swizzle = function(a) return a ~ ((a & 0x50) >> 4 << 0) end"),    /* not a run */
     "X (M){M, swizzle = function(a) return a ~ (a & 80) >> 4 << 0 end}"},
    {WITH("swizzle = function(a) return a ~ ((a & 0x4000000000000000) >> 0 << 1) end"),
     "X (M){M, swizzle = function(a) return a ~ (a & 4611686018427387904) >> 0 << 1 end}"},
    {WITH("swizzle = function(a) return a ~ ((a & 0x7fffffffffffffff) >> 0 << 1) end"),
     "X (M){M, swizzle = function(a) return a ~ (a & 9223372036854775807) >> 0 << 1 end}"},
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

static _Atomic(Builtin *) builtin;
static const Known specs = {NULL, &builtin};

static const char *
addresses(Arena *a, const LayoutRef *ref, int rank, const i64 *shape)
{
    static const char *const of_width[] = {"f16", "u1", "u2", "u4", "u8", "f16", "f32",
                                           "f64", "c128"};
    int bits = ref->def->bits;
    const DType *t = dtype_find(of_width[bits ? 1 + int_log2(bits) : 0]);
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
    for (const LayoutDef **of = known_all(&a, &specs), *l; (l = *of); of++, n++) {
        if (l->level)                     /* no inline form declares a sparse format */
            continue;
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

/* A name is found whatever was read before: as the layout that the list of all has. */
static void
each_name(void **state)
{
    (void)state;
    Arena a = {0};
    Diag d;
    if (diag_catch(&d))
        fail_msg("%s", d.text);
    for (const LayoutDef **of = known_all(&a, &specs), *l; (l = *of); of++) {
        _Atomic(Builtin *) fresh = NULL;
        const LayoutDef *found = known_find(&a, &(Known){NULL, &fresh}, l->name);
        assert_non_null(found);
        assert_string_equal(found->loc.file, l->loc.file);
        assert_int_equal(found->loc.line, l->loc.line);
        known_free(fresh);
    }
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
        const LayoutRef *r = spec_ref(&a, references[i].text, &specs);
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

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(language),
        cmocka_unit_test(builtins),
        cmocka_unit_test(each_name),
        cmocka_unit_test(reference_forms),
    };
    return cmocka_run_group_tests_name("spec", tests, NULL, NULL);
}
