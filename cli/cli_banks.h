/* cli_banks.h: what the files of `ravel check --banks` share. */
#ifndef RAVEL_CLI_BANKS_H
#define RAVEL_CLI_BANKS_H

#include "../compiler/compile.h"
#include "cli.h"

enum { ACCESSES_MAX = 16 };

/* A tile and what its accesses cost. */
typedef struct {
    Cli *c;
    Layout *l;
    BankTile *tile;
    const char *text;     /* of the layout, as given */
    int n;
    TileAccess access[ACCESSES_MAX];
    const char *fragment[ACCESSES_MAX];        /* texts of layouts; NULL: a dim */
    TileCount count[ACCESSES_MAX];
    i64 wavefronts, ideal;
} Banked;

/* cli_banked.c: sets the layout and its tile; counts what the accesses cost. */
void banked_set_layout(Banked *b, Layout *l);
void banked_count(Banked *b);
/* The text of the tile with this after its other settings, as in "swizzle = xor(3, 3, 3)",
 * and without its own swizzle; more: NULL for nothing. */
const char *banked_text(const Banked *b, const char *more);
/* The same accesses, counted for another layout. */
Banked banked_as(const Banked *b, const char *text);

/* cli_banks_access.c: read the accesses of --banks for b->tile; set what access i, which is
 * counted, takes at once. */
void banked_read(Banked *b);
void banked_set_widest(Banked *b, int i);

/* cli_banks_best.c: the layout with the fewest wavefronts among those with a wider pitch of
 * one entry, or among those with a swizzle xor(B, M, S); text is NULL if none is better than
 * the tile. */
Banked banked_best_pitch(const Banked *b);
Banked banked_best_xor(const Banked *b);

#endif
