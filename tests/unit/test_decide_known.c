/* Decisions about known layouts: their words, and enumeration. */
#include "decide_oracle.h"

static _Atomic(Builtin *) builtin;
static const Known specs = {NULL, &builtin};

static void
add_point(Buf *b, const Layout *l, const i64 *x)
{
    for (int d = 0; d < l->rank; d++)
        buf_printf(b, "%c%lld", d ? ',' : '(', (long long)x[d]);
    buf_add(b, ")");
}

/* A verdict in words: what `ravel check` has to go by. */
static const char *
verdict_text(const Case *c)
{
    const Verdict *v = c->v;
    Buf b = buf_new(ex_arena(c->l->e));
    if (v->flaw != FLAW_NONE) {
        buf_printf(&b, "no: %s", v->why);
        if (v->flaw == FLAW_COLLISION) {
            buf_add(&b, "; ");
            add_point(&b, c->l, v->x);
            add_point(&b, c->l, v->y);
            buf_printf(&b, " at %lld", (long long)v->at);
        }
        return b.s;
    }
    buf_printf(&b, "yes: %lld elements, %lld padding, %lld holes", (long long)v->elements,
               (long long)v->padding, (long long)v->holes);
    if (v->ngaps)
        buf_printf(&b, ", %s at %lld", v->gap->padding ? "padding" : "hole",
                   (long long)v->gap->from);
    for (int d = 0; v->inverse && d < c->l->rank; d++)
        buf_printf(&b, "%s %s", d ? "," : "; inverse", ex_text(c->l->e, v->inverse[d]));
    return b.s;
}

typedef struct {
    const char *text, *dtype;
    i64 shape[RANK_MAX];     /* ends with 0 */
    const char *verdict;
} KnownVerdict;

