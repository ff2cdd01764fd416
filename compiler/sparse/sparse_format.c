/* One side of a conversion: its levels, its arrays, and its coordinates over its levels. */
#include <string.h>

#include "sparse_parts.h"

typedef struct {
    SparseFormat *f;
    Exprs *e;
    Arena *arena;
    const LayoutDef *def;
    int dim[MAX_RANK];    /* variables of the dims, without padding */
    const i64 *shape;     /* an extent of 0 is 1 here: expressions have values */
    const i64 *extent;    /* the shape as given */
    i64 param[MAX_ENTRIES];
    const DType *dtype;
    bool pattern;
} FormatMaker;

const char sparse_pattern[] = "pattern";

#define FAIL(m, ...) diag_fatal((m)->arena->diag, DIAG_LAYOUT, (m)->def->loc, __VA_ARGS__)

bool
sparse_vanishes(const Layout *l, const Ast *x, const i64 *extent)
{
    if (!x || x->op == OP_MOD || x->op == OP_AND)
        return false;
    for (int d = 0; x->op == OP_SYM && d < l->rank; d++)
        if (!strcmp(l->dim[d].name, x->name))
            return !extent[d];
    return sparse_vanishes(l, x->x[0], extent) || sparse_vanishes(l, x->x[1], extent);
}

static const Ex *
find_name(void *env, const Ast *sym)
{
    const FormatMaker *m = env;
    for (int d = 0; d < m->def->ndims; d++)
        if (!strcmp(m->def->dims[d], sym->name))
            return ex_of_var(m->e, m->dim[d]);
    int i = layout_find_param(m->def, sym->name);
    i64 bits = m->dtype->bits;
    return ex_const(m->e, i >= 0 ? m->param[i] : !strcmp(sym->name, "bits") ? bits : bits / 8);
}

/* Coordinates below 0, as those of diagonals, are stored with a bias. */
static void
set_bias(FormatMaker *m, int k, EntryDef *t)
{
    Level *l = &m->f->level[k];
    const Ex *x = ast_lower(m->e, t->x, find_name, m);
    if (x->f.min >= 0)
        return;
    if (!l->info->crd || x->f.min == -INF)
        FAIL(m, "sparse '%s': %s may be below 0 in a level %s", m->def->name,
             ast_text(m->arena, t->x), l->info->name);
    l->bias = -x->f.min;
    t->x = ast_op(m->arena, OP_ADD, t->x, ast_num(m->arena, l->bias, t->loc), t->loc);
}

/* The order of the levels as a layout without levels. */
static LayoutRef *
order_of(FormatMaker *m)
{
    LayoutDef *d = arena_copy(m->arena, m->def, sizeof *d);
    LayoutRef *ref = arena_copy(m->arena, m->f->ref, sizeof *ref);
    d->order = arena_copy(m->arena, d->order, sizeof *d->order * (size_t)d->norder);
    d->level = NULL;
    d->some = true;
    ref->def = d;
    for (int i = 0; i < m->def->ndims; i++)
        m->dim[i] = ex_var(m->e, m->def->dims[i], 0, m->shape[i] - 1);
    layout_params(m->arena, m->f->ref, m->dtype, m->param);
    for (int k = 0; k < d->norder; k++)
        set_bias(m, k, &d->order[k]);
    return ref;
}

static void
add_array(SparseFormat *f, Arena *a, ArrayKind kind, int level)
{
    static const char *const names[] = {[ARRAY_POS] = "pos", [ARRAY_CRD] = "crd",
                                        [ARRAY_CODES] = "crd", [ARRAY_VAL] = "val",
                                        [ARRAY_MASK] = "mask"};
    bool level_array = kind <= ARRAY_CODES;
    f->array[f->narray++] = (SparseArray){
        kind, level, level_array ? arena_printf(a, "%s%d", names[kind], level + 1) : names[kind]};
}

static void
set_level(FormatMaker *m, int k)
{
    SparseFormat *f = m->f;
    Level *l = &f->level[k];
    l->x = f->l->entry[k].ex;
    l->n = sparse_vanishes(f->l, m->def->order[k].x, m->extent) ? 0 : f->l->entry[k].extent;
    if (l->def.number)
        l->number = ast_lower(m->e, l->def.number, find_name, m)->base;
    l->var = ex_var(m->e, arena_printf(m->arena, "l%d", k + 1), 0, l->n ? l->n - 1 : 0);
    l->pos = l->info->pos ? f->narray : -1;
    if (l->info->pos)
        add_array(f, m->arena, ARRAY_POS, k);
    l->crd = l->info->crd ? f->narray : -1;
    if (l->info->crd)
        add_array(f, m->arena, l->info->coded ? ARRAY_CODES : ARRAY_CRD, k);
    if (f->width == 4 && l->info->crd &&
        (l->n - l->bias > INT32_MAX || l->bias > INT32_MAX))
        FAIL(m, "sparse '%s': the coordinates of level %d reach %lld: 32-bit indices are too "
             "small, use i64", m->def->name, k + 1, (long long)(l->n - l->bias - 1));
}

