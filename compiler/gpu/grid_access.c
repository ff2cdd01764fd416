/* Counts the accesses of a block.  It interprets the statements for every thread and
 * evaluates the indices.  The accesses of 32 threads at one statement, in one iteration of
 * the loop around it, are a request. */
#include <stdlib.h>
#include <string.h>

#include "bank.h"
#include "grid_parts.h"

enum { REQUESTS_MAX = 4096 };

const char *const grid_spaces[] = {[SPACE_SRC] = "src", [SPACE_DST] = "dst",
                                   [SPACE_SHARED] = "shared", [SPACE_TILE] = "tile",
                                   [SPACE_INDEX] = "index"};

/* The accesses of the lanes of one warp at a statement, in one iteration of its loop. */
typedef struct {
    const GridStmt *s;
    i64 iteration;
    i64 addr[WARP];
    uint64_t active;
} WarpRequest;

typedef struct {
    const GridUnit *u;
    i64 *val;             /* values of the variables */
    WarpRequest *request; /* requests of the warp */
    int n;
    int lane;
    i64 iteration;
    BlockAccess *out;
    i64 **addr;           /* for each kind: the addresses of all lanes, -1 without one */
    int kinds, max;
} BlockWalk;

static i64
value_of(BlockWalk *w, const Ex *x)
{
    i64 v;
    if (!ex_eval(x, w->val, &v))
        diag_fatal(ex_arena(w->u->e)->diag, DIAG_LAYOUT, (Loc){0},
                   "an index does not fit 64 bits");
    return v;
}

/* Records an access of the lane at s: `width` bytes at index `at`, in units of width. */
static void
note(BlockWalk *w, const GridStmt *s, const Ex *at, int width)
{
    int i = 0;
    while (i < w->n && (w->request[i].s != s || w->request[i].iteration != w->iteration))
        i++;
    if (i == w->n) {
        if (i == REQUESTS_MAX)
            diag_fatal(ex_arena(w->u->e)->diag, DIAG_MEMORY, (Loc){0},
                       "more than %d accesses of a thread", REQUESTS_MAX);
        w->request[w->n++] = (WarpRequest){.s = s, .iteration = w->iteration};
    }
    w->request[i].addr[w->lane] = value_of(w, at) * width;
    w->request[i].active |= UINT64_C(1) << w->lane;
}

static bool
holds(BlockWalk *w, const GridStmt *s)
{
    for (int i = 0; i < s->nvalues; i++)
        if (value_of(w, s->value[i]) >= s->bound[i]->base)
            return false;
    return !s->same[0] || value_of(w, s->same[0]) == value_of(w, s->same[1]);
}

static void walk(BlockWalk *w, const GridStmt *s);

/* The number of an iteration counts those of the loops around it too. */
static void
iterate(BlockWalk *w, const GridStmt *s)
{
    i64 outer = w->iteration;
    for (i64 i = 0; i < s->count; i++) {
        w->iteration = outer * s->count + i;
        w->val[s->var] = i;
        walk(w, s->body);
    }
    w->iteration = outer;
}

/* A number for the index array, whose contents are not known: numbers of adjacent places are
 * far from each other. */
static i64
invented(BlockWalk *w, const GridStmt *s)
{
    enum { PERIOD = 1 << 24, STEP = 40503 };
    const i64 n = ex_of_var(w->u->e, s->var)->f.max + 1;
    return value_of(w, s->value[0]) % PERIOD * STEP % n;
}

/* The address of memory that a statement reads or writes; NULL: none. */
static const Ex *
accessed(const GridStmt *s)
{
    switch (s->kind) {
    case G_LOAD: case G_STORE: case G_WORD: case G_LOOKUP:
        return s->value[0];
    case G_PUT:
        return s->value[1];
    default:
        return NULL;
    }
}

/* Interprets a body for one thread. */
static void
walk(BlockWalk *w, const GridStmt *s)
{
    for (; s; s = s->next) {
        if (accessed(s))
            note(w, s, accessed(s), s->width);
        switch (s->kind) {
        case G_LET:
            w->val[s->var] = w->val[s->guarded] = value_of(w, s->value[0]);
            break;
        case G_FOR:
            iterate(w, s);
            break;
        case G_WHEN:
            if (holds(w, s))
                walk(w, s->body);
            else if (s->next && s->next->kind == G_ELSE)
                walk(w, s->next->body);
            break;
        case G_LOOKUP:
            w->val[s->var] = invented(w, s);
            break;
        case G_MOVED:
            walk(w, s->body);
            break;
        default:                        /* G_ELSE: done by the G_WHEN before it */
            break;
        }
    }
}

