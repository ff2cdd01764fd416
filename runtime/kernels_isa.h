/* kernels_isa.h: the body of kernels_*.c, which define the instruction set and the name
 * KERNELS.  They also define OTHER_KERNELS, if the kernels that are not theirs are those of
 * another set, and OWN_* for the columns `sets` of kernel.def that are theirs; and what they
 * take from other sets and let these have (kernels_shared.def).
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

/* A function of another set; a function that other sets have, whose arguments are those of
 * kernels_shared.def. */
#define FUNCTION_OF(set, k, args) FUNCTION_AS(set, k, args)
#define FUNCTION_AS(set, k, args) \
    extern void ravel_##k args __asm__(#set "_" #k) __attribute__((visibility("hidden")));
#define SHARE(set, k, args) SHARE_AS(set, k, args)
#define SHARE_AS(set, k, args) \
    extern void ravel_##k args; \
    extern __typeof__(ravel_##k) set##_##k __attribute__((alias("ravel_" #k)));

/* The files of kernel.def: kernels.sh writes it. */
#include "kernels_text.h"

typedef void (*Fn)(void);

#define SYMBOL(k) {.name = "ravel_" #k, .fn = (Fn)ravel_##k},

#ifndef OWN_AVX512
#define OWN_AVX512(k)
#endif
#ifndef OWN_VBMI
#define OWN_VBMI(k)
#endif
#ifndef OWN_AVX512_VBMI
#define OWN_AVX512_VBMI(k)
#endif
#ifndef OWN_AVX512_GATHER
#define OWN_AVX512_GATHER(k)
#endif
#ifndef OWN_HELPERS
#define OWN_HELPERS
#endif
#define OWN_AVX2(k)

extern const JitSymbol KERNELS[];
#define T(name, files)
#ifdef OTHER_KERNELS
extern const JitSymbol OTHER_KERNELS[];
const JitSymbol KERNELS[] = {
#define K(name, family, size, text, sets) OWN_##sets(name)
#include "../compiler/plan/kernel.def"
    OWN_HELPERS
    {.more = OTHER_KERNELS},
};
#else
const JitSymbol KERNELS[] = {
#define K(name, family, size, text, sets) SYMBOL(name)
#include "../compiler/plan/kernel.def"
    SYMBOL(min) SYMBOL(max) SYMBOL(times) SYMBOL(round) SYMBOL(fence) SYMBOL(table_add)
    SYMBOL(outside)
    {.name = NULL},
};
#endif
