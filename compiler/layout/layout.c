/* Makes the layout for one shape and element type from a declaration. */
#include <string.h>

#include "layout_parts.h"

/* The search for digits walks the whole tree below each node of an entry.  This many steps
 * of it count as one step of work. */
enum { WALKS_A_STEP = 8 };

typedef struct {
    Layout *l;
    Exprs *e;
    Arena *arena;
    const LayoutDef *def;
} LayoutMaker;

/* The expressions of a declaration are for every shape. */
static const Ex *
find_name(void *env, const Ast *sym)
{
    LayoutMaker *m = env;
    i64 v;
    int d = layout_find_dim(m->l, sym->name);
    if (d >= 0)
        return ex_of_var(m->e, m->l->dim[d].free);
    return layout_constant(m->l, sym->name, &v) ? ex_const(m->e, v) : NULL;
}

static i64
setting_value(LayoutMaker *m, const Setting *t, const char *field)
{
    const Ex *x = ast_lower(m->e, t->value, find_name, m);
    if (!ex_is_const(x) || x->base < 1)
        diag_fatal(m->arena->diag, DIAG_LAYOUT, t->value->loc,
                   "%s must be a number above 0, not '%s'", field,
                   ex_text(m->e, x));
    return x->base;
}

void
layout_check_rank(Arena *a, const LayoutDef *d, int rank)
{
    if (rank > MAX_RANK)
        diag_fatal(a->diag, DIAG_LAYOUT, (Loc){0},
                   "a shape of %d extents: at most %d", rank, MAX_RANK);
    if (rank == d->ndims || (rank > d->ndims && d->batch))
        return;
    Buf b = buf_new(a);
    buf_add(&b, d->batch ? "..., " : "");
    for (int i = 0; i < d->ndims; i++)
        buf_printf(&b, "%s%s", i ? ", " : "", d->dims[i]);
    diag_fatal(a->diag, DIAG_LAYOUT, d->loc,
               "layout '%s' has dims (%s), the shape has %d extent%s", d->name, b.s, rank,
               rank == 1 ? "" : "s");
}

static void
set_dims(LayoutMaker *m, int rank, const i64 *shape)
{
    const LayoutDef *d = m->def;
    int batch = rank - d->ndims;
    layout_check_rank(m->arena, d, rank);
    m->l->rank = rank;
    for (int i = 0; i < rank; i++) {
        Dim *x = &m->l->dim[i];
        x->name = i < batch ? layout_batch_name(m->arena, m->def, i) : d->dims[i - batch];
        x->n = x->padded = shape[i];
        x->pad = 1;
        x->most = INF;
        if (x->n < 1)
            diag_fatal(m->arena->diag, DIAG_LAYOUT, (Loc){0},
                       "extent of %s is %lld: extents are 1 or more", x->name,
                       (long long)x->n);
        x->free = ex_var(m->e, x->name, 0, INF);
    }
    for (int i = 0; i < d->npads; i++) {
        Dim *x = &m->l->dim[layout_find_dim(m->l, d->pads[i].dim)];
        x->pad = setting_value(m, &d->pads[i], "pad");
        if (!int_round_up(x->n, x->pad, &x->padded))
            layout_no_fit(m->l, d->loc);
    }
    for (int i = 0; i < d->nlimits; i++)
        m->l->dim[layout_find_dim(m->l, d->limits[i].dim)].most =
            setting_value(m, &d->limits[i], "limit");
}

void
layout_check_limits(const Layout *l)
{
    for (; l->view; l = l->view->of)
        ;
    for (int d = 0; d < l->rank; d++)
        if (l->dim[d].n > l->dim[d].most)
            diag_fatal(ex_arena(l->e)->diag, DIAG_LAYOUT, l->ref->def->loc, "extent of %s is "
                       "%lld: the limit of layout '%s' is %lld", l->dim[d].name,
                       (long long)l->dim[d].n, l->ref->def->name, (long long)l->dim[d].most);
}

static void
add_entry(LayoutMaker *m, const Ast *x, int order)
{
    if (m->l->nentry == MAX_ENTRIES)
        diag_fatal(m->arena->diag, DIAG_LAYOUT, m->def->loc,
                   "order has more than %d entries", MAX_ENTRIES);
    m->l->entry[m->l->nentry++] = (Entry){.x = x, .order = order};
}

