/* Plain C without vectors. */
#define KERNELS kernels_scalar
#define RAVEL_PLAIN
#include "kernels_isa.h"