static const KnownVerdict known[] = {
    /* the two examples of the issue */
    {"{M, (K//8%8) ~ (M%8), K%8}", "f32", {6, 64},
     "yes: 384 elements, 0 padding, 0 holes; inverse a//64, "
     "8*((a//8%8) ~ (a//64)) + a%8"},
    {"{M//2, K}", "f32", {8, 8},
     "no: the digit M%2 is stored nowhere; (0,0)(1,0) at 0"},
    /* digits missing, repeated, overlapping */
    {"(N,C){N}", "f32", {2, 3}, "no: the digit C is stored nowhere; (0,0)(0,1) at 0"},
    {"{N, C, C}", "f32", {2, 3},
     "no: the digit C is stored twice: in 'C' and in 'C'"},
    {"{N, C//4, C%4, C//2%4}", "f32", {2, 9},
     "no: the digit C//2%2 is stored twice: in 'C%4' and in 'C//2%4'"},
    {"{A%4, A//8}", "f32", {10},
     "no: the digit A//4%2 is stored nowhere; (0)(4) at 0"},
    {"{A%4, A//8}", "f32", {4}, "yes: 4 elements, 0 padding, 0 holes; inverse a"},
    {"{A//4, A%6}", "f32", {9},
     "yes: 9 elements, 3 padding, 6 holes, hole at 4"},
    {"{A//2%2, A//4, A%2}", "f32", {9},
     "yes: 9 elements, 3 padding, 0 holes, padding at 5; inverse "
     "4*(a//2%3) + 2*(a//6) + a%2"},
    /* blocks, tails, padding */
    {"{A//4, B//4, A%4, B%4}", "f32", {9, 9},
     "yes: 81 elements, 63 padding, 0 holes, padding at 33; inverse "
     "4*(a//48) + a//4%4, 4*(a//16%3) + a%4"},
    {"{A, B, pad = {A = 4, B = 4}}", "f32", {3, 3},
     "yes: 9 elements, 7 padding, 0 holes, padding at 3; inverse a//4, a%4"},
    {"{A, B, pitch = {A = 1}}", "u4", {3, 3},
     "yes: 9 elements, 0 padding, 3 holes, hole at 3; inverse a//4, a%4"},
    {"SF128x4", "u8", {200, 10},
     "yes: 2000 elements, 1072 padding, 0 holes, padding at 1026; inverse "
     "128*(a//1536) + 32*(a//4%4) + a//16%32, 4*(a//512%3) + a%4"},
    {"NC1HWC0", "f16", {2, 20, 5, 7},
     "yes: 1400 elements, 840 padding, 0 holes, padding at 564; inverse a//1120, "
     "16*(a//560%2) + a%16, a//112%5, a//16%7"},
    {"{A, B, 1}", "f32", {6, 64},
     "yes: 384 elements, 0 padding, 384 holes, hole at 0; inverse a//128, a//2%64"},
    /* sums */
    {"{A * 6 + B}", "f32", {4, 6},
     "yes: 24 elements, 0 padding, 0 holes; inverse a//6, a%6"},
    {"{A * 7 + B}", "f32", {4, 6},
     "yes: 24 elements, 0 padding, 3 holes, hole at 6; inverse a//7, a%7"},
    {"{A * 5 + B}", "f32", {4, 6},
     "no: in 'A*5 + B' one step of 'A' is 5, but the other terms reach 5: the strides "
     "overlap; (0,5)(1,0) at 5"},
    {"{A + B}", "f32", {4, 6},
     "no: in 'A + B' one step of 'B' is 1, but the other terms reach 3: the strides "
     "overlap; (0,1)(1,0) at 1"},
    {"{A | B << 2}", "f32", {4, 6},
     "yes: 24 elements, 0 padding, 8 holes, hole at 24"},
    {"{A ~ 2 | B << 2}", "f32", {2, 4},
     "yes: 8 elements, 8 padding, 0 holes, padding at 0"},
    {"{A, A | B}", "f32", {4, 4},
     "no: two coordinates share an address; (1,0)(1,1) at 5"},
    {"{A, 7 - B % 8}", "f32", {4, 8},
     "yes: 32 elements, 0 padding, 0 holes; inverse a//8, -(a%8) + 7"},
    /* xors */
    {"{A//8, A//2%4, (A%4 ~ A//2%4)}", "f32", {16},
     "yes: 16 elements, 0 padding, 16 holes, hole at 2; inverse "
     "2*(a//4) + ((a%2) ~ (a//4%2))"},
    {"{M, (K//8%6) ~ (M%6), K%8}", "f32", {6, 48},
     "yes: 288 elements, 0 padding, 96 holes, hole at 48"},
    {"{M, ((K//8) ~ M) % 6, K%8}", "f32", {6, 48},        /* over 6 chunks: refused */
     "no: '(K//8 ~ M)%6' divides an xor by 6, which is no power of two: different "
     "elements meet; (2,16)(2,32) at 96"},
    {"{M//2, (K//8%8) ~ (M%8), K%8}", "f32", {6, 64},
     "no: the xors do not tell these coordinates apart; (0,0)(1,8) at 0"},
    {"{A%16 ~ A%16//2}", "f32", {16},
     "yes: 16 elements, 0 padding, 0 holes; inverse 8*(a//8) + 4*((a//4%2) ~ (a//8)) + "
     "2*((a//2%2) ~ (a//4%2) ~ (a//8)) + ((a%2) ~ (a//2%2) ~ (a//4%2) ~ (a//8))"},
    /* swizzles on the address */
    {"{A, B, swizzle = function(a) return a ~ (a >> 1) end}", "f32", {4, 4},   /* Gray */
     "yes: 16 elements, 0 padding, 0 holes; inverse 2*(a//8) + ((a//4%2) ~ (a//8)), "
     "2*((a//2%2) ~ (a//4%2) ~ (a//8)) + ((a%2) ~ (a//2%2) ~ (a//4%2) ~ (a//8))"},
    {"{A, B, swizzle = function(a) return a ~ (a >> 1) end}", "f32", {3, 4},
     "no: the swizzle takes address 8 to 12, outside the 12 elements of storage; pad "
     "the dims so that the storage is a whole number of its blocks of 16, as by pad = "
     "{A = 2}"},
    {"{A, B, swizzle = function(a) return a + 7 & 15 end}", "f32", {4, 4},
     "yes: 16 elements, 0 padding, 0 holes"},
    {"{A, B, swizzle = function(a) return 3 * a & 15 end}", "f32", {4, 4},
     "yes: 16 elements, 0 padding, 0 holes"},
    {"{A, B, swizzle = function(a) return 2 * a & 15 end}", "f32", {4, 4},
     "no: the swizzle is not one-to-one: addresses 0 and 8 both go to 0"},
    {"{A, B, swizzle = function(a) return a // 2 end}", "f32", {6, 64},
     "no: the swizzle is not one-to-one: addresses 0 and 1 both go to 0"},
    {"{A, B, swizzle = xor(3, 4, 3)}", "f32", {6, 65},
     "no: the swizzle takes address 384 to 432, outside the 390 elements of storage; "
     "pad the dims so that the storage is a whole number of its blocks of 512, as by pad "
     "= {A = 4, B = 64}"},
    {"SEED83", "f32", {32, 64},
     "yes: 2048 elements, 0 padding, 0 holes; inverse 16*(a//1024) + 4*((a//4%4) ~ "
     "(a//32%4) ~ (a//256%4)) + ((a//8%4) ~ (a//64%4)), "
     "32*((a//4%2) ~ (a//32%2)) + a%32"},
    {"SEED84", "f32", {32, 64},
     "yes: 2048 elements, 0 padding, 0 holes; inverse a//64, "
     "32*(a//32%2) + ((a%32) ~ (a//32%32))"},
    /* too large to enumerate: by structure, or not at all */
    {"{M//16, K//16, M%16, K%16}", "f32", {1000000, 1000000},
     "yes: 1000000000000 elements, 0 padding, 0 holes; inverse "
     "16*(a//16000000) + a//16%16, 16*(a//256%62500) + a%16"},
    {"{M*K}", "f32", {4000000000, 4},
     "no: two coordinates share an address; (0,0)(0,1) at 0"},
    {"{M, (K*K)%1000003}", "f32", {4000000, 3000000},
     "no: no structure was found that decides it, and it is too large to look at every "
     "element"},
};

