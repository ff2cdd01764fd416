/* Target tables: templates/NAME.lua, read once into plain strings. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <lauxlib.h>
#include <lua.h>

#include "../spec/spec.h"
#include "target.h"

const char *
target_kernel_file(const Target *t, Arena *a, const char *where, const char *file)
{
    const char *text = target_template(a, arena_printf(a, "%.100s%s", where, file));
    if (!text)
        target_fail(t, a, "field 'kernels': there is no template '%.100s%s'", where, file);
    return text;
}

bool
target_is(const Target *t, const char *model)
{
    return t->model == field_model(model);
}

int64_t
target_number(const Target *t, const char *field)
{
    const char *s = target_text(t, field);
    return s ? strtoll(s, NULL, 10) : field_of(~0u, field)->otherwise;
}

/* A table being read. */
typedef struct {
    Arena *a;
    Target *t;
    lua_State *L;
    const char *text;
    const char *like, *model;      /* what this one says; NULL: nothing */
} Load;

/* The length of the table on top; -1 unless its keys are 1 to this length. */
static int
list_length(lua_State *L)
{
    lua_Integer n = 0, last = 0;
    for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1), n++) {
        lua_Integer at = lua_isinteger(L, -2) ? lua_tointeger(L, -2) : 0;
        if (at < 1 || at > INT_MAX) {
            lua_pop(L, 2);
            return -1;
        }
        last = at > last ? at : last;
    }
    return last == n ? (int)n : -1;
}

/* { "symbol", "file", ... } */
static void
read_helper(Load *l, TargetHelper *h, lua_State *L)
{
    int n = lua_istable(L, -1) ? list_length(L) : -1;
    if (n < 2 || n > 1 + HELPER_FILES)
        target_fail(l->t, l->a, "field 'helpers': each is a list of a symbol and up to "
                    "%d files", HELPER_FILES);
    for (int i = 0; i < n; i++) {
        lua_rawgeti(L, -1, i + 1);
        if (lua_type(L, -1) != LUA_TSTRING)
            target_fail(l->t, l->a, "field 'helpers': each is a list of strings, and one "
                        "has a %s", luaL_typename(L, -1));
        const char *s = arena_string(l->a, lua_tostring(L, -1));
        if (i == 0)
            h->symbol = s;
        else
            h->file[h->nfiles++] = s;
        lua_pop(L, 1);
    }
}

static void
read_helpers(Load *l, lua_State *L)
{
    Target *t = l->t;
    int n = list_length(L);
    if (n < 0)
        target_fail(t, l->a, "field 'helpers' is a list: entries 1, 2, ..., none left out "
                    "and none by name");
    for (int i = 1; i <= n; i++) {
        lua_rawgeti(L, -1, i);
        if (t->nhelpers == TARGET_HELPERS)
            target_fail(t, l->a, "field 'helpers': more than %d", TARGET_HELPERS);
        read_helper(l, &t->helper[t->nhelpers++], L);
        lua_pop(L, 1);
    }
}

/* The string of lua_tolstring, if it is valid text. */
static const char *
text_of(Load *l, lua_State *L, int at)
{
    size_t n;
    const char *s = lua_tolstring(L, at, &n);
    return strlen(s) == n && utf8_is_text(s, n) ? arena_string(l->a, s) : NULL;
}

/* A string; a number in its digits; of the function emit_plan all that it needs, which
 * is the text that it stands in.  What the field cannot be is left to target_check. */
static TargetField
entry_of(Load *l, lua_State *L, const char *key)
{
    const Field *f = field_of(~0u, key);
    bool number = f && f->kind == FIELD_NUMBER, plan = f && f->kind == FIELD_PLAN;
    bool list = f && f->kind == FIELD_HELPERS;
    if (plan && lua_isfunction(L, -1))
        return (TargetField){key, l->text, NULL};
    if (number && lua_isinteger(L, -1))
        return (TargetField){key, arena_printf(l->a, "%lld", (long long)lua_tointeger(L, -1)),
                       NULL};
    if (!plan && !list && lua_type(L, -1) == LUA_TSTRING)
        return (TargetField){key, text_of(l, L, -1), NULL};
    return (TargetField){key, NULL, luaL_typename(L, -1)};
}

