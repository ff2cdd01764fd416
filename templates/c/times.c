/* x * n, or x if n is 0; -1 if x is -1 or the result does not fit 64 bits. */
static int64_t
ravel_times(int64_t x, int64_t n)
{
    return x < 0 || n <= 1 ? x : x > INT64_MAX / n ? -1 : x * n;
}