static void
set_properties(SparseFormat *f)
{
    f->tree = f->nlevel;
    while (f->tree > 0 && f->level[f->tree - 1].def.kind == LEVEL_DENSE)
        f->tree--;
    f->padded = f->tree < f->nlevel;
    for (int k = 0; k < f->nlevel; k++) {
        LevelKind kind = f->level[k].def.kind;
        f->padded |= kind == LEVEL_NTH || kind == LEVEL_SLICED || kind == LEVEL_NOFM;
        f->shuffled |= kind == LEVEL_SLICED || kind == LEVEL_JAGGED;
        f->loose |= f->level[k].def.repeats || f->level[k].def.unordered;
    }
}

/* Solve x = value for a dim that occurs in x with the coefficient 1 or -1; the others are
 * known. */
static bool
solve_one(FormatMaker *m, const Ex *x, const Ex *value, const Ex **to)
{
    const Layout *l = m->f->l;
    int dim = -1;
    i64 coef = 0;
    for (int i = 0; i < x->n; i++) {
        int d = 0;
        while (d < l->rank && (x->t[i].atom->op != AT_VAR || x->t[i].atom->var != l->dim[d].var))
            d++;
        if (d == l->rank)
            return false;
        if (to[l->dim[d].var])
            continue;
        if (dim >= 0 || (x->t[i].coef != 1 && x->t[i].coef != -1))
            return false;
        dim = d;
        coef = x->t[i].coef;
    }
    if (dim < 0)
        return false;
    int var = l->dim[dim].var;
    to[var] = ex_const(m->e, 0);
    const Ex *rest = ex_sub(m->e, value, ex_subst(m->e, x, to));
    to[var] = ex_scale(m->e, rest, coef);
    return true;
}

/* The dims where each level is a sum of dims. */
static bool
solve_sums(FormatMaker *m, const Ex **coord)
{
    SparseFormat *f = m->f;
    const Ex **to = arena_array(m->arena, const Ex *, ex_nvars(m->e));
    bool more = true;
    while (more) {
        more = false;
        for (int k = 0; k < f->nlevel; k++)
            more |= solve_one(m, f->level[k].x, ex_of_var(m->e, f->level[k].var), to);
    }
    for (int d = 0; d < f->l->rank; d++) {
        coord[d] = to[f->l->dim[d].var];
        if (!coord[d] && f->l->dim[d].n == 1)
            coord[d] = ex_const(m->e, 0);
        if (!coord[d])
            return false;
    }
    return true;
}

/* The dims from the inverse of the order, at the address that the levels make. */
static void
solve_digits(FormatMaker *m, const Ex **coord)
{
    SparseFormat *f = m->f;
    Verdict *v = decide_inverse_or_fail(f->l);
    if (!v->inverse)
        FAIL(m, "sparse '%s': the coordinates do not follow from the levels", m->def->name);
    const Ex **to = arena_array(m->arena, const Ex *, ex_nvars(m->e));
    const Ex *at = ex_const(m->e, 0);
    for (int k = 0; k < f->nlevel; k++)
        at = ex_add_scaled(m->e, at, ex_of_var(m->e, f->level[k].var), f->l->entry[k].stride);
    to[v->inverse_var] = at;
    for (int d = 0; d < f->l->rank; d++)
        coord[d] = ex_subst(m->e, v->inverse[d], to);
}

/* The order of the codes of nofm as a layout, and where a parent is in it. */
static Layout *
code_layout(FormatMaker *m, const Level *l, const Ast *x, int rank, const i64 *shape)
{
    LayoutDef *d = arena_copy(m->arena, m->def, sizeof *d);
    LayoutRef *ref = arena_copy(m->arena, m->f->ref, sizeof *ref);
    ref->def = d;
    d->level = NULL;
    d->norder = l->def.norder + 1;
    d->order = arena_array(m->arena, EntryDef, d->norder);
    for (int i = 0; i < d->norder; i++)
        d->order[i] = (EntryDef){ENTRY_EXPR, i < l->def.norder ? l->def.order[i] : x, x->loc};
    return layout_make(m->e, ref, m->dtype, rank, shape);
}

