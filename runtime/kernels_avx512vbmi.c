/* Compiled with -mavx512bw -mavx512vl -mavx512vbmi -mgfni: the kernels to which the last two
 * make a difference.  The others are those of AVX-512. */
#ifdef __x86_64__
#define KERNELS kernels_avx512vbmi
#define OTHER_KERNELS kernels_avx512
#define COMPOSITES SYMBOL(composite1) SYMBOL(composite2) SYMBOL(composite4) SYMBOL(composite8)
#define UNPACKED SYMBOL(unpacked1) SYMBOL(unpacked2) SYMBOL(unpacked4) SYMBOL(unpacked8)
#define GENERAL SYMBOL(composite) SYMBOL(unpacked) SYMBOL(strided)
#define TILES SYMBOL(shuffle) SYMBOL(butterfly)
#define OWN_KERNELS SYMBOL(bits_transpose) COMPOSITES UNPACKED GENERAL TILES
#pragma GCC diagnostic ignored "-Wunused-function"
#include "kernels_isa.h"
#endif
