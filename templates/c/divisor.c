/* Stores after the divisor d[0] the multiplier m = d[1] and the shift s = d[2] with which
 * x / d[0] = (upper half of x * m, plus x) >> s  for 0 <= x < 2^(bits - 1).  Granlund and
 * Montgomery, 1994: "Division by Invariant Integers using Multiplication", figure 4.1; for
 * these x the sum does not overflow. */
static void
ravel_divisor(int64_t *d, int bits)
{
    const uint64_t n = d[0] < 1 ? 1 : (uint64_t)d[0];
    uint64_t m = 0, rest;
    int s = 0;
    while (((uint64_t)1 << s) < n)
        s++;
    rest = ((uint64_t)1 << s) - n;
    for (int i = 0; i < bits; i++) {
        const uint64_t bit = 2 * rest >= n ? 1 : 0;
        rest = 2 * rest - (bit ? n : 0);
        m = 2 * m + bit;
    }
    d[1] = (int64_t)(m + 1);
    d[2] = s;
}
