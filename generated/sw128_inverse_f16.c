/* ravel emit --to SW128 --shape 128,64 --dtype f16 --kind inverse --name sw128_inverse_f16
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

/* 1 and the logical index of the element at storage index a, or 0 when there is none */
#ifdef __GNUC__
__attribute__((unused))
#endif
static inline int
sw128_inverse_f16(int64_t a, int64_t out[2])
{
    if (a < 0 || a > 8191) return 0;
    const int64_t m = a/64;
    if (m < 0 || m > 127) return 0;
    const int64_t k = 8*((a/8%8) ^ (a/64%8)) + a%8;
    if (k < 0 || k > 63) return 0;
    if (64*m + 8*((m%8) ^ (k/8)) + k%8 != a) return 0;
    out[0] = m;
    out[1] = k;
    return 1;
}
