/* The plan of a conversion: its way, its keys, and the statements of its functions. */
#include <string.h>

#include "sparse_parts.h"

enum { COLUMNS = 96, FREE_COLUMN = 3, KEY_BITS = 63 };   /* RAVEL_COLUMNS */

const char *const sparse_equals[EQUALS + 1] = {
    [EQUAL_SUM] = "sum", [EQUAL_FIRST] = "first", [EQUAL_LAST] = "last",
    [EQUAL_ERROR] = "error"};

/* Bits that hold 0..n - 1. */
static int
bits_of(i64 n)
{
    return n > 1 ? int_log2(n - 1) + 1 : 0;
}

_Noreturn static void
refuse(const SparseMaker *m, const char *why)
{
    diag_fatal(m->arena->diag, DIAG_LAYOUT, (Loc){0}, "from '%s' to '%s': %s",
               m->p->src->ref->def->name, m->p->dst->ref->def->name, why);
}

int
sparse_column(SparseMaker *m)
{
    if (m->columns == COLUMNS)
        refuse(m, "the expressions of the levels need too many columns");
    return m->columns++;
}

/* A column with the values of x, over variables that have columns. */
static int
column_of(SparseMaker *m, const Ex *x)
{
    int var = ex_as_var(x);
    if (var >= 0)
        return m->column[var];
    int c = sparse_column(m);
    sparse_step(m, STEP_set, (i64)c, x->base);
    for (int i = 0; i < x->n; i++) {
        Digit d = ex_digit(m->e, x->t[i].atom);
        if (ex_as_var(d.root) < 0 && x->t[i].atom->op != AT_DIG)
            refuse(m, arena_printf(m->arena, "'%s' is not a sum of parts of coordinates, such as "
                                   "R//4 and R%%4; convert to or from ROW_MAJOR first",
                                   ex_text(m->e, x)));
        int from = column_of(m, d.root);
        sparse_step(m, STEP_term, (i64)c, (i64)from, x->t[i].coef, d.lo, d.hi);
    }
    return c;
}

static void
add_text(SparseMaker *m, const char *text)
{
    Stmt **tail = m->tail;
    emit_add(m->arena, &tail, ST_COMMENT)->text = text;
    m->tail = tail;
}

/* A loop over batches; what follows is its body, until end_loop. */
static Stmt **
begin_loop(SparseMaker *m, const Ex *bound)
{
    enum { AT_ONCE = 512 };        /* RAVEL_BATCH of templates/c/sparse.h */
    Stmt **tail = m->tail;
    Stmt *s = emit_add(m->arena, &tail, ST_FOR);
    s->text = "i";
    s->bound = bound;
    s->step = AT_ONCE;
    m->tail = &s->body;
    return tail;
}

static void
end_loop(SparseMaker *m, Stmt **after)
{
    m->tail = after;
}

/* The positions of the source that hold a value. */
static const Ex *
source_positions(const SparseMaker *m)
{
    return sparse_size(m, m->p->src->narray - 1);
}

/* Begin a batch: the positions that hold an entry. */
static void
begin_batch(SparseMaker *m)
{
    const SparseFormat *f = m->p->src;
    int last = f->nlevel - 1;
    bool places = f->padded && !f->dense && f->level[last].def.kind == LEVEL_SINGLETON;
    m->columns = FREE_COLUMN;
    m->from = 0;
    if (f->padded && !places) {
        sparse_step(m, STEP_keep, source_positions(m), f->narray - 1,
                    (i64)f->l->dtype->bits / 8, f->l->fill[0], f->l->fill[1]);
        return;
    }
    sparse_step(m, STEP_begin, ex_of_var(m->e, m->p->step), source_positions(m));
    if (places)
        sparse_step(m, STEP_present, f->level[last].crd, (i64)f->width);
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
        int c = column_of(m, f->coord[s]);
        sparse_step(m, STEP_within, (i64)c, f->l->dim[s].n, (i64)m->columns);
        m->column[p->guard[d]] = c;
    }
}

