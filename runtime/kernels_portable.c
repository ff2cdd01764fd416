/* The vector types of the compiler, without intrinsics; as for NEON, SVE and RVV. */
#define KERNELS kernels_portable
#define RAVEL_PORTABLE
#include "kernels_isa.h"
