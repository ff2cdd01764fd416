/* spec_parts.h: what the files of the spec language share.  Other folders use spec.h. */
#ifndef RAVEL_SPEC_PARTS_H
#define RAVEL_SPEC_PARTS_H

#include <lua.h>
#include <lauxlib.h>

#include "spec.h"

/* One run of untrusted text.  Each run has a new Lua state. */
struct Sandbox {
    lua_State *L;
    Arena *arena;
    const char *file;             /* the name of the text in messages */
    bool plain;                   /* a target's table: no symbols, no layouts */
    LayoutDef *first, **last;     /* declared so far */
    const char *pending;          /* layout "X" without its table yet */
    Loc pending_loc;
    bool pending_sparse;          /* it is sparse "X" */
    const char *owner, *source, *version;   /* of the layouts that follow */
    bool reading;                 /* reading a layout, or running its functions */
    const char *seen[MAX_ENTRIES]; /* symbols in order of first use */
    int nseen;
    size_t live, total;           /* bytes allocated now, bytes requested in all */
    size_t counted, longest;      /* part of total counted as work; longest string */
    size_t held;                  /* bytes the arena held at the start */
    bool starved;                 /* the last refused allocation was within the budgets */
    bool arena_full;              /* the arena found no memory */
    bool limited;                 /* the limit of work is exceeded */
    bool running;                 /* the text has been read and runs now */
    bool spent;                   /* a budget is exceeded; pcall must not catch this */
    long instructions;
    double start;
};

/* A C function of the spec language.  A diag_fatal inside becomes a Lua error. */
typedef int SpecFunction(Sandbox *s);

/* spec_sandbox.c */
void sandbox_register(Sandbox *s, const char *name, SpecFunction *f);
void sandbox_push(Sandbox *s, SpecFunction *f);
/* The same with a number, which f gets from sandbox_number. */
void sandbox_register_with(Sandbox *s, const char *name, SpecFunction *f, int number);
int sandbox_number(Sandbox *s);
/* What a text finds besides plain Lua. */
typedef struct {
    void (*open)(Sandbox *s);      /* adds to the environment, which is on top of the stack */
    void (*push)(Sandbox *s);      /* pushes the value of `...` */
} Surroundings;
/* Run `text` in the sandbox, call `use` with its nresults results on the stack, then
 * close the state.  Errors are diag_fatal. */
void sandbox_run(Arena *a, const Surroundings *around, const char *file, const char *text,
                 size_t len, int nresults, void (*use)(Sandbox *s, void *arg), void *arg);

/* spec_load.c: those of a text in which layouts are written. */
extern const Surroundings spec_surroundings;

/* spec_state.c */
/* The current place of the running script; line 1 if none runs. */
Loc sandbox_where(Sandbox *s);
bool sandbox_is_name(const char *s);
/* The word of Lua that n characters are; NULL: none. */
const char *sandbox_reserved(const char *s, size_t n);
Sandbox *sandbox_of(lua_State *L);
/* Hides the metatable on top of the stack from texts. */
void sandbox_hide(lua_State *L);
/* What the text is, in messages. */
const char *sandbox_what(const Sandbox *s);

/* spec_environment.c */
/* The name of the prelude's chunk. */
#define SANDBOX_PRELUDE "=prelude"
/* Push the environment of a text; around is NULL for plain Lua. */
void environment_build(Sandbox *s, const Surroundings *around, const char *text, size_t len);
/* Whether the value on top of the stack is a function, or a library that every spec has. */
bool sandbox_is_given(lua_State *L);

/* spec_budget.c */
/* Bytes that a state may hold. */
enum { BUDGET_LIVE = 16 << 20 };
/* A new Lua state whose memory and time count from here; NULL: out of memory. */
lua_State *budget_state(Sandbox *s);
/* Counts instructions, work and time from here: the text begins to run. */
void budget_watch(Sandbox *s);
/* A Lua error if the expressions made take too much memory. */
void budget_check_arena(Sandbox *s);

/* spec_strings.c: replace the functions of the string library, and those of the base library that
 * make strings; the environment is on top of the stack. */
void strings_close(lua_State *L);
void strings_close_base(lua_State *L);

