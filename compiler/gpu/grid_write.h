/* grid_write.h: writes statements of blocks of threads with the texts of a target's
 * table, for kernels and for functions of fragments. */
#ifndef RAVEL_GRID_WRITE_H
#define RAVEL_GRID_WRITE_H

#include "../emit/emit.h"
#include "grid.h"

typedef struct {
    Writer w;
    const char *index;    /* the type of an index */
    int shared;           /* bytes of the unit in which shared memory is declared */
} GridWriter;

/* Writes s and the statements after it; grid_write_one: s alone. */
void grid_write(GridWriter *g, const GridStmt *s);
void grid_write_one(GridWriter *g, const GridStmt *s);
/* The type of an access of `width` bytes. */
const char *grid_type(const Writer *w, int width);
/* The conditions of a G_WHEN, with `and` between them. */
const char *grid_conditions(const Writer *w, const GridStmt *s, const char *and);

#endif
