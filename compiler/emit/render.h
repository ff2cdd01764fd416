/* render.h: statement trees as text, through the table of a target. */
#ifndef RAVEL_RENDER_H
#define RAVEL_RENDER_H

#include "emit.h"

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

/* The host's function of a kernel for extents at run time, for target c: emit_values.  Its
 * parameters, and their names alone. */
const char *render_values(const Target *t, const Unit *u, int values);
const char *render_parameters(const Target *t, const Unit *u);
const char *render_extents(const Target *t, const Unit *u);

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