static const char *
key_of(Load *l, lua_State *L)
{
    if (lua_type(L, -2) != LUA_TSTRING)
        target_fail(l->t, l->a, "a field has no name, but a %s", luaL_typename(L, -2));
    const char *key = text_of(l, L, -2);
    if (!key)
        target_fail(l->t, l->a, "the name of a field is no text in UTF-8");
    return key;
}

static void
read_fields(Load *l, lua_State *L)
{
    Target *t = l->t;
    for (lua_pushnil(L); lua_next(L, 1); lua_pop(L, 1)) {
        const char *key = key_of(l, L);
        TargetField en = entry_of(l, L, key);
        if (!strcmp(key, "like"))
            l->like = en.value;
        if (!strcmp(key, "model"))
            l->model = en.value;
        if (!strcmp(key, "helpers") && lua_istable(L, -1))
            read_helpers(l, L);
        if (target_entry(t, key))
            continue;
        if (t->nfields == TARGET_FIELDS_MAX)
            target_fail(t, l->a, "more than %d fields", TARGET_FIELDS_MAX);
        t->field[t->nfields++] = en;
    }
}

static void
read_it(void *arg)
{
    Load *l = arg;
    if (lua_gettop(l->L) != 1 || !lua_istable(l->L, 1))
        target_fail(l->t, l->a, "no table is returned");
    read_fields(l, l->L);
}

static void
read_table(Sandbox *s, void *arg)
{
    Load *l = arg;
    l->L = sandbox_lua(s);
    lua_replace(l->L, 1);
    lua_settop(l->L, 1);
    sandbox_try(s, read_it, l);
}

/* Add the missing fields from the table named by `like`, which may name another one. */
static void
read_like(Load *l, const char *like)
{
    const char *model = l->model;
    bool own = target_text(l->t, "prologue_text") || target_text(l->t, "prologue");
    l->text = target_template(l->a, arena_printf(l->a, "%.40s.lua", like));
    if (!l->text)
        target_fail(l->t, l->a, "like = '%.40s': a target is wanted, one of %s", like,
                    target_names(l->a));
    l->like = NULL;
    sandbox_plain(l->a, l->t->name, l->text, read_table, l);
    if (model && l->model && strcmp(model, l->model))
        target_fail(l->t, l->a, "like = '%.40s': its model is '%s', and this table's is "
                    "'%.40s'", like, l->model, model);
    if (!own)
        l->t->prologue = target_text(l->t, "prologue_text");
    if (l->like)
        read_like(l, l->like);
}

static int
by_key(const void *p, const void *q)
{
    return strcmp(((const TargetField *)p)->key, ((const TargetField *)q)->key);
}

const Target *
target_read(Arena *a, const char *name, const char *text)
{
    Load l = {.a = a, .t = arena_new(a, Target), .text = text};
    l.t->name = name;
    sandbox_plain(a, name, text, read_table, &l);
    l.t->both = target_text(l.t, "prologue_text") && target_text(l.t, "prologue");
    l.t->prologue = target_text(l.t, "prologue_text");
    if (l.like)
        read_like(&l, l.like);
    qsort(l.t->field, (size_t)l.t->nfields, sizeof *l.t->field, by_key);
    target_check(l.t, a);
    return l.t;
}

const Target *
target_load(Arena *a, const char *name)
{
    const char *text = target_template(a, arena_printf(a, "%s.lua", name));
    if (!text)
        diag_fatal(a->diag, DIAG_ARGUMENT, (Loc){0}, "there is no target '%.40s'", name);
    return target_read(a, name, text);
}
