/* The table of the kinds of levels. */
#include "sparse_parts.h"

const LevelInfo *const level_kinds[LEVEL_KINDS] = {
    [LEVEL_DENSE] = &level_dense,
    [LEVEL_COMPRESSED] = &level_compressed,
    [LEVEL_SINGLETON] = &level_singleton,
    [LEVEL_NTH] = &level_nth,
    [LEVEL_RANKED] = &level_ranked,
    [LEVEL_SLICED] = &level_sliced,
    [LEVEL_JAGGED] = &level_jagged,
    [LEVEL_NOFM] = &level_nofm,
};
