/* Pass a plan of tiles as a Lua table to the target's emit_plan, which returns the
 * text.  The function runs in the sandbox for specs. */
#include <string.h>

#include <lauxlib.h>
#include <lua.h>

#include "burst.h"
#include "../spec/spec.h"

typedef struct {
    Writer w;
    const BurstPlan *p;
    const char *name, *head;
    lua_State *L;
    const char *text;     /* the result */
} Emission;

static void
set_string(lua_State *L, const char *field, const char *v)
{
    lua_pushstring(L, v);
    lua_setfield(L, -2, field);
}

static void
set_number(lua_State *L, const char *field, i64 v)
{
    lua_pushinteger(L, v);
    lua_setfield(L, -2, field);
}

static void
set_expression(Emission *m, const char *field, const Ex *x)
{
    set_string(m->L, field, writer_expr(&m->w, x));
}

/* Pops the table on top and stores it as element i, from 0, of the table below it. */
static void
append(lua_State *L, i64 i)
{
    lua_rawseti(L, -2, i + 1);
}

static void
push_moves(lua_State *L, const BurstMove *v, i64 n, bool counted)
{
    lua_newtable(L);
    for (i64 i = 0; i < n; i++) {
        lua_newtable(L);
        if (counted)
            set_number(L, "n", v[i].n);
        set_number(L, "to", v[i].to);
        set_number(L, "from", v[i].from);
        append(L, i);
    }
}

static void
push_side(Emission *m, const BurstSide *s)
{
    lua_State *L = m->L;
    lua_newtable(L);
    set_expression(m, "at", s->at);
    set_expression(m, "skip", s->skip);
    set_expression(m, "bytes", s->bytes);
    set_number(L, "place", s->local);
    set_number(L, "room", s->room);
    lua_newtable(L);
    for (int i = 0; i < s->nsteps; i++) {
        lua_newtable(L);
        set_number(L, "n", s->step[i].n);
        set_number(L, "stride", s->step[i].memory);
        set_number(L, "pitch", s->step[i].local);
        append(L, i);
    }
    lua_setfield(L, -2, "steps");
}

static void
push_loops(lua_State *L, const BurstTile *t)
{
    lua_newtable(L);
    for (int i = 0; i < t->nloops; i++) {
        lua_newtable(L);
        set_string(L, "name", t->loop[i].name);
        set_number(L, "n", t->loop[i].n);
        append(L, i);
    }
    lua_setfield(L, -2, "loops");
}

/* v, an element of this size, repeated to 8 bytes. */
static i64
repeated(uint64_t v, int bits)
{
    for (int at = bits; at < 64; at *= 2)
        v |= v << at;
    return (i64)v;
}

/* Pushes the fill, repeated to the size of an item: the lower and the upper 8 bytes; or how those
 * follow from the fill that each run is given. */
static void
push_fill(Emission *m)
{
    lua_State *L = m->L;
    const Plan *p = m->p->plan;
    const uint64_t *fill = p->dst->fill;
    int bits = p->dst->dtype->bits;
    lua_newtable(L);
    if (p->scalars->fill >= 0) {
        set_number(L, "mask", bits < 64 ? ((i64)1 << bits) - 1 : -1);
        set_number(L, "times", repeated(1, bits));
    } else {
        set_number(L, "low", repeated(fill[0], bits));
        set_number(L, "high", repeated(fill[bits == 128], bits));
    }
    lua_setfield(L, -2, "fill");
}

static void
push_tile(Emission *m, const BurstTile *t)
{
    lua_State *L = m->L;
    bool fill = t->nest->kind == NEST_FILL;
    lua_newtable(L);
    set_string(L, "what", plan_box(m->w.arena, m->p->plan, t->nest));
    push_loops(L, t);
    if (fill) {
        push_fill(m);
    } else {
        push_side(m, &t->side[SOURCE]);
        lua_setfield(L, -2, "read");
    }
    push_side(m, &t->side[DESTINATION]);
    lua_pushboolean(L, !t->side[DESTINATION].whole);
    lua_setfield(L, -2, "keep");
    lua_setfield(L, -2, "write");
    set_number(L, "item", t->item);
    push_moves(L, t->move, t->nmoves, true);
    lua_setfield(L, -2, "moves");
    push_moves(L, t->start, t->nstarts, false);
    lua_setfield(L, -2, "starts");
}

/* Pushes the plan. */
static void
push_plan(void *arg)
{
    Emission *m = arg;
    lua_State *L = m->L;
    i64 n = 0;
    luaL_checkstack(L, 16, NULL);
    lua_newtable(L);
    set_string(L, "name", m->name);
    set_string(L, "head", m->head);
    if (m->p->plan->scalars->fill >= 0)
        set_string(L, "fill", layout_fill_name(m->p->plan->dst->ref->def));
    set_number(L, "burst", m->p->m.burst);
    set_number(L, "memory", m->p->m.memory);
    set_number(L, "src_bytes", layout_bytes(m->p->plan->src));
    set_number(L, "dst_bytes", layout_bytes(m->p->plan->dst));
    lua_newtable(L);
    for (const BurstTile *t = m->p->tile; t; t = t->next) {
        push_tile(m, t);
        append(L, n++);
    }
    lua_setfield(L, -2, "tiles");
}

static void
take_text(void *arg)
{
    Emission *m = arg;
    size_t n;
    const char *s = lua_tolstring(m->L, -1, &n);
    if (strlen(s) != n)
        diag_fatal(m->w.arena->diag, DIAG_SPEC, (Loc){0},
                   "emit_plan returns a text with zero bytes");
    m->text = arena_string(m->w.arena, s);
}

/* Calls emit_plan; the target's table is on the stack. */
static void
call_it(Sandbox *s, void *arg)
{
    Emission *m = arg;
    lua_State *L = m->L = sandbox_lua(s);
    lua_getfield(L, -1, "emit_plan");
    sandbox_try(s, push_plan, m);
    lua_call(L, 1, 1);
    if (lua_type(L, -1) != LUA_TSTRING)
        luaL_error(L, "emit_plan returns a %s: a string is wanted", luaL_typename(L, -1));
    sandbox_try(s, take_text, m);
}

const char *
burst_emit(const Target *t, const BurstPlan *p, const char *name, const char *command)
{
    Arena *a = ex_arena(p->plan->e);
    Buf head = buf_new(a), comment = buf_new(a);
    Emission m = {.w = writer_new(t, p->plan->e, &comment), .p = p, .name = name};
    buf_printf(&head, "%s\n", command);
    emit_layout_head(&head, "src", p->plan->src);
    emit_layout_head(&head, "dst", p->plan->dst);
    buf_add(&head, emit_made());
    writer_comment(&m.w, head.s);
    m.head = comment.s;
    sandbox_plain(a, target_name(t), target_text(t, "emit_plan"), call_it, &m);
    return m.text;
}
