/* x rounded up to a multiple of n; -1 if x is -1 or the result does not fit 64 bits. */
static int64_t
ravel_round(int64_t x, int64_t n)
{
    const int64_t turns = x / n + (x % n ? 1 : 0);
    return x < 0 ? -1 : ravel_times(n, turns);
}
