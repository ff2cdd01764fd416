/* grid_parts.h: what the files share that make and write kernels.  Other folders use
 * grid.h. */
#ifndef RAVEL_GRID_PARTS_H
#define RAVEL_GRID_PARTS_H

#include "grid.h"
#include "swizzle.h"

/* Multiprocessors of a large GPU, an H100; tiles that keep all of them busy. */
enum { MULTIPROCESSORS = 132, TILES_ENOUGH = 4 * MULTIPROCESSORS };

/* grid_box.c */
/* The largest power of two, up to 2^30, that divides x for all values of its variables. */
i64 grid_divisor(const Ex *x);
/* True if the loops of the box are numbers for every shape. */
bool grid_is_known(const GridBox *b);
/* The same of an address in elements of the box, and at most the elements to whose size
 * the target's buffers are aligned. */
i64 grid_aligned(const GridBox *b, const Ex *x);
/* True if vectors of m elements that begin in a run of the source, at multiples of m, end
 * inside the buffer.  The last vector of a run may contain elements beyond the run. */
bool grid_ends_inside(const GridBox *b, const GridLoop *run, i64 m);
/* The distance on a side of two iterations of a loop, as far as one number tells it: its
 * stride, or the least factor of its variable in the residual if that is more.  A digit that
 * the xor of a swizzle moves has no stride, and moves pieces of that size. */
i64 grid_distance(const GridBox *b, const GridLoop *l, bool source);
/* n / each, rounded up. */
const Ex *grid_ceil(GridBox *b, const Ex *n, i64 each);
/* n / each, rounded down. */
const Ex *grid_floor(GridBox *b, const Ex *n, i64 each);
/* The product of the iterations of all loops that are not in `tile`. */
const Ex *grid_others(GridBox *b, const GridLoop *const *tile, int ntile);
const Ex *grid_times(GridBox *b, const Ex *x, const Ex *y);
/* Sets the number of blocks of the box and makes the variable of the block's number. */
void grid_blocks(GridBox *b, const Ex *blocks);
/* Reserves bytes of shared memory.  Boxes share the same memory. */
void grid_shared(GridBox *b, i64 bytes);
/* A number that is split into digits, the innermost first.  The rest is `x` / `inner`. */
typedef struct {
    const Ex *x;
    i64 inner;
} GridDigits;
/* Takes the next digit, 0 <= digit < n, and at most `most`.  last: it is the last digit. */
const Ex *grid_digit(GridBox *b, GridDigits *d, const char *name, const Ex *n, i64 most,
                     bool last);
/* Takes the next digit as the iteration of a loop. */
const Ex *grid_digit_of(GridBox *b, GridDigits *d, const GridLoop *l, bool last);
/* Defines the iterations b->at of all loops that are not in `tile`, from the rest of the
 * digits.  Sets the addresses in source and destination there, in elements. */
void grid_batch(GridBox *b, GridDigits d, const GridLoop *const *tile, int ntile,
                const Ex **src, const Ex **dst);

/* grid_stmt.c: appends a statement at the tail of the box. */
GridStmt *grid_add(GridBox *b, GridKind kind);
/* Statements that are added between grid_open and grid_close go to the body of s.  Pass
 * the result of grid_open to grid_close; NULL: no body is open. */
GridStmt **grid_open(GridBox *b, GridStmt *s);
void grid_close(GridBox *b, GridStmt **outer);
/* Adds a phase of the statements that put(arg, whole) adds.  If when(arg) adds the condition
 * that the block is whole, the phase has them twice: without guards for whole blocks, and with
 * guards for the others. */
void grid_phase(GridBox *b, GridStmt *(*when)(void *arg), void (*put)(void *arg, bool whole),
                void *arg);
/* Defines name = x and returns its variable, which has the range of x. */
const Ex *grid_let(GridBox *b, const char *name, const Ex *x);
/* Defines the index name = x, which is below n in all blocks that get there. */
const Ex *grid_within(GridBox *b, const char *name, const Ex *x, const Ex *n);
/* Defines the index name = x and opens a G_WHEN for name < n, up to grid_close(*outer).
 * Returns a variable with the range 0..n - 1. */
