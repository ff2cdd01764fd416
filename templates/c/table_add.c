/* out[i] = sum[i] + part[i]*x for n words of a table; out may be sum. */
static void
ravel_table_add(int32_t *out, const int32_t *sum, const int32_t *part, int64_t n, int64_t x)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = (int32_t)(sum[i] + part[i] * x);
}
