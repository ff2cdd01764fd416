/* The environment of a text: the parts of Lua's libraries that it may use, what surrounds it, and
 * the prelude. */
#define _GNU_SOURCE
#include <string.h>

#include <lualib.h>

#include "spec_parts.h"

static const char *const safe_base[] = {
    "assert", "error", "ipairs", "select", "tonumber", "tostring", "type", NULL};
static const char *const safe_string[] = {
    "byte", "char", "format", "len", "lower", "upper", "sub", "reverse", "rep", NULL};
static const char *const safe_table[] = {"concat", "insert", "remove", "unpack", NULL};
static const char *const safe_math[] = {
    "abs", "floor", "ceil", "max", "min", "tointeger", "type", "maxinteger",
    "mininteger", NULL};

/* Copy the named fields of the table on top of the stack to the one at `to`. */
static void
copy_fields(lua_State *L, int to, const char *const *names)
{
    for (; *names; names++) {
        lua_getfield(L, -1, *names);
        lua_setfield(L, to, *names);
    }
}

static void
open_base(lua_State *L, int env)
{
    luaL_requiref(L, "_G", luaopen_base, 0);
    copy_fields(L, env, safe_base);
    lua_settop(L, env);
    strings_close_base(L);
}

static void
open_library(lua_State *L, int env, const char *name, lua_CFunction open,
             const char *const *names)
{
    luaL_requiref(L, name, open, 0);
    lua_newtable(L);
    int to = lua_gettop(L);
    lua_pushvalue(L, -2);
    copy_fields(L, to, names);
    lua_settop(L, to);
    lua_pushvalue(L, to);
    lua_pushboolean(L, true);
    lua_rawset(L, LUA_REGISTRYINDEX);        /* for sandbox_is_given */
    lua_setfield(L, env, name);
    lua_settop(L, to - 2);
}

bool
sandbox_is_given(lua_State *L)
{
    if (lua_isfunction(L, -1))
        return true;
    lua_pushvalue(L, -1);
    bool is = lua_rawget(L, LUA_REGISTRYINDEX) == LUA_TBOOLEAN;
    lua_pop(L, 1);
    return is;
}

static bool
writes(const char *text, size_t len, const char *word)
{
    return memmem(text, len, word, strlen(word));
}

static bool
writes_one(const char *text, size_t len, const char *const *words)
{
    for (; *words; words++)
        if (writes(text, len, *words))
            return true;
    return false;
}

/* What a text may use.  To make all of it takes several times as long as to run an inline layout.
 * A text reaches its environment by the names that it writes, and the functions of strings also
 * by a string: one that it writes or joins, or that a function of the base library returns. */
typedef struct {
    bool base, string, table, math, prelude;
} Uses;

static Uses
uses_of(const char *text, size_t len)
{
    static const char *const strings[] = {"string", ".", ":", "\"", "'", "[[", "[=", NULL};
    static const char *const prelude[] = {"pairs", "xor", NULL};
    if (writes(text, len, "_ENV"))
        return (Uses){true, true, true, true, true};
    bool own = writes_one(text, len, prelude);     /* it uses the others itself */
    bool base = own || writes_one(text, len, safe_base);
    return (Uses){.base = base, .string = base || writes_one(text, len, strings), .table = writes(text, len, "table"),
                  .math = own || writes(text, len, "math"), .prelude = own};
}

/* The prelude is trusted: it may use functions that specs may not. */
static void
run_prelude(lua_State *L, int env)
{
    luaL_requiref(L, "_G", luaopen_base, 0);
    luaL_requiref(L, "table", luaopen_table, 0);
    if (luaL_loadbufferx(L, embed_prelude.text, embed_prelude.len,
                         SANDBOX_PRELUDE, "t") != LUA_OK)
        lua_error(L);
    lua_newtable(L);
    lua_getfield(L, env + 1, "next");
    lua_setfield(L, -2, "next");
    lua_getfield(L, env + 2, "sort");
    lua_setfield(L, -2, "sort");
    lua_getfield(L, env + 1, "type");
    lua_setfield(L, -2, "type");
    lua_getfield(L, env + 1, "error");
    lua_setfield(L, -2, "error");
    lua_pushvalue(L, env);
    lua_call(L, 2, 0);
    lua_settop(L, env);
}

void
environment_build(Sandbox *s, const Surroundings *around, const char *text, size_t len)
{
    lua_State *L = s->L;
    lua_newtable(L);
    int env = lua_gettop(L);
    Uses use = uses_of(text, len);
    if (use.base)
        open_base(L, env);
    if (use.string) {
        open_library(L, env, "string", luaopen_string, safe_string);
        strings_close(L);
    }
    if (use.table)
        open_library(L, env, "table", luaopen_table, safe_table);
    if (use.math)
        open_library(L, env, "math", luaopen_math, safe_math);
    if (around)
        around->open(s);
    if (use.prelude)
        run_prelude(L, env);
    if (!around) {
        lua_pushnil(L);
        lua_setfield(L, env, "xor");
    }
}
