/* Swizzles of small tiles against every linear map there is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "swizzles.h"

typedef struct {
    int bits, keep, naccess;
    bool linear;
    int v[3], n[3];       /* words of the pass of each access */
    uint32_t word[3][32];
    LaneMap map[3];
} Small;

static void
draw_small(Small *t)
{
    memset(t, 0, sizeof *t);
    bool rows = draw(4) == 0;              /* whole rows apart, as far as M has no say */
    t->bits = rows ? 8 + (int)draw(3) : 6 + (int)draw(3);
    t->linear = !rows && draw(3) > 0;
    t->naccess = 1 + (int)draw(3);
    for (int i = 0; i < t->naccess; i++) {
        int v = rows ? 2 : (int)draw(3), lanes = 32 >> v;
        uint32_t top = 1u << (t->bits - v);
        t->v[i] = t->map[i].v = v;
        t->keep = v > t->keep ? v : t->keep;
        t->n[i] = t->linear ? lanes : 1 + (int)draw((unsigned)lanes);
        for (int j = 0; j < BANK_BITS; j++)
            t->map[i].lane[j] = draw(2) ? 1u << draw((unsigned)(t->bits - v)) << v
                              : draw(top) << v;
        for (int l = 0; l < t->n[i]; l++) {
            t->word[i][l] = t->linear ? 0 : draw(top) << v & (rows ? ~31u : ~0u);
            for (int j = 0; t->linear && j < BANK_BITS; j++)
                t->word[i][l] ^= l >> j & 1 ? t->map[i].lane[j] : 0;
        }
    }
}

/* No two different vectors of a pass share a bank. */
static bool
is_free(const Small *t, const Swizzle *w)
{
    for (int i = 0; i < t->naccess; i++) {
        i64 owner[32];
        for (int b = 0; b < 32; b++)
            owner[b] = -1;
        for (int l = 0; l < t->n[i]; l++) {
            uint32_t bank = swizzle_word(w, t->word[i][l]) % 32;
            if (owner[bank] >= 0 && owner[bank] != t->word[i][l])
                return false;
            owner[bank] = t->word[i][l];
        }
    }
    return true;
}

/* Of all masks, with at most `each` bits: the fewest in all, or -1. */
static int
fewest_of_all(const Small *t, int each)
{
    int high = t->bits - BANK_BITS, best = -1;
    uint32_t n = 1u << (high * (BANK_BITS - t->keep));
    for (uint32_t k = 0; k < n; k++) {
        Swizzle w = {{0}};
        bool fits = true;
        for (int i = t->keep; i < BANK_BITS; i++) {
            uint32_t row = k >> (high * (i - t->keep)) & ((1u << high) - 1);
            fits &= __builtin_popcount(row) <= each;
            w.mask[i] = row << BANK_BITS;
        }
        if (fits && (best < 0 || bits_of(&w) < best) && is_free(t, &w))
            best = bits_of(&w);
    }
    return best;
}

static void
run_small(Arena *a)
{
    int seen[4] = {0}, few[4] = {0}, rounds = getenv("ROUNDS") ? atoi(getenv("ROUNDS"))
                                                                : 1000;
    printf("# seed %llu, %d rounds\n", (unsigned long long)seed, rounds);
    for (int round = 0; round < rounds; round++) {
        Small t;
        draw_small(&t);
        Swizzler *s = swizzler_new(a, t.bits, 0);
        for (int i = 0; i < t.naccess && t.linear; i++)
            swizzler_add_lanes(s, i, &t.map[i]);
        for (int i = 0; i < t.naccess && !t.linear; i++)
            swizzler_add(s, i, t.v[i], t.word[i], t.n[i]);
        SwizzleFound f = swizzler_find(s);
        int each = 2, best = -1;
        while (best < 0 && each <= 5)
            best = fewest_of_all(&t, each++);
        seen[f.answer]++;
        few[best < 0 ? 0 : each == 3 ? 1 : each == 4 ? 2 : 3]++;
        if ((f.answer == SWIZZLE_FOUND) != (best >= 0))
            fail_msg("round %d: answer %d, every matrix says %d", round, f.answer, best);
        if (best < 0)
            continue;
        assert_true(is_free(&t, &f.swizzle));
        assert_int_equal(f.fewest, each <= 4);
        assert_true(f.bits == best || !f.fewest);
        for (int i = 0; t.linear && i < t.naccess; i++)
            assert_true(swizzle_is_free(&f.swizzle, t.bits, &t.map[i]));
    }
    printf("# found %d, too many %d, excluded %d; 2 bits each %d, 3 %d, more %d\n",
           seen[0], seen[1], seen[2], few[1], few[2], few[3]);
    assert_int_equal(seen[SWIZZLE_UNDECIDED], 0);
    for (int i = SWIZZLE_FOUND; i <= SWIZZLE_EXCLUDED; i++)
        assert_true(seen[i] > rounds / 100);
}

static void
test_small_tiles(void **state)
{
    (void)state;
    within_arena(run_small);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_tiles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
