/* Expression text: parse -> print -> parse, lower -> print -> parse -> lower, and the
 * value of both forms at some points.  The first byte chooses the variables' range. */
#include "fuzz.h"

enum { NVARS = 4, POINTS = 16 };
static const char *const names[NVARS] = {"a", "b", "c", "d"};
static const struct { i64 lo, hi; } range[] = {
    {0, 7}, {0, 100}, {-8, 7}, {-1000, 1000}, {0, INF / 4}, {-INF / 8, INF / 8},
    {5, 5}, {0, (i64)1 << 40}, {0, INF}, {-INF, INF}, {3, 4097}, {-1, 0},
};

typedef struct {
    Arena arena;
    const char *text;
    unsigned range;
    Exprs *e;
    int var[NVARS];
    uint64_t seed;
} Case;

static const Ex *
find(void *env, const Ast *sym)
{
    Case *c = env;
    for (int i = 0; i < NVARS; i++)
        if (!strcmp(sym->name, names[i]))
            return ex_of_var(c->e, c->var[i]);
    return NULL;
}

static bool
lookup(const void *env, const char *name, i64 *v)
{
    for (int i = 0; i < NVARS; i++)
        if (!strcmp(name, names[i])) {
            *v = ((const i64 *)env)[i];
            return true;
        }
    return false;
}

/* Some value in range: an end, near an end, or anywhere. */
static i64
some(Case *c)
{
    i64 lo = range[c->range].lo, hi = range[c->range].hi;
    uint64_t width = (uint64_t)hi - (uint64_t)lo + 1;
    c->seed = c->seed * 6364136223846793005u + 1442695040888963407u;
    uint64_t r = c->seed >> 33 | c->seed << 31;
    uint64_t n = r % 4 == 0 ? r / 4 % 40 : r / 4;
    n = width ? n % width : n;
    return r & 1 << 20 ? (i64)((uint64_t)lo + n) : (i64)((uint64_t)hi - n);
}

static void
check_facts(const Ex *x, i64 v)
{
    Facts f = x->f;
    fuzz_check((f.min == -INF || f.min <= v) && v <= f.max);
    fuzz_check(f.mod == 0 ? v == f.rem : ((__int128)v - f.rem) % f.mod == 0);
    fuzz_check(f.min < 0 || ((uint64_t)v & ~f.ones) == 0);
}

static void
check_values(Case *c, const Ast *t, const Ex *x)
{
    for (int p = 0; p < POINTS; p++) {
        i64 val[NVARS], got, want;
        for (int i = 0; i < NVARS; i++)
            val[i] = p == 0 ? range[c->range].lo : p == 1 ? range[c->range].hi : some(c);
        if (!ast_eval(t, lookup, val, &want))
            continue;
        bool fits = ex_eval(x, val, &got);
        if (!fits && range[c->range].hi == INF)
            continue;                        /* a + b - (a & b) of unbounded ones */
        if (!fits || got != want)
            fuzz_fail("%s became %s; at %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64
                      " it is %" PRId64 ", not %" PRId64, c->text, ex_text(c->e, x),
                      val[0], val[1], val[2], val[3], got, want);
        check_facts(x, got);
    }
}

static void
run(void *arg)
{
    Case *c = arg;
    const Ast *t = ast_parse(&c->arena, c->text, (Loc){0});
    const char *written = ast_text(&c->arena, t);
    if (strcmp(written, ast_text(&c->arena, ast_parse(&c->arena, written, (Loc){0}))))
        fuzz_fail("'%s' reads back otherwise", written);
    c->e = ex_new(&c->arena);
    for (int i = 0; i < NVARS; i++)
        c->var[i] = ex_var(c->e, names[i], range[c->range].lo, range[c->range].hi);
    const Ex *x = ast_lower(c->e, t, find, c);
    check_values(c, t, x);
    const char *text = ex_text(c->e, x);
    const Ex *again = ast_lower(c->e, ast_parse(&c->arena, text, (Loc){0}), find, c);
    if (again != x)
        fuzz_fail("'%s' reads back as '%s'", text, ex_text(c->e, again));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    if (!len)
        return 0;
    Case c = {.text = fuzz_text(data + 1, len - 1), .range = *data % LEN(range)};
    for (size_t i = 0; i < len; i++)
        c.seed = (c.seed ^ data[i]) * 1099511628211u;
    fuzz_run(&c.arena, run, &c);
    free((char *)c.text);
    return 0;
}
