/* The library's proof on relayouts with one bug each: in the process that asks, by
 * bytes beside the buffers. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../runtime/proof.h"
#include "planted.h"

typedef struct {
    const char *name;
    int pair;
    void (*f)(Byte *, const Byte *);
    const char *paged, *marked;
} Planted;

#define ROW(f, pair, paged, marked) {#f, pair, f, paged, marked},
static const Planted table[] = {PLANTED};
#undef ROW

static const Planted *current;

static void
run_current(void *dst, const void *src)
{
    current->f(dst, src);
}

typedef struct {
    Arena arena;
    const char *const *pair;
    Plan *plan;
} Job;

static void
make(void *arg)
{
    Job *j = arg;
    i64 shape[2];
    int rank = 0;
    for (const char *s = j->pair[3]; s; s = strchr(s, ',') ? strchr(s, ',') + 1 : NULL)
        shape[rank++] = atoll(s);
    Request rq = {j->pair[0], j->pair[1], j->pair[2], rank, shape, "f"};
    j->plan = compile_plan(&j->arena, NULL, &rq);
}

static void
planted_bugs(void **state)
{
    (void)state;
    for (int i = 0; i < LEN(table); i++) {
        Job j = {.pair = planted_pair[table[i].pair]};
        Diag d;
        Proof *q;
        ravel_error err = {0};
        ravel_certificate c;
        current = &table[i];
        if (!strcmp(current->marked, "-"))
            continue;
        assert_true(arena_run(&j.arena, &d, make, &j));
        assert_int_equal(proof_new(j.plan, false, &q, &err), RAVEL_OK);
        ravel_status s = proof_run(q, run_current, &c, &err);
        ravel_status want = *current->marked ? RAVEL_ERR_VERIFY : RAVEL_OK;
        if (s != want || !strstr(err.text, current->marked))
            fail_msg("%s: status %d, '%s'", current->name, s, err.text);
        proof_free(q);
        arena_free(&j.arena);
    }
}

/* What a proof counts, for the source's slots and the destination's. */
static void
counts(void **state)
{
    Job j = {.pair = planted_pair[0]};
    Diag d;
    Proof *q;
    ravel_error err;
    ravel_certificate c;
    (void)state;
    current = &table[0];
    assert_true(arena_run(&j.arena, &d, make, &j));
    assert_int_equal(proof_new(j.plan, false, &q, &err), RAVEL_OK);
    assert_int_equal(proof_run(q, run_current, &c, &err), RAVEL_OK);
    assert_int_equal(c.stamped, 80);
    assert_int_equal(c.elements, 35);
    assert_int_equal(c.padding, 5);
    assert_int_equal(c.holes, 24);
    assert_int_equal(c.passes, 1);
    assert_int_equal(c.threads, 4);
    assert_int_equal(c.guard_pages, 0);
    proof_free(q);
    arena_free(&j.arena);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planted_bugs),
        cmocka_unit_test(counts),
    };
    return cmocka_run_group_tests_name("proof", tests, NULL, NULL);
}
