/* Windows of the programs of the kernel shuffle: what they and the terms read is what the
 * elements say, on every processor. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../compiler/plan/shuffle.h"

enum { PROGRAMS = 400, WORDS = 1 << 15 };

static uint64_t seed = 17;

static int
below(int n)
{
    seed = seed * 6364136223846793005 + 1442695040888963407;
    return (int)(seed >> 33) % n;
}

/* Elements in any order within `reach` times as many; some are padding.  The source has one
 * strip, or each half of the elements has its own. */
static void
draw(Bits *b)
{
    static const int sizes[] = {1, 2, 4, 8, 16};
    int size = sizes[below(5)], reach = 1 + below(3), start = below(64) - 32;
    b->bits = 8 * size;
    b->n = (1 + below(8)) * 16 / (size < 8 ? size : 8);
    b->n = b->n * size < LANE ? LANE / size : b->n;
    b->fills = below(4) == 0;
    int stride = below(2) ? 1 : 3;
    b->strips = 1 + below(2);
    for (int i = 0; i < b->n; i++) {
        int from = start + (stride * i % b->n ? i * stride % b->n : i) * reach;
        int strip = i * b->strips / b->n * 8 * APART;
        b->dst[i] = b->bits * i;
        b->src[i] = b->fills && below(5) == 0 ? FILL
                    : b->bits * (below(8) ? from : start + i) + strip;
    }
}

/* What byte `to` of the destination has: its byte of the source, FILL if none. */
static int32_t
source_of(const Bits *b, int32_t to)
{
    int i = to / (b->bits / 8);
    return b->src[i] == FILL ? FILL : b->src[i] / 8 + to % (b->bits / 8);
}

/* A row: the constants of its pairs, and their windows, `parts` of which a register has. */
typedef struct {
    const int32_t *pair, *window;
    int pairs, parts;
} Windows;

/* The byte of the source that the pairs give a byte of a row; FILL: none. */
static int32_t
by_pairs(const Bits *b, const Windows *w, int at)
{
    int32_t found = FILL;
    for (int i = 0; i < w->pairs; i++) {
        const int32_t *pair = w->pair + i * RAVEL_PAIRED;
        uint8_t k = ((const uint8_t *)(pair + RAVEL_PAIR_AT))[at];
        if (k >= 128)
            continue;
        assert_int_equal(found, FILL);
        assert_true(k % 64 < pair[k / 64]);
        found = w->window[(2 * i * 64 + k) * w->parts / 64] + k % (64 / w->parts);
    }
    for (int i = 0; i < 2 * w->pairs * w->parts; i++) {
        const int32_t *of = w->pair + i / w->parts / 2 * RAVEL_PAIRED;
        const int32_t window = w->window[i], some = of[i / w->parts % 2] / w->parts;
        const int strip = strip_of(b->strips, window);
        assert_true(some == 0 || (window >= b->strip[strip].first && some <= 64 / w->parts &&
                                  window + some <= b->strip[strip].end));
    }
    return found;
}

/* Adds the rows with windows of 64 bytes, and of 16, to with[0] and with[1]. */
static void
check_rows(const Bits *b, const Terms *t, const int32_t *group, int with[2])
{
    for (int r = 0; r < b->nlanes / QUAD;) {
        const int terms = group[0], pairs = group[RAVEL_GROUP_PAIRS];
        const int parts = group[RAVEL_GROUP_PARTS];
        const int32_t *pair = group + RAVEL_GROUP_HEAD + b->fills * QUAD * WORD +
                              terms * RAVEL_WHOLE;
        const int32_t *row = pair + pairs * RAVEL_PAIRED;
        for (int k = 0; k < group[RAVEL_GROUP_ROWS]; k++, r++) {
            const Windows w = {pair, row + QUAD * (1 + terms), pairs, parts};
            with[parts > 1] += pairs > 0;
            assert_int_equal(pairs, (t->row[r].windows + 2 * parts - 1) / (2 * parts));
            for (int i = 0; i < QUAD * LANE && pairs; i++)
                assert_int_equal(by_pairs(b, &w, i), source_of(b, row[i / LANE] + i % LANE));
            row += QUAD * (1 + terms) + 2 * pairs * parts;
        }
        group = row;
    }
}