const Ex *grid_index(GridBox *b, const char *name, const Ex *x, const Ex *n,
                     GridStmt ***outer);
/* Opens an unrolled loop, up to grid_close(*outer), and returns its variable.  If count is
 * 1, there is no loop and it returns 0. */
const Ex *grid_for(GridBox *b, const char *name, i64 count, GridStmt ***outer);
/* The item of thread t in iteration k: t + 256*k. */
const Ex *grid_item(GridBox *b, const Ex *k);
/* Adds what put(arg, q) adds for the items q < n of a block: thread t has t, t + 256, ...  Only
 * the last of them has a condition; the others are no variables, so that the loop's part of an
 * address stands apart. */
void grid_each_item(GridBox *b, i64 n, void (*put)(void *arg, const Ex *q), void *arg);
void grid_array(GridBox *b, const char *name, int width, i64 count);
/* declares: defines name as a constant; else assigns to it. */
void grid_load(GridBox *b, const char *name, bool declares, Space space, int width,
             const Ex *at);
void grid_store(GridBox *b, Space space, int width, const Ex *at,
              const char *const *word, int nwords);
/* Sets used[v] for every variable v in the statements. */
void grid_vars(const GridStmt *s, bool *used);
/* Removes definitions of indices that no statement uses. */
void grid_drop_unused(Exprs *e, GridStmt **body);
/* Adds a G_WHEN for n conditions value[i] < bound[i], at most MAX_RANK.  Conditions that
 * always hold are left out.  NULL, and no statement, if none is left. */
GridStmt *grid_when(GridBox *b, const Ex *const *value, const Ex *const *bound, int n);

/* Its part of the tensor, as text. */
const char *grid_what(const GridBox *b);
/* grid_join.c */
/* Adds the box b to a if together they are one box.  False, and nothing changes, if not. */
bool grid_join(GridBox *a, const GridBox *b);
/* grid_cover.c */
/* Makes boxes of padding parts of boxes of `kind` that they are adjacent to at every shape, so that
 * one block writes sectors that contain parts of both: if they share sectors, and accesses do not
 * become narrower.  Returns the number of boxes that remain. */
int grid_cover(Scalars *s, GridBox *box, int n, NestKind kind);
bool grid_is_padded(const GridBox *b);
/* name = src[from], or the fill if b->at is in padding.  declares: defines name. */
void grid_load_or_fill(GridBox *b, const char *name, bool declares, int width,
                       const Ex *from);

/* grid_fill.c */
/* The fill in `bits` bits, at most 128, as 32-bit words; returns their number. */
int grid_pattern(GridBox *b, int bits, const char **word);
/* Adds the arguments that have the words of a fill that each run is given. */
void grid_fill_arguments(GridUnit *u);

/* grid_word.c: a word of the destination that a thread composes of elements, in the variable
 * `v`. */
typedef struct {
    GridBox *b;
    int unit, per;        /* bytes of the word, elements in it */
    int least;            /* bytes of the narrowest access of elements */
} GridWord;

GridWord grid_word(GridBox *b, int unit);
/* The bytes of the narrowest access of elements. */
int grid_word_least(const GridUnit *u);
/* Defines the variable: 0, or what unit number `at` of the destination holds. */
void grid_word_open(const GridWord *w, const Ex *at);
/* Adds a G_PUT at element k; the caller sets what it puts. */
GridStmt *grid_word_put(const GridWord *w, const Ex *k);
/* Sets element k to the source's element at address `from`. */
void grid_word_fetch(const GridWord *w, const Ex *k, const Ex *from);
/* Stores it as unit number `at`. */
void grid_word_close(const GridWord *w, const Ex *at);
/* The bytes of a unit: 4 if the destination consists of such, and they are aligned. */
int grid_word_bytes(GridBox *b);
/* Makes unit number `at`: put(arg, a, k) sets element k of it, which has the address a.  keep:
 * what is not set stays as it is, as all beyond the end does. */
