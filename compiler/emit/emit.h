/* emit.h: translate plans and layouts to a statement tree that is independent of the
 * target language.  render*.c write the tree with the texts of a target's table.
 * docs/ir/stmt.md describes the tree. */
#ifndef RAVEL_EMIT_H
#define RAVEL_EMIT_H

#include "../decide/decide.h"
#include "../plan/plan.h"

typedef enum {
    ST_COMMENT,           /* text */
    ST_FOR,               /* name from 0 to count - 1, step at a time: body */
    ST_ALONE,             /* body, by one thread only: number count % threads */
    ST_FENCE,             /* wait until non-temporal stores are complete */
    ST_CALL,              /* kernel(args) */
    ST_LET,               /* name = value */
    ST_SET,               /* out[index] = value */
    ST_SET_UPPER,         /* out[index] = the upper 32 bits of value */
    ST_CHECK,             /* return 0 unless least <= value <= most */
    ST_SAME,              /* return 0 unless value == other */
    ST_UNUSED,            /* the parameter `text` */
    ST_RETURN,            /* value */
    ST_WHEN,              /* body, if value is above 0 */
    ST_REFUSE,            /* return 1 unless least <= value <= most */
    ST_SIZE,              /* defines the size `text` as value, in bits */
    ST_TIMES,             /* multiplies this size by value */
    ST_ROUND,             /* rounds this size up to a multiple of count */
    ST_FITS,              /* return 1 unless this size fits 64 bits */
    ST_BYTES,             /* *text = value */
    ST_LOOKUP,            /* name = number `value` of `array` */
    ST_TABLE,             /* an array `text` of `count` words, which calls fill */
    ST_NUMBERS,           /* return 1 unless all `value` numbers of `array`, of `count` bits, are
                           * least to other, and none is in the destination */
    ST_DIVISOR            /* after value number `count`: its multiplier and shift */
} StKind;

/* An argument of a kernel: a buffer at an offset, or a number. */
typedef struct {
    const char *buffer;   /* dst, src; NULL: the argument is `value` alone */
    const Ex *value;
    uint64_t pattern;     /* a bit pattern; if value is NULL */
    bool bits;            /* value is a bit pattern */
} Arg;

typedef struct Stmt {
    StKind kind;
    const char *text;     /* ST_COMMENT; the name of ST_FOR, ST_LET, ST_LOOKUP */
    const char *array;    /* ST_LOOKUP, ST_NUMBERS */
    i64 count, step;      /* ST_FOR, ST_ALONE; index of ST_SET */
    bool split;           /* ST_FOR: threads share the iterations, in runs */
    const Ex *bound;      /* ST_FOR: instead of count, if that is not constant */
    const Ex *outer;      /* ST_FOR, split: iterations of the outermost split loop;
                           * threads share that loop if they are fewer ... */
    bool inner;           /* ... and else this loop, inside of it */
    const Ex *value, *other;       /* ST_LET: if there is an other, it divides value, a name ... */
    bool rest;            /* ... and this is the remainder.  ST_CHECK: other instead of most */
    const Ex **factor;    /* ST_LET: a product instead */
    int nfactors;
    i64 least, most;
    const Kernel *kernel;          /* ST_CALL; NULL: the function `text` */
    unsigned parts;       /* of the kernel's text that the call can reach: nest_parts */
    Arg arg[20];          /* as the longest list of letters of a kernel */
    int nargs;
    struct Stmt *body, *next;
} Stmt;

/* An array of constants before the function. */
typedef struct Table {
    const char *name;
    const int32_t *value;
    i64 n;
    struct Table *next;
} Table;

typedef enum {
    EMIT_RELAYOUT, EMIT_OFFSET, EMIT_INVERSE, EMIT_VISIT, EMIT_LOAD, EMIT_STORE, EMIT_SPARSE
} EmitKind;

