#ifndef RAVEL_PLAIN
/* Returns the 16 bytes that begin at bit `by` of s, 0 < by < 8; reads 17. */
RAVEL_INLINE ravel_1x1
ravel_bits_vector(const unsigned char *s, int64_t by)
{
    const uint64_t low = (uint64_t)(0xff >> by) * 0x0101010101010101;
    const ravel_8x1 a = (ravel_8x1)ravel_load1(s), b = (ravel_8x1)ravel_load1(s + 1);
    return (ravel_1x1)((a >> (uint64_t)by & low) | (b << (uint64_t)(8 - by) & ~low));
}
#endif
