/* The baseline of x86-64. */
#ifdef __x86_64__
#define KERNELS kernels_sse2
#define SHARED SHARE(sse2, indexed_single) SHARE(sse2, deinterleave4) \
    SHARE(sse2, move_rows) SHARE(sse2, gather) SHARE(sse2, mixed_any)
#include "kernels_isa.h"
#endif
