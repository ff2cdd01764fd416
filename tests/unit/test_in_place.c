/* Permutations within a buffer, by small extents: every matrix, and every order of three digits,
 * against the definition. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../templates/c/move.h"
#include "../../templates/c/prefetch.h"
#include "../../templates/c/cycles.c"
#include "../../templates/c/matrix.c"

enum { MOST = 26, EXTENTS = 4 };

/* Byte b of item i. */
static unsigned char
stamp(int64_t i, int64_t b)
{
    return (unsigned char)(i * 7 + i / 256 * 31 + b * 13);
}

static unsigned char *
stamped(int64_t items, int64_t size)
{
    unsigned char *at = malloc((size_t)(items * size));
    assert_non_null(at);
    for (int64_t i = 0; i < items * size; i++)
        at[i] = stamp(i / size, i % size);
    return at;
}

static void
assert_item(const unsigned char *at, int64_t place, int64_t size, int64_t item)
{
    for (int64_t b = 0; b < size; b++)
        assert_int_equal(at[place * size + b], stamp(item, b));
}

/* With scratch for `more` rows or columns beyond the larger of both. */
static void
transposes(int64_t rows, int64_t cols, int64_t size, int64_t more)
{
    const int64_t longer = rows > cols ? rows : cols;
    const int64_t bytes = longer * size * (1 + more);
    unsigned char *at = stamped(rows * cols, size), *scratch = malloc((size_t)bytes);
    assert_non_null(scratch);
    ravel_matrix(at, scratch, bytes, rows, cols, size);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++)
            assert_item(at, j * rows + i, size, i * cols + j);
    free(at);
    free(scratch);
}

static void
matrices(void **state)
{
    (void)state;
    for (int64_t rows = 1; rows < MOST; rows++)
        for (int64_t cols = 1; cols < MOST; cols++)
            for (int64_t size = 1; size <= 16; size *= 2)
                transposes(rows, cols, size, (rows + cols + size) % 5);
}

/* The digits of the place, of which digit i was at position to[i] from outside before. */
static void
permutes(const int64_t *n, const int *to, int64_t item, int64_t size)
{
    int64_t stride[3] = {1, 1, 1}, items = n[0] * n[1] * n[2];
    uint64_t scratch[16] = {7};
    unsigned char *at = stamped(items, item);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            stride[i] *= to[k] > to[i] ? n[k] : 1;
    ravel_cycles(at, scratch, items, item, size, 3, n, stride);
    for (int64_t p = 0; p < items; p++) {
        int64_t was = p / (n[1] * n[2]) * stride[0] + p / n[2] % n[1] * stride[1] +
                      p % n[2] * stride[2];
        for (int64_t b = 0; b < item; b++)
            assert_int_equal(at[p * item + b], stamp(b < size ? was : p, b));
    }
    free(at);
}

static void
cycles(void **state)
{
    static const int orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1},
                                    {2, 1, 0}};
    static const int64_t extents[EXTENTS] = {1, 2, 5, 7}, sizes[] = {1, 2, 3, 4, 8, 16, 40};
    (void)state;
    for (int i = 0; i < EXTENTS * EXTENTS * EXTENTS; i++) {
        const int64_t n[3] = {extents[i % EXTENTS], extents[i / EXTENTS % EXTENTS],
                              extents[i / EXTENTS / EXTENTS]};
        for (size_t k = 0; k < sizeof orders / sizeof *orders; k++)
            for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
                permutes(n, orders[k], sizes[s], sizes[s]);
                permutes(n, orders[k], sizes[s], (sizes[s] + 1) / 2);
            }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(matrices), cmocka_unit_test(cycles)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
