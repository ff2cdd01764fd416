/* kernels.h: the kernels of templates/c, compiled ahead of time for the JIT. */
#ifndef RAVEL_KERNELS_H
#define RAVEL_KERNELS_H

#include "jit.h"

/* Ends with a null name. */
extern const JitSymbol kernel_symbols[];

#endif
