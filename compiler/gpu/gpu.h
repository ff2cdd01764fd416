/* gpu.h: what other folders may use of this one: kernels for grids of blocks, loads and stores of
 * fragments, the bank conflicts of a tile in shared memory, and swizzles without any. */
#ifndef RAVEL_GPU_ROOM_H
#define RAVEL_GPU_ROOM_H

#include "bank_tile.h"
#include "grid.h"

#endif
