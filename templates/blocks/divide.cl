/* x / d, for the divisor d that has this multiplier and shift. */
static inline long
ravel_divide(long x, long multiplier, long shift)
{
    return (long)((mul_hi((ulong)x, (ulong)multiplier) + (ulong)x) >> shift);
}
