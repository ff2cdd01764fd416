/* grid_render.h: device kernels as text, through the table of a target. */
#ifndef RAVEL_GRID_RENDER_H
#define RAVEL_GRID_RENDER_H

#include "grid.h"
#include "../emit/emit.h"

/* A file with head, prologue and the kernel. */
const char *grid_render(const Target *t, const GridUnit *u);
/* grid_host.c: the host's function of a kernel for extents at run time, in C; and where the
 * target's files are for hosts, too, as it stands in them. */
const char *grid_host_text(const GridUnit *u);
void grid_put_host(Buf *b, const Target *t, const GridUnit *u);
/* grid_print.c: u's statements, as docs/ir/gridstmt.md has them. */
const char *grid_print(const GridUnit *u);

#endif
