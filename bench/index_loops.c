/* The loops that people write for x[idx] and x[idx] = y, for rows of `width` elements of 4 bytes, for x[i, j] and for
 * take_along_axis; LOOP_AXIS is np.take along a dim of m in elements of a type. */
#include <stdint.h>

void loop_gather(uint32_t *restrict y, const uint32_t *restrict x, const int64_t *idx, int64_t n, int64_t width);
void loop_scatter(uint32_t *restrict y, const uint32_t *restrict x, const int64_t *idx, int64_t n, int64_t width);
void loop_pairs(uint32_t *restrict y, const uint32_t *restrict x, const int64_t *i, const int64_t *j, int64_t n, int64_t width);
void loop_along_last(uint32_t *restrict y, const uint32_t *restrict x, const int64_t *idx, int64_t n, int64_t width);
void loop_along_first(uint32_t *restrict y, const uint32_t *restrict x, const int64_t *idx, int64_t n, int64_t width);

#define LOOP_AXIS(name, type) \
    void name(type *restrict y, const type *restrict x, const int64_t *idx, int64_t outer, int64_t n, int64_t m, int64_t inner); \
    void name(type *restrict y, const type *restrict x, const int64_t *idx, int64_t outer, int64_t n, int64_t m, int64_t inner) \
    { \
        for (int64_t o = 0; o < outer; o++) \
            for (int64_t k = 0; k < n; k++) \
                for (int64_t c = 0; c < inner; c++) \
                    y[(o * n + k) * inner + c] = x[(o * m + idx[k]) * inner + c]; \
    }
LOOP_AXIS(loop_axis1, uint8_t)
LOOP_AXIS(loop_axis2, uint16_t)
LOOP_AXIS(loop_axis4, uint32_t)

void
loop_pairs(uint32_t *restrict y, const uint32_t *restrict x, const int64_t *i, const int64_t *j, int64_t n, int64_t width)
{
    for (int64_t k = 0; k < n; k++)
        y[k] = x[i[k] * width + j[k]];
}

void
loop_along_last(uint32_t *restrict y, const uint32_t *restrict x, const int64_t *idx, int64_t n, int64_t width)
{
    for (int64_t k = 0; k < n; k++)
        for (int64_t c = 0; c < width; c++)
            y[k * width + c] = x[k * width + idx[k * width + c]];
}

void
loop_along_first(uint32_t *restrict y, const uint32_t *restrict x, const int64_t *idx, int64_t n, int64_t width)
{
    for (int64_t k = 0; k < n; k++)
        for (int64_t c = 0; c < width; c++)
            y[k * width + c] = x[idx[k * width + c] * width + c];
}

void
loop_gather(uint32_t *restrict y, const uint32_t *restrict x, const int64_t *idx, int64_t n, int64_t width)
{
    if (width == 1)
        for (int64_t i = 0; i < n; i++)
            y[i] = x[idx[i]];
    else
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < width; j++)
                y[i * width + j] = x[idx[i] * width + j];
}

void
loop_scatter(uint32_t *restrict y, const uint32_t *restrict x, const int64_t *idx, int64_t n, int64_t width)
{
    if (width == 1)
        for (int64_t i = 0; i < n; i++)
            y[idx[i]] = x[i];
    else
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < width; j++)
                y[idx[i] * width + j] = x[i * width + j];
}
