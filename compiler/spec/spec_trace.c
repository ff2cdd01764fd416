/* Expressions as Lua values: undefined names are symbols, and operators on symbols build
 * the expression tree as written. */
#include <string.h>

#include "spec_parts.h"

static const char type_name[] = "ravel expression";

static void
push(Sandbox *s, const Ast *x)
{
    const Ast **p = lua_newuserdatauv(s->L, sizeof *p, 0);
    *p = x;
    luaL_setmetatable(s->L, type_name);
}

bool
trace_integer(lua_State *L, int index, i64 *v)
{
    int whole;
    if (lua_type(L, index) != LUA_TNUMBER)
        return false;
    *v = lua_tointegerx(L, index, &whole);
    return whole;
}

const Ast *
trace_get(Sandbox *s, int index)
{
    i64 v;
    const Ast **p = luaL_testudata(s->L, index, type_name);
    if (p)
        return *p;
    return trace_integer(s->L, index, &v)
           ? ast_num(s->arena, v, sandbox_where(s)) : NULL;
}

static const Ast *
operand(Sandbox *s, int index, Op op)
{
    const Ast *x = trace_get(s, index);
    if (x)
        return x;
    if (lua_type(s->L, index) == LUA_TNUMBER)
        luaL_error(s->L, "'%s' with %f: index expressions are whole numbers",
                   op_info[op].lua, lua_tonumber(s->L, index));
    luaL_error(s->L, "'%s' with a %s: expected a dim, a parameter or a number",
               op_info[op].lua, luaL_typename(s->L, index));
    return NULL;
}

/* The operator that the function stands for. */
static int
operate(Sandbox *s)
{
    Op op = (Op)sandbox_number(s);
    const Ast *x = operand(s, 1, op);
    const Ast *y = op_info[op].nargs == 2 ? operand(s, 2, op) : NULL;
    push(s, ast_op(s->arena, op, x, y, sandbox_where(s)));
    return 1;
}

/* An operator that is a function: of numbers a number. */
static int
call(Sandbox *s)
{
    Op op = (Op)sandbox_number(s);
    const OpInfo *o = &op_info[op];
    i64 x = 0, y = 0, v;
    if (lua_gettop(s->L) != o->nargs)
        return luaL_error(s->L, o->nargs == 1 ? "%s takes one argument"
                          : "%s takes two arguments: %s(a, %s(b, c)) for more",
                          o->lua, o->lua, o->lua);
    if (!trace_integer(s->L, 1, &x) || (o->nargs == 2 && !trace_integer(s->L, 2, &y)))
        return operate(s);
    if (!op_value(o->is, x, y, &v))
        return luaL_error(s->L, "%s: the value does not fit 64 bits", o->lua);
    lua_pushinteger(s->L, v);
    return 1;
}

static bool
is_library(const char *name)
{
    static const char *const library[] = {"io", "os", "string", "table", "math", "debug",
                                          "package", "coroutine", "utf8"};
    for (size_t i = 0; i < sizeof library / sizeof library[0]; i++)
        if (!strcmp(name, library[i]))
            return true;
    return false;
}

/* x[k] is bit k; T[x] is number x of a table, which the layout has as a field */
static int
index_bit(Sandbox *s)
{
    i64 k;
    const Ast *x = trace_get(s, 1);
    if (x->op == OP_SYM && luaL_testudata(s->L, 2, type_name)) {
        push(s, ast_table(s->arena, &(AstTable){.name = x->name, .at = trace_get(s, 2)},
                          sandbox_where(s)));
        return 1;
    }
    if (!trace_integer(s->L, 2, &k))
        return luaL_error(s->L, is_library(ast_text(s->arena, x))
                                ? "'%s' is a library of Lua; a spec has none, and opens no files"
                                : "there is no '%s' here with parts to name; a bit of a "
                                  "dim is written N[2]", ast_text(s->arena, x));
    if (k < 0 || k > SHIFT_MAX)
        return luaL_error(s->L, "%s[%I]: bits are 0 to 61",
                          ast_text(s->arena, x), (LUAI_UACINT)k);
    push(s, ast_bit(s->arena, x, k, sandbox_where(s)));
    return 1;
}

/* extent(W): a symbol, whose value the shape gives. */
static int
extent(Sandbox *s)
{
    const Ast *x = luaL_testudata(s->L, 1, type_name) ? trace_get(s, 1) : NULL;
    if (!x || x->op != OP_SYM || !sandbox_is_name(x->name) || lua_gettop(s->L) != 1)
        return luaL_error(s->L, "extent takes one dim, as in extent(W)");
    push(s, ast_sym(s->arena, layout_extent_name(s->arena, x->name), sandbox_where(s)));
    return 1;
}

static int
refuse_call(Sandbox *s)
{
    const char *names[OP_COUNT + 8] = {"layout", "xor", "reverse", "pairs", "ipairs",
                                       "tostring", "extent"};
    for (int op = 0, n = 7; op < OP_COUNT; op++)
        if (op_is_call((Op)op))
            names[n++] = op_info[op].lua;
    const char *text = ast_text(s->arena, trace_get(s, 1));
    if (!strcmp(text, "require") || !strcmp(text, "dofile") || !strcmp(text, "loadfile"))
        return luaL_error(s->L, "'%s' is not a function here: a spec is one file and opens no others; "
                          "--spec FILE (ravel_load) loads one before it", text);
    const char *near = diag_nearest(text, names);
    return luaL_error(s->L, "'%s' is not a function here%s%s%s", text,
                      near ? "; did you mean '" : "", near ? near : "",
                      near ? "'?" : "");
}

