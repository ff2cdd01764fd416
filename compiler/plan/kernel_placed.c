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
    if (!nest_looks_up(n) || !places_loops(n, &l) || !places_parts(n, &l, bits, NULL, part))
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

static const int32_t *
placed_program(Arena *a, const Nest *n, int bits, i64 *words)
{
    const NumberLoops l = places_given(n);
    PlacePart part[2][PLACE_PARTS];
    places_parts(n, &l, bits, NULL, part);
    *words = 3;
    for (int i = 0; i < 2 * PLACE_PARTS; i++)
        *words += places_words(&part[i / PLACE_PARTS][i % PLACE_PARTS]);
    int32_t *made = arena_array(a, int32_t, *words), *at = made;
    *at++ = (int32_t)l.each;
    *at++ = places_are_near(n, &l, DST, bits);
    *at++ = places_are_near(n, &l, SRC, bits);
    for (int i = 0; i < PLACE_PARTS; i++)
        at = places_put(&part[DST][i], at);
    for (int i = 0; i < PLACE_PARTS; i++)
        at = places_put(&part[SRC][i], at);
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
    places_parts(n, &l, bits, NULL, part);
    double run = (double)nest_tile(n, COL), planes = (double)nest_tile(n, BATCH), place = PLACE_NS;
    for (int i = 0; i < 2 * PLACE_PARTS; i++)
        place += QUOTIENT_NS * part[i / PLACE_PARTS][i % PLACE_PARTS].n;
    double rows = (double)nest_tile(n, ROW) * (double)l.each;
    return (double)n->elements / run *
           (RUN_NS + BYTE_NS * run * bits / 8 + (place + CALL_NS / rows) / planes);
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
        .orders = places_orders,
        .table = placed_table,
        .program = placed_program,
    },
};
