/* Compiled as those of AVX-512 VBMI, with RAVEL_GATHER: for processors that gather fast. */
#ifdef __x86_64__
#define KERNELS kernels_avx512gather
#define OTHER_KERNELS kernels_avx512vbmi
#define OTHER_place_moves \
    extern void ravel_move_rows(unsigned char *, const unsigned char *, ravel_runs, int64_t, \
        const int64_t *, int64_t, const int64_t *, int64_t) \
        __asm__("sse2_move_rows") __attribute__((visibility("hidden")));
#define OWN_KERNELS SYMBOL(placed)
#pragma GCC diagnostic ignored "-Wunused-function"
#include "kernels_isa.h"
#endif
