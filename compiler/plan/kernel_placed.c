/* Runs at places that are digits of the numbers that index arrays have, or of the rows. */
#include "places.h"

/* Whether the kernel `indexed` can do the same. */
static bool
is_linear(const NumberLoops *l, PlacePart part[2][PLACE_PARTS])
{
    bool linear = l->n == 1;
    for (int s = 0; s < 2; s++)
        for (int i = 0; i < PLACE_PARTS; i++)
            linear &= part[s][i].n == 0 && part[s][i].first == (i > 0);
    return linear;
}

static bool
placed_applies(const Nest *n, int bits, int role[ROLES])
{
    NumberLoops l;
    PlacePart part[2][PLACE_PARTS];
    if (!nest_looks_up(n) || !places_loops(n, &l) || !places_parts(n, &l, bits, part))
        return false;
    role[COL] = kernel_run_loop(n);
    role[ROW] = l.loop[l.n - 1];
    kernel_batch(n, role);
    return !is_linear(&l, part);
}

static void
placed_table(const Nest *n, int bits, const int role[ROLES], TableLoops *out)
{
    NumberLoops l;
    (void)bits;
    (void)role;
    places_loops(n, &l);
    for (int i = 0; i + 1 < l.n; i++)
        out->in[l.loop[i]] = true;
}

/* Sets out[] to a factor and a shift: x / div == (2 * x * factor >> 32) >> shift for every x below
 * 2^31, as factor is 2^(31 + shift) / div rounded up and div is at most 2^shift (T. Granlund and P.
 * L. Montgomery, "Division by Invariant Integers using Multiplication", 1994). */
static void
put_division(i64 div, int32_t out[2])
{
    int log = 0;
    while ((i64)1 << log < div)
        log++;
    const uint64_t one = (uint64_t)1 << (31 + log);
    out[0] = (int32_t)(uint32_t)((one + (uint64_t)div - 1) / (uint64_t)div);
    out[1] = log;
}

/* As templates/c/places.h has them. */
enum { QUOTIENT_WORDS = 5 };

static int32_t *
put_part(const PlacePart *p, int32_t *out)
{
    *out++ = (int32_t)p->first;
    *out++ = p->n;
    for (int i = 0; i < p->n; i++, out += QUOTIENT_WORDS) {
        out[0] = (int32_t)p->quotient[i].more;
        put_division(p->quotient[i].div, out + 1);
        out[3] = (int32_t)(uint32_t)p->quotient[i].weight;
        out[4] = (int32_t)(p->quotient[i].weight >> 32);
    }
    return out;
}

static const int32_t *
placed_program(Arena *a, const Nest *n, int bits, i64 *words)
{
    const NumberLoops l = places_given(n);
    PlacePart part[2][PLACE_PARTS];
    places_parts(n, &l, bits, part);
    *words = 3;
    for (int i = 0; i < 2 * PLACE_PARTS; i++)
        *words += 2 + QUOTIENT_WORDS * part[i / PLACE_PARTS][i % PLACE_PARTS].n;
    int32_t *made = arena_array(a, int32_t, *words), *at = made;
    *at++ = (int32_t)l.each;
    *at++ = places_are_near(n, &l, DST, bits);
    *at++ = places_are_near(n, &l, SRC, bits);
    for (int i = 0; i < PLACE_PARTS; i++)
        at = put_part(&part[DST][i], at);
    for (int i = 0; i < PLACE_PARTS; i++)
        at = put_part(&part[SRC][i], at);
    return made;
}

/* RUN_NS: to start a run.  PLACE_NS: to make its place, QUOTIENT_NS: a quotient of it.  BYTE_NS: to
 * copy a byte.  CALL_NS: of a call.  Intel Emerald Rapids, in the caches. */
static double
placed_work(const Nest *n, int bits)
{
    static const double RUN_NS = 0.6, PLACE_NS = 0.3, QUOTIENT_NS = 0.15, BYTE_NS = 0.02,
                        CALL_NS = 30;
    const NumberLoops l = places_given(n);
    PlacePart part[2][PLACE_PARTS];
    places_parts(n, &l, bits, part);
    double run = (double)nest_tile(n, COL), planes = (double)nest_tile(n, BATCH), place = PLACE_NS;
    for (int i = 0; i < 2 * PLACE_PARTS; i++)
        place += QUOTIENT_NS * part[i / PLACE_PARTS][i % PLACE_PARTS].n;
    double rows = (double)nest_tile(n, ROW) * (double)l.each;
    return (double)n->elements / run *
           (RUN_NS + BYTE_NS * run * bits / 8 + (place + CALL_NS / rows) / planes);
}

static bool
placed_orders(const Plan *p, Nest *n, int k)
{
    enum { STRETCH = 64 * 1024 };
    i64 run = kernel_count(n, n->role[COL]) * p->dst->dtype->bits / 8;
    i64 rows = STRETCH / (run < 64 ? 64 : run) / nest_entries(n);
    const Loop *l = &n->loop[n->role[ROW]];
    n->order = in_order_of_writes;
    outer_add_loops(n, BY_DST, false);
    if (l->n > rows || !ex_is_const(l->ex.n))
        n->outer[n->nouter++] = (OuterLoop){n->role[ROW], rows < 1 ? 1 : (int)rows};
    return k == 0;
}

const Family placed_family = {
    .kind = NEST_COPY,
    .elements = OF_BYTES,
    .args = "DSnrRNMPYgfUuQXGFVzt",
    .what = "runs at places that are digits of what index arrays have",
    .indexed = true,
    .by = &(const Method){
        .applies = placed_applies,
        .work = placed_work,
        .orders = placed_orders,
        .table = placed_table,
        .program = placed_program,
    },
};
