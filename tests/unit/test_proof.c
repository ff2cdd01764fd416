/* The library's proof on relayouts with one bug each: in the process that asks, by
 * bytes beside the buffers. */
#define _GNU_SOURCE
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

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
run_current(const void *self, void *dst, const void *src)
{
    (void)self;
    current->f(dst, src);
}

static const Code code = {.run = run_current};

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
    Request rq = {j->pair[0], j->pair[1], j->pair[2], rank, shape, NULL, "f"};
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
        ravel_status s = proof_run(q, &code, &c, &err);
        ravel_status want = *current->marked ? RAVEL_ERR_VERIFY : RAVEL_OK;
        if (s != want || !strstr(err.text, current->marked))
            fail_msg("%s: status %d, '%s'", current->name, s, err.text);
        proof_free(q);
        arena_free(&j.arena);
    }
}

/* The system refuses to protect memory; fence.c and planted.h call this one. */
static bool refuse;

int
mprotect(void *p, size_t n, int how)
{
    if (!refuse)
        return (int)syscall(SYS_mprotect, p, n, how);
    errno = EACCES;
    return -1;
}

static void
refused_lock(void **state)
{
    Job j = {.pair = planted_pair[0]};
    Diag d;
    Proof *q;
    ravel_error err = {0};
    ravel_certificate c;
    (void)state;
    current = &table[0];
    assert_true(arena_run(&j.arena, &d, make, &j));
    assert_int_equal(proof_new(j.plan, true, &q, &err), RAVEL_OK);
    refuse = true;
    ravel_status s = proof_run(q, &code, &c, &err);
    refuse = false;
    assert_int_equal(s, RAVEL_ERR_MEMORY);
    assert_non_null(strstr(err.text, "the source's pages cannot be locked"));
    proof_free(q);
    arena_free(&j.arena);
}

static i64
status_of(const char *key)
{
    char line[256];
    long long kb = -1;
    FILE *f = fopen("/proc/self/status", "r");
    assert_non_null(f);
    while (kb < 0 && fgets(line, sizeof line, f))
        if (!strncmp(line, key, strlen(key)))
            kb = atoll(line + strlen(key));
    fclose(f);
    return kb * 1024;
}

/* Against the address space that a proof really takes. */
static void
takes_what_it_says(const char *const *pair)
{
    Job j = {.pair = pair};
    Diag d;
    Proof *q;
    ravel_error err;
    assert_true(arena_run(&j.arena, &d, make, &j));
    i64 before = status_of("VmSize:");
    assert_int_equal(proof_new(j.plan, false, &q, &err), RAVEL_OK);
    i64 took = status_of("VmPeak:") - before, said = proof_bytes(j.plan);
    print_message("# said %lld, took %lld\n", (long long)said, (long long)took);
    assert_true(took > said - said / 4 && took < said + said / 50);
    proof_free(q);
    arena_free(&j.arena);
}

/* Tables of coordinates take the most; the buffers of the threads do. */
static void
memory(void **state)
{
    static const char *const pairs[][4] = {
        {"(A){A//4, A%4}", "(A){A}", "u8", "3000000"},
        {"(A){A}", "(A){A}", "c128", "900000"}};
    (void)state;
#ifdef __SANITIZE_ADDRESS__
    print_message("# skipped: the address sanitizer has address space of its own\n");
    skip();
#endif
    for (int i = 0; i < LEN(pairs); i++)
        takes_what_it_says(pairs[i]);
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
    assert_int_equal(proof_run(q, &code, &c, &err), RAVEL_OK);
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
        cmocka_unit_test(memory),
        cmocka_unit_test(planted_bugs),
        cmocka_unit_test(refused_lock),
        cmocka_unit_test(counts),
    };
    return cmocka_run_group_tests_name("proof", tests, NULL, NULL);
}
