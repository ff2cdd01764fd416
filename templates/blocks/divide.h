/* x / d, for the divisor d that has this multiplier and shift: the upper half of a product of 128 bits. */
static inline int64_t
ravel_divide(int64_t x, int64_t multiplier, int64_t shift)
{
    const uint64_t u = (uint64_t)x, m = (uint64_t)multiplier;
    const uint64_t low = (u & 0xffffffff) * (m & 0xffffffff) >> 32;
    const uint64_t a = (u >> 32) * (m & 0xffffffff) + low;
    const uint64_t b = (u & 0xffffffff) * (m >> 32) + (a & 0xffffffff);
    return (int64_t)(((u >> 32) * (m >> 32) + (a >> 32) + (b >> 32) + u) >> shift);
}
