/* x * n, or x if n is 0; -1 if x is -1 or the result, in bits, does not fit 64 bits or this
 * machine's address space. */
static int64_t
ravel_times(int64_t x, int64_t n)
{
    const int64_t most = sizeof(void *) < 8 ? ((int64_t)1 << 34) - 8 : INT64_MAX;
    return x < 0 || n <= 1 ? x : x > most / n ? -1 : x * n;
}
