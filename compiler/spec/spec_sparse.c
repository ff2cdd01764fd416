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
} WrittenLevel;

static void
read_word(Sandbox *s, WrittenLevel *l, int index)
{
    const char *word = lua_type(s->L, index) == LUA_TSTRING ? lua_tostring(s->L, index)
                                                            : "";
    if (!strcmp(word, "nonunique"))
        l->level.repeats = true;
    else if (!strcmp(word, "unordered"))
        l->level.unordered = true;
    else
        luaL_error(s->L, "%s: its properties are the strings \"nonunique\" and "
                         "\"unordered\"", level_words[l->level.kind].name);
}

/* What was wrong in the arguments of a level, and how it is written. */
static int
wrong(Sandbox *s, const LevelWord *word)
{
    static const char *const numbers[] = {[NUMBER_NO] = "", [NUMBER_MAY] = "[, 8]",
                                          [NUMBER_YES] = ", 8"};
    return luaL_error(s->L, "%s is written %s(%s%s%s)", word->name, word->name,
                      word->expression ? "R" : "",
                      numbers[word->number] + (word->expression ? 0 : 2 * (word->number > 0)),
                      word->order ? "[, { R, C // 8 }]" : "");
}

/* A list of expressions at the stack index. */
static bool
read_list(Sandbox *s, LevelDef *l, int index)
{
    int n = (int)lua_rawlen(s->L, index);
    l->order = arena_array(s->arena, const Ast *, n + 1);
    if (n < 1 || n >= MAX_ENTRIES)
        return false;
    for (; l->norder < n; l->norder++) {
        lua_rawgeti(s->L, index, l->norder + 1);
        l->order[l->norder] = trace_get(s, -1);
        lua_pop(s->L, 1);
        if (!l->order[l->norder])
            return false;
    }
    return true;
}

static int
make_level(Sandbox *s)
{
    LevelKind kind = (LevelKind)sandbox_number(s);
    const LevelWord *word = &level_words[kind];
    int n = lua_gettop(s->L), first = 1 + word->expression;
    WrittenLevel l = {.level.kind = kind};
    l.x = word->expression ? trace_get(s, 1) : ast_num(s->arena, 0, sandbox_where(s));
    if (!l.x)
        return luaL_error(s->L, "%s is written %s(R), with an expression of the dims",
                          word->name, word->name);
    if (word->number && n >= first && !(l.level.number = trace_get(s, first++)))
        return wrong(s, word);
    if (word->number == NUMBER_YES && !l.level.number)
        return wrong(s, word);
    if (word->order && lua_istable(s->L, first) && !read_list(s, &l.level, first++))
        return wrong(s, word);
    bool words = kind == LEVEL_COMPRESSED || kind == LEVEL_SINGLETON;
    if (n >= first && !words)
        return word->number ? wrong(s, word) : luaL_error(s->L, "%s takes %s", word->name,
                          word->expression ? "one expression" : "no argument");
    for (int i = first; i <= n; i++)
        read_word(s, &l, i);
    *(WrittenLevel *)lua_newuserdatauv(s->L, sizeof l, 0) = l;
    luaL_setmetatable(s->L, type_name);
    return 1;
}

void
spec_levels_define(Sandbox *s, bool on)
{
    lua_getfield(s->L, LUA_REGISTRYINDEX, environment);
    for (int i = 0; i < LEVEL_KINDS; i++)
        if (on) {
            sandbox_register_with(s, level_words[i].name, make_level, i);
        } else {
            lua_pushnil(s->L);
            lua_setfield(s->L, -2, level_words[i].name);
        }
    lua_pop(s->L, 1);
}

const LevelDef *
spec_level(Sandbox *s, int index, const Ast **x)
{
    const WrittenLevel *l = luaL_testudata(s->L, index, type_name);
    *x = l ? l->x : NULL;
    return l ? &l->level : NULL;
}

/* Called with the environment on top. */
void
spec_levels_open(Sandbox *s)
{
    luaL_newmetatable(s->L, type_name);
    sandbox_hide(s->L);
    lua_pop(s->L, 1);
    lua_pushvalue(s->L, -1);
    lua_setfield(s->L, LUA_REGISTRYINDEX, environment);
}
