/* fault_calls.h: every call of the library, with what it is given. */
#ifndef RAVEL_FAULT_CALLS_H
#define RAVEL_FAULT_CALLS_H

#include "../../runtime/npy.h"
#include "../../runtime/ravel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* What each is given outlives the injections. */

static ravel_context *cx, *walking;   /* walking: no machine code */
static ravel_plan *plan, *any;        /* any: of walking, at any shape */
static char file_name[128];
static unsigned char buffer[2][1 << 16], proven_source[1 << 13], proven[1 << 13];
static int64_t addresses[1 << 12];

static const char SPEC[] =
    "local names = {}\n"
    "for i = 1, 40 do names[i] = string.format('%d', i) .. 'x' end\n"
    "layout 'FAULTY' { doc = table.concat(names), dims = {N, C, H, W},\n"
    "  C0 = 32 // bytes, pitch = {H = 64}, fill = 0,\n"
    "  order = {N, C // C0, H, W, C % C0} }\n"
    "layout 'FAULTY_XOR' { dims = {R, C},\n"
    "  order = {R // 8, C // 8, R % 8, (C ~ R) % 8} }\n";

static const char WRONG[] = "layout 'A' { dims = {R, C}, order = {R, C.x} }";

typedef struct {
    const char *name;
    ravel_status (*call)(const char *const *arg, ravel_error *err);
    const char *arg[3];            /* source and destination, or text; dtype */
    ravel_status untouched;        /* its answer where nothing fails */
} Case;

static ravel_status
new_context(const char *const *arg, ravel_error *err)
{
    ravel_context *c = (ravel_context *)buffer;
    (void)arg;
    ravel_status s = ravel_context_new(&c, err);
    assert_true(s ? !c : !!c);
    ravel_context_free(c);
    return s;
}

/* A text that loads stays in its context, so each goes to a context without any. */
static ravel_status
load_text(const char *const *arg, ravel_error *err)
{
    bool on = fault.on;
    ravel_context *c;
    fault.on = false;
    assert_int_equal(ravel_context_new(&c, NULL), RAVEL_OK);
    fault.on = on;
    ravel_status s = ravel_load(c, arg[0], strlen(arg[0]), "faulty.lua", err);
    fault.on = false;
    ravel_context_free(c);
    return s;
}

static const char WISDOM[] = "ravel wisdom 1\n"
    "a\tavx2\t1\tf16\t(2)\tx\ty\t1:copy:in order of reads;2:fill:in order of writes\n"
    "b\tavx2\t1\tf16\t(2)\tx\ty\t1:copy:in order of reads\n";

/* As load_text: what was told before stands, and nothing else. */
static ravel_status
load_wisdom(const char *const *arg, ravel_error *err)
{
    bool on = fault.on;
    char *text;
    ravel_context *c;
    fault.on = false;
    assert_int_equal(ravel_context_new(&c, NULL), RAVEL_OK);
    fault.on = on;
    ravel_status s = ravel_wisdom_load(c, arg[0], strlen(arg[0]), err);
    fault.on = false;
    assert_int_equal(ravel_wisdom_text(c, &text, NULL, NULL), RAVEL_OK);
    assert_string_equal(text, s ? "ravel wisdom 1\n" : arg[0]);
    free(text);
    ravel_context_free(c);
    return s;
}

static ravel_status
wisdom_text(const char *const *arg, ravel_error *err)
{
    char *text = (char *)buffer;
    (void)arg;
    ravel_status s = ravel_wisdom_text(cx, &text, NULL, err);
    assert_true(s ? !text : !!text);
    free(text);
    return s;
}

static const int64_t SHAPE[] = {2, 20, 5, 7};

static ravel_status
make_plan(const char *const *arg, ravel_plan **out, ravel_error *err)
{
    int rank = strchr(arg[1], 'R') ? 2 : 4;
    ravel_request rq = {arg[0], arg[1], arg[2], rank, SHAPE + (rank == 2), 0, 0};
    return ravel_compile(cx, &rq, out, err);
}

