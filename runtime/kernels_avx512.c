/* Compiled with -mavx512bw -mavx512vl: the kernels to which AVX-512 makes a difference.  The
 * others are those of AVX2, and so is what packs and unpacks. */
#ifdef __x86_64__
#define KERNELS kernels_avx512
#define OTHER_place_moves \
    extern void ravel_move_rows(unsigned char *, const unsigned char *, ravel_runs, int64_t, \
        const int64_t *, int64_t, const int64_t *, int64_t) \
        __asm__("sse2_move_rows") __attribute__((visibility("hidden")));
#define OF_AVX2(k, args) \
    extern void ravel_##k args __asm__("avx2_" #k) __attribute__((visibility("hidden")));
#define OTHER_unpack OF_AVX2(unpack_pairs, (unsigned char *, int64_t, const unsigned char *, \
    int64_t, const int32_t *, int64_t, int64_t, int64_t, int64_t))
#define OTHER_unpack_bits OF_AVX2(unpack, (unsigned char *, int64_t, const unsigned char *, int64_t, \
    const int32_t *, int64_t, int64_t, int64_t, int64_t)) \
    OF_AVX2(pack, (unsigned char *, int64_t, const int32_t *, int64_t, const unsigned char *, \
    int64_t, int64_t, int64_t, int, int64_t))
#define OTHER_KERNELS kernels_avx2
#define TRANSPOSES SYMBOL(transpose1) SYMBOL(transpose2) SYMBOL(transpose4) SYMBOL(transpose8)
#define COMPOSITES SYMBOL(composite1) SYMBOL(composite2) SYMBOL(composite4) SYMBOL(composite8)
#define UNPACKED SYMBOL(unpacked1) SYMBOL(unpacked2) SYMBOL(unpacked4) SYMBOL(unpacked8)
#define BITS SYMBOL(bits) SYMBOL(bits_run) SYMBOL(bits_swap) SYMBOL(bits_transpose)
#define GENERAL SYMBOL(composite) SYMBOL(unpacked) SYMBOL(transpose16)
#define COPIES SYMBOL(copy) SYMBOL(copy_fill) SYMBOL(fill) SYMBOL(fill_bits)
#define OTHERS SYMBOL(interleave1) SYMBOL(shuffle) SYMBOL(placed) SYMBOL(outside)
#define OWN_KERNELS TRANSPOSES COMPOSITES UNPACKED BITS GENERAL COPIES OTHERS
#define SHARE_5(k) SHARE(avx512, k)
#define SHARED_TILES SHARE_5(tile1) SHARE_5(tile2) SHARE_5(tile4) SHARE_5(tile8)
#define SHARED_BITS SHARE_5(bits_block1) SHARE_5(bits_block2) SHARE_5(bits_block4)
#define SHARED_TERMS SHARE_5(shuffle_1) SHARE_5(shuffle_2) SHARE_5(shuffle_3) SHARE_5(shuffle_4)
#define SHARED_MASKED SHARE_5(shuffle_2_masked) SHARE_5(shuffle_3_masked) SHARE_5(shuffle_4_masked)
#define SHARED_OTHERS SHARE_5(shuffle_any) SHARE_5(shuffle_more)
#define SHARED SHARED_TILES SHARED_BITS SHARED_TERMS SHARED_MASKED SHARED_OTHERS
#pragma GCC diagnostic ignored "-Wunused-function"
#include "kernels_isa.h"
#endif
