/* Dim after dim: what order_injective says of random layouts with sums of dims, against the
 * addresses of all their coordinates. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "../../compiler/decide/decide.h"
#include "../../compiler/spec/spec.h"

enum { ROUNDS = 2000, RANK = 3, LONGEST = 9, ROOM = 1 << 14 };

typedef struct {
    uint64_t state;
    Arena arena;
} Draw;

static int
below(Draw *r, int n)
{
    r->state = r->state * 6364136223846793005u + 1442695040888963407u;
    return (int)((r->state >> 33) % (uint64_t)n);
}

/* C, 2*A + B, A%4 + B + 3 */
static const char *
draw_sum(Draw *r)
{
    static const char *const one[] = {"%c", "%c", "%c", "2*%c", "3*%c", "%c%%4", "%c//2", "%c//4"};
    Buf b = buf_new(&r->arena);
    for (int i = 0, n = 1 + below(r, 2); i < n; i++) {
        buf_add(&b, i ? " + " : "");
        buf_printf(&b, one[below(r, LEN(one))], 'A' + below(r, RANK));
    }
    if (!below(r, 4))
        buf_printf(&b, " + %d", below(r, 9));
    return b.s;
}

/* One entry, or the digits of one sum. */
static const char *
draw_entries(Draw *r)
{
    static const char *const modulo[] = {"(%s)", "((%s)%%6)", "((%s)%%8)", "((%s)%%12)"};
    const char *x = arena_printf(&r->arena, modulo[below(r, LEN(modulo))], draw_sum(r));
    int k = 2 << below(r, 2);
    switch (below(r, 5)) {
    case 0: return arena_printf(&r->arena, "%s//%d, %s%%%d", x, k, x, k);
    case 1: return arena_printf(&r->arena, "%s ~ (%s)", x, draw_sum(r));
    case 2: return arena_printf(&r->arena, "%c", 'A' + below(r, RANK));
    default: return x;
    }
}

static Layout *
draw_layout(Draw *r, const char **text)
{
    i64 shape[RANK];
    *text = "(A,B,C){";
    for (int i = 0; i < RANK; i++) {
        shape[i] = 1 + below(r, LONGEST);
        *text = arena_printf(&r->arena, "%s%s%s", *text, i ? ", " : "", draw_entries(r));
    }
    *text = arena_printf(&r->arena, "%s}", *text);
    return layout_make(ex_new(&r->arena), spec_ref(&r->arena, *text, NULL), dtype_find("u8"), RANK,
                       shape);
}

/* Whether no two coordinates, of padding too, have one address. */
static bool
is_distinct(const Layout *l)
{
    static bool seen[ROOM];
    i64 x[MAX_RANK] = {0}, a;
    memset(seen, 0, sizeof seen);
    do {
        assert_true(layout_address(l, x, &a) && a >= 0 && a < ROOM);
        if (seen[a])
            return false;
        seen[a] = true;
    } while (layout_next(l, true, x));
    return true;
}

typedef struct {
    Draw *r;
    int yes, no, distinct, layouts;
} Round;

static void
try_layout(void *arg)
{
    Round *t = arg;
    const char *text;
    Verdict v = {0};
    i64 a, b;
    Layout *l = draw_layout(t->r, &text);
    if (l->size > ROOM)
        return;
    Answer say = order_injective(l, &v);
    bool is = is_distinct(l);
    if (say == YES && !is)
        fail_msg("%s has two coordinates at one address", text);
    if (say == NO && !(memcmp(v.x, v.y, sizeof v.x) && layout_address(l, v.x, &a) &&
                       layout_address(l, v.y, &b) && a == b))
        fail_msg("%s: the two elements are at two addresses", text);
    t->layouts++;
    t->yes += say == YES;
    t->no += say == NO;
    t->distinct += is;
}

static void
random_layouts(void **state)
{
    const uint64_t seed = 19;
    Round t = {0};
    (void)state;
    printf("# seed %llu\n", (unsigned long long)seed);
    for (int i = 0; i < ROUNDS; i++) {
        Diag d;
        Draw r = {.state = seed * 6364136223846793005u + (uint64_t)i * 1442695040888963407u};
        t.r = &r;
        arena_run(&r.arena, &d, try_layout, &t);     /* not every text is a layout */
        arena_free(&r.arena);
    }
    printf("# %d layouts: of %d distinct ones %d were recognized; %d collisions\n", t.layouts,
           t.distinct, t.yes, t.no);
    assert_true(t.layouts > ROUNDS / 2 && t.distinct > ROUNDS / 50);
    assert_true(t.yes * 3 > t.distinct && t.no > 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_layouts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
