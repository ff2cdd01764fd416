/* Whether one of the n numbers of an index array of 32 or 64 bits is not `least` to `most`: then
 * what it is more than least, or less than most, is below 0.  The loops have no branches, so a
 * compiler can use vectors. */
static int
ravel_outside(const void *array, int64_t bits, int64_t n, int64_t least, int64_t most)
{
    uint64_t wide = 0;
    uint32_t narrow = 0;
    for (int64_t i = 0; bits == 64 && i < n; i++) {
        const uint64_t v = ((const uint64_t *)array)[i];
        wide |= (v - (uint64_t)least) | ((uint64_t)most - v);
    }
    for (int64_t i = 0; bits == 32 && i < n; i++) {
        const uint32_t v = ((const uint32_t *)array)[i];
        narrow |= (v - (uint32_t)least) | ((uint32_t)most - v);
    }
    return wide >> 63 || narrow >> 31;
}