/* Makes the entries; a batch entry becomes one entry for each batch dim. */
static void
set_entries(LayoutMaker *m)
{
    const LayoutDef *d = m->def;
    int batch = m->l->rank - d->ndims;
    for (int i = 0; i < d->norder; i++) {
        const EntryDef *t = &d->order[i];
        for (int b = 0; t->kind != ENTRY_EXPR && b < batch; b++) {
            int which = t->kind == ENTRY_BATCH ? b : batch - 1 - b;
            add_entry(m, ast_sym(m->arena, m->l->dim[which].name, t->loc), i);
        }
        if (t->kind == ENTRY_EXPR)
            add_entry(m, t->x, i);
    }
    for (int i = 0; i < m->l->nentry; i++) {
        Entry *t = &m->l->entry[i];
        work_spend(m->arena, t->x->size * t->x->depth / WALKS_A_STEP);
        t->written = ast_lower(m->e, t->x, find_name, m);
    }
}

/* Sets the pitch of an entry, or its declared stride. */
static void
set_pitch(LayoutMaker *m, Entry *e)
{
    const LayoutDef *d = m->def;
    for (int i = 0; i < d->npitches; i++) {
        const Setting *t = &d->pitches[i];
        if (!(t->dim ? e->x->op == OP_SYM && !strcmp(e->x->name, t->dim)
                     : t->entry == e->order))
            continue;
        if (e->pitch || e->exact)
            diag_fatal(m->arena->diag, DIAG_LAYOUT, t->value->loc,
                       "entry %d of order has two strides: give a pitch, which rounds it "
                       "up, or a stride", e->order + 1);
        e->given = t;
        *(t->exact ? &e->exact : &e->pitch) =
            setting_value(m, t, t->exact ? "stride" : "pitch");
    }
}

static void
check_pitches(LayoutMaker *m)
{
    const LayoutDef *d = m->def;
    for (int i = 0; i < d->npitches; i++) {
        bool found = !d->pitches[i].dim;
        for (int j = 0; d->pitches[i].dim && j < m->l->nentry; j++)
            found |= m->l->entry[j].x->op == OP_SYM &&
                     !strcmp(m->l->entry[j].x->name, d->pitches[i].dim);
        if (!found)
            diag_fatal(m->arena->diag, DIAG_LAYOUT, d->loc,
                       "%s: no entry of order is just '%s'; name the entry by its "
                       "number, as in %s = { [2] = 64 }",
                       d->pitches[i].exact ? "stride" : "pitch", d->pitches[i].dim,
                       d->pitches[i].exact ? "stride" : "pitch");
    }
}

static void
set_strides(LayoutMaker *m)
{
    Layout *l = m->l;
    const Ex *slots[MAX_ENTRIES], *stride[MAX_ENTRIES];
    i64 bits;
    check_pitches(m);
    for (int i = l->nentry - 1; i >= 0; i--) {
        set_pitch(m, &l->entry[i]);
        slots[i] = ex_const(m->e, l->entry[i].extent);
    }
    const Ex *size = layout_strides(l, slots, stride);
    l->linear = ex_const(m->e, 0);
    for (int i = l->nentry - 1; i >= 0; i--) {
        Entry *t = &l->entry[i];
        t->stride = stride[i]->base;
        l->linear = ex_add_scaled(m->e, l->linear, t->ex, t->stride);
    }
    l->size = size->base;
    if (!m->def->some && (!int_mul(l->size, l->dtype->bits, &bits) || bits > INF - 7))
        layout_no_fit(l, m->def->loc);
}

static const Ex *
find_in_sigma(void *env, const Ast *sym)
{
    LayoutMaker *m = env;
    i64 v;
    if (!strcmp(sym->name, "a"))
        return ex_of_var(m->e, m->l->sigma_var);
    return layout_constant(m->l, sym->name, &v) ? ex_const(m->e, v) : NULL;
}

/* Converts a map of byte addresses, over the variable `byte`, to a map of element
 * addresses, applied to x. */
