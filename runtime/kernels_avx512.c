/* Compiled with -mavx512bw -mavx512vl. */
#ifdef __x86_64__
#define KERNELS kernels_avx512
#include "kernels_isa.h"
#endif
