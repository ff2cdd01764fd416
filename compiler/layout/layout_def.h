/* layout_def.h: element types, and a layout as a spec declares it (LayoutDef), as a request uses it
 * (LayoutRef), and as a part of a tensor (Index). */
#ifndef RAVEL_LAYOUT_DEF_H
#define RAVEL_LAYOUT_DEF_H

#include "../expr/expr.h"

enum { MAX_RANK = 16, MAX_ENTRIES = 64, MAX_NAME = 63, MAX_LEVELS = 16, MAX_LOOKUPS = 4 };

/* dtype.c: the table of element types. */
typedef struct {
    const char *name;     /* f32 */
    int bits;             /* 1 2 4 8 16 32 64 128 */
    char kind;            /* f float, b bfloat, i signed, u unsigned, c complex */
    const char *npy;      /* NumPy's name without byte order: f4; packed types: u1 */
} DType;
extern const DType dtypes[];
extern const int ndtypes;
const DType *dtype_find(const char *name);
/* The type with this name in another system: float16, torch.half and F16 mean f16.  NULL: the
 * name is unknown. */
const char *dtype_meant(const char *name);
const DType *dtype_of_npy(const char *descr);
/* Sets `pattern` to the bits of a fill value; a float is rounded.  False if the type cannot
 * hold it; a finite number that is too large does not become infinite. */
bool dtype_encode(const DType *t, double v, uint64_t pattern[2]);
/* The value of these bits, in a type that is no complex one. */
double dtype_decode(const DType *t, uint64_t bits);

/* A parameter: an expression over bytes, bits and other parameters, or a table of integers.
 * If the spec gives a function instead: its value for each element width (1 << i bits). */
enum { WIDTHS = 8 };
typedef struct {
    const char *name;
    const Ast *value;
    bool has[WIDTHS];
    i64 at[WIDTHS];
    const char *why[WIDTHS];   /* if !has[i]: the reason */
    const i64 *list;           /* instead: a table of n numbers; NULL: it is none */
    int n;
} Param;

typedef enum { FILL_VALUE, FILL_NONE, FILL_EDGE } FillKind;

typedef enum { ENTRY_EXPR, ENTRY_BATCH, ENTRY_BATCH_REVERSED } EntryKind;
typedef struct {
    EntryKind kind;
    const Ast *x;         /* ENTRY_EXPR */
    Loc loc;
} EntryDef;

/* level.def: the kinds of levels of a sparse format. */
typedef enum {
#define LEVEL(name, text, expression, number, order) LEVEL_##name,
#include "level.def"
#undef LEVEL
    LEVEL_KINDS
} LevelKind;
/* layout_print.c: how a kind of level is written in a spec, dense(R). */
typedef enum { NUMBER_NO, NUMBER_MAY, NUMBER_YES } LevelNumber;
typedef struct {
    const char *name;
    bool expression;      /* an expression of the dims is its argument */
    LevelNumber number;   /* ... and whether a number follows, an expression of parameters */
    bool order;           /* ... and then, optionally, a list of expressions */
} LevelWord;
extern const LevelWord level_words[LEVEL_KINDS];

/* A level: how the coordinates of one entry of `order` are stored. */
typedef struct {
    LevelKind kind;
    bool repeats;         /* "nonunique": equal coordinates may follow each other */
    bool unordered;       /* coordinates need not ascend */
    const Ast *number;    /* NULL: none */
    int norder;           /* the coordinates are stored in the order of these expressions of
                           * the dims and, last, of the level's own; 0: as positions are */
    const Ast **order;
} LevelDef;

/* pad = { dim = n }, pitch = { dim = bytes } or { [entry] = bytes }, stride likewise */
typedef struct {
    const char *dim;      /* NULL: by entry */
    int entry;            /* from 0 */
    bool exact;           /* a stride, in elements */
    const Ast *value;
} Setting;

/* A dim that every entry uses only as (H + by + (extent(H) + j)//q) % (extent(H) + more), where H
 * stands for that in `order`. */
typedef struct {
    const char *dim;
    i64 more, by;                  /* more: 0 or more */
    i64 j, q;                      /* 0 <= j < q; q: 0, or 2 or more */
    bool flip;                     /* all slots are counted from the last one */
} Roll;

