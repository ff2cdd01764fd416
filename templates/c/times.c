/* x times n, where an n of 0 counts as 1; -1 where x is, or it does not fit. */
static int64_t
ravel_times(int64_t x, int64_t n)
{
    return x < 0 || n <= 1 ? x : x > INT64_MAX / n ? -1 : x * n;
}
