/* The sandbox: a run of a text in a new Lua state, with the environment of spec_environment.c and
 * the budgets of spec_budget.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "spec_parts.h"

/* Raise the error of a diag_fatal as a Lua error. */
static void
raise(Sandbox *s, const Diag *d)
{
    if (!strncmp(d->text, s->file, strlen(s->file)))
        lua_pushstring(s->L, d->text);
    else
        lua_pushfstring(s->L, "%s:%d: %s", s->file, sandbox_where(s).line, d->text);
    if (diag_is_final(d))
        s->spent = true;
    s->arena_full |= d->kind == DIAG_MEMORY;
    s->limited |= d->kind == DIAG_LIMIT;
    lua_error(s->L);
}

bool
sandbox_try(Sandbox *s, void (*f)(void *), void *arg)
{
    Diag d;
    bool ok = arena_run(s->arena, &d, f, arg);
    if (!ok)
        raise(s, &d);
    return ok;
}

typedef struct {
    Sandbox *s;
    SpecFunction *f;
    int results;
} Call;

static void
call(void *arg)
{
    Call *c = arg;
    c->results = c->f(c->s);
}

/* Calls a SpecFunction so that diag_fatal inside it comes out as a Lua error.  Lua
 * errors that leave past this frame end in sandbox_run, which sets its own Diag. */
static int
guard(lua_State *L)
{
    Sandbox *s = sandbox_of(L);
    Call c = {.s = s};
    memcpy(&c.f, lua_touserdata(L, lua_upvalueindex(1)), sizeof c.f);
    budget_check_arena(s);
    return sandbox_try(s, call, &c) ? c.results : 0;
}

static void
push_with(Sandbox *s, SpecFunction *f, int number)
{
    void *p = lua_newuserdatauv(s->L, sizeof f, 0);
    memcpy(p, &f, sizeof f);
    lua_pushinteger(s->L, number);
    lua_pushcclosure(s->L, guard, 2);
}

int
sandbox_number(Sandbox *s)
{
    return (int)lua_tointeger(s->L, lua_upvalueindex(2));
}

void
sandbox_push(Sandbox *s, SpecFunction *f)
{
    push_with(s, f, 0);
}

void
sandbox_register_with(Sandbox *s, const char *name, SpecFunction *f, int number)
{
    push_with(s, f, number);
    lua_setfield(s->L, -2, name);
}

void
sandbox_register(Sandbox *s, const char *name, SpecFunction *f)
{
    sandbox_register_with(s, name, f, 0);
}

typedef struct {
    Sandbox *s;
    const Surroundings *around;    /* NULL: the text is plain Lua */
    const char *text;
    size_t len;
    int nresults;
    void (*use)(Sandbox *, void *);
    void *arg;
} SandboxRun;

/* Everything that may raise a Lua error, under one lua_pcall. */
static int
protected_run(lua_State *L)
{
    SandboxRun *j = lua_touserdata(L, 1);
    char chunk[256];
    snprintf(chunk, sizeof chunk, "=%.200s", j->s->file);
    environment_build(j->s, j->around, j->text, j->len);
    int env = lua_gettop(L);
    size_t mark = j->len >= 3 && !memcmp(j->text, "\xef\xbb\xbf", 3) ? 3 : 0;
    if (luaL_loadbufferx(L, j->text + mark, j->len - mark, chunk, "t") != LUA_OK)
        return lua_error(L);
    lua_pushvalue(L, env);
    lua_setupvalue(L, -2, 1);
    budget_watch(j->s);
    if (j->around)
        j->around->push(j->s);
    lua_call(L, j->around ? 1 : 0, j->nresults);
    if (j->use)
        j->use(j->s, j->arg);
    return 0;
}

/* The word of Lua at which it could not go on; NULL: it was no word. */
static const char *
reserved_word(const char *why)
{
    const char *at = strstr(why, " near '"), *end = at ? strchr(at + 7, '\'') : NULL;
    return end && !end[1] ? sandbox_reserved(at + 7, (size_t)(end - at - 7)) : NULL;
}

static void
report(Sandbox *s, bool over, bool starved, char *text, size_t size)
{
    const char *word, *why = lua_type(s->L, -1) == LUA_TSTRING ? lua_tostring(s->L, -1)
                                                               : NULL;
    if (starved)
        snprintf(text, size, "%.200s: out of memory", s->file);
    else if (over && s->limited)
        snprintf(text, size, "%.200s: the %s holds a table in memory that may take more "
                 "work than the limit allows; --limit (ravel_set_limit) allows more",
                 s->file, sandbox_what(s));
    else if (over)
        snprintf(text, size, "%.200s: the %s needs more than %d MB of memory",
                 s->file, sandbox_what(s), (int)(BUDGET_LIVE >> 20));
    else if (why && (word = reserved_word(why)))
        snprintf(text, size, "%s; '%s' is a word of Lua and cannot name a dim or a "
                 "parameter", why, word);
    else if (why && strncmp(why, s->file, strlen(s->file)))
        snprintf(text, size, "%.200s: %s", s->file, why);
    else if (why)
        snprintf(text, size, "%s", why);
    else
        snprintf(text, size, "%.200s: error() was called with a %s, not a message",
                 s->file, luaL_typename(s->L, -1));
}

/* Check the text before Lua reads it. */
static void
check_source(Arena *a, const SandboxRun *j, const char *file)
{
    SourceFacts f = source_facts(j->text, j->len);
    if (f.trap)
        diag_fatal(a->diag, DIAG_SPEC, (Loc){file, f.trap}, "Lua may compute '~ (x or "
                   "y)' wrongly in a text as long as this: write 'local z = x or y' "
                   "before it");
    if (!work_try(a, f.work))
        diag_fatal(a->diag, DIAG_LIMIT, (Loc){0}, "%.200s: to read %s takes more work "
                   "than the limit allows; fewer of them, or several files, take less, "
                   "and --limit (ravel_set_limit) allows more", file, f.most);
}

static void
run(Arena *a, SandboxRun j, const char *file)
{
    Diag *outer = a->diag;
    work_on(a, "to run", file);
    check_source(a, &j, file);
    Sandbox s = {.arena = a, .file = arena_string(a, file), .plain = !j.around};
    s.last = &s.first;
    s.L = budget_state(&s);
    if (!s.L)
        diag_fatal(outer, DIAG_MEMORY, (Loc){0}, "out of memory");
    j.s = &s;
    char why[sizeof outer->text] = "";
    lua_pushcfunction(s.L, protected_run);
    lua_pushlightuserdata(s.L, &j);
    int status = lua_pcall(s.L, 1, 0, 0);
    a->diag = outer;
    bool over = status == LUA_ERRMEM;
    bool starved = over ? s.starved && !s.limited : s.arena_full;
    if (status != LUA_OK)
        report(&s, over, starved, why, sizeof why);
    lua_close(s.L);
    if (status != LUA_OK)
        diag_fatal(outer, starved ? DIAG_MEMORY : s.limited ? DIAG_LIMIT : DIAG_SPEC,
                   (Loc){0}, "%s", why);
}

void
sandbox_run(Arena *a, const Surroundings *around, const char *file, const char *text,
            size_t len, int nresults, void (*use)(Sandbox *s, void *arg), void *arg)
{
    run(a, (SandboxRun){NULL, around, text, len, nresults, use, arg}, file);
}

void
sandbox_plain(Arena *a, const char *file, const char *text,
              void (*use)(Sandbox *s, void *arg), void *arg)
{
    run(a, (SandboxRun){NULL, NULL, text, strlen(text), 1, use, arg}, file);
}
