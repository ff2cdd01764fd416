/* frag.h: what a lane of a warp holds of a tile: functions that load its registers from a
 * tile in memory, or store them.
 *
 * A fragment is a layout like any other, with two parameters: its storage is so many
 * `lanes` of so many `registers`, elements each, and what stands further out counts
 * fragments.  The element that register j of lane t holds in fragment f is the inverse's
 * at (f*lanes + t)*registers + j; where it lies in the tile is the tile's address of it.
 * Registers whose addresses lie together, for every lane, are one access. */
#ifndef RAVEL_FRAG_H
#define RAVEL_FRAG_H

#include "../decide/decide.h"
#include "../emit/emit.h"

enum { FRAG_REGISTERS_MAX = 256, FRAG_VECTOR_MAX = 128 };

typedef struct {
    int width;            /* bytes: 1 2 4 8 16 */
    const Ex *at;         /* in units of width */
    const Ex *shift;      /* of an element below a byte that moves alone: the bit it
                           * begins at, and width is 1; else NULL */
    int n;                /* elements */
    int reg[FRAG_VECTOR_MAX];      /* whose they are, by address */
    const Ex *value[MAX_RANK];     /* only where each of these is below its bound */
    i64 bound[MAX_RANK];
    int nvalues;
    int wavefronts, least_wavefronts;      /* of shared memory, all lanes, fragment 0 */
    int sectors, least_sectors;            /* of global memory */
} FragAccess;

typedef struct {
    bool store;
    const char *name, *head;
    const Layout *frag, *tile;
    Exprs *e;
    int lane, fragment;   /* variables t and f */
    i64 lanes, fragments;
    int registers, words; /* of a lane: elements, and 32-bit words */
    bool padded;          /* some registers are no element, somewhere */
    int align;            /* bytes that the tile must be aligned to */
    int naccesses;
    FragAccess access[FRAG_REGISTERS_MAX];
} Frag;

/* frag.c: requires both layouts decided; frag's dim d is tile's dim map[d].  diag_fatal
 * where frag is no fragment, has no inverse, or the tile cannot be stored to. */
Frag *frag_make(const Layout *frag, const Verdict *v, const Layout *tile, const int *map,
                bool store);

/* frag_cost.c: wavefronts and sectors of all accesses. */
void frag_cost(Frag *g);

/* frag_render.c: diag_fatal where the target has no words for it. */
const char *frag_render(const Target *t, const Frag *g);

#endif
