/* The fields of a layout's table. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "spec_parts.h"

static const char batch_type[] = "ravel batch dims";

void
spec_push_batch(Sandbox *s)
{
    bool *reversed = lua_newuserdatauv(s->L, sizeof *reversed, 0);
    *reversed = false;
    luaL_setmetatable(s->L, batch_type);
}

/* 0: not a batch sentinel; 1: in order; 2: reversed */
static int
batch_at(lua_State *L, int index)
{
    bool *reversed = luaL_testudata(L, index, batch_type);
    return reversed ? 1 + *reversed : 0;
}

static int
reverse(Sandbox *s)
{
    if (batch_at(s->L, 1) != 1)
        return luaL_error(s->L, "reverse(...) takes the batch dims, '...'");
    bool *reversed = lua_newuserdatauv(s->L, sizeof *reversed, 0);
    *reversed = true;
    luaL_setmetatable(s->L, batch_type);
    return 1;
}

static int
count_array(Reader *r, int limit, const char *what)
{
    lua_Unsigned n = lua_rawlen(r->s->L, -1);
    if (n > (lua_Unsigned)limit)
        FAIL(r, "%s has more than %d parts", what, limit);
    bool fields = lua_gettop(r->s->L) == r->at;      /* an inline layout's own table */
    for (lua_pushnil(r->s->L); lua_next(r->s->L, -2); lua_pop(r->s->L, 1)) {
        i64 key = 0;
        bool field = fields && lua_type(r->s->L, -2) == LUA_TSTRING;
        if (!field && (!trace_integer(r->s->L, -2, &key) || key < 1 || key > (i64)n))
            FAIL(r, "%s is a list: its parts have no names and no gaps", what);
    }
    return (int)n;
}

static void
want_table(Reader *r)
{
    if (!lua_istable(r->s->L, -1))
        FAIL(r, "'%s' must be a table, as in %s = { ... }, not a %s", r->field,
             r->field, luaL_typename(r->s->L, -1));
}

#define SIZE_IS_NO_DIM "'%s' is the element size and cannot name a dim"

static bool
is_element_size(const Ast *x)
{
    return x->op == OP_SYM && (!strcmp(x->name, "bytes") || !strcmp(x->name, "bits"));
}

static const char *
dim_name(Reader *r, int i)
{
    const Ast *x = luaL_testudata(r->s->L, -1, "ravel expression")
                   ? trace_get(r->s, -1) : NULL;
    if (!x || x->op != OP_SYM || !sandbox_is_name(x->name))
        FAIL(r, "dims[%d] is %s%s: a dim is a plain name, as in dims = { N, C, H, W }",
             i + 1, x || lua_isnil(r->s->L, -1) ? "" : "a ",
             x ? ast_text(r->s->arena, x) : luaL_typename(r->s->L, -1));
    if (is_element_size(x))
        FAIL(r, SIZE_IS_NO_DIM, x->name);
    for (int j = 0; j < r->def->ndims; j++)
        if (!strcmp(r->def->dims[j], x->name))
            FAIL(r, "dim '%s' is named twice", x->name);
    return x->name;
}

static void
read_dims(Reader *r)
{
    want_table(r);
    if (lua_rawlen(r->s->L, -1) > MAX_RANK + 1)
        FAIL(r, "more than %d dims", MAX_RANK);
    int n = count_array(r, MAX_RANK + 1, "dims");
    r->def->dims = arena_array(r->s->arena, const char *, n + 1);
    for (int i = 0; i < n; i++) {
        lua_rawgeti(r->s->L, -1, i + 1);
        if (batch_at(r->s->L, -1) == 1 && i == 0)
            r->def->batch = true;
        else if (batch_at(r->s->L, -1))
            FAIL(r, "'...' stands for the leading dims: it comes first in dims, once");
        else {
            const char *name = dim_name(r, i);
            r->def->dims[r->def->ndims++] = name;
        }
        lua_pop(r->s->L, 1);
    }
    if (r->def->ndims > MAX_RANK)
        FAIL(r, "more than %d dims", MAX_RANK);
}

/* An order and levels are two ways to say the same. */
static void
want_no_order(Reader *r)
{
    if (r->def->order)
        FAIL(r, "'%s' has both an order and levels", r->def->name);
}

static const char reserved[] =
    "; a name of the spec language, such as min and xor, cannot name a dim";

