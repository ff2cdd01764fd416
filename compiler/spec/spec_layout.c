/* layout "NAME" { ... }: make a layout of its table. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "spec_parts.h"

/* Call a function of (bytes, bits) for every element width. */
static void
probe_function(Reader *r, Param *p)
{
    lua_State *L = r->s->L;
    Diag *mine = r->s->arena->diag;
    for (int w = 0; w < WIDTHS; w++) {
        lua_pushvalue(L, -1);
        if (w < 3)
            lua_pushnumber(L, (double)(1 << w) / 8);
        else
            lua_pushinteger(L, 1 << (w - 3));
        lua_pushinteger(L, 1 << w);
        int status = lua_pcall(L, 2, 1, 0);
        r->s->arena->diag = mine;
        if (r->s->spent || status == LUA_ERRMEM)
            lua_error(L);
        p->has[w] = status == LUA_OK && trace_integer(L, -1, &p->at[w]);
        if (!p->has[w])
            p->why[w] = status != LUA_OK && lua_type(L, -1) == LUA_TSTRING
                ? arena_string(r->s->arena, lua_tostring(L, -1))
                : arena_printf(r->s->arena, "it gives a %s", luaL_typename(L, -1));
        lua_pop(L, 1);
    }
}

/* A table of integers, at the top of the stack. */
static void
read_list(Reader *r, const char *name, Param *p)
{
    enum { LIST_MAX = 4096, NUMBER_MAX = 1 << 30 };
    lua_State *L = r->s->L;
    lua_Unsigned n = lua_rawlen(L, -1);
    int runs;
    if (n < 1 || n > LIST_MAX)
        FAIL(r, "table '%s' has %d numbers: 1 to %d", name, n < INT_MAX ? (int)n : INT_MAX,
             LIST_MAX);
    i64 *list = arena_array(r->s->arena, i64, (i64)n);
    for (; p->n < (int)n; p->n++) {
        lua_rawgeti(L, -1, p->n + 1);
        if (!trace_integer(L, -1, &list[p->n]) || list[p->n] < 0 || list[p->n] > NUMBER_MAX)
            FAIL(r, "%s[%d], counted from 0, is no whole number from 0 to %d", name, p->n,
                 NUMBER_MAX);
        lua_pop(L, 1);
    }
    ast_list_runs(r->s->arena, list, p->n, &runs);
    if (runs > AST_RUNS_MAX)
        FAIL(r, "table '%s' has %d runs of evenly spaced numbers: at most %d", name, runs,
             AST_RUNS_MAX);
    p->list = list;
}

static void
read_param(Reader *r, const char *name, Param *p)
{
    lua_State *L = r->s->L;
    p->name = arena_string(r->s->arena, name);
    p->value = trace_get(r->s, -1);
    if (p->value)
        return;
    const char *near = field_nearest(name);
    if (near)
        FAIL(r, "unknown field '%s'; did you mean '%s'?", name, near);
    if (lua_istable(L, -1)) {
        read_list(r, name, p);
        return;
    }
    if (lua_type(L, -1) == LUA_TNUMBER)
        FAIL(r, "'%s' is %.17g: a parameter is a whole number", name,
             lua_tonumber(L, -1));
    if (!lua_isfunction(L, -1))
        FAIL(r, "'%s' is a %s: a parameter is a whole number, an expression of bytes "
             "and bits, or a function of them", name, luaL_typename(L, -1));
    probe_function(r, p);
}

static int
by_name(const void *p, const void *q)
{
    return strcmp(*(const char *const *)p, *(const char *const *)q);
}

/* Whether a string is a name; a zero byte must not hide further text. */
static bool
is_name_at(lua_State *L, int index)
{
    return lua_type(L, index) == LUA_TSTRING && sandbox_is_name(lua_tostring(L, index)) &&
           lua_rawlen(L, index) == strlen(lua_tostring(L, index));
}

/* The string keys of the table, sorted; other keys only where `is_inline`. */
static int
string_keys(Reader *r, const char **keys)
{
    lua_State *L = r->s->L;
    int n = 0;
    for (lua_pushnil(L); lua_next(L, r->at); lua_pop(L, 1)) {
        if (lua_type(L, -2) != LUA_TSTRING) {
            if (!r->is_inline)
                FAIL(r, "layout '%s' has a part without a name; write order = { ... } "
                     "for entries and NAME{C0 = 32} for parameters", r->def->name);
            continue;
        }
        const char *key = lua_tostring(L, -2);
        if (n == MAX_ENTRIES)
            FAIL(r, "more than %d fields", MAX_ENTRIES);
        if (!is_name_at(L, -2))
            FAIL(r, "a field name is at most %d letters, digits and _", MAX_NAME);
        keys[n++] = arena_string(r->s->arena, key);
    }
    qsort(keys, (size_t)n, sizeof *keys, by_name);
    return n;
}

