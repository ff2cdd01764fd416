/* Hand-written conversions between sparse formats, without checks: what bench/sparse.py
 * compares with.  Each allocates its result, as a library must. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    int32_t *pos, *crd;
    double *val;
} Result;

static Result
result(int64_t rows, int64_t entries, int64_t each)
{
    return (Result){malloc((size_t)(rows + 1) * sizeof(int32_t)),
                    malloc((size_t)(entries + 1) * sizeof(int32_t)),
                    malloc((size_t)(entries * each + 1) * sizeof(double))};
}

/* Not inlined: a result that nobody reads would not be computed. */
static __attribute__((noinline, noclone)) void
drop(Result r)
{
    __asm__ volatile("" : : "r"(r.pos), "r"(r.crd), "r"(r.val) : "memory");
    free(r.pos);
    free(r.crd);
    free(r.val);
}

void
loop_dense_to_csr(const double *a, int64_t rows, int64_t cols)
{
    int64_t n = 0, k = 0;
    for (int64_t i = 0; i < rows * cols; i++)
        n += a[i] != 0;
    Result r = result(rows, n, 1);
    for (int64_t q = 0; q < rows; q++) {
        r.pos[q] = (int32_t)k;
        for (int64_t c = 0; c < cols; c++)
            if (a[q * cols + c] != 0) {
                r.crd[k] = (int32_t)c;
                r.val[k++] = a[q * cols + c];
            }
    }
    r.pos[rows] = (int32_t)k;
    drop(r);
}

/* Two stable counting sorts, by column and by row; then equal entries are added. */
void
loop_coo_to_csr(const int32_t *row, const int32_t *col, const double *val, int64_t n,
                int64_t rows, int64_t cols)
{
    int64_t most = rows > cols ? rows : cols, k = 0;
    int32_t *at = calloc((size_t)most + 2, sizeof *at), *by = malloc((size_t)(n + 1) * sizeof *by);
    Result r = result(rows, n, 1);
    int32_t *order = malloc((size_t)(n + 1) * sizeof *order);
    for (int64_t i = 0; i < n; i++)
        at[col[i] + 1]++;
    for (int64_t c = 0; c < cols; c++)
        at[c + 1] += at[c];
    for (int64_t i = 0; i < n; i++)
        by[at[col[i]]++] = (int32_t)i;
    memset(at, 0, ((size_t)most + 2) * sizeof *at);
    for (int64_t i = 0; i < n; i++)
        at[row[i] + 1]++;
    for (int64_t q = 0; q < rows; q++)
        at[q + 1] += at[q];
    for (int64_t i = 0; i < n; i++)
        order[at[row[by[i]]]++] = by[i];
    for (int64_t q = 0, i = 0; q < rows; q++) {
        r.pos[q] = (int32_t)k;
        for (int32_t last = -1; i < at[q]; i++) {
            int32_t p = order[i];
            if (col[p] == last) {
                r.val[k - 1] += val[p];
            } else {
                r.crd[k] = last = col[p];
                r.val[k++] = val[p];
            }
        }
    }
    r.pos[rows] = (int32_t)k;
    drop(r);
    free(at);
    free(by);
    free(order);
}

void
loop_csr_to_csc(const int32_t *pos, const int32_t *crd, const double *val, int64_t n,
                int64_t rows, int64_t cols)
{
    Result r = result(cols, n, 1);
    memset(r.pos, 0, (size_t)(cols + 1) * sizeof *r.pos);
    for (int64_t i = 0; i < n; i++)
        r.pos[crd[i] + 1]++;
    for (int64_t c = 0; c < cols; c++)
        r.pos[c + 1] += r.pos[c];
    for (int64_t q = 0; q < rows; q++)
        for (int32_t i = pos[q]; i < pos[q + 1]; i++) {
            int32_t p = r.pos[crd[i]]++;
            r.crd[p] = (int32_t)q;
            r.val[p] = val[i];
        }
    memmove(r.pos + 1, r.pos, (size_t)cols * sizeof *r.pos);
    r.pos[0] = 0;
    drop(r);
}

/* Blocks of 4 x 4, those of a row in ascending order. */
void
loop_csr_to_bsr(const int32_t *pos, const int32_t *crd, const double *val, int64_t n,
                int64_t rows, int64_t cols)
{
    enum { B = 4 };
    int64_t down = (rows + B - 1) / B, across = (cols + B - 1) / B, k = 0;
    int32_t *mark = malloc((size_t)across * sizeof *mark);
    (void)n;
    memset(mark, 0xff, (size_t)across * sizeof *mark);
    for (int64_t q = 0; q < rows; q++)
        for (int32_t i = pos[q]; i < pos[q + 1]; i++) {
            k += mark[crd[i] / B] != (int32_t)(q / B);
            mark[crd[i] / B] = (int32_t)(q / B);
        }
    Result r = result(down, k, B * B);
    memset(r.val, 0, (size_t)k * B * B * sizeof *r.val);
    memset(mark, 0xff, (size_t)across * sizeof *mark);
    k = 0;
    for (int64_t q = 0; q < down; q++) {
        int64_t end = (q + 1) * B < rows ? (q + 1) * B : rows;
        r.pos[q] = (int32_t)k;
        for (int32_t i = pos[q * B]; i < pos[end]; i++)
            mark[crd[i] / B] = 0;
        for (int64_t c = 0; c < across; c++)
            if (mark[c] == 0) {
                r.crd[k] = (int32_t)c;
                mark[c] = (int32_t)k++;
            }
        for (int64_t a = q * B; a < end; a++)
            for (int32_t i = pos[a]; i < pos[a + 1]; i++)
                r.val[(mark[crd[i] / B] * B + a % B) * B + crd[i] % B] = val[i];
        for (int32_t i = pos[q * B]; i < pos[end]; i++)
            mark[crd[i] / B] = -1;
    }
    r.pos[down] = (int32_t)k;
    drop(r);
    free(mark);
}
