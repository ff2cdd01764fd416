/* What is asked of a sandbox while it runs: its state, the place in its text; and words of Lua. */
#include <string.h>

#include "spec_parts.h"

lua_State *
sandbox_lua(Sandbox *s)
{
    return s->L;
}

Sandbox *
sandbox_of(lua_State *L)
{
    void *s;
    lua_getallocf(L, &s);
    return s;
}

const char *
sandbox_what(const Sandbox *s)
{
    return s->plain ? "table" : "spec";
}

void
sandbox_hide(lua_State *L)
{
    lua_pushboolean(L, false);
    lua_setfield(L, -2, "__metatable");
}

Loc
sandbox_where(Sandbox *s)
{
    lua_Debug ar;
    for (int level = 0; lua_getstack(s->L, level, &ar); level++) {
        lua_getinfo(s->L, "Sl", &ar);
        if (ar.currentline > 0 && strcmp(ar.source, SANDBOX_PRELUDE))
            return (Loc){s->file, ar.currentline};
    }
    return (Loc){s->file, 1};
}

bool
sandbox_is_name(const char *s)
{
    size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                         "0123456789_");
    return n > 0 && n <= MAX_NAME && s[n] == 0 && (*s < '0' || *s > '9');
}

const char *
sandbox_reserved(const char *s, size_t n)
{
    static const char *const words[] = {
        "and", "break", "do", "else", "elseif", "end", "false", "for", "function", "goto",
        "if", "in", "local", "nil", "not", "or", "repeat", "return", "then", "true", "until",
        "while"};
    for (int i = 0; i < LEN(words); i++)
        if (strlen(words[i]) == n && !strncmp(s, words[i], n))
            return words[i];
    return NULL;
}
