/* Banks, sectors and swizzles: cases worked by hand, and the known swizzles. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "swizzles.h"

static const Banks wave64 = {64, 32, 4};

/* ---- one instruction ---- */

typedef struct {
    const char *what;
    i64 base, stride;     /* of the lanes' addresses */
    int width;
    uint64_t active;
    int wavefronts, ideal, sectors, lines, fill;
} Strided;

#define ALL UINT32_MAX

static const Strided strided[] = {
    {"words in a row", 0, 4, 4, ALL, 1, 1, 4, 1, 4},
    {"every second word", 0, 8, 4, ALL, 2, 1, 8, 2, 4},
    {"odd stride", 0, 12, 4, ALL, 1, 1, 12, 3, 4},
    {"a column of 32 words", 0, 128, 4, ALL, 32, 1, 32, 32, 4},
    {"a padded column", 0, 132, 4, ALL, 1, 1, 32, 32, 4},
    {"one word for all", 64, 0, 4, ALL, 1, 1, 1, 1, 4},
    {"bytes in a row", 0, 1, 1, ALL, 1, 1, 1, 1, 1},
    {"bytes of a column of 128", 0, 128, 1, ALL, 32, 1, 32, 32, 1},
    {"halves", 0, 2, 2, ALL, 1, 1, 2, 1, 2},
    {"halves, two rows apart", 0, 64, 2, ALL, 16, 1, 32, 16, 2},
    {"8 bytes in a row", 0, 8, 8, ALL, 2, 2, 8, 2, 8},
    {"8 bytes, 8 apart", 0, 16, 8, ALL, 4, 2, 16, 4, 8},
    {"16 bytes in a row", 0, 16, 16, ALL, 4, 4, 16, 4, 16},
    {"16 bytes of a column", 0, 128, 16, ALL, 32, 4, 32, 32, 16},
    {"16 bytes, padded", 0, 144, 16, ALL, 4, 4, 32, 32, 16},
    {"off by a word", 4, 4, 4, ALL, 1, 1, 5, 2, 4},
    {"half of a warp", 0, 128, 4, 0xffff, 16, 1, 16, 16, 2},
    {"two lanes far apart", 0, 128, 16, 0x80000001, 2, 2, 2, 2, 1},
    {"every other lane", 0, 64, 4, 0x55555555, 16, 1, 16, 16, 2},
    {"nobody", 0, 4, 4, 0, 0, 0, 0, 0, 0},
};

static void
test_strides(void **state)
{
    (void)state;
    for (int i = 0; i < LEN(strided); i++) {
        const Strided *t = &strided[i];
        i64 addr[32];
        for (int l = 0; l < 32; l++)
            addr[l] = t->base + l * t->stride;
        WarpAccess w = {addr, t->active, t->width};
        BankCount b;
        SectorCount s;
        assert_true(bank_shared(&banks_usual, &w, &b));
        assert_true(bank_global(&banks_usual, &w, &s));
        if (b.wavefronts != t->wavefronts || b.ideal != t->ideal ||
            b.conflicts != t->wavefronts - t->ideal)
            fail_msg("%s: %d wavefronts, %d ideal", t->what, b.wavefronts, b.ideal);
        if (s.sectors != t->sectors || s.lines != t->lines || s.ideal != t->fill)
            fail_msg("%s: %d sectors, %d lines, %d ideal", t->what, s.sectors, s.lines,
                     s.ideal);
    }
}

static void
test_wavefronts_of_64(void **state)
{
    (void)state;
    static const struct { i64 stride; int width, wavefronts, ideal; } t[] = {
        {4, 4, 2, 2}, {128, 4, 64, 2}, {0, 4, 2, 2}, {16, 16, 8, 8}, {128, 16, 64, 8},
        {1, 1, 2, 2}};
    for (int i = 0; i < LEN(t); i++) {
        i64 addr[64];
        for (int l = 0; l < 64; l++)
            addr[l] = l * t[i].stride;
        WarpAccess w = {addr, UINT64_MAX, t[i].width};
        BankCount b;
        assert_true(bank_shared(&wave64, &w, &b));
        assert_int_equal(b.wavefronts, t[i].wavefronts);
        assert_int_equal(b.ideal, t[i].ideal);
    }
}

