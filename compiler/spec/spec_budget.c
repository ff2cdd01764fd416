/* The budgets of a sandbox: instructions, live memory, memory requested in all, expressions
 * made, and work.  Each budget stops attacks that the others do not stop:
 * tests/unit/test_sandbox.c has one for each.  The last budget is time, for work that no
 * count sees: long chains in a hash table, functions that move a large table. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "spec_parts.h"

static const struct {
    long instructions;    /* where the work limit is what it is without one given */
    size_t live, total, arena;
    double seconds;
} budget = {5000000, BUDGET_LIVE, 1u << 30, 64u << 20, 2.0};

/* An instruction may go through a string; memory is asked for and collected. */
enum { HOOK_EVERY = 100, STRING_STEP = 256, MEMORY_STEP = 64 };
/* Nodes of tables, and how many pairs of them are compared in the time of a step. */
enum { NODE_BYTES = 24, NODES_A_STEP = 32 };

static double
now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* By its size a new block is the n nodes that a table's hash moves to.  Whole numbers
 * choose where they go in it, so that all may meet, and each is compared with those
 * before. */
static bool
affords_block(Sandbox *s, size_t bytes)
{
    i64 n = (i64)(bytes / NODE_BYTES);
    bool nodes = bytes % NODE_BYTES == 0 && int_is_pow2(n);
    if (s->running && nodes && !work_try(s->arena, n * n / NODES_A_STEP))
        s->limited = true;
    return !s->limited;
}

/* May refuse only growth: Lua does not survive a failing shrink. */
static void *
allocate(void *ud, void *p, size_t osize, size_t nsize)
{
    Sandbox *s = ud;
    if (!p && osize == LUA_TSTRING && nsize > s->longest)
        s->longest = nsize;
    if (!p && !osize && nsize && !affords_block(s, nsize))
        return NULL;
    if (!p)
        osize = 0;
    if (nsize == 0) {
        s->live -= osize;
        free(p);
        return NULL;
    }
    if (nsize > osize) {
        size_t more = nsize - osize;
        if (more > budget.live - s->live || more > budget.total - s->total) {
            s->starved = false;
            return NULL;
        }
    }
    void *q = realloc(p, nsize);
    s->starved |= !q && nsize > osize;
    if (!q && nsize <= osize)
        q = p;
    if (q) {
        s->live += nsize - osize;
        s->total += nsize > osize ? nsize - osize : 0;
    }
    return q;
}

/* That much, where the limit is what it is without one given. */
static double
scaled(const Sandbox *s, double most)
{
    const double usual = (double)WORK_UNITS * WORK_A_UNIT;
    return most * (double)work_most(&s->arena->work) / usual;
}

static void
over(Sandbox *s, double most, const char *of)
{
    char number[32];
    snprintf(number, sizeof number, "%g", most);
    luaL_error(s->L, "%s:%d: the %s runs for more than %s %s; --limit (ravel_set_limit) "
               "allows more", s->file, sandbox_where(s).line, sandbox_what(s), number, of);
}

/* The work since the hook was last called. */
static i64
steps_since(Sandbox *s)
{
    size_t memory = s->total - s->counted, each = 1 + s->longest / STRING_STEP;
    s->counted = s->total;
    return (i64)(HOOK_EVERY * each + memory / MEMORY_STEP);
}

static void
on_count(lua_State *L, lua_Debug *ar)
{
    Sandbox *s = sandbox_of(L);
    double most = scaled(s, (double)budget.instructions);
    double seconds = scaled(s, budget.seconds);
    (void)ar;
    s->instructions += HOOK_EVERY;
    s->spent = true;
    if ((double)s->instructions > most)
        over(s, most / 1000000, "million instructions");
    if (!work_try(s->arena, steps_since(s)))
        luaL_error(L, "%s:%d: the %s takes more work than the limit allows, in "
                   "instructions, memory and long strings; --limit (ravel_set_limit) "
                   "allows more", s->file, sandbox_where(s).line, sandbox_what(s));
    if (now() - s->start > seconds)
        over(s, seconds, "seconds");
    s->spent = false;
}

lua_State *
budget_state(Sandbox *s)
{
    s->start = now();
    s->held = s->arena->held;
    return lua_newstate(allocate, s);
}

void
budget_watch(Sandbox *s)
{
    lua_sethook(s->L, on_count, LUA_MASKCOUNT, HOOK_EVERY);
    s->running = true;
}

void
budget_check_arena(Sandbox *s)
{
    if (s->arena->held - s->held <= budget.arena)
        return;
    s->spent = true;
    luaL_error(s->L, "the spec makes more than %d MB of expressions",
               (int)(budget.arena >> 20));
}
