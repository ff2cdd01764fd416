/* Passes over the source and over sorted records: the statements of their loops. */
#include <stdint.h>

#include "../../templates/c/sparse_size.h"
#include "sparse_parts.h"

void
sparse_text(SparseMaker *m, const char *text)
{
    Stmt **tail = m->tail;
    emit_add(m->arena, &tail, ST_COMMENT)->text = text;
    m->tail = tail;
}

Stmt **
sparse_begin_loop(SparseMaker *m, const Ex *bound)
{
    Stmt **tail = m->tail;
    Stmt *s = emit_add(m->arena, &tail, ST_FOR);
    s->text = "i";
    s->bound = bound;
    s->count = ex_is_const(bound) ? bound->base : 0;
    s->step = RAVEL_BATCH;
    m->tail = &s->body;
    return tail;
}

void
sparse_end_loop(SparseMaker *m, Stmt **after)
{
    m->tail = after;
}

i64
sparse_how(const SparsePlan *p)
{
    static const int hows[EQUALS] = {[EQUAL_FIRST] = RAVEL_FIRST, [EQUAL_LAST] = RAVEL_LAST,
                                     [EQUAL_ERROR] = RAVEL_REFUSE};
    char kind = p->dst->l->dtype->kind;
    Equals equal = p->rq->equal;
    return equal != EQUAL_SUM ? hows[equal] : kind == 'i' || kind == 'u' ? RAVEL_SUM_INTEGER
           : RAVEL_SUM_FLOAT;
}

i64
sparse_parts(const DType *t)
{
    return t->kind == 'c' ? 2 : 1;
}

/* Copy or join values. */
static void
put_values(SparseMaker *m, i64 joins)
{
    const SparsePlan *p = m->p;
    i64 parts = p->bytes ? sparse_parts(p->dst->l->dtype) : 1;
    int to = p->dst->narray - 1;
    sparse_step(m, STEP_put, (i64)m->to, to, p->carries ? -1 : p->src->narray - 1,
                p->bytes / parts, parts, sparse_how(p), joins);
    if (!p->ones)
        return;
    sparse_step(m, STEP_set, (i64)0, (i64)1);
    sparse_step(m, STEP_put, (i64)m->to, to, -1, (i64)1, (i64)1, sparse_how(p), (i64)0);
}

/* Values to the addresses in a column: of a layout. */
static void
put_addresses(SparseMaker *m)
{
    bool sorted = m->p->way == BY_SORTING;
    if (m->p->joins && sorted)
        sparse_step(m, STEP_compare, (i64)0, (i64)m->at[0]);
    m->to = m->at[0];
    put_values(m, !m->p->joins || (!sorted && m->p->rq->equal == EQUAL_LAST) ? 0 : sorted ? 1 : 2);
}

/* Record the key of each entry. */
static void
record_keys(SparseMaker *m)
{
    const SparsePlan *p = m->p;
    const SparseFormat *f = p->dst;
    int key = sparse_column(m);
    sparse_step(m, STEP_set, (i64)key, (i64)0);
    for (int k = 0; k < sparse_keys(f); k++)
        if (sparse_key_bits(f, k))
            sparse_step(m, STEP_join, (i64)key, (i64)m->at[k], (i64)sparse_key_bits(f, k));
    if (p->carries)
        sparse_step(m, STEP_carry, p->src->narray - 1, p->bytes);
    sparse_step(m, STEP_record, (i64)key, (i64)p->low);
}

/* A batch of records in order: the coordinates from the keys. */
static void
replay_keys(SparseMaker *m)
{
    const SparseFormat *f = m->p->dst;
    m->columns = SPARSE_FREE;
    int key = sparse_column(m), shift = m->p->bits;
    sparse_step(m, STEP_replay, ex_of_var(m->e, m->p->step), (i64)key);
    for (int k = 0; k < sparse_keys(f); k++) {
        if (!f->dense && !sparse_has(&f->level[k]))
            continue;
        shift -= sparse_key_bits(f, k);
        if (!f->dense && !sparse_wants(m, k))
            continue;
        m->at[k] = sparse_column(m);
        sparse_step(m, STEP_part, (i64)m->at[k], (i64)key, (i64)shift, (i64)sparse_key_bits(f, k));
    }
}

/* The column of the position below the dense levels in front. */
static int
counted_parent(SparseMaker *m)
{
    const SparseFormat *f = m->p->dst;
    int to = m->at[0];
    for (int k = 1; f->level[k].def.kind == LEVEL_DENSE; k++) {
        int from = to;
        to = sparse_column(m);
        sparse_step(m, STEP_write_dense, (i64)to, (i64)from, (i64)m->at[k], f->level[k].n);
    }
    return to;
}

static void
write_counted(SparseMaker *m)
{
    const SparseFormat *f = m->p->dst;
    int parent = counted_parent(m);
    if (!m->fill) {
        sparse_step(m, STEP_count, (i64)parent);
        return;
    }
    int last = f->nlevel - 1;
    if (f->level[last].def.kind == LEVEL_COMPRESSED) {
        sparse_step(m, STEP_scatter, (i64)parent, (i64)m->at[last], f->level[last].bias,
                    f->level[last].crd, f->narray - 1, m->p->src->narray - 1,
                    m->p->bytes, (i64)f->width);
        return;
    }
    m->to = sparse_column(m);
    sparse_step(m, STEP_place, (i64)m->to, (i64)parent);
    for (int k = 0; k < f->nlevel; k++)
        if (f->level[k].crd >= 0)
            sparse_step(m, STEP_write_singleton, (i64)m->to, (i64)m->at[k], f->level[k].bias,
                        f->level[k].crd, (i64)f->width);
    put_values(m, 0);
}

