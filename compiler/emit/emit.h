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
    ST_BYTES              /* *text = value */
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

/* Statement trees as text, through the table of a target. */

typedef struct Target Target;

/* target.c: read and check a table of templates/ (our own, trusted); lives in
 * `a`, read-only from then on.  diag_fatal when there is none by that name. */
const Target *target_load(Arena *a, const char *name);
/* The same of a text, which is not trusted; `name` is its file, for messages.  Its
 * prologue may be in it, as prologue_text.  diag_fatal, in a sentence that names file and
 * field, where one is misspelt, is not what it should be, names what it cannot or is not
 * there (target.def). */
const Target *target_read(Arena *a, const char *name, const char *text);
/* A field of the table, a number in its digits; of emit_plan the table's whole text.
 * NULL where the table has none. */
const char *target_text(const Target *t, const char *field);
const char *target_text_or(const Target *t, const char *field, const char *otherwise);
/* How it spells expressions; as C where it does not say. */
Spelling target_spelling(const Target *t);
/* A number of the table: one that target.def has, or what that says where it is not
 * there. */
int64_t target_number(const Target *t, const char *field);
/* Whether no function can be called this, by the field `reserved`: words, and beginnings
 * of words with a * after them. */
bool target_reserves(const Target *t, const char *name);
/* What it is asked for by: cuda, mine.lua. */
const char *target_name(const Target *t);
/* Whether it is of "functions", which render writes, of "blocks" of threads, for
 * grid_render, or of "bursts", for burst_emit. */
bool target_is(const Target *t, const char *model);
/* A function that emitted code may call, and the files it is made of, in order; their
 * texts, each one string however often it is named. */
enum { HELPER_FILES = 8, TARGET_HELPERS = 48,
       TARGET_FILES_MAX = TARGET_HELPERS * HELPER_FILES };
typedef struct {
    const char *symbol, *file[HELPER_FILES];
    int nfiles;
} TargetHelper;
/* The helper number i; NULL past the last. */
const TargetHelper *target_helper(const Target *t, int i);
/* The text of the template that a field names. */
const char *target_file(const Target *t, const char *field);

/* The value of ${name} in a line of a table. */
typedef struct {
    const char *name, *value;
} Slot;

/* render.c */
/* `line` with each ${name} replaced; a name without a slot stays.  diag_fatal where it
 * becomes too long: a table that is not trusted may name one often. */
const char *render_line(Arena *a, const char *line, const Slot *slot, int n);
/* The comment on top of a file: the lines of text. */
void render_head(Buf *b, const Target *t, const char *text);
/* The files that `body` needs, each once: those of every helper it mentions. */
void render_helpers(Buf *b, const Target *t, const char *body);
/* The text of `u`.  Stand-alone: a file with head, prologue and the
 * helpers it uses; else for the JIT, where helpers are found by symbol. */
const char *render(const Target *t, const Unit *u, bool stand_alone);

/* emit_print.c: u's statements, as docs/ir/stmt.md has them. */
const char *emit_print(const Unit *u);

/* command.c */
/* The command that makes a file again; from, kind: NULL: not said. */
const char *emit_command(Arena *a, const Request *rq, const LayoutRef *from,
                         const LayoutRef *to, const char *kind);
/* " --flag value" as a POSIX shell reads it, in characters that a comment can hold. */
const char *emit_option(Arena *a, const char *flag, const char *value);
/* The name that the function of a plan gets; diag_fatal where what was asked for means
 * something in C or in the target's language. */
const char *emit_name(Arena *a, const Target *t, const Request *rq);

#endif