static void
set_codes(FormatMaker *m, Level *l, int rank, const i64 *shape)
{
    const SparseFormat *f = m->f;
    i64 bits = l->n <= 2 ? 1 : l->n <= 4 ? 2 : 4, parents = sparse_parents(f, f->nlevel - 1);
    if (l->def.norder) {
        Layout *c = code_layout(m, l, m->def->order[f->nlevel - 1].x, rank, shape);
        decide_inverse_or_fail(c);
        const Ex **to = arena_array(m->arena, const Ex *, ex_nvars(m->e));
        const Ex **zero = arena_array(m->arena, const Ex *, ex_nvars(m->e));
        for (int d = 0; d < rank; d++)
            to[c->dim[d].var] = f->coord[d];
        zero[l->var] = ex_const(m->e, 0);
        l->at = ex_subst(m->e, ex_subst(m->e, c->addr, to), zero);
        parents = parents ? c->size / l->n : 0;
    }
    if (!int_mul(parents * l->number, bits, &bits))
        FAIL(m, "sparse '%s': its codes do not fit 64 bits", m->def->name);
    l->codes = int_ceil_div(bits, 8);
}

static void
make_sparse(FormatMaker *m, int rank, const i64 *shape)
{
    SparseFormat *f = m->f;
    const LayoutDef *d = m->def;
    f->nlevel = d->norder;
    if (f->nlevel == 0)
        FAIL(m, "sparse '%s' has no levels", d->name);
    for (int k = 0; k < f->nlevel; k++) {
        f->level[k].def = d->level[k];
        f->level[k].info = level_kinds[d->level[k].kind];
    }
    layout_check_rank(m->arena, d, rank);
    f->l = layout_make(m->e, order_of(m), m->dtype, rank, shape);
    for (int k = 0; k < f->nlevel; k++)
        set_level(m, k);
    sparse_check_kinds(m->arena, f);
    set_properties(f);
    f->valueless = m->pattern && !f->padded;
    if (!f->valueless)
        add_array(f, m->arena, ARRAY_VAL, 0);
    const Ex **coord = arena_array(m->arena, const Ex *, rank + 1);
    if (!solve_sums(m, coord))
        solve_digits(m, coord);
    f->coord = coord;
    if (f->level[f->nlevel - 1].info->coded)
        set_codes(m, &f->level[f->nlevel - 1], rank, shape);
}

/* A layout: its storage is one array, and the address is the only level. */
static void
make_dense(FormatMaker *m, int rank, const i64 *shape)
{
    SparseFormat *f = m->f;
    f->dense = f->padded = true;
    f->l = layout_make(m->e, f->ref, m->dtype, rank, shape);
    Verdict *v = decide_inverse_or_fail(f->l);
    if (v->holes || !v->inverse)
        FAIL(m, "layout '%s' has %s: a sparse format cannot be converted to or from it; convert to "
             "or from ROW_MAJOR first", m->def->name,
             v->holes ? "holes" : "no inverse in closed form");
    f->l->size = f->empty ? 0 : f->l->size;
    f->coord = v->inverse;
    f->address = v->inverse_var;
    add_array(f, m->arena, ARRAY_VAL, 0);
}

/* Extents of 0 become 1; an empty format has an extent of 0. */
static const i64 *
take_extents(FormatMaker *m, int rank)
{
    i64 *shape = arena_array(m->arena, i64, rank + 1);
    for (int i = 0; i < rank; i++) {
        if (m->extent[i] < 0)
            FAIL(m, "extent %d is %lld: beside a sparse format extents are 0 or more", i + 1,
                 (long long)m->extent[i]);
        m->f->empty |= !m->extent[i];
        shape[i] = m->extent[i] ? m->extent[i] : 1;
    }
    return shape;
}

SparseFormat *
sparse_format(Exprs *e, const LayoutRef *ref, const DType *t, int rank, const i64 *shape,
              int width, bool mask)
{
    Arena *a = ex_arena(e);
    SparseFormat *f = arena_new(a, SparseFormat);
    FormatMaker m = {.f = f, .e = e, .arena = a, .def = ref->def, .extent = shape,
                     .pattern = !t, .dtype = t ? t : dtype_find("u8")};
    f->ref = ref;
    f->width = width ? width : 4;
    work_on(a, "to read the levels of", ref->def->name);
    f->packed = m.dtype->bits < 8;
    if (f->width != 4 && f->width != 8)
        FAIL(&m, "'%s': indices have 4 or 8 bytes, not %d", ref->def->name, f->width);
    if (mask)
        add_array(f, a, ARRAY_MASK, 0);
    m.shape = take_extents(&m, rank);
    if (ref->def->level)
        make_sparse(&m, rank, m.shape);
    else
        make_dense(&m, rank, m.shape);
    return f;
}