static ravel_status
compile(const char *const *arg, ravel_error *err)
{
    ravel_plan *p = (ravel_plan *)buffer;
    ravel_status s = make_plan(arg, &p, err);
    assert_true(s ? !p : !!p);
    ravel_plan_free(p);
    return s;
}

static ravel_status
verify(const char *const *arg, ravel_error *err)
{
    (void)arg;
    return ravel_verify(plan, err);
}

/* Runs in place take memory. */
static ravel_status
verify_in_place(const char *const *arg, ravel_error *err)
{
    ravel_plan *p;
    ravel_request rq = {arg[0], arg[1], arg[2], 4, SHAPE, 1, 1};
    ravel_status s = ravel_compile(cx, &rq, &p, err);
    if (s == RAVEL_OK)
        s = ravel_verify(p, err);
    ravel_plan_free(p);
    return s;
}

static ravel_status
run(const char *const *arg, ravel_error *err)
{
    (void)arg;
    (void)err;
    return ravel_run(plan, buffer[0], buffer[1]);
}

static ravel_status
run_shape(const char *const *arg, ravel_error *err)
{
    (void)arg;
    return ravel_run_shape(any, buffer[0], buffer[1], SHAPE, err);
}

static ravel_status
bytes_at(const char *const *arg, ravel_error *err)
{
    (void)arg;
    return ravel_plan_bytes_at(any, SHAPE, addresses, addresses + 1, err);
}

static ravel_status
shapes_at(const char *const *arg, ravel_error *err)
{
    ravel_extents e[2];
    (void)arg;
    return ravel_plan_shapes_at(any, SHAPE, e, e + 1, err);
}

static ravel_status
verify_any(const char *const *arg, ravel_error *err)
{
    (void)arg;
    return ravel_verify(any, err);
}

static const int64_t LEFT[] = {RAVEL_RUNTIME, 20, RAVEL_RUNTIME, 7};

static ravel_status
compile_any(const char *const *arg, ravel_error *err)
{
    ravel_plan *p = (ravel_plan *)buffer;
    ravel_request rq = {arg[0], arg[1], arg[2], 4, LEFT, 0, 0};
    ravel_status s = ravel_compile(walking, &rq, &p, err);
    assert_true(s ? !p : !!p);
    ravel_plan_free(p);
    return s;
}

static ravel_status
table(const char *const *arg, ravel_error *err)
{
    return ravel_table(cx, arg[0], arg[2], 4, SHAPE, addresses, err);
}

static ravel_status
storage_bytes(const char *const *arg, ravel_error *err)
{
    return ravel_storage_bytes(cx, arg[0], arg[2], 4, SHAPE, addresses, err);
}

static ravel_status
storage_shape(const char *const *arg, ravel_error *err)
{
    ravel_extents e;
    return ravel_storage_shape(cx, arg[0], arg[2], 4, SHAPE, &e, err);
}

static ravel_status
logical_shape(const char *const *arg, ravel_error *err)
{
    int64_t shape[4];
    return ravel_logical_shape(cx, arg[0], arg[2], 4, SHAPE, shape, err);
}

static ravel_status
any_dtype(const char *const *arg, ravel_error *err)
{
    const char *t;
    return ravel_any_dtype(cx, arg[0], &t, err);
}

static ravel_status
address(const char *const *arg, ravel_error *err)
{
    static const int64_t x[] = {1, 17, 4, 6};
    return ravel_index(cx, arg[0], arg[2], 4, SHAPE, x, addresses, err);
}

static ravel_status
element(const char *const *arg, ravel_error *err)
{
    int found;
    return ravel_element(cx, arg[0], arg[2], 4, SHAPE, 2225, addresses, &found, err);
}

static ravel_status
check(const char *const *arg, ravel_error *err)
{
    ravel_verdict v;
    return ravel_check(cx, arg[0], arg[2], 4, SHAPE, &v, err);
}

static ravel_status
equal(const char *const *arg, ravel_error *err)
{
    ravel_equality e;
    return ravel_equal(cx, arg[0], arg[1], arg[2], 0, NULL, &e, err);
}

static ravel_status
draw(const char *const *arg, ravel_error *err)
{
    char *text = (char *)buffer;
    ravel_status s = ravel_svg(cx, arg[0], arg[2], 4, SHAPE, &text, err);
    assert_true(s ? !text : !!text);
    free(text);
    return s;
}

