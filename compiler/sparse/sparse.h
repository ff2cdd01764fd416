/* sparse.h: conversions between sparse formats, and between them and layouts.
 *
 * A sparse format is a layout whose entries each have a kind of level: the map from
 * coordinates to levels is an order of index expressions, the kinds say how the
 * coordinates of a level are stored (docs/ir/sparse.md).  A conversion is a list of calls
 * of the steps in step.def, as statements of emit.h: the writer makes C of them, the
 * library's interpreter calls them. */
#ifndef RAVEL_SPARSE_H
#define RAVEL_SPARSE_H

#include "../decide/decide.h"
#include "../emit/emit.h"
#include "../layout/layout.h"
#include "../plan/plan.h"

typedef struct LevelInfo LevelInfo;

typedef struct {
    LevelDef def;
    const LevelInfo *info;
    const Ex *x;          /* the coordinate, over the variables of the dims; from 0 */
    i64 n;                /* it is below n; 0: an extent is 0 */
    i64 bias;             /* crd holds the coordinate minus bias */
    int var;              /* a variable for the coordinate */
    int pos, crd;         /* the numbers of its arrays; -1: none */
    i64 number;           /* of the spec; 0: none */
    const Ex *at;         /* of nofm with an order: the place of a parent's codes times n, over
                           * the levels above; else NULL */
    i64 codes;            /* of nofm: bytes of crd */
} Level;

enum { MAX_ARRAYS = 2 * MAX_LEVELS + 2 };
typedef enum { ARRAY_POS, ARRAY_CRD, ARRAY_CODES, ARRAY_VAL, ARRAY_MASK } ArrayKind;
typedef struct {
    ArrayKind kind;
    int level;            /* from 0; of those of levels */
    const char *name;     /* pos2, crd2, val, mask */
} SparseArray;

/* A side of a conversion, for one shape and element type. */
typedef struct {
    const LayoutRef *ref;
    Layout *l;            /* the order of the levels; of a layout: itself */
    bool dense;           /* it is a layout: one array, val, with its storage */
    bool empty;           /* an extent is 0: there are no coordinates */
    int width;            /* bytes of an index: 4 or 8 */
    int nlevel;
    Level level[MAX_LEVELS];
    int tree;             /* the first `tree` levels are above the blocks of dense ones */
    int narray;
    SparseArray array[MAX_ARRAYS];     /* the mask first, val last */
    bool padded;          /* it has places without an entry, which hold the fill */
    bool packed;          /* its values are below a byte */
    bool shuffled;        /* entries do not come in an order of coordinates */
    bool loose;           /* equal entries, or entries in any order, are possible */
    bool valueless;       /* of a pattern: each position is an entry, and there is no val */
    const Ex **coord;     /* the dims over the variables of the levels or, of a layout,
                           * over `address`; NULL: they do not follow */
    int address;
} SparseFormat;

/* How entries with equal coordinates are combined. */
typedef enum { EQUAL_SUM, EQUAL_FIRST, EQUAL_LAST, EQUAL_ERROR, EQUALS } Equals;
extern const char *const sparse_equals[EQUALS + 1];    /* their names; then NULL */
/* ... of this name; of NULL the sum.  diag_fatal if there is none. */
Equals sparse_equals_of(Arena *a, const char *name);

typedef struct {
    Request common;       /* of numbers only; for no machine or device.  Its dtype may be
                           * sparse_pattern: positions only; places that may have no entry are u8,
                           * 1 for an entry */
    int from_width, to_width;      /* bytes of an index: 4, 8 or 0 for 4 */
    Equals equal;
    /* Which values of a source that has places without an entry are entries: */
    double threshold;     /* ... those of a larger magnitude; 0: those that are not the fill */
    bool zero_threshold;  /* ... a threshold of 0 is one */
    bool mask;            /* ... those at which the array mask, of u8, is not 0 */
} SparseRequest;

/* How entries come into the order of the destination. */
typedef enum { BY_SOURCE, BY_COUNTING, BY_TILES, FROM_TILES, BY_ROWS, BY_STRIPS,
               BY_BITMAP, BY_SORTING } SparseWay;
extern const char *const sparse_ways[];

/* BY_TILES, BY_STRIPS and BY_ROWS: the rows of the source, and what is in a tile: of BY_ROWS, one
 * element (templates/c/sparse.h).  FROM_TILES: the rows and columns of the destination. */
typedef struct {
    i64 rows, bound, tall, wide, down, across;
    int row, crd;         /* levels of the source: of the rows, and of the coordinates */
    int shift, bits;      /* BY_ROWS: bins have 2^shift rows; bits of a coordinate */
    bool columns;         /* BY_ROWS: the entries are ranked by their columns, if the result is near */
    bool sorted;          /* BY_ROWS: ... into bins */
    i64 few;              /* BY_ROWS: of at most so many entries the result is near; -1: `columns` is not set */
} SparseTiles;