void grid_word_unit(const GridWord *w, const Ex *at, bool keep,
                    void (*put)(void *arg, const Ex *a, const Ex *k), void *arg);
/* Adds the phase in which a thread makes one of n items, and sets the number of blocks. */
void grid_each_thread(GridBox *b, const Ex *n, void (*make)(void *arg, const Ex *item),
                      void *arg);
/* grid_source.c */
/* Whole words of the source; bytes of all. */
typedef struct {
    GridBox *b;
    const Ex *words, *bytes;
} GridSource;
GridSource grid_source(GridBox *b);
/* Defines name as word `at` of the source, which may contain its end or lie beyond it: what is
 * beyond is 0. */
void grid_source_word(const GridSource *s, const char *name, const Ex *at);
/* True if all runs of the destination, of the loop `run`, consist of whole words, or sectors, of
 * `per` elements. */
bool grid_has_words(const GridBox *b, const GridLoop *run, i64 per);
/* True if the box has elements only, and no loop runs backwards. */
bool grid_is_forward(const GridBox *b);

/* grid_seam.c */
/* True if the box is all of the destination, which has no holes. */
bool grid_has_seams(GridBox *b);
/* Makes the box with the seams: the units of so many bytes of the destination that contain an
 * end of a run, the last loop of b, and more elements. */
GridStmt *grid_seams(const GridBox *b, i64 bytes);

/* grid_lookup.c */
/* Defines the numbers of index arrays that the addresses of the box have, where `to` has what
 * stands for each loop, and sets what stands for the numbers.  An element whose number is -1 is
 * not moved: the statements that follow, up to grid_close of the result, are for the others. */
GridStmt **grid_lookups(GridBox *b, const Ex **to);

/* grid_rows.c */
/* Adds the statements of a box, and its range of blocks.  False if no row applies. */
bool grid_add_box(GridUnit *u, const GridBox *box, GridStmt ***tail);
/* Adds the statements of the box and of those in b->more, as boxes that the same blocks do.  False,
 * and nothing changes, if that costs more than each by itself. */
bool grid_add_period(GridUnit *u, const GridBox *box, GridStmt ***tail);
/* Makes the whole plan by the cheapest way that applies.  only: its one box, or NULL.  False if
 * none applies. */
bool grid_add_whole(GridUnit *u, const GridBox *only, GridStmt ***tail);

/* grid_gather.c, grid_piece.c, grid_tile.c, grid_edge.c, grid_slab.c, grid_fuse.c, grid_shift.c,
 * grid_run.c, grid_words.c, grid_cells.c: the rows */
bool grid_gather(GridBox *b);
bool grid_piece(GridBox *b);
bool grid_tile(GridBox *b);
bool grid_tile_edge(GridBox *b);
bool grid_shift(GridBox *b);
bool grid_run(GridBox *b);
bool grid_slab(GridBox *b);
bool grid_fuse(GridBox *b);
bool grid_fuse_any(GridBox *b);    /* where its model would leave the box to another row, too */
/* True if the boxes copy runs of one period: grid_period may do both. */
bool grid_has_period(const GridBox *a, const GridBox *b);
bool grid_period(GridBox *b);      /* the box, and b->more */
bool grid_words(GridBox *b);
bool grid_cells(GridBox *b);

/* grid_inverse.c, grid_seam.c: the ways to make the whole plan.  The box of grid_inverse need not
 * have loops or a nest. */
bool grid_inverse(GridBox *b);
bool grid_loops(GridBox *b);

/* grid_args.c: the arguments of kernels for extents left to run time. */
/* The limit for 64-bit values: every CUDA device has space for 4 KB of arguments.  Pairs of
 * buffers take half of it. */
enum { ARGUMENTS_MAX = 500 };

/* Finds the arguments of u and replaces scalars by them in its statements.  diag_fatal if
 * there are too many. */
void grid_arguments(GridUnit *u);
/* The index of an argument in the array; a divisor is followed by its multiplier and its
 * shift. */
