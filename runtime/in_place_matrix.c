/* A matrix transposed in place by three passes over its columns, its rows, and its columns:
 * B. Catanzaro, A. Keller, M. Garland, "A decomposition for in-place matrix transposition"
 * (2014), algorithm C2R.  Extents need no divisors.  With c the greatest common divisor of m rows
 * and n columns, a = m / c and b = n / c:
 *
 *   column j is rotated by j / b                        (where c > 1)
 *   item j of row i goes to ((i + j / b) mod m + j m) mod n
 *   item i of column j comes from (j + i n - i / a) mod m
 *
 * Each pass holds a row, or a strip of columns as wide as fits. */
#include "in_place.h"

#include <string.h>

static int64_t
divisor(int64_t a, int64_t b)
{
    return b ? divisor(b, a % b) : a;
}

/* The next of the numbers below n, with steps below n. */
IN_PLACE_INLINE int64_t
step(int64_t x, int64_t by, int64_t n)
{
    x += by;
    return x >= n ? x - n : x;
}

/* Copy a strip of w columns from column j on to `hold`. */
static void
hold_strip(const Matrix *m, int64_t j, int64_t w)
{
    const int64_t row = m->cols * m->size, size = w * m->size;
    for (int64_t i = 0; i < m->rows; i++)
        memcpy(m->hold + i * size, m->at + i * row + j * m->size, (size_t)size);
}

/* Give each column of the strip its items in another order: the one in row i, column j + k comes
 * from row first(i) + shift(k). */
IN_PLACE_INLINE void
place_strip(const Matrix *m, int64_t j, int64_t w, int64_t b, int rotate, const int64_t size)
{
    const int64_t a = m->rows / divisor(m->rows, m->cols), by = m->cols % m->rows;
    int64_t first = 0, within = 0;
    for (int64_t i = 0; i < m->rows; i++) {
        unsigned char *d = m->at + (i * m->cols + j) * size;
        int64_t from = step(first, (rotate ? j / b : j) % m->rows, m->rows), left = b - j % b;
        for (int64_t k = 0; k < w; k++) {
            memcpy(d + k * size, m->hold + (from * w + k) * size, (size_t)size);
            if (!rotate || --left == 0) {
                from = step(from, 1, m->rows);
                left = b;
            }
        }
        first = step(first, rotate ? 1 : by, m->rows);
        if (!rotate && ++within == a) {
            first = step(first, m->rows - 1, m->rows);
            within = 0;
        }
    }
}

IN_PLACE_INLINE void
turn_columns(const Matrix *m, int64_t b, int rotate, const int64_t size)
{
    const int64_t most = m->bytes / (m->rows * size), wide = most < m->cols ? most : m->cols;
    for (int64_t j = 0; j < m->cols; j += wide) {
        const int64_t w = j + wide < m->cols ? wide : m->cols - j;
        hold_strip(m, j, w);
        place_strip(m, j, w, b, rotate, size);
    }
}

IN_PLACE_INLINE void
turn_rows(const Matrix *m, int64_t b, const int64_t size)
{
    const int64_t by = m->rows % m->cols;
    for (int64_t i = 0; i < m->rows; i++) {
        unsigned char *row = m->at + i * m->cols * size;
        int64_t high = i, left = b, start = 0;
        memcpy(m->hold, row, (size_t)(m->cols * size));
        for (int64_t j = 0, to = i % m->cols; j < m->cols; j++) {
            memcpy(row + to * size, m->hold + j * size, (size_t)size);
            start = step(start, by, m->cols);
            to = step(to, by, m->cols);
            if (--left == 0) {
                left = b;
                high = step(high, 1, m->rows);
                to = step(start, high % m->cols, m->cols);
            }
        }
    }
}

/* As many rows as columns: each pair of items is exchanged, by tiles. */
IN_PLACE_INLINE void
turn_square(const Matrix *m, const int64_t size)
{
    enum { TILE = 16 };
    const int64_t n = m->rows;
    for (int64_t top = 0; top < n; top += TILE)
        for (int64_t left = top; left < n; left += TILE)
            for (int64_t i = top; i < n && i < top + TILE; i++)
                for (int64_t j = left > i ? left : i + 1; j < n && j < left + TILE; j++) {
                    unsigned char x[16], *a = m->at + (i * n + j) * size;
                    unsigned char *b = m->at + (j * n + i) * size;
                    memcpy(x, a, (size_t)size);
                    memcpy(a, b, (size_t)size);
                    memcpy(b, x, (size_t)size);
                }
}

IN_PLACE_INLINE void
turn(const Matrix *m, const int64_t size)
{
    if (m->rows == m->cols) {
        turn_square(m, size);
        return;
    }
    const int64_t c = divisor(m->rows, m->cols), b = m->cols / c;
    if (c > 1)
        turn_columns(m, b, 1, size);
    turn_rows(m, b, size);
    turn_columns(m, b, 0, size);
}

void
matrix_run(const Matrix *m)
{
    switch (m->size) {
    case 1: turn(m, 1); break;
    case 2: turn(m, 2); break;
    case 4: turn(m, 4); break;
    case 8: turn(m, 8); break;
    case 16: turn(m, 16); break;
    }
}
