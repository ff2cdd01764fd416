/* x rounded up to a multiple of n; -1 where x is, or it does not fit. */
static int64_t
ravel_round(int64_t x, int64_t n)
{
    const int64_t turns = x / n + (x % n ? 1 : 0);
    return x < 0 ? -1 : ravel_times(n, turns);
}
