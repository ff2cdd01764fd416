/* ravel emit --to NC1HWC0 --shape 8,71,56,56 --dtype f16 --kind inverse --name nc1hwc0_inverse_f16
 * layout NC1HWC0: 250880*N + 50176*(C//16) + 896*H + 16*W + C%16
 *        f16, N=8 C=71 H=56 W=56 in 2007040 elements, 4014080 bytes
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
nc1hwc0_inverse_f16(int64_t a, int64_t out[4])
{
    if (a < 0 || a > 2007039) return 0;
    const int64_t n = a/250880;
    if (n < 0 || n > 7) return 0;
    const int64_t c = 16*(a/50176%5) + a%16;
    if (c < 0 || c > 70) return 0;
    const int64_t h = a/896%56;
    if (h < 0 || h > 55) return 0;
    const int64_t w = a/16%56;
    if (w < 0 || w > 55) return 0;
    if (250880*n + 50176*(c/16) + 896*h + 16*w + c%16 != a) return 0;
    out[0] = n;
    out[1] = c;
    out[2] = h;
    out[3] = w;
    return 1;
}
