/* The compiler's vectors, as NEON, SVE and RVV are reached. */
#define KERNELS kernels_portable
#define RAVEL_PORTABLE
#include "kernels_isa.h"