static void
read_fields(Reader *r)
{
    lua_State *L = r->s->L;
    const char *keys[MAX_ENTRIES];
    int n = string_keys(r, keys);
    r->def->params = arena_array(r->s->arena, Param, n + 1);
    for (int i = 0; i < n; i++) {
        lua_getfield(L, r->at, keys[i]);
        r->field = keys[i];
        if (!field_read(r))
            read_param(r, keys[i], &r->def->params[r->def->nparams++]);
        lua_settop(L, r->at);
    }
}

/* Whether a name is that of the fill and no expression of the order has it. */
static bool
only_fills(const LayoutDef *d, const char *name)
{
    bool is = d->fill_of && d->fill_of->op == OP_SYM && !strcmp(d->fill_of->name, name);
    for (int i = 0; i < d->norder && is; i++)
        is = !spec_mentions(d->order[i].x, name);
    return is;
}

/* Inline layouts: dims are the names, in order of first appearance. */
static void
infer_dims(Reader *r)
{
    LayoutDef *d = r->def;
    Sandbox *s = r->s;
    d->dims = arena_array(s->arena, const char *, s->nseen + 1);
    for (int i = 0; i < s->nseen; i++)
        if (!spec_is_param(d, s->seen[i]) && !only_fills(d, s->seen[i])) {
            if (d->ndims == MAX_RANK)
                FAIL(r, "more than %d dims", MAX_RANK);
            d->dims[d->ndims++] = s->seen[i];
        }
    for (int i = 0; i < d->norder; i++)
        d->batch |= d->order[i].kind != ENTRY_EXPR;
}

/* x with the tables of the layout in it. */
static const Ast *
with_tables(Reader *r, const Ast *x)
{
    if (x->table && !x->table->n) {
        const Param *p = spec_table(r->def, x->table->name);
        if (!p)
            diag_fatal(r->s->arena->diag, DIAG_SPEC, x->loc, "'%s': there is no table '%s'; "
                       "write it beside the order, as in %s = {2, 0, 1}",
                       ast_text(r->s->arena, x), x->table->name, x->table->name);
        AstTable t = {p->name, p->list, p->n, with_tables(r, x->table->at)};
        return ast_table(r->s->arena, &t, x->loc);
    }
    int n = op_info[x->op].nargs;
    const Ast *a = n > 0 ? with_tables(r, x->x[0]) : NULL;
    const Ast *b = n > 1 ? with_tables(r, x->x[1]) : NULL;
    return a == x->x[0] && b == x->x[1] ? x : ast_op(r->s->arena, x->op, a, b, x->loc);
}

LayoutDef *
spec_read_layout(Sandbox *s, const char *name, Loc loc, bool is_inline)
{
    LayoutDef *d = arena_new(s->arena, LayoutDef);
    Reader r = {.s = s, .def = d, .at = lua_gettop(s->L), .is_inline = is_inline,
                .sparse = !is_inline && s->pending_sparse};
    d->name = arena_string(s->arena, name);
    d->loc = loc;
    d->owner = s->owner;
    d->source = s->source;
    d->version = s->version;
    d->is_inline = is_inline;
    read_fields(&r);
    if (is_inline && d->order && lua_rawlen(s->L, r.at) > 0)
        FAIL(&r, "entries stand both in order = { ... } and beside it");
    if (is_inline && !d->order) {
        r.field = "order";
        field_read(&r);
    }
    if (is_inline && !d->dims)
        infer_dims(&r);
    for (int i = 0; i < d->norder; i++)
        if (d->order[i].x)
            d->order[i].x = with_tables(&r, d->order[i].x);
    spec_check(&r);
    return d;
}

/* "; it has H, SIGMA" */
static const char *
params_text(Arena *a, const LayoutDef *def)
{
    enum { SHOWN = 8 };
    const char *text = "";
    for (int i = 0; i < def->nparams && i < SHOWN; i++)
        text = arena_printf(a, "%s%s%s", text, i ? ", " : "; it has ", def->params[i].name);
    return def->nparams <= SHOWN ? text
           : arena_printf(a, "%s and %d more", text, def->nparams - SHOWN);
}

/* the { fill = 128 } after a name: a copy of the layout with another fill */
static void
give_fill(Reader *r, LayoutRef *ref)
{
    LayoutDef *d = arena_copy(r->s->arena, ref->def, sizeof *d);
    if (d->level)
        FAIL(r, "the fill of sparse format '%s' is part of the declaration", d->name);
    r->field = "fill";
    field_read(r);
    if (r->def->fill_of && !spec_names_fill(d, r->def->fill_of))
        FAIL(r, "the fill that is given to layout '%s' is a number, a name for one that each run "
             "is given, \"none\" or \"edge\"", d->name);
    d->fill_name = r->def->fill_of ? r->def->fill_of->name : NULL;
    d->fill_given = false;
    d->fill = r->def->fill;
    d->fill_value = r->def->fill_value;
    d->fill_of = NULL;
    d->fills = r->def->fills;
    ref->def = d;
    ref->fills = true;
}

