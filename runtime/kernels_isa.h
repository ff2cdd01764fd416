/* kernels_isa.h: the body of kernels_*.c, which define the instruction set and the name
 * KERNELS; also OWN_KERNELS, if the kernels that they do not name are those of OTHER_KERNELS.
 * It includes the kernels that emitted files contain, and lists them by name.
 * The files that the build expands (templates/README.md) are in the build folder. */
#include <stdint.h>
#include <string.h>

#include "jit.h"

#include "../templates/c/vector.h"
#include "../templates/c/min.c"
#include "../templates/c/max.c"
#include "../templates/c/times.c"
#include "../templates/c/round.c"
#include "../templates/c/fence.c"
#include "../templates/c/table_add.c"
#include "../templates/c/lanes.h"
#include "../templates/c/stream.h"
#include "../templates/c/move.h"
#include "../templates/c/runs.h"
#include "../templates/c/copy_size.h"
#include "../templates/c/copy.c"
#include "../templates/c/flow.h"
#include "../templates/c/network1.h"
#include "../templates/c/network2.h"
#include "../templates/c/network4.h"
#include "../templates/c/network8.h"
#include "../templates/c/turn1.h"
#include "../templates/c/turn2.h"
#include "../templates/c/turn4.h"
#include "../templates/c/turn8.h"
#include "../templates/c/block1.h"
#include "../templates/c/block2.h"
#include "../templates/c/block4.h"
#include "../templates/c/block8.h"
#include "../templates/c/transpose_size.h"
#include "../templates/c/pages1.h"
#include "../templates/c/transpose1.h"
#include "../templates/c/pages2.h"
#include "../templates/c/transpose2.h"
#include "../templates/c/pages4.h"
#include "../templates/c/transpose4.h"
#include "../templates/c/pages8.h"
#include "../templates/c/transpose8.h"
#include "../templates/c/transpose16.c"
#include "../templates/c/zip.h"
#include "../templates/c/copy_fill_size.h"
#include "../templates/c/copy_fill.c"
#include "../templates/c/interleave_size.h"
#include "../templates/c/interleave.h"
#include "../templates/c/weave1.h"
#include "../templates/c/interleave1.c"
#include "../templates/c/weave2.h"
#include "../templates/c/interleave2.c"
#include "../templates/c/weave4.h"
#include "../templates/c/interleave4.c"
#include "../templates/c/weave8.h"
#include "../templates/c/interleave8.c"
#include "../templates/c/apart.h"
#include "../templates/c/parted1.h"
#include "../templates/c/parted1.c"
#include "../templates/c/deinterleave1.h"
#include "../templates/c/parted2.h"
#include "../templates/c/parted2.c"
#include "../templates/c/deinterleave2.h"
#include "../templates/c/parted4.h"
#include "../templates/c/parted4.c"
#include "../templates/c/deinterleave4.h"
#include "../templates/c/gather.c"
#include "../templates/c/indexed.c"
#include "../templates/c/shuffle_size.h"
#include "../templates/c/shuffle.h"
#include "../templates/c/shuffle_row.c"
#include "../templates/c/shuffle.c"
#include "../templates/c/composite_size.h"
#include "../templates/c/composite_tile.h"
#include "../templates/c/composite_run.h"
#include "../templates/c/composite_lanes.h"
#include "../templates/c/composite_block1.h"
#include "../templates/c/composite1.h"
#include "../templates/c/composite_block2.h"
#include "../templates/c/composite2.h"
#include "../templates/c/composite_block4.h"
#include "../templates/c/composite4.h"
#include "../templates/c/composite_block8.h"
#include "../templates/c/composite8.h"
#include "../templates/c/composite_moves.c"
#include "../templates/c/composite.c"
#include "../templates/c/strided.c"
#include "../templates/c/bits_into.h"
#include "../templates/c/bits_vector.h"
#include "../templates/c/unpack_word.h"
#include "../templates/c/unpack_line.h"
#include "../templates/c/unpack.h"
#include "../templates/c/unpack_size.h"
#include "../templates/c/unpack_tile.h"
#include "../templates/c/unpacked1.h"
#include "../templates/c/unpacked2.h"
#include "../templates/c/unpacked4.h"
#include "../templates/c/unpacked8.h"
#include "../templates/c/unpacked.c"
#include "../templates/c/bits.c"
#include "../templates/c/bits_run.c"
#include "../templates/c/bits_swap.c"
#include "../templates/c/bits_mix.h"
#include "../templates/c/bits_tile.h"
#include "../templates/c/bits_flush.h"
#include "../templates/c/bits_transpose.c"
#include "../templates/c/fill.c"
#include "../templates/c/fill_bits.c"

typedef void (*Fn)(void);

#define SYMBOL(k) {.name = "ravel_" #k, .fn = (Fn)ravel_##k},

extern const JitSymbol KERNELS[];
#ifdef OWN_KERNELS
extern const JitSymbol OTHER_KERNELS[];
const JitSymbol KERNELS[] = {OWN_KERNELS {.more = OTHER_KERNELS}};
#else
const JitSymbol KERNELS[] = {
#define K(name, family, size) SYMBOL(name)
#include "../compiler/plan/kernel.def"
#undef K
    SYMBOL(min) SYMBOL(max) SYMBOL(times) SYMBOL(round) SYMBOL(fence) SYMBOL(table_add)
    {.name = NULL},
};
#endif
