/* decide_oracle.h: what a decision says of a layout, against every coordinate and address. */
#ifndef RAVEL_DECIDE_ORACLE_H
#define RAVEL_DECIDE_ORACLE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../compiler/decide/decide.h"
#include "../../compiler/spec/spec.h"

enum { RANK_MAX = 4, POINTS_MAX = 1 << 11, ADDRESSES_MAX = 1 << 16, DIGITS_MAX = 32,
       GAPS_MAX = 1 << 20 };

/* ---- the oracle: every coordinate, by the expressions as written ---- */

enum { FREE, PADDED, REAL };

typedef struct {
    Layout *l;
    Verdict *v;
    const char *text;     /* for messages */
    i64 declared[MAX_RANK];  /* padded extents before decide() */
    unsigned char *owner; /* of each address, by the real coordinates */
    i64 *val;
    bool distinct, inside;
} Case;

#define FAIL_CASE(c, ...) \
    do { print_error("%s:\n", (c)->text); fail_msg(__VA_ARGS__); } while (0)

static bool
next_point(int rank, const i64 *extent, i64 *x)
{
    for (int d = rank - 1; d >= 0; d--) {
        if (++x[d] < extent[d])
            return true;
        x[d] = 0;
    }
    return false;
}

static i64
product(int rank, const i64 *extent)
{
    i64 p = 1;
    for (int d = 0; d < rank; d++)
        p *= extent[d];
    return p;
}

static void
extents(const Case *c, int which, i64 *extent)
{
    for (int d = 0; d < c->l->rank; d++)
        extent[d] = which == REAL ? c->l->dim[d].n : c->l->dim[d].padded;
}

/* The address by the plain evaluator; the simplified form must say the same. */
static i64
address(Case *c, const i64 *x)
{
    i64 a = -1, b = -1;
    bool plain = layout_address(c->l, x, &a);
    for (int d = 0; d < c->l->rank; d++)
        c->val[c->l->dim[d].var] = x[d];
    bool simple = ex_eval(c->l->addr, c->val, &b);
    if (!plain || !simple || a != b)
        FAIL_CASE(c, "address(%lld, %lld, %lld, %lld): %d %lld as written, %d %lld "
                  "simplified", (long long)x[0], (long long)x[1], (long long)x[2],
                  (long long)x[3], plain, (long long)a, simple, (long long)b);
    return a;
}

/* Note the owner of each address; false when an address is taken or outside. */
static bool
occupy(Case *c, const i64 *extent, int owner)
{
    i64 x[MAX_RANK] = {0};
    do {
        i64 a = address(c, x);
        if (a < 0 || a >= c->l->size) {
            c->inside = false;
            continue;
        }
        c->distinct &= c->owner[a] == FREE;
        c->owner[a] = (unsigned char)owner;
    } while (next_point(c->l->rank, extent, x));
    return c->distinct && c->inside;
}

static bool
is_real(const Case *c, const i64 *x)
{
    for (int d = 0; d < c->l->rank; d++)
        if (x[d] < 0 || x[d] >= c->l->dim[d].n)
            return false;
    return true;
}

static void
check_collision(Case *c)
{
    const Verdict *v = c->v;
    bool same = true;
    for (int d = 0; d < c->l->rank; d++)
        same &= v->x[d] == v->y[d];
    if (same || !is_real(c, v->x) || !is_real(c, v->y))
        FAIL_CASE(c, "the witness is no pair of distinct coordinates in range");
    if (address(c, v->x) != v->at || address(c, v->y) != v->at)
        FAIL_CASE(c, "the witness does not collide at %lld", (long long)v->at);
}

static bool
sigma_symbol(const void *env, const char *name, i64 *v)
{
    *v = *(const i64 *)env;
    return !strcmp(name, "a");
}

/* The swizzle of one element address, from its definition; -1: no element. */
static i64
swizzled(const Layout *l, i64 a)
{
    const LayoutDef *d = l->ref->def;
    i64 bits = l->dtype->bits, low = 0, y;
    if (d->swizzle_bytes && bits < 8) {
        low = a % (8 / bits);
        a /= 8 / bits;
    } else if (d->swizzle_bytes) {
        a *= bits / 8;
    }
    if (!ast_eval(d->swizzle, sigma_symbol, &a, &y) || y < 0)
        return -1;
    if (!d->swizzle_bytes)
        return y;
    return bits < 8 ? y * (8 / bits) + low : y % (bits / 8) ? -1 : y / (bits / 8);
}

