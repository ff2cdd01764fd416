/* render.h: write statement trees as text, by the table of a target. */
#ifndef RAVEL_RENDER_H
#define RAVEL_RENDER_H

#include "emit.h"

typedef struct Target Target;

/* target.c: read and check a table of templates/, which is trusted.  The result is in
 * `a` and is immutable.  diag_fatal if there is no table of this name. */
const Target *target_load(Arena *a, const char *name);
/* Read and check a table from a text, which is not trusted; `name` is its file, for
 * messages.  Its prologue may be in the field prologue_text.  diag_fatal, with the file
 * and the field, if a field is unknown, has a wrong value, uses an unknown ${name} or is
 * missing (target.def). */
const Target *target_read(Arena *a, const char *name, const char *text);
/* A field of the table: its text, the digits of a number, or, for emit_plan, the text of
 * the whole table.  NULL if the table lacks it. */
const char *target_text(const Target *t, const char *field);
const char *target_text_or(const Target *t, const char *field, const char *otherwise);
/* The operators of index expressions; those of C if the table has none. */
Spelling target_spelling(const Target *t);
/* A numeric field of target.def; its default if the table lacks it. */
int64_t target_number(const Target *t, const char *field);
/* Whether the field `reserved` forbids this name for a function: it has words, and
 * prefixes of words followed by a *. */
bool target_reserves(const Target *t, const char *name);
/* Its name in --target: cuda, mine.lua. */
const char *target_name(const Target *t);
/* Whether it has this model: "functions", written by render; "blocks", written by
 * grid_render; or "bursts", written by burst_emit. */
bool target_is(const Target *t, const char *model);
/* A function that emitted code may call, and the texts of the files that define it, in
 * order.  Each text is one string, even if several helpers name its file. */
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
/* `line` with each ${name} replaced; a name without a slot stays.  diag_fatal if the
 * result is too long: an untrusted table may repeat a name. */
const char *render_line(Arena *a, const char *line, const Slot *slot, int n);
/* Write the comment at the top of a file: the lines of text. */
void render_head(Buf *b, const Target *t, const char *text);
/* Write the files of the helpers that `body` mentions, each file once. */
void render_helpers(Buf *b, const Target *t, const char *body);
/* The text of `u`.  Stand-alone: a file with head, prologue and the
 * helpers it uses; else for the JIT, where helpers are found by symbol. */
const char *render(const Target *t, const Unit *u, bool stand_alone);

/* emit_print.c: the statements of u in the text form of docs/ir/stmt.md. */
const char *emit_print(const Unit *u);

/* command.c */
/* The command that reproduces a file; `from` and `kind` may be NULL. */
const char *emit_command(Arena *a, const Request *rq, const LayoutRef *from,
                         const LayoutRef *to, const char *kind);
/* " --flag value" as a POSIX shell reads it, in characters that a comment can hold. */
const char *emit_option(Arena *a, const char *flag, const char *value);
/* The name of the function of a plan; diag_fatal if the requested name is reserved in C
 * or in the target language. */
const char *emit_name(Arena *a, const Target *t, const Request *rq);

#endif