/* A layout as declared, without shape and element type.  It is immutable. */
typedef struct LayoutDef {
    const char *name, *doc;        /* doc may be NULL */
    const char *owner, *source;    /* who defines the format, and where; NULL: not said */
    const char *version;           /* of the source, or what the format is for; NULL: not said */
    const char *file;              /* the spec file that declares it; NULL: not needed */
    bool is_inline;
    Loc loc;
    bool batch;                    /* the list of dims begins with "..." */
    int ndims, norder, nparams, npads, npitches, nlimits;
    const char **dims;
    EntryDef *order;
    LevelDef *level;               /* a sparse format: of each entry of order; else NULL */
    bool some;                     /* the order of a sparse format: no storage has all elements */
    Param *params;
    Setting *pads, *pitches;       /* pitches: strides too */
    Setting *limits;               /* the largest extents */
    FillKind fill;
    double fill_value;
    const Ast *fill_of;            /* the fill as an expression of parameters; or NULL */
    const char *fill_name;         /* each run is given the fill by this name; or NULL */
    bool fill_given;               /* its value is given: these bits, and fill_value */
    uint64_t fill_bits;
    bool fills;                    /* the spec gives the fill */
    const Ast *swizzle;            /* over the symbol a; NULL: none */
    bool swizzle_bytes;
    int ninverses;                 /* the coordinates that the spec gives for the symbol a, an */
    Setting *inverses;             /* address: one for each dim, or none */
    int bits;                      /* required bits of an element; 0: any */
    bool view;                     /* elements may share addresses; cannot be written */
    unsigned unpadded;             /* dims of which no digit has padding, only holes: a bit each */
    int nrolls;
    const Roll *rolls;             /* of a layout that layout_unrolled made */
    const struct Index *index;     /* part of a tensor; NULL: no index is given */
    struct LayoutDef *next;
} LayoutDef;

/* A use of a layout with new values for some parameters; the others keep their
 * definition. */
typedef struct LayoutRef {
    const LayoutDef *def;
    const struct LayoutRef *written;    /* what the user wrote, if `def` is derived; or NULL */
    bool fills;           /* the fill of `def` is given in this use */
    int n;
    Param *given;
} LayoutRef;

/* One item of an index, in NumPy's notation: 1:3, 7, newaxis, "...", [0, 2, 5],
 * [True, False, True], and idx, an array that each run takes. */
typedef enum { ITEM_SLICE, ITEM_AT, ITEM_NEW, ITEM_REST, ITEM_LIST, ITEM_ARRAY } ItemKind;
typedef struct {
    ItemKind kind;
    bool starts, stops;   /* the slice gives its start, its stop */
    i64 start, stop, step;         /* ITEM_AT: the coordinate is `start` */
    const i64 *list;               /* ITEM_LIST: the coordinates, */
    int n, mask;                   /* and how many; the length of a mask, or 0 */
    const char *array;             /* ITEM_ARRAY: its name, */
    int bits;                      /* and the bits of its numbers: 32, 64; */
    bool along;           /* a number for each element of the view */
    bool skip;            /* an element whose number is -1 is not moved */
    int place;            /* of its first character in Index.whole */
} IndexItem;

/* Part of a tensor, LAYOUT(extents)[items].  Its def has the settings of the layout, the
 * dims that the items leave, and no fill.  Or a tensor in an array that is not contiguous,
 * LAYOUT@origin(strides): all settings are those of the layout. */
typedef struct Index {
    const LayoutRef *of;           /* the layout of the tensor */
    const char *whole;             /* the text that has the items, for messages */
    int nextents;                  /* -1: none is given */
    i64 *extent;                   /* of the tensor; 0: it follows from the view's */
    const char **name;             /* as written where extent is 0 */
    unsigned given;       /* the dims whose extents each run is given by these names: a bit each */
    int nitems;
    IndexItem *item;
    int nstrides;                  /* -1: the array is contiguous */
    i64 *stride, origin;           /* in elements; of the first slot of the array */
    const char **stride_name, *origin_name;    /* each that has a name has a value at run time; */
    bool open;            /* its number here is not that value, which each run is given */
} Index;

#endif
