/* emit.h: plans and layouts as a small statement tree, independent of the target
 * language; render.c writes it through the target's table. */
#ifndef RAVEL_EMIT_H
#define RAVEL_EMIT_H

#include "decide.h"
#include "plan.h"

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
    ST_RETURN             /* value */
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
    const Ex *value, *other;
    i64 least, most;
    const Kernel *kernel;
    Arg arg[12];
    int nargs;
    struct Stmt *body, *next;
} Stmt;

typedef enum { EMIT_RELAYOUT, EMIT_OFFSET, EMIT_INVERSE } EmitKind;

typedef struct {
    EmitKind kind;
    const char *name;     /* of the function: a checked identifier */
    const char *head;     /* lines of the comment on top */
    const char *note;     /* a line for the function's own comment */
    const char **param;   /* names: the dims of EMIT_OFFSET */
    int nparams;
    bool split;           /* over threads: a function of a part, and one of all parts */
    Stmt *body;
    Exprs *e;
} Unit;

/* emit_relayout.c */
Unit *emit_relayout(const Plan *p, const char *name, const char *command);
/* emit_index.c */
Unit *emit_offset(const Layout *l, const char *name, const char *command);
/* diag_fatal when the layout has no inverse in closed form. */
Unit *emit_inverse(const Layout *l, const Verdict *v, const char *name,
                   const char *command);

/* emit.c: shared by the two */
Stmt *emit_add(Arena *a, Stmt ***tail, StKind kind);
/* Identifiers for variables: lower case, distinct, neither keyword nor macro: one
 * letter with digits, or ending in an underscore. */
const char *emit_identifier(Arena *a, const char *wish, const char *const *taken,
                            int n);
/* Whether s can name a function in C, C++, CUDA and OpenCL beside the C library. */
bool emit_is_identifier(const char *s);
void emit_layout_head(Buf *b, const char *what, const Layout *l);

#endif
