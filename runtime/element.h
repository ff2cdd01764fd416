/* element.h: read and write one element of 1 to 128 bits; for proofs and references. */
#ifndef RAVEL_ELEMENT_H
#define RAVEL_ELEMENT_H

#include <stdint.h>
#include <string.h>

/* Element i, `bits` wide, of a buffer; `high` is its part above 64 bits. */
static inline uint64_t
element_get(const unsigned char *p, int64_t i, int bits, uint64_t *high)
{
    uint64_t v[2] = {0, 0};
    if (bits < 8) {
        *high = 0;
        return (uint64_t)p[i * bits / 8] >> (i * bits % 8) & ((1u << bits) - 1);
    }
    p += i * (bits / 8);
    switch (bits) {                /* a copy of known size each */
    case 8: memcpy(v, p, 1); break;
    case 16: memcpy(v, p, 2); break;
    case 32: memcpy(v, p, 4); break;
    case 64: memcpy(v, p, 8); break;
    default: memcpy(v, p, 16); break;
    }
    *high = v[1];
    return v[0];
}

static inline void
element_set(unsigned char *p, int64_t i, int bits, uint64_t v, uint64_t high)
{
    uint64_t word[2] = {v, high};
    switch (bits) {
    case 8: memcpy(p + i, word, 1); return;
    case 16: memcpy(p + i * 2, word, 2); return;
    case 32: memcpy(p + i * 4, word, 4); return;
    case 64: memcpy(p + i * 8, word, 8); return;
    case 128: memcpy(p + i * 16, word, 16); return;
    default: break;
    }
    unsigned mask = ((1u << bits) - 1) << (i * bits % 8);
    volatile unsigned char *b = p + i * bits / 8;     /* as in bits_into.h */
    *b = (unsigned char)((*b & ~mask) | ((unsigned)v << (i * bits % 8) & mask));
}

#endif
