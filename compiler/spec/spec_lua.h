/* spec_lua.h: what the files that see Lua share: those of specs, and target.c and
 * burst_lua.c, which run a target's table in the same sandbox. */
#ifndef RAVEL_SPEC_LUA_H
#define RAVEL_SPEC_LUA_H

#include <lua.h>
#include <lauxlib.h>

#include "spec.h"

/* One run of untrusted text.  A fresh Lua state each time. */
typedef struct {
    lua_State *L;
    Arena *arena;
    const char *file;             /* what messages call the text */
    bool plain;                   /* a target's table: no symbols, no layouts */
    LayoutDef *first, **last;     /* declared so far */
    const char *pending;          /* layout "X" without its table yet */
    Loc pending_loc;
    bool reading;                 /* the fields of a layout, and running its functions */
    const char *seen[MAX_ENTRIES]; /* symbols in order of first use */
    int nseen;
    size_t live, total;           /* bytes held, bytes ever asked for */
    size_t counted, longest;      /* of total: as work; of a string */
    size_t held;                  /* bytes the arena held at the start */
    bool starved;                 /* what Lua was refused last was within the budgets */
    bool arena_full;              /* the arena found no memory */
    bool limited;                 /* its work is spent */
    bool running;                 /* read, and run now */
    bool spent;                   /* a budget or memory is gone: nothing may catch that */
    long instructions;
    double start;
} Sandbox;

/* A C function of the spec language.  A diag_fatal inside becomes a Lua error. */
typedef int SpecFunction(Sandbox *s);

/* spec_sandbox.c */
Sandbox *sandbox_of(lua_State *L);
void sandbox_register(Sandbox *s, const char *name, SpecFunction *f);
void sandbox_push(Sandbox *s, SpecFunction *f);
/* Run `text` with the closed environment; leaves nresults on the stack while
 * `use` runs, then closes everything.  Errors become diag_fatal. */
void sandbox_run(Arena *a, const char *file, const char *text, size_t len,
                 int nresults, void (*use)(Sandbox *s, void *arg), void *arg);
/* The same of a text that is plain Lua and returns one value: a target's table. */
void sandbox_plain(Arena *a, const char *file, const char *text,
                   void (*use)(Sandbox *s, void *arg), void *arg);
/* Where the running script is: line 1 when none is. */
Loc sandbox_where(Sandbox *s);
/* Call f(arg); a diag_fatal inside becomes a Lua error, so that false never comes
 * back. */
bool sandbox_try(Sandbox *s, void (*f)(void *), void *arg);
bool sandbox_is_name(const char *s);

/* spec_strings.c: called with the environment on top. */
void strings_close(lua_State *L);

/* spec_source.c: what is known of a text before Lua reads it. */
typedef struct {
    int trap;             /* the line of what Lua would compile wrongly; 0: nothing */
    i64 work;             /* units, with room: its parser has no hook */
    const char *most;     /* what most of them are for */
} SourceFacts;
SourceFacts source_facts(const char *text, size_t len);

/* spec_trace.c: expressions as Lua values. */
void trace_open(Sandbox *s);
void trace_push(Sandbox *s, const Ast *x);
/* The expression at a stack index; integers and floats that are whole become
 * numbers.  NULL when it is something else. */
const Ast *trace_get(Sandbox *s, int index);
bool trace_integer(lua_State *L, int index, i64 *v);
/* A function of one expression, run once on the symbol `a`, and compared with
 * itself on plain numbers so that a hidden branch cannot pass. */
const Ast *trace_function(Sandbox *s, int index);

/* spec_layout.c: the table of a layout. */
void spec_layout_open(Sandbox *s);
/* The table on top of the stack as a layout; `dims` NULL: `order` is its array
 * part and dims are the symbols in order of first use. */
LayoutDef *spec_read_layout(Sandbox *s, const char *name, Loc loc, bool is_inline);
void spec_read_given(Sandbox *s, LayoutRef *ref);
/* The batch sentinel that `...` stands for. */
void spec_push_batch(Sandbox *s);

#endif
