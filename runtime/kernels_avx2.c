/* Compiled with -mavx2.  What its wider vectors make no faster is SSE2's: single elements by an
 * index, runs from places to places, several runs of each row, planes of 4 bytes out of rows. */
#ifdef __x86_64__
#define KERNELS kernels_avx2
#define OTHER_place_moves sse2
#define OTHER_unpack_put sse2
#define OTHER_mixed_moves sse2
#define OTHER_indexed_single sse2
#define OTHER_gather sse2
#define OTHER_parted4 sse2
#define OTHER_deinterleave4 sse2
#define SHARES_unpack avx2
#define SHARES_unpack_bits avx2
#include "kernels_isa.h"
#endif
