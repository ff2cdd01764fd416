/* layout "NAME" { ... }: make a layout of its table, and check it. */
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

static bool
is_param(const LayoutDef *d, const char *name)
{
    for (int i = 0; i < d->nparams; i++)
        if (!strcmp(d->params[i].name, name))
            return true;
    return !strcmp(name, "bytes") || !strcmp(name, "bits");
}

/* Inline layouts: dims are the names, in order of first appearance. */
static void
infer_dims(Reader *r)
{
    LayoutDef *d = r->def;
    Sandbox *s = r->s;
    d->dims = arena_array(s->arena, const char *, s->nseen + 1);
    for (int i = 0; i < s->nseen; i++)
        if (!is_param(d, s->seen[i])) {
            if (d->ndims == MAX_RANK)
                FAIL(r, "more than %d dims", MAX_RANK);
            d->dims[d->ndims++] = s->seen[i];
        }
    for (int i = 0; i < d->norder; i++)
        d->batch |= d->order[i].kind != ENTRY_EXPR;
}

typedef enum { PARAMETERS, AND_EXTENTS, AND_DIMS } Names;

static bool
is_extent(const LayoutDef *d, const char *name)
{
    for (int i = 0; i < d->ndims; i++)
        if (layout_extent_is(name, d->dims[i]))
            return true;
    return false;
}

static const Param *
table_of(const LayoutDef *d, const char *name)
{
    for (int i = 0; i < d->nparams; i++)
        if (d->params[i].list && !strcmp(d->params[i].name, name))
            return &d->params[i];
    return NULL;
}