static int
kind_of(BlockWalk *w, const GridStmt *s)
{
    bool store = s->kind == G_STORE;
    for (int i = 0; i < w->kinds; i++)
        if (w->out[i].space == s->space && w->out[i].store == store &&
            w->out[i].width == s->width)
            return i;
    if (w->kinds == w->max)
        diag_fatal(ex_arena(w->u->e)->diag, DIAG_MEMORY, (Loc){0},
                   "more than %d kinds of accesses", w->max);
    w->out[w->kinds] = (BlockAccess){.space = s->space, .store = store,
                                     .width = s->width};
    return w->kinds++;
}

/* Appends the addresses of one request. */
static void
add_addresses(BlockWalk *w, int kind, const WarpRequest *r)
{
    enum { CHUNK = WARP };
    BlockAccess *a = &w->out[kind];
    Arena *arena = ex_arena(w->u->e);
    i64 n = (a->requests - 1) * CHUNK;
    if ((a->requests & (a->requests - 1)) == 0) {
        i64 *more = arena_array(arena, i64, 2 * a->requests * CHUNK);
        if (n)
            memcpy(more, w->addr[kind], (size_t)n * sizeof *more);
        w->addr[kind] = more;
    }
    for (int l = 0; l < WARP; l++)
        w->addr[kind][n + l] = r->active >> l & 1 ? r->addr[l] : -1;
}

static void
count(BlockWalk *w, const WarpRequest *r)
{
    int k = kind_of(w, r->s);
    BlockAccess *a = &w->out[k];
    WarpAccess access = {r->addr, r->active, r->s->width};
    BankCount banks;
    SectorCount sectors;
    a->requests++;
    if (r->s->space == SPACE_SHARED && bank_shared(&banks_usual, &access, &banks)) {
        a->sectors += banks.wavefronts;
        a->ideal += banks.ideal;
    } else if (bank_global(&banks_usual, &access, &sectors)) {
        a->sectors += sectors.sectors;
        a->ideal += sectors.ideal;
        add_addresses(w, k, r);
    }
}

static int
by_number(const void *p, const void *q)
{
    i64 a = *(const i64 *)p, b = *(const i64 *)q;
    return a < b ? -1 : a > b;
}

/* Counts the sectors of all requests, and the fewest that have as many bytes.  Accesses of
 * one kind are aligned to their width, so two with different addresses share no byte. */
static void
finish(BlockWalk *w, int kind)
{
    BlockAccess *a = &w->out[kind];
    i64 n = a->requests * WARP, *s = w->addr[kind], distinct = 0;
    if (a->space == SPACE_SHARED || !s)
        return;
    qsort(s, (size_t)n, sizeof *s, by_number);
    for (i64 i = 0; i < n; i++) {
        bool first = i == 0 || s[i - 1] < 0;
        distinct += s[i] >= 0 && (first || s[i] != s[i - 1]);
        a->unique += s[i] >= 0 && (first || s[i] / SECTOR_BYTES != s[i - 1] / SECTOR_BYTES);
    }
    a->bytes = distinct * a->width;
    a->least = int_ceil_div(a->bytes, SECTOR_BYTES);
}

static void
warp(BlockWalk *w, const GridStmt *box, const GridStmt *phase, int first)
{
    w->n = 0;
    for (w->lane = 0; w->lane < WARP; w->lane++) {
        w->val[w->u->thread] = first + w->lane;
        for (const GridStmt *s = box->body; s != phase; s = s->next)
            if (s->kind == G_LET)
                w->val[s->var] = value_of(w, s->value[0]);
        walk(w, phase->body);
    }
    for (int i = 0; i < w->n; i++)
        count(w, &w->request[i]);
}

int
grid_access(const GridUnit *u, const GridStmt *box, i64 block, BlockAccess *out, int max)
{
    Arena *a = ex_arena(u->e);
    BlockWalk w = {.u = u, .out = out, .max = max};
    w.val = arena_array(a, i64, ex_nvars(u->e));
    w.request = arena_array(a, WarpRequest, REQUESTS_MAX);
    w.addr = arena_array(a, i64 *, max);
    for (int i = 0; i < u->plan->scalars->n; i++) {
        const int var = u->plan->scalars->scalar[i].var;
        w.val[var] = u->plan->scalars->nominal[var];
    }
    w.val[box->var] = block;
    for (const GridStmt *s = box->body; s; s = s->next)
        for (int t = 0; s->kind == G_PHASE && t < GRID_THREADS; t += WARP)
            warp(&w, box, s, t);
    for (int i = 0; i < w.kinds; i++)
        finish(&w, i);
    return w.kinds;
}
