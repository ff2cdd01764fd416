/* grid_render.h: device kernels as text, through the table of a target. */
#ifndef RAVEL_GRID_RENDER_H
#define RAVEL_GRID_RENDER_H

#include "grid.h"
#include "../emit/emit.h"

/* The complete file: head, prologue and kernel. */
const char *grid_render(const Target *t, const GridUnit *u);
/* grid_host.c: the function in C with which the host computes the kernel's arguments from
 * extents left to run time. */
const char *grid_host_text(const GridUnit *u);
/* Adds that function to the file if the target's files are compiled for the host too. */
void grid_put_host(Buf *b, const Target *t, const GridUnit *u);
/* grid_print.c: the statements of u as text: docs/ir/gridstmt.md. */
const char *grid_print(const GridUnit *u);

#endif
