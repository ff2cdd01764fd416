/* The string functions of specs.  Functions that loop without calling the instruction
 * hook are absent, and so are those that show an address: addresses differ between runs
 * and reveal the memory layout of the process. */
#include <string.h>

#include "spec_parts.h"

enum { REP_MAX = 1 << 16 };

/* The original function is the upvalue of its replacement. */
static int
call_real(lua_State *L)
{
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, lua_gettop(L) - 1, 1);
    return 1;
}

static int
limited_rep(lua_State *L)
{
    size_t len, sep = 0;
    luaL_checklstring(L, 1, &len);
    lua_Integer n = luaL_checkinteger(L, 2);
    luaL_optlstring(L, 3, "", &sep);
    size_t each = len + sep ? len + sep : 1;      /* nothing, often, takes time too */
    if (n > 0 && (size_t)n > REP_MAX / each)
        return luaL_error(L, "string.rep beyond %d bytes", REP_MAX);
    return call_real(L);
}

/* Only expressions have a text of their own; of the rest the type is all. */
static bool
has_text(lua_State *L, int i)
{
    int t = lua_type(L, i);
    if (t != LUA_TTABLE && t != LUA_TFUNCTION && t != LUA_TUSERDATA)
        return true;
    if (!luaL_getmetafield(L, i, "__tostring"))
        return false;
    lua_pop(L, 1);
    return true;
}

static int
plain_tostring(lua_State *L)
{
    luaL_checkany(L, 1);
    if (has_text(L, 1))
        return call_real(L);
    lua_pushstring(L, luaL_typename(L, 1));
    return 1;
}

static int
plain_format(lua_State *L)
{
    size_t n;
    const char *s = luaL_checklstring(L, 1, &n), *end = s + n;     /* zero bytes too */
    while ((s = memchr(s, '%', (size_t)(end - s)))) {
        s += 1 + strspn(s + 1, "-+ #0123456789.");
        if (*s == 'p')
            return luaL_error(L, "string.format: '%%p' is not for specs");
        s += s < end;
    }
    for (int i = 2; i <= lua_gettop(L); i++)
        if (!has_text(L, i)) {
            lua_pushstring(L, luaL_typename(L, i));
            lua_replace(L, i);
        }
    return call_real(L);
}

/* Replace a field of the table on top by f, with the original function as its upvalue. */
static void
replace(lua_State *L, const char *name, lua_CFunction f)
{
    lua_getfield(L, -1, name);
    lua_pushcclosure(L, f, 1);
    lua_setfield(L, -2, name);
}

void
strings_close_base(lua_State *L)
{
    replace(L, "tostring", plain_tostring);
}

void
strings_close(lua_State *L)
{
    int env = lua_gettop(L);
    lua_getfield(L, env, "string");
    replace(L, "rep", limited_rep);
    replace(L, "format", plain_format);
    /* ("x"):find must not reach the real library */
    lua_pushliteral(L, "");
    lua_getmetatable(L, -1);
    lua_pushvalue(L, -3);
    lua_setfield(L, -2, "__index");
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "__metatable");
    lua_settop(L, env);
}
