/* The baseline of x86-64. */
#ifdef __x86_64__
#define KERNELS kernels_sse2
#define SHARES_place_moves sse2
#define SHARES_mixed_moves sse2
#define SHARES_indexed_single sse2
#define SHARES_gather sse2
#define SHARES_deinterleave4 sse2
#define SHARES_unpack_put sse2
#include "kernels_isa.h"
#endif
