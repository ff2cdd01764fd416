/* Layouts that count several dims as one number, as H*extent(W) + W, for extents left to run time.
 *
 * A sum of whole digits, each times the product of the sizes of those after it, is the entries of
 * these digits: H*extent(W) + W stands for {H, W}.  Inside a digit, as in (H*extent(W) + W)//16, it
 * is one dim of H*W coordinates, if the other side of the conversion has H and W side by side.  What
 * the last block lacks has no coordinates H and W, so it is holes, unless the spec says its fill. */
#include <stdlib.h>
#include <string.h>

#include "layout_parts.h"

enum { MAX_TERMS = 32, MAX_FACTORS = MAX_RANK };

/* A number times extents left to run time, which are dims of the layout. */
typedef struct {
    i64 number;
    int n;
    int dim[MAX_FACTORS];          /* ascending */
} Monomial;

/* A term of a sum: a monomial times x; NULL: the monomial alone. */
typedef struct {
    Monomial by;
    const Ast *x;
} SumTerm;

typedef struct {
    Arena *arena;
    const LayoutRef *ref;
    const DType *dtype;
    const i64 *shape;              /* of the dims of the layout */
    i64 param[MAX_ENTRIES];
} JoinedReader;

static int
find_dim(const LayoutDef *d, const char *name)
{
    int i = d->ndims - 1;
    while (i >= 0 && strcmp(d->dims[i], name))
        i--;
    return i;
}

static int
extent_of(const LayoutDef *d, const char *name)
{
    int i = d->ndims - 1;
    while (i >= 0 && !layout_extent_is(name, d->dims[i]))
        i--;
    return i;
}

static bool
times(const Monomial *a, const Monomial *b, Monomial *out)
{
    Monomial r = *a;
    if (!int_mul(a->number, b->number, &r.number) || a->n + b->n > MAX_FACTORS)
        return false;
    for (int i = 0; i < b->n; i++) {
        int k = r.n++;
        for (; k > 0 && r.dim[k - 1] > b->dim[i]; k--)
            r.dim[k] = r.dim[k - 1];
        r.dim[k] = b->dim[i];
    }
    *out = r;
    return true;
}

static bool
same(const Monomial *a, const Monomial *b)
{
    return a->number == b->number && a->n == b->n &&
           !memcmp(a->dim, b->dim, (size_t)a->n * sizeof *a->dim);
}

static Monomial
extent_as(const JoinedReader *r, int d)
{
    bool open = r->shape[d] == RUNTIME_EXTENT;
    return open ? (Monomial){1, 1, {d}} : (Monomial){.number = r->shape[d]};
}

/* Sets *out to the monomial that x is; false: it is none. */
static bool
size_of(const JoinedReader *r, const Ast *x, Monomial *out)
{
    const LayoutDef *d = r->ref->def;
    Monomial a, b;
    *out = (Monomial){.number = 1};
    if (x->table)
        return false;
    if (ast_number(x, &out->number))
        return true;
    if (op_info[x->op].is->product)
        return size_of(r, x->x[0], &a) && size_of(r, x->x[1], &b) && times(&a, &b, out);
    if (x->op != OP_SYM || find_dim(d, x->name) >= 0)
        return false;
    int i = extent_of(d, x->name), p = layout_find_param(d, x->name);
    const bool bits = !strcmp(x->name, "bits"), bytes = !strcmp(x->name, "bytes");
    if (i >= 0)
        *out = extent_as(r, i);
    else if (p >= 0)
        out->number = r->param[p];
    else
        out->number = bits ? r->dtype->bits : r->dtype->bits / 8;
    return i >= 0 || p >= 0 || bits || (bytes && r->dtype->bits >= 8);
}

/* Adds the terms of by * x to the n in out; returns their new number, -1: there are too many. */
static int
terms_of(const JoinedReader *r, const Ast *x, const Monomial *by, SumTerm *out, int n)
{
    const OpMeaning *is = op_info[x->op].is;
    Monomial m = {.number = 1}, to;
    if (n < 0 || n == MAX_TERMS)
        return -1;
    if (size_of(r, x, &m)) {
        if (!times(by, &m, &out[n].by))
            return -1;
        out[n].x = NULL;
        return n + 1;
    }
    if (!x->table && op_info[x->op].nargs == 2 && (is->sum[0] || is->sum[1])) {
        for (int i = 0; i < 2; i++) {
            m.number = is->sum[i];
            n = times(by, &m, &to) ? terms_of(r, x->x[i], &to, out, n) : -1;
        }
        return n;
    }
    for (int i = 0; i < 2 && !x->table && is->product; i++)
        if (size_of(r, x->x[i], &m))
            return times(by, &m, &to) ? terms_of(r, x->x[1 - i], &to, out, n) : -1;
    out[n] = (SumTerm){*by, x};
    return n + 1;
}

