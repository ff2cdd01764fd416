/* Runs at places that follow from loops and from the numbers of index arrays together, as rows of a
 * swizzled layout: by a table for each class of numbers. */
#include <math.h>

#include "../../templates/c/mixed_size.h"
#include "mixing.h"

/* Entries of the table, for all classes. */
enum { TABLE_MOST = 2048 };

/* Adds loops to the table that continue what the others have in the destination. */
static void
add_loops(const Nest *n, int run, const NumberLoops *l, Mixing *m)
{
    bool taken[MAX_LOOPS] = {false};
    i64 length = kernel_count(n, run);
    for (int i = 0; i < l->n; i++)
        taken[l->loop[i]] = true;
    for (int i = n->nloops - 1; i >= 0; i--) {
        const Loop *k = &n->loop[i];
        if (taken[i] || i == run || k->ds != length || !kernel_is_known(k) ||
            (!m->in[i] && (k->residual || m->entries * m->classes * k->n > TABLE_MOST)))
            continue;
        m->entries *= m->in[i] ? 1 : k->n;
        m->in[i] = taken[i] = true;
        length *= k->n;
        i = n->nloops;
    }
}

/* What the table has of both sides; false: an offset may be too far. */
static bool
table_terms(const Nest *n, const NumberLoops *l, const Mixing *m, int bits, const Ex *x[2])
{
    for (int s = 0; s < 2; s++) {
        x[s] = mixing_terms(n, l, m, s);
        double far = fmax(fabs((double)x[s]->f.max), fabs((double)x[s]->f.min));
        for (int i = 0; i < n->nloops; i++)
            if (m->in[i])
                far += fabs((double)kernel_stride(&n->loop[i], s)) * (double)n->loop[i].n;
        if (far * bits / 8 > TABLE_NEAR)
            return false;
    }
    return true;
}

static bool
mixed_applies(const Nest *n, int bits, int role[ROLES])
{
    NumberLoops l;
    Mixing m;
    PlacePart part[2][PLACE_PARTS];
    const Ex *x[2];
    if (!nest_looks_up(n) || !places_loops(n, &l) || !mixing_of(n, &l, &m) ||
        m.entries * m.classes > TABLE_MOST)
        return false;
    role[COL] = kernel_run_loop(n);
    role[ROW] = l.loop[l.n - 1];
    role[BATCH] = -1;
    add_loops(n, role[COL], &l, &m);
    for (int i = 0; i < n->nloops; i++)
        if (!m.in[i] && i != role[COL] && !n->loop[i].residual)
            role[BATCH] = i;
    return table_terms(n, &l, &m, bits, x) && places_parts(n, &l, bits, x, part);
}

static void
mixed_table(const Nest *n, int bits, const int role[ROLES], TableLoops *out)
{
    NumberLoops l;
    Mixing m;
    (void)bits;
    places_loops(n, &l);
    mixing_of(n, &l, &m);
    add_loops(n, role[COL], &l, &m);
    for (int i = 0; i < n->nloops; i++)
        out->in[i] = m.in[i];
    for (int i = 0; i + 1 < l.n; i++)
        out->in[l.loop[i]] = true;
}

/* The same of a nest that has the kernel. */
static void
mixing_given(const Nest *n, NumberLoops *l, Mixing *m)
{
    *l = places_given(n);
    mixing_of(n, l, m);
    for (int i = n->nloops - n->inner, end = i + n->table; i < end; i++)
        m->in[i] = true;
    for (int i = 0; i < l->n; i++)
        m->in[l->loop[i]] = false;
    m->entries = nest_entries(n) / l->each;
}

/* The class of a row, of the numbers that its places have. */
static void
class_parts(const Nest *n, const NumberLoops *l, const Mixing *m, PlacePart place[2][PLACE_PARTS],
            PlacePart out[2][PLACE_PARTS])
{
    i64 weight = m->classes;
    for (int s = 0; s < 2; s++) {
        PlacePart *p = out[s];
        for (int i = 0; i < PLACE_PARTS; i++)
            p[i] = (PlacePart){.first = i ? place[s][i].first : 0, .most = place[s][i].most};
        for (int i = 0; n->at[s][i]; i++) {
            const i64 each = m->of[s][i].each, size = m->of[s][i].size;
            if (!ex_has(n->at[s][i], n->loop[l->loop[0]].var))
                continue;
            p++;
            if (size == 1)
                continue;
            weight /= size;
            places_add(p, 0, each, weight);
            if (each * size <= ex_of_var(n->e, n->number[s][i])->f.max)
                places_add(p, 0, each * size, -weight * size);
        }
    }
}

/* Sets the numbers to the least ones of a class. */
static void
set_class(const Nest *n, const NumberLoops *l, const Mixing *m, i64 class, i64 *val)
{
    i64 left = m->classes;
    for (int s = 0; s < 2; s++)
        for (int i = 0; n->at[s][i]; i++)
            if (ex_has(n->at[s][i], n->loop[l->loop[0]].var)) {
                left /= m->of[s][i].size;
                val[n->number[s][i]] = class / left * m->of[s][i].each;
                class %= left;
            }
}

static i64
offset(const Nest *n, const Mixing *m, int side, const Ex *x, const i64 *val)
{
    i64 sum = 0;
    ex_eval(x, val, &sum);
    for (int i = 0; i < n->nloops; i++)
        if (m->in[i])
            sum += val[n->loop[i].var] * kernel_stride(&n->loop[i], side);
    return sum;
}

