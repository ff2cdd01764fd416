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
    bool lists;           /* pos has a place for each of its lists, not for each parent */
    bool coded;           /* crd has codes of some bits */
    const char *access;   /* what it costs to find a coordinate */
    /* The number of positions of level k of the source, an expression of array sizes. */
    const Ex *(*positions)(const SparseMaker *m, int k);
    /* Each adds statements for level k; NULL: none is needed. */
    void (*check)(SparseMaker *m, int k);          /* the arrays of the source */
    void (*read)(SparseMaker *m, int k);           /* position -> coordinate */
    void (*parent)(SparseMaker *m, int k);         /* position -> position of the parent */
    void (*begin)(SparseMaker *m, int k);          /* before the first entry is written */
    void (*write)(SparseMaker *m, int k);          /* parent, coordinate -> position */
    void (*finish)(SparseMaker *m, int k);         /* after the last entry */
};

/* level.c: the table of kinds. */
extern const LevelInfo *const level_kinds[LEVEL_KINDS];
extern const LevelInfo level_dense, level_compressed, level_singleton, level_nth, level_ranked,
    level_sliced, level_jagged, level_nofm;

/* As many positions as crd has elements. */
const Ex *level_positions(const SparseMaker *m, int k);
/* A coordinate from crd. */
void level_load(SparseMaker *m, int k);
/* The position of the parent is there already: it is the same, or `read` has made it. */
void level_same_parent(SparseMaker *m, int k);

/* sparse_kinds.c */
/* diag_fatal if levels of these kinds do not follow each other. */
void sparse_check_kinds(Arena *a, const SparseFormat *f);
/* The level whose places follow from all entries below a parent, so that these are counted or
 * noted first; -1: none. */
int sparse_tallied(const SparseFormat *f);
/* The positions of the level above level k, if all above are dense or ranked. */
i64 sparse_parents(const SparseFormat *f, int k);

/* level_tallied.c: of the levels of sparse_tallied that have `lists`. */
const Ex *tallied_positions(const SparseMaker *m, int k);
/* Before the entries of a pass. */
void tallied_begin(SparseMaker *m, int k);
/* In the first pass counts an entry of its parent, the column m->to; false in the second. */
bool tallied_counts(SparseMaker *m);
/* After the first pass: the places have to fit the indices. */
void tallied_end(SparseMaker *m, int k);

/* sparse_stmt.c */
/* Add the call of a step.  An argument for each letter: n i64; x const Ex *; I, O int, the
 * number of an array, -1: none; p uint64_t; none for M. */
void sparse_step(SparseMaker *m, SparseStep step, ...);
/* The size of an array of the source, an expression. */
const Ex *sparse_size(const SparseMaker *m, int array);
/* sparse_batch.c */
enum { SPARSE_FREE = 3 };          /* the first column that has no meaning of its own */
_Noreturn void sparse_refuse(const SparseMaker *m, const char *why);
int sparse_column(SparseMaker *m);                 /* a new column of the stream */
/* A column with the values of x, over variables that have columns. */
int sparse_column_of(SparseMaker *m, const Ex *x);
/* The positions of the source that hold an entry are told by their values. */
bool sparse_masks(const SparseFormat *f);
/* The number of positions of the source that may hold a value. */
const Ex *sparse_positions(const SparseMaker *m);
/* x, over dims of the destination, over the source. */
const Ex *sparse_over(const SparseMaker *m, const Ex *x);
/* ... also where the source leads out of the shape. */
const Ex *sparse_over_levels(const SparseMaker *m, const Ex *x);
bool sparse_has(const Level *l);                   /* the level has a coordinate */
/* Read a batch, and the coordinates of the levels with want[k] or, of a layout, the
 * address: columns m->at. */
void sparse_read(SparseMaker *m, const bool *want);
/* sparse_test.c: which values of the source are entries (ravel_is_entry of
 * templates/c/sparse_value.c). */
typedef struct {
    int array;            /* whose values are tested */
    i64 bytes, how;
    uint64_t lo, hi;
} SparseTest;
SparseTest sparse_test(const SparseMaker *m);
void sparse_check_test(const SparseMaker *m);      /* diag_fatal if it cannot be made */
/* sparse_way.c */
int sparse_bits(i64 n);            /* bits that hold 0..n - 1 */
/* Keys of a sort: the number of their parts, and the bits of each. */
int sparse_keys(const SparseFormat *f);
int sparse_key_bits(const SparseFormat *f, int k);
/* Set way, why, counts, bits, low and carries of the plan. */
void sparse_set_way(SparseMaker *m);
void sparse_set_sum(SparseMaker *m);       /* sets p->unadded and p->rq */
/* sparse_tile.c: whether the destination has tiles of the source's rows and coordinates; sets
 * p->tiles. */
