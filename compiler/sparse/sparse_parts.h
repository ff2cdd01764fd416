/* sparse_parts.h: what the files of this folder share.  Other folders use sparse.h. */
#ifndef RAVEL_SPARSE_PARTS_H
#define RAVEL_SPARSE_PARTS_H

#include "sparse.h"

/* A plan whose statements are made. */
typedef struct {
    SparsePlan *p;
    Arena *arena;
    Exprs *e;
    Stmt **tail;
    bool fill;            /* of `fill`: arrays of the destination are written */
    const int *map;       /* dim of the destination -> dim of the source */
    int columns;          /* of the stream, in use */
    int *column;          /* by variable: its column */
    bool *needed;         /* by variable: a column is needed */
    const Ex *positions[MAX_LEVELS + 1];   /* of the levels of the source */
    int from;             /* the column of positions in the level of the source being read */
    int at[MAX_LEVELS];   /* the columns of the destination's coordinates */
    int to;               /* the column of positions in the last level written; -1: root */
    bool copied[MAX_LEVELS];       /* the coordinates are copied as a whole */
    bool flagged;         /* column 1 says which entries have a new position in it */
} SparseMaker;

/* What a kind of level is.  Level k of a format is made of the level above, or of the root.
 * */
struct LevelInfo {
    const char *name;
    bool pos, crd;        /* the arrays that it stores */
    const char *access;   /* what it costs to find a coordinate */
    /* The number of positions of level k of the source, an expression of array sizes. */
    const Ex *(*positions)(const SparseMaker *m, int k);
    /* Each adds statements for level k; NULL: none is needed. */
    void (*check)(SparseMaker *m, int k);          /* the arrays of the source */
    void (*read)(SparseMaker *m, int k);           /* position -> coordinate */
    void (*parent)(SparseMaker *m, int k);         /* position -> position of the parent */
    void (*write)(SparseMaker *m, int k);          /* parent, coordinate -> position */
    void (*finish)(SparseMaker *m, int k);         /* after the last entry */
};

/* level.c: the table of kinds. */
extern const LevelInfo *const level_kinds[LEVEL_KINDS];
extern const LevelInfo level_dense, level_compressed, level_singleton, level_nth;

/* sparse_stmt.c */
/* Add the call of a step.  An argument for each letter: n i64; x const Ex *; I, O int, the
 * number of an array, -1: none; p uint64_t; none for M. */
void sparse_step(SparseMaker *m, SparseStep step, ...);
/* The size of an array of the source, an expression. */
const Ex *sparse_size(const SparseMaker *m, int array);
int sparse_column(SparseMaker *m);                 /* a new column of the stream */
/* sparse_write.c: whether entries of level k of the destination are told apart by flags,
 * because a level from k on joins coordinates to one position. */
bool sparse_flags(const SparsePlan *p, int k);
/* Add flags for level k: its coordinate is another, or one above is. */
void sparse_fresh(SparseMaker *m, int k);
/* Write all levels of a batch. */
void sparse_write(SparseMaker *m);
/* Whether the coordinate of level k is needed in a pass. */
bool sparse_wants(const SparseMaker *m, int k);
/* sparse_order.c */
/* Whether the source's entries come in the order of the n expressions over its variables.
 * Variables in `fixed` count as constants; NULL: none. */
bool sparse_ordered(const SparseFormat *src, Exprs *e, const Ex *const *key, int n,
                    const bool *fixed);

#endif
