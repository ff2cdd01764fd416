/* Target tables: templates/NAME.lua, read once into plain strings. */
#include <stdlib.h>
#include <string.h>

#include <lauxlib.h>
#include <lua.h>

#include "embed.h"
#include "render.h"

enum { MAX_FIELDS = 96, STEPS_MAX = 1000000 };

struct Target {
    int nfields, nhelpers;
    const char *name;
    const char *prologue; /* the text itself, of a table of the user's */
    struct { const char *key, *value; } field[MAX_FIELDS];
    TargetHelper helper[TARGET_HELPERS];
};

/* What every table must have; checked once, when it is read. */
static const char *const common[] = {
    "name", "model", "div", "mod", "xor", "and", "min", "max", "comment_open",
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
} models[] = {
    {"functions", functions, LEN(functions)},   /* render.c */
    {"blocks", blocks, LEN(blocks)},            /* grid_render.c */
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
    check_fields(t, a, common, LEN(common));
    for (int i = 0; i < LEN(models); i++)
        if (target_is(t, models[i].name)) {
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

/* { "symbol", "file", ... } */
static void
read_helper(TargetHelper *h, Arena *a, lua_State *L)
{
    int n = (int)lua_rawlen(L, -1) - 1;
    for (int i = 0; i <= n && i <= HELPER_FILES; i++) {
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
    int n = (int)lua_rawlen(L, -1);
    for (int i = 0; i < n && i < TARGET_HELPERS; i++) {
        lua_rawgeti(L, -1, i + 1);
        read_helper(&t->helper[t->nhelpers++], a, L);
        lua_pop(L, 1);
    }
}

static void
read_fields(Target *t, Arena *a, lua_State *L)
{
    for (lua_pushnil(L); lua_next(L, 1); lua_pop(L, 1)) {
        if (lua_istable(L, -1))
            read_helpers(t, a, L);
        else if (lua_type(L, -2) != LUA_TSTRING || lua_type(L, -1) != LUA_TSTRING)
            fail(a, "a field is no string", luaL_tolstring(L, -2, NULL));
        else if (find_field(t, lua_tostring(L, -2)))
            continue;
        else if (t->nfields == MAX_FIELDS)
            fail(a, "too many fields, from", lua_tostring(L, -2));
        else {
            t->field[t->nfields].key = arena_string(a, lua_tostring(L, -2));
            t->field[t->nfields++].value = arena_string(a, lua_tostring(L, -1));
        }
    }
}

typedef struct {
    Arena *a;
    Target *t;
    lua_State *L;
    const char *name, *text;
} Load;

/* Tables are data: nothing in one takes long. */
static void
too_long(lua_State *L, lua_Debug *ar)
{
    (void)ar;
    luaL_error(L, "it takes too long");
}

/* The table that a text returns, alone on the stack. */
static void
run_text(Load *l, const char *name, const char *text)
{
    lua_settop(l->L, 0);
    int status = luaL_loadbufferx(l->L, text, strlen(text), name, "t");
    if (status == LUA_OK)
        status = lua_pcall(l->L, 0, 1, 0);
    if (status == LUA_ERRMEM)
        diag_fatal(l->a->diag, DIAG_MEMORY, (Loc){0}, "out of memory");
    if (status != LUA_OK)
        diag_fatal(l->a->diag, DIAG_SPEC, (Loc){0}, "target: %s",
                   lua_isstring(l->L, -1) ? lua_tostring(l->L, -1) : "an error");
    if (!lua_istable(l->L, 1))
        fail(l->a, "no table is returned by", name);
}

/* What a table lacks is as in the one that it is `like`. */
static void
load(void *arg)
{
    Load *l = arg;
    lua_sethook(l->L, too_long, LUA_MASKCOUNT, STEPS_MAX);
    run_text(l, l->name, l->text);
    read_fields(l->t, l->a, l->L);
    bool own = find_field(l->t, "prologue_text") || find_field(l->t, "prologue");
    const char *like = find_field(l->t, "like");
    l->t->prologue = find_field(l->t, "prologue_text");
    if (like) {
        const char *text = find_file(arena_printf(l->a, "%s.lua", like));
        if (!text)
            fail(l->a, "there is no", like);
        run_text(l, like, text);
        read_fields(l->t, l->a, l->L);
        if (!own)
            l->t->prologue = find_field(l->t, "prologue_text");
    }
    check(l->t, l->a);
}

const Target *
target_load(Arena *a, const char *name)
{
    const char *text = find_file(arena_printf(a, "%s.lua", name));
    if (!text)
        fail(a, "there is no", name);
    return target_read(a, name, text);
}

const Target *
target_read(Arena *a, const char *name, const char *text)
{
    Diag d;
    Load l = {a, arena_new(a, Target), luaL_newstate(), name, text};
    l.t->name = name;
    if (!l.L)
        diag_fatal(a->diag, DIAG_MEMORY, (Loc){0}, "out of memory");
    bool ok = arena_run(a, &d, load, &l);
    lua_close(l.L);
    if (!ok)
        diag_fatal(a->diag, d.kind, (Loc){0}, "%s", d.text);
    return l.t;
}