static void
read_order(Reader *r)
{
    want_table(r);
    want_no_order(r);
    LayoutDef *d = r->def;
    d->norder = count_array(r, MAX_ENTRIES, "order");
    d->order = arena_array(r->s->arena, EntryDef, d->norder + 1);
    for (int i = 0; i < d->norder; i++) {
        lua_rawgeti(r->s->L, -1, i + 1);
        EntryDef *e = &d->order[i];
        int batch = batch_at(r->s->L, -1);
        e->kind = batch == 1 ? ENTRY_BATCH : batch ? ENTRY_BATCH_REVERSED : ENTRY_EXPR;
        e->loc = d->loc;
        if (!batch && !(e->x = trace_get(r->s, -1)))
            FAIL(r, "order[%d] is a %s: expected an expression of the dims%s", i + 1,
                 luaL_typename(r->s->L, -1),
                 lua_type(r->s->L, -1) == LUA_TSTRING ? ", without quotes"
                 : sandbox_is_given(r->s->L) ? reserved : "");
        if (e->x && is_element_size(e->x))
            FAIL(r, SIZE_IS_NO_DIM, e->x->name);
        if (e->x)
            e->loc = e->x->loc;
        lua_pop(r->s->L, 1);
    }
}

/* levels = { dense(R), compressed(C) }: an order whose entries have kinds. */
static void
read_levels(Reader *r)
{
    want_table(r);
    want_no_order(r);
    LayoutDef *d = r->def;
    d->norder = count_array(r, MAX_LEVELS, "levels");
    d->order = arena_array(r->s->arena, EntryDef, d->norder + 1);
    d->level = arena_array(r->s->arena, LevelDef, d->norder + 1);
    for (int i = 0; i < d->norder; i++) {
        lua_rawgeti(r->s->L, -1, i + 1);
        const LevelDef *level = spec_level(r->s, -1, &d->order[i].x);
        if (!level)
            FAIL(r, "levels[%d] is a %s: a level is written dense(R), compressed(C), "
                 "singleton(C), nth(), ranked(R), sliced(32), jagged() or nofm(C %% 4, 2)",
                 i + 1, luaL_typename(r->s->L, -1));
        d->level[i] = *level;
        d->order[i].loc = d->order[i].x->loc;
        lua_pop(r->s->L, 1);
    }
}

static const Ast *
number_or_expression(Reader *r, const char *of)
{
    const Ast *x = trace_get(r->s, -1);
    if (!x)
        FAIL(r, "%s.%s must be a whole number or an expression of the parameters, "
             "not a %s", r->field, of, luaL_typename(r->s->L, -1));
    return x;
}

static int
by_setting(const void *p, const void *q)
{
    const Setting *a = p, *b = q;
    if (!a->dim || !b->dim)
        return a->dim ? 1 : b->dim ? -1 : a->entry - b->entry;
    return strcmp(a->dim, b->dim);
}

/* { H = 64 } and, where entries may be numbered, { [2] = 64 }.  Appends to the *n settings
 * in *out, which come from another field. */
static void
read_settings(Reader *r, Setting **out, int *n, bool numbered, bool exact)
{
    lua_State *L = r->s->L;
    int count = 0;
    want_table(r);
    Setting *all = arena_array(r->s->arena, Setting, *n + MAX_ENTRIES);
    for (int i = 0; i < *n; i++)
        all[i] = (*out)[i];
    for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) {
        Setting *t = &all[*n + count];
        i64 entry = 0;
        if (count++ == MAX_ENTRIES)
            FAIL(r, "'%s' has more than %d parts", r->field, MAX_ENTRIES);
        t->exact = exact;
        if (lua_type(L, -2) == LUA_TSTRING) {
            t->dim = arena_string(r->s->arena, lua_tostring(L, -2));
            if (strlen(t->dim) != lua_rawlen(L, -2))
                FAIL(r, "%s: there is no dim '%s' with a zero byte", r->field, t->dim);
        }
        if (!t->dim && (!numbered || !trace_integer(L, -2, &entry) || entry < 1 ||
                 entry > MAX_ENTRIES))
            FAIL(r, "'%s' is written by dim%s, as in %s = { H = 64 }", r->field,
                 numbered ? " or by entry number" : "", r->field);
        t->entry = (int)entry - 1;
        t->value = number_or_expression(r, t->dim ? t->dim : "[entry]");
    }
    qsort(all + *n, (size_t)count, sizeof *all, by_setting);
    *out = all;
    *n += count;
}

static void
read_pad(Reader *r)
{
    read_settings(r, &r->def->pads, &r->def->npads, false, false);
}

static void
read_limit(Reader *r)
{
    read_settings(r, &r->def->limits, &r->def->nlimits, false, false);
}

static void
read_pitch(Reader *r)
{
    read_settings(r, &r->def->pitches, &r->def->npitches, true, false);
}

static void
read_stride(Reader *r)
{
    read_settings(r, &r->def->pitches, &r->def->npitches, true, true);
}

