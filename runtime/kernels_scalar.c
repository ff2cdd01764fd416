/* Plain C. */
#define KERNELS kernels_scalar
#define RAVEL_PLAIN
#include "kernels_isa.h"
