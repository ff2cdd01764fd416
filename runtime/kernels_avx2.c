/* Compiled with -mavx2. */
#ifdef __x86_64__
#define KERNELS kernels_avx2
#include "kernels_isa.h"
#endif
