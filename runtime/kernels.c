/* The text that emitted files paste, compiled here. */
#include <stdint.h>
#include <string.h>

#include "kernels.h"

#include "../templates/c/kernels.h"
#include "../templates/c/min.c"
#include "../templates/c/max.c"
#include "../templates/c/copy.c"
#include "../templates/c/transpose.c"
#include "../templates/c/strided.c"
#include "../templates/c/bits.c"
#include "../templates/c/fill.c"
#include "../templates/c/fill_bits.c"

typedef void (*Fn)(void);

const JitSymbol kernel_symbols[] = {
    {"ravel_min", (Fn)ravel_min},         {"ravel_max", (Fn)ravel_max},
    {"ravel_copy", (Fn)ravel_copy},       {"ravel_transpose", (Fn)ravel_transpose},
    {"ravel_strided", (Fn)ravel_strided}, {"ravel_bits", (Fn)ravel_bits},
    {"ravel_fill", (Fn)ravel_fill},       {"ravel_fill_bits", (Fn)ravel_fill_bits},
    {NULL, NULL},
};