static void
test_witness(void **state)
{
    (void)state;
    i64 addr[32];
    for (int l = 0; l < 32; l++)
        addr[l] = 4 * l;
    addr[9] = 4 * (5 + 64);
    WarpAccess w = {addr, ALL, 4};
    BankCount b;
    assert_true(bank_shared(&banks_usual, &w, &b));
    assert_int_equal(b.wavefronts, 2);
    assert_int_equal(b.bank, 5);
    assert_int_equal(b.lane[0], 5);
    assert_int_equal(b.lane[1], 9);
    assert_int_equal(b.word[1], 69);
}

static void
test_wrong_input(void **state)
{
    (void)state;
    i64 addr[64] = {0}, odd[64] = {2}, below[64] = {-4}, far[64] = {INT64_MAX - 3};
    static const Banks no[] = {{0, 32, 4}, {128, 32, 4}, {32, 0, 4}, {32, 48, 4},
                               {32, 128, 4}, {32, 32, 3}, {32, 32, 32}};
    BankCount b = {.bank = 77};
    SectorCount s = {.lines = 77};
    for (int i = 0; i < LEN(no); i++)
        assert_false(bank_shared(&no[i], &(WarpAccess){addr, ALL, 4}, &b));
    static const int width[] = {-4, 0, 3, 5, 12, 32};
    for (int i = 0; i < LEN(width); i++) {
        assert_false(bank_shared(&banks_usual, &(WarpAccess){addr, ALL, width[i]}, &b));
        assert_false(bank_global(&banks_usual, &(WarpAccess){addr, ALL, width[i]}, &s));
    }
    assert_false(bank_shared(&banks_usual, &(WarpAccess){odd, ALL, 4}, &b));
    assert_true(bank_global(&banks_usual, &(WarpAccess){odd, 1, 4}, &s));
    s.lines = 77;
    assert_false(bank_shared(&banks_usual, &(WarpAccess){below, ALL, 4}, &b));
    assert_false(bank_global(&banks_usual, &(WarpAccess){far, ALL, 4}, &s));
    assert_int_equal(b.bank, 77);
    assert_int_equal(s.lines, 77);
    assert_true(bank_shared(&banks_usual, &(WarpAccess){below, ALL - 1, 4}, &b));
}

/* The rules again, by marks: which word of which bank, which sector was seen. */
enum { SPACE = 4096 };

static int
wavefronts_by_marks(const i64 *addr, uint64_t active, int width, int *ideal)
{
    int pass = width == 16 ? 8 : width == 8 ? 16 : 32, sum = 0;
    *ideal = 0;
    for (int p = 0; p < 32 / pass; p++) {
        bool seen[SPACE / 4] = {false};
        int load[32] = {0}, most = 0;
        for (int byte = 0; byte < pass * width; byte++) {
            int lane = p * pass + byte / width;
            i64 word = (addr[lane] + byte % width) / 4;
            if (!(active >> lane & 1) || seen[word])
                continue;
            seen[word] = true;
            load[word % 32]++;
        }
        for (int b = 0; b < 32; b++)
            most = load[b] > most ? load[b] : most;
        sum += most;
        *ideal += most > 0;
    }
    return sum;
}

static int
blocks_by_marks(const i64 *addr, uint64_t active, int width, int size)
{
    bool seen[SPACE] = {false};
    int n = 0;
    for (int byte = 0; byte < 32 * width; byte++)
        if (active >> (byte / width) & 1)
            seen[(addr[byte / width] + byte % width) / size] = true;
    for (int i = 0; i < SPACE; i++)
        n += seen[i];
    return n;
}