typedef struct {
    EmitKind kind;
    const char *name;     /* of the function: a checked identifier */
    const char *head;     /* lines of the comment on top */
    const char *note;     /* a line for the function's own comment; NULL: none */
    const char **param;   /* names: the dims of EMIT_OFFSET; extents of a relayout, then */
    int nparams;          /* its index arrays */
    int nextents;         /* of an index function: the last parameters */
    int narrays;
    PlanArray array[PLAN_ARRAYS];
    bool split;           /* threads share it: a function for a part, one for all */
    i64 turns;            /* parts that a single thread then does, one after another */
    i64 bytes;            /* of the larger buffer; 0: left to run time, or no relayout */
    const Ex *slots;      /* of EMIT_VISIT: the addresses that there are, ... */
    Stmt *before;         /* ... after these definitions */
    Stmt *sizes;          /* for run-time extents: the function that checks them and
                           * computes the sizes of both buffers in bytes */
    Stmt *checks;         /* of index arrays, before anything is written; not in the JIT, where
                           * the library checks */
    Table *table;
    Stmt *body;
    Exprs *e;
} Unit;

typedef struct Target Target;

/* Whether a conversion has a function for a part of the work. */
static inline bool
unit_has_part(const Unit *u)
{
    return u->split || u->sizes;
}

/* emit_relayout.c */
/* command: for the comment at the top; NULL: the unit has no comments. */
Unit *emit_relayout(const Plan *p, const char *name, const char *command);
/* The same with the name and the command of a request. */
const Unit *emit_unit(const Target *t, const Plan *p, const Request *rq);
/* emit_extents.c: complete u, whose body is made, for a plan with run-time extents: the
 * names and definitions of extents and scalars, and the sizes. */
void emit_extents(const Plan *p, Unit *u);
/* emit_fits.c: for emit_extents: ST_SIZE to ST_FITS for the products of joined extents, NULL without
 * such; and for both sizes. */
Stmt *emit_products(const Plan *p);
Stmt *emit_fits(const Plan *p);
/* What the host computes for a kernel: the number of blocks, and values.  The first
 * `ndivisors` values are divisors; each is followed by its multiplier and its shift. */
typedef struct {
    const Ex *blocks;
    i64 most;             /* blocks */
    const Ex *const *value;
    const bool *upper;    /* of the value the upper 32 bits, as the lowest of a word */
    int n, ndivisors;
    int bits;             /* of the kernel's numbers: of 32, buffers have less than 2 GB, and
                           * less than 2^31 elements */
    int access;           /* bytes of the narrowest access: buffers are multiples of it */
} EmitValues;
Unit *emit_values(const Plan *p, const EmitValues *v, const char *name);
/* The identifiers of all scalars, extents first, then those of the index arrays; sets *n to
 * their number.  No scalar may be added afterwards. */
const char **emit_names(const Plan *p, int *n);
/* A body over scalars with their names, and in front the definitions of those that it uses; sets used[]
 * for each.  The variables of a body. */
Stmt *emit_defined(const Scalars *s, const char **name, Stmt *body, bool *used);
const bool *emit_variables(Exprs *e, Stmt *body);
/* emit_lookup.c */
/* Before a call in nest n: a definition for each lookup, over the variables to[]; adds those
 * of the lookups to to[].  name[] has *taken identifiers, and room for PLAN_ARRAYS more, to
 * which it adds.  Returns where the call goes: it is not made for a number of -1. */
Stmt ***emit_lookups(const Plan *p, const Nest *n, const Ex **to, const char **name, int *taken,
                     Stmt ***at);
/* Add lines about both layouts to the comment at the top, and one if dims of the same name are in
 * other places. */
void emit_plan_head(Buf *b, const Plan *p);
/* emit_index.c: a layout as functions */
typedef struct {
    Layout *l;
    Scalars *scalars;
    const int *of;                 /* the scalar of the extent of dim d; -1: a number */
    const Verdict *v;              /* of l, with its inverse for that; NULL: with extents left to run time */
    int rank;                      /* of the shape that is given, ... */
    const PlanExtent *given;       /* ... of which l may count several dims as one */
    const char *const *dim;        /* its names */
} IndexOf;
Unit *emit_offset(const IndexOf *o, const char *name, const char *command);
/* diag_fatal if the layout has no inverse in closed form. */
Unit *emit_inverse(const IndexOf *o, const char *name, const char *command);
/* The inverse, and a function that calls another one for each element, in the order of storage. */
Unit *emit_visit(const IndexOf *o, const char *name, const char *command);
/* diag_fatal if a function above needs wider indices than the target has. */
void emit_check_width(const Target *t, const Unit *u);

/* emit.c: used by both */
Stmt *emit_add(Arena *a, Stmt ***tail, StKind kind);
/* An identifier for a variable, near to `wish` and different from the n taken ones.  It
 * is lower case, and neither a keyword nor a macro: one letter with digits, or a name
 * that ends in an underscore. */
