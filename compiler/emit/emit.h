/* emit.h: translate plans and layouts to a statement tree that is independent of the
 * target language.  render.c writes the tree with the texts of a target's table.
 * docs/ir/stmt.md describes the tree. */
#ifndef RAVEL_EMIT_H
#define RAVEL_EMIT_H

#include "../decide/decide.h"
#include "../plan/plan.h"

/* A requested conversion. */
typedef struct {
    const char *from, *to;         /* layout texts */
    const char *dtype;
    int rank;
    const i64 *shape;              /* RUNTIME_EXTENT: left to run time */
    const char *const *extent;     /* name of the run-time extent of each dim; extents
                                    * with one name are equal; NULL: the dims' names */
    const char *name;              /* of the function; NULL: a default */
} Request;

typedef enum {
    ST_COMMENT,           /* text */
    ST_FOR,               /* name from 0 to count - 1, step at a time: body */
    ST_ALONE,             /* body, by one thread only: number count % threads */
    ST_FENCE,             /* wait until non-temporal stores are complete */
    ST_CALL,              /* kernel(args) */
    ST_LET,               /* name = value */
    ST_SET,               /* out[index] = value */
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
    ST_BYTES              /* *text = value */
} StKind;

/* An argument of a kernel: a buffer at an offset, or a number. */
typedef struct {
    const char *buffer;   /* dst, src; NULL: the argument is `value` alone */
    const Ex *value;
    uint64_t pattern;     /* a bit pattern; if value is NULL */
} Arg;

typedef struct Stmt {
    StKind kind;
    const char *text;     /* ST_COMMENT; the name of ST_FOR, ST_LET */
    i64 count, step;      /* ST_FOR, ST_ALONE; index of ST_SET */
    bool split;           /* ST_FOR: threads share the iterations, in runs */
    const Ex *bound;      /* ST_FOR: instead of count, if that is not constant */
    const Ex *outer;      /* ST_FOR, split: iterations of the outermost split loop;
                           * threads share that loop if they are fewer ... */
    bool inner;           /* ... and else this loop, inside of it */
    const Ex *value, *other;
    const Ex **factor;    /* ST_LET: a product instead */
    int nfactors;
    i64 least, most;
    const Kernel *kernel;
    Arg arg[16];
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
    EMIT_RELAYOUT, EMIT_OFFSET, EMIT_INVERSE, EMIT_LOAD, EMIT_STORE
} EmitKind;

typedef struct {
    EmitKind kind;
    const char *name;     /* of the function: a checked identifier */
    const char *head;     /* lines of the comment on top */
    const char *note;     /* a line for the function's own comment */
    const char **param;   /* names: the dims of EMIT_OFFSET, extents of a relayout */
    int nparams;
    bool split;           /* threads share it: a function for a part, one for all */
    Stmt *sizes;          /* for run-time extents: the function that checks them and
                           * computes the sizes of both buffers in bytes */
    Table *table;
    Stmt *body;
    Exprs *e;
} Unit;

/* emit_relayout.c */
Unit *emit_relayout(const Plan *p, const char *name, const char *command);
/* emit_extents.c: complete u, whose body is made, for a plan with run-time extents: the
 * names and definitions of extents and scalars, and the sizes. */
void emit_extents(const Plan *p, Unit *u);
/* The identifiers of all scalars, extents first; no scalar may be added afterwards. */
const char **emit_scalar_names(const Plan *p);
/* Add lines about a layout to the comment at the top. */
void emit_sizes_head(Buf *b, const char *what, const Sizes *z);
/* emit_index.c */
Unit *emit_offset(const Layout *l, const char *name, const char *command);
/* Whether signed numbers of 32 bits suffice for the statements. */
bool emit_is_narrow(const Stmt *s);
/* diag_fatal if the layout has no inverse in closed form. */
Unit *emit_inverse(const Layout *l, const Verdict *v, const char *name,
                   const char *command);

/* emit.c: used by both */
Stmt *emit_add(Arena *a, Stmt ***tail, StKind kind);
/* An identifier for a variable, near to `wish` and different from the n taken ones.  It
 * is lower case, and neither a keyword nor a macro: one letter with digits, or a name
 * that ends in an underscore. */
const char *emit_identifier(Arena *a, const char *wish, const char *const *taken,
                            int n);
/* Whether s can name a function in C and C++ without a conflict with the C library. */
bool emit_is_identifier(const char *s);
void emit_layout_head(Buf *b, const char *what, const Layout *l);

#endif