static void
test_random_instructions(void **state)
{
    (void)state;
    for (int round = 0; round < 20000; round++) {
        i64 addr[32];
        int width = 1 << draw(5), span = 32 << draw(7), ideal, n = 0;
        uint64_t active = draw(3) ? ALL : (uint64_t)draw(1 << 16) * draw(1 << 16);
        span = span < width ? width : span;
        for (int l = 0; l < 32; l++)
            addr[l] = (i64)draw((unsigned)(span / width)) * width;
        WarpAccess w = {addr, active, width};
        BankCount b;
        SectorCount s;
        assert_true(bank_shared(&banks_usual, &w, &b));
        assert_int_equal(b.wavefronts, wavefronts_by_marks(addr, active, width, &ideal));
        assert_int_equal(b.ideal, ideal);
        if (b.conflicts) {
            assert_int_equal(b.word[0] % 32, b.bank);
            assert_int_equal(b.word[1] % 32, b.bank);
            assert_true(b.word[0] != b.word[1]);
            for (int i = 0; i < 2; i++)
                assert_true(b.word[i] >= addr[b.lane[i]] / 4 &&
                            b.word[i] <= (addr[b.lane[i]] + width - 1) / 4);
        }
        for (int l = 0; l < 32; l++) {
            addr[l] += l % 3;                  /* global memory takes what comes */
            n += (int)(active >> l & 1);
        }
        assert_true(bank_global(&banks_usual, &w, &s));
        assert_int_equal(s.sectors, blocks_by_marks(addr, active, width, 32));
        assert_int_equal(s.lines, blocks_by_marks(addr, active, width, 128));
        assert_int_equal(s.ideal, (n * width + 31) / 32);
    }
}

/* ---- known swizzles ---- */

#define BIT(i) (1u << (i))
#define BITS(a, b, c, d, e) {BIT(a), BIT(b), BIT(c), BIT(d), BIT(e)}

typedef struct {
    const char *what;
    int bits;
    LaneMap access[2];
    Swizzle known;        /* one that is right; the fewest bits there are */
    const char *text;     /* of ours, for words */
} Known;

static const Known known[] = {
    {"f32 32x32", 10, {{0, BITS(0, 1, 2, 3, 4)}, {0, BITS(5, 6, 7, 8, 9)}},
     {{0x20, 0x40, 0x80, 0x100, 0x200}}, "xor(5, 0, 5)"},
    {"f32 64x64 by 16 bytes", 12, {{2, BITS(2, 3, 4, 5, 8)}, {2, BITS(8, 9, 10, 11, 2)}},
     {{0, 0, 0x100, 0x200, 0x400}}, "xor(3, 2, 6)"},
    {"u8 64x64", 10, {{0, BITS(0, 1, 2, 3, 4)}, {0, BITS(6, 7, 8, 9, 0)}},
     {{0, 0x40, 0x80, 0x100, 0x200}}, "xor(4, 1, 5)"},
    {"u8 128x128", 12, {{0, BITS(0, 1, 2, 3, 4)}, {0, BITS(7, 8, 9, 10, 11)}},
     {{0x80, 0x100, 0x200, 0x400, 0x800}}, "xor(5, 0, 7)"},
    {"u16 64x64", 11, {{0, BITS(0, 1, 2, 3, 4)}, {0, BITS(6, 7, 8, 9, 10)}},
     {{0x40, 0x80, 0x100, 0x200, 0x400}}, "xor(5, 0, 6)"},
    {"8 bytes 32x32", 11, {{1, BITS(1, 2, 3, 4, 5)}, {1, BITS(6, 7, 8, 9, 10)}},
     {{0, 0x40, 0x80, 0x100, 0x200}}, "xor(4, 1, 5)"},
    {"i4 128x128", 11, {{0, BITS(0, 1, 2, 3, 4)}, {0, BITS(7, 8, 9, 10, 0)}},
     {{0, 0x80, 0x100, 0x200, 0x400}}, "xor(4, 1, 6)"},
    {"SWIZZLE_128B", 10, {{2, BITS(2, 3, 4, 5, 6)}, {2, BITS(5, 6, 7, 2, 3)}},
     {{0, 0, 0x20, 0x40, 0x80}}, "xor(3, 2, 3)"},
};

static SwizzleFound
solve(Arena *a, int bits, const LaneMap *m, int n)
{
    Swizzler *s = swizzler_new(a, bits, 0);
    for (int i = 0; i < n; i++)
        swizzler_add_lanes(s, i, &m[i]);
    return swizzler_find(s);
}