int grid_value_at(const GridUnit *u, int arg);
/* The number of blocks of a nest's box: 0 at shapes at which the nest does not run. */
const Ex *grid_needed(const Plan *p, const Nest *n, const Ex *blocks);
/* grid_assume.c */
/* Changes the box to the one for shapes at which its strides, runs and bases are multiples
 * of m elements.  Returns a scalar that is 0 at those shapes, else 1.  Returns the number
 * 0, and nothing changes, if there are no such shapes, or no others. */
const Ex *grid_assume(GridBox *b, i64 m);
/* True if the narrowest access of a to a buffer is wider than that of b. */
bool grid_is_wider(const GridStmt *a, const GridStmt *b);

/* grid_estimate.c: the cycles of a multiprocessor for each byte that the boxes store, in the order
 * of measured times: memory, and the instructions that it does not hide.  All blocks of a box are
 * taken to be like its first.  For known extents. */
double grid_cost(const GridUnit *u, const GridStmt *box);

/* grid_narrow.c: true if all indices are right in unsigned arithmetic of 32 bits, which wraps.
 * Numbers that are divided or compared, and others that must be exact, are at most `most`; INF:
 * the host refuses shapes at which they are more than 32 bits have. */
bool grid_is_narrow(const GridStmt *s, i64 most);
/* True if terms of a sum are negative, so that in unsigned arithmetic it may wrap. */
bool grid_may_wrap(const Ex *at);

/* grid_render.c: the fields of a target that begin and end the kernels of a plan. */
typedef struct {
    const char *open[2], *close[2];        /* one pair of buffers; a batch */
    const char *check_open, *check_close;  /* the kernel that checks index arrays */
    const char *file;              /* what precedes it; a target may have none */
    bool host;                     /* the host's function computes its arguments */
} GridFields;
const GridFields *grid_fields(const Plan *p);

/* grid_check.c: the parameters of the index arrays and, last, of *bad; "" if there are none. */
const char *grid_array_params(const Writer *w, const GridUnit *u);
/* The same as arguments of a call. */
const char *grid_array_names(const Writer *w, const GridUnit *u);
/* What the arrays have, for the comment of the kernel. */
const char *grid_array_note(const GridUnit *u);
/* Writes the kernel that checks the numbers, after that of the plan; slot: those of kernels. */
void grid_put_check(Writer *w, const GridUnit *u, const GridFields *f, const Slot *slot, int n);

/* grid_host.c: adds the host's function to the file if the target's files are compiled for
 * the host too. */
void grid_put_host(Buf *b, const Target *t, const GridUnit *u);

/* grid_print.c: prints s and the statements after it as text. */
void grid_print_body(Writer *w, const GridStmt *s);

/* grid_apart.c: an index in the body of an unrolled loop, (rest ^ flips) + more: flips and
 * more have constants and the loop's variable only; the rest has that variable only where it is
 * in an operator with others. */
typedef struct {
    const Ex *rest, *flips, *more;
} GridIndex;
/* True if x has no variable but that of the loop. */
bool grid_is_unrolled(const Ex *x, int loop);
GridIndex grid_index_apart(Exprs *e, const Ex *at, int loop);

/* grid_write.c: writes statements with the texts of a target's table, for kernels and for
 * functions of fragments. */
typedef struct {
    Writer w;
    const char *index;    /* the type of an index */
    int shared;           /* bytes of the unit in which shared memory is declared */
    int loop;             /* the variable of the innermost loop; -1: none */
    bool narrow;          /* indices have 32 bits */
} GridWriter;

/* Writes s and the statements after it; grid_write_one: s alone. */
void grid_write(GridWriter *g, const GridStmt *s);
void grid_write_one(GridWriter *g, const GridStmt *s);
/* The type of an access of `width` bytes. */
const char *grid_type(const Writer *w, int width);
/* The conditions of a G_WHEN, with `and` between them. */
const char *grid_conditions(const Writer *w, const GridStmt *s, const char *and);

#endif
