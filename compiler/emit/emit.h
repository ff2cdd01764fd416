/* emit.h: plans and layouts as a small statement tree, independent of the target
 * language; render.c writes it through the target's table. */
#ifndef RAVEL_EMIT_H
#define RAVEL_EMIT_H

#include "../decide/decide.h"
#include "../plan/plan.h"

/* A conversion that is asked for. */
typedef struct {
    const char *from, *to;         /* layout texts */
    const char *dtype;
    int rank;
    const i64 *shape;              /* RUNTIME_EXTENT where that is left to run time */
    const char *const *extent;     /* names of those, a dim each, alike where they are
                                    * equal; NULL: those of the dims */
    const char *name;              /* of the function; NULL: one is made */
} Request;

typedef enum {
    ST_COMMENT,           /* text */
    ST_FOR,               /* name from 0 to count - 1, step at a time: body */
    ST_ALONE,             /* body, by one thread only: the one that count falls on */
    ST_FENCE,             /* streamed stores are done */
    ST_CALL,              /* kernel(args) */
    ST_LET,               /* name = value */
    ST_SET,               /* out[index] = value */
    ST_CHECK,             /* return 0 unless least <= value <= most */
    ST_SAME,              /* return 0 unless value == other */
    ST_UNUSED,            /* the parameter `text` */
    ST_RETURN,            /* value */
    ST_WHEN,              /* body, where value is above 0 */
    ST_REFUSE,            /* return 1 unless least <= value <= most */
    ST_SIZE,              /* the size `text`, from value, in bits */
    ST_TIMES,             /* that size times value */
    ST_ROUND,             /* that size rounded up to a multiple of count */
    ST_FITS,              /* return 1 unless that size fits 64 bits */
    ST_BYTES,             /* *text = value */
    ST_DIVISOR            /* what it takes to divide by out[count], after that */
} StKind;

/* An argument of a kernel: a buffer at an offset, or a number. */
typedef struct {
    const char *buffer;   /* dst, src; NULL: just the value */
    const Ex *value;
    uint64_t pattern;     /* a bit pattern, when value is NULL */
} Arg;

typedef struct Stmt {
    StKind kind;
    const char *text;     /* ST_COMMENT; the name of ST_FOR, ST_LET */
    i64 count, step;      /* ST_FOR, ST_ALONE; index of ST_SET */
    bool split;           /* ST_FOR: threads share it, in runs of turns */
    const Ex *bound;      /* ST_FOR: instead of count, where that is not constant */
    const Ex *outer;      /* ST_FOR, split: turns of the outermost loop that is, which
                           * threads share where there are enough ... */
    bool inner;           /* ... and this one, inside, where there are not */
    const Ex *value, *other;
    const Ex **factor;    /* ST_LET: a product instead */
    int nfactors;
    i64 least, most;
    const Kernel *kernel;
    Arg arg[16];
    int nargs;
    struct Stmt *body, *next;
} Stmt;

/* Constants before the function. */
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
    bool split;           /* over threads: a function of a part, and one of all parts */
    Stmt *sizes;          /* where extents are left to run time: the function that
                           * checks them, and says how many bytes there are */
    Table *table;
    Stmt *body;
    Exprs *e;
} Unit;

/* emit_relayout.c */
Unit *emit_relayout(const Plan *p, const char *name, const char *command);
/* emit_extents.c: u of a plan with extents left to run time, its body made: names for
 * extents and scalars, what they are, and the sizes. */
void emit_extents(const Plan *p, Unit *u);
/* What the host computes for a kernel: so many blocks, and values, the first of which are
 * divided by, each of these with a multiplier and a shift after it. */
typedef struct {
    const Ex *blocks;
    i64 most;             /* blocks */
    const Ex *const *value;
    int n, ndivisors;
    int bits;             /* of the kernel's numbers: of 32, buffers have less than 2 GB */
} EmitValues;
Unit *emit_values(const Plan *p, const EmitValues *v, const char *name);
/* The identifiers of all scalars, extents first; no more are made. */
const char **emit_scalar_names(const Plan *p);
/* Lines of the comment on top about a layout. */
void emit_sizes_head(Buf *b, const char *what, const Sizes *z);
/* emit_index.c */
Unit *emit_offset(const Layout *l, const char *name, const char *command);
/* Whether a body does with signed numbers of 32 bits. */
bool emit_is_narrow(const Stmt *s);
/* diag_fatal when the layout has no inverse in closed form. */
Unit *emit_inverse(const Layout *l, const Verdict *v, const char *name,
                   const char *command);

/* emit.c: shared by the two */
Stmt *emit_add(Arena *a, Stmt ***tail, StKind kind);
/* Identifiers for variables: lower case, distinct, neither keyword nor macro: one
 * letter with digits, or ending in an underscore. */
const char *emit_identifier(Arena *a, const char *wish, const char *const *taken,
                            int n);
/* Whether s can name a function in C and C++ beside the C library. */
bool emit_is_identifier(const char *s);
void emit_layout_head(Buf *b, const char *what, const Layout *l);

#endif
