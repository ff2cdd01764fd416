/* The plan of a conversion: its way, its keys, and the statements of its functions. */
#include <string.h>

#include "sparse_parts.h"

const char *const sparse_equals[EQUALS + 1] = {
    [EQUAL_SUM] = "sum", [EQUAL_FIRST] = "first", [EQUAL_LAST] = "last",
    [EQUAL_ERROR] = "error"};

Equals
sparse_equals_of(Arena *a, const char *name)
{
    for (int i = 0; name && sparse_equals[i]; i++)
        if (!strcmp(sparse_equals[i], name))
            return (Equals)i;
    if (name)
        diag_fatal(a->diag, DIAG_ARGUMENT, (Loc){0}, "equal entries: '%.40s' is none of sum, "
                   "first, last, error", name);
    return EQUAL_SUM;
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
        const Level *l = &f->level[a->level];
        if (m->p->copies)
            sparse_step(m, STEP_report_number, (i64)i, sparse_size(m, i));
        else if (a->kind == ARRAY_POS && l->info->lists)
            sparse_step(m, STEP_report_lists, (i64)i);
        else if (a->kind == ARRAY_CODES)
            sparse_step(m, STEP_report_number, (i64)i, ex_const(m->e, l->codes));
        else
            sparse_step(m, STEP_report, (i64)i, (i64)level, (i64)(a->kind == ARRAY_POS));
    }
    if (f->packed)
        sparse_step(m, STEP_report_bytes, (i64)f->narray - 1);
}

/* The steps of `fill` write pos as a whole. */
static bool
writes_pos(const SparsePlan *p)
{
    return p->way == BY_COUNTING || p->way == BY_TILES || p->way == FROM_TILES ||
           p->way == BY_ROWS || p->way == BY_STRIPS || p->way == BY_BITMAP || p->extracts || p->expands;
}

static void
finish_levels(SparseMaker *m)
{
    const SparseFormat *f = m->p->dst;
    for (int k = 0; k < f->nlevel && !m->p->copies; k++)
        if (!writes_pos(m->p) || f->level[k].def.kind != LEVEL_COMPRESSED)
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
    if (!f->padded || m->p->way == BY_TILES || m->p->way == BY_STRIPS || m->p->down || m->p->copies)
        return;
    sparse_text(m, "fill the places, also those without an entry");
    sparse_step(m, STEP_pass);     /* the sizes of the levels are those of the pass before */
    sparse_step(m, STEP_clear, f->narray - 1, (i64)(f->dense ? 1 : f->nlevel),
                sparse_bytes(f->l->dtype), f->l->fill[0], f->l->fill[1]);
    if (!f->dense && f->level[last].def.kind == LEVEL_SINGLETON)
        for (int k = 0; k <= last; k++)
            if (f->level[k].def.kind == LEVEL_SINGLETON)
                sparse_step(m, STEP_clear, f->level[k].crd, (i64)k + 1, (i64)f->width,
                            f->width == 4 ? UINT32_MAX : UINT64_MAX, (uint64_t)0);
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
    bool scans = sorts && sparse_masks(f);
    SparseTest t = sparse_test(&m);
    i64 bits = f->packed && !p->rq->mask ? f->l->dtype->bits : 8 * t.bytes;
    sparse_step(&m, STEP_work, (i64)p->columns, p->counts, (i64)sorts, scans ? t.array : -1,
                sparse_size(&m, scans ? t.array : f->narray - 1), bits, t.how, t.lo, t.hi);
    sparse_rooms(&m);
    Stmt **tail = m.tail;
    emit_add(m.arena, &tail, ST_RETURN)->value = ex_const(p->e, 0);
}

static void
check_source(SparseMaker *m)
{
    const SparseFormat *f = m->p->src;
    sparse_text(m, "the source is checked before anything is read or written");
    for (int k = 0; k < f->nlevel; k++)
        if (f->level[k].info->check)
            f->level[k].info->check(m, k);
    const Ex *values = f->dense ? ex_const(m->e, f->l->size) : m->positions[f->nlevel];
    m->p->values = values;
    sparse_step(m, STEP_check_size, (i64)f->narray - 1, sparse_positions(m), values);
    if (m->p->rq->mask)
        sparse_step(m, STEP_check_size, (i64)0, sparse_size(m, 0), values);
    if (!f->packed)
        return;
    sparse_text(m, "unpack the values");
    sparse_step(m, STEP_unpack, f->narray - 1, sparse_positions(m), (i64)f->l->dtype->bits);
}

