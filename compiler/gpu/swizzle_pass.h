/* swizzle_pass.h: the passes of a swizzle problem; for swizzle*.c only. */
#ifndef RAVEL_SWIZZLE_PASS_H
#define RAVEL_SWIZZLE_PASS_H

#include "swizzle.h"

enum { PASS_WORDS = 1 << BANK_BITS };

/* The distinct words at which the lanes of a pass begin, one of them 0, ascending. */
typedef struct {
    int access, v, n;
    uint32_t word[PASS_WORDS];
} Pass;

struct Swizzler {
    Arena *arena;
    int bits, keep;
    int n, cap;
    Pass *pass;
};

#endif