/* x with the tables of the layout in it. */
static const Ast *
with_tables(Reader *r, const Ast *x)
{
    if (x->table && !x->table->n) {
        const Param *p = table_of(r->def, x->table->name);
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

/* Names in x that are neither parameters nor, where these may stand, extents and dims. */
static void
check_names(Reader *r, const Ast *x, Names may, const char *extra)
{
    const LayoutDef *d = r->def;
    if (x->op != OP_SYM) {
        for (int i = 0; i < op_info[x->op].nargs; i++)
            check_names(r, x->x[i], may, extra);
        return;
    }
    if (x->table || table_of(d, x->name))
        diag_fatal(r->s->arena->diag, DIAG_SPEC, x->loc, "'%s': a table is indexed, as in "
                   "T[G], and only in order", ast_text(r->s->arena, x));
    if (is_param(d, x->name) || (extra && !strcmp(extra, x->name)) ||
        (may >= AND_EXTENTS && is_extent(d, x->name)))
        return;
    if (is_extent(d, x->name))
        diag_fatal(r->s->arena->diag, DIAG_SPEC, x->loc, "'%s' has no value here: a "
                   "parameter and the fill are the same for every shape; use it in order, "
                   "pad, pitch or stride", x->name);
    bool dims = may == AND_DIMS;
    const char *known[MAX_RANK + MAX_ENTRIES + 2];
    int n = 0;
    for (int i = 0; dims && i < d->ndims; i++) {
        if (!strcmp(d->dims[i], x->name))
            return;
        known[n++] = d->dims[i];
    }
    for (int i = 0; i < d->nparams; i++)
        known[n++] = d->params[i].name;
    known[n] = NULL;
    const char *near = diag_nearest(x->name, known);
    if (extra)
        known[n++] = extra;
    Buf b = buf_new(r->s->arena);
    for (int i = 0; i < n; i++)
        buf_printf(&b, "%s%s", i ? ", " : "", known[i]);
    diag_fatal(r->s->arena->diag, DIAG_SPEC, x->loc,
               "unknown name '%s'%s%s%s; known here: %s", x->name,
               near ? ": did you mean '" : "", near ? near : "", near ? "'?" : "",
               n ? b.s : dims ? "no dim" : "bytes, bits");
}

static void
check_settings(Reader *r, const Setting *t, int n, const char *name)
{
    for (int i = 0; i < n; i++) {
        const char *field = t[i].exact ? "stride" : name;
        bool known = !t[i].dim && t[i].entry < r->def->norder;
        for (int d = 0; t[i].dim && d < r->def->ndims; d++)
            known |= !strcmp(r->def->dims[d], t[i].dim);
        if (!known)
            FAIL(r, "%s: there is no %s '%s'", field, t[i].dim ? "dim" : "entry",
                 t[i].dim ? t[i].dim
                          : arena_printf(r->s->arena, "%d", t[i].entry + 1));
        check_names(r, t[i].value, AND_EXTENTS, NULL);
    }
}

static bool
mentions(const Ast *x, const char *name)
{
    if (!x)
        return false;
    if (x->table)
        return !strcmp(x->table->name, name) || mentions(x->table->at, name);
    if (x->op == OP_SYM)
        return !strcmp(x->name, name);
    return (op_info[x->op].nargs > 0 && mentions(x->x[0], name)) ||
           (op_info[x->op].nargs > 1 && mentions(x->x[1], name));
}

/* A parameter that nothing reads is a misspelt field, unless it is one of a fragment's
 * (frag.h). */
static void
check_used(Reader *r, const char *name)
{
    const LayoutDef *d = r->def;
    bool used = mentions(d->swizzle, name) || mentions(d->fill_of, name) ||
                !strcmp(name, "lanes") || !strcmp(name, "registers");
    for (int i = 0; i < d->norder; i++)
        used |= d->order[i].x && mentions(d->order[i].x, name);
    for (int i = 0; i < d->nparams; i++)
        used |= mentions(d->params[i].value, name);
    for (int i = 0; i < d->npads; i++)
        used |= mentions(d->pads[i].value, name);
    for (int i = 0; i < d->npitches; i++)
        used |= mentions(d->pitches[i].value, name);
    const char *near = field_nearest(name);
    if (!used)
        FAIL(r, "parameter '%s' is not used anywhere%s%s%s", name,
             near ? "; did you mean the field '" : "", near ? near : "",
             near ? "'?" : "");
}

/* A sparse format has levels instead of an order, and nothing that maps addresses. */
static void
check_levels(Reader *r)
{
    const LayoutDef *d = r->def;
    if (d->npads || d->npitches || d->swizzle || d->view || d->batch)
        FAIL(r, "sparse '%s': pad, pitch, swizzle, view and '...' are of layouts, not of "
             "sparse formats", d->name);
    if (d->fill == FILL_EDGE)
        FAIL(r, "sparse '%s': fill is a number", d->name);
}

static void
check_layout(Reader *r)
{
    LayoutDef *d = r->def;
    if (!d->dims)
        FAIL(r, "layout '%s' has no dims; write dims = { N, C, H, W }", d->name);
    if (!d->order)
        FAIL(r, r->sparse ? "sparse '%s' has no levels; write levels = { dense(R), "
                            "compressed(C) }"
             : "layout '%s' has no order; write order = { N, C // 16, ... }", d->name);
    if (r->sparse != (d->level != NULL))
        FAIL(r, r->sparse ? "sparse '%s' has levels, not an order"
             : "layout '%s' has levels: a sparse format is declared as sparse \"NAME\" { ... }",
             d->name);
    for (int i = 0; i < d->norder; i++) {
        if (d->order[i].x)
            check_names(r, d->order[i].x, AND_DIMS, NULL);
        else if (!d->batch)
            FAIL(r, "order has '...' but dims do not");
    }
    for (int i = 0; i < d->nparams; i++) {
        for (int j = 0; j < d->ndims; j++)
            if (!strcmp(d->params[i].name, d->dims[j]))
                FAIL(r, "'%s' is both a dim and a parameter", d->dims[j]);
        if (d->params[i].value)
            check_names(r, d->params[i].value, PARAMETERS, NULL);
        check_used(r, d->params[i].name);
    }
    if (d->level)
        check_levels(r);
    if (d->swizzle_bytes && !d->swizzle)
        FAIL(r, "unit is what a swizzle counts, but there is no swizzle");
    if (d->swizzle)
        check_names(r, d->swizzle, AND_EXTENTS, "a");
    if (d->swizzle && is_param(d, "a"))
        FAIL(r, "a parameter cannot be called 'a' beside a swizzle: that is the address");
    if (d->doc && !utf8_is_text(d->doc, strlen(d->doc)))
        FAIL(r, "doc is not UTF-8");
    if (d->fill_of)
        check_names(r, d->fill_of, PARAMETERS, NULL);
    check_settings(r, d->pads, d->npads, "pad");
    check_settings(r, d->pitches, d->npitches, "pitch");
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
    check_layout(&r);
    return d;
}

/* the { C0 = 32 } after a name */
void
spec_read_given(Sandbox *s, LayoutRef *ref)
{
    const LayoutDef *def = ref->def;
    LayoutDef scratch = {.name = def->name, .loc = {s->file, 1}};
    Reader r = {.s = s, .def = &scratch, .at = lua_gettop(s->L)};
    const char *keys[MAX_ENTRIES], *known[MAX_ENTRIES + 1];
    int n = string_keys(&r, keys);
    for (int i = 0; i < def->nparams; i++)
        known[i] = def->params[i].name;
    known[def->nparams] = NULL;
    ref->given = arena_array(s->arena, Param, n + 1);
    for (int i = 0; i < n; i++) {
        bool is_known = false;
        for (int j = 0; j < def->nparams; j++)
            is_known |= !strcmp(known[j], keys[i]);
        if (!is_known)
            FAIL(&r, "layout '%s' has no parameter '%s'%s%s", def->name, keys[i],
                 def->nparams ? "; it has " : "", def->nparams ? known[0] : "");
        lua_getfield(s->L, r.at, keys[i]);
        read_param(&r, keys[i], &ref->given[ref->n++]);
        if (ref->given[ref->n - 1].list || table_of(def, keys[i]))
            FAIL(&r, "'%s' of layout '%s': a table is part of the declaration", keys[i],
                 def->name);
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

/* origin(owner, source): of the layouts that follow. */
static int
origin(Sandbox *s)
{
    if (!is_line(s->L, 1) || !is_line(s->L, 2))
        return luaL_error(s->L, "origin takes two lines of text: who defines the layouts "
                                "that follow, and where");
    s->owner = arena_string(s->arena, lua_tostring(s->L, 1));
    s->source = arena_string(s->arena, lua_tostring(s->L, 2));
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
