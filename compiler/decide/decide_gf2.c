#include "decide_gf2.h"

/* A row with bit c that is no pivot of a column before c, -1: there is none. */
static int
find_pivot(const uint64_t *row, int rows, int c, const int *pivot)
{
    for (int r = 0; r < rows; r++) {
        int k = 0;
        while (k < c && pivot[k] != r)
            k++;
        if (k == c && row[r] >> c & 1)
            return r;
    }
    return -1;
}

int
gf2_eliminate(uint64_t *row, int rows, int columns, int *pivot, Gf2Added *added,
              void *arg)
{
    int rank = 0;
    for (int c = 0; c < columns; c++) {
        int p = pivot[c] = find_pivot(row, rows, c, pivot);
        if (p < 0)
            continue;
        rank++;
        for (int r = 0; r < rows; r++) {
            if (r == p || !(row[r] >> c & 1))
                continue;
            row[r] ^= row[p];
            if (added)
                added(arg, r, p);
        }
    }
    return rank;
}
