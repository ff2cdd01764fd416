/* Copies bytes and reverses the order of the elements of 1, 2 or 4 bits within each.  d
 * and s count elements from the start of the buffers. */
static uint64_t
ravel_bits_swapped(uint64_t v, int64_t bits)
{
    v = (v >> 4 & 0x0f0f0f0f0f0f0f0fu) | (v & 0x0f0f0f0f0f0f0f0fu) << 4;
    if (bits < 4)
        v = (v >> 2 & 0x3333333333333333u) | (v & 0x3333333333333333u) << 2;
    if (bits < 2)
        v = (v >> 1 & 0x5555555555555555u) | (v & 0x5555555555555555u) << 1;
    return v;
}

static void
ravel_bits_swap(unsigned char *dst, int64_t d, const unsigned char *src, int64_t s,
                int64_t bytes, int64_t bits)
{
    int64_t i = 0;
    dst += d * bits / 8;
    src += s * bits / 8;
    for (; i + 8 <= bytes; i += 8) {
        uint64_t v;
        memcpy(&v, src + i, 8);
        v = ravel_bits_swapped(v, bits);
        memcpy(dst + i, &v, 8);
    }
    for (; i < bytes; i++)
        dst[i] = (unsigned char)ravel_bits_swapped(src[i], bits);
}
