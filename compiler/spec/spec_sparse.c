/* Levels of sparse formats as Lua values: dense(R), compressed(C, "nonunique").  The
 * functions that make them exist only while a table of sparse "NAME" is written, so that a
 * layout may have a dim named dense. */
#include <string.h>

#include "spec_parts.h"

static const char type_name[] = "ravel level";
static const char environment[] = "ravel.environment";

typedef struct {
    LevelDef level;
    const Ast *x;
} Level;

static const struct {
    const char *name;
    bool expression;
} kinds[] = {
#define LEVEL(name, text, expression) {text, expression},
#include "../layout/level.def"
#undef LEVEL
};

static void
read_word(Sandbox *s, Level *l, int index)
{
    const char *word = lua_type(s->L, index) == LUA_TSTRING ? lua_tostring(s->L, index)
                                                            : "";
    if (!strcmp(word, "nonunique"))
        l->level.repeats = true;
    else if (!strcmp(word, "unordered"))
        l->level.unordered = true;
    else
        luaL_error(s->L, "%s: its properties are the strings \"nonunique\" and "
                         "\"unordered\"", kinds[l->level.kind].name);
}

static int
make_level(Sandbox *s, LevelKind kind)
{
    int n = lua_gettop(s->L), first = 1 + kinds[kind].expression;
    Level l = {.level.kind = kind};
    l.x = kinds[kind].expression ? trace_get(s, 1) : ast_num(s->arena, 0, sandbox_where(s));
    if (!l.x)
        return luaL_error(s->L, "%s is written %s(R), with an expression of the dims",
                          kinds[kind].name, kinds[kind].name);
    if (n >= first && kind != LEVEL_COMPRESSED && kind != LEVEL_SINGLETON)
        return luaL_error(s->L, "%s takes %s", kinds[kind].name,
                          kinds[kind].expression ? "one expression" : "no argument");
    for (int i = first; i <= n; i++)
        read_word(s, &l, i);
    *(Level *)lua_newuserdatauv(s->L, sizeof l, 0) = l;
    luaL_setmetatable(s->L, type_name);
    return 1;
}

#define LEVEL(name, text, expression) \
    static int level_##name(Sandbox *s) { return make_level(s, LEVEL_##name); }
#include "../layout/level.def"
#undef LEVEL

static SpecFunction *const makers[] = {
#define LEVEL(name, text, expression) level_##name,
#include "../layout/level.def"
#undef LEVEL
};

void
spec_levels_define(Sandbox *s, bool on)
{
    lua_getfield(s->L, LUA_REGISTRYINDEX, environment);
    for (int i = 0; i < LEVEL_KINDS; i++) {
        if (on)
            sandbox_push(s, makers[i]);
        else
            lua_pushnil(s->L);
        lua_setfield(s->L, -2, kinds[i].name);
    }
    lua_pop(s->L, 1);
}

const LevelDef *
spec_level(Sandbox *s, int index, const Ast **x)
{
    const Level *l = luaL_testudata(s->L, index, type_name);
    *x = l ? l->x : NULL;
    return l ? &l->level : NULL;
}

/* Called with the environment on top. */
void
spec_levels_open(Sandbox *s)
{
    luaL_newmetatable(s->L, type_name);
    lua_pushboolean(s->L, 0);
    lua_setfield(s->L, -2, "__metatable");
    lua_pop(s->L, 1);
    lua_pushvalue(s->L, -1);
    lua_setfield(s->L, LUA_REGISTRYINDEX, environment);
}