/* x, over dims of the destination, over the source. */
static const Ex *
over_source(const SparseMaker *m, const Ex *x)
{
    const Layout *l = m->p->dst->l;
    const Ex **to = arena_array(m->arena, const Ex *, ex_nvars(m->e));
    for (int d = 0; d < l->rank; d++)
        to[l->dim[d].var] = m->p->dim[d];
    return ex_subst(m->e, x, to);
}

static bool
has_coordinate(const Level *l)
{
    return l->def.kind != LEVEL_NTH;
}

/* Read a batch, and the coordinates of the levels with want[k] or, of a layout, the
 * address: columns m->at. */
static void
read_batch(SparseMaker *m, const bool *want)
{
    const SparsePlan *p = m->p;
    const SparseFormat *f = p->dst;
    const Ex *x[MAX_LEVELS] = {0};
    int n = f->dense ? 1 : f->nlevel;
    m->needed = arena_array(m->arena, bool, ex_nvars(m->e));
    for (int k = 0; k < n; k++)
        if (want[k]) {
            x[k] = over_source(m, f->dense ? f->l->addr : f->level[k].x);
            ex_vars(x[k], m->needed);
        }
    for (int d = 0; d < f->l->rank; d++)
        if (p->guard[d] >= 0)
            ex_vars(p->src->coord[m->map[d]], m->needed);
    begin_batch(m);
    read_levels(m);
    guard(m);
    for (int k = 0; k < n; k++)
        m->at[k] = x[k] ? column_of(m, x[k]) : 0;
}

