/* bank.h: the cost of one memory instruction of a warp in banks and sectors.
 *
 * Shared memory serves one word from each of its banks at a time: word = address / 4,
 * bank = word % 32.  An instruction is split into passes of consecutive lanes, as many
 * lanes as fill the banks: all 32 for up to 4 bytes for each lane, 16 for 8 bytes, 8 for
 * 16 bytes.  The number of wavefronts of a pass is the largest number of distinct words in
 * one bank.  A word that several lanes access is read once.  (NVIDIA forum 77228, 339143;
 * Triton's bankConflictsLdSt.)  The same holds for ds_write_b128 on AMD's wavefronts of 64
 * lanes with 32 banks.  ds_read_b128 forms its groups of 8 from lanes that are not
 * consecutive (ROCm, "Understanding AMD GPU LDS and Bank Conflicts"); that is not modelled.
 *
 * Global memory transfers sectors of 32 bytes; a cache line has 128 bytes.
 *
 * The functions do not allocate and are thread-safe. */
#ifndef RAVEL_BANK_H
#define RAVEL_BANK_H

#include "../base/base.h"

/* Lanes of a warp; a word of a bank and of a register. */
enum { WARP = 32, WORD_BYTES = 4, WORD_BITS = 8 * WORD_BYTES };
enum { LANES_MAX = 64, BANKS_MAX = 64, SECTOR_BYTES = 32, LINE_BYTES = 128 };

/* The machine; all numbers are powers of two. */
typedef struct {
    int lanes;            /* lanes of a warp: 32; of HIP's wavefront: 64 */
    int banks;            /* 32 */
    int word;             /* bytes of a word of a bank: 4 */
} Banks;
extern const Banks banks_usual;                /* 32, 32, 4 */

/* One instruction. */
typedef struct {
    const i64 *addr;      /* the address of each lane, in bytes */
    uint64_t active;      /* bit l: lane l is active; addr is not read for other lanes */
    int width;            /* bytes for each lane: 1 2 4 8 16 */
} WarpAccess;

typedef struct {
    int wavefronts, ideal;         /* ideal: passes with an active lane */
    int conflicts;                 /* wavefronts - ideal */
    /* if conflicts > 0: an example of two lanes with different words of one bank */
    int lane[2], bank;
    i64 word[2];
} BankCount;

typedef struct {
    int sectors, lines;            /* distinct ones that the instruction accesses */
    int ideal;                     /* the fewest sectors for that number of bytes */
} SectorCount;

/* True if one access of a lane can have this many bytes. */
bool bank_width(i64 bytes);
/* The number of lanes in one pass. */
int bank_pass(const Banks *m, int width);
/* Count one instruction.  False, and *c is not set, for an unsupported machine or width, a
 * negative address or, in shared memory, an address that is no multiple of the width. */
bool bank_shared(const Banks *m, const WarpAccess *w, BankCount *c);
bool bank_global(const Banks *m, const WarpAccess *w, SectorCount *c);

#endif