/* A function of the address for each dim. */
static void
read_inverse(Reader *r)
{
    lua_State *L = r->s->L;
    LayoutDef *d = r->def;
    want_table(r);
    d->inverses = arena_array(r->s->arena, Setting, MAX_ENTRIES);
    for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) {
        if (lua_type(L, -2) != LUA_TSTRING || !lua_isfunction(L, -1))
            FAIL(r, "inverse has a function of the address for each dim, as in "
                 "inverse = { H = function(a) return a // 64 end }");
        if (d->ninverses == MAX_ENTRIES)
            FAIL(r, "'%s' has more than %d parts", r->field, MAX_ENTRIES);
        Setting *t = &d->inverses[d->ninverses++];
        t->dim = arena_string(r->s->arena, lua_tostring(L, -2));
        t->value = trace_function(r->s, -1);
    }
    if (!d->ninverses)
        FAIL(r, "inverse has no function: it has one for each dim, as in "
             "inverse = { H = function(a) return a // 64 end }");
    qsort(d->inverses, (size_t)d->ninverses, sizeof *d->inverses, by_setting);
}

static void
read_fill(Reader *r)
{
    lua_State *L = r->s->L;
    const char *word = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : NULL;
    bool unwritten = word && (!strcmp(word, "none") || !strcmp(word, "unspecified"));
    r->def->fills = !unwritten;
    if (lua_type(L, -1) == LUA_TUSERDATA && (r->def->fill_of = trace_get(r->s, -1)))
        return;
    if (lua_type(L, -1) == LUA_TNUMBER) {
        r->def->fill_value = lua_tonumber(L, -1);
        if (lua_isinteger(L, -1) && fabs(r->def->fill_value) > 9007199254740992.0)
            FAIL(r, "fill = %lld: whole numbers up to 2^53 are exact",
                 (long long)lua_tointeger(L, -1));
        return;
    }
    if (unwritten)
        r->def->fill = FILL_NONE;
    else if (word && !strcmp(word, "edge"))
        r->def->fill = FILL_EDGE;
    else
        FAIL(r, "fill is a number, a parameter, \"none\" (leave the padding alone), "
             "\"unspecified\" (the same) or \"edge\" (repeat the last element)");
}

static void
read_swizzle(Reader *r)
{
    if (!lua_isfunction(r->s->L, -1))
        FAIL(r, "swizzle is xor(B, M, S) or a function of the address, not a %s",
             luaL_typename(r->s->L, -1));
    r->def->swizzle = trace_function(r->s, -1);
}

static void
read_unit(Reader *r)
{
    lua_State *L = r->s->L;
    const char *word = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "";
    r->def->swizzle_bytes = !strcmp(word, "bytes");
    if (!r->def->swizzle_bytes && strcmp(word, "elements"))
        FAIL(r, "unit is \"bytes\" or \"elements\": what the swizzle counts");
}

static void
read_bits(Reader *r)
{
    i64 v;
    if (!trace_integer(r->s->L, -1, &v) || v < 1 || v > 128 || !int_is_pow2(v))
        FAIL(r, "bits is the element width: 1, 2, 4, 8, 16, 32, 64 or 128");
    r->def->bits = (int)v;
}

static void
read_view(Reader *r)
{
    if (!lua_isboolean(r->s->L, -1))
        FAIL(r, "view is true (elements may share addresses: for reading) or false");
    r->def->view = lua_toboolean(r->s->L, -1);
}

static void
read_doc(Reader *r)
{
    if (lua_type(r->s->L, -1) != LUA_TSTRING)
        FAIL(r, "doc is a string");
    const char *s = lua_tostring(r->s->L, -1);
    for (size_t i = 0; i < lua_rawlen(r->s->L, -1); i++)
        if ((unsigned char)s[i] < ' ' || s[i] == 127)
            FAIL(r, "doc is one line of text, without control characters");
    r->def->doc = arena_string(r->s->arena, lua_tostring(r->s->L, -1));
}

static const struct {
    const char *name;
    void (*read)(Reader *);
} fields[] = {
    {"dims", read_dims},   {"order", read_order},     {"pad", read_pad},
    {"fill", read_fill},   {"pitch", read_pitch},     {"swizzle", read_swizzle},
    {"unit", read_unit},   {"bits", read_bits},       {"doc", read_doc},
    {"view", read_view},   {"stride", read_stride},
    {"levels", read_levels}, {"inverse", read_inverse}, {"limit", read_limit},
};

const char *
field_nearest(const char *name)
{
    const char *names[LEN(fields) + 1];
    for (int i = 0; i < LEN(fields); i++)
        names[i] = fields[i].name;
    names[LEN(fields)] = NULL;
    return diag_nearest(name, names);
}

bool
field_read(Reader *r)
{
    for (int i = 0; i < LEN(fields); i++)
        if (!strcmp(fields[i].name, r->field)) {
            fields[i].read(r);
            return true;
        }
    return false;
}

/* Called with the environment on top. */
void
field_open(Sandbox *s)
{
    luaL_newmetatable(s->L, batch_type);
    sandbox_hide(s->L);
    lua_pop(s->L, 1);
    sandbox_register(s, "reverse", reverse);
}