static const Ast *
monomial_text(const JoinedReader *r, const Monomial *m, const Ast *x, Loc loc)
{
    Arena *a = r->arena;
    for (int i = 0; i < m->n; i++) {
        const char *name = layout_extent_name(a, r->ref->def->dims[m->dim[i]]);
        x = x ? ast_op(a, OP_MUL, x, ast_sym(a, name, loc), loc) : ast_sym(a, name, loc);
    }
    const Ast *k = m->number == 1 && x ? NULL : ast_num(a, m->number, loc);
    return !k ? x : x ? ast_op(a, OP_MUL, x, k, loc) : k;
}

static JoinedReader
reader_of(Arena *a, const LayoutRef *ref, const DType *t, const i64 *shape)
{
    JoinedReader r = {.arena = a, .ref = ref, .dtype = t, .shape = shape};
    layout_params(a, ref, t, r.param);
    return r;
}

/* `ref` with the declaration d, which says the same. */
static const LayoutRef *
with_def(Arena *a, const LayoutRef *ref, LayoutDef *d)
{
    LayoutRef *r = arena_copy(a, ref, sizeof *r);
    r->def = d;
    r->written = layout_written(ref);
    d->ninverses = 0;
    return r;
}

/* The coordinates of a digit, as a monomial: a dim, C%16, or C//16 of an extent that is known. */
static bool
slots_of(const JoinedReader *r, const Ast *x, Monomial *out)
{
    const LayoutDef *d = r->ref->def;
    i64 k, most;
    int i = x->op == OP_SYM && !x->table ? find_dim(d, x->name) : -1;
    if (i >= 0) {
        *out = extent_as(r, i);
        return true;
    }
    Monomial m;
    bool digit = !x->table && op_info[x->op].nargs == 2 && x->x[0]->op == OP_SYM &&
                 !x->x[0]->table && size_of(r, x->x[1], &m) && m.n == 0 && m.number > 0;
    i = digit ? find_dim(d, x->x[0]->name) : -1;
    if (i < 0)
        return false;
    const Ast *of = ast_op(r->arena, x->op, x->x[0], ast_num(r->arena, m.number, x->loc), x->loc);
    i64 lo, hi;
    if (!ast_digit(of, 0, &lo, &hi))
        return false;
    k = hi ? hi / lo : 0;
    if (!k && (r->shape[i] == RUNTIME_EXTENT || !int_round_up(r->shape[i], lo, &most)))
        return false;
    *out = (Monomial){.number = k ? k : most / lo};
    return true;
}

/* Orders the terms so that each is times the sizes of those after it; false: they are not so. */
static bool
is_nested(const JoinedReader *r, SumTerm *t, int n)
{
    Monomial size = {.number = 1}, slots;
    for (int at = n - 1; at >= 0; at--) {
        int i = at;
        while (i >= 0 && !(t[i].x && same(&t[i].by, &size)))
            i--;
        if (i < 0)
            return false;
        SumTerm last = t[i];
        t[i] = t[at];
        t[at] = last;
        if (at > 0 && (!slots_of(r, last.x, &slots) || !times(&size, &slots, &size)))
            return false;
    }
    return true;
}

static bool
names_extent(const JoinedReader *r, const Ast *x)
{
    bool names = x->op == OP_SYM && !x->table && extent_of(r->ref->def, x->name) >= 0;
    for (int i = 0; i < op_info[x->op].nargs && !x->table; i++)
        names |= names_extent(r, x->x[i]);
    return names;
}

const LayoutRef *
layout_unfolded(Arena *a, const LayoutRef *ref, const DType *t, const i64 *shape)
{
    const LayoutDef *d = ref->def;
    if (d->index || d->batch || d->level || d->npitches || d->npads)
        return ref;
    const JoinedReader r = reader_of(a, ref, t, shape);
    EntryDef *order = arena_array(a, EntryDef, MAX_ENTRIES);
    int n = 0;
    for (int i = 0; i < d->norder; i++) {
        SumTerm term[MAX_TERMS];
        const Monomial one = {.number = 1};
        const Ast *x = d->order[i].x;
        int m = names_extent(&r, x) ? terms_of(&r, x, &one, term, 0) : -1;
        bool nested = m > 1 && is_nested(&r, term, m);
        if (n + (nested ? m : 1) > MAX_ENTRIES)
            return ref;
        for (int k = 0; nested && k < m; k++)
            order[n++] = (EntryDef){ENTRY_EXPR, term[k].x, d->order[i].loc};
        if (!nested)
            order[n++] = d->order[i];
    }
    if (n == d->norder)
        return ref;
    LayoutDef *to = arena_copy(a, d, sizeof *to);
    to->order = order;
    to->norder = n;
    return with_def(a, ref, to);
}

/* Two dims that are to be one. */
typedef struct {
    const JoinedReader *r;
    int outer, inner;
    bool failed;                   /* they occur in another way */
} Join;

static bool
has_either(const Join *j, const Ast *x)
{
    const LayoutDef *d = j->r->ref->def;
    return ast_names(x, d->dims[j->outer]) || ast_names(x, d->dims[j->inner]);
}

