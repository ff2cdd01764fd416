/* picture.h: the drawing of a layout, as data: a plane of the tensor and the storage, both
 * as grids of cells.  The writers picture_text.c and picture_svg.c only read it.
 *
 * Each cell has a value, which the reader chooses: its address, its bank, its tile, a
 * digit.  The value is the text of the cell and decides its colour. */
#ifndef RAVEL_PICTURE_H
#define RAVEL_PICTURE_H

#include "../decide/decide.h"

typedef enum {
    CELL_NONE,            /* beyond the storage */
    CELL_ELEMENT,
    CELL_OTHER,           /* an element of another plane */
    CELL_PADDING,
    CELL_HOLE,
    CELL_KINDS
} CellKind;

typedef struct {
    CellKind kind;
    i64 address;          /* in elements */
    i64 x[2];             /* of an element: its row and column in the plane */
    i64 value;            /* of an element: what it is coloured by */
    int color;            /* of an element: an index for picture_color */
} Cell;

typedef struct {
    i64 rows, cols;
    i64 first[2];         /* the row and column of the first cell */
    bool more[2];         /* there are rows below, columns to the right; of storage: or before */
    Cell *cell;           /* row-major */
} CellGrid;

/* What to draw. */
typedef struct {
    const char *by;       /* a name of picture_ways, or an expression over the dims; NULL:
                           * address */
    const Layout *named;           /* whose dims and constants the expression names, with
                                    * dims by position; NULL: the layout itself */
    int dim[2];           /* the dims of rows and columns; -1: the ones that are split */
    i64 at[MAX_RANK];     /* of other dims: the plane; of rows and columns: the first */
    i64 most[2];          /* the most rows and columns of the plane; 0: PICTURE_SIDE */
} PictureView;
enum { PICTURE_SIDE = 64 };

typedef struct PictureWay PictureWay;
typedef struct {
    const Layout *l;
    PictureView view;            /* with the dims that were chosen; -1: a tensor of few dims */
    const PictureWay *way;
    const Ast *by;        /* of an expression; else NULL */
    i64 tile[2], block[2];         /* of rows and columns: the largest and the smallest
                                    * block; 0: there is none */
    i64 least, most;      /* values of the elements of the plane; least is at most 0 */
    CellGrid plane, storage;       /* storage has no cell if it is not known */
} Picture;

/* picture.c */
/* The picture of l, in l's arena.  v must be a verdict that allows reading.  diag_fatal if
 * the view does not fit the layout: the error says what would. */
Picture *picture_make(Layout *l, Verdict *v, const PictureView *view);
/* A view with everything chosen. */
PictureView picture_view(void);
/* The extents of the blocks of a dim, ascending: where a digit of it begins or ends.
 * Returns their number; 0 for a layout whose entries are no digits. */
enum { CUTS_MAX = 32 };
int picture_cuts(const Layout *l, int dim, i64 cut[CUTS_MAX]);

/* picture_way.c: what cells may be coloured by. */
struct PictureWay {
    const char *name;
    const char *what;     /* a line for a legend */
    i64 (*value)(const Picture *p, const i64 *x, i64 address);
    int (*color)(const Picture *p, const Cell *c);         /* NULL: value modulo COLORS */
    i64 (*run)(const Picture *p);  /* the elements of a line of storage; NULL: any */
};
extern const PictureWay picture_ways[];        /* ends with a NULL name */
/* The way `text` of a view; sets *by for an expression, which names dims of l. */
const PictureWay *picture_way(const Layout *l, const char *text, const Ast **by);

/* picture_color.c */
enum { COLORS = 8, RAMP = 32 };
/* The color of an element, as #rrggbb: 0..COLORS - 1 are hues, COLORS..COLORS + RAMP - 1 a
 * ramp from light to dark.  Black text is readable on each, and with any of the usual
 * kinds of colour-blindness the hues differ. */
const char *picture_color(int i);

/* picture_text.c: the plane for a terminal: as many columns as fit lines of `width`
 * characters, with lines between tiles.  `colored`: with escape sequences, in one of 256
 * colours. */
void picture_text(Buf *b, const Picture *p, int width, bool colored);
/* "bank of shared memory: rows are M, columns are K, at N=0" */
const char *picture_title(Arena *a, const Picture *p);

/* picture_svg.c: n pictures, one below the other. */
void picture_svg(Buf *b, Picture *const *p, int n);

#endif
