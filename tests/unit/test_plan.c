/* plan_check on good plans, and on the same ones broken in every way a plan can be:
 * each is refused with a sentence. */
#include "planned.h"

static const Pair pairs[] = {
    {"(N,C,H,W){N, C, H, W}", "(N,C,H,W){N, C//16, H, W, C%16}", "f16", 4, {2, 20, 5, 7}},
    {"(N,C){C//6, N, C%6}", "(N,C){C//4, N, C%4, fill = 'none'}", "f32", 2, {3, 50}},
    {"(N,C){N, C}", "(N,C){N//4, C//8, N%4, C%8, fill = 'edge'}", "u8", 2, {10, 21}},
    {"(N,C){N//6, C, N%6}", "(N,C){C//4, N, C%4, fill = 1}", "f64", 2, {37, 29}},
    {"(R,C){R, C}", "(R,C){R//4, C//4, (R%4) ~ (C%4), C%4}", "u4", 2, {8, 24}},
    {"(R,C){R, C}", "(R,C){R, C, swizzle = xor(2, 0, 3)}", "f32", 2, {16, 16}},
    {"(A){A//1009, A%1009}", "(A){A%1013, A//1013}", "u8", 1, {100000}},
    {"(A,B){A//7, B//5, A%7, B%5}", "(A,B){A//11, B//8, A%11, B%8}", "u8", 2, {150, 140}},
    {"(A){A}", "(A){A}", "f32", 1, {1}},
    {"(A,B){A//4, 3 - A%4, B}", "(A,B){A//4, 3 - A%4, B}", "u8", 2, {8, 5}},
    {"(A,B){A, B}", "(A,B){B, A//4, 3 - A%4}", "f32", 2, {12, 7}},
};

static void
check(void *arg)
{
    Case *c = arg;
    c->check = plan_check(&c->arena, c->plan, true);
    if (!c->check.flaw)
        c->check.flaw = nests_flaw(&c->arena, c->plan);
}

/* Expressions point into the arena: a case stays where it is. */
static void
start(Case *c, int pair)
{
    *c = (Case){.pair = &pairs[pair]};
    guarded(c, make);
    guarded(c, own_pieces);
}

static PieceLoop *
first_loop(Case *c, int nest)
{
    for (int d = 0; d < c->plan->dst->rank; d++)
        if (piece(c, nest, d)->nloops)
            return (PieceLoop *)piece(c, nest, d)->loop;
    return NULL;
}

static const Ex *
plus(Case *c, const Ex *x, i64 by)
{
    return ex_add(c->plan->e, x, ex_const(c->plan->e, by));
}

static void
set_numbers(Case *c, Loop *l, i64 n, i64 ss, i64 ds)
{
    l->n = n;
    l->ss = ss;
    l->ds = ds;
    l->ex.n = ex_const(c->plan->e, n);
    l->ex.ss = ex_const(c->plan->e, ss);
    l->ex.ds = ex_const(c->plan->e, ds);
}

/* ---- ways to break nest k of a plan; false where it does not apply ---- */

static bool
drop(Case *c, int k)
{
    c->plan->nest[k] = c->plan->nest[--c->plan->n];
    return true;
}

static bool
duplicate(Case *c, int k)
{
    Nest **more = arena_array(&c->arena, Nest *, c->plan->n + 1);
    memcpy(more, c->plan->nest, (size_t)c->plan->n * sizeof *more);
    more[c->plan->n++] = more[k];
    c->plan->nest = more;
    return true;
}

/* All of one kind twice and none of another: counts alone do not show it. */
static bool
overlap(Case *c, int k)
{
    int other = (k + 1) % c->plan->n;
    Nest *a = c->plan->nest[k], *b = c->plan->nest[other];
    if (other == k || a->kind != b->kind)
        return false;
    nest_copy(b, a);
    return true;
}