/* spec_source.c: facts about a text, computed before Lua reads it. */
typedef struct {
    int trap;             /* a line that Lua would compile wrongly; 0: none */
    i64 work;             /* upper bound of the parser's work in units */
    const char *most;     /* the construct with most of this work */
} SourceFacts;
SourceFacts source_facts(const char *text, size_t len);

/* spec_trace.c: expressions as Lua values. */
void trace_open(Sandbox *s);
/* The expression at a stack index; an integer, or a float with an integral value,
 * becomes a number.  NULL for any other value. */
const Ast *trace_get(Sandbox *s, int index);
bool trace_integer(lua_State *L, int index, i64 *v);
/* The result of a function of one argument, run on the symbol `a`.  It is also run on
 * numbers and the results are compared, to detect branches on the argument. */
const Ast *trace_function(Sandbox *s, int index);

/* spec_layout.c: the table of a layout. */
void spec_layout_open(Sandbox *s);
/* Read the table on top of the stack as a layout.  If it has no field `dims`, `order` is
 * its array part, and the dims are the symbols in order of first use. */
LayoutDef *spec_read_layout(Sandbox *s, const char *name, Loc loc, bool is_inline);
void spec_read_given(Sandbox *s, LayoutRef *ref);
/* Push the sentinel for `...`, the batch dims. */
void spec_push_batch(Sandbox *s);

/* spec_text.c: the parts of a layout's text. */
const char *text_after_blanks(const char *s);
/* The first character after the layout itself: @, ( or [, or the end of the text. */
const char *index_begin(const char *text);

/* spec_index_item.c: the items of an index. */
typedef struct {
    Arena *arena;
    const char *whole, *p;         /* the text, for messages; where reading goes on */
} IndexText;
/* Fail with the text and a mark at t->p. */
_Noreturn void index_fail(const IndexText *t, const char *why);
/* These read past blanks and a sign, a number, or a name.  False, NULL: it is not there. */
bool index_take(IndexText *t, const char *sign);
bool index_take_number(IndexText *t, i64 *v);
const char *index_take_name(IndexText *t);
/* Read what follows "[" to x. */
void index_take_items(IndexText *t, Index *x);

/* spec_index.c: the part of a layout's text that is an index. */
/* The layout of `of` with the extents and the indices at s, which is in `whole`. */
const LayoutRef *index_ref(Arena *a, const LayoutRef *of, const char *whole, const char *s);

/* spec_sparse.c: levels as Lua values, dense(R). */
void spec_levels_open(Sandbox *s);
/* Define, or with !on remove, the functions that make levels. */
void spec_levels_define(Sandbox *s, bool on);
/* The level at a stack index and its expression; NULL if there is none. */
const LevelDef *spec_level(Sandbox *s, int index, const Ast **x);

/* spec_rename.c */
/* Read the "(K,N)" at the start of `text`: ref gets a copy of its layout with these names
 * of the dims.  Returns what follows. */
const char *spec_read_dims(Arena *a, LayoutRef *ref, const char *text);

/* spec_fields.c: the fields of a layout's table. */
/* A table being read, at index `at` of the Lua stack. */
typedef struct {
    Sandbox *s;
    LayoutDef *def;
    int at;
    bool is_inline, sparse;
    const char *field;    /* the current field; its value is on top of the stack */
} Reader;

#define FAIL(r, ...) diag_fatal((r)->s->arena->diag, DIAG_SPEC, (r)->def->loc, __VA_ARGS__)

/* Read r->field; false if there is no field of this name. */
bool field_read(Reader *r);
/* The field with the most similar name, or NULL. */
const char *field_nearest(const char *name);
void field_open(Sandbox *s);

/* spec_check.c */
/* Fail unless the fields that were read make a layout. */
void spec_check(Reader *r);
/* A parameter of d, or one that all layouts have: bytes, bits. */
bool spec_is_param(const LayoutDef *d, const char *name);
/* Whether x is a name that is free to stand for a fill that each run is given. */
bool spec_names_fill(const LayoutDef *d, const Ast *x);
bool spec_mentions(const Ast *x, const char *name);
/* The table of this name; NULL: there is none. */
const Param *spec_table(const LayoutDef *d, const char *name);

#endif
