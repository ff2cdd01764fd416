/* ravel emit --to SEED83 --shape 64,64 --dtype f32 --kind inverse --name seed83_inverse_f32
 * layout SEED83: 1024*(R//16) + 512*((R%2) ~ (R//8%2)) + 64*((R%8) ~ (C//8)) + 32*((C//4%2) ~ (C//32)) + C%32
 *        f32, R=64 C=64 in 4096 elements, 16384 bytes
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
seed83_inverse_f32(int64_t a, int64_t out[2])
{
    if (a < 0 || a > 4095) return 0;
    const int64_t r = 16*(a/1024) + 4*((a/4%4) ^ (a/32%4) ^ (a/256%4)) + ((a/8%4) ^ (a/64%4));
    if (r < 0 || r > 63) return 0;
    const int64_t c = 32*((a/4%2) ^ (a/32%2)) + a%32;
    if (c < 0 || c > 63) return 0;
    if (1024*(r/16) + 512*((r%2) ^ (r/8%2)) + 64*((r%8) ^ (c/8)) + 32*((c/4%2) ^ (c/32)) + c%32 != a) return 0;
    out[0] = r;
    out[1] = c;
    return 1;
}