typedef struct {
    const SparseRequest *rq;
    Exprs *e;
    SparseFormat *src, *dst;
    SparseWay way;
    const char *why;      /* a sentence about the way */
    i64 bytes;            /* of a value that is moved; 0: none is.  Those below a byte are moved as bytes */
    bool ones;            /* the source has no values, those of the destination are 1 */
    bool carries;         /* BY_SORTING: records have values, not their positions */
    bool joins;           /* the source may have equal entries that the destination joins */
    bool unadded;         /* there is no sum of this type: equal entries are an error */
    i64 counts;           /* BY_COUNTING: numbers to count in */
    bool transposes;      /* BY_COUNTING: two levels are exchanged, without columns */
    bool extracts;        /* BY_SOURCE: the positions are those of the source */
    bool lays;            /* BY_SOURCE: rows become numbered entries */
    bool copies;          /* BY_SOURCE: both sides have the same levels */
    int expands;          /* BY_SOURCE: rows become a list: the level of the list with the
                           * coordinates of the source; 0: no, else from 1 */
    i64 down, across;     /* BY_SOURCE: rows become those of a layout: its strides; 0: no */
    SparseTiles tiles;
    i64 places, block;    /* BY_BITMAP, BY_STRIPS: bits; the values of a position */
    int bits, low;        /* BY_SORTING: keys have `bits` bits, ordered from bit `low` */
    int columns;          /* of a batch, in use */
    const char *name;     /* of the functions */
    /* The functions: `work` sets m[0] to the bytes of work memory, `sizes` checks the
     * source and sets m to the sizes of the destination's arrays, `fill` writes them. */
    Stmt *work, *sizes, *fill;
    int step, size[MAX_ARRAYS], records, flaw;   /* the variables of the statements */
    i64 most[MAX_ARRAYS];          /* elements of each array of the source */
    const Ex *values;              /* the values of the source that follow from its other arrays */
    /* The dims of dst over the variables of src's levels.  A dim whose levels may lead out
     * of the shape has a variable of its own: entries outside are no entries. */
    const Ex *dim[MAX_RANK];
    int guard[MAX_RANK];           /* this variable; -1: none */
} SparsePlan;

/* step.def */
typedef enum {
#define STEP(name, args, role, what) STEP_##name,
#include "step.def"
#undef STEP
    SPARSE_STEPS
} SparseStep;
extern const Kernel sparse_steps[SPARSE_STEPS];
/* The letters of the arguments of a step, as in step.def. */
const char *sparse_letters(const Kernel *step);
/* What a step is for: work memory; a check of the source; a query, which finds sizes and places; columns
 * of a batch that is read or written; a pass, which reads or writes whole arrays; the state of others. */
typedef enum { ROLE_MEMORY, ROLE_CHECK, ROLE_QUERY, ROLE_READ, ROLE_WRITE, ROLE_PASS, ROLE_STATE,
               SPARSE_ROLES } SparseRole;
extern const char *const sparse_roles[SPARSE_ROLES];
SparseRole sparse_role(const Kernel *step);
const char *sparse_what(const Kernel *step);        /* what it does */
/* The array in an argument: 'i' of the source, 'o' of the destination, with its number; 'v' the unpacked values of
 * the source; 0 none. */
char sparse_arg_array(const Arg *a, int *number);
/* Bytes of a value where it is moved. */
i64 sparse_bytes(const DType *t);
/* The element type of array i. */
const DType *sparse_array_type(const SparseFormat *f, int i);
/* The text of a flaw that a step found, and the index of the array it is about.  number: what
 * the array has there, if it is one of the source's indices; else NULL. */
const char *sparse_flaw(Arena *a, const SparsePlan *p, i64 flaw, i64 array, i64 at,
                        const i64 *number);

/* sparse_format.c: the format of one side; t is NULL for a pattern.  diag_fatal, with the place
 * in the spec, if it cannot be read and written.  mask: it has an array mask. */
extern const char sparse_pattern[];      /* what a request has as its dtype */
SparseFormat *sparse_format(Exprs *e, const LayoutRef *ref, const DType *t, int rank,
                            const i64 *shape, int width, bool mask);
/* An expression as written has no values, because a dim has none: its extent is 0.  x % n has n places
 * for every extent. */
bool sparse_vanishes(const Layout *l, const Ast *x, const i64 *extent);
/* sparse_sides.c: the plan of a request, whose sides these are; t is NULL for a pattern.  diag_fatal if
 * there is no conversion. */
SparsePlan *sparse_convert(Exprs *e, const SparseRequest *rq, const LayoutRef *from, const LayoutRef *to,
                           const DType *t, const char *name);
/* sparse_plan.c: both sides must be of one shape; map as by plan_match.  diag_fatal if there is
 * no conversion. */
SparsePlan *sparse_plan(Exprs *e, const SparseRequest *rq, SparseFormat *src,
                        SparseFormat *dst, const int *map, const char *name);
/* sparse_passes.c: what the functions `sizes` and `fill` do, in order: for each phase, and in it for each
 * loop, each step once. */
typedef struct {
    bool fill;            /* of `fill` */
    int phase, loop;      /* numbers, from 1; loop 0: outside of a loop in batches */
    const char *what;     /* the phase */
    const char *over;     /* what the loop is over */
    i64 batch;            /* of so many */
    const Kernel *step;
    int calls;
    uint64_t arrays[3];   /* bits: the arrays of the source, of the destination; those of it that are only read */
} SparseDone;
int sparse_done(const SparsePlan *p, const SparseDone **done);     /* returns their number */
/* The name of an array of a side that has its bit there; of the destination also scratch memory. */
const char *sparse_array_name(const SparseFormat *f, int i);
void sparse_done_print(Buf *b, const SparsePlan *p);
/* sparse_text.c */
const char *sparse_access(const Level *l);         /* what it costs to find a coordinate */
/* The levels with the cost of an access, the arrays and the coordinates. */
void sparse_levels_print(Buf *b, const SparseFormat *f);
/* The plan as text (docs/ir/sparse.md); with the statements. */
const char *sparse_print(const SparsePlan *p, bool statements);
/* The functions, for files of functions; the comment of the first one begins with `command`. */
enum { SPARSE_FUNCTIONS = 3 };
void sparse_units(const SparsePlan *p, const char *command, const Unit **u);
/* ... as C for the JIT. */
const char *sparse_render(const Target *t, const SparsePlan *p);
/* sparse_options.c: the options of the command of a plan that only sparse formats have; what the
 * plan has chosen by itself is not said. */
const char *sparse_options(Arena *a, const SparsePlan *p);

#endif