/* Copy or join values.  `how` is one of RAVEL_LAST ... of templates/c/sparse_value.c. */
static void
put_values(SparseMaker *m, i64 joins)
{
    enum { LAST, FIRST, REFUSE, SUM_INTEGER, SUM_FLOAT };
    const DType *t = m->p->dst->l->dtype;
    bool whole = t->kind == 'i' || t->kind == 'u';
    static const int hows[EQUALS] = {[EQUAL_FIRST] = FIRST, [EQUAL_LAST] = LAST,
                                     [EQUAL_ERROR] = REFUSE};
    Equals equal = m->p->rq->equal;
    i64 how = equal != EQUAL_SUM ? hows[equal] : whole ? SUM_INTEGER : SUM_FLOAT;
    i64 parts = t->kind == 'c' ? 2 : 1;
    sparse_step(m, STEP_put, (i64)m->to, m->p->dst->narray - 1,
                m->p->carries ? -1 : m->p->src->narray - 1, t->bits / 8 / parts, parts, how,
                joins);
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

/* The sizes of the destination's arrays. */
static void
report(SparseMaker *m)
{
    const SparseFormat *f = m->p->dst;
    for (int i = 0; i < f->narray; i++) {
        const SparseArray *a = &f->array[i];
        int level = a->kind == ARRAY_VAL ? (f->dense ? 1 : f->nlevel)
                    : a->level + (a->kind == ARRAY_CRD);
        sparse_step(m, STEP_report, (i64)i, (i64)level, (i64)(a->kind == ARRAY_POS));
    }
}

static void
finish_levels(SparseMaker *m)
{
    const SparseFormat *f = m->p->dst;
    for (int k = 0; k < f->nlevel; k++)
        if (m->p->way != BY_COUNTING || f->level[k].def.kind != LEVEL_COMPRESSED)
            f->level[k].info->finish(m, k);
        else if (!m->fill && f->width == 4)
            sparse_step(m, STEP_narrow, (i64)k + 1, (i64)f->level[k].crd);
    if (f->dense)
        sparse_step(m, STEP_grow, (i64)1, f->l->size);
}

/* Places without an entry: values are the fill, coordinates -1. */
static void
clear(SparseMaker *m)
{
    const SparseFormat *f = m->p->dst;
    int last = f->nlevel - 1;
    if (!f->padded)
        return;
    sparse_step(m, STEP_pass);     /* the sizes of the levels are those of the pass before */
    sparse_step(m, STEP_clear, f->narray - 1, (i64)(f->dense ? 1 : f->nlevel),
                (i64)f->l->dtype->bits / 8, f->l->fill[0], f->l->fill[1]);
    if (!f->dense && f->level[last].def.kind == LEVEL_SINGLETON)
        for (int k = 0; k <= last; k++)
            if (f->level[k].def.kind == LEVEL_SINGLETON)
                sparse_step(m, STEP_clear, f->level[k].crd, (i64)k + 1, (i64)f->width,
                            f->width == 4 ? UINT32_MAX : UINT64_MAX, (uint64_t)0);
}

/* The bits of the keys of a sort: of each level, or of the address. */
static int
key_bits(const SparseFormat *f, int k)
{
    return f->dense ? bits_of(f->l->size) : has_coordinate(&f->level[k])
           ? bits_of(f->level[k].n) : 0;
}

static int
key_levels(const SparseFormat *f)
{
    return f->dense ? 1 : f->nlevel;
}

/* Record the key of each entry. */
static void
record_keys(SparseMaker *m)
{
    const SparsePlan *p = m->p;
    const SparseFormat *f = p->dst;
    int key = sparse_column(m);
    sparse_step(m, STEP_set, (i64)key, (i64)0);
    for (int k = 0; k < key_levels(f); k++)
        if (key_bits(f, k))
            sparse_step(m, STEP_join, (i64)key, (i64)m->at[k], (i64)key_bits(f, k));
    if (p->carries)
        sparse_step(m, STEP_carry, p->src->narray - 1, (i64)f->l->dtype->bits / 8);
    sparse_step(m, STEP_record, (i64)key, (i64)p->low);
}

/* A batch of records in order: the coordinates from the keys. */
static void
replay_keys(SparseMaker *m)
{
    const SparseFormat *f = m->p->dst;
    m->columns = FREE_COLUMN;
    int key = sparse_column(m), shift = m->p->bits;
    sparse_step(m, STEP_replay, ex_of_var(m->e, m->p->step), (i64)key);
    for (int k = 0; k < key_levels(f); k++) {
        if (!f->dense && !has_coordinate(&f->level[k]))
            continue;
        shift -= key_bits(f, k);
        if (!f->dense && !sparse_wants(m, k))
            continue;
        m->at[k] = sparse_column(m);
        sparse_step(m, STEP_part, (i64)m->at[k], (i64)key, (i64)shift, (i64)key_bits(f, k));
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
                    (i64)f->l->dtype->bits / 8, (i64)f->width);
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

static int
compressed_level(const SparseFormat *f)
{
    int k = 0;
    while (f->level[k].def.kind != LEVEL_COMPRESSED)
        k++;
    return k;
}

/* Whether the number of entries alone gives the sizes, and is known: each position of the
 * source is an entry, and each entry has a position of its own. */
static bool
is_counted_already(const SparsePlan *p)
{
    bool filtered = p->src->padded || p->joins || p->way != BY_SOURCE;
    for (int d = 0; d < p->dst->l->rank; d++)
        filtered |= p->guard[d] >= 0;
    return !filtered && p->dst->tree > 0 && !sparse_flags(p, 0);
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
    if (m->fill && !is_counted_already(p))
        put_values(m, p->joins);
}

/* Copy what has the order of the source as a whole: values, and coordinates of singletons
 * that are those of the source's last level. */
static void
copy_arrays(SparseMaker *m)
{
    const SparseFormat *f = m->p->dst, *src = m->p->src;
    const Level *last = &src->level[src->nlevel - 1];
    sparse_step(m, STEP_copy, f->narray - 1, src->narray - 1, source_positions(m),
                (i64)f->l->dtype->bits / 8);
    for (int k = 0; k < f->nlevel; k++) {
        const Level *l = &f->level[k];
        m->copied[k] = l->def.kind == LEVEL_SINGLETON && last->crd >= 0 && !last->bias &&
                       f->width == src->width &&
                       ex_as_var(over_source(m, l->x)) == last->var;
        if (m->copied[k])
            sparse_step(m, STEP_copy, l->crd, last->crd, source_positions(m), (i64)f->width);
    }
}

/* From CSR to CSC and the like. */
static bool
is_transposed(const SparseMaker *m)
{
    const SparseFormat *f = m->p->dst, *src = m->p->src;
    const SparseFormat *both[] = {f, src};
    for (int i = 0; i < LEN(both); i++)
        if (both[i]->nlevel != 2 || both[i]->level[0].def.kind != LEVEL_DENSE ||
            both[i]->level[1].def.kind != LEVEL_COMPRESSED || both[i]->level[1].bias)
            return false;
    return f->width == src->width &&
           ex_as_var(over_source(m, f->level[0].x)) == src->level[1].var &&
           ex_as_var(over_source(m, f->level[1].x)) == src->level[0].var;
}

static void
transpose(SparseMaker *m)
{
    const SparseFormat *f = m->p->dst, *src = m->p->src;
    sparse_step(m, STEP_transpose, src->level[1].pos, src->level[1].crd, m->positions[1],
                f->level[1].crd, f->narray - 1, src->narray - 1, (i64)f->l->dtype->bits / 8,
                (i64)f->width);
}

/* A pass over the source. */
static void
pass(SparseMaker *m, const char *what)
{
    SparsePlan *p = m->p;
    const SparseFormat *f = p->dst;
    bool want[MAX_LEVELS] = {f->dense};
    add_text(m, what);
    sparse_step(m, STEP_pass);
    if (!m->fill && is_counted_already(p)) {
        sparse_step(m, STEP_assume, (i64)compressed_level(f) + 1, source_positions(m));
        return;
    }
    if (is_counted_already(p))
        copy_arrays(m);
    for (int k = 0; k < f->nlevel; k++)
        want[k] = p->way == BY_SORTING ? has_coordinate(&f->level[k])
                  : p->way == BY_SOURCE ? sparse_wants(m, k)
                  : m->fill || k < compressed_level(f);
    if (p->way == BY_COUNTING && m->fill)
        sparse_step(m, STEP_counted, f->level[compressed_level(f)].pos, p->counts - 1,
                    (i64)f->width);
    if (p->way == BY_COUNTING && m->fill && is_transposed(m)) {
        transpose(m);
        return;
    }
    Stmt **after = begin_loop(m, source_positions(m));
    read_batch(m, want);
    if (p->way == BY_SORTING)
        record_keys(m);
    else if (p->way == BY_COUNTING)
        write_counted(m);
    else
        write_batch(m);
    end_loop(m, after);
}

/* A pass over the sorted records. */
static void
pass_records(SparseMaker *m, const char *what)
{
    SparsePlan *p = m->p;
    add_text(m, what);
    sparse_step(m, STEP_pass);
    if (p->dst->dense && !m->fill)
        return;
    Stmt **after = begin_loop(m, ex_of_var(m->e, p->records));
    replay_keys(m);
    write_batch(m);
    end_loop(m, after);
}

static SparseMaker
maker(SparsePlan *p, Stmt **body, const int *map, bool fill)
{
    SparseMaker m = {.p = p, .e = p->e, .arena = ex_arena(p->e), .tail = body, .fill = fill,
                     .map = map};
    m.column = arena_array(m.arena, int, ex_nvars(p->e) + 1);
    m.positions[0] = ex_const(p->e, 1);
    for (int k = 0; k < p->src->nlevel; k++)
        m.positions[k + 1] = p->src->level[k].info->positions(&m, k);
    return m;
}

static void
add_return(SparseMaker *m)
{
    Stmt **tail = m->tail;
    sparse_step(m, STEP_answer);
    tail = m->tail;
    emit_add(m->arena, &tail, ST_RETURN)->value = ex_of_var(m->e, m->p->flaw);
    m->tail = tail;
}

static void
make_work(SparsePlan *p, const int *map)
{
    SparseMaker m = maker(p, &p->work, map, false);
    const SparseFormat *f = p->src;
    bool sorts = p->way == BY_SORTING;
    bool scans = sorts && f->padded && (f->dense || f->level[f->nlevel - 1].def.kind == LEVEL_DENSE);
    i64 es = f->l->dtype->bits / 8;
    sparse_step(&m, STEP_work, p->counts, (i64)sorts, scans ? f->narray - 1 : -1,
                source_positions(&m), es, f->l->fill[0], f->l->fill[1]);
    Stmt **tail = m.tail;
    emit_add(m.arena, &tail, ST_RETURN)->value = ex_const(p->e, 0);
}

static void
check_source(SparseMaker *m)
{
    const SparseFormat *f = m->p->src;
    add_text(m, "the source is checked before anything is read or written");
    for (int k = 0; k < f->nlevel; k++)
        if (f->level[k].info->check)
            f->level[k].info->check(m, k);
    const Ex *values = f->dense ? ex_const(m->e, f->l->size) : m->positions[f->nlevel];
    sparse_step(m, STEP_check_size, (i64)f->narray - 1, source_positions(m), values);
}

static void
make_sizes(SparsePlan *p, const int *map)
{
    SparseMaker m = maker(p, &p->sizes, map, false);
    sparse_step(&m, STEP_open, p->counts);
    check_source(&m);
    if (p->way == BY_COUNTING)
        sparse_step(&m, STEP_uncount, p->counts - 1);
    if (p->way != BY_SOURCE || !p->dst->dense)
        pass(&m, p->way == BY_SORTING ? "keys of the entries"
             : p->way == BY_COUNTING ? "count the entries below each parent"
             : "count the positions of each level");
    else
        sparse_step(&m, STEP_pass);
    if (p->way == BY_SORTING) {
        sparse_step(&m, STEP_sort, (i64)p->low, (i64)p->bits);
        pass_records(&m, "count the positions of each level");
    }
    if (p->way == BY_COUNTING)
        sparse_step(&m, STEP_scan, p->counts - 1, (i64)compressed_level(p->dst) + 1);
    finish_levels(&m);
    report(&m);
    add_return(&m);
}

static void
make_fill(SparsePlan *p, const int *map)
{
    SparseMaker m = maker(p, &p->fill, map, true);
    clear(&m);
    if (p->way == BY_SORTING)
        pass_records(&m, "write the entries in order");
    else
        pass(&m, "write the entries");
    if (p->way != BY_COUNTING)
        finish_levels(&m);
    add_return(&m);
}

/* The coordinates by which the destination is ordered, over the source; those of the dense
 * levels in front are `*dense`. */
static int
keys(SparseMaker *m, const Ex **key, int *dense)
{
    SparsePlan *p = m->p;
    const SparseFormat *f = p->dst;
    int n = 0;
    *dense = 0;
    for (int k = 0; k < f->tree; k++) {
        if (f->level[k].def.unordered && !p->joins)
            break;
        *dense += *dense == n && f->level[k].def.kind == LEVEL_DENSE;
        if (has_coordinate(&f->level[k]))
            key[n++] = over_source(m, f->level[k].x);
    }
    return n;
}

/* Dense levels, then one compressed level, then singletons. */
static bool
is_counted(const SparseFormat *f)
{
    int k = 0;
    while (k < f->nlevel && f->level[k].def.kind == LEVEL_DENSE)
        k++;
    if (k == 0 || k == f->nlevel || f->level[k++].def.kind != LEVEL_COMPRESSED)
        return false;
    while (k < f->nlevel && f->level[k].def.kind == LEVEL_SINGLETON)
        k++;
    return k == f->nlevel;
}

/* With the coordinates of the dense levels fixed, the rest must be in order. */
static bool
can_count(SparseMaker *m, const Ex *const *key, int n, int dense)
{
    const i64 most = (i64)1 << 40;
    SparsePlan *p = m->p;
    bool *fixed = arena_array(m->arena, bool, ex_nvars(m->e));
    p->counts = 2;                 /* one more than the end of the last */
    if (!is_counted(p->dst) || p->src->dense || p->src->loose)
        return false;
    for (int k = 0; k < dense; k++) {
        if (ex_as_var(key[k]) < 0)
            return false;
        fixed[ex_as_var(key[k])] = true;
    }
    i64 parents = 1;
    for (int k = 0; k < dense; k++)
        if (!int_mul(parents, p->dst->level[k].n, &parents) || parents > most)
            return false;
    p->counts = parents + 1;
    return sparse_ordered(p->src, m->e, key + dense, n - dense, fixed);
}

static void
set_sorting(SparseMaker *m)
{
    SparsePlan *p = m->p;
    const SparseFormat *f = p->dst;
    p->way = BY_SORTING;
    p->why = "the source has another order: keys are sorted";
    for (int k = 0; k < key_levels(f); k++) {
        p->bits += key_bits(f, k);
        p->low += k >= f->tree && !f->dense ? key_bits(f, k) : 0;
    }
    if (p->joins)
        p->low = 0;
    p->carries = f->l->dtype->bits <= 64 && p->rq->equal != EQUAL_ERROR;
    if (p->bits > KEY_BITS)
        refuse(m, arena_printf(m->arena, "keys of %d bits are needed to sort: at most %d",
                               p->bits, KEY_BITS));
}

static void
set_way(SparseMaker *m)
{
    SparsePlan *p = m->p;
    const Ex *key[MAX_LEVELS];
    const uint64_t *fill = p->dst->l->fill;
    Equals equal = p->rq->equal;
    int dense, n = keys(m, key, &dense);
    bool direct = p->dst->dense && (equal == EQUAL_LAST || (equal == EQUAL_SUM && !fill[0] &&
                                                            !fill[1]));
    p->way = BY_SOURCE;
    p->why = "the source has the order of the destination";
    if (p->dst->dense && (!p->joins || direct)) {
        p->why = "each entry goes to its address";
    } else if (p->joins || !sparse_ordered(p->src, m->e, key, n, NULL)) {
        p->way = BY_COUNTING;
        p->why = "below each parent the source has the order of the destination: entries are "
                 "counted";
        if (p->joins || !can_count(m, key, n, dense))
            set_sorting(m);
    }
    p->counts = p->way == BY_COUNTING ? p->counts : 0;
}

/* The variables of the statements; their names are those in C. */
static void
set_variables(SparsePlan *p)
{
    const i64 most = (i64)1 << 48;
    Arena *a = ex_arena(p->e);
    p->step = ex_var(p->e, "i", 0, most);
    p->records = ex_var(p->e, "s->records", 0, most);
    p->flaw = ex_var(p->e, "(int)s->flaw", 0, INT32_MAX);
    for (int i = 0; i < p->src->narray; i++)
        p->size[i] = ex_var(p->e, arena_printf(a, "n[%d]", i), 0, most);
}

/* The dims over the source. */
static void
set_dims(SparsePlan *p, const int *map)
{
    const SparseFormat *f = p->src;
    for (int d = 0; d < f->l->rank; d++) {
        const Dim *dim = &f->l->dim[map[d]];
        const Ex *x = f->coord[map[d]];
        bool out = x->f.min < 0 || x->f.max >= dim->n;
        p->guard[d] = out ? ex_var(p->e, dim->name, 0, dim->n - 1) : -1;
        p->dim[d] = out ? ex_of_var(p->e, p->guard[d]) : x;
    }
}

static void
check_sum(const SparseMaker *m)
{
    const DType *t = m->p->dst->l->dtype;
    if (m->p->joins && m->p->rq->equal == EQUAL_SUM && t->kind != 'i' && t->kind != 'u' &&
        (t->bits == 16 || t->kind == 'b'))
        refuse(m, arena_printf(m->arena, "equal entries of %s are not added: choose first, last "
                               "or error", t->name));
}

SparsePlan *
sparse_plan(Exprs *e, const SparseRequest *rq, SparseFormat *src, SparseFormat *dst,
            const int *map, const char *name)
{
    SparsePlan *p = arena_new(ex_arena(e), SparsePlan);
    *p = (SparsePlan){.rq = rq, .e = e, .src = src, .dst = dst, .name = name};
    const LevelDef *top = dst->dense ? NULL : &dst->level[0].def;
    bool list = top && top->repeats && top->unordered;
    p->joins = src->loose && !list;
    set_variables(p);
    set_dims(p, map);
    SparseMaker m = maker(p, &p->sizes, map, false);
    check_sum(&m);
    set_way(&m);
    make_work(p, map);
    make_sizes(p, map);
    make_fill(p, map);
    return p;
}