bool sparse_set_tiles(SparseMaker *m);
/* Whether the conversion goes by tiles or, if equal entries are joined, by rows; sets p->tiles. */
bool sparse_tiles(SparseMaker *m);
/* The step that says p->tiles to those after it. */
void sparse_step_tiles(SparseMaker *m);
/* The steps of `sizes` and of `fill`. */
void sparse_find_tiles(SparseMaker *m);
void sparse_fill_tiles(SparseMaker *m);
void sparse_merge_rows(SparseMaker *m);
void sparse_fill_rows(SparseMaker *m);
/* sparse_strip.c: whether the source has columns of rows in order, and the destination tiles of them;
 * sets p->tiles, p->places and p->block.  The steps of `sizes` and of `fill`. */
bool sparse_strips(SparseMaker *m);
void sparse_find_strips(SparseMaker *m);
void sparse_fill_strips(SparseMaker *m);
/* sparse_untile.c: whether the source has tiles whose rows are those of the destination; sets
 * p->tiles.  The steps of `sizes` and of `fill`. */
bool sparse_untiles(SparseMaker *m);
void sparse_count_untiled(SparseMaker *m);
void sparse_fill_untiled(SparseMaker *m);
/* sparse_bitmap.c: whether the places of the destination's compressed level are so few that each
 * has a bit; sets p->places.  The steps before, in and after the loop of a pass. */
bool sparse_bitmap(SparseMaker *m);
const Ex *sparse_written(const SparseMaker *m);
void sparse_begin_bitmap(SparseMaker *m);
int sparse_write_bitmap(SparseMaker *m);
void sparse_end_bitmap(SparseMaker *m);
/* sparse_lay.c: whether the source has rows in order, whose entries the destination numbers.  The
 * steps of `sizes` and of `fill`. */
bool sparse_lays(const SparseMaker *m);
void sparse_count_lengths(SparseMaker *m);
void sparse_lay(SparseMaker *m);
/* sparse_area.c: the columns of a source that is transposed may be so far apart that blocks of them have
 * memory: the most bits of a column in its block; 0: there are no blocks.  *lists: an index does not hold a
 * row beside them. */
int sparse_far_bits(const SparseMaker *m, bool *lists);
/* The areas of the work memory: their sizes, and where they are. */
void sparse_rooms(SparseMaker *m);
void sparse_areas(SparseMaker *m);
/* sparse_pass.c */
/* How equal entries are joined: one of RAVEL_LAST ... of templates/c/sparse_size.h; and the
 * numbers of a value. */
i64 sparse_how(const SparsePlan *p);
i64 sparse_parts(const DType *t);
void sparse_text(SparseMaker *m, const char *text);            /* a comment */
/* The first compressed level of a destination that has one. */
int sparse_compressed(const SparseFormat *f);
/* A loop over batches: what is added next is its body, until sparse_end_loop. */
Stmt **sparse_begin_loop(SparseMaker *m, const Ex *bound);
void sparse_end_loop(SparseMaker *m, Stmt **after);
/* Whether the number of entries alone gives the sizes, and is known: each position of the
 * source is an entry, and each entry has a position of its own. */
bool sparse_is_counted(const SparsePlan *p);
void sparse_begin_levels(SparseMaker *m);
/* sparse_at_once.c: a pass that has no columns; false: it has. */
bool sparse_at_once(SparseMaker *m);
/* sparse_pass.c: a pass over the source, and over its sorted records; `what` it does. */
void sparse_pass(SparseMaker *m, const char *what);
void sparse_pass_records(SparseMaker *m, const char *what);
/* sparse_write.c: whether entries of level k of the destination are told apart by flags,
 * because a level from k on joins coordinates to one position. */
bool sparse_flags(const SparsePlan *p, int k);
/* Add flags for level k: its coordinate is another, or one above is. */
void sparse_fresh(SparseMaker *m, int k);
/* Write all levels of a batch. */
void sparse_write(SparseMaker *m);
/* Before entries are added at the addresses of a layout. */
void sparse_write_negative(SparseMaker *m, const bool *want);
/* Whether the coordinate of level k is needed in a pass. */
bool sparse_wants(const SparseMaker *m, int k);
/* sparse_order.c */
/* x is a number with its terms as digits, so that it says what they are. */
bool sparse_is_radix(const Ex *x);
/* Whether the source's entries come in the order of the n expressions over its variables.
 * Variables in `fixed` count as constants; NULL: none. */
bool sparse_ordered(const SparseFormat *src, Exprs *e, const Ex *const *key, int n,
                    const bool *fixed);

#endif