static bool
is_dim(const Join *j, const Ast *x, int dim)
{
    return x && x->op == OP_SYM && !x->table && !strcmp(x->name, j->r->ref->def->dims[dim]);
}

/* Removes the outer dim from the terms, each with an inner one; returns what is left of n. */
static int
join_terms(Join *j, SumTerm *t, int n)
{
    bool used[MAX_TERMS] = {false};
    int left = 0;
    for (int i = 0; i < n; i++) {
        if (!is_dim(j, t[i].x, j->outer))
            continue;
        int k = 0;
        Monomial by, extent = extent_as(j->r, j->inner);
        while (k < n && !(is_dim(j, t[k].x, j->inner) && !used[k] &&
                          times(&t[k].by, &extent, &by) && same(&by, &t[i].by)))
            k++;
        j->failed |= k == n;
        used[k < n ? k : i] = true;
    }
    for (int i = 0; i < n; i++) {
        j->failed |= is_dim(j, t[i].x, j->inner) && !used[i];
        if (!is_dim(j, t[i].x, j->outer))
            t[left++] = t[i];
    }
    return left;
}

static const Ast *joined(Join *j, const Ast *x);

/* An operation that is no sum, whose operands are joined each for itself. */
static const Ast *
joined_parts(Join *j, const Ast *x)
{
    if (x->table || op_info[x->op].nargs == 0) {
        j->failed = true;
        return x;
    }
    const Ast *l = joined(j, x->x[0]);
    const Ast *r = op_info[x->op].nargs > 1 ? joined(j, x->x[1]) : NULL;
    return ast_op(j->r->arena, x->op, l, r, x->loc);
}

static const Ast *
joined(Join *j, const Ast *x)
{
    SumTerm t[MAX_TERMS];
    const Monomial one = {.number = 1};
    const Ast *sum = NULL;
    if (j->failed || !has_either(j, x))
        return x;
    int n = terms_of(j->r, x, &one, t, 0);
    if (n == 1 && t[0].x == x)
        return joined_parts(j, x);
    j->failed |= n < 0;
    n = n < 0 ? 0 : join_terms(j, t, n);
    for (int i = 0; i < n; i++) {
        const Ast *of = t[i].x;
        if (of && !is_dim(j, of, j->inner))
            of = joined(j, of);
        of = monomial_text(j->r, &t[i].by, of, x->loc);
        sum = sum ? ast_op(j->r->arena, OP_ADD, sum, of, x->loc) : of;
    }
    return sum ? sum : x;
}

/* Whether the entries from i on are the outer and the inner dim, which occur in no other. */
static bool
are_beside(const Join *j, const LayoutDef *d, int i)
{
    bool others = i + 1 >= d->norder || !is_dim(j, d->order[i].x, j->outer) ||
                  !is_dim(j, d->order[i + 1].x, j->inner);
    for (int k = 0; k < d->norder && !others; k++)
        others |= k != i && k != i + 1 && has_either(j, d->order[k].x);
    return !others;
}

static bool
is_set(const Setting *t, int n, const char *dim)
{
    bool set = false;
    for (int i = 0; i < n; i++)
        set |= !t[i].dim || !strcmp(t[i].dim, dim);
    return set;
}

/* Whether more is said of a dim than its place in the order. */
static bool
is_special(const LayoutDef *d, const char *dim)
{
    bool pads = false;
    for (int i = 0; i < d->npads; i++)
        pads |= !strcmp(d->pads[i].dim, dim);
    return pads || layout_roll(d, dim) || is_set(d->pitches, d->npitches, dim) || is_set(d->limits, d->nlimits, dim);
}

const LayoutRef *
layout_joined(Arena *a, const LayoutRef *ref, const DType *t, const i64 *shape, int outer,
              int inner)
{
    const LayoutDef *d = ref->def;
    if (d->index || d->batch || d->level || d->swizzle || is_special(d, d->dims[outer]) ||
        is_special(d, d->dims[inner]))
        return NULL;
    const JoinedReader r = reader_of(a, ref, t, shape);
    Join j = {.r = &r, .outer = outer, .inner = inner};
    LayoutDef *to = arena_copy(a, d, sizeof *to);
    EntryDef *order = arena_array(a, EntryDef, d->norder + 1);
    memcpy(order, d->order, (size_t)d->norder * sizeof *order);
    int beside = 0;
    while (beside < d->norder && !are_beside(&j, d, beside))
        beside++;
    for (int i = 0; i < d->norder && beside == d->norder; i++)
        order[i].x = joined(&j, order[i].x);
    /* The outer dim has one coordinate, so its entry may be anywhere. */
    if (beside == d->norder)
        order[to->norder++] = (EntryDef){ENTRY_EXPR, ast_sym(a, d->dims[outer], d->loc), d->loc};
    to->order = order;
    if (!d->fills)
        to->unpadded |= 1u << inner;
    bool uses = layout_uses_extent(to, d->dims[outer]) || layout_uses_extent(to, d->dims[inner]);
    return j.failed || uses || to->norder > MAX_ENTRIES ? NULL : with_def(a, ref, to);
}
