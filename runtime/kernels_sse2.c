/* x86-64 as it always is. */
#ifdef __x86_64__
#define KERNELS kernels_sse2
#include "kernels_isa.h"
#endif