static bool
shift_up(Case *c, int k)
{
    piece(c, k, 0)->start = plus(c, piece(c, k, 0)->start, 1);
    return true;
}

static bool
shift_down(Case *c, int k)
{
    Piece *q = piece(c, k, c->plan->dst->rank - 1);
    q->start = plus(c, q->start, -1);
    return true;
}

/* Swap the starts of two nests' pieces of a dim: still disjoint and covering, where
 * the rest of them is alike; the bases are wrong. */
static bool
swap_bases(Case *c, int k)
{
    int other = (k + 1) % c->plan->n;
    Nest *a = c->plan->nest[k], *b = c->plan->nest[other];
    const Ex *x = a->dst;
    if (other == k || a->dst == b->dst)
        return false;
    a->dst = b->dst;
    b->dst = x;
    return true;
}

static bool
shorten_piece(Case *c, int k)
{
    PieceLoop *l = first_loop(c, k);
    if (l)
        l->n = plus(c, l->n, -1);
    return l;
}

static bool
lengthen_piece(Case *c, int k)
{
    PieceLoop *l = first_loop(c, k);
    if (l)
        l->n = plus(c, l->n, 1);
    return l;
}

static bool
stretch_piece(Case *c, int k)
{
    PieceLoop *l = first_loop(c, k);
    if (l)
        l->step++;
    return l;
}

/* A loop of the code that is not the box's, elements as they were or not. */
static bool
shorten_loop(Case *c, int k)
{
    Nest *n = c->plan->nest[k];
    if (n->nloops == 0)
        return false;
    Loop *l = &n->loop[n->nloops - 1];
    set_numbers(c, l, l->n - 1, l->ss, l->ds);
    return true;
}

/* What is chosen by and what is emitted differ. */
static bool
wrong_number(Case *c, int k)
{
    Nest *n = c->plan->nest[k];
    if (n->nloops == 0)
        return false;
    n->loop[0].ex.ds = plus(c, n->loop[0].ex.ds, 1);
    return true;
}

static bool
wrong_elements(Case *c, int k)
{
    c->plan->nest[k]->elements--;
    return true;
}

static bool
drop_loop(Case *c, int k)
{
    return c->plan->nest[k]->nloops-- > 0;
}

/* The strides of a loop turned round and not the base. */
static bool
turn_loop(Case *c, int k)
{
    Nest *n = c->plan->nest[k];
    for (int i = 0; i < n->nloops; i++)
        if (!n->loop[i].residual && n->loop[i].n > 1) {
            set_numbers(c, &n->loop[i], n->loop[i].n, -n->loop[i].ss, -n->loop[i].ds);
            return true;
        }
    return false;
}

static bool
wrong_dst_stride(Case *c, int k)
{
    Nest *n = c->plan->nest[k];
    if (n->nloops == 0)
        return false;
    set_numbers(c, &n->loop[0], n->loop[0].n, n->loop[0].ss, n->loop[0].ds + 1);
    return true;
}

static bool
wrong_src_stride(Case *c, int k)
{
    Nest *n = c->plan->nest[k];
    if (n->nloops == 0 || n->kind == NEST_FILL)
        return false;
    Loop *l = &n->loop[n->nloops - 1];
    set_numbers(c, l, l->n, l->ss + 1, l->ds);
    return true;
}

static bool
wrong_src_base(Case *c, int k)
{
    Nest *n = c->plan->nest[k];
    n->src = ex_add(c->plan->e, n->src, ex_const(c->plan->e, 1));
    return n->kind == NEST_COPY;
}

static bool
wrong_dst_base(Case *c, int k)
{
    Nest *n = c->plan->nest[k];
    n->dst = ex_add(c->plan->e, n->dst, ex_const(c->plan->e, 1));
    return true;
}

static bool
copy_for_fill(Case *c, int k)
{
    Nest *n = c->plan->nest[k];
    n->kind = n->kind == NEST_FILL ? NEST_COPY : NEST_FILL;
    return true;
}

