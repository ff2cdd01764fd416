/* The arithmetic of pieces, against sets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../compiler/compile.h"
#include "../../compiler/plan/plan_parts.h"

static uint64_t seed;

static i64
below(i64 n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (i64)((seed >> 33) % (uint64_t)n);
}

/* Up to three loops that often fit together, often do not; seldom one has nothing. */
static Piece
random_piece(Exprs *e, PieceLoop loop[3])
{
    Piece p = {.start = ex_const(e, 60 + below(20)), .nloops = (int)below(4), .loop = loop};
    i64 step = below(10) ? 1 + below(2) : 0;
    for (int i = p.nloops - 1; i >= 0; i--) {
        i64 n = below(80) ? 1 + below(4) : 0;
        loop[i] = (PieceLoop){.step = step, .n = ex_const(e, n),
                              .first = ex_const(e, below(8) ? 0 : below(3))};
        step = step * n + (below(2) ? below(11) - 2 : 0);
    }
    return p;
}

/* How often each coordinate occurs. */
static void
count_coords(const Piece *p, int from, i64 at, int *times)
{
    if (from == p->nloops) {
        assert_in_range(at, 0, 80 + 5 * 1200);
        times[at]++;
        return;
    }
    const PieceLoop *l = &p->loop[from];
    for (i64 i = l->first->base; i < l->first->base + l->n->base; i++)
        count_coords(p, from + 1, at + i * l->step, times);
}

/* What comb_of and comb_meets say of pairs of pieces, held against their coordinates. */
typedef struct {
    int met, apart, unsaid, refused;
} Tally;

static void
compare(const Piece *p, const Piece *q, Tally *t)
{
    static int x[6200], y[6200];
    Comb a, b;
    i64 size = 0, last = -1;
    bool share = false;
    if (!comb_of(p, NULL, &a) || !comb_of(q, NULL, &b)) {
        t->refused++;
        return;
    }
    memset(x, 0, sizeof x);
    memset(y, 0, sizeof y);
    count_coords(p, 0, p->start->base, x);
    count_coords(q, 0, q->start->base, y);
    for (int i = 0; i < LEN(x); i++) {
        assert_true(x[i] < 2);
        size += x[i];
        last = x[i] ? i : last;
        share |= x[i] && y[i];
    }
    assert_int_equal(a.size, size);
    assert_int_equal(a.last, last);
    bool says = comb_meets(&a, &b);
    assert_true(says || !share);
    assert_int_equal(says, comb_meets(&b, &a));
    if (a.count == 1 || b.count == 1)
        assert_int_equal(says, share);
    t->met += share;
    t->apart += !says;
    t->unsaid += says && !share;
}

static void
combs(void **state)
{
    Tally t = {0};
    (void)state;
    Diag d;
    Arena arena = {.diag = &d};
    Exprs *e = ex_new(&arena);
    const char *env = getenv("SEED"), *rounds = getenv("ROUNDS");
    seed = env ? strtoull(env, NULL, 0) : 20240611;
    int n = rounds ? atoi(rounds) : 100000;
    print_message("# seed %llu, %d pairs of pieces\n", (unsigned long long)seed, n);
    for (int round = 0; round < n; round++) {
        PieceLoop one[3], other[3];
        Piece p = random_piece(e, one), q = random_piece(e, other);
        compare(&p, &q, &t);
    }
    print_message("# %d meet, %d do not, %d do not but are not told, %d have no "
                  "normal form\n", t.met, t.apart, t.unsaid, t.refused);
    arena_free(&arena);
    assert_true(t.met > n / 10 && t.apart > n / 10 && t.unsaid < t.apart / 5);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(combs),
    };
    return cmocka_run_group_tests_name("combs", tests, NULL, NULL);
}
