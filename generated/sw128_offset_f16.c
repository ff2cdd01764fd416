/* ravel emit --to SW128 --shape 128,64 --dtype f16 --kind offset --name sw128_offset_f16
 * layout SW128: 64*M + 8*((M%8) ~ (K//8)) + K%8
 *        f16, M=128 K=64 in 8192 elements, 16384 bytes
 * made by ravel 0.1.0, whose licence does not cover this file */
#include <stdint.h>
#include <string.h>
#ifndef UINT8_MAX
#error "this code is for machines with bytes of 8 bits"
#endif
#ifdef __cplusplus
#define RAVEL_RESTRICT __restrict
#else
#define RAVEL_RESTRICT restrict
#endif

/* the storage index, in elements, of one logical index */
#ifdef __GNUC__
__attribute__((unused))
#endif
static inline int64_t
sw128_offset_f16(int64_t m, int64_t k)
{
    return 64*m + 8*((m%8) ^ (k/8)) + k%8;
}
