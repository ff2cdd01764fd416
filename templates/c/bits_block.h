/* Blocks of columns (bits_tile.h). */
#ifdef RAVEL_BITS_TILES
/* One function for each number of bits, as registers are few. */
__attribute__((noinline)) static void
ravel_bits_block1(unsigned char *to, int64_t pitch, const ravel_bits_columns *at, int64_t r)
{
    ravel_bits_block(to, pitch, at, r, 1);
}

__attribute__((noinline)) static void
ravel_bits_block2(unsigned char *to, int64_t pitch, const ravel_bits_columns *at, int64_t r)
{
    ravel_bits_block(to, pitch, at, r, 2);
}

__attribute__((noinline)) static void
ravel_bits_block4(unsigned char *to, int64_t pitch, const ravel_bits_columns *at, int64_t r)
{
    ravel_bits_block(to, pitch, at, r, 4);
}
#endif
