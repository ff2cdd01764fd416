/* ravel emit --to SW128 --shape 128,64 --dtype f16 --kind offset --name sw128_offset_f16
 * layout SW128: 64*M + 8*((M%8) ~ (K//8)) + K%8
 *        f16, M=128 K=64 in 8192 elements, 16384 bytes */
#include <stdint.h>
#include <string.h>

/* the storage index, in elements, of one logical index */
#ifdef __GNUC__
__attribute__((unused))
#endif
static inline int64_t
sw128_offset_f16(int64_t m, int64_t k)
{
    return 64*m + 8*((m%8) ^ (k/8)) + k%8;
}
