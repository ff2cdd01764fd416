/* Sets n bits of a byte, from bit `at` on; the other bits stay.  volatile, because the
 * vectorisers of clang 14 and 15 move the load of a byte above a store to it. */
static void
ravel_bits_into(unsigned char *d, int64_t at, unsigned v, int64_t n)
{
    const unsigned mask = ((1u << n) - 1) << at;
    volatile unsigned char *byte = d;
    *byte = (unsigned char)((*byte & ~mask) | v << at);
}
