/* The n numbers of ${size} bytes of `a` in order, by insertion. */
static void
ravel_digits_insert${size}(ravel_number${size} *a, int64_t n)
{
    for (int64_t i = 1, k; i < n; i++) {
        ravel_number${size} x = a[i];
        for (k = i; k > 0 && a[k - 1] > x; k--)
            a[k] = a[k - 1];
        a[k] = x;
    }
}

/* The n numbers of ${size} bytes of `a` in order of their bits from `from` on: few by insertion, many
 * digit by digit, `width` bits of each in so many passes, at most 4.  b: a spare array.  Returns the one
 * that has them then. */
static ravel_number${size} *
ravel_digits_sort${size}(ravel_number${size} *a, ravel_number${size} *b, int64_t n, int from, int passes, int width)
{
    uint32_t count[4][1 << RAVEL_RADIX];
    const ravel_number${size} below = ((ravel_number${size})1 << width) - 1;
    if (n <= RAVEL_INSERTED) {
        ravel_digits_insert${size}(a, n);
        return a;
    }
    for (int k = 0; k < passes; k++)
        memset(count[k], 0, sizeof **count << width);
    for (int64_t i = 0; i < n; i++)
        for (int k = 0; k < passes; k++)
            count[k][a[i] >> (from + k * width) & below]++;
    for (int k = 0; k < passes; k++) {
        ravel_number${size} *swap = a;
        ravel_digits_sums(count[k], width);
        for (int64_t i = 0; i < n; i++)
            b[count[k][a[i] >> (from + k * width) & below]++] = a[i];
        a = b;
        b = swap;
    }
    return a;
}
