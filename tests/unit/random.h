/* random.h: numbers for tests that draw. */
#ifndef RAVEL_TEST_RANDOM_H
#define RAVEL_TEST_RANDOM_H

#include <stdint.h>

/* 0 to n - 1; xorshift64 by Marsaglia.  The state is never 0. */
static inline int64_t
random_below(uint64_t *state, int64_t n)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (int64_t)(*state % (uint64_t)n);
}

#endif