const char *emit_identifier(Arena *a, const char *wish, const char *const *taken,
                            int n);
/* Whether s can name a function in C and C++ without a conflict with the C library. */
bool emit_is_identifier(const char *s);
/* Lines about a layout and its storage; without the storage where that is left to run time. */
void emit_layout_head(Buf *b, const char *what, const Layout *l);
void emit_sizes_head(Buf *b, const char *what, const Sizes *z);

/* Statement trees as text, through the table of a target. */

/* target.c: read and check a table of templates/, which is trusted.  The result is in
 * `a` and is immutable.  diag_fatal if there is no table of this name. */
const Target *target_load(Arena *a, const char *name);
/* Read and check a table from a text, which is not trusted; `name` is its file, for
 * messages.  Its prologue may be in the field prologue_text.  diag_fatal, with the file
 * and the field, if a field is unknown, has a wrong value, uses an unknown ${name} or is
 * missing (target.def). */
const Target *target_read(Arena *a, const char *name, const char *text);
/* A numeric field of target.def; its default if the table lacks it. */
int64_t target_number(const Target *t, const char *field);
/* Whether it has this model: "functions", written by render; "blocks", written by
 * grid_render; or "bursts", written by burst_emit. */
bool target_is(const Target *t, const char *model);
/* target_text.c */
/* A field of the table: its text, the digits of a number, or, for emit_plan, the text of
 * the whole table.  NULL if the table lacks it. */
const char *target_text(const Target *t, const char *field);
const char *target_text_or(const Target *t, const char *field, const char *otherwise);
/* The operators of index expressions; those of C if the table has none. */
Spelling target_spelling(const Target *t);
/* Whether the field `reserved` forbids this name for a function: it has words, and
 * prefixes of words followed by a *. */
bool target_reserves(const Target *t, const char *name);
/* Its name in --target: cuda, mine.lua. */
const char *target_name(const Target *t);
/* A function that emitted code may call, and the texts of the files that define it, in
 * order.  Each text is one string, even if several helpers name its file. */
enum { HELPER_FILES = 20, TARGET_HELPERS = 80,
       TARGET_FILES_MAX = TARGET_HELPERS * HELPER_FILES };
typedef struct {
    const char *symbol, *file[HELPER_FILES];
    int nfiles;
} TargetHelper;
/* The helper number i; NULL past the last. */
const TargetHelper *target_helper(const Target *t, int i);
/* The text of the template that a field names. */
const char *target_file(Arena *a, const Target *t, const char *field);

/* The value of ${name} in a line of a table. */
typedef struct {
    const char *name, *value;
} Slot;

/* writer.c: writes lines to b. */
typedef struct {
    const Target *t;      /* NULL: the text form of docs/ir, with Lua's operators */
    Exprs *e;
    Arena *arena;         /* of the texts that it returns: that of b */
    Buf *b;
    Spelling sp;
} Writer;

Writer writer_new(const Target *t, Exprs *e, Buf *b);
const char *writer_number(const Writer *w, i64 v);
const char *writer_expr(const Writer *w, const Ex *x);     /* empty for NULL */
const char *writer_above(const Writer *w, const Ex *x);    /* x > 0; empty for NULL */
/* `line` with each ${name} replaced; a name without a slot stays.  diag_fatal if the
 * result is too long: an untrusted table may repeat a name. */
const char *writer_fill(const Writer *w, const char *line, const Slot *slot, int n);
/* The same for the text of a field. */
const char *writer_text(const Writer *w, const char *field, const Slot *slot, int n);
/* Write this text as it is. */
void writer_add(Writer *w, const char *field, const Slot *slot, int n);
/* Write it as an indented line; writer_print: `line` instead of a field. */
void writer_put(Writer *w, const char *field, const Slot *slot, int n);
void writer_print(Writer *w, const char *line, const Slot *slot, int n);
/* Write the lines of text as a comment, which they can neither end nor begin anew. */
void writer_comment(Writer *w, const char *text);

/* writer_files.c */
/* For each kernel of the table whether one of the n units calls it, and the parts of its
 * text that calls reach. */
typedef struct {
    bool called;
    unsigned parts;
} KernelCalls;
const KernelCalls *writer_calls(Arena *a, const Unit *const *u, int n);
/* Write what `body`, the text of the units, reaches of the files of the helpers that it
 * mentions and of the kernels that they call, each file once. */
