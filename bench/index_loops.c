/* The loops that people write for x[idx] and x[idx] = y, for rows of `width` elements of 4 bytes. */
#include <stdint.h>

void loop_gather(uint32_t *restrict y, const uint32_t *restrict x, const int64_t *idx, int64_t n, int64_t width);
void loop_scatter(uint32_t *restrict y, const uint32_t *restrict x, const int64_t *idx, int64_t n, int64_t width);

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
