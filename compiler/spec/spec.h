/* spec.h: the spec language: Lua 5.4 in a sandbox, whose expressions are traced. */
#ifndef RAVEL_SPEC_H
#define RAVEL_SPEC_H

#include "../layout/layout.h"

/* spec_load.c */
/* The layouts that a spec text declares, in order, linked by next.  They live in `a`.
 * `name` is the name of the text in messages. */
LayoutDef *spec_load(Arena *a, const char *name, const char *text, size_t len);
/* spec_known.c: the layouts that a name can mean: of texts that a user loaded, and of the
 * spec files in the library, each of which is read when a name of it is wanted.  A Known
 * does not change, so its address tells whether a user has loaded more since. */
typedef struct Builtin Builtin;
typedef struct {
    const LayoutDef *loaded;       /* newest first, linked by next */
    _Atomic(Builtin *) *builtin;   /* the files read so far; NULL: there are none */
} Known;
/* The layout of this name, the newest; NULL: there is none.  diag_fatal of `a` if memory
 * runs out.  Any thread may call it. */
const LayoutDef *known_find(Arena *a, const Known *known, const char *name);
/* All of them in `a`, newest first; ends with NULL. */
const LayoutDef **known_all(Arena *a, const Known *known);
void known_free(Builtin *first);

/* spec.c */
/* A layout as written on a command line: NAME, NAME{P=1}, NAME(K,N){P=1}, {N, C//16, H, W,
 * C%16}, (R,C){C, R}, and part of a tensor of one: NHWC(8,56,56,64)[:, 1:3].  Names are
 * looked up in `known`; NULL: no name is known. */
const LayoutRef *spec_ref(Arena *a, const char *text, const Known *known);

/* The text of the same layout in an array with these strides, in elements, one for each
 * entry of its order; `origin` is the address of the first slot.  diag_fatal if the text
 * has strides already. */
const char *spec_strided(Arena *a, const char *text, int n, const i64 *stride, i64 origin);

/* The text of the same part of a tensor with these extents, or with these for the names among those
 * that it has; the text itself if it has no index. */
const char *spec_with_extents(Arena *a, const char *text, int n, const i64 *extent);
/* The text of the part of `text` that `of` is of its layout.  n extents: of the tensor of
 * `text`. */
const char *spec_reindexed(Arena *a, const char *text, int n, const i64 *extent,
                           const char *of);

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
