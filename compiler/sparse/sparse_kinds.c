/* Which kinds of levels may follow each other, and the numbers of levels. */
#include "sparse_parts.h"

enum { MOST_CODES = 16, MOST_SLICE = 1 << 20 };

typedef struct {
    Arena *arena;
    const SparseFormat *f;
    const LayoutDef *def;
} Kinds;

#define FAIL(c, ...) diag_fatal((c)->arena->diag, DIAG_LAYOUT, (c)->def->loc, __VA_ARGS__)

/* The number of an entry below its parent is a level of its own. */
static bool
numbers(LevelKind kind)
{
    return kind == LEVEL_NTH || kind == LEVEL_SLICED || kind == LEVEL_JAGGED;
}

/* The levels above level k are dense; of `ranked` ones, there is one. */
static bool
below_dense(const SparseFormat *f, int k, bool ranked)
{
    if (ranked && k == 1 && f->level[0].def.kind == LEVEL_RANKED)
        return true;
    for (int j = 0; j < k; j++)
        if (f->level[j].def.kind != LEVEL_DENSE)
            return false;
    return k > 0;
}

static void
check_singleton(const Kinds *c, int k)
{
    const LevelDef *up = k ? &c->f->level[k - 1].def : NULL;
    if (!up || !(up->kind == LEVEL_SINGLETON || numbers(up->kind) ||
                 (up->kind == LEVEL_COMPRESSED && up->repeats)))
        FAIL(c, "sparse '%s': level %d is a singleton; it follows compressed(x, "
             "\"nonunique\"), nth(), sliced(h), jagged() or another singleton", c->def->name,
             k + 1);
}

/* nth(), sliced(h), jagged(), and the singleton below. */
static void
check_numbers(const Kinds *c, int k)
{
    const SparseFormat *f = c->f;
    LevelKind kind = f->level[k].def.kind;
    const char *name = f->level[k].info->name;
    if (k + 1 == f->nlevel || f->level[k + 1].def.kind != LEVEL_SINGLETON ||
        !below_dense(f, k, kind != LEVEL_NTH))
        FAIL(c, "sparse '%s': %s() follows dense levels only%s, and a singleton follows it",
             c->def->name, name, kind == LEVEL_NTH ? "" : ", or ranked(x)");
    if (kind == LEVEL_JAGGED && (f->level[0].def.kind != LEVEL_RANKED || f->level[0].def.number))
        FAIL(c, "sparse '%s': jagged() follows ranked(x), without a number", c->def->name);
    if (k + 2 != f->nlevel)
        FAIL(c, "sparse '%s': one singleton follows %s(), as the last level", c->def->name, name);
    if (f->level[k + 1].bias)
        FAIL(c, "sparse '%s': a coordinate below %s() is 0 or more: -1 marks a place "
             "without an entry", c->def->name, name);
}

static void
check_ranked(const Kinds *c, int k)
{
    const SparseFormat *f = c->f;
    LevelKind next = k + 1 < f->nlevel ? f->level[k + 1].def.kind : LEVEL_DENSE;
    if (k || (next != LEVEL_SLICED && next != LEVEL_JAGGED))
        FAIL(c, "sparse '%s': ranked(x) is the first level, and sliced(h) or jagged() follows it",
             c->def->name);
}

static void
check_nofm(const Kinds *c, int k)
{
    const SparseFormat *f = c->f;
    const Level *l = &f->level[k];
    if (k + 1 != f->nlevel || !below_dense(f, k, false))
        FAIL(c, "sparse '%s': nofm(x, n) is the last level, and the others are dense",
             c->def->name);
    if (l->n > MOST_CODES || l->number > l->n)
        FAIL(c, "sparse '%s': nofm has %lld of %lld coordinates: at most all, of at most %d",
             c->def->name, (long long)l->number, (long long)l->n, MOST_CODES);
}

void
sparse_check_kinds(Arena *a, const SparseFormat *f)
{
    const Kinds c = {a, f, f->ref->def};
    for (int k = 0; k < f->nlevel; k++) {
        const Level *l = &f->level[k];
        LevelKind kind = l->def.kind;
        const LevelDef *up = k ? &f->level[k - 1].def : NULL;
        if (l->def.number && (l->number < 1 || (kind == LEVEL_SLICED && l->number > MOST_SLICE)))
            FAIL(&c, "sparse '%s': the number of level %d is %lld", c.def->name, k + 1,
                 (long long)l->number);
        if (l->bias && (kind == LEVEL_RANKED || kind == LEVEL_NOFM))
            FAIL(&c, "sparse '%s': a coordinate of %s is 0 or more", c.def->name, l->info->name);
        if (kind == LEVEL_SINGLETON)
            check_singleton(&c, k);
        else if (up && (up->kind == LEVEL_SINGLETON || up->repeats))
            FAIL(&c, "sparse '%s': level %d is %s; only singletons follow a level whose "
                 "coordinates repeat", c.def->name, k + 1, l->info->name);
        if (numbers(kind))
            check_numbers(&c, k);
        if (kind == LEVEL_RANKED)
            check_ranked(&c, k);
        if (kind == LEVEL_NOFM)
            check_nofm(&c, k);
    }
    const LevelDef *last = &f->level[f->nlevel - 1].def;
    if (last->kind == LEVEL_COMPRESSED && last->repeats)
        FAIL(&c, "sparse '%s': the last level cannot be nonunique: equal entries would differ in "
             "nothing", c.def->name);
}

int
sparse_tallied(const SparseFormat *f)
{
    for (int k = 0; k < f->nlevel; k++) {
        LevelKind kind = f->level[k].def.kind;
        if (kind == LEVEL_SLICED || kind == LEVEL_JAGGED || kind == LEVEL_NOFM)
            return k;
    }
    return -1;
}

i64
sparse_parents(const SparseFormat *f, int k)
{
    i64 n = 1;
    for (int j = 0; j < k; j++)
        n *= f->level[j].n;        /* the product of the levels fits: the order's size does */
    return n;
}
