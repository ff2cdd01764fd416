/* Target tables: templates/NAME.lua, read once into plain strings. */
#include <stdlib.h>
#include <string.h>

#include "embed.h"
#include "render.h"
#include "spec_lua.h"

enum { MAX_FIELDS = 128 };

struct Target {
    int nfields, nhelpers;
    const char *name;
    const char *prologue; /* the text itself, of a table of the user's */
    struct { const char *key, *value; } field[MAX_FIELDS];
    TargetHelper helper[TARGET_HELPERS];
};

/* What every table must have, and all that is ever asked of one; checked once, when
 * it is read. */
static const char *const always[] = {"name", "model"};
/* ... of all that is written statement by statement. */
static const char *const common[] = {
    "div", "mod", "xor", "and", "min", "max", "comment_open",
    "comment_line", "comment_close", "comment", "for_open", "for_close", "close",
    "prologue", "let", "set", "check", "same", "unused", "ret", "offset_open",
    "inverse_open", "index_close", "param", "no_params",
};
static const char *const functions[] = {
    "for_step", "for_split", "for_split_step", "alone_open", "alone_close", "fence",
    "call", "table_open", "table_close", "buffer", "pattern", "relayout_open",
    "part_open", "parts", "jit_prologue", "refuse", "size", "times", "round", "fits",
    "bytes", "when_open", "when_close", "for_outer", "for_inner", "for_inner_step",
    "sizes_open", "runtime_open", "runtime", "runtime_jit", "element",
};

static const char *const blocks[] = {
    "index", "index_wide", "type1", "type2", "type4", "type8", "type16", "kernel_open",
    "shared", "box_first", "box_open", "box_only", "box_close", "block", "block_first",
    "phase_open", "phase_close", "barrier", "when_open", "when_close", "constant",
    "assign", "variable", "put", "load_dst", "array", "load", "load_shared", "store",
    "store_shared", "vector2",
    "vector4", "permute", "nibbles_low", "nibbles_high",
};
static const char *const bursts[] = {
    "emit_plan", "burst", "memory", "comment_open", "comment_line", "comment_close",
};

/* What a table may say in digits. */
static const struct {
    const char *name;
    int64_t otherwise, least, most;
} numbers[] = {
    {"access_least", 1, 1, 4},
    {"index_bits", 64, 32, 64},
    {"shared_most", 48 << 10, 0, 48 << 10},
    {"grid_side", INT32_MAX, 1, INT32_MAX},
};

static const struct {
    const char *name;
    const char *const *field;
    int n;
    bool statements;
} models[] = {
    {"functions", functions, LEN(functions), true},   /* render.c */
    {"blocks", blocks, LEN(blocks), true},            /* grid_render.c */
    {"bursts", bursts, LEN(bursts), false},           /* burst_lua.c */
};
static const char *const files[] = {"prologue", "jit_prologue"};

static const char *
find_file(const char *name)
{
    static const char folder[] = "templates/";
    for (const Embedded *f = embed_templates; f->name; f++)
        if (!strncmp(f->name, folder, sizeof folder - 1) &&
            !strcmp(f->name + sizeof folder - 1, name))
            return f->text;
    return NULL;
}

static const char *
find_field(const Target *t, const char *field)
{
    for (int i = 0; i < t->nfields; i++)
        if (!strcmp(t->field[i].key, field))
            return t->field[i].value;
    return NULL;
}

const char *
target_file(const Target *t, const char *field)
{
    return t->prologue && !strcmp(field, "prologue") ? t->prologue
                                                     : find_file(target_text(t, field));
}

const char *
target_text(const Target *t, const char *field)
{
    return find_field(t, field);
}

const char *
target_text_or(const Target *t, const char *field, const char *otherwise)
{
    const char *s = find_field(t, field);
    return s ? s : otherwise;
}

Spelling
target_spelling(const Target *t)
{
    return (Spelling){
        target_text_or(t, "div", "/"), target_text_or(t, "mod", "%"),
        target_text_or(t, "xor", "^"), target_text_or(t, "and", "&"),
        target_text_or(t, "min", "min"), target_text_or(t, "max", "max"),
        .suffix = target_text_or(t, "suffix", "")};
}

const char *
target_name(const Target *t)
{
    return t->name;
}

bool
target_is(const Target *t, const char *model)
{
    return !strcmp(find_field(t, "model"), model);
}

const TargetHelper *
target_helper(const Target *t, int i)
{
    return i < t->nhelpers ? &t->helper[i] : NULL;
}

int64_t
target_number(const Target *t, const char *field)
{
    int i = 0;
    while (strcmp(numbers[i].name, field))
        i++;
    const char *s = find_field(t, field);
    return s ? strtoll(s, NULL, 10) : numbers[i].otherwise;
}

bool
target_reserves(const Target *t, const char *name)
{
    const char *s = find_field(t, "reserved");
    for (size_t n = 0; s && *s; s += n + strspn(s + n, " ")) {
        n = strcspn(s, " ");
        bool start = n && s[n - 1] == '*';
        if (!strncmp(s, name, n - start) && (start || !name[n]))
            return true;
    }
    return false;
}

_Noreturn static void
fail(Arena *a, const char *what, const char *name)
{
    diag_fatal(a->diag, DIAG_ARGUMENT, (Loc){0}, "target: %s '%s'", what, name);
}

static void
check_fields(Target *t, Arena *a, const char *const *field, int n)
{
    for (int i = 0; i < n; i++)
        if (!find_field(t, field[i]) && !(t->prologue && !strcmp(field[i], "prologue")))
            fail(a, "the table lacks", field[i]);
}