static void
run_known(Arena *a)
{
    for (int i = 0; i < LEN(known); i++) {
        const Known *k = &known[i];
        SwizzleFound f = solve(a, k->bits, k->access, 2);
        const Swizzle none = {{0}};
        if (f.answer != SWIZZLE_FOUND || !f.fewest)
            fail_msg("%s: answer %d", k->what, f.answer);
        assert_int_equal(f.bits, bits_of(&k->known));
        assert_int_equal(f.bits, bits_of(&f.swizzle));
        for (int j = 0; j < 2; j++) {
            assert_true(swizzle_is_free(&k->known, k->bits, &k->access[j]));
            assert_true(swizzle_is_free(&f.swizzle, k->bits, &k->access[j]));
        }
        assert_false(swizzle_is_free(&none, k->bits, &k->access[0]) &&
                     swizzle_is_free(&none, k->bits, &k->access[1]));
        assert_string_equal(swizzle_text(a, &f.swizzle, 0), k->text);
    }
}

static void
test_known(void **state)
{
    (void)state;
    within_arena(run_known);
}

/* A column of 4-byte words under SWIZZLE_128B is 4-way conflicted, read by chunks it is
 * not. */
static void
test_tma_column(void **state)
{
    (void)state;
    static const Swizzle sw128 = {{0, 0, 0x20, 0x40, 0x80}};
    i64 addr[32];
    BankCount b;
    for (uint32_t l = 0; l < 32; l++)
        addr[l] = 4 * (i64)swizzle_word(&sw128, 32 * l);
    assert_true(bank_shared(&banks_usual, &(WarpAccess){addr, ALL, 4}, &b));
    assert_int_equal(b.wavefronts, 4);
    assert_true(bank_shared(&banks_usual, &(WarpAccess){addr, ALL, 16}, &b));
    assert_int_equal(b.conflicts, 0);
}

static void
run_none(Arena *a)
{
    static const LaneMap stride8[] = {{0, BITS(3, 4, 5, 6, 7)}, {2, BITS(2, 3, 4, 5, 6)}};
    SwizzleFound f = solve(a, 10, stride8, 2);
    assert_int_equal(f.answer, SWIZZLE_TOO_MANY);
    assert_int_equal(f.access, 0);
    assert_int_equal(f.words, 32);
    assert_int_equal(f.places, 8);
    assert_int_equal(solve(a, 10, stride8, 1).answer, SWIZZLE_FOUND);

    /* column 5 of M needs bank bit 4 for the one, and must not have it for the other */
    static const LaneMap opposed[] = {{0, BITS(0, 1, 2, 3, 5)},
                                      {0, {1, 2, 4, 8, BIT(5) | BIT(4)}}};
    assert_int_equal(solve(a, 6, opposed, 2).answer, SWIZZLE_EXCLUDED);
    assert_int_equal(solve(a, 6, opposed, 1).answer, SWIZZLE_FOUND);
    assert_int_equal(solve(a, 6, opposed + 1, 1).answer, SWIZZLE_FOUND);
    /* one more bit does not help: it is not in any of these words */
    assert_int_equal(solve(a, 12, opposed, 2).answer, SWIZZLE_EXCLUDED);
}

static void
test_none(void **state)
{
    (void)state;
    within_arena(run_none);
}

static void
run_text(Arena *a)
{
    static const Swizzle one = {{0x20, 0x40, 0x80, 0x100, 0x200}},
                         two = {{0, 0, 0x60, 0x80, 0}}, nothing = {{0}},
                         gap = {{0x20, 0, 0x80, 0, 0}};
    assert_string_equal(swizzle_text(a, &one, 2), "xor(5, 2, 5)");
    assert_string_equal(swizzle_text(a, &(Swizzle){{0, 0x40, 0x80, 0x100, 0x200}}, -1),
                        "xor(4, 0, 5)");
    assert_string_equal(swizzle_text(a, &two, 0),
                        "function(a) return a ~ (a >> 3 & 4) ~ (a >> 4 & 12) end");
    assert_string_equal(swizzle_text(a, &gap, 1),
                        "function(a) return a ~ (a >> 5 & 10) end");
    assert_string_equal(swizzle_text(a, &nothing, 0), "function(a) return a end");
}

static void
test_text(void **state)
{
    (void)state;
    within_arena(run_text);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_strides),
        cmocka_unit_test(test_wavefronts_of_64),
        cmocka_unit_test(test_witness),
        cmocka_unit_test(test_wrong_input),
        cmocka_unit_test(test_random_instructions),
        cmocka_unit_test(test_known),
        cmocka_unit_test(test_tma_column),
        cmocka_unit_test(test_none),
        cmocka_unit_test(test_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
