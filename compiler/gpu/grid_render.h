/* grid_render.h: device kernels as text, through the table of a target. */
#ifndef RAVEL_GRID_RENDER_H
#define RAVEL_GRID_RENDER_H

#include "grid.h"
#include "../emit/emit.h"

/* A file with head, prologue and the kernel. */
const char *grid_render(const Target *t, const GridUnit *u);
/* grid_print.c: u's statements, as docs/ir/gridstmt.md has them. */
const char *grid_print(const GridUnit *u);

#endif