/* By a bitmap. */
static void
write_placed(SparseMaker *m)
{
    m->to = sparse_write_bitmap(m);
    if (m->fill)
        put_values(m, m->p->joins);
}

int
sparse_compressed(const SparseFormat *f)
{
    int k = 0;
    while (f->level[k].def.kind != LEVEL_COMPRESSED)
        k++;
    return k;
}

bool
sparse_is_counted(const SparsePlan *p)
{
    bool filtered = p->src->padded || p->joins || p->way != BY_SOURCE ||
                    sparse_tallied(p->dst) >= 0;
    for (int d = 0; d < p->dst->l->rank; d++)
        filtered |= p->guard[d] >= 0;
    return !filtered && p->dst->tree > 0 && !sparse_flags(p, 0);
}

void
sparse_begin_levels(SparseMaker *m)
{
    const SparseFormat *f = m->p->dst;
    for (int k = 0; k < f->nlevel; k++)
        if (f->level[k].info->begin)
            f->level[k].info->begin(m, k);
}

static void
write_batch(SparseMaker *m)
{
    const SparsePlan *p = m->p;
    if (p->dst->dense) {
        if (m->fill)
            put_addresses(m);
        return;
    }
    sparse_write(m);
    if (m->fill && !sparse_is_counted(p))
        put_values(m, p->joins);
}

/* Copy what has the order of the source as a whole: values, and coordinates of singletons
 * that are those of the source's last level. */
static void
copy_arrays(SparseMaker *m)
{
    const SparseFormat *f = m->p->dst, *src = m->p->src;
    const Level *last = &src->level[src->nlevel - 1];
    if (m->p->bytes)
        sparse_step(m, STEP_copy, f->narray - 1, src->narray - 1, sparse_positions(m),
                    m->p->bytes);
    for (int k = 0; k < f->nlevel; k++) {
        const Level *l = &f->level[k];
        m->copied[k] = l->def.kind == LEVEL_SINGLETON && last->crd >= 0 && !last->bias &&
                       !l->bias && f->width == src->width &&
                       ex_as_var(sparse_over(m, l->x)) == last->var;
        if (m->copied[k])
            sparse_step(m, STEP_copy, l->crd, last->crd, sparse_positions(m), (i64)f->width);
    }
}

/* The levels of the destination whose coordinates a pass reads. */
static void
find_wanted(SparseMaker *m, bool *want)
{
    const SparsePlan *p = m->p;
    const SparseFormat *f = p->dst;
    want[0] = f->dense;
    for (int k = 0; k < f->nlevel; k++)
        want[k] = p->way == BY_SORTING ? sparse_has(&f->level[k])
                  : p->way == BY_SOURCE ? sparse_wants(m, k)
                  : m->fill || k < sparse_compressed(f) + (p->way == BY_BITMAP);
}

/* What a pass does before its loop. */
static void
begin_pass(SparseMaker *m, const bool *want)
{
    const SparsePlan *p = m->p;
    const SparseFormat *f = p->dst;
    if (p->way == BY_COUNTING && m->fill)
        sparse_step(m, STEP_counted, f->level[sparse_compressed(f)].pos, p->counts - 1,
                    (i64)f->width);
    if (p->way == BY_BITMAP)
        sparse_begin_bitmap(m);
    else if (p->way != BY_SORTING)
        sparse_begin_levels(m);
    if (m->fill && p->dst->dense && p->joins && p->way != BY_SORTING)
        sparse_write_negative(m, want);
}

/* What it does with a batch of entries that are read. */
static void
write_entries(SparseMaker *m)
{
    const SparsePlan *p = m->p;
    if (p->way == BY_SORTING)
        record_keys(m);
    else if (p->way == BY_COUNTING)
        write_counted(m);
    else if (p->way == BY_BITMAP)
        write_placed(m);
    else
        write_batch(m);
}

/* A pass over the source. */
void
sparse_pass(SparseMaker *m, const char *what)
{
    const SparsePlan *p = m->p;
    bool want[MAX_LEVELS] = {false};
    sparse_text(m, what);
    sparse_step(m, STEP_pass);
    if (sparse_at_once(m))
        return;
    if (sparse_is_counted(p))
        copy_arrays(m);
    find_wanted(m, want);
    begin_pass(m, want);
    Stmt **after = sparse_begin_loop(m, sparse_positions(m));
    sparse_read(m, want);
    write_entries(m);
    sparse_end_loop(m, after);
    if (p->way == BY_BITMAP)
        sparse_end_bitmap(m);
}

/* A pass over the sorted records. */
void
sparse_pass_records(SparseMaker *m, const char *what)
{
    SparsePlan *p = m->p;
    bool counts = !p->dst->dense || m->fill;
    if (counts)
        sparse_text(m, what);
    sparse_step(m, STEP_pass);
    if (!counts)
        return;
    sparse_begin_levels(m);
    Stmt **after = sparse_begin_loop(m, ex_of_var(m->e, p->records));
    replay_keys(m);
    write_batch(m);
    sparse_end_loop(m, after);
}