static ravel_status
write_npy(const char *const *arg, ravel_error *err)
{
    (void)arg;
    return npy_write(file_name, "i8", 8, 2, (int64_t[]){3, 4}, buffer[1], err);
}

static ravel_status
read_npy(const char *const *arg, ravel_error *err)
{
    Npy a;
    (void)arg;
    ravel_status s = npy_read(file_name, &a, err);
    assert_true(s ? !a.data : !!a.data);
    npy_free(&a);
    return s;
}

static const Case CASES[] = {
    {"context_new", new_context, {0}, RAVEL_OK},
    {"load", load_text, {SPEC}, RAVEL_OK},
    {"load, wrong", load_text, {WRONG}, RAVEL_ERR_SPEC},
    {"compile, blocks", compile, {"NCHW", "NC1HWC0", "f16"}, RAVEL_OK},
    {"compile, segments", compile, {"NCHW{}", "{N, C//6, H, W, C%6}", "f32"}, RAVEL_OK},
    {"compile, long", compile, {"{N, C//6, H//4, W//3, H%4, W%3, C%6}",
     "{N//2, C//16, H//3, W//4, N%2, H%3, W%4, C%16}", "f16"}, RAVEL_OK},
    {"compile, parameters", compile, {"NCHW", "NC1HWC0{C0=8}", "i4"}, RAVEL_OK},
    {"compile, xor", compile, {"(R,C){R, C}", "(R,C){R//8, C//8, R%8, (C ~ R)%8}", "u8"},
     RAVEL_OK},
    {"compile, unknown", compile, {"NCHW", "NC1HWCO", "f16"}, RAVEL_ERR_SPEC},
    {"compile, collision", compile, {"NCHW", "{N, C//2, H, W}", "f16"}, RAVEL_ERR_LAYOUT},
    {"verify", verify, {0}, RAVEL_OK},
    {"verify, in place", verify_in_place, {"NCHW", "NHWC", "f16"}, RAVEL_OK},
    {"compile, any shape", compile_any, {"NCHW", "NC1HWC0", "f16"}, RAVEL_OK},
    {"run_shape", run_shape, {0}, RAVEL_OK},
    {"bytes_at", bytes_at, {0}, RAVEL_OK},
    {"shapes_at", shapes_at, {0}, RAVEL_OK},
    {"verify, any shape", verify_any, {0}, RAVEL_OK},
    {"table", table, {"NC1HWC0", 0, "f16"}, RAVEL_OK},
    {"storage_bytes", storage_bytes, {"FRACTAL_Z", 0, "i8"}, RAVEL_OK},
    {"storage_shape", storage_shape, {"NC1HWC0", 0, "f16"}, RAVEL_OK},
    {"logical_shape", logical_shape, {"NHWC", 0, "f16"}, RAVEL_OK},
    {"any_dtype", any_dtype, {"NHWC"}, RAVEL_OK},
    {"index", address, {"NC1HWC0", 0, "f16"}, RAVEL_OK},
    {"element", element, {"NC1HWC0", 0, "f16"}, RAVEL_OK},
    {"check", check, {"NC1HWC0", 0, "f16"}, RAVEL_OK},
    {"check, collision", check, {"{N, C//2, H, W}", 0, "f16"}, RAVEL_OK},
    {"equal", equal, {"NHWC", "(N,C,H,W){N, H, W, C}", "f16"}, RAVEL_OK},
    {"equal, no", equal, {"NHWC", "NCHW", "f16"}, RAVEL_OK},
    {"svg", draw, {"NC1HWC0", 0, "f16"}, RAVEL_OK},
    {"wisdom_load", load_wisdom, {WISDOM}, RAVEL_OK},
    {"wisdom_load, wrong", load_wisdom, {"ravel wisdom 1\nx\n"}, RAVEL_ERR_ARGUMENT},
    {"wisdom_text", wisdom_text, {0}, RAVEL_OK},
    {"npy_write", write_npy, {0}, RAVEL_OK},
    {"npy_read", read_npy, {0}, RAVEL_OK},
};

#endif
