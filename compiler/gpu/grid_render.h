/* grid_render.h: device kernels as text, through the table of a target. */
#ifndef RAVEL_GRID_RENDER_H
#define RAVEL_GRID_RENDER_H

#include "grid.h"
#include "../emit/render.h"

/* A file with head, prologue and the kernel. */
const char *grid_render(const Target *t, const GridUnit *u);
/* The function of the host in C, of a kernel for extents at run time. */
const char *grid_host_text(const GridUnit *u);
/* grid_print.c: u's statements, as docs/ir/gridstmt.md has them. */
const char *grid_print(const GridUnit *u);

#endif