static const Ex *
map_elements(LayoutMaker *m, const Ex *map, int byte, const Ex *x)
{
    i64 es = m->l->dtype->bits / 8, per = es ? 1 : 8 / m->l->dtype->bits;
    const Ex **to = arena_array(m->arena, const Ex *, ex_nvars(m->e));
    to[byte] = es ? ex_scale(m->e, x, es) : ex_div(m->e, x, per);
    const Ex *y = ex_subst(m->e, map, to);
    if (!es)
        return ex_add(m->e, ex_scale(m->e, y, per), ex_mod(m->e, x, per));
    const Ex *rest = ex_mod(m->e, y, es);
    if (!ex_is_const(rest) || rest->base)
        diag_fatal(m->arena->diag, DIAG_LAYOUT, m->def->swizzle->loc,
                   "the swizzle '%s' moves parts of %lld-byte elements",
                   ast_text(m->arena, m->def->swizzle), (long long)es);
    return ex_div(m->e, y, es);
}

static void
set_address(LayoutMaker *m)
{
    Layout *l = m->l;
    l->addr = l->linear;
    if (!m->def->swizzle)
        return;
    bool bytes = m->def->swizzle_bytes;
    int var = bytes ? ex_var(m->e, "a", 0, layout_bytes(l)) : layout_address_var(l);
    l->sigma_var = var;
    l->sigma = ast_lower(m->e, m->def->swizzle, find_in_sigma, m);
    if (bytes) {
        l->sigma_var = layout_address_var(l);
        l->sigma = map_elements(m, l->sigma, var, ex_of_var(m->e, l->sigma_var));
    }
    const Ex **to = arena_array(m->arena, const Ex *, ex_nvars(m->e));
    to[l->sigma_var] = l->linear;
    l->addr = ex_subst(m->e, l->sigma, to);
}

static void
set_fill(LayoutMaker *m)
{
    if (m->def->fill_given) {
        m->l->fill[0] = m->def->fill_bits;
        return;
    }
    double v = layout_fill(m->arena, m->l->ref, m->l->dtype);
    if (!dtype_encode(m->l->dtype, v, m->l->fill))
        diag_fatal(m->arena->diag, DIAG_LAYOUT, m->def->loc,
                   "fill = %g cannot be held by %s", v, m->l->dtype->name);
}

/* The layout of part of a tensor, whose own layout is made first. */
static Layout *
make_view(Exprs *e, const LayoutRef *ref, const DType *t, int rank, const i64 *shape)
{
    const Index *x = ref->def->index;
    layout_check_rank(ex_arena(e), ref->def, rank);
    if (x->nstrides >= 0)
        return layout_strided(e, ref, layout_make(e, x->of, t, rank, shape));
    const ResolvedIndex r = index_resolve(ex_arena(e), x, rank, shape);
    r.view->of = layout_make(e, x->of, t, r.rank_of, r.of);
    return layout_of_view(e, ref, &r, rank, shape);
}

Layout *
layout_make(Exprs *e, const LayoutRef *ref, const DType *t, int rank,
            const i64 *shape)
{
    if (ref->def->index)
        return make_view(e, ref, t, rank, shape);
    Arena *a = ex_arena(e);
    Layout *l = arena_new(a, Layout);
    LayoutMaker m = {l, e, a, ref->def};
    *l = (Layout){.ref = ref, .dtype = t, .e = e};
    work_on(a, "to simplify the expressions of layout", ref->def->name);
    if (ref->def->level)
        diag_fatal(a->diag, DIAG_LAYOUT, ref->def->loc,
                   "'%s' is a sparse format: its addresses depend on the data (ravel convert, "
                   "ravel_sparse_compile and ravel emit read and write it)", ref->def->name);
    if (ref->def->bits && ref->def->bits != t->bits)
        diag_fatal(a->diag, DIAG_LAYOUT, ref->def->loc,
                   "layout '%s' is for %d-bit elements, not %s", ref->def->name,
                   ref->def->bits, t->name);
    layout_params(a, ref, t, l->param);
    set_dims(&m, rank, shape);
    set_entries(&m);
    layout_slots(l);
    set_strides(&m);
    set_address(&m);
    set_fill(&m);
    return l;
}
