/* kernel_transpose.h: what the files of transposes share. */
#ifndef RAVEL_KERNEL_TRANSPOSE_H
#define RAVEL_KERNEL_TRANSPOSE_H

#include "kernel_family.h"

/* The largest element, in bytes, for which the kernel has buffers. */
enum { TRANSPOSE_MOST = 8 };
/* True if the buffers hold several groups of `cols` columns at a time. */
bool transpose_joins(i64 cols, i64 size);

/* kernel_transpose_runs.c */
Runs transpose_runs(const Nest *n, int bits);

#endif