void writer_helpers(Writer *w, const Unit *const *u, int n, const char *body);
/* Write what precedes `body` in a file: the comment at the top, which ends with who made
 * the file, the prologue, these files. */
void writer_head(Writer *w, const char *head, const Unit *const *u, int n,
                 const char *body);

/* prune.c: what of `text`, definitions in C, stays if only `body` uses them. */
const char *prune(Arena *a, const char *text, const char *body);
/* The text of a file of kernel k with these of its parts. */
const char *prune_parts(Arena *a, const char *text, const Kernel *k, unsigned parts);

/* render_stmt.c */
/* The value of s, or the product of its factors. */
const char *emit_value(const Writer *w, const Stmt *s, const char *times);
/* Write the statements from s on. */
void render_body(Writer *w, const Stmt *s);

/* render.c */
/* For render_file.c and render_jit.c: the functions of u alone; "int64_t n, int64_t h"; a writer in which
 * coordinates are signed numbers. */
void render_functions(Writer *w, const Unit *u, bool stand_alone);
const char *render_params(const Writer *w, const Unit *u);
/* The same in front of other parameters: "int64_t n, int64_t h, ". */
const char *render_leading(const Writer *w, const Unit *u);
Writer render_writer(const Target *t, const Unit *u, Buf *b);
/* The host function of a kernel for extents at run time, for target c: emit_values.  Its
 * parameters with types, and their names alone. */
const char *render_values(const Target *t, const Unit *u, int values);
const char *render_parameters(const Target *t, const Unit *u);
const char *render_extents(const Target *t, const Unit *u);

/* render_file.c */
/* A file with the functions of n >= 1 units, whose names differ; each helper once. */
const char *render_file(const Target *t, const Unit *const *u, int n);
/* The header for this file.  guard: an identifier. */
const char *render_header(const Target *t, const Unit *const *u, int n, const char *guard);

/* render_jit.c */
/* The text of `u`.  Stand-alone: a file with head, prologue and the
 * helpers it uses; else for the JIT, where helpers are found by symbol. */
const char *render(const Target *t, const Unit *u, bool stand_alone);
/* The text of n functions of the kind EMIT_SPARSE for the JIT; prototypes: of what they call. */
const char *render_units(const Target *t, const Unit *const *u, int n, const char *prototypes);

/* emit_in_place.c */
/* A conversion within one buffer of `bytes` bytes.  block[i] is the function of pass i if that
 * pass converts blocks. */
typedef struct {
    const char *name, *head;
    i64 bytes;
    const InPlace *how;
    const Unit *block[IN_PLACE_PASSES];
} InPlaceUnit;
const char *render_in_place(const Target *t, Exprs *e, const InPlaceUnit *u);

/* emit_print.c: the statements of u in the text form of docs/ir/stmt.md. */
const char *emit_print(const Unit *u);

/* emit_jit.c */
/* For the JIT: the text; and if that has tables, what its function NAME_tables is to be
 * given, else NULL. */
typedef struct {
    const char *text;
    const int32_t *const *tables;
} JitText;
/* Only these are kept of what is made for them. */
JitText emit_jit(const Target *t, const Plan *p, const Request *rq);

/* command.c */
/* The line that says who made a file and that ravel's licence does not cover it. */
const char *emit_made(void);
/* The command that reproduces a file; `from` and `kind` may be NULL. */
const char *emit_command(Arena *a, const Target *t, const Request *rq,
                         const LayoutRef *from, const LayoutRef *to, const char *kind);
/* The options --from, --to, --shape and --dtype of a command; `from` may be NULL. */
const char *emit_options(Arena *a, const Request *rq, const LayoutRef *from,
                         const LayoutRef *to);
/* The name of the function of a plan; diag_fatal if the requested name is reserved in C
 * or in the target language. */
const char *emit_name(Arena *a, const Target *t, const Request *rq);
/* The same for a function of another kind: ravel_KIND, unless a name is requested. */
const char *emit_kind_name(Arena *a, const Target *t, const Request *rq, const char *kind);
/* A name made of both layouts with their parameters, the shape and the element type, as
 * nchw_to_nhwc_2x3x5x7_f32; NULL if a layout has no name or the result is no name. */
const char *emit_full_name(Arena *a, const Target *t, const Request *rq);

#endif
