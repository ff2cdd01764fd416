/* Compiled as those of AVX-512 VBMI, with RAVEL_GATHER: for processors that gather fast. */
#ifdef __x86_64__
#define KERNELS kernels_avx512gather
#define OTHER_KERNELS kernels_avx512vbmi
#define OWN_AVX512_GATHER(k) SYMBOL(k)
#define OTHER_place_moves sse2
#pragma GCC diagnostic ignored "-Wunused-function"
#include "kernels_isa.h"
#endif
