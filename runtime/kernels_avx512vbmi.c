/* Compiled with -mavx512bw -mavx512vl -mavx512vbmi -mgfni. */
#ifdef __x86_64__
#define KERNELS kernels_avx512vbmi
#include "kernels_isa.h"
#endif
