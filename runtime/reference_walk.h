/* reference_walk.h: a walk through coordinates, for the files of it. */
#ifndef RAVEL_REFERENCE_WALK_H
#define RAVEL_REFERENCE_WALK_H

#include "reference.h"
#include "reference_side.h"

typedef struct {
    const Layout *l;               /* its padded coordinates */
    Strips at;
    i64 kind;                      /* what padding is: FROM_FILL, FROM_HOLE; else 0 */
    int order[MAX_RANK];           /* dims, outermost first */
    int across;                    /* the dim that is tiled with the last; -1: none */
    Side to, from;
    bool skips;                    /* some elements may not be moved */
    i64 tile;                      /* how many coordinates of `across` are visited together */
    bool turned;                   /* in the source neighbours along `across` lie closest */
    ReferenceVisitor visit;
    bool sums;                     /* addresses are sums of what each dim gives */
    int *same[MAX_RANK];           /* for patches, of `inner` and `across`: how many coordinates
                                    * lie at equal steps, from each of the strip on */
    i64 runs;                      /* of `inner`: how often they begin anew */
    bool patches;                  /* they are long */
    int *run_at;                   /* the runs of the strip of `inner`, for lines: coordinates, */
    ReferenceSteps *run;           /* and steps */
    i64 each;                      /* as of a line, but for padding */
    void *arg;
} ReferenceWalk;

enum { RUNS_SHORT = 4 };           /* long enough on average */

/* reference_patch.c */
/* Whether the coordinate in dims other than the innermost is padding. */
bool walk_is_padding(const ReferenceWalk *w);
/* The coordinates of dim d at equal steps, from `at` of its strip on and below `end`; padding
 * begins anew. */
ReferenceSteps walk_steps(const ReferenceWalk *w, int d, i64 at, i64 end);
/* Set for each coordinate of dim d's strip how many there are at equal steps, for which entries
 * of several dims give the same. */
void walk_set_same(ReferenceWalk *w, int d);
/* Visit `all` coordinates of the innermost dim, from `at` of its strip on, as patches; with
 * `outer`, the coordinates of `across` at equal steps. */
void walk_patches(ReferenceWalk *w, const ReferenceSteps *outer, i64 at, i64 all);
/* The same, in tiles with those of `across`. */
void walk_patch_tiles(ReferenceWalk *w);
/* Visit coordinates of the innermost dim and the one across as a grid, from i of `across` and
 * `at` on.  False: there is padding. */
bool walk_grid(ReferenceWalk *w, i64 i, int rows, i64 at, int n);

/* reference_runs.c */
/* Room for the runs of a strip of n coordinates, and what it takes. */
bool runs_new(ReferenceWalk *w, i64 n);
i64 runs_bytes(i64 n);
/* Keep the runs of the strip of `inner`, of which `same` is set. */
void walk_set_runs(ReferenceWalk *w);
/* Visit the strip of `inner` as lines, in tiles with the rows of `across`. */
void walk_lines(ReferenceWalk *w);

#endif