static void
check_numbers(Target *t, Arena *a)
{
    for (int i = 0; i < LEN(numbers); i++) {
        const char *s = find_field(t, numbers[i].name);
        int64_t v = target_number(t, numbers[i].name);
        if (s && (!*s || s[strspn(s, "0123456789")] || v < numbers[i].least ||
                  v > numbers[i].most || (numbers[i].most <= 64 && (v & (v - 1)))))
            fail(a, "not such a number", numbers[i].name);
    }
}

static void
check(Target *t, Arena *a)
{
    int known = 0;
    check_numbers(t, a);
    check_fields(t, a, always, LEN(always));
    for (int i = 0; i < LEN(models); i++)
        if (target_is(t, models[i].name)) {
            if (models[i].statements)
                check_fields(t, a, common, LEN(common));
            check_fields(t, a, models[i].field, models[i].n);
            known = 1;
        }
    if (!known)
        fail(a, "there is no model", target_text(t, "model"));
    for (int i = 0; i < LEN(files); i++)
        if (find_field(t, files[i]) && !target_file(t, files[i]))
            fail(a, "no template", files[i]);
    for (int i = 0; i < t->nhelpers; i++)
        for (int f = 0; f < t->helper[i].nfiles; f++) {
            const char *text = find_file(t->helper[i].file[f]);
            if (!text)
                fail(a, "no template", t->helper[i].file[f]);
            t->helper[i].file[f] = text;
        }
}

/* A table being read. */
typedef struct {
    Arena *a;
    Target *t;
    lua_State *L;
    const char *name, *text;
} Load;

/* { "symbol", "file", ... } */
static void
read_helper(TargetHelper *h, Arena *a, lua_State *L)
{
    int n = lua_istable(L, -1) ? (int)lua_rawlen(L, -1) : 0;
    if (n < 2 || n > 1 + HELPER_FILES)
        fail(a, "helpers are lists of a symbol and up to four files", "helpers");
    for (int i = 0; i < n; i++) {
        lua_rawgeti(L, -1, i + 1);
        const char *s = lua_tostring(L, -1);
        if (!s)
            fail(a, "helpers are lists of strings", "helpers");
        s = arena_string(a, s);
        if (i == 0)
            h->symbol = s;
        else
            h->file[h->nfiles++] = s;
        lua_pop(L, 1);
    }
}

static void
read_helpers(Target *t, Arena *a, lua_State *L)
{
    for (int i = 1; lua_rawgeti(L, -1, i) != LUA_TNIL; i++) {
        if (t->nhelpers == TARGET_HELPERS)
            fail(a, "too many", "helpers");
        read_helper(&t->helper[t->nhelpers++], a, L);
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
}

/* A string; a number in its digits; of the function emit_plan all that it needs, which
 * is the text that it stands in. */
static const char *
value_of(Load *l, lua_State *L)
{
    bool plan = !strcmp(lua_tostring(L, -2), "emit_plan");
    if (plan && !lua_isfunction(L, -1))
        fail(l->a, "emit_plan is a function of the plan, not a", luaL_typename(L, -1));
    if (plan)
        return l->text;
    if (lua_type(L, -1) == LUA_TSTRING) {
        size_t n;
        const char *s = lua_tolstring(L, -1, &n);
        if (strlen(s) != n || !utf8_is_text(s, n))
            fail(l->a, "a field is no text in UTF-8", lua_tostring(L, -2));
        return arena_string(l->a, s);
    }
    if (lua_isinteger(L, -1))
        return arena_printf(l->a, "%lld", (long long)lua_tointeger(L, -1));
    fail(l->a, "a field is no string", lua_tostring(L, -2));
}

static void
read_fields(Load *l, lua_State *L)
{
    Target *t = l->t;
    for (lua_pushnil(L); lua_next(L, 1); lua_pop(L, 1)) {
        if (lua_type(L, -2) != LUA_TSTRING)
            fail(l->a, "a field has no name, a", luaL_typename(L, -2));
        else if (lua_istable(L, -1) && !strcmp(lua_tostring(L, -2), "helpers"))
            read_helpers(t, l->a, L);
        else if (find_field(t, lua_tostring(L, -2)))
            continue;
        else if (t->nfields == MAX_FIELDS)
            fail(l->a, "too many fields, from", lua_tostring(L, -2));
        else {
            t->field[t->nfields].key = arena_string(l->a, lua_tostring(L, -2));
            t->field[t->nfields++].value = value_of(l, L);
        }
    }
}

static void
read_it(void *arg)
{
    Load *l = arg;
    if (lua_gettop(l->L) != 1 || !lua_istable(l->L, 1))
        fail(l->a, "no table is returned by", l->name);
    read_fields(l, l->L);
}

static void
read_table(Sandbox *s, void *arg)
{
    Load *l = arg;
    l->L = s->L;
    lua_replace(s->L, 1);
    lua_settop(s->L, 1);
    sandbox_try(s, read_it, l);
}

const Target *
target_read(Arena *a, const char *name, const char *text)
{
    Load l = {.a = a, .t = arena_new(a, Target), .name = name, .text = text};
    l.t->name = name;
    sandbox_plain(a, name, text, read_table, &l);
    bool own = find_field(l.t, "prologue_text") || find_field(l.t, "prologue");
    l.t->prologue = find_field(l.t, "prologue_text");
    const char *like = find_field(l.t, "like");
    if (like) {
        l.text = find_file(arena_printf(a, "%s.lua", like));
        if (!l.text)
            fail(a, "there is no", like);
        sandbox_plain(a, like, l.text, read_table, &l);
        if (!own)
            l.t->prologue = find_field(l.t, "prologue_text");
    }
    check(l.t, a);
    return l.t;
}

const Target *
target_load(Arena *a, const char *name)
{
    const char *text = find_file(arena_printf(a, "%s.lua", name));
    if (!text)
        fail(a, "there is no", name);
    return target_read(a, name, text);
}