static bool
residual_in_kernel(Case *c, int k)
{
    Nest *n = c->plan->nest[k];
    if (n->inner == 0)
        return false;
    n->loop[n->nloops - 1].residual = true;
    n->table = 0;
    return true;
}

static bool
stray_variable(Case *c, int k)
{
    const Ex *v = ex_of_var(c->plan->e, c->plan->dst->dim[0].var);
    c->plan->nest[k]->dst = ex_add(c->plan->e, c->plan->nest[k]->dst, v);
    return !ex_is_const(v);
}

static bool
negative_step(Case *c, int k)
{
    Piece *q = piece(c, k, 0);
    if (q->nloops)
        ((PieceLoop *)q->loop)->step *= -1;
    return q->nloops;
}

/* Strides and steps whose products do not fit 64 bits. */
static bool
huge_stride(Case *c, int k)
{
    Nest *n = c->plan->nest[k];
    for (int i = 0; i < n->nloops; i++)
        set_numbers(c, &n->loop[i], n->loop[i].n, INT64_MIN / 2, INT64_MAX / 2);
    return n->nloops > 0;
}

static bool
huge_residual(Case *c, int k)
{
    Nest *n = c->plan->nest[k];
    for (int i = 0; i < n->nloops; i++)
        if (n->loop[i].residual) {
            set_numbers(c, &n->loop[i], n->loop[i].n, INT64_MAX / 2 + 1,
                        INT64_MAX / 2 + 1);
            return true;
        }
    return false;
}

/* From `start` on, n by `step`, `runs` of them by `period`. */
static void
set_piece(Case *c, int k, i64 start, i64 step, i64 n, i64 period, i64 runs)
{
    Exprs *e = c->plan->e;
    PieceLoop loop[] = {{period, INF, ex_const(e, 0), ex_const(e, runs), 1},
                        {step, INF, ex_const(e, 0), ex_const(e, n), 0}};
    Piece *q = piece(c, k, 0);
    *q = (Piece){.start = ex_const(e, start), .nloops = 2,
                 .loop = arena_copy(&c->arena, loop, sizeof loop)};
    q->from = q->to = q->start;
}

static bool
huge_piece(Case *c, int k)
{
    set_piece(c, k, 0, 1, 1LL << 40, 1LL << 40, 1LL << 40);
    return true;
}

/* 0 6 and 3 12, which do not meet, but as 0 + 6i and 3 + 9i might. */
static bool
unsaid(Case *c, int k)
{
    set_piece(c, k, 0, 6, 2, 0, 1);
    set_piece(c, k + 1, 3, 9, 2, 0, 1);
    return true;
}

static const struct {
    const char *name;
    bool (*f)(Case *c, int k);
} breaks[] = {
    {"drop", drop}, {"duplicate", duplicate}, {"overlap", overlap},
    {"shift up", shift_up}, {"shift down", shift_down}, {"swap bases", swap_bases},
    {"shorten piece", shorten_piece}, {"lengthen piece", lengthen_piece},
    {"stretch piece", stretch_piece}, {"shorten loop", shorten_loop},
    {"wrong number", wrong_number},
    {"wrong elements", wrong_elements}, {"drop loop", drop_loop},
    {"turn loop", turn_loop},
    {"wrong dst stride", wrong_dst_stride}, {"wrong src stride", wrong_src_stride},
    {"wrong src base", wrong_src_base}, {"wrong dst base", wrong_dst_base},
    {"copy for fill", copy_for_fill}, {"residual in kernel", residual_in_kernel},
    {"stray variable", stray_variable}, {"negative step", negative_step},
    {"huge piece", huge_piece}, {"huge stride", huge_stride}, {"huge residual", huge_residual},
};

static int
nests_of(int pair)
{
    Case c;
    start(&c, pair);
    int n = c.plan->n;
    arena_free(&c.arena);
    return n;
}