static bool
check_known(Arena *a, const KnownVerdict *k)
{
    int rank = 0;
    while (rank < RANK_MAX && k->shape[rank])
        rank++;
    Case c = decided(a, &specs, k->text, k->dtype, rank, k->shape);
    const char *got = verdict_text(&c);
    if (strcmp(got, k->verdict)) {
        print_error("%s: says\n  %s\nnot\n  %s\n", k->text, got, k->verdict);
        return false;
    }
    if (c.l->size <= ADDRESSES_MAX)
        check_verdict(&c);
    return true;
}

static void
known_layouts(void **state)
{
    volatile int wrong = 0;
    (void)state;
    for (volatile int i = 0; i < LEN(known); i++) {
        Diag d;
        Arena a = {.diag = &d};
        if (!diag_catch(&d)) {
            wrong += !check_known(&a, &known[i]);
        } else {
            print_error("%s: refused: %s\n", known[i].text, d.text);
            wrong++;
        }
        arena_free(&a);
    }
    assert_int_equal(wrong, 0);
}

/* ---- the swizzles of the source documents, and their true inverses ---- */

/* The address that `y` comes from, by the inverse of a 1-D layout of 1024. */
static void
inverse_table(const char *swizzle, i64 *forth, i64 *back)
{
    Diag d;
    Arena a = {.diag = &d};
    if (diag_catch(&d))
        fail_msg("%s: %s", swizzle, d.text);
    const char *text = arena_printf(&a, "{A, swizzle = function(a) return %s end}",
                                    swizzle);
    Case c = decided(&a, NULL, text, "f32", 1, (i64[]){1024});
    assert_non_null(c.v->inverse);
    c.val = calloc((size_t)ex_nvars(c.l->e), sizeof *c.val);
    for (i64 y = 0; y < 1024; y++) {
        assert_true(inverted(&c, y, &back[y]));
        forth[y] = address(&c, (i64[MAX_RANK]){y});
    }
    free(c.val);
    arena_free(&a);
}

/* Section 8.3 is no involution, as it says it is: it has order 4. */
static void
seed83(void **state)
{
    i64 f[1024], inverse[1024], orders[5] = {0};
    (void)state;
    inverse_table("a ~ (a >> 2 & 31) << 5", f, inverse);
    for (i64 y = 0; y < 1024; y++) {
        i64 x = y ^ ((y >> 2 & 7) << 5);
        x ^= (x >> 5 & 3) << 8;
        assert_int_equal(inverse[y], x);
        assert_int_equal(f[f[f[f[y]]]], y);
        orders[f[y] == y ? 1 : f[f[y]] == y ? 2 : 4]++;
    }
    assert_true(orders[4] > 0);
    assert_int_equal(f[4], 36);
    assert_int_equal(f[36], 260);
}

static void
seed84(void **state)
{
    i64 f[1024], inverse[1024];
    (void)state;
    inverse_table("a ~ (a >> 5 & 31)", f, inverse);
    for (i64 y = 0; y < 1024; y++) {
        assert_int_equal(f[y], y ^ (y >> 5 & 31));
        assert_int_equal(inverse[y], f[y]);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_layouts),
        cmocka_unit_test(seed83),
        cmocka_unit_test(seed84),
    };
    return cmocka_run_group_tests_name("decide_known", tests, NULL, NULL);
}
