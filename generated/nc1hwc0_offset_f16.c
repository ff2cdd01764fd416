/* ravel emit --to NC1HWC0 --shape 8,71,56,56 --dtype f16 --kind offset --name nc1hwc0_offset_f16
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

/* the storage index, in elements, of one logical index */
#ifdef __GNUC__
__attribute__((unused))
#endif
static inline int64_t
nc1hwc0_offset_f16(int64_t n, int64_t c, int64_t h, int64_t w)
{
    return 250880*n + 50176*(c/16) + 896*h + 16*w + c%16;
}