/* A break of pair, nest k; whether it applied. */
static bool
try_break(int pair, int k, int b)
{
    Case c;
    Diag d;
    start(&c, pair);
    c.arena.diag = &d;
    bool applies = breaks[b].f(&c, k);
    c.arena.diag = NULL;
    if (applies) {
        guarded(&c, check);
        if (!c.check.flaw)
            fail_msg("%s -> %s, nest %d, %s: not refused", c.pair->from, c.pair->to, k,
                     breaks[b].name);
        assert_true(strlen(c.check.flaw) > 10);
    }
    arena_free(&c.arena);
    return applies;
}

static void
good_plans(void **state)
{
    (void)state;
    for (int i = 0; i < LEN(pairs); i++) {
        Case c;
        start(&c, i);
        guarded(&c, check);
        if (c.check.flaw)
            fail_msg("%s -> %s: %s", c.pair->from, c.pair->to, c.check.flaw);
        arena_free(&c.arena);
    }
}

/* A call takes several groups, whether threads share the work or not. */
static void
sides_stay_together(void **state)
{
    static const Pair wide = {"(A,D,B,C){A, D, B, C}", "(A,D,B,C){D, C, A, B}", "f32", 4,
                              {8, 64, 24, 256}};
    (void)state;
    Case c = {.pair = &wide};
    guarded(&c, make);
    const Nest *n = c.plan->nest[0];
    assert_string_equal(n->order, "buffer of several groups");
    assert_int_equal(nest_tile(n, GROUP), 8);
    assert_true(n->split >= 0);
    arena_free(&c.arena);
}

static void
broken_plans(void **state)
{
    int tried = 0;
    (void)state;
    for (int b = 0; b < LEN(breaks); b++) {
        int before = tried;
        for (int i = 0; i < LEN(pairs); i++) {
            int n = nests_of(i);
            for (int k = 0; k < n && k < 6; k++)
                tried += try_break(i, k, b);
        }
        if (tried == before)
            fail_msg("%s: applies to no plan", breaks[b].name);
    }
    print_message("# plans broken and refused: %d, in %d ways\n", tried, LEN(breaks));
}

/* Every sentence that plan_check knows is one somebody meets. */
static void
sentences(void **state)
{
    static const struct {
        int pair, nest;
        bool (*f)(Case *, int);
        const char *says;
    } rows[] = {
        {0, 0, drop, "of 1400 coordinates"},
        {0, 2, drop, "of padding"},
        {0, 0, duplicate, "are not disjoint"},
        {6, 0, unsaid, "cannot be shown to be disjoint"},
        {0, 2, shift_down, "leaves the coordinates"},
        {0, 0, wrong_elements, "its loops make"},
        {0, 0, wrong_dst_base, "at (0,0,0,0) its destination address is 1, the layout "
                               "says 0"},
        {0, 0, wrong_src_base, "its source address"},
        {0, 0, drop_loop, "no loop of it walks"},
        {0, 1, shorten_loop, "is not one of the box"},
        {0, 0, stray_variable, "depends on more than its loops"},
        {0, 0, negative_step, "no run repeated evenly"},
        {0, 0, residual_in_kernel, "the kernel runs a loop"},
    };
    (void)state;
    for (int i = 0; i < LEN(rows); i++) {
        Case c;
        start(&c, rows[i].pair);
        Diag d;
        c.arena.diag = &d;
        rows[i].f(&c, rows[i].nest);
        guarded(&c, check);
        if (!c.check.flaw || !strstr(c.check.flaw, rows[i].says))
            fail_msg("'%s' does not say '%s'", c.check.flaw ? c.check.flaw : "nothing",
                     rows[i].says);
        arena_free(&c.arena);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_plans),
        cmocka_unit_test(broken_plans),
        cmocka_unit_test(sides_stay_together),
        cmocka_unit_test(sentences),
    };
    return cmocka_run_group_tests_name("plan", tests, NULL, NULL);
}
