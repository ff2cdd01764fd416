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

enum { PROGRAMS = 400, WORDS = 1 << 15, ROW_WORDS = 8, TERM_WORDS = 21 };

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

/* The byte of the source that the pairs give a byte of a row; FILL: none. */
static int32_t
by_pairs(const Bits *b, const int32_t *pair, int pairs, int at)
{
    int32_t found = FILL;
    for (int i = 0; i < pairs; i++, pair += RAVEL_PAIRED) {
        uint8_t k = ((const uint8_t *)(pair + 4))[at];
        if (k >= 128)
            continue;
        assert_int_equal(found, FILL);
        assert_true(k % 64 < pair[k / 64 * 2 + 1]);
        found = pair[k / 64 * 2] + k % 64;
    }
    for (int i = 0; i < 2 * pairs; i++) {
        const int32_t *window = pair + (i / 2 - pairs) * RAVEL_PAIRED + i % 2 * 2;
        const int strip = strip_of(b->strips, window[0]);
        assert_true(window[1] == 0 || (window[0] >= b->strip[strip].first &&
                                       window[1] <= 64 &&
                                       window[0] + window[1] <= b->strip[strip].end));
    }
    return found;
}

static int
check_rows(const Bits *b, const Terms *t, const int32_t *row)
{
    int with = 0;
    for (int r = 0; r < b->nlanes / QUAD; r++) {
        const int32_t *pair = row + ROW_WORDS + b->fills * QUAD * WORD + row[0] * TERM_WORDS;
        with += row[ROW_WORDS - 1] > 0;
        assert_int_equal(row[ROW_WORDS - 1], (t->row[r].windows + 1) / 2);
        for (int i = 0; i < QUAD * LANE && row[ROW_WORDS - 1]; i++)
            assert_int_equal(by_pairs(b, pair, row[ROW_WORDS - 1], i),
                             source_of(b, row[3 + i / LANE] + i % LANE));
        row = pair + row[ROW_WORDS - 1] * RAVEL_PAIRED;
    }
    return with;
}

static void
test_windows(void **state)
{
    static int32_t words[WORDS];
    static Bits b;
    Terms t;
    int with = 0, wide = 0;
    (void)state;
    for (int i = 0; i < PROGRAMS; i++) {
        draw(&b);
        if (!shuffle_lanes(&b) || !shuffle_terms(&b, &t))
            continue;
        assert_true(shuffle_words(&b, &t) <= WORDS);
        shuffle_pass(&b, &t, words);
        with += check_rows(&b, &t, words + RAVEL_PASS_HEAD);
        wide += t.row[0].windows > 2;
    }
    assert_true(with > PROGRAMS / 2);
    assert_true(wide > 10);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_windows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
