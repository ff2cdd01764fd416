/* Compiled with -mavx512bw -mavx512vl -mavx512vbmi -mgfni: the kernels to which the last two
 * make a difference.  The others are those of AVX-512, and so are functions that are the same
 * code. */
#ifdef __x86_64__
#define KERNELS kernels_avx512vbmi
#define OTHER_KERNELS kernels_avx512
#define UNPACKED SYMBOL(unpacked1) SYMBOL(unpacked2) SYMBOL(unpacked4) SYMBOL(unpacked8)
#define GENERAL SYMBOL(unpacked) SYMBOL(strided)
#define TILES SYMBOL(shuffle) SYMBOL(butterfly)
#define OWN_KERNELS SYMBOL(bits_transpose) UNPACKED GENERAL TILES
#define OF_AVX512(k, args) \
    extern void ravel_##k args __asm__("avx512_" #k) __attribute__((visibility("hidden")));
#define TILE(k) OF_AVX512(k, (unsigned char *, const unsigned char *, const int32_t *, ravel_soon *))
#define OTHER_composite_block1 TILE(tile1)
#define OTHER_composite_block2 TILE(tile2)
#define OTHER_composite_block4 TILE(tile4)
#define OTHER_composite_block8 TILE(tile8)
#define BLOCK(k) OF_AVX512(k, (unsigned char *, int64_t, const ravel_bits_columns *, int64_t))
#define OTHER_bits_block BLOCK(bits_block1) BLOCK(bits_block2) BLOCK(bits_block4)
#define TERMS(k) OF_AVX512(shuffle_##k, (const ravel_shuffled *, int))
#define MASKED TERMS(2_masked) TERMS(3_masked) TERMS(4_masked)
#define OTHER_shuffle_terms TERMS(1) TERMS(2) TERMS(3) TERMS(4) TERMS(any) TERMS(more) MASKED
#pragma GCC diagnostic ignored "-Wunused-function"
#include "kernels_isa.h"
#endif
