/* spec.h: the spec language: Lua 5.4 in a sandbox, whose expressions are traced. */
#ifndef RAVEL_SPEC_H
#define RAVEL_SPEC_H

#include "../layout/layout.h"

/* spec.c */
/* The layouts that a spec text declares, in order, linked by next.  They live in `a`.
 * `name` is the name of the text in messages. */
LayoutDef *spec_load(Arena *a, const char *name, const char *text, size_t len);
/* A layout as written on a command line: NAME, NAME{P=1}, NAME(K,N){P=1}, {N, C//16, H, W,
 * C%16}, (R,C){C, R}.  Names are looked up in `known`, newest first. */
const LayoutRef *spec_ref(Arena *a, const char *text, const LayoutDef *known);

/* spec_sandbox.c: run a text in plain Lua that returns one value, a target's table, and
 * call `use` with that value on the stack.  Errors are diag_fatal. */
typedef struct Sandbox Sandbox;
void sandbox_plain(Arena *a, const char *file, const char *text,
                   void (*use)(Sandbox *s, void *arg), void *arg);
struct lua_State *sandbox_lua(Sandbox *s);
/* Call f(arg) from Lua.  A diag_fatal in it becomes a Lua error, so the function never
 * returns false. */
bool sandbox_try(Sandbox *s, void (*f)(void *), void *arg);

#endif