static void
mark_source(SparseMaker *m)
{
    SparseTest t = sparse_test(m);
    if (!sparse_masks(m->p->src) || m->p->copies || m->p->way == FROM_TILES)
        return;
    sparse_text(m, "mark the positions that hold an entry");
    sparse_step(m, STEP_mark, t.array, sparse_positions(m), t.bytes, t.how, t.lo, t.hi);
}

static void
make_sizes(SparsePlan *p, const int *map)
{
    SparseMaker m = maker(p, &p->sizes, map, false);
    sparse_text(&m, "divide the work memory");
    sparse_step(&m, STEP_open, (i64)p->columns, p->counts);
    sparse_areas(&m);
    check_source(&m);
    mark_source(&m);
    if (p->counts)
        sparse_step(&m, STEP_uncount, p->counts - 1);
    if (!p->copies && (p->way != BY_SOURCE || !p->dst->dense))
        sparse_pass(&m, p->way == BY_SORTING ? "keys of the entries"
             : p->way == BY_TILES ? "find the tiles of each row of tiles"
             : p->way == FROM_TILES ? "count the entries of each row"
             : p->way == BY_ROWS ? "put the entries into their rows, and join them"
             : p->way == BY_STRIPS || p->way == BY_BITMAP ? "find the places that have an entry"
             : p->counts ? "count the entries below each parent"
             : "count the positions of each level");
    else
        sparse_step(&m, STEP_pass);
    if (p->way == BY_SORTING) {
        sparse_step(&m, STEP_sort, (i64)p->low, (i64)p->bits);
        sparse_pass_records(&m, "count the positions of each level");
    }
    if (p->counts)
        sparse_step(&m, STEP_scan, p->counts - 1, (i64)sparse_compressed(p->dst) + 1);
    sparse_text(&m, "the sizes of the destination's arrays");
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
        sparse_pass_records(&m, "write the entries in order");
    else
        sparse_pass(&m, "write the entries");
    if (!writes_pos(p))
        finish_levels(&m);
    if (p->dst->packed) {
        sparse_text(&m, "pack the values");
        sparse_step(&m, STEP_pack, p->dst->narray - 1, p->dst->narray - 1,
                    (i64)p->dst->l->dtype->bits);
    }
    add_return(&m);
}

/* The most elements of array i of the source: each has `below` positions in the dense levels that
 * follow, and no array has more elements than fit an address. */
static i64
most_elements(const SparseFormat *f, int i)
{
    i64 most = (i64)1 << 48, below = 1;
    int k = f->array[i].kind == ARRAY_CRD ? f->array[i].level + 1 : f->nlevel;
    for (; k < f->nlevel; k++) {
        const Level *l = &f->level[k];
        bool coded = l->info->coded;
        if (!coded && l->def.kind != LEVEL_DENSE)
            break;
        if (!int_mul(below, coded ? l->number : l->n, &below) || !below)
            return 1;
    }
    return below < most ? most / below : 1;
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
    for (int i = 0; i < p->src->narray; i++) {
        p->most[i] = most_elements(p->src, i);
        p->size[i] = ex_var(p->e, arena_printf(a, "n[%d]", i), 0, p->most[i]);
    }
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

/* The columns are known when all statements are made. */
static void
set_columns(const SparsePlan *p)
{
    for (Stmt *s = p->sizes; s; s = s->next)
        if (s->kernel == &sparse_steps[STEP_open])
            s->arg[1].value = ex_const(p->e, p->columns);
}

SparsePlan *
sparse_plan(Exprs *e, const SparseRequest *rq, SparseFormat *src, SparseFormat *dst,
            const int *map, const char *name)
{
    SparsePlan *p = arena_new(ex_arena(e), SparsePlan);
    *p = (SparsePlan){.rq = rq, .e = e, .src = src, .dst = dst, .name = name};
    const LevelDef *top = dst->dense ? NULL : &dst->level[0].def;
    bool list = top && top->repeats && top->unordered;
    p->joins = src->loose && !list && !src->empty;
    p->bytes = src->valueless || dst->valueless ? 0 : sparse_bytes(dst->l->dtype);
    p->ones = src->valueless && !dst->valueless;
    set_variables(p);
    set_dims(p, map);
    SparseMaker m = maker(p, &p->sizes, map, false);
    if (p->ones && dst->l->fill[0] == 1)
        sparse_refuse(&m, "in a pattern the value of an entry is 1, so the fill is another");
    sparse_check_test(&m);
    sparse_set_sum(&m);
    sparse_set_way(&m);
    p->columns = SPARSE_FREE;
    make_sizes(p, map);
    make_fill(p, map);
    set_columns(p);
    make_work(p, map);
    return p;
}
