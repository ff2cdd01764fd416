/* Compiled with -mavx2. */
#ifdef __x86_64__
#define KERNELS kernels_avx2
/* Moves single elements. */
#define OTHER_indexed_single \
    extern void ravel_indexed_single(unsigned char *, const unsigned char *, ravel_runs, int64_t, \
        int, int64_t, int64_t, const void *, int64_t, int64_t) \
        __asm__("sse2_indexed_single") __attribute__((visibility("hidden")));
#define SHARED SHARE(avx2, move_rows)
#include "kernels_isa.h"
#endif
