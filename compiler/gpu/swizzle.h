/* swizzle.h: conflict-free xor swizzles of a tile in shared memory, found and proven
 * over GF(2).
 *
 * Of a word address a, bank bit i becomes  a_i ^ parity(a & mask[i])  with masks over
 * the bits from 5 on: words move within their row of 32, so the map is a permutation
 * of any storage that is whole rows.  Bits below `keep` stay, so that vectors of
 * 2^keep words stay whole.
 *
 * What a problem holds are passes (bank.h): words that lanes want at one time.  They
 * are free of conflicts iff no two of them, x and y, go to one bank, that is, iff
 * M(h) != c for the xor x ^ y split into its high part h and its bank bits c.  For
 * lanes that are linear, with 2^v words each, that says that the images of the first
 * 5 - v lane bits are independent in bank bits v..4.  As Triton's
 * GenericSwizzling.cpp does; the search here is its own.
 *
 * For 32 banks of 4 bytes.  Not thread-safe: one Swizzler a compilation. */
#ifndef RAVEL_SWIZZLE_H
#define RAVEL_SWIZZLE_H

#include "bank.h"

enum { BANK_BITS = 5, TILE_BITS_MAX = 20 };

typedef struct {
    uint32_t mask[BANK_BITS];
} Swizzle;

/* 2^v words a lane, which begin at the xor of lane[j] over the bits j of its number. */
typedef struct {
    int v;                         /* 0 1 2 */
    uint32_t lane[BANK_BITS];      /* multiples of 2^v */
} LaneMap;

typedef enum {
    SWIZZLE_FOUND,
    /* None: words of a pass that agree within 2^keep words are more than there are
     * places for such.  That excludes any map that keeps vectors whole, linear or not. */
    SWIZZLE_TOO_MANY,
    /* None: every linear map of the higher bits to the banks has been excluded. */
    SWIZZLE_EXCLUDED,
    /* The search was given up; the same everywhere, as it counts its steps. */
    SWIZZLE_UNDECIDED
} SwizzleAnswer;

typedef struct {
    SwizzleAnswer answer;
    Swizzle swizzle;               /* SWIZZLE_FOUND */
    int bits;                      /* of all its masks */
    bool fewest;                   /* none with masks of as many bits each has fewer */
    int access, words, places;     /* SWIZZLE_TOO_MANY: of this access, and the count */
} SwizzleFound;

typedef struct Swizzler Swizzler;

/* A tile of 2^bits words, at most TILE_BITS_MAX, without passes yet; lives in a. */
Swizzler *swizzler_new(Arena *a, int bits, int keep);
/* A pass of access number `access`: n <= 32 >> v lanes with 2^v words each from
 * word[] on, multiples of 2^v within the tile.  Raises keep to v.  Words may repeat. */
void swizzler_add(Swizzler *s, int access, int v, const uint32_t *word, int n);
/* All passes of a linear access: they differ by a constant, so this is one. */
void swizzler_add_lanes(Swizzler *s, int access, const LaneMap *m);
/* The masks of the fewest bits in all with at most 2 bits each, else at most 3, else
 * any; of equals the first in the order of their numbers, low bank bits first. */
SwizzleFound swizzler_find(Swizzler *s);

uint32_t swizzle_word(const Swizzle *w, uint32_t word);
/* What `swizzle =` takes in a spec, xor(B, M, S) or a function, where bit `shift` of
 * an address in elements is bit 0 of one in words (-1: of 8-byte elements). */
const char *swizzle_text(Arena *a, const Swizzle *w, int shift);

#endif