static bool
swizzle_permutes(const Case *c)
{
    unsigned char *hit = calloc((size_t)c->l->size, 1);
    bool ok = true;
    for (i64 a = 0; ok && a < c->l->size; a++) {
        i64 y = swizzled(c->l, a);
        ok = y >= 0 && y < c->l->size && !hit[y];
        if (ok)
            hit[y] = 1;
    }
    free(hit);
    return ok;
}

/* ---- a digit stored twice: both entries must really tell it ---- */

typedef struct {
    const Layout *l;
    const i64 *x;
} Point;

static bool
dim_value(const void *env, const char *name, i64 *v)
{
    const Point *p = env;
    for (int d = 0; d < p->l->rank; d++)
        if (!strcmp(p->l->dim[d].name, name)) {
            *v = p->x[d];
            return true;
        }
    return false;
}

/* The value of `digit` follows from the value of `entry`, over all coordinates that
 * have storage, and is not always the same. */
static bool
entry_tells(Case *c, const Ast *entry, const Ast *digit)
{
    enum { VALUES = 1 << 16 };
    static i64 seen[VALUES];
    i64 extent[MAX_RANK], x[MAX_RANK] = {0}, e, v, first = -1;
    bool ok = true, varies = false;
    memset(seen, 0xff, sizeof seen);
    memcpy(extent, c->declared, sizeof extent);
    do {
        Point p = {c->l, x};
        ok &= ast_eval(entry, dim_value, &p, &e) && ast_eval(digit, dim_value, &p, &v);
        ok &= e >= 0 && e < VALUES && (seen[e] < 0 || seen[e] == v);
        if (!ok)
            break;
        seen[e] = v;
        first = first < 0 ? v : first;
        varies |= v != first;
    } while (next_point(c->l->rank, extent, x));
    return ok && varies;
}

static void
check_repeated(Case *c)
{
    char digit[64], p[512], q[512];
    Arena *a = ex_arena(c->l->e);
    if (sscanf(c->v->why, "the digit %63s is stored twice: in '%511[^']' and in "
               "'%511[^']'", digit, p, q) != 3)
        FAIL_CASE(c, "cannot read '%s'", c->v->why);
    const Ast *t = ast_parse(a, digit, (Loc){0});
    if (!entry_tells(c, ast_parse(a, p, (Loc){0}), t) ||
        !entry_tells(c, ast_parse(a, q, (Loc){0}), t))
        FAIL_CASE(c, "not so: %s", c->v->why);
}

/* ---- what must hold of each verdict ---- */

static void
check_refusal(Case *c)
{
    if (c->v->flaw == FLAW_COLLISION) {
        check_collision(c);
    } else if (c->v->flaw == FLAW_SIGMA) {
        if (swizzle_permutes(c))
            FAIL_CASE(c, "the swizzle is a permutation, not '%s'", c->v->why);
    } else {
        FAIL_CASE(c, "NO without a reason: flaw %d", c->v->flaw);
    }
}

/* The padding may be given up only where it collides. */
static void
check_shrunk(Case *c)
{
    bool shrunk = false;
    for (int d = 0; d < c->l->rank; d++) {
        shrunk |= c->l->dim[d].padded != c->declared[d];
        if (c->l->dim[d].padded < c->l->dim[d].n)
            FAIL_CASE(c, "padded below the extent");
    }
    if (!shrunk || product(c->l->rank, c->declared) > ADDRESSES_MAX)
        return;
    memset(c->owner, FREE, (size_t)c->l->size);
    if (occupy(c, c->declared, PADDED))
        FAIL_CASE(c, "padding was given up that does not collide");
    c->distinct = c->inside = true;
}

static void
count_owners(const Case *c, i64 *n)
{
    memset(n, 0, 3 * sizeof *n);
    for (i64 a = 0; a < c->l->size; a++)
        n[c->owner[a]]++;
}

/* The runs without an element, all of them, against the owners. */
static void
check_gaps(Case *c)
{
    const Gap *gap = c->v->gap;
    i64 a = 0;
    if (c->v->more_gaps)
        FAIL_CASE(c, "only %d runs without an element", c->v->ngaps);
    for (int i = 0; i < c->v->ngaps; a = gap[i++].to) {
        for (; a < gap[i].from; a++)
            if (c->owner[a] != REAL)
                FAIL_CASE(c, "%lld is in no run", (long long)a);
        for (; a < gap[i].to; a++)
            if (c->owner[a] != (gap[i].padding ? PADDED : FREE))
                FAIL_CASE(c, "%lld is no %s", (long long)a,
                          gap[i].padding ? "padding" : "hole");
    }
    for (; a < c->l->size; a++)
        if (c->owner[a] != REAL)
            FAIL_CASE(c, "%lld is in no run", (long long)a);
}

