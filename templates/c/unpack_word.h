/* Eight elements of 1, 2 or 4 bits to a byte each, and back: words of `bits` bytes and of 8.
 * The first element of a byte is in its lowest bits.  `bits` is a constant. */
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#ifndef RAVEL_PLAIN
#define RAVEL_UNPACK_LINES
#if RAVEL_LANES == 4 && defined(__AVX512VBMI__)
#define RAVEL_UNPACK_VBMI
#endif
#endif
RAVEL_CONSTANT uint64_t
ravel_word_load(const unsigned char *s, int bytes)
{
    uint64_t x = *s;
    uint32_t y;
    uint16_t z;
    if (bytes == 8) {
        memcpy(&x, s, 8);
    } else if (bytes == 4) {
        memcpy(&y, s, 4);
        x = y;
    } else if (bytes == 2) {
        memcpy(&z, s, 2);
        x = z;
    }
    return x;
}

RAVEL_CONSTANT void
ravel_word_store(unsigned char *d, uint64_t x, int bytes)
{
    const uint32_t y = (uint32_t)x;
    const uint16_t z = (uint16_t)x;
    if (bytes == 8)
        memcpy(d, &x, 8);
    else if (bytes == 4)
        memcpy(d, &y, 4);
    else if (bytes == 2)
        memcpy(d, &z, 2);
    else
        *d = (unsigned char)x;
}
#else
RAVEL_CONSTANT uint64_t
ravel_word_load(const unsigned char *s, int bytes)
{
    uint64_t x = 0;
    for (int i = 0; i < bytes; i++)
        x |= (uint64_t)s[i] << 8 * i;
    return x;
}

RAVEL_CONSTANT void
ravel_word_store(unsigned char *d, uint64_t x, int bytes)
{
    for (int i = 0; i < bytes; i++)
        d[i] = (unsigned char)(x >> 8 * i);
}
#endif

/* The bits of fields of `step` elements, of which one begins in each `step` bytes. */
RAVEL_CONSTANT uint64_t
ravel_fields(int step, int bits)
{
    return (uint64_t)-1 / (((uint64_t)2 << (8 * step - 1)) - 1) * (((uint64_t)1 << step * bits) - 1);
}

/* Moves the elements of a word to a byte each: halves, quarters, single elements. */
RAVEL_CONSTANT uint64_t
ravel_spread(uint64_t x, int bits)
{
    RAVEL_UNROLL for (int step = 4; step > 0; step /= 2)
        x = (x | x << step * (8 - bits)) & ravel_fields(step, bits);
    return x;
}

/* The inverse of ravel_spread. */
RAVEL_CONSTANT uint64_t
ravel_unspread(uint64_t x, int bits)
{
    RAVEL_UNROLL for (int step = 1; step < 8; step *= 2) {
        x &= ravel_fields(step, bits);
        x |= x >> step * (8 - bits);
    }
    return x;
}

/* A word from bit `at` of the source on, a byte an element.  Both words that an element may be in are
 * read; they have the same bits where they overlap. */
RAVEL_CONSTANT uint64_t
ravel_unpacked_word(const unsigned char *s, int64_t at, int bits)
{
    uint64_t x = ravel_word_load(s + (at >> 3), bits);
    if (at & 7)
        x = (x >> (at & 7) | ravel_word_load(s + (at >> 3) + 1, bits) << (8 - (at & 7))) &
            (uint64_t)-1 >> (64 - 8 * bits);
    return ravel_spread(x, bits);
}

RAVEL_CONSTANT void
ravel_pack_word(unsigned char *d, const unsigned char *s, int up, int bits)
{
    ravel_word_store(d, ravel_unspread(ravel_word_load(s, 8) >> up, bits), bits);
}

/* n elements, fewer than 8, from bit `at` of a byte on; other bits stay.  Reads 8 bytes. */
RAVEL_CONSTANT void
ravel_pack_few(unsigned char *d, int at, const unsigned char *s, int n, int up, int bits)
{
    if (bits == 4 && n == 1) {
        ravel_bits_into(d, at, *s >> up & 15, 4);
        return;
    }
    uint64_t x = ravel_unspread(ravel_word_load(s, 8) >> up, bits);
    for (n *= bits; n > 0; at = 0) {
        const int part = n < 8 - at ? n : 8 - at;
        ravel_bits_into(d++, at, (unsigned)x & ((1u << part) - 1), part);
        x >>= part;
        n -= part;
    }
}
