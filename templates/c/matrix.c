/* A matrix transposed in place by three passes over its columns, its rows, and its columns:
 * B. Catanzaro, A. Keller, M. Garland, "A decomposition for in-place matrix transposition"
 * (2014), algorithm C2R.  Extents need no divisors.  With c the greatest common divisor of m rows
 * and n columns, a = m / c and b = n / c:
 *
 *   column j is rotated by j / b                        (where c > 1)
 *   item j of row i goes to ((i + j / b) mod m + j m) mod n
 *   item i of column j comes from (j + i n - i / a) mod m
 *
 * Each pass holds a row, or a strip of columns as wide as fits.  `hold` has room for a row and for
 * a column: `bytes`. */
typedef struct {
    unsigned char *at, *hold;
    int64_t bytes, rows, cols;
} ravel_rectangle;

static int64_t
ravel_matrix_divisor(int64_t a, int64_t b)
{
    return b ? ravel_matrix_divisor(b, a % b) : a;
}

/* The next of the numbers below n, with steps below n. */
RAVEL_CONSTANT int64_t
ravel_matrix_step(int64_t x, int64_t by, int64_t n)
{
    x += by;
    return x >= n ? x - n : x;
}

/* Copy a strip of w columns from column j on to `hold`. */
static void
ravel_matrix_hold_strip(const ravel_rectangle *m, int64_t j, int64_t w, int64_t size)
{
    for (int64_t i = 0; i < m->rows; i++)
        memcpy(m->hold + i * w * size, m->at + (i * m->cols + j) * size, (size_t)(w * size));
}

/* Give each column of the strip its items in another order: the one in row i, column j + k comes
 * from row first(i) + shift(k). */
RAVEL_CONSTANT void
ravel_matrix_place_strip(const ravel_rectangle *m, int64_t j, int64_t w, int64_t b, int rotate,
                         int64_t size)
{
    const int64_t a = m->rows / ravel_matrix_divisor(m->rows, m->cols), by = m->cols % m->rows;
    int64_t first = 0, within = 0;
    for (int64_t i = 0; i < m->rows; i++) {
        unsigned char *d = m->at + (i * m->cols + j) * size;
        int64_t from = ravel_matrix_step(first, (rotate ? j / b : j) % m->rows, m->rows);
        int64_t left = b - j % b;
        for (int64_t k = 0; k < w; k++) {
            memcpy(d + k * size, m->hold + (from * w + k) * size, (size_t)size);
            if (!rotate || --left == 0) {
                from = ravel_matrix_step(from, 1, m->rows);
                left = b;
            }
        }
        first = ravel_matrix_step(first, rotate ? 1 : by, m->rows);
        if (!rotate && ++within == a) {
            first = ravel_matrix_step(first, m->rows - 1, m->rows);
            within = 0;
        }
    }
}

RAVEL_CONSTANT void
ravel_matrix_turn_columns(const ravel_rectangle *m, int64_t b, int rotate, int64_t size)
{
    const int64_t most = m->bytes / (m->rows * size), wide = most < m->cols ? most : m->cols;
    for (int64_t j = 0; j < m->cols; j += wide) {
        const int64_t w = j + wide < m->cols ? wide : m->cols - j;
        ravel_matrix_hold_strip(m, j, w, size);
        ravel_matrix_place_strip(m, j, w, b, rotate, size);
    }
}

RAVEL_CONSTANT void
ravel_matrix_turn_rows(const ravel_rectangle *m, int64_t b, int64_t size)
{
    const int64_t by = m->rows % m->cols;
    for (int64_t i = 0; i < m->rows; i++) {
        unsigned char *row = m->at + i * m->cols * size;
        int64_t high = i, left = b, start = 0;
        memcpy(m->hold, row, (size_t)(m->cols * size));
        for (int64_t j = 0, to = i % m->cols; j < m->cols; j++) {
            memcpy(row + to * size, m->hold + j * size, (size_t)size);
            start = ravel_matrix_step(start, by, m->cols);
            to = ravel_matrix_step(to, by, m->cols);
            if (--left == 0) {
                left = b;
                high = ravel_matrix_step(high, 1, m->rows);
                to = ravel_matrix_step(start, high % m->cols, m->cols);
            }
        }
    }
}

/* As many rows as columns: each pair of items is exchanged, by tiles. */
RAVEL_CONSTANT void
ravel_matrix_turn_square(const ravel_rectangle *m, int64_t size)
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

RAVEL_CONSTANT void
ravel_matrix_turn(const ravel_rectangle *m, int64_t size)
{
    if (m->rows == m->cols) {
        ravel_matrix_turn_square(m, size);
        return;
    }
    const int64_t c = ravel_matrix_divisor(m->rows, m->cols), b = m->cols / c;
    if (c > 1)
        ravel_matrix_turn_columns(m, b, 1, size);
    ravel_matrix_turn_rows(m, b, size);
    ravel_matrix_turn_columns(m, b, 0, size);
}

/* Items of 1, 2, 4, 8 or 16 bytes. */
static void
ravel_matrix(unsigned char *at, void *scratch, int64_t bytes, int64_t rows, int64_t cols,
             int64_t size)
{
    const ravel_rectangle m = {at, (unsigned char *)scratch, bytes, rows, cols};
    switch (size) {
    case 1: ravel_matrix_turn(&m, 1); break;
    case 2: ravel_matrix_turn(&m, 2); break;
    case 4: ravel_matrix_turn(&m, 4); break;
    case 8: ravel_matrix_turn(&m, 8); break;
    case 16: ravel_matrix_turn(&m, 16); break;
    }
}
