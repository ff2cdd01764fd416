/* bank.h: what one memory instruction of a warp costs in banks and sectors.
 *
 * Shared memory serves, at a time, one word from each of its banks: word =
 * address / 4, bank = word % 32.  An instruction is split into passes of
 * consecutive lanes, as many as fill the banks: all 32 for up to 4 bytes a lane,
 * 16 for 8, 8 for 16.  A pass takes as many wavefronts as the fullest bank has
 * distinct words; equal words are read once, lanes within one word merge.  (NVIDIA
 * forum 77228, 339143; Triton's bankConflictsLdSt.)  Of AMD's wavefronts of 64 with
 * 32 banks the same holds for ds_write_b128; ds_read_b128 forms its groups of 8
 * from lanes that are not consecutive (ROCm, "Understanding AMD GPU LDS and Bank
 * Conflicts"), which is not modelled.
 *
 * Global memory moves sectors of 32 bytes and tags lines of 128.
 *
 * Nothing here allocates; thread-safe. */
#ifndef RAVEL_BANK_H
#define RAVEL_BANK_H

#include "../base/base.h"

enum { LANES_MAX = 64, BANKS_MAX = 64, SECTOR_BYTES = 32, LINE_BYTES = 128 };

/* The machine: powers of two. */
typedef struct {
    int lanes;            /* of a warp: 32, HIP's wavefront 64 */
    int banks;            /* 32 */
    int word;             /* bytes of a bank at a time: 4 */
} Banks;
extern const Banks banks_usual;                /* 32, 32, 4 */

/* One instruction. */
typedef struct {
    const i64 *addr;      /* of each of the machine's lanes, in bytes */
    uint64_t active;      /* bit l: lane l takes part; the others' addr is not read */
    int width;            /* bytes a lane: 1 2 4 8 16 */
} WarpAccess;

typedef struct {
    int wavefronts, ideal;         /* ideal: passes with an active lane */
    int conflicts;                 /* wavefronts - ideal */
    /* where there are conflicts: two lanes with different words of one bank */
    int lane[2], bank;
    i64 word[2];
} BankCount;

typedef struct {
    int sectors, lines;            /* distinct, over all bytes touched */
    int ideal;                     /* sectors that many bytes fill at least */
} SectorCount;

/* Bytes of a vector that a lane can take at once. */
bool bank_width(i64 bytes);
/* Lanes of one pass. */
int bank_pass(const Banks *m, int width);
/* False, and nothing in *c, for a machine or width that there is not, an address
 * below 0 or, of shared memory, one that is no multiple of the width. */
bool bank_shared(const Banks *m, const WarpAccess *w, BankCount *c);
bool bank_global(const Banks *m, const WarpAccess *w, SectorCount *c);

#endif
