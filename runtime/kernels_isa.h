/* kernels_isa.h: the body of kernels_*.c, which define the instruction set and the name
 * KERNELS; also OWN_KERNELS, if the kernels that they do not name are those of OTHER_KERNELS;
 * and SHARED, the functions that other sets take from this one (OTHER_*, kernels.sh).
 * It includes the kernels that emitted files contain, and lists them by name.
 * The files that the build expands (templates/README.md) are in the build folder. */
#include <stdint.h>
#include <string.h>

#include "jit.h"

#include "../templates/c/vector.h"
#include "../templates/c/min.c"
#include "../templates/c/max.c"
#include "../templates/c/times.c"
#include "../templates/c/round.c"
#include "../templates/c/fence.c"
#include "../templates/c/table_add.c"
#include "../templates/c/outside.c"
/* The files of kernel.def: kernels.sh writes it. */
#include "kernels_text.h"

/* A function of the set `set`: its name here and, in other sets, that name as its own. */
#define SHARE(set, k) extern __typeof__(ravel_##k) set##_##k __attribute__((alias("ravel_" #k)));
#ifdef SHARED
SHARED
#endif

typedef void (*Fn)(void);

#define SYMBOL(k) {.name = "ravel_" #k, .fn = (Fn)ravel_##k},

extern const JitSymbol KERNELS[];
#ifdef OWN_KERNELS
extern const JitSymbol OTHER_KERNELS[];
const JitSymbol KERNELS[] = {OWN_KERNELS {.more = OTHER_KERNELS}};
#else
const JitSymbol KERNELS[] = {
#define T(name, files)
#define K(name, family, size, text) SYMBOL(name)
#include "../compiler/plan/kernel.def"
#undef K
#undef T
    SYMBOL(min) SYMBOL(max) SYMBOL(times) SYMBOL(round) SYMBOL(fence) SYMBOL(table_add)
    SYMBOL(outside)
    {.name = NULL},
};
#endif
