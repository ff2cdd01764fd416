/* Compiled with -mavx512bw -mavx512vl: the kernels to which AVX-512 makes a difference.  The
 * others are those of AVX2, and so is what packs and unpacks. */
#ifdef __x86_64__
#define KERNELS kernels_avx512
#define OTHER_KERNELS kernels_avx2
#define OWN_AVX512(k) SYMBOL(k)
#define OWN_AVX512_VBMI(k) SYMBOL(k)
#define OWN_AVX512_GATHER(k) SYMBOL(k)
#define OWN_HELPERS SYMBOL(outside)
#define OTHER_place_moves sse2
#define OTHER_unpack_put sse2
#define OTHER_unpack avx2
#define OTHER_unpack_bits avx2
#define SHARES_composite_block1 avx512
#define SHARES_composite_block2 avx512
#define SHARES_composite_block4 avx512
#define SHARES_composite_block8 avx512
#define SHARES_bits_block avx512
#define SHARES_shuffle_terms avx512
#pragma GCC diagnostic ignored "-Wunused-function"
#include "kernels_isa.h"
#endif
