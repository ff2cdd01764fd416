/* A batch of entries of the source: its columns. */
#include <stdint.h>

#include "../../templates/c/sparse_size.h"
#include "sparse_parts.h"

_Noreturn void
sparse_refuse(const SparseMaker *m, const char *why)
{
    diag_fatal(m->arena->diag, DIAG_LAYOUT, (Loc){0}, "from '%s' to '%s': %s",
               m->p->src->ref->def->name, m->p->dst->ref->def->name, why);
}

int
sparse_column(SparseMaker *m)
{
    if (m->columns == RAVEL_COLUMNS)
        sparse_refuse(m, "the expressions of the levels need too many columns");
    m->columns++;
    m->p->columns = m->columns > m->p->columns ? m->columns : m->p->columns;
    return m->columns - 1;
}

/* A column with the exclusive or of the operands. */
static int
column_of_xor(SparseMaker *m, const Atom *atom)
{
    int c = sparse_column(m);
    sparse_step(m, STEP_set, (i64)c, (i64)0);
    for (int i = 0; i < atom->n; i++)
        sparse_step(m, STEP_mix, (i64)c, (i64)sparse_column_of(m, atom->x[i]));
    return c;
}

/* A column with the values of x, over variables that have columns. */
int
sparse_column_of(SparseMaker *m, const Ex *x)
{
    int var = ex_as_var(x);
    if (var >= 0)
        return m->column[var];
    int c = sparse_column(m);
    sparse_step(m, STEP_set, (i64)c, x->base);
    for (int i = 0; i < x->n; i++) {
        const Atom *atom = x->t[i].atom;
        Digit d = ex_digit(m->e, atom);
        if (ex_as_var(d.root) < 0 && atom->op != AT_DIG && atom->op != AT_XOR)
            sparse_refuse(m, arena_printf(m->arena, "'%s' is not a sum of parts of coordinates, such as "
                                   "R//4 and R%%4; convert to or from ROW_MAJOR first",
                                   ex_text(m->e, x)));
        int from = atom->op == AT_XOR ? column_of_xor(m, atom) : sparse_column_of(m, d.root);
        sparse_step(m, STEP_term, (i64)c, (i64)from, x->t[i].coef, d.lo, d.hi);
    }
    return c;
}

bool
sparse_masks(const SparseFormat *f)
{
    return f->padded && (f->dense || f->level[f->nlevel - 1].def.kind != LEVEL_SINGLETON);
}

/* The positions of the source that hold a value. */
const Ex *
sparse_positions(const SparseMaker *m)
{
    return sparse_size(m, m->p->src->narray - 1);
}

/* Begin a batch: the positions that hold an entry. */
static void
begin_batch(SparseMaker *m)
{
    const SparseFormat *f = m->p->src;
    bool places = f->padded && !sparse_masks(f);
    m->columns = SPARSE_FREE;
    m->from = 0;
    if (sparse_masks(f)) {
        sparse_step(m, STEP_keep, sparse_positions(m));
        return;
    }
    sparse_step(m, STEP_begin, ex_of_var(m->e, m->p->step), sparse_positions(m));
    if (places)
        sparse_step(m, STEP_present, f->level[f->nlevel - 1].crd, (i64)f->width);
}

/* The columns of the variables that are needed. */
static void
read_levels(SparseMaker *m)
{
    const SparseFormat *f = m->p->src;
    int top = f->nlevel;
    if (f->dense)
        m->column[f->address] = 0;
    for (int k = f->nlevel - 1; k >= 0; k--)
        top = m->needed[f->level[k].var] ? k : top;
    for (int k = f->nlevel - 1; k >= top; k--) {
        const LevelInfo *info = f->level[k].info;
        if (info->read && (m->needed[f->level[k].var] || f->level[k].def.kind == LEVEL_DENSE))
            info->read(m, k);
        if (k > top)
            info->parent(m, k);
    }
}

/* Remove entries outside the shape. */
static void
guard(SparseMaker *m)
{
    SparsePlan *p = m->p;
    const SparseFormat *f = p->src;
    for (int d = 0; d < f->l->rank; d++) {
        if (p->guard[d] < 0)
            continue;
        int s = m->map[d];
        int c = sparse_column_of(m, f->coord[s]);
        sparse_step(m, STEP_within, (i64)c, f->l->dim[s].n, (i64)m->columns);
        m->column[p->guard[d]] = c;
    }
}

/* x over what each dim of the destination is: to[i] of its dim i, or of to[order[i]]. */
static const Ex *
over(const SparseMaker *m, const Ex *x, const Ex *const *to, const int *order)
{
    const Layout *l = m->p->dst->l;
    const Ex **by = arena_array(m->arena, const Ex *, ex_nvars(m->e));
    for (int d = 0; d < l->rank; d++)
        by[l->dim[d].var] = to[order ? order[d] : d];
    return ex_subst(m->e, x, by);
}

const Ex *
sparse_over(const SparseMaker *m, const Ex *x)
{
    return over(m, x, m->p->dim, NULL);
}

const Ex *
sparse_over_levels(const SparseMaker *m, const Ex *x)
{
    return over(m, x, m->p->src->coord, m->map);
}

bool
sparse_has(const Level *l)
{
    return level_words[l->def.kind].expression;
}

/* Read a batch, and the coordinates of the levels with want[k] or, of a layout, the
 * address: columns m->at. */
void
sparse_read(SparseMaker *m, const bool *want)
{
    const SparsePlan *p = m->p;
    const SparseFormat *f = p->dst;
    const Ex *x[MAX_LEVELS] = {0};
    int n = f->dense ? 1 : f->nlevel;
    m->needed = arena_array(m->arena, bool, ex_nvars(m->e));
    for (int k = 0; k < n; k++)
        if (want[k]) {
            x[k] = sparse_over(m, f->dense ? f->l->addr : f->level[k].x);
            ex_vars(x[k], m->needed);
        }
    for (int d = 0; d < f->l->rank; d++)
        if (p->guard[d] >= 0)
            ex_vars(p->src->coord[m->map[d]], m->needed);
    begin_batch(m);
    read_levels(m);
    guard(m);
    for (int k = 0; k < n; k++)
        m->at[k] = x[k] ? sparse_column_of(m, x[k]) : 0;
}