static bool
has_param(const LayoutDef *def, const char *name)
{
    bool has = false;
    for (int i = 0; i < def->nparams; i++)
        has |= !strcmp(def->params[i].name, name);
    return has;
}

static void
give_param(Reader *r, LayoutRef *ref, const char *name)
{
    Param *to = &ref->given[ref->n++];
    read_param(r, name, to);
    if (to->list || spec_table(ref->def, name))
        FAIL(r, "'%s' of layout '%s': a table is part of the declaration", name, ref->def->name);
}

/* the { C0 = 32 } after a name */
void
spec_read_given(Sandbox *s, LayoutRef *ref)
{
    const LayoutDef *def = ref->def;
    LayoutDef scratch = {.name = def->name, .loc = {s->file, 1}};
    Reader r = {.s = s, .def = &scratch, .at = lua_gettop(s->L)};
    const char *keys[MAX_ENTRIES];
    int n = string_keys(&r, keys);
    ref->given = arena_array(s->arena, Param, n + 1);
    for (int i = 0; i < n; i++) {
        const bool fill = !strcmp(keys[i], "fill");
        if (!fill && !has_param(def, keys[i]))
            FAIL(&r, "layout '%s' has no parameter '%s'%s", def->name, keys[i],
                 params_text(s->arena, def));
        lua_getfield(s->L, r.at, keys[i]);
        if (fill)
            give_fill(&r, ref);
        else
            give_param(&r, ref, keys[i]);
        lua_settop(s->L, r.at);
    }
}

/* Each name once: the lines of those there are, by name. */
static void
note_name(lua_State *L, const char *name, int line)
{
    luaL_getsubtable(L, LUA_REGISTRYINDEX, "ravel.layouts");
    if (lua_getfield(L, -1, name) != LUA_TNIL)
        luaL_error(L, "layout '%s' is declared twice (first in line %d)", name,
                   (int)lua_tointeger(L, -1));
    lua_pushinteger(L, line);
    lua_setfield(L, -3, name);
    lua_pop(L, 2);
}

static int
declare(Sandbox *s)
{
    if (!s->pending || !lua_istable(s->L, 1))
        return luaL_error(s->L, "layout is written layout \"NAME\" { ... }, with a "
                                "table, not a %s", luaL_typename(s->L, 1));
    lua_settop(s->L, 1);
    const char *name = s->pending;
    s->pending = NULL;
    note_name(s->L, name, s->pending_loc.line);
    s->reading = true;
    LayoutDef *d = spec_read_layout(s, name, s->pending_loc, false);
    s->reading = false;
    if (s->pending_sparse)
        spec_levels_define(s, false);
    *s->last = d;
    s->last = &d->next;
    return 0;
}

static int
begin(Sandbox *s, bool sparse)
{
    if (!is_name_at(s->L, 1))
        return luaL_error(s->L, "a layout's name is a string of at most %d letters, "
                                "digits and _, as in layout \"NC1HWC0\" { ... }",
                          MAX_NAME);
    if (s->reading)
        return luaL_error(s->L, "a layout cannot be declared while another is read");
    if (s->pending)
        return luaL_error(s->L, "layout '%s' has no table", s->pending);
    s->pending = arena_string(s->arena, lua_tostring(s->L, 1));
    s->pending_loc = sandbox_where(s);
    s->pending_sparse = sparse;
    if (sparse)
        spec_levels_define(s, true);
    sandbox_push(s, declare);
    if (!lua_istable(s->L, 2))
        return 1;
    lua_pushvalue(s->L, 2);
    lua_call(s->L, 1, 0);
    return 0;
}

static int
layout(Sandbox *s)
{
    return begin(s, false);
}

static int
sparse(Sandbox *s)
{
    return begin(s, true);
}

/* A string of one line at a place of the Lua stack. */
static bool
is_line(lua_State *L, int index)
{
    size_t n = 0;
    const char *text = lua_type(L, index) == LUA_TSTRING ? lua_tolstring(L, index, &n) : "";
    return n && strlen(text) == n && utf8_is_text(text, n) && !strpbrk(text, "\n\r\t");
}

/* origin(owner, source[, version]): of the layouts that follow. */
static int
origin(Sandbox *s)
{
    bool versioned = !lua_isnoneornil(s->L, 3);
    if (!is_line(s->L, 1) || !is_line(s->L, 2) || (versioned && !is_line(s->L, 3)))
        return luaL_error(s->L, "origin takes two or three lines of text: who defines the "
                                "layouts that follow, where, and in which version");
    s->owner = arena_string(s->arena, lua_tostring(s->L, 1));
    s->source = arena_string(s->arena, lua_tostring(s->L, 2));
    s->version = versioned ? arena_string(s->arena, lua_tostring(s->L, 3)) : NULL;
    return 0;
}

/* Called with the environment on top. */
void
spec_layout_open(Sandbox *s)
{
    field_open(s);
    spec_levels_open(s);
    sandbox_register(s, "origin", origin);
    sandbox_register(s, "layout", layout);
    sandbox_register(s, "sparse", sparse);
}
