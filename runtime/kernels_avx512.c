/* Compiled with -mavx512bw -mavx512vl: the kernels to which AVX-512 makes a difference.  The
 * others are those of AVX2. */
#ifdef __x86_64__
#define KERNELS kernels_avx512
#define OTHER_KERNELS kernels_avx2
#define TRANSPOSES SYMBOL(transpose1) SYMBOL(transpose2) SYMBOL(transpose4) SYMBOL(transpose8)
#define COMPOSITES SYMBOL(composite1) SYMBOL(composite2) SYMBOL(composite4) SYMBOL(composite8)
#define UNPACKED SYMBOL(unpacked1) SYMBOL(unpacked2) SYMBOL(unpacked4) SYMBOL(unpacked8)
#define BITS SYMBOL(bits) SYMBOL(bits_run) SYMBOL(bits_swap) SYMBOL(bits_transpose)
#define GENERAL SYMBOL(composite) SYMBOL(unpacked) SYMBOL(transpose16)
#define COPIES SYMBOL(copy) SYMBOL(copy_fill) SYMBOL(fill) SYMBOL(fill_bits)
#define OTHERS SYMBOL(interleave1) SYMBOL(shuffle) SYMBOL(placed) SYMBOL(outside)
#define OWN_KERNELS TRANSPOSES COMPOSITES UNPACKED BITS GENERAL COPIES OTHERS
#pragma GCC diagnostic ignored "-Wunused-function"
#include "kernels_isa.h"
#endif
