/* kernels.h: the kernels of templates/c, compiled ahead of time for the JIT and the
 * interpreter: once for each instruction set. */
#ifndef RAVEL_KERNELS_H
#define RAVEL_KERNELS_H

#include "jit.h"

/* An instruction set, and its kernels. */
typedef struct {
    const char *name;
    const JitSymbol *symbols;
    bool permutes;                 /* as in PlanMachine (plan.h) */
} KernelSet;

/* The sets of this library, in ascending order of preference; ends with a null name.  Not
 * every set runs on every machine. */
extern const KernelSet kernel_sets[];
/* The best set that runs on this machine.  If RAVEL_ISA is set: the set of this name, or
 * NULL if it is unknown or does not run on this machine.  Thread-safe. */
const KernelSet *kernels_here(void);

#endif