static void
check_storage(Case *c)
{
    const Verdict *v = c->v;
    i64 n[3], extent[MAX_RANK];
    memset(c->owner, FREE, (size_t)c->l->size);
    extents(c, PADDED, extent);
    if (!occupy(c, extent, PADDED))
        FAIL_CASE(c, "padded coordinates collide or lie outside");
    c->distinct = true;
    extents(c, REAL, extent);
    occupy(c, extent, REAL);
    c->distinct = true;
    count_owners(c, n);
    if (v->elements != n[REAL] || v->padding != n[PADDED] || v->holes != n[FREE])
        FAIL_CASE(c, "%lld elements, %lld padding, %lld holes: counted %lld, %lld, %lld",
                  (long long)v->elements, (long long)v->padding, (long long)v->holes,
                  (long long)n[REAL], (long long)n[PADDED], (long long)n[FREE]);
    if (v->onto != (v->padding || v->holes ? NO : YES) ||
        (v->ngaps > 0) != (v->onto == NO))
        FAIL_CASE(c, "onto %d, %d gaps", v->onto, v->ngaps);
    check_gaps(c);
}

/* The coordinate the inverse gives for an address; false when it is none. */
static bool
inverted(Case *c, i64 a, i64 *x)
{
    bool ok = true;
    c->val[c->v->inverse_var] = a;
    for (int d = 0; d < c->l->rank && ok; d++)
        ok = ex_eval(c->v->inverse[d], c->val, &x[d]);
    return ok;
}

static void
check_inverse(Case *c)
{
    i64 extent[MAX_RANK], x[MAX_RANK] = {0}, y[MAX_RANK] = {0};
    extents(c, PADDED, extent);
    do {
        i64 a = address(c, x);
        if (!inverted(c, a, y) || memcmp(x, y, (size_t)c->l->rank * sizeof *x))
            FAIL_CASE(c, "the inverse of %lld is (%lld, %lld, ..), not (%lld, %lld, ..)",
                      (long long)a, (long long)y[0], (long long)y[1], (long long)x[0],
                      (long long)x[1]);
    } while (next_point(c->l->rank, extent, x));
    for (i64 a = 0; a < c->l->size; a++) {
        bool element = inverted(c, a, y) && is_real(c, y) && address(c, y) == a;
        if (element != (c->owner[a] == REAL))
            FAIL_CASE(c, "address %lld: the inverse says it is %s element",
                      (long long)a, element ? "an" : "no");
    }
}

/* ---- one layout: text, shape, type ---- */

/* Everything the verdict says, against the enumeration. */
static void
check_verdict(Case *c)
{
    i64 extent[MAX_RANK];
    c->distinct = c->inside = true;
    c->owner = calloc((size_t)c->l->size, 1);
    c->val = calloc((size_t)ex_nvars(c->l->e), sizeof *c->val);
    extents(c, REAL, extent);
    bool one_to_one = occupy(c, extent, REAL);
    if (c->v->injective == YES && !one_to_one && c->v->flaw != FLAW_SIGMA)
        FAIL_CASE(c, "said to be one-to-one, but it %s",
                  c->distinct ? "leaves the storage" : "is not");
    c->distinct = c->inside = true;
    if (c->v->injective == NO || c->v->flaw == FLAW_SIGMA)
        check_refusal(c);
    if (c->v->flaw == FLAW_REPEATED)
        check_repeated(c);
    if (c->v->injective == YES && c->v->flaw != FLAW_SIGMA) {
        check_shrunk(c);
        check_storage(c);
    }
    if (c->v->inverse)
        check_inverse(c);
    free(c->owner);
    free(c->val);
}

static Case
decided(Arena *a, const Known *known, const char *text, const char *dtype, int rank,
        const i64 *shape)
{
    Case c = {.text = text};
    const LayoutRef *ref = spec_ref(a, text, known);
    c.l = layout_make(ex_new(a), ref, dtype_find(dtype), rank, shape);
    for (int d = 0; d < rank; d++)
        c.declared[d] = c.l->dim[d].padded;
    c.v = decide(c.l);
    storage_decide(c.l, c.v, (int)(c.l->size < GAPS_MAX ? c.l->size : GAPS_MAX));
    return c;
}

#endif
