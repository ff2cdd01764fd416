/* kernels.h: the kernels of templates/c, compiled ahead of time for the JIT and the
 * interpreter: once for each instruction set. */
#ifndef RAVEL_KERNELS_H
#define RAVEL_KERNELS_H

#include "jit.h"

/* An instruction set, and its kernels; the list ends with a null name. */
typedef struct {
    const char *name;
    const JitSymbol *symbols;
} KernelSet;

/* The sets this library was built with, each better than those before; ends with a null
 * name.  Not all of them run on every machine. */
extern const KernelSet kernel_sets[];
/* The best that runs here; or the one that RAVEL_ISA names, NULL where that does not run
 * or there is none by that name.  Thread-safe. */
const KernelSet *kernels_here(void);

#endif