/* Sets the loops to iteration number `entry` of all. */
static void
set_entry(const Nest *n, const Mixing *m, i64 entry, i64 *val)
{
    for (int i = n->nloops - 1; i >= 0; i--)
        if (m->in[i]) {
            val[n->loop[i].var] = entry % n->loop[i].n;
            entry /= n->loop[i].n;
        }
}

static void
put_table(Arena *a, const Nest *n, const NumberLoops *l, const Mixing *m, const Ex *x[2],
          int bits, int32_t *out)
{
    i64 *val = arena_array(a, i64, ex_nvars(n->e));
    for (i64 c = 0; c < m->classes; c++) {
        set_class(n, l, m, c, val);
        for (i64 e = 0; e < m->entries; e++) {
            set_entry(n, m, e, val);
            *out++ = (int32_t)(offset(n, m, DST, x[DST], val) * (bits / 8));
            *out++ = (int32_t)(offset(n, m, SRC, x[SRC], val) * (bits / 8));
        }
    }
}

/* Whether the table is one run after the other on a side. */
static bool
is_contiguous(const Nest *n, const Mixing *m, const int32_t *table, int side, int bits)
{
    const i64 run = kernel_count(n, n->role[COL]) * bits / 8;
    for (i64 i = 0; i < m->classes * m->entries; i++)
        if (table[2 * i + (side == SRC)] != i % m->entries * run)
            return false;
    return true;
}

static int
order_of(const Nest *n, const NumberLoops *l, const Mixing *m, const int32_t *table, int bits)
{
    const Loop *k = &n->loop[l->loop[0]];
    const i64 run = kernel_count(n, n->role[COL]);
    return is_contiguous(n, m, table, DST, bits) ? RAVEL_MIXED_DST
         : is_contiguous(n, m, table, SRC, bits) ? RAVEL_MIXED_SRC
         : k->ds == run || k->ss == run ? RAVEL_MIXED_ROWS : RAVEL_MIXED_ANY;
}

/* From where to where a row is on a side, to be fetched before it is moved; 0 if that is too far. */
static void
put_span(const Nest *n, const Mixing *m, const int32_t *table, int side, int bits, int32_t *out)
{
    enum { FAR = 512 };
    const i64 run = kernel_count(n, n->role[COL]) * bits / 8;
    i64 from = INF, to = -INF;
    for (i64 i = 0; i < m->classes * m->entries; i++) {
        i64 at = table[2 * i + (side == SRC)];
        from = at < from ? at : from;
        to = at + run > to ? at + run : to;
    }
    out[0] = to - from > FAR ? 0 : (int32_t)from;
    out[1] = to - from > FAR ? 0 : (int32_t)to;
}

static const int32_t *
mixed_program(Arena *a, const Nest *n, int bits, i64 *words)
{
    NumberLoops l;
    Mixing m;
    PlacePart part[4][PLACE_PARTS];
    const Ex *x[2];
    mixing_given(n, &l, &m);
    table_terms(n, &l, &m, bits, x);
    places_parts(n, &l, bits, x, part);
    class_parts(n, &l, &m, part, part + 2);
    *words = RAVEL_MIXED_HEAD + 2 * m.classes * m.entries;
    for (int i = 0; i < 4 * PLACE_PARTS; i++)
        *words += places_words(&part[i / PLACE_PARTS][i % PLACE_PARTS]);
    int32_t *made = arena_array(a, int32_t, *words), *at = made;
    *at++ = (int32_t)l.each;
    *at++ = places_are_near(n, &l, DST, bits);
    *at++ = places_are_near(n, &l, SRC, bits);
    *at++ = (int32_t)m.entries;
    at = made + RAVEL_MIXED_HEAD;
    static const int side[] = {DST, SRC, 2 + DST, 2 + SRC};
    for (int i = 0; i < 4 * PLACE_PARTS; i++)
        at = places_put(&part[side[i / PLACE_PARTS]][i % PLACE_PARTS], at);
    put_table(a, n, &l, &m, x, bits, at);
    made[4] = order_of(n, &l, &m, at, bits);
    put_span(n, &m, at, DST, bits, made + 5);
    put_span(n, &m, at, SRC, bits, made + 7);
    return made;
}

/* RUN_NS: to start a run.  ROW_NS: to make the places and the class of a row.  BYTE_NS: to copy a
 * byte.  CALL_NS: of a call.  As of the kernel `placed`. */
static double
mixed_work(const Nest *n, int bits)
{
    static const double RUN_NS = 0.7, ROW_NS = 1.5, BYTE_NS = 0.02, CALL_NS = 40;
    const NumberLoops l = places_given(n);
    double run = (double)nest_tile(n, COL), planes = (double)nest_tile(n, BATCH);
    double entries = (double)nest_entries(n) / (double)l.each;
    double rows = (double)nest_tile(n, ROW) * (double)l.each;
    return (double)n->elements / run *
           (RUN_NS + BYTE_NS * run * bits / 8 + (ROW_NS + CALL_NS / rows) / planes / entries);
}

const Family mixed_family = {
    .kind = NEST_COPY,
    .elements = OF_BYTES,
    .args = "DSnrRNMPYgfUuQXGFVzt",
    .what = "runs at places that follow from loops and from numbers of index arrays together",
    .indexed = true,
    .by = &(const Method){
        .applies = mixed_applies,
        .work = mixed_work,
        .orders = places_orders,
        .table = mixed_table,
        .program = mixed_program,
    },
};
