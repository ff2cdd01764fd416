/* Compiled with -mavx512bw -mavx512vl -mavx512vbmi -mgfni: the kernels to which the last two
 * make a difference.  The others are those of AVX-512, and so are functions that are the same
 * code. */
#ifdef __x86_64__
#define KERNELS kernels_avx512vbmi
#define OTHER_KERNELS kernels_avx512
#define OWN_VBMI(k) SYMBOL(k)
#define OWN_AVX512_VBMI(k) SYMBOL(k)
#define OTHER_composite_block1 avx512
#define OTHER_composite_block2 avx512
#define OTHER_composite_block4 avx512
#define OTHER_composite_block8 avx512
#define OTHER_bits_block avx512
#define OTHER_shuffle_terms avx512
#pragma GCC diagnostic ignored "-Wunused-function"
#include "kernels_isa.h"
#endif