static void
test_windows(void **state)
{
    static int32_t words[WORDS];
    static const TileStarts once = {.n = 1};
    static Bits b;
    Terms t;
    int with[2] = {0}, wide = 0;
    (void)state;
    for (int i = 0; i < PROGRAMS; i++) {
        draw(&b);
        if (!shuffle_lanes(&b) || !shuffle_terms(&b, &t))
            continue;
        assert_true(shuffle_words(&b, &t, 1) <= WORDS);
        assert_true(shuffle_pass(&b, &t, &once, words) <= shuffle_words(&b, &t, 1));
        check_rows(&b, &t, words + RAVEL_PASS_HEAD, with);
        wide += t.row[0].windows > 2 && t.row[0].parts == 1;
    }
    assert_true(with[0] > PROGRAMS / 2);
    assert_true(with[1] > PROGRAMS / 20);
    assert_true(wide > 10);
}

/* Elements of four bits in any order of `reach` times as many. */
static void
draw_halves(Bits *b)
{
    int reach = 1 + below(6), start = below(64) - 32, step = 1 + 2 * below(8);
    b->bits = 4;
    b->fills = false;
    b->strips = 1 + below(2);
    b->n = 2 * LANE * (1 + below(12));
    for (int i = 0; i < b->n; i++) {
        int strip = i * b->strips / b->n * 8 * APART;
        b->dst[i] = 4 * i;
        b->src[i] = 4 * (start + (below(8) ? step * i % b->n : i) * reach) + strip;
    }
}

/* The bit of the source that the pairs give a half of byte `at` of a row. */
static int32_t
half_by_pairs(const Bits *b, const int32_t *pair, const int32_t *window, int pairs, int at, int high)
{
    int32_t found = FILL;
    for (int i = 0; i < pairs; i++, pair += RAVEL_HALVED) {
        const uint8_t k = ((const uint8_t *)(pair + (high ? RAVEL_PAIR_HIGH : RAVEL_PAIR_AT)))[at];
        if (k >= 128)
            continue;
        assert_int_equal(found, FILL);
        found = 8 * (window[2 * i + k / 64] + k % 64);
    }
    for (int i = 0; i < 2 * pairs; i++) {
        const int strip = strip_of(b->strips, window[i]);
        assert_true(window[i] >= b->strip[strip].first && window[i] + 64 <= b->strip[strip].end);
    }
    return found;
}

/* The upper halves of all pairs are in the first. */
static int
is_upper(const int32_t *pair, int at, int high)
{
    return ((const uint8_t *)(pair + RAVEL_PAIR_UPPER))[64 * high + at] != 0;
}

/* The rows that have windows. */
static int
check_halves(const Bits *b, const int32_t *group)
{
    int with = 0;
    for (int r = 0; r < b->nlanes / QUAD;) {
        const int whole = group[0], masked = group[1], pairs = group[RAVEL_GROUP_PAIRS];
        const int32_t *pair = group + RAVEL_GROUP_HEAD + whole * RAVEL_WHOLE + masked * RAVEL_MASKED;
        const int32_t *row = pair + pairs * (masked ? RAVEL_HALVED : RAVEL_PAIRED);
        assert_true(pairs == 0 || (masked && pairs != 3 && pairs <= 4));
        for (int k = 0; k < group[RAVEL_GROUP_ROWS]; k++, r++) {
            const int32_t *window = row + QUAD * (1 + whole + masked);
            with += pairs > 0;
            for (int i = 0; i < 2 * QUAD * LANE && pairs; i++)
                assert_int_equal(b->src[2 * (row[i / 2 / LANE] + i / 2 % LANE) + i % 2],
                                 half_by_pairs(b, pair, window, pairs, i / 2, i % 2) +
                                     4 * is_upper(pair, i / 2, i % 2));
            row = window + 2 * pairs;
        }
        group = row;
    }
    return with;
}

static void
test_halves(void **state)
{
    static int32_t words[WORDS];
    static const TileStarts once = {.n = 1};
    static Bits b;
    Terms t;
    int with = 0, pairs[5] = {0};
    (void)state;
    for (int i = 0; i < PROGRAMS; i++) {
        draw_halves(&b);
        if (!shuffle_lanes(&b) || !shuffle_terms(&b, &t))
            continue;
        assert_true(shuffle_pass(&b, &t, &once, words) <= shuffle_words(&b, &t, 1));
        with += check_halves(&b, words + RAVEL_PASS_HEAD);
        pairs[shuffle_pairs_of(&t.row[0])]++;
    }
    assert_true(with > PROGRAMS / 2);
    assert_true(pairs[1] > 10 && pairs[2] > 10 && pairs[4] > 10);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_windows), cmocka_unit_test(test_halves)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