static int
refuse_compare(Sandbox *s)
{
    Buf b = buf_new(s->arena);
    for (int op = 0; op < OP_COUNT; op++)
        if (op_info[op].nargs == 2)
            buf_printf(&b, " %s", op_info[op].lua);
    return luaL_error(s->L, "an index expression has no value yet: it cannot be "
                            "compared; write it with%s", b.s);
}

static int
refuse_divide(Sandbox *s)
{
    return luaL_error(s->L, "'/' is not for indices; write '//' for division "
                            "rounded down");
}

static int
refuse_power(Sandbox *s)
{
    return luaL_error(s->L, "'^' is not for indices; write '~' for exclusive or, M*M for a "
                            "square");
}

static int
refuse_assign(Sandbox *s)
{
    return luaL_error(s->L, "an index expression cannot be assigned to");
}

static int
to_string(Sandbox *s)
{
    lua_pushstring(s->L, ast_text(s->arena, trace_get(s, 1)));
    return 1;
}

/* An undefined global is a symbol. */
static int
symbol(Sandbox *s)
{
    if (lua_type(s->L, 2) != LUA_TSTRING)
        return luaL_error(s->L, "a name was expected");
    const char *name = lua_tostring(s->L, 2);
    if (!sandbox_is_name(name) || lua_rawlen(s->L, 2) != strlen(name))
        return luaL_error(s->L, "a name is at most %d letters, digits and _",
                          MAX_NAME);
    int i = 0;
    while (i < s->nseen && strcmp(s->seen[i], name))
        i++;
    const Ast *x = ast_sym(s->arena, name, sandbox_where(s));
    if (i == s->nseen && s->nseen < LEN(s->seen))
        s->seen[s->nseen++] = x->name;
    push(s, x);
    return 1;
}

/* Called with the environment on top. */
void
trace_open(Sandbox *s)
{
    static const struct {
        const char *meta;
        SpecFunction *f;
    } others[] = {
        {"__index", index_bit},     {"__newindex", refuse_assign},
        {"__call", refuse_call},    {"__eq", refuse_compare},
        {"__lt", refuse_compare},   {"__le", refuse_compare},
        {"__div", refuse_divide},   {"__tostring", to_string},
        {"__pow", refuse_power},
    };
    luaL_newmetatable(s->L, type_name);
    for (int op = 0; op < OP_COUNT; op++)
        if (op_info[op].meta[0])
            sandbox_register_with(s, op_info[op].meta, operate, op);
    for (int i = 0; i < LEN(others); i++)
        sandbox_register(s, others[i].meta, others[i].f);
    sandbox_hide(s->L);
    lua_pop(s->L, 1);
    for (int op = 0; op < OP_COUNT; op++)
        if (op_is_call((Op)op))
            sandbox_register_with(s, op_info[op].lua, call, op);
    sandbox_register(s, "extent", extent);
    lua_newtable(s->L);
    sandbox_register(s, "__index", symbol);
    sandbox_hide(s->L);
    lua_setmetatable(s->L, -2);
}

/* The value of a name while a traced function is compared: every parameter
 * is 3, which is as good as any other. */
static bool
sample_value(const void *env, const char *name, i64 *v)
{
    const i64 *a = env;
    *v = strcmp(name, "a") ? 3 : *a;
    return true;
}

static void
compare_at(Sandbox *s, int f, const Ast *x, i64 a)
{
    i64 traced, plain;
    lua_pushvalue(s->L, f);
    lua_pushinteger(s->L, a);
    lua_call(s->L, 1, 1);
    const Ast *y = trace_get(s, -1);
    lua_pop(s->L, 1);
    work_spend(s->arena, x->size);
    if (!ast_eval(x, sample_value, &a, &traced))
        return;                       /* beyond 64 bits, where Lua wraps around */
    if (!y || !ast_eval(y, sample_value, &a, &plain) || traced != plain)
        diag_fatal(s->arena->diag, DIAG_SPEC, sandbox_where(s),
                   "the function does something else for %lld than for the symbol it "
                   "was traced with: it must not branch on its argument", (long long)a);
}

const Ast *
trace_function(Sandbox *s, int index)
{
    index = lua_absindex(s->L, index);
    lua_pushvalue(s->L, index);
    push(s, ast_sym(s->arena, "a", sandbox_where(s)));
    lua_call(s->L, 1, 1);
    const Ast *x = trace_get(s, -1);
    if (!x)
        diag_fatal(s->arena->diag, DIAG_SPEC, sandbox_where(s),
                   "the function must return an expression of its argument, not a %s",
                   luaL_typename(s->L, -1));
    lua_pop(s->L, 1);
    for (i64 a = 0; a < 64; a++)
        compare_at(s, index, x, a);
    for (int k = 6; k < 40; k++) {
        compare_at(s, index, x, (i64)1 << k);
        compare_at(s, index, x, ((i64)1 << k) - 1);
    }
    return x;
}
