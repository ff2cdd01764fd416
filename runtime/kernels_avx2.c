/* Compiled with -mavx2.  What its wider vectors make no faster is SSE2's: single elements by an
 * index, runs from places to places, several runs of each row, planes of 4 bytes out of rows. */
#ifdef __x86_64__
#define KERNELS kernels_avx2
#define OF_SSE2(k, ...) \
    extern void ravel_##k(unsigned char *, const unsigned char *, __VA_ARGS__) \
        __asm__("sse2_" #k) __attribute__((visibility("hidden")));
#define OTHER_indexed_single \
    OF_SSE2(indexed_single, ravel_runs, int64_t, int, int64_t, const ravel_places *)
#define OTHER_parted4
#define OTHER_deinterleave4 \
    OF_SSE2(deinterleave4, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t)
#define OTHER_place_moves \
    OF_SSE2(move_rows, ravel_runs, int64_t, const int64_t *, int64_t, const int64_t *, int64_t)
#define OTHER_mixed_moves OF_SSE2(mixed_any, const ravel_mixed_rows *, int64_t)
#define OTHER_gather OF_SSE2(gather, const int32_t *, int64_t, int64_t, int64_t, int64_t, int64_t)
#define SHARED SHARE(avx2, unpack_pairs) SHARE(avx2, unpack) SHARE(avx2, pack)
#include "kernels_isa.h"
#endif
